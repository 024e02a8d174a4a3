/*
 * imported.c: removes the content of the events that an imported removal lists. An export reads its events one after another, so
 * the content of an event may be in it although a removal that was recorded meanwhile follows.
 */
#include "server/domain/retention/retention_internal.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

/* Removes the content of a listed event, if it has any: nothing that a live removal would have kept. */
static enum err remove_content(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct retention_list list = {.count = 0};
    enum err err = retention_list_add(ctx, txn, event, &list);

    if (err != OK || event->content.size == 0) {
        return err;
    }
    return list.count == 1 ? erasure_remove_event(ctx, txn, event->org, event->seq) : ERR_CORRUPT;
}

static enum err remove_swept(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             uint64_t seq)
{
    struct event event;
    enum err err = log_read_copy(ctx->arena, txn, org, seq, &event);

    if (err == OK && removal_class_of(event.kind) == CONTENT_CLASS_UNSPECIFIED) {
        err = ERR_CORRUPT;
    }
    return err != OK ? err : remove_content(ctx, txn, &event);
}

static enum err remove_erased(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                              uint64_t seq)
{
    struct event event;
    enum err err = log_read_copy(ctx->arena, txn, org, seq, &event);

    if (err == OK && !erasure_is_of_kind(event.kind)) {
        err = ERR_CORRUPT;
    }
    return err != OK ? err : remove_content(ctx, txn, &event);
}

/* Reads the numbers that a removal lists. */
static enum err read_seqs(const struct event *event, struct slice *ret_seqs)
{
    struct content_swept_view swept;
    struct content_erased_view erased;
    enum err err = OK;

    if (event->kind == EVENT_CONTENT_SWEPT) {
        err = content_swept_view_read(event->facts, &swept);
        *ret_seqs = swept.seqs.run;
    } else {
        err = content_erased_view_read(event->facts, &erased);
        *ret_seqs = erased.seqs.run;
    }
    return err;
}

enum err retention_remove_imported(struct ctx *ctx, struct store_txn *txn,
                                   const struct event *event)
{
    struct retention_list *list = NULL;
    struct slice seqs = {NULL, 0};
    uint64_t seq = 0;
    enum err err = OK;

    if (!retention_applies(event->kind)) {
        return OK;
    }
    list = arena_calloc(ctx->arena, 1, sizeof(*list));
    err = list == NULL ? ERR_MEMORY : read_seqs(event, &seqs);
    while (err == OK && view_next_number(&seqs, &seq)) {
        if (seq >= event->seq || list->count == RETENTION_REMOVED_MAX) {
            return ERR_CORRUPT;
        }
        list->seqs[list->count] = seq;
        list->count++;
    }
    return err != OK ? err
                     : retention_list_each(ctx, txn, event->org, list,
                                           event->kind == EVENT_CONTENT_SWEPT ? remove_swept
                                                                              : remove_erased);
}
