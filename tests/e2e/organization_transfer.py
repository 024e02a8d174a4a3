#!/usr/bin/python3
"""Organisations exported as JSON lines, and imported.

Goal: an import makes the same organisation: the same events, everything made of them, no token; a file that is not
exactly what was exported is refused as a whole; an interrupted import continues, and no other method accepts its
organisation meanwhile. Method: every method that writes fills the organisation; the command line exports and imports; a
second export is compared line by line, and verify replays the logs; a stock client imports a part, and kills occur in
between.
"""
import base64
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import threading
import unittest

import grpc
from google.protobuf import json_format

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
import every_write  # noqa: E402
from erratad import BIN, admin, event_log, event_service, main, organization_transfer, payload, roles
from organizations import LINE, Organizations

# Methods that need a PDF worker, or write to other organisations.
NOT_HERE = ("document", "upload", "merge", "split", "organization", "suspend", "delete", "move")


class Transfers(Organizations):
    engine = "journal"

    def path(self, name):
        return os.path.join(self.folder, name)

    def export(self, name, *arguments):
        """Exports an organisation into a file of its name; the lines."""
        with open(self.path(f"{name}.jsonl"), "w", encoding="utf-8") as out:
            out.write(self.cli("org", "export", name, *arguments))
        return self.lines(f"{name}.jsonl")

    def lines(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read().splitlines()

    def write(self, name, lines):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.writelines(line + "\n" for line in lines)

    def import_as(self, name, file, expected=0):
        return self.cli("org", "import", self.path(file), "--as", name, expected=expected)

    def states(self):
        listed = json.loads(self.cli("org", "list", "--all", "--json"))["organizations"]
        return {org["name"]: org["state"].removeprefix("ORGANIZATION_STATE_") for org in listed}

    def import_part(self, name, lines, **fields):
        """Imports some events by the stock client."""
        parsed = [json_format.Parse(line, organization_transfer.ExportLine()) for line in lines]
        request = organization_transfer.ImportOrganizationRequest(name=name, header=parsed[0].header, **fields)
        for line in parsed[1:]:
            request.events.add().CopyFrom(line.event)
        return self.client.admin.ImportOrganization(request)


class Transfer(Transfers):
    def fill(self):
        load = every_write.Load([], tuple(kind for kind in every_write.WRITES if kind[0] not in NOT_HERE))
        load.connect(self.server.address)
        load.master = self.server.admin_token
        token = load.new_administrator("root", self.org)
        moments = random.Random(3)
        for number in range(150):
            kind = load.writes[number][0] if number < len(load.writes) else every_write.draw(moments, load.writes)
            getattr(load, kind)(f"write-{number}", self.org, token)
        self.assertEqual(load.problems, [])
        load.channel.close()

    def erase(self):
        """Erases the content of a correction; returns its id."""
        event = self.correct(self.theirs, 7)
        self.cli("admin", "erase", "--event", event.id, "--org", self.org, "--reason", "request 3", "--yes")
        return event.id

    def test_import_makes_the_same_organisation(self):
        self.fill()
        erased = self.erase()
        stop = threading.Event()

        def capture():
            number = 100
            while not stop.is_set():
                number += 1
                self.correct(self.theirs, number)
        busy = threading.Thread(target=capture)
        busy.start()
        self.addCleanup(stop.set)
        lines = self.export("Acme", "--reason", "move")
        imported = self.import_as("Copy", "Acme.jsonl").strip()
        stop.set()
        busy.join()
        header, last = json.loads(lines[0])["header"], json.loads(lines[-2])["event"]
        self.assertEqual((json.loads(lines[-2])["payload"]["organizationExported"]["reason"], last["id"]), ("move", header["exportId"]))
        facts = b"".join(base64.b64decode(json.loads(line)["event"].get("facts", "")) for line in lines[1:-1])
        self.assertIn(self.org.encode(), facts)
        secret = self.token.split("_", 2)[2]
        digest = hashlib.sha256(base64.urlsafe_b64decode(secret + "=" * (-len(secret) % 4))).digest()
        self.assertNotIn(digest, facts, "the server stores this hash of a secret")

        again = self.export("Copy")
        self.expect_same(lines, again, imported)
        self.assertEqual([json.loads(line)["event"]["kind"] for line in again[len(lines) - 1:-1]],
                         ["EVENT_KIND_ORGANIZATION_IMPORTED", "EVENT_KIND_ORGANIZATION_EXPORTED"])
        theirs = next(json.loads(line)["event"] for line in lines[1:-1] if json.loads(line)["event"]["id"] == erased)
        self.assertTrue(theirs["contentRemoved"])
        self.assertNotIn("content", theirs)
        self.assertEqual(self.states(), {"default": "ACTIVE", "Acme": "ACTIVE", "Copy": "ACTIVE"})
        self.assertIn("everything holds", self.cli("admin", "verify"))
        self.compare(imported, last["seq"])

    def test_content_that_was_sent_before_its_removal_is_removed(self):
        self.fill()
        before = self.export("Acme")
        events = [json.loads(line)["event"] for line in before[1:-1]]
        ids = [event["id"] for event in events if "content" in event]
        list(self.theirs.admin.EraseContent(admin.EraseContentRequest(event_ids=ids, reason="request 4"), timeout=60))
        after = self.export("Acme")
        erased = [json.loads(line)["event"].get("contentRemoved", False) for line in after[1:len(before) - 1]]
        kinds = {event["kind"] for event, removed in zip(events, erased) if removed}
        self.assertLess({"EVENT_KIND_FEEDBACK", "EVENT_KIND_DECISION_RECORDED", "EVENT_KIND_TURN_RECORDED"}, kinds)
        sent = [after[0], *before[1:-1], *after[len(before) - 1:-1]]
        done = self.import_part("Copy", sent, end=json_format.Parse(after[-1], organization_transfer.ExportLine()).end)
        self.assertTrue(done.completed)
        again = self.export("Copy")
        self.expect_same(after, again, done.org_id)
        self.assertIn("everything holds", self.cli("admin", "verify"))

    def expect_same(self, lines, again, imported):
        """The imported organisation's events are those of the exported one, with its own id."""
        def event_of(line):
            event = json.loads(line)
            event["event"]["facts"] = base64.b64decode(event["event"].get("facts", "")).hex()
            return json.dumps(event)
        exported = self.org.encode().hex()
        named = [line for line in map(event_of, lines[2:-1]) if exported in line]
        self.assertGreater(len({json.loads(line)["event"]["kind"] for line in named}), 5)
        expected = [event_of(line).replace(self.org, imported).replace(exported, imported.encode().hex()) for line in lines[2:-1]]
        self.assertEqual(expected, [event_of(line) for line in again[2:len(lines) - 1]])

    def listed(self, client, last_seq):
        """The events as a reader receives them, but for the hashes of what names the organisation."""
        answers = client.log.WatchEvents(event_service.WatchEventsRequest(from_seq=1, until_seq=int(last_seq)), timeout=60)
        events = [answer.event for answer in answers if answer.HasField("event")]
        for event in events:
            for field in ("facts_sha256", "previous_sha256"):
                event.ClearField(field)
        return [json_format.MessageToJson(event) for event in events]

    def compare(self, imported, last_seq):
        """The imported organisation has no token, and gives the responses of the exported one at the
        time of the export."""
        self.assertEqual(self.client.admin.ListTokens(admin.ListTokensRequest(org_id=imported)).tokens[:], [])
        self.assertEqual(self.client.admin.GetSettings(admin.GetSettingsRequest(org_id=imported)),
                         self.client.admin.GetSettings(admin.GetSettingsRequest(org_id=self.org)))
        ours = self.server.client(self.client.create_token(roles.ROLE_ADMIN, org_id=imported).secret)
        listed = [event.replace(self.org, imported) for event in self.listed(self.theirs, last_seq)]
        self.assertEqual(len(listed), int(last_seq))
        self.assertEqual(listed[1:], self.listed(ours, last_seq)[1:])
        for layout in range(every_write.layouts):
            self.assertEqual(ours.examples(f"layout-{layout}", as_of_seq=int(last_seq)),
                             self.theirs.examples(f"layout-{layout}", as_of_seq=int(last_seq)))
        ours.capture(event_type=LINE, layout_fingerprint="acme", document_id="d9", actor_user_id="ada", entity_type="line",
                     entity_id="9", after_json='{"qty":9}')

    def test_administrators_export_their_own_organisation_only(self):
        part = next(self.theirs.admin.ExportOrganization(organization_transfer.ExportOrganizationRequest(), timeout=30))
        self.assertEqual(part.lines[0].header.name, "Acme")
        default = next(org.id for org in self.client.admin.ListOrganizations(admin.ListOrganizationsRequest()).organizations
                       if org.name == "default")
        for org_id in (default, default[:-4] + "0000"):
            error = self.refused(lambda: list(self.theirs.admin.ExportOrganization(
                organization_transfer.ExportOrganizationRequest(org_id=org_id), timeout=30)))
            self.assertEqual(error.code(), grpc.StatusCode.NOT_FOUND)
        self.assertIn('"Acme2": not found', self.cli("org", "export", "Acme2", expected=1))


    def test_export_of_an_organisation_that_is_deleted_says_so(self):
        noise = random.Random(5)
        for number in range(100):
            self.theirs.capture(event_type=LINE, layout_fingerprint="acme", document_id="d1", actor_user_id="ada",
                                entity_type="line", entity_id=str(number), after_json=json.dumps({f"f{n}": noise.randbytes(200).hex() for n in range(100)}))
        slow = self.server.client(channel_options=[("grpc.http2.bdp_probe", 0)])
        self.addCleanup(slow.close)
        parts = slow.admin.ExportOrganization(organization_transfer.ExportOrganizationRequest(org_id=self.org), timeout=60)
        self.assertTrue(next(parts).lines[0].HasField("header"))
        self.cli("org", "suspend", self.org, "--reason", "ends")
        self.cli("org", "delete", self.org, "--confirm-name", "Acme", "--reason", "ends")
        error = self.refused(lambda: list(parts))
        self.assertEqual(error.code(), grpc.StatusCode.FAILED_PRECONDITION)
        self.assertIn("is being deleted", error.details())


class Refusals(Transfers):
    def damaged(self, lines):
        """Yields (name, lines, message of the refusal)."""
        swapped = [*lines[:2], lines[3], lines[2], *lines[4:]]
        yield "cut", lines[:-1], r":\d+: missing; expected more lines"
        yield "gap", [*lines[:2], *lines[3:]], ":3: event 3; expected event 2"
        yield "order", swapped, ":3: event 3; expected event 2"
        yield "foreign", ['{"id":1}', *lines[1:]], ":1: "
        yield "headless", lines[1:], ":1: not a header"
        yield "newer", [lines[0].replace('"version":1', '"version":2'), *lines[1:]], ":1: version 2 of exports; expected 1"
        yield "changed", [line.replace("Zebra", "Lion") for line in lines], "the checksum is not that of the lines before"
        yield "longer", [*lines, lines[2]], "a line after the end"
        yield "bytes", [*lines[:2], "\x00", *lines[3:]], ":3: "

    def test_files_that_differ_from_the_export_are_refused(self):
        for number in range(3):
            self.theirs.capture(event_type=LINE, layout_fingerprint="acme", document_id="Zebra", actor_user_id="ada",
                                entity_type="line", entity_id=str(number), after_json='{"qty":%d}' % number)
        lines = self.export("Acme")
        self.assertIn("name: 'Acme' exists", self.import_as("Acme", "Acme.jsonl", expected=1))
        for name, given, what in self.damaged(lines):
            self.write(f"{name}.jsonl", given)
            error = self.import_as("Copy", f"{name}.jsonl", expected=4)
            self.assertRegex(error, f"{name}.jsonl{what}" if what.startswith(":") else what)
        self.assertEqual(self.states(), {"default": "ACTIVE", "Acme": "ACTIVE"})

    def test_events_that_do_not_follow_are_refused(self):
        event = self.correct(self.theirs, 1)
        lines = self.export("Acme")

        def joined(line):
            return base64.b64encode(b"".join(base64.b64decode(line.pop(part)) for part in ("facts", "content"))).decode()

        def rule(line):
            internal = payload.LearnedRuleCreatedInternal(accuracy_billionths=2 * 10**9).SerializeToString()
            facts = event_log.LearnedRuleCreated(rule={"rule_type": 1, "pattern": "x", "action": 1, "state": 1}, internal=internal)
            line.update(kind="EVENT_KIND_LEARNED_RULE_CREATED", salt="", content="",
                        facts=base64.b64encode(facts.SerializeToString()).decode())
        changes = [("facts", lambda line: line.update(facts="AAAA")),
                   ("facts", rule),
                   ("content_sha256", lambda line: line.update(salt="", content="", contentRemoved=True,
                                                               contentSha256=base64.b64encode(bytes(32)).decode())),
                   ("facts", lambda line: line.update(facts=joined(line), salt="")),
                   ("content", lambda line: line.update(content=joined(line))),
                   ("recorded_at", lambda line: line.update(recordedAt="2999-01-01T00:00:00Z")),
                   ("kind", lambda line: line.update(kind="EVENT_KIND_ORGANIZATION_CREATED")),
                   ("id", lambda line: line.update(id=json.loads(lines[1])["event"]["id"])),
                   ("id", lambda line: line.update(id="ffffffff-ffff-7fff-bfff-ffffffffffff")),
                   ("id", lambda line: line.update(id=line["id"][:14] + "4" + line["id"][15:])),
                   ("write_index", lambda line: line.update(writeIndex=7)),
                   ("salt", lambda line: line.pop("salt"))]
        for field, change in changes:
            number = next(n for n, line in enumerate(lines) if n > 0 and json.loads(line)["event"]["id"] == event.id)
            line = json.loads(lines[number])
            change(line["event"])
            with self.assertRaises(grpc.RpcError) as end:
                self.import_part("Copy", [*lines[:number], json.dumps(line)])
            self.assertEqual(end.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
            self.assertRegex(end.exception.details(), rf"events\[{number - 1}\]\.{field}")
        self.assertEqual(self.states(), {"default": "ACTIVE", "Acme": "ACTIVE"})


    def test_part_before_a_refused_event_is_kept(self):
        for number in range(90):
            self.correct(self.theirs, number)
        lines = self.export("Acme")
        late = [re.sub('"recordedAt":"[^"]*"', '"recordedAt":"2999-01-01T00:00:00Z"', line) if number >= 80 else line
                for number, line in enumerate(lines[:-1])]
        whole = "".join(line + "\n" for line in late)
        end = json.loads(lines[-1])
        end["end"]["fileSha256"] = hashlib.sha256(whole.encode()).hexdigest()
        self.write("late.jsonl", [*late, json.dumps(end)])
        error = self.import_as("Copy", "late.jsonl", expected=1)
        self.assertIn("late.jsonl:81: refused by the server", error)
        kept = re.search(r"organisation (\S+) has 64 events of it: the same command goes on, `errata org delete \1 ", error)
        self.assertEqual(self.states()["Copy"], "IMPORTING")
        self.assertEqual(self.import_as("Copy", "Acme.jsonl").strip(), kept.group(1))
        self.assertEqual(self.states()["Copy"], "ACTIVE")
        self.assertNotIn("jsonl", self.import_as(" ", "Acme.jsonl", expected=1))


class Interruption(Transfers):
    def test_interrupted_import_goes_on_or_is_deleted(self):
        for number in range(30):
            self.correct(self.theirs, number)
        lines = self.export("Acme")
        part = self.import_part("Copy", lines[:20])
        self.assertEqual((part.imported_seq, part.completed), (19, False))
        self.expect_closed(part.org_id)
        self.server.kill9()
        self.server.start()
        self.client = self.server.client()
        self.expect_closed(part.org_id)
        self.write("other.jsonl", lines)
        self.assertEqual(self.import_as("Copy", "other.jsonl").strip(), part.org_id)
        self.assertEqual(self.states()["Copy"], "ACTIVE")
        self.assertEqual(self.import_as("Copy", "other.jsonl").strip(), part.org_id, "after a lost reply")
        self.assertEqual(self.states(), {"default": "ACTIVE", "Acme": "ACTIVE", "Copy": "ACTIVE"})

        part = self.import_part("Part", lines[:10])
        error = self.refused(lambda: self.import_part("Part", self.export("Acme")[:10]))
        self.assertEqual(error.code(), grpc.StatusCode.FAILED_PRECONDITION)
        self.cli("org", "delete", part.org_id, "--confirm-name", "Part", "--reason", "not needed")
        self.assertNotIn("Part", self.states())
        self.assertIn("everything holds", self.cli("admin", "verify"))

    def expect_closed(self, org_id):
        """Only the import and the deletion accept the organisation."""
        self.assertEqual(self.states()["Copy"], "IMPORTING")
        for call in (lambda: self.client.create_token(roles.ROLE_ADMIN, org_id=org_id),
                     lambda: self.client.admin.GetSettings(admin.GetSettingsRequest(org_id=org_id)),
                     lambda: list(self.client.admin.ExportOrganization(
                         organization_transfer.ExportOrganizationRequest(org_id=org_id), timeout=30))):
            error = self.refused(call)
            self.assertEqual(error.code(), grpc.StatusCode.FAILED_PRECONDITION)
            self.assertIn("is being imported", error.details())
        self.assertIn("everything holds", self.cli("admin", "verify"))

    def test_import_goes_on_after_a_rebuild(self):
        for number in range(10):
            self.correct(self.theirs, number)
        lines = self.export("Acme")
        part = self.import_part("Copy", lines[:6])
        self.assertEqual(self.server.stop(), 0)
        done = subprocess.run([os.path.join(BIN, "erratad"), "--rebuild", "--data", self.data], capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done)
        self.server.start()
        self.client = self.server.client()
        self.expect_closed(part.org_id)
        self.assertEqual(self.import_as("Copy", "Acme.jsonl").strip(), part.org_id)


if __name__ == "__main__":
    main()
