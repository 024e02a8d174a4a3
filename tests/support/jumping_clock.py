"""Clocks of a server that a test puts ahead (tests/fault/clock_shim.c). `prefix` is what starts a program with them."""
import mmap
import os
import struct
import subprocess

from erratad import ROOT


class Clock:
    def __init__(self, folder):
        self.path = path = os.path.join(folder, "clock")
        library = os.path.join(folder, "clock_shim.so")
        with open(path, "wb") as f:
            f.write(bytes(16))
        with open(path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 16)
        self.wall_seconds = self.monotonic_seconds = 0
        subprocess.run(["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1", "-o", library,
                        os.path.join(ROOT, "tests", "fault", "clock_shim.c"), "-ldl"], check=True)
        self.prefix = ["env", f"LD_PRELOAD={library}", f"JUMPING_CLOCK={path}",
                       f"ASAN_OPTIONS={os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"]

    def advance(self, wall_seconds, monotonic_seconds):
        self.wall_seconds += wall_seconds
        self.monotonic_seconds += monotonic_seconds
        struct.pack_into("<qq", self.map, 0, self.wall_seconds * 10**9, self.monotonic_seconds * 10**9)
