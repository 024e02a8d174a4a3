#!/usr/bin/python3
"""Verdicts through a real client: learned rules, lists, states, counts and permissions.

Goal: the rules of verdicts hold over the wire and on the command line. Method: one erratad, stock gRPC and
`errata`; an organisation of its own for each test; rules and statistics are compared with a recount of the log.
"""
import json
import random

import grpc

import recount
from erratad import (artifact, bad_fields, event_log, event_service, feedback, learned_rule, learning, main,
                     measured_weight, roles, score_stacking, verdict_service, verdicts)
from errata_cli import CliCase

EXTRACTED = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
REAL, FAKE, SUSPICIOUS = verdicts.VERDICT_REAL, verdicts.VERDICT_FAKE, verdicts.VERDICT_SUSPICIOUS
FALSE_NEGATIVE = learned_rule.LEARNED_RULE_TYPE_FALSE_NEGATIVE
FALSE_POSITIVE = learned_rule.LEARNED_RULE_TYPE_FALSE_POSITIVE
MISSED_INDICATOR = learned_rule.LEARNED_RULE_TYPE_MISSED_INDICATOR


class VerdictCase(CliCase):
    def setUp(self):
        self.org = self.admin.create_org(self.id().rsplit(".", 1)[1])
        self.mine = self.client(roles.ROLE_ADMIN)

    def client(self, role, **fields):
        return self.server.client(self.admin.create_token(role, org_id=self.org.id, **fields).secret)

    def submit(self, original, correct, client=None, **fields):
        fields.setdefault("receipt_id", "receipt")
        return (client or self.mine).submit_verdict(original_verdict=original, correct_verdict=correct, **fields)

    def rules(self, client=None, **fields):
        client = client or self.mine
        return client.all_pages(client.verdicts.ListLearnedRules,
                                verdict_service.ListLearnedRulesRequest(**fields), "rules")

    def stats(self, **fields):
        return self.mine.verdicts.GetVerdictStats(verdict_service.GetVerdictStatsRequest(**fields))

    def switch(self, rule, client=None, **fields):
        return (client or self.mine).verdicts.SetLearnedRuleEnabled(
            verdict_service.SetLearnedRuleEnabledRequest(id=rule.id, **fields)).rule

    def retract(self, event_id, client=None):
        return (client or self.mine).log.RetractEvent(
            event_service.RetractEventRequest(event_id=event_id, reason="wrong receipt")).retraction


class Learning(VerdictCase):
    def test_false_negative_learns_two_rules_of_an_indicator(self):
        reply = self.submit(REAL, FAKE, missed_indicators=["font"])
        found = [(change.rule.rule_type, change.rule.confidence_adjustment, change.rule.learned_from_feedback_count,
                  change.rule.accuracy_on_validation) for change in reply.submission.rule_changes]
        self.assertEqual(found, [(FALSE_NEGATIVE, 0.05, 1, 0.5), (MISSED_INDICATOR, 0.04, 1, 0.5)])
        self.assertEqual([(one.pattern, list(one.rule_ids)) for one in reply.shared_patterns],
                         [("font", [change.rule.id for change in reply.submission.rule_changes])])
        self.assertEqual([rule.id for rule in self.rules()],
                         [change.rule.id for change in reply.submission.rule_changes])

    def test_suspicious_creates_no_false_positive_or_negative(self):
        for original, correct in ((REAL, SUSPICIOUS), (SUSPICIOUS, FAKE), (FAKE, SUSPICIOUS), (SUSPICIOUS, REAL)):
            self.submit(original, correct, missed_indicators=["missed"], rejected_indicators=["rejected"])
        self.assertEqual([(rule.rule_type, rule.pattern, rule.learned_from_feedback_count) for rule in self.rules()],
                         [(MISSED_INDICATOR, "missed", 4)])

    def test_indicator_twice_in_a_list_counts_once(self):
        reply = self.submit(FAKE, FAKE, missed_indicators=["a", "b", "a"])
        self.assertEqual(list(reply.submission.missed_indicators), ["a", "b"])
        self.assertEqual([rule.learned_from_feedback_count for rule in self.rules()], [1, 1])

    def test_submission_is_stored_whole(self):
        reply = self.submit(
            FAKE, REAL, receipt_id="r 1", original_score=0.75, rejected_indicators=["spacing"],
            corrections={"total": "12.50", "date": ""}, reviewer_notes="smudged", text="TOTAL 12.50",
            original_features_json='{"amount": 12.5}', missing_fields_enabled=False,
            document_profile=verdicts.DocumentProfile(confidence=0.4, subtype="POS_RECEIPT"))
        event = self.mine.log.GetEvent(event_service.GetEventRequest(id=reply.submission.id)).event
        self.assertEqual(event.kind, event_log.EVENT_KIND_VERDICT_SUBMITTED)
        self.assertEqual(event.verdict_submission, reply.submission)
        one = reply.submission
        self.assertEqual(dict(one.corrections), {"total": "12.50", "date": ""})
        self.assertEqual((one.receipt_id, one.original_score, one.reviewer_notes, one.text), (
            "r 1", 0.75, "smudged", "TOTAL 12.50"))
        self.assertTrue(one.HasField("missing_fields_enabled"))
        self.assertEqual(one.document_profile.subtype, "POS_RECEIPT")
        listed = self.mine.events(subject=event_log.Subject(kind=event_log.EVENT_SUBJECT_KIND_RECEIPT, id="r 1"))
        self.assertEqual([one.id for one in listed], [event.id])

    def test_viewer_sees_no_content(self):
        made = self.submit(FAKE, REAL, reviewer_notes="smudged", corrections={"total": "1"}, text="TOTAL",
                           original_features_json="{}", rejected_indicators=["spacing"]).submission
        viewer = self.client(roles.ROLE_VIEWER)
        seen = viewer.log.GetEvent(event_service.GetEventRequest(id=made.id)).event.verdict_submission
        self.assertEqual((seen.reviewer_notes, seen.text, dict(seen.corrections), seen.original_features_json),
                         ("", "", {}, ""))
        self.assertEqual([rule.pattern for rule in self.rules(viewer)], ["spacing"])

    def test_invalid_submission_names_every_field(self):
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.mine.verdicts.SubmitVerdict(
            verdict_service.SubmitVerdictRequest(submission=verdicts.VerdictSubmission(
                receipt_id="r", original_verdict=REAL, correct_verdict=FAKE, confirmed_indicators=["a", ""],
                missed_indicators=["a"], corrections={"": "x", "y": "z" * 40000}))))
        self.assertEqual(sorted(set(bad_fields(error))), [
            "submission.confirmed_indicators[1]", "submission.corrections", "submission.missed_indicators[0]",
            "submission.original_score"])
        self.assertEqual(self.rules(), [])
        for fields in ({"original_score": 1.01}, {"missed_indicators": ["x" * 257]},
                       {"missed_indicators": [str(i) for i in range(51)]}, {"text": "x" * 16385}):
            self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.submit(REAL, FAKE, **fields))
        self.submit(REAL, FAKE, missed_indicators=[f"{i:0256}" for i in range(50)], text="x" * 16384, original_score=1)
        self.assertEqual(len(self.rules()), 100)

    def test_reviewer_speaks_for_the_own_user(self):
        reviewer = self.client(roles.ROLE_REVIEWER, user_id="ann")
        self.assertEqual(self.submit(REAL, REAL, reviewer).submission.actor_user_id, "ann")
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED,
                         lambda: self.submit(REAL, REAL, reviewer, actor_user_id="bob"))

    def test_repeated_key_has_the_first_response(self):
        body = verdict_service.SubmitVerdictRequest(submission=verdicts.VerdictSubmission(
            receipt_id="r", original_verdict=REAL, correct_verdict=FAKE, original_score=0.1, missed_indicators=["a"],
            text="content")).SerializeToString()
        path, key = "/errata.v1.VerdictService/SubmitVerdict", (("idempotency-key", "again"),)
        first = self.mine.raw(path, body, metadata=key)
        self.submit(REAL, FAKE, missed_indicators=["a"])
        self.assertEqual(self.mine.raw(path, body, metadata=key), first)
        self.assertEqual([rule.learned_from_feedback_count for rule in self.rules()], [2, 2])

    def test_random_submissions_and_retractions_equal_a_recount(self):
        moments = random.Random(7)
        made_before = []
        names = ["a", "b", "text:ü", "amount>10", "flag=true"]
        for number in range(150):
            lists = {"confirmed_indicators": [], "rejected_indicators": [], "missed_indicators": []}
            for name in names:
                moments.choice([*lists.values(), []]).append(name)
            made = self.submit(moments.randint(1, 3), moments.randint(1, 3), receipt_id=f"r{number}", **lists)
            for change in made.submission.rule_changes[:1]:
                if number % 10 == 0:
                    self.switch(change.rule)
            made_before.append(made.submission.id)
            if number % 3 == 0:
                self.retract(moments.choice(made_before[-20:]))
        self.assertEqual(recount.check(self.mine), [])


