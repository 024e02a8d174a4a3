"""Reviews by a recount of the log: runs, as GetRun returns them."""
import collections

from erratad import (agent_card, event_log, extraction, fragment_set, learning, review, review_prompts, review_service,
                     review_triggers)

REVIEWED = review.REVIEW_DECISION_REVIEWED
FLAGS = "information_present", "bad_format", "wrong_information", "wrong_physical_dimensions"
FIELDS = ("decision", "information_present", "missing_spec", "bad_format", "wrong_information",
          "wrong_physical_dimensions")  # in the order of ReviewField, from 1


class Entry:
    """A review in the log."""

    def __init__(self, event, reported):
        self.seq, self.reported = event.seq, reported
        self.place = event.created_at.ToMicroseconds(), event.seq
        self.is_retracted = False

    def answer(self, field):
        """The answer to a question; None if there is none."""
        if field in FLAGS:
            return getattr(self.reported, field) if self.reported.HasField(field) else None
        if field == "missing_spec":
            return frozenset(one.casefold() for one in self.reported.missing_spec)
        return self.reported.decision


def newest_first(entries):
    return sorted(entries, key=lambda one: one.place, reverse=True)


def runs_of(entries):
    """The reviews of each run that are not retracted, newest first."""
    runs = collections.defaultdict(list)
    for one in newest_first(entries):
        if not one.is_retracted:
            runs[one.reported.run_id].append(one)
    return runs


def answers_of(entries):
    """The newest review of each reviewer."""
    answers = {}
    for one in entries:
        answers.setdefault(one.reported.reviewed_by, one)
    return list(answers.values())


def agreement_of(answers):
    rows = []
    for number, field in enumerate(FIELDS, 1):
        given = [one.answer(field) for one in answers if one.answer(field) is not None]
        if given:
            rows.append((number, len(given), collections.Counter(given).most_common(1)[0][1]))
    return rows


def run_of(entries):
    """Returns the expected response of GetRun to these reviews, as a tuple."""
    answers = answers_of(entries)
    newest = entries[0].reported
    reviewed = sum(one.reported.decision == REVIEWED for one in answers)
    return (newest.id, len(entries), newest.decision == REVIEWED and reviewed >= newest.reviews_needed, reviewed,
            newest.reviews_needed, [one.reported.id for one in answers], agreement_of(answers))


def reported_run(run):
    return (run.newest_review.id, run.review_count, run.reviewed, run.reviewed_count, run.reviews_needed,
            [one.review_id for one in run.answers],
            [(one.field, one.answer_count, one.agreeing_count) for one in run.agreement])


def check_runs(client, counted, problems):
    for run_id, entries in runs_of(counted.reviews.values()).items():
        reported = reported_run(client.reviews.GetRun(review_service.GetRunRequest(run_id=run_id)).run)
        if reported != run_of(entries):
            problems.append(f"run {run_id}: {reported}, should be {run_of(entries)}")
    wanted = [one.reported.id for one in newest_first(counted.reviews.values())]
    listed = [one.id for one in client.all_pages(client.reviews.ListReviews,
                                                 review_service.ListReviewsRequest(page_size=1000), "reviews")]
    if listed != wanted:
        problems.append(f"reviews: {listed} are listed, should be {wanted}")


DEFAULTS = {"bad_format": 3, "wrong_information": 3, "wrong_physical_dimensions": 2, "missing_spec": 2,
            "information_present_low": 4}
WINDOW = 10


def reaches(count, threshold, runs):
    return count >= 1 and count * 10 >= threshold * runs


def triggers_of(entries, subcategory, thresholds):
    """Returns the expected response of GetTriggers to these reviews."""
    runs = [run for run in runs_of(entries).values() if run[0].reported.subcategory == subcategory]
    window = sorted(runs, key=lambda run: run[0].place, reverse=True)[:WINDOW]
    wanted = review_triggers.ReviewTriggers(run_count=len(window), low_confidence=len(window) < WINDOW)
    for name, threshold in DEFAULTS.items():
        number = getattr(thresholds, name) if thresholds is not None and thresholds.HasField(name) else threshold
        setattr(wanted.thresholds, name, number)
        if name == "missing_spec":
            continue
        field, value = ("information_present", False) if name == "information_present_low" else (name, True)
        count = sum(any(one.answer(field) is value for one in run) for run in window)
        setattr(wanted, name + "_count", count)
        setattr(wanted, name, reaches(count, number, len(window)))
    counts, spellings = collections.Counter(), {}
    for run in window:
        counts.update(set().union(*(one.answer("missing_spec") for one in run)))
        for one in run:
            for spelling in one.reported.missing_spec:
                key = spelling.casefold()
                spellings[key] = max(spellings.get(key, (one.place, spelling)), (one.place, spelling),
                                     key=lambda found: found[0])
    for key, count in sorted(counts.items(), key=lambda one: (-one[1], one[0].encode())):
        if reaches(count, wanted.thresholds.missing_spec, len(window)):
            wanted.missing_specs.add(name=spellings[key][1], count=count)
    wanted.missing_spec = bool(wanted.missing_specs)
    return wanted


