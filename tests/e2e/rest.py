#!/usr/bin/python3
"""Aliases of methods in plain JSON: the source documents' paths and JSON, on the port of gRPC.

Goal: the requests in the documents work literally, have the effect of the method, and are answered in their JSON;
/openapi.json describes every response; errors have one form. Method: Python's own HTTP client, the same data by gRPC
beside it, and each response compared with its schema in the document that the server serves.
"""
import http.client
import json
import urllib.parse

from erratad import ServerCase, feedback, main, mappings, roles, sku_mapping, turn, turn_service, verdict_service

CONTENT = {"content-type": "application/json"}
# The request of document 001, "Submit Feedback", literally.
SUBMISSION = """{
    "receipt_id": "abc-123",
    "correct_verdict": "real",
    "original_verdict": "fake",
    "original_score": 0.72,
    "confirmed_indicators": ["R16_SUSPICIOUS_DATE_GAP"],
    "rejected_indicators": ["R9_NO_MERCHANT"],
    "missed_indicators": [],
    "corrections": {"merchant": "Hunan Yusheng"},
    "reviewer_notes": "Merchant was not properly extracted"
}"""


EVERY_ROLE = ("ListFeedbackEvents", "ListLearnedRules", "GetTriggers", "GetTurn")


class Schema:
    """Compares values with the schemas of an OpenAPI document, as far as that document uses them."""

    TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}

    def __init__(self, document):
        self.document = document

    def differences(self, value, schema, path="$"):
        if "$ref" in schema:
            return self.differences(value, self.document["components"]["schemas"][schema["$ref"].split("/")[-1]], path)
        if value is None:
            return [] if schema.get("nullable") else [f"{path}: null"]
        if "allOf" in schema:
            return [found for part in schema["allOf"] for found in self.differences(value, part, path)]
        wanted = self.TYPES[schema["type"]]
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            return [f"{path}: {value!r} is not of type {schema['type']}"]
        if "enum" in schema and value not in schema["enum"]:
            return [f"{path}: {value!r} is not one of {schema['enum']}"]
        found = []
        for index, item in enumerate(value if wanted is list else []):
            found += self.differences(item, schema["items"], f"{path}[{index}]")
        if wanted is dict and "properties" in schema:
            if set(value) != set(schema["properties"]):
                found.append(f"{path}: members {sorted(set(value) ^ set(schema['properties']))} differ")
            for name in set(value) & set(schema["properties"]):
                found += self.differences(value[name], schema["properties"][name], f"{path}.{name}")
        return found


