#!/usr/bin/python3
"""Output on terminals (tables that fit, relative times, colours, progress) and in pipes.

Goal: no line is wider than the terminal, no text contains control sequences, and scripts get complete output.
Method: pseudo-terminals of several widths and environments; their received text is checked.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import time
import unicodedata

from errata_cli import ERRATA, CliCase, Terminal
from erratad import ROOT, admin, feedback, main, roles

PDF = pathlib.Path(ROOT, "tests", "data", "pdf")
WIDTHS = (60, 80, 120, 200)
LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
FINGERPRINT = "e0757238e9064dc4226467a60255d777776cbe5c8b9a7cdb20d34cd15b1e7117"


def columns(text):
    """Returns the number of terminal columns of a text."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def without_colours(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class TerminalCase(CliCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        client = cls.server.client()
        for number in range(30):
            client.capture(
                event_type=LINE, document_id=("invoice-1", "請求書-七", "Rechnung-" + "x" * 60)[number % 3],
                actor_user_id=("ada", "山田太郎", "somebody@a.long.example")[number % 3],
                layout_fingerprint=(FINGERPRINT, "supplier-7")[number % 2],
                before_json='{"qty": "1"}',
                after_json=json.dumps({"qty": "2", "comment_on_the_delivery": "風船 🎈\u009b31m"}),
                meta_json=json.dumps({"input_snippet": "12 pcs of\nAB 🎈 " + "y" * 200}))
        for role, user in (("OPERATOR", "ada"), ("OPERATOR", "山田太郎"), ("SERVICE", None)):
            client.admin.CreateToken(admin.CreateTokenRequest(token=admin.Token(
                role=roles.Role.Value("ROLE_" + role), user_id=user)))
        client.close()
        cls.inbox = cls.folder / "inbox"
        cls.inbox.mkdir()
        for path in (PDF / "layout").glob("*.pdf"):
            shutil.copy(path, cls.inbox / path.name)
        (cls.inbox / "words.pdf").write_text("no PDF")

    # --- tables ---

    def test_tables_fit(self):
        """In every list, at every width, no line is wider, and there are no escapes except colours."""
        self.run_cli("layouts", "ingest", "inbox", "--id-prefix", "fit/", code=1)
        lists = (("corrections", "list"), ("examples", FINGERPRINT), ("events", "list"), ("layouts", "list"),
                 ("token", "list"), ("org", "list"), ("methods",), ("methods", "CaptureFeedbackEvent"),
                 ("admin", "info"), ("context", "list"), ("layouts", "profiles"),
                 ("events", "watch", "--from-seq", "1", "--count", "9"))
        for words in lists:
            for width in WIDTHS:
                sent = without_colours(self.on_terminal(width, *words))
                self.assertNotIn("\x1b", sent)
                self.assertNotIn("\u009b", sent)
                for line in sent.splitlines():
                    self.assertLessEqual(columns(line), width, (words, width, line))

    def test_failures_fit_the_width(self):
        """Refusals of this program and of a server, with long names of fields and long texts."""
        cases = ((("corrections", "capture", '{"x": 1}'), 2), (("call", "GetExamples", '{"bogus": 1}'), 2),
                 (("call", "GetExamples", '{"maxExamples": "x"}'), 2), (("corrections", "show", "z" * 36), 1),
                 (("org", "settings", "--holdout", "many"), 2), (("org", "settings", "z" * 36), 1),
                 (("corrections", "list", "--type", "nonsense"), 2), (("token", "create", "--role", "BOSS"), 2),
                 (("context", "add", "a b", "--server", "x"), 2), (("health", "errata.bogus"), 1),
                 (("--server", "http://x", "health"), 2), (("layouts", "show", "nothing"), 1))
        for words, code in cases:
            for width in (60, 80, 140):
                for line in without_colours(self.on_terminal(width, *words, code=code)).splitlines():
                    self.assertLessEqual(columns(line), width, (words, width, line))

    def test_server_information_has_values(self):
        """Each line about the server has a value."""
        out = without_colours(self.on_terminal(80, "admin", "info"))
        for title in ("version", "store format", "log engine", "started"):
            self.assertRegex(out, rf"(?m)^{title} +\S")

    def test_columns_are_aligned(self):
        """Also with wide letters, the words of the heading are at the start of their columns."""
        lines = without_colours(self.on_terminal(200, "corrections", "list")).splitlines()
        start = lines[0].index("ACTOR")
        for line in lines[1:-1]:
            before, at = "", 0
            while columns(before) < start:
                before, at = line[:at + 1], at + 1
            self.assertEqual(columns(before), start)
            self.assertTrue(before.endswith("  ") and line[at] != " ", line)

    def test_pipe_gets_whole_values(self):
        """Pipes get whole ids, exact times and no colours; JSON is the unchanged reply."""
        out, _ = self.run_cli("corrections", "list", "--layout", FINGERPRINT)
        self.assertIn(FINGERPRINT, out)
        self.assertRegex(out, r"  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  ")
        self.assertIn("EXTRACTION_LINE_CORRECTED", out)
        self.assertNotIn("\x1b", out)
        sent = self.on_terminal(120, "corrections", "list", "--type", "line-corrected")
        self.assertRegex(sent, r"just now|\d+ (s|min) ago")
        listed = json.loads(self.run_cli("corrections", "list", "--limit", "1", "--json")[0])
        self.assertRegex(listed["events"][0]["createdAt"], r"\.\d+Z$")

    def test_pages_of_a_long_list_are_aligned(self):
        """2,500 rows in three pages: one heading, and every row in its columns."""
        events = "".join(json.dumps({"event_type": "CUSTOMER_SELECTED", "draft_order_id": "many",
                                     "actor_user_id": "u" * (1 + n // 900)}) + "\n" for n in range(2500))
        (self.folder / "many.jsonl").write_text(events)
        self.run_cli("corrections", "import", "many.jsonl")
        out, _ = self.run_cli("corrections", "list", "--draft", "many", "--all")
        lines = out.splitlines()
        self.assertEqual(len(lines), 2501)
        starts = {line.index("CUSTOMER_SELECTED") for line in lines[1:]}
        self.assertEqual(starts, {lines[0].index("TYPE")})
        self.assertEqual(sum(line.startswith("ID ") for line in lines), 1)

    def test_empty_list_and_single_row_are_shown(self):
        """An empty list prints a message instead of a heading; a single row has a heading."""
        out, said = self.run_cli("corrections", "list", "--actor", "nobody")
        self.assertEqual((out, said), ("", "no corrections match\n"))
        self.assertEqual(len(self.run_cli("org", "list")[0].splitlines()), 2)

    # --- properties of terminals ---

    def test_colours_follow_terminal_and_no_color(self):
        """Colours appear only on a terminal, and only if they are not disabled."""
        self.assertIn("\x1b[1m", self.on_terminal(80, "token", "list"))
        for words, changes in ((("--no-color",), {}), ((), {"NO_COLOR": "1"}), ((), {"TERM": "dumb"})):
            sent = self.on_terminal(80, "token", "list", *words, environment=self.here(**changes))
            self.assertNotIn("\x1b", sent)
        self.assertIn("\x1b", self.on_terminal(80, "token", "list",
                                               environment=self.here(NO_COLOR="")))

    def test_terminal_without_utf8_gets_ascii(self):
        """Tables, texts and JSON contain only ASCII."""
        ascii_only = self.here(LANG="C")
        event = json.loads(self.run_cli("corrections", "list", "--actor", "山田太郎", "--limit", "1",
                                        "--json")[0])["events"][0]["id"]
        for words in (("corrections", "list"), ("corrections", "show", event), ("token", "list"),
                      ("events", "show", event), ("layouts", "none")):
            sent = self.on_terminal(80, *words, environment=ascii_only,
                                    code=2 if words[1] == "none" else 0)
            self.assertTrue(sent.isascii(), sent)
        self.assertIn("\\u5c71\\u7530", self.on_terminal(120, "corrections", "list", "--actor", "山田太郎",
                                                         environment=ascii_only))

    def test_closed_pipe_ends_the_command(self):
        """`head` ends a list, a watch and a stream at once, without a message."""
        for words in ("corrections list --all", "events list --all --json", "events watch --from-seq 1",
                      "call WatchEvents '{\"from_seq\": 1}'"):
            run = subprocess.run(["bash", "-c", f"set -o pipefail; errata {words} | head -n 1"],
                                 env=self.here(), capture_output=True, text=True, timeout=60)
            self.assertEqual((run.returncode, len(run.stdout.splitlines()), run.stderr), (0, 1, ""), words)

    # --- progress ---

    def test_progress_line_is_erased(self):
        """On a terminal: a bar with counts, erased before the table, and a summary at the end."""
        many = self.folder / "many"
        many.mkdir()
        for path in self.inbox.glob("*.pdf"):
            for number in range(4):
                os.link(path, many / f"{number}-{path.name}")
        count = len(list(many.iterdir()))
        terminal = Terminal([ERRATA, "layouts", "ingest", "many", "--id-prefix", "p/"], self.here(),
                            self.folder, 80)
        sent = terminal.read()
        self.assertEqual(terminal.close(), 1)
        frames = re.findall(r"\r([^\r\n]*)\x1b\[K", sent)
        drawn = [frame for frame in frames if frame]
        self.assertTrue(drawn, sent[:300])
        for frame in drawn:
            self.assertLess(columns(without_colours(frame)), 80)
            self.assertRegex(frame, rf"^[█░]* ?\d+ of {count} files")
        last = sent.rindex("\r\x1b[K")
        self.assertNotIn("█", sent[last:])
        self.assertIn("FILE", sent[last:])
        self.assertRegex(sent, rf"{count - 4} of {count} stored, 4 not, in [0-9.]+ s")

    def test_pipe_gets_no_progress(self):
        """Without a terminal there is no progress line and no carriage return; nor on a terminal that cannot erase a
        line."""
        (self.folder / "few.jsonl").write_text('{"event_type": "CUSTOMER_SELECTED"}\n' * 2000)
        out, said = self.run_cli("corrections", "import", "few.jsonl", "--batch", "10")
        self.assertNotIn("\r", out + said)
        self.assertRegex(said, r"^events: 2,000 new, 0 already stored, in [0-9.]+ s\n$")
        sent = self.on_terminal(80, "corrections", "import", "few.jsonl", "--batch", "10", "--again",
                                environment=self.here(TERM="dumb"))
        self.assertNotIn("\r", sent)

    def test_import_shows_its_progress(self):
        """A file has a bar; a pipe is read to its end first, and imported as a whole."""
        (self.folder / "long.jsonl").write_text('{"event_type": "CUSTOMER_SELECTED"}\n' * 10000)
        sent = self.on_terminal(80, "corrections", "import", "long.jsonl", "--batch", "5", "--again")
        self.assertRegex(sent, r"\r█*░* \d{1,3}(,\d{3})* events")
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)

        def write():
            with open(pipe, "w") as f:
                for _ in range(20):
                    f.write('{"event_type": "CUSTOMER_SELECTED"}\n')
                    f.flush()
                    time.sleep(0.06)

        writer = threading.Thread(target=write)
        writer.start()
        terminal = Terminal([ERRATA, "corrections", "import", str(pipe), "--batch", "1", "--again"],
                            self.here(), self.folder, 80)
        sent = terminal.read()
        self.assertEqual(terminal.close(), 0)
        writer.join()
        self.assertIn("events: 20 new", sent)


if __name__ == "__main__":
    main()
