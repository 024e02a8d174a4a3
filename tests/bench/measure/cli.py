"""tools/bench-peers [PART...]: measures Errata beside programs that do the same work, in one run.

It installs what it needs (gRPC for C++, nghttpd), builds Errata in release and the programs beside it,
loads stores, measures all sides in turns, and prints what was reached of what was set out. Parts, all
by default:
  lookup       server CPU of GetExamples, 1,000 in flight, cold layouts and hot ones; beside the floor
               program and C++ gRPC
  single       GetExamples with 1, 10 and 100 in flight; beside nghttpd, the floor and C++ gRPC
  store        the lookup without a server; beside raw LMDB
  memory       memory of the server's own with 1,000 calls in flight
  connections  memory of an idle connection
  capture      durable CaptureFeedbackEvent, 1, 10 and 100 in flight; beside one fdatasync
  mixed        lookups at 2,000/s, idle and while 100 captures are in flight
  retractions  lookups at 2,000/s, idle and while a page of 50 corrections is retracted each second
  backtests    SubmitVerdict, 100 in flight; lookups at 2,000/s, idle and while rules are backtested
  analytics    GetLearningAnalytics of 90 days, on a year of ten million events; start until ready
  match        MatchLines of 200 lines, mapped ones and such that need candidates, a million mappings
  growth       lookups and captures on a store of ten million events, beside one of a million
  pdf          what a document costs: CPU, documents/s, memory
  lookup-under-pdf
               lookups at 2,000/s, idle, while the PDF queue is full, and with captures too

tests/bench/README.md states how it measures and how to read it. Root gets the real-time class, and with
it latencies that mean something. Stores take 10 GB, that of `analytics` and `match` 28 GB, and those of
`growth` as much; they go at the end.
"""
import argparse
import os
import re
import subprocess
import sys
import traceback

from . import goals, machine, report
from .backtested import Backtested
from .learned import Learned
from .load import Load
from .parts import Parts
from .retracted import Retracted
from .servers import Servers
from .stores import LEAST_EVENTS, Stores

PARTS = ("lookup", "single", "store", "memory", "connections", "capture", "mixed", "retractions", "backtests",
         "pdf", "lookup-under-pdf", "analytics", "match", "growth")  # parts in the order of execution
DOCUMENTS = ("pdf", "lookup-under-pdf")
LEARNED = ("analytics", "match")
SINGLE_PARTS = ("pdf", "growth", *LEARNED)  # parts with separate stores and servers
BUILD = os.path.join(machine.ROOT, "build", "release")
TARGETS = ("erratad", "errata", "errata-bench", "errata-pdf-worker", "python_stubs", "bench")
QUICK_SCALE, QUICK_SECONDS, QUICK_GROWN = 0.1, 1, 1_500_000


def count(text):
    """A number such as 5000, 300k or 10m."""
    match = re.fullmatch(r"([0-9]+)([kKmM]?)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number such as 5000, 300k or 10m")
    return int(match[1]) * {"": 1, "k": 1000, "m": 1_000_000}[match[2].lower()]


