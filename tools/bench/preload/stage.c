/*
 * stage.c: see stage.h. The stage comes before the operations of a memory back end: it is found
 * through the back end's table of operations, which is its first member.
 *
 * Rows are handed on in windows, three of four first, then the others. The first ones are
 * appended and fill their pages to the brim, the others split those: each table then has as many
 * pages as captures leave it, within a tenth. A store of full pages is a third smaller, and both
 * lookups and captures are faster on it than on one that grew.
 */
#include "tools/bench/preload/stage.h"

#include "store/backend_ops.h"
#include "store/base/assert.h"
#include "store/memory/memory.h"

#include <stdlib.h>

/* Far fewer than a commit holds, so that a page is split while it is still in memory. */
#define WINDOW_ROWS 1024
/* One row in this many of a window is written later. */
#define LATER_EVERY 4

/* Events that can be read back: more than the corrections of the papers that are being corrected. */
#define RECENT_EVENTS 256

/* An event that was appended. */
struct recent_event {
    struct key key;
    struct slice row; /* on the heap */
};

struct stage {
    struct store_backend_ops
        ops; /* operations of `memory`, some of them replaced; must be the first member */
    const struct store_backend_ops *memory_ops;
    struct store_backend *memory;
    struct feed *feed;
    struct recent_event recent[RECENT_EVENTS]; /* a ring */
    size_t appended_count; /* number of events, since the start */
};

static struct stage *stage_of(struct store_txn *txn)
{
    return (struct stage *)(uintptr_t)txn->backend->ops;
}

bool stage_passes(enum store_table table)
{
    return table == TABLE_EVENT || table == TABLE_EVENT_ID;
}

static struct key key_of(struct slice bytes)
{
    struct key key = {.size = bytes.size};

    memcpy(key.bytes, bytes.data, bytes.size);
    return key;
}

/* Stores an event in the place of the oldest one; returns false without memory. */
static bool keep_event(struct stage *stage, struct slice key, struct slice value)
{
    struct recent_event *recent = &stage->recent[stage->appended_count % RECENT_EVENTS];
    uint8_t *row = malloc(value.size);

    if (row == NULL) {
        return false;
    }
    free((void *)(uintptr_t)recent->row.data);
    memcpy(row, value.data, value.size);
    *recent = (struct recent_event){key_of(key), slice_of(row, value.size)};
    stage->appended_count++;
    return true;
}

static enum err stage_append(struct store_txn *txn, enum store_table table, struct slice key,
                             struct slice value)
{
    struct stage *stage = stage_of(txn);

    if (UNEXPECTED(!stage_passes(table))) {
        return ERR_INTERNAL;
    }
    if (table == TABLE_EVENT && !keep_event(stage, key, value)) {
        return ERR_MEMORY;
    }
    return feed_put(stage->feed, table, key, value);
}

static enum err stage_get(struct store_txn *txn, enum store_table table, struct slice key,
                          struct slice *ret_value)
{
    const struct stage *stage = stage_of(txn);

    for (size_t i = 0; table == TABLE_EVENT && i < RECENT_EVENTS; i++) {
        if (slice_equal(key, key_slice(&stage->recent[i].key))) {
            *ret_value = stage->recent[i].row;
            return OK;
        }
    }
    if (UNEXPECTED(stage_passes(table))) {
        return ERR_INTERNAL;
    }
    return stage->memory_ops->get(txn, table, key, ret_value);
}

static enum err stage_cursor_open(struct store_txn *txn, enum store_table table, void **ret_handle)
{
    if (UNEXPECTED(stage_passes(table))) {
        return ERR_INTERNAL;
    }
    return stage_of(txn)->memory_ops->cursor_open(txn, table, ret_handle);
}

enum err stage_open(struct feed *feed, struct stage **ret_stage)
{
    struct stage *stage = calloc(1, sizeof(*stage));
    enum err err = stage == NULL ? ERR_MEMORY : store_memory_open(&stage->memory);

    if (err != OK) {
        free(stage);
        return err;
    }
    stage->feed = feed;
    stage->memory_ops = stage->memory->ops;
    stage->ops = *stage->memory_ops;
    stage->ops.append = stage_append;
    stage->ops.get = stage_get;
    stage->ops.cursor_open = stage_cursor_open;
    stage->memory->ops = &stage->ops;
    *ret_stage = stage;
    return OK;
}

void stage_close(struct stage *take_stage)
{
    if (take_stage != NULL) {
        store_memory_close(take_stage->memory);
        for (size_t i = 0; i < RECENT_EVENTS; i++) {
            free((void *)(uintptr_t)take_stage->recent[i].row.data);
        }
        free(take_stage);
    }
}

struct store_backend *stage_backend(struct stage *stage)
{
    return stage->memory;
}

/* The rows of one window, those that come later or the others. */
struct window {
    struct key from; /* key of the first row; empty: start of the table */
    struct key next; /* the key of the first row after it */
    bool last; /* there are no more rows */
};

static enum err walk_window(struct stage *stage, struct store_cursor *cursor, bool later,
                            struct window *window)
{
    enum err err = OK;

    for (size_t i = 0; i <= WINDOW_ROWS; i++) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        err = store_cursor_next(cursor, &key, &value);
        if (err == ERR_NOT_FOUND) {
            window->last = true;
            return OK;
        }
        if (err == OK && i == WINDOW_ROWS) {
            window->next = key_of(key);
        } else if (err == OK && (i % LATER_EVERY == LATER_EVERY - 1) == later) {
            err = feed_put(stage->feed, cursor->table, key, value);
        }
        if (err != OK) {
            return err;
        }
    }
    return OK;
}

static enum err drain_window(struct stage *stage, struct store_txn *txn, enum store_table table,
                             const struct key *org, struct window *window)
{
    enum err err = OK;

    for (int later = 0; later <= 1 && err == OK; later++) {
        struct store_cursor cursor = {0};

        err = store_cursor_init(&cursor, txn, table, key_slice(org), key_slice(&window->from),
                                STORE_ASCENDING);
        if (err == OK) {
            err = walk_window(stage, &cursor, later == 1, window);
        }
        store_cursor_deinit(&cursor);
    }
    return err;
}

static enum err drain_table(struct stage *stage, struct store_txn *txn, enum store_table table,
                            const struct key *org)
{
    struct window window = {.last = false};
    enum err err = OK;

    while (err == OK && !window.last) {
        err = drain_window(stage, txn, table, org, &window);
        window.from = window.next;
    }
    return err;
}

enum err stage_drain(struct stage *stage, struct store_txn *txn, struct org_id org)
{
    struct key prefix = key_org(org);
    enum err err = OK;

    for (size_t i = 0; i < TABLE_COUNT && err == OK; i++) {
        if (!stage_passes((enum store_table)i)) {
            err = drain_table(stage, txn, (enum store_table)i, &prefix);
        }
    }
    return err;
}
