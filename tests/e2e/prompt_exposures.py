#!/usr/bin/python3
"""Exposures of BuildAgentPrompt through a real client: inserted rules are explained, and measured by decisions that
cite them.

Goal: a prompt of the past equals what was served then; an explanation has it byte for byte, each rule with its votes and its
evidence; a decision is one outcome of each prompt that it cites, bad unless it is APPROVED; held-out subjects get no rules.
Method: one erratad without a model; sums of a random history are counted again.
"""
import collections
import random

import grpc

from erratad import (artifact, bad_fields, decision, decision_service, event_log, event_service, extraction, guideline, guideline_service,
                     learning, main, roles)
from guidelines import HEADING, GuidelineCase

APPROVED = decision.DECISION_OUTCOME_APPROVED
REJECTED = decision.DECISION_OUTCOME_REJECTED
OUTCOMES = APPROVED, REJECTED, decision.DECISION_OUTCOME_APPROVED_WITH_CHANGES
CONTROL = extraction.EXPERIMENT_ARM_CONTROL
BASE = "You write code.\n{{RULES:style}}\n{{RULES:nothing}}\nBe brief."


class ExposureCase(GuidelineCase):
    def setUp(self):
        super().setUp()
        self.need(1)

    def guideline(self, rule, **fields):
        made = self.propose(rule, **fields)
        self.approve(made, "anna")
        return made

    def build(self, base=BASE, **fields):
        return self.mine.guidelines.BuildAgentPrompt(guideline_service.BuildAgentPromptRequest(
            agent_name="coder", base_prompt=base, **fields))

    def record(self, name, *refs, outcome=REJECTED, client=None):
        return (client or self.mine).decisions.RecordDecision(decision_service.RecordDecisionRequest(
            exposure_refs=refs, decision=decision.Decision(
                decision_id=name, gate_id="HITL-1", epic_id="e", agent_name="coder", decision=outcome,
                reviewer_comment="Set a timeout on each remote call.", reviewer_id="berta")))

    def explain(self, reference, base=None, client=None):
        inputs = None if base is None else learning.AgentPromptInputs(base_prompt=base)
        return (client or self.mine).learning.ExplainExposure(learning.ExplainExposureRequest(
            exposure_ref=reference, agent_prompt_inputs=inputs))

    def retire(self, made):
        self.person("anna").guidelines.RetireGuideline(guideline_service.RetireGuidelineRequest(
            guideline_id=made.id, reason="old"))

    def report(self, made):
        found = self.mine.learning.GetArtifactReport(learning.GetArtifactReportRequest(artifact_id=made.id))
        self.assertEqual(found.artifact_kind, artifact.ARTIFACT_KIND_GUIDELINE)
        return found

    def counts(self, made):
        found = self.report(made)
        return [(one.exposure_count, one.outcome_count, one.bad_count)
                for one in (found.served, found.treatment, found.held_out)]


