/*
 * writer_fixture.h: a writer over a store that can fail, and requests that put one row each and
 * report their result.
 */
#ifndef ERRATA_TESTS_UNIT_STORE_WRITER_FIXTURE_H
#define ERRATA_TESTS_UNIT_STORE_WRITER_FIXTURE_H

#include "store/work.h"

#include "tests/support/store/fault_store.h"
#include "tests/support/store/store_fixture.h"

#include <stdatomic.h>

#define PUTS_MAX 5000
/* Number of the last existing organisation, from 1. */
#define WRITER_FIXTURE_ORGS 8

/* A request that puts `number` under its organisation. */
struct put_request {
    struct work_request request; /* first */
    uint32_t number;
    enum err refuse; /* result of the decision, before its put */
    enum err fail_late; /* result after its put */
    int runs;
    int dones;
    enum err result; /* result passed to `done` */
    uint64_t order; /* position of its completion, from 1 */
    uint64_t version; /* version of the table when `done` ran */
    struct writer_fixture *fixture;
};

struct writer_fixture {
    struct store_fixture store;
    struct fault_store fault;
    const struct store_backend_ops *inner_ops;
    struct store_backend_ops ops; /* the fault store's, with a slow commit */
    int64_t sync_us; /* duration of a commit, */
    int64_t page_us; /* further duration for each change */
    int64_t run_us; /* duration of a run */
    struct writer *writer;
    atomic_uint wakes;
    uint64_t done_count;
    struct put_request *puts;
};

/* A manual writer over a memory store after a fault store. */
void writer_fixture_init(struct writer_fixture *fixture);
void writer_fixture_deinit(struct writer_fixture *fixture);
/* A writer on the heap, as cmocka's setup and teardown of a test whose state is a fixture. */
int writer_fixture_set_up(void **state);
int writer_fixture_tear_down(void **state);
/* Creates a log in a store for each existing organisation; the fixture's own store has them. */
void writer_fixture_add_orgs(struct writer_fixture *fixture, struct store_backend *backend);
/* Prepares request `number` of the organisation; nothing is submitted. */
struct put_request *writer_fixture_put(struct writer_fixture *fixture, uint32_t number,
                                       uint8_t org);
enum err writer_fixture_submit(struct writer_fixture *fixture, uint32_t number, uint8_t org);
/* Runs batches and completions until nothing waits. */
void writer_fixture_run(struct writer_fixture *fixture);
/* Returns whether the row that a request puts is stored. */
bool writer_fixture_has(struct store_backend *backend, uint32_t number, uint8_t org);

#endif
