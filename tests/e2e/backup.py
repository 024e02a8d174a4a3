#!/usr/bin/python3
"""Backup and restore, through the real programs.

Goal: a backup that is taken while others write has everything that was acknowledged before it, and is a
whole store once restored; cut off anywhere, neither leaves half of anything; a client that does not read
costs the server nothing for long. Method: writers beside it; programs stopped and killed; small disks.
"""
import filecmp
import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
import unittest

import grpc

from erratad import BIN, Server, admin, feedback, feedback_service, leave_free, main, roles, wait_until

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
SECONDS = 120  # time limit for busy machines
NOTE = "x" * 5000
EDGE = 64  # bytes of a backup's header, and of its trailer
STALL_SECONDS = 30  # server/app/backup.h


def fill(client, batches):
    """Writes batches of half a megabyte each."""
    for batch in range(batches):
        client.feedback.BatchCaptureFeedbackEvents(feedback_service.BatchCaptureFeedbackEventsRequest(events=[
            feedback.FeedbackEvent(event_type=LINE, actor_user_id="ada", layout_fingerprint=f"b-{batch % 7}",
                                   entity_type="line", entity_id=str(i % 40),
                                   after_json='{"qty":%d,"note":"%s"}' % (batch + i, NOTE))
            for i in range(100)]))


def command(server, *words, token=None):
    return [os.path.join(BIN, "errata"), *words, "--server", server.address, "--token-file",
            token or os.path.join(server.data, "admin.token")]


def run(arguments, **options):
    return subprocess.run(arguments, capture_output=True, timeout=SECONDS,
                          env={**os.environ, "HOME": tempfile.gettempdir()}, **options)


def restore(path, data):
    return run([os.path.join(BIN, "erratad"), "--restore", path, "--data", data], text=True)


FILLED = {}  # number of batches: the data folder of a stopped server that has them


def filled(batches):
    """Fills a data folder once; tests copy it, which takes a tenth of the time."""
    if batches not in FILLED:
        data = tempfile.mkdtemp(prefix="errata-test-")
        unittest.addModuleCleanup(shutil.rmtree, data, True)
        with Server(data=data) as server:
            client = server.client()
            fill(client, batches)
            client.close()
        FILLED[batches] = data
    return FILLED[batches]


class Case(unittest.TestCase):
    """A separate folder, and a server with a store larger than all buffers between server and
    client."""

    BATCHES = 40
    ARGUMENTS = ()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        data = shutil.copytree(filled(self.BATCHES), self.path("data"))
        self.server = Server(data=data, arguments=self.ARGUMENTS).start()
        self.addCleanup(self.server.close)
        self.client = self.server.client()
        self.addCleanup(self.client.close)

    def path(self, name):
        return os.path.join(self.folder, name)

    def back_up(self, *words, name="b"):
        return run(command(self.server, "admin", "backup", self.path(name), *words), text=True)

    def started(self, path, token):
        """A server on a restored folder, and a client; both are removed at the end."""
        server = Server(data=path).start()
        self.addCleanup(server.close)
        client = server.client(token)
        self.addCleanup(client.close)
        return server, client

    def assert_whole(self, server, token_server):
        done = run(command(server, "admin", "verify",
                           token=os.path.join(token_server.data, "admin.token")), text=True)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("everything holds", done.stdout)

    def assert_no_file(self, name="b"):
        self.assertFalse(os.path.exists(self.path(name)))
        self.assertFalse(os.path.exists(self.path(name + ".part")))

    def assert_idle(self):
        """Checks that no snapshot is held, by running another backup."""
        wait_until(lambda: self.back_up("--force", name="next").returncode == 0,
                   "the backup before to end", SECONDS, 0.2)


