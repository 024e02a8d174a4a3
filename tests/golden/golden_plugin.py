#!/usr/bin/python3
"""Output of protoc-gen-errata, and schemas that it refuses.

Goal: a change of the generator, of protoc or of Python's protobuf cannot change the generated code unnoticed, and no
method without rules gets into a table.
Method: generates the example again and compares it with the committed files; compiles the result with all warnings as
errors; passes schemas with one fault each to the generator.
"""
import glob
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import generator  # noqa: E402

WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wundef", "-Wstrict-prototypes",
            "-Wmissing-prototypes", "-Wcast-align", "-Wwrite-strings", "-Wvla", "-Wswitch", "-Werror"]

HEAD = """syntax = "proto3";
package faulty.v1;
import "errata/options/options.proto";
message A { string a = 1; }
message Loop { Loop inner = 1; }
service FaultyService {
"""
GOOD = "roles: [ROLE_ADMIN] transaction: TRANSACTION_READ"


def method(rules=GOOD, request="A", reply="A"):
    option = f"{{ option (errata.options.method) = {{ {rules} }}; }}" if rules is not None else ";"
    return f"{HEAD}  rpc Call({request}) returns ({reply}) {option}\n}}\n"


class Golden(unittest.TestCase):
    def test_output_is_as_committed(self):
        with tempfile.TemporaryDirectory() as out:
            pinned = generator.generate(out)
        expected = {}
        for where, _, names in os.walk(generator.EXPECTED):
            for name in names:
                path = os.path.join(where, name)
                with open(path, encoding="utf-8") as file:
                    expected[os.path.relpath(path, generator.EXPECTED)[:-len(".golden")]] = file.read()
        self.assertGreater(len(expected), 8)
        self.assertEqual(sorted(pinned), sorted(expected), "other files; tests/golden/renew")
        self.maxDiff = None
        for name, text in pinned.items():
            self.assertEqual(text, expected[name], f"{name} differs; tests/golden/renew")

    def test_output_compiles_without_a_warning(self):
        with tempfile.TemporaryDirectory() as out:
            generator.write_all(out)
            protos = generator.PROTOS + ["errata/options/options.proto", "errata/v1/role.proto",
                                         "google/api/field_behavior.proto",
                                         "google/protobuf/timestamp.proto",
                                         "google/protobuf/descriptor.proto"]
            wire = os.path.join(out, "wire")
            os.makedirs(wire)
            plugin = f"{generator.ROOT}/tools/gen/protoc-gen-c-optional"
            code, errors = generator.run_protoc([f"--plugin=protoc-gen-c-optional={plugin}",
                                                 f"--c-optional_out={wire}", *protos])
            self.assertEqual(code, 0, errors)
            role = os.path.join(out, "role")
            code, errors = generator.run_plugin("fields", role, ["errata/v1/role.proto"])
            self.assertEqual(code, 0, errors)
            # Files that tools/cmake/tables.cmake joins.
            with open(os.path.join(out, "tables.def"), "w", encoding="utf-8") as tables:
                for path in [f"{generator.ROOT}/store/tables.def",
                             *sorted(glob.glob(f"{generator.ROOT}/server/domain/*/tables.def"))]:
                    with open(path, encoding="utf-8") as file:
                        tables.write(file.read())
            includes = [f"-I{out}"]
            for name in ("fields", "contract", "dispatch", "stubs", "views", "events"):
                includes.append(f"-I{out}/{name}")
            sources = [os.path.join(where, name) for where, _, names in os.walk(out)
                       for name in names if name.endswith((".c", ".fields.h"))
                       and not where.startswith(wire)]
            self.assertGreater(len(sources), 5)
            for source in sources:
                done = subprocess.run(
                    ["cc", "-std=gnu17", "-D_GNU_SOURCE", "-fsyntax-only", *WARNINGS, "-x", "c",
                     f"-I{generator.ROOT}", f"-I{generator.ROOT}/client/include", f"-I{role}",
                     *includes, "-isystem", wire, source],
                    stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)


