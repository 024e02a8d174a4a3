#!/usr/bin/python3
"""errata-bench against real servers: its measurements are correct, and it reports errors.

Goal: a report can be trusted: calls that were counted were made, times include stalls, wrong
replies and invalid command lines are described in a sentence. Method: erratad, and a server of
grpcio for another service, under small loads; the machine may be busy, so only results that do not
depend on its speed are compared.
"""
import concurrent.futures
import copy
import csv
import html.parser
import io
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
import unittest

import grpc
from google.protobuf import descriptor_pb2

from certificates import Authority
from erratad import BIN, Server, admin, event_service, feedback_service, main

BENCH = os.path.join(BIN, "errata-bench")
PATIENT = ("--lag-max", "60s")  # other tests may use the machine
LATENCIES = {"min", "mean", "p50", "p90", "p99", "p99_9", "p99_99", "max"}
TALLY = {"started", "answered", "right", "wrong", "rate", "reply_bytes", "latency_us", "percentiles"}
RUN = {"valid", "problems", "notes", "offered_rate", "rate", "seconds", "started", "answered", "right",
       "wrong", "unsent", "lag_us", "total", "calls", "wrong_answers", "server", "client", "series",
       "histogram"}
REPORT = {"schema", "title", "version", "valid", "problems", "notes", "started_at", "environment",
          "settings", "runs", "sweep"}
SETTINGS = {"server", "tls", "loop", "rate", "arrival", "in_flight", "connections", "tokens",
            "duration_seconds", "warm_up_seconds", "calls_limit", "lag_max_us", "seed", "headers", "cpu",
            "plain", "idempotency_keys", "mix"}
USAGE = {"cpu_us_per_call", "user_us_per_call", "system_us_per_call", "cpu_percent",
         "context_switches_per_call"}
EXAMPLES = "errata.v1.PromptService/GetExamples"
CAPTURE = "errata.v1.FeedbackService/CaptureFeedbackEvent"


