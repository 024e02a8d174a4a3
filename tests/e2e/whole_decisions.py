#!/usr/bin/python3
"""Decisions with every field at its limit: stored completely, and kept complete by all operations that move or remove
them.

Goal: no limit of the store, of a message or of a file is smaller than the limits of the contract. Method: requests
filled by the field rules of the contract, on each log engine; a kill, a backup, a restore, a rebuild, an erasure; a
command line.
"""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from erratad import BIN, Server, decision, decision_service, event_service, is_output_only, main, options

OPAQUE_ID_BYTES = 128
VECTOR_VALUES = 4096
DECISIONS = 2


def full_decision(number):
    """Every text as long as the rules allow; the diff and the comment are searched for below."""
    filled = decision.Decision(decision=decision.DECISION_OUTCOME_APPROVED_WITH_CHANGES, review_duration_seconds=2**32 - 1)
    for field in filled.DESCRIPTOR.fields:
        rules = field.GetOptions().Extensions[options.field]
        if field.type != field.TYPE_STRING or is_output_only(field):
            continue
        size = OPAQUE_ID_BYTES if rules.format == options.FORMAT_OPAQUE_ID else rules.max_bytes
        texts = [f"{number}-{i} {field.name} ".ljust(size, "x") for i in range(rules.max_items or 1)]
        if field.label == field.LABEL_REPEATED:
            getattr(filled, field.name).extend(texts)
        else:
            setattr(filled, field.name, texts[0])
    filled.agent_name = "coder"
    filled.reviewer_id = "ada"
    return filled


class Whole(unittest.TestCase):
    engine = "lmdb"

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data = os.path.join(self.folder, "data")
        self.start()

    def start(self, data=None):
        self.server = Server(data=data or self.data, arguments=("--pdf-worker", "/nowhere"),
                             environment={"ERRATA_LOG": self.engine}).start()
        self.addCleanup(self.server.close)
        self.client = self.server.client()

    def run_program(self, *words):
        done = subprocess.run([os.path.join(BIN, words[0]), *words[1:]], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "HOME": self.folder})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def cli(self, *words):
        return self.run_program("errata", *words, "--server", self.server.address, "--token-file",
                                os.path.join(self.data, "admin.token"))

    def record(self, number):
        sent = full_decision(number)
        made = self.client.decisions.RecordDecision(decision_service.RecordDecisionRequest(
            decision=sent, vector=decision.DecisionVector(model="m" * 128, values=[1] + [number + 1] * (VECTOR_VALUES - 1))))
        return sent, made

    def expect_stored(self, recorded):
        """The decision has the sent values by each method that reads it."""
        for sent, made in recorded:
            stored = self.client.decisions.GetDecision(
                decision_service.GetDecisionRequest(feedback_id=made.feedback_id)).decision
            for field, value in sent.ListFields():
                self.assertTrue(getattr(stored, field.name) == value, field.name)
        listed = self.client.all_pages(self.client.decisions.ListDecisions, decision_service.ListDecisionsRequest(),
                                       "decisions")
        self.assert_diffs(reversed(listed), recorded)
        logged = [one.decision for one in self.client.events() if one.HasField("decision")]
        self.assert_diffs(reversed(logged), recorded)

    def assert_diffs(self, decisions, recorded):
        self.assertTrue([one.correction_diff for one in decisions] == [sent.correction_diff for sent, _ in recorded])

    def expect_consistent(self):
        self.assertIn("everything holds", self.cli("admin", "verify"))

    def test_decisions_are_kept_whole(self):
        recorded = [self.record(number) for number in range(DECISIONS)]
        self.expect_stored(recorded)
        self.assertEqual(self.record(0)[1], recorded[0][1])
        self.expect_found_and_watched(recorded)
        self.server.kill9()
        self.start()
        self.expect_stored(recorded)
        self.expect_copied(recorded)
        self.expect_erased()

    def expect_found_and_watched(self, recorded):
        found = self.client.decisions.FindSimilar(decision_service.FindSimilarRequest(
            feedback_id=recorded[0][1].feedback_id, threshold=0.8)).similar
        self.assertEqual({one.feedback_id for one in found}, {made.feedback_id for _, made in recorded[1:]})
        watched = []
        for reply in self.client.log.WatchEvents(event_service.WatchEventsRequest(from_seq=1), timeout=60):
            watched += [reply.event.decision] if reply.event.HasField("decision") else []
            if len(watched) == len(recorded):
                break
        self.assert_diffs(watched, recorded)
        printed = [one for line in self.cli("decisions", "list", "--json").splitlines() for one in json.loads(line)["decisions"]]
        self.assertEqual([len(one["correctionDiff"]) for one in printed], [1 << 20] * DECISIONS)

    def expect_copied(self, recorded):
        backup, copy = (os.path.join(self.folder, name) for name in ("backup", "copy"))
        self.cli("admin", "backup", backup)
        self.expect_consistent()
        self.server.stop()
        self.run_program("erratad", "--restore", backup, "--data", copy)
        self.run_program("erratad", "--rebuild", "--data", copy)
        shutil.copy(os.path.join(self.data, "admin.token"), copy)
        self.start(copy)
        self.expect_stored(recorded)
        self.expect_consistent()

    def expect_erased(self):
        self.cli("admin", "erase", "--user", "ada", "--reason", "request 17", "--yes")
        listed = self.client.all_pages(self.client.decisions.ListDecisions, decision_service.ListDecisionsRequest(),
                                       "decisions")
        self.assertEqual([(one.correction_diff, len(one.tags)) for one in listed], [("", 50)] * DECISIONS)
        self.expect_consistent()


class WholeInJournal(Whole):
    engine = "journal"


if __name__ == "__main__":
    main()