def check_triggers(client, counted, problems):
    for subcategory in sorted({one.reported.subcategory for one in counted.reviews.values()}):
        reported = client.reviews.GetTriggers(review_triggers.GetTriggersRequest(subcategory=subcategory)).triggers
        wanted = triggers_of(counted.reviews.values(), subcategory, counted.thresholds.get(subcategory))
        if reported != wanted:
            problems.append(f"triggers of {subcategory}: {reported}, should be {wanted}")


CARD_SIGNALS = {review_prompts.REVIEW_SIGNAL_INFORMATION_PRESENT_LOW: ("information_present_low", "information_present", False),
                review_prompts.REVIEW_SIGNAL_MISSING_SPEC: ("missing_spec", "missing_spec", None),
                review_prompts.REVIEW_SIGNAL_BAD_FORMAT: ("bad_format", "bad_format", True),
                review_prompts.REVIEW_SIGNAL_WRONG_INFORMATION: ("wrong_information", "wrong_information", True),
                review_prompts.REVIEW_SIGNAL_WRONG_PHYSICAL_DIMENSIONS: (
                    "wrong_physical_dimensions", "wrong_physical_dimensions", True)}


def has_signal(run, signal):
    _, field, value = CARD_SIGNALS[signal]
    return any(one.answer(field) if value is None else one.answer(field) is value for one in run)


def recurrence_of(runs, start, end, signal):
    warned = recurring = 0
    for n in range(start, end):
        if any(has_signal(run, signal) for run in runs[max(0, n - WINDOW):n]):
            warned += 1
            recurring += has_signal(runs[n], signal)
    return agent_card.SignalRecurrence(signal=signal, warned_count=warned, recurring_count=recurring,
                                       recurrence_percent=100 * recurring / warned if warned else None)


def card_of(entries, subcategory, triggers):
    """Returns the expected response of GetAgentCard to these reviews."""
    runs = sorted((run for run in runs_of(entries).values() if run[0].reported.subcategory == subcategory),
                  key=lambda run: run[0].place)
    decisions = collections.Counter(run[0].reported.decision for run in runs)
    accepted = [run[-1].reported.decision == REVIEWED for run in runs]
    card = agent_card.AgentCard(
        subcategory=subcategory, run_count=len(runs), review_count=sum(map(len, runs)), triggers=triggers,
        reviewed_count=decisions[REVIEWED], rejected_count=decisions[review.REVIEW_DECISION_REJECTED],
        changes_requested_count=decisions[review.REVIEW_DECISION_CHANGES_REQUESTED], first_pass_count=sum(accepted),
        first_pass_percent=100 * sum(accepted) / len(runs) if runs else None)
    for signal, (name, _, _) in CARD_SIGNALS.items():
        counts = [sum(has_signal(run, signal) for run in some) for some in (runs[-WINDOW:], runs)]
        share = card.signals.add(signal=signal, recent_count=counts[0], count=counts[1], trigger=getattr(triggers, name))
        if runs:
            share.recent_percent, share.percent = 100 * counts[0] / len(runs[-WINDOW:]), 100 * counts[1] / len(runs)
    for start in range(0, len(runs), WINDOW):
        end = min(start + WINDOW, len(runs))
        period = card.periods.add(run_count=end - start, first_pass_count=sum(accepted[start:end]),
                                  first_reviewed_at=runs[start][0].reported.created_at,
                                  last_reviewed_at=runs[end - 1][0].reported.created_at)
        period.first_pass_percent = 100 * period.first_pass_count / (end - start)
        period.recurrences.extend(recurrence_of(runs, start, end, signal) for signal in CARD_SIGNALS)
        period.total.warned_count = sum(one.warned_count for one in period.recurrences)
        period.total.recurring_count = sum(one.recurring_count for one in period.recurrences)
        if period.total.warned_count:
            period.total.recurrence_percent = 100 * period.total.recurring_count / period.total.warned_count
    del card.periods[:-50]
    return card


def check_cards(client, counted, problems):
    for subcategory in sorted({one.reported.subcategory for one in counted.reviews.values()}):
        reported = client.reviews.GetAgentCard(agent_card.GetAgentCardRequest(subcategory=subcategory)).agent_card
        triggers = triggers_of(counted.reviews.values(), subcategory, counted.thresholds.get(subcategory))
        wanted = card_of(counted.reviews.values(), subcategory, triggers)
        if reported != wanted:
            problems.append(f"agent card of {subcategory}: {reported}, should be {wanted}")


