/*
 * learning_events.c: the parts of a report that no counter has: the feedback events of a layout, of a family, or of some
 * kinds of annotators, each read from the log. A retracted event is only counted as such.
 */
#include "server/domain/analytics/learning_internal.h"
#include "server/domain/counters/counters.h"
#include "server/domain/events/annotator_kinds.h"
#include "server/domain/events/feedback.h"
#include "server/domain/events/retraction.h"
#include "server/domain/events/subject.h"
#include "server/domain/layouts/family_examples.h"
#include "server/domain/layouts/family_walk.h"
#include "store/base/assert.h"
#include "store/scan.h"

#define DAY_US (INT64_C(24) * 60 * 60 * 1000000)

/* Adds a corrected field, as `other` if there are too many names. */
static enum err add_field(struct learning *learning, enum field_kind kind, struct slice name)
{
    const struct slice other = SLICE("other");
    struct sha256_digest digest = sha256(name);
    enum err err = field_counts_add(&learning->fields, kind, digest.bytes, name, 1);

    if (err == ERR_CORRUPT) {
        digest = sha256(other);
        err = field_counts_add(&learning->fields, kind, digest.bytes, other, 1);
    }
    return err;
}

/* Adds a feedback event that was not retracted. */
static enum err add_feedback(struct learning *learning, const struct event *event)
{
    struct feedback_event_view view;
    struct slice names = {NULL, 0};
    struct slice name = {NULL, 0};
    int64_t day = day_of(event->created_at_us) - learning->range.first_day;
    enum field_kind kind = FIELD_OF_HEADER;
    enum err err = OK;

    err = feedback_view_read(event, &view);
    if (err != OK) {
        return err;
    }
    learning_add_type(learning, &learning->days[day], view.event_type, 1);
    if (!feedback_is_correction(view.event_type)) {
        return OK;
    }
    if (view.event_type == FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED) {
        kind = FIELD_OF_LINE;
    }
    names = view.fields_changed.run;
    while (err == OK && view_next(&names, &name)) {
        err = add_field(learning, kind, name);
    }
    return err;
}

/* Adds an event of any kind and day if it is a feedback event of the range and of a requested kind of annotator. */
static enum err add_event(struct store_txn *txn, struct learning *learning,
                          const struct event *event)
{
    int64_t day = day_of(event->created_at_us);
    uint64_t retraction_seq = 0;
    enum err err = OK;

    if (event->kind != EVENT_FEEDBACK || day < learning->range.first_day ||
        day > learning->range.last_day ||
        (learning->annotator_kinds != 0 &&
         (learning->annotator_kinds & 1u << event->annotator) == 0)) {
        return OK;
    }
    err = retraction_find(txn, learning->org, event->seq, &retraction_seq);
    if (err == OK && retraction_seq != 0) {
        learning_add_to(&learning->retracted, 1);
        return OK;
    }
    return err != OK ? err : add_feedback(learning, event);
}

/* Reads an event by its number, and adds it. */
static enum err add_numbered(struct store_txn *txn, struct learning *learning, uint64_t seq)
{
    struct event event;
    enum err err = log_read(txn, learning->org, seq, &event);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return add_event(txn, learning, &event);
}

/* Prepares counting by field. */
static enum err begin_fields(struct ctx *ctx, struct learning *learning)
{
    struct sha256_digest other = sha256(SLICE("other"));
    enum err err =
        field_counts_init(&learning->fields, ctx->arena, ctx->random, COUNTERS_FIELD_NAMES_MAX + 1);

    /* `other` is always counted. */
    return err != OK
               ? err
               : field_counts_add(&learning->fields, FIELD_OF_LINE, other.bytes, SLICE("other"), 0);
}

/* --- a layout --- */

static enum err add_layout_rows(struct store_txn *txn, struct learning *learning, struct scan *scan)
{
    enum err err = OK;

    while (err == OK) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        int64_t created_at_us = 0;
        uint64_t seq = 0;

