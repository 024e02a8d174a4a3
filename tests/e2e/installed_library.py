"""Tests the result of `cmake --install` with programs that use only the prefix.

The installed tree is moved first. The examples are copied from it and built against it in four ways (CMake package and
pkg-config, shared and static), then run against the installed server: they request examples, capture a correction and
get it with the next request, also if the server is unreachable at first.
"""
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

import erratad
from erratad import ROOT

BUILD = os.environ["ERRATA_BUILD"]
PUBLIC = re.compile(r"errata_")
# Internal names of the library, and of the store's base, that a program may define itself.
PRIVATE = ("arena_init", "arena_alloc_slowly", "random_system", "err_text", "client_channel_new",
           "session_free_call", "captures_queue_step", "capture_new", "problem_say", "token_valid",
           "contract_methods", "logger_write")
LAYOUT = "Miller & Sons, order form B"


def run(*command, **kwargs):
    """Returns the output; the command must exit with 0."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, **kwargs)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Installed:
    """The installed tree, moved from the place of its installation, and the examples built with it."""

    def __init__(self):
        self.scratch = tempfile.mkdtemp(prefix="errata-installed-")
        self.prefix = os.path.join(self.scratch, "moved")
        first = os.path.join(self.scratch, "first")
        run("cmake", "--install", BUILD, "--prefix", first)
        os.rename(first, self.prefix)
        self.lib = os.path.join(self.prefix, "lib")
        self.include = os.path.join(self.prefix, "include", "liberrata")
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ERRATA_")},
            "PKG_CONFIG_PATH": os.path.join(self.lib, "pkgconfig"), "LD_LIBRARY_PATH": self.lib}

    def path(self, *parts):
        return os.path.join(self.prefix, *parts)

    def pkg_config(self, *arguments):
        return run("pkg-config", *arguments, "errata", env=self.environment).split()

    def flags(self):
        return run("pkg-config", "--cflags", "--libs", "errata", "libuv", env=self.environment).split()

    def readme_programs(self):
        with open(os.path.join(ROOT, "client", "README.md"), encoding="utf-8") as f:
            return [code for code in re.findall(r"```c\n(.*?)```", f.read(), flags=re.S)
                    if "int main(" in code]

    def readme_program(self, number, compiler="gcc", language="c"):
        """Builds a program of the README; returns its path."""
        path = os.path.join(self.scratch, f"readme-{number}-{language}")
        run(compiler, "-Wall", "-Wextra", "-Werror", "-x", language, "-", "-x", "none", "-o", path,
            *self.flags(), input=self.readme_programs()[number], env=self.environment)
        return path

    def copy_examples(self, name):
        folder = os.path.join(self.scratch, name)
        shutil.copytree(self.path("share", "doc", "errata", "examples"), folder)
        return folder

    def build_with_cmake(self, name, *options):
        """The folder of the built programs."""
        source = self.copy_examples(name)
        build = os.path.join(source, "build")
        run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror", *options, env=self.environment)
        run("cmake", "--build", build, env=self.environment)
        return build

    def build_with_make(self, name, *options):
        source = self.copy_examples(name)
        path = self.environment["PKG_CONFIG_PATH"]
        plain = {name: value for name, value in self.environment.items() if value != path}
        run("make", "-C", source, f"PKG_CONFIG_PATH={path}", "CFLAGS=-g -Wall -Wextra -Werror",
            *options, env=plain)
        return source

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)


def setUpModule():
    global installed, server
    installed = Installed()
    server = erratad.Server(program=installed.path("bin", "erratad")).start()


def tearDownModule():
    code = server.close()
    installed.close()
    assert code == 0, f"erratad ended with {code}"


def symbols(path, *options):
    """Global symbols that are defined there."""
    lines = run("nm", "--defined-only", "--extern-only", *options, path).splitlines()
    return {line.split()[2].split("@")[0] for line in lines if re.match(r"[0-9a-f]+ [A-Z] ", line)}


class Tree(unittest.TestCase):
    def test_installed_programs_run(self):
        """The server runs from there and finds its worker; the other programs print their versions."""
        server.wait_for_pdf()
        for program in ("erratad", "errata"):
            self.assertRegex(run(installed.path("bin", program), "--version"), r"\d+\.\d+\.\d+")
        self.assertTrue(os.access(installed.path("bin", "errata-bench"), os.X_OK))

    def test_expected_files_are_installed(self):
        """Links of the shared library, and accompanying files, are in the standard places."""
        self.assertEqual(os.readlink(installed.path("lib", "liberrata.so")), "liberrata.so.0")
        for name in ("doc/errata/LICENSE", "doc/errata/NOTICE", "doc/errata/README.md",
                     "man/man1/errata.1", "man/man1/erratad.1", "man/man1/errata-bench.1",
                     "bash-completion/completions/errata", "zsh/site-functions/_errata",
                     "fish/vendor_completions.d/errata.fish"):
            self.assertGreater(os.path.getsize(installed.path("share", name)), 100, name)

    def test_published_files_are_installed(self):
        """The installed files equal those that the command prints."""
        folder = installed.path("share", "errata", "proto")
        names = run(installed.path("bin", "errata"), "proto").splitlines()
        self.assertEqual(sorted(os.path.relpath(path, folder) for path in
                                glob.glob(os.path.join(folder, "**", "*.proto"), recursive=True)), names)
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                self.assertEqual(f.read(), run(installed.path("bin", "errata"), "proto", name), name)
        self.assertEqual(glob.glob(installed.path("include", "**", "options.pb-c.h"), recursive=True), [])

    def test_installed_files_do_not_name_the_build(self):
        """No text file of the tree contains the source folder or the build folder."""
        for path in glob.glob(installed.path("**"), recursive=True):
            if os.path.isfile(path) and path.endswith((".pc", ".cmake", ".h", ".txt", "Makefile", ".1", "errata.fish")):
                with open(path, encoding="utf-8") as f:
                    text = f.read()
                self.assertNotIn(ROOT + "/", text, path)
                self.assertNotIn(BUILD + "/", text, path)


class Symbols(unittest.TestCase):
    def test_shared_library_exports_only_public_symbols(self):
        """It exports exactly the public symbols, and its dependencies are those listed by pkg-config."""
        path = installed.path("lib", "liberrata.so")
        exported = symbols(path, "--dynamic")
        self.assertEqual([name for name in sorted(exported) if not PUBLIC.match(name)], [])
        self.assertLessEqual({"errata_channel_open", "errata_captures_add", "errata_get_examples",
                              "errata_get_examples_wait", "errata_details_read",
                              "errata__v1__feedback_event__init",
                              "errata_google__rpc__status__descriptor"}, exported)
        dynamic = run("readelf", "-d", path)
        self.assertIn("[liberrata.so.0]", dynamic)
        needed = set(re.findall(r"\(NEEDED\).*\[lib([\w-]+)\.so", dynamic))
        self.assertEqual(needed, {"uv", "nghttp2", "z", "protobuf-c", "ssl", "crypto", "c"})

    def test_pkg_config_names_the_library(self):
        """Users of the shared library link protobuf-c beside it; of the static one, all it needs."""
        shared = [word for word in installed.pkg_config("--libs") if word.startswith("-l")]
        static = installed.pkg_config("--static", "--libs")
        self.assertEqual(shared, ["-lerrata", "-lprotobuf-c"])
        self.assertLessEqual({"-lerrata", "-luv", "-lnghttp2", "-lz", "-lprotobuf-c"}, set(static))
        self.assertIn(f"-I{installed.prefix}", installed.pkg_config("--cflags")[0])
        self.assertEqual(run("pkg-config", "--modversion", "errata", env=installed.environment).strip(),
                         run(installed.path("bin", "errata"), "--version").split()[-1])

    def test_every_declared_function_is_there(self):
        """Each function of the public headers is exported by both."""
        declared = set()
        for path in glob.glob(os.path.join(installed.include, "errata", "**", "*.h"), recursive=True):
            with open(path, encoding="utf-8") as f:
                declared |= set(re.findall(r"ERRATA_API[^;(]*?\b(errata_\w+)\(", f.read()))
        self.assertGreater(len(declared), 70)
        self.assertEqual(declared - symbols(installed.path("lib", "liberrata.so"), "--dynamic"), set())
        self.assertEqual(declared - symbols(installed.path("lib", "liberrata.a")), set())

    def test_library_links_beside_own_messages(self):
        """A program with its own copy of Google's messages links, and each side uses its own copy."""
        source = os.path.join(installed.scratch, "timestamps.c")
        with open(source, "w", encoding="ascii") as f:
            f.write("#include <google/protobuf/timestamp.pb-c.h>\n"
                    "static const void *of_library(void)\n"
                    "{\n    return &google__protobuf__timestamp__descriptor;\n}\n"
                    "#undef google__protobuf__timestamp__descriptor\n"
                    "const int google__protobuf__timestamp__descriptor = 7;\n"
                    "int main(void)\n{\n"
                    "    return of_library() == &google__protobuf__timestamp__descriptor;\n}\n")
        for kind, name in ((["--static"], "-l:liberrata.a"), ([], "-lerrata")):
            program = os.path.join(installed.scratch, "timestamps")
            libs = [word.replace("-lerrata", name) for word in installed.pkg_config(*kind, "--libs")]
            run("gcc", "-Wall", "-Wextra", "-Werror", "-o", program, source,
                *installed.pkg_config("--cflags"), *libs, env=installed.environment)
            run(program, env=installed.environment)

    def test_static_library_links_beside_own_names(self):
        """Hidden symbols of the static library do not collide with symbols of a program."""
        archive = installed.path("lib", "liberrata.a")
        visible = symbols(archive)
        self.assertEqual([name for name in sorted(visible) if not PUBLIC.match(name)], [])
        local = {line.split()[2] for line in run("nm", "--defined-only", archive).splitlines()
                 if re.match(r"[0-9a-f]+ [a-z] ", line)}
        self.assertEqual(set(PRIVATE) - local, set())  # otherwise the test is meaningless
        source = os.path.join(installed.scratch, "names.c")
        with open(source, "w", encoding="ascii") as f:
            f.write('#include <errata/blocking.h>\n#include <stdio.h>\n')
            f.writelines(f"int {name}(void) {{ return {i}; }}\n" for i, name in enumerate(PRIVATE))
            f.write("int main(void)\n{\n    struct errata_blocking *blocking = NULL;\n"
                    "    int sum = 0;\n")
            f.writelines(f"    sum += {name}();\n" for name in PRIVATE)
            f.write("    if (errata_blocking_open(NULL, NULL, 0, &blocking) != ERRATA_OK) {\n"
                    "        return 1;\n    }\n    errata_blocking_close(blocking);\n"
                    f'    puts(errata_version());\n    return sum != {sum(range(len(PRIVATE)))};\n}}\n')
        program = os.path.join(installed.scratch, "names")
        libs = [word.replace("-lerrata", "-l:liberrata.a")
                for word in installed.pkg_config("--static", "--libs")]
        run("gcc", "-Wall", "-o", program, source, *installed.pkg_config("--cflags"), *libs,
            env=installed.environment)
        self.assertNotIn("liberrata", run("readelf", "-d", program))
        run(program, env=installed.environment)


