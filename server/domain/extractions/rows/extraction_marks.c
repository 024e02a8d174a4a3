/*
 * extraction_marks.c: assigns corrections that were stored before their extraction. A correction belongs to the
 * newest extraction of its document that was served before it. So an extraction that is recorded late may take
 * corrections from an older one. The assignment depends only on events and rows, not on the order in which they
 * were stored.
 */
#include "server/domain/extractions/rows/extraction_rows_internal.h"

#include "server/domain/events/feedback.h"
#include "server/domain/events/retraction.h"

/* Maximum corrections of one document or draft order that are read for an extraction, newest first: more than
 * users make of one document, and 10 ms of the writer's time. */
#define CORRECTIONS_MAX 1000

/* A document or draft order that an extraction names, and the time range whose corrections belong to the
 * extraction. */
struct chain {
    enum subject_kind kind;
    struct slice id;
    int64_t from_us; /* inclusive */
    int64_t until_us; /* exclusive */
    uint64_t older_seq; /* the extraction that was served before it; 0: none */
};

/* Returns the neighbour of an extraction in one direction; ERR_NOT_FOUND if there is none. */
static enum err find_neighbour(struct store_txn *txn, const struct extraction_entry *entry,
                               const struct chain *chain, enum store_order order,
                               struct extraction_place *ret_place)
{
    struct key own = key_extraction_subject(entry->org, chain->kind, chain->id, entry->served_at_us,
                                            entry->record.seq);
    const struct scan_range range = {
        .table = TABLE_EXTRACTION_SUBJECT,
        .prefix = key_extraction_subject_prefix(entry->org, chain->kind, chain->id),
        .order = order,
        .after = key_slice(&own),
        .rows_max = 1,
    };

    return extraction_find_first(txn, &range, ret_place);
}

/* Returns the start of an extraction's time range if there is an older extraction. Without a reference the
 * extraction was served when it was recorded; corrections of the same microsecond were stored before it. */
static int64_t first_after_older(const struct extraction_entry *entry)
{
    bool has_reference = entry->corrected_from_us == entry->served_at_us;

    return has_reference ? entry->served_at_us : entry->served_at_us + 1;
}

/* Finds the neighbours of an extraction, and from them its time range. Rows are sorted newest first. */
static enum err bound_chain(struct store_txn *txn, const struct extraction_entry *entry,
                            struct chain *chain)
{
    struct extraction_place place;
    enum err err = OK;

