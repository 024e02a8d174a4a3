/*
 * writer_failure_test.c: the writer with a failing store: no partial or duplicate writes, correct
 * results, and recovery without a restart.
 */
#include "tests/unit/store/store_tests.h"

#include "tests/unit/store/writer_fixture.h"

#include <stdlib.h>

#define SECOND_US 1000000

static void submit_some(struct writer_fixture *fixture, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        assert_int_equal(writer_fixture_submit(fixture, i, 1), OK);
    }
}

/* Checks that acknowledged writes exist exactly once, and refused writes do not exist. */
static void expect_no_lie(struct writer_fixture *fixture, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(fixture->puts[i].dones, 1);
        assert_int_equal(writer_fixture_has(fixture->store.backend, i, 1),
                         fixture->puts[i].result == OK);
    }
}

/* Goal: a member that fails after its put does not affect others. Method: the third of five fails
 * late; all are repeated one by one, four are stored. */
static void test_late_failure_does_not_affect_others(void **state)
{
    struct writer_fixture *fixture = *state;

    for (uint32_t i = 0; i < 5; i++) {
        struct put_request *put = writer_fixture_put(fixture, i, 1);

        put->fail_late = i == 2 ? ERR_INTERNAL : OK;
        assert_int_equal(writer_submit(fixture->writer, &put->request), OK);
    }
    writer_fixture_run(fixture);
    expect_no_lie(fixture, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(fixture->puts[i].result, i == 2 ? ERR_INTERNAL : OK);
    }
    assert_int_equal(fixture->puts[0].runs, 2);
    assert_int_equal(fixture->puts[4].runs, 1);
    assert_true(writer_read_stats(fixture->writer).writable);
}

/* Goal: a transaction in which the store failed is not used again, even if nothing was put. Method:
 * the third of five requests fails before its put, by ERR_CORRUPT and by a disk error; all are
 * repeated one by one, four are stored, and writing continues. */
static void test_transaction_of_a_failed_store_is_not_reused(void **state)
{
    static const enum err errors[] = {ERR_CORRUPT, ERR_IO};
    struct writer_fixture *fixture = *state;

    for (uint32_t kind = 0; kind < 2; kind++) {
        for (uint32_t i = 5 * kind; i < 5 * kind + 5; i++) {
            struct put_request *put = writer_fixture_put(fixture, i, 1);

            put->refuse = i % 5 == 2 ? errors[kind] : OK;
            assert_int_equal(writer_submit(fixture->writer, &put->request), OK);
        }
        writer_fixture_run(fixture);
        for (uint32_t i = 5 * kind; i < 5 * kind + 5; i++) {
            assert_int_equal(fixture->puts[i].result, i % 5 == 2 ? errors[kind] : OK);
            assert_int_equal(fixture->puts[i].runs, i % 5 <= 2 ? 2 : 1);
        }
    }
    expect_no_lie(fixture, 10);
    assert_true(writer_read_stats(fixture->writer).writable);
}

/* Goal: a full disk refuses at once, is probed each second, and recovers by itself. Method: commits
 * fail with a full disk, then do not. */
static void test_full_disk_refuses_until_a_probe_succeeds(void **state)
{
    struct writer_fixture *fixture = *state;

    submit_some(fixture, 0, 3);
    fault_store_plan(&fixture->fault, FAULT_COMMIT, 0, UINT64_MAX, ERR_DISK_FULL);
    assert_int_equal(writer_step(fixture->writer), 3);
    writer_complete(fixture->writer);
    expect_no_lie(fixture, 3);
    assert_int_equal(fixture->puts[0].result, ERR_DISK_FULL);
    assert_false(writer_read_stats(fixture->writer).writable);
    assert_int_equal(writer_fixture_submit(fixture, 3, 1), ERR_DISK_FULL);
    clock_manual_advance(&fixture->store.clock, SECOND_US);
    assert_int_equal(writer_step(fixture->writer), 0);
    assert_int_equal(writer_fixture_submit(fixture, 3, 1), ERR_DISK_FULL);
    fault_store_plan(&fixture->fault, FAULT_COMMIT, 0, 0, OK);
    clock_manual_advance(&fixture->store.clock, SECOND_US / 2);
    assert_int_equal(writer_step(fixture->writer), 0);
    assert_int_equal(writer_fixture_submit(fixture, 3, 1),
                     ERR_DISK_FULL); /* not before the second attempt */
    clock_manual_advance(&fixture->store.clock, SECOND_US / 2);
    assert_int_equal(writer_step(fixture->writer), 0);
    assert_int_equal(writer_fixture_submit(fixture, 3, 1), OK);
    writer_fixture_run(fixture);
    expect_no_lie(fixture, 4);
    assert_int_equal(fixture->puts[3].result, OK);
}

