#!/usr/bin/python3
"""Verify and rebuild, through the real programs.

Goal: an intact store is reported as such, during any writes; each damage is found and named; a
rebuild repairs all repairable damage and changes nothing else; no files remain. Method: rows
changed bypassing the server; the verifying child held, killed and crashed; a small disk.
"""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import grpc

from erratad import (BIN, DATA_FILES, Server, admin, children, event_service, feedback, feedback_service, leave_free,
                     layout, main, wait_until)

ERRATA = os.path.join(BIN, "errata")
LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
SECONDS = 120  # time limit: machines are busy, and the child has the lowest priority
DAMAGED = 5  # exit code of `errata admin verify`
OOM_SCORE = 800  # score that the child sets for itself (server/app/verify_child.c)


def fill(client, batches, prefix="v"):
    """Captures several hundred events, with entities that supersede each other."""
    for batch in range(batches):
        client.feedback.BatchCaptureFeedbackEvents(feedback_service.BatchCaptureFeedbackEventsRequest(events=[
            feedback.FeedbackEvent(
                event_type=LINE, actor_user_id="ada", layout_fingerprint=f"{prefix}-{i % 3}", entity_type="line",
                entity_id=f"{i % 40}", document_id=f"{prefix}-{batch}",
                before_json='{"qty":1,"unit":"Stk"}', after_json='{"qty":%d}' % (batch + i))
            for i in range(100)]))


def cli(server, *words):
    return subprocess.run(
        [ERRATA, "admin", "verify", *words, "--server", server.address, "--token-file",
         os.path.join(server.data, "admin.token")], capture_output=True, text=True,
        timeout=SECONDS, env={**os.environ, "HOME": server.data})


def report_of(server):
    """(exit code, the last message's report)."""
    done = cli(server, "--json")
    return done.returncode, json.loads(done.stdout.splitlines()[-1]).get("report")


def rebuild(data, *options):
    return subprocess.run([os.path.join(BIN, "erratad"), "--rebuild", "--data", data, *options],
                          capture_output=True, text=True, timeout=SECONDS)


def damage(server, table, how, number):
    """Changes a row of a stopped server's store; its key in hex."""
    return subprocess.run([os.path.join(BIN, "damage_row"), server.data, table, how, str(number)],
                          capture_output=True, text=True, timeout=SECONDS,
                          check=True).stdout.strip()


