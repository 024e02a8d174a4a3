#!/usr/bin/python3
"""tools/demo-decisions: rules help, those without an effect are retired, and no text of the hostile reviewer has an
effect.

Goal: the report shows the effect of reviewers. Method: a small run with held-out tasks; the figures of its tables add
up.
"""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from erratad import BIN, ROOT, STUBS, main


def run(*words):
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([os.path.join(ROOT, "tools", "demo-decisions"), "--bin", BIN,
                               "--report", os.path.join(folder, "r.md"), *words],
                              capture_output=True, text=True, timeout=120, check=False, env=os.environ | {"ERRATA_STUBS": STUBS})


class Demo(unittest.TestCase):
    def test_rules_help_and_hostile_ones_are_refused(self):
        done = run("--months", "3", "--tasks", "60", "--holdout", "30")
        self.assertEqual(done.returncode, 0, done.stderr)
        total, approved = (int(one) for one in re.match(r"# (\d+) tasks in 3 months; (\d+) rules", done.stdout).groups())
        self.assertEqual(total, 180)
        self.assertGreaterEqual(approved, 2)
        self.assertRegex(done.stdout, r"\| with rules \|(.*\n)*\| held out \|")
        with_rules = [int(one) for one in re.findall(r"(\d+)% of", re.search(r"\| with rules \|.*", done.stdout)[0])]
        self.assertGreater(with_rules[-1], with_rules[0])
        rows = re.findall(r"^\| (\w+) \| (\d+) \| \d+ \| \d+ of \d+ \| (\d+) clusters \|", done.stdout, re.M)
        self.assertEqual(sum(int(row[1]) for row in rows), total + 3 * 8)
        self.assertEqual({row[0]: row[2] for row in rows}["mallory"], "1")
        tried, refused = re.search(r"Of (\d+) forbidden votes of the hostile reviewer (\d+) were refused", done.stdout).groups()
        self.assertEqual(tried, refused)
        self.assertIn("\n0 of the hostile reviewer's rules are in a prompt.", done.stdout)

    @unittest.skipUnless(shutil.which("redis-server"), "redis-server is not installed")
    def test_decisions_arrive_by_a_stream(self):
        done = run("--months", "1", "--tasks", "40", "--holdout", "30", "--redis")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(r"^\| (\w+) \| (\d+) \| \d+ \| \d+ of \d+ \| (\d+) clusters \|", done.stdout, re.M)
        self.assertEqual(sum(int(row[1]) for row in rows), 40 + 8)

    def test_invalid_options_are_refused(self):
        for words in (("--months", "0"), ("--holdout", "101"), ("--bin", "/nowhere")):
            self.assertEqual(run(*words).returncode, 2)


if __name__ == "__main__":
    main()
