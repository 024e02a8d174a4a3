"""An agent and its reviewers for some hundred runs: prompts filled by reviews, results with errors, forms that cite the
prompts. Figures of recurrence are counted from the log: what the exposures had guidance for, and what the reviews that
cite them gave again."""
import collections
import hashlib
import json
import textwrap
import uuid

from demo import agent
from demo.report import COLUMNS, count, percent, prose, table
from erratad import (agent_card, event_log, extraction, learning, review_prompts, review_service, roles, run_item)

TREATMENT, CONTROL = extraction.EXPERIMENT_ARM_TREATMENT, extraction.EXPERIMENT_ARM_CONTROL
SHIPPED_WORDING = "00000000-0000-0000-0000-000000000000"
REVIEWS_SHOWN = 4


def signal_name(signal):
    return review_prompts.ReviewSignal.Name(signal).removeprefix("REVIEW_SIGNAL_").lower().replace("_", " ")


def name_of(run_id):
    return run_id.partition("/")[0]


class Work:
    """The runs of one organisation."""

    def __init__(self, arguments, server, admin):
        self.org = admin.create_org("agent")
        self.client = server.client(admin.create_token(roles.ROLE_ADMIN, org_id=self.org.id).secret)
        if arguments.holdout:
            self.client.update_settings(holdout_percent=arguments.holdout)
        self.holdout = arguments.holdout
        sets = self.client.reviews.ListFragmentSets(review_service.ListFragmentSetsRequest()).fragment_sets
        wording = {one.signal: one.text for one in sets[-1].fragments
                   if one.placeholder == review_prompts.REVIEW_PLACEHOLDER_EXTRACTION_REVIEW}
        extractor_draw, self.draw = agent.draws_of(arguments.seed)
        self.extractor = agent.Extractor(arguments.heeds, wording, extractor_draw)
        self.last = {}  # subcategory -> (request, its response), the last one with guidance

    def run_id(self, number):
        """An id whose arm is drawn: which arm an id has depends on the organisation's id, which differs each time."""
        held_out = self.draw.random() * 100 < self.holdout
        for attempt in range(10_000):
            run_id = f"run-{number}/{attempt}"
            digest = hashlib.sha256(uuid.UUID(self.org.id).bytes + run_id.encode()).digest()
            if (int.from_bytes(digest[:8], "big") % 100 < self.holdout) == held_out:
                return run_id
        raise RuntimeError("no id has the arm")

    def run(self, number):
        subcategory = self.draw.choice(sorted(agent.SUBCATEGORIES))
        run_id = self.run_id(number)
        request = review_prompts.ResolvePlaceholdersRequest(
            subcategory=subcategory, run_id=run_id, prompts=agent.PROMPTS, static_example='{"name":"..."}')
        served = self.client.reviews.ResolvePlaceholders(request)
        errors, missing = self.extractor.work(subcategory, served.prompts["extraction"])
        self.client.reviews.PutItem(review_service.PutItemRequest(item=run_item.RunItem(
            run_id=run_id, item_json=json.dumps({"name": f"{subcategory} {number}"}))))
        form = agent.form_of(agent.draw_reviewer(self.draw), errors, missing, self.draw)
        form.run_id, form.subcategory = run_id, subcategory
        form.exposure_refs.append(served.exposure_ref)
        self.client.reviews.SubmitReview(review_service.SubmitReviewRequest(review=form))
        if served.arm != CONTROL and any(one.signals for one in served.placeholders[:3]):
            self.last[subcategory] = request, served


def count_recurrence(client):
    """{(signal, arm): [prompts, reviews that gave the signal again]}, counted from the log."""
    exposures, counts = {}, collections.defaultdict(lambda: [0, 0])
    for event in reversed(client.events()):
        payload = event.WhichOneof("payload")
        if payload == "exposure_recorded" and event.exposure_recorded.exposure_kind == event_log.EXPOSURE_KIND_PLACEHOLDERS:
            exposures[event.seq] = event.exposure_recorded
        for cited in event.review.exposures if payload == "review" else ():
            exposure = exposures[cited.exposure_seq]
            for signal in exposure.signals if cited.measured else ():
                counts[signal, exposure.arm][0] += 1
                counts[signal, exposure.arm][1] += signal in cited.recurred
    return counts


def share(pair):
    return pair[1] / pair[0] if pair[0] else None


def recurrence_lines(counts):
    rows = []
    for signal in (agent.BAD_FORMAT, agent.WRONG_INFORMATION, agent.WRONG_DIMENSIONS, agent.MISSING_SPEC, agent.INFORMATION_LOW):
        guided = [a + b for a, b in zip(counts[signal, TREATMENT], counts[signal, extraction.EXPERIMENT_ARM_NONE])]
        held_out = counts[signal, CONTROL]
        rows.append((signal_name(signal), guided[0], percent(share(guided)), held_out[0], percent(share(held_out))))
    return table(["signal", "with guidance", "came back", "held out", "came back"], rows)


