/*
 * reader_tests.c: replies of Redis: every form, in pieces of any size, and replies of a hostile
 * server.
 */
#include "server/redis/redis_reader.h"
#include "tests/unit/redis/redis_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Feeds bytes in pieces; returns the first error, or OK with the reply. */
static enum err read_pieces(struct redis_reader *reader, struct slice bytes, size_t piece,
                            const struct redis_value **ret_reply)
{
    enum err err = ERR_NOT_FOUND;

    for (size_t at = 0; at < bytes.size && err == ERR_NOT_FOUND; at += piece) {
        struct slice input =
            slice_of(bytes.data + at, bytes.size - at < piece ? bytes.size - at : piece);

        err = redis_reader_feed(reader, &input, ret_reply);
    }
    return err;
}

static bool is_text(const struct redis_value *value, const char *text)
{
    return redis_is_text(value) && slice_equal(value->text, slice_text(text));
}

/* Goal: replies of streams are read in pieces of any size. Method: one of XREADGROUP and one of XAUTOCLAIM, whole and
 * in pieces of 1 to 7 bytes, two after each other by one reader. */
static void test_replies_are_read_in_any_pieces(void **state)
{
    static const char entries[] =
        "*1\r\n*2\r\n$1\r\ns\r\n*2\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\na\r\n"
        "$0\r\n\r\n*2\r\n$3\r\n2-0\r\n$-1\r\n";
    static const char claimed[] = "*3\r\n$3\r\n0-0\r\n*0\r\n*0\r\n";

    (void)state;
    for (size_t piece = 1; piece <= 8; piece++) {
        struct redis_reader *reader = NULL;
        const struct redis_value *reply = NULL;
        const struct redis_value *list = NULL;

        assert_int_equal(redis_reader_new(&reader), OK);
        assert_int_equal(
            read_pieces(reader, slice_text(entries), piece == 8 ? 1000 : piece, &reply), OK);
        list = redis_item(redis_item(reply, 0), 1);
        assert_true(is_text(redis_item(redis_item(list, 0), 0), "1-0"));
        assert_true(is_text(redis_item(redis_item(redis_item(list, 0), 1), 0), "a"));
        assert_true(is_text(redis_item(redis_item(redis_item(list, 0), 1), 1), ""));
        assert_int_equal(redis_item(redis_item(list, 1), 1)->kind, REDIS_NIL);
        assert_false(reply->is_cut);
        assert_int_equal(
            read_pieces(reader, slice_text(claimed), piece == 8 ? 1000 : piece, &reply), OK);
        assert_true(is_text(redis_item(reply, 0), "0-0"));
        assert_int_equal(redis_item(reply, 1)->count, 0);
        redis_reader_free(reader);
    }
}

/* Goal: scalars have their kinds. Method: one of each. */
static void test_scalars_have_their_kinds(void **state)
{
    struct redis_reader *reader = NULL;
    const struct redis_value *reply = NULL;

    (void)state;
    assert_int_equal(redis_reader_new(&reader), OK);
    assert_int_equal(read_pieces(reader, SLICE("+OK\r\n"), 9, &reply), OK);
    assert_true(is_text(reply, "OK"));
    assert_int_equal(read_pieces(reader, SLICE("-NOGROUP no\r\n"), 9, &reply), OK);
    assert_int_equal(reply->kind, REDIS_ERROR);
    assert_int_equal(read_pieces(reader, SLICE(":-12\r\n"), 9, &reply), OK);
    assert_int_equal(reply->integer, -12);
    assert_int_equal(read_pieces(reader, SLICE("*-1\r\n"), 9, &reply), OK);
    assert_int_equal(reply->kind, REDIS_NIL);
    redis_reader_free(reader);
}

/* Feeds `size` bytes of a text without an end. */
static enum err feed_filler(struct redis_reader *reader, size_t size,
                            const struct redis_value **ret_reply)
{
    static uint8_t filler[64 * 1024];
    enum err err = ERR_NOT_FOUND;

    memset(filler, 'x', sizeof(filler));
    while (size > 0 && err == ERR_NOT_FOUND) {
        size_t some = size < sizeof(filler) ? size : sizeof(filler);
        struct slice input = slice_of(filler, some);

        err = redis_reader_feed(reader, &input, ret_reply);
        size -= some;
    }
    return err;
}

/* Goal: a text above the limit is left out, not kept, and the rest of the reply is read. Method: texts around the limit,
 * beside a short one. */
static void test_large_text_is_left_out(void **state)
{
    (void)state;
    for (int over = 0; over <= 2; over++) {
        size_t size = REDIS_TEXT_BYTES_MAX - 1 + (size_t)over;
        struct redis_reader *reader = NULL;
        const struct redis_value *reply = NULL;
        char head[64];

        (void)snprintf(head, sizeof(head), "*2\r\n$%zu\r\n", size);
        assert_int_equal(redis_reader_new(&reader), OK);
        assert_int_equal(read_pieces(reader, slice_text(head), 100, &reply), ERR_NOT_FOUND);
        assert_int_equal(feed_filler(reader, size, &reply), ERR_NOT_FOUND);
        assert_int_equal(read_pieces(reader, SLICE("\r\n$2\r\nok\r\n"), 3, &reply), OK);
        assert_int_equal(reply->is_cut, over == 2);
        assert_int_equal(redis_is_text(redis_item(reply, 0)), over < 2);
        assert_true(is_text(redis_item(reply, 1), "ok"));
        redis_reader_free(reader);
    }
}

