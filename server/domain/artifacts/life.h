/*
 * life.h: the state and the version of an artifact, and since when it has them. Every change is kept: one row for each
 * event that made one, so that a read as of an earlier event finds what was in effect then. The newest is part of the
 * artifact's own row, too, which its capability reads and writes. A capability declares only which
 * events create and change an artifact. Rows are written by apply only.
 */
#ifndef ERRATA_SERVER_DOMAIN_ARTIFACTS_LIFE_H
#define ERRATA_SERVER_DOMAIN_ARTIFACTS_LIFE_H

#include "server/domain/artifacts/records.h"
#include "store/base/ctx.h"
#include "store/log.h"
#include "store/scan.h"

/* Returns version 1 of an artifact that an event creates. */
struct artifact_life_record artifact_life_begin(enum artifact_state state, uint64_t event_seq);
/* Changes the state by a decision of a person. */
void artifact_life_decide(struct artifact_life_record *life, enum artifact_state state,
                          uint64_t event_seq);
/* Changes the state according to its evidence; a state that a person set may change again. */
void artifact_life_derive(struct artifact_life_record *life, enum artifact_state state,
                          uint64_t event_seq);
/* Holds an artifact back, or stops that. */
void artifact_life_hold(struct artifact_life_record *life, bool is_held, uint64_t event_seq);
/* Begins a new version, whose content is in an event. */
void artifact_life_renew(struct artifact_life_record *life, uint64_t event_seq);
/* Returns whether the artifact has an effect: ACTIVE or SUNSET_PROPOSED, and not held back. */
bool artifact_life_is_live(const struct artifact_life_record *life);
/* Returns whether a life is unchanged; one event may change it twice. */
bool artifact_life_is_same(const struct artifact_life_record *before,
                           const struct artifact_life_record *life);

/* Writes the row of a change, and sets the end of the previous row; `before` is NULL for a new
 * artifact. `artifact_seq`: the number of the event that created the artifact. */
MUST_CHECK enum err artifact_life_put(struct arena *arena, struct store_txn *txn, struct org_id org,
                                      uint64_t artifact_seq,
                                      const struct artifact_life_record *before,
                                      const struct artifact_life_record *life);
/* Reads the state and version of an artifact after the event `as_of_seq`. ERR_NOT_FOUND if it did not exist yet. */
MUST_CHECK enum err artifact_life_read_as_of(struct store_txn *txn, struct org_id org,
                                             uint64_t artifact_seq, uint64_t as_of_seq,
                                             struct artifact_life_record *ret_life);

/* Scans all changes of an artifact, newest first; artifact_life_next returns ERR_NOT_FOUND after the oldest. */
MUST_CHECK enum err artifact_life_scan(struct scan *scan, struct store_txn *txn, struct org_id org,
                                       uint64_t artifact_seq);
MUST_CHECK enum err artifact_life_next(struct scan *scan, struct artifact_life_record *ret_life);

#endif
