/*
 * consumer_tests.c: the client of a stream, on a simulated clock: its commands, its reconnections and its
 * acknowledgements.
 */
#include "server/redis/redis_consumer.h"
#include "tests/unit/redis/redis_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND_US INT64_C(1000000)
#define NO_ENTRIES "*1\r\n*2\r\n$1\r\ns\r\n*0\r\n"
#define CLAIMED_NONE "*3\r\n$3\r\n0-0\r\n*0\r\n*0\r\n"
#define ENTRY(id) "*2\r\n$3\r\n" id "\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n"
#define ENTRIES(count, text) "*1\r\n*2\r\n$1\r\ns\r\n*" count "\r\n" text

struct bench {
    struct clock_manual clock;
    struct random_seeded random;
    struct redis_consumer *consumer;
};

static void bench_init(struct bench *bench)
{
    struct redis_consumer_config config = {.stream = SLICE("s"),
                                           .group = SLICE("g"),
                                           .consumer = SLICE("c"),
                                           .clock = &bench->clock.clock,
                                           .random = &bench->random.random};

    clock_manual_init(&bench->clock, SECOND_US);
    random_seeded_init(&bench->random, 1);
    assert_int_equal(redis_consumer_new(&config, &bench->consumer), OK);
}

static enum redis_want next(struct bench *bench)
{
    return redis_consumer_next(bench->consumer);
}

/* Checks that exactly these commands were sent, in order, and discards them. */
static void expect_sent(struct bench *bench, const char *words)
{
    struct slice sent = redis_consumer_output(bench->consumer);
    char plain[1024];
    size_t size = 0;
    bool is_word = false;

    for (size_t at = 0; at < sent.size;) {
        const uint8_t *end = memchr(sent.data + at, '\n', sent.size - at);
        size_t line = (size_t)(end - (sent.data + at)) + 1;

        if (!is_word && sent.data[at] == '*') {
            size += (size_t)snprintf(plain + size, sizeof(plain) - size, "|");
        } else if (is_word) {
            size += (size_t)snprintf(plain + size, sizeof(plain) - size, "%.*s ", (int)line - 2,
                                     (const char *)sent.data + at);
        }
        is_word = !is_word && sent.data[at] == '$';
        at += line;
    }
    plain[size] = '\0';
    assert_string_equal(plain, words);
    redis_consumer_sent(bench->consumer);
}

static void feed(struct bench *bench, const char *bytes)
{
    redis_consumer_feed(bench->consumer, slice_text(bytes));
}

/* Connects, and answers the greeting; the client requests its own pending entries. */
static void connect_once(struct bench *bench)
{
    redis_consumer_tick(bench->consumer);
    assert_int_equal(next(bench), REDIS_WANTS_OPEN);
    redis_consumer_opened(bench->consumer);
    expect_sent(bench, "|XGROUP CREATE s g 0 MKSTREAM ");
    feed(bench, "+OK\r\n");
    expect_sent(bench, "|XREADGROUP GROUP g c COUNT 64 STREAMS s 0 ");
}

static void expect_new_read(struct bench *bench)
{
    expect_sent(bench, "|XREADGROUP GROUP g c COUNT 64 BLOCK 2000 STREAMS s > ");
}

/* Goal: a connection reads pending entries, claims those of others, then waits for new ones, and acknowledges only what
 * was stored. Method: handwritten replies; two entries, of which one is not stored. */
static void test_entries_are_acknowledged_once_stored(void **state)
{
    const bool stored[] = {true, false};
    struct bench bench;
    size_t count = 0;
    const struct redis_entry *batch = NULL;

    (void)state;
    bench_init(&bench);
    connect_once(&bench);
    feed(&bench, NO_ENTRIES);
    expect_sent(&bench, "|XAUTOCLAIM s g c 60000 0-0 COUNT 64 ");
    feed(&bench, CLAIMED_NONE);
    expect_sent(&bench, "|XINFO GROUPS s |XREADGROUP GROUP g c COUNT 64 BLOCK 2000 STREAMS s > ");
    feed(&bench, "*1\r\n*4\r\n$4\r\nname\r\n$1\r\ng\r\n$3\r\nlag\r\n:5\r\n");
    assert_int_equal(redis_consumer_counts(bench.consumer).lag, 5);
    feed(&bench, ENTRIES("2", ENTRY("1-0") ENTRY("2-0")));
    assert_int_equal(next(&bench), REDIS_WANTS_STORE);
    expect_sent(&bench, "");
    batch = redis_consumer_batch(bench.consumer, &count);
    assert_int_equal(count, 2);
    assert_true(slice_equal(batch[1].id, SLICE("2-0")));
    assert_true(slice_equal(batch[1].texts[1], SLICE("b")));
    clock_manual_advance(&bench.clock, 3600 * SECOND_US);
    redis_consumer_tick(bench.consumer); /* storing may take any time */
    assert_int_equal(redis_consumer_state(bench.consumer), REDIS_STORING);
    redis_consumer_settle(bench.consumer, stored);
    expect_sent(&bench, "|XACK s g 1-0 |XAUTOCLAIM s g c 60000 0-0 COUNT 64 ");
    assert_int_equal(redis_consumer_counts(bench.consumer).acknowledged, 1);
    redis_consumer_free(bench.consumer);
}

