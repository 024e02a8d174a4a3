/*
 * rules_test.c: the rules of fields, on a message that has each of them, and on real requests.
 */
#include "server/codec/check.h"

#include "store/base/wire.h"
#include "tests/unit/codec/codec_tests.h"

#include "errata/contract_messages.h"

static enum err check_rules(struct fixture *fixture)
{
    return fixture_check(fixture, &codec_rules, buffer_slice(&fixture->wire));
}

/* Checks one text in one field: OK if `expected` is NULL, otherwise this fault. */
static void expect_text(struct fixture *fixture, uint32_t field, struct slice text,
                        const char *expected)
{
    fixture_clear(fixture);
    wire_put_bytes(&fixture->wire, field, text);
    assert_int_equal(check_rules(fixture), expected == NULL ? OK : ERR_INVALID);
    fixture_expect_faults(fixture, expected == NULL ? "" : expected);
}

static void expect_number(struct fixture *fixture, uint32_t field, uint64_t number,
                          const char *expected)
{
    fixture_clear(fixture);
    wire_put_varint(&fixture->wire, field, number);
    assert_int_equal(check_rules(fixture), expected == NULL ? OK : ERR_INVALID);
    fixture_expect_faults(fixture, expected == NULL ? "" : expected);
}

/* Goal: ids, names, UUIDs and key ids have their formats. Method: at and beyond each limit. */
static void test_invalid_formats_are_refused(void **state)
{
    struct fixture *fixture = *state;
    uint8_t long_id[129];

    memset(long_id, 'x', sizeof(long_id));
    expect_text(fixture, 1, slice_of(long_id, 128), NULL);
    expect_text(fixture, 1, SLICE(""), NULL);
    expect_text(fixture, 1, SLICE(" any/thing \xc3\xa9 "), NULL);
    expect_text(fixture, 1, slice_of(long_id, 129), "id: 129 bytes, `xxx");
    expect_text(fixture, 1, SLICE("a\tb"), "id: control character in `a");
    expect_text(fixture, 1, SLICE("a\xc2\x85"), "id: control character in `a");

    expect_text(fixture, 2, SLICE("018bcfe5-6800-7abc-8DEF-0123456789ab"), NULL);
    expect_text(fixture, 2, SLICE("018bcfe568007abc8def0123456789ab"), "uuid: invalid UUID `");
    expect_text(fixture, 2, SLICE("x"),
                "uuid: invalid UUID `x`; expected 36 characters such as "
                "018bcfe5-6800-7abc-8def-0123456789ab");

    expect_text(fixture, 4, SLICE("An Org"), NULL);
    expect_text(fixture, 4, SLICE("An Org "), "title: space at the beginning or end of `");
    expect_text(fixture, 4, SLICE(" "), "title: space at the beginning or end of `");
    expect_text(fixture, 4, slice_of(long_id, 129), "title: 129 bytes, `");

    expect_text(fixture, 5, SLICE("0123abcd"), NULL);
    expect_text(fixture, 5, SLICE("0123ABCD"), "key_id: invalid key id `0123ABCD`; expected eight");
    expect_text(fixture, 5, SLICE("0123abc"), "key_id: invalid key id `0123abc`; expected eight");
    expect_text(fixture, 5, SLICE("g123abcd"), "key_id: invalid key id `g123abcd`; expected eight");
    expect_text(fixture, 5, SLICE("0123abcg"), "key_id: invalid key id `0123abcg`; expected eight");

    expect_text(fixture, 23, SLICE(""), NULL);
    expect_text(fixture, 23, SLICE("AZaz09-_AZaz09-_AZaz09"), NULL);
    expect_text(fixture, 23, SLICE("AZaz09-_AZaz09-_AZaz0"), "page_token: invalid page token `");
    expect_text(fixture, 23, SLICE("AZaz09-_AZaz09-_AZaz09="), "page_token: invalid page token `");
    expect_text(fixture, 23, SLICE("=AZaz09-_AZaz09-_AZaz09"), "page_token: invalid page token `");

    expect_text(fixture, 6, SLICE("12345"), NULL);
    expect_text(fixture, 6, SLICE("123456"), "short_text: 6 bytes; expected at most 5");
    expect_text(fixture, 7, SLICE("\xff\xff\xff\xff\xff"), NULL);
    expect_text(fixture, 7, SLICE("\xff\xff\xff\xff\xff\xff"), "blob: 6 bytes; expected at most 5");

    expect_text(fixture, 14, SLICE(""), "ids[0]: empty; expected a value");
}

