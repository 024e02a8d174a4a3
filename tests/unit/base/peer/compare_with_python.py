#!/usr/bin/python3
"""Compares our JSON code with Python's json module on the same questions.

Goal: `repr` of doubles, strings of json.dumps, the decisions whether a text is JSON and whether two
values are equal, are Python's. Method: fixed corner cases and seeded random ones through base_peer,
one line per question.
"""
import json
import math
import random
import struct
import subprocess
import sys

rng = random.Random(20260101)


class Refused(Exception):
    pass


def pairs_without_duplicates(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        raise Refused
    return result


def refuse_constant(_):
    raise Refused


def depth_of(value):
    depth, layer = 0, [value]
    while True:
        layer = [v for v in layer if isinstance(v, (list, dict))]
        if not layer:
            return depth
        depth += 1
        layer = [x for v in layer for x in (v.values() if isinstance(v, dict) else v)]


def is_json(raw):
    """RFC 8259 with no duplicate keys, no lone surrogates, depth 64: by Python's parser."""
    try:
        value = json.loads(raw.decode("utf-8"), object_pairs_hook=pairs_without_duplicates,
                           parse_constant=refuse_constant, parse_int=str, parse_float=str)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
        return depth_of(value) <= 64
    except (ValueError, Refused, RecursionError):
        return False


def doubles():
    for exponent in range(-1074, 1024):
        value = math.ldexp(1.0, exponent)
        yield value
        yield math.nextafter(value, math.inf)
        yield math.nextafter(value, 0.0)
    for exponent in range(-325, 309):
        yield float(f"1e{exponent}")
        yield float(f"-9.5e{exponent}")
    for i in range(2000):
        yield i / 100
        yield round(rng.uniform(0, 5000), 2)
    for _ in range(20000):
        yield struct.unpack("<d", rng.randbytes(8))[0]
    yield from (0.0, -0.0, 5e-324, sys.float_info.max, sys.float_info.min)


def random_text():
    kinds = [lambda: chr(rng.randrange(0x20, 0x7f)), lambda: chr(rng.randrange(0, 0x20)),
             lambda: chr(rng.randrange(0x7f, 0x800)), lambda: chr(rng.randrange(0xe000, 0x10000)),
             lambda: chr(rng.randrange(0x10000, 0x110000)), lambda: rng.choice('"\\/\x7f')]
    return "".join(rng.choice(kinds)() for _ in range(rng.randrange(0, 40)))


def random_value(depth):
    kind = rng.randrange(9 if depth > 0 else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind in (1, 2):
        return rng.choice([rng.randrange(-100, 100), rng.randrange(10 ** 18), rng.random(),
                           rng.uniform(-1e10, 1e10)])
    if kind in (3, 4, 5):
        return random_text() if rng.random() < 0.5 else rng.choice(["", "a", "sku", "qty"])
    if kind == 6:
        return [random_value(depth - 1) for _ in range(rng.randrange(5))]
    return {rng.choice([random_text(), "a", "b", "qty"]): random_value(depth - 1)
            for _ in range(rng.choice([0, 1, 3, 20]))}


def damage(raw):
    raw = bytearray(raw)
    for _ in range(rng.randrange(1, 4)):
        if not raw:
            break
        at = rng.randrange(len(raw))
        action = rng.randrange(5)
        if action == 0:
            raw[at] = rng.randrange(256)
        elif action == 1:
            del raw[at:at + rng.randrange(1, 4)]
        elif action == 2:
            raw[at:at] = rng.choice([b'"', b"\\", b",", b"}", b"]", b"0", b"-", b".", b"e1",
                                     b"\\ud800", b"\\udc00", b"\xc3", b"NaN", b" ", b"\x00"])
        elif action == 3:
            raw[at:at] = raw[max(0, at - 6):at]
        else:
            del raw[at:]
    return bytes(raw)


def shuffled(value):
    """The same value, written in another way."""
    if isinstance(value, dict):
        items = list(value.items())
        rng.shuffle(items)
        return {key: shuffled(item) for key, item in items}
    if isinstance(value, list):
        return [shuffled(item) for item in value]
    return value


def questions():
    for value in filter(math.isfinite, doubles()):
        yield "double", [struct.pack("<d", value)], repr(value)
    for _ in range(3000):
        text = random_text()
        yield "ascii", [text.encode()], json.dumps(text)
        yield "string", [text.encode()], json.dumps(text, ensure_ascii=False)
    for _ in range(3000):
        value = random_value(4)
        raw = json.dumps(value, ensure_ascii=rng.random() < 0.5,
                         indent=rng.choice([None, 1])).encode()
        yield "check", [raw], "good"
        for _ in range(4):
            damaged = damage(raw)
            yield "check", [damaged], "good" if is_json(damaged) else "bad"
        other = random_value(2) if rng.random() < 0.3 else shuffled(value)
        again = json.dumps(other, ensure_ascii=rng.random() < 0.5, indent=2).encode()
        same = json.dumps(other, sort_keys=True) == json.dumps(value, sort_keys=True)
        yield "equal", [raw, again], "equal" if same else "different"
    for _ in range(20000):
        raw = damage(random_text().encode()) if rng.random() < 0.7 else rng.randbytes(6)
        try:
            raw.decode("utf-8")
            yield "utf8", [raw], "good"
        except UnicodeDecodeError:
            yield "utf8", [raw], "bad"


def main():
    asked = list(questions())
    lines = "".join(f"{word} {' '.join(a.hex() for a in args)}\n" for word, args, _ in asked)
    done = subprocess.run([sys.argv[1]], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    answers = done.stdout.decode("utf-8").split("\n")[:-1]
    failed = abs(len(asked) - len(answers))
    for (word, args, expected), answer in zip(asked, answers):
        if answer != expected:
            failed += 1
            if failed <= 20:
                print(f"{word} {args}: {answer!r}, Python says {expected!r}")
    print(f"{len(asked) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
