"""Protobuf by field numbers, for messages of which this project has no description.

A message is a list of (number, value): an int is a varint, bytes or str are as they are.
"""


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def message(*fields):
    """The bytes of a message of (number, value) pairs, in their order."""
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            raw = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(raw)) + raw
    return bytes(out)


def read_varint(raw, at):
    value = shift = 0
    while True:
        value |= (raw[at] & 127) << shift
        shift += 7
        at += 1
        if raw[at - 1] < 128:
            return value, at


def fields(raw):
    """The fields of a message: a list of (number, value), only varints and bytes."""
    found, at = [], 0
    while at < len(raw):
        tag, at = read_varint(raw, at)
        if tag & 7 == 0:
            value, at = read_varint(raw, at)
        elif tag & 7 == 2:
            size, at = read_varint(raw, at)
            value, at = raw[at:at + size], at + size
        else:
            raise ValueError(f"wire type {tag & 7}")
        found.append((tag >> 3, value))
    return found


def get(raw, *path, default=b""):
    """Returns the value at the end of a path of field numbers; the first one if there are several."""
    for number in path:
        values = [value for n, value in fields(raw) if n == number]
        if not values:
            return default
        raw = values[0]
    return raw


def get_all(raw, number):
    return [value for n, value in fields(raw) if n == number]
