/*
 * sunset.h: proposes to end guidelines that changed nothing. They stay in effect; only a person retires one.
 */
#ifndef ERRATA_SERVER_DOMAIN_GENERATION_SUNSET_H
#define ERRATA_SERVER_DOMAIN_GENERATION_SUNSET_H

#include "server/domain/generation/generation.h"

/* Examines the next guideline of the batch's organisation, and proposes its sunset if it changed nothing; `ret_seq` is 0 if
 * not. Sets `batch->has_ended` after the last. */
MUST_CHECK enum err sunset_step(struct ctx *ctx, struct store_txn *txn,
                                struct generation_batch *batch, uint64_t *ret_seq);

#endif
