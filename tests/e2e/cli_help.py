#!/usr/bin/python3
"""The program's documentation: help at every level, examples, and the manual page.

Goal: examples in the help can be pasted and work, and the help is complete.
Method: a shell runs every example of every page, in a folder with the files that they use.
"""
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess

from errata_cli import CliCase
from erratad import ROOT, feedback, main

PDF = pathlib.Path(ROOT, "tests", "data", "pdf")
SECONDS = 60
# Examples that do not end by themselves, or that name a made-up id.
ENDLESS = ("errata events watch\n", "events watch --kind", "WatchEvents", " --follow")
ON_TERMINAL = ("corrections review", "reviews fill")  # refused without a terminal; cli_review runs it on one
NOT_THERE = ("fragments approve", "proposals show 0192f0c0", "proposals approve 0192f0c0", "proposals reject 0192f0c0",
             "proposals retract 0192f0c0", "guidelines retire 0192f0c0", "token revoke 0123abcd", "quota --key-id 1a2b3c4d", "token rotate 0123abcd",
             "org delete 0192f0c0",
             "corrections show 0192f0c0",
             "mappings show 0192f0c0",
             "mappings confirm 0192f0c0", "layouts merge 0196f3a1", "layouts split 0196f3a1",
             "corrections retract 0192f0c0", "rules show 0192f0c0", "reviews show 0192f0c0", "rules enable 0192f0c0",
             "rules disable 0192f0c0", "decisions similar 0192f0c0", "decisions evaluate 0192f0c0",
             "decisions override 0192f0c0", "decisions retract 0192f0c0", "decisions retry 0192f0c0", "guidelines keep 0192f0c0",
             "proposals generate 0192f0c0", "proposals shadow 0192f0c0", "rules shadow 0192f0c0", "rules activate 0192f0c0",
             "rules retire 0192f0c0", "rules backtest 0192f0c0", "rules apply --rule 0192f0c0")


