#!/usr/bin/python3
"""Starts erratad, and runs the stock JavaScript client of node/client.js against it.

The packages are pinned by node/package-lock.json and installed into the build folder, once.
"""
import os
import subprocess
import sys

import npm_packages
import pdf_data
from erratad import ROOT, Server

NODE = os.path.join(ROOT, "tests", "interop", "node")
BUILD = os.environ.get("ERRATA_BUILD", os.path.join(ROOT, "build", "release"))


def main():
    folder = os.path.join(BUILD, "interop-node")
    npm_packages.install(NODE, folder, ["client.js"])
    with Server() as server:
        server.wait_for_pdf()
        token = os.path.join(server.data, "admin.token")
        run = subprocess.run(["node", "client.js", server.address, token,
                              os.path.join(BUILD, "gen", "published"),
                              os.path.join(pdf_data.FOLDER, pdf_data.INVOICE)], cwd=folder, timeout=120,
                             stdin=subprocess.DEVNULL)
        code = server.stop()
        if run.returncode == 0 and code == 0:
            return 0
        print(f"client: {run.returncode}, erratad: {code}\n{server.read_log()[-2000:]}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
