"""A soak in one SVG file: memory, file, readers and p99 over the time, with nothing else needed."""
import html

WIDTH, HEIGHT, LEFT, GAP = 900, 150, 70, 46


def panel(title, points, top, end_at):
    """Draws a line over time, from 0 to its maximum."""
    most = max((y for _, y in points), default=0) or 1
    path = " ".join(f"{LEFT + x / end_at * (WIDTH - LEFT - 10):.1f},"
                    f"{top + HEIGHT - y / most * HEIGHT:.1f}" for x, y in points)
    return (f'<text x="{LEFT}" y="{top - 8}" font-weight="bold">{html.escape(title)}</text>'
            f'<text x="{LEFT - 6}" y="{top + 10}" text-anchor="end">{most:,.4g}</text>'
            f'<text x="{LEFT - 6}" y="{top + HEIGHT}" text-anchor="end">0</text>'
            f'<rect x="{LEFT}" y="{top}" width="{WIDTH - LEFT - 10}" height="{HEIGHT}" fill="none" '
            f'stroke="#ccc"/><polyline points="{path}" fill="none" stroke="#246" stroke-width="1.5"/>')


def draw(samples, minutes):
    """Returns the text of the file."""
    end_at = max([s["at"] for s in samples] + [m["at"] for m in minutes] + [1])
    panels = [
        ("memory of erratad (RssAnon, MB)", [(s["at"], s["rss_anon_kb"] / 1024) for s in samples]),
        ("file in use (MiB)", [(s["at"], s["map_used_bytes"] / 2**20) for s in samples]),
        ("events stored (thousands)", [(s["at"], s["events"] / 1000) for s in samples]),
        ("commits since the oldest snapshot", [(s["at"], s["reader_lag_commits"]) for s in samples]),
        ("p99 of all calls (ms)", [(m["at"], (m["p99_us"].get("all") or 0) / 1000) for m in minutes]),
    ]
    body = "".join(panel(title, points, 30 + i * (HEIGHT + GAP), end_at)
                   for i, (title, points) in enumerate(panels))
    height = 30 + len(panels) * (HEIGHT + GAP)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>'
            f"{body}</svg>\n")
