"""A server on a disk that fails on request, a load of known writes, and the check of the stored
data afterwards.

Used by tools/crash-points, tools/disk-errors and tools/power-cut. disk_shim.c is between erratad
and libc; each write has an idempotency key and a name that its event contains.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

import grpc  # noqa: E402
from erratad import (BIN, Server, WORKER, admin, event_log, event_service, feedback,  # noqa: E402
                     feedback_service, layout, organization, roles)
from pdf_data import INVOICE, read  # noqa: E402

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
CALL_SECONDS = 10  # a call that takes longer hangs
DOCUMENT_ATTEMPTS = 5
DOCUMENT_DELAY_SECONDS = 1
DOCUMENT_SECONDS = 120  # documents are measured only while the machine is idle
START_SECONDS = 20
EXIT_STORE = 75
REFUSED_SECONDS = 30  # a step that is refused for longer hangs
REFUSED_PAUSE_SECONDS = 0.05
# Statuses of a write while the disk is failing; the write is then repeated with its key.
REFUSALS = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)
CAPTURE = "/errata.v1.FeedbackService/CaptureFeedbackEvent"
BATCH = "/errata.v1.FeedbackService/BatchCaptureFeedbackEvents"
BATCH_EVENTS = 3
BURST_CAPTURES = 6


def build_shim(folder):
    """Compiles the shim into a folder; returns its path. It also works with a sanitized server."""
    library = os.path.join(folder, "disk_shim.so")
    compile_library(library, "disk_shim.c", "disk_room.c")
    return library


def compile_library(library, *names):
    sources = [os.path.join(ROOT, "tests", "fault", name) for name in names]
    subprocess.run(["gcc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1", "-o", library, *sources, "-ldl"], check=True)


class Hang(Exception):
    """An operation exceeded its time limit."""


class Disk:
    """The shim, and a folder for its reports."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="errata-disk-")
        self.library = build_shim(self.folder)
        self.switch = os.path.join(self.folder, "switch")
        self.report_path = os.path.join(self.folder, "reported")
        self.journal = os.path.join(self.folder, "journal")
        self.room = None  # FOLDER:BYTES, for a folder whose file system reports so many free bytes
        self.clock = None  # the clocks' offsets (clock_shim.c)

    def environment(self, data, crash=None, fail=None, journal=False):
        """Returns the environment for erratad."""
        sanitizer = os.environ.get("ASAN_OPTIONS", "")
        libraries = self.library if self.clock is None else f"{self.library}:{self.clock}.so"
        names = {"LD_PRELOAD": libraries, "JUMPING_CLOCK": self.clock, "DISK_FOLDER": data, "DISK_SWITCH": self.switch,
                 "DISK_REPORTED": self.report_path, "DISK_CRASH": crash, "DISK_FAIL": fail,
                 "DISK_JOURNAL": self.journal if journal else None, "DISK_ROOM": self.room,
                 "ASAN_OPTIONS": f"{sanitizer}:verify_asan_link_order=0"}
        return {name: value for name, value in names.items() if value is not None}

    def use_clock(self):
        """From now on `advance` sets the monotonic clock of servers ahead."""
        self.clock = os.path.join(self.folder, "clock")
        compile_library(f"{self.clock}.so", "clock_shim.c")
        self.seconds_ahead = 0
        with open(self.clock, "wb") as f:
            f.write(bytes(16))

    def advance(self, seconds):
        self.seconds_ahead += seconds
        with open(self.clock, "r+b") as f:
            f.seek(8)
            f.write(struct.pack("=q", self.seconds_ahead * 10**9))

    def turn(self, what, on=True, text=""):
        """Turns a switch of the shim on or off."""
        path = f"{self.switch}.{what}"
        if on:
            with open(f"{path}.new", "w", encoding="ascii") as f:
                f.write(text)
            os.rename(f"{path}.new", path)
        elif os.path.exists(path):
            os.unlink(path)

    def take_reported(self):
        """Returns the calls that the shim changed since the last time, as (number, call, failure)."""
        if not os.path.exists(self.report_path):
            return []
        with open(self.report_path, encoding="ascii") as f:
            lines = [line.split() for line in f]
        os.unlink(self.report_path)
        return lines

    def journal_bytes(self):
        return os.path.getsize(self.journal) if os.path.exists(self.journal) else 0

    def forget_journal(self):
        if os.path.exists(self.journal):
            os.unlink(self.journal)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class FaultServer(Server):
    """An erratad that may die or refuse to start."""

    def launch(self, environment):
        """Starts the server. Returns None if it serves; else the exit code with which it ended
        before."""
        self.environment = {**os.environ, **environment}
        address_file = os.path.join(self.data, "address")
        if os.path.exists(address_file):
            os.unlink(address_file)
        self.log = open(self.log_path, "ab")
        self.process = subprocess.Popen(
            [self.program, "--data", self.data, "--listen", "127.0.0.1:0", *self.arguments],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=self.environment)
        printed_from = os.path.getsize(self.log_path)
        end = time.monotonic() + START_SECONDS
        while not self.read_address(address_file):
            if self.printed_address(printed_from):
                break
            code = self.process.poll()
            if code is not None:
                self.log.close()
                self.process = None
                return code
            if time.monotonic() > end:
                raise Hang(f"the start took more than {START_SECONDS} s")
            time.sleep(0.001)
        self.address = self.read_address(address_file) or self.printed_address(printed_from)
        return None

    def printed_address(self, start):
        """Returns the address from the output since then: a full disk may have no room for the address file."""
        with open(self.log_path, "rb") as f:
            f.seek(start)
            found = re.search(rb"^(127\.0\.0\.1:\d+)\n", f.read(), re.MULTILINE)
        return found[1].decode() if found else ""

    def run_rebuild(self, environment):
        """erratad --rebuild, while no server runs."""
        return subprocess.run([self.program, "--data", self.data, "--rebuild"],
                              env={**os.environ, **environment}, capture_output=True,
                              encoding="utf-8", timeout=60, check=False)

    def has_ended(self):
        return self.process is None or self.process.poll() is not None

    def wait(self, seconds=START_SECONDS):
        try:
            return super().wait(seconds)
        except RuntimeError as e:
            raise Hang(str(e)) from None

    def take_exit(self):
        """Returns the exit code of a server that is about to exit."""
        code = self.wait()
        self.log.close()
        self.process = None
        return code


