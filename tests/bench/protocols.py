#!/usr/bin/python3
"""Measures the server's CPU of one GetExamples call by every protocol, in one run, as ratios to gRPC, beside connect-node.

    tests/bench/protocols.py [--build build/release] [--calls 2000] [--rounds 7] [--in-flight 1,16] [--no-peer]

Each round makes the same calls by each protocol, one after the other, on a connection of its own; then the same of a
server of connect-node that returns the same reply, where it has the protocol. A ratio is taken within each round, and the
median of the rounds counts. Requests are written once and sent again, as bytes, so the client costs the same for all;
several in flight go out in one write. Goals with several in flight, where the protocol outweighs the system calls:
Connect in proto at most 1.2 times gRPC, in JSON at most 2 times. Needs the targets erratad, python_stubs and published,
and Node 20 for the peer; best on a quiet machine with two cores.
"""
import argparse
import base64
import contextlib
import json
import os
import socket
import statistics
import struct
import sys
import urllib.parse

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
METHOD = "/errata.v1.PromptService/GetExamples"
LAYOUT = "ab" * 32
GOALS = {"connect proto": 1.2, "connect json": 2.0}
STATIC_ENTRIES = 61  # number of static entries of HPACK (RFC 7541, appendix A); dynamic ones follow
DATA, HEADERS, SETTINGS, WINDOW_UPDATE = 0, 1, 4, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
WINDOW = 1 << 30