class Headers(unittest.TestCase):
    def compile_all(self, *compiler):
        """Each header by itself; nothing of the source tree is read."""
        headers = [os.path.relpath(path, installed.include) for path in
                   glob.glob(os.path.join(installed.include, "**", "*.h"), recursive=True)]
        self.assertGreater(len(headers), 20)
        for header in headers:
            source = f"#include <{header}>\n#include <{header}>\nint unused;\n"
            read = run(*compiler, "-Wall", "-Wextra", "-Werror", "-M", "-",
                       *installed.pkg_config("--cflags"), input=source, env=installed.environment)
            self.assertNotIn(ROOT + "/", read)
            run(*compiler, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-",
                *installed.pkg_config("--cflags"), input=source, env=installed.environment)

    def test_headers_compile_as_c(self):
        self.compile_all("gcc", "-std=c11", "-x", "c")

    def test_headers_compile_as_cpp(self):
        if shutil.which("g++") is None:
            self.skipTest("there is no C++ compiler")
        self.compile_all("g++", "-std=c++11", "-x", "c++")

    def test_programs_of_the_readme_compile(self):
        """Each program in client/README.md compiles and links unchanged, as C and as C++; the first one is
        at most eight lines long."""
        programs = installed.readme_programs()
        self.assertEqual(len(programs), 3)
        self.assertLessEqual(len([line for line in programs[0].splitlines() if line.strip()]), 8)
        for number in range(len(programs)):
            installed.readme_program(number)
            installed.readme_program(number, "g++", "c++")

    def test_examples_compile_as_cpp(self):
        """A program in C++ compiles them without a warning."""
        folder = installed.path("share", "doc", "errata", "examples")
        for name in ("first_call.c", "stub_call.c", "extractor.c", "order.c"):
            run("g++", "-Wall", "-Wextra", "-Werror", "-x", "c++", "-fsyntax-only",
                os.path.join(folder, name), *installed.flags(), env=installed.environment)


