#!/usr/bin/python3
"""The Python package against a real erratad.

Goal: corrections are stored once if either side dies, reads return empty results after their time limit, and every
method of the contract can be called with typed messages. Method: the package as the build makes it, through a proxy
that stops, delays and cuts traffic, with servers that are killed, restarted and drained, and programs that are killed
with a full queue.
"""
import asyncio
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from datetime import datetime, timezone
from pathlib import Path

BUILD = os.environ.get("ERRATA_BUILD") or os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..",
                                                       "build", "release")
PACKAGE = os.path.join(BUILD, "python")
sys.path.insert(0, PACKAGE)

from certificates import Authority  # noqa: E402
from client_driver import Proxy, stored_names  # noqa: E402
from client_restart import free_port  # noqa: E402
from erratad import Server, ServerCase, main, wait_until  # noqa: E402

import errata  # noqa: E402
import errata.aio  # noqa: E402
from errata import types  # noqa: E402

PATIENCE_S = 60
LAYOUT = "supplier-7"


class Folder(unittest.TestCase):
    """A folder for the spool of a test."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-spool-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def spooled(self):
        """The lines of queues in the spool, without the file of refused ones."""
        lines = []
        for place, _, names in os.walk(self.folder):
            for name in sorted(names):
                if name.endswith(".queue"):
                    with open(os.path.join(place, name), "rb") as f:
                        lines += f.read().splitlines()
        return lines


class Connected(ServerCase, Folder):
    """A server, and a client with its spool."""

    def setUp(self):
        Folder.setUp(self)
        self.client = self.connect()

    def connect(self, address=None, **options):
        options = {"token": self.server.admin_token, "read_timeout": PATIENCE_S, **options}
        client = errata.Client(address or self.server.address, spool=self.folder, actor="ada", timeout=PATIENCE_S,
                               **options)
        self.addCleanup(client.close, 0)
        return client


class Tls(Folder):
    """The same package over TLS: with the authority's certificate, with that of another authority, and with a
    client's certificate."""

    def start(self, *arguments, days=30):
        """A server with a certificate; its address as a URL, and its token."""
        self.authority = Authority(self.folder)
        cert, key = self.authority.sign("server", days=days)
        self.server = server = Server(arguments=["--tls-cert", cert, "--tls-key", key, *arguments]).start()
        self.addCleanup(server.close)
        return f"https://localhost:{server.address.rsplit(':', 1)[1]}", server.admin_token

    def connect(self, url, token, **options):
        usual = {"spool": os.path.join(self.folder, "spool"), "read_timeout": PATIENCE_S}
        client = errata.Client(url, token=token, actor="ada", timeout=PATIENCE_S, **(usual | options))
        self.addCleanup(client.close, 0)
        return client

    def test_corrections_and_examples_go_over_tls(self):
        url, token = self.start()
        client = self.connect(url, token, ca_file=self.authority.path)
        client.correct({"qty": 10}, {"qty": 12}, layout="tls", snippet="12 pcs")
        self.assertTrue(client.flush(PATIENCE_S))
        self.assertEqual([one.output for one in client.examples(layout="tls")], [{"qty": 12}])

        async def read():
            async with errata.aio.Client(url, token=token, spool=None, ca_file=self.authority.path,
                                         read_timeout=PATIENCE_S) as one:
                return [len(found) for found in await asyncio.gather(*(one.examples(layout="tls") for _ in range(50)))]
        self.assertEqual(asyncio.run(read()), [1] * 50)

    def test_an_unknown_server_gets_nothing(self):
        """Neither a token nor a correction goes to a server whose certificate is not trusted; the capture stays on disk."""
        url, token = self.start()
        client = self.connect(url, token, ca_file=Authority(self.folder, "other").path, read_timeout=2)
        client.correct({"qty": 10}, {"qty": 12}, layout="tls", document_id="kept-on-disk")
        client.flush(2)
        with self.assertRaisesRegex(errata.ErrataError, "certificate"):
            client.feedback_service.list_feedback_events({"page_size": 1}, timeout=2)
        client.close(0)
        kept = [os.path.join(place, name) for place, _, names in os.walk(os.path.join(self.folder, "spool")) for name in names]
        self.assertIn("kept-on-disk", "".join(Path(path).read_text(encoding="utf-8") for path in kept))
        trusted = self.connect(url, token, ca_file=self.authority.path, spool=None)
        self.assertEqual(trusted.feedback_service.list_feedback_events({"layout_fingerprint": "tls"}).events, [])

    def test_corrections_wait_until_the_certificate_is_mended(self):
        """No correction is lost while the certificate is expired: the same program sends all, in order, once it is
        replaced."""
        url, token = self.start(days=-1)
        refused = []
        client = self.connect(url, token, ca_file=self.authority.path, on_rejected=lambda *what: refused.append(what))
        for number in range(3):
            client.correct({"n": 0}, {"n": number}, layout="tls", entity_type="line", entity_id=f"e{number}")
        self.assertFalse(client.flush(2))
        self.assertEqual((client.counts().queue, refused), ((3, 0, 0), []))
        self.authority.sign("server")
        self.server.process.send_signal(signal.SIGHUP)
        self.assertTrue(client.flush(PATIENCE_S))
        events = client.feedback_service.list_feedback_events({"layout_fingerprint": "tls"}).events
        self.assertEqual([event.entity_id for event in reversed(events)], ["e0", "e1", "e2"])
        self.assertEqual(refused, [])

    def test_a_client_certificate_is_shown(self):
        folder_authority = os.path.join(self.folder, "ca.pem")
        url, token = self.start("--tls-client-ca", folder_authority)
        context = ssl.create_default_context(cafile=folder_authority)
        context.load_cert_chain(*self.authority.sign("client", "DNS:client"))
        client = self.connect(url, token, tls_context=context)
        self.assertEqual(client.feedback_service.list_feedback_events({"page_size": 1}).events, [])
        without = self.connect(url, token, ca_file=folder_authority, fail_open=False, read_timeout=2)
        with self.assertRaises(errata.ErrataError):
            without.examples(layout="tls")


