/*
 * examples_removed.c: see examples_removed.h.
 */
#include "server/domain/corrections/examples_removed.h"

#include "server/domain/events/feedback.h"
#include "server/domain/events/removal_past.h"
#include "server/domain/settings/settings.h"
#include "store/scan.h"

/* Returns whether an event was an example at that time, and lost its content since. */
static enum err is_missing(struct store_txn *txn, const struct examples_query *query, uint64_t seq,
                           const struct removal_past *past, bool *ret_is_missing)
{
    struct feedback_event_view view;
    struct event event;
    bool is_removed = false;
    enum err err = log_content_is_removed(txn, query->org, seq, &is_removed);

    *ret_is_missing = false;
    if (err != OK || !is_removed) {
        return err;
    }
    err = log_read(txn, query->org, seq, &event);
    if (err != OK || event.kind != EVENT_FEEDBACK) {
        return err;
    }
    err = feedback_view_read(&event, &view);
    if (err != OK ||
        !(view.has_is_example ? view.is_example : feedback_is_correction(view.event_type))) {
        return err;
    }
    return removal_is_later(txn, &event, past, ret_is_missing);
}

/* Looks for such an event in the list of the layout. */
static enum err check_layout(struct store_txn *txn, const struct removal_past *past,
                             struct examples_query *query)
{
    const struct scan_range range = {
        .table = TABLE_SUBJECT,
        .prefix = key_subject_prefix(query->org, SUBJECT_LAYOUT, query->layout_fingerprint),
        .order = STORE_ASCENDING,
        .rows_max = EXAMPLES_ROWS_MAX,
    };
    struct scan scan = {.row_count = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK && !query->misses_removed) {
        int64_t created_at_us = 0;
        uint64_t seq = 0;

        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_newest_first(key, &created_at_us, &seq);
        }
        if (err == OK && seq <= query->as_of_seq) {
            err = is_missing(txn, query, seq, past, &query->misses_removed);
            err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
    }
    query->misses_removed = query->misses_removed || scan.is_cut;
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Returns whether the lookup may take examples of other layouts. */
static enum err is_of_family(struct store_txn *txn, const struct examples_query *query,
                             bool *ret_is_of_family)
{
    struct settings settings = {.match_mode = query->match_mode};
    enum err err = OK;

    if (query->match_mode == MATCH_MODE_UNSPECIFIED) {
        err = settings_read_as_of(txn, query->org, query->as_of_seq, &settings);
    }
    *ret_is_of_family = settings.match_mode == MATCH_MODE_FAMILY;
    return err;
}

enum err examples_check_removed(struct ctx *ctx, struct store_txn *txn,
                                struct examples_query *query)
{
    struct removal_past past;
    bool of_family = false;
    enum err err = OK;

    if (!query->has_as_of || query->layout_fingerprint.size == 0) {
        return OK;
    }
    err = removal_check_floor(ctx, txn, query->org, CONTENT_CLASS_CORRECTIONS, query->as_of_seq,
                              "corrections");
    if (err == OK) {
        err =
            removal_past_read(txn, query->org, CONTENT_CLASS_CORRECTIONS, query->as_of_seq, &past);
    }
    if (err != OK || past.example_count == 0) {
        return err;
    }
    err = is_of_family(txn, query, &of_family);
    query->misses_removed = of_family;
    return err != OK || of_family ? err : check_layout(txn, &past, query);
}
