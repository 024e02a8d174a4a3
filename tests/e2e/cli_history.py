#!/usr/bin/python3
"""Imports of other tools' history: mapped as documented, stored once, completely or not at all.

Goal: each documented form of each tool's export is mapped as in tools/IMPORTS.md, in any order and for any number
of imports, and missing data is reported. Method: samples made after the tools' documented formats
(tests/data/imports), imported into organisations of one server.
"""
import json
import pathlib
import re
import signal
import subprocess
import uuid

from errata_cli import ERRATA, CliCase
from erratad import ROOT, main, wait_until

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "data" / "imports"
MAP = {"corrections.csv": ("doc=subject", "was=before", "is=after", "who=actor", "when=at", "note=notes"),
       "verdicts.csv": ("receipt=subject", "model=original_verdict", "person=correct_verdict",
                        "score=original_score", "missed=missed"),
       "rules.csv": ("kind=rule_type", "pattern=pattern", "weight=adjustment", "why=notes"),
       "guidelines.csv": ("agents=agents", "rule=rule"),
       "decisions.csv": ("key=id", "stage=gate", "epic=epic", "task=task", "agent=agent", "verdict=decision",
                         "reviewer=actor", "when=at", "took=seconds", "labels=tags", "comment=notes", "short=summary",
                         "patch=diff"),
       "outcomes.jsonl": ("run.id=subject", "metric=metric", "value=value", "by=actor")}


def samples(source, *names):
    return [str(SAMPLES / source / name) for name in names]


def mapped(name):
    return [*samples("csv", name), *(word for pair in MAP[name] for word in ("--map", pair))]


class HistoryCase(CliCase):
    def org(self):
        """Creates an organisation; returns its environment."""
        name = "h" + uuid.uuid4().hex[:12]
        out, _ = self.run_cli("org", "create", name, "--json")
        organization = json.loads(out)["organization"]["id"]
        out, _ = self.run_cli("token", "create", "--org", organization, "--role", "ADMIN", "--json")
        path = self.folder / f"{name}.token"
        path.write_text(json.loads(out)["secret"])
        return self.here(ERRATA_TOKEN_FILE=str(path))

    def imported(self, org, source, *words, code=0):
        out, said = self.run_cli("import", source, *words, "--json", code=code, environment=org)
        return json.loads(out.splitlines()[-1]) if out else {}, said

    def rows(self, org, method, member, request=None):
        """All rows of a list."""
        found, token = [], ""
        while True:
            out, _ = self.run_cli("call", "errata.v1." + method,
                                  json.dumps((request or {}) | {"page_size": 1000, "page_token": token}), environment=org)
            reply = json.loads(out)
            found += reply.get(member, [])
            token = reply.get("nextPageToken", "")
            if not token:
                return found

    def corrections(self, org):
        return self.rows(org, "FeedbackService/ListFeedbackEvents", "events")

    def reviews(self, org):
        return self.rows(org, "ReviewService/ListReviews", "reviews")

    def pairs(self, org):
        """(entity type, before, after) of each correction."""
        def short(text):
            return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False) if text else ""
        return sorted((e["entityType"], short(e.get("beforeJson")), short(e["afterJson"])) for e in self.corrections(org))

    def outcomes(self, org):
        """(state without the record's id, decision) of each review."""
        return sorted((r["state"].rsplit(":", 1)[0], r["decision"].replace("REVIEW_DECISION_", ""))
                      for r in self.reviews(org))

    def count(self, report, kind):
        return sum(line["count"] for line in report["mapped"] if line["kind"] == kind)

    def reasons(self, report):
        return {line["reason"]: line["count"] for line in report["skipped"]}


