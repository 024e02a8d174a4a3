#!/usr/bin/python3
"""Every entry point of decisions makes the same checks, and refused decisions are stored nowhere.

Goal: a new protocol, tool, command or stream can't bypass RecordDecision. Method: the entry points are read from the
descriptors, the tables of tools and of commands, and the page's document of aliases; each gets the same decision, for
which the gate has no agent, and the same one with an id that has other content. An entry point that this test does not
know fails it; an import calls RecordDecision by gRPC.
"""
import glob
import http.client
import json
import os
import re
import shutil
import unittest

import grpc

from erratad import ROOT, decision_service, event_service, main, wait_until
from errata_cli import CliCase
from redis_server import RedisServer

METHOD = "errata.v1.DecisionService/RecordDecision"
NO_AGENT = "decision.agent_name: missing, and the gate has no agent"
OTHER_CONTENT = "decision.decision_id: a decision with this id and other content is stored"
STORED = {"decision_id": "d-1", "gate_id": "HITL-1", "epic_id": "e", "decision": "APPROVED", "agent_name": "coder"}


@unittest.skipUnless(shutil.which("redis-server"), "redis-server is not installed")
class Gate(CliCase):
    @classmethod
    def setUpClass(cls):
        cls.redis_server = RedisServer().start()
        cls.addClassCleanup(cls.redis_server.close)
        cls.arguments = ("--redis", cls.redis_server.path)
        super().setUpClass()

    # --- entry points, each of which returns the message of the refusal ---

    def http(self, path, body):
        host, port = self.server.address.rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=20)
        connection.request("POST", path, json.dumps(body), {
            "authorization": f"Bearer {self.server.admin_token}", "content-type": "application/json",
            "accept": "application/json, text/event-stream"})
        answer = connection.getresponse().read().decode()
        connection.close()
        return answer

    def by_grpc(self, fields):
        request = decision_service.RecordDecisionRequest()
        for name, value in fields.items():
            field = request.decision.DESCRIPTOR.fields_by_name[name]
            setattr(request.decision, name, field.enum_type.values_by_name["DECISION_OUTCOME_" + value].number
                    if field.enum_type else value)
        with self.assertRaises(grpc.RpcError) as caught:
            self.admin.decisions.RecordDecision(request)
        return caught.exception.details()

    def by_connect(self, fields):
        return self.http("/" + METHOD, {"decision": fields})

    def by_tool(self, fields):
        return self.http("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                                  "params": {"name": "record_decision", "arguments": {"decision": fields}}})

    def by_command(self, fields):
        options = [word for name, value in fields.items() if name != "decision_id"
                   for word in ("--" + name.removesuffix("_id").removesuffix("_name"), value)]
        return self.run_cli("decisions", "record", fields["decision_id"], *options, code=1)[1]

    def by_stream(self, fields):
        redis = self.redis_server.client()
        self.addCleanup(redis.close)
        entry = redis.add(fields)

        def refused():
            letters = self.admin.decisions.ListDeadLetters(decision_service.ListDeadLettersRequest()).dead_letters
            return [one.reason for one in letters if one.entry_id == entry]
        return wait_until(refused, "the dead letter", 20)[0]

    # --- the tables ---

    def test_every_entry_point_is_known(self):
        service = decision_service.DESCRIPTOR.services_by_name["DecisionService"]
        takes = {method.name for method in service.methods
                 for field in method.input_type.fields
                 if field.message_type is not None and field.message_type.full_name == "errata.v1.Decision"}
        self.assertEqual(takes, {"RecordDecision"})
        with open(os.path.join(ROOT, "tools", "gen", "errata_gen", "tools.py"), encoding="utf-8") as f:
            self.assertEqual(re.findall(r'\("(\w+)", "[^"]*", "RecordDecision"', f.read()), ["record_decision"])
        commands = {}
        for path in glob.glob(os.path.join(ROOT, "tools", "errata", "**", "*.c"), recursive=True):
            with open(path, encoding="utf-8") as f:
                count = f.read().count('DecisionService/RecordDecision"')
            if count:
                commands[os.path.basename(path)] = count
        self.assertEqual(commands, {"decisions.c": 1, "import_request.c": 1})
        connection = http.client.HTTPConnection(*self.server.address.rsplit(":", 1), timeout=20)
        connection.request("GET", "/openapi.json")
        self.assertNotIn("RecordDecision", connection.getresponse().read().decode())
        connection.close()
        callers = []
        for path in glob.glob(os.path.join(ROOT, "server", "**", "*.c"), recursive=True):
            with open(path, encoding="utf-8") as f:
                text = f.read()
            callers += [os.path.basename(path) for call in ("decision_record(", "record_decision_write(") if call in text]
        self.assertEqual(sorted(callers), ["decision_intake.c", "decision_service.c", "decision_service.c", "record.c"])

    def events(self):
        return len(self.admin.all_pages(self.admin.log.ListEvents, event_service.ListEventsRequest(), "events"))

    def test_every_entry_point_refuses_alike(self):
        self.admin.decisions.RecordDecision(decision_service.RecordDecisionRequest(decision={
            **STORED, "decision": "DECISION_OUTCOME_APPROVED"}))
        refusals = ((STORED | {"decision_id": "d-2", "agent_name": ""}, NO_AGENT), (STORED | {"epic_id": "other"}, OTHER_CONTENT))
        for fields, wanted in refusals:
            fields = {name: value for name, value in fields.items() if value}
            for enter in (self.by_grpc, self.by_connect, self.by_tool, self.by_command, self.by_stream):
                before = self.events()
                self.assertIn(wanted, enter(fields), enter.__name__)
                self.assertEqual(self.events(), before + (enter == self.by_stream), enter.__name__)
        listed = self.admin.decisions.ListDecisions(decision_service.ListDecisionsRequest()).decisions
        self.assertEqual([one.decision_id for one in listed], ["d-1"])


if __name__ == "__main__":
    main()
