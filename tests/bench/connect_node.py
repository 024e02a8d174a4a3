"""A server of connect-node that answers GetExamples, as a peer of erratad: connect_node.mjs, with packages pinned by the
lock file of tests/interop/connect."""
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class ConnectNode:
    """Answers each call with `reply`, the bytes of a GetExamplesResponse. `http1` and `http2` are its addresses."""

    def __init__(self, build, reply):
        import connect_clients  # in tests/interop
        import npm_packages
        folder = os.path.join(build, "bench-connect")
        npm_packages.install(connect_clients.NODE, folder, [])
        shutil.copy(os.path.join(HERE, "connect_node.mjs"), folder)
        descriptors, stored = (os.path.join(folder, name) for name in ("descriptors.binpb", "reply.bin"))
        connect_clients.make_descriptors(descriptors)
        with open(stored, "wb") as f:
            f.write(reply)
        self.process = subprocess.Popen(["node", "connect_node.mjs", descriptors, stored], cwd=folder, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.http1, self.http2 = (f"127.0.0.1:{port}" for port in self.process.stdout.readline().split())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=30)
