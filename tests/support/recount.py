"""Expected counters, sums and mappings: recounted from an organisation's log, event by event. Written only from the
contract, without code of the server; the result is compared with the server's responses, which it computes from stored
rows.
"""
import collections
import datetime
import hashlib
import math
import uuid

import recount_families
import recount_reviews
from erratad import artifact, analytics, event_log, extraction, feedback, internal, learned_rule, mappings, sku_mapping, verdict_service, verdicts

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
FIELD = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED
READY_EXAMPLES = 3
RANGE_DAYS_MAX = 366
LAYOUT_EVENTS_MAX = 100_000  # events of a layout that its analytics examine
LAYOUTS_CHECKED = 20  # layouts of an organisation that are checked individually
IMPROVEMENT_MIN = 3  # minimum number of extractions with an example, and without any
DAY_US = 86400 * 10**6
FIELDS_MAX = 256  # that are distinguished of one extraction
CORRECTIONS_MAX = 256  # that mark one extraction
Z = 1.959963984540054  # of 95%
CHI = Z * Z


FALSE_NEGATIVE = learned_rule.LEARNED_RULE_TYPE_FALSE_NEGATIVE
FALSE_POSITIVE = learned_rule.LEARNED_RULE_TYPE_FALSE_POSITIVE
MISSED_INDICATOR = learned_rule.LEARNED_RULE_TYPE_MISSED_INDICATOR
ADJUSTMENTS = {FALSE_NEGATIVE: 0.05, FALSE_POSITIVE: -0.03, MISSED_INDICATOR: 0.04}


def rule_of(reported):
    return ((reported.rule_type, reported.pattern), reported.confidence_adjustment, reported.learned_from_feedback_count,
            round(reported.accuracy_on_validation, 9), reported.enabled, reported.state)


def day_of(timestamp):
    return timestamp.ToDatetime().date().isoformat()


def fold(sku):
    return sku.strip().casefold()


def arm_of(org_id, document_id, holdout_percent):
    """Returns the side of the experiment of a document."""
    digest = hashlib.sha256(uuid.UUID(org_id).bytes + document_id.encode()).digest()
    if not holdout_percent:
        return extraction.EXPERIMENT_ARM_NONE
    held_out = int.from_bytes(digest[:8], "big") % 100 < holdout_percent
    return extraction.EXPERIMENT_ARM_CONTROL if held_out else extraction.EXPERIMENT_ARM_TREATMENT


def exclusion_of(one):
    """Why an extraction counts in no arm, if no other extraction or reference is the reason."""
    if not one.reported.document_id:
        return extraction.EXPERIMENT_EXCLUSION_NO_DOCUMENT
    if one.reported.arm not in (extraction.EXPERIMENT_ARM_TREATMENT, extraction.EXPERIMENT_ARM_CONTROL):
        return extraction.EXPERIMENT_EXCLUSION_NO_HOLDOUT
    return (extraction.EXPERIMENT_EXCLUSION_UNSPECIFIED if one.ready
            else extraction.EXPERIMENT_EXCLUSION_LAYOUT_NOT_READY)


class Arm:
    """Sums of one arm, or of the extractions that are excluded for one reason."""

    def __init__(self):
        self.extractions = self.corrected = self.fields = self.corrected_fields = 0

    def reported(self):
        """Returns the figures in the form of ArmResult."""
        return analytics.ArmResult(
            extraction_count=self.extractions, corrected_count=self.corrected,
            accuracy=None if not self.extractions else 1 - self.corrected / self.extractions,
            field_count=self.fields, corrected_field_count=self.corrected_fields,
            field_accuracy=None if not self.fields else 1 - self.corrected_fields / self.fields)


class Layout:
    """Expected state of a layout, from the log."""

    def __init__(self):
        self.seen = self.examples = self.feedback = self.extractions = self.corrected = 0
        self.last_seen_us = None
        self.arms = collections.defaultdict(Arm)
        self.bare = []  # confidences in millionths
        self.carried = collections.defaultdict(list)  # the same, by the id of the example


class Mapping:
    def __init__(self, id, customer_id, customer_sku, internal_sku):
        self.id, self.customer_id = id, customer_id
        self.customer_sku, self.internal_sku = customer_sku, internal_sku
        self.status, self.confidence = None, None
        self.support = self.uses = 0


def suggested_weight(first, agreed, disagreed):
    """The weight of verdicts.md for a rule that came with `first`."""
    share = (agreed + 7) / (agreed + disagreed + 10)
    size = abs(first) * math.log(share / (1 - share)) / math.log(7 / 3)
    return math.copysign(min(max(size, 0), 0.5), first)


class Rule:
    """A learned rule, by what spec and contract say of its state."""

    def __init__(self, id, key, adjustment, reported):
        self.id, self.key, self.adjustment = id, key, adjustment
        self.first = adjustment  # with which it was created or last imported
        self.count = self.reinforcements = 0
        self.accuracy = 0.5
        self.imported_seq = 0  # submissions before it do not count
        self.enabled = True
        self.state, self.learned, self.decided = reported.state, reported.auto_learned, False

    def learn(self):
        self.count += 1
        if self.state == artifact.ARTIFACT_STATE_RETIRED and not self.decided:
            self.state = artifact.ARTIFACT_STATE_ACTIVE

    def forget(self):
        self.count -= 1
        if self.count == 0 and self.learned and self.state in (
                artifact.ARTIFACT_STATE_SHADOW, artifact.ARTIFACT_STATE_ACTIVE,
                artifact.ARTIFACT_STATE_SUNSET_PROPOSED):
            self.state, self.decided = artifact.ARTIFACT_STATE_RETIRED, False

    def decide(self, wanted):
        """Returns the state after a person requested one."""
        if wanted == artifact.ARTIFACT_STATE_RETIRED and self.state in (
                artifact.ARTIFACT_STATE_PROPOSED, artifact.ARTIFACT_STATE_REJECTED):
            return artifact.ARTIFACT_STATE_REJECTED
        return wanted

    def take(self, reported):
        """Takes the values of an imported rule."""
        self.adjustment, self.count = reported.confidence_adjustment, reported.learned_from_feedback_count
        self.first = self.adjustment
        self.accuracy, self.reinforcements = reported.accuracy_on_validation, 0
        self.enabled, self.learned = reported.enabled, reported.auto_learned
        if self.state != reported.state:
            self.state, self.decided = reported.state, True

    def reported(self):
        return (self.key, self.adjustment, self.count, round(min(1, self.accuracy + 0.02 * self.reinforcements), 9),
                self.enabled,
                self.state)


