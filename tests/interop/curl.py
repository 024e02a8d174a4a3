#!/usr/bin/python3
"""curl against erratad: a person who calls the port by hand, or learns what it expects.

Goal: calls by Connect and gRPC-Web work over both versions of HTTP, and each refusal reaches curl completely, for
any body that curl sends. Method: one command line each; refused POSTs from two bytes to more than a
window, many times, since a response is cut off only sometimes.
"""
import base64
import json
import shutil
import struct
import subprocess
import tempfile
import unittest

from erratad import ServerCase, main

PATH = "/errata.v1.PromptService/GetExamples"
CHECK = "/grpc.health.v1.Health/Check"
WATCH = "/grpc.health.v1.Health/Watch"
TEXT = ("-H", "content-type: text/plain")
JSON = ("-H", "content-type: application/json")
STREAM = ("-H", "content-type: application/connect+json")
VERSIONS = ("--http2-prior-knowledge", "--http1.1")
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
    def curl(self, *arguments, path=PATH, version=VERSIONS[0], seconds=30):
        """(exit code, HTTP status, body, what went wrong)."""
        done = subprocess.run(["curl", "--silent", "--show-error", "--max-time", str(seconds),
                               version, "--write-out", "\n%{http_code}", *arguments,
                               f"http://{self.server.address}{path}"],
                              stdin=subprocess.DEVNULL, capture_output=True, encoding="latin-1", check=False)
        body, _, status = done.stdout.rpartition("\n")
        return done.returncode, int(status), body, done.stderr

    def test_unary_calls_have_the_same_answer_over_both_versions(self):
        for version in VERSIONS:
            _, status, body, error = self.curl(*JSON, "--data", "{}", path=CHECK, version=version)
            self.assertEqual((status, json.loads(body)), (200, {"status": "SERVING"}), error)
            _, status, body, _ = self.curl(*JSON, "--data", "{}", version=version)
            self.assertEqual((status, json.loads(body)["code"]), (401, "unauthenticated"))
            _, status, body, _ = self.curl(path="/errata.v1.EventService/GetEvent?encoding=json&message="
                                           "%7B%7D", version=version)
            self.assertEqual((status, json.loads(body)["code"]), (401, "unauthenticated"))
            _, status, body, _ = self.curl(path="/nowhere", version=version)
            self.assertEqual((status, body), (404, "path: unknown; expected /package.Service/Method\n"))

    def test_stream_is_read_as_it_comes_over_both_versions(self):
        message = b"{}"
        with tempfile.NamedTemporaryFile() as file:
            file.write(struct.pack(">BI", 0, len(message)) + message)
            file.flush()
            for version in VERSIONS:
                # The stream has no end: curl gives up after two seconds, with the data read so far.
                code, status, body, _ = self.curl(*STREAM, "--data-binary", f"@{file.name}", path=WATCH,
                                                  version=version, seconds=2)
                self.assertEqual((code, status), (28, 200))
                self.assertEqual(body.encode(), struct.pack(">BI", 0, 20) + b'{"status":"SERVING"}')

    def web(self, kind, message, path, version):
        """The fields and the body of a call by gRPC-Web."""
        body = struct.pack(">BI", 0, len(message)) + message
        if "text" in kind:
            body = base64.b64encode(body)
        with tempfile.NamedTemporaryFile() as file:
            file.write(body)
            file.flush()
            code, status, text, error = self.curl("-H", f"content-type: application/grpc-web{kind}",
                                                  "--data-binary", f"@{file.name}", "--dump-header", "-",
                                                  path=path, version=version)
        self.assertEqual((code, status), (0, 200), error)
        fields, _, body = text.partition("\n\n")
        return fields, body

    def test_grpc_web_has_the_same_answer_over_both_versions(self):
        for version in VERSIONS:
            fields, body = self.web("+json", b"{}", CHECK, version)
            self.assertIn("content-type: application/grpc-web+json", fields)
            self.assertTrue(body.startswith('\0\0\0\0\x14{"status":"SERVING"}'), body)
            self.assertIn("grpc-status: 0", body)
            fields, body = self.web("-text", b"", CHECK, version)
            self.assertIn("content-type: application/grpc-web-text+proto", fields)
            self.assertEqual(body[:12], base64.b64encode(b"\0\0\0\0\x02\x08\x01").decode())
            self.assertTrue(base64.b64decode(body[12:]).endswith(b"grpc-status: 0\r\n"))
            for _ in range(20):  # the response comes before the request's end, or not
                answer = "".join(self.web("+proto", b"", PATH, version))
                self.assertIn("grpc-status: 16", answer)
                self.assertIn("grpc-message: authorization", answer)
            answer = "".join(self.web("", b"", "/errata.v1.NoService/Nothing", version))
            self.assertIn("grpc-status: 12", answer)

    def test_other_types_are_refused_with_a_text(self):
        for size, times in TIMES.items():
            with tempfile.NamedTemporaryFile() as file:
                file.write(b"x" * size)
                file.flush()
                for _ in range(times):
                    code, status, body, error = self.curl(*TEXT, "--data-binary", f"@{file.name}")
                    self.assertEqual((code, status), (0, 415), error)
                    self.assertIn("expected application/json", body)

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
