"""The suites' server, started and ended."""
import os
import signal
import subprocess
import time

START_SECONDS = 20
STOP_SECONDS = 20


class SuiteServer:
    """suite_server of a build, on a port of its own: `with SuiteServer(bin) as server: server.port`."""

    def __init__(self, folder, *arguments):
        self.program = os.path.join(folder, "suite_server")
        self.arguments = arguments

    def __enter__(self):
        self.process = subprocess.Popen([self.program, "0", *self.arguments],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.address = self.process.stdout.readline().decode().strip()
        if not self.address:
            raise RuntimeError(f"{self.program} did not start")
        self.host, self.port = self.address.rsplit(":", 1)
        return self

    def __exit__(self, *_):
        """Stops the server: it must exit with 0, and without sanitizer errors."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        started = time.monotonic()
        try:
            code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = f"no answer to SIGTERM for {time.monotonic() - started:.0f} s"
        self.process.stdout.close()
        if code != 0:
            raise RuntimeError(f"{self.program} ended with {code}")
