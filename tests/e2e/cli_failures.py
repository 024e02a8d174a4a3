#!/usr/bin/python3
"""Failures between a user and a server: each message states what happened and what to do next.

Goal: no message leaves the cause open. Method: invalid servers, tokens and files of every kind; Python's gRPC
simulates a server of another version, and one with another clock.
"""
import concurrent.futures
import contextlib
import datetime
import json
import os
import shutil
import socket
import socketserver
import subprocess
import threading

import grpc

from errata_cli import ERRATA, CliCase
from erratad import admin, admin_grpc, feedback, feedback_service, feedback_service_grpc, main

HOUR = 3600


class WrongClock(admin_grpc.AdminServiceServicer, feedback_service_grpc.FeedbackServiceServicer):
    """A servicer that creates tokens and accepts corrections three hours ago, and implements nothing else."""

    @staticmethod
    def stamp(field):
        field.FromDatetime(datetime.datetime.now(datetime.timezone.utc) -
                           datetime.timedelta(seconds=3 * HOUR))

    def CreateToken(self, request, context):
        token = admin.Token(key_id="0123abcd", role=request.token.role)
        self.stamp(token.created_at)
        return admin.CreateTokenResponse(token=token, secret="errata_0123abcd_secret")

    def CaptureFeedbackEvent(self, request, context):
        event = feedback.FeedbackEvent(id="0192f0c0-1111-7222-8333-444455556666")
        self.stamp(event.created_at)
        return feedback_service.CaptureFeedbackEventResponse(event=event)


@contextlib.contextmanager
def python_server():
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    servicer = WrongClock()
    admin_grpc.add_AdminServiceServicer_to_server(servicer, server)
    feedback_service_grpc.add_FeedbackServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None)


