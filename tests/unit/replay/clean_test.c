/*
 * clean_test.c: a replay makes the tables that the server wrote, for any events.
 */
#include "store/records.h"
#include "tests/unit/replay/fixture.h"

#define WRITES 400
#define SEEDS 8

/* Goal: stores of random writes of every kind verify, over both back ends, and each table has rows to
 * compare. Method: several seeds over memory, one over LMDB, also checked in the middle. */
static void test_random_writes_verify(void **state)
{
    struct fixture fixture;

    (void)state;
    for (uint64_t seed = 0; seed <= SEEDS; seed++) {
        fixture_init(&fixture, seed == SEEDS ? FIXTURE_LMDB : FIXTURE_MEMORY, seed);
        fixture_expect_clean(&fixture);
        fixture_write_many(&fixture, WRITES / 4);
        fixture_expect_clean(&fixture);
        fixture_write_many(&fixture, WRITES);
        fixture_expect_clean(&fixture);
        assert_int_equal(fixture.report.organizations, FIXTURE_ORGS);
        assert_true(fixture.report.events > WRITES);
        fixture_deinit(&fixture);
    }
}

/* Goal: the random writes reach every table. Method: one fixture, a row of each. */
static void test_random_writes_reach_every_table(void **state)
{
    static const struct uuid zero;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 36);
    fixture_write_many(&fixture, 16 * WRITES);
    fixture_sweep(&fixture);
    for (int i = 0; i < TABLE_COUNT; i++) {
        enum store_table table = (enum store_table)i;
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        if (table == TABLE_META) {
            continue; /* not derived from events */
        }
        if (!fixture_find_row(&fixture, table, fixture.orgs[0].uuid, 0, &key, &value) &&
            !fixture_find_row(&fixture, table, zero, 0, &key, &value)) {
            fail_msg("no row of %s", store_table_name(table));
        }
    }
    fixture_deinit(&fixture);
}

/* Returns whether a write may be requested again: its first event was recorded in the last hours of
 * its log, or of the wall clock. */
static bool is_young(struct fixture *fixture, struct store_txn *txn, struct org_id org,
                     uint64_t seq)
{
    struct log_head head;
    struct event event;

    assert_int_equal(log_read_head(txn, org, &head), OK);
    assert_int_equal(log_read(txn, org, seq, &event), OK);
    return head.last_recorded_at_us - event.recorded_at_us <= REPLAY_KEYS_US ||
           fixture->clock.wall_us - event.recorded_at_us <= REPLAY_KEYS_US;
}

/* Checks that the replay makes the idempotency keys of all writes of the last hours that appended,
 * and no others. Returns their number. */
static size_t check_keys(struct fixture *fixture, struct org_id org)
{
    struct store_txn *made = fixture_begin(fixture->made.backend, STORE_READ);
    size_t kept = 0;

    for (size_t n = 0;; n++) {
        struct idempotency_record record;
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        struct slice again = {NULL, 0};
        bool wanted = false;

        if (!fixture_find_row(fixture, TABLE_IDEMPOTENCY, org.uuid, n, &key, &value)) {
            break;
        }
        assert_int_equal(record_decode_idempotency(value, &record), OK);
        wanted = record.count > 0 && is_young(fixture, made, org, record.first_seq);
        kept += wanted;
        assert_int_equal(store_get(made, TABLE_IDEMPOTENCY, key, &again),
                         wanted ? OK : ERR_NOT_FOUND);
        assert_true(!wanted || slice_equal(value, again));
    }
    store_abort(made);
    return kept;
}

/* Goal: a replayed log has every event byte for byte, and the idempotency rows of its last 25 hours.
 * Method: random writes over weeks; each row is compared with the original. */
static void test_replayed_log_equals_the_log(void **state)
{
    struct fixture fixture;

    (void)state;
    for (int kind = FIXTURE_MEMORY; kind <= FIXTURE_LMDB; kind++) {
        size_t kept = 0;

        fixture_init(&fixture, (enum fixture_backend)kind, 11);
        fixture_write_many(&fixture, WRITES);
        assert_int_equal(fixture_replay(&fixture), OK);
        for (size_t i = 0; i < FIXTURE_ORGS; i++) {
            struct slice key = {NULL, 0};
            struct slice value = {NULL, 0};
            struct slice again = {NULL, 0};
            struct store_txn *made = fixture_begin(fixture.made.backend, STORE_READ);

            for (size_t n = 0;
                 fixture_find_row(&fixture, TABLE_EVENT, fixture.orgs[i].uuid, n, &key, &value);
                 n++) {
                assert_int_equal(store_get(made, TABLE_EVENT, key, &again), OK);
                assert_true(slice_equal(value, again));
            }
            store_abort(made);
            kept += check_keys(&fixture, fixture.orgs[i]);
        }
        assert_true(kept > 0 && kept < fixture.keys / 2);
        fixture_deinit(&fixture);
    }
}

