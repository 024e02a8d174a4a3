/*
 * journal_cursor.c: a cursor that merges three sources: the rows of two memtables and of the tables. Of the same key the
 * newest source's row counts; a removed one hides those below it. When the direction changes,
 * each source is placed again at the row that was returned last.
 */
#include "store/base/assert.h"
#include "store/journal/journal_internal.h"

#include <stdlib.h>
#include <string.h>

#define TABLES_SOURCE MEMTABLES

static bool has_rows(const struct journal_txn *txn, enum store_table table)
{
    for (size_t i = 0; i < MEMTABLES; i++) {
        if (txn->memtables[i] != NULL && memtable_has_table(txn->memtables[i], table)) {
            return true;
        }
    }
    return false;
}

enum err journal_cursor_open(struct store_txn *txn, enum store_table table, void **ret_handle)
{
    struct journal_txn *journal_txn = (struct journal_txn *)txn;
    struct journal_cursor *cursor = &journal_txn->cursors[table];
    bool kept = !cursor->used;
    enum err err = OK;

    if (!kept) {
        cursor = calloc(1, sizeof(*cursor));
        if (cursor == NULL) {
            return ERR_MEMORY;
        }
    }
    cursor->txn = journal_txn;
    cursor->kept = kept;
    cursor->is_plain = !has_rows(journal_txn, table);
    for (size_t i = 0; i < MEMTABLES; i++) {
        cursor->rows[i] = (struct memtable_cursor){.memtable = journal_txn->memtables[i],
                                                   .table = table,
                                                   .snapshot = journal_txn->snapshot};
        cursor->sources[i].is_valid = false;
    }
    err =
        journal_txn->tables->backend->ops->cursor_open(journal_txn->tables, table, &cursor->tables);
    if (err != OK) {
        if (!kept) {
            free(cursor);
        }
        return err;
    }
    cursor->used = true;
    *ret_handle = cursor;
    return OK;
}

void journal_cursor_close(struct store_txn *txn, void *handle)
{
    struct journal_txn *journal_txn = (struct journal_txn *)txn;
    struct journal_cursor *cursor = handle;

    journal_txn->tables->backend->ops->cursor_close(journal_txn->tables, cursor->tables);
    cursor->used = false;
    if (!cursor->kept) {
        free(cursor);
    }
}

static const struct store_backend_ops *tables_ops(const struct journal_cursor *cursor)
{
    return cursor->txn->tables->backend->ops;
}

/* Takes over where a memtable's cursor has moved to. */
static void take_row(struct journal_cursor *cursor, size_t i, bool found)
{
    struct journal_source *source = &cursor->sources[i];
    struct memtable_row row;

    source->is_valid = found;
    if (found) {
        memtable_read(&cursor->rows[i], &row);
        source->key = row.key;
        source->value = row.value;
        source->is_deleted = row.op == MEMTABLE_DEL;
    }
}

/* Takes over the result of a move in the tables. */
static enum err take_tables(struct journal_cursor *cursor, enum err err)
{
    cursor->sources[TABLES_SOURCE].is_valid = err == OK;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Moves one source to its first row at or after the key. */
static enum err seek_source(struct journal_cursor *cursor, size_t i, struct slice key)
{
    struct journal_source *source = &cursor->sources[i];

    if (i == TABLES_SOURCE) {
        return take_tables(cursor, tables_ops(cursor)->cursor_seek(cursor->tables, key,
                                                                   &source->key, &source->value));
    }
    if (cursor->rows[i].memtable != NULL) {
        take_row(cursor, i, memtable_seek(&cursor->rows[i], key));
    }
    return OK;
}

static enum err next_in_source(struct journal_cursor *cursor, size_t i)
{
    struct journal_source *source = &cursor->sources[i];

    if (i == TABLES_SOURCE) {
        return take_tables(
            cursor, tables_ops(cursor)->cursor_next(cursor->tables, &source->key, &source->value));
    }
    take_row(cursor, i, memtable_next(&cursor->rows[i]));
    return OK;
}

static enum err last_in_source(struct journal_cursor *cursor, size_t i)
{
    struct journal_source *source = &cursor->sources[i];

    if (i == TABLES_SOURCE) {
        return take_tables(
            cursor, tables_ops(cursor)->cursor_last(cursor->tables, &source->key, &source->value));
    }
    if (cursor->rows[i].memtable != NULL) {
        take_row(cursor, i, memtable_last(&cursor->rows[i]));
    }
    return OK;
}

static enum err prev_in_source(struct journal_cursor *cursor, size_t i)
{
    struct journal_source *source = &cursor->sources[i];

    if (i == TABLES_SOURCE) {
        return take_tables(
            cursor, tables_ops(cursor)->cursor_prev(cursor->tables, &source->key, &source->value));
    }
    take_row(cursor, i, memtable_before(&cursor->rows[i], source->key));
    return OK;
}

/* Moves one source to its last row before the key. */
static enum err place_before(struct journal_cursor *cursor, size_t i, struct slice key)
{
    enum err err = OK;

