#!/usr/bin/python3
"""Administration of the whole server: the last ADMIN token with the server flag, and a new one offline.

Goal: a server always has a token that can administer it, or warns early that it will have none; a lost
token is replaced without a loss of data. Method: real servers, the command line, health and the log.
"""
import datetime
import json
import os
import re
import stat
import subprocess
import time
import unittest

import grpc

from erratad import (BIN, Server, admin, event_service, feedback, feedback_service, health_pb2,
                     main, roles, wait_until)

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
DAY_SECONDS = 86400
SECONDS = 60


def key_id_of(token):
    return token.split("_", 2)[1]


def erratad(*arguments):
    return subprocess.run([os.path.join(BIN, "erratad"), *arguments], capture_output=True,
                          text=True, timeout=SECONDS)


def errata(server, *words, token=None):
    return subprocess.run(
        [os.path.join(BIN, "errata"), *words, "--server", server.address, "--token-file",
         token or os.path.join(server.data, "admin.token")], capture_output=True, text=True,
        timeout=SECONDS, env={**os.environ, "HOME": server.data})


class LastToken(unittest.TestCase):
    def setUp(self):
        self.server = Server().start()
        self.addCleanup(self.server.close)
        self.client = self.server.client()
        self.addCleanup(self.client.close)

    def health(self):
        return self.client.health.Check(
            health_pb2.HealthCheckRequest(service="errata.admin")).status

    def wait_for_health(self, status):
        wait_until(lambda: self.health() == status, "the health of errata.admin", SECONDS)

    def server_token(self, days):
        """An ADMIN token with the flag that expires in this many days; None: never."""
        end = None if days is None else int((time.time() + days * DAY_SECONDS) * 1e6)
        return self.client.create_token(roles.ROLE_ADMIN, server=True, expire_us=end).secret

    def use(self, token):
        self.client.close()
        self.client = self.server.client(token)

    def revoke(self, token):
        self.client.admin.RevokeToken(admin.RevokeTokenRequest(key_id=key_id_of(token)))

    def test_last_token_can_not_be_revoked(self):
        first = self.server.admin_token
        done = errata(self.server, "token", "revoke", key_id_of(first))
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("FAILED_PRECONDITION", done.stderr)
        self.assertIn("last usable ADMIN token with the server flag", done.stderr)
        self.assertIn("expected another such token", done.stderr)
        second = self.server_token(None)
        self.use(second)
        self.revoke(first)
        with self.assertRaises(grpc.RpcError) as end:
            self.revoke(second)
        self.assertEqual(end.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)

    def test_last_token_that_ends_soon_is_a_warning(self):
        """Health warns 14 days before the end; a token that ends later, or never, ends the warning."""
        self.wait_for_health(SERVING)
        first = self.server.admin_token
        self.use(self.server_token(15))
        later = self.server_token(13)
        self.revoke(first)
        time.sleep(0.6)  # longer than the interval of the server's check
        self.assertEqual(self.health(), SERVING)
        fifteen = self.client.metadata[0][1].removeprefix("Bearer ")
        self.use(later)
        self.revoke(fifteen)
        self.wait_for_health(NOT_SERVING)
        line = wait_until(lambda: re.search(r".*warning.*errata token create.*",
                                            self.server.read_log()), "a line in the log", SECONDS)
        self.assertIn(key_id_of(later), line.group())
        self.assertIn("--new-admin-token", line.group())
        shown = errata(self.server, "health")
        self.assertEqual(shown.returncode, 0, shown)  # the server is ready
        self.assertRegex(shown.stdout, r"errata\.admin +NOT_SERVING +warning")
        self.assertEqual(errata(self.server, "health", "errata.admin").returncode, 1)
        self.server_token(None)
        self.wait_for_health(SERVING)
        self.assertEqual(errata(self.server, "health", "errata.admin").returncode, 0)

    def test_expired_last_token_is_a_warning(self):
        """The warning also exists right after the start."""
        plain = self.client.create_token(roles.ROLE_ADMIN).secret
        for seconds in (2, 10, 40):  # increasing times, so that a busy machine can revoke the token in time
            made = time.monotonic()
            self.server_token(seconds / DAY_SECONDS)
            try:
                self.server.client(plain).admin.RevokeToken(
                    admin.RevokeTokenRequest(key_id=key_id_of(self.server.admin_token)))
                break
            except grpc.RpcError as e:
                self.assertEqual(e.code(), grpc.StatusCode.FAILED_PRECONDITION)
        self.assertEqual(self.server.stop(), 0)
        time.sleep(max(0.0, made + seconds - time.monotonic()) + 0.5)
        self.server.start()
        self.use("")
        self.wait_for_health(NOT_SERVING)
        wait_until(lambda: "no usable ADMIN token with the server flag" in self.server.read_log(),
                   "a line in the log", SECONDS)