def has_worker():
    return os.path.exists(os.path.join(BIN, WORKER))


def capture_of(name, bytes_more=0):
    """A correction that contains a name."""
    return feedback.FeedbackEvent(
        event_type=LINE, actor_user_id="ada", layout_fingerprint=f"layout-{sum(name.encode()) % 5}", entity_type="line",
        entity_id=name, before_json='{"unit_price": 1}',
        after_json='{"unit_price": 2, "note": "%s"}' % (name * 8 + "9" * bytes_more))


class Step:
    """A write of the load: its calls, the names in its events, and its answer."""

    def __init__(self, what, names, bytes_more=0):
        self.what = what
        self.names = names
        self.bytes_more = bytes_more  # of each capture
        self.answers = [None] * (len(names) if what == "burst" else 1)
        self.positions = [0] * len(self.answers)  # position of the journal at each answer
        self.key_id = None  # key id of the token that is revoked

    def as_of(self, position):
        """The same step at the time when the journal had this many bytes."""
        then = Step(self.what, self.names, self.bytes_more)
        for at, answer in enumerate(self.answers):
            if answer is not None and self.positions[at] <= position:
                then.answers[at] = answer
                then.key_id = self.key_id
        return then

    def is_acknowledged(self):
        return all(answer is not None for answer in self.answers)


def make_steps(count, with_documents, bytes_more=0):
    """The load: its writes, in order."""
    kinds = ["capture", "capture", "batch", "burst", "token", "revoke", "capture", "organization",
             "capture", "document" if with_documents else "capture"]
    steps = []
    for number in range(count):
        what = kinds[number % len(kinds)]
        names = {"batch": BATCH_EVENTS, "burst": BURST_CAPTURES}.get(what, 1)
        steps.append(Step(what, [f"s{number}-{i}" for i in range(names)], bytes_more))
    return steps


