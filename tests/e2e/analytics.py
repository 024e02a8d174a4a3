#!/usr/bin/python3
"""Analytics through a real client: an administrator's view of the learning loop.

Goal: the scenarios of document 000 on the dashboard hold for what it is drawn from, and every figure equals
a recount of the log. Method: one erratad; each test has an organisation of its own, and history that an
importer brings. The browser's page and the REST form are not in the server yet.
"""
import collections
import datetime
import json
import random
import time

import grpc
from google.protobuf import timestamp_pb2

import pdf_data
import recount
from erratad import (ServerCase, analytics, annotators, bad_fields, event_log, event_service, extraction,
                     extraction_service, feedback, feedback_service, main, mappings, roles)

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
FIELD = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED
SELECTED = feedback.FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED
DASHBOARD_SECONDS_MAX = 2
RANGE_DAYS_DEFAULT = 30


def day(text, seconds=0):
    """A time within a day of UTC."""
    at = timestamp_pb2.Timestamp()
    at.FromJsonString(f"{text}T00:00:00Z")
    at.seconds += seconds
    return at


class AnalyticsCase(ServerCase):
    def setUp(self):
        self.org = self.admin.create_org(self.id())
        self.client = self.client_of(roles.ROLE_ADMIN)

    def client_of(self, role):
        made = self.server.client(self.admin.create_token(role, org_id=self.org.id).secret)
        self.addCleanup(made.close)
        return made

    def capture_all(self, events):
        for start in range(0, len(events), 1000):
            self.client.feedback.BatchCaptureFeedbackEvents(
                feedback_service.BatchCaptureFeedbackEventsRequest(events=events[start:start + 1000]))

    def learned(self, **fields):
        return self.client.analytics.GetLearningAnalytics(analytics.GetLearningAnalyticsRequest(**fields))

    def coverage(self, **fields):
        return self.client.all_pages(self.client.analytics.ListLayoutCoverage,
                                     analytics.ListLayoutCoverageRequest(**fields), "layout_stats")

    def assert_recount(self):
        self.assertEqual(recount.check(self.client), [])

    @staticmethod
    def correction(field, kind=LINE, **fields):
        return feedback.FeedbackEvent(event_type=kind, before_json=json.dumps({field: 1}),
                                      after_json=json.dumps({field: 2}), **fields)


