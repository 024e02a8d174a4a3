#!/usr/bin/python3
"""SIGHUP: the configuration, the TLS files and the log file are read again.

Goal: reloadable settings change, invalid ones are reported and change nothing, and no connection or call is
affected. Method: real signals to servers whose files the test replaces, with clients that call without a pause.
"""
import os
import shutil
import signal
import socket
import ssl
import tempfile
import threading
import unittest

import grpc

from certificates import Authority
from erratad import Client, Server, admin, main, wait_until

DONE = "reload: the configuration was read again"
REFUSED = "nothing was changed"


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class ReloadCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, text):
        with open(self.path("erratad.conf"), "w", encoding="utf-8") as f:
            f.write(text)

    def server(self, text, **how):
        self.write(text)
        server = Server(arguments=["--config", self.path("erratad.conf")], **how).start()
        self.addCleanup(self.end, server)
        self.log = server.read_log
        return server

    def end(self, server):
        self.assertEqual(server.stop(), 0)
        self.assertNotIn("unexpected", server.read_log())
        server.close()

    def hang_up(self, server, line=DONE):
        """Sends SIGHUP, and waits until the log has one more such line."""
        before = self.log().count(line)
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: self.log().count(line) > before, line, 30)


class Settings(ReloadCase):
    def test_settings_are_taken_over(self):
        server = self.server("log-level = info\n")
        client = server.client()
        self.write("log-level = debug\nlog-format = json\n")
        self.hang_up(server)
        client.admin.GetServerInfo(admin.GetServerInfoRequest())
        wait_until(lambda: '"level":"debug"' in self.log(), "lines of the new level and format", 30)
        self.write("log-level = warning\n")
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: self.quiet(server, client), "no more lines", 30)
        client.close()

    def quiet(self, server, client):
        size = len(server.read_log())
        client.admin.GetServerInfo(admin.GetServerInfoRequest())
        return len(server.read_log()) == size

    def test_flags_and_variables_still_precede_the_file(self):
        server = self.server("log-level = info\n", environment={"ERRATA_LOG_FORMAT": "text"})
        self.write("log-format = json\n")
        self.hang_up(server)
        self.assertNotIn('{"time"', self.log())

    def test_settings_of_the_start_are_named_and_kept(self):
        server = self.server("connections-max = 100\n")
        self.write("connections-max = 200\nmap-size = 64MiB\nlog-level = debug\n")
        self.hang_up(server)
        self.assertIn("reload: unchanged until the next start: map-size, connections-max", self.log())
        server.client().admin.GetServerInfo(admin.GetServerInfoRequest())

    def test_invalid_files_change_nothing(self):
        server = self.server("log-level = info\n")
        for text, said in (("log-level = loud\n", "line 1 of the file: invalid value 'loud'"),
                           ("log-format = json\nnope = 1\n", "line 2 of the file: unknown option 'nope'"),
                           ("log-format = json\ntls-cert = /x\n", "tls-key: missing"),
                           ("log-format = json\ntls-cert = /x\ntls-key = /y\n", "tls-cert: TLS cannot be switched"),
                           ("log-format = json\nlog-file = /nonexistent/file\n", "log-file: cannot open")):
            with self.subTest(text=text):
                self.write(text)
                self.hang_up(server, REFUSED)
                self.assertIn(f"reload: {said}", self.log())
        os.unlink(self.path("erratad.conf"))
        self.hang_up(server, REFUSED)
        self.assertIn("cannot read the file", self.log())
        self.assertNotIn('{"time"', self.log())
        self.assertNotIn(DONE, self.log())
        server.client().admin.GetServerInfo(admin.GetServerInfoRequest())

    def test_log_files_are_rotated(self):
        """Goal: a rotation loses no line and needs no restart. Method: the file is renamed, then SIGHUP."""
        log = self.path("log")
        server = self.server(f"log-file = {log}\n")
        wait_until(lambda: "serving on" in read(log), "the line that follows the address", 30)
        self.assertNotIn("serving on", server.read_log())
        self.assertEqual(os.stat(log).st_mode & 0o077, 0)
        os.rename(log, log + ".1")
        self.log = lambda: read(log) if os.path.exists(log) else ""
        self.hang_up(server)
        first = read(log + ".1")
        self.assertIn("serving on", first)
        other = self.path("other")
        self.write(f"log-file = {other}\n")
        self.log = lambda: read(other) if os.path.exists(other) else ""
        self.hang_up(server)
        self.assertEqual(read(log).count(DONE), 1)
        self.write("\n")
        self.log = server.read_log
        self.hang_up(server)
        self.assertEqual(read(other).count(DONE), 1)
        self.assertEqual(read(log + ".1"), first)