class TensorZero(HistoryCase):
    ALL = ("demonstration_feedback.jsonl", "chat_inference.jsonl", "json_inference.jsonl", "metric_feedback.jsonl",
           "gateway_feedback.jsonl", "dicl_example.jsonl")

    def test_every_table_is_mapped(self):
        org = self.org()
        report, _ = self.imported(org, "tensorzero", *samples("tensorzero", *self.ALL), "--good-from", "helpfulness=0.5")
        self.assertEqual((report["created"], report["repeated"], report["refused"]), (13, 0, 0))
        self.assertEqual(self.pairs(org), [
            ("tensorzero.demonstration", "", '{"text":"It is unknown what this replaced."}'),
            ("tensorzero.demonstration", '{"qty":10}', '{"qty":12}'),
            ("tensorzero.demonstration", '{"text":"7 pieces"}', '{"qty":7}'),
            ("tensorzero.demonstration", '{"text":"We open at 8."}', '{"text":"We open at 9."}'),
            ("tensorzero.example", "", '{"qty":3}')])
        self.assertEqual(self.outcomes(org), sorted([
            ("tensorzero:comment", "CHANGES_REQUESTED")] * 2 + [
            ("tensorzero:demonstration", "REVIEWED"), ("tensorzero:metric", "REJECTED"),
            ("tensorzero:metric", "REJECTED"), ("tensorzero:metric", "REVIEWED"), ("tensorzero:metric", "REVIEWED"),
            ("tensorzero:metric", "REVIEWED")]))

    def test_split_tables_of_postgres_are_joined(self):
        """Outputs in a table of their own complete corrections; a function's name comes from rows that have both."""
        org = self.org()
        report, _ = self.imported(org, "tensorzero", *samples("tensorzero", "postgres_demonstrations.jsonl", "postgres_inferences.jsonl"))
        self.assertEqual(self.pairs(org), [("tensorzero.demonstration", '{"qty":4}', '{"qty":5}'),
                                           ("tensorzero.demonstration", '{"qty":6}', '{"qty":7}'),
                                           ("tensorzero.demonstration", '{"text":"At 8."}', '{"text":"At 9."}')])
        self.assertEqual(sorted(e["layoutFingerprint"] for e in self.corrections(org)),
                         ["tensorzero", "tensorzero", "tensorzero:extract_order"])
        self.assertEqual(self.reasons(report), {"an inference whose output is in another table": 1})

    def test_times_layouts_and_annotators_are_kept(self):
        org = self.org()
        self.imported(org, "tensorzero", *samples("tensorzero", *self.ALL))
        event = next(e for e in self.corrections(org) if e["afterJson"] == '{"text":"We open at 9."}')
        self.assertEqual(event["createdAt"], "2025-01-01T00:01:00Z")  # inside the UUID
        self.assertEqual(event["layoutFingerprint"], "tensorzero:answer_mail")
        self.assertEqual(event["annotatorKind"], "ANNOTATOR_KIND_HUMAN")
        self.assertIn("When do you open?", json.loads(event["metaJson"])["input_snippet"])
        self.assertTrue(json.loads(event["metaJson"])["source_ref"].startswith("tensorzero:demonstration:01941f2a-"))
        self.assertTrue(event["isExample"])
        kinds = {r["state"].rsplit("-", 1)[1]: r.get("annotatorKind") for r in self.reviews(org)}
        self.assertEqual(kinds["00000000001f"], "ANNOTATOR_KIND_HUMAN")
        self.assertEqual(kinds["00000000001e"], "ANNOTATOR_KIND_CODE")
        listed = self.rows(org, "EventService/ListEvents", "events")
        self.assertEqual({e["source"] for e in listed if e["kind"] in ("EVENT_KIND_FEEDBACK", "EVENT_KIND_REVIEW_SUBMITTED")},
                         {"EVENT_SOURCE_BACKFILL"})

    def test_a_repeat_changes_nothing_in_any_order(self):
        org = self.org()
        files = samples("tensorzero", *self.ALL)
        self.imported(org, "tensorzero", *files)
        before = (self.corrections(org), self.reviews(org))
        report, _ = self.imported(org, "tensorzero", *reversed(files))
        self.assertEqual((report["created"], report["repeated"]), (0, 11))
        self.assertEqual((self.corrections(org), self.reviews(org)), before)

    def test_dry_run_stores_nothing_and_names_what_is_missing(self):
        out, said = self.run_cli("import", "tensorzero", *samples("tensorzero", "demonstration_feedback.jsonl"), "--dry-run",
                                 environment=self.environment())
        self.assertIn("nothing was sent", said)
        self.assertRegex(out, r"before missing +4 .*demonstration_feedback.jsonl:1 01941f2a-")
        self.assertIn("SELECT * FROM ChatInference FORMAT JSONEachRow", out)
        report, _ = self.imported(self.environment(), "tensorzero", *samples("tensorzero", "demonstration_feedback.jsonl"),
                                  "--join", *samples("tensorzero", "chat_inference.jsonl"),
                                  "--join", *samples("tensorzero", "json_inference.jsonl"), "--dry-run")
        self.assertEqual(report["before_missing"]["count"], 1)
        self.assertEqual(self.count(report, "corrections"), 3)

    def test_numbers_need_a_threshold(self):
        report, _ = self.imported(self.environment(), "tensorzero", *samples("tensorzero", "metric_feedback.jsonl"), "--dry-run")
        self.assertEqual(self.reasons(report), {"a number without a threshold (--good-from [METRIC=]NUMBER)": 2})
        report, _ = self.imported(self.environment(), "tensorzero", *samples("tensorzero", "metric_feedback.jsonl"), "--dry-run",
                                  "--good-from", "0.5")
        self.assertEqual(self.count(report, "reviews"), 5)


