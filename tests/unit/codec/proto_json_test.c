/*
 * proto_json_test.c: proto JSON: rows of text and wire bytes, both ways, and what is refused. The
 * same code is compared with Python's google.protobuf.json_format by peer/compare_with_python.py.
 */
#include "server/codec/proto_json.h"

#include "store/base/wire.h"
#include "tests/unit/codec/codec_tests.h"

#include "errata/contract_messages.h"

#include <stdio.h>

static const struct proto_json_style one_line = {0};

static enum err read_text(struct fixture *fixture, const struct message_info *message,
                          struct slice text)
{
    return proto_json_read(&fixture->ctx, message, text, true, &fixture->wire);
}

/* Text becomes these bytes, and they become `written` (or the text itself). */
static void expect_both(struct fixture *fixture, const struct message_info *message,
                        const char *text, struct slice wire, const char *written)
{
    struct buffer json;

    fixture_clear(fixture);
    if (read_text(fixture, message, slice_text(text)) != OK) {
        fixture_expect_faults(fixture, "");
        fail_msg("%s", text);
    }
    if (!slice_equal(buffer_slice(&fixture->wire), wire)) {
        fail_msg("%s: other bytes", text);
    }
    buffer_init(&json, &fixture->arena, 0);
    assert_int_equal(proto_json_write(&fixture->ctx, message, wire, &one_line, &json), OK);
    written = written == NULL ? text : written;
    if (!slice_equal(buffer_slice(&json), slice_text(written))) {
        fail_msg("%.*s, not %s", (int)json.size, (const char *)json.data, written);
    }
}

#define EXPECT_ALL(text, wire, written) expect_both(fixture, &codec_all, text, SLICE(wire), written)

/* Goal: every type is read in each of its spellings and written in one. Method: a row for each. */
static void test_scalars_are_read_in_every_spelling(void **state)
{
    struct fixture *fixture = *state;

    EXPECT_ALL("{}", "", NULL);
    EXPECT_ALL(" { \"f_double\" : 1.5 } ", "\x09\x00\x00\x00\x00\x00\x00\xf8\x3f",
               "{\"f_double\":1.5}");
    EXPECT_ALL("{\"f_double\":\"-Infinity\"}", "\x09\x00\x00\x00\x00\x00\x00\xf0\xff", NULL);
    EXPECT_ALL("{\"f_double\":\"1e2\"}", "\x09\x00\x00\x00\x00\x00\x00\x59\x40",
               "{\"f_double\":100.0}");
    EXPECT_ALL("{\"f_float\":0.1}", "\x15\xcd\xcc\xcc\x3d", NULL);
    EXPECT_ALL("{\"f_float\":\"NaN\"}", "\x15\x00\x00\xc0\x7f", NULL);
    EXPECT_ALL("{\"f_int64\":\"-9223372036854775808\"}",
               "\x18\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", NULL);
    EXPECT_ALL("{\"f_int64\":9007199254740993}", "\x18\x81\x80\x80\x80\x80\x80\x80\x10",
               "{\"f_int64\":\"9007199254740993\"}");
    EXPECT_ALL("{\"f_uint64\":18446744073709551615}",
               "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
               "{\"f_uint64\":\"18446744073709551615\"}");
    EXPECT_ALL("{\"f_int32\":1e2}", "\x28\x64", "{\"f_int32\":100}");
    EXPECT_ALL("{\"f_int32\":\"1.0\"}", "\x28\x01", "{\"f_int32\":1}");
    EXPECT_ALL("{\"f_int32\":-1}", "\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", NULL);
    EXPECT_ALL("{\"f_int32\":0}", "", "{}");
    EXPECT_ALL("{\"f_fixed64\":\"1\"}", "\x31\x01\x00\x00\x00\x00\x00\x00\x00", NULL);
    EXPECT_ALL("{\"f_fixed32\":1}", "\x3d\x01\x00\x00\x00", NULL);
    EXPECT_ALL("{\"f_bool\":true}", "\x40\x01", NULL);
    EXPECT_ALL("{\"f_bool\":false}", "", "{}");
    EXPECT_ALL("{\"f_string\":\"a\\n\\u00e9\"}",
               "\x4a\x04"
               "a\n\xc3\xa9",
               "{\"f_string\":\"a\\n\xc3\xa9\"}");
    EXPECT_ALL("{\"f_message\":{}}", "\x5a\x00", NULL);
    EXPECT_ALL("{\"f_bytes\":\"-_+/AA\"}", "\x62\x04\xfb\xff\xbf\x00",
               "{\"f_bytes\":\"+/+/AA==\"}");
    EXPECT_ALL("{\"f_uint32\":4294967295}", "\x68\xff\xff\xff\xff\x0f", NULL);
    EXPECT_ALL("{\"f_enum\":\"COLOR_BLUE\"}", "\x70\x05", NULL);
    EXPECT_ALL("{\"f_enum\":\"BLUE\"}", "\x70\x05", "{\"f_enum\":\"COLOR_BLUE\"}");
    EXPECT_ALL("{\"f_enum\":-1}", "\x70\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
               "{\"f_enum\":\"COLOR_ODD\"}");
    EXPECT_ALL("{\"f_enum\":77}", "\x70\x4d", NULL);
    EXPECT_ALL("{\"f_sfixed32\":-2}", "\x7d\xfe\xff\xff\xff", NULL);
    EXPECT_ALL("{\"f_sfixed64\":\"-2\"}", "\x81\x01\xfe\xff\xff\xff\xff\xff\xff\xff", NULL);
    EXPECT_ALL("{\"f_sint32\":-2147483648}", "\x88\x01\xff\xff\xff\xff\x0f", NULL);
    EXPECT_ALL("{\"f_sint64\":\"-1\"}", "\x90\x01\x01", NULL);
}