class Extraction:
    """A recorded extraction and its corrections."""

    def __init__(self, event, reported):
        self.seq = event.seq
        self.created_us = event.created_at.ToMicroseconds()
        self.day = day_of(event.created_at)
        self.internal = internal(reported)
        self.confidence = self.internal.confidence_millionths
        self.reported = reported.extraction
        self.exposures = list(reported.exposure_seqs)
        self.ready = self.internal.layout_ready
        self.served_us = (self.internal.served_at.ToMicroseconds()
                          if self.internal.HasField("served_at") else self.created_us)
        self.from_us = (self.internal.corrected_from.ToMicroseconds()
                        if self.internal.HasField("corrected_from") else self.served_us)
        self.exclusion = self.reported.experiment_exclusion
        self.marks = {}  # seq -> correction, in the order in which they were found

    @property
    def place(self):
        return self.served_us, self.seq

    @property
    def subjects(self):
        return [(kind, id) for kind, id in (("document", self.reported.document_id),
                                            ("draft_order", self.reported.draft_order_id)) if id]

    @property
    def key(self):
        ids = None, self.reported.extraction_id, self.reported.document_id, self.reported.draft_order_id
        kind = self.internal.key_kind
        return (kind, ids[kind]) if kind else None

    @property
    def corrected(self):
        return bool(self.marks)

    def mark(self, seq, corrected):
        if len(self.marks) < CORRECTIONS_MAX:
            self.marks.setdefault(seq, corrected)

    def corrected_fields(self):
        """Fields of lines, or of other corrected objects; no more of them than there were."""
        fields = {(corrected.entity_type, corrected.entity_id, name)
                  for corrected in self.marks.values() for name in corrected.fields_changed}
        return min(len(fields), FIELDS_MAX, self.reported.field_count)


