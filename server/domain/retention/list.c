/*
 * list.c: see retention_internal.h.
 */
#include "server/domain/corrections/forget.h"
#include "server/domain/retention/retention_internal.h"
#include "store/base/assert.h"

enum err retention_list_add(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                            struct retention_list *list)
{
    struct corrections_forgotten forgotten = {.may_forget = true};
    enum err err = event->content.size == 0 || event->kind != EVENT_FEEDBACK
                       ? OK
                       : corrections_check_forget(ctx, txn, event, &forgotten);

    if (err != OK || event->content.size == 0 || !forgotten.may_forget) {
        return err;
    }
    ASSERT(list->count < RETENTION_REMOVED_MAX);
    list->seqs[list->count] = event->seq;
    list->count++;
    list->example_count += forgotten.is_counted ? 1 : 0;
    return OK;
}

enum err retention_list_each(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             const struct retention_list *list, retention_event_fn *run)
{
    struct ctx inner = *ctx;
    struct arena arena;
    enum err err = OK;

    arena_init(&arena, RETENTION_EVENT_BYTES_MAX);
    inner.arena = &arena;
    for (size_t i = 0; i < list->count && err == OK; i++) {
        err = run(&inner, txn, org, list->seqs[i]);
        arena_reset(&arena);
    }
    arena_deinit(&arena);
    return err;
}
