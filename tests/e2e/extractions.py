#!/usr/bin/python3
"""Recorded extractions through a real client: their corrections, and the effect of examples.

Goal: correction rates, confidence trends and the experiment equal the recorded events exactly. Method: one
erratad; each test has an organisation of its own, so that whole reports can be compared; arms are computed
here by the formula, and reports by a recount of the log.
"""
import itertools
import json
import random

import grpc

import pdf_data
import recount
from erratad import (ServerCase, admin, analytics, bad_fields, event_log, event_service, extraction,
                     extraction_service, feedback, feedback_service, internal, main, roles)
from errata.v1 import match_mode_pb2
from errata.v1 import warning_pb2 as warning  # noqa: E402

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
FIELD = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED
NONE = extraction.EXPERIMENT_ARM_NONE
TREATMENT = extraction.EXPERIMENT_ARM_TREATMENT
CONTROL = extraction.EXPERIMENT_ARM_CONTROL
LINES = itertools.count(1)


class ExtractionCase(ServerCase):
    def setUp(self):
        self.org = self.admin.create_org(self.id())
        secret = self.admin.create_token(roles.ROLE_ADMIN, org_id=self.org.id).secret
        self.client = self.server.client(secret)
        self.addCleanup(self.client.close)

    def record(self, **fields):
        fields.setdefault("layout_fingerprint", "layout")
        fields.setdefault("confidence", 0.5)
        return self.client.record_extraction(**fields)

    def record_all(self, many):
        """Records many extractions at once; returns the response of each."""
        calls = [self.client.extractions.RecordExtraction.future(extraction_service.RecordExtractionRequest(
            extraction=extraction.Extraction(**fields))) for fields in many]
        return [call.result().extraction for call in calls]

    def correct(self, field="qty", **fields):
        """Each correction is of another line, so that none is a copy of another."""
        fields.setdefault("meta_json", json.dumps({"input_snippet": f"line {next(LINES)}"}))
        return self.client.capture(event_type=LINE, before_json=json.dumps({field: 0}),
                                   after_json=json.dumps({field: 1}), **fields)

    def correct_all(self, events):
        for start in range(0, len(events), 1000):
            self.client.feedback.BatchCaptureFeedbackEvents(
                feedback_service.BatchCaptureFeedbackEventsRequest(events=events[start:start + 1000]))

    def ready(self, layout="layout"):
        """Three examples: extractions count in the experiment from now on."""
        return [self.correct(layout_fingerprint=layout) for _ in range(3)]

    def coverage(self, layout="layout"):
        rows = self.client.analytics.ListLayoutCoverage(analytics.ListLayoutCoverageRequest()).layout_stats
        return next(row for row in rows if row.layout_fingerprint == layout)

    def report(self):
        return self.client.analytics.GetExperimentReport(analytics.GetExperimentReportRequest())

    def newest_seq(self):
        return self.client.log.ListEvents(event_service.ListEventsRequest(page_size=1)).events[0].seq

    def assert_recount(self):
        self.assertEqual(recount.check(self.client), [])