/* Goal: a disk with no room for the reserve stays full, even if a tiny write would fit. Method: only
 * the restoration of the reserve fails. */
static void test_writes_are_refused_until_the_reserve_fits(void **state)
{
    struct writer_fixture *fixture = *state;

    submit_some(fixture, 0, 1);
    fault_store_plan(&fixture->fault, FAULT_COMMIT, 0, 1, ERR_DISK_FULL);
    fault_store_plan(&fixture->fault, FAULT_RESTORE, 0, 1, ERR_DISK_FULL);
    writer_fixture_run(fixture);
    clock_manual_advance(&fixture->store.clock, SECOND_US);
    assert_int_equal(writer_step(fixture->writer), 0);
    assert_int_equal(writer_fixture_submit(fixture, 1, 1), ERR_DISK_FULL);
    clock_manual_advance(&fixture->store.clock, SECOND_US);
    assert_int_equal(writer_step(fixture->writer), 0);
    assert_int_equal(writer_fixture_submit(fixture, 1, 1), OK);
    writer_fixture_run(fixture);
    expect_no_lie(fixture, 2);
}

/* Goal: a batch that is too large for the map is written in parts. Method: the first commit fails as
 * full, those of single members do not. */
static void test_batch_too_large_for_the_map_is_split(void **state)
{
    struct writer_fixture *fixture = *state;

    submit_some(fixture, 0, 4);
    fault_store_plan(&fixture->fault, FAULT_COMMIT, 0, 1, ERR_DISK_FULL);
    writer_fixture_run(fixture);
    expect_no_lie(fixture, 4);
    assert_int_equal(fixture->puts[3].result, OK);
    assert_int_equal(writer_read_stats(fixture->writer).commits, 4);
    assert_true(writer_read_stats(fixture->writer).writable);
}

/* Goal: writes that used the reserve's room are the last ones until it is restored. Method: a batch
 * fails as full, and so does one after a member that fits; their members fit one by one, and the
 * reserve cannot be restored. */
static void test_writes_stop_once_the_reserve_is_used(void **state)
{
    static const uint64_t full_members[] = {0, 1};
    struct writer_fixture *fixture = *state;

    for (uint32_t kind = 0; kind < 2; kind++) {
        uint32_t first = 5 * kind;

        submit_some(fixture, first, 4);
        fixture->puts[first].fail_late =
            kind == 0 ? OK : ERR_INTERNAL; /* none of them is written together with others */
        fault_store_plan(&fixture->fault, FAULT_COMMIT, full_members[kind], 1, ERR_DISK_FULL);
        fault_store_plan(&fixture->fault, FAULT_RESTORE, 0, 2, kind == 0 ? ERR_DISK_FULL : ERR_IO);
        writer_fixture_run(fixture);
        assert_int_equal(fixture->puts[first + 3].result, OK);
        assert_false(writer_read_stats(fixture->writer).writable);
        assert_int_equal(writer_fixture_submit(fixture, first + 4, 1), ERR_DISK_FULL);
        clock_manual_advance(&fixture->store.clock, SECOND_US);
        assert_int_equal(writer_step(fixture->writer), 0);
        assert_int_equal(writer_fixture_submit(fixture, first + 4, 1), ERR_DISK_FULL);
        clock_manual_advance(&fixture->store.clock, SECOND_US);
        assert_int_equal(writer_step(fixture->writer), 0);
        assert_int_equal(writer_fixture_submit(fixture, first + 4, 1), OK);
        writer_fixture_run(fixture);
    }
    expect_no_lie(fixture, 10);
}

/* Goal: a failing sync fails only its batch; three in a row stop writing until a probe succeeds.
 * Method: commits that fail with an I/O error, one and then three. */
static void test_three_failing_syncs_stop_writing(void **state)
{
    struct writer_fixture *fixture = *state;
    uint32_t next = 0;

    submit_some(fixture, next++, 1);
    fault_store_plan(&fixture->fault, FAULT_COMMIT, 0, 1, ERR_IO);
    writer_fixture_run(fixture);
    assert_int_equal(fixture->puts[0].result, ERR_IO);
    submit_some(fixture, next++, 1);
    writer_fixture_run(fixture);
    assert_int_equal(fixture->puts[1].result, OK);
    fault_store_plan(&fixture->fault, FAULT_COMMIT, 0, 4, ERR_IO);
    for (int i = 0; i < 3; i++) {
        assert_true(writer_read_stats(fixture->writer).writable);
        submit_some(fixture, next++, 1);
        writer_fixture_run(fixture);
    }
    assert_int_equal(writer_fixture_submit(fixture, next, 1), ERR_UNAVAILABLE);
    clock_manual_advance(&fixture->store.clock, SECOND_US);
    assert_int_equal(writer_step(fixture->writer), 0); /* this probe fails */
    assert_int_equal(writer_fixture_submit(fixture, next, 1), ERR_UNAVAILABLE);
    clock_manual_advance(&fixture->store.clock, SECOND_US);
    assert_int_equal(writer_step(fixture->writer), 0);
    assert_int_equal(writer_fixture_submit(fixture, next, 1), OK);
    writer_fixture_run(fixture);
    expect_no_lie(fixture, next + 1);
    assert_int_equal(writer_read_stats(fixture->writer).commit_failures, 4);
}

