/*
 * queue_test.c: one test for each rule of the queue: the order and time of sending, and the results.
 */
#include "tests/unit/client_captures/captures_tests.h"
#include "tests/unit/client_captures/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct fixture_limits plain = {0};

static struct fixture *new_fixture(void)
{
    return fixture_new(&plain, 1);
}

/* Captures 1 to `count`, and a step. */
static void add_all(struct fixture *fixture, uint32_t count)
{
    for (uint32_t tag = 1; tag <= count; tag++) {
        assert_int_equal(fixture_add(fixture, tag), ERRATA_OK);
    }
    fixture_step(fixture);
}

static void assert_dropped(struct fixture *fixture, uint32_t tag, enum errata_drop why,
                           enum errata_code code)
{
    const struct fixture_drop *drop = fixture_drop_of(fixture, tag);

    assert_non_null(drop);
    assert_int_equal(drop->why, why);
    assert_true(drop->has_status);
    assert_int_equal(drop->code, code);
}

/* Goal: captures are sent in the order in which they were added, a few at a time, and are stored.
 * Method: six captures and room for four; ends one by one. */
static void test_captures_are_sent_in_order_a_few_at_a_time(void **state)
{
    struct fixture *fixture = new_fixture();
    struct errata_captures_statistics statistics;

    (void)state;
    add_all(fixture, 6);
    assert_int_equal(fixture_count_under_way(fixture), 4);
    for (uint32_t tag = 1; tag <= 4; tag++) {
        assert_non_null(fixture_find(fixture, tag));
    }
    fixture_end(fixture, 2, ERRATA_CODE_OK);
    assert_non_null(fixture_find(fixture, 5));
    fixture_end(fixture, 1, ERRATA_CODE_OK);
    assert_non_null(fixture_find(fixture, 6));
    for (uint32_t tag = 3; tag <= 6; tag++) {
        fixture_end(fixture, tag, ERRATA_CODE_OK);
    }
    fixture_statistics(fixture, &statistics);
    assert_int_equal(statistics.stored, 6);
    assert_int_equal(statistics.queued, 0);
    assert_int_equal(statistics.repeats, 0);
    assert_int_equal(fixture->drop_count, 0);
    assert_int_equal(fixture->due_ms, 0);
    fixture_free(fixture);
}

/* Goal: another thread wakes the loop once for all captures that it adds, and again after the loop
 * took them. Method: counting wakes. */
static void test_many_adds_wake_the_loop_once(void **state)
{
    struct fixture *fixture = new_fixture();

    (void)state;
    assert_int_equal(fixture_add(fixture, 1), ERRATA_OK);
    assert_int_equal(fixture_add(fixture, 2), ERRATA_OK);
    assert_int_equal(fixture->wakes, 1);
    fixture_step(fixture);
    assert_int_equal(fixture_add(fixture, 3), ERRATA_OK);
    assert_int_equal(fixture->wakes, 2);
    fixture_free(fixture);
}

/* Goal: a full queue refuses a capture and counts it, by number and by bytes; a capture that leaves
 * makes room. Method: three captures and one more; then one that is too large beside the others. */
static void test_full_queue_refuses_and_counts(void **state)
{
    const struct fixture_limits limits = {.events_max = 3, .bytes_max = 100};
    struct fixture *fixture = fixture_new(&limits, 1);
    struct errata_captures_statistics statistics;

    (void)state;
    add_all(fixture, 3);
    assert_int_equal(fixture_add(fixture, 4), ERRATA_BUSY);
    fixture_end(fixture, 1, ERRATA_CODE_OK);
    assert_int_equal(fixture_add_bytes(fixture, 4, 69), ERRATA_BUSY);
    assert_int_equal(fixture_add_bytes(fixture, 4, 68), ERRATA_OK);
    fixture_statistics(fixture, &statistics);
    assert_int_equal(statistics.dropped[ERRATA_DROP_FULL], 2);
    assert_int_equal(statistics.added, 4);
    assert_int_equal(statistics.queued, 3);
    assert_int_equal(statistics.queued_bytes, 100);
    assert_int_equal(fixture->drop_count, 0);
    fixture_free(fixture);
}

