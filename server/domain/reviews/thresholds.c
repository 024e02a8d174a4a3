/*
 * thresholds.c: see thresholds.h.
 */
#include "server/domain/reviews/thresholds.h"

#include "server/domain/events/draft.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

static const uint32_t defaults[THRESHOLD_COUNT] = {
    [THRESHOLD_BAD_FORMAT] = 3,
    [THRESHOLD_WRONG_INFORMATION] = 3,
    [THRESHOLD_WRONG_PHYSICAL_DIMENSIONS] = 2,
    [THRESHOLD_MISSING_SPEC] = 2,
    [THRESHOLD_INFORMATION_PRESENT_LOW] = 4,
};

uint32_t review_threshold_of(const struct review_thresholds_record *thresholds,
                             enum review_threshold threshold)
{
    uint32_t value = thresholds->values[threshold];

    return value != 0 ? value : defaults[threshold];
}

struct review_thresholds_view
review_thresholds_view_of(const struct review_thresholds_record *thresholds)
{
    const uint32_t *values = thresholds->values;

    return (struct review_thresholds_view){
        .bad_format = values[THRESHOLD_BAD_FORMAT],
        .has_bad_format = values[THRESHOLD_BAD_FORMAT] != 0,
        .wrong_information = values[THRESHOLD_WRONG_INFORMATION],
        .has_wrong_information = values[THRESHOLD_WRONG_INFORMATION] != 0,
        .wrong_physical_dimensions = values[THRESHOLD_WRONG_PHYSICAL_DIMENSIONS],
        .has_wrong_physical_dimensions = values[THRESHOLD_WRONG_PHYSICAL_DIMENSIONS] != 0,
        .missing_spec = values[THRESHOLD_MISSING_SPEC],
        .has_missing_spec = values[THRESHOLD_MISSING_SPEC] != 0,
        .information_present_low = values[THRESHOLD_INFORMATION_PRESENT_LOW],
        .has_information_present_low = values[THRESHOLD_INFORMATION_PRESENT_LOW] != 0,
        .reviews_needed = thresholds->reviews_needed,
        .has_reviews_needed = thresholds->reviews_needed != 0,
    };
}

/* Reads the thresholds that an event set, and the number of the previous change, which is smaller. */
static enum err read_event(const struct event *event, struct trigger_thresholds_set_view *ret_facts,
                           struct review_thresholds_record *ret_record)
{
    struct review_thresholds_view view;
    enum err err = event->kind == EVENT_TRIGGER_THRESHOLDS_SET
                       ? trigger_thresholds_set_view_read(event->facts, ret_facts)
                       : ERR_CORRUPT;

    if (err == OK && ret_facts->previous_seq >= event->seq) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = review_thresholds_view_read(ret_facts->thresholds, &view);
    }
    if (err == OK) {
        *ret_record = (struct review_thresholds_record){
            .seq = event->seq,
            .values = {[THRESHOLD_BAD_FORMAT] = view.bad_format,
                       [THRESHOLD_WRONG_INFORMATION] = view.wrong_information,
                       [THRESHOLD_WRONG_PHYSICAL_DIMENSIONS] = view.wrong_physical_dimensions,
                       [THRESHOLD_MISSING_SPEC] = view.missing_spec,
                       [THRESHOLD_INFORMATION_PRESENT_LOW] = view.information_present_low},
            .reviews_needed = view.reviews_needed,
        };
    }
    return err;
}

static enum err read_row(struct store_txn *txn, struct org_id org, struct slice subcategory,
                         struct review_thresholds_record *ret_record)
{
    struct key key = key_review_thresholds(org, subcategory);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_REVIEW_THRESHOLDS, key_slice(&key), &value);

    *ret_record = (struct review_thresholds_record){.seq = 0};
    if (err == ERR_NOT_FOUND) {
        return OK;
    }
    return err != OK ? err : record_decode_review_thresholds(value, ret_record);
}

/* Reads the thresholds that the event with this number set; none for 0. */
static enum err read_change(struct store_txn *txn, struct org_id org, uint64_t seq,
                            struct trigger_thresholds_set_view *ret_facts,
                            struct review_thresholds_record *ret_record)
{
    struct event event;
    enum err err = OK;

    *ret_record = (struct review_thresholds_record){.seq = 0};
    if (seq == 0) {
        return OK;
    }
    err = log_read(txn, org, seq, &event);
    if (err == OK) {
        err = read_event(&event, ret_facts, ret_record);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err review_thresholds_read(struct store_txn *txn, struct org_id org, struct slice subcategory,
                                uint64_t as_of_seq, struct review_thresholds_record *ret_thresholds)
{
    struct trigger_thresholds_set_view facts;
    struct review_thresholds_record record;
    enum err err = read_row(txn, org, subcategory, &record);

    while (err == OK && record.seq > as_of_seq) {
        err = read_change(txn, org, record.seq, &facts, &record);
        if (err == OK) {
            err = read_change(txn, org, facts.previous_seq, &facts, &record);
        }
    }
    if (err == OK) {
        *ret_thresholds = record;
    }
    return err;
}

static enum err encode(struct ctx *ctx, const struct review_thresholds_change *change,
                       uint64_t previous_seq, struct slice *ret_facts)
{
    struct review_thresholds_record record = {.reviews_needed = change->reviews_needed};
    struct review_thresholds_view view;
    struct trigger_thresholds_set_view facts = {
        .subcategory = change->subcategory,
        .has_thresholds = true,
        .previous_seq = previous_seq,
    };

    memcpy(record.values, change->values, sizeof(record.values));
    view = review_thresholds_view_of(&record);
    return view_encode(&review_thresholds_view_type, &view, ctx->arena, &facts.thresholds) &&
                   view_encode(&trigger_thresholds_set_view_type, &facts, ctx->arena, ret_facts)
               ? OK
               : ERR_MEMORY;
}

enum err review_thresholds_set(struct ctx *ctx, struct store_txn *txn,
                               const struct review_thresholds_change *change, uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    const struct slice path = {NULL, 0};
    enum annotator_kind annotator = ANNOTATOR_KIND_UNSPECIFIED;
    struct event_draft draft = {.org = change->org, .kind = EVENT_TRIGGER_THRESHOLDS_SET};
    struct review_thresholds_record before;
    enum err err =
        actor_resolve(ctx, &change->caller, path, slice_of(NULL, 0), false, &draft.actor_user_id);

    if (err == OK) {
        err = annotator_resolve(ctx, &change->caller, path, slice_of(NULL, 0), &annotator);
    }
    draft.annotator = (enum annotator)annotator;
    if (err == OK) {
        err = read_row(txn, change->org, change->subcategory, &before);
    }
    if (err == OK) {
        err = encode(ctx, change, before.seq, &draft.facts);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err != OK) {
        return err;
    }
    event_draft_add_subject(&draft, SUBJECT_SUBCATEGORY, change->subcategory);
    return event_draft_append(ctx, txn, &draft, reviews_apply, ret_seq);
}

enum err review_thresholds_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct trigger_thresholds_set_view facts;
    struct review_thresholds_record record;
    struct slice value = {NULL, 0};
    struct key key;
    enum err err = read_event(event, &facts, &record);

    if (err == OK) {
        err = record_encode_review_thresholds(ctx->arena, &record, &value);
    }
    if (err != OK) {
        return err;
    }
    key = key_review_thresholds(event->org, facts.subcategory);
    return store_put(txn, TABLE_REVIEW_THRESHOLDS, key_slice(&key), value);
}
