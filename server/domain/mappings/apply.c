/*
 * apply.c: applies stored events to mappings. Rows are copied from the event's facts (change.h);
 * the row of the confirmed mapping of a SKU, and the blocks for the search of similar SKUs, are
 * updated from its status. Only feedback events that MappingService stored change a mapping.
 */

#include "server/domain/artifacts/artifacts.h"
#include "server/domain/mappings/change.h"
#include "server/domain/mappings/keys.h"
#include "server/domain/mappings/records.h"
#include "server/domain/mappings/similar.h"
#include "server/domain/mappings/uses.h"
#include "store/base/assert.h"

#include <event_apply.h>

/* Memory limit for applying one event, with a large margin: most is needed for the rows of 1,500
 * applied mappings. */
#define APPLY_BYTES_MAX (16u << 20)

/* A mapping before and after an event. */
struct moving {
    bool existed;
    struct mapping_row old; /* texts allocated in the arena; zeros if the mapping did not exist */
    struct mapping_row now;
};

static bool was_confirmed(const struct moving *moving)
{
    return moving->existed && moving->old.record.status == MAPPING_STATUS_CONFIRMED;
}

static bool is_confirmed(const struct moving *moving)
{
    return moving->now.record.status == MAPPING_STATUS_CONFIRMED;
}

/* Returns the time at which the current status of a mapping was decided. A judgement has precedence
 * over suggestions, regardless of their times; among judgements the newest counts, and a judgement
 * that is not backfilled is always the newest. */
static int64_t settled_at(const struct event *event, const struct moving *moving)
{
    const struct mapping_record *old = &moving->old.record;
    bool is_newer = !moving->existed || old->status == MAPPING_STATUS_SUGGESTED ||
                    event->source != SOURCE_BACKFILL || event->created_at_us >= old->settled_at_us;

    return is_newer ? event->created_at_us : old->settled_at_us;
}

static enum err read_moving(struct arena *arena, struct store_txn *txn, const struct event *event,
                            const struct mapping_change *change, struct moving *moving)
{
    enum err err = mapping_row_read(txn, event->org, change->row.seq, &moving->old);

    memset(&moving->now, 0, sizeof(moving->now));
    moving->existed = err == OK;
    if (err == OK) {
        err = mapping_row_keep(arena, &moving->old);
    }
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    if (moving->existed ? change->previous_seq != moving->old.record.last_seq
                        : change->previous_seq != 0 || change->row.seq != event->seq) {
        return ERR_CORRUPT;
    }
    moving->now = change->row;
    if (moving->existed) {
        moving->now.record.similar_block = moving->old.record.similar_block;
        moving->now.record.settled_at_us = moving->old.record.settled_at_us;
    }
    return OK;
}

/* Updates the blocks of similar SKUs. A mapping that supersedes another one also takes over its
 * entry, since both have the same SKU. If it was rejected after it superseded the other one, the
 * entry is removed. */
static enum err move_similar(struct arena *arena, struct store_txn *txn, struct org_id org,
                             struct moving *judged, struct moving *superseded)
{
    bool enters = is_confirmed(judged) && !was_confirmed(judged);
    bool leaves = was_confirmed(judged) && !is_confirmed(judged);
    struct mapping_record *now = &judged->now.record;
    enum err err = OK;

    if (superseded != NULL &&
        (was_confirmed(judged) || !was_confirmed(superseded) || is_confirmed(superseded))) {
        return ERR_CORRUPT;
    }
    if (superseded != NULL && !enters) {
        superseded->now.record.similar_block = 0;
        return similar_leave(arena, txn, org, &superseded->old);
    }
    if (superseded != NULL) {
        now->similar_block = superseded->old.record.similar_block;
        superseded->now.record.similar_block = 0;
        return similar_take_place(arena, txn, org, &superseded->old, judged->now.seq);
    }
    if (enters) {
        return similar_enter(arena, txn, org, &judged->now, &now->similar_block);
    }
    if (leaves) {
        err = similar_leave(arena, txn, org, &judged->old);
        now->similar_block = 0;
    }
    return err;
}

/* Updates the confirmed mapping of the customer SKU; `was_taken`: another one was confirmed
 * before. */