/* Goal: `_json` fields are objects by RFC 8259. Method: valid, empty, and each kind of invalid
 * text. */
static void test_json_fields_are_objects(void **state)
{
    struct fixture *fixture = *state;
    struct buffer text;

    expect_text(fixture, 3, SLICE("{\"a\":[1,{\"b\":null}]}"), NULL);
    expect_text(fixture, 3, SLICE(" {} "), NULL);
    expect_text(fixture, 3, SLICE(""), NULL);
    expect_text(fixture, 3, SLICE(" "),
                "data_json: invalid JSON, no "
                "value at byte 1");
    expect_text(fixture, 3, SLICE("[1]"), "data_json: an array, `[1]`; expected a JSON object");
    expect_text(fixture, 3, SLICE("null"), "data_json: null, `null`; expected");
    expect_text(fixture, 3, SLICE("\"x\""), "data_json: a string, `");
    expect_text(fixture, 3, SLICE("{\"a\":1,\"\\u0061\":2}"),
                "data_json: invalid JSON, a duplicate key at byte 7");
    expect_text(fixture, 3, SLICE("{\"a\":NaN}"), "data_json: invalid JSON, ");
    expect_text(fixture, 3, SLICE("{\"a\":\"\\ud800\"}"), "data_json: invalid JSON, ");
    for (size_t depth = 64; depth <= 65; depth++) {
        fixture_clear(fixture);
        buffer_init(&text, &fixture->arena, 0);
        for (size_t i = 0; i < depth; i++) {
            buffer_append(&text, SLICE("{\"a\":"));
        }
        buffer_append_byte(&text, '1');
        for (size_t i = 0; i < depth; i++) {
            buffer_append_byte(&text, '}');
        }
        wire_put_bytes(&fixture->wire, 3, buffer_slice(&text));
        assert_int_equal(check_rules(fixture), depth == 64 ? OK : ERR_INVALID);
    }
    fixture_expect_faults(fixture, "data_json: invalid JSON, values nested too "
                                   "deeply at byte 320");
}

/* Goal: numbers are within their limits, as the type reads them. Method: at and beyond each. */
static void test_numbers_out_of_range_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct slice double_faults[] = {SLICE("-0.5"), SLICE("1.5"), SLICE("nan")};
    const double doubles[] = {-0.5, 1.5, (double)__builtin_nanf("")};

    expect_number(fixture, 8, 0, NULL);
    expect_number(fixture, 8, 1000, NULL);
    expect_number(fixture, 8, INT32_MAX, NULL);
    expect_number(fixture, 8, (uint64_t)-1, "page_size: -1 is negative; expected 0 or more");
    expect_number(fixture, 9, 0, NULL); /* not given */
    expect_number(fixture, 9, 1, "count: 1 is out of range; expected 2 to 20");
    expect_number(fixture, 9, 20, NULL);
    expect_number(fixture, 9, UINT64_MAX,
                  "count: 18446744073709551615 is out of range; expected 2 to 20");
    expect_number(fixture, 11, 9, NULL); /* zigzag encoding of -5 */
    expect_number(fixture, 11, 11, "zigzag: -6 is out of range; expected -5 to 5");
    expect_number(fixture, 11, 12, "zigzag: 6 is out of range;");
    for (size_t i = 0; i < COUNT(doubles); i++) {
        fixture_clear(fixture);
        wire_put_double(&fixture->wire, 10, doubles[i]);
        assert_int_equal(check_rules(fixture), ERR_INVALID);
        fixture_expect_faults(fixture, "ratio: ");
        assert_true(slice_starts_with(fixture->fault.entries[0].description, double_faults[i]));
    }
    fixture_clear(fixture);
    wire_put_double(&fixture->wire, 10, 1);
    assert_int_equal(check_rules(fixture), OK);
}

