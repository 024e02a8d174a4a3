#!/usr/bin/python3
"""Imports a large export of another tool: the time, and the greatest memory of `errata import`.

    tests/bench/large_import.py [--build build/release] [--size 1GB] [--form lines|document] [--dry-run]

Makes an export of TensorZero of about that size: outputs of models of 1 to 10 KB, of which every second has a
demonstration that corrects it, and every fourth a metric. The outputs are one file, as JSON lines or as one array; the
feedback is another one. Imports them into a new server, checks how many rows were stored and that a repeat of the
feedback stores none, and does the same with a tenth, so that it shows whether memory grows. Needs the targets erratad,
errata and python_stubs, and room for three times the size in the folder for temporary files.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
UNITS = {"MB": 10 ** 6, "GB": 10 ** 9}
# The greatest memory of the command, at any size.
GOAL_MIB = 256
WORDS = "order of twelve boxes M8 screws galvanised delivery before Friday please confirm price and unit".split()


def identifier(kind, number):
    """A UUID of version 7, whose time is a second later for each number."""
    ms = 1_735_689_600_000 + number * 1000
    return f"{ms >> 16:08x}-{ms & 0xffff:04x}-7{kind:03x}-8000-{number:012x}"


def write_outputs(path, size, form, draw):
    """Returns the number of outputs."""
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(120, 1400))) for _ in range(64)]
    count = written = 0
    with open(path, "w", encoding="ascii") as file:
        file.write("[\n" if form == "document" else "")
        while written < size:
            text = texts[count % len(texts)]
            row = {"id": identifier(1, count), "function_name": f"function_{count % 20}", "variant_name": "v1", "episode_id": identifier(4, count),
                   "input": {"messages": [{"role": "user", "content": [{"type": "text", "text": text[:len(text) // 2]}]}]},
                   "output": [{"type": "text", "text": f"{count} {text[len(text) // 2:]}"}]}
            line = (",\n" if form == "document" and count > 0 else "") + json.dumps(row)
            written += file.write(line + ("\n" if form == "lines" else ""))
            count += 1
        file.write("\n]\n" if form == "document" else "")
    return count


def write_feedback(path, outputs):
    """Returns the number of rows."""
    count = 0
    with open(path, "w", encoding="ascii") as file:
        for number in range(0, outputs, 2):
            file.write(json.dumps({"id": identifier(2, number), "inference_id": identifier(1, number),
                                   "value": [{"type": "text", "text": f"{number} corrected"}], "tags": {}}) + "\n")
            count += 1
            if number % 4 == 0:
                file.write(json.dumps({"id": identifier(3, number), "target_id": identifier(1, number),
                                       "metric_name": "resolved", "value": number % 8 == 0, "tags": {}}) + "\n")
                count += 1
    return count


def import_files(options, environment, *words):
    """Returns the report, the seconds and the greatest memory in MiB of an import."""
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([os.path.join(options.build, "bin", "errata"), "import", "tensorzero", *words, "--json"],
                                 env=environment, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        lines = out.read().splitlines()
    if child.returncode != 0:
        sys.exit(f"errata import ended with {child.returncode}: {lines[-3:]}")
    return json.loads(lines[-1]), time.monotonic() - began, usage.ru_maxrss / 1024


def measure(options, folder, size):
    """Returns whether memory stayed below the goal."""
    from erratad import Server
    draw = random.Random(1)
    outputs, feedback = (os.path.join(folder, name) for name in
                         ("outputs.json" if options.form == "document" else "outputs.jsonl", "feedback.jsonl"))
    count = write_outputs(outputs, size, options.form, draw)
    rows = write_feedback(feedback, count)
    total = os.path.getsize(outputs) + os.path.getsize(feedback)
    dry = ("--dry-run",) if options.dry_run else ()
    with Server(data=os.path.join(folder, "data")) as server:
        token = os.path.join(folder, "token")
        with open(token, "w", encoding="ascii") as file:
            file.write(server.admin_token)
        environment = os.environ | {"ERRATA_SERVER": server.address, "ERRATA_TOKEN_FILE": token}
        report, seconds, mib = import_files(options, environment, feedback, "--join", outputs, *dry)
        assert report["before_missing"]["count"] == 0 and report["damaged"]["count"] == 0, report
        assert dry or report["created"] == rows, report
        print(f"{total / 1e6:8.0f} MB: {count} outputs, {rows} rows of feedback; {seconds:.1f} s, "
              f"{total / 1e6 / seconds:.1f} MB/s, {rows / seconds:.0f} rows/s; at most {mib:.0f} MiB of memory", flush=True)
        if not dry:
            report, again_s, again_mib = import_files(options, environment, feedback, "--join", outputs)
            assert (report["created"], report["repeated"]) == (0, rows), report
            print(f"{'':8} again: nothing is stored; {again_s:.1f} s, at most {again_mib:.0f} MiB", flush=True)
            mib = max(mib, again_mib)
    shutil.rmtree(os.path.join(folder, "data"), ignore_errors=True)
    return mib <= GOAL_MIB


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--size", default="1GB", help="such as 50MB (1GB)")
    parser.add_argument("--form", choices=("lines", "document"), default="lines")
    parser.add_argument("--dry-run", action="store_true", help="read and check, and send nothing")
    options = parser.parse_args()
    size = int(options.size[:-2]) * UNITS[options.size[-2:]]
    os.environ["ERRATA_BIN"] = os.path.join(options.build, "bin")
    os.environ["ERRATA_STUBS"] = os.path.join(options.build, "gen", "python")
    sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
    met = True
    for part in (size // 10, size):
        with tempfile.TemporaryDirectory(prefix="errata-bench-import-") as folder:
            met = measure(options, folder, part) and met
    print(f"goal: at most {GOAL_MIB} MiB: {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
