#!/usr/bin/python3
"""Connect calls over HTTP/1.1, on the port of gRPC.

Goal: calls in JSON and proto, streams, errors, and refused requests have one documented response each,
and a connection continues exactly if the protocol allows it. Method: raw sockets, whole and byte by
byte.
"""
import base64
import gzip
import json
import socket
import struct
import time
import unittest
import urllib.parse

from erratad import ServerCase, decision_service, health_pb2, main, roles

CHECK = "/grpc.health.v1.Health/Check"
EVENT = "/errata.v1.EventService/GetEvent"
WATCH = "/errata.v1.EventService/WatchEvents"
UPLOAD = "/errata.v1.LayoutService/IngestDocumentStream"
STREAM = "Content-Type: application/connect+json\r\n"
RECORD = "/errata.v1.DecisionService/RecordDecision"
HOST = "Host: a\r\n"
JSON = "Content-Type: application/json\r\n"


def post(path, body="{}", fields=JSON):
    return f"POST {path} HTTP/1.1\r\n{HOST}{fields}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def envelope(message, flags=0):
    return struct.pack(">BI", flags, len(message)) + message


def post_stream(path, *messages, fields=""):
    body = b"".join(messages)
    return (f"POST {path} HTTP/1.1\r\n{HOST}{STREAM}{fields}Content-Length: {len(body)}\r\n\r\n"
            .encode() + body)


class Peer:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=20)
        self.bytes = b""

    def send(self, data, step=0):
        for at in range(0, len(data), step or len(data)):
            self.socket.sendall(data[at:at + (step or len(data))])

    def fill(self):
        more = self.socket.recv(65536)
        self.bytes += more
        return bool(more)

    def head(self):
        """Returns the status and the fields of the next response."""
        while b"\r\n\r\n" not in self.bytes:
            if not self.fill():
                raise AssertionError(f"ended with {self.bytes!r}")
        head, _, self.bytes = self.bytes.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        return int(lines[0].split(" ")[1]), dict(line.split(": ", 1) for line in lines[1:])

    def answer(self, body=True):
        """Returns status, fields and body of the next response."""
        status, fields = self.head()
        size = int(fields["content-length"]) if body else 0
        while len(self.bytes) < size and self.fill():
            pass
        content, self.bytes = self.bytes[:size], self.bytes[size:]
        return status, fields, content

    def exactly(self, size):
        while len(self.bytes) < size:
            if not self.fill():
                raise AssertionError(f"ended with {self.bytes!r}")
        taken, self.bytes = self.bytes[:size], self.bytes[size:]
        return taken

    def chunk(self):
        """Returns the next chunk; empty at the end."""
        while b"\r\n" not in self.bytes:
            if not self.fill():
                raise AssertionError(f"ended with {self.bytes!r}")
        size = int(self.bytes.split(b"\r\n")[0], 16)
        self.exactly(self.bytes.index(b"\r\n") + 2)
        chunk = self.exactly(size)
        assert self.exactly(2) == b"\r\n"
        return chunk

    def ends(self):
        """Returns whether the server sends nothing more, and ends."""
        return not self.bytes and not self.fill()