class Load:
    """Performs steps, and records the acknowledged ones with their position in the disk's journal."""

    def __init__(self, steps, disk):
        self.steps = steps
        self.disk = disk
        self.client = None
        self.problems = []
        self.acknowledgements = []  # (position of the journal, kind of id, id)
        self.refusals = {}  # status code -> number of refusals
        self.last_refusal = ""  # the step as a sentence
        self.between = None  # called after each step of do_all

    def call(self, path, request, key, seconds=CALL_SECONDS):
        """Returns the reply's bytes; None if the call was refused."""
        code, details, reply = self.client.raw(path, request.SerializeToString(), seconds,
                                               [("idempotency-key", key)])
        if code == grpc.StatusCode.OK:
            return reply
        if code == grpc.StatusCode.DEADLINE_EXCEEDED:
            raise Hang(f"{key}: a call was not answered in {seconds} s")
        if code == grpc.StatusCode.ALREADY_EXISTS and path.endswith("/CreateToken"):
            return details.encode()  # a secret is returned once; it contains the key id
        self.refused(key, code, details)
        return None

    def refused(self, key, code, details):
        """Counts a refusal; one without a retry delay is a problem."""
        self.refusals[code.name] = self.refusals.get(code.name, 0) + 1
        self.last_refusal = f"{code.name} {details}"
        if code not in REFUSALS:
            self.problems.append(f"{key}: {self.last_refusal}")

    def do(self, step):
        """Performs the rest of a step; returns whether all of it is acknowledged."""
        if step.what == "burst":
            self.burst(step)
        else:
            reply = self.single(step, step.names[0])
            if reply is not None:
                self.answered(step, 0, reply)
        return step.is_acknowledged()

    def single(self, step, key):
        if step.what == "capture":
            return self.call(CAPTURE, feedback_service.CaptureFeedbackEventRequest(
                event=capture_of(key, step.bytes_more)), key)
        if step.what == "batch":
            request = feedback_service.BatchCaptureFeedbackEventsRequest(
                events=[capture_of(name, step.bytes_more) for name in step.names])
            return self.call(BATCH, request, key)
        if step.what == "token":
            return self.call("/errata.v1.AdminService/CreateToken", admin.CreateTokenRequest(
                token=admin.Token(role=roles.ROLE_SERVICE)), key)
        if step.what == "revoke":
            return self.call("/errata.v1.AdminService/RevokeToken",
                             admin.RevokeTokenRequest(key_id=self.key_to_revoke(step)), key)
        if step.what == "organization":
            return self.call("/errata.v1.AdminService/CreateOrganization",
                             admin.CreateOrganizationRequest(
                                 organization=organization.Organization(name=key)), key)
        return self.document(layout.IngestDocumentRequest(document_id=key, content=read(INVOICE)), key)

    def document(self, request, key):
        """Repeats a call as often as the server requests another attempt, which it does if the machine is too busy to measure."""
        for _ in range(DOCUMENT_ATTEMPTS):
            self.last_refusal = ""
            reply = self.call("/errata.v1.LayoutService/IngestDocument", request, key, DOCUMENT_SECONDS)
            if reply is not None or "another attempt" not in self.last_refusal:
                return reply
            time.sleep(DOCUMENT_DELAY_SECONDS)
        return None

    def key_to_revoke(self, step):
        """Returns the key id of the newest token; the same for each repeat of the step."""
        if step.key_id is None:
            page = self.client.admin.ListTokens(admin.ListTokensRequest(page_size=1000),
                                                timeout=CALL_SECONDS)
            step.key_id = max((t for t in page.tokens if not t.server),
                              key=lambda t: t.created_at.ToNanoseconds()).key_id
        return step.key_id

    def do_all(self, server, first=0):
        """Performs the steps from `first` on, each until it is acknowledged; returns the first one that is not,
        because the server has ended. A temporarily full disk refuses a step until there is room."""
        end = time.monotonic() + REFUSED_SECONDS
        at = first
        while at < len(self.steps):
            if self.try_to_do(self.steps[at]):
                at += 1
                if self.between is not None:
                    self.between()
                end = time.monotonic() + REFUSED_SECONDS
            elif server.has_ended():
                break
            elif time.monotonic() > end:
                raise Hang(f"{self.steps[at].names} was refused for {REFUSED_SECONDS} s: {self.last_refusal}")
            else:
                time.sleep(REFUSED_PAUSE_SECONDS)
        return at

    def try_to_do(self, step):
        """Performs a step; returns whether all of it is acknowledged. A read before it may be
        refused too."""
        try:
            return self.do(step)
        except grpc.RpcError as e:
            self.last_refusal = f"{e.code().name} {e.details()}"
            return False

    def burst(self, step):
        """Several captures at once, so that they share a commit."""
        call = self.client.plain.unary_unary(CAPTURE)
        futures = {}
        for at, name in enumerate(step.names):
            request = feedback_service.CaptureFeedbackEventRequest(
                event=capture_of(name, step.bytes_more)).SerializeToString()
            futures[at] = call.future(request, timeout=CALL_SECONDS, metadata=[
                *self.client.metadata, ("idempotency-key", name)])
        for at, future in futures.items():
            code = future.code()
            if code == grpc.StatusCode.OK:
                self.answered(step, at, future.result())
            elif code == grpc.StatusCode.DEADLINE_EXCEEDED:
                raise Hang(f"{step.names[at]}: a call was not answered in {CALL_SECONDS} s")
            else:
                self.refused(step.names[at], code, future.details())

    def answered(self, step, at, reply):
        """Compares a reply with the first one, or stores it as the first one."""
        if step.answers[at] is not None:
            if reply != step.answers[at] and step.what != "token":
                self.problems.append(f"{step.names[at]}: a repeat got another answer")
            return
        step.answers[at] = reply
        position = self.disk.journal_bytes()
        step.positions[at] = position
        if step.what in ("capture", "burst"):
            self.acknowledge(position, "e", feedback_service.CaptureFeedbackEventResponse.FromString(reply).event.id)
        elif step.what == "batch":
            for event in feedback_service.BatchCaptureFeedbackEventsResponse.FromString(reply).events:
                self.acknowledge(position, "e", event.id)
        elif step.what == "organization":
            answer = admin.CreateOrganizationResponse.FromString(reply)
            self.acknowledge(position, "o", answer.organization.id)

    def acknowledge(self, position, kind, name):
        self.acknowledgements.append((position, kind, name))

    def write_acknowledgements(self, path):
        with open(path, "w", encoding="ascii") as f:
            for position, kind, name in self.acknowledgements:
                f.write(f"{position} {kind} {name}\n")


