/*
 * sizes.c: see sizes.h. A table's share of the disk is counted in pages: LMDB keeps a row whole on one
 * page, or from half a page on in pages of its own.
 */
#include "tools/bench/preload/sizes.h"

#include "server/domain/corrections/capture.h"
#include "server/domain/corrections/example_layout.h"
#include "server/domain/corrections/examples.h"
#include "store/base/assert.h"
#include "store/base/wire.h"
#include "store/lmdb/lmdb.h"
#include "store/memory/memory.h"
#include "tools/bench/preload/script_internal.h"
#include "tools/bench/preload/stage.h"

#define PAGE_BYTES 4096
#define PAGE_HEAD_BYTES 16
#define NODE_HEAD_BYTES 10 /* position in the page, and lengths */
/* A longer node lies on pages of its own: two must fit on one. */
#define NODE_BYTES_MAX ((PAGE_BYTES - PAGE_HEAD_BYTES) / 2)
/* Pages with fewer rows are less full. */
#define FEW_ROWS 8
/* Maximum size of the rows of a layout: its head row with all marks, and its sums. */
#define LAYOUT_BYTES 1500
/* Size of a mapping in the blocks of similar mappings. */
#define MAPPING_BLOCK_BYTES 64
/* A row of a memory back end, besides its key and value. */
#define STAGE_ROW_BYTES 150
/* Inner pages, and pages that a commit replaced. */
#define SLACK_PERCENT 5
/* Maximum attempts until the example has the requested length: the second may be wrong by the size of a
 * length. */
#define TRIES_MAX 4
/* Minimum length of the texts. */
#define TEXT_BYTES_MIN 16

/* Maximum tables in which each event of a stream has one row. */
#define TABLES_MAX 9
static const struct {
    enum store_table tables[TABLES_MAX];
    size_t count;
} stream_rows[SCRIPT_STREAM_COUNT] = {
    [SCRIPT_MAPPINGS] = {{TABLE_EVENT, TABLE_EVENT_ID, TABLE_SUBJECT, TABLE_MAPPING,
                          TABLE_MAPPING_SKU, TABLE_MAPPING_INTERNAL, TABLE_MAPPING_ALL,
                          TABLE_MAPPING_PAIR, TABLE_MAPPING_CONFIRMED},
                         9},
    [SCRIPT_EXTRACTIONS] = {{TABLE_EVENT, TABLE_EVENT_ID, TABLE_SUBJECT, TABLE_EXTRACTION,
                             TABLE_EXTRACTION_KEY, TABLE_EXTRACTION_SUBJECT,
                             TABLE_EXTRACTION_SUBJECT},
                            7},
    [SCRIPT_DOCUMENTS] = {{TABLE_EVENT, TABLE_EVENT_ID, TABLE_SUBJECT, TABLE_DOCUMENT}, 4},
    [SCRIPT_CORRECTIONS] = {{TABLE_EVENT, TABLE_EVENT_ID, TABLE_SUBJECT, TABLE_EXAMPLE,
                             TABLE_EXAMPLE_DOCUMENT, TABLE_ENTITY, TABLE_FEEDBACK_SUBJECT,
                             TABLE_FEEDBACK_SUBJECT},
                            8},
};

/* A row of one captured event. */
struct row {
    struct slice key;
    struct slice value;
};

/* The row of the organisation's newest event in a table; of examples its only one, which the layout's head follows. */
static enum err read_row(struct store_txn *txn, enum store_table table, struct org_id org,
                         struct row *ret_row)
{
    struct key prefix = key_org(org);
    const struct slice from_end = {NULL, 0};
    struct store_cursor cursor = {0};
    enum err err = store_cursor_init(&cursor, txn, table, key_slice(&prefix), from_end,
                                     table == TABLE_EXAMPLE ? STORE_ASCENDING : STORE_DESCENDING);

