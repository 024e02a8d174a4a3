/*
 * family_split.c: SplitFamily: the decision, its event, and its rows (family_change.h). A split by documents is in
 * family_part.c.
 */
#include "server/domain/events/draft.h"
#include "server/domain/events/payload.h"
#include "server/domain/layouts/families.h"
#include "server/domain/layouts/family_change.h"
#include "server/domain/layouts/family_part.h"
#include "server/domain/layouts/family_past.h"
#include "server/domain/layouts/family_rows.h"

#include <event_apply.h>

/* An alias and its family. */
struct split {
    uint64_t family_seq; /* seq of the alias */
    uint64_t from_seq;
    struct family_record family;
    struct family_record from;
};

/* Reads an alias and its family. ERR_NOT_FOUND if no event with this seq created a family. For a family that is
 * not an alias, `from_seq` is 0. */
static enum err read_split(struct store_txn *txn, struct org_id org, struct split *split)
{
    enum err err = family_row_read(txn, org, split->family_seq, &split->family);

    split->from_seq = err == OK ? split->family.alias_of_seq : 0;
    if (split->from_seq != 0) {
        err = family_row_read(txn, org, split->from_seq, &split->from);
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return err;
}

/* Computes both rows after the split. ERR_CORRUPT if the family does not list its alias. */
static enum err separate(struct split *split)
{
    struct family_record *from = &split->from;
    size_t place = 0;

    while (place < from->alias_count && from->alias_seqs[place] != split->family_seq) {
        place++;
    }
    if (place == from->alias_count) {
        return ERR_CORRUPT;
    }
    from->alias_count--;
    memmove(&from->alias_seqs[place], &from->alias_seqs[place + 1],
            (from->alias_count - place) * sizeof(from->alias_seqs[0]));
    from->alias_seqs[from->alias_count] = 0;
    split->family.alias_of_seq = 0;
    return OK;
}

static enum err encode_family(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                              const struct family_record *family, struct slice *ret_bytes)
{
    struct layout_family_view view;
    enum err err = family_view_make(ctx->arena, txn, org, family, &view);

    if (err != OK) {
        return err;
    }
    return view_encode(&layout_family_view_type, &view, ctx->arena, ret_bytes) ? OK : ERR_MEMORY;
}

static enum err encode(struct ctx *ctx, struct store_txn *txn, const struct split *split,
                       struct event_draft *draft)
{
    const struct family_split_internal_view internal = {.family_seq = split->family_seq};
    struct family_split_view facts = {.has_family = true, .has_remaining = true};
    enum err err = encode_family(ctx, txn, draft->org, &split->family, &facts.family);

    if (err == OK) {
        err = encode_family(ctx, txn, draft->org, &split->from, &facts.remaining);
    }
    if (err == OK &&
        !(view_encode(&family_split_internal_view_type, &internal, ctx->arena, &facts.internal) &&
          view_encode(&family_split_view_type, &facts, ctx->arena, &draft->facts))) {
        err = ERR_MEMORY;
    }
    return err;
}

/* Reads and checks the families that a request names. */
static enum err find_split(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                           struct uuid family_id, struct split *split)
{
    enum err err = log_find(txn, org, family_id, &split->family_seq);

    if (err == OK) {
        err = read_split(txn, org, split);
    }
    if (err == ERR_NOT_FOUND) {
        return fault_say(ctx->fault, err,
                         "layout_family_id: not found in this organisation; expected one of the "
                         "merged_family_ids of a family");
    }
    if (err == OK && split->from_seq == 0) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "layout_family_id: not merged into another family; expected one of the "
                         "merged_family_ids of a family");
    }
    return err != OK ? err : separate(split);
}

enum err family_split(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                      const struct family_split *change, uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_FAMILY_SPLIT,
        .annotator = change->by_program ? ANNOTATOR_CODE : ANNOTATOR_HUMAN,
        .actor_user_id = change->actor_user_id,
    };
    struct split split;
    enum err err = OK;

    if (change->document_count > 0) {
        return family_part(ctx, txn, org, change, ret_seq);
    }
    err = find_split(ctx, txn, org, change->family, &split);
    if (err == OK) {
        err = encode(ctx, txn, &split, &draft);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err == OK) {
        err = event_draft_add_id(ctx->arena, &draft, SUBJECT_LAYOUT_FAMILY, split.from.id);
    }
    if (err == OK) {
        err = event_draft_add_id(ctx->arena, &draft, SUBJECT_LAYOUT_FAMILY, split.family.id);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, layouts_apply, ret_seq);
}

enum err family_split_of_event(const struct event *event, struct family_split_view *ret_facts)
{
    return event->kind == EVENT_FAMILY_SPLIT ? family_split_view_read(event->facts, ret_facts)
                                             : ERR_CORRUPT;
}

/* Writes the rows of an alias that is a separate family again. */
static enum err apply_alias(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                            uint64_t family_seq)
{
    struct split split = {.family_seq = family_seq};
    struct family_members before;
    enum err err = read_split(txn, event->org, &split);

    if (err == OK && split.from_seq == 0) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        family_members_of(split.from_seq, &split.from, &before);
        err = family_past_note(txn, event, &before, NULL);
    }
    if (err == OK) {
        err = separate(&split);
    }
    if (err == OK) {
        err = family_row_write(ctx, txn, event->org, split.family_seq, &split.family);
    }
    return err != OK ? err : family_row_write(ctx, txn, event->org, split.from_seq, &split.from);
}

enum err family_split_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct family_split_internal_view internal;
    struct family_split_view facts;
    enum err err = family_split_of_event(event, &facts);

    if (err == OK) {
        err = family_split_internal_view_read(payload_internal(facts.internal, event->facts),
                                              &internal);
    }
    if (err == OK) {
        err = internal.from_seq != 0 ? family_part_apply(ctx, txn, event, &facts, &internal)
                                     : apply_alias(ctx, txn, event, internal.family_seq);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
