#!/usr/bin/python3
"""curl against erratad: a person who tries the port by hand learns what it expects.

Goal: each HTTP response reaches curl completely, for any body curl sends. Method: POSTs of JSON
from two bytes to more than a window, many times, since a response is cut off only sometimes.
"""
import shutil
import subprocess
import tempfile
import unittest

from erratad import ServerCase, main

PATH = "/errata.v1.PromptService/GetExamples"
JSON = ("-H", "content-type: application/json")
GRPC = ("-H", "content-type: application/grpc", "-H", "te: trailers")
TIMES = {2: 100, 100_000: 30, 2_000_000: 30}  # repetitions by size of the body


def why_not():
    """Returns the reason why these tests cannot run here, or None."""
    if not shutil.which("curl"):
        return "curl is not installed"
    version = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=False)
    return None if "HTTP2" in version.stdout.split() else "curl is built without HTTP/2"


@unittest.skipIf(why_not(), why_not())
class Curl(ServerCase):
    def curl(self, *arguments):
        """(exit code, HTTP status, body, what went wrong)."""
        done = subprocess.run(["curl", "--silent", "--show-error", "--max-time", "30",
                               "--http2-prior-knowledge", "--write-out", "\n%{http_code}", *arguments,
                               f"http://{self.server.address}{PATH}"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        body, _, status = done.stdout.rpartition("\n")
        return done.returncode, int(status), body, done.stderr

    def test_json_is_refused_with_a_text(self):
        for size, times in TIMES.items():
            with tempfile.NamedTemporaryFile() as file:
                file.write(b"x" * size)
                file.flush()
                for _ in range(times):
                    code, status, body, error = self.curl(*JSON, "--data-binary", f"@{file.name}")
                    self.assertEqual((code, status), (0, 415), error)
                    self.assertIn("expected application/grpc", body)

    def test_other_methods_are_refused(self):
        code, status, body, error = self.curl(*GRPC)
        self.assertEqual((code, status), (0, 405), error)
        self.assertIn("expected POST", body)
        code, status, _, error = self.curl(*GRPC, "--head")
        self.assertEqual((code, status), (0, 405), error)

    def test_too_many_header_fields_are_refused(self):
        large = ("-H", "x-large: " + "v" * 20_000)
        code, status, body, error = self.curl(*JSON, *large, "--data", "{}")
        self.assertEqual((code, status), (0, 431), error)
        self.assertIn("16 KiB", body)

    def test_call_without_time_is_refused(self):
        """`grpc-timeout: 0S`, which no library sends, is answered like any other late call."""
        for value in ("0S", "1n"):
            code, status, fields, error = self.curl(*GRPC, "-H", f"grpc-timeout: {value}", "--request",
                                                    "POST", "--dump-header", "-")
            self.assertEqual((code, status), (0, 200), error)
            self.assertIn("grpc-status: 4", fields)


if __name__ == "__main__":
    main()