/* Connects with a password to a server that refuses it with this message; returns the problem. */
static const char *refuse_password(struct bench *bench, const char *replies)
{
    redis_consumer_set_password(bench->consumer, SLICE("secret"));
    redis_consumer_tick(bench->consumer);
    assert_int_equal(next(bench), REDIS_WANTS_OPEN);
    redis_consumer_opened(bench->consumer);
    expect_sent(bench, "|AUTH secret |XGROUP CREATE s g 0 MKSTREAM ");
    feed(bench, replies);
    assert_int_equal(next(bench), REDIS_WANTS_CLOSE);
    clock_manual_advance(&bench->clock, REDIS_RETRY_US_MAX);
    return redis_consumer_problem(bench->consumer);
}

/* Goal: the password is sent first, its refusal delays the next attempt, and the log never contains it. Method: a
 * refusal; a server without AUTH, which quotes the command. */
static void test_password_is_sent_first(void **state)
{
    struct bench bench;

    (void)state;
    bench_init(&bench);
    assert_string_equal(refuse_password(&bench, "-WRONGPASS invalid\r\n-NOAUTH required\r\n"),
                        "the password was refused: WRONGPASS");
    assert_string_equal(
        refuse_password(
            &bench, "-ERR unknown command 'AUTH', with args beginning with: 'secret'\r\n+OK\r\n"),
        "the password was refused: ERR");
    redis_consumer_free(bench.consumer);
}

/* Goal: waits grow up to their limit, by half at random, and shrink once new entries are read. Method: a hundred failures; a read
 * that waited. */
static void test_waits_grow_and_shrink(void **state)
{
    struct bench bench;
    int64_t step = REDIS_RETRY_US_MIN;

    (void)state;
    bench_init(&bench);
    for (int i = 0; i < 100; i++) {
        int64_t waited = 0;

        redis_consumer_tick(bench.consumer);
        assert_int_equal(next(&bench), REDIS_WANTS_OPEN);
        redis_consumer_fail(bench.consumer, "refused");
        assert_int_equal(next(&bench), REDIS_WANTS_CLOSE);
        while (redis_consumer_tick(bench.consumer),
               redis_consumer_state(bench.consumer) == REDIS_WAITING) {
            clock_manual_advance(&bench.clock, REDIS_RETRY_US_MIN / 10);
            waited += REDIS_RETRY_US_MIN / 10;
        }
        assert_int_equal(next(&bench), REDIS_WANTS_OPEN);
        assert_true(waited >= step / 2 && waited <= step + REDIS_RETRY_US_MIN / 10);
        redis_consumer_fail(bench.consumer, "refused"); /* two at a time */
        assert_int_equal(next(&bench), REDIS_WANTS_CLOSE);
        clock_manual_advance(&bench.clock, REDIS_RETRY_US_MAX);
        for (int j = 0; j < 2; j++) {
            step = step * 2 < REDIS_RETRY_US_MAX ? step * 2 : REDIS_RETRY_US_MAX;
        }
    }
    connect_once(&bench);
    feed(&bench, NO_ENTRIES CLAIMED_NONE);
    feed(&bench, "*0\r\n*-1\r\n");
    assert_int_equal(redis_consumer_counts(bench.consumer).resumed, 1);
    redis_consumer_fail(bench.consumer, "lost");
    assert_int_equal(next(&bench), REDIS_WANTS_CLOSE);
    clock_manual_advance(&bench.clock, REDIS_RETRY_US_MIN);
    redis_consumer_tick(bench.consumer);
    assert_int_equal(next(&bench), REDIS_WANTS_OPEN);
    redis_consumer_free(bench.consumer);
}

