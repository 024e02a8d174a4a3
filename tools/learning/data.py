"""The public data sets: where they come from, and how they are read."""
import csv
import glob
import json
import os
import re
import sys

from learning import boxes

SOURCES = {
    "sroie": ("https://github.com/zzzDavid/ICDAR-2019-SROIE",
              "626 receipts of the ICDAR 2019 challenge SROIE; the repository is under the MIT License, and the receipts "
              "are those of https://rrc.cvc.uab.es/?ch=13"),
    "vrdu": ("https://github.com/google-research-datasets/vrdu",
             "2,556 public filings as PDFs (https://arxiv.org/abs/2211.15421); see the repository for its terms"),
    "weak": ("https://github.com/awasthiabhijeet/Learning-From-Rules",
             "questions of TREC and messages of the SMS Spam Collection, with 68 and 73 weak rules "
             "(https://openreview.net/forum?id=SkeuexBtDr); the repository is under the Apache License 2.0"),
    "banking": ("https://github.com/PolyAI-LDN/task-specific-datasets",
                "BANKING77: 13,083 questions of a bank's customers with 77 intents (https://arxiv.org/abs/2003.04807), under "
                "the Creative Commons Attribution 4.0 License"),
}
QUESTION_CLASSES = {"DESC": "DESCRIPTION", "ENTY": "ENTITY", "HUM": "HUMAN", "ABBR": "ABBREVIATION", "LOC": "LOCATION",
                    "NUM": "NUMERIC"}
TEMPLATE_LISTS = re.compile(r"lv1-single_(.+)-train_|lv3-unk_(.+)-train_")


def missing(name, folder):
    address, what = SOURCES[name]
    sys.exit(f"{folder} is not there. It is a clone of {address}: {what}.\n"
             f"    git clone --depth 1 {address} {folder}")


def receipts(folder):
    """[(name, PDF, {"company": ..., "address": ...})], by name."""
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "data", "key", "*.json"))):
        name = os.path.basename(path)[:-len(".json")]
        with open(path, encoding="utf-8") as f:
            key = json.load(f)
        with open(os.path.join(folder, "data", "box", name + ".csv"), encoding="utf-8", errors="replace") as f:
            page = boxes.read_boxes(f.read())
        image = os.path.join(folder, "data", "img", name + ".jpg")
        size = None
        if os.path.isfile(image):
            with open(image, "rb") as f:
                size = boxes.image_size(f.read())
        if page and key.get("company") and key.get("address"):
            found.append((name, boxes.page(page, size), {"company": key["company"], "address": key["address"]}))
    return found


def read_split(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def filings(folder):
    """[(name, path, template)] of the registration forms whose template the official splits name, by name: the lists
    of a single template, and the tests of a template that training does not have."""
    templates = {}
    for path in sorted(glob.glob(os.path.join(folder, "registration-form", "few_shot-splits", "*.json"))):
        match = TEMPLATE_LISTS.search(os.path.basename(path))
        if match:
            split = read_split(path)
            lists = ("train", "valid", "test") if match.group(1) else ("test",)
            for name in (name for part in lists for name in split[part]):
                templates.setdefault(name, set()).add(match.group(1) or match.group(2))
    found = []
    for name, named in sorted(templates.items()):
        path = os.path.join(folder, "registration-form", "main", "pdfs", name)
        if len(named) == 1 and os.path.isfile(path):
            found.append((name, path, min(named)))
    return found


def unseen(folder, size):
    """[(training, known, unknown)] of the ad-buy forms: paths of the training documents of each official split of
    that size, of test documents whose templates training has, and of those whose templates it has not."""
    splits = os.path.join(folder, "ad-buy-form", "few_shot-splits")

    def paths(names):
        found = [os.path.join(folder, "ad-buy-form", "main", "pdfs", name) for name in names]
        return [path for path in found if os.path.isfile(path)]
    found = []
    for kind in ("kno", "unk"):
        for path in sorted(glob.glob(os.path.join(splits, f"*{kind}_template-train_{size}-*.json"))):
            split = read_split(path)
            found.append((kind, paths(split["train"]), paths(split["test"])))
    return found


def weak_rules(path):
    """[(class, regular expression)]."""
    with open(path, encoding="latin1") as f:
        return [tuple(line.rstrip("\n").split("\t")[:2]) for line in f if line.strip()]


def questions(folder):
    """Questions and their classes: {"rules": ..., "train": [(text, class)], "valid": the same, "test": the same}."""
    folder = os.path.join(folder, "data", "TREC")
    found = {"rules": weak_rules(os.path.join(folder, "rule.txt"))}
    for name in ("train", "valid"):
        with open(os.path.join(folder, name + ".txt"), encoding="latin1") as f:
            parts = [line.strip().split(":", 1) for line in f if ":" in line]
        found[name] = [(text.lower().strip(), QUESTION_CLASSES[label]) for label, text in parts]
    with open(os.path.join(folder, "test.txt"), encoding="latin1") as f:
        parts = [line.strip().split(" ", 1) for line in f if line.strip()]
    found["test"] = [(text.lower().strip(), QUESTION_CLASSES[label.split(":")[0]]) for label, text in parts]
    return found


def messages(folder):
    """Messages, spam or ham, in the same form."""
    folder = os.path.join(folder, "data", "SMS")
    found = {"rules": weak_rules(os.path.join(folder, "rule.txt"))}
    for part in ("train", "valid", "test"):
        with open(os.path.join(folder, part + ".csv"), encoding="latin1", newline="") as f:
            found[part] = [(row["v2"].lower().strip(), row["v1"]) for row in csv.DictReader(f)]
    return found


def intents(folder, known):
    """Questions and their intents: {"train": [(text, intent)], "test": the same, without texts that are known}."""
    found = {}
    for part in ("train", "test"):
        with open(os.path.join(folder, "banking_data", part + ".csv"), encoding="utf-8", newline="") as f:
            found[part] = [(row["text"].strip(), row["category"]) for row in csv.DictReader(f)]
    found["test"] = [(text, label) for text, label in found["test"] if text.lower() not in known]
    return found


def conversations(path):
    """[{"query": ..., "response": ..., "text": ..., "label": ...}]: messages after an answer, and whether they reject it."""
    with open(path, encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    return [{"query": row["prev_query"], "response": row["prev_response"], "text": row["next_message"],
             "label": row["feedback_type"]} for row in rows]