class ExpiringTokens(unittest.TestCase):
    """Tokens that end within 14 days: health, log and metrics."""

    def setUp(self):
        self.server = Server().start()
        self.addCleanup(self.server.close)
        self.client = self.server.client()
        self.addCleanup(self.client.close)

    def health(self):
        return self.client.health.Check(health_pb2.HealthCheckRequest(service="errata.tokens")).status

    def counters(self):
        return {one.name: one.value for one in self.client.admin.GetServerInfo(admin.GetServerInfoRequest()).counters}

    def test_token_is_warned_of_when_its_last_14_days_begin_and_until_it_is_replaced(self):
        """No token changes at that time; one that was made for 13 days is not warned of."""
        now = time.time()
        self.client.create_token(roles.ROLE_VIEWER, expire_us=int((now + 13 * DAY_SECONDS) * 1e6))
        end = int(now + 14 * DAY_SECONDS) + 4
        secret = self.client.create_token(roles.ROLE_VIEWER, expire_us=end * 1000000).secret
        if time.time() < now + 2:  # otherwise the machine is too busy to observe the time before
            self.assertEqual(self.health(), SERVING)
            self.assertEqual(self.counters()["tokens_expiring"], 0)
        wait_until(lambda: self.health() == NOT_SERVING, "the warning", SECONDS)
        counters = self.counters()
        self.assertEqual((counters["tokens_expiring"], counters["tokens_first_expires_at_s"]), (1, end))
        line = wait_until(lambda: re.search(r".*tokens that expire within 14 days: 1,.*", self.server.read_log()),
                          "a line in the log", SECONDS)
        self.assertIn(f"errata token rotate {key_id_of(secret)}", line.group())
        shown = errata(self.server, "health")
        self.assertEqual(shown.returncode, 0, shown)  # the server is ready
        self.assertRegex(shown.stdout, r"errata\.tokens +NOT_SERVING +warning")
        self.assertEqual(errata(self.server, "health", "errata.tokens").returncode, 1)
        done = errata(self.server, "token", "rotate", key_id_of(secret))
        self.assertEqual(done.returncode, 0, done)
        wait_until(lambda: self.health() == SERVING, "the end of the warning", SECONDS)
        counters = self.counters()
        self.assertEqual((counters["tokens_expiring"], counters["tokens_first_expires_at_s"]), (0, 0))


class LastUse(unittest.TestCase):
    """ListTokens and `errata token list` have the day on which a token was last used."""

    def setUp(self):
        self.server = Server().start()
        self.addCleanup(self.server.close)
        self.client = self.server.client()
        self.addCleanup(self.client.close)

    def days(self, client=None):
        """The last days of all tokens, by key id."""
        tokens = (client or self.client).admin.ListTokens(admin.ListTokensRequest()).tokens
        return {token.key_id: token.last_used_at.ToDatetime() if token.HasField("last_used_at") else None for token in tokens}

    def test_day_of_use_is_kept(self):
        used = self.client.create_token(roles.ROLE_ADMIN)
        unused = self.client.create_token(roles.ROLE_VIEWER).token.key_id
        client = self.server.client(used.secret)
        self.addCleanup(client.close)
        today = datetime.datetime.now(datetime.timezone.utc).date()
        client.admin.ListTokens(admin.ListTokensRequest())
        wait_until(lambda: self.days()[used.token.key_id], "the day", SECONDS)
        day = self.days()[used.token.key_id]
        self.assertIn(day.date() - today, (datetime.timedelta(0), datetime.timedelta(days=1)))  # midnight may have passed
        self.assertEqual(day.time(), datetime.time(0))
        self.assertIsNone(self.days()[unused])
        shown = errata(self.server, "token", "list", "--all").stdout
        self.assertIn("LAST USED", shown)
        self.assertIn(day.date().isoformat(), shown)
        self.server.kill9()
        self.server.start()
        self.assertEqual(self.days(self.server.client())[used.token.key_id], day)

    def test_same_day_is_written_once(self):
        wait_until(lambda: all(self.days().values()), "the day", SECONDS)
        before = self.server.counters(self.client)["commits_total"]
        for _ in range(3):
            self.days()
            time.sleep(1.1)  # the server looks once a second
        self.assertLessEqual(self.server.counters(self.client)["commits_total"] - before, 1)  # midnight may pass


