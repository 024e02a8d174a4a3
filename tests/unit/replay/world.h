/*
 * world.h: a store with events of every kind, written as the server writes them, and a replay of it
 * into a store of its own. Everything that goes wrong in it fails the test.
 */
#ifndef ERRATA_TESTS_UNIT_REPLAY_WORLD_H
#define ERRATA_TESTS_UNIT_REPLAY_WORLD_H

#include "server/domain/replay/replay.h"
#include "tests/support/store/temp_folder.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define WORLD_ORGS 3
#define WORLD_START_US INT64_C(1770000000000000)

/* The back ends that a test runs over. */
enum world_backend {
    WORLD_MEMORY,
    WORLD_LMDB
};

/* A back end and, where it has one, its folder. */
struct world_store {
    struct store_backend *backend;
    enum world_backend kind;
    struct temp_folder folder;
};

struct world {
    struct arena arena;
    struct clock_manual clock;
    struct random_seeded random;
    struct fault fault;
    struct ctx ctx;
    struct world_store stored;
    struct world_store made; /* opened by world_replay, initially empty */
    struct org_id orgs[WORLD_ORGS];
    uint64_t keys; /* number of idempotency keys so far */
    struct replay_report report; /* report of the last replay */
};

void world_store_open(struct world_store *store, enum world_backend kind);
void world_store_close(struct world_store *store);

void world_init(struct world *world, enum world_backend kind, uint64_t seed);
void world_deinit(struct world *world);
/* A random number below. */
uint32_t world_draw(struct world *world, uint32_t below);
/* Makes one write to a random organisation: captures (live and backfilled, one or several),
 * documents, created and revoked tokens, and learned data; some with an idempotency key. Advances
 * the clock. */
void world_write(struct world *world);
/* Makes this number of writes. */
void world_write_many(struct world *world, size_t count);
/* Verifies into a fresh store; fills world->report. */
enum err world_verify(struct world *world);
/* Replays into a fresh store. */
enum err world_replay(struct world *world);
/* Verifies, and expects no difference. */
void world_expect_clean(struct world *world);

/* A transaction; ends the test if there is none. */
struct store_txn *world_begin(struct store_backend *backend, enum store_access access);
/* Copies of the n-th key and value of an organisation's rows in a table; false if it has fewer. */
bool world_find_row(struct world *world, enum store_table table, struct uuid org, size_t n,
                    struct slice *ret_key, struct slice *ret_value);
/* Changes one row bypassing the server. */
void world_put(struct world *world, enum store_table table, struct slice key, struct slice value);
void world_del(struct world *world, enum store_table table, struct slice key);

int run_clean_tests(void);
int run_damage_tests(void);

#endif