class Scenarios(AnalyticsCase):
    def test_us5_1_page_has_its_figures(self):
        """The last 30 days by default, each of them; corrected fields; layout coverage."""
        today = datetime.datetime.now(datetime.timezone.utc).date()
        counts = collections.Counter()
        for n in range(60):
            at = today - datetime.timedelta(days=1 + n * n % 40)
            counts[at.isoformat()] += 1
            self.capture_all([self.correction("qty", layout_fingerprint="page",
                                              created_at=day(at.isoformat(), 60))])
        reported = self.learned()
        days = [(today - datetime.timedelta(days=n)).isoformat() for n in range(29, -1, -1)]
        if reported.end_date == today.isoformat():  # otherwise midnight passed in between
            self.assertEqual([d.date for d in reported.events_by_day], days)
            self.assertEqual([d.count for d in reported.events_by_day], [counts[d] for d in days])
            self.assertEqual(reported.corrected_fields[0].count, sum(counts[d] for d in days))
        self.assertEqual((len(reported.events_by_day), len(reported.confidence_by_day)), (30, 30))
        self.assertEqual(reported.corrected_fields[0].field, "qty")
        self.assertEqual([row.layout_fingerprint for row in reported.layout_stats], ["page"])
        self.assertFalse(reported.HasField("correction_rate"))
        self.assert_recount()

    def test_us5_2_corrected_fields_are_counted_by_name(self):
        """100 corrections of lines: 40 qty, 30 sku, 20 uom, 10 price, in any order."""
        fields = ["qty"] * 40 + ["sku"] * 30 + ["uom"] * 20 + ["price"] * 10
        random.Random(1).shuffle(fields)
        self.capture_all([self.correction(field) for field in fields])
        self.capture_all([self.correction("po", FIELD)] * 15)
        reported = self.learned()
        self.assertEqual([(f.field, f.count) for f in reported.corrected_line_fields],
                         [("qty", 40), ("sku", 30), ("uom", 20), ("price", 10)])
        self.assertEqual([(f.field, f.count) for f in reported.corrected_header_fields], [("po", 15)])
        self.assertEqual([(f.field, f.count) for f in reported.corrected_fields],
                         [("qty", 40), ("sku", 30), ("uom", 20), ("po", 15), ("price", 10)])
        self.assertEqual([(f.field, f.count) for f in self.learned(top_fields=2).corrected_fields],
                         [("qty", 40), ("sku", 30)])
        self.assert_recount()

    def test_events_of_some_annotators_are_counted_alone(self):
        """Six corrections by people, three by models and one by a program, of two layouts; one of each is retracted."""
        kinds = {annotators.ANNOTATOR_KIND_HUMAN: 6, annotators.ANNOTATOR_KIND_LLM: 3,
                 annotators.ANNOTATOR_KIND_CODE: 1}
        for kind, count in kinds.items():
            self.capture_all([self.correction(f"by-{kind}", layout_fingerprint=f"layout-{n % 2}", annotator_kind=kind)
                              for n in range(count)])
        newest = self.client.feedback.ListFeedbackEvents(feedback_service.ListFeedbackEventsRequest(
            annotator_kind=annotators.ANNOTATOR_KIND_LLM)).events[0]
        self.client.log.RetractEvent(event_service.RetractEventRequest(
            event_id=newest.id, reason="wrong"))
        for chosen, wanted, retracted in (((annotators.ANNOTATOR_KIND_LLM,), 2, 1),
                                          ((annotators.ANNOTATOR_KIND_CODE,), 1, 0),
                                          (tuple(kinds), 9, 1), ((), 9, 1)):
            reported = self.learned(annotator_kinds=chosen)
            self.assertEqual(sum(day.count for day in reported.corrections_by_day), wanted)
            self.assertEqual({one.field for one in reported.corrected_fields},
                             {f"by-{kind}" for kind in chosen or kinds})
            self.assertEqual(reported.retracted_count, retracted)
        reported = self.learned(annotator_kinds=(annotators.ANNOTATOR_KIND_HUMAN,), layout_fingerprint="layout-1")
        self.assertEqual(sum(day.count for day in reported.events_by_day), 3)
        for fields, named in (({"annotator_kinds": (0,)}, "annotator_kinds[0]"),
                              ({"layout_family_id": "x"}, "layout_family_id"),
                              ({"layout_family_id": newest.id, "layout_fingerprint": "y"}, "layout_family_id")):
            with self.assertRaises(grpc.RpcError) as raised:
                self.learned(**fields)
            self.assertIn(named, bad_fields(raised.exception))
        with self.assertRaises(grpc.RpcError) as raised:
            self.learned(layout_family_id=newest.id)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.NOT_FOUND)
        self.assert_recount()

    def test_us5_3_layouts_have_their_counts(self):
        """Ten layouts, three of them seen as documents: the number of documents and corrections, and the
        time of the last one."""
        rows = [row for row in pdf_data.rows("layout") if row["path"].startswith("layout/gen-")]
        seen = collections.Counter()
        for n, row in enumerate(rows[:4] + rows[:2]):
            content = pdf_data.read(row["path"]) + b"%% copy %d\n" % n
            seen[self.client.ingest(f"doc-{n}", content).document.layout_fingerprint] += 1
        names = [*seen, *(f"named-{n}" for n in range(10 - len(seen)))]
        for n, name in enumerate(names):
            self.capture_all([self.correction("qty", layout_fingerprint=name)] * (n + 1) +
                             [feedback.FeedbackEvent(event_type=SELECTED, layout_fingerprint=name,
                                                     after_json='{"customer_id":"c"}')])
        reported = {row.layout_fingerprint: row for row in self.learned().layout_stats}
        self.assertEqual(set(reported), set(names))
        for n, name in enumerate(names):
            row = reported[name]
            self.assertEqual((row.seen_count, row.example_count, row.feedback_count, row.fingerprint_short),
                             (seen[name], n + 1, n + 2, name[:8]))
            self.assertEqual(row.HasField("last_seen_at"), name in seen)
            if name in seen:
                profile = self.client.profile(name)
                self.assertEqual((row.last_seen_at, row.feedback_count, row.example_count),
                                 (profile.last_seen_at, profile.feedback_count, profile.example_count))
        most = self.coverage(order=analytics.LAYOUT_COVERAGE_ORDER_MOST_SEEN, page_size=3)
        self.assertEqual([row.seen_count for row in most], sorted((seen[n] for n in names), reverse=True))
        self.assertEqual(len({row.layout_fingerprint for row in most}), 10)
        last = [row.last_seen_at.ToMicroseconds() for row in self.coverage(page_size=1)][:len(seen)]
        self.assertEqual(last, sorted(last, reverse=True))
        self.assert_recount()

    def test_us5_4_confidence_is_averaged_by_day(self):
        """Mean confidence of each day: improving here; absent on a day without extractions."""
        for n, values in enumerate(((0.5, 0.7), (), (0.8,), (0.9, 0.9, 0.96))):
            for i, value in enumerate(values):
                one = extraction.Extraction(document_id=f"{n}-{i}", layout_fingerprint="trend",
                                            confidence=value, created_at=day(f"2025-03-0{n + 1}", 3600))
                self.client.extractions.RecordExtraction(
                    extraction_service.RecordExtractionRequest(extraction=one))
        self.capture_all([self.correction("qty", document_id="0-0")])
        reported = self.learned(start_date="2025-03-01", end_date="2025-03-04")
        self.assertEqual([d.extraction_count for d in reported.confidence_by_day], [2, 0, 1, 3])
        means = [d.mean_confidence if d.HasField("mean_confidence") else None
                 for d in reported.confidence_by_day]
        for mean, wanted in zip(means, (0.6, None, 0.8, 0.92)):
            self.assertIsNone(mean) if wanted is None else self.assertAlmostEqual(mean, wanted, places=6)
        self.assertEqual([d.corrected_count for d in reported.confidence_by_day], [1, 0, 0, 0])
        self.assertEqual((reported.extraction_count, reported.corrected_count), (6, 1))
        self.assertAlmostEqual(reported.correction_rate, 1 / 6)
        self.assert_recount()

    def test_us5_5_corrections_of_one_layout_are_listed(self):
        """An operator sees one layout's events, newest first, with their changes."""
        self.capture_all([self.correction("qty", layout_fingerprint=f"p-{n % 2}", document_id=f"d-{n}")
                          for n in range(6)])
        operator = self.client_of(roles.ROLE_OPERATOR)
        events = operator.feedback.ListFeedbackEvents(
            feedback_service.ListFeedbackEventsRequest(layout_fingerprint="p-1")).events
        self.assertEqual([e.document_id for e in events], ["d-5", "d-3", "d-1"])
        for event in events:
            self.assertEqual([(d.name, d.before, d.after) for d in event.diff], [("qty", "1", "2")])


