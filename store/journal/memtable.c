/*
 * memtable.c: versions and their bytes are in chunks that are freed together, so a reader that has
 * reached a version can still read it after its transaction was undone; its links lead to versions
 * that are in the list.
 */
#include "store/journal/memtable.h"

#include "store/base/assert.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Enough levels for 4^12 rows, if each level has a quarter of the rows of the one below. */
#define LEVELS_MAX 12
#define CHUNK_BYTES ((size_t)256 * 1024)
#define ALIGNMENT _Alignof(max_align_t)
/* Maximum versions of one row that memtable_next passes one by one before it searches. */
#define STEPS_MAX 4

_Static_assert(TABLE_COUNT <= UINT8_MAX, "a table's number has one byte, here and in records");

struct memtable_version {
    uint64_t number;
    const uint8_t *value;
    uint32_t value_bytes;
    uint8_t table;
    uint8_t key_bytes;
    uint8_t op;
    uint8_t levels;
    struct memtable_version *put_before; /* previous put of the transaction; NULL: none */
    _Atomic(struct memtable_version *) next[]; /* one for each level; the key follows */
};

struct chunk {
    struct chunk *before;
    size_t used;
    size_t capacity;
    _Alignas(max_align_t) uint8_t bytes[];
};

struct memtable {
    atomic_uint holders;
    struct chunk *chunks; /* the newest first */
    atomic_size_t bytes;
    uint32_t dice; /* state of the random generator of levels */
    struct memtable_version *put_last; /* last put of the open transaction */
    atomic_uint versions[TABLE_COUNT];
    _Atomic(struct memtable_version *) heads[TABLE_COUNT][LEVELS_MAX]; /* a list for each table */
};

/* A search position: before, between or after the versions of a table. */
struct place {
    enum store_table table;
    bool is_end; /* after all versions; the fields below are not used */
    struct slice key;
    uint64_t number; /* versions with higher numbers come before it */
};

struct memtable *memtable_new(void)
{
    struct memtable *memtable = calloc(1, sizeof(*memtable));

    if (memtable != NULL) {
        atomic_init(&memtable->holders, 1);
        memtable->dice = 1;
    }
    return memtable;
}

struct memtable *memtable_ref(struct memtable *memtable)
{
    atomic_fetch_add_explicit(&memtable->holders, 1, memory_order_relaxed);
    return memtable;
}

void memtable_unref(struct memtable *memtable)
{
    if (memtable == NULL ||
        atomic_fetch_sub_explicit(&memtable->holders, 1, memory_order_acq_rel) != 1) {
        return;
    }
    while (memtable->chunks != NULL) {
        struct chunk *chunk = memtable->chunks;

        memtable->chunks = chunk->before;
        free(chunk);
    }
    free(memtable);
}

size_t memtable_bytes(const struct memtable *memtable)
{
    return atomic_load_explicit(&memtable->bytes, memory_order_relaxed);
}

bool memtable_has_table(const struct memtable *memtable, enum store_table table)
{
    return atomic_load_explicit(&memtable->versions[table], memory_order_relaxed) > 0;
}

static struct chunk *add_chunk(struct memtable *memtable, size_t bytes)
{
    size_t capacity = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    struct chunk *chunk = malloc(sizeof(*chunk) + capacity);

    if (chunk != NULL) {
        chunk->before = memtable->chunks;
        chunk->used = 0;
        chunk->capacity = capacity;
        memtable->chunks = chunk;
        atomic_fetch_add_explicit(&memtable->bytes, sizeof(*chunk) + capacity,
                                  memory_order_relaxed);
    }
    return chunk;
}

static void *take_bytes(struct memtable *memtable, size_t bytes)
{
    size_t needed = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct chunk *chunk = memtable->chunks;
    void *taken = NULL;

    if (chunk == NULL || chunk->capacity - chunk->used < needed) {
        chunk = add_chunk(memtable, needed);
    }
    if (chunk == NULL) {
        return NULL;
    }
    taken = chunk->bytes + chunk->used;
    chunk->used += needed;
    return taken;
}

static const uint8_t *key_of(const struct memtable_version *version)
{
    return (const uint8_t *)&version->next[version->levels];
}

static struct slice key_slice_of(const struct memtable_version *version)
{
    return slice_of(key_of(version), version->key_bytes);
}

