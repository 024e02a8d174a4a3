#!/usr/bin/python3
"""Effects of guidelines through a real client: similar feedback before and after, outcomes, sunset; and reviewers' parts.

Goal: the counts equal those of the decisions that were recorded; only guidelines without a benefit after 50 decisions are
proposed for retirement, they stay in effect, and a person keeps or retires them. Method: one erratad without a model, vectors
of the caller so that clusters are exact.
"""
import random

import grpc
from google.protobuf import timestamp_pb2

from erratad import admin, artifact, decision, decision_service, event_log, extraction, guideline_service, learning, main, organization_settings, roles
from decisions import APPROVED, REJECTED, DecisionCase

TIMEOUTS, IMPORTS, OTHER = [1, 0, 0], [0, 1, 0], [0, 0, 1]
RULE = "Set a timeout on each remote call."


class EffectCase(DecisionCase):
    def setUp(self):
        super().setUp()
        self.mine.admin.UpdateSettings(admin.UpdateSettingsRequest(
            settings=organization_settings.OrganizationSettings(votes_needed=1)))

    def generate(self, *ids):
        return self.mine.guidelines.GenerateProposal(guideline_service.GenerateProposalRequest(feedback_ids=ids))

    def reviewer(self, name="rita"):
        return self.client(roles.ROLE_REVIEWER, user_id=name)

    def guideline(self, vector=TIMEOUTS, rule=RULE):
        """A guideline drafted from three decisions of three reviewers."""
        for name in "anna", "berta", "carl":
            last = self.record(rule, vector=vector, reviewer_id=name)
        made, = self.generate(last.feedback_id).proposals
        return self.reviewer().guidelines.ApproveProposal(guideline_service.ApproveProposalRequest(proposal_id=made.id)).proposal

    def effects(self, **fields):
        return self.mine.all_pages(self.mine.guidelines.GetGuidelineEffectiveness,
                                   guideline_service.GetGuidelineEffectivenessRequest(**fields), "guidelines")

    def state(self, made):
        return self.mine.learning.GetArtifactReport(learning.GetArtifactReportRequest(artifact_id=made.id)).state

    def decide(self, count, similar, **fields):
        for n in range(count):
            self.record(RULE, vector=TIMEOUTS if n < similar else OTHER, **fields)


class Feedback(EffectCase):
    def test_similar_feedback_is_counted_before_and_after(self):
        """Decisions for other agents do not count; backdated ones count by their time."""
        self.decide(7, 0)
        made = self.guideline()
        self.decide(10, 2)
        self.decide(5, 5, agent_name="writer")
        importer = self.client(roles.ROLE_INTEGRATOR)
        self.record(RULE, vector=TIMEOUTS, client=importer, created_at=timestamp_pb2.Timestamp(seconds=1600000000))
        one, = self.effects()
        self.assertEqual(one.guideline.id, made.id)
        self.assertEqual((one.before.decisions, one.before.similar, one.after.decisions, one.after.similar), (11, 4, 10, 2))
        self.assertAlmostEqual(one.before.per_100, 400 / 11)
        self.assertAlmostEqual(one.change, 20 - 400 / 11)
        self.assertTrue(one.change_low < one.change < one.change_high)
        self.assertEqual([x.guideline.id for x in self.effects(agent_name="coder")], [made.id])
        self.assertEqual(self.effects(agent_name="writer"), [])

    def test_written_ones_are_measured_by_outcomes_only(self):
        made = self.reviewer("paul").guidelines.ProposeGuideline(guideline_service.ProposeGuidelineRequest(
            proposal=dict(rule_type=2, rule_content="Use UTC.", affected_agents=["coder"]))).proposal
        self.reviewer().guidelines.ApproveProposal(guideline_service.ApproveProposalRequest(proposal_id=made.id))
        served = self.mine.guidelines.BuildAgentPrompt(guideline_service.BuildAgentPromptRequest(agent_name="coder"))
        self.mine.decisions.RecordDecision(decision_service.RecordDecisionRequest(
            exposure_refs=[served.exposure_ref], decision=decision.Decision(
                decision_id="cited", gate_id="g", epic_id="e", agent_name="coder", decision=REJECTED)))
        one, = self.effects()
        self.assertFalse(one.HasField("before") or one.HasField("after") or one.HasField("change") or
                         one.HasField("difference"))
        self.assertEqual((one.served.exposure_count, one.served.outcome_count, one.served.bad_count), (1, 1, 1))


