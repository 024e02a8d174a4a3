/*
 * apply.c: applies the removal of content: the rows that were made of it go. In a replay they do not exist, and only
 * counts are lowered and rows of documents made again.
 */
#include "server/domain/corrections/forget.h"
#include "server/domain/retention/retention_internal.h"
#include "server/domain/turns/vector_row.h"
#include "store/base/assert.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

/* Removes the rows that were made of an event's content; the arena is emptied afterwards. */
static enum err forget(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq)
{
    struct event event;
    enum err err = log_read_copy(ctx->arena, txn, org, seq, &event);

    if (err == OK && !event.content_removed) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = corrections_forget(ctx, txn, &event);
    }
    if (err == OK && event.kind == EVENT_TURN_RECORDED) {
        err = turn_vector_del(txn, org, seq);
    }
    arena_reset(ctx->arena);
    return err;
}

static enum err apply_swept(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct content_swept_view facts;
    struct slice seqs = {NULL, 0};
    uint64_t seq = 0;
    enum err err = content_swept_view_read(event->facts, &facts);

    if (err == OK && facts.floor_seq >= event->seq) {
        err = ERR_CORRUPT;
    }
    seqs = facts.seqs.run;
    while (err == OK && view_next_number(&seqs, &seq)) {
        err = seq <= facts.floor_seq ? forget(ctx, txn, event->org, seq) : ERR_CORRUPT;
    }
    return err != OK ? err
                     : removal_put_floor(txn, event->org, facts.content_class, facts.floor_seq);
}

/* The events may be above the floor of their class, so each is marked. */
static enum err apply_erased(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct content_erased_view facts;
    struct slice seqs = {NULL, 0};
    uint64_t seq = 0;
    enum err err = content_erased_view_read(event->facts, &facts);

    seqs = facts.seqs.run;
    while (err == OK && view_next_number(&seqs, &seq)) {
        err = seq < event->seq ? forget(ctx, txn, event->org, seq) : ERR_CORRUPT;
        if (err == OK) {
            err = removal_put_erased(txn, event->org, seq, event->seq);
        }
    }
    return err;
}

enum err retention_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct ctx inner = *ctx;
    struct arena arena;
    enum err err = OK;

    ASSERT(retention_applies(event->kind));
    arena_init(&arena, RETENTION_EVENT_BYTES_MAX);
    inner.arena = &arena;
    err = event->kind == EVENT_CONTENT_SWEPT ? apply_swept(&inner, txn, event)
                                             : apply_erased(&inner, txn, event);
    arena_deinit(&arena);
    return err;
}
