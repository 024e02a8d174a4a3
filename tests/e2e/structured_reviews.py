#!/usr/bin/python3
"""Structured reviews through a real client: storage, lists, summaries by run, retractions and permissions.

Goal: the rules of reviews hold over the wire and on the command line. Method: one erratad, stock gRPC and `errata`; an
organisation of its own for each test; runs are compared with a recount of the log.
"""
import json
import random

import grpc
from google.protobuf import timestamp_pb2

import recount
from erratad import (admin, agent_card, artifact, bad_fields, event_log, event_service, extraction, fragment_set, learning, main, organization_settings, review, review_service, review_prompts, review_triggers,
                     reviewed_run, roles, run_item)
from errata_cli import CliCase

REVIEWED = review.REVIEW_DECISION_REVIEWED
REJECTED = review.REVIEW_DECISION_REJECTED
CHANGES_REQUESTED = review.REVIEW_DECISION_CHANGES_REQUESTED


class ReviewCase(CliCase):
    def setUp(self):
        self.org = self.admin.create_org(self.id().rsplit(".", 1)[1])
        self.token = self.admin.create_token(roles.ROLE_ADMIN, org_id=self.org.id).secret
        self.mine = self.server.client(self.token)

    def client(self, role, **fields):
        return self.server.client(self.admin.create_token(role, org_id=self.org.id, **fields).secret)

    def submit(self, run="run", client=None, **fields):
        fields.setdefault("subcategory", "laptops")
        fields.setdefault("decision", REVIEWED)
        return (client or self.mine).submit_review(run_id=run, **fields)

    def reviews(self, client=None, **fields):
        client = client or self.mine
        return client.all_pages(client.reviews.ListReviews, review_service.ListReviewsRequest(**fields), "reviews")

    def run_of(self, run="run", client=None):
        return (client or self.mine).reviews.GetRun(review_service.GetRunRequest(run_id=run)).run

    def retract(self, event_id, client=None):
        return (client or self.mine).log.RetractEvent(
            event_service.RetractEventRequest(event_id=event_id, reason="wrong run")).retraction

    def need(self, reviewers):
        self.mine.admin.UpdateSettings(admin.UpdateSettingsRequest(
            settings=organization_settings.OrganizationSettings(reviews_needed=reviewers)))

    def at(self, seconds):
        """Returns a fixed time plus this number of seconds."""
        return timestamp_pb2.Timestamp(seconds=1700000000 + seconds)


class Storing(ReviewCase):
    def test_review_is_stored_whole(self):
        made = self.submit(item_id="item 1", decision=REJECTED, state="open", information_present=False,
                           missing_spec=[" Width", "height", "WIDTH"], bad_format=True, wrong_information=False,
                           notes="blurred", reviewed_by="anna", item_snapshot_json='{"name": "X1"}')
        self.assertEqual(list(made.missing_spec), ["WIDTH", "height"])
        self.assertEqual((made.information_present, made.bad_format, made.wrong_information), (False, True, False))
        self.assertTrue(made.HasField("information_present") and made.HasField("wrong_information"))
        self.assertFalse(made.HasField("wrong_physical_dimensions"))
        self.assertEqual((made.reviews_needed, made.notes, made.item_snapshot_json), (1, "blurred", '{"name": "X1"}'))
        self.assertEqual(self.mine.reviews.GetReview(review_service.GetReviewRequest(id=made.id)).review, made)
        event = self.mine.log.GetEvent(event_service.GetEventRequest(id=made.id)).event
        self.assertEqual((event.kind, event.review), (event_log.EVENT_KIND_REVIEW_SUBMITTED, made))
        for kind, id in ((event_log.EVENT_SUBJECT_KIND_SUBCATEGORY, "laptops"),
                         (event_log.EVENT_SUBJECT_KIND_RUN, "run"), (event_log.EVENT_SUBJECT_KIND_ITEM, "item 1")):
            listed = self.mine.events(subject=event_log.Subject(kind=kind, id=id))
            self.assertEqual([one.id for one in listed], [made.id])

    def test_history_is_never_overwritten(self):
        made = [self.submit(decision=decision, bad_format=True) for decision in (REJECTED, CHANGES_REQUESTED, REVIEWED)]
        self.assertEqual(self.reviews(run_id="run"), made[::-1])
        self.assertEqual(self.run_of().newest_review, made[2])

    def test_older_runs_need_no_answers(self):
        made = self.submit(reviewed_by="anna")
        for name in ("information_present", "bad_format", "wrong_information", "wrong_physical_dimensions"):
            self.assertFalse(made.HasField(name))
        self.assertEqual([one.field for one in self.run_of().agreement],
                         [reviewed_run.REVIEW_FIELD_DECISION, reviewed_run.REVIEW_FIELD_MISSING_SPEC])

    def test_viewer_sees_no_content(self):
        made = self.submit(notes="blurred", item_snapshot_json="{}")
        viewer = self.client(roles.ROLE_VIEWER)
        for seen in (self.reviews(viewer)[0], self.run_of(client=viewer).newest_review,
                     viewer.reviews.GetReview(review_service.GetReviewRequest(id=made.id)).review):
            self.assertEqual((seen.id, seen.notes, seen.item_snapshot_json), (made.id, "", ""))

    def test_every_invalid_field_is_named(self):
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.mine.submit_review(
            run_id="x" * 129, missing_spec=["y" * 101, *[f"f{n}" for n in range(51)]], item_snapshot_json="[]"))
        self.assertLessEqual({"review.run_id", "review.subcategory", "review.decision", "review.item_snapshot_json"},
                             set(bad_fields(error)))
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.submit(
            missing_spec=["y" * 101, *[f"f{n}" for n in range(51)]]))
        self.assertEqual(set(bad_fields(error)), {"review.missing_spec", "review.missing_spec[0]"})
        self.assertEqual(self.reviews(), [])

    def test_person_reviews_as_itself(self):
        anna = self.client(roles.ROLE_REVIEWER, user_id="anna")
        self.assertEqual(self.submit(client=anna).reviewed_by, "anna")
        error = self.assert_code(grpc.StatusCode.PERMISSION_DENIED, lambda: self.submit(client=anna, reviewed_by="ben"))
        self.assertIn("review.reviewed_by", error.details())
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, lambda: self.submit(client=anna, created_at=self.at(0)))
        integrator = self.client(roles.ROLE_INTEGRATOR)
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, lambda: self.submit(client=integrator))
        self.assertFalse(self.submit(client=integrator, created_at=self.at(0)).HasField("reviewed_by"))

    def test_repeat_of_a_key_stores_once(self):
        body = review_service.SubmitReviewRequest(review=review.Review(
            run_id="run", subcategory="laptops", decision=REVIEWED)).SerializeToString()
        path, key = "/errata.v1.ReviewService/SubmitReview", (("idempotency-key", "k"),)
        self.assertEqual(self.mine.raw(path, body, metadata=key), self.mine.raw(path, body, metadata=key))
        self.assertEqual(len(self.reviews()), 1)