/* Goal: an error that lasts, and comes only after a greeting, does not cause ten attempts per second. Method: a server
 * that returns pending entries, and refuses to claim. */
static void test_error_after_a_greeting_waits(void **state)
{
    struct bench bench;

    (void)state;
    bench_init(&bench);
    for (int i = 0; i < 20; i++) {
        connect_once(&bench);
        feed(&bench, NO_ENTRIES);
        redis_consumer_sent(bench.consumer);
        feed(&bench, "-NOPERM this user has no permissions to run the 'xautoclaim' command\r\n");
        assert_int_equal(next(&bench), REDIS_WANTS_CLOSE);
        if (i == 19) {
            clock_manual_advance(&bench.clock, REDIS_RETRY_US_MAX / 2 - 1);
            redis_consumer_tick(bench.consumer);
            assert_int_equal(next(&bench), REDIS_WANTS_NOTHING);
        }
        clock_manual_advance(&bench.clock, REDIS_RETRY_US_MAX);
    }
    assert_int_equal(redis_consumer_counts(bench.consumer).resumed, 0);
    redis_consumer_free(bench.consumer);
}

/* Goal: a connection that is lost while entries are stored acknowledges nothing, and connects only once they are stored.
 * Method: a loss between the batch and its end. */
static void test_lost_connection_acknowledges_nothing(void **state)
{
    const bool stored[] = {true};
    struct bench bench;

    (void)state;
    bench_init(&bench);
    connect_once(&bench);
    feed(&bench, ENTRIES("1", ENTRY("1-0")));
    assert_int_equal(next(&bench), REDIS_WANTS_STORE);
    redis_consumer_fail(bench.consumer, "lost");
    assert_int_equal(next(&bench), REDIS_WANTS_CLOSE);
    clock_manual_advance(&bench.clock, REDIS_RETRY_US_MAX);
    redis_consumer_tick(bench.consumer);
    assert_int_equal(next(&bench), REDIS_WANTS_NOTHING);
    assert_int_equal(redis_consumer_state(bench.consumer), REDIS_STRANDED);
    redis_consumer_settle(bench.consumer, stored);
    expect_sent(&bench, "");
    assert_int_equal(redis_consumer_counts(bench.consumer).acknowledged, 0);
    connect_once(&bench);
    redis_consumer_free(bench.consumer);
}

/* Goal: a connection without a reply ends at its timeout. Method: no reply to a greeting, and to a read that
 * waits. */
static void test_silent_server_is_left(void **state)
{
    struct bench bench;

    (void)state;
    bench_init(&bench);
    connect_once(&bench);
    feed(&bench, NO_ENTRIES CLAIMED_NONE);
    feed(&bench, "*0\r\n");
    redis_consumer_sent(bench.consumer);
    clock_manual_advance(&bench.clock, REDIS_REPLY_US - 1);
    redis_consumer_tick(bench.consumer);
    assert_int_equal(redis_consumer_state(bench.consumer), REDIS_READING);
    clock_manual_advance(&bench.clock, 3 * SECOND_US);
    redis_consumer_tick(bench.consumer);
    assert_int_equal(next(&bench), REDIS_WANTS_CLOSE);
    assert_string_equal(redis_consumer_problem(bench.consumer),
                        "the server did not answer in time");
    redis_consumer_free(bench.consumer);
}

/* Goal: a group that exists is used, one that vanished is made again, and other errors delay the next attempt.
 * Method: each reply. */
static void test_missing_group_is_made_again_and_other_errors_wait(void **state)
{
    struct bench bench;

    (void)state;
    bench_init(&bench);
    redis_consumer_tick(bench.consumer);
    assert_int_equal(next(&bench), REDIS_WANTS_OPEN);
    redis_consumer_opened(bench.consumer);
    redis_consumer_sent(bench.consumer);
    feed(&bench, "-BUSYGROUP Consumer Group name already exists\r\n");
    expect_sent(&bench, "|XREADGROUP GROUP g c COUNT 64 STREAMS s 0 ");
    feed(&bench, "-NOGROUP No such key\r\n");
    expect_sent(&bench, "|XGROUP CREATE s g 0 MKSTREAM ");
    feed(&bench, "-WRONGTYPE not a stream\r\n");
    assert_int_equal(next(&bench), REDIS_WANTS_CLOSE);
    assert_string_equal(redis_consumer_problem(bench.consumer),
                        "cannot create the group: WRONGTYPE not a stream");
    redis_consumer_free(bench.consumer);
}

