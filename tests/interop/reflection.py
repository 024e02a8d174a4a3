#!/usr/bin/python3
"""Server reflection, v1 and v1alpha: the very descriptors that protoc makes of the published files.

Goal: a client that knows no .proto (grpcurl, a gateway) can find and call everything, and learns nothing
that is not published. Method: each answer's bytes are compared with those that protoc makes of the files
that `errata proto` writes.
"""
import glob
import importlib
import os
import subprocess
import tempfile

import grpc

from erratad import BIN, ServerCase, main, prompt_service, status_of

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

VERSIONS = ("v1", "v1alpha")
SERVED_PACKAGES = ("errata.v1", "grpc.health.v1", "grpc.reflection.v1", "grpc.reflection.v1alpha")


def describe_published():
    """protoc's descriptor set of what `errata proto` writes."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(BIN, "errata"), "proto", "--out", folder], check=True,
                       stderr=subprocess.DEVNULL)
        names = [os.path.relpath(path, folder)
                 for path in glob.glob(os.path.join(folder, "**", "*.proto"), recursive=True)]
        out = os.path.join(folder, "set")
        subprocess.run(["protoc", "-I.", "-I/usr/include", "--include_imports",
                        f"--descriptor_set_out={out}", *names], cwd=folder, check=True)
        with open(out, "rb") as f:
            return f.read()


def split(descriptor_set):
    """Name -> a file's descriptor and its exact bytes, cut from the set unparsed."""
    files, at = {}, 0
    while at < len(descriptor_set):
        assert descriptor_set[at] == 10  # field 1, length-delimited
        size, shift, at = 0, 0, at + 1
        while True:
            byte = descriptor_set[at]
            size |= (byte & 127) << shift
            shift, at = shift + 7, at + 1
            if byte < 128:
                break
        encoded = descriptor_set[at:at + size]
        at += size
        file = descriptor_pb2.FileDescriptorProto.FromString(encoded)
        files[file.name] = (file, encoded)
    return files


