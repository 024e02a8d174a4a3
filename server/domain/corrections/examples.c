/*
 * examples.c: see examples.h. The layout's family is not known to this store, so every match mode
 * answers the exact fingerprint's examples.
 */
#include "server/domain/corrections/examples.h"

#include "server/domain/layouts/documents.h"
#include "store/base/wire.h"
#include "store/record.h"

#define CACHE_LINE_BYTES 64
/* Of each row, from its front: a typical example. */
#define PREFETCH_BYTES 1344

/* A chosen example: its hint is written after all examples. Slices die with the transaction. */
struct chosen {
    struct slice hint;
    struct slice document_hash;
};

struct lookup {
    struct store_txn *txn;
    const struct examples_query *query;
    struct buffer *body;
    struct layout_marks marks;
    size_t mark; /* the first mark that may belong to the next row: both are newest first */
    struct chosen chosen[EXAMPLES_LIMIT_MAX];
    uint32_t count;
    int64_t as_of_us; /* of the as_of event: no example of then is newer */
    bool incomplete; /* the bound was met with places left and rows behind it */
    bool document_known; /* the document itself told whether it is a scan */
    bool withheld; /* it is one, or all of the layout's are: there is nothing to answer */
};

static bool wants_examples(const struct examples_query *query)
{
    return query->view != EXAMPLE_VIEW_HINTS;
}

static bool wants_hints(const struct examples_query *query)
{
    return query->view != EXAMPLE_VIEW_EXAMPLES;
}

/* The seq that superseded an example; 0 where none did. */
static enum err read_mark(struct lookup *lookup, const struct example_record *row,
                          uint64_t *ret_superseded_by_seq)
{
    struct example_mark_record record = {0};
    struct slice value = {NULL, 0};
    struct key key;
    enum err err = OK;

    if (record_find_mark(&lookup->marks, row->seq, &lookup->mark, ret_superseded_by_seq)) {
        return OK;
    }
    key = key_example_mark(lookup->query->org, row->seq);
    err = store_get(lookup->txn, TABLE_EXAMPLE_MARK, key_slice(&key), &value);
    if (err == OK) {
        err = record_decode_example_mark(value, &record);
    }
    *ret_superseded_by_seq = record.superseded_by_seq;
    return err == ERR_NOT_FOUND ? OK : err;
}

static bool is_document_chosen(const struct lookup *lookup, struct slice document_hash)
{
    if (document_hash.size == 0) {
        return false; /* no document was named: it can't be the same one */
    }
    for (uint32_t i = 0; i < lookup->count; i++) {
        if (slice_equal(lookup->chosen[i].document_hash, document_hash)) {
            return true;
        }
    }
    return false;
}

/* Stored bytes, then what changes: protobuf reads both as one message. */
static void write_example(struct buffer *body, struct slice example, bool superseded)
{
    size_t more = wire_varint_bytes(MATCH_LEVEL_EXACT) + 1 + (superseded ? 2 : 0);

    wire_put_header(body, GET_EXAMPLES_RESPONSE_EXAMPLES_FIELD, example.size + more);
    buffer_append(body, example);
    wire_put_varint(body, EXAMPLE_MATCH_LEVEL_FIELD, MATCH_LEVEL_EXACT);
    if (superseded) {
        wire_put_varint(body, EXAMPLE_SUPERSEDED_FIELD, 1);
    }
}

static enum err take_row(struct lookup *lookup, struct slice value)
{
    const struct examples_query *query = lookup->query;
    struct example_record row;
    uint64_t superseded_by_seq = 0;
    bool superseded = false;
    enum err err = record_decode_example(value, &row);

    if (err != OK) {
        return err;
    }
    if (query->has_as_of && row.seq > query->as_of_seq) {
        return OK;
    }
    err = read_mark(lookup, &row, &superseded_by_seq);
    if (err != OK) {
        return err;
    }
    superseded =
        superseded_by_seq != 0 && (!query->has_as_of || superseded_by_seq <= query->as_of_seq);
    if ((superseded && query->skip_superseded) ||
        (query->distinct_documents && is_document_chosen(lookup, row.document_hash))) {
        return OK;
    }
    if (wants_examples(query)) {
        write_example(lookup->body, row.example, superseded);
    }
    lookup->chosen[lookup->count] = (struct chosen){row.hint, row.document_hash};
    lookup->count++;
    return OK;
}