class Explained(ExposureCase):
    def test_explained_prompt_equals_the_served_one(self):
        """After further changes of rules, the explanation has the prompt of its time, and the origin of each
        rule."""
        first = self.guideline("Never commit keys.", rule_type=guideline.RULE_TYPE_CONSTRAINT)
        style = self.guideline("Sort the imports.", insertion_point="style")
        served = self.build()
        self.assertEqual(served.prompt, "You write code.\n- [GUIDELINE] Sort the imports.\nBe brief." + HEADING +
                         "- [CONSTRAINT] Never commit keys.\n")
        self.retire(style)
        self.guideline("Use UTC.")
        found = self.explain(served.exposure_ref, BASE)
        self.assertEqual((found.agent_prompt, found.text_matches, found.exposure_kind),
                         (served.prompt, True, event_log.EXPOSURE_KIND_AGENT_PROMPT))
        self.assertEqual(found.rules_section, HEADING + "- [CONSTRAINT] Never commit keys.\n- [GUIDELINE] Sort the imports.\n")
        self.assertEqual([one.guideline.id for one in found.artifacts], [first.id, style.id])
        for one in found.artifacts:
            self.assertEqual(([vote.approver_id for vote in one.guideline.votes], one.approved_by, one.expired,
                              one.guideline.HasField("retired_at")), (["anna"], "anna", False, False))
            self.assertEqual([event_log.EventKind.Name(event.kind) for event in one.evidence],
                             ["EVENT_KIND_PROPOSAL_VOTED", "EVENT_KIND_PROPOSAL_CREATED"])
        self.assertFalse(self.explain(served.exposure_ref, "Another prompt.").text_matches)
        plain = self.explain(served.exposure_ref)
        self.assertFalse(plain.HasField("text_matches") or plain.agent_prompt)

    def test_rules_of_decisions_name_them(self):
        for name, user in ("d1", "berta"), ("d2", "carl"), ("d3", "berta"):
            self.record(name, client=self.person(user)) if user == "berta" else self.mine.decisions.RecordDecision(
                decision_service.RecordDecisionRequest(decision=decision.Decision(
                    decision_id=name, gate_id="HITL-1", epic_id="e", agent_name="coder", decision=REJECTED,
                    reviewer_comment="Set a timeout on each remote call.", reviewer_id=user)))
        found = self.mine.decisions.GetDecision(decision_service.GetDecisionRequest(decision_id="d1")).decision
        made, = self.mine.guidelines.GenerateProposal(guideline_service.GenerateProposalRequest(
            feedback_ids=[found.id])).proposals
        self.approve(made, "anna")
        one, = self.explain(self.build().exposure_ref).artifacts
        self.assertEqual([event.decision_id for event in one.evidence], ["", "", "d3", "d2", "d1"])

    def test_past_prompts_equal_those_made_then(self):
        """After each change, a prompt of that time equals the one that was made then."""
        rng = random.Random(7)
        then, active = [], []
        types = list(guideline.RuleType.values())[1:]
        for n in range(24):
            if active and rng.random() < 0.4:
                self.retire(active.pop(rng.randrange(len(active))))
            else:
                active.append(self.guideline(f"Topic{n} needs the remedy{n}.", rule_type=rng.choice(types),
                                             agents=rng.choice((["coder"], ["coder", "writer"], ["writer"]))))
            then.append((self.mine.events()[0].seq, self.build()))
        for seq, served in then:
            past = self.build(as_of_seq=seq)
            self.assertEqual((past.prompt, list(past.guideline_ids), past.guidelines_version, past.exposure_ref),
                             (served.prompt, list(served.guideline_ids), served.guidelines_version, ""))
        self.assertEqual(self.build(as_of_seq=1).prompt, "You write code.\nBe brief.")


class Measured(ExposureCase):
    def test_a_decision_is_one_outcome(self):
        made = self.guideline("Use UTC.")
        served = self.build()
        first = self.record("d1", served.exposure_ref, served.exposure_ref)
        self.assertEqual(self.record("d1", served.exposure_ref), first)
        self.record("d2", served.exposure_ref, outcome=APPROVED)
        self.assertEqual(self.counts(made)[0], (1, 2, 1))
        found = self.explain(served.exposure_ref)
        self.assertEqual([(one.decision_id, one.decision) for one in found.outcomes].count(("d1", REJECTED)), 1)
        self.assertEqual({one.decision_id for one in found.outcomes}, {"d1", "d2"})
        self.assertEqual([one.decision_id for one in self.report(made).newest_outcomes], ["d2", "d1"])
        self.assertEqual(self.report(made).state, artifact.ARTIFACT_STATE_ACTIVE)

    def test_held_out_subjects_get_none(self):
        made = self.guideline("Use UTC.")
        self.mine.update_settings(votes_needed=1, holdout_percent=100)
        served = self.build(subject_id="task-1")
        self.assertEqual((served.arm, served.prompt, len(served.guideline_ids)),
                         (CONTROL, "You write code.\nBe brief.", 0))
        self.assertEqual(self.build().arm, extraction.EXPERIMENT_ARM_NONE)
        self.mine.update_settings(votes_needed=1, holdout_percent=0)
        self.record("d1", served.exposure_ref)
        self.assertEqual(self.counts(made), [(0, 0, 0), (0, 0, 0), (1, 1, 1)])
        found = self.explain(served.exposure_ref, BASE)
        self.assertTrue(found.text_matches and all(one.held_out for one in found.artifacts))
        self.assertEqual((found.rules_section, found.agent_prompt), ("", served.prompt))

    def test_sums_of_a_random_history_equal_a_recount(self):
        """For prompts of both arms, cited at random, the counts of each guideline equal a count of the recorded events."""
        rng = random.Random(11)
        made = [self.guideline(f"Topic{n} needs the remedy{n}.") for n in range(3)]
        self.mine.update_settings(votes_needed=1, holdout_percent=50)
        served, wanted = [], collections.Counter()
        cited = set()
        for n in range(40):
            if n % 4 == 0:
                served.append(self.build(subject_id=f"s{n}"))
            if n == 20:
                self.retire(made[2])
            prompt, outcome = rng.choice(served), rng.choice(OUTCOMES)
            self.record(f"d{n}", prompt.exposure_ref, outcome=outcome)
            place = 2 if prompt.arm == CONTROL else 1
            count = 2 if served.index(prompt) > 5 else 3
            for i in range(count):
                wanted[i, place, 0] += prompt.exposure_ref not in cited
                wanted[i, place, 1] += 1
                wanted[i, place, 2] += outcome != APPROVED
            cited.add(prompt.exposure_ref)
        for i, one in enumerate(made):
            for place in 1, 2:
                self.assertEqual(self.counts(one)[place], tuple(wanted[i, place, n] for n in range(3)))


