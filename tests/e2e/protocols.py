#!/usr/bin/python3
"""Access, isolation and nonsense by the protocols beside gRPC.

Goal: requests that gRPC refuses are also refused by Connect, gRPC-Web, REST and MCP, over both versions of HTTP, and
every invalid member of a JSON body is named. Method: the descriptors are walked, as in access.py, isolation.py and
nonsense.py, so later methods are tested automatically; the expected results are the contract's table of roles, and
gRPC's answer to the same request.
"""
import json
import re
import secrets
import uuid

import grpc
from google.protobuf import json_format

import nonsense
import other_protocols
from erratad import (ALL_ROLES, FAULT_ENTRIES_MAX, NEED_THE_FLAG, ServerCase, feedback, fields_in, is_client_stream,
                     is_output_only, is_plain_message, is_stream, main, mappings, methods, one_of_each, options, review_triggers,
                     roles, sku_mapping, turn, turn_service, verdict_service)

STREAM_SECONDS = 0.1


def wrong(field):
    """A JSON value that is invalid for every field of this type."""
    if field.type in (field.TYPE_STRING, field.TYPE_BYTES):
        return 17
    if field.type == field.TYPE_MESSAGE:
        return "no such value" if field.message_type.name in ("Timestamp", "Duration") else None
    return "no such value"


def wrong_members(message, path=""):
    """(JSON object, paths) of a message whose every member has a value of a wrong type."""
    members, paths = {}, []
    for field in one_of_each(message):
        repeated = field.label == field.LABEL_REPEATED
        name = path + field.name + ("[0]" if repeated else "")
        if is_plain_message(field):
            if field.message_type.GetOptions().map_entry:
                continue
            value, below = wrong_members(field.message_type, name + ".")
            paths += below
        else:
            value = wrong(field)
            if value is None:
                continue
            paths.append(name)
        members[field.json_name] = [value] if repeated else value
    return members, paths