    chain->from_us = entry->corrected_from_us;
    chain->until_us = INT64_MAX;
    chain->older_seq = 0;
    if (chain->id.size == 0) {
        return OK;
    }
    err = find_neighbour(txn, entry, chain, STORE_ASCENDING, &place);
    if (err == OK) {
        chain->from_us = first_after_older(entry);
        chain->older_seq = place.seq;
    }
    if (err == OK || err == ERR_NOT_FOUND) {
        err = find_neighbour(txn, entry, chain, STORE_DESCENDING, &place);
    }
    if (err == OK) {
        chain->until_us = place.served_at_us;
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static bool is_correction_of(const struct feedback_event_view *view, const struct chain *chain)
{
    return feedback_is_correction(view->event_type) &&
           slice_equal(chain->kind == SUBJECT_DOCUMENT ? view->document_id : view->draft_order_id,
                       chain->id);
}

static enum err take_event(struct store_txn *txn, struct org_id org, uint64_t seq,
                           const struct chain *chain, struct extraction_record *record)
{
    struct feedback_event_view view;
    struct event event;
    uint64_t retraction_seq = 0;
    enum err err = retraction_find(txn, org, seq, &retraction_seq);

    if (err != OK || retraction_seq != 0) {
        return err;
    }
    err = log_read(txn, org, seq, &event);
    if (err == OK) {
        err = event.kind == EVENT_FEEDBACK ? feedback_view_read(&event, &view) : ERR_CORRUPT;
    }
    if (err == OK && is_correction_of(&view, chain)) {
        extraction_record_correct(record, seq, &view);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Adds the corrections of a chain's time range to a row. */
static enum err take_chain(struct store_txn *txn, struct org_id org, const struct chain *chain,
                           struct extraction_record *record)
{
    struct scan_range range = {
        .table = TABLE_FEEDBACK_SUBJECT,
        .prefix = key_feedback_subject_prefix(org, chain->kind, chain->id),
        .rows_max = CORRECTIONS_MAX,
    };
    struct scan scan = {.rows_max = 0};
    struct key after = range.prefix;
    enum err err = OK;

    if (chain->id.size == 0 || chain->from_us >= chain->until_us) {
        return OK;
    }
    /* No row has this seq. */
    key_put_newest_first(&after, chain->until_us == INT64_MAX ? INT64_MAX : chain->until_us - 1,
                         UINT64_MAX);
    range.after = key_slice(&after);
    err = scan_init(&scan, txn, &range);
    while (err == OK) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        int64_t created_at_us = 0;
        uint64_t seq = 0;

        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_newest_first(key, &created_at_us, &seq);
        }
        if (err == OK && created_at_us < chain->from_us) {
            break;
        }
        if (err == OK) {
            err = take_event(txn, org, seq, chain, record);
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Writes a row whose corrections changed, and counts the change. */
static enum err write_marks(struct ctx *ctx, struct store_txn *txn,
                            const struct extraction_entry *entry,
                            const struct counted_corrections *before)
{
    const struct counted_extraction counted = extraction_counted(entry->org, &entry->record);
    const struct corrections_change corrections = {
        .before = *before, .after = extraction_counted_corrections(&entry->record)};
    enum err err = extraction_row_write(ctx, txn, entry->org, &entry->record);

    return err != OK
               ? err
               : extraction_change_corrected(ctx, txn, &entry->record, &counted, &corrections);
}

/* Adds the corrections that belong to an entry to its record, and lists the extractions that were served before
 * it. */
static enum err take_all(struct store_txn *txn, struct extraction_entry *entry,
                         uint64_t ret_older_seqs[2])
{
    struct chain chains[2] = {{.kind = SUBJECT_DOCUMENT, .id = entry->document_id},
                              {.kind = SUBJECT_DRAFT_ORDER, .id = entry->draft_order_id}};
    enum err err = OK;

    ret_older_seqs[0] = 0;
    ret_older_seqs[1] = 0;
    for (size_t i = 0; i < 2 && err == OK; i++) {
        err = bound_chain(txn, entry, &chains[i]);
        if (err == OK) {
            err = take_chain(txn, entry->org, &chains[i], &entry->record);
        }
        ret_older_seqs[i] = chains[i].older_seq;
    }
    if (ret_older_seqs[0] == ret_older_seqs[1]) {
        ret_older_seqs[1] = 0;
    }
    return err;
}

/* Computes the corrections of a stored extraction again. */
static enum err renew(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq)
{
    struct extraction_entry *entry = arena_calloc(ctx->arena, 1, sizeof(*entry));
    struct counted_corrections before;
    uint64_t older_seqs[2];
    enum err err = entry != NULL ? OK : ERR_MEMORY;

    if (err == OK) {
        err = extraction_entry_read(ctx->arena, txn, org, seq, entry);
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (err != OK) {
        return err;
    }
    before = extraction_counted_corrections(&entry->record);
    extraction_record_clear(&entry->record);
    err = take_all(txn, entry, older_seqs);
    return err != OK ? err : write_marks(ctx, txn, entry, &before);
}

enum err extraction_marks_take(struct ctx *ctx, struct store_txn *txn,
                               struct extraction_entry *entry,
                               const struct counted_corrections *before)
{
    uint64_t older_seqs[2] = {0, 0};
    enum err err = take_all(txn, entry, older_seqs);

    if (err == OK) {
        err = write_marks(ctx, txn, entry, before);
    }
    for (size_t i = 0; i < 2 && err == OK && entry->record.corrected_by_seq != 0; i++) {
        if (older_seqs[i] != 0) {
            err = renew(ctx, txn, entry->org, older_seqs[i]);
        }
    }
    return err;
}

enum err extraction_marks_give(struct ctx *ctx, struct store_txn *txn,
                               const struct extraction_entry *entry)
{
    struct chain chains[2] = {{.kind = SUBJECT_DOCUMENT, .id = entry->document_id},
                              {.kind = SUBJECT_DRAFT_ORDER, .id = entry->draft_order_id}};
    enum err err = OK;

    for (size_t i = 0; i < 2 && err == OK && entry->record.corrected_by_seq != 0; i++) {
        err = bound_chain(txn, entry, &chains[i]);
        if (err == OK && chains[i].older_seq != 0 &&
            (i == 0 || chains[i].older_seq != chains[0].older_seq)) {
            err = renew(ctx, txn, entry->org, chains[i].older_seq);
        }
    }
    return err;
}
