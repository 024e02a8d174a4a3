/*
 * check_test.c: the walk of the pre-scan: encodings, depth, budget, bytes that do not decode.
 */
#include "server/codec/check.h"

#include "store/base/wire.h"
#include "tests/unit/codec/codec_tests.h"

#include "errata/contract_messages.h"
#include <errata/v1/feedback_event.fields.h>

static enum err check_all(struct fixture *fixture)
{
    assert_true(buffer_ok(&fixture->wire));
    return fixture_check(fixture, &codec_all, buffer_slice(&fixture->wire));
}

static void put_scalars(struct buffer *wire)
{
    wire_put_double(wire, 1, 1.5);
    buffer_append(wire, SLICE("\x15\x00\x00\xc0\x3f")); /* a float */
    wire_put_varint(wire, 3, UINT64_MAX);
    wire_put_varint(wire, 4, UINT64_MAX);
    wire_put_varint(wire, 5, UINT64_MAX);
    wire_put_double(wire, 6, 0);
    buffer_append(wire, SLICE("\x3d\x01\x02\x03\x04"));
    wire_put_varint(wire, 8, 1);
    wire_put_bytes(wire, 9, SLICE("text \xc3\xa9"));
    wire_put_bytes(wire, 11, SLICE("\x0a\x01n"));
    wire_put_bytes(wire, 12, SLICE("\xff\x00\xfe"));
    wire_put_varint(wire, 13, 7);
    wire_put_varint(wire, 14, UINT64_MAX);
    buffer_append(wire, SLICE("\x7d\x01\x02\x03\x04"));
    wire_put_double(wire, 16, 1);
    wire_put_varint(wire, 17, 1);
    wire_put_varint(wire, 18, 1);
}

/* Goal: every type of field is accepted, in any order, packed and not, known and unknown. Method:
 * all of them, twice. */