class Access(ServerCase):
    """Every method is called by every role and without a token."""

    def peers(self, kind):
        return {role: kind(self.server.address, token) for role, token in self.tokens.items()}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tokens = {role: cls.admin.create_token(role).secret for role in ALL_ROLES}

    def expect(self, answer, path, role, rules):
        code, message, _ = answer
        where = f"{path} by {roles.Role.Name(role)}: {code} {message}"
        if role not in rules.roles:
            self.assertEqual(code, grpc.StatusCode.PERMISSION_DENIED, where)
        elif role not in rules.backfill_roles:
            self.assertNotEqual(code, grpc.StatusCode.UNAUTHENTICATED, where)
            if not path.endswith(NEED_THE_FLAG):
                self.assertNotEqual(code, grpc.StatusCode.PERMISSION_DENIED, where)

    def check_kind(self, kind, body):
        no_one = kind(self.server.address)
        for path, _, rules in methods():
            self.assertEqual(no_one.raw_any(path, body)[0], grpc.StatusCode.UNAUTHENTICATED, path)
        no_one.close()
        for role, peer in self.peers(kind).items():
            for path, _, rules in methods():
                self.expect(peer.raw_any(path, body, STREAM_SECONDS if is_stream(path) else 10), path, role, rules)
            peer.close()

    def test_connect_in_json_admits_only_roles(self):
        self.check_kind(other_protocols.Connect, b"{}")

    def test_connect_in_proto_admits_only_roles(self):
        self.check_kind(other_protocols.ConnectProto, b"")

    def test_grpc_web_admits_only_roles(self):
        self.check_kind(other_protocols.Web, b"")

    def test_grpc_web_in_text_admits_only_roles(self):
        self.check_kind(other_protocols.WebText, b"")

    def test_connect_by_get_calls_only_reads(self):
        """Only methods without side effects are called by GET; others are refused before the check of the role."""
        called = 0
        for role, peer in self.peers(other_protocols.ConnectGet).items():
            for path, method, rules in methods():
                if is_stream(path) or is_client_stream(path):
                    continue
                if method.GetOptions().idempotency_level == method.GetOptions().NO_SIDE_EFFECTS:
                    self.expect(peer.raw_get(path, "{}"), path, role, rules)
                    called += 1
                else:
                    status, fields, _ = peer.ask("GET", f"{path}?connect=v1&encoding=json&message=%7B%7D")
                    self.assertEqual((status, fields.get("allow")), (405, "POST"), path)
            peer.close()
        self.assertGreater(called, 100)

    def test_connect_in_json_over_http2_admits_only_roles(self):
        self.check_kind(other_protocols.Connect2, b"{}")

    def test_grpc_web_over_http2_admits_only_roles(self):
        self.check_kind(other_protocols.Web2, b"")

    def test_rest_admits_only_roles(self):
        self.check_rest(other_protocols.Rest)

    def test_rest_over_http2_admits_only_roles(self):
        self.check_rest(other_protocols.Rest2)

    def test_mcp_admits_only_roles(self):
        self.check_mcp(other_protocols.Mcp)

    def test_mcp_over_http2_admits_only_roles(self):
        self.check_mcp(other_protocols.Mcp2)

    def check_mcp(self, kind):
        """A role sees the tools of the methods that it may call; a method has a tool if ADMIN sees one."""
        no_one = kind(self.server.address)
        self.assertEqual(no_one.ask_rpc("tools/list", {})[0], 401)
        peers = self.peers(kind)
        served = peers[roles.ROLE_ADMIN].tools()
        found = [(path, rules) for path, _, rules in methods() if kind.tool_of(path) in served]
        self.assertEqual(len(found), len(served))
        self.assertEqual(len(found), 11)
        for path, _ in found:
            self.assertEqual(no_one.ask_rpc("tools/call", {"name": kind.tool_of(path), "arguments": {}})[0], 401, path)
        for role, peer in peers.items():
            allowed = {kind.tool_of(path) for path, rules in found if role in rules.roles}
            self.assertEqual(peer.tools(), allowed, roles.Role.Name(role))
            name = roles.Role.Name(role).removeprefix("ROLE_")
            for path, rules in found:
                code, message, _ = peer.raw_any(path, b"{}")
                refused = f"the role {name} may not call " in message
                self.assertEqual(refused, role not in rules.roles, f"{path} by {name}: {code} {message}")
            peer.close()
        no_one.close()

    def check_rest(self, kind):
        by_name = {method.name: (path, rules) for path, method, rules in methods()}
        no_one = kind(self.server.address)
        found = no_one.routes()
        self.assertGreaterEqual(len(found), 14)
        for verb, template, name in found:
            target = re.sub(r"\{[^}]*\}", "unknown", template)
            body = "{}" if verb in ("POST", "PUT", "PATCH") else None
            self.assertEqual(no_one.raw_route(verb, target, body)[0], grpc.StatusCode.UNAUTHENTICATED, target)
            for role, peer in self.peers(kind).items():
                path, rules = by_name[name]
                self.expect(peer.raw_route(verb, target, body), path, role, rules)
                peer.close()
        no_one.close()


