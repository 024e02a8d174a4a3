#!/usr/bin/python3
"""Learned rules as files, and submissions as labels, through a real client and the command `errata`.

Goal: an export is complete, always has the same form, and can be imported. Method: one erratad, an
organisation of its own for each test; documents are compared with the rules that the server lists.
"""
import json
import re

import grpc

import recount
from erratad import (artifact, bad_fields, event_log, event_service, learned_rule, learning, main, roles,
                     verdict_service, verdicts)
from errata_cli import CliCase

REAL, FAKE, SUSPICIOUS = verdicts.VERDICT_REAL, verdicts.VERDICT_FAKE, verdicts.VERDICT_SUSPICIOUS
MISSED_INDICATOR = learned_rule.LEARNED_RULE_TYPE_MISSED_INDICATOR
MEMBERS = ["rule_id", "rule_type", "pattern", "action", "confidence_adjustment", "learned_from_feedback_count",
           "accuracy_on_validation", "enabled", "auto_learned", "state", "source_rule_id", "created_at", "last_updated"]
CHANGING = ("rule_id", "source_rule_id", "created_at", "last_updated")  # id of a rule that was imported elsewhere
CREATED = verdict_service.LEARNED_RULE_IMPORT_EFFECT_CREATED
UPDATED = verdict_service.LEARNED_RULE_IMPORT_EFFECT_UPDATED
RETIRED = verdict_service.LEARNED_RULE_IMPORT_EFFECT_RETIRED


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

    def load(self, document, client=None, key=None, **fields):
        """Imports a document, given as text or as an object."""
        text = document if isinstance(document, str) else json.dumps(document)
        return (client or self.mine).verdicts.ImportLearnedRules(
            verdict_service.ImportLearnedRulesRequest(document_json=text, **fields),
            metadata=[("idempotency-key", key)] if key else None)

    def load_rules(self, *rules, **fields):
        return self.load({"schema_version": 1, "rules": list(rules)}, **fields)

    def newest_seq(self, client=None):
        return (client or self.mine).log.ListEvents(event_service.ListEventsRequest(page_size=1)).events[0].seq

    def score(self, *indicators, client=None):
        return (client or self.mine).verdicts.ScoreDocument(verdict_service.ScoreDocumentRequest(
            score=0.5, indicators=indicators, document_profile=verdicts.DocumentProfile(confidence=1))).score


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
        """An export of more than one piece; the command prints the whole stream."""
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


def rule(pattern, rule_type="missed_indicator", **members):
    return {"rule_type": rule_type, "pattern": pattern, **members}


def masked(text):
    """Returns a document without the members that an import into another organisation changes."""
    for member in CHANGING:
        text = re.sub(f'"{member}":("[^"]*"|null)', f'"{member}":*', text)
    return text


