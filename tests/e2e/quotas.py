#!/usr/bin/python3
"""Quotas of organisations and tokens: refusals by every protocol, and changes.

Goal: a refusal names the limit, the time to wait and the way to change it, in the form of its protocol; an
administrator can always see and change quotas; limits and stored bytes survive a rebuild. Method: a real server, stock
clients of each protocol, the command line, and a kill.
"""
import http.client
import json
import os
import subprocess
import time

import grpc

from errata_cli import Terminal
from erratad import (BIN, Client, ServerCase, admin, error_details_pb2, event_log, event_service, feedback, has_retry_info, main, quota, reason_of,
                     roles, status_of, wait_until)

PUSHBACK = "grpc-retry-pushback-ms"
SECONDS = 30
LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
JSON = {"Content-Type": "application/json"}


def key_id_of(client):
    """The key id of the client's token."""
    return client.metadata[0][1].removeprefix("Bearer ").split("_", 2)[1]


def details_of(error, kind):
    """Returns the detail of this type in an error's status."""
    for detail in status_of(error).details:
        if detail.Is(kind.DESCRIPTOR):
            found = kind()
            detail.Unpack(found)
            return found
    return None


class Quotas(ServerCase):
    def setUp(self):
        self.org = self.admin.create_org(self.id()[-100:]).id
        self.client = self.client_of(roles.ROLE_ADMIN, user_id="root")
        self.addCleanup(self.client.close)

    def client_of(self, role, **named):
        return Client(self.server.address, self.admin.create_token(role, org_id=self.org, **named).secret)

    def limit(self, client=None, **limits):
        """Changes the organisation's quota, or that of a client's token."""
        key_id = key_id_of(client) if client else ""
        return self.admin.admin.SetQuota(admin.SetQuotaRequest(
            org_id=self.org, key_id=key_id, quota=quota.Quota(**limits))).quota

    def usage(self):
        return self.client.admin.ListQuotas(admin.ListQuotasRequest()).quotas

    def list_events(self, client=None):
        return (client or self.client).log.ListEvents(event_service.ListEventsRequest(page_size=1))

    def refusal(self, call, *arguments, **named):
        with self.assertRaises(grpc.RpcError) as caught:
            call(*arguments, **named)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED, caught.exception)
        return caught.exception

    def capture(self, size=10):
        return self.client.capture(event_type=LINE, layout_fingerprint="a", before_json='{"n":1}',
                                   after_json='{"n":"%s"}' % ("x" * size))

    def test_refused_request_says_when_to_come_back(self):
        """A caller that waits for the given time is served, repeatedly."""
        self.limit(requests_per_second=5, request_burst=1)
        self.list_events()
        for _ in range(3):
            error = self.refusal(self.list_events)
            self.assertEqual(reason_of(error), "REQUESTS_PER_SECOND")
            self.assertTrue(has_retry_info(error))
            wait_ms = int(dict(error.trailing_metadata())[PUSHBACK])
            self.assertTrue(0 < wait_ms <= 200, wait_ms)
            delay = details_of(error, error_details_pb2.RetryInfo).retry_delay
            self.assertEqual(delay.ToMilliseconds(), wait_ms)
            violation = details_of(error, error_details_pb2.QuotaFailure).violations[0]
            self.assertEqual(violation.subject, f"organization:{self.org}")
            self.assertIn("limit of 5 requests per second", violation.description)
            self.assertIn(f"errata admin quota --org {self.org} --requests-per-second N", error.details())
            time.sleep(wait_ms / 1000)
            self.list_events()
        refused = self.server.counters(self.admin)["refused_quota_requests_total"]
        self.assertGreaterEqual(refused, 3)

    def test_quotas_can_be_seen_and_changed_at_their_limit(self):
        """A token with the server flag is never limited; an administrator without it waits like others, and another one
        can raise the limit of its token."""
        own = self.client_of(roles.ROLE_ADMIN, user_id="ada")
        self.addCleanup(own.close)
        self.limit(own, requests_per_second=1, request_burst=1)
        self.list_events(own)
        key_id = key_id_of(own)
        unlock = admin.SetQuotaRequest(key_id=key_id, quota=quota.Quota(requests_per_second=0))
        for call, request in ((own.admin.ListQuotas, admin.ListQuotasRequest()), (own.admin.SetQuota, unlock),
                              (own.admin.GetServerInfo, admin.GetServerInfoRequest())):
            self.assertEqual(reason_of(self.refusal(call, request)), "REQUESTS_PER_SECOND")
        self.client.admin.SetQuota(unlock)
        self.limit(requests_per_second=1, request_burst=1)
        self.list_events(own)
        self.refusal(self.list_events, own)
        for _ in range(5):
            self.assertEqual(len(self.admin.admin.ListQuotas(admin.ListQuotasRequest(org_id=self.org)).quotas), 2)
        self.limit(requests_per_second=0)
        for _ in range(20):
            self.list_events(own)
        with self.assertRaises(grpc.RpcError) as caught:  # the organisation's own needs the server flag
            own.admin.SetQuota(admin.SetQuotaRequest(quota=quota.Quota(pdf_jobs=1)))
        self.assertEqual(caught.exception.code(), grpc.StatusCode.PERMISSION_DENIED)

    def test_every_protocol_counts_and_refuses(self):
        """Connect, plain JSON and MCP: the code 429, or an error of a tool, and the delay."""
        host, port = self.server.address.rsplit(":", 1)
        calls = (("POST", "/errata.v1.AnalyticsService/GetLearningAnalytics", "{}"), ("GET", "/feedback/stats", None),
                 ("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                     "name": "get_examples", "arguments": {"layoutFingerprint": "x"}}})))
        for verb, path, body in calls:
            client = self.client_of(roles.ROLE_ADMIN)
            self.addCleanup(client.close)
            self.limit(client, requests_per_second=1)
            self.list_events(client)
            connection = http.client.HTTPConnection(host, int(port), timeout=SECONDS)
            self.addCleanup(connection.close)
            connection.request(verb, path, body, {**(JSON if body else {}), "Authorization": client.metadata[0][1],
                                                  "Accept": "application/json, text/event-stream"})
            response = connection.getresponse()
            text = response.read().decode()
            self.assertIn("limit of 1 requests per second", text, path)
            if path != "/mcp":
                self.assertEqual(response.status, 429, path)

    def test_streams_are_limited_until_one_ends(self):
        self.limit(concurrent_streams=2)
        watches = [self.client.log.WatchEvents(event_service.WatchEventsRequest(from_seq=1)) for _ in range(2)]
        for watch in watches:
            self.addCleanup(watch.cancel)
            self.assertEqual(next(watch).event.seq, 1)
        error = self.refusal(next, self.client.log.WatchEvents(event_service.WatchEventsRequest(from_seq=1)))
        self.assertEqual(reason_of(error), "CONCURRENT_STREAMS")
        self.assertEqual(self.usage()[0].concurrent_streams, 2)
        watches[0].cancel()
        wait_until(lambda: self.usage()[0].concurrent_streams == 1, "the end of a stream", SECONDS)
        again = self.client.log.WatchEvents(event_service.WatchEventsRequest(from_seq=1))
        self.addCleanup(again.cancel)
        self.assertEqual(next(again).event.seq, 1)

    def test_stored_bytes_end_writes_until_content_is_erased(self):
        """Reads and administration continue; an erasure makes room; the stored bytes are the same after a
        kill."""
        for _ in range(10):
            self.capture(2000)
        self.limit(stored_bytes=20_000)
        error = self.refusal(self.capture)
        self.assertEqual(reason_of(error), "STORED_BYTES")
        self.assertEqual(dict(error.trailing_metadata())[PUSHBACK], "60000")
        self.list_events()
        self.client.update_settings(holdout_percent=5)
        stored = self.usage()[0].stored_bytes
        self.assertGreater(stored, 20_000)
        list(self.client.admin.EraseContent(admin.EraseContentRequest(user_id="root", reason="r"), timeout=SECONDS))
        self.assertLess(self.usage()[0].stored_bytes, 5_000)
        self.capture()
        stored = self.usage()[0].stored_bytes
        report = list(self.admin.admin.Verify(admin.VerifyRequest(), timeout=SECONDS))[-1].report
        self.assertTrue(report.clean, report)
        self.server.kill9()
        done = subprocess.run([os.path.join(BIN, "erratad"), "--rebuild", "--data", self.server.data],
                              capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(done.returncode, 0, done)
        self.server.start()
        type(self).admin = self.server.client()
        after = self.admin.admin.ListQuotas(admin.ListQuotasRequest(org_id=self.org)).quotas[0]
        self.assertEqual((after.stored_bytes, after.quota.stored_bytes), (stored, 20_000))

    def command(self, *words):
        return [os.path.join(BIN, "errata"), "admin", "quota", *words, "--server", self.server.address,
                "--token-file", os.path.join(self.server.data, "admin.token")]

    def test_command_takes_sizes_and_shows_them_on_a_terminal(self):
        for size, number in (("20GiB", 20 << 30), ("512MiB", 512 << 20), ("64KiB", 64 << 10), ("1TiB", 1 << 40), ("70000", 70_000)):
            done = subprocess.run(self.command("--org", self.org, "--stored-bytes", size), capture_output=True, text=True, timeout=SECONDS)
            self.assertRegex(done.stdout, rf"stored bytes +{number}\n", done)
            self.assertEqual(self.usage()[0].quota.stored_bytes, number)
        for size in ("20GB", "1.5GiB", "-1", "GiB", "9223372036854775807KiB", "8388608TiB", ""):
            done = subprocess.run(self.command("--org", self.org, "--stored-bytes", size), capture_output=True, text=True, timeout=SECONDS)
            self.assertIn(f'--stored-bytes "{size}": invalid size; expected one such as 512MiB or 10GiB', done.stderr)
        self.assertEqual(self.usage()[0].quota.stored_bytes, 70_000)
        terminal = Terminal(self.command("--org", self.org, "--stored-bytes", "20GiB"), os.environ | {"TERM": "dumb"}, self.server.data)
        shown = terminal.read()
        self.assertEqual(terminal.close(), 0, shown)
        self.assertRegex(shown, r"stored bytes +20\.0 GiB\r?\n")

    def test_command_lists_and_changes_quotas(self):
        def errata(*words):
            done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=SECONDS)
            self.assertEqual(done.returncode, 0, done)
            return done.stdout

        shown = errata("--org", self.org, "--requests-per-second", "200", "--request-burst", "1000")
        self.assertRegex(shown, r"requests per second +200\nrequest burst +1000\nconcurrent streams +no limit")
        key_id = key_id_of(self.client)
        errata("--org", self.org, "--key-id", key_id, "--pdf-jobs", "2", "--concurrent-streams", "4")
        table = errata("--org", self.org).splitlines()
        self.assertEqual(len(table), 3, table)
        self.assertRegex(table[1], r"^organisation +200, burst 1000 +1000 +0 +0 +\d+")
        self.assertRegex(table[2], rf"^{key_id} +0 of 4 +0 of 2")
        events = self.client.admin.ListAudit(admin.ListAuditRequest()).events
        self.assertEqual([event.kind for event in events[:2]], [event_log.EVENT_KIND_QUOTA_SET] * 2)
        self.assertEqual(events[0].quota_set.key_id, key_id)
        self.assertEqual(events[0].quota_set.after.pdf_jobs, 2)
        self.assertEqual(events[1].quota_set.before, quota.Quota())


if __name__ == "__main__":
    main()
