#!/usr/bin/python3
"""Requests whose every field is at its documented limit: stored, or refused for a reason other than their size.

Goal: no limit of the store, of an event or of a message is smaller than the limits of the contract, also of fields and
methods that are added later. Method: requests of each method that writes, filled by the field rules of the contract;
requests that refer to data of the server are refused for that reason.
"""
import time
import uuid

import grpc
from google.protobuf import message_factory

from erratad import ServerCase, is_output_only, is_plain_message, main, methods, one_of_each, options

ID_BYTES = 128
TEXT_BYTES = 60 << 10  # size of a text without its own limit: more than a value that is cut, less than the metadata of an event
ITEMS = 100  # size of a list without its own limit
REQUEST_BYTES_MAX = 15 << 20  # a little less than the limit of requests
LETTERS = 0x20000  # four bytes each, so that limits in characters are reached with those in bytes
# Limits that a field's rules do not have: those of its characters, and of different items.
BYTES = {"missing_spec": 400}
ITEMS_OF = {"missing_spec": 50}
GIVEN = {"suggestions_json": '{"suggestions":["a"]}', "cue_class": "NEGATION", "insertion_point": "a" * 64}
# References to data that only the server makes, and fields that exclude others: a request with one is refused for it.
LEFT_OUT = {"exposure_ref", "exposure_refs", "id", "org_id", "replaces_guideline_ids", "example_ids", "rejected_indicators",
            "missed_indicators"}
STORED = {
    "CreateOrganization", "UpdateSettings", "RecordDecision", "RecordExtraction", "CaptureFeedbackEvent",
    "BatchCaptureFeedbackEvents", "ProposeGuideline", "ProposeArtifact", "SuggestMapping", "ConfirmMapping", "RejectMapping",
    "BatchJudgeMappings", "PutPromptTemplate", "SubmitReview", "PutItem", "SetTriggerThresholds", "RecordTurn",
    "DetectFeedback", "SetFeedback", "SubmitVerdict", "ProposeRules"}
REFUSED_FOR_SIZE = (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNAVAILABLE,
                    grpc.StatusCode.UNKNOWN, grpc.StatusCode.DEADLINE_EXCEEDED)


def rules_of(field):
    return field.GetOptions().Extensions[options.field]


def text_of(size, number):
    return chr(LETTERS + number) * (size // 4) + "x" * (size % 4)


def longest_text(field, number):
    rules = rules_of(field)
    if field.name in GIVEN:
        return GIVEN[field.name]
    if rules.format == options.FORMAT_UUID:
        return str(uuid.UUID(int=(7 << 76) | (8 << 60) | number + 1))
    if rules.format == options.FORMAT_KEY_ID:
        return "00000000"
    if rules.format == options.FORMAT_JSON_OBJECT:
        return '{"note":"%s"}' % text_of((rules.max_bytes or TEXT_BYTES) - 11, number)
    if rules.format in (options.FORMAT_OPAQUE_ID, options.FORMAT_NAME):
        return text_of(ID_BYTES, number)
    return text_of(BYTES.get(field.name) or rules.max_bytes or TEXT_BYTES, number)


def largest(field, number):
    rules = rules_of(field)
    if field.type == field.TYPE_STRING:
        return longest_text(field, number)
    if field.type == field.TYPE_BYTES:
        return b"x" * (rules.max_bytes or TEXT_BYTES)
    if field.type == field.TYPE_ENUM:
        return field.enum_type.values[1].number
    return True if field.type == field.TYPE_BOOL else rules.max_value or 1


def put(message, field, number):
    """Sets a field; of a list adds the item with this number."""
    repeated = field.label == field.LABEL_REPEATED
    place = getattr(message, field.name)
    if field.type == field.TYPE_MESSAGE and field.message_type.GetOptions().map_entry:
        place[text_of(ID_BYTES, number)] = text_of(ID_BYTES, number)
    elif is_plain_message(field):
        fill(place.add() if repeated else place, number)
    elif field.type == field.TYPE_MESSAGE:
        if field.message_type.name == "Timestamp":
            place.FromSeconds(int(time.time()) - 60)
    elif repeated:
        place.append(largest(field, number))
    else:
        setattr(message, field.name, largest(field, number))


def fill(message, number=0):
    """Sets every field except references; lists get as many items as the rules and the size of a request allow."""
    message.SetInParent()
    for field in one_of_each(message.DESCRIPTOR):
        if is_output_only(field) or field.name in LEFT_OUT:
            continue
        count = 1
        if field.label == field.LABEL_REPEATED:
            count = ITEMS_OF.get(field.name) or rules_of(field).max_items or ITEMS
        for item in range(count):
            if message.ByteSize() < REQUEST_BYTES_MAX:
                put(message, field, number + item)


class FullRequests(ServerCase):
    def test_no_request_is_too_large(self):
        stored = set()
        for path, method, rules in methods():
            if rules.transaction != options.TRANSACTION_WRITE:
                continue
            request = message_factory.MessageFactory().GetPrototype(method.input_type)()
            fill(request)
            code, message, _ = self.admin.raw_any(path, request.SerializeToString())
            self.assertNotIn(code, REFUSED_FOR_SIZE, f"{path}: {request.ByteSize()} bytes: {message}")
            if code == grpc.StatusCode.OK:
                stored.add(method.name)
        self.assertEqual(STORED - stored, set())
        self.assertGreater(len(self.admin.events()), len(STORED))  # each in a message of a default client


if __name__ == "__main__":
    main()
