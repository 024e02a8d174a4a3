#!/usr/bin/python3
"""TLS of erratad with stock clients: grpcio, curl, openssl, Python's ssl.

Goal: every protocol works over TLS, each kind of client that must be refused is refused with a reason, and
problems of the files are reported before the server starts. Method: certificates made by openssl in the test.
"""
import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

import grpc

from certificates import Authority, openssl
from erratad import BIN, Client, Server, admin, feedback, feedback_service, health_pb2, main, wait_until

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
CHECK = "/grpc.health.v1.Health/Check"
HTTP1 = b"POST " + CHECK.encode() + (b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                     b"Content-Length: 2\r\n\r\n{}")


def read(path):
    with open(path, "rb") as f:
        return f.read()


class TlsCase(unittest.TestCase):
    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="errata-test-")
        cls.ca = Authority(cls.folder)
        cls.other = Authority(cls.folder, "other")
        cls.cert, cls.key = cls.ca.sign("server")
        cls.client_cert, cls.client_key = cls.ca.sign("client", "DNS:client")
        cls.server = Server(arguments=["--tls-cert", cls.cert, "--tls-key", cls.key,
                                       *(a.format(folder=cls.folder) for a in cls.arguments)]).start()

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        log = cls.server.read_log()
        cls.server.close()
        shutil.rmtree(cls.folder)
        assert code == 0, log[-4000:]

    def port(self):
        return int(self.server.address.rsplit(":", 1)[1])

    def context(self, ca=None, alpn=None, client=False):
        context = ssl.create_default_context(cafile=(ca or self.ca).path)
        if alpn is not None:
            context.set_alpn_protocols(alpn)
        if client:
            context.load_cert_chain(self.client_cert, self.client_key)
        return context

    def connect(self, context, host="localhost"):
        raw = socket.create_connection(("127.0.0.1", self.port()), timeout=20)
        self.addCleanup(raw.close)
        return context.wrap_socket(raw, server_hostname=host)

    def grpc_client(self, ca=None, client=False):
        identity = [read(self.client_key), read(self.client_cert)] if client else [None, None]
        credentials = grpc.ssl_channel_credentials(read((ca or self.ca).path), *identity)
        client = Client(f"localhost:{self.port()}", self.server.admin_token, credentials=credentials)
        self.addCleanup(client.close)
        return client

    @staticmethod
    def exchange(connection, request=HTTP1):
        """Sends a request of HTTP/1.1; returns status line and body of the response."""
        connection.sendall(request)
        answer = b""
        while b"\r\n\r\n" not in answer or not answer.endswith(b"}"):
            more = connection.recv(65536)
            if not more:
                break
            answer += more
        head, _, body = answer.partition(b"\r\n\r\n")
        return head.split(b"\r\n")[0], body


