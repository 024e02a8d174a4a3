"""Report of a run as Markdown that is also readable as plain text, for decision makers. Figures of extractions,
corrections, mappings and the experiment come from the server; figures that only the simulation knows are marked as
such.
"""
import calendar
import datetime
import textwrap

from erratad import analytics

LAYOUTS_SHOWN = 12
COLUMNS = 100
SIGNIFICANT = 0.05
ARM_ORDERS_MIN = 10  # minimum number of orders on each side for a meaningful interval and p-value
GOAL = 0.15
FIELD_NAMES = {"customer_sku": "article number", "qty": "quantity", "uom": "unit", "price": "price",
               "delivery_date": "delivery date", "po_number": "order number"}
BARS = "▁▂▃▄▅▆▇█"


def percent(value, digits=0):
    """A share; a dash if there is none. Never -0%."""
    if value is None:
        return "-"
    text = f"{value * 100:.{digits}f}"
    return (text[1:] if float(text) == 0 and text[0] == "-" else text) + "%"


def signed(value, digits=0):
    return "-" if value is None else ("+" if round(value * 100, digits) > 0 else "") + percent(value, digits)


def member(message, name):
    return getattr(message, name) if message.HasField(name) else None


def count(number, one, many):
    return f"{number:,} {one if number == 1 else many}"


def table(head, rows):
    """A Markdown table whose columns are under each other; text left, figures right."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[n]) for row in [head, *rows]) for n in range(len(head))]
    right = [n > 0 for n in range(len(head))]

    def line(row):
        return "| " + " | ".join(cell.rjust(w) if r else cell.ljust(w)
                                 for cell, w, r in zip(row, widths, right)) + " |"
    rule = "|" + "|".join("-" * (w + 1) + (":" if r else "-") for w, r in zip(widths, right)) + "|"
    return [line(head), rule, *map(line, rows), ""]


def bars(values, top):
    """A row of small columns, from nothing to `top`."""
    top = top or 1
    return "".join(" " if value is None else BARS[min(int(value / top * len(BARS)), len(BARS) - 1)]
                   for value in values)


def months_of(company):
    """(first day, last day) of each month of the run."""
    end = company.first_day + datetime.timedelta(days=company.days - 1)
    first = company.first_day
    while first <= end:
        last = first.replace(day=calendar.monthrange(first.year, first.month)[1])
        yield first, min(last, end)
        first = last + datetime.timedelta(days=1)


def learned(client, first, last):
    return client.analytics.GetLearningAnalytics(analytics.GetLearningAnalyticsRequest(
        start_date=first.isoformat(), end_date=last.isoformat(), top_fields=20))


def experiment(client):
    """The whole report: the organisation's comparison, and all layouts."""
    layouts, token = [], ""
    while True:
        page = client.analytics.GetExperimentReport(
            analytics.GetExperimentReportRequest(page_size=1000, page_token=token))
        layouts += page.layouts
        token = page.next_page_token
        if not token:
            return page.organization, layouts


def is_clear(comparison):
    """Returns whether a difference is larger than chance explains for this many orders."""
    arms = comparison.treatment, comparison.control
    return (comparison.HasField("p_value") and comparison.p_value < SIGNIFICANT and
            min(arm.extraction_count for arm in arms) >= ARM_ORDERS_MIN)


def odds(p_value):
    """A p-value in words."""
    if p_value < 0.001:
        return "less than once in a thousand such trials"
    if p_value < SIGNIFICANT:
        return f"about once in {round(1 / p_value):,} such trials"
    return f"in {percent(p_value)} of such trials"


def prose(text):
    """A paragraph, and an empty line."""
    return [*textwrap.wrap(text, COLUMNS, break_on_hyphens=False), ""]


def points(*texts):
    """A list, and an empty line."""
    return [line for text in texts for line in textwrap.wrap(
        text, COLUMNS, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False)] + [""]


def share(part, whole):
    return part / whole if whole else None


