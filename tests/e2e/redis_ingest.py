#!/usr/bin/python3
"""Decisions from a stream of a real Redis: each is stored once, and acknowledged; what is refused is kept with the reason.

Goal: nothing that Redis has acknowledged to a producer is lost or stored twice, whoever delivers it and however often.
Method: erratad beside redis-server on a Unix socket; a producer of a few lines; entries of every kind, a Redis that is
killed, consumers that are gone, a password.
"""
import json
import os
import shutil
import time
import unittest

import grpc

from erratad import (Server, admin, decision, decision_service, health_pb2, main, organization, organization_settings, quota, roles,
                     wait_until)
from errata_cli import CliCase
from redis_server import GROUP, STREAM, RedisServer

TOO_LARGE = 4 << 20


def fields_of(number, **others):
    """A valid flat entry."""
    return {"decision_id": f"d-{number}", "gate_id": "HITL-1", "epic_id": "epic-1", "task_id": f"t-{number}",
            "decision": "REJECTED", "agent_name": "coder", "reviewer_id": "anna", "timestamp": "2026-01-02T03:04:05Z",
            "reviewer_comment": "Set a timeout on each remote call.", "tags": '["api", "skill:http"]'} | others


@unittest.skipUnless(shutil.which("redis-server"), "redis-server is not installed")
class Ingest(CliCase):
    @classmethod
    def setUpClass(cls):
        cls.redis_server = RedisServer().start()
        cls.addClassCleanup(cls.redis_server.close)
        cls.arguments = ("--redis", cls.redis_server.path)
        cls.before_start(cls.redis_server.client())
        super().setUpClass()

    @classmethod
    def before_start(cls, redis):
        """Entries that were delivered to this consumer before a restart, one of them deleted since, and one that a consumer
        which is gone has left."""
        redis("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
        for number in ("own", "deleted", "left"):
            redis.add(fields_of(number))
        own, deleted = redis("XREADGROUP", "GROUP", GROUP, "erratad", "COUNT", 2, "STREAMS", STREAM, ">")[0][1]
        left = redis("XREADGROUP", "GROUP", GROUP, "gone", "STREAMS", STREAM, ">")[0][1]
        redis("XCLAIM", STREAM, GROUP, "gone", 0, left[0][0], "IDLE", 600_000)
        redis("XDEL", STREAM, deleted[0])
        assert own[0] < left[0][0]
        redis.close()

    def setUp(self):
        self.redis = self.redis_server.client()
        self.addCleanup(self.redis.close)

    def pending(self):
        return self.redis("XPENDING", STREAM, GROUP)[0]

    def settle(self):
        """Waits until every entry of the stream was delivered and acknowledged."""
        def settled():
            group = dict(zip(*[iter(self.redis("XINFO", "GROUPS", STREAM)[0])] * 2))
            return group["lag"] == 0 and group["pending"] == 0
        wait_until(settled, "the entries to be acknowledged", 20)

    def get(self, decision_id):
        return self.admin.decisions.GetDecision(decision_service.GetDecisionRequest(decision_id=decision_id)).decision

    def letters(self):
        return self.admin.all_pages(self.admin.decisions.ListDeadLetters, decision_service.ListDeadLettersRequest(),
                                    "dead_letters")

    def letter_of(self, entry_id):
        found = [one for one in self.letters() if one.entry_id == entry_id]
        self.assertEqual(len(found), 1)
        return found[0]

    def retry(self, letter):
        return self.admin.decisions.RetryDeadLetter(decision_service.RetryDeadLetterRequest(dead_letter_id=letter.id))

    def test_1_pending_entries_are_stored_first(self):
        self.settle()
        self.assertEqual(self.get("d-own").reviewer_id, "anna")
        self.assertEqual(self.get("d-left").reviewer_id, "anna")
        self.assert_code(grpc.StatusCode.NOT_FOUND, lambda: self.get("d-deleted"))
        counters = self.server.counters(self.admin)
        self.assertEqual((counters["redis_entries_claimed_total"], counters["redis_entries_gone_total"],
                          counters["redis_entries_stored_total"]), (1, 1, 2))

    def test_flat_entry_and_data_are_stored_alike(self):
        flat = fields_of("flat", timestamp="1767323045.25", task_id="", review_duration_seconds="12")
        data = fields_of("data", timestamp=1767323045.25, task_id=None, review_duration_seconds=12, tags=["api", "skill:http"],
                         event_type="HITLDecisionEvent")
        self.redis.add(flat)
        self.redis.add({"data": json.dumps(data)})
        self.settle()
        stored = [self.get("d-flat"), self.get("d-data")]
        for one in stored:
            self.assertEqual((one.created_at.seconds, one.created_at.nanos), (1767323045, 250_000_000))
            self.assertEqual((list(one.tags), one.review_duration_seconds, one.HasField("task_id")),
                             (["api", "skill:http"], 12, False))
            for field in ("id", "decision_id", "classification", "confidence", "proposed_action", "rationale", "cluster_seq",
                          "similar_seqs"):
                one.ClearField(field)
        self.assertEqual(stored[0], stored[1])

    def test_repeats_are_stored_once(self):
        self.redis.add(fields_of("again"))
        self.redis.add(fields_of("again"))
        other = self.redis.add(fields_of("again", reviewer_comment="Other words here."))
        self.settle()
        listed = [one for one in self.admin.all_pages(
            self.admin.decisions.ListDecisions, decision_service.ListDecisionsRequest(), "decisions")
            if one.decision_id == "d-again"]
        self.assertEqual([one.reviewer_comment for one in listed], ["Set a timeout on each remote call."])
        letter = self.letter_of(other)
        self.assertIn("decision.decision_id: a decision with this id and other content is stored", letter.reason)
        self.assert_code(grpc.StatusCode.ALREADY_EXISTS, lambda: self.retry(letter))

    def test_refused_entries_are_kept_with_reasons(self):
        invalid = self.redis.add({"decision_id": "d-bad", "decision": "MAYBE"})
        large = self.redis.add(fields_of("large", correction_diff="x" * (TOO_LARGE + 1)))
        small = self.redis.add(fields_of("small"))
        binary = self.redis.add(fields_of("binary", reviewer_comment=b"\xff\xfe"))
        self.settle()
        self.assertEqual(self.get("d-small").decision, decision.DECISION_OUTCOME_REJECTED)
        self.assertIn("decision.decision: unknown value", self.letter_of(invalid).reason)
        self.assertIn("too large", self.letter_of(large).reason)
        self.assertIn("not UTF-8", self.letter_of(binary).reason)
        for entry_id in (large, binary):
            self.assertTrue(self.letter_of(entry_id).incomplete)
            self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda one=entry_id: self.retry(self.letter_of(one)))
        self.assertEqual(self.pending(), 0)
        self.assertGreater(small, large)

    def test_dead_letter_is_retried_by_the_command_line(self):
        entry = self.redis.add({"data": json.dumps(fields_of("gate", gate_id="HITL-7", agent_name=None, tags=[]))})
        self.settle()
        letter = self.letter_of(entry)
        self.assertIn("decision.agent_name: missing, and the gate has no agent", letter.reason)
        self.assertIn(letter.id, self.run_cli("decisions", "deadletters")[0])
        self.run_cli("decisions", "retry", letter.id, code=1)
        self.admin.admin.UpdateSettings(admin.UpdateSettingsRequest(settings=organization_settings.OrganizationSettings(
            gate_agents=organization_settings.GateAgents(
                gates=[organization_settings.GateAgent(gate_id="HITL-7", agent_name="tester")]))))
        stored = self.run_cli("decisions", "retry", letter.id)[0].strip()
        self.assertEqual(self.run_cli("decisions", "retry", letter.id)[0].strip(), stored)
        self.assertEqual((self.get("d-gate").id, self.get("d-gate").agent_name), (stored, "tester"))
        self.assertNotIn(letter.id, [one.id for one in self.letters()])

    def test_many_entries_are_stored_in_batches(self):
        self.redis.socket.sendall(b"".join(self.redis.packed(["XADD", STREAM, "*", *[
            word for pair in fields_of(f"many-{n}", reviewer_comment="").items() for word in pair]]) for n in range(300)))
        for _ in range(300):
            self.redis.read()
        self.settle()
        self.assertEqual(self.get("d-many-299").epic_id, "epic-1")
        self.assertLess(len(self.letters()), 50)


@unittest.skipUnless(shutil.which("redis-server"), "redis-server is not installed")
class Trouble(unittest.TestCase):
    """Servers of Redis that are away, refuse, or end; each with a server of its own."""

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
        """Goal: entries of a Redis that was killed are stored once it is back. Method: kills before, between and after."""
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
        self.assertIn("is not read: ", server.read_log())
        self.assertGreaterEqual(server.counters(client)["redis_failures_total"], 3)
        begun = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - begun, 10)

    def test_password_and_organisation(self):
        """Goal: the password's file is used, and replaced while the server runs; the password is in no log. Method: a wrong
        one first; an organisation that is made later."""
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

    def test_suspended_or_full_organisation_waits(self):
        """Goal: entries wait in Redis while their organisation may not store. Method: suspended and resumed under a server that
        reads; a quota of stored bytes, and none."""
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
