/*
 * rows.c: a map of chunks with 1 to CHUNK_ROWS_MAX rows; a full one is split in half, an empty one
 * is removed; chunks are not merged, since a test double need not be small.
 */
#include "store/memory/rows.h"

#include "store/base/assert.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Small enough that copying a chunk is cheap, large enough that the list of chunks stays short. */
#define CHUNK_ROWS_MAX 64

struct value {
    atomic_uint holders;
    size_t size;
    uint8_t bytes[];
};

struct row {
    uint8_t key[STORE_KEY_BYTES_MAX];
    size_t key_bytes;
    struct value *value;
};

struct chunk {
    atomic_uint holders;
    size_t count;
    struct row rows[CHUNK_ROWS_MAX];
};

struct rows {
    atomic_uint holders;
    size_t count; /* number of chunks */
    size_t capacity;
    struct chunk **chunks;
};

static void value_unref(struct value *value)
{
    if (atomic_fetch_sub(&value->holders, 1) == 1) {
        free(value);
    }
}

static struct value *value_new(struct slice bytes)
{
    struct value *value = malloc(sizeof(*value) + bytes.size);

    if (value == NULL) {
        return NULL;
    }
    atomic_init(&value->holders, 1);
    value->size = bytes.size;
    if (bytes.size > 0) {
        memcpy(value->bytes, bytes.data, bytes.size);
    }
    return value;
}

static void chunk_unref(struct chunk *chunk)
{
    if (atomic_fetch_sub(&chunk->holders, 1) != 1) {
        return;
    }
    for (size_t i = 0; i < chunk->count; i++) {
        value_unref(chunk->rows[i].value);
    }
    free(chunk);
}

static struct chunk *chunk_new(void)
{
    struct chunk *chunk = calloc(1, sizeof(*chunk));

    if (chunk != NULL) {
        atomic_init(&chunk->holders, 1);
    }
    return chunk;
}

/* Copies the rows of a chunk from `first` on. */
static struct chunk *chunk_copy(const struct chunk *chunk, size_t first)
{
    struct chunk *copy = chunk_new();

    if (copy == NULL) {
        return NULL;
    }
    copy->count = chunk->count - first;
    for (size_t i = 0; i < copy->count; i++) {
        copy->rows[i] = chunk->rows[first + i];
        atomic_fetch_add(&copy->rows[i].value->holders, 1);
    }
    return copy;
}

struct rows *rows_new(void)
{
    struct rows *rows = calloc(1, sizeof(*rows));

    if (rows != NULL) {
        atomic_init(&rows->holders, 1);
    }
    return rows;
}

struct rows *rows_copy(const struct rows *rows)
{
    struct rows *copy = rows_new();

    if (copy == NULL || rows->count == 0) {
        return copy;
    }
    copy->chunks = malloc(rows->count * sizeof(struct chunk *));
    if (copy->chunks == NULL) {
        free(copy);
        return NULL;
    }
    copy->capacity = rows->count;
    copy->count = rows->count;
    for (size_t i = 0; i < rows->count; i++) {
        copy->chunks[i] = rows->chunks[i];
        atomic_fetch_add(&copy->chunks[i]->holders, 1);
    }
    return copy;
}

struct rows *rows_ref(struct rows *rows)
{
    atomic_fetch_add(&rows->holders, 1);
    return rows;
}

void rows_unref(struct rows *rows)
{
    if (rows == NULL || atomic_fetch_sub(&rows->holders, 1) != 1) {
        return;
    }
    for (size_t i = 0; i < rows->count; i++) {
        chunk_unref(rows->chunks[i]);
    }
    free(rows->chunks);
    free(rows);
}

static struct slice row_key(const struct row *row)
{
    return slice_of(row->key, row->key_bytes);
}

/* Returns the first chunk whose last row is at or after `key`; the count of chunks if there is
 * none. */
