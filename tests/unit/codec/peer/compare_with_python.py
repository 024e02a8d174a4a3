#!/usr/bin/python3
"""Compares our proto JSON with Python's google.protobuf.json_format on the same messages.

Goal: both read and write the same, and refuse the same, except what `python_is_lax` lists. Method: seeded
random messages with every type of field, both ways; the same with one value replaced by an unusual one;
bytes of random messages, damaged, to the pre-scan, which must not accept bytes that Python's parser
refuses, and to the writer; damaged JSON to the reader; messages in pieces, which both must join to the
same message. Called with the program codec_peer and the folder of codec_peer_pb2.py.
"""
import json
import math
import os
import random
import re
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[2])

import codec_peer_pb2  # noqa: E402
import peer  # noqa: E402
from google.protobuf import json_format, message, struct_pb2  # noqa: E402

rng = random.Random(20260202)
Everything = codec_peer_pb2.Everything
NAME = "codec.peer.v1.Everything"

TEXTS = ["", "a", "text", "\u00e9", "\u20ac", "\U0001f600", 'q"\\/', "\n\t\x01\x7f", "x" * 200]
WHOLE = {"int32": (-2**31, 2**31 - 1), "uint32": (0, 2**32 - 1), "int64": (-2**63, 2**63 - 1),
         "uint64": (0, 2**64 - 1)}


def whole(kind):
    low, high = WHOLE[kind]
    return rng.choice([0, 1, low, high, rng.randint(low, high), min(high, rng.randrange(1000))])


def real():
    return rng.choice([0.0, -0.0, 1.0, 0.1, -2.5e-7, 1e16, 1e22, 5e-324, 1.7976931348623157e308,
                       math.inf, -math.inf, math.nan, rng.uniform(-1e6, 1e6)])


def single():
    value = struct.unpack("<f", rng.randbytes(4))[0]
    return rng.choice([0.0, 0.1, 1.5, -3.25, math.inf, math.nan, 16777216.0, value])


def text():
    return rng.choice(TEXTS)


def fill_value(value, depth):
    kind = rng.randrange(6 if depth > 0 else 4)
    if kind == 0:
        value.null_value = 0
    elif kind == 1:
        value.number_value = rng.choice([0.0, 1.0, -2.5, 1e20, rng.random()])
    elif kind == 2:
        value.string_value = text()
    elif kind == 3:
        value.bool_value = rng.random() < 0.5
    elif kind == 4:
        value.struct_value.SetInParent()
        fill_struct(value.struct_value, depth - 1)
    else:
        value.list_value.SetInParent()
        for _ in range(rng.randrange(3)):
            fill_value(value.list_value.values.add(), depth - 1)


def fill_struct(target, depth):
    for _ in range(rng.randrange(3)):
        fill_value(target.fields[text()], depth)


def fill_time(target):
    target.seconds = rng.choice([0, -1, 1, -62135596800, 253402300799,
                                 rng.randint(-62135596800, 253402300799)])
    target.nanos = rng.choice([0, 1, 1000, 1000000, 500000000, 999999999])


def fill_duration(target):
    sign = rng.choice([1, -1])
    target.seconds = sign * rng.choice([0, 1, 315575999999, rng.randrange(10**6)])
    target.nanos = sign * rng.choice([0, 1, 1000, 1000000, 500000000, 999999999])


def fill_any(target):
    kind = rng.randrange(4)
    if kind == 0:
        inner = Everything(f_int32=5, f_string=text())
    elif kind == 1:
        inner = codec_peer_pb2.google_dot_protobuf_dot_duration__pb2.Duration(seconds=3)
    elif kind == 2:
        inner = struct_pb2.Struct()
        fill_struct(inner, 1)
    else:
        return
    target.Pack(inner)


SCALARS = {
    "f_double": real, "f_float": single, "f_int64": lambda: whole("int64"),
    "f_uint64": lambda: whole("uint64"), "f_int32": lambda: whole("int32"),
    "f_fixed64": lambda: whole("uint64"), "f_fixed32": lambda: whole("uint32"),
    "f_bool": lambda: rng.random() < 0.5, "f_string": text,
    "f_bytes": lambda: rng.randbytes(rng.randrange(8)), "f_uint32": lambda: whole("uint32"),
    "f_color": lambda: rng.choice([0, 1, 5, -3, 77]), "f_sfixed32": lambda: whole("int32"),
    "f_sfixed64": lambda: whole("int64"), "f_sint32": lambda: whole("int32"),
    "f_sint64": lambda: whole("int64"), "o_int32": lambda: whole("int32"), "o_string": text,
    "o_bool": lambda: rng.random() < 0.5, "o_color": lambda: rng.choice([0, 5]),
    "o_double": real}
