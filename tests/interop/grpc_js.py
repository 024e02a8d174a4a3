#!/usr/bin/python3
"""Starts erratad, and runs the stock JavaScript client of node/client.js against it.

The packages are pinned by node/package-lock.json and installed into the build folder, once.
"""
import hashlib
import os
import shutil
import subprocess
import sys

import pdf_data
from erratad import ROOT, Server

NODE = os.path.join(ROOT, "tests", "interop", "node")
BUILD = os.environ.get("ERRATA_BUILD", os.path.join(ROOT, "build", "release"))
FILES = ("package.json", "package-lock.json", "client.js")


def install(folder):
    """npm ci, only where the lock is another than last time."""
    os.makedirs(folder, exist_ok=True)
    for name in FILES:
        shutil.copy(os.path.join(NODE, name), folder)
    with open(os.path.join(folder, "package-lock.json"), "rb") as f:
        wanted = hashlib.sha256(f.read()).hexdigest()
    stamp = os.path.join(folder, "installed")
    if os.path.exists(stamp) and open(stamp, encoding="ascii").read() == wanted:
        return
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
                   cwd=folder, check=True, stdin=subprocess.DEVNULL)
    with open(stamp, "w", encoding="ascii") as f:
        f.write(wanted)


def main():
    folder = os.path.join(BUILD, "interop-node")
    install(folder)
    with Server() as server:
        server.wait_for_pdf()
        token = os.path.join(server.data, "admin.token")
        run = subprocess.run(["node", "client.js", server.address, token,
                              os.path.join(ROOT, "proto"),
                              os.path.join(pdf_data.FOLDER, pdf_data.INVOICE)], cwd=folder, timeout=120,
                             stdin=subprocess.DEVNULL)
        code = server.stop()
        if run.returncode == 0 and code == 0:
            return 0
        print(f"client: {run.returncode}, erratad: {code}\n{server.read_log()[-2000:]}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
