/*
 * idempotency_test.c: a key is found for a day and distinguishes the same request from another; its
 * row is deleted after its window.
 */
#include "tests/unit/store/store_tests.h"

#include "store/idempotency.h"
#include "store/work.h"
#include "tests/support/store/store_fixture.h"

#define HOUR_US (3600ll * 1000000)

static struct event_idempotency make_key(uint8_t org, uint8_t number)
{
    struct event_idempotency key = {.present = true, .org = store_fixture_org(org)};

    memset(key.key_hash, number, sizeof(key.key_hash));
    memset(key.request_sha256.bytes, number, sizeof(key.request_sha256.bytes));
    return key;
}

static struct store_txn *begin_write(struct store_fixture *fixture)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    return txn;
}

static void keep(struct store_fixture *fixture, struct store_txn *txn, uint8_t org, uint8_t number)
{
    struct event_idempotency key = make_key(org, number);
    struct work_result result = {.org = store_fixture_org(9), .first_seq = 40, .count = 3};

    assert_int_equal(idempotency_keep(&fixture->ctx, txn, &key, &result), OK);
}

/* Goal: a repeat gets the first result for 24 hours, from any hour on; another request under the
 * same key, another key and another organisation do not. Method: move the clock. */
static void test_repeat_is_found_for_24_hours(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin_write(fixture);
    struct event_idempotency key = make_key(1, 5);
    struct event_idempotency other = make_key(1, 6);
    struct work_result result;

    fixture->clock.wall_us -= fixture->clock.wall_us % HOUR_US;
    fixture->clock.wall_us += HOUR_US - 1;
    keep(fixture, txn, 1, 5);
    for (int64_t passed_us = -1; passed_us <= 24 * HOUR_US; passed_us += HOUR_US / 2) {
        int64_t start_us = fixture->clock.wall_us;

        memset(&result, 0, sizeof(result));
        fixture->clock.wall_us += passed_us;
        assert_int_equal(idempotency_find(&fixture->ctx, txn, &key, &result), OK);
        assert_true(result.repeated);
        assert_int_equal(result.first_seq, 40);
        assert_int_equal(result.count, 3);
        assert_true(uuid_equal(result.org.uuid, store_fixture_org(9).uuid));
        fixture->clock.wall_us = start_us;
    }
    assert_int_equal(idempotency_find(&fixture->ctx, txn, &other, &result), ERR_NOT_FOUND);
    memcpy(other.key_hash, key.key_hash, sizeof(key.key_hash));
    assert_int_equal(idempotency_find(&fixture->ctx, txn, &other, &result), ERR_EXISTS);
    other = make_key(2, 5);
    assert_int_equal(idempotency_find(&fixture->ctx, txn, &other, &result), ERR_NOT_FOUND);
    fixture->clock.wall_us -=
        10 * 60 * 1000000; /* stepped back: the row belongs to the next hour */
    assert_int_equal(idempotency_find(&fixture->ctx, txn, &key, &result), OK);
    fixture->clock.wall_us += 26 * HOUR_US;
    assert_int_equal(idempotency_find(&fixture->ctx, txn, &key, &result), ERR_NOT_FOUND);
    store_abort(txn);
}

/* Goal: a clock that is set back by days does not make a repeated write a new one, and a clock that
 * was ahead costs no more than the hours that have rows. Method: rows of several hours, of this key
 * and of others, the clock set back after all of them. */
static void test_clock_set_back_keeps_repeats(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin_write(fixture);
    struct event_idempotency key = make_key(1, 5);
    struct event_idempotency never = make_key(1, 200);
    struct work_result result;

    for (uint8_t i = 0; i < 10; i++) {
        clock_manual_advance(&fixture->clock, 3 * HOUR_US);
        keep(fixture, txn, 1, i);
        keep(fixture, txn, 2, i);
    }
    fixture->clock.wall_us -= 2000 * HOUR_US;
    for (uint8_t i = 0; i < 10; i++) {
        key = make_key(1, i);
        assert_int_equal(idempotency_find(&fixture->ctx, txn, &key, &result), OK);
    }
    assert_int_equal(idempotency_find(&fixture->ctx, txn, &never, &result), ERR_NOT_FOUND);
    store_abort(txn);
}

