/*
 * apply.c: what a recorded extraction means for the tables: its own rows, the sums of its layout and of
 * the examples that it carried, the day's counters, and which exposures have this outcome.
 */
#include "server/domain/corrections/layout_rows.h"
#include "server/domain/experiment/sums.h"
#include "server/domain/extractions/facts.h"
#include "server/domain/extractions/rows/extraction_rows.h"
#include "server/domain/extractions/rows/records.h"
#include "store/base/assert.h"

#include <event_apply.h>

static enum err add_rows(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                         const struct extraction_facts *facts)
{
    struct extraction_record *record = arena_calloc(ctx->arena, 1, sizeof(*record));

    if (record == NULL) {
        return ERR_MEMORY;
    }
    record->seq = event->seq;
    record->created_at_us = event->created_at_us;
    record->layout_fingerprint = facts->extraction.layout_fingerprint;
    record->arm = (uint32_t)facts->extraction.arm;
    record->layout_ready = facts->internal.layout_ready;
    record->field_count = facts->extraction.field_count;
    return extraction_rows_add(ctx, txn, event->org, record, facts->extraction.document_id,
                               facts->extraction.draft_order_id);
}

static enum err add_sums(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                         const struct extraction_facts *facts)
{
    const struct carrying_extraction carrying = {
        .org = event->org,
        .layout_fingerprint = facts->extraction.layout_fingerprint,
        .confidence_millionths = facts->internal.confidence_millionths,
        .bare = facts->internal.bare,
        .example_seqs = facts->example_seqs,
        .example_count = facts->example_count,
    };
    const struct counted_extraction counted = {
        .org = event->org,
        .layout_fingerprint = facts->extraction.layout_fingerprint,
        .created_at_us = event->created_at_us,
        .confidence_millionths = facts->internal.confidence_millionths,
        .arm = (uint32_t)facts->extraction.arm,
        .layout_ready = facts->internal.layout_ready,
        .field_count = facts->extraction.field_count,
    };
    enum err err = layout_rows_carry(ctx, txn, &carrying);

    return err != OK ? err : sums_add_extraction(ctx, txn, &counted);
}

/* An extraction without a subject cannot be repeated. */
static enum err keep_outcomes(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                              const struct extraction_facts *facts)
{
    struct slice exposures = facts->recorded.exposure_seqs.run;
    struct slice subject = {NULL, 0};
    uint64_t exposure_seq = 0;
    enum err err = citations_subject(ctx->arena, facts->extraction.document_id,
                                     facts->extraction.draft_order_id, &subject);

    while (err == OK && subject.size > 0 && view_next_number(&exposures, &exposure_seq)) {
        err =
            exposure_keep_outcome(txn, event->org, exposure_seq, event->kind, subject, event->seq);
    }
    return err;
}

enum err extractions_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct extraction_facts facts;
    enum err err = extraction_facts_read(ctx->arena, event->facts, &facts);

    ASSERT(extractions_applies(event->kind));
    if (err == OK) {
        err = add_rows(ctx, txn, event, &facts);
    }
    if (err == OK) {
        err = add_sums(ctx, txn, event, &facts);
    }
    return err != OK ? err : keep_outcomes(ctx, txn, event, &facts);
}
