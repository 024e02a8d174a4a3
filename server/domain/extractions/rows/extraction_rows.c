/*
 * extraction_rows.c: see extraction_rows.h. A corrected field is stored as 8 bytes of the hash of its entity
 * and name.
 */
#include "server/domain/extractions/rows/extraction_rows_internal.h"

#include "server/domain/events/payload.h"
#include "store/base/bytes.h"

#include <errata/v1/event.views.h>
#include <errata/v1/extraction.views.h>

enum err extraction_row_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                             struct extraction_record *ret_record)
{
    struct key key = key_extraction(org, seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EXTRACTION, key_slice(&key), &value);

    return err != OK ? err : record_decode_extraction(value, ret_record);
}

enum err extraction_row_write(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                              const struct extraction_record *record)
{
    struct key key = key_extraction(org, record->seq);
    struct slice value = {NULL, 0};
    enum err err = record_encode_extraction(ctx->arena, record, &value);

    return err != OK ? err : store_put(txn, TABLE_EXTRACTION, key_slice(&key), value);
}

struct counted_extraction extraction_counted(struct org_id org,
                                             const struct extraction_record *record)
{
    return (struct counted_extraction){
        .org = org,
        .layout_fingerprint = record->layout_fingerprint,
        .created_at_us = record->created_at_us,
        .arm = record->arm,
        .exclusion = record->exclusion,
        .field_count = record->field_count,
    };
}

struct counted_corrections extraction_counted_corrections(const struct extraction_record *record)
{
    return (struct counted_corrections){
        .is_corrected = record->corrected_by_seq != 0,
        .field_count = record->corrected_field_count < record->field_count
                           ? (uint32_t)record->corrected_field_count
                           : record->field_count,
    };
}

static uint64_t hash_field(const struct feedback_event_view *view, struct slice name)
{
    const struct slice nothing = slice_of("", 1);
    const struct slice pieces[] = {view->entity_type, nothing, view->entity_id, nothing, name};
    struct sha256_digest digest = sha256_pieces(pieces, sizeof(pieces) / sizeof(pieces[0]));

    return bytes_get_be64(digest.bytes);
}

static bool has_field(const struct extraction_record *record, uint64_t hash)
{
    for (size_t i = 0; i < record->corrected_field_count; i++) {
        if (record->corrected_fields[i] == hash) {
            return true;
        }
    }
    return false;
}

bool extraction_record_has(const struct extraction_record *record, uint64_t correction_seq)
{
    for (size_t i = 0; i < record->correction_count; i++) {
        if (record->correction_seqs[i] == correction_seq) {
            return true;
        }
    }
    return false;
}

void extraction_record_clear(struct extraction_record *record)
{
    record->corrected_by_seq = 0;
    record->corrected_field_count = 0;
    record->correction_count = 0;
}

void extraction_record_correct(struct extraction_record *record, uint64_t seq,
                               const struct feedback_event_view *view)
{
    struct slice names = view->fields_changed.run;
    struct slice name = {NULL, 0};

    if (record->correction_count == RECORD_CORRECTIONS_MAX || extraction_record_has(record, seq)) {
        return;
    }
    record->correction_seqs[record->correction_count] = seq;
    record->correction_count++;
    if (record->corrected_by_seq == 0 || record->corrected_by_seq > seq) {
        record->corrected_by_seq = seq;
    }
    while (record->corrected_field_count < RECORD_CORRECTED_FIELDS_MAX &&
           view_next(&names, &name)) {
        uint64_t hash = hash_field(view, name);

        if (!has_field(record, hash)) {
            record->corrected_fields[record->corrected_field_count] = hash;
            record->corrected_field_count++;
        }
    }
}

/* --- entries --- */

/* Finds why an extraction counts in no arm. Events of store formats below 5 do not record it. */
static uint32_t exclusion_of(const struct extraction_view *extraction, bool layout_ready)
{
    bool has_arm =
        extraction->arm == EXPERIMENT_ARM_TREATMENT || extraction->arm == EXPERIMENT_ARM_CONTROL;

    if (extraction->experiment_exclusion != EXPERIMENT_EXCLUSION_UNSPECIFIED) {
        return (uint32_t)extraction->experiment_exclusion;
    }
    if (!has_arm) {
        return extraction->document_id.size > 0 ? EXPERIMENT_EXCLUSION_NO_HOLDOUT
                                                : EXPERIMENT_EXCLUSION_NO_DOCUMENT;
    }
    return layout_ready ? EXPERIMENT_EXCLUSION_UNSPECIFIED : EXPERIMENT_EXCLUSION_LAYOUT_NOT_READY;
}

