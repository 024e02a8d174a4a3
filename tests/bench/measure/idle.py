"""HTTP/2 connections that make one call and then wait, to measure the memory of each on a server."""
import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS = 0, 1, 4
END_STREAM, END_HEADERS, ACK = 1, 4, 1
TIMEOUT_SECONDS = 20


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(
        ">I", stream) + payload


def field(name, value):
    """A header field without indexing (RFC 7541, 6.2.2)."""
    out = bytearray([0])
    for text in (name.encode(), value.encode()):
        out += bytes([len(text)]) if len(text) < 127 else bytes([127, len(text) - 127])
        out += text
    return bytes(out)


class IdleConnections:
    """Opens connections; each gets one answer, and is kept."""

    def __init__(self, server, method, body):
        token = None
        if server.tokens:
            with open(server.tokens, encoding="ascii") as f:
                token = f.readline().strip()
        headers = [(":method", "POST"), (":scheme", "http"), (":path", f"/{method}"),
                   (":authority", "localhost"), ("content-type", "application/grpc"),
                   ("te", "trailers")]
        if token:
            headers.append(("authorization", f"Bearer {token}"))
        self.port = server.port
        self.request = (PREFACE + frame(SETTINGS, 0, 0, b"")
                        + frame(HEADERS, END_HEADERS, 1, b"".join(field(*h) for h in headers))
                        + frame(DATA, END_STREAM, 1, body))
        self.sockets = []

    @property
    def count(self):
        return len(self.sockets)

    def open(self, count):
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", self.port), TIMEOUT_SECONDS)
            self.sockets.append(connection)
            connection.sendall(self.request)
            self.read_answer(connection)

    @staticmethod
    def read_answer(connection):
        """Reads until the call's stream ends, and acknowledges the server's settings."""
        stream = connection.makefile("rb")
        data = 0
        while True:
            head = stream.read(9)
            if len(head) < 9:
                raise RuntimeError("a connection ended before its call was answered")
            kind, flags, number = head[3], head[4], struct.unpack(">I", head[5:])[0]
            payload = stream.read(int.from_bytes(head[:3], "big"))
            if kind == SETTINGS and not flags & ACK:
                connection.sendall(frame(SETTINGS, ACK, 0, b""))
            data += len(payload) if kind == DATA else 0
            if number == 1 and kind in (DATA, HEADERS) and flags & END_STREAM:
                if data == 0:
                    raise RuntimeError("a call had no answer")
                return

    def close(self):
        for connection in self.sockets:
            connection.close()
        self.sockets = []
