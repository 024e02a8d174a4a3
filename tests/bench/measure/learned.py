"""Measures analytics of a year, and matching of lines, on a separate store."""
import datetime
import os
import random
import time

from . import wire
from .load import closed, requests
from .stores import LAYOUTS, ORGS, SMALL_EVENT_BYTES

ANALYTICS = "errata.v1.AnalyticsService/GetLearningAnalytics"
MATCH = "errata.v1.MappingService/MatchLines"
DAYS = 90
LINES = 200  # number of lines of a request
CUSTOMERS = 100  # customers of each organisation, as errata-bench creates them
REQUESTS = 100  # different requests of each organisation, so that a run covers many lines
CANDIDATES_NONE = 0
SHAPES = ((1, 1), (10, 1))


def customer_sku(index):
    """Returns the customer's SKU of a mapping, as tools/bench/preload/script_events.c names it."""
    mixed = index * 2654435761 & 0xFFFFFFFF
    return f"{chr(65 + mixed % 26)}{chr(65 + mixed // 26 % 26)}-{mixed // 676 % 1000:03d}-{index:08d}"


def exact(index):
    """A SKU that is mapped."""
    return customer_sku(index)


def alike(index):
    """Returns an unknown SKU that differs from a known one in one character."""
    sku = customer_sku(index)
    return sku[:-2] + "O" + sku[-1]


class Learned:
    """The parts `analytics` and `match`; the store of `grown` events has a mapping for each ten."""

    def __init__(self, parts):
        self.parts = parts
        self.server = None

    def start(self):
        """Makes the store, and starts a server on it once per round."""
        parts, options = self.parts, self.parts.options
        if self.server:
            return
        if parts.errata:
            parts.stop()
        data = parts.stores.learned(options.grown, options.grown // 10, SMALL_EVENT_BYTES)
        size = os.path.getsize(os.path.join(data, "db", "data.mdb"))
        for _ in parts.rounds():
            if self.server:
                parts.servers.stop(self.server)
            started = time.monotonic()
            self.server = parts.servers.errata(data)
            parts.add("start until ready", ms=(time.monotonic() - started) * 1000,
                      store_gb=size / 2**30)
        parts.warm_up(self.server)

    def analytics(self):
        """Measures the analytics of 90 days of each organisation."""
        self.start()
        last = datetime.datetime.now(datetime.timezone.utc).date()
        first = last - datetime.timedelta(days=DAYS - 1)
        call = ("--call", f'analytics={ANALYTICS}{{"startDate":"{first}","endDate":"{last}"}}')
        for number in self.parts.rounds():
            for shape in SHAPES:
                self.parts.load.measure(f"GetLearningAnalytics, {DAYS} days", self.server, call,
                                        closed(*shape, seconds=self.parts.seconds),
                                        "--seed", number + 1)

    def write_lines(self, name, candidates, sku):
        """Requests of 200 lines of one customer each."""
        count = self.parts.options.grown // 10 // ORGS // CUSTOMERS
        draw = random.Random(1)

        def lines(customer):
            message = b""
            for _ in range(LINES):
                index = draw.randrange(count) * CUSTOMERS + customer
                message += wire.text(1, wire.text(1, f"customer-{customer:05d}") +
                                     wire.text(2, sku(index)))
            return message + (wire.number(2, candidates) if candidates is not None else b"")

        path = self.parts.stores.path(name)
        wire.write_requests(path, ((org, lines(draw.randrange(CUSTOMERS)))
                                   for org in range(ORGS) for _ in range(REQUESTS)))
        return requests(MATCH, path)

    def match(self):
        """Lines that are mapped, and lines that need candidates."""
        self.start()
        mapped = self.write_lines("lines-mapped", None, exact)
        similar = self.write_lines("lines-similar", None, alike)
        plain = self.write_lines("lines-none", CANDIDATES_NONE, alike)
        for number in self.parts.rounds():
            for what, call in ((f"MatchLines, {LINES} mapped lines", mapped),
                               (f"MatchLines, {LINES} lines with candidates", similar),
                               (f"MatchLines, {LINES} lines without", plain)):
                for shape in SHAPES:
                    self.parts.load.measure(what, self.server, call,
                                            closed(*shape, seconds=self.parts.seconds),
                                            "--seed", number + 1)
