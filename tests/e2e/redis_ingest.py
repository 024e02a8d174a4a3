#!/usr/bin/python3
"""Decisions from a stream of a real Redis: each is stored once, and acknowledged; a refused one is kept with the
reason.

Goal: no entry that Redis has acknowledged to a producer is lost or stored twice, for any number of deliveries. Method:
erratad and redis-server on a Unix socket; a producer of a few lines; entries of every kind, and consumers that have
ended.
"""
import json
import shutil
import unittest

import grpc

from erratad import decision, decision_service, main, organization_settings, wait_until
from errata_cli import CliCase
from redis_server import GROUP, STREAM, RedisServer, fields_of

TOO_LARGE = 4 << 20
DIFF_BYTES_MAX = 1 << 20  # limits of the contract
COMMENT_BYTES_MAX = 16 << 10


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
        """Entries that were delivered to this consumer before a restart, one of them deleted since, and one that was
        delivered to a consumer that has ended."""
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
        wait_until(self.redis.is_settled, "the entries to be acknowledged", 20)

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

    def test_decision_of_any_allowed_size_is_stored(self):
        """Entries as flat fields, and as JSON with every character escaped; a dead letter with such JSON is
        stored by a retry."""
        texts = dict(correction_diff="\u00e4" * (DIFF_BYTES_MAX // 2), reviewer_comment="x" * COMMENT_BYTES_MAX,
                     correction_summary="y" * COMMENT_BYTES_MAX, tags=json.dumps(["z" * 128] * 50))
        self.redis.add(fields_of("full", **texts))
        data = {**fields_of("escaped", **texts), "tags": ["z" * 128] * 50}
        self.redis.add({"data": json.dumps(data)})
        dead = self.redis.add(fields_of("dead", **texts, gate_id="HITL-nowhere", agent_name=""))
        self.settle()
        letter = self.letter_of(dead)
        self.assertFalse(letter.incomplete)
        self.admin.update_settings(gate_agents=organization_settings.GateAgents(
            gates=[organization_settings.GateAgent(gate_id="HITL-nowhere", agent_name="coder")]))
        self.retry(letter)
        for number in ("full", "escaped", "dead"):
            stored = self.get(f"d-{number}")
            self.assertTrue(stored.correction_diff == texts["correction_diff"], number)
            self.assertEqual((len(stored.reviewer_comment), len(stored.tags)), (COMMENT_BYTES_MAX, 50))

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
        self.assertIn(letter.id, self.run_cli("decisions", "dead-letters")[0])
        self.run_cli("decisions", "retry", letter.id, code=1)
        self.run_cli("org", "settings", "--gate-agent", "HITL-7=tester")
        stored = self.run_cli("decisions", "retry", letter.id)[0].strip()
        self.assertEqual(self.run_cli("decisions", "retry", letter.id)[0].strip(), stored)
        self.assertEqual((self.get("d-gate").id, self.get("d-gate").agent_name), (stored, "tester"))
        self.assertNotIn(letter.id, [one.id for one in self.letters()])

    def test_many_entries_are_stored_in_batches(self):
        self.redis.add_all([fields_of(f"many-{n}", reviewer_comment="") for n in range(300)])
        self.settle()
        self.assertEqual(self.get("d-many-299").epic_id, "epic-1")
        self.assertLess(len(self.letters()), 50)


if __name__ == "__main__":
    main()