class Recorded(ExtractionCase):
    def test_response_equals_the_stored_extraction(self):
        made = self.record(document_id="d-1", draft_order_id="o-1", confidence=0.123456, model="m-7",
                           field_count=12)
        self.assertEqual((made.document_id, made.draft_order_id, made.model, made.field_count),
                         ("d-1", "o-1", "m-7", 12))
        self.assertEqual((made.org_id, made.arm, len(made.id)), (self.org.id, NONE, 36))
        event = self.client.log.GetEvent(event_service.GetEventRequest(id=made.id)).event
        self.assertEqual(event.kind, event_log.EVENT_KIND_EXTRACTION_RECORDED)
        reported = event.extraction_recorded
        counted = internal(reported)
        self.assertEqual(counted.confidence_millionths, 123456)
        self.assertEqual((counted.layout_ready, list(counted.example_seqs), list(reported.exposure_seqs)),
                         (False, [], []))
        self.assertEqual(reported.extraction.document_id, "d-1")

    def test_invalid_extraction_is_refused_by_field(self):
        def names(**fields):
            error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.client.record_extraction,
                                     **fields)
            return set(bad_fields(error))

        self.assertLessEqual({"extraction.layout_fingerprint", "extraction.confidence"},
                             names(document_id="never-ingested"))
        for field, values in (("confidence", (-0.1, 1.1, float("nan"))), ("field_count", (0,))):
            for value in values:
                self.assertIn(f"extraction.{field}",
                              names(**{"layout_fingerprint": "x", "confidence": 0.5, field: value}))
        self.assertEqual(self.newest_seq(), 2)  # the organisation and its token

    def test_layout_is_filled_in_from_the_document(self):
        layout = self.client.ingest("doc", pdf_data.small()).document.layout_fingerprint
        made = self.client.record_extraction(document_id="doc", draft_order_id="order", confidence=0.5)
        self.assertEqual(made.layout_fingerprint, layout)
        event = self.correct(draft_order_id="order")
        self.assertEqual(event.layout_fingerprint, layout)
        self.assertIn("input_snippet", event.meta_json)
        self.assertEqual(self.coverage(layout).corrected_count, 1)

    def test_extraction_is_corrected_once(self):
        """Any number of corrections of both kinds, identified by document or draft, count as one corrected
        extraction."""
        self.record(document_id="d-1", draft_order_id="o-1", field_count=10)
        for fields in ({"document_id": "d-1"}, {"draft_order_id": "o-1"},
                       {"document_id": "d-1", "draft_order_id": "o-1"}):
            self.correct(layout_fingerprint="layout", **fields)
        self.client.capture(event_type=FIELD, document_id="d-1", after_json='{"po":"1"}')
        row = self.coverage()
        self.assertEqual((row.extraction_count, row.corrected_count, row.correction_rate), (1, 1, 1.0))
        self.assert_recount()

    def test_a_correction_may_come_first(self):
        """A correction that arrives after serving and before the extraction is recorded counts, once; so does
        one without a reference, of the last day. One that was made before serving does not."""
        self.ready()
        self.correct(document_id="d-1", layout_fingerprint="layout")
        reference = self.client.examples("layout", document_id="d-1").exposure_ref
        self.record(document_id="d-1", exposure_refs=[reference])
        self.assertEqual(self.coverage().corrected_count, 0)
        for n in range(2):
            self.correct(document_id="d-2", layout_fingerprint="layout")
            self.record(document_id="d-2", field_count=3)
        reference = self.client.examples("layout", document_id="d-3").exposure_ref
        self.correct(draft_order_id="o-3", layout_fingerprint="layout")
        self.record(document_id="d-3", draft_order_id="o-3", exposure_refs=[reference])
        row = self.coverage()
        self.assertEqual((row.extraction_count, row.corrected_count), (3, 2))
        self.assert_recount()

    def test_extraction_is_in_an_arm_or_excluded(self):
        """Each extraction is in one arm, or excluded for one reason."""
        self.record(document_id="no-holdout")
        self.client.update_settings(holdout_percent=100)
        self.record(document_id="early")
        self.ready()
        held = self.client.examples("layout", document_id="mixed").exposure_ref
        self.client.update_settings(holdout_percent=0)
        free = self.client.examples("layout", document_id="mixed").exposure_ref
        mixed = self.record(document_id="mixed", exposure_refs=[held, free])
        self.assertEqual(mixed.experiment_exclusion, extraction.EXPERIMENT_EXCLUSION_MIXED_ARMS)
        self.client.update_settings(holdout_percent=100)
        for name in ("counted", "counted"):
            self.record(document_id=name)
            self.record(document_id=name, extraction_id="further")
        self.record(draft_order_id="no-document")
        reported = self.report().organization
        self.assertEqual(reported.control.extraction_count, 1)
        self.assertEqual(reported.excluded, analytics.ExcludedExtractions(
            no_document_count=1, further_extraction_count=1, no_holdout_count=1, mixed_arms_count=1,
            layout_not_ready_count=1))
        self.assert_recount()

    def test_other_actions_do_not_correct(self):
        self.record(document_id="d-1")
        for kind in (feedback.FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED, feedback.FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED):
            self.client.capture(event_type=kind, document_id="d-1", after_json='{"customer_id":"c"}')
        self.correct(document_id="d-2")
        self.correct(layout_fingerprint="layout")
        self.assertEqual(self.coverage().corrected_count, 0)
        self.assert_recount()

    def test_the_newest_is_marked(self):
        """Of two extractions of a document, the newer one by created_at counts as corrected; an older one that is
        imported later does not."""
        for confidence in (0.1, 0.2):
            self.record(extraction_id=f"e-{confidence}", document_id="d-1",
                        layout_fingerprint=f"at-{confidence}", confidence=confidence)
        self.record(document_id="d-1", layout_fingerprint="old", created_at="2024-01-01T00:00:00Z")
        self.correct(document_id="d-1")
        self.assertEqual([self.coverage(name).corrected_count for name in ("at-0.1", "at-0.2", "old")],
                         [0, 1, 0])
        self.assert_recount()

    def record(self, created_at=None, **fields):
        if created_at is None:
            return super().record(**fields)
        one = extraction.Extraction(confidence=0.5, **fields)
        one.created_at.FromJsonString(created_at)
        return self.client.extractions.RecordExtraction(
            extraction_service.RecordExtractionRequest(extraction=one)).extraction

    def test_fr_018_layouts_have_their_correction_rate(self):
        """The rate is corrected extractions over all, by layout; a layout without extractions has
        no rate."""
        wanted = {}
        for n, (layout, count, corrected) in enumerate((("a", 10, 3), ("b", 4, 4), ("c", 5, 0))):
            self.record_all([{"document_id": f"{n}-{i}", "layout_fingerprint": layout, "confidence": 0.5}
                             for i in range(count)])
            self.correct_all([feedback.FeedbackEvent(event_type=LINE, document_id=f"{n}-{i}",
                                                     layout_fingerprint=layout, after_json='{"qty":1}')
                              for i in range(corrected) for _ in range(2)])
            wanted[layout] = corrected / count
        self.correct(layout_fingerprint="d")
        rows = self.client.analytics.ListLayoutCoverage(analytics.ListLayoutCoverageRequest()).layout_stats
        self.assertEqual({r.layout_fingerprint: r.correction_rate for r in rows
                          if r.HasField("correction_rate")}, wanted)
        self.assertEqual(len(rows), 4)
        self.assert_recount()

    def test_confidence_improvement_is_computed(self):
        """Mean confidence with an example minus that without any; absent below three of either."""
        examples = self.ready()
        carried, newest = examples[0].id, examples[2].id

        def improvement(example_id):
            found = {e.id: e for e in self.client.examples("layout").examples}[example_id]
            return found.confidence_improvement if found.HasField("confidence_improvement") else None

        for n in range(3):
            self.assertIsNone(improvement(carried))
            self.record(document_id=f"with-{n}", confidence=0.9, example_ids=[carried])
        for n in range(3):
            self.assertIsNone(improvement(carried))
            self.record(document_id=f"bare-{n}", confidence=0.5 + n / 10)
        self.assertAlmostEqual(improvement(carried), 0.9 - 0.6, places=6)
        self.assertIsNone(improvement(newest))
        for n in range(3):
            self.record(document_id=f"both-{n}", confidence=0.3, example_ids=[carried, newest])
        self.assertAlmostEqual(improvement(carried), 0.6 - 0.6, places=6)
        self.assertAlmostEqual(improvement(newest), 0.3 - 0.6, places=6)

    def test_an_example_of_another_layout_is_a_warning(self):
        examples = self.ready()
        foreign = self.correct(layout_fingerprint="another").id
        request = extraction_service.RecordExtractionRequest(extraction=extraction.Extraction(
            layout_fingerprint="layout", document_id="w", confidence=0.5,
            example_ids=[examples[0].id, foreign]))
        key = (("idempotency-key", "warned"),)
        first, again = (self.client.extractions.RecordExtraction(request, metadata=key)
                        for _ in range(2))
        self.assertEqual(list(first.extraction.example_ids), [examples[0].id])
        self.assertEqual([w.code for w in first.warnings], [warning.WARNING_CODE_FOREIGN_LAYOUT])
        self.assertIn("example_ids[1]: example of another layout", first.warnings[0].message)
        self.assertEqual(first, again)

    def test_examples_come_from_references_and_ids(self):
        examples = self.ready()
        reference = self.client.examples("layout", max_examples=2).exposure_ref
        prompt = self.client.prompt(template="{{hint_examples}}", layout_fingerprint="layout", max_examples=1)
        made = self.record(document_id="d", exposure_refs=[reference, prompt.exposure_ref],
                           example_ids=[examples[0].id])
        self.assertEqual(sorted(made.example_ids), sorted(e.id for e in examples))
        event = self.client.log.GetEvent(event_service.GetEventRequest(id=made.id)).event
        self.assertEqual(len(event.extraction_recorded.exposure_seqs), 2)
        self.assertEqual(len(internal(event.extraction_recorded).example_seqs), 3)

    def test_the_same_outcome_counts_once(self):
        """The same reference and document: the second extraction replaces the first. Another document may
        cite it too, and the exposure is in the log once."""
        self.ready()
        reference = self.client.examples("layout", document_id="d-1").exposure_ref
        first = self.record(document_id="d-1", confidence=0.7, exposure_refs=[reference])
        again = self.record(document_id="d-1", confidence=0.2, exposure_refs=[reference])
        event = self.client.log.GetEvent(event_service.GetEventRequest(id=again.id)).event
        replaced = self.client.log.GetEvent(event_service.GetEventRequest(id=first.id)).event
        self.assertEqual(event.extraction_recorded.replaced_seq, replaced.seq)
        other = self.record(document_id="d-2", exposure_refs=[reference])
        self.assertNotEqual(other.id, first.id)
        self.assertEqual(len(self.client.events(kind=event_log.EVENT_KIND_EXPOSURE_RECORDED)), 1)
        self.assertEqual(self.coverage().extraction_count, 2)
        self.assert_recount()

    def test_repeat_under_a_key_gets_the_first_answer(self):
        key = [("idempotency-key", "once")]
        request = extraction_service.RecordExtractionRequest(extraction=extraction.Extraction(
            document_id="d", layout_fingerprint="layout", confidence=0.5))
        first = self.client.extractions.RecordExtraction(request, metadata=key)
        again = self.client.extractions.RecordExtraction(request, metadata=key)
        self.assertEqual(first.SerializeToString(), again.SerializeToString())
        self.assertEqual(self.coverage().extraction_count, 1)