static bool is_before(const struct memtable_version *version, const struct place *place)
{
    int order = place->is_end ? -1 : slice_compare(key_slice_of(version), place->key);

    return order < 0 || (order == 0 && version->number > place->number);
}

static bool has_key(const struct memtable_version *version, struct slice key)
{
    return slice_equal(key_slice_of(version), key);
}

static struct memtable_version *load(const _Atomic(struct memtable_version *) *link)
{
    return atomic_load_explicit(link, memory_order_acquire);
}

/* Finds the first version that is not before the place. If `links` is set, also returns the links
 * that lead to it, one for each level; if `ret_before` is set, the last version before the place
 * (NULL: none). */
static struct memtable_version *search(const struct memtable *memtable, const struct place *place,
                                       _Atomic(struct memtable_version *) *links[LEVELS_MAX],
                                       struct memtable_version **ret_before)
{
    const _Atomic(struct memtable_version *) *level = memtable->heads[place->table];
    struct memtable_version *before = NULL;
    struct memtable_version *found = NULL;

    for (size_t i = LEVELS_MAX; i > 0; i--) {
        found = load(&level[i - 1]);
        while (found != NULL && is_before(found, place)) {
            before = found;
            level = found->next;
            found = load(&level[i - 1]);
        }
        if (links != NULL) {
            links[i - 1] = (_Atomic(struct memtable_version *) *)&level[i - 1];
        }
    }
    if (ret_before != NULL) {
        *ret_before = before;
    }
    return found;
}

/* Chooses a number of levels: one more for every fourth row, by a generator of Marsaglia ("Xorshift RNGs", 2003). */
static uint8_t roll_levels(struct memtable *memtable)
{
    uint8_t levels = 1;

    memtable->dice ^= memtable->dice << 13;
    memtable->dice ^= memtable->dice >> 17;
    memtable->dice ^= memtable->dice << 5;
    for (uint32_t bits = memtable->dice; levels < LEVELS_MAX && (bits & 3) == 0; bits >>= 2) {
        levels++;
    }
    return levels;
}

static bool set_value(struct memtable *memtable, struct memtable_version *version,
                      const struct memtable_row *row)
{
    uint8_t *value = NULL;

    if (row->value.size > 0) {
        value = take_bytes(memtable, row->value.size);
        if (value == NULL) {
            return false;
        }
        memcpy(value, row->value.data, row->value.size);
    }
    version->value = value;
    version->value_bytes = (uint32_t)row->value.size;
    version->op = (uint8_t)row->op;
    return true;
}

enum err memtable_put(struct memtable *memtable, const struct memtable_row *row)
{
    const struct place place = {.table = row->table, .key = row->key, .number = row->number};
    _Atomic(struct memtable_version *) *links[LEVELS_MAX];
    struct memtable_version *found = search(memtable, &place, links, NULL);
    struct memtable_version *version = NULL;
    uint8_t levels = 0;

    if (found != NULL && found->number == row->number && has_key(found, row->key)) {
        return set_value(memtable, found, row) ? OK : ERR_MEMORY;
    }
    levels = roll_levels(memtable);
    version =
        take_bytes(memtable, sizeof(*version) + levels * sizeof(version->next[0]) + row->key.size);
    if (version == NULL) {
        return ERR_MEMORY;
    }
    version->number = row->number;
    version->levels = levels;
    version->table = (uint8_t)row->table;
    version->key_bytes = (uint8_t)row->key.size;
    memcpy(&version->next[levels], row->key.data, row->key.size);
    if (!set_value(memtable, version, row)) {
        return ERR_MEMORY;
    }
    version->put_before = memtable->put_last;
    memtable->put_last = version;
    atomic_fetch_add_explicit(&memtable->versions[row->table], 1, memory_order_relaxed);
    for (size_t i = 0; i < levels; i++) {
        atomic_init(&version->next[i], load(links[i]));
        atomic_store_explicit(links[i], version, memory_order_release);
    }
    return OK;
}

void memtable_keep(struct memtable *memtable)
{
    memtable->put_last = NULL;
}

static void unlink_version(struct memtable *memtable, struct memtable_version *version)
{
    const struct place place = {.table = (enum store_table)version->table,
                                .key = key_slice_of(version),
                                .number = version->number};
    _Atomic(struct memtable_version *) *links[LEVELS_MAX];
    struct memtable_version *found = search(memtable, &place, links, NULL);

    ASSERT(found == version);
    for (size_t i = version->levels; i > 0; i--) {
        ASSERT(load(links[i - 1]) == version);
        atomic_store_explicit(links[i - 1], load(&version->next[i - 1]), memory_order_release);
    }
    atomic_fetch_sub_explicit(&memtable->versions[version->table], 1, memory_order_relaxed);
}

