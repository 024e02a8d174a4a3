/*
 * past.h: mappings after an event of the past. Each one's story is followed back through
 * its events; a customer's are read once for all lines of a request. It takes as long as it takes: never
 * on the loop.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_PAST_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_PAST_H

#include "server/domain/mappings/change.h"
#include "server/domain/mappings/records.h"
#include "server/domain/mappings/similar.h"

/* Mappings of a customer that are looked at for those that were confirmed then. */
#define PAST_ROWS_MAX 2000

struct past {
    struct org_id org;
    uint64_t as_of_seq;
    struct arena *arena; /* memory that is kept from line to line */
    bool is_cut; /* a limit was met: something may be missing */
    /* The mappings of one customer that were confirmed at that time; the customer id is
     * borrowed. */
    struct slice customer_id;
    struct mapping_row *confirmed;
    size_t confirmed_count;
};

/* Turns a mapping into what it was then; ERR_NOT_FOUND for one that was not made yet. */
MUST_CHECK enum err past_row(struct past *past, struct store_txn *txn, struct mapping_row *row);
/* Finds the mapping that was confirmed for a customer SKU at that time. ERR_NOT_FOUND if there was
 * none. */
MUST_CHECK enum err past_find_confirmed(struct past *past, struct store_txn *txn,
                                        struct slice customer_id, struct slice folded_customer_sku,
                                        struct mapping_confirmed_record *ret_confirmed);
/* Like similar_find, at that time. */
MUST_CHECK enum err past_find_similar(struct past *past, struct arena *arena, struct store_txn *txn,
                                      const struct similar_search *search,
                                      struct similar_found *ret_found);

#endif
