/*
 * apply.c: applies the removal of content: the rows that were made of it go. In a replay they do not exist, and only
 * counts are lowered and rows of documents made again.
 */
#include "server/domain/corrections/forget.h"
#include "server/domain/retention/retention.h"
#include "store/base/assert.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

/* Maximum memory for one event: its row and its decoded members. */
#define EVENT_BYTES_MAX (4u << 20)

/* Reads an event without content into the arena, since puts follow. */
static enum err read_event(struct arena *arena, struct store_txn *txn, struct org_id org,
                           uint64_t seq, struct event *ret_event)
{
    struct key key = key_event(org, seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EVENT, key_slice(&key), &value);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (!arena_copy(arena, value, &value)) {
        return ERR_MEMORY;
    }
    err = log_decode(arena, org, seq, value, ret_event);
    return err == OK && !ret_event->content_removed ? ERR_CORRUPT : err;
}

/* Removes the rows that were made of an event's content. */
static enum err forget(struct ctx *ctx, struct store_txn *txn, struct arena *arena,
                       struct org_id org, uint64_t seq)
{
    struct event event;
    enum err err = read_event(arena, txn, org, seq, &event);

    return err != OK ? err : corrections_forget(ctx, txn, &event);
}

static enum err apply_swept(struct ctx *ctx, struct store_txn *txn, struct arena *arena,
                            const struct event *event)
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
        err = seq <= facts.floor_seq ? forget(ctx, txn, arena, event->org, seq) : ERR_CORRUPT;
        arena_reset(arena);
    }
    return err != OK ? err
                     : removal_put_floor(txn, event->org, facts.content_class, facts.floor_seq);
}

enum err retention_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct arena arena;
    enum err err = OK;

    ASSERT(retention_applies(event->kind));
    arena_init(&arena, EVENT_BYTES_MAX);
    err = apply_swept(ctx, txn, &arena, event);
    arena_deinit(&arena);
    return err;
}
