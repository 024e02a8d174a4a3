/*
 * extraction_retract.c: removes a retracted correction from the extractions that it marked. An extraction lists
 * its corrections, so the remaining ones are read again. The extractions of the retracted one are looked up
 * among those of its document and draft order, and among those that replaced another extraction and took over
 * its corrections.
 */
#include "server/domain/extractions/rows/extraction_rows_internal.h"

#include "server/domain/events/feedback.h"

/* Maximum extractions of one document or draft order that are examined: more than a pipeline records of one,
 * and 5 ms of the writer's time. */
#define EXTRACTIONS_MAX 1000

/* Extractions that a retracted correction marked. */
struct marked {
    struct org_id org;
    uint64_t correction_seq;
    uint64_t seqs[3 * EXTRACTIONS_MAX];
    size_t count;
};

enum err extraction_kept_put(struct store_txn *txn, const struct extraction_entry *entry)
{
    const struct extraction_record *record = &entry->record;
    const struct slice nothing = {NULL, 0};
    enum err err = OK;

    for (size_t i = 0; i < record->correction_count && err == OK; i++) {
        struct key key = key_extraction_kept(entry->org, record->correction_seqs[i], record->seq);

        err = store_put(txn, TABLE_EXTRACTION_KEPT, key_slice(&key), nothing);
    }
    return err;
}

/* Deletes a row if it exists; most corrections were not taken over. */
static enum err delete_kept(struct store_txn *txn, struct org_id org, uint64_t correction_seq,
                            uint64_t seq)
{
    struct key key = key_extraction_kept(org, correction_seq, seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EXTRACTION_KEPT, key_slice(&key), &value);

    err = err == OK ? store_del(txn, TABLE_EXTRACTION_KEPT, key_slice(&key)) : err;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err extraction_kept_remove(struct store_txn *txn, const struct extraction_entry *entry)
{
    const struct extraction_record *record = &entry->record;
    enum err err = OK;

    for (size_t i = 0; i < record->correction_count && err == OK; i++) {
        err = delete_kept(txn, entry->org, record->correction_seqs[i], record->seq);
    }
    return err;
}

/* Adds an extraction to the list if the correction marks it. */
static enum err note(struct store_txn *txn, struct marked *marked, uint64_t seq)
{
    struct extraction_record record;
    enum err err = extraction_row_read(txn, marked->org, seq, &record);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    for (size_t i = 0; i < marked->count; i++) {
        if (marked->seqs[i] == seq) {
            return OK;
        }
    }
    if (extraction_record_has(&record, marked->correction_seq)) {
        marked->seqs[marked->count] = seq;
        marked->count++;
    }
    return OK;
}

/* Reads the seq of an extraction from the key of a row. */
static enum err read_seq(enum store_table table, struct slice key, uint64_t *ret_seq)
{
    int64_t served_at_us = 0;

    return table == TABLE_EXTRACTION_KEPT ? key_read_extraction_kept(key, ret_seq)
                                          : key_read_newest_first(key, &served_at_us, ret_seq);
}

static enum err note_rows(struct store_txn *txn, enum store_table table, const struct key *prefix,
                          struct marked *marked)
{
    const struct scan_range range = {
        .table = table, .prefix = *prefix, .rows_max = EXTRACTIONS_MAX};
    struct scan scan = {.rows_max = 0};
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        uint64_t seq = 0;

        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = read_seq(table, key, &seq);
        }
        if (err == OK) {
            err = note(txn, marked, seq);
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err note_subject(struct store_txn *txn, enum subject_kind kind, struct slice id,
                             struct marked *marked)
{
    struct key prefix;

    if (id.size == 0) {
        return OK;
    }
    prefix = key_extraction_subject_prefix(marked->org, kind, id);
    return note_rows(txn, TABLE_EXTRACTION_SUBJECT, &prefix, marked);
}

/* Adds the corrections of `old`, except one, to a record that has none. */
static enum err correct_again(struct store_txn *txn, struct org_id org,
                              const struct extraction_record *old, uint64_t except_seq,
                              struct extraction_record *record)
{
    enum err err = OK;

    for (size_t i = 0; i < old->correction_count && err == OK; i++) {
        struct feedback_event_view view;
        struct event event;
        uint64_t seq = old->correction_seqs[i];

        if (seq == except_seq) {
            continue;
        }
        err = log_read(txn, org, seq, &event);
        if (err == OK) {
            err = event.kind == EVENT_FEEDBACK ? feedback_view_read(&event, &view) : ERR_CORRUPT;
        }
        if (err == OK) {
            extraction_record_correct(record, seq, &view);
        }
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Removes the correction from one extraction. */
static enum err uncorrect(struct ctx *ctx, struct store_txn *txn, const struct marked *marked,
                          uint64_t seq)
{
    struct extraction_record old;
    struct extraction_record record;
    struct counted_extraction counted;
    struct corrections_change corrections;
    enum err err = extraction_row_read(txn, marked->org, seq, &old);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (!arena_copy(ctx->arena, old.layout_fingerprint, &old.layout_fingerprint)) {
        return ERR_MEMORY;
    }
    record = old;
    extraction_record_clear(&record);
    err = correct_again(txn, marked->org, &old, marked->correction_seq, &record);
    if (err != OK) {
        return err;
    }
    counted = extraction_counted(marked->org, &record);
    corrections.before = extraction_counted_corrections(&old);
    corrections.after = extraction_counted_corrections(&record);
    err = extraction_row_write(ctx, txn, marked->org, &record);
    return err != OK ? err : extraction_change_corrected(ctx, txn, &record, &counted, &corrections);
}

enum err extraction_rows_uncorrect(struct ctx *ctx, struct store_txn *txn,
                                   const struct event *event,
                                   const struct feedback_event_view *view)
{
    struct marked *marked = arena_alloc(ctx->arena, sizeof(*marked));
    struct key kept = key_extraction_kept_prefix(event->org, event->seq);
    enum err err = marked != NULL ? OK : ERR_MEMORY;

    if (err != OK) {
        return err;
    }
    marked->org = event->org;
    marked->correction_seq = event->seq;
    marked->count = 0;
    err = note_subject(txn, SUBJECT_DOCUMENT, view->document_id, marked);
    if (err == OK) {
        err = note_subject(txn, SUBJECT_DRAFT_ORDER, view->draft_order_id, marked);
    }
    if (err == OK) {
        err = note_rows(txn, TABLE_EXTRACTION_KEPT, &kept, marked);
    }
    for (size_t i = 0; i < marked->count && err == OK; i++) {
        err = uncorrect(ctx, txn, marked, marked->seqs[i]);
        if (err == OK) {
            err = delete_kept(txn, event->org, event->seq, marked->seqs[i]);
        }
    }
    return err;
}
