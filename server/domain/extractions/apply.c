/*
 * apply.c: applies a recorded extraction to its rows and sums, the sums of the examples that it cites, the
 * day's counters, and the outcomes of the exposures that it cites. An extraction that replaces another first
 * subtracts what the replaced one added, as recorded in its facts, and keeps its corrections.
 */
#include "server/domain/corrections/layout_rows.h"
#include "server/domain/extractions/facts.h"
#include "server/domain/extractions/rows/extraction_rows.h"
#include "server/domain/mappings/uses.h"
#include "store/base/assert.h"

#include <event_apply.h>

/* The subject under which outcomes are stored, in the arena: the kind of the key, a slash, and its id; empty
 * for an extraction without a key. */
static enum err write_subject(struct arena *arena, const struct extraction_entry *entry,
                              struct slice *ret_subject)
{
    static const char *const kinds[] = {
        [EXTRACTION_KEY_NONE] = "",
        [EXTRACTION_KEY_ID] = "extraction",
        [EXTRACTION_KEY_DOCUMENT] = "document",
        [EXTRACTION_KEY_DRAFT_ORDER] = "draft_order",
    };

    *ret_subject = slice_of(NULL, 0);
    if (entry->key_kind == EXTRACTION_KEY_NONE) {
        return OK;
    }
    *ret_subject = arena_printf(arena, "%s/%.*s", kinds[entry->key_kind], (int)entry->key_id.size,
                                (const char *)entry->key_id.data);
    return ret_subject->size > 0 ? OK : ERR_MEMORY;
}

/* Adds the confidence to the sums of examples, or subtracts it. */
static enum err carry(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                      const struct extraction_facts *facts, bool is_removed)
{
    const struct carrying_extraction carrying = {
        .org = org,
        .layout_fingerprint = facts->extraction.layout_fingerprint,
        .confidence_millionths = facts->internal.confidence_millionths,
        .bare = facts->internal.bare,
        .example_seqs = facts->example_seqs,
        .example_count = facts->example_count,
        .is_removed = is_removed,
    };

    return layout_rows_carry(ctx, txn, &carrying);
}

/* Stores the extraction as the outcome of each exposure that it cites, or removes it. Of several extractions
 * without a key, the first is the outcome. */
static enum err change_outcomes(struct ctx *ctx, struct store_txn *txn,
                                const struct extraction_entry *entry,
                                const struct extraction_facts *facts, bool keep)
{
    const enum event_kind_number kind = EVENT_EXTRACTION_RECORDED;
    struct slice exposures = facts->recorded.exposure_seqs.run;
    struct slice subject = {NULL, 0};
    uint64_t exposure_seq = 0;
    uint64_t seq = entry->record.seq;
    enum err err = write_subject(ctx->arena, entry, &subject);

    while (err == OK && view_next_number(&exposures, &exposure_seq)) {
        err = keep ? exposure_keep_outcome(txn, entry->org, exposure_seq, kind, subject, seq)
                   : exposure_forget_outcome(txn, entry->org, exposure_seq, kind, subject, seq);
    }
    return err;
}

static bool is_applied(const struct extraction_facts *facts, uint64_t seq)
{
    for (size_t i = 0; i < facts->applied_count; i++) {
        if (facts->applied_seqs[i] == seq) {
            return true;
        }
    }
    return false;
}

/* Undoes the uses of mappings that the replacement does not count. */
static enum err undo_uses(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                          const struct extraction_facts *replaced,
                          const struct extraction_facts *replacement)
{
    enum err err = OK;

    for (size_t i = 0; i < replaced->applied_count && err == OK; i++) {
        if (!is_applied(replacement, replaced->applied_seqs[i])) {
            err = mapping_uses_undo(ctx, txn, org, replaced->applied_seqs[i]);
        }
    }
    return err;
}

/* Returns the facts of a stored extraction, copied into the arena, since a put invalidates borrowed bytes. */
static enum err read_facts(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq,
                           struct extraction_facts *ret_facts)
{
    struct slice bytes = {NULL, 0};
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return arena_copy(ctx->arena, event.facts, &bytes)
               ? extraction_facts_read(ctx->arena, bytes, ret_facts)
               : ERR_MEMORY;
}

/* Subtracts all that the replaced extraction added; its event is unchanged. */
static enum err remove_replaced(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                const struct extraction_facts *replacement,
                                struct extraction_entry *ret_replaced)
{
    const struct extraction_credit_change uncounted = {.outcomes = -1};
    uint64_t seq = replacement->recorded.replaced_seq;
    struct extraction_facts facts;
    enum err err = extraction_entry_read(ctx->arena, txn, org, seq, ret_replaced);

    if (err == OK) {
        err = read_facts(ctx, txn, org, seq, &facts);
    }
    if (err == OK) {
        err = carry(ctx, txn, org, &facts, true);
    }
    if (err == OK) {
        err = extraction_rows_remove(ctx, txn, ret_replaced);
    }
    if (err == OK) {
        err = extraction_credits_change(ctx, txn, org, seq, &uncounted);
    }
    if (err == OK) {
        err = change_outcomes(ctx, txn, ret_replaced, &facts, false);
    }
    if (err == OK) {
        err = undo_uses(ctx, txn, org, &facts, replacement);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static void keep_corrections(const struct extraction_record *replaced,
                             struct extraction_record *record)
{
    record->corrected_by_seq = replaced->corrected_by_seq;
    record->corrected_field_count = replaced->corrected_field_count;
    memcpy(record->corrected_fields, replaced->corrected_fields, sizeof(record->corrected_fields));
    record->correction_count = replaced->correction_count;
    memcpy(record->correction_seqs, replaced->correction_seqs, sizeof(record->correction_seqs));
}

enum err extractions_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct extraction_entry *entry = arena_calloc(ctx->arena, 1, sizeof(*entry));
    struct extraction_entry *replaced = arena_calloc(ctx->arena, 1, sizeof(*replaced));
    const struct extraction_credit_change counted = {.outcomes = 1};
    struct extraction_facts facts;
    enum err err = entry != NULL && replaced != NULL ? OK : ERR_MEMORY;

    ASSERT(extractions_applies(event->kind));
    if (err == OK) {
        err = extraction_facts_read(ctx->arena, event->facts, &facts);
    }
    if (err == OK) {
        err = extraction_entry_of_event(event, entry);
    }
    if (err == OK && facts.recorded.replaced_seq != 0) {
        err = remove_replaced(ctx, txn, event->org, &facts, replaced);
        keep_corrections(&replaced->record, &entry->record);
    }
    if (err == OK) {
        err = change_outcomes(ctx, txn, entry, &facts, true);
    }
    if (err == OK) {
        err = extraction_credits_change(ctx, txn, event->org, event->seq, &counted);
    }
    if (err == OK) {
        err = extraction_rows_add(ctx, txn, entry);
    }
    return err != OK ? err : carry(ctx, txn, event->org, &facts, false);
}
