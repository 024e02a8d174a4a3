"""Writes that wait for the server, in a file: a line of JSON for each, and one when it is done.

A process owns its file by a lock. Files of processes that ended are adopted by the next one that opens the folder, so
what was queued is sent even if the process was killed. Lines are written before the call that queues them returns;
they are not synced, so a power cut may lose the latest.
"""
from __future__ import annotations

import fcntl
import json
import logging
import os
import uuid
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from errata._message import Json

log = logging.getLogger("errata")

SUFFIX = ".queue"
REJECTED = "rejected.jsonl"
# Files adopted when a folder is opened; more are left to the next process.
ADOPTED_MAX = 1000


class Entry(NamedTuple):
    """A write that waits."""

    key: str  # its idempotency key
    path: str
    request: Json


class Spool:
    """The file of this process in a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._path = os.path.join(folder, uuid.uuid4().hex + SUFFIX)
        self._file = self._open(self._path)

    @staticmethod
    def _open(path: str) -> IO[bytes]:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        file = os.fdopen(descriptor, "r+b", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise
        return file

    def _write(self, line: Json) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n")

    def add(self, entry: Entry) -> None:
        """Stores a write."""
        self._write({"key": entry.key, "path": entry.path, "request": entry.request})

    def done(self, entry: Entry, none_left: bool) -> None:
        """Records that a write needs no further attempt; the file becomes empty when none is left."""
        if none_left:
            self._file.truncate(0)
        else:
            self._write({"done": entry.key})

    def reject(self, entry: Entry, reason: str) -> None:
        """Keeps a write that the server refused, with the reason, in the folder's file of these."""
        line = {"error": reason, "key": entry.key, "path": entry.path, "request": entry.request}
        descriptor = os.open(os.path.join(self.folder, REJECTED), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(json.dumps(line).encode("ascii") + b"\n")

    def adopt(self) -> list[Entry]:
        """Takes over the writes of processes that ended: stores them here, and removes their files."""
        adopted: list[Entry] = []
        names = sorted(name for name in os.listdir(self.folder) if name.endswith(SUFFIX))
        for name in names[:ADOPTED_MAX]:
            path = os.path.join(self.folder, name)
            try:
                file = self._open(path)
            except OSError:
                continue  # its process is running; or it is this one's own
            with file:
                for entry in _waiting(file):
                    self.add(entry)
                    adopted.append(entry)
                os.unlink(path)
        return adopted

    def close(self, none_left: bool) -> None:
        """Closes the file; an empty one is removed."""
        if none_left:
            os.unlink(self._path)
        self._file.close()


def _lines(file: IO[bytes]) -> Iterator[Any]:
    for line in file.read().split(b"\n"):
        try:
            if line:
                yield json.loads(line)
        except ValueError:
            log.warning("a line of the spool is damaged and is skipped")  # cut off when its process was killed


def _waiting(file: IO[bytes]) -> list[Entry]:
    waiting: dict[str, Entry] = {}
    for line in _lines(file):
        if isinstance(line, dict) and "done" in line:
            waiting.pop(line["done"], None)
        elif isinstance(line, dict) and {"key", "path", "request"} <= line.keys():
            waiting[line["key"]] = Entry(line["key"], line["path"], line["request"])
    return list(waiting.values())
