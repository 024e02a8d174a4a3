#!/usr/bin/python3
"""tidy_symbols: what the compiled objects call, and what they keep, read by `nm`.

The domain knows no socket, no protobuf-c, no LMDB, no libuv, no clock, no malloc; each part is called
by the modules that wrap it; memory comes from arenas but where an owner is named; and mutable data
is inside functions, except the names in the list below.
"""
import glob
import os
import re
import subprocess

import layers
import sources

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
PURE = ("codec", *(name for folder, name in layers.read_table(ROOT).folders.items()
                   if name and f"{folder}/".startswith("server/domain/")))
# All of the server but the worker program.
SERVER = PURE + ("base", "store", "store_backup", "store_lmdb", "store_memory", "net", "http2", "call", "grpc",
                 "auth", "pipeline", "api", "jobs", "pdf_answer", "pdf_jobs", "tls", "tls_stream", "app")
CLOCK = r"clock_gettime|time|gettimeofday|nanosleep|uv_hrtime|uv_now"
MEMORY = r"malloc|calloc|realloc|free|strdup|strndup|posix_memalign|aligned_alloc"
SYSTEM = r"socket|connect|bind|listen|accept4?|send|recv|open(at)?(64)?|read|p?write(64)?|fopen(64)?"
PARTS = r"uv_\w+|nghttp2_\w+|mdb_\w+|protobuf_c_\w+|deflate\w*|inflate\w*"

# Modules -> what none of their objects may call, and what to do instead.
RULES = [
    (PURE, rf"{CLOCK}|getrandom|getentropy", "ctx->clock and ctx->random"),
    (PURE, MEMORY, "an arena that the caller passes"),
    (PURE, rf"{SYSTEM}|{PARTS}", "a plain function of (ctx, txn, values); the module that wraps the "
     "part calls it"),
    (("store", "pipeline", "api", "call", "grpc", "http2", "auth", "net", "tls", "tls_stream"),
     rf"{CLOCK}|getrandom|getentropy", "the clock and the randomness that are passed in"),
    (("store", "pipeline", "api", "auth", "call", "grpc", "http2", "base", "tls", "tls_stream"), r"uv_\w+",
     "a callback or queue that net, jobs or app drives"),
    (("pipeline", "api", "auth", "call", "grpc", "net", "jobs"), r"nghttp2_\w+", "server/http2"),
    (("pipeline", "api", "auth", "call", "grpc", "net", "jobs", "store", "http2"),
     r"mdb_\w+", "store/backend.h"),
    (("pipeline", "api", "auth", "call", "grpc", "net", "jobs", "app", "http2", "client"),
     r"(SSL|BIO|X509)_\w+", "server/tls/stream"),
    (("pipeline", "api",), MEMORY, "the call's arena"),
    (SERVER, r"(poppler|cairo|Fc|g|seccomp)_\w+", "the worker program: hostile bytes are parsed there"),
]

# Calls that a rule would refuse, with the reason that lets them be.
ALLOWED_CALLS = {
    # A condition variable is waited on by the kernel's own clock.
    ("store/writer.c", "clock_gettime"),
}

# Mutable data outside functions, by module: the log's level, format and file, who decides what fails, what counts unexpected conditions, and texts that could not
# be made safe (domain code meets them in any thread), the state of one thread's randomness; what a
# program keeps for its signal handlers; and the tap of cairo's functions in the worker program.
BASE = r"level_wanted|format_wanted|file_wanted|driver|counter|machine|kernel|stock"
MUTABLE = {
    "base": BASE,
    "library_inside": BASE,  # base, in liberrata
    "domain_text": r"counter",
    # One per thread: a signal handler has no parameter to pass it.
    "store_lmdb": r"lmdb_inside",
    "app": r".*",
    "cli": r".*",
    "harness": r"stop",
    # Replacements of cairo's functions get no user data; a process measures one document.
    "pdf_measure": r"active|skipped_pattern|kept|to_latin1",
}


def module_of(build, path):
    """build/CMakeFiles/NAME.dir/server/... -> NAME"""
    match = re.search(r"CMakeFiles/([\w-]+)\.dir/", path)
    return match.group(1) if match else ""


def is_checked(module):
    return not (module.endswith(("_tests", "_bench")) or module.startswith(("test", "fuzz", "bench")))


def objects(build):
    found = {}
    for path in glob.glob(os.path.join(build, "CMakeFiles", "*.dir", "**", "*.o"), recursive=True):
        if "/gen/" not in path:
            found.setdefault(module_of(build, path), []).append(path)
    return found


# Names that compilers and sanitizers add.
ADDED = re.compile(r"__asan|__ubsan|__tsan|__odr_asan|\.L|_GLOBAL_|__gcov")


def nm(paths):
    """Returns the symbols of each object, as (kind, name)."""
    found = {path: [] for path in paths}
    out = subprocess.run(["nm", "-A", *paths], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        path, _, rest = line.rpartition(":")
        kind, name = rest.split()[-2:]
        if len(kind) == 1 and not ADDED.match(name):
            found[path].append((kind, name))
    return found


def source_of(path):
    return re.sub(r".*\.dir/", "", path)[:-2]


def check_calls(modules, findings):
    for names, pattern, instead in RULES:
        for name in names:
            for path, symbols in modules.get(name, {}).items():
                called = sorted({s for kind, s in symbols
                                 if kind == "U" and re.fullmatch(pattern, s)
                                 and (source_of(path), s) not in ALLOWED_CALLS})
                if called:
                    findings.add(source_of(path), 1, f"module {name} calls {', '.join(called)}",
                                 instead)


def check_data(modules, findings):
    for module, objects_of_module in modules.items():
        allowed = MUTABLE.get(module, r"(?!)")
        for path, symbols in objects_of_module.items():
            for kind, name in symbols:
                plain = re.sub(r"\.\d+$", "", name)
                if kind in "dDbBcC" and not re.fullmatch(allowed, plain):
                    if constant_table(path, name):
                        continue
                    findings.add(source_of(path), 1, f"'{plain}' is mutable and outside functions",
                                 "make it const, or a member of what is passed as a parameter")


def constant_table(path, name):
    """Returns a const table of pointers: in position-independent objects it is in .data.rel.ro."""
    out = subprocess.run(["objdump", "-t", path], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        if line.endswith(" " + name):
            return ".data.rel.ro" in line or "asan" in line.lower()
    return False


def check(root, build, findings):
    modules = {name: nm(paths) for name, paths in objects(build).items() if is_checked(name)}
    built = [name for name in PURE if name in modules]
    if not built:
        findings.add(build, 1, "no object of the domain was found", "build before running this")
        return
    check_calls(modules, findings)
    check_data(modules, findings)


if __name__ == "__main__":
    sources.main("tidy_symbols", check)