class Rotation(unittest.TestCase):
    """`errata token rotate` and `errata admin audit`."""

    def setUp(self):
        self.server = Server().start()
        self.addCleanup(self.server.close)
        self.client = self.server.client()
        self.addCleanup(self.client.close)

    def works(self, token):
        client = self.server.client(token)
        self.addCleanup(client.close)
        try:
            client.admin.ListTokens(admin.ListTokensRequest())
            return True
        except grpc.RpcError as e:
            self.assertEqual(e.code(), grpc.StatusCode.UNAUTHENTICATED)
            return False

    def test_both_tokens_work_until_the_overlap_ends(self):
        old = self.client.create_token(roles.ROLE_ADMIN, user_id="ada").secret
        path = os.path.join(self.server.data, "new.token")
        done = errata(self.server, "token", "rotate", key_id_of(old), "--overlap", "3s", "--file", path)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("is valid until", done.stderr)
        with open(path, encoding="ascii") as f:
            new = f.read().strip()
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.assertTrue(self.works(new))
        wait_until(lambda: not self.works(old), "the end of the old token", SECONDS)
        self.assertTrue(self.works(new))
        again = errata(self.server, "token", "rotate", key_id_of(old))
        self.assertEqual(again.returncode, 1, again)
        self.assertIn("FAILED_PRECONDITION", again.stderr)
        now = errata(self.server, "token", "rotate", key_id_of(new), "--overlap", "0")
        self.assertEqual(now.returncode, 0, now)
        self.assertFalse(self.works(new))
        self.assertTrue(self.works(now.stdout.strip()))
        self.assertEqual(errata(self.server, "admin", "verify").returncode, 0)

    def test_audit_survives_and_names_who_changed_what(self):
        ada = self.client.create_token(roles.ROLE_ADMIN, user_id="ada").secret
        client = self.server.client(ada)
        self.addCleanup(client.close)
        client.update_settings(holdout_percent=5)
        for number in range(20):
            client.capture(event_type=LINE, layout_fingerprint="many", after_json='{"a":%d}' % number)
        done = errata(self.server, "admin", "audit", "--by", "ada", "--all", "--json")
        self.assertEqual(done.returncode, 0, done)
        events = [event for line in done.stdout.splitlines() for event in json.loads(line)["events"]]
        self.assertEqual([event["kind"] for event in events], ["EVENT_KIND_SETTINGS_UPDATED"])
        changed = events[0]["settingsUpdated"]
        self.assertEqual((changed["before"]["holdoutPercent"], changed["after"]["holdoutPercent"]), (0, 5))
        shown = errata(self.server, "admin", "audit")
        self.assertEqual(shown.returncode, 0, shown)
        for word in ("SETTINGS_UPDATED", "TOKEN_CREATED", "ORGANIZATION_CREATED", "ada"):
            self.assertIn(word, shown.stdout)
        self.assertNotIn("FEEDBACK", shown.stdout)
        for kind, count in (("settings_updated", 1), ("FEEDBACK", 0)):
            of_kind = errata(self.server, "admin", "audit", "--kind", kind, "--json")
            self.assertEqual(len(json.loads(of_kind.stdout).get("events", [])), count, of_kind)
        self.assertEqual(self.server.stop(), 0)
        self.assertEqual(erratad("--rebuild", "--data", self.server.data).returncode, 0)
        self.server.start()
        again = errata(self.server, "admin", "audit", "--by", "ada", "--all", "--json")
        self.assertEqual(again.stdout, done.stdout)

    def test_only_an_administrator_reads_the_audit(self):
        reviewer = self.client.create_token(roles.ROLE_REVIEWER, user_id="eva").secret
        client = self.server.client(reviewer)
        self.addCleanup(client.close)
        with self.assertRaises(grpc.RpcError) as end:
            client.admin.ListAudit(admin.ListAuditRequest())
        self.assertEqual(end.exception.code(), grpc.StatusCode.PERMISSION_DENIED)


