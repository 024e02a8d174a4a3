#!/usr/bin/python3
"""mcp_sdk.py FOLDER: starts erratad, and runs FOLDER/client.mjs against it: the official client of a revision of the
Model Context Protocol. The packages are pinned by the folder's package-lock.json and installed into the build folder,
once. The client of revision 2026-07-28 needs Node 20: with an older one it is skipped, and the output says so.
"""
import os
import subprocess
import sys

import npm_packages
from erratad import ROOT, Server

BUILD = os.environ.get("ERRATA_BUILD", os.path.join(ROOT, "build", "release"))
NODE_NEEDED = {"mcp": 18, "mcp_modern": 20}
SKIPPED = 77


def main():
    name = sys.argv[1]
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").split(".")[0]) < NODE_NEEDED[name]:
        print(f"skipped: Node {version.strip()} is installed, {name} needs {NODE_NEEDED[name]}")
        return SKIPPED
    folder = os.path.join(BUILD, f"interop-{name}")
    npm_packages.install(os.path.join(ROOT, "tests", "interop", name), folder, ["client.mjs"])
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
