#!/usr/bin/python3
"""Organisations over their life: suspended and resumed, and deleted.

Goal: a suspended organisation is refused in every protocol until it is resumed, and nothing of it is lost; of a deleted
one nothing is left, even if the server is killed meanwhile, and other data is kept. Method: both engines, the command
line, a watcher of its log, restarts, kill -9, a rebuild.
"""
import datetime
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

import grpc

from erratad import BIN, Server, admin, event_service, feedback, feedback_service, main, organization, roles, wait_until

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
BATCHES = 3
BATCH = 100


class Organizations(unittest.TestCase):
    engine = "lmdb"

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data = os.path.join(self.folder, "data")
        self.server = Server(data=self.data, arguments=("--pdf-worker", "/nowhere"),
                             environment={"ERRATA_LOG": self.engine}).start()
        self.addCleanup(self.server.close)
        self.client = self.server.client()
        self.addCleanup(self.client.close)
        self.org = self.cli("org", "create", "Acme").strip()
        self.token = self.client.create_token(roles.ROLE_ADMIN, org_id=self.org).secret
        self.theirs = self.server.client(self.token)
        self.addCleanup(self.theirs.close)

    def cli(self, *arguments, expected=0):
        done = subprocess.run([os.path.join(BIN, "errata"), *arguments, "--server", self.server.address, "--token-file",
                               os.path.join(self.data, "admin.token")], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "HOME": self.data})
        self.assertEqual(done.returncode, expected, done)
        return done.stdout if expected == 0 else done.stderr

    def correct(self, client, number):
        return client.capture(event_type=LINE, layout_fingerprint="acme", document_id="d1", actor_user_id="ada",
                              entity_type="line", entity_id=str(number), before_json='{"qty":1}',
                              after_json='{"qty":%d}' % (number + 2))

    def refused(self, call):
        with self.assertRaises(grpc.RpcError) as end:
            call()
        return end.exception

    def post(self, method, body):
        """A call by Connect: its HTTP status and its reply."""
        request = urllib.request.Request(f"http://{self.server.address}/errata.v1.{method}", json.dumps(body).encode(), {
            "content-type": "application/json", "authorization": f"Bearer {self.token}"})
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as e:
            return e.code, json.load(e)

    def state(self):
        listed = json.loads(self.cli("org", "list", "--all", "--json"))["organizations"]
        return next(org["state"] for org in listed if org["id"] == self.org).removeprefix("ORGANIZATION_STATE_")


class Suspension(Organizations):
    def test_suspended_organisation_is_refused_until_it_is_resumed(self):
        self.correct(self.theirs, 1)
        watched = self.theirs.log.WatchEvents(event_service.WatchEventsRequest(from_seq=1), timeout=60)
        self.assertEqual(next(watched).event.seq, 1)
        shown = self.cli("org", "suspend", self.org, "--reason", "contract ended")
        self.assertEqual(shown, f"organisation Acme ({self.org}) is SUSPENDED\n")
        with self.assertRaises(grpc.RpcError) as end:
            list(watched)
        self.assertEqual(end.exception.code(), grpc.StatusCode.PERMISSION_DENIED)
        error = self.refused(lambda: self.correct(self.theirs, 2))
        self.assertEqual(error.code(), grpc.StatusCode.PERMISSION_DENIED)
        self.assertIn(f"organisation {self.org} is suspended; expected the operator", error.details())
        status, reply = self.post("EventService/ListEvents", {})
        self.assertEqual((status, reply["code"]), (403, "permission_denied"))
        self.assertEqual(self.state(), "SUSPENDED")
        self.assertRegex(self.cli("org", "list"), r"Acme +SUSPENDED")
        self.assertIn("corrections kept", self.cli("org", "settings", self.org))

        self.assertEqual(self.server.stop(), 0)
        self.server.start()
        self.assertEqual(self.post("EventService/ListEvents", {})[0], 403)
        self.assertEqual(self.cli("org", "resume", self.org, "--reason", "contract renewed"),
                         f"organisation Acme ({self.org}) is ACTIVE\n")
        self.assertEqual(self.state(), "ACTIVE")
        status, reply = self.post("EventService/ListEvents", {})
        self.assertEqual(status, 200)
        reasons = [event["organizationStateSet"]["reason"] for event in reply["events"] if "organizationStateSet" in event]
        self.assertEqual(reasons, ["contract renewed", "contract ended"])
        self.assertIn("everything holds", self.cli("admin", "verify"))


class SuspensionWithAJournal(Suspension):
    engine = "journal"

    def test_own_organisation_of_the_server_stays(self):
        default = json.loads(self.cli("org", "list", "--json"))["organizations"][0]
        self.assertEqual(default["name"], "default")
        error = self.cli("org", "suspend", default["id"], "--reason", "x", expected=1)
        self.assertIn("FAILED_PRECONDITION", error)
        self.assertIn("'default' is the server's own", error)
        self.assertIn("--reason", self.cli("org", "suspend", self.org, expected=2))