class Listing(ReviewCase):
    def test_reviews_are_filtered_and_paged(self):
        made = [self.submit(f"run-{n % 3}", subcategory=f"s{n % 2}", decision=1 + n % 3, reviewed_by=f"user-{n % 4}",
                            created_at=self.at(n // 5)) for n in range(40)]
        newest = made[::-1]
        self.assertEqual(self.reviews(), newest)
        self.assertEqual(self.reviews(page_size=7), newest)
        self.assertEqual(self.reviews(run_id="run-1", page_size=3), [one for one in newest if one.run_id == "run-1"])
        self.assertEqual(self.reviews(subcategory="s1", decision=REVIEWED),
                         [one for one in newest if (one.subcategory, one.decision) == ("s1", REVIEWED)])
        self.assertEqual(self.reviews(run_id="run-2", subcategory="s0", reviewed_by="user-0"),
                         [one for one in newest if (one.run_id, one.subcategory, one.reviewed_by)
                          == ("run-2", "s0", "user-0")])
        self.assertEqual(self.reviews(start_time=self.at(2), end_time=self.at(5), page_size=4), newest[15:30])
        self.assertEqual(self.reviews(run_id="run-0", end_time=self.at(3)),
                         [one for one in newest[25:] if one.run_id == "run-0"])
        self.assertEqual(self.reviews(id_prefix=made[3].id), [made[3]])
        self.assertEqual(self.reviews(run_id="none"), [])

    def test_retracted_reviews_stay_in_lists(self):
        made = [self.submit(), self.submit()]
        anna = self.client(roles.ROLE_REVIEWER, user_id="anna")
        self.retract(made[0].id, anna)
        listed = self.reviews()
        self.assertEqual([one.id for one in listed], [made[1].id, made[0].id])
        self.assertEqual((listed[1].retracted_by, listed[1].retraction_reason), ("anna", "wrong run"))
        self.assertTrue(listed[1].HasField("retracted_at") and not listed[0].HasField("retracted_at"))

    def test_others_see_nothing(self):
        made = self.submit()
        other = self.server.client(self.admin.create_token(
            roles.ROLE_ADMIN, org_id=self.admin.create_org("other of " + self.id()[-20:]).id).secret)
        self.assertEqual(self.reviews(other), [])
        self.assert_code(grpc.StatusCode.NOT_FOUND, lambda: self.run_of(client=other))
        self.assert_code(grpc.StatusCode.NOT_FOUND,
                         lambda: other.reviews.GetReview(review_service.GetReviewRequest(id=made.id)))


class Runs(ReviewCase):
    def test_run_needs_different_reviewers(self):
        self.need(2)
        self.submit(reviewed_by="anna")
        self.assertFalse(self.run_of().reviewed)
        self.submit(reviewed_by="anna")
        self.assertFalse(self.run_of().reviewed)
        self.submit(reviewed_by="ben")
        run = self.run_of()
        self.assertEqual((run.reviewed, run.reviewed_count, run.reviews_needed, run.review_count), (True, 2, 2, 3))
        self.submit(reviewed_by="ben", decision=REJECTED)
        self.assertFalse(self.run_of().reviewed)

    def test_agreement_is_reported_by_field(self):
        self.submit(reviewed_by="anna", bad_format=True, missing_spec=["Width", "height"])
        self.submit(reviewed_by="ben", bad_format=True, missing_spec=["Height", "width"], decision=REJECTED)
        self.submit(reviewed_by="cleo", bad_format=False, wrong_information=True, decision=REJECTED)
        run = self.run_of()
        self.assertEqual([(one.field, one.answer_count, one.agreeing_count) for one in run.agreement],
                         [(reviewed_run.REVIEW_FIELD_DECISION, 3, 2), (reviewed_run.REVIEW_FIELD_MISSING_SPEC, 3, 2),
                          (reviewed_run.REVIEW_FIELD_BAD_FORMAT, 3, 2),
                          (reviewed_run.REVIEW_FIELD_WRONG_INFORMATION, 1, 1)])
        self.assertEqual([one.reviewed_by for one in run.answers], ["cleo", "ben", "anna"])
        self.assertEqual(list(run.answers[1].missing_spec), ["Height", "width"])

    def test_run_without_reviews_is_not_found(self):
        self.assert_code(grpc.StatusCode.NOT_FOUND, self.run_of)
        made = [self.submit(decision=REVIEWED), self.submit(decision=REJECTED, subcategory="phones")]
        self.retract(made[1].id)
        run = self.run_of()
        self.assertEqual((run.newest_review.id, run.reviewed, run.review_count), (made[0].id, True, 1))
        self.retract(made[0].id)
        self.assert_code(grpc.StatusCode.NOT_FOUND, self.run_of)
        self.assertEqual([(one.id, one.HasField("retracted_at")) for one in self.reviews(run_id="run")],
                         [(made[1].id, True), (made[0].id, True)])

    def test_random_reviews_equal_a_recount(self):
        moments = random.Random(11)
        made = []
        for _ in range(120):
            if moments.random() < 0.2 and made:
                self.retract(moments.choice(made).id)
            elif moments.random() < 0.05:
                self.need(moments.randint(1, 3))
            else:
                fields = {name: moments.random() < 0.5 for name in ("bad_format", "wrong_information",
                                                                    "information_present") if moments.random() < 0.6}
                made.append(self.submit(
                    f"run-{moments.randrange(8)}", subcategory=f"s{moments.randrange(3)}",
                    decision=moments.randint(1, 3), reviewed_by=f"user-{moments.randrange(3)}",
                    missing_spec=moments.sample(["Width", "height", "PORTS"], moments.randrange(4)),
                    created_at=self.at(moments.randrange(30)) if moments.random() < 0.5 else None, **fields))
        self.assertEqual(recount.check(self.mine), [])


class Triggers(ReviewCase):
    def triggers(self, subcategory="laptops", client=None, **fields):
        return (client or self.mine).reviews.GetTriggers(review_triggers.GetTriggersRequest(
            subcategory=subcategory, **fields)).triggers

    def set_thresholds(self, subcategory="laptops", client=None, **fields):
        return (client or self.mine).reviews.SetTriggerThresholds(review_triggers.SetTriggerThresholdsRequest(
            subcategory=subcategory, thresholds=review_triggers.ReviewThresholds(**fields))).thresholds

    def test_triggers_act_at_the_thresholds_of_ten_runs(self):
        for n in range(10):
            self.submit(f"run-{n}", bad_format=n < 3, wrong_information=n < 2, wrong_physical_dimensions=n < 2,
                        missing_spec=["Width"] if n < 2 else ["only once"] if n == 5 else [],
                        information_present=n >= 4)
        found = self.triggers()
        self.assertEqual((found.bad_format, found.wrong_information, found.wrong_physical_dimensions, found.missing_spec,
                          found.information_present_low, found.low_confidence), (True, False, True, True, True, False))
        self.assertEqual([(one.name, one.count) for one in found.missing_specs], [("Width", 2)])
        self.submit("run-10")  # run-0, the oldest, leaves the window
        found = self.triggers()
        self.assertEqual((found.run_count, found.bad_format_count, found.bad_format, found.missing_spec,
                          found.information_present_low_count), (10, 2, False, False, 3))

    def test_few_runs_count_in_proportion(self):
        self.assertEqual((self.triggers().run_count, self.triggers().low_confidence, self.triggers().bad_format),
                         (0, True, False))
        self.submit("run-0", bad_format=True)
        for n in range(1, 3):
            self.submit(f"run-{n}")
        self.assertTrue(self.triggers().bad_format)  # 1 of 3 is more than 3 of 10
        self.submit("run-3")
        self.assertFalse(self.triggers().bad_format)  # 1 of 4 is less

    def test_earlier_reviews_still_count(self):
        first = self.submit("run", subcategory="phones", bad_format=True, decision=REJECTED)
        self.submit("run", bad_format=False)
        self.assertEqual((self.triggers().bad_format, self.triggers("phones").run_count), (True, 0))
        self.retract(first.id)
        self.assertFalse(self.triggers().bad_format)

    def test_thresholds_are_an_administrators(self):
        self.submit("run", bad_format=True)
        for n in range(9):
            self.submit(f"run-{n}")
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED,
                         lambda: self.set_thresholds(client=self.client(roles.ROLE_REVIEWER, user_id="anna"), bad_format=1))
        self.assertFalse(self.triggers().bad_format)
        self.assertEqual(self.set_thresholds(bad_format=1, reviews_needed=2),
                         review_triggers.ReviewThresholds(bad_format=1, reviews_needed=2))
        self.assertEqual((self.triggers().bad_format, self.triggers().thresholds.bad_format,
                          self.triggers().thresholds.wrong_information), (True, 1, 3))
        self.assertEqual((self.submit("run").reviews_needed, self.submit("other", subcategory="phones").reviews_needed),
                         (2, 1))
        self.set_thresholds()
        self.assertFalse(self.triggers().bad_format)
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.set_thresholds(bad_format=11, missing_spec=0))
        self.assertEqual(set(bad_fields(error)), {"thresholds.bad_format", "thresholds.missing_spec"})

    def test_triggers_of_random_histories_equal_a_recount(self):
        """Triggers equal a recount of the log; those of an earlier event stay as they were."""
        moments = random.Random(13)
        made, then = [], []
        for _ in range(150):
            choice = moments.random()
            if choice < 0.2 and made:
                self.retract(made.pop(moments.randrange(len(made))).id)
            elif choice < 0.25:
                self.set_thresholds(f"s{moments.randrange(2)}", bad_format=moments.randint(1, 10),
                                    missing_spec=moments.randint(1, 10))
            else:
                fields = {name: moments.random() < 0.5 for name in ("bad_format", "wrong_information",
                                                                    "information_present") if moments.random() < 0.6}
                made.append(self.submit(
                    f"run-{moments.randrange(20)}", subcategory=f"s{moments.randrange(2)}",
                    missing_spec=moments.sample(["Width", "height", "PORTS"], moments.randrange(4)),
                    created_at=self.at(moments.randrange(30)) if moments.random() < 0.5 else None, **fields))
            if moments.random() < 0.1:
                seq = self.mine.events()[0].seq
                then.append((seq, self.triggers("s0")))
        self.assertEqual(recount.check(self.mine), [])
        self.assertGreater(len(then), 5)
        for seq, found in then:
            self.assertEqual(self.triggers("s0", as_of_seq=seq), found)


class AgentCard(ReviewCase):
    def card(self, subcategory="laptops", client=None):
        return (client or self.mine).reviews.GetAgentCard(
            agent_card.GetAgentCardRequest(subcategory=subcategory)).agent_card

    def test_signals_that_come_back(self):
        """12 runs: facts are wrong in the first two and the last, formats in the tenth."""
        for n in range(12):
            self.submit(f"run-{n}", wrong_information=n in (0, 1, 11), bad_format=n == 9,
                        decision=REJECTED if n == 0 else REVIEWED)
        self.submit("run-0", wrong_information=False)  # now the newest review of the run; earlier responses are unchanged
        card = self.card()
        self.assertEqual((card.run_count, card.review_count, card.reviewed_count, card.first_pass_count), (12, 13, 12, 11))
        shares = {one.signal: one for one in card.signals}
        wrong = shares[review_prompts.REVIEW_SIGNAL_WRONG_INFORMATION]
        self.assertEqual((wrong.recent_count, wrong.recent_percent, wrong.count, wrong.percent, wrong.trigger),
                         (2, 20, 3, 25, False))
        self.assertEqual([one.run_count for one in card.periods], [10, 2])
        # In the order of their newest reviews: runs 1 to 11, then run 0. All but run 1 come after run 1.
        first, second = (next(one for one in period.recurrences
                              if one.signal == review_prompts.REVIEW_SIGNAL_WRONG_INFORMATION) for period in card.periods)
        self.assertEqual((first.warned_count, first.recurring_count, first.recurrence_percent), (9, 0, 0))
        self.assertEqual((second.warned_count, second.recurring_count, second.recurrence_percent), (2, 2, 100))
        self.assertEqual(card.triggers, self.mine.reviews.GetTriggers(
            review_triggers.GetTriggersRequest(subcategory="laptops")).triggers)
        self.assertEqual(recount.check(self.mine), [])

    def test_card_without_reviews_has_no_percentages(self):
        card = self.card()
        self.assertEqual((card.run_count, len(card.periods), card.HasField("first_pass_percent"),
                          {one.HasField("percent") for one in card.signals}), (0, 0, False, {False}))
        made = self.submit("run", bad_format=True)
        self.assertEqual(self.card(client=self.client(roles.ROLE_VIEWER)).run_count, 1)
        self.retract(made.id)
        self.assertEqual(self.card(), card)


class Placeholders(ReviewCase):
    def resolve(self, client=None, **fields):
        fields.setdefault("subcategory", "laptops")
        return (client or self.mine).reviews.ResolvePlaceholders(review_prompts.ResolvePlaceholdersRequest(**fields))

    def put(self, run="run", json='{"name": "X1"}', client=None, **fields):
        return (client or self.mine).reviews.PutItem(review_service.PutItemRequest(
            item=run_item.RunItem(run_id=run, item_json=json, **fields))).item

    def test_no_signal_leaves_prompts_as_they_are(self):
        found = self.resolve(prompts={"extract": "A {{EXTRACTION_REVIEW}}B {{ITEM_DATABASE_SCHEMA}} {{OTHER}}{{OTHER}}",
                                      "plain": ""}, search_queries=["x1 width", "x1 {{A}}"])
        self.assertEqual(dict(found.prompts), {"extract": "A B {{ITEM_DATABASE_SCHEMA}} {{OTHER}}{{OTHER}}", "plain": ""})
        self.assertEqual(list(found.other_tokens), ["ITEM_DATABASE_SCHEMA", "OTHER"])
        self.assertEqual(list(found.search_queries), ["x1 width", "x1 {{A}}"])
        self.assertEqual({one.source for one in found.placeholders}, {review_prompts.PLACEHOLDER_SOURCE_EMPTY})
        self.assertEqual((found.broad_search_allowed, found.prefer_json_correction, found.degraded), (True, False, False))

    def test_triggers_and_current_review_fill_prompts(self):
        for n in range(10):
            self.submit(f"run-{n}", bad_format=True, missing_spec=["Width"] if n < 3 else [])
        found = self.resolve(
            prompts={"extract": "{{EXTRACTION_REVIEW}}", "supervise": "{{SUPERVISOR_REVIEW}}", "both":
                     "{{CATEGORIZER_REVIEW}}|{{EXAMPLE_ITEM}}"},
            current_review=review_prompts.CurrentReview(information_present=True, missing_spec=["Ports"],
                                                        notes="user: the price is {{gross}}"),
            static_example="EXAMPLE")
        self.assertEqual((found.broad_search_allowed, found.prefer_json_correction), (False, True))
        self.assertTrue(found.triggers.bad_format)
        extract = found.prompts["extract"]
        self.assertLess(extract.index("Ports"), extract.index("Width"))
        self.assertIn("Spezifikationen:", extract)
        self.assertIn("\u27c5the price is gross\u27c6", extract)
        self.assertIn("\u27c5the price is gross\u27c6", found.prompts["supervise"])
        self.assertEqual(found.prompts["both"], "|EXAMPLE")
        self.assertEqual([one.source for one in found.placeholders],
                         [review_prompts.PLACEHOLDER_SOURCE_EMPTY, review_prompts.PLACEHOLDER_SOURCE_INJECTED,
                          review_prompts.PLACEHOLDER_SOURCE_INJECTED, review_prompts.PLACEHOLDER_SOURCE_STATIC_FALLBACK])
        self.assertEqual(list(found.placeholders[1].signals), [
            review_prompts.REVIEW_SIGNAL_INFORMATION_PRESENT, review_prompts.REVIEW_SIGNAL_MISSING_SPEC,
            review_prompts.REVIEW_SIGNAL_BAD_FORMAT, review_prompts.REVIEW_SIGNAL_NOTES])

    def test_example_is_the_latest_reviewed_item(self):
        def example(**fields):
            return self.resolve(prompts={"p": "{{EXAMPLE_ITEM}}"}, static_example="STATIC", **fields).prompts["p"]
        made = self.put(json='{"name": "X1", "email": "a@b.de", "text": "ask c@d.de"}', item_id="i")
        self.assertEqual(self.mine.log.GetEvent(event_service.GetEventRequest(id=made.id)).event.run_item, made)
        self.assertEqual(example(), "STATIC")
        one = self.submit()
        seq = self.mine.events()[0].seq
        wanted = '{"name":"X1","email":"[redacted]","text":"ask [redacted]"}'
        self.assertEqual(example(), wanted)
        self.submit("run-2", item_snapshot_json='{"name": "X2"}')
        self.assertEqual(example(), '{"name":"X2"}')
        self.submit("run-2", decision=REJECTED)
        self.assertEqual(example(), wanted)
        self.retract(one.id)
        self.assertEqual(example(), "STATIC")
        self.assertEqual(example(as_of_seq=seq), wanted)
        self.assertEqual(example(as_of_seq=seq - 1), "STATIC")

    def test_shipped_wording_needs_no_approval(self):
        served = self.resolve(current_review=review_prompts.CurrentReview(bad_format=True))
        found = self.mine.learning.ExplainExposure(learning.ExplainExposureRequest(exposure_ref=served.exposure_ref))
        wording, = found.artifacts
        self.assertEqual((wording.version, wording.fragment_set.version, wording.HasField("approved_by"),
                          list(wording.evidence)), (0, 0, False, []))
        self.assertTrue(wording.fragment_set.fragments)
        plain = self.resolve()
        self.assertFalse(self.mine.learning.ExplainExposure(
            learning.ExplainExposureRequest(exposure_ref=plain.exposure_ref)).artifacts)

    def test_other_roles_and_invalid_fields_are_refused(self):
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, lambda: self.resolve(self.client(roles.ROLE_VIEWER)))
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, lambda: self.resolve(self.client(roles.ROLE_INTEGRATOR)))
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.resolve(
            current_review=review_prompts.CurrentReview(missing_spec=["y" * 101])))
        self.assertEqual(set(bad_fields(error)), {"current_review.missing_spec[0]"})
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.put(json="[]"))
        self.assertEqual(set(bad_fields(error)), {"item.item_json"})
        anna = self.client(roles.ROLE_OPERATOR, user_id="anna")
        self.assertEqual(self.put(client=anna).actor_user_id, "anna")
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, lambda: self.put(client=anna, actor_user_id="ben"))
        self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.retract(self.put().id))