class Csv(HistoryCase):
    def test_rows_become_corrections_and_acceptances(self):
        org = self.org()
        report, _ = self.imported(org, "csv", *mapped("corrections.csv"), "--layout", "letters")
        self.assertEqual(report["created"], 3)
        self.assertEqual(self.pairs(org), [("csv.row", '{"qty":10}', '{"qty":12}'),
                                           ("csv.row", '{"text":"Berlin"}', '{"text":"München"}')])
        event = next(e for e in self.corrections(org) if e["documentId"] == "d1")
        self.assertEqual((event["actorUserId"], event["createdAt"], event["layoutFingerprint"]),
                         ("ann", "2025-03-01T10:00:00Z", "letters"))
        self.assertEqual(json.loads(event["metaJson"])["notes"], "two lines\r\nof note")
        self.assertEqual([(r["runId"], r["decision"]) for r in self.reviews(org)],
                         [("d3", "REVIEW_DECISION_REVIEWED")])
        report, _ = self.imported(org, "csv", *mapped("corrections.csv"), "--layout", "letters")
        self.assertEqual((report["created"], report["repeated"]), (0, 3))

    def test_verdicts_rules_and_guidelines_are_imported(self):
        org = self.org()
        report, said = self.imported(org, "csv", *mapped("verdicts.csv"), code=2)
        self.assertEqual((report["created"], report["damaged"]["count"]), (2, 1))
        self.assertRegex(said, r"verdicts.csv line 4: .*correct_verdict")
        report, _ = self.imported(org, "csv", *mapped("rules.csv"))
        self.assertEqual(report["created"], 1)
        report, _ = self.imported(org, "csv", *mapped("guidelines.csv"))
        self.assertEqual(report["created"], 1)
        rules = {r["pattern"]: r for r in self.rows(org, "VerdictService/ListLearnedRules", "rules")}
        self.assertEqual(rules["font_mismatch_2"]["state"], "ARTIFACT_STATE_PROPOSED")
        self.assertEqual(self.rows(org, "GuidelineService/ListActiveGuidelines", "guidelines", {"agent_name": "writer"}), [])
        proposals = self.rows(org, "GuidelineService/ListPendingProposals", "proposals")
        self.assertEqual([(p["affectedAgents"], p["ruleContent"]) for p in proposals],
                         [(["writer", "checker"], "Give all prices in euros.")])
        for name, count in (("verdicts.csv", 2), ("rules.csv", 1), ("guidelines.csv", 1)):
            report, _ = self.imported(org, "csv", *mapped(name), code=2 if name == "verdicts.csv" else 0)
            self.assertEqual((name, report["created"], report["repeated"]), (name, 0, count))

    def test_decisions_keep_their_ids_and_times(self):
        """Decisions are stored whole, with the times at which they were made; an id that exists is not stored again."""
        org = self.org()
        report, said = self.imported(org, "csv", *mapped("decisions.csv"), code=2)
        self.assertEqual((report["created"], report["damaged"]["count"]), (2, 1))
        self.assertRegex(said, r"decisions.csv line 8: .*decision")
        stored = self.rows(org, "DecisionService/ListDecisions", "decisions")
        self.assertEqual([(d["decisionId"], d["gateId"], d["agentName"], d["decision"], d["reviewerId"], d["createdAt"],
                           d["reviewDurationSeconds"]) for d in stored],
                         [("dec-2", "HITL-1", "writer", "DECISION_OUTCOME_APPROVED_WITH_CHANGES", "bob",
                           "2025-03-02T10:00:00Z", 300),
                          ("dec-1", "HITL-1", "writer", "DECISION_OUTCOME_APPROVED", "ann", "2025-03-01T10:00:00Z", 95)])
        self.assertEqual((stored[0]["correctionDiff"].splitlines()[-1], stored[0]["changedLines"]), ("+5 EUR", 1))
        self.assertEqual(stored[1]["tags"], ["skill:prices", "style"])
        report, _ = self.imported(org, "csv", *mapped("decisions.csv"), code=2)
        self.assertEqual((report["created"], report["repeated"]), (0, 2))

    def test_labels_mean_what_the_command_says(self):
        words = [*mapped("outcomes.jsonl"), "--dry-run"]
        report, _ = self.imported(self.environment(), "csv", *words)
        self.assertEqual(self.count(report, "reviews"), 1)
        report, _ = self.imported(self.environment(), "csv", *words, "--bad-label", "meh", "--good-from", "score=0.5")
        self.assertEqual(self.count(report, "reviews"), 3)

    def test_wrong_options_are_explained(self):
        for words, said in ((("nothing", "f"), 'SOURCE "nothing": unknown; expected one of: tensorzero'),
                            (("csv", *samples("csv", "rules.csv")), "csv: the columns are unknown"),
                            (("csv", *samples("csv", "rules.csv"), "--map", "a=b"), '--map "a=b": unknown field'),
                            (("tensorzero", *samples("csv", "rules.csv"), "--map", "a=id"), "--map: only for the source csv"),
                            (("csv", *samples("csv", "rules.csv"), "--map", "a=id", "--good-from", "x"), "invalid number")):
            self.assertIn(said, self.run_cli("import", *words, code=2)[1])