static void test_every_type_of_field_is_accepted(void **state)
{
    struct fixture *fixture = *state;
    struct buffer *wire = &fixture->wire;

    assert_int_equal(check_all(fixture), OK); /* an empty message */
    put_scalars(wire);
    wire_put_bytes(wire, 20, SLICE("\x01\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
    wire_put_varint(wire, 20, 3);
    wire_put_bytes(wire, 21, SLICE("\x01\x02"));
    wire_put_varint(wire, 21, 3);
    wire_put_bytes(wire, 22, SLICE("\x01\x00\x00\x00\x02\x00\x00\x00"));
    wire_put_bytes(wire, 23, SLICE("\x01\x00\x00\x00\x02\x00\x00\x00"));
    wire_put_bytes(wire, 24, SLICE("\x01\x05\x00"));
    wire_put_bytes(wire, 24, slice_of(NULL, 0));
    wire_put_bytes(wire, 25, SLICE(""));
    wire_put_bytes(wire, 26, SLICE("\x80"));
    wire_put_bytes(wire, 27, SLICE("\x0a\x01k\x12\x03\x0a\x01v"));
    wire_put_bytes(wire, 27, slice_of(NULL, 0));
    wire_put_bytes(wire, 28, SLICE("\x12\x02\x12\x00"));
    wire_put_timestamp(wire, 29, FIXTURE_START_US);
    wire_put_bytes(wire, 30, SLICE("a"));
    wire_put_bytes(wire, 31, SLICE("\x0a\x01n"));
    wire_put_bytes(wire, 9999,
                   SLICE("\xff\xff")); /* an unknown field: its content is not checked */
    wire_put_varint(wire, 10, 1);
    wire_put_double(wire, 19, 1);
    put_scalars(wire); /* again, in another order: the last value counts */
    assert_int_equal(check_all(fixture), OK);
    fixture_expect_faults(fixture, "");
}

/* Goal: bytes that are not a valid message are refused with the place. Method: a table. */
static void test_malformed_message_is_refused_at_its_place(void **state)
{
    static const struct slice rows[] = {
        {(const uint8_t *)"\x08\x01", 2}, /* a varint for a double */
        {(const uint8_t *)"\x1d\x01\x02\x03\x04", 5}, /* four bytes for an int64 */
        {(const uint8_t *)"\x1a\x01\x01", 3}, /* bytes for an int64 that is not repeated */
        {(const uint8_t *)"\x48\x01", 2}, /* a varint for a string */
        {(const uint8_t *)"\x58\x01", 2}, /* a varint for a message */
        {(const uint8_t *)"\x4a\x05x", 3}, /* truncated */
        {(const uint8_t *)"\x5a\x02\x0a\x05", 4}, /* truncated inside a message */
        {(const uint8_t *)"\x5a\x02\x08\x01", 4}, /* a varint for a string inside */
        {(const uint8_t *)"\xa2\x01\x01\x80", 4}, /* incomplete varint in a packed field */
        {(const uint8_t *)"\xb2\x01\x03\x01\x02\x03", 6}, /* three bytes of fixed32 */
        {(const uint8_t *)"\xcd\x01\x01\x02\x03\x04", 6}, /* four bytes for a repeated string */
        {(const uint8_t *)"\x5b\x5c", 2}, /* a group instead of a message */
        {(const uint8_t *)"\x9b\x06\x9c\x06", 4}, /* an unknown group */
        {(const uint8_t *)"\x00\x00", 2}, /* field 0 */
        {(const uint8_t *)"\xff", 1},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        if (fixture_check(fixture, &codec_all, rows[i]) != ERR_MALFORMED) {
            fail_msg("row %zu", i);
        }
        assert_true(
            slice_starts_with(fixture->fault.message, SLICE("request: cannot be decoded at ")));
        fixture_clear(fixture);
    }
    assert_int_equal(fixture_check(fixture, &codec_all, SLICE("\xe2\x01\x02\x08\x01")),
                     ERR_MALFORMED);
    assert_non_null(strstr((const char *)fixture->fault.message.data, "`list[0].name`"));
}

/* Goal: text is UTF-8 without NUL, in any place; every invalid one is named. Method: invalid texts
 * at the top, in a list, in a map and inside messages. */
static void test_invalid_utf8_is_reported_everywhere(void **state)
{
    struct fixture *fixture = *state;
    struct buffer *wire = &fixture->wire;

    wire_put_bytes(wire, 9, SLICE("a\xff"));
    wire_put_bytes(wire, 25, SLICE("good"));
    wire_put_bytes(wire, 25, SLICE("a\0b"));
    wire_put_bytes(wire, 27, SLICE("\x0a\x01\x80"));
    wire_put_bytes(wire, 28, SLICE(""));
    wire_put_bytes(wire, 28, SLICE("\x12\x06\x1a\x00\x1a\x02\x0a\x00"));
    wire_put_bytes(wire, 28, SLICE("\x12\x09\x1a\x00\x1a\x05\x0a\x03\xed\xa0\x80"));
    assert_int_equal(check_all(fixture), ERR_INVALID);
    fixture_expect_faults(fixture, "f_string: invalid UTF-8 in `a?`\n"
                                   "texts[1]: NUL character at byte 1\n"
                                   "trees[0].key: invalid UTF-8\n"
                                   "list[2].child.children[1].name: invalid UTF-8");
}

/* `depth` messages inside each other, in wire bytes. */
static struct slice nested(struct fixture *fixture, size_t depth)
{
    struct buffer inner;
    struct buffer outer;

    buffer_init(&inner, &fixture->arena, 0);
    for (size_t i = 1; i < depth; i++) {
        buffer_init(&outer, &fixture->arena, inner.size + 12);
        wire_put_bytes(&outer, i % 3 == 0 ? 3 : 2, buffer_slice(&inner));
        inner = outer;
    }
    return buffer_slice(&inner);
}

/* Goal: a depth of 100 messages is accepted, 101 is a fault with its path, 20,000 is harmless.
 * Method: a message that contains itself. */
static void test_message_deeper_than_100_is_refused(void **state)
{
    struct fixture *fixture = *state;
    const struct fault_entry *entry = NULL;

    assert_int_equal(fixture_check(fixture, &codec_tree, nested(fixture, CHECK_DEPTH_MAX)), OK);
    assert_int_equal(fixture_check(fixture, &codec_tree, nested(fixture, CHECK_DEPTH_MAX + 1)),
                     ERR_INVALID);
    assert_int_equal(fixture->fault.total_count, 1);
    entry = &fixture->fault.entries[0];
    assert_true(slice_starts_with(entry->field, SLICE("child.children[0].child.child.")));
    assert_true(
        slice_starts_with(entry->description, SLICE("nested too deeply; expected at most 100")));
    assert_true(entry->field.size < 600);
    fixture_clear(fixture);
    assert_int_equal(fixture_check(fixture, &codec_tree, nested(fixture, 2000)), ERR_INVALID);
    assert_int_equal(fixture->fault.total_count, 1);
}

/* Goal: the element budget counts fields, packed elements and unknown fields equally. Method:
 * exactly the budget, and one more, of each kind. */
static void test_elements_above_the_budget_are_refused(void **state)
{
    struct fixture *fixture = *state;

    for (int kind = 0; kind < 4; kind++) {
        for (int more = 0; more < 2; more++) {
            int count = CHECK_ELEMENTS_MAX + more;

            fixture_clear(fixture);
            if (kind == 3) { /* the header is one element of the budget */
                wire_put_header(&fixture->wire, 20, (size_t)(count - 1));
            }
            for (int i = 0; i < count - (kind == 3); i++) {
                static const uint8_t pieces[][3] = {
                    {0xe2, 0x01, 0}, /* empty messages */
                    {0x9a, 0x06, 0}, /* unknown */
                    {0xa0, 0x01, 5}, /* separate numbers */
                    {5}, /* packed numbers */
                };

                buffer_append(&fixture->wire, slice_of(pieces[kind], kind == 3 ? 1 : 3));
            }
            assert_int_equal(check_all(fixture), more ? ERR_TOO_LARGE : OK);
        }
    }
    assert_non_null(strstr((const char *)fixture->fault.message.data, "100000"));
}

/* Goal: the check of a list of only faults ends early and uses little memory. Method: 90,000
 * invalid texts. */
static void test_faulty_list_ends_early(void **state)
{
    struct fixture *fixture = *state;
    size_t before = 0;

    for (int i = 0; i < 90000; i++) {
        wire_put_bytes(&fixture->wire, 25, SLICE("\xff"));
    }
    before = fixture->arena.used_bytes;
    assert_int_equal(check_all(fixture), ERR_INVALID);
    assert_int_equal(fixture->fault.count, FAULT_ENTRIES_MAX);
    assert_true(fixture->fault.total_count > FAULT_ENTRIES_MAX);
    assert_true(fixture->arena.used_bytes - before < (size_t)1 << 20);
}

/* Goal: nested messages with many fields each fit into the memory of the check. Method: Rules
 * inside Rules, 50 deep, with a fault in each. */
static void test_deep_messages_with_many_fields_are_checked(void **state)
{
    struct fixture *fixture = *state;
    struct buffer inner;
    struct buffer outer;

    buffer_init(&inner, &fixture->arena, 0);
    wire_put_bytes(&inner, 1, SLICE("a\n"));
    for (int i = 0; i < 50; i++) {
        buffer_init(&outer, &fixture->arena, inner.size + 16);
        wire_put_bytes(&outer, 21, buffer_slice(&inner));
        wire_put_varint(&outer, 8, UINT64_MAX);
        inner = outer;
    }
    assert_int_equal(fixture_check(fixture, &codec_rules, buffer_slice(&inner)), ERR_INVALID);
    assert_int_equal(fixture->fault.total_count, 51);
    assert_true(slice_equal(fixture->fault.entries[50].field, SLICE("page_size")));
}

/* Goal: without memory a check fails as such, and never passes. Method: arenas of 0 to 64 bytes. */
static void test_check_without_memory_never_passes(void **state)
{
    struct fixture *fixture = *state;
    struct slice checked = {NULL, 0};
    struct arena small;
    struct fault fault;
    struct ctx ctx = {.arena = &small, .clock = &fixture->clock.clock, .fault = &fault};
    struct buffer inner;
    struct buffer outer;

    buffer_init(&inner, &fixture->arena, 0);
    for (int i = 0; i < 50; i++) {
        buffer_init(&outer, &fixture->arena, inner.size + 16);
        wire_put_bytes(&outer, 21, buffer_slice(&inner));
        inner = outer;
    }
    arena_init(&small, 64);
    fault_init(&fault, &small);
    assert_int_equal(check_request(&ctx, &codec_rules, buffer_slice(&inner), &checked), ERR_MEMORY);
    assert_int_equal(check_request(&ctx, &codec_all, SLICE("\x4a\x01\xff"), &checked), ERR_INVALID);
    arena_deinit(&small);
}

/* Goal: any damage of good bytes gives a result, never a crash. Method: each byte of a full message
 * changed to each of several values, and each prefix. */
static void test_damaged_message_never_crashes_the_check(void **state)
{
    struct fixture *fixture = *state;
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0x0b, 0x4a};
    uint8_t bytes[512];
    size_t size = 0;

    put_scalars(&fixture->wire);
    wire_put_bytes(&fixture->wire, 27, SLICE("\x0a\x01k\x12\x03\x0a\x01v"));
    wire_put_bytes(&fixture->wire, 28, SLICE("\x12\x06\x1a\x00\x1a\x02\x0a\x00"));
    wire_put_timestamp(&fixture->wire, 29, FIXTURE_START_US);
    wire_put_bytes(&fixture->wire, 20, SLICE("\x01\x80\x01"));
    size = fixture->wire.size;
    assert_true(size <= sizeof(bytes));
    memcpy(bytes, fixture->wire.data, size);
    for (size_t at = 0; at < size; at++) {
        uint8_t kept = bytes[at];

        for (size_t i = 0; i < COUNT(values); i++) {
            enum err err = OK;

            bytes[at] = values[i];
            err = fixture_check(fixture, &codec_all, slice_of(bytes, size));
            assert_true(err == OK || err == ERR_MALFORMED || err == ERR_INVALID);
            fixture_clear(fixture);
        }
        bytes[at] = kept;
        (void)!fixture_check(fixture, &codec_all, slice_of(bytes, at));
        fixture_clear(fixture);
    }
}

static enum err check_stored(struct fixture *fixture)
{
    enum err err = check_stored_message(&fixture->ctx, &contract_errata_v1_feedback_event,
                                        buffer_slice(&fixture->wire));

    fixture_clear(fixture);
    return err;
}

/* Goal: a stored message needs form, texts, JSON and known enum values, and may break the rules of requests. Method: a
 * feedback event with what only the server sets, without what a request must have; then one fault at a time. */
static void test_stored_message_is_not_bound_to_the_rules_of_requests(void **state)
{
    struct fixture *fixture = *state;
    struct buffer *wire = &fixture->wire;

    wire_put_bytes(wire, FEEDBACK_EVENT_ID_FIELD, SLICE("not an id of today"));
    wire_put_timestamp(wire, FEEDBACK_EVENT_CREATED_AT_FIELD, INT64_C(32503680000000000));
    wire_put_bytes(wire, FEEDBACK_EVENT_BEFORE_JSON_FIELD, SLICE("{\"qty\":1}"));
    assert_int_equal(check_stored(fixture), OK);
    wire_put_bytes(wire, FEEDBACK_EVENT_ID_FIELD, SLICE("not an id of today"));
    assert_int_equal(fixture_check(fixture, &contract_errata_v1_feedback_event, buffer_slice(wire)),
                     ERR_INVALID);
    fixture_clear(fixture);
    wire_put_bytes(wire, FEEDBACK_EVENT_BEFORE_JSON_FIELD, SLICE("{\"qty\":}"));
    assert_int_equal(check_stored(fixture), ERR_INVALID);
    wire_put_bytes(wire, FEEDBACK_EVENT_FIELDS_CHANGED_FIELD, SLICE("a\xff"));
    assert_int_equal(check_stored(fixture), ERR_INVALID);
    wire_put_varint(wire, FEEDBACK_EVENT_EVENT_TYPE_FIELD, 9999);
    assert_int_equal(check_stored(fixture), ERR_INVALID);
    wire_put_bytes(wire, FEEDBACK_EVENT_CREATED_AT_FIELD, SLICE("\x08\x01"));
    wire_put_bytes(wire, FEEDBACK_EVENT_CREATED_AT_FIELD, SLICE("\x10\x01"));
    assert_int_equal(check_stored(fixture), ERR_MALFORMED); /* in pieces */
    wire_put_varint(wire, FEEDBACK_EVENT_ID_FIELD, 1);
    assert_int_equal(check_stored(fixture), ERR_MALFORMED);
}

int run_check_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_type_of_field_is_accepted, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_malformed_message_is_refused_at_its_place,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_invalid_utf8_is_reported_everywhere, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_message_deeper_than_100_is_refused, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_elements_above_the_budget_are_refused, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_faulty_list_ends_early, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_deep_messages_with_many_fields_are_checked,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_check_without_memory_never_passes, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_message_never_crashes_the_check,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_stored_message_is_not_bound_to_the_rules_of_requests,
                                        fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
