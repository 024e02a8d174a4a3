"""A fraud department for some months: every receipt is scored, reviewed, and the verdict stored with what was scored. One
organisation keeps the constants of new rules; in the other a manager applies the suggested weights and tries the
proposed rules at the end of each month."""
import datetime
import random

from google.protobuf import timestamp_pb2

from demo import receipts
from demo.report import count, percent, table
from erratad import artifact, learned_rule, learning, measured_weight, roles, verdict_service, verdicts

REAL, FAKE, SUSPICIOUS = verdicts.VERDICT_REAL, verdicts.VERDICT_FAKE, verdicts.VERDICT_SUSPICIOUS
SUSPICIOUS_AT, FAKE_AT = 0.4, 0.6  # the default settings
RULES_SHOWN = 16


def verdict_of(score):
    return FAKE if score >= FAKE_AT else SUSPICIOUS if score >= SUSPICIOUS_AT else REAL


class Tally:
    """Verdicts of one month beside the truth."""

    def __init__(self):
        self.right = self.false_fake = self.false_real = self.suspicious = self.all = 0

    def add(self, verdict, is_fake):
        self.all += 1
        self.right += verdict == (FAKE if is_fake else REAL)
        self.false_fake += verdict == FAKE and not is_fake
        self.false_real += verdict == REAL and is_fake
        self.suspicious += verdict == SUSPICIOUS

    def cells(self):
        return percent(self.right / self.all), self.false_fake, self.false_real, self.suspicious