class Sunset(EffectCase):
    def test_only_what_changed_nothing_is_proposed(self):
        """With unchanged feedback a retirement is proposed once, after 50 decisions; the guideline stays in effect
        until a person acts."""
        self.decide(20, 10)
        made = self.guideline()
        self.decide(49, 25)
        self.assertEqual(list(self.generate().sunset_guideline_ids), [])
        self.decide(1, 1)
        self.assertEqual(list(self.generate().sunset_guideline_ids), [made.id])
        self.assertEqual(list(self.generate().sunset_guideline_ids), [])
        newest = self.mine.events()[0]
        self.assertEqual((newest.kind, newest.actor_user_id, newest.guideline_sunset_proposed.similar_after,
                          newest.guideline_sunset_proposed.decisions_after),
                         (event_log.EVENT_KIND_GUIDELINE_SUNSET_PROPOSED, "errata", 26, 50))
        listed, = self.mine.guidelines.ListActiveGuidelines(guideline_service.ListActiveGuidelinesRequest()).guidelines
        self.assertTrue(listed.sunset_proposed)
        self.assertEqual(self.state(made), artifact.ARTIFACT_STATE_SUNSET_PROPOSED)
        prompt = self.mine.guidelines.BuildAgentPrompt(guideline_service.BuildAgentPromptRequest(agent_name="coder")).prompt
        self.assertIn(RULE, prompt)
        rita = self.reviewer()
        for state in artifact.ARTIFACT_STATE_SHADOW, artifact.ARTIFACT_STATE_RETIRED:
            self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: rita.learning.SetArtifactState(
                learning.SetArtifactStateRequest(artifact_id=made.id, state=state, reason="r")))
        rita.learning.SetArtifactState(learning.SetArtifactStateRequest(
            artifact_id=made.id, state=artifact.ARTIFACT_STATE_ACTIVE, reason="the law requires it"))
        self.assertEqual(self.state(made), artifact.ARTIFACT_STATE_ACTIVE)
        self.assertEqual(list(self.generate().sunset_guideline_ids), [])
        self.decide(50, 25)
        self.assertEqual(list(self.generate().sunset_guideline_ids), [made.id])
        rita.guidelines.RetireGuideline(guideline_service.RetireGuidelineRequest(guideline_id=made.id, reason="useless"))
        self.assertEqual((self.effects(), self.state(made)), ([], artifact.ARTIFACT_STATE_RETIRED))
        self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: rita.learning.SetArtifactState(
            learning.SetArtifactStateRequest(artifact_id=made.id, state=artifact.ARTIFACT_STATE_ACTIVE, reason="r")))

    def test_kept_written_one_is_not_proposed_at_once(self):
        """Its outcomes still show no benefit, but it is proposed again only after 50 more decisions."""
        self.mine.update_settings(holdout_percent=50)
        made = self.reviewer("paul").guidelines.ProposeGuideline(guideline_service.ProposeGuidelineRequest(
            proposal=dict(rule_type=2, rule_content="Use UTC.", affected_agents=["coder"]))).proposal
        rita = self.reviewer()
        rita.guidelines.ApproveProposal(guideline_service.ApproveProposalRequest(proposal_id=made.id))
        self.cite_both_arms(50)
        self.assertEqual(list(self.generate().sunset_guideline_ids), [made.id])
        rita.learning.SetArtifactState(learning.SetArtifactStateRequest(
            artifact_id=made.id, state=artifact.ARTIFACT_STATE_ACTIVE, reason="the law requires it"))
        self.decide(49, 0)
        self.assertEqual(list(self.generate().sunset_guideline_ids), [])
        self.decide(1, 0)
        self.assertEqual(list(self.generate().sunset_guideline_ids), [made.id])

    def cite_both_arms(self, served):
        """Records rejected decisions that cite prompts of many subjects, until `count` of the prompts had
        the guideline."""
        left = {extraction.EXPERIMENT_ARM_TREATMENT: served, extraction.EXPERIMENT_ARM_CONTROL: 5}
        for n in range(1000):
            prompt = self.mine.guidelines.BuildAgentPrompt(guideline_service.BuildAgentPromptRequest(
                agent_name="coder", subject_id=f"s-{n}"))
            if left[prompt.arm] > 0:
                left[prompt.arm] -= 1
                self.mine.decisions.RecordDecision(decision_service.RecordDecisionRequest(
                    exposure_refs=[prompt.exposure_ref], decision=decision.Decision(
                        decision_id=f"cited-{n}", gate_id="g", epic_id="e", agent_name="coder", decision=REJECTED)))
            if not any(left.values()):
                return
        self.fail(f"{left} are left")

    def test_guideline_that_helps_is_not_proposed_for_retirement(self):
        self.decide(20, 18)
        made = self.guideline()
        self.decide(60, 3)
        self.assertEqual(list(self.generate().sunset_guideline_ids), [])
        self.assertLess(self.effects()[0].change_high, 0)
        self.assertEqual(self.state(made), artifact.ARTIFACT_STATE_ACTIVE)


