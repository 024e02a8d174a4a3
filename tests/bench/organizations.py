#!/usr/bin/python3
"""tests/bench/organizations.py [--organizations N] [--engine NAME] [--bin DIR]

Measures a server with so many organisations with a token each: the time from its start to its first answer, and the memory of
an idle organisation. org_delete.py measures deletions.
"""
import argparse
import concurrent.futures
import os
import shutil
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

THREADS = 16


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--organizations", type=int, default=10000, help="that are idle (10000)")
    parser.add_argument("--engine", default="journal", help="journal or lmdb (journal)")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"))
    return parser.parse_args()


def resident_kib(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as f:
        lines = dict(line.split(":", 1) for line in f)
    return int(lines["RssAnon"].split()[0]), int(lines["RssFile"].split()[0])


def measure_many(options, folder):
    server = Server(data=folder, arguments=("--pdf-worker", "/nowhere"), environment={"ERRATA_LOG": options.engine}).start()
    client = server.client()

    def make(number):
        org = client.create_org(f"idle {number}")
        client.create_token(roles.ROLE_ADMIN, org_id=org.id)
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(make, range(options.organizations)))
    server.stop()
    times = []
    for _ in range(3):
        began = time.monotonic()
        server.start()
        server.client().create_org(f"first {began}")
        times.append(time.monotonic() - began)
        anonymous, mapped = resident_kib(server)
        server.stop()
    empty = Server(data=folder + "-empty", arguments=("--pdf-worker", "/nowhere"),
                   environment={"ERRATA_LOG": options.engine}).start()
    empty.client().create_org("first")
    base, base_mapped = resident_kib(empty)
    empty.close()
    print(f"{options.organizations} organisations with a token each: from the start to the first write answered "
          f"{sorted(times)[1]:.2f} s (median of 3); memory of the server's own {anonymous / 1024:.1f} MiB, of an empty one "
          f"{base / 1024:.1f} MiB: {(anonymous - base) * 1024 / options.organizations:.0f} bytes an idle organisation; pages of the "
          f"file in memory {mapped / 1024:.1f} MiB and {base_mapped / 1024:.1f} MiB ({options.engine})")


def run():
    folder = tempfile.mkdtemp(prefix="errata-bench-organizations-")
    try:
        measure_many(parse_options, os.path.join(folder, "many"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    parse_options = parse()
    os.environ["ERRATA_BIN"] = os.path.abspath(parse_options.bin)
    os.environ.setdefault("ERRATA_STUBS", os.path.abspath(os.path.join(parse_options.bin, "..", "gen", "python")))
    from erratad import Server, roles
    run()
