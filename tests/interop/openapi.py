#!/usr/bin/python3
"""The OpenAPI document of a real server, by a public validator (@apidevtools/swagger-parser of npm, pinned by
openapi/package-lock.json and installed into the build folder, once)."""
import os
import subprocess
import sys
import urllib.request

import npm_packages
from erratad import ROOT, Server

SOURCE = os.path.join(ROOT, "tests", "interop", "openapi")
BUILD = os.environ.get("ERRATA_BUILD", os.path.join(ROOT, "build", "release"))


def main():
    folder = os.path.join(BUILD, "interop-openapi")
    npm_packages.install(SOURCE, folder, ["validate.js"])
    path = os.path.join(folder, "served.json")
    with Server() as server:
        with urllib.request.urlopen(f"http://{server.address}/openapi.json", timeout=20) as response, \
                open(path, "wb") as file:
            file.write(response.read())
    return subprocess.run(["node", "validate.js", path], cwd=folder, timeout=60,
                          stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())
