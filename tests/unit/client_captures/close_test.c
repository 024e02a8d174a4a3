/*
 * close_test.c: how a queue ends: what is drained, what is dropped, and what a callback may do.
 */
#include "tests/unit/client_captures/captures_tests.h"
#include "tests/unit/client_captures/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct world *world_with(uint32_t count)
{
    static const struct world_limits plain = {0};
    struct world *world = world_new(&plain, 1);

    for (uint32_t tag = 1; tag <= count; tag++) {
        assert_int_equal(world_add(world, tag), ERRATA_OK);
    }
    world_step(world);
    return world;
}

/* Goal: a draining queue accepts no captures, sends those it has, and ends with the last. Method:
 * six captures; one more is refused. */
static void test_draining_queue_sends_what_it_has(void **state)
{
    struct world *world = world_with(6);
    struct errata_captures_statistics statistics;

    (void)state;
    world_close(world, 10000);
    assert_int_equal(world_add(world, 7), ERRATA_ENDED);
    world_step(world);
    for (uint32_t tag = 1; tag <= 6; tag++) {
        assert_int_equal(world->queue.state, CAPTURES_QUEUE_DRAINING);
        world_end(world, tag, ERRATA_CODE_OK);
    }
    assert_int_equal(world->queue.state, CAPTURES_QUEUE_DONE);
    assert_int_equal(world->due_ms, 0);
    world_statistics(world, &statistics);
    assert_int_equal(statistics.stored, 6);
    assert_int_equal(statistics.added, 6);
    world_free(world);
}

/* Goal: the longest possible time means an unlimited drain. Method: that time, and six captures,
 * which are sent late. */
static void test_unlimited_drain_sends_late_captures(void **state)
{
    struct world *world = world_with(6);
    struct errata_captures_statistics statistics;

    (void)state;
    world_pass(world, 1);
    world_close(world, INT64_MAX);
    world_pass(world, 20000);
    assert_int_equal(world->queue.state, CAPTURES_QUEUE_DRAINING);
    for (uint32_t tag = 1; tag <= 6; tag++) {
        world_end(world, tag, ERRATA_CODE_OK);
    }
    assert_int_equal(world->queue.state, CAPTURES_QUEUE_DONE);
    world_statistics(world, &statistics);
    assert_int_equal(statistics.stored, 6);
    world_free(world);
}

/* Goal: when the time to drain is over, waiting captures are dropped and calls are cancelled; one
 * whose call ends with OK anyway is stored. Method: six captures, four under way, none ends in
 * time. */
static void test_captures_left_after_the_drain_are_dropped(void **state)
{
    struct world *world = world_with(6);
    struct errata_captures_statistics statistics;

    (void)state;
    world_close(world, 2000);
    world_step(world);
    world_pass(world, 1999);
    assert_int_equal(world->drop_count, 0);
    world_pass(world, 1);
    assert_int_equal(world->drop_count, 2);
    assert_int_equal(world_drop_of(world, 5)->why, ERRATA_DROP_CLOSED);
    assert_int_equal(world_drop_of(world, 6)->why, ERRATA_DROP_CLOSED);
    world_end(world, 1, ERRATA_CODE_OK);
    world_end(world, 2, ERRATA_CODE_CANCELLED);
    world_end(world, 3, ERRATA_CODE_INVALID_ARGUMENT);
    assert_int_equal(world->queue.state, CAPTURES_QUEUE_DROPPING);
    world_end(world, 4, ERRATA_CODE_INTERNAL);
    assert_int_equal(world->queue.state, CAPTURES_QUEUE_DONE);
    world_statistics(world, &statistics);
    assert_int_equal(statistics.stored, 1);
    assert_int_equal(statistics.dropped[ERRATA_DROP_REFUSED], 1);
    assert_int_equal(statistics.dropped[ERRATA_DROP_CLOSED], 4);
    world_free(world);
}

/* Goal: a hold does not extend a drain, and a second close only shortens it once. Method: a held
 * queue drains for a second; another, draining for an hour, is closed at once, and ignores a
 * further request to drain. */
