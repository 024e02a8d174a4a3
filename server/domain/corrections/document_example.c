/*
 * document_example.c: see document_example.h. A document's feedback events are in the table FEEDBACK_SUBJECT,
 * newest first. An event with a row in EXAMPLE under the layout is an example; this row has the snippet and the
 * output, and the event in the log has the other values.
 */
#include "server/domain/corrections/document_example.h"

#include "server/domain/corrections/example_make.h"
#include "server/domain/corrections/example_past.h"
#include "server/domain/corrections/keys.h"
#include "server/domain/events/annotator_kinds.h"
#include "server/domain/events/feedback.h"
#include "store/base/wire.h"
#include "store/scan.h"

#include <errata/v1/prompt_service.fields.h>

/* A correction that passes the filters. */
struct candidate {
    struct document_place place;
    struct slice example; /* as in struct example_record */
    bool superseded;
};

/* The corrections of a document that pass the filters. */
struct candidates {
    struct candidate items[DOCUMENT_PARTS_MAX];
    size_t count;
    size_t window_count; /* number of examined events, of all kinds */
};

/* The fields of an example apart from the members of its parts. */
struct shown_part {
    struct slice snippet;
    struct uuid id;
};

static enum err find_superseded_by(struct store_txn *txn, const struct document_query *query,
                                   uint64_t seq, uint64_t *ret_superseded_by_seq)
{
    struct example_mark_record mark = {.superseded_by_seq = 0};
    struct slice value = {NULL, 0};
    struct key key = key_example_mark(query->org, seq);
    size_t place = 0;
    enum err err = OK;

    *ret_superseded_by_seq = 0;
    if (record_find_mark(query->marks, seq, &place, ret_superseded_by_seq)) {
        return OK;
    }
    err = store_get(txn, TABLE_EXAMPLE_MARK, key_slice(&key), &value);
    if (err == OK) {
        err = record_decode_example_mark(value, &mark);
    }
    *ret_superseded_by_seq = mark.superseded_by_seq;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* A correction that is, or was at the requested time, an example of the layout. */
struct found_correction {
    struct example_record record;
    bool superseded;
};

/* Reads an example that was retracted later. Returns ERR_NOT_FOUND if the correction was no example at that
 * time. */
static enum err read_retracted(struct store_txn *txn, const struct document_query *query,
                               const struct key *key, struct found_correction *found)
{
    struct retracted_example_record retracted;
    struct slice value = {NULL, 0};
    enum err err = query->as_of_seq == UINT64_MAX
                       ? ERR_NOT_FOUND
                       : store_get(txn, TABLE_EXAMPLE_RETRACTED, key_slice(key), &value);

    if (err == OK) {
        err = record_decode_retracted_example(value, &retracted);
    }
    if (err != OK || retracted.retracted_by_seq <= query->as_of_seq) {
        return err != OK ? err : ERR_NOT_FOUND;
    }
    found->superseded =
        retracted.superseded_by_seq != 0 && retracted.superseded_by_seq <= query->as_of_seq;
    return record_decode_example(retracted.row, &found->record);
}

/* Reads the example of a correction. ERR_NOT_FOUND if it is not an example of the layout. */
static enum err read_correction(struct store_txn *txn, const struct document_query *query,
                                struct document_place place, struct found_correction *found)
{
    struct key key = key_example(query->org, &query->fingerprint, place.created_at_us, place.seq);
    struct slice value = {NULL, 0};
    uint64_t superseded_by_seq = 0;
    enum err err = store_get(txn, TABLE_EXAMPLE, key_slice(&key), &value);

    if (err == ERR_NOT_FOUND) {
        err = read_retracted(txn, query, &key, found);
    } else if (err == OK) {
        err = record_decode_example(value, &found->record);
        if (err == OK) {
            err = find_superseded_by(txn, query, place.seq, &superseded_by_seq);
        }
        found->superseded = superseded_by_seq != 0 && superseded_by_seq <= query->as_of_seq;
    }
    if (err == OK && !found->superseded && query->as_of_seq != UINT64_MAX) {
        err = example_was_superseded(txn, query->org, place.seq, query->as_of_seq,
                                     &found->superseded);
    }
    return err;
}

/* Examines one feedback event of the document: is it an example of the layout that passes the filters? */
static enum err examine(struct store_txn *txn, const struct document_query *query,
                        struct document_place place, struct candidates *candidates,
                        struct document_example *example)
{
    struct found_correction found;
    enum err err = read_correction(txn, query, place, &found);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    if (example->newest_count < 2) {
        example->newest[example->newest_count] = place;
        example->newest_count++;
    }
    candidates->window_count++;
    example->annotator_kinds |= 1u << found.record.annotator_kind;
    example->has_superseded = example->has_superseded || found.superseded;
    if ((query->annotator_kinds >> found.record.annotator_kind & 1) != 0 &&
        (query->include_superseded || !found.superseded)) {
        candidates->items[candidates->count] =
            (struct candidate){place, found.record.example, found.superseded};
        candidates->count++;
    }
    return OK;
}

static enum err find_candidates(struct store_txn *txn, const struct document_query *query,
                                struct candidates *candidates, struct document_example *example)
{
    const struct scan_range range = {
        .table = TABLE_FEEDBACK_SUBJECT,
        .prefix = key_feedback_subject_prefix(query->org, SUBJECT_DOCUMENT, query->document_id),
        .rows_max = DOCUMENT_EVENTS_MAX,
    };
    struct scan scan;
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK && candidates->window_count < DOCUMENT_PARTS_MAX) {
        struct document_place place = {0, 0};
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_newest_first(key, &place.created_at_us, &place.seq);
        }
        if (err == OK && place.seq <= query->as_of_seq) {
            err = examine(txn, query, place, candidates, example);
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Reads the stored fields of an Example. */
static enum err read_example(struct slice example, struct document_part *part,
                             struct shown_part *shown)
{
    struct wire_reader reader = wire_reader_of(example);
    struct wire_field field = {0};
    enum err err = OK;

    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        if (field.number == EXAMPLE_INPUT_SNIPPET_FIELD) {
            shown->snippet = field.bytes;
        } else if (field.number == EXAMPLE_OUTPUT_FIELD) {
            part->output = field.bytes;
        } else if (field.number == EXAMPLE_REDUCED_FIELD) {
            part->reduced = field.value != 0;
        }
    }
    return err == ERR_NOT_FOUND ? OK : ERR_CORRUPT;
}

/* Reads the event of a correction, unless it is known. */
static enum err read_event(struct arena *arena, struct store_txn *txn,
                           const struct document_query *query, uint64_t seq,
                           struct feedback_event_view *ret_view, struct uuid *ret_id)
{
    struct key key = key_event(query->org, seq);
    struct slice value = {NULL, 0};
    struct event event;
    enum err err = OK;

    if (query->known != NULL && query->known->seq == seq) {
        *ret_view = *query->known->view;
        *ret_id = query->known->id;
        return OK;
    }
    err = store_get(txn, TABLE_EVENT, key_slice(&key), &value);
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    err = log_decode(arena, query->org, seq, value, &event);
    if (err == OK) {
        err = feedback_view_read(&event, ret_view);
        *ret_id = event.id;
    }
    return err;
}

/* Reads the remaining fields of a candidate. Returns ERR_NOT_FOUND if the candidate belongs to another document
 * with the same short hash. */
static enum err read_part(struct arena *arena, struct store_txn *txn,
                          const struct document_query *query, const struct candidate *candidate,
                          struct document_part *part, struct shown_part *shown)
{
    struct feedback_event_view view;
    enum err err = read_event(arena, txn, query, candidate->place.seq, &view, &shown->id);

    if (err != OK) {
        return err;
    }
    if (!slice_equal(view.document_id, query->document_id)) {
        return ERR_NOT_FOUND;
    }
    *part = (struct document_part){
        .is_line = view.event_type == FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
        .is_whole = view.corrected_output_json.size > 0,
        .entity_type = view.entity_type,
        .entity_id = view.entity_id,
        .before = view.before_json,
    };
    return read_example(candidate->example, part, shown);
}

/* The wire bytes of `event_ids`. */
static enum err write_ids(struct arena *arena, const struct shown_part *shown, size_t count,
                          struct slice *ret_ids)
{
    struct buffer ids = {0};

    buffer_init(&ids, arena, count * (UUID_TEXT_BYTES + 2));
    for (size_t i = 0; i < count; i++) {
        char id[UUID_TEXT_BYTES];

        uuid_format(shown[i].id, id);
        wire_put_bytes(&ids, EXAMPLE_EVENT_IDS_FIELD, slice_of(id, sizeof(id)));
    }
    *ret_ids = buffer_slice(&ids);
    return buffer_ok(&ids) ? OK : ERR_MEMORY;
}

/* Returns the newest snippet that is not empty; usually all parts have the same snippet. */
static struct slice choose_snippet(const struct shown_part *shown, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (shown[i].snippet.size > 0) {
            return shown[i].snippet;
        }
    }
    return slice_of(NULL, 0);
}

