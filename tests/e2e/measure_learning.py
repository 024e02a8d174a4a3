#!/usr/bin/python3
"""tools/measure-learning on small data sets with known figures.

Goal: the table has the right figures, and a missing data set is named with its source. Method: receipts of two companies and
forms of two templates, each drawn alike, so that the exact layout finds them; forms of a template that was not seen.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from erratad import BIN, ROOT, STUBS, main

TOOL = os.path.join(ROOT, "tools", "measure-learning")
sys.path.insert(0, os.path.join(ROOT, "tools"))
from learning import boxes  # noqa: E402

RECEIPTS = 8  # number of receipts of each company
FORMS = 6  # number of forms of each template


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(content)


def receipt(folder, name, company, height):
    line = f"10,10,300,10,300,40,10,40,{company}\n20,{height - 60},200,{height - 60},200,{height},20,{height},TOTAL 9.00\n"
    write(os.path.join(folder, "data", "box", name + ".csv"), line.encode())
    write(os.path.join(folder, "data", "key", name + ".json"),
          json.dumps({"company": company, "address": f"of {name}", "date": "", "total": "9.00"}).encode())


def form(folder, corpus, name, width):
    page = boxes.page([(10, 10, width - 10, 50, "FORM " + corpus), (20, 900, 200, 950, name[:4])], (width, 1000))
    write(os.path.join(folder, corpus, "main", "pdfs", name), page)
    return name


def split(folder, corpus, name, **parts):
    write(os.path.join(folder, corpus, "few_shot-splits", name),
          json.dumps({"train": [], "valid": [], "test": []} | parts).encode())


class MeasureLearning(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data = folder.name

    def run_tool(self, *words, code=0):
        run = subprocess.run([TOOL, "--data", self.data, "--bin", BIN, *words], capture_output=True, text=True,
                             env=os.environ | {"ERRATA_STUBS": STUBS}, timeout=300)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout, run.stderr

    def figures(self, out, word):
        """Returns (with Errata, without, ceiling) of the row that contains the word."""
        row, = [line for line in out.splitlines() if line.startswith("|") and word in line]
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        return cells[1].split(" ")[0], cells[2], cells[3]

    def test_receipts_are_measured(self):
        for number in range(RECEIPTS):
            receipt(os.path.join(self.data, "sroie"), f"a{number}", "ALPHA LTD", 800)
            receipt(os.path.join(self.data, "sroie"), f"b{number}", "BETA INC", 1200)
        words = ("--rows", "receipts", "--orders", "2", "--seed", "3")
        out, _ = self.run_tool(*words)
        share = f"{(2 * RECEIPTS - 2) / (2 * RECEIPTS):.3f}"  # all except the first receipt of each company
        ours, without, ceiling = self.figures(out, "EXACT: right company")
        self.assertEqual((ours, ceiling), (share, share))
        self.assertLess(float(without), float(share))
        self.assertEqual(self.figures(out, "EXACT: right address")[0], "0.000")
        self.assertEqual(self.run_tool(*words)[0], out)  # the same seed, the same table

    def test_forms_are_measured(self):
        folder = os.path.join(self.data, "vrdu")
        one = [form(folder, "registration-form", f"a{n}.pdf", 700) for n in range(FORMS)]
        other = [form(folder, "registration-form", f"b{n}.pdf", 900) for n in range(FORMS)]
        split(folder, "registration-form", "FARA-lv1-single_One-train_10-test_300-valid_100-SD_0.json", train=one)
        split(folder, "registration-form", "FARA-lv3-unk_Other-train_10-test_300-valid_100-SD_0.json", train=one, test=other)
        trained = [form(folder, "ad-buy-form", f"c{n}.pdf", 600) for n in range(FORMS)]
        known = [form(folder, "ad-buy-form", "d0.pdf", 600)]
        unknown = [form(folder, "ad-buy-form", "e0.pdf", 500)]
        for kind, tests in (("kno", known), ("unk", unknown)):
            split(folder, "ad-buy-form", f"DeepForm-{kind}_template-train_200-test_1-valid_1-SD_0.json", train=trained,
                  test=tests)
        out, _ = self.run_tool("--rows", "forms,unseen")
        for mode in ("EXACT", "FAMILY"):
            self.assertEqual(
                [self.figures(out, f"{mode}: nearest example, {what}")[:2] for what in ("right", "wrong", "none")],
                [("1.000", "1.000"), ("0.000", "0.000"), ("0.000", "0.000")])
            self.assertEqual(self.figures(out, f"{mode}: template not in training")[0], "0.000")
            self.assertEqual(self.figures(out, f"{mode}: template in training")[0], "1.000")
        self.assertIn(f"({2 * FORMS - 2} registration forms, 0 refused)", out)

    def messages(self, folder):
        """Messages of which every third is spam with two words that no weak rule has; a weak rule finds half of it."""
        def lines(count, first):
            rows = ["v1,v2"]
            for n in range(first, first + count):
                word = "offer" if n % 2 else "news"
                rows.append(f"spam,win prize {word} {n}" if n % 3 == 0 else f"ham,see you {word} {n}")
            return "\n".join(rows).encode()
        folder = os.path.join(folder, "weak", "data", "SMS")
        write(os.path.join(folder, "rule.txt"), b"spam\twin .*offer\twin an offer\nham\tyou offer\tyou offer\n")
        for part, count, first in (("train", 120, 0), ("valid", 12, 3000), ("test", 24, 6000)):
            write(os.path.join(folder, part + ".csv"), lines(count, first))

    def test_verdicts_are_measured(self):
        self.messages(self.data)
        words = ("--rows", "messages", "--orders", "2", "--verdicts", "120")
        out, _ = self.run_tool(*words)
        without = f"{20 / 24:.3f}"  # the weak rules miss half of the spam
        self.assertEqual(self.figures(out, "accuracy on 24 messages (test) after 120 verdicts, constants")[1:],
                         (without, "1.000"))
        weights = self.figures(out, "accuracy on 24 messages (test) after 120 verdicts, weights |")
        self.assertEqual(weights[:2], (without, without))
        ours = self.figures(out, "F1 of spam, 24 messages (test) after 120 verdicts, weights and proposed rules")
        self.assertEqual(ours[0], "1.000")  # a proposed rule is the phrase that all spam has
        self.assertEqual(self.run_tool(*words)[0], out)

    def test_intents_are_measured(self):
        """Three intents with distinct words: all are found once they are stored, but a known question is left out."""
        words = {"card": "my card was stolen on the way", "cash": "the machine kept the cash of mine", "fee": "why is there a fee for payments"}
        for part, count in (("train", 10), ("test", 4)):
            lines = [f"{text} {part}{n},{label}" for n in range(count) for label, text in sorted(words.items())]
            write(os.path.join(self.data, "banking", "banking_data", part + ".csv"), ("text,category\n" + "\n".join(lines) + "\n").encode())
        known = os.path.join(self.data, "known.tsv")
        write(known, f"{words['fee'].upper()} test0\tfee\n".encode())
        out, _ = self.run_tool("--rows", "intents", "--stored", "2,30", "--known", known)
        for count, wanted in ((2, None), (30, "1.000")):
            ours, _, ceiling = self.figures(out, f"(11 questions) after {count} stored")
            self.assertEqual(ours, wanted or ceiling)
        self.assertLess(float(self.figures(out, "after 2 stored")[2]), 1)

    def test_conversations_are_measured(self):
        """Three messages are read right; a question about something else, labelled as a rejection, is not."""
        labels = (("That is wrong.", "rejected"), ("Thanks, perfect!", "accepted"), ("No, I meant the other one.", "rejected"),
                  ("What is the weather in Oslo?", "rejected"))
        path = os.path.join(self.data, "messages.jsonl")
        write(path, "".join(json.dumps({"prev_query": "When does the ferry leave?", "prev_response": "At nine.",
                                        "next_message": text, "feedback_type": label}) + "\n" for text, label in labels).encode())
        out, _ = self.run_tool("--rows", "conversations", "--messages", path)
        self.assertEqual(self.figures(out, "accuracy (4 messages)"), ("0.750", "0.750", "1.000"))
        self.assertEqual(self.figures(out, "false rejections"), ("0.000", "1.000", "0.000"))
        self.assertEqual(self.figures(out, "macro-F1")[0], f"{(2 * 2 / 5 + 2 * 1 / 3) / 3:.3f}")

    def test_missing_data_is_reported(self):
        _, said = self.run_tool("--rows", "receipts", code=1)
        self.assertIn("git clone --depth 1 https://github.com/zzzDavid/ICDAR-2019-SROIE", said)
        _, said = self.run_tool("--rows", "reviews", code=2)
        self.assertIn("unknown row 'reviews'; expected receipts, forms, unseen, questions, messages, intents, conversations", said)


if __name__ == "__main__":
    main()