class Case(unittest.TestCase):
    """Shares one server and one folder among all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="errata-bench-")
        cls.server = Server().start()
        cls.client = cls.server.client()
        cls.token = os.path.join(cls.server.data, "admin.token")

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.close()
        shutil.rmtree(cls.folder)

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "wb") as f:
                f.write(content if isinstance(content, bytes) else content.encode())
        return path

    def command(self, *arguments, server=None, token=None):
        return [BENCH, "--server", server or self.server.address, "--token-file",
                token or self.token, "--warm-up", "0", "--allow-writes", *PATIENT,
                *map(str, arguments)]

    def bench(self, *arguments, code=0, server=None, token=None):
        """Runs the program; returns its output."""
        done = subprocess.run(self.command(*arguments, server=server, token=token),
                              capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def report(self, *arguments, **kwargs):
        return json.loads(self.bench("--json", "-", *arguments, **kwargs).stdout)

    def calls_of(self, method):
        """Returns the number of calls that the server has counted."""
        info = self.client.admin.GetServerInfo(admin.GetServerInfoRequest())
        return sum(m.count for m in info.methods if m.method == method and m.code == 0)


class Measures(Case):
    def check_tally(self, tally):
        self.assertLessEqual(TALLY, set(tally))
        self.assertEqual(set(tally["latency_us"]), LATENCIES)
        latency = tally["latency_us"]
        ordered = [latency[name] for name in ("min", "p50", "p90", "p99", "p99_9", "p99_99", "max")]
        self.assertEqual(ordered, sorted(ordered))
        self.assertGreater(latency["min"], 0)
        self.assertEqual(tally["percentiles"][-1], [1, latency["max"]])
        curve = [us for _, us in tally["percentiles"]]
        self.assertEqual(curve, sorted(curve))

    def check_report(self, report):
        """Every documented key exists, and the figures agree with each other."""
        self.assertEqual(set(report), REPORT)
        self.assertEqual(report["schema"], "errata-bench/1")
        self.assertEqual(set(report["settings"]), SETTINGS)
        self.assertRegex(report["started_at"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(report["environment"]["cores"], os.cpu_count())
        for run in report["runs"]:
            self.assertEqual(set(run), RUN)
            self.check_tally(run["total"])
            for call in run["calls"]:
                self.check_tally(call)
            self.assertEqual(sum(c["right"] for c in run["calls"]), run["right"])
            self.assertEqual(sum(count for _, _, count in run["histogram"]), run["answered"])
            self.assertLessEqual(USAGE, set(run["client"]))

    def test_open_loop_makes_the_calls_of_its_mix(self):
        before = self.calls_of(EXAMPLES), self.calls_of(CAPTURE)
        report = self.report("--mix", "examples=80,capture=20", "--rate", 200, "--duration", "3s",
                             "--connections", 4)
        self.check_report(report)
        self.assertTrue(report["valid"])
        run, = report["runs"]
        self.assertEqual(run["offered_rate"], 200)
        self.assertEqual((run["started"], run["right"], run["wrong"]), (600, 600, 0))
        examples, capture = run["calls"]
        self.assertEqual((examples["name"], examples["method"]), ("examples", EXAMPLES))
        self.assertTrue(60 < capture["started"] < 180, capture["started"])
        self.assertEqual(self.calls_of(EXAMPLES) - before[0], examples["right"])
        self.assertEqual(self.calls_of(CAPTURE) - before[1], capture["right"])
        self.assertGreater(capture["reply_bytes"], 500)
        self.assertEqual(run["lag_us"].keys(), {"p50", "p99", "max"})
        self.assertTrue(all(s["rate"] >= 0 for s in run["series"]))
        self.assertEqual(len(run["series"]), 30)

    def test_closed_loop_keeps_its_calls_in_flight(self):
        before = self.calls_of(EXAMPLES)
        report = self.report("--in-flight", 3, "--connections", 2, "--calls", 500)
        self.check_report(report)
        run, = report["runs"]
        self.assertIsNone(run["offered_rate"])
        self.assertEqual((run["started"], run["right"], run["unsent"]), (500, 500, 0))
        self.assertEqual(self.calls_of(EXAMPLES) - before, 500)

    def test_warm_up_is_not_counted(self):
        before = self.calls_of(EXAMPLES)
        report = self.report("--rate", 100, "--warm-up", "1s", "--duration", "1s")
        self.assertEqual(report["runs"][0]["started"], 100)
        self.assertEqual(self.calls_of(EXAMPLES) - before, 200)

    def test_report_has_the_servers_cpu(self):
        """The listening process is found, or the named one is used."""
        for arguments in ((), ("--server-pid", self.server.process.pid)):
            usage = self.report("--calls", 300, *arguments)["runs"][0]["server"]
            self.assertEqual(usage["pids"], [self.server.process.pid])
            self.assertGreater(usage["cpu_us_per_call"], 0.5)
            self.assertGreater(usage["rss_anon_bytes"], 100_000)
            self.assertGreaterEqual(usage["rss_peak_bytes"], usage["rss_anon_bytes"])

    def test_table_has_each_call(self):
        printed = self.bench("--mix", "examples,server-info", "--calls", 200).stdout
        self.assertRegex(printed, r"(?m)^call +calls +calls/s +mean +p50 .* max +bytes +wrong$")
        for name in ("examples", "server-info", "all"):
            self.assertRegex(printed, rf"(?m)^{name} +\d+ ")
        self.assertRegex(printed, r"(?m)^ +CPU a call +.*of a core .*memory +of files")
        self.assertRegex(printed, r"(?m)^server +[\d.]+ us .*MB")
        self.assertRegex(printed, r"(?m)^valid: every answer was right$")
        self.assertEqual(self.bench("--calls", 20, "--quiet").stdout, "")

    def test_each_form_of_headers_is_accepted(self):
        """Both notations of header fields are accepted, with keys and fields of the user."""
        for way in ("indexed", "literal"):
            report = self.report("--headers", way, "--mix", "capture,examples", "--calls", 200,
                                 "--idempotency-keys", "--header", "x-own: 7")
            self.assertEqual(report["runs"][0]["right"], 200)
            self.assertEqual(report["settings"]["headers"], way)

    def test_every_built_in_call_succeeds(self):
        """Each command works on a server with a few events; layouts without documents are not
        found."""
        names = re.findall(r"(?m)^([a-z-]+)=", self.bench("--list-calls").stdout)
        self.assertGreater(len(names), 10)
        for seq in range(3):
            self.client.capture(event_type=3, entity_id=f"e{seq}", layout_fingerprint="a")
        captured = self.client.log.ListEvents(event_service.ListEventsRequest(page_size=1))
        last = captured.events[0].seq
        for name in names:
            with self.subTest(name):
                expect = ("--expect-status", f"{name}=NOT_FOUND") if name == "get-layout" else ()
                if name == "get-event":
                    self.bench("--calls", 10, "--call",
                               f'e=errata.v1.EventService/GetEvent{{"seq": ${{uniform:1..{last}}}}}')
                else:
                    self.bench("--mix", name, "--calls", 10, *expect)

    def test_sweep_finds_a_knee(self):
        report = self.report("--sweep", "50..200x2", "--duration", "500ms", "--knee-p99", "50s")
        self.check_report(report)
        sweep = report["sweep"]
        self.assertTrue(report["valid"])
        self.assertEqual(len(sweep["sustained"]), len(report["runs"]))
        self.assertEqual(sweep["knee_rate"], report["runs"][sweep["knee_run"]]["offered_rate"])
        self.assertEqual({run["offered_rate"] for run in report["runs"]} - {50, 100, 200}, set())
        self.assertEqual(sweep["p99_limit_us"], 50_000_000)
        self.assertEqual(sweep["knee_rate"], 200)

    def test_sweep_without_a_knee_fails(self):
        """The report states the failure and its reason, and contains no unmeasured times."""
        token = self.path("unknown.token", "errata_00000000_" + "A" * 43)
        sweep = ("--sweep", "50..200x2", "--duration", "300ms")
        printed = self.bench(*sweep, code=1, token=token).stdout
        sentence = "the sweep failed: at its lowest rate, 50 calls/s, no run was valid"
        self.assertIn(f"INVALID: {sentence}\n", printed)
        self.assertIn("p99 is at most 10 times that of the lowest rate", printed)
        self.assertNotIn("0.00 us", printed)
        report = self.report(*sweep, code=1, token=token)
        self.assertEqual(report["problems"][0], sentence)
        self.assertIsNone(report["sweep"]["p99_limit_us"])
        self.assertIsNone(report["sweep"]["knee_rate"])
        report = self.report(*sweep, "--knee-p99", "1us", code=1)
        self.assertRegex(report["problems"][0], r"^the sweep failed: its lowest rate, 50 calls/s, was not "
                         r"sustained: .* with a p99 of .*, and at least 49\.5 must be, with at most 1\.00 us$")
        self.assertFalse(report["valid"])


class Times(Case):
    def test_stall_is_in_the_latencies(self):
        """The server stops for a second in the middle: in an open loop the calls that were due
        meanwhile have waited; a closed loop has a single slow call."""
        results = {}
        for name, loop in (("open", ("--rate", 200)), ("closed", ("--in-flight", 1))):
            bench = subprocess.Popen(self.command(*loop, "--duration", "4s", "--json", "-"),
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(1.5)
            self.server.process.send_signal(signal.SIGSTOP)
            time.sleep(1)
            self.server.process.send_signal(signal.SIGCONT)
            out, error = bench.communicate(timeout=60)
            self.assertEqual(bench.returncode, 0, error)
            results[name] = json.loads(out)["runs"][0]
        latency = results["open"]["total"]["latency_us"]
        self.assertGreater(latency["max"], 900_000)
        self.assertGreater(latency["p99_9"], 900_000)
        self.assertGreater(latency["p90"], 300_000)
        self.assertLess(latency["p50"], 300_000)
        self.assertEqual(results["open"]["right"], 800)
        closed = results["closed"]["total"]["latency_us"]
        self.assertGreater(closed["max"], 900_000)
        self.assertLess(closed["p90"], 300_000)

    def test_interrupted_run_is_reported(self):
        """The first SIGINT ends the measurement; the results so far are reported."""
        bench = subprocess.Popen(self.command("--rate", 100, "--duration", "60s", "--json", "-"),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        bench.send_signal(signal.SIGINT)
        out, error = bench.communicate(timeout=30)
        self.assertEqual(bench.returncode, 130, error)
        run = json.loads(out)["runs"][0]
        self.assertTrue(20 < run["right"] < 1000, run["right"])
        self.assertEqual(run["right"], run["started"])
        self.assertTrue(any("interrupted" in note for note in run["notes"]))

    def test_own_delay_makes_the_run_invalid(self):
        """A generator that gets no processor time reports that its run is invalid."""
        bench = subprocess.Popen(
            [BENCH, "--server", self.server.address, "--token-file", self.token, "--warm-up", "0",
             "--rate", "200", "--duration", "3s"], stdout=subprocess.PIPE, text=True)
        time.sleep(1)
        bench.send_signal(signal.SIGSTOP)
        time.sleep(1)
        bench.send_signal(signal.SIGCONT)
        out, _ = bench.communicate(timeout=30)
        self.assertEqual(bench.returncode, 1, out)
        self.assertRegex(out, r"INVALID: this program was too slow")


class Requests(Case):
    def test_templates_are_filled_in(self):
        """Each capture has unique keys, and all captures are stored."""
        template = self.path("capture.json", """{"event": {
            "eventType": "EXTRACTION_LINE_CORRECTED", "actorUserId": "u-${hex:4}",
            "documentId": "doc-${serial}", "entityId": "${uuid}",
            "layoutFingerprint": "t-${zipf:1..20:1.1:%02d}", "afterJson": "{\\"n\\": ${uniform:10..99}}"}}""")
        self.bench("--call", f"mine={CAPTURE}@{template}", "--calls", 300)
        events, token = [], ""
        while True:
            page = self.client.feedback.ListFeedbackEvents(
                feedback_service.ListFeedbackEventsRequest(page_size=200, page_token=token))
            events += [e for e in page.events if e.layout_fingerprint.startswith("t-")]
            token = page.next_page_token
            if not token:
                break
        self.assertEqual(len(events), 300)
        self.assertEqual(len({e.document_id for e in events}), 300)
        self.assertEqual(len({e.entity_id for e in events}), 300)
        layouts = [int(e.layout_fingerprint[2:]) for e in events]
        self.assertTrue(set(layouts) <= set(range(1, 21)))
        self.assertGreater(layouts.count(1), layouts.count(15))
        self.assertTrue(all(10 <= json.loads(e.after_json)["n"] <= 99 for e in events))

    def test_ready_made_bodies_are_sent(self):
        """Groups and tokens belong to connections: each organisation gets its own requests."""
        other = self.client.create_org("bench")
        token = self.client.create_token(1 + 5, org_id=other.id)  # ROLE_ADMIN
        tokens = self.path("tokens", f"{self.server.admin_token}\n{token.secret}\n")
        requests = b""
        for group in range(2):
            for i in range(5):
                message = feedback_service.CaptureFeedbackEventRequest(event={
                    "event_type": 3, "entity_id": f"g{group}-{i}", "layout_fingerprint": "ready"})
                body = message.SerializeToString()
                body = b"\0" + struct.pack(">I", len(body)) + body
                requests += struct.pack(">II", group, len(body)) + body
        path = self.path("ready.requests", requests)
        done = subprocess.run(
            [BENCH, "--server", self.server.address, "--tokens", tokens, "--requests",
             f"ready={CAPTURE}@{path}", "--calls", "40", "--connections", "2", "--warm-up", "0",
             "--rate", "100", "--allow-writes", *PATIENT], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        theirs = self.server.client(token.secret)
        for client, group in ((self.client, 0), (theirs, 1)):
            events = client.feedback.ListFeedbackEvents(feedback_service.ListFeedbackEventsRequest(
                page_size=100, layout_fingerprint="ready")).events
            self.assertEqual(len(events), 20)
            self.assertEqual({e.entity_id[:2] for e in events}, {f"g{group}"})
        theirs.close()

    def test_unexpected_answer_is_wrong(self):
        self.bench("--mix", "get-layout", "--expect-status", "get-layout=NOT_FOUND", "--calls", 20)
        self.bench("--mix", "examples", "--expect-bytes", "50..100", "--calls", 20)
        report = self.report("--expect-bytes", "examples=1000..2000", "--calls", 20, code=1)
        self.assertFalse(report["valid"])
        wrong, = report["runs"][0]["wrong_answers"]
        self.assertRegex(wrong["what"], r"^\d+ bytes$")
        self.assertEqual((wrong["call"], wrong["count"]), ("examples", 20))

    def test_plain_http2_is_measured(self):
        """Without gRPC's headers, the server answers with an HTTP status."""
        self.bench("--plain", "--call", 'x=/no/path{"a": ${serial}}', "--expect-status", 404,
                   "--calls", 10)

    def test_wrong_token_is_reported(self):
        token = self.path("wrong.token", "errata_00000000_" + "A" * 43)
        done = self.bench("--calls", 50, "--json", self.path("wrong.json"), code=1, token=token)
        self.assertRegex(done.stdout, r"INVALID: 50 of 50 answers to examples were wrong: "
                                      r"UNAUTHENTICATED, \S+")
        with open(self.path("wrong.json"), encoding="utf-8") as f:
            report = json.load(f)
        self.assertFalse(report["valid"])
        self.assertEqual(report["runs"][0]["wrong_answers"][0]["what"], "UNAUTHENTICATED")
        self.assertEqual(report["runs"][0]["right"], 0)

    def test_lost_server_makes_the_run_invalid(self):
        """A server that dies in the middle: the run ends at once and states why."""
        with Server() as server:
            token = self.path("dying.token", server.admin_token)
            bench = subprocess.Popen(
                self.command("--rate", 200, "--duration", "60s", server=server.address, token=token),
                stdout=subprocess.PIPE, text=True)
            time.sleep(1.5)
            server.kill9()
            out, _ = bench.communicate(timeout=20)
            self.assertEqual(bench.returncode, 1, out)
            self.assertRegex(out, r"INVALID: a connection was lost: ")


