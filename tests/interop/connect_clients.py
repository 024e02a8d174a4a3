#!/usr/bin/python3
"""Starts erratad, and runs the stock clients of Connect and gRPC-Web of connect/client.js against it.

The packages are pinned by connect/package-lock.json and installed into the build folder, once. They need Node 20.
"""
import os
import re
import shutil
import subprocess
import sys

import npm_packages
import pdf_data
from erratad import ROOT, Server

NODE = os.path.join(ROOT, "tests", "interop", "connect")
BUILD = os.environ.get("ERRATA_BUILD", os.path.join(ROOT, "build", "release"))
NODE_MAJOR_MIN = 20
SKIPPED = 77


def why_not():
    """Returns the reason why this test cannot run here, or None."""
    if not shutil.which("node"):
        return "node is not installed"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(re.match(r"v(\d+)", version)[1]) < NODE_MAJOR_MIN:
        return f"connect-node needs Node {NODE_MAJOR_MIN}; this is {version}"
    return None


def make_descriptors(path):
    """Writes the published files and those of the standard services, as protoc describes them."""
    protos = os.path.join(BUILD, "gen", "published")
    names = [os.path.relpath(os.path.join(folder, name), protos)
             for folder, _, files in os.walk(protos) for name in files if name.endswith("_service.proto")]
    subprocess.run(["protoc", f"-I{protos}", "-I/usr/include", "--include_imports",
                    f"--descriptor_set_out={path}", *names, "grpc/health/v1/health.proto",
                    "grpc/reflection/v1/reflection.proto", "google/rpc/status.proto",
                    "google/rpc/error_details.proto"], check=True)


def main():
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    folder = os.path.join(BUILD, "interop-connect")
    npm_packages.install(NODE, folder, ["client.js"])
    descriptors = os.path.join(folder, "descriptors.binpb")
    make_descriptors(descriptors)
    with Server() as server:
        server.wait_for_pdf()
        run = subprocess.run(["node", "client.js", server.address, os.path.join(server.data, "admin.token"),
                              descriptors, os.path.join(pdf_data.FOLDER, pdf_data.INVOICE)], cwd=folder,
                             timeout=240, stdin=subprocess.DEVNULL)
        code = server.stop()
        if run.returncode == 0 and code == 0:
            return 0
        print(f"client: {run.returncode}, erratad: {code}\n{server.read_log()[-2000:]}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
