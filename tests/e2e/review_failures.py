#!/usr/bin/python3
"""Prompts with texts of reviews if stored rows are damaged, and the counters and log lines of the damage.

Goal: damage never fails ResolvePlaceholders: texts that need the damaged row are empty, a counter and a log line report
it, and no stored text is in the log. Method: rows of a stopped server are truncated, one after the other, each in a
server of its own.
"""
import json
import os
import subprocess
import tempfile

import grpc

from erratad import (BIN, Server, ServerCase, admin, fragment_set, main, organization_settings, review, review_prompts,
                     review_service, review_triggers, roles)

DEBUG = ("--log-level", "debug", "--log-format", "json")
SECRETS = "plum", "quince", "medlar"  # text of notes, items and wordings
CATEGORIZER, EXTRACTION, _, EXAMPLE = range(4)


def counters(client):
    return {one.name: one.value for one in client.admin.GetServerInfo(admin.GetServerInfoRequest()).counters}


def lines(server, message):
    return [json.loads(line) for line in server.read_log().splitlines() if f'"{message}"' in line]


def resolve(client, run=""):
    return client.reviews.ResolvePlaceholders(review_prompts.ResolvePlaceholdersRequest(
        subcategory="laptops", run_id=run, prompts={"p": "{{EXTRACTION_REVIEW}}|{{EXAMPLE_ITEM}}"}, static_example="STATIC",
        current_review=review_prompts.CurrentReview(wrong_information=True, notes="a medlar")))


def fill(client):
    """Ten reviewed runs with an item, and a wording of the organisation's own."""
    client.reviews.PutFragmentSet(review_service.PutFragmentSetRequest(fragment_set=fragment_set.FragmentSet(
        fragments=[fragment_set.PromptFragment(signal=signal, placeholder=review_prompts.REVIEW_PLACEHOLDER_EXTRACTION_REVIEW,
                                               text=text)
                   for signal, text in ((review_prompts.REVIEW_SIGNAL_BAD_FORMAT, "Check the quince."),
                                        (review_prompts.REVIEW_SIGNAL_WRONG_INFORMATION, "Check facts."))])))
    client.reviews.ApproveFragmentSet(review_service.ApproveFragmentSetRequest(version=1))
    client.reviews.SetTriggerThresholds(review_triggers.SetTriggerThresholdsRequest(
        subcategory="laptops", thresholds=review_triggers.ReviewThresholds(bad_format=2)))
    for number in range(10):
        client.submit_review(run_id=f"run-{number}", subcategory="laptops", bad_format=True,
                             decision=review.REVIEW_DECISION_REVIEWED, item_snapshot_json='{"name": "plum"}')


class Damage(ServerCase):
    """Losses of the prompts by each damaged table: the text, the source of the example, and the part that failed."""

    CASES = (("review_newest", 0, "Check facts.|{\"name\":\"plum\"}", review_prompts.PLACEHOLDER_SOURCE_INJECTED, "triggers"),
             ("review", 0, "Check facts.|{\"name\":\"plum\"}", review_prompts.PLACEHOLDER_SOURCE_INJECTED, "triggers"),
             ("review_thresholds", 0, "Check facts.|{\"name\":\"plum\"}", review_prompts.PLACEHOLDER_SOURCE_INJECTED,
              "triggers"),
             ("fragment_approval", 0, "|{\"name\":\"plum\"}", review_prompts.PLACEHOLDER_SOURCE_INJECTED, "wording"),
             ("settings", 0, "Check the quince.\nCheck facts.|STATIC", review_prompts.PLACEHOLDER_SOURCE_STATIC_FALLBACK,
              "example"))

    @classmethod
    def setUpClass(cls):
        pass  # each case has a server of its own

    @classmethod
    def tearDownClass(cls):
        pass

    def start(self, data):
        server = Server(data=data, arguments=DEBUG).start()
        self.addCleanup(server.close)
        return server

    def damaged(self, table, number):
        """A server whose store has the damaged row, and a client of its organisation."""
        data = tempfile.mkdtemp(prefix="errata-reviews-")
        server = self.start(data)
        user = server.client().create_token(roles.ROLE_ADMIN, user_id="anna", server=True).secret
        client = server.client(user)
        fill(client)
        client.admin.UpdateSettings(admin.UpdateSettingsRequest(settings=organization_settings.OrganizationSettings(holdout_percent=0)))
        self.assertEqual(resolve(client, "run").prompts["p"], "Check the quince.\nCheck facts.|{\"name\":\"plum\"}")
        client.close()
        self.assertEqual(server.stop(), 0)
        subprocess.run([os.path.join(BIN, "damage_row"), data, table, "short", str(number)], check=True,
                       stdout=subprocess.DEVNULL)
        server = self.start(data)
        return server, server.client(user)

    def test_damage_empties_only_what_needs_it(self):
        for table, number, text, source, part in self.CASES:
            with self.subTest(table=table):
                server, client = self.damaged(table, number)
                before = counters(client)["review_failures_total"]
                found = resolve(client)
                self.assertTrue(found.degraded)
                self.assertEqual((found.prompts["p"], found.placeholders[EXAMPLE].source, found.exposure_ref),
                                 (text, source, ""))
                self.assertEqual(counters(client)["review_failures_total"], before + 1)
                self.assertEqual([one["part"] for one in lines(server, "review fallback")], [part])
                if table == "settings":
                    resolve(client, "run")
                    self.assertIn("arm", [one["part"] for one in lines(server, "review fallback")])
                self.assertFalse([one for one in SECRETS if one in server.read_log()])
                client.close()
                self.assertEqual(server.stop(), 0)


