/*
 * examples.c: see examples.h. Searches the layout with exactly the requested fingerprint; examples_family.c
 * searches the other layouts of its family. A lookup of the past also finds the examples that were retracted
 * later.
 */
#include "server/domain/corrections/examples.h"

#include "server/domain/corrections/document_lookup.h"
#include "server/domain/corrections/example_family.h"
#include "server/domain/corrections/example_hints.h"
#include "server/domain/corrections/example_past.h"
#include "server/domain/corrections/example_source.h"
#include "server/domain/corrections/examples_family.h"
#include "server/domain/corrections/keys.h"
#include "server/domain/corrections/records.h"
#include "server/domain/experiment/arm.h"
#include "server/domain/experiment/sums.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/records.h"
#include "store/base/wire.h"

/* The unit of the sums of confidences. */
#define CONFIDENCE_UNIT 1e6

/* Minimum number of extractions for a mean. */
#define IMPROVEMENT_COUNT_MIN 3

struct lookup {
    struct store_txn *txn;
    const struct examples_query *query;
    struct buffer *body; /* destination of the examples; NULL: none */
    struct examples_filter filter;
    bool by_document; /* DOCUMENT grouping */
    struct document_lookup documents; /* documents of DOCUMENT grouping */
    struct key_fingerprint fingerprint; /* fingerprint of the requested layout */
    struct layout_marks marks; /* marks of that layout */
    struct layout_marks other_marks; /* marks of `other` */
    const struct examples_family_layout
        *other; /* layout of the next row if it is another layout of the family; else NULL */
    /* The first mark that may belong to the next row; marks and rows are both sorted newest first. */
    size_t mark;
    /* The family whose examples are served; without members: only the layout's. */
    struct family_members family;
    bool of_family; /* select only rows that belong to `family` */
    bool is_past_family; /* set with `of_family` if older rows do not belong to the family */
    size_t family_reads; /* rows that were read to decide whether examples belong to the family */
    struct uuid ids[EXAMPLES_LIMIT_MAX]; /* ids of the chosen examples */
    struct example_hint
        hints[EXAMPLES_LIMIT_MAX]; /* prompt pieces of the chosen examples, written after them */
    struct exposed_artifact artifacts[EXAMPLES_LIMIT_MAX]; /* artifacts of the chosen examples */
    uint8_t hint_hashes[EXAMPLES_LIMIT_MAX]
                       [KEY_HASH_BYTES]; /* hint hashes of the chosen examples */
    uint32_t count; /* chosen */
    uint32_t other_count; /* number of chosen examples of other layouts */
    uint32_t served_count; /* number of served examples: all, or 0 if the document is held out */
    enum experiment_arm arm;
    uint64_t as_of_seq; /* the last event that the response can depend on */
    int64_t as_of_us; /* time of the as_of event: no example was newer then */
    bool
        incomplete; /* EXAMPLES_ROWS_MAX was reached before the limit, and rows are left; or misses_removed */
    bool document_known; /* the named document was ingested */
    struct document_state document; /* state of the named document */
    bool
        withheld; /* the document, or each document of the layout, is a scan, so there are no examples */
    bool
        layout_ready; /* the layout has enough examples for the experiment; set only for a document in an arm */
};

static bool wants_hints(const struct examples_query *query)
{
    return query->view != EXAMPLE_VIEW_EXAMPLES;
}

/* Returns the changing values of an example; zeros if it has no mark. */
static enum err read_mark(struct lookup *lookup, uint64_t seq, struct example_mark_record *ret_mark)
{
    const struct layout_marks *marks =
        lookup->other != NULL ? &lookup->other_marks : &lookup->marks;
    struct slice value = {NULL, 0};
    struct key key;
    enum err err = OK;

