#!/usr/bin/python3
"""Documents through a real client: measured, stored, counted and returned, by each sentence of
LayoutService's contract.

Goal: a PDF's measures, its layout's profile and the values that corrections take from both are right
on the wire. Method: one erratad with its PDF worker, stock gRPC, an organisation for each test.
"""
import hashlib
import json
import os
import re
import secrets
import time

import grpc

import pdf_data
from erratad import (ServerCase, bad_fields, event_log, event_service, feedback, feedback_service,
                     has_retry_info, is_sanitized, layout, main, prompt_service, reason_of, roles)
from errata.v1 import warning_pb2

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
INVALID = grpc.StatusCode.INVALID_ARGUMENT
MIB = 1 << 20
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
MEASURES = ("layout_fingerprint", "page_count", "page_dimensions", "table_count",
            "text_coverage_ratio", "text_chars", "pages_read", "warnings", "fp_version",
            "input_snippet")


def measures(document):
    """Returns the measurements that must not depend on the sender, the time, or the name."""
    return {name: str(getattr(document, name)) for name in MEASURES}


def python_fingerprint(document):
    """Document 000's rule in its own language: (canonical JSON, SHA-256)."""
    canonical = json.dumps({
        "page_count": document.page_count,
        "page_dimensions": [[page.width, page.height] for page in document.page_dimensions],
        "table_count": document.table_count,
        "text_coverage_ratio": round(document.text_coverage_ratio, 2)}, sort_keys=True)
    return canonical, hashlib.sha256(canonical.encode()).hexdigest()


class PdfCase(ServerCase):
    def setUp(self):
        self.org = self.admin.create_org("pdf-" + secrets.token_hex(4))
        self.client = self.client_of(roles.ROLE_ADMIN)

    def client_of(self, role):
        client = self.server.client(self.admin.create_token(role, org_id=self.org.id).secret)
        self.addCleanup(client.close)
        return client

    def assert_not_stored(self, document_id):
        self.assert_code(grpc.StatusCode.NOT_FOUND, self.client.document, document_id)


