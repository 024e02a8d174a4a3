"""Agents that describe products, and reviewers of their runs: the guidance of triggers makes some mistakes rarer. The newest
runs wait for a review, one version of the wording is in use, and another waits for its approval."""
import datetime
import json
import random

from google.protobuf import timestamp_pb2

from erratad import (fragment_set, review, review_prompts, review_service, roles, run_item)

REVIEWERS = ("rita", "ruben")
WAITING = 8  # runs without a review at the end
HELPS = 0.45  # what is left of a mistake's share when the prompt warns of it
# subcategory: (names of products, share of runs with a bad format, with wrong facts, with wrong dimensions, missing specs)
AGENTS = {
    "drills": (("Hammer drill 800 W", "Cordless drill 18 V", "Drill bit set"), 0.45, 0.15, 0.05, ("chuck size", "torque", "weight")),
    "lamps": (("Desk lamp", "Floor lamp, steel", "LED panel 60 x 60"), 0.10, 0.40, 0.15, ("luminous flux", "socket")),
    "chairs": (("Office chair", "Folding chair", "Bar stool 75 cm"), 0.08, 0.10, 0.42, ("seat height", "load")),
}
PROMPTS = {"extraction": "Describe the product. {{EXTRACTION_REVIEW}}", "supervisor": "Check the result. {{SUPERVISOR_REVIEW}}"}
NOTES = ("Values differ from the data sheet.", "The unit is missing.", "Please keep to the schema.", "")
SIGNALS = review_prompts


def stamp(at):
    found = timestamp_pb2.Timestamp()
    found.FromDatetime(at)
    return found


class Agents:
    def __init__(self, server, admin, seed, start, days):
        self.admin, self.start, self.days = admin, start, days
        self.draw = random.Random(f"{seed}/runs")
        self.reviewer = server.client(admin.create_token(roles.ROLE_REVIEWER, user_id=REVIEWERS[0]).secret)

    def close(self):
        self.reviewer.close()

    def work(self, count):
        """Makes `count` runs and reviews them; returns how many were reviewed."""
        for number in range(count):
            at = datetime.datetime.combine(self.start, datetime.time(9)) + datetime.timedelta(
                seconds=self.days * 86400 * number // count)
            self.run(number, at, waits=number >= count - WAITING)
            if number == count // 2:
                self.approve_wording()
        self.draft_wording()
        return count - WAITING

    def run(self, number, at, waits):
        subcategory = self.draw.choice(sorted(AGENTS))
        names, *shares, specs = AGENTS[subcategory]
        run_id = f"run-{number:04}"
        reply = self.admin.reviews.ResolvePlaceholders(review_prompts.ResolvePlaceholdersRequest(
            prompts=PROMPTS, subcategory=subcategory, run_id=run_id))
        warned = {signal for placeholder in reply.placeholders for signal in placeholder.signals}
        name = self.draw.choice(names)
        item = {"name": name, "subcategory": subcategory, "weight_kg": round(self.draw.uniform(0.4, 12), 1),
                "width_mm": self.draw.randrange(60, 900), "specs": {spec: self.draw.randrange(2, 90) for spec in specs}}
        self.admin.reviews.PutItem(review_service.PutItemRequest(item=run_item.RunItem(
            run_id=run_id, item_id=f"item-{number}", item_json=json.dumps(item), created_at=stamp(at))))
        if not waits:
            self.review(run_id, number, subcategory, warned, reply.exposure_ref, at + datetime.timedelta(hours=3))

    def happens(self, share, signal, warned):
        return self.draw.random() < share * (HELPS if signal in warned else 1)

    def review(self, run_id, number, subcategory, warned, exposure_ref, at):
        _, bad_format, wrong, dimensions, specs = AGENTS[subcategory]
        found = review.Review(
            run_id=run_id, item_id=f"item-{number}", subcategory=subcategory, reviewed_by=self.draw.choice(REVIEWERS), created_at=stamp(at),
            information_present=self.draw.random() < 0.8,
            bad_format=self.happens(bad_format, SIGNALS.REVIEW_SIGNAL_BAD_FORMAT, warned),
            wrong_information=self.happens(wrong, SIGNALS.REVIEW_SIGNAL_WRONG_INFORMATION, warned),
            wrong_physical_dimensions=self.happens(dimensions, SIGNALS.REVIEW_SIGNAL_WRONG_PHYSICAL_DIMENSIONS, warned),
            missing_spec=[spec for spec in specs if self.happens(0.25, SIGNALS.REVIEW_SIGNAL_MISSING_SPEC, warned)],
            exposure_refs=[exposure_ref] if exposure_ref else [])
        bad = found.bad_format or found.wrong_information or found.wrong_physical_dimensions or found.missing_spec
        found.decision = review.REVIEW_DECISION_REVIEWED if not bad else self.draw.choice(
            (review.REVIEW_DECISION_CHANGES_REQUESTED, review.REVIEW_DECISION_CHANGES_REQUESTED, review.REVIEW_DECISION_REJECTED))
        found.notes = self.draw.choice(NOTES) if bad else ""
        self.admin.reviews.SubmitReview(review_service.SubmitReviewRequest(review=found))

    def put_wording(self, signal, sentence, comment):
        """Stores a draft: the newest wording, with one fragment's text replaced."""
        newest = self.admin.reviews.ListFragmentSets(review_service.ListFragmentSetsRequest(page_size=1)).fragment_sets[0]
        draft = fragment_set.FragmentSet(label_focus_fields=newest.label_focus_fields, comment=comment)
        for fragment in newest.fragments:
            draft.fragments.append(fragment)
            if fragment.signal == signal:
                draft.fragments[-1].text = sentence
        return self.reviewer.reviews.PutFragmentSet(review_service.PutFragmentSetRequest(fragment_set=draft)).fragment_set

    def approve_wording(self):
        draft = self.put_wording(SIGNALS.REVIEW_SIGNAL_BAD_FORMAT, "Return one JSON object and nothing else: every key of the "
                                 "schema, no other key, numbers as numbers.", "shorter")
        self.reviewer.reviews.ApproveFragmentSet(review_service.ApproveFragmentSetRequest(version=draft.version))

    def draft_wording(self):
        self.put_wording(SIGNALS.REVIEW_SIGNAL_WRONG_PHYSICAL_DIMENSIONS, "Copy each size with its unit, convert it once, and "
                         "keep width, height and depth apart.", "for the new catalogue")
