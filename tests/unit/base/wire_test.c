/*
 * wire_test.c: the wire format: written fields are read back, lengths are predicted, and bytes that
 * are not a message are refused.
 */
#include "tests/unit/base/base_tests.h"

#include "store/base/wire.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const uint32_t field_numbers[] = {1, 15, 16, 2047, 2048, 262143, 262144, 0x1fffffff};

/* Goal: varints round trip at each change of size, with predicted sizes. Method: 2^(7k) and
 * neighbours, by fields at each change of the tag's size. */
static void test_varints_round_trip_with_predicted_sizes(void **state)
{
    for (unsigned bits = 0; bits <= 64; bits++) {
        for (uint64_t delta = 0; delta < 3; delta++) {
            uint64_t value = (bits == 64 ? 0 : UINT64_C(1) << bits) + delta - 1;

            for (size_t i = 0; i < COUNT(field_numbers); i++) {
                struct buffer buffer;
                struct wire_field field = {0};
                struct wire_reader reader;

                buffer_init(&buffer, *state, 0);
                wire_put_varint(&buffer, field_numbers[i], value);
                assert_int_equal(buffer.size, wire_varint_bytes((uint64_t)field_numbers[i] << 3) +
                                                  wire_varint_bytes(value));
                reader = wire_reader_of(buffer_slice(&buffer));
                assert_int_equal(wire_next(&reader, &field), OK);
                assert_int_equal(field.number, field_numbers[i]);
                assert_int_equal(field.type, WIRE_VARINT);
                assert_true(field.value == value);
                assert_int_equal(wire_next(&reader, &field), ERR_NOT_FOUND);
                arena_reset(*state);
            }
        }
    }
    assert_int_equal(wire_varint_bytes(0), 1);
    assert_int_equal(wire_varint_bytes(127), 1);
    assert_int_equal(wire_varint_bytes(128), 2);
    assert_int_equal(wire_varint_bytes(UINT64_MAX), 10);
}

/* Goal: bytes, headers and doubles round trip. Method: one message of each, with predicted
 * sizes. */
static void test_messages_round_trip(void **state)
{
    struct buffer buffer;
    struct wire_reader reader;
    struct wire_field field = {0};
    double value = 0;
    uint8_t long_text[300];

    memset(long_text, 'q', sizeof(long_text));
    buffer_init(&buffer, *state, 0);
    wire_put_bytes(&buffer, 2, SLICE("abc"));
    wire_put_bytes(&buffer, 3, slice_of(NULL, 0));
    wire_put_double(&buffer, 4, -0.1);
    assert_int_equal(buffer.size, 5 + 2 + 9);
    wire_put_header(&buffer, 1000, sizeof(long_text));
    assert_int_equal(buffer.size, 16 + wire_header_bytes(1000, sizeof(long_text)));
    buffer_append(&buffer, slice_of(long_text, sizeof(long_text)));
    assert_true(buffer_ok(&buffer));

    reader = wire_reader_of(buffer_slice(&buffer));
    assert_int_equal(wire_next(&reader, &field), OK);
    assert_int_equal(field.type, WIRE_BYTES);
    assert_true(slice_equal(field.bytes, SLICE("abc")));
    assert_int_equal(wire_next(&reader, &field), OK);
    assert_int_equal(field.number, 3);
    assert_int_equal(field.bytes.size, 0);
    assert_int_equal(wire_next(&reader, &field), OK);
    assert_int_equal(field.type, WIRE_FIXED64);
    memcpy(&value, &field.value, sizeof(value));
    assert_true(value == -0.1);
    assert_int_equal(wire_next(&reader, &field), OK);
    assert_int_equal(field.number, 1000);
    assert_true(slice_equal(field.bytes, slice_of(long_text, sizeof(long_text))));
    assert_int_equal(wire_next(&reader, &field), ERR_NOT_FOUND);
    assert_int_equal(wire_next(&reader, &field), ERR_NOT_FOUND);
}

static void check_malformed(struct slice bytes)
{
    struct wire_reader reader = wire_reader_of(bytes);
    struct wire_field field = {0};

    assert_int_equal(wire_next(&reader, &field), ERR_MALFORMED);
    assert_true(slice_equal(reader.rest, bytes));
}

