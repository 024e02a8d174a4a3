"""Errata and the programs beside it, each on the server's core."""
import os
import socket
import subprocess
import time

from . import machine

START_SECONDS = 120  # a large store is read before its server is ready
STOP_SECONDS = 30


class Server:
    """The address of a server; `tokens` is a file with one token per line, or None."""

    def __init__(self, process, port, tokens=None, data=None):
        self.process = process
        self.pid = process.pid
        self.port = port
        self.tokens = tokens
        self.data = data


class Servers:
    """Starts processes and ends them together. Their output is written to NAME.log in the folder."""

    def __init__(self, programs, folder):
        self.programs = programs
        self.folder = folder
        self.processes = []

    def start(self, command, ready):
        """Waits until `ready` is true of the output so far."""
        log = os.path.join(self.folder, f"{os.path.basename(command[0])}.log")
        with open(log, "wb") as f:
            process = subprocess.Popen([*machine.ON_SERVER_CORE, *command], stdout=f,
                                       stderr=subprocess.STDOUT)
        self.processes.append(process)
        end = time.monotonic() + START_SECONDS
        while True:
            with open(log, encoding="utf-8", errors="replace") as f:
                said = f.read()
            if ready(said):
                return process
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{' '.join(command)} did not start: {said[-2000:]}")
            time.sleep(0.02)

    def errata(self, data):
        address = os.path.join(data, "address")
        if os.path.exists(address):
            os.unlink(address)

        def ready(_):
            return os.path.exists(address) and open(address, encoding="ascii").read().strip()

        process = self.start([self.programs("erratad"), "--data", data, "--listen", "127.0.0.1:0"],
                             ready)
        with open(address, encoding="ascii") as f:
            port = int(f.read().strip().rsplit(":", 1)[1])
        return Server(process, port, os.path.join(data, "bench.tokens"), data)

    def other(self, *command):
        """A program that gets its port from the command line: PORT in its command is replaced by
        it."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]

        def ready(_):
            try:
                socket.create_connection(("127.0.0.1", port), 0.5).close()
                return True
            except OSError:
                return False

        words = [str(port) if word == "PORT" else word for word in command]
        return Server(self.start(words, ready), port)

    def floor(self, store):
        return self.other(self.programs("floor_server"), "PORT", "raw", store)

    def grpc(self, store):
        return self.other(self.programs("grpc_callback"), "PORT", store)

    def nghttpd(self, folder):
        return self.other("nghttpd", "-a", "127.0.0.1", "--no-tls", "-n1", "-m1000", "-d", folder,
                          "PORT")

    def pin(self, *files):
        """Keeps stores in memory: a cold page costs a disk read."""
        return self.start([self.programs("pin"), *files],
                          lambda said: said.count("pinned ") == len(files))

    def stop(self, server):
        self.end(server.process)

    def end(self, process):
        self.processes.remove(process)
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def close(self):
        for process in reversed(self.processes[:]):
            self.end(process)
