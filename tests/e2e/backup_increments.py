#!/usr/bin/python3
"""Backups of what was added since an earlier one, restored one after another, through the real programs.

Goal: a store that was restored from a backup and its increments has the same logs, tables and answers as the one they
are of, after any of these steps: corrections, decisions, tokens, content erased and swept, organisations created,
deleted, and created again under the same name. A file that does not continue the store changes nothing; a restore that
is killed is run again. Method: histories of such steps with an increment after each; the increment that the restored
server itself writes has the same records, byte for byte; `errata admin verify`.
"""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from erratad import BIN, Server, decision, decision_service, feedback, feedback_service, main, roles, turn, turn_service
from increment_file import records

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED

class Increments(unittest.TestCase):
    engine = "journal"

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.server = Server(data=self.path("data"), arguments=("--pdf-worker", "/nowhere"),
                             environment={"ERRATA_LOG": self.engine}).start()
        self.addCleanup(self.server.close)
        self.client = self.server.client()
        self.addCleanup(self.client.close)
        self.token = os.path.join(self.server.data, "admin.token")

    def path(self, name):
        return os.path.join(self.folder, name)

    def cli(self, *arguments, server=None, expected=0):
        done = subprocess.run([os.path.join(BIN, "errata"), *arguments, "--server", (server or self.server).address,
                               "--token-file", self.token], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "HOME": self.folder})
        self.assertEqual(done.returncode, expected, done)
        return done.stdout + done.stderr

    def back_up(self, name, since=None, server=None):
        words = ("--since", self.path(since)) if since else ()
        self.cli("admin", "backup", self.path(name), *words, server=server)

    def restore(self, name, data="restored", expected=0, **environment):
        done = subprocess.run([os.path.join(BIN, "erratad"), "--restore", self.path(name), "--data", self.path(data)],
                              capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
        self.assertEqual(done.returncode, expected, done)
        return done.stdout + done.stderr

    def restored(self, data="restored"):
        server = Server(data=self.path(data), arguments=("--pdf-worker", "/nowhere"),
                        environment={"ERRATA_LOG": self.engine}).start()
        self.addCleanup(server.close)
        return server

    def correct(self, count, document="d", client=None):
        for i in range(count):
            (client or self.client).capture(
                event_type=LINE, layout_fingerprint="acme", document_id=document, actor_user_id="ada",
                entity_type="line", entity_id=str(i), before_json='{"qty":1}', after_json='{"qty":%d}' % (i + 2))

    def decide(self, name):
        self.client.decisions.RecordDecision(decision_service.RecordDecisionRequest(
            vector=decision.DecisionVector(model="mine", values=[1, 0]),
            decision=decision.Decision(decision=2, decision_id=name, gate_id="HITL-1", epic_id="e", task_id="t",
                                       agent_name="coder", reviewer_id="ada", reviewer_comment="Set a timeout.")))

    def talk(self, name):
        self.client.turns.RecordTurn(turn_service.RecordTurnRequest(embedding=[1, 0], turn=turn.Turn(
            session_id="s", turn_id=name, query="a tent for two", validation_outcome=1,
            strategy=turn.TurnStrategy(tool="shop", text=name))))

    def organization(self, name):
        """Creates an organisation with corrections; returns its id."""
        org = json.loads(self.cli("org", "create", name, "--json"))
        org = org.get("organization", org)["id"]
        token = self.client.create_token(roles.ROLE_ADMIN, org_id=org)
        client = self.server.client(token.secret)
        self.correct(3, client=client)
        client.close()
        return org

    def delete(self, org, name):
        self.cli("org", "suspend", org, "--reason", "left")
        self.cli("org", "delete", org, "--confirm-name", name, "--reason", "left")

    def expect_same(self, last, first="whole", data="restored"):
        """The restored server writes the same increment since the first backup as the server that it was made of."""
        server = self.restored(data)
        self.back_up("expected", since=first)
        self.back_up("found", since=first, server=server)
        expected, found = records(self.path("expected")), records(self.path("found"))
        self.assertEqual(len(expected), len(found))
        self.assertEqual(expected, found)
        self.assertIn("everything holds", self.cli("admin", "verify", server=server))
        self.assertGreater(os.path.getsize(self.path(first)), 3 * os.path.getsize(self.path(last)))
        return server

    def test_restored_increments_equal_the_store(self):
        self.correct(20)
        gone = self.organization("gone")
        before = self.organization("before")
        self.back_up("whole")
        self.correct(5, document="later")
        self.decide("c1")
        self.talk("found")
        self.delete(before, "before")
        self.organization("before")
        self.client.create_token(roles.ROLE_VIEWER)
        self.back_up("one", since="whole")
        self.cli("admin", "erase", "--document", "d", "--reason", "request 17", "--yes")
        self.decide("c2")
        self.delete(gone, "gone")
        self.back_up("two", since="one")
        self.correct(1, document="last")
        self.back_up("three", since="two")
        self.restore("whole")
        for name, deleted in (("one", 1), ("two", 1), ("three", 0)):
            self.assertIn(f"organisations deleted: {deleted}\n", self.restore(name))
        self.assertIn("restored 0 events", self.restore("three"))  # again: nothing is left to do
        server = self.expect_same("three")
        client = server.client(self.server.admin_token)
        found = client.turns.SearchStrategies(turn_service.SearchStrategiesRequest(query="tents", embedding=[1, 0]))
        self.assertEqual([one.strategy.text for one in found.strategies], ["found"])
        client.close()
        listed = self.cli("corrections", "list", "--all", server=server)
        self.assertEqual(listed, self.cli("corrections", "list", "--all"))
        orgs = json.loads(self.cli("org", "list", "--json", server=server))
        self.assertEqual(len(orgs["organizations"]), 2)
        self.assertNotIn(gone, json.dumps(orgs))
        self.assertNotIn(before, json.dumps(orgs))

    def test_overlapping_increments_are_taken(self):
        self.correct(3)
        self.back_up("whole")
        self.correct(3, document="two")
        self.back_up("one", since="whole")
        self.correct(3, document="three")
        self.back_up("both", since="whole")
        self.restore("whole")
        self.restore("one")
        self.restore("both")
        self.expect_same("both")

    def test_repeated_write_gets_the_first_response_after_a_restore(self):
        self.back_up("whole")
        request = feedback_service.CaptureFeedbackEventRequest(event=feedback.FeedbackEvent(
            event_type=LINE, actor_user_id="ada", layout_fingerprint="once", after_json='{"qty":9}'))
        key = [("idempotency-key", "once")]
        first = self.client.feedback.CaptureFeedbackEvent(request, metadata=key)
        self.back_up("one", since="whole")
        self.restore("whole")
        self.restore("one")
        client = self.restored().client(self.server.admin_token)
        self.addCleanup(client.close)
        self.assertEqual(client.feedback.CaptureFeedbackEvent(request, metadata=key), first)

    def test_increment_that_does_not_continue_the_store_changes_nothing(self):
        self.correct(3)
        self.back_up("whole")
        self.correct(1, document="two")
        self.back_up("one", since="whole")
        self.correct(1, document="three")
        self.back_up("two", since="one")
        self.restore("whole")
        self.assertIn("expected the increments between them to be restored first", self.restore("two", expected=1))
        server = self.restored()
        client = server.client(self.server.admin_token)
        self.correct(1, document="other", client=client)
        client.close()
        server.close()
        shutil.copytree(self.path("restored"), self.path("before"))
        self.assertIn("has other events in the store", self.restore("one", expected=1))
        self.assertIn("not empty", self.restore("whole", expected=1))
        self.assertIn("no store", self.restore("one", data="nowhere", expected=1))
        server = self.restored()
        self.assertIn("everything holds", self.cli("admin", "verify", server=server))
        self.back_up("after", server=server)
        server.close()

    def test_damaged_increment_changes_nothing(self):
        self.back_up("whole")
        self.correct(2)
        self.back_up("one", since="whole")
        self.restore("whole")
        with open(self.path("one"), "rb") as f:
            data = f.read()
        for name, bad in (("cut", data[:-100]), ("flipped", data[:200] + bytes([data[200] ^ 1]) + data[201:])):
            with open(self.path(name), "wb") as f:
                f.write(bad)
            self.assertIn("expected", self.restore(name, expected=65))
        self.restore("one")
        self.expect_same("one")

    def test_increment_needs_the_position_of_this_store(self):
        with open(self.path("none"), "w", encoding="ascii") as f:
            f.write("x" * 1000)
        self.assertIn("not a complete backup", self.cli("admin", "backup", self.path("one"), "--since",
                                                        self.path("none"), expected=4))
        self.assertFalse(os.path.exists(self.path("one")))
        self.back_up("whole")
        self.assertIn("is the file of --since", self.cli("admin", "backup", self.path("whole"), "--force", "--since",
                                                         self.path("whole"), expected=4))
        self.restore("whole")
        server = self.restored()
        client = server.client(self.server.admin_token)
        self.correct(1, client=client)
        client.close()
        self.back_up("later", server=server)
        self.assertIn("expected the position of an earlier backup of this store",
                      self.cli("admin", "backup", self.path("one"), "--since", self.path("later"), expected=1))


class IncrementsWithoutJournal(Increments):
    engine = "lmdb"


if __name__ == "__main__":
    main()