class Tools(HistoryCase):
    """For each tool's documented forms, the stored, omitted and missing data."""

    def check(self, source, files, words=(), code=0, pairs=(), outcomes=(), skipped=None, losses=()):
        org = self.org()
        report, said = self.imported(org, source, *samples(source, *files), *words, code=code)
        self.assertEqual(self.pairs(org), sorted(pairs))
        self.assertEqual(self.outcomes(org), sorted(outcomes))
        self.assertEqual(self.reasons(report), skipped or {})
        found = [loss["command"] for loss in report["losses"]]
        self.assertEqual(len(found), len(losses), found)
        for command, part in zip(found, losses):
            self.assertIn(part, command)
        again, _ = self.imported(org, source, *samples(source, *reversed(files)), *words, code=code)
        self.assertEqual((again["created"], again["repeated"]), (0, len(pairs) + len(outcomes)))
        return org, said

    def test_langfuse_corrections_join_traces_and_observations(self):
        org, _ = self.check(
            "langfuse", ("scores_v3.json", "scores_v2.json", "observations.json", "observations_v2.json", "traces.jsonl"), pairs=[
                ("langfuse.correction", '{"text":"We open at 8."}', '{"text":"We open at 9."}'),
                ("langfuse.correction", '{"qty":10}', '{"qty":12}'),
                ("langfuse.correction", '{"text":"as it was"}', '{"text":"corrected by version 2"}'),
                ("langfuse.correction", "", '{"text":"not in these files"}')],
            outcomes=[("langfuse:score", "REJECTED")],
            skipped={"a correction without a corrected value": 1, "a trace or observation without an output": 1},
            losses=["/api/public/traces?limit=100&page=1&fields=core,io"])
        event = next(e for e in self.corrections(org) if "12" in e["afterJson"])
        self.assertEqual((event["documentId"], event["actorUserId"], event["createdAt"], event["layoutFingerprint"]),
                         ("tr-2", "ben", "2025-04-02T10:00:00Z", "langfuse:extract_order"))

    def test_langfuse_root_observations_have_the_outputs_of_traces(self):
        org, _ = self.check(
            "langfuse", ("scores_v3_corrections.json", "observations_v2.json", "blob_events.jsonl"), pairs=[
                ("langfuse.correction", '{"text":"We open at 8."}', '{"text":"We open at 9."}'),
                ("langfuse.correction", '{"text":"opening hours"}', '{"text":"opening hours of Monday"}'),
                ("langfuse.correction", '{"qty":10}', '{"qty":12}')])
        self.assertEqual({e["layoutFingerprint"] for e in self.corrections(org)},
                         {"langfuse:answer_mail", "langfuse:look_up", "langfuse:extract_order"})

    def test_langfuse_exports_are_outcomes_and_lack_corrections(self):
        self.check("langfuse", ("scores_export.csv", "scores_export.jsonl", "blob_scores.jsonl", "blob_observations.jsonl"),
                   ("--good-from", "0.5"),
                   outcomes=[("langfuse:score", "REVIEWED")] * 3 + [("langfuse:score", "REJECTED")],
                   losses=["/api/public/v3/scores?dataType=CORRECTION&fields=details,subject,annotation"])

    def test_langfuse_scores_and_dataset_items_are_imported(self):
        org, _ = self.check(
            "langfuse", ("scores_v3_other.json", "dataset_items.json", "traces.jsonl"), ("--good-from", "quality=0.5", "--bad-label", "rude"),
            pairs=[("langfuse.dataset_item", '{"qty":10}', '{"qty":7}'), ("langfuse.dataset_item", "", '{"qty":8}')],
            outcomes=[("langfuse:score", "REVIEWED"), ("langfuse:score", "REVIEWED"), ("langfuse:score", "REJECTED"),
                      ("langfuse:score", "CHANGES_REQUESTED")],
            skipped={"a dataset item without an expected output": 1, "a trace or observation without an output": 1})
        kinds = {r["state"]: r["annotatorKind"] for r in self.reviews(org)}
        self.assertEqual((kinds["langfuse:score:s1"], kinds["langfuse:score:s2"]), ("ANNOTATOR_KIND_HUMAN", "ANNOTATOR_KIND_LLM"))

    def test_langsmith_feedback_joins_runs(self):
        self.check("langsmith", ("feedback.jsonl", "runs.jsonl", "bulk_export.jsonl"), ("--good-from", "0.5"),
                   pairs=[("langsmith.feedback", '{"answer":"8"}', '{"answer":"9"}'),
                          ("langsmith.feedback", '{"output":"The red one."}', '{"text":"The blue one."}')],
                   outcomes=[("langsmith:feedback", "REVIEWED"), ("langsmith:score", "REJECTED"), ("langsmith:score", "REJECTED"),
                             ("langsmith:score", "REVIEWED"), ("langsmith:score", "CHANGES_REQUESTED")],
                   skipped={"a run without outputs": 1, "feedback without a run": 1}, losses=["list_feedback"])
        report, _ = self.imported(self.environment(), "langsmith", *samples("langsmith", "feedback.jsonl"), "--dry-run")
        self.assertEqual(report["before_missing"]["count"], 3)
        self.assertIn("list_runs", report["losses"][0]["command"])

    def test_argilla_responses_keep_their_users(self):
        trusted = [("argilla.response", '{"label":"spam"}', '{"label":"ham"}')] * 2 + [("argilla.response", "", '{"rating":4}')]
        org, _ = self.check("argilla", ("nested.json",), ("--trust-status",), pairs=trusted,
                            outcomes=[("argilla:response", "REVIEWED")], skipped={"a record without responses": 1},
                            losses=["flatten=True"])
        self.assertEqual({e["actorUserId"] for e in self.corrections(org)}, {"u1", "u2"})
        self.check("argilla", ("nested.json",), skipped={"a record without responses": 1, "a response without a status (--trust-status)": 4},
                   losses=["flatten=True"])

    def test_argilla_flattened_records_are_imported(self):
        flat = ("argilla.response", '{"label":"spam"}', '{"label":"ham"}')
        self.check("argilla", ("flattened.json", "flattened.csv"),
                   pairs=[flat, flat, flat, ("argilla.response", '{"tags":["a"]}', '{"tags":["a","b"]}')],
                   outcomes=[("argilla:response", "REVIEWED")],
                   skipped={"a record without responses": 2, "a response that was not submitted": 3})

    def test_label_studio_annotations_and_predictions_are_imported(self):
        org, _ = self.check(
            "labelstudio", ("export.json",), pairs=[
                ("labelstudio.annotation", '{"sentiment":{"choices":["Negative"]}}', '{"sentiment":{"choices":["Positive"]}}'),
                ("labelstudio.annotation", '{"label.r1":{"start":0,"end":4,"labels":["Name"]}}',
                 '{"label.r1":{"start":0,"end":5,"labels":["Name"]},"label.r2":{"start":7,"end":9,"labels":["Date"]},"note":{"text":["ok"]}}'),
                ("labelstudio.annotation", "", '{"sentiment":{"choices":["Neutral"]}}')],
            outcomes=[("labelstudio:annotation", "REVIEWED")],
            skipped={"a cancelled annotation": 1, "a task without annotations": 1, "an annotation without regions": 1})
        self.assertEqual({e["actorUserId"] for e in self.corrections(org)}, {"ann@example.org", "9"})

    def test_label_studio_exports_without_predictions_are_reported(self):
        self.check("labelstudio", ("bare_predictions.json",), pairs=[
            ("labelstudio.annotation", "", '{"sentiment":{"choices":["Positive"]}}')], losses=['"predictions": {"only_id": false}'])
        _, said = self.check("labelstudio", ("json_min.json",), code=2)
        self.assertIn("json_min.json line 2: JSON_MIN, which has neither predictions nor regions; expected the export format JSON", said)

    def test_phoenix_annotations_are_outcomes(self):
        org, _ = self.check(
            "phoenix", ("span_annotations.json", "trace_annotations.json", "session_annotations.json", "annotations_dataframe.csv",
                        "evaluations.jsonl", "spans.json", "spans_dataframe.csv", "dataset.jsonl"), ("--bad-label", "hallucinated"),
            outcomes=[("phoenix:annotation", d) for d in ("REVIEWED", "REJECTED", "CHANGES_REQUESTED", "REJECTED", "REVIEWED",
                                                          "REJECTED", "REVIEWED")],
            skipped={"an outcome without a value": 1, "a span without an output": 1})
        reviews = {r["state"].rsplit(":", 1)[1]: r for r in self.reviews(org)}
        self.assertEqual(reviews["QToy"]["annotatorKind"], "ANNOTATOR_KIND_LLM")
        self.assertEqual(reviews["QTdf"]["annotatorKind"], "ANNOTATOR_KIND_CODE")
        self.assertEqual(reviews["QTox"]["subcategory"], "phoenix:answer_mail")

    def test_mlflow_assessments_of_both_versions_are_imported(self):
        org, _ = self.check(
            "mlflow", ("trace_3.json", "traces_2.jsonl", "traces_page.json"), pairs=[
                ("mlflow.expectation", '{"text":"We open at 8."}', '{"text":"We open at 9."}'),
                ("mlflow.expectation", '{"text":"We open at 8."}', '{"value":["nine","Monday"]}'),
                ("mlflow.expectation", '{"qty":10}', '{"qty":12}'),
                ("mlflow.expectation", "", '{"text":"unknown before"}')],
            outcomes=[("mlflow:assessment", "REJECTED")] * 3 + [("mlflow:assessment", "REVIEWED")],
            skipped={"an assessment that is no longer valid": 1, "an assessment that a newer one overrides": 1,
                     "an assessment that failed": 1},
            losses=["search_traces"])
        kinds = {r["state"].rsplit(":", 1)[1]: r["annotatorKind"] for r in self.reviews(org)}
        self.assertEqual((kinds["a-1"], kinds["a-5"], kinds["b-2"]),
                         ("ANNOTATOR_KIND_HUMAN", "ANNOTATOR_KIND_LLM", "ANNOTATOR_KIND_LLM"))

    def log(self, org):
        """All events of an organisation's log as sorted lines, without what differs between two organisations: numbers,
        digests, ids that the server made, times of recording and the token's name."""
        events = self.rows(org, "EventService/ListEvents", "events")
        own = {e["id"] for e in events} | {e["organizationCreated"]["orgId"] for e in events if "organizationCreated" in e}
        own = re.compile("|".join(sorted(own | {e["recordedAt"] for e in events} | {"token:[0-9a-f]{8}"})))
        lines = []
        for event in events:
            text = json.dumps({k: v for k, v in event.items() if not k.endswith("Sha256")}, sort_keys=True)
            lines.append(re.sub(r'"(\w*[sS]eq)": "\d+"', r'"\1": ""', own.sub("OWN", text)))
        return sorted(line for line in lines if not re.search("EVENT_KIND_(ORGANIZATION|TOKEN)_CREATED", line))

    def test_all_sources_in_any_order_give_the_same_store(self):
        """Each kind of record of each source, in two orders, and each twice: the same events are logged."""
        words = {"argilla": ("--trust-status",)}
        imports = [(source, sorted(map(str, (SAMPLES / source).iterdir())), words.get(source, ()), 2 if source == "labelstudio" else 0)
                   for source in ("tensorzero", "langfuse", "langsmith", "argilla", "labelstudio", "phoenix", "mlflow")]
        imports += [("csv", samples("csv", name), mapped(name)[1:], 2 if name in ("verdicts.csv", "decisions.csv") else 0)
                    for name in MAP]
        stores = []
        for order in (1, -1):
            org = self.org()
            for source, files, more, code in imports[::order]:
                self.imported(org, source, *files[::order], *more, "--good-from", "0.5", code=code)
            stores.append(self.log(org))
            for source, files, more, code in imports:
                report, _ = self.imported(org, source, *files, *more, "--good-from", "0.5", code=code)
                self.assertEqual((source, report["created"]), (source, 0))
            self.assertEqual(self.log(org), stores[-1])
        self.assertEqual(stores[0], stores[1])
        self.assertEqual(len([line for line in stores[0] if "EVENT_KIND_FEEDBACK" in line]), 36)
        for kind in ("REVIEW_SUBMITTED", "VERDICT_SUBMITTED", "LEARNED_RULE_CREATED", "PROPOSAL_CREATED", "DECISION_RECORDED"):
            self.assertIn(f"EVENT_KIND_{kind}", "".join(stores[0]))


