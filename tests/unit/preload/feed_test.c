/*
 * feed_test.c: rows that are fed to a store: all of them arrive, and failures of the store are
 * reported. The stores are in memory; one fails on request. Progress is read as text.
 */
#include "tools/bench/preload/feed.h"

#include "server/domain/corrections/keys.h"
#include "store/memory/memory.h"
#include "tests/support/store/fault_store.h"
#include "tests/unit/preload/preload_tests.h"
#include "tools/bench/preload/progress.h"
#include "tools/bench/preload/stage.h"

#include <stdlib.h>

/* More than all blocks of a feed hold, with the values below. */
#define ROWS 500
#define LARGE_BYTES (FEED_BLOCK_BYTES / 4)

struct fixture {
    struct store_backend *memory;
    struct fault_store store;
    struct org_id org;
    uint8_t value[LARGE_BYTES];
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    assert_int_equal(store_memory_open(&fixture->memory), OK);
    fault_store_init(&fixture->store, fixture->memory);
    memset(fixture->org.uuid.bytes, 0x11, sizeof(fixture->org.uuid.bytes));
    memset(fixture->value, 'x', sizeof(fixture->value));
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    store_memory_close(fixture->memory);
    free(fixture);
    return 0;
}

static uint64_t count_rows(struct fixture *fixture, enum store_table table)
{
    struct key prefix = key_org(fixture->org);
    const struct slice from_start = {NULL, 0};
    struct store_txn *txn = NULL;
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t count = 0;

    assert_int_equal(store_begin(fixture->memory, STORE_READ, &txn), OK);
    assert_int_equal(
        store_cursor_init(&cursor, txn, table, key_slice(&prefix), from_start, STORE_ASCENDING),
        OK);
    while (store_cursor_next(&cursor, &key, &value) == OK) {
        count++;
    }
    store_cursor_deinit(&cursor);
    store_abort(txn);
    return count;
}

/* Goal: the longest row is stored, between others. */
static void test_row_larger_than_a_block_is_stored(void **state)
{
    static const size_t sizes[] = {1, STORE_VALUE_BYTES_MAX, FEED_BLOCK_BYTES, 1};
    static const uint8_t bytes[STORE_VALUE_BYTES_MAX];
    struct fixture *fixture = *state;
    struct feed *feed = NULL;

    assert_int_equal(feed_open(&fixture->store.backend, &feed), OK);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct key key = key_event(fixture->org, i + 1);

        assert_int_equal(feed_put(feed, TABLE_EVENT, key_slice(&key), slice_of(bytes, sizes[i])),
                         OK);
    }
    assert_int_equal(feed_close(feed), OK);
    assert_int_equal(count_rows(fixture, TABLE_EVENT), sizeof(sizes) / sizeof(sizes[0]));
}

/* Goal: rows of every length are stored, in more bytes than the queue holds at a time. */
static void test_all_rows_are_stored(void **state)
{
    struct fixture *fixture = *state;
    struct feed *feed = NULL;

    assert_int_equal(feed_open(&fixture->store.backend, &feed), OK);
    for (uint64_t i = 1; i <= ROWS; i++) {
        struct key key = key_event(fixture->org, i);
        size_t bytes = i % 3 == 0 ? LARGE_BYTES : i % 3;

        assert_int_equal(
            feed_put(feed, TABLE_EVENT, key_slice(&key), slice_of(fixture->value, bytes)), OK);
    }
    assert_int_equal(count_rows(fixture, TABLE_EVENT) < ROWS, true); /* the last block waits */
    assert_int_equal(feed_close(feed), OK);
    assert_int_equal(count_rows(fixture, TABLE_EVENT), ROWS);
}

/* Puts rows until the feed refuses one, or all are stored. */
static enum err put_until_failure(struct fixture *fixture, struct feed *feed)
{
    enum err err = OK;

    for (uint64_t i = 1; i <= ROWS && err == OK; i++) {
        struct key key = key_event(fixture->org, i);

        err = feed_put(feed, TABLE_EVENT, key_slice(&key), slice_of(fixture->value, LARGE_BYTES));
    }
    return err;
}