class Backup(Case):
    def test_backup_under_load_is_consistent(self):
        stop = threading.Event()
        written = []

        def write(number):
            client = self.server.client()
            while not stop.is_set():
                written.append(client.capture(event_type=LINE, layout_fingerprint=f"w-{number}",
                                              after_json='{"qty":5}').id)
            client.close()

        writers = [threading.Thread(target=write, args=(i,)) for i in range(3)]
        for writer in writers:
            writer.start()
        wait_until(lambda: len(written) > 20, "writes", SECONDS)
        before = list(written)
        done = self.back_up()
        during = len(written) - len(before)
        stop.set()
        for writer in writers:
            writer.join()
        self.assertEqual(done.returncode, 0, done)
        self.assertGreater(during, 5)
        path = self.path("b")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.assertFalse(os.path.exists(path + ".part"))
        with open(path, "rb") as f:
            self.assertIn(hashlib.sha256(f.read()).hexdigest(), done.stdout)

        token = self.server.admin_token
        done = restore(path, self.path("restored"))
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("--new-admin-token", done.stdout)
        restored, client = self.started(self.path("restored"), token)
        for number, event_id in enumerate(before):
            client.feedback.GetFeedbackEvent(
                feedback_service.GetFeedbackEventRequest(id=event_id), timeout=20)
        self.assertGreater(number, 10)
        self.assert_whole(restored, self.server)
        client.capture(event_type=LINE, layout_fingerprint="after", after_json='{"qty":1}')

    def test_idempotency_keys_hold_after_a_restore(self):
        """The restored server returns the first response byte for byte, and the same responses to
        all reads."""
        request = feedback_service.CaptureFeedbackEventRequest(event=feedback.FeedbackEvent(
            event_type=LINE, actor_user_id="ada", layout_fingerprint="once", after_json='{"qty":9}'))
        key = [("idempotency-key", "once")]
        first = self.client.feedback.CaptureFeedbackEvent(request, metadata=key)
        self.assertEqual(self.back_up().returncode, 0)
        self.assertEqual(restore(self.path("b"), self.path("restored")).returncode, 0)
        _, client = self.started(self.path("restored"), self.server.admin_token)
        self.assertEqual(client.feedback.CaptureFeedbackEvent(request, metadata=key), first)
        for name in ("once", "b-0", "b-6"):
            listed = feedback_service.ListFeedbackEventsRequest(layout_fingerprint=name, page_size=50)
            self.assertEqual(client.feedback.ListFeedbackEvents(listed).events,
                             self.client.feedback.ListFeedbackEvents(listed).events)

    def test_backup_overwrites_no_file(self):
        """A backup never replaces a file without a request; `-` is a pipe; a refused backup leaves
        no file."""
        with open(self.path("b"), "w", encoding="ascii") as f:
            f.write("mine")
        done = self.back_up()
        self.assertEqual(done.returncode, 4, done)
        self.assertIn("exists; expected a new file, or --force", done.stderr)
        with open(self.path("b"), encoding="ascii") as f:
            self.assertEqual(f.read(), "mine")
        done = self.back_up("--force", "--json")
        self.assertEqual(done.returncode, 0, done)
        report = json.loads(done.stdout)
        self.assertEqual(int(report["sizeBytes"]), os.path.getsize(self.path("b")))
        self.assertEqual(report["file"], self.path("b"))
        piped = run(command(self.server, "admin", "backup", "-"))
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.assertIn(hashlib.sha256(piped.stdout).hexdigest(), piped.stderr.decode())
        done = self.back_up(name="no/such/folder")
        self.assertEqual(done.returncode, 4, done)
        self.assertIn("No such file or directory", done.stderr)
        token = self.path("token")
        with open(token, "w", encoding="ascii", opener=lambda p, f: os.open(p, f, 0o600)) as f:
            f.write(self.client.create_token(roles.ROLE_ADMIN).secret)
        done = run(command(self.server, "admin", "backup", self.path("c"), token=token), text=True)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("server flag", done.stderr)
        self.assert_no_file("c")


