#!/usr/bin/python3
"""Decisions on agents' output through a real client: stored once, classified with reasons, clustered, found by similarity.

Goal: the rules of decisions hold over the wire. Method: one erratad without a model, stock gRPC; an organisation of its own
for each test; vectors of the caller where similarity must be exact.
"""
import json

import grpc
from google.protobuf import timestamp_pb2

from erratad import (admin, bad_fields, decision, decision_service, guideline, guideline_service, main,
                     organization_settings, roles)
from errata_cli import CliCase

APPROVED = decision.DECISION_OUTCOME_APPROVED
REJECTED = decision.DECISION_OUTCOME_REJECTED
CHANGED = decision.DECISION_OUTCOME_APPROVED_WITH_CHANGES
POSITIVE = decision.DECISION_CLASS_POSITIVE
AMBIGUOUS = decision.DECISION_CLASS_AMBIGUOUS
HIGH = decision.DECISION_CLASS_GENERALIZABLE_HIGH
LOW = decision.DECISION_CLASS_GENERALIZABLE_LOW
EDGE = decision.DECISION_CLASS_EDGE_CASE


class DecisionCase(CliCase):
    def setUp(self):
        self.org = self.admin.create_org(self.id().rsplit(".", 1)[1])
        self.mine = self.server.client(self.admin.create_token(roles.ROLE_ADMIN, org_id=self.org.id).secret)
        self.count = 0

    def client(self, role, **fields):
        return self.server.client(self.admin.create_token(role, org_id=self.org.id, **fields).secret)

    def record(self, comment="", outcome=REJECTED, vector=None, client=None, **fields):
        self.count += 1
        values = dict(decision_id=f"d-{self.count}", gate_id="HITL-1", epic_id="epic-1", task_id=f"task-{self.count}",
                      agent_name="coder", reviewer_id="anna") | fields
        return (client or self.mine).decisions.RecordDecision(decision_service.RecordDecisionRequest(
            decision=decision.Decision(decision=outcome, reviewer_comment=comment, **values),
            vector=vector and decision.DecisionVector(model="mine", values=vector)))

    def class_of(self, *args, **fields):
        return self.record(*args, **fields).evaluation.classification

    def get(self, **fields):
        return self.mine.decisions.GetDecision(decision_service.GetDecisionRequest(**fields)).decision

    def evaluate(self, made):
        return self.mine.decisions.Evaluate(decision_service.EvaluateRequest(feedback_id=made.feedback_id)).evaluation

    def similar(self, made, **fields):
        return self.mine.decisions.FindSimilar(decision_service.FindSimilarRequest(
            feedback_id=made.feedback_id, **fields)).similar


class Recording(DecisionCase):
    def test_decision_is_stored_whole(self):
        made = self.record("Add a test for the empty list.", CHANGED, correction_summary="test added",
                           correction_diff="@@ -1,2 +1,3 @@\n-a\n+b\n+c\n x\n", tags=["skill:testing"],
                           review_duration_seconds=7, agent_output_sha="aa", approved_output_sha="bb",
                           created_at=timestamp_pb2.Timestamp(seconds=1700000000))
        stored = self.get(feedback_id=made.feedback_id)
        self.assertEqual(self.get(decision_id="d-1"), stored)
        self.assertEqual((stored.reviewer_comment, stored.changed_lines, stored.created_at.seconds, list(stored.tags)),
                         ("Add a test for the empty list.", 2, 1700000000, ["skill:testing"]))
        self.assertEqual((stored.classification, stored.rationale, stored.theme),
                         (made.evaluation.classification, made.evaluation.rationale, b""))

    def test_decision_id_is_unique_forever(self):
        first = self.record("Add a test for the empty list.", decision_id="same", task_id="t")
        self.assertEqual(self.record("Add a test for the empty list.", decision_id="same", task_id="t"), first)
        self.assert_code(grpc.StatusCode.ALREADY_EXISTS, lambda: self.record("Other words here.", decision_id="same", task_id="t"))
        self.assertEqual(len(self.listed()), 1)

    def listed(self, **fields):
        return self.mine.all_pages(self.mine.decisions.ListDecisions,
                                   decision_service.ListDecisionsRequest(**fields), "decisions")

    def test_lists_are_newest_first(self):
        for n, agent in enumerate(("coder", "tester", "coder")):
            self.record("Nice work!", APPROVED, agent_name=agent, created_at=timestamp_pb2.Timestamp(seconds=1700000000 - n))
        self.assertEqual([one.decision_id for one in self.listed()], ["d-1", "d-2", "d-3"])
        self.assertEqual([one.decision_id for one in self.listed(agent_name="coder", page_size=1)], ["d-1", "d-3"])

    def test_invalid_fields_are_refused(self):
        refused = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.record("Words.", agent_name="", gate_id=""))
        self.assertEqual(sorted(bad_fields(refused)), ["decision.gate_id"])
        refused = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.record(
            "Words.", approved_output_sha="aa", vector=[0, 0]))
        self.assertEqual(sorted(bad_fields(refused)), ["decision.approved_output_sha", "vector.values"])

    def test_person_decides_as_itself(self):
        anna = self.client(roles.ROLE_REVIEWER, user_id="anna")
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, lambda: self.record("Nice work!", client=anna, reviewer_id="berta"))
        self.record("Nice work!", client=anna, reviewer_id="anna")

    def test_viewer_sees_no_words(self):
        made = self.record("Add a test for the empty list.")
        seen = self.client(roles.ROLE_VIEWER).decisions.GetDecision(
            decision_service.GetDecisionRequest(feedback_id=made.feedback_id)).decision
        self.assertEqual((seen.reviewer_comment, seen.rationale, seen.decision_id), ("", "", "d-1"))


