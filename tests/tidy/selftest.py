#!/usr/bin/python3
"""tidy_selftest: each rule sees what it is for, and lets good code pass.

Goal: a rule that stopped seeing anything must not stay green. Method: small good and bad texts, one a
rule, given to the functions that the rules are made of.
"""
import os
import subprocess
import sys
import tempfile

import english
import faults
import layers
import shape
import sources
import symbols
import words

HEAD = "/*\n * x.c: an example for the rules, which is in no folder.\n */\n"


def findings_of(check, *arguments):
    findings = sources.Findings()
    check(*arguments, findings)
    return findings.lines


def expect(name, lines, fragment):
    """`fragment` None: nothing may be found; else exactly one finding, which has the fragment."""
    good = not lines if fragment is None else len(lines) == 1 and fragment in lines[0]
    if not good:
        print(f"{name}: expected {fragment!r}, found {lines}")
    return good


def shape_cases():
    def run(code, path="server/grpc/x.c"):
        return findings_of(lambda f: shape.check_file(path, HEAD + code, {"RED", "BLUE"}, f))

    long_body = "static int f(void)\n{\n" + "    g();\n" * 71 + "}\n"
    yield "short function", run("static int f(int a, int b)\n{\n    return a + b;\n}\n"), None
    yield "long function", run(long_body), "has 71 lines"
    yield "long test", run(long_body, "tests/unit/x/x.c"), None
    many = "static int f(int a, int b, int c, int d, void (*e)(int, int), int g, int h)\n{\n}\n"
    yield "seven parameters", run(many), "takes 7 parameters"
    yield "long file", run("int a;\n" * 801), "the file has 80"
    yield "banned call", run("static void f(void)\n{\n    strcpy(a, b);\n}\n"), "strcpy is banned"
    yield "banned word in a comment", run("/* strcpy(a, b) is not for us. */\n"), None
    yield "a member called time", run("static void f(void)\n{\n    a->time(b);\n}\n"), None
    yield "plain assert", run("static void f(void)\n{\n    assert(a);\n}\n"), "assert is banned"
    switch = ("static void f(void)\n{\n    switch (c) {\n    case RED:\n        break;\n"
              "    %s:\n        break;\n    }\n}\n")
    yield "default over an enum", run(switch % "default"), "a default in a switch"
    yield "all values named", run(switch % "case BLUE"), None
    reasoned = (switch % "default").replace("default:", "default: /* a peer's number */")
    yield "a reasoned default", run(reasoned), None
    yield "default over numbers", run((switch % "default").replace("RED", "7")), None
    kept = "struct kept {\n    struct store_txn *txn;\n};\n"
    yield "a transaction in a header", run(kept, "server/grpc/x.h"), "keeps a transaction"
    heap = kept + "void *f(struct arena *a)\n{\n    return arena_alloc(a, sizeof(struct kept));\n}\n"
    yield "a kept transaction", run(heap), "keeps a transaction"
    yield "a bundle of parameters", run(kept), None
    yield "the store's own", run(kept, "store/x.c"), None
    no_head = findings_of(lambda f: shape.check_file("store/x.c", "int a;\n", set(), f))
    yield "no head comment", no_head, "no head comment"


