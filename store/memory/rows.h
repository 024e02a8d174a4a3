/*
 * rows.h: an ordered map of bytes with cheap snapshots, for the memory back end. A map is a sorted
 * list of chunks of sorted rows. Maps, chunks and values are reference-counted: a copy of a map
 * shares its chunks, and a change copies the one chunk it affects. A map with several holders is
 * never changed, so snapshots may be read on any thread while a copy is written.
 */
#ifndef ERRATA_STORE_MEMORY_ROWS_H
#define ERRATA_STORE_MEMORY_ROWS_H

#include "store/backend.h"

struct rows;

/* The position of a row in a map; invalid after a change. */
struct rows_place {
    size_t chunk_index;
    size_t row_index;
};

/* Returns NULL if out of memory. */
struct rows *rows_new(void);
/* Returns a map with the same rows; NULL if out of memory. */
struct rows *rows_copy(const struct rows *rows);
struct rows *rows_ref(struct rows *rows);
/* Releases a reference. Accepts NULL. */
void rows_unref(struct rows *rows);
/* Stores a row in a map with one holder. On ERR_MEMORY the map is unchanged. */
MUST_CHECK enum err rows_put(struct rows *rows, struct slice key, struct slice value);
MUST_CHECK enum err rows_del(struct rows *rows, struct slice key);
/* Returns the first row at or after `key`; false if there is none. */
bool rows_seek(const struct rows *rows, struct slice key, struct rows_place *ret_place);
bool rows_last(const struct rows *rows, struct rows_place *ret_place);
/* Moves by one row; false, without moving, at both ends. */
bool rows_next(const struct rows *rows, struct rows_place *place);
bool rows_prev(const struct rows *rows, struct rows_place *place);
/* Reads the row; borrowed until the map changes or is freed. */
void rows_read(const struct rows *rows, struct rows_place place, struct slice *ret_key,
               struct slice *ret_value);

#endif