class Rules(VerdictCase):
    def test_disabled_rule_stays_disabled_when_learned_again(self):
        rule = self.submit(FAKE, FAKE, missed_indicators=["a"]).submission.rule_changes[0].rule
        self.assertFalse(self.switch(rule).enabled)  # the opposite
        again = self.submit(FAKE, FAKE, missed_indicators=["a"]).submission.rule_changes[0].rule
        self.assertEqual((again.id, again.enabled, again.learned_from_feedback_count), (rule.id, False, 2))
        self.assertFalse(self.switch(rule, enabled=False).enabled)
        self.assertTrue(self.switch(rule, enabled=True).enabled)
        subject = event_log.Subject(kind=event_log.EVENT_SUBJECT_KIND_LEARNED_RULE, id=rule.id)
        self.assertEqual([(one.learned_rule_enabled_set.was_enabled, one.learned_rule_enabled_set.rule.enabled)
                          for one in self.mine.events(subject=subject)][:-1],
                         [(False, True), (False, False), (True, False)])

    def test_only_known_rules_are_switched(self):
        other = self.admin.submit_verdict(receipt_id="r", original_verdict=FAKE, correct_verdict=FAKE,
                                          missed_indicators=["theirs"]).submission.rule_changes[0].rule
        self.assert_code(grpc.StatusCode.NOT_FOUND, lambda: self.switch(other))
        self.assert_code(grpc.StatusCode.NOT_FOUND, lambda: self.mine.verdicts.GetLearnedRule(
            verdict_service.GetLearnedRuleRequest(id=other.id)))
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED,
                         lambda: self.switch(other, self.client(roles.ROLE_OPERATOR, user_id="ann")))
        self.assertEqual(self.rules(), [])

    def test_pages_have_every_rule_once(self):
        for first in range(0, 100, 50):
            self.submit(FAKE, FAKE, missed_indicators=[f"i{n}" for n in range(first, first + 50)])
        listed = self.rules(page_size=7)
        self.assertEqual([rule.pattern for rule in listed], [f"i{n}" for n in range(100)])
        self.assertEqual([rule.id for rule in listed], sorted(rule.id for rule in listed))
        self.assertEqual([rule.pattern for rule in self.rules(pattern="i7")], ["i7"])
        self.assertEqual(self.rules(id_prefix=listed[0].id), [listed[0]])


class States(VerdictCase):
    """Rules that people propose, and the states that they set."""

    def propose(self, client=None, **fields):
        fields.setdefault("rule_type", MISSED_INDICATOR)
        fields.setdefault("pattern", "font")
        return (client or self.mine).learning.ProposeArtifact(learning.ProposeArtifactRequest(
            learned_rule=learning.ProposedRule(**fields), reason="seen in May")).learned_rule

    def decide(self, rule, state, client=None):
        return (client or self.mine).learning.SetArtifactState(learning.SetArtifactStateRequest(
            artifact_id=rule.id, state=state, reason="as agreed"))

    def score(self, *indicators):
        return self.mine.verdicts.ScoreDocument(verdict_service.ScoreDocumentRequest(
            score=0.5, indicators=indicators,
            document_profile=verdicts.DocumentProfile(confidence=1))).score

    def report(self, rule):
        return self.mine.learning.GetArtifactReport(learning.GetArtifactReportRequest(artifact_id=rule.id))

    def test_proposed_rule_has_an_effect_once_it_is_active(self):
        rule = self.propose(confidence_adjustment=0.25)
        self.assertEqual((rule.state, rule.version, rule.auto_learned, rule.confidence_adjustment),
                         (artifact.ARTIFACT_STATE_PROPOSED, 1, False, 0.25))
        scores = []
        for state in (None, artifact.ARTIFACT_STATE_SHADOW, artifact.ARTIFACT_STATE_ACTIVE,
                      artifact.ARTIFACT_STATE_RETIRED, artifact.ARTIFACT_STATE_ACTIVE):
            if state is not None:
                self.decide(rule, state)
            scores.append(self.score("font"))
        self.assertEqual(scores, [0.5, 0.5, 0.75, 0.5, 0.75])
        self.switch(rule, enabled=False)
        self.assertEqual(self.score("font"), 0.5)
        self.switch(rule, enabled=True)
        self.assertEqual(self.score("font"), 0.75)
        self.assertEqual(recount.check(self.mine), [])

    def test_decision_reports_both_states(self):
        rule = self.propose()
        reply = self.decide(rule, artifact.ARTIFACT_STATE_RETIRED)
        self.assertEqual((reply.artifact_kind, reply.artifact_id, reply.previous_state, reply.state, reply.version),
                         (artifact.ARTIFACT_KIND_LEARNED_RULE, rule.id, artifact.ARTIFACT_STATE_PROPOSED,
                          artifact.ARTIFACT_STATE_REJECTED, 1))
        stored = self.mine.log.GetEvent(event_service.GetEventRequest(id=reply.event_id)).event
        self.assertEqual(stored.artifact_state_set.reason, "as agreed")
        self.assertEqual([one.kind for one in self.mine.log.ListEvents(event_service.ListEventsRequest(
            subject=event_log.Subject(kind=event_log.EVENT_SUBJECT_KIND_LEARNED_RULE, id=rule.id))).events],
            [event_log.EVENT_KIND_ARTIFACT_STATE_SET, event_log.EVENT_KIND_LEARNED_RULE_CREATED])

    def test_rule_that_a_person_retired_stays_retired(self):
        rule = self.submit(FAKE, FAKE, missed_indicators=["a"]).submission.rule_changes[0].rule
        self.decide(rule, artifact.ARTIFACT_STATE_RETIRED)
        change = self.submit(FAKE, FAKE, missed_indicators=["a"]).submission.rule_changes[0]
        self.assertEqual((change.rule.state, change.rule.learned_from_feedback_count),
                         (artifact.ARTIFACT_STATE_RETIRED, 2))
        self.assertEqual(list(self.submit(FAKE, FAKE, confirmed_indicators=["a"]).submission.rule_changes), [])
        self.assertEqual(recount.check(self.mine), [])

    def test_learning_does_not_change_the_state_of_a_proposal(self):
        rule = self.propose(pattern="a")
        made = self.submit(FAKE, FAKE, missed_indicators=["a"]).submission
        self.assertEqual(made.rule_changes[0].rule.id, rule.id)
        self.assertEqual(self.rules()[0].state, artifact.ARTIFACT_STATE_PROPOSED)
        self.retract(made.id)
        self.assertEqual(self.rules()[0].state, artifact.ARTIFACT_STATE_PROPOSED)
        self.assertEqual(recount.check(self.mine), [])

    def test_report_lists_the_verdicts_that_a_rule_was_learned_from(self):
        made = [self.submit(FAKE, FAKE, receipt_id=f"r{n}", missed_indicators=["a"]).submission for n in range(23)]
        rule = made[0].rule_changes[0].rule
        self.retract(made[21].id)
        report = self.report(rule)
        self.assertEqual((report.artifact_kind, report.state, report.version, report.evidence_incomplete),
                         (artifact.ARTIFACT_KIND_LEARNED_RULE, artifact.ARTIFACT_STATE_ACTIVE, 1, True))
        self.assertEqual([(one.event_id, one.receipt_id, one.retracted) for one in report.evidence],
                         [(made[n].id, f"r{n}", n == 21) for n in range(22, 2, -1)])

    def test_bad_proposals_and_decisions_are_refused(self):
        rule = self.propose()
        error = self.assert_code(grpc.StatusCode.ALREADY_EXISTS, self.propose)
        self.assertIn(rule.id, error.details())
        for fields, name in (({"pattern": ""}, "learned_rule.pattern"),
                             ({"rule_type": 0}, "learned_rule.rule_type"),
                             ({"confidence_adjustment": -0.1, "pattern": "x"}, "learned_rule.confidence_adjustment"),
                             ({"confidence_adjustment": 1.1, "pattern": "x"}, "learned_rule.confidence_adjustment"),
                             ({"confidence_adjustment": float("nan"), "pattern": "x"}, "learned_rule.confidence_adjustment"),
                             ({"confidence_adjustment": -1.1, "pattern": "x", "rule_type": FALSE_POSITIVE},
                              "learned_rule.confidence_adjustment")):
            error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda fields=fields: self.propose(**fields))
            self.assertEqual(list(bad_fields(error)), [name], fields)
        for state in (artifact.ARTIFACT_STATE_PROPOSED, artifact.ARTIFACT_STATE_SUNSET_PROPOSED,
                      artifact.ARTIFACT_STATE_REJECTED):
            error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda state=state: self.decide(rule, state))
            self.assertEqual(list(bad_fields(error)), ["state"])
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED,
                         lambda: self.decide(rule, artifact.ARTIFACT_STATE_ACTIVE, self.client(roles.ROLE_OPERATOR)))
        example = self.mine.capture(event_type=EXTRACTED, layout_fingerprint="acme", actor_user_id="ann",
                                    before_json='{"a":1}', after_json='{"a":2}')
        error = self.assert_code(grpc.StatusCode.FAILED_PRECONDITION,
                                 lambda: self.decide(example, artifact.ARTIFACT_STATE_RETIRED))
        self.assertIn("RetractEvent", error.details())
        submission = self.submit(FAKE, FAKE).submission
        missing = self.assert_code(grpc.StatusCode.NOT_FOUND, lambda: self.decide(submission, artifact.ARTIFACT_STATE_RETIRED))
        self.assertIn("expected the id of a learned rule or of a guideline", missing.details())
        self.assertEqual([one.state for one in self.rules()], [artifact.ARTIFACT_STATE_PROPOSED])


