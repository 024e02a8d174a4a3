/*
 * judge.c: decides a user's confirmation or rejection: the new state of the mapping, the mapping
 * that it supersedes, and the feedback event that records both.
 */
#include "server/domain/mappings/mappings.h"
#include "server/domain/mappings/quote.h"

#include "server/domain/corrections/capture.h"
#include "server/domain/mappings/records.h"

#include <event_apply.h>

/* State of one judgement. Rows are borrowed from the transaction, so everything is decided and
 * quoted before the first put. */
struct judging {
    const struct mapping_judgement *judgement;
    struct org_id org;
    struct log_stamp stamp; /* stamp of the event to append */
    int64_t created_at_us; /* created_at of that event */
    bool existed;
    struct mapping_row before; /* the current state; only the names if the mapping did not exist */
    struct mapping_pair pair;
    bool has_other; /* another mapping is confirmed for the same customer SKU */
    struct mapping_row other; /* the present state */
    bool has_newer; /* for a confirmation: another internal SKU was confirmed after created_at_us */
};

static enum err read_by_name(struct store_txn *txn, const struct mapping_name *name,
                             struct judging *judging)
{
    enum err err = mapping_row_find(txn, judging->org, &name->pair, &judging->before);

    judging->pair = name->pair;
    if (err == ERR_NOT_FOUND) {
        judging->before.record = (struct mapping_record){
            .customer_id = name->pair.customer_id,
            .customer_sku = name->customer_sku,
            .internal_sku = name->internal_sku,
        };
        return OK;
    }
    judging->existed = err == OK;
    return err;
}

/* Finds the judged mapping: that of the id, or the one of its internal SKU and another customer
 * SKU. */
static enum err read_by_id(struct ctx *ctx, struct store_txn *txn, struct judging *judging)
{
    const struct mapping_judgement *judgement = judging->judgement;
    struct mapping_name name = judgement->name;
    struct mapping_row row;
    enum err err = mapping_row_find_id(txn, judging->org, judgement->id, &row);

    if (err == ERR_NOT_FOUND) {
        return fault_say(ctx->fault, err,
                         "id: not found in this organisation; expected the id of a mapping");
    }
    if (err == OK) {
        err = mapping_pair_of(ctx->arena, &row.record, &name.pair);
    }
    if (err != OK) {
        return err;
    }
    if (judgement->name.customer_sku.size > 0) {
        name.pair.folded_customer_sku = judgement->name.pair.folded_customer_sku;
        name.internal_sku = row.record.internal_sku;
        return read_by_name(txn, &name, judging);
    }
    judging->before = row;
    judging->pair = name.pair;
    judging->existed = true;
    return OK;
}

/* Reads another mapping that is confirmed for the same customer SKU. */
static enum err read_other(struct store_txn *txn, struct judging *judging)
{
    struct mapping_confirmed_record confirmed;
    enum err err = mapping_confirmed_find(txn, judging->org, judging->pair.customer_id,
                                          judging->pair.folded_customer_sku, &confirmed);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    if (judging->existed && confirmed.seq == judging->before.seq) {
        return OK;
    }
    err = mapping_row_read(txn, judging->org, confirmed.seq, &judging->other);
    judging->has_other = err == OK;
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Finds whether another mapping of the same customer SKU was confirmed later, even if it has been
 * rejected since. */
static enum err find_newer(struct store_txn *txn, struct judging *judging)
{
    struct scan scan = {.row_count = 0};
    struct mapping_row row;
    enum err err = OK;