class Measured(PdfCase):
    def test_response_has_the_measures(self):
        """FR-006, SC-002: every member of a document and its profile, of an invoice that is known."""
        content = pdf_data.read(pdf_data.INVOICE)
        reply = self.client.ingest("invoice-1", content)
        document, profile = reply.document, reply.profile
        self.assertRegex(document.id, f"^{UUID}$")
        self.assertEqual(document.document_id, "invoice-1")
        self.assertEqual(document.page_count, 1)
        self.assertEqual([(p.width, p.height) for p in document.page_dimensions], [(595.28, 841.89)])
        self.assertTrue(document.HasField("table_count"))
        self.assertEqual(document.table_count, 1)
        self.assertTrue(0 < document.text_coverage_ratio < 1)
        self.assertEqual(document.text_coverage_ratio, round(document.text_coverage_ratio, 2))
        self.assertEqual(document.pages_read, 1)
        self.assertEqual(document.sha256, hashlib.sha256(content).hexdigest())
        self.assertEqual(document.size_bytes, len(content))
        self.assertEqual(list(document.warnings), [])
        self.assertLess(abs(document.created_at.ToMicroseconds() / 1e6 - time.time()), 60)
        self.assertRegex(document.fp_version, r"^\d+/\d+\.\d+\.\d+$")
        self.assertTrue(document.input_snippet.startswith("RECHNUNG\n"))
        self.assertGreaterEqual(document.text_chars, len(document.input_snippet.strip()))

        self.assertRegex(profile.id, f"^{UUID}$")
        self.assertEqual(profile.layout_fingerprint, document.layout_fingerprint)
        self.assertEqual((profile.seen_count, profile.example_count, profile.feedback_count),
                         (1, 0, 0))
        for at in (profile.first_seen_at, profile.last_seen_at, profile.created_at,
                   profile.updated_at):
            self.assertEqual(at, document.created_at)
        stats = profile.stats
        self.assertEqual(stats.page_count, 1)
        self.assertEqual(stats.table_count, 1)
        self.assertAlmostEqual(stats.text_coverage_ratio, document.text_coverage_ratio)
        self.assertGreater(stats.text_density, 0)
        self.assertEqual(stats.fp_version, document.fp_version)

    def test_fingerprint_equals_the_reference(self):
        """US2.1, US2.2, FR-007: equal to ComputeFingerprint's and Python's of the answered measures."""
        for path in (pdf_data.INVOICE, pdf_data.SCAN, "layout/gen-L07-3.pdf",
                     "rotated/gen-L01-0-rot90.pdf", "table-truth/eu-003.pdf",
                     "boxes/bug1650302_reduced.pdf"):
            document = self.client.ingest(path, pdf_data.read(path)).document
            canonical, fingerprint = python_fingerprint(document)
            self.assertEqual(document.layout_fingerprint, fingerprint, path)
            computed = self.client.layouts.ComputeFingerprint(
                layout.ComputeFingerprintRequest(metadata_json=canonical))
            self.assertEqual(computed.layout_fingerprint, fingerprint, path)
            self.assertEqual(computed.canonical_json, canonical)

    def test_snippet_is_the_first_text(self):
        """1500 code points of as many pages as they need; text beyond is counted on those pages."""
        content = pdf_data.read("table-truth/eu-004.pdf")
        document = self.client.ingest("long", content).document
        self.assertEqual(len(document.input_snippet), 1500)
        self.assertGreaterEqual(document.text_chars, 1500)
        self.assertLess(document.pages_read, document.page_count)
        short = self.client.ingest("short", pdf_data.small()).document
        self.assertEqual(short.input_snippet.strip(), "Invoice 12345")
        self.assertEqual(short.pages_read, 1)
        arabic = self.client.ingest("arabic", pdf_data.read("script/arabic.pdf")).document
        self.assertTrue(re.search("[\u0600-\u06ff\ufb50-\ufeff]", arabic.input_snippet))

    def test_text_in_missing_fonts_is_read(self):
        """Japanese by a predefined CMap and a font that no file has: poppler-data is readable."""
        document = self.client.ingest("sjis", pdf_data.read("script/noembed-sjis.pdf")).document
        self.assertTrue(re.search("[\u3040-\u30ff\u4e00-\u9fff]", document.input_snippet),
                        document.input_snippet)
        self.assertEqual(list(document.warnings), [])

    def test_scan_is_recognised(self):
        """A scan without text has coverage 0, no table, and a warning that examples are withheld."""
        document = self.client.ingest("scan", pdf_data.read(pdf_data.SCAN)).document
        self.assertEqual((document.text_coverage_ratio, document.table_count), (0, 0))
        self.assertEqual(document.input_snippet.strip(), "")
        self.assertEqual([w.code for w in document.warnings], [warning_pb2.WARNING_CODE_SCAN])
        self.assertEqual(document.warnings[0].message, "page 1 has no text; examples are withheld")
        self.assertEqual(len(document.layout_fingerprint), 64)

    def test_a_cut_result_is_never_hashed(self):
        """A document with too many rulings keeps its text, gets no fingerprint and no profile, and is
        measured again if it is sent again."""
        content = pdf_data.read("hostile/h0-tiling-tiny-step.pdf")
        for _ in range(2):
            reply = self.client.ingest("cut", content)
            self.assertFalse(reply.document.HasField("layout_fingerprint"))
            self.assertFalse(reply.document.HasField("table_count"))
            self.assertFalse(reply.HasField("profile"))
            self.assertIn(warning_pb2.WARNING_CODE_RULINGS_LIMIT,
                          [w.code for w in reply.document.warnings])
            self.assertEqual(reply.document.page_count, 1)
        self.assertEqual(len(self.client.layouts.ListProfiles(
            layout.ListProfilesRequest()).profiles), 0)
        self.assertEqual(self.client.document("cut").sha256, hashlib.sha256(content).hexdigest())
        self.assert_code(grpc.StatusCode.ALREADY_EXISTS, self.client.ingest, "cut", pdf_data.small())

    def test_too_large_page_is_measured(self):
        document = self.client.ingest("large", pdf_data.read("hostile/h0-box-overflow.pdf")).document
        self.assertIn(warning_pb2.WARNING_CODE_PAGE_TOO_LARGE, [w.code for w in document.warnings])
        self.assertEqual(document.text_coverage_ratio, 0)


