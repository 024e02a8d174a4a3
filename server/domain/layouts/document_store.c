/*
 * document_store.c: decides whether a measured document is stored: not if it is stored already; otherwise one
 * event is appended. Its facts hold the document, its layout's profile after it, and the layout family that was
 * assigned, with the similarity.
 */
#include "server/domain/events/draft.h"
#include "server/domain/layouts/document_event.h"
#include "server/domain/layouts/document_facts.h"
#include "server/domain/layouts/family_assign.h"
#include "server/domain/layouts/family_members.h"
#include "server/domain/layouts/family_rows.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/layouts/profile_rows.h"
#include "server/domain/layouts/records.h"

#include <event_apply.h>

static enum err say_other_bytes(struct ctx *ctx, const struct document_event *event,
                                const struct document_record *stored)
{
    struct slice shown = fault_shorten(ctx->fault, event->measures->document_id);
    char text[2 * SHA256_BYTES];

    sha256_format(&stored->sha256, text);
    return fault_say(ctx->fault, ERR_EXISTS,
                     "document_id: '%.*s' is stored with other bytes, whose sha256 is %.*s; "
                     "expected those bytes, or another document_id",
                     (int)shown.size, (const char *)shown.data, (int)sizeof(text), text);
}

/* Finds the family of a document that has a sketch, and records it in the event: the family whose sketch is
 * similar and, if that family was merged, the id of the family into which it was merged. */
