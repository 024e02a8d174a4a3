#!/usr/bin/python3
"""SKU mappings through a real client: confirmed mappings are applied, rejected ones never again.

Goal: the scenarios of document 000 on mappings, and each promise of the contract about them, hold on the
wire. Method: one erratad, stock gRPC; each test has a customer of its own. The last test of each class
compares the server's answers with a recount of its log.
"""
import base64
import itertools
import json
import time

import grpc

import recount
from erratad import (ServerCase, bad_fields, event_log, event_service, feedback, feedback_service,
                     main, mappings, roles, sku_mapping)

SUGGESTED = sku_mapping.MAPPING_STATUS_SUGGESTED
CONFIRMED = sku_mapping.MAPPING_STATUS_CONFIRMED
REJECTED = sku_mapping.MAPPING_STATUS_REJECTED
SUPERSEDED = sku_mapping.MAPPING_STATUS_SUPERSEDED
NONE = mappings.MATCH_METHOD_NONE
EXACT = mappings.MATCH_METHOD_EXACT_MAPPING
SUGGESTION = mappings.MATCH_METHOD_SUGGESTED_MAPPING
SIMILAR = mappings.MATCH_METHOD_SIMILAR_SKU
FORMER = mappings.MATCH_METHOD_SUPERSEDED_MAPPING
LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED


def trigrams(text):
    """Pads words like pg_trgm: two spaces before each word, one after it."""
    words = "".join(c if c.isalnum() else " " for c in text.casefold()).split()
    return {f"  {word} "[n:n + 3] for word in words for n in range(len(word) + 1)}


def similarity(one, other):
    one, other = trigrams(one), trigrams(other)
    return len(one & other) / len(one | other)


class MappingCase(ServerCase):
    def setUp(self):
        self.customer = self.id().rsplit(".", 1)[1]
        self.mappings = self.admin.mappings

    def suggest(self, customer_sku, internal_sku, confidence=0.8, customer_id=None, client=None):
        return (client or self.admin).mappings.SuggestMapping(mappings.SuggestMappingRequest(
            mapping=sku_mapping.SkuMapping(
                customer_id=customer_id or self.customer, customer_sku=customer_sku,
                internal_sku=internal_sku, confidence=confidence))).mapping

    def confirm(self, customer_sku=None, internal_sku=None, customer_id=None, client=None, **fields):
        if customer_sku is not None:
            fields.update(customer_id=customer_id or self.customer, customer_sku=customer_sku,
                          internal_sku=internal_sku)
        return (client or self.admin).mappings.ConfirmMapping(mappings.ConfirmMappingRequest(**fields))

    def reject(self, customer_sku=None, internal_sku=None, **fields):
        if customer_sku is not None:
            fields.update(customer_id=self.customer, customer_sku=customer_sku, internal_sku=internal_sku)
        return self.mappings.RejectMapping(mappings.RejectMappingRequest(**fields))

    def get(self, mapping_id):
        return self.mappings.GetMapping(mappings.GetMappingRequest(id=mapping_id)).mapping

    def list(self, **fields):
        fields.setdefault("customer_id", self.customer)
        return self.admin.all_pages(self.mappings.ListMappings, mappings.ListMappingsRequest(**fields),
                                    "mappings")

    def match(self, *customer_skus, customer_id=None, **fields):
        return self.mappings.MatchLines(mappings.MatchLinesRequest(lines=[
            mappings.DraftLine(customer_id=customer_id or self.customer, customer_sku=sku)
            for sku in customer_skus], **fields))

    def record(self, reference, client=None, **fields):
        return (client or self.admin).mappings.RecordMatches(
            mappings.RecordMatchesRequest(exposure_ref=reference, **fields))

    def feedback_event(self, event_id):
        return self.admin.feedback.GetFeedbackEvent(
            feedback_service.GetFeedbackEventRequest(id=event_id)).event

    def newest_seq(self):
        return self.admin.log.ListEvents(event_service.ListEventsRequest(page_size=1)).events[0].seq

    def assert_counts_are_the_logs(self):
        self.assertEqual(recount.check(self.admin), [])


