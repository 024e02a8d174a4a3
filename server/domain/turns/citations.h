/*
 * citations.h: the exposures of strategies that a turn, or the message after it, cites. The turn
 * counts once as an outcome of each, and as a bad one while it is rejected; a change of its status
 * changes the counts.
 */
#ifndef ERRATA_SERVER_DOMAIN_TURNS_CITATIONS_H
#define ERRATA_SERVER_DOMAIN_TURNS_CITATIONS_H

#include "server/domain/turns/turns.h"

struct turn_citations {
    struct cited_exposure items[TURN_REFERENCES_MAX]; /* each reference occurs once */
    size_t count;
};

/* Reads references. Adds those that this server did not issue for strategies of the organisation to ctx->fault. */
MUST_CHECK enum err turn_citations_read(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                        const struct turn_references *references,
                                        struct turn_citations *ret_citations);

/* Counts a turn, which is not rejected, as an outcome of the exposures in a run of numbers, except
 * those that have it already. For apply. */
MUST_CHECK enum err turn_citations_count(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                         const struct turn_hash *hash, uint64_t turn_seq,
                                         struct slice run);
/* Marks the outcomes of a turn as bad (sign 1), or as good again (-1). For apply. */
MUST_CHECK enum err turn_citations_turn_bad(struct ctx *ctx, struct store_txn *txn,
                                            struct org_id org, const struct turn_record *record,
                                            int sign);

#endif
