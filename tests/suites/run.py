"""Runs public protocol suites against our servers: `tools/suites --help`."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from server import SuiteServer

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

HELP = """Runs public protocol suites against our servers, and prints what failed.

suites (all that have their program, where none is named):
  h2spec        HTTP/2 itself, against the suites' server (`plain`) and against erratad, without and with TLS
                https://github.com/summerwind/h2spec
  interop       gRPC's interop cases, by the interop client of one of its libraries
                https://github.com/grpc/grpc-go/tree/master/interop/client, or any other client with
                the flags --server_host, --server_port and --test_case
  conformance   https://github.com/connectrpc/conformance: gRPC, gRPC-Web and Connect over HTTP/1.1 and 2, with and
                without TLS, in proto and JSON, every kind of stream, by its two reference clients
Their programs are not ours to ship: each is named by its flag or variable, or found on PATH.
Cases that are expected to fail are in tests/suites/deviations.txt, with the reason.
"""
GRPC_PATH = "/errata.v1.PromptService/GetExamples"
# The interop cases that need neither TLS nor a cloud's credentials, which all clients have.
INTEROP_CASES = (
    "empty_unary", "large_unary", "client_streaming", "server_streaming", "ping_pong", "empty_stream",
    "timeout_on_sleeping_server", "cancel_after_begin", "cancel_after_first_response",
    "status_code_and_message", "special_status_message", "custom_metadata", "unimplemented_method",
    "unimplemented_service", "rpc_soak", "channel_soak")
# Options only for the two soak cases, which some clients skip by default.
INTEROP_SOAK = ("--soak_iterations=200", "--soak_overall_timeout_seconds=40",
                "--soak_per_iteration_max_acceptable_latency_ms=1000")
H2SPEC_SECONDS = 300
CASE_SECONDS = 60
CONFORMANCE_SECONDS = 1200
SHOWN_LINES = 6


class Verdict:
    """Results of the cases of all suites."""

    def __init__(self, verbose):
        self.verbose = verbose
        self.passed = self.failed = self.skipped = self.deviated = 0
        self.deviations = read_deviations(os.path.join(HERE, "deviations.txt"))

    def take(self, suite, case, failure=None):
        """Records one case: `failure` is None if it passed."""
        often = self.deviations.get((suite, case))
        if failure is None and often != "always":
            self.passed += 1
            if self.verbose:
                print(f"ok      {suite}: {case}")
        elif failure is None:
            self.failed += 1
            print(f"FAILED  {suite}: {case}\n    passes, though deviations.txt says that it can't")
        elif often:
            self.deviated += 1
            print(f"known   {suite}: {case}")
        else:
            self.failed += 1
            print(f"FAILED  {suite}: {case}")
            for line in failure.strip().splitlines()[-SHOWN_LINES:]:
                print(f"    {line.strip()}")

    def skip(self, suite, case, why):
        self.skipped += 1
        if self.verbose:
            print(f"skipped {suite}: {case}: {why}")

    def close(self):
        print(f"expected deviations: {self.deviated}; skipped: {self.skipped}")
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0


def read_deviations(path):
    """(suite, case) -> how often it fails."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.strip() and line[0] not in " #":
                suite, case, often = (word.strip() for word in line.split(" | "))
                found[suite, case] = often
    return found


def run_h2spec_on(program, suite, host_port, path, verdict, more=()):
    host, port = host_port.rsplit(":", 1)
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        done = subprocess.run([program, "--strict", "-h", host, "-p", port, "-P", path, "-j", report, *more],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=H2SPEC_SECONDS, check=False)
        if not os.path.exists(report):
            verdict.take(suite, "its report", done.stdout + done.stderr or "none was written")
            return
        cases = list(xml.etree.ElementTree.parse(report).iter("testcase"))
    for case in cases:
        name = f"{case.get('package')} {case.get('classname')}"
        failure = case.find("failure") if case.find("failure") is not None else case.find("error")
        if case.find("skipped") is not None:
            verdict.skip(suite, name, "the answer's body is too short for it")
        else:
            verdict.take(suite, name, None if failure is None else failure.text or "no reason given")