class Recount:
    """All events of one organisation, oldest first."""

    def __init__(self, events):
        self.by_day = collections.Counter()
        self.by_type = collections.Counter()  # (day, type)
        self.fields = collections.Counter()  # (day, type, field)
        self.of_annotators = collections.defaultdict(dict)  # kind -> seq -> (day, fields) of its feedback events
        self.of_layouts = collections.defaultdict(dict)  # layout -> seq -> (day, type, fields) of its feedback events
        self.layout_events = collections.Counter()  # layout -> events that name it, retracted ones and retractions too
        self.feedback = {}  # seq -> (event, feedback event), of those that were not retracted
        self.retracted = collections.Counter()  # day
        self.applied = collections.Counter()  # day
        self.layouts = collections.defaultdict(Layout)
        self.total = collections.defaultdict(Arm)
        self.extractions = {}  # sequence number -> extraction, except replaced ones
        self.keys = {}  # (kind, id) -> Extraction
        self.listed = collections.defaultdict(list)  # (kind, id) -> extractions, sorted by the time they were served
        self.corrections = collections.defaultdict(list)  # (kind, id) -> (time, seq, event)
        self.documents = {}  # document -> time of ingestion
        self.families = recount_families.Families()
        self.mappings = {}  # sequence number of the first event -> mapping
        self.confirmed = {}  # (customer, folded SKU) -> Mapping
        self.judged = collections.defaultdict(list)  # the same key -> (time, seq, Mapping, confirmed?)
        self.exposures = {}  # seq
        self.uses = {}  # sequence number -> MAPPING_APPLIED event
        self.example_ids = {}  # sequence number -> (id, layout)
        self.settings = None
        self.rules = {}  # id -> Rule
        self.rules_by_key = {}  # (type, pattern) -> Rule
        self.submissions = {}  # seq -> those that were not retracted
        self.firings = collections.Counter()  # (seq of the rule, whether the verdict agreed)
        self.templates = collections.Counter()
        self.outcomes = collections.Counter()  # (exposure seq, kind, subject)
        self.thresholds = {}  # subcategory -> ReviewThresholds
        self.fragment_sets = recount_reviews.FragmentSets()
        self.reviews = {}  # sequence number -> recount_reviews.Entry
        self.prompts = recount_reviews.Prompts()
        self.agent_decisions = set()  # sequence numbers of those that were not retracted
        self.problems = []  # impossible events
        for event in events:
            self.take(event)
        self.sum_up_extractions()

    def take(self, event):
        kind = event.WhichOneof("payload")
        for subject in event.subjects:
            if subject.kind == event_log.EVENT_SUBJECT_KIND_LAYOUT:
                self.layout_events[subject.id] += 1
        if hasattr(self, f"on_{kind}"):
            getattr(self, f"on_{kind}")(event, getattr(event, kind))

    # --- events ---

    def on_feedback_event(self, event, reported):
        self.feedback[event.seq] = event, reported
        day = day_of(event.created_at)
        self.by_day[day] += 1
        self.by_type[day, reported.event_type] += 1
        is_correction = reported.event_type in (LINE, FIELD)
        self.of_annotators[reported.annotator_kind][event.seq] = (
            day, list(reported.fields_changed) if is_correction else [])
        if reported.HasField("layout_fingerprint"):
            layout = self.layouts[reported.layout_fingerprint]
            layout.feedback += 1
            layout.examples += reported.is_example if reported.HasField("is_example") else is_correction
            self.of_layouts[reported.layout_fingerprint][event.seq] = (
                day, reported.event_type, list(reported.fields_changed) if is_correction else [])
            if is_correction:
                self.example_ids[event.seq] = event.id, reported.layout_fingerprint
        if is_correction:
            for field in reported.fields_changed:
                self.fields[day, reported.event_type, field] += 1
            self.correct(event, reported)
        elif reported.mapping_changes:
            self.judge(event, reported)

    def on_event_retracted(self, event, reported):
        """Subtracts what the event added; what later events added stays."""
        seq = reported.retracted_seq
        if seq in self.reviews:
            self.reviews[seq].is_retracted = True
            self.prompts.retract(self.reviews[seq], self.exposures)
            return
        if seq in self.submissions:
            self.retract_verdict(seq, self.submissions.pop(seq))
            return
        if seq in self.agent_decisions:
            self.agent_decisions.remove(seq)
            return
        if seq not in self.feedback:
            self.problems.append(f"retraction {event.seq}: of {seq}, which cannot be retracted or was retracted")
            return
        retracted, reported = self.feedback.pop(seq)
        day = day_of(retracted.created_at)
        self.by_day[day] -= 1
        self.by_type[day, reported.event_type] -= 1
        self.retracted[day] += 1
        is_correction = reported.event_type in (LINE, FIELD)
        del self.of_annotators[reported.annotator_kind][seq]
        if reported.HasField("layout_fingerprint"):
            layout = self.layouts[reported.layout_fingerprint]
            layout.feedback -= 1
            layout.examples -= reported.is_example
            del self.of_layouts[reported.layout_fingerprint][seq]
        for field in reported.fields_changed if is_correction else ():
            self.fields[day, reported.event_type, field] -= 1
            if not self.fields[day, reported.event_type, field]:
                del self.fields[day, reported.event_type, field]
        for subject in self.corrections:
            self.corrections[subject] = [row for row in self.corrections[subject] if row[1] != seq]
        for one in self.extractions.values():
            one.marks.pop(seq, None)

    def on_decision(self, event, _):
        self.agent_decisions.add(event.seq)

    def correct(self, event, reported):
        """Marks the newest extraction that was served before it, else the oldest, of what it names."""
        time_us = event.created_at.ToMicroseconds()
        found = []
        for subject in ("document", reported.document_id), ("draft_order", reported.draft_order_id):
            if subject[1]:
                self.corrections[subject].append((time_us, event.seq, reported))
                listed = self.listed[subject]
                found += [one for one in listed if one.served_us <= time_us][-1:] or listed[:1]
        if found:
            max(found, key=lambda one: one.place).mark(event.seq, reported)

    def take_corrections(self, one):
        """Finds the stored examples of an extraction; returns those that were served before it."""
        older = []
        for subject in one.subjects:
            listed = self.listed[subject]
            before = [other for other in listed if other.place < one.place]
            after = [other for other in listed if other.place > one.place]
            start, end = one.from_us, after[0].served_us if after else math.inf
            if before:
                start = one.served_us + (one.from_us != one.served_us)
                older.append(before[-1])
            for time_us, seq, corrected in sorted(self.corrections[subject], key=lambda row: row[:2], reverse=True):
                if start <= time_us < end:
                    one.mark(seq, corrected)
        return older

    def renew(self, extractions):
        for one in {other.seq: other for other in extractions}.values():
            one.marks = {}
            self.take_corrections(one)

    def on_extraction_recorded(self, event, reported):
        one = Extraction(event, reported)
        replaced = self.keys.get(one.key) if one.key else None
        if reported.replaced_seq != (replaced.seq if replaced else 0):
            self.problems.append(f"extraction {event.seq}: replaces {reported.replaced_seq}")
        if one.key:
            self.check_decision(one, replaced)
            self.keys[one.key] = one
        if not one.exclusion:
            one.exclusion = exclusion_of(one)
        if replaced:
            self.remove(one, replaced)
        self.add(one)

    def remove(self, one, replaced):
        one.marks = dict(replaced.marks)
        del self.extractions[replaced.seq]
        for subject in replaced.subjects:
            self.listed[subject].remove(replaced)
        if replaced.corrected:
            self.renew(other for subject in replaced.subjects
                       for other in [o for o in self.listed[subject] if o.place < replaced.place][-1:])
        for exposure in replaced.exposures:
            self.outcomes[exposure, "extraction", replaced.key] -= 1
        for seq in set(replaced.internal.applied_seqs) - set(one.internal.applied_seqs):
            self.count_uses(*self.uses[seq], -1)

    def add(self, one):
        self.extractions[one.seq] = one
        for subject in one.subjects:
            self.listed[subject].append(one)
            self.listed[subject].sort(key=lambda other: other.place)
        older = self.take_corrections(one)
        if one.corrected:
            self.renew(older)
        layout = self.layouts[one.reported.layout_fingerprint]  # stays listed without extractions
        for seq in one.internal.example_seqs:
            example_id, of_layout = self.example_ids[seq]
            if one.internal.bare or of_layout != one.reported.layout_fingerprint:
                self.problems.append(f"extraction {one.seq}: it can't have carried {seq} of {layout}")
        for exposure in one.exposures if one.key else ():
            self.outcomes[exposure, "extraction", one.key] += 1

    def check_decision(self, one, replaced):
        """Checks the time of the exposure, the readiness of the layout, and the reason why the extraction is excluded
        from the experiment."""
        cited = [self.exposures[seq] for seq in one.exposures]
        cited = [exposure for exposure in cited if exposure.exposure_kind != event_log.EXPOSURE_KIND_MATCHES]
        layout, document = one.reported.layout_fingerprint, one.reported.document_id
        if cited:
            served = start = min(exposure.served_at.ToMicroseconds() for exposure in cited)
            ready = all(exposure.layout_ready for exposure in cited)
        elif replaced:
            served, start = replaced.served_us, replaced.from_us
        else:
            ingested = self.documents.get(document, math.inf)
            served = one.created_us
            start = ingested if ingested <= served else served - DAY_US
        if not cited:
            same = replaced and replaced.reported.layout_fingerprint == layout
            ready = replaced.ready if same else self.layouts[layout].examples >= READY_EXAMPLES
        if replaced and replaced.reported.document_id == document:
            further = replaced.exclusion == extraction.EXPERIMENT_EXCLUSION_FURTHER_EXTRACTION
        else:
            further = bool(self.listed["document", document])
        if not document:
            exclusion = extraction.EXPERIMENT_EXCLUSION_NO_DOCUMENT
        elif further:
            exclusion = extraction.EXPERIMENT_EXCLUSION_FURTHER_EXTRACTION
        elif len({exposure.arm for exposure in cited}) > 1:
            exclusion = extraction.EXPERIMENT_EXCLUSION_MIXED_ARMS
        else:
            exclusion = exclusion_of(one)
        found = one.served_us, one.from_us, one.ready, one.exclusion
        if found != (served, start, ready, exclusion):
            self.problems.append(f"extraction {one.seq}: {found}, should be {(served, start, ready, exclusion)}")

    def on_review(self, event, reported):
        self.reviews[event.seq] = recount_reviews.Entry(event, reported)
        self.prompts.ids[event.seq] = event.id
        self.problems += self.prompts.cite(self.reviews[event.seq], self.exposures)

    def on_run_item(self, event, _reported):
        self.prompts.ids[event.seq] = event.id

    def on_fragment_set(self, event, reported):
        self.prompts.ids[event.seq] = event.id
        self.problems += self.fragment_sets.put(event, reported)

    def on_fragment_set_approved(self, event, reported):
        self.problems += self.fragment_sets.approve(event, reported)

    def on_trigger_thresholds_set(self, event, reported):
        self.thresholds[reported.subcategory] = reported.thresholds

    # --- verdicts ---

    def on_learned_rule_created(self, event, reported):
        key = reported.rule.rule_type, reported.rule.pattern
        if key in self.rules_by_key:
            self.problems.append(f"rule {event.seq}: {key} was created before")
        own = reported.rule.auto_learned and not reported.imported
        adjustment = ADJUSTMENTS[key[0]] if own else reported.rule.confidence_adjustment
        rule = self.rules[event.id] = self.rules_by_key[key] = Rule(event.id, key, adjustment, reported.rule)
        if reported.imported:
            rule.take(reported.rule)
            rule.decided = True

    def on_learned_rule_imported(self, event, reported):
        rule = self.rules[reported.rule.id]
        if rule_of(reported.previous) != rule.reported():
            self.problems.append(f"event {event.seq}: the rule was {rule.reported()}, not {reported.previous}")
        if reported.is_missing:
            wanted = rule.decide(artifact.ARTIFACT_STATE_RETIRED)
            if reported.rule.state != wanted:
                self.problems.append(f"event {event.seq}: state {reported.rule.state}, should be {wanted}")
            rule.state, rule.decided = wanted, True
        else:
            rule.take(reported.rule)
            rule.imported_seq = event.seq

    def on_learned_rule_weight_set(self, event, reported):
        rule = self.rules[reported.rule.id]
        if rule.adjustment != reported.previous_weight:
            self.problems.append(f"event {event.seq}: the weight was {rule.adjustment}, not {reported.previous_weight}")
        agreed, disagreed = (self.firings[reported.seq, agrees] for agrees in (True, False))
        if (reported.agreed_count, reported.disagreed_count) != (agreed, disagreed):
            self.problems.append(f"event {event.seq}: {reported.agreed_count} and {reported.disagreed_count} firings, "
                                 f"should be {agreed} and {disagreed}")
        if abs(reported.rule.confidence_adjustment - suggested_weight(rule.first, agreed, disagreed)) > 1e-9:
            self.problems.append(f"event {event.seq}: weight {reported.rule.confidence_adjustment}, should be "
                                 f"{suggested_weight(rule.first, agreed, disagreed)}")
        rule.adjustment = reported.rule.confidence_adjustment

    def on_learned_rule_enabled_set(self, event, reported):
        rule = self.rules[reported.rule.id]
        if rule.enabled != reported.was_enabled:
            self.problems.append(f"event {event.seq}: the rule was not {reported.was_enabled}")
        rule.enabled = reported.rule.enabled

    def on_artifact_state_set(self, event, reported):
        rule = self.rules[reported.artifact_id]
        wanted = reported.state
        if wanted == artifact.ARTIFACT_STATE_REJECTED:
            wanted = artifact.ARTIFACT_STATE_RETIRED
        found = reported.previous_state, reported.state
        if found != (rule.state, rule.decide(wanted)):
            self.problems.append(f"event {event.seq}: states {found}, should be {rule.state, rule.decide(wanted)}")
        rule.state, rule.decided = reported.state, True

    def on_verdict_submission(self, event, reported):
        """Counts by the contract's table; the event lists the same rules."""
        self.submissions[event.seq] = reported
        self.count_firings(reported, 1)
        pair = reported.original_verdict, reported.correct_verdict
        learned = []
        if pair == (verdicts.VERDICT_REAL, verdicts.VERDICT_FAKE):
            learned += [(FALSE_NEGATIVE, one) for one in reported.missed_indicators]
        if pair == (verdicts.VERDICT_FAKE, verdicts.VERDICT_REAL):
            learned += [(FALSE_POSITIVE, one) for one in reported.rejected_indicators]
        learned += [(MISSED_INDICATOR, one) for one in reported.missed_indicators]
        reinforced = [(kind, one) for one in reported.confirmed_indicators
                      for kind in (FALSE_NEGATIVE, MISSED_INDICATOR)
                      if (kind, one) in self.rules_by_key and
                      self.rules_by_key[kind, one].state != artifact.ARTIFACT_STATE_RETIRED]
        for key in learned + reinforced:
            rule = self.rules_by_key[key]
            rule.learn()
            rule.reinforcements += key in reinforced
        wanted = [(self.rules_by_key[key].reported(), key in reinforced) for key in learned + reinforced]
        found = [(rule_of(change.rule), change.effect == learned_rule.LEARNED_RULE_EFFECT_REINFORCED)
                 for change in reported.rule_changes]
        if sorted(found) != sorted(wanted):
            self.problems.append(f"verdict {event.seq}: changed {found}, should be {wanted}")

    def count_firings(self, reported, sign):
        """A rule that raises scores agrees with FAKE, one that lowers them with REAL; SUSPICIOUS is neither."""
        if reported.correct_verdict == verdicts.VERDICT_SUSPICIOUS:
            return
        for score in reported.measured_scores:
            for fired in score.fired:
                self.firings[fired.seq, fired.raises == (reported.correct_verdict == verdicts.VERDICT_FAKE)] += sign

    def retract_verdict(self, seq, reported):
        """Each rule that the submission lists loses what it added, unless an import has replaced its counts."""
        self.count_firings(reported, -1)
        for change in reported.rule_changes:
            rule = self.rules[change.rule.id]
            if seq < rule.imported_seq:
                continue
            rule.forget()
            rule.reinforcements -= change.effect == learned_rule.LEARNED_RULE_EFFECT_REINFORCED

    def sum_up_extractions(self):
        """Adds up the extractions that were not replaced; again after further events."""
        self.total.clear()
        for layout in self.layouts.values():
            layout.extractions = layout.corrected = 0
            layout.arms.clear()
            layout.bare.clear()
            layout.carried.clear()
        for one in self.extractions.values():
            self.sum_up(one)

    def sum_up(self, one):
        layout = self.layouts[one.reported.layout_fingerprint]
        layout.extractions += 1
        layout.corrected += one.corrected
        if one.internal.bare:
            layout.bare.append(one.confidence)
        for seq in one.internal.example_seqs:
            layout.carried[self.example_ids[seq][0]].append(one.confidence)
        where = one.reported.arm if not one.exclusion else -one.exclusion
        for arm in self.total[where], layout.arms[where]:
            arm.extractions += 1
            arm.fields += one.reported.field_count
            arm.corrected += one.corrected
            arm.corrected_fields += one.corrected_fields()

    def on_document_ingested(self, event, reported):
        self.documents[reported.document.document_id] = event.created_at.ToMicroseconds()
        if reported.document.HasField("layout_fingerprint"):
            layout = self.layouts[reported.document.layout_fingerprint]
            layout.seen += 1
            layout.last_seen_us = event.created_at.ToMicroseconds()
        self.families.on_document_ingested(event, reported, self.problems)

    def on_families_merged(self, event, reported):
        self.families.on_families_merged(event, reported, self.problems)

    def on_family_split(self, event, reported):
        self.families.on_family_split(event, reported, self.problems)

    def mapping(self, change):
        reported = change.mapping
        return self.mappings.setdefault(change.seq, Mapping(
            reported.id, reported.customer_id, reported.customer_sku, reported.internal_sku))

    def judge(self, event, reported):
        """Statuses follow the order of the times that people spoke of, not that of the log."""
        one = self.mapping(reported.mapping_changes[0])
        key = one.customer_id, fold(one.customer_sku)
        is_confirmed = reported.event_type == feedback.FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED
        one.support += is_confirmed
        self.judged[key].append((event.created_at.ToMicroseconds(), event.seq, one, is_confirmed))
        self.judged[key].sort(key=lambda judged: judged[:2])
        self.confirmed.pop(key, None)
        for _, _, one, is_confirmed in self.judged[key]:
            before = self.confirmed.get(key)
            if is_confirmed and before:
                before.status = sku_mapping.MAPPING_STATUS_SUPERSEDED
            if is_confirmed:
                one.status, one.confidence = sku_mapping.MAPPING_STATUS_CONFIRMED, 1.0
                self.confirmed[key] = one
                continue
            one.status, one.confidence = sku_mapping.MAPPING_STATUS_REJECTED, 0.0
            if before is one:
                del self.confirmed[key]

    def on_mapping_suggested(self, _event, reported):
        one = self.mapping(reported.change)
        if one.status in (None, sku_mapping.MAPPING_STATUS_SUGGESTED):
            one.status = sku_mapping.MAPPING_STATUS_SUGGESTED
            one.confidence = reported.change.mapping.confidence

    def on_mapping_applied(self, event, reported):
        self.uses[event.seq] = event, reported
        self.count_uses(event, reported, 1)

    def count_uses(self, event, reported, sign):
        for applied in reported.mappings:
            self.mappings[applied.seq].uses += sign * applied.line_count
            self.applied[day_of(event.created_at)] += sign * applied.line_count
        self.outcomes[reported.exposure_seq, "applied", reported.draft_order_id, reported.document_id] += sign

    def on_exposure_recorded(self, event, reported):
        self.exposures[event.seq] = reported
        self.prompts.expose(reported)

    def on_prompt_template(self, _event, reported):
        self.templates[reported.name] += 1
        if reported.version != self.templates[reported.name]:
            self.problems.append(f"template {reported.name}: version {reported.version} where "
                                 f"{self.templates[reported.name]} should be")

    def on_settings_updated(self, _event, reported):
        if self.settings is not None and reported.before != self.settings:
            self.problems.append("settings: the before of one change is not the after of another")
        self.settings = reported.after

    # --- answers ---

    def days(self):
        """Every day of which anything is known."""
        return sorted({day for day in self.by_day} | {one.day for one in self.extractions.values()} |
                      set(self.applied))

    def analytics(self, start, end, top=10):
        """GetLearningAnalytics of a range of days, but for its layouts."""
        first, last = datetime.date.fromisoformat(start), datetime.date.fromisoformat(end)
        days = [(first + datetime.timedelta(n)).isoformat() for n in range((last - first).days + 1)]
        inside = set(days)
        types, both, per_type = collections.Counter(), collections.Counter(), {
            LINE: collections.Counter(), FIELD: collections.Counter()}
        for (day, kind), count in self.by_type.items():
            types[kind] += count if day in inside else 0
        for (day, kind, name), count in self.fields.items():
            if day in inside:
                both[name] += count
                per_type[kind][name] += count
        reported = analytics.GetLearningAnalyticsResponse(
            start_date=start, end_date=end,
            events_by_day=[analytics.DayCount(date=day, count=self.by_day[day]) for day in days],
            corrections_by_day=[analytics.DayCount(date=day, count=self.by_type[day, LINE] + self.by_type[day, FIELD])
                                for day in days],
            mapping_events_by_day=[analytics.DayCount(
                date=day, count=self.by_type[day, feedback.FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED] +
                self.by_type[day, feedback.FEEDBACK_EVENT_TYPE_MAPPING_REJECTED]) for day in days],
            mapping_rejected_count=types[feedback.FEEDBACK_EVENT_TYPE_MAPPING_REJECTED],
            by_event_type=[analytics.EventTypeCount(event_type=kind, count=count) for kind, count in
                           sorted(types.items(), key=lambda item: (-item[1], item[0])) if count],
            corrected_fields=ranked(both, top), corrected_line_fields=ranked(per_type[LINE], top),
            corrected_header_fields=ranked(per_type[FIELD], top),
            confidence_by_day=[self.confidence(day) for day in days],
            mapping_confirmed_count=types[feedback.FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED],
            mapping_applied_count=sum(self.applied[day] for day in days),
            retracted_count=sum(self.retracted[day] for day in days))
        reported.extraction_count = sum(day.extraction_count for day in reported.confidence_by_day)
        reported.corrected_count = sum(day.corrected_count for day in reported.confidence_by_day)
        if reported.extraction_count:
            reported.correction_rate = reported.corrected_count / reported.extraction_count
        return reported

    def annotator_fields(self, kinds, start, end):
        """GetLearningAnalytics of kinds of annotators: (their events, the corrected fields) in a range of days."""
        inside = [one for kind in kinds for one in self.of_annotators[kind].values() if start <= one[0] <= end]
        return len(inside), collections.Counter(field for _, fields in inside for field in fields)

    def layout_fields(self, name, start, end):
        """GetLearningAnalytics of a layout: (its events, its corrected fields) in a range of days."""
        inside = [one for one in self.of_layouts[name].values() if start <= one[0] <= end]
        return len(inside), collections.Counter(field for _, _, fields in inside for field in fields)

    def confidence(self, day):
        found = [one for one in self.extractions.values() if one.day == day]
        mean = sum(one.confidence for one in found) / len(found) / 1e6 if found else None
        return analytics.DayConfidence(date=day, extraction_count=len(found), mean_confidence=mean,
                                       corrected_count=sum(one.corrected for one in found))

    def coverage(self):
        """ListLayoutCoverage, by fingerprint."""
        found = {}
        for name, layout in self.layouts.items():
            row = analytics.LayoutCoverage(
                layout_fingerprint=name, fingerprint_short=name[:8], seen_count=layout.seen,
                example_count=layout.examples, feedback_count=layout.feedback,
                extraction_count=layout.extractions, corrected_count=layout.corrected)
            if layout.extractions:
                row.correction_rate = layout.corrected / layout.extractions
            if layout.last_seen_us is not None:
                row.last_seen_at.FromMicroseconds(layout.last_seen_us)
            found[name] = row
        return found

    def experiment(self):
        """GetExperimentReport: (the organisation's comparison, the layouts' by fingerprint)."""
        layouts = {name: (layout.examples, compare(layout.arms)) for name, layout in self.layouts.items()
                   if layout.examples >= READY_EXAMPLES and any(arm > 0 for arm in layout.arms)}
        return compare(self.total), layouts


    def improvement(self, layout_fingerprint, example_id):
        """GetExamples' confidence_improvement; None where it is absent."""
        layout = self.layouts[layout_fingerprint]
        carried = layout.carried.get(example_id, [])
        if len(carried) < IMPROVEMENT_MIN or len(layout.bare) < IMPROVEMENT_MIN:
            return None
        return (sum(carried) / len(carried) - sum(layout.bare) / len(layout.bare)) / 1e6


