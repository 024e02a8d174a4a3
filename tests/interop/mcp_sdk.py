#!/usr/bin/python3
"""Starts erratad, and runs the official SDK of the Model Context Protocol against it (mcp/client.mjs).

The packages are pinned by mcp/package-lock.json and installed into the build folder, once.
"""
import os
import subprocess
import sys

import npm_packages
from erratad import ROOT, Server

SOURCE = os.path.join(ROOT, "tests", "interop", "mcp")
BUILD = os.environ.get("ERRATA_BUILD", os.path.join(ROOT, "build", "release"))


def main():
    folder = os.path.join(BUILD, "interop-mcp")
    npm_packages.install(SOURCE, folder, ["client.mjs"])
    with Server() as server:
        run = subprocess.run(["node", "client.mjs", server.address, os.path.join(server.data, "admin.token")],
                             cwd=folder, timeout=120, stdin=subprocess.DEVNULL)
        code = server.stop()
        if run.returncode == 0 and code == 0:
            return 0
        print(f"client: {run.returncode}, erratad: {code}\n{server.read_log()[-2000:]}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