class Nonsense(ServerCase):
    """Invalid members of JSON bodies."""

    def setUp(self):
        self.peer = other_protocols.Connect(self.server.address, self.server.admin_token)
        self.addCleanup(self.peer.close)

    def test_every_member_of_a_wrong_type_is_named(self):
        tried = 0
        for path, method, _ in methods():
            members, paths = wrong_members(method.input_type)
            if not paths:
                continue
            code, message, details = self.peer.raw_any(path, json.dumps(members).encode())
            self.assertEqual(code, grpc.StatusCode.INVALID_ARGUMENT, f"{path}: {message}")
            named = fields_in(details)
            # A status has room for 4 KiB of details; the message counts those that are left out.
            if len(details) < 3800:
                self.assertEqual(set(paths[:FAULT_ENTRIES_MAX]) - set(named), set(), f"{path}: {message}")
            else:
                self.assertGreater(len(named), 10, path)
            for field, description in named.items():
                self.assertIn("expected", description, f"{path} {field}")
            tried += 1
        self.assertGreater(tried, 50)

    def test_rest_names_every_member(self):
        """Also those of the query, together with the body's."""
        peer = other_protocols.Rest(self.server.address, self.server.admin_token)
        self.addCleanup(peer.close)
        code, message, details = peer.raw_route(
            "POST", "/feedback/submit/structured", '{"receipt_id":17,"correct_verdict":"maybe","original_score":"x"}')
        self.assertEqual(code, grpc.StatusCode.INVALID_ARGUMENT)
        self.assertEqual(set(fields_in(details)),
                         {"submission.receipt_id", "submission.correct_verdict", "submission.original_score"}, message)
        code, message, details = peer.raw_route("GET", "/feedback/learned-rules?page_size=x&enabled_only=7")
        self.assertEqual(code, grpc.StatusCode.INVALID_ARGUMENT)
        self.assertEqual(set(fields_in(details)), {"page_size", "enabled_only"}, message)

    def test_answers_are_those_of_grpc(self):
        """An empty request gets the same code, message and details by each protocol."""
        web = other_protocols.Web(self.server.address, self.server.admin_token)
        self.addCleanup(web.close)
        compared = 0
        for path, _, _ in methods():
            code, message, details = self.admin.raw_any(path, b"", 1)
            if code != grpc.StatusCode.INVALID_ARGUMENT:
                continue
            self.assertEqual(self.peer.raw_any(path, b"{}"), (code, message, details), path)
            self.assertEqual(web.raw_any(path, b""), (code, message, details), path)
            compared += 1
        self.assertGreater(compared, 20)

    def test_values_that_break_rules_are_answered_as_by_grpc(self):
        """Requests whose fields all break their rules, as JSON: the same code, message and details."""
        tried = 0
        for path, method, _ in methods():
            wire, paths = nonsense.nonsense(method.input_type, nonsense.breaks_a_rule)
            if not paths:
                continue
            request = method.input_type._concrete_class.FromString(wire)
            expected = self.admin.raw_any(path, wire)
            self.assertEqual(expected[0], grpc.StatusCode.INVALID_ARGUMENT, path)
            text = json_format.MessageToJson(request).encode()
            got = self.peer.raw_any(path, text)
            self.assertEqual(got, expected, path)
            tried += 1
        self.assertGreater(tried, 50)

    def test_broken_texts_are_refused(self):
        """Text that is not a JSON object gets INVALID_ARGUMENT from every method, and the connection continues."""
        for path, _, _ in methods():
            for body in (b"[]", b'{"a":1,"a":2}', b'{"a":"\xff"}', b'{"a":"\\ud800"}', b"{" * 200, b'{"a":01}'):
                code, message, _ = self.peer.raw_any(path, body)
                self.assertEqual(code, grpc.StatusCode.INVALID_ARGUMENT, f"{path} {body!r}: {message}")


