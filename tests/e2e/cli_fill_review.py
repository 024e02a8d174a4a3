#!/usr/bin/python3
"""`errata reviews fill` on a terminal.

Goal: a reviewer sees the item of a run and answers the form only by keys; nothing is stored before the last key.
Method: a pseudo-terminal against a real server; simulated keys; the stored review is read back.
"""
import re

from errata_cli import ERRATA, CliCase, Terminal
from erratad import main, review, review_service, run_item

QUIT = "[q]uit  "
SUBMIT = "without storing  "


class Fill(CliCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client = cls.server.client()

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        super().tearDownClass()

    def put(self, run):
        self.client.reviews.PutItem(review_service.PutItemRequest(item=run_item.RunItem(
            run_id=run, item_json='{"name": "X1 \\u001b[31mred", "width_mm": 311}')))

    def reviews(self, run):
        return self.client.reviews.ListReviews(review_service.ListReviewsRequest(run_id=run)).reviews

    def fill(self, *words):
        return Terminal([ERRATA, "reviews", "fill", *words], self.here(), self.folder)

    def press(self, terminal, keys, prompt=QUIT):
        """Sends keys after the prompt; returns the output up to the prompt."""
        shown = terminal.read(until=prompt)
        at = shown.index(prompt) + len(prompt)
        terminal.out = shown[at:]
        terminal.send(keys)
        return shown[:at]

    def test_form_is_filled_by_keys(self):
        self.put("run-1")
        terminal = self.fill("run-1", "--subcategory", "laptops", "--reviewer", "anna")
        shown = self.press(terminal, "n")
        self.assertIn("width_mm: 311", shown)
        self.assertNotIn("\x1b[31m", shown)
        self.assertIn("enough information", shown)
        self.press(terminal, "Width, Height,,\n", "none): ")
        self.assertIn("format", self.press(terminal, "z"))  # a key without a meaning
        self.assertIn("format", self.press(terminal, "y"))
        self.assertIn("facts", self.press(terminal, "y"))
        self.assertIn("dimensions", self.press(terminal, "b"))
        self.assertIn("facts", self.press(terminal, " "))
        self.assertIn("dimensions", self.press(terminal, "n"))
        self.press(terminal, "see page 2\n", "none): ")
        self.press(terminal, "c")
        self.assertEqual(len(self.reviews("run-1")), 0)
        self.press(terminal, "s", SUBMIT)
        out = terminal.read()
        self.assertEqual(terminal.close(), 0)
        stored, = self.reviews("run-1")
        self.assertTrue(re.search(stored.id, out))
        self.assertEqual((stored.subcategory, stored.decision, stored.reviewed_by, stored.notes, list(stored.missing_spec)),
                         ("laptops", review.REVIEW_DECISION_CHANGES_REQUESTED, "anna", "see page 2", ["Width", "Height"]))
        self.assertEqual((stored.information_present, stored.bad_format, stored.HasField("wrong_information"),
                          stored.HasField("wrong_physical_dimensions"), stored.wrong_physical_dimensions),
                         (False, True, False, True, False))
        terminal = self.fill("run-1")  # its subcategory is known now
        self.assertIn("laptops", self.press(terminal, "q"))
        self.assertIn("nothing was stored", terminal.read())
        self.assertEqual(terminal.close(), 0)
        self.assertEqual(len(self.reviews("run-1")), 1)

    def test_refusal_keeps_the_answers(self):
        terminal = self.fill("run-2", "--subcategory", "laptops")
        self.assertIn("no item", self.press(terminal, " "))
        self.press(terminal, "x" * 101 + "\n", "none): ")
        for key in "   ":
            self.press(terminal, key)
        self.press(terminal, "\n", "none): ")
        self.press(terminal, "r")
        self.press(terminal, "s", SUBMIT)
        self.assertIn("missing_spec[0]", self.press(terminal, "q", SUBMIT))
        terminal.read()
        self.assertEqual(terminal.close(), 0)
        self.assertEqual(len(self.reviews("run-2")), 0)

    def test_without_a_terminal_or_a_subcategory_it_is_refused(self):
        _, error = self.run_cli("reviews", "fill", "run-3", code=2)
        self.assertIn("reviews submit", error)
        terminal = self.fill("run-3")
        self.assertIn("--subcategory: missing", terminal.read())
        self.assertEqual(terminal.close(), 2)


if __name__ == "__main__":
    main()