class Scenarios(MappingCase):
    def test_us4_1_confirmation_is_stored(self):
        """Status, confidence and support after each confirmation; the response contains the event."""
        first = self.confirm("ABC-123", "INT-999")
        one = first.mapping
        self.assertEqual((one.status, one.confidence, one.support_count, one.use_count),
                         (CONFIRMED, 1.0, 1, 0))
        self.assertLess(abs(one.last_used_at.ToMicroseconds() / 1e6 - time.time()), 60)
        again = self.confirm("ABC-123", "INT-999").mapping
        self.assertEqual((again.id, again.support_count), (one.id, 2))
        by_id = self.confirm(id=one.id).mapping
        self.assertEqual(by_id.support_count, 3)
        self.assertEqual(self.get(one.id), by_id)
        self.assertEqual(self.list(), [by_id])
        event = self.feedback_event(first.event_id)
        self.assertEqual(event.event_type, feedback.FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED)
        self.assertEqual((event.entity_type, event.entity_id), ("sku_mapping", one.id))
        self.assertEqual(json.loads(event.after_json),
                         {"status": "CONFIRMED", "confidence": 1.0, "internal_sku": "INT-999"})

    def test_us1_1_the_event_has_the_suggestions(self):
        """before_json contains the suggestions that were shown: the caller's, or the stored ones."""
        self.suggest("S-1", "INT-1", 0.9)
        made = self.confirm("S-1", "INT-2", suggestions_json='{"suggestions":["INT-1","INT-2"]}')
        before = json.loads(self.feedback_event(made.event_id).before_json)
        self.assertEqual(before["suggestions"], ["INT-1", "INT-2"])
        again = self.confirm("S-1", "INT-1")
        before = json.loads(self.feedback_event(again.event_id).before_json)
        self.assertEqual((before["status"], before["confidence"], before["support_count"]),
                         ("SUGGESTED", 0.9, 0))
        self.assertIn("INT-1", json.dumps(before["suggestions"]))

    def test_us4_2_next_draft_gets_the_mapping(self):
        one = self.confirm("ABC-123", "INT-999").mapping
        reply = self.match("ABC-123", "OTHER-9")
        line = reply.lines[0]
        self.assertEqual((line.match_method, line.mapping_id, line.internal_sku, line.confidence),
                         (EXACT, one.id, "INT-999", 1.0))
        self.assertEqual(len(line.candidates), 0)
        other = reply.lines[1]
        self.assertEqual((other.match_method, other.mapping_id, other.internal_sku), (NONE, "", ""))
        self.assertFalse(other.HasField("confidence"))

    def test_us4_3_applying_makes_no_feedback_event(self):
        """Neither the match nor the outcome that cites it is an event of feedback: only people's
        actions are."""
        self.confirm("ABC-123", "INT-999")

        def feedback_count():
            return len(self.admin.events(kind=event_log.EVENT_KIND_FEEDBACK))

        before, seq = feedback_count(), self.newest_seq()
        reply = self.match("ABC-123")
        self.assertEqual(self.newest_seq(), seq, "a read stored something")
        self.record(reply.exposure_ref, draft_order_id="draft-us4-3")
        kinds = [e.kind for e in self.admin.events() if e.seq > seq]
        self.assertEqual(sorted(kinds), [event_log.EVENT_KIND_MAPPING_APPLIED,
                                         event_log.EVENT_KIND_EXPOSURE_RECORDED])
        self.assertEqual(feedback_count(), before)

    test_fr_015_only_manual_actions_make_events = test_us4_3_applying_makes_no_feedback_event

    def test_us4_4_rejection_is_stored(self):
        """A suggestion, and a confirmed one: REJECTED, confidence 0, support as it was."""
        suggestion = self.suggest("R-1", "INT-1", 0.7)
        done = self.reject(id=suggestion.id)
        self.assertEqual((done.mapping.status, done.mapping.confidence, done.mapping.support_count),
                         (REJECTED, 0.0, 0))
        event = self.feedback_event(done.event_id)
        self.assertEqual(event.event_type, feedback.FEEDBACK_EVENT_TYPE_MAPPING_REJECTED)
        self.assertEqual(json.loads(event.meta_json)["internal_sku"], "INT-1")
        self.assertEqual(json.loads(event.before_json)["confidence"], 0.7)
        self.confirm("R-2", "INT-2")
        gone = self.reject("R-2", "INT-2").mapping
        self.assertEqual((gone.status, gone.confidence, gone.support_count), (REJECTED, 0.0, 1))
        self.assertEqual([line.match_method for line in self.match("R-1", "R-2").lines], [NONE, NONE])

    test_us1_4_a_rejection_names_the_internal_sku = test_us4_4_rejection_is_stored

    def test_us4_5_each_customer_has_its_own(self):
        theirs = self.customer + "-b"
        self.confirm("ABC-123", "INT-1")
        self.confirm("ABC-123", "INT-2", customer_id=theirs)
        reply = self.mappings.MatchLines(mappings.MatchLinesRequest(lines=[
            mappings.DraftLine(customer_id=c, customer_sku="ABC-123")
            for c in (self.customer, theirs, self.customer + "-c")]))
        self.assertEqual([line.internal_sku for line in reply.lines], ["INT-1", "INT-2", ""])
        self.assertEqual([len(line.candidates) for line in reply.lines], [0, 0, 0])
        self.assertEqual({m.status for m in self.list()}, {CONFIRMED}, "the other's supersedes nothing")

    def test_fr_014_sc_004_every_confirmation_counts(self):
        """After 100 confirmations of 20 SKUs in any order, support equals the number of confirmations."""
        counts = {}
        for n in range(100):
            sku = f"SC4-{n * 7 % 20}"
            counts[sku] = counts.get(sku, 0) + 1
            made = self.confirm(sku, "INT-" + sku).mapping
            self.assertEqual((made.status, made.confidence, made.support_count),
                             (CONFIRMED, 1.0, counts[sku]))
        self.assertEqual({m.customer_sku: m.support_count for m in self.list()}, counts)

    def test_mapping_applies_to_any_layout(self):
        """A mapping belongs to its customer, not to a layout: nothing of MatchLines names one."""
        self.confirm("L-1", "INT-1", document_id="doc-of-layout-a")
        self.assertEqual(self.match("L-1").lines[0].internal_sku, "INT-1")

    def test_zz_counters_equal_a_scan(self):
        self.assert_counts_are_the_logs()


