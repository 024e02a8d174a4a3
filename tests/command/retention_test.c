/*
 * retention_test.c: the sweeper that removes the content of old events without a call.
 */
#include "server/domain/corrections/capture.h"
#include "server/pipeline/retention_sweeper.h"
#include "tests/command/fixture.h"

#include <errata/v1/role.fields.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define DAY_US (INT64_C(24) * 3600 * 1000000)
/* More than one step removes at first. */
#define EVENTS 30
#define TICKS_MAX 100
/* Memory limit for one run of a capture. */
#define RUN_BYTES (4u << 20)

/* A capture that is handed to the writer. */
struct submitted {
    struct work_request work; /* first */
    const struct capture_event *event;
    bool done;
};

static enum err run_capture(struct work_request *work, struct store_txn *txn)
{
    const struct submitted *submitted = (struct submitted *)work;
    enum err err =
        capture_store(work->ctx, txn, work->org, submitted->event, 1, &work->written.first_seq);

    work->written.count = err == OK ? 1 : 0;
    return err;
}

static void capture_done(struct work_request *work, enum err result)
{
    assert_int_equal(result, OK);
    ((struct submitted *)work)->done = true;
}

static void capture(struct fixture *fixture)
{
    const struct event_caller caller = {.role = ROLE_ADMIN, .key_id = fixture->key_id};
    const struct capture_input input = {
        .event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
        .actor_user_id = SLICE("anna"),
        .layout_fingerprint = SLICE("layout-1"),
        .before_json = SLICE("{\"qty\":10}"),
        .after_json = SLICE("{\"qty\":12}"),
    };
    struct capture_event event;
    struct arena arena;
    struct fault fault;
    struct ctx ctx = {&arena, fixture->ctx.clock, fixture->ctx.random, &fault};
    struct submitted submitted = {.work = {.org = fixture->org,
                                           .bytes = 1000,
                                           .deadline_us = INT64_MAX,
                                           .ctx = &ctx,
                                           .run = run_capture,
                                           .done = capture_done},
                                  .event = &event};

    arena_init(&arena, RUN_BYTES);
    assert_int_equal(capture_prepare(&fixture->ctx, &caller, &input, SLICE("event"), &event), OK);
    assert_int_equal(writer_submit(fixture->writer, &submitted.work), OK);
    fixture_run_until(fixture, &submitted.done);
    arena_deinit(&arena);
}

static size_t count_content(struct fixture *fixture)
{
    struct store_txn *txn = NULL;
    struct log_walk walk;
    struct event event;
    size_t count = 0;

    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(log_walk_init(&walk, txn, fixture->org, 0, STORE_ASCENDING), OK);
    while (log_walk_next(&walk, &event) == OK) {
        assert_true(log_event_holds(&event));
        count += event.kind == EVENT_FEEDBACK && event.content.size > 0 ? 1 : 0;
    }
    log_walk_deinit(&walk);
    store_abort(txn);
    return count;
}

/* Ticks until a pass has ended. */
static void run_pass(struct fixture *fixture, struct retention_sweeper *sweeper)
{
    uint64_t passes = sweeper->pass_count;

    for (size_t i = 0; i < TICKS_MAX && sweeper->pass_count == passes; i++) {
        retention_sweeper_tick(sweeper);
        while (sweeper->running) {
            (void)uv_run(&fixture->loop, UV_RUN_ONCE);
        }
    }
    assert_int_equal(sweeper->pass_count, passes + 1);
}

/* Goal: content of corrections is removed after a year, that of newer ones is not, and the next pass finds nothing. Method: a
 * clock that the test moves by a year. */
static void test_content_is_removed_after_a_year(void **state)
{
    struct fixture fixture;
    struct retention_sweeper sweeper;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < EVENTS; i++) {
        capture(&fixture);
    }
    clock_manual_advance(&fixture.clock, 365 * DAY_US);
    capture(&fixture);
    retention_sweeper_init(&sweeper, fixture.backend, fixture.writer, &fixture.clock.clock,
                           fixture.ctx.random);
    run_pass(&fixture, &sweeper);
    assert_int_equal(sweeper.removed_count, EVENTS);
    assert_int_equal(count_content(&fixture), 1);
    assert_true(sweeper.removed_max > RETENTION_REMOVED_FIRST);

    seq = fixture_last_seq(&fixture);
    clock_manual_advance(&fixture.clock, RETENTION_INTERVAL_US);
    run_pass(&fixture, &sweeper);
    assert_int_equal(fixture_last_seq(&fixture), seq);
    retention_sweeper_deinit(&sweeper);
    fixture_deinit(&fixture);
}

/* Goal: a clock that is ahead removes nothing: neither one that is ahead of all events, nor one that jumps while the server
 * runs, even if an event is written then. Method: both jumps. */
