/*
 * family_part.c: see family_part.h.
 */
#include "server/domain/events/draft.h"
#include "server/domain/layouts/families.h"
#include "server/domain/layouts/family_part_internal.h"
#include "server/domain/layouts/family_rows.h"

#include <event_apply.h>

/* Finds the family to move documents from. */
static enum err find_family(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                            struct uuid id, struct family_part *part)
{
    struct family_record family;
    enum err err = family_find(txn, org, id, &part->from_seq, &family);

    return err != ERR_NOT_FOUND
               ? err
               : fault_say(ctx->fault, err,
                           "layout_family_id: not found in this organisation; expected the id of a "
                           "listed family");
}

/* Returns the row that a member will have after the split. */
static enum err read_member(struct store_txn *txn, const struct family_part *part,
                            uint64_t member_seq, struct family_record *ret_record)
{
    enum err err = OK;

    for (size_t i = 0; i < part->changed_count; i++) {
        if (part->changed[i].seq == member_seq) {
            *ret_record = part->changed[i].record;
            return OK;
        }
    }
    err = family_row_read(txn, part->org, member_seq, ret_record);
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static void set_counts(const struct family_record *total, struct layout_family_view *view)
{
    view->document_count = total->document_count;
    view->fingerprint_count = total->fingerprint_count;
    view->first_seen_at_us = total->first_seen_at_us;
    view->last_seen_at_us = total->last_seen_at_us;
    view->has_first_seen_at = true;
    view->has_last_seen_at = true;
}

/* Encodes the old family as it will be after the split: with the members' rows of the plan. */
static enum err encode_remaining(struct ctx *ctx, struct store_txn *txn,
                                 const struct family_part *part, struct uuid *ret_id,
                                 struct slice *ret_bytes)
{
    struct family_record family;
    struct family_record member;
    struct family_record total = {.document_count = 0};
    struct layout_family_view view;
    enum err err = family_row_read(txn, part->org, part->from_seq, &family);

    if (err == OK) {
        *ret_id = family.id;
        err = family_view_make(ctx->arena, txn, part->org, &family, &view);
    }
    for (size_t i = 0; i < part->members.count && err == OK; i++) {
        err = read_member(txn, part, part->members.seqs[i], &member);
        if (err == OK) {
            family_total_add(&total, &member);
        }
    }
    if (err != OK) {
        return err;
    }
    set_counts(&total, &view);
    return view_encode(&layout_family_view_type, &view, ctx->arena, ret_bytes) ? OK : ERR_MEMORY;
}

static enum err put_documents(struct arena *arena, const struct family_split *change,
                              struct family_split_view *facts)
{
    struct buffer run;

    buffer_init(&run, arena, 256);
    for (size_t i = 0; i < change->document_count; i++) {
        family_split_view_add_document_ids(&run, change->document_ids[i]);
    }
    facts->document_ids.run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

static enum err encode(struct ctx *ctx, struct store_txn *txn, const struct family_split *change,
                       const struct family_part *part, struct event_draft *draft)
{
    struct family_split_internal_view internal = {.from_seq = part->from_seq};
    struct family_split_view facts = {.has_family = true, .has_remaining = true};
    struct layout_family_view family = {.id = draft->stamp.id};
    struct uuid from_id;
    enum err err = encode_remaining(ctx, txn, part, &from_id, &facts.remaining);

    set_counts(&part->family, &family);
    if (err == OK) {
        err = put_documents(ctx->arena, change, &facts);
    }
    if (err == OK) {
        err = family_part_put_sketches(ctx->arena, part, &internal);
    }
    if (err == OK &&
        !(view_encode(&layout_family_view_type, &family, ctx->arena, &facts.family) &&
          view_encode(&family_split_internal_view_type, &internal, ctx->arena, &facts.internal) &&
          view_encode(&family_split_view_type, &facts, ctx->arena, &draft->facts))) {
        err = ERR_MEMORY;
    }
    if (err == OK) {
        err = event_draft_add_id(ctx->arena, draft, SUBJECT_LAYOUT_FAMILY, from_id);
    }
    return err != OK
               ? err
               : event_draft_add_id(ctx->arena, draft, SUBJECT_LAYOUT_FAMILY, draft->stamp.id);
}

enum err family_part(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                     const struct family_split *change, uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_FAMILY_SPLIT,
        .annotator = change->by_program ? ANNOTATOR_CODE : ANNOTATOR_HUMAN,
        .actor_user_id = change->actor_user_id,
    };
    struct family_part part = {.org = org};
    enum err err = find_family(ctx, txn, org, change->family, &part);

    if (err == OK) {
        err = family_part_plan(ctx, txn, change->document_ids, change->document_count, &part);
    }
    if (err == OK) {
        err = family_part_plan_sketches(ctx, txn, &part);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err == OK) {
        err = encode(ctx, txn, change, &part, &draft);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, layouts_apply, ret_seq);
}

/* Reads the ids of the documents of an event, borrowed from it. */
static enum err read_documents(struct arena *arena, const struct family_split_view *facts,
                               struct slice **ret_ids, size_t *ret_count)
{
    struct slice run = facts->document_ids.run;
    struct slice *ids = arena_calloc(arena, FAMILY_PART_DOCUMENTS_MAX, sizeof(*ids));
    size_t count = 0;

    if (ids == NULL) {
        return ERR_MEMORY;
    }
    while (count < FAMILY_PART_DOCUMENTS_MAX && view_next(&run, &ids[count])) {
        count++;
    }
    *ret_ids = ids;
    *ret_count = count;
    return count == 0 || run.size > 0 ? ERR_CORRUPT : OK;
}

enum err family_part_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                           const struct family_split_view *facts,
                           const struct family_split_internal_view *internal)
{
    struct family_part part = {.org = event->org, .from_seq = internal->from_seq};
    struct slice *ids = NULL;
    size_t count = 0;
    enum err err = read_documents(ctx->arena, facts, &ids, &count);

    if (err == OK) {
        err = family_part_plan(ctx, txn, ids, count, &part);
    }
    if (err == OK) {
        err = family_part_read_sketches(ctx, txn, internal, &part);
    }
    return err != OK ? err : family_part_write(ctx, txn, event, &part);
}