def read_events(client):
    events, token = [], ""
    while True:
        page = client.log.ListEvents(
            event_service.ListEventsRequest(page_size=1000, page_token=token), timeout=CALL_SECONDS)
        events += page.events
        token = page.next_page_token
        if not token:
            return sorted(events, key=lambda event: event.seq)


def names_of(event):
    """Returns the names in a step's events: (what, name)."""
    if event.kind == event_log.EVENT_KIND_FEEDBACK:
        return "capture", event.feedback_event.entity_id
    if event.kind == event_log.EVENT_KIND_DOCUMENT_INGESTED:
        return "document", event.document_ingested.document.document_id
    if event.kind == event_log.EVENT_KIND_TOKEN_REVOKED:
        return "revoke", event.token_revoked.key_id
    return "other", event.id


def expected_of(step):
    """The events that a step makes in the log of the default organisation."""
    if step.what in ("capture", "batch", "burst"):
        return [("capture", name) for name in step.names]
    if step.what == "document":
        return [("document", step.names[0])]
    if step.what == "revoke" and step.key_id is not None:
        return [("revoke", step.key_id)]
    return []


def check_stored(client, steps):
    """Every acknowledged write is stored once, none twice, and batches are complete."""
    problems = []
    events = read_events(client)
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        problems.append("the log has a gap or a number twice")
    stored = {}
    for event in events:
        stored[names_of(event)] = stored.get(names_of(event), 0) + 1
    for step in steps:
        counts = [stored.get(name, 0) for name in expected_of(step)]
        for name, count in zip(expected_of(step), counts):
            at = step.names.index(name[1]) if step.what == "burst" else 0
            if count > 1:
                problems.append(f"TWICE {name}: {count} times")
            if count == 0 and step.answers[at] is not None:
                problems.append(f"LOST {name}")
        if step.what == "batch" and 0 < sum(counts) < len(counts):
            problems.append(f"HALF a batch {step.names[0]}: {counts}")
    organizations = client.admin.ListOrganizations(
        admin.ListOrganizationsRequest(page_size=1000), timeout=CALL_SECONDS).organizations
    names = [organization.name for organization in organizations]
    for step in steps:
        if step.what == "organization" and step.is_acknowledged() and step.names[0] not in names:
            problems.append(f"LOST organisation {step.names[0]}")
    if len(set(names)) != len(names) or names.count("default") != 1:
        problems.append(f"organisations are not there once: {names}")
    return problems


def repeat_all(load):
    """Repeats every step that was begun under its key: responses are equal, and uncertain steps complete."""
    for step in load.steps:
        load.do(step)
        if not step.is_acknowledged():
            load.problems.append(f"{step.names[0]}: refused by a disk that is well again: {load.last_refusal}")


def recover(server, environment=None):
    """Starts the server and waits for a first answer; returns a client, and the duration."""
    start = time.monotonic()
    code = server.launch(environment or {})
    if code is not None:
        raise AssertionError(f"it does not start ({code}): {server.read_log()[-500:]}")
    client = server.client()
    client.log.ListEvents(event_service.ListEventsRequest(page_size=1), timeout=CALL_SECONDS)
    return client, time.monotonic() - start


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0.0


def times(values):
    """Formats durations as a sentence."""
    return (f"p50 {percentile(values, 0.5) * 1000:.0f} ms, p99 {percentile(values, 0.99) * 1000:.0f} "
            f"ms, max {max(values, default=0) * 1000:.0f} ms")
