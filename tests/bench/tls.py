#!/usr/bin/python3
"""Measures TLS of erratad: memory of idle connections, and the cost of handshakes for other clients.

tests/bench/tls.py [--build build/release] [--idle 10000] [--rate 500] [--seconds 10]

Goals: an idle connection under 80 KB, and 500 handshakes per second (ECDSA P-256) that leave the p99 of
another client under 10 ms; its exit code says whether both were reached. The latency without handshakes
is printed first, and says what the machine itself adds; `chrt -f 20` before it leaves out other programs.
Needs the targets erratad, tls_connections and python_stubs.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
P99_MS_MAX = 10.0
IDLE_KB_MAX = 80.0


def judge(name, figure, most, unit):
    """Prints whether a figure reached its goal, and returns it."""
    print(f"{name}: {figure:.2f} {unit}, goal under {most:.0f}: {'met' if figure < most else 'MISSED'}")
    return figure < most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--idle", type=int, default=10000)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    os.environ["ERRATA_BIN"] = os.path.join(options.build, "bin")
    os.environ["ERRATA_STUBS"] = os.path.join(options.build, "gen", "python")
    sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
    from certificates import Authority
    from erratad import Server

    met = True
    with tempfile.TemporaryDirectory() as folder:
        ca = Authority(folder)
        cert, key = ca.sign("server")
        with Server(arguments=["--tls-cert", cert, "--tls-key", key, "--connections-max", "20000",
                               "--connections-per-address", "20000"]) as server:
            port = server.address.rsplit(":", 1)[1]
            program = [os.path.join(options.build, "bin", "tls_connections"), "localhost", port, ca.path]
            for kind, rate in (("shake", 0), ("shake", options.rate), ("resume", options.rate)):
                run = subprocess.run([*program, kind, str(rate), str(options.seconds)], check=True,
                                     capture_output=True, text=True)
                print(f"{kind}: {run.stdout.strip()}")
                if rate > 0:
                    p99 = float(re.search(r"p99 ([0-9.]+) ms", run.stdout)[1])
                    met &= judge(f"p99 of others, {kind}", p99, P99_MS_MAX, "ms")
            before = server.rss_kb()
            idle = subprocess.Popen([*program, "idle", str(options.idle)], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True)
            opened = idle.stdout.readline().strip()
            each = (server.rss_kb() - before) / options.idle
            idle.stdin.close()
            if idle.wait() != 0 or opened != f"open {options.idle}":
                sys.exit(f"the idle connections failed: {opened or 'nothing was printed'}")
            met &= judge(f"memory of each of {options.idle} idle connections", each, IDLE_KB_MAX, "KB")
            server.stop()
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
