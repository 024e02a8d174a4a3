#!/usr/bin/python3
"""Nonsense in every field of every method: refused, naming all bad fields at once.

Goal: no field can be forgotten by a check, also none that is added later. Method: requests are built
from the descriptors and their field rules, as wire bytes, since no library would write them; the
expected refusals follow from the same rules.
"""
import struct
import time

import grpc

from erratad import (FAULT_ENTRIES_MAX, ServerCase, error_details_pb2, fields_in, is_output_only, is_plain_message,
                     is_required, is_stream, main, methods, one_of_each, options, status_pb2)

BAD_TEXT = {
    options.FORMAT_OPAQUE_ID: b"a" * 129,
    options.FORMAT_UUID: b"no-uuid",
    options.FORMAT_JSON_OBJECT: b"[1,",
    options.FORMAT_NAME: b" a name ",
    options.FORMAT_KEY_ID: b"XYZ",
    options.FORMAT_PAGE_TOKEN: b"nonsense",
}
MILLISECONDS_MAX = 1000


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def tagged(field, payload):
    """A field's bytes: text and bytes for length-delimited, a number for others."""
    if field.type == field.TYPE_DOUBLE:
        return varint(field.number << 3 | 1) + struct.pack("<d", payload)
    if field.type == field.TYPE_FLOAT:
        return varint(field.number << 3 | 5) + struct.pack("<f", payload)
    if isinstance(payload, int):
        return varint(field.number << 3) + varint(payload)
    return varint(field.number << 3 | 2) + varint(len(payload)) + payload


def reason_in(details):
    """The name of the error, by the ErrorInfo of an encoded google.rpc.Status."""
    for detail in status_pb2.Status.FromString(details).details:
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            return info.reason
    return None


def rules_of(field):
    return field.GetOptions().Extensions[options.field]


def breaks_a_rule(field):
    """A value that the field's own rule refuses; None if the field has no rule."""
    rules = rules_of(field)
    if field.type == field.TYPE_BYTES and is_output_only(field):
        return b"x"
    if field.type == field.TYPE_STRING:
        if is_output_only(field):
            return b"x"
        if rules.format in BAD_TEXT:
            return BAD_TEXT[rules.format]
        return b"a" * (rules.max_bytes + 1) if rules.max_bytes else None
    if field.type == field.TYPE_MESSAGE:
        if field.message_type.full_name == "google.protobuf.Timestamp":
            if is_output_only(field):
                return varint(1 << 3) + varint(1)
            return varint(1 << 3) + varint(int(time.time()) + 10**7) if rules.not_future else None
        return None
    if field.type == field.TYPE_ENUM:
        return None if is_output_only(field) else 9999
    if is_output_only(field):
        return 1
    if rules.not_negative:
        return (1 << 64) - 1  # -1
    return rules.max_value + 1 if rules.max_value else None


def nonsense(message, value_of, path=""):
    """(wire bytes, paths of the bad fields) of a message whose every field has such a value."""
    wire, paths = b"", []
    for field in one_of_each(message):
        repeated = field.label == field.LABEL_REPEATED
        name = path + field.name + ("[0]" if repeated else "")
        if is_plain_message(field):
            if is_output_only(field):
                wire += tagged(field, b"")
                paths.append(path + field.name)
                continue
            inner, below = nonsense(field.message_type, value_of, name + ".")
            wire += tagged(field, inner)
            paths += below
            continue
        value = value_of(field)
        if value is not None:
            wire += tagged(field, value)
            paths.append(path + field.name if is_output_only(field) else name)
    return wire, paths


def missing(message, path=""):
    """Paths of the required fields of an empty message; those inside a message that is present."""
    return [path + f.name for f in message.fields if is_required(f)]


GOOD_TEXT = {
    options.FORMAT_UUID: b"00000000-0000-7000-8000-000000000000",
    options.FORMAT_JSON_OBJECT: b"{}",
    options.FORMAT_KEY_ID: b"00000000",
}


def minimal(message):
    """A minimal message that its rules accept."""
    wire = b""
    for field in message.fields:
        rules = rules_of(field)
        if is_required(field) and is_plain_message(field):
            wire += tagged(field, minimal(field.message_type))
        elif is_required(field) and field.type == field.TYPE_MESSAGE:
            wire += tagged(field, b"")  # a time
        elif is_required(field):
            wire += tagged(field, GOOD_TEXT.get(rules.format, b"a")
                           if field.type in (field.TYPE_STRING, field.TYPE_BYTES) else 1)
    return wire


