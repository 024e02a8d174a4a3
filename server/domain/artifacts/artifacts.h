/*
 * artifacts.h: how often each artifact was exposed, and the outcomes that cited it, counted when
 * they are applied: a report reads one row, even for an artifact with a million exposures. The row
 * also names the newest outcomes. A subtraction reverses an addition exactly. The caller decides
 * whether an outcome is bad, except for mappings: a use is bad if the mapping was withdrawn, that
 * is rejected or superseded, after it was served. Only apply writes these rows.
 */
#ifndef ERRATA_SERVER_DOMAIN_ARTIFACTS_ARTIFACTS_H
#define ERRATA_SERVER_DOMAIN_ARTIFACTS_ARTIFACTS_H

#include "server/domain/artifacts/records.h"
#include "store/base/ctx.h"
#include "store/log.h"

#include <errata/v1/extraction.fields.h>

/* The changes of an artifact's counts; each is -1, 0 or 1. */
struct artifact_change {
    enum experiment_arm arm; /* arm of the exposure; CONTROL: it was held out */
    bool is_shadow; /* a guideline that was in SHADOW, so it was not served; it counts in no arm */
    int exposures;
    int outcomes;
    int bad; /* number of bad outcomes */
    bool is_use; /* set for a mapping: `bad` follows from `as_of_seq` */
    uint64_t as_of_seq; /* of a use: the last event that was stored when the exposure was issued */
    uint64_t outcome_seq; /* seq of the event that is the outcome, if `outcomes` is not 0 */
};

/* Reads the row of an artifact, by the number of the event that made it; zeros and OK if it has
 * none. */
MUST_CHECK enum err artifact_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                                  struct artifact_record *ret_record);
/* Changes the counts of an artifact. ERR_CORRUPT if more is subtracted than was added. */
MUST_CHECK enum err artifact_count(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                   uint64_t seq, const struct artifact_change *change);
/* Records that the event `event_seq` withdrew a mapping: all outcomes so far belong to earlier
 * exposures, so all of them become bad. */
MUST_CHECK enum err artifact_withdraw(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                      uint64_t seq, uint64_t event_seq);

#endif