class Writes(Case):
    """Calls that write are sent only to an organisation without data, to one whose first data the program wrote, or
    with --allow-writes."""

    def new_token(self, name):
        """A new organisation's token: its text, and the file that has it."""
        org = self.client.create_org(name)
        text = self.client.create_token(1 + 5, org_id=org.id).secret  # ROLE_ADMIN
        return text, self.path(f"{name}.token", text)

    def write(self, token, *arguments, code=0, server=None):
        """Runs without --allow-writes; returns the output."""
        done = subprocess.run(
            [BENCH, "--server", server or self.server.address, "--token-file", token, "--warm-up", "0",
             "--calls", "5", *PATIENT, *arguments], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    def test_empty_and_own_organisations_may_be_written(self):
        for mix in ("capture", "capture-batch", "extraction", "confirm"):
            _, token = self.new_token(f"own-{mix}")
            for _ in range(2):
                self.write(token, "--mix", mix)

    def test_foreign_data_refuses_writes(self):
        text, token = self.new_token("others")
        with_data = self.server.client(text)
        with_data.capture(event_type=3, entity_id="e1", layout_fingerprint="a")
        before = len(with_data.events())
        for mix in ("capture", "examples=9,confirm=1"):
            said = self.write(token, "--mix", mix, code=2)
            self.assertRegex(said, r"(capture|confirm): the organisation contains data of other programs; "
                                   r"expected an empty organisation, or --allow-writes")
        self.write(token, "--mix", "examples,list-events")
        self.assertEqual(len(with_data.events()), before)
        self.write(token, "--mix", "capture", "--allow-writes")
        self.assertEqual(len(with_data.events()), before + 5)
        with_data.close()

    def test_every_token_is_checked_before_writes(self):
        _, empty = self.new_token("each-empty")
        text, used = self.new_token("each-used")
        client = self.server.client(text)
        client.capture(event_type=3, entity_id="e1", layout_fingerprint="a")
        client.close()
        self.write(empty, "--token-file", used, "--mix", "capture", "--connections", "2", code=2)
        self.write(empty, "--token-file", used, "--mix", "capture", "--connections", "1")

    def test_unreadable_log_refuses_writes(self):
        """If the contents of the organisation cannot be determined, nothing is written."""
        unknown = self.path("unseen.token", "errata_00000000_" + "A" * 43)
        self.assertIn("capture: cannot determine whether the organisation has data (authorization: the token is",
                      self.write(unknown, "--mix", "capture", code=2))
        self.assertIn("cannot reach 127.0.0.1:1",
                      self.write(unknown, "--mix", "capture", code=3, server="127.0.0.1:1"))


class Shop(grpc.GenericRpcHandler):
    """shop.v1.Items/Find: answers its request back, and remembers it."""

    def __init__(self):
        self.requests = []
        self.metadata = []
        self.lock = threading.Lock()

    def service(self, details):
        if details.method != "/shop.v1.Items/Find":
            return None
        metadata = dict(details.invocation_metadata)

        def find(request, _):
            with self.lock:
                self.requests.append(request)
                self.metadata.append(metadata)
            return request

        return grpc.unary_unary_rpc_method_handler(find)


class OtherServices(Case):
    """A service that is not Errata's, on grpcio's server."""

    def setUp(self):
        set_of_files = descriptor_pb2.FileDescriptorSet()
        file = set_of_files.file.add(name="shop.proto", package="shop.v1", syntax="proto3")
        message = file.message_type.add(name="FindRequest")
        kind = descriptor_pb2.FieldDescriptorProto
        for number, (name, field_type) in enumerate((("sku", kind.TYPE_STRING),
                                                     ("max_items", kind.TYPE_UINT32)), 1):
            message.field.add(name=name, number=number, type=field_type,
                              label=kind.LABEL_OPTIONAL, json_name=re.sub(
                                  r"_(.)", lambda m: m.group(1).upper(), name))
        service = file.service.add(name="Items")
        service.method.add(name="Find", input_type=".shop.v1.FindRequest",
                           output_type=".shop.v1.FindRequest")
        self.descriptors = self.path("shop.binpb", set_of_files.SerializeToString())
        self.shop = Shop()
        self.grpc_server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
        self.grpc_server.add_generic_rpc_handlers((self.shop,))
        port = self.grpc_server.add_insecure_port("127.0.0.1:0")
        self.grpc_server.start()
        self.address = f"127.0.0.1:{port}"

    def tearDown(self):
        self.grpc_server.stop(0).wait()

    def test_other_services_are_called_by_descriptors(self):
        for way in ("indexed", "literal"):
            self.shop.requests.clear()
            self.bench("--descriptors", self.descriptors, "--call",
                       'find=shop.v1.Items/Find{"sku": "s${serial}", "maxItems": ${uniform:1..300}}',
                       "--calls", 200, "--in-flight", 8, "--headers", way, "--header", "X-Own: 7",
                       "--expect-bytes", "5..100", server=self.address)
            self.assertEqual(len(set(self.shop.requests)), 200)
            self.assertTrue(all(re.fullmatch(rb"\n\x11s\d{16}\x10[\x80-\xff][\0-\x02]", r)
                                for r in self.shop.requests))
            self.assertEqual({m["x-own"] for m in self.shop.metadata}, {"7"})
            self.assertTrue(self.shop.metadata[0]["user-agent"].startswith("errata-bench/"))
            with open(self.token, encoding="ascii") as f:
                self.assertEqual(self.shop.metadata[-1]["authorization"], f"Bearer {f.read().strip()}")

    def test_unknown_method_is_refused(self):
        done = self.bench("--descriptors", self.descriptors, "--call", "f=shop.v1.Items/Fnd{}",
                          code=2, server=self.address)
        self.assertRegex(done.stderr, r"unknown method shop\.v1\.Items/Fnd; did you mean "
                                      r"shop\.v1\.Items/Find\?")
        done = self.bench("--descriptors", self.descriptors, "--call", 'f=shop.v1.Items/Find{"s": 1}',
                          code=2, server=self.address)
        self.assertRegex(done.stderr, r'the template of "f": .*unknown field "s"; expected sku, maxItems')


class Page(html.parser.HTMLParser):
    """The elements of an HTML page."""

    def __init__(self):
        super().__init__()
        self.tags = []
        self.attributes = []
        self.scripts = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "script":
            self.scripts.append([dict(attrs), ""])

    def handle_data(self, data):
        if self.scripts and self.tags[-1] == "script":
            self.scripts[-1][1] += data


class Html(Case):
    def make(self, *arguments):
        path = self.path("page.html")
        self.bench("--html", path, "--json", self.path("page.json"), *arguments)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        with open(self.path("page.json"), encoding="utf-8") as f:
            return text, json.load(f)

    def test_page_has_no_references(self):
        """The page is a single file without external references, and contains the same report."""
        title = 'Load </script><script>alert("1")</script> & more'
        text, report = self.make("--title", title, "--mix", "examples=9,capture=1", "--rate", 100,
                                 "--duration", "1s")
        page = Page()
        page.feed(text)
        page.close()
        self.assertNotRegex(text, r"https?://|@import|url\(")
        self.assertFalse({"link", "img", "iframe", "object", "base"} & set(page.tags))
        self.assertFalse([a for a in page.attributes if a[0] in ("src", "href", "srcset", "action")])
        policy = next(dict(page.attributes)["content"] for a in page.attributes
                      if a == ("http-equiv", "Content-Security-Policy"))
        self.assertTrue(policy)
        data = [json.loads(script) for attributes, script in page.scripts
                if attributes.get("type") == "application/json"]
        self.assertEqual(data, [report])
        self.assertEqual(report["title"], title)
        self.assertEqual(len(page.scripts), 2)

    @unittest.skipUnless(shutil.which("chromium"), "no Chromium here")
    def test_page_draws_its_figures(self):
        """A browser draws every chart, of one run and of a sweep, without an error."""
        for arguments, charts in ((("--rate", 100, "--duration", "1s"), 4),
                                  (("--sweep", "50..100x2", "--duration", "500ms", "--knee-p99", "50s"),
                                   6),
                                  (("--calls", 1), 4)):
            self.make(*arguments)
            drawn = subprocess.run(
                ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                 "--enable-logging=stderr", f"file://{self.path('page.html')}"],
                capture_output=True, text=True, timeout=60, check=False)
            shown = re.sub(r"<script.*?</script>", "", drawn.stdout, flags=re.S)
            self.assertEqual(shown.count("<svg"), charts)
            self.assertNotRegex(shown, "NaN|undefined|Infinity")
            self.assertNotRegex(drawn.stderr, r"Uncaught|Refused to")