        err = scan_next(scan, &key, &value);
        if (err == ERR_NOT_FOUND) {
            learning->is_incomplete = scan->is_cut;
            return OK;
        }
        if (err == OK) {
            err = key_read_newest_first(key, &created_at_us, &seq);
        }
        if (err == OK && day_of(created_at_us) < learning->range.first_day) {
            return OK;
        }
        if (err == OK) {
            err = add_numbered(txn, learning, seq);
        }
    }
    return err;
}

enum err learning_add_layout(struct ctx *ctx, struct store_txn *txn, struct learning *learning,
                             struct slice fingerprint)
{
    struct key after = key_subject(learning->org, SUBJECT_LAYOUT, fingerprint,
                                   (learning->range.last_day + 1) * DAY_US - 1,
                                   UINT64_MAX); /* no row has this number */
    const struct scan_range range = {
        .table = TABLE_SUBJECT,
        .prefix = key_subject_prefix(learning->org, SUBJECT_LAYOUT, fingerprint),
        .after = key_slice(&after),
        .rows_max = LEARNING_EVENTS_MAX,
    };
    struct scan scan;
    enum err err = begin_fields(ctx, learning);

    if (err == OK) {
        err = sums_read_layout(txn, learning->org, fingerprint, &learning->layout);
    }
    if (err != OK) {
        return err;
    }
    err = scan_init(&scan, txn, &range);
    if (err == OK) {
        err = add_layout_rows(txn, learning, &scan);
    }
    scan_deinit(&scan);
    return err;
}

/* --- a family --- */

static enum err add_family_rows(struct store_txn *txn, struct learning *learning,
                                struct family_walk *walk)
{
    for (uint32_t count = 0;; count++) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        struct family_example example;
        enum err err = family_walk_next(walk, &key, &value);

        if (err == OK) {
            err = family_example_read(key, value, &example);
        }
        if (err != OK) {
            return err == ERR_NOT_FOUND ? OK : err;
        }
        if (day_of(example.created_at_us) < learning->range.first_day) {
            return OK;
        }
        if (count == LEARNING_EVENTS_MAX) {
            learning->is_incomplete = true;
            return OK;
        }
        err = add_numbered(txn, learning, example.seq);
        if (err != OK) {
            return err;
        }
    }
}

enum err learning_add_family(struct ctx *ctx, struct store_txn *txn, struct learning *learning,
                             const struct family_members *members)
{
    struct key after = key_family_example(learning->org, members->seqs[0],
                                          (learning->range.last_day + 1) * DAY_US - 1,
                                          UINT64_MAX); /* no row has this number */
    const struct family_range range = {
        .table = TABLE_FAMILY_EXAMPLE,
        .org = learning->org,
        .members = members,
        .after = key_slice(&after),
    };
    struct family_walk walk = {.count = 0};
    enum err err = begin_fields(ctx, learning);

    if (err == OK) {
        err = family_walk_init(&walk, ctx->arena, txn, &range);
    }
    if (err == OK) {
        err = add_family_rows(txn, learning, &walk);
    }
    family_walk_deinit(&walk);
    return err;
}

/* --- the organisation --- */

enum err learning_add_log(struct ctx *ctx, struct store_txn *txn, struct learning *learning)
{
    struct log_walk walk = {.org = learning->org};
    uint32_t count = 0;
    enum err err = begin_fields(ctx, learning);

    if (err == OK) {
        err = log_walk_init(&walk, txn, learning->org, 0, STORE_DESCENDING);
    }
    while (err == OK) {
        struct event event;

        err = log_walk_next(&walk, &event);
        /* No event was created after it was recorded. */
        if (err != OK || day_of(event.recorded_at_us) < learning->range.first_day) {
            break;
        }
        if (count++ == LEARNING_EVENTS_MAX) {
            learning->is_incomplete = true;
            break;
        }
        err = add_event(txn, learning, &event);
    }
    log_walk_deinit(&walk);
    return err == ERR_NOT_FOUND ? OK : err;
}