/* Goal: a write that appended nothing is repeated as such. Method: an empty result is stored and
 * found. */
static void test_empty_result_is_repeated(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin_write(fixture);
    struct event_idempotency key = make_key(1, 5);
    struct work_result nothing = {.count = 0};
    struct work_result result = {.count = 7};

    assert_int_equal(idempotency_keep(&fixture->ctx, txn, &key, &nothing), OK);
    assert_int_equal(idempotency_find(&fixture->ctx, txn, &key, &result), OK);
    assert_int_equal(result.count, 0);
    assert_true(result.repeated);
    store_abort(txn);
}

/* Handles keys like a writer, batch by batch. */
struct keeper {
    struct idempotency_time time;
    struct idempotency_sweep sweep;
};

static size_t expire_once(struct store_fixture *fixture, struct store_txn *txn, size_t limit,
                          struct keeper *keeper)
{
    size_t count = 0;

    idempotency_time_update(&keeper->time, &fixture->clock.clock);
    idempotency_begin(txn, &keeper->time);
    assert_int_equal(idempotency_expire(txn, &keeper->time, limit, &keeper->sweep, &count), OK);
    return count;
}

/* Goal: old rows of every organisation are deleted, a bounded number in each call, and new ones are
 * kept. Method: rows of two ages in three organisations; sweep until nothing is left to delete. */
static void test_old_rows_expire_in_bounded_sweeps(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin_write(fixture);
    struct keeper keeper = {.time = {.is_known = false}};
    struct event_idempotency key = make_key(1, 5);
    struct work_result result;
    size_t removed = 0;

    for (uint8_t org = 1; org <= 3; org++) {
        for (uint8_t i = 0; i < 10; i++) {
            keep(fixture, txn, org, i);
        }
    }
    assert_int_equal(expire_once(fixture, txn, 4, &keeper), 0);
    clock_manual_advance(&fixture->clock, 50 * HOUR_US);
    for (uint8_t org = 1; org <= 3; org++) {
        keep(fixture, txn, org, 100);
    }
    for (int i = 0; i < 40; i++) {
        size_t count = expire_once(fixture, txn, 4, &keeper);

        assert_true(count <= 4);
        removed += count;
    }
    assert_int_equal(removed, 30);
    key = make_key(3, 100);
    assert_int_equal(idempotency_find(&fixture->ctx, txn, &key, &result), OK);
    clock_manual_init(&fixture->clock, 5);
    assert_int_equal(expire_once(fixture, txn, 4, &keeper), 0);
    store_abort(txn);
}

static size_t expire_all(struct store_fixture *fixture, struct store_txn *txn,
                         struct keeper *keeper)
{
    size_t removed = 0;

    for (int i = 0; i < 20; i++) {
        removed += expire_once(fixture, txn, 8, keeper);
    }
    return removed;
}

static enum err find(struct store_fixture *fixture, struct store_txn *txn, struct keeper *keeper,
                     uint8_t number)
{
    struct event_idempotency key = make_key(1, number);
    struct work_result result;

    idempotency_time_update(&keeper->time, &fixture->clock.clock);
    idempotency_begin(txn, &keeper->time);
    return idempotency_find(&fixture->ctx, txn, &key, &result);
}

/* Goal: a clock that is set ahead wrongly, and back, shortens no key's window, neither while it is
 * ahead nor afterwards; if it stays ahead, the rows are deleted a day later. Method: a jump of a
 * month, swept, undone; another one that stays. */
