#!/usr/bin/python3
"""The log engines: `erratad --log journal`, the default, and `--log lmdb`.

Goal: the engine may be changed at any start, also after a kill, and no acknowledged write is lost; copies contain data
that is only in memory. Method: real servers that are killed and started with each engine.
"""
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

from erratad import BIN, Server, admin, feedback, feedback_service, main

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
NEW_STORE = "journal"  # the engine of a store whose first start does not name one
ENGINES = {"lmdb": admin.LOG_ENGINE_KIND_LMDB, "journal": admin.LOG_ENGINE_KIND_JOURNAL}


class Journal(unittest.TestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.data, True)
        self.stored = []

    def start(self, engine, expected=None, data=None, arguments=()):
        """Starts a server with the engine; `own` selects the store's."""
        server = Server(data=data or self.data, arguments=arguments,
                        environment={"ERRATA_LOG": "" if engine == "own" else engine}).start()
        self.addCleanup(server.close)
        client = server.client()
        info = client.admin.GetServerInfo(admin.GetServerInfoRequest())
        self.assertEqual(info.log_engine, ENGINES[expected or engine])
        return server, client

    def capture(self, client, count):
        for _ in range(count):
            event = client.capture(event_type=LINE, layout_fingerprint="journal", entity_id=str(len(self.stored)),
                                   after_json='{"qty":%d}' % len(self.stored))
            self.stored.append(event.id)

    def expect_stored(self, client):
        found = [event.id for event in client.events() if event.HasField("feedback_event")]
        self.assertEqual(sorted(found), sorted(self.stored))

    def back_up(self, server):
        subprocess.run([os.path.join(BIN, "errata"), "admin", "backup", "--force", os.path.join(self.data, "backup"),
                        "--server", server.address, "--token-file", os.path.join(self.data, "admin.token")], check=True,
                       capture_output=True, timeout=120)

    def verify(self, server):
        done = subprocess.run([os.path.join(BIN, "errata"), "admin", "verify", "--server", server.address, "--token-file",
                               os.path.join(self.data, "admin.token")], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "HOME": self.data})
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("everything holds", done.stdout)

    def test_engine_may_change_at_any_start(self):
        for engine in ("journal", "lmdb", "journal", "journal", "lmdb"):
            server, client = self.start(engine)
            self.expect_stored(client)
            self.capture(client, 20)
            self.expect_stored(client)
            self.assertEqual(bool(glob.glob(os.path.join(self.data, "journal", "*"))), engine == "journal")
            client.close()
            server.kill9()
        server, client = self.start("lmdb")
        self.expect_stored(client)
        self.verify(server)

    def test_store_keeps_its_engine(self):
        """The engine without --log: after a kill, a clean end or a change, in a restored backup, and of a
        new store."""
        server, client = self.start("own", NEW_STORE)
        server.stop()
        for engine in ("journal", "lmdb"):
            server, client = self.start(engine)
            self.capture(client, 3)
            server.kill9()
            for end in (Server.kill9, Server.stop):
                server, client = self.start("own", engine)
                self.expect_stored(client)
                if engine == "journal" and end == Server.kill9:
                    self.assertRegex(server.read_log(), r"stored \d+ commits in the tables that an earlier process")
                self.capture(client, 3)
                if end == Server.stop:
                    self.back_up(server)
                end(server)
            restored = os.path.join(self.data, "restored")
            subprocess.run([os.path.join(BIN, "erratad"), "--restore", os.path.join(self.data, "backup"), "--data",
                            restored], check=True, capture_output=True, timeout=120)
            shutil.copy(os.path.join(self.data, "admin.token"), restored)
            server, client = self.start("own", engine, restored)
            self.expect_stored(client)
            server.close()
            shutil.rmtree(restored)

    def test_size_of_segments_may_change_at_any_start(self):
        """Also while commits are only in segments of another size. A batch larger than a segment is stored."""
        for size, count in (("64KiB", 60), ("1MiB", 20), ("64KiB", 1)):
            server, client = self.start("journal", arguments=["--journal-segment-size", size])
            self.expect_stored(client)
            batch = client.feedback.BatchCaptureFeedbackEvents(feedback_service.BatchCaptureFeedbackEventsRequest(
                events=[feedback.FeedbackEvent(event_type=LINE, entity_id=f"{size}-{i}", after_json='{"qty":"%s"}' % ("9" * 1500))
                        for i in range(count)]))
            self.stored += [event.id for event in batch.events]
            files = glob.glob(os.path.join(self.data, "journal", "*"))
            self.assertEqual(max(os.path.getsize(path) for path in files) > 64 << 10, count > 1)
            server.kill9()

    def test_change_of_the_engine_is_logged(self):
        server, client = self.start("lmdb")
        server.stop()
        for engine, before in (("journal", "lmdb"), ("lmdb", "journal")):
            server, client = self.start(engine)
            self.assertIn(f"the log engine of {self.data} is {engine} now; it was {before}", server.read_log())
            self.capture(client, 1)
            server.stop()
            server, client = self.start(engine)
            self.assertNotIn("the log engine of", server.read_log())
            server.kill9()

    def test_verification_has_what_is_in_memory(self):
        server, client = self.start("journal")
        server.wait_for_day_of_use(client)
        self.capture(client, 50)
        self.verify(server)
        self.expect_stored(client)
        self.capture(client, 1)
        self.assertLess(server.counters(client)["journal_waiting_commits"], 2)

    def test_idle_journal_is_stored(self):
        server, client = self.start("journal")
        self.capture(client, 5)
        server.wait_until_stored(client)
        self.expect_stored(client)
        self.assertEqual(server.stop(), 0)
        server, client = self.start("journal")
        self.expect_stored(client)

    def test_offline_commands_store_the_journal_first(self):
        server, client = self.start("journal")
        self.capture(client, 30)
        client.close()
        server.kill9()
        done = subprocess.run([os.path.join(BIN, "erratad"), "--rebuild", "--data", self.data], capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done)
        server, client = self.start("lmdb")
        self.expect_stored(client)

    def test_damaged_journal_is_refused(self):
        server, client = self.start("journal")
        self.capture(client, 30)
        client.close()
        server.kill9()
        with open(os.path.join(self.data, "journal", "0"), "r+b") as f:
            whole = f.read(1 << 20)
            first = 8192 + 16 + int.from_bytes(whole[8196:8200], "big")
            f.seek(first + 20)
            f.write(bytes([whole[first + 20] ^ 0xff]))
        for engine in ("journal", "lmdb"):
            done = subprocess.run([os.path.join(BIN, "erratad"), "--data", self.data, "--listen", "127.0.0.1:0", "--log",
                                   engine], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 65, done)
            self.assertRegex(done.stderr, r"commit \d+ of the journal is damaged")


if __name__ == "__main__":
    main()