/* Goal: any failure on the writing thread is reported to the caller, and nothing hangs or leaks. */
static void test_failure_of_the_writing_thread_is_reported(void **state)
{
    static const enum fault_call calls[] = {FAULT_BEGIN, FAULT_CHANGE, FAULT_COMMIT};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct feed *feed = NULL;

        fault_store_plan(&fixture->store, calls[i], i == 1 ? 100 : 0, 1, ERR_DISK_FULL);
        assert_int_equal(feed_open(&fixture->store.backend, &feed), OK);
        assert_int_equal(put_until_failure(fixture, feed), ERR_DISK_FULL);
        assert_int_equal(feed_close(feed), ERR_DISK_FULL);
    }
}

/* Goal: the commit at the end is checked, too. */
static void test_failed_last_commit_is_reported(void **state)
{
    struct fixture *fixture = *state;
    struct key key = key_event(fixture->org, 1);
    struct feed *feed = NULL;

    fault_store_plan(&fixture->store, FAULT_COMMIT, 0, 1, ERR_IO);
    assert_int_equal(feed_open(&fixture->store.backend, &feed), OK);
    assert_int_equal(feed_put(feed, TABLE_EVENT, key_slice(&key), slice_of(fixture->value, 1)), OK);
    assert_int_equal(feed_close(feed), ERR_IO);
    assert_int_equal(count_rows(fixture, TABLE_EVENT), 0);
}

/* Goal: a stage passes events on at once, keeps other rows, and passes on each of them once. */
static void test_stage_passes_events_and_keeps_the_rest(void **state)
{
    struct fixture *fixture = *state;
    struct stage *stage = NULL;
    struct feed *feed = NULL;
    struct store_txn *txn = NULL;
    struct slice value = {NULL, 0};
    struct key key = key_event(fixture->org, 1);

    assert_int_equal(feed_open(fixture->memory, &feed), OK);
    assert_int_equal(stage_open(feed, &stage), OK);
    assert_int_equal(store_begin(stage_backend(stage), STORE_WRITE, &txn), OK);
    assert_int_equal(store_append(txn, TABLE_EVENT, key_slice(&key), slice_of(fixture->value, 9)),
                     OK);
    for (uint64_t i = 1; i <= 5000; i++) { /* several windows, the last one incomplete */
        key = key_example_mark(fixture->org, i);
        assert_int_equal(
            store_put(txn, TABLE_EXAMPLE_MARK, key_slice(&key), slice_of(fixture->value, 5)), OK);
    }
    assert_int_equal(store_get(txn, TABLE_EXAMPLE_MARK, key_slice(&key), &value), OK);
    assert_int_equal(value.size, 5);
    assert_int_equal(stage_drain(stage, txn, fixture->org), OK);
    store_abort(txn);
    stage_close(stage);
    assert_int_equal(feed_close(feed), OK);
    assert_int_equal(count_rows(fixture, TABLE_EVENT), 1);
    assert_int_equal(count_rows(fixture, TABLE_EXAMPLE_MARK), 5000);
}

/* Goal: a line of progress is printed at intervals, with the remaining time at the speed so far. */
static void test_progress_has_the_remaining_time(void **state)
{
    struct clock_manual clock;
    struct progress progress;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_non_null(out);
    clock_manual_init(&clock, 0);
    progress_init(&progress, out, &clock.clock, 1000000);
    progress_add(&progress, 100000);
    clock_manual_advance(&clock, PROGRESS_LINE_US);
    progress_add(&progress, 1); /* no line: the clock is not read for each event */
    progress_add(&progress, 99999);
    progress_add(&progress, 50000); /* no line: too early */
    progress_say(&progress, "the end");
    (void)fclose(out);
    assert_string_equal(text, "preload: 200000 of 1000000 events (20%), 40000 a second, "
                              "0 min 20 s left\npreload: the end\n");
    free(text);
}

int run_feed_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_rows_are_stored, setup, teardown),
        cmocka_unit_test_setup_teardown(test_row_larger_than_a_block_is_stored, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failure_of_the_writing_thread_is_reported, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_failed_last_commit_is_reported, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stage_passes_events_and_keeps_the_rest, setup,
                                        teardown),
        cmocka_unit_test(test_progress_has_the_remaining_time),
    };

    return cmocka_run_group_tests_name("feed", tests, NULL, NULL);
}
