#!/usr/bin/python3
"""Explanations of exposures, through a real client and the command `errata`.

Goal: an explanation equals the served reply, after a restart, a rebuild, supersessions and further captures.
Method: one erratad; each test keeps replies and compares them with explanations.
"""
import json
import subprocess

import grpc

from errata_cli import CliCase
from erratad import (BIN, artifact, event_service, extraction, feedback, learning, main, mappings, prompt_service,
                     prompt_template)

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED


class LearningCase(CliCase):
    def setUp(self):
        self.open()

    def open(self):
        self.client = self.server.client()
        self.addCleanup(self.client.close)

    def correct(self, layout, quantity, **fields):
        return self.client.capture(
            event_type=LINE, layout_fingerprint=layout, entity_type="line", before_json="{}",
            after_json=json.dumps({"qty": quantity}), actor_user_id="ada",
            meta_json=json.dumps({"input_snippet": f"Pos {quantity}"}), **fields)

    def match(self, *skus):
        self.lines = [mappings.DraftLine(customer_id="c1", customer_sku=sku) for sku in skus]
        return self.client.mappings.MatchLines(mappings.MatchLinesRequest(lines=self.lines))

    def newest_seq(self):
        return self.client.log.ListEvents(event_service.ListEventsRequest(page_size=1)).events[0].seq


class Explanations(LearningCase):
    def explain_all(self):
        """Explanation of each reference of test_explanations_last."""
        return (self.client.explain(exposure_ref=self.examples.exposure_ref),
                self.client.explain(exposure_ref=self.prompt.exposure_ref, prompt_inputs={"context": {"text": "T"}}),
                self.client.explain(exposure_ref=self.matches.exposure_ref, lines=self.lines))

    def test_explanations_last(self):
        first = self.correct("stays", 1, entity_id="1", document_id="d1")
        self.correct("stays", 2, entity_id="2", document_id="d2")
        self.client.prompts.PutPromptTemplate(prompt_service.PutPromptTemplateRequest(
            prompt_template=prompt_template.PromptTemplate(name="mine", text="{{text}}: {{hint_examples}}")))
        self.client.mappings.ConfirmMapping(mappings.ConfirmMappingRequest(
            customer_id="c1", customer_sku="A", internal_sku="X", actor_user_id="bob"))
        self.examples = self.client.examples("stays")
        self.prompt = self.client.prompt(template_name="mine", layout_fingerprint="stays", context={"text": "T"})
        self.matches = self.match("A", "a", "unknown")
        newest = self.newest_seq()
        before = self.explain_all()
        self.assertEqual(self.newest_seq(), newest)  # nothing was stored
        examples, prompt, matches = before
        self.assertEqual(examples.hint_examples_json, self.examples.hint_examples_json)
        self.assertEqual([one.example.id for one in examples.artifacts], [one.id for one in self.examples.examples])
        self.assertEqual({one.approved_by for one in examples.artifacts}, {"ada"})
        self.assertEqual(prompt.artifacts[0].prompt_template.text, "{{text}}: {{hint_examples}}")
        self.assertEqual(self.prompt.prompt, f"T: {prompt.hint_examples_json}")
        self.assertEqual(matches.artifacts[0].mapping.internal_sku, "X")
        self.assertEqual(matches.artifacts[0].approved_by, "bob")
        self.assertTrue(all(one.text_matches for one in before))
        # Later events change only the data about the time since.
        later = self.correct("stays", 3, entity_id="1", document_id="d1")
        self.client.mappings.RejectMapping(mappings.RejectMappingRequest(
            customer_id="c1", customer_sku="A", internal_sku="X"))
        self.client.prompts.PutPromptTemplate(prompt_service.PutPromptTemplateRequest(
            prompt_template=prompt_template.PromptTemplate(name="mine", text="other")))
        after = self.explain_all()
        self.assertEqual(after[0].artifacts[1].example.id, first.id)
        self.assertEqual(after[0].artifacts[1].superseded_by_event_id, later.id)
        for one in after[:2]:
            one.artifacts[-1].ClearField("superseded_by_event_id")
        after[2].artifacts[0].current_status = matches.artifacts[0].current_status
        self.assertEqual(after, before)
        after = self.explain_all()
        self.assertEqual(self.server.stop(), 0)
        self.server.start()
        self.open()
        self.assertEqual(self.explain_all(), after)
        self.assertEqual(self.server.stop(), 0)
        subprocess.run([f"{BIN}/erratad", "--rebuild", "--data", self.server.data], check=True, capture_output=True)
        self.server.start()
        self.open()
        self.assertEqual(self.explain_all(), after)

    def test_reads_with_as_of_return_no_reference(self):
        self.correct("past", 1, entity_id="1")
        self.client.mappings.ConfirmMapping(mappings.ConfirmMappingRequest(
            customer_id="c2", customer_sku="A", internal_sku="X"))
        seq = self.newest_seq()
        line = mappings.DraftLine(customer_id="c2", customer_sku="A")
        self.assertEqual(self.client.examples("past", as_of_seq=seq).exposure_ref, "")
        self.assertEqual(self.client.prompt(template="{{hint_examples}}", layout_fingerprint="past",
                                            as_of_seq=seq).exposure_ref, "")
        past = self.client.mappings.MatchLines(mappings.MatchLinesRequest(lines=[line], as_of_seq=seq))
        self.assertEqual((past.exposure_ref, past.lines[0].internal_sku), ("", "X"))
        self.assertNotEqual(self.client.mappings.MatchLines(
            mappings.MatchLinesRequest(lines=[line])).exposure_ref, "")

    def test_foreign_references_are_refused(self):
        self.correct("foreign", 1, entity_id="1")
        reference = self.client.examples("foreign").exposure_ref
        newest = self.newest_seq()
        forged = reference[:-1] + ("A" if reference[-1] != "A" else "B")
        for wrong in (forged, reference[:-4], reference + "AAAA", "x"):
            self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.client.explain, exposure_ref=wrong)
        self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.client.explain)
        self.assert_code(grpc.StatusCode.NOT_FOUND, self.client.explain,
                         exposure_id="01890000-0000-7000-8000-000000000000")
        self.assertEqual(self.newest_seq(), newest)


