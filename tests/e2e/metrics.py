#!/usr/bin/python3
"""Metrics: Prometheus text of a real server, and the files of tools/monitoring.

Goal: every metric is documented and every documented one exists; figures are those of GetServerInfo and of the calls
that were made; only a token with the `server` flag reads them on the main port. Method: a strict reader of the text
format, a client that makes known calls, and promtool if there is one.
"""
import http.client
import json
import os
import re
import shutil
import subprocess
import unittest

from erratad import ROOT, ServerCase, admin, feedback, main, roles

MONITORING = os.path.join(ROOT, "tools", "monitoring")
SAMPLE = re.compile(r'(errata_[a-z0-9_]+)(?:\{([a-z]+="[^"\\]*"(?:,[a-z]+="[^"\\]*")*)\})? (\d+(?:\.\d+)?)')
EXAMPLES = "errata.v1.PromptService/GetExamples"
# Counters that histograms contain.
IN_HISTOGRAMS = {"commits_total", "commit_requests_total", "commit_duration_us_total"}
PROMTOOL = os.environ.get("ERRATA_PROMTOOL") or shutil.which("promtool")


def documented():
    """Name -> (type, labels) of the table in README.md."""
    with open(os.path.join(MONITORING, "README.md"), encoding="utf-8") as f:
        rows = re.findall(r"^\| `(errata_[a-z0-9_]+)` \| (\w+) \| ([a-z, ]*) \| (.+) \|$", f.read(), re.M)
    return {name: (kind, tuple(filter(None, labels.split(", ")))) for name, kind, labels, _ in rows}


def base_name(name, types):
    """The metric that a sample belongs to."""
    short = re.sub(r"_(bucket|sum|count)$", "", name)
    return short if types.get(short) == "histogram" else name


def read(text):
    """Types by metric, and values by (name, labels). Fails on elements that version 0.0.4 does not have."""
    types, samples, current = {}, {}, None
    assert text.endswith("\n")
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("# HELP "):
            current = line.split(" ")[2]
            assert current not in types, f"{current} is there twice"
            kind = next(lines)
            assert kind.startswith(f"# TYPE {current} "), kind
            types[current] = kind.split(" ")[3]
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        name, labels, value = match.groups()
        assert base_name(name, types) == current, line
        labels = tuple(tuple(part.split("=", 1)) for part in (labels or "").split(",") if part)
        assert (name, labels) not in samples, line
        samples[name, labels] = float(value)
    return types, samples


