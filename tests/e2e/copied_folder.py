#!/usr/bin/python3
"""Data folders that were copied by hand.

Goal: a copy of a folder that a server has open is recognised at its start: a consistent copy is served
with a warning, one that mixes states is refused with the remedy; no other folder counts as such a copy.
Method: real servers and `cp`, with and without concurrent writes; slow copies made by hand, with commits
between their pieces.
"""
import os
import shutil
import subprocess
import tempfile
import threading
import unittest

from erratad import BIN, DATA_FILES, Server, admin, feedback, feedback_service, main

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
META_BYTES = 2 * 4096
COPY = "made while a server was writing"
EXIT_DAMAGED = 65


class CopiedFolder(unittest.TestCase):
    def setUp(self):
        self.parent = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.parent, ignore_errors=True)
        self.server = Server(data=self.path("data")).start()
        self.addCleanup(self.server.close)
        self.written = 0
        self.client = self.server.client()
        self.capture(20)

    def path(self, *names):
        return os.path.join(self.parent, *names)

    def capture(self, count):
        for _ in range(count):
            self.written += 1
            self.client.capture(event_type=LINE, layout_fingerprint=f"layout-{self.written % 5}",
                                after_json='{"n":%d,"text":"%s"}' % (self.written, "x" * 500))

    def copy(self, name="copy"):
        """Copies again if a file was renamed meanwhile, as a new segment of a journal is: cp reports that."""
        while subprocess.run(["cp", "-r", self.path("data"), self.path(name)], stderr=subprocess.DEVNULL,
                             check=False).returncode != 0:
            shutil.rmtree(self.path(name))
        return self.path(name)

    def served(self, data):
        """Starts a server on the folder, checks that it serves and that its store is intact; returns its log."""
        with Server(data=data) as server:
            client = server.client()
            report = list(client.admin.Verify(admin.VerifyRequest(), timeout=120))[-1].report
            self.assertTrue(report.clean, report)
            count = len(client.events())
            client.capture(event_type=LINE, after_json='{"n":1}')
            client.close()
            self.assertEqual(server.stop(), 0)
            return server.read_log(), count

    def refused(self, data):
        """Returns the output of a start on the folder, which must end with the status for a damaged store."""
        run = subprocess.run([os.path.join(BIN, "erratad"), "--data", data, "--listen",
                              "127.0.0.1:0"], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, EXIT_DAMAGED, run.stderr)
        self.assertIn(COPY, run.stderr)
        self.assertIn("`errata admin backup FILE`", run.stderr)
        self.assertIn("`erratad --restore FILE --data DIR`", run.stderr)
        return run.stderr

    def test_copy_of_an_idle_server_is_served_with_one_warning(self):
        """A consistent copy is served, with one warning; afterwards it is an independent store."""
        log, count = self.served(self.copy())
        self.assertIn(COPY, log)
        self.assertIn("errata admin backup", log)
        self.assertIn("the copy is consistent", log)
        self.assertGreaterEqual(count, 20)
        self.assertNotIn(COPY, self.served(self.path("copy"))[0])

    def copy_slowly(self, cut):
        """A copy whose bytes after the first `cut` are read some commits later."""
        with open(self.path("data", "db", "data.mdb"), "rb") as f:
            first = f.read(cut)
            data = self.copy()
            for _ in range(3):  # LMDB does not reuse pages of the commit before the last one
                self.capture(20)
                self.server.wait_until_stored(self.client)
            rest = f.read()
        with open(os.path.join(data, "db", "data.mdb"), "wb") as f:
            f.write(first + rest)
        return data

    def test_torn_copy_is_refused(self):
        """A copy with pages of several commits is refused at each start, and unchanged."""
        data = self.copy_slowly(META_BYTES)
        with open(os.path.join(data, "db", "data.mdb"), "rb") as f:
            before = f.read()
        self.refused(data)
        self.refused(data)
        with open(os.path.join(data, "db", "data.mdb"), "rb") as f:
            self.assertEqual(f.read(), before)

    def test_copy_with_inconsistent_rows_is_found(self):
        """The pages are consistent: only the comparison with the log shows it."""
        self.server.wait_until_stored(self.client)
        data = self.copy()
        subprocess.run([os.path.join(BIN, "damage_row"), data, "example", "missing", "3"],
                       check=True, capture_output=True)
        for _ in range(2):
            self.assertIn("rows that differ: 1", self.refused(data))
        self.assertEqual(set(os.listdir(data)), DATA_FILES - {"address"})
        subprocess.run([os.path.join(BIN, "erratad"), "--rebuild", "--data", data], check=True,
                       capture_output=True, timeout=60)
        self.assertNotIn(COPY, self.served(data)[0])

    def test_copy_during_writes_is_whole_or_refused(self):
        """`cp -r` under load, repeatedly: each copy is served completely, or refused."""
        stop = threading.Event()

        def write():
            client = self.server.client()
            while not stop.is_set():
                client.feedback.CaptureFeedbackEvent(feedback_service.CaptureFeedbackEventRequest(
                    event=feedback.FeedbackEvent(event_type=LINE, actor_user_id="ada", layout_fingerprint="busy",
                                                 after_json='{"text":"%s"}' % ("y" * 3000))))
            client.close()

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            copies = [self.copy(f"copy-{n}") for n in range(4)]
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        for data in copies:
            server = Server(data=data)
            try:
                server.start()
            except RuntimeError:
                server.log.close()
                server.process = None
                self.refused(data)
            else:
                self.assertIn(COPY, server.read_log())
                client = server.client()
                self.assertTrue(list(client.admin.Verify(admin.VerifyRequest(), timeout=120))[-1]
                                .report.clean)
                client.close()
            finally:
                server.close()

    def test_restored_backup_is_not_a_copy(self):
        """A backup that was taken while the store was open is restored as an independent store."""
        file = self.path("backup")
        subprocess.run([os.path.join(BIN, "errata"), "admin", "backup", file, "--server",
                        self.server.address, "--token-file", self.path("data", "admin.token")],
                       check=True, capture_output=True, timeout=60)
        subprocess.run([os.path.join(BIN, "erratad"), "--restore", file, "--data",
                        self.path("restored")], check=True, capture_output=True, timeout=60)
        with Server(data=self.path("restored")) as server:
            self.assertNotIn(COPY, server.read_log())

    def test_folder_moved_after_a_clean_end_opens(self):
        self.client.close()
        self.assertEqual(self.server.stop(), 0)
        log, count = self.served(self.copy())
        self.assertNotIn(COPY, log)
        self.assertGreaterEqual(count, 20)

    def test_folder_moved_after_a_kill_opens(self):
        """A folder whose process was killed does not count as a copy, in its place or moved."""
        self.client.close()
        self.server.kill9()
        os.rename(self.path("data"), self.path("moved"))
        self.assertNotIn(COPY, self.served(self.path("moved"))[0])

    def test_folder_copied_after_a_kill_is_checked_and_served(self):
        """Such a copy cannot be distinguished from a copy of a running server, so it is checked, and then served."""
        self.client.close()
        self.server.kill9()
        log, count = self.served(self.copy())
        self.assertIn("the copy is consistent", log)
        self.assertGreaterEqual(count, 20)
        self.assertNotIn(COPY, self.served(self.path("data"))[0])

    def test_snapshot_of_the_volume_opens(self):
        """A snapshot of the file system on other blocks: the files are the same."""
        image, mounted = self.path("image"), self.path("mounted")
        os.mkdir(mounted)
        mount = ["unshare", "-m", "sh", "-e", "-c"]
        script = """
            erratad=$1 image=$2 at=$3
            truncate -s 64M "$image"
            mkfs.ext4 -q "$image"
            mount -o loop "$image" "$at"
            "$erratad" --data "$at/data" --listen 127.0.0.1:0 >"$image.1.out" 2>&1 &
            while ! test -s "$at/data/address"; do sleep 0.05; done
            sync -f "$at"
            cp "$image" "$image.2"
            kill -9 $!
            wait || true
            umount "$at"
            mount -o loop "$image.2" "$at"
            "$erratad" --data "$at/data" --listen 127.0.0.1:0 >"$image.out" 2>&1 &
            while ! grep -qs "serving on" "$image.out"; do sleep 0.05; done
            kill -TERM $!
            wait $!
            cat "$image.out"
        """
        if subprocess.run(
                [*mount, 'truncate -s 1M "$0" && mkfs.ext4 -q "$0" && mount -o loop "$0" "$1"',
                 image, mounted], capture_output=True, check=False).returncode != 0:
            self.skipTest("mounting an image needs privileges that this process lacks")
        run = subprocess.run([*mount, script, "sh", os.path.join(BIN, "erratad"), image, mounted],
                             capture_output=True, text=True, timeout=100)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        self.assertIn("serving on", run.stdout)
        self.assertNotIn(COPY, run.stdout)


if __name__ == "__main__":
    main()