static enum err find_key(const struct extraction_view *extraction, uint32_t key_kind,
                         struct extraction_entry *entry)
{
    const struct slice ids[] = {
        [EXTRACTION_KEY_NONE] = {NULL, 0},
        [EXTRACTION_KEY_ID] = extraction->extraction_id,
        [EXTRACTION_KEY_DOCUMENT] = extraction->document_id,
        [EXTRACTION_KEY_DRAFT_ORDER] = extraction->draft_order_id,
    };

    if (key_kind > EXTRACTION_KEY_DRAFT_ORDER ||
        (ids[key_kind].size == 0) != (key_kind == EXTRACTION_KEY_NONE)) {
        return ERR_CORRUPT;
    }
    entry->key_kind = (enum extraction_key_kind)key_kind;
    entry->key_id = ids[key_kind];
    return OK;
}

enum err extraction_entry_of_event(const struct event *event, struct extraction_entry *ret_entry)
{
    struct extraction_recorded_view recorded;
    struct extraction_recorded_internal_view internal;
    struct extraction_view extraction;
    enum err err = ERR_CORRUPT;

    if (event->kind == EVENT_EXTRACTION_RECORDED) {
        err = extraction_recorded_view_read(event->facts, &recorded);
    }
    if (err == OK) {
        err = extraction_recorded_internal_view_read(
            payload_internal(recorded.internal, event->facts), &internal);
    }
    if (err == OK) {
        err = extraction_view_read(recorded.extraction, &extraction);
    }
    if (err != OK) {
        return err;
    }
    memset(ret_entry, 0, sizeof(*ret_entry));
    ret_entry->org = event->org;
    ret_entry->record.seq = event->seq;
    ret_entry->record.created_at_us = event->created_at_us;
    ret_entry->record.layout_fingerprint = extraction.layout_fingerprint;
    ret_entry->record.arm = (uint32_t)extraction.arm;
    ret_entry->record.exclusion = exclusion_of(&extraction, internal.layout_ready);
    ret_entry->record.field_count = extraction.field_count;
    ret_entry->record.cites_exposures = recorded.exposure_seqs.count > 0;
    ret_entry->confidence_millionths = internal.confidence_millionths;
    ret_entry->document_id = extraction.document_id;
    ret_entry->draft_order_id = extraction.draft_order_id;
    ret_entry->served_at_us = internal.has_served_at ? internal.served_at_us : event->created_at_us;
    ret_entry->corrected_from_us =
        internal.has_corrected_from ? internal.corrected_from_us : ret_entry->served_at_us;
    return find_key(&extraction, internal.key_kind, ret_entry);
}

/* Copies borrowed bytes into the arena, since a put invalidates them. */
static bool keep_entry(struct arena *arena, struct extraction_entry *entry)
{
    return arena_copy(arena, entry->record.layout_fingerprint, &entry->record.layout_fingerprint) &&
           arena_copy(arena, entry->key_id, &entry->key_id) &&
           arena_copy(arena, entry->document_id, &entry->document_id) &&
           arena_copy(arena, entry->draft_order_id, &entry->draft_order_id);
}

enum err extraction_entry_read(struct arena *arena, struct store_txn *txn, struct org_id org,
                               uint64_t seq, struct extraction_entry *ret_entry)
{
    struct extraction_record record;
    struct event event;
    enum err err = extraction_row_read(txn, org, seq, &record);

    if (err != OK) {
        return err;
    }
    err = log_read(txn, org, seq, &event);
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    err = extraction_entry_of_event(&event, ret_entry);
    if (err != OK) {
        return err;
    }
    ret_entry->record = record;
    return keep_entry(arena, ret_entry) ? OK : ERR_MEMORY;
}

/* --- adding and removing --- */

/* Puts or deletes the row that lists an extraction under a document or draft order, if it names one. */
static enum err list_under(struct store_txn *txn, const struct extraction_entry *entry,
                           enum subject_kind kind, struct slice id, bool add)
{
    const struct slice nothing = {NULL, 0};
    struct key key =
        key_extraction_subject(entry->org, kind, id, entry->served_at_us, entry->record.seq);