class FragmentSets:
    """The versions of the wording of guidance, by the log."""

    def __init__(self):
        self.sets = []  # events' FragmentSet, version 1 first
        self.seqs = [0]  # by version
        self.approvals = {}  # version -> the last event that approved it
        self.active = 0

    def put(self, event, reported):
        self.sets.append(reported)
        self.seqs.append(event.seq)
        if (reported.version, reported.id, reported.state) != (len(self.sets), event.id,
                                                               fragment_set.FRAGMENT_SET_STATE_DRAFT):
            return [f"event {event.seq}: fragment set {reported.version}, should be the draft {len(self.sets)}"]
        return []

    def approve(self, event, reported):
        wanted = reported.version, self.seqs[reported.version], self.active
        problems = []
        if reported.version == self.active or (reported.version, reported.seq, reported.previous_version) != wanted:
            problems.append(f"event {event.seq}: {reported} was approved, should be {wanted}")
        self.active = reported.version
        self.approvals[reported.version] = event
        return problems

    def listed(self):
        """Returns the expected response of ListFragmentSets, without the set that ships with the server."""
        for one in reversed(self.sets):
            wanted = fragment_set.FragmentSet()
            wanted.CopyFrom(one)
            approval = self.approvals.get(one.version)
            if approval is not None:
                wanted.state = (fragment_set.FRAGMENT_SET_STATE_APPROVED if one.version == self.active
                                else fragment_set.FRAGMENT_SET_STATE_REPLACED)
                wanted.approved_by = approval.actor_user_id
                wanted.approved_at.CopyFrom(approval.created_at)
            yield wanted


RECURRING = {review_prompts.REVIEW_SIGNAL_INFORMATION_PRESENT_LOW: lambda one: one.answer("information_present") is False,
             review_prompts.REVIEW_SIGNAL_MISSING_SPEC: lambda one: bool(one.answer("missing_spec")),
             review_prompts.REVIEW_SIGNAL_BAD_FORMAT: lambda one: one.answer("bad_format") is True,
             review_prompts.REVIEW_SIGNAL_WRONG_INFORMATION: lambda one: one.answer("wrong_information") is True,
             review_prompts.REVIEW_SIGNAL_WRONG_PHYSICAL_DIMENSIONS:
                 lambda one: one.answer("wrong_physical_dimensions") is True}
SHIPPED_WORDING = "00000000-0000-0000-0000-000000000000"


class Prompts:
    """Returns the measures by reviews that cite their prompts, counted from the log."""

    def __init__(self):
        self.kept = {}  # (number of the exposure, run) -> number of the review that measured it first
        self.counts = collections.defaultdict(lambda: [0, 0, 0])  # (artifact, arm) -> exposures, outcomes, bad ones
        self.ids = {0: SHIPPED_WORDING}  # number of an event that may be an artifact -> its id

    def expose(self, reported):
        if reported.exposure_kind == event_log.EXPOSURE_KIND_PLACEHOLDERS:
            for one in reported.artifacts:
                self.counts[one.seq, reported.arm][0] += 1

    def cite(self, entry, exposures):
        """Counts what a review measures; returns what is recorded otherwise."""
        problems = []
        for cited in entry.reported.exposures:
            exposure = exposures[cited.exposure_seq]
            key = cited.exposure_seq, entry.reported.run_id
            wanted = key not in self.kept, [one for one in exposure.signals if one in RECURRING and RECURRING[one](entry)]
            if (cited.measured, list(cited.recurred)) != wanted:
                problems.append(f"review {entry.seq}: exposure {cited}, should be {wanted}")
            self.kept.setdefault(key, entry.seq)
            if cited.measured:
                self.count(exposure, cited, 1)
        return problems

    def count(self, exposure, cited, sign):
        for one in exposure.artifacts if exposure.signals else ():
            counts = self.counts[one.seq, exposure.arm]
            counts[1] += sign
            counts[2] += sign * bool(cited.recurred)

    def retract(self, entry, exposures):
        for cited in entry.reported.exposures:
            key = cited.exposure_seq, entry.reported.run_id
            if self.kept.get(key) == entry.seq:
                del self.kept[key]
            if cited.measured:
                self.count(exposures[cited.exposure_seq], cited, -1)


def check_prompts(client, counted, problems):
    prompts = counted.prompts
    for seq in sorted({seq for seq, _ in prompts.counts}):
        report = client.learning.GetArtifactReport(learning.GetArtifactReportRequest(artifact_id=prompts.ids[seq]))
        none, treatment, control = (prompts.counts[seq, arm] for arm in (
            extraction.EXPERIMENT_ARM_NONE, extraction.EXPERIMENT_ARM_TREATMENT, extraction.EXPERIMENT_ARM_CONTROL))
        wanted = [[a + b for a, b in zip(none, treatment)], treatment, control]
        reported = [[one.exposure_count, one.outcome_count, one.bad_count]
                    for one in (report.served, report.treatment, report.held_out)]
        if reported != wanted:
            problems.append(f"artifact {seq} of prompts: {reported}, should be {wanted}")


def check_fragment_sets(client, counted, problems):
    listed = list(client.all_pages(client.reviews.ListFragmentSets,
                                   review_service.ListFragmentSetsRequest(page_size=1000), "fragment_sets"))
    wanted = list(counted.fragment_sets.listed())
    if listed[:-1] != wanted:
        problems.append(f"fragment sets: {listed[:-1]} are listed, should be {wanted}")
    in_use = (fragment_set.FRAGMENT_SET_STATE_APPROVED if counted.fragment_sets.active == 0
              else fragment_set.FRAGMENT_SET_STATE_REPLACED)
    if (listed[-1].version, listed[-1].id, listed[-1].state) != (0, "", in_use):
        problems.append(f"fragment sets: the last one is {listed[-1]}")
