/*
 * strategy_index.c: see strategy_index.h.
 */
#include "server/domain/turns/strategy_index.h"

#include "server/domain/events/removal.h"
#include "server/domain/text/case_fold.h"
#include "server/domain/vectors/vectors.h"
#include "store/base/bytes.h"
#include "store/base/sha256.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

static uint64_t hash_of(struct slice bytes)
{
    struct sha256_digest digest = sha256(bytes);
    uint64_t hash = bytes_get_be64(digest.bytes);

    return hash == 0 ? 1 : hash;
}

uint64_t intent_hash(struct slice intent)
{
    return intent.size == 0 ? 0 : hash_of(intent);
}

enum err strategy_hash(struct arena *arena, struct slice strategy, uint64_t *ret_hash)
{
    struct turn_strategy_view view;
    struct slice folded = {NULL, 0};
    struct slice both = {NULL, 0};
    enum err err = OK;

    *ret_hash = 0;
    if (strategy.size == 0) {
        return OK;
    }
    err = turn_strategy_view_read(strategy, &view);
    if (err == OK) {
        err = case_fold(arena, view.text, &folded);
    }
    if (err != OK) {
        return err;
    }
    both = arena_printf(arena, "%.*s\n%.*s", (int)view.tool.size, (const char *)view.tool.data,
                        (int)folded.size, (const char *)folded.data);
    if (both.data == NULL) {
        return ERR_MEMORY;
    }
    *ret_hash = hash_of(both);
    return OK;
}

/* Notes by which event a turn was erased. */
static enum err note_erased(struct vector_rows *rows, struct store_txn *txn,
                            const struct event *event)
{
    uint64_t seq = 0;
    enum err err =
        event->content_removed ? removal_erased_by(txn, event->org, event->seq, &seq) : OK;

    rows->erased_by_seq = seq > rows->erased_by_seq ? seq : rows->erased_by_seq;
    return err;
}

static enum err add_turn(struct vector_rows *rows, struct arena *scratch, struct store_txn *txn,
                         const struct event *event)
{
    struct turn_view view;
    struct turn_vector vector;
    size_t at = rows->count;
    enum err err = turn_view_of_event(event, &view);

    if (err == OK) {
        err = vector_rows_reserve(rows, &strategy_source);
    }
    if (err == OK) {
        err = strategy_hash(scratch, view.strategy, &rows->columns[STRATEGY_HASH][at]);
    }
    if (err == OK) {
        err = turn_vector_read(scratch, txn, event->org, event->seq, &vector);
        rows->spaces[at] =
            err == OK ? vector_rows_add_space(rows, vector.space) : VECTOR_INDEX_NO_SPACE;
        if (err == OK) {
            vectors_sketch(vectors_best_path(), vector.values, vector.width,
                           rows->sketches + at * VECTORS_SKETCH_BYTES);
        }
        err = err == ERR_NOT_FOUND ? OK : err;
    }
    if (err == OK) {
        err = note_erased(rows, txn, event);
    }
    if (err == OK) {
        rows->seqs[at] = event->seq;
        rows->columns[STRATEGY_MARK][at] = 0;
        rows->columns[STRATEGY_INTENT][at] = intent_hash(view.intent);
        rows->kinds[at] = TURN_STATUS_NEUTRAL;
        rows->count++;
    }
    return err;
}

/* Returns the row of the turn that an event recorded; `count` if it has none, as turns beyond STRATEGY_TURNS_MAX. */
static size_t find_row(const struct vector_rows *rows, uint64_t turn_seq)
{
    size_t low = 0;
    size_t high = rows->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rows->seqs[middle] < turn_seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < rows->count && rows->seqs[low] == turn_seq ? low : rows->count;
}

/* Sets the status of the turn that an event recorded. */
static void mark(struct vector_rows *rows, uint64_t turn_seq, uint64_t seq, uint8_t status)
{
    size_t at = find_row(rows, turn_seq);

    if (at < rows->count) {
        rows->kinds[at] = status;
        rows->columns[STRATEGY_MARK][at] = seq;
    }
}

/* Forgets what was made of the content of turns that were erased. */
static enum err forget_erased(struct vector_rows *rows, const struct event *event)
{
    struct content_erased_view view;
    uint64_t seq = 0;
    enum err err = content_erased_view_read(event->facts, &view);

    while (err == OK && view_next_number(&view.seqs.run, &seq)) {
        size_t at = find_row(rows, seq);

        if (at < rows->count) {
            rows->columns[STRATEGY_HASH][at] = 0;
            vector_rows_forget(rows, at);
        }
    }
    return err;
}

static enum err apply(struct vector_rows *rows, struct arena *scratch, struct store_txn *txn,
                      const struct event *event)
{
    struct feedback_detected_view detected;
    struct turn_feedback_set_view set;
    enum err err = OK;

    if (event->kind == EVENT_TURN_RECORDED) {
        err = add_turn(rows, scratch, txn, event);
        return err == ERR_NOT_FOUND && rows->is_cut ? OK : err;
    }
    if (event->kind == EVENT_CONTENT_ERASED) {
        return forget_erased(rows, event);
    }
    if (event->kind == EVENT_FEEDBACK_DETECTED) {
        err = feedback_detected_view_read(event->facts, &detected);
        if (err == OK && detected.marked) {
            mark(rows, detected.previous_seq, event->seq, (uint8_t)detected.feedback_type);
        }
    }
    if (event->kind == EVENT_TURN_FEEDBACK_SET) {
        err = turn_feedback_set_view_read(event->facts, &set);
        if (err == OK) {
            mark(rows, set.turn_seq, event->seq, (uint8_t)set.status);
        }
    }
    return err;
}

const struct vector_source strategy_source = {
    .column_count = STRATEGY_COLUMNS,
    .rows_max = STRATEGY_TURNS_MAX,
    .kept_max = STRATEGY_KEPT_TURNS_MAX,
    .apply = apply,
};