class Rows(MappingCase):
    """The table of mappings.md, row by row."""

    def test_a_suggestion_never_touches_what_a_person_decided(self):
        one = self.suggest("A-1", "INT-1", 0.6)
        self.assertEqual((one.status, one.confidence, one.support_count), (SUGGESTED, 0.6, 0))
        self.assertFalse(one.HasField("last_used_at"))
        self.assertEqual(self.suggest("A-1", "INT-1", 0.4).confidence, 0.4)
        confirmed = self.confirm(id=one.id).mapping
        seq = self.newest_seq()
        self.assertEqual(self.suggest("A-1", "INT-1", 0.3), confirmed)
        rejected = self.reject(id=one.id).mapping
        self.assertEqual(self.suggest("A-1", "INT-1", 0.99), rejected)
        self.assertEqual(self.newest_seq(), seq + 1, "a suggestion that changes nothing was stored")

    def test_a_suggestion_says_what_is_missing(self):
        for wrong, names in (({"customer_sku": "  "}, {"customer_sku", "internal_sku", "confidence"}),
                             ({"customer_sku": "a\tb", "internal_sku": "i", "confidence": 0.5},
                              {"customer_sku"}),
                             ({"customer_sku": "a", "internal_sku": "i", "confidence": 1.5},
                              {"confidence"})):
            error = self.assert_code(
                grpc.StatusCode.INVALID_ARGUMENT, self.mappings.SuggestMapping,
                mappings.SuggestMappingRequest(mapping=sku_mapping.SkuMapping(customer_id="c", **wrong)))
            self.assertEqual(set(bad_fields(error)), {f"mapping.{name}" for name in names})

    def test_skus_are_folded_and_answered_as_written(self):
        one = self.confirm("  Größe-ab 12 ", "int-9").mapping
        self.assertEqual((one.customer_sku.strip(), one.internal_sku), ("Größe-ab 12", "int-9"))
        for writing in ("GRÖSSE-AB 12", "größe-ab 12", "\u00a0GRÖßE-AB 12 "):
            line = self.match(writing).lines[0]
            self.assertEqual((line.match_method, line.mapping_id), (EXACT, one.id), repr(writing))
        again = self.confirm("grösse-ab 12".replace("ss", "ß"), "INT-9").mapping
        self.assertEqual((again.id, again.support_count, again.internal_sku), (one.id, 2, "int-9"))
        self.assertEqual(self.match("Größe-ab12").lines[0].match_method, SIMILAR)

    def test_another_confirmation_supersedes(self):
        old = self.confirm("SUP-1", "INT-1").mapping
        made = self.confirm("sup-1", "INT-2")
        self.assertEqual(self.get(old.id).status, SUPERSEDED)
        self.assertEqual((self.get(old.id).confidence, self.get(old.id).support_count), (1.0, 1))
        self.assertEqual(self.match("SUP-1").lines[0].mapping_id, made.mapping.id)
        changes = self.feedback_event(made.event_id).mapping_changes
        self.assertEqual([c.mapping.id for c in changes], [made.mapping.id, old.id])
        back = self.confirm(id=old.id).mapping
        self.assertEqual((back.status, back.support_count), (CONFIRMED, 2))
        self.assertEqual(self.get(made.mapping.id).status, SUPERSEDED)
        self.assertEqual([m.status for m in self.list(status=CONFIRMED)], [CONFIRMED])

    def test_a_rejected_one_is_revived_by_a_person(self):
        made = self.reject("REV-1", "INT-1").mapping
        self.assertEqual((made.status, made.confidence, made.support_count), (REJECTED, 0.0, 0))
        revived = self.confirm("REV-1", "INT-1").mapping
        self.assertEqual((revived.id, revived.status, revived.confidence, revived.support_count),
                         (made.id, CONFIRMED, 1.0, 1))

    def test_mapping_is_judged_by_id_or_by_its_skus(self):
        one = self.suggest("B-1", "INT-1")
        for call in (self.confirm, self.reject):
            self.assert_code(grpc.StatusCode.NOT_FOUND, call, id="01890000-0000-7000-8000-000000000000")
            self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, call, "B-1", "INT-1", id=one.id)
            self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, call, customer_id="c", customer_sku="x")
            self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, call)
        self.assertEqual(self.get(one.id), one)

    def test_candidates_have_their_order(self):
        """Suggestions by confidence, then similar SKUs by similarity from 0.4; rejected ones never."""
        for internal, confidence in (("INT-1", 0.5), ("INT-2", 0.9), ("INT-3", 0.7)):
            self.suggest("SKU-10045", internal, confidence)
        self.reject("SKU-10045", "INT-2")
        for sku in ("SKU-10046", "SKU-10345", "SKU-1004", "KABEL-77"):
            self.confirm(sku, "OF-" + sku)
        self.confirm("SKU-10047", "OF-X")
        self.reject("SKU-10047", "OF-X")
        line = self.match("SKU-10045", max_candidates=20).lines[0]
        self.assertEqual((line.match_method, line.mapping_id), (SUGGESTION, ""))
        reported = [(c.match_method, c.internal_sku) for c in line.candidates]
        self.assertEqual(reported[:2], [(SUGGESTION, "INT-3"), (SUGGESTION, "INT-1")])
        wanted = {sku: similarity("SKU-10045", sku)
                  for sku in ("SKU-10046", "SKU-10345", "SKU-1004", "KABEL-77")}
        similar = [c for c in line.candidates if c.match_method == SIMILAR]
        self.assertEqual({c.customer_sku for c in similar}, {s for s, v in wanted.items() if v >= 0.4})
        for candidate in similar:
            self.assertAlmostEqual(candidate.confidence, wanted[candidate.customer_sku], places=5)
        self.assertEqual([c.confidence for c in similar],
                         sorted((c.confidence for c in similar), reverse=True))
        self.assertEqual(len(reported), 2 + len(similar))
        self.assertEqual(len(self.match("SKU-10045", max_candidates=1).lines[0].candidates), 1)
        self.assertEqual(len(self.match("SKU-10045", max_candidates=0).lines[0].candidates), 0)
        for request in ({"max_candidates": 21}, {"max_candidates": -1}):
            self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.match, "SKU-10045", **request)

    def test_a_rejection_brings_the_former_mapping_back(self):
        """After a rejection, the previously confirmed mapping is a candidate; a rejected mapping never is."""
        self.confirm("SKU-70001", "INT-1")
        self.confirm("SKU-70001", "INT-2")
        self.reject("SKU-70001", "INT-2")
        line, = self.match("SKU-70001").lines
        self.assertEqual([(c.internal_sku, c.match_method) for c in line.candidates], [("INT-1", FORMER)])
        self.assertEqual(line.match_method, FORMER)
        self.mappings.ConfirmMapping(mappings.ConfirmMappingRequest(id=line.candidates[0].mapping_id))
        self.assertEqual(self.match("SKU-70001").lines[0].internal_sku, "INT-1")

    def test_a_similar_candidate_is_confirmed_by_its_id(self):
        """The line's SKU is confirmed by the id of the mapping of a similar SKU."""
        self.confirm("SKU-80045", "INT-8")
        candidate = self.match("SKU-80046").lines[0].candidates[0]
        self.assertEqual(candidate.match_method, SIMILAR)
        confirmed = self.mappings.ConfirmMapping(mappings.ConfirmMappingRequest(
            id=candidate.mapping_id, customer_sku="SKU-80046")).mapping
        self.assertNotEqual(confirmed.id, candidate.mapping_id)
        self.assertEqual((confirmed.customer_sku, confirmed.internal_sku), ("SKU-80046", "INT-8"))
        self.assertEqual([line.match_method for line in self.match("SKU-80045", "SKU-80046").lines],
                         [EXACT, EXACT])

    def test_other_customers_are_no_candidates(self):
        self.confirm("SKU-20045", "INT-1", customer_id=self.customer + "-b")
        self.suggest("SKU-20046", "INT-1", customer_id=self.customer + "-b")
        self.assertEqual([len(line.candidates) for line in self.match("SKU-20046", "SKU-20047").lines],
                         [0, 0])

    def test_lists_are_filtered_and_paged(self):
        long = "P" * 30
        for sku in ("p-1", "P-2", "Q-1", long + "-A", long + "-B"):
            self.suggest(sku, "INT-" + sku)
        self.confirm("P-2", "INT-P-2")
        self.assertEqual([m.customer_sku for m in self.list(customer_sku_prefix="P-")], ["p-1", "P-2"])
        self.assertEqual([m.customer_sku for m in self.list(customer_sku_prefix=long.lower() + "-b")],
                         [long + "-B"])
        self.assertEqual([m.customer_sku for m in self.list(status=CONFIRMED)], ["P-2"])
        self.assertEqual(len(self.list(page_size=2)), 5)
        self.assertEqual([m.customer_sku for m in self.list()],
                         ["p-1", "P-2", long + "-A", long + "-B", "Q-1"])
        self.assertEqual([m.customer_sku for m in self.list(internal_sku=" int-q-1")], ["Q-1"])
        self.suggest("A-1", "INT-Q-1", customer_id=self.customer + "-b")
        self.assertEqual([m.customer_sku for m in self.list(internal_sku="INT-Q-1", customer_id="")],
                         ["A-1", "Q-1"])
        token = self.mappings.ListMappings(mappings.ListMappingsRequest(
            customer_id=self.customer, page_size=1)).next_page_token
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.mappings.ListMappings,
                                 mappings.ListMappingsRequest(customer_id="other", page_token=token))
        self.assertIn("page_token", bad_fields(error))

    def test_history_is_backfilled(self):
        """An integrator's confirmation of last year counts for last year's day, and needs its time."""
        importer = self.server.client(self.admin.create_token(roles.ROLE_INTEGRATOR).secret)
        request = mappings.ConfirmMappingRequest(customer_id=self.customer, customer_sku="OLD-1",
                                                 internal_sku="INT-1")
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, importer.mappings.ConfirmMapping, request)
        request.created_at.FromJsonString("2024-05-06T07:08:09.000001Z")
        made = importer.mappings.ConfirmMapping(request)
        self.assertEqual(made.mapping.created_at, request.created_at)
        self.assertEqual(self.feedback_event(made.event_id).created_at, request.created_at)

    def test_judgements_may_arrive_in_any_order(self):
        """Four judgements, recorded in every order, have the same result as in the order of their
        times."""
        reported = [(1, True, "B"), (2, True, "A"), (3, False, "A"), (4, False, "C")]
        for number, order in enumerate(itertools.permutations(reported)):
            for second, is_confirmed, internal_sku in order:
                (self.confirm if is_confirmed else self.reject)(
                    f"ANY-{number}", internal_sku, created_at={"seconds": 1_700_000_000 + second})
            self.assertEqual({one.internal_sku: one.status for one in self.list(
                customer_sku_prefix=f"ANY-{number}") if one.customer_sku == f"ANY-{number}"},
                {"A": REJECTED, "B": SUPERSEDED, "C": REJECTED})
            self.assertEqual(self.match(f"ANY-{number}", max_candidates=0).lines[0].match_method, NONE)

    def test_repeat_under_a_key_gets_the_first_answer(self):
        """A repeat of each write under its key: the first answer, byte for byte, and no event."""
        ref = self.match("K-1").exposure_ref
        one = sku_mapping.SkuMapping(customer_id=self.customer, customer_sku="K-1",
                                     internal_sku="INT-1", confidence=0.5)
        triple = {"customer_id": self.customer, "customer_sku": "K-1", "internal_sku": "INT-1"}
        for method, request in (
                (self.mappings.SuggestMapping, mappings.SuggestMappingRequest(mapping=one)),
                (self.mappings.ConfirmMapping, mappings.ConfirmMappingRequest(**triple)),
                (self.mappings.RejectMapping, mappings.RejectMappingRequest(**triple)),
                (self.mappings.RecordMatches, mappings.RecordMatchesRequest(exposure_ref=ref))):
            key = [("idempotency-key", f"{self.customer}-{type(request).__name__}")]
            first, seq = method(request, metadata=key), self.newest_seq()
            self.assertEqual(method(request, metadata=key).SerializeToString(),
                             first.SerializeToString())
            self.assertEqual(self.newest_seq(), seq)

    def test_as_of_returns_the_mappings_of_that_time(self):
        self.confirm("TT-1", "INT-1")
        seq = self.newest_seq()
        self.confirm("TT-1", "INT-2")
        self.assertEqual(self.match("TT-1", as_of_seq=seq).lines[0].internal_sku, "INT-1")
        self.assertEqual(self.match("TT-1", as_of_seq=1).lines[0].match_method, NONE)

    def test_zz_counters_equal_a_scan(self):
        self.assert_counts_are_the_logs()


