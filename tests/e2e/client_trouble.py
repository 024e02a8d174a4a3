#!/usr/bin/python3
"""The C client library with faulty networks and servers.

Goal: each call ends once, in time, with a precise result; repeatable calls are repeated, with
back-off. Method: bin/client_driver against erratad through a proxy that stops, delays, splits and
cuts traffic, and against ports without an Errata server.
"""
import random
import time
import unittest

from client_driver import (DEADLINE_EXCEEDED, OK, UNAVAILABLE, Driver, Peer, Proxy, capture_call,
                           lookup_call, run)
from erratad import ServerCase, main, wait_until

KEEPALIVE = {"keepalive_ms": 250, "keepalive_timeout_ms": 250}
# Time from the start of a silence to the end of the connection: both timeouts, the margin, and time for a busy machine.
KEEPALIVE_MS = 500 + 20 + 1500


class Network(ServerCase):
    """A real server, through a proxy."""

    def setUp(self):
        self.proxy = Proxy(self.server.address)
        self.admin.capture(event_type="FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED",
                           layout_fingerprint="driver", after_json='{"qty":1}')

    def tearDown(self):
        self.proxy.close()

    def run_calls(self, calls, **options):
        return run(self.proxy.address, self.server.admin_token, calls, **options)

    def test_half_open_connection_is_detected(self):
        """The connection becomes silent without an end: calls continue on another connection."""
        driver = Driver(self.proxy.address, self.server.admin_token, [lookup_call()] * 200,
                        at_once=4, pause_ms=10, backoff_ms=5, **KEEPALIVE)
        driver.wait_for(50)
        self.proxy.freeze()
        outcomes = driver.wait()
        self.assertEqual({o.code for o in outcomes}, {OK})
        repeated = [o for o in outcomes if o.attempts > 1]
        self.assertIn(len(repeated), range(1, 5)) # calls that were running at that moment
        for outcome in repeated:
            self.assertGreaterEqual(outcome.ms, 450)
            self.assertLess(outcome.ms, KEEPALIVE_MS)
        self.assertEqual(driver.statistics["lost"], 1)

    def test_single_attempt_on_a_half_open_connection_is_unavailable(self):
        """With a single attempt, a call that may have been processed ends as UNAVAILABLE, with the reason."""
        driver = Driver(self.proxy.address, self.server.admin_token, [capture_call("x")] * 100,
                        attempts=1, pause_ms=10, **KEEPALIVE)
        driver.wait_for(20)
        self.proxy.freeze()
        failed = [o for o in driver.wait() if o.code != OK]
        self.assertEqual([(o.code, o.attempts, o.from_server, o.unseen) for o in failed],
                         [(UNAVAILABLE, 1, False, False)])
        self.assertIn("does not answer", failed[0].message)
        self.assertLess(failed[0].ms, KEEPALIVE_MS)

    def test_blocked_network_ends_calls_at_their_deadline(self):
        """New connections are silent too: a call ends at its deadline, or after its last attempt."""
        self.proxy.freezes_all = True
        outcomes, _ = self.run_calls([lookup_call()], timeout_ms=400)
        self.assertEqual(outcomes[0].code, DEADLINE_EXCEEDED)
        self.assertLess(outcomes[0].ms, 1400)
        outcomes, statistics = self.run_calls([lookup_call()], connect_timeout_ms=100, attempts=3,
                                              backoff_ms=20)
        self.assertEqual(outcomes[0].code, UNAVAILABLE)
        self.assertTrue(outcomes[0].unseen)
        self.assertIn("accepted the connection but sent no HTTP/2 settings", outcomes[0].message)
        self.assertEqual(statistics["failures"], 3)
        self.assertEqual(statistics["attempts"], 0)

    def test_answer_after_the_deadline_is_ignored(self):
        """A deadline is kept, and an answer after it has no effect."""
        driver = Driver(self.proxy.address, self.server.admin_token, [lookup_call()] * 100,
                        timeout_ms=300, pause_ms=10)
        driver.wait_for(20)
        self.proxy.delay_s = 0.5
        wait_until(lambda: driver.outcomes[-1].code == DEADLINE_EXCEEDED, "a late answer")
        self.proxy.delay_s = 0
        outcomes = driver.wait()
        late = [o for o in outcomes if o.code == DEADLINE_EXCEEDED]
        for outcome in late:
            self.assertFalse(outcome.from_server)
            self.assertTrue(290 <= outcome.ms < 1300, outcome)
        self.assertEqual({o.code for o in outcomes[-3:]}, {OK})
        self.assertEqual(driver.statistics["connections"], 1)

    def test_answers_byte_by_byte_are_read(self):
        self.proxy.dribble = True
        outcomes, _ = self.run_calls([lookup_call()] * 3, timeout_ms=9000)
        self.assertEqual([(o.code, o.replies) for o in outcomes], [(OK, 1)] * 3)

    def test_reset_in_an_answer_is_repeated(self):
        """A call that reads is repeated, and has one reply; one that may not be repeated ends."""
        self.proxy.cuts = 2
        outcomes, statistics = self.run_calls([lookup_call()], backoff_ms=5)
        self.assertEqual([(o.code, o.attempts, o.replies) for o in outcomes], [(OK, 3, 1)])
        self.assertEqual(statistics["lost"], 2)
        self.proxy.cuts = 1
        outcomes, _ = self.run_calls([lookup_call()], attempts=1)
        self.assertEqual([(o.code, o.replies, o.unseen) for o in outcomes],
                         [(UNAVAILABLE, 0, False)])


def hang_up(connection):
    connection.close()


def say_nothing(connection):
    while connection.recv(65536):
        pass


def speak_http1(connection):
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
    say_nothing(connection)


def babble(connection):
    connection.sendall(random.Random(7).randbytes(4096))
    say_nothing(connection)


class NoServer(unittest.TestCase):
    """Ports with a listener that is not a server."""

    def test_each_call_ends_with_the_reason(self):
        for serve, reason in ((hang_up, "lost the connection"), (speak_http1, "not HTTP/2"),
                              (babble, "not HTTP/2"), (say_nothing, "accepted the connection but sent no HTTP/2 settings")):
            with self.subTest(serve.__name__), Peer(serve) as peer:
                outcomes, statistics = run(peer.address, "token", [capture_call("x")] * 2,
                                           attempts=3, backoff_ms=10, connect_timeout_ms=150)
                for outcome in outcomes:
                    self.assertEqual((outcome.code, outcome.from_server, outcome.unseen),
                                     (UNAVAILABLE, False, True), outcome)
                    self.assertIn(reason, outcome.message)
                self.assertEqual(statistics["failures"], len(peer.times))
                self.assertEqual(statistics["attempts"], 0)

    def test_connection_attempts_back_off(self):
        """A client waits increasingly long between attempts to connect to a server that closes each connection."""
        with Peer(hang_up) as peer:
            began = time.monotonic()
            outcomes, _ = run(peer.address, "token", [lookup_call()] * 20, at_once=20,
                              wait_for_ready=1, timeout_ms=2500, backoff_ms=50, backoff_max_ms=800)
            self.assertEqual({o.code for o in outcomes}, {DEADLINE_EXCEEDED})
            self.assertLess(time.monotonic() - began, 4.5)
            # Waits of 50, 80, 128, 205, 328, 524, 800 and 800 ms, each a fifth shorter or longer.
            self.assertTrue(5 <= len(peer.times) <= 10, len(peer.times))
            waits = [later - earlier for earlier, later in zip(peer.times, peer.times[1:])]
            self.assertGreater(waits[4], waits[0] * 2)


if __name__ == "__main__":
    main()
