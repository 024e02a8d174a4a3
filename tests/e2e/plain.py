#!/usr/bin/python3
"""Plain requests of HTTP, which are not calls.

Goal: the status reports to supervisors and load balancers, without a token, whether the server runs and serves.
Method: Python's own HTTP client and raw requests, while the server serves and while it ends.
"""
import http.client

from erratad import Server, ServerCase, main, wait_until

PARTS = ("errata.write", "errata.pdf", "errata.admin", "errata.tokens", "errata.clock", "errata.redis", "errata.embedder")


class Plain(ServerCase):
    def connection(self):
        host, port = self.server.address.rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=20)
        self.addCleanup(connection.close)
        return connection

    def ask(self, verb, path, body=None, connection=None):
        connection = connection or self.connection()
        connection.request(verb, path, body)
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read().decode()

    def test_health_and_readiness_are_answered(self):
        connection = self.connection()
        for path in ("/healthz", "/healthz?verbose", "/healthz?"):
            status, fields, body = self.ask("GET", path, connection=connection)
            self.assertEqual((status, body), (200, "ok\n"), path)
            self.assertEqual(fields["content-type"], "text/plain; charset=utf-8")
        status, _, body = self.ask("GET", "/readyz", connection=connection)
        lines = body.splitlines()
        self.assertEqual((status, lines[0]), (200, "ready"))
        self.assertEqual(tuple(line.split(" ")[0] for line in lines[1:]), PARTS)
        self.assertIn("errata.write SERVING", lines)

    def test_head_has_the_length_without_a_body(self):
        status, fields, body = self.ask("HEAD", "/healthz")
        self.assertEqual((status, fields["content-length"], body), (200, "3", ""))

    def test_other_verbs_and_paths_are_refused(self):
        for verb in ("POST", "PUT", "DELETE", "OPTIONS"):
            status, fields, _ = self.ask(verb, "/readyz")
            self.assertEqual((status, fields["allow"]), (405, "GET, HEAD"), verb)
        for path in ("/healthz/", "/HEALTHZ", "/health", "//"):
            self.assertEqual(self.ask("GET", path)[0], 404, path)

    def test_a_body_is_ignored(self):
        connection = self.connection()
        for _ in range(3):
            self.assertEqual(self.ask("GET", "/healthz", b"x" * 100, connection)[2], "ok\n")

    def test_a_server_that_ends_is_alive_and_not_ready(self):
        server = Server().start()
        self.addCleanup(server.close)
        host, port = server.address.rsplit(":", 1)
        busy = http.client.HTTPConnection(host, int(port), timeout=20)
        self.addCleanup(busy.close)
        busy.connect()
        # The second head, which arrives with the first, is complete only after the signal: the connection is not idle.
        busy.sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /readyz HTTP/1.1\r\nHost: a\r\n")
        first = http.client.HTTPResponse(busy.sock)
        first.begin()
        self.assertEqual(first.read(), b"ok\n")
        server.terminate()
        wait_until(lambda: "finishing running calls" in server.read_log(), "the signal")
        busy.sock.sendall(b"\r\n")
        response = http.client.HTTPResponse(busy.sock)
        response.begin()
        self.assertEqual((response.status, response.getheader("connection")), (503, "close"))
        self.assertTrue(response.read().startswith(b"not ready\n"))
        self.assertEqual(server.wait(), 0)


if __name__ == "__main__":
    main()
