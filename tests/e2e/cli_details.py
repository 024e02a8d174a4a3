#!/usr/bin/python3
"""Details of first use: servers without ports, variables, options as typed, health.

Goal: both programs accept the same forms and report problems in the requested form. Method: real runs
of the programs; a server is called immediately after its start.
"""
import json
import os
import subprocess
import tempfile

from errata_cli import ERRATA, CliCase
from erratad import Server, main

ERRATAD = os.path.join(os.environ["ERRATA_BIN"], "erratad")


class Details(CliCase):
    def test_server_without_a_port_gets_the_default(self):
        for server in ("localhost", "127.0.0.1", "[::1]", "::1"):
            asked = subprocess.run([ERRATA, "--server", server, "health", "--json"], text=True,
                                   capture_output=True, env=self.environment(), check=False)
            self.assertNotIn("invalid address", asked.stderr, server)
        for server in ("localhost:", "localhost:0", "http://localhost", ":7443"):
            _, said = self.run_cli("--server", server, "health", code=2)
            self.assertIn("expected HOST or HOST:PORT", said)

    def test_an_option_is_reported_as_typed(self):
        for typed in ("-x", "--x", "-limit5", "--limt=3"):
            _, said = self.run_cli("corrections", "list", typed, code=2)
            self.assertIn(f"unknown option '{typed.split('=')[0]}'", said)

    def test_timeout_is_read_from_the_environment(self):
        _, said = self.run_cli("health", code=2, environment=self.here(ERRATA_TIMEOUT="soon"))
        self.assertIn('ERRATA_TIMEOUT "soon": invalid duration', said)
        self.run_cli("health", environment=self.here(ERRATA_TIMEOUT="30s"))
        self.run_cli("health", "--timeout", "30s", environment=self.here(ERRATA_TIMEOUT="soon"))

    def test_health_waits_for_the_pdf_worker(self):
        with Server() as server:
            out, _ = self.run_cli("health", environment=self.here(ERRATA_SERVER=server.address))
            self.assertRegex(out, r"errata\.pdf +SERVING")

    def erratad(self, *words, **variables):
        return subprocess.run([ERRATAD, *words], env=self.environment(**variables), text=True,
                              capture_output=True, check=False)

    def test_server_reads_its_variables(self):
        with tempfile.TemporaryDirectory() as folder:
            checked = self.erratad("--check-config", ERRATA_DATA=folder, ERRATA_LOG_LEVEL="debug")
            self.assertEqual((checked.returncode, checked.stderr), (0, ""))
            wrong = self.erratad("--check-config", ERRATA_DATA=folder, ERRATA_LOG_LEVEL="loud")
            self.assertIn("ERRATA_LOG_LEVEL: invalid value 'loud' for log-level", wrong.stderr)
            flag = self.erratad("--check-config", "--listen", "127.0.0.1:0", ERRATA_DATA=folder,
                                ERRATA_LISTEN="0.0.0.0:1")
            self.assertEqual(flag.returncode, 0, "a flag overrides its variable")

    def test_problems_before_the_start_are_json(self):
        for words, variables in ((("--log-format", "json", "--nothing"), {}),
                                 (("--nothing", "--log-format=json"), {}),
                                 (("--nothing",), {"ERRATA_LOG_FORMAT": "json"})):
            run = self.erratad(*words, **variables)
            self.assertNotEqual(run.returncode, 0)
            for line in run.stderr.splitlines():
                self.assertIn("--nothing", json.dumps(json.loads(line)))
        self.assertTrue(self.erratad("--nothing").stderr.startswith("erratad: "))


if __name__ == "__main__":
    main()
