#!/usr/bin/python3
"""tests/bench/strategies.py TEXTS.tsv TURNS [--writes N] [--queries N] [--model FILE]: latency of SearchStrategies.

An organisation gets TURNS turns with vectors of the caller: texts (the first column), embedded by the server, each with noise;
every tenth is accepted, every twentieth rejected. Then one call after the other searches by a vector that is near some of
them: alone, and while N turns a second are recorded. Prints p50 and p99 as the caller sees them, beside GetServerInfo in the same
state, the CPU time of the server, and the time of the first search, which reads the turns. Needs numpy. Recall is measured by bench_vector_search.
"""
import argparse
import os
import sys
import threading
import time

import numpy

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
os.environ.setdefault("ERRATA_BIN", os.path.join(ROOT, "build", "release", "bin"))
os.environ.setdefault("ERRATA_STUBS", os.path.join(os.path.dirname(os.environ["ERRATA_BIN"]), "gen", "python"))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
from erratad import Server, admin, turn, turn_service  # noqa: E402
from errata.v1 import text_service_pb2 as text_service  # noqa: E402
from errata.v1 import text_service_pb2_grpc as text_service_grpc  # noqa: E402

IN_FLIGHT = 64
NOISE = 0.35  # length of the noise that is added to a vector of length 1
STATUSES = {0: turn.TURN_STATUS_ACCEPTED, 5: turn.TURN_STATUS_REJECTED}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", metavar="TEXTS.tsv")
    parser.add_argument("turns", type=int, metavar="TURNS")
    parser.add_argument("--queries", type=int, default=300, metavar="N", help="number of searches in each state; default 300")
    parser.add_argument("--writes", type=int, default=200, metavar="N", help="turns a second while searches go on; default 200")
    parser.add_argument("--model", metavar="FILE", help="the server's model file; n-grams without one")
    return parser.parse_args()


class Load:
    def __init__(self, client, path):
        self.client = client
        self.draw = numpy.random.default_rng(1)
        with open(path, encoding="utf-8") as f:
            texts = [line.split("\t")[0].strip()[:400] for line in f if line.strip()]
        stub = text_service_grpc.TextServiceStub(client.channel)
        self.base = numpy.concatenate([
            numpy.array([one.values for one in stub.Embed(text_service.EmbedRequest(texts=texts[at:at + 64])).vectors], numpy.float32)
            for at in range(0, len(texts), 64)])

    def vector(self):
        one = self.base[self.draw.integers(len(self.base))]
        noise = self.draw.standard_normal(len(one)).astype(numpy.float32)
        return (one + NOISE * noise / numpy.linalg.norm(noise)).tolist()

    def record(self, number):
        return self.client.turns.RecordTurn.future(turn_service.RecordTurnRequest(embedding=self.vector(), turn=turn.Turn(
            session_id=f"s{number}", turn_id="t", query=f"query {number}", quality_score=number % 7 / 7,
            validation_outcome=turn.VALIDATION_OUTCOME_APPROVE,
            strategy=turn.TurnStrategy(tool="shop", text=f"strategy {number % 1000}"))))

    def judge(self, number):
        return self.client.turns.SetFeedback.future(turn_service.SetFeedbackRequest(
            session_id=f"s{number}", turn_id="t", status=STATUSES[number % 20], actor_user_id="bench"))

    def fill(self, turns):
        for start in range(0, turns, IN_FLIGHT):
            numbers = range(start, min(turns, start + IN_FLIGHT))
            for one in [self.record(number) for number in numbers]:
                one.result()
            for one in [self.judge(number) for number in numbers if number % 20 in STATUSES]:
                one.result()

    def search(self):
        began = time.perf_counter()
        self.client.turns.SearchStrategies(self.request)
        return time.perf_counter() - began

    def measure(self, queries):
        """Milliseconds of searches, and of GetServerInfo between them, sorted."""
        searches, infos = [], []
        for _ in range(queries):
            self.request = turn_service.SearchStrategiesRequest(embedding=self.vector(), limit=10)
            searches.append(1e3 * self.search())
            began = time.perf_counter()
            self.client.admin.GetServerInfo(admin.GetServerInfoRequest())
            infos.append(1e3 * (time.perf_counter() - began))
        return sorted(searches), sorted(infos)


def cpu_seconds(server):
    """Returns the CPU time of the server."""
    with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def row(name, times):
    print(f"{name:<32} p50 {times[len(times) // 2]:7.2f} ms  p99 {times[len(times) * 99 // 100]:7.2f} ms  max {times[-1]:7.2f} ms", flush=True)


def write_on(load, first, rate, ends):
    """Records turns at a rate until the event is set."""
    began, number = time.monotonic(), 0
    while not ends.is_set():
        load.record(first + number).result()
        number += 1
        time.sleep(max(0, began + number / rate - time.monotonic()))
    print(f"{number / (time.monotonic() - began):.0f} turns a second were recorded meanwhile")


def main(arguments):
    with Server(arguments=["--model", arguments.model] if arguments.model else []) as server:
        load = Load(server.client(), arguments.texts)
        began = time.monotonic()
        load.fill(arguments.turns)
        print(f"{arguments.turns:,} turns of {load.base.shape[1]} numbers in {time.monotonic() - began:.0f} s")
        load.request = turn_service.SearchStrategiesRequest(embedding=load.vector(), limit=10)
        print(f"the first search, which reads the turns: {load.search():.2f} s")
        before = cpu_seconds(server)
        searches, infos = load.measure(arguments.queries)
        print(f"CPU of the server for a search: {1e3 * (cpu_seconds(server) - before) / arguments.queries:.2f} ms")
        row("SearchStrategies", searches)
        row("GetServerInfo", infos)
        ends = threading.Event()
        writer = threading.Thread(target=write_on, args=(Load(server.client(), arguments.texts), arguments.turns, arguments.writes, ends))
        writer.start()
        time.sleep(1)
        searches, infos = load.measure(arguments.queries)
        ends.set()
        writer.join()
        row("SearchStrategies, with writes", searches)
        row("GetServerInfo, with writes", infos)


if __name__ == "__main__":
    main(parse())
