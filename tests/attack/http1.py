#!/usr/bin/python3
"""Hostile and slow HTTP/1.1 clients.

Goal: each form of http1_forms.py has exactly its response, whole and byte by byte, and after a refusal nothing that
follows is served; each slow client is ended in its time, and one that misbehaves beside others costs them nothing.
Method: raw sockets against one server.
"""
import concurrent.futures
import os
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import http1_forms as forms  # noqa: E402
from erratad import ServerCase, main  # noqa: E402

AT_ONCE = 8
HEAD_SECONDS = 10  # HTTP1_HEAD_DEADLINE_US
REQUESTS = 10000  # HTTP1_REQUESTS_MAX
PATIENCE_SECONDS = 60


def read_all(peer):
    """Returns what the server sends until it ends the connection."""
    received = b""
    while True:
        try:
            more = peer.recv(65536)
        except ConnectionResetError:
            return received
        if not more:
            return received
        received += more


def read_responses(received):
    """Returns the statuses of the responses, and the body of the last one."""
    statuses, body = [], b""
    while received:
        head, _, received = received.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        statuses.append(int(lines[0].split(" ")[1]))
        fields = dict(line.split(": ", 1) for line in lines[1:])
        size = int(fields.get("content-length", 0))
        body, received = received[:size], received[size:]
    return statuses, body.decode()


class Http1(ServerCase):
    def connect(self):
        host, port = self.server.address.rsplit(":", 1)
        peer = socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.addCleanup(peer.close)
        return peer

    def exchange(self, data, step):
        """Sends the bytes and the end; returns statuses and last body."""
        with self.connect() as peer:
            try:
                for at in range(0, len(data), step):
                    peer.sendall(data[at:at + step])
                peer.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # the server has ended the connection; its response is read
            return read_responses(read_all(peer))

    def check_form(self, form, step):
        name, data, statuses, text = form
        if step == 1 and len(data) > 20000:
            return None
        found, body = self.exchange(data + forms.NEXT, step if step else len(data) + len(forms.NEXT))
        if found != statuses or not (text is None or body.startswith(text)):
            return f"{name}: {found} {body!r} instead of {statuses} {text!r}"
        return None

    def test_each_form_has_its_response(self):
        every = forms.all_forms()
        self.assertGreaterEqual(len(every), 120)
        self.assertEqual(len({form[0] for form in every}), len(every))
        for step in (0, 1):
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                wrong = [line for line in pool.map(lambda form: self.check_form(form, step), every) if line]
            self.assertEqual(wrong, [])

    def end_of(self, first, rest=b"", pause=0.0, step=1):
        """Sends `first`, then `rest` slowly; returns the responses and the seconds until the end."""
        with self.connect() as peer:
            started = time.monotonic()
            peer.sendall(first)
            try:
                for at in range(0, len(rest), step):
                    peer.sendall(rest[at:at + step])
                    time.sleep(pause)
            except OSError:
                pass
            responses = read_responses(read_all(peer))
            return responses, time.monotonic() - started

    def check_slow(self, slow):
        name, first, rest, expected = slow
        (statuses, body), seconds = self.end_of(first, rest, pause=0.2)
        if statuses != expected or not HEAD_SECONDS - 1 <= seconds <= HEAD_SECONDS + 10:
            return f"{name}: {statuses} {body!r} after {seconds:.1f} s"
        return None

    def test_slow_heads_are_ended(self):
        head = b"POST " + forms.PATH + b" HTTP/1.1\r\n"
        slow = [("one byte", b"G", b"", [408]),
                ("one byte, which may begin the preface of HTTP/2", b"P", b"", []),
                ("request line, byte by byte", b"", b"POST /" + b"x" * 200, [408]),
                ("fields, byte by byte", head, (b"X: " + b"y" * 20 + b"\r\n") * 9, [408]),
                ("no end of the head", head + forms.HOST, b"", [408]),
                ("no LF at the end", head + forms.HOST + b"\r", b"", [408]),
                ("empty line, then nothing", b"\r\n", b"", [408])]
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            wrong = [line for line in pool.map(self.check_slow, slow) if line]
        self.assertEqual(wrong, [])

    def test_slow_client_does_not_delay_another(self):
        slow = [self.connect() for _ in range(200)]
        for peer in slow:
            peer.sendall(b"POST " + forms.PATH + b" HTTP/1.1\r\nHost")
        started = time.monotonic()
        for _ in range(50):
            self.assertEqual(self.exchange(forms.NEXT, len(forms.NEXT))[0], [200])
        self.assertLess(time.monotonic() - started, HEAD_SECONDS / 2)

    def test_peer_that_reads_late_gets_all_responses(self):
        """Requests are sent ahead of a peer that reads nothing yet: each is answered in order, and the response to the
        last one that a connection may send closes it."""
        peer = self.connect()
        ahead = (forms.NEXT + forms.NEXT.replace(b"/Check", b"/Other")) * (REQUESTS // 2) + forms.NEXT
        sending = threading.Thread(target=peer.sendall, args=(ahead,))
        sending.start()
        time.sleep(1)
        statuses, _ = read_responses(received := read_all(peer))
        sending.join()
        self.assertEqual(statuses, [200, 404] * (REQUESTS // 2))
        self.assertEqual(received.count(b"connection: close"), 1)


if __name__ == "__main__":
    main()
