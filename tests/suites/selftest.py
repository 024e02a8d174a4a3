#!/usr/bin/python3
"""tools/suites itself: what it makes of what the suites' programs say.

Goal: failures, deviations and silence are distinguished, and counted in the last line. Method: programs of
the test's own in place of the suites', against the real servers.
"""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ["ERRATA_BUILD"]

H2SPEC = """
known = '<testcase package="http2/5.3.1" classname="Sends PRIORITY frame that depend on itself">'
with open(sys.argv[sys.argv.index("-j") + 1], "w") as f:
    f.write("<testsuites><testsuite>" + known + KNOWN + "</testcase>"
            '<testcase package="http2/1" classname="good"/>'
            '<testcase package="http2/2" classname="odd"><skipped/></testcase>'
            '<testcase package="http2/3" classname="bad">' + BAD + "</testcase></testsuite></testsuites>")
"""
CLIENT = """
case = [a for a in sys.argv if a.startswith("--test_case=")][0].split("=")[1]
assert int([a for a in sys.argv if a.startswith("--server_port=")][0].split("=")[1]) > 0
sys.exit("why it failed" if case == "large_unary" else 0)
"""
CONFORMANCE = """
assert sys.argv[sys.argv.index("--") + 1].endswith("suite_server")
print(OUTPUT)
"""
FAILED = "'<failure>Actual: that</failure>'"


class Suites(unittest.TestCase):
    def run_suites(self, name, program, *arguments):
        """Returns the exit code and the output, using a test program instead of the suite's runner."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program")
            with open(path, "w", encoding="utf-8") as f:
                f.write("#!/usr/bin/python3\nimport sys\n" + program)
            os.chmod(path, 0o755)
            done = subprocess.run([os.path.join(ROOT, "tools", "suites"), "--build", BUILD, name,
                                   f"--{name}", path, *arguments], capture_output=True, text=True,
                                  timeout=100, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_results_of_h2spec_are_counted(self):
        """Per server: one passes, one is skipped, one is a known deviation, one fails."""
        code, said = self.run_suites("h2spec", H2SPEC.replace("KNOWN", FAILED).replace("BAD", FAILED))
        self.assertEqual(code, 1)
        self.assertIn("FAILED  h2spec plain: http2/3 bad\n    Actual: that\n", said)
        self.assertIn("FAILED  h2spec erratad: http2/3 bad", said)
        self.assertTrue(said.endswith("expected deviations: 3; skipped: 3\n3 passed, 3 failed\n"), said)

    def test_outdated_deviation_fails(self):
        code, said = self.run_suites("h2spec", H2SPEC.replace("KNOWN", "''").replace("BAD", "''"))
        self.assertEqual(code, 1)
        self.assertIn("passes, though deviations.txt says that it can't", said)
        self.assertTrue(said.endswith("6 passed, 3 failed\n"), said)

    def test_missing_report_fails(self):
        code, said = self.run_suites("h2spec", "print('no way')\n")
        self.assertEqual(code, 1)
        self.assertIn("FAILED  h2spec plain: its report\n    no way\n", said)

    def test_failed_cases_of_interop_are_named(self):
        code, said = self.run_suites("interop", CLIENT, "--cases", "empty_unary,large_unary")
        self.assertEqual(code, 1)
        self.assertIn("FAILED  interop: large_unary\n    why it failed\n", said)
        self.assertTrue(said.endswith("1 passed, 1 failed\n"), said)
        self.assertEqual(self.run_suites("interop", CLIENT, "--cases", "empty_unary")[0], 0)

    def test_failures_of_conformance_are_named(self):
        reported = "'FAILED: A/b:\\n\\texpected this\\nFAILED: A/c:\\n\\tthat\\n\\n5 passed, 2 failed'"
        code, said = self.run_suites("conformance", CONFORMANCE.replace("OUTPUT", reported))
        self.assertEqual(code, 1)
        self.assertIn("FAILED  conformance: A/b\n    expected this\n", said)
        self.assertTrue(said.endswith("5 passed, 2 failed\n"), said)
        code, said = self.run_suites("conformance", CONFORMANCE.replace("OUTPUT", "'9 passed, 0 failed'"))
        self.assertEqual((code, said.splitlines()[-1]), (0, "9 passed, 0 failed"))

    def test_silent_runner_fails(self):
        code, said = self.run_suites("conformance", CONFORMANCE.replace("OUTPUT", "'could not start'"))
        self.assertEqual(code, 1)
        self.assertIn("could not start", said)

    def test_missing_program_is_an_error(self):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "suites"), "--build", BUILD,
                               "interop", "--interop", "/nowhere"], capture_output=True, text=True,
                              timeout=20, check=False)
        self.assertEqual((done.returncode, "no program for interop" in done.stderr), (1, True))


if __name__ == "__main__":
    unittest.main()
