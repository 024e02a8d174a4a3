"""Compares measurements with the goals. Ratios are computed within a round, where both sides are measured one after the
other; the median of the rounds counts."""
import collections
import dataclasses
import statistics

from . import backtested, retracted
from .load import LOOKUP_RATE


@dataclasses.dataclass
class Figure:
    """Returns a column of the rows with this name and shape."""
    what: str
    column: str
    connections: int = 0
    in_flight: int = 0

    def by_round(self, rows):
        """Round -> value; several values of a round are replaced by their median."""
        values = collections.defaultdict(list)
        for row in rows:
            if row["what"] == self.what and row.get(self.column) is not None and (
                    row["connections"], row["in_flight"]) == (self.connections, self.in_flight):
                values[row["round"]].append(row[self.column])
        return {number: statistics.median(found) for number, found in values.items()}


@dataclasses.dataclass
class Goal:
    """A figure of Errata, or its ratio to another's; `most` or `least` is the goal; without either
    it is only measured."""
    title: str
    ours: Figure
    theirs: Figure = None
    most: float = None
    least: float = None
    unit: str = ""
    divisor: float = 1

    def judge(self, rows):
        """The figures; None if they were not measured."""
        ours = self.ours.by_round(rows)
        theirs = self.theirs.by_round(rows) if self.theirs else {}
        rounds = [number for number in ours if not self.theirs or theirs.get(number)]
        if not rounds:
            return None
        values = [ours[number] / (theirs[number] if self.theirs else self.divisor)
                  for number in rounds]
        value = statistics.median(values)
        met = None
        if self.most is not None:
            met = value <= self.most
        elif self.least is not None:
            met = value >= self.least
        return {"goal": self.title, "value": value, "from": min(values), "to": max(values),
                "unit": "x" if self.theirs else self.unit, "most": self.most, "least": self.least,
                "met": met, "ours": statistics.median(ours[number] for number in rounds),
                "theirs": statistics.median(theirs[number] for number in rounds)
                if self.theirs else None}


MANY, ONE, HUNDRED = (10, 100), (1, 1), (10, 10)
OPEN = (10, 0)
IDLE = f"GetExamples at {LOOKUP_RATE:,}/s, idle"
BESIDE = f"GetExamples at {LOOKUP_RATE:,}/s, 100 captures in flight"


def lookup_goals():
    for heat in ("cold", "hot"):
        ours = Figure(f"GetExamples, {heat}", "cpu_us", *MANY)
        yield Goal(f"server CPU of a lookup, {heat}, to the floor's", ours,
                   Figure(f"floor, {heat}", "cpu_us", *MANY), most=1.5)
        yield Goal(f"server CPU of a lookup, {heat}, to C++ gRPC's", ours,
                   Figure(f"gRPC for C++, {heat}", "cpu_us", *MANY))
        yield Goal(f"server CPU of a lookup, {heat}", ours, most=20, unit="us")
    ours = Figure("GetExamples, hot", "p50", *ONE)
    yield Goal("p50 of one lookup in flight, to nghttpd's", ours,
               Figure("nghttpd, a file", "p50", *ONE), most=1.15)
    yield Goal("p50 of one lookup in flight, to C++ gRPC's", ours,
               Figure("gRPC for C++, hot", "p50", *ONE))


def store_goals():
    for heat in ("cold", "hot"):
        yield Goal(f"CPU of a lookup without the server, {heat}, to lmdb_read's",
                   Figure(f"store: errata, {heat}", "ns"), Figure(f"store: floor, {heat}", "ns"),
                   most=1.25)


def capture_goals():
    yield Goal("p99 of lookups beside 100 captures, to idle", Figure(BESIDE, "p99", *OPEN),
               Figure(IDLE, "p99", *OPEN), most=3.5)
    yield Goal("p99 of lookups beside 100 captures", Figure(BESIDE, "p99", *OPEN), most=1000,
               unit="us")
    yield Goal("p99 of captures, 100 in flight", Figure("CaptureFeedbackEvent", "p99", *HUNDRED), most=50,
               unit="ms", divisor=1000)
    yield Goal("captures a second, 100 in flight", Figure("CaptureFeedbackEvent", "rate", *HUNDRED),
               unit="/s")
    yield Goal("captures a second, 10 in flight", Figure("CaptureFeedbackEvent", "rate", 10, 1), unit="/s")
    yield Goal("p50 of one capture in flight, to an fdatasync's", Figure("CaptureFeedbackEvent", "p50", *ONE),
               Figure("disk: pwrite 4 KB and fdatasync", "p50"))


