#!/usr/bin/python3
"""Google's grpc-web in Chromium against erratad of another origin, in its formats text and binary.

Goal: what the browser lets through is enough for its library: preflights, statuses and details before and after messages,
streams as text, deadlines; and a foreign origin gets nothing. Method: a page on a server of its own (grpc_web/checks.mjs).
Packages are pinned by grpc_web/package-lock.json and installed into the build folder, once.
"""
import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading

import npm_packages
from connect_clients import make_descriptors
from erratad import ROOT, Server

SOURCE = os.path.join(ROOT, "tests", "interop", "grpc_web")
BUILD = os.environ.get("ERRATA_BUILD", os.path.join(ROOT, "build", "release"))
SKIPPED = 77


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Prints nothing."""


def install():
    """Returns the folder with the scripts, their packages and the descriptors."""
    folder = os.path.join(BUILD, "interop-grpc-web")
    npm_packages.install(SOURCE, folder, ["checks.mjs", "drive.mjs", "page.html"])
    shutil.copy(os.path.join(ROOT, "tests", "browser", "browser.mjs"), folder)
    make_descriptors(os.path.join(folder, "descriptors.binpb"))
    return folder


def main():
    if not shutil.which("chromium") or not shutil.which("node"):
        print("no chromium or node: tools/install-parts --with-checks installs them")
        return SKIPPED
    folder = install()
    pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=folder))
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    port = pages.server_address[1]
    with Server(arguments=["--cors-origin", f"http://127.0.0.1:{port}"]) as server:
        run = subprocess.run(["node", "drive.mjs", f"http://127.0.0.1:{port}", f"http://localhost:{port}", server.address,
                              os.path.join(server.data, "admin.token")], cwd=folder, timeout=200,
                             stdin=subprocess.DEVNULL, check=False)
        code = server.stop()
        if run.returncode == 0 and code == 0:
            return 0
        print(f"page: {run.returncode}, erratad: {code}\n{server.read_log()[-2000:]}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
