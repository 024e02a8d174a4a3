#!/usr/bin/python3
"""tools/quickstart: the loop on real PDFs, and the commands it prints.

Goal: it shows the loop, and with --stay the commands it prints work in the user's shell. Method: run it with the
programs under test, run its printed commands in a shell, and check for a server after the last one.
"""
import glob
import os
import re
import shutil
import subprocess
import unittest

from erratad import BIN, ROOT, main

QUICKSTART = os.path.join(ROOT, "tools", "quickstart")
SECONDS = 100


def run(*arguments):
    return subprocess.run([QUICKSTART, *arguments], capture_output=True, text=True, timeout=SECONDS, check=False)


def commands(text, heading):
    """The lines of the paragraph after the heading."""
    after = text[text.index(heading):].split("\n\n")[1]
    return [line.strip() for line in after.splitlines() if line.strip()]


class Quickstart(unittest.TestCase):
    def test_stay_prints_commands_that_work_and_one_that_stops_the_server(self):
        done = run("--stay", "--bin", BIN)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        stop = commands(done.stdout, "To stop the server")
        self.assertRegex(" ".join(stop), r"^kill \d+ && rm -r /\S+$")
        pid = int(stop[0].split()[1])
        try:
            self.assertIn('"output":{"due_date":"2015-07-04","lines":[{"line_no":1,"product":"Künstlerische Gestaltung '
                          '(Stunde)"},{"line_no":2,"qty":"200"},{"line_no":3,"qty":"400"}]}', done.stdout.replace(": ", ":")
                          .replace(", ", ","))
            script = "\n".join(["set -e"] + commands(done.stdout, "Next, in this shell"))
            pasted = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=SECONDS,
                                    check=False)
            self.assertEqual(pasted.returncode, 0, pasted.stdout + pasted.stderr)
            self.assertIn("Heiße Luft", pasted.stdout)
        finally:
            stopped = subprocess.run(["bash", "-c", stop[0]], capture_output=True, text=True, check=False)
        self.assertEqual(stopped.returncode, 0, stopped.stderr)
        with self.assertRaises(ProcessLookupError):
            while True: # limited by the test's timeout
                os.kill(pid, 0)
        self.assertFalse(os.path.exists(stop[0].split()[-1]))

    def test_model_compares_texts(self):
        """With --model the model file is made, unless it is there, and the server compares by it. A package that
        another build has downloaded is used."""
        folder = os.path.join(ROOT, "build", "model")
        os.makedirs(folder, exist_ok=True)
        for package in glob.glob(os.path.join(ROOT, "build", "*", "model", "*.tgz")):
            if not os.path.exists(os.path.join(folder, os.path.basename(package))):
                shutil.copy(package, folder)
        done = run("--model", "--bin", BIN)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Make the model file", done.stdout)
        scores = [float(score) for score in re.findall(r"^ *score +(\S+)$", done.stdout, re.MULTILINE)]
        self.assertEqual(len(scores), 2, done.stdout)
        self.assertGreaterEqual(scores[0], 0.8)
        self.assertLessEqual(scores[1], 0.75)
        self.assertIn("'on' and 'off' are opposites", done.stdout)

    def test_unknown_option_and_folder_without_programs_are_refused(self):
        for arguments, problem in ((("--stays",), "unknown option '--stays'"),
                                   (("--bin", "/nonexistent"), "no erratad in '/nonexistent'"),
                                   (("--bin",), "--bin: no erratad in ''")):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(problem, done.stderr)


if __name__ == "__main__":
    main()
