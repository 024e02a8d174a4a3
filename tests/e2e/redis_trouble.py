#!/usr/bin/python3
"""A stream of decisions whose Redis, organisation or store is unavailable.

Goal: no entry is lost or acknowledged too early, and reading continues without intervention. Method: a Redis that is
killed or requires a password, an organisation that is created later, suspended, or full, and a store without room.
"""
import os
import shutil
import time
import unittest

from erratad import Server, admin, decision_service, health_pb2, main, organization, quota, roles, wait_until
from redis_server import GROUP, STREAM, RedisServer, fields_of


@unittest.skipUnless(shutil.which("redis-server"), "redis-server is not installed")
class Trouble(unittest.TestCase):
    """Redis servers that are unreachable, refuse, or end; each with its own erratad."""

    def start(self, redis, *arguments):
        server = Server(arguments=("--redis", redis.path, *arguments)).start()
        self.addCleanup(server.close)
        return server

    @staticmethod
    def health(client):
        return client.health.Check(health_pb2.HealthCheckRequest(service="errata.redis")).status

    def wait_for_health(self, client, status):
        wait_until(lambda: self.health(client) == status, "the health of the stream", 20)

    def test_redis_that_ends_is_read_again(self):
        """Goal: entries of a Redis that was killed are stored once it is restarted. Method: kills before, between and
        after."""
        redis = RedisServer(durable=True)
        self.addCleanup(redis.close)
        server = self.start(redis)
        client = server.client()
        self.wait_for_health(client, health_pb2.HealthCheckResponse.NOT_SERVING)
        for number in range(3):
            redis.start()
            producer = redis.client()
            producer.add(fields_of(number))
            wait_until(lambda: server.counters(client)["redis_entries_stored_total"] == number + 1, "the entry", 20)
            self.wait_for_health(client, health_pb2.HealthCheckResponse.SERVING)
            producer.close()
            redis.kill9()
        self.assertRegex(server.read_log(), r"is not read: \w")
        self.assertNotRegex(server.read_log(), r"is not read: (?!\w)")
        self.assertGreaterEqual(server.counters(client)["redis_failures_total"], 3)
        begun = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - begun, 10)

    def test_password_is_replaced_and_a_later_organisation_used(self):
        """Goal: the password's file is used, and replaced while the server runs; the password is in no log. Method: a
        wrong one first; an organisation that is created later."""
        redis = RedisServer(arguments=("--requirepass", "right-secret")).start()
        self.addCleanup(redis.close)
        path = os.path.join(redis.folder, "password")
        with open(path, "w", encoding="ascii") as f:
            f.write("wrong-secret\n")
        os.chmod(path, 0o600)
        server = self.start(redis, "--redis-password-file", path, "--redis-organization", "later")
        client = server.client()
        wait_until(lambda: "there is no such organisation" in server.read_log(), "the warning", 20)
        org = client.create_org("later")
        producer = redis.client("right-secret")
        self.addCleanup(producer.close)
        producer.add(fields_of(1))
        wait_until(lambda: server.counters(client)["redis_failures_total"] > 3, "an attempt with the wrong password", 20)
        with open(path, "w", encoding="ascii") as f:
            f.write("right-secret\n")
        wait_until(lambda: server.counters(client)["redis_entries_stored_total"] == 1, "the entry", 20)
        own = server.client(client.create_token(roles.ROLE_ADMIN, org_id=org.id).secret)
        self.addCleanup(own.close)
        self.assertEqual(len(own.decisions.ListDecisions(decision_service.ListDecisionsRequest()).decisions), 1)
        self.assertEqual(len(client.decisions.ListDecisions(decision_service.ListDecisionsRequest()).decisions), 0)
        self.assertNotIn("secret", server.read_log())

    def test_full_store_waits(self):
        """Goal: entries for which the store has no room wait, and none is acknowledged before it is stored. Method: more
        entries than a small store holds; then the same store with a larger limit."""
        redis = RedisServer().start()
        self.addCleanup(redis.close)
        server = self.start(redis, "--map-size", "16MiB", "--log", "lmdb")
        client = server.client()
        producer = redis.client()
        self.addCleanup(producer.close)
        ids = [producer.add(fields_of(number, correction_diff="x" * 250_000, reviewer_comment="")) for number in range(80)]
        wait_until(lambda: server.counters(client)["redis_waits_total"] > 1, "the store to be full", 20)
        self.wait_for_health(client, health_pb2.HealthCheckResponse.NOT_SERVING)
        stored = client.all_pages(client.decisions.ListDecisions, decision_service.ListDecisionsRequest(), "decisions")
        pending = producer("XPENDING", STREAM, GROUP)
        self.assertGreater(pending[0], 0)
        self.assertGreaterEqual({f"d-{number}" for number in range(80)}, {one.decision_id for one in stored})
        self.assertLessEqual(ids.index(pending[1]), len(stored))
        self.assertEqual(len(client.decisions.ListDeadLetters(decision_service.ListDeadLettersRequest()).dead_letters), 0)
        self.assertEqual(server.stop(), 0)
        server.arguments[server.arguments.index("16MiB")] = "64MiB"
        server.start()
        client = server.client()
        wait_until(lambda: producer("XPENDING", STREAM, GROUP)[0] == 0 and len(client.all_pages(
            client.decisions.ListDecisions, decision_service.ListDecisionsRequest(), "decisions")) == 80, "every entry", 20)

    def test_suspended_or_full_organisation_waits(self):
        """Goal: entries wait in Redis while their organisation may not store. Method: a suspension and resumption while
        the server reads; a quota of stored bytes, and its removal."""
        redis = RedisServer().start()
        self.addCleanup(redis.close)
        server = self.start(redis)
        client = server.client()
        org = client.create_org("other").id
        server.stop()
        server.arguments += ["--redis-organization", "other"]
        server.start()
        client = server.client()
        self.wait_for_health(client, health_pb2.HealthCheckResponse.SERVING)
        producer = redis.client()
        self.addCleanup(producer.close)
        holds = ((lambda: client.admin.SuspendOrganization(organization.SuspendOrganizationRequest(org_id=org, reason="test")),
                  lambda: client.admin.ResumeOrganization(organization.ResumeOrganizationRequest(org_id=org, reason="test")), "is suspended"),
                 (lambda: client.admin.SetQuota(admin.SetQuotaRequest(org_id=org, quota=quota.Quota(stored_bytes=1))),
                  lambda: client.admin.SetQuota(admin.SetQuotaRequest(org_id=org, quota=quota.Quota(stored_bytes=0))),
                  "as much as its quota allows"))
        for number, (hold, release, why) in enumerate(holds):
            hold()
            producer.add(fields_of(number))
            self.wait_for_health(client, health_pb2.HealthCheckResponse.NOT_SERVING)
            self.assertEqual(server.counters(client)["redis_entries_stored_total"], number)
            release()
            wait_until(lambda: server.counters(client)["redis_entries_stored_total"] == number + 1, "the entry", 20)
            self.wait_for_health(client, health_pb2.HealthCheckResponse.SERVING)
            self.assertIn(why, server.read_log())


if __name__ == "__main__":
    main()