class Classes(DecisionCase):
    def test_each_row_of_the_table_is_classified(self):
        self.assertEqual(self.class_of("Nice work!", APPROVED), POSITIVE)
        self.assertEqual(self.class_of("", APPROVED), POSITIVE)
        self.assertEqual(self.class_of("why?", APPROVED), AMBIGUOUS)
        self.assertEqual(self.class_of("", REJECTED), AMBIGUOUS)
        self.assertEqual(self.class_of("Approved, but always add a changelog entry", APPROVED), LOW)
        self.assertEqual(self.class_of("Row 17 of data/towns.csv has another spelling"), EDGE)

    def test_support_grows_to_high(self):
        """Three decisions of two reviewers on several tasks; the first is HIGH too, once it is evaluated
        again."""
        made = [self.record("Set a timeout on each remote call.", vector=[1, 0], reviewer_id=name)
                for name in ("anna", "anna", "berta")]
        self.assertEqual([one.evaluation.classification for one in made], [LOW, LOW, HIGH])
        self.assertEqual(list(made[2].evaluation.similar_feedback_ids), [made[1].feedback_id, made[0].feedback_id])
        self.assertEqual(made[2].evaluation.proposed_action, decision.PROPOSED_ACTION_CREATE_RULE)
        self.assertIn("3 decisions by 2 reviewers on 3 tasks", made[2].evaluation.rationale)
        again = self.evaluate(made[0])
        self.assertEqual((again.classification, len(again.similar_feedback_ids)), (HIGH, 2))

    def test_one_reviewer_is_low_at_most(self):
        made = [self.record("Set a timeout on each remote call.", vector=[1, 0]) for _ in range(5)]
        self.assertEqual(made[-1].evaluation.classification, LOW)

    def test_contradicting_reviewers_are_ambiguous(self):
        self.record("Indent the code with tabs please.", vector=[1, 0], reviewer_id="anna")
        made = self.record("Indent the code with spaces, never tabs.", vector=[1, 0], reviewer_id="berta")
        self.assertEqual(made.evaluation.classification, AMBIGUOUS)

    def test_praise_is_not_support(self):
        self.record("Set a timeout on each remote call.", vector=[1, 0], reviewer_id="anna")
        self.record("Nice timeout!", vector=[1, 0], reviewer_id="berta")
        made = self.record("Set a timeout on each remote call.", vector=[1, 0], reviewer_id="carl")
        self.assertEqual(len(made.evaluation.similar_feedback_ids), 1)

    def test_own_words_are_clustered(self):
        """Without vectors of the caller: the same theme rephrased, and another one."""
        first = self.record("All remote calls need a timeout.")
        same = self.record("Network requests without a timeout hang forever.")
        other = self.record("Sort the imports of every module.")
        self.assertEqual(list(same.evaluation.similar_feedback_ids), [first.feedback_id])
        self.assertEqual(list(other.evaluation.similar_feedback_ids), [])