class Help(CliCase):
    def commands(self):
        """Every command of the long help."""
        listed = self.run_cli("help")[0].split("Options of every command")[0]
        return [m[1].split() for m in re.finditer(r"^  (\S+(?: [a-z-]+)?)  ", listed, flags=re.M)]

    def test_every_level_has_help(self):
        """Help of all, groups, commands and topics, by `help` or by an option, is written to standard
        output."""
        self.assertEqual(self.run_cli()[1], "")
        commands = self.commands()
        self.assertGreater(len(commands), 25)
        for words in [[], ["layouts"], ["contexts"], ["exit-codes"], *commands]:
            page, said = self.run_cli("help", *words)
            self.assertEqual(said, "")
            self.assertGreater(len(page.splitlines()), 4, words)
            self.assertLessEqual(max(map(len, page.splitlines())), 80, words)
        for words in [["layouts"], *commands]:
            self.assertEqual(self.run_cli(*words, "--help")[0], self.run_cli("help", *words)[0])
        self.assertEqual(self.run_cli("layouts")[0], self.run_cli("layouts", "help")[0])
        for words in commands:
            page = self.run_cli("help", *words)[0]
            self.assertIn("Examples", page, words)

    def test_help_fits_a_screen(self):
        """The first page is one screen of 40 lines; no page is wider than its terminal."""
        self.assertLessEqual(len(self.on_terminal(80).splitlines()), 40)
        for width in (60, 80, 120):
            for words in [[], ["help"], ["layouts"], ["help", "environment"],
                          ["help", "output"], ["help", "token", "create"]]:
                for line in self.on_terminal(width, *words, "--no-color").splitlines():
                    example = width < 80 and line.startswith(("  errata ", "  #"))
                    self.assertTrue(example or len(line) <= width, (width, line))

    def test_typo_gets_a_suggestion(self):
        """The most similar name is suggested: of commands, groups, topics, options, words and
        methods."""
        for words, said in ((["lyouts"], 'did you mean "layouts"?'),
                            (["layouts", "lst"], 'did you mean "layouts list"?'),
                            (["help", "contxts"], 'did you mean "contexts"?'),
                            (["list", "layouts"], "`errata layouts list`"),
                            (["show", "x"], "`errata corrections show`"),
                            (["health", "--jsn"], "did you mean --json?"),
                            (["token", "create", "--role", "admn"], "did you mean ADMIN?"),
                            (["events", "list", "--kind", "token"], "did you mean TOKEN_"),
                            (["call", "GetExampels"], "did you mean GetExamples?"),
                            (["examples"], "LAYOUT: missing; expected"),
                            (["call", "GetExamples", "{a:", "1}"], "inside quotes"),
                            (["corrections", "capture", "x"], "expected a JSON object"),
                            (["quite", "different"], "unknown command \"quite\"")):
            self.assertIn(said, self.run_cli(*words, code=2)[1])

    def test_failures_are_json_on_request(self):
        """Each failure is one JSON object per line on standard error, also before the command line is parsed."""
        for words, code in ((["--json", "lyouts"], 2), (["health", "--jsn", "--json"], 2),
                            (["layouts", "show", "none", "--json"], 1),
                            (["--json", "--server", "127.0.0.1:1", "health"], 3),
                            (["--json", "--token-file", "/nonexistent", "health"], 4),
                            (["--json", "call", "GetExamples", '{"x": 1}'], 2)):
            out, said = self.run_cli(*words, code=code)
            self.assertEqual(out, "")
            for line in said.splitlines():
                self.assertTrue({"code", "message"} <= json.loads(line).keys(), line)

    # --- examples ---

    def prepare(self):
        """The files that examples name, and the corrections and documents."""
        event = {"event_type": "EXTRACTION_LINE_CORRECTED", "layout_fingerprint": "a1b2c3",
                 "document_id": "invoice-17", "after_json": '{"qty": 12}'}
        history = "".join(json.dumps(event | {"entity_id": str(n)}) + "\n" for n in range(5))
        invoice = PDF / "layout" / "MustangGnuaccountingBeispielRE-20150613_503.pdf"
        (self.folder / "event.json").write_text(json.dumps(event))
        (self.folder / "request.json").write_text(json.dumps({"event": event}))
        (self.folder / "history.jsonl").write_text(history)
        (self.folder / "history.jsonl.gz").write_bytes(gzip.compress(history.encode()))
        (self.folder / "inbox").mkdir()
        for name in ("invoice-17.pdf", "inbox/invoice-18.pdf"):
            shutil.copy(invoice, self.folder / name)
        shutil.copy(PDF / "encrypted" / "enc-R3_V2_U=view_O=master.pdf", self.folder / "scan.pdf")
        (self.folder / "pw.txt").write_text("view\n")
        (self.folder / "template.txt").write_text("{{document_text}}\n")
        (self.folder / "text.txt").write_text("12 pcs of HX\n")
        (self.folder / "wording.json").write_text(json.dumps({"fragments": [
            {"signal": "BAD_FORMAT", "placeholder": "EXTRACTION_REVIEW", "text": "Return one JSON object."}]}))
        (self.folder / "schema.json").write_text("{}\n")
        (self.folder / "lines.csv").write_text("customer_id,customer_sku\nacme,HX-1\n")
        (self.folder / "matches.csv").write_text("customer_id,customer_sku,internal_sku\nacme,HX-4,4714\n")
        (self.folder / "mappings.csv").write_text("customer_id,customer_sku,internal_sku\nacme,HX-3,4713\n")
        samples = PDF.parent / "imports" / "tensorzero"
        shutil.copy(samples / "demonstration_feedback.jsonl", self.folder / "feedback.jsonl")
        shutil.copy(samples / "chat_inference.jsonl", self.folder / "inferences.jsonl")
        (self.folder / "review.csv").write_text("doc,was,is,who,when\nd1,Berlin,Bern,ada,2025-03-01\n")
        for folder in (".local/share/bash-completion/completions", ".config/fish/completions"):
            (self.folder / folder).mkdir(parents=True)
        for name in ("invoice-17", "invoice-18"):
            self.run_cli("layouts", "ingest", "invoice-17.pdf", "--document", name)
        self.admin.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
                           layout_fingerprint="a1b2c3", after_json='{"qty": 12}')

    def examples(self, words):
        """The lines of a command's examples; lines that continue after a backslash or inside quotes
        are joined."""
        page = self.run_cli("help", *words)[0].split("\nExamples\n")[1].split("\n\n")[0]
        examples = []
        for line in page.splitlines():
            line = line[2:]
            if line.startswith("#"):
                continue
            if examples and re.match(r"  |errata token create --org", line):
                examples[-1] += line + "\n"
            else:
                examples.append(line + "\n")
        return examples

    def run_example(self, example, environment):
        """Returns the exit code; None if it had to be stopped."""
        try:
            return subprocess.run(["timeout", "2" if any(e in example for e in ENDLESS) else "60",
                                   "bash", "-o", "pipefail", "-c", example], cwd=self.folder,
                                  env=environment, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=SECONDS + 10)
        except subprocess.TimeoutExpired:
            self.fail(f"it does not end: {example}")

    def test_every_example_runs(self):
        """Each example, pasted unchanged, works as described; those that watch run until they are stopped."""
        if not shutil.which("jq"):
            self.skipTest("examples pipe into jq, which is not installed")
        self.prepare()
        environment = self.here()
        count = 0
        for words in self.commands():
            # Contexts of examples name servers that do not exist.
            usual = environment if words[0] != "context" else self.environment()
            for example in self.examples(words):
                ended = self.run_example(example, usual)
                expected = {0}
                if any(e in example for e in ENDLESS):
                    expected = {124}
                elif any(e in example for e in NOT_THERE):
                    expected = {1}
                elif any(e in example for e in ON_TERMINAL):
                    expected = {2}
                self.assertIn(ended.returncode, expected,
                              f"{example}: {ended.stdout[-500:]}{ended.stderr[-500:]}")
                count += 1
        self.assertGreater(count, 40)

    # --- pages made from the same tables ---

    def test_manual_page_is_valid(self):
        """The manual page covers every command, and formatters report no errors."""
        page = self.run_cli("__man", "November 22, 2026")[0]
        path = self.folder / "errata.1"
        path.write_text(page)
        for words in self.commands():
            name = " ".join(words).replace("-", "\\-")
            self.assertIn(f'.It "\\fB{name}\\fP', page)
        pages = [path, *pathlib.Path(os.environ["ERRATA_BUILD"], "share").glob("man/man1/*.1")]
        for made in pages:
            if shutil.which("mandoc"):
                said = subprocess.run(["mandoc", "-Tlint", "-Wstyle", made], capture_output=True,
                                      text=True, timeout=SECONDS, check=False).stdout
                wrong = [line for line in said.splitlines() if "referenced manual not found" not in line]
                self.assertEqual(wrong, [])
            if shutil.which("groff"):
                said = subprocess.run(["groff", "-ww", "-mandoc", "-Tutf8", "-z", made], check=True,
                                      capture_output=True, text=True, timeout=SECONDS).stderr
                self.assertEqual(said, "")

    def test_installed_scripts_are_those_of_the_program(self):
        """The build writes the same scripts as `errata completion` prints."""
        share = pathlib.Path(os.environ["ERRATA_BUILD"], "share")
        if not share.exists():
            self.skipTest("the target share was not built")
        for shell, place in (("bash", "bash-completion/completions/errata"),
                             ("zsh", "zsh/site-functions/_errata"),
                             ("fish", "fish/vendor_completions.d/errata.fish")):
            self.assertEqual((share / place).read_text(), self.run_cli("completion", shell)[0])


if __name__ == "__main__":
    main()
