"""Measures learned rules through the server's own interface, on texts that other people labelled and wrote weak rules
for: an organisation for each class, in which a text of the class is FAKE and any other is REAL; the weak rules that match a text are its
indicators. A reviewer names those as missed, rejected or confirmed whose author meant the class of
the organisation: the others say nothing about it. The class with the largest sum of adjustments is the verdict; of equal ones the one that most
of the weak rules vote for, then the one that was correct most often so far."""
import random
import re

from erratad import artifact, learning, measured_weight, roles, verdict_service, verdicts

REAL, FAKE = verdicts.VERDICT_REAL, verdicts.VERDICT_FAKE
PARTS = ("test", "valid")  # of a data set, which no verdict comes from; the second is of the same kind as the training part
TURNS = 4  # a person decides about weights and proposals so often


class Class:
    """The organisation of one class."""

    def __init__(self, server, admin, name):
        org = admin.create_org(name)
        self.client = server.client(admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret)
        self.count = 0  # texts of the class so far

    def score(self, indicators, text):
        return self.client.verdicts.ScoreDocument(verdict_service.ScoreDocumentRequest(
            score=0.5, indicators=indicators, text=text, document_profile=verdicts.DocumentProfile(confidence=1)))

    def submit(self, name, scored, was, correct, indicators, text):
        lists = {(REAL, FAKE): "missed_indicators", (FAKE, REAL): "rejected_indicators",
                 (FAKE, FAKE): "confirmed_indicators"}
        fields = {lists[was, correct]: indicators} if (was, correct) in lists else {}
        self.client.verdicts.SubmitVerdict(verdict_service.SubmitVerdictRequest(submission=verdicts.VerdictSubmission(
            receipt_id=name, original_verdict=was, original_score=scored.score, correct_verdict=correct, text=text,
            exposure_refs=[scored.exposure_ref], **fields)))

    def apply_weights(self):
        """Applies every suggested weight."""
        found = self.client.all_pages(self.client.verdicts.ListSuggestedWeights,
                                      verdict_service.ListSuggestedWeightsRequest(), "weights")
        for first in range(0, len(found), 100):
            self.client.verdicts.ApplySuggestedWeights(verdict_service.ApplySuggestedWeightsRequest(
                weights=[measured_weight.ChosenWeight(rule_id=one.rule.id) for one in found[first:first + 100]],
                apply=True, reason="measured"))

    def activate_proposals(self):
        """Proposes rules, and puts them into effect; how many."""
        found = self.client.verdicts.ProposeRules(verdict_service.ProposeRulesRequest()).rules
        for one in found:
            self.client.learning.SetArtifactState(learning.SetArtifactStateRequest(
                artifact_id=one.rule.id, state=artifact.ARTIFACT_STATE_ACTIVE, reason="found"))
        return len(found)


class Reviewer:
    """Corrects the verdicts of one data set: (name, label, regular expression) of weak rules; [(text, label)]."""

    def __init__(self, server, admin, name, rules, with_text):
        self.rules = [(f"rule {number}", label, re.compile(pattern)) for number, (label, pattern) in enumerate(rules)]
        self.with_text = with_text
        self.classes = {label: Class(server, admin, f"{name} {label}") for label in sorted({label for label, _ in rules})}
        self.proposed = 0

    def matching(self, text):
        """[(name, class that its author meant)] of the weak rules."""
        return [(name, label) for name, label, pattern in self.rules if pattern.search(text)]

    def scores(self, text, matching):
        sent, names = text if self.with_text else "", [name for name, _ in matching]
        return {label: one.score(names, sent) for label, one in self.classes.items()}

    def choose(self, scored, matching):
        def order(label):
            votes = sum(meant == label for _, meant in matching)
            return round(scored[label].unclamped_score, 9), votes, self.classes[label].count, label

        return max(scored, key=order)

    def predict(self, text):
        matching = self.matching(text)
        return self.choose(self.scores(text, matching), matching)

    def review(self, number, text, label):
        """One verdict in each organisation."""
        matching = self.matching(text)
        scored = self.scores(text, matching)
        chosen = self.choose(scored, matching)
        for one, organisation in self.classes.items():
            organisation.submit(f"text {number}", scored[one], FAKE if chosen == one else REAL,
                                FAKE if label == one else REAL, [name for name, meant in matching if meant == one],
                                text if self.with_text else "")
        self.classes[label].count += 1

    def propose(self):
        self.proposed += sum(one.activate_proposals() for one in self.classes.values())

    def apply_weights(self):
        for one in self.classes.values():
            one.apply_weights()

    def vote(self, text, common):
        """Without Errata: the class of most weak rules that match, `common` where there is none."""
        votes = {}
        for _, label, pattern in self.rules:
            if pattern.search(text):
                votes[label] = votes.get(label, 0) + 1
        return max(votes, key=lambda label: (votes[label], label)) if votes else common


def outcomes(predict, tests):
    """[(predicted, right label)] of the test texts."""
    return [(predict(text), label) for text, label in tests]


def accuracy(orders):
    """Returns for each test text whether its verdict was right after each order."""
    return [[chosen == label for chosen, label in one] for one in zip(*orders)]


def f1(pairs, label):
    """The harmonic mean of precision and recall of one class."""
    hits = sum(chosen == label == right for chosen, right in pairs)
    both = sum(chosen == label for chosen, _ in pairs) + sum(right == label for _, right in pairs)
    return 2 * hits / both if both else 0.0


def f1_interval(orders, label, seed, resamples=2000):
    """The mean of F1 over the orders, with its 95% interval by a bootstrap over texts."""
    moments = random.Random(seed)
    count = len(orders[0])

    def mean_of(places):
        return sum(f1([one[place] for place in places], label) for one in orders) / len(orders)

    drawn = sorted(mean_of(moments.choices(range(count), k=count)) for _ in range(resamples))
    return mean_of(range(count)), drawn[int(0.025 * resamples)], drawn[int(0.975 * resamples)]


def review(server, admin, name, weak, count, seed, progress, weights=False, proposals=False):
    """Reviews `count` texts in a random order; returns the outcomes on each part with other texts, and the number of proposed
    rules. After each quarter of the texts a person applies the suggested weights, and puts the proposed rules into effect."""
    order = list(weak["train"])
    random.Random(seed).shuffle(order)
    reviewer = Reviewer(server, admin, f"{name} {count} {seed} {weights:d}{proposals:d}", weak["rules"], proposals)
    for number, (text, label) in enumerate(order[:count]):
        progress(f"{name}: verdicts", number, count)
        reviewer.review(number, text, label)
        if (number + 1) % max(1, count // TURNS) == 0:
            if proposals:
                reviewer.propose()
            if weights:
                reviewer.apply_weights()
    return {part: outcomes(reviewer.predict, weak[part]) for part in PARTS}, reviewer.proposed