class NewToken(unittest.TestCase):
    """`erratad --new-admin-token`, while no server runs."""

    def setUp(self):
        self.server = Server().start()
        self.addCleanup(self.server.close)

    def path(self, name="admin.token"):
        return os.path.join(self.server.data, name)

    def make(self, data=None):
        return erratad("--new-admin-token", "--data", data or self.server.data)

    def works(self, token):
        """Administers the server as a whole."""
        client = self.server.client(token)
        self.addCleanup(client.close)
        return client.create_org(f"by {key_id_of(token)}")

    def assert_whole(self):
        done = errata(self.server, "admin", "verify")
        self.assertEqual(done.returncode, 0, done)

    def test_lost_token_is_replaced(self):
        """The store has the same content and one more event, and passes verify and rebuild."""
        old = self.server.admin_token
        client = self.server.client()
        stored = client.capture(event_type=LINE, layout_fingerprint="kept", after_json='{"a":1}')
        client.close()
        self.assertEqual(self.server.stop(), 0)
        os.unlink(self.path())
        with open(self.path("admin.token.new"), "w", encoding="ascii") as f:
            f.write("of a run that was cut off")
        done = self.make()
        self.assertEqual(done.returncode, 0, done)
        new = self.server.admin_token
        self.assertNotEqual(key_id_of(new), key_id_of(old))
        self.assertIn(key_id_of(new), done.stdout)
        self.assertNotIn(new, done.stdout + done.stderr)
        self.assertEqual(stat.S_IMODE(os.stat(self.path()).st_mode), 0o600)
        self.assertFalse(os.path.exists(self.path("admin.token.new")))
        self.assertEqual(erratad("--rebuild", "--data", self.server.data).returncode, 0)
        self.server.start()
        self.works(new)
        self.works(old)  # until it is revoked
        client = self.server.client()
        self.addCleanup(client.close)
        kept = client.feedback.GetFeedbackEvent(
            feedback_service.GetFeedbackEventRequest(id=stored.id)).event
        self.assertEqual((kept.id, kept.after_json), (stored.id, stored.after_json))
        made = [e for e in client.log.ListEvents(event_service.ListEventsRequest()).events
                if e.HasField("token_created") and e.token_created.key_id == key_id_of(new)]
        self.assertEqual(len(made), 1)
        self.assertEqual((made[0].actor_user_id, made[0].token_created.server), ("system", True))
        self.assert_whole()

    def test_new_token_is_refused_while_a_server_runs(self):
        old = self.server.admin_token
        done = self.make()
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(f"in use by process {self.server.process.pid}", done.stderr)
        self.assertEqual(self.server.admin_token, old)
        self.works(old)
        self.assert_whole()

    def test_new_token_creates_no_store(self):
        self.assertEqual(self.server.stop(), 0)
        for data in (self.path("nothing"), self.path("db")):
            done = self.make(data)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("no store", done.stderr)
        self.assertFalse(os.path.exists(self.path("nothing")))

    def test_unwritable_token_file_is_reported(self):
        """The token is valid then, and the message states where its text is."""
        self.assertEqual(self.server.stop(), 0)
        os.rename(self.path(), self.path("old.token"))
        os.mkdir(self.path())
        done = self.make()
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("admin.token.new", done.stderr)
        os.rmdir(self.path())
        os.rename(self.path("admin.token.new"), self.path())
        self.server.start()
        self.works(self.server.admin_token)


if __name__ == "__main__":
    main()