class Calls(Connected):
    def test_correction_becomes_an_example(self):
        layout = self.id()
        key = self.client.correct({"qty": 10}, {"qty": 12}, layout=layout, snippet="12 pcs of ABC-123")
        self.assertRegex(key, "^[0-9a-f]{32}$")
        self.assertTrue(self.client.flush(PATIENCE_S))
        examples = self.client.examples(layout=layout)
        self.assertEqual([(one.input_snippet, one.output) for one in examples], [("12 pcs of ABC-123", {"qty": 12})])
        self.assertEqual(json.loads(examples.hint), [{"input_snippet": "12 pcs of ABC-123", "output": {"qty": 12}}])
        self.assertFalse(examples.failed)
        event = self.client.feedback_service.list_feedback_events({"layout_fingerprint": layout}).events[0]
        self.assertEqual((event.actor_user_id, event.event_type),
                         ("ada", types.FeedbackEventType.EXTRACTION_FIELD_CORRECTED))

    def test_line_of_an_order_is_a_line_correction(self):
        self.client.correct({"qty": 1}, {"qty": 2}, layout=self.id(), entity_type="line", entity_id="7")
        self.assertTrue(self.client.flush(PATIENCE_S))
        event = self.client.feedback_service.list_feedback_events({"layout_fingerprint": self.id()}).events[0]
        self.assertEqual((event.event_type, event.entity_id), ("FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED", "7"))

    def test_extraction_cites_what_it_served(self):
        document = self.id()
        with self.client.extraction(document, layout=LAYOUT, model="m-1") as extraction:
            prompt = extraction.prompt("Read: {{text}} {{unknown}} {{hint_examples}}", text="a {{hint_examples}} b")
            extraction.examples(limit=1)
            extraction.correct({"a": 1}, {"a": 2})
            extraction.confidence = 0.75
        self.assertIn("a hint_examples b {{unknown}} ", prompt)  # a value is sanitised, and never expanded
        self.assertEqual(prompt.missing, ("unknown",))
        self.assertEqual(len(extraction.exposure_refs), 2)
        self.assertTrue(self.client.flush(PATIENCE_S))
        explained = self.client.learning_service.explain_exposure({"exposure_ref": extraction.exposure_refs[0]})
        self.assertTrue(explained.to_json())
        event = self.client.feedback_service.list_feedback_events({"document_id": document}).events[0]
        self.assertEqual(json.loads(event.meta_json)["exposure_refs"], extraction.exposure_refs)

    def test_failed_extraction_is_not_recorded(self):
        with self.assertRaisesRegex(RuntimeError, "model"):
            with self.client.extraction(self.id(), layout=LAYOUT) as extraction:
                extraction.confidence = 0.5
                raise RuntimeError("the model failed")
        self.assertFalse(extraction.recorded)

    def test_typed_messages_go_both_ways(self):
        at = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone.utc)
        sent = types.FeedbackEvent(event_type=types.FeedbackEventType.EXTRACTION_FIELD_CORRECTED, created_at=at,
                                   layout_fingerprint=self.id(), after_json='{"grüße": "€"}', document_id="d")
        stored = self.client.feedback_service.capture_feedback_event(
            types.CaptureFeedbackEventRequest(event=sent)).event
        self.assertEqual((stored.created_at, stored.after_json, stored.entity_id), (at, sent.after_json, None))
        log = self.client.event_service.list_events({"page_size": 1}).events[0]
        self.assertIsInstance(log.seq, int)
        self.assertEqual(types.FeedbackEvent.from_json(stored.to_json()), stored)

    def test_unknown_fields_of_a_mapping_are_refused(self):
        with self.assertRaisesRegex(TypeError, "after_seq: unknown field of WatchEventsRequest; expected one of from_seq"):
            next(self.client.event_service.watch_events({"after_seq": 1}))
        with self.assertRaisesRegex(TypeError, r"event\.document: unknown field of FeedbackEvent"):
            self.client.feedback_service.capture_feedback_event({"event": {"document": "d"}})
        self.client.feedback_service.list_feedback_events({"pageSize": 1, "document_id": "d"})

    def test_streams_go_both_ways(self):
        for _ in range(3):
            self.client.correct({"a": 1}, {"a": 2}, layout=self.id())
        self.assertTrue(self.client.flush(PATIENCE_S))
        seen = self.client.event_service.watch_events({"from_seq": 1})
        self.assertEqual([next(seen).event.seq for _ in range(4)], [1, 2, 3, 4])
        seen.close()

        def pieces():
            yield types.IngestDocumentStreamRequest(document_id="broken")
            yield {"content": b"no PDF"}
        with self.assertRaisesRegex(errata.InvalidArgument, "(?i)pdf"):
            self.client.layout_service.ingest_document_stream(pieces())

        async def watch():
            async with errata.aio.Client(self.server.address, token=self.server.admin_token, spool=None) as client:
                found = []
                async for response in client.event_service.watch_events({"from_seq": 2}):
                    found.append(response.event.seq)
                    if len(found) == 3:
                        return found
        self.assertEqual(asyncio.run(watch()), [2, 3, 4])

    def test_repeat_under_a_key_stores_once(self):
        request = {"event": {"event_type": "EXTRACTION_FIELD_CORRECTED", "layout_fingerprint": self.id(),
                             "after_json": '{"a": 1}'}}
        ids = {self.client.feedback_service.capture_feedback_event(request, idempotency_key="python-1").event.id
               for _ in range(3)}
        self.assertEqual(len(ids), 1)
        request["event"]["after_json"] = '{"a": 2}'
        with self.assertRaises(errata.AlreadyExists):
            self.client.feedback_service.capture_feedback_event(request, idempotency_key="python-1")

    def test_errors_name_every_invalid_field(self):
        with self.assertRaises(errata.InvalidArgument) as caught:
            self.client.feedback_service.capture_feedback_event({"event": {"after_json": "[1]", "document_id": ""}})
        self.assertEqual({one.field for one in caught.exception.violations},
                         {"event.event_type", "event.after_json", "event.document_id"})
        with self.assertRaises(errata.NotFound):
            self.client.feedback_service.get_feedback_event({"id": "01890000-0000-7000-8000-000000000000"})
        with self.assertRaises(errata.Unauthenticated):
            self.connect(token="errata_00000000_" + "A" * 43).admin_service.list_tokens()
        with self.assertRaisesRegex(TypeError, "set|mapping"):
            self.client.feedback_service.get_feedback_event({"id": object()})

    def test_refused_correction_is_kept_with_its_reason(self):
        refused = []
        client = self.connect(on_rejected=lambda key, error: refused.append((key, error.code)))
        key = client.correct({"a": 1}, "no JSON", layout=self.id())
        client.correct({"a": 1}, {"a": 2}, layout=self.id())
        self.assertTrue(client.flush(PATIENCE_S))
        self.assertEqual(client.counts().queue, (0, 1, 1))
        wait_until(lambda: refused == [(key, "invalid_argument")], "the callback")
        kept = [os.path.join(place, name) for place, _, names in os.walk(self.folder) for name in names
                if name == "rejected.jsonl"]
        with open(kept[0], encoding="ascii") as f:
            line = json.loads(f.readline())
        self.assertEqual((line["key"], line["request"]["event"]["after_json"]), (key, "no JSON"))
        self.assertIn("after_json", line["error"])

    def test_token_file_is_read_again(self):
        path = os.path.join(self.folder, "token")
        with open(path, "w", encoding="ascii") as f:
            f.write("errata_00000000_" + "A" * 43)
        client = self.connect(token=None, token_file=path)
        with open(path, "w", encoding="ascii") as f:
            f.write(self.server.admin_token + "\n")
        self.assertTrue(client.admin_service.list_tokens().tokens)

    def test_asyncio_holds_a_thousand_calls(self):
        async def calls():
            async with errata.aio.Client(self.server.address, token=self.server.admin_token, spool=None,
                                         timeout=PATIENCE_S, read_timeout=PATIENCE_S) as client:
                layout = self.id()
                client.correct({"a": 1}, {"a": 2}, layout=layout, actor="bob")
                self.assertTrue(await client.flush(PATIENCE_S))
                served = await asyncio.gather(*(client.examples(layout=layout) for _ in range(1000)))
                async with client.extraction("aio", layout=layout) as extraction:
                    prompt = await extraction.prompt("{{hint_examples}}")
                    extraction.confidence = 1.0
                self.assertTrue(await client.flush(PATIENCE_S))
                return [len(one) for one in served], prompt, client.counts()
        lengths, prompt, counts = asyncio.run(calls())
        self.assertEqual(lengths, [1] * 1000)
        self.assertIn('{"a":2}', prompt.replace(" ", ""))
        self.assertEqual((counts.reads, counts.reads_failed, counts.queue.sent), (1001, 0, 2))


