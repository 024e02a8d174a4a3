"""Measures lookups while corrections are retracted, on the store of the other parts."""
import csv
import io
import subprocess
import threading
import time

from . import machine, wire
from .load import LOOKUP_RATE, closed, opened, requests

RETRACT = "errata.v1.EventService/RetractEvent"
PAGE = 50  # corrections of a page that a person reviews
DRAWN_FROM = 1000  # corrections of which a page is drawn at random, so that few are drawn twice
IDLE = f"GetExamples at {LOOKUP_RATE:,}/s, before a page of retractions"
BESIDE = f"GetExamples at {LOOKUP_RATE:,}/s, a page of {PAGE} retractions each second"


class Retracted:
    """The part `retractions`."""

    def __init__(self, parts):
        self.parts = parts
        self.server = None
        self.ids = []  # corrections that were not retracted

    def find_ids(self, count):
        """The newest corrections of the first organisation."""
        command = self.parts.errata_command("corrections", "list", "--csv", "--limit", str(count))
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return [row["id"] for row in csv.DictReader(io.StringIO(listed))]

    def retract_page(self):
        """Retracts a page of corrections, all of them in flight at once."""
        path = self.parts.stores.path("retractions")
        ids, self.ids = self.ids[:DRAWN_FROM], self.ids[DRAWN_FROM:]
        wire.write_requests(path, ((0, wire.text(1, event_id) + wire.text(2, "wrong invoice")) for event_id in ids))
        shape = closed(1, PAGE, calls=PAGE)
        started = self.parts.load.start(self.server, requests(RETRACT, path), shape, "--warm-up", "0s",
                                        prefix=machine.LOWER_ON_LOAD_CORE)
        self.parts.load.add("RetractEvent, a page", self.parts.load.finish(started), shape)

    def retract_until(self, stop):
        while not stop.wait(1) and self.ids:
            self.retract_page()

    def measure(self):
        """Lookups at a steady rate: without load, and while a page of corrections is retracted each
        second."""
        parts = self.parts
        parts.begin_captures()
        self.server = parts.errata
        self.ids = self.find_ids(int(parts.options.rounds * (parts.seconds + 4) * DRAWN_FROM))
        for number in parts.rounds():
            shape, seed = opened(10, LOOKUP_RATE, parts.seconds), ("--seed", number + 1)
            parts.look_up(IDLE, "cold", shape, *seed, check=False)
            stop = threading.Event()
            pages = threading.Thread(target=self.retract_until, args=(stop,))
            pages.start()
            time.sleep(0.5)
            parts.look_up(BESIDE, "cold", shape, *seed, check=False)["cpu_us"] = None  # includes the retractions' time
            stop.set()
            pages.join()