def verifying_child(server):
    """Waits until the child has set its score; from then on it also ends with its parent. Its priority
    does not show this, since these tests may run at the lowest one themselves."""
    for pid in children(server.process.pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f, \
                    open(f"/proc/{pid}/oom_score_adj", encoding="ascii") as score:
                if b"--verify-copy" in f.read() and int(score.read()) == OOM_SCORE:
                    return pid
        except OSError:
            pass
    return None


def has_ended(pid):
    """The process that inherits it may leave it as a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def answers(client):
    """The bytes of every read's response, except parts that differ in each response."""
    found = []

    def all_pages(call, request):
        while True:
            page = call(request)
            found.append(page.SerializeToString(deterministic=True))
            if not page.next_page_token:
                return page
            request.page_token = page.next_page_token

    all_pages(client.admin.ListOrganizations, admin.ListOrganizationsRequest(page_size=7))
    all_pages(client.admin.ListTokens, admin.ListTokensRequest(page_size=7))
    all_pages(client.layouts.ListDocuments, layout.ListDocumentsRequest(page_size=7))
    all_pages(client.layouts.ListProfiles, layout.ListProfilesRequest(page_size=7))
    all_pages(client.log.ListEvents, event_service.ListEventsRequest(page_size=100))
    for name in ("v-0", "v-1", "v-2"):
        all_pages(client.feedback.ListFeedbackEvents, feedback_service.ListFeedbackEventsRequest(
            layout_fingerprint=name, page_size=100))
        examples = client.examples(name, max_examples=10)
        examples.exposure_ref = ""  # contains the time of the response
        found.append(examples.SerializeToString(deterministic=True))
    return found


class Running(unittest.TestCase):
    """A running server."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server().start()
        cls.client = cls.server.client()
        fill(cls.client, 20)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.close()

    def folder_is_gone(self):
        return not os.path.exists(os.path.join(self.server.data, "verify"))

    def held(self, call):
        """The stopped child of a running verification."""
        next(call)
        child = wait_until(lambda: verifying_child(self.server), "the child", SECONDS, 0.001)
        os.kill(child, signal.SIGSTOP)
        return child

    def start_held(self):
        """A verification whose child is stopped before it has come to its end."""
        call = self.client.admin.Verify(admin.VerifyRequest())
        return call, self.held(call)

    def assert_whole_again(self):
        """A cancelled verification leaves nothing, and the next one reports no damage."""
        wait_until(self.folder_is_gone, "the copy to go", SECONDS)
        code, report = report_of(self.server)
        self.assertEqual((code, report["clean"]), (0, True), report)

    def test_store_verifies_during_writes(self):
        stop = threading.Event()
        written = []

        def write(number):
            client = self.server.client()
            while not stop.is_set():
                written.append(client.capture(
                    event_type=LINE, layout_fingerprint=f"v-{number}", entity_type="line",
                    entity_id=str(len(written) % 50), after_json='{"qty":5}'))
            client.close()

        writers = [threading.Thread(target=write, args=(i,)) for i in range(3)]
        for writer in writers:
            writer.start()
        before = len(written)
        done = cli(self.server)
        during = len(written) - before
        stop.set()
        for writer in writers:
            writer.join()
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("everything holds (organisations 1, events 2", done.stdout)
        self.assertGreater(during, 10)
        wait_until(self.folder_is_gone, "the copy to go", SECONDS)

    def test_second_verification_is_refused_until_the_first_is_cancelled(self):
        call, child = self.start_held()
        with self.assertRaises(grpc.RpcError) as second:
            next(self.client.admin.Verify(admin.VerifyRequest()))
        self.assertEqual(second.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)
        self.assertIn("another one is running", second.exception.details())
        call.cancel()
        wait_until(lambda: has_ended(child), "the child's end", SECONDS)
        self.assert_whole_again()

    def test_killed_child_fails_the_verification(self):
        call, child = self.start_held()
        os.kill(child, signal.SIGKILL)
        with self.assertRaises(grpc.RpcError) as end:
            list(call)
        self.assertEqual(end.exception.code(), grpc.StatusCode.UNAVAILABLE)
        self.assertIn("signal 9", end.exception.details())
        self.assert_whole_again()

    def test_ended_child_fails_the_verification(self):
        """A child that ended for another reason, such as a closed terminal, has found no damage."""
        call, child = self.start_held()
        os.kill(child, signal.SIGHUP)
        os.kill(child, signal.SIGCONT)
        with self.assertRaises(grpc.RpcError) as end:
            list(call)
        self.assertEqual(end.exception.code(), grpc.StatusCode.UNAVAILABLE)
        self.assertIn("signal 1", end.exception.details())
        self.assert_whole_again()

    def test_crashed_child_is_a_finding(self):
        """Damage that crashes the child is reported as damage."""
        call, child = self.start_held()
        os.kill(child, signal.SIGILL)
        os.kill(child, signal.SIGCONT)
        report = list(call)[-1].report
        self.assertFalse(report.clean)
        self.assertIn("signal 4", report.damage)
        self.assert_whole_again()

    def test_verification_needs_the_server_flag(self):
        org = self.client.create_org("without the flag").id
        token = self.client.create_token(6, org_id=org).secret
        client = self.server.client(token)
        with self.assertRaises(grpc.RpcError) as end:
            next(client.admin.Verify(admin.VerifyRequest()))
        self.assertEqual(end.exception.code(), grpc.StatusCode.PERMISSION_DENIED)
        client.close()


class Stopped(unittest.TestCase):
    """A store that is damaged and repaired while no server runs."""

    def setUp(self):
        self.server = Server().start()
        self.client = self.server.client()

    def tearDown(self):
        self.client.close()
        self.server.close()

    def stop(self):
        self.client.close()
        self.assertEqual(self.server.stop(), 0)

    def start(self):
        self.server.start()
        self.client = self.server.client()

    def test_damage_is_named_and_mended(self):
        request = feedback_service.CaptureFeedbackEventRequest(event=feedback.FeedbackEvent(
            event_type=LINE, actor_user_id="ada", layout_fingerprint="v-0", after_json='{"qty":9}'))
        key = [("idempotency-key", "once")]
        fill(self.client, 3)
        first = self.client.feedback.CaptureFeedbackEvent(request, metadata=key).event
        self.client.create_token(1)
        before = answers(self.client)
        self.assertEqual(rebuild(self.server.data).returncode, 1)  # the store is in use by a server
        self.stop()
        for table, how in (("event_id", "missing"), ("counter", "other"), ("entity", "extra"),
                           ("token", "other"), ("org_head", "other"), ("idempotency", "missing")):
            damage(self.server, table, how, 0)
        data = self.server.data
        done = rebuild(data)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("rebuilt the tables of 1 organisations", done.stdout)
        for name in ("db.old", "rebuild"):
            self.assertFalse(os.path.exists(os.path.join(data, name)))
        self.start()
        self.assertEqual(answers(self.client), before)
        again = self.client.feedback.CaptureFeedbackEvent(request, metadata=key).event
        self.assertEqual(again, first)
        self.assertEqual(report_of(self.server)[1]["clean"], True)
        self.stop()
        planted = {
            ("MISSING", "event_id", damage(self.server, "event_id", "missing", 7)),
            ("OTHER", "counter", damage(self.server, "counter", "other", 0)),
            ("EXTRA", "entity", damage(self.server, "entity", "extra", 30)),
        }
        self.start()
        code, report = report_of(self.server)
        self.assertEqual(code, DAMAGED)
        self.assertEqual({(d["kind"].removeprefix("VERIFY_DIFFERENCE_KIND_"), d["table"],
                           d["keyHex"]) for d in report["differences"]}, planted)
        self.assertEqual(report["differenceCount"], "3")
        shown = cli(self.server)
        self.assertEqual(shown.returncode, DAMAGED)
        self.assertIn("3 of them", shown.stdout)
        for _, _, key_hex in planted:
            self.assertIn(key_hex, shown.stdout)

    def test_a_broken_log_is_unchanged(self):
        fill(self.client, 1)
        self.stop()
        damage(self.server, "event", "other", 40)
        done = rebuild(self.server.data)
        self.assertEqual(done.returncode, 65, done)
        self.assertIn("event 41 of the organisation", done.stderr)
        self.assertIn("The store is unchanged", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.server.data, "rebuild")))
        self.start()
        code, report = report_of(self.server)
        self.assertEqual(code, DAMAGED)
        self.assertEqual(report["brokenEvent"]["seq"], "41")
        self.assertIn("hash", report["brokenEvent"]["reason"])
        self.assertNotIn("differences", report)

    def test_full_map_of_a_rebuild_is_named(self):
        """The error names the full resource: a flag enlarges a map, but not a disk."""
        for batch in range(14):
            self.client.feedback.BatchCaptureFeedbackEvents(feedback_service.BatchCaptureFeedbackEventsRequest(events=[
                feedback.FeedbackEvent(event_type=LINE, actor_user_id="ada", layout_fingerprint=f"v-{batch}",
                                       after_json='{"note":"%s"}' % ("x" * 9000))
                for _ in range(100)]))
        before = answers(self.client)
        self.stop()
        done = rebuild(self.server.data, "--map-size", "16MiB")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("--map-size", done.stderr)
        self.assertIn("16 MiB", done.stderr)
        self.assertIn("The store is unchanged", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.server.data, "rebuild")))
        self.assertEqual(rebuild(self.server.data).returncode, 0)
        self.start()
        self.assertEqual(answers(self.client), before)

    def test_interrupted_rebuild_leaves_a_whole_store(self):
        """A killed rebuild or server leaves a complete store, and no other files."""
        fill(self.client, 20)
        before = answers(self.client)
        call = self.client.admin.Verify(admin.VerifyRequest())
        next(call)
        child = wait_until(lambda: verifying_child(self.server), "the child", SECONDS, 0.001)
        os.kill(child, signal.SIGSTOP)
        self.server.kill9()
        self.client.close()
        wait_until(lambda: has_ended(child), "the child's end", SECONDS)
        self.assertTrue(os.path.exists(os.path.join(self.server.data, "verify")))
        for delay in (0.02, 0.2, 0.5):
            process = subprocess.Popen([os.path.join(BIN, "erratad"), "--rebuild", "--data",
                                        self.server.data], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(delay)
            process.kill()
            process.wait()
        self.start()
        self.assertEqual(answers(self.client), before)
        self.assertEqual(set(os.listdir(self.server.data)), DATA_FILES)


class SmallDisk(unittest.TestCase):
    def test_verification_without_disk_space_fails(self):
        folder = tempfile.mkdtemp(prefix="errata-test-")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128m,mode=700", "tmpfs",
                                  folder], capture_output=True).returncode == 0
        server = Server(data=folder)
        try:
            if not mounted:
                self.skipTest("no right to mount a small disk")
            server.start()
            leave_free(folder, 1 << 20)
            done = cli(server)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("no room to verify", done.stderr)
            self.assertIn("MiB are free", done.stderr)
            self.assertEqual(server.stop(), 0)
            done = rebuild(folder)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("no room for the new store", done.stderr)
        finally:
            server.close()
            if mounted:
                subprocess.run(["umount", folder], check=False)
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
