/*
 * erasure_find.c: finds the events that an erasure is about; see erasure.h. No index lists the events of all subjects, so the log
 * is read from its beginning.
 */
#include "server/domain/retention/erasure.h"

#include "server/domain/events/feedback.h"
#include "server/domain/retention/retention_internal.h"
#include "store/base/assert.h"
#include "store/base/compare.h"
#include "store/base/json.h"

#include <errata/v1/sku_mapping.views.h>
#include <stdlib.h>

/* Memory for one event and what its example is made of. */
#define EVENT_BYTES_MAX (16u << 20)

static bool has_subject(const struct event *event, enum subject_kind kind, struct slice id)
{
    for (size_t i = 0; i < event->subject_count; i++) {
        if (event->subjects[i].kind == (uint8_t)kind && slice_equal(event->subjects[i].id, id)) {
            return true;
        }
    }
    return false;
}

/* Returns whether a selection chose the customer. */
static enum err selects(struct arena *arena, const struct feedback_event_view *view,
                        struct slice customer_id, bool *ret_selects)
{
    struct json_value after = {JSON_OBJECT, view->after_json};
    struct json_value member = {JSON_NULL, {NULL, 0}};
    struct slice text = {NULL, 0};
    enum err err = OK;

    *ret_selects = false;
    if (view->event_type != FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED || after.text.size == 0 ||
        !json_member(after, SLICE("customer_id"), &member) || member.kind != JSON_STRING) {
        return OK;
    }
    err = json_string(arena, member.text, &text);
    *ret_selects = err == OK && slice_equal(text, customer_id);
    return err;
}

/* Returns whether an event changed a mapping of the customer. */
static enum err changes_mapping(const struct feedback_event_view *view, struct slice customer_id,
                                bool *ret_changes)
{
    struct slice run = view->mapping_changes.run;
    struct slice element = {NULL, 0};
    enum err err = OK;

    *ret_changes = false;
    while (err == OK && !*ret_changes && view_next(&run, &element)) {
        struct mapping_change_view change;
        struct sku_mapping_view mapping;

        err = mapping_change_view_read(element, &change);
        if (err == OK) {
            err = sku_mapping_view_read(change.mapping, &mapping);
        }
        *ret_changes = err == OK && slice_equal(mapping.customer_id, customer_id);
    }
    return err;
}

static enum err is_of_customer(struct arena *arena, const struct event *event,
                               struct slice customer_id, bool *ret_is_of)
{
    struct feedback_event_view view;
    enum err err = OK;

    *ret_is_of = false;
    if (event->kind != EVENT_FEEDBACK) {
        return OK;
    }
    err = feedback_view_read(event, &view);
    if (err == OK) {
        err = changes_mapping(&view, customer_id, ret_is_of);
    }
    return err != OK || *ret_is_of ? err : selects(arena, &view, customer_id, ret_is_of);
}

/* Returns whether an event is about the subject. */
static enum err is_about(struct arena *arena, const struct event *event,
                         const struct erasure_target *target, bool *ret_is_about)
{
    *ret_is_about = true;
    switch (target->subject) {
    case ERASURE_OF_DOCUMENT:
        *ret_is_about = has_subject(event, SUBJECT_DOCUMENT, target->id);
        return OK;
    case ERASURE_OF_SESSION:
        *ret_is_about = has_subject(event, SUBJECT_SESSION, target->id);
        return OK;
    case ERASURE_OF_USER:
        *ret_is_about = slice_equal(event->actor_user_id, target->id);
        return OK;
    case ERASURE_OF_CUSTOMER:
        return is_of_customer(arena, event, target->id, ret_is_about);
    case ERASURE_OF_EVENTS:
        return OK;
    }
    return OK;
}

bool erasure_is_of_kind(enum event_kind_number kind)
{
    return removal_class_of(kind) != CONTENT_CLASS_UNSPECIFIED || kind == EVENT_TURN_RECORDED ||
           kind == EVENT_FEEDBACK_DETECTED || kind == EVENT_TURN_FEEDBACK_SET ||
           kind == EVENT_DECISION_RECORDED || kind == EVENT_EVALUATION_SUBMITTED ||
           kind == EVENT_EVALUATION_OVERRIDDEN || kind == EVENT_DEAD_LETTER_STORED;
}

