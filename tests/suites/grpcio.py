#!/usr/bin/python3
"""Python's grpcio against the suites' server: gRPC's interop cases and the conformance service.

Goal: the transport carries every kind of call as gRPC's interop descriptions say, and the server that
other suites are run against does what they ask for. Method: raw calls of grpcio, messages by field
numbers (wire.py); expectations are those of grpc/doc/interop-test-descriptions.md.
"""
import os
import queue
import socket
import struct
import subprocess
import time
import unittest

os.environ.setdefault("GRPC_VERBOSITY", "NONE")
import grpc  # noqa: E402

from server import SuiteServer  # noqa: E402
from wire import fields, get, get_all, message, varint  # noqa: E402

BIN = os.environ["ERRATA_BIN"]
TEST = "/grpc.testing.TestService/"
CONFORMANCE = "/connectrpc.conformance.v1.ConformanceService/"
TYPE = "type.googleapis.com/connectrpc.conformance.v1."
PING_PONG_SIZES = [(31415, 27182), (9, 8), (2653, 1828), (58979, 45904)]  # sizes of replies and requests
SPECIAL = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP \U0001f608\t\n"
OPTIONS = [("grpc.enable_http_proxy", 0), ("grpc.max_receive_message_length", 64 << 20)]


def payload(size):
    return message((2, bytes(size)))


def simple(reply_bytes, request_bytes, *more):
    return message((2, reply_bytes), (3, payload(request_bytes)), *more)


def output(*sizes, request_bytes=0, interval_us=0, status=None):
    """A StreamingOutputCallRequest."""
    parameters = [(2, message((1, size), (2, interval_us))) for size in sizes]
    return message(*parameters, (3, payload(request_bytes)), *([(7, status)] if status else []))


def payload_bytes(reply):
    return len(get(reply, 1, 2))


class Requests:
    """Requests of a stream that the test sends one by one."""

    def __init__(self):
        self.queue = queue.Queue()

    def send(self, request):
        self.queue.put(request)

    def end(self):
        self.queue.put(None)

    def __iter__(self):
        return iter(self.queue.get, None)


class Case(unittest.TestCase):
    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.server = SuiteServer(BIN, *cls.arguments)
        cls.server.__enter__()
        cls.channel = grpc.insecure_channel(cls.server.address, options=OPTIONS)

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()
        cls.server.__exit__()

    def unary(self, path, request, **more):
        return self.channel.unary_unary(path).with_call(request, timeout=10, **more)

    def assert_fails(self, code, call, *arguments, **more):
        with self.assertRaises(grpc.RpcError) as caught:
            result = call(*arguments, **more)
            list(result)
        self.assertEqual(caught.exception.code(), code, caught.exception)
        return caught.exception


