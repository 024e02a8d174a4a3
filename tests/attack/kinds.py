"""Expected responses of the server to each kind of attack, for the short test of all kinds and for tools/floods. A kind
that violates HTTP/2 gets the specified error; a flood gets ENHANCE_YOUR_CALM with the exceeded limit; valid requests
are served unless they harm others.
"""
import collections

NO_ERROR = 0
ENHANCE_YOUR_CALM = 11
STREAM_CLOSED = 5
FRAME_SIZE_ERROR = 6
COMPRESSION_ERROR = 9

# reported: pairs of GOAWAY code and text (None: any), of which each farewell is one; empty: served.
# closed: sent away without a farewell. rss_mb: what the server may have more than before, at most.
# arguments: of the attacker.
Kind = collections.namedtuple("Kind", "name reported closed rss_mb token arguments")


def calm(*texts):
    return [(ENHANCE_YOUR_CALM, text) for text in texts]


def reported(name, *farewells, rss_mb=32, token=False, arguments=()):
    return Kind(name, list(farewells), False, rss_mb, token, list(arguments))


def served(name, *farewells, rss_mb=32, token=True, arguments=()):
    """Continues, or gets GOAWAY if it provokes too much."""
    return Kind(name, list(farewells), None, rss_mb, token, list(arguments))


def closed(name, rss_mb=32, arguments=()):
    return Kind(name, [], True, rss_mb, False, list(arguments))


PROVOKED = calm("too_many_resets_provoked")

# Those that are ended as soon as they begin.
REPORTED = [
    reported("rapid-reset", *calm("too_many_resets")),
    reported("reset-captures", *calm("too_many_resets"), rss_mb=128, token=True),
    reported("provoked-overflow", *PROVOKED),
    reported("provoked-half-closed", (STREAM_CLOSED, None), *PROVOKED),
    reported("provoked-length", *PROVOKED),
    reported("provoked-fields", *PROVOKED),
    reported("empty-names", *PROVOKED),
    reported("continuation", *calm("too_many_continuations")),
    reported("continuation-empty", *calm("too_many_continuations")),
    reported("settings", *calm("too_many_settings", "too_many_acknowledgements")),
    reported("settings-entries", (ENHANCE_YOUR_CALM, "SETTINGS: too many setting entries")),
    reported("settings-windows", *calm("too_many_settings", "too_many_acknowledgements")),
    reported("table-sizes", *calm("too_many_settings", "too_many_acknowledgements")),
    reported("ping", *calm("too_many_pings")),
    reported("ping-acks", *calm("too_many_pings")),
    reported("empty-data", *calm("too_many_small_data_frames")),
    reported("padded-data", *calm("too_many_small_data_frames")),
    reported("tiny-data", *calm("too_many_small_data_frames")),
    reported("priority", *calm("too_many_priority_frames")),
    reported("reprioritise", *calm("too_many_priority_frames")),
    reported("unknown", *calm("too_many_unknown_frames")),
    reported("window-updates", *calm("too_many_window_updates")),
    reported("closed-headers", (STREAM_CLOSED, None), *calm("too_many_trailers")),
    reported("closed-data", (STREAM_CLOSED, None), *calm("too_many_small_data_frames")),
    reported("closed-resets", *calm("too_many_resets")),
    reported("garbage", (None, None)),
    reported("oversized", (FRAME_SIZE_ERROR, None)),
    reported("header-bomb", *calm("header_list_too_large")),
    reported("many-fields", *calm("header_list_too_large")),
    reported("huge-field", (COMPRESSION_ERROR, None)),
    reported("table-updates", *PROVOKED, (COMPRESSION_ERROR, None)),
    closed("http1"),
    closed("tls"),
]

# Kinds that obey the rules, or nearly: their cost is bounded.
SERVED = [
    served("early-answers", *PROVOKED, token=False),
    served("provoked-priority", *PROVOKED, token=False),
    served("pump", (STREAM_CLOSED, None), token=False),
    served("gzip-bomb", *PROVOKED, rss_mb=64),
    served("gzip-bomb-above", *PROVOKED, rss_mb=192),
    served("gzip-upload", *PROVOKED, rss_mb=64),
    served("gzip-inflate", *PROVOKED, rss_mb=256),
    served("gzip-hang-up", *PROVOKED, rss_mb=256),
    served("deep-message"),
    served("wide-message", *PROVOKED, rss_mb=320),
    served("unknown-fields", *PROVOKED, rss_mb=320),
    served("json-deep", *PROVOKED, rss_mb=96),
    served("json-wide", *PROVOKED, rss_mb=320),
    served("wrong-tokens", token=False),
    served("calls", token=False),
    served("lists", *PROVOKED, rss_mb=128),
    served("churn", token=False),
    served("churn-calls", token=False),
    served("held-streams", rss_mb=256),
    served("held-reflections", rss_mb=256),
    served("stalled-bodies", rss_mb=256),
    served("stalled-uploads", rss_mb=256),
    served("never-reading", rss_mb=400),
    served("window-zero", rss_mb=400),
    served("window-dribble", *calm("too_many_window_updates"), rss_mb=400),
    served("watch-storm", rss_mb=512),
    served("watch-deaf", rss_mb=512),
]

# Those that have some seconds, by the deadlines of the transport.
PATIENT = ["--seconds", "13"]
SLOW = [
    closed("silent", arguments=PATIENT),
    closed("slow-preface", arguments=PATIENT),
    reported("slow-headers", *calm("header_block_too_slow"), arguments=PATIENT),
    reported("slow-block", *calm("header_block_too_slow"), arguments=PATIENT),
]

# Connections that do nothing: 16 KiB each. Four addresses, since one has a quarter. If there is no
# room for all, those that have been idle longest are asked to leave.
IDLE = [served("idle", (NO_ERROR, ""), rss_mb=160, token=False, arguments=["--addresses", "4"])]

# Half a minute or more: only for tools/floods.
LONG = [
    reported("slow-frames", *calm("frame_too_slow"), arguments=["--seconds", "35"]),
    served("slow-bodies", *calm("frame_too_slow")),
]

ALL = REPORTED + SERVED + SLOW + IDLE + LONG


def problems(kind, report, enough=1):
    """Returns the deviations of the server's responses, as texts."""
    found = []
    farewells = [(at["code"], at["text"]) for at in report["farewells"]]
    for code, text in farewells:
        if not any(code == wanted and text_wanted in (None, text)
                   for wanted, text_wanted in [(code if c is None else c, t) for c, t in kind.reported]):
            found.append(f"got GOAWAY {code} {text!r}")
    if kind.closed is False and sum(at["count"] for at in report["farewells"]) < enough:
        found.append("got no GOAWAY")
    if kind.closed is True and report["closed"] < enough:
        found.append("was not closed")
    return found
