"""A disk that is full: writes are refused with a reason, reads continue, writes recover by themselves.

Method: the data folder is on a small separate file system, a tmpfs and an ext4 in a file, which another
file fills to the last byte while clients write. Needs root for the mounts. tools/full-disk runs them;
LONG adds long tests: a store that fills its disk by itself, and a start with every number of free
blocks.
"""
import os
import subprocess
import tempfile
import threading
import time
import unittest

import grpc

import disk_fixture
from erratad import ENGINE, feedback, feedback_service, has_retry_info, health_pb2, is_sanitized, layout
from pdf_data import INVOICE, read

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
LOADERS = 3
BLOCK_BYTES = 4096
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
LONG = False  # set by the caller
# A journal's files: the one in use, and the next.
JOURNAL_MB = 64 if ENGINE == "journal" else 0
CAPTURES_AT_ONCE = 50
# Time after which a journal's commits are stored in the tables, so that a full disk is met.
IDLE_SECONDS = 1.3 if ENGINE == "journal" else 0


def event_of(name):
    return feedback.FeedbackEvent(event_type=LINE, actor_user_id="ada", layout_fingerprint="full", entity_type="line",
                                  entity_id=name, after_json='{"note":"%s"}' % (name + "x" * 5000))


class Volume:
    """A small file system, mounted."""

    def __init__(self, kind, size_mb, inodes=None):
        self.path = tempfile.mkdtemp(prefix="errata-full-")
        self.image = None
        if kind == "tmpfs":
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_mb}m,mode=0700", "tmpfs",
                            self.path], check=True)
            return
        self.image = tempfile.NamedTemporaryFile(prefix="errata-full-")
        self.image.truncate(size_mb << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", *(["-N", str(inodes)] if inodes else []),
                        self.image.name], check=True)
        subprocess.run(["mount", "-o", "loop", self.image.name, self.path], check=True)

    def fill(self):
        """Allocates every free byte."""
        with open(os.path.join(self.path, "neighbour"), "ab", buffering=0) as f:
            for size in (1 << 20, BLOCK_BYTES, 1):
                try:
                    while True:
                        f.write(b"x" * size)
                except OSError:
                    pass

    def leave(self, blocks):
        """Fills the disk except for this many blocks."""
        self.fill()
        path = os.path.join(self.path, "neighbour")
        os.truncate(path, max(os.path.getsize(path) // BLOCK_BYTES - blocks, 0) * BLOCK_BYTES)

    def fill_inodes(self):
        """Creates files until no more can be created."""
        try:
            for number in range(100_000):
                with open(os.path.join(self.path, f"file{number}"), "wb"):
                    pass
        except OSError:
            pass

    def empty(self):
        os.unlink(os.path.join(self.path, "neighbour"))

    def close(self):
        subprocess.run(["umount", self.path], check=True)
        os.rmdir(self.path)
        if self.image:
            self.image.close()


class FullDisk:
    """Tests for any file system."""

    kind, size_mb = None, None

    def setUp(self):
        self.volume = Volume(self.kind, self.size_mb)
        self.addCleanup(self.volume.close)
        self.server = disk_fixture.FaultServer(os.path.join(self.volume.path, "store"))
        self.addCleanup(self.server.close)
        os.mkdir(self.server.data, 0o700)
        self.stored, self.refusals, self.number = {}, [], 0
        self.lock = threading.Lock()
        self.pausing = threading.Event()

    def start(self):
        code = self.server.launch({})
        self.assertIsNone(code, self.server.read_log()[-2000:])
        self.client = self.server.client()
        self.addCleanup(self.client.close)

    def next_name(self):
        with self.lock:
            self.number += 1
            return f"n{self.number}"

    def capture(self, name):
        """Returns whether the event was stored; a refusal must have the code for a full disk and a retry delay."""
        try:
            reply = self.client.feedback.CaptureFeedbackEvent(
                feedback_service.CaptureFeedbackEventRequest(event=event_of(name)), timeout=10,
                metadata=[("idempotency-key", name)])
        except grpc.RpcError as e:
            with self.lock:
                self.refusals.append(e)
            return False
        with self.lock:
            self.stored[name] = reply.event.id
        return True

    def load(self, stop):
        while not stop.is_set():
            if self.pausing.is_set():
                time.sleep(0.01)
                continue
            name = self.next_name()
            while not self.capture(name) and not stop.is_set():
                time.sleep(0.01)

    def expect_refusals(self):
        self.assertTrue(self.refusals, "the disk was full and no write was refused")
        for refusal in self.refusals:
            self.assertEqual(refusal.code(), grpc.StatusCode.RESOURCE_EXHAUSTED, refusal.details())
            self.assertIn("full", refusal.details())
            self.assertTrue(has_retry_info(refusal))

    def fill_by_neighbour(self):
        """The disk is full to the last byte, including the space that the server releases."""
        for _ in range(2000):
            self.volume.fill()
            # Free pages within the file store some writes; many are sent at once, since the tables follow the journal
            # only when it is idle.
            if not all(self.capture(self.next_name()) for _ in range(CAPTURES_AT_ONCE)):
                self.volume.fill()
                return
            time.sleep(IDLE_SECONDS)
        self.fail("the disk was full and no write was refused")

    def wait_for_state(self, state):
        end = time.monotonic() + 10
        while self.client.health.Check(
                health_pb2.HealthCheckRequest(service="errata.write")).status != state:
            self.assertLess(time.monotonic(), end, f"errata.write did not become {state}")
            time.sleep(0.02)

    def expect_stored(self):
        """Each reported id exactly once; refused writes that were never repeated are absent."""
        kept = {}
        for event in disk_fixture.read_events(self.client):
            if event.HasField("feedback_event"):
                kept.setdefault(event.feedback_event.entity_id, []).append(event.id)
        self.assertEqual(kept, {name: [event_id] for name, event_id in self.stored.items()})

    def ingest(self, name):
        """The status code of a document that is measured."""
        request = layout.IngestDocumentRequest(document_id=name, content=read(INVOICE))
        return self.client.raw("/errata.v1.LayoutService/IngestDocument",
                               request.SerializeToString(), 60,
                               [("idempotency-key", name)])[0]

    def test_full_disk_under_load_recovers(self):
        self.start()
        stop = threading.Event()
        self.addCleanup(stop.set)
        loaders = [threading.Thread(target=self.load, args=(stop,)) for _ in range(LOADERS)]
        for loader in loaders:
            loader.start()
        while not self.stored:
            time.sleep(0.01)
        end = time.monotonic() + 20
        while not self.refusals and time.monotonic() < end:
            self.volume.fill()
            self.pausing.set()
            time.sleep(IDLE_SECONDS)
            self.pausing.clear()
            time.sleep(0.05)
        for _ in range(3):
            self.volume.fill()  # including the released reserve
        self.wait_for_state(NOT_SERVING)
        self.assertEqual(len(self.client.examples("full").examples), 3)
        if disk_fixture.has_worker() and not is_sanitized():
            self.server.wait_for_pdf()
            self.assertEqual(self.ingest("paper"), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.volume.empty()
        self.wait_for_state(SERVING)
        count = len(self.stored)
        while len(self.stored) < count + 10:
            self.assertLess(time.monotonic(), end + 20, "writes did not come back")
            time.sleep(0.01)
        stop.set()
        for loader in loaders:
            loader.join()
        for name in [f"n{i}" for i in range(1, self.number + 1)]:
            self.assertTrue(name in self.stored or self.capture(name))
        self.expect_refusals()
        if disk_fixture.has_worker() and not is_sanitized():
            self.assertEqual(self.ingest("paper"), grpc.StatusCode.OK)
        self.expect_stored()
        self.server.kill9()
        self.start()
        self.expect_stored()

    def test_server_killed_on_a_full_disk_starts_again(self):
        self.start()
        for _ in range(20):
            self.assertTrue(self.capture(self.next_name()))
        self.fill_by_neighbour()
        for _ in range(2):
            self.server.kill9()
            self.volume.fill()
            self.start()
            self.assertEqual(len(self.client.examples("full").examples), 3)
            self.fill_by_neighbour()
            self.expect_refusals()
            self.expect_stored()
        self.volume.empty()
        self.wait_for_state(NOT_SERVING)
        self.wait_for_state(SERVING)
        self.assertTrue(self.capture(self.next_name()))
        self.expect_stored()
        self.assertEqual(self.server.stop(), 0)

    def start_with(self, blocks):
        """A first start with this many free blocks: the server serves, or ends and states the reason."""
        self.volume.leave(blocks)
        code = self.server.launch({})
        if code is None:
            client = self.server.client()
            client.examples("none")
            client.close()
            self.server.kill9()
        else:
            self.assertEqual(code, 1, f"{blocks} blocks: {self.server.read_log()[-500:]}")
            self.assertIn("full", self.server.read_log()[-500:], f"{blocks} blocks")
        self.volume.empty()
        return code is None

    def test_disk_that_is_full_at_the_start_does_not_prevent_a_later_one(self):
        """With any number of free blocks; an interrupted start does not prevent the next one."""
        step = 1 if LONG else 6
        served = [self.start_with(blocks) for blocks in range(0, 96, step)]
        self.assertFalse(served[0])
        self.start()
        self.assertTrue(self.capture(self.next_name()))
        self.expect_stored()

    def test_fills_its_disk_by_itself(self):
        if not LONG:
            self.skipTest("takes minutes")
        self.start()
        stop = threading.Event()
        loaders = [threading.Thread(target=self.load, args=(stop,)) for _ in range(16)]
        for loader in loaders:
            loader.start()
        end = time.monotonic() + 240
        while len(self.refusals) < 500 and time.monotonic() < end:
            time.sleep(0.05)
        stop.set()
        for loader in loaders:
            loader.join()
        self.expect_refusals()
        self.expect_stored()
        self.assertEqual(self.server.stop(), 0)
        self.start()
        self.expect_stored()


class FullTmpfs(FullDisk, unittest.TestCase):
    kind, size_mb = "tmpfs", 96 + JOURNAL_MB


class FullExt4(FullDisk, unittest.TestCase):
    kind, size_mb = "ext4", 112 + JOURNAL_MB

    def test_missing_inodes_are_reported(self):
        """A server that runs needs no new files, and neither does one that is started again."""
        self.volume.close()
        self.volume.__init__("ext4", self.size_mb, inodes=48)
        self.server.data = os.path.join(self.volume.path, "store")
        os.mkdir(self.server.data, 0o700)
        self.volume.fill_inodes()
        self.assertEqual(self.server.launch({}), 1)
        self.assertIn("cannot start", self.server.read_log())
        for number in range(12):
            os.unlink(os.path.join(self.volume.path, f"file{number}"))
        self.start()
        self.volume.fill_inodes()
        for _ in range(20):
            self.assertTrue(self.capture(self.next_name()))
        self.server.kill9()
        self.start()
        self.assertTrue(self.capture(self.next_name()))
        self.expect_stored()


class SmallExt4(FullDisk, unittest.TestCase):
    """There is never room for the whole reserve."""

    kind, size_mb = "ext4", 64 + JOURNAL_MB


def can_mount():
    try:
        Volume("tmpfs", 1).close()
        Volume("ext4", 8).close()
    except (OSError, subprocess.CalledProcessError):
        return False
    return True
