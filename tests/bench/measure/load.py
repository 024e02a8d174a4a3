"""Runs errata-bench: creates a load on a server, and adds the results as a row of figures."""
import json
import os
import subprocess
import sys
import tempfile

from . import machine

EXAMPLES = ("--mix", "examples")
CAPTURE = ("--mix", "capture")
LOOKUP_RATE = 2000  # calls per second of lookups whose latency is measured during another load


def requests(method, path):
    """Prepared bodies instead of a call of errata-bench."""
    return ("--requests", f"made={method}@{path}")


def closed(connections, in_flight, calls=None, seconds=None):
    """A fixed number of calls is always in flight."""
    length = ("--calls", calls) if calls else ("--duration", f"{seconds}s")
    return ("--connections", connections, "--in-flight", in_flight, *length)


def opened(connections, rate, seconds):
    """Calls start by a schedule, independent of the server."""
    return ("--connections", connections, "--rate", rate, "--duration", f"{seconds}s")


class Load:
    """Runs the program and keeps the rows."""

    def __init__(self, program):
        self.program = program
        self.rows = []
        self.problems = []
        self.round = 0  # round of the current part

    def command(self, server, call, shape, arguments, report):
        tokens = ("--tokens", server.tokens) if server.tokens else ()
        return [self.program, "--server", f"127.0.0.1:{server.port}", "--server-pid",
                str(server.pid), "--allow-writes", "--quiet", "--json", report,
                *map(str, (*tokens, *call, *shape, *arguments))]

    def start(self, server, call, shape, *arguments, prefix=machine.LOWER_ON_LOAD_CORE):
        """Starts a load beside the measured one; `finish` waits for it."""
        report = tempfile.NamedTemporaryFile("r", suffix=".json", encoding="utf-8")
        process = subprocess.Popen(
            [*prefix, *self.command(server, call, shape, arguments, report.name)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return process, report

    def finish(self, started):
        """Returns the report of a load that was started."""
        process, report = started
        _, said = process.communicate()
        with report:
            if process.returncode not in (0, 1) or not os.path.getsize(report.name):
                raise RuntimeError(f"errata-bench ended with {process.returncode}: {said.strip()}")
            found = json.load(report)
        for problem in (*found["problems"], *found["runs"][0]["problems"]):
            print(f"INVALID: {problem}", file=sys.stderr)
            self.problems.append(problem)
        return found

    def run(self, server, call, shape, *arguments, prefix=machine.ON_LOAD_CORE):
        """Runs a load without adding a row."""
        return self.finish(self.start(server, call, shape, *arguments, prefix=prefix))

    def measure(self, what, server, call, shape, *arguments, **more):
        """Runs a load and adds a row."""
        return self.add(what, self.run(server, call, shape, *arguments), shape, **more)

    def add(self, what, report, shape, **more):
        """A row of figures; times are microseconds."""
        run, settings = report["runs"][0], dict(zip(shape[::2], shape[1::2]))
        latency, server = run["total"]["latency_us"], run["server"] or {}
        row = {"what": what, "round": self.round, "connections": settings["--connections"],
               "in_flight": settings.get("--in-flight", 0), "offered": settings.get("--rate"),
               "rate": run["rate"], "cpu_us": server.get("cpu_us_per_call"),
               "p50": latency["p50"], "p90": latency["p90"], "p99": latency["p99"],
               "p999": latency["p99_9"], "max": latency["max"],
               "reply_bytes": run["total"]["reply_bytes"],
               "started": run["started"], "right": run["right"], **more}
        print(json.dumps(row), flush=True)
        self.rows.append(row)
        return row
