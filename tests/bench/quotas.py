#!/usr/bin/python3
"""Measures whether an organisation at its quotas slows another one.

    tests/bench/quotas.py [--build build/release] [--pairs 5] [--seconds 4] [--kind requests]

One organisation looks up examples in an open loop. For each kind of quota, alone and while another organisation calls
far beyond that quota, in pairs that follow each other: the figure is the median of the ratios of the lookups' p99; the
goal is at most 1.3. Prints how many of the other organisation's calls were served. Server and lookups run in the
real-time class, as in tools/bench-peers. Needs the targets erratad, errata-bench and python_stubs; PDFs also
errata-pdf-worker.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import grpc

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
LAYOUTS = 100
LOOKUPS = 500  # calls per second of the measured organisation
GOAL = 1.3
LIMITS = {"requests": {"requests_per_second": 200}, "streams": {"concurrent_streams": 10}, "stored bytes": {"stored_bytes": 1},
          "PDFs": {"pdf_jobs": 1}}
CALLS = {"requests": 2000, "streams": 300, "stored bytes": 1000, "PDFs": 200}  # calls per second beyond the quota
PDF = os.path.join("tests", "data", "pdf", "layout", "gen-L01-3.pdf")


class Bench:
    """The server, the organisation whose lookups are measured (0), and the one at its quotas (1)."""

    def __init__(self, options, server, folder):
        from measure import machine

        self.machine = machine
        self.options = options
        self.server = server
        self.folder = folder
        self.other = None  # a client of organisation 1
        self.requests = os.path.join(folder, "documents")
        with open(os.path.join(server.data, "bench.tokens"), encoding="ascii") as f:
            self.tokens = f.read().split()

    def command(self, index, rate, seconds, *more):
        path = os.path.join(self.folder, f"token-{index}")
        with open(path, "w", encoding="ascii") as f:
            f.write(self.tokens[index])
        prefix = self.machine.ON_LOAD_CORE if index == 0 else self.machine.LOWER_ON_LOAD_CORE
        return [*prefix, os.path.join(self.options.build, "bin", "errata-bench"), "--server", self.server.address, "--token-file", path,
                "--rate", str(rate), "--duration", f"{seconds}s", "--warm-up", "500ms", "--layouts", str(LAYOUTS),
                "--connections", "4", "--lag-max", "1s", "--allow-writes", "--quiet", "--json", "-", *more]

    def lookups(self):
        """Returns the p99 of lookups of the measured organisation, in us."""
        done = subprocess.run(self.command(0, LOOKUPS, self.options.seconds, "--mix", "examples"), capture_output=True, text=True,
                              check=True)
        return json.loads(done.stdout)["runs"][0]["total"]["latency_us"]["p99"]

    def beyond(self, kind):
        """Makes calls of the other organisation beyond its quota."""
        return {"requests": ("--mix", "examples"), "stored bytes": ("--mix", "capture"),
                "PDFs": ("--requests", f"pdf=errata.v1.LayoutService/IngestDocument@{self.requests}")}[kind]

    def beside(self, kind):
        """Returns the p99 of the same lookups while the other organisation calls, and the numbers of its served calls
        and of all its calls."""
        if kind == "streams":
            return self.beside_streams()
        other = subprocess.Popen(self.command(1, CALLS[kind], self.options.seconds + 2, *self.beyond(kind)),
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        time.sleep(1)
        p99 = self.lookups()
        run = json.loads(other.communicate()[0])["runs"][0]
        return p99, run["right"], run["started"]

    def beside_streams(self):
        """errata-bench opens no streams, so a thread does: watches that are refused at once."""
        from erratad import event_service

        served, made, done = [], [], threading.Event()

        def watch():
            while not done.wait(1 / CALLS["streams"]):
                stream = self.other.log.WatchEvents(event_service.WatchEventsRequest())
                made.append(1)
                if stream.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
                    served.append(1)
                    stream.cancel()

        thread = threading.Thread(target=watch)
        thread.start()
        p99 = self.lookups()
        done.set()
        thread.join()
        return p99, len(served), len(made)

    def measure(self, kind):
        ratios, served, made = [], 0, 0
        for _ in range(self.options.pairs):
            idle = self.lookups()
            p99, right, started = self.beside(kind)
            ratios.append(p99 / idle)
            served, made = served + right, made + started
            print(f"  {kind}: p99 {idle} us idle, {p99} us beside", file=sys.stderr)
        median = statistics.median(ratios)
        print(f"{kind}: median {median:.2f} x idle ({', '.join(f'{one:.2f}' for one in ratios)}); of {made} calls {served} served; "
              f"goal {GOAL}: {'reached' if median <= GOAL else 'missed'}", flush=True)


def measure(options):
    from erratad import Server, admin, event_service, layout, quota

    bench_program = os.path.join(options.build, "bin", "errata-bench")
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        subprocess.run([bench_program, "--preload", "20000", "--data", data, "--organizations", "2", "--layouts", str(LAYOUTS),
                        "--quiet"], check=True, capture_output=True)
        with Server(data=data) as server:
            bench = Bench(options, server, folder)
            bench.machine.set_class(server.process.pid, True)
            client, other = server.client(), server.client(bench.tokens[1])
            bench.other = other
            org = other.admin.ListOrganizations(admin.ListOrganizationsRequest()).organizations[0].id
            for kind in options.kind or LIMITS:
                if kind == "PDFs":
                    write_documents(bench.requests, layout)
                    server.wait_for_pdf()
                limits = {name: LIMITS.get(kind, {}).get(name, 0) for one in LIMITS.values() for name in one}
                client.admin.SetQuota(admin.SetQuotaRequest(org_id=org, quota=quota.Quota(**limits)))
                watches = [other.log.WatchEvents(event_service.WatchEventsRequest())
                           for _ in range(limits["concurrent_streams"])]
                time.sleep(0.5)
                bench.measure(kind)
                for watch in watches:
                    watch.cancel()
            server.stop()


def write_documents(path, layout):
    """Requests to ingest a small PDF, each with a unique id."""
    from measure import wire

    with open(os.path.join(ROOT, PDF), "rb") as f:
        content = f.read()
    wire.write_requests(path, ((0, layout.IngestDocumentRequest(document_id=f"d{number}", content=content).SerializeToString())
                               for number in range(1000)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--kind", choices=list(LIMITS), action="append")
    options = parser.parse_args()
    os.environ["ERRATA_BIN"] = os.path.join(options.build, "bin")
    os.environ["ERRATA_STUBS"] = os.path.join(options.build, "gen", "python")
    sys.path[:0] = [os.path.join(ROOT, "tests", "support"), os.path.join(ROOT, "tests", "bench")]
    measure(options)


if __name__ == "__main__":
    main()
