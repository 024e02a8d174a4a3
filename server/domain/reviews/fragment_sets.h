/*
 * fragment_sets.h: an organisation's versions of the wording of guidance. Each is one EVENT_FRAGMENT_SET_PUT that never
 * changes; the one in use is that of the last EVENT_FRAGMENT_SET_APPROVED, by default the one that ships with the
 * server, version 0. Only people approve. Retention does not remove them.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_FRAGMENT_SETS_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_FRAGMENT_SETS_H

#include "server/domain/events/actor.h"
#include "server/domain/reviews/fragments.h"
#include "store/log.h"
#include "store/page.h"

#include <errata/v1/fragment_set.views.h>

/* The value of `as_of_seq` for reads of the present. */
#define FRAGMENT_SETS_NOW UINT64_MAX

/* A set to store; its slices are borrowed for the duration of the call. */
struct fragment_set_draft {
    struct org_id org;
    struct event_caller caller;
    struct fragment_set set; /* seq and version are not used */
    struct slice comment;
};

/* Returns whether a fragment has from 1 to FRAGMENT_CHARACTERS_MAX characters. */
bool fragment_fits(struct slice text);
/* Adds a fault for a label that is too long or has several lines. */
void fragment_set_check(struct ctx *ctx, const struct fragment_set_draft *draft);
/* Appends the next version and applies it. */
MUST_CHECK enum err fragment_set_put(struct ctx *ctx, struct store_txn *txn,
                                     const struct fragment_set_draft *draft, uint64_t *ret_seq);

/* A decision to use a version. */
struct fragment_set_approval {
    struct org_id org;
    struct event_caller caller;
    uint32_t version;
};

/* Appends and applies the decision. ERR_DENIED for a caller without a user, ERR_NOT_FOUND for a
 * version that does not exist, ERR_PRECONDITION for the one in use. */
MUST_CHECK enum err fragment_set_approve(struct ctx *ctx, struct store_txn *txn,
                                         const struct fragment_set_approval *approval,
                                         uint64_t *ret_seq);

/* Reads the set that was in use after the event `as_of_seq`. Borrowed from the transaction. */
MUST_CHECK enum err fragment_set_active(struct store_txn *txn, struct org_id org,
                                        uint64_t as_of_seq, struct fragment_set *ret_set);
/* Returns the seq of the last approval up to the event `as_of_seq`; 0: there is none. */
MUST_CHECK enum err fragment_set_approval_find(struct store_txn *txn, struct org_id org,
                                               uint64_t as_of_seq, uint64_t *ret_approval_seq);
/* Reads the set that an event stored; the shipped one for 0. Borrowed from the transaction. */
MUST_CHECK enum err fragment_set_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                                      struct fragment_set *ret_set);

MUST_CHECK enum err fragment_set_apply(struct ctx *ctx, struct store_txn *txn,
                                       const struct event *event);

/* Returns the message of the set that an event stored or approved, as it was after that event. In
 * the arena, or borrowed from the transaction. */
MUST_CHECK enum err fragment_set_of_event(struct arena *arena, struct store_txn *txn,
                                          const struct event *event,
                                          struct fragment_set_view *ret_view);

/* Returns the message of the set that ships with the server, if no other one is in use. In the arena. */
MUST_CHECK enum err fragment_set_shipped(struct arena *arena, struct fragment_set_view *ret_view);

/* A list of all versions, newest first, the shipped one last. */
struct fragment_set_list {
    struct org_id org;
    struct page *page;
    /* State while the list is read: */
    uint64_t active_seq; /* seq of the set in use; 0: the shipped one */
    bool shipped_due; /* the shipped set is not listed yet */
    struct key at; /* the position of the last item; empty: the beginning of the list */
};

MUST_CHECK enum err fragment_set_list_begin(struct store_txn *txn, struct fragment_set_list *list);
/* Returns the next set; in the arena, or borrowed from the transaction. ERR_NOT_FOUND at the end of the page. */
MUST_CHECK enum err fragment_set_list_next(struct arena *arena, struct store_txn *txn,
                                           struct fragment_set_list *list,
                                           struct fragment_set_view *ret_view);

#endif
