/*
 * apply.c: applies a stored document to its row, the lists, its layout's profile and its layout family. Does
 * not read the content. If a document was stored without a fingerprint and is ingested again with one, its row
 * and its list entry refer to the new event, and its layout counts it for the first time.
 */

#include "server/domain/layouts/document_facts.h"
#include "server/domain/layouts/family_change.h"
#include "server/domain/layouts/family_examples.h"
#include "server/domain/layouts/family_rows.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/layouts/profile_rows.h"
#include "server/domain/layouts/records.h"
#include "store/base/assert.h"

#include <event_apply.h>

/* Upper limit of the memory for one event: several copies of the rows of a document and of a profile. */
#define APPLY_BYTES_MAX (1u << 20)

/* The row of an earlier event of the document; zeroed for its first event. */
static enum err read_earlier(struct store_txn *txn, struct org_id org, struct slice document_id,
                             struct document_record *ret_record)
{
    enum err err = OK;

    memset(ret_record, 0, sizeof(*ret_record));
    err = document_row_read(txn, org, document_id, ret_record);
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err leave_list(struct store_txn *txn, struct org_id org,
                           const struct document_record *earlier)
{
    struct key key = key_document_time(org, earlier->created_at_us, earlier->seq);
    enum err err = store_del(txn, TABLE_DOCUMENT_TIME, key_slice(&key));

    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static enum err enter_lists(struct store_txn *txn, const struct event *event,
                            struct slice layout_fingerprint)
{
    const struct slice nothing = {NULL, 0};
    struct key_fingerprint fingerprint = key_fingerprint_of(layout_fingerprint);
    struct key time = key_document_time(event->org, event->created_at_us, event->seq);
    struct key layout =
        key_document_layout(event->org, &fingerprint, event->created_at_us, event->seq);
    enum err err = store_put(txn, TABLE_DOCUMENT_TIME, key_slice(&time), nothing);

    if (err == OK && layout_fingerprint.size > 0) {
        err = store_put(txn, TABLE_DOCUMENT_LAYOUT, key_slice(&layout), nothing);
    }
    return err;
}

/* Returns the family of a document: the recorded one, or the new one that this event creates. */
static uint64_t family_seq_of(const struct event *event, const struct document_facts *facts)
{
    if (facts->internal.sketch.size == 0) {
        return 0;
    }
    return facts->internal.family_seq != 0 ? facts->internal.family_seq : event->seq;
}

static enum err apply_document(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                               const struct document_facts *facts)
{
    struct key key = key_document(event->org, facts->document.document_id);
    struct document_record record = {
        .seq = event->seq,
        .first_seq = event->seq,
        .created_at_us = event->created_at_us,
        .sha256 = facts->sha256,
        .layout_fingerprint = facts->document.layout_fingerprint,
        .scan = facts->internal.scan,
        .family_seq = family_seq_of(event, facts),
    };
    struct document_record earlier;
    struct slice value = {NULL, 0};
    enum err err = read_earlier(txn, event->org, facts->document.document_id, &earlier);

    if (err == OK && earlier.layout_fingerprint.size > 0) {
        err = ERR_CORRUPT; /* a document with a fingerprint is never stored again */
    }
    if (err == OK && earlier.seq != 0) {
        record.first_seq = earlier.first_seq;
        err = leave_list(txn, event->org, &earlier);
    }
    if (err == OK) {
        err = enter_lists(txn, event, facts->document.layout_fingerprint);
    }
    if (err == OK) {
        err = record_encode_document(ctx->arena, &record, &value);
    }
    return err != OK ? err : store_put(txn, TABLE_DOCUMENT, key_slice(&key), value);
}

static enum err apply_profile(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                              const struct document_facts *facts,
                              const struct sha256_digest *measured)
{
    const struct profile_addend addend = {
        .event_id = event->id,
        .seen_at_us = event->created_at_us,
        .is_history = event->source == SOURCE_BACKFILL,
        .page_count = facts->document.page_count,
        .table_count = facts->document.table_count,
        .text_coverage_hundredths = facts->internal.text_coverage_hundredths,
        .text_density_ten_thousandths = facts->internal.text_density_ten_thousandths,
        .fp_version = facts->document.fp_version,
    };
    struct profile_record old = {.seen_count = 0};
    struct profile_record profile;
    enum err err = profile_row_read(ctx->arena, txn, event->org, measured, &old);

    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    profile = old;
    profile_count(&profile, measured, &addend);
    return profile_row_write(ctx->arena, txn, event->org, &old, &profile);
}

/* Adds the document to its family, and with it the examples that were captured before it was ingested. */
static enum err apply_family(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                             const struct document_facts *facts,
                             const struct sha256_digest *measured)
{
    const struct family_addend addend = {
        .org = event->org,
        .event_id = event->id,
        .event_seq = event->seq,
        .created_at_us = event->created_at_us,
        .measured = *measured,
        .fingerprint = key_fingerprint_of(facts->document.layout_fingerprint),
        .sketch = facts->internal.sketch,
        .family_seq = family_seq_of(event, facts),
        .dropped_seq = facts->internal.family_dropped_seq,
    };

    enum err err = family_rows_add(ctx, txn, &addend);

    if (err != OK || addend.family_seq == 0) {
        return err;
    }
    return family_examples_move(ctx, txn, event->org, facts->document.document_id, 0,
                                addend.family_seq);
}

/* Records for lookups whether the layout's documents are scans; writes the row only if that changed. */
static enum err apply_head(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                           const struct document_facts *facts, const struct sha256_digest *measured)
{
    struct key key = profile_head_key(event->org, measured);
    struct layout_head_record head;
    bool first = false;
    bool first_text = false;
    enum err err = layout_head_read(ctx->arena, txn, &key, &head);

    if (err != OK) {
        return err;
    }
    first = head.first_document_seq == 0;
    first_text = !facts->internal.scan && head.first_text_seq == 0;
    head.measured = slice_of(measured->bytes, SHA256_BYTES);
    head.first_document_seq = first ? event->seq : head.first_document_seq;
    head.first_text_seq = first_text ? event->seq : head.first_text_seq;
    return first || first_text ? layout_head_write(ctx->arena, txn, &key, &head) : OK;
}

static enum err apply_ingested(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct document_facts facts;
    struct sha256_digest measured = {{0}};
    enum err err = document_facts_read(event->facts, &facts);

    if (err == OK && facts.document.layout_fingerprint.size > 0 &&
        !sha256_parse(facts.document.layout_fingerprint, &measured)) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = apply_document(ctx, txn, event, &facts);
    }
    if (err != OK || facts.document.layout_fingerprint.size == 0) {
        return err;
    }
    err = apply_profile(ctx, txn, event, &facts, &measured);
    if (err == OK) {
        err = apply_family(ctx, txn, event, &facts, &measured);
    }
    return err != OK ? err : apply_head(ctx, txn, event, &facts, &measured);
}

static enum err apply_kind(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    if (event->kind == EVENT_FAMILIES_MERGED) {
        return family_merge_apply(ctx, txn, event);
    }
    if (event->kind == EVENT_FAMILY_SPLIT) {
        return family_split_apply(ctx, txn, event);
    }
    return apply_ingested(ctx, txn, event);
}

enum err layouts_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct ctx inner = *ctx;
    struct arena arena;
    enum err err = OK;

    ASSERT(layouts_applies(event->kind));
    arena_init(&arena, APPLY_BYTES_MAX);
    inner.arena = &arena;
    err = apply_kind(&inner, txn, event);
    arena_deinit(&arena);
    return err;
}
