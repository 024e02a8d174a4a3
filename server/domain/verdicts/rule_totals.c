/*
 * rule_totals.c: see rule_totals.h.
 */
#include "server/domain/verdicts/rule_totals.h"

#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/records.h"
#include "store/scan.h"

enum err rule_total_read(struct store_txn *txn, struct org_id org, uint64_t rule_seq,
                         struct rule_total *ret_total)
{
    const struct scan_range range = {
        .table = TABLE_RULE_MEASURE,
        .prefix = key_rule_measures(org, rule_seq),
        .order = STORE_DESCENDING,
        .rows_max = RULE_TOTAL_VERSIONS_MAX,
    };
    struct scan scan = {.rows_max = 0};
    struct rule_measure_record record;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    *ret_total = (struct rule_total){.rule_seq = rule_seq};
    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = record_decode_rule_measure(value, &record);
        }
        if (err == OK) {
            ret_total->agreed += record.agreed;
            ret_total->disagreed += record.disagreed;
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err rule_total_next(struct store_txn *txn, struct org_id org, uint64_t after_seq,
                         struct rule_total *ret_total)
{
    struct key after = key_rule_measure(org, after_seq, UINT32_MAX);
    const struct scan_range range = {
        .table = TABLE_RULE_MEASURE,
        .prefix = key_org(org),
        .after = key_slice(&after),
        .rows_max = 1,
    };
    struct scan scan = {.rows_max = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t rule_seq = 0;
    enum err err = scan_init(&scan, txn, &range);

    if (err == OK) {
        err = scan_next(&scan, &key, &value);
    }
    if (err == OK) {
        err = key_read_rule_measure(key, &rule_seq);
    }
    scan_deinit(&scan);
    return err != OK ? err : rule_total_read(txn, org, rule_seq, ret_total);
}