class Retractions(VerdictCase):
    def test_rule_without_submissions_is_retired_until_learned_again(self):
        first = self.submit(FAKE, FAKE, missed_indicators=["a"]).submission
        rule = self.switch(first.rule_changes[0].rule, enabled=False)
        second = self.submit(FAKE, FAKE, confirmed_indicators=["a"]).submission
        self.retract(first.id)
        listed = self.rules()[0]
        self.assertEqual((listed.learned_from_feedback_count, listed.accuracy_on_validation, listed.state),
                         (1, 0.52, artifact.ARTIFACT_STATE_ACTIVE))
        retraction = self.retract(second.id)
        self.assertEqual(self.retract(second.id), retraction)
        listed = self.rules()[0]
        self.assertEqual((listed.learned_from_feedback_count, listed.accuracy_on_validation, listed.state),
                         (0, 0.5, artifact.ARTIFACT_STATE_RETIRED))
        self.assertEqual(self.stats(), verdict_service.GetVerdictStatsResponse())
        self.assertEqual(list(self.submit(FAKE, FAKE, confirmed_indicators=["a"]).submission.rule_changes), [])
        again = self.submit(FAKE, FAKE, missed_indicators=["a"]).submission.rule_changes[0].rule
        self.assertEqual((again.id, again.enabled, again.learned_from_feedback_count, again.accuracy_on_validation,
                          again.state), (rule.id, False, 1, 0.5, artifact.ARTIFACT_STATE_ACTIVE))
        self.assertEqual(recount.check(self.mine), [])

    def test_operator_retracts_own_verdicts_only(self):
        ann, bob = (self.client(roles.ROLE_OPERATOR, user_id=user) for user in ("ann", "bob"))
        made = self.submit(REAL, FAKE, ann, missed_indicators=["a"]).submission
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, lambda: self.retract(made.id, bob))
        self.retract(made.id, ann)
        self.assertEqual([rule.learned_from_feedback_count for rule in self.rules()], [0, 0])

    def test_rule_events_are_reversed_by_the_switch(self):
        rule = self.submit(FAKE, FAKE, missed_indicators=["a"]).submission.rule_changes[0].rule
        self.switch(rule)
        for event in self.mine.events()[0], self.mine.log.GetEvent(event_service.GetEventRequest(id=rule.id)).event:
            error = self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.retract(event.id))
            self.assertIn("SetLearnedRuleEnabled", error.details())


class Statistics(VerdictCase):
    def test_window_is_so_many_times_24_hours(self):
        self.submit(FAKE, REAL)
        now = self.mine.events()[0].created_at
        for seconds in (86400 - 60, 86400 + 60, 30 * 86400 - 60, 30 * 86400 + 60, 366 * 86400 + 60):
            when = type(now)(seconds=now.seconds - seconds)
            self.submit(REAL, REAL, created_at=when, missed_indicators=["old"])
        self.assertEqual([self.stats(days=days).total_feedback for days in (1, 0, 30, 366)], [2, 4, 4, 5])
        one = self.stats(days=1)
        self.assertEqual((one.accuracy, one.false_positives, one.false_negatives), (50.0, 1, 0))
        self.assertEqual([(row.indicator, row.count) for row in self.stats().common_missed_indicators], [("old", 3)])
        for days in (-1, 367):
            self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.stats(days=days))

    def test_accuracy_is_absent_without_submissions(self):
        self.assertEqual(self.stats(), verdict_service.GetVerdictStatsResponse())


class ScoringCase(VerdictCase):
    def score(self, client=None, score=0.5, confidence=1, subtype="", **fields):
        fields.setdefault("document_profile", verdicts.DocumentProfile(confidence=confidence, subtype=subtype))
        return (client or self.mine).verdicts.ScoreDocument(verdict_service.ScoreDocumentRequest(score=score, **fields))

    def weights(self, **fields):
        return [round(event.weight, 9) for event in self.score(**fields).events]

    def propose(self, pattern, state, adjustment=0.25, rule_type=MISSED_INDICATOR):
        rule = self.mine.learning.ProposeArtifact(learning.ProposeArtifactRequest(
            learned_rule=learning.ProposedRule(rule_type=rule_type, pattern=pattern, confidence_adjustment=adjustment),
            reason="seen often")).learned_rule
        self.decide(rule.id, state)
        return rule

    def decide(self, rule_id, state):
        self.mine.learning.SetArtifactState(learning.SetArtifactStateRequest(
            artifact_id=rule_id, state=state, reason="agreed"))

    def cite(self, *replies, verdict=FAKE, receipt="receipt", **fields):
        return self.submit(REAL, verdict, receipt_id=receipt, exposure_refs=[one.exposure_ref for one in replies],
                           **fields).submission