class Clients(TlsCase):
    def test_grpc_calls_and_streams_pass(self):
        client = self.grpc_client()
        info = client.admin.GetServerInfo(admin.GetServerInfoRequest())
        self.assertTrue(info.counters)
        for number in range(80):
            client.capture(event_type=LINE, layout_fingerprint="tls",
                           after_json=json.dumps({"note": f"{number} " + "word " * 400}))
        events = client.feedback.ListFeedbackEvents(
            feedback_service.ListFeedbackEventsRequest(page_size=100)).events
        self.assertEqual(len(events), 80)
        self.assertGreater(sum(event.ByteSize() for event in events), 100_000)
        refused = client.raw("/errata.v1.FeedbackService/ListFeedbackEvents", bytes(300_000))
        self.assertEqual(refused[0], grpc.StatusCode.INTERNAL, refused[1])  # it is not a message
        watch = client.health.Watch(health_pb2.HealthCheckRequest(), timeout=20)
        self.assertEqual(next(watch).status, health_pb2.HealthCheckResponse.SERVING)
        watch.cancel()

    def test_http1_is_served_with_and_without_alpn(self):
        for alpn, selected in ((["http/1.1"], "http/1.1"), (None, None)):
            with self.subTest(alpn=alpn):
                connection = self.connect(self.context(alpn=alpn))
                self.assertEqual(connection.selected_alpn_protocol(), selected)
                for _ in range(3):
                    line, body = self.exchange(connection)
                    self.assertEqual(line, b"HTTP/1.1 200 OK")
                    self.assertEqual(json.loads(body), {"status": "SERVING"})

    def test_http1_is_read_byte_by_byte(self):
        connection = self.connect(self.context(alpn=["http/1.1"]))
        for at in range(len(HTTP1) - 1):
            connection.sendall(HTTP1[at:at + 1])
        line, body = self.exchange(connection, HTTP1[-1:])
        self.assertEqual((line, json.loads(body)), (b"HTTP/1.1 200 OK", {"status": "SERVING"}))

    def test_h2_is_preferred(self):
        connection = self.connect(self.context(alpn=["http/1.1", "h2"]))
        self.assertEqual(connection.selected_alpn_protocol(), "h2")
        self.assertEqual(connection.version(), "TLSv1.3")

    @unittest.skipUnless(shutil.which("curl"), "needs curl")
    def test_curl_is_served(self):
        run = subprocess.run(
            ["curl", "-sS", "--cacert", self.ca.path, "--http1.1", "-d", "{}", "-H",
             "content-type: application/json", f"https://localhost:{self.port()}{CHECK}"],
            capture_output=True, text=True, timeout=30)
        self.assertEqual(json.loads(run.stdout), {"status": "SERVING"}, run.stderr)

    def test_tls12_is_served_with_its_ciphers(self):
        context = self.context(alpn=["http/1.1"])
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        for cipher in ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
                       "ECDHE-ECDSA-CHACHA20-POLY1305"):
            context.set_ciphers(cipher)
            connection = self.connect(context)
            self.assertEqual(connection.version(), "TLSv1.2")
            self.assertEqual(connection.cipher()[0], cipher)
            self.assertEqual(self.exchange(connection)[0], b"HTTP/1.1 200 OK")
        context.set_ciphers("ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0")
        with self.assertRaisesRegex(ssl.SSLError, "handshake failure"):
            self.connect(context)

    def test_sessions_are_resumed(self):
        """Goal: a returning client needs no new exchange of certificates. Method: Python's ssl keeps the
        ticket of the first connection."""
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = self.context(alpn=["http/1.1"])
            context.maximum_version = version
            first = self.connect(context)
            self.exchange(first)  # the ticket comes before the response
            session = first.session
            first.unwrap()
            raw = socket.create_connection(("127.0.0.1", self.port()), timeout=20)
            self.addCleanup(raw.close)
            second = context.wrap_socket(raw, server_hostname="localhost", session=session)
            self.assertTrue(second.session_reused, version)
            self.assertEqual(self.exchange(second)[0], b"HTTP/1.1 200 OK")
        client = self.grpc_client()
        counters = self.server.counters(client)
        self.assertGreaterEqual(counters["tls_handshakes_resumed_total"], 2)

    def test_the_server_says_that_it_ends(self):
        """A response followed by the end is complete, according to close_notify."""
        connection = self.connect(self.context(alpn=["http/1.1"]))
        request = HTTP1.replace(b"Host", b"Connection: close\r\nHost")
        line, _ = self.exchange(connection, request)
        self.assertEqual(line, b"HTTP/1.1 200 OK")
        self.assertEqual(connection.recv(100), b"")  # an end without it raises


