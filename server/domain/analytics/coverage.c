/*
 * coverage.c: see coverage.h. A page's place is the key of its last row; keys of the orders of
 * profiles and keys of the layouts' sums differ in size.
 */
#include "server/domain/analytics/coverage.h"

#include "server/domain/experiment/records.h"
#include "server/domain/experiment/sums.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/layouts/profile_rows.h"
#include "server/domain/layouts/records.h"
#include "store/base/text.h"

#include <errata/v1/analytics_service.views.h>

#define SHORT_CHARACTERS 8

/* A page while it is written. */
struct walk {
    struct ctx *ctx;
    struct store_txn *txn;
    struct coverage_page *page;
    struct buffer *body;
    size_t count; /* items that the page has */
    bool more;
};

/* What is told of a layout. */
struct layout {
    struct slice fingerprint; /* text */
    struct profile_record profile; /* zeroed: no document was ingested */
    struct layout_head_record head;
    struct layout_stats_record stats;
};

static struct layout_coverage_view view_of(const struct layout *layout)
{
    const struct layout_stats_record *stats = &layout->stats;
    bool has_extractions = stats->extraction_count > 0;

    return (struct layout_coverage_view){
        .layout_fingerprint = layout->fingerprint,
        .fingerprint_short = text_first_characters(layout->fingerprint, SHORT_CHARACTERS),
        .seen_count = layout->profile.seen_count,
        .example_count = layout->head.example_count,
        .feedback_count = layout->head.feedback_count,
        .extraction_count = stats->extraction_count,
        .corrected_count = stats->corrected_count,
        .correction_rate =
            has_extractions ? (double)stats->corrected_count / (double)stats->extraction_count : 0,
        .has_correction_rate = has_extractions,
        .last_seen_at_us = layout->profile.last_seen_at_us,
        .has_last_seen_at = layout->profile.seen_count > 0,
    };
}

/* The page's next item, whose fingerprint and profile are set. */
static enum err append(struct walk *walk, struct layout *layout)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(layout->fingerprint);
    struct key head_key = key_layout_head(walk->page->org, &fingerprint);
    struct layout_coverage_view view;
    enum err err = layout_head_read(walk->ctx->arena, walk->txn, &head_key, &layout->head);

    if (err == OK) {
        err = sums_read_layout(walk->txn, walk->page->org, layout->fingerprint, &layout->stats);
    }
    if (err != OK) {
        return err;
    }
    view = view_of(layout);
    layout_coverage_view_put(&view, walk->page->field, walk->body);
    walk->count++;
    return buffer_ok(walk->body) ? OK : ERR_MEMORY;
}

/* Where the page ends, if it ends here. */
static void keep_place(struct walk *walk, struct slice key)
{
    memcpy(walk->page->last.bytes, key.data, key.size);
    walk->page->last.size = key.size;
}

static enum err append_seen(struct walk *walk, struct slice key)
{
    struct layout layout = {0};
    struct sha256_digest measured;
    char text[2 * SHA256_BYTES];
    enum err err = key_read_profile_order(key, &measured);

    if (err == OK) {
        err = profile_row_read(walk->ctx->arena, walk->txn, walk->page->org, &measured,
                               &layout.profile);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    sha256_format(&measured, text);
    layout.fingerprint = slice_of(text, sizeof(text));
    keep_place(walk, key);
    return append(walk, &layout);
}

/* A row of the sums is listed behind the profiles where it is a layout's, and that has none. Keys of
 * both tables are the same. */
static enum err is_unseen(struct walk *walk, struct slice key,
                          const struct layout_stats_record *stats, bool *ret_unseen)
{
    struct slice value = {NULL, 0};
    enum err err = ERR_NOT_FOUND;

    *ret_unseen = false;
    if (stats->layout_fingerprint.size == 0) {
        return OK;
    }
    err = store_get(walk->txn, TABLE_PROFILE, key, &value);
    *ret_unseen = err == ERR_NOT_FOUND;
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err append_unseen(struct walk *walk, struct slice key, struct slice value)
{
    struct layout layout = {0};
    struct layout_stats_record stats;
    bool unseen = false;
    enum err err = record_decode_layout_stats(value, &stats);

    if (err == OK) {
        err = is_unseen(walk, key, &stats, &unseen);
    }
    if (err != OK) {
        return err;
    }
    if (!unseen) {
        keep_place(walk, key);
        return OK;
    }
    if (walk->count == walk->page->page_size) {
        walk->more = true;
        return OK;
    }
    layout.fingerprint = stats.layout_fingerprint;
    keep_place(walk, key);
    return append(walk, &layout);
}

/* Begins behind the page before. */
static enum err open_cursor(struct walk *walk, enum store_table table, struct slice after,
                            struct store_cursor *cursor)
{
    struct key prefix = key_org(walk->page->org);

    return store_cursor_init(cursor, walk->txn, table, key_slice(&prefix), after, STORE_ASCENDING);
}

/* The next row that is not `after` itself. */
static enum err next_row(struct store_cursor *cursor, struct slice after, struct slice *ret_key,
                         struct slice *ret_value)
{
    enum err err = store_cursor_next(cursor, ret_key, ret_value);

    if (err == OK && slice_equal(*ret_key, after)) {
        err = store_cursor_next(cursor, ret_key, ret_value);
    }
    return err;
}

static enum err walk_seen(struct walk *walk, struct slice after)
{
    enum store_table table = walk->page->order == LAYOUT_COVERAGE_ORDER_MOST_SEEN
                                 ? TABLE_PROFILE_MOST_SEEN
                                 : TABLE_PROFILE_LAST_SEEN;
    struct store_cursor cursor = {0};
    enum err err = open_cursor(walk, table, after, &cursor);

    while (err == OK && !walk->more) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        err = next_row(&cursor, after, &key, &value);
        if (err == OK && walk->count == walk->page->page_size) {
            walk->more = true;
        } else if (err == OK) {
            err = append_seen(walk, key);
        }
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err walk_unseen(struct walk *walk, struct slice after)
{
    struct store_cursor cursor = {0};
    enum err err = open_cursor(walk, TABLE_LAYOUT_STATS, after, &cursor);

    for (size_t rows = 0; err == OK && !walk->more; rows++) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        err = next_row(&cursor, after, &key, &value);
        if (err == OK && rows == COVERAGE_ROWS_MAX) {
            walk->more = true;
        } else if (err == OK) {
            err = append_unseen(walk, key, value);
        }
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err coverage_write(struct ctx *ctx, struct store_txn *txn, struct coverage_page *page,
                        struct buffer *body, bool *ret_more)
{
    const struct key_fingerprint none = {{0}};
    struct key sums = key_layout_stats(page->org, &none);
    bool behind_seen = page->after.size == sums.size;
    struct walk walk = {.ctx = ctx, .txn = txn, .page = page, .body = body};
    enum err err = OK;

    if (!behind_seen) {
        err = walk_seen(&walk, page->after);
    }
    if (err == OK && !walk.more) {
        err = walk_unseen(&walk, behind_seen ? page->after : slice_of(NULL, 0));
    }
    *ret_more = walk.more;
    return err;
}
