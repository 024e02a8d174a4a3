/*
 * learned.h: random writes: mappings suggested, confirmed and rejected, extractions that cite
 * served examples, settings, templates, and retractions.
 */
#ifndef ERRATA_TESTS_UNIT_REPLAY_LEARNED_H
#define ERRATA_TESTS_UNIT_REPLAY_LEARNED_H

#include "store/work.h"
#include "tests/unit/replay/fixture.h"

/* Makes a write of a random kind within an open transaction. Its count is 0 if it changed
 * nothing. */
MUST_CHECK enum err learned_write(struct fixture *fixture, struct store_txn *txn, struct org_id org,
                                  struct work_result *ret_result);

#endif
