#!/usr/bin/python3
"""The text of documents through a real client and the command line: the contract of include_text.

Goal: a pipeline gets the text of all pages with the response, in the form of examples, on every
attempt, for any document. Method: one erratad with its PDF worker, stock gRPC, an organisation for
each test; documents of the corpus and some that are made here.
"""
import json
import os
import secrets
import subprocess
import tempfile

import grpc

import make_hostile
import pdf_data
from erratad import ServerCase, layout, main, pieces, reason_of, roles
from errata.v1 import warning_pb2

ERRATA = os.path.join(os.environ["ERRATA_BIN"], "errata")
MIB = 1 << 20
LONG = "table-truth/eu-004.pdf"
TRUNCATED = warning_pb2.WARNING_CODE_TEXT_TRUNCATED


def many_pages(pages, line, lines):
    """A document of pages with the same lines of text."""
    make = make_hostile.Maker(0)
    content = b"BT /F1 4 Tf 10 7900 Td 5 TL " + (b"(" + line + b") Tj T* ") * lines + b"ET"
    kids = b" ".join(b"%d 0 R" % (10 + i) for i in range(pages))
    objects = {1: make_hostile.CATALOG,
               2: b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, kids),
               4: (b"", content),
               5: make_hostile.FONT}
    for i in range(pages):
        objects[10 + i] = (b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 2000 8000] /Resources << /Font "
                           b"<< /F1 5 0 R >> >> /Contents 4 0 R >>")
    return make.pdf(objects)


