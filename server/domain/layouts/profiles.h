/*
 * profiles.h: what was added up over the documents of one layout, and how it is read: by fingerprint,
 * or in the order of the last document, or of the number of documents. How many events and examples
 * a layout has stands in its head row (layout_head.h), which may be older than its profile.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_PROFILES_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_PROFILES_H

#include "store/base/buffer.h"
#include "store/key.h"

#include <errata/v1/layout_service.fields.h>

/* Appends the LayoutProfile as field `field`. ERR_NOT_FOUND where no document of the layout was
 * ingested. */
MUST_CHECK enum err profile_append(struct arena *arena, struct store_txn *txn, struct org_id org,
                                   struct slice layout_fingerprint, uint32_t field,
                                   struct buffer *body);

/* One page of profiles. */
struct profile_list {
    struct org_id org;
    enum profile_order order;
    uint32_t page_size; /* from 1 */
    struct slice after; /* `last` of the page before; empty: the first page */
    struct key last; /* where this page ended */
};

/* Appends the profiles of one page. `ret_more` tells that the list goes on behind list->last. */
MUST_CHECK enum err profile_list_write(struct arena *arena, struct store_txn *txn,
                                       struct profile_list *list, struct buffer *body,
                                       bool *ret_more);

#endif