class Rest(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.connection = http.client.HTTPConnection(*cls.server.address.rsplit(":", 1), timeout=20)
        cls.connection.request("GET", "/openapi.json")
        cls.document = json.loads(cls.connection.getresponse().read())
        cls.schema = Schema(cls.document)

    def ask(self, verb, path, body=None, token=None, fields=None):
        """Returns the status and the text of the response."""
        if isinstance(body, dict):
            body = json.dumps(body)
        fields = {"authorization": f"Bearer {token or self.server.admin_token}", **(CONTENT if body else {}),
                  **(fields or {})}
        self.connection.request(verb, path, body, fields)
        response = self.connection.getresponse()
        return response.status, response.read().decode()

    def good(self, verb, path, template=None, **options):
        """Returns the JSON of a response that conforms to the document."""
        status, text = self.ask(verb, path, **options)
        self.assertEqual(status, 200, text)
        value = json.loads(text)
        operation = self.document["paths"][template or path.split("?")[0]][verb.lower()]
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        self.assertEqual(self.schema.differences(value, schema), [])
        return value

    def refused(self, status, code, said, verb, path, **options):
        got, text = self.ask(verb, path, **options)
        error = json.loads(text)
        self.assertEqual((got, error["code"]), (status, code), text)
        self.assertIn(said, error["message"])
        self.assertEqual(error["details"][0]["type"], "google.rpc.ErrorInfo")

    def test_document_001_submits_feedback_and_reads_its_stats(self):
        before = self.good("GET", "/feedback/stats?days=30")
        answer = self.good("POST", "/feedback/submit/structured", body=SUBMISSION)
        self.assertEqual(answer["submission"]["correct_verdict"], "real")
        self.assertEqual(answer["submission"]["corrections"], {"merchant": "Hunan Yusheng"})
        rule = answer["submission"]["rule_changes"][0]["rule"]
        self.assertEqual((rule["rule_type"], rule["pattern"], rule["action"], rule["confidence_adjustment"]),
                         ("false_positive", "R9_NO_MERCHANT", "decrease_weight", -0.03))
        self.assertEqual((rule["learned_from_feedback_count"], rule["accuracy_on_validation"], rule["enabled"]),
                         (1, 0.5, True))
        after = self.good("GET", "/feedback/stats?days=30")
        for name, more in (("total_feedback", 1), ("false_positives", 1), ("false_negatives", 0),
                           ("real_receipts", 1), ("fake_receipts", 0), ("suspicious_receipts", 0)):
            self.assertEqual(after[name] - before[name], more, name)
        stats = self.admin.verdicts.GetVerdictStats(verdict_service.GetVerdictStatsRequest(days=30))
        self.assertEqual((after["total_feedback"], after["accuracy"]), (stats.total_feedback, stats.accuracy))

    def test_document_001_manages_learned_rules(self):
        self.admin.submit_verdict(receipt_id="r-1", correct_verdict=2, original_verdict=1,
                                  missed_indicators=["manage_me"])
        rules = self.good("GET", "/feedback/learned-rules?pattern=manage_me")["rules"]
        self.assertEqual(sorted(rule["rule_type"] for rule in rules), ["false_negative", "missed_indicator"])
        template = "/feedback/rules/{id}/toggle"
        path = f"/feedback/rules/{rules[0]['rule_id']}/toggle"
        for enabled in (False, True):
            self.assertEqual(self.good("POST", path, template)["enabled"], enabled)
        self.assertFalse(self.good("POST", path, template, body={"enabled": False})["enabled"])
        only = self.good("GET", "/feedback/learned-rules?pattern=manage_me&enabled=false&rule_type="
                         + rules[0]["rule_type"])["rules"]
        self.assertEqual([rule["rule_id"] for rule in only], [rules[0]["rule_id"]])
        first = self.good("GET", "/feedback/learned-rules?page_size=1")
        second = self.good("GET", "/feedback/learned-rules?page_size=1&page_token="
                           + urllib.parse.quote(first["next_page_token"]))
        self.assertNotEqual(first["rules"], second["rules"])

    def test_document_001_exports_and_imports_rules(self):
        self.admin.submit_verdict(receipt_id="r-2", correct_verdict=2, original_verdict=1,
                                  missed_indicators=["export_me"])
        status, text = self.ask("GET", "/feedback/export")
        self.assertEqual(status, 200)
        pieces = self.admin.verdicts.ExportLearnedRules(verdict_service.ExportLearnedRulesRequest())
        self.assertEqual(text, "".join(message.piece for message in pieces))
        self.assertIn("export_me", [rule["pattern"] for rule in json.loads(text)["rules"]])
        path = "/feedback/import"
        unchanged = self.good("POST", path + "?dry_run=true", path, body=text)
        self.assertEqual((unchanged["created_count"], unchanged["updated_count"]), (0, 0))
        self.assertGreater(unchanged["unchanged_count"], 0)
        document = {"schema_version": 1, "rules": [
            {"rule_type": "missed_indicator", "pattern": "imported", "action": "add_check",
             "confidence_adjustment": 0.2}]}
        answer = self.good("POST", path, body=document)
        self.assertEqual((answer["created_count"], answer["changes"][0]["rule"]["confidence_adjustment"]), (1, 0.2))
        self.refused(400, "invalid_argument", "confidence_adjustment", "POST", path, body=json.dumps(
            {"schema_version": 1, "rules": [{**document["rules"][0], "confidence_adjustment": 2}]}))

    def test_document_000_confirms_a_mapping(self):
        suggested = self.admin.mappings.SuggestMapping(mappings.SuggestMappingRequest(
            mapping=sku_mapping.SkuMapping(customer_id="c1", customer_sku="ABC-123", internal_sku="INT-999",
                                           confidence=0.5))).mapping
        operator = self.admin.create_token(roles.ROLE_OPERATOR, user_id="ann").secret
        answer = self.good("POST", f"/sku-mappings/{suggested.id}/confirm", "/sku-mappings/{id}/confirm",
                           token=operator)
        self.assertEqual(answer, {"id": suggested.id, "status": "CONFIRMED"})
        stored = self.admin.mappings.GetMapping(mappings.GetMappingRequest(id=suggested.id)).mapping
        self.assertEqual((stored.status, stored.support_count),
                         (sku_mapping.MAPPING_STATUS_CONFIRMED, 1))
        event = self.good("GET", f"/feedback-events?entity_id={suggested.id}&entity_type=sku_mapping")["events"][0]
        self.assertEqual((event["event_type"], event["actor_user_id"]), ("MAPPING_CONFIRMED", "ann"))
        self.assertEqual(event["after_json"]["internal_sku"], "INT-999")

    def test_document_000_reads_learning_analytics(self):
        self.admin.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED,
                           layout_fingerprint="0123456789abcdef", before_json='{"qty":1}', after_json='{"qty":2}')
        path = "/analytics/learning"
        answer = self.good("GET", path)
        day = answer["end_date"]
        one = self.good("GET", f"{path}?start_date={day}&end_date={day}")
        self.assertEqual([entry["date"] for entry in one["events_by_day"]], [day])
        self.assertGreaterEqual(one["events_by_day"][0]["count"], 1)
        self.assertIn("qty", [entry["field"] for entry in one["corrected_fields"]])
        layout = next(entry for entry in one["layout_stats"] if entry["fingerprint"] == "0123456789abcdef")
        self.assertEqual((layout["fingerprint_short"], layout["feedback_count"], layout["correction_rate"]),
                         ("01234567", 1, None))
        viewer = self.admin.create_token(roles.ROLE_VIEWER).secret
        self.refused(403, "permission_denied", "VIEWER", "GET", path, token=viewer)
        self.refused(400, "invalid_argument", "start_date", "GET", path + "?start_date=2026-02-02&end_date=2026-02-01")

    def test_document_000_captures_events_and_reads_examples(self):
        answer = self.good("POST", "/feedback-events", body={
            "event_type": "EXTRACTION_LINE_CORRECTED", "layout_fingerprint": "rest-layout", "actor_user_id": "bo",
            "before_json": {"qty": 10}, "after_json": {"qty": 12}, "details_json": {"input_snippet": "Total 12"}})
        event = answer["event"]
        self.assertEqual((event["before_json"], event["after_json"], event["fields_changed"], event["document_id"]),
                         ({"qty": 10}, {"qty": 12}, ["qty"], None))
        self.assertEqual(event["meta_json"], {"input_snippet": "Total 12"})
        example = self.good("GET", "/examples?layout_fingerprint=rest-layout")["examples"][0]
        self.assertEqual((example["input_snippet"], example["expected_output"], example["output"]),
                         ("Total 12", {"qty": 12}, {"qty": 12}))
        self.assertIsNone(example["confidence_improvement"])
        self.assertEqual(json.loads(self.admin.examples("rest-layout").hint_examples_json),
                         [{"input_snippet": "Total 12", "output": {"qty": 12}}])

    def test_document_003_sets_triggers_and_submits_reviews(self):
        path = "/reviews/triggers/{subcategory}"
        answer = self.good("POST", "/reviews/triggers/shoes", path, body={"bad_format_trigger": 1})
        self.assertEqual((answer["bad_format"], answer["wrong_information"]), (1, None))
        self.good("POST", "/reviews", body={"run_id": "run-1", "subcategory": "shoes", "decision": "CHANGES_REQUESTED",
                                            "bad_format": True, "missing_spec": ["weight"], "reviewed_by": "cy"})
        triggers = self.good("GET", "/reviews/triggers?subcategory=shoes")["triggers"]
        self.assertTrue(triggers["bad_format_trigger"])
        self.assertFalse(triggers["wrong_information_trigger"])

    def test_document_004_has_the_metadata_of_a_turn(self):
        """The document's example, literally: members, their order, values in its spelling."""
        record = turn.Turn(session_id="henry", turn_id="turn_001233", query="Find me laptops", quality_score=0.85,
                           validation_outcome=turn.VALIDATION_OUTCOME_APPROVE)
        record.created_at.FromJsonString("2026-01-04T10:30:00Z")
        self.admin.turns.RecordTurn(turn_service.RecordTurnRequest(turn=record))
        template, path = "/turns/{session_id}/{turn_id}", "/turns/henry/turn_001233"
        self.assertEqual(self.good("GET", path, template)["user_feedback"],
                         {"status": "neutral", "detected_at": None, "detected_in_turn": None, "correction_type": None,
                          "confidence": 0.5, "user_said": None})
        said = turn_service.DetectFeedbackRequest(session_id="henry", turn_id="turn_001234",
                                                  message="No, I meant gaming laptops not business laptops")
        said.created_at.FromJsonString("2026-01-04T10:32:00Z")
        self.admin.turns.DetectFeedback(said)
        self.assertEqual(json.dumps(self.good("GET", path, template)), json.dumps({
            "turn_id": "turn_001233", "session_id": "henry", "timestamp": "2026-01-04T10:30:00Z",
            "validation_outcome": "APPROVE", "quality_score": 0.85, "user_feedback": {
                "status": "rejected", "detected_at": "2026-01-04T10:32:00Z", "detected_in_turn": "turn_001234",
                "correction_type": "explicit_correction", "confidence": 0.9,
                "user_said": "No, I meant gaming laptops not business laptops"}}))
        self.assertEqual(self.ask("GET", "/turns/henry/none")[0], 404)

    def test_both_spellings_are_accepted(self):
        for body in ({"receipt_id": "s1", "correct_verdict": "fake", "original_verdict": "real",
                      "original_score": 0.5},
                     {"receiptId": "s2", "correctVerdict": "VERDICT_FAKE", "originalVerdict": "REAL",
                      "originalScore": "0.5", "originalFeaturesJson": '{"a":1}'},
                     {"receipt_id": "s3", "correct_verdict": 2, "original_verdict": 1, "original_score": 0, "unknown": [1],
                      "original_features": {"a": 1}}):
            answer = self.good("POST", "/feedback/submit/structured", body=body)["submission"]
            self.assertEqual((answer["correct_verdict"], answer["original_verdict"]), ("fake", "real"))

    def test_repeats_with_a_key_get_the_first_response(self):
        key = {"idempotency-key": "rest-1"}
        body = {"receipt_id": "k1", "correct_verdict": "fake", "original_verdict": "real", "original_score": 0.5}
        first = self.ask("POST", "/feedback/submit/structured", body=body, fields=key)
        self.assertEqual(first[0], 200)
        self.assertEqual(self.ask("POST", "/feedback/submit/structured", body=body, fields=key), first)
        self.refused(409, "already_exists", "idempotency-key", "POST", "/feedback/submit/structured",
                     body={**body, "receipt_id": "k2"}, fields=key)

    def test_invalid_requests_are_refused(self):
        submit = "/feedback/submit/structured"
        self.refused(401, "unauthenticated", "authorization", "GET", "/feedback/stats", token="errata_none")
        self.refused(400, "invalid_argument", "nope: unknown parameter", "GET", "/feedback/stats?nope=1&days=x")
        self.refused(400, "invalid_argument", "days: invalid value", "GET", "/feedback/stats?nope=1&days=x")
        self.refused(400, "invalid_argument", "invalid JSON", "POST", submit, body="{")
        self.refused(400, "invalid_argument", "correct_verdict", "POST", submit, body='{"correct_verdict":"maybe"}')
        self.refused(404, "not_found", "id", "POST",
                     "/feedback/rules/01890000-0000-7000-8000-000000000000/toggle")
        self.refused(400, "invalid_argument", "id", "POST", "/feedback/rules/%20/toggle")
        self.refused(400, "invalid_argument", "reviewer_notes", "POST", submit,
                     body=json.dumps({"reviewer_notes": "x" * 300_000}))
        self.refused(400, "invalid_argument", "invalid JSON", "POST", submit, body="[" + "1," * 200_000)
        for verb, path, allow in (("POST", "/feedback/stats", "GET"), ("GET", submit, "POST"),
                                  ("DELETE", "/feedback-events", "GET, POST")):
            self.connection.request(verb, path, headers={"authorization": "Bearer x"})
            response = self.connection.getresponse()
            response.read()
            self.assertEqual((response.status, response.getheader("allow")), (405, allow), path)
        for fields, body in (({"content-type": "text/plain"}, b"{}"), ({**CONTENT, "content-encoding": "br"}, b"{}")):
            self.connection.request("POST", submit, body, fields)
            response = self.connection.getresponse()
            response.read()
            self.assertEqual(response.status, 415)
        self.assertEqual(self.ask("GET", "/feedback/nothing")[0], 404)

    def test_every_alias_needs_a_token_and_a_role(self):
        for path, operations in self.document["paths"].items():
            for verb, operation in operations.items():
                url = path.replace("{id}", "x").replace("{subcategory}", "x").replace("{session_id}", "x").replace("{turn_id}", "x")
                body = b"{}" if "requestBody" in operation else None
                self.connection.request(verb.upper(), url, body, CONTENT if body else {})
                response = self.connection.getresponse()
                self.assertEqual((response.status, json.loads(response.read())["code"]), (401, "unauthenticated"), path)
                refused = any(self.ask(verb.upper(), url, body, self.token_of(role))[0] == 403
                              for role in (roles.ROLE_VIEWER, roles.ROLE_SERVICE, roles.ROLE_INTEGRATOR))
                self.assertEqual(refused, operation["operationId"] not in EVERY_ROLE, path)

    def token_of(self, role):
        if not hasattr(type(self), "tokens"):
            type(self).tokens = {}
        if role not in self.tokens:
            self.tokens[role] = self.admin.create_token(role).secret
        return self.tokens[role]


if __name__ == "__main__":
    main()
