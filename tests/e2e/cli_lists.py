#!/usr/bin/python3
"""Each list and report of `errata`, on terminals of 80 and 140 columns and in a pipe.

Goal: no line is wider than the terminal or ends in blanks, no page begins with an empty line, values of members are aligned, and
pipes get no escapes. Method: one server with a row of each resource, stored by the commands; each output is captured and checked.
"""
import pathlib
import re

from cli_terminal import columns, without_colours
from errata_cli import CliCase
from erratad import ROOT, main

PDF = str(pathlib.Path(ROOT, "tests", "data", "pdf", "layout", "MustangGnuaccountingBeispielRE-20150613_503.pdf"))
DOCUMENT = "invoice-" + "17" * 30
COMMENT = "Always set a timeout on each remote call, and log the address that did not answer."
LISTS = ("context list", "layouts list", "layouts profiles", "layouts families", "corrections list", "mappings list", "rules list",
         "rules suggest", "rules report", "reviews list", "reviews run run-1", "reviews triggers laptops", "reviews card laptops",
         "reviews fragments", "fragments list", "prompts list", "decisions list", "decisions reviewers", "proposals list",
         "guidelines list", "guidelines effectiveness", "turns list", "turns session chat-1", "turns satisfaction",
         "analytics learning", "analytics coverage", "analytics experiment", "token list", "org list", "org settings",
         "org settings --corrections-days 3 --dry-run", "events list", "admin audit", "admin info", "verdicts stats", "health",
         "rules backtest --pattern torn_edge --type missed_indicator --adjustment 0.2")


class Lists(CliCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "template.txt").write_text("{{hint_examples}}\n{{document_text}}\n")

    def fill(self):
        """Stores rows with long texts; the token of the user rita decides and proposes."""
        self.run_cli("layouts", "ingest", PDF, "--document", DOCUMENT)
        self.run_cli("corrections", "capture", "--type", "EXTRACTION_LINE_CORRECTED", "--entity", "draft_order_line/" + "1" * 40,
                     "--before", '{"qty": 1}', "--after", '{"qty": 2}', "--document", DOCUMENT)
        self.run_cli("mappings", "confirm", "--customer", "customer-" + "4" * 40, "--sku", "A-" + "5" * 30, "--internal", "I-1")
        self.run_cli("verdicts", "submit", "receipt-1", "--original", "REAL", "--correct", "FAKE", "--score", "0.3",
                     "--missed", "torn_edge", "--missed", "x" * 60)
        self.run_cli("reviews", "submit", "run-1", "--subcategory", "laptops", "--decision", "rejected", "--bad-format", "yes",
                     "--missing", "width of the packed article in millimetres")
        self.run_cli("prompts", "put", "order", "template.txt")
        self.run_cli("token", "create", "--role", "REVIEWER", "--user", "rita", "--file", "rita.token")
        rita = "--token-file", "rita.token"
        self.run_cli(*rita, "decisions", "record", "d-1", "--gate", "HITL-1", "--epic", "epic-1", "--agent", "coder",
                     "--decision", "REJECTED", "--comment", COMMENT)
        self.run_cli(*rita, "proposals", "propose", "--rule-type", "CONSTRAINT", "--agent", "coder", "--rule", COMMENT)
        self.run_cli("turns", "record", "chat-1", "turn-1", "--query", COMMENT, "--outcome", "APPROVE", "--tool", "shop",
                     "--text", "laptop price<1000", "--quality", "0.8")
        self.run_cli("turns", "detect", "chat-1", "turn-2", "--message", "that's wrong")

    def check(self, words, width, sent):
        lines = without_colours(sent).splitlines()
        self.assertTrue(lines and lines[0], words)
        for line in lines:
            self.assertLessEqual(columns(line), width, (words, width))
            self.assertEqual(line, line.rstrip(), (words, width))

    def test_lists_fit_and_pipes_are_plain(self):
        self.fill()
        for words in [one.split() for one in LISTS]:
            self.check(words, 80, self.on_terminal(80, *words))
            if words[-1] == "list":
                self.check(words, 140, self.on_terminal(140, *words))
                out, said = self.run_cli(*words)
                self.assertNotIn("\x1b", out + said, words)
        self.check(["turns", "search"], 140, self.on_terminal(140, "turns", "search", COMMENT))

    def test_values_of_members_are_aligned(self):
        """Titles of any length: each value begins in the column of the first one."""
        for words in (("org", "settings"), ("rules", "report"), ("turns", "satisfaction"), ("reviews", "triggers", "none")):
            members = self.run_cli(*words)[0].split("\n\n")[0].splitlines()
            starts = {re.match(r"(?:\S+ )*\S+  +", line).end() for line in members}
            self.assertEqual(len(starts), 1, members)


if __name__ == "__main__":
    main()
