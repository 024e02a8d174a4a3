"""A real Redis on a Unix socket in a folder of its own, and a client of a few lines: no code of the server is between a
test and the stream. REDIS_SERVER names another program than Debian's redis-server.
"""
import os
import shutil
import socket
import subprocess
import tempfile
import time

PROGRAM = os.environ.get("REDIS_SERVER", "redis-server")
STREAM = "asdlc:events:hitl_decisions"
GROUP = "errata"
START_SECONDS = 20


def fields_of(number, **others):
    """The fields of a valid entry, each as a text."""
    return {"decision_id": f"d-{number}", "gate_id": "HITL-1", "epic_id": "epic-1", "task_id": f"t-{number}",
            "decision": "REJECTED", "agent_name": "coder", "reviewer_id": "anna", "timestamp": "2026-01-02T03:04:05Z",
            "reviewer_comment": "Set a timeout on each remote call.", "tags": '["api", "skill:http"]'} | others


class RedisError(Exception):
    """An error that Redis answered."""


class RedisClient:
    """One connection; a command is its words."""

    def __init__(self, path, password=None):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(START_SECONDS)
        self.socket.connect(path)
        self.replies = self.socket.makefile("rb")
        if password:
            self("AUTH", password)

    @staticmethod
    def packed(words):
        encoded = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        return b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(one), one) for one in encoded)

    def read(self):
        line = self.replies.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("Redis closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RedisError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest.decode()
        size = int(rest)
        if size < 0:
            return None
        if kind == b"*":
            return [self.read() for _ in range(size)]
        data = self.replies.read(size + 2)
        if len(data) != size + 2:
            raise ConnectionError("Redis closed the connection")
        return data[:-2].decode(errors="surrogateescape")

    def __call__(self, *words):
        self.socket.sendall(self.packed(words))
        return self.read()

    def add_all(self, entries, stream=STREAM):
        """Adds entries at once, each as its fields; returns their ids."""
        self.socket.sendall(b"".join(self.packed(["XADD", stream, "*", *[word for pair in fields.items() for word in pair]])
                                     for fields in entries))
        return [self.read() for _ in entries]

    def add(self, fields, stream=STREAM):
        """Adds an entry, and returns its id."""
        return self.add_all([fields], stream)[0]

    def group(self):
        """Returns the only group of the stream as Redis reports it: name -> value; empty without a group."""
        groups = self("XINFO", "GROUPS", STREAM)
        return dict(zip(*[iter(groups[0])] * 2)) if groups else {}

    def is_settled(self):
        """Whether every entry of the stream was delivered and acknowledged."""
        group = self.group()
        return group["lag"] == 0 and group["pending"] == 0

    def close(self):
        self.replies.close()
        self.socket.close()


class RedisServer:
    """A running redis-server; `durable`: an acknowledged command is on the disk."""

    def __init__(self, durable=False, arguments=()):
        self.folder = tempfile.mkdtemp(prefix="errata-redis-")
        self.path = os.path.join(self.folder, "socket")
        self.arguments = ["--port", "0", "--unixsocket", self.path, "--dir", self.folder, "--save", "",
                          "--appendonly", "yes" if durable else "no", "--appendfsync", "always", *arguments]
        self.process = None

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen([PROGRAM, *self.arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                client = self.client()
                client("PING")
                client.close()
                return self
            except RedisError as e:
                if not str(e).startswith("LOADING"):
                    return self  # it wants a password
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("redis-server did not start")
            time.sleep(0.02)

    def client(self, password=None):
        return RedisClient(self.path, password)

    def kill9(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process is not None:
            self.kill9()
        shutil.rmtree(self.folder, ignore_errors=True)