class Evaluators(DecisionCase):
    def submit(self, made, evaluator, klass, **fields):
        return self.mine.decisions.SubmitEvaluation(decision_service.SubmitEvaluationRequest(
            feedback_id=made.feedback_id, evaluation=decision.Evaluation(
                evaluator_id=evaluator, classification=klass, confidence=0.75, **fields))).evaluation

    def override(self, made, klass, user="rita", reason="seen it before"):
        return self.client(roles.ROLE_REVIEWER, user_id=user).decisions.OverrideEvaluation(
            decision_service.OverrideEvaluationRequest(
                feedback_id=made.feedback_id, classification=klass, reason=reason)).evaluation

    def stored(self, made):
        return self.mine.decisions.GetDecision(decision_service.GetDecisionRequest(feedback_id=made.feedback_id))

    def report(self):
        """The counts by evaluator."""
        found = self.mine.decisions.GetEvaluatorReport(decision_service.GetEvaluatorReportRequest()).evaluators
        return {one.evaluator_id: one for one in found}

    def select(self, evaluator):
        self.mine.admin.UpdateSettings(admin.UpdateSettingsRequest(
            settings=organization_settings.OrganizationSettings(evaluator_id=evaluator)))

    def test_setting_selects_whose_class_takes_effect(self):
        made = self.record("Always set a timeout on each remote call.")
        self.submit(made, "judge", EDGE, rationale="one file only")
        self.assertEqual(self.stored(made).evaluation.evaluator_id, "errata-1")
        self.select("judge")
        stored = self.stored(made)
        self.assertEqual((stored.evaluation.evaluator_id, stored.evaluation.classification, stored.evaluation.rationale),
                         ("judge", EDGE, "one file only"))
        self.assertEqual([one.evaluator_id for one in stored.evaluations], ["errata-1", "judge"])
        other = self.record("Always sort the imports of each module.")
        self.assertEqual(self.stored(other).evaluation.evaluator_id, "errata-1")
        self.submit(made, "judge", LOW)
        self.assertEqual([one.classification for one in self.stored(made).evaluations], [LOW, LOW])

    def test_person_overrides_every_evaluator(self):
        made = self.record("Always set a timeout on each remote call.")
        self.select("judge")
        self.submit(made, "judge", LOW)
        changed = self.override(made, EDGE)
        self.assertEqual((changed.classification, changed.evaluator_id, changed.is_override, changed.rationale),
                         (EDGE, "rita", True, "seen it before"))
        self.assertEqual(self.stored(made).evaluation, changed)

    def test_overrides_measure_evaluators(self):
        """Each decision counts once, by its last classes: four classified by the server, three of them judged,
        one wrong."""
        made = [self.record("Always set a timeout on each remote call.", vector=[n == 0, n == 1, n == 2, n == 3])
                for n in range(4)]
        self.assertEqual({one.evaluation.classification for one in made}, {LOW})
        self.submit(made[0], "judge", EDGE)
        self.override(made[0], HIGH)
        self.override(made[0], EDGE)
        self.override(made[1], LOW)
        self.override(made[2], LOW)
        self.submit(made[1], "judge", EDGE)
        self.submit(made[1], "judge", LOW)
        ours, judge = self.report()["errata-1"], self.report()["judge"]
        self.assertEqual((ours.evaluations, ours.judged, ours.overridden, ours.takes_effect), (4, 3, 1, True))
        self.assertEqual((judge.evaluations, judge.judged, judge.overridden, judge.takes_effect), (2, 2, 0, False))
        self.assertEqual((ours.accuracy, judge.accuracy), (0.75, 1))
        self.assertAlmostEqual(ours.accuracy_low, 0.3006, places=4)  # Wilson's interval of 3 in 4
        self.assertAlmostEqual(ours.accuracy_high, 0.9544, places=4)

    def test_names_and_numbers_are_checked(self):
        made = self.record("Always set a timeout on each remote call.")
        refused = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.submit(made, "errata-9", LOW))
        self.assertEqual(list(bad_fields(refused)), ["evaluation.evaluator_id"])
        for n in range(16):
            self.submit(made, f"judge-{n}", LOW)
        self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.submit(made, "judge-16", LOW))
        self.submit(made, "judge-3", EDGE)

    def test_gates_have_agents(self):
        refused = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.record("Nice work!", agent_name=""))
        self.assertEqual(list(bad_fields(refused)), ["decision.agent_name"])
        self.mine.admin.UpdateSettings(admin.UpdateSettingsRequest(settings=organization_settings.OrganizationSettings(
            gate_agents=organization_settings.GateAgents(gates=[organization_settings.GateAgent(gate_id="HITL-1", agent_name="coder")]))))
        first = self.record("Nice work!", agent_name="", decision_id="same", task_id="t")
        self.assertEqual(self.get(feedback_id=first.feedback_id).agent_name, "coder")
        self.assertEqual(self.record("Nice work!", agent_name="", decision_id="same", task_id="t"), first)


