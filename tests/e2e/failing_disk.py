#!/usr/bin/python3
"""A disk that fails: what was acknowledged stays, what was not is refused or in doubt, never half.

Goal: failing syncs refuse writes until one succeeds again; a commit that LMDB can't finish ends the
server with 75, so that a supervisor starts it again. Method: failing_disk.c between erratad and libc.
"""
import os
import subprocess
import tempfile
import time
import unittest

import grpc

from erratad import ROOT, Server, correction, feedback, health_pb2, main

EXIT_STORE = 75
CAPTURE = "/errata.v1.CorrectionService/CaptureEvent"


def capture_of(number):
    return correction.CaptureEventRequest(event=feedback.FeedbackEvent(
        event_type=feedback.EVENT_TYPE_EXTRACTION_LINE_CORRECTED, layout_fingerprint="disk",
        after_json='{"n":%d}' % number)).SerializeToString()


class FailingDisk(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="errata-failing-")
        self.switch = os.path.join(self.folder.name, "fail")
        library = os.path.join(self.folder.name, "failing_disk.so")
        subprocess.run(["gcc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1", "-o", library,
                        os.path.join(ROOT, "tests", "e2e", "failing_disk.c"), "-ldl"], check=True)
        sanitizer = os.environ.get("ASAN_OPTIONS", "")
        self.server = Server(prefix=("env", f"LD_PRELOAD={library}", f"FAILING_DISK={self.switch}",
                                     f"ASAN_OPTIONS={sanitizer}:verify_asan_link_order=0")).start()
        self.client = self.server.client()
        self.stored = []

    def tearDown(self):
        self.client.close()
        self.server.close()
        self.folder.cleanup()

    def fail(self, what):
        open(f"{self.switch}.{what}", "w", encoding="ascii").close()

    def heal(self, what):
        os.unlink(f"{self.switch}.{what}")

    def capture(self, number):
        """The status code; what was acknowledged is remembered."""
        code = self.client.raw(CAPTURE, capture_of(number),
                               metadata=[("idempotency-key", f"n{number}")])[0]
        if code == grpc.StatusCode.OK:
            self.stored.append(number)
        return code

    def expect_stored(self):
        events = self.client.corrections.ListFeedbackEvents(
            correction.ListFeedbackEventsRequest(layout_fingerprint="disk")).events
        self.assertEqual([e.after_json for e in events],
                         ['{"n":%d}' % n for n in reversed(self.stored)])

    def wait_for_writing(self, status):
        end = time.monotonic() + 10
        while self.client.health.Check(
                health_pb2.HealthCheckRequest(service="errata.write")).status != status:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_failing_syncs(self):
        """Each fails its write alone; after three health says so; reads go on; then all is well."""
        self.assertEqual(self.capture(0), grpc.StatusCode.OK)
        self.fail("sync")
        for number in range(1, 4):
            self.assertEqual(self.capture(number), grpc.StatusCode.UNAVAILABLE)
        self.wait_for_writing(health_pb2.HealthCheckResponse.NOT_SERVING)
        self.assertEqual(self.capture(4), grpc.StatusCode.UNAVAILABLE)
        self.expect_stored()
        self.heal("sync")
        self.wait_for_writing(health_pb2.HealthCheckResponse.SERVING)
        for number in range(1, 6):
            self.assertEqual(self.capture(number), grpc.StatusCode.OK)
        self.expect_stored()

    def test_a_commit_that_can_not_be_finished(self):
        """The server ends with 75; the next start has all that was acknowledged, and a repeat of
        what was in doubt stores it once."""
        for number in range(3):
            self.assertEqual(self.capture(number), grpc.StatusCode.OK)
        self.fail("meta")
        self.assertEqual(self.capture(3), grpc.StatusCode.UNAVAILABLE)
        self.assertEqual(self.server.wait(), EXIT_STORE)
        self.heal("meta")
        self.client.close()
        self.server.start()
        self.client = self.server.client()
        self.assertEqual(self.capture(3), grpc.StatusCode.OK)
        self.expect_stored()


if __name__ == "__main__":
    main()
