/*
 * memtable.c: rows, versions and their bytes are in chunks that are freed together, so a reader that has reached a
 * version can still read it after its transaction was undone. A row without versions remains in the list, and readers
 * skip it.
 */
#include "store/journal/memtable.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/key.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Enough levels for 4^12 rows, if each level has a quarter of the rows of the one below. */
#define LEVELS_MAX 12
#define ALIGNMENT _Alignof(max_align_t)
/* Bytes of a memtable for each bucket: about those of a row with its versions. */
#define BUCKET_SHARE_BYTES 512
#define BUCKETS_MIN 256
#define BUCKETS_MAX ((size_t)1 << 20)
#define WORD_BYTES sizeof(uint64_t)
#define KEY_WORDS_MAX ((STORE_KEY_BYTES_MAX + WORD_BYTES - 1) / WORD_BYTES)

_Static_assert(TABLE_COUNT <= UINT8_MAX, "a table's number has one byte, here and in records");
_Static_assert(STORE_KEY_BYTES_MAX <= UINT8_MAX, "the size of a key has one byte");

struct memtable_version {
    uint64_t number;
    const uint8_t *value;
    uint32_t value_bytes;
    uint32_t depth; /* number of older versions of the row */
    struct memtable_version *older; /* NULL: the oldest, as below */
    struct memtable_version
        *jump; /* some older one, such that any is reached by a logarithmic number of steps */
    struct memtable_version *put_before; /* previous put of the transaction; NULL: none */
    struct memtable_node *node;
    uint8_t op;
};

/* A row. */
struct memtable_node {
    _Atomic(struct memtable_version *) newest; /* NULL: all were undone */
    struct memtable_node *in_bucket; /* the next row of its bucket */
    uint8_t table;
    uint8_t key_bytes;
    uint8_t levels;
    _Atomic(struct memtable_node *)
        next[]; /* for each level; the key follows, padded with zeros to whole words */
};

struct memtable {
    atomic_uint holders;
    struct chunk_pool *pool;
    struct chunk *chunks; /* the newest first */
    atomic_size_t bytes;
    uint32_t dice; /* state of the random generator of levels */
    struct memtable_version *put_last; /* last put of the open transaction */
    atomic_uint versions[TABLE_COUNT];
    _Atomic(struct memtable_node *) heads[TABLE_COUNT][LEVELS_MAX]; /* a list for each table */
    size_t bucket_mask;
    _Atomic(struct memtable_node *) buckets[];
};

/* A key to find, as big-endian numbers, whose order is that of the bytes. */
struct probe {
    enum store_table table;
    bool is_end; /* after all keys; the fields below are not used */
    size_t key_bytes;
    size_t words;
    uint64_t key[KEY_WORDS_MAX];
};

struct memtable *memtable_new(size_t bytes, struct chunk_pool *pool)
{
    size_t buckets = BUCKETS_MIN;
    struct memtable *memtable = NULL;

