#!/usr/bin/python3
"""tests/bench/org_delete.py [--events N] [--rounds N] [--engine NAME] [--bin DIR]

Measures the deletion of organisations with so many corrections each while another organisation captures, one call at a time:
the longest capture, and p99, beside each deletion, and in the same time before it without one, which is the machine's own
noise; then after the last one. The goal is a longest capture of at most 20 ms more than without.
"""
import argparse
import concurrent.futures
import os
import shutil
import sys
import tempfile
import threading
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

BATCH = 1000
QUIET_SECONDS = 10  # seconds of the first interval without a deletion; others last as long as the deletion before


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--events", type=int, default=100000, help="of each organisation that is deleted (100000)")
    parser.add_argument("--rounds", type=int, default=3, help="organisations that are deleted, one after the other (3)")
    parser.add_argument("--engine", default="journal", help="journal or lmdb (journal)")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"))
    return parser.parse_args()


class Captures(threading.Thread):
    """Captures of one organisation, one after the other, with their latencies."""

    def __init__(self, client):
        super().__init__(daemon=True)
        self.client, self.ended = client, False
        self.latencies = []

    def run(self):
        number = 0
        while not self.ended:
            number += 1
            began = time.monotonic()
            self.client.capture(event_type=LINE, layout_fingerprint=f"layout {number % 50}", document_id=f"d{number}",
                                actor_user_id="ada", entity_type="line", entity_id=str(number),
                                after_json='{"qty":%d,"note":"%s"}' % (number, "x" * 300))
            self.latencies.append((time.monotonic(), time.monotonic() - began))

    def report(self, name, spans):
        """Prints the latencies of the captures that ended within the spans, and the times of the longest
        ones."""
        took = sorted((latency, at - begin) for at, latency in self.latencies for begin, end in spans if begin <= at <= end)
        if took:
            print(f"{name:<24} {len(took):6} captures, p50 {took[len(took) // 2][0] * 1e3:.2f} ms, "
                  f"p99 {took[len(took) * 99 // 100][0] * 1e3:.2f} ms, longest "
                  + ", ".join(f"{latency * 1e3:.1f} ms after {at:.1f} s" for latency, at in took[-1:-4:-1]), flush=True)


def fill(client, events):
    def send(batch):
        client.feedback.BatchCaptureFeedbackEvents(feedback_service.BatchCaptureFeedbackEventsRequest(events=[
            feedback.FeedbackEvent(event_type=LINE, layout_fingerprint=f"layout {number % 500}", document_id=f"d{number}",
                                   actor_user_id="ada", entity_type="line", entity_id=str(number),
                                   after_json='{"qty":%d,"note":"%s"}' % (number, "x" * 300))
            for number in range(batch * BATCH, (batch + 1) * BATCH)]), timeout=600)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(send, range(events // BATCH)))


def make_org(server, client, events, name):
    org = client.create_org(name)
    fill(server.client(client.create_token(roles.ROLE_ADMIN, org_id=org.id).secret), events)
    client.admin.SuspendOrganization(organization.SuspendOrganizationRequest(org_id=org.id, reason="bench"))
    return org.id


def delete(client, org, name):
    """Deletes an organisation; returns the start, the end, and the approximate number of rows."""
    began, rows = time.monotonic(), 0
    client.admin.DeleteOrganization(organization.DeleteOrganizationRequest(org_id=org, confirm_name=name, reason="bench"))
    while True:
        listed = client.admin.ListOrganizations(admin.ListOrganizationsRequest(id_prefix=org)).organizations
        if not listed:
            return (began, time.monotonic()), rows
        rows = listed[0].deletion.deleted_row_count
        time.sleep(0.1)


def measure(options, folder):
    server = Server(data=folder, arguments=("--pdf-worker", "/nowhere"), environment={"ERRATA_LOG": options.engine}).start()
    client = server.client()
    names = [f"large {number}" for number in range(options.rounds)]
    orgs = [make_org(server, client, options.events, name) for name in names]
    captures = Captures(server.client())
    captures.start()
    quiet, busy, seconds = [], [], QUIET_SECONDS
    for org, name in zip(orgs, names):
        began = time.monotonic()
        time.sleep(seconds)
        quiet.append((began, time.monotonic()))
        span, rows = delete(client, org, name)
        busy.append(span)
        seconds = span[1] - span[0]
        print(f"{options.events} events, about {rows} rows, deleted in {seconds:.1f} s ({options.engine})", flush=True)
        captures.report("before", quiet[-1:])
        captures.report("beside the deletion", busy[-1:])
    time.sleep(seconds)
    captures.ended = True
    captures.join()
    captures.report("after the last", [(busy[-1][1], time.monotonic())])
    captures.report("all without a deletion", quiet)
    captures.report("all beside a deletion", busy)
    server.close()


def run():
    folder = tempfile.mkdtemp(prefix="errata-bench-org-delete-")
    try:
        measure(parse_options, os.path.join(folder, "data"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    parse_options = parse()
    os.environ["ERRATA_BIN"] = os.path.abspath(parse_options.bin)
    os.environ.setdefault("ERRATA_STUBS", os.path.abspath(os.path.join(parse_options.bin, "..", "gen", "python")))
    from erratad import Server, admin, feedback, feedback_service, organization, roles
    LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
    run()
