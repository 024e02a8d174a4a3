#!/usr/bin/python3
"""The command `errata` against a real server, as operators and scripts use it.

Goal: each command works as its help describes, exit codes report the result, and no text from
outside reaches a terminal unescaped. Method: real runs of the program; scripts read its JSON, a
pseudo-terminal its tables.
"""
import concurrent.futures
import contextlib
import fcntl
import glob
import hashlib
import json
import os
import pathlib
import pty
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time

import grpc
from google.protobuf import any_pb2, duration_pb2

from erratad import (ROOT, ServerCase, Server, error_details_pb2, feedback, layout, layout_grpc,
                     main, status_pb2, wait_until)

ERRATA = os.path.join(os.environ["ERRATA_BIN"], "errata")
LINE = "EXTRACTION_LINE_CORRECTED"
PDF = pathlib.Path(ROOT, "tests", "data", "pdf")
# Three invoices of one supplier with equal measurements.
INVOICES = [str(PDF / "layout" / f"MustangGnuaccountingBeispielRE-{name}.pdf")
            for name in ("20150613_503", "20151008_504", "20170509_505")]
# Two invoices of another supplier; only test_documents_are_ingested_and_read stores these documents
# in the shared server.
SHEETS = [str(PDF / "layout" / f"p1-nics-{day}.pdf") for day in ("2016-04-04", "2016-11-01")]
COLUMNS = ["FILE", "PAGES", "PAGE 1", "TABLES", "COVERAGE", "LAYOUT", "DOCUMENTS", "NOTE"]


class BusyServer(layout_grpc.LayoutServiceServicer):
    """A server of documents whose answers a test chooses for each request."""

    def __init__(self, answer):
        self.answer = answer  # function of the document_id and the number of attempts: None, or a status
        self.seen = []

    def IngestDocumentStream(self, request_iterator, context):
        pieces = list(request_iterator)
        name = pieces[0].document_id
        self.seen.append(name)
        status = self.answer(name, self.seen.count(name))
        if status:
            metadata = [("grpc-status-details-bin", status.SerializeToString())]
            if status.message == NEVER:
                metadata.append(("grpc-retry-pushback-ms", "-1"))
            context.set_trailing_metadata(metadata)
            context.abort(list(grpc.StatusCode)[status.code], status.message)
        content = b"".join(piece.content for piece in pieces)
        return layout.IngestDocumentStreamResponse(document=layout.Document(
            document_id=name, page_count=1, size_bytes=len(content),
            sha256=hashlib.sha256(content).hexdigest()))


NEVER = "do not come again"  # the message of a status that is sent with a pushback of -1


def busy(code, message, retry_ms):
    """A status with a retry delay."""
    detail = any_pb2.Any()
    detail.Pack(error_details_pb2.RetryInfo(
        retry_delay=duration_pb2.Duration(nanos=retry_ms * 1_000_000)))
    return status_pb2.Status(code=code.value[0], message=message, details=[detail])


@contextlib.contextmanager
def busy_server(answer):
    """The address, and the calls received so far."""
    servicer = BusyServer(answer)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    layout_grpc.add_LayoutServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}", servicer
    finally:
        server.stop(None)


