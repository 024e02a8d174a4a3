"""Successive power cuts: a real server is started on an image, recovers it, writes more, and is cut again.

The shim records each run, beginning with the files that it found (disk_journal.h). Images of each run are checked, and
one of them, drawn by the seed, is the folder of the next run: it must have everything that was acknowledged in all
earlier runs.
"""
import os
import struct

import disk_fixture
import power_cut
from erratad import ENGINE

# The layout of struct disk_record and the constants of disk_journal.h.
RECORD = struct.Struct("=IBBBBQQQIiII")
MAGIC = 0x4B534944
WRITE, TRUNCATE, CREATE, MAKE_FOLDER, RENAME, SYNC = 1, 2, 4, 5, 6, 8
BEGIN, END = 1, 2
PIECE_BYTES = 1 << 16
ENGINES = ("lmdb", "journal")
STEPS_OF_A_LIFE = 12
CALLS_UNTIL_A_KILL = (5, 120)
KINDS = ("any", "recovery", "answer")  # numbers of images; the next run starts on one of the first two


def write_record(journal, call, phase, inode, path=b"", offset=0, data=b""):
    journal.write(RECORD.pack(MAGIC, call, phase, 0, 0, 0, inode, offset, len(data), 0, len(path), 0))
    journal.write(path + data)


def write_file(journal, path, relative):
    """Writes records that create a file, set its length, write its bytes except zeros, and sync it."""
    info = os.stat(path)
    write_record(journal, CREATE, END, info.st_ino, path=relative)
    write_record(journal, TRUNCATE, BEGIN, info.st_ino, offset=info.st_size)
    with open(path, "rb") as f:
        for offset in range(0, info.st_size, PIECE_BYTES):
            piece = f.read(PIECE_BYTES)
            if piece.strip(b"\0"):
                write_record(journal, WRITE, BEGIN, info.st_ino, offset=offset, data=piece)
                write_record(journal, WRITE, END, info.st_ino)
    write_record(journal, SYNC, END, info.st_ino)


def write_base(disk, folder):
    """Makes a journal that begins with the present folder, all of it synced; returns its bytes."""
    folders = []
    with open(disk.journal, "wb") as journal:
        for path, _, names in os.walk(folder):
            relative = "" if path == folder else os.path.relpath(path, folder)
            inode = os.stat(path).st_ino
            write_record(journal, MAKE_FOLDER, END, inode, path=relative.encode())
            folders.append(inode)
            for name in names:
                write_file(journal, os.path.join(path, name), os.path.join(relative, name).encode())
        for inode in folders:
            write_record(journal, SYNC, END, inode)
    return disk.journal_bytes()


class Chain:
    """The successive runs of one store."""

    def __init__(self, disk, options, draws, table):
        self.disk = disk
        self.draws = draws
        self.table = table
        self.depth = options.chain
        self.images = options.life_images
        self.between = options.between
        self.engines = ENGINES if options.change_engine else (ENGINE,)
        self.steps = disk_fixture.make_steps((self.depth + 1) * STEPS_OF_A_LIFE, False, options.bytes_more)
        self.acknowledgements = []  # required ids of earlier runs: (kind of id, id)
        self.problems = []

    def live(self, server, life):
        """Records one run; returns its load, and the position of its first call in the journal."""
        self.disk.forget_journal()
        start = write_base(self.disk, server.data) if life > 0 else 0
        load = disk_fixture.Load(self.steps[:(life + 1) * STEPS_OF_A_LIFE], self.disk)
        for kind, name in self.acknowledgements:
            load.acknowledge(0, kind, name)
        is_killed = life > 0 and self.draws.randrange(2) == 0
        crash = f"{self.draws.randrange(*CALLS_UNTIL_A_KILL)}:within" if is_killed else None
        engine = {"ERRATA_LOG": self.draws.choice(self.engines)}
        code = server.launch({**self.disk.environment(server.data, crash=crash, journal=True), **engine})
        if code is not None and not is_killed:
            raise AssertionError(f"it does not start ({code}): {server.read_log()[-500:]}")
        if code is None:
            load.client = server.client()
            load.between = self.between
            load.do_all(server)
            load.client.close()
            server.kill9()
        self.problems += load.problems
        return load, start

    def cut(self, load, start, life):
        """Checks images of the run; creates the one on which the next run starts."""
        seed = self.draws.randrange(1 << 32)
        answered = any(at > start for at, *_ in load.acknowledgements)
        kinds = [kind for kind in KINDS if (kind != "recovery" or life > 0) and (kind != "answer" or answered)]
        counts = ["--from", start]
        for kind in kinds:
            counts += [f"--{kind}", self.images]
        code, lines = power_cut.ask(self.disk, load, "--seed", seed, *counts)
        self.table.add(f"chain, life {life + 1}, ", lines, code)
        self.problems += [line for line in lines if code != 0]
        kind = self.draws.choice([kind for kind in kinds if kind != "answer"])
        name = f"{kind}:{self.draws.randrange(self.images)}"
        return power_cut.Image(self.disk, load, seed, counts, name)

    def keep(self, load, position):
        """Writes acknowledged before the cut are required from now on; others count as not done."""
        self.acknowledgements = [(kind, name) for at, kind, name in load.acknowledgements if at <= position]
        self.steps = [step.as_of(position) for step in self.steps]

    def run(self):
        """Makes all runs, and a last start without the shim; returns the problems."""
        server = disk_fixture.FaultServer()
        image = None
        try:
            for life in range(self.depth + 1):
                load, start = self.live(server, life)
                next_image = self.cut(load, start, life)
                server.close()
                if self.problems:
                    next_image.close()
                    return self.problems
                if image is not None:
                    image.close()
                image = next_image
                self.keep(load, image.position)
                server = disk_fixture.FaultServer(image.folder)
            load = disk_fixture.Load(self.steps, self.disk)
            problems, _ = power_cut.try_start(self.disk, load, image)
            return self.problems + problems
        finally:
            server.close()
            if image is not None:
                image.close()


def run(disk, options, draws):
    """Runs chains until one fails, whose last journal is kept; returns their table."""
    table = power_cut.Table()
    for number in range(options.chains):
        problems = Chain(disk, options, draws, table).run()
        table.rows.setdefault("chain, last start", [0, 0])[0] += 1
        table.failed += bool(problems)
        for problem in problems[:5]:
            print(f"FAILED chain {number}: {problem}", flush=True)
        if problems:
            break
    return table
