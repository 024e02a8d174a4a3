#!/usr/bin/python3
"""All kinds of attacks in short, against one server under the sanitizers.

Goal: a flood gets ENHANCE_YOUR_CALM with its reason, a broken rule gets its error, others are
served all the time, and memory stays bounded. Method: each kind from a separate address, until
each of its connections was closed, or for a second; beside them a client of another
organisation, all of whose calls must succeed. Speed depends on the machine, and is not checked
(tools/floods does).
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import kinds  # noqa: E402
from erratad import BIN, Server, feedback, main, roles, rss_kb  # noqa: E402

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
ATTACKER = os.path.join(BIN, "attacker")
CONNECTIONS = 2
AT_ONCE = 6
PATIENCE_SECONDS = 20  # time limit of short operations on a busy machine
RSS_MB = 700  # limit for all kinds together, including the sanitizer's memory


class Victim(threading.Thread):
    """Captures corrections and requests examples in turn, until stopped."""

    def __init__(self, client):
        super().__init__()
        self.client = client
        self.stop = threading.Event()
        self.calls = 0
        self.failure = None

    def run(self):
        while not self.stop.is_set() and self.failure is None:
            try:
                self.client.capture(event_type=LINE, entity_type="line", entity_id="1",
                                    layout_fingerprint="beside-floods", after_json='{"a": 1}')
                if not self.client.examples("beside-floods").examples:
                    self.failure = "no examples"
                self.calls += 2
            except Exception as e:  # the test reports any error
                self.failure = e


class Floods(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = os.environ.get("ASAN_OPTIONS", "")
        cls.server = Server(environment={
            "ASAN_OPTIONS": f"{options}:quarantine_size_mb=16"}).start()
        cls.token = os.path.join(cls.server.data, "admin.token")
        with_server = cls.server.client()
        org = with_server.create_org("victim")
        own = with_server.create_token(roles.ROLE_SERVICE, org_id=org.id)
        with_server.close()
        cls.victim = Victim(cls.server.client(own.secret))
        cls.victim.start()

    @classmethod
    def tearDownClass(cls):
        cls.victim.stop.set()
        cls.victim.join()
        cls.victim.client.close()
        code = cls.server.stop()
        log = cls.server.read_log()
        cls.server.close()
        assert code == 0, f"erratad ended with {code}: {log[-6000:]}"
        for alarm in ("unexpected", "Sanitizer", "runtime error"):
            assert alarm not in log, f"the log has '{alarm}': {log[-4000:]}"

    def attack(self, kind, number, seconds, *arguments):
        """Runs an attack and returns its report; `number` selects its address."""
        command = [ATTACKER, kind.name, "--server", self.server.address, "--from",
                   f"127.0.1.{number}", "--seconds", str(seconds), *kind.arguments, *arguments]
        if kind.token:
            command += ["--token-file", self.token]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60,
                              check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    def check(self, kind, report, enough=1):
        self.assertEqual(kinds.problems(kind, report, enough), [], (kind.name, report))
        self.assertIsNone(self.victim.failure, kind.name)

    def start(self, pool, table, first, seconds, *arguments):
        return [(kind, pool.submit(self.attack, kind, first + i, seconds, *arguments))
                for i, kind in enumerate(table)]

    def finish(self, runs, enough=1):
        for kind, run in runs:
            with self.subTest(kind.name):
                self.check(kind, run.result(), enough)

    def test_each_attack_is_answered_and_others_are_served(self):
        few = ["--connections", str(CONNECTIONS)]
        calls = self.victim.calls
        with concurrent.futures.ThreadPoolExecutor(len(kinds.SLOW)) as later, \
                concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            slow = self.start(later, kinds.SLOW, 1, PATIENCE_SECONDS, *few, "--until-reported")
            self.finish(self.start(pool, kinds.REPORTED, 20, PATIENCE_SECONDS, *few, "--until-reported"),
                        CONNECTIONS)
            self.finish(self.start(pool, kinds.SERVED, 100, 1, *few))
            self.finish(self.start(pool, kinds.IDLE, 200, 1, "--connections", "1000"))
            self.finish(slow, CONNECTIONS)
        self.assertIsNone(self.victim.failure)
        self.assertGreater(self.victim.calls, calls)
        self.assertLess(rss_kb(self.server.process.pid), RSS_MB * 1024)


if __name__ == "__main__":
    main()
