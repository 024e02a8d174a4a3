#!/usr/bin/python3
"""The page for people in a real browser: Chromium, driven by puppeteer-core, against a real erratad.

Goal: every view is seen and every action does what it says, without barriers, without a text that runs, without a request
elsewhere, and without losing what was typed. Method: one browser and one server for all cases (run.mjs). Packages are pinned
by package-lock.json and installed into the build folder, once. `browser.py NAME` runs only the cases with that name in theirs.
"""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

import npm_packages
import pdf_data
from erratad import BIN, ROOT
from jumping_clock import Clock
from redis_server import PROGRAM, RedisServer

FOLDER = os.path.join(ROOT, "tests", "browser")
BUILD = os.environ.get("ERRATA_BUILD", os.path.join(ROOT, "build", "release"))
SKIPPED = 77


def install():
    """Returns the folder with the scripts and their packages."""
    folder = os.path.join(BUILD, "browser-node")
    npm_packages.install(FOLDER, folder, [name for name in os.listdir(FOLDER) if name.endswith(".mjs")])
    return folder


@contextlib.contextmanager
def surroundings():
    """Makes clocks that cases_administration.mjs puts ahead, and a Redis, if it is installed."""
    with tempfile.TemporaryDirectory(prefix="errata-browser-") as folder, contextlib.ExitStack() as ends:
        clock = Clock(folder)
        redis = RedisServer() if shutil.which(PROGRAM) else None
        if redis:
            ends.callback(redis.close)
            redis.start()
        yield {"clock": clock.path, "environment": dict(one.split("=", 1) for one in clock.prefix[1:]), "redis": redis and redis.path}


def main(words):
    if not shutil.which("chromium"):
        print("no chromium: tools/install-parts --with-checks installs it")
        return SKIPPED
    with surroundings() as around:
        run = subprocess.run(["node", "run.mjs", BIN, os.path.join(pdf_data.FOLDER, pdf_data.INVOICE), *words], cwd=install(),
                             stdin=subprocess.DEVNULL, check=False, env=os.environ | {"ERRATA_SURROUNDINGS": json.dumps(around)})
    return run.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