class Refusals(TlsCase):
    def refused(self, pattern, context, host="localhost"):
        with self.assertRaisesRegex(ssl.SSLError, pattern):
            self.connect(context, host)

    def test_clients_refuse_other_certificates(self):
        self.refused("unable to get local issuer", self.context(ca=self.other))
        self.refused("Hostname mismatch", self.context(), host="other.test")
        with self.assertRaises(grpc.RpcError) as caught:
            self.grpc_client(ca=self.other).health.Check(health_pb2.HealthCheckRequest(), timeout=5)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)

    def test_older_versions_are_refused(self):
        for version in ("-tls1", "-tls1_1"):
            run = subprocess.run(
                ["openssl", "s_client", "-connect", f"127.0.0.1:{self.port()}", version, "-cipher",
                 "ALL:@SECLEVEL=0"], input="", capture_output=True, text=True, timeout=30)
            self.assertIn("alert protocol version", run.stderr)
            self.assertIn("Cipher is (NONE)", run.stdout)

    def test_other_protocols_are_refused(self):
        self.refused("(?i)no.application.protocol", self.context(alpn=["spdy/1"]))

    def test_renegotiation_is_refused(self):
        run = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{self.port()}", "-tls1_2", "-CAfile",
             self.ca.path, "-alpn", "http/1.1"], input="R\n", capture_output=True, text=True, timeout=30)
        self.assertIn("no renegotiation", run.stderr)

    def test_cleartext_is_answered(self):
        """Goal: cleartext on the TLS port gets an explanation. Method: HTTP/1.1 and HTTP/2 without TLS."""
        for request in (HTTP1, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9)):
            with socket.create_connection(("127.0.0.1", self.port()), timeout=20) as raw:
                raw.sendall(request)
                answer = b"".join(iter(lambda: raw.recv(4096), b""))
            head, _, body = answer.partition(b"\r\n\r\n")
            self.assertTrue(head.startswith(b"HTTP/1.1 400 "), answer)
            self.assertIn(b"https://", body)
            self.assertIn(f"content-length: {len(body)}".encode(), head)

    def test_garbage_and_silence_do_not_disturb_others(self):
        """Goal: broken handshakes end, and are counted and logged once a minute. Method: garbage in all forms, and
        silent connections, while a client works."""
        client = self.grpc_client()
        silent = [socket.create_connection(("127.0.0.1", self.port()), timeout=20) for _ in range(20)]
        before = self.server.counters(client)["tls_handshakes_failed_total"]
        for garbage in (b"\x16\x03\x01\xff\xff" + b"x" * 100, b"\x16\x03\x01\x00\x04\x01\x00\x00\x00",
                        b"\x16" * 600):
            with socket.create_connection(("127.0.0.1", self.port()), timeout=20) as raw:
                raw.sendall(garbage)
                self.assertNotEqual(raw.recv(4096)[:1], b"\x16")
        after = self.server.counters(client)["tls_handshakes_failed_total"]
        self.assertEqual(after - before, 3)
        wait_until(lambda: "TLS handshakes failed" in self.server.read_log(), "the line of the log")
        for connection in silent:
            connection.close()

    def test_handshakes_have_a_deadline(self):
        """A part of a handshake is not waited for longer than 10 s."""
        with socket.create_connection(("127.0.0.1", self.port()), timeout=20) as raw:
            begin = time.monotonic()
            raw.sendall(b"\x16\x03\x01\x02\x00\x01")
            self.assertEqual(raw.recv(100), b"")
            self.assertGreater(time.monotonic() - begin, 9)
            self.assertLess(time.monotonic() - begin, 18)


