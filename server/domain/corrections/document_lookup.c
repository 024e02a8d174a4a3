/*
 * document_lookup.c: see document_lookup.h.
 */
#include "server/domain/corrections/document_lookup.h"

#include "server/domain/corrections/document_pack.h"
#include "server/domain/corrections/document_rows.h"
#include "server/domain/corrections/keys.h"
#include "server/domain/events/feedback.h"
#include "store/base/bytes.h"

void document_lookup_init(struct document_lookup *lookup, const struct examples_query *query,
                          const struct examples_filter *filter)
{
    lookup->arena = query->arena;
    lookup->query = (struct document_query){
        .org = query->org,
        .as_of_seq = filter->as_of_seq,
        .annotator_kinds = filter->annotator_kinds,
        .include_superseded = filter->include_superseded,
    };
    lookup->is_past = query->has_as_of;
    lookup->met_count = 0;
}

void document_lookup_set_layout(struct document_lookup *lookup,
                                const struct key_fingerprint *fingerprint,
                                const struct layout_marks *marks)
{
    lookup->query.fingerprint = *fingerprint;
    lookup->query.marks = marks;
}

void document_lookup_restart(struct document_lookup *lookup)
{
    lookup->met_count = 0;
}

/* Builds the example of the document that an event names. */
static enum err make_answer(struct document_lookup *lookup, struct store_txn *txn, uint64_t seq,
                            struct document_answer *ret_answer)
{
    struct document_example *example = arena_calloc(lookup->arena, 1, sizeof(*example));
    struct feedback_event_view view;
    struct event event;
    enum err err = example != NULL ? log_read(txn, lookup->query.org, seq, &event) : ERR_MEMORY;

    if (err == OK) {
        err = feedback_view_read(&event, &view);
    }
    if (err == OK) {
        lookup->query.document_id = view.document_id;
        err = document_example_find(lookup->arena, txn, &lookup->query, example);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    *ret_answer = (struct document_answer){
        .is_found = example->shown_count > 0,
        .superseded = example->superseded,
        .event_count = example->shown_count,
        .place = example->shown[0],
        .id = example->id,
        .record = example->record,
    };
    return OK;
}

/* Records the document of a row of the layout. Returns false if it was recorded before or the row has none. A
 * walk examines at most EXAMPLES_ROWS_MAX rows. */
static bool meet(struct document_lookup *lookup, struct slice hash)
{
    uint64_t number = 0;

    if (hash.size != EXAMPLE_DOCUMENT_HASH_BYTES || lookup->met_count == EXAMPLES_ROWS_MAX) {
        return false;
    }
    number = bytes_get_be64(hash.data) ^ bytes_get_be64(lookup->query.fingerprint.bytes);
    for (size_t i = 0; i < lookup->met_count; i++) {
        if (lookup->met[i] == number) {
            return false;
        }
    }
    lookup->met[lookup->met_count] = number;
    lookup->met_count++;
    return true;
}

static enum err look_back(struct document_lookup *lookup, struct store_txn *txn,
                          const struct document_place *place, const struct example_row *row,
                          struct document_answer *ret_answer)
{
    struct retracted_example_record retracted = {.retracted_by_seq = UINT64_MAX};
    struct example_record record;
    struct slice value = row->value;
    enum err err = OK;

    ret_answer->is_found = false;
    if (row->is_retracted) {
        err = record_decode_retracted_example(row->value, &retracted);
        value = retracted.row;
    }
    if (err != OK || (row->is_retracted && retracted.retracted_by_seq <= lookup->query.as_of_seq)) {
        return err;
    }
    err = record_decode_example(value, &record);
    if (err != OK || place->seq > lookup->query.as_of_seq || !meet(lookup, record.document_hash)) {
        return err;
    }
    return make_answer(lookup, txn, place->seq, ret_answer);
}

/* Returns whether the filters select the same corrections of a document as its stored row. */
static bool is_prepared(const struct document_query *query,
                        const struct example_document_record *record)
{
    uint32_t wanted = query->annotator_kinds & record->annotator_kinds;

    return wanted == (ANNOTATOR_KINDS_HUMAN & record->annotator_kinds) &&
           !(query->include_superseded && record->has_superseded);
}

/* Unpacks the example of a document's row. */
static enum err unpack_answer(const struct document_lookup *lookup, struct store_txn *txn,
                              const struct document_place *place,
                              const struct example_document_record *record,
                              struct document_answer *ret_answer)
{
    const struct document_pack_place newest = {
        .org = lookup->query.org,
        .fingerprint = lookup->query.fingerprint,
        .place = record->shown.seq != 0 ? record->shown : *place,
    };
    enum err err =
        document_unpack(lookup->arena, txn, &newest, record->packed, &ret_answer->record);

    if (err == OK) {
        ret_answer->superseded = false;
        ret_answer->event_count = record->event_count;
        ret_answer->place = newest.place;
        ret_answer->id = example_id_restore(&ret_answer->record, newest.place.created_at_us);
    }
    return err;
}

/* Reads the row of a document; builds the example if the filters are not the default ones. */
static enum err read_document(struct document_lookup *lookup, struct store_txn *txn,
                              const struct document_place *place, struct slice value,
                              struct document_answer *ret_answer)
{
    struct example_document_record record;
    enum err err = record_decode_example_document(value, &record);

    if (err != OK || !is_prepared(&lookup->query, &record)) {
        return err != OK ? err : make_answer(lookup, txn, place->seq, ret_answer);
    }
    ret_answer->is_found = record.event_count > 0;
    return ret_answer->is_found ? unpack_answer(lookup, txn, place, &record, ret_answer) : OK;
}

enum err document_lookup_row(struct document_lookup *lookup, struct store_txn *txn,
                             const struct example_row *row, struct document_answer *ret_answer)
{
    struct document_place place = {0, 0};
    enum err err = key_read_example(row->key, &place.created_at_us, &place.seq);

    if (err != OK) {
        return err;
    }
    return lookup->is_past ? look_back(lookup, txn, &place, row, ret_answer)
                           : read_document(lookup, txn, &place, row->value, ret_answer);
}

enum err document_lookup_example(struct document_lookup *lookup, struct store_txn *txn,
                                 const struct example_row *row, struct document_answer *ret_answer)
{
    struct document_place place = {0, 0};
    struct example_record record;
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (lookup->is_past) {
        return document_lookup_row(lookup, txn, row, ret_answer);
    }
    ret_answer->is_found = false;
    err = key_read_example(row->key, &place.created_at_us, &place.seq);
    if (err == OK) {
        err = record_decode_example(row->value, &record);
    }
    if (err != OK || !meet(lookup, record.document_hash)) {
        return err;
    }
    /* The key of a document's row is that of its newest correction, even if the filter excludes the annotator
     * kind of that correction. */
    err = store_get(txn, TABLE_EXAMPLE_DOCUMENT, row->key, &value);
    if (err == ERR_NOT_FOUND) {
        return make_answer(lookup, txn, place.seq, ret_answer);
    }
    return err != OK ? err : read_document(lookup, txn, &place, value, ret_answer);
}