class Import(FileCase):
    def learn(self):
        """Rules of all types and several states; returns their export."""
        self.submit(REAL, FAKE, missed_indicators=["font", 'quote " \\ é'])
        self.submit(FAKE, REAL, rejected_indicators=["spacing"])
        self.submit(FAKE, FAKE, confirmed_indicators=["font"], missed_indicators=["gone"])
        made = self.submit(FAKE, FAKE, missed_indicators=["taken back"]).submission
        self.mine.log.RetractEvent(event_service.RetractEventRequest(event_id=made.id, reason="wrong"))
        self.mine.verdicts.SetLearnedRuleEnabled(verdict_service.SetLearnedRuleEnabledRequest(
            id=self.rules()[0].id, enabled=False))
        self.mine.learning.ProposeArtifact(learning.ProposeArtifactRequest(learned_rule=learning.ProposedRule(
            rule_type=MISSED_INDICATOR, pattern="total>100", confidence_adjustment=0.123456789), reason="seen"))
        return self.export()

    def test_import_into_an_empty_organisation_gives_the_same_document(self):
        text = self.learn()
        _, other = self.new_org(self.org.name + "-2")
        reply = self.load(text, client=other)
        rules = self.rules(other)
        self.assertEqual((reply.created_count, reply.updated_count, reply.retired_count, reply.unchanged_count),
                         (len(rules), 0, 0, 0))
        self.assertEqual([(one.effect, one.rule) for one in reply.changes], [(CREATED, one) for one in rules])
        self.assertEqual([one.source_rule_id for one in rules], [one.id for one in self.rules()])
        self.assertTrue(all(one.id != one.source_rule_id for one in rules))
        again = self.export(other)
        self.assertNotEqual(again, text)
        self.assertEqual(masked(again), masked(text))
        self.assertEqual(self.score("font", "gone", client=other), self.score("font", "gone"))
        self.assertEqual(recount.check(other), [])
        self.assertEqual(recount.check(self.mine), [])
        # The document of the other organisation is equal here, except for the origin of the rules.
        self.assertEqual(self.load(again).unchanged_count, 0)
        self.assertEqual(masked(self.export()), masked(text))

    def test_second_import_changes_nothing(self):
        text = self.learn()
        newest = self.newest_seq()
        reply = self.load(text)
        self.assertEqual((len(reply.changes), reply.unchanged_count), (0, len(self.rules())))
        reply = self.load(text, replace=True)
        self.assertEqual((len(reply.changes), reply.unchanged_count), (0, len(self.rules())))
        self.assertEqual(self.newest_seq(), newest)
        self.assertEqual(self.export(), text)

    def test_merge_gives_a_rule_the_values_of_the_document(self):
        made = [self.submit(FAKE, FAKE, missed_indicators=["font"]).submission for _ in range(3)]
        self.submit(FAKE, FAKE, missed_indicators=["stays"])
        before, other = self.rules()
        self.assertEqual(self.score("font"), 0.54)
        source = "0192f0c0-1111-7222-8333-444455556666"
        document = rule("font", rule_id=source, confidence_adjustment=0.25, learned_from_feedback_count=7,
                        accuracy_on_validation=0.75, enabled=True)
        reply = self.load_rules(document)
        after = self.rules()[0]
        self.assertEqual([(one.effect, one.rule, one.previous) for one in reply.changes], [(UPDATED, after, before)])
        self.assertEqual(
            (after.id, after.source_rule_id, after.confidence_adjustment, after.learned_from_feedback_count,
             after.accuracy_on_validation, after.version, after.created_at, after.auto_learned),
            (before.id, source, 0.25, 7, 0.75, 2, before.created_at, True))
        self.assertEqual(self.rules()[1], other)
        self.assertEqual(self.score("font"), 0.75)
        # Submissions from before the import no longer count; later ones do.
        self.mine.log.RetractEvent(event_service.RetractEventRequest(event_id=made[0].id, reason="wrong"))
        self.assertEqual(self.rules()[0].learned_from_feedback_count, 7)
        last = self.submit(FAKE, FAKE, confirmed_indicators=["font"]).submission
        self.assertEqual((self.rules()[0].learned_from_feedback_count, self.rules()[0].accuracy_on_validation),
                         (8, 0.77))
        self.mine.log.RetractEvent(event_service.RetractEventRequest(event_id=last.id, reason="wrong"))
        self.assertEqual((self.rules()[0].learned_from_feedback_count, self.rules()[0].accuracy_on_validation),
                         (7, 0.75))
        self.assertEqual(recount.check(self.mine), [])

    def test_missing_members_have_defaults(self):
        self.load_rules(rule("a"), rule("b", "FALSE_POSITIVE", enabled=None, created_at="2026-01-01 10:00"),
                        rule("c", "LEARNED_RULE_TYPE_FALSE_NEGATIVE", action="INCREASE_WEIGHT", state="shadow"))
        found = [(one.pattern, one.confidence_adjustment, one.learned_from_feedback_count, one.accuracy_on_validation,
                  one.enabled, one.auto_learned, one.state, one.HasField("source_rule_id")) for one in self.rules()]
        self.assertEqual(found, [("a", 0, 1, 0.5, True, True, artifact.ARTIFACT_STATE_ACTIVE, False),
                                 ("b", 0, 1, 0.5, True, True, artifact.ARTIFACT_STATE_ACTIVE, False),
                                 ("c", 0, 1, 0.5, True, True, artifact.ARTIFACT_STATE_SHADOW, False)])
        self.assertEqual(recount.check(self.mine), [])

    def test_replace_retires_the_other_rules(self):
        self.submit(FAKE, FAKE, missed_indicators=["a", "b"])
        self.mine.learning.ProposeArtifact(learning.ProposeArtifactRequest(learned_rule=learning.ProposedRule(
            rule_type=MISSED_INDICATOR, pattern="c"), reason="seen"))
        before = self.rules()
        fields = {"confidence_adjustment": 0.04}
        dry = self.load_rules(rule("a", **fields), rule("d", **fields), replace=True, dry_run=True)
        self.assertEqual(self.rules(), before)
        reply = self.load_rules(rule("a", **fields), rule("d", **fields), replace=True)
        self.assertEqual([(one.effect, one.rule.pattern, one.rule.state) for one in reply.changes],
                         [(CREATED, "d", artifact.ARTIFACT_STATE_ACTIVE),
                          (RETIRED, "b", artifact.ARTIFACT_STATE_RETIRED),
                          (RETIRED, "c", artifact.ARTIFACT_STATE_REJECTED)])
        self.assertEqual([(one.effect, one.rule.pattern, one.rule.state, one.previous) for one in dry.changes],
                         [(one.effect, one.rule.pattern, one.rule.state, one.previous) for one in reply.changes])
        self.assertEqual((reply.created_count, reply.updated_count, reply.retired_count, reply.unchanged_count),
                         (1, 0, 2, 1))
        self.assertEqual(self.score("a", "b", "c", "d"), 0.58)
        self.submit(FAKE, FAKE, missed_indicators=["b"])
        self.assertEqual(self.rules(pattern="b")[0].state, artifact.ARTIFACT_STATE_RETIRED)
        self.assertEqual(recount.check(self.mine), [])

    def test_every_mistake_is_named_and_nothing_is_stored(self):
        self.submit(FAKE, FAKE, missed_indicators=["font"])
        newest, before = self.newest_seq(), self.export()
        bad = [(rule("ok", confidence_adjustment=0.1), None),
               (rule("x", confidence_adjustment=1.5), "confidence_adjustment"),
               (rule("x1", confidence_adjustment=-0.5), "confidence_adjustment"),
               (rule("x2", "false_positive", confidence_adjustment=0.5), "confidence_adjustment"),
               (rule("x3", accuracy_on_validation=-0.1), "accuracy_on_validation"),
               (rule("x4", accuracy_on_validation="0.5"), "accuracy_on_validation"),
               (rule("x5", "strange"), "rule_type"), ({"pattern": "x6"}, "rule_type"),
               ({"rule_type": "missed_indicator"}, "pattern"), (rule(""), "pattern"), (rule("x" * 257), "pattern"),
               (rule("nul \0"), "pattern"), (rule("x7", rule_id="1"), "rule_id"),
               (rule("x8", source_rule_id="00000000-0000-0000-0000-000000000000"), "source_rule_id"),
               (rule("x9", enabled=1), "enabled"), (rule("x10", auto_learned="yes"), "auto_learned"),
               (rule("x11", learned_from_feedback_count=-1), "learned_from_feedback_count"),
               (rule("x12", learned_from_feedback_count=1.5), "learned_from_feedback_count"),
               (rule("x13", action="decrease_weight"), "action"), (rule("x14", state="asleep"), "state"),
               (rule("x15", created_at=3), "created_at"), (rule("x16", confidence_adjustement=0.5), ""), (7, ""),
               (rule("ok"), "")]
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.load_rules(*[one for one, _ in bad]))
        wanted = {f"rules[{place}]{'.' if member else ''}{member}"
                  for place, (_, member) in enumerate(bad) if member is not None}
        self.assertEqual(set(bad_fields(error)), wanted)
        for text, field in (("[]", "document_json"), ("{", "document_json"), ("", "document_json"),
                            ("{}", "schema_version"), ('{"schema_version":2,"rules":[]}', "schema_version"),
                            ('{"schema_version":1}', "rules"), ('{"schema_version":1,"rules":{}}', "rules"),
                            ('{"schema_version":1,"rules":[],"more":1}', "document_json"),
                            ('{"schema_version":1,"rules":[],"rules":[]}', "document_json"),
                            (before[:-20], "document_json")):
            error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.load(text, replace=True))
            self.assertEqual(set(bad_fields(error)), {field}, text)
        many = {"schema_version": 1, "rules": [rule(str(n)) for n in range(20001)]}
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.load(many))
        self.assertEqual(list(bad_fields(error)), ["rules"])
        self.assertEqual((self.newest_seq(), self.export()), (newest, before))

    def test_events_have_their_author(self):
        self.submit(FAKE, FAKE, missed_indicators=["a"])
        first = self.newest_seq()
        token = self.admin.create_token(roles.ROLE_INTEGRATOR, org_id=self.org.id, user_id="ida")
        self.load_rules(rule("a"), rule("b"), client=self.server.client(token.secret))
        events = [self.mine.log.GetEvent(event_service.GetEventRequest(seq=seq)).event
                  for seq in range(first + 1, self.newest_seq() + 1)]
        events = [one for one in events if one.kind != event_log.EVENT_KIND_TOKEN_CREATED]
        self.assertEqual([(one.kind, one.actor_user_id) for one in events], [
            (event_log.EVENT_KIND_LEARNED_RULE_IMPORTED, "ida"), (event_log.EVENT_KIND_LEARNED_RULE_CREATED, "ida")])
        self.assertTrue(events[1].learned_rule_created.imported)
        self.assertEqual([one.subjects[0].id for one in events], [one.id for one in self.rules()])

    def test_past_scores_have_the_values_of_each_import(self):
        seqs = []
        for adjustment in (0.1, 0.2, 0.3):
            self.load_rules(rule("a", confidence_adjustment=adjustment))
            seqs.append(self.newest_seq())
        scores = [self.mine.verdicts.ScoreDocument(verdict_service.ScoreDocumentRequest(
            score=0.5, indicators=["a"], document_profile=verdicts.DocumentProfile(confidence=1),
            as_of_seq=seq)).score for seq in seqs]
        self.assertEqual([round(score, 9) for score in scores], [0.6, 0.7, 0.8])

    def test_repeat_with_a_key_gives_the_first_answer(self):
        first = self.load_rules(rule("a"), rule("b"), key="once")
        self.submit(FAKE, FAKE, missed_indicators=["a"])
        newest = self.newest_seq()
        self.assertEqual(self.load_rules(rule("a"), rule("b"), key="once"), first)
        self.assertEqual(self.newest_seq(), newest)

    def test_twenty_thousand_rules_are_imported_at_once(self):
        document = {"schema_version": 1, "rules": [rule(f"text:phrase number {n}", confidence_adjustment=0.01)
                                                   for n in range(20000)]}
        reply = self.load(document)
        self.assertEqual((reply.created_count, reply.incomplete), (20000, True))
        self.assertGreater(len(reply.changes), 5000)
        text = self.export()
        self.assertEqual(len(json.loads(text)["rules"]), 20000)
        self.assertEqual(self.load(text, replace=True).unchanged_count, 20000)

    def test_command_imports_what_it_exported(self):
        text = self.learn()
        org, other = self.new_org(self.org.name + "-2")
        (self.folder / "rules.json").write_text(text)
        (self.folder / "other.token").write_text(
            self.admin.create_token(roles.ROLE_INTEGRATOR, org_id=org.id).secret)
        words = "rules", "import", "rules.json", "--token-file", "other.token"
        printed, said = self.run_cli(*words, "--dry-run")
        self.assertIn("CREATED MISSED_INDICATOR font: +0.04 enabled\n", printed)
        self.assertIn(f"created {len(self.rules())}, updated 0, retired 0, unchanged 0", said)
        self.assertEqual(self.rules(other), [])
        again, said = self.run_cli(*words)
        self.assertEqual(again, printed)
        self.assertEqual(masked(self.export(other)), masked(text))
        (self.folder / "bad.json").write_text(text.replace('"confidence_adjustment":0.04', '"confidence_adjustment":4'))
        said = self.run_cli("rules", "import", "bad.json", "--token-file", "other.token", code=1)[1]
        self.assertIn("].confidence_adjustment", said)


