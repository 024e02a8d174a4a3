"""Measures the cost of documents: the parts `pdf` and `lookup-under-pdf`. The CPU time of a document is that of its
child, as counted by the server (GetServerInfo: pdf_cpu_us_total); the CPU time of the fork server and of erratad is
reported separately. Children run in the idle class, so their rate is meaningless on a busy machine.
"""
import json
import os
import statistics
import sys
import tempfile
import threading
import time

from . import machine, wire
from .load import CAPTURE, EXAMPLES, LOOKUP_RATE, closed, opened, requests
from .stores import LAYOUTS, ORGS

sys.path.insert(0, os.path.join(machine.ROOT, "tests", "support"))

METHOD = "errata.v1.LayoutService/IngestDocument"
CONNECTIONS, IN_FLIGHT = 4, 4  # enough concurrent documents to keep both slots busy
READABLE = ("layout", "invoice", "table-truth", "form", "rotated", "boxes", "script", "scanned")


def invoices(pdf_data, generated=None):
    """Returns one-page invoices: generated ones, real ones, or both."""
    return [row["path"] for row in pdf_data.rows("layout", "invoice")
            if row["page_count"] == "1" and row["layout_group"] != "nics"
            and generated in (None, row["layout_group"].startswith("gen-"))]


def all_readable(pdf_data):
    return [row["path"] for row in pdf_data.rows(*READABLE)]


def worker_of(pid):
    """The fork server of an erratad."""
    import erratad
    return next(child for child in erratad.children(pid)
                if erratad.process_name(child).startswith(erratad.WORKER[:15]))


