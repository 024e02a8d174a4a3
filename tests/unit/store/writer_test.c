/*
 * writer_test.c: batches, order, deadlines and draining; and the thread, over LMDB.
 */
#include "tests/unit/store/store_tests.h"

#include "store/lmdb/lmdb.h"
#include "tests/support/store/temp_folder.h"
#include "tests/unit/store/writer_fixture.h"

#include <unistd.h>

/* Goal: waiting requests are written in one commit and answered in order, after it. Method: ten
 * requests of one organisation, one step; the row is stored and the table's version has grown when
 * done runs. */
static void test_waiting_requests_share_a_commit(void **state)
{
    struct writer_fixture *fixture = *state;
    struct writer_stats stats;

    assert_int_equal(writer_step(fixture->writer), 0);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(writer_fixture_submit(fixture, i, 1), OK);
    }
    stats = writer_read_stats(fixture->writer);
    assert_int_equal(stats.queue_requests, 10);
    assert_int_equal(stats.queue_bytes, 1000);
    assert_int_equal(writer_step(fixture->writer), 10);
    assert_int_equal(atomic_load(&fixture->wakes), 1);
    assert_int_equal(fixture->puts[0].dones, 0);
    writer_complete(fixture->writer);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(fixture->puts[i].runs, 1);
        assert_int_equal(fixture->puts[i].dones, 1);
        assert_int_equal(fixture->puts[i].result, OK);
        assert_int_equal(fixture->puts[i].order, i + 1);
        assert_int_equal(fixture->puts[i].version, 1);
        assert_true(writer_fixture_has(fixture->store.backend, i, 1));
    }
    stats = writer_read_stats(fixture->writer);
    assert_int_equal(stats.commits, 1);
    assert_int_equal(stats.commit_requests, 10);
    assert_int_equal(stats.queue_requests, 0);
    assert_true(stats.writable);
    assert_int_equal(writer_table_version(fixture->writer, TABLE_EVENT), 0);
}

/* Goal: a batch is bounded in requests and bytes, and a request larger than a batch is written by
 * itself. Method: more requests than fit. */
static void test_batch_is_bounded(void **state)
{
    struct writer_fixture *fixture = *state;

    for (uint32_t i = 0; i < WORK_BATCH_REQUESTS_MAX + 1; i++) {
        assert_int_equal(writer_fixture_submit(fixture, i, 1), OK);
    }
    assert_int_equal(writer_step(fixture->writer), WORK_BATCH_REQUESTS_MAX);
    assert_int_equal(writer_step(fixture->writer), 1);
    writer_complete(fixture->writer);
    for (uint32_t i = 0; i < 4; i++) {
        struct put_request *put = writer_fixture_put(fixture, i, (uint8_t)(i + 1));

        put->request.bytes = i == 2 ? WORK_BATCH_BYTES_MAX + 1 : WORK_BATCH_BYTES_MAX / 2;
        assert_int_equal(writer_submit(fixture->writer, &put->request), OK);
    }
    assert_int_equal(writer_step(fixture->writer), 2);
    assert_int_equal(writer_step(fixture->writer), 1);
    assert_int_equal(writer_step(fixture->writer), 1);
    writer_complete(fixture->writer);
}

/* Goal: a request that is refused does not affect its neighbours. Method: the middle one of three
 * is refused. */
static void test_refused_request_does_not_affect_others(void **state)
{
    struct writer_fixture *fixture = *state;

    for (uint32_t i = 0; i < 3; i++) {
        struct put_request *put = writer_fixture_put(fixture, i, 1);

        put->refuse = i == 1 ? ERR_PRECONDITION : OK;
        assert_int_equal(writer_submit(fixture->writer, &put->request), OK);
    }
    writer_fixture_run(fixture);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(fixture->puts[i].result, i == 1 ? ERR_PRECONDITION : OK);
        assert_int_equal(fixture->puts[i].runs, 1);
        assert_int_equal(writer_fixture_has(fixture->store.backend, i, 1), i != 1);
    }
    assert_int_equal(writer_read_stats(fixture->writer).commits, 1);
}

