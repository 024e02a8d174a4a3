#!/usr/bin/python3
"""Reports of erratad to a service manager.

Goal: the manager is notified when the server serves, reloads and stops, and that its loop runs; programs that the
server starts send no messages. Method: a datagram socket in the manager's place (sd_notify(3)).
"""
import os
import shutil
import signal
import socket
import tempfile
import unittest

from erratad import Server, children, main, wait_until

SECONDS = 60


class Supervisor(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-notify-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.socket.close)
        self.path = os.path.join(self.folder, "notify")
        self.socket.bind(self.path)
        self.socket.settimeout(SECONDS)

    def start(self, **variables):
        server = Server(environment={"NOTIFY_SOCKET": self.path, **variables}).start()
        self.addCleanup(server.close)
        return server

    def next_state(self):
        """The variables of the next message that is not of the watchdog."""
        while True:
            message = dict(line.split("=", 1) for line in self.socket.recv(4096).decode().splitlines())
            if "WATCHDOG" not in message:
                return message

    def test_states_are_reported_in_order(self):
        server = self.start()
        self.assertEqual(self.next_state(), {"READY": "1", "STATUS": f"Serving on {server.address}"})
        server.process.send_signal(signal.SIGHUP)
        reloading = self.next_state()
        self.assertEqual(reloading["RELOADING"], "1")
        self.assertGreater(int(reloading["MONOTONIC_USEC"]), 0)
        self.assertEqual(self.next_state()["READY"], "1")
        self.assertEqual(server.stop(), 0)
        self.assertEqual(self.next_state()["STOPPING"], "1")

    def test_loop_reports_that_it_turns(self):
        server = self.start(WATCHDOG_USEC="200000")
        for _ in range(6):
            while self.socket.recv(4096) != b"WATCHDOG=1":
                pass
        server.process.send_signal(signal.SIGSTOP)
        self.socket.settimeout(1)
        with self.assertRaises(TimeoutError):
            while True:
                self.socket.recv(4096)
        server.process.send_signal(signal.SIGCONT)
        self.socket.settimeout(SECONDS)
        self.assertEqual(self.socket.recv(4096), b"WATCHDOG=1")

    def test_children_do_not_get_the_socket(self):
        server = self.start()
        wait_until(lambda: server.worker() is not None or not children(server.process.pid), "the PDF worker")
        for child in children(server.process.pid):
            with open(f"/proc/{child}/environ", "rb") as file:
                self.assertNotIn(b"NOTIFY_SOCKET", file.read())

    def test_failed_start_is_never_ready(self):
        server = Server(arguments=["--map-size", "1"], environment={"NOTIFY_SOCKET": self.path})
        self.addCleanup(server.close)
        with self.assertRaises(RuntimeError):
            server.start()
        self.socket.settimeout(0.2)
        with self.assertRaises(TimeoutError):
            self.socket.recv(4096)


if __name__ == "__main__":
    main()