def ranked(counts, top):
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0].encode()))
    return [analytics.FieldCount(field=name, count=count) for name, count in order[:top]]


# --- statistics ---

def score(right, total, other_right, other_total, ratio):
    """Koopman's statistic of the hypothesis that the first share is `ratio` times the other."""
    a = (total + other_total) * ratio
    b = -(total * ratio + right + other_total + other_right * ratio)
    c = right + other_right
    share = (-b - math.sqrt(max(b * b - 4 * a * c, 0))) / (2 * a)

    def part(count, size, p):
        if p <= 0 or p >= 1:
            return 0.0 if abs(count - size * p) < 1e-9 else math.inf
        return (count - size * p) ** 2 / (size * p * (1 - p))
    return part(right, total, ratio * share) + part(other_right, other_total, share)


def bisect(low, high, inside):
    """Returns the boundary between a point for which `inside` is true and one for which it is false."""
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if inside(middle) else (low, middle)
    return math.sqrt(low * high)


def excluded(arms):
    """ExcludedExtractions."""
    names = {extraction.EXPERIMENT_EXCLUSION_NO_DOCUMENT: "no_document_count",
             extraction.EXPERIMENT_EXCLUSION_FURTHER_EXTRACTION: "further_extraction_count",
             extraction.EXPERIMENT_EXCLUSION_NO_HOLDOUT: "no_holdout_count",
             extraction.EXPERIMENT_EXCLUSION_MIXED_ARMS: "mixed_arms_count",
             extraction.EXPERIMENT_EXCLUSION_LAYOUT_NOT_READY: "layout_not_ready_count"}
    return analytics.ExcludedExtractions(**{name: arms[-reason].extractions for reason, name in names.items()
                                            if -reason in arms})


