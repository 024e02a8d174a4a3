/*
 * document_lookup.c: see document_lookup.h.
 */
#include "server/domain/corrections/document_lookup.h"

#include "server/domain/corrections/document_rows.h"
#include "server/domain/corrections/keys.h"
#include "server/domain/events/feedback.h"
#include "store/base/bytes.h"

enum err document_lookup_init(struct document_lookup *lookup, const struct examples_query *query,
                              const struct examples_filter *filter,
                              const struct layout_marks *marks)
{
    *lookup = (struct document_lookup){
        .arena = query->arena,
        .query = {.org = query->org,
                  .fingerprint = key_fingerprint_of(query->layout_fingerprint),
                  .marks = marks,
                  .as_of_seq = filter->as_of_seq,
                  .annotator_kinds = filter->annotator_kinds,
                  .include_superseded = filter->include_superseded},
        .is_past = query->has_as_of,
    };
    if (lookup->is_past) {
        lookup->met = arena_calloc(lookup->arena, EXAMPLES_ROWS_MAX, sizeof(*lookup->met));
    }
    return lookup->is_past && lookup->met == NULL ? ERR_MEMORY : OK;
}

/* Makes the example of the document that an event names. */
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

/* Notes a document; false if it was met before, or there is none. A walk looks at EXAMPLES_ROWS_MAX rows at most. */
static bool meet(struct document_lookup *lookup, struct slice hash)
{
    uint64_t number = 0;

    if (hash.size != EXAMPLE_DOCUMENT_HASH_BYTES || lookup->met_count == EXAMPLES_ROWS_MAX) {
        return false;
    }
    number = bytes_get_be64(hash.data);
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
                          const struct document_place *place, const struct document_row *row,
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

/* Returns whether the filters choose those corrections of a document that its row shows. */
static bool is_prepared(const struct document_query *query,
                        const struct example_document_record *record)
{
    uint32_t wanted = query->annotator_kinds & record->annotator_kinds;

    return wanted == (ANNOTATOR_KINDS_HUMAN & record->annotator_kinds) &&
           !(query->include_superseded && record->has_superseded);
}

enum err document_lookup_row(struct document_lookup *lookup, struct store_txn *txn,
                             const struct document_row *row, struct document_answer *ret_answer)
{
    struct document_place place = {0, 0};
    struct example_document_record record;
    enum err err = key_read_example(row->key, &place.created_at_us, &place.seq);

    if (err != OK || lookup->is_past) {
        return err != OK ? err : look_back(lookup, txn, &place, row, ret_answer);
    }
    err = record_decode_example_document(row->value, &record);
    if (err != OK || !is_prepared(&lookup->query, &record)) {
        return err != OK ? err : make_answer(lookup, txn, place.seq, ret_answer);
    }
    ret_answer->is_found = record.event_count > 0;
    if (ret_answer->is_found) {
        ret_answer->superseded = false;
        ret_answer->event_count = record.event_count;
        ret_answer->place = record.shown.seq != 0 ? record.shown : place;
        ret_answer->record = record.example;
        ret_answer->id = example_id_restore(&record.example, ret_answer->place.created_at_us);
    }
    return OK;
}
