#!/usr/bin/python3
"""Python's grpcio, the C core of gRPC, against erratad: what a stock client expects of the protocol.

Goal: deadlines, cancellation, compression, metadata, sizes and many calls at once behave as gRPC's own
servers do. Method: the generated stubs and raw calls of grpcio 1.51, without code of the server in between.
"""
import concurrent.futures
import threading
import time

import grpc

import pdf_data
from erratad import (ServerCase, admin as admin_service, event_service, feedback, feedback_service,
                     fields_in, health_pb2, layout, main, pieces, prompt_service, status_of)

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
GET = "/errata.v1.PromptService/GetExamples"


class Calls(ServerCase):
    def test_every_kind_of_method_is_called(self):
        """Unary read, unary write, no transaction, server stream, client stream, an open service."""
        event = self.admin.capture(event_type=LINE, layout_fingerprint="kinds", after_json='{"a":1}')
        self.assertEqual(self.admin.examples("kinds").examples[0].id, event.id)
        computed = self.admin.layouts.ComputeFingerprint(
            layout.ComputeFingerprintRequest(metadata_json="{}"))
        self.assertEqual(len(computed.layout_fingerprint), 64)
        stream = self.admin.log.WatchEvents(event_service.WatchEventsRequest(from_seq=1), timeout=9)
        self.assertEqual(next(stream).event.seq, 1)
        stream.cancel()
        uploaded = self.admin.ingest_stream("kinds", pdf_data.small())
        self.assertEqual(uploaded.document.size_bytes, len(pdf_data.small()))
        self.assertEqual(self.admin.health.Check(health_pb2.HealthCheckRequest()).status,
                         health_pb2.HealthCheckResponse.SERVING)

    def test_deadline_ends_the_call(self):
        """A stream ends by its deadline, with the server's or the client's DEADLINE_EXCEEDED."""
        stream = self.admin.log.WatchEvents(event_service.WatchEventsRequest(), timeout=0.3)
        start = time.monotonic()
        error = self.assert_code(grpc.StatusCode.DEADLINE_EXCEEDED, lambda: list(stream))
        self.assertLess(time.monotonic() - start, 2)
        self.assertTrue(error.details())
        self.admin.examples("x")

    def test_cancelled_call_ends(self):
        """Cancelled streams are let go: a thousand of them leave a healthy server."""
        for _ in range(1000):
            self.admin.log.WatchEvents(event_service.WatchEventsRequest(), timeout=20).cancel()
        stream = self.admin.log.WatchEvents(event_service.WatchEventsRequest(), timeout=20)
        threading.Timer(0.2, stream.cancel).start()
        self.assert_code(grpc.StatusCode.CANCELLED, lambda: list(stream))
        self.admin.examples("x")

    def test_gzip_works_in_both_directions(self):
        """A compressed request is read, and its large answer comes back compressed."""
        client = self.server.client(compression=grpc.Compression.Gzip)
        big = '{"note":"%s"}' % ("abc " * 2000)
        event = client.capture(event_type=LINE, layout_fingerprint="gzip", after_json=big,
                               before_json="{}")
        read = client.feedback.GetFeedbackEvent(
            feedback_service.GetFeedbackEventRequest(id=event.id)).event
        self.assertEqual(read.after_json, big)
        self.assertEqual(len(client.examples("gzip").examples), 1)
        client.close()

    def test_deflate_is_refused_with_what_is_known(self):
        client = self.server.client(compression=grpc.Compression.Deflate)
        error = self.assert_code(grpc.StatusCode.UNIMPLEMENTED, client.capture, event_type=LINE,
                                 after_json='{"a":1}')
        accepted = {k: v for k, v in [*(error.initial_metadata() or ()),
                                      *(error.trailing_metadata() or ())]}
        self.assertIn("gzip", accepted.get("grpc-accept-encoding", "gzip" + error.details()))
        client.close()

    def test_gzip_works_in_a_client_stream(self):
        """Each message is compressed by itself."""
        client = self.server.client(compression=grpc.Compression.Gzip)
        content = pdf_data.padded(1 << 20)
        self.assertEqual(client.ingest_stream("zipped", content).document.size_bytes, 1 << 20)
        client.close()

    def test_refusal_while_sending_is_received(self):
        """A client stream that is refused at its first message ends, however much would follow."""
        sent = []

        def endless():
            yield layout.IngestDocumentStreamRequest(content=b"x")  # without the document's name
            while True:
                sent.append(1)
                yield layout.IngestDocumentStreamRequest(content=bytes(64 << 10))

        start = time.monotonic()
        self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.admin.layouts.IngestDocumentStream,
                         endless(), timeout=20)
        self.assertLess(time.monotonic() - start, 5)
        self.assertLess(len(sent), 2000)
        self.admin.examples("x")

    def test_stalled_client_stream_is_ended(self):
        """The deadline ends the call; a cancelled call is released; the connection stays open."""
        stop = threading.Event()

        def stalls():
            yield layout.IngestDocumentStreamRequest(document_id="stalls", content=b"%PDF-")
            stop.wait(20)

        self.assert_code(grpc.StatusCode.DEADLINE_EXCEEDED, self.admin.layouts.IngestDocumentStream,
                         stalls(), timeout=0.5)
        call = self.admin.layouts.IngestDocumentStream.future(stalls())
        threading.Timer(0.2, call.cancel).start()
        with self.assertRaises(grpc.FutureCancelledError):
            call.result()
        stop.set()
        self.admin.examples("x")

    def test_twenty_uploads_share_a_connection(self):
        """Messages of the uploads are interleaved; each document stays separate."""
        calls = [self.admin.layouts.IngestDocumentStream.future(
            pieces(f"mixed-{i}", pdf_data.padded((200 << 10) + i), piece_bytes=10_000), timeout=60)
            for i in range(20)]
        self.assertEqual([call.result().document.size_bytes for call in calls],
                         [(200 << 10) + i for i in range(20)])

    def test_error_details_are_decoded(self):
        """google.rpc.Status in grpc-status-details-bin, equal in code and message."""
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT,
                                 self.admin.prompts.GetExamples,
                                 prompt_service.GetExamplesRequest(layout_fingerprint="x" * 129, max_examples=99))
        status = status_of(error)
        self.assertEqual(status.code, grpc.StatusCode.INVALID_ARGUMENT.value[0])
        self.assertEqual(status.message, error.details())
        self.assertEqual(set(fields_in(status.SerializeToString())), {"layout_fingerprint", "max_examples"})

    def test_status_message_may_have_any_character(self):
        """grpc-message is percent-encoded: what the caller sent comes back readable."""
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT,
                                 self.admin.feedback.GetFeedbackEvent,
                                 feedback_service.GetFeedbackEventRequest(id="ä%0A€"))
        description = " ".join(fields_in(status_of(error).SerializeToString()).values())
        self.assertIn("ä%0A€", description + error.details())

    def test_metadata_is_delivered(self):
        """Binary and ASCII metadata of any kind does no harm; invalid keys of the client are named."""
        call = self.admin.prompts.GetExamples
        request = prompt_service.GetExamplesRequest(layout_fingerprint="x")
        call(request, metadata=[("trace-bin", bytes(range(256))), ("x-odd", "a=b;c , d"),
                                ("x-many", "1"), ("x-many", "2")])
        call(request, metadata=[(f"x-{i}", "v" * 100) for i in range(60)])

    def test_headers_above_the_limit_are_refused(self):
        """RESOURCE_EXHAUSTED with the limit, also for metadata in several frames."""
        for fields, size in ((1, 20_000), (10, 4_000), (10, 8_000)):
            error = self.assert_code(grpc.StatusCode.RESOURCE_EXHAUSTED,
                                     self.admin.prompts.GetExamples,
                                     prompt_service.GetExamplesRequest(layout_fingerprint="x"),
                                     metadata=[(f"x-large-{i}", "v" * size) for i in range(fields)])
            self.assertIn("16 KiB", error.details())
            self.admin.examples("x")

    def test_authorization_forms_are_checked(self):
        """One field, in which the case of the scheme and the number of spaces do not matter."""
        plain = self.server.client("")
        token = self.server.admin_token
        check = admin_service.GetServerInfoRequest()
        for value in (f"bearer {token}", f"BEARER  {token}", f"Bearer     {token}"):
            plain.admin.GetServerInfo(check, metadata=[("authorization", value)])
        for values in ((f"Bearer {token}", f"Bearer {token}"), (f"Bearer {token}", "Basic YTpi"),
                       ("Basic YTpi", f"Bearer {token}")):
            error = self.assert_code(grpc.StatusCode.UNAUTHENTICATED, plain.admin.GetServerInfo, check,
                                     metadata=[("authorization", value) for value in values])
            self.assertIn("several", error.details())
        plain.close()

    def test_messages_of_four_mebibytes_are_accepted(self):
        """Far over the flow-control windows, in and out."""
        note = "x" * (4 << 20)
        event = self.admin.capture(event_type=LINE, layout_fingerprint="4mib",
                                   before_json='{"qty":1,"note":"%s"}' % note,
                                   after_json='{"qty":2,"note":"%s"}' % note)
        self.assertTrue(event.reduced)

    def test_message_above_the_limit_is_refused(self):
        """Refused by its length: RESOURCE_EXHAUSTED, and the connection continues."""
        code, message, _ = self.admin.raw(GET, b"\0" * ((16 << 20) + 1), timeout=20)
        self.assertEqual(code, grpc.StatusCode.RESOURCE_EXHAUSTED, message)
        self.admin.examples("x")

    def test_five_hundred_simultaneous_calls_are_answered(self):
        """More calls than streams on one connection, reads and writes mixed: each is answered."""
        self.admin.capture(event_type=LINE, layout_fingerprint="many", after_json='{"qty":0}')
        calls = []
        for i in range(500):
            if i % 5 == 0:
                calls.append(self.admin.feedback.CaptureFeedbackEvent.future(
                    feedback_service.CaptureFeedbackEventRequest(event=feedback.FeedbackEvent(
                        event_type=LINE, layout_fingerprint="many", after_json='{"qty":%d}' % i)),
                    timeout=30))
            else:
                calls.append(self.admin.prompts.GetExamples.future(
                    prompt_service.GetExamplesRequest(layout_fingerprint="many"), timeout=30))
        replies = [call.result() for call in calls]
        self.assertEqual(len(replies), 500)
        self.assertTrue(all(r.examples for i, r in enumerate(replies) if i % 5))
        self.assertEqual(len({r.event.id for i, r in enumerate(replies) if i % 5 == 0}), 100)

    def test_many_connections_are_served(self):
        def one(i):
            client = self.server.client()
            try:
                return len(client.examples(f"conn-{i}").examples)
            finally:
                client.close()

        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            self.assertEqual(sum(pool.map(one, range(200))), 0)

    def test_concurrent_streams_of_one_connection_are_answered(self):
        """100 watchers on one connection each get the event."""
        streams = [self.admin.log.WatchEvents(event_service.WatchEventsRequest(), timeout=30)
                   for _ in range(100)]
        time.sleep(1)
        event = self.admin.capture(event_type=LINE, after_json='{"a":1}')
        self.assertEqual({next(s).event.id for s in streams}, {event.id})
        for stream in streams:
            stream.cancel()


if __name__ == "__main__":
    main()