LISTS = {
    "r_int32": lambda: whole("int32"), "r_sint64": lambda: whole("int64"), "r_string": text,
    "r_bytes": lambda: rng.randbytes(rng.randrange(5)),
    "r_color": lambda: rng.choice([0, 1, 5, -3, 9]), "r_double": real,
    "r_fixed32": lambda: whole("uint32"), "r_loose": lambda: whole("uint64"),
    "r_bool": lambda: rng.random() < 0.5}


def fill_scalars(target):
    for name, make in SCALARS.items():
        if rng.random() < 0.3:
            setattr(target, name, make())
    for name, make in LISTS.items():
        if rng.random() < 0.2:
            getattr(target, name).extend(make() for _ in range(rng.randrange(4)))


def fill_known(target):
    if rng.random() < 0.3:
        fill_time(target.w_timestamp)
    if rng.random() < 0.3:
        fill_duration(target.w_duration)
    if rng.random() < 0.2:
        target.w_mask.SetInParent()
        target.w_mask.paths.extend(rng.sample(["foo_bar", "a.b_c", "x"], rng.randrange(4)))
    if rng.random() < 0.2:
        target.w_struct.SetInParent()
        fill_struct(target.w_struct, 2)
    if rng.random() < 0.2:
        fill_value(target.w_value, 2)
    if rng.random() < 0.2:
        target.w_list.SetInParent()
        for _ in range(rng.randrange(3)):
            fill_value(target.w_list.values.add(), 1)
    if rng.random() < 0.2:
        target.w_any.SetInParent()
        fill_any(target.w_any)
    if rng.random() < 0.1:
        target.w_empty.SetInParent()
    for name, make in (("w_int64", lambda: whole("int64")), ("w_string", text), ("w_double", real),
                       ("w_bool", lambda: True), ("w_bytes", lambda: b"\xff\x00")):
        if rng.random() < 0.15:
            getattr(target, name).SetInParent()
            if rng.random() < 0.8:
                getattr(target, name).value = make()
    for _ in range(rng.randrange(3) if rng.random() < 0.2 else 0):
        fill_time(target.r_timestamp.add())
        fill_value(target.r_value.add(), 1)
        fill_any(target.r_any.add())


def fill_choice(target, depth):
    kind = rng.randrange(6)
    if kind == 0:
        target.c_string = text()
    elif kind == 1:
        target.c_int64 = whole("int64")
    elif kind == 2 and depth > 0:
        target.c_message.CopyFrom(random_message(depth - 1))
    elif kind == 3:
        target.c_null = 0
    elif kind == 4:
        fill_value(target.c_value, 1)


def random_message(depth):
    target = Everything()
    fill_scalars(target)
    fill_known(target)
    fill_choice(target, depth)
    if depth > 0 and rng.random() < 0.5:
        target.f_message.CopyFrom(random_message(depth - 1))
    if depth > 0 and rng.random() < 0.3:
        target.r_message.extend(random_message(depth - 1) for _ in range(rng.randrange(3)))
    for _ in range(rng.randrange(3) if rng.random() < 0.4 else 0):
        target.m_string[text()] = text()
        target.m_bool[rng.random() < 0.5] = rng.choice([0, 1, 5])
        target.m_uint64[whole("uint64")] = rng.choice([0.0, 1.5])
        fill_value(target.m_value[text()], 1)
        target.m_int32[whole("int32")].f_int32 = whole("int32")
    return target


ODD = [None, True, False, 0, -1, 1.5, 1.0, 100.0, 1e10, 2147483648, -2147483649, 4294967296,
       9007199254740993, 18446744073709551615, 18446744073709551616, -9223372036854775809, 1e300,
       "", "x", "5", "-5", " 5", "5 ", "1.5", "NaN", "Infinity", "-Infinity", "true", [], {},
       [None], [1], ["a", 2], {"a": 1}, {"1": {}}, {"true": "COLOR_RED"}, "1970-01-01T00:00:00Z",
       "1970-01-01T00:00:00.5+01:00", "1970-01-01", "0000-01-01T00:00:00Z", "1s", "-1.000000001s",
       "1.5", "s", "aGk=", "aGk", "a-_b", "fooBar", "foo_bar", "COLOR_RED", "NOPE", 5, 77,
       {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "1s"},
       {"@type": "type.googleapis.com/no.Such"}, {"f_int32": 5}, {"fInt32": 5}, {"fInt32": "x"},
       {"nope": 1}, [[]], [{}], [{"fInt32": 1}, {}]]


def python_is_lax(field, value):
    """Returns whether Python accepts a form that the specification of proto JSON does not have, and that this codec
    refuses."""
    kind = field.message_type.full_name if field.message_type else field.type
    value = value[0] if field.label == field.LABEL_REPEATED and value else value
    if kind in (field.TYPE_DOUBLE, field.TYPE_FLOAT, "google.protobuf.DoubleValue"):
        return isinstance(value, bool) or value in (" 5", "5 ")
    if kind in (field.TYPE_BYTES, "google.protobuf.BytesValue"):
        return isinstance(value, str) and not re.fullmatch(r"[-\w+/]*=*", value)
    if kind == field.TYPE_ENUM:  # Python accepts any number, by int(), truncated to 32 bits
        return value in ("5", "-5", " 5", "5 ") or not isinstance(value, str)
    return kind in (NAME, "google.protobuf.Empty") and value in ("", [])


