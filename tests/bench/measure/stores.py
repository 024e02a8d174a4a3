"""The stores of the measurements: made when they are needed, removed when the run ends."""
import os
import shutil
import subprocess
import time

ORGS, LAYOUTS = 10, 5000  # layouts of each organisation: 50,000 in total, as in the floor program
FLOOR_ORGS, FLOOR_LAYOUTS = 1000, 50
FLOOR_EVENTS = 1_000_000
FLOOR_ANSWER = 3735  # message size of the floor program's response: three stored events
EVENT_BYTES = 1217  # size of an example: three examples and a reference have about the size of the floor's response
SMALL_EVENT_BYTES = 300  # ten million larger events would not fit on a small disk
EXTRACTIONS_ONE_IN = 10  # one extraction per this number of events in a store with learned data
PREFIX_BYTES = 5  # size of gRPC's prefix of each message
LEAST_EVENTS = 3 * ORGS * LAYOUTS  # an answer has three examples


class Stores:
    """Folders below a common one; `keep` leaves them for the next run."""

    def __init__(self, folder, programs, keep, fresh):
        self.folder = folder
        self.programs = programs
        self.keep = keep
        self.made = []
        os.makedirs(folder, exist_ok=True)
        if fresh:
            self.remove_all()

    def path(self, name):
        return os.path.join(self.folder, name)

    def errata(self, events, event_bytes):
        """Returns a data folder with the rows of that many captures. A folder with later captures is made again, since
        its newest examples have other lengths."""
        return self.made_by_preload(f"store-{events}-{event_bytes}", events, event_bytes)

    def made_by_preload(self, name, events, event_bytes, *more):
        data = self.path(name)
        if self.was_captured_into(data) or not os.path.exists(os.path.join(data, "bench.tokens")):
            shutil.rmtree(data, ignore_errors=True)
            started = time.monotonic()
            subprocess.run([self.programs("errata-bench"), "--preload", str(events), "--data", data,
                            "--organizations", str(ORGS), "--layouts", str(LAYOUTS),
                            "--event-bytes", str(event_bytes), *more], check=True)
            size = os.path.getsize(os.path.join(data, "db", "data.mdb"))
            print(f"loaded {events:,} events of {event_bytes} bytes in "
                  f"{time.monotonic() - started:.0f} s: {size / 2**30:.1f} GB", flush=True)
            self.read_in_pages(os.path.join(data, "db", "data.mdb"))
        self.made.append(name)
        return data

    def learned(self, events, mappings, event_bytes):
        """A year's corrections, extractions and confirmed mappings."""
        return self.made_by_preload(
            f"store-learned-{events}-{mappings}-{event_bytes}", events, event_bytes,
            "--mappings", str(mappings), "--extractions", str(events // EXTRACTIONS_ONE_IN))

    @staticmethod
    def note_captures(data):
        with open(os.path.join(data, "captured"), "w", encoding="ascii"):
            pass

    @staticmethod
    def was_captured_into(data):
        return os.path.exists(os.path.join(data, "captured"))

    @staticmethod
    def read_in_pages(path):
        """A file written in bulk is in the page cache in large folios, and ext4 then walks a whole
        folio for each 4 KB that a capture writes; a store that grew by captures has single pages."""
        with open(path, "rb", buffering=0) as f:
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
            piece = bytearray(1 << 20)
            while f.readinto(piece):
                pass

    def floor(self):
        """The floor program's store."""
        subprocess.run([self.programs("lmdb_read"), self.path("floor"), str(FLOOR_EVENTS), "0", "0"],
                       check=True)
        self.made.append("floor")
        return self.path("floor")

    def remove(self, data):
        if not self.keep:
            shutil.rmtree(data, ignore_errors=True)

    def remove_all(self):
        for name in os.listdir(self.folder):
            if name.startswith("store-") or name == "floor":
                shutil.rmtree(self.path(name))

    def close(self):
        """Removes the folders that this run made or used."""
        for name in self.made:
            self.remove(self.path(name))
        self.made = []
