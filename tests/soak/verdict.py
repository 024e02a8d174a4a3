"""Verdicts on the samples and minutes of a soak: flat or growing, by the goals. Pure functions of numbers.

A sample is a dict of numbers at a time `at` (seconds since the start of the load); a minute contains the results of the
load. Memory is RssAnon: pages of the store's map count as RssFile, which depends on the machine. If the machine stalls
for a second, calls queue up, and the process keeps the memory allocated for them; therefore the memory in use at the
quietest moment is judged too: a leak appears in both.
"""
import statistics

GROWTH_MAX = 0.05  # limit of the growth of memory, of the file (after subtracting its expected growth), and of descriptors
DESCRIPTORS_SLACK = 8  # tolerance for varying connections
READER_AGE_MAX_S = 5.0  # a read takes milliseconds; on a machine that is busy with other things a second
REFUSED_MAX = 0.001  # limit of calls refused for lack of resources, as a share of all calls: a busy machine's moment
ANSWERED_MIN = 0.9
REFUSALS = {"RESOURCE_EXHAUSTED", "UNAVAILABLE"}


def steady(samples, warm_up_s):
    """The samples after the warm-up."""
    return [s for s in samples if s["at"] >= warm_up_s]


def ends(values):
    """Medians of the first and the last fifth."""
    fifth = max(len(values) // 5, 1)
    return statistics.median(values[:fifth]), statistics.median(values[-fifth:])


def line_through(points):
    """Slope and height at 0 of the least squares' line."""
    mean_x = statistics.fmean(x for x, _ in points)
    mean_y = statistics.fmean(y for _, y in points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0
    return slope, mean_y - slope * mean_x


def thirds(values):
    third = max(len(values) // 3, 2)
    return values[:third], values[-third:]


def growth(name, samples, key, unit, slack=0):
    """Judges a number that must not grow: (passed, sentence)."""
    first, last = ends([s[key] for s in samples])
    share = (last - first) / first if first else 0.0
    passed = last - first <= max(first * GROWTH_MAX, slack)
    return passed, f"{name}: {first:,.0f} {unit} at first, {last:,.0f} at last ({share:+.1%})"


def least_growth(name, samples, key, unit):
    """The same for what comes and goes with the calls under way: the least of each fifth."""
    fifth = max(len(samples) // 5, 1)
    first = min(s[key] for s in samples[:fifth])
    last = min(s[key] for s in samples[-fifth:])
    share = (last - first) / first if first else 0.0
    return share <= GROWTH_MAX, (
        f"{name}: at least {first:,.0f} {unit} at first, {last:,.0f} at last ({share:+.1%})")


def file_growth(samples):
    """The file, without what the events took: a line through the first third reports what they take."""
    early, late = thirds(samples)
    per_event, base = line_through([(s["events"], s["map_used_bytes"]) for s in early])
    later, _ = line_through([(s["events"], s["map_used_bytes"]) for s in late])
    over = statistics.median(s["map_used_bytes"] - (base + per_event * s["events"]) for s in late)
    size = samples[-1]["map_used_bytes"]
    return over <= size * GROWTH_MAX, (
        f"file: {size / 2**20:,.0f} MiB; {per_event:,.0f} bytes an event in the first third, {later:,.0f} in "
        f"the last; {over / size:+.1%} beyond what the events explain")


def reader_ages(samples):
    """Returns the age of the oldest snapshot at each sample, estimated from the rate of commits."""
    for before, now in zip(samples, samples[1:]):
        commits_a_second = (now["commits"] - before["commits"]) / max(now["at"] - before["at"], 0.001)
        yield now["reader_lag_commits"] / max(commits_a_second, 1.0)


def reader_lag(samples):
    oldest = max(reader_ages(samples), default=0.0)
    most = max(s["reader_lag_commits"] for s in samples)
    return oldest <= READER_AGE_MAX_S, (
        f"readers: the oldest snapshot was {oldest:.2f} s old, {most:,} commits old; "
        f"{samples[-1]['readers']} slots")


def answers(minutes):
    """Every answer of the load was right, but for refusals of a busy moment."""
    answered = sum(m["answered"] for m in minutes)
    wrong = {}
    for minute in minutes:
        for code, count in minute["wrong"].items():
            wrong[code] = wrong.get(code, 0) + count
    refused = sum(count for code, count in wrong.items() if code in REFUSALS)
    passed = answered > 0 and set(wrong) <= REFUSALS and refused <= answered * REFUSED_MAX
    reported = ", ".join(f"{count:,} {code}" for code, count in sorted(wrong.items())) or "none wrong"
    return passed, f"answers: {answered:,}, {reported}"


def delivery(minutes):
    """A run without load proves nothing."""
    due = sum(m["due"] for m in minutes)
    answered = sum(m["answered"] for m in minutes)
    return due > 0 and answered >= due * ANSWERED_MIN, (
        f"load: {answered:,} of {due:,.0f} calls that were due were answered")


def company(tallies):
    """Results of the misbehaving clients: (actor, code) -> [count, expected]."""
    odd = [f"{actor} got {code} {count} times" for (actor, code), (count, expected) in
           sorted(tallies.items()) if not expected]
    total = sum(count for count, _ in tallies.values())
    return total > 0 and not odd, f"company: {total:,} doings" + (": " + "; ".join(odd) if odd else "")


def judge(samples, minutes, tallies, end, warm_up_s):
    """[(passed, sentence)]. `end`: the problems of the server's exit; empty if there were none."""
    kept = steady(samples, warm_up_s)
    if len(kept) < 6:
        return [(False, f"only {len(kept)} samples after the warm-up: run for longer")]
    verdicts = [
        growth("memory of erratad (RssAnon)", kept, "rss_anon_kb", "KB"),
        least_growth("memory in use (the heap's)", kept, "heap_kb", "KB"),
        growth("memory of the PDF worker's fork server", kept, "pdf_rss_anon_kb", "KB"),
        file_growth(kept),
        reader_lag(kept),
        growth("descriptors", kept, "descriptors", "open", DESCRIPTORS_SLACK),
        growth("threads", kept, "threads", "running"),
        answers(minutes),
        delivery(minutes),
        company(tallies),
    ]
    verdicts.append((not end, "end: " + ("; ".join(end) if end else "by itself, with 0, without a word")))
    return verdicts
