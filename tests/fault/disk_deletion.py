"""The deletion of an organisation on a disk that fails on request, and with kills in between: the next server continues
by itself, nothing is left at the end, and the other organisation keeps its data.
"""
import os
import shutil
import tempfile
import time

import disk_fixture
from erratad import admin, feedback_service, organization, roles

EVENTS = 400  # number of rows of the deleted organisation: several steps, the first of 64 rows
BATCH = 100
END_SECONDS = 60
NAME = "gone"


class Deletion:
    """A data folder with a suspended organisation, of which each run gets a copy."""

    def __init__(self, disk):
        self.disk = disk
        self.found = {"before it began": 0, "between its steps": 0, "after its last row": 0}
        self.template = tempfile.mkdtemp(prefix="errata-deletion-")
        server = disk_fixture.FaultServer(self.template)
        client, _ = disk_fixture.recover(server)
        self.kept = client.capture(actor_user_id="ada", event_type=disk_fixture.LINE, layout_fingerprint="kept",
                                   entity_type="line", entity_id="kept", after_json='{"qty":1}').id
        self.org = client.create_org(NAME).id
        theirs = server.client(client.create_token(roles.ROLE_ADMIN, org_id=self.org).secret)
        for first in range(0, EVENTS, BATCH):
            theirs.feedback.BatchCaptureFeedbackEvents(feedback_service.BatchCaptureFeedbackEventsRequest(
                events=[disk_fixture.capture_of(f"gone-{number}") for number in range(first, first + BATCH)]))
        client.admin.SuspendOrganization(organization.SuspendOrganizationRequest(org_id=self.org, reason="end"))
        server.close()
        os.unlink(os.path.join(self.template, "reserve"))

    def deletion(self, client):
        """Returns the progress of the deletion; None if the organisation is not listed."""
        listed = client.admin.ListOrganizations(admin.ListOrganizationsRequest(id_prefix=self.org)).organizations
        return listed[0].deletion if listed else None

    def begin(self, client):
        client.admin.DeleteOrganization(organization.DeleteOrganizationRequest(
            org_id=self.org, confirm_name=NAME, reason="request"), timeout=20)

    def wait_for_end(self, client, until=lambda deletion: deletion is None):
        """Returns false if the state is not reached in time."""
        end = time.monotonic() + END_SECONDS
        while not until(self.deletion(client)):
            if time.monotonic() > end:
                return False
            time.sleep(0.002)
        return True

    def copy(self):
        server = disk_fixture.FaultServer()
        shutil.copytree(self.template, server.data, dirs_exist_ok=True)
        return server

    def run(self, recoveries, **how):
        """Deletes in a copy while the disk fails as `how` specifies; the next server completes the deletion. Returns
        the problems."""
        server = self.copy()
        try:
            if server.launch(self.disk.environment(server.data, **how)) is None:
                self.delete_until_dead(server)
            if server.process is not None:
                server.kill9()
            client, seconds = disk_fixture.recover(server)
            recoveries.append(seconds)
            self.found[self.place(client)] += 1
            return self.check(client)
        except (disk_fixture.Hang, AssertionError, disk_fixture.grpc.RpcError) as e:
            return [f"{type(e).__name__}: {e}"]
        finally:
            if server.process is not None:
                server.kill9()
            server.close()

    def delete_until_dead(self, server):
        client = server.client()
        try:
            self.begin(client)
            self.wait_for_end(client, lambda deletion: deletion is None or server.has_ended())
        except disk_fixture.grpc.RpcError:
            pass  # the server died
        finally:
            client.close()

    def check(self, client):
        """Checks the next server; a deletion that was not recorded is requested again."""
        self.begin_again(client)
        if not self.wait_for_end(client):
            return ["the deletion does not end"]
        problems = []
        events = [event.organization_deleted for event in client.events() if event.WhichOneof("payload") == "organization_deleted"]
        if [event.completed for event in events] != [True, False]:
            problems.append(f"the log of the server has {len(events)} events of the deletion")
        if [event.id for event in client.events() if event.WhichOneof("payload") == "feedback_event"] != [self.kept]:
            problems.append("the other organisation has other events than before")
        report = [part.report for part in client.admin.Verify(admin.VerifyRequest(), timeout=60) if part.HasField("report")][0]
        if not report.clean:
            problems.append(f"verify finds {report.difference_count} differences")
        client.create_org(NAME)  # the name is free
        return problems

    def place(self, client):
        """Returns the step of the deletion in which the server died."""
        listed = client.admin.ListOrganizations(admin.ListOrganizationsRequest(id_prefix=self.org)).organizations
        if not listed:
            return "after its last row"
        return "before it began" if listed[0].state == organization.ORGANIZATION_STATE_SUSPENDED else "between its steps"

    def begin_again(self, client):
        if self.place(client) == "before it began":
            self.begin(client)

    def close(self):
        shutil.rmtree(self.template)
