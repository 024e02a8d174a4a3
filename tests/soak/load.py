"""The orderly part of a soak: errata-bench, a minute at a time, on connections that come and go."""
import json
import os
import subprocess
import tempfile

# Mixture per thousand calls: 85% lookups, 10% captures, and some of every other kind.
MIX = ("examples=700,hints=150,capture=100,capture-batch=3,list-feedback=15,list-events=10,get-event=15,"
       "list-layouts=2,list-documents=2,fingerprint=2,server-info=1")
CONNECTIONS = 20
SWEEP = "1000..64000x2"
KNEE_P99 = "50ms"
LAG_MAX = "1s"  # a load that is late on a busy machine shows in the times; it does not slow down
EVENTS_A_CALL = (100 + 10 * 3) / 1000


class Bench:
    """Runs of errata-bench against one server."""

    def __init__(self, program, address, pid, tokens_file):
        self.command = [program, "--server", address, "--server-pid", str(pid), "--tokens", tokens_file,
                        "--mix", MIX, "--connections", str(CONNECTIONS), "--layouts", "5000", "--skew",
                        "1", "--allow-writes", "--quiet"]

    def run(self, *arguments, timeout=900):
        """The report of one run, independent of its verdict; None if there is none."""
        with tempfile.NamedTemporaryFile(suffix=".json") as report:
            done = subprocess.run([*self.command, *arguments, "--json", report.name],
                                  capture_output=True, text=True, timeout=timeout)
            if os.path.getsize(report.name) == 0:
                print(f"errata-bench: {done.stderr.strip()[-500:]}", flush=True)
                return None
            with open(report.name, encoding="utf-8") as f:
                return json.load(f)

    def find_knee(self):
        """The highest rate that was sustained, and the measurements on the way."""
        report = self.run("--sweep", SWEEP, "--duration", "3s", "--knee-p99", KNEE_P99,
                          "--lag-max", LAG_MAX)
        if report is None or report["sweep"]["knee_rate"] is None:
            raise RuntimeError("no rate of the sweep was sustained: is the machine busy?")
        return report["sweep"]["knee_rate"], [
            (run["offered_rate"], run["rate"], run["total"]["latency_us"]["p99"])
            for run in report["runs"]]

    def run_minute(self, rate, seconds):
        """Runs a load for one interval; returns the due, answered and wrong calls, and their latencies."""
        report = self.run("--rate", f"{rate:.0f}", "--duration", f"{seconds:.0f}s", "--arrival", "poisson")
        if report is None:
            return {"due": rate * seconds, "answered": 0, "wrong": {"NO_REPORT": 1}, "p99_us": {}}
        run = report["runs"][0]
        wrong = {}
        for row in run["wrong_answers"]:
            wrong[row["what"]] = wrong.get(row["what"], 0) + row["count"]
        p99 = {call["name"]: call["latency_us"]["p99"] for call in run["calls"]}
        return {"due": rate * seconds, "answered": run["total"]["answered"], "wrong": wrong,
                "p99_us": {"all": run["total"]["latency_us"]["p99"], **p99},
                "p50_us": run["total"]["latency_us"]["p50"],
                "cpu_us_per_call": (run["server"] or {}).get("cpu_us_per_call")}