/* Goal: a batch of only refusals makes no commit. Method: one request that refuses. */
static void test_batch_of_refusals_makes_no_commit(void **state)
{
    struct writer_fixture *fixture = *state;
    struct put_request *put = writer_fixture_put(fixture, 0, 1);

    put->refuse = ERR_NOT_FOUND;
    assert_int_equal(writer_submit(fixture->writer, &put->request), OK);
    writer_fixture_run(fixture);
    assert_int_equal(put->result, ERR_NOT_FOUND);
    assert_int_equal(writer_read_stats(fixture->writer).commits, 0);
}

/* Goal: nothing is stored for an organisation that does not exist. Method: a request of one without a log, between two of
 * one that has it. */
static void test_write_needs_an_organisation(void **state)
{
    struct writer_fixture *fixture = *state;
    static const uint8_t orgs[] = {1, WRITER_FIXTURE_ORGS + 1, 1};

    for (uint32_t i = 0; i < sizeof(orgs); i++) {
        assert_int_equal(writer_fixture_submit(fixture, i, orgs[i]), OK);
    }
    writer_fixture_run(fixture);
    for (uint32_t i = 0; i < sizeof(orgs); i++) {
        bool exists = orgs[i] <= WRITER_FIXTURE_ORGS;

        assert_int_equal(fixture->puts[i].result, exists ? OK : ERR_ORGANIZATION_DELETED);
        assert_int_equal(fixture->puts[i].runs, exists ? 1 : 0);
    }
}

/* Goal: a request that is cancelled or too late is not started. Method: one of each between two
 * others. */
static void test_cancelled_or_late_request_is_not_started(void **state)
{
    struct writer_fixture *fixture = *state;
    static const enum err wanted[] = {OK, ERR_CANCELLED, ERR_DEADLINE, OK};

    for (uint32_t i = 0; i < 4; i++) {
        struct put_request *put = writer_fixture_put(fixture, i, 1);

        put->request.deadline_us =
            i >= 2 ? fixture->store.clock.monotonic_us + (int64_t)i : INT64_MAX;
        assert_int_equal(writer_submit(fixture->writer, &put->request), OK);
    }
    atomic_store(&fixture->puts[1].request.cancelled, true);
    clock_manual_advance(&fixture->store.clock, 3);
    writer_fixture_run(fixture);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(fixture->puts[i].result, wanted[i]);
        assert_int_equal(fixture->puts[i].runs, wanted[i] == OK ? 1 : 0);
        assert_int_equal(writer_fixture_has(fixture->store.backend, i, 1), wanted[i] == OK);
    }
}

/* Goal: a draining writer accepts nothing and finishes its queue. Method: submit before and after. */
static void test_draining_writer_finishes_its_queue(void **state)
{
    struct writer_fixture *fixture = *state;

    assert_int_equal(writer_fixture_submit(fixture, 0, 1), OK);
    writer_drain(fixture->writer);
    assert_int_equal(writer_fixture_submit(fixture, 1, 1), ERR_DRAINING);
    writer_fixture_run(fixture);
    assert_int_equal(fixture->puts[0].result, OK);
    assert_int_equal(fixture->puts[1].dones, 0);
}

/* Advances the clock inside a batch, as a slow commit would. */
static enum err run_slowly(struct work_request *request, struct store_txn *txn)
{
    struct put_request *put = (struct put_request *)request;
    struct key key = key_event(request->org, put->number + 1);

    clock_manual_advance(&put->fixture->store.clock, 1000);
    return store_put(txn, TABLE_EXAMPLE_MARK, key_slice(&key), SLICE("slow"));
}

/* Goal: batches stay near their time limit, and grow again when requests are quick. Method:
 * requests of 1 ms. */