class Exposures(ScoringCase):
    def test_reference_explains_the_score_byte_for_byte(self):
        self.submit(REAL, FAKE, missed_indicators=["font"])
        self.submit(FAKE, REAL, rejected_indicators=["odd_spacing"])
        self.submit(REAL, REAL, confirmed_indicators=["font"])
        shadow = self.propose("paper", artifact.ARTIFACT_STATE_SHADOW)
        reply = self.score(score=0.5, confidence=0.5, subtype="POS", indicators=["font", "odd_spacing", "paper"])
        self.assertEqual((len(reply.events), reply.verdict), (3, SUSPICIOUS))
        before = self.mine.explain(exposure_ref=reply.exposure_ref)
        self.submit(FAKE, FAKE, confirmed_indicators=["font"], missed_indicators=["paper", "odd_spacing"])
        for event in reply.events:
            self.switch(learned_rule.LearnedRule(id=event.rule_id[len("LEARNED_"):]))
        self.decide(shadow.id, artifact.ARTIFACT_STATE_ACTIVE)
        made = self.mine.explain(exposure_ref=reply.exposure_ref)
        self.assertEqual(made, before)
        self.assertEqual([one.SerializeToString() for one in made.score_events],
                         [one.SerializeToString() for one in reply.events])
        self.assertTrue(made.text_matches)
        self.assertEqual(made.exposure_kind, event_log.EXPOSURE_KIND_SCORE)
        self.assertEqual([(one.shadow, one.learned_rule.state) for one in made.artifacts],
                         [(False, artifact.ARTIFACT_STATE_ACTIVE)] * 3 + [(True, artifact.ARTIFACT_STATE_SHADOW)])
        self.assertEqual([one.learned_rule.learned_from_feedback_count for one in made.artifacts], [2, 2, 1, 0])
        self.assertEqual([len(one.evidence) for one in made.artifacts], [2, 2, 1, 0])
        self.assertEqual((made.base_verdict, made.verdict, made.shadow_verdict), (SUSPICIOUS, SUSPICIOUS, FAKE))
        other = self.admin.create_org("stranger")
        stranger = self.server.client(self.admin.create_token(roles.ROLE_ADMIN, org_id=other.id).secret)
        self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: stranger.explain(exposure_ref=reply.exposure_ref))

    def test_score_of_the_past_has_the_rules_of_then(self):
        made = self.submit(REAL, FAKE, missed_indicators=["font"]).submission
        seq = self.mine.log.GetEvent(event_service.GetEventRequest(id=made.id)).event.seq
        then = self.score(indicators=["font", "paper"])
        self.switch(made.rule_changes[0].rule)
        self.submit(REAL, FAKE, missed_indicators=["paper"])
        self.mine.update_settings(stacking=score_stacking.SCORE_STACKING_MAX, fake_at=0.55)
        self.assertEqual(len(self.score(indicators=["font", "paper"]).events), 3)
        past = self.score(indicators=["font", "paper"], as_of_seq=seq)
        self.assertEqual((past.score, past.verdict, past.exposure_ref), (then.score, SUSPICIOUS, ""))
        for event in then.events:
            event.evidence.feedback_count, event.evidence.accuracy = 0, 0
        self.assertEqual(list(past.events), list(then.events))
        self.assertEqual(list(self.score(indicators=["font"], as_of_seq=1).events), [])

    def test_settings_choose_stacking_and_verdicts(self):
        self.submit(REAL, FAKE, missed_indicators=["font"])
        found = self.score(score=0.35, indicators=["font"])
        self.assertEqual((round(found.score, 9), found.verdict), (0.44, SUSPICIOUS))
        self.mine.update_settings(stacking=score_stacking.SCORE_STACKING_MAX)
        found = self.score(score=0.35, indicators=["font"])
        self.assertEqual((round(found.score, 9), found.verdict), (0.4, SUSPICIOUS))
        self.assertEqual([event.weight for event in found.events], [0.05, 0.04])
        self.mine.update_settings(suspicious_at=0.41)
        self.assertEqual(self.score(score=0.35, indicators=["font"]).verdict, REAL)
        self.mine.update_settings(suspicious_at=0.1, fake_at=0.4)
        self.assertEqual(self.score(score=0.35, indicators=["font"]).verdict, FAKE)
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.mine.update_settings(suspicious_at=0.5))
        self.assertEqual(list(bad_fields(error)), ["settings.suspicious_at"])

    def test_rule_in_shadow_changes_no_score(self):
        rule = self.propose("paper", artifact.ARTIFACT_STATE_SHADOW)
        reply = self.score(score=0.5, indicators=["paper"])
        self.assertEqual((reply.score, list(reply.events)), (0.5, []))
        self.assertEqual([one.learned_rule.id for one in self.mine.explain(exposure_ref=reply.exposure_ref).artifacts],
                         [rule.id])
        self.switch(rule, enabled=False)
        self.assertEqual(self.mine.explain(exposure_ref=self.score(indicators=["paper"]).exposure_ref).artifact_count, 0)


