"""Measures lookups while rules are backtested on the pool, on the store of the other parts."""
import struct
import subprocess
import threading

from . import machine, wire
from .load import LOOKUP_RATE, closed, opened, requests

SUBMIT = "errata.v1.VerdictService/SubmitVerdict"
SUBMISSIONS = 100_000  # number of submissions, of which a backtest takes nearly a second
INDICATORS = 50
REAL, FAKE = 1, 2  # verdicts
IDLE = f"GetExamples at {LOOKUP_RATE:,}/s, before backtests"
BESIDE = f"GetExamples at {LOOKUP_RATE:,}/s, beside backtests without a break"


def submission(number):
    """A SubmitVerdict of a receipt with one confirmed indicator."""
    fields = (wire.text(4, f"bench-receipt-{number:07d}"), wire.number(5, REAL + number % 2),
              wire.number(6, FAKE), wire.varint(7 << 3 | 1) + struct.pack("<d", number % 100 / 100),
              wire.text(8, f"bench-indicator-{number % INDICATORS}"))
    return wire.text(1, b"".join(fields))


class Backtested:
    """The part `backtests`."""

    def __init__(self, parts):
        self.parts = parts
        self.count = 0  # number of backtests

    def submit(self):
        path = self.parts.stores.path("verdicts")
        count = int(SUBMISSIONS * self.parts.options.scale)
        wire.write_requests(path, ((0, submission(number)) for number in range(count)))
        shape = closed(1, 100, calls=count)
        self.parts.load.measure("SubmitVerdict", self.parts.errata, requests(SUBMIT, path), shape, "--warm-up", "0s")

    def backtest_until(self, stop):
        while not stop.is_set():
            command = self.parts.errata_command("rules", "backtest", "--pattern", "bench-indicator-7", "--type",
                                                "missed_indicator", "--adjustment", "0.2")
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            self.count += 1

    def measure(self):
        """Lookups at a steady rate: without load, and during successive backtests. The server is in the ordinary
        class: the kernel stops real-time threads that never wait for a twentieth of the time."""
        parts = self.parts
        parts.begin_captures()
        self.submit()
        machine.set_class(parts.errata.pid, False)
        for number in parts.rounds():
            shape, seed = opened(10, LOOKUP_RATE, parts.seconds), ("--seed", number + 1)
            parts.look_up(IDLE, "cold", shape, *seed, check=False)
            stop = threading.Event()
            backtests = threading.Thread(target=self.backtest_until, args=(stop,))
            backtests.start()
            parts.look_up(BESIDE, "cold", shape, *seed, check=False)["cpu_us"] = None  # includes the backtests' time
            stop.set()
            backtests.join()
        machine.set_class(parts.errata.pid, True)
        print(f"{self.count} backtests", flush=True)
