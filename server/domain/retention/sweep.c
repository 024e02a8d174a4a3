/*
 * sweep.c: one step of retention; see retention.h. It reads the log from the floor of the class on, which is the order of
 * recorded_at.
 */
#include "server/domain/events/draft.h"
#include "server/domain/retention/retention_internal.h"
#include "store/base/assert.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

/* Returns whether the first event above the floor of a class was recorded at or before a time. */
static enum err is_due(struct store_txn *txn, const struct retention_step *step, bool *ret_is_due)
{
    struct event event;
    uint64_t floor_seq = 0;
    enum err err = removal_floor(txn, step->org, step->class, &floor_seq);

    *ret_is_due = false;
    if (err == OK) {
        err = log_read(txn, step->org, floor_seq + 1, &event);
    }
    if (err == OK) {
        *ret_is_due = event.recorded_at_us <= step->recorded_until_us;
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err retention_find_due(struct store_txn *txn, struct org_id org, int64_t from_us,
                            enum content_class after, struct retention_step *ret_step)
{
    struct content_retention_view retention;
    bool due = false;
    enum err err = retention_settings_read(txn, org, &retention);

    *ret_step = (struct retention_step){.org = org, .class = after};
    while (err == OK && !due && ret_step->class < CONTENT_CLASS_REVIEWS) {
        uint32_t days = 0;

        ret_step->class = (enum content_class)(ret_step->class + 1);
        days = content_retention_days(&retention, ret_step->class);
        ret_step->recorded_until_us = from_us - (int64_t)days * RETENTION_DAY_US;
        if (days > 0) {
            err = is_due(txn, ret_step, &due);
        }
    }
    if (!due) {
        ret_step->class = CONTENT_CLASS_UNSPECIFIED;
    }
    return err;
}

/* Where a step ended. */
struct position {
    uint64_t floor_seq; /* the last event that was examined */
    size_t examined_count;
    bool has_ended;
};

/* Lists the events above the floor that have content to remove. */
static enum err list_events(struct ctx *ctx, struct log_walk *walk,
                            const struct retention_step *step, struct position *position,
                            struct retention_list *list)
{
    while (list->count < step->removed_max && position->examined_count < RETENTION_EXAMINED_MAX) {
        struct event event;
        enum err err = log_walk_next(walk, &event);

        if (err == ERR_NOT_FOUND || (err == OK && event.recorded_at_us > step->recorded_until_us)) {
            position->has_ended = true;
            return OK;
        }
        if (err == OK && removal_class_of(event.kind) == step->class) {
            err = retention_list_add(ctx, walk->cursor.txn, &event, list);
        }
        if (err != OK) {
            return err;
        }
        position->floor_seq = event.seq;
        position->examined_count++;
    }
    return OK;
}

static enum err find_events(struct ctx *ctx, struct store_txn *txn,
                            const struct retention_step *step, struct position *position,
                            struct retention_list *list)
{
    struct log_walk walk = {.org = step->org};
    enum err err = removal_floor(txn, step->org, step->class, &position->floor_seq);

    if (err == OK) {
        err = log_walk_init(&walk, txn, step->org, position->floor_seq + 1, STORE_ASCENDING);
    }
    if (err == OK) {
        err = list_events(ctx, &walk, step, position, list);
    }
    log_walk_deinit(&walk);
    return err;
}

static enum err append(struct ctx *ctx, struct store_txn *txn, const struct retention_step *step,
                       const struct retention_list *list, uint64_t floor_seq, uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    struct content_swept_view facts = {
        .content_class = step->class,
        .floor_seq = floor_seq,
        .recorded_until_us = step->recorded_until_us,
        .has_recorded_until = true,
        .example_count = list->example_count,
    };
    struct event_draft draft = {
        .org = step->org,
        .kind = EVENT_CONTENT_SWEPT,
        .annotator = ANNOTATOR_CODE,
        .source = SOURCE_SYSTEM,
        .actor_user_id = SLICE(RETENTION_ACTOR),
    };
    struct buffer seqs;
    enum err err = OK;

    buffer_init(&seqs, ctx->arena, 0);
    for (size_t i = 0; i < list->count; i++) {
        content_swept_view_add_seqs(&seqs, list->seqs[i]);
    }
    facts.seqs.run = buffer_slice(&seqs);
    if (!buffer_ok(&seqs) ||
        !view_encode(&content_swept_view_type, &facts, ctx->arena, &draft.facts)) {
        return ERR_MEMORY;
    }
    err = event_draft_stamp(ctx, txn, &now, &draft);
    if (err == OK) {
        err = event_draft_add_id(ctx->arena, &draft, SUBJECT_ORGANIZATION, step->org.uuid);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, retention_apply, ret_seq);
}

enum err retention_sweep(struct ctx *ctx, struct store_txn *txn, const struct retention_step *step,
                         struct retention_done *ret_done)
{
    struct retention_list *list = arena_calloc(ctx->arena, 1, sizeof(*list));
    struct position position = {.floor_seq = 0};
    enum err err = list == NULL ? ERR_MEMORY : OK;

    ASSERT(step->class != CONTENT_CLASS_UNSPECIFIED);
    ASSERT(step->removed_max > 0 && step->removed_max <= RETENTION_REMOVED_MAX);
    *ret_done = (struct retention_done){.seq = 0};
    if (err == OK) {
        err = find_events(ctx, txn, step, &position, list);
    }
    if (err != OK) {
        return err;
    }
    ret_done->has_ended = position.has_ended;
    ret_done->removed_count = list->count;
    if (list->count == 0 && position.examined_count < RETENTION_EXAMINED_MAX) {
        return OK;
    }
    err = retention_list_each(ctx, txn, step->org, list, log_remove_content);
    return err != OK ? err : append(ctx, txn, step, list, position.floor_seq, &ret_done->seq);
}