class Measures(ScoringCase):
    def measure(self, rule):
        found = self.mine.verdicts.GetLearnedRule(verdict_service.GetLearnedRuleRequest(id=rule.id))
        report = self.mine.learning.GetArtifactReport(learning.GetArtifactReportRequest(artifact_id=rule.id))
        self.assertEqual(list(report.rule_measures), list(found.measures))
        self.assertEqual(report.served.outcome_count,
                         sum(one.agreed_count + one.disagreed_count for one in found.measures))
        self.assertEqual(report.served.bad_count, sum(one.disagreed_count for one in found.measures))
        return found

    def counts(self, rule):
        one = self.measure(rule).measures[0]
        return one.agreed_count, one.disagreed_count, one.undecided_count, one.missed_count

    def test_cited_score_measures_its_rules_once(self):
        rule = self.propose("paper", artifact.ARTIFACT_STATE_SHADOW)
        other = self.propose("stamp", artifact.ARTIFACT_STATE_ACTIVE)
        hit = self.score(indicators=["paper"])
        miss = self.score(indicators=["font"])
        first = self.cite(hit)
        self.assertEqual([(one.seq, one.version, one.raises, one.shadow) for one in first.measured_scores[0].fired],
                         [(self.mine.log.GetEvent(event_service.GetEventRequest(id=rule.id)).event.seq, 1, True, True)])
        self.assertEqual(len(first.exposure_seqs), 1)
        again = self.cite(hit, verdict=REAL)
        self.assertEqual((list(again.exposure_seqs), list(again.measured_scores)), (list(first.exposure_seqs), []))
        self.assertEqual((self.counts(rule), self.counts(other)), ((1, 0, 0, 0), (0, 0, 0, 1)))
        self.cite(hit, miss, verdict=REAL, receipt="another")
        self.cite(miss, verdict=SUSPICIOUS)
        self.cite(hit, verdict=SUSPICIOUS, receipt="third")
        self.assertEqual((self.counts(rule), self.counts(other)), ((1, 1, 1, 0), (0, 0, 0, 1)))
        found = self.measure(rule).measures[0]
        self.assertEqual((found.precision.n, found.precision.estimate), (2, 0.5))
        self.assertAlmostEqual(found.precision.low, 0.0945, 4)
        self.assertAlmostEqual(found.precision.high, 0.9055, 4)
        self.assertEqual((found.recall.n, found.recall.estimate), (1, 1))
        self.assertFalse(self.measure(other).measures[0].precision.HasField("low"))
        explained = self.mine.explain(exposure_ref=hit.exposure_ref)
        self.assertEqual(sorted(one.receipt_id for one in explained.outcomes), ["another", "receipt", "third"])
        self.retract(first.id)
        self.assertEqual((self.counts(rule), self.counts(other)), ((0, 1, 1, 0), (0, 0, 0, 0)))
        self.cite(hit)
        self.assertEqual(self.counts(rule), (1, 1, 1, 0))

    def test_rule_is_measured_only_while_it_is_evaluated(self):
        rule = self.propose("paper", artifact.ARTIFACT_STATE_ACTIVE)
        before = self.score(indicators=["font"])
        self.switch(rule, enabled=False)
        disabled = self.score(indicators=["paper"])
        self.switch(rule, enabled=True)
        after = self.score(indicators=["paper"], subtype="POS")
        self.cite(before, disabled, after)
        self.assertEqual(self.counts(rule), (1, 0, 0, 1))

    def test_wrong_reference_stores_nothing(self):
        self.propose("paper", artifact.ARTIFACT_STATE_ACTIVE)
        good = self.score(indicators=["paper"]).exposure_ref
        other = self.admin.create_org("stranger to verdicts")
        stranger = self.server.client(self.admin.create_token(roles.ROLE_ADMIN, org_id=other.id).secret)
        foreign = self.score(stranger).exposure_ref
        examples = self.mine.examples("layout").exposure_ref
        before = len(self.mine.events())
        for wrong in (good[:-1], good[:-4], good[:20] + ("A" if good[20] != "A" else "B") + good[21:], foreign,
                      examples, "", "forged"):
            error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.submit(
                REAL, FAKE, missed_indicators=["font"], exposure_refs=[good, wrong]))
            self.assertEqual(list(bad_fields(error)), ["submission.exposure_refs[1]"])
        self.assertEqual(len(self.mine.events()), before)

    def test_rule_that_is_mostly_wrong_is_proposed_for_retirement(self):
        rule = self.propose("paper", artifact.ARTIFACT_STATE_ACTIVE)
        found = self.score(indicators=["paper"])
        for number in range(19):
            last = self.cite(found, verdict=REAL if number % 3 else FAKE, receipt=f"r{number}")
        self.assertEqual(self.measure(rule).rule.state, artifact.ARTIFACT_STATE_ACTIVE)
        self.cite(found, verdict=REAL, receipt="last")
        self.assertEqual(self.measure(rule).rule.state, artifact.ARTIFACT_STATE_SUNSET_PROPOSED)
        self.assertEqual(len(self.score(indicators=["paper"]).events), 1)
        self.retract(last.id)
        self.assertEqual(self.measure(rule).rule.state, artifact.ARTIFACT_STATE_ACTIVE)
        self.cite(found, verdict=REAL, receipt="one more")
        self.assertEqual(self.measure(rule).rule.state, artifact.ARTIFACT_STATE_SUNSET_PROPOSED)
        self.decide(rule.id, artifact.ARTIFACT_STATE_ACTIVE)
        for number in range(19):
            self.cite(found, verdict=REAL, receipt=f"kept {number}")
        self.assertEqual(self.measure(rule).rule.state, artifact.ARTIFACT_STATE_ACTIVE)
        self.cite(found, verdict=REAL, receipt="kept last")
        self.assertEqual(self.measure(rule).rule.state, artifact.ARTIFACT_STATE_SUNSET_PROPOSED)

    def test_report_measures_all_rules_together(self):
        self.propose("paper", artifact.ARTIFACT_STATE_ACTIVE)
        self.propose("font", artifact.ARTIFACT_STATE_ACTIVE, -0.25, FALSE_POSITIVE)
        self.propose("stamp", artifact.ARTIFACT_STATE_SHADOW)
        both, raised = self.score(indicators=["paper", "font"]), self.score(indicators=["paper"])
        hidden = self.score(indicators=["stamp"])
        self.assertEqual((both.verdict, raised.verdict, hidden.verdict), (SUSPICIOUS, FAKE, SUSPICIOUS))
        self.cite(both, raised)
        self.cite(raised, verdict=SUSPICIOUS, receipt="second")
        last = self.cite(raised, hidden, verdict=REAL, receipt="third")
        found = self.report()
        self.assertEqual((found.score_count, found.directed_count), (5, 4))
        self.assertEqual(self.sides(found), ((4, 1, 1, 2, 2, 1, 2, 1, 1, 1), (1, 0, 0, 0, 1, 0, 0, 0, 0, 1)))
        self.assertEqual([(one.n, one.estimate) for one in (
            found.live.coverage, found.live.overlap, found.live.conflict, found.live.precision, found.live.recall)],
            [(5, 0.8), (5, 0.2), (5, 0.2), (4, 0.5), (4, 0.5)])
        self.retract(last.id)
        found = self.report()
        self.assertEqual((found.score_count, found.directed_count), (3, 2))
        self.assertEqual(self.sides(found), ((3, 1, 1, 2, 1, 1, 2, 1, 1, 0), (0,) * 10))
        self.assertFalse(found.shadow.precision.HasField("estimate"))
        (self.folder / "org.token").write_text(
            self.admin.create_token(roles.ROLE_REVIEWER, org_id=self.org.id).secret + "\n")
        printed = self.run_cli("rules", "report", "--token-file", "org.token")[0]
        self.assertRegex(printed, r"live precision +0\.67 \(0\.21 to 0\.94\) of 3\n")
        self.assertRegex(printed, r"live flips +1 right, 1 wrong, 0 neither\n")
        self.assertRegex(printed, r"shadow precision +not measured\n")

    def report(self):
        return self.mine.learning.GetRuleSetReport(learning.GetRuleSetReportRequest())

    def sides(self, report):
        return tuple((one.covered_count, one.overlapping_count, one.conflicting_count, one.agreed_count,
                      one.disagreed_count, one.undecided_count, one.found_count, one.right_flip_count,
                      one.wrong_flip_count, one.undecided_flip_count) for one in (report.live, report.shadow))

    def test_command_line_cites_a_score(self):
        (self.folder / "org.token").write_text(
            self.admin.create_token(roles.ROLE_ADMIN, org_id=self.org.id).secret + "\n")
        own = "--token-file", "org.token"
        rule = self.propose("paper", artifact.ARTIFACT_STATE_ACTIVE)
        shown = self.run_cli("rules", "show", rule.id, *own)[0]
        self.assertRegex(shown, r"\n *1 +0 +0 +0 +0 +not measured +not measured\n")
        out, said = self.run_cli("verdicts", "score", "0.5", "--indicator", "paper", "--profile-confidence", "1",
                                 "--reference", *own)
        self.assertRegex(out, r"verdict:? +FAKE\n")
        reference = said.split("reference: ")[1].strip()
        self.run_cli("verdicts", "submit", "r", "--original", "fake", "--correct", "real", "--score", "0.75",
                     "--exposure", reference, *own)
        self.assertEqual(self.counts(rule), (0, 1, 0, 0))
        self.run_cli("verdicts", "submit", "s", "--original", "fake", "--correct", "fake", "--score", "0.75",
                     "--exposure", reference, *own)
        shown = self.run_cli("rules", "show", rule.id, *own)[0]
        self.assertRegex(shown, r"\n *1 +2 +1 +1 +0 +0\.50 \(0\.09 to 0\.91\) of 2 +1\.00 \(0\.21 to 1\.00\) of 1\n")