class Requirements(AnalyticsCase):
    def test_fr_016_range_of_days_is_counted(self):
        """Ranges are days of UTC, both ends included; other events are not counted; invalid ranges
        are refused."""
        for text, seconds in (("2025-01-31", 86399), ("2025-02-01", 0), ("2025-02-28", 86399),
                              ("2025-03-01", 0)):
            self.capture_all([self.correction("qty", created_at=day(text, seconds))])
        reported = self.learned(start_date="2025-02-01", end_date="2025-02-28")
        self.assertEqual((reported.start_date, reported.end_date), ("2025-02-01", "2025-02-28"))
        self.assertEqual(len(reported.events_by_day), 28)
        self.assertEqual({d.date: d.count for d in reported.events_by_day if d.count},
                         {"2025-02-01": 1, "2025-02-28": 1})
        self.assertEqual([(f.field, f.count) for f in reported.corrected_fields], [("qty", 2)])
        end_only = self.learned(end_date="2025-03-01")
        self.assertEqual((end_only.start_date, len(end_only.events_by_day)),
                         ("2025-01-31", RANGE_DAYS_DEFAULT))
        self.assertEqual(len(self.learned(start_date="2024-02-29", end_date="2025-02-28").events_by_day), 366)
        for fields, names in (({"start_date": "2025-02-02", "end_date": "2025-02-01"}, {"start_date"}),
                              ({"start_date": "2025-02-30"}, {"start_date"}),
                              ({"start_date": "yesterday", "end_date": "2025-2-1"},
                               {"start_date", "end_date"}),
                              ({"start_date": "2024-02-28", "end_date": "2025-02-28"}, set()),
                              ({"top_fields": 1001}, {"top_fields"})):
            error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.learned, **fields)
            self.assertLessEqual(names, set(bad_fields(error)), fields)

    def test_fr_017_events_are_counted_by_type_field_and_layout(self):
        kinds = [LINE] * 5 + [FIELD] * 3 + [SELECTED] * 2 + [feedback.FEEDBACK_EVENT_TYPE_MAPPING_REJECTED]
        self.capture_all([feedback.FeedbackEvent(
            event_type=kind, layout_fingerprint=f"l-{n % 2}", before_json='{"a":1,"b":1}',
            after_json='{"a":2,"b":%d}' % (1 + n % 2)) for n, kind in enumerate(kinds)])
        reported = self.learned()
        self.assertEqual([(t.event_type, t.count) for t in reported.by_event_type],
                         [(LINE, 5), (FIELD, 3), (SELECTED, 2), (feedback.FEEDBACK_EVENT_TYPE_MAPPING_REJECTED, 1)])
        self.assertEqual([sum(day.count for day in days) for days in (
            reported.events_by_day, reported.corrections_by_day, reported.mapping_events_by_day)], [11, 8, 1])
        self.assertEqual(reported.mapping_rejected_count, 1)
        of_layout = self.learned(layout_fingerprint="l-1")
        self.assertEqual([(t.event_type, t.count) for t in of_layout.by_event_type],
                         [(LINE, 2), (FIELD, 2), (SELECTED, 1)])
        self.assertEqual([(f.field, f.count) for f in of_layout.corrected_fields], [("a", 4), ("b", 4)])
        self.assertEqual(sum(day.count for day in of_layout.events_by_day), 5)
        stats, = of_layout.layout_stats
        self.assertEqual((stats.layout_fingerprint, stats.feedback_count, stats.example_count), ("l-1", 5, 4))
        self.assertEqual(len(of_layout.confidence_by_day), 0)
        self.assertEqual({(f.field, f.count) for f in reported.corrected_fields}, {("a", 8), ("b", 4)})
        self.assertEqual({r.layout_fingerprint: (r.example_count, r.feedback_count)
                          for r in reported.layout_stats}, {"l-0": (4, 6), "l-1": (4, 5)})
        self.assert_recount()

    def test_fr_020_only_administrators_and_integrators_are_admitted(self):
        requests = (("GetLearningAnalytics", analytics.GetLearningAnalyticsRequest()),
                    ("ListLayoutCoverage", analytics.ListLayoutCoverageRequest()),
                    ("GetExperimentReport", analytics.GetExperimentReportRequest()))
        for role in roles.Role.values()[1:]:
            client = self.client_of(role)
            for name, request in requests:
                call = getattr(client.analytics, name)
                if role in (roles.ROLE_ADMIN, roles.ROLE_INTEGRATOR):
                    call(request)
                else:
                    self.assert_code(grpc.StatusCode.PERMISSION_DENIED, call, request)

    def test_other_organisations_are_not_counted(self):
        self.capture_all([self.correction("qty", layout_fingerprint="mine")])
        self.org = self.admin.create_org(self.id() + " other")
        other = self.client_of(roles.ROLE_ADMIN)
        reported = other.analytics.GetLearningAnalytics(analytics.GetLearningAnalyticsRequest())
        self.assertEqual((sum(d.count for d in reported.events_by_day), list(reported.layout_stats)), (0, []))

    def test_field_names_beyond_the_bound_count_as_other(self):
        """A thousand names per day are counted by name; the others together, as `other`."""
        self.capture_all([self.correction(f"f{n:04d}", created_at=day("2025-04-01")) for n in range(1005)])
        self.capture_all([self.correction("f0003", created_at=day("2025-04-01"))])
        reported = self.learned(start_date="2025-04-01", end_date="2025-04-01", top_fields=1000)
        counts = {f.field: f.count for f in reported.corrected_fields}
        self.assertEqual((counts["f0003"], sum(counts.values()), len(counts)), (2, 1005, 1000))
        self.assertEqual(counts["other"], 5)

    def test_sc_006_ninety_days_take_less_than_two_seconds(self):
        """20,000 events of 200 layouts over 90 days: all requests of the page, timed by the slowest
        of 5."""
        first = datetime.date(2025, 1, 1)
        events = [self.correction(f"field-{n % 37}", FIELD if n % 5 == 0 else LINE,
                                  layout_fingerprint=f"layout-{n % 200}", document_id=f"d-{n % 3000}",
                                  created_at=day((first + datetime.timedelta(n % 90)).isoformat(), n % 86400))
                  for n in range(20_000)]
        self.capture_all(events)
        slowest = 0
        for _ in range(5):
            start = time.perf_counter()
            reported = self.learned(start_date="2025-01-01", end_date="2025-03-31")
            self.client.analytics.ListLayoutCoverage(analytics.ListLayoutCoverageRequest(page_size=50))
            slowest = max(slowest, time.perf_counter() - start)
        self.assertEqual(sum(d.count for d in reported.events_by_day), 20_000)
        self.assertEqual(len(reported.layout_stats), 50)
        self.assertLess(slowest, DASHBOARD_SECONDS_MAX)


