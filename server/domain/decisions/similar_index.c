/*
 * similar_index.c: see similar_index.h. An index that lacks many events is made from the themes in the tables, which is much
 * faster than reading the log.
 */
#include "server/domain/decisions/similar_index.h"

#include "server/domain/decisions/history.h"
#include "server/domain/decisions/keys.h"
#include "server/domain/events/retraction.h"
#include "store/base/bytes.h"
#include "store/base/cancel.h"
#include "store/scan.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

/* Events that are read from the log; with more, all themes are read. */
#define GAP_MAX 20000
#define ROWS_PER_LOOK 256

/* A theme to add: its place in the tables, and its row there. */
struct theme_row {
    uint64_t seq;
    struct slice space; /* its hash */
    uint64_t agent;
    struct slice numbers;
};

struct slice similar_space(struct slice name, struct key *key)
{
    key->size = 0;
    key_put_hash(key, name);
    return key_slice(key);
}

uint64_t similar_agent(struct slice agent)
{
    struct key key = {.size = 0};

    key_put_hash(&key, agent);
    return bytes_get_be64(key.bytes);
}

size_t similar_vector(struct slice numbers, float values[VECTORS_WIDTH_MAX])
{
    size_t width = numbers.size / DECISION_THEME_NUMBER_BYTES;

    width = width < VECTORS_WIDTH_MAX ? width : VECTORS_WIDTH_MAX;
    vectors_divide_numbers(vectors_best_path(), numbers.data, width, THEME_SCALE, values);
    return width;
}

/* ERR_NOT_FOUND if there is no room. */
static enum err add(struct vector_rows *rows, const struct theme_row *theme)
{
    float values[VECTORS_WIDTH_MAX];
    size_t at = rows->count;
    enum err err = vector_rows_reserve(rows, &similar_source);

    if (err != OK) {
        return err;
    }
    vectors_sketch(vectors_best_path(), values, similar_vector(theme->numbers, values),
                   rows->sketches + at * VECTORS_SKETCH_BYTES);
    rows->seqs[at] = theme->seq;
    rows->columns[SIMILAR_AGENT][at] = theme->agent;
    rows->kinds[at] = SIMILAR_SEARCHED;
    rows->spaces[at] = vector_rows_add_space(rows, theme->space);
    rows->count++;
    return OK;
}

/* Adds the row of a scan. */
static enum err add_stored(struct vector_rows *rows, struct slice key, struct slice value)
{
    struct theme_row theme = {.seq = 0};
    enum err err = key_read_decision_seq(key, &theme.seq);

    if (err != OK || value.size < KEY_HASH_BYTES ||
        key.size != KEY_ORG_BYTES + KEY_HASH_BYTES + sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    theme.space = slice_of(key.data + KEY_ORG_BYTES, KEY_HASH_BYTES);
    theme.agent = bytes_get_be64(value.data);
    theme.numbers = slice_after(value, KEY_HASH_BYTES);
    return add(rows, &theme);
}

/* Reads the themes of each space in the order in which they were recorded. */
static enum err fill(struct vector_rows *rows, struct store_txn *txn, struct org_id org,
                     const atomic_bool *cancelled)
{
    const struct scan_range range = {.table = TABLE_DECISION_THEME,
                                     .prefix = key_org(org),
                                     .order = STORE_DESCENDING,
                                     .rows_max = UINT32_MAX};
    struct scan scan = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK && rows->count % ROWS_PER_LOOK == 0 && cancel_requested(cancelled)) {
            err = ERR_CANCELLED;
        }
        if (err == OK) {
            err = add_stored(rows, key, value);
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err apply_recorded(struct vector_rows *rows, const struct event *event)
{
    struct decision_theme stored;
    struct theme_row theme = {.seq = event->seq};
    struct decision_view view;
    struct key space;
    enum err err = view_read_parts(&decision_view_type, event->facts, event->content, &view);

    if (err == OK) {
        err = decision_theme_read(&view, &stored);
    }
    if (err != OK || view.cluster_seq == 0 || stored.numbers.size == 0) {
        return err;
    }
    theme.space = similar_space(stored.space, &space);
    theme.agent = similar_agent(view.agent_name);
    theme.numbers = stored.numbers;
    err = add(rows, &theme);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Forgets the themes of events. */
static void forget(struct vector_rows *rows, const struct decision_set *events)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (decision_set_has(events, rows->seqs[i])) {
            vector_rows_forget(rows, i);
        }
    }
}

/* Retractions of other events are far more; they have no row, and all rows are walked to find one. */
static enum err apply_retracted(struct vector_rows *rows, struct store_txn *txn,
                                const struct event *event)
{
    struct retraction retraction;
    struct event retracted;
    enum err err = retraction_of_event(event, &retraction);

    if (err == OK) {
        err = log_read(txn, event->org, retraction.event_seq, &retracted);
    }
    if (err == OK && retracted.kind == EVENT_DECISION_RECORDED) {
        forget(rows, &(struct decision_set){.seqs = &retraction.event_seq, .count = 1});
    }
    return err;
}

static enum err apply_erased(struct vector_rows *rows, struct arena *scratch,
                             const struct event *event)
{
    struct content_erased_view view;
    struct decision_set erased = {.count = 0};
    enum err err = content_erased_view_read(event->facts, &view);

    if (err != OK) {
        return err;
    }
    erased.seqs = arena_calloc(scratch, view.seqs.count + 1, sizeof(*erased.seqs));
    if (erased.seqs == NULL) {
        return ERR_MEMORY;
    }
    while (view_next_number(&view.seqs.run, &erased.seqs[erased.count])) {
        erased.count++;
    }
    forget(rows, &erased);
    return OK;
}

static enum err apply(struct vector_rows *rows, struct arena *scratch, struct store_txn *txn,
                      const struct event *event)
{
    if (event->kind == EVENT_DECISION_RECORDED) {
        return apply_recorded(rows, event);
    }
    if (event->kind == EVENT_CONTENT_ERASED) {
        return apply_erased(rows, scratch, event);
    }
    return event->kind == EVENT_RETRACTED ? apply_retracted(rows, txn, event) : OK;
}

const struct vector_source similar_source = {
    .column_count = SIMILAR_COLUMNS,
    .rows_max = SIMILAR_ROWS_MAX,
    .kept_max = SIMILAR_KEPT_MAX,
    .apply = apply,
    .fill = fill,
    .gap_max = GAP_MAX,
};