class Examples(unittest.TestCase):
    """Each build is one organisation's, so that it begins without examples."""

    def setUp(self):
        self.client = server.client()
        org = self.client.create_org(self.id())
        token = self.client.create_token(erratad.roles.ROLE_SERVICE, org_id=org.id).secret
        self.org_client = server.client(token)
        self.token_file = os.path.join(installed.scratch, f"{self.id()}.token")
        with open(self.token_file, "w", encoding="ascii") as f:
            f.write(token + "\n")
        self.environment = self.environment_for(server.address)

    def tearDown(self):
        self.org_client.close()
        self.client.close()

    def environment_for(self, address):
        return {**installed.environment, "ERRATA_SERVER": address, "ERRATA_TOKEN_FILE": self.token_file}

    def use(self, folder, orders):
        """The main use case: a correction is captured, and is in the next prompt."""
        for program in ("first_call", "stub_call"):
            said = run(os.path.join(folder, program), env=self.environment)
            self.assertRegex(said, r"stored as [0-9a-f-]{36}\nfor the prompt: \[\{.*\"qty\": ?12")
            self.assertIn("12 pcs of ABC-123", said)
        self.assertEqual(run(installed.readme_program(0), env=self.environment), said.split(": ", 1)[1])
        extractor = os.path.join(folder, "extractor")
        before = run(extractor, os.path.join(orders, "order-1.txt"), env=self.environment)
        self.assertIn("order-1.txt: extracted without examples\n  ABC-123: 1\n", before)
        self.assertIn("corrections: 2 added, 2 stored, 0 dropped", before)
        after = run(extractor, os.path.join(orders, "order-2.txt"), env=self.environment)
        self.assertIn("order-2.txt: extracted with examples\n  ABC-123: 7\n  QQ-5: 300\n", after)
        self.assertIn("corrections: 0 added, 0 stored, 0 dropped", after)
        events = self.org_client.examples(LAYOUT).examples
        self.assertEqual([example.output for example in events],
                         ['{"sku": "XYZ-9", "qty": 40}', '{"sku": "ABC-123", "qty": 12}'])

    def test_examples_build_by_cmake_shared(self):
        folder = installed.build_with_cmake("cmake-shared")
        self.assertIn("liberrata.so.0", run("readelf", "-d", os.path.join(folder, "extractor")))
        self.use(folder, os.path.join(folder, "..", "orders"))

    def test_examples_build_by_cmake_static(self):
        folder = installed.build_with_cmake("cmake-static", "-DERRATA_STATIC=ON")
        self.assertNotIn("liberrata", run("readelf", "-d", os.path.join(folder, "extractor")))
        self.use(folder, os.path.join(folder, "..", "orders"))

    def test_examples_build_by_pkg_config_shared(self):
        folder = installed.build_with_make("make-shared")
        self.assertIn("liberrata.so.0", run("readelf", "-d", os.path.join(folder, "extractor")))
        self.use(folder, os.path.join(folder, "orders"))

    def test_examples_build_by_pkg_config_static(self):
        folder = installed.build_with_make("make-static", "STATIC=1")
        self.assertNotIn("liberrata", run("readelf", "-d", os.path.join(folder, "extractor")))
        self.use(folder, os.path.join(folder, "orders"))

    def test_a_cmake_project_asks_for_a_version(self):
        """The same minor version is found, another is not."""
        for version, found in (("0.1", True), ("0.2", False), ("1.0", False)):
            folder = tempfile.mkdtemp(dir=installed.scratch)
            with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="ascii") as f:
                f.write("cmake_minimum_required(VERSION 3.16)\nproject(asks LANGUAGES C)\n"
                        f"find_package(errata {version})\nmessage(\"found ${{errata_FOUND}}\")\n")
            said = subprocess.run(["cmake", "-S", folder, "-B", folder,
                                   f"-DCMAKE_PREFIX_PATH={installed.prefix}"],
                                  capture_output=True, text=True, timeout=60, check=True,
                                  env=installed.environment)
            self.assertIn(f"found {1 if found else 0}", said.stderr, version)