class Text(ServerCase):
    def setUp(self):
        self.org = self.admin.create_org("text-" + secrets.token_hex(4))
        self.token = self.admin.create_token(roles.ROLE_ADMIN, org_id=self.org.id).secret
        self.client = self.server.client(self.token)
        self.addCleanup(self.client.close)

    def ingest(self, document_id, content, metadata=None, **fields):
        request = layout.IngestDocumentRequest(document_id=document_id, content=content,
                                               include_text=True, **fields)
        return self.client._when_there_is_time(
            lambda: self.client.layouts.IngestDocument(request, metadata=metadata))

    def assert_begins_as_the_snippet(self, reply):
        self.assertEqual(reply.text.text[:1500], reply.document.input_snippet)

    def test_text_of_all_pages_begins_as_the_snippet(self):
        """Documents of one page and of many, in several scripts: whole, and equal to the snippet."""
        for path in (pdf_data.INVOICE, LONG, "script/arabic.pdf", "script/noembed-sjis.pdf",
                     "rotated/gen-L01-0-rot90.pdf"):
            with self.subTest(path):
                reply = self.ingest(path, pdf_data.read(path))
                self.assert_begins_as_the_snippet(reply)
                self.assertEqual(reply.text.pages_read, reply.document.page_count)
                self.assertEqual(list(reply.text.warnings), [])
        self.assertGreater(len(reply.document.input_snippet), 0)
        reply = self.ingest(LONG, pdf_data.read(LONG))
        self.assertGreater(reply.text.pages_read, reply.document.pages_read)
        self.assertGreater(len(reply.text.text), reply.document.text_chars)

    def test_the_stored_document_does_not_depend_on_it(self):
        """The stored data is the same with and without include_text; only the response differs."""
        content = pdf_data.read(LONG)
        plain = self.client.ingest("plain", content)
        self.assertFalse(plain.HasField("text"))
        with_text = self.ingest("with text", content).document
        for name in ("layout_fingerprint", "layout_family_id", "pages_read", "text_chars", "input_snippet",
                     "warnings"):
            self.assertEqual(getattr(with_text, name), getattr(plain.document, name), name)
        stored = self.client.document("with text")
        self.assertEqual(stored, with_text)

    def test_a_repeat_returns_the_text_again(self):
        """With a key and without one, by one message and by a stream; a key keeps its flag."""
        content = pdf_data.read(pdf_data.INVOICE)
        metadata = [("idempotency-key", "key-1")]
        first = self.ingest("invoice", content, metadata)
        for repeat in (self.ingest("invoice", content, metadata), self.ingest("invoice", content)):
            self.assertEqual(repeat.text, first.text)
            self.assertEqual(repeat.document, first.document)
        self.assertEqual(first.profile.seen_count, 1)

        def named():
            for i, piece in enumerate(pieces("invoice", content, None, 4096)):
                piece.include_text = i == 0
                yield piece
        self.assertEqual(self.client.layouts.IngestDocumentStream(named()).text, first.text)
        self.assert_code(grpc.StatusCode.ALREADY_EXISTS, self.client.ingest, "invoice", content,
                         metadata=metadata)

    def test_text_is_cut_at_a_mebibyte(self):
        """Characters of 3 bytes, so that the cut would fall into one."""
        reply = self.ingest("large", many_pages(60, b"\\267" * 300, 30))
        text = reply.text.text.encode()
        self.assertTrue(MIB - 3 < len(text) <= MIB, len(text))
        self.assertTrue(1 < reply.text.pages_read < 60)
        self.assertEqual([w.code for w in reply.text.warnings], [TRUNCATED])
        self.assertIn("cut at 1 MiB", reply.text.warnings[0].message)
        self.assertEqual(list(reply.document.warnings), [])
        self.assert_begins_as_the_snippet(reply)

    def test_text_that_takes_too_long_ends_after_a_page(self):
        """Page 1 is read in time, page 2 is not: the document is stored like one without the text, with the part that
        was read."""
        make = make_hostile.Maker(0)
        page = (b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font "
                b"<< /F1 5 0 R >> >> /Contents %d 0 R >>")
        hello = b"BT /F1 4 Tf 10 700 Td 5 TL " + b"(Invoice 12345) Tj T* " * 120 + b"ET"
        bomb = make_hostile.bomb(b" " * make_hostile.MIB, 3000)
        content = make.pdf({1: make_hostile.CATALOG,
                            2: b"<< /Type /Pages /Count 2 /Kids [3 0 R 6 0 R] >>",
                            3: page % 4, 4: (b"", hello), 5: make_hostile.FONT,
                            6: page % 7, 7: (b"/Filter /FlateDecode", bomb)})
        reply = self.ingest("bomb", content)
        self.assertEqual(len(reply.document.layout_fingerprint), 64)
        self.assertEqual(reply.text.pages_read, 1)
        self.assertEqual([w.code for w in reply.text.warnings], [TRUNCATED])
        self.assertIn("has 1 of 2 pages", reply.text.warnings[0].message)
        self.assert_begins_as_the_snippet(reply)

    def test_scanned_document_has_an_empty_text(self):
        """A scan has an empty text; a repaired document has one; a wrong password is refused as before."""
        reply = self.ingest("scan", pdf_data.read(pdf_data.SCAN))
        self.assertTrue(reply.HasField("text"))
        self.assertEqual((reply.text.text, reply.text.pages_read), ("", reply.document.page_count))
        damaged = pdf_data.small().replace(b"startxref", b"startxxxx")
        reply = self.ingest("damaged", damaged)
        self.assertEqual([w.code for w in reply.document.warnings], [warning_pb2.WARNING_CODE_DAMAGED])
        self.assertEqual(reply.text.text.strip(), "Invoice 12345")
        content = pdf_data.read(pdf_data.ENCRYPTED)
        with self.assertRaises(grpc.RpcError) as caught:
            self.ingest("encrypted", content)
        self.assertEqual(reason_of(caught.exception), "ENCRYPTED")
        password = pdf_data.PASSWORDS[pdf_data.ENCRYPTED][0]
        reply = self.ingest("encrypted", content, password=password)
        self.assertGreater(len(reply.text.text.strip()), 0)
        self.assert_begins_as_the_snippet(reply)

    def run_ingest(self, *words, code=0):
        """`errata layouts ingest` with these arguments; returns (standard output, standard error)."""
        with tempfile.NamedTemporaryFile("w", suffix=".token") as token_file:
            token_file.write(self.token)
            token_file.flush()
            environment = {**os.environ, "ERRATA_SERVER": self.server.address,
                           "ERRATA_TOKEN_FILE": token_file.name}
            ran = subprocess.run([ERRATA, "layouts", "ingest", *words], env=environment,
                                 capture_output=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
        self.assertEqual(ran.returncode, code, ran.stderr)
        return ran.stdout.decode(), ran.stderr.decode()

    def test_command_prints_or_writes_the_text(self):
        """One text on standard output, many in a folder, in lines of JSON; a folder that fails is named."""
        invoice, scan, long_one = (os.path.join(pdf_data.FOLDER, path)
                                   for path in (pdf_data.INVOICE, pdf_data.SCAN, LONG))
        text = self.ingest("gen-L00-0", pdf_data.read(pdf_data.INVOICE)).text.text
        out, said = self.run_ingest("--text", "-", invoice)
        self.assertEqual(out, text)
        self.assertIn("1 of 1 stored", said)
        with tempfile.TemporaryDirectory() as folder:
            texts = os.path.join(folder, "texts")
            large = os.path.join(folder, "large.pdf")
            with open(large, "wb") as f:
                f.write(many_pages(60, b"\\267" * 300, 30))
            for _ in range(2):
                out, _ = self.run_ingest("--text", texts, invoice, scan, long_one, large)
                self.assertEqual(sorted(os.listdir(texts)),
                                 ["eu-004.txt", "gen-L00-0.txt", "large.txt", "scan-1.txt"])
            with open(os.path.join(texts, "gen-L00-0.txt"), encoding="utf-8") as f:
                self.assertEqual(f.read(), text)
            self.assertEqual(os.path.getsize(os.path.join(texts, "scan-1.txt")), 0)
            self.assertEqual([line.split()[-1] for line in out.splitlines() if "large" in line],
                             ["TEXT_TRUNCATED"])
            out, _ = self.run_ingest("--text", texts, "--json", invoice)
            self.assertNotIn("text", json.loads(out))
            out, _ = self.run_ingest("--text", "-", "--json", invoice, scan)
            replies = [json.loads(line) for line in out.splitlines()]
            self.assertEqual({reply["file"]: reply["text"].get("text", "") for reply in replies},
                             {invoice: text, scan: ""})
            _, said = self.run_ingest("--text", "-", invoice, scan, code=2)
            self.assertIn("--text FOLDER", said)
            os.mkdir(os.path.join(texts, "gen-L07-3.txt"))
            _, said = self.run_ingest("--text", texts,
                                      os.path.join(pdf_data.FOLDER, "layout/gen-L07-3.pdf"), code=4)
            self.assertIn("it is stored, but", said)
            self.run_ingest("--text", os.path.join(large, "no folder"), invoice, code=4)


if __name__ == "__main__":
    main()
