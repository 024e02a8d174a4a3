"""Tables in Markdown for people, and JSON for programs."""
import json
import statistics

COLUMNS = (("rate", "calls/s", 0), ("cpu_us", "server CPU us a call", 1), ("p50", "p50 us", 0),
           ("p99", "p99 us", 0), ("p999", "p99.9 us", 0), ("reply_bytes", "answer bytes", 0))


def spread(values, digits):
    """Formats the median, and the range."""
    values = [value for value in values if value is not None]
    if not values:
        return ""
    middle = f"{statistics.median(values):,.{digits}f}"
    low, high = f"{min(values):,.{digits}f}", f"{max(values):,.{digits}f}"
    return middle if low == high else f"{middle} ({low} to {high})"


def in_flight(row):
    return f"{row['connections']} x {row['in_flight']}" if row["in_flight"] else "open loop"


def print_loads(rows):
    rows = [row for row in rows if row["connections"]]
    if not rows:
        return
    print(f"\n| what | in flight | {' | '.join(title for _, title, _ in COLUMNS)} |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    for what, shape in dict.fromkeys((row["what"], in_flight(row)) for row in rows):
        same = [row for row in rows if (row["what"], in_flight(row)) == (what, shape)]
        figures = (spread([row.get(name) for row in same], digits) for name, _, digits in COLUMNS)
        print(f"| {what} | {shape} | {' | '.join(figures)} |")


def print_others(rows):
    """Figures without a load: lookups without a server, the disk, connections."""
    rows = [row for row in rows if not row["connections"]]
    if not rows:
        return
    names = {"ns": "ns", "p50": "p50 us", "p99": "p99 us", "rss_kb": "KB", "anon_kb": "KB of its own",
             "anon_mb": "MB of its own", "ms": "ms", "store_gb": "GB"}
    print("\n| what | figures |\n|---|---|")
    for what in dict.fromkeys(row["what"] for row in rows):
        same = [row for row in rows if row["what"] == what]
        figures = (f"{spread([row[name] for row in same], 1)} {unit}"
                   for name, unit in names.items() if name in same[0])
        print(f"| {what} | {', '.join(figures)} |")


def number(value, unit):
    text = f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{text} {unit}" if unit and unit not in ("x", "/s") else f"{text}{unit}"


def print_goals(judged):
    if not judged:
        return
    print("\n| goal | at most | reached | rounds | |\n|---|---|---|---|---|")
    for found in judged:
        unit = found["unit"]
        limit = ("" if found["most"] is None else number(found["most"], unit))
        if found["least"] is not None:
            limit = "at least " + number(found["least"], unit)
        met = {None: "measured", True: "met", False: "MISSED"}[found["met"]]
        print(f"| {found['goal']} | {limit} | {number(found['value'], unit)} "
              f"| {number(found['from'], unit)} to {number(found['to'], unit)} | {met} |")
    missed = [found["goal"] for found in judged if found["met"] is False]
    met = sum(found["met"] is True for found in judged)
    print(f"\n{met} goals met, {len(missed)} missed" + "".join(f"\n  {goal}" for goal in missed))


def write_json(path, facts, options, rows, judged, problems):
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"schema": "errata-peers/1", "machine": facts, "options": options, "rows": rows,
                   "goals": judged, "problems": problems}, f, indent=1)
