/*
 * close_test.c: how a queue ends: what is drained, what is dropped, and what a callback may do.
 */
#include "tests/unit/client_captures/captures_tests.h"
#include "tests/unit/client_captures/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct fixture *fixture_with(uint32_t count)
{
    static const struct fixture_limits plain = {0};
    struct fixture *fixture = fixture_new(&plain, 1);

    for (uint32_t tag = 1; tag <= count; tag++) {
        assert_int_equal(fixture_add(fixture, tag), ERRATA_OK);
    }
    fixture_step(fixture);
    return fixture;
}

/* Goal: a draining queue accepts no captures, sends those it has, and ends with the last. Method:
 * six captures; one more is refused. */
static void test_draining_queue_sends_what_it_has(void **state)
{
    struct fixture *fixture = fixture_with(6);
    struct errata_captures_statistics statistics;

    (void)state;
    fixture_close(fixture, 10000);
    assert_int_equal(fixture_add(fixture, 7), ERRATA_ENDED);
    fixture_step(fixture);
    for (uint32_t tag = 1; tag <= 6; tag++) {
        assert_int_equal(fixture->queue.state, CAPTURES_QUEUE_DRAINING);
        fixture_end(fixture, tag, ERRATA_CODE_OK);
    }
    assert_int_equal(fixture->queue.state, CAPTURES_QUEUE_DONE);
    assert_int_equal(fixture->due_ms, 0);
    fixture_statistics(fixture, &statistics);
    assert_int_equal(statistics.stored, 6);
    assert_int_equal(statistics.added, 6);
    fixture_free(fixture);
}

/* Goal: the longest possible time means an unlimited drain. Method: that time, and six captures,
 * which are sent late. */
static void test_unlimited_drain_sends_late_captures(void **state)
{
    struct fixture *fixture = fixture_with(6);
    struct errata_captures_statistics statistics;

    (void)state;
    fixture_pass(fixture, 1);
    fixture_close(fixture, INT64_MAX);
    fixture_pass(fixture, 20000);
    assert_int_equal(fixture->queue.state, CAPTURES_QUEUE_DRAINING);
    for (uint32_t tag = 1; tag <= 6; tag++) {
        fixture_end(fixture, tag, ERRATA_CODE_OK);
    }
    assert_int_equal(fixture->queue.state, CAPTURES_QUEUE_DONE);
    fixture_statistics(fixture, &statistics);
    assert_int_equal(statistics.stored, 6);
    fixture_free(fixture);
}

/* Goal: when the time to drain is over, waiting captures are dropped and calls are cancelled; one
 * whose call ends with OK anyway is stored. Method: six captures, four under way, none ends in
 * time. */
static void test_captures_left_after_the_drain_are_dropped(void **state)
{
    struct fixture *fixture = fixture_with(6);
    struct errata_captures_statistics statistics;

    (void)state;
    fixture_close(fixture, 2000);
    fixture_step(fixture);
    fixture_pass(fixture, 1999);
    assert_int_equal(fixture->drop_count, 0);
    fixture_pass(fixture, 1);
    assert_int_equal(fixture->drop_count, 2);
    assert_int_equal(fixture_drop_of(fixture, 5)->why, ERRATA_DROP_CLOSED);
    assert_int_equal(fixture_drop_of(fixture, 6)->why, ERRATA_DROP_CLOSED);
    fixture_end(fixture, 1, ERRATA_CODE_OK);
    fixture_end(fixture, 2, ERRATA_CODE_CANCELLED);
    fixture_end(fixture, 3, ERRATA_CODE_INVALID_ARGUMENT);
    assert_int_equal(fixture->queue.state, CAPTURES_QUEUE_DROPPING);
    fixture_end(fixture, 4, ERRATA_CODE_INTERNAL);
    assert_int_equal(fixture->queue.state, CAPTURES_QUEUE_DONE);
    fixture_statistics(fixture, &statistics);
    assert_int_equal(statistics.stored, 1);
    assert_int_equal(statistics.dropped[ERRATA_DROP_REFUSED], 1);
    assert_int_equal(statistics.dropped[ERRATA_DROP_CLOSED], 4);
    fixture_free(fixture);
}

/* Goal: a hold does not extend a drain, and a second close only shortens it once. Method: a held
 * queue drains for a second; another queue that drains for an hour is closed immediately, and
 * ignores a later request to drain. */
static void test_hold_does_not_extend_a_close(void **state)
{
    struct fixture *fixture = fixture_with(1);

    (void)state;
    fixture_end_retry(fixture, 1, ERRATA_CODE_UNAVAILABLE, 60000);
    fixture_close(fixture, 1000);
    fixture_step(fixture);
    assert_int_equal(fixture->due_ms - fixture->now_ms, 1000);
    fixture_pass(fixture, 1000);
    assert_int_equal(fixture->queue.state, CAPTURES_QUEUE_DONE);
    assert_int_equal(fixture_drop_of(fixture, 1)->code, ERRATA_CODE_UNAVAILABLE);
    fixture_free(fixture);

    fixture = fixture_with(5);
    fixture_close(fixture, 3600000);
    fixture_step(fixture);
    fixture_close(fixture, 0);
    fixture_close(fixture, 1000);
    assert_int_equal(fixture->queue.state, CAPTURES_QUEUE_DROPPING);
    fixture_step(fixture);
    assert_int_equal(fixture_drop_of(fixture, 5)->why, ERRATA_DROP_CLOSED);
    for (uint32_t tag = 1; tag <= 4; tag++) {
        fixture_end(fixture, tag, ERRATA_CODE_CANCELLED);
    }
    fixture_close(fixture, 0);
    assert_int_equal(fixture->queue.state, CAPTURES_QUEUE_DONE);
    fixture_free(fixture);
}