/* Goal: lists, maps, messages, oneofs and times round trip. Method: a row for each. */
static void test_containers_round_trip(void **state)
{
    struct fixture *fixture = *state;

    EXPECT_ALL("{\"numbers\":[1,\"2\",300]}", "\xa2\x01\x04\x01\x02\xac\x02",
               "{\"numbers\":[1,2,300]}");
    EXPECT_ALL("{\"numbers\":[],\"texts\":[],\"trees\":{},\"list\":null}", "", "{}");
    EXPECT_ALL("{\"loose_numbers\":[\"-1\",\"1\"]}", "\xa8\x01\x01\xa8\x01\x02", NULL);
    EXPECT_ALL("{\"colors\":[\"RED\",0]}", "\xc2\x01\x02\x01\x00",
               "{\"colors\":[\"COLOR_RED\",\"COLOR_UNSPECIFIED\"]}");
    EXPECT_ALL("{\"texts\":[\"\",\"b\"]}",
               "\xca\x01\x00\xca\x01\x01"
               "b",
               NULL);
    EXPECT_ALL("{\"trees\":{\"k\":{\"name\":\"v\"},\"\":{}}}",
               "\xda\x01\x08\x0a\x01k\x12\x03\x0a\x01v\xda\x01\x04\x0a\x00\x12\x00",
               "{\"trees\":{\"\":{},\"k\":{\"name\":\"v\"}}}");
    expect_both(fixture, &contract_errata_v1_prepare_prompt_request,
                "{\"template\":\"{{A}}\",\"context\":{\"B\":\"\\n\",\"A\":\"x\"}}",
                SLICE("\x12\x05{{A}}\x22\x06\x0a\x01"
                      "B\x12\x01\n\x22\x06\x0a\x01"
                      "A\x12\x01x"),
                "{\"template\":\"{{A}}\",\"context\":{\"A\":\"x\",\"B\":\"\\n\"}}");
    EXPECT_ALL("{\"list\":[{},{\"children\":[{\"name\":\"x\"},{}]}]}",
               "\xe2\x01\x00\xe2\x01\x07\x1a\x03\x0a\x01x\x1a\x00", NULL);
    EXPECT_ALL("{\"at\":\"1970-01-01T00:00:01.500Z\"}",
               "\xea\x01\x08\x08\x01\x10\x80\xca\xb5\xee\x01", NULL);
    EXPECT_ALL("{\"choice_a\":\"\"}", "\xf2\x01\x00", "{\"choiceA\":\"\"}");
    EXPECT_ALL("{\"choiceA\":null,\"choiceB\":{}}", "\xfa\x01\x00", "{\"choiceB\":{}}");
}

/* Goal: lengths above one byte are correct at each nesting. Method: a text of 300 bytes, three
 * deep. */