    if (id.size == 0) {
        return OK;
    }
    return add ? store_put(txn, TABLE_EXTRACTION_SUBJECT, key_slice(&key), nothing)
               : store_del(txn, TABLE_EXTRACTION_SUBJECT, key_slice(&key));
}

static enum err list_entry(struct store_txn *txn, const struct extraction_entry *entry, bool add)
{
    enum err err = list_under(txn, entry, SUBJECT_DOCUMENT, entry->document_id, add);

    return err != OK ? err
                     : list_under(txn, entry, SUBJECT_DRAFT_ORDER, entry->draft_order_id, add);
}

static enum err write_key(struct ctx *ctx, struct store_txn *txn,
                          const struct extraction_entry *entry)
{
    const struct extraction_key_record record = {.seq = entry->record.seq};
    struct key key = key_extraction_key(entry->org, entry->key_kind, entry->key_id);
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (entry->key_kind == EXTRACTION_KEY_NONE) {
        return OK;
    }
    err = record_encode_extraction_key(ctx->arena, &record, &value);
    return err != OK ? err : store_put(txn, TABLE_EXTRACTION_KEY, key_slice(&key), value);
}

enum err extraction_rows_add(struct ctx *ctx, struct store_txn *txn, struct extraction_entry *entry)
{
    const struct counted_corrections none = {false, 0};
    struct counted_extraction counted = extraction_counted(entry->org, &entry->record);
    enum err err = write_key(ctx, txn, entry);

    if (err == OK) {
        err = extraction_kept_put(txn, entry);
    }
    counted.confidence_millionths = entry->confidence_millionths;
    if (err == OK) {
        err = list_entry(txn, entry, true);
    }
    if (err == OK) {
        err = sums_add_extraction(ctx, txn, &counted);
    }
    return err != OK ? err : extraction_marks_take(ctx, txn, entry, &none);
}

enum err extraction_rows_remove(struct ctx *ctx, struct store_txn *txn,
                                const struct extraction_entry *entry)
{
    const struct corrections_change corrections = {
        .before = extraction_counted_corrections(&entry->record)};
    struct counted_extraction counted = extraction_counted(entry->org, &entry->record);
    struct key row = key_extraction(entry->org, entry->record.seq);
    struct key key = key_extraction_key(entry->org, entry->key_kind, entry->key_id);
    enum err err = extraction_change_corrected(ctx, txn, &entry->record, &counted, &corrections);

    counted.confidence_millionths = entry->confidence_millionths;
    if (err == OK) {
        err = sums_remove_extraction(ctx, txn, &counted);
    }
    if (err == OK) {
        err = list_entry(txn, entry, false);
    }
    if (err == OK) {
        err = store_del(txn, TABLE_EXTRACTION, key_slice(&row));
    }
    if (err == OK && entry->key_kind != EXTRACTION_KEY_NONE) {
        err = store_del(txn, TABLE_EXTRACTION_KEY, key_slice(&key));
    }
    if (err == OK) {
        err = extraction_kept_remove(txn, entry);
    }
    return err != OK ? err : extraction_marks_give(ctx, txn, entry);
}

/* --- finding --- */

enum err extraction_rows_find_key(struct store_txn *txn, struct org_id org,
                                  enum extraction_key_kind kind, struct slice id, uint64_t *ret_seq)
{
    struct key key = key_extraction_key(org, kind, id);
    struct extraction_key_record record;
    struct slice value = {NULL, 0};
    enum err err = ERR_NOT_FOUND;

    if (kind != EXTRACTION_KEY_NONE) {
        err = store_get(txn, TABLE_EXTRACTION_KEY, key_slice(&key), &value);
    }
    if (err == OK) {
        err = record_decode_extraction_key(value, &record);
    }
    if (err == OK) {
        *ret_seq = record.seq;
    }
    return err;
}

enum err extraction_find_first(struct store_txn *txn, const struct scan_range *range,
                               struct extraction_place *ret_place)
{
    struct scan scan = {.rows_max = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, range);

    if (err == OK) {
        err = scan_next(&scan, &key, &value);
    }
    if (err == OK) {
        err = key_read_newest_first(key, &ret_place->served_at_us, &ret_place->seq);
    }
    scan_deinit(&scan);
    return err;
}

/* Finds the newest extraction of a document or draft order that was served by the given time. If there is none,
 * finds the oldest one, since the clock may have been ahead when it was served. */
