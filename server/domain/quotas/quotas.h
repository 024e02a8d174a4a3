/*
 * quotas.h: the limits of organisations and tokens, as events: each change is one EVENT_QUOTA_SET,
 * whose facts are a QuotaSet with all limits before and after it. A holder of a quota, an
 * organisation or one of its tokens, has a row while any of its limits is set. Who has used how
 * much of a limit is not stored: server/auth/quota_book.h.
 */
#ifndef ERRATA_SERVER_DOMAIN_QUOTAS_QUOTAS_H
#define ERRATA_SERVER_DOMAIN_QUOTAS_QUOTAS_H

#include "server/domain/admin/admin.h"
#include "server/domain/quotas/records.h"
#include "store/log.h"
#include "store/page.h"
#include "store/work.h"

#include <errata/v1/quota.views.h>

/* Who has a quota. */
struct quota_holder {
    struct org_id org;
    bool is_token; /* the token `key_id` of it; else the organisation itself */
    uint32_t key_id; /* 0 unless is_token */
};

/* Reads the limits of a holder; zeros if it has none. */
MUST_CHECK enum err quota_read(struct store_txn *txn, const struct quota_holder *holder,
                               struct quota_record *ret_quota);
/* ERR_QUOTA if an organisation stores at least this many bytes; 0: it may store any number. */
MUST_CHECK enum err quota_check_stored_bytes(struct store_txn *txn, struct org_id org,
                                             uint64_t stored_bytes_max);
/* Returns the limits as a message, which has only those that are set. */
struct quota_view quota_view_of(const struct quota_record *quota);
/* Changes the limits that `change` has; 0 ends a limit. Equal limits append nothing: a count of 0, and an event that set
 * them as first_seq (0: none, there is no limit). ERR_NOT_FOUND for a token that the organisation
 * does not have; ERR_INVALID for a change of nothing, or of the stored bytes of a token. */
MUST_CHECK enum err quota_set(struct ctx *ctx, struct store_txn *txn,
                              const struct admin_actor *actor, const struct quota_holder *holder,
                              const struct quota_view *change, struct work_result *ret_result);
/* Gives a token that replaces another one its limits: appends to the write `result`, or nothing if
 * the old one has none. Both belong to `org`. */
MUST_CHECK enum err quota_inherit(struct ctx *ctx, struct store_txn *txn,
                                  const struct admin_actor *actor, struct org_id org,
                                  const uint32_t key_ids[2], struct work_result *result);
/* Returns the bytes of the Quota after an EVENT_QUOTA_SET. ERR_CORRUPT for other facts. */
MUST_CHECK enum err quota_after_event(const struct event *event, struct slice *ret_quota);

/* A list: the organisation's own quota, then those of its tokens by key id. */
struct quota_list {
    struct org_id org;
    struct page *page;
    struct key first; /* position of the organisation's own quota */
};

MUST_CHECK enum err quota_list_begin(struct store_txn *txn, struct org_id org, struct page *page,
                                     struct quota_list *ret_list);
/* Returns the next quota; the organisation's also without any limit. ERR_NOT_FOUND at the end of
 * the page. */
MUST_CHECK enum err quota_list_next(struct store_txn *txn, struct quota_list *list,
                                    struct quota_holder *ret_holder,
                                    struct quota_record *ret_quota);

#endif