class Counted(PdfCase):
    def seen(self, fingerprint):
        return self.client.profile(fingerprint).seen_count

    def test_message_and_stream_give_the_same(self):
        """The same bytes by each method: the same measures, two documents, counted twice."""
        content = pdf_data.read("layout/MustangGnuaccountingBeispielRE-20140519_499.pdf")
        one = self.client.ingest("one", content)
        two = self.client.ingest_stream("two", content)
        self.assertEqual(measures(one.document), measures(two.document))
        self.assertEqual(one.document.sha256, two.document.sha256)
        self.assertEqual((one.profile.seen_count, two.profile.seen_count), (1, 2))
        self.assertEqual(one.profile.id, two.profile.id)
        for size in (1, 7, 1000):
            piece = self.client.ingest_stream(f"by-{size}", pdf_data.small(), piece_bytes=size)
            self.assertEqual(piece.document.sha256, hashlib.sha256(pdf_data.small()).hexdigest())

    def test_repeated_document_is_counted_once(self):
        """US2.3, US2.4, FR-008: the same document is one document, by whichever method."""
        content = pdf_data.small()
        first = self.client.ingest("again", content)
        self.assertEqual(self.client.ingest("again", content), first)
        again = self.client.ingest_stream("again", content)
        self.assertEqual((again.document, again.profile), (first.document, first.profile))
        fingerprint = first.document.layout_fingerprint
        self.assertEqual(self.seen(fingerprint), 1)
        self.client.ingest("another", content)
        self.assertEqual(self.seen(fingerprint), 2)
        later = self.client.ingest("again", content)
        self.assertEqual(later.document, first.document)
        self.assertEqual(self.seen(fingerprint), 2)

    def test_other_bytes_under_the_same_id_are_refused(self):
        """ALREADY_EXISTS, with the stored document; nothing changes."""
        stored = self.client.ingest("name", pdf_data.small()).document
        for ingest in (self.client.ingest, self.client.ingest_stream):
            error = self.assert_code(grpc.StatusCode.ALREADY_EXISTS, ingest, "name",
                                     pdf_data.small(1))
            self.assertIn(stored.sha256, error.details())
        self.assertEqual(self.client.document("name"), stored)
        self.assertEqual(self.seen(stored.layout_fingerprint), 1)

    def test_known_layout_counts(self):
        """US2.5: documents of one layout update its count, times and means."""
        replies = [self.client.ingest(f"d-{i}", pdf_data.small(i)) for i in range(5)]
        self.assertEqual([r.profile.seen_count for r in replies], [1, 2, 3, 4, 5])
        self.assertEqual(len({r.document.layout_fingerprint for r in replies}), 1)
        self.assertEqual(len({r.document.sha256 for r in replies}), 5)
        profile = self.client.profile(replies[0].document.layout_fingerprint)
        self.assertEqual(profile.first_seen_at, replies[0].document.created_at)
        self.assertEqual(profile.last_seen_at, replies[4].document.created_at)
        self.assertEqual(profile, replies[4].profile)
        self.assertEqual(profile.stats.page_count, 1)

    def test_repeat_under_a_key_gets_the_first_answer(self):
        """For both methods: a repetition returns the first response without effect; a different request with the same
        key is refused."""
        for number, ingest in enumerate((self.client.ingest, self.client.ingest_stream)):
            key = [("idempotency-key", f"key-{number}")]
            first = ingest(f"key-{number}", pdf_data.small(number), metadata=key)
            self.client.ingest(f"between-{number}", pdf_data.small(7))
            self.assertEqual(ingest(f"key-{number}", pdf_data.small(number), metadata=key), first)
            self.assert_code(grpc.StatusCode.ALREADY_EXISTS, ingest, f"key-{number}-other",
                             pdf_data.small(number), metadata=key)
            self.assert_code(grpc.StatusCode.ALREADY_EXISTS, ingest, f"key-{number}",
                             pdf_data.small(number + 30), metadata=key)
            self.assertEqual(first.profile.seen_count + 1, self.seen(
                first.document.layout_fingerprint))
        key = [("idempotency-key", "pieces")]
        first = self.client.ingest_stream("pieces", pdf_data.small(), piece_bytes=100, metadata=key)
        self.assertEqual(self.client.ingest_stream("pieces", pdf_data.small(), piece_bytes=333,
                                                   metadata=key), first)

    def test_organisations_count_for_themselves(self):
        fingerprint = self.client.ingest("mine", pdf_data.small()).document.layout_fingerprint
        self.org = self.admin.create_org("pdf-" + secrets.token_hex(4))
        other = self.client_of(roles.ROLE_ADMIN)
        self.assertEqual(other.ingest("mine", pdf_data.small(1)).profile.seen_count, 1)
        self.assertEqual(other.document("mine").layout_fingerprint, fingerprint)
        self.assertEqual(self.seen(fingerprint), 1)


