/*
 * queue_test.c: fairness, order and bounds of the writer's queue.
 */
#include "tests/unit/store/store_tests.h"

#include "store/base/random.h"
#include "store/writer_queue.h"

#include <stdlib.h>

static struct org_id org_of(uint32_t number)
{
    struct org_id org;

    memset(&org, 0x40, sizeof(org));
    memcpy(org.uuid.bytes + 12, &number, sizeof(number));
    return org;
}

/* Goal: organisations take turns, and each keeps its order. Method: one with many requests, two with
 * few. */
static void test_organisations_take_turns(void **state)
{
    static const uint32_t orgs[] = {1, 1, 1, 1, 2, 2, 3};
    static const size_t wanted[] = {0, 4, 6, 1, 5, 2, 3};
    struct work_request requests[7];
    struct writer_queue queue;

    (void)state;
    memset(requests, 0, sizeof(requests));
    assert_int_equal(writer_queue_init(&queue), OK);
    for (size_t i = 0; i < 7; i++) {
        requests[i].org = org_of(orgs[i]);
        requests[i].bytes = 10;
        assert_int_equal(writer_queue_push(&queue, &requests[i]), OK);
    }
    assert_int_equal(queue.bytes, 70);
    for (size_t i = 0; i < 7; i++) {
        assert_ptr_equal(writer_queue_peek(&queue), &requests[wanted[i]]);
        assert_ptr_equal(writer_queue_pop(&queue), &requests[wanted[i]]);
    }
    assert_null(writer_queue_pop(&queue));
    assert_int_equal(queue.bytes, 0);
    writer_queue_deinit(&queue);
}

/* Goal: the queue and each organisation's half have limits, in requests and in bytes; a request
 * larger than a share is accepted by itself, and leaves the other half to others. Method: up to
 * each limit and one more. */
static void test_queue_is_bounded_per_organisation(void **state)
{
    struct work_request *requests = calloc(WORK_QUEUE_REQUESTS_MAX + 1, sizeof(*requests));
    struct work_request large = {.org = org_of(1), .bytes = 12u << 20};
    struct work_request small = {.org = org_of(1), .bytes = 1};
    struct work_request other = {.org = org_of(2), .bytes = 5u << 20};
    struct work_request third = {.org = org_of(3), .bytes = 5u << 20};
    struct writer_queue queue;

    (void)state;
    assert_non_null(requests);
    assert_int_equal(writer_queue_init(&queue), OK);
    for (size_t i = 0; i <= WORK_QUEUE_REQUESTS_MAX / 2; i++) {
        requests[i].org = org_of(1);
        assert_int_equal(writer_queue_push(&queue, &requests[i]),
                         i < WORK_QUEUE_REQUESTS_MAX / 2 ? OK : ERR_BUSY);
    }
    for (size_t i = WORK_QUEUE_REQUESTS_MAX / 2; i <= WORK_QUEUE_REQUESTS_MAX; i++) {
        requests[i].org = org_of((uint32_t)i + 2);
        assert_int_equal(writer_queue_push(&queue, &requests[i]),
                         i < WORK_QUEUE_REQUESTS_MAX ? OK : ERR_BUSY);
    }
    while (writer_queue_pop(&queue) != NULL) {
    }
    assert_int_equal(writer_queue_push(&queue, &large), OK);
    assert_int_equal(writer_queue_push(&queue, &small), ERR_BUSY);
    assert_int_equal(writer_queue_push(&queue, &other), OK);
    assert_int_equal(writer_queue_push(&queue, &third), ERR_BUSY);
    assert_ptr_equal(writer_queue_pop(&queue), &large);
    assert_int_equal(writer_queue_push(&queue, &third), OK);
    assert_ptr_equal(writer_queue_pop(&queue), &other);
    assert_ptr_equal(writer_queue_pop(&queue), &third);
    large.bytes = 20u << 20;
    assert_int_equal(writer_queue_push(&queue, &large), OK);
    assert_int_equal(writer_queue_push(&queue, &other), OK);
    assert_ptr_equal(writer_queue_pop(&queue), &large);
    assert_ptr_equal(writer_queue_pop(&queue), &other);
    assert_int_equal(queue.bytes, 0);
    writer_queue_deinit(&queue);
    free(requests);
}

/* Goal: the search for an organisation works for any order of pushes and pops. Method: random
 * pushes and pops over thousands of organisations; each organisation's requests, numbered by their
 * deadlines, are popped in order. */
static void test_random_traffic_keeps_each_order(void **state)
{
    enum {
        ORGS = 3000,
        REQUESTS = 60000
    };
    struct work_request *requests = calloc(REQUESTS, sizeof(*requests));
    int64_t *last = calloc(ORGS, sizeof(*last));
    struct random_seeded random;
    struct writer_queue queue;
    size_t pushed = 0;
    size_t popped = 0;

    (void)state;
    assert_non_null(requests);
    assert_non_null(last);
    random_seeded_init(&random, 3);
    assert_int_equal(writer_queue_init(&queue), OK);
    while (popped < REQUESTS) {
        uint32_t draw = 0;

        random_fill(&random.random, &draw, sizeof(draw));
        if (pushed < REQUESTS && draw % 5 < 3 && queue.requests < WORK_QUEUE_REQUESTS_MAX) {
            requests[pushed].org = org_of((draw >> 8) % ORGS);
            requests[pushed].deadline_us = (int64_t)pushed + 1;
            assert_int_equal(writer_queue_push(&queue, &requests[pushed]), OK);
            pushed++;
        } else if (queue.requests > 0) {
            struct work_request *request = writer_queue_pop(&queue);
            uint32_t org = 0;

            memcpy(&org, request->org.uuid.bytes + 12, sizeof(org));
            assert_true(last[org] < request->deadline_us);
            last[org] = request->deadline_us;
            popped++;
        }
    }
    writer_queue_deinit(&queue);
    free(requests);
    free(last);
}

int run_queue_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_organisations_take_turns),
        cmocka_unit_test(test_queue_is_bounded_per_organisation),
        cmocka_unit_test(test_random_traffic_keeps_each_order),
    };

    return cmocka_run_group_tests_name("writer's queue", tests, NULL, NULL);
}