/* A row's bytes stand in pages of their own, which the processor's caches seldom have: asking for the
 * beginnings of all rows before the first is read lets the waits for them pass side by side. Line by
 * line: asked for faster (four in a step) they are lost where too many are under way, and a cold lookup
 * costs a tenth more. */
static void prefetch(struct slice value)
{
    size_t size = value.size < PREFETCH_BYTES ? value.size : PREFETCH_BYTES;

    for (size_t at = 0; at < size; at += CACHE_LINE_BYTES) {
        __builtin_prefetch(value.data + at);
    }
}

/* Steps to as many rows as may still be wanted. Gives their number; fewer than asked for are the
 * last. */
static enum err gather(struct store_cursor *cursor, size_t wanted, struct slice *rows,
                       size_t *ret_count)
{
    size_t count = 0;
    enum err err = OK;

    while (count < wanted && err == OK) {
        struct slice key = {NULL, 0};

        err = store_cursor_next(cursor, &key, &rows[count]);
        if (err == OK) {
            prefetch(rows[count]);
            count++;
        }
    }
    *ret_count = count;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* At the bound, with places left: whether there are rows that nobody looked at. */
static enum err look_for_more(struct lookup *lookup, struct store_cursor *cursor)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = store_cursor_next(cursor, &key, &value);

    lookup->incomplete = err == OK;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* All documents of the layout were scans, at the time asked for. Each document is counted once and
 * for ever, so the first of them and the first with text tell. */
static bool is_scanned_layout(const struct lookup *lookup)
{
    const struct layout_marks *marks = &lookup->marks;
    uint64_t now = lookup->query->has_as_of ? lookup->query->as_of_seq : UINT64_MAX;

    return marks->first_document_seq != 0 && marks->first_document_seq <= now &&
           (marks->first_text_seq == 0 || marks->first_text_seq > now);
}

/* `head` is the layout's head row: it is read once the first rows are on their way. */
static enum err walk(struct lookup *lookup, struct store_cursor *cursor, struct slice head)
{
    struct slice rows[EXAMPLES_LIMIT_MAX];
    size_t passed = 0;
    size_t wanted = lookup->query->limit;
    size_t count = 0;
    enum err err = gather(cursor, wanted, rows, &count);

    if (err == OK) {
        err = record_decode_layout_marks(head, &lookup->marks);
    }
    if (err == OK && !lookup->document_known && is_scanned_layout(lookup)) {
        lookup->withheld = true;
        return OK;
    }
    while (err == OK && count > 0) {
        for (size_t i = 0; i < count && err == OK; i++) {
            err = take_row(lookup, rows[i]);
        }
        if (err != OK) {
            return err;
        }
        passed += count;
        wanted = lookup->query->limit - lookup->count;
        if (wanted > 0 && passed >= EXAMPLES_ROWS_MAX) {
            return look_for_more(lookup, cursor);
        }
        err = gather(cursor, wanted, rows, &count);
    }
    return err;
}

/* The head stands at the front of the cluster; without one there are no examples. */
static enum err walk_newest(struct lookup *lookup, const struct key *prefix)
{
    const struct slice from_start = {NULL, 0};
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = store_cursor_init(&cursor, lookup->txn, TABLE_EXAMPLE, key_slice(prefix),
                                     from_start, STORE_ASCENDING);

    if (err != OK) {
        return err;
    }
    err = store_cursor_next(&cursor, &key, &value);
    if (err == OK) {
        err = walk(lookup, &cursor, value);
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* No example of then is newer than the time at which the as_of event was recorded. */
static enum err walk_as_of(struct lookup *lookup, const struct key_fingerprint *fingerprint,
                           const struct key *prefix)
{
    struct key head = key_layout_head(lookup->query->org, fingerprint);
    struct key from = key_example(lookup->query->org, fingerprint, lookup->as_of_us, UINT64_MAX);
    struct store_cursor cursor;
    struct slice value = {NULL, 0};
    enum err err = store_get(lookup->txn, TABLE_EXAMPLE, key_slice(&head), &value);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    err = store_cursor_init(&cursor, lookup->txn, TABLE_EXAMPLE, key_slice(prefix),
                            key_slice(&from), STORE_ASCENDING);
    if (err != OK) {
        return err;
    }
    err = walk(lookup, &cursor, value);
    store_cursor_deinit(&cursor);
    return err;
}

static void write_hints(const struct lookup *lookup)
{
    size_t size = 1 + lookup->count; /* a bracket, and a comma or bracket behind each */

    for (uint32_t i = 0; i < lookup->count; i++) {
        size += lookup->chosen[i].hint.size;
    }
    wire_put_header(lookup->body, GET_EXAMPLES_RESPONSE_HINT_EXAMPLES_JSON_FIELD, size);
    for (uint32_t i = 0; i < lookup->count; i++) {
        buffer_append_byte(lookup->body, i == 0 ? '[' : ',');
        buffer_append(lookup->body, lookup->chosen[i].hint);
    }
    buffer_append_byte(lookup->body, ']');
}

static enum err find_as_of(struct lookup *lookup, bool *ret_nothing)
{
    const struct examples_query *query = lookup->query;
    struct log_head head = {0};
    struct event event;
    enum err err = log_read_head(lookup->txn, query->org, &head);

    if (err != OK) {
        return err;
    }
    *ret_nothing = query->as_of_seq == 0 || head.last_seq == 0;
    if (*ret_nothing) {
        return OK;
    }
    err = log_read(lookup->txn, query->org,
                   query->as_of_seq < head.last_seq ? query->as_of_seq : head.last_seq, &event);
    if (err == OK) {
        lookup->as_of_us = event.recorded_at_us;
    }
    return err;
}

/* What the document that is to be extracted tells, where it was ingested. */
static enum err ask_document(struct lookup *lookup)
{
    const struct examples_query *query = lookup->query;
    uint64_t now = query->has_as_of ? query->as_of_seq : UINT64_MAX;
    enum err err =
        document_is_scan(lookup->txn, query->org, query->document_id, now, &lookup->withheld);

    lookup->document_known = err == OK;
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err find_examples(struct lookup *lookup)
{
    const struct examples_query *query = lookup->query;
    struct key_fingerprint fingerprint = key_fingerprint_of(query->layout_fingerprint);
    struct key prefix = key_layout_prefix(query->org, &fingerprint);
    bool nothing = false;
    enum err err = OK;

    if (query->document_id.size > 0) {
        err = ask_document(lookup);
    }
    if (err != OK || lookup->withheld) {
        return err;
    }
    if (!query->has_as_of) {
        return walk_newest(lookup, &prefix);
    }
    err = find_as_of(lookup, &nothing);
    return err != OK || nothing ? err : walk_as_of(lookup, &fingerprint, &prefix);
}

enum err examples_write(struct store_txn *txn, const struct examples_query *query,
                        struct buffer *body)
{
    struct lookup lookup;
    enum err err = OK;

    lookup.txn = txn;
    lookup.query = query;
    lookup.body = body;
    lookup.marks.count = 0;
    lookup.mark = 0;
    lookup.count = 0;
    lookup.as_of_us = 0;
    lookup.incomplete = false;
    lookup.document_known = false;
    lookup.withheld = false;
    err = find_examples(&lookup);
    if (err != OK) {
        return err;
    }
    if (lookup.count > 0 && wants_hints(query)) {
        write_hints(&lookup);
    }
    wire_put_varint(body, GET_EXAMPLES_RESPONSE_MATCH_LEVEL_FIELD,
                    lookup.count > 0 ? MATCH_LEVEL_EXACT : MATCH_LEVEL_NONE);
    wire_put_varint(body, GET_EXAMPLES_RESPONSE_ARM_FIELD, EXPERIMENT_ARM_NONE);
    if (lookup.withheld) {
        wire_put_varint(body, GET_EXAMPLES_RESPONSE_WITHHELD_FIELD, WITHHELD_SCAN);
    }
    if (lookup.incomplete) {
        wire_put_varint(body, GET_EXAMPLES_RESPONSE_INCOMPLETE_FIELD, 1);
    }
    return buffer_ok(body) ? OK : ERR_MEMORY;
}
