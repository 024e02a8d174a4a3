#!/usr/bin/python3
"""The C client library over TLS.

Goal: its calls work over TLS, it refuses servers with a wrong identity, and it connects again after a restart
with other certificates. Method: bin/client_easy_driver against real servers.
"""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from certificates import Authority
from erratad import BIN, Server, main


class ClientTls(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.ca = Authority(self.folder)
        self.cert, self.key = self.ca.sign("server")
        self.client_cert, self.client_key = self.ca.sign("client", "DNS:client")

    def server(self, *arguments):
        server = Server(arguments=["--tls-cert", self.cert, "--tls-key", self.key, *arguments]).start()
        self.addCleanup(self.end, server)
        return server

    def end(self, server):
        self.assertEqual(server.stop(), 0, server.read_log())
        server.close()

    def drive(self, server, name, **variables):
        """The event's id, the error and the examples."""
        port = server.address.rsplit(":", 1)[1]
        environment = {**os.environ, "ERRATA_SERVER": f"localhost:{port}",
                       "ERRATA_TOKEN_FILE": os.path.join(server.data, "admin.token"), **variables}
        done = subprocess.run([os.path.join(BIN, "client_easy_driver"), name, "12 pcs", '{"qty": 10}',
                               '{"qty": 12}'], env=environment, capture_output=True, text=True,
                              timeout=100, check=True)
        return done.stdout.split("\n")[:3]

    def test_correction_becomes_an_example(self):
        id_, error, examples = self.drive(self.server(), "tls-1", ERRATA_CA=self.ca.path)
        self.assertRegex(id_, r"^[0-9a-f-]{36}$")
        self.assertEqual(error, "")
        self.assertEqual(json.loads(examples)[0]["output"], {"qty": 12})

    def test_client_certificate_is_sent(self):
        server = self.server("--tls-client-ca", self.ca.path)
        identity = {"ERRATA_CLIENT_CERT": self.client_cert, "ERRATA_CLIENT_KEY": self.client_key}
        self.assertEqual(self.drive(server, "tls-2", ERRATA_CA=self.ca.path, **identity)[1], "")
        error = self.drive(server, "tls-3", ERRATA_CA=self.ca.path)[1]
        self.assertRegex(error, "^UNAVAILABLE: .*certificate required")

    def test_other_servers_are_refused(self):
        server = self.server()
        other = Authority(self.folder, "other")
        error = self.drive(server, "tls-4", ERRATA_CA=other.path)[1]
        self.assertRegex(error, "^UNAVAILABLE: cannot connect to localhost:.*TLS: unable to get local issuer")
        error = self.drive(server, "tls-5", ERRATA_TLS="1")[1]
        self.assertRegex(error, "^UNAVAILABLE: cannot connect to localhost:.*TLS: unable to get local issuer")
        self.cert, self.key = self.ca.sign("elsewhere", "DNS:elsewhere.test")
        error = self.drive(self.server(), "tls-6", ERRATA_CA=self.ca.path)[1]
        self.assertRegex(error, "TLS: hostname mismatch")

    def test_invalid_settings_are_reported(self):
        error = self.drive(self.server(), "tls-7", ERRATA_CA="/nonexistent")[1]
        self.assertEqual(error, "INVALID_ARGUMENT: tls: /nonexistent: cannot be read: No such file or directory; "
                                "expected a PEM file")


if __name__ == "__main__":
    main()
