#!/usr/bin/python3
"""Compares proto JSON of every request and reply of the contract with Python's google.protobuf.json_format.

Goal: both read and write the same JSON of every message that a method takes or returns, and refuse the same, except
what `python_is_lax` lists. Method: from a seed, random messages of each type, written and read both ways in several
styles; then the same JSON with one place changed (another value, another name, one name twice). Called with the
program contract_peer, protoc's descriptor set of the contract, and optionally `--seed N` and `--messages N`.
"""
import argparse
import json
import math
import random
import re
import struct
import sys

sys.dont_write_bytecode = True

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory  # noqa: E402

import peer  # noqa: E402

DEPTH_MAX = 4
TEXTS = ["", "a", "text", "\u00e9", "\u20ac", "\U0001f600", 'q"\\/', "\n\t\x01\x7f\u2028", "x" * 150]
WHOLE = {"INT32": (-2**31, 2**31 - 1), "UINT32": (0, 2**32 - 1), "INT64": (-2**63, 2**63 - 1),
         "UINT64": (0, 2**64 - 1)}
KIND = {"SINT32": "INT32", "SFIXED32": "INT32", "FIXED32": "UINT32", "SINT64": "INT64", "SFIXED64": "INT64",
        "FIXED64": "UINT64"}
REALS = [0.0, -0.0, 1.0, 0.1, -2.5e-7, 1e16, 1e22, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, math.nan]
# Fields of messages that JSON writes as one text, within the range that has a text.
SECONDS = {"google.protobuf.Timestamp": (-62135596800, 253402300799),
           "google.protobuf.Duration": (-315575999999, 315575999999)}
ODD = [None, True, False, 0, -1, 1.5, 1.0, 1e10, 2147483648, 9007199254740993, 18446744073709551616, "", "x", "5",
       "-5", " 5", "1.5", "1e2", "NaN", "true", [], {}, [None], [1], {"a": 1}, "1970-01-01T00:00:00Z",
       "1970-01-01T00:00:00.123456789-01:00", "1.5s", "aGk=", "a-_b", "fooBar", {"@type": "x/no.Such"}, [[]], [{}]]


class Messages:
    """Random messages of the contract's types."""

    def __init__(self, path, rng):
        self.rng = rng
        self.pool = descriptor_pool.DescriptorPool()
        files = descriptor_pb2.FileDescriptorSet()
        with open(path, "rb") as file:
            files.ParseFromString(file.read())
        for file in files.file:
            self.pool.Add(file)
        self.factory = message_factory.MessageFactory(self.pool)
        self.types = sorted({name.lstrip(".") for file in files.file for service in file.service
                             for method in service.method for name in (method.input_type, method.output_type)})

    def type_named(self, name):
        return self.factory.GetPrototype(self.pool.FindMessageTypeByName(name))

    def whole(self, kind):
        low, high = WHOLE[KIND.get(kind, kind)]
        return self.rng.choice([0, 1, low, high, self.rng.randint(low, high), min(high, self.rng.randrange(1000))])

    def scalar(self, field):
        kind = descriptor_pb2.FieldDescriptorProto.Type.Name(field.type)[len("TYPE_"):]
        if kind == "DOUBLE":
            return self.rng.choice(REALS + [self.rng.uniform(-1e6, 1e6)])
        if kind == "FLOAT":
            return struct.unpack("<f", self.rng.randbytes(4))[0]
        if kind == "BOOL":
            return self.rng.random() < 0.5
        if kind == "STRING":
            return self.rng.choice(TEXTS)
        if kind == "BYTES":
            return self.rng.randbytes(self.rng.randrange(8))
        if kind == "ENUM":
            return self.rng.choice([value.number for value in field.enum_type.values] + [999, -3])
        return self.whole(kind)

    def fill_special(self, target):
        """Fills a message with a JSON form of its own; False for any other."""
        name = target.DESCRIPTOR.full_name
        if name in SECONDS:
            low, high = SECONDS[name]
            target.seconds = self.rng.choice([0, 1, low, high, self.rng.randint(low, high)])
            sign = -1 if target.seconds < 0 and name.endswith("Duration") else 1
            target.nanos = sign * self.rng.choice([0, 1, 1000, 1000000, 999999999])
            return True
        if name == "google.protobuf.Any":
            if self.rng.random() < 0.8:
                target.Pack(self.random(self.rng.choice(self.types), DEPTH_MAX - 1))
            return True
        if name == "google.protobuf.FieldMask":
            target.paths.extend(self.rng.sample(["foo_bar", "a.b_c", "x"], self.rng.randrange(4)))
            return True
        return False

    def fill_field(self, target, field, depth):
        value = getattr(target, field.name)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            entry = field.message_type.fields_by_name
            for _ in range(self.rng.randrange(3)):
                if entry["value"].message_type is not None:
                    self.fill(value[self.scalar(entry["key"])], depth + 1)
                else:
                    value[self.scalar(entry["key"])] = self.scalar(entry["value"])
        elif field.label == field.LABEL_REPEATED:
            for _ in range(self.rng.randrange(3)):
                if field.message_type is not None:
                    self.fill(value.add(), depth + 1)
                else:
                    value.append(self.scalar(field))
        elif field.message_type is not None:
            value.SetInParent()
            self.fill(value, depth + 1)
        else:
            setattr(target, field.name, self.scalar(field))

    def fill(self, target, depth):
        if self.fill_special(target):
            return
        for field in target.DESCRIPTOR.fields:
            if depth < DEPTH_MAX and self.rng.random() < (0.7 if depth == 0 else 0.4):
                self.fill_field(target, field, depth)

    def random(self, name, depth=0):
        target = self.type_named(name)()
        self.fill(target, depth)
        return target


