#!/usr/bin/python3
"""tools/demo-verdicts: one seed prints one report, and its figures add up.

Goal: the report that people decide by can be trusted. Method: a small run twice; the counts of each month cannot exceed
its receipts; rules that the careful reviewers agree with weigh more than those they reject.
"""
import os
import re
import subprocess
import tempfile
import unittest

from erratad import BIN, ROOT, STUBS, main

RECEIPTS, MONTHS = 400, 2


def run(*words):
    return subprocess.run([os.path.join(ROOT, "tools", "demo-verdicts"), "--bin", BIN, *words], capture_output=True,
                          text=True, timeout=120, check=False, env=os.environ | {"ERRATA_STUBS": STUBS})


class Demo(unittest.TestCase):
    def report(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("--receipts", str(RECEIPTS), "--months", str(MONTHS), "--seed", "3", "--report",
                       os.path.join(folder, "report.md"))
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(folder, "report.md"), encoding="utf-8") as f:
                self.assertEqual(f.read(), done.stdout)
            return done.stdout

    def test_one_seed_prints_one_report_whose_figures_add_up(self):
        text = self.report()
        self.assertEqual(self.report(), text)
        months = [[cell.strip().rstrip("%") for cell in line.strip("|").split("|")]
                  for line in text.splitlines() if line.startswith("| month")]
        self.assertEqual(len(months), MONTHS)
        for _, *cells in months:
            for right, alarms, missed in zip(cells[::3], cells[1::3], cells[2::3]):
                wrong = (int(alarms) + int(missed)) * 100 / (RECEIPTS / MONTHS)
                self.assertLessEqual(int(right) + wrong, 100.5)
        self.assertEqual(months[0][4:7], months[0][7:10])  # no decision before the end of the first month
        self.assertGreater(int(months[1][4]), int(months[1][1]))  # with rules more verdicts are right
        adds = {match[1]: float(match[2]) for match in re.finditer(
            r"^\| (\w+) \((?:false negative)\) +\| +\w[\w ]*\| +([+-][\d.]+) \|", text, re.M)}
        self.assertGreater(adds["font_mismatch"], adds.get("paper_folded", 0))

    def test_bad_options_are_refused(self):
        for words, problem in ((("--receipts", "5"), "--receipts is from 10"), (("--months", "25"), "--months is from 1"),
                               (("--receipts", "10", "--months", "20"), "fewer than --months")):
            done = run(*words)
            self.assertEqual((done.returncode, problem in done.stderr), (2, True), done.stderr)


if __name__ == "__main__":
    main()