class Random(AnalyticsCase):
    def test_counters_equal_a_scan(self):
        """A few hundred writes of every kind in random order, some backdated, some sent twice."""
        draw = random.Random(11)
        self.client.update_settings(holdout_percent=30)
        references = []
        for n in range(400):
            at = day(f"2025-05-{1 + draw.randrange(9):02d}", draw.randrange(86400))
            layout = f"l-{draw.randrange(4)}"
            document, draft = (f"{kind}-{draw.randrange(40)}" for kind in ("d", "o"))
            act = draw.randrange(8)
            if act < 3:
                self.client.capture(**{
                    "event_type": draw.choice((LINE, FIELD, SELECTED)), "created_at": at,
                    "layout_fingerprint": layout, "before_json": "{}",
                    draw.choice(("document_id", "draft_order_id")): draw.choice((document, draft)),
                    "after_json": json.dumps({draw.choice("abc"): n})})
            elif act == 3:
                reply = self.client.examples(layout, document_id=document)
                references.append((document, draft, layout, [reply.exposure_ref]))
            elif act == 4:
                reply = self.client.mappings.MatchLines(mappings.MatchLinesRequest(lines=[
                    mappings.DraftLine(customer_id="c", customer_sku=f"S-{i}") for i in range(3)]))
                references.append((document, draft, layout, [reply.exposure_ref]))
            elif act == 5:
                triple = {"customer_id": f"c{draw.randrange(2) or ''}",
                          "customer_sku": f"S-{draw.randrange(4)}", "internal_sku": f"I-{draw.randrange(3)}"}
                if draw.randrange(3):
                    self.client.mappings.ConfirmMapping(mappings.ConfirmMappingRequest(**triple))
                else:
                    self.client.mappings.RejectMapping(mappings.RejectMappingRequest(**triple))
            elif references:
                document, draft, layout, cited = draw.choice(references)
                self.client.record_extraction(
                    document_id=document, layout_fingerprint=layout, exposure_refs=cited, created_at=at,
                    draft_order_id=draft if draw.randrange(2) else None, model="m",
                    confidence=draw.random(), field_count=draw.choice((None, 3, 9)))
        self.assertGreater(len(self.client.events(kind=event_log.EVENT_KIND_EXTRACTION_RECORDED)), 30)
        self.assert_recount()


if __name__ == "__main__":
    main()