static enum err move_confirmed(struct arena *arena, struct store_txn *txn, struct org_id org,
                               const struct moving *judged, const struct mapping_pair *pair,
                               bool was_taken)
{
    const struct mapping_confirmed_record confirmed = {
        .seq = judged->now.seq,
        .version = judged->now.record.version,
        .id = judged->now.record.id,
        .internal_sku = judged->now.record.internal_sku,
    };
    struct key key = key_mapping_confirmed(org, pair->customer_id, pair->folded_customer_sku);
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (is_confirmed(judged)) {
        err = record_encode_mapping_confirmed(arena, &confirmed, &value);
        return err != OK ? err : store_put(txn, TABLE_MAPPING_CONFIRMED, key_slice(&key), value);
    }
    if (was_taken) {
        err = store_del(txn, TABLE_MAPPING_CONFIRMED, key_slice(&key));
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Writes the rows by which a mapping is found; they never change. */
static enum err enter_lists(struct store_txn *txn, struct org_id org, uint64_t mapping_seq,
                            const struct mapping_pair *pair)
{
    const struct slice nothing = {NULL, 0};
    struct slice sku = pair->folded_customer_sku;
    struct key of_customer = key_mapping_sku(org, pair->customer_id, sku, mapping_seq);
    struct key of_internal = key_mapping_internal(org, pair->folded_internal_sku, sku, mapping_seq);
    struct key of_all = key_mapping_all(org, sku, mapping_seq);
    struct key unique = key_mapping_pair(org, pair->customer_id, sku, pair->folded_internal_sku);
    enum err err = store_put(txn, TABLE_MAPPING_SKU, key_slice(&of_customer), nothing);

    if (err == OK) {
        err = store_put(txn, TABLE_MAPPING_INTERNAL, key_slice(&of_internal), nothing);
    }
    if (err == OK) {
        err = store_put(txn, TABLE_MAPPING_ALL, key_slice(&of_all), nothing);
    }
    return err != OK ? err : log_put_id_row(txn, TABLE_MAPPING_PAIR, &unique, mapping_seq);
}

/* Writes a mapping. If it is no longer confirmed, its earlier uses become bad outcomes. */
static enum err write_moving(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                             const struct moving *moving)
{
    enum err err = mapping_row_write(ctx->arena, txn, event->org, &moving->now);

    if (err == OK && was_confirmed(moving) && !is_confirmed(moving)) {
        err = artifact_withdraw(ctx, txn, event->org, moving->now.seq, event->seq);
    }
    return err;
}

static enum err apply_changes(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                              const struct mapping_changes *changes)
{
    struct moving moving[MAPPING_CHANGES_MAX];
    struct moving *judged = &moving[0];
    struct mapping_pair pair;
    enum err err = OK;

    for (size_t i = 0; i < changes->count && err == OK; i++) {
        err = read_moving(ctx->arena, txn, event, &changes->items[i], &moving[i]);
    }
    if (err == OK) {
        err = mapping_pair_of(ctx->arena, &judged->now.record, &pair);
    }
    if (err != OK) {
        return err;
    }
    judged->now.record.settled_at_us = settled_at(event, judged);
    err = move_similar(ctx->arena, txn, event->org, judged, changes->count > 1 ? &moving[1] : NULL);
    if (err == OK) {
        err = move_confirmed(ctx->arena, txn, event->org, judged, &pair,
                             was_confirmed(judged) || changes->count > 1);
    }
    if (err == OK && !judged->existed) {
        err = enter_lists(txn, event->org, judged->now.seq, &pair);
    }
    for (size_t i = 0; i < changes->count && err == OK; i++) {
        err = write_moving(ctx, txn, event, &moving[i]);
    }
    return err;
}

enum err mappings_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct ctx inner = *ctx;
    struct mapping_changes changes;
    struct arena arena;
    enum err err = mapping_changes_read(event, &changes);

    ASSERT(mappings_applies(event->kind));
    if (err != OK || (changes.count == 0 && event->kind != EVENT_MAPPING_APPLIED)) {
        return err;
    }
    arena_init(&arena, APPLY_BYTES_MAX);
    inner.arena = &arena;
    err = changes.count > 0 ? apply_changes(&inner, txn, event, &changes)
                            : mapping_uses_apply(&inner, txn, event);
    arena_deinit(&arena);
    return err;
}