class Proposals(ScoringCase):
    """Rules that ProposeRules finds, against a recount of the submissions."""

    def setUp(self):
        super().setUp()
        self.sent = []  # oldest first
        draw = random.Random(20261124)
        words = "milk bread rice total paid card thanks shop street visit again bill".split()
        for number in range(600):
            text = [draw.choice(words) for _ in range(6)]
            features = {"total": draw.randrange(1000), "branch": draw.choice(["south", "east", "west"])}
            truth, original = draw.choice([REAL, REAL, REAL, FAKE]), None
            if number % 10 == 0:
                text[2:2] = ["Gift", "Card"]
                original, truth = REAL, FAKE
            elif features["total"] > 940:
                original, truth = REAL, FAKE
            elif number % 12 == 5:
                features["branch"] = "north"
                original, truth = FAKE, REAL
            self.send(f"r{number}", original or truth, truth, features, " ".join(text))

    def send(self, receipt, original, truth, features, text):
        self.submit(original, truth, receipt_id=receipt, original_score=0.38, text=text,
                    original_features_json=json.dumps(features))
        self.sent.append((original, truth, features, text.lower()))

    def found(self, client=None, **fields):
        return (client or self.mine).verdicts.ProposeRules(verdict_service.ProposeRulesRequest(**fields))

    @staticmethod
    def hits(pattern, features, text):
        if pattern.startswith("text:"):
            return pattern[5:] in text
        if "=" in pattern:
            return features.get(pattern.split("=")[0]) == pattern.split("=")[1]
        for sign in "<>":
            if sign in pattern:
                name, number = pattern.split(sign)
                return features[name] > float(number) if sign == ">" else features[name] < float(number)
        return bool(features.get(pattern))

    def check(self, one):
        """A rule's counts are those of the submissions, and its lift follows from them."""
        of_type = {FALSE_NEGATIVE: (REAL, FAKE), FALSE_POSITIVE: (FAKE, REAL)}[one.rule.rule_type]
        rows = [(self.hits(one.rule.pattern, features, text), (original, truth) == of_type, truth == of_type[1])
                for original, truth, features, text in self.sent]
        newer, f = rows[len(rows) // 2:], one.finding
        inside = [target for hit, target, _ in newer if hit]
        outside = [target for hit, target, _ in newer if not hit]
        self.assertEqual((f.submission_count, f.hit_count, f.target_count, f.other_count, f.other_target_count),
                         (len(rows), len(inside), sum(inside), len(outside), sum(outside)), one.rule.pattern)
        self.assertEqual((f.backtest_hit_count, f.agreement_count, f.false_alarm_count),
                         (sum(hit for hit, _, _ in rows), sum(hit and right for hit, _, right in rows),
                          sum(hit and not right for hit, _, right in rows)))
        self.assertGreaterEqual(f.hit_count, 5)
        self.assertGreater(f.lift_low, 2)
        self.assertLessEqual(f.lift_low, f.lift)
        self.assertLessEqual(f.lift, f.lift_high)

    def test_planted_patterns_are_proposed_with_their_counts(self):
        events = len(self.mine.events())
        dry = self.found(dry_run=True)
        self.assertEqual(len(self.mine.events()), events)
        done = self.found()
        self.assertEqual([one.rule.pattern for one in done.rules], [one.rule.pattern for one in dry.rules])
        self.assertEqual([one.finding.lift for one in done.rules], [one.finding.lift for one in dry.rules])
        for one in done.rules:
            self.check(one)
            self.assertEqual((one.rule.state, one.rule.auto_learned, one.rule.learned_from_feedback_count),
                             (artifact.ARTIFACT_STATE_PROPOSED, False, 0))
        patterns = {(one.rule.rule_type, one.rule.pattern) for one in done.rules}
        self.assertTrue({(FALSE_NEGATIVE, "text:gift"), (FALSE_NEGATIVE, "text:gift card")} & patterns, patterns)
        self.assertIn((FALSE_POSITIVE, "branch=north"), patterns)
        self.assertTrue([p for t, p in patterns if t == FALSE_NEGATIVE and p.startswith("total>")], patterns)
        gift = next(one for one in done.rules if "gift" in one.rule.pattern)
        self.assertEqual((gift.finding.right_flip_count, gift.finding.wrong_flip_count), (0, 0))
        self.assertEqual(self.score(score=0.38, indicators=[gift.rule.pattern]).score, 0.38)
        event = self.mine.log.GetEvent(event_service.GetEventRequest(id=gift.rule.id)).event.learned_rule_created
        self.assertEqual(event.finding, gift.finding)
        self.assertRegex(event.reason, r"^found: \d+ of \d+ hits are false negatives, lift [\d.]+ \([\d.]+ to [\d.]+\)$")
        again = {(one.rule.rule_type, one.rule.pattern) for one in self.found().rules}
        self.assertEqual(again & patterns, set())

    def test_number_of_rules_and_roles_are_limited(self):
        self.assertEqual(len(self.found(dry_run=True, max_rules=1).rules), 1)
        self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.found(max_rules=21))
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, lambda: self.found(self.client(roles.ROLE_OPERATOR)))

    def test_command_line_proposes(self):
        (self.folder / "org.token").write_text(
            self.admin.create_token(roles.ROLE_REVIEWER, org_id=self.org.id).secret + "\n")
        printed, said = self.run_cli("rules", "find", "--dry-run", "--token-file", "org.token")
        self.assertRegex(printed, r"FALSE_POSITIVE branch=north: \d+ of \d+ hits, lift [\d.]+ \([\d.]+ to [\d.]+\)")
        self.assertIn("nothing is stored", said)
        self.run_cli("rules", "find", "--token-file", "org.token")
        self.assertIn("proposed", self.run_cli("rules", "list", "--token-file", "org.token")[0])


class NoProposals(ScoringCase):
    def test_chance_proposes_nothing(self):
        draw = random.Random(7)
        for number in range(300):
            self.submit(draw.choice([REAL, FAKE]), draw.choice([REAL, FAKE]), receipt_id=f"r{number}",
                        original_features_json=json.dumps({"total": draw.randrange(1000), "vip": draw.random() < 0.3}),
                        text=" ".join(draw.choice("abc def ghi jkl mno".split()) for _ in range(5)))
        self.assertEqual(list(self.mine.verdicts.ProposeRules(verdict_service.ProposeRulesRequest()).rules), [])

    def test_organisation_without_submissions_has_none(self):
        self.assertEqual(list(self.mine.verdicts.ProposeRules(verdict_service.ProposeRulesRequest()).rules), [])