/* Goal: a reply's budget is kept. Method: five of the largest texts: the last does not fit. */
static void test_texts_beyond_the_budget_are_left_out(void **state)
{
    struct redis_reader *reader = NULL;
    const struct redis_value *reply = NULL;
    char head[64];

    (void)state;
    (void)snprintf(head, sizeof(head), "$%u\r\n", REDIS_TEXT_BYTES_MAX);
    assert_int_equal(redis_reader_new(&reader), OK);
    assert_int_equal(read_pieces(reader, SLICE("*5\r\n"), 100, &reply), ERR_NOT_FOUND);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(read_pieces(reader, slice_text(head), 100, &reply), ERR_NOT_FOUND);
        assert_int_equal(feed_filler(reader, REDIS_TEXT_BYTES_MAX, &reply), ERR_NOT_FOUND);
        assert_int_equal(read_pieces(reader, SLICE("\r\n"), 100, &reply),
                         i == 4 ? OK : ERR_NOT_FOUND);
    }
    assert_true(reply->is_cut);
    assert_true(redis_is_text(redis_item(reply, 3)));
    assert_false(redis_is_text(redis_item(reply, 4)));
    redis_reader_free(reader);
}

/* Goal: a list of any announced length costs no memory, and values beyond the limit are left out. Method: a list that
 * announces two billion values; one with some more than the limit. */
static void test_long_lists_are_cut(void **state)
{
    struct redis_reader *reader = NULL;
    const struct redis_value *reply = NULL;

    (void)state;
    assert_int_equal(redis_reader_new(&reader), OK);
    assert_int_equal(read_pieces(reader, SLICE("*2000000000\r\n:1\r\n"), 100, &reply),
                     ERR_NOT_FOUND);
    redis_reader_free(reader);
    assert_int_equal(redis_reader_new(&reader), OK);
    assert_int_equal(read_pieces(reader, SLICE("*70000\r\n"), 100, &reply), ERR_NOT_FOUND);
    for (int i = 0; i < 70000; i++) {
        assert_int_equal(read_pieces(reader, SLICE(":7\r\n"), 100, &reply),
                         i == 69999 ? OK : ERR_NOT_FOUND);
    }
    assert_true(reply->is_cut);
    assert_int_equal(reply->count, 70000);
    assert_true(reply->capacity <= REDIS_REPLY_VALUES_MAX);
    assert_int_equal(redis_item(reply, 100)->integer, 7);
    assert_null(redis_item(reply, 69999));
    redis_reader_free(reader);
}

/* Goal: bytes that are not a reply end the reading. Method: one of each kind. */
static void test_malformed_replies_are_refused(void **state)
{
    static const char *const cases[] = {"hello\r\n",
                                        "$x\r\n",
                                        "$\r\n",
                                        "$99999999999999999999999999\r\n",
                                        "$-2\r\n",
                                        "$1\n",
                                        "*x\r\n",
                                        "%1\r\n",
                                        ":1234567890123456789012345678901234567890\r\n",
                                        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct redis_reader *reader = NULL;
        const struct redis_value *reply = NULL;

        assert_int_equal(redis_reader_new(&reader), OK);
        if (read_pieces(reader, slice_text(cases[i]), 1000, &reply) != ERR_MALFORMED) {
            fail_msg("%s was read", cases[i]);
        }
        redis_reader_free(reader);
    }
}

/* Goal: lines end as in hiredis, which would otherwise buffer short lines without bound. Method: statuses that end in
 * an LF only, in pieces of every size; a CR in one piece and its LF in the next. */
static void test_lines_end_in_cr_and_lf(void **state)
{
    (void)state;
    for (size_t piece = 1; piece <= 6; piece++) {
        struct redis_reader *reader = NULL;
        const struct redis_value *reply = NULL;

        assert_int_equal(redis_reader_new(&reader), OK);
        assert_int_equal(read_pieces(reader, SLICE("+\n+\n+\n"), piece, &reply), ERR_MALFORMED);
        redis_reader_free(reader);
        assert_int_equal(redis_reader_new(&reader), OK);
        assert_int_equal(read_pieces(reader, SLICE("+a\rb\r\n"), piece, &reply), OK);
        assert_true(is_text(reply, "a\rb"));
        redis_reader_free(reader);
    }
}

/* Goal: a line without an end is bounded. Method: a status of more bytes than the limit. */
static void test_long_line_is_refused(void **state)
{
    struct redis_reader *reader = NULL;
    const struct redis_value *reply = NULL;

    (void)state;
    assert_int_equal(redis_reader_new(&reader), OK);
    assert_int_equal(read_pieces(reader, SLICE("+"), 1, &reply), ERR_NOT_FOUND);
    assert_int_equal(feed_filler(reader, REDIS_LINE_BYTES_MAX + 10, &reply), ERR_MALFORMED);
    redis_reader_free(reader);
}

int run_reader_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replies_are_read_in_any_pieces),
        cmocka_unit_test(test_scalars_have_their_kinds),
        cmocka_unit_test(test_large_text_is_left_out),
        cmocka_unit_test(test_texts_beyond_the_budget_are_left_out),
        cmocka_unit_test(test_long_lists_are_cut),
        cmocka_unit_test(test_malformed_replies_are_refused),
        cmocka_unit_test(test_lines_end_in_cr_and_lf),
        cmocka_unit_test(test_long_line_is_refused),
    };

    return cmocka_run_group_tests_name("redis reader", tests, NULL, NULL);
}
