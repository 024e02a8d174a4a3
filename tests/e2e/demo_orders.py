#!/usr/bin/python3
"""tools/demo-orders: it prints the server's answers, and the same text for the same seed.

Goal: the report that people decide by has the server's figures. Method: a small run whose data is kept, a
server on that data, and its own answers beside the text; the log is counted again as well.
"""
import os
import subprocess
import tempfile
import unittest

import recount
from erratad import BIN, ROOT, Server, analytics, event_log, extraction, feedback, main, mappings

DOCUMENTS = 140
SECONDS = 60


def run(*arguments):
    return subprocess.run([os.path.join(ROOT, "tools", "demo-orders"), "--bin", BIN, *arguments],
                          capture_output=True, text=True, timeout=SECONDS, check=False)


class Demo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.data = os.path.join(cls.folder.name, "data")
        cls.report = os.path.join(cls.folder.name, "report.md")
        cls.words = ("--documents", str(DOCUMENTS), "--customers", "5", "--seed", "3", "--months", "2",
                     "--holdout", "35", "--follows", "95", "--report", cls.report)
        cls.done = run(*cls.words, "--data", cls.data)
        if cls.done.returncode != 0:
            raise AssertionError(cls.done.stderr[-3000:])

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def row(self, name):
        """The cells of the first row of a table that begins so."""
        line = next(line for line in self.done.stdout.split("\n") if line.startswith(f"| {name} "))
        return [cell.strip() for cell in line.strip("|").split("|")][1:]

    def test_sc_005_report_equals_the_servers_figures(self):
        """Arms, shares, uplift, interval and p-value of the text; and each month's."""
        with Server(data=self.data) as server:
            client = server.client()
            reported = client.analytics.GetExperimentReport(
                analytics.GetExperimentReportRequest(page_size=1000))
            for name, arm in (("with examples", reported.organization.treatment),
                              ("held out", reported.organization.control)):
                self.assertEqual(self.row(name)[:2],
                                 [f"{arm.extraction_count:,}", f"{arm.accuracy * 100:.1f}%"])
            figures = reported.organization
            text = " ".join(self.done.stdout.split())
            self.assertIn(f"**{abs(figures.relative_improvement) * 100:.1f}% more orders", text)
            self.assertIn(f"between +{figures.improvement_low * 100:.1f}% and "
                          f"+{figures.improvement_high * 100:.1f}%", text)
            self.assertIn(f"p = {figures.p_value:.2g})", text)
            self.assertIn(f"{len(reported.layouts)} forms have", text)
            january = client.analytics.GetLearningAnalytics(analytics.GetLearningAnalyticsRequest(
                start_date="2025-01-01", end_date="2025-01-31"))
            self.assertEqual(self.row("Jan 2025")[0], f"{january.extraction_count:,}")
            self.assert_sums(client)
            client.close()

    def assert_sums(self, client):
        self.assertEqual(recount.check(client), [])
        kinds = [event.kind for event in client.events()]
        self.assertEqual(kinds.count(event_log.EVENT_KIND_EXTRACTION_RECORDED), DOCUMENTS)
        self.assertGreater(kinds.count(event_log.EVENT_KIND_MAPPING_APPLIED), 0)
        types = {event.feedback_event.event_type for event in
                 client.events(kind=event_log.EVENT_KIND_FEEDBACK)}
        self.assertEqual(types, set(feedback.FeedbackEventType.values()[1:]), "an action never happened")
        uses = sum(one.use_count for one in client.all_pages(
            client.mappings.ListMappings, mappings.ListMappingsRequest(page_size=1000), "mappings"))
        self.assertIn(f"applied {uses:,} times", " ".join(self.done.stdout.split()))
        arms = {event.extraction_recorded.extraction.arm for event in
                client.events(kind=event_log.EVENT_KIND_EXTRACTION_RECORDED)}
        self.assertEqual(arms, {extraction.EXPERIMENT_ARM_TREATMENT, extraction.EXPERIMENT_ARM_CONTROL})

    def test_one_seed_prints_the_same(self):
        again = run(*self.words)
        self.assertEqual(again.stdout, self.done.stdout)
        with open(self.report, encoding="utf-8") as f:
            self.assertEqual(f.read() + "\n", self.done.stdout)

    def test_a_model_that_ignores_examples_gains_nothing(self):
        """The gain is neither in the report nor in the choice of the held-out documents: it is the model's
        use of examples."""
        done = run(*self.words, "--follows", "0")
        self.assertIn("does not show that examples help", done.stdout)
        self.assertNotIn("does not show that examples help", self.done.stdout)

    def test_invalid_options_are_refused(self):
        for words, what in ((("--documents", "0"), "--documents is from"),
                            (("--start", "2999-01-01"), "end on"),
                            (("--start", "May"), "is not a date"), (("--data", BIN), "not empty"),
                            (("--bin", "/nowhere"), "no erratad"),
                            (("--report", "/nowhere/report.md"), "no such folder")):
            done = run(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(what, done.stderr)


if __name__ == "__main__":
    main()
