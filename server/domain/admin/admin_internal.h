/*
 * admin_internal.h: how the files of this folder append events.
 */
#ifndef ERRATA_SERVER_DOMAIN_ADMIN_ADMIN_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_ADMIN_ADMIN_INTERNAL_H

#include "server/domain/admin/admin.h"
#include "server/domain/events/draft.h"

/* Begins an event of the actor, without stamp, subjects and facts. */
void admin_draft_fill(struct event_draft *draft, struct org_id org, enum event_kind_number kind,
                      const struct admin_actor *actor);
/* Appends one event, applies it, and reports what was written. */
MUST_CHECK enum err admin_draft_append(struct ctx *ctx, struct store_txn *txn,
                                       struct event_draft *draft, struct work_result *ret_result);

#endif