def read_options():
    parser = argparse.ArgumentParser(
        prog="tools/bench-peers", description=__doc__.split(": ", 1)[1],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured: 5")
    parser.add_argument("--seconds", type=float, default=8,
                        help="length of what goes by time: 8")
    parser.add_argument("--events", type=count, default=1_000_000,
                        help="events stored beforehand, of 1.2 KB: 1m")
    parser.add_argument("--grown", type=count, default=10_000_000,
                        help="events of the large stores of `growth`, `analytics` and `match`, of "
                             "300 bytes: 10m")
    parser.add_argument("--quick", action="store_true",
                        help="a look in a few minutes: one round, a tenth of everything")
    parser.add_argument("--no-peers", action="store_true",
                        help="without gRPC for C++, which then is not installed")
    parser.add_argument("--json", metavar="FILE", help="the rows and goals for programs")
    parser.add_argument("--folder", default=os.path.join(machine.ROOT, "build", "bench"),
                        help="where stores are made: build/bench")
    parser.add_argument("--keep", action="store_true", help="leave the stores for the next run")
    parser.add_argument("--fresh", action="store_true", help="recreate the stores")
    parser.add_argument("--no-build", action="store_true", help="measure what is built already")
    parser.add_argument("--bin", default=os.path.join(BUILD, "bin"),
                        help="where the programs are, for --no-build: build/release/bin")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"{', '.join(sorted(unknown))} is not measured here; known are "
                     f"{', '.join(PARTS)}")
    options.parts = [part for part in PARTS if part in (options.parts or PARTS)]
    options.peers = not options.no_peers
    options.scale = 1.0
    if options.quick:
        options.rounds, options.seconds, options.scale = 1, QUICK_SECONDS, QUICK_SCALE
        options.events, options.grown = LEAST_EVENTS, QUICK_GROWN
    if min(options.events, options.grown // 10) < LEAST_EVENTS:
        parser.error(f"--events is at least {LEAST_EVENTS:,}, and --grown ten times that: three for "
                     "each layout, since an answer has three examples")
    return options


def run(*command):
    subprocess.run(command, cwd=machine.ROOT, check=True)


def build_grpc(folder):
    """The peer in C++, which no other build needs."""
    floor = os.path.join(machine.ROOT, "tests", "bench", "floor")
    generated = os.path.join(folder, "anchor.pb.cc"), os.path.join(folder, "anchor.grpc.pb.cc")
    os.makedirs(folder, exist_ok=True)
    plugin = subprocess.run(["sh", "-c", "command -v grpc_cpp_plugin"], check=True, text=True,
                            capture_output=True).stdout.strip()
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "grpc++", "protobuf"], check=True,
                           capture_output=True, text=True).stdout.split()
    run("protoc", f"-I{floor}", f"--cpp_out={folder}", f"--grpc_out={folder}",
        f"--plugin=protoc-gen-grpc={plugin}", os.path.join(floor, "anchor.proto"))
    run("g++", "-std=c++17", "-O3", "-march=native", f"-I{folder}", f"-I{floor}", "-o",
        os.path.join(folder, "grpc_callback"), os.path.join(floor, "grpc_callback.cc"), *generated,
        *flags, "-llmdb")


def build(options):
    print("building", flush=True)
    run("tools/install-parts", "--with-checks", *(("--with-peers",) if options.peers else ()))
    for command in (("cmake", "--preset", "release"),
                    ("cmake", "--build", "--preset", "release", "--target", *TARGETS)):
        subprocess.run(command, cwd=machine.ROOT, check=True, stdout=subprocess.DEVNULL)
    if options.peers:
        build_grpc(peers_folder(options))


def peers_folder(options):
    return os.path.join(options.folder, "peers")


def measure(options, parts, documents):
    """Returns True if all answers were right."""
    right = True
    learned = Learned(parts)
    for part in options.parts:
        print(f"--- {part}", flush=True)
        if part not in SINGLE_PARTS and parts.errata is None:
            parts.start()
        if part == "pdf":
            right = documents.cost() and right
        elif part == "lookup-under-pdf":
            documents.lookup_under_pdf()
        elif part == "retractions":
            Retracted(parts).measure()
        elif part == "backtests":
            Backtested(parts).measure()
        elif part in LEARNED:
            getattr(learned, part)()
        else:
            getattr(parts, part)()
    return right


def main():
    options = read_options()
    if not options.no_build:
        build(options)
    if not machine.REAL_TIME:
        print("no real-time class (root has it): latencies are those of the whole machine")
    os.environ["ERRATA_BIN"] = options.bin
    os.environ.setdefault("ERRATA_STUBS", os.path.join(os.path.dirname(options.bin), "gen", "python"))

    def programs(name):
        beside = os.path.join(peers_folder(options), name)
        return beside if os.path.exists(beside) else os.path.join(options.bin, name)

    facts = machine.facts()
    load = Load(programs("errata-bench"))
    stores = Stores(options.folder, programs, options.keep, options.fresh)
    servers = Servers(programs, options.folder)
    parts = Parts(options, programs, stores, servers, load)
    documents = None
    if set(options.parts) & set(DOCUMENTS):
        from .documents import Documents  # needs gRPC for Python
        documents = Documents(parts)
    right = False
    try:
        right = measure(options, parts, documents)
    except Exception as failure:  # earlier measurements are reported regardless
        traceback.print_exc()
        load.problems.append(f"cut short: {failure}")
    finally:
        servers.close()
        stores.close()
    rows = load.rows + (documents.rows if documents else [])
    judged = goals.judge(rows, options.grown // 10, options.grown)
    report.print_loads(load.rows)
    report.print_others(load.rows)
    if documents:
        documents.print_tables()
    report.print_goals(judged)
    if options.json:
        report.write_json(options.json, facts, vars(options), rows, judged, load.problems)
    if not right or load.problems:
        sys.exit("INVALID: " + "; ".join(load.problems or ["a document was answered wrongly"]))
