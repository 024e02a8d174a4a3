/*
 * coverage.c: see coverage.h. The position of a page is the key of its last row; keys of profiles
 * and keys of layout sums differ in size.
 */
#include "server/domain/analytics/coverage.h"

#include "server/domain/experiment/records.h"
#include "server/domain/experiment/sums.h"
#include "server/domain/layouts/families.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/layouts/profile_rows.h"
#include "server/domain/layouts/records.h"
#include "store/base/text.h"

#define SHORT_CHARACTERS 8

/* Coverage of a layout. */
struct layout {
    struct slice fingerprint; /* text */
    struct profile_record profile; /* zeros: no document was ingested */
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

/* Fills in the view of a layout whose fingerprint and profile are set. */
static enum err fill_view(struct arena *arena, struct store_txn *txn, struct org_id org,
                          struct layout *layout, struct layout_coverage_view *ret_view)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(layout->fingerprint);
    struct key head_key = key_layout_head(org, &fingerprint);
    enum err err = layout_head_read(arena, txn, &head_key, &layout->head);

    if (err == OK) {
        err = sums_read_layout(txn, org, layout->fingerprint, &layout->stats);
    }
    if (err == OK) {
        *ret_view = view_of(layout);
    }
    return err;
}

enum err coverage_read(struct arena *arena, struct store_txn *txn, struct org_id org,
                       struct slice layout_fingerprint, struct layout_coverage_view *ret_layout)
{
    struct layout layout = {.fingerprint = layout_fingerprint};
    struct sha256_digest measured;
    enum err err = OK;

    if (sha256_parse(layout_fingerprint, &measured)) { /* other fingerprints have no profile */
        err = profile_row_read(arena, txn, org, &measured, &layout.profile);
    }
    return err != OK && err != ERR_NOT_FOUND ? err
                                             : fill_view(arena, txn, org, &layout, ret_layout);
}

/* Inserts a layout after all that were seen as often, if it is one of the most seen. */
static void add_to_family(struct coverage_family *family, const struct layout_coverage_view *layout)
{
    size_t i = family->count < COVERAGE_MOST_SEEN ? family->count++ : COVERAGE_MOST_SEEN;

    while (i > 0 && family->layouts[i - 1].seen_count < layout->seen_count) {
        i--;
        if (i + 1 < COVERAGE_MOST_SEEN) {
            family->layouts[i + 1] = family->layouts[i];
        }
    }
    if (i < family->count) {
        family->layouts[i] = *layout;
    }
}

enum err coverage_read_family(struct arena *arena, struct store_txn *txn, struct org_id org,
                              const struct family_members *members,
                              struct coverage_family *ret_family)
{
    struct layout_family_view family = {.fingerprint_count = 0};
    struct slice fingerprint = {NULL, 0};
    struct slice run = {NULL, 0};
    enum err err = family_view_add_fingerprints(arena, txn, org, members, &family);

    ret_family->count = 0;
    run = family.layout_fingerprints.run;
    while (err == OK && view_next(&run, &fingerprint)) {
        struct layout_coverage_view layout;

        err = coverage_read(arena, txn, org, fingerprint, &layout);
        if (err == OK) {
            add_to_family(ret_family, &layout);
        }
    }
    return err;
}

/* Returns the next layout that has documents. */
static enum err next_seen(struct ctx *ctx, struct store_txn *txn, struct coverage_list *list,
                          struct layout_coverage_view *ret_view)
{
    struct layout layout = {0};
    struct sha256_digest measured;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = page_next(list->page, &key, &value);

    if (err != OK) {
        return err;
    }
    err = key_read_profile_order(key, &measured);
    if (err == OK) {
        err = profile_row_read(ctx->arena, txn, list->org, &measured, &layout.profile);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    sha256_format(&measured, list->fingerprint);
    layout.fingerprint = slice_of(list->fingerprint, sizeof(list->fingerprint));
    return fill_view(ctx->arena, txn, list->org, &layout, ret_view);
}

/* Returns whether a row of sums belongs to a layout without a profile. Both tables have the same
 * keys. */
static enum err is_unseen(struct store_txn *txn, struct slice key,
                          const struct layout_stats_record *stats, bool *ret_unseen)
{
    struct slice value = {NULL, 0};
    enum err err = OK;

    *ret_unseen = false;
    if (stats->layout_fingerprint.size == 0) {
        return OK;
    }
    err = store_get(txn, TABLE_PROFILE, key, &value);
    *ret_unseen = err == ERR_NOT_FOUND;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Returns the next layout that has no documents. */
static enum err next_unseen(struct ctx *ctx, struct store_txn *txn, struct coverage_list *list,
                            struct layout_coverage_view *ret_view)
{
    struct layout layout = {0};
    bool unseen = false;

    while (!unseen) {
        struct layout_stats_record stats;
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        enum err err = page_next(list->page, &key, &value);

        if (err == OK) {
            err = record_decode_layout_stats(value, &stats);
        }
        if (err == OK) {
            err = is_unseen(txn, key, &stats, &unseen);
        }
        if (err != OK) {
            return err;
        }
        layout.fingerprint = stats.layout_fingerprint;
    }
    return fill_view(ctx->arena, txn, list->org, &layout, ret_view);
}

static enum err open_table(struct store_txn *txn, const struct coverage_list *list,
                           enum store_table table, struct slice after)
{
    const struct scan_range range = {.table = table, .prefix = key_org(list->org), .after = after};

    return page_open(list->page, txn, &range);
}

enum err coverage_list_begin(struct store_txn *txn, struct coverage_list *list)
{
    const struct key_fingerprint none = {{0}};
    struct key sums = key_layout_stats(list->org, &none);

    list->seen_ended = list->page->after.size == sums.size;
    if (list->seen_ended) {
        return open_table(txn, list, TABLE_LAYOUT_STATS, list->page->after);
    }
    return open_table(txn, list,
                      list->order == LAYOUT_COVERAGE_ORDER_MOST_SEEN ? TABLE_PROFILE_MOST_SEEN
                                                                     : TABLE_PROFILE_LAST_SEEN,
                      list->page->after);
}

enum err coverage_list_next(struct ctx *ctx, struct store_txn *txn, struct coverage_list *list,
                            struct layout_coverage_view *ret_layout)
{
    enum err err = OK;

    if (!list->seen_ended) {
        err = next_seen(ctx, txn, list, ret_layout);
        if (err != ERR_NOT_FOUND || list->page->more) {
            return err;
        }
        list->seen_ended = true;
        err = open_table(txn, list, TABLE_LAYOUT_STATS, slice_of(NULL, 0));
    }
    return err != OK ? err : next_unseen(ctx, txn, list, ret_layout);
}