class Connect(ServerCase):
    arguments = ("--cors-origin", "https://app.example.com,http://localhost:3000")

    def peer(self):
        peer = Peer(self.server.address)
        self.addCleanup(peer.socket.close)
        return peer

    def ask(self, request):
        peer = self.peer()
        peer.send(request)
        return peer.answer()

    def test_calls_are_answered_in_json_and_proto(self):
        for step in (0, 1):
            peer = self.peer()
            peer.send(post(CHECK), step)
            status, fields, body = peer.answer()
            self.assertEqual((status, fields["content-type"]), (200, "application/json"))
            self.assertEqual(json.loads(body), {"status": "SERVING"})
            self.assertRegex(fields["date"], r"^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$")
            peer.send(post(CHECK, "", "Content-Type: application/proto\r\n"), step)
            status, fields, body = peer.answer()
            self.assertEqual((status, fields["content-type"]), (200, "application/proto"))
            self.assertEqual(health_pb2.HealthCheckResponse.FromString(body).status, 1)

    def test_chunked_and_pipelined_requests_are_answered_in_order(self):
        chunked = (f"POST {CHECK} HTTP/1.1\r\n{HOST}{JSON}Transfer-Encoding: chunked\r\n\r\n"
                   "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n").encode()
        peer = self.peer()
        peer.send((chunked + post("/nowhere")) * 20)
        for _ in range(20):
            self.assertEqual(peer.answer()[0], 200)
            self.assertEqual(peer.answer()[0], 404)

    def test_errors_are_json(self):
        status, fields, body = self.ask(post(EVENT))
        self.assertEqual((status, fields["content-type"]), (401, "application/json"))
        error = json.loads(body)
        self.assertEqual(error["code"], "unauthenticated")
        self.assertIn("Bearer", error["message"])
        self.assertEqual(error["details"][0]["type"], "google.rpc.ErrorInfo")
        status, _, body = self.ask(post(CHECK, '{"service": 1'))
        self.assertEqual((status, json.loads(body)["code"]), (400, "invalid_argument"))
        status, _, body = self.ask(post(CHECK, '{"service": "nothing"}'))
        self.assertEqual((status, json.loads(body)["code"]), (404, "not_found"))
        for fields, wanted in (("Connect-Protocol-Version: 2\r\n", "invalid_argument"),
                               ("Connect-Timeout-Ms: 12345678901\r\n", "invalid_argument"),
                               ("Connect-Timeout-Ms: 0\r\n", "deadline_exceeded"),
                               ("Content-Encoding: br\r\n", "unimplemented")):
            _, _, body = self.ask(post(CHECK, "{}", JSON + fields))
            self.assertEqual(json.loads(body)["code"], wanted, fields)

    def test_pages_of_lists_are_compressed_for_those_who_accept_it(self):
        token = f"Authorization: Bearer {self.server.admin_token}\r\n"
        path = "/errata.v1.EventService/ListEvents"
        for i in range(3):
            self.admin.create_token(roles.ROLE_VIEWER, user_id=f"reader-{i}")
        _, fields, plain = self.ask(post(path, "{}", JSON + token))
        self.assertNotIn("content-encoding", fields)
        self.assertGreater(len(plain), 1024)
        for accept, wanted in (("gzip", True), ("br;q=1.0, gzip", True), ("gzip;q=0", False), ("br", False)):
            _, fields, body = self.ask(post(path, "{}", JSON + token + f"Accept-Encoding: {accept}\r\n"))
            self.assertEqual(fields.get("content-encoding") == "gzip", wanted, accept)
            self.assertEqual(gzip.decompress(body) if wanted else body, plain)
        small = '{"pageSize": 1}'
        _, fields, body = self.ask(post(path, small, JSON + token + "Accept-Encoding: gzip\r\n"))
        self.assertLess(len(body), 1024)
        self.assertNotIn("content-encoding", fields)
        packed = gzip.compress(b"{}").decode("latin-1")
        request = post(path, packed, JSON + token + "Accept-Encoding: gzip\r\nContent-Encoding: gzip\r\n")
        _, fields, body = self.ask(request.decode().encode("latin-1"))
        self.assertEqual(gzip.decompress(body), plain)

    def test_get_is_for_calls_without_side_effects(self):
        for query in ("encoding=json&message=%7B%7D&connect=v1&x=y",
                      "message=" + base64.urlsafe_b64encode(b"{}").decode() + "&base64=1&encoding=json"):
            status, fields, _ = self.ask(f"GET {EVENT}?{query} HTTP/1.1\r\n{HOST}\r\n".encode())
            self.assertEqual((status, fields["vary"]), (401, "Accept-Encoding"))
        status, _, body = self.ask(f"GET {EVENT}?encoding=json HTTP/1.1\r\n{HOST}\r\n".encode())
        self.assertEqual((status, json.loads(body)["code"]), (400, "invalid_argument"))
        status, fields, _ = self.ask(
            f"GET /errata.v1.FeedbackService/CaptureFeedbackEvent HTTP/1.1\r\n{HOST}\r\n".encode())
        self.assertEqual((status, fields["allow"]), (405, "POST"))

    def test_other_types_are_refused(self):
        status, fields, _ = self.ask(post(CHECK, "{}", "Content-Type: text/plain\r\n"))
        self.assertEqual(status, 415)
        self.assertIn("application/json, application/proto, application/grpc-web", fields["accept-post"])
        self.assertEqual(self.ask(post(CHECK, "", "Content-Type: application/grpc\r\n"))[0], 415)

    def test_server_stream_is_chunked(self):
        """Events arrive as they are committed; the end of the connection ends its call."""
        token = f"Authorization: Bearer {self.server.admin_token}\r\n"
        for step in (0, 1):
            peer = self.peer()
            peer.send(post_stream(WATCH, envelope(b'{"fromSeq": "1"}'), fields=token), step)
            status, fields = peer.head()
            self.assertEqual((status, fields["content-type"]), (200, "application/connect+json"))
            self.assertEqual(fields["transfer-encoding"], "chunked")
            received = b""
            while received.count(b'"seq":"2"') == 0:
                received += peer.chunk()
            self.assertEqual(received[0], 0)
            size = struct.unpack(">I", received[1:5])[0]
            self.assertEqual(json.loads(received[5:5 + size])["event"]["seq"], "1")
            name = f"agent-{step}".encode()
            self.admin.create_token(roles.ROLE_OPERATOR, user_id=name.decode())
            while name not in received:
                received += peer.chunk()
            peer.socket.close()

    def test_stream_that_fails_ends_with_an_error_and_the_connection_goes_on(self):
        peer = self.peer()
        for path, messages in ((WATCH, (envelope(b"{}"),)), (UPLOAD, (envelope(b"{}"),) * 3), (UPLOAD, ())):
            peer.send(post_stream(path, *messages))
            status, _, body = peer.answer()
            flags, size = struct.unpack(">BI", body[:5])
            self.assertEqual((status, flags, size), (200, 2, len(body) - 5))
            self.assertEqual(json.loads(body[5:])["error"]["code"], "unauthenticated")
        peer.send(post(CHECK))
        self.assertEqual(peer.answer()[0], 200)

    def test_streams_refuse_what_is_malformed(self):
        token = f"Authorization: Bearer {self.server.admin_token}\r\n"
        packed = gzip.compress(b'{"fromSeq": 0}')
        for messages, fields, wanted in (
                ((envelope(b"{}"), envelope(b"{}")), "", "unimplemented"), ((), "", "unimplemented"),
                ((envelope(b"{}", 4),), "", "internal"), ((envelope(packed, 1),), "", "internal"),
                ((envelope(b"{}")[:6],), "", "internal"), ((envelope(b"{"),), "", "invalid_argument"),
                ((envelope(b"{}"),), "Connect-Content-Encoding: br\r\n", "unimplemented"),
                ((envelope(packed, 1),), "Connect-Content-Encoding: gzip\r\nConnect-Timeout-Ms: 300\r\n",
                 "deadline_exceeded")):
            peer = self.peer()
            peer.send(post_stream(WATCH, *messages, fields=token + fields))
            status, head = peer.head()
            body = peer.exactly(int(head["content-length"])) if "content-length" in head else b"".join(
                iter(peer.chunk, b""))
            while body[0] != 2:
                body = body[5 + struct.unpack(">I", body[1:5])[0]:]
            self.assertEqual((status, json.loads(body[5:])["error"]["code"]), (200, wanted), (messages, fields))

    def test_streams_in_both_directions_need_http2(self):
        path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
        self.assertEqual(self.ask(post_stream(path))[0], 505)

    def test_pages_of_allowed_origins_may_call(self):
        own = f"http://{self.server.address}"
        ask = "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\n"
        for host, origin, allowed in ((self.server.address, own, True), ("a", own, False),
                                      (self.server.address, "https://app.example.com", True),
                                      (self.server.address, "https://app.example.com:444", False),
                                      (self.server.address, "null", False)):
            fields = f"Host: {host}\r\nOrigin: {origin}\r\n"
            peer = self.peer()
            peer.send(f"OPTIONS {EVENT} HTTP/1.1\r\n{fields}{ask}\r\n".encode())
            status, answer = peer.head()
            self.assertEqual((status, answer.get("access-control-allow-origin")),
                             (204, origin if allowed else None))
            self.assertIn("access-control-request-method", answer["vary"])
            if allowed:
                self.assertEqual(answer["access-control-allow-methods"], "POST, GET")
                self.assertIn("authorization", answer["access-control-allow-headers"])
                self.assertEqual(answer["access-control-max-age"], "7200")
            peer.send(f"POST {CHECK} HTTP/1.1\r\n{fields}{JSON}Content-Length: 2\r\n\r\n{{}}".encode())
            status, answer, _ = peer.answer()
            self.assertEqual((status, answer["vary"], answer.get("access-control-allow-origin")),
                             (200, "origin", origin if allowed else None))
            self.assertEqual("access-control-expose-headers" in answer, allowed)

    def test_malformed_requests_are_answered_and_end(self):
        for request, wanted in ((b"GET / HTTP/1.0\r\n\r\n", 505), (b"GET / HTTP/1.1\r\n\r\n", 400),
                                (b"\x16\x03\x01\x00", 400), (b"GET /" + b"a" * 9000, 414),
                                (b"PRI * HTTP/2.0\r\n\r\nXX\r\n", 505),
                                (post(CHECK, "{}", "Content-Length: 2\r\n" + JSON), 400),
                                (post(CHECK, "{}", "Transfer-Encoding: gzip\r\n" + JSON), 501)):
            peer = self.peer()
            peer.send(request)
            status, fields, _ = peer.answer()
            self.assertEqual((status, fields["connection"]), (wanted, "close"), request[:40])
            self.assertTrue(peer.ends())

    def test_expect_and_early_responses(self):
        peer = self.peer()
        expect = JSON + "Expect: 100-continue\r\n"
        peer.send(post(CHECK, "{}", expect)[:-2])
        self.assertEqual(peer.head()[0], 100)
        peer.send(b"{}")
        self.assertEqual(peer.answer()[0], 200)
        peer.send(post("/nowhere", "{}", expect)[:-2])
        status, fields, _ = peer.answer()
        self.assertEqual((status, fields["connection"]), (404, "close"))
        self.assertTrue(peer.ends())

    def test_half_closed_peer_is_answered(self):
        peer = self.peer()
        peer.send(post(CHECK) * 2)
        peer.socket.shutdown(socket.SHUT_WR)
        self.assertEqual(peer.answer()[0], 200)

    def test_close_and_slow_heads_end_the_connection(self):
        peer = self.peer()
        peer.send(post(CHECK, "{}", JSON + "Connection: close\r\n"))
        self.assertEqual(peer.answer()[1]["connection"], "close")
        self.assertTrue(peer.ends())
        peer = self.peer()
        started = time.monotonic()
        peer.send(b"GET / HTTP/1.1\r\n")
        self.assertEqual(peer.answer()[0], 408)
        self.assertGreater(time.monotonic() - started, 9)

    def test_path_with_percent_sign_is_not_decoded(self):
        path = urllib.parse.quote(CHECK, safe="")
        self.assertEqual(self.ask(post("/" + path))[0], 404)


