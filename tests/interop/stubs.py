#!/usr/bin/python3
"""Stubs of the published .proto files in the languages that callers use.

Goal: a service in any of them is built from the files that `errata proto` writes, and from nothing else. Method:
the stock generators of Go, Python, TypeScript and C++ run on a folder of those files; the results are compiled
with the language's strictest usual checks, and Python's make a call. Each class is a test of its own.
"""
import glob
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import npm_packages
from erratad import BIN, ROOT, Server, main

STUBS = os.path.join(ROOT, "tests", "interop", "stubs")
CALL = os.path.join(STUBS, "call.py")
BUILD = os.environ.get("ERRATA_BUILD", os.path.join(ROOT, "build", "release"))
GO_LIBRARIES = "/usr/share/gocode"  # path of Debian's golang-*-dev packages
# Go's usual folder: what gRPC for Go compiles to stays there for a later clone, as C does in ccache.
GO_CACHE = os.environ.get("GOCACHE") or os.path.expanduser("~/.cache/go-build")
SECONDS = 240  # time limit of one command: machines are busy


def run(*command, **kwargs):
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False,
                          stdin=subprocess.DEVNULL, **kwargs)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"[:8000])
    return done.stdout


class StubCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="errata-stubs-")
        cls.protos = os.path.join(cls.scratch.name, "protos")
        run(os.path.join(BIN, "errata"), "proto", "--out", cls.protos)
        cls.all = run(os.path.join(BIN, "errata"), "proto").splitlines()
        cls.own = [name for name in cls.all if name.startswith("errata/")]
        assert len(cls.own) > 8, cls.all

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def folder(self, name):
        path = os.path.join(self.scratch.name, name)
        os.makedirs(path, exist_ok=True)
        return path

    def protoc(self, files, *arguments, **kwargs):
        run("protoc", "-I.", "-I/usr/include", *arguments, *files, cwd=self.protos, **kwargs)

    def services(self):
        """(file, service) of each service of the contract."""
        found = []
        for name in self.own:
            with open(os.path.join(self.protos, name), encoding="utf-8") as file:
                found += [(name, service) for service in re.findall(r"^service (\w+)", file.read(), re.M)]
        self.assertGreater(len(found), 4)
        return found

    def assert_stubs(self, folder, form):
        """Each service has its stub in the generated text."""
        text = "".join(pathlib.Path(path).read_text(encoding="utf-8")
                       for path in glob.glob(os.path.join(folder, "**"), recursive=True)
                       if os.path.isfile(path))
        self.assertEqual([service for _, service in self.services()
                          if form.format(service) not in text], [])


class Go(StubCase):
    def test_generated_stubs_compile(self):
        path = self.folder("go")
        out = self.folder("go/src")
        self.protoc(self.own, f"--go_out={out}", f"--go-grpc_out={out}")
        self.assert_stubs(out, "func New{}Client(")
        environment = {**os.environ, "GO111MODULE": "off", "GOPATH": f"{path}:{GO_LIBRARIES}",
                       "GOCACHE": GO_CACHE, "GOFLAGS": "", "GOPROXY": "off"}
        built = os.path.dirname(glob.glob(os.path.join(out, "**", "role.pb.go"), recursive=True)[0])
        run("go", "build", "./...", cwd=built, env=environment)
        run("go", "vet", "./...", cwd=built, env=environment)


class Python(StubCase):
    def test_generated_stubs_call_a_server(self):
        """Runs in a new interpreter, since this one has other stubs loaded."""
        out = self.folder("python")
        self.protoc(self.all, f"--python_out={out}", f"--grpc_python_out={out}",
                    f"--plugin=protoc-gen-grpc_python={shutil.which('grpc_python_plugin')}")
        self.assert_stubs(out, "class {}Stub(")
        with Server() as server:
            said = run("/usr/bin/python3", "-B", CALL, server.address, server.admin_token,
                       *[name[:-len(".proto")].replace("/", ".") for name, _ in self.services()],
                       env={"PYTHONPATH": out, "PATH": os.environ["PATH"], "GRPC_VERBOSITY": "NONE"})
            self.assertEqual(said.strip(), "default")
            self.assertEqual(server.stop(), 0)


class TypeScript(StubCase):
    def test_generated_stubs_compile(self):
        folder = os.path.join(BUILD, "interop-stubs")
        npm_packages.install(STUBS, folder, ["tsconfig.json"])
        outs = {}
        for name in ("es", "ts_proto"):
            outs[name] = os.path.join(folder, name)
            shutil.rmtree(outs[name], ignore_errors=True)
            os.makedirs(outs[name])
        environment = {**os.environ,
                       "PATH": f"{os.path.join(folder, 'node_modules', '.bin')}:{os.environ['PATH']}"}
        self.protoc(self.all, f"--es_out=target=ts,import_extension=js:{outs['es']}", env=environment)
        self.protoc(self.own, f"--ts_proto_out={outs['ts_proto']}",
                    "--ts_proto_opt=outputServices=grpc-js,esModuleInterop=true,importSuffix=.js",
                    env=environment)
        self.assert_stubs(outs["es"], "export const {}: GenService<")
        self.assert_stubs(outs["ts_proto"], "export interface {}Client extends Client")
        run("tsc", "-p", folder, env=environment)


class Cpp(StubCase):
    def test_generated_stubs_compile(self):
        """All in one unit, since the libraries' headers take most of the time: names that each file has for
        itself are distinguished by macros."""
        out = self.folder("cpp")
        self.protoc(self.all, f"--cpp_out={out}", f"--grpc_out={out}",
                    f"--plugin=protoc-gen-grpc={shutil.which('grpc_cpp_plugin')}")
        self.assert_stubs(out, "class {} final")
        sources = [name.replace(".proto", ".pb.cc") for name in self.own]
        sources += sorted({name.replace(".proto", ".grpc.pb.cc") for name, _ in self.services()})
        with open(os.path.join(out, "all.cc"), "w", encoding="utf-8") as file:
            for number, source in enumerate(sources):
                for name in ("schemas", "file_default_instances"):
                    file.write(f"#undef {name}\n#define {name} {name}_{number}\n")
                file.write(f'#include "{source}"\n')
        run("g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Werror", "-I.", "all.cc", cwd=out)


if __name__ == "__main__":
    main()