static void test_hold_does_not_extend_a_close(void **state)
{
    struct world *world = world_with(1);

    (void)state;
    world_end_retry(world, 1, ERRATA_CODE_UNAVAILABLE, 60000);
    world_close(world, 1000);
    world_step(world);
    assert_int_equal(world->due_ms - world->now_ms, 1000);
    world_pass(world, 1000);
    assert_int_equal(world->queue.state, CAPTURES_QUEUE_DONE);
    assert_int_equal(world_drop_of(world, 1)->code, ERRATA_CODE_UNAVAILABLE);
    world_free(world);

    world = world_with(5);
    world_close(world, 3600000);
    world_step(world);
    world_close(world, 0);
    world_close(world, 1000);
    assert_int_equal(world->queue.state, CAPTURES_QUEUE_DROPPING);
    world_step(world);
    assert_int_equal(world_drop_of(world, 5)->why, ERRATA_DROP_CLOSED);
    for (uint32_t tag = 1; tag <= 4; tag++) {
        world_end(world, tag, ERRATA_CODE_CANCELLED);
    }
    world_close(world, 0);
    assert_int_equal(world->queue.state, CAPTURES_QUEUE_DONE);
    world_free(world);
}

/* Goal: a queue whose channel was closed ends, and drops what it has. Method: a sender that has
 * ended. */
static void test_queue_of_a_closed_channel_drops_all(void **state)
{
    struct world *world = world_with(0);

    (void)state;
    world->start_result = ERRATA_ENDED;
    assert_int_equal(world_add(world, 1), ERRATA_OK);
    assert_int_equal(world_add(world, 2), ERRATA_OK);
    world_step(world);
    assert_int_equal(world->queue.state, CAPTURES_QUEUE_DONE);
    assert_int_equal(world->drop_count, 2);
    assert_int_equal(world_drop_of(world, 1)->why, ERRATA_DROP_CLOSED);
    assert_int_equal(world_add(world, 3), ERRATA_ENDED);
    world_free(world);
}

static void add_another(struct world *world, const struct world_drop *drop)
{
    if (drop->tag < 10) {
        assert_int_equal(world_add(world, drop->tag + 10), ERRATA_OK);
    }
}

/* Goal: on_drop may add a capture. Method: for each that is refused another is added, which is sent. */
static void test_on_drop_may_add_a_capture(void **state)
{
    struct world *world = world_with(2);

    (void)state;
    world->on_drop = add_another;
    world_end(world, 1, ERRATA_CODE_NOT_FOUND);
    world_end(world, 2, ERRATA_CODE_NOT_FOUND);
    world_end(world, 11, ERRATA_CODE_OK);
    world_end(world, 12, ERRATA_CODE_OK);
    assert_int_equal(world->drop_count, 2);
    world_free(world);
}

static void close_all(struct world *world, const struct world_drop *drop)
{
    (void)drop;
    world_close(world, 0);
}

/* Goal: on_drop may close the queue, from within any step. Method: a close in the middle of captures
 * that expire, and one in the middle of captures that the channel won't send. */
static void test_on_drop_may_close_the_queue(void **state)
{
    struct world *world = world_with(8);

    (void)state;
    world->on_drop = close_all;
    world_pass(world, 600000);
    assert_int_equal(world->drop_count, 4);
    for (uint32_t tag = 1; tag <= 4; tag++) {
        world_end(world, tag, ERRATA_CODE_CANCELLED);
    }
    assert_int_equal(world->queue.state, CAPTURES_QUEUE_DONE);
    world_free(world);

    world = world_with(0);
    world->on_drop = close_all;
    world->start_result = ERRATA_TOO_LARGE;
    assert_int_equal(world_add(world, 1), ERRATA_OK);
    assert_int_equal(world_add(world, 2), ERRATA_OK);
    world_step(world);
    assert_int_equal(world->queue.state, CAPTURES_QUEUE_DONE);
    assert_int_equal(world_drop_of(world, 1)->why, ERRATA_DROP_REFUSED);
    assert_int_equal(world_drop_of(world, 2)->why, ERRATA_DROP_CLOSED);
    world_free(world);
}

/* Goal: a message above the limit is cut between characters. Method: one of two-byte characters,
 * stored for a capture that waits. */
static void test_long_message_is_cut_between_characters(void **state)
{
    struct world *world = world_with(1);
    char message[601];
    struct errata_status status = {
        .code = ERRATA_CODE_UNAVAILABLE, .message = message, .from_server = true, .attempts = 1};
    const struct world_drop *drop = NULL;

    (void)state;
    message[0] = 'a';
    for (size_t i = 1; i < 599; i += 2) {
        message[i] = (char)0xc3;
        message[i + 1] = (char)0xa9;
    }
    message[599] = '\0';
    world_end_with(world, 1, &status);
    world_close(world, 0);
    world_step(world);
    drop = world_drop_of(world, 1);
    assert_int_equal(strlen(drop->message), 255);
    assert_memory_equal(drop->message, message, 255);
    world_free(world);

    world = world_with(1);
    status.message = message + 1;
    world_end_with(world, 1, &status);
    world_close(world, 0);
    world_step(world);
    assert_int_equal(strlen(world_drop_of(world, 1)->message), 254);
    world_free(world);
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
