#!/usr/bin/python3
"""Learned rules as files, and submissions as labels, through a real client and the command `errata`.

Goal: what is exported is complete, always has the same form, and can be read again. Method: one erratad, an
organisation of its own for each test; documents are compared with the rules that the server lists.
"""
import json

import grpc

from erratad import artifact, learned_rule, learning, main, roles, verdict_service, verdicts
from errata_cli import CliCase

REAL, FAKE, SUSPICIOUS = verdicts.VERDICT_REAL, verdicts.VERDICT_FAKE, verdicts.VERDICT_SUSPICIOUS
MISSED_INDICATOR = learned_rule.LEARNED_RULE_TYPE_MISSED_INDICATOR
MEMBERS = ["rule_id", "rule_type", "pattern", "action", "confidence_adjustment", "learned_from_feedback_count",
           "accuracy_on_validation", "enabled", "auto_learned", "state", "created_at", "last_updated"]


class FileCase(CliCase):
    def setUp(self):
        self.org, self.mine = self.new_org(self.id().rsplit(".", 1)[1])

    def new_org(self, name):
        """An organisation with its administrator's client."""
        org = self.admin.create_org(name)
        return org, self.server.client(self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret)

    def submit(self, original, correct, client=None, **fields):
        fields.setdefault("receipt_id", "receipt")
        return (client or self.mine).submit_verdict(original_verdict=original, correct_verdict=correct, **fields)

    def rules(self, client=None, **fields):
        client = client or self.mine
        return client.all_pages(client.verdicts.ListLearnedRules,
                                verdict_service.ListLearnedRulesRequest(**fields), "rules")

    def export(self, client=None):
        return "".join(reply.piece for reply in (client or self.mine).verdicts.ExportLearnedRules(
            verdict_service.ExportLearnedRulesRequest()))

    def refusal(self, code, call):
        with self.assertRaises(grpc.RpcError) as caught:
            call()
        self.assertEqual(caught.exception.code(), code)
        return caught.exception


class Export(FileCase):
    def test_export_has_every_rule_as_it_is(self):
        self.submit(REAL, FAKE, missed_indicators=["font", 'quote " \\ é'])
        self.submit(FAKE, REAL, rejected_indicators=["spacing"])
        self.submit(FAKE, FAKE, confirmed_indicators=["font"])
        rules = self.rules()
        self.mine.verdicts.SetLearnedRuleEnabled(verdict_service.SetLearnedRuleEnabledRequest(
            id=rules[0].id, enabled=False))
        self.mine.learning.ProposeArtifact(learning.ProposeArtifactRequest(learned_rule=learning.ProposedRule(
            rule_type=MISSED_INDICATOR, pattern="total>100", confidence_adjustment=0.125), reason="seen"))
        text = self.export()
        document = json.loads(text)
        self.assertEqual(list(document), ["schema_version", "rules"])
        self.assertEqual(document["schema_version"], 1)
        self.assertEqual([list(one) for one in document["rules"]], [MEMBERS] * len(rules + [0]))
        for one, rule in zip(document["rules"], self.rules(), strict=True):
            self.assertEqual(
                (one["rule_id"], one["rule_type"], one["pattern"], one["action"], one["state"]),
                (rule.id, learned_rule.LearnedRuleType.Name(rule.rule_type)[18:].lower(), rule.pattern,
                 learned_rule.LearnedRuleAction.Name(rule.action)[20:].lower(),
                 artifact.ArtifactState.Name(rule.state)[15:].lower()))
            self.assertEqual(
                (one["confidence_adjustment"], one["learned_from_feedback_count"], one["accuracy_on_validation"],
                 one["enabled"], one["auto_learned"], one["created_at"], one["last_updated"]),
                (rule.confidence_adjustment, rule.learned_from_feedback_count, rule.accuracy_on_validation,
                 rule.enabled, rule.auto_learned, rule.created_at.ToJsonString(), rule.updated_at.ToJsonString()))
        self.assertEqual(self.export(), text)
        self.assertEqual(len(text.splitlines()), len(document["rules"]) + 2)

    def test_export_of_many_rules_is_whole(self):
        """More than one piece; the command prints what the stream has."""
        for first in range(0, 1500, 50):
            self.submit(FAKE, FAKE, missed_indicators=[f"indicator {first + n:04}" for n in range(50)])
        text = self.export()
        self.assertEqual([one["pattern"] for one in json.loads(text)["rules"]],
                         [f"indicator {n:04}" for n in range(1500)])
        (self.folder / "org.token").write_text(
            self.admin.create_token(roles.ROLE_INTEGRATOR, org_id=self.org.id).secret)
        printed = self.run_cli("rules", "export", "--token-file", "org.token")[0]
        self.assertEqual(printed, text)
        pieces = self.run_cli("rules", "export", "--token-file", "org.token", "--json")[0].splitlines()
        self.assertGreater(len(pieces), 1)
        self.assertEqual("".join(json.loads(piece)["piece"] for piece in pieces), text)

    def test_export_of_no_rules_is_a_document(self):
        self.assertEqual(json.loads(self.export()), {"schema_version": 1, "rules": []})


if __name__ == "__main__":
    main()
