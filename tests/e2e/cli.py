#!/usr/bin/python3
"""The command `errata` against a real server, as operators and scripts use it.

Goal: each command does what it says, exit codes tell what happened, and nothing from outside reaches
a terminal raw. Method: the program is run; scripts read its JSON, a pseudo-terminal its tables.
"""
import fcntl
import json
import os
import pathlib
import pty
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time

from erratad import ServerCase, Server, feedback, main

ERRATA = os.path.join(os.environ["ERRATA_BIN"], "errata")
LINE = "EXTRACTION_LINE_CORRECTED"


class Cli(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.TemporaryDirectory()
        cls.token_file = os.path.join(cls.folder.name, "token")
        pathlib.Path(cls.token_file).write_text(cls.server.admin_token + "\n")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
        super().tearDownClass()

    def environment(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ERRATA_", "COLUMNS"))}
        return kept | {"ERRATA_SERVER": self.server.address, "ERRATA_TOKEN_FILE": self.token_file,
                       "TERM": "xterm"}

    def run_cli(self, *words, code=0, stdin="", **changes):
        """Runs one command; its output, and what it said on standard error, as text."""
        run = subprocess.run([ERRATA, *words], input=stdin, capture_output=True, text=True,
                             timeout=30, env=self.environment() | changes)
        self.assertEqual(run.returncode, code, f"{words}: {run.stdout}{run.stderr}")
        return run.stdout if code == 0 else run.stderr

    def file(self, name, text):
        path = os.path.join(self.folder.name, name)
        pathlib.Path(path).write_text(text)
        return path

    def test_a_correction_comes_back(self):
        """Captured by options, listed, shown with its diff, and served as an example."""
        made = self.run_cli("corrections", "capture", "--type", LINE, "--layout", "cli-1",
                            "--document", "d1", "--entity", "draft_order_line/3", "--before",
                            '{"qty":10}', "--after", '{"qty":12}', "--snippet", "-",
                            stdin="HX 10 pcs").strip()
        listed = json.loads(self.run_cli("corrections", "list", "--layout", "cli-1", "--json"))
        self.assertEqual([e["id"] for e in listed["events"]], [made])
        self.assertEqual(listed["events"][0]["entityId"], "3")
        shown = self.run_cli("corrections", "show", made)
        self.assertIn("qty\n  - 10\n  + 12\n", shown)
        hints = json.loads(self.run_cli("examples", "cli-1", "--hints"))
        self.assertEqual(hints, [{"input_snippet": "HX 10 pcs", "output": {"qty": 12}}])
        self.assertEqual(self.run_cli("examples", "cli-none"), "")

    def test_an_import_repeated_stores_nothing_twice(self):
        """Batches with keys of their own; a bad line names itself and its batch stores nothing."""
        lines = [json.dumps({"event_type": LINE, "layout_fingerprint": "cli-import",
                             "after_json": json.dumps({"qty": n})}) for n in range(25)]
        path = self.file("history.jsonl", "\n\n".join(lines) + "\n")
        for _ in range(2):
            self.run_cli("corrections", "import", path, "--batch", "10")
            listed = self.run_cli("corrections", "list", "--layout", "cli-import", "--all")
            self.assertEqual(len(listed.splitlines()), 1 + 25)
        bad = self.file("bad.jsonl", lines[0] + "\n[1]\n")
        self.assertIn("line 2 is no JSON object", self.run_cli("corrections", "import", bad, code=2))
        refused = self.file("refused.jsonl", "\n" + lines[0] + "\n{}\n")
        said = self.run_cli("corrections", "import", refused, "--again", code=1)
        self.assertIn("events[1].event_type", said)
        self.assertIn("events[0] is line 2", said)
        listed = self.run_cli("corrections", "list", "--layout", "cli-import", "--all")
        self.assertEqual(len(listed.splitlines()), 1 + 25)

    def test_tokens(self):
        """A created token works until it is revoked; what is missing is asked for."""
        secret = self.run_cli("token", "create", "--role", "SERVICE", "--expires", "1d").strip()
        file = self.file("service", secret)
        self.run_cli("examples", "any", ERRATA_TOKEN_FILE=file)
        self.assertIn("PERMISSION_DENIED", self.run_cli("token", "list", code=1,
                                                        ERRATA_TOKEN_FILE=file))
        key_id = secret.split("_")[1]
        self.assertIn(key_id, self.run_cli("token", "list"))
        self.run_cli("token", "revoke", key_id)
        self.assertIn("UNAUTHENTICATED", self.run_cli("--token-file", file, "examples", "x", code=1))
        self.assertIn("--role is missing", self.run_cli("token", "create", code=2))

    def test_call(self):
        """Any method by a short name; unknown members and names are refused with what is near."""
        reply = json.loads(self.run_cli("call", "GetExamples", '{"layoutFingerprint": "x"}'))
        self.assertEqual(reply["matchLevel"], "MATCH_LEVEL_NONE")
        self.assertIn('has no field "layout"',
                      self.run_cli("call", "GetExamples", '{"layout": "x"}', code=2))
        self.assertIn("did you mean GetExamples?", self.run_cli("call", "GetExampels", code=2))
        failed = json.loads(self.run_cli("--json", "call", "GetExamples", '{"limit": -1}', code=1))
        self.assertEqual({f["field"] for f in failed["fields"]}, {"limit", "layout_fingerprint"})
        measured = json.loads(self.run_cli("call", "GetExamples", '{"layout_fingerprint": "x"}',
                                           "--repeat", "20", "--json"))
        self.assertEqual(measured["calls"], 20)
        self.assertLessEqual(measured["p50_us"], measured["p99_us"])

    def test_exit_codes(self):
        """Usage 2, nobody there 3, a file that is none 4, output that can't be written 4."""
        self.run_cli("health")
        self.assertIn('did you mean "corrections"?', self.run_cli("corections", code=2))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
            self.assertIn("cannot connect", self.run_cli("--server", address, "health", code=3))
        self.run_cli("--token-file", "/nonexistent", "health", code=4)
        with open("/dev/full", "w") as full:
            run = subprocess.run([ERRATA, "health"], stdout=full, stderr=subprocess.PIPE,
                                 env=self.environment(), timeout=30)
        self.assertEqual(run.returncode, 4)

    def on_terminal(self, width, *words):
        """What a terminal of that width is sent."""
        pid, terminal = pty.fork()
        if pid == 0:
            time.sleep(0.2)  # the width is set meanwhile
            os.execve(ERRATA, [ERRATA, *words], self.environment())
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        out = b""
        try:
            while piece := os.read(terminal, 65536):
                out += piece
        except OSError:
            pass  # the end of a pseudo-terminal
        os.close(terminal)
        os.waitpid(pid, 0)
        return out.decode().replace("\r\n", "\n")

    def test_a_terminal(self):
        """Stored text can't steer the terminal, and tables keep to its width."""
        made = self.admin.capture(event_type=feedback.EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
                                  layout_fingerprint="cli-evil", document_id="d" * 100,
                                  before_json='{"note": "a"}',
                                  after_json='{"note": "\u009b31m\u202e"}').id
        for words in (("corrections", "show", made), ("examples", "cli-evil"),
                      ("call", "GetFeedbackEvent", '{"id": "%s"}' % made)):
            sent = self.on_terminal(80, *words)
            self.assertIn("note", sent)
            self.assertNotIn("\u009b", sent)
            self.assertNotIn("\u202e", sent)
        table = self.on_terminal(80, "corrections", "list", "--layout", "cli-evil", "--no-color")
        self.assertIn(made, table)
        self.assertLessEqual(max(map(len, table.splitlines())), 80)

    def test_a_watch_outlives_the_server(self):
        """Killed and started again at the same address: each event once, none lost."""
        with Server() as server:
            port = server.address.rsplit(":", 1)[1]
            token = self.file("watch", server.admin_token)
            watch = subprocess.Popen(
                [ERRATA, "events", "watch", "--from-seq", "1", "--count", "5", "--json"],
                stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL,
                env=self.environment() | {"ERRATA_SERVER": server.address,
                                          "ERRATA_TOKEN_FILE": token})
            seen = []
            reader = threading.Thread(target=lambda: seen.extend(watch.stdout))
            reader.start()
            writer = server.client(server.admin_token)
            writer.capture(event_type=feedback.EVENT_TYPE_CUSTOMER_SELECTED)
            writer.close()
            server.kill9()
            server.arguments = ["--listen", f"127.0.0.1:{port}"]
            server.start()
            writer = server.client(server.admin_token)
            for _ in range(3):
                writer.capture(event_type=feedback.EVENT_TYPE_CUSTOMER_SELECTED)
            writer.close()
            reader.join(60)
            self.assertEqual(watch.wait(10), 0)
            watch.stdout.close()
            self.assertEqual([int(json.loads(line)["event"]["seq"]) for line in seen],
                             [1, 2, 3, 4, 5])


if __name__ == "__main__":
    main()