/* Goal: deleted pending entries are acknowledged without being stored; a server without XAUTOCLAIM is read
 * nevertheless. Method: a pending entry without fields; the error of an old server. */
static void test_deleted_entries_are_gone_and_old_servers_are_read(void **state)
{
    const bool stored[] = {true};
    struct bench bench;
    size_t count = 0;

    (void)state;
    bench_init(&bench);
    connect_once(&bench);
    feed(&bench, ENTRIES("1", "*2\r\n$3\r\n1-0\r\n$-1\r\n"));
    assert_int_equal(next(&bench), REDIS_WANTS_STORE);
    assert_true(redis_consumer_batch(bench.consumer, &count)[0].is_gone);
    redis_consumer_settle(bench.consumer, stored);
    expect_sent(&bench, "|XACK s g 1-0 |XREADGROUP GROUP g c COUNT 64 STREAMS s 0 ");
    feed(&bench, ":1\r\n" NO_ENTRIES);
    expect_sent(&bench, "|XAUTOCLAIM s g c 60000 0-0 COUNT 64 ");
    feed(&bench, "-ERR unknown command `XAUTOCLAIM`\r\n");
    expect_new_read(&bench);
    assert_int_equal(redis_consumer_counts(bench.consumer).gone, 1);
    redis_consumer_free(bench.consumer);
}

/* Feeds an entry whose only value has `size` bytes. */
static void feed_large(struct bench *bench, const char *id, size_t size)
{
    static uint8_t filler[64 * 1024];
    char head[128];

    (void)snprintf(head, sizeof(head), "*2\r\n$3\r\n%s\r\n*2\r\n$1\r\na\r\n$%zu\r\n", id, size);
    feed(bench, head);
    while (size > 0) {
        size_t some = size < sizeof(filler) ? size : sizeof(filler);

        redis_consumer_feed(bench->consumer, slice_of(filler, some));
        size -= some;
    }
    feed(bench, "\r\n");
}

/* Goal: an entry that does not fit beside others is read again by itself, and counts as too large only then. Method: a
 * small entry and a large one; the large one again. */
static void test_large_entry_is_read_by_itself(void **state)
{
    const bool stored[] = {true};
    struct bench bench;
    size_t count = 0;

    (void)state;
    bench_init(&bench);
    connect_once(&bench);
    feed(&bench, "*1\r\n*2\r\n$1\r\ns\r\n*2\r\n" ENTRY("1-0"));
    feed_large(&bench, "2-0", REDIS_TEXT_BYTES_MAX + 1);
    assert_int_equal(next(&bench), REDIS_WANTS_STORE);
    assert_true(slice_equal(redis_consumer_batch(bench.consumer, &count)[0].id, SLICE("1-0")));
    assert_int_equal(count, 1);
    redis_consumer_settle(bench.consumer, stored);
    expect_sent(&bench, "|XACK s g 1-0 |XREADGROUP GROUP g c COUNT 1 STREAMS s 0 ");
    feed(&bench, ":1\r\n*1\r\n*2\r\n$1\r\ns\r\n*1\r\n");
    feed_large(&bench, "2-0", REDIS_TEXT_BYTES_MAX + 1);
    assert_int_equal(next(&bench), REDIS_WANTS_STORE);
    assert_true(redis_consumer_batch(bench.consumer, &count)[0].is_cut);
    assert_int_equal(count, 1);
    redis_consumer_settle(bench.consumer, stored);
    expect_sent(&bench, "|XACK s g 2-0 |XREADGROUP GROUP g c COUNT 1 STREAMS s 0 ");
    feed(&bench, ":1\r\n" NO_ENTRIES);
    expect_sent(&bench, "|XAUTOCLAIM s g c 60000 0-0 COUNT 64 ");
    redis_consumer_free(bench.consumer);
}

/* Goal: entries that are too large for one reply are read one by one after it, so that the reply is not requested
 * forever. Method: a reply that exceeds the limit by its third entry; the next connections, until none is pending. */
