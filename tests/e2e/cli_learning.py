#!/usr/bin/python3
"""The commands of the order-intake loop: mappings, prompts, extractions, settings and reports of
learning.

Goal: all of it is available to a person at a terminal and to a script in a pipe. Method: each command
against a real server; the form of figures, against a simulated server with chosen values.
"""
import collections
import concurrent.futures
import contextlib
import csv
import datetime
import io
import json
import pathlib
import re
import signal
import subprocess
import unicodedata

import grpc

from errata_cli import ERRATA, CliCase
from erratad import analytics, analytics_grpc, feedback, main

WIDTHS = (60, 80, 120, 200)
UNKNOWN = "0192f0c0-1111-7222-8333-444455556666"
LINE = "EXTRACTION_LINE_CORRECTED"
TEMPLATE = "Extract:\n{{document_text}}\nLike: {{hint_examples}}\n{{unknown}}"


def columns(text):
    """Returns the number of terminal columns of a text."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def without_colours(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def rows(text):
    """The records of a CSV text, each a dict."""
    assert text.endswith("\n"), text
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


class PlayedAnalytics(analytics_grpc.AnalyticsServiceServicer):
    """Responds with values that a test has set."""

    def __init__(self):
        self.learning = None
        self.report = None

    def GetLearningAnalytics(self, request, context):
        return self.learning

    def GetExperimentReport(self, request, context):
        return self.report


def arm(extractions, corrected):
    result = analytics.ArmResult(extraction_count=extractions, corrected_count=corrected)
    if extractions:
        result.accuracy = 1 - corrected / extractions
    return result


def compared(treatment, control, **fields):
    return analytics.ExperimentComparison(treatment=arm(*treatment), control=arm(*control), **fields)


class Learning(CliCase):
    def run_json(self, *words, **more):
        return json.loads(self.run_cli(*words, "--json", **more)[0])

    def file(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def token(self, role, *words):
        """An environment with a token of that role."""
        path = self.folder / f"{role.lower()}-{len(words)}.token"
        if not path.exists():
            self.run_cli("token", "create", "--role", role, "--file", str(path), *words)
        return self.here(ERRATA_TOKEN_FILE=str(path))

    def assert_fits(self, *words, environment=None):
        """No line is wider than the terminal, for any width, and there are no control sequences except colours."""
        for width in WIDTHS:
            sent = without_colours(self.on_terminal(width, *words, environment=environment))
            self.assertNotIn("\x1b", sent)
            for line in sent.splitlines():
                if " " in line:  # a single word, such as a reference, is never broken
                    self.assertLessEqual(columns(line), width, (words, width, line))

    # --- mappings ---

    def confirm(self, customer, sku, internal, *words):
        return self.run_cli("mappings", "confirm", "--customer", customer, "--sku", sku, "--internal",
                            internal, *words)[0].strip()

    def mapping(self, mapping_id):
        return self.run_json("mappings", "show", mapping_id)["mapping"]

    def match(self, *words):
        return self.run_json("mappings", "match", *words)

    def test_mapping_goes_from_suggestion_to_use(self):
        """Suggested, matched as a candidate, confirmed, applied, counted once, superseded, rejected."""
        made, said = self.run_cli("mappings", "suggest", "--customer", "acme", "--sku", "HX-1",
                                  "--internal", "4711", "--confidence", "0.72")
        made = made.strip()
        self.assertEqual(said, "HX-1 of acme as 4711: SUGGESTED\n")
        out, _ = self.run_cli("mappings", "match", "--customer", "acme", "hx-1 ")
        self.assertRegex(out, r"1 +acme +hx-1 +SUGGESTED_MAPPING +4711 +0\.72")
        self.assertEqual(self.run_cli("mappings", "confirm", made, "--draft", "d1")[0].strip(), made)
        self.assertEqual(self.mapping(made)["status"], "MAPPING_STATUS_CONFIRMED")
        again, said = self.run_cli("mappings", "suggest", "--customer", "acme", "--sku", "HX-1",
                                   "--internal", "4711", "--confidence", "0.1")
        self.assertEqual((again.strip(), said), (made, "HX-1 of acme as 4711: CONFIRMED\n"))
        reference = self.match("--customer", "acme", "HX-1", "HX-1")["exposureRef"]
        for _ in range(2):
            _, said = self.run_cli("mappings", "record", "-", "--draft", "d2", stdin=reference + "\n")
            self.assertEqual(said, "1 mapping counted as used\n")
        self.assertEqual(self.mapping(made)["useCount"], "2")
        shown, _ = self.run_cli("mappings", "show", made)
        self.assertRegex(shown, r"uses +2\n")
        other = self.confirm("acme", "HX-1", "4712")
        self.assertEqual(self.mapping(made)["status"], "MAPPING_STATUS_SUPERSEDED")
        _, said = self.run_cli("mappings", "reject", other)
        self.assertEqual(said, "HX-1 of acme as 4712: REJECTED\n")
        out, _ = self.run_cli("mappings", "match", "--customer", "acme", "HX-1")
        self.assertRegex(out, r"HX-1 +SUPERSEDED_MAPPING +4711 ")
        out, said = self.run_cli("mappings", "confirm", made, "--sku", "HX-1B")
        self.assertNotEqual(out.strip(), made)
        self.assertEqual(said, "HX-1B of acme as 4711: CONFIRMED\n")
        _, said = self.run_cli("mappings", "confirm", made, "--internal", "4711", code=2)
        self.assertIn("expected only MAPPING", said)

    def test_mappings_are_listed_and_filtered(self):
        """Filters, CSV, and the message of an empty list."""
        self.confirm("lists", "A-1", "1")
        self.confirm("lists", "A-2", 'with "quotes", and commas')
        self.run_cli("mappings", "reject", "--customer", "lists", "--sku", "B-1", "--internal", "2")
        listed = rows(self.run_cli("mappings", "list", "--customer", "lists", "--csv")[0])
        self.assertEqual([(r["customer_sku"], r["internal_sku"], r["status"]) for r in listed],
                         [("A-1", "1", "CONFIRMED"), ("A-2", 'with "quotes", and commas', "CONFIRMED"),
                          ("B-1", "2", "REJECTED")])
        out, _ = self.run_cli("mappings", "list", "--customer", "lists", "--status", "confirmed",
                              "--prefix", "a-")
        self.assertEqual(len(out.splitlines()), 3)
        out, _ = self.run_cli("mappings", "list", "--internal", "WITH \"quotes\", and commas")
        self.assertEqual(len(out.splitlines()), 2)
        self.assertEqual(self.run_cli("mappings", "list", "--customer", "no-customer"),
                         ("", "no mappings match\n"))
        out, _ = self.run_cli("mappings", "list", "--customer", "lists", environment=self.token("VIEWER"))
        self.assertEqual(len(out.splitlines()), 4)

    def test_corrections_are_written_as_csv(self):
        """Whole texts with any content, under the contract's names."""
        made = self.run_cli("corrections", "capture", "--actor", "ada", "--type", LINE,
                            "--layout", "csv-1", "--document", "d,1",
                            "--before", '{"note": "a"}', "--after", '{"note": "b, \\"c\\"\\nd", "x": 1}',
                            "--snippet", 'two "quoted",\nlines')[0].strip()
        found, = rows(self.run_cli("corrections", "list", "--layout", "csv-1", "--csv")[0])
        self.assertEqual((found["id"], found["event_type"], found["document_id"], found["fields_changed"]),
                         (made, LINE, "d,1", "note, x"))
        self.assertEqual(json.loads(found["after_json"]), {"note": 'b, "c"\nd', "x": 1})
        self.assertEqual(json.loads(found["meta_json"])["input_snippet"], 'two "quoted",\nlines')

    def test_a_draft_is_judged_in_one_call(self):
        """The output of match, with a status in each row, is stored completely; an invalid row is reported, and nothing
        is stored."""
        self.confirm("judge", "J-1", "1")
        lines = self.folder / "judge.csv"
        lines.write_text("customer_id,customer_sku,internal_sku,status,confidence,more\n"
                         "judge,J-1,2,,0.4,x\njudge,J-2,1,rejected,,\njudge,J-3,3,SUGGESTED,0.25,\n",
                         encoding="utf-8")
        out, said = self.run_cli("mappings", "confirm", "--file", str(lines), "--draft", "judged-draft")
        self.assertEqual(said, "3 mappings judged, 0 unchanged\n")
        self.assertEqual([self.mapping(one)["status"] for one in out.split()],
                         ["MAPPING_STATUS_CONFIRMED", "MAPPING_STATUS_REJECTED", "MAPPING_STATUS_SUGGESTED"])
        listed = rows(self.run_cli("corrections", "list", "--draft", "judged-draft", "--mappings",
                                   "--csv")[0])
        self.assertEqual([r["event_type"] for r in listed], ["MAPPING_REJECTED", "MAPPING_CONFIRMED"])
        out, said = self.run_cli("mappings", "confirm", "--file", "-", stdin="customer_id,customer_sku,internal_sku,status,confidence\n"
                                 "judge,J-3,3,SUGGESTED,0.25\n")
        self.assertEqual(said, "1 mapping judged, 1 unchanged\n")
        matched, _ = self.run_cli("mappings", "match", "--customer", "judge", "J-1", "--csv")
        self.run_cli("mappings", "confirm", "--file", "-", stdin=matched)
        lines.write_text("customer_id,customer_sku,internal_sku,status\njudge,J-9,9,\njudge, ,2,\n", encoding="utf-8")
        _, said = self.run_cli("mappings", "confirm", "--file", str(lines), code=1)
        self.assertIn("judgements[1].confirm.customer_sku", said)
        self.assertEqual(self.run_cli("mappings", "list", "--customer", "judge", "--prefix", "J-9")[0], "")
        lines.write_text("customer_id,customer_sku,internal_sku,status\njudge,J-9,9,maybe\n", encoding="utf-8")
        _, said = self.run_cli("mappings", "confirm", "--file", str(lines), code=2)
        self.assertIn("line 2: status: unknown value 'maybe'; expected CONFIRMED", said)
        lines.write_text("customer_id,customer_sku,internal_sku\n" + "judge,J-9,9\n" * 1001, encoding="utf-8")
        _, said = self.run_cli("mappings", "confirm", "--file", str(lines), code=2)
        self.assertIn("more than 1000 rows", said)
        _, said = self.run_cli("mappings", "confirm", "--file", str(lines), "--sku", "J-1", code=2)
        self.assertIn("--file: given together with --sku", said)

    def test_wrong_lines_are_reported(self):
        """Missing and superfluous arguments are reported."""
        for words, said in ((["confirm", "--customer", "a", "--sku", "b"], "--internal: missing"),
                            (["confirm", UNKNOWN, "--sku", "b", "--customer", "a"], "expected only MAPPING"),
                            (["reject", UNKNOWN, "--sku", "b"], "expected only MAPPING"),
                            (["suggest", "--customer", "a", "--sku", "b", "--internal", "c"],
                             "--confidence: missing"),
                            (["match"], "SKU: missing"), (["match", "x"], "--customer: missing"),
                            (["match", "x", "--lines", "-"], "--lines: given together with SKUs"),
                            (["list", "--status", "confirm"], "did you mean CONFIRMED?"),
                            (["list", "--csv", "--json"], "--csv: given together with --json"),
                            (["import", "none.csv", "--jobs", "65"], "expected 1 to 64")):
            self.assertIn(said, self.run_cli("mappings", *words, code=2)[1])
        self.assertIn("none.csv can't be read", self.run_cli("mappings", "import", "none.csv", code=4)[1])
        self.assertIn("NOT_FOUND", self.run_cli("mappings", "show", UNKNOWN, code=1)[1])

    def test_lines_are_read_from_files(self):
        """CSV with columns in any order, JSON lines, more lines than one call takes."""
        self.confirm("files", "A-1", "1")
        text = "description;Customer SKU;customer-id\n\"two\nlines\";a-1;files\n;Z-9;files\n"
        found = rows(self.run_cli("mappings", "match", "--lines", "-", "--csv", stdin=text)[0])
        self.assertEqual([(r["line"], r["customer_sku"], r["match_method"], r["internal_sku"])
                          for r in found], [("1", "a-1", "EXACT_MAPPING", "1"), ("2", "Z-9", "NONE", "")])
        objects = '{"customer_id": "files", "customer_sku": "A-1"}\n\n' \
                  '{"customerId": "files", "customerSku": "x", "description": "y"}\n'
        reply = self.match("--lines", self.file("lines.jsonl", objects))
        self.assertEqual([line["matchMethod"] for line in reply["lines"]],
                         ["MATCH_METHOD_EXACT_MAPPING", "MATCH_METHOD_NONE"])
        many = "customer_id,customer_sku\n" + "files,A-1\n" * 1500
        out, said = self.run_cli("mappings", "match", "--lines", self.file("many.csv", many))
        lines = out.splitlines()
        self.assertEqual((len(lines), lines[-1].split()[0]), (1501, "1500"))
        self.assertEqual(said.count("reference: "), 2)
        for text, what in (("", "-: empty"), ("a,b\n", 'no column "customer_id"'),
                           ("customer_id,customer_id,customer_sku\n", "occurs twice"),
                           ('customer_id,customer_sku\n"x,y\n', "line 2: invalid CSV"),
                           ('{"customer_id": 1\n', "line 1: invalid JSON")):
            self.assertIn(what, self.run_cli("mappings", "match", "--lines", "-", stdin=text, code=2)[1])
        said = self.run_cli("mappings", "match", "--lines", "-", code=1,
                            stdin="customer_id,customer_sku\n,x\n")[1]
        self.assertIn("lines[0].customer_id", said)
        self.assertIn("lines[0] is line 2 of -", said)

    def test_csv_of_mappings_is_imported(self):
        """Rows are stored in order, invalid ones reported by line; a repeat stores nothing."""
        text = "customer_id,customer_sku,internal_sku,status,confidence,created_at,ignored\n"
        text += "".join(f"import,S-{n},I-{n},,,,x\n" for n in range(200))
        text += "import,s-7,J-7,confirmed,,,\nimport,old,O,,,2026-01-02,\n" \
                "import,請求-七,T,Suggested,0.5,,\nimport,R-1,R,REJECTED,,,\nimport,U-1,V,SUPERSEDED,,,\n"
        path = self.file("mappings.csv", text)
        _, said = self.run_cli("mappings", "import", path, "--dry-run",
                               environment=self.here(ERRATA_SERVER="127.0.0.1:1"))
        self.assertRegex(said, r"204 rows are valid, 0 are not, 1 superseded ones skipped; nothing was sent")
        for counts in ("204 new, 0 already stored", "0 new, 204 already stored"):
            _, said = self.run_cli("mappings", "import", path, "--actor", "ada")
            self.assertRegex(said, rf"^rows: {counts}, 1 superseded ones skipped, in [0-9.]+ s\n$")
        listed = rows(self.run_cli("mappings", "list", "--customer", "import", "--all", "--csv")[0])
        self.assertEqual(collections.Counter(r["status"] for r in listed),
                         {"CONFIRMED": 201, "SUPERSEDED": 1, "SUGGESTED": 1, "REJECTED": 1})
        found = {(r["customer_sku"], r["internal_sku"]): r for r in listed}
        self.assertEqual(found["S-7", "I-7"]["status"], "SUPERSEDED")
        self.assertTrue(found["old", "O"]["created_at"].startswith("2026-01-02T00:00:00"))
        self.assertEqual({r["support_count"] for r in listed if r["status"] == "CONFIRMED"}, {"1"})
        _, said = self.run_cli("mappings", "match", "--customer", "import", *(f"S-{n}" for n in range(200)))
        _, said = self.run_cli("mappings", "record", said.removeprefix("reference: ").strip())
        self.assertEqual(said, "200 mappings counted as used\n")
        bad = self.file("bad.csv", "customer_id,customer_sku,internal_sku,status,confidence\n"
                        "bad,1,,,\nbad,2,x,SUGGESTED,\nbad,3,x,WRONG,\nbad,4,x,SUGGESTED,high\n"
                        f"bad,5,{'x' * 300},,\nbad,6,x,,\n")
        said = self.run_cli("mappings", "import", bad, code=2)[1]
        for line in ("line 2: internal_sku: empty", "line 3: confidence: empty",
                     "line 4: status: unknown value 'WRONG'", "line 5: mapping.confidence",
                     "4 rows are invalid: nothing was stored; --skip-invalid stores the other 2"):
            self.assertIn(line, said)
        said = self.run_cli("mappings", "import", bad, "--skip-invalid", code=1)[1]
        for line in ("line 6: INVALID_ARGUMENT: ",
                     "rows: 1 new, 0 already stored, 4 invalid ones skipped, 1 refused by the server"):
            self.assertIn(line, said)
        self.assertIn("PERMISSION_DENIED", self.run_cli("mappings", "import", path, code=1,
                                                        environment=self.token("VIEWER"))[1])

    def test_interrupted_import_is_resumed(self):
        """Ctrl-C ends the import at once and reports the stored rows; the same command then stores
        the rest."""
        path = self.file("long.csv", "customer_id,customer_sku,internal_sku\n" +
                         "".join(f"stopped,S-{n},I\n" for n in range(500)))
        with subprocess.Popen([ERRATA, "mappings", "import", path, "--jobs", "1", "--json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              cwd=self.folder, env=self.here()) as run:
            first = json.loads(run.stdout.readline())
            run.send_signal(signal.SIGINT)
            _, said = run.communicate(timeout=30)
        self.assertEqual((first["line"], first["mapping"]["customerSku"]), (2, "S-0"))
        self.assertEqual(run.returncode, 130)
        self.assertIn("repeat the command to continue", said)
        self.run_cli("mappings", "import", path)
        listed = rows(self.run_cli("mappings", "list", "--customer", "stopped", "--all", "--csv")[0])
        self.assertEqual((len(listed), {r["support_count"] for r in listed}), (500, {"1"}))

    def test_exported_mappings_can_be_imported(self):
        """A list as CSV is a file to import, with quotes and wide letters."""
        self.confirm("export", 'a "b", c', "備考")
        out, _ = self.run_cli("mappings", "list", "--customer", "export", "--all", "--csv")
        self.file("exported.csv", out.replace("export,", "copied,"))
        self.run_cli("mappings", "import", "exported.csv")
        copied = rows(self.run_cli("mappings", "list", "--customer", "copied", "--csv")[0])
        self.assertEqual([(r["customer_sku"], r["internal_sku"]) for r in copied], [('a "b", c', "備考")])

    def test_tables_fit(self):
        """Long and wide SKUs on narrow and wide terminals, with and without UTF-8."""
        self.confirm("請求書株式会社" * 4, "長い品番-" * 10, "4711-" + "x" * 80)
        self.confirm("fit", "\u202ex", "y")
        self.file("fit.csv", "customer_id,customer_sku\n" +
                  f"{'請求書株式会社' * 4},{'長い品番-' * 10}\nfit,\u202ex\n")
        self.assert_fits("mappings", "list", "--all")
        self.assert_fits("mappings", "match", "--lines", "fit.csv")
        sent = self.on_terminal(80, "mappings", "list", "--all", environment=self.here(LANG="C"))
        self.assertTrue(sent.isascii(), sent)
        sent = self.on_terminal(80, "mappings", "list", "--customer", "fit", "--csv")
        self.assertIn("\\u202ex", sent)

    # --- prompts ---

    def put(self, name, text, *words):
        return self.run_cli("prompts", "put", name, "-", *words, stdin=text)[0].strip()

    def test_templates_are_stored_and_listed(self):
        """Versions count from 1; a text is returned byte for byte; the shipped template is version
        0."""
        self.assertEqual(self.put("t1", TEMPLATE, "--comment", "the first"), "1")
        self.assertEqual(self.put("t1", TEMPLATE + "\n\n"), "2")
        out, said = self.run_cli("prompts", "show", "t1", "--version", "1")
        self.assertEqual(out, TEMPLATE)
        self.assertIn("t1 version 1, put ", said)
        self.assertIn("placeholders: document_text, hint_examples, unknown", said)
        self.assertIn("comment: the first", said)
        self.assertEqual(self.run_cli("prompts", "show", "t1")[0], TEMPLATE + "\n\n")
        listed = rows(self.run_cli("prompts", "list", "--csv")[0])
        self.assertEqual([(r["name"], r["version"]) for r in listed if r["name"] in
                          ("t1", "pdf_extract_text_v1")], [("pdf_extract_text_v1", "0"), ("t1", "2")])
        listed = rows(self.run_cli("prompts", "list", "--versions", "t1", "--csv")[0])
        self.assertEqual([r["version"] for r in listed], ["2", "1"])
        shipped, said = self.run_cli("prompts", "show", "pdf_extract_text_v1", "--version", "0")
        self.assertIn("the shipped version", said)
        self.assertIn("{{hint_examples}}", shipped)
        out, said = self.run_cli("prompts", "show", "t1", environment=self.token("VIEWER"))
        self.assertEqual(out, "")
        self.assertIn("not shown to a VIEWER", said)
        self.assertIn("NOT_FOUND", self.run_cli("prompts", "show", "none", code=1)[1])
        self.assertRegex(self.run_cli("prompts", "--version")[0], r"^errata \d")
        self.assert_fits("prompts", "list")

    def test_prompt_is_prepared_from_a_template(self):
        """Values from the command line and from files, examples, and unused values are reported."""
        self.put("t2", TEMPLATE)
        event = self.run_cli("corrections", "capture", "--actor", "ada", "--type", LINE, "--layout", "prompts-1",
                             "--after", '{"qty": 12}', "--snippet", "12 pcs")[0].strip()
        self.file("text.txt", "a file's {{hint_examples}}")
        words = ["prompts", "prepare", "--template", "t2", "--layout", "prompts-1",
                 "--value", "document_text=@text.txt", "--value", "unused=1"]
        self.assertIn("placeholders without a value: unknown; expected --value", self.run_cli(*words, code=1)[1])
        self.run_cli(*words, "--json", code=1)
        prompt, said = self.run_cli(*words, "--allow-missing")
        self.assertIn("warning: context: no placeholder uses 'unused'", said)
        self.assertIn('Like: [{"input_snippet"', prompt)
        self.assertEqual(prompt.count("12 pcs"), 1)
        self.assertIn("template: t2 version 1\nlayout: prompts-1\n", said)
        self.assertIn(f"examples: 1 (EXACT): {event}\n", said)
        self.assertIn("placeholders without a value, left unchanged: unknown\n", said)
        self.assertIn("reference: ", said)
        prompt, said = self.run_cli("prompts", "prepare", "--file", "-", "--trusted", "a=1=2",
                                    "--value", "b=", stdin="{{a}}{{b}}|")
        self.assertEqual(prompt, "1=2|")
        self.assertIn("examples: none, since no layout was named or known\n", said)
        reply = self.run_json("prompts", "prepare", "--template", "t2", "--layout", "none", "--allow-missing")
        self.assertEqual(reply["missingTokens"], ["document_text", "unknown"])
        for words, said in ((["prepare"], "--template: missing, or given"),
                            (["prepare", "--template", "t2", "--file", "-"], "--template: missing, or given"),
                            (["prepare", "--file", "-", "--version", "1"], "--version: given together with --file"),
                            (["prepare", "--template", "t2", "--value", "x"], "expected KEY=VALUE"),
                            (["prepare", "--file", "-", "--context", "a=b"], '--context "a=b": not a context'),
                            (["put", "t3"], "FILE|-: missing")):
            self.assertIn(said, self.run_cli("prompts", *words, code=2)[1])

    # --- extractions, settings, sanitising ---

    def test_extraction_is_recorded(self):
        """All flags reach the server; a reference is cited from standard input, once."""
        event = self.run_cli("corrections", "capture", "--actor", "ada", "--type", LINE, "--layout", "ex-1", "--after",
                             '{"qty": 12}')[0].strip()
        made, said = self.run_cli("extractions", "record", "--layout", "ex-1", "--document", "x1",
                                  "--draft", "o1", "--confidence", "0.93", "--model", "reader-2",
                                  "--fields", "24", "--example", event, "--actor", "ada",
                                  "--created-at", "2d")
        self.assertIn(f"its prompt carried the examples {event}", said)
        stored = self.run_json("events", "show", made.strip())["event"]["extractionRecorded"]["extraction"]
        self.assertEqual((stored["documentId"], stored["model"], stored["fieldCount"], stored["confidence"]),
                         ("x1", "reader-2", 24, 0.93))
        reference = self.run_json("examples", "ex-1", "--document", "x2")["exposureRef"]
        words = ["extractions", "record", "--layout", "ex-1", "--document", "x2", "--confidence", "1",
                 "--exposure", "-"]
        first = self.run_cli(*words, stdin=reference)[0]
        self.assertNotEqual(self.run_cli(*words, stdin=reference + "\n")[0], first)  # replaces the first one
        listed, _ = self.run_cli("events", "list", "--kind", "extraction-recorded")
        self.assertEqual(len(re.findall(r" document:x[12] .* confidence (?:0\.93|1\.0)\b", listed)), 3)
        self.assertIn("--confidence: missing", self.run_cli("extractions", "record", code=2)[1])
        self.assertIn("--layout: missing", self.run_cli("extractions", "record", "--confidence", "1",
                                                          code=2)[1])
        said = self.run_cli("extractions", "record", "--layout", "x", "--confidence", "1", "--exposure",
                            "forged", code=1)[1]
        self.assertIn("exposure_refs[0]", said)

    def test_settings_are_shown_and_changed(self):
        """Settings are shown and changed one by one, and invalid values are refused."""
        self.assertRegex(self.run_cli("org", "settings")[0], r"holdout +0% .*\nmatch mode +EXACT\n")
        out, _ = self.run_cli("org", "settings", "--holdout", "15")
        self.assertRegex(out, r"holdout +15% ")
        self.run_cli("org", "settings", "--match-mode", "exact")
        settings = self.run_json("org", "settings")["settings"]
        self.assertEqual(settings, {"holdoutPercent": 15, "matchMode": "MATCH_MODE_EXACT",
                                    "annotatorKinds": ["ANNOTATOR_KIND_HUMAN"], "grouping": "EXAMPLE_GROUPING_EVENT",
                                    "stacking": "SCORE_STACKING_SUM", "suspiciousAt": 0.4, "fakeAt": 0.6,
                                    "reviewsNeeded": 1, "votesNeeded": 2, "redactedMembers": {"names": [
                                        "email", "phone", "address", "iban", "password", "token", "reviewed_by", "notes"]},
                                    "evaluatorId": "", "gateAgents": {}, "extraCues": {},
                                    "topicChange": "TOPIC_CHANGE_ACCEPTED",
                                    "contentRetention": {"correctionsDays": 365, "verdictsDays": 0, "reviewsDays": 0}})
        out, _ = self.run_cli("org", "settings", "--stacking", "max", "--suspicious-at", "0.3", "--fake-at", "0.7",
                              "--reviews-needed", "2")
        self.assertRegex(out, r"stacking +MAX\nsuspicious at +0.3\nfake at +0.7\nreviews needed +2\n")
        self.assertIn("settings.suspicious_at", self.run_cli("org", "settings", "--suspicious-at", "0.8", code=1)[1])
        self.assertRegex(self.run_cli("org", "settings", "--redact", "email", "--redact", "serial")[0],
                         r"redacted members +email, serial\n")
        self.assertRegex(self.run_cli("org", "settings", "--redact", "none")[0], r"redacted members +none\n")
        self.run_cli("org", "settings", "--stacking", "sum", "--suspicious-at", "0.4", "--fake-at", "0.6")
        self.assertIn("settings.holdout_percent", self.run_cli("org", "settings", "--holdout", "101",
                                                               code=1)[1])
        self.assertIn("NOT_FOUND", self.run_cli("org", "settings", UNKNOWN, code=1)[1])
        self.run_cli("org", "settings", "--holdout", "0", "--match-mode", "exact")

    def test_held_out_document_gets_no_examples(self):
        """A document without examples states why; one with them states what its outcome is to cite."""
        self.run_cli("corrections", "capture", "--actor", "ada", "--type", LINE, "--layout", "held",
                     "--after", '{"qty": 12}')
        _, said = self.run_cli("examples", "held", "--document", "h1", "--hints")
        self.assertTrue(said.startswith("reference: "), said)
        self.assertEqual(self.run_cli("examples", "held")[1], "")
        self.run_cli("org", "settings", "--holdout", "100")
        self.addCleanup(self.run_cli, "org", "settings", "--holdout", "0")
        out, said = self.run_cli("examples", "held", "--document", "h1")
        self.assertEqual(out, "")
        reference = re.fullmatch("no examples: the document is held out\nreference: (.+)\n", said)[1]
        _, said = self.run_cli("prompts", "prepare", "--template", "pdf_extract_text_v1", "--layout", "held",
                               "--document", "h1", "--allow-missing")
        self.assertIn("examples: none, since the document is held out (arm CONTROL)\n", said)
        _, said = self.run_cli("extractions", "record", "--layout", "held", "--document", "h1",
                               "--confidence", "0.8", "--exposure", reference)
        self.assertIn("(arm CONTROL); it does not count in the experiment: LAYOUT_NOT_READY", said)

    def test_text_is_sanitised_by_profile(self):
        """Prints the sanitised text, and whether it was changed."""
        out, said = self.run_cli("reviews", "sanitize", "-", "--profile", "note", stdin="twelve, not ten")
        self.assertEqual((out, said), ("twelve, not ten", "it is unchanged\n"))
        out, said = self.run_cli("reviews", "sanitize", "a\u202eb", "--profile", "example")
        self.assertEqual((out, said), ("ab", "it was changed\n"))
        self.assertIn("--profile: missing", self.run_cli("reviews", "sanitize", "x", code=2)[1])

    # --- learning ---

    def test_learning_report_has_its_figures(self):
        """Recent events appear in the figures of each table, and the tables agree."""
        org = self.run_cli("org", "create", "analytics")[0].strip()
        here = self.token("ADMIN", "--org", org)
        client = self.server.client(pathlib.Path(here["ERRATA_TOKEN_FILE"]).read_text().strip())
        self.addCleanup(client.close)

        def table(*words):
            return rows(self.run_cli("analytics", *words, "--csv", environment=here)[0])

        today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        for number in range(4):
            client.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
                           layout_fingerprint="an-1", document_id=f"an-{number}",
                           before_json='{"qty": 1, "unit": "x"}', after_json='{"qty": 2, "unit": "x"}')
        self.run_cli("extractions", "record", "--layout", "an-1", "--document", "an-0", "--confidence",
                     "0.9", environment=here)
        client.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED,
                       layout_fingerprint="an-1", document_id="an-0", before_json='{"date": 1}',
                       after_json='{"date": 2}')
        out, _ = self.run_cli("analytics", "learning", environment=here)
        self.assertRegex(out, r"5 feedback events, 1 extraction, 100\.0% of them corrected\.")
        for piece in ("Feedback events a day\n", r"EXTRACTION_LINE_CORRECTED +4  █", r"qty +4 +4 +0  █",
                      r"date +1 +0 +1  █", r"\nan-1 "):
            self.assertRegex(out, piece)
        client.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED,
                       before_json="{}", after_json='{"internal_sku": "1"}')
        out, _ = self.run_cli("analytics", "learning", environment=here)
        self.assertRegex(out, "Of these, corrections of extractions\n")
        self.assertRegex(out, "Of these, confirmed and rejected mappings\n")
        out, _ = self.run_cli("analytics", "learning", "--layout", "an-1", environment=here)
        self.assertRegex(out, r"5 feedback events, 1 extraction, 100\.0% of them corrected\.")
        self.assertRegex(out, r"qty +4 +4 +0  █")
        self.assertNotIn("MAPPING_CONFIRMED", out)
        self.assertNotIn("Mean confidence", out)
        self.assertEqual(table("learning", "--layout", "an-none", "--table", "fields"), [])
        days = table("learning", "--start", "yesterday")
        self.assertEqual([d["count"] for d in days], ["0", "6"])
        self.assertEqual(days[1]["date"], today)
        fields = table("learning", "--table", "fields")
        self.assertEqual(fields[0], {"field": "qty", "count": "4", "line_count": "4", "header_count": "0"})
        confidence = table("learning", "--table", "confidence")
        self.assertEqual(len(confidence), 30)
        self.assertEqual(list(confidence[-1].values()), [today, "1", "0.9", "1"])
        self.assertEqual(confidence[0]["mean_confidence"], "")
        coverage = table("coverage", "--order", "most-seen")
        self.assertEqual((coverage[0]["layout_fingerprint"], coverage[0]["correction_rate"]), ("an-1", "1.0"))
        out, said = self.run_cli("analytics", "experiment", environment=here)
        self.assertIn("There is nothing to compare yet", out)
        self.assertIn("errata org settings --holdout 10", said)
        for words in (["learning"], ["coverage"], ["experiment"]):
            self.assert_fits("analytics", *words, environment=here)
            self.assertIn("PERMISSION_DENIED", self.run_cli("analytics", *words, code=1,
                                                            environment=self.token("VIEWER"))[1])

    def test_report_covers_the_requested_days(self):
        """Days in usual notations; an invalid one is reported before any request."""
        for words, said in ((["--start", "2026-02-30"], "invalid date"), (["--start", "12h"], "invalid date"),
                            (["--end", "tomorrow"], "invalid date"), (["--table", "day"], "one of days, types")):
            self.assertIn(said, self.run_cli("analytics", "learning", *words, code=2)[1])
        said = self.run_cli("analytics", "learning", "--start", "today", "--end", "yesterday", code=1)[1]
        self.assertIn("INVALID_ARGUMENT", said)
        days = self.run_json("analytics", "learning", "--start=-7d", "--end", "today")["eventsByDay"]
        self.assertEqual(len(days), 8)

    # --- the form of figures ---

    @contextlib.contextmanager
    def played(self):
        """A servicer, and the environment of its client."""
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
        servicer = PlayedAnalytics()
        analytics_grpc.add_AnalyticsServiceServicer_to_server(servicer, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield servicer, self.here(ERRATA_SERVER=f"127.0.0.1:{port}")
        finally:
            server.stop(None)

    def test_experiment_is_summarised_in_a_sentence(self):
        """Each result of a comparison is stated in words."""
        good = {"relative_improvement": 0.169, "improvement_low": 0.091, "improvement_high": 0.253,
                "p_value": 0.0002, "target_reached": True}
        small = {"relative_improvement": 0.05, "improvement_low": 0.01, "improvement_high": 0.09,
                 "p_value": 0.01}
        chance = {"relative_improvement": 0.2, "improvement_low": -0.3, "improvement_high": 0.9,
                  "p_value": 0.4, "target_reached": True}
        worse = {"relative_improvement": -0.2, "improvement_low": -0.3, "improvement_high": -0.1,
                 "p_value": 0.00001}
        cases = ((compared((1320, 116), (300, 66), **good),
                  "With examples 91.2% of extractions needed no correction, without 78.0%: +16.9% "
                  "(95% interval +9.1% to +25.3%, p = 0.0002); the 15% goal is reached."),
                 (compared((900, 90), (900, 120), **small), "p = 0.010); examples help, but the 15% goal"),
                 (compared((10, 1), (4, 1), **chance), "p = 0.400); too little data: this would"),
                 (compared((10, 1), (40, 10), **chance), "p = 0.400); no clear difference: this would"),
                 (compared((10, 1), (9, 1), **worse), "too little data: this may be chance"),
                 (compared((99, 40), (99, 20), **worse), "p < 0.0001); results are worse with examples"),
                 (compared((0, 0), (0, 0)), "There is nothing to compare yet"),
                 (compared((5, 1), (0, 0)), "With examples 80.0% of extractions needed no correction; there "
                                            "is none without to compare with."),
                 (compared((0, 0), (5, 1)), "Without examples 80.0%"),
                 (compared((5, 1), (5, 5)), "without none did: there is no ratio"))
        with self.played() as (servicer, environment):
            for comparison, sentence in cases:
                servicer.report = analytics.GetExperimentReportResponse(
                    organization=comparison, holdout_percent=20,
                    layouts=[analytics.LayoutExperiment(layout_fingerprint="f" * 64, example_count=3,
                                                        comparison=comparison)])
                out, _ = self.run_cli("analytics", "experiment", environment=environment)
                self.assertIn(sentence, out)
                self.assertIn("20% of documents are held out now.", out)
                listed = rows(self.run_cli("analytics", "experiment", "--csv", environment=environment)[0])
                self.assertEqual([r["layout_fingerprint"] for r in listed], ["", "f" * 64])
                self.assertEqual({k: v for k, v in listed[0].items() if k not in
                                  ("layout_fingerprint", "example_count")},
                                 {k: v for k, v in listed[1].items() if k not in
                                  ("layout_fingerprint", "example_count")})
            self.assert_fits("analytics", "experiment", environment=environment)

    def test_trends_are_plotted(self):
        """A quarter is plotted at every width, in the terminal's character set, with gaps and wide
        names."""
        start = datetime.date(2026, 8, 24)
        reply = analytics.GetLearningAnalyticsResponse(start_date=str(start), end_date="2026-11-21",
                                                       extraction_count=2000000, corrected_count=3)
        for number in range(90):
            day = str(start + datetime.timedelta(number))
            busy = number % 7 < 5
            reply.events_by_day.add(date=day, count=number * 1000 * busy)
            extracted = reply.confidence_by_day.add(date=day, extraction_count=10 * busy)
            if busy:
                extracted.mean_confidence = 0.7 + number / 400
        for number, name in enumerate(("qty", "単価の長い長い名前" * 4, "\u009b31m", "x" * 100)):
            reply.corrected_fields.add(field=name, count=1000000 >> (5 * number))
        reply.by_event_type.add(event_type=feedback.FEEDBACK_EVENT_TYPE_MAPPING_REJECTED, count=12)
        for number in range(50):
            reply.layout_stats.add(layout_fingerprint=f"{number:064x}", seen_count=1000000)
        with self.played() as (servicer, environment):
            servicer.learning = reply
            self.assert_fits("analytics", "learning", environment=environment)
            sent = without_colours(self.on_terminal(60, "analytics", "learning", environment=environment))
            self.assertIn("(column = mean of 2 days)", sent)
            self.assertIn("100,000 ┤", sent)
            self.assertIn("1.00 ┤", sent)
            sent = self.on_terminal(120, "analytics", "learning", "--no-color", environment=environment)
            self.assertNotIn("mean of", sent)
            self.assertIn("errata analytics coverage", sent)
            for changes in ({"LANG": "C"}, {"LC_ALL": "POSIX"}):
                sent = self.on_terminal(80, "analytics", "learning",
                                        environment=environment | changes)
                self.assertTrue(sent.isascii(), sent)
                self.assertIn("####", sent)
            out, _ = self.run_cli("analytics", "learning", environment=environment | {"LC_ALL": "C"})
            self.assertIn("+-----", out)
            self.assertIn("2026-08-24 to 2026-11-21: 4005000 events"[:26], out)
            servicer.learning = analytics.GetLearningAnalyticsResponse(start_date="2026-08-24",
                                                                       end_date="2026-08-24")
            out, _ = self.run_cli("analytics", "learning", environment=environment)
            self.assertEqual(out.count("none in these days\n"), 3)
            self.assertIn("none are known yet\n", out)


if __name__ == "__main__":
    main()
