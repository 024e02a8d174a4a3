/*
 * writer_fixture.c: see writer_fixture.h.
 */
#include "tests/unit/store/writer_fixture.h"

#include "store/base/assert.h"
#include "store/records.h"

#include <stddef.h>
#include <stdlib.h>

static enum err run_put(struct work_request *request, struct store_txn *txn)
{
    struct put_request *put = (struct put_request *)request;
    struct key key = key_event(request->org, put->number + 1);
    enum err err = OK;

    put->runs++;
    clock_manual_advance(&put->fixture->store.clock, put->fixture->run_us);
    if (put->refuse != OK) {
        return put->refuse;
    }
    err = store_put(txn, TABLE_EXAMPLE_MARK, key_slice(&key), SLICE("value"));
    return err != OK ? err : put->fail_late;
}

static void put_done(struct work_request *request, enum err result)
{
    struct put_request *put = (struct put_request *)request;

    put->dones++;
    put->result = result;
    put->order = ++put->fixture->done_count;
    put->version = writer_table_version(put->fixture->writer, TABLE_EXAMPLE_MARK);
}

static enum err slow_commit(struct store_txn *take_txn)
{
    struct fault_store *fault = (struct fault_store *)(void *)take_txn->backend;
    struct writer_fixture *fixture =
        (struct writer_fixture *)(void *)((char *)fault - offsetof(struct writer_fixture, fault));
    int64_t pages_us = fixture->page_us * (int64_t)take_txn->change_count;

    clock_manual_advance(&fixture->store.clock, fixture->sync_us + pages_us);
    return fixture->inner_ops->commit(take_txn);
}

static void count_wake(void *user)
{
    struct writer_fixture *fixture = user;

    atomic_fetch_add(&fixture->wakes, 1);
}

void writer_fixture_add_orgs(struct writer_fixture *fixture, struct store_backend *backend)
{
    struct store_txn *txn = NULL;

    ASSERT(store_begin(backend, STORE_WRITE, &txn) == OK);
    for (uint8_t org = 1; org <= WRITER_FIXTURE_ORGS; org++) {
        const struct org_head_record head = {
            .last_seq = 1, .last_recorded_at_us = 1, .last_envelope_sha256 = {{1}}};
        struct key key = key_org(store_fixture_org(org));
        struct slice bytes = {NULL, 0};

        ASSERT(record_encode_org_head(&fixture->store.arena, &head, &bytes) == OK);
        ASSERT(store_put(txn, TABLE_ORG_HEAD, key_slice(&key), bytes) == OK);
    }
    ASSERT(store_commit(txn) == OK);
}

void writer_fixture_init(struct writer_fixture *fixture)
{
    struct writer_config config = {.manual = true, .wake = count_wake, .user = fixture};

    memset(fixture, 0, sizeof(*fixture));
    store_fixture_init(&fixture->store);
    writer_fixture_add_orgs(fixture, fixture->store.backend);
    fault_store_init(&fixture->fault, fixture->store.backend);
    fixture->inner_ops = fixture->fault.backend.ops;
    fixture->ops = *fixture->inner_ops;
    fixture->ops.commit = slow_commit;
    fixture->fault.backend.ops = &fixture->ops;
    fixture->puts = calloc(PUTS_MAX, sizeof(*fixture->puts));
    ASSERT(fixture->puts != NULL);
    config.backend = &fixture->fault.backend;
    config.clock = &fixture->store.clock.clock;
    ASSERT(writer_new(&config, &fixture->writer) == OK);
}

void writer_fixture_deinit(struct writer_fixture *fixture)
{
    writer_free(fixture->writer);
    free(fixture->puts);
    store_fixture_deinit(&fixture->store);
}

int writer_fixture_set_up(void **state)
{
    struct writer_fixture *fixture = calloc(1, sizeof(*fixture));

    ASSERT(fixture != NULL);
    writer_fixture_init(fixture);
    *state = fixture;
    return 0;
}

int writer_fixture_tear_down(void **state)
{
    writer_fixture_deinit(*state);
    free(*state);
    return 0;
}

struct put_request *writer_fixture_put(struct writer_fixture *fixture, uint32_t number, uint8_t org)
{
    struct put_request *put = &fixture->puts[number];

    ASSERT(number < PUTS_MAX);
    memset(put, 0, sizeof(*put));
    put->request.org = store_fixture_org(org);
    put->request.bytes = 100;
    put->request.deadline_us = INT64_MAX;
    put->request.run = run_put;
    put->request.done = put_done;
    put->number = number;
    put->fixture = fixture;
    return put;
}

enum err writer_fixture_submit(struct writer_fixture *fixture, uint32_t number, uint8_t org)
{
    return writer_submit(fixture->writer, &writer_fixture_put(fixture, number, org)->request);
}

void writer_fixture_run(struct writer_fixture *fixture)
{
    while (writer_step(fixture->writer) > 0) {
        writer_complete(fixture->writer);
    }
}

bool writer_fixture_has(struct store_backend *backend, uint32_t number, uint8_t org)
{
    struct key key = key_event(store_fixture_org(org), number + 1);
    struct store_txn *txn = NULL;
    struct slice value = {NULL, 0};
    enum err err = OK;

    ASSERT(store_begin(backend, STORE_READ, &txn) == OK);
    err = store_get(txn, TABLE_EXAMPLE_MARK, key_slice(&key), &value);
    store_abort(txn);
    return err == OK;
}
