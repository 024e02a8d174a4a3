/*
 * family_merge.c: MergeFamilies: the decision, its event, and its rows (family_change.h).
 */
#include "server/domain/events/draft.h"
#include "server/domain/events/payload.h"
#include "server/domain/layouts/families.h"
#include "server/domain/layouts/family_change.h"
#include "server/domain/layouts/family_members.h"
#include "server/domain/layouts/family_past.h"
#include "server/domain/layouts/family_rows.h"

#include <event_apply.h>

/* The two families of a merge. */
struct pair {
    uint64_t from_seq;
    uint64_t into_seq;
    struct family_record from; /* its own row */
    struct family_record into; /* the remaining family */
    uint64_t requested_seq; /* the family that the request names as the remaining one */
};

static enum err say_not_found(struct ctx *ctx, const char *field)
{
    return fault_say(ctx->fault, ERR_NOT_FOUND,
                     "%s: not found in this organisation; expected the id of a listed family",
                     field);
}

static enum err read_pair(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                          const struct family_merge *merge, struct pair *pair)
{
    enum err err = log_find(txn, org, merge->from, &pair->from_seq);

    if (err == OK) {
        err = family_row_read(txn, org, pair->from_seq, &pair->from);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? say_not_found(ctx, "from_layout_family_id") : err;
    }
    err = log_find(txn, org, merge->into, &pair->requested_seq);
    if (err == OK) {
        err = family_resolve(txn, org, pair->requested_seq, &pair->into_seq, &pair->into);
    }
    return err == ERR_NOT_FOUND ? say_not_found(ctx, "into_layout_family_id") : err;
}

/* Checks whether the families may be merged; `from` has no aliases if it is an alias itself. */
static enum err check_pair(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                           const struct pair *pair)
{
    size_t count = pair->into.alias_count + 1 + pair->from.alias_count;
    struct family_record merged;
    char text[UUID_TEXT_BYTES];
    enum err err = OK;

    if (pair->from_seq == pair->requested_seq) {
        fault_add(ctx->fault, SLICE("into_layout_family_id"),
                  "the same family as from_layout_family_id; expected another family");
        return ERR_INVALID;
    }
    if (pair->from_seq == pair->into_seq) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "into_layout_family_id: already merged into from_layout_family_id; "
                         "expected another family");
    }
    if (pair->from.alias_of_seq != 0) {
        err = family_row_read(txn, org, pair->from.alias_of_seq, &merged);
        uuid_format(merged.id, text);
        return err != OK ? err
                         : fault_say(ctx->fault, ERR_PRECONDITION,
                                     "from_layout_family_id: already merged into %.*s; expected a "
                                     "family that is not merged",
                                     UUID_TEXT_BYTES, text);
    }
    if (count > FAMILY_ALIASES_MAX) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "into_layout_family_id: the family would have %zu aliases; expected at "
                         "most %d",
                         count, FAMILY_ALIASES_MAX);
    }
    return OK;
}

/* The row of the remaining family after the merge. */
static void join(struct pair *pair)
{
    struct family_record *into = &pair->into;

    into->alias_seqs[into->alias_count++] = pair->from_seq;
    memcpy(&into->alias_seqs[into->alias_count], pair->from.alias_seqs,
           pair->from.alias_count * sizeof(into->alias_seqs[0]));
    into->alias_count += pair->from.alias_count;
}

static enum err encode(struct ctx *ctx, struct store_txn *txn, const struct pair *pair,
                       struct event_draft *draft)
{
    const struct families_merged_internal_view internal = {
        .from_seq = pair->from_seq,
        .into_seq = pair->into_seq,
    };
    struct families_merged_view facts = {
        .from_family_id = pair->from.id,
        .into_family_id = pair->into.id,
        .has_requested_family_id = pair->requested_seq != pair->into_seq,
        .has_family = true,
    };
    struct layout_family_view family;
    struct family_record requested;
    enum err err = family_row_read(txn, draft->org, pair->requested_seq, &requested);

    if (err == OK) {
        facts.requested_family_id = requested.id;
        err = family_view_make(ctx->arena, txn, draft->org, &pair->into, &family);
    }
    if (err == OK &&
        !(view_encode(&families_merged_internal_view_type, &internal, ctx->arena,
                      &facts.internal) &&
          view_encode(&layout_family_view_type, &family, ctx->arena, &facts.family) &&
          view_encode(&families_merged_view_type, &facts, ctx->arena, &draft->facts))) {
        err = ERR_MEMORY;
    }
    return err;
}

enum err family_merge(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                      const struct family_merge *merge, uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_FAMILIES_MERGED,
        .annotator = merge->by_program ? ANNOTATOR_CODE : ANNOTATOR_HUMAN,
        .actor_user_id = merge->actor_user_id,
    };
    struct pair pair;
    enum err err = read_pair(ctx, txn, org, merge, &pair);

    if (err == OK) {
        err = check_pair(ctx, txn, org, &pair);
    }
    if (err == OK) {
        join(&pair);
        err = encode(ctx, txn, &pair, &draft);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err == OK) {
        err = event_draft_add_id(ctx->arena, &draft, SUBJECT_LAYOUT_FAMILY, pair.into.id);
    }
    if (err == OK) {
        err = event_draft_add_id(ctx->arena, &draft, SUBJECT_LAYOUT_FAMILY, pair.from.id);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, layouts_apply, ret_seq);
}

enum err family_merge_of_event(const struct event *event, struct families_merged_view *ret_facts)
{
    return event->kind == EVENT_FAMILIES_MERGED ? families_merged_view_read(event->facts, ret_facts)
                                                : ERR_CORRUPT;
}

/* Makes a family an alias of another one, and moves its own aliases to that family. */
static enum err make_alias(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                           uint64_t family_seq, uint64_t into_seq)
{
    struct family_record family;
    enum err err = family_row_read(txn, org, family_seq, &family);

    if (err != OK) {
        return err;
    }
    family.alias_of_seq = into_seq;
    family.alias_count = 0;
    return family_row_write(ctx, txn, org, family_seq, &family);
}

static enum err write_pair(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                           const struct pair *pair)
{
    enum err err = make_alias(ctx, txn, org, pair->from_seq, pair->into_seq);

    for (size_t i = 0; i < pair->from.alias_count && err == OK; i++) {
        err = make_alias(ctx, txn, org, pair->from.alias_seqs[i], pair->into_seq);
    }
    return err != OK ? err : family_row_write(ctx, txn, org, pair->into_seq, &pair->into);
}

enum err family_merge_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct families_merged_internal_view internal;
    struct families_merged_view facts;
    struct family_members into;
    struct family_members from;
    struct pair pair;
    enum err err = family_merge_of_event(event, &facts);

    if (err == OK) {
        err = families_merged_internal_view_read(payload_internal(facts.internal, event->facts),
                                                 &internal);
    }
    if (err != OK) {
        return err;
    }
    pair.from_seq = internal.from_seq;
    pair.into_seq = internal.into_seq;
    err = family_row_read(txn, event->org, pair.from_seq, &pair.from);
    if (err == OK) {
        err = family_row_read(txn, event->org, pair.into_seq, &pair.into);
    }
    if (err == OK && pair.into.alias_count + 1 + pair.from.alias_count > FAMILY_ALIASES_MAX) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        family_members_of(pair.into_seq, &pair.into, &into);
        family_members_of(pair.from_seq, &pair.from, &from);
        err = family_past_note(txn, event, &into, &from);
    }
    if (err == OK) {
        join(&pair);
        err = write_pair(ctx, txn, event->org, &pair);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