class Labels(FileCase):
    def labels(self, **fields):
        """The lines of all submissions, and the last position."""
        replies = list(self.mine.verdicts.ExportLabels(verdict_service.ExportLabelsRequest(**fields)))
        text = "".join(reply.lines for reply in replies)
        self.assertTrue(text == "" or text.endswith("\n"))
        return [json.loads(line) for line in text.splitlines()], replies[-1].next_seq

    def test_every_submission_is_a_line(self):
        features = '{"total": 12.50,\n "name": "a \\" b\\\\", "list": [1, 2]}'
        made = [self.submit(FAKE, REAL, receipt_id="r1", original_features_json=features,
                            corrections={"total": "12\n50", "é": ""}).submission,
                self.submit(REAL, FAKE, receipt_id='r "2"', missed_indicators=["font"]).submission,
                self.submit(REAL, SUSPICIOUS, receipt_id="r3").submission,
                self.submit(REAL, REAL, receipt_id="r4", corrections={"date": "1"}).submission]
        self.mine.log.RetractEvent(event_service.RetractEventRequest(event_id=made[2].id, reason="wrong"))
        wanted = [{"receipt_id": "r1", "correct_verdict": "real", "features": json.loads(features),
                   "corrections": {"total": "12\n50", "é": ""}, "timestamp": made[0].created_at.ToJsonString()},
                  {"receipt_id": 'r "2"', "correct_verdict": "fake", "features": None, "corrections": {},
                   "timestamp": made[1].created_at.ToJsonString()},
                  {"receipt_id": "r4", "correct_verdict": "real", "features": None, "corrections": {"date": "1"},
                   "timestamp": made[3].created_at.ToJsonString()}]
        lines, next_seq = self.labels()
        self.assertEqual(lines, wanted)
        self.assertEqual([list(one) for one in lines], [list(wanted[0])] * 3)
        self.assertEqual(next_seq, self.newest_seq() + 1)
        self.assertEqual(self.labels(only_corrected=True)[0], [wanted[0], wanted[2]])
        self.assertEqual(self.labels(from_seq=next_seq), ([], next_seq))
        self.assertEqual(self.labels(from_seq=next_seq + 5), ([], next_seq))
        last = self.submit(FAKE, FAKE, receipt_id="r5").submission
        self.assertEqual([one["receipt_id"] for one in self.labels(from_seq=next_seq)[0]], ["r5"])
        self.assertEqual(self.labels()[0][3]["timestamp"], last.created_at.ToJsonString())

    def test_export_continues_where_a_reader_stopped(self):
        """A reader that stops after each response, and continues from its position, gets each line once."""
        for n in range(40):
            self.submit(FAKE, FAKE, receipt_id=f"r{n}",
                        original_features_json=json.dumps({"padding": "x" * 20000, "n": n}))
        whole = self.labels()[0]
        found, position, replies = [], 0, 0
        while position <= self.newest_seq():
            stream = self.mine.verdicts.ExportLabels(verdict_service.ExportLabelsRequest(from_seq=position))
            reply = next(stream)
            stream.cancel()
            self.assertLess(len(reply.lines), 100000)
            found += [json.loads(line) for line in reply.lines.splitlines()]
            position, replies = reply.next_seq, replies + 1
        self.assertEqual(found, whole)
        self.assertEqual(len(whole), 40)
        self.assertGreater(replies, 5)

    def test_command_prints_the_lines(self):
        for n in range(3):
            self.submit(FAKE, FAKE, receipt_id=f"r{n}", corrections={"total": str(n)} if n else {})
        (self.folder / "labels.token").write_text(
            self.admin.create_token(roles.ROLE_INTEGRATOR, org_id=self.org.id).secret)
        next_seq = self.newest_seq() + 1
        printed, said = self.run_cli("labels", "export", "--only-corrected", "--token-file", "labels.token")
        self.assertEqual([json.loads(line)["receipt_id"] for line in printed.splitlines()], ["r1", "r2"])
        self.assertIn(f"--from-seq {next_seq}", said)


