#!/usr/bin/python3
"""Completion in real shells: bash, zsh and fish on a pseudo-terminal, each with its own script.

Goal: the program reads the words as typed and completed, in each shell; an unreachable server causes
no delay. Method: a line is typed with a tab, and the shell then prints it; cases that need no shell
call `__complete`. A shell that is not installed is skipped.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from erratad import ServerCase, feedback, main

ERRATA = os.path.join(os.environ["ERRATA_BIN"], "errata")
SECONDS = 20  # time limit for a shell's answer on a busy machine
# Commands that start each shell and load its completion.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             "bind 'set enable-bracketed-paste off'; source <(errata completion bash)"),
    "zsh": (["zsh", "-f", "-i"],
            "autoload -U compinit; compinit -D; unsetopt BEEP PROMPT_SP AUTO_REMOVE_SLASH; zstyle ':completion:*' menu no; "
            "source <(errata completion zsh)"),
    "fish": (["fish", "--no-config", "-i"], "errata completion fish | source"),
}


class Shell:
    """An interactive shell on a terminal."""

    def __init__(self, name, environment, folder):
        self.name = name
        words, set_up = SHELLS[name]
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)
        self.read_until(None)
        self.run(set_up)

    def read_until(self, pattern, seconds=SECONDS):
        """Returns the output up to a match of the pattern; without a pattern, until there is no output for a while."""
        out, end = "", time.monotonic() + seconds
        while time.monotonic() < end:
            wait = 0.4 if pattern is None else end - time.monotonic()
            if not select.select([self.terminal], [], [], max(wait, 0))[0]:
                break
            out += os.read(self.terminal, 65536).decode(errors="replace")
            if pattern and (match := re.search(pattern, out)):
                return match
        if pattern:
            raise AssertionError(f"{self.name}: no {pattern!r} in {out!r}")
        return out

    def send(self, text):
        os.write(self.terminal, text.encode())

    def run(self, line):
        """Runs a command line; returns the words printed after it."""
        self.send(f"{line}; echo do''ne\r")
        self.read_until("done")
        self.read_until(None)

    def complete(self, typed):
        """The line unchanged after a tab."""
        # Control-A goes to the line's front, where the line becomes the argument of `echo`.
        self.send(typed + "\t\x01echo 'li''ne'=\x05=\r")
        return self.read_until("line=(.*?)=\r?\n").group(1)

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


class Completion(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        (cls.path / "token").write_text(cls.server.admin_token)
        (cls.path / "inbox").mkdir()
        (cls.path / "inbox" / "order.pdf").write_text("no PDF")
        (cls.path / "event.json").write_text("{}")
        cls.run_cli("context", "add", "home", "--server", cls.server.address, "--token-file", "token")
        cls.run_cli("context", "add", "harbour", "--server", "127.0.0.1:1")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
        super().tearDownClass()

    @classmethod
    def environment(cls):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ERRATA_", "COLUMNS"))}
        return kept | {"HOME": cls.folder.name, "XDG_CONFIG_HOME": cls.folder.name, "TERM": "xterm",
                       "PATH": f"{os.path.dirname(ERRATA)}:{os.environ['PATH']}", "PS1": "$ ",
                       "ASAN_OPTIONS": "detect_leaks=0"}

    @classmethod
    def run_cli(cls, *words):
        run = subprocess.run([ERRATA, *words], capture_output=True, text=True, timeout=30,
                             cwd=cls.folder.name, env=cls.environment())
        if run.returncode:
            raise AssertionError(f"{words}: {run.stdout}{run.stderr}")
        return run.stdout

    def candidates(self, *words):
        return [line.split("\t")[0] for line in self.run_cli("__complete", "fish", "--",
                                                             *words).splitlines()]

    # --- candidates ---

    def test_commands_and_options_are_completed(self):
        """The tables are searched like by the program; nothing is offered if nothing fits."""
        self.assertEqual(self.candidates("lay"), ["layouts"])
        self.assertIn("help", self.candidates(""))
        self.assertFalse([word for word in self.candidates("") if word.startswith("_")])
        self.assertEqual(self.candidates("--json", "token", "r"), ["rotate", "revoke"])
        self.assertEqual(self.candidates("token", "create", "--ex"), ["--expires"])
        self.assertEqual(self.candidates("token", "create", "--no"), ["--no-color"])
        self.assertEqual(self.candidates("help", "corrections", "im"), ["import"])
        self.assertEqual(self.candidates("help", "exit"), ["exit-codes"])
        self.assertEqual(self.candidates("nonsense", ""), [])
        self.assertEqual(self.candidates("health", "errata.pdf", ""), [])

    def test_values_are_completed(self):
        """Words of the contract in any case, contexts, methods, and files where an argument is a
        file."""
        self.assertEqual(self.candidates("token", "create", "--role", "ad"), ["ADMIN"])
        self.assertEqual(self.candidates("token", "create", "--role=AD"), ["--role=ADMIN"])
        self.assertEqual(len(self.candidates("corrections", "list", "--type", "")), 5)
        self.assertEqual(self.candidates("events", "watch", "--kind", "doc"), ["DOCUMENT_INGESTED"])
        self.assertEqual(self.candidates("examples", "x", "--match", "e"), ["EXACT"])
        self.assertEqual(self.candidates("--context", "h"), ["home", "harbour"])
        self.assertEqual(self.candidates("context", "use", "ho"), ["home"])
        self.assertEqual(self.candidates("call", "GetExam"), ["GetExamples"])
        self.assertEqual(self.candidates("mappings", "list", "--status", "su"),
                         ["SUGGESTED", "SUPERSEDED"])
        self.assertEqual(self.candidates("analytics", "coverage", "--order", "m"), ["MOST_SEEN"])
        self.assertEqual(self.candidates("analytics", "learning", "--table", "f"), ["fields"])
        self.assertEqual(self.candidates("analytics", "learning", "--start", "y"), ["yesterday"])
        self.assertEqual(self.candidates("prompts", "show", "x", "--ver"), ["--version"])
        self.assertEqual(self.candidates("call", "FeedbackService/Cap"),
                         ["FeedbackService/CaptureFeedbackEvent"])
        self.assertIn("Check", self.candidates("call", ""))
        self.assertEqual(self.candidates("proto", "errata/v1/ro"), ["errata/v1/role.proto"])
        self.assertEqual(self.candidates("layouts", "ingest", "a", ""), [":files "])
        self.assertEqual(self.candidates("corrections", "capture", "--before", "@"), [":files @"])
        self.assertEqual(self.candidates("corrections", "capture", "--before", ""), [])
        self.assertEqual(self.candidates("--token-file=to"), [":files --token-file="])

    def test_ids_of_the_server_are_completed(self):
        """Ids come from the server that the line names; text from the server cannot break the line."""
        event = self.admin.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED,
                                   document_id="a\u202eb").id
        self.assertIn(event, self.candidates("corrections", "show", ""))
        mapping = self.run_cli("--context", "home", "mappings", "confirm", "--customer", "c", "--sku", "s",
                               "--internal", "i").strip()
        self.assertEqual(self.candidates("mappings", "show", ""), [mapping])
        self.assertEqual(self.candidates("prompts", "show", "pdf"), ["pdf_extract_text_v1"])
        key_id = self.server.admin_token.split("_")[1]
        self.assertEqual(self.candidates("token", "revoke", key_id[:3]), [key_id])
        self.run_cli("org", "create", "Acme Ltd")
        self.run_cli("token", "create", "--org", "Acme Ltd", "--role", "SERVICE", "--file", "acme")
        acme = (self.path / "acme").read_text().split("_")[1]
        self.assertEqual(self.candidates("token", "revoke", "--org", "Acme Ltd", ""), [acme])
        self.assertEqual(self.candidates("admin", "erase", "--org", "Acme Ltd", "--event", ""), [])
        self.assertEqual(self.candidates("--context", "harbour", "token", "revoke", ""), [])
        self.assertEqual(self.candidates("--token-file", "event.json", "token", "revoke", ""), [])
        out = self.run_cli("__complete", "fish", "--", "corrections", "show", event)
        self.assertEqual(out, f"{event}\tCUSTOMER_SELECTED, a\\u202eb\n")

    def test_hanging_server_does_not_delay_completion(self):
        """If the server is unreachable or hangs, the shell continues quickly."""
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            address = f"127.0.0.1:{silent.getsockname()[1]}"
            for server in (address, "127.0.0.1:1", "no.such.host.example:1"):
                start = time.monotonic()
                self.assertEqual(self.candidates("--server", server, "token", "revoke", ""), [])
                self.assertLess(time.monotonic() - start, 3)  # 0.3 s on an idle machine

    def test_bash_words_are_split_as_typed(self):
        """Bash splits words at its own delimiters; the answer is the part after the last one."""
        def answer(rest, line):
            return self.run_cli("__complete", "bash", "--", rest, line).splitlines()

        self.assertEqual(answer("AD", "errata token create --role=AD"), ["ADMIN\t"])
        self.assertEqual(answer("", "errata token create --role="), answer(
            "", "./errata token create --role "))
        self.assertEqual(answer("ev", "errata corrections capture @ev"), [":files "])
        self.assertEqual(answer("ev", "errata corrections capture --before=@ev"), [":files "])
        self.assertEqual(answer("'lay", "errata 'lay"), ["layouts\tmeasure documents and list their layouts"])
        self.assertEqual(answer("la", "errata \"--json\" 'token' \\create --role la"), [])

    # --- in the shells ---

    def check_shell(self, name):
        if not shutil.which(name):
            self.skipTest(f"{name} is not installed")
        shell = Shell(name, self.environment(), self.folder.name)
        key_id = self.server.admin_token.split("_")[1]
        event = self.admin.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED).id
        cases = {
            "errata lay": "errata layouts ",
            "errata layouts ing": "errata layouts ingest ",
            "errata token create --rol": "errata token create --role ",
            "errata token create --role SERV": "errata token create --role SERVICE ",
            "errata token create --role=SERV": "errata token create --role=SERVICE ",
            "errata context use har": "errata context use harbour ",
            "errata call GetExam": "errata call GetExamples ",
            "errata call FeedbackService/Cap": "errata call FeedbackService/CaptureFeedbackEvent ",
            "errata layouts ingest inb": "errata layouts ingest inbox/",
            "errata layouts ingest inbox/o": "errata layouts ingest inbox/order.pdf ",
            "errata corrections capture @ev": "errata corrections capture @event.json ",
            "errata --token-file=tok": "errata --token-file=token ",
            f"errata token revoke {key_id[:4]}": f"errata token revoke {key_id} ",
            f"errata events show {event[:34]}": f"errata events show {event} ",
        }
        try:
            for typed, completed in cases.items():
                self.assertEqual(shell.complete(typed).rstrip(), completed.rstrip(), f"{name}: {typed}")
            shell.send("errata token create --role \t" + ("" if name == "fish" else "\t"))
            shell.read_until("INTEGRATOR")
        finally:
            shell.close()

    def test_bash_completes_commands(self):
        """Each kind of word, in bash."""
        self.check_shell("bash")

    def test_zsh_completes_commands(self):
        """Each kind of word, in zsh."""
        self.check_shell("zsh")

    def test_fish_completes_commands(self):
        """Each kind of word, in fish."""
        self.check_shell("fish")


if __name__ == "__main__":
    main()
