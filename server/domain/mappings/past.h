/*
 * past.h: mappings as they were after an earlier event. The events of each mapping are followed
 * backwards; those of a customer are read once for all lines of a request. The time is not bounded,
 * so this never runs on the event loop.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_PAST_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_PAST_H

#include "server/domain/mappings/change.h"
#include "server/domain/mappings/records.h"
#include "server/domain/mappings/similar.h"

/* Maximum mappings of a customer that are examined to find those that were confirmed then. */
#define PAST_ROWS_MAX 2000

struct past {
    struct org_id org;
    uint64_t as_of_seq;
    struct arena *arena; /* memory kept from line to line */
    bool is_cut; /* a limit was reached: mappings may be missing */
    /* The mappings of one customer that were confirmed at that time; the customer id is
     * borrowed. */
    struct slice customer_id;
    struct mapping_row *confirmed;
    size_t confirmed_count;
};

/* Replaces a mapping by its state at that time; ERR_NOT_FOUND if it did not exist yet. */
MUST_CHECK enum err past_row(struct past *past, struct store_txn *txn, struct mapping_row *row);
/* Finds the mapping that was confirmed for a customer SKU at that time. ERR_NOT_FOUND if there was
 * none. */
MUST_CHECK enum err past_find_confirmed(struct past *past, struct store_txn *txn,
                                        struct slice customer_id, struct slice folded_customer_sku,
                                        struct mapping_confirmed_record *ret_confirmed);
/* Does the same as similar_find, as of that time. */
MUST_CHECK enum err past_find_similar(struct past *past, struct arena *arena, struct store_txn *txn,
                                      const struct similar_search *search,
                                      struct similar_found *ret_found);

#endif
