/*
 * rows.h: an ordered map of bytes with cheap snapshots, for the memory back end alone. A map is a
 * sorted list of chunks of sorted rows. Maps, chunks and values are counted: a copy of a map shares
 * its chunks, and a change copies the one chunk it touches. A map that more than one holder sees is
 * never changed, so snapshots may be read on any thread while a copy is written.
 */
#ifndef ERRATA_STORE_MEMORY_ROWS_H
#define ERRATA_STORE_MEMORY_ROWS_H

#include "store/backend.h"

struct rows;

/* Where a row is in a map; meaningless after a change. */
struct rows_place {
    size_t chunk_index;
    size_t row_index;
};

/* NULL when out of memory. */
struct rows *rows_new(void);
/* A map of its own with the same rows; NULL when out of memory. */
struct rows *rows_copy(const struct rows *rows);
struct rows *rows_ref(struct rows *rows);
/* Lets go; accepts NULL. */
void rows_unref(struct rows *rows);
/* Only for a map with one holder. ERR_MEMORY leaves it as it was. */
MUST_CHECK enum err rows_put(struct rows *rows, struct slice key, struct slice value);
MUST_CHECK enum err rows_del(struct rows *rows, struct slice key);
/* The first row at or after `key`; false if there is none. */
bool rows_seek(const struct rows *rows, struct slice key, struct rows_place *ret_place);
bool rows_last(const struct rows *rows, struct rows_place *ret_place);
/* Moves by one row; false, and unmoved, at either end. */
bool rows_next(const struct rows *rows, struct rows_place *place);
bool rows_prev(const struct rows *rows, struct rows_place *place);
/* The row; borrowed until the map changes or goes. */
void rows_read(const struct rows *rows, struct rows_place place, struct slice *ret_key,
               struct slice *ret_value);

#endif