/* Goal: a refused capture is dropped at once, with the reason, and delays nothing. Method: every
 * code that refuses, one after the other, beside a capture that is stored. */
static void test_refused_capture_is_dropped_with_its_reason(void **state)
{
    static const enum errata_code codes[] = {
        ERRATA_CODE_INVALID_ARGUMENT,    ERRATA_CODE_NOT_FOUND,    ERRATA_CODE_ALREADY_EXISTS,
        ERRATA_CODE_PERMISSION_DENIED,   ERRATA_CODE_OUT_OF_RANGE, ERRATA_CODE_RESOURCE_EXHAUSTED,
        ERRATA_CODE_FAILED_PRECONDITION, ERRATA_CODE_UNIMPLEMENTED};
    struct fixture *fixture = new_fixture();
    struct errata_captures_statistics statistics;

    (void)state;
    for (uint32_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        assert_int_equal(fixture_add(fixture, 10 + i), ERRATA_OK);
        assert_int_equal(fixture_add(fixture, 20 + i), ERRATA_OK);
        fixture_step(fixture);
        fixture_end(fixture, 10 + i, codes[i]);
        assert_dropped(fixture, 10 + i, ERRATA_DROP_REFUSED, codes[i]);
        assert_string_equal(fixture_drop_of(fixture, 10 + i)->message, errata_code_name(codes[i]));
        fixture_end(fixture, 20 + i, ERRATA_CODE_OK);
    }
    fixture_statistics(fixture, &statistics);
    assert_int_equal(statistics.stored, 8);
    assert_int_equal(statistics.dropped[ERRATA_DROP_REFUSED], 8);
    assert_int_equal(statistics.queued, 0);
    fixture_free(fixture);
}

/* Goal: an unavailable server is called by one call at a time, with growing waits, and gets all
 * captures once it is available. Method: UNAVAILABLE twenty times, then OK; the waits in
 * between. */
static void test_unavailable_server_is_probed_by_one_call(void **state)
{
    struct fixture *fixture = new_fixture();
    struct errata_captures_statistics statistics;
    int64_t least_ms = CAPTURES_HOLD_INITIAL_MS * 4 / 5;

    (void)state;
    add_all(fixture, 30);
    for (uint32_t tag = 1; tag <= 4; tag++) {
        fixture_end(fixture, tag, ERRATA_CODE_UNAVAILABLE);
    }
    for (uint32_t tag = 5; tag < 25; tag++) {
        int64_t wait_ms = fixture->due_ms - fixture->now_ms;

        assert_int_equal(fixture_count_under_way(fixture), 0);
        assert_true(wait_ms >= least_ms);
        assert_true(wait_ms <= CAPTURES_HOLD_MAX_MS * 6 / 5);
        fixture_pass(fixture, wait_ms);
        assert_int_equal(fixture_count_under_way(fixture), 1);
        assert_non_null(fixture_find(fixture, tag));
        fixture_end(fixture, tag, ERRATA_CODE_UNAVAILABLE);
        least_ms = least_ms * 6 / 5 < 4000 ? least_ms * 6 / 5 : 4000;
    }
    assert_true(fixture->due_ms - fixture->now_ms >= 4000);
    fixture_pass(fixture, fixture->due_ms - fixture->now_ms);
    fixture_end(fixture, 25, ERRATA_CODE_OK);
    assert_int_equal(fixture_count_under_way(fixture), 2);
    fixture_end(fixture, 26, ERRATA_CODE_OK);
    assert_int_equal(fixture_count_under_way(fixture), 3);
    fixture_end(fixture, 27, ERRATA_CODE_OK);
    assert_int_equal(fixture_count_under_way(fixture), 4);
    fixture_statistics(fixture, &statistics);
    assert_int_equal(statistics.queued, 27);
    assert_int_equal(statistics.stored, 3);
    assert_int_equal(statistics.last_code, ERRATA_CODE_OK);
    assert_int_equal(fixture->drop_count, 0);
    fixture_free(fixture);
}

