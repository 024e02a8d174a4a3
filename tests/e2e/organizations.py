#!/usr/bin/python3
"""Organisations over their life: suspended and resumed.

Goal: a suspended organisation is refused in every protocol until it is resumed, and nothing of it is lost. Method: both
engines, the command line, a watcher of its log, a restart.
"""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

import grpc

from erratad import BIN, Server, event_service, feedback, main, roles

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED


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
        self.assertEqual(shown, f"organisation {self.org} is SUSPENDED\n")
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
                         f"organisation {self.org} is ACTIVE\n")
        self.assertEqual(self.state(), "ACTIVE")
        status, reply = self.post("EventService/ListEvents", {})
        self.assertEqual(status, 200)
        reasons = [event["organizationStateSet"]["reason"] for event in reply["events"] if "organizationStateSet" in event]
        self.assertEqual(reasons, ["contract renewed", "contract ended"])
        self.assertIn("everything holds", self.cli("admin", "verify"))

    def test_own_organisation_of_the_server_stays(self):
        default = json.loads(self.cli("org", "list", "--json"))["organizations"][0]
        self.assertEqual(default["name"], "default")
        error = self.cli("org", "suspend", default["id"], "--reason", "x", expected=1)
        self.assertIn("FAILED_PRECONDITION", error)
        self.assertIn("'default' is the server's own", error)
        self.assertIn("--reason", self.cli("org", "suspend", self.org, expected=2))


class SuspensionWithAJournal(Suspension):
    engine = "journal"


if __name__ == "__main__":
    main()
