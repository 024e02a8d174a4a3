#!/usr/bin/python3
"""tools/demo-reviews: one seed prints one report, and its figures add up.

Goal: the report that people decide by can be trusted. Method: a small run twice; guidance that the extractor heeds makes
signals come back less often, and guidance that it ignores does not; each injected line names its reviews.
"""
import os
import re
import subprocess
import tempfile
import unittest

from erratad import BIN, ROOT, STUBS, main

RUNS = 240


def run(*words):
    return subprocess.run([os.path.join(ROOT, "tools", "demo-reviews"), "--bin", BIN, *words], capture_output=True,
                          text=True, timeout=120, check=False, env=os.environ | {"ERRATA_STUBS": STUBS})


def rows(text, head):
    """The rows of the table whose head begins with a word, as lists of cells."""
    lines = iter(text.splitlines())
    next(line for line in lines if line.startswith(f"| {head} "))
    next(lines)
    found = []
    for line in lines:
        if not line.startswith("|"):
            return found
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def difference(text):
    match = re.search(r"Difference ([+-]\d+) points, 95% interval ([+-]\d+) to\s+([+-]\d+)", text)
    return [int(number) for number in match.groups()]


class Demo(unittest.TestCase):
    def report(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.md")
            done = run("--runs", str(RUNS), "--seed", "3", "--report", path, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path, encoding="utf-8") as f:
                self.assertEqual(f.read(), done.stdout)
            return done.stdout

    def test_one_seed_prints_one_report_whose_figures_add_up(self):
        text = self.report("--heeds", "90")
        self.assertEqual(self.report("--heeds", "90"), text)
        signals = rows(text, "signal")
        self.assertEqual(len(signals), 5)
        self.assertEqual(sum(int(row[1]) for row in rows(text, "agent")), RUNS)
        estimate, low, high = difference(text)
        self.assertTrue(low <= estimate <= high < 0, text)
        injected = re.findall(r"^\* (extraction|supervisor), line (\d+), because of (.+):$", text, re.M)
        self.assertTrue(injected)
        for _, _, why in injected:
            self.assertRegex(why, r"^the latest item of a reviewed run$|^[a-z ]+: run-\d+ \((careful|lenient|harsh)\)")

    def test_guidance_that_is_ignored_changes_nothing(self):
        _, low, high = difference(self.report("--heeds", "0"))
        self.assertTrue(low < 0 < high)
        self.assertIn("Without held-out runs there is no comparison", self.report("--holdout", "0"))

    def test_bad_options_are_refused(self):
        for words, problem in ((("--runs", "5"), "--runs is from 30"), (("--heeds", "101"), "--heeds is from 0")):
            done = run(*words)
            self.assertEqual((done.returncode, problem in done.stderr), (2, True), done.stderr)


if __name__ == "__main__":
    main()
