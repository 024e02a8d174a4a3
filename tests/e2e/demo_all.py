#!/usr/bin/python3
"""tools/demo-all: one organisation has data in every view of the page.

Goal: the demonstration shows each capability. Method: a small run that keeps its data, and a server on it: each list of
the page has rows, also of the last days, and some entries are pending for a person.
"""
import datetime
import os
import subprocess
import tempfile
import unittest

from erratad import (BIN, ROOT, STUBS, Server, admin, analytics, artifact, fragment_set, guideline_service, layout, main, mappings, organization,
                     review_service, roles, sku_mapping, turn, turn_service, verdict_service)


class Demo(unittest.TestCase):
    def test_every_view_has_something(self):
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "data")
            done = subprocess.run([os.path.join(ROOT, "tools", "demo-all"), "--bin", BIN, "--data", data, "--months", "3", "--orders", "200", "--receipts",
                                   "240", "--runs", "50", "--sessions", "12", "--decisions", "60", "--exit"], capture_output=True, text=True, timeout=120,
                                  check=False, env=os.environ | {"ERRATA_STUBS": STUBS})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"The page:  http://127\.0\.0\.1:\d+/\nThe token: errata_")
            with Server(data=data) as server:
                self.look(server.client())

    def look(self, client):
        today = datetime.date.today()
        report = client.analytics.GetLearningAnalytics(analytics.GetLearningAnalyticsRequest(
            start_date=str(today - datetime.timedelta(days=29)), end_date=str(today)))
        self.assertGreater(sum(day.count for day in report.corrections_by_day), 0)
        self.assertGreater(report.mapping_applied_count, 0)
        for status in (sku_mapping.MAPPING_STATUS_SUGGESTED, sku_mapping.MAPPING_STATUS_CONFIRMED):
            self.assertGreater(len(client.mappings.ListMappings(mappings.ListMappingsRequest(status=status)).mappings), 5)
        stats = client.verdicts.GetVerdictStats(verdict_service.GetVerdictStatsRequest())
        self.assertGreater(stats.total_feedback, 20)
        rules = client.verdicts.ListLearnedRules(verdict_service.ListLearnedRulesRequest()).rules
        self.assertTrue(any(rule.state == artifact.ARTIFACT_STATE_ACTIVE for rule in rules))
        self.assertGreater(len(client.verdicts.ListSuggestedWeights(verdict_service.ListSuggestedWeightsRequest()).weights), 0)
        self.assertGreater(len(client.layouts.ListFamilies(layout.ListFamiliesRequest()).families), 3)
        self.assertGreater(len(client.reviews.ListReviews(review_service.ListReviewsRequest()).reviews), 20)
        for status in (turn.TURN_STATUS_ACCEPTED, turn.TURN_STATUS_REJECTED):
            self.assertGreater(len(client.turns.ListTurns(turn_service.ListTurnsRequest(status=status)).turns), 3)
        self.assertGreater(len(client.turns.GetSatisfaction(turn_service.GetSatisfactionRequest()).days), 5)
        effects = client.guidelines.GetGuidelineEffectiveness(guideline_service.GetGuidelineEffectivenessRequest()).guidelines
        self.assertGreater(sum(one.HasField("difference") and one.HasField("change") for one in effects), 0)
        states = {one.state for one in client.admin.ListOrganizations(admin.ListOrganizationsRequest()).organizations}
        self.assertEqual(states, {organization.ORGANIZATION_STATE_ACTIVE, organization.ORGANIZATION_STATE_SUSPENDED})
        limited = [one.key_id for one in client.admin.ListQuotas(admin.ListQuotasRequest()).quotas]
        tokens = client.admin.ListTokens(admin.ListTokensRequest(page_size=1000)).tokens
        self.assertEqual(limited, ["", *(one.key_id for one in tokens if one.role == roles.ROLE_SERVICE)])
        self.assertEqual(sorted(len(one.votes) for one in client.guidelines.ListPendingProposals(
            guideline_service.ListPendingProposalsRequest()).proposals), [0, 1])
        states = [one.state for one in client.reviews.ListFragmentSets(review_service.ListFragmentSetsRequest()).fragment_sets]
        self.assertEqual(states, [fragment_set.FRAGMENT_SET_STATE_DRAFT, fragment_set.FRAGMENT_SET_STATE_APPROVED, fragment_set.FRAGMENT_SET_STATE_REPLACED])


if __name__ == "__main__":
    main()