class Interop(Case):
    def test_empty_unary(self):
        self.assertEqual(self.unary(TEST + "EmptyCall", b"")[0], b"")

    def test_large_unary(self):
        reply, _ = self.unary(TEST + "UnaryCall", simple(314159, 271828))
        self.assertEqual(payload_bytes(reply), 314159)
        self.assertEqual(get(self.unary(TEST + "UnaryCall", simple(1, 1, (9, 1)))[0], 4),
                         b"suite_server")

    def test_client_streaming(self):
        sizes = [27182, 8, 1828, 45904]
        reply = self.channel.stream_unary(TEST + "StreamingInputCall")(
            iter([message((1, payload(size))) for size in sizes]), timeout=10)
        self.assertEqual(get(reply, 1), sum(sizes))

    def test_server_streaming(self):
        sizes = [31415, 9, 2653, 58979]
        replies = self.channel.unary_stream(TEST + "StreamingOutputCall")(output(*sizes), timeout=10)
        self.assertEqual([payload_bytes(reply) for reply in replies], sizes)

    def test_replies_wait_for_their_interval(self):
        start = time.monotonic()
        replies = self.channel.unary_stream(TEST + "StreamingOutputCall")(
            output(1, 2, 3, interval_us=50_000), timeout=10)
        self.assertEqual([payload_bytes(reply) for reply in replies], [1, 2, 3])
        self.assertGreater(time.monotonic() - start, 0.15)

    def test_ping_pong(self):
        requests = Requests()
        replies = self.channel.stream_stream(TEST + "FullDuplexCall")(iter(requests), timeout=10)
        for reply_bytes, request_bytes in PING_PONG_SIZES:
            requests.send(output(reply_bytes, request_bytes=request_bytes))
            self.assertEqual(payload_bytes(next(replies)), reply_bytes)
        requests.end()
        self.assertEqual(list(replies), [])
        self.assertEqual(replies.code(), grpc.StatusCode.OK)

    def test_half_duplex(self):
        """Sends no reply before the last request, then all of them."""
        requests = Requests()
        replies = self.channel.stream_stream(TEST + "HalfDuplexCall")(iter(requests), timeout=10)
        for reply_bytes, request_bytes in PING_PONG_SIZES:
            requests.send(output(reply_bytes, request_bytes=request_bytes))
        requests.end()
        self.assertEqual([payload_bytes(reply) for reply in replies],
                         [reply_bytes for reply_bytes, _ in PING_PONG_SIZES])

    def test_empty_stream(self):
        replies = self.channel.stream_stream(TEST + "FullDuplexCall")(iter(()), timeout=10)
        self.assertEqual(list(replies), [])

    def test_a_large_stream_to_a_slow_reader(self):
        """16 MiB of replies wait for who reads them, and come whole."""
        replies = self.channel.unary_stream(TEST + "StreamingOutputCall")(
            output(*[1 << 20] * 16), timeout=30)
        time.sleep(0.2)
        self.assertEqual(sum(payload_bytes(reply) for reply in replies), 16 << 20)

    def test_timeout_on_sleeping_server(self):
        requests = Requests()
        requests.send(output(31415, request_bytes=27182, interval_us=2_000_000))
        call = self.channel.stream_stream(TEST + "FullDuplexCall")
        self.assert_fails(grpc.StatusCode.DEADLINE_EXCEEDED, call, iter(requests), timeout=0.05)
        requests.end()

    def test_cancel_after_begin(self):
        requests = Requests()
        call = self.channel.stream_unary(TEST + "StreamingInputCall").future(iter(requests))
        time.sleep(0.05)
        call.cancel()
        self.assertEqual(call.code(), grpc.StatusCode.CANCELLED)
        requests.end()

    def test_cancel_after_first_response(self):
        requests = Requests()
        requests.send(output(31415, request_bytes=27182))
        replies = self.channel.stream_stream(TEST + "FullDuplexCall")(iter(requests), timeout=10)
        next(replies)
        replies.cancel()
        self.assertEqual(replies.code(), grpc.StatusCode.CANCELLED)
        requests.end()

    def test_status_code_and_message(self):
        status = message((1, 2), (2, "test status message"))
        error = self.assert_fails(grpc.StatusCode.UNKNOWN, self.channel.unary_unary(
            TEST + "UnaryCall"), message((7, status)), timeout=10)
        self.assertEqual(error.details(), "test status message")
        error = self.assert_fails(grpc.StatusCode.UNKNOWN, self.channel.stream_stream(
            TEST + "FullDuplexCall"), iter([output(status=status)]), timeout=10)
        self.assertEqual(error.details(), "test status message")

    def test_special_status_message(self):
        error = self.assert_fails(grpc.StatusCode.UNKNOWN, self.channel.unary_unary(
            TEST + "UnaryCall"), message((7, message((1, 2), (2, SPECIAL)))), timeout=10)
        self.assertEqual(error.details(), SPECIAL)

    def test_unimplemented(self):
        for path in (TEST + "UnimplementedCall", "/grpc.testing.UnimplementedService/UnimplementedCall"):
            self.assert_fails(grpc.StatusCode.UNIMPLEMENTED, self.channel.unary_unary(path), b"",
                              timeout=10)

    def test_custom_metadata(self):
        sent = [("x-grpc-test-echo-initial", "test_initial_metadata_value"),
                ("x-grpc-test-echo-trailing-bin", b"\xab\xab\xab")]
        _, call = self.unary(TEST + "UnaryCall", simple(314159, 271828), metadata=sent)
        self.assertIn(sent[0], call.initial_metadata())
        self.assertIn(sent[1], call.trailing_metadata())
        replies = self.channel.stream_stream(TEST + "FullDuplexCall")(
            iter([output(314159, request_bytes=271828)]), timeout=10, metadata=sent)
        self.assertEqual(payload_bytes(next(replies)), 314159)
        self.assertIn(sent[0], replies.initial_metadata())
        self.assertEqual(list(replies), [])
        self.assertIn(sent[1], replies.trailing_metadata())

    def test_client_compressed_unary(self):
        """Compressed messages are detected; a message that is falsely marked as compressed is refused."""
        expected = (8, message((1, 1)))
        call = self.channel.unary_unary(TEST + "UnaryCall")
        self.assert_fails(grpc.StatusCode.INVALID_ARGUMENT, call, simple(314159, 271828, expected),
                          timeout=10)
        reply = call(simple(314159, 271828, expected), timeout=10,
                     compression=grpc.Compression.Gzip)
        self.assertEqual(payload_bytes(reply), 314159)
        self.assert_fails(grpc.StatusCode.INVALID_ARGUMENT, call,
                          simple(1, 271828, (8, message((1, 0)))), timeout=10,
                          compression=grpc.Compression.Gzip)

    def test_client_compressed_streaming(self):
        call = self.channel.stream_unary(TEST + "StreamingInputCall")
        requests = [message((1, payload(size)), (2, message((1, 1)))) for size in (27182, 45904)]
        self.assert_fails(grpc.StatusCode.INVALID_ARGUMENT, call, iter(requests), timeout=10)
        reply = call(iter(requests), timeout=10, compression=grpc.Compression.Gzip)
        self.assertEqual(get(reply, 1), 27182 + 45904)


