#!/usr/bin/python3
"""Retention: the content of old events is removed, and with it the examples; facts, counts and the chain of the log are
kept.

Goal: the server applies the settings without a call, with either engine, and the store verifies. Method: a server whose
clock is put three days ahead after it has stored corrections and a verdict, and which is then started again.
"""
import os
import shutil
import subprocess
import tempfile
import unittest

import grpc

from erratad import (BIN, Server, admin, content_retention, event_log, feedback, main,
                     status_of, verdicts, wait_until)
from jumping_clock import Clock

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
DAY_SECONDS = 24 * 3600
CORRECTIONS = 40  # more than the marks in a layout's head, and than one step removes at first


class Retention(unittest.TestCase):
    engine = "lmdb"

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data = os.path.join(self.folder, "data")
        self.clock = Clock(self.folder)
        self.start()

    def start(self):
        self.server = Server(data=self.data, prefix=self.clock.prefix, arguments=("--pdf-worker", "/nowhere"),
                             environment={"ERRATA_LOG": self.engine}).start()
        self.addCleanup(self.server.close)
        self.client = self.server.client()

    def restart(self):
        self.client.close()
        self.server.stop()
        self.start()

    def correct(self, number):
        return self.client.capture(event_type=LINE, layout_fingerprint="acme", document_id=f"d{number % 5}",
                                   entity_type="line", entity_id=str(number % 30), before_json='{"qty":1}',
                                   after_json='{"qty":%d}' % (number + 2), meta_json='{"input_snippet":"Drill"}')

    def cli(self, *arguments):
        return subprocess.run([os.path.join(BIN, "errata"), *arguments, "--server", self.server.address, "--token-file",
                               os.path.join(self.data, "admin.token")], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "HOME": self.data})

    def with_content(self):
        """The ids of the feedback events that have content."""
        return {event.id for event in self.client.events()
                if event.HasField("feedback_event") and event.feedback_event.after_json}

    def test_old_content_goes_and_facts_stay(self):
        old = [self.correct(n) for n in range(CORRECTIONS)]
        verdict = self.client.submit_verdict(receipt_id="r1", original_verdict=verdicts.VERDICT_FAKE,
                                             correct_verdict=verdicts.VERDICT_REAL, reviewer_notes="a note")
        self.client.update_settings(content_retention=content_retention.ContentRetention(corrections_days=2))
        self.clock.advance(3 * DAY_SECONDS, 0)
        new = self.correct(CORRECTIONS)
        preview = self.client.admin.PreviewRetention(admin.PreviewRetentionRequest()).previews
        self.assertEqual([row.event_count for row in preview], [CORRECTIONS, 0, 0])
        self.assertRegex(self.cli("org", "settings", "--dry-run").stdout, rf"corrections +{CORRECTIONS} events, ")
        tried = self.cli("org", "settings", "--dry-run", "--corrections-days", "4", "--verdicts-days", "2").stdout
        self.assertRegex(tried, r"corrections +0 events.*\nverdicts +1 event,.*\nreviews +kept forever")
        self.assertEqual(len(self.with_content()), CORRECTIONS + 1)  # while the server runs, a jump removes nothing
        self.restart()
        wait_until(lambda: self.with_content() == {new.id}, "the content of old corrections is removed", seconds=30)
        events = {event.id: event for event in self.client.events()}
        for event in old:
            self.assertTrue(events[event.id].content_removed)
            self.assertEqual(events[event.id].feedback_event.fields_changed, ["qty"])
            self.assertEqual(len(events[event.id].content_sha256), 32)
        self.assertTrue(any(event.kind == event_log.EVENT_KIND_VERDICT_SUBMITTED and not event.content_removed
                            for event in events.values()), verdict)
        swept = [event.content_swept for event in events.values() if event.HasField("content_swept")]
        self.assertEqual(sum(len(sweep.seqs) for sweep in swept), CORRECTIONS)
        self.assertEqual(sum(sweep.example_count for sweep in swept), CORRECTIONS)
        served = self.client.examples("acme")
        self.assertEqual([example.id for example in served.examples], [new.id])
        self.check_past(events[old[0].id].seq, events[new.id].seq)
        verified = self.cli("admin", "verify")
        self.assertIn("everything holds", verified.stdout, verified)
        # A retraction of a correction without content subtracts its counts.
        self.cli("corrections", "retract", old[0].id, "--reason", "wrong invoice")
        self.assertIn("everything holds", self.cli("admin", "verify").stdout)

    def check_past(self, old_seq, new_seq):
        """Reads as of an event below the floor, of one above it before the removal, and of one after it."""
        with self.assertRaises(grpc.RpcError) as caught:
            self.client.examples("acme", as_of_seq=old_seq)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)
        self.assertRegex(caught.exception.details(), rf"as_of: event {old_seq} is below .* expected event \d+ or a later")
        past = self.client.examples("acme", as_of_seq=new_seq)
        self.assertEqual((len(past.examples), past.incomplete), (1, True))
        self.assertFalse(self.client.examples("other", as_of_seq=new_seq).incomplete)
        self.assertFalse(self.client.examples("acme", as_of_seq=next(iter(self.client.events())).seq).incomplete)
        self.assertTrue(self.client.prompt(template="a prompt", as_of_seq=old_seq).prompt)

    def test_time_is_at_least_two_days(self):
        for field in ("corrections_days", "verdicts_days", "reviews_days"):
            with self.assertRaises(grpc.RpcError) as caught:
                self.client.update_settings(content_retention=content_retention.ContentRetention(**{field: 1}))
            self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
            self.assertIn(f"settings.content_retention.{field}", str(status_of(caught.exception)))
        shown = self.cli("org", "settings", "--reviews-days", "30")
        self.assertRegex(shown.stdout, r"corrections kept +365 days\n *verdicts kept +forever\n *reviews kept +30 days", shown)
        settings = self.client.admin.GetSettings(admin.GetSettingsRequest()).settings
        self.assertEqual(settings.content_retention.reviews_days, 30)
        self.assertEqual(settings.content_retention.corrections_days, 365)


class RetentionWithJournal(Retention):
    engine = "journal"
    test_time_is_at_least_two_days = None  # does not depend on the engine


if __name__ == "__main__":
    main()