class Report:
    def __init__(self, client, company, office, orders):
        self.company, self.office, self.orders = company, office, orders
        self.months = [(first, learned(client, first, last)) for first, last in months_of(company)]
        self.total, self.layouts = experiment(client)
        self.names = {form.fingerprint: form.name for customer in company.customers
                      for _, form in customer.forms}

    def lines(self):
        return [*self.head(), *self.happened(), *self.by_month(), *self.helped(), *self.by_layout(),
                *self.unproven()]

    def head(self):
        company = self.company
        last = company.first_day + datetime.timedelta(days=company.days - 1)
        return [
            "# Do corrections make the next order better?", "",
            *prose("**The effect below is an assumption, not a result**: the simulated model does what an example in "
                   f"its prompt shows {percent(self.office.follows_share)} of the time (`--follows`). The report shows "
                   "how such a comparison is made and read."),
            *prose(f"A simulated company took {count(len(self.orders), 'order', 'orders')} from "
                   f"{len(company.customers)} customers between {company.first_day} and {last}. Each customer "
                   "writes its orders on a form of its own. A simulated model read them, simulated people "
                   "corrected what they saw to be wrong, and a real Errata server kept the corrections and put the "
                   "newest three of the same form into the next prompt."),
            *prose(f"{company.holdout_percent}% of the orders, drawn by chance, were held out: their prompts got no "
                   "examples. They show what the model does without help, in the same months and on the same "
                   "forms." if company.holdout_percent else
                   "No order was held out: each prompt got the examples that there were.")]

    def happened(self):
        extractions = sum(reported.extraction_count for _, reported in self.months)
        corrected = sum(reported.corrected_count for _, reported in self.months)
        lines, filled = (sum(values) for values in zip(*self.office.lines.values()))
        confirmed = sum(reported.mapping_confirmed_count for _, reported in self.months)
        applied = sum(reported.mapping_applied_count for _, reported in self.months)
        fields = {}
        for _, reported in self.months:
            for row in reported.corrected_fields:
                fields[row.field] = fields.get(row.field, 0) + row.count
        fields = {name: n for name, n in fields.items() if name in FIELD_NAMES}
        whole = sum(fields.values())
        return [
            "## What happened", "",
            *points(f"{count(extractions, 'order was', 'orders were')} read by the model; people corrected "
                    f"something in {corrected:,} of them ({percent(share(corrected, extractions))}).",
                    f"{lines:,} order lines were looked up among the company's own articles. For {filled:,} of them "
                    f"({percent(share(filled, lines))}) a confirmed mapping was known, and no choice was needed. "
                    "Counted with the lines whose article number a person had to correct first, mappings were "
                    f"applied {applied:,} times; people confirmed one {confirmed:,} times.",
                    "Mappings that somebody had confirmed by mistake were applied "
                    f"{count(self.office.wrong_applied, 'time', 'times')}; people see that, and replace them."),
            "What was corrected:", "",
            *table(["field", "corrections", "share"],
                   [(FIELD_NAMES[name], f"{n:,}", percent(n / whole)) for name, n in
                    sorted(fields.items(), key=lambda item: (-item[1], item[0]))])]

    def by_month(self):
        rows, sides, known = [], ([], []), []
        for first, reported in self.months:
            month = first.strftime("%Y-%m")
            lines, filled = self.office.lines.get(month, (0, 0))
            known.append(share(filled, lines))
            for held_out in (False, True):
                orders, corrected = self.office.sides.get((month, held_out), (0, 0))
                sides[held_out].append(share(corrected, orders))
            mean = sum(day.mean_confidence * day.extraction_count for day in reported.confidence_by_day)
            rows.append((first.strftime("%b %Y"), f"{reported.extraction_count:,}",
                         percent(member(reported, "correction_rate")), percent(sides[0][-1]),
                         percent(sides[1][-1]), percent(share(mean, reported.extraction_count)),
                         percent(known[-1])))
        most = max(value or 0 for value in sides[0] + sides[1])
        return [
            "## Month by month", "",
            *table(["month", "orders", "corrected", "with examples", "held out", "model's confidence",
                    "lines known at once"], rows),
            f"with examples {bars(sides[0], most)}   held out {bars(sides[1], most)}   "
            f"lines known at once {bars(known, 1)}", "",
            *prose("The second to fourth column of figures are shares of orders that somebody corrected: of all, "
                   "of those with examples (the first orders of a form had none yet), and of those held out. A form "
                   "has its examples after a few corrections. What they do shows between these columns, rather "
                   "than from month to month: the model itself does not change, and what moves held-out orders is "
                   "chance, and which forms they came on. A customer that changes its form starts over with it; "
                   "mappings belong to the customer and stay.")]

    def helped(self):
        treatment, control = self.total.treatment, self.total.control
        uplift = member(self.total, "relative_improvement")
        if not self.company.holdout_percent:
            return ["## Did the examples help?", "",
                    *prose("This is unknown: no order was held out, so there is nothing to compare with. Try "
                           "`--holdout 20`.")]
        result = [
            "## Did the examples help?", "",
            *prose(f"Counted are orders whose form had three corrections already, "
                   f"{treatment.extraction_count + control.extraction_count:,} of {len(self.orders):,}. The first "
                   "orders of each form are not, nor forms that hardly ever needed a correction, so shares differ "
                   "from those over all orders."),
            *table(["", "orders", "right at once", "fields right"],
                   [(name, f"{arm.extraction_count:,}", percent(member(arm, "accuracy"), 1),
                     percent(member(arm, "field_accuracy"), 1))
                    for name, arm in (("with examples", treatment), ("held out", control))])]
        if uplift is None:
            return result + prose("There is nothing to compare with: of one side there are no orders, or none of "
                                  "those held out was right.")
        return result + points(*self.conclusions(uplift))

    def conclusions(self, uplift):
        treatment, control, p_value = self.total.treatment, self.total.control, self.total.p_value
        low, high = member(self.total, "improvement_low"), member(self.total, "improvement_high")
        yield (f"**{percent(abs(uplift), 1)} {'more' if uplift >= 0 else 'fewer'} orders were right at once with "
               f"examples than without.** The true effect lies between {signed(low, 1)} and {signed(high, 1)}, "
               "with 95% confidence.")
        yield (f"If examples did nothing at all, a difference as large as this would come about by chance "
               f"{odds(p_value)} (p = {p_value:.2g}).")
        if not is_clear(self.total):
            yield ("**So this run does not show that examples help**: chance may have made the difference. " +
                   (f"A gain of {percent(GOAL)} is unlikely: the interval ends below it."
                    if high is not None and high < GOAL else
                    "More orders, or a larger share held out, would show."))
            return
        if not self.total.target_reached:
            yield f"The goal of {percent(GOAL)} is not reached."
        elif low is not None and low >= GOAL:
            yield f"The goal of {percent(GOAL)} is reached; so is it by the lower end of the interval."
        else:
            yield (f"The goal of {percent(GOAL)} is reached by what was measured; the interval reaches below it, so "
                   "the true effect may be smaller.")
        gain = treatment.accuracy - control.accuracy
        if gain > 0:
            yield (f"In this run examples saved people about {gain * treatment.extraction_count:,.0f} orders to "
                   f"correct. Holding {self.company.holdout_percent}% of the orders out cost about "
                   f"{gain * control.extraction_count:,.0f}: the price of knowing.")

    def by_layout(self):
        """Prints the layouts with most orders; marks differences that may be chance."""
        def size(one):
            return one.comparison.treatment.extraction_count + one.comparison.control.extraction_count

        if not self.company.holdout_percent:
            return []
        if not self.layouts:
            return ["## Form by form", "", *prose("No form had three corrections, with an order after them.")]
        shown = sorted(self.layouts, key=lambda one: (-size(one), self.names[one.layout_fingerprint]))
        rows = [self.layout_row(one) for one in shown[:LAYOUTS_SHOWN]]
        verdicts = [self.says(one.comparison) for one in self.layouts]
        return [
            "## Form by form", "",
            *prose(f"{count(len(self.layouts), 'form has', 'forms have')} three corrections or more. A clear gain shows "
                   f"on {verdicts.count('helps')} of them, a clear loss on {verdicts.count('hurts')}; for "
                   f"{verdicts.count('unclear')} there are too few orders to decide, or nothing to gain. The "
                   f"{len(rows)} with most orders:"),
            *table(["form", "with examples", "right", "held out", "right", "uplift", "95% interval", "says"], rows),
            *prose("Each row is a comparison by itself; one in twenty looks clear only by chance. Take the rows as "
                   "hints, and the total above as the result.")]

    def layout_row(self, one):
        reported = one.comparison
        low, high = member(reported, "improvement_low"), member(reported, "improvement_high")
        return (self.names[one.layout_fingerprint],
                f"{reported.treatment.extraction_count:,}", percent(member(reported.treatment, "accuracy")),
                f"{reported.control.extraction_count:,}", percent(member(reported.control, "accuracy")),
                signed(member(reported, "relative_improvement")),
                "-" if low is None or high is None else f"{signed(low)} to {signed(high)}", self.says(reported))

    @staticmethod
    def says(comparison):
        if not is_clear(comparison):
            return "unclear"
        return "helps" if comparison.relative_improvement > 0 else "hurts"

    def unproven(self):
        wrong = sum(number for _, number in self.office.truth.values())
        truly = " and ".join(f"{percent(1 - number / orders, 1)} of those "
                             f"{'held out' if held_out else 'with examples'}"
                             for held_out, (orders, number) in sorted(self.office.truth.items()) if orders)
        return [
            "## What this does not prove", "",
            *points("**Not that your model gains as much.** The simulated model does what an example shows "
                    f"{percent(self.office.follows_share)} of the time, by assumption, and has six ways to err. How "
                    "well a real model follows examples is for an experiment with your own documents: set a "
                    "holdout, and read the same report. `--follows 0` shows what this one says of a model that "
                    "ignores them.",
                    "Right means that it was not corrected. People overlook errors; only the simulation knows that "
                    f"{wrong:,} orders had one, and that over all forms {truly} were truly right.",
                    "Orders came here as text, with the fingerprint of their form. A real pipeline has its PDFs "
                    "measured; scans, and forms that several customers share, have other results.",
                    "A larger share of right orders is not yet time or money: what a correction costs was not "
                    "measured."),
            "## Next step", "",
            *prose("Measure it with your own documents: `errata org settings --holdout 20`, record extractions with "
                   "the exposure references of their prompts, and read `errata analytics experiment` after some weeks.")]