class Generating(DecisionCase):
    def reviewed(self, comments, vector, reviewers=("anna", "berta", "carl"), **fields):
        """One decision for each comment, by reviewers in turn, on tasks of their own."""
        return [self.record(comment, vector=vector, reviewer_id=reviewers[n % len(reviewers)], **fields)
                for n, comment in enumerate(comments)]

    def generate(self, *ids, client=None):
        return list((client or self.mine).guidelines.GenerateProposal(
            guideline_service.GenerateProposalRequest(feedback_ids=ids)).proposals)

    def pending(self):
        return self.mine.all_pages(self.mine.guidelines.ListPendingProposals,
                                   guideline_service.ListPendingProposalsRequest(), "proposals")

    def vote(self, proposal, user):
        return self.client(roles.ROLE_REVIEWER, user_id=user).guidelines.ApproveProposal(
            guideline_service.ApproveProposalRequest(proposal_id=proposal.id)).proposal

    def test_batch_makes_one_proposal_of_each_general_cluster(self):
        timeouts = self.reviewed(["Set a timeout on each remote call."] * 3, [1, 0, 0])
        self.reviewed(["Sort the imports of each module."] * 2, [0, 1, 0])
        self.reviewed(["Write tables in lower case."] * 3, [0, 0, 1], reviewers=("anna",))
        made = self.generate()
        self.assertEqual([one.rule_content for one in made], ["Set a timeout on each remote call."])
        self.assertEqual(list(made[0].created_from_feedback_ids), [one.feedback_id for one in reversed(timeouts)])
        self.assertEqual((made[0].proposed_by, made[0].rule_type, list(made[0].affected_agents), made[0].status,
                          made[0].expedited, made[0].HasField("sole_author")),
                         ("errata", guideline.RULE_TYPE_NEGATIVE_EXAMPLE, ["coder"], guideline.PROPOSAL_STATUS_PENDING,
                          False, False))
        self.assertIn("3 decisions by 3 reviewers on 3 tasks", made[0].evidence_summary)
        self.assertEqual(made[0].classification_confidence, timeouts[2].evaluation.confidence)
        self.assertEqual(self.generate(), [])
        self.assertEqual([one.id for one in self.pending()], [made[0].id])
        self.assertEqual(self.evaluate(timeouts[0]).proposal_id, made[0].id)
        stored = self.mine.decisions.GetDecision(decision_service.GetDecisionRequest(feedback_id=timeouts[0].feedback_id))
        self.assertEqual([one.proposal_id for one in (stored.evaluation, *stored.evaluations)], [made[0].id] * 2)

    def test_rejected_cluster_is_not_proposed_again(self):
        self.reviewed(["Set a timeout on each remote call."] * 3, [1, 0])
        made = self.generate()[0]
        self.client(roles.ROLE_REVIEWER, user_id="rita").guidelines.RejectProposal(
            guideline_service.RejectProposalRequest(proposal_id=made.id, reason="too broad"))
        later = self.reviewed(["Set a timeout on each remote call."], [1, 0])[0]
        self.assertEqual(self.generate(), [])
        refused = self.assert_code(grpc.StatusCode.ALREADY_EXISTS, lambda: self.generate(later.feedback_id))
        self.assertIn(made.id, refused.details())

    def test_type_and_text_are_those_of_most(self):
        comments = ["Add a type hint to each function.", "Add type hints.", "Functions need type hints."]
        vectors = [[0.8, 0.6, 0], [1, 0, 0], [0.8, -0.6, 0]]
        made = [self.record(comment, CHANGED, vector=vector, reviewer_id=name)
                for comment, vector, name in zip(comments, vectors, ("anna", "berta", "carl"))]
        proposal = self.generate(*(one.feedback_id for one in made))[0]
        self.assertEqual((proposal.rule_content, proposal.rule_type), ("Add type hints.", guideline.RULE_TYPE_GUIDELINE))

    def test_sole_author_and_proposer_cannot_approve(self):
        made = self.reviewed(["Always set a timeout on each remote call."] * 3, [1, 0], reviewers=("anna",))
        self.assertEqual(self.generate(), [])
        paul = self.client(roles.ROLE_REVIEWER, user_id="paul")
        proposal = self.generate(made[0].feedback_id, client=paul)[0]
        self.assertEqual((proposal.sole_author, proposal.proposed_by, len(proposal.created_from_feedback_ids)),
                         ("anna", "paul", 3))
        for user in ("anna", "paul"):
            self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.vote(proposal, user))
        self.vote(proposal, "rita")
        self.assertEqual(self.vote(proposal, "ralf").status, guideline.PROPOSAL_STATUS_APPROVED)

    def test_certain_cluster_is_expedited(self):
        """The proposal is created by the decision that makes the support of the cluster HIGH, and is
        listed first."""
        self.reviewed(["Sort the imports of each module."] * 3, [0, 1])
        self.generate()
        made, count = [], 0
        while count < 20 and not (made and made[-1].evaluation.proposal_id):
            made += [self.record("Set a timeout on each remote call.", vector=[1, 0], reviewer_id=f"r-{count % 5}",
                                 epic_id=f"epic-{count % 4}")]
            count += 1
        self.assertGreaterEqual(made[-1].evaluation.confidence, 0.9)
        self.assertLess(made[-2].evaluation.confidence, 0.9)
        listed = self.pending()
        self.assertEqual((listed[0].id, listed[0].expedited), (made[-1].evaluation.proposal_id, True))
        self.assertEqual(len(listed), 2)
        self.record("Set a timeout on each remote call.", vector=[1, 0], reviewer_id="r-9")
        self.assertEqual(len(self.pending()), 2)

    def test_overrides_change_what_is_proposed(self):
        made = self.reviewed(["Set a timeout on each remote call."] * 3, [1, 0])
        single = self.record("Always name each table in lower case.", vector=[0, 1])
        rita = self.client(roles.ROLE_REVIEWER, user_id="rita")
        for one, klass in ((made[0], POSITIVE), (single, HIGH)):
            rita.decisions.OverrideEvaluation(decision_service.OverrideEvaluationRequest(
                feedback_id=one.feedback_id, classification=klass))
        self.assertEqual([one.rule_content for one in self.generate()], ["Always name each table in lower case."])

    def test_what_is_no_evidence_is_refused(self):
        made = self.record("Nice work!", APPROVED)
        self.assert_code(grpc.StatusCode.NOT_FOUND, lambda: self.generate("00000000-0000-7000-8000-000000000000"))
        self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.generate(self.record("x" * 501).feedback_id))
        self.assertEqual(made.evaluation.classification, POSITIVE)


