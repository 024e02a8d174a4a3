"""Runs testssl.sh against an erratad of its own: `tools/testssl --help`."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from certificates import Authority
from erratad import Server

PROGRAM = shutil.which("testssl") or shutil.which("testssl.sh")
BAD = ("LOW", "MEDIUM", "HIGH", "CRITICAL", "WARN", "FATAL")
SECONDS = 900
# Findings that are expected, and why.
EXPECTED = {
    "BREACH": "it tests a web page that mixes secrets with what others choose; the page for people has no secrets",
    "engine_problem": "it is about testssl.sh itself, which cannot offer GOST ciphers",
    "scanTime": "a busy machine",
}
# Findings about the certificate, which is one of this test's own.
OF_THE_CERTIFICATE = ("cert", "OCSP_", "DNS_CAA")


RESUMPTION = "sessionresumption_ticket"


def is_failed(one):
    if one["id"] == RESUMPTION:
        return one["finding"] != "supported"
    return one["severity"] in BAD and one["id"] not in EXPECTED


def main():
    if PROGRAM is None:
        sys.exit("tools/testssl: testssl.sh is not installed (Debian's package testssl.sh)")
    with tempfile.TemporaryDirectory() as folder:
        cert, key = Authority(folder).sign("server")
        report = os.path.join(folder, "report.json")
        with Server(arguments=["--tls-cert", cert, "--tls-key", key]) as server:
            subprocess.run([PROGRAM, "-p", "-s", "-f", "-S", "-U", "--quiet", "--color", "0", "--warnings", "batch",
                            "--jsonfile", report, server.address], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=SECONDS, check=False)
            server.stop()
        with open(report, encoding="utf-8") as f:
            findings = json.load(f)
    findings = [one for one in findings if not one["id"].startswith(OF_THE_CERTIFICATE)]
    if not any(one["id"] == RESUMPTION for one in findings):
        findings.append({"id": RESUMPTION, "severity": "WARN", "finding": "not in the report"})
    failed = [one for one in findings if is_failed(one)]
    for one in findings:
        if is_failed(one) or one["severity"] in BAD:
            print(f"{'FAILED' if is_failed(one) else 'expected'}  {one['id']}: {one['severity']}: {one['finding']}")
    print(f"{len(findings) - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed or len(findings) < 40 else 0)


if __name__ == "__main__":
    main()
