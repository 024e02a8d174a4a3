#!/usr/bin/python3
"""A server without room for more connections.

Goal: the connection that was idle longest is closed, busy ones stay open, and the log and the command line
report the reason. Method: few descriptors or connections, idle peers over plain sockets, and watchers that
keep theirs.
"""
import os
import re
import socket
import subprocess
import time
import unittest

from erratad import BIN, Server, event_service, main

GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
ERRATA = os.path.join(BIN, "errata")
LINE = "connections refused for lack of room"
PATIENCE_SECONDS = 20


def greet(address):
    """Opens an idle connection; returns it once the server has accepted it."""
    host, port = address.rsplit(":", 1)
    peer = socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS)
    peer.sendall(GREETING)
    peer.recv(1)
    return peer


def wait_for(what):
    end = time.monotonic() + PATIENCE_SECONDS
    while not what():
        if time.monotonic() > end:
            raise AssertionError("it did not come to that in time")
        time.sleep(0.05)


class Crowded(unittest.TestCase):
    def serve(self, *arguments, prefix=()):
        server = Server(arguments=arguments, prefix=prefix).start()
        self.addCleanup(server.close)
        return server

    def test_idle_connections_make_room(self):
        """Few descriptors: 300 idle peers one after another, beside a client that is served all the time."""
        server = self.serve(prefix=("prlimit", "--nofile=256:256"))
        self.assertRegex(server.read_log(), r"connections-max: 10000 exceed what 256 descriptors.* "
                                            r"reduced to 128")
        client = server.client()
        watcher = client.log.WatchEvents(event_service.WatchEventsRequest())
        peers = []
        for i in range(300):
            peers.append(greet(server.address))
            if i % 20 == 0:
                client.examples("beside")
        self.assertIn(b"\x07", peers[0].recv(1000))  # GOAWAY
        ended = 0
        for peer in peers:
            peer.settimeout(0.01)
            try:
                while peer.recv(1000):
                    pass
                ended += 1
            except TimeoutError:
                break  # the client can connect from here on
        self.assertGreater(ended, 100)
        self.assertTrue(watcher.is_active())
        wait_for(lambda: LINE in server.read_log())
        lines = [line for line in server.read_log().splitlines() if LINE in line]
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], r"max=128 .*refused=0")
        watcher.cancel()
        client.close()
        for peer in peers:
            peer.close()

    def test_new_connection_is_closed_if_none_is_idle(self):
        """A refused command line names the likely reason, and the log has it, too."""
        server = self.serve("--connections-max", "2")
        clients = [server.client() for _ in range(2)]
        watchers = [c.log.WatchEvents(event_service.WatchEventsRequest()) for c in clients]
        for client in clients:
            client.examples("busy")
        done = subprocess.run([ERRATA, "--server", server.address, "health", "--timeout", "5s"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=60)
        said = " ".join(done.stderr.split())
        self.assertEqual(done.returncode, 3, said)
        self.assertIn("before it sent anything", said)
        self.assertIn("reached its limit of connections", said)
        wait_for(lambda: LINE in server.read_log())
        self.assertTrue(re.search(LINE + r".* max=2 .*refused=[1-9]", server.read_log()),
                        server.read_log())
        for watcher in watchers:
            watcher.cancel()
        for client in clients:
            client.close()


if __name__ == "__main__":
    main()