def compare(arms):
    """ExperimentComparison of two arms."""
    treatment = arms[extraction.EXPERIMENT_ARM_TREATMENT]
    control = arms[extraction.EXPERIMENT_ARM_CONTROL]
    reported = analytics.ExperimentComparison(treatment=treatment.reported(), control=control.reported(),
                                              excluded=excluded(arms))
    if not treatment.extractions or not control.extractions:
        return reported
    good, other = treatment.extractions - treatment.corrected, control.extractions - control.corrected
    pooled = (good + other) / (treatment.extractions + control.extractions)
    if 0 < pooled < 1:
        spread = pooled * (1 - pooled) * (1 / treatment.extractions + 1 / control.extractions)
        difference = good / treatment.extractions - other / control.extractions
        reported.p_value = math.erfc(abs(difference) / math.sqrt(2 * spread))
    else:
        reported.p_value = 1.0
    if not other:
        return reported
    ratio = (good / treatment.extractions) / (other / control.extractions)
    reported.relative_improvement = ratio - 1
    reported.target_reached = 20 * good * control.extractions >= 23 * other * treatment.extractions

    def inside(theta):
        return score(good, treatment.extractions, other, control.extractions, theta) <= CHI
    middle = ratio or 1e-9  # if no extraction was correct, the interval begins at 0
    reported.improvement_low = bisect(middle, middle / 1e6, inside) - 1 if good else -1
    reported.improvement_high = bisect(middle, middle * 1e12, inside) - 1
    return reported