/* Makes the row's record of the parts. */
static enum err make_record(struct arena *arena, const struct document_query *query,
                            const struct document_part *parts, const struct shown_part *shown,
                            struct document_example *example)
{
    struct document_output output = {.partial = true};
    struct example_text text = {.snippet = choose_snippet(shown, example->shown_count)};
    struct sha256_digest document = sha256(query->document_id);
    struct slice hash = {NULL, 0};
    enum err err = document_output_merge(arena, parts, example->shown_count, &output);

    if (err == OK) {
        err = write_ids(arena, shown, example->shown_count, &text.event_ids);
    }
    if (err == OK &&
        !arena_copy(arena, slice_of(document.bytes, EXAMPLE_DOCUMENT_HASH_BYTES), &hash)) {
        err = ERR_MEMORY;
    }
    if (err != OK) {
        return err;
    }
    text.output = members_value_of(output.json);
    text.partial = output.partial;
    text.reduced = output.reduced;
    example->id = shown[0].id;
    example->record =
        (struct example_record){.document_hash = hash, .annotator_kind = ANNOTATOR_HUMAN};
    example->record.id = example_id_shorten(&example->id, example->shown[0].created_at_us);
    return example_make(arena, &text, &example->record);
}

/* Reads the candidates, newest first, up to the limit of output bytes, and builds the example. */
static enum err make_example(struct arena *arena, struct store_txn *txn,
                             const struct document_query *query,
                             const struct candidates *candidates, struct document_example *example)
{
    struct document_part *parts = arena_calloc(arena, DOCUMENT_PARTS_MAX, sizeof(*parts));
    struct shown_part *shown = arena_calloc(arena, DOCUMENT_PARTS_MAX, sizeof(*shown));
    size_t bytes = 0;
    enum err err = parts != NULL && shown != NULL ? OK : ERR_MEMORY;

    example->superseded = true;
    for (size_t i = 0; i < candidates->count && err == OK; i++) {
        uint32_t at = example->shown_count;

        err = read_part(arena, txn, query, &candidates->items[i], &parts[at], &shown[at]);
        if (err == ERR_NOT_FOUND) {
            err = OK;
            continue;
        }
        bytes += parts[at].output.size;
        if (err == OK && at > 0 && bytes > DOCUMENT_OUTPUT_BYTES_MAX) {
            break;
        }
        example->shown[at] = candidates->items[i].place;
        example->superseded = example->superseded && candidates->items[i].superseded;
        example->shown_count++;
    }
    if (err != OK || example->shown_count == 0) {
        return err;
    }
    return make_record(arena, query, parts, shown, example);
}

