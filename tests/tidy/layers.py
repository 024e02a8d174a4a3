#!/usr/bin/python3
"""tidy_layers: every include points down, by the one table of who may see whom.

The base lies under everything. On it stand the protocol tower (net, http2, codec, grpc) and the data
tower (store, domain), which never include each other; the pipeline and the api join them; only the app knows
everything. The parts (libuv, nghttp2, LMDB, ...) are each seen by the modules that wrap them.
"""
import os
import re

import sources

# Folder -> the folders whose headers it may include, besides its own. The longest folder wins.
STORE = ["store", "store/base"]
WIRE = ["server/codec", "server/http2", "server/grpc", "store/base"]
LAYERS = {
    "store/base": [],
    "store": ["store/base"],
    "store/lmdb": STORE,
    "store/memory": STORE,
    "server/domain/text": ["store/base"],
    "server/domain/fingerprint": ["store/base"],
    # The shared kernel: what several capabilities stand on.
    "server/domain/json": STORE,
    "server/domain/events": ["server/domain/json", *STORE],
    "server/domain/counters": STORE,
    "server/domain/experiment": ["server/domain/counters", "server/domain/settings", *STORE],
    # The capabilities.
    "server/domain/settings": ["server/domain/events", *STORE],
    "server/domain/layouts": ["server/domain/events", "server/domain/fingerprint", *STORE],
    "server/domain/admin": ["server/domain/events", *STORE],
    "server/domain/exposures": ["server/domain/events", *STORE],
    "server/domain/extractions/rows": ["server/domain/experiment", *STORE],
    "server/domain/corrections": ["server/domain/text", "server/domain/json",
                                  "server/domain/events", "server/domain/experiment",
                                  "server/domain/layouts", "server/domain/counters",
                                  "server/domain/exposures", "server/domain/extractions/rows",
                                  *STORE],
    "server/domain/mappings": ["server/domain/text", "server/domain/events",
                               "server/domain/corrections", "server/domain/counters",
                               "server/domain/exposures", *STORE],
    "server/domain/extractions": ["server/domain/events", "server/domain/experiment",
                                  "server/domain/corrections", "server/domain/mappings",
                                  "server/domain/exposures", "server/domain/layouts",
                                  "server/domain/extractions/rows", *STORE],
    "server/domain/prompts": ["server/domain/text", "server/domain/events",
                              "server/domain/corrections", "server/domain/exposures",
                              "server/domain/layouts", *STORE],
    "server/domain/analytics": ["server/domain/counters", "server/domain/experiment",
                                "server/domain/settings", "server/domain/layouts", *STORE],
    "server/domain": ["server/domain/admin", "server/domain/corrections", "server/domain/layouts",
                      "server/domain/mappings", "server/domain/extractions",
                      "server/domain/prompts", "server/domain/settings",
                      "server/domain/exposures", *STORE],
    "server/domain/replay": ["server/domain", *STORE],
    "server/net": ["store/base"],
    "server/http2": ["server/net", "store/base"],
    "server/codec": ["store/base"],
    "server/grpc": ["server/codec", "server/http2", "server/net", "store/base"],
    "server/jobs": ["store/base"],
    "server/jobs/pdf/answer": ["store/base"],
    "server/jobs/pdf": ["server/jobs", "server/jobs/pdf/answer", "store/base"],
    # The worker program: Poppler is here and nowhere else.
    "server/jobs/pdf/measure": ["server/jobs/pdf/answer", "store/base"],
    "server/jobs/pdf/worker/cage": ["server/jobs/pdf", "store/base"],
    "server/jobs/pdf/worker": ["server/jobs/pdf", "server/jobs/pdf/answer",
                               "server/jobs/pdf/measure", "server/jobs/pdf/worker/cage",
                               "store/base"],
    "server/auth": ["server/domain/admin", *STORE],
    "server/pipeline": ["server/auth", "server/codec", "server/grpc", "server/domain/text",
                        "server/domain/fingerprint",
                        "server/domain/layouts", "server/domain/admin",
                        "server/domain/events", "server/domain/replay",
                        "server/domain/exposures", "server/jobs/pdf/answer", *STORE],
    "server/api": ["server/pipeline", "server/auth", "server/codec", "server/grpc",
                   "server/domain/text", "server/domain/fingerprint", "server/domain/layouts",
                   "server/domain/json", "server/domain/events",
                   "server/domain/admin", "server/domain/corrections", "server/domain/replay",
                   "server/domain/mappings", "server/domain/extractions",
                   "server/domain/prompts", "server/domain/analytics",
                   "server/domain/settings", "server/domain/exposures",
                   "server/jobs/pdf/answer", *STORE],
    "server/app": ["server/net", "server/http2", "server/codec", "server/grpc", "server/jobs",
                   "server/jobs/pdf", "server/jobs/pdf/answer", "server/auth", "server/pipeline", "server/domain/text", "server/domain/layouts",
                   "server/domain/admin", "server/domain/replay",
                   "store/lmdb", "store/memory", *STORE],
    "client": WIRE,
    # What users of the library see: they include nothing but each other.
    "client/include": [],
    "client/library": ["client", "client/include", *WIRE],
    "client/typed": ["client/library", "client/include", "client", *WIRE],
    "client/captures": ["client/library", "client/include", "client", *WIRE],
    "client/examples": ["client/include"],
    "tools/bench/preload": ["server/auth", "server/domain/admin", "server/domain/corrections",
                            "server/domain/mappings", "server/domain/extractions",
                            "server/domain/exposures", "server/domain/settings",
                            "server/domain/text", "store/lmdb", "store/memory", *STORE],
    "tools/bench/load": ["server/codec", "store/base"],
    "tools/bench": ["tools/bench/load", "tools/bench/preload", "tools/errata/terminal", "client",
                    *WIRE],
    "tools/errata/terminal": ["store/base"],
    "tools/errata/config": ["store/base"],
    "tools/errata/help": ["tools/errata/terminal", "store/base"],
    "tools/errata": ["tools/errata/terminal", "tools/errata/config", "tools/errata/help", "client",
                     "server/jobs/pdf", "server/jobs/pdf/answer", "server/domain/fingerprint",
                     *WIRE],
    "tests": None,  # may see everything
}

