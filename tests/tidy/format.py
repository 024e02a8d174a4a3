#!/usr/bin/python3
"""tidy_format: files must be formatted as clang-format does it."""
import re
import subprocess

import sources


def check(root, build, findings):
    files = sources.c_files(root)
    if not files:
        findings.add(".", 1, "no C file was found", "run it on the repository's root")
        return
    run = subprocess.run(["clang-format", "--dry-run", *files], cwd=root, capture_output=True,
                         text=True)
    for match in re.finditer(r"^([^:\n]+):(\d+):\d+: warning:", run.stderr, flags=re.M):
        findings.add(match.group(1), match.group(2), "not as clang-format would write it",
                     f"clang-format -i {match.group(1)}")
    if run.returncode != 0:
        findings.add(".clang-format", 1, f"clang-format failed: {run.stderr[-300:]}",
                     "tools/install-parts --with-checks installs the right one")


if __name__ == "__main__":
    sources.main("tidy_format", check)
