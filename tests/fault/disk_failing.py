#!/usr/bin/python3
"""A disk that fails or is slow: acknowledged writes are kept, others are refused or in doubt, never partly stored,
and reads do not wait.

Goal: without a journal, failing syncs refuse writes until one succeeds again (with one, they end the server:
disk_doubt.py); a commit of the tables that LMDB can't finish ends the server with 75, so that a supervisor starts it
again; during a sync of seconds reads are fast, the queue keeps its bound, and deadlines end calls. Method:
disk_shim.c between erratad and libc.
"""
import time
import unittest

import grpc

import disk_fixture
from erratad import ENGINE, feedback_service, has_retry_info, health_pb2, main, wait_until

EXIT_STORE = 75
SLOW_MS = 1200
LONGEST_MS = 60000  # maximum duration of a sync after its switch was removed
PUSHBACK = "grpc-retry-pushback-ms"
# Much longer than a refusal, and much shorter than a sync.
DEADLINE_SECONDS, LONG_SYNC_MS = 0.4, 600
SYNCS_KNOWN = 8  # number of syncs before forecasts are made
# Far below a sync; far above a read on a busy machine.
READ_SECONDS_MAX = 0.5
LARGE_BYTES = 100 << 10
# After this time without a write, the tables store the commits of the journal.
TABLES_SECONDS = 1.5 if ENGINE == "journal" else 0


def request_of(number, bytes_more=0):
    event = disk_fixture.capture_of(f"n{number}")
    event.layout_fingerprint = "disk"
    event.after_json = '{"n":%d,"more":"%s"}' % (number, "x" * bytes_more)
    return feedback_service.CaptureFeedbackEventRequest(event=event).SerializeToString()


