#!/usr/bin/python3
"""tidy_faults: every fault point of a debug build is at one place, and in the list below.

A name is `module.what`. The list states what fails there, so that whoever reads a trace of the
simulation knows what happened without looking for the place.
"""
import re

import sources

POINTS = {
    "arena.chunk": "malloc, for an arena",
    "backup.restore": "the disk, under a store that is made from a backup",
    "call.open": "malloc, for a call",
    "dial.open": "malloc, for a connection to another service",
    "files.write": "the disk, under a small file such as the first token",
    "grpc.open": "malloc, for a connection's session",
    "http.adopt": "memory for a request over HTTP/2 that is not gRPC",
    "http1.ahead": "memory for requests of HTTP/1.1 that are sent ahead",
    "http1.open": "memory for a session of HTTP/1.1",
    "gzip.deflate": "zlib's memory, for a reply",
    "gzip.inflate": "zlib's memory, for a request",
    "h2.connection": "malloc, for a connection's HTTP/2",
    "h2.stream": "malloc, for a stream",
    "journal.create": "a full disk, for a segment of the journal",
    "journal.folder": "the sync of the names of the journal's files, before they are used and once they are removed",
    "journal.room": "a disk with little room beside the journal",
    "journal.overwrite": "a failed write to a free segment of the journal, whose records are to be overwritten",
    "journal.store": "the tables, when they take a memtable",
    "journal.sync": "fdatasync of the journal",
    "journal.write": "a write to the journal",
    "log_engine.append": "the place where the log is kept",
    "net.accept": "malloc, for a connection",
    "net.write": "malloc, for what a socket did not take",
    "pdf.bytes": "memfd_create, for a document",
    "pdf.job": "malloc, for a document's job",
    "pool.submit": "a full pool",
    "store.append": "a full disk, under an append",
    "store.begin": "the disk, as a transaction begins",
    "store.commit": "the disk, before anything of the commit is there",
    "store.cursor": "the disk, as a walk begins",
    "store.del": "a full disk, under a deletion",
    "store.get": "the disk, under a lookup",
    "store.put": "a full disk, under a put",
    "store.renew": "the disk, as a reader takes a snapshot",
    "store.replace": "the disk, as a new store takes the place of the old one",
    "store.restore": "a disk that is still full",
    "tls.context": "malloc, for what TLS connections share",
    "tls.open": "malloc, for a TLS connection's session",
    "tls.output": "malloc, for output of a handshake",
    "tls.server": "malloc, for the server's side of TLS",
    "tls.stream": "malloc, for a connection's TLS",
    "writer.thread": "pthread_create",
}
POINT = re.compile(r'\bFAULT\("([^"]*)"\)')
HEADER = "store/base/fault_point.h"


def points_of(path, text):
    """(name, path, line) of each point of a file."""
    return [(name, path, number) for number, line in enumerate(text.split("\n"), 1)
            for name in POINT.findall(line)]


def check_points(points, listed, findings):
    seen = set()
    for name, path, line in points:
        if name in seen:
            findings.add(path, line, f"the fault point {name} is also at another place",
                         "a name of its own")
        elif not re.fullmatch(r"[a-z0-9_]+\.[a-z0-9_]+", name):
            findings.add(path, line, f"'{name}' is not a name of a fault point", "module.what")
        elif name not in listed:
            findings.add(path, line, f"the fault point {name} is not in the list",
                         "name it in POINTS of tests/tidy/faults.py, with what fails there")
        seen.add(name)
    for name in sorted(set(listed) - seen):
        findings.add("tests/tidy/faults.py", 1, f"there is no fault point {name}",
                     "take it out of the list")


def check(root, build, findings):
    points = [point for path in sources.c_files(root)
              if path.startswith(("store/", "server/")) and path != HEADER
              for point in points_of(path, sources.read(root, path))]
    check_points(points, POINTS, findings)


if __name__ == "__main__":
    sources.main("tidy_faults", check)
