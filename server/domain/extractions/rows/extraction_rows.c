/*
 * extraction_rows.c: see extraction_rows.h. A corrected field is stored as 8 bytes of the hash of its
 * entity and name; they are kept for extractions that say how many fields they have, no more than
 * that, and no more than RECORD_CORRECTED_FIELDS_MAX.
 */
#include "server/domain/extractions/rows/extraction_rows.h"

#include "server/domain/experiment/sums.h"
#include "server/domain/extractions/rows/keys.h"
#include "server/domain/extractions/rows/records.h"
#include "store/base/bytes.h"

#include <errata/v1/event.views.h>
#include <errata/v1/extraction.views.h>

static enum err read_newest(struct store_txn *txn, struct org_id org, enum subject_kind kind,
                            struct slice id, struct extraction_subject_record *ret_record)
{
    struct key key = key_extraction_subject(org, kind, id);
    struct slice value = {NULL, 0};
    enum err err = ERR_NOT_FOUND;

    if (id.size > 0) {
        err = store_get(txn, TABLE_EXTRACTION_SUBJECT, key_slice(&key), &value);
    }
    return err != OK ? err : record_decode_extraction_subject(value, ret_record);
}

static bool is_newer(const struct extraction_subject_record *a,
                     const struct extraction_subject_record *b)
{
    return a->created_at_us != b->created_at_us ? a->created_at_us > b->created_at_us
                                                : a->seq > b->seq;
}

/* Makes an extraction the newest of a subject, where it is. */
static enum err keep_newest(struct ctx *ctx, struct store_txn *txn, const struct key *key,
                            const struct extraction_subject_record *record)
{
    struct extraction_subject_record kept = {.seq = 0};
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EXTRACTION_SUBJECT, key_slice(key), &value);

    if (err == OK) {
        err = record_decode_extraction_subject(value, &kept);
    }
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    if (err == OK && is_newer(&kept, record)) {
        return OK;
    }
    err = record_encode_extraction_subject(ctx->arena, record, &value);
    return err != OK ? err : store_put(txn, TABLE_EXTRACTION_SUBJECT, key_slice(key), value);
}

static enum err write_row(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                          const struct extraction_record *record)
{
    struct key key = key_extraction(org, record->seq);
    struct slice value = {NULL, 0};
    enum err err = record_encode_extraction(ctx->arena, record, &value);

    return err != OK ? err : store_put(txn, TABLE_EXTRACTION, key_slice(&key), value);
}

enum err extraction_rows_add(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             const struct extraction_record *record, struct slice document_id,
                             struct slice draft_order_id)
{
    const struct extraction_subject_record newest = {record->seq, record->created_at_us};
    struct key document = key_extraction_subject(org, SUBJECT_DOCUMENT, document_id);
    struct key draft = key_extraction_subject(org, SUBJECT_DRAFT_ORDER, draft_order_id);
    enum err err = write_row(ctx, txn, org, record);

    if (err == OK && document_id.size > 0) {
        err = keep_newest(ctx, txn, &document, &newest);
    }
    if (err == OK && draft_order_id.size > 0) {
        err = keep_newest(ctx, txn, &draft, &newest);
    }
    return err;
}

/* The event of the newest extraction of a draft order; ERR_NOT_FOUND if there is none. */
static enum err find_of_draft(struct store_txn *txn, struct org_id org, struct slice draft_order_id,
                              struct event *ret_event)
{
    struct extraction_subject_record newest = {.seq = 0};
    enum err err = read_newest(txn, org, SUBJECT_DRAFT_ORDER, draft_order_id, &newest);

    if (err == OK) {
        err = log_read(txn, org, newest.seq, ret_event);
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return err;
}

/* The document that an extraction was made of, from its facts; empty: it names none. */
static enum err read_document_id(const struct event *event, struct slice *ret_document_id)
{
    struct extraction_recorded_view recorded;
    struct extraction_view extraction;
    enum err err = ERR_CORRUPT;

    if (event->kind == EVENT_EXTRACTION_RECORDED) {
        err = extraction_recorded_view_read(event->facts, &recorded);
    }
    if (err == OK) {
        err = extraction_view_read(recorded.extraction, &extraction);
    }
    if (err == OK) {
        *ret_document_id = extraction.document_id;
    }
    return err;
}

enum err extraction_rows_document_of_draft(struct arena *arena, struct store_txn *txn,
                                           struct org_id org, struct slice draft_order_id,
                                           struct slice *ret_document_id)
{
    struct slice document_id = {NULL, 0};
    struct event event;
    enum err err = find_of_draft(txn, org, draft_order_id, &event);