# Header of a part -> the folders that may include it (tests may include all).
PARTS = {
    r"uv\.h|uv/.*": ["server/net", "server/jobs", "server/jobs/pdf", "server/app", "client",
                       "client/library", "client/captures", "client/examples", "tools/errata"],
    r"nghttp2/.*": ["server/http2", "client", "tools/bench/load"],
    r"lmdb\.h": ["store/lmdb"],
    r"openssl/.*": ["store/base", "server/net", "server/auth", "client"],
    r"zlib\.h": ["server/grpc", "client"],
    r"utf8proc\.h": ["server/domain/text", "tools/errata/terminal"],
    r"protobuf-c/.*|.*\.pb-c\.h": ["server/pipeline", "server/api", "client", "client/typed",
                                     "client/captures", "client/examples", "tools/errata",
                                     "tools/bench/load"],
    r"pb\.h|pb_(encode|decode|common)\.h|.*\.pb\.h": ["store", "server/jobs/pdf/answer"],
    r"poppler.*|cairo.*|glib.*|fontconfig/.*": ["server/jobs/pdf/measure"],
    r"seccomp\.h|linux/(landlock|seccomp|filter)\.h": ["server/jobs/pdf/worker/cage"],
    r"sys/socket\.h|netinet/.*|arpa/.*|netdb\.h": ["server/net", "client", "server/app", "server/jobs/pdf",
                                                         "tools/bench/load",
                                                         "server/jobs/pdf/worker"],
}


def folder_of(path):
    """The longest folder of the table that a path stands in."""
    best = ""
    for folder in LAYERS:
        if path.startswith(folder + "/") and len(folder) > len(best):
            best = folder
    return best


def check_part(path, folder, number, header, findings):
    for pattern, allowed in PARTS.items():
        if re.fullmatch(pattern, header) and folder not in allowed:
            findings.add(path, number, f"{folder}/ includes <{header}>",
                         f"call the module that wraps it ({', '.join(allowed)}), or move the code "
                         "there")


def check_file(root, path, text, findings):
    folder = folder_of(path)
    if not folder:
        findings.add(path, 1, "this folder stands in no layer",
                     "name it in LAYERS of tests/tidy/layers.py, with what it may include")
        return
    allowed = LAYERS[folder]
    if allowed is None:
        return
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', line)
        if not match:
            continue
        header = match.group(1) or match.group(2)
        beside = os.path.join(os.path.dirname(path), header)
        if match.group(1) and os.path.exists(os.path.join(root, beside)):
            header = os.path.normpath(beside)
        target = folder_of(header)
        if target and target != folder and target not in allowed:
            findings.add(path, number, f"{folder}/ includes {header}: that edge points up or across",
                         f"{folder}/ may include {', '.join(allowed) or 'nothing but itself'}; "
                         "pass what is needed as a parameter, or move it down")
        check_part(path, folder, number, header, findings)


def check(root, build, findings):
    for path in sources.c_files(root):
        if path != "tools/cmake/empty.c":
            check_file(root, path, sources.read(root, path), findings)


if __name__ == "__main__":
    sources.main("tidy_layers", check)
