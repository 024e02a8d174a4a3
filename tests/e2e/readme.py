#!/usr/bin/python3
"""The README's commands, as pasted by a new user.

Goal: every command of the README works, in order, with the output that the text describes. Method: all `sh` blocks run
in one shell that ends at the first failure, then the `python` blocks. Replaced are the folder of the programs, the
server's port, its data folder and the user's home, since tests run side by side; left out are the commands that install
packages and build, which made the programs under test.
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from erratad import BIN, ROOT, main

SECONDS = 60
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
BUILDS = ("tools/install-parts", "cmake --preset")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def blocks(language):
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        return [text for name, text in BLOCK.findall(file.read()) if name == language]


def session():
    """The lines of the sh blocks, without those that build."""
    lines = [line for text in blocks("sh") for line in text.splitlines()]
    return [line for line in lines if not line.startswith(BUILDS)]


class Readme(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-readme-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        os.symlink(os.path.join(ROOT, "tests"), os.path.join(self.folder, "tests"))
        self.address = f"127.0.0.1:{free_port()}"

    def here(self, text):
        """The text with the paths and the port of this run."""
        for before, after in (("$PWD/build/release/bin", BIN),
                              ("$PWD/build/release", os.path.dirname(BIN)), ("127.0.0.1:7443", self.address),
                              ("/tmp/errata", os.path.join(self.folder, "data"))):
            text = text.replace(before, after)
        return text

    def test_first_session_and_python_example_work(self):
        lines = session()
        for number, text in enumerate(blocks("python")):
            with open(os.path.join(self.folder, f"example{number}.py"), "w", encoding="utf-8") as file:
                file.write(self.here(text))
            lines.append(f"{sys.executable} example{number}.py")
        lines = "\n".join(lines)
        script = "set -e\ntrap 'kill %1; wait' EXIT\n" + self.here(lines)
        home = os.path.join(self.folder, "home")
        environment = {"HOME": home, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, env=environment, text=True,
                              capture_output=True, timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Corrections of similar documents: [", done.stdout)
        self.assertIn("Heiße Luft pro Liter", done.stdout)
        self.assertIn('"qty":400', re.sub(r"\s", "", done.stdout))
        self.assertIn('[{"input_snippet":"","output":{"qty":12}}]', done.stdout)
        self.assertIn('[{"input_snippet":"9 boxes of 10","output":{"qty":90}}]', done.stdout)

    def test_python_examples_have_at_most_12_lines(self):
        for text in blocks("python"):
            self.assertLessEqual(len([line for line in text.splitlines() if line.strip()]), 12)

    def test_every_block_names_its_language(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            openings = re.findall(r"^```(.*)$", file.read(), re.M)[::2]
        self.assertLessEqual(set(openings), {"sh", "python", "ts", "text"})


if __name__ == "__main__":
    main()