    if (err == OK) {
        err = read_document_id(&event, &document_id);
    }
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    return arena_copy(arena, document_id, ret_document_id) ? OK : ERR_MEMORY;
}

enum err extraction_rows_layout_of_document(struct store_txn *txn, struct org_id org,
                                            struct slice document_id, uint64_t as_of_seq,
                                            struct slice *ret_fingerprint)
{
    struct extraction_subject_record newest = {.seq = 0};
    struct extraction_record record;
    struct slice value = {NULL, 0};
    struct key key;
    enum err err = read_newest(txn, org, SUBJECT_DOCUMENT, document_id, &newest);

    *ret_fingerprint = slice_of(NULL, 0);
    if (err != OK || newest.seq == 0 || newest.seq > as_of_seq) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    key = key_extraction(org, newest.seq);
    err = store_get(txn, TABLE_EXTRACTION, key_slice(&key), &value);
    if (err == OK) {
        err = record_decode_extraction(value, &record);
    }
    if (err == OK) {
        *ret_fingerprint = record.layout_fingerprint;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* The newest extraction of what a correction names; ERR_NOT_FOUND where there is none. */
static enum err find_extraction(struct store_txn *txn, const struct event *event,
                                const struct feedback_event_view *view, uint64_t *ret_seq)
{
    struct extraction_subject_record document = {.seq = 0, .created_at_us = INT64_MIN};
    struct extraction_subject_record draft = {.seq = 0, .created_at_us = INT64_MIN};
    enum err err = read_newest(txn, event->org, SUBJECT_DOCUMENT, view->document_id, &document);

    if (err == OK || err == ERR_NOT_FOUND) {
        err = read_newest(txn, event->org, SUBJECT_DRAFT_ORDER, view->draft_order_id, &draft);
    }
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_seq = is_newer(&draft, &document) ? draft.seq : document.seq;
    return *ret_seq != 0 ? OK : ERR_NOT_FOUND;
}

static uint64_t hash_field(const struct feedback_event_view *view, struct slice name)
{
    const struct slice nothing = slice_of("", 1);
    const struct slice pieces[] = {view->entity_type, nothing, view->entity_id, nothing, name};
    struct sha256_digest digest = sha256_pieces(pieces, sizeof(pieces) / sizeof(pieces[0]));

    return bytes_get_be64(digest.bytes);
}

static bool is_corrected(const struct extraction_record *record, uint64_t hash)
{
    for (size_t i = 0; i < record->corrected_field_count; i++) {
        if (record->corrected_fields[i] == hash) {
            return true;
        }
    }
    return false;
}

/* Adds the fields of a correction that no earlier one had; gives how many they are. */
static uint32_t add_fields(struct extraction_record *record, const struct feedback_event_view *view)
{
    struct slice names = view->fields_changed.run;
    struct slice name = {NULL, 0};
    size_t count_before = record->corrected_field_count;
    size_t count_max = record->field_count < RECORD_CORRECTED_FIELDS_MAX
                           ? record->field_count
                           : RECORD_CORRECTED_FIELDS_MAX;

    while (record->corrected_field_count < count_max && view_next(&names, &name)) {
        uint64_t hash = hash_field(view, name);

        if (!is_corrected(record, hash)) {
            record->corrected_fields[record->corrected_field_count] = hash;
            record->corrected_field_count++;
        }
    }
    return (uint32_t)(record->corrected_field_count - count_before);
}

/* Marks the row, and counts what that changed. The fingerprint is read where it lies until the row is
 * written. */
static enum err correct_row(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                            const struct feedback_event_view *view,
                            struct extraction_record *record)
{
    struct counted_extraction counted = {
        .org = event->org,
        .created_at_us = record->created_at_us,
        .arm = record->arm,
        .layout_ready = record->layout_ready,
        .field_count = record->field_count,
    };
    bool first = record->corrected_by_seq == 0;
    uint32_t field_count = add_fields(record, view);
    enum err err = OK;

    if (!first && field_count == 0) {
        return OK;
    }
    if (!arena_copy(ctx->arena, record->layout_fingerprint, &counted.layout_fingerprint)) {
        return ERR_MEMORY;
    }
    if (first) {
        record->corrected_by_seq = event->seq;
    }
    err = write_row(ctx, txn, event->org, record);
    return err != OK ? err : sums_add_corrected(ctx, txn, &counted, first, field_count);
}

enum err extraction_rows_correct(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                                 const struct feedback_event_view *view)
{
    struct extraction_record record;
    struct slice value = {NULL, 0};
    struct key key;
    uint64_t seq = 0;
    enum err err = find_extraction(txn, event, view, &seq);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    key = key_extraction(event->org, seq);
    err = store_get(txn, TABLE_EXTRACTION, key_slice(&key), &value);
    if (err == OK) {
        err = record_decode_extraction(value, &record);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return correct_row(ctx, txn, event, view, &record);
}