class Sizes(PdfCase):
    def test_forty_megabytes_are_streamed(self):
        content = pdf_data.padded(40 * MIB)
        document = self.client.ingest_stream("forty", content).document
        self.assertEqual(document.size_bytes, 40 * MIB)
        self.assertEqual(document.sha256, hashlib.sha256(content).hexdigest())
        self.assertEqual(document.input_snippet.strip(), "Invoice 12345")

    def test_document_above_64_mebibytes_is_refused(self):
        """64 MiB is measured; a byte more is RESOURCE_EXHAUSTED, and the connection stays open."""
        document = self.client.ingest_stream("64", pdf_data.padded(64 * MIB)).document
        self.assertEqual(document.size_bytes, 64 * MIB)
        error = self.assert_code(grpc.StatusCode.RESOURCE_EXHAUSTED, self.client.ingest_stream,
                                 "65", pdf_data.padded(64 * MIB + 1))
        self.assertEqual(reason_of(error), "TOO_LARGE")
        self.assertFalse(has_retry_info(error))
        self.assert_not_stored("65")
        self.client.ingest("after", pdf_data.small())

    def test_message_above_the_limit_is_refused(self):
        error = self.assert_code(grpc.StatusCode.RESOURCE_EXHAUSTED, self.client.ingest, "17",
                                 pdf_data.padded(17 * MIB))
        self.assertFalse(has_retry_info(error))
        self.assertEqual(self.client.ingest("15", pdf_data.padded(15 * MIB)).document.size_bytes,
                         15 * MIB)

    def test_memory_is_returned_after_large_documents(self):
        """Documents are held once in memory, and freed: after 20 x 20 MiB the server is as small as
        before."""
        content = pdf_data.padded(20 * MIB)
        self.client.ingest_stream("first", content)
        before = self.server.rss_kb()
        for i in range(20):
            self.client.ingest_stream(f"held-{i}", content)
        if not is_sanitized():  # the sanitizer keeps freed memory to detect later uses
            self.assertLess(self.server.rss_kb() - before, 40 * 1024)
        self.assertEqual(self.server.counters(self.admin)["pdf_held_bytes"], 0)


