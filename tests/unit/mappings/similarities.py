#!/usr/bin/python3
"""Similarities of texts as PostgreSQL's documentation of pg_trgm defines them: the words of a text are
its runs of letters and digits, in one case (SKUs are folded where pg_trgm lowers); each is taken to
have two spaces before and one after it; the similarity of two texts is the number of trigrams that
both have over the number of those that either has.

Writes similarities.def, or with --check reports whether the file equals the generated one."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

PAIRS = [
    ("word", "two words"),
    ("word", "word"),
    ("Word", "wORD"),
    ("word", ""),
    ("", ""),
    ("---", "***"),
    ("cat", "cats"),
    ("foo", "foo|bar"),
    ("a", "b"),
    ("a", "ab"),
    ("aaa", "aaaaaa"),
    ("abab", "baba"),
    ("ab-12", "ab 12"),
    ("ab-12", "ab12"),
    ("ab-12", "12-ab"),
    ("ABC-10023", "abc-10024"),
    ("ABC-10023", "ABC/10023"),
    ("ABC-10023", "XYZ-10023"),
    ("WIDGET-100", "widget-1012"),
    ("WIDGET-100", "gadget-100"),
    ("4711", "47110815"),
    ("M8x40 A2", "m8 x 40 (A2)"),
    ("straße 7", "STRASSE 7"),
    ("größe", "grösse"),
    ("Ключ 12", "ключ-13"),
    ("部品10", "部品11"),
    ("a_b", "ab"),
    ("one two three", "three two one"),
    ("pump", "pump pump pump"),
]


def trigrams(text):
    words = re.findall(r"[^\W_]+", text.casefold())
    return {padded[i:i + 3] for word in words for padded in ["  " + word + " "]
            for i in range(len(padded) - 2)}


def similarity(a, b):
    left, right = trigrams(a), trigrams(b)
    return len(left & right) / len(left | right) if left | right else 0.0


def literal(text):
    """A C string; each run of bytes outside of ASCII is a literal of its own."""
    runs = re.findall(r"[ -~]+|[^ -~]+", text) or [""]
    return " ".join('"%s"' % (run if run.isascii() else
                              "".join("\\x%02x" % byte for byte in run.encode()))
                    for run in runs)


def table():
    lines = ["/*",
             " * similarities.def: pairs of texts and how similar pg_trgm finds them; written by",
             " * similarities.py. SIMILARITY(text, other text, similarity).",
             " */"]
    lines += ["SIMILARITY(%s, %s, %.9f)" % (literal(a), literal(b), similarity(a, b))
              for a, b in PAIRS]
    return "\n".join(lines) + "\n"


def main():
    assert abs(similarity("word", "two words") - 0.36363637) < 1e-7
    path = os.path.join(HERE, "similarities.def")
    if sys.argv[1:] == ["--check"]:
        with open(path, encoding="utf-8") as file:
            if file.read() != table():
                sys.exit("similarities.def is not what similarities.py writes")
        print("%d passed, 0 failed" % len(PAIRS))
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(table())


main()
