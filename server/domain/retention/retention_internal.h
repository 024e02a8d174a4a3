/*
 * retention_internal.h: the list of the events that one sweep removes the content of, for this folder's own files.
 */
#ifndef ERRATA_SERVER_DOMAIN_RETENTION_RETENTION_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_RETENTION_RETENTION_INTERNAL_H

#include "server/domain/retention/retention.h"

/* Maximum memory for one event that loses its content: the same as for applying it (corrections/apply.c). */
#define RETENTION_EVENT_BYTES_MAX (256u << 20)

/* The events of one removal, before its event is appended. */
struct retention_list {
    uint64_t seqs[RETENTION_REMOVED_MAX];
    size_t count;
    uint32_t example_count; /* examples among them that are counted */
};

/* Adds an event to the list, if it has content that can be removed. */
MUST_CHECK enum err retention_list_add(struct ctx *ctx, struct store_txn *txn,
                                       const struct event *event, struct retention_list *list);
/* Does something with one listed event; the arena of `ctx` is emptied afterwards. */
typedef enum err retention_event_fn(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                    uint64_t seq);
/* Calls `run` for each listed event, in memory for one of them, since each may be as large as a request. */
MUST_CHECK enum err retention_list_each(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                        const struct retention_list *list, retention_event_fn *run);

/* Removes the content of an event. What was made of that of a decision is taken back first, while it can be read: a replay
 * never sees it. */
MUST_CHECK enum err erasure_remove_event(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                         uint64_t seq);
/* Returns whether apply is defined for events of this kind without content. The others are texts of artifacts, and reasons
 * that the audit shows. */
bool erasure_is_of_kind(enum event_kind_number kind);

#endif