@contextlib.contextmanager
def peer(answer):
    """A server that sends the bytes of `answer` on each connection after its first bytes, then closes it."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(100)
            self.request.sendall(answer)

    class Peer(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

    with Peer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


class Failures(CliCase):
    def said(self, *words, code, **changes):
        return self.run_cli(*words, code=code, environment=self.here(**changes))[1]

    def token(self, *words):
        path = self.folder / f"token-{len(list(self.folder.iterdir()))}"
        self.run_cli("token", "create", *words, "--file", str(path))
        return str(path)

    # --- servers ---

    def test_unreachable_server_is_reported(self):
        """The message has the address and its source."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
            said = self.said("token", "list", code=3, ERRATA_SERVER=address)
        self.assertIn(f"cannot connect to {address}: connection refused", said)
        self.assertIn("is erratad running there?", said)
        self.assertIn("The address is from ERRATA_SERVER.", said)
        self.assertIn("is the name correct?", self.said("--server", "no.such.host.example:1", "health",
                                                      code=3))

    def test_server_of_another_protocol_is_reported(self):
        """A web server, and one that closes the connection like a TLS server: the likely cause is reported."""
        with peer(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") as address:
            said = self.said("--server", address, "health", code=3)
            self.assertIn("not HTTP/2", said)
            self.assertIn("is the port correct?", said)
        with peer(b"") as address:
            self.assertIn("requires TLS", self.said("--server", address, "health", code=3))

    def test_silent_server_is_reported(self):
        """The server accepts the connection and does not answer: the call ends at its time limit."""
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            address = f"127.0.0.1:{silent.getsockname()[1]}"
            said = self.said("--server", address, "health", "--timeout", "500ms", code=1)
            self.assertIn("a firewall, or another program at that port?", said)
            sent = self.on_terminal(80, "--server", address, "health", "--timeout", "3s", code=1)
            self.assertIn(f"\rwaiting for {address}, 1 s\x1b[K", sent)
            self.assertIn("\r\x1b[K", sent.split("waiting for")[-1])

    def test_malformed_address_is_refused(self):
        """An invalid address is reported before any request."""
        for server in ("here:", "here:0", ":7443", "http://here:7443"):
            self.assertIn("expected HOST or HOST:PORT", self.said("--server", server, "health",
                                                                  code=2))

    def test_unknown_method_of_another_version_is_explained(self):
        """A method that the server does not know."""
        with python_server() as address:
            said = self.said("--server", address, "token", "list", code=1)
        self.assertIn("UNIMPLEMENTED", said)
        self.assertIn("does the server have another version?", said)

    def test_clock_difference_is_explained(self):
        """If the clocks of server and client differ, relative times would be misleading, so a note is printed."""
        with python_server() as address:
            for words in (("token", "create", "--role", "ADMIN"),
                          ("corrections", "capture", "--type", "CUSTOMER_SELECTED")):
                out, said = self.run_cli("--server", address, *words)
                self.assertRegex(said, r"the server's clock is (3 h 0|2 h 59) min earlier than this machine's")
                self.assertTrue(out)
        said = self.said("token", "create", "--role", "ADMIN", "--expires", "2001-01-01T00:00:00Z",
                         code=1)
        self.assertIn("not in the future", said)
        self.assertRegex(said, r"this machine's clock, which shows 20\d\d-")

    # --- tokens ---

    def test_refused_tokens_are_explained(self):
        """Missing, damaged, expired and revoked tokens, and tokens of another role: the message names the problem and
        the token's source."""
        none = self.said("token", "list", code=1, ERRATA_TOKEN_FILE=None)
        self.assertIn("no token was given", none)
        damaged = self.folder / "damaged"
        damaged.write_text(self.server.admin_token[:-5])
        self.assertIn("does the file contain a token?", self.said("token", "list", "--token-file", str(damaged),
                                                         code=1))
        revoked = self.token("--role", "SERVICE")
        with open(revoked, encoding="ascii") as file:
            key_id = file.read().split("_")[1]
        self.run_cli("token", "revoke", key_id)
        ended = self.token("--role", "SERVICE", "--expires", "1s")
        threading.Event().wait(1.2)
        for path in (revoked, ended):
            said = self.said("examples", "x", code=1, ERRATA_TOKEN_FILE=path)
            self.assertIn("unknown, revoked or expired", said)
            self.assertIn(f"of {path}, from ERRATA_TOKEN_FILE", said)
        self.assertIn(f"the token {key_id} ", self.said("examples", "x", "--token-file", revoked, code=1))
        listed = self.run_cli("token", "list")[0]
        self.assertRegex(listed, rf"{key_id} +SERVICE +revoked")
        self.assertRegex(listed, r"SERVICE +expired")
        viewer = self.token("--role", "viewer")
        said = self.said("examples", "x", "--token-file", viewer, code=1)
        self.assertIn("expected OPERATOR, REVIEWER, SERVICE, ADMIN", said)
        self.assertIn("--token-file or --context selects another", said)

    def key_ids(self):
        return [token["keyId"] for token in json.loads(self.run_cli("token", "list", "--all", "--json")[0])["tokens"]]

    def test_token_file_problems_are_explained(self):
        """A token file is readable only by its owner, and never replaces another file; no token is
        created if it cannot be written."""
        path = self.token("--role", "SERVICE")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.run_cli("examples", "x", "--token-file", path)
        before = self.key_ids()
        for place in (path, "/nonexistent/token"):
            self.assertIn("can't be created", self.said("token", "create", "--role", "ADMIN", "--file",
                                                     place, code=4))
        self.assertEqual(self.key_ids(), before)
        self.said("token", "create", "--role", "OPERATOR", "--file", str(self.folder / "none"), code=1)
        self.assertFalse((self.folder / "none").exists())

    def test_unreadable_files_are_reported(self):
        """A missing file, a folder, a file of another user, and a file without a token."""
        (self.folder / "words").write_text("two words\n")
        (self.folder / "empty").write_text("\n")
        for path, said in (("/nonexistent", "No such file"), (str(self.folder), "Is a directory"),
                           ("words", "not a token"), ("empty", "empty; expected a token")):
            self.assertIn(said, self.said("health", "--token-file", path, code=4))
        said = self.said("health", code=4, ERRATA_TOKEN_FILE="/nonexistent")
        self.assertIn("comes from ERRATA_TOKEN_FILE", said)
        if os.geteuid() == 0:
            os.chmod(self.folder, 0o755)
            os.chmod(self.folder / "admin.token", 0o600)
            # The build folder may not be accessible to other users, for example in a home folder.
            program = shutil.copy(ERRATA, self.folder / "errata-for-all")
            run = subprocess.run([program, "health"], env=self.here(), capture_output=True, text=True,
                                 user="nobody", timeout=30)
            self.assertEqual(run.returncode, 4)
            self.assertIn("only its owner may read it; `sudo cat ", run.stderr)

    # --- requests ---

    def test_invalid_correction_lists_every_field(self):
        """Each error is reported with its place in the input, and nothing is stored."""
        before = self.run_cli("events", "list", "--limit", "1", "--json")[0]
        capture = ("corrections", "capture")
        typed = (*capture, "--type", "customer_selected")
        for words, code, said in (
                (capture, 2, "--type: missing"),
                ((*capture, "--type", "line"), 2, "did you mean EXTRACTION_LINE_CORRECTED?"),
                ((*typed, "--before", "{qty: 1}"), 1, "event.before_json: invalid JSON"),
                ((*typed, "--after", "[1]"), 1, "event.after_json: an array, `[1]`; expected a JSON object"),
                ((*typed, "--before", "@none"), 4, "none can't be read"),
                ((*typed, "--before", "-", "--after", "-"), 2, "given more than once"),
                ((*typed, "--entity", "line"), 2, "expected TYPE/ID"),
                ((*typed, "--created-at", "tomorrow"), 2, "invalid time"),
                ((*typed, "--created-at", "2099-01-01T00:00:00Z"), 1, "in the future"),
                ((*typed, "--snippet", "x", "--meta", "{}"), 2, "--snippet: given together with --meta"),
                ((*capture, "{bad"), 2, "the event: invalid JSON: a key that is not in double quotes (at byte 1)"),
                ((*capture, "[]"), 2, "expected a JSON object"),
                ((*capture, "customer_selected"), 2, "expected a JSON object"),
                ((*capture, '{"eventType": "NOPE"}'), 2, "MAPPING_CONFIRMED"),
                ((*capture, '{"eventType": "CUSTOMER_SELECTED", "x": 1}'), 2, 'unknown field "x"'),
                ((*typed, "{}"), 2, "EVENT: given together with options"),
                ((*typed, "--document", "x" * 200), 1, "at most 128")):
            self.assertIn(said, self.said(*words, code=code))
        self.assertEqual(self.run_cli("events", "list", "--limit", "1", "--json")[0], before)

    def test_failure_is_json_on_request(self):
        """Code, message, fields and remedy are one object."""
        said = json.loads(self.said("--json", "corrections", "capture", "--type", "CUSTOMER_SELECTED",
                                    "--before", "[]", "--after", "x", code=1))
        self.assertEqual(said["code"], "INVALID_ARGUMENT")
        self.assertEqual([field["field"] for field in said["fields"]],
                         ["event.before_json", "event.after_json"])
        said = json.loads(self.said("--json", "token", "list", code=1, ERRATA_TOKEN_FILE=None))
        self.assertIn("no token was given", said["hint"])


if __name__ == "__main__":
    main()
