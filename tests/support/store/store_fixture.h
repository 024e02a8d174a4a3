/*
 * store_fixture.h: a memory store with a ctx whose clock and randomness a test owns.
 */
#ifndef ERRATA_TESTS_SUPPORT_STORE_STORE_FIXTURE_H
#define ERRATA_TESTS_SUPPORT_STORE_STORE_FIXTURE_H

#include "store/base/ctx.h"
#include "store/key.h"

/* Start of the clock of a fixture: 2026-01-02T03:04:05Z. */
#define STORE_FIXTURE_START_US 1767323045000000ll

struct store_fixture {
    struct store_backend *backend;
    struct arena arena;
    struct fault fault;
    struct clock_manual clock;
    struct random_seeded random;
    struct ctx ctx;
};

void store_fixture_init(struct store_fixture *fixture);
void store_fixture_deinit(struct store_fixture *fixture);
/* The same on the heap, as cmocka's setup and teardown of a test whose state is a fixture. */
int store_fixture_set_up(void **state);
int store_fixture_tear_down(void **state);
/* An organisation whose id is 16 times this byte. */
struct org_id store_fixture_org(uint8_t number);
/* A write transaction of its own; ends the test if there is none. */
struct store_txn *store_fixture_begin(struct store_fixture *fixture);
/* Returns the number of rows of an organisation in a table. */
size_t store_fixture_count_rows(struct store_txn *txn, enum store_table table, struct org_id org);

#endif