static void test_too_large_reply_is_read_one_by_one(void **state)
{
    const size_t size = REDIS_REPLY_SENT_BYTES_MAX / 3 + 1;
    struct bench bench;

    (void)state;
    bench_init(&bench);
    connect_once(&bench);
    feed(&bench, "*1\r\n*2\r\n$1\r\ns\r\n*64\r\n");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(next(&bench), REDIS_WANTS_NOTHING);
        feed_large(&bench, "1-0", size);
    }
    assert_int_equal(next(&bench), REDIS_WANTS_CLOSE);
    for (int i = 0; i < 2; i++) {
        clock_manual_advance(&bench.clock, REDIS_RETRY_US_MAX);
        redis_consumer_tick(bench.consumer);
        assert_int_equal(next(&bench), REDIS_WANTS_OPEN);
        redis_consumer_opened(bench.consumer);
        redis_consumer_sent(bench.consumer);
        feed(&bench, "+OK\r\n");
        expect_sent(&bench, "|XREADGROUP GROUP g c COUNT 1 STREAMS s 0 ");
        if (i == 0) {
            redis_consumer_fail(bench.consumer, "lost");
            assert_int_equal(next(&bench), REDIS_WANTS_CLOSE);
        }
    }
    feed(&bench, NO_ENTRIES);
    expect_sent(&bench, "|XAUTOCLAIM s g c 60000 0-0 COUNT 64 ");
    redis_consumer_free(bench.consumer);
}

/* Goal: invalid bytes end the connection. Method: another value at each place of a reply; bytes without a request. */
static void test_other_forms_end_the_connection(void **state)
{
    static const char *const cases[] = {":1\r\n",
                                        "*1\r\n:1\r\n",
                                        "$-1\r\n",
                                        ENTRIES("1", "*2\r\n$1\r\nx\r\n*0\r\n"),
                                        ENTRIES("1", "*3\r\n$3\r\n1-0\r\n*0\r\n*0\r\n"),
                                        ENTRIES("1", "*2\r\n$3\r\n1-0\r\n*1\r\n$1\r\na\r\n"),
                                        ENTRIES("1", "*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\na\r\n:1\r\n"),
                                        ENTRIES("1", ENTRY("1-0")) "+more\r\n",
                                        "!\r\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench bench;

        bench_init(&bench);
        connect_once(&bench);
        feed(&bench, cases[i]);
        if (redis_consumer_counts(bench.consumer).failures != 1) {
            fail_msg("%s was accepted", cases[i]);
        }
        redis_consumer_free(bench.consumer);
    }
}

/* Goal: the client ends cleanly in every state. Method: a stop while waiting, reading, and
 * storing. */
static void test_stop_ends_each_state(void **state)
{
    const bool stored[] = {true};
    struct bench bench;

    (void)state;
    bench_init(&bench);
    redis_consumer_stop(bench.consumer);
    assert_int_equal(next(&bench), REDIS_WANTS_NOTHING);
    assert_int_equal(redis_consumer_state(bench.consumer), REDIS_STOPPED);
    redis_consumer_free(bench.consumer);

    bench_init(&bench);
    connect_once(&bench);
    redis_consumer_stop(bench.consumer);
    assert_int_equal(next(&bench), REDIS_WANTS_CLOSE);
    redis_consumer_free(bench.consumer);

    bench_init(&bench);
    connect_once(&bench);
    feed(&bench, ENTRIES("1", ENTRY("1-0")));
    assert_int_equal(next(&bench), REDIS_WANTS_STORE);
    redis_consumer_stop(bench.consumer);
    assert_int_equal(next(&bench), REDIS_WANTS_NOTHING);
    redis_consumer_settle(bench.consumer, stored);
    expect_sent(&bench, "|XACK s g 1-0 ");
    assert_int_equal(next(&bench), REDIS_WANTS_CLOSE);
    assert_int_equal(redis_consumer_state(bench.consumer), REDIS_STOPPED);
    redis_consumer_free(bench.consumer);
}

int run_consumer_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_are_acknowledged_once_stored),
        cmocka_unit_test(test_password_is_sent_first),
        cmocka_unit_test(test_waits_grow_and_shrink),
        cmocka_unit_test(test_error_after_a_greeting_waits),
        cmocka_unit_test(test_lost_connection_acknowledges_nothing),
        cmocka_unit_test(test_silent_server_is_left),
        cmocka_unit_test(test_missing_group_is_made_again_and_other_errors_wait),
        cmocka_unit_test(test_deleted_entries_are_gone_and_old_servers_are_read),
        cmocka_unit_test(test_large_entry_is_read_by_itself),
        cmocka_unit_test(test_too_large_reply_is_read_one_by_one),
        cmocka_unit_test(test_other_forms_end_the_connection),
        cmocka_unit_test(test_stop_ends_each_state),
    };

    return cmocka_run_group_tests_name("redis consumer", tests, NULL, NULL);
}
