/*
 * window.c: see window.h. The present window is read from the rows of the newest reviews; a past
 * one from all reviews of the subcategory, of which only those count that were the newest of their
 * run then.
 */
#include "server/domain/reviews/window.h"

#include "store/base/bytes.h"

static void note(struct review_window *window, enum review_signal signal, bool is_given,
                 uint64_t seq)
{
    struct review_evidence_list *list = &window->evidence->lists[signal];

    if (is_given && list->count < REVIEW_EVIDENCE_MAX) {
        list->seqs[list->count++] = seq;
    } else if (is_given) {
        list->is_cut = true;
    }
}

/* Lists a review under the signals that it gives. */
static void note_entry(struct review_window *window, const struct review_entry *entry)
{
    const enum review_answer *flags = entry->record.flags;

    if (window->evidence == NULL) {
        return;
    }
    note(window, REVIEW_SIGNAL_INFORMATION_PRESENT_LOW,
         flags[REVIEW_INFORMATION_PRESENT] == REVIEW_FALSE, entry->seq);
    note(window, REVIEW_SIGNAL_MISSING_SPEC, entry->record.missing_spec.size > 0, entry->seq);
    note(window, REVIEW_SIGNAL_BAD_FORMAT, flags[REVIEW_BAD_FORMAT] == REVIEW_TRUE, entry->seq);
    note(window, REVIEW_SIGNAL_WRONG_INFORMATION, flags[REVIEW_WRONG_INFORMATION] == REVIEW_TRUE,
         entry->seq);
    note(window, REVIEW_SIGNAL_WRONG_PHYSICAL_DIMENSIONS,
         flags[REVIEW_WRONG_PHYSICAL_DIMENSIONS] == REVIEW_TRUE, entry->seq);
}

/* Adds the signals of one run. */
static enum err add_history(struct review_history *history, struct review_window *window)
{
    struct review_entry entry;
    bool is_true[REVIEW_FLAG_COUNT] = {false};
    bool is_missing = false;
    enum err err = OK;

    window->run_count++;
    while (err == OK) {
        err = review_history_next(history, &entry);
        if (err == OK) {
            const struct spec_source source = {window->run_count, entry.created_at_us, entry.seq};

            note_entry(window, &entry);
            err = spec_set_add(&window->specs, &source, entry.record.missing_spec);
        }
        for (size_t i = 0; i < REVIEW_FLAG_COUNT && err == OK; i++) {
            is_true[i] |= entry.record.flags[i] == REVIEW_TRUE;
        }
        is_missing |= err == OK && entry.record.flags[REVIEW_INFORMATION_PRESENT] == REVIEW_FALSE;
    }
    for (size_t i = 0; i < REVIEW_FLAG_COUNT; i++) {
        window->true_counts[i] += is_true[i];
    }
    window->information_missing_count += is_missing;
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err add_run(struct store_txn *txn, const struct review_window_query *query,
                        const struct review_run_hash *run, struct review_window *window)
{
    struct review_history history = {.as_of_seq = 0};
    enum err err = review_history_init(&history, txn, query->org, run, query->as_of_seq);

    if (err == OK) {
        err = add_history(&history, window);
    }
    review_history_deinit(&history);
    return err;
}

/* Reads the run of a row. */
static enum err read_run(struct slice value, size_t size, struct review_run_hash *ret_run)
{
    if (value.size != size) {
        return ERR_CORRUPT;
    }
    memcpy(ret_run->bytes, value.data, sizeof(ret_run->bytes));
    return OK;
}

/* Returns whether the review with this key was the newest of its run. */
static enum err was_newest(struct store_txn *txn, const struct review_window_query *query,
                           struct slice key, const struct review_run_hash *run,
                           bool *ret_was_newest)
{
    struct review_entry newest;
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    enum err err = key_read_newest_first(key, &created_at_us, &seq);

    *ret_was_newest = false;
    if (err != OK || seq > query->as_of_seq) {
        return err;
    }
    err = review_history_newest(txn, query->org, run, query->as_of_seq, &newest);
    *ret_was_newest = err == OK && newest.seq == seq;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Adds the run of a row of the query's table, if it counts. */
static enum err add_row(struct store_txn *txn, const struct review_window_query *query,
                        struct slice key, struct slice value, struct review_window *window)
{
    bool is_now = query->as_of_seq == REVIEWS_NOW;
    bool counts = is_now;
    struct review_run_hash run;
    enum err err = read_run(value, is_now ? REVIEW_NEWEST_BYTES : sizeof(run.bytes), &run);

    if (err == OK && !is_now) {
        err = was_newest(txn, query, key, &run, &counts);
    }
    return err == OK && counts ? add_run(txn, query, &run, window) : err;
}

static enum err open_rows(struct store_cursor *cursor, struct store_txn *txn,
                          const struct review_window_query *query)
{
    struct key prefix = key_review_subcategory_prefix(query->org, query->subcategory);

    return store_cursor_init(cursor, txn,
                             query->as_of_seq == REVIEWS_NOW ? TABLE_REVIEW_NEWEST
                                                             : TABLE_REVIEW_SUBCATEGORY,
                             key_slice(&prefix), slice_of(NULL, 0), STORE_ASCENDING);
}

enum err review_window_read(struct arena *arena, struct store_txn *txn,
                            const struct review_window_query *query,
                            struct review_window *ret_window)
{
    struct review_window window = {.evidence = query->evidence};
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = open_rows(&cursor, txn, query);

    spec_set_init(&window.specs, arena);
    while (err == OK && window.run_count < query->runs_max) {
        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK && query->is_cancelled(query->user)) {
            err = ERR_CANCELLED;
        }
        if (err == OK) {
            err = add_row(txn, query, key, value, &window);
        }
    }
    store_cursor_deinit(&cursor);
    if (err == ERR_NOT_FOUND) {
        err = OK;
    }
    if (err == OK) {
        *ret_window = window;
    }
    return err;
}

enum err review_window_cost(struct store_txn *txn, const struct review_window_query *query,
                            uint64_t *ret_review_count)
{
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t count = 0;
    enum err err = open_rows(&cursor, txn, query);

    for (uint32_t i = 0; i < query->runs_max && err == OK; i++) {
        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK && value.size != REVIEW_NEWEST_BYTES) {
            err = ERR_CORRUPT;
        }
        if (err == OK) {
            count += bytes_get_be32(value.data + KEY_HASH_BYTES);
        }
    }
    store_cursor_deinit(&cursor);
    *ret_review_count = count;
    return err == ERR_NOT_FOUND ? OK : err;
}
