/*
 * document_rows.c: see document_rows.h. A row has the key of the document's newest example, of any annotator
 * kind, superseded or not. The key changes only if that example is added or removed.
 */
#include "server/domain/corrections/document_rows.h"

#include "server/domain/corrections/document_pack.h"
#include "server/domain/corrections/keys.h"
#include "server/domain/events/annotator_kinds.h"
#include "store/base/assert.h"
#include "store/record_fast.h"
#include "store/record_row.h"

#include <record/corrections.views.h>

/* Upper limit of the memory for building one example: 50 events with three texts of 10 KB, their members, and
 * the merged text. */
#define REWRITE_BYTES_MAX ((size_t)64 << 20)

/* Reads a row in the field order of our encoder; returns false for any other order. */
static bool read_in_order(struct slice bytes, struct example_document_record *record)
{
    struct record_fast reader = record_fast_of(bytes);
    uint64_t kinds = 0;
    uint64_t has_superseded = 0;
    uint64_t event_count = 0;
    uint64_t created_at_us = 0;

    record_fast_number(&reader, RECORD_NUMBER_TAG(EXAMPLE_DOCUMENT_ROW_ANNOTATOR_KINDS_FIELD),
                       &kinds);
    record_fast_number(&reader, RECORD_NUMBER_TAG(EXAMPLE_DOCUMENT_ROW_HAS_SUPERSEDED_FIELD),
                       &has_superseded);
    record_fast_number(&reader, RECORD_NUMBER_TAG(EXAMPLE_DOCUMENT_ROW_EVENT_COUNT_FIELD),
                       &event_count);
    record_fast_number(&reader, RECORD_NUMBER_TAG(EXAMPLE_DOCUMENT_ROW_SEQ_FIELD),
                       &record->shown.seq);
    record_fast_fixed(&reader, RECORD_FIXED_TAG(EXAMPLE_DOCUMENT_ROW_CREATED_AT_US_FIELD),
                      &created_at_us);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(EXAMPLE_DOCUMENT_ROW_PACKED_FIELD),
                      &record->packed);
    record->annotator_kinds = (uint32_t)kinds;
    record->has_superseded = has_superseded != 0;
    record->event_count = (uint32_t)event_count;
    record->shown.created_at_us = (int64_t)created_at_us;
    return reader.at == reader.end;
}

static enum err read_view(struct slice bytes, struct example_document_record *record)
{
    struct example_document_row_view message;
    enum err err = example_document_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record->annotator_kinds = message.annotator_kinds;
    record->has_superseded = message.has_superseded;
    record->event_count = message.event_count;
    record->shown = (struct document_place){(int64_t)message.created_at_us, message.seq};
    record->packed = message.packed;
    return OK;
}

static bool is_whole(const struct example_document_record *record)
{
    return annotator_kinds_is_valid(record->annotator_kinds) &&
           record->event_count <= DOCUMENT_PARTS_MAX &&
           (record->event_count > 0) == (record->packed.size > 0);
}

enum err record_decode_example_document(struct slice bytes,
                                        struct example_document_record *ret_record)
{
    struct example_document_record record = {.annotator_kinds = 0};
    enum err err = OK;

    if (!read_in_order(bytes, &record)) {
        record = (struct example_document_record){.annotator_kinds = 0};
        err = read_view(bytes, &record);
    }
    if (record.annotator_kinds == 0) {
        record.annotator_kinds = ANNOTATOR_KINDS_HUMAN;
    }
    if (err != OK || !is_whole(&record)) {
        return ERR_CORRUPT;
    }
    *ret_record = record;
    return OK;
}

enum err record_encode_example_document(struct arena *arena,
                                        const struct example_document_record *record,
                                        struct slice *ret_bytes)
{
    struct example_document_row_view message = {
        .annotator_kinds =
            record->annotator_kinds == ANNOTATOR_KINDS_HUMAN ? 0 : record->annotator_kinds,
        .has_superseded = record->has_superseded,
        .event_count = record->event_count,
        .seq = record->shown.seq,
        .created_at_us = (uint64_t)record->shown.created_at_us,
        .packed = record->packed,
    };

    if (UNEXPECTED(!is_whole(record))) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &example_document_row_view_type, &message, ret_bytes);
}

static bool is_same_place(const struct document_place *a, const struct document_place *b)
{
    return a->seq == b->seq;
}

