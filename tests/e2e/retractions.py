#!/usr/bin/python3
"""Retractions through a real client: a wrong correction is retracted, with all its effects.

Goal: a retracted event is not served or counted, and stays in lists. Method: one erratad, an organisation for
each test; counters, sums and reports are compared with a recount of the log.
"""
import itertools
import json
import random

import grpc

import recount
from erratad import (ServerCase, event_log, event_service, feedback, feedback_service, main,
                     prompt_service, roles)

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
FIELD = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED
CUSTOMER = feedback.FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED
STEPS = 400


class Retractions(ServerCase):
    def setUp(self):
        self.org = self.admin.create_org(self.id())
        self.client = self.client_of(roles.ROLE_ADMIN)

    def client_of(self, role, user_id=None):
        secret = self.admin.create_token(role, user_id=user_id, org_id=self.org.id).secret
        client = self.server.client(secret)
        self.addCleanup(client.close)
        return client

    def retract(self, event_id, reason="wrong invoice", client=None):
        return (client or self.client).log.RetractEvent(
            event_service.RetractEventRequest(event_id=event_id, reason=reason)).retraction

    def correct(self, value, client=None, **fields):
        fields.setdefault("layout_fingerprint", "acme")
        fields.setdefault("event_type", LINE)
        return (client or self.client).capture(before_json='{"qty": 0}', after_json=json.dumps({"qty": value}),
                                               **fields)

    def served(self, **fields):
        fields.setdefault("layout_fingerprint", "acme")
        return [one.id for one in self.client.prompts.GetExamples(
            prompt_service.GetExamplesRequest(max_examples=20, **fields)).examples]

    def assert_recount(self):
        self.assertEqual(recount.check(self.client), [])

    def test_a_superseded_example_is_served_again(self):
        first = self.correct(1, entity_type="line", entity_id="1")
        second = self.correct(2, entity_type="line", entity_id="1")
        self.assertEqual(self.served(), [second.id])
        retraction = self.retract(second.id)
        self.assertEqual(self.served(), [first.id])
        self.assertEqual(self.served(as_of_seq=retraction.seq - 1), [second.id])
        self.assertEqual(self.served(as_of_seq=retraction.seq), [first.id])
        self.assert_recount()

    def test_what_was_served_is_explained_as_it_was(self):
        """Also if the example was retracted since, or is not superseded any more."""
        first = self.correct(1, entity_type="line", entity_id="1")
        second = self.correct(2, entity_type="line", entity_id="1")
        served = [self.client.examples("acme"), self.client.examples("acme", include_superseded=True)]
        self.retract(second.id)
        for reply, ids in zip(served, ([second.id], [second.id, first.id])):
            explained = self.client.explain(exposure_ref=reply.exposure_ref)
            self.assertEqual([one.example.id for one in explained.artifacts], ids)
            self.assertEqual([one.example.superseded for one in explained.artifacts],
                             [one.superseded for one in reply.examples])
            self.assertEqual([one.example.output for one in explained.artifacts],
                             [one.output for one in reply.examples])

    def test_an_extraction_is_corrected_while_a_correction_remains(self):
        self.client.record_extraction(layout_fingerprint="acme", document_id="invoice-7", confidence=0.5, field_count=5)
        corrections = [self.correct(n, document_id="invoice-7") for n in range(1, 3)]
        for correction, corrected in zip(corrections, (1, 0)):
            self.retract(correction.id)
            counted = recount.Recount(reversed(self.client.events()))
            self.assertEqual(sum(one.corrected for one in counted.extractions.values()), corrected)
            self.assert_recount()

    def test_a_customer_selection_is_taken_back(self):
        event = self.client.capture(event_type=CUSTOMER, before_json='{"candidates": ["a", "b"]}',
                                    after_json='{"customer_id": "b"}')
        self.retract(event.id)
        self.assert_recount()

    def test_an_operator_retracts_own_events_only(self):
        anna, bert = (self.client_of(roles.ROLE_OPERATOR, user) for user in ("anna", "bert"))
        event = self.correct(1, client=anna)
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, self.retract, event.id, client=bert)
        retraction = self.retract(event.id, "typed into the wrong line", client=anna)
        self.assertEqual(retraction.retracted_by, "anna")
        self.assertEqual(self.retract(event.id, "another reason"), retraction)
        stored = self.client.feedback.GetFeedbackEvent(feedback_service.GetFeedbackEventRequest(id=event.id)).event
        self.assertEqual((stored.retracted_by, stored.retraction_reason), ("anna", "typed into the wrong line"))

    def test_what_cannot_be_retracted_names_its_reversal(self):
        self.client.record_extraction(layout_fingerprint="acme", confidence=0.5)
        recorded = self.client.events()[0]
        self.assertEqual(recorded.kind, event_log.EVENT_KIND_EXTRACTION_RECORDED)
        with self.assertRaises(grpc.RpcError) as refused:
            self.retract(recorded.id)
        self.assertEqual(refused.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)
        self.assertIn("expected RecordExtraction", refused.exception.details())

    def random_step(self, draw, made):
        """Makes one write of a workload with few layouts, documents and lines."""
        step = draw.randrange(10)
        document, layout = f"document-{draw.randrange(8)}", f"layout-{draw.randrange(3)}"
        if step < 2:
            self.client.record_extraction(layout_fingerprint=layout, document_id=document, field_count=3,
                                          confidence=draw.randrange(100) / 100,
                                          **({"extraction_id": f"job-{draw.randrange(4)}"} if step else {}))
        elif step < 5 and made:
            self.retract(draw.choice(made))
        else:
            made.append(self.correct(
                draw.randrange(3), layout_fingerprint=layout, event_type=draw.choice((LINE, FIELD, CUSTOMER)),
                **draw.choice(({}, {"document_id": document}, {"draft_order_id": document})),
                **draw.choice(({}, {"entity_type": "line", "entity_id": str(draw.randrange(4))}))).id)

    def test_statistics_equal_a_recount(self):
        """After each 100 random writes: figures against the log, and the log against the tables."""
        draw, made = random.Random(16), []
        for step in itertools.count(1):
            self.random_step(draw, made)
            if step % 100 == 0:
                self.assert_recount()
            if step == STEPS:
                break
        retracted = [event for event in self.client.events() if event.HasField("retracted_at")]
        self.assertGreater(len(retracted), 30)


if __name__ == "__main__":
    main()
