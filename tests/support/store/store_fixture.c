/*
 * store_fixture.c: see store_fixture.h.
 */
#include "tests/support/store/store_fixture.h"

#include "store/base/assert.h"
#include "store/memory/memory.h"

#include <stdlib.h>

void store_fixture_init(struct store_fixture *fixture)
{
    memset(fixture, 0, sizeof(*fixture));
    ASSERT(store_memory_open(&fixture->backend) == OK);
    arena_init(&fixture->arena, SIZE_MAX);
    fault_init(&fixture->fault, &fixture->arena);
    clock_manual_init(&fixture->clock, STORE_FIXTURE_START_US);
    random_seeded_init(&fixture->random, 1);
    fixture->ctx.arena = &fixture->arena;
    fixture->ctx.clock = &fixture->clock.clock;
    fixture->ctx.random = &fixture->random.random;
    fixture->ctx.fault = &fixture->fault;
}

void store_fixture_deinit(struct store_fixture *fixture)
{
    store_memory_close(fixture->backend);
    arena_deinit(&fixture->arena);
}

int store_fixture_set_up(void **state)
{
    struct store_fixture *fixture = calloc(1, sizeof(*fixture));

    ASSERT(fixture != NULL);
    store_fixture_init(fixture);
    *state = fixture;
    return 0;
}

int store_fixture_tear_down(void **state)
{
    store_fixture_deinit(*state);
    free(*state);
    return 0;
}

struct org_id store_fixture_org(uint8_t number)
{
    struct org_id org;

    memset(org.uuid.bytes, number, sizeof(org.uuid.bytes));
    return org;
}

struct store_txn *store_fixture_begin(struct store_fixture *fixture)
{
    struct store_txn *txn = NULL;
    enum err err = store_begin(fixture->backend, STORE_WRITE, &txn);

    ASSERT(err == OK);
    return txn;
}

size_t store_fixture_count_rows(struct store_txn *txn, enum store_table table, struct org_id org)
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
