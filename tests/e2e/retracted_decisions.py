#!/usr/bin/python3
"""RetractEvent of decisions through a real client: exactly the contributions of a decision are subtracted.

Goal: clusters, similar decisions, evidence, counts of evaluators and of prompts are as if the decision had not been
recorded; the decision stays in lists. Method: one erratad without a model, vectors of the caller; at the end the tables
are compared with a replay of the log.
"""
import random

import grpc

from erratad import decision, decision_service, event_service, guideline, guideline_service, learning, main, roles
from decisions import EDGE, HIGH, LOW, REJECTED
from effectiveness import EffectCase, IMPORTS, OTHER, RULE, TIMEOUTS


class RetractionCase(EffectCase):
    def retract(self, made, reason="a test run", client=None):
        return (client or self.mine).log.RetractEvent(event_service.RetractEventRequest(
            event_id=made.feedback_id, reason=reason)).retraction

    def tearDown(self):
        self.run_cli("admin", "verify")  # fails if the tables differ from a replay
        super().tearDown()

    def proposal(self, one):
        return self.mine.guidelines.GetProposal(guideline_service.GetProposalRequest(id=one.id)).proposal


class Retracted(RetractionCase):
    def test_it_leaves_its_cluster_and_stays_in_lists(self):
        made = [self.record(RULE, vector=TIMEOUTS, reviewer_id=name) for name in ("anna", "berta", "carl")]
        self.assertEqual(self.evaluate(made[0]).classification, HIGH)
        first = self.retract(made[1], client=self.client(roles.ROLE_REVIEWER, user_id="rita"))
        self.assertEqual(self.retract(made[1], "another reason"), first)
        self.assertEqual(self.evaluate(made[0]).classification, LOW)
        self.assertEqual([one.feedback_id for one in self.similar(made[0])], [made[2].feedback_id])
        listed = self.mine.decisions.ListDecisions(decision_service.ListDecisionsRequest()).decisions
        self.assertEqual([(one.decision_id, one.HasField("retracted_at"), one.retracted_by, one.retraction_reason)
                          for one in listed],
                         [("d-3", False, "", ""), ("d-2", True, "rita", "a test run"), ("d-1", False, "", "")])
        self.assertEqual(self.record(RULE, vector=TIMEOUTS, reviewer_id="berta", decision_id="d-2", task_id="task-2").feedback_id,
                         made[1].feedback_id)
        self.retract(made[0])
        self.retract(made[2])
        again = self.record("Close each file.", vector=TIMEOUTS)
        self.assertEqual((again.evaluation.classification, list(again.evaluation.similar_feedback_ids)), (LOW, []))

    def test_repeat_gets_the_first_answer(self):
        """The response to a decision names the similar ones of its time, including those that were retracted
        since."""
        first = self.record(RULE, vector=TIMEOUTS, reviewer_id="anna")
        words = dict(comment=RULE, vector=TIMEOUTS, reviewer_id="berta", decision_id="repeated", task_id="t")
        second = self.record(**words)
        self.assertEqual(list(second.evaluation.similar_feedback_ids), [first.feedback_id])
        self.retract(first)
        self.record(RULE, vector=TIMEOUTS, reviewer_id="carl")
        self.assertEqual(self.record(**words), second)

    def test_an_empty_cluster_is_not_joined(self):
        """After all members are retracted, the sums are removed: the next decision has no cluster."""
        for n in range(2):
            self.retract(self.record("Set it.", vector=TIMEOUTS, reviewer_id=f"r{n}"))
        one = self.record("Set a timeout here only.", vector=TIMEOUTS)
        self.assertIn(one.evaluation.classification, (EDGE, LOW))
        self.assertEqual(list(self.evaluate(one).similar_feedback_ids), [])

    def test_counts_of_evaluators_are_reduced(self):
        made = self.record(RULE, vector=TIMEOUTS)
        kept = self.record(RULE, vector=TIMEOUTS)
        for one in made, kept:
            self.mine.decisions.SubmitEvaluation(decision_service.SubmitEvaluationRequest(
                feedback_id=one.feedback_id, evaluation=decision.Evaluation(evaluator_id="judge", classification=HIGH)))
        override = decision_service.OverrideEvaluationRequest(feedback_id=made.feedback_id, classification=EDGE)
        self.reviewer().decisions.OverrideEvaluation(override)
        self.retract(made)
        found = {one.evaluator_id: (one.evaluations, one.judged, one.overridden) for one in
                 self.mine.decisions.GetEvaluatorReport(decision_service.GetEvaluatorReportRequest()).evaluators}
        self.assertEqual(found, {"errata-1": (1, 0, 0), "judge": (1, 0, 0)})
        self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.reviewer().decisions.OverrideEvaluation(override))
        self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.mine.decisions.SubmitEvaluation(
            decision_service.SubmitEvaluationRequest(feedback_id=made.feedback_id, evaluation=decision.Evaluation(
                evaluator_id="judge", classification=LOW))))

    def test_proposals_lose_evidence_and_guidelines_stay(self):
        """Without evidence a proposal is rejected; a guideline stays, with the number of its retracted decisions."""
        made = [self.record(RULE, vector=TIMEOUTS, reviewer_id=name) for name in ("anna", "berta", "carl")]
        pending, = self.generate(made[0].feedback_id).proposals
        for one in made[:2]:
            self.retract(one)
            self.assertEqual(self.proposal(pending).status, guideline.PROPOSAL_STATUS_PENDING)
        self.retract(made[2])
        ended = self.proposal(pending)
        self.assertEqual((ended.status, ended.rejection_reason), (guideline.PROPOSAL_STATUS_REJECTED, "evidence retracted"))
        self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.reviewer().guidelines.ApproveProposal(
            guideline_service.ApproveProposalRequest(proposal_id=pending.id)))
        active = self.guideline(vector=IMPORTS, rule="Sort the imports of each module.")
        evidence = list(active.created_from_feedback_ids)
        for n, one in enumerate(evidence):
            self.mine.log.RetractEvent(event_service.RetractEventRequest(event_id=one, reason="r"))
            shown, = self.mine.guidelines.ListActiveGuidelines(guideline_service.ListActiveGuidelinesRequest()).guidelines
            self.assertEqual((shown.id, shown.retracted_evidence_count), (active.id, n + 1))
        reference = self.mine.guidelines.BuildAgentPrompt(guideline_service.BuildAgentPromptRequest(
            agent_name="coder")).exposure_ref
        explained, = self.mine.learning.ExplainExposure(learning.ExplainExposureRequest(exposure_ref=reference)).artifacts
        self.assertEqual([one.retracted for one in explained.evidence], [False, False, True, True, True])
        gone = [self.record("Close each file after its use.", vector=OTHER).feedback_id for _ in range(2)]
        for one in gone:
            self.mine.log.RetractEvent(event_service.RetractEventRequest(event_id=one, reason="r"))
        self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.generate(*gone))

    def test_command_retracts_once(self):
        made = self.record(RULE, vector=TIMEOUTS)
        (self.folder / "admin").write_text(self.admin.create_token(roles.ROLE_ADMIN, org_id=self.org.id).secret)
        retract = "--token-file", str(self.folder / "admin"), "decisions", "retract", made.feedback_id, "--reason"
        out, error = self.run_cli(*retract, "twice")
        self.assertEqual(error, "")
        again, error = self.run_cli(*retract, "once more")
        self.assertEqual(again, out)
        self.assertRegex(error, r"^it was already retracted by \S+: twice\n$")
        self.assertEqual(self.get(feedback_id=made.feedback_id).retraction_reason, "twice")

    def test_outcomes_of_prompts_are_reduced(self):
        self.guideline()
        one, = self.effects()
        served = self.mine.guidelines.BuildAgentPrompt(guideline_service.BuildAgentPromptRequest(agent_name="coder"))
        cited = self.mine.decisions.RecordDecision(decision_service.RecordDecisionRequest(
            exposure_refs=[served.exposure_ref], decision=decision.Decision(
                decision_id="cited", gate_id="g", epic_id="e", agent_name="coder", decision=REJECTED)))
        before, = self.effects()
        self.assertEqual((before.served.outcome_count, before.served.bad_count, before.after.decisions), (1, 1, 1))
        self.retract(cited)
        after, = self.effects()
        self.assertEqual((after.served.outcome_count, after.served.bad_count, after.after.decisions), (0, 0, 0))
        self.assertEqual(len(self.mine.learning.ExplainExposure(learning.ExplainExposureRequest(
            exposure_ref=served.exposure_ref)).outcomes), 0)
        self.assertEqual(one.guideline.id, after.guideline.id)

    def test_random_history_equals_one_without_the_retracted(self):
        """The classes of the remaining decisions equal those of another organisation that never had the retracted
        decisions."""
        rng = random.Random(9)
        rows = [(rng.choice((TIMEOUTS, IMPORTS, OTHER)), f"r{rng.randrange(3)}", f"t{rng.randrange(6)}") for _ in range(30)]
        made = [self.record(RULE, vector=vector, reviewer_id=name, task_id=task) for vector, name, task in rows]
        gone = set(rng.sample(range(30), 15))
        for n in gone:
            self.retract(made[n])
        other = self.server.client(self.admin.create_token(
            roles.ROLE_ADMIN, org_id=self.admin.create_org(self.id() + "2").id).secret)
        kept = [n for n in range(30) if n not in gone]
        copies = [self.record(RULE, vector=rows[n][0], reviewer_id=rows[n][1], task_id=rows[n][2], client=other) for n in kept]
        for n, copy in zip(kept, copies):
            again = other.decisions.Evaluate(decision_service.EvaluateRequest(feedback_id=copy.feedback_id)).evaluation
            mine = self.evaluate(made[n])
            self.assertEqual((mine.classification, len(mine.similar_feedback_ids)),
                             (again.classification, len(again.similar_feedback_ids)))


if __name__ == "__main__":
    main()
