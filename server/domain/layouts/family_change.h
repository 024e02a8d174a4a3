/*
 * family_change.h: users' changes of layout families, as events. The event records the result; apply compares
 * no pages.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_CHANGE_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_CHANGE_H

#include "store/base/ctx.h"
#include "store/log.h"

#include <errata/v1/event.views.h>

/* The families to merge, and the caller. */
struct family_merge {
    struct slice actor_user_id;
    bool by_program; /* the token names no user */
    struct uuid from;
    struct uuid into;
};

/* Appends an EVENT_FAMILIES_MERGED and applies it. Returns, with a message, ERR_NOT_FOUND if this organisation
 * has no such family, ERR_INVALID if both ids are equal, ERR_PRECONDITION if the families cannot be merged. */
MUST_CHECK enum err family_merge(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                 const struct family_merge *merge, uint64_t *ret_seq);
/* The facts of such an event, borrowed from it. ERR_CORRUPT for another event. */
MUST_CHECK enum err family_merge_of_event(const struct event *event,
                                          struct families_merged_view *ret_facts);
/* Applies such an event to the rows. */
MUST_CHECK enum err family_merge_apply(struct ctx *ctx, struct store_txn *txn,
                                       const struct event *event);

/* The documents of a family to move into a new one, or the alias to make a separate family again, and the caller. */
struct family_split {
    struct slice actor_user_id;
    bool by_program; /* the token names no user */
    struct uuid family; /* if there are no documents, the alias */
    const struct slice *document_ids;
    size_t document_count; /* at most FAMILY_PART_DOCUMENTS_MAX (family_part.h) */
};

/* Appends an EVENT_FAMILY_SPLIT and applies it. ERR_NOT_FOUND for an id that is not of a family or a document of this
 * organisation, ERR_INVALID for a document that is given twice, ERR_PRECONDITION for a family that is not an alias and
 * for documents that cannot be moved: all with a message. */
MUST_CHECK enum err family_split(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                 const struct family_split *change, uint64_t *ret_seq);
/* The facts of such an event, borrowed from it. ERR_CORRUPT for another event. */
MUST_CHECK enum err family_split_of_event(const struct event *event,
                                          struct family_split_view *ret_facts);
/* Applies such an event to the rows. */
MUST_CHECK enum err family_split_apply(struct ctx *ctx, struct store_txn *txn,
                                       const struct event *event);

#endif