class ClientCertificates(TlsCase):
    arguments = ("--tls-client-ca", "{folder}/ca.pem")

    def test_a_client_with_a_certificate_needs_its_token_too(self):
        client = self.grpc_client(client=True)
        self.assertTrue(client.admin.GetServerInfo(admin.GetServerInfoRequest()).counters)
        credentials = grpc.ssl_channel_credentials(read(self.ca.path), read(self.client_key),
                                                   read(self.client_cert))
        stranger = Client(f"localhost:{self.port()}", None, credentials=credentials)
        self.addCleanup(stranger.close)
        with self.assertRaises(grpc.RpcError) as caught:
            stranger.admin.GetServerInfo(admin.GetServerInfoRequest())
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAUTHENTICATED)

    def test_others_are_refused(self):
        with self.assertRaises(grpc.RpcError) as caught:
            self.grpc_client().health.Check(health_pb2.HealthCheckRequest(), timeout=5)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)
        connection = self.connect(self.context(alpn=["http/1.1"]))  # TLS 1.3 is refused after it
        with self.assertRaisesRegex(ssl.SSLError, "(?i)certificate.required"):
            self.exchange(connection)
        stranger = self.context(alpn=["http/1.1"])
        stranger.load_cert_chain(*self.other.sign("stranger", "DNS:stranger"))
        with self.assertRaisesRegex(ssl.SSLError, "(?i)unknown.ca"):
            self.exchange(self.connect(stranger))

    def test_resumed_sessions_keep_their_certificate(self):
        context = self.context(alpn=["http/1.1"], client=True)
        first = self.connect(context)
        self.exchange(first)
        session = first.session
        first.unwrap()
        raw = socket.create_connection(("127.0.0.1", self.port()), timeout=20)
        self.addCleanup(raw.close)
        second = context.wrap_socket(raw, server_hostname="localhost", session=session)
        self.assertTrue(second.session_reused)
        self.assertEqual(self.exchange(second)[0], b"HTTP/1.1 200 OK")


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.ca = Authority(self.folder)
        self.cert, self.key = self.ca.sign("server")

    def run_erratad(self, *arguments):
        return subprocess.run([os.path.join(BIN, "erratad"), "--data", os.path.join(self.folder, "data"),
                               *arguments], capture_output=True, text=True, timeout=30)

    def test_invalid_files_are_refused_before_anything_is_created(self):
        _, other_key = self.ca.sign("other")
        for arguments, said in (
            (["--tls-cert", self.cert], "tls-key: missing"),
            (["--tls-key", self.key], "tls-cert: missing"),
            (["--tls-client-ca", self.ca.path], "tls-client-ca: set without TLS"),
            (["--tls-cert", "/nonexistent", "--tls-key", self.key], "/nonexistent: cannot be read"),
            (["--tls-cert", self.cert, "--tls-key", other_key], "key values mismatch"),
            (["--tls-cert", self.key, "--tls-key", self.key], "expected a certificate in PEM"),
            (["--tls-cert", self.cert, "--tls-key", self.key, "--tls-client-ca", self.key],
             "expected certificates of authorities"),
        ):
            for more in ([], ["--check-config"]):
                with self.subTest(arguments=arguments, more=more):
                    run = self.run_erratad("--listen", "127.0.0.1:0", *arguments, *more)
                    self.assertIn(run.returncode, (1, 2))
                    self.assertIn(said, run.stderr)
                    self.assertFalse(os.path.exists(os.path.join(self.folder, "data")))

    def test_tls_allows_other_hosts(self):
        right = ["--tls-cert", self.cert, "--tls-key", self.key, "--check-config"]
        self.assertEqual(self.run_erratad("--listen", "0.0.0.0:1", *right).returncode, 0)
        run = self.run_erratad("--listen", "0.0.0.0:1", "--check-config")
        self.assertEqual(run.returncode, 2)
        self.assertIn("--tls-cert", run.stderr)

    def test_expired_certificates_and_readable_keys_are_logged(self):
        openssl("req", "-x509", "-key", self.key, "-out", "old.pem", "-subj", "/CN=old", "-days", "1",
                folder=self.folder)
        os.chmod(self.key, 0o644)
        old = os.path.join(self.folder, "old.pem")
        with Server(arguments=["--tls-cert", old, "--tls-key", self.key]) as server:
            log = server.read_log()
            self.assertRegex(log, r"tls-cert: .*old\.pem expires at 20.*SIGHUP")
            self.assertRegex(log, r"tls-key: .*server\.key may be read by every user")
            self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    main()
