/*
 * suggest.c: checks names of mappings, and decides the effect of a matcher's suggestion.
 */
#include "server/domain/mappings/mappings.h"
#include "server/domain/mappings/records.h"
#include "store/base/text.h"
#include "store/base/wire.h"

#include <errata/v1/event.fields.h>
#include <event_apply.h>

static struct slice field_path(struct ctx *ctx, struct slice path, const char *field)
{
    return arena_printf(ctx->arena, "%.*s%s%s", (int)path.size, (const char *)path.data,
                        path.size > 0 ? "." : "", field);
}

static void check_sku(struct ctx *ctx, struct slice path, const char *field, struct slice text)
{
    struct slice shown = {NULL, 0};

    if (text.size == 0) {
        fault_add(ctx->fault, field_path(ctx, path, field), "missing; expected a SKU");
    } else if (text.size > SKU_BYTES_MAX) {
        fault_add(ctx->fault, field_path(ctx, path, field), "%zu bytes; expected at most %d",
                  text.size, SKU_BYTES_MAX);
    } else if (sku_trim(text).size == 0) {
        fault_add(ctx->fault, field_path(ctx, path, field),
                  "only white space; expected at least one other character");
    } else if (text_has_control(text)) {
        shown = fault_shorten(ctx->fault, text);
        fault_add(ctx->fault, field_path(ctx, path, field),
                  "control character in '%.*s'; expected text without control characters such as "
                  "tabs and line feeds",
                  (int)shown.size, (const char *)shown.data);
    }
}

enum err mapping_name_read(struct ctx *ctx, struct slice path, struct slice customer_id,
                           struct slice customer_sku, struct slice internal_sku,
                           struct mapping_name *ret_name)
{
    struct mapping_name name = {customer_sku, internal_sku, {.customer_id = customer_id}};
    enum err err = OK;

    if (customer_id.size == 0) {
        fault_add(ctx->fault, field_path(ctx, path, "customer_id"),
                  "missing; expected the customer's id");
    }
    check_sku(ctx, path, "customer_sku", customer_sku);
    check_sku(ctx, path, "internal_sku", internal_sku);
    err = fault_result(ctx->fault);
    if (err == OK) {
        err = sku_fold(ctx->arena, customer_sku, &name.pair.folded_customer_sku);
    }
    if (err == OK) {
        err = sku_fold(ctx->arena, internal_sku, &name.pair.folded_internal_sku);
    }
    if (err == OK) {
        *ret_name = name;
    }
    return err;
}

enum err mapping_name_read_sku(struct ctx *ctx, struct slice path, struct slice customer_sku,
                               struct mapping_name *ret_name)
{
    struct mapping_name name = {.customer_sku = customer_sku};
    enum err err = OK;

    check_sku(ctx, path, "customer_sku", customer_sku);
    err = fault_result(ctx->fault);
    if (err == OK) {
        err = sku_fold(ctx->arena, customer_sku, &name.pair.folded_customer_sku);
    }
    if (err == OK) {
        *ret_name = name;
    }
    return err;
}

/* Returns whether the suggestion changes an existing mapping. */
static bool changes(const struct mapping_row *row, const struct mapping_suggestion *suggestion)
{
    const struct event_time *time = &suggestion->time;

    return row->record.status == MAPPING_STATUS_SUGGESTED &&
           row->record.confidence != suggestion->confidence &&
           (!time->is_given || row->record.settled_at_us <= time->created_at_us);
}

/* Computes the mapping after the suggestion; if `existed`, `change` has its present state. */
static void decide(const struct mapping_suggestion *suggestion, const struct event_draft *draft,
                   bool existed, struct mapping_change *change)
{
    struct mapping_record *record = &change->row.record;

    if (!existed) {
        change->row.seq = draft->stamp.seq;
        *record = (struct mapping_record){
            .id = draft->stamp.id,
            .customer_id = suggestion->name.pair.customer_id,
            .customer_sku = suggestion->name.customer_sku,
            .internal_sku = suggestion->name.internal_sku,
            .status = MAPPING_STATUS_SUGGESTED,
            .created_at_us = draft->created_at_us,
        };
    }
    change->previous_seq = record->last_seq;
    record->confidence = suggestion->confidence;
    record->version++;
    if (!existed || !suggestion->time.is_given || record->updated_at_us < draft->created_at_us) {
        record->updated_at_us = draft->created_at_us;
    }
}

static enum err append(struct ctx *ctx, struct store_txn *txn, struct event_draft *draft,
                       const struct mapping_change *change, uint64_t *ret_seq)
{
    char id[UUID_TEXT_BYTES];
    struct buffer facts = {0};
    struct slice entity = {NULL, 0};
    enum err err = OK;

    uuid_format(change->row.record.id, id);
    entity = arena_printf(ctx->arena, MAPPING_ENTITY_TYPE "/%.*s", (int)sizeof(id), id);
    event_draft_add_subject(draft, SUBJECT_ENTITY, entity);
    buffer_init(&facts, ctx->arena, 512);
    err =
        mapping_change_put(ctx->arena, &facts, MAPPING_SUGGESTED_CHANGE_FIELD, draft->org, change);
    draft->facts = buffer_slice(&facts);
    if (err != OK || entity.size == 0) {
        return ERR_MEMORY;
    }
    return event_draft_append(ctx, txn, draft, mappings_apply, ret_seq);
}

enum err mapping_suggest(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                         const struct event_caller *caller,
                         const struct mapping_suggestion *suggestion, uint64_t *ret_seq)
{
    const struct slice no_actor = {NULL, 0};
    const struct event_time *time = &suggestion->time;
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_MAPPING_SUGGESTED,
        .annotator = ANNOTATOR_CODE,
    };
    struct mapping_change change = {.previous_seq = 0};
    bool existed = false;
    enum err err = actor_resolve(ctx, caller, SLICE("mapping"), no_actor, time->is_given,
                                 &draft.actor_user_id);

    if (err == OK) {
        err = event_draft_stamp(ctx, txn, time, &draft);
    }
    if (err != OK) {
        return err;
    }
    event_time_check(ctx, time, SLICE("mapping"), draft.stamp.created_at_us);
    err = fault_result(ctx->fault);
    if (err != OK) {
        return err;
    }
    err = mapping_row_find(txn, org, &suggestion->name.pair, &change.row);
    existed = err == OK;
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    if (existed && !changes(&change.row, suggestion)) {
        *ret_seq = change.row.record.last_seq;
        return OK;
    }
    decide(suggestion, &draft, existed, &change);
    return append(ctx, txn, &draft, &change, ret_seq);
}
