"""The command `errata` for tests of it: run as scripts run it, and on a terminal as people do.

A case has a server, a folder of its own as HOME and working directory, and the first start's token there.
"""
import codecs
import fcntl
import os
import pathlib
import pty
import select
import struct
import subprocess
import tempfile
import termios
import time

from erratad import ServerCase

ERRATA = os.path.join(os.environ["ERRATA_BIN"], "errata")
SECONDS = 60  # time limit of one command: machines are busy


class Terminal:
    """A command on a pseudo-terminal of a given width."""

    def __init__(self, words, environment, folder, width=80):
        self.out = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a read may end within a character
        reader, self.gate = os.pipe()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.close(self.gate)
            os.read(reader, 1)  # waits until the terminal's width is set
            os.chdir(folder)
            os.execvpe(words[0], words, environment)
        os.close(reader)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        os.close(self.gate)

    def read(self, until=None):
        """All that it prints until its end, or until a text comes."""
        end = time.monotonic() + SECONDS
        while until is None or until not in self.out:
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"no {until!r} in {self.out!r}")
            try:
                piece = os.read(self.terminal, 65536)
            except OSError:
                break  # the end of a pseudo-terminal
            if not piece:
                break
            self.out += self.decoder.decode(piece)
        return self.out

    def send(self, text):
        os.write(self.terminal, text.encode())

    def close(self):
        """Waits for the end; returns the exit code."""
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class CliCase(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.wait_for_pdf()  # `errata health` checks it too
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        (cls.folder / "admin.token").write_text(cls.server.admin_token + "\n")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()
        super().tearDownClass()

    def environment(self, **changes):
        """Returns the environment of a user without settings; variables with the value None are removed."""
        dropped = ("ERRATA_", "COLUMNS", "LC_", "LANG", "NO_COLOR", "XDG_")
        values = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
        values |= {"HOME": str(self.folder), "TERM": "xterm", "LANG": "C.UTF-8",
                   "PATH": f"{os.path.dirname(ERRATA)}:{os.environ['PATH']}"} | changes
        return {k: v for k, v in values.items() if v is not None}

    def here(self, **changes):
        """The same with the server and its token."""
        usual = {"ERRATA_SERVER": self.server.address,
                 "ERRATA_TOKEN_FILE": str(self.folder / "admin.token")}
        return self.environment(**(usual | changes))

    def run_cli(self, *words, code=0, stdin="", environment=None):
        """Runs one command; returns its output and its standard error."""
        run = subprocess.run([ERRATA, *words], input=stdin, capture_output=True, text=True,
                             timeout=SECONDS, cwd=self.folder, env=environment or self.here())
        self.assertEqual(run.returncode, code, f"{words}: {run.stdout}{run.stderr}")
        return run.stdout, run.stderr

    def on_terminal(self, width, *words, code=0, environment=None):
        """Returns the output of a command on a terminal of this width."""
        terminal = Terminal([ERRATA, *words], environment or self.here(), self.folder, width)
        out = terminal.read()
        self.assertEqual(terminal.close(), code, f"{words}: {out}")
        return out.replace("\r\n", "\n")
