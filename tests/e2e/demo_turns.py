#!/usr/bin/python3
"""tools/demo-turns: strategies help, and the figures add up.

Goal: the report shows the effect of users' messages. Method: a small run without held-out sessions twice, whose reports
are equal; one with half of the sessions held out has both rows.
"""
import os
import re
import subprocess
import tempfile
import unittest

from erratad import BIN, ROOT, STUBS, main


def run(*words):
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([os.path.join(ROOT, "tools", "demo-turns"), "--bin", BIN, "--report", os.path.join(folder, "r.md"), *words],
                              capture_output=True, text=True, timeout=120, check=False, env=os.environ | {"ERRATA_STUBS": STUBS})


class Demo(unittest.TestCase):
    def report(self, *words):
        done = run(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_one_seed_gives_one_report_whose_figures_add_up(self):
        said = self.report("--sessions", "20", "--holdout", "0")
        self.assertEqual(said, self.report("--sessions", "20", "--holdout", "0"))
        total, offered = (int(one) for one in re.match(r"# (\d+) turns; (\d+) used", said).groups())
        answers = [int(one) for one in re.findall(r"% of (\d+)", said)]
        self.assertEqual(sum(answers), total)
        self.assertTrue(0 < offered < total)
        read = dict((row[0], [int(one) for one in row[1:]]) for row in re.findall(r"\| (content|unhappy) \| (\d+) \| (\d+) \| (\d+) \|", said))
        self.assertGreater(read["content"][1], read["content"][0])
        self.assertGreater(read["unhappy"][0], read["unhappy"][1])
        self.assertIn("The strategy that was taken most often", said)

    def test_held_out_sessions_have_a_row(self):
        said = self.report("--sessions", "20", "--holdout", "50")
        self.assertRegex(said, r"\| with strategies \|(.*\n)*\| held out \|")

    def test_invalid_options_are_refused(self):
        for words in (("--sessions", "1"), ("--holdout", "101"), ("--bin", "/nowhere")):
            self.assertEqual(run(*words).returncode, 2)


if __name__ == "__main__":
    main()