/* Goal: enum values are known ones, and a fault lists the names. Method: known, unknown, negative,
 * too large for 32 bits though its low half is known, and in a list. */
static void test_unknown_enum_value_is_refused_with_the_known_ones(void **state)
{
    struct fixture *fixture = *state;

    expect_number(fixture, 12, 5, NULL);
    expect_number(fixture, 12, 0, NULL);
    expect_number(fixture, 12, UINT64_MAX, NULL); /* -1 */
    expect_number(fixture, 12, 3, "color: unknown value 3; expected ODD, RED or BLUE");
    expect_number(fixture, 12, (uint64_t)-2, "color: unknown value -2;");
    expect_number(fixture, 12, (UINT64_C(1) << 32) + 1, "color: unknown value 4294967297;");
    expect_text(fixture, 13, SLICE("\x01\x02\x05\x07"),
                "colors[1]: unknown value 2\ncolors[3]: unknown value 7\n"
                "colors: 4 elements; expected at most 3");
}

/* Goal: lists are within their length. Method: at and beyond. */
static void test_lists_above_their_length_are_refused(void **state)
{
    struct fixture *fixture = *state;

    for (int count = 1; count <= 3; count++) {
        wire_put_bytes(&fixture->wire, 14, SLICE("id"));
        assert_int_equal(check_rules(fixture), count <= 2 ? OK : ERR_INVALID);
    }
    fixture_expect_faults(fixture, "ids: 3 elements; expected at most 2");
}

/* Goal: a caller may not set output-only fields; their defaults are ignored. Method: each kind,
 * with broken rules inside that are not reported in addition. */
static void test_output_only_fields_are_refused(void **state)
{
    struct fixture *fixture = *state;

    wire_put_bytes(&fixture->wire, 15, SLICE(""));
    wire_put_varint(&fixture->wire, 16, 0);
    assert_int_equal(check_rules(fixture), OK);
    wire_put_bytes(&fixture->wire, 15, SLICE("x"));
    wire_put_varint(&fixture->wire, 16, 1);
    wire_put_bytes(&fixture->wire, 17, SLICE("x"));
    wire_put_bytes(&fixture->wire, 17, SLICE("y"));
    wire_put_bytes(&fixture->wire, 18, SLICE("\x2a\x01x")); /* a bad key_id inside */
    assert_int_equal(check_rules(fixture), ERR_INVALID);
    fixture_expect_faults(fixture, "made_text: set by the server; expected no value\n"
                                   "made_number: set by the server\n"
                                   "made_list: set by the server\n"
                                   "made_rules: set by the server");
    expect_text(fixture, 18, SLICE("\x0a\x01\xff"),
                "made_rules.id: invalid UTF-8\nmade_rules: set by the server");
}

/* Goal: times are within the years 1 to 9999 and, if the rule demands it, not in the future nor
 * before 1970. Method: at and beyond each limit. */