static void test_clock_that_is_ahead_removes_nothing(void **state)
{
    struct fixture fixture;
    struct retention_sweeper sweeper;

    (void)state;
    fixture_init(&fixture);
    capture(&fixture);
    clock_manual_advance(&fixture.clock, 800 * DAY_US);
    retention_sweeper_init(&sweeper, fixture.backend, fixture.writer, &fixture.clock.clock,
                           fixture.ctx.random);
    run_pass(&fixture, &sweeper);
    assert_int_equal(count_content(&fixture), 1);

    fixture.clock.wall_us += 2 * DAY_US;
    capture(&fixture);
    fixture.clock.monotonic_us += RETENTION_INTERVAL_US;
    retention_sweeper_tick(&sweeper);
    assert_true(sweeper.stopped);
    assert_false(sweeper.running);
    assert_int_equal(count_content(&fixture), 2);
    retention_sweeper_deinit(&sweeper);
    fixture_deinit(&fixture);
}

/* Two organisations before the fixture's: the first cannot be read, and the step of the second one fails. */
static const struct org_id unreadable = {{{1}}};
static const struct org_id undecodable = {{{2}}};

/* Stores their events. */
static void add_failing_orgs(struct fixture *fixture)
{
    const struct slice nothing = {NULL, 0};
    struct key key = key_event(unreadable, 1);
    struct event_draft draft = {
        .org = undecodable,
        .kind = EVENT_FEEDBACK,
        .annotator = ANNOTATOR_HUMAN,
        .source = SOURCE_LIVE,
        .subjects = {{1, SLICE("acme")}},
        .subject_count = 1,
        .facts = SLICE("no facts"),
        .content = SLICE("no content"),
    };
    struct store_txn *txn = NULL;
    struct event event;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    assert_int_equal(store_put(txn, TABLE_EVENT, key_slice(&key), nothing), OK);
    log_begin_write(txn, NULL);
    assert_int_equal(log_next_stamp(&fixture->ctx, txn, undecodable, &draft.stamp), OK);
    draft.created_at_us = draft.stamp.created_at_us;
    assert_int_equal(log_append(&fixture->ctx, txn, &draft, &event), OK);
    assert_int_equal(store_commit(txn), OK);
}

/* Deletes the rows of an organisation in a table; each has few. */
static void delete_rows(struct store_txn *txn, enum store_table table, struct org_id org)
{
    struct key prefix = key_org(org);
    struct store_cursor cursor;
    struct slice value = {NULL, 0};
    enum err err = OK;

    while (err == OK) {
        struct slice found = {NULL, 0};
        struct key key = {.size = 0};

        assert_int_equal(store_cursor_init(&cursor, txn, table, key_slice(&prefix),
                                           slice_of(NULL, 0), STORE_ASCENDING),
                         OK);
        err = store_cursor_next(&cursor, &found, &value);
        if (err == OK) {
            key_put_bytes(&key, found.data, found.size);
        }
        store_cursor_deinit(&cursor);
        if (err == OK) {
            assert_int_equal(store_del(txn, table, key_slice(&key)), OK);
        }
    }
}

static void delete_failing_orgs(struct fixture *fixture)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    for (int table = 0; table < TABLE_COUNT; table++) {
        delete_rows(txn, (enum store_table)table, unreadable);
        delete_rows(txn, (enum store_table)table, undecodable);
    }
    assert_int_equal(store_commit(txn), OK);
}

/* Goal: organisations that fail do not keep the content of others. Method: two that come first, in two passes. */
static void test_failing_organisations_are_passed_over(void **state)
{
    struct fixture fixture;
    struct retention_sweeper sweeper;

    (void)state;
    fixture_init(&fixture);
    capture(&fixture);
    add_failing_orgs(&fixture);
    clock_manual_advance(&fixture.clock, 365 * DAY_US);
    capture(&fixture);
    retention_sweeper_init(&sweeper, fixture.backend, fixture.writer, &fixture.clock.clock,
                           fixture.ctx.random);
    run_pass(&fixture, &sweeper);
    assert_int_equal(count_content(&fixture), 1);

    clock_manual_advance(&fixture.clock, 365 * DAY_US);
    capture(&fixture);
    run_pass(&fixture, &sweeper);
    assert_int_equal(sweeper.removed_count, 2);
    assert_int_equal(count_content(&fixture), 1);
    retention_sweeper_deinit(&sweeper);
    delete_failing_orgs(&fixture);
    fixture_deinit(&fixture);
}

int run_retention_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content_is_removed_after_a_year),
        cmocka_unit_test(test_failing_organisations_are_passed_over),
        cmocka_unit_test(test_clock_that_is_ahead_removes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
