/*
 * scoring_tests.h: the shared functions of this folder.
 */
#ifndef ERRATA_TESTS_UNIT_SCORING_SCORING_TESTS_H
#define ERRATA_TESTS_UNIT_SCORING_SCORING_TESTS_H

#include "store/base/random.h"
#include "tests/support/store/store_fixture.h"

struct store_txn *scoring_begin(struct store_fixture *fixture);
/* Appends an event of any kind that changes rules, without references. */
void scoring_change_random(struct store_fixture *fixture, struct store_txn *txn,
                           struct random_seeded *random, uint64_t *last_submission);
void scoring_retract(struct store_fixture *fixture, struct store_txn *txn, uint64_t seq);

int run_measures_tests(void);

#endif
