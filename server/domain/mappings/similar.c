/*
 * similar.c: see similar.h.
 */
#include "server/domain/mappings/similar.h"

#include "server/domain/mappings/keys.h"
#include "store/base/assert.h"
#include "store/base/bytes.h"

#include <errata/v1/sku_mapping.fields.h>

/* An upper bound of the similarity of a confirmed SKU. */
struct bound {
    double most;
    uint64_t seq;
    size_t trigram_count;
};

/* State of one search. */
struct search {
    const struct similar_search *wanted;
    struct trigrams text; /* trigrams of the requested SKU */
    struct trigrams other; /* trigrams of the SKU that is compared */
    struct similar_query query;
    struct bound best[SIMILAR_COMPARED_MAX]; /* a heap with the worst one first */
    size_t best_count;
    bool
        has_dropped; /* results did not fit into the heap; they are at most as good as its first element */
};

/* Finds the last block of a customer and its number, from 1; the empty slice and 0 if there is
 * none. Reads one row. */
static enum err find_last(struct store_txn *txn, struct org_id org, struct slice customer_id,
                          uint32_t *ret_block, struct slice *ret_bytes)
{
    const struct slice from_end = {NULL, 0};
    struct key prefix = key_mapping_customer_prefix(org, customer_id);
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    enum err err = store_cursor_init(&cursor, txn, TABLE_MAPPING_SIMILAR, key_slice(&prefix),
                                     from_end, STORE_DESCENDING);

    *ret_block = 0;
    *ret_bytes = slice_of(NULL, 0);
    if (err == OK) {
        err = store_cursor_next(&cursor, &key, ret_bytes);
    }
    if (err == OK) {
        ASSERT(key.size == prefix.size + sizeof(uint32_t));
        *ret_block = bytes_get_be32(key.data + prefix.size);
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err similar_enter(struct arena *arena, struct store_txn *txn, struct org_id org,
                       const struct mapping_row *row, uint32_t *ret_block)
{
    struct trigrams *trigrams = arena_alloc(arena, sizeof(*trigrams));
    struct similar_block block = {.count = 0};
    struct slice folded = {NULL, 0};
    struct slice bytes = {NULL, 0};
    uint32_t number = 0;
    struct key key;
    enum err err = trigrams == NULL ? ERR_MEMORY : OK;

    if (err == OK) {
        err = sku_fold(arena, row->record.customer_sku, &folded);
    }
    if (err != OK) {
        return err;
    }
    trigrams_read(folded, trigrams);
    if (trigrams->count == 0) {
        *ret_block = 0;
        return OK;
    }
    err = find_last(txn, org, row->record.customer_id, &number, &bytes);
    if (err == OK && number != 0) {
        err = similar_block_read(bytes, &block);
    }
    if (err != OK) {
        return err;
    }
    if (number == 0 || block.count == SIMILAR_ENTRIES_MAX) {
        number++;
        bytes = slice_of(NULL, 0);
    }
    err = similar_block_add(arena, bytes, row->seq, trigrams, &bytes);
    if (err != OK) {
        return err;
    }
    *ret_block = number;
    key = key_mapping_similar(org, row->record.customer_id, number);
    return store_put(txn, TABLE_MAPPING_SIMILAR, key_slice(&key), bytes);
}

/* Finds the block of a mapping, and its entry in the block. */
static enum err find_entry(struct store_txn *txn, const struct key *key, uint64_t seq,
                           struct slice *ret_bytes, size_t *ret_entry)
{
    struct similar_block block;
    enum err err = store_get(txn, TABLE_MAPPING_SIMILAR, key_slice(key), ret_bytes);

    if (err == OK) {
        err = similar_block_read(*ret_bytes, &block);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    *ret_entry = similar_block_find(&block, seq);
    return *ret_entry < block.count ? OK : ERR_CORRUPT;
}

enum err similar_leave(struct arena *arena, struct store_txn *txn, struct org_id org,
                       const struct mapping_row *row)
{
    struct key key = key_mapping_similar(org, row->record.customer_id, row->record.similar_block);
    struct slice bytes = {NULL, 0};
    size_t entry = 0;
    enum err err = OK;

    if (row->record.similar_block == 0) {
        return OK;
    }
    err = find_entry(txn, &key, row->seq, &bytes, &entry);
    if (err == OK) {
        err = similar_block_remove(arena, bytes, entry, &bytes);
    }
    if (err != OK) {
        return err;
    }
    return bytes.size == 0 ? store_del(txn, TABLE_MAPPING_SIMILAR, key_slice(&key))
                           : store_put(txn, TABLE_MAPPING_SIMILAR, key_slice(&key), bytes);
}

enum err similar_take_place(struct arena *arena, struct store_txn *txn, struct org_id org,
                            const struct mapping_row *leaving, uint64_t seq)
{
    struct key key =
        key_mapping_similar(org, leaving->record.customer_id, leaving->record.similar_block);
    struct slice bytes = {NULL, 0};
    size_t entry = 0;
    enum err err = OK;

    if (leaving->record.similar_block == 0) {
        return OK;
    }
    err = find_entry(txn, &key, leaving->seq, &bytes, &entry);
    if (err == OK) {
        err = similar_block_replace(arena, bytes, entry, seq, &bytes);
    }
    return err != OK ? err : store_put(txn, TABLE_MAPPING_SIMILAR, key_slice(&key), bytes);
}

static bool is_worse(const struct bound *a, const struct bound *b)
{
    return a->most < b->most || (a->most == b->most && a->seq > b->seq);
}

static void swap(struct bound *a, struct bound *b)
{
    struct bound kept = *a;

    *a = *b;
    *b = kept;
}

static void sift_down(struct search *search)
{
    struct bound *best = search->best;
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < search->best_count && is_worse(&best[child + 1], &best[child])) {
            child++;
        }
        if (child >= search->best_count || !is_worse(&best[child], &best[at])) {
            return;
        }
        swap(&best[at], &best[child]);
        at = child;
    }
}

static void sift_up(struct search *search)
{
    struct bound *best = search->best;

    for (size_t at = search->best_count - 1; at > 0 && is_worse(&best[at], &best[(at - 1) / 2]);
         at = (at - 1) / 2) {
        swap(&best[at], &best[(at - 1) / 2]);
    }
}

/* Inserts a bound into the heap of the best; if that is full, removes the worst. */
static void keep_bound(struct search *search, const struct bound *bound)
{
    if (search->best_count < SIMILAR_COMPARED_MAX) {
        search->best[search->best_count] = *bound;
        search->best_count++;
        sift_up(search);
        return;
    }
    search->has_dropped = true;
    if (is_worse(&search->best[0], bound)) {
        search->best[0] = *bound;
        sift_down(search);
    }
}

static void take_entry(struct search *search, const struct similar_block *block, size_t entry,
                       size_t most_shared)
{
    size_t other = similar_block_trigram_count(block, entry);
    size_t shared = most_shared < other ? most_shared : other;
    struct bound bound = {.trigram_count = other};

    if (!trigrams_are_similar(search->text.count, other, shared)) {
        return;
    }
    bound.most = trigrams_similarity(search->text.count, other, shared);
    bound.seq = similar_block_seq(block, entry);
    keep_bound(search, &bound);
}

/* Returns the minimum number of trigrams that an entry of a block must share to be similar enough,
 * and better than the worst result. Computed for entries with the fewest trigrams, since others
 * need more. */
static size_t least_shared(const struct search *search, const struct similar_block *block)
{
    bool is_full = search->best_count == SIMILAR_COMPARED_MAX;
    double wanted = is_full ? search->best[0].most : 0.4;
    double shared = wanted / (1 + wanted) * (double)(search->text.count + block->least_trigrams);
    size_t least = (size_t)(shared - 0.001); /* the margin compensates rounding errors */

    return least + 1;
}

static void take_block(struct search *search, const struct similar_block *block)
{
    struct similar_sums sums;
    similar_lanes lanes;

    search->has_dropped = search->has_dropped || search->best_count == SIMILAR_COMPARED_MAX;
    similar_block_sum(block, &search->query, &sums);
    similar_sums_from(&sums, least_shared(search, block), &lanes);
    for (size_t word = 0; word < SIMILAR_LANE_WORDS; word++) {
        for (uint64_t bits = lanes[word]; bits != 0; bits &= bits - 1) {
            size_t entry = word * 64 + (size_t)__builtin_ctzll(bits);

            take_entry(search, block, entry, similar_sums_get(&sums, entry));
        }
    }
}

static enum err take_blocks(struct store_txn *txn, struct search *search, bool *ret_is_cut)
{
    const struct scan_range range = {
        .table = TABLE_MAPPING_SIMILAR,
        .prefix = key_mapping_customer_prefix(search->wanted->org, search->wanted->customer_id),
        .rows_max = SIMILAR_BLOCKS_MAX,
    };
    struct scan scan;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct similar_block block;
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = similar_block_read(value, &block);
        }
        if (err == OK) {
            take_block(search, &block);
        }
    }
    *ret_is_cut = *ret_is_cut || scan.is_cut;
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Converts the heap into a list, best first. */
static void sort_best(struct search *search)
{
    size_t count = search->best_count;

    while (search->best_count > 1) {
        search->best_count--;
        swap(&search->best[0], &search->best[search->best_count]);
        sift_down(search);
    }
    search->best_count = count;
}