class Experiment(ExtractionCase):
    def test_arms_equal_the_formula(self):
        """Every method reports the same side of a document at any time, the one of the formula."""
        self.ready()
        names = [f"doc-{n}" for n in range(60)]
        for percent in (0, 1, 30, 100):
            self.client.update_settings(holdout_percent=percent)
            wanted = [recount.arm_of(self.org.id, name, percent) for name in names]
            for name, arm in zip(names, wanted):
                examples = self.client.examples("layout", document_id=name)
                self.assertEqual(examples.arm, arm, name)
                self.assertEqual(len(examples.examples), 0 if arm == CONTROL else 3)
            reported = self.record_all([{"document_id": name, "layout_fingerprint": "layout",
                                     "confidence": 0.5} for name in names])
            self.assertEqual([one.arm for one in reported], wanted)
        prompt = self.client.prompt(template="x", layout_fingerprint="layout", document_id=names[0])
        self.assertEqual(prompt.arm, CONTROL)
        self.assertEqual(self.client.examples("layout").arm, NONE)

    def test_arm_of_the_reference_is_kept(self):
        """The arm of an exposure is kept, even if the holdout has been changed since."""
        self.ready()
        self.client.update_settings(holdout_percent=100)
        reference = self.client.examples("layout", document_id="d").exposure_ref
        self.client.update_settings(holdout_percent=0)
        self.assertEqual(self.record(document_id="d", exposure_refs=[reference]).arm, CONTROL)
        self.assertEqual(self.record(document_id="e").arm, NONE)

    def test_holdout_setting_is_stored(self):
        def settings():
            return self.client.admin.GetSettings(admin.GetSettingsRequest()).settings

        self.assertTrue(settings().HasField("holdout_percent"))
        self.assertEqual((settings().holdout_percent, settings().match_mode), (0, match_mode_pb2.MATCH_MODE_EXACT))
        self.client.update_settings(holdout_percent=20)
        kept = self.client.update_settings(match_mode=match_mode_pb2.MATCH_MODE_EXACT)
        self.assertEqual((kept.holdout_percent, kept.match_mode), (20, match_mode_pb2.MATCH_MODE_EXACT))
        self.assertEqual(settings(), kept)
        self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.client.update_settings,
                         holdout_percent=101)
        self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.client.update_settings)

    def test_extractions_before_the_third_example_are_in_no_arm(self):
        """An extraction without a document, or before its layout has three examples, is in no arm."""
        self.client.update_settings(holdout_percent=100)
        for n in range(3):
            self.record(document_id=f"early-{n}")
            self.correct(layout_fingerprint="layout")
        self.record(draft_order_id="no-document")
        self.record(document_id="counted")
        organization = self.report().organization
        self.assertEqual((organization.treatment.extraction_count, organization.control.extraction_count),
                         (0, 1))
        self.assertFalse(organization.HasField("relative_improvement"))
        self.assertFalse(organization.HasField("p_value"))
        self.assert_recount()

    def test_arm_has_its_fields(self):
        """Accuracy by field: each field that was corrected once, of those that reported their
        number of fields."""
        self.ready()
        self.client.update_settings(holdout_percent=100)
        self.record(document_id="counted", field_count=10)
        self.record(document_id="not-counted")
        for field in ("qty", "qty", "price"):
            self.correct(field, document_id="counted")
        self.correct("qty", document_id="not-counted")
        control = self.report().organization.control
        self.assertEqual((control.extraction_count, control.corrected_count, control.field_count,
                          control.corrected_field_count), (2, 2, 10, 2))
        self.assertAlmostEqual(control.field_accuracy, 0.8)
        self.assertEqual(control.accuracy, 0.0)
        self.assert_recount()

    def populate(self, layout, count, wrong_in_treatment, wrong_in_control):
        """Records `count` documents, with corrections at a known rate in each arm."""
        names = [f"{layout}-{n}" for n in range(count)]
        self.record_all([{"document_id": name, "layout_fingerprint": layout, "confidence": 0.5,
                          "field_count": 8} for name in names])
        truth = {TREATMENT: [0, 0], CONTROL: [0, 0]}
        wrong = []
        for name in names:
            arm = recount.arm_of(self.org.id, name, 25)
            truth[arm][0] += 1
            if truth[arm][0] % (wrong_in_treatment if arm == TREATMENT else wrong_in_control) == 0:
                truth[arm][1] += 1
                wrong.append(name)
        random.Random(5).shuffle(wrong)
        self.correct_all([feedback.FeedbackEvent(
            event_type=LINE, document_id=name, before_json='{"qty":1}', after_json='{"qty":2}')
            for name in wrong])
        return truth

    def test_sc_005_the_uplift_is_measured(self):
        """Two layouts, a quarter held out: one tenth wrong with examples, one third without. The report has
        the known rates, its interval and p-value are those of the formulas, and 15% is reached; in the
        layout with equal arms it is not."""
        self.client.update_settings(holdout_percent=25)
        self.ready("helps")
        self.ready("same")
        helps = self.populate("helps", 400, 10, 3)
        same = self.populate("same", 200, 5, 5)
        report = self.report()
        self.assertEqual(report.holdout_percent, 25)
        found = {one.layout_fingerprint: one for one in report.layouts}
        self.assertEqual(set(found), {"helps", "same"})
        for name, truth in (("helps", helps), ("same", same)):
            comparison = found[name].comparison
            for arm, reported in ((TREATMENT, comparison.treatment), (CONTROL, comparison.control)):
                self.assertEqual([reported.extraction_count, reported.corrected_count], truth[arm])
            share = {arm: 1 - wrong / count for arm, (count, wrong) in truth.items()}
            self.assertAlmostEqual(comparison.relative_improvement,
                                   share[TREATMENT] / share[CONTROL] - 1)
            self.assertLess(comparison.improvement_low, comparison.relative_improvement)
            self.assertGreater(comparison.improvement_high, comparison.relative_improvement)
        self.assertTrue(found["helps"].comparison.target_reached)
        self.assertLess(found["helps"].comparison.p_value, 0.001)
        self.assertGreater(found["helps"].comparison.improvement_low, 0.10)
        self.assertFalse(found["same"].comparison.target_reached)
        self.assertGreater(found["same"].comparison.p_value, 0.3)
        self.assertLess(found["same"].comparison.improvement_low, 0)
        self.assert_recount()

    def test_sc_005_figures_equal_a_textbook(self):
        """The recount's own statistics: Koopman (1984), 36 of 40 beside 16 of 80, has 2.94 to 7.15."""
        arms = {TREATMENT: recount.Arm(), CONTROL: recount.Arm()}
        for arm, total, right in ((TREATMENT, 40, 36), (CONTROL, 80, 16)):
            arms[arm].extractions, arms[arm].corrected = total, total - right
        reported = recount.compare(arms)
        self.assertAlmostEqual(reported.improvement_low + 1, 2.94, places=2)
        self.assertAlmostEqual(reported.improvement_high + 1, 7.15, places=2)
        self.assertTrue(reported.target_reached)

    def test_sc_005_uplift_is_computed_without_a_success(self):
        """Three with examples, all corrected, beside two, one corrected: minus all of it, or better."""
        self.client.update_settings(holdout_percent=50)
        self.ready()
        wanted = {TREATMENT: 3, CONTROL: 2}
        names = {arm: [] for arm in wanted}
        for n in range(1000):
            side = names[recount.arm_of(self.org.id, f"d-{n}", 50)]
            side.append(f"d-{n}")
        chosen = {arm: names[arm][:count] for arm, count in wanted.items()}
        for name in chosen[TREATMENT] + chosen[CONTROL]:
            self.record(document_id=name)
        for name in chosen[TREATMENT] + chosen[CONTROL][:1]:
            self.correct(document_id=name)
        reported = self.report().organization
        self.assertEqual((reported.relative_improvement, reported.improvement_low), (-1, -1))
        self.assertAlmostEqual(reported.improvement_high, 0.984238, places=5)
        self.assert_recount()


if __name__ == "__main__":
    main()
