"""The unruly part of a soak: clients that watch, come and go, cancel, expire, repeat themselves and die.

Each actor is a thread that does one thing again and again, slowly, on connections of its own. What each
call ended with is counted by actor and code; each actor states which codes it has to expect.
"""
import collections
import random
import secrets
import signal
import socket
import struct
import subprocess
import threading
import time

import grpc

import pdf_data
from erratad import (Client, admin, analytics, event_service, extraction, extraction_service,
                     feedback, feedback_service, layout, mappings, prompt_service, roles)

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
BUSY = ("RESOURCE_EXHAUSTED", "UNAVAILABLE")  # a machine that is busy with other things
WATCH_SECONDS = 300  # a watcher then starts over, at the number after its last


def event(number):
    return feedback.FeedbackEvent(
        event_type=LINE, layout_fingerprint=f"bench-layout-{number % 5000:08d}", entity_type="line",
        entity_id=f"company-{number}", actor_user_id="ada", before_json='{"qty":1}', after_json='{"qty":%d}' % number,
        meta_json='{"input_snippet":"%s"}' % ("soak " * 100))


class Company:
    def __init__(self, server, tokens, bench_command):
        self.server = server
        self.tokens = tokens
        self.bench_command = bench_command
        self.random = random.Random(7)
        self.lasting = Client(server.address, tokens[0])
        self.lock = threading.Lock()
        self.tallies = collections.Counter()
        self.streams = set()
        self.expected = {}
        self.stopping = threading.Event()
        actors = (  # operations, their frequencies, and their expected codes besides OK
            (self.ingest, 2.0, ("DEADLINE_EXCEEDED", *BUSY)),
            (self.change_tokens, 5.0, BUSY),
            (self.connect, 1.0, BUSY),
            (self.cancel, 0.2, ("CANCELLED", *BUSY)),
            (self.expire, 0.2, ("DEADLINE_EXCEEDED", *BUSY)),
            (self.be_wrong, 0.5, ("NOT_FOUND", "INVALID_ARGUMENT", *BUSY)),
            (self.turn_pages, 2.0, BUSY),
            (self.repeat, 1.0, BUSY),
            (self.take_an_order, 0.5, BUSY),
            (self.look_at_analytics, 5.0, BUSY),
            (self.vanish, 2.0, ()),
            (self.die, 20.0, ()),
        )
        self.threads = [threading.Thread(target=self._act, args=actor, daemon=True) for actor in actors]
        self.threads += [threading.Thread(target=self._watch, args=(token,), daemon=True)
                         for token in tokens[:4]]
        self.threads.append(threading.Thread(target=self._watch_without_reading, daemon=True))

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopping.set()
        for stream in list(self.streams):
            stream.cancel()  # it may wait for an event that never comes
        for thread in self.threads:
            thread.join(60)
        self.lasting.close()

    def results(self):
        """(actor, code) -> [count, whether it was to be expected]."""
        with self.lock:
            return {(actor, code): (count, code in ("OK", *self.expected.get(actor, ())))
                    for (actor, code), count in self.tallies.items()}

    def count(self, actor, code):
        with self.lock:
            self.tallies[actor, code] += 1

    def client(self):
        """A new connection of some organisation."""
        return Client(self.server.address, self.random.choice(self.tokens))

    def _act(self, action, period_s, expected):
        name = action.__name__
        self.expected[name] = expected
        while not self.stopping.wait(period_s * self.random.uniform(0.5, 1.5)):
            try:
                for code in action() or ["OK"]:
                    self.count(name, code)
            except grpc.RpcError as e:
                self.count(name, e.code().name)
                if e.code().name not in expected:
                    print(f"{name}: {e.code().name} {e.details()}", flush=True)
            except Exception as e:  # an assertion of an actor, too
                self.count(name, type(e).__name__)
                print(f"{name}: {e!r}"[:500], flush=True)

    def ingest(self):
        client = self.client()
        content = pdf_data.small(self.random.randrange(1000))
        name = "soak-" + secrets.token_hex(8)
        try:
            if self.random.random() < 0.8:
                client.layouts.IngestDocument(
                    layout.IngestDocumentRequest(document_id=name, content=content), timeout=20)
            else:
                client.layouts.IngestDocumentStream(iter([
                    layout.IngestDocumentStreamRequest(document_id=name),
                    layout.IngestDocumentStreamRequest(content=content)]), timeout=20)
        finally:
            client.close()

    def change_tokens(self):
        """Creates, uses and revokes a token, which is then refused."""
        client = self.client()
        made = client.create_token(roles.ROLE_SERVICE)
        theirs = Client(self.server.address, made.secret)
        theirs.examples("bench-layout-00000001")
        client.admin.RevokeToken(admin.RevokeTokenRequest(key_id=made.token.key_id), timeout=20)
        code = theirs.raw("/errata.v1.PromptService/GetExamples", b"\n\x01a")[0]
        assert code == grpc.StatusCode.UNAUTHENTICATED, code
        theirs.close()
        client.close()

    def connect(self):
        client = self.client()
        for number in range(3):
            client.examples(f"bench-layout-{number:08d}")
        client.close()

    def cancel(self):
        """Cancels calls immediately or later: a lookup, a write, a document. Uses a persistent connection, because
        grpcio keeps a connection closed below a cancelled call."""
        client = self.lasting
        kind = self.random.randrange(3)
        if kind == 0:
            call = client.prompts.GetExamples.future(
                prompt_service.GetExamplesRequest(layout_fingerprint="bench-layout-00000007"))
        elif kind == 1:
            call = client.feedback.CaptureFeedbackEvent.future(
                feedback_service.CaptureFeedbackEventRequest(event=event(self.random.randrange(1 << 30))))
        else:
            call = client.layouts.IngestDocument.future(layout.IngestDocumentRequest(
                document_id="cancelled-" + secrets.token_hex(4), content=pdf_data.small()))
        time.sleep(self.random.choice((0, 0.001, 0.003, 0.01)))
        call.cancel()
        return ["OK"] if not call.cancelled() else ["CANCELLED"]

    def expire(self):
        self.lasting.feedback.CaptureFeedbackEvent(
            feedback_service.CaptureFeedbackEventRequest(event=event(self.random.randrange(1 << 30))),
            timeout=self.random.choice((0.0005, 0.001, 0.002, 0.005)))

    def be_wrong(self):
        client = self.client()
        codes = [
            client.raw("/errata.v1.EventService/GetEvent", event_service.GetEventRequest(
                id="00000000-0000-7000-8000-000000000000").SerializeToString())[0].name,
            client.raw("/errata.v1.FeedbackService/CaptureFeedbackEvent", feedback_service.CaptureFeedbackEventRequest(
                event=feedback.FeedbackEvent(after_json="[1,")).SerializeToString())[0].name,
            client.raw("/errata.v1.FeedbackService/ListFeedbackEvents",
                       feedback_service.ListFeedbackEventsRequest(page_token="nonsense").SerializeToString()
                       )[0].name,
        ]
        client.close()
        return codes

    def turn_pages(self):
        client = self.client()
        token = ""
        for _ in range(5):
            page = client.log.ListEvents(
                event_service.ListEventsRequest(page_size=50, page_token=token), timeout=20)
            token = page.next_page_token
        client.close()

    def repeat(self):
        """The same write under the same key has the first answer, byte for byte."""
        client = self.client()
        body = feedback_service.CaptureFeedbackEventRequest(event=event(self.random.randrange(1 << 30)))
        key = [("idempotency-key", secrets.token_hex(8))]
        first = client.feedback.CaptureFeedbackEvent(body, metadata=key, timeout=20)
        again = client.feedback.CaptureFeedbackEvent(body, metadata=key, timeout=20)
        assert first == again, "a repeat had another answer"
        client.close()

    def take_an_order(self):
        """A prompt, a match, the extraction that cites both, a correction of it, and a mapping."""
        client = self.client()
        number = self.random.randrange(1 << 30)
        name, document = f"bench-layout-{number % 5000:08d}", f"soak-order-{number}"
        prompt = client.prompts.PreparePrompt(prompt_service.PreparePromptRequest(
            template_name="pdf_extract_text_v1", layout_fingerprint=name, document_id=document), timeout=20)
        pair = {"customer_id": f"soak-{number % 50}", "customer_sku": f"SKU-{number % 997}"}
        matched = client.mappings.MatchLines(
            mappings.MatchLinesRequest(lines=[mappings.DraftLine(**pair)]), timeout=20)
        one = extraction.Extraction(document_id=document, layout_fingerprint=name, confidence=0.5,
                                    exposure_refs=[prompt.exposure_ref, matched.exposure_ref])
        first = client.extractions.RecordExtraction(
            extraction_service.RecordExtractionRequest(extraction=one), timeout=20)
        again = client.extractions.RecordExtraction(
            extraction_service.RecordExtractionRequest(extraction=one), timeout=20)
        assert first.extraction.id != again.extraction.id, "a repeat did not replace the extraction"
        again.extraction.created_at.CopyFrom(first.extraction.created_at)
        again.extraction.id = first.extraction.id
        assert first == again, "a repeat recorded another extraction"
        client.feedback.CaptureFeedbackEvent(feedback_service.CaptureFeedbackEventRequest(event=feedback.FeedbackEvent(
            event_type=LINE, document_id=document, layout_fingerprint=name, before_json='{"qty":1}',
            after_json='{"qty":2}')), timeout=20)
        (client.mappings.RejectMapping if number % 5 == 0 else client.mappings.ConfirmMapping)(
            (mappings.RejectMappingRequest if number % 5 == 0 else mappings.ConfirmMappingRequest)(
                **pair, internal_sku=f"INT-{number % 3}"), timeout=20)
        client.close()

    def look_at_analytics(self):
        client = self.client()
        client.analytics.GetLearningAnalytics(analytics.GetLearningAnalyticsRequest(), timeout=20)
        client.analytics.GetExperimentReport(analytics.GetExperimentReportRequest(), timeout=20)
        client.close()

    def vanish(self):
        """A connection that is closed in the middle of a frame, or sends nothing."""
        host, port = self.server.address.rsplit(":", 1)
        peer = socket.create_connection((host, int(port)), timeout=10)
        peer.sendall(self.random.choice((b"", PREFACE[:10], PREFACE, PREFACE + b"\x00\x40\x00\x01\x04")))
        time.sleep(self.random.choice((0, 0.05)))
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()

    def die(self):
        """A program with a hundred calls under way is killed."""
        process = subprocess.Popen([*self.bench_command, "--in-flight", "5", "--duration", "20s"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.random.uniform(0.2, 0.6))
        process.send_signal(signal.SIGKILL)
        process.wait()

    def _watch(self, token):
        """Reads everything an organisation records: each number once, in order."""
        client = Client(self.server.address, token)
        self.expected["watch"] = ("CANCELLED", "UNAVAILABLE")
        from_seq = 0
        while not self.stopping.is_set():
            from_seq = self._watch_for_a_while(client, from_seq)
        client.close()

    def _watch_for_a_while(self, client, from_seq):
        stream = client.log.WatchEvents(event_service.WatchEventsRequest(from_seq=from_seq))
        self.streams.add(stream)
        end = time.monotonic() + WATCH_SECONDS
        code = "OK"
        try:
            for message in stream:
                if from_seq not in (0, message.event.seq):
                    code = f"GAP {from_seq}..{message.event.seq}"
                    break
                from_seq = message.event.seq + 1
                if self.stopping.is_set() or time.monotonic() > end:
                    break
        except grpc.RpcError as e:
            code = e.code().name
            self.stopping.wait(1)
        stream.cancel()
        self.streams.discard(stream)
        self.count("watch", code)
        return from_seq

    def _watch_without_reading(self):
        """The server waits for it, and keeps nothing for it."""
        client = Client(self.server.address, self.tokens[0])
        stream = client.log.WatchEvents(event_service.WatchEventsRequest(from_seq=1))
        self.stopping.wait()
        stream.cancel()
        client.close()
        self.count("watch_without_reading", "OK")