static enum err delete_row(struct store_txn *txn, const struct document_change *change,
                           const struct document_place *place)
{
    struct key key =
        key_example(change->org, &change->fingerprint, place->created_at_us, place->seq);

    return store_del_if_present(txn, TABLE_EXAMPLE_DOCUMENT, key_slice(&key));
}

/* Deletes the row under its earlier key. If the changed correction is now the newest, it may just have been
 * added, so the row had the key of the second; otherwise the changed one may have been removed. */
static enum err delete_earlier(struct store_txn *txn, const struct document_change *change,
                               const struct document_example *example)
{
    if (example->newest_count == 0 || !is_same_place(&example->newest[0], &change->place)) {
        return delete_row(txn, change, &change->place);
    }
    return example->newest_count == 2 ? delete_row(txn, change, &example->newest[1]) : OK;
}

/* Encodes the row of an example. */
static enum err encode_row(struct arena *arena, struct store_txn *txn,
                           const struct document_change *change,
                           const struct document_example *example, struct slice *ret_value)
{
    const struct document_pack_place newest = {
        .org = change->org,
        .fingerprint = change->fingerprint,
        .place = example->shown[0],
    };
    struct example_document_record record = {
        .annotator_kinds = example->annotator_kinds,
        .has_superseded = example->has_superseded,
        .event_count = example->shown_count,
    };
    enum err err = OK;

    if (example->shown_count > 0) {
        err = document_pack(arena, txn, &newest, &example->record, &record.packed);
    }
    if (err != OK) {
        return err;
    }
    if (example->shown_count > 0 && !is_same_place(&example->shown[0], &example->newest[0])) {
        record.shown = example->shown[0];
    }
    return record_encode_example_document(arena, &record, ret_value);
}

/* Builds the example and its row before the first put. */
static enum err make_row(struct arena *arena, struct store_txn *txn,
                         const struct document_change *change, struct document_example *example,
                         struct slice *ret_value)
{
    struct layout_marks *marks = arena_calloc(arena, 1, sizeof(*marks));
    const struct document_query query = {
        .org = change->org,
        .fingerprint = change->fingerprint,
        .document_id = change->document_id,
        .marks = marks,
        .as_of_seq = UINT64_MAX,
        .annotator_kinds = ANNOTATOR_KINDS_HUMAN,
        .known = change->known,
    };
    struct key head = key_layout_head(change->org, &change->fingerprint);
    struct slice value = {NULL, 0};
    enum err err =
        marks != NULL ? store_get(txn, TABLE_EXAMPLE, key_slice(&head), &value) : ERR_MEMORY;

    if (err == OK) {
        err = record_decode_layout_marks(value, marks);
    }
    if (err == OK) {
        err = document_example_find(arena, txn, &query, example);
    }
    return err != OK || example->newest_count == 0
               ? err
               : encode_row(arena, txn, change, example, ret_value);
}

enum err document_rows_rewrite(struct ctx *ctx, struct store_txn *txn,
                               const struct document_change *change)
{
    struct document_example *example = arena_calloc(ctx->arena, 1, sizeof(*example));
    struct slice value = {NULL, 0};
    struct arena arena;
    struct key key;
    enum err err = OK;

    if (example == NULL) {
        return ERR_MEMORY;
    }
    arena_init(&arena, REWRITE_BYTES_MAX);
    err = make_row(&arena, txn, change, example, &value);
    if (err == OK) {
        err = delete_earlier(txn, change, example);
    }
    if (err == OK && example->newest_count > 0) {
        key = key_example(change->org, &change->fingerprint, example->newest[0].created_at_us,
                          example->newest[0].seq);
        err = store_put(txn, TABLE_EXAMPLE_DOCUMENT, key_slice(&key), value);
    }
    arena_deinit(&arena);
    return err;
}

enum err document_rows_follow(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                              const struct feedback_event_view *view)
{
    const struct document_event known = {.seq = event->seq, .id = event->id, .view = view};
    const struct document_change change = {
        .org = event->org,
        .fingerprint = key_fingerprint_of(view->layout_fingerprint),
        .document_id = view->document_id,
        .place = {event->created_at_us, event->seq},
        .known = &known,
    };

    return view->document_id.size > 0 ? document_rows_rewrite(ctx, txn, &change) : OK;
}
