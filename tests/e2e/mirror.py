#!/usr/bin/python3
"""`errata decisions mirror`: decisions and rules as files of a git repository, committed with authors and reasons.

Goal: the files equal the server's data, and each event is in one commit, by its actor. Method: a real server and git;
decisions and rules through their life, an erasure, and a run that follows the log while the server restarts.
"""
import json
import os
import shutil
import signal
import subprocess
import tempfile

from erratad import (Server, admin, content_retention, decision, decision_service, event_service, guideline,
                     guideline_service, main, organization_settings, roles, wait_until)
from errata_cli import ERRATA, CliCase
from jumping_clock import Clock

REJECTED = decision.DECISION_OUTCOME_REJECTED
EDGE = decision.DECISION_CLASS_EDGE_CASE


class MirrorCase(CliCase):
    def setUp(self):
        name = self.id().rsplit(".", 1)[1]
        self.home = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.home, True)
        self.org = self.admin.create_org(name)
        self.secret = self.admin.create_token(roles.ROLE_ADMIN, org_id=self.org.id).secret
        self.mine = self.server.client(self.secret)
        self.folder = os.path.join(self.home, name)
        self.token_file = os.path.join(self.home, name + ".token")
        self.use_token(self.secret)
        self.count = 0

    def use_token(self, secret):
        with open(self.token_file, "w", encoding="ascii") as f:
            f.write(secret)

    def record(self, comment="Set a timeout on each remote call.", **fields):
        self.count += 1
        values = dict(decision=REJECTED, decision_id=f"d-{self.count}", gate_id="HITL-1", epic_id="epic-1", agent_name="coder",
                      reviewer_id="anna") | fields
        return self.mine.decisions.RecordDecision(decision_service.RecordDecisionRequest(
            decision=decision.Decision(reviewer_comment=comment, **values))).feedback_id

    def command(self, *words, server=None):
        return [ERRATA, "decisions", "mirror", *words, "--server", (server or self.server).address, "--token-file",
                self.token_file]

    def run_mirror(self, *words, expected=0, environment=None, server=None):
        done = subprocess.run(self.command(*(words or (self.folder,)), server=server), capture_output=True, text=True,
                              timeout=60, env={**os.environ, "HOME": self.home, **(environment or {})}, check=False)
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def git(self, *words):
        return subprocess.run(["git", "-C", self.folder, *words], capture_output=True, text=True, check=True, timeout=60,
                              env={"PATH": os.environ["PATH"], "HOME": "/nowhere"}).stdout

    def read(self, *path):
        with open(os.path.join(self.folder, *path), encoding="utf-8") as f:
            return json.load(f)

    def listed(self, name):
        path = os.path.join(self.folder, name)
        return sorted(os.listdir(path)) if os.path.isdir(path) else []

    def expect_mirrored(self):
        """The files equal the data of the server and of git; the commits have each event once."""
        decisions = self.mine.all_pages(self.mine.decisions.ListDecisions, decision_service.ListDecisionsRequest(), "decisions")
        self.assertEqual(self.listed("decisions"), sorted(one.id + ".json" for one in decisions))
        for one in decisions:
            stored = self.read("decisions", one.id + ".json")
            self.assertEqual((stored["decision"]["decision_id"], stored["decision"]["reviewer_comment"] or ""),
                             (one.decision_id, one.reviewer_comment))
        self.assertEqual(self.git("status", "--porcelain", "--ignored"), "")
        self.git("fsck", "--strict")
        lines = [line.split()[0] for line in self.git("log", "--reverse", "--format=%b").splitlines()
                 if line and line[0].isdigit()]
        self.assertEqual(lines, sorted(set(lines), key=int))