class ChildrensPeak(threading.Thread):
    """The largest resident size of a child, sampled every 2 ms."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server = server
        self.ended = threading.Event()
        self.kb = 0

    def run(self):
        while not self.ended.wait(0.002):
            for pid in self.server.jobs():
                self.kb = max(self.kb, machine.status_kb(pid, "VmHWM"))


def percentile(values, part):
    values = sorted(values)
    return values[min(int(len(values) * part), len(values) - 1)]


def write_documents(path, name, contents, groups):
    """Requests for each document in each group, under five names if there is one group: a name is a
    document, which is measured each time and counted once."""
    wire.write_requests(path, (
        (group, wire.text(1, f"{name}-{copy}-{number}") + wire.text(3, content))
        for group in range(groups) for copy in range(5 if groups == 1 else 1)
        for number, content in enumerate(contents)))


class Loaded:
    """The parameters of a load for a server of the end-to-end tests."""

    def __init__(self, server, tokens):
        self.port = int(server.address.rsplit(":", 1)[1])
        self.pid = server.process.pid
        self.tokens = tokens


class Documents:
    """The parts; the first one has separate servers."""

    def __init__(self, parts):
        import erratad
        import pdf_data
        self.erratad = erratad
        self.pdf_data = pdf_data
        self.parts = parts
        self.path = parts.stores.path("documents")
        self.rows = []

    def serve(self, cores):
        return self.erratad.Server(arguments=["--pdf-slots", str(len(cores.split(",")))],
                                   prefix=["taskset", "-c", cores]).start().wait_for_pdf()

    def one_at_a_time(self, label, paths):
        """CPU and time of each document by itself."""
        server = self.serve("0,1")
        client = server.client()
        contents = [self.pdf_data.read(path) for path in paths]
        cpu_us, wall_us = [], []
        for round_number in range(self.parts.options.rounds + 1):
            for number, content in enumerate(contents):
                before = server.counters(client)["pdf_cpu_us_total"]
                start = time.perf_counter()
                client.ingest(f"{round_number}-{number}", content)
                wall = (time.perf_counter() - start) * 1e6
                cpu = server.counters(client)["pdf_cpu_us_total"] - before
                if round_number:  # the first run fills page caches
                    cpu_us.append(cpu)
                    wall_us.append(wall)
        client.close()
        server.close()
        self.add(what=f"{label}, one at a time", documents=len(cpu_us),
                 cpu_p50_us=percentile(cpu_us, 0.5), cpu_p90_us=percentile(cpu_us, 0.9),
                 cpu_p99_us=percentile(cpu_us, 0.99), cpu_mean_us=statistics.mean(cpu_us),
                 wall_p50_us=percentile(wall_us, 0.5), wall_p99_us=percentile(wall_us, 0.99))

    def saturated(self, label, paths, cores):
        """Documents per second with a queue that is never empty, and the CPU time of each process."""
        write_documents(self.path, label, [self.pdf_data.read(path) for path in paths], groups=1)
        server = self.serve(cores)
        client = server.client()
        peak = ChildrensPeak(server)
        peak.start()
        worker, pid = server.worker(), server.process.pid
        with tempfile.NamedTemporaryFile("w", encoding="ascii") as tokens:
            tokens.write(server.admin_token + "\n")
            tokens.flush()
            loaded = Loaded(server, tokens.name)
            self.ingest(loaded, calls=200)
            before = (machine.cpu_seconds(pid), machine.cpu_seconds(worker),
                      server.counters(client)["pdf_cpu_us_total"])
            out = self.ingest(loaded, seconds=self.parts.seconds)
        documents = out["answered"]
        after = (machine.cpu_seconds(pid), machine.cpu_seconds(worker),
                 server.counters(client)["pdf_cpu_us_total"])
        peak.ended.set()
        peak.join()
        self.add(what=f"{label}, {len(cores.split(','))} of 2 cores", documents=documents,
                 right=out["right"], rate=out["rate"],
                 cpu_mean_us=(after[2] - before[2]) / documents,
                 fork_server_us=(after[1] - before[1]) / documents * 1e6,
                 server_us=(after[0] - before[0]) / documents * 1e6,
                 server_mb=server.rss_kb() / 1024,
                 fork_server_mb=machine.status_kb(worker, "VmRSS") / 1024,
                 child_peak_mb=peak.kb / 1024)
        client.close()
        server.close()

    def ingest(self, loaded, **length):
        """Measures documents for the given time, without warming up: each document counts."""
        shape = closed(CONNECTIONS, IN_FLIGHT, **length)
        return self.parts.load.run(loaded, requests(METHOD, self.path), shape, "--warm-up", 0,
                                   prefix=[])["runs"][0]

    def add(self, **row):
        row = {"connections": 0, "in_flight": 0, "round": 0, **row}
        print(json.dumps(row), flush=True)
        self.rows.append(row)

    def cost(self):
        """Prints CPU of a document, documents per second, and memory; returns false if an answer
        was wrong."""
        sets = (("generated one-page invoices", invoices(self.pdf_data, True)),
                ("real one-page invoices", invoices(self.pdf_data, False)),
                ("all readable documents", all_readable(self.pdf_data)))
        for label, paths in sets:
            self.one_at_a_time(label, paths)
        for label, paths in sets:
            for cores in ("0", "0,1"):
                self.saturated(label, paths, cores)
        return all(row.get("right") == row["documents"] for row in self.rows if "rate" in row)

    def print_tables(self):
        if not self.rows:
            return
        print("\n| documents | number | child CPU ms p50 | p90 | p99 | mean | wall ms p50 | p99 |"
              "\n|---|---|---|---|---|---|---|---|")
        for row in (r for r in self.rows if "cpu_p50_us" in r):
            figures = " | ".join(f"{row[name] / 1000:.1f}" for name in (
                "cpu_p50_us", "cpu_p90_us", "cpu_p99_us", "cpu_mean_us", "wall_p50_us",
                "wall_p99_us"))
            print(f"| {row['what']} | {row['documents']} | {figures} |")
        print("\n| documents | documents/s | child CPU ms | fork server ms | erratad ms | erratad MB "
              "| fork server MB | a child at most MB |\n|---|---|---|---|---|---|---|---|")
        for row in (r for r in self.rows if "rate" in r):
            print(f"| {row['what']} | {row['rate']:.0f} | {row['cpu_mean_us'] / 1000:.1f} "
                  f"| {row['fork_server_us'] / 1000:.2f} | {row['server_us'] / 1000:.2f} "
                  f"| {row['server_mb']:.0f} | {row['fork_server_mb']:.0f} "
                  f"| {row['child_peak_mb']:.0f} |")

    def lookup_under_pdf(self):
        """Latency of lookups beside documents. The worker and its children may run on both cores, as
        in production."""
        parts = self.parts
        write_documents(self.path, "ten", [self.pdf_data.read(path) for path
                                           in invoices(self.pdf_data)], ORGS)
        worker = worker_of(parts.errata.pid)
        machine.quietly("chrt", "-o", "-p", 0, worker)
        machine.quietly("taskset", "-p", "-c", "0,1", worker)
        parts.begin_captures()
        for number in parts.rounds():
            for name, is_real_time in (("real-time", True), ("ordinary class", False)):
                machine.set_class(parts.errata.pid, is_real_time)
                for beside in ("idle", "PDF queue full", "PDF queue full, 100 captures in flight"):
                    self.look_up_beside(name, beside, number + 1)
        machine.set_class(parts.errata.pid, True)

    def look_up_beside(self, name, beside, seed):
        parts, load = self.parts, self.parts.load
        shape = closed(10, 10, seconds=parts.seconds + 3)
        running = []
        if beside != "idle":
            running.append(load.start(parts.errata, requests(METHOD, self.path), shape))
        if "captures" in beside:
            running.append(load.start(parts.errata, CAPTURE, shape, "--layouts", LAYOUTS, "--seed",
                                      seed + 76))
        time.sleep(1.5)
        row = load.measure(f"GetExamples at {LOOKUP_RATE:,}/s, {name}, {beside}", parts.errata, EXAMPLES,
                           opened(10, LOOKUP_RATE, parts.seconds), "--layouts", LAYOUTS, "--seed", seed)
        if running:
            row["cpu_us"] = None  # includes the time of other processes
            row["documents_rate"] = load.finish(running[0])["runs"][0]["rate"]
        for started in running[1:]:
            load.finish(started)
