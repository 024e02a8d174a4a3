#!/usr/bin/python3
"""pdf_hostile.py [--long]: hostile and malformed documents, each with its documented result.

Goal: any document affects only its own call, which is answered with a reason. Method: the files
of make_hostile.py and tests/data/pdf while lookups and good documents of other organisations
continue, and while the worker's children are inspected from outside. The short form omits all
but one of the files that take a job's whole time; --long sends all of both variants.
"""
import collections
import concurrent.futures
import os
import secrets
import sys
import threading
import time
import unittest

import grpc

import make_hostile
import pdf_data
from erratad import (Server, children, feedback, has_retry_info, is_sanitized, main, reason_of, roles,
                     wait_until)

LONG = "--long" in sys.argv
if LONG:
    sys.argv.remove("--long")
SKIPPED = 77

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
AT_ONCE = 6
JOB_SECONDS_MAX = 10  # 8 s of wall-clock time, and 2 s for the response
RSS_GROWTH_KB_MAX = 64 << 10
LOOKUP_SECONDS_MAX = 2  # limit while both cores measure documents in the idle class

# Answers by name: a reason for refusal, or `read` (with a fingerprint), or `cut` (without).
NO_PDF = {"not_a_pdf"}
BROKEN = {"not_a_pdf", "damaged"}
READ = {"read"}
# Poppler abandons a part of the page, or a limit stops it: the order depends on the machine, but
# the text exists.
SHOWN = {"read", "cut"}
# Work that no limit but time or memory bounds, in the text's phase or in the second. The result of a
# child that got too little CPU time is not compared.
TIMED = {"read", "cut", "text_limit", "UNAVAILABLE", "wall_limit"}
ANSWERS = {
    "onebyte": BROKEN, "header-only": BROKEN, "html": NO_PDF, "png": NO_PDF, "zip": NO_PDF,
    "random": NO_PDF, "random-with-header": BROKEN, "trunc-half": BROKEN | {"no_pages"},
    "junk-before-header": READ | BROKEN, "missing-root": BROKEN | READ, "nul-filled": BROKEN,
    "bomb-content-spaces": TIMED, "bomb-content-ops": TIMED, "bomb-double-flate": TIMED,
    "bomb-many-filters": TIMED, "bomb-asciihex-chain": TIMED, "bomb-image-40000": SHOWN,
    "bomb-image-60000": SHOWN, "bomb-image-1bit": SHOWN, "bomb-rle-image": SHOWN,
    "bomb-objstm": TIMED, "jbig2-huge": SHOWN,
    "deep-arrays": TIMED, "deep-arrays-inline": TIMED, "deep-dicts": TIMED | BROKEN,
    "deep-q": SHOWN | {"text_limit"}, "contents-array-1e6": TIMED, "length-lie": READ | BROKEN,
    "tree-self": {"page_unreadable"}, "tree-cycle": READ | {"page_unreadable", "no_pages"},
    "tree-count-lie": {"no_pages", "page_unreadable", "too_many_pages"},
    "tree-count-neg": {"no_pages", "page_unreadable", "read"},
    "tree-deep": READ | {"no_pages", "page_unreadable", "text_limit"},
    "tree-exponential": {"no_pages", "too_many_pages", "page_unreadable", "text_limit"},
    "pages-20000": {"too_many_pages"}, "pages-50000": {"too_many_pages"},
    "form-billion-laughs": TIMED, "tiling-tiny-step": {"cut"}, "tiling-recursive": SHOWN,
    "shading-function": SHOWN, "text-million-glyphs": TIMED, "text-overprint": TIMED,
    "text-one-char-each": TIMED, "type3-self": SHOWN, "cmap-huge-range": TIMED,
    "paths-million": {"cut"}, "rulings-grid": SHOWN, "dash-tiny": SHOWN, "clip-stack": SHOWN,
    "smask-self": SHOWN, "groups-nested": SHOWN,
    "annots-1e5": {"page_unreadable"},  # Poppler refuses pages with so many annotations
}
# Documents that use the whole time of a job.
SLOW = {"bomb-content-spaces", "bomb-content-ops", "bomb-double-flate", "form-billion-laughs",
        "contents-array-1e6"}
