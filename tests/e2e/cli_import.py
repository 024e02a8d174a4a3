#!/usr/bin/python3
"""Imports: checked as a whole, stored once, counted.

Goal: an import reports every problem and stores nothing of an invalid file unless requested, and a repeat is
reported as one. Method: files of both imports, against a server of this class.
"""
import json
import re

from errata_cli import CliCase
from erratad import main

LINE = "EXTRACTION_LINE_CORRECTED"
HEADING = "customer_id,customer_sku,internal_sku"


class Imports(CliCase):
    def file(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def events(self, name, layout, count, **changes):
        event = {"event_type": LINE, "layout_fingerprint": layout, "after_json": {"qty": 12}}
        return self.file(name, "".join(json.dumps(event | {"document_id": f"d{i}"} | changes) + "\n"
                                       for i in range(count)))

    def stored(self, layout):
        out, _ = self.run_cli("corrections", "list", "--layout", layout, "--all", "--json")
        return [e for line in out.splitlines() for e in json.loads(line).get("events", [])]

    def test_repeated_import_reports_stored_rows(self):
        path = self.events("repeat.jsonl", "im-repeat", 1200)
        for expected in ("events: 1,200 new, 0 already stored", "events: 0 new, 1,200 already stored"):
            self.assertIn(expected, self.run_cli("corrections", "import", path)[1])
        rows = self.file("repeat.csv", HEADING + "\n" +
                         "".join(f"im-repeat,S{i},I{i}\n" for i in range(30)))
        for expected in ("rows: 30 new, 0 already stored", "rows: 0 new, 30 already stored"):
            self.assertIn(expected, self.run_cli("mappings", "import", rows)[1])

    def test_json_members_take_objects(self):
        self.run_cli("corrections", "import", self.events(
            "objects.jsonl", "im-objects", 1, before_json={"qty": 10, "note": 'a "b"'},
            meta_json='{"x": 1}'))
        event = self.stored("im-objects")[0]
        self.assertEqual(json.loads(event["beforeJson"]), {"qty": 10, "note": 'a "b"'})
        self.assertEqual(json.loads(event["metaJson"]), {"x": 1})
        self.run_cli("corrections", "capture",
                     json.dumps({"event_type": LINE, "layout_fingerprint": "im-capture",
                                 "after_json": {"qty": 1}}))
        self.assertEqual(len(self.stored("im-capture")), 1)

    def test_nothing_of_an_invalid_file_is_stored(self):
        good = (self.folder / self.events("good.jsonl", "im-bad", 2)).read_text()
        path = self.file("bad.jsonl", good + "[]\n" + good + '{"event_type": "NOTHING"}\n{"x": 1}\n')
        for words in (("corrections", "import", path), ("corrections", "import", "-")):
            _, said = self.run_cli(*words, code=2, stdin=(self.folder / path).read_text())
            for line in (3, 6, 7):
                self.assertIn(f"line {line}:", said)
            self.assertIn("3 events are invalid: nothing was stored", said)
        self.assertEqual(self.stored("im-bad"), [])
        _, said = self.run_cli("corrections", "import", path, "--skip-invalid", code=2)
        self.assertIn("events: 4 new, 0 already stored, 3 invalid ones skipped", said)
        self.assertEqual(len(self.stored("im-bad")), 4)

    def test_files_that_are_no_lines_of_json_are_refused(self):
        line = (self.folder / self.events("whole.jsonl", "im-form", 1)).read_text()
        path = self.file("cut.jsonl", line + line[:40])
        self.assertIn("cut.jsonl line 2: ", self.run_cli("corrections", "import", path, code=2)[1])
        for name, data, said in (("wide.jsonl", line.encode("utf-16"), "UTF-16; expected UTF-8"),
                                 ("packed.jsonl", b"\x1f\x8b\x08", "compressed with gzip")):
            (self.folder / name).write_bytes(data)
            self.assertIn(f"{name}: {said}", self.run_cli("corrections", "import", name, code=2)[1])
        self.assertEqual(self.stored("im-form"), [])

    def test_lines_of_other_than_one_event_are_invalid(self):
        """Nothing of such a line is stored, though an event in it is valid."""
        line = (self.folder / self.events("one.jsonl", "im-one", 1)).read_text().strip()
        path = self.file("two.jsonl", "\n".join((line, f"[{line}]", f"{line} {line}", f"{line} rubbish", f"[{line}", line[:-1],
                                                 "", "  " + line + " \r", line)))
        _, said = self.run_cli("corrections", "import", path, "--skip-invalid", code=2)
        self.assertEqual(sorted(set(re.findall(r"line (\d+):", said))), ["2", "3", "4", "5", "6"], said)
        self.assertIn("events: 3 new, 0 already stored, 5 invalid ones skipped", said)
        self.assertEqual(len(self.stored("im-one")), 3)

    def refused(self, name, layout, bad):
        """12 events, of which those of `bad` pass the check of the file, but not the server's."""
        texts = ['{"qty": 12}', "[1]"]
        return self.file(name, "\n".join(
            json.dumps({"event_type": LINE, "layout_fingerprint": layout, "after_json": texts[i in bad]})
            for i in range(12)) + "\n")

    def test_refused_events_are_reported_by_line(self):
        """The batch that holds them is not stored, and those before it are."""
        path = self.refused("refused.jsonl", "im-refused", (6, 7))
        _, said = self.run_cli("corrections", "import", path, "--batch", "5", code=1)
        self.assertEqual(said.count(f"{path} line "), 2, said)
        for line in (7, 8):
            self.assertIn(f"{path} line {line}: after_json: ", said)
        self.assertIn("lines 6 to 10 were not stored", said)
        self.assertEqual(len(self.stored("im-refused")), 5)

    def test_events_around_refused_ones_are_stored(self):
        """Refused events are skipped on request, at any place of a batch; a repeat stores nothing."""
        path = self.refused("skipped.jsonl", "im-skipped", (0, 5, 6, 11))
        for stored in ("8 new, 0", "0 new, 8"):
            _, said = self.run_cli("corrections", "import", path, "--batch", "6", "--skip-invalid", code=1)
            for line in (1, 6, 7, 12):
                self.assertEqual(said.count(f"{path} line {line}: after_json: "), 1, said)
            self.assertIn(f"events: {stored} already stored, 4 refused by the server", said)
        self.assertEqual(len(self.stored("im-skipped")), 8)
        path = self.refused("all.jsonl", "im-all", range(12))
        _, said = self.run_cli("corrections", "import", path, "--skip-invalid", code=1)
        self.assertIn("events: 0 new, 0 already stored, 12 refused by the server", said)

    def test_nothing_of_invalid_rows_is_stored(self):
        rows = self.file("bad.csv", HEADING + ",status\nim-bad,A,1,\nim-bad,,2,\nim-bad,C,3,MAYBE\n")
        for words in (("mappings", "import", rows), ("mappings", "import", "-")):
            _, said = self.run_cli(*words, code=2, stdin=(self.folder / rows).read_text())
            self.assertIn("line 3: customer_sku: empty", said)
            self.assertIn("line 4: status: unknown value 'MAYBE'", said)
            self.assertIn("2 rows are invalid: nothing was stored", said)
        out, _ = self.run_cli("mappings", "list", "--customer", "im-bad", "--csv")
        self.assertEqual(len(out.splitlines()), 1)
        _, said = self.run_cli("mappings", "import", rows, "--skip-invalid", code=2)
        self.assertIn("rows: 1 new, 0 already stored, 2 invalid ones skipped", said)

    def test_a_missing_column_is_reported_once(self):
        rows = self.file("column.csv", HEADING + ",status\n" +
                         "".join(f"im-column,S{i},I{i},SUGGESTED\n" for i in range(50)))
        _, said = self.run_cli("mappings", "import", rows, code=2)
        self.assertEqual(said.count("confidence"), 1, said)
        self.assertIn("50 rows are invalid", said)
        _, said = self.run_cli("mappings", "import", self.file("none.csv", "customer_id\na\n"), code=2)
        self.assertEqual(said.count("customer_sku"), 1, said)

    def test_a_dry_run_sends_nothing(self):
        path = self.events("dry.jsonl", "im-dry", 3)
        nowhere = self.here(ERRATA_SERVER="127.0.0.1:1")
        _, said = self.run_cli("corrections", "import", path, "--dry-run", environment=nowhere)
        self.assertIn("3 events are valid, 0 are not; nothing was sent", said)
        rows = self.file("dry.csv", HEADING + "\na,b,c\na,,c\n")
        _, said = self.run_cli("mappings", "import", rows, "--dry-run", code=2, environment=nowhere)
        self.assertIn("1 rows are valid, 1 are not; nothing was sent", said)
        self.assertEqual(self.stored("im-dry"), [])


if __name__ == "__main__":
    main()