class Metrics(ServerCase):
    arguments = ("--metrics-listen", "127.0.0.1:0")

    def get(self, path="/metrics", token=None, address=None):
        host, port = (address or self.server.address).rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=20)
        self.addCleanup(connection.close)
        connection.request("GET", path, headers={"authorization": f"Bearer {token}"} if token else {})
        response = connection.getresponse()
        return response.status, response.getheader("content-type"), response.read().decode()

    def open_address(self):
        return re.search(r'metrics on ([0-9.:]+)', self.server.read_log()).group(1)

    def metrics(self):
        status, kind, text = self.get(address=self.open_address())
        self.assertEqual((status, kind), (200, "text/plain; version=0.0.4; charset=utf-8"))
        return read(text)

    def test_documented_and_existing_metrics_are_the_same(self):
        self.admin.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED, after_json='{"a":1}')
        types, samples = self.metrics()
        table = documented()
        self.assertEqual({name: kind for name, (kind, _) in table.items()}, types)
        for (name, labels), _ in samples.items():
            base = base_name(name, types)
            extra = ("le",) if name.endswith("_bucket") else ()
            self.assertEqual(tuple(key for key, _ in labels), table[base][1] + extra, name)

    def test_dashboard_and_rules_use_documented_metrics(self):
        table = documented()
        names = set(table)
        for name, (kind, _) in table.items():
            if kind == "histogram":
                names |= {name + end for end in ("_bucket", "_sum", "_count")}
        for file in ("dashboard.json", "alerts.yml", "alerts_test.yml"):
            with open(os.path.join(MONITORING, file), encoding="utf-8") as f:
                used = set(re.findall(r"\berrata_[a-z0-9_]+", f.read()))
            self.assertTrue(used)
            self.assertEqual(used - names, set(), file)
        with open(os.path.join(MONITORING, "dashboard.json"), encoding="utf-8") as f:
            panels = json.load(f)["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        self.assertTrue(all(panel["targets"] for panel in panels))

    def test_every_counter_of_the_server_is_a_metric(self):
        with open(os.path.join(ROOT, "server", "metrics", "metrics.def"), encoding="utf-8") as f:
            rows = re.findall(r'^METRIC\("(\w+)"', f.read(), re.M)
        self.assertEqual(len(rows), len(set(rows)))
        self.assertEqual(set(rows) | IN_HISTOGRAMS, set(self.server.counters(self.admin)))

    def test_calls_and_their_durations_are_counted(self):
        def counted(samples, code):
            return samples.get(("errata_requests_total", (("method", f'"{EXAMPLES}"'), ("code", f'"{code}"'))), 0)

        _, before = self.metrics()
        for _ in range(7):
            self.admin.examples("abc")
        with self.assertRaises(Exception):
            self.admin.examples("")
        _, after = self.metrics()
        self.assertEqual(counted(after, "OK") - counted(before, "OK"), 7)
        self.assertEqual(counted(after, "INVALID_ARGUMENT") - counted(before, "INVALID_ARGUMENT"), 1)
        method = ("method", f'"{EXAMPLES}"')
        total = after["errata_request_duration_seconds_count", (method,)]
        self.assertEqual(total, counted(after, "OK") + counted(after, "INVALID_ARGUMENT"))
        seconds = after["errata_request_duration_seconds_sum", (method,)]
        self.assertTrue(0 < seconds < 20 * total, seconds)

    def test_histograms_add_up(self):
        for _ in range(5):
            self.admin.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED, after_json='{"a":1}')
        types, samples = self.metrics()
        for name in (name for name, kind in types.items() if kind == "histogram"):
            series = {}
            for (sample, labels), value in samples.items():
                if sample == name + "_bucket":
                    series.setdefault(labels[:-1], []).append((labels[-1][1].strip('"'), value))
            self.assertTrue(series, name)
            for labels, buckets in series.items():
                bounds = [float(bound) for bound, _ in buckets]
                counts = [count for _, count in buckets]
                self.assertEqual((bounds, counts), (sorted(bounds), sorted(counts)), name)
                self.assertEqual(bounds[-1], float("inf"))
                self.assertEqual(counts[-1], samples[name + "_count", labels])
        commits = self.server.counters(self.admin)
        self.assertEqual(samples["errata_commit_duration_seconds_count", ()], commits["commits_total"])
        self.assertEqual(samples["errata_commit_requests_sum", ()], commits["commit_requests_total"])

    def test_served_examples_are_counted(self):
        _, before = self.metrics()
        for number in range(2):
            self.admin.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED,
                               layout_fingerprint="served", before_json='{"a":0}', after_json=f'{{"a":{number + 1}}}',
                               entity_type="field", entity_id=f"e{number}")
        served = len(self.admin.examples("served").examples)
        prompt = self.admin.prompt(template="{{hint_examples}}", layout_fingerprint="served")
        self.assertGreater(served, 0)
        self.assertGreater(len(prompt.example_ids), 0)
        _, after = self.metrics()
        name = ("errata_examples_served_total", ())
        self.assertEqual(after[name] - before[name], served + len(prompt.example_ids))

    def test_only_a_token_with_the_server_flag_reads_them_on_the_main_port(self):
        other = self.admin.create_token(roles.ROLE_ADMIN).secret
        server = self.admin.create_token(roles.ROLE_ADMIN, server=True).secret
        refused = self.server.counters(self.admin)["refused_tokens_total"]
        for token, wanted in ((None, 401), ("errata_nonsense", 401), (other, 403), (server, 200)):
            status, _, text = self.get(token=token)
            self.assertEqual(status, wanted, text[:200])
            self.assertEqual("errata_build_info" in text, wanted == 200)
        self.assertEqual(self.server.counters(self.admin)["refused_tokens_total"] - refused, 2)

    def test_the_open_address_has_no_calls(self):
        address = self.open_address()
        self.assertEqual(self.get("/healthz", address=address)[0], 200)
        self.assertEqual(self.get("/readyz", address=address)[0], 200)
        path = "/errata.v1.AdminService/GetServerInfo?encoding=json&message=%7B%7D"
        self.assertEqual(self.get(path, self.server.admin_token, address)[0], 404)
        self.assertEqual(self.get(path, self.server.admin_token)[0], 200)

    @unittest.skipUnless(PROMTOOL, "no promtool: install Debian's package prometheus, or set ERRATA_PROMTOOL")
    def test_promtool_accepts_metrics_rules_and_configuration(self):
        _, _, text = self.get(address=self.open_address())
        for arguments, given in ((["check", "metrics"], text), (["check", "rules", "alerts.yml"], ""),
                                 (["test", "rules", "alerts_test.yml"], ""),
                                 (["check", "config", "--syntax-only", "prometheus.yml"], "")):
            run = subprocess.run([PROMTOOL, *arguments], input=given, text=True, capture_output=True,
                                 cwd=MONITORING, timeout=60)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertEqual(run.stderr, "", arguments)


if __name__ == "__main__":
    main()