static void test_batches_keep_their_time(void **state)
{
    struct writer_fixture *fixture = *state;
    size_t taken = 0;

    for (uint32_t i = 0; i < 1000; i++) {
        struct put_request *put = writer_fixture_put(fixture, i, 1);

        put->request.run = i < 500 ? run_slowly : put->request.run;
        assert_int_equal(writer_submit(fixture->writer, &put->request), OK);
    }
    assert_int_equal(writer_step(fixture->writer), WORK_BATCH_REQUESTS_MAX);
    taken = writer_step(fixture->writer);
    assert_true(taken >= 10 && taken <= 20);
    for (taken = 1; taken > 0 && taken < 200;) {
        taken = writer_step(fixture->writer);
    }
    assert_true(taken >= 200);
    writer_fixture_run(fixture);
    writer_complete(fixture->writer);
    assert_int_equal(fixture->done_count, 1000);
}

static void wake_by_pipe(void *user)
{
    uint8_t byte = 1;

    assert_int_equal(write(*(int *)user, &byte, 1), 1);
}

/* Submits rounds of requests from this thread while the writer's thread writes them. */
static void write_by_thread(struct writer_fixture *fixture, struct writer *writer, int wake_fd)
{
    uint32_t submitted = 0;

    while (fixture->done_count < PUTS_MAX) {
        uint8_t bytes[64];

        while (submitted < PUTS_MAX && submitted < fixture->done_count + 500) {
            struct put_request *put =
                writer_fixture_put(fixture, submitted, (uint8_t)(1 + submitted % 3));

            assert_int_equal(writer_submit(writer, &put->request), OK);
            submitted++;
        }
        assert_true(read(wake_fd, bytes, sizeof(bytes)) > 0);
        writer_complete(writer);
    }
}

/* Goal: the thread writes submitted requests, wakes the loop, and ends; acknowledged writes are in
 * the file. Method: thousands of requests over LMDB, the store closed and opened again. */
static void test_acknowledged_writes_are_in_the_file(void **state)
{
    struct writer_fixture *fixture = *state;
    struct store_lmdb_config lmdb = {.map_bytes = 1ull << 30, .reserve_bytes = 4096};
    struct writer_config config = {.clock = clock_system(), .wake = wake_by_pipe};
    struct writer *manual = fixture->writer;
    struct temp_folder folder;
    struct store_backend *backend = NULL;
    struct writer *writer = NULL;
    int fds[2];

    temp_folder_init(&folder);
    lmdb.path = folder.path;
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(store_lmdb_open(&lmdb, &fixture->store.fault, &backend), OK);
    writer_fixture_add_orgs(fixture, backend);
    config.backend = backend;
    config.user = &fds[1];
    assert_int_equal(writer_new(&config, &writer), OK);
    fixture->writer = writer;
    write_by_thread(fixture, writer, fds[0]);
    writer_drain(writer);
    assert_true(writer_read_stats(writer).commits < PUTS_MAX);
    writer_free(writer);
    fixture->writer = manual;
    store_lmdb_close(backend);
    assert_int_equal(store_lmdb_open(&lmdb, &fixture->store.fault, &backend), OK);
    for (uint32_t i = 0; i < PUTS_MAX; i++) {
        assert_int_equal(fixture->puts[i].dones, 1);
        assert_int_equal(fixture->puts[i].result, OK);
        assert_true(writer_fixture_has(backend, i, (uint8_t)(1 + i % 3)));
    }
    store_lmdb_close(backend);
    temp_folder_deinit(&folder);
    assert_int_equal(close(fds[0]), 0);
    assert_int_equal(close(fds[1]), 0);
}

int run_writer_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_waiting_requests_share_a_commit, writer_fixture_set_up,
                                        writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_batch_is_bounded, writer_fixture_set_up,
                                        writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_refused_request_does_not_affect_others,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_batch_of_refusals_makes_no_commit,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_write_needs_an_organisation, writer_fixture_set_up,
                                        writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_cancelled_or_late_request_is_not_started,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_draining_writer_finishes_its_queue,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_batches_keep_their_time, writer_fixture_set_up,
                                        writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_acknowledged_writes_are_in_the_file,
                                        writer_fixture_set_up, writer_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}
