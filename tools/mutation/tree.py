"""The tree that mutants are tried in: a copy of the working tree below build/mutate, built once.

Knows which objects come of a source, which programs link an object, and which tests run a program.
A mutant's objects and programs take the place of the original ones for as long as it is tried; a note
on the disk records it, and an interrupted change is reverted when the tree is opened the next time.
"""
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

LABELS = "^(unit|contract|rpc|wire|golden|isolation|fuzz-replay|sim)$"
# Built like the release, for speed and for the checks of FORTIFY, with a trap for an index outside an array of known
# size; includes fault points, since tests use them.
FLAGS = "-O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fsanitize=bounds -fsanitize-undefined-trap-on-error"
CONFIGURE = ["-G", "Ninja", "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_C_FLAGS=" + FLAGS, "-DERRATA_FAULTS=ON",
             "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
PRODUCT = ("server/", "store/", "client/", "tools/errata/")

# A test may take this factor times its duration without a change, plus this: machines are noisy.
TIMES, MORE_SECONDS = 8, 20
ATTEMPTS = 3  # of a test without a change
COMPILE_SECONDS = 120
STEP_SECONDS = 0.1  # interval of the checks whether a command is still needed
# Limits of the resources that a changed program may use.
DATA_BYTES_MAX, FILE_BYTES_MAX = 4 << 30, 2 << 30
PR_SET_CHILD_SUBREAPER = 36
# Running commands; any other child of this process was left by one of them.
STARTING = threading.Lock()
STARTED = set()


class Failed(Exception):
    """The tree can't be used: why."""


def limit():
    """Runs in a child: limits memory and file sizes, so that a change cannot fill the machine."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (DATA_BYTES_MAX, DATA_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))


def children():
    """Processes that are ours: those that we started, and those that they left to us."""
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as f:
        return [int(pid) for pid in f.read().split()]


def end_children():
    """Ends processes that a test left running; they are children of this process (a subreaper)."""
    for pid in children():
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def start(command, options):
    with STARTING:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=limit, **options)
        STARTED.add(process.pid)
    return process


def reap():
    """Processes that tests left to us and that have ended: a test may wait until they are gone."""
    with STARTING:
        for pid in set(children()) - STARTED:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def run(command, seconds, stop=None, **options):
    """The exit status of a command, whose process group ends with it; None where it took too long, or where
    `stop` (an event) was set before its end."""
    with start(command, options) as process:
        end = time.monotonic() + seconds
        status = None
        try:
            while status is None and time.monotonic() < end and not (stop and stop.is_set()):
                try:
                    status = process.wait(STEP_SECONDS)
                except subprocess.TimeoutExpired:
                    reap()
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            with STARTING:
                STARTED.discard(process.pid)
    return status


class Test:
    """A test of ctest."""

    def __init__(self, entry):
        self.name = entry["name"]
        self.command = entry["command"]
        properties = {p["name"]: p["value"] for p in entry["properties"]}
        self.folder = properties.get("WORKING_DIRECTORY")
        self.environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        self.is_setup = "FIXTURES_SETUP" in properties  # other tests need what it makes
        self.seconds = 0.0  # duration without a change
        self.programs = set()

    def run(self, scratch, seconds, stop=None):
        """Like run(), with a separate temporary folder below `scratch`."""
        with tempfile.TemporaryDirectory(dir=scratch, ignore_cleanup_errors=True) as folder:
            # Memory that is used before it is written, or after it was freed, is not zero.
            environment = dict(os.environ, TMPDIR=folder, MALLOC_PERTURB_="165", **self.environment)
            return run(self.command, seconds, stop, cwd=self.folder, env=environment)


class Tree:
    def __init__(self, root, folder, jobs):
        self.root = root
        self.jobs = jobs  # number of concurrent tests
        self.linking = threading.Lock()
        self.folder = folder
        self.sources = os.path.join(folder, "tree")
        self.objects = os.path.join(folder, "objects")
        self.scratch = os.path.join(folder, "scratch")
        self.note = os.path.join(folder, "exchanged")

    # Copying and building.

    def files(self):
        out = subprocess.run(["git", "-C", self.root, "ls-files", "-co", "--exclude-standard"],
                             capture_output=True, text=True, check=True).stdout
        return [p for p in out.splitlines() if os.path.isfile(os.path.join(self.root, p))]

    def copy(self):
        """Updates the copy to the working tree; equal files keep their times."""
        files = self.files()
        total = hashlib.sha256()
        for path in files:
            with open(os.path.join(self.root, path), "rb") as f:
                new = f.read()
            total.update(path.encode() + b"\0" + hashlib.sha256(new).digest())
            self.write(path, new, os.stat(os.path.join(self.root, path)).st_mode)
        wanted = set(files)
        for folder, _, names in os.walk(self.sources):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.relpath(path, self.sources) not in wanted:
                    os.remove(path)
        return total.hexdigest()

    def write(self, path, new, mode):
        to = os.path.join(self.sources, path)
        try:
            with open(to, "rb") as f:
                if f.read() == new:
                    return
        except FileNotFoundError:
            os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(to, "wb") as f:
            f.write(new)
        os.chmod(to, mode)

    def open(self):
        """Copies, builds, and reads what depends on what."""
        self.put_back()
        shutil.rmtree(self.scratch, ignore_errors=True)
        os.makedirs(self.scratch)
        self.digest = self.copy()
        configure = ["cmake", "-S", self.sources, "-B", self.objects] + CONFIGURE
        if shutil.which("ccache"):
            configure.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
        if shutil.which("ld.lld"):
            configure.append("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld")
        self.make(configure)
        self.make(["cmake", "--build", self.objects, "-j", str(os.cpu_count() or 1)])
        self.read_tests()
        self.read_programs()
        self.read_objects()

    def make(self, command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              preexec_fn=limit, check=False)
        if done.returncode != 0:
            raise Failed("the tree does not build:\n" + "\n".join(done.stdout.splitlines()[-30:]))

    # Dependencies of the programs and tests.

    def read_tests(self):
        out = subprocess.run(["ctest", "--test-dir", self.objects, "-L", LABELS, "--show-only=json-v1"],
                             capture_output=True, text=True, check=True).stdout
        self.tests = [Test(entry) for entry in json.loads(out)["tests"] if "command" in entry]

    def read_programs(self):
        """Reads the programs in bin/: their objects, and the other programs that they need."""
        self.links = {}
        beside = {}
        with open(os.path.join(self.objects, "build.ninja"), encoding="utf-8") as f:
            for line in f:
                match = re.match(r"build (bin/[\w-]+): \S+ ([^|\n]*)(?:\|[^|\n]+)?(?:\|\|(.*))?$", line)
                if match:
                    self.links[match.group(1)] = {o for o in match.group(2).split() if o.endswith(".o")}
                    beside[match.group(1)] = set(re.findall(r"\bbin/[\w-]+", match.group(3) or ""))
        for test in self.tests:
            said = " ".join(test.command + list(test.environment.values()))
            test.programs = {p for p in self.links if re.search(re.escape(os.path.join(self.objects, p)) + r"(?![\w-])",
                                                                said)}
            test.programs |= {p for name in set(test.programs) for p in beside[name] if p in self.links}
        self.link_commands = {}

    def read_objects(self):
        """The compiler's commands for the sources that a program of a test links."""
        linked = {o for t in self.tests for p in t.programs for o in self.links[p]}
        self.commands = {}
        self.commands_by_object = {}
        with open(os.path.join(self.objects, "compile_commands.json"), encoding="utf-8") as f:
            for entry in json.load(f):
                path = os.path.relpath(entry["file"], self.sources)
                words = shlex.split(entry["command"])
                made = words[words.index("-o") + 1]
                if made in linked:
                    command = [w for w in words if "ccache" not in os.path.basename(w)]
                    self.commands_by_object[made] = command
                    if path.startswith(PRODUCT):
                        self.commands.setdefault(path, {})[made] = command
        self.read_headers()

    def read_headers(self):
        """The product's headers, and the objects of the tests' programs that include each, those of tests too."""
        out = subprocess.run(["ninja", "-C", self.objects, "-t", "deps"], capture_output=True, text=True, check=True).stdout
        self.includers = {}
        made = ""
        for line in out.splitlines():
            if line.startswith("    "):
                path = os.path.relpath(os.path.join(self.objects, line.strip()), self.sources)
                if path.endswith(".h") and path.startswith(PRODUCT) and made in self.commands_by_object:
                    self.includers.setdefault(path, set()).add(made)
            elif line:
                made = line.split(":")[0]

    def commands_of(self, path):
        """The compiler's commands for the objects that a source or a header is part of."""
        if path in self.commands:
            return self.commands[path]
        return {made: self.commands_by_object[made] for made in sorted(self.includers.get(path, ()))}

    def link_command(self, program):
        if program not in self.link_commands:
            out = subprocess.run(["ninja", "-C", self.objects, "-t", "commands", "-s", program],
                                 capture_output=True, text=True, check=True).stdout
            self.link_commands[program] = out.splitlines()[-1]
        return self.link_commands[program]

    def tests_of(self, objects):
        """The tests that run one of the objects: small programs first, those that take long later."""
        found = [t for t in self.tests if any(self.links[p] & objects for p in t.programs)]
        return sorted(found, key=lambda t: (min(len(self.links[p]) for p in t.programs) + 40 * t.seconds, t.name))

    # Run the tests without a change.

    def measure(self):
        """Measures the duration of each test; all must pass. Uses a stored result if the tree is unchanged."""
        path = os.path.join(self.folder, "seconds.json")
        try:
            with open(path, encoding="utf-8") as f:
                known = json.load(f)
        except (FileNotFoundError, json.JSONDecodeError):
            known = {}
        if known.get("tree") != self.digest:
            seconds = {}
            for is_setup in (True, False):
                tests = [test for test in self.tests if test.is_setup == is_setup]
                with ThreadPoolExecutor(self.jobs) as pool:
                    seconds.update(zip((test.name for test in tests), pool.map(self.measure_one, tests)))
            end_children()
            known = {"tree": self.digest, "seconds": seconds}
            with open(path, "w", encoding="utf-8") as f:
                json.dump(known, f)
        for test in self.tests:
            test.seconds = known["seconds"][test.name]

    def measure_one(self, test):
        """Returns the duration of a test; on a busy machine one that waits for others may fail, and is run again."""
        for _ in range(ATTEMPTS):
            started = time.monotonic()
            status = test.run(self.scratch, 600)
            if status == 0:
                return time.monotonic() - started
        raise Failed(f"the test {test.name} fails without any change (status {status}); mend that first")

    # A mutant in its place.

    def exchange(self, path):
        """Moves a file of the build aside, to be put back."""
        with open(self.note, "a", encoding="utf-8") as f:
            f.write(path + "\n")
        os.replace(path, path + ".original")

    def put_back(self):
        """Restores every file that was moved aside; a mutant's files in their places are removed."""
        if not os.path.exists(self.note):
            return
        with open(self.note, encoding="utf-8") as f:
            for path in f.read().splitlines():
                if os.path.exists(path + ".original"):
                    os.replace(path + ".original", path)
        os.remove(self.note)

    def compile(self, mutant):
        """The objects that the mutant changes; None where it does not compile without a warning."""
        path = os.path.join(self.sources, mutant.path)
        self.exchange(path)
        with open(path, "w", encoding="utf-8") as f:
            f.write(mutant.source)
        commands = self.commands_of(mutant.path)
        for made in commands:
            self.exchange(os.path.join(self.objects, made))
        stop = threading.Event()

        def compile_one(command):
            status = run(command, COMPILE_SECONDS, stop, cwd=self.objects)
            if status != 0:
                stop.set()
            return status

        with ThreadPoolExecutor(self.jobs) as pool:
            if any(pool.map(compile_one, commands.values())) or stop.is_set():
                return None
        return {made for made in commands if self.differs(made)}

    def differs(self, made):
        """Whether an object is another one than without the change."""
        at = os.path.join(self.objects, made)
        with open(at, "rb") as one, open(at + ".original", "rb") as two:
            return one.read() != two.read()

    def link(self, program):
        """Links a program with the mutant's objects, once a mutant."""
        path = os.path.join(self.objects, program)
        with self.linking:
            if not os.path.exists(path + ".original"):
                self.exchange(path)
                if run(["sh", "-c", self.link_command(program)], COMPILE_SECONDS, cwd=self.objects) != 0:
                    raise Failed(f"{program} does not link: {self.link_command(program)}")

    def first_failure(self, changed):
        """Runs the tests of these objects, some at once, until one fails; which one, or "" where none does."""
        stop = threading.Event()
        failures = []

        def one(test):
            if not stop.is_set():
                failure = self.try_test(test, changed, stop)
                if failure and not stop.is_set():
                    stop.set()
                    failures.append(failure)

        try:
            with ThreadPoolExecutor(self.jobs) as pool:
                try:
                    list(pool.map(one, self.tests_of(changed)))
                finally:
                    stop.set()  # set before the pool waits for running commands
        finally:
            end_children()
        return failures[0] if failures else ""

    def try_test(self, test, changed, stop):
        for program in sorted(test.programs):
            if self.links[program] & changed:
                self.link(program)
        seconds = TIMES * test.seconds + MORE_SECONDS
        status = test.run(self.scratch, seconds, stop)
        if status is None:
            return f"{test.name}, which takes too long"
        # A failure that a second run does not show is the machine's.
        if status != 0 and test.run(self.scratch, seconds, stop) != 0:
            return test.name
        return ""