class Isolation(ServerCase):
    """Ids and texts of one organisation, asked for by another one."""

    def setUp(self):
        org = self.admin.create_org("walls-" + secrets.token_hex(4))
        self.owner_token = self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret
        theirs = self.server.client(self.owner_token)
        self.canary = "secret-" + secrets.token_hex(8)
        event = theirs.capture(
            event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
            layout_fingerprint=self.canary + "-layout", document_id=self.canary + "-doc",
            draft_order_id=self.canary + "-draft", entity_type="line", entity_id=self.canary + "-line",
            after_json='{"%s":1}' % self.canary, before_json="{}")
        self.variables = self.variables_of(theirs)
        of_paths = {value: name for names in self.variables.values() for name, value in names.items()}
        self.ids = {options.FORMAT_UUID: [event.id, org.id, *(value for value in of_paths if of_paths[value] == "id")],
                    options.FORMAT_OPAQUE_ID: [event.layout_fingerprint, event.document_id, event.entity_id,
                                               *(value for value in of_paths if of_paths[value] != "id")]}
        mine = self.admin.create_org("asker-" + secrets.token_hex(4))
        self.token = self.admin.create_token(roles.ROLE_ADMIN, org_id=mine.id).secret

    def variables_of(self, theirs):
        """Creates what the paths of the aliases name; returns the values of the variables of each."""
        mapping = theirs.mappings.SuggestMapping(mappings.SuggestMappingRequest(mapping=sku_mapping.SkuMapping(
            customer_id=self.canary, customer_sku=self.canary + "-sku", internal_sku="I", confidence=0.5))).mapping
        theirs.submit_verdict(receipt_id=self.canary + "-receipt", correct_verdict=2, original_verdict=1,
                              missed_indicators=[self.canary.replace("-", "_")])
        rules = theirs.verdicts.ListLearnedRules(verdict_service.ListLearnedRulesRequest()).rules
        record = turn.Turn(session_id=self.canary + "-session", turn_id=self.canary + "-turn", query="q",
                           validation_outcome=turn.VALIDATION_OUTCOME_APPROVE)
        theirs.turns.RecordTurn(turn_service.RecordTurnRequest(turn=record))
        theirs.reviews.SetTriggerThresholds(review_triggers.SetTriggerThresholdsRequest(
            subcategory=self.canary + "-class", thresholds=review_triggers.ReviewThresholds(bad_format=1)))
        return {"/sku-mappings/{id}/confirm": {"id": mapping.id}, "/feedback/rules/{id}/toggle": {"id": rules[0].id},
                "/turns/{session_id}/{turn_id}": {"session_id": record.session_id, "turn_id": record.turn_id},
                "/reviews/triggers/{subcategory}": {"subcategory": self.canary + "-class"}}

    @staticmethod
    def unknown(value):
        if re.fullmatch(r"[0-9a-f-]{36}", value):
            return str(uuid.uuid4())
        return "x" * (len(value) - 16) + secrets.token_hex(8)

    def ask(self, path, method, field, value):
        request = method.input_type._concrete_class()
        setattr(request, field.name, value)
        answer = self.peer.raw_any(path, json_format.MessageToJson(request).encode())
        return self.blind(answer, (value,), f"{path} {field.name}")

    def blind(self, answer, values, what):
        """Returns the answer, without the ids that were sent and the reference that has the time."""
        code, message, body = answer
        for value in values:
            body = body.replace(value.encode(), b"ID").replace(value[:8].encode(), b"SHORT")  # fingerprint_short
            message = message.replace(value, "ID")
        self.assertNotIn(self.canary[8:].encode(), body, what)
        return code, message, re.sub(rb'"exposure(Ref|_ref)": ?"[^"]*"', b"", body)

    def check_kind(self, kind, at_least):
        self.peer = kind(self.server.address, self.token)
        self.addCleanup(self.peer.close)
        served = self.peer.tools() if kind is other_protocols.Mcp else None
        asked = 0
        for path, method, _ in methods():
            if is_stream(path) or is_client_stream(path) or (served and kind.tool_of(path) not in served):
                continue
            for field in method.input_type.fields:
                values = self.ids.get(field.GetOptions().Extensions[options.field].format, ())
                if field.type != field.TYPE_STRING or field.label == field.LABEL_REPEATED or is_output_only(field):
                    continue
                for value in values:
                    theirs = self.ask(path, method, field, value)
                    nobodys = self.ask(path, method, field, self.unknown(value))
                    self.assertEqual(theirs, nobodys, f"{path} {field.name}={value}")
                    asked += 1
        self.assertGreater(asked, at_least)

    def test_foreign_ids_are_unknown_ids(self):
        self.check_kind(other_protocols.Connect, 100)

    def test_foreign_ids_are_unknown_ids_to_tools(self):
        self.check_kind(other_protocols.Mcp, 10)

    def test_foreign_ids_are_unknown_ids_in_paths(self):
        """The owner's ids in their own variables are found by the owner only."""
        self.peer = other_protocols.Rest(self.server.address, self.token)
        self.addCleanup(self.peer.close)
        owner = other_protocols.Rest(self.server.address, self.owner_token)
        self.addCleanup(owner.close)
        asked = set()
        for verb, template, _ in self.peer.routes():
            if "{" not in template:
                continue
            values = self.variables[template]
            theirs = self.ask_route(verb, template, values)
            nobodys = self.ask_route(verb, template, {name: self.unknown(value) for name, value in values.items()})
            self.assertEqual(theirs, nobodys, f"{verb} {template}")
            found = owner.raw_route(verb, template.format(**values), "{}" if verb != "GET" else None)
            self.assertEqual(found[0], grpc.StatusCode.OK, f"{verb} {template}: {found}")
            asked.add(template)
        self.assertEqual(asked, set(self.variables))

    def test_foreign_ids_are_unknown_ids_in_queries(self):
        """Each member of a query that has such an id."""
        self.peer = other_protocols.Rest(self.server.address, self.token)
        self.addCleanup(self.peer.close)
        by_name = {method.name: method for _, method, _ in methods()}
        asked = 0
        for verb, template, name in self.peer.routes():
            fields = by_name[name].input_type.fields if verb == "GET" and "{" not in template else ()
            for field in fields:
                for value in self.ids.get(field.GetOptions().Extensions[options.field].format, ()):
                    theirs, nobodys = (self.ask_route(verb, f"{template}?{field.name}={{{field.name}}}", {field.name: text})
                                       for text in (value, self.unknown(value)))
                    self.assertEqual(theirs, nobodys, f"{verb} {template} {field.name}={value}")
                    asked += 1
        self.assertGreater(asked, 50)

    def ask_route(self, verb, template, values):
        target = template.format(**values)
        return self.blind(self.peer.raw_route(verb, target, "{}" if verb != "GET" else None), values.values(), target)


if __name__ == "__main__":
    main()