class FailingDisk(unittest.TestCase):
    def setUp(self):
        self.disk = disk_fixture.Disk()
        self.addCleanup(self.disk.close)
        self.server = disk_fixture.FaultServer()
        self.addCleanup(self.server.close)
        self.stored = []

    def start(self, engine=None):
        """A server with an engine, or with that of the store."""
        named = {"ERRATA_LOG": engine} if engine else {}
        code = self.server.launch({**self.disk.environment(self.server.data), **named})
        self.assertIsNone(code, self.server.read_log())
        self.client = self.server.client()
        self.addCleanup(self.client.close)

    def capture(self, number, timeout=10):
        """Returns the status code; remembers acknowledged writes."""
        code = self.client.raw(disk_fixture.CAPTURE, request_of(number), timeout,
                               metadata=[("idempotency-key", f"n{number}")])[0]
        if code == grpc.StatusCode.OK:
            self.stored.append(number)
        return code

    def capture_later(self, client, number, bytes_more=0):
        call = client.plain.unary_unary(disk_fixture.CAPTURE)
        return call.future(request_of(number, bytes_more), timeout=60, metadata=[
            *client.metadata, ("idempotency-key", f"n{number}")])

    def stored_now(self):
        """Numbers of the stored captures, oldest first."""
        numbers = [int(event.feedback_event.entity_id[1:])
                   for event in disk_fixture.read_events(self.client)
                   if event.HasField("feedback_event")]
        return numbers

    def expect_stored(self):
        self.assertEqual(self.stored_now(), self.stored)

    def wait_for_writing(self, status):
        end = time.monotonic() + 10
        while self.client.health.Check(
                health_pb2.HealthCheckRequest(service="errata.write")).status != status:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_failing_syncs_stop_writing(self):
        """Each failed sync fails only its write; after three, health reports it; reads continue;
        then the server recovers."""
        self.start("lmdb")
        self.assertEqual(self.capture(0), grpc.StatusCode.OK)
        self.disk.turn("sync")
        for number in range(1, 4):
            self.assertEqual(self.capture(number), grpc.StatusCode.UNAVAILABLE)
        self.wait_for_writing(health_pb2.HealthCheckResponse.NOT_SERVING)
        self.assertEqual(self.capture(4), grpc.StatusCode.UNAVAILABLE)
        self.expect_stored()
        self.disk.turn("sync", on=False)
        self.wait_for_writing(health_pb2.HealthCheckResponse.SERVING)
        for number in range(1, 6):
            self.assertEqual(self.capture(number), grpc.StatusCode.OK)
        self.expect_stored()

    def test_a_commit_that_can_not_be_finished(self):
        """The server ends with 75; the next start has all acknowledged writes, and a repeat of an uncertain one stores
        it once."""
        self.start("lmdb")
        for number in range(3):
            self.assertEqual(self.capture(number), grpc.StatusCode.OK)
        self.disk.turn("meta")
        self.assertEqual(self.capture(3), grpc.StatusCode.UNAVAILABLE)
        self.assertEqual(self.server.take_exit(), EXIT_STORE)
        self.disk.turn("meta", on=False)
        self.start()
        self.assertEqual(self.capture(3), grpc.StatusCode.OK)
        self.expect_stored()

    def test_tables_that_cannot_be_finished(self):
        """With a journal the write is acknowledged before; the rest is as without one."""
        self.start("journal")
        self.disk.turn("meta")
        self.assertEqual(self.capture(0), grpc.StatusCode.OK)
        self.assertEqual(self.server.take_exit(), EXIT_STORE)
        self.disk.turn("meta", on=False)
        self.start()
        self.expect_stored()
        self.assertEqual(self.capture(0), grpc.StatusCode.OK)
        self.assertEqual(len(self.stored_now()), 1)

    def test_server_does_not_serve_on_a_failing_disk(self):
        """If nothing can be made durable, the server does not serve; it reports that, and starts when the disk works
        again."""
        self.start()
        self.assertEqual(self.capture(0), grpc.StatusCode.OK)
        self.server.kill9()
        self.disk.turn("sync")
        self.assertEqual(self.server.launch(self.disk.environment(self.server.data)), 1)
        self.assertIn("cannot start", self.server.read_log())
        self.disk.turn("sync", on=False)
        self.start()
        self.expect_stored()
        self.assertEqual(self.capture(1), grpc.StatusCode.OK)

    def test_exceeded_quota_is_a_full_disk(self):
        """An exhausted quota is a full disk. With a journal it occurs when the tables store the commits."""
        self.start()
        self.assertEqual(self.capture(0), grpc.StatusCode.OK)
        self.disk.turn("full")
        code, number = grpc.StatusCode.OK, 0
        while code == grpc.StatusCode.OK and number < 2000:
            number += 1
            code = self.capture(number)
            if number % 200 == 0:
                time.sleep(TABLES_SECONDS)
        self.assertEqual(code, grpc.StatusCode.RESOURCE_EXHAUSTED)
        for _ in range(20):
            refused = self.capture_later(self.client, number)
            self.assertEqual(refused.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
            self.assertTrue(has_retry_info(refused.exception()))
            self.assertEqual(dict(refused.trailing_metadata())[PUSHBACK], "1000")
        # Allows one more attempt for every ten seconds on a busy machine.
        self.assertIn(self.server.read_log().count("write refused: the disk"), (1, 2, 3))
        self.wait_for_writing(health_pb2.HealthCheckResponse.NOT_SERVING)
        self.expect_stored()
        self.disk.turn("full", on=False)
        self.wait_for_writing(health_pb2.HealthCheckResponse.SERVING)
        self.assertEqual(self.capture(number), grpc.StatusCode.OK)
        self.expect_stored()

    def read_while(self, goes_on):
        """Seconds that reads took, one after another."""
        seconds = []
        while goes_on():
            start = time.monotonic()
            self.client.examples("disk")
            seconds.append(time.monotonic() - start)
            time.sleep(0.005)
        return seconds

    def test_reads_while_a_sync_takes_seconds(self):
        self.start()
        self.assertEqual(self.capture(0), grpc.StatusCode.OK)
        self.disk.turn("slow", text=str(SLOW_MS))
        write = self.capture_later(self.client, 1)
        seconds = self.read_while(lambda: not write.done())
        self.disk.turn("slow", on=False)
        self.assertEqual(write.code(), grpc.StatusCode.OK)
        print(f"{len(seconds)} reads while a commit took its time: {disk_fixture.times(seconds)}")
        self.assertGreater(len(seconds), 20)
        self.assertLess(disk_fixture.percentile(seconds, 0.99), READ_SECONDS_MAX)

    def test_a_deadline_ends_a_call(self):
        """Tests a write in the current commit and one in the queue; repetitions are stored once."""
        self.start()
        self.disk.turn("slow", text=str(SLOW_MS))
        start = time.monotonic()
        futures = [self.client.plain.unary_unary(disk_fixture.CAPTURE).future(
            request_of(number), timeout=0.5,
            metadata=[*self.client.metadata, ("idempotency-key", f"n{number}")])
            for number in range(10)]
        for future in futures:
            self.assertEqual(future.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        self.assertLess(time.monotonic() - start, SLOW_MS / 1000)
        self.disk.turn("slow", on=False)
        for number in range(10):
            self.assertEqual(self.capture(number), grpc.StatusCode.OK)
        self.assertEqual(sorted(self.stored_now()), list(range(10)))

    def test_unmeetable_deadline_is_refused(self):
        """If syncs are known to take longer than a call's deadline, the call is refused with a retry delay; when they
        are quick again, such calls are accepted."""
        self.start()
        self.disk.turn("slow", text=str(LONG_SYNC_MS))
        for number in range(SYNCS_KNOWN):
            self.assertEqual(self.capture(number), grpc.StatusCode.OK)
        code, number = grpc.StatusCode.DEADLINE_EXCEEDED, SYNCS_KNOWN
        while code == grpc.StatusCode.DEADLINE_EXCEEDED and number < 3 * SYNCS_KNOWN:
            # If the machine was so busy that the forecast has expired, a sync renews it.
            self.assertEqual(self.capture(number), grpc.StatusCode.OK)
            call = self.client.plain.unary_unary(disk_fixture.CAPTURE).future(
                request_of(number + 1), timeout=DEADLINE_SECONDS,
                metadata=[*self.client.metadata, ("idempotency-key", f"n{number + 1}")])
            code, number = call.code(), number + 2
        self.assertEqual(code, grpc.StatusCode.UNAVAILABLE)
        self.assertTrue(has_retry_info(call.exception()))
        self.assertEqual(dict(call.trailing_metadata())[PUSHBACK], "200")
        self.disk.turn("slow", on=False)
        end = time.monotonic() + 30
        while self.capture(number, timeout=DEADLINE_SECONDS) != grpc.StatusCode.OK:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.2)

    def test_many_writes_share_a_sync(self):
        """Writes that arrive during a long sync share the next sync."""
        self.start()
        self.server.wait_for_day_of_use(self.client)
        self.disk.turn("slow", text="100")
        before = self.server.counters(self.client)
        for turn in range(3):
            futures = [self.capture_later(self.client, 32 * turn + at) for at in range(32)]
            for future in futures:
                self.assertEqual(future.code(), grpc.StatusCode.OK)
        after = self.server.counters(self.client)
        self.assertEqual(after["commit_requests_total"] - before["commit_requests_total"], 96)
        # Each burst is one commit of the first write and one of all others; there are more if a busy
        # machine sends a burst so slowly that a sync ends within it.
        self.assertLessEqual(after["commits_total"] - before["commits_total"], 24)

    def test_the_queue_keeps_its_bound(self):
        """A write that does not fit is refused at once, with a retry delay; accepted ones are
        stored."""
        self.start()
        self.assertEqual(self.capture(0), grpc.StatusCode.OK)
        self.disk.turn("slow", text=str(LONGEST_MS))
        clients = [self.server.client() for _ in range(2)]
        futures = [self.capture_later(clients[number % 2], number, LARGE_BYTES)
                   for number in range(1, 201)]
        # While the sync is held nothing is stored, so each answered request was refused.
        wait_until(lambda: sum(future.done() for future in futures) > 10, "refusals", LONGEST_MS / 1000)
        self.disk.turn("slow", on=False)
        refused = 0
        for number, future in enumerate(futures, 1):
            if future.code() == grpc.StatusCode.OK:
                self.stored.append(number)
                self.disk.turn("slow", on=False)
            else:
                self.assertEqual(future.code(), grpc.StatusCode.UNAVAILABLE)
                self.assertTrue(has_retry_info(future.exception()))
                self.assertEqual(dict(future.trailing_metadata())[PUSHBACK], "200")
                refused += 1
        self.assertGreater(refused, 10)
        self.assertEqual(sorted(self.stored_now()), sorted(self.stored))
        for client in clients:
            client.close()


if __name__ == "__main__":
    main()