static void test_long_lengths_are_correct_when_nested(void **state)
{
    struct fixture *fixture = *state;
    char text[400];
    struct wire_reader reader;
    struct wire_field field = {0};
    struct buffer json;

    (void)snprintf(text, sizeof(text),
                   "{\"f_message\":{\"child\":{\"child\":{\"name\":\"%0300d\"}}}}", 0);
    assert_int_equal(read_text(fixture, &codec_all, slice_text(text)), OK);
    reader = wire_reader_of(buffer_slice(&fixture->wire));
    for (size_t size = 300 + 3 * 3; size >= 300; size -= 3) {
        assert_int_equal(wire_next(&reader, &field), OK);
        assert_int_equal(field.bytes.size, size);
        assert_int_equal(reader.rest.size, 0);
        reader = wire_reader_of(field.bytes);
    }
    buffer_init(&json, &fixture->arena, 0);
    assert_int_equal(
        proto_json_write(&fixture->ctx, &codec_all, buffer_slice(&fixture->wire), &one_line, &json),
        OK);
    assert_true(slice_equal(buffer_slice(&json), slice_text(text)));
}

static void expect_refused(struct fixture *fixture, const struct message_info *message,
                           const char *text, const char *faults)
{
    fixture_clear(fixture);
    if (read_text(fixture, message, slice_text(text)) != ERR_INVALID) {
        fail_msg("%s", text);
    }
    fixture_expect_faults(fixture, faults);
}