def ask(questions):
    return peer.ask(sys.argv[1], [(word, NAME, data) for word, data in questions])


def same(a, b):
    """Equal messages, NaN included, for any order of maps inside an Any."""
    return peer.canonical(json_format.MessageToDict(a)) == peer.canonical(json_format.MessageToDict(b))


def both_ways(tally):
    messages = [random_message(2) for _ in range(700)]
    texts = [json_format.MessageToJson(m, indent=rng.choice([None, 2]),
                                       preserving_proto_field_name=rng.random() < 0.5)
             for m in messages]
    wires = ask([("read", t.encode()) for t in texts])
    for original, shown, wire in zip(messages, texts, wires):
        tally.expect(wire is not None and same(Everything.FromString(wire), original),
                     "read", shown)
    words = ["write" if rng.random() < 0.5 else "wwrite" for _ in messages]
    jsons = ask([(w, m.SerializeToString()) for w, m in zip(words, messages)])
    for original, ours in zip(messages, jsons):
        expected = json_format.MessageToDict(original)
        tally.expect(ours is not None and peer.canonical(json.loads(ours)) == peer.canonical(expected),
                     "write", expected, ours)


def odd_values(tally):
    cases = []
    for field in Everything.DESCRIPTOR.fields:
        for value in ODD:
            name = rng.choice([field.name, field.json_name])
            cases.append((field, value, json.dumps({name: value})))
    wires = ask([("read", shown.encode()) for _, _, shown in cases])
    for (field, value, shown), wire in zip(cases, wires):
        try:
            expected = json_format.Parse(shown, Everything())
        except (json_format.ParseError, ValueError, TypeError, AttributeError, OverflowError):
            expected = None
        if field.name == "r_value" and value is None:
            tally.expect(wire == b"", "odd", shown)  # Python reads null as a Value, not as the list
        elif expected is None or wire is None:
            lax = expected is not None and python_is_lax(field, value)
            tally.expect(wire is None and (expected is None or lax), "odd", shown,
                         "ours takes it" if expected is None else "Python takes it")
        else:
            tally.expect(same(Everything.FromString(wire), expected), "odd", shown)


def parses(raw):
    try:
        Everything.FromString(raw)
        return True
    except message.DecodeError:
        return False


def damaged_bytes(tally):
    raws = []
    for _ in range(3000):
        raw = bytearray(random_message(1).SerializeToString())
        for _ in range(rng.randrange(1, 3)):
            if raw:
                raw[rng.randrange(len(raw))] = rng.randrange(256)
        raws.append(bytes(raw[:rng.randrange(len(raw) + 1)] if rng.random() < 0.2 else raw))
    answers = ask([("check", raw) for raw in raws])
    jsons = ask([("write", raw) for raw in raws])
    kept = os.dup(2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # suppresses messages of Python's parser
    for raw, answer, shown in zip(raws, answers, jsons):
        tally.expect(answer is None or parses(raw), "check takes", raw.hex())
        tally.expect(shown is None or (json.loads(shown) is not None), "write", raw.hex())
    os.dup2(kept, 2)


def damaged_text(tally):
    """Damaged JSON that this codec accepts must be JSON for Python too."""
    texts = []
    for _ in range(2000):
        shown = bytearray(json_format.MessageToJson(random_message(1)).encode())
        for _ in range(rng.randrange(1, 3)):
            shown[rng.randrange(len(shown))] = rng.choice(b'{}[]",:0-e\\\xffnt ')
        texts.append(bytes(shown))
    for shown, wire in zip(texts, ask([("read", t.replace(b"\n", b" ")) for t in texts])):
        tally.expect(wire is None or json.loads(shown) is not None, "read takes", shown)


def parsed(raw):
    """Returns Python's result as bytes in a fixed order: merged durations may have no JSON form."""
    return Everything.FromString(raw).SerializeToString(deterministic=True)


def pieces(tally):
    """The bytes of several messages, one after the other, are one message in pieces."""
    raws = [b"".join(random_message(2).SerializeToString() for _ in range(rng.randrange(2, 5)))
            for _ in range(700)]
    joined = ask([("join", raw) for raw in raws])
    for raw, once, twice in zip(raws, joined, ask([("join", raw or b"") for raw in joined])):
        tally.expect(once is not None and parsed(once) == parsed(raw), "join", raw.hex())
        tally.expect(once == twice, "join again", raw.hex())
    tally.expect(any(len(once) < len(raw) for raw, once in zip(raws, joined)), "no pieces")


def main():
    tally = peer.Tally()
    pieces(tally)
    both_ways(tally)
    odd_values(tally)
    damaged_bytes(tally)
    damaged_text(tally)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