class Refusals(unittest.TestCase):
    def run_on(self, text, what="contract", options=""):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "faulty.proto"), "w", encoding="utf-8") as file:
                file.write(text)
            return generator.run_plugin(what, os.path.join(folder, "out"), ["faulty.proto"], options,
                                        folder)

    def assert_refused(self, reason, text, **more):
        code, errors = self.run_on(text, **more)
        self.assertNotEqual(code, 0, "the generator took it")
        self.assertIn(reason, errors)
        if "unknown" not in reason:
            self.assertIn("faulty.v1.FaultyService/Call", errors)

    def test_takes_a_whole_method(self):
        self.assertEqual(self.run_on(method()), (0, ""))

    def test_refuses_a_method_without_rules(self):
        self.assert_refused("has no rules", method(None))

    def test_refuses_a_method_without_roles(self):
        self.assert_refused("has no roles", method("transaction: TRANSACTION_READ"))
        self.assert_refused("ROLE_UNSPECIFIED", method(GOOD + " roles: [ROLE_UNSPECIFIED]"))

    def test_refuses_a_method_without_transaction(self):
        self.assert_refused("says no transaction", method("roles: [ROLE_ADMIN]"))

    def test_refuses_backfill_roles_that_may_not_call(self):
        self.assert_refused("backfill_roles", method(GOOD + " backfill_roles: [ROLE_SERVICE]"))

    def test_refuses_half_a_list_and_a_list_that_writes(self):
        head = HEAD.replace("message Loop", "message List { int32 page_size = 1; string page_token = 2; "
                            "string next_page_token = 3; } message Loop")
        for request, reply in (("A", "List"), ("List", "A")):
            self.assert_refused("is half a list", method(request=request, reply=reply).replace(HEAD, head),
                                what="dispatch")
        self.assert_refused("is a list and no plain read",
                            method("roles: [ROLE_ADMIN] transaction: TRANSACTION_WRITE", "List",
                                   "List").replace(HEAD, head), what="dispatch")
        self.assertEqual(self.run_on(method(request="List", reply="List").replace(HEAD, head),
                                     what="dispatch"), (0, ""))

    def test_refuses_a_kind_of_event_that_nothing_applies(self):
        values = 'A = 1 [(errata.options.event).apply = "x"]; B = 2 {};'
        kinds = ('syntax = "proto3"; package faulty.v1; import "errata/options/options.proto";'
                 "enum Kind {{ NONE = 0; " + values + " }}")
        for option, reason in (("", "no capability applies B"),
                               ('[(errata.options.event) = {apply: ["x", "x"]}]', "B is applied twice")):
            code, errors = self.run_on(kinds.format(option), what="events")
            self.assertNotEqual(code, 0, "the generator took it")
            self.assertIn(reason, errors)
        code, errors = self.run_on(kinds.format('[(errata.options.event).apply = "y"]'), what="events")
        self.assertEqual((code, errors), (0, ""))

    def test_refuses_a_kind_of_event_that_another_capability_retracts(self):
        kinds = ('syntax = "proto3"; package faulty.v1; import "errata/options/options.proto";'
                 'enum Kind {{ NONE = 0; A = 1 [(errata.options.event) = {{apply: "x" {}}}]; }}')
        for option in ('retract: "y"', 'retract: "x" reversal: "DropX"'):
            code, errors = self.run_on(kinds.format(option), what="retract")
            self.assertNotEqual(code, 0, "the generator took it")
            self.assertIn("A has `retract`", errors)
        self.assertEqual(self.run_on(kinds.format('retract: "x"'), what="retract"), (0, ""))

    def test_refuses_payloads_that_are_not_in_the_order_of_kinds(self):
        event = ('syntax = "proto3"; package faulty.v1; import "errata/options/options.proto";'
                 'enum EventKind {{ NONE = 0; A = 1 [(errata.options.event).apply = "x"];'
                 'B = 2 [(errata.options.event).apply = "x"]; }}'
                 "message Event {{ oneof payload {{ string a = 5; string b = {}; }} }}")
        self.assertEqual(self.run_on(event.format(6), what="events"), (0, ""))
        code, errors = self.run_on(event.format(7), what="events")
        self.assertNotEqual(code, 0, "the generator took it")
        self.assertIn("one payload for each kind", errors)

    def test_refuses_streams_both_ways(self):
        self.assert_refused("streams both ways", method(request="stream A", reply="stream A"))

    def test_refuses_a_stream_of_requests_without_a_stage(self):
        self.assert_refused("give it a stage", method(request="stream A"))
        staged = method(GOOD + " stage: STAGE_PREPARE_DOCUMENT", request="stream A")
        self.assertEqual(self.run_on(staged), (0, ""))

    def test_refuses_an_open_stream_of_requests(self):
        self.assert_refused("streams its requests", method(None, request="stream A"),
                            options=",open=faulty.v1")
        both = method(None, request="stream A", reply="stream A")
        self.assertEqual(self.run_on(both, options=",open=faulty.v1")[0], 0)

    def test_refuses_a_stream_of_replies_that_prepares_or_writes(self):
        for stage in ("STAGE_PREPARE", "STAGE_PREPARE_ON_POOL", "STAGE_PREPARE_DOCUMENT"):
            self.assert_refused("streams its replies",
                                method(f"{GOOD} stage: {stage}", reply="stream A"))
        writes = "roles: [ROLE_ADMIN] transaction: TRANSACTION_WRITE"
        self.assert_refused("streams its replies", method(writes, reply="stream A"))

    def test_refuses_an_execution_of_what_is_no_read(self):
        pool = " execution: EXECUTION_ON_POOL"
        self.assert_refused("has an `execution`", method(GOOD + " execution: EXECUTION_BY_COST", reply="stream A"))
        writes = "roles: [ROLE_ADMIN] transaction: TRANSACTION_WRITE"
        self.assert_refused("has an `execution`", method(writes + pool))
        self.assertEqual(self.run_on(method(GOOD + pool)), (0, ""))

    def test_refuses_rules_on_an_open_method(self):
        self.assert_refused("is open to everyone", method(), options=",open=faulty.v1")
        self.assertEqual(self.run_on(method(None), options=",open=faulty.v1")[0], 0)

    def test_refuses_a_stub_whose_reply_holds_itself(self):
        self.assert_refused("within itself", method(reply="Loop"), what="stubs")

    def test_refuses_two_stubs_of_one_name(self):
        text = method()
        text += text[text.index("service"):].replace("FaultyService", "OtherService")
        self.assertEqual(self.run_on(text), (0, ""))
        self.assert_refused("both have a stub errata_call", text, what="stubs")
        more = f"rpc CallWait(A) returns (A) {{ option (errata.options.method) = {{ {GOOD} }}; }}\n  rpc"
        text = method().replace("rpc", more)
        self.assert_refused("both have a stub errata_call_wait", text, what="stubs")

    def test_refuses_a_view_of_what_a_view_has_not(self):
        view = "option (errata.options.message).view = true;"
        text = method().replace("message A {", f"message A {{ {view} ")
        self.assertEqual(self.run_on(text, what="views"), (0, ""))
        for kind in ("float", "fixed32", "sint32"):
            code, errors = self.run_on(text.replace("string a = 1", f"{kind} a = 1"), what="views")
            self.assertNotEqual(code, 0, kind)
            self.assertIn("faulty.v1.A.a: a view has no member for this type", errors)
        code, errors = self.run_on(text.replace("string a = 1", "repeated sint64 a = 1"), what="views")
        self.assertNotEqual(code, 0, "repeated sint64")
        self.assertIn("faulty.v1.A.a: a view has no lists of sint64", errors)
        for kind in ("repeated bytes", "optional bytes"):
            sized = f"{kind} a = 1 [(errata.options.field).exact_bytes = 16]"
            code, errors = self.run_on(text.replace("string a = 1", sized), what="views")
            self.assertNotEqual(code, 0, kind)
            self.assertIn("faulty.v1.A.a: exact_bytes is for a field that is neither", errors)
        code, errors = self.run_on(text + "enum AView { A_VIEW_UNSPECIFIED = 0; }", what="views")
        self.assertNotEqual(code, 0, "two things of one name")
        self.assertIn("faulty.v1.A: its view would have the name of an enum", errors)

    def test_refuses_options_that_it_does_not_know(self):
        self.assert_refused("unknown", method(), what="everything")
        self.assert_refused("unknown", method(), options=",shut=faulty.v1")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
