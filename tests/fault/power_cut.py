"""Effects of power cuts on a run: drives the C program power_cut. The shim writes a journal of every call while a load
runs; power_cut builds images from it and checks each. The real server starts on a sample of them, and every
acknowledged write is checked.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import disk_fixture
from disk_fixture import BIN

PROGRAM = os.path.join(BIN, "power_cut")
if not os.path.exists(PROGRAM):
    sys.exit(f"there is no {PROGRAM}: build the target power_cut")
LOOK_SECONDS = 1800
# Uses a file system in memory if there is one: an image has some megabytes and is not kept.
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()


def ask(disk, load, *arguments):
    """Runs power_cut on the disk's journal; returns (exit code, lines)."""
    acknowledged = os.path.join(disk.folder, "acknowledged")
    load.write_acknowledgements(acknowledged)
    done = subprocess.run(
        [PROGRAM, "--journal", disk.journal, "--acknowledged", acknowledged,
         *[str(argument) for argument in arguments]],
        env={**os.environ, "TMPDIR": SCRATCH}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", timeout=LOOK_SECONDS, check=False)
    return done.returncode, done.stdout.splitlines()


class Table:
    """Images by kind, and of these the ones with commits that only the store's journal had."""

    def __init__(self):
        self.rows = {}
        self.failed = 0

    def add(self, prefix, lines, code):
        """Counts the images in the output of power_cut."""
        for line in lines:
            words = line.split()
            if len(words) > 3 and words[0].endswith(":") and words[2] == "images,":
                row = self.rows.setdefault(prefix + words[0][:-1], [0, 0])
                row[0] += int(words[1])
                row[1] += int(words[3])
        self.failed += sum(line.startswith("FAILED") for line in lines) or code

    def count(self):
        return sum(row[0] for row in self.rows.values())

    def print(self):
        for kind, (images, only) in self.rows.items():
            if images > 0:
                print(f"{images:6} {kind}, {only} of them with commits that only the journal had")


def check_answers(disk, load, count):
    """A cut right after each of the last responses, with only the synced data; returns the
    problems."""
    code, lines = ask(disk, load, "--seed", 1, "--answer", count)
    return [] if code == 0 else [f"a power cut then: {line.strip()}" for line in lines]


class Image:
    """An image in a separate folder, as a data folder."""

    def __init__(self, disk, load, seed, counts, name):
        self.folder = tempfile.mkdtemp(prefix="errata-image-", dir=SCRATCH)
        code, lines = ask(disk, load, "--seed", seed, *counts, "--only", name, "--into", self.folder)
        made = [line for line in lines if line.startswith("made")]
        if code != 0 or len(made) != 1:
            raise AssertionError(f"the image {name} can't be made: {lines}")
        self.position = int(made[0].split("byte ")[1].split()[0])

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def try_start(disk, load, image):
    """Starts the real server on an image; returns (problems, seconds from start to first answer)."""
    server = disk_fixture.FaultServer(image.folder)
    steps = [step.as_of(image.position) for step in load.steps]
    try:
        client, seconds = disk_fixture.recover(server)
        repeat = disk_fixture.Load(steps, disk)
        repeat.client = client
        problems = disk_fixture.check_stored(client, steps)
        disk_fixture.repeat_all(repeat)
        problems += repeat.problems + disk_fixture.check_stored(client, steps)
        client.close()
        code = server.stop()
        return problems + ([f"it ended with {code}"] if code != 0 else []), seconds
    except (disk_fixture.Hang, AssertionError, disk_fixture.grpc.RpcError) as e:
        return [f"{type(e).__name__}: {e}"], 0.0
    finally:
        if server.process is not None:
            server.kill9()
        server.close()
