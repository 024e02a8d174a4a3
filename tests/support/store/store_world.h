/*
 * store_world.h: a memory store with a ctx whose clock and randomness a test owns.
 */
#ifndef ERRATA_TESTS_SUPPORT_STORE_STORE_WORLD_H
#define ERRATA_TESTS_SUPPORT_STORE_STORE_WORLD_H

#include "store/base/ctx.h"
#include "store/key.h"

/* Start of the clock of a world: 2026-01-02T03:04:05Z. */
#define STORE_WORLD_START_US 1767323045000000ll

struct store_world {
    struct store_backend *backend;
    struct arena arena;
    struct fault fault;
    struct clock_manual clock;
    struct random_seeded random;
    struct ctx ctx;
};

void store_world_init(struct store_world *world);
void store_world_deinit(struct store_world *world);
/* The same on the heap, as cmocka's setup and teardown of a test whose state is a world. */
int store_world_set_up(void **state);
int store_world_tear_down(void **state);
/* An organisation whose id is 16 times this byte. */
struct org_id store_world_org(uint8_t number);
/* A write transaction of its own; ends the test if there is none. */
struct store_txn *store_world_begin(struct store_world *world);
/* Returns the number of rows of an organisation in a table. */
size_t store_world_count_rows(struct store_txn *txn, enum store_table table, struct org_id org);

#endif
