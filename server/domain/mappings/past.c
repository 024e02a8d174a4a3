/*
 * past.c: see past.h.
 */
#include "server/domain/mappings/past.h"

#include "server/domain/mappings/keys.h"

enum err past_row(struct past *past, struct store_txn *txn, struct mapping_row *row)
{
    const struct mapping_row now = *row;

    return mapping_read_past(txn, past->org, &now, past->as_of_seq, row, &past->is_cut);
}

enum err past_find_confirmed(struct past *past, struct store_txn *txn, struct slice customer_id,
                             struct slice folded_customer_sku,
                             struct mapping_confirmed_record *ret_confirmed)
{
    struct scan scan;
    bool found = false;
    enum err err = mapping_sku_scan_init(&scan, txn, past->org, customer_id, folded_customer_sku);

    while (err == OK && !found) {
        struct mapping_row row;

        err = mapping_sku_scan_next(&scan, past->org, &row);
        if (err != OK) {
            break;
        }
        err = past_row(past, txn, &row);
        if (err == OK && row.record.status == MAPPING_STATUS_CONFIRMED) {
            *ret_confirmed = (struct mapping_confirmed_record){
                row.seq, row.record.version, row.record.id, row.record.internal_sku};
            found = true;
        }
        err = err == ERR_NOT_FOUND ? OK : err;
    }
    past->is_cut = past->is_cut || scan.is_cut;
    scan_deinit(&scan);
    return err;
}

/* Adds a mapping of the customer if it was confirmed then. */
static enum err take_row(struct past *past, struct store_txn *txn, struct slice key)
{
    struct mapping_row row;
    uint64_t seq = 0;
    enum err err = key_read_mapping_order(key, &seq);

    if (err == OK) {
        err = mapping_row_read(txn, past->org, seq, &row);
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (err == OK) {
        err = past_row(past, txn, &row);
    }
    if (err == OK && row.record.status == MAPPING_STATUS_CONFIRMED) {
        past->confirmed[past->confirmed_count] = row;
        past->confirmed_count++;
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Reads the mappings of a customer that were confirmed then. */
static enum err read_customer(struct past *past, struct store_txn *txn, struct slice customer_id)
{
    const struct scan_range range = {
        .table = TABLE_MAPPING_SKU,
        .prefix = key_mapping_customer_prefix(past->org, customer_id),
        .rows_max = PAST_ROWS_MAX,
    };
    struct scan scan;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (past->confirmed == NULL) {
        past->confirmed = arena_alloc(past->arena, PAST_ROWS_MAX * sizeof(*past->confirmed));
        if (past->confirmed == NULL) {
            return ERR_MEMORY;
        }
    }
    past->customer_id = customer_id;
    past->confirmed_count = 0;
    err = scan_init(&scan, txn, &range);
    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = take_row(past, txn, key);
        }
    }
    past->is_cut = past->is_cut || scan.is_cut;
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Adds a mapping that was confirmed then if its SKU is similar. */
static enum err take_similar(struct arena *arena, const struct similar_search *search,
                             const struct trigrams *text, const struct mapping_row *row,
                             struct similar_found *found)
{
    struct trigrams *other = arena_alloc(arena, sizeof(*other));
    struct mapping_pair pair;
    size_t shared = 0;
    enum err err = other == NULL ? ERR_MEMORY : mapping_pair_of(arena, &row->record, &pair);

    if (err != OK) {
        return err;
    }
    trigrams_read(pair.folded_customer_sku, other);
    shared = trigrams_count_shared(text, other);
    if (trigrams_are_similar(text->count, other->count, shared) &&
        !similar_is_rejected(search, pair.folded_internal_sku)) {
        similar_found_add(found, search->limit, row,
                          trigrams_similarity(text->count, other->count, shared));
    }
    return OK;
}

enum err past_find_similar(struct past *past, struct arena *arena, struct store_txn *txn,
                           const struct similar_search *search, struct similar_found *ret_found)
{
    struct trigrams *text = arena_alloc(arena, sizeof(*text));
    enum err err = text == NULL ? ERR_MEMORY : OK;

    ret_found->count = 0;
    if (err == OK &&
        (past->confirmed == NULL || !slice_equal(past->customer_id, search->customer_id))) {
        err = read_customer(past, txn, search->customer_id);
    }
    if (err != OK) {
        return err;
    }
    trigrams_read(search->folded_customer_sku, text);
    for (size_t i = 0; i < past->confirmed_count && err == OK; i++) {
        struct arena scratch;

        arena_init(&scratch, arena->limit_bytes);
        err = take_similar(&scratch, search, text, &past->confirmed[i], ret_found);
        arena_deinit(&scratch);
    }
    ret_found->is_incomplete = past->is_cut;
    return err;
}
