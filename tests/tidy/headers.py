#!/usr/bin/python3
"""tidy_headers: each of our headers compiles by itself.

Compiled with the flags of a source of its own folder (compile_commands.json), with one run of the
compiler per folder, so that the check takes seconds.
"""
import json
import os
import re
import shlex
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import sources

KEEP = re.compile(r"-(I|isystem|D|std=|W)")


def flags_by_folder(build):
    """Include folders and defines of each folder's compilation."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    flags = {}
    for command in commands:
        words = shlex.split(command["command"])
        kept = []
        for i, word in enumerate(words):
            if word in ("-isystem", "-include"):
                kept += [word, words[i + 1]]
            elif KEEP.match(word) and word != "-isystem":
                kept.append(word)
        flags.setdefault(os.path.dirname(command["file"]), kept)
    return flags


def flags_for(root, flags, path):
    """The flags of the header's folder; without sources there, those with the most includes."""
    own = flags.get(os.path.join(root, os.path.dirname(path)))
    return own or max(flags.values(), key=lambda f: sum("-I" in w or "-isystem" in w for w in f))


def compile_single(root, flags, path):
    with tempfile.NamedTemporaryFile("w", suffix=".c", delete=False) as f:
        f.write(f'#include "{path}"\n#include "{path}"\n')
    try:
        run = subprocess.run(["gcc", *flags_for(root, flags, path), f"-I{root}", "-fsyntax-only",
                              f.name], capture_output=True, text=True)
    finally:
        os.unlink(f.name)
    return path, run


def check(root, build, findings):
    flags = flags_by_folder(build)
    headers = [p for p in sources.c_files(root) if p.endswith(".h") and not p.startswith("tests/")]
    with ThreadPoolExecutor(2) as pool:
        for path, run in pool.map(lambda p: compile_single(root, flags, p), headers):
            if run.returncode != 0:
                error = next((l for l in run.stderr.split("\n") if "error" in l), run.stderr[:200])
                findings.add(path, 1, f"does not compile by itself ({error.strip()})",
                             "include in the header what the header names")


if __name__ == "__main__":
    sources.main("tidy_headers", check)