class Csv(Case):
    def test_csv_agrees_with_json(self):
        """A record for all calls and one for each call, with the figures of the JSON report."""
        path = self.path("load.csv")
        report = self.report("--mix", "examples=80,capture=20", "--rate", 200, "--duration", "1s",
                             "--csv", path)
        run, = report["runs"]
        with open(path, encoding="utf-8", newline="") as file:
            records = list(csv.DictReader(file))
        self.assertEqual([record["call"] for record in records], ["", "examples", "capture"])
        for record, tally in zip(records, [run["total"], *run["calls"]]):
            self.assertEqual((record["run"], record["valid"], float(record["offered_rate"])),
                             ("0", "true", 200))
            for name in ("started", "answered", "right"):
                self.assertEqual(int(record[name]), tally[name])
            self.assertEqual(float(record["rate"]), tally["rate"])
            for name in ("p50", "p99", "p99_9", "max"):
                self.assertAlmostEqual(float(record[name + "_us"]), tally["latency_us"][name],
                                       delta=0.06)
            self.assertAlmostEqual(float(record["server_cpu_us_per_call"]),
                                   run["server"]["cpu_us_per_call"], delta=0.011)

    def test_csv_is_written_to_standard_output(self):
        """CSV replaces the table; JSON and CSV exclude each other."""
        done = self.bench("--calls", 5, "--csv", "-")
        self.assertTrue(done.stdout.startswith("run,call,valid,"), done.stdout)
        self.assertIn("calls/s", done.stderr)
        done = self.bench("--calls", 5, "--csv", "-", "--json", "-", code=2)
        self.assertIn("--csv: --json already uses standard output", done.stderr)


