/*
 * family_assign.c: see family_assign.h.
 */
#include "server/domain/layouts/family_assign.h"

#include "server/domain/layouts/family_records.h"
#include "server/domain/layouts/family_rows.h"
#include "server/domain/layouts/keys.h"
#include "store/scan.h"

/* Compares the sketch of one row. */
static enum err offer_row(const struct family_sketch *sketch, struct slice key, struct slice value,
                          struct family_assignment *assignment)
{
    struct family_sketch_record row;
    struct family_sketch candidate;
    uint64_t seq = 0;
    enum err err = record_decode_family_sketch(value, &row);

    if (err == OK) {
        err = key_read_last_seq(key, &seq);
    }
    if (err == OK) {
        err = family_sketch_decode(row.sketch, &candidate);
    }
    if (err == OK && family_match_offer(&assignment->match, sketch, &candidate, seq)) {
        assignment->family_seq = row.family_seq;
    }
    return err;
}

/* Returns whether the number of sketches of the matching family is unchanged: the family has this sketch
 * already, or the sketch replaces one of its own. */
static enum err keeps_count(struct store_txn *txn, struct org_id org,
                            const struct family_sketch *sketch,
                            const struct family_assignment *assignment, bool *ret_keeps)
{
    uint8_t bytes[FAMILY_SKETCH_BYTES_MAX];
    struct family_record family;
    size_t place = 0;
    enum err err = OK;

    *ret_keeps = false;
    if (assignment->family_seq == 0) {
        return OK;
    }
    err = family_row_read(txn, org, assignment->family_seq, &family);
    if (err == OK) {
        err = family_sketch_find(txn, org, &family,
                                 slice_of(bytes, family_sketch_encode(sketch, bytes)), &place);
    }
    if (err == OK) {
        *ret_keeps = place < family.sketch_count || family.sketch_count == FAMILY_ROW_SKETCHES_MAX;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err family_assign(struct store_txn *txn, struct org_id org, const struct family_sketch *sketch,
                       struct family_assignment *ret_assignment)
{
    const struct scan_range range = {
        .table = TABLE_FAMILY_SKETCH,
        .prefix = key_org(org),
        .rows_max = FAMILY_SKETCHES_MAX,
    };
    struct family_assignment assignment = {.family_seq = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t oldest_seq = 0;
    struct scan scan = {.row_count = 0};
    bool keeps = false;
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK && scan.row_count == 1) {
            err = key_read_last_seq(key, &oldest_seq);
        }
        if (err == OK) {
            err = offer_row(sketch, key, value, &assignment);
        }
    }
    scan_deinit(&scan);
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    err = keeps_count(txn, org, sketch, &assignment, &keeps);
    if (err != OK) {
        return err;
    }
    assignment.dropped_seq = keeps || scan.row_count < FAMILY_SKETCHES_MAX ? 0 : oldest_seq;
    *ret_assignment = assignment;
    return OK;
}