static void test_times_out_of_range_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct buffer *wire = &fixture->wire;

    wire_put_timestamp(wire, 19, FIXTURE_START_US);
    wire_put_timestamp(wire, 20, INT64_C(253402300799999999));
    wire_put_timestamp(wire, 20, INT64_C(-62135596800000000));
    assert_int_equal(check_rules(fixture), OK);
    fixture_clear(fixture);
    wire_put_timestamp(wire, 19, FIXTURE_START_US + 1);
    wire_put_timestamp(wire, 20, INT64_C(253402300800000000));
    assert_int_equal(check_rules(fixture), ERR_INVALID);
    fixture_expect_faults(fixture,
                          "past: 2026-01-01T00:00:00.000001Z is in the future; expected\n"
                          "whenever: 253402300800 seconds since 1970; expected a time in the "
                          "years 1 to 9999");
    fixture_clear(fixture);
    wire_put_timestamp(wire, 19, 0);
    assert_int_equal(check_rules(fixture), OK);
    fixture_clear(fixture);
    wire_put_timestamp(wire, 19, -1);
    assert_int_equal(check_rules(fixture), ERR_INVALID);
    fixture_expect_faults(fixture, "past: before 1970");
    expect_text(fixture, 20, SLICE("\x10\x80\x94\xeb\xdc\x03"),
                "whenever: 1000000000 nanos; expected 0 to 999999999");
    expect_text(fixture, 20, SLICE("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
                "whenever: -1 nanos");
    expect_text(fixture, 20, SLICE("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
                "whenever: -9223372036854775808 seconds");
}

/* Goal: rules hold inside messages and lists, with their paths. Method: three places at once. */
static void test_rules_apply_inside_messages_and_lists(void **state)
{
    struct fixture *fixture = *state;
    struct buffer inner;

    buffer_init(&inner, &fixture->arena, 0);
    wire_put_bytes(&inner, 5, SLICE("x"));
    wire_put_bytes(&fixture->wire, 22, slice_of(NULL, 0));
    wire_put_bytes(&fixture->wire, 22, buffer_slice(&inner));
    wire_put_bytes(&fixture->wire, 21, buffer_slice(&inner));
    wire_put_bytes(&fixture->wire, 5, SLICE("y"));
    assert_int_equal(check_rules(fixture), ERR_INVALID);
    fixture_expect_faults(
        fixture,
        "items[1].key_id: invalid key id\ninner.key_id: invalid key id\nkey_id: invalid key id");
}

/* Goal: real requests pass, or all their errors are reported. Method: requests of the main use
 * case. */
static void test_real_requests_are_accepted_or_all_errors_reported(void **state)
{
    struct fixture *fixture = *state;
    struct buffer event;

    wire_put_bytes(&fixture->wire, 1, SLICE("layout-1"));
    wire_put_varint(&fixture->wire, 3, 5);
    assert_int_equal(fixture_check(fixture, &contract_errata_v1_get_examples_request,
                                   buffer_slice(&fixture->wire)),
                     OK);
    wire_put_varint(&fixture->wire, 3, 21);
    wire_put_varint(&fixture->wire, 4, 9);
    assert_int_equal(fixture_check(fixture, &contract_errata_v1_get_examples_request,
                                   buffer_slice(&fixture->wire)),
                     ERR_INVALID);
    fixture_expect_faults(fixture, "max_examples: 21 is out of range; expected 0 to 20\n"
                                   "match_mode: unknown value 9; expected EXACT or FAMILY");
    fixture_clear(fixture);
    assert_int_equal(fixture_check(fixture, &contract_errata_v1_capture_feedback_event_request,
                                   slice_of(NULL, 0)),
                     ERR_INVALID);
    fixture_expect_faults(fixture, "event: missing; expected a value");
    fixture_clear(fixture);
    buffer_init(&event, &fixture->arena, 0);
    wire_put_bytes(&event, 1, SLICE("mine"));
    wire_put_bytes(&event, 20, SLICE("{"));
    wire_put_timestamp(&event, 12, FIXTURE_START_US + 5000000);
    wire_put_bytes(&fixture->wire, 1, slice_of(NULL, 0));
    wire_put_bytes(&fixture->wire, 1, buffer_slice(&event));
    assert_int_equal(fixture_check(fixture,
                                   &contract_errata_v1_batch_capture_feedback_events_request,
                                   buffer_slice(&fixture->wire)),
                     ERR_INVALID);
    fixture_expect_faults(
        fixture, "events[0].event_type: missing; expected MAPPING_CONFIRMED, MAPPING_REJECTED, "
                 "EXTRACTION_LINE_CORRECTED, EXTRACTION_FIELD_CORRECTED or CUSTOMER_SELECTED\n"
                 "events[1].before_json: invalid JSON\n"
                 "events[1].created_at: 2026-01-01T00:00:05Z is in the future\n"
                 "events[1].id: set by the server; expected no value\n"
                 "events[1].event_type: missing");
}

int run_rules_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_invalid_formats_are_refused, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_json_fields_are_objects, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_numbers_out_of_range_are_refused, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_enum_value_is_refused_with_the_known_ones,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_lists_above_their_length_are_refused, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_output_only_fields_are_refused, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_times_out_of_range_are_refused, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_rules_apply_inside_messages_and_lists, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_real_requests_are_accepted_or_all_errors_reported,
                                        fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