class Shadow(ExposureCase):
    """A proposal in SHADOW: in the exposure, and not in the prompt."""

    def shadow(self, made, state=artifact.ARTIFACT_STATE_SHADOW):
        return self.person("dora").learning.SetArtifactState(learning.SetArtifactStateRequest(
            artifact_id=made.id, state=state, reason="measure it first"))

    def shadow_counts(self, made):
        found = self.report(made).shadow
        return found.exposure_count, found.outcome_count, found.bad_count

    def test_it_is_counted_and_changes_nothing(self):
        """The prompt has the same bytes; decisions count for the proposal, separately; votes then make it a guideline, by
        the same rules."""
        active = self.guideline("Use UTC.")
        before = self.build()
        tried = self.propose("Sort the imports.", insertion_point="style")
        changed = self.shadow(tried)
        self.assertEqual((changed.artifact_kind, changed.previous_state, changed.state), (
            artifact.ARTIFACT_KIND_GUIDELINE, artifact.ARTIFACT_STATE_PROPOSED, artifact.ARTIFACT_STATE_SHADOW))
        served = self.build()
        self.assertEqual((served.prompt, list(served.guideline_ids), served.guidelines_version),
                         (before.prompt, [active.id], before.guidelines_version))
        self.record("d1", served.exposure_ref)
        self.record("d2", served.exposure_ref, outcome=APPROVED)
        self.record("d3", before.exposure_ref)
        self.assertEqual((self.shadow_counts(tried), self.counts(tried)[0]), ((1, 2, 1), (0, 0, 0)))
        self.assertEqual((self.shadow_counts(active), self.counts(active)[0]), ((0, 0, 0), (2, 3, 2)))
        self.assertEqual(self.report(tried).state, artifact.ARTIFACT_STATE_SHADOW)
        self.assertEqual([one.decision_id for one in self.report(tried).newest_outcomes], ["d2", "d1"])
        one, = self.pending()
        self.assertEqual((one.id, one.in_shadow, one.status), (tried.id, True, guideline.PROPOSAL_STATUS_PENDING))
        self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.approve(tried, "paul"))
        self.approve(tried, "anna")
        self.record("d4", self.build().exposure_ref)
        self.assertEqual((self.shadow_counts(tried), self.counts(tried)[0]), ((1, 2, 1), (1, 1, 1)))
        effects = {one.guideline.id: one.shadow.bad_count for one in self.mine.guidelines.GetGuidelineEffectiveness(
            guideline_service.GetGuidelineEffectivenessRequest(agent_name="coder")).guidelines}
        self.assertEqual(effects, {active.id: 0, tried.id: 1})
        self.mine.log.RetractEvent(event_service.RetractEventRequest(event_id=self.mine.decisions.GetDecision(
            decision_service.GetDecisionRequest(decision_id="d1")).decision.id, reason="a slip"))
        self.assertEqual(self.shadow_counts(tried), (1, 1, 0))

    def test_explanation_names_who_put_a_rule_in_shadow(self):
        """The explained text lacks the rule in SHADOW, and names the user who put it there, before and after its approval."""
        active = self.guideline("Never commit keys.")
        tried = self.propose("Sort the imports.", insertion_point="style")
        self.shadow(tried)
        served = self.build()
        first = self.explain(served.exposure_ref, BASE)
        self.approve(tried, "anna")
        self.retire(active)
        for found in first, self.explain(served.exposure_ref, BASE):
            self.assertEqual((found.agent_prompt, found.text_matches), (served.prompt, True))
            self.assertEqual(found.rules_section, HEADING + "- [GUIDELINE] Never commit keys.\n")
            self.assertEqual([(one.guideline.id, one.shadow, one.approved_by) for one in found.artifacts],
                             [(active.id, False, "anna"), (tried.id, True, "dora")])
            one = found.artifacts[1]
            self.assertEqual((one.guideline.rule_content, len(one.guideline.votes), one.guideline.HasField("activated_at")),
                             ("Sort the imports.", 0, False))
            self.assertEqual([event_log.EventKind.Name(event.kind) for event in one.evidence],
                             ["EVENT_KIND_ARTIFACT_STATE_SET", "EVENT_KIND_PROPOSAL_CREATED"])

    def test_held_out_and_past_prompts_name_none(self):
        tried = self.propose("Sort the imports.")
        self.shadow(tried)
        self.mine.update_settings(votes_needed=1, holdout_percent=100)
        served = self.build(subject_id="task-1")
        self.assertEqual((served.arm, self.explain(served.exposure_ref).artifact_count), (CONTROL, 0))
        self.assertEqual(self.build(as_of_seq=self.mine.events()[0].seq).exposure_ref, "")

    def test_what_is_decided_is_refused(self):
        made = self.guideline("Use UTC.")
        for state in artifact.ARTIFACT_STATE_SHADOW, artifact.ARTIFACT_STATE_RETIRED:
            self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.shadow(made, state))
        tried = self.propose("Sort the imports.")
        self.shadow(tried)
        self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.shadow(tried, artifact.ARTIFACT_STATE_ACTIVE))
        self.person("anna").guidelines.RejectProposal(guideline_service.RejectProposalRequest(
            proposal_id=tried.id, reason="too general"))
        self.assertEqual(self.explain(self.build().exposure_ref).artifact_count, 1)