/* Goal: calls that fail together are one failure; the next hold after a success is short again.
 * Method: four calls fail in the same moment. */
static void test_simultaneous_failures_count_once(void **state)
{
    struct fixture *fixture = new_fixture();

    (void)state;
    add_all(fixture, 4);
    for (uint32_t tag = 1; tag <= 4; tag++) {
        fixture_end(fixture, tag, ERRATA_CODE_DEADLINE_EXCEEDED);
    }
    assert_true(fixture->due_ms - fixture->now_ms <= CAPTURES_HOLD_INITIAL_MS * 6 / 5);
    fixture_pass(fixture, 120);
    fixture_end(fixture, 1, ERRATA_CODE_OK);
    fixture_end(fixture, 2, ERRATA_CODE_UNAVAILABLE);
    fixture_end(fixture, 3, ERRATA_CODE_OK);
    assert_int_equal(fixture_count_under_way(fixture), 0);
    assert_true(fixture->due_ms - fixture->now_ms <= CAPTURES_HOLD_INITIAL_MS * 6 / 5);
    fixture_free(fixture);
}

/* Goal: the delay that a server requests is used, up to a minute. Method: RESOURCE_EXHAUSTED with
 * RetryInfo of 2.5 seconds, INVALID_ARGUMENT with one of an hour. */
static void test_retry_delay_is_used_up_to_a_minute(void **state)
{
    struct fixture *fixture = new_fixture();

    (void)state;
    add_all(fixture, 1);
    fixture_end_retry(fixture, 1, ERRATA_CODE_RESOURCE_EXHAUSTED, 2500);
    assert_int_equal(fixture->due_ms - fixture->now_ms, 2500);
    fixture_pass(fixture, 2499);
    assert_int_equal(fixture_count_under_way(fixture), 0);
    fixture_pass(fixture, 1);
    assert_int_equal(fixture_count_under_way(fixture), 1);
    fixture_end_retry(fixture, 1, ERRATA_CODE_INVALID_ARGUMENT, 3600000);
    assert_int_equal(fixture->due_ms - fixture->now_ms, CAPTURES_RETRY_MAX_MS);
    fixture_pass(fixture, CAPTURES_RETRY_MAX_MS);
    fixture_end(fixture, 1, ERRATA_CODE_OK);
    assert_int_equal(fixture->drop_count, 0);
    fixture_free(fixture);
}

/* Goal: a refused token loses no capture, and a new one sends them at once. Method: UNAUTHENTICATED
 * until the hold is long, then a resume. */
static void test_unauthenticated_capture_is_kept_for_a_new_token(void **state)
{
    struct fixture *fixture = new_fixture();

    (void)state;
    add_all(fixture, 3);
    for (uint32_t tag = 1; tag <= 3; tag++) {
        fixture_end(fixture, tag, ERRATA_CODE_UNAUTHENTICATED);
    }
    for (uint32_t i = 0; i < 12; i++) {
        fixture_pass(fixture, fixture->due_ms - fixture->now_ms);
        fixture_end(fixture, 1 + i % 3, ERRATA_CODE_UNAUTHENTICATED);
    }
    assert_true(fixture->due_ms - fixture->now_ms >= 4000);
    captures_queue_resume(&fixture->queue);
    fixture_step(fixture);
    assert_int_equal(fixture_count_under_way(fixture), 1);
    for (uint32_t tag = 1; tag <= 3; tag++) {
        fixture_end(fixture, tag, ERRATA_CODE_OK);
    }
    assert_int_equal(fixture->drop_count, 0);
    fixture_free(fixture);
}

/* Goal: a capture that makes the server fail waits separately, longer each time, and is dropped
 * the fifth time; the others continue. Method: each code of a failure, with others stored in
 * between. */
