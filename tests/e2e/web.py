#!/usr/bin/python3
"""The files of the page for people, as erratad serves them; tests/browser uses them in a browser.

Goal: the page is small, is cached until its bytes change, and may run only its own files. Method: Python's own HTTP
client, and the sources beside the answers.
"""
import gzip
import http.client
import os
import re

from erratad import ROOT, ServerCase, event_log, main

PAGE = os.path.join(ROOT, "server", "web", "page")
PACKED_BYTES_MAX = 150_000
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def sources():
    """Path -> bytes of each file of the page except index.html."""
    found = {}
    for folder, _, names in os.walk(PAGE):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, PAGE)] = f.read()
    del found["index.html"]
    return found


class Web(ServerCase):
    def ask(self, path, verb="GET", **fields):
        host, port = self.server.address.rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=20)
        try:
            connection.request(verb, path, headers={name.replace("_", "-"): value for name, value in fields.items()})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def page(self):
        status, fields, body = self.ask("/")
        self.assertEqual((status, fields["content-type"]), (200, "text/html; charset=utf-8"))
        return body.decode()

    def folder(self):
        return re.search(r'src="(/assets/[0-9a-f]{16}/)app\.js"', self.page()).group(1)

    def test_every_file_is_served(self):
        folder, files = self.folder(), sources()
        self.assertIn("app.js", files)
        for name, data in files.items():
            status, fields, body = self.ask(folder + name)
            self.assertEqual((status, body), (200, data), name)
            self.assertEqual(fields["content-type"].split(";")[0], TYPES[os.path.splitext(name)[1]], name)
            self.assertEqual(fields["cache-control"], "public, max-age=31536000, immutable", name)
            _, fields, body = self.ask(folder + name, accept_encoding="br, gzip")
            if fields.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            self.assertEqual(body, data, name)

    def test_files_are_small(self):
        folder = self.folder()
        packed = len(self.ask("/", accept_encoding="gzip")[2])
        for name in sources():
            packed += len(self.ask(folder + name, accept_encoding="gzip")[2])
        print(f"the page has {packed:,} bytes compressed")
        self.assertLess(packed, PACKED_BYTES_MAX)

    def test_event_log_filters_by_every_kind(self):
        """Each kind of event in the contract is in the list of the filter, once."""
        source = sources()["views/event_log.js"].decode()
        kinds = re.findall(r"'(\w+)'", re.search(r"const KINDS = \[([^\]]+)\]", source).group(1))
        wanted = [name.removeprefix("EVENT_KIND_") for name, number in event_log.EventKind.items() if number != event_log.EVENT_KIND_UNSPECIFIED]
        self.assertEqual(sorted(kinds), sorted(wanted))

    def test_audit_filters_by_every_audited_kind(self):
        """Each kind that ListAudit lists, by its mark in the contract, is in the list of the filter, once."""
        source = sources()["views/audit.js"].decode()
        kinds = re.findall(r"'(\w+)'", re.search(r"const KINDS = \[([^\]]+)\]", source).group(1))
        with open(os.path.join(ROOT, "proto", "errata", "v1", "event.proto"), encoding="utf-8") as f:
            marked = re.findall(r"EVENT_KIND_(\w+) = \d+ \[([^\]]*)\];", f.read())
        self.assertEqual(sorted(kinds), sorted(name for name, options in marked if "audited = true" in options))

    def test_files_of_the_page_are_known_to_it(self):
        """All files that index.html names and modules import exist."""
        files, folder = sources(), self.folder()
        for path in re.findall(r'(?:href|src)="([^"]+)"', self.page()):
            self.assertEqual(self.ask(path)[0], 200, path)
        for name, data in files.items():
            if name.endswith(".js"):
                for target in re.findall(r"(?:from|import\()\s*'(\.[^']+)'", data.decode()):
                    path = os.path.normpath(os.path.join(os.path.dirname(name), target))
                    self.assertIn(path, files, f"{name} imports {target}")
        self.assertEqual(self.ask(folder + "other.js")[0], 404)
        self.assertEqual(self.ask("/assets/")[0], 404)
        self.assertEqual(self.ask("/assets/0000000000000000/app.js")[0], 404)

    def test_known_files_are_not_sent_again(self):
        for path in ("/", self.folder() + "app.js"):
            _, fields, _ = self.ask(path)
            tag = fields["etag"]
            for condition in (tag, f'"other", {tag}', f"W/{tag}", "*"):
                status, fields, body = self.ask(path, if_none_match=condition)
                self.assertEqual((status, fields["etag"], body), (304, tag, b""), condition)
                self.assertNotIn("content-length", fields)
            self.assertEqual(self.ask(path, if_none_match='"other"')[0], 200)
        self.assertEqual(self.ask("/")[1]["cache-control"], "no-cache")

    def test_other_verbs_are_refused(self):
        status, fields, _ = self.ask("/", verb="POST")
        self.assertEqual((status, fields["allow"]), (405, "GET, HEAD"))
        status, fields, body = self.ask("/", verb="HEAD")
        self.assertEqual((status, int(fields["content-length"]), body), (200, len(self.page()), b""))

    def test_only_own_files_may_run(self):
        for path in ("/", self.folder() + "app.js"):
            fields = self.ask(path)[1]
            policy = dict(part.strip().split(" ", 1) for part in fields["content-security-policy"].split(";"))
            self.assertEqual(policy["default-src"], "'none'")
            self.assertEqual({policy[name] for name in ("script-src", "style-src", "connect-src", "img-src")}, {"'self'"})
            self.assertEqual(policy["require-trusted-types-for"], "'script'")
            self.assertEqual(policy["frame-ancestors"], "'none'")
            self.assertEqual(fields["x-content-type-options"], "nosniff")
            self.assertEqual(fields["referrer-policy"], "no-referrer")
        page = self.page()
        self.assertEqual(re.findall(r"<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=", page), [])
        self.assertEqual(re.findall(r'(?:href|src)="(?!/)', page), [])

    def test_sources_parse_no_markup(self):
        """Text becomes text nodes: no file parses text as HTML."""
        for name, data in sources().items():
            if name.endswith(".js"):
                found = re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function|srcdoc", data.decode())
                self.assertEqual(found, [], name)


if __name__ == "__main__":
    main()
