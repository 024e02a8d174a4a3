#!/usr/bin/python3
"""Data folders of earlier formats, as the programs of their time wrote them (tests/data/stores).

Goal: a server opens each of them, rebuilds its tables, and returns the replies of the earlier program; a kill
during the rebuild loses nothing. Method: a folder is unpacked, served, verified and compared with the
replies that were stored with it, after starts that are killed at many points.
"""
import gzip
import hashlib
import json
import os
import shutil
import struct
import subprocess
import tempfile
import time
import unittest

from erratad import (BIN, DATA_FILES_OF_OLD_STORE, ROOT, Server, admin, event_service, feedback, feedback_service, layout,
                     main)
from errata.v1.example_grouping_pb2 import EXAMPLE_GROUPING_DOCUMENT, EXAMPLE_GROUPING_EVENT

STORES = os.path.join(ROOT, "tests", "data", "stores")
SECONDS = 120
KILLED_AFTER = (0.005, 0.01, 0.02, 0.03, 0.05, 0.08)  # seconds


def pages(call, request, field):
    """All items of a list."""
    found = []
    while True:
        reply = call(request)
        found.extend(getattr(reply, field))
        if not reply.next_page_token:
            return found
        request.page_token = reply.next_page_token


def examples_of(client, wanted, grouping):
    """The examples of the recorded layouts."""
    examples = {}
    for name in wanted["examples"]:
        reply = client.examples(name, max_examples=10, grouping=grouping)
        examples[name] = [[e.id for e in reply.examples], reply.hint_examples_json]
    return examples


def answers_of(client, wanted):
    """An organisation's data as its admin reads it now, in the recorded form."""
    more = {}
    if "document_examples" in wanted:
        more["document_examples"] = examples_of(client, wanted, EXAMPLE_GROUPING_DOCUMENT)
    return {
        **more,
        "name": wanted["name"],
        "token": wanted["token"],
        "events": [[e.id, e.seq] for e in pages(
            client.log.ListEvents, event_service.ListEventsRequest(), "events")],
        "feedback_events": [e.id for e in pages(
            client.feedback.ListFeedbackEvents, feedback_service.ListFeedbackEventsRequest(),
            "events")],
        "examples": examples_of(client, wanted, EXAMPLE_GROUPING_EVENT),
        "documents": [[d.id, d.document_id, d.layout_fingerprint] for d in pages(
            client.layouts.ListDocuments, layout.ListDocumentsRequest(), "documents")],
        "profiles": [[p.layout_fingerprint, p.seen_count, p.feedback_count, p.example_count]
                     for p in pages(client.layouts.ListProfiles, layout.ListProfilesRequest(),
                                    "profiles")],
    }


FORMAT = 9  # store format of the tested programs


class Kept:
    """A kept store of a format, and the replies of the program that wrote it."""

    VERSION = 0

    @property
    def folder(self):
        return os.path.join(STORES, f"v{self.VERSION}")

    def setUp(self):
        self.data = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)
        os.mkdir(os.path.join(self.data, "db"), 0o700)
        with gzip.open(os.path.join(self.folder, "data.mdb.gz")) as packed, \
                open(os.path.join(self.data, "db", "data.mdb"), "wb") as f:
            shutil.copyfileobj(packed, f)
        shutil.copy(os.path.join(self.folder, "admin.token"), self.data)
        with open(os.path.join(self.folder, "answers.json"), encoding="utf-8") as f:
            self.answers = json.load(f)
        self.server = Server(data=self.data)
        self.addCleanup(self.server.close)

    def check_answers(self):
        client = self.server.client()
        self.addCleanup(client.close)
        self.assertEqual(sorted(o.name for o in pages(
            client.admin.ListOrganizations, admin.ListOrganizationsRequest(), "organizations")),
            self.answers["organizations"])
        for wanted in self.answers["orgs"]:
            own = self.server.client(wanted["token"])
            self.addCleanup(own.close)
            self.assertEqual(answers_of(own, wanted), wanted)
        report = list(client.admin.Verify(admin.VerifyRequest(), timeout=SECONDS))[-1].report
        self.assertTrue(report.clean, report)
        self.assertEqual(set(os.listdir(self.data)), DATA_FILES_OF_OLD_STORE)


