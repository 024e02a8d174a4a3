/*
 * example_past.h: the state of an example before a retraction.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_PAST_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_PAST_H

#include "store/key.h"

/* Finds whether an example was superseded after the event `as_of_seq` by an event that was retracted later. */
MUST_CHECK enum err example_was_superseded(struct store_txn *txn, struct org_id org, uint64_t seq,
                                           uint64_t as_of_seq, bool *ret_superseded);

#endif