    if (err == OK) {
        err = store_cursor_next(&cursor, &ret_row->key, &ret_row->value);
    }
    store_cursor_deinit(&cursor);
    return err;
}

/* Returns the disk space of a row. */
static uint64_t disk_share(const struct row *row, bool appended)
{
    uint64_t node = NODE_HEAD_BYTES + row->key.size + row->value.size;
    uint64_t rows = 0; /* a page */

    if (node > NODE_BYTES_MAX) {
        uint64_t pages = (PAGE_HEAD_BYTES + row->value.size + PAGE_BYTES - 1) / PAGE_BYTES;

        return pages * PAGE_BYTES + (NODE_HEAD_BYTES + row->key.size) * 3 / 2;
    }
    rows = (PAGE_BYTES - PAGE_HEAD_BYTES) / node;
    if (appended) {
        return PAGE_BYTES / rows;
    }
    /* Split pages are two thirds full, those of few long rows half. */
    return PAGE_BYTES / rows * (rows < FEW_ROWS ? 4 : 3) / 2;
}

/* Counts the rows of the last event of a stream. */
static enum err count_stream(const struct script *script, struct store_txn *txn,
                             enum script_stream stream, struct sizes *sizes)
{
    const struct preload_options *options = script->options;
    uint64_t all = script_count(options, 0, stream) * options->org_count;
    uint64_t largest = script_count(options, 0, stream);

    for (size_t i = 0; i < stream_rows[stream].count; i++) {
        enum store_table table = stream_rows[stream].tables[i];
        bool appended = stage_passes(table);
        struct row row;
        enum err err = read_row(txn, table, script->orgs[0], &row);

        if (err != OK) {
            return err;
        }
        sizes->disk_bytes += all * disk_share(&row, appended);
        sizes->stage_bytes +=
            appended ? 0 : largest * (STAGE_ROW_BYTES + row.key.size + row.value.size);
    }
    return OK;
}

/* Counts the rows of layouts and customers, and constant overhead. */
static void count_rest(const struct preload_options *options, struct sizes *sizes)
{
    uint64_t layouts = options->layout_count * (uint64_t)LAYOUT_BYTES;
    uint64_t customers =
        options->mapping_count > 0 ? options->customer_count * (uint64_t)PAGE_BYTES : 0;
    uint64_t blocks = options->mapping_count * MAPPING_BLOCK_BYTES;

    sizes->disk_bytes += options->org_count * (layouts + customers) + blocks;
    sizes->disk_bytes += sizes->disk_bytes / 100 * SLACK_PERCENT + STORE_LMDB_RESERVE_BYTES_DEFAULT;
    sizes->stage_bytes += layouts + customers + blocks / options->org_count;
}

static void set_texts(struct script *script, size_t bytes)
{
    size_t snippet = bytes - bytes / 4;

    if (snippet > CAPTURE_SNIPPET_CHARACTERS_MAX) {
        snippet = CAPTURE_SNIPPET_CHARACTERS_MAX;
    }
    script->texts = (struct script_texts){snippet, bytes - snippet};
}

/* Returns the length of the newest example of the first layout in an answer. */
static enum err read_example_bytes(struct script *script, struct store_txn *txn, size_t *ret_bytes)
{
    struct examples_query query = {.org = script->orgs[0],
                                   .layout_fingerprint =
                                       arena_printf(&script->arena, PRELOAD_LAYOUT_FORMAT, 0),
                                   .limit = 1,
                                   .view = EXAMPLE_VIEW_EXAMPLES,
                                   .match_mode = MATCH_MODE_EXACT,
                                   .include_own = true};
    struct wire_field field = {.number = 0};
    struct wire_reader reader;
    struct buffer body;
    enum err err = OK;