class Certificates(ReloadCase):
    def setUp(self):
        super().setUp()
        self.ca = Authority(self.folder)
        self.ca.sign("server")
        self.context = ssl.create_default_context(cafile=self.ca.path)
        self.context.set_alpn_protocols(["http/1.1"])

    def tls(self, more=""):
        return f"tls-cert = {self.path('server.pem')}\ntls-key = {self.path('server.key')}\n{more}"

    def connect(self, server, session=None):
        raw = socket.create_connection(("127.0.0.1", int(server.address.rsplit(":", 1)[1])), timeout=20)
        self.addCleanup(raw.close)
        return self.context.wrap_socket(raw, server_hostname="localhost", session=session)

    def client(self, server):
        with open(self.ca.path, "rb") as f:
            credentials = grpc.ssl_channel_credentials(f.read())
        port = server.address.rsplit(":", 1)[1]
        client = Client(f"localhost:{port}", server.admin_token, credentials=credentials)
        self.addCleanup(client.close)
        return client

    def serial(self, server):
        return self.connect(server).getpeercert()["serialNumber"]

    def test_certificates_are_replaced_under_load(self):
        """Goal: no call fails and no connection ends. Method: four clients call without a pause while the
        certificate is replaced twenty times; their connections are the first ones at the end."""
        server = self.server(self.tls())
        clients = [self.client(server) for _ in range(4)]
        for client in clients:
            client.admin.GetServerInfo(admin.GetServerInfoRequest())
        accepted = server.counters(clients[0])["connections_total"]
        failures, calls, stop = [], [0] * len(clients), threading.Event()

        def work(at):
            while not stop.is_set():
                try:
                    clients[at].admin.GetServerInfo(admin.GetServerInfoRequest(), timeout=20)
                    calls[at] += 1
                except grpc.RpcError as error:
                    failures.append(error.details())

        threads = [threading.Thread(target=work, args=(at,)) for at in range(len(clients))]
        for thread in threads:
            thread.start()
        serials = {self.serial(server)}
        for _ in range(20):
            self.ca.sign("server")
            self.hang_up(server)
            serials.add(self.serial(server))
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(serials), 21)  # each new connection had the newest one
        self.assertGreater(min(calls), 20)
        counters = server.counters(clients[0])
        self.assertEqual(counters["connections_total"] - accepted, 21)
        self.assertGreaterEqual(counters["connections_live"], len(clients))

    def test_invalid_certificates_change_nothing(self):
        server = self.server(self.tls())
        before = self.serial(server)
        self.ca.sign("other")
        shutil.copy(self.path("other.key"), self.path("server.key"))
        self.hang_up(server, REFUSED)
        self.assertIn("reload: tls: ", self.log())
        self.assertIn("key values mismatch", self.log())
        os.unlink(self.path("server.pem"))
        self.hang_up(server, REFUSED)
        self.write("log-level = info\n")
        self.hang_up(server, REFUSED)
        self.assertIn("TLS cannot be switched on or off while serving", self.log())
        self.assertEqual(self.serial(server), before)

    def test_client_certificates_may_be_required_later(self):
        """Open connections are kept, sessions are not resumed without a certificate, and new clients need
        one."""
        server = self.server(self.tls())
        client = self.client(server)
        client.admin.GetServerInfo(admin.GetServerInfoRequest())
        first = self.connect(server)
        first.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertIn(b" 200 ", first.recv(4096))
        self.write(self.tls(f"tls-client-ca = {self.ca.path}\n"))
        self.hang_up(server)
        client.admin.GetServerInfo(admin.GetServerInfoRequest())
        with self.assertRaisesRegex(ssl.SSLError, "(?i)certificate.required"):
            again = self.connect(server, session=first.session)
            self.assertFalse(again.session_reused)
            again.recv(10)


if __name__ == "__main__":
    main()