    while (buckets < bytes / BUCKET_SHARE_BYTES && buckets < BUCKETS_MAX) {
        buckets *= 2;
    }
    memtable = calloc(1, sizeof(*memtable) + buckets * sizeof(memtable->buckets[0]));
    if (memtable != NULL) {
        atomic_init(&memtable->holders, 1);
        memtable->pool = pool;
        memtable->dice = 1;
        memtable->bucket_mask = buckets - 1;
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
        chunk_pool_give(memtable->pool, chunk);
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
    struct chunk *chunk = chunk_pool_take(memtable->pool, bytes);

    if (chunk != NULL) {
        chunk->before = memtable->chunks;
        memtable->chunks = chunk;
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
    atomic_fetch_add_explicit(&memtable->bytes, needed, memory_order_relaxed);
    return taken;
}

static const uint8_t *key_of(const struct memtable_node *node)
{
    return (const uint8_t *)&node->next[node->levels];
}

static struct slice key_slice_of(const struct memtable_node *node)
{
    return slice_of(key_of(node), node->key_bytes);
}

/* The words of a key: those of its bytes, then zeros. */
static size_t words_of(size_t key_bytes)
{
    return (key_bytes + WORD_BYTES - 1) / WORD_BYTES;
}

static void probe_init(struct probe *probe, enum store_table table, struct slice key)
{
    ASSERT(key.size <= STORE_KEY_BYTES_MAX);
    probe->table = table;
    probe->is_end = false;
    probe->key_bytes = key.size;
    probe->words = words_of(key.size);
    for (size_t i = 0; i < probe->words; i++) {
        size_t left = key.size - i * WORD_BYTES;
        uint8_t word[WORD_BYTES] = {0};

        memcpy(word, key.data + i * WORD_BYTES, left < WORD_BYTES ? left : WORD_BYTES);
        probe->key[i] = bytes_get_be64(word);
    }
}

/* Compares the key of a node with the probe's. Of equal words the shorter key is the lower one. */
static int compare(const struct memtable_node *node, const struct probe *probe)
{
    const uint8_t *key = key_of(node);
    size_t words = words_of(node->key_bytes);
    size_t shared = words < probe->words ? words : probe->words;

    for (size_t i = 0; i < shared; i++) {
        uint64_t word = bytes_get_be64(key + i * WORD_BYTES);

        if (word != probe->key[i]) {
            return word < probe->key[i] ? -1 : 1;
        }
    }
    return node->key_bytes < probe->key_bytes ? -1 : node->key_bytes > probe->key_bytes;
}

static struct memtable_node *load(const _Atomic(struct memtable_node *) *link)
{
    return atomic_load_explicit(link, memory_order_acquire);
}

/* The seed is the memtable's address, so that no one can choose keys that share a bucket. */
static size_t bucket_of(const struct memtable *memtable, const struct probe *probe)
{
    uint64_t hash = (uint64_t)(uintptr_t)memtable ^ (uint64_t)probe->table << 56;

    for (size_t i = 0; i < probe->words; i++) {
        hash = (hash ^ probe->key[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash & memtable->bucket_mask;
}

/* Returns the row of the key; NULL if there is none. */
static struct memtable_node *find_node(const struct memtable *memtable, const struct probe *probe,
                                       size_t bucket)
{
    struct memtable_node *node = load(&memtable->buckets[bucket]);

    while (node != NULL && (node->table != probe->table || compare(node, probe) != 0)) {
        node = node->in_bucket;
    }
    return node;
}

/* Finds the first row that is not before the probe. If `links` is set, also returns the links that lead to it, one for
 * each level; if `ret_before` is set, the last row before the probe (NULL: none). */
static struct memtable_node *search(const struct memtable *memtable, const struct probe *probe,
                                    _Atomic(struct memtable_node *) *links[LEVELS_MAX],
                                    struct memtable_node **ret_before)
{
    const _Atomic(struct memtable_node *) *level = memtable->heads[probe->table];
    struct memtable_node *before = NULL;
    struct memtable_node *found = NULL;
    struct memtable_node *above = NULL; /* it is not before the probe */

    for (size_t i = LEVELS_MAX; i > 0; i--) {
        found = load(&level[i - 1]);
        while (found != NULL && found != above && (probe->is_end || compare(found, probe) < 0)) {
            before = found;
            level = found->next;
            found = load(&level[i - 1]);
        }
        above = found;
        if (links != NULL) {
            links[i - 1] = (_Atomic(struct memtable_node *) *)&level[i - 1];
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

/* Adds a row without versions. NULL: no memory. */
static struct memtable_node *add_node(struct memtable *memtable, const struct probe *probe,
                                      size_t bucket)
{
    _Atomic(struct memtable_node *) *links[LEVELS_MAX];
    uint8_t levels = roll_levels(memtable);
    struct memtable_node *node = take_bytes(
        memtable, sizeof(*node) + levels * sizeof(node->next[0]) + probe->words * WORD_BYTES);

    if (node == NULL) {
        return NULL;
    }
    (void)search(memtable, probe, links, NULL);
    atomic_init(&node->newest, NULL);
    node->table = (uint8_t)probe->table;
    node->key_bytes = (uint8_t)probe->key_bytes;
    node->levels = levels;
    for (size_t i = 0; i < probe->words; i++) {
        bytes_put_be64((uint8_t *)&node->next[levels] + i * WORD_BYTES, probe->key[i]);
    }
    for (size_t i = 0; i < levels; i++) {
        atomic_init(&node->next[i], load(links[i]));
        atomic_store_explicit(links[i], node, memory_order_release);
    }
    node->in_bucket = load(&memtable->buckets[bucket]);
    atomic_store_explicit(&memtable->buckets[bucket], node, memory_order_release);
    return node;
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

/* Links the version to the older ones of its row. */
static void set_older(struct memtable_version *version, struct memtable_version *older)
{
    struct memtable_version *jump = older != NULL ? older->jump : NULL;

    version->older = older;
    version->jump = older;
    version->depth = older != NULL ? older->depth + 1 : 0;
    if (jump != NULL && jump->jump != NULL &&
        older->depth - jump->depth == jump->depth - jump->jump->depth) {
        version->jump = jump->jump;
    }
}

enum err memtable_put(struct memtable *memtable, const struct memtable_row *row)
{
    struct memtable_node *node = NULL;
    struct memtable_version *newest = NULL;
    struct memtable_version *version = NULL;
    struct probe probe;
    size_t bucket = 0;

    probe_init(&probe, row->table, row->key);
    bucket = bucket_of(memtable, &probe);
    node = find_node(memtable, &probe, bucket);
    newest = node != NULL ? atomic_load_explicit(&node->newest, memory_order_relaxed) : NULL;
    if (newest != NULL && newest->number == row->number) {
        return set_value(memtable, newest, row) ? OK : ERR_MEMORY;
    }
    if (node == NULL) {
        node = add_node(memtable, &probe, bucket);
    }
    version = node != NULL ? take_bytes(memtable, sizeof(*version)) : NULL;
    if (version == NULL || !set_value(memtable, version, row)) {
        return ERR_MEMORY;
    }
    version->number = row->number;
    version->node = node;
    set_older(version, newest);
    version->put_before = memtable->put_last;
    memtable->put_last = version;
    atomic_fetch_add_explicit(&memtable->versions[row->table], 1, memory_order_relaxed);
    atomic_store_explicit(&node->newest, version, memory_order_release);
    return OK;
}

void memtable_keep(struct memtable *memtable)
{
    memtable->put_last = NULL;
}

void memtable_undo(struct memtable *memtable)
{
    while (memtable->put_last != NULL) {
        struct memtable_version *version = memtable->put_last;

        memtable->put_last = version->put_before;
        atomic_store_explicit(&version->node->newest, version->older, memory_order_release);
        atomic_fetch_sub_explicit(&memtable->versions[version->node->table], 1,
                                  memory_order_relaxed);
    }
}

static void read_version(const struct memtable_version *version, struct memtable_row *ret_row)
{
    ret_row->table = (enum store_table)version->node->table;
    ret_row->op = (enum memtable_op)version->op;
    ret_row->key = key_slice_of(version->node);
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

/* Returns the version of the row that the snapshot sees; NULL if there is none. */
static const struct memtable_version *seen_version(const struct memtable_node *node,
                                                   uint64_t snapshot)
{
    const struct memtable_version *version =
        atomic_load_explicit(&node->newest, memory_order_acquire);

    while (version != NULL && version->number > snapshot) {
        const struct memtable_version *jump = version->jump;

        version = jump != NULL && jump->number > snapshot ? jump : version->older;
    }
    return version;
}

bool memtable_find(const struct memtable *memtable, enum store_table table, struct slice key,
                   uint64_t snapshot, struct memtable_row *ret_row)
{
    const struct memtable_version *version = NULL;
    const struct memtable_node *node = NULL;
    struct probe probe;

    probe_init(&probe, table, key);
    node = find_node(memtable, &probe, bucket_of(memtable, &probe));
    version = node != NULL ? seen_version(node, snapshot) : NULL;
    if (version == NULL) {
        return false;
    }
    read_version(version, ret_row);
    return true;
}

/* Moves to the row, or to the first one after it that the snapshot sees. */
static bool settle_after(struct memtable_cursor *cursor, const struct memtable_node *node)
{
    while (node != NULL) {
        cursor->seen = seen_version(node, cursor->snapshot);
        if (cursor->seen != NULL) {
            break;
        }
        node = load(&node->next[0]);
    }
    cursor->at = node;
    return node != NULL;
}

bool memtable_seek(struct memtable_cursor *cursor, struct slice key)
{
    struct probe probe;

    probe_init(&probe, cursor->table, key);
    return settle_after(cursor, search(cursor->memtable, &probe, NULL, NULL));
}

bool memtable_next(struct memtable_cursor *cursor)
{
    return settle_after(cursor, load(&cursor->at->next[0]));
}

/* Moves to the last row before the probe that the snapshot sees. */
static bool settle_before(struct memtable_cursor *cursor, struct probe *probe)
{
    struct memtable_node *before = NULL;

    (void)search(cursor->memtable, probe, NULL, &before);
    while (before != NULL) {
        cursor->seen = seen_version(before, cursor->snapshot);
        if (cursor->seen != NULL) {
            break;
        }
        probe_init(probe, cursor->table, key_slice_of(before));
        (void)search(cursor->memtable, probe, NULL, &before);
    }
    cursor->at = before;
    return before != NULL;
}

bool memtable_last(struct memtable_cursor *cursor)
{
    struct probe probe = {.table = cursor->table, .is_end = true};

    return settle_before(cursor, &probe);
}

bool memtable_before(struct memtable_cursor *cursor, struct slice key)
{
    struct probe probe;

    probe_init(&probe, cursor->table, key);
    return settle_before(cursor, &probe);
}

void memtable_read(const struct memtable_cursor *cursor, struct memtable_row *ret_row)
{
    read_version(cursor->seen, ret_row);
}