class Reflection(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files = split(describe_published())

    def ask(self, version, **question):
        """Sends one request on a separate stream."""
        return self.ask_all(version, [question])[0]

    def ask_all(self, version, questions):
        pb2 = importlib.import_module(f"grpc.reflection.{version}.reflection_pb2")
        stubs = importlib.import_module(f"grpc.reflection.{version}.reflection_pb2_grpc")
        stub = stubs.ServerReflectionStub(self.server.client("").plain)
        requests = [pb2.ServerReflectionRequest(**q) for q in questions]
        replies = list(stub.ServerReflectionInfo(iter(requests), timeout=10))
        self.assertEqual([r.original_request for r in replies], requests)
        return replies

    def test_services_are_listed(self):
        for version in VERSIONS:
            listed = self.ask(version, list_services="").list_services_response.service
            made = {f"{file.package}.{service.name}" for file, _ in self.files.values()
                    for service in file.service if file.package in SERVED_PACKAGES}
            self.assertGreater(len(made), 6)
            self.assertEqual({s.name for s in listed}, made)

    def test_every_file_is_found_by_name(self):
        """Byte for byte what protoc made, the file asked for first, its imports after it."""
        wanted = [n for n in self.files if n.startswith(("errata/", "grpc/"))]
        self.assertGreater(len(wanted), 9)
        for version in VERSIONS:
            for name in wanted:
                reply = self.ask(version, file_by_filename=name)
                files = reply.file_descriptor_response.file_descriptor_proto
                self.assertEqual(files[0], self.files[name][1], name)
                for encoded in files[1:]:
                    made = descriptor_pb2.FileDescriptorProto.FromString(encoded)
                    self.assertEqual(encoded, self.files[made.name][1])

    def symbols(self):
        """(symbol, file) of every service, method, message and enum."""
        for file, _ in self.files.values():
            if not file.name.startswith(("errata/", "grpc/")):
                continue
            for service in file.service:
                full = f"{file.package}.{service.name}"
                yield full, file.name
                for method in service.method:
                    yield f"{full}.{method.name}", file.name
            for kind in (file.message_type, file.enum_type):
                for item in kind:
                    yield f"{file.package}.{item.name}", file.name
            for message in file.message_type:
                for nested in message.nested_type:
                    yield f"{file.package}.{message.name}.{nested.name}", file.name

    def test_every_symbol_is_found(self):
        symbols = list(self.symbols())
        self.assertGreater(len(symbols), 60)
        for version in VERSIONS:
            replies = self.ask_all(version, [{"file_containing_symbol": s} for s, _ in symbols])
            for (symbol, name), reply in zip(symbols, replies):
                files = reply.file_descriptor_response.file_descriptor_proto
                self.assertTrue(files, symbol)
                self.assertEqual(files[0], self.files[name][1], symbol)

    def test_nothing_private_is_served(self):
        """Neither the server's options nor a trace of them."""
        for version in VERSIONS:
            for question in ({"file_by_filename": "errata/options/options.proto"},
                             {"file_containing_symbol": "errata.options.method"},
                             {"file_containing_symbol": "errata.options.MethodRules"},
                             {"all_extension_numbers_of_type": "errata.options.MethodRules"},
                             {"file_containing_extension": {
                                 "containing_type": "google.protobuf.MethodOptions",
                                 "extension_number": 50801}}):
                reply = self.ask(version, **question)
                self.assertEqual(reply.error_response.error_code, grpc.StatusCode.NOT_FOUND.value[0])
            for name in self.files:
                reply = self.ask(version, file_by_filename=name)
                for encoded in reply.file_descriptor_response.file_descriptor_proto:
                    for private in (b"errata.options", b"errata/options", b"errata.payload"):
                        self.assertNotIn(private, encoded)

    def extensions(self):
        """(type, number) -> file, of every extension that the served files declare."""
        found = {}
        for file, _ in self.files.values():
            for holder in (file, *file.message_type):
                for field in holder.extension:
                    found[field.extendee.lstrip("."), field.number] = file.name
        return found

    def test_every_extension_is_found(self):
        extensions = self.extensions()
        for version in VERSIONS:
            for name in sorted({name for name, _ in extensions}):
                listed = self.ask(version, all_extension_numbers_of_type=name)
                answer = listed.all_extension_numbers_response
                self.assertEqual(answer.base_type_name, name)
                self.assertEqual(list(answer.extension_number),
                                 sorted(n for other, n in extensions if other == name))
            for (name, number), file in extensions.items():
                reply = self.ask(version, file_containing_extension={
                    "containing_type": name, "extension_number": number})
                files = reply.file_descriptor_response.file_descriptor_proto
                self.assertEqual(files[0], self.files[file][1])

    def test_types_without_extensions_have_an_empty_list(self):
        """A message that has none has an empty list; one that is not known is not found."""
        for version in VERSIONS:
            for name in ("errata.v1.FeedbackEvent", "google.rpc.BadRequest.FieldViolation",
                         "google.protobuf.Duration"):
                reply = self.ask(version, all_extension_numbers_of_type=name)
                self.assertEqual(reply.WhichOneof("message_response"), "all_extension_numbers_response")
                self.assertEqual(reply.all_extension_numbers_response.base_type_name, name)
                self.assertFalse(reply.all_extension_numbers_response.extension_number)
            for question in ({"all_extension_numbers_of_type": "errata.v1.NoSuchThing"},
                             {"all_extension_numbers_of_type": "errata.v1.Role"},  # an enum
                             {"all_extension_numbers_of_type": "errata/v1/role.proto"},
                             {"all_extension_numbers_of_type": ""},
                             {"file_containing_extension": {
                                 "containing_type": "errata.v1.NoSuchThing", "extension_number": 1}},
                             {"file_containing_extension": {
                                 "containing_type": "google.protobuf.MethodOptions",
                                 "extension_number": 1}},
                             {"file_containing_extension": {}}):
                reply = self.ask(version, **question)
                self.assertEqual(reply.error_response.error_code, grpc.StatusCode.NOT_FOUND.value[0])

    def test_error_details_can_be_resolved(self):
        """The requests that grpcurl sends to print the details of a failed call: for each detail the file of its type,
        then its extensions. The types are decoded using only the responses."""
        error = self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.admin.prompts.GetExamples,
                                 prompt_service.GetExamplesRequest(layout_fingerprint="x" * 129, max_examples=99))
        for version in VERSIONS:
            shown = {}
            for detail in status_of(error).details:
                name = detail.type_url.rpartition("/")[2]
                replies = self.ask_all(version, [{"file_containing_symbol": name},
                                                 {"all_extension_numbers_of_type": name}])
                pool = descriptor_pool.DescriptorPool()
                for encoded in reversed(replies[0].file_descriptor_response.file_descriptor_proto):
                    pool.AddSerializedFile(encoded)
                self.assertEqual(replies[1].all_extension_numbers_response.base_type_name, name)
                made = message_factory.MessageFactory(pool).GetPrototype(
                    pool.FindMessageTypeByName(name))
                shown[name] = made.FromString(detail.value)
            self.assertIn("google.rpc.BadRequest", shown)
            fields = {v.field for v in shown["google.rpc.BadRequest"].field_violations}
            self.assertEqual(fields, {"layout_fingerprint", "max_examples"})

    def test_unknown_is_an_answer_not_a_failure(self):
        for version in VERSIONS:
            replies = self.ask_all(version, [
                {"file_by_filename": "no/such.proto"},
                {"file_containing_symbol": "errata.v1.NoSuchThing"},
                {"list_services": ""},
            ])
            for reply in replies[:2]:
                self.assertEqual(reply.error_response.error_code,
                                 grpc.StatusCode.NOT_FOUND.value[0])
            self.assertTrue(replies[2].list_services_response.service)


if __name__ == "__main__":
    main()