# Page 1 exists, and another page does not.
LATER_PAGES_MISSING = {"malformed/Pages-tree-refs.pdf", "hostile/h0-tree-cycle.pdf"}
SLOW_IN_SHORT = {"bomb-double-flate"}


def outcome(client, document_id, content, password=None):
    """Returns the result for a document in one word, and the error or the document."""
    try:
        document = client.ingest(document_id, content, password, timeout=200).document
    except grpc.RpcError as e:
        if e.code() == grpc.StatusCode.INVALID_ARGUMENT:
            return reason_of(e).lower(), e
        return e.code().name, e
    return ("read" if document.HasField("layout_fingerprint") else "cut"), document


def answers_of_row(row):
    """The documented results for a file of tests/data/pdf, from the properties that a reader reports."""
    note = row["note"]
    if row["page_count"] == "encrypted":
        return {"encrypted"}
    if "0 pages" in note:
        return {"no_pages"}
    if row["page_count"] == "damaged":
        return BROKEN
    if row["page1_w"] == "0" or row["path"] in LATER_PAGES_MISSING:
        return {"page_unreadable"}
    if "timeout" in note:
        return TIMED
    return {"cut"} if "path budget" in note else SHOWN


def has_run(pid):
    """Returns whether the kernel has counted CPU time (a tick) for the process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12]) > 0


class Watcher(threading.Thread):
    """Examines the worker's children while it runs: their ages and their scheduling class."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server = server
        self.ended = threading.Event()
        self.first_seen = {}
        self.oldest_seconds = 0
        self.seen = set()
        self.policies = collections.Counter()
        self.rss_kb = 0

    def run(self):
        while not self.ended.wait(0.005):
            now = time.monotonic()
            living = set(self.server.jobs())
            for pid in living - set(self.first_seen):
                self.first_seen[pid] = now
            self.first_seen = {pid: at for pid, at in self.first_seen.items() if pid in living}
            for pid, at in self.first_seen.items():
                self.oldest_seconds = max(self.oldest_seconds, now - at)
                if now - at > 0.01:
                    self.note_policy(pid)
            self.seen |= living
            self.rss_kb = max(self.rss_kb, self.server.rss_kb())

    def note_policy(self, pid):
        """A child makes itself idle first of all; on a busy machine it may wait long for its first turn."""
        try:
            if has_run(pid):
                self.policies[os.sched_getscheduler(pid)] += 1
        except (ProcessLookupError, FileNotFoundError):
            pass  # ended in the meantime


class Beside(threading.Thread):
    """Repeats a call until stopped; records the number of calls, the longest duration, and errors."""

    def __init__(self, call, pause_seconds):
        super().__init__(daemon=True)
        self.call = call
        self.pause_seconds = pause_seconds
        self.ended = threading.Event()
        self.count = 0
        self.longest_seconds = 0
        self.failures = []

    def run(self):
        while not self.ended.wait(self.pause_seconds):
            start = time.monotonic()
            try:
                self.call(self.count)
            except Exception as e:  # every error is reported
                self.failures.append(repr(e))
            self.count += 1
            self.longest_seconds = max(self.longest_seconds, time.monotonic() - start)


