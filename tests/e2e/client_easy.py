#!/usr/bin/python3
"""The easy functions of the C client library against a real server.

Goal: a correction that was stored is in the examples of the next call, and each failure is described in
one line. Method: bin/client_easy_driver makes both calls.
"""
import json
import os
import subprocess

from erratad import BIN, ServerCase, main


class Easy(ServerCase):
    def drive(self, *arguments, server=None, token_file=None):
        """Returns the output: the event's id, the error, the examples, and the second error."""
        environment = {**os.environ, "ERRATA_SERVER": server or self.server.address,
                       "ERRATA_TOKEN_FILE": token_file or os.path.join(self.server.data, "admin.token")}
        done = subprocess.run([os.path.join(BIN, "client_easy_driver"), *arguments], env=environment,
                              capture_output=True, text=True, timeout=100, check=True)
        return done.stdout.split("\n")[:4]

    def test_correction_becomes_an_example(self):
        id_, error, examples, later = self.drive("easy-1", '12 pcs "M8"', '{"qty": 10}', '{"qty": 12}')
        self.assertRegex(id_, r"^[0-9a-f-]{36}$")
        self.assertEqual((error, later), ("", ""))
        self.assertEqual(json.loads(examples), [{"input_snippet": '12 pcs "M8"', "output": {"qty": 12}}])

    def test_invalid_fields_are_listed(self):
        id_, error, examples, later = self.drive("easy-2", "a line", "not JSON", "{}")
        self.assertEqual((id_, examples, later), ("", "", ""))
        self.assertRegex(error, r"^INVALID_ARGUMENT: .*event\.before_json: ")

    def test_unreachable_server_is_reported(self):
        id_, error, examples, later = self.drive("easy-3", "a line", "{}", "{}", server="127.0.0.1:1")
        self.assertEqual((id_, examples), ("", ""))
        self.assertEqual(error, "UNAVAILABLE: cannot connect to 127.0.0.1:1: connection refused")
        self.assertEqual(later, error)

    def test_wrong_token_is_reported(self):
        path = os.path.join(self.server.data, "no.token")
        with open(path, "w", encoding="ascii") as file:
            file.write("errata_nobody\n")
        _, error, _, _ = self.drive("easy-4", "a line", "{}", "{}", token_file=path)
        self.assertRegex(error, r"^UNAUTHENTICATED: ")


if __name__ == "__main__":
    main()
