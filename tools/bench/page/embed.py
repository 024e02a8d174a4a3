#!/usr/bin/python3
"""embed.py FOLDER: makes page.html, page.css and page.js one page, as C: FOLDER/bench_page.{c,h}.

The page comes in two pieces; between them errata-bench writes its report.
"""
import os
import sys

HEAD = """/*
 * {name}: the page of errata-bench, made from tools/bench/page. Generated; do not change.
 */
"""


def read(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as f:
        return f.read()


def lines_of(data):
    """Bytes as the numbers of an array's initialiser: string literals have a limit in C."""
    for start in range(0, len(data), 20):
        yield "    " + ", ".join(str(byte) for byte in data[start:start + 20]) + ","


def main(folder):
    page = read("page.html")
    for mark, name in (("/*STYLE*/\n", "page.css"), ("/*SCRIPT*/\n", "page.js")):
        if page.count(mark) != 1:
            sys.exit(f"page.html has no {mark.strip()}, or two")
        page = page.replace(mark, read(name))
    pieces = page.split("/*DATA*/")
    if len(pieces) != 2:
        sys.exit("page.html has no place for the data, or two")
    header = HEAD.format(name="bench_page.h") + "#ifndef BENCH_PAGE_H\n#define BENCH_PAGE_H\n\n"
    source = HEAD.format(name="bench_page.c") + '#include "bench_page.h"\n'
    for name, piece in zip(("head", "tail"), pieces):
        data = piece.encode()
        header += f"extern const unsigned char bench_page_{name}[{len(data)}];\n"
        source += f"\nconst unsigned char bench_page_{name}[{len(data)}] = {{\n"
        source += "\n".join(lines_of(data)) + "\n};\n"
    for name, text in (("bench_page.h", header + "\n#endif\n"), ("bench_page.c", source)):
        with open(os.path.join(folder, name), "w", encoding="ascii") as f:
            f.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
