#!/usr/bin/python3
"""Goal: fingerprints equal Python's own, byte for byte. Method: 12,000 random metadata texts and 4,000
measured documents (a fixed seed) go through the reference and through the program given as the argument,
with --lines and --measures."""
import hashlib
import json
import random
import struct
import subprocess
import sys

COUNT = 12000
DOCUMENTS = 4000


def reference(text):
    try:
        metadata = json.loads(text)
        data = {
            "page_count": metadata.get("page_count"),
            "page_dimensions": metadata.get("page_dimensions"),
            "table_count": metadata.get("table_count"),
            "text_coverage_ratio": round(metadata.get("text_coverage_ratio", 0), 2),
        }
        canonical = json.dumps(data, sort_keys=True)
    except (ValueError, TypeError, AttributeError):
        return "refused"
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest() + " " + canonical


def number(rng):
    kind = rng.randrange(9)
    if kind == 0:
        return str(rng.randint(-9, 9))
    if kind == 1:
        return str(rng.randint(-10**30, 10**30))
    if kind == 2:
        return rng.choice(["-0", "0", "-0.0", "0.0", "1E400", "-1e400", "1e-400", "5e-324", "1e16",
                           "9999999999999998.0", "1e15", "0.0001", "0.00001", "1E+2", "NaN",
                           "Infinity", "-Infinity", "1.7976931348623157e308", "123456789012345678.0",
                           "7" * 4300, "7" * 4301, "-" + "7" * 4301, "0." + "7" * 4400])
    if kind == 3:
        return repr(struct.unpack("<d", rng.randbytes(8))[0]).replace("inf", "Infinity").replace("nan", "NaN")
    if kind == 4:
        return "%.3f" % (rng.randrange(0, 2000) / 1000)
    if kind == 5:
        return "%d.%d5" % (rng.randrange(100), rng.randrange(100))
    if kind == 6:
        return repr(rng.uniform(0, 1000))
    if kind == 7:
        return "%de%d" % (rng.randint(-99, 99), rng.randint(-20, 20))
    return repr(rng.random())


def string(rng):
    alphabet = ["a", "b", "Z", "0", " ", "\u00e4", "\u20ac", "\U0001f600", "\x7f", "\u2028", "/", "\\", '"',
                "\x01", "\n", "\ud7ff", "\ufffd", "\x00"]
    text = "".join(rng.choice(alphabet) for _ in range(rng.randrange(6)))
    return json.dumps(text, ensure_ascii=rng.random() < 0.5)


def value(rng, depth):
    kind = rng.randrange(12)
    if kind < 6 or depth > 5:
        return number(rng)
    if kind == 6:
        return rng.choice(["true", "false", "null"])
    if kind == 7:
        return string(rng)
    space = rng.choice(["", " ", "\t", "  "])
    if kind < 11:
        return "[" + ("," + space).join(value(rng, depth + 1) for _ in range(rng.randrange(4))) + "]"
    names = {json.loads(name): name for name in (string(rng) for _ in range(rng.randrange(5)))}
    return "{" + ("," + space).join(name + space + ":" + value(rng, depth + 1) for name in names.values()) + "}"


def metadata(rng):
    if rng.random() < 0.01:
        return rng.choice(["[]", "1", "{", "", '{"page_count":}', "nan", "{'a':1}", '{"page_count":01}', "null"])
    names = ["page_count", "page_dimensions", "table_count", "text_coverage_ratio", "other", "\\u0070age_count2"]
    rng.shuffle(names)
    members = []
    for name in names:
        if rng.random() < 0.15:
            continue
        plain = name == "text_coverage_ratio" and rng.random() < 0.8
        members.append('"%s": %s' % (name, number(rng) if plain else value(rng, 0)))
    return "{" + ", ".join(members) + "}"


def ask(mode, lines):
    assert not any("\n" in line for line in lines)
    run = subprocess.run([sys.argv[1], mode], input="\n".join(lines) + "\n", capture_output=True,
                         encoding="utf-8", check=True)
    answers = run.stdout.split("\n")[:-1]
    assert len(answers) == len(lines), (len(answers), run.stderr)
    return answers


def side(rng):
    return rng.choice([
        lambda: rng.choice([0.0, 612.0, 595.276, 0.0010000000000000002, 14400.0, 2e20, 1e-9, 0.005]),
        lambda: rng.randrange(2000000) / 1000,
        lambda: rng.randrange(200000) / 100 + 0.005,
        lambda: rng.uniform(0, 2000),
        lambda: rng.uniform(0, 1e17),
    ])()


def measured_failures(rng):
    """A measured document's counts are ints, its sizes floats rounded first, its ratio always a float."""
    failed = 0
    lines = []
    expected = []
    for _ in range(DOCUMENTS):
        cells = rng.choice([0, rng.randrange(1, 16000000), rng.randrange(1, 200)])
        covered = rng.randrange(cells + 1)
        tables = rng.randrange(20)
        pages = [(side(rng), side(rng)) for _ in range(rng.randrange(1, 6))]
        lines.append("%d %d %d %s" % (tables, covered, cells, " ".join("%r %r" % page for page in pages)))
        expected.append(reference(json.dumps({
            "page_count": len(pages),
            "page_dimensions": [[round(width, 2), round(height, 2)] for width, height in pages],
            "table_count": tables,
            "text_coverage_ratio": covered / cells if cells else 0.0,
        })))
    for line, wanted, answer in zip(lines, expected, ask("--measures", lines)):
        if answer != wanted:
            failed += 1
            if failed <= 5:
                print("measures: %s\n  Python: %s\n  Errata: %s" % (line, wanted, answer))
    return failed


def main():
    rng = random.Random(20240229)
    texts = [metadata(rng) for _ in range(COUNT)]
    answers = ask("--lines", texts)
    failed = 0
    refused = 0
    for text, answer in zip(texts, answers):
        expected = reference(text)
        refused += expected == "refused"
        if answer != expected:
            failed += 1
            if failed <= 5:
                print("metadata: %s\n  Python: %s\n  Errata: %s" % (text[:300], expected[:300], answer[:300]))
    assert refused < COUNT / 3, refused
    failed += measured_failures(rng)
    print("%d passed, %d failed" % (COUNT + DOCUMENTS - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
