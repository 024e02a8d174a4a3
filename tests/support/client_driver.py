"""The C client library under test: runs bin/client_driver, and is between it and a server.

Driver makes calls over the lasting channel and collects how each ended. Proxy forwards bytes to a real
server until a test specifies otherwise. Peer is not a server: a port where a function of the test's own
has each connection.
"""
import os
import select
import socket
import struct
import subprocess
import threading
import time
from typing import NamedTuple

from erratad import (BIN, event_log, event_service, feedback, feedback_service, prompt_service,
                     wait_until)

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
CAPTURE = "/errata.v1.FeedbackService/CaptureFeedbackEvent"
LOOKUP = "/errata.v1.PromptService/GetExamples"
OK, DEADLINE_EXCEEDED, UNAVAILABLE = 0, 4, 14
DATA_FRAME = 0
END_SECONDS = 90 # time limit of a driver on a busy machine


class Outcome(NamedTuple):
    number: int
    code: int
    attempts: int
    from_server: bool
    unseen: bool
    replies: int
    ms: int
    key: str
    message: str


def capture_call(name, key="-"):
    """Returns an event whose entity is `name`, as a call of the driver."""
    request = feedback_service.CaptureFeedbackEventRequest(event=feedback.FeedbackEvent(
        event_type=LINE, layout_fingerprint="driver", entity_type="line", entity_id=name,
        after_json='{"name":"%s"}' % name))
    return CAPTURE, key, request.SerializeToString()


def lookup_call():
    request = prompt_service.GetExamplesRequest(layout_fingerprint="driver")
    return LOOKUP, "-", request.SerializeToString()


def stored_names(client):
    """The entities of all captured events, in the order of the log."""
    names, token = [], ""
    while True:
        page = client.log.ListEvents(event_service.ListEventsRequest(page_size=1000,
                                                                     page_token=token))
        names += [event.feedback_event.entity_id for event in page.events
                  if event.kind == event_log.EVENT_KIND_FEEDBACK]
        token = page.next_page_token
        if not token:
            return names


class Driver:
    """Runs the calls; options are those of client_driver.c, with _ for -."""

    def __init__(self, address, token, calls, **options):
        self.outcomes = []
        self.statistics = {}
        arguments = [os.path.join(BIN, "client_driver"), "--server", address, "--token", token]
        for name, value in options.items():
            arguments += ["--" + name.replace("_", "-"), str(value)]
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        for path, key, request in calls:
            self.process.stdin.write(f"{path} {key} {request.hex()}\n")
        self.process.stdin.close()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            words = line.rstrip("\n").split(" ", 8)
            if words[0] == "channel":
                self.statistics = dict(zip(words[1::2], map(int, words[2::2])))
            elif len(words) == 9: # a killed driver leaves an incomplete line
                numbers = [int(word) for word in words[:7]]
                self.outcomes.append(Outcome(*numbers, *words[7:]))

    def wait_for(self, count):
        """Waits until this number of calls have ended."""
        wait_until(lambda: len(self.outcomes) >= count or self.process.poll() is not None,
                   f"{count} calls to end", seconds=END_SECONDS, step_seconds=0.005)

    def kill(self):
        self.process.kill()
        self.reader.join()
        self.close()

    def wait(self):
        """Waits until the driver ends by itself; returns the outcomes by number."""
        self.reader.join(END_SECONDS)
        said = (f"{len(self.outcomes)} calls have ended in {END_SECONDS} s"
                if self.reader.is_alive() else self.process.stderr.read())
        self.kill()
        assert self.process.returncode == 0, f"{self.process.returncode}: {said}"
        return sorted(self.outcomes)

    def close(self):
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


def run(address, token, calls, **options):
    """Runs calls to their end; returns the outcomes and the channel's counts."""
    driver = Driver(address, token, calls, **options)
    return driver.wait(), driver.statistics


class Peer:
    """Listens on a port of its own; `serve` has each connection, on a thread, until it returns."""

    def __init__(self, serve, port=0):
        self.serve = serve
        self.times = [] # time of each connection
        self.open = []
        self.closed = False
        self.listener = socket.create_server(("127.0.0.1", port))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.accept)
        self.thread.start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return # closed
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.times.append(time.monotonic())
            self.open.append(connection)
            threading.Thread(target=self.have, args=(connection,), daemon=True).start()

    def have(self, connection):
        try:
            self.serve(connection)
        except (OSError, ValueError):
            pass # the other side has ended, or close() was called

    def close(self):
        self.closed = True
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
        for connection in self.open:
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def reset(connection):
    """Closes it by RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Proxy(Peer):
    """Forwards to a server. What is set here holds for bytes that come from then on."""

    def __init__(self, target, port=0):
        host, target_port = target.rsplit(":", 1)
        self.target = (host, int(target_port))
        self.delay_s = 0 # delay of bytes to the client
        self.dribble = False # send bytes to the client one at a time
        self.cuts = 0 # number of connections to reset within the first DATA frame of a response
        self.losses = 0 # number of answers to reset the connection at, instead of sending them
        self.frozen = set() # connections that are neither forwarded nor closed
        self.freezes_all = False
        super().__init__(self.forward, port)

    def freeze(self):
        """Stops forwarding on the open connections, including their ends."""
        self.frozen.update(self.open)

    def is_frozen(self, connection):
        return not self.closed and (self.freezes_all or connection in self.frozen)

    def forward(self, connection):
        """Both ways on one thread: a socket that another one reads can't be reset."""
        server = socket.create_connection(self.target)
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        cutter = Cutter() if self.cuts > 0 else None
        self.cuts -= cutter is not None
        with server, connection:
            sinks = {server: connection, connection: server}
            while sinks and not self.closed:
                for source in select.select(list(sinks), [], [])[0]:
                    data = source.recv(65536)
                    while self.is_frozen(connection):
                        time.sleep(0.05)
                    if not data:
                        sinks.pop(source).shutdown(socket.SHUT_WR)
                    elif source is connection:
                        server.sendall(data)
                    elif not self.answer(connection, data, cutter):
                        return

    def answer(self, connection, data, cutter):
        """Sends what came from the server; false if that is the end of the connection."""
        cut = cutter.find(data) if cutter is not None else None
        if cut is None and self.losses > 0:
            self.losses -= 1
            cut = 0
        if cut is not None:
            connection.sendall(data[:cut])
            reset(connection)
            return False
        time.sleep(self.delay_s)
        self.send(connection, data, self.dribble)
        return True

    @staticmethod
    def send(sink, data, dribble):
        if not dribble:
            sink.sendall(data)
            return
        for i in range(len(data)):
            sink.sendall(data[i:i + 1])
            time.sleep(0.0005)


class Cutter:
    """Follows the frames of a server (RFC 9113, 4.1), until the first DATA frame."""

    def __init__(self):
        self.bytes = b"" # bytes since the start of a frame

    def find(self, data):
        """Returns the position after the first byte of a DATA frame's payload; None: not found yet."""
        self.bytes += data
        while len(self.bytes) > 9:
            length = int.from_bytes(self.bytes[:3], "big")
            if self.bytes[3] == DATA_FRAME:
                return len(data) - len(self.bytes) + 10
            if len(self.bytes) < 9 + length:
                return None
            self.bytes = self.bytes[9 + length:]
        return None