/* Counts an event that the erasure is about, and adds it to the next step if it has content. */
static enum err take(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                     struct erasure_search *search)
{
    struct retention_list list = {.count = 0};
    struct erasure_count *count = &search->kinds[event->kind];
    enum err err = OK;

    ASSERT((size_t)event->kind < ERASURE_KINDS);
    if (event->content.size == 0) {
        *(event->content_removed ? &count->removed_before : &count->facts) += 1;
        return OK;
    }
    if (!erasure_is_of_kind(event->kind)) {
        count->kept_artifact++;
        return OK;
    }
    err = retention_list_add(ctx, txn, event, &list);
    if (err != OK) {
        return err;
    }
    if (list.count == 0) {
        count->kept_format++;
        return OK;
    }
    count->erased++;
    count->erased_bytes += event->content.size;
    search->seqs[search->seq_count] = event->seq;
    search->seq_count++;
    return OK;
}

/* Examines the events of a subject, in the order of the log. */
static enum err walk_log(struct ctx *ctx, struct log_walk *walk,
                         const struct erasure_target *target, struct erasure_search *search)
{
    enum err err = OK;

    for (size_t i = 0; i < ERASURE_EXAMINED_MAX && search->seq_count < ERASURE_STEP_EVENTS &&
                       search->examined_seq < search->until_seq && err == OK;
         i++) {
        struct event event;
        bool about = false;

        err = log_walk_next(walk, &event);
        if (err == OK) {
            err = is_about(ctx->arena, &event, target, &about);
        }
        if (err == OK && about) {
            err = take(ctx, walk->cursor.txn, &event, search);
        }
        if (err == OK) {
            search->examined_seq = event.seq;
        }
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Examines given events. */
static enum err read_events(struct ctx *ctx, struct store_txn *txn,
                            const struct erasure_target *target, struct erasure_search *search)
{
    enum err err = OK;

    for (size_t i = 0;
         i < target->seq_count && search->seq_count < ERASURE_STEP_EVENTS && err == OK; i++) {
        struct event event;

        if (target->seqs[i] <= search->examined_seq) {
            continue;
        }
        arena_reset(ctx->arena);
        err = log_read_copy(ctx->arena, txn, target->org, target->seqs[i], &event);
        if (err == OK) {
            err = take(ctx, txn, &event, search);
        }
        if (err == OK) {
            search->examined_seq = event.seq;
        }
    }
    return err;
}

enum err erasure_find(struct ctx *ctx, struct store_txn *txn, const struct erasure_target *target,
                      struct erasure_search *search)
{
    struct log_walk walk = {.org = target->org};
    struct ctx inner = *ctx;
    struct arena arena;
    enum err err = OK;

    search->seq_count = 0;
    arena_init(&arena, EVENT_BYTES_MAX);
    inner.arena = &arena;
    if (target->subject == ERASURE_OF_EVENTS) {
        err = read_events(&inner, txn, target, search);
    } else {
        err = log_walk_init(&walk, txn, target->org, search->examined_seq + 1, STORE_ASCENDING);
        walk.memory = &arena;
        if (err == OK) {
            err = walk_log(&inner, &walk, target, search);
        }
        log_walk_deinit(&walk);
    }
    arena_deinit(&arena);
    return err;
}

enum err erasure_find_ids(struct arena *arena, struct store_txn *txn, struct erasure_target *target,
                          const struct uuid *ids, size_t count, size_t *ret_index)
{
    uint64_t *seqs = arena_calloc(arena, count + 1, sizeof(*seqs));
    size_t found = 0;

    if (seqs == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        enum err err = log_find(txn, target->org, ids[i], &seqs[i]);

        *ret_index = i;
        if (err != OK) {
            return err;
        }
    }
    qsort(seqs, count, sizeof(*seqs), compare_uint64);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || seqs[i] != seqs[i - 1]) {
            seqs[found++] = seqs[i];
        }
    }
    target->seqs = seqs;
    target->seq_count = found;
    return OK;
}