class Exports(HistoryCase):
    def lines(self, org, *words):
        out, said = self.run_cli("export", *words, environment=org)
        return [json.loads(line) for line in out.splitlines()], said

    def capture(self, org, **event):
        event = {"event_type": "EXTRACTION_FIELD_CORRECTED", "layout_fingerprint": "inv", "annotator_kind": "HUMAN"} | event
        out, _ = self.run_cli("call", "errata.v1.FeedbackService/CaptureFeedbackEvent", json.dumps({"event": event}), environment=org)
        return json.loads(out)["event"]["id"]

    def filled(self):
        org = self.org()
        meta = json.dumps({"input_snippet": "12 pcs \u00e4", "more": [1, {"a": None}]})
        self.capture(org, before_json='{"qty":10}', after_json='{"qty":11}', entity_type="line", entity_id="1", document_id="d1",
                     created_at="2025-01-01T00:00:00.000001Z", actor_user_id="ann", meta_json=meta)
        self.capture(org, before_json='{"qty":11}', after_json='{"qty":12}', entity_type="line", entity_id="1", document_id="d1",
                     corrected_output_json='{"lines":[{"qty":12}]}', created_at="2025-01-02T00:00:00Z", actor_user_id="ben",
                     meta_json=meta, event_type="EXTRACTION_LINE_CORRECTED")
        self.capture(org, before_json='{\n "text" : "a \\n \\" \\\\"\n}', after_json='{"text":"b\\n\\u0001\\\"c"}', draft_order_id="o1",
                     created_at="2025-01-03T00:00:00Z", meta_json='{"input_snippet":"letter"}')
        self.capture(org, before_json='{"candidates":["x","y"]}', after_json='{"customer_id":"x"}', event_type="CUSTOMER_SELECTED",
                     created_at="2025-01-04T00:00:00Z", document_id="0af7651916cd43dd8448eb211c80319c")
        self.capture(org, after_json='{"qty":1}', annotator_kind="LLM", created_at="2025-01-05T00:00:00Z", meta_json='{"input_snippet":"s"}')
        taken_back = self.capture(org, after_json='{"qty":99}', created_at="2025-01-06T00:00:00Z")
        self.run_cli("corrections", "retract", taken_back, "--reason", "wrong", environment=org)
        return org

    def test_export_import_export_is_the_same_but_for_ids(self):
        org = self.filled()
        rows, said = self.lines(org, "jsonl")
        self.assertEqual(len(rows), 5)
        self.assertIn("1 left out: retracted", said)
        self.assertEqual(rows[3]["after_json"], {"qty": 12})
        self.assertEqual(rows[3]["event_type"], "EXTRACTION_LINE_CORRECTED")
        self.assertIsNone(rows[3]["draft_order_id"])
        self.assertEqual(rows[2]["before_json"], {"text": 'a \n " \\'})
        path = self.folder / "round.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        empty = self.org()
        report, _ = self.imported(empty, "errata", str(path))
        self.assertEqual(report["created"], 5)
        again, _ = self.lines(empty, "jsonl")
        for row in rows + again:
            self.assertTrue(row.pop("id"))
        self.assertEqual(again, rows)
        report, _ = self.imported(empty, "errata", str(path))
        self.assertEqual((report["created"], report["repeated"]), (0, 5))

    def exports(self, org):
        """The lines of each format, and the same without the ids of events."""
        found = {name: self.run_cli("export", name, environment=org)[0] for name in ("jsonl", "chat", "otlp")}
        own = re.compile("|".join(json.loads(line)["id"] for line in found["jsonl"].splitlines()))
        return found, {name: own.sub("ID", text).splitlines() for name, text in found.items()}

    def test_every_format_survives_the_round(self):
        """JSON lines carry all that the other formats are made of: corrections of every kind, and those of another tool."""
        org, empty = self.filled(), self.org()
        self.imported(org, "tensorzero", *samples("tensorzero", *TensorZero.ALL))
        files, exported = self.exports(org)
        path = self.folder / "formats.jsonl"
        path.write_text(files["jsonl"])
        self.assertEqual(self.imported(empty, "errata", str(path))[0]["created"], 10)
        self.assertEqual({name: len(lines) for name, lines in exported.items()}, {"jsonl": 10, "chat": 6, "otlp": 10})
        self.assertEqual(self.exports(empty)[1], exported)

    def test_chat_has_inputs_and_final_outputs(self):
        rows, said = self.lines(self.filled(), "chat", "--system", "Return JSON.")
        self.assertEqual(rows, [
            {"messages": [{"role": "system", "content": "Return JSON."}, {"role": "user", "content": "letter"},
                          {"role": "assistant", "content": 'b\n\x01"c'}]},
            {"messages": [{"role": "system", "content": "Return JSON."}, {"role": "user", "content": "12 pcs ä"},
                          {"role": "assistant", "content": '{"lines":[{"qty":12}]}'}]}])
        for reason in ("1 left out: corrected again later", "1 left out: not by a person",
                       "1 left out: not a correction of an output", "1 left out: retracted", "2 corrections exported"):
            self.assertIn(reason, said)

    def test_otlp_has_evaluation_results(self):
        rows, _ = self.lines(self.filled(), "otlp")
        records = [row["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0] for row in rows]
        self.assertEqual({r["eventName"] for r in records}, {"gen_ai.evaluation.result"})
        self.assertEqual([r.get("traceId") for r in records], [None, "0af7651916cd43dd8448eb211c80319c", None, None, None])
        record = records[4]
        self.assertEqual(record["timeUnixNano"], "1735689600000001000")
        values = {a["key"]: a["value"] for a in record["attributes"]}
        self.assertEqual(values["gen_ai.evaluation.name"], {"stringValue": "errata.correction"})
        self.assertEqual(values["gen_ai.evaluation.score.label"], {"stringValue": "corrected"})
        self.assertEqual(values["gen_ai.evaluation.score.value"], {"doubleValue": 0})
        self.assertEqual(values["gen_ai.evaluation.explanation"], {"stringValue": "changed: qty"})
        self.assertEqual(values["errata.after"], {"stringValue": '{"qty":11}'})
        self.assertEqual(values["errata.actor"], {"stringValue": "ann"})

    def test_exports_are_filtered_and_mistakes_refused(self):
        org = self.filled()
        self.assertEqual(len(self.lines(org, "jsonl", "--actor", "ann")[0]), 1)
        self.assertEqual(len(self.lines(org, "jsonl", "--until", "2025-01-03T00:00:00Z")[0]), 2)
        self.assertIn('FORMAT "xml": unknown', self.run_cli("export", "xml", code=2)[1])
        self.assertIn("--system: only for chat", self.run_cli("export", "otlp", "--system", "x", code=2)[1])

    def test_more_than_a_page_is_exported(self):
        org, empty = self.org(), self.org()
        path = self.folder / "many.csv"
        path.write_text("id,doc,is,at\n" + "".join(f"{i},d{i % 7},{i},{1700000000 + i}\n" for i in range(2500)))
        words = ("--map", "id=id", "--map", "doc=subject", "--map", "is=after", "--map", "at=at")
        self.assertEqual(self.imported(org, "csv", str(path), *words)[0]["created"], 2500)
        rows, _ = self.lines(org, "jsonl")
        self.assertEqual([row["entity_id"] for row in rows], [str(i) for i in reversed(range(2500))])
        out = self.folder / "many.jsonl"
        out.write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.assertEqual(self.imported(empty, "errata", str(out))[0]["created"], 2500)
        self.assertEqual(self.imported(empty, "errata", str(out))[0]["repeated"], 2500)


class Damage(HistoryCase):
    LINE = '{"id":"%s","target_id":"t","metric_name":"m","value":true}'

    def write(self, name, data):
        (self.folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return name

    def ids(self, org):
        return sorted(r["state"] for r in self.reviews(org))

    def test_a_damaged_line_costs_only_itself(self):
        good = [self.LINE % n for n in "abc"]
        for name, bad in (("cut", self.LINE[:30]), ("quote", '{"id":"x'), ("bytes", b'{"id":"\xff"}'), ("list", "[1]"), ("word", "nonsense"),
                          ("twice", '{"id":"x","id":"y"}'), ("deep", '{"a":' + "[" * 200 + "]" * 200 + "}"),
                          ("surrogate", '{"id":"\\ud800"}'), ("nan", '{"id":NaN}'), ("time", self.LINE[:-1] % "x" + ',"timestamp":"soon"}')):
            bad = bad if isinstance(bad, bytes) else bad.encode()
            data = b"\n".join([good[0].encode(), good[1].encode(), bad, good[2].encode(), b""])
            path = self.write(f"{name}.jsonl", data)
            org = self.org() if name == "cut" else self.environment()
            words = () if name == "cut" else ("--dry-run",)
            report, said = self.imported(org, "tensorzero", path, *words, code=2)
            self.assertEqual((name, self.count(report, "reviews"), report["damaged"]["count"]), (name, 3, 1))
            self.assertIn(f"{path} line 3: ", said)
            if name == "cut":
                self.assertEqual(self.ids(org), [f"tensorzero:metric:{n}" for n in "abc"])

    def test_strict_stores_nothing_of_a_damaged_file(self):
        org = self.org()
        path = self.write("strict.jsonl", (self.LINE % "a") + "\n{\n" + (self.LINE % "b") + "\n")
        _, said = self.run_cli("import", "tensorzero", path, "--strict", code=2, environment=org)
        self.assertIn("strict.jsonl line 2: ", said)
        self.assertIn("nothing was stored", said)
        self.assertEqual(self.ids(org), [])

    def test_other_encodings_and_formats_are_refused_by_name(self):
        text = (self.LINE % "a") + "\n"
        for name, data, said in (("16.jsonl", text.encode("utf-16"), "UTF-16; expected UTF-8 (`iconv"),
                                 ("16be.jsonl", text.encode("utf-16-be"), "expected UTF-8 text"),
                                 ("x.gz", b"\x1f\x8b\x08\x00", "compressed with gzip"), ("x.parquet", b"PAR1\x00\x00", "Parquet"),
                                 ("x.zip", b"PK\x03\x04", "a ZIP archive"), ("latin.csv", "a,b\nn\xf6,1\n".encode("latin-1"), None)):
            path = self.write(name, data)
            source = ("csv", path, "--map", "a=id", "--map", "b=after") if said is None else ("tensorzero", path)
            _, out = self.run_cli("import", *source, "--dry-run", code=2, environment=self.environment())
            self.assertIn(said or f"{path} line 2: invalid CSV: bytes that are not UTF-8", out)

    def test_truncated_documents_keep_what_is_whole(self):
        rows = ",\n".join(self.LINE % n for n in "abc")
        path = self.write("cut.json", f"[\n{rows},\n" + self.LINE[:25])
        report, said = self.imported(self.environment(), "tensorzero", path, "--dry-run", code=2)
        self.assertEqual(self.count(report, "reviews"), 3)
        self.assertIn("cut.json line 5: the file ends within a record or a list", said)
        whole = self.write("whole.json", f"[\n{rows}\n]")
        report, _ = self.imported(self.environment(), "tensorzero", whole, "--dry-run")
        self.assertEqual(self.count(report, "reviews"), 3)

    def test_damaged_rows_of_a_csv_file_are_reported(self):
        path = self.write("bad.csv", 'id,is\na,1\nb,2,3\nc,"x"y\nd,4\ne,"open\n')
        report, said = self.imported(self.environment(), "csv", path, "--map", "id=id", "--map", "is=after", "--dry-run", code=2)
        self.assertEqual((self.count(report, "corrections"), report["damaged"]["count"]), (2, 3))
        self.assertRegex(said, r"line 3: 3 fields; expected 2[\s\S]*line 4: invalid CSV: text after[\s\S]*line 6: invalid CSV: an unclosed quote")

    def test_a_record_may_be_large_but_not_endless(self):
        big = self.write("big.jsonl", json.dumps({"id": "a", "inference_id": "i", "value": "x" * (12 << 20)}) + "\n" +
                         json.dumps({"id": "b", "inference_id": "i", "value": "x" * (17 << 20)}) + "\n" +
                         json.dumps({"id": "c", "inference_id": "i", "value": "y"}) + "\n")
        report, said = self.imported(self.environment(), "tensorzero", big, "--dry-run", code=2)
        self.assertEqual((self.count(report, "corrections"), report["damaged"]["count"]), (2, 1))
        self.assertIn("line 2: a record larger than 16 MiB", said)

    def test_an_interrupted_import_goes_on(self):
        org, count = self.org(), 3000
        path = self.write("long.jsonl", "".join(
            json.dumps({"id": f"n{i}", "target_id": f"t{i % 3}", "metric_name": "m", "value": True,
                        "timestamp": str(1700000000 + i)}) + "\n"
            for i in range(count)))
        running = subprocess.Popen([ERRATA, "import", "tensorzero", path], cwd=self.folder, env=org,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: self.reviews(org), "the first review", seconds=60)
        running.send_signal(signal.SIGINT)
        # Between two batches there is no call to report: the signal ends the program.
        self.assertIn(running.wait(60), (130, -signal.SIGINT))
        stored = len(self.reviews(org))
        self.assertTrue(0 < stored < count, stored)
        report, _ = self.imported(org, "tensorzero", path)
        self.assertEqual((report["created"], report["repeated"]), (count - stored, stored))
        self.assertEqual(len({r["state"] for r in self.reviews(org)}), count)

    def test_a_refused_token_stores_nothing(self):
        path = self.write("denied.jsonl", self.LINE % "a")
        token = self.write("wrong.token", "errata_wrong")
        _, said = self.run_cli("import", "tensorzero", path, code=1, environment=self.here(ERRATA_TOKEN_FILE=str(self.folder / token)))
        self.assertTrue(re.search("UNAUTHENTICATED|token", said), said)


class Documents(HistoryCase):
    def test_commands_of_the_document_run(self):
        text = pathlib.Path(ROOT, "tools", "IMPORTS.md").read_text()
        blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
        self.assertGreaterEqual(len(blocks), 3)
        environment = self.org()
        for block in blocks:
            block = block.replace("/tmp/", f"{self.folder}/")
            done = subprocess.run(["bash", "-ec", block], cwd=ROOT, env=environment, text=True, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, f"{block}\n{done.stdout}{done.stderr}")
            self.assertNotIn("damaged", re.sub(r"damaged +0", "", done.stdout))


if __name__ == "__main__":
    main()