class Backtests(FileCase):
    def backtest(self, client=None, **fields):
        """The report, and the messages before it."""
        replies = list((client or self.mine).learning.Backtest(learning.BacktestRequest(**fields)))
        self.assertEqual([one.WhichOneof("result") for one in replies], ["progress"] * (len(replies) - 1) + ["report"])
        return replies[-1].report, replies[:-1]

    def candidate(self, pattern, adjustment, rule_type=MISSED_INDICATOR, **fields):
        return self.backtest(candidate=learning.ProposedRule(
            rule_type=rule_type, pattern=pattern, confidence_adjustment=adjustment), **fields)[0]

    @staticmethod
    def counts(one):
        return (one.hit_count, one.agreement_count, one.false_alarm_count, one.right_flip_count, one.wrong_flip_count,
                one.other_flip_count)

    def submit_history(self):
        """Submissions whose counts are known for a rule of the indicator `font` that adds 0.2."""
        def add(score, correct, who, **fields):
            fields.setdefault("confirmed_indicators", ["font"])
            return self.submit(REAL, correct, original_score=score, actor_user_id=who, **fields)
        add(0.45, FAKE, "ann")  # SUSPICIOUS -> FAKE: right
        add(0.2, FAKE, "ann")  # REAL -> SUSPICIOUS: neither
        add(0.1, FAKE, "bob")  # unchanged REAL
        add(0.3, REAL, "bob")  # REAL -> SUSPICIOUS: wrong, false alarm
        add(0.36, SUSPICIOUS, "ann", confirmed_indicators=[], rejected_indicators=["font"])  # right, no direction
        add(0.45, FAKE, "ann", confirmed_indicators=[], missed_indicators=["font"])  # the indicator was absent
        add(0.45, FAKE, "ann", confirmed_indicators=["other"])
        retracted = add(0.45, FAKE, "ann").submission
        self.mine.log.RetractEvent(event_service.RetractEventRequest(event_id=retracted.id, reason="wrong"))

    def test_report_counts_hits_agreements_and_flips(self):
        self.submit_history()
        newest = self.newest_seq()
        report = self.candidate("font", 0.2)
        self.assertEqual((report.submission_count, report.not_evaluable_count, report.suppressed_count), (7, 0, 0))
        self.assertEqual(self.counts(report.total), (5, 3, 1, 2, 1, 1))
        self.assertEqual([(one.actor_user_id, self.counts(one.counts)) for one in report.reviewers],
                         [("ann", (3, 2, 0, 2, 0, 1)), ("bob", (2, 1, 1, 0, 1, 0))])
        self.assertEqual((report.suspicious_at, report.fake_at, report.as_of_seq, report.note, report.incomplete),
                         (0.4, 0.6, newest, "", False))
        self.assertFalse(report.HasField("other_reviewers"))
        self.assertEqual(self.newest_seq(), newest)
        # A rule that lowers scores has the other direction.
        report = self.candidate("font", -0.1, learned_rule.LEARNED_RULE_TYPE_FALSE_POSITIVE)
        self.assertEqual(self.counts(report.total), (5, 1, 3, 0, 0, 1))
        # Only the newest submissions.
        report = self.candidate("font", 0.2, max_submissions=3)
        self.assertEqual((report.submission_count, report.total.hit_count, report.incomplete), (3, 1, True))
        self.assertFalse(self.candidate("font", 0.2, max_submissions=7).incomplete)

    def test_a_score_at_a_threshold_has_its_verdict(self):
        for score in (0.36, 0.56, 0.3599):
            self.submit(REAL, FAKE, original_score=score, confirmed_indicators=["font"])
        self.assertEqual(self.counts(self.candidate("font", 0.04).total), (3, 3, 0, 1, 0, 1))
        # The thresholds are the organisation's: with them 0.56 and 0.6 have the same verdict, and so have
        # 0.36 and 0.4.
        self.mine.update_settings(suspicious_at=0.2, fake_at=0.5)
        report = self.candidate("font", 0.04)
        self.assertEqual((report.suspicious_at, report.fake_at, self.counts(report.total)),
                         (0.2, 0.5, (3, 3, 0, 0, 0, 0)))

    def test_stored_rule_without_a_flip_says_why(self):
        rule = self.submit(REAL, FAKE, original_score=0.1, missed_indicators=["font"]).submission.rule_changes[0].rule
        report = self.backtest(rule_id=rule.id)[0]
        self.assertEqual((report.pattern, report.confidence_adjustment, report.note),
                         ("font", 0.05, "the rule fired on no submission"))
        self.submit(REAL, FAKE, original_score=0.1, confirmed_indicators=["font"])
        report = self.backtest(rule_id=rule.id)[0]
        self.assertEqual(self.counts(report.total), (1, 1, 0, 0, 0, 0))
        self.assertIn("adds +0.05", report.note)

    def test_gates_and_patterns_act_as_in_a_score(self):
        """Each submission stores what ScoreDocument gets; inputs that are absent leave the gates open."""
        profile = verdicts.DocumentProfile
        pos = profile(confidence=0.9, subtype="POS_RECEIPT")
        self.submit(REAL, FAKE, original_score=0.35, original_features_json='{"total": 120, "layout": true}',
                    document_profile=pos, text="Gift CARD", missing_fields_enabled=False)
        self.submit(REAL, FAKE, original_score=0.35, original_features_json='{"total": 120, "layout": true}',
                    confirmed_indicators=["missing_elements"])
        self.submit(REAL, FAKE, original_score=0.35, original_features_json='{"total": 20, "layout": ""}',
                    document_profile=profile(confidence=0.5), text="nothing",
                    confirmed_indicators=["missing_elements"], missing_fields_enabled=False)
        for pattern, wanted in (("total>100", (2, 0, 0)), ("total=20", (1, 0, 0)), ("layout", (1, 1, 0)),
                                ("missing_elements", (1, 1, 0)), ("text:gift card", (1, 0, 1)), ("total", (3, 0, 0))):
            report = self.candidate(pattern, 0.06)
            self.assertEqual((report.total.hit_count, report.suppressed_count, report.not_evaluable_count), wanted,
                             pattern)
        # The adjustment is reduced to 0.039 if the confidence is low, so there is no flip.
        self.assertEqual(self.candidate("total", 0.06).total.other_flip_count, 2)

    def test_mistakes_are_named(self):
        proposed = learning.ProposedRule
        for fields, code, named in (
                ({}, grpc.StatusCode.INVALID_ARGUMENT, "subject"),
                ({"candidate": proposed(rule_type=MISSED_INDICATOR, pattern="x", confidence_adjustment=-0.1)},
                 grpc.StatusCode.INVALID_ARGUMENT, "candidate.confidence_adjustment"),
                ({"candidate": proposed(rule_type=MISSED_INDICATOR)}, grpc.StatusCode.INVALID_ARGUMENT,
                 "candidate.pattern"),
                ({"rule_id": "0192f0c0-1111-7222-8333-444455556666"}, grpc.StatusCode.NOT_FOUND, "rule_id")):
            error = self.assert_code(code, lambda: self.backtest(**fields))
            self.assertIn(named, error.details() + str(bad_fields(error)))

    def test_command_prints_the_report(self):
        self.submit_history()
        (self.folder / "test.token").write_text(
            self.admin.create_token(roles.ROLE_REVIEWER, org_id=self.org.id, user_id="ann").secret)
        printed, said = self.run_cli("rules", "backtest", "--pattern", "font", "--type", "missed_indicator",
                                     "--adjustment", "0.2", "--token-file", "test.token")
        self.assertRegex(printed, r"\nall +5 +3 +1 +2 +1 +1\n")
        self.assertRegex(printed, r"\nbob +2 ")
        printed, said = self.run_cli("rules", "backtest", self.rules()[0].id, "--token-file", "test.token")
        self.assertIn("font", printed)
        self.run_cli("rules", "backtest", "--token-file", "test.token", code=2)


if __name__ == "__main__":
    main()
