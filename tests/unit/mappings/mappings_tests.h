/*
 * mappings_tests.h: a store in memory with one organisation, where SKUs can be confirmed; and the groups
 * of this folder.
 */
#ifndef ERRATA_TESTS_UNIT_MAPPINGS_MAPPINGS_TESTS_H
#define ERRATA_TESTS_UNIT_MAPPINGS_MAPPINGS_TESTS_H

#include "server/domain/mappings/mappings.h"
#include "server/domain/mappings/similar.h"

struct fixture {
    struct arena arena;
    struct clock_manual clock;
    struct random_seeded random;
    struct fault fault;
    struct ctx ctx;
    struct store_backend *backend;
    struct org_id org;
};

void fixture_init(struct fixture *fixture);
void fixture_deinit(struct fixture *fixture);
/* Frees the results of the last calls. */
void fixture_forget(struct fixture *fixture);
struct store_txn *fixture_begin(struct fixture *fixture, enum store_access access);
/* Judges the mapping of a customer's SKU, within a transaction. */
void fixture_judge(struct fixture *fixture, struct store_txn *txn,
                   enum feedback_event_type event_type, const char *customer_sku,
                   const char *internal_sku);
/* Returns a random number below `limit`, from the fixture's source. */
size_t fixture_draw(struct fixture *fixture, size_t limit);

#define FIXTURE_CUSTOMER "customer"

int run_sku_tests(void);
int run_trigram_tests(void);
int run_block_tests(void);
int run_similar_tests(void);

#endif
