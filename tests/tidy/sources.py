"""Shared by the tidy rules: the list of files, the shape of C code, and the output of findings.

The rules read text, not a syntax tree. clang-format makes that safe: a function's brace is the
only character of its line, in column 0, `case` is in its `switch`'s column, and comments start
where code does.
"""
import os
import re
import subprocess
import sys

C_FOLDERS = ("store/", "server/", "client/", "tools/", "tests/")
# Measuring sticks that came from elsewhere as they are (tests/bench/floor/README.md).
FOREIGN = ("tests/bench/floor/",)


class Findings:
    """Collects what is wrong; each finding states where, what, and what to do instead."""

    def __init__(self):
        self.lines = []

    def add(self, path, line, what, instead):
        self.lines.append(f"{path}:{line}: {what}. Instead: {instead}.")

    def finish(self, rule):
        for line in self.lines:
            print(line)
        print(f"{rule}: {len(self.lines)} findings")
        return 1 if self.lines else 0


def tracked(root):
    """Every file that is or would be committed, as paths from the root."""
    out = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"],
                         capture_output=True, text=True, check=True).stdout
    return [p for p in out.splitlines() if os.path.isfile(os.path.join(root, p))]


def c_files(root):
    """Our own C files and headers."""
    return [p for p in tracked(root) if p.endswith((".c", ".h"))
            and p.startswith(C_FOLDERS) and not p.startswith(FOREIGN)]


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


def blank_strings_and_comments(text):
    """The same text, line for line, with comments and the insides of literals as spaces."""
    def blank(match):
        token = match.group(0)
        if token[0] in "\"'":
            return token[0] + " " * (len(token) - 2) + token[-1]
        return re.sub(r"[^\n]", " ", token)

    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text,
                  flags=re.S)


class Function:
    def __init__(self, name, signature, line, body_lines, parameters):
        self.name = name
        self.signature = signature
        self.line = line
        self.body_lines = body_lines
        self.parameters = parameters


def count_parameters(signature):
    """The number of parameters of the last top-level parenthesis of a signature."""
    depth, count, start, last = 0, 0, 0, ""
    for i, char in enumerate(signature):
        if char == "(":
            if depth == 0:
                start, count = i + 1, 1
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                last = signature[start:i].strip()
                result = 0 if last in ("", "void") else count
        elif char == "," and depth == 1:
            count += 1
    return result if last or "(" in signature else 0


def functions(text):
    """The functions that a file defines."""
    lines = blank_strings_and_comments(text).split("\n")
    found, opened = [], None
    for number, line in enumerate(lines):
        if line == "{" and opened is None:
            opened = number
        elif line == "}" and opened is not None:
            top = opened - 1
            while top > 0 and lines[top - 1].strip() and not re.match(r"[}#]|.*;\s*$",
                                                                     lines[top - 1]):
                top -= 1
            signature = " ".join(lines[top:opened])
            signature = re.sub(r"__attribute__\s*\(\(.*?\)\)|\b[A-Z_]+\(\d+, \d+\)", "", signature)
            name = re.search(r"(\w+)\s*\(", signature)
            if name:
                found.append(Function(name.group(1), signature, top + 1, number - opened - 1,
                                      count_parameters(signature)))
            opened = None
    return found


def main(rule, check):
    """Runs one rule: `check(root, build, findings)`. Arguments: ROOT BUILD."""
    root, build = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    findings = Findings()
    check(root, build, findings)
    sys.exit(findings.finish(rule))
