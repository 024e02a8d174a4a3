#!/usr/bin/python3
"""Measures the client's CPU of one examples() call of the Python package, beside GetExamples by grpcio in the same run.

    tests/bench/python_client.py [--build build/release] [--calls 1000] [--rounds 9] [--concurrent 1000]

Each round makes the same calls by each side, one after the other, on a connection that is kept: a reply of three
examples of about a kilobyte each. CPU is that of all threads of this process, user and system. A ratio is taken within
each round, and the median of the rounds counts. Both sides include what makes a reply usable: the package parses each
output, so the same is done with what grpcio returns. Afterwards as many asyncio calls as --concurrent says run at once.
Goal: at most 150 us. Needs the targets erratad, python_stubs and python_package; best on a quiet machine.
"""
import argparse
import asyncio
import json
import os
import statistics
import sys
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
LAYOUT = "ab" * 32
EXAMPLES = 3
GOAL_US = 150
TIMEOUT_S = 60


def fill(client, feedback):
    for number in range(EXAMPLES):
        line = {f"line_{i}": {"sku": f"A-{number}-{i}", "quantity": i, "unit_price": 12.5 + i} for i in range(15)}
        client.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED, layout_fingerprint=LAYOUT,
                       entity_type="line", entity_id=str(number), before_json='{"lines": 0}', after_json=json.dumps(line),
                       meta_json=json.dumps({"input_snippet": "12 pcs of HX-220, 4 boxes of M8 x 40 " * 8}))


def measure(sides, calls, rounds):
    """Name -> CPU us of a call, by round."""
    found = {name: [] for name in sides}
    for _ in range(rounds):
        for name, call in sides.items():
            call()
            before = time.process_time_ns()
            for _ in range(calls):
                call()
            found[name].append((time.process_time_ns() - before) / calls / 1000)
    return found


async def hold(errata_aio, address, token, count):
    """Makes that many calls at once, twice; returns the CPU us of a call of the second time, and its seconds."""
    async with errata_aio.Client(address, token=token, spool=None, timeout=TIMEOUT_S, read_timeout=TIMEOUT_S) as client:
        for _ in range(2):
            cpu, began = time.process_time_ns(), time.monotonic()
            served = await asyncio.gather(*(client.examples(layout=LAYOUT) for _ in range(count)))
            assert [len(one) for one in served] == [EXAMPLES] * count, "a call was not answered"
            taken = (time.process_time_ns() - cpu) / count / 1000, time.monotonic() - began
        return taken


def run(options):
    from erratad import Server, feedback  # first: it adds the stubs, which share the package's name
    import errata
    import errata.aio
    with Server() as server:
        stubs = server.client()
        fill(stubs, feedback)

        def by_grpcio():
            return [json.loads(one.output) for one in stubs.examples(LAYOUT).examples]
        with errata.Client(server.address, token=server.admin_token, spool=None, read_timeout=TIMEOUT_S) as client:
            def by_package():
                return [one.output for one in client.examples(layout=LAYOUT)]
            assert by_package() == by_grpcio() and len(by_package()) == EXAMPLES
            found = measure({"errata": by_package, "grpcio": by_grpcio}, options.calls, options.rounds)
            assert client.counts().reads_failed == 0
        cpu_us, seconds = asyncio.run(hold(errata.aio, server.address, server.admin_token, options.concurrent))
    ratios = [own / other for own, other in zip(found["errata"], found["grpcio"])]
    own_us = statistics.median(found["errata"])
    for name, times in found.items():
        print(f"{name:8} {statistics.median(times):7.1f} us of client CPU a call ({min(times):.1f} to {max(times):.1f})")
    print(f"ratio    {statistics.median(ratios):7.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    print(f"asyncio  {cpu_us:7.1f} us of client CPU a call, {options.concurrent} at once in {seconds:.2f} s, all answered")
    print(f"goal: at most {GOAL_US} us: {'met' if own_us <= GOAL_US else 'MISSED'}")
    return 0 if own_us <= GOAL_US else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--concurrent", type=int, default=1000)
    options = parser.parse_args()
    os.environ["ERRATA_BIN"] = os.path.join(options.build, "bin")
    os.environ["ERRATA_STUBS"] = os.path.join(options.build, "gen", "python")
    sys.path[:0] = [os.path.join(ROOT, "tests", "support"), os.path.join(options.build, "python")]
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