/* Goal: invalid JSON is refused, with the path of every error. Method: a table. */
static void test_invalid_json_is_refused_with_its_path(void **state)
{
    static const struct {
        const char *text;
        const char *faults;
    } rows[] = {
        {"{\"f_int32\":}", ": invalid JSON"},
        {"", ": invalid JSON, no value at byte 0"},
        {"{\"f_int32\":1,\"f_int32\":1}", ": invalid JSON, a duplicate key"},
        {"[]", ": invalid value []; expected a JSON object"},
        {"null", ": invalid value null; expected a JSON object"},
        {"{\"f_int32\":2147483648}", "f_int32: invalid value 2147483648; expected an integer from "
                                     "-2147483648 to 2147483647"},
        {"{\"f_int32\":-2147483649}", "f_int32: invalid value -2147483649; expected an integer"},
        {"{\"f_int32\":1.5}", "f_int32: invalid value 1.5; expected an integer"},
        {"{\"f_int32\":\"\"}", "f_int32: invalid value \"\"; expected an integer"},
        {"{\"f_int32\":\" 1\"}", "f_int32: invalid value \" 1\"; expected an integer"},
        {"{\"f_int32\":\"1 \"}", "f_int32: invalid value \"1 \"; expected an integer"},
        {"{\"f_int32\":\"+1\"}", "f_int32: invalid value \"+1\"; expected an integer"},
        {"{\"f_int32\":\"01\"}", "f_int32: invalid value \"01\"; expected an integer"},
        {"{\"f_int32\":\"0x1\"}", "f_int32: invalid value \"0x1\"; expected an integer"},
        {"{\"f_int32\":true}", "f_int32: invalid value true; expected an integer"},
        {"{\"f_int32\":[1]}", "f_int32: invalid value [1]; expected an integer"},
        {"{\"f_uint32\":-1}",
         "f_uint32: invalid value -1; expected an integer from 0 to 4294967295"},
        {"{\"f_int64\":9223372036854775808}",
         "f_int64: invalid value 9223372036854775808; expected an integer"},
        {"{\"f_uint64\":18446744073709551616}",
         "f_uint64: invalid value 18446744073709551616; expected an integer"},
        {"{\"f_uint64\":1e400}", "f_uint64: invalid value 1e400; expected an integer"},
        {"{\"f_double\":1e400}",
         "f_double: invalid value 1e400; expected a number that fits into 64 bits"},
        {"{\"f_double\":\"inf\"}", "f_double: invalid value \"inf\"; expected a number, \"NaN\""},
        {"{\"f_double\":\"\"}", "f_double: invalid value \"\"; expected a number"},
        {"{\"f_float\":-3.5e38}",
         "f_float: invalid value -3.5e38; expected a number that fits into 32 bits"},
        {"{\"f_bool\":\"true\"}", "f_bool: invalid value \"true\"; expected true or false"},
        {"{\"f_bool\":1}", "f_bool: invalid value 1; expected true or false"},
        {"{\"f_string\":1}", "f_string: invalid value 1; expected a string"},
        {"{\"f_bytes\":\"a\"}", "f_bytes: invalid value \"a\"; expected a string of base64"},
        {"{\"f_bytes\":\"ab=\"}", "f_bytes: invalid value \"ab=\"; expected a string of base64"},
        {"{\"f_bytes\":\"a*==\"}", "f_bytes: invalid value \"a*==\"; expected a string of base64"},
        {"{\"f_enum\":\"blue\"}", "f_enum: unknown value \"blue\"; expected ODD, RED or BLUE"},
        {"{\"f_enum\":1.5}", "f_enum: unknown value 1.5"},
        {"{\"f_enum\":true}", "f_enum: unknown value true"},
        {"{\"f_message\":[]}", "f_message: invalid value []; expected a JSON object"},
        {"{\"texts\":\"a\"}", "texts: invalid value \"a\"; expected a JSON array"},
        {"{\"texts\":[\"a\",null,1]}",
         "texts[1]: invalid value null; expected a value\ntexts[2]: invalid value"},
        {"{\"numbers\":[1,\"x\",null]}",
         "numbers[1]: invalid value\nnumbers[2]: invalid value null; expected a value"},
        {"{\"trees\":[]}", "trees: invalid value []; expected a JSON object"},
        {"{\"trees\":{\"k\":null}}", "trees[\"k\"]: invalid value null; expected a value"},
        {"{\"trees\":{\"k\":{\"name\":1}}}",
         "trees[\"k\"].name: invalid value 1; expected a string"},
        {"{\"list\":[{},{\"child\":{\"children\":[{\"name\":1}]}}]}",
         "list[1].child.children[0].name: invalid value"},
        {"{\"at\":\"2024-02-30T00:00:00Z\"}",
         "at: invalid value \"2024-02-30T00:00:00Z\"; expected an RFC 3339 time"},
        {"{\"at\":\"2024-02-03t00:00:00Z\"}",
         "at: invalid value \"2024-02-03t00:00:00Z\"; expected an RFC 3339 time"},
        {"{\"at\":5}", "at: invalid value 5; expected an RFC 3339 time"},
        {"{\"choiceA\":\"x\",\"choice_a\":\"y\"}",
         "choice_a: given twice, as choiceA and choice_a"},
        {"{\"choiceA\":\"x\",\"choiceB\":{}}", "choice_b: given together with another field"},
        {"{\"nope\":1,\"f_int32\":\"x\",\"f_message\":{\"nope\":2}}",
         ": unknown field \"nope\"; expected f_double,\nf_int32: invalid value\n"
         "f_message: unknown field \"nope\"; expected name, child, children of codec.Tree"},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        expect_refused(fixture, &codec_all, rows[i].text, rows[i].faults);
    }
}

/* Goal: unknown members are skipped if allowed, with any content. Method: nested ones between known
 * ones. */
static void test_unknown_members_are_skipped_if_allowed(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(
        proto_json_read(&fixture->ctx, &codec_all,
                        SLICE("{\"x\":{\"f_int32\":[\"}\"]},\"f_int32\":1,\"y\":null}"), false,
                        &fixture->wire),
        OK);
    assert_true(slice_equal(buffer_slice(&fixture->wire), SLICE("\x28\x01")));
}

/* Goal: a hundred levels are read and written, one more is refused. Method: a message that contains
 * itself. */
static void test_deeper_than_100_levels_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct buffer text;
    struct buffer json;

    for (size_t depth = 100; depth <= 101; depth++) {
        fixture_clear(fixture);
        buffer_init(&text, &fixture->arena, 2000);
        buffer_init(&json, &fixture->arena, 2000);
        for (size_t i = 1; i < depth; i++) {
            buffer_append(&text, SLICE("{\"child\":"));
        }
        buffer_append(&text, SLICE("{}"));
        for (size_t i = 1; i < depth; i++) {
            buffer_append(&text, SLICE("}"));
        }
        if (depth > 100) {
            assert_int_equal(read_text(fixture, &codec_tree, buffer_slice(&text)), ERR_INVALID);
            continue;
        }
        assert_int_equal(read_text(fixture, &codec_tree, buffer_slice(&text)), OK);
        assert_int_equal(proto_json_write(&fixture->ctx, &codec_tree, buffer_slice(&fixture->wire),
                                          &one_line, &json),
                         OK);
        assert_true(slice_equal(buffer_slice(&json), buffer_slice(&text)));
        wire_put_bytes(&text, 2, buffer_slice(&fixture->wire)); /* 101 messages on the wire */
        assert_int_equal(proto_json_write(&fixture->ctx, &codec_tree,
                                          slice_after(buffer_slice(&text), json.size), &one_line,
                                          &json),
                         ERR_MALFORMED);
    }
}