class Faults(Connected):
    """Failures of the network and of the server."""

    def setUp(self):
        super().setUp()
        self.proxy = Proxy(self.server.address)
        self.addCleanup(self.proxy.close)

    def timed(self, call):
        at = time.monotonic()
        result = call()
        return result, time.monotonic() - at

    def test_unreachable_server_fails_open_within_the_time_limit(self):
        client = self.connect(f"127.0.0.1:{free_port()}", read_timeout=0.3)
        examples, seconds = self.timed(lambda: client.examples(layout=LAYOUT))
        self.assertEqual((examples, examples.failed), ([], True))
        self.assertLess(seconds, 5)
        prompt = client.prompt("Read {{text}}{{hint_examples}}", layout=LAYOUT, text="t {{x}}")
        self.assertEqual((prompt, prompt.failed), ("Read t {{x}}", True))
        self.assertEqual(client.counts()[:2], (2, 2))
        strict = self.connect(f"127.0.0.1:{free_port()}", read_timeout=0.3, fail_open=False)
        with self.assertRaises(errata.Unreachable):
            strict.examples(layout=LAYOUT)

    def test_caller_mistakes_do_not_fail_open(self):
        with self.assertRaises(errata.InvalidArgument):
            self.client.examples(layout="x" * 500)
        with self.assertRaisesRegex(TypeError, "document_id"):
            self.client.examples()

    def test_silent_server_fails_open_within_the_time_limit(self):
        client = self.connect(self.proxy.address, read_timeout=0.5)
        self.assertFalse(client.examples(layout=LAYOUT, timeout=PATIENCE_S).failed)
        self.proxy.freezes_all = True
        examples, seconds = self.timed(lambda: client.examples(layout=LAYOUT))
        self.assertTrue(examples.failed)
        self.assertGreater(seconds, 0.4)
        self.assertLess(seconds, 5)
        self.proxy.freezes_all = False
        self.assertFalse(client.examples(layout=LAYOUT, timeout=PATIENCE_S).failed)

    def test_slow_and_dribbling_answers_are_read(self):
        self.proxy.delay_s = 0.1
        self.proxy.dribble = True
        client = self.connect(self.proxy.address)
        self.assertFalse(client.examples(layout=LAYOUT).failed)

    def test_closed_idle_connection_costs_no_failure(self):
        client = self.connect(self.proxy.address)
        for _ in range(3):
            self.assertFalse(client.examples(layout=LAYOUT).failed)
            self.proxy.open[-1].shutdown(socket.SHUT_RDWR)
        self.assertEqual(client.counts()[:2], (3, 0))
        self.assertEqual(len(self.proxy.open), 3)

    def test_lost_answers_store_nothing_twice(self):
        client = self.connect(self.proxy.address)
        self.assertFalse(client.examples(layout=LAYOUT).failed)
        self.proxy.losses = 3
        client.correct({"qty": 1}, {"qty": 2}, layout=self.id())
        self.assertTrue(client.flush(PATIENCE_S))
        self.assertEqual(self.proxy.losses, 0)
        self.proxy.losses = 1
        stored = client.feedback_service.capture_feedback_event({"event": {
            "event_type": "EXTRACTION_FIELD_CORRECTED", "layout_fingerprint": self.id(), "after_json": '{"qty": 3}'}}).event
        self.assertEqual(self.proxy.losses, 0)
        events = self.client.feedback_service.list_feedback_events({"layout_fingerprint": self.id()}).events
        self.assertEqual([event.after_json for event in events], [stored.after_json, '{"qty": 2}'])

    def test_full_queue_is_refused(self):
        client = self.connect(f"127.0.0.1:{free_port()}", queue_items_max=3)
        for n in range(3):
            client.correct({"n": n}, {"n": n + 1}, layout=LAYOUT)
        with self.assertRaisesRegex(errata.QueueFull, "3 writes"):
            client.correct({"n": 3}, {"n": 4}, layout=LAYOUT)