class Weights(ScoringCase):
    """Suggested weights: the formula is tested in tests/unit/weights."""

    def suggested(self, client=None, **fields):
        return (client or self.mine).verdicts.ListSuggestedWeights(
            verdict_service.ListSuggestedWeightsRequest(**fields))

    def apply(self, *rules, client=None, key=None, weight=None, **fields):
        return (client or self.mine).verdicts.ApplySuggestedWeights(verdict_service.ApplySuggestedWeightsRequest(
            weights=[measured_weight.ChosenWeight(rule_id=rule.id, weight=weight) for rule in rules], **fields),
            metadata=[("idempotency-key", key)] if key else None)

    def fire(self, indicator, agreed, disagreed=0):
        """Makes a rule fire in verdicts of `count` receipts; each confirms the indicator, and had the score 0.5."""
        found = self.score(indicators=[indicator])
        for number in range(agreed + disagreed):
            self.submit(REAL, FAKE if number < agreed else REAL, receipt_id=f"{indicator}{number}", original_score=0.5,
                        exposure_refs=[found.exposure_ref], confirmed_indicators=[indicator])

    def test_weight_is_suggested_from_five_firings_with_its_flips(self):
        rule = self.propose("paper", artifact.ARTIFACT_STATE_SHADOW, 0.05)
        self.fire("paper", 4)
        self.assertEqual(list(self.suggested().weights), [])
        self.fire("paper", 6)
        reply = self.suggested()
        one = reply.weights[0]
        self.assertEqual((one.rule.id, one.agreed_count, one.disagreed_count), (rule.id, 10, 0))
        self.assertEqual((one.rule.confidence_adjustment, round(one.weight, 9), round(one.low, 9), one.high),
                         (0.05, 0.10236076, 0.056457885, 0.5))
        self.assertEqual((reply.submission_count, reply.incomplete), (10, False))
        self.assertEqual((one.right_flip_count, one.wrong_flip_count, one.other_flip_count), (10, 0, 0))
        flip = one.right_flips[0]
        self.assertEqual((flip.receipt_id, flip.original_score, flip.correct_verdict, flip.previous_verdict,
                          flip.verdict), ("paper5", 0.5, FAKE, SUSPICIOUS, FAKE))
        self.assertEqual(self.mine.log.GetEvent(event_service.GetEventRequest(id=flip.submission_id)).event.kind,
                         event_log.EVENT_KIND_VERDICT_SUBMITTED)
        self.assertEqual([one.rule.id for one in self.suggested(rule_id=rule.id).weights], [rule.id])

    def test_wrong_flips_are_listed_apart_and_only_counted_beyond_twenty(self):
        self.propose("paper", artifact.ARTIFACT_STATE_ACTIVE, 0.1)
        found = self.score(indicators=["paper"])
        for number in range(60):
            verdict = FAKE if number < 30 else SUSPICIOUS
            self.submit(SUSPICIOUS, verdict, receipt_id=f"r{number}", original_score=0.5,
                        exposure_refs=[found.exposure_ref], confirmed_indicators=["paper"])
        one = self.suggested().weights[0]
        self.assertEqual((one.agreed_count, one.right_flip_count, one.wrong_flip_count), (30, 30, 30))
        self.assertEqual([flip.receipt_id for flip in one.wrong_flips], [f"r{n}" for n in range(59, 39, -1)])
        self.assertEqual([flip.receipt_id for flip in one.right_flips], [f"r{n}" for n in range(29, 9, -1)])

    def test_nothing_changes_until_a_person_applies_it(self):
        rule = self.propose("paper", artifact.ARTIFACT_STATE_ACTIVE, 0.05)
        self.fire("paper", 10)
        events = len(self.mine.events())
        dry = self.apply(rule)
        self.assertEqual((len(dry.changes), dry.unchanged_count, dry.changes[0].previous_weight), (1, 0, 0.05))
        self.assertEqual((len(self.mine.events()), self.score(indicators=["paper"]).score), (events, 0.55))
        done = self.apply(rule, apply=True, reason="ten of ten", weight=dry.changes[0].rule.confidence_adjustment,
                          key="once")
        self.assertEqual((done.changes[0].rule.version, done.changes[0].rule.state), (2, artifact.ARTIFACT_STATE_ACTIVE))
        self.assertAlmostEqual(self.score(indicators=["paper"]).score, 0.60236076, 9)
        self.assertEqual(self.mine.verdicts.ScoreDocument(verdict_service.ScoreDocumentRequest(
            score=0.5, indicators=["paper"], document_profile=verdicts.DocumentProfile(confidence=1),
            as_of_seq=self.mine.log.ListEvents(event_service.ListEventsRequest(page_size=1)).events[0].seq - 1)).score, 0.55)
        event = self.mine.log.ListEvents(event_service.ListEventsRequest(page_size=1)).events[0]
        self.assertEqual((event.kind, event.learned_rule_weight_set.reason, event.learned_rule_weight_set.agreed_count),
                         (event_log.EVENT_KIND_LEARNED_RULE_WEIGHT_SET, "ten of ten", 10))
        self.assertEqual(self.apply(rule, apply=True, reason="ten of ten", weight=dry.changes[0].rule.confidence_adjustment,
                                    key="once"), done)
        again = self.apply(rule, apply=True)
        self.assertEqual((len(again.changes), again.unchanged_count), (0, 1))
        self.assertEqual([one.version for one in self.mine.verdicts.GetLearnedRule(
            verdict_service.GetLearnedRuleRequest(id=rule.id)).measures], [2, 1])
        self.submit(REAL, FAKE, missed_indicators=["paper"])
        self.assertAlmostEqual(self.rules(pattern="paper")[-1].confidence_adjustment, 0.10236076, 9)
        self.fire("paper", 11)
        self.assertEqual(self.suggested(rule_id=rule.id).weights[0].agreed_count, 21)

    def test_weights_that_cannot_be_applied_are_refused_whole(self):
        good = self.propose("paper", artifact.ARTIFACT_STATE_ACTIVE)
        few = self.propose("stamp", artifact.ARTIFACT_STATE_ACTIVE)
        old = self.propose("font", artifact.ARTIFACT_STATE_ACTIVE)
        for pattern, count in (("paper", 5), ("stamp", 4), ("font", 5)):
            self.fire(pattern, count)
        self.decide(old.id, artifact.ARTIFACT_STATE_RETIRED)
        self.assertEqual([one.rule.id for one in self.suggested().weights], [good.id])
        events = len(self.mine.events())
        failed = grpc.StatusCode.FAILED_PRECONDITION
        for code, rules, fields, place in (
                (failed, (good, few), {}, "weights[1]"), (failed, (good, old), {}, "weights[1]"),
                (failed, (good,), {"weight": 0.3}, "weights[0].weight"),
                (grpc.StatusCode.INVALID_ARGUMENT, (good, good), {}, "weights[1]"),
                (grpc.StatusCode.NOT_FOUND, (good, self.admin.create_org("no rule")), {}, "weights[1]")):
            for apply in (False, True):
                error = self.assert_code(code, lambda: self.apply(*rules, apply=apply, **fields))
                self.assertIn(place, error.details())
        self.assertEqual(len(self.mine.events()), events)
        self.assert_code(grpc.StatusCode.NOT_FOUND, lambda: self.suggested(rule_id=self.org.id))

    def test_applied_weights_equal_a_recount(self):
        moments = random.Random(11)
        rules = [self.propose(f"p{number}", artifact.ARTIFACT_STATE_ACTIVE, (-1 if kind == FALSE_POSITIVE else 1) * 0.04, kind)
                 for number, kind in enumerate((MISSED_INDICATOR, FALSE_POSITIVE, FALSE_NEGATIVE))]
        made = []
        for number in range(90):
            found = self.score(indicators=[f"p{n}" for n in range(3) if moments.random() < 0.6])
            made.append(self.submit(REAL, moments.choice([REAL, FAKE, FAKE, SUSPICIOUS]), receipt_id=f"r{number}",
                                    exposure_refs=[found.exposure_ref]).submission.id)
            if number % 4 == 3:
                self.retract(made.pop(moments.randrange(len(made))))
            if number % 30 == 29:
                self.assertEqual(len(self.apply(*rules, apply=True).changes), 3)
        self.assertEqual(recount.check(self.mine), [])

    def test_rule_without_weight_gets_one_again(self):
        rule = self.propose("paper", artifact.ARTIFACT_STATE_ACTIVE, 0.05)
        self.fire("paper", 0, 5)
        self.assertEqual(self.apply(rule, apply=True).changes[0].rule.confidence_adjustment, 0)
        self.fire("paper", 25)
        change = self.apply(rule, apply=True).changes[0]
        self.assertEqual((change.previous_weight, change.agreed_count, change.disagreed_count), (0, 25, 5))
        self.assertAlmostEqual(change.rule.confidence_adjustment, 0.0817, 3)

    def test_pages_have_every_suggestion_once(self):
        rules = [self.propose(f"p{number}", artifact.ARTIFACT_STATE_ACTIVE) for number in range(23)]
        found = self.score(indicators=[f"p{number}" for number in range(23)])
        for number in range(5):
            self.cite(found, receipt=f"r{number}")
        first = self.suggested()
        self.assertEqual((len(first.weights), first.next_page_token != ""), (20, True))
        pages = self.mine.all_pages(self.mine.verdicts.ListSuggestedWeights,
                                    verdict_service.ListSuggestedWeightsRequest(page_size=7), "weights")
        self.assertEqual([one.rule.id for one in pages], [rule.id for rule in rules])

    def test_command_line_lists_and_applies(self):
        (self.folder / "org.token").write_text(
            self.admin.create_token(roles.ROLE_REVIEWER, org_id=self.org.id).secret + "\n")
        own = "--token-file", "org.token"
        rule = self.propose("paper", artifact.ARTIFACT_STATE_ACTIVE, 0.05)
        self.fire("paper", 10)
        printed = self.run_cli("rules", "suggest", *own)[0]
        self.assertRegex(printed, r"paper +\+0\.05 +\+0\.1024 \(\+0\.05646 to \+0\.5\) +10 +0 +10 right, 0 wrong")
        change = "MISSED_INDICATOR paper: +0.1024, was +0.05 (10 agreed, 0 disagreed)\n"
        printed, said = self.run_cli("rules", "apply", "--rule", rule.id, *own)
        self.assertEqual(printed, change)
        self.assertIn("nothing is stored without --apply: changed 1, unchanged 0", said)
        printed, said = self.run_cli("rules", "apply", "--rule", rule.id, "--apply", "--reason", "agreed", *own)
        self.assertEqual((printed, said.strip()), (change, "changed 1, unchanged 0"))
        self.run_cli("rules", "apply", *own, code=2)


