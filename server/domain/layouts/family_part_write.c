/*
 * family_part_write.c: the rows of a split by documents (family_part.h).
 */
#include "server/domain/events/feedback.h"
#include "server/domain/layouts/document_facts.h"
#include "server/domain/layouts/family_examples.h"
#include "server/domain/layouts/family_part_internal.h"
#include "server/domain/layouts/family_rows.h"
#include "store/base/bytes.h"
#include "store/scan.h"

/* Maximum rows of one document, several times over. */
#define DOCUMENT_BYTES_MAX (1u << 20)

/* Where an example is listed. */
struct place {
    int64_t created_at_us;
    uint64_t seq;
};

/* Deletes a row that exists. */
static enum err delete_row(struct store_txn *txn, enum store_table table, const struct key *key)
{
    enum err err = store_del(txn, table, key_slice(key));

    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Deletes the rows of a layout without documents in a member, and records for reads of the past since when it had some. */
static enum err end_layout(struct store_txn *txn, const struct event *event,
                           const struct family_part_document *document, uint64_t first_seq)
{
    struct key count_key =
        key_layout_family(event->org, &document->fingerprint, document->member_seq);
    struct key layout_key =
        key_family_layout(event->org, document->member_seq, &document->fingerprint);
    struct key past_key = key_layout_family_past(event->org, &document->fingerprint,
                                                 document->member_seq, event->seq);
    uint8_t first[sizeof(first_seq)];
    enum err err = delete_row(txn, TABLE_LAYOUT_FAMILY, &count_key);

    if (err == OK) {
        err = delete_row(txn, TABLE_FAMILY_LAYOUT, &layout_key);
    }
    bytes_put_be64(first, first_seq);
    return err != OK ? err
                     : store_put(txn, TABLE_LAYOUT_FAMILY_PAST, key_slice(&past_key),
                                 slice_of(first, sizeof(first)));
}

/* Subtracts a document from the documents of its layout that are of its member. */
static enum err leave_layout(struct store_txn *txn, const struct event *event,
                             const struct family_part_document *document)
{
    struct key key = key_layout_family(event->org, &document->fingerprint, document->member_seq);
    struct slice value = {NULL, 0};
    uint8_t row[LAYOUT_FAMILY_BYTES];
    uint64_t count = 0;
    enum err err = store_get(txn, TABLE_LAYOUT_FAMILY, key_slice(&key), &value);

    if (err != OK || value.size != sizeof(row)) {
        return err == OK || err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    memcpy(row, value.data, sizeof(row));
    count = bytes_get_be64(row);
    if (count <= 1) {
        return end_layout(txn, event, document, bytes_get_be64(row + sizeof(count)));
    }
    bytes_put_be64(row, count - 1);
    return store_put(txn, TABLE_LAYOUT_FAMILY, key_slice(&key), slice_of(row, sizeof(row)));
}

/* Lists a document under the new family instead of its member. */
static enum err move_lists(struct store_txn *txn, const struct event *event,
                           const struct family_part_document *document)
{
    struct key key = key_family_document(event->org, document->member_seq, document->created_at_us,
                                         document->seq);
    const struct family_addend addend = {
        .org = event->org,
        .event_seq = document->seq,
        .created_at_us = document->created_at_us,
        .measured = document->measured,
        .fingerprint = document->fingerprint,
        .family_seq = event->seq,
    };
    enum err err = delete_row(txn, TABLE_FAMILY_DOCUMENT, &key);

    if (err == OK) {
        err = leave_layout(txn, event, document);
    }
    return err != OK ? err : family_rows_enter(txn, &addend, event->seq);
}

/* Records for reads of the past from which family a document was moved. */
static enum err note_moved(struct store_txn *txn, const struct event *event,
                           const struct family_part_document *document)
{
    struct key key = key_document_moved(event->org, document->document_id, event->seq);
    uint8_t family_seq[sizeof(document->member_seq)];

    bytes_put_be64(family_seq, document->member_seq);
    return store_put(txn, TABLE_DOCUMENT_MOVED, key_slice(&key),
                     slice_of(family_seq, sizeof(family_seq)));
}

static enum err move_document_row(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                                  const struct family_part_document *document)
{
    struct key key = key_document(event->org, document->document_id);
    struct slice value = {NULL, 0};
    struct document_record row;
    enum err err = document_row_read(txn, event->org, document->document_id, &row);

    if (err == OK) {
        row.family_seq = event->seq;
        err = record_encode_document(ctx->arena, &row, &value);
    }
    return err != OK ? err : store_put(txn, TABLE_DOCUMENT, key_slice(&key), value);
}

/* Returns whether a feedback event names the document: ids with the same hash share the rows of the index. */
static enum err names_document(struct store_txn *txn, struct org_id org, uint64_t seq,
                               struct slice document_id, bool *ret_names)
{
    struct feedback_event_view view;
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    if (err == OK) {
        err = feedback_view_read(&event, &view);
    }
    if (err == OK) {
        *ret_names = slice_equal(view.document_id, document_id);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Moves an example from a member to the new family; does nothing if the member does not have it. */
static enum err move_example(struct store_txn *txn, const struct event *event,
                             const struct family_part_document *document, const struct place *place)
{
    struct key key =
        key_family_example(event->org, document->member_seq, place->created_at_us, place->seq);
    struct family_example example;
    struct slice value = {NULL, 0};
    bool names = false;
    enum err err = store_get(txn, TABLE_FAMILY_EXAMPLE, key_slice(&key), &value);

    if (err == ERR_NOT_FOUND) {
        return OK;
    }
    if (err == OK) {
        err = family_example_read(key_slice(&key), value, &example);
    }
    if (err == OK) {
        err = names_document(txn, event->org, place->seq, document->document_id, &names);
    }
    return err != OK || !names
               ? err
               : family_example_move(txn, event->org, document->member_seq, event->seq, &example);
}

/* Reads the feedback events of a document. They are moved only afterwards, since a scan does not allow writes. */
static enum err read_places(struct store_txn *txn, struct org_id org, struct slice document_id,
                            struct place *places, size_t *ret_count)
{
    const struct scan_range range = {
        .table = TABLE_FEEDBACK_SUBJECT,
        .prefix = key_feedback_subject_prefix(org, SUBJECT_DOCUMENT, document_id),
        .rows_max = FAMILY_PART_EVENTS_MAX,
    };
    struct scan scan = {.row_count = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    size_t count = 0;
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_newest_first(key, &places[count].created_at_us, &places[count].seq);
            count++;
        }
    }
    scan_deinit(&scan);
    *ret_count = count;
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err move_examples(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                              const struct family_part_document *document)
{
    struct place *places = arena_calloc(ctx->arena, FAMILY_PART_EVENTS_MAX, sizeof(*places));
    size_t count = 0;
    enum err err = places == NULL
                       ? ERR_MEMORY
                       : read_places(txn, event->org, document->document_id, places, &count);

    for (size_t i = 0; i < count && err == OK; i++) {
        err = move_example(txn, event, document, &places[i]);
    }
    return err;
}

/* Deletes the sketch whose key a moved document is; the rows of families are written later. */
static enum err delete_sketch(struct store_txn *txn, struct org_id org, uint64_t seq)
{
    struct key key = key_family_sketch(org, seq);

    return store_del_if_present(txn, TABLE_FAMILY_SKETCH, key_slice(&key));
}

static enum err move_documents(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                               const struct family_part *part)
{
    struct ctx inner = *ctx;
    struct arena arena;
    enum err err = OK;

    arena_init(&arena, DOCUMENT_BYTES_MAX);
    inner.arena = &arena;
    for (size_t i = 0; i < part->count && err == OK; i++) {
        err = move_lists(txn, event, &part->documents[i]);
        if (err == OK) {
            err = note_moved(txn, event, &part->documents[i]);
        }
        if (err == OK) {
            err = move_document_row(&inner, txn, event, &part->documents[i]);
        }
        if (err == OK) {
            err = move_examples(&inner, txn, event, &part->documents[i]);
        }
        if (err == OK) {
            err = delete_sketch(txn, event->org, part->documents[i].seq);
        }
        arena_reset(&arena);
    }
    arena_deinit(&arena);
    return err;
}

static enum err put_sketches(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             uint64_t family_seq, const struct family_part_sketch *sketches,
                             size_t count)
{
    enum err err = OK;

    for (size_t i = 0; i < count && err == OK; i++) {
        const struct family_sketch_record record = {family_seq, sketches[i].sketch};
        struct key key = key_family_sketch(org, sketches[i].seq);
        struct slice value = {NULL, 0};

        err = record_encode_family_sketch(ctx->arena, &record, &value);
        if (err == OK) {
            err = store_put(txn, TABLE_FAMILY_SKETCH, key_slice(&key), value);
        }
    }
    return err;
}

/* Adds the new sketches to the row of a member that loses documents, and writes both. */
static enum err write_member(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             struct family_part_member *member)
{
    struct family_record *record = &member->record;
    enum err err = put_sketches(ctx, txn, org, member->seq, member->reseeds, member->reseed_count);

    if (err == OK && record->sketch_count + member->reseed_count > FAMILY_ROW_SKETCHES_MAX) {
        err = ERR_CORRUPT;
    }
    for (size_t i = 0; i < member->reseed_count && err == OK; i++) {
        record->sketch_seqs[record->sketch_count++] = member->reseeds[i].seq;
    }
    return err != OK ? err : family_row_write(ctx, txn, org, member->seq, record);
}

enum err family_part_write(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                           struct family_part *part)
{
    enum err err = move_documents(ctx, txn, event, part);

    part->family.id = event->id;
    if (err == OK) {
        err = put_sketches(ctx, txn, event->org, event->seq, part->sketches,
                           part->family.sketch_count);
    }
    if (err == OK) {
        err = family_row_write(ctx, txn, event->org, event->seq, &part->family);
    }
    for (size_t i = 0; i < part->changed_count && err == OK; i++) {
        err = write_member(ctx, txn, event->org, &part->changed[i]);
    }
    for (size_t i = 0; i < part->dropped_count && err == OK; i++) {
        err = family_sketch_drop(ctx, txn, event->org, part->dropped[i]);
    }
    return err;
}
