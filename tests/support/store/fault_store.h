/*
 * fault_store.h: a back end around another one that fails when a test says so: each kind of call is
 * counted, and from a given call on a given number of them fail with a given error.
 */
#ifndef ERRATA_TESTS_SUPPORT_STORE_FAULT_STORE_H
#define ERRATA_TESTS_SUPPORT_STORE_FAULT_STORE_H

#include "store/backend_ops.h"

enum fault_call {
    FAULT_BEGIN,
    FAULT_COMMIT,
    FAULT_GET,
    FAULT_CHANGE, /* put, append and del */
    FAULT_CURSOR, /* open, seek, last, next and prev */
    FAULT_RESTORE,
    FAULT_CALL_COUNT
};

/* Faults of one kind of call. */
struct fault_plan {
    uint64_t calls; /* number of calls so far */
    uint64_t first; /* the first that fails, from 1; 0: none */
    uint64_t count; /* number of failures from then on */
    enum err err;
};

struct fault_store {
    struct store_backend backend; /* must be the first member: pass &fault.backend */
    struct store_backend *inner; /* not owned */
    struct fault_plan plans[FAULT_CALL_COUNT];
};

void fault_store_init(struct fault_store *fault, struct store_backend *inner);
/* The next `count` calls of this kind, after `skip` good ones, fail with `err`. */
void fault_store_plan(struct fault_store *fault, enum fault_call call, uint64_t skip,
                      uint64_t count, enum err err);

#endif