def total_lines(report):
    if not report.HasField("difference"):
        return prose("Without held-out runs there is no comparison: with --holdout a part of the runs gets no guidance.")
    is_clear = report.difference_high < 0 or report.difference_low > 0
    return prose(
        f"Of {count(report.treatment.outcome_count, 'run', 'runs')} with guidance, "
        f"{percent(report.treatment.bad_rate)} gave a signal again that they had guidance for; of "
        f"{count(report.held_out.outcome_count, 'run', 'runs')} that were held out, {percent(report.held_out.bad_rate)}. "
        f"Difference {report.difference * 100:+.0f} points, 95% interval {report.difference_low * 100:+.0f} to "
        f"{report.difference_high * 100:+.0f}: {'that is clear' if is_clear else 'it may be chance'}.")


def half(periods):
    """First-pass acceptance and recurrence of some periods."""
    runs = sum(one.run_count for one in periods)
    warned = sum(one.total.warned_count for one in periods)
    return (percent(sum(one.first_pass_count for one in periods) / runs if runs else None),
            percent(sum(one.total.recurring_count for one in periods) / warned if warned else None))


def agent_lines(client):
    rows = []
    for subcategory in sorted(agent.SUBCATEGORIES):
        card = client.reviews.GetAgentCard(agent_card.GetAgentCardRequest(subcategory=subcategory)).agent_card
        middle = (len(card.periods) + 1) // 2
        rows.append((subcategory, card.run_count, *half(card.periods[:middle]), *half(card.periods[middle:])))
    return table(["agent", "runs", "earlier: accepted at once", "signals back", "later: accepted at once", "signals back"], rows)


def reasons_of(explained):
    """{guidance: why it is there}."""
    reasons = {}
    for one in explained.signals:
        cited = [f"{name_of(event.run_id)} ({event.actor_user_id})" for event in one.reviews]
        more = f" and {len(cited) - REVIEWS_SHOWN} more" if len(cited) > REVIEWS_SHOWN else ""
        for fragment in one.fragments:
            reasons[fragment.text] = f"{signal_name(one.signal)}: {', '.join(cited[:REVIEWS_SHOWN])}{more}"
    return reasons


def injected_lines(prompt, text, reasons):
    """Returns the lines of guidance in a filled prompt, each with its reason, also lines that continue
    guidance."""
    own = agent.PROMPTS[prompt].splitlines()
    lines, why = [], ""
    for number, line in enumerate(text.splitlines(), 1):
        why = "the latest item of a reviewed run" if line.startswith("{") else reasons.get(line, why)
        if line not in own:
            lines += [f"* {prompt}, line {number}, because of {why}:", "",
                      *textwrap.wrap(line, COLUMNS, initial_indent="  > ", subsequent_indent="  > "), ""]
    return lines


def prompt_lines(work):
    """Returns the guidance in the prompts of the last guided run of each subcategory."""
    lines = []
    for subcategory in sorted(work.last):
        request, served = work.last[subcategory]
        explained = work.client.explain(exposure_ref=served.exposure_ref, resolve_inputs=request)
        if not explained.text_matches or explained.prompts != served.prompts:
            raise RuntimeError(f"{request.run_id}: the prompts are explained differently than they were served")
        lines += [f"### {name_of(request.run_id)}, {subcategory}", ""]
        reasons = reasons_of(explained)
        for prompt in sorted(served.prompts):
            lines += injected_lines(prompt, served.prompts[prompt], reasons)
    return lines


def report(arguments, work):
    artifact = work.client.learning.GetArtifactReport(learning.GetArtifactReportRequest(artifact_id=SHIPPED_WORDING))
    reviewers = ", ".join(f"{name} {part}%" for name, part in agent.REVIEWERS)
    return [
        "# What reviews taught the agent", "",
        *prose(f"{count(arguments.runs, 'run', 'runs')} of {count(len(agent.SUBCATEGORIES), 'subcategory', 'subcategories')}, "
               f"{arguments.holdout}% of them held out from guidance; reviewers: {reviewers}. The extractor heeds guidance "
               f"that it finds in its prompt {arguments.heeds}% of the time: that is an assumption, and what your model "
               "does is for your own holdout to find."),
        "## Did signals come back?", "",
        *prose("Runs whose prompts had guidance for a signal, beside runs that would have had it but were held out; and how "
               "many of their reviews gave the signal again."),
        *recurrence_lines(count_recurrence(work.client)), *total_lines(artifact),
        "## The agents", "",
        *prose("Accepted at once: the first review of a run was REVIEWED. Signals back: of the signals that one of the ten "
               "runs before had, those that a run had again; held-out runs count, too."),
        *agent_lines(work.client),
        "## Why a line was in a prompt", "", *prompt_lines(work)]


def simulate(arguments, server, admin, progress):
    """Returns the lines of the report."""
    work = Work(arguments, server, admin)
    for number in range(arguments.runs):
        progress(number, arguments.runs)
        work.run(number)
    return report(arguments, work)
