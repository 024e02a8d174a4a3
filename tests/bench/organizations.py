#!/usr/bin/python3
"""tests/bench/organizations.py [--events N] [--organizations N] [--engine NAME] [--bin DIR]

Measures organisations. Deletion: an organisation with so many corrections is deleted while another one captures, one
call at a time; the latency of its captures before, meanwhile and after. Many: so many organisations with a token each;
the time from the start of the server to its first answer, and the memory of an idle one.
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
THREADS = 16
BASE_SECONDS = 10


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--events", type=int, default=100000, help="of the organisation that is deleted; 0: none (100000)")
    parser.add_argument("--organizations", type=int, default=10000, help="that are idle; 0: none (10000)")
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

    def report(self, name, begin, end):
        took = sorted(latency for at, latency in self.latencies if begin <= at <= end)
        if took:
            print(f"{name:<22} {len(took):6} captures, p50 {took[len(took) // 2] * 1e3:.2f} ms, "
                  f"p99 {took[len(took) * 99 // 100] * 1e3:.2f} ms, max {took[-1] * 1e3:.2f} ms", flush=True)


def fill(client, events):
    def send(batch):
        client.feedback.BatchCaptureFeedbackEvents(feedback_service.BatchCaptureFeedbackEventsRequest(events=[
            feedback.FeedbackEvent(event_type=LINE, layout_fingerprint=f"layout {number % 500}", document_id=f"d{number}",
                                   actor_user_id="ada", entity_type="line", entity_id=str(number),
                                   after_json='{"qty":%d,"note":"%s"}' % (number, "x" * 300))
            for number in range(batch * BATCH, (batch + 1) * BATCH)]), timeout=600)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(send, range(events // BATCH)))


def measure_deletion(options, folder):
    server = Server(data=folder, arguments=("--pdf-worker", "/nowhere"), environment={"ERRATA_LOG": options.engine}).start()
    client = server.client()
    org = client.create_org("large")
    fill(server.client(client.create_token(roles.ROLE_ADMIN, org_id=org.id).secret), options.events)
    client.admin.SuspendOrganization(organization.SuspendOrganizationRequest(org_id=org.id, reason="bench"))
    captures = Captures(server.client())
    captures.start()
    time.sleep(BASE_SECONDS)
    began = time.monotonic()
    client.admin.DeleteOrganization(organization.DeleteOrganizationRequest(org_id=org.id, confirm_name="large", reason="bench"))
    rows = 0
    while True:
        listed = client.admin.ListOrganizations(admin.ListOrganizationsRequest(id_prefix=org.id)).organizations
        if not listed:
            break
        rows = listed[0].deletion.deleted_row_count
        time.sleep(0.1)
    ended = time.monotonic()
    time.sleep(BASE_SECONDS)
    captures.ended = True
    captures.join()
    print(f"{options.events} events, about {rows} rows deleted in {ended - began:.1f} s ({options.engine})")
    captures.report("before the deletion", 0, began)
    captures.report("during the deletion", began, ended)
    captures.report("after the deletion", ended, time.monotonic())
    server.close()


def resident_kib(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as f:
        lines = dict(line.split(":", 1) for line in f)
    return int(lines["RssAnon"].split()[0]), int(lines["RssFile"].split()[0])


def measure_many(options, folder):
    server = Server(data=folder, arguments=("--pdf-worker", "/nowhere"), environment={"ERRATA_LOG": options.engine}).start()
    client = server.client()

    def make(number):
        org = client.create_org(f"idle {number}")
        client.create_token(roles.ROLE_ADMIN, org_id=org.id)
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(make, range(options.organizations)))
    server.stop()
    times = []
    for _ in range(3):
        began = time.monotonic()
        server.start()
        server.client().create_org(f"first {began}")
        times.append(time.monotonic() - began)
        anonymous, mapped = resident_kib(server)
        server.stop()
    empty = Server(data=folder + "-empty", arguments=("--pdf-worker", "/nowhere"),
                   environment={"ERRATA_LOG": options.engine}).start()
    empty.client().create_org("first")
    base, base_mapped = resident_kib(empty)
    empty.close()
    print(f"{options.organizations} organisations with a token each: from the start to the first write answered "
          f"{sorted(times)[1]:.2f} s (median of 3); memory of the server's own {anonymous / 1024:.1f} MiB, of an empty one "
          f"{base / 1024:.1f} MiB: {(anonymous - base) * 1024 / options.organizations:.0f} bytes an idle organisation; pages of the "
          f"file in memory {mapped / 1024:.1f} MiB and {base_mapped / 1024:.1f} MiB ({options.engine})")


def run():
    for name, wanted, measure in (("deletion", parse_options.events, measure_deletion),
                                  ("many", parse_options.organizations, measure_many)):
        folder = tempfile.mkdtemp(prefix="errata-bench-organizations-")
        try:
            if wanted > 0:
                measure(parse_options, os.path.join(folder, name))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    parse_options = parse()
    os.environ["ERRATA_BIN"] = os.path.abspath(parse_options.bin)
    os.environ.setdefault("ERRATA_STUBS", os.path.abspath(os.path.join(parse_options.bin, "..", "gen", "python")))
    from erratad import Server, admin, feedback, feedback_service, organization, roles
    LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
    run()
