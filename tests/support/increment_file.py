"""Reads increments: files of `errata admin backup --since` (store/FORMAT.md, Backups)."""
import struct

EDGE = 64  # bytes of the head, and of the end
META = 4  # type of a record with a value of one server


def records(path):
    """Returns the records of an increment but those of the server's own values, as (type, payload)."""
    with open(path, "rb") as f:
        data = f.read()
    position_bytes = struct.unpack(">Q", data[-EDGE + 24:-EDGE + 32])[0]
    at, end, found = EDGE, len(data) - EDGE - position_bytes, []
    while at < end:
        kind, size = struct.unpack(">BI", data[at:at + 5])
        at += 5 + size
        if kind != META:
            found.append((kind, data[at - size:at]))
    return found