void similar_found_add(struct similar_found *found, size_t limit, const struct mapping_row *row,
                       double similarity)
{
    size_t at = found->count;

    while (at > 0 && (found->items[at - 1].similarity < similarity ||
                      (found->items[at - 1].similarity == similarity &&
                       found->items[at - 1].row.seq > row->seq))) {
        at--;
    }
    if (at == limit) {
        return;
    }
    found->count += found->count < limit;
    for (size_t i = found->count - 1; i > at; i--) {
        found->items[i] = found->items[i - 1];
    }
    found->items[at] = (struct similar_mapping){*row, similarity};
}

bool similar_is_rejected(const struct similar_search *search, struct slice folded_internal_sku)
{
    for (size_t i = 0; i < search->rejected_count; i++) {
        if (slice_equal(search->rejected[i], folded_internal_sku)) {
            return true;
        }
    }
    return false;
}

/* Compares the text with one SKU in its original spelling. */
static enum err compare(struct arena *arena, struct store_txn *txn, struct search *search,
                        const struct bound *bound, struct similar_found *found)
{
    const struct similar_search *wanted = search->wanted;
    struct mapping_pair pair;
    struct mapping_row row;
    size_t shared = 0;
    enum err err = mapping_row_read(txn, wanted->org, bound->seq, &row);

    if (err == OK) {
        err = mapping_pair_of(arena, &row.record, &pair);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    trigrams_read(pair.folded_customer_sku, &search->other);
    if (row.record.status != MAPPING_STATUS_CONFIRMED ||
        search->other.count != bound->trigram_count) {
        return ERR_CORRUPT;
    }
    shared = trigrams_count_shared(&search->text, &search->other);
    if (trigrams_are_similar(search->text.count, search->other.count, shared) &&
        !similar_is_rejected(wanted, pair.folded_internal_sku)) {
        similar_found_add(found, wanted->limit, &row,
                          trigrams_similarity(search->text.count, search->other.count, shared));
    }
    return OK;
}

/* Returns whether an entry with this bound can improve on the worst result. If the bounds are
 * equal, the older entry is preferred, so an entry that can only be equal must be older. */
static bool may_improve(const struct search *search, const struct similar_found *found,
                        const struct bound *bound)
{
    const struct similar_mapping *last = NULL;

    if (found->count < search->wanted->limit) {
        return true;
    }
    last = &found->items[found->count - 1];
    return bound->most > last->similarity ||
           (bound->most == last->similarity && bound->seq < last->row.seq);
}

/* Compares the SKUs in the order of their bounds until no remaining bound can be better. */
static enum err compare_best(struct arena *arena, struct store_txn *txn, struct search *search,
                             struct similar_found *found)
{
    enum err err = OK;

    sort_best(search);
    for (size_t i = 0; i < search->best_count && err == OK; i++) {
        if (!may_improve(search, found, &search->best[i])) {
            return OK;
        }
        err = compare(arena, txn, search, &search->best[i], found);
    }
    if (search->has_dropped && may_improve(search, found, &search->best[search->best_count - 1])) {
        found->is_incomplete = true;
    }
    return err;
}

enum err similar_find(struct arena *arena, struct store_txn *txn,
                      const struct similar_search *wanted, struct similar_found *ret_found)
{
    struct search *search = arena_alloc(arena, sizeof(*search));
    enum err err = OK;

    ASSERT(wanted->limit > 0 && wanted->limit <= SIMILAR_FOUND_MAX);
    if (search == NULL) {
        return ERR_MEMORY;
    }
    ret_found->count = 0;
    ret_found->is_incomplete = false;
    search->wanted = wanted;
    search->best_count = 0;
    search->has_dropped = false;
    trigrams_read(wanted->folded_customer_sku, &search->text);
    if (search->text.count == 0) {
        return OK;
    }
    similar_query_init(&search->query, &search->text);
    err = take_blocks(txn, search, &ret_found->is_incomplete);
    return err != OK ? err : compare_best(arena, txn, search, ret_found);
}
