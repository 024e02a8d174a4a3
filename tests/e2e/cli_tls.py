#!/usr/bin/python3
"""The command line over TLS.

Goal: commands work with TLS like without, servers with a wrong identity get no token, contexts store the settings
of TLS, and each failure states its reason. Method: a real server with certificates made by openssl.
"""
import json
import os
import unittest

from certificates import Authority
from erratad import Server, main
from errata_cli import CliCase


class CliTls(CliCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()  # a server without TLS
        cls.ca = Authority(str(cls.folder))
        Authority(str(cls.folder), "other")
        cert, key = cls.ca.sign("server")
        cls.ca.sign("client", "DNS:client")
        cls.safe = Server(arguments=["--tls-cert", cert, "--tls-key", key]).start()
        cls.strict = Server(arguments=["--tls-cert", cert, "--tls-key", key, "--tls-client-ca",
                                       cls.ca.path]).start()
        for server, name in ((cls.safe, "safe"), (cls.strict, "strict")):
            (cls.folder / f"{name}.token").write_text(server.admin_token + "\n")

    @classmethod
    def tearDownClass(cls):
        for server in (cls.safe, cls.strict):
            code, log = server.stop(), server.read_log()
            server.close()
            assert code == 0, log[-4000:]
        super().tearDownClass()

    def at(self, server, host="localhost", **changes):
        name = "safe" if server is self.safe else "strict"
        return self.environment(ERRATA_SERVER=f"{host}:{server.address.rsplit(':', 1)[1]}",
                                ERRATA_TOKEN_FILE=str(self.folder / f"{name}.token"), **changes)

    def test_calls_streams_and_large_messages_pass(self):
        home = self.at(self.safe)
        out, _ = self.run_cli("health", "--ca", "ca.pem", environment=home)
        self.assertIn("SERVING", out.upper())
        for host in ("localhost", "127.0.0.1"):
            self.run_cli("admin", "info", "--ca", "ca.pem", environment=self.at(self.safe, host))
        events = [{"eventType": "CUSTOMER_SELECTED", "actorUserId": "ada", "layoutFingerprint": "tls",
                   "createdAt": f"2026-01-01T00:00:{number % 60:02}Z",
                   "afterJson": json.dumps({"note": f"{number} " + "word " * 300})} for number in range(100)]
        self.run_cli("call", "errata.v1.FeedbackService/BatchCaptureFeedbackEvents", "-", "--ca", "ca.pem",
                     stdin=json.dumps({"events": events}), environment=home)
        out, _ = self.run_cli("corrections", "list", "--json", "--all", "--ca", "ca.pem", environment=home)
        self.assertGreater(len(out), 50_000)
        out, _ = self.run_cli("admin", "verify", "--ca", "ca.pem", environment=home)
        self.run_cli("admin", "backup", "safe.backup", "--ca", "ca.pem", environment=home)
        self.assertGreater(os.path.getsize(self.folder / "safe.backup"), 100_000)

    def test_environment_selects_tls(self):
        self.run_cli("health", environment=self.at(self.safe, ERRATA_CA=str(self.folder / "ca.pem")))
        _, said = self.run_cli("health", code=3, environment=self.at(self.safe, ERRATA_TLS="true"))
        self.assertIn("certificate", said)

    def refused(self, words, *arguments, environment, code=3):
        _, said = self.run_cli("admin", "info", *arguments, code=code, environment=environment)
        self.assertIn(words, said)

    def test_other_servers_are_refused_with_the_reason(self):
        home = self.at(self.safe)
        self.refused("TLS: unable to get local issuer certificate", "--tls", environment=home)
        self.refused("TLS: unable to get local issuer certificate", "--ca", "other.pem", environment=home)
        self.refused("TLS: wrong version number", "--ca", "ca.pem", environment=self.here())
        self.refused("bytes are not HTTP/2", environment=home)

    def test_client_certificates_are_sent_or_refused(self):
        home = self.at(self.strict)
        identity = ("--ca", "ca.pem", "--client-cert", "client.pem", "--client-key", "client.key")
        self.run_cli("admin", "info", *identity, environment=home)
        self.refused("certificate required", "--ca", "ca.pem", environment=home)
        self.refused("--client-key: missing", *identity[:4], environment=home, code=2)
        self.refused("key values mismatch", *identity[:5], "server.key", environment=home, code=4)
        self.refused("/nonexistent: cannot be read", "--ca", "/nonexistent", environment=home, code=4)

    def test_contexts_keep_tls(self):
        alone = self.environment()
        server = f"localhost:{self.strict.address.rsplit(':', 1)[1]}"
        self.run_cli("context", "add", "strict", "--server", server, "--token-file", "strict.token", "--ca",
                     "ca.pem", "--client-cert", "client.pem", "--client-key", "client.key", "--use",
                     environment=alone)
        self.run_cli("admin", "info", environment=alone)
        out, _ = self.run_cli("context", "show", environment=alone)
        self.assertIn(f"authorities: {os.path.realpath(self.folder / 'ca.pem')}", out)
        self.assertIn("client certificate", out)
        out, _ = self.run_cli("context", "show", "--json", environment=alone)
        self.assertTrue(json.loads(out)["tls"])
        self.run_cli("context", "add", "strict", "--replace", "--token-file", "strict.token",
                     environment=alone)
        self.run_cli("admin", "info", environment=alone)  # TLS is kept
        _, said = self.run_cli("context", "add", "bad", "--server", server, "--ca", "/nonexistent", code=4,
                               environment=alone)
        self.assertIn("/nonexistent", said)
        self.run_cli("context", "remove", "strict", environment=alone)


if __name__ == "__main__":
    main()
