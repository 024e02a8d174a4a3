#!/usr/bin/python3
"""One server per data folder, even if files of the folder are removed.

Goal: two processes never write to the same store, and a server whose files are removed damages nothing and acknowledges
no write that would be lost.
Method: real servers on the same folder, with files removed before, while and after the first one starts.
"""
import os
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

import grpc

from erratad import (BIN, Server, admin, children, feedback, feedback_service, health_pb2, main,
                     wait_until)

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
ERRATAD = os.path.join(BIN, "erratad")


def remove(data, *names):
    for name in names:
        os.unlink(os.path.join(data, name))


def start_second(data):
    """Exit status and standard error of another server on the folder."""
    run = subprocess.run([ERRATAD, "--data", data, "--listen", "127.0.0.1:0"],
                         capture_output=True, text=True, timeout=20)
    return run.returncode, run.stderr


def open_files(pid):
    """The paths of a process's descriptors; those that it closes meanwhile are omitted."""
    folder = f"/proc/{pid}/fd"
    paths = []
    for name in os.listdir(folder):
        try:
            paths.append(os.readlink(os.path.join(folder, name)))
        except FileNotFoundError:
            pass
    return paths


class WhileServing(unittest.TestCase):
    def setUp(self):
        self.server = Server().start()
        self.addCleanup(self.server.close)
        self.client = self.server.client()
        self.addCleanup(self.client.close)

    def capture(self, count=1):
        return [self.client.capture(event_type=LINE, layout_fingerprint="one",
                                    after_json=f'{{"n":{n}}}').id for n in range(count)]

    def verify(self, client):
        report = list(client.admin.Verify(admin.VerifyRequest(), timeout=120))[-1].report
        self.assertTrue(report.clean, report)

    def check_refused(self, data=None):
        status, text = start_second(data or self.server.data)
        self.assertEqual(status, 1, text)
        self.assertIn("in use by", text)
        return text

    def check_kept(self, ids):
        """All acknowledged writes are in the store after a restart, and the store is intact."""
        self.client.close()
        self.assertEqual(self.server.stop(), 0)
        self.server.start()
        client = self.server.client()
        self.addCleanup(client.close)
        for wanted in ids:
            client.feedback.GetFeedbackEvent(feedback_service.GetFeedbackEventRequest(id=wanted))
        self.verify(client)

    def test_removed_pid_file_admits_no_second_server(self):
        ids = self.capture(5)
        remove(self.server.data, "errata.pid")
        text = self.check_refused()
        self.assertIn(self.server.data, text)
        self.check_kept(ids + self.capture(5))

    def test_removed_lock_files_admit_no_second_server(self):
        ids = self.capture(5)
        remove(self.server.data, "errata.pid", "db/lock.mdb")
        self.check_refused()
        self.assertFalse(os.path.exists(os.path.join(self.server.data, "db", "lock.mdb")))
        rebuild = subprocess.run([ERRATAD, "--rebuild", "--data", self.server.data],
                                 capture_output=True, text=True, timeout=20)
        self.assertEqual(rebuild.returncode, 1)
        self.assertIn("in use by", rebuild.stderr)
        self.check_kept(ids + self.capture(5))

    def test_symbolic_link_admits_no_second_server(self):
        remove(self.server.data, "errata.pid", "db/lock.mdb")
        link = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, link)
        os.symlink(self.server.data, os.path.join(link, "data"))
        self.check_refused(os.path.join(link, "data"))

    def test_linked_data_file_admits_no_second_server(self):
        """A link, hard or symbolic, to the store of another folder."""
        self.client.close()
        for make in (lambda path: os.symlink(os.path.join(self.server.data, "db"), path),
                     self.link_hard):
            with tempfile.TemporaryDirectory() as other:
                make(os.path.join(other, "db"))
                self.assertIn("data.mdb", self.check_refused(other))

    def link_hard(self, path):
        os.mkdir(path)
        os.link(os.path.join(self.server.data, "db", "data.mdb"), os.path.join(path, "data.mdb"))

    def test_bind_mount_admits_no_second_server(self):
        mount = ["unshare", "-m", "sh", "-c"]
        if subprocess.run([*mount, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("mounting needs privileges that this process lacks")
        with tempfile.TemporaryDirectory() as other:
            run = subprocess.run(
                [*mount, 'mount --bind "$1" "$2" && exec "$0" --data "$2" --listen 127.0.0.1:0',
                 ERRATAD, self.server.data, other], capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("in use by", run.stderr)

    def test_children_hold_no_lock(self):
        """A child that outlived the server would keep the folder from the next one."""
        wait_until(lambda: children(self.server.process.pid), "the PDF worker", 10)
        for pid in children(self.server.process.pid):
            held = [path for path in open_files(pid) if path.startswith(self.server.data)]
            self.assertEqual(held, [])

    def check_saved(self, ids):
        """The advice in the log works: a restored backup contains the acknowledged writes."""
        with tempfile.TemporaryDirectory() as folder:
            file, data = os.path.join(folder, "backup"), os.path.join(folder, "data")
            token_file = os.path.join(self.server.data, "admin.token")
            subprocess.run([os.path.join(BIN, "errata"), "admin", "backup", file, "--server",
                            self.server.address, "--token-file", token_file], check=True,
                           capture_output=True, timeout=60)
            subprocess.run([ERRATAD, "--restore", file, "--data", data], check=True,
                           capture_output=True, timeout=60)
            with Server(data=data) as restored:
                client = restored.client(self.server.admin_token)
                for wanted in ids:
                    client.feedback.GetFeedbackEvent(
                        feedback_service.GetFeedbackEventRequest(id=wanted))
                client.close()

    def test_removed_data_file_refuses_writes(self):
        """Writes to an unlinked file would be lost, so writes are refused, while reads continue; health and the log
        report it. The next start does not create a new store."""
        ids = self.capture(3)
        remove(self.server.data, "db/data.mdb", "db/lock.mdb", "errata.pid")
        for _ in range(5):  # the writer stops before the next check of the file
            with self.assertRaises(grpc.RpcError) as refused:
                self.capture()
            self.assertEqual(refused.exception.code(), grpc.StatusCode.UNAVAILABLE)
        self.assertEqual(len(self.client.examples("one").examples), 3)
        self.client.feedback.GetFeedbackEvent(feedback_service.GetFeedbackEventRequest(id=ids[0]))
        wait_until(lambda: self.client.health.Check(health_pb2.HealthCheckRequest(
            service="errata.write")).status == health_pb2.HealthCheckResponse.NOT_SERVING,
            "errata.write to be NOT_SERVING", 20)
        wait_until(lambda: "data.mdb was removed" in self.server.read_log(), "a line in the log", 20)
        self.assertIn("errata admin backup", self.server.read_log())
        self.check_refused()
        self.check_saved(ids)
        self.client.close()
        self.assertEqual(self.server.stop(), 0)
        self.assertEqual(self.server.read_log().count("data.mdb was removed"), 1)
        status, text = start_second(self.server.data)
        self.assertEqual(status, 65)
        self.assertIn("data.mdb is missing", text)


class WhileStarting(unittest.TestCase):
    STARTS = 4
    ROUNDS = 3

    def race(self, data, stop):
        """Starts several servers at once; returns the one that serves, and the messages of the others."""
        processes = [subprocess.Popen([ERRATAD, "--data", data, "--listen", "127.0.0.1:0"],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                     for _ in range(self.STARTS)]
        refused = []
        end = time.monotonic() + 60
        while len(refused) < self.STARTS - 1 and time.monotonic() < end:
            for process in [p for p in processes if p.poll() is not None]:
                processes.remove(process)
                refused.append(process.communicate()[1])
            time.sleep(0.01)
        for process in processes:
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
        self.assertEqual(len(processes), 1, refused)
        address = processes[0].stdout.readline()
        stop.set()
        processes[0].terminate()
        out, err = processes[0].communicate(timeout=20)
        self.assertEqual(processes[0].returncode, 0, err)
        self.assertRegex(address, r"^127\.0\.0\.1:\d+", out)
        return refused

    def test_one_server_starts_while_files_are_removed(self):
        """Lock files are removed repeatedly while several servers start: one gets the folder."""
        for _ in range(self.ROUNDS):
            with tempfile.TemporaryDirectory() as parent:
                data = os.path.join(parent, "data")
                stop = threading.Event()

                def remove_all():
                    while not stop.is_set():
                        for name in ("errata.pid", "db/lock.mdb", "db.new/lock.mdb"):
                            try:
                                remove(data, name)
                            except OSError:
                                pass

                remover = threading.Thread(target=remove_all)
                remover.start()
                try:
                    refused = self.race(data, stop)
                finally:
                    stop.set()
                    remover.join()
                for text in refused:
                    self.assertIn("in use by", text)
                with Server(data=data) as server:
                    client = server.client()
                    client.capture(event_type=LINE, after_json='{"n":1}')
                    report = list(client.admin.Verify(admin.VerifyRequest(), timeout=120))[-1].report
                    self.assertTrue(report.clean, report)
                    client.close()


if __name__ == "__main__":
    main()
