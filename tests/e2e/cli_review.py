#!/usr/bin/python3
"""`errata corrections review` on a terminal, and `errata corrections retract`.

Goal: a person sees each correction with its result, and retracts a wrong one with one key; the terminal's settings are
restored. Method: a pseudo-terminal against a real server; simulated keys.
"""
import json
import os
import re
import signal
import termios

from errata_cli import ERRATA, CliCase, Terminal
from erratad import admin, event_log, extraction, extraction_service, feedback, feedback_service, main, roles

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
PROMPT = "[q]uit  "
UNKNOWN = "0192f0c0-1111-7222-8333-444455556666"


def plain(text):
    """The text without colours, with the line ends of a file."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\r\n", "\n")


class Review(CliCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client = cls.server.client()

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        super().tearDownClass()

    def correct(self, layout, number, **fields):
        """Captures a correction of a quantity; returns its id."""
        return self.client.capture(
            event_type=LINE, layout_fingerprint=layout, document_id=f"{layout}-{number}", actor_user_id="ada",
            entity_type="line", entity_id=f"{layout}-{number}", before_json='{"qty": 10}',
            after_json=json.dumps({"qty": number}), meta_json='{"input_snippet": "12 pcs"}', **fields).id

    def review(self, *words, width=80):
        return Terminal([ERRATA, "corrections", "review", *words], self.here(), self.folder, width)

    def press(self, terminal, keys):
        """Sends keys after the prompt; returns the output up to the next one."""
        terminal.read(until=PROMPT)
        terminal.out = terminal.out[terminal.out.index(PROMPT) + len(PROMPT):]
        terminal.send(keys)

    def shown(self, terminal):
        """Returns the screen, with the prompt at its end."""
        return plain(terminal.read(until=PROMPT))

    def test_each_correction_is_shown_with_its_outcomes(self):
        self.correct("seen", 1)
        second = self.correct("seen", 2)
        served = self.client.examples("seen")
        self.client.extractions.RecordExtraction(extraction_service.RecordExtractionRequest(
            extraction=extraction.Extraction(document_id="order-7", layout_fingerprint="seen", confidence=0.9,
                                             actor_user_id="ada", exposure_refs=[served.exposure_ref])))
        terminal = self.review("--layout", "seen")
        screen = self.shown(terminal)
        self.assertIn("--- 1 of 2 ---", screen)
        self.assertIn(second, screen)
        self.assertIn("ada (HUMAN)", screen)
        self.assertIn("seen-2", screen)
        self.assertRegex(screen, r"qty\n  - 10\n  \+ 2\n")
        self.assertIn("0 of 1 bad (0.0%), in 1 exposure", screen)
        self.assertRegex(screen, r"not corrected +order-7")
        for key, heading in (("n", "2 of 2"), ("\x1b[A", "1 of 2"), (" ", "2 of 2"), ("p", "1 of 2"),
                             ("\x1b[B", "2 of 2")):
            self.press(terminal, key)
            self.assertIn(f"--- {heading} ---", self.shown(terminal))
        self.press(terminal, "n")
        self.assertIn("this is the last one", self.shown(terminal))
        self.press(terminal, "x")
        self.assertIn("r: retract", self.shown(terminal))
        self.press(terminal, "q")
        terminal.read()
        self.assertEqual(terminal.close(), 0)

    def test_one_key_retracts_for_a_reason(self):
        event = self.correct("wrong", 1)
        terminal = self.review("--layout", "wrong")
        self.press(terminal, "r")
        terminal.read(until="do not retract): ")
        terminal.send("\n")
        self.assertIn("not retracted", self.shown(terminal))
        self.assertEqual(len(self.client.examples("wrong").examples), 1)
        self.press(terminal, "r")
        terminal.read(until="do not retract): ")
        terminal.send("another invoice\n")
        screen = self.shown(terminal)
        self.assertRegex(screen, r"retracted .* by .*: another invoice")
        self.assertEqual(len(self.client.examples("wrong").examples), 0)
        self.press(terminal, "q")
        self.assertIn("1 retracted", plain(terminal.read()))
        self.assertEqual(terminal.close(), 0)
        kept = self.client.feedback.GetFeedbackEvent(feedback_service.GetFeedbackEventRequest(id=event)).event
        self.assertEqual(kept.retraction_reason, "another invoice")

    def test_given_reason_is_not_asked_for(self):
        self.correct("bulk", 1)
        self.correct("bulk", 2)
        terminal = self.review("--layout", "bulk", "--reason", "test data")
        self.press(terminal, "r")
        self.assertIn("test data", self.shown(terminal))
        self.press(terminal, "n")
        self.press(terminal, "r")
        self.assertIn("test data", self.shown(terminal))
        self.press(terminal, "\x03")
        terminal.read()
        self.assertEqual(terminal.close(), 0)
        self.assertEqual(len(self.client.examples("bulk").examples), 0)

    def test_refusal_is_reported_and_the_review_goes_on(self):
        self.correct("refused", 1)
        token = self.client.admin.CreateToken(admin.CreateTokenRequest(
            token=admin.Token(role=roles.ROLE_VIEWER))).secret
        (self.folder / "viewer.token").write_text(token)
        terminal = Terminal([ERRATA, "--token-file", "viewer.token", "corrections", "review", "--layout", "refused",
                             "--reason", "no"], self.here(), self.folder, 80)
        self.press(terminal, "r")
        self.assertIn("PERMISSION_DENIED", self.shown(terminal))
        self.press(terminal, "q")
        terminal.read()
        self.assertEqual(terminal.close(), 0)
        self.assertEqual(len(self.client.examples("refused").examples), 1)

    def test_more_than_a_page_is_reviewed(self):
        for number in range(60):
            self.correct("many", number)
        terminal = self.review("--layout", "many")
        self.assertIn("--- 1 of 50+ ---", self.shown(terminal))
        for number in range(2, 61):
            self.press(terminal, "n")
            self.assertIn(f"--- {number} of {50 if number < 51 else 60}", self.shown(terminal))
        self.press(terminal, "q")
        terminal.read()
        self.assertEqual(terminal.close(), 0)

    def test_a_signal_leaves_the_terminal_as_it_was(self):
        self.correct("signal", 1)
        terminal = self.review("--layout", "signal")
        usual = termios.tcgetattr(terminal.terminal)[3]
        self.shown(terminal)
        self.assertFalse(termios.tcgetattr(terminal.terminal)[3] & termios.ICANON)
        os.kill(terminal.pid, signal.SIGTERM)
        terminal.read()
        self.assertEqual(termios.tcgetattr(terminal.terminal)[3], usual)
        self.assertEqual(terminal.close(), -signal.SIGTERM)

    def test_without_a_terminal_it_is_refused(self):
        _, error = self.run_cli("corrections", "review", code=2)
        self.assertIn("corrections list", error)
        terminal = self.review("--layout", "no such layout")
        self.assertIn("no corrections match", plain(terminal.read()))
        self.assertEqual(terminal.close(), 0)


class Retract(CliCase):
    def test_retracted_correction_is_no_example(self):
        client = self.server.client()
        event = client.capture(event_type=LINE, layout_fingerprint="l", actor_user_id="ada", before_json='{"qty": 1}',
                               after_json='{"qty": 2}')
        out, error = self.run_cli("corrections", "retract", event.id, "--reason", "wrong invoice")
        self.assertRegex(out, r"^[0-9a-f-]{36}\n$")
        self.assertEqual(error, "")
        self.assertEqual(len(client.examples("l").examples), 0)
        again, error = self.run_cli("corrections", "retract", event.id, "--reason", "once more")
        self.assertEqual(again, out)
        self.assertIn("wrong invoice", error)
        shown, _ = self.run_cli("corrections", "show", event.id)
        self.assertRegex(shown, r"reason +wrong invoice")
        client.close()

    def test_wrong_ids_are_refused(self):
        client = self.server.client()
        events = [client.capture(event_type=LINE, layout_fingerprint="m", actor_user_id="ada",
                                 before_json='{"qty": 1}', after_json='{"qty": 2}') for _ in range(2)]
        token = client.admin.CreateToken(admin.CreateTokenRequest(token=admin.Token(role=roles.ROLE_VIEWER)))
        (self.folder / "viewer.token").write_text(token.secret)
        other = client.events(kind=event_log.EVENT_KIND_TOKEN_CREATED)[0].id
        common = os.path.commonprefix([event.id for event in events])
        for words, code, expected in (
                ((UNKNOWN,), 1, "not found"), ((common,), 1, events[0].id), ((other,), 1, "cannot be retracted"),
                ((events[0].id,), 2, "--reason")):
            reason = () if "--reason" in expected else ("--reason", "wrong")
            _, error = self.run_cli("corrections", "retract", *words, *reason, code=code)
            self.assertIn(expected, error)
        _, error = self.run_cli("--token-file", "viewer.token", "corrections", "retract", events[0].id, "--reason", "x",
                                code=1)
        self.assertIn("PERMISSION_DENIED", error)
        self.assertEqual(len(client.examples("m").examples), 1)
        client.close()


if __name__ == "__main__":
    main()