def shown(value):
    return value if value is None else bytes(value).decode(errors="replace")


def same(a, b):
    return peer.canonical(json_format.MessageToDict(a, descriptor_pool=POOL)) == \
        peer.canonical(json_format.MessageToDict(b, descriptor_pool=POOL))


def read_and_write(tally, messages, program, count):
    """Compares reading and writing, in Python's styles and ours."""
    rng = messages.rng
    originals = [messages.random(name) for name in messages.types for _ in range(count)]
    names = [original.DESCRIPTOR.full_name for original in originals]
    texts = [json_format.MessageToJson(original, indent=rng.choice([None, 2]), descriptor_pool=POOL,
                                       preserving_proto_field_name=rng.random() < 0.5,
                                       including_default_value_fields=rng.random() < 0.3,
                                       use_integers_for_enums=rng.random() < 0.2)
             for original in originals]
    wires = peer.ask(program, [("read", name, text.encode()) for name, text in zip(names, texts)])
    for original, text, wire in zip(originals, texts, wires):
        tally.expect(wire is not None and same(type(original).FromString(wire), original), "read",
                     original.DESCRIPTOR.full_name, text, wire)
    raws = [original.SerializeToString() for original in originals]
    jsons = peer.ask(program, [(rng.choice(["write", "wwrite"]), name, raw) for name, raw in zip(names, raws)])
    for original, text in zip(originals, jsons):
        expected = json_format.MessageToDict(original, descriptor_pool=POOL)
        tally.expect(text is not None and peer.canonical(json.loads(text)) == peer.canonical(expected), "write",
                     original.DESCRIPTOR.full_name, expected, shown(text))


def places(value):
    """Yields (container, key) of every value inside."""
    pending = [value]
    while pending:
        container = pending.pop()
        for key in list(container) if isinstance(container, dict) else range(len(container)):
            yield container, key
            if isinstance(container[key], (dict, list)):
                pending.append(container[key])


def change(rng, value):
    """Changes one place; returns a description of the change."""
    found = list(places(value))
    if not found:
        return "nothing"
    container, key = rng.choice(found)
    if isinstance(container, list) or rng.random() < 0.7:
        container[key] = rng.choice(ODD)
        return f"{key} = {container[key]!r}"
    other = rng.choice([key.upper(), re.sub("[A-Z]", lambda m: "_" + m.group().lower(), key), key + "x", "nope"])
    if rng.random() < 0.5:
        container[other] = container[key]
        return f"{other} beside {key}"
    container[other] = container.pop(key)
    return f"{other} for {key}"


def parsed(text, target):
    try:
        return json_format.Parse(text, target, descriptor_pool=POOL)
    except (json_format.ParseError, ValueError, TypeError, AttributeError, OverflowError):
        return None


def python_is_lax(done):
    """Returns whether Python accepts a form that the specification of proto JSON does not have, and that this codec
    refuses: both names of a field, numbers for booleans, texts with spaces and booleans for numbers, any text for
    bytes, enum numbers that are fractions or have more than 32 bits, or an empty list or text for a message."""
    _, beside, _ = done.partition(" beside ")
    _, _, value = done.partition(" = ")
    return beside != "" or value in ("True", "False", "''", "[]", "[[]]", "' 5'", "'5'", "'-5'", "9007199254740993",
                                    "1.5") \
        or re.fullmatch(r"'[^ ]*'", value) is not None


def is_lax(done):
    """Returns whether this codec accepts a form that the specification has and Python refuses."""
    return done.endswith((" = '1e2'", " = [1]"))


def changed(tally, messages, program, count):
    """JSON with one change is refused by both, or means the same to both."""
    rng = messages.rng
    cases = []
    for name in messages.types:
        for _ in range(count):
            value = json_format.MessageToDict(messages.random(name), descriptor_pool=POOL)
            done = change(rng, value)
            cases.append((name, done, json.dumps(value)))
    wires = peer.ask(program, [("read", name, text.encode()) for name, _, text in cases])
    taken = 0
    for (name, done, text), wire in zip(cases, wires):
        expected = parsed(text, messages.type_named(name)())
        if expected is None or wire is None:
            agreed = expected is None and wire is None
            excused = is_lax(done) if expected is None else python_is_lax(done)
            tally.expect(agreed or excused, "changed", name, done,
                         "ours accepts it" if expected is None else "Python accepts it", text)
            continue
        taken += 1
        tally.expect(same(type(expected).FromString(wire), expected), "changed", name, done, text)
    tally.expect(len(cases) // 10 < taken < len(cases) * 9 // 10, f"{taken} of {len(cases)} changes are accepted")


def main():
    global POOL
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("descriptors")
    parser.add_argument("--seed", type=int, default=20261124)
    parser.add_argument("--messages", type=int, default=40)
    options = parser.parse_args()
    print(f"seed {options.seed}")
    messages = Messages(options.descriptors, random.Random(options.seed))
    POOL = messages.pool
    tally = peer.Tally()
    tally.expect(len(messages.types) > 100, "the contract has few messages")
    read_and_write(tally, messages, options.program, options.messages)
    changed(tally, messages, options.program, options.messages)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