class FragmentSets(ReviewCase):
    def setUp(self):
        super().setUp()
        self.anna = self.client(roles.ROLE_REVIEWER, user_id="anna")

    def put(self, client=None, text="Check the format.", **fields):
        fields.setdefault("fragments", [fragment_set.PromptFragment(
            signal=review_prompts.REVIEW_SIGNAL_BAD_FORMAT,
            placeholder=review_prompts.REVIEW_PLACEHOLDER_EXTRACTION_REVIEW, text=text)])
        return (client or self.anna).reviews.PutFragmentSet(review_service.PutFragmentSetRequest(
            fragment_set=fragment_set.FragmentSet(**fields))).fragment_set

    def approve(self, version, client=None):
        return (client or self.anna).reviews.ApproveFragmentSet(
            review_service.ApproveFragmentSetRequest(version=version)).fragment_set

    def resolve(self, **fields):
        return self.mine.reviews.ResolvePlaceholders(review_prompts.ResolvePlaceholdersRequest(
            subcategory="laptops", current_review=review_prompts.CurrentReview(bad_format=True, missing_spec=["Width"]),
            **fields)).placeholders

    def states(self, page_size=0):
        return [(one.version, one.state) for one in self.mine.all_pages(
            self.mine.reviews.ListFragmentSets, review_service.ListFragmentSetsRequest(page_size=page_size),
            "fragment_sets")]

    def test_draft_is_used_once_a_person_approves_it(self):
        shipped = self.resolve()
        self.assertIn("Spezifikationen:", shipped[1].text)
        made = self.put(label_focus_fields="Fields", comment="shorter")
        self.assertEqual((made.version, made.state, made.actor_user_id, made.comment),
                         (1, fragment_set.FRAGMENT_SET_STATE_DRAFT, "anna", "shorter"))
        self.assertEqual(self.resolve(), shipped)
        before = self.mine.events()[0].seq
        approved = self.approve(1)
        self.assertEqual((approved.state, approved.approved_by, approved.id),
                         (fragment_set.FRAGMENT_SET_STATE_APPROVED, "anna", made.id))
        self.assertEqual(self.resolve()[1].text, "Check the format.")
        self.assertEqual(self.resolve()[2].source, review_prompts.PLACEHOLDER_SOURCE_EMPTY)
        self.assertEqual(self.resolve(as_of_seq=before), shipped)
        self.put(fragments=[fragment_set.PromptFragment(
            signal=review_prompts.REVIEW_SIGNAL_MISSING_SPEC,
            placeholder=review_prompts.REVIEW_PLACEHOLDER_EXTRACTION_REVIEW, text="Research:")], label_focus_fields="Fields")
        self.approve(2)
        self.assertEqual(self.resolve()[1].text, "Research:\nFields:\n\u27c5Width\u27c6")
        self.approve(1)
        self.assertEqual(self.resolve()[1].text, "Check the format.")
        self.approve(0)
        self.assertEqual(self.resolve(), shipped)
        self.assertEqual(recount.check(self.mine), [])

    def test_list_has_all_versions(self):
        draft, approved, replaced = (fragment_set.FRAGMENT_SET_STATE_DRAFT, fragment_set.FRAGMENT_SET_STATE_APPROVED,
                                     fragment_set.FRAGMENT_SET_STATE_REPLACED)
        self.assertEqual(self.states(), [(0, approved)])
        for number in range(4):
            self.put(text=f"Text {number}.")
        self.approve(2)
        self.approve(3)
        wanted = [(4, draft), (3, approved), (2, replaced), (1, draft), (0, replaced)]
        for page_size in (0, 1, 2, 5):
            self.assertEqual(self.states(page_size), wanted)
        viewer = self.client(roles.ROLE_VIEWER).reviews.ListFragmentSets(review_service.ListFragmentSetsRequest())
        self.assertEqual({len(one.fragments) for one in viewer.fragment_sets}, {0})
        self.assertEqual(recount.check(self.mine), [])

    def test_only_users_with_the_role_approve(self):
        self.put(client=self.client(roles.ROLE_OPERATOR, user_id="otto"))
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, lambda: self.approve(1, self.client(roles.ROLE_OPERATOR,
                                                                                            user_id="otto")))
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, lambda: self.approve(1, self.mine))  # it has no user
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, lambda: self.put(self.client(roles.ROLE_INTEGRATOR)))
        self.assert_code(grpc.StatusCode.NOT_FOUND, lambda: self.approve(2))
        self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.approve(0))
        self.approve(1)
        self.assert_code(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.approve(1))

    def test_invalid_fragments_are_all_named(self):
        def fragment(signal, placeholder, text="Text."):
            return fragment_set.PromptFragment(signal=signal, placeholder=placeholder, text=text)
        bad_format, extraction = (review_prompts.REVIEW_SIGNAL_BAD_FORMAT,
                                  review_prompts.REVIEW_PLACEHOLDER_EXTRACTION_REVIEW)
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.put(fragments=[
            fragment(bad_format, extraction, "x" * 301), fragment(bad_format, extraction),
            fragment(bad_format, review_prompts.REVIEW_PLACEHOLDER_CATEGORIZER_REVIEW),
            fragment(review_prompts.REVIEW_SIGNAL_EXAMPLE_ITEM, review_prompts.REVIEW_PLACEHOLDER_EXAMPLE_ITEM)],
            label_focus_fields="y" * 101))
        self.assertEqual(set(bad_fields(error)), {
            "fragment_set.fragments[0].text", "fragment_set.fragments[1]", "fragment_set.fragments[2]",
            "fragment_set.fragments[3]", "fragment_set.label_focus_fields"})
        self.put(text="\u00e4" * 300, label_focus_fields="\u00e4" * 100)
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.anna.reviews.ApproveFragmentSet(
            review_service.ApproveFragmentSetRequest()))
        self.assertEqual(set(bad_fields(error)), {"version"})