class CutOff(Case):
    ARGUMENTS = ("--drain-timeout", "1s")

    def held_command(self):
        """`errata admin backup`, stopped while it receives bytes."""
        process = subprocess.Popen(command(self.server, "admin", "backup", self.path("b")),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        part = self.path("b.part")
        wait_until(lambda: os.path.exists(part) and os.path.getsize(part) > 0, "bytes", SECONDS,
                   0.0005)
        process.send_signal(signal.SIGSTOP)
        self.assertLess(os.path.getsize(part), 10 << 20, "it is through already")
        return process

    def held_stream(self):
        """A stream whose client reads nothing after its first message."""
        call = self.client.admin.Backup(admin.BackupRequest())
        self.assertGreater(len(next(call).data), 0)
        return call

    def test_killed_server_fails_the_backup(self):
        process = self.held_command()
        self.server.kill9()
        process.send_signal(signal.SIGCONT)
        process.wait(SECONDS)
        self.assertEqual(process.returncode, 3, process.stderr.read())
        self.assert_no_file()
        self.server.start()
        self.assert_idle()

    def test_killed_client_does_not_prevent_the_next_backup(self):
        """The incomplete output is not a valid backup, and the next backup can run."""
        process = self.held_command()
        process.kill()
        process.wait()
        self.assertFalse(os.path.exists(self.path("b")))
        self.assertTrue(os.path.exists(self.path("b.part")))
        wait_until(lambda: self.back_up().returncode == 0, "the backup before to end", SECONDS, 0.2)
        self.assertEqual(restore(self.path("b"), self.path("restored")).returncode, 0)
        self.assertFalse(os.path.exists(self.path("b.part")))

    def test_second_backup_is_refused_until_the_first_is_cancelled(self):
        call = self.held_stream()
        with self.assertRaises(grpc.RpcError) as second:
            next(self.client.admin.Backup(admin.BackupRequest()))
        self.assertEqual(second.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)
        self.assertIn("another one is running", second.exception.details())
        self.client.capture(event_type=LINE, layout_fingerprint="beside", after_json='{"qty":1}')
        call.cancel()
        self.assert_idle()

    def test_backup_ends_if_the_client_does_not_read(self):
        """The server ends the backup and releases the snapshot."""
        call = self.held_stream()
        started = time.monotonic()
        for _ in range(5):
            self.client.capture(event_type=LINE, after_json='{"qty":1}')
        self.server.wait_until_stored(self.client)
        self.assertGreater(self.server.counters(self.client)["store_reader_lag_commits"], 3)
        wait_until(lambda: "backup ended (DEADLINE)" in self.server.read_log(),
                   "its end", SECONDS, 0.2)
        self.assertGreater(time.monotonic() - started, STALL_SECONDS - 5)
        wait_until(lambda: self.server.counters(self.client)["store_reader_lag_commits"] < 3,
                   "the snapshot to go", SECONDS)
        with self.assertRaises(grpc.RpcError) as end:
            list(call)
        self.assertEqual(end.exception.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        self.assertIn("client too slow", end.exception.details())
        self.assert_idle()

    def test_stopping_server_ends_the_backup(self):
        call = self.held_stream()
        self.server.terminate()
        self.assertEqual(self.server.wait(), 0)
        self.server.log.close()
        self.server.process = None
        with self.assertRaises(grpc.RpcError):
            list(call)

    def test_killed_restore_is_repeated(self):
        """Each time the folder has no store, or the whole store."""
        self.assertEqual(self.back_up().returncode, 0)
        data = self.path("restored")
        whole = 0
        for step in range(12):
            process = subprocess.Popen(
                [os.path.join(BIN, "erratad"), "--restore", self.path("b"), "--data", data],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if step % 2:
                wait_until(lambda: os.path.exists(os.path.join(data, "db.new")) or
                           process.poll() is not None, "its copy", SECONDS, 0.0005)
            time.sleep(step / 100)
            process.kill()
            process.wait()
            names = os.listdir(data) if os.path.exists(data) else []
            if "db" in names:
                whole += 1
                self.assertEqual(names, ["db"])
                shutil.move(data, self.path(f"whole{whole}"))
            else:
                self.assertLessEqual(set(names), {"db.new"})
        done = restore(self.path("b"), data)
        self.assertEqual(done.returncode, 0, done)
        for n in range(whole):
            self.assertTrue(filecmp.cmp(self.path(f"whole{n + 1}/db"), self.path("restored/db"), shallow=False))
        server, _ = self.started(data, self.server.admin_token)
        self.assert_whole(server, self.server)


class Refused(Case):
    BATCHES = 2

    def test_damaged_backup_is_refused(self):
        self.assertEqual(self.back_up().returncode, 0)
        path, data = self.path("b"), self.path("restored")
        os.truncate(path, os.path.getsize(path) - EDGE)
        done = restore(path, data)
        self.assertEqual(done.returncode, 65, done)
        self.assertIn("incomplete", done.stderr)
        self.assertFalse(os.path.exists(data))

    def test_folder_that_is_not_empty_is_refused(self):
        self.assertEqual(self.back_up().returncode, 0)
        done = restore(self.path("b"), self.server.data)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("not empty", done.stderr)
        self.assertEqual(self.server.stop(), 0)
        self.assertEqual(restore(self.path("b"), self.server.data).returncode, 1)
        self.server.start()
        self.assert_whole(self.server, self.server)

    def test_damage_names_both_commands(self):
        self.assertEqual(self.server.stop(), 0)
        with open(os.path.join(self.server.data, "db", "data.mdb"), "r+b") as f:
            f.write(b"\xa5" * 16384)
        done = run([os.path.join(BIN, "erratad"), "--data", self.server.data, "--listen",
                    "127.0.0.1:0"], text=True)
        self.assertEqual(done.returncode, 65, done)
        self.assertIn("`erratad --restore FILE --data DIR`", done.stderr)
        self.assertIn("`errata admin backup FILE`", done.stderr)
        self.server.process = None


class SmallDisk(Case):
    SIZE_MB = 160

    def setUp(self):
        self.small = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.small, True)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.SIZE_MB}m,mode=700", "tmpfs",
                           self.small], capture_output=True).returncode != 0:
            self.skipTest("no right to mount a small disk")
        self.addCleanup(subprocess.run, ["umount", self.small], check=False)
        super().setUp()

    def leave(self, size_mb):
        leave_free(self.small, size_mb << 20)

    def test_full_disk_leaves_no_backup_file(self):
        self.leave(5)
        path = os.path.join(self.small, "b")
        done = run(command(self.server, "admin", "backup", path), text=True)
        self.assertEqual(done.returncode, 4, done)
        self.assertIn("No space left", done.stderr)
        self.assertEqual(os.listdir(self.small), ["ballast"])
        self.assert_idle()

    def test_full_disk_leaves_no_restored_store(self):
        self.assertEqual(self.back_up().returncode, 0)
        self.leave(50)
        data = os.path.join(self.small, "restored")
        done = restore(self.path("b"), data)
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stderr, r"no room to restore: it needs \d+ MiB, and \d+ MiB are free")
        self.assertEqual(os.listdir(self.small), ["ballast"])
        os.unlink(os.path.join(self.small, "ballast"))
        self.assertEqual(restore(self.path("b"), data).returncode, 0)

    def test_server_with_a_full_disk_can_be_backed_up(self):
        """A backup can still be created, and restored on a disk with free space."""
        data = os.path.join(self.small, "store")
        os.mkdir(data, 0o700)
        full = Server(data=data).start()
        self.addCleanup(full.close)
        client = full.client()
        self.addCleanup(client.close)
        fill(client, 4)
        kept = client.capture(event_type=LINE, layout_fingerprint="kept", after_json='{"qty":1}')
        self.leave(0)
        done = run(command(full, "admin", "backup", self.path("f")), text=True)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(restore(self.path("f"), self.path("restored")).returncode, 0)
        server, other = self.started(self.path("restored"), full.admin_token)
        other.feedback.GetFeedbackEvent(feedback_service.GetFeedbackEventRequest(id=kept.id))
        self.assert_whole(server, full)


if __name__ == "__main__":
    main()