class Department:
    """A fraud department: it reviews receipts. Its verdicts are dated now, unless it has a start and a number of days."""

    def __init__(self, client, seed, start=None, days=0):
        self.client, self.start, self.days = client, start, days
        self.draw = random.Random(seed)
        self.months = []
        self.applied = self.proposed = 0

    @classmethod
    def new(cls, server, admin, name, seed):
        """A department with an organisation of its own."""
        org = admin.create_org(name)
        return cls(server.client(admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret), seed)

    def fill(self, count, months):
        """Reviews `count` receipts, spread over its days; of the last month, nothing is decided yet."""
        everything = receipts.receipts_of(self.draw.randrange(1 << 30), count)
        size = count // months
        for month in range(months):
            self.work(everything[month * size:(month + 1) * size], month * size, count)
            if month < months - 1:
                self.end_month()

    def time_of(self, number, count):
        """When receipt `number` of `count` is reviewed; None: now."""
        if self.start is None:
            return None
        at = timestamp_pb2.Timestamp()
        at.FromDatetime(datetime.datetime.combine(self.start, datetime.time(8)) +
                        datetime.timedelta(seconds=self.days * 86400 * number // count))
        return at

    def work(self, part, first=0, count=1):
        """A month's receipts; the first of them is number `first` of `count`."""
        tally = Tally()
        for number, (receipt, reviewer) in enumerate(part, first):
            scored = self.client.verdicts.ScoreDocument(verdict_service.ScoreDocumentRequest(
                score=receipt.score, indicators=receipt.indicators, text=receipt.text, missing_fields_enabled=True,
                document_profile=verdicts.DocumentProfile(confidence=1)))
            tally.add(scored.verdict, receipt.is_fake)
            self.review(receipt, reviewer, scored, self.time_of(number, count))
        self.months.append(tally)

    def review(self, receipt, reviewer, scored, at):
        review = receipts.Review(receipt, reviewer, scored.verdict == FAKE, self.draw)
        self.client.verdicts.SubmitVerdict(verdict_service.SubmitVerdictRequest(submission=verdicts.VerdictSubmission(
            receipt_id=receipt.name, actor_user_id=reviewer, created_at=at, original_score=receipt.score,
            original_verdict=scored.verdict, correct_verdict=FAKE if review.is_fake else REAL,
            missed_indicators=review.missed, rejected_indicators=review.rejected,
            confirmed_indicators=review.confirmed, text=receipt.text, exposure_refs=[scored.exposure_ref])))

    def end_month(self):
        """The manager applies all suggested weights, retires what is proposed for retirement, and activates the
        proposed rules."""
        found = self.suggestions()
        if found:
            reply = self.client.verdicts.ApplySuggestedWeights(verdict_service.ApplySuggestedWeightsRequest(
                weights=[measured_weight.ChosenWeight(rule_id=one.rule.id) for one in found[:100]], apply=True,
                reason="end of the month"))
            self.applied += len(reply.changes)
        for rule in self.rules():
            if rule.state == artifact.ARTIFACT_STATE_SUNSET_PROPOSED:
                self.decide(rule, artifact.ARTIFACT_STATE_RETIRED, "mostly wrong")
        for one in self.client.verdicts.ProposeRules(verdict_service.ProposeRulesRequest()).rules:
            self.proposed += 1
            self.decide(one.rule, artifact.ARTIFACT_STATE_ACTIVE, "holds on newer receipts")

    def decide(self, rule, state, reason):
        self.client.learning.SetArtifactState(learning.SetArtifactStateRequest(
            artifact_id=rule.id, state=state, reason=reason))

    def suggestions(self):
        return self.client.all_pages(self.client.verdicts.ListSuggestedWeights,
                                     verdict_service.ListSuggestedWeightsRequest(), "weights")

    def rules(self):
        return self.client.all_pages(self.client.verdicts.ListLearnedRules,
                                     verdict_service.ListLearnedRulesRequest(), "rules")


def rule_lines(department):
    """A row for each rule: its weight, the number of its firings, and how often the reviewers agreed."""
    rows = []
    for rule in department.rules():
        found = department.client.verdicts.GetLearnedRule(verdict_service.GetLearnedRuleRequest(id=rule.id))
        agreed = sum(one.agreed_count for one in found.measures)
        wrong = sum(one.disagreed_count for one in found.measures)
        state = artifact.ArtifactState.Name(rule.state).removeprefix("ARTIFACT_STATE_").lower().replace("_", " ")
        kind = learned_rule.LearnedRuleType.Name(rule.rule_type).removeprefix("LEARNED_RULE_TYPE_").lower()
        rows.append((agreed + wrong, (f"{rule.pattern} ({kind.replace('_', ' ')})", state, f"{rule.confidence_adjustment:+.3f}",
                                      agreed + wrong, percent(agreed / (agreed + wrong)) if agreed + wrong else "-")))
    rows.sort(key=lambda row: -row[0])
    return [cells for _, cells in rows[:RULES_SHOWN]], len(rows)


def month_lines(base, constant, measured):
    rows = []
    for number, months in enumerate(zip(base, constant.months, measured.months)):
        rows.append((f"month {number + 1}", *(cell for month in months for cell in month.cells()[:3])))
    return table(["", "scorer: right", "false alarms", "missed", "constants: right", "false alarms", "missed",
                  "measured: right", "false alarms", "missed"], rows)


def report(arguments, base, constant, measured):
    last = base[-1], constant.months[-1], measured.months[-1]
    rows, total = rule_lines(measured)
    return [
        "# What verdicts taught the fraud scorer", "",
        f"{count(arguments.receipts, 'receipt', 'receipts')} in {count(arguments.months, 'month', 'months')}, "
        f"{percent(receipts.FAKE_SHARE)} of them fake; reviewers: " +
        ", ".join(f"{name} {share}%" for name, share in receipts.REVIEWERS) + ". The scorer does not know "
        "four signs of a fake, and trusts one that means little. Figures beside the truth, which only the simulation "
        "knows; a right verdict is REAL or FAKE, and SUSPICIOUS is neither.", "",
        "Constants: rules are learned at once, each adds what its type adds. Measured: at the end of each month a manager "
        f"applied the suggested weights ({measured.applied} in all), retired rules that were mostly wrong, and activated "
        f"{count(measured.proposed, 'rule', 'rules')} that the server had found and proposed.", "",
        *month_lines(base, constant, measured),
        f"In the last month the scorer itself was right in {last[0].cells()[0]} of the cases, with the constants in "
        f"{last[1].cells()[0]}, with measured weights in {last[2].cells()[0]}; a person had to look at "
        f"{last[0].suspicious}, {last[1].suspicious} and {last[2].suspicious} suspicious receipts.", "",
        f"## The rules that fired most, of {total}, with measured weights", "",
        *table(["rule", "state", "adds", "fired", "reviewers agreed"], rows)]


def simulate(arguments, server, admin, progress):
    """Returns the lines of the report."""
    everything = receipts.receipts_of(arguments.seed, arguments.receipts)
    constant = Department.new(server, admin, "constants", arguments.seed)
    measured = Department.new(server, admin, "measured", arguments.seed)
    base = []
    size = len(everything) // arguments.months
    for month in range(arguments.months):
        part = everything[month * size:(month + 1) * size]
        progress(month, arguments.months)
        tally = Tally()
        for receipt, _ in part:
            tally.add(verdict_of(receipt.score), receipt.is_fake)
        base.append(tally)
        constant.work(part)
        measured.work(part)
        measured.end_month()
    return report(arguments, base, constant, measured)