class Exposures(ReviewCase):
    """Goal: a review that cites its prompts proves their parts, and is an outcome of them. Method: a wording of the
    organisation's own, triggers by ten runs, then runs in each arm."""

    def setUp(self):
        super().setUp()
        anna = self.client(roles.ROLE_REVIEWER, user_id="anna")
        self.set = anna.reviews.PutFragmentSet(review_service.PutFragmentSetRequest(
            fragment_set=fragment_set.FragmentSet(fragments=[fragment_set.PromptFragment(
                signal=review_prompts.REVIEW_SIGNAL_BAD_FORMAT,
                placeholder=review_prompts.REVIEW_PLACEHOLDER_EXTRACTION_REVIEW, text="Check the format.")]))).fragment_set
        anna.reviews.ApproveFragmentSet(review_service.ApproveFragmentSetRequest(version=1))
        for n in range(10):
            self.submit(f"old-{n}", bad_format=n < 3, item_snapshot_json='{"name": "X1", "email": "a@b.example"}')

    def inputs(self, run, **fields):
        return review_prompts.ResolvePlaceholdersRequest(
            subcategory="laptops", run_id=run, prompts={"b": "{{EXTRACTION_REVIEW}}|{{EXAMPLE_ITEM}}", "a": "{{OTHER}}"},
            current_review=review_prompts.CurrentReview(notes="blurred"), static_example="STATIC", **fields)

    def resolve(self, run, **fields):
        return self.mine.reviews.ResolvePlaceholders(self.inputs(run, **fields))

    def explain(self, reference, **fields):
        return self.mine.learning.ExplainExposure(learning.ExplainExposureRequest(
            exposure_ref=reference, **fields))

    def report(self, artifact_id):
        return self.mine.learning.GetArtifactReport(learning.GetArtifactReportRequest(artifact_id=artifact_id))

    def hold_out(self, percent):
        self.mine.update_settings(holdout_percent=percent)

    def test_prompts_are_explained_byte_for_byte(self):
        served = self.resolve("run")
        self.assertEqual(served.prompts["b"], 'Check the format.|{"name":"X1","email":"[redacted]"}')
        for n in range(10, 20):
            self.submit(f"new-{n}", wrong_information=True)
        self.submit("run", exposure_refs=[served.exposure_ref])
        found = self.explain(served.exposure_ref, resolve_inputs=self.inputs("run"))
        self.assertEqual(found.prompts, served.prompts)
        self.assertEqual(found.placeholders, served.placeholders)
        self.assertTrue(found.text_matches)
        self.assertEqual((found.exposure_kind, found.subcategory), (event_log.EXPOSURE_KIND_PLACEHOLDERS, "laptops"))
        self.assertEqual(found.artifacts[0].fragment_set.id, self.set.id)
        self.assertEqual(found.artifacts[1].example_item_json, '{"name":"X1","email":"[redacted]"}')
        signal, = found.signals
        self.assertEqual(signal.signal, review_prompts.REVIEW_SIGNAL_BAD_FORMAT)
        self.assertEqual([one.text for one in signal.fragments], ["Check the format."])
        self.assertEqual({one.run_id for one in signal.reviews}, {"old-0", "old-1", "old-2"})
        self.assertEqual([one.run_id for one in found.outcomes], ["run"])
        changed = self.inputs("run")
        changed.current_review.bad_format = True
        changed.prompts["a"] = "changed"
        self.assertFalse(self.explain(served.exposure_ref, resolve_inputs=changed).text_matches)
        plain = self.explain(served.exposure_ref)
        self.assertFalse(plain.HasField("text_matches") or plain.prompts)

    def test_explanation_names_who_approved_the_wording(self):
        ben = self.client(roles.ROLE_REVIEWER, user_id="ben")
        served = self.resolve("run")
        ben.reviews.ApproveFragmentSet(review_service.ApproveFragmentSetRequest(version=0))
        shipped = self.resolve("run")
        self.hold_out(100)
        held_out = self.resolve("run-2")
        for one, user, version, kinds in ((served, "anna", 1, ["EVENT_KIND_FRAGMENT_SET_APPROVED", "EVENT_KIND_FRAGMENT_SET_PUT"]),
                                          (shipped, "ben", 0, ["EVENT_KIND_FRAGMENT_SET_APPROVED"])):
            found = self.explain(one.exposure_ref).artifacts[0]
            self.assertEqual((found.approved_by, found.version, found.fragment_set.version, found.fragment_set.state),
                             (user, version, version, fragment_set.FRAGMENT_SET_STATE_APPROVED))
            self.assertEqual([event_log.EventKind.Name(event.kind) for event in found.evidence], kinds)
        self.submit("run", exposure_refs=[shipped.exposure_ref], bad_format=True)
        self.submit("run-2", exposure_refs=[held_out.exposure_ref])
        report = self.report("00000000-0000-0000-0000-000000000000")
        self.assertEqual((report.artifact_kind, report.artifact_id), (artifact.ARTIFACT_KIND_FRAGMENT_SET, ""))
        self.assertEqual([(one.exposure_count, one.outcome_count, one.bad_count)
                          for one in (report.served, report.held_out)], [(1, 1, 1), (1, 1, 0)])
        self.assertEqual(self.report(self.set.id).served.exposure_count, 0)

    def test_held_out_run_gets_the_baseline(self):
        self.hold_out(100)
        served = self.resolve("run", search_queries=["x1"])
        self.assertEqual(served.arm, extraction.EXPERIMENT_ARM_CONTROL)
        self.assertEqual(dict(served.prompts), {"b": "|STATIC", "a": "{{OTHER}}"})
        self.assertEqual(list(served.search_queries), ["x1"])
        self.hold_out(0)
        self.submit("run", exposure_refs=[served.exposure_ref])
        found = self.explain(served.exposure_ref, resolve_inputs=self.inputs("run"))
        self.assertEqual((found.arm, found.prompts), (extraction.EXPERIMENT_ARM_CONTROL, served.prompts))
        self.assertTrue(found.text_matches and all(one.held_out for one in found.artifacts))
        self.assertEqual(self.resolve("").arm, extraction.EXPERIMENT_ARM_NONE)

    def test_report_compares_the_arms(self):
        def serve(run, percent):
            self.hold_out(percent)
            return self.resolve(run).exposure_ref
        references = {f"c-{n}": serve(f"c-{n}", 100) for n in range(4)}
        self.hold_out(1)
        runs = (f"t-{n}" for n in range(1000))
        for run in runs:
            served = self.resolve(run)
            if served.arm == extraction.EXPERIMENT_ARM_TREATMENT:
                references[run] = served.exposure_ref
            if len(references) == 10:
                break
        bad = [run for run in references if run.startswith("c")][:3] + [run for run in references if run.startswith("t")][:1]
        made = {run: self.submit(run, bad_format=run in bad, wrong_information=True, exposure_refs=[reference])
                for run, reference in references.items()}
        self.submit("c-3", bad_format=True, exposure_refs=[references["c-3"]])  # counts once
        report = self.report(self.set.id)
        self.assertEqual(report.artifact_kind, artifact.ARTIFACT_KIND_FRAGMENT_SET)
        self.assertEqual((report.held_out.outcome_count, report.held_out.bad_count), (4, 3))
        self.assertEqual((report.treatment.outcome_count, report.treatment.bad_count), (6, 1))
        self.assertAlmostEqual(report.difference, 1 / 6 - 3 / 4)
        self.assertLess(report.difference_low, report.difference)
        self.retract(made[bad[0]].id)
        report = self.report(self.set.id)
        self.assertEqual((report.held_out.outcome_count, report.held_out.bad_count), (3, 2))
        self.assertEqual(recount.check(self.mine), [])

    def test_forged_and_other_references_store_nothing(self):
        good = self.resolve("run").exposure_ref
        foreign = self.server.client(self.admin.create_token(
            roles.ROLE_ADMIN, org_id=self.admin.create_org("foreign prompts").id).secret)
        other = foreign.reviews.ResolvePlaceholders(self.inputs("run")).exposure_ref
        before = self.mine.events()[0].seq
        for reference in good[:-2], good[::-1], other:
            error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT,
                                     lambda: self.submit("run", exposure_refs=[good, reference]))
            self.assertEqual(list(bad_fields(error)), ["review.exposure_refs[1]"])
        self.assertEqual(self.mine.events()[0].seq, before)
        self.assertEqual(self.resolve("run", as_of_seq=before).exposure_ref, "")