def retraction_goals():
    yield Goal("p99 of lookups beside a page of 50 retractions each second, to idle",
               Figure(retracted.BESIDE, "p99", *OPEN), Figure(retracted.IDLE, "p99", *OPEN), most=1.3)


def backtest_goals():
    yield Goal("p99 of lookups beside backtests, to idle", Figure(backtested.BESIDE, "p99", *OPEN),
               Figure(backtested.IDLE, "p99", *OPEN), most=3.5)
    yield Goal("p99 of verdicts, 100 in flight", Figure("SubmitVerdict", "p99", 1, 100), most=50, unit="ms", divisor=1000)


def memory_goals():
    yield Goal("memory of its own, 1,000 calls in flight",
               Figure("GetExamples, 1,000 in flight", "anon_mb"), most=22, unit="MB")
    yield Goal("the same, to C++ gRPC's", Figure("GetExamples, 1,000 in flight", "anon_mb"),
               Figure("gRPC for C++, 1,000 in flight", "anon_mb"))
    yield Goal("memory of an idle connection", Figure("GetExamples, an idle connection", "rss_kb"),
               most=40, unit="KB")
    yield Goal("the same, to C++ gRPC's", Figure("GetExamples, an idle connection", "rss_kb"),
               Figure("gRPC for C++, an idle connection", "rss_kb"))


def growth_goals(few, many):
    times = f"{many:,} events, to {few:,}"
    for heat in ("cold", "hot"):
        yield Goal(f"CPU of a lookup without the server, {heat}: {times}",
                   Figure(f"store: errata, {heat}, grown", "ns"),
                   Figure(f"store: errata, {heat}, before it grew", "ns"), most=1.1)
        yield Goal(f"the same, {heat}, of raw LMDB: {times}",
                   Figure(f"store: lmdb, {heat}, grown", "ns"),
                   Figure(f"store: lmdb, {heat}, before it grew", "ns"))
        yield Goal(f"server CPU of a lookup, {heat}: {times}",
                   Figure(f"GetExamples, {heat}, {many:,} events", "cpu_us", *MANY),
                   Figure(f"GetExamples, {heat}, {few:,} events", "cpu_us", *MANY))
    yield Goal(f"captures a second, 100 in flight: {times}",
               Figure(f"CaptureFeedbackEvent, {many:,} events", "rate", *HUNDRED),
               Figure(f"CaptureFeedbackEvent, {few:,} events", "rate", *HUNDRED))


def learned_goals():
    yield Goal("GetLearningAnalytics of 90 days, p50",
               Figure("GetLearningAnalytics, 90 days", "p50", *ONE), unit="ms", divisor=1000)
    yield Goal("GetLearningAnalytics of 90 days, p99",
               Figure("GetLearningAnalytics, 90 days", "p99", *ONE), most=10, unit="ms",
               divisor=1000)
    yield Goal("start until ready, large store", Figure("start until ready", "ms"), most=2, unit="s",
               divisor=1000)
    yield Goal("MatchLines of 200 mapped lines, p99",
               Figure("MatchLines, 200 mapped lines", "p99", *ONE), most=1, unit="ms",
               divisor=1000)
    yield Goal("a line that needs candidates, p50",
               Figure("MatchLines, 200 lines with candidates", "p50", *ONE), most=0.2, unit="ms",
               divisor=200_000)


def document_goals():
    yield Goal("CPU of a generated one-page invoice's process, p50",
               Figure("generated one-page invoices, one at a time", "cpu_p50_us"), most=10,
               unit="ms", divisor=1000)
    yield Goal("generated one-page invoices a second, on one core",
               Figure("generated one-page invoices, 1 of 2 cores", "rate"), least=100, unit="/s")
    for name in ("real-time", "ordinary class"):
        at = f"GetExamples at {LOOKUP_RATE:,}/s, {name}, "
        for beside in ("PDF queue full", "PDF queue full, 100 captures in flight"):
            yield Goal(f"p99 of lookups, {name}, {beside}, to idle",
                       Figure(at + beside, "p99", *OPEN), Figure(at + "idle", "p99", *OPEN))


def judge(rows, few, many):
    """Returns the result for each goal that was measured."""
    goals = [*lookup_goals(), *store_goals(), *capture_goals(), *retraction_goals(), *backtest_goals(), *memory_goals(),
             *growth_goals(few, many), *learned_goals(), *document_goals()]
    return [found for found in (goal.judge(rows) for goal in goals) if found]
