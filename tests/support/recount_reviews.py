"""Reviews by a recount of the log: runs, as GetRun returns them."""
import collections

from erratad import fragment_set, review, review_service, review_triggers

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
    """What GetRun should return of these reviews, as a tuple."""
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
    """What GetTriggers should return of these reviews."""
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
        """What ListFragmentSets should return, without the set that ships with the server."""
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