static enum err decide_family(struct store_txn *txn, struct org_id org,
                              const struct log_stamp *stamp, struct document_event *event)
{
    struct family_assignment assignment;
    struct family_record family;
    uint64_t family_seq = 0;
    enum err err = OK;

    if (event->internal.sketch.size == 0) {
        return OK;
    }
    err = family_assign(txn, org, &event->measures->sketch, &assignment);
    event->document.has_layout_family_id = true;
    event->document.layout_family_id = stamp->id;
    if (err == OK && assignment.family_seq != 0) {
        err = family_resolve(txn, org, assignment.family_seq, &family_seq, &family);
        event->document.layout_family_id = family.id;
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    event->internal.family_seq = assignment.family_seq;
    event->internal.family_shared_features = assignment.match.similarity.shared;
    event->internal.family_features = assignment.match.similarity.of;
    event->internal.family_by_letterhead = assignment.match.similarity.by_letterhead;
    event->internal.family_matched_seq = assignment.match.seq;
    event->internal.family_dropped_seq = assignment.dropped_seq;
    return OK;
}

/* Returns whether all documents of a layout, including this one, belong to the family of this document. */
static enum err shares_family(struct store_txn *txn, struct org_id org,
                              const struct document_event *event, bool *ret_shares)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(event->document.layout_fingerprint);
    struct family_of_layout before;
    struct family_record family;
    uint64_t family_seq = event->internal.family_seq;
    enum err err = family_of_layout_read(txn, org, &fingerprint, &before);

    if (err == OK && family_seq != 0) {
        err = family_resolve(txn, org, family_seq, &family_seq, &family);
    }
    if (err == OK) {
        *ret_shares = event->document.has_layout_family_id &&
                      (!before.any || (before.family_seq != 0 && before.family_seq == family_seq));
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Computes the profile including the new document. */
static enum err encode_profile(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                               const struct event_draft *draft, const struct document_event *event,
                               struct slice *ret_bytes)
{
    const struct profile_addend addend = {
        .event_id = draft->stamp.id,
        .seen_at_us = draft->created_at_us,
        .is_history = event->time.is_given,
        .page_count = event->measures->page_count,
        .table_count = event->measures->table_count,
        .text_coverage_hundredths = event->internal.text_coverage_hundredths,
        .text_density_ten_thousandths = event->internal.text_density_ten_thousandths,
        .fp_version = event->measures->fp_version,
    };
    struct key head_key = profile_head_key(org, &event->measured);
    struct layout_head_record head;
    struct profile_record record = {.seen_count = 0};
    struct profile profile;
    bool shares = false;
    enum err err = profile_row_read(ctx->arena, txn, org, &event->measured, &record);

    if (err == OK || err == ERR_NOT_FOUND) {
        err = layout_head_read(ctx->arena, txn, &head_key, &head);
    }
    if (err == OK) {
        err = shares_family(txn, org, event, &shares);
    }
    if (err != OK) {
        return err;
    }
    profile_count(&record, &event->measured, &addend);
    profile_of(&record, &head, &profile);
    profile.view.has_layout_family_id = shares;
    profile.view.layout_family_id = event->document.layout_family_id;
    return profile_encode(ctx->arena, &profile, ret_bytes);
}

/* Encodes facts and content; `id` is the document's, `profile` is empty if it has none. */
static enum err encode(struct arena *arena, const struct document_event *event, struct uuid id,
                       struct slice profile, struct event_draft *draft)
{
    struct document_view document = event->document;
    struct document_ingested_view ingested = {
        .has_document = true,
        .profile = profile,
        .has_profile = profile.size > 0,
    };

    document.id = id;
    document.created_at_us = draft->created_at_us;
    document.has_created_at = true;
    return view_encode(&document_ingested_internal_view_type, &event->internal, arena,
                       &ingested.internal) &&
                   view_encode_parts(&document_view_type, &document, arena, &ingested.document,
                                     &draft->content) &&
                   view_encode(&document_ingested_view_type, &ingested, arena, &draft->facts)
               ? OK
               : ERR_MEMORY;
}

/* Appends and applies the event; `known_id` is the document's id from its earlier event, or NULL. */
static enum err append(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                       const struct document_event *measured, const struct uuid *known_id,
                       uint64_t *ret_seq)
{
    struct document_event ingested = *measured; /* a write may run again after a failed commit */
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_DOCUMENT_INGESTED,
        .annotator = ANNOTATOR_CODE,
        .actor_user_id = ingested.actor_user_id,
    };
    struct slice profile = {NULL, 0};
    const struct slice request = {NULL, 0};
    enum err err = event_draft_stamp(ctx, txn, &ingested.time, &draft);

    if (err == OK) {
        event_time_check(ctx, &ingested.time, request, draft.stamp.created_at_us);
        err = fault_result(ctx->fault);
    }
    if (err == OK) {
        err = decide_family(txn, org, &draft.stamp, &ingested);
    }
    if (err == OK && ingested.document.layout_fingerprint.size > 0) {
        err = encode_profile(ctx, txn, org, &draft, &ingested, &profile);
    }
    if (err == OK) {
        err = encode(ctx->arena, &ingested, known_id == NULL ? draft.stamp.id : *known_id, profile,
                     &draft);
    }
    event_draft_add_subject(&draft, SUBJECT_LAYOUT, ingested.document.layout_fingerprint);
    event_draft_add_subject(&draft, SUBJECT_DOCUMENT, ingested.measures->document_id);
    return err != OK ? err : event_draft_append(ctx, txn, &draft, layouts_apply, ret_seq);
}

/* Returns the document's id from its earlier event. */
static enum err read_known_id(struct store_txn *txn, struct org_id org, uint64_t seq,
                              struct uuid *ret_id)
{
    struct document_facts facts;
    struct event event;
    enum err err = document_event_read(txn, org, seq, &event);

    if (err == OK) {
        err = document_facts_read(event.facts, &facts);
    }
    if (err == OK) {
        *ret_id = facts.document.id;
    }
    return err;
}

enum err document_store(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                        const struct document_event *event, uint64_t *ret_seq)
{
    struct uuid known_id;
    struct document_record stored;
    enum err err = document_row_read(txn, org, event->measures->document_id, &stored);

    if (err == ERR_NOT_FOUND) {
        return append(ctx, txn, org, event, NULL, ret_seq);
    }
    if (err != OK) {
        return err;
    }
    if (memcmp(stored.sha256.bytes, event->measures->sha256.bytes, SHA256_BYTES) != 0) {
        return say_other_bytes(ctx, event, &stored);
    }
    if (stored.layout_fingerprint.size > 0 || event->document.layout_fingerprint.size == 0) {
        *ret_seq = stored.seq;
        return OK;
    }
    err = read_known_id(txn, org, stored.seq, &known_id);
    return err != OK ? err : append(ctx, txn, org, event, &known_id, ret_seq);
}