class Deletions(Organizations):
    batches = BATCHES

    def fill(self):
        """Corrections of both organisations, and a suspension."""
        for batch in range(self.batches):
            self.theirs.feedback.BatchCaptureFeedbackEvents(feedback_service.BatchCaptureFeedbackEventsRequest(events=[
                feedback.FeedbackEvent(event_type=LINE, layout_fingerprint=f"layout {batch}", document_id=f"d{number}",
                                       actor_user_id="ada", entity_type="line", entity_id=f"{batch}/{number}",
                                       after_json='{"qty":%d,"note":"Zebra"}' % number)
                for number in range(BATCH)]))
        self.correct(self.client, 1)
        self.cli("org", "suspend", self.org, "--reason", "contract ended")

    def delete(self, *arguments, **options):
        return self.cli("org", "delete", self.org, "--confirm-name", "Acme", "--reason", "request 17", *arguments, **options)

    def listed(self):
        return [org["id"] for org in json.loads(self.cli("org", "list", "--all", "--json"))["organizations"]]

    def audited(self):
        """The events of the deletion, oldest first."""
        events = json.loads(self.cli("admin", "audit", "--all", "--json"))["events"]
        return [event["organizationDeleted"] for event in reversed(events) if "organizationDeleted" in event]

    def in_journal(self, text):
        folder = os.path.join(self.data, "journal")
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            with open(os.path.join(folder, name), "rb") as f:
                if text.encode() in f.read():
                    return True
        return False

    def expect_gone(self):
        wait_until(lambda: len(self.audited()) == 2, "the end of the deletion", 60)
        self.assertNotIn(self.org, self.listed())
        self.assertIn("everything holds", self.cli("admin", "verify"))
        self.assertFalse(self.in_journal("Zebra"))
        begun, ended = self.audited()
        self.assertEqual((begun["name"], begun["reason"], ended["completed"]), ("Acme", "request 17", True))
        self.assertEqual(int(begun["eventCount"]), self.batches * BATCH + 3)  # created, its token, suspended
        self.assertNotEqual(self.cli("org", "create", "Acme").strip(), self.org)
        self.correct(self.server.client(), 2)


class Deletion(Deletions):
    def test_deletion_is_confirmed_and_leaves_nothing(self):
        self.assertIn("FAILED_PRECONDITION", self.delete(expected=1))
        self.fill()
        wrong = self.cli("org", "delete", self.org, "--confirm-name", "acme", "--reason", "x", expected=1)
        self.assertIn("confirm_name: not the organisation's name; expected 'Acme'", wrong)
        shown = self.delete()
        self.assertIn(f"organisation {self.org} is deleted", shown)
        self.assertEqual(self.refused(lambda: self.correct(self.theirs, 2)).code(), grpc.StatusCode.UNAUTHENTICATED)
        self.expect_gone()

    def test_deletion_ends_after_a_rebuild(self):
        self.fill()
        self.delete("--no-wait")
        self.server.kill9()
        done = subprocess.run([os.path.join(BIN, "erratad"), "--rebuild", "--data", self.data], capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done)
        self.server.start()
        self.expect_gone()


class KilledDeletion(Deletions):
    engine = "journal"
    batches = 30  # enough that the deletion has not ended when its first rows are removed

    def deleted_rows(self, client):
        """Returns the number of removed rows; 0 once the organisation is not listed."""
        listed = client.admin.ListOrganizations(admin.ListOrganizationsRequest(id_prefix=self.org)).organizations
        return listed[0].deletion.deleted_row_count if listed else 0

    def begin(self):
        """Begins the deletion; returns after its first steps."""
        self.fill()
        self.client.admin.DeleteOrganization(organization.DeleteOrganizationRequest(
            org_id=self.org, confirm_name="Acme", reason="request 17"))
        wait_until(lambda: self.deleted_rows(self.client), "the first step", 20)

    def expect_ended_after(self, moment):
        """The second server completed the deletion, so it was interrupted between its steps."""
        self.expect_gone()
        events = json.loads(self.cli("admin", "audit", "--all", "--json"))["events"]
        ended = next(event for event in events if event.get("organizationDeleted", {}).get("completed"))
        self.assertGreater(datetime.datetime.fromisoformat(ended["recordedAt"]), moment)

    def test_deletion_ends_after_kills_between_its_steps(self):
        self.begin()
        self.server.kill9()
        moment = datetime.datetime.now(datetime.timezone.utc)
        self.server.start()
        self.server.kill9()
        self.server.start()
        self.expect_ended_after(moment)

    def test_backup_between_the_steps_goes_on_deleting(self):
        self.begin()
        self.cli("admin", "backup", os.path.join(self.folder, "backup"))
        copy = os.path.join(self.folder, "copy")
        done = subprocess.run([os.path.join(BIN, "erratad"), "--restore", os.path.join(self.folder, "backup"), "--data", copy],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done)
        self.server.kill9()
        shutil.copy(os.path.join(self.data, "admin.token"), copy)
        self.data = copy
        moment = datetime.datetime.now(datetime.timezone.utc)
        self.server = Server(data=copy, arguments=("--pdf-worker", "/nowhere"), environment={"ERRATA_LOG": self.engine}).start()
        self.addCleanup(self.server.close)
        self.expect_ended_after(moment)


class KilledDeletionWithoutAJournal(KilledDeletion):
    engine = "lmdb"
    test_backup_between_the_steps_goes_on_deleting = None  # a backup has no journal


if __name__ == "__main__":
    main()
