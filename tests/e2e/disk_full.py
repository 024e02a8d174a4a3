#!/usr/bin/python3
"""A disk that runs full: writes are refused with a reason, reads go on, and writes come back by
themselves.

Method: the data folder is a tmpfs of 96 MB, filled by a neighbour's file. Needs root for the mount;
skipped elsewhere.
"""
import os
import subprocess
import sys
import tempfile
import time
import unittest

import grpc

from erratad import Server, feedback, health_pb2

LINE = feedback.EVENT_TYPE_EXTRACTION_LINE_CORRECTED
SIZE_MB = 96


class DiskFull(unittest.TestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp(prefix="errata-full-")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m,mode=0700", "tmpfs",
                        self.data], check=True)
        self.server = Server(os.path.join(self.data, "store"))

    def tearDown(self):
        self.server.close()
        subprocess.run(["umount", self.data], check=True)
        os.rmdir(self.data)

    def fill(self):
        """Takes every byte that is left."""
        with open(os.path.join(self.data, "neighbour"), "wb", buffering=0) as f:
            for size in (1 << 20, 4096):
                try:
                    while True:
                        f.write(b"x" * size)
                except OSError:
                    pass

    def write_state(self, client):
        return client.health.Check(health_pb2.HealthCheckRequest(service="errata.write")).status

    def wait_for_state(self, client, state):
        end = time.monotonic() + 10
        while self.write_state(client) != state:
            self.assertLess(time.monotonic(), end, f"errata.write did not become {state}")
            time.sleep(0.05)

    def test_full_and_back(self):
        os.makedirs(self.server.data, exist_ok=True)
        self.server.start()
        client = self.server.client()
        event = dict(event_type=LINE, layout_fingerprint="full",
                     after_json='{"note":"%s"}' % ("x" * 5000))
        stored = [client.capture(**event).id for _ in range(50)]
        self.fill()
        refusal = None
        for _ in range(2000):
            try:
                stored.append(client.capture(**event).id)
            except grpc.RpcError as e:
                refusal = e
                break
        self.assertIsNotNone(refusal, "the disk was full and no write was refused")
        self.assertEqual(refusal.code(), grpc.StatusCode.RESOURCE_EXHAUSTED, refusal.details())
        self.assertIn("full", refusal.details())
        self.wait_for_state(client, health_pb2.HealthCheckResponse.NOT_SERVING)
        self.assertEqual(len(client.examples("full").examples), 3)

        os.unlink(os.path.join(self.data, "neighbour"))
        self.wait_for_state(client, health_pb2.HealthCheckResponse.SERVING)
        stored.append(client.capture(**event).id)
        client.close()
        self.server.stop()
        self.server.start()
        client = self.server.client()
        from erratad import correction
        kept, token = set(), ""
        while True:
            page = client.corrections.ListFeedbackEvents(correction.ListFeedbackEventsRequest(
                layout_fingerprint="full", page_size=1000, page_token=token))
            kept |= {e.id for e in page.events}
            token = page.next_page_token
            if not token:
                break
        self.assertEqual(kept, set(stored))


if __name__ == "__main__":
    probe = tempfile.mkdtemp(prefix="errata-mount-")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", probe],
                             capture_output=True).returncode == 0
    if mounted:
        subprocess.run(["umount", probe], check=True)
    os.rmdir(probe)
    if not mounted:
        print("skipped: this user may not mount a tmpfs")
        sys.exit(77)
    unittest.main(verbosity=2)