class Restarts(Folder):
    """Servers and programs that are killed."""

    def setUp(self):
        super().setUp()
        self.server = Server(arguments=["--listen", f"127.0.0.1:{free_port()}"]).start()
        self.addCleanup(self.server.close)

    def client(self, **options):
        client = errata.Client(self.server.address, token=self.server.admin_token, spool=self.folder, actor="ada",
                               **options)
        self.addCleanup(client.close, 0)
        return client

    def stored(self):
        """The entities of all corrections, in the order in which they were stored."""
        with_stubs = self.server.client()
        names = stored_names(with_stubs)
        with_stubs.close()
        return names[::-1]

    def correct(self, client, name):
        return client.correct({"n": 0}, {"name": name}, layout=LAYOUT, entity_type="line", entity_id=name)

    def test_killed_server_stores_each_correction_once_and_in_order(self):
        client = self.client()
        names = [f"e{n}" for n in range(300)]
        for name in names[:200]:
            self.correct(client, name)
        wait_until(lambda: client.counts().queue.sent >= 30, "some corrections to be sent", PATIENCE_S)
        self.server.kill9()
        for name in names[200:]:
            self.correct(client, name)
        self.assertTrue(client.examples(layout=LAYOUT, timeout=0.2).failed)
        self.server.start()
        self.assertTrue(client.flush(PATIENCE_S))
        self.assertEqual(self.stored(), names)
        self.assertEqual(client.counts().queue, (0, 300, 0))
        self.assertTrue(client.close())
        self.assertEqual(self.spooled(), [])

    def test_draining_server_costs_no_correction(self):
        client = self.client()
        names = [f"e{n}" for n in range(200)]
        for name in names:
            self.correct(client, name)
        wait_until(lambda: client.counts().queue.sent >= 20, "some corrections to be sent", PATIENCE_S)
        self.assertEqual(self.server.stop(), 0)
        self.server.start()
        self.assertTrue(client.flush(PATIENCE_S))
        self.assertEqual(self.stored(), names)

    def test_killed_program_leaves_its_corrections_to_the_next_one(self):
        address, token = self.server.address, self.server.admin_token
        self.server.kill9()
        program = textwrap.dedent(f"""
            import sys, time
            sys.path.insert(0, {PACKAGE!r})
            import errata
            client = errata.Client({address!r}, token={token!r}, spool={self.folder!r}, actor="ada")
            for n in range(50):
                client.correct({{"n": 0}}, {{"n": n + 1}}, layout={LAYOUT!r}, entity_type="line", entity_id=f"e{{n}}")
            print("queued", flush=True)
            time.sleep(600)
        """)
        child = subprocess.Popen([sys.executable, "-B", "-c", program], stdout=subprocess.PIPE)
        self.assertEqual(child.stdout.readline(), b"queued\n")
        child.kill()
        child.wait()
        child.stdout.close()
        self.server.start()
        client = self.client()  # adds nothing itself
        wait_until(lambda: client.counts().queue.sent == 50, "the corrections to be sent", PATIENCE_S)
        self.assertEqual(self.stored(), [f"e{n}" for n in range(50)])
        client.close()
        self.assertEqual(self.spooled(), [])

    def test_damaged_spool_loses_only_the_damaged_line(self):
        self.server.kill9()
        client = self.client()
        self.correct(client, "whole")
        place = os.path.join(self.folder, os.listdir(self.folder)[0])
        client.close(0)
        name = next(name for name in os.listdir(place) if name.endswith(".queue"))
        with open(os.path.join(place, name), "ab") as f:
            f.write(b'{"key": "cut')
        self.server.start()
        again = self.client()
        wait_until(lambda: again.counts().queue.sent == 1, "the correction to be sent", PATIENCE_S)
        self.assertEqual(self.stored(), ["whole"])

    def test_forked_program_sends_its_own_corrections(self):
        """A process without gRPC, which does not support a fork."""
        program = textwrap.dedent(f"""
            import os, sys
            sys.path.insert(0, {PACKAGE!r})
            import errata
            client = errata.Client({self.server.address!r}, token={self.server.admin_token!r}, spool={self.folder!r})
            def correct(name):
                client.correct({{"n": 0}}, {{"name": name}}, layout={LAYOUT!r}, entity_type="line", entity_id=name)
                return client.flush({PATIENCE_S})
            assert correct("parent") and client.health() == "SERVING"
            child = os.fork()
            if child == 0:
                os._exit(0 if correct("child") and client.health() == "SERVING" else 1)
            assert os.waitpid(child, 0)[1] == 0
            assert correct("parent again") and client.close()
        """)
        subprocess.run([sys.executable, "-B", "-c", program], check=True, timeout=2 * PATIENCE_S)
        self.assertEqual(self.stored(), ["parent", "child", "parent again"])
        self.assertEqual(self.spooled(), [])


if __name__ == "__main__":
    main()