void memtable_undo(struct memtable *memtable)
{
    while (memtable->put_last != NULL) {
        struct memtable_version *version = memtable->put_last;

        memtable->put_last = version->put_before;
        unlink_version(memtable, version);
    }
}

static void read_version(const struct memtable_version *version, struct memtable_row *ret_row)
{
    ret_row->table = (enum store_table)version->table;
    ret_row->op = (enum memtable_op)version->op;
    ret_row->key = key_slice_of(version);
    ret_row->value = slice_of(version->value, version->value_bytes);
    ret_row->number = version->number;
}

void memtable_each_new(const struct memtable *memtable,
                       void (*on_row)(void *user, const struct memtable_row *row), void *user)
{
    for (const struct memtable_version *version = memtable->put_last; version != NULL;
         version = version->put_before) {
        struct memtable_row row;

        read_version(version, &row);
        on_row(user, &row);
    }
}

bool memtable_find(const struct memtable *memtable, enum store_table table, struct slice key,
                   uint64_t snapshot, struct memtable_row *ret_row)
{
    const struct place place = {.table = table, .key = key, .number = snapshot};
    const struct memtable_version *found = search(memtable, &place, NULL, NULL);

    if (found == NULL || !has_key(found, key)) {
        return false;
    }
    read_version(found, ret_row);
    return true;
}

/* Returns the place of the version of a row that the cursor's snapshot sees. */
static struct place seen_place(const struct memtable_cursor *cursor, struct slice key)
{
    return (struct place){.table = cursor->table, .key = key, .number = cursor->snapshot};
}

/* Returns the place before all versions of a row. */
static struct place row_place(const struct memtable_cursor *cursor, struct slice key)
{
    return (struct place){.table = cursor->table, .key = key, .number = MEMTABLE_ALL};
}

/* Finds the version that the snapshot sees of this version's row, or of the first row after it. */
static bool settle_after(struct memtable_cursor *cursor, const struct memtable_version *version)
{
    while (version != NULL && version->number > cursor->snapshot) {
        const struct place place = seen_place(cursor, key_slice_of(version));

        version = search(cursor->memtable, &place, NULL, NULL);
    }
    cursor->at = version;
    return version != NULL;
}

bool memtable_seek(struct memtable_cursor *cursor, struct slice key)
{
    const struct place place = row_place(cursor, key);

    return settle_after(cursor, search(cursor->memtable, &place, NULL, NULL));
}

bool memtable_next(struct memtable_cursor *cursor)
{
    const struct slice key = key_slice_of(cursor->at);
    const struct place after = {.table = cursor->table, .key = key, .number = 0};
    const struct memtable_version *version = cursor->at;

    for (size_t i = 0; i < STEPS_MAX; i++) {
        version = load(&version->next[0]);
        if (version == NULL || !has_key(version, key)) {
            return settle_after(cursor, version);
        }
    }
    return settle_after(cursor, search(cursor->memtable, &after, NULL, NULL));
}

/* Finds the last row before the place that the snapshot sees. */
static bool settle_before(struct memtable_cursor *cursor, struct place place)
{
    struct memtable_version *before = NULL;

    cursor->at = NULL;
    (void)search(cursor->memtable, &place, NULL, &before);
    while (before != NULL) {
        const struct place seen = seen_place(cursor, key_slice_of(before));
        const struct memtable_version *version = search(cursor->memtable, &seen, NULL, NULL);

        if (version != NULL && has_key(version, seen.key)) {
            cursor->at = version;
            return true;
        }
        place = row_place(cursor, seen.key);
        (void)search(cursor->memtable, &place, NULL, &before);
    }
    return false;
}

bool memtable_last(struct memtable_cursor *cursor)
{
    return settle_before(cursor, (struct place){.table = cursor->table, .is_end = true});
}

bool memtable_before(struct memtable_cursor *cursor, struct slice key)
{
    return settle_before(cursor, row_place(cursor, key));
}

void memtable_read(const struct memtable_cursor *cursor, struct memtable_row *ret_row)
{
    read_version(cursor->at, ret_row);
}
