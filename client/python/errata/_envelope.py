"""Messages of a stream: five bytes with flags and size in front of each (connectrpc.com/docs/protocol, "Streaming RPCs")."""
from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Callable

from errata import errors
from errata._message import Json

END = 2
MESSAGE_BYTES_MAX = 64 << 20
HEAD_BYTES = 5


def pack(message: Json) -> bytes:
    """Returns a message in its envelope."""
    content = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return struct.pack(">BI", 0, len(content)) + content


def unpack_head(head: bytes) -> tuple[int, int]:
    """Returns flags and size of an envelope."""
    flags, size = struct.unpack(">BI", head)
    if flags not in (0, END) or size > MESSAGE_BYTES_MAX:
        raise errors.Internal(f"a stream's message has flags {flags} and {size} bytes")
    return flags, size


def read_end(content: bytes) -> None:
    """Reads the last message of a stream; raises the error that it states."""
    try:
        end = json.loads(content)
    except ValueError as problem:
        raise errors.Internal(f"the end of the stream is not JSON: {problem}") from problem
    if end.get("error") is not None:
        raise errors.of_json(200, end["error"])


def messages(read: Callable[[int], bytes]) -> Iterator[Json]:
    """Yields the messages of a stream until its end; `read` returns so many bytes, fewer only at the end."""
    while True:
        head = read(HEAD_BYTES)
        if len(head) < HEAD_BYTES:
            raise errors.Unreachable("the stream ended without its last message")
        flags, size = unpack_head(head)
        content = read(size) if size > 0 else b""
        if len(content) < size:
            raise errors.Unreachable("the stream ended within a message")
        if flags == END:
            return read_end(content)
        message = json.loads(content)
        yield message