# --- the server's data ---

def differs(wanted, reported, path, problems, tolerance=1e-9):
    """Compares two messages; numbers of statistics within a tolerance."""
    for field in wanted.DESCRIPTOR.fields:
        where = f"{path}.{field.name}"
        one, other = getattr(wanted, field.name), getattr(reported, field.name)
        if field.label == field.LABEL_REPEATED:
            if len(one) != len(other):
                problems.append(f"{where}: {len(other)} where {len(one)} should be")
            for n, pair in enumerate(zip(one, other)):
                differs(*pair, f"{where}[{n}]", problems, tolerance)
        elif field.has_presence and wanted.HasField(field.name) != reported.HasField(field.name):
            problems.append(f"{where}: there {reported.HasField(field.name)}, "
                            f"should be {wanted.HasField(field.name)}: {one} {other}")
        elif field.type == field.TYPE_MESSAGE and not field.message_type.full_name.startswith("google."):
            differs(one, other, where, problems, tolerance)
        elif field.type == field.TYPE_DOUBLE:
            if not math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance):
                problems.append(f"{where}: {other} where {one} should be")
        elif one != other:
            problems.append(f"{where}: {other} where {one} should be")


def check_analytics(client, counted, problems):
    days = counted.days() or [datetime.datetime.now(datetime.timezone.utc).date().isoformat()]
    start = datetime.date.fromisoformat(days[0])
    while start.isoformat() <= days[-1]:
        end = min(start + datetime.timedelta(RANGE_DAYS_MAX - 1), datetime.date.fromisoformat(days[-1]))
        request = analytics.GetLearningAnalyticsRequest(
            start_date=start.isoformat(), end_date=end.isoformat(), top_fields=1000)
        reported = client.analytics.GetLearningAnalytics(request)
        wanted = counted.analytics(request.start_date, request.end_date, 1000)
        check_stats(counted, reported.layout_stats, "layout_stats", problems)
        del reported.layout_stats[:]
        # The order of types with the same count is unspecified.
        for message in (reported, wanted):
            message.by_event_type.sort(key=lambda row: (-row.count, row.event_type))
        differs(wanted, reported, "analytics", problems)
        for name in sorted(counted.of_layouts)[:LAYOUTS_CHECKED]:
            request.layout_fingerprint = name
            reported = client.analytics.GetLearningAnalytics(request)
            check_stats(counted, reported.layout_stats, f"analytics of {name}", problems)
            if reported.incomplete:
                if counted.layout_events[name] <= LAYOUT_EVENTS_MAX:
                    problems.append(f"analytics of {name}: incomplete with {counted.layout_events[name]} events")
                continue
            found = (sum(day.count for day in reported.events_by_day),
                     {one.field: one.count for one in reported.corrected_fields})
            wanted = counted.layout_fields(name, request.start_date, request.end_date)
            if found != wanted:
                problems.append(f"analytics of {name}: {found} where {wanted} should be")
        check_annotators(client, counted, (request.start_date, request.end_date), problems)
        start = end + datetime.timedelta(1)