def layer_cases():
    def run(path, include):
        return findings_of(lambda f: layers.check_file("/nowhere", modules, path, include + "\n", f))

    modules = layers.Modules("""
        errata_module(base DIR store/base)
        errata_module(store DIR store USES base) # a comment
        errata_module(store_lmdb DIR store/lmdb USES store PARTS lmdb)
        errata_module(store_memory DIR store/memory USES store)
        errata_module(domain_text DIR server/domain/text USES base)
        errata_module(codec DIR server/codec USES base)
        errata_module(net DIR server/net USES base PARTS uv)
        errata_module(http2 DIR server/http2 USES base)
        errata_module(call DIR server/call USES codec)
        errata_module(grpc DIR server/grpc
                      USES call http2 HEADERS net)
        errata_module(pipeline DIR server/pipeline USES call store PROGRAM_ONLY)""")
    yield "grpc sees http2", run("server/grpc/a.c", '#include "server/http2/http2.h"'), None
    yield "calls see grpc", run("server/call/a.c", '#include "server/grpc/grpc.h"'), "does not use"
    yield "calls see http2", run("server/call/a.c", '#include "server/http2/h2.h"'), "does not use"
    yield "the pipeline sees calls", run("server/pipeline/a.c", '#include "server/call/call.h"'), None
    yield "the pipeline sees grpc", run("server/pipeline/a.c", '#include "server/grpc/grpc.h"'), \
        "does not use"
    yield "grpc sees store", run("server/grpc/a.c", '#include "store/log.h"'), "does not use"
    yield "base sees store", run("store/base/a.c", '#include "store/log.h"'), "does not use"
    yield "domain sees codec", run("server/domain/text/a.c", '#include "server/codec/check.h"'), \
        "does not use"
    yield "headers only", run("server/grpc/a.c", '#include "server/net/protocol.h"'), None
    yield "what a used module uses", run("server/pipeline/a.c", '#include "server/codec/check.h"'), \
        "does not use"
    yield "base needs no word", run("server/pipeline/a.c", '#include "store/base/err.h"'), None
    yield "the pipeline sees LMDB", run("server/pipeline/a.c", "#include <lmdb.h>"), "wraps it"
    yield "a back end from the pipeline", run("server/pipeline/a.c", '#include "store/lmdb/lmdb.h"'), \
        "does not use"
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "store", "lmdb"))
        os.makedirs(os.path.join(root, "store", "memory"))
        open(os.path.join(root, "store", "lmdb", "lmdb.h"), "w", encoding="utf-8").close()
        around = findings_of(lambda f: layers.check_file(root, modules, "store/memory/a.c",
                                                         '#include "../lmdb/lmdb.h"\n', f))
        yield "a way around by ..", around, "does not use"
    yield "a new folder", run("server/new/a.c", ""), "belongs to no module"
    circle = layers.Modules("errata_module(a DIR a USES b)\nerrata_module(b DIR b USES a)")
    yield "a circle", findings_of(lambda f: layers.check_cycles(circle, f)), "uses itself"


def word_cases():
    def run(text):
        return findings_of(lambda f: words.check_words("a.c", text, f))

    yield "plain prose", run("The method to do this is stated."), None
    yield "unfinished", run("/* TO" + "DO: later */"), "unfinished work"
    yield "a registry", run("https://registry.npm" + "js.org/x"), "package registry"
    yield "a machine's path", run("see /ro" + "ot/notes"), "path of one machine"
    with tempfile.TemporaryDirectory() as folder:
        link = findings_of(lambda f: words.check_links(folder, "README.md", "[a](b.md)", f))
        yield "a dead link", link, "leads nowhere"
    named = findings_of(lambda f: words.check_scenarios("`e2e/x.py: test_a`, `test_b`",
                                                        {"test_a"}, f))
    yield "a test that is not there", named, "no test test_b"


def english_cases():
    def words_of(text):
        return [f"{line}: {word}" for line, word, _ in english.findings_in(text)]

    for word in ("behin" + "d", "stan" + "ds", "stoo" + "d", "tel" + "ls", "tol" + "d", "nobod" + "y",
                 "whateve" + "r", "ane" + "w"):
        yield f"the word {word}", words_of(f"/* The rest is {word} it. */\n"), word
        yield f"{word} in a name", words_of(f"static int is_{word}(void);\n"), word
        yield f"{word} within a word", words_of(f"static int x{word}(void);\n"), None
    yield "a word in capitals", words_of("the first\nTOL" + "D the second\n"), "2: TOL" + "D"
    yield "a predicate", words_of("the reply is no" + "ne\n"), "is none"
    yield "a predicate over two lines", words_of("/* The reply is n" + "o\n * message. */\n"), "1: is no * m"
    yield "there is no", words_of("there is no message, and there are no replies; it is no longer here\n"), None
    yield "a postfix", words_of("for tests alo" + "ne.\n"), "tests al" + "one"
    yield "a verb before it", words_of("a request that is alone\n"), None
    yield "a user's name", words_of("root becomes `nobod" + "y`, at file.tel" + "l()\n"), None
    yield "fewer words than allowed", findings_of(
        lambda f: english.check_words({"a": []}, {"a": 1}, f)), "fewer than the 1"
    yield "as many as allowed", findings_of(
        lambda f: english.check_words({"a": [("a/b.c", 1, "w", "x")]}, {"a": 1}, f)), None
    yield "a clean folder that is not listed", findings_of(
        lambda f: english.check_words({"a": []}, {}, f)), None
    more = findings_of(lambda f: english.check_words({"a": [("a/b.c", 7, "w", "x")]}, {}, f))
    yield "a new word", more[:1], "a/b.c:7: 'w' is banned"
    yield "the number of new words", more[1:], "1 banned words; 0 are allowed"
    counts = {"a/b": 2, "c": 1}
    yield "counts survive a round", ["differ"] * (
        english.read_counts(english.write_counts(counts)) != counts), None
    for subject, problem in (("net: bound the queue of a connection", None),
                             ("server/net: fix it", None),
                             ("measure: do not take an index for a table", None),
                             ("measure: do not the table", "'the' is not an imperative verb"),
                             ("bound the queue", "does not read"),
                             ("net: the queue is bounded", "'the' is not an imperative verb"),
                             ("net: bound", "does not read"),
                             ("net: bound the queue.", "full stop"),
                             ("net: bound " + "x" * 100, "exceeds"),
                             ("net: count bytes behin" + "d it", "is banned")):
        found = english.subject_problem(subject)
        yield f"subject '{subject[:30]}'", [] if found is None else [found], problem
    yield from history_cases()


