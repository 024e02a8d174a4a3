#!/usr/bin/python3
"""The C client library while the server, or the program that uses it, is killed and restarted.

Goal: no call is lost or executed twice; no call fails because of a graceful shutdown. Method:
bin/client_driver has captures under way, against erratad on one port and one folder.
"""
import os
import socket
import subprocess
import tempfile
import time
import unittest

import erratad
from client_driver import OK, Driver, Proxy, capture_call, run, stored_names
from erratad import BIN, Server, main

CALLS = 2000 # more than can be completed before the kill
AT_ONCE = 32
PATIENCE_MS = 60000 # time limit of a call, which allows for a busy disk


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Restart(unittest.TestCase):
    def setUp(self):
        self.server = Server(arguments=["--listen", f"127.0.0.1:{free_port()}"]).start()

    def tearDown(self):
        self.server.close()

    def drive(self, calls, address=None, **options):
        return Driver(address or self.server.address, self.server.admin_token, calls,
                      at_once=AT_ONCE, timeout_ms=PATIENCE_MS, **options)

    def expect_all(self, outcomes, names):
        """Every call ended with OK, and each event is stored once."""
        self.assertEqual([o for o in outcomes if o.code != OK], [])
        self.assertEqual([o.number for o in outcomes], list(range(len(names))))
        client = self.server.client()
        self.assertEqual(sorted(stored_names(client)), sorted(names))
        client.close()

    def test_rotated_token_loses_no_call(self):
        """A new token in the file and the old one revoked: calls in progress and later ones continue."""
        names = [f"e{n}" for n in range(CALLS)]
        client = self.server.client()
        old = client.create_token(erratad.roles.ROLE_ADMIN)
        with tempfile.NamedTemporaryFile("w", suffix=".token") as file:
            file.write(old.secret + "\n")
            file.flush()
            driver = Driver(self.server.address, old.secret, [capture_call(name) for name in names],
                            at_once=AT_ONCE, timeout_ms=PATIENCE_MS, token_file=file.name)
            driver.wait_for(CALLS // 8)
            new = client.create_token(erratad.roles.ROLE_ADMIN)
            file.seek(0)
            file.truncate()
            file.write(new.secret + "\n")
            file.flush()
            client.admin.RevokeToken(erratad.admin.RevokeTokenRequest(key_id=old.token.key_id))
            outcomes = driver.wait()
        client.close()
        self.expect_all(outcomes, names)
        self.assertIn(max(o.attempts for o in outcomes), (1, 2))
        self.assertTrue(any(o.attempts == 2 for o in outcomes))
        self.assertEqual(driver.statistics["connections"], 1)

    def test_calls_survive_two_kills(self):
        """Kills with SIGKILL during writes, with keys of the library and of the caller."""
        names = [f"e{n}" for n in range(CALLS)]
        driver = self.drive([capture_call(name, f"key-{name}" if n % 2 else "-")
                             for n, name in enumerate(names)],
                            wait_for_ready=1, backoff_ms=20, backoff_max_ms=200)
        for ended in (CALLS // 8, CALLS // 3):
            driver.wait_for(ended)
            self.server.kill9()
            self.server.start()
        outcomes = driver.wait()
        self.expect_all(outcomes, names)
        self.assertTrue(any(o.attempts > 1 for o in outcomes))
        self.assertTrue(all(o.key == f"key-e{o.number}" for o in outcomes if o.number % 2))
        self.assertEqual(len({o.key for o in outcomes}), CALLS)
        self.assertEqual(driver.statistics["lost"], 2)

    def test_calls_survive_a_graceful_restart(self):
        """Ends with SIGTERM: the default retries hide the restart."""
        names = [f"e{n}" for n in range(CALLS)]
        driver = self.drive([capture_call(name) for name in names])
        driver.wait_for(CALLS // 8)
        self.assertEqual(self.server.stop(), 0)
        self.server.start()
        outcomes = driver.wait()
        self.expect_all(outcomes, names)
        self.assertEqual(driver.statistics["connections"], 2)

    def test_lost_answer_stores_nothing_twice(self):
        """The event is stored, its answer does not arrive: the repeat stores nothing."""
        with Proxy(self.server.address) as proxy:
            proxy.cuts = 2
            outcomes, statistics = run(proxy.address, self.server.admin_token,
                                       [capture_call("e0"), capture_call("e1", "mine")],
                                       backoff_ms=5)
            self.expect_all(outcomes, ["e0", "e1"])
            self.assertEqual([o.attempts for o in outcomes], [3, 1])
            self.assertEqual(outcomes[1].key, "mine")
            self.assertEqual(statistics["lost"], 2)

    def test_killed_program_stores_nothing_twice(self):
        """A program that stores the keys with its work may repeat all of it."""
        names = [f"e{n}" for n in range(CALLS)]
        calls = [capture_call(name, f"work-{name}") for name in names]
        driver = self.drive(calls)
        driver.wait_for(CALLS // 8)
        driver.kill()
        self.assertLess(len(driver.outcomes), CALLS)
        self.expect_all(self.drive(calls).wait(), names)

    def test_command_waits_for_a_restart(self):
        """`errata` reaches a server that starts meanwhile, and soon reports an error if there is none."""
        port = free_port()
        command = [os.path.join(BIN, "errata"), "--server", f"127.0.0.1:{port}", "--token-file",
                   os.path.join(self.server.data, "admin.token"), "events", "list"]
        began = time.monotonic()
        refused = subprocess.run(command, capture_output=True, text=True, timeout=20)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("connection refused", refused.stderr)
        self.assertLess(time.monotonic() - began, 5)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            time.sleep(0.3)
            with Proxy(self.server.address, port):
                self.assertEqual(process.wait(20), 0)


if __name__ == "__main__":
    main()
