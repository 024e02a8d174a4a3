"""Runs the contract's generators on a schema: shared by the test and by renew."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "tests", "golden")
EXPECTED = os.path.join(HERE, "expected")
INCLUDES = [f"-I{ROOT}/proto", "-I/usr/include"]


PROTOS = ["example.proto", "open.proto"]


def run_protoc(arguments, folder=HERE):
    """protoc with `folder` as the first root; gives (exit code, its errors)."""
    done = subprocess.run(["protoc", f"-I{folder}", *INCLUDES, *arguments], cwd=folder,
                          stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


def run_plugin(what, out, protos, options="", folder=HERE):
    os.makedirs(out, exist_ok=True)
    return run_protoc([f"--plugin=protoc-gen-errata={ROOT}/tools/gen/protoc-gen-errata",
                       f"--errata_opt=what={what}{options}", f"--errata_out={out}", *protos], folder)


def write_all(out):
    """All families for the example into `out`."""
    for what in ("fields", "contract", "files", "dispatch", "stubs", "views", "events", "apply", "retract"):
        code, errors = run_plugin(what, os.path.join(out, what), PROTOS,
                                  ",open=example.open.v1,private=errata.options,"
                                  "view=example.open.v1.Foreign")
        if code != 0:
            raise SystemExit(f"protoc-gen-errata {what}: {errors}")


def _without_imports(text):
    """Less the tables of what the example imports, which have nothing to do with it."""
    return "\n\n".join(block for block in text.split("\n\n")
                       if "example" in block or not block.startswith(("static const struct",
                                                                      "const struct")))


def generate(out):
    """Relative path -> text of what the golden files pin. The descriptors are left out:
    contract_test.c compares those with protoc's own."""
    write_all(out)
    pinned = {}
    for where, _, names in os.walk(out):
        for name in names:
            path = os.path.join(where, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if name == "contract_messages.c":
                text = _without_imports(text)
            if name != "contract_files.c":
                pinned[os.path.relpath(path, out)] = text
    return pinned