def header(name, *values):
    return message((1, name), *[(2, value) for value in values])


def definition(data=(), headers=(), trailers=(), delay_ms=0, error=None, stream=True):
    """A StreamResponseDefinition, or a UnaryResponseDefinition."""
    numbers = (4, 5, 3) if stream else (3, 4, 6)  # numbers of error, trailers, delay
    return message(*[(1, h) for h in headers], *[(2, d) for d in data],
                   *([(numbers[0], error)] if error else []),
                   *[(numbers[1], t) for t in trailers], (numbers[2], delay_ms))


def info_of(reply):
    return get(reply, 1, 2)


class Conformance(Case):
    def test_unary(self):
        """Metadata in both directions, with several values and binary ones; timeout, request and delay."""
        request = message((1, definition([b"data"], [header("x-a", "1", "2"), header("b-bin", "AP8=")],
                                         [header("x-t", "3")], 50, stream=False)), (2, b"pad"))
        start = time.monotonic()
        reply, call = self.unary(CONFORMANCE + "Unary", request,
                                 metadata=[("x-m", "one"), ("x-m", "two"), ("y-bin", b"\0\xff")])
        self.assertGreater(time.monotonic() - start, 0.05)
        self.assertEqual(get(reply, 1, 1), b"data")
        self.assertEqual([v for k, v in call.initial_metadata() if k == "x-a"], ["1", "2"])
        self.assertIn(("b-bin", b"\0\xff"), call.initial_metadata())
        self.assertIn(("x-t", "3"), call.trailing_metadata())
        echoed = {get(h, 1): get_all(h, 2) for h in get_all(info_of(reply), 1)}
        self.assertEqual(echoed[b"x-m"], [b"one", b"two"])
        self.assertEqual(echoed[b"y-bin"][0].rstrip(b"="), b"AP8")
        self.assertTrue(0 < get(info_of(reply), 2) < 12_000, reply)
        self.assertEqual(get_all(info_of(reply), 3),
                         [message((1, TYPE + "UnaryRequest"), (2, request))])

    def test_unary_error(self):
        """The error's details come first, then the request information."""
        error = message((1, 8), (2, "no"), (3, message((1, "type.googleapis.com/x.Y"), (2, b"z"))))
        request = message((1, definition(error=error, stream=False)))
        failed = self.assert_fails(grpc.StatusCode.RESOURCE_EXHAUSTED,
                                   self.channel.unary_unary(CONFORMANCE + "Unary"), request, timeout=10)
        raw = dict(failed.trailing_metadata())["grpc-status-details-bin"]
        self.assertEqual([get(d, 1) for d in get_all(raw, 3)],
                         [b"type.googleapis.com/x.Y",
                          (TYPE + "ConformancePayload.RequestInfo").encode()])
        self.assertEqual(get(raw, 1), 8)

    def test_idempotent_unary(self):
        request = message((1, definition([b"x"], stream=False)))
        reply, _ = self.unary(CONFORMANCE + "IdempotentUnary", request)
        self.assertEqual(get(info_of(reply), 3, 1), (TYPE + "IdempotentUnaryRequest").encode())

    def test_client_stream(self):
        requests = [message((1, definition([b"x"], stream=False))), message((2, b"second"))]
        call = self.channel.stream_unary(CONFORMANCE + "ClientStream")
        reply = call(iter(requests), timeout=10)
        self.assertEqual([get(r, 2) for r in get_all(info_of(reply), 3)], requests)
        self.assertEqual(get_all(info_of(call(iter(()), timeout=10)), 3), [])

    def test_server_stream(self):
        """Replies, then the error, without details of the requests."""
        request = message((1, definition([b"1", b"2"], error=message((1, 10)), delay_ms=20)))
        replies = self.channel.unary_stream(CONFORMANCE + "ServerStream")(request, timeout=10)
        self.assertEqual(get(info_of(next(replies)), 3, 2), request)
        self.assertEqual(fields(next(replies)), [(1, message((1, b"2")))])
        error = self.assert_fails(grpc.StatusCode.ABORTED, lambda: replies)
        self.assertEqual(get_all(dict(error.trailing_metadata())["grpc-status-details-bin"], 3), [])

    def test_metadata_of_a_stream_without_replies(self):
        """Leading metadata is kept, even if there are no replies."""
        for error in (None, message((1, 3))):
            request = message((1, definition(headers=[header("x-h", "1")],
                                             trailers=[header("x-t", "2")], error=error)))
            replies = self.channel.unary_stream(CONFORMANCE + "ServerStream")(request, timeout=10)
            self.assertIn(("x-h", "1"), replies.initial_metadata())
            self.assertNotIn("x-h", dict(replies.trailing_metadata()))
            self.assertIn(("x-t", "2"), replies.trailing_metadata())

    def test_full_duplex(self):
        """A reply to each request; a request for which there is none left ends the call."""
        requests = Requests()
        replies = self.channel.stream_stream(CONFORMANCE + "BidiStream")(iter(requests), timeout=10)
        first = message((1, definition([b"1", b"2"], error=message((1, 5)))), (2, 1))
        requests.send(first)
        self.assertEqual(get(next(replies), 1, 1), b"1")
        requests.send(message((3, b"again")))
        self.assertEqual(get(info_of(next(replies)), 3, 2), message((3, b"again")))
        requests.send(b"")
        self.assert_fails(grpc.StatusCode.NOT_FOUND, lambda: replies)
        requests.end()

    def test_half_duplex(self):
        requests = [message((1, definition([b"1", b"2"]))), b""]
        replies = list(self.channel.stream_stream(CONFORMANCE + "BidiStream")(iter(requests), timeout=10))
        self.assertEqual([get(reply, 1, 1) for reply in replies], [b"1", b"2"])
        self.assertEqual(len(get_all(info_of(replies[0]), 3)), 2)

    def test_started_as_the_runner_does(self):
        """The request on standard input, the address on standard output; the message limit holds."""
        process = subprocess.Popen([os.path.join(BIN, "suite_server"), "conformance"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        wanted = message((1, 2), (2, 2), (6, 1000))
        process.stdin.write(struct.pack(">I", len(wanted)) + wanted)
        process.stdin.flush()
        (size,) = struct.unpack(">I", process.stdout.read(4))
        reply = process.stdout.read(size)
        with grpc.insecure_channel(f"{get(reply, 1).decode()}:{get(reply, 2)}", options=OPTIONS) as channel:
            call = channel.unary_unary(CONFORMANCE + "Unary")
            self.assertTrue(call(message((2, bytes(900))), timeout=10))
            self.assert_fails(grpc.StatusCode.RESOURCE_EXHAUSTED, call, message((2, bytes(1001))),
                              timeout=10)
        process.terminate()
        self.assertEqual(process.wait(20), 0)
        process.stdin.close()
        process.stdout.close()

    def test_tls_is_not_to_be_had(self):
        wanted = message((4, 1))
        done = subprocess.run([os.path.join(BIN, "suite_server"), "conformance"],
                              input=struct.pack(">I", len(wanted)) + wanted, capture_output=True,
                              timeout=20)
        self.assertEqual((done.returncode, done.stdout), (1, b""))


def frame(kind, flags, stream, payload_of_it=b""):
    return (struct.pack(">I", len(payload_of_it))[1:] + bytes([kind, flags]) +
            struct.pack(">I", stream) + payload_of_it)


class Plain(unittest.TestCase):
    def test_answer(self):
        """HTTP/2 without gRPC: head, text and trailers, after the request's end."""
        fields_of_it = b"\x83\x86\x84\x01" + varint(4) + b"here"  # POST, http, /, :authority
        with SuiteServer(BIN, "plain") as server, \
                socket.create_connection((server.host, int(server.port)), 10) as link:
            link.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0) +
                         frame(1, 4, 1, fields_of_it) + frame(0, 0, 1, b"half"))
            link.settimeout(0.2)
            kinds = self.read_kinds(link)
            self.assertNotIn(1, [kind for kind, _ in kinds])
            link.settimeout(10)
            link.sendall(frame(0, 1, 1, b"end"))
            kinds = []
            while (1, 5) not in [(kind, flags) for kind, (flags, _) in kinds]:
                kinds += self.read_kinds(link, one=True)
            self.assertEqual([kind for kind, _ in kinds if kind < 2], [1, 0, 1])
            self.assertIn(b"answered", dict(kinds)[0][1])

    @staticmethod
    def read_kinds(link, one=False):
        """Frames that come: (kind, (flags, payload)); until none does for a while, or the first."""
        got = []
        try:
            while not (one and got):
                head = link.recv(9, socket.MSG_WAITALL)
                size = int.from_bytes(head[:3], "big")
                got.append((head[3], (head[4], link.recv(size, socket.MSG_WAITALL) if size else b"")))
        except TimeoutError:
            pass
        return got


if __name__ == "__main__":
    unittest.main()
