#!/usr/bin/python3
"""Secrecy: secrets of tokens and user content never appear in logs, argument lists, environments or core files.

Goal: a reader of a server's log learns no secret and no content, even at the most verbose level.
Method: each text that a caller can send is a unique canary, in successful calls, refused calls, and calls that no
method can decode; then the log is searched for all of them.
"""
import os
import secrets
import subprocess
import tempfile
import time

import grpc

from erratad import BIN, ServerCase, feedback, main, methods, options, roles

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED


class Secrecy(ServerCase):
    arguments = ("--log-level", "debug")

    def setUp(self):
        self.canaries = []

    def canary(self, shape="%s"):
        """A unique text of a given form."""
        self.canaries.append("canary" + secrets.token_hex(8))
        return shape % self.canaries[-1]

    def fill(self, message, depth=0):
        """A canary in each text of a request, in valid forms and in forms that checks refuse."""
        for field in message.DESCRIPTOR.fields:
            if field.message_type is not None and field.message_type.GetOptions().map_entry:
                getattr(message, field.name)[self.canary()] = self.canary()
            elif field.type == field.TYPE_MESSAGE and depth < 2:
                child = getattr(message, field.name)
                self.fill(child.add() if field.label == field.LABEL_REPEATED else child, depth + 1)
            elif field.type == field.TYPE_STRING and field.label != field.LABEL_REPEATED:
                rules = field.GetOptions().Extensions[options.field]
                shape = '{"note":"%s"}' if rules.format == options.FORMAT_JSON_OBJECT else "%s"
                setattr(message, field.name, self.canary(shape))

    def test_the_log_has_no_secret_and_no_content(self):
        made = self.admin.create_token(roles.ROLE_ADMIN)
        self.canaries += [made.secret.split("_", 2)[2], self.server.admin_token.split("_", 2)[2]]
        client = self.server.client(made.secret)
        client.capture(event_type=LINE, layout_fingerprint=self.canary(), document_id=self.canary(),
                       actor_user_id=self.canary(), before_json=self.canary('{"a":"%s"}'),
                       after_json=self.canary('{"a":"%s"}'),
                       meta_json=self.canary('{"input_snippet":"%s"}'))
        for path, method, _ in methods():
            request = method.input_type._concrete_class()
            self.fill(request)
            client.raw_any(path, request.SerializeToString(), 2)
        stranger = self.server.client(self.canary("errata_01234567_%s"))
        self.assertEqual(stranger.raw("/errata.v1.AdminService/ListTokens", b"")[0],
                         grpc.StatusCode.UNAUTHENTICATED)
        client.raw("/" + self.canary() + "/Method", b"")
        client.raw("/errata.v1.AdminService/ListTokens", b"",
                   metadata=[("x-note", self.canary()), ("idempotency-key", self.canary())])

        log = self.server.read_log()
        self.assertGreater(log.count("/errata.v1.AdminService/ListTokens"), 1, "nothing is logged")
        self.assertGreater(len(self.canaries), 60)
        for canary in self.canaries:
            self.assertNotIn(canary, log)

    def test_crash_leaves_no_core_file(self):
        with open(f"/proc/{self.server.process.pid}/limits", encoding="ascii") as f:
            core = next(line for line in f if line.startswith("Max core file size"))
        self.assertEqual(core.split()[4:6], ["0", "0"])

    def test_tokens_come_only_from_files(self):
        """The command takes no token as an argument or from the environment."""
        secret = self.server.admin_token
        errata = os.path.join(BIN, "errata")
        run = subprocess.run([errata, "--server", self.server.address, "--token", secret, "org",
                              "list"], capture_output=True, text=True, timeout=20,
                             env={"PATH": os.environ["PATH"]})
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertNotIn(secret, run.stderr)
        run = subprocess.run([errata, "--server", self.server.address, "org", "list"],
                             capture_output=True, text=True, timeout=20,
                             env={"PATH": os.environ["PATH"], "ERRATA_TOKEN": secret})
        self.assertNotEqual(run.returncode, 0, run.stdout)

    def test_the_process_shows_no_token(self):
        """While the command runs, its arguments and environment contain no secret."""
        with tempfile.NamedTemporaryFile("w", encoding="ascii") as token_file:
            token_file.write(self.server.admin_token)
            token_file.flush()
            run = subprocess.Popen([os.path.join(BIN, "errata"), "--server", self.server.address,
                                    "--token-file", token_file.name, "events", "watch"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                time.sleep(0.3)
                self.assertIsNone(run.poll())
                secret = self.server.admin_token.split("_", 2)[2].encode()
                for process in (run, self.server.process):
                    for name in ("cmdline", "environ"):
                        with open(f"/proc/{process.pid}/{name}", "rb") as f:
                            self.assertNotIn(secret, f.read(), name)
            finally:
                run.terminate()
                run.wait()


if __name__ == "__main__":
    main()