class References(MappingCase):
    def test_use_count_moves_only_when_cited(self):
        """Counted by the lines it was applied to; once for the same draft, with any repeats."""
        one = self.confirm("U-1", "INT-1").mapping
        two = self.confirm("U-2", "INT-2").mapping
        reply = self.match("U-1", "u-1 ", "U-2", "U-3")
        for _ in range(3):
            self.match("U-1")
        self.assertEqual((self.get(one.id), self.get(two.id)), (one, two))
        done = self.record(reply.exposure_ref, draft_order_id="draft-u")
        self.assertEqual(done.applied_count, 2)
        used = self.get(one.id)
        self.assertEqual((used.use_count, self.get(two.id).use_count), (2, 1))
        self.assertGreater(used.last_used_at.ToMicroseconds(), one.last_used_at.ToMicroseconds())
        self.assertEqual((used.support_count, used.confidence), (1, 1.0))
        seq = self.newest_seq()
        again = self.record(reply.exposure_ref, draft_order_id="draft-u")
        self.assertEqual(again, done)
        self.assertEqual(self.newest_seq(), seq)
        self.record(reply.exposure_ref, draft_order_id="draft-v")
        self.assertEqual((self.get(one.id).use_count, self.get(two.id).use_count), (4, 2))

    def test_without_a_draft_a_reference_counts_once(self):
        one = self.confirm("W-1", "INT-1").mapping
        ref = self.match("W-1").exposure_ref
        first = self.record(ref)
        self.assertEqual(self.record(ref), first)
        self.assertEqual(self.get(one.id).use_count, 1)

    def test_an_extraction_cites_matches_too(self):
        """Together with RecordMatches for the same draft it counts once."""
        one = self.confirm("X-1", "INT-1").mapping
        ref = self.match("X-1").exposure_ref
        fields = {"draft_order_id": "draft-x", "layout_fingerprint": "x", "confidence": 0.5,
                  "exposure_refs": [ref]}
        made = self.admin.record_extraction(**fields)
        self.assertEqual(self.get(one.id).use_count, 1)
        seq = self.newest_seq()
        self.assertNotEqual(self.admin.record_extraction(**fields).id, made.id)  # which replaces it
        self.record(ref, draft_order_id="draft-x")
        self.assertEqual(self.get(one.id).use_count, 1)
        self.assertEqual(self.newest_seq(), seq + 1)

    def test_superseded_mapping_counts_its_served_use(self):
        """The applied mapping is counted, although another mapping is confirmed for the SKU now."""
        old = self.confirm("Y-1", "INT-1").mapping
        ref = self.match("Y-1").exposure_ref
        self.confirm("Y-1", "INT-2")
        self.record(ref, draft_order_id="draft-y")
        self.assertEqual((self.get(old.id).use_count, self.get(old.id).status), (1, SUPERSEDED))

    def foreign_reference(self):
        org = self.admin.create_org(self.id())
        other = self.server.client(self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret)
        self.confirm("F-1", "INT-1", client=other)
        return other.mappings.MatchLines(mappings.MatchLinesRequest(lines=[mappings.DraftLine(
            customer_id=self.customer, customer_sku="F-1")])).exposure_ref

    def bad_references(self):
        self.confirm("F-1", "INT-1")
        good = self.match("F-1").exposure_ref
        raw = base64.urlsafe_b64decode(good + "=" * (-len(good) % 4))
        for at in (0, len(raw) // 2, len(raw) - 1):
            forged = bytearray(raw)
            forged[at] ^= 1
            yield "forged", base64.urlsafe_b64encode(forged).decode().rstrip("=")
        for cut in (1, 2, 3, 4, len(good) // 2, len(good) - 4):
            yield "truncated", good[:-cut]
        yield "longer", good + "AAAA"
        yield "twice", good + good
        yield "no base64", "!" + good[1:]
        yield "foreign", self.foreign_reference()

    def test_forged_truncated_and_foreign_ones_are_refused(self):
        """Tests each write that accepts a reference; the log's length shows that nothing is stored."""
        kept = self.confirm("F-1", "INT-1").mapping
        good = self.match("F-1").exposure_ref
        for what, reference in list(self.bad_references()):
            kept, seq = self.get(kept.id), self.newest_seq()
            error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.record, reference,
                                     draft_order_id="draft-f")
            self.assertIn("exposure_ref", bad_fields(error), what)
            error = self.assert_code(
                grpc.StatusCode.INVALID_ARGUMENT, self.admin.record_extraction, document_id="doc-f",
                layout_fingerprint="f", confidence=0.5, exposure_refs=[good, reference])
            self.assertTrue(any("exposure_refs" in name for name in bad_fields(error)), what)
            self.assertEqual(self.newest_seq(), seq, f"{what}: something was stored")
            self.assertEqual(self.get(kept.id), kept, what)

    def test_only_matches_close_a_draft(self):
        """A valid reference of GetExamples is refused by RecordMatches, and nothing is stored."""
        self.admin.capture(event_type=LINE, layout_fingerprint="not-mine", after_json='{"qty":1}')
        ref = self.admin.examples("not-mine").exposure_ref
        self.assertTrue(ref)
        seq = self.newest_seq()
        self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.record, ref)
        self.assertEqual(self.newest_seq(), seq)

    def test_long_list_of_lines_is_answered(self):
        """1000 lines: the reference is within 4 KiB and accepted; too many lines to name credit no
        mapping."""
        for n in range(3):
            self.confirm(f"LONG-{n}", f"INT-{n}")
        reply = self.match(*[f"LONG-{n % 3}" for n in range(1000)])
        self.assertEqual({line.match_method for line in reply.lines}, {EXACT})
        self.assertLessEqual(len(reply.exposure_ref), 4096)
        self.assertEqual(self.record(reply.exposure_ref).applied_count, 3)
        self.assertEqual(sum(m.use_count for m in self.list()), 1000)
        self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.match, *["a"] * 1001)

    def test_reference_survives_a_restart(self):
        """The key belongs to the folder: responses from before the server ended may be cited after it."""
        one = self.confirm("RS-1", "INT-1").mapping
        ref = self.match("RS-1").exposure_ref
        type(self).server.stop()
        type(self).server.start()
        type(self).admin = self.server.client()
        self.mappings = self.admin.mappings
        self.record(ref, draft_order_id="draft-rs")
        self.assertEqual(self.get(one.id).use_count, 1)

    def test_zz_counters_equal_a_scan(self):
        self.assert_counts_are_the_logs()


if __name__ == "__main__":
    main()