def history_cases():
    """A repository with the file, a good and a bad subject; a shallow clone of it; and a folder without history."""
    with tempfile.TemporaryDirectory() as root:
        def git(*arguments, cwd="whole"):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false",
                            *arguments], cwd=os.path.join(root, cwd), check=True, capture_output=True)

        def subjects(folder="whole"):
            return findings_of(lambda f: english.check_subjects(os.path.join(root, folder), f))

        def commit(subject):
            git("commit", "--allow-empty", "-m", subject)

        os.makedirs(os.path.join(root, "whole", "tests", "tidy"))
        yield "no history", subjects(), "no git history"
        git("init", "-q")
        commit("the first one is exempt")
        with open(os.path.join(root, "whole", english.SELF), "w", encoding="utf-8"):
            pass
        yield "a file that is not committed yet", subjects(), None
        git("add", ".")
        commit("tidy: check English")
        commit("net: bound the queue of a connection")
        yield "good subjects", subjects(), None
        commit("what a queue is left with")
        yield "a bad subject", subjects(), "what a queue"
        git("clone", "-q", "--depth", "1", "file://" + os.path.join(root, "whole"), "shallow", cwd=".")
        yield "a shallow clone", subjects("shallow"), "git fetch --unshallow"
        git("clone", "-q", os.path.join(root, "whole"), "clone", cwd=".")
        yield "a whole clone", subjects("clone"), "what a queue"


def fault_cases():
    def run(code, listed=("store.get",)):
        return findings_of(lambda f: faults.check_points(faults.points_of("a.c", code), listed, f))

    point = 'return FAULT("store.get") ? ERR_IO : OK;\n'
    yield "a listed point", run(point), None
    yield "a point twice", run(point * 2), "is also at another place"
    yield "an unlisted point", run(point + 'FAULT("store.put");\n'), "not in the list"
    yield "a point that went", run(""), "there is no fault point"


def symbol_cases():
    """A compiled domain object that calls malloc and keeps a counter."""
    with tempfile.TemporaryDirectory() as build:
        folder = os.path.join(build, "CMakeFiles", "domain_text.dir", "server", "domain", "text")
        os.makedirs(folder)

        def compile_one(name, code):
            subprocess.run(["gcc", "-x", "c", "-c", "-o", os.path.join(folder, name), "-"],
                           input=code, text=True, check=True)
            lines = findings_of(lambda f: symbols.check("", build, f))
            os.unlink(os.path.join(folder, name))
            return lines

        yield "a pure object", compile_one("a.c.o", "int f(int a) { return a + 1; }"), None
        yield "malloc in the domain", compile_one(
            "a.c.o", "#include <stdlib.h>\nvoid *f(void) { return malloc(9); }"), "calls malloc"
        yield "a clock in the domain", compile_one(
            "a.c.o", "#include <time.h>\nlong f(void) { return time(0); }"), "calls time"
        yield "a mutable counter", compile_one(
            "a.c.o", "static int calls; int f(void) { return ++calls; }"), "'calls' is mutable"
        yield "a constant table", compile_one(
            "a.c.o", "static const char *const t[] = {\"a\"}; int f(int i) { return *t[i]; }"), None


def main():
    cases = [*shape_cases(), *layer_cases(), *word_cases(), *english_cases(), *fault_cases(), *symbol_cases()]
    failed = sum(not expect(*case) for case in cases)
    print(f"tidy_selftest: {len(cases) - failed} of {len(cases)} as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