static enum err find_served_by(struct store_txn *txn, struct org_id org, enum subject_kind kind,
                               struct slice id, int64_t time_us, struct extraction_place *ret_place)
{
    struct key after = key_extraction_subject(org, kind, id, time_us, UINT64_MAX);
    struct scan_range range = {
        .table = TABLE_EXTRACTION_SUBJECT,
        .prefix = key_extraction_subject_prefix(org, kind, id),
        .after = key_slice(&after), /* no row has this seq */
        .rows_max = 1,
    };
    enum err err = id.size > 0 ? extraction_find_first(txn, &range, ret_place) : ERR_NOT_FOUND;

    if (err == ERR_NOT_FOUND && id.size > 0) {
        range.after = slice_of(NULL, 0);
        range.order = STORE_DESCENDING;
        err = extraction_find_first(txn, &range, ret_place);
    }
    return err;
}

enum err extraction_rows_find_newest(struct store_txn *txn, struct org_id org,
                                     enum subject_kind kind, struct slice id, uint64_t *ret_seq)
{
    struct extraction_place place;
    enum err err = find_served_by(txn, org, kind, id, INT64_MAX, &place);

    if (err == OK) {
        *ret_seq = place.seq;
    }
    return err;
}

enum err extraction_rows_document_of_draft(struct arena *arena, struct store_txn *txn,
                                           struct org_id org, struct slice draft_order_id,
                                           struct slice *ret_document_id)
{
    struct extraction_entry entry = {.document_id = {NULL, 0}};
    uint64_t seq = 0;
    enum err err = extraction_rows_find_newest(txn, org, SUBJECT_DRAFT_ORDER, draft_order_id, &seq);

    if (err == OK) {
        err = extraction_entry_read(arena, txn, org, seq, &entry);
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_document_id = entry.document_id;
    return OK;
}

enum err extraction_rows_layout_of_document(struct store_txn *txn, struct org_id org,
                                            struct slice document_id, uint64_t as_of_seq,
                                            struct slice *ret_fingerprint)
{
    struct extraction_record record;
    uint64_t seq = 0;
    enum err err = extraction_rows_find_newest(txn, org, SUBJECT_DOCUMENT, document_id, &seq);

    *ret_fingerprint = slice_of(NULL, 0);
    if (err != OK || seq > as_of_seq) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    err = extraction_row_read(txn, org, seq, &record);
    if (err == OK) {
        *ret_fingerprint = record.layout_fingerprint;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* --- correcting --- */

/* Finds the extraction to which a correction belongs. ERR_NOT_FOUND if there is none. */
static enum err find_corrected(struct store_txn *txn, const struct event *event,
                               const struct feedback_event_view *view, uint64_t *ret_seq)
{
    struct extraction_place document = {.served_at_us = INT64_MIN};
    struct extraction_place draft = {.served_at_us = INT64_MIN};
    bool draft_is_newer = false;
    enum err err = find_served_by(txn, event->org, SUBJECT_DOCUMENT, view->document_id,
                                  event->created_at_us, &document);

    if (err == OK || err == ERR_NOT_FOUND) {
        err = find_served_by(txn, event->org, SUBJECT_DRAFT_ORDER, view->draft_order_id,
                             event->created_at_us, &draft);
    }
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    draft_is_newer = draft.served_at_us != document.served_at_us
                         ? draft.served_at_us > document.served_at_us
                         : draft.seq > document.seq;
    *ret_seq = draft_is_newer ? draft.seq : document.seq;
    return *ret_seq != 0 ? OK : ERR_NOT_FOUND;
}

enum err extraction_rows_correct(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                                 const struct feedback_event_view *view)
{
    struct extraction_record record;
    struct counted_extraction counted;
    struct corrections_change corrections;
    uint64_t seq = 0;
    size_t correction_count = 0;
    enum err err = find_corrected(txn, event, view, &seq);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    err = extraction_row_read(txn, event->org, seq, &record);
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    corrections.before = extraction_counted_corrections(&record);
    correction_count = record.correction_count;
    extraction_record_correct(&record, event->seq, view);
    if (record.correction_count == correction_count) {
        return OK;
    }
    if (!arena_copy(ctx->arena, record.layout_fingerprint, &record.layout_fingerprint)) {
        return ERR_MEMORY;
    }
    counted = extraction_counted(event->org, &record);
    corrections.after = extraction_counted_corrections(&record);
    err = extraction_row_write(ctx, txn, event->org, &record);
    return err != OK ? err : extraction_change_corrected(ctx, txn, &record, &counted, &corrections);
}
