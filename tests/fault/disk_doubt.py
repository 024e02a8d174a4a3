#!/usr/bin/python3
"""A write in doubt is made durable before it is acknowledged.

A server dies, or exits with 75, before its last commit is on the disk. The next one finds the commit in
the kernel's memory, and a repeat under the same key finds its event. If it were answered OK without a
sync, a power cut could lose an acknowledged write. Method: disk_shim.c ends the server at the meta
page's write, and power_cut keeps only the calls of the journal that were durable when the repeat was
answered.
"""
import os
import shutil
import tempfile
import time
import unittest
import unittest.mock

import disk_fixture
import power_cut
from erratad import main
from power_chain import BEGIN, RECORD, RENAME, SYNC, WRITE

IS_SYNCED = 1
CAPTURES = 3
SLOW_MS = 100


def calls_in(journal):
    """Every call: (what, flags, number, inode, the new name of a rename)."""
    with open(journal, "rb") as f:
        content = f.read()
    at = 0
    while at + RECORD.size <= len(content):
        _, call, phase, flags, _, number, file, _, size, _, path, other = RECORD.unpack_from(content, at)
        at += RECORD.size + path + other
        if phase == BEGIN:
            yield call, flags, number, file, content[at - other:at].decode()
        at += size


def commits_in(journal):
    """The numbers of the calls that wrote a meta page."""
    return [number for call, flags, number, *_ in calls_in(journal)
            if call == WRITE and flags & IS_SYNCED]


class Doubt(unittest.TestCase):
    def setUp(self):
        self.disk = disk_fixture.Disk()
        self.addCleanup(self.disk.close)

    def start(self, **how):
        server = disk_fixture.FaultServer()
        self.addCleanup(server.close)
        load = disk_fixture.Load([disk_fixture.Step("capture", [f"n{i}"]) for i in range(CAPTURES)],
                               self.disk)
        self.go_on(server, load, **how)
        return server, load

    def go_on(self, server, load, **how):
        code = server.launch(self.disk.environment(server.data, journal=True, **how))
        self.assertIsNone(code, server.read_log())
        load.client = server.client()
        self.addCleanup(load.client.close)

    def last_commit(self):
        """The number of the call that finishes the last capture, as an undisturbed run counts."""
        server, load = self.start()
        for step in load.steps:
            self.assertTrue(load.do(step))
        server.kill9()
        number = commits_in(self.disk.journal)[-1]
        with open(self.disk.journal, "w", encoding="ascii"):
            pass
        return number

    def doubt(self, code, **how):
        """The last capture gets no answer, the next server gives it, and then the power is cut. Without a journal, whose
        thread makes the numbers of calls differ between runs."""
        server, load = self.start(**how)
        for step in load.steps[:-1]:
            self.assertTrue(load.do(step))
        self.assertFalse(load.do(load.steps[-1]))
        self.assertEqual(server.take_exit(), code)
        self.go_on(server, load)
        self.assertTrue(load.do(load.steps[-1]), load.refusals)
        server.kill9()
        self.assertEqual(power_cut.check_answers(self.disk, load, CAPTURES), [])

    @unittest.mock.patch.dict(os.environ, {"ERRATA_LOG": "lmdb"})
    def test_commit_is_decided_after_a_kill_within_it(self):
        self.doubt(-9, crash=f"{self.last_commit()}:within")

    @unittest.mock.patch.dict(os.environ, {"ERRATA_LOG": "lmdb"})
    def test_a_commit_that_failed_and_was_done(self):
        self.doubt(disk_fixture.EXIT_STORE, fail=f"{self.last_commit()}:1:done")

    def test_a_folder_that_was_made_and_not_synced(self):
        """A start that finds the data folder cannot know that its name is on the disk."""
        parent = tempfile.mkdtemp(prefix="errata-parent-")
        self.addCleanup(shutil.rmtree, parent)
        server = disk_fixture.FaultServer(os.path.join(parent, "store"))
        self.addCleanup(server.close)
        self.assertEqual(server.launch(self.disk.environment(parent, crash="1:after", journal=True)),
                         -9)
        self.assertEqual(os.listdir(parent), ["store"])
        self.assertIsNone(server.launch(self.disk.environment(parent, journal=True)))
        server.kill9()
        self.assertIn(os.stat(parent).st_ino,
                      [file for call, _, _, file, _ in calls_in(self.disk.journal) if call == SYNC])

    def test_a_segment_that_was_named_and_not_synced(self):
        """A journal's file whose name is not durable takes no acknowledged commit. Method: a kill within its rename; then
        slow syncs, so that no later file makes the name durable before the answers."""
        with unittest.mock.patch.dict(os.environ, {"ERRATA_LOG": "journal"}):
            server, load = self.start()
            server.kill9()
            rename = next(number for call, _, number, _, name in calls_in(self.disk.journal)
                          if call == RENAME and name == "journal/0")
            self.disk.forget_journal()
            server = disk_fixture.FaultServer()
            self.addCleanup(server.close)
            how = self.disk.environment(server.data, journal=True, crash=f"{rename}:within")
            self.assertEqual(server.launch(how), -9)
            self.assertEqual(os.listdir(os.path.join(server.data, "journal")), ["0"])
            self.disk.turn("slow", text=f"{SLOW_MS} journal")
            self.go_on(server, load)
            for step in load.steps:
                self.assertTrue(load.do(step))
            server.kill9()
        self.assertEqual(power_cut.check_answers(self.disk, load, CAPTURES), [])

    def wait_until_quiet(self):
        """Returns once the server has made no call to the disk for half a second."""
        calls = -1
        for _ in range(20):
            before, calls = calls, os.path.getsize(self.disk.journal)
            if calls == before:
                return
            time.sleep(0.5)
        self.fail("the server does not stop writing")

    def test_disk_that_lies_is_seen(self):
        """Tests the check itself: if syncs do nothing, a power cut loses acknowledged writes. A sync that began before
        is a real one, so none may be under way."""
        server, load = self.start()
        self.assertTrue(load.do(load.steps[0]))
        self.wait_until_quiet()
        self.disk.turn("lie")
        for step in load.steps[1:]:
            self.assertTrue(load.do(step))
        server.kill9()
        problems = power_cut.check_answers(self.disk, load, CAPTURES)
        self.assertEqual(sum("LOST" in problem for problem in problems), 1 + 2, problems)


if __name__ == "__main__":
    main()