def cpu_ns(pid):
    """Returns the CPU time of the threads of a process."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as f:
            total += int(f.read().split()[0])
    return total


def envelope(message):
    return struct.pack(">BI", 0, len(message)) + message


class Http1:
    """Requests one after the other on a connection; `in_flight` are sent at once."""

    def __init__(self, address, verb, target, fields, body):
        self.address = address
        head = f"{verb} {target} HTTP/1.1\r\nhost: {address}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        head += f"content-length: {len(body)}\r\n\r\n" if verb == "POST" else "\r\n"
        self.request = head.encode() + body
        self.open()

    def open(self):
        """Makes a new connection, since each accepts a bounded number of requests."""
        self.socket = connect(self.address)
        self.bytes = b""

    def take(self, size):
        while len(self.bytes) < size:
            more = self.socket.recv(1 << 18)
            assert more, "the server ended the connection"
            self.bytes += more
        taken, self.bytes = self.bytes[:size], self.bytes[size:]
        return taken

    def line(self):
        while b"\r\n" not in self.bytes:
            more = self.socket.recv(1 << 18)
            assert more, "the server ended the connection"
            self.bytes += more
        line, _, self.bytes = self.bytes.partition(b"\r\n")
        return line

    def reply(self):
        """Returns the body of the next response, which must have status 200."""
        status = self.line()
        assert status.startswith(b"HTTP/1.1 200 "), status
        fields = {}
        for line in iter(self.line, b""):
            name, _, value = line.partition(b": ")
            fields[name.lower()] = value
        if b"content-length" in fields:
            return self.take(int(fields[b"content-length"]))
        body = b""
        while size := int(self.line(), 16):
            body += self.take(size)
            self.line()
        assert self.line() == b""
        return body

    def run(self, calls, in_flight):
        """Makes the calls, and returns the last reply."""
        reply = b""
        for _ in range(calls // in_flight):
            self.socket.sendall(self.request * in_flight)
            for _ in range(in_flight):
                reply = self.reply()
        return reply


def literal(name, value):
    """Returns a header field with incremental indexing; name and value have fewer than 127 bytes."""
    def text(data):
        data = data.encode()
        if len(data) < 127:
            return bytes([len(data)]) + data
        return b"\x7f" + bytes([(len(data) - 127) % 128 | (0x80 if len(data) >= 255 else 0)]) + (
            bytes([(len(data) - 127) // 128]) if len(data) >= 255 else b"") + data
    return b"\x40" + text(name) + text(value)


class Http2:
    """Calls on streams of a connection; fields are sent by their index from the second call on, as libraries do."""

    def __init__(self, address, target, fields, body):
        self.address = address
        self.fields = {":method": "POST", ":scheme": "http", ":path": target, ":authority": address, **fields}
        self.body = body
        self.open()

    def open(self):
        """Makes a new connection."""
        self.socket = connect(self.address)
        self.bytes = b""
        self.next_stream = 1
        settings = struct.pack(">HIHI", 4, WINDOW, 3, 0x7fffffff)
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings) + frame(
            WINDOW_UPDATE, 0, 0, struct.pack(">I", WINDOW)))

    def block(self):
        if self.next_stream == 1:
            return b"".join(literal(name, value) for name, value in self.fields.items())
        return bytes(0x80 | (STATIC_ENTRIES + len(self.fields) - i) for i in range(len(self.fields)))

    def request(self):
        stream, block = self.next_stream, self.block()
        self.next_stream += 2
        return frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, END_STREAM, stream, self.body)

    def take_frame(self):
        while len(self.bytes) < 9 or len(self.bytes) < 9 + int.from_bytes(self.bytes[:3], "big"):
            more = self.socket.recv(1 << 18)
            assert more, "the server ended the connection"
            self.bytes += more
        end = 9 + int.from_bytes(self.bytes[:3], "big")
        head, payload, self.bytes = self.bytes[:9], self.bytes[9:end], self.bytes[end:]
        return head[3], head[4], int.from_bytes(head[5:9], "big"), payload

    def replies(self, count):
        """Returns the body of the last of that many streams."""
        bodies, received = {}, 0
        while count:
            kind, flags, stream, payload = self.take_frame()
            if kind == SETTINGS and not flags & ACK:
                self.socket.sendall(frame(SETTINGS, ACK, 0, b""))
            elif kind == DATA:
                bodies[stream] = bodies.get(stream, b"") + payload
                received += len(payload)
            if kind in (DATA, HEADERS) and flags & END_STREAM:
                count -= 1
                last = stream
        if self.next_stream % 2048 == 1:
            self.socket.sendall(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 23)))
        return bodies[last]

    def run(self, calls, in_flight):
        reply = b""
        for _ in range(calls // in_flight):
            self.socket.sendall(b"".join(self.request() for _ in range(in_flight)))
            reply = self.replies(in_flight)
        return reply


def frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def connect(address):
    host, port = address.rsplit(":", 1)
    made = socket.create_connection((host, int(port)), timeout=60)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def make_sides(http1, http2, token, request):
    """Name -> connection with its request, to a server with these addresses."""
    from google.protobuf import json_format
    token = {"authorization": f"Bearer {token}"}
    wire = request.SerializeToString()
    text = json_format.MessageToJson(request, indent=None).encode()
    connect_fields = {**token, "connect-protocol-version": "1"}
    in_json, in_proto = ({**connect_fields, "content-type": f"application/{codec}"} for codec in ("json", "proto"))
    web = {**token, "content-type": "application/grpc-web+proto", "x-grpc-web": "1"}
    query = urllib.parse.urlencode({"connect": "v1", "encoding": "json", "message": text})
    return {
        "grpc": Http2(http2, METHOD, {**token, "content-type": "application/grpc", "te": "trailers"}, envelope(wire)),
        "connect proto, HTTP/2": Http2(http2, METHOD, in_proto, wire),
        "connect json, HTTP/2": Http2(http2, METHOD, in_json, text),
        "connect proto, HTTP/1.1": Http1(http1, "POST", METHOD, in_proto, wire),
        "connect json, HTTP/1.1": Http1(http1, "POST", METHOD, in_json, text),
        "connect json by GET, HTTP/1.1": Http1(http1, "GET", f"{METHOD}?{query}", token, b""),
        "grpc-web, HTTP/2": Http2(http2, METHOD, web, envelope(wire)),
        "grpc-web, HTTP/1.1": Http1(http1, "POST", METHOD, web, envelope(wire)),
    }


def make_own_sides(address, token, request):
    """As make_sides, of protocols that connect-node does not have."""
    from google.protobuf import json_format
    token = {"authorization": f"Bearer {token}"}
    web_text = {**token, "content-type": "application/grpc-web-text", "accept": "application/grpc-web-text",
                "x-grpc-web": "1"}
    tool = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "get_examples", "arguments": json_format.MessageToDict(request)}}).encode()
    agent = {**token, "content-type": "application/json", "accept": "application/json, text/event-stream",
             "mcp-protocol-version": "2025-11-25"}
    return {
        "grpc-web text, HTTP/1.1": Http1(address, "POST", METHOD, web_text,
                                         base64.b64encode(envelope(request.SerializeToString()))),
        "REST, HTTP/1.1": Http1(address, "GET", f"/examples?layout_fingerprint={LAYOUT}", token, b""),
        "MCP, HTTP/1.1": Http1(address, "POST", "/mcp", agent, tool),
    }


def check(sides):
    """Checks that every reply has the examples, by a member that only they have."""
    for name, side in sides.items():
        reply = side.run(1, 1)
        if "text" in name:
            reply = b"".join(base64.b64decode(reply[at:at + 4]) for at in range(0, len(reply), 4))
        assert reply.count(b"unit_price") >= 3, f"{name}: {reply[:300]!r}"


def measure_side(pid, side, calls, in_flight):
    """Returns the CPU ns of a call."""
    side.open()
    side.run(4 * in_flight, in_flight)
    before = cpu_ns(pid)
    side.run(calls, in_flight)
    return (cpu_ns(pid) - before) / (calls // in_flight * in_flight)


def measure(servers, options, in_flight):
    """For each server, which is a process id and its sides: name -> CPU ns of a call, by round."""
    found = [{name: [] for name in sides} for _, sides in servers]
    for _ in range(options.rounds):
        for (pid, sides), times in zip(servers, found):
            for name, side in sides.items():
                times[name].append(measure_side(pid, side, options.calls, in_flight))
    return found


def ratio(times, others):
    """Returns the median, the least and the greatest of the ratios by round."""
    ratios = [time / other for time, other in zip(times, others)]
    return statistics.median(ratios), min(ratios), max(ratios)


def report(found, peer, in_flight):
    """Prints a table, and returns how many goals were missed. `peer` has the times of connect-node; may be empty."""
    print(f"\n{in_flight:<3} in flight{'':19} us a call   times gRPC (least to greatest)   goal   connect-node: us a call, "
          "times its gRPC, Errata's times it")
    missed = 0
    for name, times in found.items():
        middle, least, greatest = ratio(times, found["grpc"])
        goal = next((goal for start, goal in GOALS.items() if name.startswith(start)), None)
        is_missed = goal is not None and in_flight > 1 and middle > goal
        missed += is_missed
        beside = ""
        if name in peer:
            beside = (f"{statistics.median(peer[name]) / 1000:8.1f} {ratio(peer[name], peer['grpc'])[0]:6.2f} "
                      f"{ratio(times, peer[name])[0]:6.3f}")
        print(f"{name:32} {statistics.median(times) / 1000:12.1f}   {middle:8.2f} ({least:.2f} to {greatest:.2f})   "
              f"{goal or '':>7}{' MISSED' if is_missed else '       '} {beside}")
    return missed


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--in-flight", default="1,16")
    parser.add_argument("--no-peer", action="store_true", help="measure without connect-node")
    return parser.parse_args()


def main():
    options = parse_options()
    os.environ["ERRATA_BIN"] = os.path.join(options.build, "bin")
    os.environ["ERRATA_STUBS"] = os.path.join(options.build, "gen", "python")
    os.environ["ERRATA_BUILD"] = options.build
    sys.path[:0] = [os.path.join(ROOT, "tests", "support"), os.path.join(ROOT, "tests", "interop")]
    from connect_node import ConnectNode
    from erratad import Server, feedback, prompt_service

    missed = 0
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Server())
        client = server.client()
        for number in range(3):
            line = {f"line_{i}": {"sku": f"A-{number}-{i}", "quantity": i, "unit_price": 12.5 + i} for i in range(10)}
            client.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
                           layout_fingerprint=LAYOUT, entity_type="line", entity_id=str(number),
                           before_json=json.dumps({"lines": 0}), after_json=json.dumps(line))
        request = prompt_service.GetExamplesRequest(layout_fingerprint=LAYOUT)
        reply = client.prompts.GetExamples(request).SerializeToString()
        client.close()
        token = server.admin_token
        sides = {**make_sides(server.address, server.address, token, request),
                 **make_own_sides(server.address, token, request)}
        servers = [(server.process.pid, sides)]
        if not options.no_peer:
            peer = stack.enter_context(ConnectNode(options.build, reply))
            servers.append((peer.process.pid, make_sides(peer.http1, peer.http2, token, request)))
        for _, sides in servers:
            check(sides)
        for in_flight in (int(count) for count in options.in_flight.split(",")):
            found, *peers = measure(servers, options, in_flight)
            missed += report(found, peers[0] if peers else {}, in_flight)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
