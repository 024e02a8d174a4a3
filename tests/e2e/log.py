#!/usr/bin/python3
"""The event log through a real client: numbered without gaps, chained, and streamed without loss.

Goal: a reader that follows the log sees each event once, in order, across reconnections and on a
slow connection. Method: concurrent writers and watchers on one server.
"""
import hashlib
import threading
import time

import grpc

from erratad import (Server, ServerCase, admin, event_log, event_service, feedback,
                     feedback_service, main, roles)

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED


class Log(ServerCase):
    def all_events(self):
        events, token = [], ""
        while True:
            page = self.admin.log.ListEvents(
                event_service.ListEventsRequest(page_size=1000, page_token=token))
            events += page.events
            token = page.next_page_token
            if not token:
                return events

    def test_events_are_numbered_chained_and_found(self):
        """FR-001: seq has no gaps from 1, times never decrease, ids are in order; Get by id and by
        seq are equal."""
        for i in range(20):
            self.admin.capture(event_type=LINE, layout_fingerprint=f"log-{i % 3}",
                               after_json='{"qty":%d}' % i)
        events = list(reversed(self.all_events()))
        self.assertEqual([e.seq for e in events], list(range(1, len(events) + 1)))
        self.assertEqual(events[0].kind, event_log.EVENT_KIND_ORGANIZATION_CREATED)
        self.assertEqual(events[0].previous_sha256, bytes(32))
        for older, newer in zip(events, events[1:]):
            self.assertLessEqual(older.recorded_at.ToMicroseconds(),
                                 newer.recorded_at.ToMicroseconds())
            self.assertNotEqual(newer.previous_sha256, bytes(32))
            self.assertLess(older.id, newer.id)
        self.assertEqual(len({e.previous_sha256 for e in events}), len(events))
        for e in events[-3:]:
            by_id = self.admin.log.GetEvent(event_service.GetEventRequest(id=e.id)).event
            by_seq = self.admin.log.GetEvent(event_service.GetEventRequest(seq=e.seq)).event
            self.assertEqual(by_id, e)
            self.assertEqual(by_seq, e)
        self.assert_code(grpc.StatusCode.NOT_FOUND, self.admin.log.GetEvent,
                         event_service.GetEventRequest(seq=10**9))

    def test_the_facts_have_their_hash(self):
        """The stored fields below 20 of an event hash to `facts_sha256`, so anyone can verify them."""
        made = self.admin.capture(event_type=LINE, layout_fingerprint="hash", document_id="d",
                                  before_json='{"a":1}', after_json='{"a":2}')
        e = self.admin.log.GetEvent(event_service.GetEventRequest(id=made.id)).event
        facts = feedback.FeedbackEvent()
        facts.CopyFrom(e.feedback_event)
        for field in list(facts.DESCRIPTOR.fields):
            if field.number >= 20:
                facts.ClearField(field.name)
        self.assertEqual(hashlib.sha256(facts.SerializeToString()).digest(), e.facts_sha256)

    def test_events_are_found_by_subject(self):
        for i in range(4):
            self.admin.capture(event_type=LINE, layout_fingerprint="subject-a",
                               after_json='{"qty":%d}' % i)
        events = self.admin.log.ListEvents(event_service.ListEventsRequest(
            subject=event_log.Subject(
                kind=event_log.EVENT_SUBJECT_KIND_LAYOUT, id="subject-a"))).events
        self.assertEqual(len(events), 4)
        self.assertTrue(all(e.feedback_event.layout_fingerprint == "subject-a" for e in events))
        tokens = self.admin.log.ListEvents(event_service.ListEventsRequest(
            kind=event_log.EVENT_KIND_TOKEN_CREATED)).events
        self.assertTrue(all(e.kind == event_log.EVENT_KIND_TOKEN_CREATED for e in tokens))
        self.assertGreaterEqual(len(tokens), 1)


class Watch(ServerCase):
    def head(self):
        return self.admin.log.ListEvents(event_service.ListEventsRequest(page_size=1)).events[0].seq

    def write(self, count, note="x"):
        for i in range(count):
            self.admin.capture(event_type=LINE, layout_fingerprint="watch",
                               after_json='{"%s":%d}' % (note, i))

    def test_watch_starts_from_now_on(self):
        stream = self.admin.log.WatchEvents(event_service.WatchEventsRequest(), timeout=20)
        time.sleep(0.3)
        head = self.head()
        self.write(5)
        self.assertEqual([next(stream).event.seq for _ in range(5)],
                         list(range(head + 1, head + 6)))
        stream.cancel()

    def test_interrupted_watch_is_resumed(self):
        """Each event once, over 10 cuts, while four writers continue."""
        start = self.head() + 1
        writers = [threading.Thread(target=self.write, args=(50, f"w{i}")) for i in range(4)]
        for writer in writers:
            writer.start()
        seen = []
        while len(seen) < 200:
            client = self.server.client()
            stream = client.log.WatchEvents(
                event_service.WatchEventsRequest(from_seq=start + len(seen)), timeout=30)
            for reply in stream:
                seen.append(reply.event.seq)
                if len(seen) % 20 == 0:
                    break
            stream.cancel()
            client.close()
        for writer in writers:
            writer.join()
        self.assertEqual(seen, list(range(start, start + 200)))

    def test_watch_filters_kinds(self):
        start = self.head() + 1
        self.write(3)
        self.admin.create_token(roles.ROLE_SERVICE)
        self.write(3)
        stream = self.admin.log.WatchEvents(event_service.WatchEventsRequest(
            from_seq=start, kinds=[event_log.EVENT_KIND_TOKEN_CREATED]), timeout=20)
        self.assertEqual(next(stream).event.kind, event_log.EVENT_KIND_TOKEN_CREATED)
        stream.cancel()


class SlowReader(ServerCase):
    def test_memory_stays_bounded(self):
        """Ten readers that do not read, 60 MB to send: the server waits instead of buffering."""
        big = '{"note":"%s"}' % ("x" * 9_000)
        events = [feedback.FeedbackEvent(event_type=LINE, layout_fingerprint="slow", after_json=big,
                                         before_json=big) for _ in range(100)]
        for _ in range(34):
            self.admin.feedback.BatchCaptureFeedbackEvents(
                feedback_service.BatchCaptureFeedbackEventsRequest(events=events), timeout=30)
        self.server.wait_until_stored(self.admin)
        self.admin.examples("slow")
        before = self.server.rss_kb()
        readers, streams = [], []
        for _ in range(10):
            reader = self.server.client(channel_options=(
                ("grpc.http2.lookahead_bytes", 65536), ("grpc.http2.bdp_probe", 0)))
            stream = reader.log.WatchEvents(event_service.WatchEventsRequest(from_seq=1),
                                                 timeout=60)
            next(stream)
            readers.append(reader)
            streams.append(stream)
        time.sleep(2)
        grown = self.server.rss_kb() - before
        self.assertLess(grown, 16 * 1024, f"grew by {grown} KB for 10 idle readers")
        for _ in range(20):
            self.admin.examples("slow")
        for i, stream in enumerate(streams):
            if i == 0:
                seqs = [reply.event.seq for reply, _ in zip(stream, range(2000))]
                self.assertEqual(seqs, list(range(2, 2002)))
            stream.cancel()


if __name__ == "__main__":
    main()
