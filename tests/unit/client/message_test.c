/*
 * message_test.c: gRPC's length-prefixed messages, whole and in pieces.
 */
#include "client/message.h"
#include "tests/unit/client/client_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define LIMIT 100000

/* Reads one message from `bytes`, in pieces of `step` bytes. */
static enum err read_one(struct client_reader *reader, struct slice bytes, size_t step,
                         struct slice *ret_message)
{
    bool complete = false;

    while (bytes.size > 0) {
        struct slice piece = slice_of(bytes.data, bytes.size < step ? bytes.size : step);
        size_t given = piece.size;
        enum err err = client_reader_take(reader, &piece, &complete, ret_message);

        if (err != OK) {
            return err;
        }
        bytes = slice_after(bytes, given - piece.size);
        if (complete) {
            assert_int_equal(bytes.size, 0);
            return OK;
        }
    }
    return ERR_NOT_FOUND;
}

static void assert_round_trip(struct slice message, bool gzip, size_t step)
{
    struct client_reader reader;
    struct slice read = {NULL, 0};
    uint8_t *framed = NULL;
    size_t size = 0;

    assert_int_equal(client_message_frame(message, gzip, &framed, &size), OK);
    client_reader_init(&reader, LIMIT);
    reader.gzip = gzip;
    assert_int_equal(read_one(&reader, slice_of(framed, size), step, &read), OK);
    assert_true(slice_equal(read, message));
    assert_true(client_reader_between(&reader));
    client_reader_deinit(&reader);
    free(framed);
}

/* Goal: framed messages are read back, compressed or not, in pieces of any size. Method: three
 * sizes, both encodings, whole and byte by byte. */
static void test_framed_messages_are_read_back(void **state)
{
    static uint8_t bytes[LIMIT];
    const size_t sizes[] = {0, 1, 30000};

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)(i * i >> 7);
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_round_trip(slice_of(bytes, sizes[i]), false, 1);
        assert_round_trip(slice_of(bytes, sizes[i]), false, SIZE_MAX);
        assert_round_trip(slice_of(bytes, sizes[i]), true, 1);
        assert_round_trip(slice_of(bytes, sizes[i]), true, SIZE_MAX);
    }
}

static enum err read_raw(struct slice bytes, bool gzip)
{
    struct client_reader reader;
    struct slice message = {NULL, 0};
    enum err err = OK;

    client_reader_init(&reader, LIMIT);
    reader.gzip = gzip;
    err = read_one(&reader, bytes, SIZE_MAX, &message);
    client_reader_deinit(&reader);
    return err;
}

/* Goal: damage is distinguished from size. Method: an unknown flag, compression that was not
 * announced, bytes that do not inflate, a length over the limit, and an incomplete length. */
static void test_damage_is_distinguished_from_size(void **state)
{
    (void)state;
    assert_int_equal(read_raw(SLICE("\x02\0\0\0\1x"), true), ERR_MALFORMED);
    assert_int_equal(read_raw(SLICE("\x01\0\0\0\1x"), false), ERR_MALFORMED);
    assert_int_equal(read_raw(SLICE("\x01\0\0\0\1x"), true), ERR_MALFORMED);
    assert_int_equal(read_raw(SLICE("\x01\0\0\0\0"), true), ERR_MALFORMED);
    assert_int_equal(read_raw(SLICE("\0\xff\0\0\0"), false), ERR_TOO_LARGE);
    assert_int_equal(read_raw(SLICE("\0\0\0\0\2x"), false), ERR_NOT_FOUND);
}

/* Goal: a small message cannot inflate past the limit.
 * Method: twice the limit of zeros, compressed. */
static void test_inflation_stops_at_the_limit(void **state)
{
    static const uint8_t zeros[2 * LIMIT];
    uint8_t *framed = NULL;
    size_t size = 0;

    (void)state;
    assert_int_equal(client_message_frame(slice_of(zeros, sizeof(zeros)), true, &framed, &size),
                     OK);
    assert_true(size < LIMIT);
    assert_int_equal(read_raw(slice_of(framed, size), true), ERR_TOO_LARGE);
    free(framed);
}

int run_message_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_framed_messages_are_read_back),
                                       cmocka_unit_test(test_damage_is_distinguished_from_size),
                                       cmocka_unit_test(test_inflation_stops_at_the_limit)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