class Mirror(MirrorCase):
    def vote(self, name, proposal):
        client = self.server.client(self.admin.create_token(roles.ROLE_REVIEWER, org_id=self.org.id, user_id=name).secret)
        client.guidelines.ApproveProposal(guideline_service.ApproveProposalRequest(proposal_id=proposal))
        return client

    def test_files_have_what_the_server_has(self):
        first = self.record("Row 17 of data/towns.csv has another spelling")
        second = self.record()
        self.assertIn("2 events in 1 commit", self.run_mirror())
        self.expect_mirrored()
        stored = self.read("decisions", first + ".json")
        self.assertEqual((stored["evaluation"]["classification"], stored["decision"]["decision"], stored["decision"]["task_id"]),
                         ("edge_case", "REJECTED", None))
        self.assertEqual(self.listed("edge_cases"), [first + ".json"])
        self.assertEqual(self.read("edge_cases", first + ".json"), stored)
        self.assertIn("0 events in 0 commits", self.run_mirror())
        proposal = self.mine.guidelines.ProposeGuideline(guideline_service.ProposeGuidelineRequest(
            proposal=guideline.Proposal(rule_type=guideline.RULE_TYPE_CONSTRAINT, affected_agents=["coder"],
                                        rule_content="Set a timeout on each remote call."))).proposal.id
        self.vote("berta", proposal)
        carl = self.vote("carl", proposal)
        carl.decisions.OverrideEvaluation(decision_service.OverrideEvaluationRequest(
            feedback_id=first, classification=decision.DECISION_CLASS_POSITIVE, reason="only praise"))
        self.run_mirror()
        rule = self.read("rules", proposal + ".json")
        self.assertEqual((rule["proposal"]["status"], rule["guideline"]["retired_at"]), ("APPROVED", None))
        self.assertEqual(self.listed("edge_cases"), [])
        self.assertEqual(self.read("decisions", first + ".json")["evaluation"]["classification"], "positive")
        self.assertIn("set class of decision " + first + ": only praise", self.git("log", "-1", "--format=%b", "--author=carl"))
        self.assertEqual(set(self.git("log", "-4", "--format=%an").split()), {"carl", "berta", self.proposer(proposal), "anna"})
        self.retire_and_retract(proposal, second)

    def proposer(self, proposal):
        return self.mine.guidelines.GetProposal(guideline_service.GetProposalRequest(id=proposal)).proposal.proposed_by

    def retire_and_retract(self, proposal, decision_id):
        self.mine.guidelines.RetireGuideline(guideline_service.RetireGuidelineRequest(
            guideline_id=proposal, reason="no longer\nneeded"))
        self.run_program("decisions", "retract", decision_id, "--reason", "recorded twice")
        self.run_mirror()
        self.assertIsNotNone(self.read("rules", proposal + ".json")["guideline"]["retired_at"])
        self.assertEqual(self.read("decisions", decision_id + ".json")["decision"]["retraction_reason"], "recorded twice")
        self.assertIn(f"retire rule {proposal}: no longer needed\n", self.git("log", "--format=%b"))
        self.expect_mirrored()

    def run_program(self, *words):
        subprocess.run([ERRATA, *words, "--server", self.server.address, "--token-file", self.token_file], check=True,
                       capture_output=True, timeout=60, env={**os.environ, "HOME": self.home})

    def test_retired_by_a_replacement_and_evidence_lost(self):
        made = [self.record(reviewer_id=name, task_id=name) for name in ("anna", "berta", "carl")]
        drafted = self.mine.guidelines.GenerateProposal(guideline_service.GenerateProposalRequest(
            feedback_ids=made[:1])).proposals[0].id
        self.run_mirror()
        self.assertEqual(self.read("rules", drafted + ".json")["proposal"]["status"], "PENDING")
        for one in made:
            self.run_program("decisions", "retract", one, "--reason", "a test")
        self.run_mirror()
        self.assertEqual(self.read("rules", drafted + ".json")["proposal"]["status"], "REJECTED")

    def test_another_evaluator_rewrites_its_decisions(self):
        judged, other = self.record(), self.record()
        self.mine.decisions.SubmitEvaluation(decision_service.SubmitEvaluationRequest(
            feedback_id=judged, evaluation=decision.Evaluation(evaluator_id="judge", classification=EDGE, confidence=0.75)))
        self.run_mirror()
        self.assertNotEqual(self.read("decisions", judged + ".json")["evaluation"]["classification"], "edge_case")
        for evaluator, files in (("judge", [judged + ".json"]), ("", [])):
            self.mine.admin.UpdateSettings(admin.UpdateSettingsRequest(
                settings=organization_settings.OrganizationSettings(evaluator_id=evaluator)))
            self.assertIn("1 event in 1 commit", self.run_mirror())
            self.assertEqual(self.listed("edge_cases"), files)
            self.assertEqual(self.read("decisions", judged + ".json")["evaluation"]["evaluator_id"], evaluator or "errata-1")
            self.assertNotIn(other, self.git("log", "-1", "--format=%s", "--name-only"))
        self.assertEqual(self.git("log", "-1", "--format=%s"), "change evaluator\n")
        self.expect_mirrored()

    def test_erased_content_leaves_the_files(self):
        self.record("Zebra stripes must be even.")
        self.run_mirror()
        self.run_program("admin", "erase", "--user", "anna", "--reason", "request 17", "--yes")
        said = self.run_mirror()
        self.assertIn("earlier commits still have it", said)
        self.assertNotIn("Zebra", self.git("grep", "-h", "", "HEAD"))
        self.expect_mirrored()
        self.assertNotIn("earlier commits", self.run_mirror())
        self.folder += "-again"
        self.assertNotIn("earlier commits", self.run_mirror())
        self.assertNotIn("Zebra", self.git("log", "-p"))

    def test_large_decisions_are_in_several_commits(self):
        for _ in range(4):
            self.record(correction_diff="\x01" * (1 << 20))  # 6 MiB of JSON
        self.assertIn("4 events in 2 commits", self.run_mirror())
        self.expect_mirrored()

    def retract(self, client, decision_id):
        client.log.RetractEvent(event_service.RetractEventRequest(event_id=decision_id, reason="Zebra"))

    def test_erased_reason_of_a_retraction_leaves_the_files(self):
        made = self.record("kept", reviewer_id="berta")
        anna = self.admin.create_token(roles.ROLE_ADMIN, org_id=self.org.id, user_id="anna").secret
        self.retract(self.server.client(anna), made)
        self.run_mirror()
        self.assertEqual(self.read("decisions", made + ".json")["decision"]["retraction_reason"], "Zebra")
        self.run_program("admin", "erase", "--user", "anna", "--reason", "request 17", "--yes")
        self.assertIn("earlier commits still have it", self.run_mirror())
        self.assertNotIn("Zebra", self.git("grep", "-h", "", "HEAD"))
        self.expect_mirrored()

    def test_old_reason_of_a_retraction_leaves_the_files(self):
        clock = Clock(self.home)
        options = {"data": os.path.join(self.home, "data"), "prefix": clock.prefix, "arguments": ("--pdf-worker", "/nowhere")}
        with Server(**options) as server:
            self.mine = server.client()
            self.use_token(server.admin_token)
            made = self.record()
            self.retract(self.mine, made)
            self.run_mirror(server=server)
            self.assertIn("Zebra", self.git("grep", "-h", "", "HEAD"))
            self.mine.update_settings(content_retention=content_retention.ContentRetention(corrections_days=2))
            clock.advance(3 * 24 * 3600, 0)
            self.record()
        with Server(**options) as server:
            self.mine = server.client()
            wait_until(lambda: any(event.HasField("content_swept") for event in self.mine.events()), "the sweep", 30)
            self.run_mirror(server=server)
            self.assertNotIn("Zebra", self.git("grep", "-h", "", "HEAD"))
            self.assertEqual(self.git("log", "-1", "--format=%an %s").split()[:4], ["server", "remove", "old", "content"])
            self.expect_mirrored()

    def test_follows_the_log_across_a_restart(self):
        self.record()
        with subprocess.Popen(self.command(self.folder, "--follow"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env={**os.environ, "HOME": self.home}) as follower:
            try:
                wait_until(lambda: len(self.listed("decisions")) == 1, "the first decision")
                self.record()
                wait_until(lambda: len(self.listed("decisions")) == 2, "the second decision")
                self.assertIn("another mirror writes to it", self.run_mirror(expected=4))
                self.server.listen = self.server.address
                self.server.kill9()
                self.server.start()
                self.mine = self.server.client(self.secret)
                self.record()
                wait_until(lambda: len(self.listed("decisions")) == 3, "the third decision", 20)
            finally:
                follower.send_signal(signal.SIGINT)
                follower.wait(20)
        self.run_mirror()
        self.expect_mirrored()


if __name__ == "__main__":
    main()