static size_t find_chunk(const struct rows *rows, struct slice key)
{
    size_t low = 0;
    size_t high = rows->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct chunk *chunk = rows->chunks[middle];

        if (slice_compare(row_key(&chunk->rows[chunk->count - 1]), key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static size_t find_row(const struct chunk *chunk, struct slice key)
{
    size_t low = 0;
    size_t high = chunk->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (slice_compare(row_key(&chunk->rows[middle]), key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static enum err insert_chunk(struct rows *rows, size_t at, struct chunk *take_chunk)
{
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity == 0 ? 16 : rows->capacity * 2;
        struct chunk **chunks = realloc(rows->chunks, capacity * sizeof(struct chunk *));

        if (chunks == NULL) {
            chunk_unref(take_chunk);
            return ERR_MEMORY;
        }
        rows->chunks = chunks;
        rows->capacity = capacity;
    }
    memmove(rows->chunks + at + 1, rows->chunks + at, (rows->count - at) * sizeof(struct chunk *));
    rows->chunks[at] = take_chunk;
    rows->count++;
    return OK;
}

/* Makes the map the chunk's only holder. */
static enum err own_chunk(struct rows *rows, size_t index)
{
    struct chunk *chunk = rows->chunks[index];
    struct chunk *copy = NULL;

    if (atomic_load(&chunk->holders) == 1) {
        return OK;
    }
    copy = chunk_copy(chunk, 0);
    if (copy == NULL) {
        return ERR_MEMORY;
    }
    rows->chunks[index] = copy;
    chunk_unref(chunk);
    return OK;
}

static enum err split_chunk(struct rows *rows, size_t index)
{
    struct chunk *chunk = rows->chunks[index];
    struct chunk *second = chunk_copy(chunk, chunk->count / 2);
    enum err err = OK;

    if (second == NULL) {
        return ERR_MEMORY;
    }
    err = insert_chunk(rows, index + 1, second);
    if (err != OK) {
        return err;
    }
    for (size_t i = chunk->count / 2; i < chunk->count; i++) {
        value_unref(chunk->rows[i].value);
    }
    chunk->count /= 2;
    return OK;
}

/* Finds the chunk for a new key, with room for one more row. */
static enum err make_room(struct rows *rows, struct slice key, size_t *ret_index)
{
    size_t index = find_chunk(rows, key);
    enum err err = OK;

    if (rows->count == 0) {
        struct chunk *chunk = chunk_new();

        err = chunk == NULL ? ERR_MEMORY : insert_chunk(rows, 0, chunk);
        *ret_index = 0;
        return err;
    }
    if (index == rows->count) {
        index--;
    }
    err = own_chunk(rows, index);
    if (err == OK && rows->chunks[index]->count == CHUNK_ROWS_MAX) {
        const struct chunk *chunk = NULL;

        err = split_chunk(rows, index);
        chunk = rows->chunks[index];
        if (err == OK && slice_compare(row_key(&chunk->rows[chunk->count - 1]), key) < 0) {
            index++;
        }
    }
    *ret_index = index;
    return err;
}

enum err rows_put(struct rows *rows, struct slice key, struct slice value)
{
    struct value *stored = value_new(value);
    struct chunk *chunk = NULL;
    size_t index = 0;
    size_t at = 0;
    enum err err = OK;

    if (stored == NULL) {
        return ERR_MEMORY;
    }
    err = make_room(rows, key, &index);
    if (err != OK) {
        value_unref(stored);
        return err;
    }
    chunk = rows->chunks[index];
    at = find_row(chunk, key);
    if (at < chunk->count && slice_equal(row_key(&chunk->rows[at]), key)) {
        value_unref(chunk->rows[at].value);
    } else {
        memmove(chunk->rows + at + 1, chunk->rows + at, (chunk->count - at) * sizeof(struct row));
        memcpy(chunk->rows[at].key, key.data, key.size);
        chunk->rows[at].key_bytes = key.size;
        chunk->count++;
    }
    chunk->rows[at].value = stored;
    return OK;
}

enum err rows_del(struct rows *rows, struct slice key)
{
    struct rows_place place;
    struct chunk *chunk = NULL;
    enum err err = OK;

    if (!rows_seek(rows, key, &place) ||
        !slice_equal(row_key(&rows->chunks[place.chunk_index]->rows[place.row_index]), key)) {
        return ERR_NOT_FOUND;
    }
    err = own_chunk(rows, place.chunk_index);
    if (err != OK) {
        return err;
    }
    chunk = rows->chunks[place.chunk_index];
    value_unref(chunk->rows[place.row_index].value);
    chunk->count--;
    memmove(chunk->rows + place.row_index, chunk->rows + place.row_index + 1,
            (chunk->count - place.row_index) * sizeof(struct row));
    if (chunk->count == 0) {
        rows->count--;
        memmove(rows->chunks + place.chunk_index, rows->chunks + place.chunk_index + 1,
                (rows->count - place.chunk_index) * sizeof(struct chunk *));
        chunk_unref(chunk);
    }
    return OK;
}

bool rows_seek(const struct rows *rows, struct slice key, struct rows_place *ret_place)
{
    size_t index = find_chunk(rows, key);

    if (index == rows->count) {
        return false;
    }
    ret_place->chunk_index = index;
    ret_place->row_index = find_row(rows->chunks[index], key);
    return true;
}

bool rows_last(const struct rows *rows, struct rows_place *ret_place)
{
    if (rows->count == 0) {
        return false;
    }
    ret_place->chunk_index = rows->count - 1;
    ret_place->row_index = rows->chunks[rows->count - 1]->count - 1;
    return true;
}

bool rows_next(const struct rows *rows, struct rows_place *place)
{
    if (place->row_index + 1 < rows->chunks[place->chunk_index]->count) {
        place->row_index++;
        return true;
    }
    if (place->chunk_index + 1 == rows->count) {
        return false;
    }
    place->chunk_index++;
    place->row_index = 0;
    return true;
}

bool rows_prev(const struct rows *rows, struct rows_place *place)
{
    if (place->row_index > 0) {
        place->row_index--;
        return true;
    }
    if (place->chunk_index == 0) {
        return false;
    }
    place->chunk_index--;
    place->row_index = rows->chunks[place->chunk_index]->count - 1;
    return true;
}

void rows_read(const struct rows *rows, struct rows_place place, struct slice *ret_key,
               struct slice *ret_value)
{
    const struct row *row = &rows->chunks[place.chunk_index]->rows[place.row_index];

    *ret_key = row_key(row);
    *ret_value = slice_of(row->value->bytes, row->value->size);
}