class Reports(LearningCase):
    def report(self, artifact_id):
        return self.client.learning.GetArtifactReport(learning.GetArtifactReportRequest(artifact_id=artifact_id))

    def test_report_compares_with_documents_that_were_held_out(self):
        example = self.correct("compared", 1, entity_id="1")
        self.client.update_settings(holdout_percent=50)
        self.addCleanup(self.client.update_settings, holdout_percent=0)
        arms = {extraction.EXPERIMENT_ARM_TREATMENT: 0, extraction.EXPERIMENT_ARM_CONTROL: 0}
        for number in range(40):
            served = self.client.examples("compared", document_id=f"document {number}")
            held_out = served.arm == extraction.EXPERIMENT_ARM_CONTROL
            self.assertEqual(len(served.examples), 0 if held_out else 1)
            arms[served.arm] += 1
            record = self.client.record_extraction(
                layout_fingerprint="compared", document_id=f"document {number}", confidence=0.5,
                exposure_refs=[served.exposure_ref])
            self.assertEqual(len(record.example_ids), 0 if held_out else 1)
            if held_out:  # every document without examples is corrected
                self.correct("elsewhere", number + 10, document_id=f"document {number}")
            explained = self.client.explain(exposure_ref=served.exposure_ref)
            self.assertEqual([one.held_out for one in explained.artifacts], [held_out])
        report = self.report(example.id)
        self.assertEqual(report.artifact_kind, artifact.ARTIFACT_KIND_EXAMPLE)
        treated, control = arms.values()
        self.assertEqual((report.treatment.outcome_count, report.treatment.bad_count), (treated, 0))
        self.assertEqual((report.held_out.outcome_count, report.held_out.bad_count), (control, control))
        self.assertEqual(report.difference, -1)
        self.assertLess(report.difference_high, 0)
        out, _ = self.run_cli("analytics", "artifact", example.id)
        self.assertIn(f"0 of {treated} bad (0.0%), in {treated} exposures", out)
        self.assertIn(f"{control} of {control} bad (100.0%)", out)
        self.assertIn("-100.0% (95% interval -100.0% to", out)

    def test_report_of_a_mapping_follows_its_withdrawal(self):
        mapping = self.client.mappings.ConfirmMapping(mappings.ConfirmMappingRequest(
            customer_id="c1", customer_sku="R", internal_sku="X")).mapping
        early, late = self.match("R"), self.match("R")
        self.client.mappings.RecordMatches(mappings.RecordMatchesRequest(exposure_ref=early.exposure_ref))
        report = self.report(mapping.id)
        self.assertEqual((report.served.good_count, report.served.bad_count), (1, 0))
        self.client.mappings.RejectMapping(mappings.RejectMappingRequest(id=mapping.id))
        # Served before it was rejected, cited after it.
        for _ in range(2):
            self.client.mappings.RecordMatches(mappings.RecordMatchesRequest(exposure_ref=late.exposure_ref))
        report = self.report(mapping.id)
        self.assertEqual((report.served.exposure_count, report.served.good_count, report.served.bad_count), (2, 0, 2))
        self.assertFalse(report.HasField("difference"))
        self.client.mappings.ConfirmMapping(mappings.ConfirmMappingRequest(id=mapping.id))
        again = self.match("R")
        self.client.mappings.RecordMatches(mappings.RecordMatchesRequest(exposure_ref=again.exposure_ref))
        report = self.report(mapping.id)
        self.assertEqual((report.served.good_count, report.served.bad_count), (1, 2))

    def test_unknown_artifact_is_not_found(self):
        for wrong in ("01890000-0000-7000-8000-000000000000", self.client.events()[-1].id):
            self.assert_code(grpc.StatusCode.NOT_FOUND, self.report, wrong)


