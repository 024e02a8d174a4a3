/*
 * fragment_sets_internal.h: functions shared by fragment_sets.c and fragment_set_list.c.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_FRAGMENT_SETS_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_FRAGMENT_SETS_INTERNAL_H

#include "server/domain/reviews/fragment_sets.h"

/* Returns the seq of the set that was in use after the event `as_of_seq`; 0: the shipped one. */
MUST_CHECK enum err fragment_sets_active_seq(struct store_txn *txn, struct org_id org,
                                             uint64_t as_of_seq, uint64_t *ret_seq);
/* Reads the stored message of a set. ERR_CORRUPT for an event of another kind. */
MUST_CHECK enum err fragment_sets_read_put(struct store_txn *txn, struct org_id org, uint64_t seq,
                                           struct fragment_set_view *ret_view);
/* Encodes the list of fragments in the arena, without empty ones. */
MUST_CHECK enum err fragment_sets_put_fragments(struct arena *arena, const struct fragment_set *set,
                                                struct slice *ret_run);

#endif