class Similar(DecisionCase):
    def test_similar_ones_are_ranked(self):
        made = self.record("First wish of many reviewers.", vector=[1, 0, 0])
        near = self.record("Second wish of many reviewers.", vector=[0.95, 0.312249, 0])
        far = self.record("Third wish of many reviewers.", vector=[0.6, 0.8, 0], agent_name="tester")
        self.record("Fourth wish of many reviewers.", vector=[1, 0])
        self.assertEqual([one.feedback_id for one in self.similar(made)], [near.feedback_id])
        found = self.similar(made, threshold=0.5)
        self.assertEqual([one.feedback_id for one in found], [near.feedback_id, far.feedback_id])
        self.assertAlmostEqual(found[1].score, 0.6, places=3)
        self.assertEqual([one.feedback_id for one in self.similar(made, threshold=0.5, agent_name="tester")],
                         [far.feedback_id])
        self.assertEqual(len(self.similar(made, threshold=0, limit=1)), 1)

    def find(self, **fields):
        return [one.feedback_id for one in self.mine.decisions.FindSimilar(
            decision_service.FindSimilarRequest(**fields)).similar]

    def test_similar_decisions_are_found_by_text_and_by_vector(self):
        """A text has the search results of a decision with that text; vectors of the caller are compared in
        their own space."""
        made = self.record("Set a timeout on each remote call.")
        self.record("Sort the imports of each module.")
        mine = self.record("Close each file.", vector=[1, 0])
        self.assertEqual(self.find(text="Set a timeout on each remote call."), [made.feedback_id])
        again = self.record("Set a timeout on each remote call.")
        by_text = self.mine.decisions.FindSimilar(decision_service.FindSimilarRequest(
            text="Set a timeout on each remote call.", threshold=0)).similar
        by_id = self.similar(again, threshold=0)
        self.assertEqual([one for one in by_text if one.feedback_id != again.feedback_id], list(by_id))
        self.assertEqual(self.find(vector=decision.DecisionVector(model="mine", values=[2, 0.1])), [mine.feedback_id])
        self.assertEqual(self.find(vector=decision.DecisionVector(model="other", values=[1, 0])), [])
        for about in ({}, {"text": ""}):
            refused = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.find(**about))
            self.assertEqual(list(bad_fields(refused)), ["about"])
        refused = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.find(
            vector=decision.DecisionVector(model="mine", values=[0, 0])))
        self.assertEqual(list(bad_fields(refused)), ["vector.values"])

    def test_other_organisations_are_not_found(self):
        made = self.record("First wish of many reviewers.", vector=[1, 0])
        self.assert_code(grpc.StatusCode.NOT_FOUND, lambda: self.admin.decisions.FindSimilar(
            decision_service.FindSimilarRequest(feedback_id=made.feedback_id)))


