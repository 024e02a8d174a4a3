/*
 * random_test.c: long runs of random events of a queue, by a seed. The fixture checks after each move
 * that the statistics add up, limits hold and keys stay; in the end each capture had exactly one
 * result.
 */
#include "tests/unit/client_captures/captures_tests.h"
#include "tests/unit/client_captures/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define MOVES 1500

struct run {
    struct fixture *fixture;
    struct random_seeded random; /* random source of the moves; the fixture has a separate one */
    uint32_t next_tag;
    bool fates[FIXTURE_TAGS_MAX]; /* stored, by tag; drops are recorded by the fixture */
    uint64_t refused_adds;
};

static uint32_t draw(struct run *run, uint32_t below)
{
    uint32_t drawn = 0;

    random_fill(&run->random.random, &drawn, sizeof(drawn));
    return drawn % below;
}

static void add_some(struct run *run)
{
    for (uint32_t i = draw(run, 6); i > 0 && run->next_tag < FIXTURE_TAGS_MAX; i--) {
        size_t size = sizeof(uint32_t) + draw(run, 200);
        enum errata_result result = fixture_add_bytes(run->fixture, run->next_tag, size);

        if (result == ERRATA_OK) {
            run->next_tag++;
        } else {
            assert_true(result == ERRATA_BUSY || run->fixture->intake.closed);
            run->refused_adds += result == ERRATA_BUSY;
        }
    }
}

static void end_one(struct run *run)
{
    struct fixture_call *call = &run->fixture->calls[draw(run, FIXTURE_CALLS_MAX)];
    struct errata_status status = {.message = "drawn",
                                   .from_server = draw(run, 4) != 0,
                                   .attempts = draw(run, 4),
                                   .code = (enum errata_code)draw(run, 17)};

    if (call->capture == NULL) {
        return;
    }
    if (draw(run, 2) == 0) {
        status.code = ERRATA_CODE_OK;
    }
    run->fates[call->tag] = status.code == ERRATA_CODE_OK;
    fixture_end_with(run->fixture, call->tag, &status);
}

static void move(struct run *run)
{
    switch (draw(run, 8)) {
    case 0:
        add_some(run);
        break;
    case 1:
        fixture_pass(run->fixture, draw(run, 200));
        break;
    case 2:
        fixture_pass(run->fixture, draw(run, 20000));
        break;
    case 3:
        run->fixture->start_result = draw(run, 4) == 0 ? ERRATA_BUSY : ERRATA_OK;
        break;
    case 4:
        captures_queue_resume(&run->fixture->queue);
        break;
    default:
        end_one(run);
        if (draw(run, 2) == 0) {
            fixture_step(run->fixture);
        }
    }
}

static void check_fates(struct run *run)
{
    struct errata_captures_statistics statistics;
    uint64_t stored = 0;

    for (uint32_t tag = 1; tag < run->next_tag; tag++) {
        bool dropped = fixture_drop_of(run->fixture, tag) != NULL;

        assert_true(run->fates[tag] != dropped); /* exactly one of the two is true */
        stored += run->fates[tag];
    }
    fixture_statistics(run->fixture, &statistics);
    assert_int_equal(statistics.added, run->next_tag - 1);
    assert_int_equal(statistics.stored, stored);
    assert_int_equal(statistics.dropped[ERRATA_DROP_FULL], run->refused_adds);
    assert_int_equal(statistics.queued, 0);
}

static void run_once(uint64_t seed)
{
    static const struct fixture_limits limits = {
        .events_max = 40, .bytes_max = 5000, .in_flight_max = 6, .age_ms_max = 90000};
    static struct run run;

    run = (struct run){.fixture = fixture_new(&limits, seed), .next_tag = 1};
    random_seeded_init(&run.random, seed + 1);
    for (unsigned i = 0; i < MOVES; i++) {
        move(&run);
    }
    fixture_close(run.fixture, draw(&run, 30000));
    for (unsigned i = 0; i < MOVES && run.fixture->queue.state != CAPTURES_QUEUE_DONE; i++) {
        move(&run);
    }
    fixture_close(run.fixture, 0);
    fixture_step(run.fixture);
    for (size_t i = 0; i < FIXTURE_CALLS_MAX; i++) {
        struct fixture_call *call = &run.fixture->calls[i];

        if (call->capture != NULL) {
            fixture_end(run.fixture, call->tag, ERRATA_CODE_CANCELLED);
        }
    }
    assert_int_equal(run.fixture->queue.state, CAPTURES_QUEUE_DONE);
    check_fates(&run);
    fixture_free(run.fixture);
}

struct random_runs {
    unsigned long seed;
    unsigned rounds;
};

/* Goal: for any events in any order, each capture is stored or dropped exactly once, and the
 * statistics agree at any moment. Method: moves drawn by a seed. */
static void test_each_capture_is_stored_or_dropped_once(void **state)
{
    const struct random_runs *runs = *state;

    for (unsigned i = 0; i < runs->rounds; i++) {
        run_once(runs->seed + i);
    }
}

int run_random_tests(unsigned long seed, unsigned rounds)
{
    struct random_runs runs = {seed, rounds};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_each_capture_is_stored_or_dropped_once, &runs)};

    printf("seed %lu, %u rounds\n", seed, rounds);
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
