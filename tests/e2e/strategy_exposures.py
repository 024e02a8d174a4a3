#!/usr/bin/python3
"""Exposures of SearchStrategies through a real client: offered strategies are explained, and measured by the turns that
cite them.

Goal: a search of the past equals what was served then; an explanation has it byte for byte; a turn is an outcome of each
exposure that it or the next message cites, once, and bad while it is rejected; held-out sessions get nothing. Method: one
erratad without a model; vectors of the test; sums of a random history are counted again from the log.
"""
import collections
import random

import grpc

from erratad import (artifact, bad_fields, event_log, extraction, learning, main, roles, turn, turn_service)
from strategies import ACCEPTED, NEUTRAL, REJECTED, WIDTH, StrategyCase

VECTOR = [1] + [0] * (WIDTH - 1)
ARMS = extraction.EXPERIMENT_ARM_NONE, extraction.EXPERIMENT_ARM_TREATMENT, extraction.EXPERIMENT_ARM_CONTROL


class ExposureCase(StrategyCase):
    def setUp(self):
        super().setUp()
        self.org = self.admin.create_org(self.id())
        self.mine = self.server.client(self.admin.create_token(roles.ROLE_ADMIN, org_id=self.org.id, user_id="anna").secret)
        self.turns = self.mine.turns

    def record(self, name, session="s", **fields):
        refs = fields.pop("exposure_refs", [])
        fields.setdefault("strategy", turn.TurnStrategy(tool="shop", text=name))
        return self.turns.RecordTurn(turn_service.RecordTurnRequest(
            embedding=VECTOR, exposure_refs=refs,
            turn=turn.Turn(session_id=session, turn_id=name, query="laptops", validation_outcome=1, **fields))).turn

    def judge(self, name, status, session="s"):
        self.turns.SetFeedback(turn_service.SetFeedbackRequest(session_id=session, turn_id=name, status=status))

    def detect(self, message, after, session="s", **fields):
        return self.turns.DetectFeedback(turn_service.DetectFeedbackRequest(
            session_id=session, turn_id=f"after {after}", message=message, embedding=VECTOR, **fields))

    def inputs(self, **fields):
        return turn_service.SearchStrategiesRequest(embedding=VECTOR, **fields)

    def search(self, **fields):
        return self.turns.SearchStrategies(self.inputs(**fields))

    def explain(self, reference, **fields):
        return self.mine.learning.ExplainExposure(learning.ExplainExposureRequest(exposure_ref=reference, **fields))

    def report(self, artifact_id):
        return self.mine.learning.GetArtifactReport(learning.GetArtifactReportRequest(artifact_id=artifact_id))

    def counts(self, artifact_id):
        found = self.report(artifact_id)
        self.assertEqual(found.artifact_kind, artifact.ARTIFACT_KIND_STRATEGY)
        return [(one.exposure_count, one.outcome_count, one.bad_count)
                for one in (found.served, found.treatment, found.held_out)]


class Explained(ExposureCase):
    def test_as_it_was_then(self):
        self.record("a")
        self.judge("a", ACCEPTED)
        self.record("b")
        self.judge("b", REJECTED)
        served = self.search(intent="buy")
        self.judge("b", ACCEPTED)
        self.judge("b", NEUTRAL)
        self.judge("a", REJECTED)
        self.record("c")
        found = self.explain(served.exposure_ref, search_inputs=self.inputs(intent="buy"))
        self.assertEqual(found.strategies, served.strategies)
        self.assertEqual(found.avoid, served.avoid)
        self.assertTrue(found.text_matches)
        self.assertEqual(found.exposure_kind, event_log.EXPOSURE_KIND_STRATEGIES)
        one, = found.artifacts
        self.assertEqual((one.turn.turn_id, one.turn.user_feedback.status, one.approved_by), ("a", ACCEPTED, "anna"))
        self.assertEqual([event_log.EventKind.Name(event.kind) for event in one.evidence],
                         ["EVENT_KIND_TURN_FEEDBACK_SET", "EVENT_KIND_TURN_RECORDED"])
        self.assertFalse(self.explain(served.exposure_ref, search_inputs=self.inputs(limit=1, similarity_min=1)).text_matches)
        plain = self.explain(served.exposure_ref)
        self.assertFalse(plain.HasField("text_matches") or plain.strategies)

    def test_past_searches_equal_those_made_then(self):
        """After each event, a search of that time equals the one that was made then, without counts and reference."""
        rng = random.Random(5)
        then = []
        names = []
        for i in range(30):
            names.append(self.record(f"t{i}", strategy=turn.TurnStrategy(tool="shop", text=rng.choice("abcd"))).turn_id)
            self.judge(rng.choice(names), rng.choice((ACCEPTED, ACCEPTED, REJECTED, NEUTRAL)))
            then.append((self.mine.events()[0].seq, self.search(limit=100)))
        for seq, served in then:
            past = self.search(limit=100, as_of_seq=seq)
            self.assertEqual(past.exposure_ref, "")
            for one in served.strategies:
                for name in "accepted_count", "rejected_count", "accepted_share", "accepted_share_low", "accepted_share_high":
                    one.ClearField(name)
            self.assertEqual((list(past.strategies), list(past.avoid)), (list(served.strategies), list(served.avoid)))