class Nonsense(ServerCase):
    def call(self, path, wire):
        return self.admin.raw_any(path, wire)

    def expect_all(self, path, wire, paths, what):
        start = time.perf_counter()
        code, message, details = self.call(path, wire)
        taken_ms = (time.perf_counter() - start) * 1000
        self.assertEqual(code, grpc.StatusCode.INVALID_ARGUMENT, f"{path} {what}: {message}")
        named = fields_in(details)
        wanted = set(paths[:FAULT_ENTRIES_MAX])
        self.assertLessEqual(wanted, set(named), f"{path} {what}: not named")
        for field in wanted:
            self.assertGreater(len(named[field]), 10, f"{path} {field}: says nothing")
        self.assertLess(taken_ms, MILLISECONDS_MAX, path)

    def each(self, value_of, what, at_least):
        tried = 0
        for path, method, _ in methods():
            wire, paths = nonsense(method.input_type, value_of)
            if paths:
                self.expect_all(path, wire, paths, what)
                tried += 1
        self.assertGreaterEqual(tried, at_least)

    def test_every_broken_rule_is_reported(self):
        self.each(breaks_a_rule, "rules", 10)

    def test_invalid_utf8_is_refused_in_every_text(self):
        self.each(lambda f: b"a\xffb" if f.type == f.TYPE_STRING else None, "UTF-8", 10)

    def test_nul_is_refused_in_every_text(self):
        self.each(lambda f: b"a\0b" if f.type == f.TYPE_STRING else None, "NUL", 10)

    def test_unknown_enum_values_are_refused(self):
        self.each(lambda f: 9999 if f.type == f.TYPE_ENUM and not is_output_only(f) else None,
                  "enum", 4)

    def test_missing_required_fields_are_reported(self):
        tried = 0
        for path, method, _ in methods():
            paths = missing(method.input_type)
            if paths:
                self.expect_all(path, b"", paths, "missing")
                tried += 1
            for field in method.input_type.fields:
                if is_plain_message(field) and missing(field.message_type):
                    index = "[0]." if field.label == field.LABEL_REPEATED else "."
                    self.expect_all(path, tagged(field, b""),
                                    missing(field.message_type, field.name + index), "inner")
        self.assertGreater(tried, 5)

    def test_lists_above_their_bound_are_refused(self):
        for path, method, _ in methods():
            for field in method.input_type.fields:
                rules = rules_of(field)
                if field.label == field.LABEL_REPEATED and rules.max_items:
                    item = 1
                    if field.type == field.TYPE_MESSAGE:
                        item = minimal(field.message_type)
                    elif field.type == field.TYPE_STRING:
                        item = GOOD_TEXT.get(rules.format, b"x")
                    wire = tagged(field, item) * (rules.max_items + 1)
                    code, message, details = self.call(path, wire)
                    self.assertEqual(code, grpc.StatusCode.INVALID_ARGUMENT, path)
                    self.assertIn(field.name, fields_in(details), path)

    def test_undecodable_bytes_are_refused(self):
        """A wrong wire type, a cut field, an overlong varint, a group: refused with INTERNAL, as
        gRPC specifies."""
        for path, method, _ in methods():
            if not method.input_type.fields:
                continue
            number = method.input_type.fields[0].number
            for wire in (varint(number << 3 | 5) + b"abc", varint(number << 3 | 2) + b"\x7fabc",
                         b"\xff" * 11, varint(number << 3 | 3), varint(0)):
                code, message, _ = self.call(path, wire)
                self.assertEqual(code, grpc.StatusCode.INTERNAL, f"{path} {wire!r}: {message}")

    def test_unknown_fields_are_ignored(self):
        """An unknown field of a newer client has no effect: the response is that to the request
        without it."""
        for path, method, _ in methods():
            if is_stream(path) or path.endswith("/GetServerInfo"):
                continue
            extra = varint(9999 << 3 | 2) + varint(3) + b"new"
            self.assertEqual(self.call(path, b"")[:2], self.call(path, extra)[:2], path)

    def test_unknown_methods_are_unimplemented(self):
        for path in ("/errata.v1.FeedbackService/NoSuchMethod", "/errata.v1.NoService/Get",
                     "/errata.v1.correctionservice/GetExamples", "/x"):
            code, _, details = self.call(path, b"")
            self.assertEqual(code, grpc.StatusCode.UNIMPLEMENTED, path)
            self.assertEqual(reason_in(details), "UNIMPLEMENTED")

    def test_too_large_message_is_refused_before_it_is_read(self):
        """Refusals of the transport have the same details as all failures."""
        code, message, details = self.call("/errata.v1.FeedbackService/CaptureFeedbackEvent",
                                           bytes((16 << 20) + 1))
        self.assertEqual(code, grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertIn("16777217", message)
        self.assertEqual(reason_in(details), "TOO_LARGE")


if __name__ == "__main__":
    main()