def check_annotators(client, counted, days, problems):
    kinds = sorted(kind for kind, events in counted.of_annotators.items() if kind and events)
    for chosen in [[kind] for kind in kinds] + [kinds[1:]]:
        if not chosen:
            continue
        reported = client.analytics.GetLearningAnalytics(analytics.GetLearningAnalyticsRequest(
            start_date=days[0], end_date=days[1], top_fields=1000, annotator_kinds=chosen))
        found = (sum(day.count for day in reported.events_by_day),
                 {one.field: one.count for one in reported.corrected_fields})
        wanted = counted.annotator_fields(chosen, *days)
        if found != wanted and not reported.incomplete:
            problems.append(f"analytics of annotators {chosen}: {found} where {wanted} should be")


def check_stats(counted, rows, path, problems):
    coverage = counted.coverage()
    for row in rows:
        if row.layout_fingerprint not in coverage:
            problems.append(f"{path}: {row.layout_fingerprint} is not in the log")
            continue
        differs(coverage[row.layout_fingerprint], row, f"{path} {row.layout_fingerprint}", problems)


def check_coverage(client, counted, problems):
    for order in (analytics.LAYOUT_COVERAGE_ORDER_LAST_SEEN, analytics.LAYOUT_COVERAGE_ORDER_MOST_SEEN):
        rows = client.all_pages(client.analytics.ListLayoutCoverage,
                                analytics.ListLayoutCoverageRequest(page_size=100, order=order), "layout_stats")
        names = [row.layout_fingerprint for row in rows]
        if sorted(names) != sorted(counted.layouts):
            problems.append(f"coverage: {sorted(set(names) ^ set(counted.layouts))} too many, missing or twice")
        check_stats(counted, rows, "coverage", problems)


