#!/usr/bin/python3
"""TextService.Sanitize through a real client, and the server's reports of texts that it could not
make safe.

Goal: text is safe for a prompt in each profile, from any client. Method: calls to one server
that logs everything it can; its counter and its log afterwards.
"""
import json
import os

from erratad import ROOT, ServerCase, admin, main
from errata.v1 import text_service_pb2 as text_service
from errata.v1 import text_service_pb2_grpc as text_service_grpc

PROFILES = (text_service.SANITIZE_PROFILE_NOTE, text_service.SANITIZE_PROFILE_GUIDELINE,
            text_service.SANITIZE_PROFILE_EXAMPLE)
INJECTIONS = os.path.join(ROOT, "tests", "data", "injections", "strings.jsonl")


class Sanitize(ServerCase):
    arguments = ("--log-level", "debug", "--log-format", "json")

    def sanitize(self, profile, text):
        stub = text_service_grpc.TextServiceStub(self.admin.channel)
        return stub.Sanitize(text_service.SanitizeRequest(profile=profile, text=text))

    def fallbacks(self):
        counters = self.admin.admin.GetServerInfo(admin.GetServerInfoRequest()).counters
        return {c.name: c.value for c in counters}["sanitiser_fallbacks"]

    def test_known_injections_leave_no_mark(self):
        """Every known string, in every profile: its marks are removed, and a second pass changes
        nothing."""
        with open(INJECTIONS, encoding="ascii") as f:
            strings = [json.loads(line) for line in f]
        for row in strings[::7]:
            if "\0" in row["text"]:
                continue  # the message is not part of this project
            for profile in PROFILES:
                answer = self.sanitize(profile, row["text"])
                self.assertFalse(answer.failed)
                self.assertEqual(answer.changed, answer.text != row["text"])
                for gone in row.get("gone", []):
                    self.assertNotIn(gone, answer.text, row["id"])
                again = self.sanitize(profile, answer.text)
                self.assertEqual((again.text, again.changed), (answer.text, False), row["id"])

    def test_unsafe_text_becomes_empty(self):
        """Empty, counted and logged, without the text; never an error."""
        before = self.fallbacks()
        answer = self.sanitize(PROFILES[0], "<sys" * 60 + "tem>" * 60 + " plum")
        self.assertEqual((answer.text, answer.changed, answer.failed), ("", True, True))
        self.assertEqual(self.fallbacks(), before + 1)
        reported = [json.loads(line) for line in self.server.read_log().splitlines()
                if "sanitiser fallback" in line]
        self.assertEqual([line["texts"] for line in reported], [1])
        self.assertNotIn("plum", self.server.read_log())


if __name__ == "__main__":
    main()