class Upgrade(Kept):
    """Tests for each earlier format."""

    @property
    def announced(self):
        return f"has format version {self.VERSION}, this program's is {FORMAT}"

    def test_old_store_is_rebuilt_once(self):
        self.server.start()
        self.check_answers()
        events = sum(len(wanted["events"]) for wanted in self.answers["orgs"])
        log = self.server.read_log()
        self.assertIn(self.announced, log)
        self.assertRegex(log, r"rebuilt the tables of \d+ organisations from \d+ events")
        own = self.server.client(self.answers["orgs"][0]["token"])
        self.addCleanup(own.close)
        event = own.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
                            layout_fingerprint="layout-0", before_json='{"qty":1}',
                            after_json='{"qty":2}')
        self.assertEqual(own.examples("layout-0", max_examples=1).examples[0].id, event.id)
        self.assertGreaterEqual(events, 100)
        self.assertEqual(self.server.stop(), 0)
        self.server.start()
        self.assertEqual(self.server.read_log().count("rebuilt the tables"), log.count("rebuilt the tables"))

    def test_killed_rebuild_is_repeated(self):
        for seconds in KILLED_AFTER:
            process = subprocess.Popen(
                [os.path.join(BIN, "erratad"), "--data", self.data, "--listen", "127.0.0.1:0"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(seconds)
            process.kill()
            process.wait()
        self.server.start()
        self.check_answers()

    def test_backup_of_an_old_store_is_rebuilt(self):
        """A backup that an earlier program made is restored, and rebuilt by the start. Its layout is
        written here once more, by store/FORMAT.md."""
        path, data = os.path.join(self.data, "backup"), os.path.join(self.data, "restored")
        with open(os.path.join(self.data, "db", "data.mdb"), "rb") as f:
            store = f.read()
        file = b"errata-backup 1\n" + struct.pack(">IIQ32x", self.VERSION, 0, 1700000000 * 1000000) + store
        file += b"errata-backup .\n" + struct.pack(">Q8x", len(file) + 64)
        with open(path, "wb") as f:
            f.write(file + hashlib.sha256(file).digest())
        done = subprocess.run([os.path.join(BIN, "erratad"), "--restore", path, "--data", data],
                              capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("2023-11-14T22:13:20Z", done.stdout)
        self.assertIn(f"format version {self.VERSION}", done.stdout)
        shutil.copy(os.path.join(self.folder, "admin.token"), data)
        self.server.close()
        self.data, self.server = data, Server(data=data)
        self.addCleanup(self.server.close)
        self.server.start()
        self.check_answers()
        self.assertIn(self.announced, self.server.read_log())

    def test_rebuild_command_accepts_an_old_store(self):
        done = subprocess.run([os.path.join(BIN, "erratad"), "--rebuild", "--data", self.data],
                              capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(done.returncode, 0, done)
        self.server.start()
        self.check_answers()
        self.assertNotIn("format version", self.server.read_log())


class Version3(Upgrade, unittest.TestCase):
    """Captures of many types, some of them backfilled, supersessions, more examples than a head has marks, an
    example whose snippet and output the sanitiser changes, extractions that cite examples, mappings and settings;
    organisations and tokens, one of them revoked."""

    VERSION = 3


class Version4(Upgrade, unittest.TestCase):
    """The events of version 3, and documents."""

    VERSION = 4


class Version5(Upgrade, unittest.TestCase):
    """The events of version 4, and documents with one correction or several, one of them superseded and one
    retracted: their examples have the same bytes after the rebuild."""

    VERSION = 5


class Version6(Upgrade, unittest.TestCase):
    """The events of version 5, more corrections, and reviews; the tables of conversations and decisions are missing."""

    VERSION = 6


class Version7(Upgrade, unittest.TestCase):
    """A store of version 6 with the tables that the next version rebuilt; the table of retention is missing."""

    VERSION = 7


class Version8(Upgrade, unittest.TestCase):
    """The store of version 7, with the tables as rebuilt by the next version; those of dead letters and quotas are
    missing, and the heads of logs do not count bytes."""

    VERSION = 8


class ThisVersion(Kept, unittest.TestCase):
    """A store that was kept when the format was raised. If its tables or rows are others now, the format must be raised
    again, and a store of the earlier program be kept."""

    VERSION = FORMAT

    def test_store_of_this_format_is_opened_as_it_is(self):
        self.server.start()
        self.check_answers()
        self.assertNotIn("rebuilt the tables", self.server.read_log())


class Refused(unittest.TestCase):
    """A store with events that this program can't read is refused with the reason at each start, and is
    unchanged."""

    def check_refused(self, name, reason, change=lambda content: content):
        data = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, data, ignore_errors=True)
        path = os.path.join(data, "db", "data.mdb")
        os.mkdir(os.path.dirname(path), 0o700)
        with gzip.open(os.path.join(STORES, name, "data.mdb.gz")) as packed, open(path, "wb") as f:
            f.write(change(packed.read()))
        for arguments in (["--listen", "127.0.0.1:0"], ["--rebuild"]):
            done = subprocess.run([os.path.join(BIN, "erratad"), "--data", data, *arguments],
                                  capture_output=True, text=True, timeout=SECONDS)
            self.assertEqual(done.returncode, 65, done)
            self.assertRegex(done.stderr, reason)
            self.assertEqual(set(os.listdir(os.path.join(data, "db"))), {"data.mdb", "lock.mdb", "state"})

    def test_documents_of_version_3_are_refused(self):
        self.check_refused("v3_documents", r"event 59 of the organisation .* has format version 3, which this "
                                           r"program supports only without documents; expected .*--data")

    def test_decisions_of_version_7_are_refused(self):
        self.check_refused("v7_decisions", r"event 3 of the organisation .* has format version 7, which this "
                                           r"program supports only without decisions; expected .*--data")

    def test_damaged_events_of_other_versions_are_refused(self):
        """An event that cannot be applied is damage, unless its version is known to lack the required data: a
        store marked as version 4 or 6, with a decision of version 7."""
        for version in (b"\4", b"\6"):
            self.check_refused("v7_decisions", r"event 3 of the organisation .* cannot rebuild tables from it; restore",
                               lambda content, version=version: content.replace(b"format\x08\7",
                                                                                b"format\x08" + version))


if __name__ == "__main__":
    main()