class LargeJson(ServerCase):
    """On a server of its own: pages of its events are large."""

    def peer(self):
        peer = Peer(self.server.address)
        self.addCleanup(peer.socket.close)
        return peer

    def test_large_json_is_converted_beside_other_calls(self):
        """Decisions with a diff of 1 MB, alone and compressed, several at once; mistakes in them; callers that leave."""
        def decision(number, diff="x\\n" * 330_000):
            return ('{"vector":{"model":"mine","values":[1,0]},"decision":{"decision":2,"decisionId":"large-%d","gateId":'
                    '"HITL-1","epicId":"e","taskId":"t","agentName":"coder","reviewerId":"ada","reviewerComment":"Set a timeout.",'
                    '"correctionDiff":"%s"}}' % (number, diff)).encode()

        def request(body, fields=""):
            return (f"POST {RECORD} HTTP/1.1\r\n{HOST}{JSON}Authorization: Bearer {self.server.admin_token}\r\n{fields}"
                    f"Content-Length: {len(body)}\r\n\r\n").encode() + body

        peers = [self.peer() for _ in range(3)]
        for number, peer in enumerate(peers):
            peer.send(request(decision(number)))
        for peer in peers:
            status, _, body = peer.answer()
            self.assertEqual(status, 200, body[:300])
        peer = peers[0]
        peer.send(request(gzip.compress(decision(3)), "Content-Encoding: gzip\r\n"))
        self.assertEqual(peer.answer()[0], 200)
        stored = self.admin.decisions.ListDecisions(decision_service.ListDecisionsRequest(page_size=4)).decisions
        self.assertEqual([one.decision_id for one in stored][0], "large-3")
        whole = self.admin.decisions.GetDecision(decision_service.GetDecisionRequest(feedback_id=stored[0].id)).decision
        self.assertEqual(whole.correction_diff, "x\n" * 330_000)
        for body, words in ((decision(4)[:-1], "invalid JSON"), (decision(5).replace(b'"gateId"', b'"gate"'), "gate")):
            peer.send(request(body))
            status, _, answer = peer.answer()
            self.assertEqual((status, json.loads(answer)["code"]), (400, "invalid_argument"))
            self.assertIn(words, json.loads(answer)["message"])
        for _ in range(5):
            leaving = self.peer()
            leaving.send(request(decision(6)))
            leaving.socket.close()
        peer.send(request(decision(7, "y")))
        self.assertEqual(peer.answer()[0], 200)


if __name__ == "__main__":
    main()
