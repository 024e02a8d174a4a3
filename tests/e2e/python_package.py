#!/usr/bin/python3
"""The wheel and the source distribution of the Python package, in empty environments.

Goal: the installed package works, has types, and its examples run. Method: each is installed into an environment of its
own without a network; mypy checks the examples and the package strictly, as of Python 3.9; the examples run against a
real erratad and a model server of the test.
"""
import glob
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

from erratad import ROOT, ServerCase, main

DIST = os.path.join(os.environ["ERRATA_BUILD"], "python", "dist")
EXAMPLES = os.path.join(ROOT, "client", "python", "examples")


class Model(http.server.BaseHTTPRequestHandler):
    """Answers a chat with the output of its last example, or a wrong one."""

    chats = []

    def do_POST(self):
        turns = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
        self.chats.append(turns)
        answers = [turn["content"] for turn in turns if turn["role"] == "assistant"]
        content = json.dumps({"choices": [{"message": {"content": answers[-1] if answers else '{"qty": 3}'}}]})
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content.encode())

    def log_message(self, *_):
        pass


class Package(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.mkdtemp(prefix="errata-python-")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
        super().tearDownClass()

    def environment(self, name, pattern, *options):
        """Makes an environment with the packages that match the pattern; returns its Python."""
        found = glob.glob(os.path.join(DIST, pattern))
        self.assertEqual(len(found), 1, f"{pattern} in {DIST}")
        place = os.path.join(self.folder, name)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", *options, place], check=True)
        python = os.path.join(place, "bin", "python")
        subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps",
                        "--no-build-isolation", "--disable-pip-version-check", found[0]], check=True)
        return python

    def run_example(self, python, name, **environment):
        token = os.path.join(self.server.data, "admin.token")
        return subprocess.run([python, os.path.join(EXAMPLES, name)], check=True, capture_output=True, text=True, env={
            "PATH": os.environ["PATH"], "HOME": self.folder, "ERRATA_SERVER": self.server.address,
            "ERRATA_TOKEN_FILE": token, **environment}).stdout

    def test_source_distribution_installs(self):
        python = self.environment("sdist", "errata?client-*.tar.gz", "--system-site-packages")
        shown = subprocess.run([python, "-c", "import errata, errata.aio; print(errata.__version__)"], check=True,
                               capture_output=True, text=True, cwd=self.folder).stdout
        self.assertRegex(shown, r"^\d+\.\d+\.\d+\n$")

    def test_examples_run_from_the_wheel_and_are_typed(self):
        python = self.environment("wheel", "errata_client-*-py3-none-any.whl")
        shown = self.run_example(python, "pipeline.py")
        self.assertIn("order-1 was given 0 examples\norder-2 was given 1 examples", shown)
        self.assertEqual(json.loads(shown.splitlines()[-1])["queue"], [0, 4, 0])
        with http.server.HTTPServer(("127.0.0.1", 0), Model) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            address = f"http://127.0.0.1:{server.server_address[1]}"
            self.assertEqual(json.loads(self.run_example(python, "errata_openai.py", OPENAI_BASE_URL=address))["qty"], 12)
            roles = [turn["role"] for turn in Model.chats[-1]]
            self.assertEqual(self.run_example(python, "errata_langchain.py", OPENAI_BASE_URL=address), "{'qty': 3}\n")
            server.shutdown()
            thread.join()
        self.assertEqual(Model.chats[-1][0]["content"], '2 x 6 eggs is {"qty": 12}\nAnswer with JSON. 3 x 6 eggs is')
        self.assertEqual((roles[0], roles[-1]), ("system", "user"))
        self.assertIn("assistant", roles)  # of the pipeline's corrections, which have the same layout
        if shutil.which("mypy") is None:
            self.skipTest("mypy is not installed")
        for sources in (sorted(glob.glob(os.path.join(EXAMPLES, "*.py"))), ["-p", "errata"]):
            subprocess.run(["mypy", "--strict", "--no-error-summary", "--python-version", "3.9", "--cache-dir",
                            os.path.join(self.folder, "mypy"), "--python-executable", python, *sources], check=True)


if __name__ == "__main__":
    main()
