"""Trying mutants: which are drawn, what each came to, and what is kept of that between runs."""
import json
import math
import os
import time

from mutation import changes

EXPLAINED = os.path.join("tools", "mutation", "explained.tsv")
NOTICED, SURVIVED = "noticed", "survived"
NO_MUTANT, SAME_CODE = "does not compile", "compiles to the same code"


def matches(path, only):
    return any(part in path for part in only)


def constants(tree, only):
    """The smallest steps of all constants, by file; those of headers, too."""
    mutants = []
    for path in sorted(set(tree.commands) | set(tree.includers)):
        if matches(path, only):
            with open(os.path.join(tree.sources, path), encoding="utf-8") as f:
                mutants.extend(changes.constants_of(path, f.read()))
    return mutants


def draw(tree, seed, only):
    """Every mutant of the tree, in the seed's order."""
    mutants = []
    for path in sorted(tree.commands):
        if matches(path, only):
            with open(os.path.join(tree.sources, path), encoding="utf-8") as f:
                mutants.extend(changes.mutants_of(seed, path, f.read()))
    return sorted(mutants)


def try_one(tree, mutant):
    """Tries a mutant; returns the result and the test that noticed it."""
    try:
        changed = tree.compile(mutant)
        if changed is None:
            return NO_MUTANT, ""
        if not changed:
            return SAME_CODE, ""
        failure = tree.first_failure(changed)
        return (NOTICED if failure else SURVIVED), failure
    finally:
        tree.put_back()


class Results:
    """Results of the mutants of one seed, as lines of JSON. A noticed mutant stays noticed, since tests are only added;
    a survivor is tried again if any part of the tree has changed."""

    def __init__(self, path, digest, fresh):
        self.path = path
        self.digest = digest
        self.known = {}
        if fresh and os.path.exists(path):
            os.remove(path)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                for line in f:
                    if line.endswith("\n"):
                        entry = json.loads(line)
                        self.known[entry["mutant"], entry["source"]] = entry

    def get(self, mutant):
        entry = self.known.get((mutant.key, changes.digest(mutant.source)))
        if entry is None or (entry["outcome"] == SURVIVED and entry["tree"] != self.digest):
            return None
        return entry

    def add(self, mutant, outcome, test, seconds):
        entry = {"mutant": mutant.key, "source": changes.digest(mutant.source), "tree": self.digest,
                 "outcome": outcome, "test": test, "seconds": round(seconds, 1)}
        self.known[entry["mutant"], entry["source"]] = entry
        with open(self.path, "a", encoding="utf-8") as f:
            f.write(json.dumps(entry) + "\n")
        return entry


def interval(hits, total):
    """Wilson's 95% interval of a share."""
    z = 1.96
    if total == 0:
        return 0.0, 1.0
    share = hits / total
    middle = share + z * z / (2 * total)
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return (middle - half) / (1 + z * z / total), (middle + half) / (1 + z * z / total)


def read_explained(path):
    """Survivors that need no test: (file, function or constant, line before, line after or * for any) and why."""
    known = {}
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.strip() and not line.startswith("#"):
                fields = line.rstrip("\n").split("\t")
                if len(fields) != 5:
                    raise ValueError(f"{path}:{number}: {len(fields)} fields; expected file, function, before, after, reason")
                known[tuple(fields[:4])] = fields[4]
    return known


def squeezed(text):
    return " ".join(text.split())


def gone(known, root):
    """The explained changes whose lines are no longer in the code."""
    lines = []
    for path, _, before, _ in known:
        try:
            with open(os.path.join(root, path), encoding="utf-8") as f:
                there = before in squeezed(f.read())
        except FileNotFoundError:
            there = False
        if not there:
            lines.append((path, before))
    return lines


def title(mutant):
    return f"{mutant.path}:{mutant.line}  {mutant.kind}"


def reason_of(known, mutant):
    """Why a survivor needs no test, or None."""
    place = (mutant.path, mutant.function, squeezed(mutant.before))
    return known.get((*place, squeezed(mutant.after))) or known.get((*place, "*"))


def try_all(tree, mutants, count, results, say):
    """Tries mutants in their order until `count` are noticed or have survived."""
    tried = []
    for mutant in mutants:
        if len(tried) == count:
            break
        entry = results.get(mutant)
        if entry is None:
            started = time.monotonic()
            outcome, test = try_one(tree, mutant)
            entry = results.add(mutant, outcome, test, time.monotonic() - started)
        if entry["outcome"] in (NOTICED, SURVIVED):
            tried.append((mutant, entry))
            by = f"by {entry['test']}" if entry["test"] else ""
            say(f"{len(tried):4}/{count}  {entry['outcome']:8}  {title(mutant)}  {by} ({entry['seconds']:.0f} s)")
    return tried