class Command(LearningCase):
    def test_explain_prints_what_was_served_and_what_followed(self):
        self.correct("cli", 7, entity_id="1", document_id="order 1")
        served = self.client.examples("cli", document_id="order 2")
        self.client.record_extraction(layout_fingerprint="cli", document_id="order 2", confidence=0.5,
                                      exposure_refs=[served.exposure_ref])
        correction = self.correct("cli", 8, entity_id="9", document_id="order 2")
        out, _ = self.run_cli("explain", served.exposure_ref)
        for text in ("GetExamples", '{"qty": 7}', "of order 1", "ada", served.examples[0].id, "order 2",
                     f"corrected by {correction.id}", "rebuilt with the recorded hash"):
            self.assertIn(text, out)
        out, _ = self.run_cli("explain", served.exposure_ref, "--hints")
        self.assertEqual(json.loads(out), json.loads(served.hint_examples_json))
        out, _ = self.run_cli("explain", served.exposure_ref, "--json")
        explained = json.loads(out)
        self.assertEqual(explained["hintExamplesJson"], served.hint_examples_json)
        out, _ = self.run_cli("explain", explained["exposureId"])
        self.assertIn("GetExamples", out)
        _, err = self.run_cli("explain", served.exposure_ref[:-4], code=1)
        self.assertIn("exposure_ref", err)

    def test_explain_compares_a_prompt(self):
        self.correct("prompt", 7, entity_id="1")
        served = self.client.prompt(template="{{a}} {{hint_examples}}", layout_fingerprint="prompt",
                                    context={"a": "one"})
        (self.folder / "template.txt").write_text("{{a}} {{hint_examples}}")
        words = ("explain", served.exposure_ref, "--file", "template.txt", "--value")
        self.assertIn("rebuilt with the recorded hash", self.run_cli(*words, "a=one")[0])
        self.assertIn("rebuilt, but its hash differs", self.run_cli(*words, "a=two")[0])
        self.assertIn("not compared", self.run_cli("explain", served.exposure_ref)[0])


if __name__ == "__main__":
    main()