static void test_clock_set_ahead_keeps_the_window(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin_write(fixture);
    struct keeper keeper = {.time = {.is_known = false}};

    keep(fixture, txn, 1, 5);
    assert_int_equal(expire_all(fixture, txn, &keeper), 0);
    fixture->clock.wall_us += 30 * 24 * HOUR_US;
    clock_manual_advance(&fixture->clock, HOUR_US);
    assert_int_equal(expire_all(fixture, txn, &keeper), 0);
    assert_int_equal(find(fixture, txn, &keeper, 5), OK);
    clock_manual_advance(&fixture->clock, 20 * HOUR_US);
    assert_int_equal(expire_all(fixture, txn, &keeper), 0);
    assert_int_equal(find(fixture, txn, &keeper, 5), OK);
    fixture->clock.wall_us -= 30 * 24 * HOUR_US;
    assert_int_equal(expire_all(fixture, txn, &keeper), 0);
    assert_int_equal(find(fixture, txn, &keeper, 5), OK);
    fixture->clock.wall_us += 3650 * 24 * HOUR_US;
    assert_int_equal(expire_all(fixture, txn, &keeper), 0);
    clock_manual_advance(&fixture->clock, IDEMPOTENCY_DOUBT_US);
    assert_int_equal(expire_all(fixture, txn, &keeper), 1);
    assert_int_equal(find(fixture, txn, &keeper, 5), ERR_NOT_FOUND);
    store_abort(txn);
}

/* Goal: keys of a clock that was ahead are valid for a day after it was set back, and then expire:
 * they do not repeat writes for years, and their rows are deleted. Method: keys before, during and
 * after an excursion. */
static void test_keys_of_a_clock_ahead_last_a_day(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin_write(fixture);
    struct keeper keeper = {.time = {.is_known = false}};

    assert_int_equal(expire_all(fixture, txn, &keeper), 0);
    clock_manual_advance(&fixture->clock, 30 * HOUR_US);
    fixture->clock.wall_us += 3650 * 24 * HOUR_US;
    assert_int_equal(expire_all(fixture, txn, &keeper), 0);
    keep(fixture, txn, 1, 5);
    assert_int_equal(find(fixture, txn, &keeper, 5), OK);
    fixture->clock.wall_us -= 3650 * 24 * HOUR_US;
    clock_manual_advance(&fixture->clock, HOUR_US);
    assert_int_equal(expire_all(fixture, txn, &keeper), 0);
    keep(fixture, txn, 1, 6);
    clock_manual_advance(&fixture->clock, 23 * HOUR_US);
    assert_int_equal(expire_all(fixture, txn, &keeper), 0);
    assert_int_equal(find(fixture, txn, &keeper, 5), OK);
    assert_int_equal(find(fixture, txn, &keeper, 6), OK);
    clock_manual_advance(&fixture->clock, 2 * HOUR_US);
    assert_int_equal(expire_all(fixture, txn, &keeper), 1);
    assert_int_equal(find(fixture, txn, &keeper, 5), ERR_NOT_FOUND);
    store_abort(txn);
}

/* Goal: a server that starts while the clock is wrong, before the time is synchronised, shortens no
 * key's window. Method: a sweep that begins on a clock that is a month ahead; it is corrected; and
 * one that begins on a clock that stays. */
static void test_start_with_a_clock_ahead_keeps_the_window(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin_write(fixture);
    struct keeper keeper = {.time = {.is_known = false}};

    keep(fixture, txn, 1, 5);
    fixture->clock.wall_us += 30 * 24 * HOUR_US;
    assert_int_equal(expire_all(fixture, txn, &keeper), 0);
    fixture->clock.wall_us -= 30 * 24 * HOUR_US;
    assert_int_equal(find(fixture, txn, &keeper, 5), OK);
    fixture->clock.wall_us += 30 * 24 * HOUR_US;
    memset(&keeper, 0, sizeof(keeper));
    assert_int_equal(expire_all(fixture, txn, &keeper), 0);
    assert_int_equal(find(fixture, txn, &keeper, 5),
                     ERR_NOT_FOUND); /* a new program trusts its clock */
    clock_manual_advance(&fixture->clock, IDEMPOTENCY_START_QUIET_US);
    assert_int_equal(expire_all(fixture, txn, &keeper), 1);
    store_abort(txn);
}

int run_idempotency_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_repeat_is_found_for_24_hours, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_clock_set_back_keeps_repeats, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_clock_set_ahead_keeps_the_window, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_start_with_a_clock_ahead_keeps_the_window,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_keys_of_a_clock_ahead_last_a_day, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_empty_result_is_repeated, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_old_rows_expire_in_bounded_sweeps,
                                        store_fixture_set_up, store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("idempotency", tests, NULL, NULL);
}