class Refused(PdfCase):
    """Refusals of requests and of their documents."""

    def refused(self, reason, content, **more):
        """Both methods refuse the document with this reason, and nothing is stored."""
        for ingest in (self.client.ingest, self.client.ingest_stream):
            error = self.assert_code(INVALID, ingest, "bad", content, **more)
            self.assertEqual(reason_of(error), reason.upper(), error.details())
            self.assertTrue(error.details().startswith(reason + ": "), error.details())
            self.assertFalse(has_retry_info(error))
            self.assert_not_stored("bad")

    def test_each_refusal_has_its_reason(self):
        self.refused("not_a_pdf", pdf_data.read("hostile/h0-html.pdf"))
        self.refused("damaged", pdf_data.read("malformed/REDHAT-1531897-0.pdf"))
        self.refused("no_pages", pdf_data.read("hostile/h0-tree-count-lie.pdf"))
        self.refused("page_unreadable", pdf_data.read("hostile/h0-tree-self.pdf"))
        self.client.ingest("bad", pdf_data.small())

    def test_passwords_open_encrypted_documents(self):
        """A missing or wrong password gives `encrypted`; the right one opens the file, and is not stored."""
        for path, passwords in pdf_data.PASSWORDS.items():
            content = pdf_data.read(path)
            self.refused("encrypted", content)
            self.refused("encrypted", content, password="no-such-password")
            for number, password in enumerate(passwords):
                for ingest in (self.client.ingest, self.client.ingest_stream):
                    document = ingest(f"{path}-{number}", content, password=password).document
                    self.assertGreaterEqual(document.page_count, 1)
        secret = pdf_data.PASSWORDS["encrypted/health_protected.pdf"][0].encode()
        for folder, _, names in os.walk(self.server.data):
            for name in names:
                with open(os.path.join(folder, name), "rb") as f:
                    self.assertNotIn(secret, f.read(), name)
        error = self.assert_code(INVALID, self.client.ingest, "x", b"x", password="p" * 128)
        self.assertEqual(set(bad_fields(error)), {"password"})

    def test_unneeded_password_is_ignored(self):
        self.client.ingest("open", pdf_data.small(), password="not needed")
        self.client.ingest("empty", pdf_data.read("encrypted/empty_protected.pdf"))

    def stream(self, *messages, **call):
        return self.client.layouts.IngestDocumentStream(iter(
            layout.IngestDocumentStreamRequest(**fields) for fields in messages), **call)

    def bad_stream(self, field, *messages):
        error = self.assert_code(INVALID, self.stream, *messages)
        self.assertIn(field, bad_fields(error), error.details())

    def test_stream_without_its_head_is_refused(self):
        """The name must be first and occur once, the password must be first, and there must be
        bytes."""
        content = pdf_data.small()
        self.assertIn("request: no message", self.assert_code(INVALID, self.stream).details())
        self.bad_stream("document_id", {"content": content})
        self.bad_stream("document_id", {"document_id": ""}, {"content": content})
        self.bad_stream("document_id", {"document_id": "a" * 129}, {"content": content})
        self.bad_stream("document_id", {"document_id": "a"}, {"document_id": "b", "content": content})
        self.bad_stream("password", {"document_id": "a"}, {"password": "p", "content": content})
        self.bad_stream("content", {"document_id": "a"})
        self.bad_stream("content", {"document_id": "a"}, {"content": b""})
        self.assert_not_stored("a")
        reply = self.stream({"document_id": "a", "content": content[:100]}, {}, {"content": b""},
                            {"content": content[100:]}, {})
        self.assertEqual(reply.document.size_bytes, len(content))

    def test_message_without_an_id_or_content_is_refused(self):
        error = self.assert_code(INVALID, self.client.layouts.IngestDocument,
                                 layout.IngestDocumentRequest())
        self.assertEqual(set(bad_fields(error)), {"document_id", "content"})

    def test_only_allowed_roles_may_ingest(self):
        """A VIEWER may not ingest documents by either method, and an INTEGRATOR only dated ones."""
        for role in (roles.ROLE_VIEWER, roles.ROLE_INTEGRATOR):
            client = self.client_of(role)
            for ingest in (client.ingest, client.ingest_stream):
                self.assert_code(grpc.StatusCode.PERMISSION_DENIED, ingest, "x", pdf_data.small())
        now = self.client.ingest("now", pdf_data.small(1))
        request = layout.IngestDocumentRequest(document_id="then", content=pdf_data.small(2))
        request.created_at.FromJsonString("2020-02-29T12:00:00Z")
        then = self.client_of(roles.ROLE_INTEGRATOR).layouts.IngestDocument(request)
        self.assertEqual(then.document.created_at, request.created_at)
        self.assertEqual(then.profile.layout_fingerprint, now.profile.layout_fingerprint)
        self.assertEqual(then.profile.first_seen_at, request.created_at)
        self.assertEqual(then.profile.last_seen_at, now.document.created_at)
        self.assertEqual([d.document_id for d in self.client.layouts.ListDocuments(
            layout.ListDocumentsRequest()).documents], ["now", "then"])
        for role in (roles.ROLE_OPERATOR, roles.ROLE_REVIEWER, roles.ROLE_SERVICE):
            self.client_of(role).ingest(f"by-{role}", pdf_data.small(role))


