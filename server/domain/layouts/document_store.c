/*
 * document_store.c: decides what a measured document becomes: nothing where it stands there already,
 * else one event, whose facts tell the document and its layout's profile as they are behind it.
 */
#include "server/domain/events/draft.h"
#include "server/domain/layouts/apply.h"
#include "server/domain/layouts/document_event.h"
#include "server/domain/layouts/document_facts.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/layouts/profile_rows.h"
#include "store/base/wire.h"

static enum err say_other_bytes(struct ctx *ctx, const struct document_event *event,
                                const struct document_record *stored)
{
    struct slice shown = fault_shorten(ctx->fault, event->measures->document_id);
    char text[2 * SHA256_BYTES];

    sha256_format(&stored->sha256, text);
    return fault_say(ctx->fault, ERR_EXISTS,
                     "document_id \"%.*s\" is stored with other bytes, whose sha256 is %.*s; send "
                     "those again, or give these another document_id",
                     (int)shown.size, (const char *)shown.data, (int)sizeof(text), text);
}

/* The profile as it will be once the document is counted. */
static enum err encode_profile(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                               const struct log_stamp *stamp, const struct document_event *event,
                               struct slice *ret_bytes)
{
    const struct profile_addend addend = {
        .event_id = stamp->id,
        .seen_at_us = stamp->created_at_us,
        .page_count = event->measures->page_count,
        .table_count = event->measures->table_count,
        .text_coverage_hundredths = event->text_coverage_hundredths,
        .text_density_ten_thousandths = event->text_density_ten_thousandths,
        .fp_version = event->measures->fp_version,
    };
    struct key head_key = profile_head_key(org, &event->measured);
    struct layout_head_record head;
    struct profile_record profile = {.seen_count = 0};
    enum err err = profile_row_read(ctx->arena, txn, org, &event->measured, &profile);

    if (err == OK || err == ERR_NOT_FOUND) {
        err = layout_head_read(ctx->arena, txn, &head_key, &head);
    }
    if (err != OK) {
        return err;
    }
    profile_count(&profile, &event->measured, &addend);
    return profile_encode(ctx->arena, &profile, &head, ret_bytes);
}

/* The facts run; `id` is the document's, `profile` empty where it has none. */
static enum err encode_facts(struct ctx *ctx, const struct log_stamp *stamp,
                             const struct document_event *event, struct slice id,
                             struct slice profile, struct slice *ret_facts)
{
    struct buffer first = {0}; /* what the transaction gives */
    struct buffer buffer = {0};

    buffer_init(&first, ctx->arena, 64);
    wire_put_bytes(&first, DOCUMENT_ID_FIELD, id);
    wire_put_timestamp(&first, DOCUMENT_CREATED_AT_FIELD, stamp->created_at_us);
    buffer_init(&buffer, ctx->arena, 128 + first.size + event->facts.size + profile.size);
    wire_put_header(&buffer, DOCUMENT_INGESTED_DOCUMENT_FIELD, first.size + event->facts.size);
    buffer_append(&buffer, buffer_slice(&first));
    buffer_append(&buffer, event->facts);
    if (profile.size > 0) {
        wire_put_bytes(&buffer, DOCUMENT_INGESTED_PROFILE_FIELD, profile);
    }
    if (event->text_coverage_hundredths != 0) {
        wire_put_varint(&buffer, DOCUMENT_INGESTED_TEXT_COVERAGE_HUNDREDTHS_FIELD,
                        event->text_coverage_hundredths);
    }
    if (event->text_density_ten_thousandths != 0) {
        wire_put_varint(&buffer, DOCUMENT_INGESTED_TEXT_DENSITY_TEN_THOUSANDTHS_FIELD,
                        event->text_density_ten_thousandths);
    }
    if (event->scan) {
        wire_put_varint(&buffer, DOCUMENT_INGESTED_SCAN_FIELD, 1);
    }
    *ret_facts = buffer_slice(&buffer);
    return buffer_ok(&first) && buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

/* Appends and applies; `known_id` is the document's from its earlier event, or empty. */
static enum err append(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                       const struct document_event *ingested, struct slice known_id,
                       uint64_t *ret_seq)
{
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_DOCUMENT_INGESTED,
        .annotator = ANNOTATOR_CODE,
        .actor_user_id = ingested->actor_user_id,
        .content = ingested->content,
    };
    char own_id[UUID_TEXT_BYTES];
    struct slice profile = {NULL, 0};
    const struct event_time now = {.is_given = false};
    enum err err = event_draft_stamp(ctx, txn, &now, &draft);

    if (err == OK && ingested->layout_fingerprint.size > 0) {
        err = encode_profile(ctx, txn, org, &draft.stamp, ingested, &profile);
    }
    if (err == OK) {
        uuid_format(draft.stamp.id, own_id);
        err = encode_facts(ctx, &draft.stamp, ingested,
                           known_id.size > 0 ? known_id : slice_of(own_id, sizeof(own_id)), profile,
                           &draft.facts);
    }
    event_draft_add_subject(&draft, SUBJECT_LAYOUT, ingested->layout_fingerprint);
    event_draft_add_subject(&draft, SUBJECT_DOCUMENT, ingested->measures->document_id);
    return err != OK ? err : event_draft_append(ctx, txn, &draft, layouts_apply, ret_seq);
}

/* The document's id as its earlier event tells it, in the arena. */
static enum err read_known_id(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                              uint64_t seq, struct slice *ret_id)
{
    struct document_facts facts;
    struct event event;
    enum err err = document_event_read(txn, org, seq, &event);

    if (err == OK) {
        err = document_facts_read(event.facts, &facts);
    }
    if (err != OK) {
        return err;
    }
    return arena_copy(ctx->arena, facts.id, ret_id) ? OK : ERR_MEMORY;
}

enum err document_store(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                        const struct document_event *event, uint64_t *ret_seq)
{
    struct slice known_id = {NULL, 0};
    struct document_record stored;
    enum err err = document_row_read(txn, org, event->measures->document_id, &stored);

    if (err == ERR_NOT_FOUND) {
        return append(ctx, txn, org, event, known_id, ret_seq);
    }
    if (err != OK) {
        return err;
    }
    if (memcmp(stored.sha256.bytes, event->measures->sha256.bytes, SHA256_BYTES) != 0) {
        return say_other_bytes(ctx, event, &stored);
    }
    if (stored.layout_fingerprint.size > 0 || event->layout_fingerprint.size == 0) {
        *ret_seq = stored.seq;
        return OK;
    }
    err = read_known_id(ctx, txn, org, stored.seq, &known_id);
    return err != OK ? err : append(ctx, txn, org, event, known_id, ret_seq);
}
