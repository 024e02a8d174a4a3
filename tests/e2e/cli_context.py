#!/usr/bin/python3
"""Contexts: servers and tokens by name, in a file of the user.

Goal: with several servers, a command calls the right one with the right token, and no other user can
read the tokens. Method: real runs of the program; the file is examined, and damaged.
"""
import json
import os
import stat
import subprocess

from errata_cli import ERRATA, CliCase, Terminal
from erratad import Server, main



class Contexts(CliCase):
    def setUp(self):
        config = self.folder / ".config"
        if config.exists():
            subprocess.run(["rm", "-r", config], check=True)
        self.config = config / "errata" / "config.json"
        self.address = self.server.address

    def cli(self, *words, code=0, stdin="", **changes):
        """Runs the program in an environment without a server, so that only contexts specify one."""
        return self.run_cli(*words, code=code, stdin=stdin, environment=self.environment(**changes))

    def add(self, name, *words, **more):
        return self.cli("context", "add", name, "--server", self.address, *words, **more)

    def stored(self):
        return json.loads(self.config.read_text())

    def test_first_context_becomes_current(self):
        """An added context is the current one; the path of its token file is absolute; the token is
        not copied."""
        _, said = self.add("home", "--token-file", "admin.token")
        self.assertIn("is the current one", said)
        self.assertEqual(self.stored()["contexts"]["home"], {
            "server": self.address, "token_file": str((self.folder / "admin.token").resolve())})
        out, _ = self.cli("health")
        self.assertIn(f"{self.address}  (from the context home)", out)
        self.cli("token", "list")
        self.assertEqual(stat.S_IMODE(self.config.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(self.config.parent.stat().st_mode), 0o700)

    def test_token_is_read_from_standard_input(self):
        """The token is stored in the file, and only its key id is displayed."""
        token = self.server.admin_token
        self.add("home", "--token-stdin", stdin=token + "\n")
        self.assertEqual(self.stored()["contexts"]["home"]["token"], token)
        self.cli("token", "list")
        for words in (("list",), ("show",), ("list", "--json"), ("show", "home", "--json")):
            out, said = self.cli("context", *words)
            self.assertIn(token.split("_")[1], out)
            self.assertNotIn(token.split("_", 2)[2], out + said)
        self.assertIn("standard input: empty", self.add("none", "--token-stdin", code=4)[1])
        self.assertIn("not a token", self.add("none", "--token-stdin", code=4, stdin="a b\n")[1])

    def test_typed_token_is_not_shown(self):
        """On a terminal the token is requested with the echo disabled."""
        token = self.server.admin_token
        terminal = Terminal([ERRATA, "context", "add", "typed", "--server", self.address,
                             "--token-stdin"], self.environment(), self.folder)
        terminal.read("input is hidden")
        terminal.send(token + "\r")
        out = terminal.read()
        self.assertEqual(terminal.close(), 0, out)
        self.assertNotIn(token, out)
        self.assertEqual(self.stored()["contexts"]["typed"]["token"], token)

    def test_contexts_are_selected_renamed_and_removed(self):
        """The current context is updated by a rename, and unset by its removal."""
        self.add("one", "--token-file", "admin.token")
        self.add("two")
        self.cli("context", "use", "two")
        self.cli("context", "rename", "two", "deux")
        self.assertEqual(self.stored()["current"], "deux")
        out, _ = self.cli("context", "list", "--json")
        self.assertEqual([(c["name"], c["server"]) for c in json.loads(out)["contexts"]],
                         [("one", self.address), ("deux", self.address)])
        self.assertIn("UNAUTHENTICATED", self.cli("token", "list", code=1)[1])
        self.cli("token", "list", "--context", "one")
        self.cli("token", "list", ERRATA_CONTEXT="one")
        self.cli("context", "remove", "deux")
        self.assertNotIn("current", self.stored())
        self.cli("context", "use", "one")
        self.cli("context", "use", "--none")
        self.assertIn("127.0.0.1:7443  (the default)", self.cli("context", "show")[0])

    def test_mistakes_are_reported(self):
        """Each error has the expected form; nothing is stored."""
        self.add("home")
        before = self.config.read_text()
        for words, words_said in ((("add", "home", "--server", "a:1"), "--replace to change it"),
                                  (("add", "new"), "--server: missing"),
                                  (("add", "a/b", "--server", "a:1"), "invalid name"),
                                  (("add", "new", "--server", "http://a:1"), "without http://"),
                                  (("use", "hom"), 'did you mean "home"?'),
                                  (("use",), "CONTEXT: missing"),
                                  (("rename", "home", "home"), "already exists"),
                                  (("remove", "none"), "unknown context"),
                                  (("show", "homer"), 'did you mean "home"?')):
            self.assertIn(words_said, self.cli("context", *words, code=2)[1])
        self.cli("context", "add", "new", "--server", "a:1", "--token-file", "/nonexistent", code=4)
        self.assertEqual(self.config.read_text(), before)
        self.assertIn('did you mean "home"?', self.cli("--context", "hom", "health", code=2)[1])

    def test_option_outranks_variable_and_context(self):
        """Precedence is command line, environment, context, default; `show` reports the source, and `health` uses the same server."""
        with Server() as other:
            other.wait_for_pdf()
            self.add("home", "--token-file", "admin.token")
            self.cli("context", "add", "other", "--server", other.address, "--token-stdin",
                     stdin=other.admin_token)
            asked = {"": self.address, "--context=other": other.address,
                     f"--server={other.address}": other.address}
            for option, address in asked.items():
                out, _ = self.cli("health", "--json", *([option] if option else []))
                self.assertEqual(json.loads(out)["server"], address)
            variables = {"ERRATA_SERVER": self.address,
                         "ERRATA_TOKEN_FILE": str(self.folder / "admin.token")}
            shown = json.loads(self.cli("context", "show", "--json", **variables)[0])
            self.assertEqual((shown["serverFrom"], shown["tokenFrom"]),
                             ("ERRATA_SERVER", "ERRATA_TOKEN_FILE"))
            self.cli("token", "list", "--context", "other", **variables)
            self.cli("token", "list", ERRATA_CONTEXT="other")

    def test_token_is_sent_only_to_its_server(self):
        """The token of a context is not sent to another server."""
        with Server() as other:
            self.add("home", "--token-file", "admin.token")
            for words in ((), ("--context", "home")):
                _, said = self.cli("token", "list", "--server", other.address, *words, code=1)
                self.assertIn("authorization: missing; expected", said)
            self.assertIn(f"is for its own server, {self.address}", said)

    def test_readable_file_is_refused(self):
        """A file with a wrong mode, or in a folder that others may write to, is reported with advice."""
        self.add("home", "--token-file", "admin.token")
        os.chmod(self.config, 0o644)
        self.assertIn("chmod 600", self.cli("health", code=4)[1])
        self.assertIn("chmod 600", self.cli("context", "list", code=4)[1])
        self.run_cli("health")  # not read if the environment specifies a server
        os.chmod(self.config, 0o600)
        os.chmod(self.config.parent, 0o777)
        self.assertIn("chmod 700", self.add("new", code=4)[1])
        os.chmod(self.config.parent, 0o700)
        self.config.write_text("{")
        self.assertIn("invalid JSON", self.cli("health", code=4)[1])

    def test_unknown_members_are_kept(self):
        """Members of a later version stay as they are written."""
        self.add("home")
        stored = self.stored()
        stored["later"] = {"a": [1.50]}
        stored["contexts"]["home"]["tls"] = True
        self.config.write_text(json.dumps(stored))
        self.add("more")
        self.assertEqual(self.stored(), stored | {"contexts": stored["contexts"] | {
            "more": {"server": self.address}}})

    def test_many_at_once_lose_nothing(self):
        """Twenty programs add a context each at the same time."""
        adding = [subprocess.Popen([ERRATA, "context", "add", f"c{n}", "--server", f"h:{n + 1}"],
                                   stderr=subprocess.DEVNULL, env=self.environment())
                  for n in range(20)]
        self.assertEqual([process.wait(60) for process in adding], [0] * 20)
        self.assertEqual(len(self.stored()["contexts"]), 20)

    def test_missing_home_is_reported(self):
        """A service without a home folder needs no contexts, unless it names one."""
        bare = {"HOME": None}
        self.cli("health", "--server", self.address, **bare)
        self.assertIn("127.0.0.1:7443", self.cli("context", "show", **bare)[0])
        self.assertIn("neither XDG_CONFIG_HOME nor HOME", self.cli("--context", "x", "health", code=4,
                                                                   **bare)[1])


if __name__ == "__main__":
    main()