    if (!judging->judgement->time.is_given ||
        judging->judgement->event_type != FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED) {
        return OK;
    }
    err = mapping_sku_scan_init(&scan, txn, judging->org, judging->pair.customer_id,
                                judging->pair.folded_customer_sku);
    while (err == OK && !judging->has_newer) {
        err = mapping_sku_scan_next(&scan, judging->org, &row);
        if (err == OK && row.record.support_count > 0 &&
            (!judging->existed || row.seq != judging->before.seq)) {
            err = mapping_was_confirmed_since(txn, judging->org, &row, judging->created_at_us,
                                              &judging->has_newer);
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err read_state(struct ctx *ctx, struct store_txn *txn, struct judging *judging)
{
    const struct event_time *time = &judging->judgement->time;
    enum err err = judging->judgement->is_by_id
                       ? read_by_id(ctx, txn, judging)
                       : read_by_name(txn, &judging->judgement->name, judging);

    if (err == OK) {
        err = read_other(txn, judging);
    }
    if (err == OK) {
        err = log_next_stamp(ctx, txn, judging->org, &judging->stamp);
    }
    judging->created_at_us = time->is_given ? time->created_at_us : judging->stamp.created_at_us;
    return err != OK ? err : find_newer(txn, judging);
}

/* Sets a time of a mapping to that of the judgement, unless a later one is known. */
static void date(const struct judging *judging, int64_t *time_us)
{
    if (!judging->judgement->time.is_given || *time_us < judging->created_at_us) {
        *time_us = judging->created_at_us;
    }
}

/* Starts the next version of the mapping. */
static struct mapping_change next_version(const struct judging *judging,
                                          const struct mapping_row *row)
{
    struct mapping_change change = {.row = *row, .previous_seq = row->record.last_seq};
    struct mapping_record *record = &change.row.record;

    record->version++;
    date(judging, &record->updated_at_us);
    return change;
}

static struct mapping_change make_mapping(const struct judging *judging)
{
    struct mapping_change change = {.row = {judging->stamp.seq, judging->before.record}};
    struct mapping_record *record = &change.row.record;

    record->id = judging->stamp.id;
    record->version = 1;
    record->created_at_us = judging->created_at_us;
    record->updated_at_us = judging->created_at_us;
    return change;
}

/* Returns whether there is no later judgement. A judgement without an explicit time is the latest,
 * even if the clock was ahead at an earlier one. */
static bool is_news(const struct judging *judging)
{
    const struct mapping_record *before = &judging->before.record;

    return !judging->existed || !judging->judgement->time.is_given ||
           before->status == MAPPING_STATUS_SUGGESTED ||
           before->settled_at_us <= judging->created_at_us;
}

static void confirm(const struct judging *judging, struct mapping_changes *changes)
{
    struct mapping_record *record = &changes->items[0].row.record;

    record->support_count++;
    date(judging, &record->last_used_at_us);
    if (is_news(judging)) {
        record->confidence = 1;
        record->status = judging->has_newer ? MAPPING_STATUS_SUPERSEDED : MAPPING_STATUS_CONFIRMED;
    }
    /* The previously confirmed mapping is superseded, even if this one was rejected later. */
    if (judging->has_other && !judging->has_newer) {
        changes->items[1] = next_version(judging, &judging->other);
        changes->items[1].row.record.status = MAPPING_STATUS_SUPERSEDED;
        changes->count = 2;
    }
}

static void reject(const struct judging *judging, struct mapping_changes *changes)
{
    struct mapping_record *record = &changes->items[0].row.record;

    if (is_news(judging)) {
        record->confidence = 0;
        record->status = MAPPING_STATUS_REJECTED;
    }
}

static void decide(const struct judging *judging, struct mapping_changes *changes)
{
    changes->items[0] =
        judging->existed ? next_version(judging, &judging->before) : make_mapping(judging);
    changes->count = 1;
    if (judging->judgement->event_type == FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED) {
        confirm(judging, changes);
    } else {
        reject(judging, changes);
    }
}

static enum err encode_changes(struct ctx *ctx, struct org_id org,
                               const struct mapping_changes *changes, struct slice *ret_bytes)
{
    struct buffer bytes = {0};
    enum err err = OK;

    buffer_init(&bytes, ctx->arena, 1024);
    for (size_t i = 0; i < changes->count && err == OK; i++) {
        err = mapping_change_put(ctx->arena, &bytes, FEEDBACK_EVENT_MAPPING_CHANGES_FIELD, org,
                                 &changes->items[i]);
    }
    *ret_bytes = buffer_slice(&bytes);
    return err;
}

/* Builds the texts that the event quotes. */
static enum err quote(struct ctx *ctx, struct store_txn *txn, const struct judging *judging,
                      struct capture_input *input)
{
    const struct mapping_judgement *judgement = judging->judgement;
    const struct mapping_row *before = judging->existed ? &judging->before : NULL;
    struct slice internal_sku = judging->before.record.internal_sku;
    struct slice suggestions = judgement->suggestions;
    enum err err = OK;

    if (judgement->event_type == FEEDBACK_EVENT_TYPE_MAPPING_REJECTED) {
        return quote_rejection(ctx->arena, before, internal_sku, input);
    }
    if (suggestions.size == 0) {
        err = quote_suggestions(ctx->arena, txn, judging->org, &judging->pair, &suggestions);
    }
    return err != OK ? err
                     : quote_confirmation(ctx->arena, before, internal_sku, suggestions, input);
}

/* Stores the event, and its changes of mappings. */
static enum err store_judgement(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                const struct capture_event *captured, uint64_t *ret_seq)
{
    struct event event = {0};
    uint64_t seq = 0;
    enum err err = capture_store(ctx, txn, org, captured, 1, &seq);

    if (err != OK) {
        return err;
    }
    err = log_read(txn, org, seq, &event);
    if (err != OK) {
        return err;
    }
    if (!arena_copy(ctx->arena, event.facts, &event.facts)) {
        return ERR_MEMORY;
    }
    err = mappings_apply(ctx, txn, &event);
    if (err == OK) {
        *ret_seq = seq;
    }
    return err;
}

enum err mapping_judge(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                       const struct event_caller *caller, const struct mapping_judgement *judgement,
                       uint64_t *ret_seq)
{
    const struct slice request = {NULL, 0};
    struct judging judging = {.judgement = judgement, .org = org};
    struct mapping_changes changes;
    struct capture_event captured;
    char id[UUID_TEXT_BYTES];
    struct capture_input input = {
        .event_type = judgement->event_type,
        .actor_user_id = judgement->actor_user_id,
        .entity_type = SLICE(MAPPING_ENTITY_TYPE),
        .entity_id = slice_of(id, sizeof(id)),
        .draft_order_id = judgement->draft_order_id,
        .document_id = judgement->document_id,
        .time = judgement->time,
        .stamp = &judging.stamp,
    };
    enum err err = read_state(ctx, txn, &judging);

    if (err != OK) {
        return err;
    }
    memset(&changes, 0, sizeof(changes));
    decide(&judging, &changes);
    uuid_format(changes.items[0].row.record.id, id);
    err = encode_changes(ctx, org, &changes, &input.mapping_changes);
    if (err == OK) {
        err = quote(ctx, txn, &judging, &input);
    }
    if (err == OK) {
        err = capture_prepare(ctx, caller, &input, request, &captured);
    }
    return err != OK ? err : store_judgement(ctx, txn, org, &captured, ret_seq);
}