static void test_capture_is_dropped_after_five_server_faults(void **state)
{
    static const enum errata_code codes[] = {ERRATA_CODE_INTERNAL, ERRATA_CODE_UNKNOWN,
                                             ERRATA_CODE_ABORTED, ERRATA_CODE_DATA_LOSS,
                                             ERRATA_CODE_INTERNAL};
    static const int64_t waits_ms[] = {1000, 4000, 16000, 60000};
    struct fixture *fixture = new_fixture();
    struct errata_captures_statistics statistics;

    (void)state;
    add_all(fixture, 1);
    for (uint32_t i = 0; i < 4; i++) {
        fixture_end(fixture, 1, codes[i]);
        assert_int_equal(fixture->due_ms - fixture->now_ms, waits_ms[i]);
        assert_int_equal(fixture_add(fixture, 2 + i), ERRATA_OK);
        fixture_step(fixture);
        fixture_end(fixture, 2 + i, ERRATA_CODE_OK);
        fixture_pass(fixture, waits_ms[i] - 1);
        assert_null(fixture_find(fixture, 1));
        fixture_pass(fixture, 1);
    }
    fixture_end(fixture, 1, codes[4]);
    assert_dropped(fixture, 1, ERRATA_DROP_REFUSED, ERRATA_CODE_INTERNAL);
    fixture_statistics(fixture, &statistics);
    assert_int_equal(statistics.stored, 4);
    assert_int_equal(statistics.repeats, 4);
    fixture_free(fixture);
}

/* Goal: a capture that always crashes the server does not delay the others. Method: UNAVAILABLE for
 * one, each time it is sent, OK for fifty others. */
static void test_one_bad_capture_blocks_no_other(void **state)
{
    struct fixture *fixture = new_fixture();
    struct errata_captures_statistics statistics;

    (void)state;
    add_all(fixture, 51);
    for (unsigned turns = 0; turns < 1000; turns++) {
        for (uint32_t tag = 2; tag <= 51; tag++) {
            if (fixture_find(fixture, tag) != NULL) {
                fixture_end(fixture, tag, ERRATA_CODE_OK);
            }
        }
        if (fixture_find(fixture, 1) != NULL) {
            fixture_end(fixture, 1, ERRATA_CODE_UNAVAILABLE);
        }
        fixture_pass(fixture, 100);
    }
    fixture_statistics(fixture, &statistics);
    assert_int_equal(statistics.stored, 50);
    assert_int_equal(statistics.queued, 1);
    /* 100 seconds, with pauses of 4 seconds or more between the last attempts. */
    assert_true(fixture->call_count < 50 + 40);
    fixture_free(fixture);
}

/* Goal: nothing is sent beyond its maximum age, and calls under way end then. Method: an age of a
 * minute, two captures whose second calls begin halfway; one is cancelled, one ends by its
 * deadline. */
static void test_capture_under_way_ends_at_its_maximum_age(void **state)
{
    const struct fixture_limits limits = {.age_ms_max = 60000, .in_flight_max = 2};
    struct fixture *fixture = fixture_new(&limits, 1);

    (void)state;
    add_all(fixture, 2);
    assert_int_equal(fixture_find(fixture, 1)->timeout_ms, CAPTURES_CALL_TIMEOUT_MS);
    fixture_pass(fixture, 30000);
    fixture_end(fixture, 1, ERRATA_CODE_INTERNAL);
    fixture_end(fixture, 2, ERRATA_CODE_INTERNAL);
    fixture_pass(fixture, 1000);
    assert_int_equal(fixture_find(fixture, 1)->timeout_ms, 29000);
    fixture_pass(fixture, 28999);
    assert_false(fixture_find(fixture, 1)->cancelled);
    fixture_pass(fixture, 1);
    assert_true(fixture_find(fixture, 1)->cancelled);
    fixture_end(fixture, 1, ERRATA_CODE_CANCELLED);
    fixture_end(fixture, 2, ERRATA_CODE_DEADLINE_EXCEEDED);
    assert_dropped(fixture, 1, ERRATA_DROP_EXPIRED, ERRATA_CODE_INTERNAL);
    assert_dropped(fixture, 2, ERRATA_DROP_EXPIRED, ERRATA_CODE_DEADLINE_EXCEEDED);
    fixture_free(fixture);
}

