"""Installed headers compile like in users' programs: each public header by itself, in C and in C++, and the programs in
client/README.md. Run by ctest, which passes the build folder."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ["ERRATA_BUILD"]
STUBS = os.path.join(BUILD, "gen", "stubs")
PUBLIC = os.path.join(ROOT, "client", "include")
# protobuf-c's messages have unnamed unions, which C has since 2011; our own headers need less.
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
C99 = ["gcc", "-std=c99", *STRICT, "-Wmissing-prototypes", "-Wstrict-prototypes"]
C11 = ["gcc", "-std=c11", *STRICT, "-Wmissing-prototypes", "-Wstrict-prototypes", "-Wconversion"]
CXX = ["g++", "-std=c++11", *STRICT]
INCLUDES = ["-I", PUBLIC, "-I", STUBS, "-isystem", os.path.join(BUILD, "gen", "wire")]


def headers(folder, ending):
    found = [os.path.relpath(os.path.join(where, name), folder)
             for where, _, names in os.walk(folder) for name in names if name.endswith(ending)]
    return sorted(found)


class Headers(unittest.TestCase):
    def compile(self, compiler, text, ending):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program" + ending)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([*compiler, *INCLUDES, path], stderr=subprocess.PIPE, text=True,
                                  check=False)
        self.assertEqual(done.returncode, 0, f"{text}\n{done.stderr}")

    def test_each_header_compiles_by_itself(self):
        own = headers(PUBLIC, ".h")
        made = headers(STUBS, ".client.h") + headers(STUBS, ".set.h")
        self.assertGreater(len(own), 3)
        self.assertGreater(len(made), 8)
        for name in own + made:
            # Each header is included twice, to test its include guard.
            text = f"#include <{name}>\n#include <{name}>\n"
            self.compile(C99 if name in own else C11, text, ".c")
            self.compile(CXX, text, ".cc")

    def test_all_headers_compile_in_one_file(self):
        names = headers(PUBLIC, ".h") + headers(STUBS, ".client.h")
        text = "".join(f"#include <{name}>\n" for name in names)
        self.compile(C11, text, ".c")
        self.compile(CXX, text, ".cc")

    def test_they_include_what_is_installed(self):
        allowed = re.compile(r"errata/\w+\.h|(errata|google|grpc)/[\w/]+\.(client|set|pb-c)\.h|"
                             r"(std(bool|def|int)|string)\.h")
        for folder, ending in ((PUBLIC, ".h"), (STUBS, ".h")):
            for name in headers(folder, ending):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    for included in re.findall(r'#include\s+["<]([^">]+)[">]', file.read()):
                        self.assertRegex(included, rf"^({allowed.pattern})$", name)


class Readme(unittest.TestCase):
    def test_programs_compile(self):
        with open(os.path.join(ROOT, "client", "README.md"), encoding="utf-8") as file:
            programs = re.findall(r"^```c\n(.*?)^```", file.read(), flags=re.S | re.M)
        self.assertEqual(len(programs), 3)
        for program in programs:
            Headers.compile(self, ["gcc", "-std=c11", "-D_GNU_SOURCE", *STRICT], program, ".c")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(argv=[sys.argv[0], "-v"])
