"""Parts of the measurement that use the stores: each part is a method of Parts, which adds rows to the results."""
import json
import os
import subprocess
import time

from . import machine, wire
from .idle import IdleConnections
from .load import CAPTURE, EXAMPLES, LOOKUP_RATE, closed, opened, requests
from .stores import (EVENT_BYTES, FLOOR_ANSWER, FLOOR_LAYOUTS, FLOOR_ORGS, LAYOUTS, ORGS,
                     PREFIX_BYTES, SMALL_EVENT_BYTES)

FLOOR_METHOD = "errata.anchor.Errata/GetFewShotExamples"
CALLS = {(1, 1): 12_000, (1, 10): 60_000, (1, 100): 150_000, (10, 100): 200_000}
PEER_SHARE = 0.12  # share of the load, since gRPC for C++ needs ten times as long for a call
WARM_UP_CALLS = 100_000
CAPTURE_SHAPES = ((1, 1), (10, 1), (10, 10))
IDLE_CONNECTIONS = 2000
STORE_LOOKUPS = 100_000


class Parts:
    """Keeps the servers that several parts need, and their stores."""

    def __init__(self, options, programs, stores, servers, load):
        self.options = options
        self.programs = programs
        self.stores = stores
        self.servers = servers
        self.load = load
        self.errata = None
        self.floor = None
        self.grpc = None
        self.nghttpd = None
        self.pinned = None

    # --- servers and stores of the parts ---

    def calls(self, shape, share=1.0):
        return max(1000, int(CALLS[shape] * share * self.options.scale))

    @property
    def seconds(self):
        return self.options.seconds

    def rounds(self):
        for number in range(self.options.rounds):
            self.load.round = number
            yield number

    def write_requests(self):
        self.cold, self.hot, self.file = (
            self.stores.path(name) for name in ("floor-cold", "floor-hot", "file"))
        wire.write_requests(self.cold, ((0, wire.floor_request(org, layout))
                                        for org in range(FLOOR_ORGS)
                                        for layout in range(FLOOR_LAYOUTS)))
        wire.write_requests(self.hot, ((group, wire.floor_request(7 + group, 7))
                                       for group in range(ORGS)))
        wire.write_requests(self.file, [(0, wire.examples_request(7))])
        os.makedirs(self.stores.path("www"), exist_ok=True)
        with open(self.stores.path("www/answer"), "wb") as f:
            f.write(b"x" * (FLOOR_ANSWER + PREFIX_BYTES))

    def start(self):
        """Starts Errata and the compared programs, on stores that are in memory."""
        self.write_requests()
        floor = self.stores.floor()
        data = self.stores.errata(self.options.events, EVENT_BYTES)
        self.pinned = self.servers.pin(os.path.join(data, "db", "data.mdb"),
                                       os.path.join(floor, "data.mdb"))
        self.errata = self.servers.errata(data)
        self.floor = self.servers.floor(floor)
        self.nghttpd = self.servers.nghttpd(self.stores.path("www"))
        if self.options.peers:
            self.grpc = self.servers.grpc(floor)
        self.warm_up(self.errata)
        for server, share in ((self.floor, 1), (self.grpc, PEER_SHARE)):
            if server:
                self.load.run(server, requests(FLOOR_METHOD, self.cold),
                              closed(10, 100, int(WARM_UP_CALLS * share)))

    def stop(self):
        self.servers.close()
        self.errata = None

    def warm_up(self, server):
        self.load.run(server, EXAMPLES, closed(10, 100, WARM_UP_CALLS), "--layouts", LAYOUTS)

    def errata_command(self, *arguments):
        """Runs a command of the CLI for the first organisation."""
        with open(self.errata.tokens, encoding="ascii") as f:
            token = f.readline()
        path = self.stores.path("token")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as f:
            f.write(token)
        return [self.programs("errata"), *arguments, "--server", f"127.0.0.1:{self.errata.port}", "--token-file", path]

    def restart_errata(self):
        """Returns a server that has served no call yet."""
        data = self.errata.data
        self.servers.stop(self.errata)
        self.errata = self.servers.errata(data)

    # --- one run on each server ---

    def look_up(self, what, heat, shape, *arguments, server=None, check=True):
        """Cold: any layout. Hot: one of each organisation."""
        layouts = LAYOUTS if heat == "cold" else 1
        answer = FLOOR_ANSWER + PREFIX_BYTES
        expect = ("--expect-bytes", f"{answer - 4}..{answer + 4}") if check else ()
        return self.load.measure(what, server or self.errata, EXAMPLES, shape, "--layouts", layouts,
                                 *expect, *arguments)

    def look_up_floor(self, what, heat, shape, *arguments, server=None):
        answer = FLOOR_ANSWER + PREFIX_BYTES
        return self.load.measure(what, server or self.floor,
                                 requests(FLOOR_METHOD, self.cold if heat == "cold" else self.hot),
                                 shape, "--expect-bytes", f"{answer}..{answer}", *arguments)

    # --- the parts ---

    def lookup(self):
        """CPU of a lookup, a thousand in flight."""
        shape = (10, 100)
        for number in self.rounds():
            seed = ("--seed", number + 1)
            for heat in ("cold", "hot"):
                self.look_up_floor(f"floor, {heat}", heat, closed(*shape, self.calls(shape)), *seed)
                self.look_up(f"GetExamples, {heat}", heat, closed(*shape, self.calls(shape)), *seed)
                if self.grpc:
                    self.look_up_floor(f"gRPC for C++, {heat}", heat,
                                       closed(*shape, self.calls(shape, PEER_SHARE)), *seed,
                                       server=self.grpc)

    def single(self):
        """Measures one, ten and a hundred concurrent calls on one connection."""
        answer = FLOOR_ANSWER + PREFIX_BYTES
        for _ in self.rounds():
            for shape in ((1, 1), (1, 10), (1, 100)):
                length = closed(*shape, self.calls(shape))
                self.load.measure("nghttpd, a file", self.nghttpd, requests("answer", self.file),
                                  length, "--plain", "--expect-bytes", f"{answer}..{answer}")
                self.look_up_floor("floor, hot", "hot", length)
                self.look_up("GetExamples, hot", "hot", length)
                if self.grpc:
                    self.look_up_floor("gRPC for C++, hot", "hot",
                                       closed(*shape, self.calls(shape, PEER_SHARE)),
                                       server=self.grpc)

    def store(self):
        """Lookups without a server, on the same files."""
        data, floor = self.errata.data, self.stores.path("floor")
        self.servers.stop(self.errata)  # only one process may open a store
        self.store_lookups({floor: "", data: ""})
        self.errata = self.servers.errata(data)

    def store_lookups(self, folders):
        """Measures lookups in the floor's store and in data folders; each has a suffix for the names of its rows."""
        floor, *data = folders
        done = subprocess.run(
            [*machine.ON_LOAD_CORE, self.programs("bench_store_lookup"), floor, str(LAYOUTS),
             str(max(3, self.options.rounds)), str(int(STORE_LOOKUPS * self.options.scale) + 1000),
             *data], check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            way = json.loads(line)
            what = f"store: {way['way']}, {way['heat']}{folders[way['folder']]}"
            for number, ns in enumerate(way["ns"]):
                self.add(what, round=number, ns=ns)

    def add(self, what, **figures):
        """Adds a row that is not of a load."""
        row = {"what": what, "connections": 0, "in_flight": 0, "round": self.load.round, **figures}
        print(json.dumps(row), flush=True)
        self.load.rows.append(row)

    def fdatasync(self):
        """Measures a preallocated write of 4 KB and its sync on the disk."""
        taken = []
        with open(self.stores.path("sync"), "wb", buffering=0) as f:
            f.write(bytes(4096) * 256)
            os.fsync(f.fileno())
            for i in range(500):
                start = time.perf_counter()
                os.pwrite(f.fileno(), bytes([i & 255]) * 4096, i % 256 * 4096)
                os.fdatasync(f.fileno())
                taken.append((time.perf_counter() - start) * 1e6)
        taken.sort()
        self.add("disk: pwrite 4 KB and fdatasync", p50=taken[250], p90=taken[450], p99=taken[495],
                 max=taken[-1])

    def begin_captures(self):
        """Starts captures, after which the newest examples have other lengths than the preloaded ones."""
        self.stores.note_captures(self.errata.data)
        machine.move_other_threads(self.errata.pid)

    def capture(self):
        """Durable captures: one in flight, ten, a hundred."""
        self.begin_captures()
        for number in self.rounds():
            for shape in CAPTURE_SHAPES:
                self.fdatasync()
                self.load.measure("CaptureFeedbackEvent", self.errata, CAPTURE,
                                  closed(*shape, seconds=self.seconds), "--layouts", LAYOUTS,
                                  "--seed", number + 1)

    def mixed(self):
        """Lookups at a steady rate, without load and while a hundred captures are in flight."""
        self.begin_captures()
        for number in self.rounds():
            shape, seed = opened(10, LOOKUP_RATE, self.seconds), ("--seed", number + 1)
            self.look_up(f"GetExamples at {LOOKUP_RATE:,}/s, idle", "cold", shape, *seed, check=False)
            beside = self.load.start(self.errata, CAPTURE, closed(10, 10, seconds=self.seconds + 3),
                                     "--layouts", LAYOUTS, "--seed", number + 77)
            time.sleep(1.5)
            row = self.look_up(f"GetExamples at {LOOKUP_RATE:,}/s, 100 captures in flight", "cold", shape,
                               *seed, check=False)
            row["cpu_us"] = None  # includes the captures' time
            self.load.add("CaptureFeedbackEvent, beside lookups", self.load.finish(beside),
                          closed(10, 10, seconds=self.seconds + 3))

    def memory(self):
        """Private memory with a thousand calls in flight, of a server that has served no other calls."""
        self.restart_errata()
        for _ in self.rounds():
            self.weigh("GetExamples", self.errata, EXAMPLES, "--layouts", LAYOUTS)
            if self.grpc:
                self.weigh("gRPC for C++", self.grpc, requests(FLOOR_METHOD, self.cold))

    def weigh(self, what, server, call, *arguments):
        """Measures the memory of the process during the load, without helper programs such as the PDF worker."""
        started = self.load.start(server, call, closed(10, 100, seconds=self.seconds), *arguments,
                                  prefix=machine.ON_LOAD_CORE)
        with machine.urgent():
            time.sleep(1 + self.seconds / 2)  # after its warm-up
            anon_kb = machine.status_kb(server.pid, "RssAnon")
        self.load.finish(started)
        self.add(f"{what}, 1,000 in flight", anon_mb=anon_kb / 1024)

    def connections(self):
        """Measures the memory of an idle connection that has made a call."""
        self.restart_errata()
        for server, what, method, body in (
                (self.errata, "GetExamples", "errata.v1.PromptService/GetExamples",
                 wire.examples_request(7)),
                (self.grpc, "gRPC for C++", FLOOR_METHOD, wire.floor_request(7, 7))):
            if not server:
                continue
            idle = IdleConnections(server, method, wire.frame(body))
            idle.open(10)  # allocates the memory that is used only once
            before = [machine.status_kb(server.pid, name) for name in ("VmRSS", "RssAnon")]
            idle.open(int(IDLE_CONNECTIONS * self.options.scale))
            after = [machine.status_kb(server.pid, name) for name in ("VmRSS", "RssAnon")]
            count = idle.count - 10
            idle.close()
            self.add(f"{what}, an idle connection", count=count,
                     rss_kb=(after[0] - before[0]) / count, anon_kb=(after[1] - before[1]) / count)

    def growth(self):
        """Lookups and captures on a store of ten times as many smaller events."""
        few, many = self.options.grown // 10, self.options.grown
        self.stop()
        self.stores.close()  # the disk may not have room for all stores
        floor = self.stores.floor()
        folders = [self.stores.errata(events, SMALL_EVENT_BYTES) for events in (few, many)]
        self.pinned = self.servers.pin(*(os.path.join(data, "db", "data.mdb") for data in folders))
        self.store_lookups({floor: ", beside both", folders[0]: ", before it grew",
                            folders[1]: ", grown"})
        servers = [self.servers.errata(data) for data in folders]
        for server in servers:
            self.warm_up(server)
        shape = (10, 100)
        for number in self.rounds():
            for heat in ("cold", "hot"):
                for events, server in zip((few, many), servers):
                    self.look_up(f"GetExamples, {heat}, {events:,} events", heat,
                                 closed(*shape, self.calls(shape)), "--seed", number + 1,
                                 server=server, check=False)
        for events, server in zip((few, many), servers):
            self.stores.note_captures(server.data)
            machine.move_other_threads(server.pid)
        for number in self.rounds():
            for events, server in zip((few, many), servers):
                self.load.measure(f"CaptureFeedbackEvent, {events:,} events", server, CAPTURE,
                                  closed(10, 10, seconds=self.seconds), "--layouts", LAYOUTS,
                                  "--seed", number + 1)