class Lines(ServerCase):
    arguments = DEBUG

    def test_each_step_is_counted_and_logged(self):
        org = self.admin.create_org("lines")
        client = self.server.client(self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id, user_id="anna").secret)
        before = counters(self.admin)
        fill(client)
        client.submit_review(run_id="run-11", subcategory="laptops", information_present=False, notes="a plum",
                             missing_spec=["quince", "Width"], decision=review.REVIEW_DECISION_REJECTED)
        found = resolve(client)
        client.reviews.GetTriggers(review_triggers.GetTriggersRequest(subcategory="laptops"))
        after = counters(self.admin)
        self.assertEqual({name: after[name] - before[name] for name in after if name.startswith("review")}, {
            "reviews_normalised_total": 11, "review_triggers_total": 2, "review_placeholders_injected_total": 2,
            "review_placeholders_static_total": 0, "review_placeholders_empty_total": 2, "review_examples_total": 1,
            "review_failures_total": 0})
        self.assertEqual(found.placeholders[CATEGORIZER].source, review_prompts.PLACEHOLDER_SOURCE_EMPTY)
        form = lines(self.server, "review normalised")[-1]
        self.assertEqual((form["information_present"], form["bad_format"], form["missing_spec"], form["notes"],
                          form["item_snapshot"], form["org"]), ("false", "absent", 2, 1, 0, org.id))
        triggers = lines(self.server, "review triggers")[-1]
        self.assertEqual((triggers["runs"], triggers["low_confidence"], triggers["bad_format"], triggers["bad_format_count"],
                          triggers["missing_spec"]), (10, "false", "true", 9, "false"))
        self.assertEqual(lines(self.server, "review placeholders")[-1]["extraction_review"], "INJECTED")
        example = lines(self.server, "review example")[-1]
        self.assertEqual((example["source"], example["expired"]), ("INJECTED", "false"))
        self.assertFalse([one for one in SECRETS if one in self.server.read_log()])
        client.close()

    def test_redacted_members_are_a_setting(self):
        org = self.admin.create_org("redaction")
        client = self.server.client(self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret)
        client.submit_review(run_id="run", subcategory="laptops", decision=review.REVIEW_DECISION_REVIEWED,
                             item_snapshot_json='{"Email": "none", "serial": {"no": 1}, "text": "a@b.de"}')
        settings = client.admin.GetSettings(admin.GetSettingsRequest()).settings
        self.assertEqual(list(settings.redacted_members.names), [
            "email", "phone", "address", "iban", "password", "token", "reviewed_by", "notes"])

        def example(**fields):
            found = client.reviews.ResolvePlaceholders(review_prompts.ResolvePlaceholdersRequest(
                subcategory="laptops", **fields))
            return found.placeholders[EXAMPLE].text

        def change(*names):
            return client.admin.UpdateSettings(admin.UpdateSettingsRequest(settings=organization_settings.OrganizationSettings(
                redacted_members=organization_settings.RedactedMembers(names=names)))).settings
        shipped = '{"Email":"[redacted]","serial":{"no":1},"text":"[redacted]"}'
        self.assertEqual(example(), shipped)
        before = client.events()[0].seq
        self.assertEqual(list(change("SERIAL").redacted_members.names), ["SERIAL"])
        self.assertEqual(example(), '{"Email":"none","serial":"[redacted]","text":"[redacted]"}')
        client.admin.UpdateSettings(admin.UpdateSettingsRequest(settings=organization_settings.OrganizationSettings(reviews_needed=1)))
        self.assertEqual(example(), '{"Email":"none","serial":"[redacted]","text":"[redacted]"}')
        self.assertEqual(example(as_of_seq=before), shipped)
        change()
        self.assertEqual(example(), '{"Email":"none","serial":{"no":1},"text":"[redacted]"}')
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, change, "", "a\n", "x" * 101)
        for number in range(3):
            self.assertIn(f"settings.redacted_members.names[{number}]", error.details())
        client.close()


if __name__ == "__main__":
    main()