/* Goal: fields out of order, lists in pieces, messages in pieces, overwritten values and keys are
 * merged as by protobuf. Method: one message with all of that. */
static void test_repeated_fields_are_merged(void **state)
{
    struct fixture *fixture = *state;
    struct buffer *wire = &fixture->wire;
    struct buffer json;

    wire_put_bytes(wire, 25, SLICE("first"));
    wire_put_varint(wire, 5, 1);
    wire_put_bytes(wire, 11, SLICE("\x0a\x01o\x12\x03\x0a\x01x"));
    wire_put_bytes(wire, 30, SLICE("gone"));
    wire_put_bytes(wire, 27, SLICE("\x0a\x01k\x12\x03\x0a\x01o"));
    wire_put_bytes(wire, 27,
                   SLICE("\x12\x00\x0a\x01"
                         "a"));
    wire_put_bytes(wire, 20, SLICE("\x01\x02"));
    wire_put_bytes(wire, 25, SLICE("second"));
    wire_put_varint(wire, 20, 3);
    wire_put_varint(wire, 5, 2);
    wire_put_bytes(wire, 11, SLICE("\x0a\x01n\x1a\x00"));
    wire_put_bytes(wire, 27, SLICE("\x0a\x01k"));
    wire_put_bytes(wire, 31, slice_of(NULL, 0));
    wire_put_varint(wire, 777, 5);
    buffer_init(&json, &fixture->arena, 0);
    assert_int_equal(
        proto_json_write(&fixture->ctx, &codec_all, buffer_slice(wire), &one_line, &json), OK);
    assert_true(
        slice_equal(buffer_slice(&json),
                    SLICE("{\"f_int32\":2,\"f_message\":{\"name\":\"n\",\"child\":{\"name\":\"x\"},"
                          "\"children\":[{}]},\"numbers\":[1,2,3],\"texts\":[\"first\",\"second\"],"
                          "\"trees\":{\"a\":{},\"k\":{}},\"choiceB\":{}}")));
}

/* Goal: a list keeps its order, for any encoding of its elements. Method: packed and single
 * elements in turn. */
static void test_list_keeps_its_order(void **state)
{
    struct fixture *fixture = *state;
    struct buffer *wire = &fixture->wire;
    struct buffer json;

    wire_put_varint(wire, 20, 7);
    wire_put_bytes(wire, 20, SLICE("\x03"));
    wire_put_bytes(wire, 20, SLICE("\x04"));
    buffer_init(&json, &fixture->arena, 0);
    assert_int_equal(
        proto_json_write(&fixture->ctx, &codec_all, buffer_slice(wire), &one_line, &json), OK);
    assert_true(slice_equal(buffer_slice(&json), SLICE("{\"numbers\":[7,3,4]}")));
}

/* Goal: bytes that are not a valid message have no JSON. Method: a table. */
static void test_malformed_bytes_have_no_json(void **state)
{
    static const struct slice rows[] = {
        {(const uint8_t *)"\x08\x01", 2},
        {(const uint8_t *)"\x4a\x05x", 3},
        {(const uint8_t *)"\x4a\x01\xff", 3}, /* invalid UTF-8 */
        {(const uint8_t *)"\x5a\x01\xff", 3},
        {(const uint8_t *)"\xda\x01\x02\x08\x01", 5}, /* an entry with a key of another type */
        {(const uint8_t *)"\xea\x01\x06\x10\x80\x94\xeb\xdc\x03", 9}, /* nanos of a full second */
        {(const uint8_t *)"\xa2\x01\x01\x80", 4},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct buffer json;

        buffer_init(&json, &fixture->arena, 0);
        if (proto_json_write(&fixture->ctx, &codec_all, rows[i], &one_line, &json) !=
            ERR_MALFORMED) {
            fail_msg("row %zu", i);
        }
    }
}