class Scoring(ScoringCase):
    def test_score_of_an_organisation_without_rules_is_unchanged(self):
        reply = self.score(score=0.25, indicators=["font"])
        self.assertNotEqual(reply.exposure_ref, "")
        reply.exposure_ref = ""
        self.assertEqual(reply, verdict_service.ScoreDocumentResponse(score=0.25, unclamped_score=0.25, verdict=REAL))

    def test_one_false_negative_adds_both_rules(self):
        rules = [change.rule for change in self.submit(REAL, FAKE, missed_indicators=["font"]).submission.rule_changes]
        reply = self.score(score=0.3, indicators=["font", "font", "other"])
        self.assertEqual([(event.rule_id, event.severity, event.weight, event.message, event.suppressed_by,
                           event.evidence.rule_type, event.evidence.feedback_count, event.evidence.accuracy)
                          for event in reply.events],
                         [(f"LEARNED_{rule.id}", verdict_service.SCORE_SEVERITY_INFO, rule.confidence_adjustment,
                           "Learned rule applied: font", verdict_service.SCORE_GATE_UNSPECIFIED, rule.rule_type, 1, 0.5)
                          for rule in rules])
        self.assertAlmostEqual(reply.score, 0.39, 12)
        self.assertEqual(reply.unclamped_score, reply.score)

    def test_score_is_limited_to_0_and_1(self):
        self.submit(REAL, FAKE, missed_indicators=["font"])
        self.submit(FAKE, REAL, rejected_indicators=["spacing"])
        high = self.score(score=0.95, indicators=["font"])
        self.assertEqual((high.score, round(high.unclamped_score, 9)), (1, 1.04))
        low = self.score(score=0.01, indicators=["spacing"])
        self.assertEqual((low.score, round(low.unclamped_score, 9)), (0, -0.02))

    def test_gates_suppress_and_reduce(self):
        for pattern in ("missing_elements_total", "odd_spacing", "layout", "font"):
            self.submit(FAKE, FAKE, missed_indicators=[pattern])
        found = ["missing_elements_total", "odd_spacing", "layout", "font"]
        self.assertEqual(self.weights(indicators=found), [0, 0.04, 0.04, 0.04])
        self.assertEqual(self.weights(indicators=found, missing_fields_enabled=True), [0.04] * 4)
        self.assertEqual(self.weights(indicators=found, subtype="POS_RECEIPT"), [0, 0, 0, 0.04])
        self.assertEqual(self.weights(indicators=found, confidence=0.54), [0, 0.026, 0.026, 0.026])
        self.assertEqual(self.weights(indicators=found, document_profile=None), [0, 0.026, 0.026, 0.026])
        gates = [event.suppressed_by for event in self.score(indicators=found, subtype="POS").events]
        self.assertEqual(gates, [verdict_service.SCORE_GATE_MISSING_ELEMENTS, verdict_service.SCORE_GATE_POS_LAYOUT,
                                 verdict_service.SCORE_GATE_POS_LAYOUT, verdict_service.SCORE_GATE_UNSPECIFIED])

    def test_rules_match_features_and_text(self):
        for pattern in ("copied", "total>100", "currency=EUR", "text:STRASSE"):
            self.submit(FAKE, FAKE, missed_indicators=[pattern])
        self.assertEqual(len(self.weights(features_json='{"copied": true, "total": 100.5, "currency": "EUR"}',
                                          text="An der Straße 5")), 4)
        self.assertEqual(self.weights(features_json='{"copied": false, "total": 100, "currency": "eur"}',
                                      text="An der Strase 5"), [])

    def test_each_change_of_a_rule_changes_the_next_score(self):
        made = self.submit(FAKE, FAKE, missed_indicators=["font"]).submission
        rule = made.rule_changes[0].rule
        self.assertEqual(self.weights(indicators=["font"]), [0.04])
        self.switch(rule, enabled=False)
        self.assertEqual(self.weights(indicators=["font"]), [])
        self.switch(rule, enabled=True)
        self.submit(FAKE, FAKE, confirmed_indicators=["font"])
        event = self.score(indicators=["font"]).events[0]
        self.assertEqual((event.evidence.feedback_count, event.evidence.accuracy), (2, 0.52))
        for one in [event for event in self.mine.events()
                    if event.kind == event_log.EVENT_KIND_VERDICT_SUBMITTED]:
            self.retract(one.id)
        self.assertEqual(self.weights(indicators=["font"]), [])
        self.submit(FAKE, FAKE, missed_indicators=["font"])
        self.assertEqual(self.weights(indicators=["font"]), [0.04])

    def test_scores_are_independent_of_other_organisations(self):
        self.submit(FAKE, FAKE, missed_indicators=["font"])
        other = self.admin.create_org("other")
        theirs = self.server.client(self.admin.create_token(roles.ROLE_SERVICE, org_id=other.id).secret)
        self.assertEqual(list(self.score(theirs, indicators=["font"]).events), [])

    def test_order_of_submissions_does_not_matter(self):
        draw = random.Random(5)
        submissions = [(draw.choice((REAL, FAKE)), draw.choice((REAL, FAKE)),
                        {draw.choice(("missed_indicators", "rejected_indicators")): [f"p{draw.randrange(8)}"]})
                       for _ in range(30)]
        results = []
        for number in range(3):
            org = self.admin.create_org(f"order {number}")
            client = self.server.client(self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret)
            draw.shuffle(submissions)
            for original, correct, fields in submissions:
                self.submit(original, correct, client, **fields)
            reply = self.score(client, indicators=[f"p{i}" for i in range(8)])
            results.append((reply.score, reply.unclamped_score, sorted(
                (event.message, event.evidence.rule_type, event.weight) for event in reply.events)))
        self.assertEqual(results[0], results[1])
        self.assertEqual(results[0], results[2])

    def test_invalid_request_names_every_field(self):
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.mine.verdicts.ScoreDocument(
            verdict_service.ScoreDocumentRequest(indicators=["a", ""])))
        self.assertEqual(sorted(bad_fields(error)), ["indicators[1]", "score"])
        for fields in ({"score": 1.01}, {"score": -0.01}, {"score": float("nan")}, {"text": "x" * 16385},
                       {"indicators": [str(i) for i in range(201)]}, {"indicators": ["x" * 257]},
                       {"features_json": "[]"}, {"features_json": '{"a":'}, {"confidence": 1.01}):
            self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.score(**fields))
        self.score(indicators=[f"{i:0256}" for i in range(200)], text="x" * 16384, score=1)


class CommandLine(CliCase):
    def test_verdict_becomes_a_rule_that_is_switched(self):
        out, said = self.run_cli("verdicts", "submit", "r1", "--original", "real", "--correct", "fake", "--score", "0.3",
                                 "--missed", "font", "--missed", "text:paid", "--correction", "total=12.50",
                                 "--notes", "smudged", "--profile-confidence", "0.9", "--profile-subtype",
                                 "POS_RECEIPT")
        self.assertIn("learned FALSE_NEGATIVE font (count 1)", said)
        self.assertIn("several rules have the pattern font", said)
        event = json.loads(self.run_cli("events", "show", out.strip())[0])
        self.assertEqual(event["event"]["verdictSubmission"]["corrections"], {"total": "12.50"})
        self.assertEqual(event["event"]["verdictSubmission"]["documentProfile"],
                         {"confidence": 0.9, "subtype": "POS_RECEIPT"})
        rules = json.loads(self.run_cli("rules", "list", "--type", "missed-indicator", "--json")[0])["rules"]
        self.assertEqual([rule["pattern"] for rule in rules], ["font", "text:paid"])
        _, said = self.run_cli("rules", "disable", rules[0]["id"])
        self.assertIn("MISSED_INDICATOR font: disabled", said)
        self.assertIn("disabled", self.run_cli("rules", "show", rules[0]["id"])[0])
        disabled = self.run_cli("rules", "list", "--disabled", "--csv")[0].splitlines()
        self.assertEqual(len(disabled), 2)
        self.assertIn(rules[0]["id"], disabled[1])
        self.run_cli("rules", "enable", rules[0]["id"])
        self.assertEqual(len(self.run_cli("rules", "list", "--disabled", "--csv")[0].splitlines()), 1)
        scored = self.run_cli("verdicts", "score", "0.3", "--indicator", "font", "--indicator", "odd", "--text", "Paid!",
                              "--profile-confidence", "0.9")[0]
        self.assertRegex(scored, r"score +0\.48")
        self.assertIn("Learned rule applied: text:paid", scored)
        scored = json.loads(self.run_cli("verdicts", "score", "0.99", "--indicator", "font", "--json")[0])
        self.assertEqual(scored["score"], 1)
        self.assertEqual([event["weight"] for event in scored["events"]], [0.0325, 0.026])
        shown = self.run_cli("verdicts", "stats")[0]
        self.assertIn("REAL to FAKE", shown)
        self.assertIn("text:paid", shown)

    def test_missing_option_is_named(self):
        _, said = self.run_cli("verdicts", "submit", "r1", "--original", "real", "--score", "0.3", code=2)
        self.assertIn("--correct: missing", said)
        _, said = self.run_cli("rules", "list", "--enabled", "--disabled", code=2)
        self.assertIn("expected only one of them", said)


if __name__ == "__main__":
    main()