class ServerThatIsAway(unittest.TestCase):
    def test_corrections_are_stored_once_the_server_is_up(self):
        """Documents are extracted meanwhile, and corrections are stored once the server is available."""
        built = installed.build_with_make("make-away")
        address = f"127.0.0.1:{free_port()}"
        with tempfile.TemporaryDirectory(dir=installed.scratch) as data, \
                tempfile.TemporaryDirectory(dir=installed.scratch) as inbox:
            later = erratad.Server(data=data, program=installed.path("bin", "erratad"),
                                   arguments=["--listen", address])
            later.start()
            later.stop()
            environment = {**installed.environment, "ERRATA_SERVER": address,
                           "ERRATA_TOKEN_FILE": os.path.join(data, "admin.token")}
            output = os.path.join(built, "output")
            with open(output, "w", encoding="utf-8") as f:
                extractor = subprocess.Popen([os.path.join(built, "extractor"), inbox], stdout=f,
                                             stderr=f, env=environment)

            def said(text):
                with open(output, encoding="utf-8") as f:
                    return text in f.read()

            def move_in(name):
                for part in (f"{name}.corrected", name):  # the document last
                    if os.path.exists(os.path.join(built, "orders", part)):
                        shutil.copy(os.path.join(built, "orders", part), data)
                        os.rename(os.path.join(data, part), os.path.join(inbox, part))

            try:
                erratad.wait_until(lambda: is_watching(extractor.pid), "the folder to be watched")
                move_in("order-1.txt")
                erratad.wait_until(lambda: said("XYZ-9 corrected to 40"), "the correction")
                self.assertTrue(said("order-1.txt: extracted without examples"))
                self.assertTrue(said("order-1.txt: no examples: "))
                later.start()
                client = later.client()
                erratad.wait_until(lambda: len(client.examples(LAYOUT).examples) == 2,
                                   "corrections to be stored", 30)
                client.close()
                move_in("order-2.txt")
                erratad.wait_until(lambda: said("order-2.txt: extracted with examples"), "order 2")
                extractor.send_signal(signal.SIGTERM)
                self.assertEqual(extractor.wait(20), 0)
                self.assertTrue(said("corrections: 2 added, 2 stored, 0 dropped"))
            finally:
                extractor.kill()
                extractor.wait()
                later.close()


def is_watching(pid):
    """Returns whether the process watches a file by inotify, according to its fdinfo."""
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path, encoding="ascii") as f:
                if "inotify wd:" in f.read():
                    return True
        except OSError:
            pass  # closed in the meantime
    return False


if __name__ == "__main__":
    erratad.main()