class Compare(Case):
    """Two reports: one that was measured, and the same with known changes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        done = subprocess.run(
            [BENCH, "--server", cls.server.address, "--token-file", cls.token, "--warm-up", "0",
             "--allow-writes", "--mix", "examples=80,capture=20", "--calls", "200", "--title", "before",
             "--json", "-", *PATIENT], capture_output=True, text=True, timeout=100, check=True)
        cls.first = json.loads(done.stdout)

    def compare(self, change, *arguments, code=0):
        second = copy.deepcopy(self.first)
        change(second)
        paths = [self.path("a.json", json.dumps(self.first)), self.path("b.json", json.dumps(second))]
        done = subprocess.run([BENCH, "--compare", *paths, *arguments], capture_output=True,
                              text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def rows(self, change, code=0):
        """Returns the rows of the comparison by figure, and the warnings."""
        done = self.compare(change, "--csv", "-", "--quiet", code=code)
        rows = {row["figure"]: (row["a"], row["b"], row["ratio"])
                for row in csv.DictReader(io.StringIO(done.stdout, newline=""))}
        return rows, done.stderr

    def test_comparison_has_ratios(self):
        """Each figure with its ratio, second to first; calls by name."""
        def change(report):
            run = report["runs"][0]
            run["rate"] = self.first["runs"][0]["rate"] * 2
            run["total"]["latency_us"]["p99"] = 123.5
            run["calls"].reverse()
            run["calls"][1]["latency_us"]["p50"] = self.first["runs"][0]["calls"][0]["latency_us"]["p50"] / 4
            run["server"] = None
        rows, _ = self.rows(change)
        run = self.first["runs"][0]
        self.assertEqual(rows["calls/s"][2], "2.000")
        self.assertEqual(rows["p99, us"][:2], (str(run["total"]["latency_us"]["p99"]), "123.5"))
        self.assertAlmostEqual(float(rows["p99, us"][2]), 123.5 / run["total"]["latency_us"]["p99"],
                               delta=0.001)
        self.assertEqual(rows["mean, us"][2], "1.000")
        self.assertEqual(rows["examples: p50, us"][2], "0.250")
        self.assertEqual(rows["capture: p99, us"][2], "1.000")
        self.assertEqual(rows["server CPU, us a call"][1:], ("", ""))
        self.assertEqual(rows["wrong answers"], ("0", "0", ""))

    def test_table_has_each_call(self):
        done = self.compare(lambda report: report.update(title="after"))
        self.assertRegex(done.stdout, r"^A: .*a\.json, before\nB: .*b\.json, after\n\nfigure +A +B +B/A\n")
        self.assertRegex(done.stdout, r"\np99, us +[\d.]+ +[\d.]+ +1\.000\n")
        self.assertEqual(done.stderr, "")

    def test_different_settings_are_a_warning(self):
        """Differences in settings and machine are warnings; the server's address does not matter."""
        def change(report):
            report["settings"].update(connections=7, server="elsewhere:1")
            report["settings"]["mix"][0]["weight"] = 3
            report["environment"]["kernel"] = "another"
        done = self.compare(change)
        self.assertEqual(done.stderr.count("warning: "), 3)
        self.assertIn("warning: the reports differ in settings.connections: 1 and 7\n", done.stderr)
        self.assertIn("warning: the reports differ in settings.mix\n", done.stderr)
        self.assertIn("warning: the reports differ in environment.kernel", done.stderr)

    def test_invalid_report_fails_the_comparison(self):
        """A report that is not valid is compared, with its problem as a warning, and ends with 1."""
        done = self.compare(lambda report: report.update(valid=False, problems=["it was too slow"]),
                            code=1)
        self.assertRegex(done.stderr, r"warning: .*b\.json is not valid: it was too slow\n")
        self.assertIn("calls/s", done.stdout)

    def test_comparison_uses_the_knee(self):
        """For a sweep, the run at the knee is compared."""
        def change(report):
            report["sweep"] = {"knee_run": 1, "knee_rate": 500}
            report["runs"].append(copy.deepcopy(report["runs"][0]))
            report["runs"][1]["rate"] = 1e6
        rows, _ = self.rows(change)
        self.assertEqual(rows["knee, calls/s"], ("", "500", ""))
        self.assertEqual(rows["calls/s"][1], "1000000.0")

    def test_missing_reports_are_refused(self):
        """Each file that is not a report is refused."""
        good = self.path("good.json", json.dumps(self.first))
        for name, text, sentence in (
                ("text.json", "hello", "not JSON at byte 0"),
                ("deep.json", "[" * 200, "not JSON"),
                ("other.json", "{}", "not a report of errata-bench"),
                ("list.json", "[]", "not a report of errata-bench"),
                ("empty.json", json.dumps({**self.first, "runs": []}), "the report has no run"),
                ("knee.json", json.dumps({**self.first, "sweep": {"knee_run": 9}}), "has no run"),
                ("half.json", json.dumps({**self.first, "runs": [3]}), "has no run")):
            for paths in ((good, self.path(name, text)), (self.path(name, text), good)):
                done = subprocess.run([BENCH, "--compare", *paths], capture_output=True, text=True,
                                      timeout=100, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(f"{name}: ", done.stderr)
                self.assertIn(sentence, done.stderr)
        for words in ([good], [good, good, good], [good, "/no/such/file"]):
            done = subprocess.run([BENCH, "--compare", *words], capture_output=True, text=True,
                                  timeout=100, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, "expected two files|cannot read /no/such/file")


class Tls(Case):
    """Servers with certificates made by openssl; the certificate of `strict` has no address, and clients need one."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        ca = Authority(cls.folder)
        cls.ca = ca.path
        Authority(cls.folder, "other")
        cert, key = ca.sign("server")
        cls.identity = ca.sign("client", "DNS:client")
        cls.safe = Server(arguments=["--tls-cert", cert, "--tls-key", key]).start()
        cert, key = ca.sign("strict", "DNS:localhost")
        cls.strict = Server(arguments=["--tls-cert", cert, "--tls-key", key, "--tls-client-ca",
                                       ca.path]).start()

    @classmethod
    def tearDownClass(cls):
        cls.safe.close()
        cls.strict.close()
        super().tearDownClass()

    def at(self, server, host="127.0.0.1"):
        return {"server": f"{host}:{server.address.rsplit(':', 1)[1]}",
                "token": os.path.join(server.data, "admin.token")}

    def test_calls_are_measured_over_tls(self):
        """Small and large messages on several connections, by name and by address; the check before writes connects
        by TLS too."""
        large = f'large={CAPTURE}{{"event":{{"eventType":"CUSTOMER_SELECTED","actorUserId":"bench-op-1",' \
                '"layoutFingerprint":"tls","afterJson":"{\\"note\\":\\"${text:30000}\\"}"}}'
        for host in ("localhost", "127.0.0.1"):
            report = self.report("--ca", self.ca, "--mix", "examples=5,large=5", "--call", large, "--calls", 60,
                                 "--in-flight", 4, "--connections", 3, **self.at(self.safe, host))
            self.assertTrue(report["valid"])
            self.assertTrue(report["settings"]["tls"])
            self.assertEqual(report["runs"][0]["right"], 60)
        where = self.at(self.safe)
        done = subprocess.run([BENCH, "--server", where["server"], "--token-file", where["token"], "--warm-up", "0",
                               "--mix", "capture", "--calls", "5", *PATIENT], capture_output=True, text=True,
                              env={**os.environ, "ERRATA_CA": self.ca}, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_client_certificate_is_sent(self):
        cert, key = self.identity
        self.bench("--ca", self.ca, "--client-cert", cert, "--client-key", key, "--calls", 5,
                   **self.at(self.strict, "localhost"))
        done = self.bench("--ca", self.ca, "--calls", 5, code=3, **self.at(self.strict, "localhost"))
        self.assertIn("TLS: tlsv13 alert certificate required", done.stderr)

    def test_other_servers_are_refused(self):
        for arguments, where, sentence in (
                (("--tls",), self.at(self.safe), "TLS: unable to get local issuer certificate"),
                (("--ca", self.path("other.pem")), self.at(self.safe), "TLS: unable to get local"),
                (("--ca", self.ca), self.at(self.strict), "TLS: IP address mismatch"),
                (("--ca", self.ca), {}, "TLS: wrong version number"),
                ((), self.at(self.safe), "exceeds the limit|closed the connection")):
            with self.subTest(sentence):
                self.assertRegex(self.bench(*arguments, "--calls", 1, code=3, **where).stderr, sentence)


class CommandLine(Case):
    def test_no_arguments_print_usage(self):
        """Nothing is measured: prints the usage and exits with the code of an invalid command line."""
        done = subprocess.run([BENCH], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"^Usage: errata-bench --server .*\n(.*\n)*`errata-bench --help`")

    def test_invalid_options_are_refused(self):
        """Each mistake is described in a sentence with the expected form."""
        for arguments, sentence in (
                (("--rate", "x"), r'--rate: invalid rate "x"; expected calls per second'),
                (("--rate", 5, "--in-flight", 5), "more than one given; expected one"),
                (("--sweep", "5"), r'--sweep: invalid rates "5"; expected'),
                (("--sweep", "1..100000+1"), "more than 100 runs"),
                (("--arrival", "poisson"), "--arrival: given for a closed loop"),
                (("--rate", 5, "--arrival", "random"), "expected fixed or poisson"),
                (("--duration", "5 s"), "invalid duration"),
                (("--duration", "0"), "more than 0"),
                (("--connections", 0), r'--connections: invalid number "0"; expected 1 to'),
                (("--mix", "exampels=5"), 'did you mean "examples"'),
                (("--mix", "examples=0"), "invalid weight of"),
                (("--mix", "examples,examples"), "twice"),
                (("--mix", ""), "expected calls and weights"),
                (("--call", "x"), "expected NAME=METHOD@FILE"),
                (("--call", "x=a.B/C@"), "expected NAME=METHOD@FILE"),
                (("--call", "x=a.B/C@/no/such/file"), "cannot read /no/such/file"),
                (("--call", 'x=errata.v1.PromptService/GetExample{}'),
                 "did you mean errata.v1.PromptService/GetExamples"),
                (("--call", f'x={EXAMPLES}{{"layoutFingerprint": "${{uniform:9..1}}"}}'),
                 r"\$\{uniform:9\.\.1\}: unknown placeholder; expected uniform"),
                (("--call", f'x={EXAMPLES}{{"max_examples": "many"}}'), 'the template of "x": max_examples'),
                (("--requests", f"x={EXAMPLES}@/dev/null"), "no request; expected"),
                (("--descriptors", "/dev/null"), "/dev/null: it has no method"),
                (("--descriptors", BENCH), "not a FileDescriptorSet"),
                (("--expect-status", "MAYBE"), "a status such as NOT_FOUND"),
                (("--expect-bytes", "nothing=1..2"), 'unknown call "nothing"'),
                (("--header", "no colon"), "expected NAME:VALUE"),
                (("--server-pid", 999999999), "no such process"),
                (("--get",), "--get: given without --plain"),
                (("--client-cert", "x"), "--client-key: missing; expected both"),
                (("--client-key", "x"), "--client-cert: missing; expected both"),
                (("--ca", "/no/such/file"), "/no/such/file: cannot be read"),
                (("--data", "/tmp"), "--data: given without --preload"),
                (("--knee-p99", "5ms"), "--knee-p99: given without --sweep"),
                (("--html", "-"), "--html: standard output is not supported"),
                (("--raet", 5), "did you mean --rate"),
                (("words",), 'unknown argument "words"'),
                (("--server", "nowhere"), "expected HOST:PORT"),
                (("--tokens", self.token, "--mix", "examples"), "--tokens: given together with --token-file")):
            with self.subTest(arguments):
                done = self.bench(*arguments, code=2)
                self.assertRegex(done.stderr, sentence)
                self.assertEqual(done.stdout, "")

    def test_unreachable_server_exits_with_3(self):
        done = self.bench("--calls", 1, server="127.0.0.1:1", code=3)
        self.assertRegex(done.stderr, r"cannot reach 127\.0\.0\.1:1: Connection refused")
        done = self.bench("--calls", 1, server="no-such-host.invalid:80", code=3)
        self.assertRegex(done.stderr, r"cannot find no-such-host\.invalid")

    def test_server_of_another_protocol_is_reported(self):
        """A peer of another protocol is distinguished from an unreachable server."""
        import socket
        with socket.create_server(("127.0.0.1", 0)) as listener:
            def answer():
                connection, _ = listener.accept()
                with connection:
                    connection.recv(100)
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            thread = threading.Thread(target=answer)
            thread.start()
            done = self.bench("--calls", 1, server=f"127.0.0.1:{listener.getsockname()[1]}", code=3)
            thread.join()
        self.assertRegex(done.stderr, "exceeds the limit|closed the connection")

    def test_unwritable_report_exits_with_4(self):
        for option in ("--json", "--csv", "--html"):
            done = self.bench("--calls", 5, option, "/no/such/folder/file", code=4)
            self.assertRegex(done.stderr, "cannot write /no/such/folder/file: No such file")

    def test_help_lists_every_option(self):
        """Help names every option and call; it fits a hundred columns."""
        text = self.bench("--help").stdout
        for name in ("--mix", "--sweep", "--preload", "get-layout", "${zipf:A..B:S}", "Exit codes"):
            self.assertIn(name, text)
        self.assertLessEqual(max(map(len, text.split("\n"))), 100)
        self.assertRegex(self.bench("--version").stdout, r"^errata-bench \d+\.\d+\.\d+\n$")

    def test_preload_fills_a_store(self):
        """A server serves a preloaded store, which has the layouts that the mix requests."""
        data = self.path("preloaded")
        self.bench("--preload", 600, "--data", data, "--organizations", 2, "--layouts", 20)
        with Server(data=data) as server:
            done = subprocess.run(
                [BENCH, "--server", server.address, "--tokens", os.path.join(data, "bench.tokens"),
                 "--connections", "2", "--layouts", "20", "--mix", "examples=5,list-feedback=1",
                 "--expect-bytes", "examples=3000..4000", "--calls", "300", "--warm-up", "0",
                 "--json", "-", *PATIENT], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(json.loads(done.stdout)["settings"]["tokens"], 2)
            written = subprocess.run(
                [BENCH, "--server", server.address, "--tokens", os.path.join(data, "bench.tokens"),
                 "--connections", "2", "--mix", "capture", "--calls", "4", "--warm-up", "0", *PATIENT],
                capture_output=True, text=True, check=False)
            self.assertEqual(written.returncode, 0, written.stdout + written.stderr)


if __name__ == "__main__":
    main()
