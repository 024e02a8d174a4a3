"""coverage_report.py COVERAGE.json NEVER.txt: what gcovr counted, by folder on standard output; and
into NEVER.txt each function that nothing runs, and each line of the others of which no branch, or not
every branch, is taken. A function that a build holds twice counts where either ran."""

import collections
import json
import os
import sys


def source_line(path, number, cache={}):
    if path not in cache:
        with open(path, encoding="utf-8") as source:
            cache[path] = source.read().splitlines()
    lines = cache[path]
    return lines[number - 1].strip() if number <= len(lines) else ""


def read_functions(entry):
    counts = collections.Counter()
    starts = {}
    for function in entry.get("functions", []):
        counts[function["name"]] += function["execution_count"]
        starts[function["name"]] = function["lineno"]
    return counts, starts


def never_of(entry, out):
    counts, starts = read_functions(entry)
    never = sorted((starts[name], name) for name in counts if counts[name] == 0)
    for start, name in never:
        print(f"{entry['file']}:{start}: function {name} is never run", file=out)
    end = max((line["line_number"] for line in entry["lines"]), default=0) + 1
    skipped = set()
    for start, _ in never:
        later = [other for other in starts.values() if other > start]
        skipped.update(range(start, min(later, default=end)))
    for line in entry["lines"]:
        number = line["line_number"]
        if number in skipped or line.get("gcovr/noncode"):
            continue
        text = source_line(entry["file"], number)
        if line["count"] == 0:
            print(f"{entry['file']}:{number}: never: {text}", file=out)
        elif any(branch["count"] == 0 for branch in line.get("branches", [])):
            print(f"{entry['file']}:{number}: in part: {text}", file=out)


def add(totals, entry):
    total = totals[os.path.dirname(entry["file"])]
    for line in entry["lines"]:
        if line.get("gcovr/noncode"):
            continue
        branches = line.get("branches", [])
        total["lines"] += 1
        total["lines_run"] += line["count"] > 0
        total["branches"] += len(branches)
        total["branches_taken"] += sum(branch["count"] > 0 for branch in branches)
    counts, _ = read_functions(entry)
    total["functions"] += len(counts)
    total["functions_run"] += sum(count > 0 for count in counts.values())


def percent(part, whole):
    return f"{100 * part / whole:5.1f} %" if whole else "      -"


def main():
    totals = collections.defaultdict(collections.Counter)
    with open(sys.argv[1], encoding="utf-8") as source:
        files = json.load(source)["files"]
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        for entry in sorted(files, key=lambda entry: entry["file"]):
            add(totals, entry)
            never_of(entry, out)
    print("  lines  functions branches  folder")
    for folder, total in sorted(totals.items()):
        print(
            percent(total["lines_run"], total["lines"]),
            percent(total["functions_run"], total["functions"]),
            percent(total["branches_taken"], total["branches"]),
            f" {folder} ({total['lines']} lines)",
        )


main()
