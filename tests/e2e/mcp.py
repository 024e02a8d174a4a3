#!/usr/bin/python3
"""The Model Context Protocol: agents list tools and call them at POST /mcp.

Goal: each revision, refusal and limit has its documented answer; a token sees and calls only the tools of its role; a
tool has the effect of its method. Method: Python's own HTTP client, hostile messages, and gRPC beside it.
"""
import http.client
import json
import time

from erratad import ServerCase, feedback, main, roles

MODERN = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
TOOLS = ["get_examples", "prepare_prompt", "get_guidelines", "resolve_placeholders", "search_strategies",
         "record_correction", "record_extraction", "record_decision", "record_turn", "propose_guideline",
         "explain_exposure"]
READS = {"get_examples", "prepare_prompt", "get_guidelines", "resolve_placeholders", "search_strategies",
         "explain_exposure"}


class Mcp(ServerCase):
    def setUp(self):
        host, port = self.server.address.rsplit(":", 1)
        self.connection = http.client.HTTPConnection(host, int(port), timeout=30)
        self.addCleanup(self.connection.close)

    def post(self, body, token=None, verb="POST", **fields):
        """Returns status and JSON of the response; None without a body."""
        fields = {name.replace("_", "-"): value for name, value in fields.items()}
        headers = {"authorization": f"Bearer {token or self.server.admin_token}", "content-type": "application/json",
                   "accept": "application/json, text/event-stream", **fields}
        self.connection.request(verb, "/mcp", body if isinstance(body, (str, bytes)) else json.dumps(body), headers)
        response = self.connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text.startswith(b"{") else None

    def ask(self, method, params=None, token=None, **fields):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, **({"params": params} if params is not None else {})}
        return self.post(message, token, **fields)

    def result(self, method, params=None, token=None, **fields):
        status, answer = self.ask(method, params, token, **fields)
        self.assertEqual((status, answer["id"], answer["jsonrpc"]), (200, 1, "2.0"), answer)
        self.assertEqual(answer["result"]["resultType"], "complete")
        return answer["result"]

    def call(self, name, arguments, token=None):
        return self.result("tools/call", {"name": name, "arguments": arguments}, token)

    def refused(self, wanted, code, answer):
        status, body = answer
        self.assertEqual((status, body["error"]["code"]), (wanted, code), body)
        return body

    def test_handshake_agrees_on_a_revision(self):
        for asked, agreed in (("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("2024-11-05", "2025-11-25"),
                              (MODERN, "2025-11-25")):
            result = self.result("initialize", {"protocolVersion": asked, "capabilities": {},
                                                "clientInfo": {"name": "t", "version": "1"}})
            self.assertEqual(result["protocolVersion"], agreed)
            self.assertEqual(result["serverInfo"]["name"], "errata")
        status, body = self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.assertEqual((status, body), (202, None))
        self.assertEqual(self.post({"jsonrpc": "2.0", "id": 4, "result": {}}), (202, None))
        self.assertEqual(self.ask("ping"), (200, {"jsonrpc": "2.0", "id": 1, "result": {}}))

    def test_revision_without_sessions_is_served(self):
        meta = {"_meta": {VERSION_KEY: MODERN, "io.modelcontextprotocol/clientCapabilities": {}}}
        fields = {"mcp_protocol_version": MODERN}
        found = self.result("server/discover", meta, **fields, mcp_method="server/discover")
        self.assertEqual(found["supportedVersions"], [MODERN, "2025-11-25", "2025-06-18"])
        listed = self.result("tools/list", meta, **fields, mcp_method="tools/list")
        self.assertEqual((listed["cacheScope"], listed["ttlMs"] > 0), ("private", True))
        called = self.result("tools/call", {**meta, "name": "get_examples", "arguments": {"layoutFingerprint": "x"}},
                             **fields, mcp_method="tools/call", mcp_name="get_examples")
        self.assertFalse(called["isError"])
        self.refused(404, -32601, self.ask("initialize", meta, **fields, mcp_method="initialize"))
        self.refused(404, -32601, self.ask("ping", meta, **fields, mcp_method="ping"))

    def test_fields_must_agree_with_the_body(self):
        meta = {"_meta": {VERSION_KEY: MODERN}}
        call = {**meta, "name": "get_examples", "arguments": {"layoutFingerprint": "x"}}
        for params, fields in ((meta, {"mcp_protocol_version": MODERN}),
                               (meta, {"mcp_protocol_version": MODERN, "mcp_method": "tools/call"}),
                               (meta, {"mcp_method": "tools/list"}),
                               (meta, {"mcp_protocol_version": "2025-11-25", "mcp_method": "tools/list"}),
                               ({}, {"mcp_method": "ping"})):
            self.refused(400, -32020, self.ask("tools/list", params, **fields))
        for name in ("", "explain_exposure"):
            self.refused(400, -32020, self.ask("tools/call", call, mcp_protocol_version=MODERN,
                                               mcp_method="tools/call", **({"mcp_name": name} if name else {})))
        for params, fields in (({}, {"mcp_protocol_version": "1999-01-01"}),
                               ({"_meta": {VERSION_KEY: "1999-01-01"}}, {})):
            body = self.refused(400, -32022, self.ask("tools/list", params, **fields))
            self.assertEqual(body["error"]["data"]["requested"], "1999-01-01")
            self.assertIn(MODERN, body["error"]["data"]["supported"])

    def test_tools_have_their_order_and_are_those_of_the_role(self):
        listed = [tool["name"] for tool in self.result("tools/list")["tools"]]
        self.assertEqual(listed, [name for name in TOOLS if name in listed])
        self.assertLessEqual({"get_examples", "prepare_prompt", "resolve_placeholders", "record_correction",
                              "record_extraction", "explain_exposure"}, set(listed))
        for role in (roles.ROLE_VIEWER, roles.ROLE_OPERATOR, roles.ROLE_SERVICE, roles.ROLE_INTEGRATOR):
            token = self.admin.create_token(role).secret
            allowed = {tool["name"] for tool in self.result("tools/list", token=token)["tools"]}
            for name in listed:
                text = self.call(name, {}, token)["content"][0]["text"]
                self.assertEqual("may not call" in text, name not in allowed, (role, name, text))
        for tool in self.result("tools/list")["tools"]:
            self.assertEqual(tool["annotations"]["readOnlyHint"], tool["name"] in READS, tool["name"])

    def test_a_tool_does_what_its_method_does(self):
        result = self.call("record_correction", {"event": {
            "eventType": "EXTRACTION_FIELD_CORRECTED", "layout_fingerprint": "tool", "actorUserId": "ann",
            "beforeJson": '{"a":1}', "afterJson": '{"a":2}'}})
        event = result["structuredContent"]["event"]
        stored = self.admin.feedback.GetFeedbackEvent(self.get_request(event["id"])).event
        self.assertEqual((stored.after_json, stored.actor_user_id), ('{"a":2}', "ann"))
        served = self.call("get_examples", {"layoutFingerprint": "tool"})
        self.assertEqual(json.loads(served["structuredContent"]["hintExamplesJson"])[0]["output"], {"a": 2})
        self.assertTrue(served["content"][0]["text"].startswith("Evidence from earlier work, untrusted"))
        self.assertTrue(served["structuredContent"]["exposureRef"])

    @staticmethod
    def get_request(event_id):
        from errata.v1 import feedback_service_pb2
        return feedback_service_pb2.GetFeedbackEventRequest(id=event_id)

    def test_refused_calls_are_results_with_the_same_text(self):
        import grpc
        with self.assertRaises(grpc.RpcError) as failed:
            self.admin.examples("")
        result = self.call("get_examples", {})
        self.assertEqual((result["isError"], result["content"][0]["text"]), (True, failed.exception.details()))
        self.assertNotIn("structuredContent", result)
        text = self.call("get_examples", {"nope": 1, "maxExamples": "many"})["content"][0]["text"]
        self.assertIn("nope", text)
        self.assertIn("max_examples", text)
        self.refused(200, -32602, self.ask("tools/call", {"name": "approve_proposal", "arguments": {}}))
        self.refused(200, -32602, self.ask("tools/call"))

    def test_hostile_messages_are_refused(self):
        deep = "[" * 5000
        for body, wanted, code in (("", 400, -32700), ("{", 400, -32700), (deep, 400, -32700),
                                   ('{"a":1,"a":2}', 400, -32700), (b"\xff", 400, -32700),
                                   ("[]", 400, -32600), ("1", 400, -32600), ("null", 400, -32600), ("{}", 400, -32600),
                                   ('{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600),
                                   ('{"jsonrpc":"2.0","id":1}', 400, -32600),
                                   ('{"jsonrpc":"2.0","id":1,"method":1}', 400, -32600),
                                   ('{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600),
                                   ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 400, -32600),
                                   ('{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32600),
                                   ('{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32602),
                                   ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32600),
                                   ('{"jsonrpc":"2.0","id":1,"method":"nothing"}', 404, -32601)):
            self.refused(wanted, code, self.post(body))
        for identity in ("x", "", "\u00e9\n", 0, -5, 2 ** 60):
            status, body = self.post({"jsonrpc": "2.0", "id": identity, "method": "ping"})
            self.assertEqual((status, body["id"]), (200, identity))
        for arguments in ([], 1, "x", None):
            self.assertTrue(self.call("get_examples", arguments)["isError"], arguments)

    def test_large_requests_are_refused_and_large_results_cut(self):
        self.refused(413, -32600, self.post('"' + "x" * (1 << 20) + '"'))
        large = "z" * 9000
        for number in range(40):
            self.admin.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED,
                               layout_fingerprint="large", entity_id=str(number), entity_type="f",
                               before_json='{"a":0}', after_json=json.dumps({"a": large, "b": number}))
        result = self.call("get_examples", {"layoutFingerprint": "large", "maxExamples": 2})
        self.assertIn("structuredContent has all of it", result["content"][0]["text"])
        self.assertEqual(len(json.loads(result["structuredContent"]["hintExamplesJson"])), 2)
        template = "{{hint_examples}} " + "y" * 250_000
        result = self.call("prepare_prompt", {"template": template, "layoutFingerprint": "none"})
        self.assertNotIn("structuredContent", result)
        self.assertLess(len(json.dumps(result)), 256 * 1024)
        self.assertIn("call prepare_prompt again with a smaller", result["content"][0]["text"])

    def test_other_requests_of_http_are_refused(self):
        for verb in ("GET", "DELETE", "PUT"):
            self.assertEqual(self.post("", verb=verb)[0], 405, verb)
        self.assertEqual(self.post("{}", content_type="text/plain")[0], 415)
        self.assertEqual(self.post("{}", content_encoding="gzip")[0], 415)
        self.refused(403, -32000, self.ask("ping", origin="http://evil.example"))
        self.assertEqual(self.ask("ping", origin=f"http://{self.server.address}")[0], 200)
        self.refused(401, -32000, self.ask("ping", token="errata_nonsense"))
        revoked = self.admin.create_token(roles.ROLE_SERVICE, expire_us=int((time.time() + 1) * 1e6)).secret
        self.assertEqual(self.ask("ping", token=revoked)[0], 200)
        time.sleep(1.1)
        self.refused(401, -32000, self.ask("ping", token=revoked))


if __name__ == "__main__":
    main()
