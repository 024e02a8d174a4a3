/*
 * example_past.h: what an example was before a retraction.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_PAST_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_PAST_H

#include "store/key.h"

/* Finds whether an example had been superseded after the event `as_of_seq`, until a later retraction of the event that
 * superseded it. */
MUST_CHECK enum err example_was_superseded(struct store_txn *txn, struct org_id org, uint64_t seq,
                                           uint64_t as_of_seq, bool *ret_superseded);

#endif