class Reviewers(EffectCase):
    def report(self, **fields):
        return {one.reviewer_id: one for one in self.mine.decisions.GetReviewerReport(
            decision_service.GetReviewerReportRequest(**fields)).reviewers}

    def test_reviewers_have_their_parts_and_agreement(self):
        """One reviewer supplies most of a cluster; another's feedback became a rule, a third's was rejected."""
        for n in range(4):
            self.record(RULE, vector=TIMEOUTS, reviewer_id="mallory" if n < 3 else "anna")
        self.record("Sort the imports.", vector=IMPORTS, reviewer_id="anna")
        self.record("Nice work!", APPROVED, reviewer_id="berta")
        self.record("Indent each file with tabs only.", vector=OTHER, reviewer_id="carl", agent_name="writer")
        for vector, name in ((TIMEOUTS, "mallory"), (OTHER, "carl")):
            found = self.mine.decisions.ListDecisions(decision_service.ListDecisionsRequest()).decisions
            one = [d for d in found if d.reviewer_id == name][0]
            made, = self.generate(one.id).proposals
            if name == "mallory":
                self.reviewer().guidelines.RejectProposal(guideline_service.RejectProposalRequest(
                    proposal_id=made.id, reason="no"))
            else:
                self.reviewer().guidelines.ApproveProposal(guideline_service.ApproveProposalRequest(proposal_id=made.id))
        found = self.report()
        self.assertEqual({name: (one.decisions, one.approved, one.judged, one.agreed, one.dominated_clusters)
                          for name, one in found.items()},
                         {"mallory": (3, 0, 3, 0, 1), "anna": (2, 0, 1, 0, 0), "berta": (1, 1, 0, 0, 0),
                          "carl": (1, 0, 1, 1, 0)})
        part, = found["mallory"].clusters
        self.assertEqual((part.decisions, part.own, part.dominated, part.agent_name), (4, 3, True, "coder"))
        self.assertEqual(found["mallory"].agreement, 0)
        self.assertGreater(found["mallory"].agreement_high, 0.3)
        self.assertFalse(found["berta"].HasField("agreement"))
        self.assertEqual(set(self.report(agent_name="writer")), {"carl"})
        self.assertEqual(set(self.report(reviewer_id="anna")), {"anna"})
        self.assertEqual(self.report(reviewer_id="anna")["anna"], found["anna"])

    def test_random_reviewers_equal_a_recount(self):
        """Numbers of random reviewers equal a count of the recorded events."""
        rng = random.Random(3)
        rows = []
        for _ in range(60):
            name, place = rng.choice("abcd"), rng.randrange(3)
            self.record(RULE, vector=(TIMEOUTS, IMPORTS, OTHER)[place], reviewer_id=name)
            rows.append((name, place))
        for name, one in self.report().items():
            self.assertEqual(one.decisions, sum(row[0] == name for row in rows))
            parts = sorted((sum(row == (name, place) for row in rows) for place in range(3)), reverse=True)
            self.assertEqual([part.own for part in one.clusters], [count for count in parts if count])
            self.assertEqual(sum(part.decisions for part in one.clusters), 60)


class CommandLine(EffectCase):
    def test_commands_show_and_keep_guidelines_by_short_ids(self):
        self.decide(20, 10)
        made = self.guideline()
        self.decide(50, 25)
        (self.folder / "rita").write_text(self.admin.create_token(
            roles.ROLE_REVIEWER, org_id=self.org.id, user_id="rita").secret)
        rita = "--token-file", str(self.folder / "rita")
        self.assertIn(made.id, self.run_cli(*rita, "proposals", "generate")[1])
        table = self.on_terminal(160, *rita, "guidelines", "effectiveness", "--no-color")
        short = table.splitlines()[1].split()[0]
        self.assertTrue(made.id.startswith(short) and len(short) < 36, table)
        self.assertRegex(table, r"CHANGE +SUNSET(.*\n)*.*0 of 0.*50(\.0+)? +[-+][\d.]+ \([-+][\d.]+ to [-+][\d.]+\) +yes")
        self.assertIn("ACTIVE, was SUNSET_PROPOSED", self.run_cli(*rita, "guidelines", "keep", short, "--reason", "needed")[1])
        self.run_cli(*rita, "guidelines", "retire", short, "--reason", "done")
        self.assertEqual(self.effects(), [])
        self.assertRegex(self.run_cli(*rita, "decisions", "reviewers")[0], r"anna +\d+ +0")


if __name__ == "__main__":
    main()