/* Goal: a call that is cancelled because its capture is too old does not count as a failure of the
 * server: the others continue at once. Method: a capture that gets too old during its call, and two
 * younger ones. */
static void test_expired_capture_delays_no_other(void **state)
{
    const struct fixture_limits limits = {.age_ms_max = 10000, .in_flight_max = 1};
    struct fixture *fixture = fixture_new(&limits, 1);

    (void)state;
    add_all(fixture, 1);
    fixture_pass(fixture, 5000);
    assert_int_equal(fixture_add(fixture, 2), ERRATA_OK);
    assert_int_equal(fixture_add(fixture, 3), ERRATA_OK);
    fixture_step(fixture);
    fixture_pass(fixture, 5000);
    assert_true(fixture_find(fixture, 1)->cancelled);
    fixture_end(fixture, 1, ERRATA_CODE_CANCELLED);
    assert_dropped(fixture, 1, ERRATA_DROP_EXPIRED, ERRATA_CODE_CANCELLED);
    assert_non_null(fixture_find(fixture, 2));
    fixture_pass(fixture, 5000);
    assert_int_equal(fixture_drop_of(fixture, 3)->why, ERRATA_DROP_EXPIRED);
    assert_false(fixture_drop_of(fixture, 3)->has_status);
    fixture_free(fixture);
}

/* Goal: a capture that failed gets its turn regardless of how many new ones are added. Method: one
 * call at a time, and a new capture each time that one ends. */
static void test_faulty_capture_is_retried_beside_new_ones(void **state)
{
    const struct fixture_limits limits = {.in_flight_max = 1};
    struct fixture *fixture = fixture_new(&limits, 1);

    (void)state;
    add_all(fixture, 1);
    fixture_end(fixture, 1, ERRATA_CODE_INTERNAL);
    for (uint32_t tag = 2; tag < 5; tag++) {
        assert_int_equal(fixture_add(fixture, tag), ERRATA_OK);
        fixture_step(fixture);
        fixture_pass(fixture, 600);
        assert_int_equal(fixture_add(fixture, tag + 100), ERRATA_OK);
        fixture_step(fixture);
        fixture_end(fixture, tag, ERRATA_CODE_OK);
        if (fixture_find(fixture, 1) != NULL) {
            break;
        }
        fixture_end(fixture, tag + 100, ERRATA_CODE_OK);
    }
    assert_int_equal(fixture->now_ms, 1000 + 1200);
    assert_non_null(fixture_find(fixture, 1));
    fixture_free(fixture);
}

/* Goal: a waiting capture is dropped the moment it is too old, with the reason for the delay;
 * younger ones are kept. Method: one held by the server for longer than its maximum age, one after
 * a call that does not end. */
static void test_waiting_capture_is_dropped_at_its_maximum_age(void **state)
{
    const struct fixture_limits limits = {.age_ms_max = 5000, .in_flight_max = 1};
    struct fixture *fixture = fixture_new(&limits, 1);

    (void)state;
    add_all(fixture, 2);
    fixture_pass(fixture, 1);
    assert_int_equal(fixture_add(fixture, 3), ERRATA_OK);
    fixture_step(fixture);
    fixture_pass(fixture, 4998);
    assert_int_equal(fixture->drop_count, 0);
    fixture_pass(fixture, 1);
    assert_int_equal(fixture->drop_count, 1);
    assert_int_equal(fixture_drop_of(fixture, 2)->why, ERRATA_DROP_EXPIRED);
    assert_false(fixture_drop_of(fixture, 2)->has_status);
    fixture_end(fixture, 1, ERRATA_CODE_OK);
    fixture_end_retry(fixture, 3, ERRATA_CODE_UNAVAILABLE, 60000);
    fixture_pass(fixture, 1);
    assert_dropped(fixture, 3, ERRATA_DROP_EXPIRED, ERRATA_CODE_UNAVAILABLE);
    assert_string_equal(fixture_drop_of(fixture, 3)->message, "later");
    assert_int_equal(fixture_drop_of(fixture, 3)->attempts, 1);
    fixture_free(fixture);
}