/* Goal: a wrong clock loses no idempotency key, whether it was ahead when an event was written, or
 * is ahead during the rebuild. Method: writes, more writes with a clock a year ahead, a corrected
 * clock; then a rebuild with a clock that is ahead. */
static void test_wrong_clock_loses_no_idempotency_key(void **state)
{
    static const int64_t year_us = INT64_C(365) * 24 * 3600 * 1000000;
    struct fixture fixture;
    int64_t right_us = 0;
    size_t right = 0;
    size_t ahead = 0;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 9);
    fixture_write_many(&fixture, WRITES);
    assert_int_equal(fixture_replay(&fixture), OK);
    for (size_t i = 0; i < FIXTURE_ORGS; i++) {
        right += check_keys(&fixture, fixture.orgs[i]);
    }
    right_us = fixture.clock.wall_us;
    clock_manual_advance(&fixture.clock, year_us);
    assert_int_equal(fixture_replay(&fixture), OK);
    for (size_t i = 0; i < FIXTURE_ORGS; i++) {
        ahead += check_keys(&fixture, fixture.orgs[i]);
    }
    assert_true(right > 0);
    assert_int_equal(ahead, right);
    fixture_write_many(&fixture, FIXTURE_ORGS * 4);
    fixture.clock.wall_us = right_us;
    assert_int_equal(fixture_replay(&fixture), OK);
    ahead = 0;
    for (size_t i = 0; i < FIXTURE_ORGS; i++) {
        ahead += check_keys(&fixture, fixture.orgs[i]);
    }
    assert_true(ahead > right);
    fixture_deinit(&fixture);
}

/* Observations of a caller during a run. */
struct watch {
    uint64_t calls;
    uint64_t calls_max; /* the call that ends it; 0: none */
    struct replay_progress last;
    bool compared;
};

static bool on_progress(void *user, const struct replay_progress *progress)
{
    struct watch *watch = user;

    assert_true(progress->events >= watch->last.events && progress->rows >= watch->last.rows);
    watch->last = *progress;
    watch->compared = watch->compared || strcmp(progress->step, "compare") == 0;
    return ++watch->calls != watch->calls_max;
}

/* Goal: a caller sees the progress, and can stop the replay. Method: each of the first calls stops
 * it; a complete run has reported all events. */
static void test_progress_is_reported_and_can_stop_the_replay(void **state)
{
    struct fixture fixture;
    struct watch watch = {.calls = 0};
    struct replay_config config = {.on_progress = on_progress, .user = &watch};
    enum err err = ERR_CANCELLED;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 5);
    fixture_write_many(&fixture, WRITES);
    config.source = fixture.stored.backend;
    config.clock = &fixture.clock.clock;
    config.random = &fixture.random.random;
    for (uint64_t calls = 1; err == ERR_CANCELLED; calls++) {
        fixture_store_open(&fixture.made, FIXTURE_MEMORY);
        config.target = fixture.made.backend;
        watch = (struct watch){.calls_max = calls};
        err = replay_verify(&config, &fixture.report);
        assert_true(err == ERR_CANCELLED || err == OK);
        assert_true(err == OK || watch.calls == calls);
        fixture_store_close(&fixture.made);
    }
    assert_true(watch.compared);
    assert_int_equal(watch.last.events, fixture.report.events);
    assert_int_equal(watch.last.events_total, fixture.report.events);
    assert_int_equal(watch.last.rows, fixture.report.rows);
    fixture_deinit(&fixture);
}

/* Goal: a store without events is clean. Method: an empty one. */
static void test_empty_store_verifies(void **state)
{
    struct fixture fixture = {.arena = {0}};

    (void)state;
    fixture_store_open(&fixture.stored, FIXTURE_MEMORY);
    fixture_expect_clean(&fixture);
    assert_int_equal(fixture.report.organizations + fixture.report.events + fixture.report.rows, 0);
    fixture_deinit(&fixture);
}

int run_clean_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_writes_verify),
        cmocka_unit_test(test_random_writes_reach_every_table),
        cmocka_unit_test(test_replayed_log_equals_the_log),
        cmocka_unit_test(test_progress_is_reported_and_can_stop_the_replay),
        cmocka_unit_test(test_wrong_clock_loses_no_idempotency_key),
        cmocka_unit_test(test_empty_store_verifies),
    };

    return cmocka_run_group_tests_name("replay clean", tests, NULL, NULL);
}
