"""What a document costs: the parts `pdf` and `lookup-under-pdf` of tests/bench/run.

CPU of a document is what its child took, as the server counts it (GetServerInfo: pdf_cpu_us_total);
the fork server's and erratad's own come beside. Children run in the idle class: on a machine that does
other things, their rate says nothing.
"""
import json
import os
import statistics
import sys
import tempfile
import threading
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

INGEST = "/errata.v1.LayoutService/IngestDocument"
CONNECTIONS, STREAMS = 4, 4  # so many documents in flight keep both slots busy
READABLE = ("layout", "invoice", "table-truth", "form", "rotated", "boxes", "script", "scanned")
TICK = os.sysconf("SC_CLK_TCK")


def invoices(pdf_data, generated=None):
    """One-page invoices: generated ones, real ones, or both."""
    return [row["path"] for row in pdf_data.rows("layout", "invoice")
            if row["page_count"] == "1" and row["layout_group"] != "nics"
            and generated in (None, row["layout_group"].startswith("gen-"))]


def all_readable(pdf_data):
    return [row["path"] for row in pdf_data.rows(*READABLE)]


def own_cpu_seconds(pid):
    """User and system time of a process, without its children's."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def status_kb(pid, name):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            return int(next(line for line in f if line.startswith(name + ":")).split()[1])
    except (OSError, StopIteration):
        return 0  # it ended meanwhile


def worker_of(pid):
    """The fork server of an erratad."""
    import erratad
    return next(child for child in erratad.children(pid)
                if erratad.process_name(child).startswith(erratad.WORKER[:15]))


class ChildrensPeak(threading.Thread):
    """The largest resident size of a child, as far as looking every 2 ms shows it."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server = server
        self.ended = threading.Event()
        self.kb = 0

    def run(self):
        while not self.ended.wait(0.002):
            for pid in self.server.jobs():
                self.kb = max(self.kb, status_kb(pid, "VmHWM"))


def percentile(values, part):
    values = sorted(values)
    return values[min(int(len(values) * part), len(values) - 1)]


class PdfCost:
    """A server of its own for each table row; `request_writer` and `load` are those of run."""

    def __init__(self, bench, rounds):
        import erratad
        import pdf_data
        self.erratad = erratad
        self.pdf_data = pdf_data
        self.bench = bench
        self.rounds = rounds
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
        for round_number in range(self.rounds + 1):
            for number, content in enumerate(contents):
                before = server.counters(client)["pdf_cpu_us_total"]
                start = time.perf_counter()
                client.ingest(f"{round_number}-{number}", content)
                wall = (time.perf_counter() - start) * 1e6
                cpu = server.counters(client)["pdf_cpu_us_total"] - before
                if round_number:  # the first is for page caches
                    cpu_us.append(cpu)
                    wall_us.append(wall)
        client.close()
        server.close()
        self.add(what=f"{label}, one at a time", documents=len(cpu_us),
                 cpu_p50_us=percentile(cpu_us, 0.5), cpu_p90_us=percentile(cpu_us, 0.9),
                 cpu_p99_us=percentile(cpu_us, 0.99), cpu_mean_us=statistics.mean(cpu_us),
                 wall_p50_us=percentile(wall_us, 0.5), wall_p99_us=percentile(wall_us, 0.99))

    def saturated(self, label, paths, cores):
        """Documents a second with the queue never empty, and what each process took for them."""
        self.write_requests("pdf.requests", paths, groups=1)
        server = self.serve(cores)
        client = server.client()
        peak = ChildrensPeak(server)
        peak.start()
        worker, pid = server.worker(), server.process.pid
        with tempfile.NamedTemporaryFile("w", encoding="ascii") as tokens:
            tokens.write(server.admin_token + "\n")
            tokens.flush()
            self.load(server, "pdf.requests", tokens.name, "--count", 200)
            before = (own_cpu_seconds(pid), own_cpu_seconds(worker),
                      server.counters(client)["pdf_cpu_us_total"])
            out = self.load(server, "pdf.requests", tokens.name, "--seconds", 8)
        documents = out["answered"]
        after = (own_cpu_seconds(pid), own_cpu_seconds(worker),
                 server.counters(client)["pdf_cpu_us_total"])
        peak.ended.set()
        peak.join()
        self.add(what=f"{label}, {len(cores.split(','))} of 2 cores", documents=documents,
                 right=out["right"], rate=out["rate"],
                 cpu_mean_us=(after[2] - before[2]) / documents,
                 fork_server_us=(after[1] - before[1]) / documents * 1e6,
                 server_us=(after[0] - before[0]) / documents * 1e6,
                 server_mb=server.rss_kb() / 1024,
                 fork_server_mb=status_kb(worker, "VmRSS") / 1024,
                 child_peak_mb=peak.kb / 1024)
        client.close()
        server.close()

    def write_requests(self, name, paths, groups):
        self.bench.write_documents(name, [self.pdf_data.read(path) for path in paths], groups)

    def load(self, server, requests, tokens, *arguments):
        port = int(server.address.rsplit(":", 1)[1])
        return self.bench.run_load(port, INGEST, requests, "--connections", CONNECTIONS, "--streams",
                                   STREAMS, "--tokens", tokens, *arguments, prefix=[])

    def add(self, **row):
        print(json.dumps(row), flush=True)
        self.rows.append(row)

    def run(self):
        sets = (("generated one-page invoices", invoices(self.pdf_data, True)),
                ("real one-page invoices", invoices(self.pdf_data, False)),
                ("all readable documents", all_readable(self.pdf_data)))
        for label, paths in sets:
            self.one_at_a_time(label, paths)
        for label, paths in sets:
            for cores in ("0", "0,1"):
                self.saturated(label, paths, cores)
        self.print_tables()
        return all(row.get("right") == row["documents"] for row in self.rows if "rate" in row)

    def print_tables(self):
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