    *ret_mark = (struct example_mark_record){.superseded_by_seq = 0};
    if (record_find_mark(marks, seq, &lookup->mark, &ret_mark->superseded_by_seq)) {
        record_read_carried(marks, lookup->mark - 1, &ret_mark->carried_count,
                            &ret_mark->carried_sum);
        return OK;
    }
    key = key_example_mark(lookup->query->org, seq);
    err = store_get(lookup->txn, TABLE_EXAMPLE_MARK, key_slice(&key), &value);
    if (err == OK) {
        err = record_decode_example_mark(value, ret_mark);
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Returns the mean confidence of extractions with an example minus that of extractions without examples; false
 * if either is unknown. The sums of an example include only extractions of its own layout, so the examples of
 * other layouts are not compared. */
static bool find_improvement(const struct lookup *lookup, const struct example_mark_record *mark,
                             double *ret_improvement)
{
    const struct layout_marks *marks = &lookup->marks;

    if (lookup->query->has_as_of || lookup->other != NULL ||
        mark->carried_count < IMPROVEMENT_COUNT_MIN || marks->bare_count < IMPROVEMENT_COUNT_MIN) {
        return false;
    }
    *ret_improvement = ((double)mark->carried_sum / (double)mark->carried_count -
                        (double)marks->bare_sum / (double)marks->bare_count) /
                       CONFIDENCE_UNIT;
    return true;
}

/* The fields are written in an order that needs few appends; protobuf decoders accept any order. */
static void write_example(const struct lookup *lookup, const struct example_record *row,
                          struct uuid id, int64_t created_at_us, bool superseded,
                          const struct example_mark_record *mark)
{
    bool is_other = lookup->other != NULL;
    struct slice fingerprint = is_other ? lookup->other->text : lookup->query->layout_fingerprint;
    uint8_t front[4 + UUID_TEXT_BYTES + WIRE_TIMESTAMP_BYTES_MAX] = {
        EXAMPLE_MATCH_LEVEL_FIELD << 3 | WIRE_VARINT,
        is_other ? MATCH_LEVEL_FAMILY : MATCH_LEVEL_EXACT, EXAMPLE_ID_FIELD << 3 | WIRE_BYTES,
        UUID_TEXT_BYTES};
    size_t front_bytes = 4 + UUID_TEXT_BYTES;
    double improvement = 0;
    bool improves = find_improvement(lookup, mark, &improvement);
    size_t more = 0;

    uuid_format(id, (char *)front + 4);
    front_bytes +=
        wire_write_timestamp(front + front_bytes, EXAMPLE_CREATED_AT_FIELD, created_at_us);
    more = front_bytes + wire_header_bytes(EXAMPLE_LAYOUT_FINGERPRINT_FIELD, fingerprint.size) +
           fingerprint.size + (superseded ? 2 : 0) + (improves ? 9 : 0);
    wire_put_header(lookup->body, GET_EXAMPLES_RESPONSE_EXAMPLES_FIELD, row->example.size + more);
    buffer_append(lookup->body, slice_of(front, front_bytes));
    wire_put_bytes(lookup->body, EXAMPLE_LAYOUT_FINGERPRINT_FIELD, fingerprint);
    buffer_append(lookup->body, row->example);
    if (superseded) {
        wire_put_varint(lookup->body, EXAMPLE_SUPERSEDED_FIELD, 1);
    }
    if (improves) {
        wire_put_double(lookup->body, EXAMPLE_CONFIDENCE_IMPROVEMENT_FIELD, improvement);
    }
}

/* `version` is 1, or the number of events of a document's example. */
static void choose(struct lookup *lookup, const struct example_record *row, struct uuid id,
                   struct exposed_artifact artifact)
{
    lookup->ids[lookup->count] = id;
    lookup->hints[lookup->count] = (struct example_hint){row->example, row->hint};
    lookup->artifacts[lookup->count] = artifact;
    memcpy(lookup->hint_hashes[lookup->count], row->hint_hash, KEY_HASH_BYTES);
    lookup->count++;
    lookup->other_count += lookup->other != NULL ? 1 : 0;
}

/* Returns whether an example was superseded at the requested time. */
static enum err find_superseded(const struct lookup *lookup, uint64_t seq,
                                const struct example_mark_record *mark, bool *ret_superseded)
{
    *ret_superseded = examples_filter_is_superseded(&lookup->filter, mark->superseded_by_seq);
    return *ret_superseded || !lookup->query->has_as_of
               ? OK
               : example_was_superseded(lookup->txn, lookup->query->org, seq,
                                        lookup->filter.as_of_seq, ret_superseded);
}

/* Decodes a row. For a retracted example, `ret_mark` is its mark; for others see read_mark. */
static enum err decode_row(const struct example_row *found, struct example_record *ret_row,
                           struct example_mark_record *ret_mark, uint64_t *ret_retracted_by_seq)
{
    struct retracted_example_record retracted;
    enum err err = OK;

    *ret_mark = (struct example_mark_record){.superseded_by_seq = 0};
    *ret_retracted_by_seq = UINT64_MAX;
    if (!found->is_retracted) {
        return record_decode_example(found->value, ret_row);
    }
    err = record_decode_retracted_example(found->value, &retracted);
    if (err != OK) {
        return err;
    }
    ret_mark->superseded_by_seq = retracted.superseded_by_seq;
    *ret_retracted_by_seq = retracted.retracted_by_seq;
    return record_decode_example(retracted.row, ret_row);
}

/* Returns whether the example at a place of the layout belongs to the family. */
static enum err is_of_family(struct lookup *lookup, int64_t created_at_us, uint64_t seq,
                             bool *ret_is)
{
    const struct examples_family_place place = {
        .org = lookup->query->org,
        .members = &lookup->family,
        .created_at_us = created_at_us,
        .seq = seq,
        .as_of_seq = lookup->filter.as_of_seq,
    };
    bool has_older = true;
    enum err err = examples_family_has(lookup->txn, &place, ret_is, &has_older);

    lookup->family_reads += lookup->family.count;
    lookup->is_past_family = !has_older;
    return err;
}

/* Selects the example of a document if it passes the filters. */
static enum err take_answer(struct lookup *lookup, const struct document_answer *answer)
{
    const struct example_mark_record unmarked = {.superseded_by_seq = 0};

    if (!answer->is_found || !examples_filter_passes_document(&lookup->filter, &answer->record)) {
        return OK;
    }
    if (lookup->body != NULL) {
        write_example(lookup, &answer->record, answer->id, answer->place.created_at_us,
                      answer->superseded, &unmarked);
    }
    choose(lookup, &answer->record, answer->id,
           (struct exposed_artifact){.seq = answer->place.seq, .version = answer->event_count});
    examples_filter_take(&lookup->filter, &answer->record);
    return OK;
}

/* Selects a row that has the example of a document. All corrections of a document belong to one family. */
static enum err take_document(struct lookup *lookup, const struct example_row *found)
{
    struct document_answer answer;
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    bool may = true;
    enum err err = document_lookup_row(&lookup->documents, lookup->txn, found, &answer);

    if (err == OK && answer.is_found && lookup->of_family) {
        err = key_read_example(found->key, &created_at_us, &seq);
        if (err == OK) {
            err = is_of_family(lookup, created_at_us, seq, &may);
        }
    }
    return err != OK || !may ? err : take_answer(lookup, &answer);
}

static enum err take_row(struct lookup *lookup, const struct example_row *found)
{
    struct example_mark_record mark;
    struct example_record row;
    struct uuid id;
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    uint64_t retracted_by_seq = 0;
    bool superseded = false;
    bool may = true;
    enum err err = key_read_example(found->key, &created_at_us, &seq);

    if (err == OK) {
        err = decode_row(found, &row, &mark, &retracted_by_seq);
    }
    if (err != OK) {
        return err;
    }
    if ((retracted_by_seq <= lookup->filter.as_of_seq && found->is_retracted) ||
        !examples_filter_passes(&lookup->filter, seq, &row)) {
        return OK;
    }
    if (!found->is_retracted) {
        err = read_mark(lookup, seq, &mark);
    }
    if (err == OK) {
        err = find_superseded(lookup, seq, &mark, &superseded);
    }
    if (err != OK || (superseded && !lookup->filter.include_superseded)) {
        return err;
    }
    if (lookup->of_family) {
        err = is_of_family(lookup, created_at_us, seq, &may);
    }
    if (err != OK || !may) {
        return err;
    }
    id = example_id_restore(&row, created_at_us);
    if (lookup->body != NULL) {
        write_example(lookup, &row, id, created_at_us, superseded, &mark);
    }
    choose(lookup, &row, id, (struct exposed_artifact){.seq = seq, .version = 1});
    examples_filter_take(&lookup->filter, &row);
    return OK;
}

/* Sets `incomplete` if the limit of rows was reached while examples were missing and rows are left. */
static enum err look_for_more(struct lookup *lookup, struct example_source *source)
{
    struct example_row row;
    enum err err = example_source_next(source, &row);

    lookup->incomplete = err == OK;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Returns whether all documents of the layout were scans at the requested time. Each document is counted once
 * and permanently, so the first scan and the first document with text decide. */
static bool is_scanned_layout(const struct lookup *lookup)
{
    const struct layout_marks *marks = &lookup->marks;
    uint64_t now = lookup->query->has_as_of ? lookup->query->as_of_seq : UINT64_MAX;

    return marks->first_document_seq != 0 && marks->first_document_seq <= now &&
           (marks->first_text_seq == 0 || marks->first_text_seq > now);
}

/* `head` is the layout's head row; it is read after the prefetch of the first rows was started. */
static enum err walk(struct lookup *lookup, struct example_source *source, struct slice head)
{
    struct example_row rows[EXAMPLES_LIMIT_MAX];
    size_t passed = 0;
    size_t wanted = lookup->query->limit;
    size_t count = 0;
    enum err err = example_source_gather(source, wanted, rows, &count);

    if (err == OK) {
        err = record_decode_layout_marks(head, &lookup->marks);
    }
    if (err == OK && !lookup->document_known && is_scanned_layout(lookup)) {
        lookup->withheld = true;
        return OK;
    }
    while (err == OK && count > 0 && !lookup->is_past_family) {
        for (size_t i = 0; i < count && err == OK && !lookup->is_past_family; i++) {
            err =
                lookup->by_document ? take_document(lookup, &rows[i]) : take_row(lookup, &rows[i]);
        }
        if (err != OK) {
            return err;
        }
        passed += count;
        wanted = lookup->query->limit - lookup->count;
        if (wanted > 0 && passed + lookup->family_reads >= EXAMPLES_ROWS_MAX) {
            return look_for_more(lookup, source);
        }
        err = example_source_gather(source, wanted, rows, &count);
    }
    return err;
}

/* The head is the last row of the cluster; a cluster without head has no examples. */
static enum err walk_newest(struct lookup *lookup, const struct key_fingerprint *fingerprint,
                            const struct key *prefix)
{
    struct key head = key_layout_head(lookup->query->org, fingerprint);
    struct example_source source;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = store_cursor_init(&source.cursor, lookup->txn, TABLE_EXAMPLE, key_slice(prefix),
                                     key_slice(&head), STORE_DESCENDING);

    if (err != OK) {
        return err;
    }
    source.is_merged = false;
    err = store_cursor_next(&source.cursor, &key, &value);
    if (err == OK) {
        err = walk(lookup, &source, value);
    }
    store_cursor_deinit(&source.cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Walks over the rows of documents. */
static enum err walk_documents(struct lookup *lookup, const struct key_fingerprint *fingerprint,
                               const struct key *prefix)
{
    struct key head = key_layout_head(lookup->query->org, fingerprint);
    struct example_source source;
    struct slice value = {NULL, 0};
    enum err err = store_get(lookup->txn, TABLE_EXAMPLE, key_slice(&head), &value);

    if (err == OK) {
        err = store_cursor_init(&source.cursor, lookup->txn, TABLE_EXAMPLE_DOCUMENT,
                                key_slice(prefix), slice_of(NULL, 0), STORE_DESCENDING);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    source.is_merged = false;
    err = walk(lookup, &source, value);
    store_cursor_deinit(&source.cursor);
    return err;
}

/* At that time no example was newer than the recorded_at of the as_of event. */
static enum err walk_as_of(struct lookup *lookup, const struct key_fingerprint *fingerprint,
                           const struct key *prefix)
{
    struct key head = key_layout_head(lookup->query->org, fingerprint);
    struct key from = key_example(lookup->query->org, fingerprint, lookup->as_of_us, UINT64_MAX);
    struct example_source source = {.is_merged = true};
    struct slice value = {NULL, 0};
    enum err err = store_get(lookup->txn, TABLE_EXAMPLE, key_slice(&head), &value);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    err = store_cursor_init(&source.cursor, lookup->txn, TABLE_EXAMPLE, key_slice(prefix),
                            key_slice(&from), STORE_DESCENDING);
    if (err != OK) {
        return err;
    }
    err = store_cursor_init(&source.retracted, lookup->txn, TABLE_EXAMPLE_RETRACTED,
                            key_slice(prefix), key_slice(&from), STORE_DESCENDING);
    if (err == OK) {
        err = walk(lookup, &source, value);
        store_cursor_deinit(&source.retracted);
    }
    store_cursor_deinit(&source.cursor);
    return err;
}

/* Returns the array as a field of the response. */
static enum err write_hints_field(const struct lookup *lookup, struct buffer *body)
{
    size_t size = 0;
    enum err err = example_hints_measure(lookup->hints, lookup->count, &size);

    if (err != OK) {
        return err;
    }
    wire_put_header(body, GET_EXAMPLES_RESPONSE_HINT_EXAMPLES_JSON_FIELD, size);
    return buffer_reserve(body, size) ? example_hints_write(lookup->hints, lookup->count, body)
                                      : ERR_MEMORY;
}

/* Sets the last event that the response can depend on: the newest of the log or, for a lookup of the past, the
 * as_of event. */
static enum err find_bounds(struct lookup *lookup)
{
    const struct examples_query *query = lookup->query;
    struct log_head head = {0};
    struct event event;
    enum err err = log_read_head(lookup->txn, query->org, &head);

    lookup->as_of_seq = head.last_seq;
    if (err != OK || !query->has_as_of) {
        return err;
    }
    if (query->as_of_seq < head.last_seq) {
        lookup->as_of_seq = query->as_of_seq;
    }
    if (lookup->as_of_seq == 0) {
        return OK;
    }
    err = log_read(lookup->txn, query->org, lookup->as_of_seq, &event);
    if (err == OK) {
        lookup->as_of_us = event.recorded_at_us;
    }
    return err;
}

/* Reads the properties of the document to be extracted, if it was ingested. */
static enum err ask_document(struct lookup *lookup)
{
    const struct examples_query *query = lookup->query;
    uint64_t now = query->has_as_of ? query->as_of_seq : UINT64_MAX;
    enum err err = OK;

    if (query->document_is_read) {
        lookup->document = query->document;
    } else {
        err = document_read_state(lookup->txn, query->org, query->document_id, now,
                                  &lookup->document);
    }
    lookup->document_known = err == OK;
    lookup->withheld = err == OK && lookup->document.is_scan;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Searches the requested layout. */
static enum err walk_layout(struct lookup *lookup)
{
    const struct examples_query *query = lookup->query;
    struct key prefix = key_layout_prefix(query->org, &lookup->fingerprint);

    lookup->other = NULL;
    lookup->mark = 0;
    if (lookup->by_document) {
        document_lookup_restart(&lookup->documents);
        document_lookup_set_layout(&lookup->documents, &lookup->fingerprint, &lookup->marks);
    }
    if (query->has_as_of) {
        return walk_as_of(lookup, &lookup->fingerprint, &prefix);
    }
    return lookup->by_document ? walk_documents(lookup, &lookup->fingerprint, &prefix)
                               : walk_newest(lookup, &lookup->fingerprint, &prefix);
}

/* Selects an example of another layout of the family. */
static enum err take_other(struct lookup *lookup, const struct examples_family_row *row)
{
    const struct example_row found = {
        .key = key_slice(&row->key),
        .value = row->value,
        .is_retracted = row->is_retracted,
    };
    struct document_answer answer;
    enum err err = OK;

    if (lookup->other != row->layout) {
        err = record_decode_layout_marks(row->layout->head, &lookup->other_marks);
        lookup->other = row->layout;
        lookup->mark = 0;
    }
    if (err != OK || !lookup->by_document) {
        return err != OK ? err : take_row(lookup, &found);
    }
    document_lookup_set_layout(&lookup->documents, &row->layout->fingerprint, &lookup->other_marks);
    err = document_lookup_example(&lookup->documents, lookup->txn, &found, &answer);
    return err != OK ? err : take_answer(lookup, &answer);
}

/* Selects examples of the other layouts of the family, newest first. */
static enum err walk_family(struct lookup *lookup)
{
    const struct examples_family_range range = {
        .org = lookup->query->org,
        .members = &lookup->family,
        .except = &lookup->fingerprint,
        .filter = &lookup->filter,
        .as_of_us = lookup->as_of_us,
        .layouts_max = lookup->query->limit,
        .with_text = lookup->body != NULL,
        .arena = lookup->query->arena,
    };
    struct examples_family_walk family;
    struct examples_family_row row;
    enum err err = examples_family_init(&family, lookup->txn, &range);

    while (err == OK && lookup->count < lookup->query->limit) {
        err = examples_family_next(&family, lookup->txn, &row);
        if (err == OK) {
            err = take_other(lookup, &row);
        }
    }
    examples_family_deinit(&family);
    lookup->other = NULL; /* copied, since it was borrowed from the walk */
    lookup->incomplete = lookup->incomplete || family.is_cut;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* The order of a lookup by family: the layout's rows that belong to the family, then the family's other rows.
 * The layout's other rows are used only if both are empty. */
static enum err walk_by_family(struct lookup *lookup)
{
    enum err err = OK;

    lookup->of_family = true;
    err = walk_layout(lookup);
    lookup->of_family = false;
    lookup->is_past_family = false;
    lookup->family_reads = 0;
    if (err == OK && !lookup->withheld && lookup->count < lookup->query->limit) {
        err = walk_family(lookup);
    }
    return err == OK && !lookup->withheld && lookup->count == 0 ? walk_layout(lookup) : err;
}

static enum err find_family(struct lookup *lookup)
{
    const struct example_family_query query = {
        .org = lookup->query->org,
        .document = lookup->document_known ? &lookup->document : NULL,
        .fingerprint = &lookup->fingerprint,
        .as_of_seq = lookup->filter.as_of_seq,
    };

    return example_family_find(lookup->txn, &query, &lookup->family);
}

static enum err find_examples(struct lookup *lookup, enum match_mode mode)
{
    const struct examples_query *query = lookup->query;
    enum err err = OK;

    if (query->document_id.size > 0) {
        err = ask_document(lookup);
    }
    if (err != OK || lookup->withheld || (query->has_as_of && lookup->as_of_seq == 0)) {
        return err;
    }
    lookup->fingerprint = key_fingerprint_of(query->layout_fingerprint);
    if (lookup->by_document) {
        document_lookup_init(&lookup->documents, query, &lookup->filter);
    }
    if (mode == MATCH_MODE_FAMILY) {
        err = find_family(lookup);
    }
    if (err != OK) {
        return err;
    }
    return lookup->family.count > 0 ? walk_by_family(lookup) : walk_layout(lookup);
}

/* Returns whether the layout has enough examples for the experiment. For a document that is held out or
 * withheld, the head of its layout has not been read yet. */
static enum err find_readiness(struct lookup *lookup)
{
    const struct examples_query *query = lookup->query;
    struct key_fingerprint fingerprint;
    struct key head;
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (lookup->arm == EXPERIMENT_ARM_NONE || query->layout_fingerprint.size == 0) {
        return OK;
    }
    if (lookup->marks.count == 0) {
        fingerprint = key_fingerprint_of(query->layout_fingerprint);
        head = key_layout_head(query->org, &fingerprint);
        err = store_get(lookup->txn, TABLE_EXAMPLE, key_slice(&head), &value);
        if (err == OK) {
            err = record_decode_layout_marks(value, &lookup->marks);
        }
    }
    lookup->layout_ready = err == OK && lookup->marks.count >= SUMS_EXAMPLES_READY;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Reads the organisation's settings at the requested time, but only if the query depends on them. */
static enum err ask_settings(const struct lookup *lookup, struct settings *ret_settings)
{
    const struct examples_query *query = lookup->query;

    *ret_settings = (struct settings){.holdout_percent = 0};
    if (query->document_id.size == 0 && query->annotator_kinds != 0 &&
        query->grouping != EXAMPLE_GROUPING_UNSPECIFIED &&
        query->match_mode != MATCH_MODE_UNSPECIFIED) {
        return OK;
    }
    if (query->settings_cache != NULL && !query->has_as_of) {
        return settings_cache_read(query->settings_cache, lookup->txn, query->org,
                                   lookup->as_of_seq, ret_settings);
    }
    return settings_read_as_of(lookup->txn, query->org, lookup->as_of_seq, ret_settings);
}

/* Runs the whole lookup. Members that it does not initialise are written before they are read. */
static enum err look_up(struct lookup *lookup, struct store_txn *txn,
                        const struct examples_query *query, struct buffer *body)
{
    struct settings settings;
    bool held_out = false;
    enum err err = OK;

    lookup->txn = txn;
    lookup->query = query;
    lookup->marks.count = 0;
    lookup->family.count = 0;
    lookup->of_family = false;
    lookup->family_reads = 0;
    lookup->is_past_family = false;
    lookup->by_document = false;
    lookup->count = 0;
    lookup->other_count = 0;
    lookup->served_count = 0;
    lookup->as_of_us = 0;
    lookup->incomplete = query->misses_removed;
    lookup->document_known = false;
    lookup->withheld = false;
    lookup->layout_ready = false;
    err = find_bounds(lookup);
    if (err == OK) {
        err = ask_settings(lookup, &settings);
    }
    if (err == OK) {
        lookup->arm = arm_under(query->org, query->document_id, settings.holdout_percent);
    }
    held_out = err == OK && lookup->arm == EXPERIMENT_ARM_CONTROL;
    lookup->body = held_out ? NULL : body;
    /* The reference for a held-out document names the examples that it would have received, so that outcomes
     * can be compared. A lookup of the past has no reference. */
    if (err == OK && query->layout_fingerprint.size > 0 && !(held_out && query->has_as_of)) {
        enum example_grouping grouping =
            query->grouping != EXAMPLE_GROUPING_UNSPECIFIED ? query->grouping : settings.grouping;

        lookup->by_document = grouping == EXAMPLE_GROUPING_DOCUMENT;
        examples_filter_init(query, settings.annotator_kinds, &lookup->filter);
        err = find_examples(lookup, query->match_mode != MATCH_MODE_UNSPECIFIED
                                        ? query->match_mode
                                        : settings.match_mode);
    }
    if (held_out) {
        lookup->withheld = false;
        lookup->incomplete = false;
    }
    lookup->served_count = held_out ? 0 : lookup->count;
    if (query->served != NULL && err == OK) {
        atomic_fetch_add_explicit(query->served, lookup->served_count, memory_order_relaxed);
    }
    return err != OK ? err : find_readiness(lookup);
}

static enum match_level match_level_of(const struct lookup *lookup)
{
    if (lookup->served_count == 0) {
        return MATCH_LEVEL_NONE;
    }
    return lookup->other_count > 0 ? MATCH_LEVEL_FAMILY : MATCH_LEVEL_EXACT;
}

/* Without examples the filter may be uninitialised. */
static struct exposed_documents documents_of(const struct lookup *lookup)
{
    struct exposed_documents documents = {.is_used = lookup->by_document && lookup->count > 0};

    if (documents.is_used) {
        documents.include_superseded = lookup->filter.include_superseded;
        documents.annotator_kinds = lookup->filter.annotator_kinds;
    }
    return documents;
}

static void write_reference(const struct lookup *lookup, struct buffer *body)
{
    const struct examples_query *query = lookup->query;
    struct sha256_digest text = example_hints_hash(lookup->hint_hashes[0], lookup->served_count);
    struct exposure exposure = {
        .kind = EXPOSURE_KIND_EXAMPLES,
        .served_at_us = query->now_us,
        .as_of_seq = lookup->as_of_seq,
        .arm = lookup->arm,
        .artifacts = lookup->artifacts,
        .artifact_count = lookup->count,
        .layout_ready = lookup->layout_ready,
        .documents = documents_of(lookup),
    };

    memcpy(exposure.text_hash, text.bytes, sizeof(exposure.text_hash));
    exposure_write(query->exposure_key, query->org, &exposure,
                   GET_EXAMPLES_RESPONSE_EXPOSURE_REF_FIELD, body);
}

enum err examples_write(struct store_txn *txn, const struct examples_query *query,
                        struct buffer *body)
{
    struct lookup lookup;
    enum err err = look_up(&lookup, txn, query, query->view != EXAMPLE_VIEW_HINTS ? body : NULL);

    if (err != OK) {
        return err;
    }
    if (lookup.served_count > 0 && wants_hints(query)) {
        err = write_hints_field(&lookup, body);
    }
    if (err != OK) {
        return err;
    }
    wire_put_varint(body, GET_EXAMPLES_RESPONSE_MATCH_LEVEL_FIELD, match_level_of(&lookup));
    wire_put_varint(body, GET_EXAMPLES_RESPONSE_ARM_FIELD, lookup.arm);
    if (lookup.withheld) {
        wire_put_varint(body, GET_EXAMPLES_RESPONSE_WITHHELD_FIELD, WITHHELD_SCAN);
    }
    if (lookup.incomplete) {
        wire_put_varint(body, GET_EXAMPLES_RESPONSE_INCOMPLETE_FIELD, 1);
    }
    if (query->exposure_key != NULL && !query->has_as_of) {
        write_reference(&lookup, body);
    }
    return buffer_ok(body) ? OK : ERR_MEMORY;
}

enum err examples_find(struct arena *arena, struct store_txn *txn,
                       const struct examples_query *query, struct examples_found *ret_found)
{
    struct lookup lookup;
    enum err err = look_up(&lookup, txn, query, NULL);

    if (err != OK) {
        return err;
    }
    err = example_hints_make(arena, lookup.hints, lookup.served_count,
                             &ret_found->hint_examples_json);
    if (err != OK) {
        return err;
    }
    memcpy(ret_found->example_ids, lookup.ids, lookup.served_count * sizeof(lookup.ids[0]));
    memcpy(ret_found->artifacts, lookup.artifacts, lookup.count * sizeof(lookup.artifacts[0]));
    ret_found->count = lookup.served_count;
    ret_found->artifact_count = lookup.count;
    ret_found->match_level = match_level_of(&lookup);
    ret_found->arm = lookup.arm;
    ret_found->layout_ready = lookup.layout_ready;
    ret_found->withheld = lookup.withheld ? WITHHELD_SCAN : WITHHELD_UNSPECIFIED;
    ret_found->as_of_seq = lookup.as_of_seq;
    ret_found->incomplete = lookup.incomplete;
    ret_found->documents = documents_of(&lookup);
    return OK;
}