class Hostile(unittest.TestCase):
    def setUp(self):
        self.server = Server().start().wait_for_pdf()
        self.addCleanup(self.server.close)
        self.admin = self.server.client()
        self.worker = self.server.worker()

    def client_of_a_new_org(self):
        org = self.admin.create_org("hostile-" + secrets.token_hex(4))
        client = self.server.client(self.admin.create_token(roles.ROLE_SERVICE,
                                                            org_id=org.id).secret)
        self.addCleanup(client.close)
        return client

    def send(self, files):
        """All (name, bytes, allowed answers), some at once, while others continue as before."""
        bad, good, reader = (self.client_of_a_new_org() for _ in range(3))
        fingerprint = good.ingest("good", pdf_data.small()).document.layout_fingerprint
        reader.capture(event_type=LINE, layout_fingerprint="beside", after_json='{"qty":1}')

        def measure_good(number):
            document = good.ingest(f"good-{number}", pdf_data.small(number), timeout=100).document
            assert document.layout_fingerprint == fingerprint, document

        def look_up(_):
            assert len(reader.examples("beside").examples) == 1

        beside = [Watcher(self.server), Beside(look_up, 0.005), Beside(measure_good, 0.05)]
        before_kb = self.server.rss_kb()
        for thread in beside:
            thread.start()
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            answered = list(pool.map(
                lambda file: (*file, *outcome(bad, file[0], file[1])), files))
        for thread in beside:
            thread.ended.set()
            thread.join()
        starved = self.check_answers(bad, answered) + bad.starved + good.starved
        self.check_beside(*beside, before_kb)
        self.assertEqual(self.server.counters(self.admin)["pdf_failed_total"], starved)

    def check_answers(self, client, answered):
        """Checks that each result is as documented; returns the number of documents without CPU
        time."""
        counts = collections.Counter()
        for name, _, allowed, found, detail in answered:
            with self.subTest(file=name):
                self.assertIn(found, allowed, detail)
                counts[found] += 1
                if found in ("read", "cut"):
                    continue
                if found == "UNAVAILABLE":
                    self.assertTrue(has_retry_info(detail))
                else:
                    self.assertTrue(detail.details().startswith(found + ": "), detail.details())
                with self.assertRaises(grpc.RpcError) as stored:
                    client.document(name)
                self.assertEqual(stored.exception.code(), grpc.StatusCode.NOT_FOUND)
        print(f"{len(answered)} files: {dict(counts)}", flush=True)
        return counts["UNAVAILABLE"]

    def check_beside(self, watcher, lookups, goods, before_kb):
        """Checks that other calls were served, children obeyed their limits, and no resources are left."""
        self.assertEqual((lookups.failures, goods.failures), ([], []))
        self.assertGreater(lookups.count, 20)
        self.assertGreater(goods.count, 3)
        self.assertLess(lookups.longest_seconds, LOOKUP_SECONDS_MAX)
        self.assertLess(watcher.oldest_seconds, JOB_SECONDS_MAX)
        self.assertTrue(watcher.seen, "no child was ever looked at")
        self.assertEqual(set(watcher.policies), {os.SCHED_IDLE}, watcher.policies)
        self.assertLess(watcher.rss_kb - before_kb, RSS_GROWTH_KB_MAX)
        self.assertEqual(self.server.worker(), self.worker, "the fork server was started again")
        wait_until(lambda: not children(self.worker), "the last child to end")
        counters = self.server.counters(self.admin)
        self.assertEqual((counters["pdf_jobs_live"], counters["pdf_held_bytes"]), (0, 0))
        print(f"{lookups.count} lookups beside, {lookups.longest_seconds:.3f} s at most; "
              f"{goods.count} good documents; children {watcher.oldest_seconds:.1f} s at most; "
              f"server {before_kb} kB, at most {watcher.rss_kb} kB", flush=True)

    def made(self, variant):
        for file_name, content in make_hostile.files(variant):
            name = file_name.removeprefix(f"h{variant}-").removesuffix(".pdf")
            if content and (LONG or name not in SLOW or (variant == 0 and name in SLOW_IN_SHORT)):
                yield file_name, content, ANSWERS.get(name, READ)

    def test_made_hostile_files_affect_only_their_call(self):
        """Decompression bombs, loops, wrong values and deep nesting, of one size."""
        self.send(list(self.made(0)))

    def test_made_files_of_other_sizes_affect_only_their_call(self):
        self.send(list(self.made(1)))

    def test_found_hostile_files_affect_only_their_call(self):
        """Malformed, hostile and encrypted files of the data folder."""
        self.send([(row["path"], pdf_data.read(row["path"]), answers_of_row(row))
                   for row in pdf_data.rows("malformed", "hostile", "encrypted")
                   if row["bytes"] != "0" and (LONG or "timeout" not in row["note"])])


if __name__ == "__main__":
    if is_sanitized():
        print("skipped: without a sandbox nothing bounds memory; tools/analyze replays these files")
        sys.exit(SKIPPED)
    main()
