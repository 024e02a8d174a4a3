#!/usr/bin/python3
"""tidy_words: words that must not be committed, and files that must exist.

No note of unfinished work, no host of a package registry, no path of one machine, no generated
code; the licence and the pages that every folder promises; links and names of tests must
resolve.
"""
import os
import re

import sources

# Each pattern is written so that it does not match itself.
WORDS = [
    (r"\b(TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b", "a note of unfinished work",
     "finish it, or say in README.md what the program does not do"),
    (r"\b(enough|only|works|fine|stub) for no[w]\b|\btemporar[y] (fix|solution)", "a promise to come back",
     "make it right, or state plainly what is and what is not"),
    (r"registry\.npm[j]s|deb\.debia[n]|snapshot\.debia[n]|nodesourc[e]|pypi\.or[g]|"
     r"files\.pythonhoste[d]", "the host of a package registry",
     "only the package's name; which registry serves it is the machine's setting"),
    (r"/wor[k]/(main|shared|bare)|/tmp/[b]/|/roo[t]/|/home/[a-z]", "a path of one machine",
     "a path from the repository's root, or a folder of mktemp"),
    (r"github\.com/[^ )\n]*/(pul[l]|issue[s])/\d", "a pointer to a discussion elsewhere",
     "the reason itself"),
]
NEEDED = ["LICENSE", "NOTICE", "README.md", "proto/README.md", "store/README.md",
          "store/FORMAT.md", "server/README.md", "client/README.md", "tools/README.md",
          "tools/HACKING.md", "tests/README.md"]
GENERATED = re.compile(r"\.(pb-c|pb)\.[ch]$|_pb2(_grpc)?\.py$|(^|/)node_modules/|(^|/)build/")
BINARY = (".binpb", ".pdf", ".png", ".gz", ".bin", ".mdb")
MARKDOWN_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def check_words(path, text, findings):
    for number, line in enumerate(text.split("\n"), 1):
        for pattern, what, instead in WORDS:
            match = re.search(pattern, line)
            if match:
                findings.add(path, number, f"'{match.group(0).strip()}': {what}", instead)


def check_links(root, path, text, findings):
    """Every relative link of a page leads somewhere."""
    for number, line in enumerate(text.split("\n"), 1):
        for target in MARKDOWN_LINK.findall(line):
            if "://" in target:
                continue
            where = os.path.normpath(os.path.join(root, os.path.dirname(path), target))
            if not os.path.exists(where):
                findings.add(path, number, f"the link to {target} leads nowhere",
                             "name a file or folder that is there")


def check_scenarios(text, tests, findings):
    """Every test that the table of scenarios names is there."""
    for number, line in enumerate(text.split("\n"), 1):
        for name in re.findall(r"`(?:[\w/.]+: )?(test_\w+)`", line):
            if name not in tests:
                findings.add("tests/README.md", number, f"there is no test {name}",
                             "name the test that shows the scenario, or say what will bring it")


def check(root, build, findings):
    files = sources.tracked(root)
    for path in NEEDED:
        if not os.path.isfile(os.path.join(root, path)):
            findings.add(path, 1, "the file is missing", "write it: other pages lead to it")
    tests = "".join(sources.read(root, path) for path in files
                    if path.startswith("tests/") and path.endswith((".py", ".c")))
    check_scenarios(sources.read(root, "tests/README.md"),
                    set(re.findall(r"\btest_\w+", tests)), findings)
    for path in files:
        if GENERATED.search(path):
            findings.add(path, 1, "generated code is committed", "let the build make it")
        if path.endswith(BINARY) or path.startswith(sources.FOREIGN):
            continue
        try:
            text = sources.read(root, path)
        except UnicodeDecodeError:
            continue
        check_words(path, text, findings)
        if path.endswith(".md"):
            check_links(root, path, text, findings)


if __name__ == "__main__":
    sources.main("tidy_words", check)