/* Goal: no request is refused because of a write that was not stored: a member may have been
 * refused because of a put by another member of its batch. Method: a put, a refusal beside it, and
 * a member that was never started; the commit fails. */
static void test_refusal_by_an_unstored_write_is_retried(void **state)
{
    struct writer_fixture *fixture = *state;

    submit_some(fixture, 0, 3);
    fixture->puts[1].refuse = ERR_EXISTS;
    atomic_store(&fixture->puts[2].request.cancelled, true);
    fault_store_plan(&fixture->fault, FAULT_COMMIT, 0, 1, ERR_IO);
    writer_fixture_run(fixture);
    assert_int_equal(fixture->puts[0].result, ERR_IO);
    assert_int_equal(fixture->puts[1].result, ERR_IO);
    assert_int_equal(fixture->puts[2].result, ERR_CANCELLED);
    submit_some(fixture, 3, 2);
    fixture->puts[4].refuse = ERR_EXISTS;
    writer_fixture_run(fixture);
    assert_int_equal(fixture->puts[3].result, OK);
    assert_int_equal(fixture->puts[4].result, ERR_EXISTS);
}

/* Goal: if the store refuses everything, all waiting requests fail at once. Method: a broken commit
 * with a batch and more in the queue. */
static void test_broken_store_fails_all_requests_at_once(void **state)
{
    struct writer_fixture *fixture = *state;

    submit_some(fixture, 0, WORK_BATCH_REQUESTS_MAX + 10);
    fault_store_plan(&fixture->fault, FAULT_COMMIT, 0, UINT64_MAX, ERR_UNAVAILABLE);
    fault_store_plan(&fixture->fault, FAULT_BEGIN, 1, UINT64_MAX, ERR_UNAVAILABLE);
    writer_fixture_run(fixture);
    for (uint32_t i = 0; i < WORK_BATCH_REQUESTS_MAX + 10; i++) {
        assert_int_equal(fixture->puts[i].result, ERR_UNAVAILABLE);
        assert_int_equal(fixture->puts[i].dones, 1);
        assert_true(fixture->puts[i].runs <= 1);
    }
}

/* Goal: one error at any call of the store, of any kind, loses nothing that was acknowledged and
 * stores nothing that was not. Method: a scenario of three batches, repeated with the nth call
 * failing, until n is after its end. */
static void test_error_at_any_call_loses_no_acknowledged_write(void **state)
{
    static const enum err errors[] = {ERR_DISK_FULL, ERR_IO, ERR_MEMORY, ERR_UNAVAILABLE};
    unsigned points = 0;

    (void)state;
    for (size_t call = 0; call < FAULT_CALL_COUNT; call++) {
        uint64_t n = 0;
        bool reached = true;

        for (n = 0; reached && n < 60; n++) {
            struct writer_fixture *fixture = calloc(1, sizeof(*fixture));
            uint32_t submitted = 0;

            assert_non_null(fixture);
            writer_fixture_init(fixture);
            fault_store_plan(&fixture->fault, (enum fault_call)call, n, 1, errors[n % 4]);
            for (uint32_t batch = 0; batch < 3; batch++) {
                for (uint32_t i = 0; i < 4; i++) {
                    submitted += writer_fixture_submit(fixture, submitted, 1) == OK ? 1 : 0;
                }
                writer_fixture_run(fixture);
                clock_manual_advance(&fixture->store.clock, SECOND_US);
                writer_fixture_run(fixture);
            }
            expect_no_lie(fixture, submitted);
            assert_true(submitted >= 4);
            reached = fixture->fault.plans[call].calls > n;
            points += reached ? 1 : 0;
            writer_fixture_deinit(fixture);
            free(fixture);
        }
    }
    assert_true(points > 15);
}

int run_writer_failure_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_late_failure_does_not_affect_others,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_transaction_of_a_failed_store_is_not_reused,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_full_disk_refuses_until_a_probe_succeeds,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_writes_are_refused_until_the_reserve_fits,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_batch_too_large_for_the_map_is_split,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_writes_stop_once_the_reserve_is_used,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_three_failing_syncs_stop_writing,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_refusal_by_an_unstored_write_is_retried,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_broken_store_fails_all_requests_at_once,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test(test_error_at_any_call_loses_no_acknowledged_write),
    };

    return cmocka_run_group_tests_name("writer's failures", tests, NULL, NULL);
}