class Measured(ExposureCase):
    def test_a_turn_is_one_outcome(self):
        """The turn and the message after it cite the same reference; the message rejects, a person corrects it."""
        first = self.record("a")
        served = self.search(session_id="s2")
        self.record("b", "s2", exposure_refs=[served.exposure_ref, served.exposure_ref])
        self.assertEqual(self.counts(first.id)[0], (1, 1, 0))
        self.detect("That's wrong.", "b", "s2", exposure_refs=[served.exposure_ref])
        self.assertEqual(self.counts(first.id)[0], (1, 1, 1))
        self.judge("b", ACCEPTED, "s2")
        self.assertEqual(self.counts(first.id)[0], (1, 1, 0))
        self.judge("b", REJECTED, "s2")
        outcome, = self.explain(served.exposure_ref).outcomes
        self.assertEqual((outcome.session_id, outcome.turn_id, outcome.turn_status), ("s2", "b", REJECTED))
        self.assertEqual(self.report(first.id).newest_outcomes[0], outcome)

    def test_the_next_message_cites(self):
        first = self.record("a")
        served = self.search()
        self.record("b", "s2")
        got = self.detect("That's wrong.", "b", "s2", exposure_refs=[served.exposure_ref])
        self.assertEqual(self.counts(first.id)[0], (1, 1, 1))
        self.assertEqual(got, self.detect("That's wrong.", "b", "s2", exposure_refs=[served.exposure_ref]))
        self.turns.DetectFeedback(turn_service.DetectFeedbackRequest(
            session_id="s2", turn_id="later", message="Thanks!", embedding=VECTOR, exposure_refs=[self.search().exposure_ref]))
        self.assertEqual(self.counts(first.id)[0][1:], (1, 1))

    def test_held_out_sessions_get_none(self):
        first = self.record("a")
        self.judge("a", ACCEPTED)
        self.mine.update_settings(holdout_percent=100)
        served = self.search(session_id="s2")
        self.assertEqual((served.arm, len(served.strategies), len(served.avoid)), (extraction.EXPERIMENT_ARM_CONTROL, 0, 0))
        self.assertEqual(self.search().arm, extraction.EXPERIMENT_ARM_NONE)
        self.mine.update_settings(holdout_percent=0)
        self.record("b", "s2", exposure_refs=[served.exposure_ref])
        self.assertEqual(self.counts(first.id), [(0, 0, 0), (0, 0, 0), (1, 1, 0)])
        found = self.explain(served.exposure_ref, search_inputs=self.inputs())
        self.assertTrue(found.text_matches and all(one.held_out for one in found.artifacts))
        self.assertEqual((len(found.artifacts), len(found.strategies)), (1, 0))

    def test_random_citations_equal_the_log(self):
        """Sums of all arms are counted again from events; the difference has an interval once both arms have outcomes."""
        rng = random.Random(9)
        self.mine.update_settings(holdout_percent=50)
        ids = {}
        references = []
        for i in range(60):
            session = f"s{i}"
            served = self.search(session_id=session, limit=3)
            references.append(served.exposure_ref)
            cited = rng.sample(references, min(len(references), rng.randrange(3)))
            one = self.record(f"t{i}", session, exposure_refs=cited)
            ids[one.id] = one
            if rng.random() < 0.7:
                self.detect(rng.choice(("That's wrong.", "Thanks, perfect!", "hmm")), f"t{i}", session,
                            exposure_refs=rng.sample(references, min(len(references), 2)))
            if rng.random() < 0.3:
                self.judge(f"t{i}", rng.choice((ACCEPTED, REJECTED)), session)
        wanted = self.recount()
        self.assertTrue(any(counts[2] for counts in wanted.values()))
        differences = 0
        for event in self.mine.events():
            if event.kind == event_log.EVENT_KIND_TURN_RECORDED:
                none, treatment, control = (tuple(wanted[event.seq, arm]) for arm in ARMS)
                served = tuple(a + b for a, b in zip(none, treatment))
                self.assertEqual(self.counts(event.id), [served, treatment, control])
                differences += self.report(event.id).HasField("difference_low")
        self.assertGreater(differences, 0)

    def recount(self):
        counts = collections.defaultdict(lambda: [0, 0, 0])
        exposures, turns, statuses, outcomes = {}, {}, {}, collections.defaultdict(set)
        for event in reversed(self.mine.events()):
            if event.HasField("exposure_recorded"):
                exposures[event.seq] = event.exposure_recorded
            elif event.HasField("turn"):
                turns[event.seq] = event.turn
                outcomes[event.seq] |= set(event.turn.exposure_seqs)
            elif event.HasField("feedback_detected") and event.feedback_detected.marked:
                outcomes[event.feedback_detected.previous_seq] |= set(event.feedback_detected.exposure_seqs)
                statuses[event.feedback_detected.previous_seq] = event.feedback_detected.feedback_type
            elif event.HasField("turn_feedback_set"):
                statuses[event.turn_feedback_set.turn_seq] = event.turn_feedback_set.status
        for exposure in exposures.values():
            for one in exposure.artifacts:
                counts[one.seq, exposure.arm][0] += 1
        for seq, cited in outcomes.items():
            for one in cited:
                for offered in exposures[one].artifacts:
                    counts[offered.seq, exposures[one].arm][1] += 1
                    counts[offered.seq, exposures[one].arm][2] += statuses.get(seq) == REJECTED
        return counts

    def test_forged_and_other_references_store_nothing(self):
        self.record("a")
        good = self.search().exposure_ref
        foreign = self.server.client(self.admin.create_token(
            roles.ROLE_ADMIN, org_id=self.admin.create_org("foreign strategies").id).secret)
        other = foreign.turns.SearchStrategies(self.inputs()).exposure_ref
        before = self.mine.events()[0].seq
        for reference in good[:-2], good[::-1], other:
            for call in (lambda: self.record("b", exposure_refs=[good, reference]),
                         lambda: self.detect("Thanks!", "a", exposure_refs=[good, reference])):
                error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, call)
                self.assertEqual(list(bad_fields(error)), ["exposure_refs[1]"])
        self.assertEqual(self.mine.events()[0].seq, before)


if __name__ == "__main__":
    main()
