#!/usr/bin/python3
"""Erasure at a person's request: the content of events is removed at once, also from every file of the journal.

Goal: `errata admin erase` removes the content that it reports, for each subject; facts and the store's consistency are
kept. Method: both engines; a text of each person in events of each kind, which is searched for in the journal before
and after.
"""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from erratad import (BIN, Server, admin, decision, decision_service, feedback, main, mappings, prompt_service,
                     prompt_template, review, review_prompts, review_service, run_item, turn, turn_service, verdicts)

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
CORRECTIONS = 66  # more than the events of a step


def vector():
    return decision.DecisionVector(model="mine", values=[1, 0])


class Erasure(unittest.TestCase):
    engine = "lmdb"

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data = os.path.join(self.folder, "data")
        self.server = Server(data=self.data, arguments=("--pdf-worker", "/nowhere"),
                             environment={"ERRATA_LOG": self.engine}).start()
        self.addCleanup(self.server.close)
        self.client = self.server.client()

    def cli(self, *arguments, expected=0):
        done = subprocess.run([os.path.join(BIN, "errata"), *arguments, "--server", self.server.address, "--token-file",
                               os.path.join(self.data, "admin.token")], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "HOME": self.data})
        self.assertEqual(done.returncode, expected, done)
        return done.stdout

    def erase(self, *arguments):
        """Erases, and returns the report."""
        lines = self.cli("admin", "erase", *arguments, "--reason", "request 17", "--yes", "--json").splitlines()
        return json.loads(lines[-1])["report"]

    def correct(self, number, document, text):
        return self.client.capture(event_type=LINE, layout_fingerprint="acme", document_id=document, actor_user_id="ada",
                                   entity_type="line", entity_id=str(number % 9), before_json='{"qty":1}',
                                   after_json='{"qty":%d,"note":"%s"}' % (number + 2, text))

    def talk(self, session, text, names=("one", "two")):
        for name in names:
            self.client.turns.RecordTurn(turn_service.RecordTurnRequest(embedding=[1, 0], turn=turn.Turn(
                session_id=session, turn_id=name, query=f"{text} {name}", validation_outcome=1,
                strategy=turn.TurnStrategy(tool="shop", text=text))))
            self.client.turns.DetectFeedback(turn_service.DetectFeedbackRequest(
                session_id=session, turn_id=name + "-next", message=f"that's wrong, {text}", embedding=[0, 1]))

    def decide(self, number, text):
        return self.client.decisions.RecordDecision(decision_service.RecordDecisionRequest(vector=vector(), decision=(
            decision.Decision(decision=2, decision_id=f"c{number}", gate_id="HITL-1", epic_id="e", task_id="t", agent_name="coder", reviewer_id="ada",
                              reviewer_comment=f"Set a timeout on each call of {text}."))))

    def search(self, **fields):
        return self.client.turns.SearchStrategies(turn_service.SearchStrategiesRequest(
            query="tents", embedding=[1, 0], **fields))

    def in_journal(self, text):
        folder = os.path.join(self.data, "journal")
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            with open(os.path.join(folder, name), "rb") as f:
                if text.encode() in f.read():
                    return True
        return False

    def expect_gone(self, *texts):
        for text in texts:
            self.assertFalse(self.in_journal(text), text)
            self.assertNotIn(text, str(self.client.events()))
        self.assertIn("everything holds", self.cli("admin", "verify"))

    def test_document_is_erased_and_reported(self):
        for number in range(CORRECTIONS):
            self.correct(number, "d1", "Zebra")
        other = self.correct(500, "d2", "Lynx")
        self.assertEqual(self.in_journal("Zebra"), self.engine == "journal")
        shown = self.cli("admin", "erase", "--document", "d1", "--reason", "request 17", "--dry-run")
        self.assertRegex(shown, rf"document +d1\nwould erase +content of {CORRECTIONS} events")
        self.assertIn("expected --dry-run", subprocess.run(
            [os.path.join(BIN, "errata"), "admin", "erase", "--document", "d1", "--reason", "r"], capture_output=True,
            text=True, check=False).stderr)
        before = next(iter(self.client.events())).seq
        self.assertEqual(len(self.client.examples("acme", as_of_seq=before).examples), 3)
        report = self.erase("--document", "d1")
        self.assertEqual((report["erasedCount"], report["factsRemainCount"]), (str(CORRECTIONS), str(CORRECTIONS)))
        self.assertEqual(report["kinds"][0]["kind"], "EVENT_KIND_FEEDBACK")
        self.assertEqual([example.id for example in self.client.examples("acme").examples], [other.id])
        self.assertEqual(sum(event.HasField("feedback_event") for event in self.client.events()), CORRECTIONS + 1)
        past = self.client.examples("acme", as_of_seq=before)
        self.assertEqual(([example.id for example in past.examples], past.incomplete), ([other.id], True))
        self.assertTrue(self.client.prompt(template="{{hint_examples}}", layout_fingerprint="acme",
                                           as_of_seq=before).incomplete)
        self.assertFalse(self.client.examples("other", as_of_seq=before).incomplete)
        now = next(iter(self.client.events())).seq
        self.assertFalse(self.client.examples("acme", as_of_seq=now).incomplete)
        self.expect_gone("Zebra")
        self.assertIn("Lynx", str(self.client.events()))
        audit = json.loads(self.cli("admin", "audit", "--json").splitlines()[0])["events"][0]["contentErased"]
        self.assertEqual((audit["documentId"], audit["reason"]), ("d1", "request 17"))
        said = self.cli("admin", "erase", "--document", "d1", "--reason", "request 18", "--yes")
        self.assertRegex(said, rf"erased +content of 0 events.*\nfacts remain +of {CORRECTIONS} events")
        self.assertIn("Backups that were made before keep their copy", said)

    def test_sessions_users_and_events_are_erased(self):
        self.talk("s1", "Okapi")
        self.talk("s2", "Tapir")
        for number in range(3):
            self.decide(number, "Quokka")
        self.client.submit_verdict(receipt_id="r1", original_verdict=verdicts.VERDICT_FAKE, actor_user_id="ada",
                                   correct_verdict=verdicts.VERDICT_REAL, reviewer_notes="Quokka")
        note = self.client.submit_verdict(receipt_id="r2", original_verdict=verdicts.VERDICT_FAKE, actor_user_id="bob",
                                          correct_verdict=verdicts.VERDICT_REAL, reviewer_notes="Gecko")
        self.assertIn("Okapi", str(self.search()))
        before = next(iter(self.client.events())).seq
        self.assertFalse(self.search(as_of_seq=before).incomplete)
        report = self.erase("--session", "s1")
        self.assertEqual({one["kind"]: one["erasedCount"] for one in report["kinds"]},
                         {"EVENT_KIND_TURN_RECORDED": "2", "EVENT_KIND_FEEDBACK_DETECTED": "2"})
        self.assertTrue(self.search(as_of_seq=before).incomplete)
        self.assertFalse(self.search(as_of_seq=next(iter(self.client.events())).seq).incomplete)
        found = str(self.search())
        self.assertNotIn("Okapi", found)
        self.assertIn("Tapir", found)
        self.talk("s1", "Ibis", ["three"])  # the session continues
        self.client.turns.DetectFeedback(turn_service.DetectFeedbackRequest(
            session_id="s1", turn_id="last", message="no, not that", embedding=[0, 1]))
        report = self.erase("--user", "ada")
        kinds = {one["kind"]: one["erasedCount"] for one in report["kinds"]}
        self.assertEqual((kinds["EVENT_KIND_DECISION_RECORDED"], kinds["EVENT_KIND_VERDICT_SUBMITTED"]), ("3", "1"))
        self.decide(7, "Vole")
        self.erase("--event", note.submission.id)
        self.expect_gone("Okapi", "Quokka", "Gecko")
        self.assertIn("Tapir", str(self.client.events()))

    def test_similar_decisions_of_an_erased_one_are_named(self):
        """The evaluation of a decision without content names the earlier decisions of its cluster."""
        made = [self.decide(number, "a service") for number in range(3)]
        read = decision_service.GetDecisionRequest(feedback_id=made[1].feedback_id)
        self.assertNotEqual(self.client.decisions.GetDecision(read).decision.reviewer_comment, "")
        self.assertEqual(list(made[1].evaluation.similar_feedback_ids), [made[0].feedback_id])
        self.erase("--event", made[1].feedback_id)
        erased = self.client.decisions.GetDecision(read)
        self.assertEqual(erased.decision.reviewer_comment, "")
        self.assertEqual(list(erased.evaluation.similar_feedback_ids), [made[0].feedback_id])

    def test_customer_is_erased(self):
        for id in ("c1", "c2"):
            self.client.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED, draft_order_id="o1",
                                before_json='{"candidates":[]}', after_json='{"customer_id":"%s","name":"Heron"}' % id)
        for id in ("c1", "c2"):
            self.client.mappings.ConfirmMapping(mappings.ConfirmMappingRequest(
                customer_id=id, customer_sku="A-1", internal_sku="SKU-1", suggestions_json='{"suggestions":["Heron"]}'))
        report = self.erase("--customer", "c1")
        self.assertEqual((report["erasedCount"], report["factsRemainCount"]), ("2", "2"))
        shown = [str(event) for event in self.client.events() if event.HasField("feedback_event")]
        self.assertEqual([("Heron" in text, "content_removed: true" in text) for text in shown],
                         [(True, False), (False, True), (True, False), (False, True)])
        found = self.client.mappings.ListMappings(mappings.ListMappingsRequest(customer_id="c1")).mappings
        self.assertEqual([(one.customer_sku, one.internal_sku) for one in found], [("A-1", "SKU-1")])

    def resolve(self, **fields):
        return self.client.reviews.ResolvePlaceholders(review_prompts.ResolvePlaceholdersRequest(
            subcategory="laptops", prompts={"p": "{{EXAMPLE_ITEM}}"}, static_example="static", **fields))

    def test_erased_item_is_missing_in_the_past(self):
        self.client.reviews.PutItem(review_service.PutItemRequest(
            item=run_item.RunItem(run_id="run", item_json='{"name":"Gnu"}')))
        self.client.submit_review(run_id="run", subcategory="laptops", item_id="i", reviewed_by="ada",
                                  decision=review.REVIEW_DECISION_REVIEWED)
        before = next(iter(self.client.events())).seq
        self.assertIn("Gnu", self.resolve(as_of_seq=before).prompts["p"])
        self.erase("--event", next(event.id for event in self.client.events() if event.HasField("run_item")))
        past = self.resolve(as_of_seq=before)
        self.assertEqual((past.prompts["p"], past.incomplete), ("static", True))
        self.assertFalse(self.resolve(as_of_seq=next(iter(self.client.events())).seq).incomplete)
        self.assertFalse(self.resolve().incomplete)

    def test_kept_content_is_reported(self):
        self.client.prompts.PutPromptTemplate(prompt_service.PutPromptTemplateRequest(
            prompt_template=prompt_template.PromptTemplate(name="t", text="Be brief.\n{hint_examples_json}")))
        event = next(iter(self.client.events()))
        report = self.erase("--event", event.id)
        self.assertEqual((report["keptCount"], report["kinds"][0]["keptArtifactCount"]), ("1", "1"))
        self.assertNotIn("erasedCount", report)
        self.assertIn("NOT_FOUND", subprocess.run(
            [os.path.join(BIN, "errata"), "admin", "erase", "--event", event.id[:-4] + "ffff", "--reason", "r", "--yes",
             "--server", self.server.address, "--token-file", os.path.join(self.data, "admin.token")],
            capture_output=True, text=True, check=False).stderr)


class ErasureWithJournal(Erasure):
    engine = "journal"
    # These do not depend on the engine.
    test_kept_content_is_reported = test_erased_item_is_missing_in_the_past = test_customer_is_erased = None

    def test_killed_server_has_whole_steps(self):
        """A second call continues after the last step of a killed server."""
        for number in range(3 * CORRECTIONS):
            self.correct(number, "d1", "Zebra")
        call = self.client.admin.EraseContent(admin.EraseContentRequest(document_id="d1", reason="request 17"))
        next(message for message in call if message.progress.erased_count > 0 or message.HasField("report"))
        self.server.kill9()
        self.server.start()
        self.client = self.server.client()
        erased = [seq for event in self.client.events() for seq in event.content_erased.seqs]
        removed = [event.seq for event in self.client.events() if event.content_removed]
        self.assertEqual((sorted(erased), len(removed) > 0), (sorted(removed), True))
        report = self.erase("--document", "d1")
        self.assertEqual(int(report.get("erasedCount", 0)) + len(removed), 3 * CORRECTIONS)
        self.expect_gone("Zebra")


if __name__ == "__main__":
    main()