def check_experiment(client, counted, problems):
    total, layouts = counted.experiment()
    reported, token = {}, ""
    while True:
        page = client.analytics.GetExperimentReport(
            analytics.GetExperimentReportRequest(page_size=100, page_token=token))
        differs(total, page.organization, "experiment", problems, 1e-6)
        reported.update({one.layout_fingerprint: one for one in page.layouts})
        token = page.next_page_token
        if not token:
            break
    if sorted(reported) != sorted(layouts):
        problems.append(f"experiment: layouts {sorted(reported)} where {sorted(layouts)} should be")
    for name in set(reported) & set(layouts):
        examples, comparison = layouts[name]
        if reported[name].example_count != examples:
            problems.append(f"experiment {name}: {reported[name].example_count} examples, not {examples}")
        differs(comparison, reported[name].comparison, f"experiment {name}", problems, 1e-6)


def check_mappings(client, counted, problems):
    reported = {one.id: one for one in client.all_pages(
        client.mappings.ListMappings, mappings.ListMappingsRequest(page_size=1000), "mappings")}
    wanted = {one.id: one for one in counted.mappings.values()}
    if set(reported) != set(wanted):
        problems.append(f"mappings: {sorted(set(reported) ^ set(wanted))} too many or missing")
    confirmed = collections.Counter()
    for id in set(reported) & set(wanted):
        one, other = reported[id], wanted[id]
        confirmed[one.customer_id, fold(one.customer_sku)] += (
            one.status == sku_mapping.MAPPING_STATUS_CONFIRMED)
        was = (one.status, one.support_count, one.use_count, one.customer_sku, one.internal_sku)
        should = (other.status, other.support, other.uses, other.customer_sku, other.internal_sku)
        if was != should or (other.status != sku_mapping.MAPPING_STATUS_SUPERSEDED and
                             not math.isclose(one.confidence, other.confidence, abs_tol=1e-6)):
            problems.append(f"mapping {id}: {was} {one.confidence}, should be {should} {other.confidence}")
    problems += [f"mappings: {count} confirmed for {key}" for key, count in confirmed.items() if count > 1]


def check_rules(client, counted, problems):
    reported = {one.id: rule_of(one) for one in client.all_pages(
        client.verdicts.ListLearnedRules, verdict_service.ListLearnedRulesRequest(page_size=1000), "rules")}
    wanted = {id: rule.reported() for id, rule in counted.rules.items()}
    problems += [f"rule {id}: {reported.get(id)}, should be {wanted.get(id)}"
                 for id in sorted(set(reported) | set(wanted)) if reported.get(id) != wanted.get(id)]


def check_verdicts(client, counted, problems):
    """Statistics of a year: histories of tests are shorter."""
    submissions = counted.submissions.values()
    total = len(submissions)
    right = sum(one.original_verdict == one.correct_verdict for one in submissions)
    missed = collections.Counter(name for one in submissions for name in one.missed_indicators)
    pairs = collections.Counter((one.original_verdict, one.correct_verdict) for one in submissions)
    correct = collections.Counter(one.correct_verdict for one in submissions)
    wanted = verdict_service.GetVerdictStatsResponse(
        total_feedback=total, accuracy=(2000 * right + total) // (2 * total) / 10 if total else None,
        false_positives=pairs[verdicts.VERDICT_FAKE, verdicts.VERDICT_REAL],
        false_negatives=pairs[verdicts.VERDICT_REAL, verdicts.VERDICT_FAKE],
        real_receipts=correct[verdicts.VERDICT_REAL], fake_receipts=correct[verdicts.VERDICT_FAKE],
        suspicious_receipts=correct[verdicts.VERDICT_SUSPICIOUS],
        common_missed_indicators=[verdict_service.IndicatorCount(indicator=name, count=count) for name, count in
                                  sorted(missed.items(), key=lambda one: (-one[1], one[0].encode()))[:10]])
    reported = client.verdicts.GetVerdictStats(verdict_service.GetVerdictStatsRequest(days=RANGE_DAYS_MAX))
    if reported != wanted:
        problems.append(f"verdicts: {reported} where {wanted} should be")


def check_improvements(client, counted, problems):
    """Checks the newest 20 examples of each layout."""
    for name in sorted(counted.layouts):
        for example in client.examples(name, max_examples=20).examples:
            wanted = counted.improvement(name, example.id)
            reported = example.confidence_improvement if example.HasField("confidence_improvement") else None
            if (wanted is None) != (reported is None) or (
                    wanted is not None and not math.isclose(wanted, reported, abs_tol=1e-6)):
                problems.append(f"example {example.id} of {name}: {reported} where {wanted} should be")


def check_once(counted, problems):
    """The same outcome of a reference counts once, and an exposure enters the log once."""
    problems += [f"outcome {key}: counted {count} times"
                 for key, count in counted.outcomes.items() if count > 1]
    hashes = collections.Counter(internal(reported).reference_hash for reported in counted.exposures.values())
    problems += [f"exposure {key.hex()}: recorded {count} times"
                 for key, count in hashes.items() if count > 1]


def check(client, counted=None):
    """Compares the server's responses to a client with the recount; returns the differences as sentences. There must be
    no concurrent writes."""
    problems = []
    if counted is None:
        counted = Recount(reversed(client.events()))
    counted.sum_up_extractions()
    problems += counted.problems
    for look in (check_analytics, check_coverage, check_experiment, check_mappings, check_improvements, check_rules,
                 check_verdicts, recount_families.check_families, recount_reviews.check_runs,
                 recount_reviews.check_triggers, recount_reviews.check_cards,
                 recount_reviews.check_fragment_sets, recount_reviews.check_prompts):
        look(client, counted, problems)
    check_once(counted, problems)
    return problems