class References(ExposureCase):
    def test_foreign_and_damaged_ones_are_refused(self):
        reference = self.build().exposure_ref
        other = self.server.client(self.admin.create_token(
            roles.ROLE_ADMIN, org_id=self.admin.create_org(self.id() + "2").id).secret)
        foreign = other.guidelines.BuildAgentPrompt(guideline_service.BuildAgentPromptRequest(agent_name="coder")).exposure_ref
        before = self.mine.events()[0].seq
        refused = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.record(
            "d1", reference, foreign, reference[:-2], reference[:30] + "AAAA" + reference[34:]))
        self.assertEqual(sorted(bad_fields(refused)), ["exposure_refs[1]", "exposure_refs[2]", "exposure_refs[3]"])
        self.assertEqual(self.mine.events()[0].seq, before)


class CommandLine(ExposureCase):
    def run_as_admin(self, *words):
        (self.folder / "admin").write_text(self.token)
        return self.run_cli("--token-file", str(self.folder / "admin"), *words)

    def test_commands_cite_and_explain_a_prompt(self):
        self.guideline("Use UTC.")
        prompt, said = self.run_as_admin("agent", "prompt", "coder", "--base", "Be brief.")
        self.assertEqual(prompt, "Be brief." + HEADING + "- [GUIDELINE] Use UTC.\n")
        reference = said.split("reference: ")[1].strip()
        self.run_as_admin("decisions", "record", "d1", "--gate", "HITL-1", "--epic", "e", "--agent", "coder",
                          "--decision", "REJECTED", "--exposure", reference)
        said = self.run_as_admin("explain", reference, "--base", "Be brief.")[0]
        self.assertRegex(said, r"method +BuildAgentPrompt\n(.*\n)*.*recorded hash(.*\n)*.*guideline.*Use UTC"
                               r"(.*\n)*.*REJECTED +d1")

    def test_proposal_is_put_in_shadow_by_a_short_id(self):
        """A proposal is put in SHADOW by the start of its id, listed, explained and reported."""
        made = self.propose("Use UTC.")
        said = self.run_as_admin("proposals", "shadow", made.id[:13], "--reason", "measure it first")[1]
        self.assertIn("SHADOW, was PROPOSED", said)
        self.assertRegex(self.run_as_admin("proposals", "show", made.id)[0], r"in shadow +yes|in shadow +true")
        said = self.run_as_admin("agent", "prompt", "coder", "--base", "Be brief.")[1]
        reference = said.split("reference: ")[1].strip()
        self.run_as_admin("decisions", "record", "d1", "--gate", "HITL-1", "--epic", "e", "--agent", "coder",
                          "--decision", "REJECTED", "--exposure", reference)
        self.assertIn("guideline, in shadow", self.run_as_admin("explain", reference)[0])
        self.assertRegex(self.run_as_admin("analytics", "artifact", made.id)[0], r"in shadow +1 of 1 bad \(100")


if __name__ == "__main__":
    main()
