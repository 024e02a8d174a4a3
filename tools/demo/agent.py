"""A simulated extractor that errs, and heeds guidance that it finds in its prompt, and its reviewers: a careful, a lenient
and a harsh one. One seed gives the same runs and reviews."""
import random

from erratad import review, review_prompts

BAD_FORMAT = review_prompts.REVIEW_SIGNAL_BAD_FORMAT
WRONG_INFORMATION = review_prompts.REVIEW_SIGNAL_WRONG_INFORMATION
WRONG_DIMENSIONS = review_prompts.REVIEW_SIGNAL_WRONG_PHYSICAL_DIMENSIONS
MISSING_SPEC = review_prompts.REVIEW_SIGNAL_MISSING_SPEC
INFORMATION_LOW = review_prompts.REVIEW_SIGNAL_INFORMATION_PRESENT_LOW
FLAGS = {BAD_FORMAT: "bad_format", WRONG_INFORMATION: "wrong_information", WRONG_DIMENSIONS: "wrong_physical_dimensions"}

# subcategory: how often each error happens without guidance, and how often each field is missed
SUBCATEGORIES = {
    "laptops": ({BAD_FORMAT: 0.30, WRONG_INFORMATION: 0.15, WRONG_DIMENSIONS: 0.05, INFORMATION_LOW: 0.10},
                {"Ports": 0.35, "Battery capacity": 0.10}),
    "drills": ({BAD_FORMAT: 0.08, WRONG_INFORMATION: 0.40, WRONG_DIMENSIONS: 0.30, INFORMATION_LOW: 0.10},
               {"Chuck size": 0.25, "Torque": 0.15}),
    "sofas": ({BAD_FORMAT: 0.05, WRONG_INFORMATION: 0.10, WRONG_DIMENSIONS: 0.45, INFORMATION_LOW: 0.50},
              {"Seat height": 0.30, "Fabric": 0.05}),
}
REVIEWERS = (("careful", 75), ("lenient", 20), ("harsh", 5))  # and their share of the reviews in percent
PROMPTS = {
    "extraction": "Extract the item as JSON.\n{{EXTRACTION_REVIEW}}\nAn example:\n{{EXAMPLE_ITEM}}",
    "supervisor": "Approve the result or send it back.\n{{SUPERVISOR_REVIEW}}",
}


class Extractor:
    """Errs at the rate of the subcategory; `wording` is {signal: guidance of the extraction}."""

    def __init__(self, heeds_percent, wording, draw):
        self.heeds = heeds_percent / 100
        self.wording = wording
        self.draw = draw

    def avoids(self, is_guided):
        """Whether guidance keeps it from an error. Draws always, so that runs with other prompts stay the same."""
        heeds = self.draw.random() < self.heeds
        return is_guided and heeds

    def work(self, subcategory, prompt):
        """The signals and the missing fields that an attentive reader would find in the result."""
        rates, fields = SUBCATEGORIES[subcategory]
        errors, missing = set(), []
        for signal, rate in rates.items():
            happens = self.draw.random() < rate
            if not self.avoids(self.wording[signal] in prompt) and happens:
                errors.add(signal)
        for field, rate in fields.items():
            happens = self.draw.random() < rate
            if not self.avoids(f"\u27c5{field}\u27c6" in prompt) and happens:
                missing.append(field)
        return errors, missing


def draw_reviewer(draw):
    return draw.choices([name for name, _ in REVIEWERS], [share for _, share in REVIEWERS])[0]


def form_of(reviewer, errors, missing, draw):
    """The findings of a reviewer: the careful one reports all, the lenient one half of them, the harsh one more than there are."""
    seen = {signal for signal in sorted(errors) if reviewer != "lenient" or draw.random() < 0.5}
    fields = [field for field in missing if reviewer != "lenient" or draw.random() < 0.5]
    if reviewer == "harsh":
        seen.add(draw.choice(sorted(FLAGS)))
    form = review.Review(reviewed_by=reviewer, missing_spec=fields, information_present=INFORMATION_LOW not in seen,
                         decision=review.REVIEW_DECISION_CHANGES_REQUESTED if seen or fields
                         else review.REVIEW_DECISION_REVIEWED,
                         **{name: signal in seen for signal, name in FLAGS.items()})
    return form


def draws_of(seed):
    """A source for the extractor, and one for everything else: the errors stay the same for any reviewer."""
    return random.Random(seed), random.Random(seed + 1)
