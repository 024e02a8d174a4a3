#!/usr/bin/python3
"""The published .proto files: the sources less what only the server reads.

Goal: callers and reflection see nothing private, and lose nothing else. Method: protoc's descriptors of the
published files are compared with those of the sources, from which the test takes the private options by
itself; words that name the server's inside are searched in the text; tools/gen/publish gets each form of
an option, and one that it does not know.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

from google.protobuf import descriptor_pb2

sys.dont_write_bytecode = True

from generator import ROOT, run_protoc  # noqa: E402

sys.path.insert(0, os.path.join(ROOT, "tools", "gen"))
from errata_gen.model import wire_fields  # noqa: E402

PUBLISH = os.path.join(ROOT, "tools", "gen", "publish")
PRIVATE = ("errata/options/", "errata/payload/")
# Numbers of the extensions in proto/errata/options/options.proto.
PRIVATE_OPTION = 50801
# The server's inside, which no caller needs to know.
INSIDE = re.compile(r"\b(transactions?|TRANSACTION_\w+|STAGE_\w+|stages?|reactor|group commit|event loop|"
                    r"thread ?pool|on the pool|writer thread|LMDB|libuv|protobuf-c|"
                    r"errata\.(options|payload)|errata/(options|payload)|options\.proto)\b")

SOURCE = """syntax = "proto3";

package sample.v1;

import "errata/options/options.proto";
import "google/protobuf/timestamp.proto";

// A service.
service SampleService {
  // One call.
  rpc Call(Sample) returns (Sample) {
    // Not for callers.
    option (errata.options.method) = {
      roles: [ROLE_ADMIN]
      transaction: TRANSACTION_READ
    };
  }
  // Another.
  rpc Ask(Sample) returns (Sample) {
    option idempotency_level = NO_SIDE_EFFECTS;
    option (errata.options.method) = {roles: [ROLE_ADMIN] transaction: TRANSACTION_READ};
  }
}

// A message.
message Sample {
  option (errata.options.message).view = true;

  // Text in brackets [such as this] stays.
  string id = 1 [(errata.options.field).content = true, (errata.options.field).max_bytes = 9];
  string old = 2 [deprecated = true, (errata.options.field).max_bytes = 9];
  string json = 3 [
    (errata.options.field).content = true,
    json_name = "j"
  ];
  repeated int64 numbers = 4 [packed = false];
  google.protobuf.Timestamp at = 5 [(errata.options.field).not_future = true];
}
"""
PUBLISHED = """syntax = "proto3";

package sample.v1;

import "google/protobuf/timestamp.proto";

// A service.
service SampleService {
  // One call.
  rpc Call(Sample) returns (Sample);
  // Another.
  rpc Ask(Sample) returns (Sample) {
    option idempotency_level = NO_SIDE_EFFECTS;
  }
}

// A message.
message Sample {
  // Text in brackets [such as this] stays.
  string id = 1;
  string old = 2 [deprecated = true];
  string json = 3 [json_name = "j"];
  repeated int64 numbers = 4 [packed = false];
  google.protobuf.Timestamp at = 5;
}
"""


def names_of(folder, *patterns):
    return sorted(os.path.relpath(path, folder) for pattern in patterns
                  for path in glob.glob(os.path.join(folder, pattern), recursive=True))


def publish(source, target, names):
    return subprocess.run([PUBLISH, "--from", source, "--to", target, *names], capture_output=True,
                          text=True, check=False)


def descriptors(folder, names):
    """Name -> descriptor of each of the files, by protoc."""
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "set")
        done = subprocess.run(["protoc", f"-I{folder}", "-I/usr/include", f"--descriptor_set_out={out}",
                               *names], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        with open(out, "rb") as file:
            found = descriptor_pb2.FileDescriptorSet.FromString(file.read())
    return {file.name: file for file in found.file}


def without_option(options):
    """The options' bytes less the private extension."""
    return b"".join(whole for number, _, _, whole in wire_fields(options.SerializeToString())
                    if number != PRIVATE_OPTION)


def strip(message):
    """Takes the private extension out of every options message, at any depth."""
    todo = [message]
    while todo:
        item = todo.pop()
        for field, value in item.ListFields():
            if field.type != field.TYPE_MESSAGE:
                continue
            for inner in value if field.label == field.LABEL_REPEATED else [value]:
                if field.name == "options":
                    kept = without_option(inner)
                    item.ClearField("options")
                    if kept:
                        item.options.MergeFromString(kept)
                else:
                    todo.append(inner)


class Contract(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        proto = os.path.join(ROOT, "proto")
        cls.names = names_of(proto, "errata/v1/*.proto", "google/**/*.proto", "grpc/**/*.proto")
        done = publish(proto, cls.folder.name, cls.names)
        assert done.returncode == 0, done.stderr
        cls.sources = descriptors(proto, cls.names)
        cls.published = descriptors(cls.folder.name, cls.names)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_is_the_source_without_what_is_private(self):
        self.assertGreater(len(self.names), 12)
        for name, source in self.sources.items():
            kept = [path for path in source.dependency if not path.startswith(PRIVATE)]
            self.assertLessEqual(len(source.dependency) - len(kept), 1, name)
            del source.dependency[:]
            source.dependency.extend(kept)
            strip(source)
            self.assertEqual(self.published[name], source, name)

    def test_the_servers_part_of_a_payload_is_opaque(self):
        """Each message of errata.payload is the content of one published field of bytes."""
        private = descriptors(os.path.join(ROOT, "proto"), ["errata/payload/payload.proto"])
        parts = [message.name for message in private["errata/payload/payload.proto"].message_type]
        opaque = [message.name + "Internal" for file in self.published.values()
                  for message in file.message_type for field in message.field
                  if field.name == "internal" and field.type == field.TYPE_BYTES]
        self.assertGreater(len(parts), 3)
        self.assertEqual(sorted(parts), sorted(opaque))

    def test_names_nothing_of_the_inside(self):
        found = []
        for name in self.names:
            if not name.startswith("errata/"):
                continue
            with open(os.path.join(self.folder.name, name), encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    found += [f"{name}:{number}: {match.group(0)}: {line.strip()}"
                              for match in INSIDE.finditer(line)]
        self.assertEqual(found, [])


class Forms(unittest.TestCase):
    def publish(self, text):
        with tempfile.TemporaryDirectory() as source, tempfile.TemporaryDirectory() as target:
            with open(os.path.join(source, "sample.proto"), "w", encoding="utf-8") as file:
                file.write(text)
            code, errors = run_protoc(["-o/dev/null", "sample.proto"], source)
            self.assertEqual((code, errors), (0, ""), "the sample is not valid")
            done = publish(source, target, ["sample.proto"])
            if done.returncode != 0:
                return None, done.stderr
            with open(os.path.join(target, "sample.proto"), encoding="utf-8") as file:
                return file.read(), done.stderr

    def test_each_form_is_published_without_options(self):
        self.maxDiff = None
        self.assertEqual(self.publish(SOURCE), (PUBLISHED, ""))
        self.assertEqual(self.publish(PUBLISHED), (PUBLISHED, ""))

    def test_refuses_a_form_that_it_does_not_know(self):
        for known, unknown in (
                ("(errata.options.message).view = true", "(.errata.options.message).view = true"),
                ("(errata.options.field).not_future = true",
                 "(errata.options.field) = {not_future: true}"),
                ("// A message.", "// A message; see errata.options.FieldRules.")):
            self.assertIn(known, SOURCE)
            text, errors = self.publish(SOURCE.replace(known, unknown))
            self.assertIsNone(text)
            self.assertIn("names a private package", errors)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