/* Goal: a capture keeps its key, and repeats are counted across calls. Method: calls of three
 * attempts, of none and of one; the fixture checks the key. */
static void test_capture_keeps_its_key_across_calls(void **state)
{
    static const uint32_t attempts[] = {0, 3, 0, 1};
    static const uint64_t repeats[] = {0, 2, 2, 3};
    struct fixture *fixture = new_fixture();
    struct errata_captures_statistics statistics;

    (void)state;
    add_all(fixture, 1);
    for (size_t i = 0; i < 4; i++) {
        struct errata_status status = {
            .code = ERRATA_CODE_UNAVAILABLE, .message = "", .attempts = attempts[i]};

        fixture_end_with(fixture, 1, &status);
        fixture_step(fixture);
        fixture_statistics(fixture, &statistics);
        assert_int_equal(statistics.repeats, repeats[i]);
        assert_int_equal(statistics.last_code, ERRATA_CODE_UNAVAILABLE);
        fixture_pass(fixture, 1000);
    }
    assert_int_equal(fixture->call_count, 5);
    assert_int_equal(strlen(fixture->keys[1]), 34);
    fixture_free(fixture);
}

/* Goal: queues of other seeds make other keys. Method: the first key of two. */
static void test_queues_have_distinct_keys(void **state)
{
    struct fixture *one = fixture_new(&plain, 1);
    struct fixture *other = fixture_new(&plain, 2);

    (void)state;
    add_all(one, 1);
    add_all(other, 1);
    assert_string_not_equal(one->keys[1], other->keys[1]);
    fixture_free(one);
    fixture_free(other);
}

/* Goal: a channel without room is tried again after a hold; a capture that it will never accept is
 * dropped, with the reason. Method: each refusal to start. */
static void test_capture_refused_by_the_channel_waits_or_is_dropped(void **state)
{
    struct fixture *fixture = new_fixture();

    (void)state;
    fixture->start_result = ERRATA_BUSY;
    add_all(fixture, 2);
    assert_int_equal(fixture_count_under_way(fixture), 0);
    assert_true(fixture->due_ms > fixture->now_ms);
    fixture->start_result = ERRATA_OK;
    fixture_pass(fixture, 120);
    fixture_end(fixture, 1, ERRATA_CODE_OK);
    fixture_end(fixture, 2, ERRATA_CODE_OK);
    fixture->start_result = ERRATA_TOO_LARGE;
    assert_int_equal(fixture_add(fixture, 3), ERRATA_OK);
    fixture_step(fixture);
    assert_dropped(fixture, 3, ERRATA_DROP_REFUSED, ERRATA_CODE_RESOURCE_EXHAUSTED);
    fixture_free(fixture);
}

int run_queue_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captures_are_sent_in_order_a_few_at_a_time),
        cmocka_unit_test(test_many_adds_wake_the_loop_once),
        cmocka_unit_test(test_full_queue_refuses_and_counts),
        cmocka_unit_test(test_refused_capture_is_dropped_with_its_reason),
        cmocka_unit_test(test_unavailable_server_is_probed_by_one_call),
        cmocka_unit_test(test_simultaneous_failures_count_once),
        cmocka_unit_test(test_retry_delay_is_used_up_to_a_minute),
        cmocka_unit_test(test_unauthenticated_capture_is_kept_for_a_new_token),
        cmocka_unit_test(test_capture_is_dropped_after_five_server_faults),
        cmocka_unit_test(test_one_bad_capture_blocks_no_other),
        cmocka_unit_test(test_capture_under_way_ends_at_its_maximum_age),
        cmocka_unit_test(test_expired_capture_delays_no_other),
        cmocka_unit_test(test_faulty_capture_is_retried_beside_new_ones),
        cmocka_unit_test(test_waiting_capture_is_dropped_at_its_maximum_age),
        cmocka_unit_test(test_capture_keeps_its_key_across_calls),
        cmocka_unit_test(test_queues_have_distinct_keys),
        cmocka_unit_test(test_capture_refused_by_the_channel_waits_or_is_dropped),
    };

    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
