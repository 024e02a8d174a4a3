#!/usr/bin/python3
"""The commands of tools/*.md and of the READMEs of tests/.

Goal: a command that a document shows exists, with the options that it shows. Method: every `sh` block runs in order, in
a shell that ends at the first failure, with paths, ports and placeholders of this test, and shorter loads (VALUES).
Commands that build, install or take longer than a minute are not run (NOT_RUN): their `--help` must list the shown
options and names. The same applies to each command in a sentence or a table. readme.py runs README.md.
"""
import functools
import glob
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from erratad import BIN, ROOT, Server, main

BUILD = os.environ.get("ERRATA_BUILD", os.path.dirname(BIN))
DOCUMENTS = ("tools/HACKING.md", "tools/README.md", "tools/OPERATING.md", "tools/EXPORT.md", "tools/monitoring/README.md",
             "tools/bench/README.md", "tests/README.md",
             "tests/attack/README.md", "tests/bench/README.md", "tests/fuzz/README.md", "tests/sim/README.md")
# Documents whose commands start a server.
STARTING = ("tools/OPERATING.md", "tools/bench/README.md")
# Documents whose blocks other tests run: proxies.py and cli_history.py.
ELSEWHERE = ("tools/PROXIES.md", "tools/IMPORTS.md")
SECONDS = 100
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
INLINE = re.compile(r"`((?:tools/(?=[a-z])|errata |erratad |errata-bench |/usr/bin/python3 -B )[^`]+)`")
OPTION = re.compile(r"(?<!\S)--?[a-z][a-z0-9-]*")

# Commands that are not run, by their first words, with the reason.
NOT_RUN = {
    "tools/install-parts": "installs packages",
    "cmake": "builds",
    "tools/check": "runs this test",
    "tools/analyze": "takes an hour",
    "tools/bench-peers": "takes half an hour",
    "tools/coverage": "builds, and runs all tests",
    "tools/crash-points": "takes minutes",
    "tools/disk-errors": "takes minutes",
    "tools/floods": "takes minutes",
    "tools/fuzz": "builds with clang",
    "build/fuzz/bin/fuzz_method": "is built with clang",
    "tools/kill9": "takes minutes",
    "tools/power-cut": "takes minutes",
    "tools/sim": "builds",
    "tools/soak": "takes an hour",
    "tools/suites": "needs programs of other projects",
}
# Replacements for documented texts, applied in this order.
VALUES = (
    (r"^clang-format -i FILES", "cp ROOT/tests/e2e/damage_row.c ROOT/.clang-format . && clang-format -i damage_row.c &&"
                                " cmp damage_row.c ROOT/tests/e2e/damage_row.c"),
    (r"^ctest (--preset \w+|--test-dir build/\w+)(.*)", r"ctest -N --test-dir BUILD\2 | grep -q 'Total Tests: [1-9]'"),
    (r"build/\w+/bin", "BIN"),
    (r"build/\w+/gen/python", "BUILD/gen/python"),
    (r"=tests/|(?<=\s)tests/", lambda found: found.group(0).replace("tests/", "ROOT/tests/")),
    (r"127\.0\.0\.1:7443", "ADDRESS"),
    (r"/tmp/", "FOLDER/"),
    (r"^erratad ", "erratad --listen ADDRESS "),
    (r"(--preload|--extractions) (1M|50k)", r"\1 2k"),
    (r"--families 100\b", "--families 10"),
    (r"--exposures 1000\b", "--exposures 20"),
    (r"--mappings 100k", "--mappings 200"),
    (r"^errata-bench (?=.*--(rate|sweep))", "errata-bench --lag-max 60s --warm-up 0 "),  # the machine may be busy
    (r"--rate 2000", "--rate 100 --duration 300ms"),
    (r"--duration 30s", ""),
    (r"--sweep 1000\.\.80000", "--sweep 50..100 --duration 300ms --knee-p99 60s"),
    (r"--seeds 1 (1000|500)", "--seeds 1 5"),
    (r" 100000 7", " 10 7"),
    (r"--seconds 5", "--seconds 1"),
    (r"--connections 10000", "--seconds 1 --connections 20"),
)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def blocks(document):
    """The commands of each sh block: lines joined, comments removed."""
    for language, text in BLOCK.findall(read(document)):
        if language == "sh":
            lines = re.sub(r"\s*\\\n\s*", " ", text).splitlines()
            yield [re.sub(r"(^|\s)#\s.*$", "", line).strip() for line in lines]


def reason_not_run(command):
    """Returns the reason why the command is not run; None if it is run."""
    if command.endswith((" --help", " --list")):
        return None
    return NOT_RUN.get(command.split()[0])


def inline_commands(document):
    """The commands in sentences and tables: `errata list|show` is one of them."""
    text = BLOCK.sub("", read(document))
    return [found.replace("\\|", "|") for found in INLINE.findall(text)]


@functools.lru_cache
def help_of(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, cwd=ROOT)
    assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return re.sub(r"(?<=\w)-\n\s+", "-", done.stdout)  # argparse breaks lines within names


def help_of_tool(words):
    """The help of the program, and the names that its option --list prints."""
    text = help_of(os.path.join(ROOT, words[0]), "--help")
    if "--list" in text and words[0] in ("tools/analyze", "tools/fuzz"):
        text += help_of(os.path.join(ROOT, words[0]), "--list")
    return text


