/*
 * store_world.c: see store_world.h.
 */
#include "tests/support/store/store_world.h"

#include "store/base/assert.h"
#include "store/memory/memory.h"

#include <stdlib.h>

void store_world_init(struct store_world *world)
{
    memset(world, 0, sizeof(*world));
    ASSERT(store_memory_open(&world->backend) == OK);
    arena_init(&world->arena, SIZE_MAX);
    fault_init(&world->fault, &world->arena);
    clock_manual_init(&world->clock, STORE_WORLD_START_US);
    random_seeded_init(&world->random, 1);
    world->ctx.arena = &world->arena;
    world->ctx.clock = &world->clock.clock;
    world->ctx.random = &world->random.random;
    world->ctx.fault = &world->fault;
}

void store_world_deinit(struct store_world *world)
{
    store_memory_close(world->backend);
    arena_deinit(&world->arena);
}

int store_world_set_up(void **state)
{
    struct store_world *world = calloc(1, sizeof(*world));

    ASSERT(world != NULL);
    store_world_init(world);
    *state = world;
    return 0;
}

int store_world_tear_down(void **state)
{
    store_world_deinit(*state);
    free(*state);
    return 0;
}

struct org_id store_world_org(uint8_t number)
{
    struct org_id org;

    memset(org.uuid.bytes, number, sizeof(org.uuid.bytes));
    return org;
}

struct store_txn *store_world_begin(struct store_world *world)
{
    struct store_txn *txn = NULL;
    enum err err = store_begin(world->backend, STORE_WRITE, &txn);

    ASSERT(err == OK);
    return txn;
}

size_t store_world_count_rows(struct store_txn *txn, enum store_table table, struct org_id org)
{
    struct key prefix = key_org(org);
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    size_t count = 0;
    enum err err = store_cursor_init(&cursor, txn, table, key_slice(&prefix), slice_of(NULL, 0),
                                     STORE_ASCENDING);

    ASSERT(err == OK);
    while (store_cursor_next(&cursor, &key, &value) == OK) {
        count++;
    }
    store_cursor_deinit(&cursor);
    return count;
}
