#!/usr/bin/python3
"""Short ids: lists print them, every command takes them, and the server finds them.

Goal: printed prefixes can be typed as arguments; a prefix never selects another id. Method: a
terminal's tables are read; each List request's prefix filter is compared with filtering all rows here.
"""
import json
import pathlib
import re

import grpc

from errata_cli import CliCase
from erratad import ROOT, admin, event_service, feedback_service, layout, main, mappings

LINE = "EXTRACTION_LINE_CORRECTED"
PDFS = [pathlib.Path(ROOT, "tests", "data", "pdf", "layout", name) for name in
        ("MustangGnuaccountingBeispielRE-20150613_503.pdf", "p1-nics-2016-04-04.pdf")]


class Ids(CliCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls("test_a_list_shows_what_changed")
        cls.made = []
        for quantity in (11, 12, 13):
            out, _ = case.run_cli("corrections", "capture", "--actor", "ada", "--type", LINE, "--layout", "ids-1",
                                  "--document", "invoice-17", "--actor", "ada",
                                  "--before", '{"qty": 10, "sku": "A"}',
                                  "--after", json.dumps({"qty": quantity, "sku": "A"}))
            cls.made.append(out.strip())
        out, _ = case.run_cli("mappings", "confirm", "--customer", "acme", "--sku", "HX-1",
                              "--internal", "4711")
        cls.mapping = out.strip()
        case.run_cli("layouts", "ingest", *map(str, PDFS))

    def unique(self, wanted, ids):
        """The shortest prefix, of 8 characters at least, that only `wanted` has."""
        size = 8
        while sum(i.startswith(wanted[:size]) for i in ids) > 1:
            size += 1
        return wanted[:size]

    def test_a_list_shows_what_changed(self):
        for width in (80, 140):
            table = self.on_terminal(width, "corrections", "list", "--no-color")
            rows = table.splitlines()
            self.assertLessEqual(max(map(len, rows)), width)
            self.assertRegex(rows[0], r"^ID +CREATED +.*CHANGE +ACTOR +DOCUMENT +LAYOUT")
            self.assertEqual([re.search(r"qty 10 -> (\d+)", row)[1] for row in rows[1:]],
                             ["13", "12", "11"])
            for row in rows[1:]:
                self.assertRegex(row, r"ada +invoice-17 +ids-1")

    def test_mappings_are_listed_on_request(self):
        for words, present in (((), False), (("--mappings",), True),
                               (("--type", "mapping-confirmed"), True)):
            out, _ = self.run_cli("corrections", "list", "--all", "--json", *words)
            types = {e["eventType"] for line in out.splitlines()
                     for e in json.loads(line).get("events", [])}
            self.assertEqual("FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED" in types, present)
            self.assertEqual("FEEDBACK_EVENT_TYPE_" + LINE in types, "--type" not in words)

    def test_a_printed_id_is_taken(self):
        """Lists all ids that a prefix is compared with, so that each printed prefix is unique."""
        table = self.on_terminal(80, "corrections", "list", "--mappings", "--no-color")
        short = [row.split()[0] for row in table.splitlines()[1:]]
        self.assertEqual(len(set(short)), 4)
        for prefix, whole in zip(short, (self.mapping, *reversed(self.made))):
            self.assertTrue(whole.startswith(prefix) and 8 <= len(prefix) < 36, prefix)
            out, _ = self.run_cli("corrections", "show", prefix.upper())
            self.assertIn(whole, out)

    def test_an_ambiguous_prefix_lists_its_candidates(self):
        _, said = self.run_cli("corrections", "show", self.made[0][:6], code=1)
        self.assertIn("ambiguous prefix", said)
        for whole in self.made:
            self.assertIn(whole, said)
        _, said = self.run_cli("corrections", "show", self.made[0][:6], "--json", code=1)
        self.assertIn("ambiguous", json.loads(said.splitlines()[0])["message"])

    def test_an_unknown_prefix_fails(self):
        for words in (("corrections", "show", "ffffffff"), ("mappings", "show", "ffffffff-0"),
                      ("events", "show", "ffffffff"), ("token", "revoke", "fffffff"),
                      ("org", "settings", "ffffffff")):
            _, said = self.run_cli(*words, code=1)
            self.assertIn("not found; expected an id", said)

    def test_prefixes_of_every_kind_of_id_are_resolved(self):
        events = json.loads(self.run_cli("events", "list", "--all", "--json")[0])["events"]
        ids = [e["id"] for e in events]
        self.assertEqual(json.loads(self.run_cli("events", "show", self.unique(ids[1], ids))[0])
                         ["event"]["id"], ids[1])
        self.assertIn("HX-1", self.run_cli("mappings", "show", self.mapping[:8])[0])
        self.assertIn(self.mapping, self.run_cli("mappings", "reject", self.mapping[:10])[0])
        org = json.loads(self.run_cli("org", "list", "--json")[0])["organizations"][0]["id"]
        self.assertIn("holdout", self.run_cli("org", "settings", org[:8])[0])
        self.run_cli("token", "create", "--role", "SERVICE", "--file", "service.token")
        tokens = json.loads(self.run_cli("token", "list", "--json")[0])["tokens"]
        key = next(t["keyId"] for t in tokens if t["role"] == "ROLE_SERVICE")
        prefix = next(key[:n] for n in range(1, 8)
                      if sum(t["keyId"].startswith(key[:n]) for t in tokens) == 1)
        self.run_cli("token", "revoke", prefix)
        self.assertIn("revoked", self.run_cli("token", "list")[0])

    def test_organisations_are_found_by_name(self):
        """By the whole name or a prefix of the id; a name that is also such a prefix is ambiguous."""
        org = self.run_cli("org", "create", "Acme Ltd")[0].strip()
        self.assertIn("(" + org + ") is SUSPENDED", self.run_cli("org", "suspend", "Acme Ltd", "--reason", "r")[0])
        self.run_cli("token", "create", "--org", "Acme Ltd", "--role", "SERVICE", "--file", "acme.token")
        key = json.loads(self.run_cli("token", "list", "--org", "Acme Ltd", "--json")[0])["tokens"][0]["keyId"]
        quota = ("admin", "quota", "--org", "Acme Ltd")
        self.assertRegex(self.run_cli(*quota, "--key-id", key[:7], "--pdf-jobs", "3")[0], r"PDF jobs +3\n")
        self.assertRegex(self.run_cli(*quota)[0], rf"\n{key} .* 0 of 3")
        _, said = self.run_cli("org", "resume", "Acme", "--reason", "r", code=1)
        self.assertIn('ORG "Acme": not found; expected an id, a unique prefix of one, or a name', said)
        other = self.run_cli("org", "create", org[:8])[0].strip()
        _, said = self.run_cli("org", "resume", org[:8], "--reason", "r", code=1)
        self.assertIn("ambiguous prefix", said)
        _, said = self.run_cli("org", "delete", "Acme Ltd", code=2)
        self.assertIn("--confirm-name, --reason: missing; expected --confirm-name NAME", said)
        self.run_cli("org", "delete", "Acme Ltd", "--confirm-name", "Acme Ltd", "--reason", "r")
        self.run_cli("org", "suspend", other, "--reason", "r")
        self.run_cli("org", "delete", other, "--confirm-name", org[:8], "--reason", "r")
        self.assertNotIn(org, self.run_cli("org", "list", "--json")[0])

    def test_prefixes_of_repeated_ids_are_resolved(self):
        ids = [e["id"] for e in json.loads(self.run_cli("events", "list", "--all", "--json")[0])["events"]]
        words = [word for one in ids[:2] for word in ("--event", self.unique(one, ids))]
        shown, _ = self.run_cli("admin", "erase", *words, "--reason", "r", "--dry-run")
        self.assertRegex(shown, "facts remain +of 2 events")
        self.assertRegex(shown, rf"event +{ids[0]}\n *event +{ids[1]}\n")
        _, said = self.run_cli("admin", "erase", "--event", "ffffffff", "--reason", "r", "--dry-run", code=1)
        self.assertIn("not found; expected an id", said)
        other = self.run_cli("org", "create", "Of Erasure")[0].strip()
        erase = ("admin", "erase", "--org", "Of Erasure", "--reason", "r", "--dry-run", "--event")
        _, said = self.run_cli(*erase, words[1], code=2)
        self.assertIn(f'EVENT "{words[1]}": a prefix, which --org does not resolve; expected a whole id', said)
        self.assertIn("event_ids[0]: not found in this organisation", self.run_cli(*erase, other, code=1)[1])
        _, said = self.run_cli("admin", "erase", code=2)
        for missing in ("--user or --event", "--reason TEXT", "--dry-run, which shows"):
            self.assertIn(missing, said)

    def test_prefixes_of_fingerprints_are_resolved(self):
        table = self.on_terminal(80, "layouts", "profiles", "--no-color")
        for short in [row.split()[0] for row in table.splitlines()[1:]]:
            self.assertEqual(len(short), 8)
            whole = re.search(r"layout +([0-9a-f]{64})",
                              self.run_cli("layouts", "profile", short)[0])[1]
            self.assertTrue(whole.startswith(short))
            out, _ = self.run_cli("layouts", "list", "--layout", short, "--json")
            self.assertEqual([d["layoutFingerprint"] for d in json.loads(out)["documents"]], [whole])
        # Any text may be a layout: a text that is not the prefix of a fingerprint is unchanged.
        self.run_cli("examples", "deadbeef00")

    def test_examples_are_found_by_document(self):
        document = PDFS[0].stem
        self.run_cli("corrections", "capture", "--actor", "ada", "--type", LINE, "--document", document,
                     "--before", '{"qty": 1}', "--after", '{"qty": 2}')
        words = ["examples", "--document", document]
        self.assertNotIn('"qty"', self.run_cli(*words)[0])  # excludes its own example, which would reveal the result
        self.assertIn('{"qty": 2}', self.run_cli(*words, "--include-own")[0].replace('{"qty":2}', '{"qty": 2}'))
        self.assertIn("LAYOUT: missing", self.run_cli("examples", code=2)[1])
        self.assertEqual(self.run_cli("examples", "--document", "unknown")[0], "")

    def test_completion_offers_ids_by_their_prefix(self):
        for words in (("corrections", "show", self.made[1][:14]),
                      ("mappings", "show", self.mapping[:4])):
            for shell, arguments in (("zsh", ("--", *words)), ("fish", ("--", *words)),
                                     ("bash", (words[-1], "errata " + " ".join(words)))):
                out, _ = self.run_cli("__complete", shell, *arguments)
                self.assertIn(self.made[1] if words[0] == "corrections" else self.mapping, out)

    # --- the server's filters ---

    def filtered(self, call, request, rows, prefix_field, prefix):
        """All pages, of two rows each."""
        setattr(request, prefix_field, prefix)
        request.page_size = 2
        found = []
        for _ in range(100):
            reply = call(request)
            found += getattr(reply, rows)
            request.page_token = reply.next_page_token
            if not reply.next_page_token:
                return found
        raise AssertionError("more pages than rows")

    def test_filters_agree_with_all_rows(self):
        stubs = self.admin
        lists = [
            (stubs.feedback.ListFeedbackEvents, feedback_service.ListFeedbackEventsRequest, "events",
             "id_prefix", "id"),
            (stubs.log.ListEvents, event_service.ListEventsRequest, "events", "id_prefix", "id"),
            (stubs.mappings.ListMappings, mappings.ListMappingsRequest, "mappings", "id_prefix", "id"),
            (stubs.admin.ListOrganizations, admin.ListOrganizationsRequest, "organizations",
             "id_prefix", "id"),
            (stubs.admin.ListTokens, admin.ListTokensRequest, "tokens", "key_id_prefix", "key_id"),
            (stubs.layouts.ListProfiles, layout.ListProfilesRequest, "profiles",
             "layout_fingerprint_prefix", "layout_fingerprint")]
        for call, request, rows, field, member in lists:
            everything = [getattr(r, member) for r in getattr(call(request(page_size=1000)), rows)]
            self.assertGreater(len(everything), 0)
            for whole in everything[:2]:
                for size in range(1, len(whole) + 1):
                    prefix = whole[:size]
                    found = [getattr(r, member) for r in
                             self.filtered(call, request(), rows, field, prefix)]
                    self.assertEqual(sorted(found),
                                     sorted(i for i in everything if i.startswith(prefix)))
            with self.assertRaises(grpc.RpcError) as caught:
                call(request(**{field: "xyz"}))
            self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)


if __name__ == "__main__":
    main()