def run_h2spec(program, options, verdict):
    with SuiteServer(options.bin, "plain") as server:
        run_h2spec_on(program, "h2spec plain", server.address, "/", verdict)
    from erratad import Server  # after the environment is set
    server = Server().start()
    try:
        run_h2spec_on(program, "h2spec erratad", server.address, GRPC_PATH, verdict)
    finally:
        server.close()
    run_h2spec_over_tls(program, verdict)


def run_h2spec_over_tls(program, verdict):
    from certificates import Authority
    from erratad import Server
    with tempfile.TemporaryDirectory() as folder:
        cert, key = Authority(folder).sign("server")
        server = Server(arguments=["--tls-cert", cert, "--tls-key", key]).start()
        try:
            run_h2spec_on(program, "h2spec erratad TLS", server.address, GRPC_PATH, verdict, ("-t", "-k"))
        finally:
            server.close()


def run_interop(program, options, verdict):
    with SuiteServer(options.bin) as server:
        for case in options.cases.split(",") if options.cases else INTEROP_CASES:
            flags = INTEROP_SOAK if case.endswith("_soak") else ()
            try:
                done = subprocess.run([program, f"--server_host={server.host}",
                                       f"--server_port={server.port}", f"--test_case={case}", *flags],
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                      timeout=CASE_SECONDS, check=False)
                failure = done.stdout + done.stderr or f"exit {done.returncode}"
                failure = failure if done.returncode else None
            except subprocess.TimeoutExpired:
                failure = f"no end within {CASE_SECONDS} s"
            verdict.take("interop", case, failure)


def run_conformance(program, options, verdict):
    done = subprocess.run([program, "--conf", os.path.join(HERE, "conformance.yaml"), "--mode", "server",
                           "-v", "--", os.path.join(options.bin, "suite_server"), "conformance"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=CONFORMANCE_SECONDS, check=False)
    output = done.stdout + done.stderr
    failed = re.findall(r"^FAILED: (.*):\n((?:[ \t]+.*\n)*)", output, re.MULTILINE)
    reported = re.search(r"^(\d+) passed, (\d+) failed", output, re.MULTILINE)
    for case, why in failed:
        verdict.take("conformance", case, why)
    if reported and int(reported[2]) == len(failed):
        verdict.passed += int(reported[1])  # only their number: the runner prints failed cases
    else:
        verdict.take("conformance", "its summary", output)


SUITES = {
    "h2spec": (run_h2spec, "H2SPEC", "h2spec"),
    "interop": (run_interop, "GRPC_INTEROP_CLIENT", "grpc_interop_client"),
    "conformance": (run_conformance, "CONNECTCONFORMANCE", "connectconformance"),
}


def read_options():
    parser = argparse.ArgumentParser(prog="tools/suites", description=HELP,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(SUITES))
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), metavar="DIR",
                        help="build folder with suite_server and erratad (default build/release)")
    parser.add_argument("--cases", metavar="A,B", help="interop cases, in place of those all clients have")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each case")
    for name, (_, variable, program) in SUITES.items():
        parser.add_argument(f"--{name}", metavar="PROGRAM", default=os.environ.get(variable, program),
                            help=f"default ${variable}, or {program} on PATH")
    options = parser.parse_args()
    unknown = set(options.suites) - set(SUITES)
    if unknown:
        parser.error(f"no suite {', '.join(sorted(unknown))}; there are {', '.join(SUITES)}")
    options.bin = os.path.join(os.path.abspath(options.build), "bin")
    if not os.path.exists(os.path.join(options.bin, "suite_server")):
        parser.error(f"no suite_server in {options.bin}: build the targets suite_server, erratad and "
                     "python_stubs, or name a build folder")
    return options


def main():
    options = read_options()
    os.environ["ERRATA_BIN"] = options.bin
    os.environ["ERRATA_STUBS"] = os.path.join(os.path.abspath(options.build), "gen", "python")
    verdict = Verdict(options.verbose)
    for name, (run, variable, _) in SUITES.items():
        if options.suites and name not in options.suites:
            continue
        program = shutil.which(getattr(options, name))
        if program:
            run(program, options, verdict)
        elif options.suites:
            sys.exit(f"tools/suites: no program for {name}: see --help, then --{name} or ${variable}")
        else:
            verdict.skip(name, "all", "no program")
            print(f"skipped {name}: no program: see --help, then --{name} or ${variable}")
    return verdict.close()
