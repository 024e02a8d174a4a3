/*
 * writer_world.c: see writer_world.h.
 */
#include "tests/unit/store/writer_world.h"

#include "store/base/assert.h"

#include <stddef.h>
#include <stdlib.h>

static enum err run_put(struct work_request *request, struct store_txn *txn)
{
    struct put_request *put = (struct put_request *)request;
    struct key key = key_event(request->org, put->number + 1);
    enum err err = OK;

    put->runs++;
    clock_manual_advance(&put->world->store.clock, put->world->run_us);
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
    put->order = ++put->world->done_count;
    put->version = writer_table_version(put->world->writer, TABLE_EXAMPLE_MARK);
}

static enum err slow_commit(struct store_txn *take_txn)
{
    struct fault_store *fault = (struct fault_store *)(void *)take_txn->backend;
    struct writer_world *world =
        (struct writer_world *)(void *)((char *)fault - offsetof(struct writer_world, fault));
    int64_t pages_us = world->page_us * (int64_t)take_txn->change_count;

    clock_manual_advance(&world->store.clock, world->sync_us + pages_us);
    return world->inner_ops->commit(take_txn);
}

static void count_wake(void *user)
{
    struct writer_world *world = user;

    atomic_fetch_add(&world->wakes, 1);
}

void writer_world_init(struct writer_world *world)
{
    struct writer_config config = {.manual = true, .wake = count_wake, .user = world};

    memset(world, 0, sizeof(*world));
    store_world_init(&world->store);
    fault_store_init(&world->fault, world->store.backend);
    world->inner_ops = world->fault.backend.ops;
    world->ops = *world->inner_ops;
    world->ops.commit = slow_commit;
    world->fault.backend.ops = &world->ops;
    world->puts = calloc(PUTS_MAX, sizeof(*world->puts));
    ASSERT(world->puts != NULL);
    config.backend = &world->fault.backend;
    config.clock = &world->store.clock.clock;
    ASSERT(writer_new(&config, &world->writer) == OK);
}

void writer_world_deinit(struct writer_world *world)
{
    writer_free(world->writer);
    free(world->puts);
    store_world_deinit(&world->store);
}

int writer_world_set_up(void **state)
{
    struct writer_world *world = calloc(1, sizeof(*world));

    ASSERT(world != NULL);
    writer_world_init(world);
    *state = world;
    return 0;
}

int writer_world_tear_down(void **state)
{
    writer_world_deinit(*state);
    free(*state);
    return 0;
}

struct put_request *writer_world_put(struct writer_world *world, uint32_t number, uint8_t org)
{
    struct put_request *put = &world->puts[number];

    ASSERT(number < PUTS_MAX);
    memset(put, 0, sizeof(*put));
    put->request.org = store_world_org(org);
    put->request.bytes = 100;
    put->request.deadline_us = INT64_MAX;
    put->request.run = run_put;
    put->request.done = put_done;
    put->number = number;
    put->world = world;
    return put;
}

enum err writer_world_submit(struct writer_world *world, uint32_t number, uint8_t org)
{
    return writer_submit(world->writer, &writer_world_put(world, number, org)->request);
}

void writer_world_run(struct writer_world *world)
{
    while (writer_step(world->writer) > 0) {
        writer_complete(world->writer);
    }
}

bool writer_world_has(struct store_backend *backend, uint32_t number, uint8_t org)
{
    struct key key = key_event(store_world_org(org), number + 1);
    struct store_txn *txn = NULL;
    struct slice value = {NULL, 0};
    enum err err = OK;

    ASSERT(store_begin(backend, STORE_READ, &txn) == OK);
    err = store_get(txn, TABLE_EXAMPLE_MARK, key_slice(&key), &value);
    store_abort(txn);
    return err == OK;
}