class Read(PdfCase):
    def test_document_is_read_by_id(self):
        document = self.client.ingest("get", pdf_data.small()).document
        self.assertEqual(self.client.document("get"), document)
        self.assertEqual(self.client.layouts.GetDocument(
            layout.GetDocumentRequest(id=document.id)).document, document)
        event = self.client.log.GetEvent(event_service.GetEventRequest(id=document.id)).event
        self.assertEqual(event.kind, event_log.EVENT_KIND_DOCUMENT_INGESTED)
        self.assertEqual(event.document_ingested.document, document)
        self.assert_not_stored("no-such-document")
        error = self.assert_code(INVALID, self.client.layouts.GetDocument,
                                 layout.GetDocumentRequest())
        self.assertTrue(bad_fields(error))
        self.assert_code(grpc.StatusCode.NOT_FOUND, self.client.profile, "f" * 64)

    def pages(self, method, request, items):
        """Every item of a list, page by page."""
        found, token = [], ""
        while True:
            request.page_token = token
            page = method(request)
            self.assertLessEqual(len(getattr(page, items)), request.page_size)
            found += getattr(page, items)
            token = page.next_page_token
            if not token:
                return found

    def fill(self):
        """Seven documents of three layouts, seen 4, 1 and 2 times; the newest last."""
        order = ["a", "b", "a", "c", "a", "c", "a"]
        files = {"a": pdf_data.small(), "b": pdf_data.read(pdf_data.INVOICE),
                 "c": pdf_data.read("layout/gen-L07-3.pdf")}
        documents = [self.client.ingest(f"{name}-{i}", files[name] + b"%% copy %d\n" % i).document
                     for i, name in enumerate(order)]
        return documents, {name: next(d for d in documents if d.document_id.startswith(name))
                           .layout_fingerprint for name in files}

    def test_documents_are_listed(self):
        documents, prints = self.fill()
        listed = self.pages(self.client.layouts.ListDocuments,
                            layout.ListDocumentsRequest(page_size=3), "documents")
        self.assertEqual([d.id for d in listed], [d.id for d in reversed(documents)])
        of_c = self.pages(self.client.layouts.ListDocuments, layout.ListDocumentsRequest(
            page_size=1, layout_fingerprint=prints["c"]), "documents")
        self.assertEqual([d.document_id for d in of_c], ["c-5", "c-3"])
        self.assertEqual((of_c[0].page_count, len(of_c[0].page_dimensions)), (3, 1))
        self.assertEqual(len(self.client.document("c-5").page_dimensions), 3)
        page = self.client.layouts.ListDocuments(layout.ListDocumentsRequest(page_size=1))
        self.assert_code(INVALID, self.client.layouts.ListDocuments, layout.ListDocumentsRequest(
            page_token=page.next_page_token, layout_fingerprint=prints["a"]))

    def test_profiles_are_listed(self):
        _, prints = self.fill()
        for order, wanted in ((layout.PROFILE_ORDER_UNSPECIFIED, "acb"),
                              (layout.PROFILE_ORDER_LAST_SEEN, "acb"),
                              (layout.PROFILE_ORDER_MOST_SEEN, "acb")):
            for size in (1, 2, 50):
                found = self.pages(self.client.layouts.ListProfiles,
                                   layout.ListProfilesRequest(page_size=size, order=order),
                                   "profiles")
                self.assertEqual([p.layout_fingerprint for p in found],
                                 [prints[name] for name in wanted])
        self.assertEqual([p.seen_count for p in found], [4, 2, 1])
        self.client.ingest("b-late", pdf_data.read(pdf_data.INVOICE) + b"% late\n")
        last = self.client.layouts.ListProfiles(layout.ListProfilesRequest()).profiles
        self.assertEqual([p.layout_fingerprint for p in last], [prints[n] for n in "bac"])
        most = self.client.layouts.ListProfiles(layout.ListProfilesRequest(
            order=layout.PROFILE_ORDER_MOST_SEEN)).profiles
        self.assertEqual([p.seen_count for p in most], [4, 2, 2])
        self.assertEqual(most[1].layout_fingerprint < most[2].layout_fingerprint, True)

    def test_a_viewer_sees_no_content(self):
        """A viewer gets only facts: no text of the page in any form of the document or its event."""
        document = self.client.ingest("seen", pdf_data.small()).document
        viewer = self.client_of(roles.ROLE_VIEWER)
        watch = viewer.log.WatchEvents(event_service.WatchEventsRequest(from_seq=1), timeout=10)
        watched = next(m.event for m in watch if m.event.id == document.id)
        watch.cancel()
        answers = [viewer.document("seen"), watched,
                   viewer.layouts.ListDocuments(layout.ListDocumentsRequest()),
                   viewer.log.GetEvent(event_service.GetEventRequest(id=document.id)),
                   viewer.log.ListEvents(event_service.ListEventsRequest())]
        for answer in answers:
            self.assertNotIn(b"Invoice 12345", answer.SerializeToString(), type(answer).__name__)
        self.assertEqual(answers[0].layout_fingerprint, document.layout_fingerprint)
        self.assertEqual(watched.document_ingested.document.sha256, document.sha256)


