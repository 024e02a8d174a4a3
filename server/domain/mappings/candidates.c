/*
 * candidates.c: see candidates.h.
 */
#include "server/domain/mappings/candidates.h"

#include "store/base/assert.h"

/* The mappings of the line's own SKU that users judged. */
struct own {
    struct slice rejected[MAPPING_SKU_ROWS_MAX]; /* folded internal SKUs of rejected mappings */
    size_t rejected_count;
    bool has_superseded;
    struct mapping_row superseded; /* the mapping that was confirmed last */
};

static void add_suggestion(struct candidates *candidates, size_t limit,
                           const struct mapping_row *row)
{
    double confidence = row->record.confidence;
    size_t at = candidates->count;

    while (at > 0 && mapping_row_is_surer(row, &candidates->items[at - 1].row)) {
        at--;
    }
    if (at == limit) {
        return;
    }
    candidates->count += candidates->count < limit;
    for (size_t i = candidates->count - 1; i > at; i--) {
        candidates->items[i] = candidates->items[i - 1];
    }
    candidates->items[at] = (struct candidate){*row, MATCH_METHOD_SUGGESTED_MAPPING, confidence};
}

static enum err take_rejected(struct arena *arena, const struct mapping_row *row, struct own *own)
{
    struct slice *rejected = &own->rejected[own->rejected_count];

    ASSERT(own->rejected_count < MAPPING_SKU_ROWS_MAX);
    own->rejected_count++;
    return sku_fold(arena, row->record.internal_sku, rejected);
}

/* Keeps the mapping that was confirmed last; of equal times the one that was created last. */
static enum err take_superseded(struct store_txn *txn, const struct candidates_query *query,
                                struct mapping_row *row, struct own *own)
{
    const struct mapping_row *kept = &own->superseded;
    enum err err = query->past != NULL ? mapping_settle_past(txn, query->org, row) : OK;

    if (err == OK &&
        (!own->has_superseded || row->record.settled_at_us > kept->record.settled_at_us ||
         (row->record.settled_at_us == kept->record.settled_at_us && row->seq > kept->seq))) {
        own->superseded = *row;
        own->has_superseded = true;
    }
    return err;
}

static enum err take_own(struct arena *arena, struct store_txn *txn,
                         const struct candidates_query *query, struct mapping_row *row,
                         struct own *own, struct candidates *candidates)
{
    switch ((enum mapping_status)row->record.status) {
    case MAPPING_STATUS_SUGGESTED:
        add_suggestion(candidates, query->limit, row);
        break;
    case MAPPING_STATUS_REJECTED:
        return take_rejected(arena, row, own);
    case MAPPING_STATUS_SUPERSEDED:
        return take_superseded(txn, query, row, own);
    case MAPPING_STATUS_CONFIRMED:
    case MAPPING_STATUS_UNSPECIFIED:
        break;
    }
    return OK;
}

/* Reads the mappings of the line's own SKU. */
static enum err read_own(struct arena *arena, struct store_txn *txn,
                         const struct candidates_query *query, struct own *own,
                         struct candidates *candidates)
{
    struct scan scan;
    enum err err = mapping_sku_scan_init(&scan, txn, query->org, query->customer_id,
                                         query->folded_customer_sku);

    while (err == OK) {
        struct mapping_row row;

        err = mapping_sku_scan_next(&scan, query->org, &row);
        if (err != OK) {
            break;
        }
        if (query->past != NULL) {
            err = past_row(query->past, txn, &row);
        }
        if (err == OK) {
            err = take_own(arena, txn, query, &row, own, candidates);
        } else if (err == ERR_NOT_FOUND) {
            err = OK; /* the mapping did not exist at that time */
        }
    }
    candidates->is_incomplete = candidates->is_incomplete || scan.is_cut;
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err add_similar(struct arena *arena, struct store_txn *txn,
                            const struct candidates_query *query, const struct own *own,
                            struct candidates *candidates)
{
    const struct similar_search search = {
        .org = query->org,
        .customer_id = query->customer_id,
        .folded_customer_sku = query->folded_customer_sku,
        .rejected = own->rejected,
        .rejected_count = own->rejected_count,
        .limit = query->limit - candidates->count,
    };
    struct similar_found *found = arena_alloc(arena, sizeof(*found));
    enum err err = found == NULL ? ERR_MEMORY : OK;

    if (err == OK) {
        err = query->past != NULL ? past_find_similar(query->past, arena, txn, &search, found)
                                  : similar_find(arena, txn, &search, found);
    }
    if (err != OK) {
        return err;
    }
    for (size_t i = 0; i < found->count; i++) {
        candidates->items[candidates->count] = (struct candidate){
            found->items[i].row, MATCH_METHOD_SIMILAR_SKU, found->items[i].similarity};
        candidates->count++;
    }
    candidates->is_incomplete = candidates->is_incomplete || found->is_incomplete;
    return OK;
}

enum err candidates_find(struct arena *arena, struct store_txn *txn,
                         const struct candidates_query *query, struct candidates *ret_candidates)
{
    struct own *own = arena_alloc(arena, sizeof(*own));
    enum err err = OK;

    ASSERT(query->limit > 0 && query->limit <= CANDIDATES_MAX);
    if (own == NULL) {
        return ERR_MEMORY;
    }
    own->rejected_count = 0;
    own->has_superseded = false;
    ret_candidates->count = 0;
    ret_candidates->is_incomplete = false;
    err = read_own(arena, txn, query, own, ret_candidates);
    if (err == OK && own->has_superseded && ret_candidates->count < query->limit) {
        ret_candidates->items[ret_candidates->count] = (struct candidate){
            own->superseded, MATCH_METHOD_SUPERSEDED_MAPPING, own->superseded.record.confidence};
        ret_candidates->count++;
    }
    if (err != OK || ret_candidates->count == query->limit) {
        return err;
    }
    return add_similar(arena, txn, query, own, ret_candidates);
}
