#!/usr/bin/python3
"""The configuration of erratad: flags, the file of the same names, and messages about invalid ones."""
import os
import subprocess
import tempfile
import unittest

BIN = os.path.join(os.environ["ERRATA_BIN"], "erratad")


def check(*arguments):
    """Exit status and output of a run that only checks its configuration."""
    run = subprocess.run([BIN, *arguments, "--check-config"], capture_output=True, text=True,
                         timeout=20)
    return run.returncode, run.stdout + run.stderr


class Configuration(unittest.TestCase):
    def test_valid_configuration_is_accepted(self):
        """Goal: all options of the help are accepted. Method: each option in each notation."""
        for arguments in (
            ["--data", "/tmp/x"],
            ["--data=/tmp/x", "--listen=[::1]:0"],
            ["--data", "/tmp/x", "--listen", "localhost:7443", "--log-level", "debug"],
            ["--data", "/tmp/x", "--log-format=json", "--map-size", "64MiB"],
            ["--data", "/tmp/x", "--message-bytes-max=1048576", "--connections-max=1"],
            ["--data", "/tmp/x", "--journal-segment-size", "64KiB"],
            ["--data", "/tmp/x", "--journal-segment-size=256MiB"],
            ["--data", "/tmp/x", "--drain-timeout", "500ms", "--path-prefix", "/v1/errata"],
            ["--data", "/tmp/x", "--metrics-listen", "0.0.0.0:9464"],
            ["--data", "/tmp/x", "--listen", "0.0.0.0:1", "--insecure-allow-remote"],
            ["--data", "/tmp/x", "--redis", "redis_1.example.com:6379"],
            ["--data", "/tmp/x", "--redis=[::1]:6379", "--redis-group", "g"],
            ["--data", "/tmp/x", "--redis", "/run/redis.sock"],
        ):
            with self.subTest(arguments=arguments):
                self.assertEqual(check(*arguments)[0], 0)

    def test_invalid_configuration_is_refused(self):
        """Goal: each wrong option is refused with a sentence that states the expected form. Method: one wrong option after another."""
        for arguments, said in (
            ([], "--data: missing"),
            (["--data"], "no value"),
            (["--data", ""], "invalid value '' for data"),
            (["--dta", "x"], "unknown option '--dta'"),
            (["--dat"], "unknown option '--dat'"),
            (["data"], "unexpected argument 'data'"),
            (["--data", "x", "--listen", "127.0.0.1"], "ADDRESS:PORT"),
            (["--data", "x", "--listen", "127.0.0.1:65536"], "ADDRESS:PORT"),
            (["--data", "x", "--listen", "127.0.0.1:-1"], "ADDRESS:PORT"),
            (["--data", "x", "--listen", "::1:80"], "ADDRESS:PORT"),
            (["--data", "x", "--listen", "example.org:80"], "ADDRESS:PORT"),
            (["--data", "x", "--listen", "0.0.0.0:80"], "--insecure-allow-remote"),
            (["--data", "x", "--listen", "[::]:80"], "is reachable from other hosts"),
            (["--data", "x", "--metrics-listen", "9464"], "ADDRESS:PORT"),
            (["--data", "x", "--redis", "redis.example.com"], "HOST:PORT"),
            (["--data", "x", "--redis", "redis.example.com:0"], "HOST:PORT"),
            (["--data", "x", "--redis", "redis.example.com:65536"], "HOST:PORT"),
            (["--data", "x", "--redis", ":6379"], "HOST:PORT"),
            (["--data", "x", "--redis", "[]:6379"], "HOST:PORT"),
            (["--data", "x", "--redis", "[redis]:6379"], "HOST:PORT"),
            (["--data", "x", "--redis", "[::1:6379"], "HOST:PORT"),
            (["--data", "x", "--redis", "::1:6379"], "HOST:PORT"),
            (["--data", "x", "--redis", "redis example:6379"], "HOST:PORT"),
            (["--data", "x", "--redis", "redis://a:6379"], "HOST:PORT"),
            (["--data", "x", "--redis-stream", ""], "the key of a stream"),
            (["--data", "x", "--map-size", "1"], "16MiB to 512GiB"),
            (["--data", "x", "--map-size", "1TB"], "16MiB to 512GiB"),
            (["--data", "x", "--map-size", "99999999999999999999GiB"], "16MiB to 512GiB"),
            (["--data", "x", "--journal-segment-size", "63KiB"], "64KiB to 256MiB"),
            (["--data", "x", "--journal-segment-size", "257MiB"], "64KiB to 256MiB"),
            (["--data", "x", "--drain-timeout", "30"], "30s or 2m"),
            (["--data", "x", "--connections-max", "0"], "1 to 100000"),
            (["--data", "x", "--cors-origin", "*"], "https://app.example.com"),
            (["--data", "x", "--cors-origin", "https://a.example/"], "https://app.example.com"),
            (["--data", "x", "--cors-origin", "https://A.example"], "https://app.example.com"),
            (["--data", "x"] + ["--cors-origin", "https://a.example"] * 33, "https://app.example.com"),
            (["--data", "x", "--log-level", "loud"], "error, warning, info or debug"),
            (["--data", "x", "--path-prefix", "errata"], "path-prefix: invalid value 'errata'"),
            (["--data", "x", "--path-prefix", "/errata/"], "without a / at its end"),
            (["--data", "x", "--path-prefix", "/"], "path-prefix: invalid value '/'"),
            (["--data", "x", "--path-prefix", "/a/../b"], "path-prefix: invalid"),
            (["--data", "x", "--path-prefix", "/a b"], "path-prefix: invalid"),
            (["--data", "x", "--config", "/nonexistent/file"], "cannot read the file"),
        ):
            with self.subTest(arguments=arguments):
                status, text = check(*arguments)
                self.assertEqual(status, 2)
                self.assertIn(said, text)

    def file(self, text):
        handle = tempfile.NamedTemporaryFile("w", suffix=".conf")
        self.addCleanup(handle.close)
        handle.write(text)
        handle.flush()
        return handle.name

    def test_file_and_variables_have_their_precedence(self):
        """Goal: the file accepts the flags' names, a flag has precedence, and an error names its line. Method: valid
        and invalid files."""
        right = "# where\ndata = /tmp/x\n\n  listen=0.0.0.0:80  \nlog-level = debug\n"
        self.assertEqual(check("--config", self.file(right))[0], 2)
        self.assertEqual(check("--config", self.file(right), "--listen", "127.0.0.1:80")[0], 0)
        self.assertEqual(
            check("--config", self.file(right + "insecure-allow-remote = true\n"))[0], 0)
        for text, said in (("data = /tmp/x\nnope = 1\n", "line 2 of the file: unknown option"),
                           ("data\n", "line 1 of the file: 'data' is malformed; expected `name = value`"),
                           ("\n\nlog-level = loud\n", "line 3 of the file: invalid value 'loud'"),
                           ("#" * 70000, "too large")):
            with self.subTest(text=text[:40]):
                status, reported = check("--config", self.file(text))
                self.assertEqual(status, 2)
                self.assertIn(said, reported)

    def test_help_names_every_option(self):
        """Goal: help names every option, and needs no data folder. Method: its text."""
        run = subprocess.run([BIN, "--help"], capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 0)
        for name in ("data", "listen", "config", "check-config", "log-level", "log-format",
                     "map-size", "journal-segment-size", "message-bytes-max", "connections-max",
                     "connections-per-address", "cors-origin", "drain-timeout",
                     "insecure-allow-remote"):
            self.assertIn(f"--{name}", run.stdout)
        self.assertIn("Examples:", run.stdout)
        run = subprocess.run([BIN, "--version"], capture_output=True, text=True, timeout=20)
        self.assertRegex(run.stdout, r"^erratad \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