class CommandLine(DecisionCase):
    """`errata decisions`, `errata proposals generate` and `errata agent prompt --origin`, by `errata` only."""

    def setUp(self):
        super().setUp()
        for name in ("anna", "berta", "carl", "paul"):
            (self.folder / name).write_text(self.admin.create_token(
                roles.ROLE_REVIEWER, org_id=self.org.id, user_id=name).secret)

    def run_as(self, name, *words, **options):
        return self.run_cli("--token-file", str(self.folder / name), *words, **options)

    def decide(self, name, number, *words, **options):
        """Records a numbered decision as a reviewer; returns its id and its expected values."""
        made, said = self.run_as(name, "decisions", "record", f"d-{number}", "--gate", "HITL-1", "--epic", "epic-1",
                                 "--task", f"task-{number}", "--decision", "rejected", "--agent", "coder", *words, **options)
        return made.strip(), said

    def wish(self):
        """Records the same request by three reviewers; returns the ids of the decisions."""
        return [self.decide(name, number, "--comment", "Set a timeout on each remote call.")[0]
                for number, name in enumerate(("anna", "berta", "carl"))]

    def test_every_option_is_stored(self):
        (self.folder / "change.diff").write_text("@@ -1 +1,2 @@\n-a\n+b\n+c\n")
        made, said = self.decide(
            "anna", 1, "--comment", "-", "--summary", "test added", "--diff", "@change.diff",
            "--diff-path", "skills/x.diff", "--tag", "skill:testing", "--tag", "urgent", "--duration", "7",
            "--output-sha", "aa", "--created-at", "2023-11-14T22:13:20Z", stdin="Add a test for the empty list.")
        stored = self.get(feedback_id=made)
        self.assertEqual(
            (stored.decision_id, stored.gate_id, stored.epic_id, stored.task_id, stored.agent_name, stored.decision,
             stored.reviewer_id, stored.reviewer_comment, stored.correction_summary, stored.correction_diff,
             stored.correction_diff_path, list(stored.tags), stored.review_duration_seconds, stored.agent_output_sha,
             stored.created_at.seconds),
            ("d-1", "HITL-1", "epic-1", "task-1", "coder", REJECTED, "anna", "Add a test for the empty list.", "test added",
             "@@ -1 +1,2 @@\n-a\n+b\n+c\n", "skills/x.diff", ["skill:testing", "urgent"], 7, "aa", 1700000000))
        self.assertEqual(said.splitlines(), ["class: EDGE_CASE", *stored.rationale.splitlines()])

    def test_mistakes_are_named(self):
        said = self.run_as("anna", "decisions", "record", "d-1", "--gate", "HITL-1", "--epic", "epic-1", code=2)[1]
        self.assertIn("--decision: missing", said)
        said = self.run_as("anna", "decisions", "record", "d-1", "--gate", "HITL-1", "--epic", "epic-1",
                           "--decision", "revise", code=2)[1]
        self.assertIn("expected", said)
        said = self.run_as("anna", "decisions", "evaluate", "00000000-0000-7000-8000-000000000000", code=1)[1]
        self.assertIn("not found", said)

    def test_decisions_are_listed_and_compared(self):
        first, second, _ = self.wish()
        other = self.decide("anna", 9, "--comment", "Sort the imports of each module.")[0]
        listed = self.run_as("anna", "decisions", "list", "--csv")[0].splitlines()
        self.assertEqual([line.split(",")[0] for line in listed[1:3]], [other, self.get(decision_id="d-2").id])
        self.assertIn("GENERALIZABLE_HIGH", self.run_as("anna", "decisions", "list", "--agent", "coder")[0])
        self.assertIn("no decisions", self.run_as("anna", "decisions", "list", "--agent", "tester")[1])
        similar = self.run_as("anna", "decisions", "similar", first)[0]
        self.assertIn(second, similar)
        self.assertNotIn(first, similar)
        self.assertNotIn(other, similar)
        self.assertEqual(len(self.run_as("anna", "decisions", "similar", first, "--limit", "1")[0].split("\n\n")[-1].split()), 6)
        self.assertIn("no similar decisions", self.run_as("anna", "decisions", "similar", first, "--agent", "tester")[1])

    def test_classes_are_evaluated_and_overridden(self):
        first = self.wish()[0]
        shown = self.run_as("anna", "decisions", "evaluate", first)[0]
        self.assertRegex(shown, r"class +GENERALIZABLE_HIGH")
        self.assertRegex(shown, r"action +CREATE_RULE")
        self.assertEqual(self.run_as("paul", "decisions", "override", first, "--class", "edge-case", "--reason",
                                     "only here")[0], "EDGE_CASE\n")
        changed = self.mine.decisions.GetDecision(decision_service.GetDecisionRequest(feedback_id=first)).evaluation
        self.assertEqual((changed.classification, changed.evaluator_id, changed.rationale), (EDGE, "paul", "only here"))

    def test_each_line_of_a_prompt_has_an_origin(self):
        """Follows decisions to a rule in the prompt, and the rule back to its decisions and approvers."""
        made = self.wish()
        drafted = self.run_as("paul", "proposals", "generate")[0].strip()
        self.assertIn(drafted, self.run_as("paul", "proposals", "generate", made[0], code=1)[1])
        self.assertIn("no cluster", self.run_as("paul", "proposals", "generate")[1])
        for name in ("anna", "berta"):
            self.run_as(name, "proposals", "approve", drafted)
        plain = self.run_as("paul", "agent", "prompt", "coder", "--base", "You write code.")[0]
        self.assertTrue(plain.endswith("- [NEGATIVE_EXAMPLE] Set a timeout on each remote call.\n"), plain)
        shown = self.run_as("paul", "agent", "prompt", "coder", "--base", "You write code.", "--origin")[0]
        self.assertTrue(shown.startswith(plain + "\n"), shown)
        origin = shown[len(plain):]
        self.assertRegex(origin, r"rule +Set a timeout on each remote call\.\n")
        self.assertRegex(origin, rf"guideline +{drafted}\n")
        self.assertRegex(origin, r"proposed by +errata\n")
        self.assertRegex(origin, r"decisions +" + ", ".join(reversed(made)))
        self.assertRegex(origin, r"approved by +anna, berta\n")
        lines = [json.loads(line) for line in self.run_as(
            "paul", "agent", "prompt", "coder", "--origin", "--json")[0].splitlines()]
        self.assertEqual((lines[0]["guidelineIds"], lines[1]["proposal"]["createdFromFeedbackIds"]),
                         ([drafted], made[::-1]))

    def test_proposals_are_drafted_from_the_named_decisions(self):
        made = [self.decide(name, number, "--comment", comment)[0] for number, (name, comment) in enumerate(
            (("anna", "Sort the imports of each module."), ("berta", "Write tables in lower case.")))]
        drafted = self.run_as("paul", "proposals", "generate", *made)[0].strip()
        stored = self.mine.guidelines.GetProposal(guideline_service.GetProposalRequest(id=drafted)).proposal
        self.assertEqual((set(stored.created_from_feedback_ids), stored.proposed_by), (set(made), "paul"))


if __name__ == "__main__":
    main()