/* Goal: indented text has the usual form. Method: one of each container. */
static void test_json_is_indented(void **state)
{
    struct fixture *fixture = *state;
    const struct proto_json_style style = {.indent = 2};
    struct buffer json;

    assert_int_equal(read_text(fixture, &codec_all,
                               SLICE("{\"numbers\":[1,2],\"f_message\":{},"
                                     "\"trees\":{\"k\":{\"name\":\"v\"}}}")),
                     OK);
    buffer_init(&json, &fixture->arena, 0);
    assert_int_equal(
        proto_json_write(&fixture->ctx, &codec_all, buffer_slice(&fixture->wire), &style, &json),
        OK);
    assert_true(slice_equal(buffer_slice(&json), SLICE("{\n  \"f_message\": {},\n"
                                                       "  \"numbers\": [\n    1,\n    2\n  ],\n"
                                                       "  \"trees\": {\n    \"k\": {\n"
                                                       "      \"name\": \"v\"\n    }\n  }\n}")));
}

/* Goal: the well-known types have their own JSON form. Method: rows for each, both ways. */
static void test_well_known_types_have_their_json_form(void **state)
{
    struct fixture *fixture = *state;

    expect_both(fixture, &contract_google_protobuf_duration, "\"-1.500s\"",
                SLICE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x80\xb6\xca\x91\xfe\xff"
                      "\xff\xff\xff\x01"),
                NULL);
    expect_both(fixture, &contract_google_protobuf_duration, "\"0s\"", SLICE(""), NULL);
    expect_both(fixture, &contract_google_protobuf_field_mask, "\"fooBar.baz,q\"",
                SLICE("\x0a\x0b"
                      "foo_bar.baz\x0a\x01q"),
                NULL);
    expect_both(fixture, &contract_google_protobuf_field_mask, "\"\"", SLICE(""), NULL);
    expect_both(fixture, &contract_google_protobuf_int64_value, "\"5\"", SLICE("\x08\x05"), NULL);
    expect_both(fixture, &contract_google_protobuf_string_value, "\"\"", SLICE(""), NULL);
    expect_both(fixture, &contract_google_protobuf_value, "null", SLICE("\x08\x00"), NULL);
    expect_both(fixture, &contract_google_protobuf_value, "[]", SLICE("\x32\x00"), NULL);
    expect_both(fixture, &contract_google_protobuf_value, "[[],{},null,\"x\"]",
                SLICE("\x32\x11\x0a\x02\x32\x00\x0a\x02\x2a\x00\x0a\x02\x08\x00\x0a\x03\x1a\x01x"),
                NULL);
    expect_both(fixture, &contract_google_protobuf_struct, "{\"a\":{\"b\":true}}",
                SLICE("\x0a\x10\x0a\x01"
                      "a\x12\x0b\x2a\x09\x0a\x07\x0a\x01"
                      "b\x12\x02\x20\x01"),
                NULL);
    expect_both(fixture, &contract_google_protobuf_empty, "{}", SLICE(""), NULL);
    expect_refused(fixture, &contract_google_protobuf_duration, "\"1\"", ": invalid value");
    expect_refused(fixture, &contract_google_protobuf_duration, "\"315576000001s\"",
                   ": invalid value");
    expect_refused(fixture, &contract_google_protobuf_duration, "\"1.0000000001s\"",
                   ": invalid value");
    expect_refused(fixture, &contract_google_protobuf_field_mask, "\"foo_bar\"", ": invalid value");
    expect_refused(fixture, &contract_google_protobuf_field_mask, "\"a,\"", ": invalid value");
    expect_refused(fixture, &contract_google_protobuf_struct, "[]",
                   ": invalid value []; expected a JSON object");
    expect_refused(fixture, &contract_google_protobuf_list_value, "{}",
                   ": invalid value {}; expected a JSON array");
}

/* Goal: an Any is typed by its `@type`, at any place in the object. Method: plain content, content
 * with a special JSON form, an Any in an Any, nothing, and an unknown type. */