def help_of_errata(words):
    """The help of the command that the first words name, with the options of every command."""
    errata = os.path.join(BIN, "errata")
    everything = help_of(errata, "help")
    topic = words[2:] if words[1] == "help" else words[1:]
    for count in (2, 1):
        names = topic[:count]
        if re.search(rf"^  (help )?{re.escape(' '.join(names))}(  |$)", everything, re.M):
            return help_of(errata, "help", *names) + everything
    assert words[1] == "help" and topic == [topic[0].upper()], f"{' '.join(words)}: unknown command"
    return everything


class DocumentedCommands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-documented-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def check_names(self, command, text, names):
        for name in names:
            found = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)
            self.assertTrue(found, f"{command}: its help has no '{name}'")

    def check_help(self, command):
        """The program exists, and its help lists the options and names of the command."""
        words = shlex.split(command)
        options = OPTION.findall(command)
        if words[0].startswith("tools/"):
            if os.path.isdir(os.path.join(ROOT, words[0])) or not os.access(os.path.join(ROOT, words[0]), os.X_OK):
                self.assertTrue(os.path.exists(os.path.join(ROOT, words[0])), command)
                self.assertEqual(len(words), 1, command)
                return
            names = [word for word in words[1:] if re.fullmatch(r"[a-z][a-z-]+", word)]
            if words[0] != "tools/coverage":  # it accepts the options of ctest
                self.check_names(command, help_of_tool(words), options + names)
        elif words[0] == "errata":
            self.check_names(command, help_of_errata(words), options)
        elif words[0] in ("erratad", "errata-bench"):
            self.check_names(command, help_of(os.path.join(BIN, words[0]), "--help"), options)
        elif words[0] == "/usr/bin/python3":
            self.check_names(command, read(words[2]), options)

    def check_not_run(self, command):
        words = shlex.split(command)
        if words[0] == "cmake":
            presets = help_of("cmake", "--list-presets=all")
            for preset in re.findall(r"--(?:preset|workflow --preset) (\w+)", command):
                self.assertIn(f'"{preset}"', presets, command)
        elif words[0].startswith("build/fuzz/bin/fuzz_"):
            self.assertTrue(os.path.exists(os.path.join(ROOT, "tests/fuzz", os.path.basename(words[0]) + ".c")), command)
        else:
            self.check_help(command)

    def here(self, command, address):
        for pattern, value in VALUES:
            command = re.sub(pattern, value, command)
        for name, value in (("ROOT", ROOT), ("BUILD", BUILD), ("BIN", BIN), ("ADDRESS", address), ("FOLDER", self.folder)):
            command = re.sub(rf"(?<![A-Z_]){name}(?![A-Z_])", value, command)
        return re.sub(r"^tools/", f"{ROOT}/tools/", command)

    def run_in_order(self, commands, address, environment):
        script = "set -e\ntrap 'jobs -p | xargs -r kill; wait' EXIT\n" + "\n".join(
            self.here(command, address) for command in commands)
        environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}", HOME=self.folder, LC_ALL="C.UTF-8",
                           ERRATA_SERVER=address, **environment)
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, env=environment, text=True,
                              capture_output=True, timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 0, f"{script}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")

    def check_document(self, document, address, **environment):
        commands = [command for commands in blocks(document) for command in commands if command]
        for command in commands:
            if reason_not_run(command):
                with self.subTest(document=document, command=command):
                    self.check_not_run(command)
        with self.subTest(document=document):
            self.run_in_order([command for command in commands if not reason_not_run(command)], address,
                              environment)

    def test_sh_blocks_run_or_are_in_the_help(self):
        server = Server().start()
        self.addCleanup(server.close)
        for document in DOCUMENTS:
            if document not in STARTING:
                self.check_document(document, server.address, ERRATA_TOKEN_FILE=os.path.join(server.data, "admin.token"))

    def test_sh_blocks_run_against_the_server_they_start(self):
        server = Server().start()
        server.close()  # frees the port
        for document in STARTING:
            self.check_document(document, server.address)

    def test_commands_in_sentences_are_in_the_help(self):
        for document in DOCUMENTS + ELSEWHERE:
            for command in inline_commands(document):
                with self.subTest(document=document, command=command):
                    self.check_help(re.sub(r"[A-Z]+[.A-Za-z]*\.\.\.|\.\.\.|[\[\]]", "", command))

    def test_every_program_in_tools_has_help(self):
        for path in sorted(glob.glob(os.path.join(ROOT, "tools", "*"))):
            if os.path.isfile(path) and os.access(path, os.X_OK):
                with self.subTest(program=os.path.basename(path)):
                    self.assertIn(os.path.basename(path).split(".")[0], help_of(path, "--help"))

    def test_every_block_names_its_language(self):
        for document in DOCUMENTS:
            openings = re.findall(r"^```(.*)$", read(document), re.M)[::2]
            self.assertLessEqual(set(openings), {"sh", "text", "c", "proto"}, document)

    def test_every_document_of_tools_is_checked(self):
        shown = set(glob.glob("tools/**/*.md", root_dir=ROOT, recursive=True))
        self.assertLessEqual({path for path in shown if "node_modules" not in path},
                             set(DOCUMENTS + ELSEWHERE))


if __name__ == "__main__":
    main()
