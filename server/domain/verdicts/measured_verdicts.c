/*
 * measured_verdicts.c: see measured_verdicts.h. A row is deleted once it counts nothing.
 */
#include "server/domain/verdicts/measured_verdicts.h"

#include "server/domain/verdicts/keys.h"
#include "store/base/bytes.h"
#include "store/scan.h"

static enum err read_count(struct slice value, uint64_t *ret_count)
{
    if (value.size != sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_count = bytes_get_be64(value.data);
    return *ret_count == 0 ? ERR_CORRUPT : OK;
}

/* Returns the row of an event in a level. */
static struct key key_of(struct org_id org, enum verdict verdict, unsigned level, uint64_t seq)
{
    return key_measured_verdict(org, (uint8_t)verdict, (uint8_t)level,
                                seq >> level * MEASURED_LEVEL_BITS);
}

static enum err change_row(struct store_txn *txn, const struct key *key, bool adds)
{
    uint8_t bytes[sizeof(uint64_t)];
    struct slice value = {NULL, 0};
    uint64_t count = 0;
    enum err err = store_get(txn, TABLE_MEASURED_VERDICT, key_slice(key), &value);

    if (err == OK) {
        err = read_count(value, &count);
    }
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    if (!adds && count == 0) {
        return ERR_CORRUPT;
    }
    count = adds ? count + 1 : count - 1;
    if (count == 0) {
        return store_del(txn, TABLE_MEASURED_VERDICT, key_slice(key));
    }
    bytes_put_be64(bytes, count);
    return store_put(txn, TABLE_MEASURED_VERDICT, key_slice(key), slice_of(bytes, sizeof(bytes)));
}

static enum err change(struct store_txn *txn, struct org_id org, enum verdict verdict,
                       uint64_t as_of_seq, bool adds)
{
    enum err err = OK;

    for (unsigned level = 0; level < MEASURED_LEVELS && err == OK; level++) {
        struct key key = key_of(org, verdict, level, as_of_seq);

        err = change_row(txn, &key, adds);
    }
    return err;
}

enum err measured_verdicts_add(struct store_txn *txn, struct org_id org, enum verdict verdict,
                               uint64_t as_of_seq)
{
    return change(txn, org, verdict, as_of_seq, true);
}

enum err measured_verdicts_subtract(struct store_txn *txn, struct org_id org, enum verdict verdict,
                                    uint64_t as_of_seq)
{
    return change(txn, org, verdict, as_of_seq, false);
}

/* Sums the rows of a level from index `first` to below `end`. */
static enum err sum_rows(struct store_txn *txn, const struct scan_range *range, uint64_t end,
                         uint64_t *sum)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct scan scan = {.rows_max = 0};
    enum err err = scan_init(&scan, txn, range);

    while (err == OK) {
        uint64_t count = 0;

        err = scan_next(&scan, &key, &value);
        if (err == OK && bytes_get_be64(key.data + key.size - sizeof(uint64_t)) >= end) {
            break;
        }
        if (err == OK) {
            err = read_count(value, &count);
            *sum += count;
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err measured_verdicts_before(struct store_txn *txn, struct org_id org, enum verdict verdict,
                                  uint64_t end_seq, uint64_t *ret_count)
{
    uint64_t sum = 0;
    enum err err = OK;

    for (unsigned level = 0; level < MEASURED_LEVELS && err == OK; level++) {
        uint64_t end = end_seq >> level * MEASURED_LEVEL_BITS;
        uint64_t first =
            level + 1 < MEASURED_LEVELS ? end >> MEASURED_LEVEL_BITS << MEASURED_LEVEL_BITS : 0;
        struct key after = key_measured_verdict(org, (uint8_t)verdict, (uint8_t)level, first - 1);
        const struct scan_range range = {
            .table = TABLE_MEASURED_VERDICT,
            .prefix = key_measured_verdict_level(org, (uint8_t)verdict, (uint8_t)level),
            .after = first > 0 ? key_slice(&after) : slice_of(NULL, 0),
            .rows_max = UINT32_MAX,
        };

        err = sum_rows(txn, &range, end, &sum);
    }
    if (err == OK) {
        *ret_count = sum;
    }
    return err;
}