class Cli(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.wait_for_pdf()  # `errata health` checks it too
        cls.folder = tempfile.TemporaryDirectory()
        cls.token_file = os.path.join(cls.folder.name, "token")
        pathlib.Path(cls.token_file).write_text(cls.server.admin_token + "\n")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
        super().tearDownClass()

    def environment(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ERRATA_", "COLUMNS"))}
        return kept | {"ERRATA_SERVER": self.server.address, "ERRATA_TOKEN_FILE": self.token_file,
                       "TERM": "xterm"}

    def run_cli(self, *words, code=0, stdin="", **changes):
        """Runs one command; returns its output and its standard error as text."""
        run = subprocess.run([ERRATA, *words], input=stdin, capture_output=True, text=True,
                             timeout=30, env=self.environment() | changes)
        self.assertEqual(run.returncode, code, f"{words}: {run.stdout}{run.stderr}")
        return run.stdout if code == 0 else run.stderr

    def file(self, name, text):
        path = os.path.join(self.folder.name, name)
        pathlib.Path(path).write_text(text)
        return path

    def test_correction_becomes_an_example(self):
        """Captured by options, listed, shown with its diff, and served as an example."""
        made = self.run_cli("corrections", "capture", "--actor", "ada", "--type", LINE, "--layout", "cli-1",
                            "--document", "d1", "--entity", "draft_order_line/3", "--before",
                            '{"qty":10}', "--after", '{"qty":12}', "--snippet", "-",
                            stdin="HX 10 pcs").strip()
        listed = json.loads(self.run_cli("corrections", "list", "--layout", "cli-1", "--json"))
        self.assertEqual([e["id"] for e in listed["events"]], [made])
        self.assertEqual(listed["events"][0]["entityId"], "3")
        shown = self.run_cli("corrections", "show", made)
        self.assertIn("qty\n  - 10\n  + 12\n", shown)
        hints = json.loads(self.run_cli("examples", "cli-1", "--hints"))
        self.assertEqual(hints, [{"input_snippet": "HX 10 pcs", "output": {"qty": 12}}])
        self.assertEqual(self.run_cli("examples", "cli-none"), "")

    def test_repeated_import_stores_nothing_twice(self):
        """Batches have separate keys; an invalid line is named, and its batch is not stored."""
        lines = [json.dumps({"event_type": LINE, "layout_fingerprint": "cli-import",
                             "after_json": json.dumps({"qty": n})}) for n in range(25)]
        path = self.file("history.jsonl", "\n\n".join(lines) + "\n")
        for _ in range(2):
            self.run_cli("corrections", "import", path, "--batch", "10")
            listed = self.run_cli("corrections", "list", "--layout", "cli-import", "--all")
            self.assertEqual(len(listed.splitlines()), 1 + 25)
        bad = self.file("bad.jsonl", lines[0] + "\n[1]\n")
        self.assertIn("line 2: the record is not an object", self.run_cli("corrections", "import", bad, code=2))
        refused = self.file("refused.jsonl", "\n" + lines[0] + "\n{}\n")
        said = self.run_cli("corrections", "import", refused, "--again", code=1)
        self.assertIn("line 3: event_type: ", said)
        self.assertIn("lines 2 to 3 were not stored", said)
        listed = self.run_cli("corrections", "list", "--layout", "cli-import", "--all")
        self.assertEqual(len(listed.splitlines()), 1 + 25)

    def test_tokens_are_created_listed_and_revoked(self):
        """A created token works until it is revoked; missing arguments are requested."""
        secret = self.run_cli("token", "create", "--role", "SERVICE", "--expires", "1d").strip()
        file = self.file("service", secret)
        self.run_cli("examples", "any", ERRATA_TOKEN_FILE=file)
        self.assertIn("PERMISSION_DENIED", self.run_cli("token", "list", code=1,
                                                        ERRATA_TOKEN_FILE=file))
        key_id = secret.split("_")[1]
        self.assertIn(key_id, self.run_cli("token", "list"))
        self.run_cli("token", "revoke", key_id)
        self.assertIn("UNAUTHENTICATED", self.run_cli("--token-file", file, "examples", "x", code=1))
        self.assertIn("--role: missing", self.run_cli("token", "create", code=2))

    def test_any_method_is_called_by_json(self):
        """Any method is called by a short name; unknown members and names are refused with similar
        names."""
        reply = json.loads(self.run_cli("call", "GetExamples", '{"layoutFingerprint": "x"}'))
        self.assertEqual(reply["matchLevel"], "MATCH_LEVEL_NONE")
        self.assertIn('unknown field "layout"',
                      self.run_cli("call", "GetExamples", '{"layout": "x"}', code=2))
        self.assertIn("did you mean GetExamples?", self.run_cli("call", "GetExampels", code=2))
        request = json.dumps({"layout_fingerprint": "x" * 129, "max_examples": -1})
        failed = json.loads(self.run_cli("--json", "call", "GetExamples", request, code=1))
        self.assertEqual({f["field"] for f in failed["fields"]}, {"max_examples", "layout_fingerprint"})
        measured = json.loads(self.run_cli("call", "GetExamples", '{"layout_fingerprint": "x"}',
                                           "--repeat", "20", "--json"))
        self.assertEqual(measured["calls"], 20)
        self.assertLessEqual(measured["p50_us"], measured["p99_us"])

    def test_published_files_are_written(self):
        """Prints the published files by name, and writes all of them to a folder that protoc
        accepts."""
        names = self.run_cli("proto").splitlines()
        self.assertIn("errata/v1/role.proto", names)
        self.assertIn("google/rpc/status.proto", names)
        self.assertEqual(json.loads(self.run_cli("--json", "proto"))["files"], names)
        text = self.run_cli("proto", "errata/v1/role.proto")
        self.assertTrue(text.startswith('syntax = "proto3";\n\npackage errata.v1;\n'), text[:80])
        folder = os.path.join(self.folder.name, "a", "b")
        self.run_cli("proto", "--out", folder)
        written = {os.path.relpath(path, folder): open(path, encoding="utf-8").read()
                   for path in glob.glob(os.path.join(folder, "**", "*.proto"), recursive=True)}
        self.assertEqual(sorted(written), names)
        self.assertEqual(written["errata/v1/role.proto"], text)
        self.assertEqual([name for name, text in written.items() if "errata.options" in text], [])
        subprocess.run(["protoc", "-I.", "-I/usr/include", "-o/dev/null", *names], cwd=folder, check=True)
        one = os.path.join(self.folder.name, "one")
        self.run_cli("proto", "errata/v1/role.proto", "--out", one)
        self.assertEqual(os.listdir(os.path.join(one, "errata", "v1")), ["role.proto"])
        self.assertIn('PROTO "role.proto": unknown file', self.run_cli("proto", "role.proto", code=2))
        self.assertIn("--out: empty", self.run_cli("proto", "--out", "", code=2))
        self.assertIn("cannot be written", self.run_cli("proto", "--out", "/dev/null/x", code=4))

    def test_failures_have_their_exit_codes(self):
        """Exit codes: invalid usage 2, no server 3, an invalid file 4, output that cannot be
        written 4."""
        self.run_cli("health")
        self.assertIn('did you mean "corrections"?', self.run_cli("corections", code=2))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
            self.assertIn("cannot connect", self.run_cli("--server", address, "health", code=3))
        self.run_cli("--token-file", "/nonexistent", "health", code=4)
        with open("/dev/full", "w") as full:
            run = subprocess.run([ERRATA, "health"], stdout=full, stderr=subprocess.PIPE,
                                 env=self.environment(), timeout=30)
        self.assertEqual(run.returncode, 4)

    # --- documents ---

    def fingerprint(self, document_id):
        shown = json.loads(self.run_cli("layouts", "show", document_id, "--json"))
        return shown["document"]["layoutFingerprint"]

    def run_both(self, *words, code):
        """Runs one command; returns its output and its standard error."""
        run = subprocess.run([ERRATA, *words], capture_output=True, text=True, timeout=60,
                             env=self.environment())
        self.assertEqual(run.returncode, code, f"{words}: {run.stdout}{run.stderr}")
        return run.stdout, run.stderr

    def test_documents_are_ingested_and_read(self):
        """Three documents of a layout: a table, a list, a profile; the correction of one is an example for
        the next."""
        out, said = self.run_both("layouts", "ingest", *INVOICES, "--id-prefix", "read/", code=0)
        lines = out.splitlines()
        self.assertEqual(" ".join(lines[0].split()), " ".join(COLUMNS))
        cells = [line.split()[-8:] for line in lines[1:]]
        self.assertEqual([cell[:6] for cell in cells], [["1", "595", "x", "842", "2", "0.09"]] * 3)
        self.assertEqual(sorted(cell[7] for cell in cells), ["1", "2", "3"])
        self.assertIn("3 of 3 stored", said)
        again, _ = self.run_both("layouts", "ingest", INVOICES[0], "--id-prefix", "read/", code=0)
        self.assertEqual(again.splitlines()[1].split(), lines[1].split())  # the same answer
        first = "read/" + pathlib.Path(INVOICES[0]).stem
        fingerprint = self.fingerprint(first)
        self.assertTrue(fingerprint.startswith(cells[0][6]))
        listed = self.run_cli("layouts", "list", "--layout", fingerprint)
        self.assertEqual(len(listed.splitlines()), 4)
        made = self.run_cli("corrections", "capture", "--actor", "ada", "--type", LINE, "--document", first,
                            "--before", '{"qty": "1"}', "--after", '{"qty": "400"}').strip()
        shown = self.run_cli("layouts", "show", first)
        self.assertIn("3 of this layout were ingested", shown)
        self.assertIn("1 correction of this layout is an example", shown)
        self.assertIn("\n  Rechnung # RE-20150613/503", shown)
        hints = json.loads(self.run_cli("examples", fingerprint, "--hints"))
        self.assertIn("Rechnung # RE-20150613/503", hints[0]["input_snippet"])
        self.assertEqual(hints[0]["output"], {"qty": "400"})
        self.assertIn(fingerprint, self.run_cli("corrections", "show", made))
        profiles = self.run_cli("layouts", "profiles", "--most-seen", "--all")
        row = next(line for line in profiles.splitlines() if fingerprint in line)
        self.assertEqual(row.split()[1:3], ["3", "1"])
        self.assertRegex(self.run_cli("layouts", "profile", fingerprint), "documents +3\n")
        by_id = json.loads(self.run_cli("layouts", "show", first, "--json"))["document"]["id"]
        self.assertIn(first, self.run_cli("layouts", "show", "--by-id", by_id))
        family = json.loads(self.run_cli("layouts", "show", first, "--json"))[
            "document"]["layoutFamilyId"]
        self.assertIn(family, self.run_cli("layouts", "families"))
        self.assertRegex(self.run_cli("layouts", "family", family), f"fingerprints +.*{fingerprint}")
        self.assertIn(first, self.run_cli("layouts", "list", "--family", family))
        self.assertIn(fingerprint[:12], self.run_cli("layouts", "profiles", "--family", family))
        nearest = self.run_cli("layouts", "nearest", first)
        self.assertRegex(nearest, f"^0.[0-9]+  {family}  similar enough, its own family\n.* features are "
                                  "shared: [0-9]+ words")
        self.assertIn("NOT_FOUND", self.run_cli("layouts", "show", "read/none", code=1))

    def test_examples_include_those_of_the_family(self):
        """Two invoices of one supplier with different fingerprints: the correction of one is an example for the other, by
        --match and by the organisation's setting, and its outcome is credited to it."""
        self.run_cli("layouts", "ingest", *(str(PDF / "layout" / f"gen-L03-{n}.pdf") for n in (0, 3)), "--id-prefix", "near/")
        first, second = (json.loads(self.run_cli("layouts", "show", f"near/gen-L03-{n}", "--json"))["document"]
                         for n in (0, 3))
        self.assertNotEqual(first["layoutFingerprint"], second["layoutFingerprint"])
        self.assertEqual(first["layoutFamilyId"], second["layoutFamilyId"])
        made = self.run_cli("corrections", "capture", "--actor", "ada", "--type", LINE, "--document", "near/gen-L03-0",
                            "--before", '{"qty": "1"}', "--after", '{"qty": "404"}').strip()
        self.assertRegex(self.run_cli("layouts", "family", second["layoutFamilyId"]), "(?m)^examples +1$")
        report = self.run_cli("analytics", "learning", "--family", second["layoutFamilyId"])
        self.assertIn(": 1 feedback event.\n", report)
        self.assertIn(first["layoutFingerprint"][:8], report)
        ask = ("examples", "--document", "near/gen-L03-3", "--json")
        self.assertEqual(json.loads(self.run_cli(*ask))["matchLevel"], "MATCH_LEVEL_NONE")
        reply = json.loads(self.run_cli(*ask, "--match", "family"))
        self.assertEqual((reply["matchLevel"], [(e["id"], e["layoutFingerprint"]) for e in reply["examples"]]),
                         ("MATCH_LEVEL_FAMILY", [(made, first["layoutFingerprint"])]))
        self.assertRegex(self.run_cli(*ask[:-1], "--match", "family"), "FAMILY")
        self.run_cli("org", "settings", "--match-mode", "family")
        self.addCleanup(self.run_cli, "org", "settings", "--match-mode", "exact")
        self.assertEqual(json.loads(self.run_cli(*ask))["examples"], reply["examples"])
        self.assertEqual(json.loads(self.run_cli(*ask, "--match", "exact"))["matchLevel"], "MATCH_LEVEL_NONE")
        recorded = json.loads(self.run_cli("extractions", "record", "--document", "near/gen-L03-3", "--confidence", "0.9",
                                           "--exposure", reply["exposureRef"], "--json"))
        self.assertEqual(recorded["extraction"]["exampleIds"], [made])

    def test_families_are_merged(self):
        """Two invoices of different suppliers, whose families are merged: both are of one family then."""
        folder = pathlib.Path(self.folder.name, "merged")
        folder.mkdir()
        families = []
        invoice = PDF / "layout" / "MustangGnuaccountingBeispielRE-20150613_503.pdf"
        for name, file in (("a", SHEETS[0]), ("b", invoice)):
            shutil.copy(file, folder / f"{name}.pdf")
            self.run_cli("layouts", "ingest", str(folder / f"{name}.pdf"), "--document", f"merged/{name}")
            families.append(json.loads(self.run_cli("layouts", "show", f"merged/{name}", "--json"))[
                "document"]["layoutFamilyId"])
        self.assertNotEqual(families[0], families[1])
        self.assertIn("INVALID_ARGUMENT", self.run_cli("layouts", "merge", families[0], families[0], code=1))
        self.run_cli("layouts", "merge", *families)
        self.assertRegex(self.run_cli("layouts", "family", families[0]), f"merged +.*{families[0]}")
        self.assertNotIn(families[0], self.run_cli("layouts", "families"))
        listed = self.run_cli("layouts", "list", "--family", families[0])
        self.assertIn("merged/a", listed)
        self.assertIn("merged/b", listed)
        self.assertIn("already merged", self.run_cli("layouts", "merge", *families, code=1))
        self.run_cli("layouts", "split", families[0])
        self.assertNotIn("merged/a", self.run_cli("layouts", "list", "--family", families[1]))
        self.assertIn("merged/a", self.run_cli("layouts", "list", "--family", families[0]))
        self.assertIn("not merged", self.run_cli("layouts", "split", families[0], code=1))

    def test_documents_are_split_off(self):
        """Two copies of an invoice: one is moved into a family of its own, and back by a merge."""
        folder = pathlib.Path(self.folder.name, "parted")
        folder.mkdir()
        invoice = PDF / "layout" / "MustangGnuaccountingBeispielRE-20150613_503.pdf"
        for name in "ab":
            shutil.copy(invoice, folder / f"{name}.pdf")
            self.run_cli("layouts", "ingest", str(folder / f"{name}.pdf"), "--document", f"parted/{name}")
        family = json.loads(self.run_cli("layouts", "show", "parted/a", "--json"))["document"]["layoutFamilyId"]
        self.assertIn("document_ids[1]: not found", self.run_cli(
            "layouts", "split", family, "--document", "parted/b", "--document", "parted/c", code=1))
        made = json.loads(self.run_cli("layouts", "split", family, "--document", "parted/b", "--json"))["family"]
        self.assertEqual(made["documentCount"], "1")
        self.assertIn("parted/b", self.run_cli("layouts", "list", "--family", made["id"]))
        self.assertNotIn("parted/b", self.run_cli("layouts", "list", "--family", family))
        self.run_cli("layouts", "merge", made["id"], family)
        self.assertIn("parted/b", self.run_cli("layouts", "list", "--family", family))

    def test_refused_documents_have_a_reason(self):
        """Files with different faults among valid ones: each has a row with its full reason."""
        folder = pathlib.Path(self.folder.name, "trouble")
        (folder / "deeper").mkdir(parents=True)
        shutil.copy(SHEETS[0], folder / "good.pdf")
        shutil.copy(SHEETS[1], folder / "deeper" / "good.pdf")
        (folder / "empty.pdf").write_bytes(b"")
        (folder / "words.pdf").write_text("no PDF at all\n")
        (folder / "notes.txt").write_text("not looked at\n")
        with open(folder / "large.pdf", "wb") as large:
            large.truncate((64 << 20) + 1)
        (folder / "turn\x1b[31m.pdf").write_bytes(b"%PDF-1.4")
        shutil.copy(PDF / "encrypted" / "enc-R3_V2_U=view_O=master.pdf", folder / "locked.pdf")
        os.symlink("nowhere", folder / "dangling.pdf")
        out, said = self.run_both("layouts", "ingest", str(folder), "--id-prefix", "t-", code=1)
        notes = {line.split()[0].rsplit("/", 1)[1]: line.split("  ")[-1].strip()
                 for line in out.splitlines()[1:]}
        self.assertRegex(notes.pop("good.pdf"), "^[0-9]+$")
        self.assertEqual(notes, {
            "dangling.pdf": "not sent: unreadable", "empty.pdf": "not sent: unreadable",
            "large.pdf": "not sent: unreadable", "locked.pdf": "refused: encrypted",
            "turn\\x1b[31m.pdf": "not sent: unreadable", "words.pdf": "refused: not_a_pdf"})
        for sentence in ("dangling.pdf: it is a broken link", "empty.pdf: it is empty",
                         "large.pdf: it is larger than 64 MiB", "locked.pdf: encrypted: ",
                         "words.pdf: not_a_pdf: ", "--password-file FILE", "1 of 7 stored, 6 not"):
            self.assertIn(sentence, said)
        self.assertNotIn("\x1b", out + said)
        word = self.file("word", "view\n")
        self.run_both("layouts", "ingest", str(folder / "locked.pdf"), "--password-file", word, code=0)
        _, said = self.run_both("layouts", "ingest", str(folder / "deeper"), "--id-prefix", "t-", code=1)
        self.assertIn("'t-good' is stored with other bytes", said)
        self.assertIn("--id-prefix TEXT or --document ID selects another id", said)
        out, _ = self.run_both("layouts", "ingest", str(folder), "--recursive", "--json",
                               "--id-prefix", "t-", code=1)
        reported = {pathlib.Path(row["file"]).relative_to(folder).as_posix(): row
                for row in map(json.loads, out.splitlines())}
        self.assertEqual(reported["good.pdf"]["document"]["documentId"], "t-good")
        self.assertEqual(reported["deeper/good.pdf"]["error"]["code"], "ALREADY_EXISTS")
        self.assertEqual(reported["words.pdf"]["error"]["reason"], "not_a_pdf")
        self.assertEqual(reported["empty.pdf"]["error"]["code"], "unreadable")
        self.run_both("layouts", "ingest", str(folder / "empty.pdf"), code=4)
        self.run_both("layouts", "ingest", str(folder), "--document", "x", code=2)

    def test_a_busy_server_is_waited_for(self):
        """The command repeats the same bytes after the retry delay; a refusal of all documents ends it immediately."""
        def answer(name, times):
            if name == "a":
                return times < 3 and busy(grpc.StatusCode.RESOURCE_EXHAUSTED, "full", 50)
            return times < 2 and busy(grpc.StatusCode.UNAVAILABLE, "no worker", 10)

        content = os.urandom(700_000)
        for name in "ab":
            pathlib.Path(self.folder.name, f"{name}.pdf").write_bytes(content)
        files = [os.path.join(self.folder.name, f"{name}.pdf") for name in "ab"]
        with busy_server(answer) as (address, servicer):
            out, said = self.run_both("--server", address, "layouts", "ingest", *files, "--json",
                                      code=0)
        self.assertEqual(sorted(servicer.seen), ["a"] * 3 + ["b"] * 2)
        for row in map(json.loads, out.splitlines()):
            self.assertEqual(row["document"]["sha256"], hashlib.sha256(content).hexdigest())
        self.assertIn("2 of 2 stored", said)
        with busy_server(lambda *_: status_pb2.Status(
                code=grpc.StatusCode.PERMISSION_DENIED.value[0], message="no")) as (address, servicer):
            _, said = self.run_both("--server", address, "layouts", "ingest", *files * 20, code=1)
        self.assertLessEqual(len(servicer.seen), 2)
        self.assertIn("PERMISSION_DENIED: no", said)
        self.assertIn("0 of 40 stored, 40 not sent", said)
        # A document that is too large gets no RetryInfo, so there is no second attempt.
        with busy_server(lambda *_: status_pb2.Status(
                code=grpc.StatusCode.RESOURCE_EXHAUSTED.value[0], message="x")) as (address, servicer):
            self.run_both("--server", address, "layouts", "ingest", *files, code=1)
        self.assertEqual(sorted(servicer.seen), ["a", "b"])
        # A negative pushback takes precedence over RetryInfo.
        with busy_server(lambda *_: busy(grpc.StatusCode.UNAVAILABLE, NEVER, 10)) as (address, servicer):
            self.run_both("--server", address, "layouts", "ingest", *files, code=1)
        self.assertEqual(sorted(servicer.seen), ["a", "b"])

    def start_ingesting(self, server, token, count):
        """Starts `errata layouts ingest` on that many files; returns the process once a few are
        stored."""
        folder = pathlib.Path(self.folder.name, f"many-{count}-{server.address.rsplit(':', 1)[1]}")
        folder.mkdir()
        for number in range(count):
            os.symlink(INVOICES[0], folder / f"{number}.pdf")
        process = subprocess.Popen(
            [ERRATA, "layouts", "ingest", str(folder)], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.environment() | {
                "ERRATA_SERVER": server.address, "ERRATA_TOKEN_FILE": token})
        client = server.client()
        wait_until(lambda: len(client.layouts.ListDocuments(
            layout.ListDocumentsRequest()).documents) >= 3, "a few documents", 30)
        client.close()
        return process

    def test_an_interrupted_ingest_reports_its_progress(self):
        """SIGINT in the middle prints a table of the stored documents, and exits with 130; a second
        run stores the rest."""
        with Server() as server:
            token = self.file("int", server.admin_token)
            process = self.start_ingesting(server, token, 40)
            process.send_signal(signal.SIGINT)
            out, said = process.communicate(timeout=90)
            self.assertEqual(process.returncode, 130, said)
            stored = int(said.split(" of 40 stored")[0].split()[-1])
            self.assertEqual(len(out.splitlines()), 1 + stored)
            self.assertLess(stored, 40)
            self.assertIn(f"{40 - stored} not sent", said)
            again = subprocess.run(process.args, capture_output=True, text=True, timeout=90,
                                   env=self.environment() | {"ERRATA_SERVER": server.address,
                                                             "ERRATA_TOKEN_FILE": token})
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(len(again.stdout.splitlines()), 1 + 40)

    def test_an_ingest_outlives_the_server(self):
        """Killed in the middle and started again at the same address: every file is stored once."""
        with Server() as server:
            port = server.address.rsplit(":", 1)[1]
            process = self.start_ingesting(server, self.file("outlive", server.admin_token), 40)
            server.kill9()
            server.arguments = ["--listen", f"127.0.0.1:{port}"]
            server.start()
            out, said = process.communicate(timeout=90)
            self.assertEqual(process.returncode, 0, said)
            self.assertEqual(len(out.splitlines()), 1 + 40)
            client = server.client()
            documents = client.layouts.ListDocuments(
                layout.ListDocumentsRequest(page_size=1000)).documents
            self.assertEqual(len(documents), 40)
            self.assertEqual(client.profile(documents[0].layout_fingerprint).seen_count, 40)
            client.close()

    def test_explain_measures_locally(self):
        """Works without a server: prints the fingerprint that a server computes, and each table with the reason why it
        counts."""
        nowhere = {"ERRATA_SERVER": "127.0.0.1:1", "ERRATA_TOKEN_FILE": "/nonexistent"}
        png = os.path.join(self.folder.name, "page.png")
        reported = self.run_cli("layouts", "explain", SHEETS[0], "--png", png, **nowhere)
        self.assertEqual(pathlib.Path(png).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        explained = json.loads(self.run_cli("layouts", "explain", SHEETS[0], "--json", **nowhere))
        self.assertEqual(explained["layoutFingerprint"],
                         hashlib.sha256(json.dumps(explained["metadata"]).encode()).hexdigest())
        self.run_cli("layouts", "ingest", SHEETS[0], "--document", "explained")
        self.assertEqual(self.fingerprint("explained"), explained["layoutFingerprint"])
        self.assertIn(explained["layoutFingerprint"], reported)
        self.assertEqual(sum(table["counted"] for table in explained["tables"]),
                         explained["metadata"]["table_count"])
        for table in explained["tables"]:
            self.assertEqual(table["counted"], table["verdict"] == "yes")
        sketch = explained["sketch"]
        self.assertEqual(sum(count for kind, count in sketch.items() if kind != "features"), len(sketch["features"]))
        self.assertIn("compared by %d features of page 1" % len(sketch["features"]), reported)
        stored = self.run_cli("layouts", "explain", "--document", "explained")
        self.assertIn(explained["layoutFingerprint"], stored)
        words = self.file("words.pdf", "words")
        refused = subprocess.run([ERRATA, "layouts", "explain", words], capture_output=True, text=True,
                                 timeout=30, env=self.environment())
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.stdout, "refused +not_a_pdf: it is not a PDF")
        self.assertIn("is a folder",
                      self.run_cli("layouts", "explain", self.folder.name, code=4))
        self.assertIn("the same file as the PDF", self.run_cli("layouts", "explain", words, "--png", words,
                                                      code=2))
        self.assertIn("cannot start", self.run_cli("layouts", "explain", words, "--worker",
                                                       "/nonexistent", code=4))

    def test_table_of_documents_fits_the_terminal(self):
        """Long paths lose their fronts; the text of a PDF cannot control the terminal."""
        sent = self.on_terminal(90, "layouts", "ingest", *SHEETS, "--no-color", "--id-prefix", "w-")
        table = [line for line in sent.split("\x1b[K")[-1].splitlines() if "1008 x 612" in line]
        self.assertEqual(len(table), 2)
        self.assertIn("p1-nics-2016-04-04.pdf", table[0])
        self.assertLessEqual(max(map(len, table)), 90)

    def on_terminal(self, width, *words):
        """Returns the output of the command on a terminal of this width."""
        pid, terminal = pty.fork()
        if pid == 0:
            time.sleep(0.2)  # the width is set meanwhile
            os.execve(ERRATA, [ERRATA, *words], self.environment())
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        out = b""
        try:
            while piece := os.read(terminal, 65536):
                out += piece
        except OSError:
            pass  # the end of a pseudo-terminal
        os.close(terminal)
        os.waitpid(pid, 0)
        return out.decode().replace("\r\n", "\n")

    def test_terminal_gets_tables_of_its_width(self):
        """Stored text cannot control the terminal, and tables are not wider than it."""
        made = self.admin.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
                                  layout_fingerprint="cli-evil", document_id="d" * 100,
                                  before_json='{"note": "a"}',
                                  after_json='{"note": "\u009b31m\u202e"}').id
        for words in (("corrections", "show", made), ("examples", "cli-evil"),
                      ("call", "GetFeedbackEvent", '{"id": "%s"}' % made)):
            sent = self.on_terminal(80, *words)
            self.assertIn("note", sent)
            self.assertNotIn("\u009b", sent)
            self.assertNotIn("\u202e", sent)
        table = self.on_terminal(80, "corrections", "list", "--layout", "cli-evil", "--no-color")
        self.assertIn(made[:8], table)
        self.assertLessEqual(max(map(len, table.splitlines())), 80)

    def test_a_watch_outlives_the_server(self):
        """Killed and started again at the same address: each event once, none lost."""
        with Server() as server:
            port = server.address.rsplit(":", 1)[1]
            token = self.file("watch", server.admin_token)
            watch = subprocess.Popen(
                [ERRATA, "events", "watch", "--from-seq", "1", "--count", "5", "--json"],
                stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL,
                env=self.environment() | {"ERRATA_SERVER": server.address,
                                          "ERRATA_TOKEN_FILE": token})
            seen = []
            reader = threading.Thread(target=lambda: seen.extend(watch.stdout))
            reader.start()
            writer = server.client(server.admin_token)
            writer.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED)
            writer.close()
            server.kill9()
            server.arguments = ["--listen", f"127.0.0.1:{port}"]
            server.start()
            writer = server.client(server.admin_token)
            for _ in range(3):
                writer.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED)
            writer.close()
            reader.join(60)
            self.assertEqual(watch.wait(10), 0)
            watch.stdout.close()
            self.assertEqual([int(json.loads(line)["event"]["seq"]) for line in seen],
                             [1, 2, 3, 4, 5])


if __name__ == "__main__":
    main()
