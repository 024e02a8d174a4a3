#!/usr/bin/python3
"""Every document of tests/data/pdf: its pages as in the manifest, and the same measures each time.

Goal: measures depend only on the bytes. Method: all files by one organisation, one after
the other; then in the other order, eight at a time, under other names, by another organisation.
"""
import concurrent.futures
import unittest

import grpc

import pdf_data
from erratad import Server, main, roles
from errata.v1 import warning_pb2

MEASURES = ("layout_fingerprint", "page_count", "page_dimensions", "table_count",
            "text_coverage_ratio", "text_chars", "pages_read", "warnings", "fp_version",
            "input_snippet", "sha256", "size_bytes")
AT_ONCE = 8


def is_timed(row):
    """Returns whether the limit that such a file reaches depends on the machine; pdf_hostile.py tests those."""
    return "timeout" in row["note"]


def answer(client, document_id, row):
    """Returns the measures, or the reason why there are none."""
    try:
        document = client.ingest(document_id, pdf_data.read(row["path"]), timeout=100).document
    except grpc.RpcError as e:
        return e.code(), e.details()
    return {name: str(getattr(document, name)) for name in MEASURES}, document


def measures_of(answered):
    return answered[0] if isinstance(answered[0], dict) else answered


class Corpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().start().wait_for_pdf()
        cls.admin = cls.server.client()
        cls.rows = [row for row in pdf_data.rows() if not is_timed(row)]
        cls.first = {row["path"]: answer(cls.admin, row["path"], row) for row in cls.rows}

    @classmethod
    def tearDownClass(cls):
        cls.admin.close()
        code = cls.server.stop()
        log = cls.server.read_log()
        cls.server.close()
        assert code == 0 and "Sanitizer" not in log and "unexpected" not in log, log[-4000:]

    def documents(self, *without):
        for row in self.rows:
            if row["kind"] not in ("hostile", "malformed", *without):
                yield row, self.first[row["path"]]

    def test_page_counts_equal_the_manifest(self):
        """Compares the number of pages, and the size of the first one after its rotation."""
        for row, answered in self.documents():
            if row["page_count"] == "encrypted":
                continue
            with self.subTest(path=row["path"]):
                self.assertIsInstance(answered[0], dict, answered)
                document = answered[1]
                self.assertEqual(document.page_count, int(row["page_count"]))
                self.assertEqual(len(document.page_dimensions), document.page_count)
                for found, wanted in zip((document.page_dimensions[0].width,
                                          document.page_dimensions[0].height),
                                         pdf_data.first_page_size(row)):
                    self.assertAlmostEqual(found, wanted, delta=0.0051)

    def test_only_scans_have_no_text(self):
        for row, answered in self.documents("encrypted"):
            with self.subTest(path=row["path"]):
                document = answered[1]
                is_scan = warning_pb2.WARNING_CODE_SCAN in [w.code for w in document.warnings]
                self.assertEqual(is_scan, row["kind"] == "scanned")
                self.assertEqual(document.text_chars == 0, is_scan)
                # The coverage of a page with one or two lines also rounds to 0.
                self.assertTrue(document.text_coverage_ratio == 0 or not is_scan)
                self.assertTrue(document.layout_fingerprint)

    def test_generated_invoices_have_their_tables(self):
        """For nearly all one-page invoices, the number of tables equals the number drawn."""
        wanted = [(int(row["tables_expected"]), answered[1].table_count)
                  for row, answered in self.documents()
                  if row["layout_group"].startswith("gen-") and row["page_count"] == "1"]
        self.assertGreater(len(wanted), 40)
        wrong = [pair for pair in wanted if pair[0] != pair[1]]
        self.assertLessEqual(len(wrong), 2, wrong)

    def test_the_same_bytes_have_the_same_measures(self):
        """SC-002, under load, in another order, for another organisation, under other names."""
        org = self.admin.create_org("other")
        client = self.server.client(self.admin.create_token(roles.ROLE_SERVICE,
                                                            org_id=org.id).secret)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            again = dict(pool.map(
                lambda row: (row["path"], answer(client, "again " + row["path"], row)),
                reversed(self.rows)))
        client.close()
        for path, answered in self.first.items():
            self.assertEqual(measures_of(again[path]), measures_of(answered), path)


if __name__ == "__main__":
    main()