    if (script->options->family_count > 0) {
        query.layout_fingerprint = slice_of(NULL, 0);
        query.document_id = arena_printf(&script->arena, PRELOAD_CORRECTED_FORMAT, 0);
        err = example_layout_find(txn, &query);
    }
    buffer_init(&body, &script->arena, PRELOAD_EVENT_BYTES_MAX);
    if (err == OK) {
        err = examples_write(txn, &query, &body);
    }
    if (err != OK) {
        return err;
    }
    reader = wire_reader_of(buffer_slice(&body));
    err = wire_next(&reader, &field);
    if (err == OK && UNEXPECTED(field.number != GET_EXAMPLES_RESPONSE_EXAMPLES_FIELD)) {
        err = ERR_INTERNAL;
    }
    if (err != OK) {
        return err;
    }
    *ret_bytes = field.bytes.size;
    return OK;
}

/* Writes the first event of a stream, and counts its bytes. */
static enum err write_one(struct script *script, struct store_txn *txn, enum script_stream stream,
                          struct sizes *sizes)
{
    enum err err = OK;

    if (script_count(script->options, 0, stream) == 0) {
        return OK;
    }
    script_start_write(script, txn, script->options->end_us);
    err = script_writes[stream](script, txn, 0);
    return err != OK ? err : count_stream(script, txn, stream, sizes);
}

/* Writes one event of each stream, finally a correction with texts of this many bytes. */
static enum err write_each(struct script *script, struct store_txn *txn, size_t text_bytes,
                           struct sizes *sizes)
{
    enum err err = script_make_org(script, txn, 0);

    *sizes = (struct sizes){0};
    set_texts(script, text_bytes);
    for (int stream = 0; stream < SCRIPT_STREAM_COUNT && err == OK; stream++) {
        err = write_one(script, txn, (enum script_stream)stream, sizes);
    }
    count_rest(script->options, sizes);
    return err == OK ? read_example_bytes(script, txn, &sizes->example_bytes) : err;
}

/* Tries one length of the texts with a temporary store; returns the length for the next attempt. */
static enum err try_texts(struct script *script, struct store_backend *memory, size_t *text_bytes,
                          struct sizes *ret_sizes)
{
    struct store_txn *txn = NULL;
    size_t wanted = *text_bytes + script->options->event_bytes;
    enum err err = store_begin(memory, STORE_WRITE, &txn);

    if (err == OK) {
        err = write_each(script, txn, *text_bytes, ret_sizes);
    }
    store_abort(txn);
    if (err == OK) {
        *text_bytes = wanted < ret_sizes->example_bytes + TEXT_BYTES_MIN
                          ? TEXT_BYTES_MIN
                          : wanted - ret_sizes->example_bytes;
    }
    return err;
}

enum err sizes_measure(struct script *script, struct sizes *ret_sizes)
{
    struct store_backend *memory = NULL;
    size_t text_bytes = TEXT_BYTES_MIN;
    enum err err = store_memory_open(&memory);

    for (int i = 0; i < TRIES_MAX && err == OK; i++) {
        err = try_texts(script, memory, &text_bytes, ret_sizes);
    }
    store_memory_close(memory);
    return err;
}

enum err sizes_check_stage(const struct sizes *sizes, struct fault *fault)
{
    if (sizes->stage_bytes > SIZES_STAGE_BYTES_MAX) {
        return fault_say(fault, ERR_INVALID,
                         "an organisation with so many events takes %" PRIu64
                         " MB of memory while it is loaded, more than %" PRIu64
                         "; spread them over more organisations",
                         sizes->stage_bytes >> 20, SIZES_STAGE_BYTES_MAX >> 20);
    }
    return OK;
}

enum err sizes_check_disk(const struct sizes *sizes, const char *folder, uint64_t free_bytes,
                          struct fault *fault)
{
    if (sizes->disk_bytes > free_bytes) {
        return fault_say(fault, ERR_DISK_FULL,
                         "%s: the store takes about %" PRIu64 " MB and the disk has %" PRIu64
                         " MB left; load fewer or smaller events, or use another disk",
                         folder, sizes->disk_bytes >> 20, free_bytes >> 20);
    }
    return OK;
}
