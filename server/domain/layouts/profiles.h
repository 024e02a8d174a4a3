/*
 * profiles.h: reads layout profiles, the sums over the documents of one layout: by fingerprint, or in the order
 * of the last document or of the number of documents. The numbers of events and examples of a layout are in its
 * head row (layout_head.h), which may be older than the profile.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_PROFILES_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_PROFILES_H

#include "server/domain/layouts/family_members.h"
#include "server/domain/layouts/profile_rows.h"
#include "store/id_prefix.h"

#include <errata/v1/layout_service.fields.h>

/* Returns ERR_NOT_FOUND if no document of the layout was ingested. */
MUST_CHECK enum err profile_find(struct arena *arena, struct store_txn *txn, struct org_id org,
                                 struct slice layout_fingerprint, struct profile *ret_profile);

/* A list of profiles. */
struct profile_list {
    struct org_id org;
    enum profile_order order;
    struct id_prefix fingerprint_prefix; /* without digits: all */
    const struct family_members *family; /* only layouts with documents in this family; NULL: all */
    struct page *page;
};

MUST_CHECK enum err profile_list_begin(struct store_txn *txn, const struct profile_list *list);
/* Returns the next profile, borrowed from the transaction and the arena. ERR_NOT_FOUND at the end of the page.
 */
MUST_CHECK enum err profile_list_next(struct arena *arena, struct store_txn *txn,
                                      const struct profile_list *list, struct profile *ret_profile);

#endif