class CommandLine(ReviewCase):
    def cli(self, *words, **more):
        path = self.folder / f"{self.org.id}.token"
        path.write_text(self.token + "\n")
        return self.run_cli(*words, environment=self.here(ERRATA_TOKEN_FILE=str(path)), **more)[0]

    def test_commands_list_put_and_approve_wording(self):
        self.token = self.admin.create_token(roles.ROLE_ADMIN, org_id=self.org.id, user_id="anna").secret
        wording = {"fragments": [{"signal": "WRONG_INFORMATION", "placeholder": "CATEGORIZER_REVIEW", "text": "Check."}],
                   "comment": "first"}
        shipped = self.cli("reviews", "fragments")
        self.assertRegex(shipped, r"version +0\n(.*\n)*\nBAD_FORMAT in \{\{SUPERVISOR_REVIEW\}\}\n  Earlier results had")
        self.assertEqual(self.cli("fragments", "put", json.dumps(wording)), "1\n")
        self.assertEqual(self.cli("reviews", "fragments"), shipped)
        self.assertRegex(self.cli("fragments", "list"), r"1 +DRAFT.*\n +0 +APPROVED")
        self.cli("fragments", "approve", "1")
        self.assertRegex(self.cli("reviews", "fragments"),
                         r"version +1\n\nWRONG_INFORMATION in \{\{CATEGORIZER_REVIEW\}\}\n  Check.\n$")
        listed = json.loads(self.cli("fragments", "list", "--json"))["fragmentSets"]
        self.assertEqual((listed[0]["state"], listed[0]["approvedBy"], listed[0]["fragments"][0]["text"]),
                         ("FRAGMENT_SET_STATE_APPROVED", "anna", "Check."))

    def test_submit_list_show_and_run(self):
        id = self.cli("reviews", "submit", "run-1", "--subcategory", "laptops", "--decision", "rejected", "--bad-format",
                      "yes", "--wrong-information", "no", "--missing", "Width", "--missing", "height", "--notes", "blurred",
                      "--reviewer", "anna").strip()
        self.assertIn("bad format; missing: Width, height; no wrong information",
                      self.cli("reviews", "list", "--run", "run-1"))
        shown = json.loads(self.cli("reviews", "show", id[:12], "--json"))["review"]
        self.assertEqual((shown["id"], shown["badFormat"], shown["wrongInformation"], shown["missingSpec"]),
                         (id, True, False, ["Width", "height"]))
        self.assertIn("no: 0 of 1 reviewers", self.cli("reviews", "run", "run-1"))
        self.cli("reviews", "submit", "run-1", "--subcategory", "laptops", "--decision", "reviewed", "--reviewer", "anna")
        self.assertIn("yes: 1 of 1 reviewers", self.cli("reviews", "run", "run-1"))
        self.assertRegex(self.cli("reviews", "triggers", "laptops"),
                         r"bad format +yes: 1 of 1 runs, threshold 3 of 10\n(.*\n)*Width +1")
        self.cli("reviews", "thresholds", "laptops", "--bad-format", "7", "--missing", "10")
        self.assertIn("threshold 7 of 10", self.cli("reviews", "triggers", "laptops"))
        card = self.cli("reviews", "card", "laptops")
        self.assertRegex(card, r"accepted at once +0% \(0\)\n")
        self.assertRegex(card, r"BAD_FORMAT +1 +100% +1 +100%")
        self.cli("reviews", "item", "run-1", '{"name": "X1"}')
        out, said = self.run_cli("reviews", "resolve", "laptops", "--prompt", "p=See {{EXAMPLE_ITEM}}", "--bad-format", "yes",
                                 environment=self.here(ERRATA_TOKEN_FILE=str(self.folder / f"{self.org.id}.token")))
        self.assertEqual(out, 'See {"name":"X1"}\n')
        self.assertIn("SUPERVISOR_REVIEW: INJECTED by BAD_FORMAT", said)
        self.assertRegex(self.cli("reviews", "resolve", "laptops", "--prompt", "p=A\n{{EXTRACTION_REVIEW}}\nB"),
                         r"^A\n(.*\n)*Spezifikationen:\n.height.\n.Width.\n(.*\n)*B\n$")
        reference = json.loads(self.cli("reviews", "resolve", "laptops", "--run", "run-2", "--bad-format", "yes",
                                        "--json"))["exposureRef"]
        self.assertIn(reference[:4], said)
        cited = self.cli("reviews", "submit", "run-2", "--subcategory", "laptops", "--decision", "rejected",
                         "--bad-format", "yes", "--exposure", reference).strip()
        self.assertRegex(self.cli("reviews", "show", cited), r"prompts +event \d+: again BAD_FORMAT\n")
        explained = self.cli("explain", reference)
        self.assertRegex(explained, r"method +ResolvePlaceholders\n")
        self.assertRegex(explained, r"wording +.*ships with the server")
        self.assertRegex(explained, r"example item +.*X1")
        self.assertRegex(explained, r"BAD_FORMAT +run-1 +EXTRACTION_REVIEW: Earlier results had format errors")
        self.assertRegex(explained, r"again: .*BAD_FORMAT.* +run-2")
        self.assertRegex(self.cli("analytics", "artifact", "0" * 8 + "-0000-0000-0000-" + "0" * 12),
                         r"served +1 of 1 bad")
        self.assertIn("expected yes or no", self.run_cli(
            "reviews", "submit", "r", "--subcategory", "s", "--decision", "rejected", "--bad-format", "maybe", code=2)[1])


if __name__ == "__main__":
    main()
