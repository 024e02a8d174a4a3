/*
 * fixture.h: a store with events of every kind, written as the server writes them, and a replay of it
 * into a store of its own. Any error in it fails the test.
 */
#ifndef ERRATA_TESTS_UNIT_REPLAY_FIXTURE_H
#define ERRATA_TESTS_UNIT_REPLAY_FIXTURE_H

#include "server/domain/replay/replay.h"
#include "tests/support/store/temp_folder.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FIXTURE_ORGS 3
#define FIXTURE_START_US INT64_C(1770000000000000)

/* The back ends that a test runs over. */
enum fixture_backend {
    FIXTURE_MEMORY,
    FIXTURE_LMDB
};

/* A back end, and its folder if it has one. */
struct fixture_store {
    struct store_backend *backend;
    enum fixture_backend kind;
    struct temp_folder folder;
};

struct fixture {
    struct arena arena;
    struct clock_manual clock;
    struct random_seeded random;
    struct fault fault;
    struct ctx ctx;
    struct fixture_store stored;
    struct fixture_store made; /* opened by fixture_replay, initially empty */
    struct org_id orgs[FIXTURE_ORGS];
    uint64_t keys; /* number of idempotency keys so far */
    bool sweeps; /* some writes remove content; most are of kinds that have examples */
    struct replay_report report; /* report of the last replay */
};

void fixture_store_open(struct fixture_store *store, enum fixture_backend kind);
void fixture_store_close(struct fixture_store *store);

void fixture_init(struct fixture *fixture, enum fixture_backend kind, uint64_t seed);
void fixture_deinit(struct fixture *fixture);
/* Returns a random number below the limit. */
uint32_t fixture_draw(struct fixture *fixture, uint32_t below);
/* Makes one write to a random organisation: captures (live and backfilled, one or several),
 * documents, created and revoked tokens, and learned data. Some have an idempotency key. Advances
 * the clock. */
void fixture_write(struct fixture *fixture);
/* Makes this number of writes. */
void fixture_write_many(struct fixture *fixture, size_t count);
/* Removes the content of a few events of each organisation. */
void fixture_sweep(struct fixture *fixture);
/* Verifies into a fresh store; fills fixture->report. */
enum err fixture_verify(struct fixture *fixture);
/* Replays into a fresh store. */
enum err fixture_replay(struct fixture *fixture);
/* Verifies, and expects no difference. */
void fixture_expect_clean(struct fixture *fixture);

/* A transaction; ends the test if there is none. */
struct store_txn *fixture_begin(struct store_backend *backend, enum store_access access);
/* Copies the n-th key and value of an organisation's rows in a table; returns false if it has
 * fewer. */
bool fixture_find_row(struct fixture *fixture, enum store_table table, struct uuid org, size_t n,
                      struct slice *ret_key, struct slice *ret_value);
/* Changes one row bypassing the server. */
void fixture_put(struct fixture *fixture, enum store_table table, struct slice key,
                 struct slice value);
void fixture_del(struct fixture *fixture, enum store_table table, struct slice key);

int run_clean_tests(void);
int run_damage_tests(void);
int run_sweep_tests(void);
int run_erasure_tests(void);
int run_increment_tests(void);

#endif
