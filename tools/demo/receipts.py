"""Simulated receipts with a known truth, a scorer that knows only some signs of a fake, and reviewers: a careful one, a
careless one and a hostile one. One seed gives the same receipts and reviews."""
import random

# indicator: (share of fakes that show it, share of real receipts that show it, what the scorer adds for it)
SIGNS = {
    "copied_signature": (0.45, 0.03, 0.25),
    "price_sum_differs": (0.35, 0.04, 0.25),
    "low_resolution": (0.40, 0.30, 0.25),  # the scorer trusts it too much
    "font_mismatch": (0.50, 0.03, 0.0),  # the scorer does not know these
    "edited_total": (0.30, 0.01, 0.0),
    "vat_number_invalid": (0.25, 0.02, 0.0),
    "paper_folded": (0.30, 0.32, 0.0),  # no answer
    "shop_unknown": (0.35, 0.15, 0.0),
}
FAKE_SIGNS = {name for name, (fake, real, _) in SIGNS.items() if fake > 2 * real}
PHRASE = "refund voucher"  # in the text of many fakes; no indicator means it
WORDS = "milk bread rice tea total paid card thanks visit street bill change tax".split()
FAKE_SHARE = 0.3
START = 0.3  # the scorer's score of a receipt without signs


class Receipt:
    def __init__(self, number, draw):
        self.name = f"receipt-{number}"
        self.is_fake = draw.random() < FAKE_SHARE
        self.indicators = [name for name, (fake, real, _) in SIGNS.items()
                           if draw.random() < (fake if self.is_fake else real)]
        words = [draw.choice(WORDS) for _ in range(8)]
        if draw.random() < (0.6 if self.is_fake else 0.01):
            words.insert(draw.randrange(len(words)), PHRASE)
        self.text = " ".join(words)
        self.score = round(min(1.0, START + sum(SIGNS[name][2] for name in self.indicators)), 3)


class Review:
    """The review of a receipt for which the program returned `said_fake`."""

    def __init__(self, receipt, reviewer, said_fake, draw):
        self.reviewer = reviewer
        self.is_fake = receipt.is_fake
        signs = [name for name in receipt.indicators if name in FAKE_SIGNS]
        others = [name for name in receipt.indicators if name not in FAKE_SIGNS]
        if reviewer == "careless" and draw.random() < 0.2:
            self.is_fake = draw.random() < 0.5
            signs, others = others, signs
        if reviewer == "hostile":  # the opposite, with the wrong reasons
            self.is_fake = not receipt.is_fake
            signs, others = others, signs
        self.missed = signs if self.is_fake and not said_fake else []
        self.rejected = others if said_fake and not self.is_fake else []
        self.confirmed = signs if said_fake and self.is_fake else []


REVIEWERS = (("careful", 70), ("careless", 25), ("hostile", 5))  # and their share of the reviews in percent


def draw_reviewer(draw):
    return draw.choices([name for name, _ in REVIEWERS], [share for _, share in REVIEWERS])[0]


def receipts_of(seed, count):
    """[(receipt, reviewer)]."""
    draw = random.Random(seed)
    return [(Receipt(number, draw), draw_reviewer(draw)) for number in range(count)]