/* Goal: a queue whose channel was closed ends, and drops what it has. Method: a sender that has
 * ended. */
static void test_queue_of_a_closed_channel_drops_all(void **state)
{
    struct fixture *fixture = fixture_with(0);

    (void)state;
    fixture->start_result = ERRATA_ENDED;
    assert_int_equal(fixture_add(fixture, 1), ERRATA_OK);
    assert_int_equal(fixture_add(fixture, 2), ERRATA_OK);
    fixture_step(fixture);
    assert_int_equal(fixture->queue.state, CAPTURES_QUEUE_DONE);
    assert_int_equal(fixture->drop_count, 2);
    assert_int_equal(fixture_drop_of(fixture, 1)->why, ERRATA_DROP_CLOSED);
    assert_int_equal(fixture_add(fixture, 3), ERRATA_ENDED);
    fixture_free(fixture);
}

static void add_another(struct fixture *fixture, const struct fixture_drop *drop)
{
    if (drop->tag < 10) {
        assert_int_equal(fixture_add(fixture, drop->tag + 10), ERRATA_OK);
    }
}

/* Goal: on_drop may add a capture. Method: for each that is refused another is added, which is sent. */
static void test_on_drop_may_add_a_capture(void **state)
{
    struct fixture *fixture = fixture_with(2);

    (void)state;
    fixture->on_drop = add_another;
    fixture_end(fixture, 1, ERRATA_CODE_NOT_FOUND);
    fixture_end(fixture, 2, ERRATA_CODE_NOT_FOUND);
    fixture_end(fixture, 11, ERRATA_CODE_OK);
    fixture_end(fixture, 12, ERRATA_CODE_OK);
    assert_int_equal(fixture->drop_count, 2);
    fixture_free(fixture);
}

static void close_all(struct fixture *fixture, const struct fixture_drop *drop)
{
    (void)drop;
    fixture_close(fixture, 0);
}

/* Goal: on_drop may close the queue, from within any step. Method: a close in the middle of captures
 * that expire, and one in the middle of captures that the channel won't send. */
static void test_on_drop_may_close_the_queue(void **state)
{
    struct fixture *fixture = fixture_with(8);

    (void)state;
    fixture->on_drop = close_all;
    fixture_pass(fixture, 600000);
    assert_int_equal(fixture->drop_count, 4);
    for (uint32_t tag = 1; tag <= 4; tag++) {
        fixture_end(fixture, tag, ERRATA_CODE_CANCELLED);
    }
    assert_int_equal(fixture->queue.state, CAPTURES_QUEUE_DONE);
    fixture_free(fixture);

    fixture = fixture_with(0);
    fixture->on_drop = close_all;
    fixture->start_result = ERRATA_TOO_LARGE;
    assert_int_equal(fixture_add(fixture, 1), ERRATA_OK);
    assert_int_equal(fixture_add(fixture, 2), ERRATA_OK);
    fixture_step(fixture);
    assert_int_equal(fixture->queue.state, CAPTURES_QUEUE_DONE);
    assert_int_equal(fixture_drop_of(fixture, 1)->why, ERRATA_DROP_REFUSED);
    assert_int_equal(fixture_drop_of(fixture, 2)->why, ERRATA_DROP_CLOSED);
    fixture_free(fixture);
}

/* Goal: a message above the limit is cut between characters. Method: one of two-byte characters,
 * stored for a capture that waits. */
static void test_long_message_is_cut_between_characters(void **state)
{
    struct fixture *fixture = fixture_with(1);
    char message[601];
    struct errata_status status = {
        .code = ERRATA_CODE_UNAVAILABLE, .message = message, .from_server = true, .attempts = 1};
    const struct fixture_drop *drop = NULL;

    (void)state;
    message[0] = 'a';
    for (size_t i = 1; i < 599; i += 2) {
        message[i] = (char)0xc3;
        message[i + 1] = (char)0xa9;
    }
    message[599] = '\0';
    fixture_end_with(fixture, 1, &status);
    fixture_close(fixture, 0);
    fixture_step(fixture);
    drop = fixture_drop_of(fixture, 1);
    assert_int_equal(strlen(drop->message), 255);
    assert_memory_equal(drop->message, message, 255);
    fixture_free(fixture);

    fixture = fixture_with(1);
    status.message = message + 1;
    fixture_end_with(fixture, 1, &status);
    fixture_close(fixture, 0);
    fixture_step(fixture);
    assert_int_equal(strlen(fixture_drop_of(fixture, 1)->message), 254);
    fixture_free(fixture);
}

int run_close_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draining_queue_sends_what_it_has),
        cmocka_unit_test(test_unlimited_drain_sends_late_captures),
        cmocka_unit_test(test_captures_left_after_the_drain_are_dropped),
        cmocka_unit_test(test_hold_does_not_extend_a_close),
        cmocka_unit_test(test_queue_of_a_closed_channel_drops_all),
        cmocka_unit_test(test_on_drop_may_add_a_capture),
        cmocka_unit_test(test_on_drop_may_close_the_queue),
        cmocka_unit_test(test_long_message_is_cut_between_characters),
    };

    return cmocka_run_group_tests_name("close", tests, NULL, NULL);
}