static void test_any_is_typed_by_its_type_member(void **state)
{
    struct fixture *fixture = *state;
    const struct message_info *any = &contract_google_protobuf_any;
    struct buffer json;

    expect_both(fixture, any, "{}", SLICE(""), NULL);
    expect_both(fixture, any,
                "{\"keyId\":\"x\",\"@type\":\"type.googleapis.com/errata.v1.TokenRevoked\"}",
                SLICE("\x0a\x2atype.googleapis.com/errata.v1.TokenRevoked\x12\x03\x0a\x01x"),
                "{\"@type\":\"type.googleapis.com/errata.v1.TokenRevoked\",\"keyId\":\"x\"}");
    expect_both(fixture, any, "{\"@type\":\"t/google.protobuf.Duration\",\"value\":\"1s\"}",
                SLICE("\x0a\x1at/google.protobuf.Duration\x12\x02\x08\x01"), NULL);
    expect_both(fixture, any,
                "{\"@type\":\"t/google.protobuf.Any\",\"value\":{\"@type\":"
                "\"t/google.protobuf.Struct\",\"value\":{\"a\":[1.0]}}}",
                SLICE("\x0a\x15t/google.protobuf.Any\x12\x30\x0a\x18t/google.protobuf.Struct"
                      "\x12\x14\x0a\x12\x0a\x01"
                      "a\x12\x0d\x32\x0b\x0a\x09\x11\x00\x00\x00\x00\x00\x00\xf0\x3f"),
                NULL);
    expect_refused(fixture, any, "{\"@type\":\"t/no.Such\"}",
                   ": invalid value \"t/no.Such\"; expected a message");
    expect_refused(fixture, any, "{\"@type\":\"google.protobuf.Duration\"}",
                   ": invalid value \"google.protobuf.Duration\"; expected a message");
    expect_refused(fixture, any, "{\"a\":1}",
                   ": invalid value {\"a\":1}; expected an object with a member \"@type\"");
    expect_refused(fixture, any,
                   "{\"@type\":\"t/google.protobuf.Duration\",\"value\":\"1s\",\"x\":1}",
                   ": invalid value \"x\"; expected only the members");
    buffer_init(&json, &fixture->arena, 0);
    assert_int_equal(
        proto_json_write(&fixture->ctx, any, SLICE("\x0a\x09t/no.Such"), &one_line, &json),
        ERR_MALFORMED);
}

/* Goal: both directions report a lack of memory. Method: small arenas. */
static void test_conversion_without_memory_fails(void **state)
{
    struct fixture *fixture = *state;
    static const char text[] = "{\"texts\":[\"aaaaaaaaaaaaaaaa\\n\",\"aaaaaaaaaaaaaaaa\\n\","
                               "\"aaaaaaaaaaaaaaaa\\n\",\"aaaaaaaaaaaaaaaa\\n\"]}";
    struct buffer json;

    assert_int_equal(read_text(fixture, &codec_all, slice_text(text)), OK);
    for (size_t limit = 0; limit < 1000; limit += 50) {
        struct arena small;
        struct fault fault;
        struct ctx ctx = {.arena = &small, .fault = &fault};
        struct buffer wire;
        enum err err = OK;

        arena_init(&small, limit);
        fault_init(&fault, &small);
        buffer_init(&wire, &small, 0);
        err = proto_json_read(&ctx, &codec_all, slice_text(text), true, &wire);
        assert_true(err == OK ? slice_equal(buffer_slice(&wire), buffer_slice(&fixture->wire))
                              : err == ERR_MEMORY);
        arena_reset(&small);
        buffer_init(&json, &small, 0);
        err = proto_json_write(&ctx, &codec_all, buffer_slice(&fixture->wire), &one_line, &json);
        assert_int_equal(err, ERR_MEMORY);
        arena_deinit(&small);
    }
}

int run_proto_json_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_scalars_are_read_in_every_spelling, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_containers_round_trip, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_long_lengths_are_correct_when_nested, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_invalid_json_is_refused_with_its_path, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_members_are_skipped_if_allowed, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_deeper_than_100_levels_is_refused, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_repeated_fields_are_merged, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_list_keeps_its_order, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_malformed_bytes_have_no_json, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_json_is_indented, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_well_known_types_have_their_json_form, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_any_is_typed_by_its_type_member, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_conversion_without_memory_fails, fixture_set_up,
                                        fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