enum err document_example_find(struct arena *arena, struct store_txn *txn,
                               const struct document_query *query,
                               struct document_example *ret_example)
{
    struct candidates *candidates = arena_calloc(arena, 1, sizeof(*candidates));
    enum err err = OK;

    if (candidates == NULL) {
        return ERR_MEMORY;
    }
    memset(ret_example, 0, sizeof(*ret_example));
    err = find_candidates(txn, query, candidates, ret_example);
    return err != OK ? err : make_example(arena, txn, query, candidates, ret_example);
}

/* Reads the marks of a layout's head, which every layout with examples has. */
static enum err read_marks(struct store_txn *txn, const struct document_query *query,
                           struct layout_marks *ret_marks)
{
    struct key key = key_layout_head(query->org, &query->fingerprint);
    struct slice head = {NULL, 0};
    enum err err = store_get(txn, TABLE_EXAMPLE, key_slice(&key), &head);

    if (err == OK) {
        err = record_decode_layout_marks(head, ret_marks);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err document_example_find_served(struct arena *arena, struct store_txn *txn, struct org_id org,
                                      const struct exposed_document *shown,
                                      struct document_served *ret_served)
{
    struct layout_marks *marks = arena_calloc(arena, 1, sizeof(*marks));
    struct document_query query = {.org = org,
                                   .marks = marks,
                                   .as_of_seq = shown->as_of_seq,
                                   .annotator_kinds = shown->annotator_kinds,
                                   .include_superseded = shown->include_superseded};
    enum err err = marks != NULL ? log_read(txn, org, shown->seq, &ret_served->event) : ERR_MEMORY;

    if (err == OK && ret_served->event.kind != EVENT_FEEDBACK) {
        err = ERR_NOT_FOUND;
    }
    if (err == OK) {
        err = feedback_view_read(&ret_served->event, &ret_served->view);
    }
    if (err != OK || ret_served->event.content_removed) {
        return err;
    }
    query.fingerprint = key_fingerprint_of(ret_served->view.layout_fingerprint);
    query.document_id = ret_served->view.document_id;
    err = read_marks(txn, &query, marks);
    return err != OK ? err : document_example_find(arena, txn, &query, &ret_served->example);
}
