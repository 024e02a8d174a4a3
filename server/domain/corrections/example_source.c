/*
 * example_source.c: see example_source.h.
 */
#include "server/domain/corrections/example_source.h"

#define CACHE_LINE_BYTES 64
/* Prefetched bytes of each row, from its start: the size of a typical example. */
#define PREFETCH_BYTES 1344

/* The bytes of a row are in pages of their own, which are seldom in the processor's caches. Prefetching the
 * beginnings of all rows before the first is read overlaps these cache misses. One cache line per step: with
 * four per step a cold lookup is a tenth slower, since the processor drops prefetches if too many are pending.
 */
static void prefetch(struct slice value)
{
    size_t size = value.size < PREFETCH_BYTES ? value.size : PREFETCH_BYTES;

    for (size_t at = 0; at < size; at += CACHE_LINE_BYTES) {
        __builtin_prefetch(value.data + at);
    }
}

/* Reads the next row of one of the merged tables if it was not read yet. */
static enum err fill_next(struct example_source *source, size_t table)
{
    struct store_cursor *cursor = table == 0 ? &source->cursor : &source->retracted;
    struct example_row *row = &source->next[table];
    enum err err = OK;

    if (source->has_next[table]) {
        return OK;
    }
    err = store_cursor_next(cursor, &row->key, &row->value);
    row->is_retracted = table == 1;
    source->has_next[table] = err == OK;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Returns the newer of the next rows of both tables, whose keys have the same form. */
static enum err next_merged(struct example_source *source, struct example_row *ret_row)
{
    size_t newer = 0;
    enum err err = fill_next(source, 0);

    if (err == OK) {
        err = fill_next(source, 1);
    }
    if (err != OK) {
        return err;
    }
    if (!source->has_next[0] && !source->has_next[1]) {
        return ERR_NOT_FOUND;
    }
    newer = source->has_next[0] && source->has_next[1]
                ? (size_t)(slice_compare(source->next[1].key, source->next[0].key) > 0)
                : (size_t)source->has_next[1];
    *ret_row = source->next[newer];
    source->has_next[newer] = false;
    return OK;
}

enum err example_source_next(struct example_source *source, struct example_row *ret_row)
{
    if (source->is_merged) {
        return next_merged(source, ret_row);
    }
    ret_row->is_retracted = false;
    return store_cursor_next(&source->cursor, &ret_row->key, &ret_row->value);
}

enum err example_source_gather(struct example_source *source, size_t wanted,
                               struct example_row *rows, size_t *ret_count)
{
    size_t count = 0;
    enum err err = OK;

    while (count < wanted && err == OK) {
        err = example_source_next(source, &rows[count]);
        if (err == OK) {
            prefetch(rows[count].value);
            count++;
        }
    }
    *ret_count = count;
    return err == ERR_NOT_FOUND ? OK : err;
}