    if (i != TABLES_SOURCE) {
        if (cursor->rows[i].memtable != NULL) {
            take_row(cursor, i, memtable_before(&cursor->rows[i], key));
        }
        return OK;
    }
    err = seek_source(cursor, i, key);
    if (err != OK) {
        return err;
    }
    return cursor->sources[i].is_valid ? prev_in_source(cursor, i) : last_in_source(cursor, i);
}

/* Moves one source to its first row after the key. */
static enum err place_after(struct journal_cursor *cursor, size_t i, struct slice key)
{
    enum err err = seek_source(cursor, i, key);

    if (err == OK && cursor->sources[i].is_valid && slice_equal(cursor->sources[i].key, key)) {
        err = next_in_source(cursor, i);
    }
    return err;
}

/* Moves one source that is at the key past it. */
static enum err step_source(struct journal_cursor *cursor, size_t i, struct slice key)
{
    const struct journal_source *source = &cursor->sources[i];

    if (!source->is_valid || !slice_equal(source->key, key)) {
        return OK;
    }
    return cursor->order == STORE_ASCENDING ? next_in_source(cursor, i) : prev_in_source(cursor, i);
}

/* Returns the source whose row is first in the order; of the same key the newest. MEMTABLES + 1: none has a row. */
static size_t first_source(const struct journal_cursor *cursor)
{
    size_t first = MEMTABLES + 1;

    for (size_t i = 0; i <= TABLES_SOURCE; i++) {
        int order = 0;

        if (!cursor->sources[i].is_valid) {
            continue;
        }
        if (first > TABLES_SOURCE) {
            first = i;
            continue;
        }
        order = slice_compare(cursor->sources[i].key, cursor->sources[first].key);
        if (cursor->order == STORE_ASCENDING ? order < 0 : order > 0) {
            first = i;
        }
    }
    return first;
}

/* Moves all sources past a key. */
static enum err pass(struct journal_cursor *cursor, struct slice key)
{
    enum err err = OK;

    for (size_t i = 0; i <= TABLES_SOURCE && err == OK; i++) {
        err = step_source(cursor, i, key);
    }
    return err;
}

/* Returns the first row that is not removed. */
static enum err pick(struct journal_cursor *cursor, struct slice *ret_key, struct slice *ret_value)
{
    for (;;) {
        size_t first = first_source(cursor);
        const struct journal_source *source = NULL;
        enum err err = OK;

        if (first > TABLES_SOURCE) {
            return ERR_NOT_FOUND;
        }
        source = &cursor->sources[first];
        if (first == TABLES_SOURCE || !source->is_deleted) {
            cursor->at = source->key;
            *ret_key = source->key;
            *ret_value = source->value;
            return OK;
        }
        err = pass(cursor, source->key);
        if (err != OK) {
            return err;
        }
    }
}

enum err journal_cursor_seek(void *handle, struct slice key, struct slice *ret_key,
                             struct slice *ret_value)
{
    struct journal_cursor *cursor = handle;
    enum err err = OK;

    if (cursor->is_plain) {
        return tables_ops(cursor)->cursor_seek(cursor->tables, key, ret_key, ret_value);
    }
    cursor->order = STORE_ASCENDING;
    for (size_t i = 0; i <= TABLES_SOURCE && err == OK; i++) {
        err = seek_source(cursor, i, key);
    }
    return err == OK ? pick(cursor, ret_key, ret_value) : err;
}

enum err journal_cursor_last(void *handle, struct slice *ret_key, struct slice *ret_value)
{
    struct journal_cursor *cursor = handle;
    enum err err = OK;

    if (cursor->is_plain) {
        return tables_ops(cursor)->cursor_last(cursor->tables, ret_key, ret_value);
    }
    cursor->order = STORE_DESCENDING;
    for (size_t i = 0; i <= TABLES_SOURCE && err == OK; i++) {
        err = last_in_source(cursor, i);
    }
    return err == OK ? pick(cursor, ret_key, ret_value) : err;
}

enum err journal_cursor_next(void *handle, struct slice *ret_key, struct slice *ret_value)
{
    struct journal_cursor *cursor = handle;
    enum err err = OK;

    if (cursor->is_plain) {
        return tables_ops(cursor)->cursor_next(cursor->tables, ret_key, ret_value);
    }
    if (cursor->order == STORE_ASCENDING) {
        err = pass(cursor, cursor->at);
    } else {
        cursor->order = STORE_ASCENDING;
        for (size_t i = 0; i <= TABLES_SOURCE && err == OK; i++) {
            err = place_after(cursor, i, cursor->at);
        }
    }
    return err == OK ? pick(cursor, ret_key, ret_value) : err;
}

enum err journal_cursor_prev(void *handle, struct slice *ret_key, struct slice *ret_value)
{
    struct journal_cursor *cursor = handle;
    enum err err = OK;

    if (cursor->is_plain) {
        return tables_ops(cursor)->cursor_prev(cursor->tables, ret_key, ret_value);
    }
    if (cursor->order == STORE_DESCENDING) {
        err = pass(cursor, cursor->at);
    } else {
        cursor->order = STORE_DESCENDING;
        for (size_t i = 0; i <= TABLES_SOURCE && err == OK; i++) {
            err = place_before(cursor, i, cursor->at);
        }
    }
    return err == OK ? pick(cursor, ret_key, ret_value) : err;
}