/* Goal: an invalid field is refused, and the reader does not move. Method: a table. */
static void test_malformed_field_is_refused(void **state)
{
    (void)state;
    check_malformed(SLICE("\x00\x01")); /* field number 0 */
    check_malformed(SLICE("\x80\x00\x01")); /* the same, in two bytes */
    check_malformed(SLICE("\x08")); /* no value */
    check_malformed(SLICE("\x80")); /* incomplete tag */
    check_malformed(SLICE("\x08\x80\x80"));
    check_malformed(SLICE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02")); /* 65 bits */
    check_malformed(SLICE("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01")); /* 11 bytes */
    check_malformed(SLICE("\x88\x80\x80\x80\x80\x00\x01")); /* a tag of 6 bytes */
    check_malformed(SLICE("\xf8\xff\xff\xff\x1f\x01")); /* a tag above 32 bits */
    check_malformed(SLICE("\x0a\x02x")); /* a length past the end */
    check_malformed(SLICE("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"));
    check_malformed(SLICE("\x0a"));
    check_malformed(SLICE("\x09\x01\x02\x03\x04\x05\x06\x07"));
    check_malformed(SLICE("\x0d\x01\x02\x03"));
    check_malformed(SLICE("\x0b\x0c")); /* a group */
    check_malformed(SLICE("\x0c"));
    check_malformed(SLICE("\x0e\x01")); /* types that do not exist */
    check_malformed(SLICE("\x0f\x01"));
}

/* Goal: longer forms that other writers may use are read. Method: 1 in two and in ten bytes. */
static void test_longer_varints_are_read(void **state)
{
    struct wire_reader reader =
        wire_reader_of(SLICE("\x88\x00\x81\x00\x08\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00"));
    struct wire_field field = {0};

    (void)state;
    assert_int_equal(wire_next(&reader, &field), OK);
    assert_int_equal(field.number, 1);
    assert_int_equal(field.value, 1);
    assert_int_equal(wire_next(&reader, &field), OK);
    assert_int_equal(field.value, 1);
}

static void check_timestamp(void **state, int64_t time_us)
{
    struct buffer buffer;
    struct wire_reader reader;
    struct wire_field field = {0};
    int64_t read_us = 0;

    buffer_init(&buffer, *state, 0);
    wire_put_timestamp(&buffer, 5, time_us);
    reader = wire_reader_of(buffer_slice(&buffer));
    assert_int_equal(wire_next(&reader, &field), OK);
    assert_int_equal(field.number, 5);
    assert_int_equal(wire_read_timestamp(field.bytes, &read_us), OK);
    assert_true(read_us == time_us);
}

/* Goal: times round trip, before 1970, too, with nanos never negative. Method: around 0, and far
 * away. */
static void test_wire_timestamps_round_trip(void **state)
{
    static const int64_t times_us[] = {0,
                                       1,
                                       -1,
                                       999999,
                                       1000000,
                                       -999999,
                                       -1000000,
                                       -1000001,
                                       1700000000123456,
                                       -62135596800000000,
                                       253402300799999999};
    struct buffer buffer;
    int64_t time_us = 77;

    for (size_t i = 0; i < COUNT(times_us); i++) {
        check_timestamp(state, times_us[i]);
    }
    buffer_init(&buffer, *state, 0);
    wire_put_timestamp(&buffer, 1, -1); /* seconds -1, nanos 999,999,000 */
    assert_true(slice_equal(buffer_slice(&buffer),
                            SLICE("\x0a\x11\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x98\x8c"
                                  "\xeb\xdc\x03")));
    assert_int_equal(wire_read_timestamp(SLICE("\x10\x80\x94\xeb\xdc\x03"), &time_us),
                     ERR_MALFORMED); /* a whole second of nanos */
    assert_int_equal(
        wire_read_timestamp(SLICE("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), &time_us),
        ERR_MALFORMED); /* nanos -1 */
    assert_int_equal(
        wire_read_timestamp(SLICE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), &time_us),
        ERR_MALFORMED); /* more seconds than microseconds fit */
    assert_int_equal(wire_read_timestamp(SLICE("\x0a\x01x"), &time_us), ERR_MALFORMED);
    assert_int_equal(wire_read_timestamp(SLICE("\x08"), &time_us), ERR_MALFORMED);
    assert_int_equal(time_us, 77);
    assert_int_equal(wire_read_timestamp(SLICE("\x18\x05\x08\x01\x08\x02\x10\xe7\x07"), &time_us),
                     OK); /* an unknown field, the last seconds, 999 nanos cut */
    assert_int_equal(time_us, 2000000);
}

/* Goal: a writer without memory fails as a whole. Method: an arena of 64 bytes. */
static void test_writer_without_memory_fails(void **state)
{
    struct arena small;
    struct buffer buffer;

    (void)state;
    arena_init(&small, 64);
    buffer_init(&buffer, &small, 0);
    for (uint32_t i = 1; i < 100; i++) {
        wire_put_varint(&buffer, i, UINT64_MAX);
        wire_put_double(&buffer, i, 1);
        wire_put_bytes(&buffer, i, SLICE("text"));
    }
    assert_false(buffer_ok(&buffer));
    arena_deinit(&small);
}

int run_wire_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_varints_round_trip_with_predicted_sizes, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_messages_round_trip, arena_set_up, arena_tear_down),
        cmocka_unit_test_setup_teardown(test_malformed_field_is_refused, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_longer_varints_are_read, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_wire_timestamps_round_trip, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_writer_without_memory_fails, arena_set_up,
                                        arena_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