class Corrections(PdfCase):
    """Values that a captured correction and a lookup take from documents."""

    def test_correction_is_filled_in_from_the_document(self):
        """FR-002: a correction that names only its document has its layout and its text."""
        document = self.client.ingest("doc", pdf_data.small()).document
        event = self.client.capture(event_type=LINE, document_id="doc", after_json='{"qty":12}')
        self.assertEqual(event.layout_fingerprint, document.layout_fingerprint)
        self.assertEqual(json.loads(event.meta_json)["input_snippet"], document.input_snippet)
        example = self.client.examples(document.layout_fingerprint).examples[0]
        self.assertEqual((example.id, example.input_snippet),
                         (event.id, document.input_snippet))
        profile = self.client.profile(document.layout_fingerprint)
        self.assertEqual((profile.seen_count, profile.example_count, profile.feedback_count),
                         (1, 1, 1))
        self.assertEqual(profile.updated_at, event.created_at)

    def test_fields_of_the_caller_are_kept(self):
        self.client.ingest("doc", pdf_data.small())
        own = self.client.capture(event_type=LINE, document_id="doc", layout_fingerprint="mine",
                                  after_json='{"qty":1}', meta_json='{"input_snippet":"my text","a":1}')
        self.assertEqual(own.layout_fingerprint, "mine")
        self.assertEqual(json.loads(own.meta_json), {"input_snippet": "my text", "a": 1})
        more = self.client.capture(event_type=LINE, document_id="doc", after_json='{"qty":1}',
                                   meta_json='{"model": "m-1"}')
        self.assertEqual(set(json.loads(more.meta_json)), {"model", "input_snippet"})
        unknown = self.client.capture(event_type=LINE, document_id="unknown", after_json='{"q":1}')
        self.assertFalse(unknown.HasField("layout_fingerprint"))
        self.assertEqual(unknown.meta_json, "")

    def test_corrections_of_a_batch_are_filled_in(self):
        document = self.client.ingest("doc", pdf_data.small()).document
        ids = [e.id for e in self.client.feedback.BatchCaptureFeedbackEvents(
            feedback_service.BatchCaptureFeedbackEventsRequest(events=[
                feedback.FeedbackEvent(event_type=LINE, document_id="doc", actor_user_id="ada",
                                       after_json='{"qty":%d}' % i) for i in range(3)])).events]
        found = self.client.examples(document.layout_fingerprint)
        self.assertEqual([e.id for e in found.examples], ids[::-1])

    def test_a_profile_made_later_starts_with_the_counts(self):
        """Corrections may come before the first document of their layout."""
        content = pdf_data.small()
        fingerprint = self.admin.ingest("ahead-" + secrets.token_hex(4),
                                        content).document.layout_fingerprint
        for i in range(2):
            self.client.capture(event_type=LINE, layout_fingerprint=fingerprint,
                                after_json='{"qty":%d}' % i)
        self.client.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED,
                            layout_fingerprint=fingerprint, after_json='{"customer_id":"c"}')
        self.assert_code(grpc.StatusCode.NOT_FOUND, self.client.profile, fingerprint)
        profile = self.client.ingest("late", content).profile
        self.assertEqual((profile.seen_count, profile.example_count, profile.feedback_count),
                         (1, 2, 3))

    def examples(self, fingerprint, **fields):
        reply = self.client.examples(fingerprint, **fields)
        return reply.withheld, len(reply.examples), reply.hint_examples_json

    def test_examples_are_withheld_from_scans(self):
        """Examples are withheld according to the named document, or according to a profile with only scans."""
        scan = self.client.ingest("scan", pdf_data.read(pdf_data.SCAN)).document
        fingerprint = scan.layout_fingerprint
        self.client.capture(event_type=LINE, document_id="scan", after_json='{"qty":1}')
        withheld = (prompt_service.WITHHELD_SCAN, 0, "")
        self.assertEqual(self.examples(fingerprint), withheld)
        self.assertEqual(self.examples(fingerprint, document_id="scan"), withheld)

        text = self.client.ingest("text", pdf_data.small()).document
        self.client.capture(event_type=LINE, document_id="text", after_json='{"qty":2}')
        served = self.examples(text.layout_fingerprint)
        self.assertEqual(served[:2], (prompt_service.WITHHELD_UNSPECIFIED, 1))
        self.assertEqual(self.examples(text.layout_fingerprint, document_id="text",
                                       include_own=True), served)
        self.assertEqual(self.examples(text.layout_fingerprint, document_id="scan"), withheld)
        self.assertEqual(self.examples(fingerprint, document_id="text", include_own=True)[:2],
                         (prompt_service.WITHHELD_UNSPECIFIED, 1))
        self.assertEqual(self.examples(fingerprint, document_id="unknown"), withheld)


if __name__ == "__main__":
    main()
