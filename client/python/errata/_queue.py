"""Writes in the background: a bounded queue, its spool, and the thread that sends them in order."""
from __future__ import annotations

import collections
import json
import logging
import os
import threading
from typing import Callable, NamedTuple

from errata import errors
from errata._message import Json
from errata._policy import new_key
from errata._spool import Entry, Spool

log = logging.getLogger("errata")

# The time limit of one attempt, and the longest wait between two.
ATTEMPT_S = 30.0
WAIT_MAX_S = 30.0


class QueueCounts(NamedTuple):
    """The counts of a queue's writes."""

    waiting: int
    sent: int
    rejected: int  # refused by the server; kept in the spool's rejected.jsonl


# Errors after which the same write may succeed later: the server or the token is the reason, not the write.
_LATER = (errors.Unavailable, errors.DeadlineExceeded, errors.ResourceExhausted, errors.Unauthenticated,
          errors.Internal, errors.Untrusted)


class WriteQueue:
    """Sends writes one after the other, so that the server sees them in the order of their calls."""

    def __init__(self, call: Callable[..., Json], *, folder: str | None, items_max: int, bytes_max: int,
                 on_rejected: Callable[[str, errors.ErrataError], None] | None) -> None:
        self._call = call
        self._folder = folder
        self._items_max = items_max
        self._bytes_max = bytes_max
        self._on_rejected = on_rejected
        self._changed = threading.Condition()
        self._begin()
        if folder is not None and os.path.isdir(folder):
            with self._changed:
                self._start()  # writes of an earlier process are sent, even if this one adds none

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._entries: collections.deque[tuple[Entry, int]] = collections.deque()
        self._bytes = 0
        self._sent = 0
        self._rejected = 0
        self._spool: Spool | None = None
        self._thread: threading.Thread | None = None
        self._stopping = False

    def add(self, path: str, request: Json) -> str:
        """Queues a write, and returns its idempotency key. Raises QueueFull."""
        entry = Entry(new_key(), path, request)
        size = len(json.dumps(request))
        with self._changed:
            if self._pid != os.getpid():  # a fork: the queue and its spool are the parent's
                self._begin()
            if len(self._entries) >= self._items_max or self._bytes + size > self._bytes_max:
                raise errors.QueueFull(f"{len(self._entries)} writes of {self._bytes} bytes wait for the server")
            if self._stopping:
                raise errors.Cancelled("the client is closed")
            self._start()
            if self._spool is not None:
                self._spool.add(entry)
            self._put(entry, size)
            self._changed.notify_all()
        return entry.key

    def _put(self, entry: Entry, size: int) -> None:
        self._entries.append((entry, size))
        self._bytes += size

    def _start(self) -> None:
        if self._thread is not None:
            return
        if self._folder is not None:
            try:
                self._spool = Spool(self._folder)
                for entry in self._spool.adopt():
                    self._put(entry, len(json.dumps(entry.request)))
            except OSError as problem:
                log.warning("corrections are queued in memory only: %s", problem)
        self._thread = threading.Thread(target=self._run, name="errata-queue", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        failures = 0
        while True:
            with self._changed:
                while not self._entries and not self._stopping:
                    self._changed.wait()
                if not self._entries or self._stopping:
                    return
                entry, size = self._entries[0]
            failures = self._send(entry, size, failures)
            if failures > 0:
                with self._changed:
                    if not self._stopping:
                        self._changed.wait_for(lambda: self._stopping, min(WAIT_MAX_S, 0.1 * 2 ** min(failures, 10)))

    def _send(self, entry: Entry, size: int, failures: int) -> int:
        """Makes one attempt; returns the number of failed ones in a row."""
        refused: errors.ErrataError | None = None
        try:
            self._call(entry.path, entry.request, timeout=ATTEMPT_S, key=entry.key)
        except _LATER as error:
            if failures == 0:
                log.warning("a correction waits: %s", error)
            return failures + 1
        except errors.ErrataError as error:
            refused = error
        except Exception as error:  # a bug must not end the thread: the write is kept with its reason
            refused = errors.Internal(f"{type(error).__name__}: {error}")
        self._finish(entry, size, refused)
        return 0

    def _finish(self, entry: Entry, size: int, refused: errors.ErrataError | None) -> None:
        with self._changed:
            self._entries.popleft()
            self._bytes -= size
            self._sent += refused is None
            self._rejected += refused is not None
            if self._spool is not None:
                if refused is not None:
                    self._spool.reject(entry, str(refused))
                self._spool.done(entry, not self._entries)
            self._changed.notify_all()
        if refused is not None:
            log.error("a write to %s was refused: %s", entry.path, refused)
            if self._on_rejected is not None:
                self._on_rejected(entry.key, refused)

    def counts(self) -> QueueCounts:
        """Returns the numbers of writes."""
        with self._changed:
            return QueueCounts(len(self._entries), self._sent, self._rejected)

    def flush(self, timeout: float) -> bool:
        """Waits until all queued writes are sent or refused; returns whether they are."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._entries, timeout)

    def close(self, timeout: float) -> bool:
        """Flushes, and ends the thread; writes that still wait stay in the spool. Returns whether none does."""
        if self._pid != os.getpid():
            return True
        self.flush(timeout)
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(timeout=max(0.0, min(timeout, 1.0)))
        with self._changed:
            empty = not self._entries
            if self._spool is not None:
                self._spool.close(empty)
                self._spool = None
        if not empty and self._folder is None:
            log.error("%d writes were not sent, and there is no spool", len(self._entries))
        return empty
