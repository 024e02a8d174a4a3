"""Requests as wire bytes, and files of them in the form of errata-bench --requests."""
import struct


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def text(field, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def number(field, value):
    return varint(field << 3) + varint(value)


def examples_request(layout):
    """GetExamples with view EXAMPLES, of a layout that errata-bench --preload made."""
    return text(1, f"bench-layout-{layout:08d}") + number(5, 1)


def mix64(x):
    """The function mix64 of lm.h in the floor program."""
    mask = (1 << 64) - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & mask
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & mask
    return x ^ (x >> 31)


def floor_request(org, layout):
    """Three events of one layout. The function `random` is not used, since both sides get the same
    lookups."""
    org_bytes = struct.pack(">QQ", mix64(org * 2 + 1), mix64(org * 2 + 7000001))
    layout_bytes = b"".join(struct.pack(">Q", mix64((org << 20 | layout) * 4 + i + 99))
                            for i in range(4))
    return text(1, org_bytes) + text(2, layout_bytes) + number(3, 3)


def frame(message):
    """Adds gRPC's prefix: not compressed, and the length."""
    return b"\0" + struct.pack(">I", len(message)) + message


def write_requests(path, requests):
    """(group, message) pairs; a connection draws from one group, an organisation's."""
    with open(path, "wb") as f:
        for group, message in requests:
            body = frame(message)
            f.write(struct.pack(">II", group, len(body)) + body)
