/*
 * evidence.c: see evidence.h.
 */
#include "server/domain/artifacts/evidence.h"

#include "server/domain/artifacts/keys.h"
#include "store/scan.h"

enum err artifact_evidence_add(struct store_txn *txn, struct org_id org, uint64_t artifact_seq,
                               uint64_t event_seq)
{
    struct key key = key_artifact_evidence(org, artifact_seq, event_seq);

    return log_put_id_row(txn, TABLE_ARTIFACT_EVIDENCE, &key, 0);
}

enum err artifact_evidence_retract(struct store_txn *txn, struct org_id org, uint64_t artifact_seq,
                                   uint64_t event_seq, uint64_t retraction_seq)
{
    struct key key = key_artifact_evidence(org, artifact_seq, event_seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_ARTIFACT_EVIDENCE, key_slice(&key), &value);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return log_put_id_row(txn, TABLE_ARTIFACT_EVIDENCE, &key, retraction_seq);
}

static enum err read_item(struct slice key, struct slice value, struct artifact_evidence_item *item)
{
    enum err err = log_read_id_row(value, &item->retraction_seq);

    return err != OK ? err : key_read_artifact_evidence(key, &item->event_seq);
}

enum err artifact_evidence_list(struct store_txn *txn, struct org_id org, uint64_t artifact_seq,
                                uint64_t as_of_seq, struct artifact_evidence *ret_evidence)
{
    bool is_past = as_of_seq != UINT64_MAX;
    struct key after = key_artifact_evidence(org, artifact_seq, is_past ? as_of_seq + 1 : 0);
    const struct scan_range range = {
        .table = TABLE_ARTIFACT_EVIDENCE,
        .prefix = key_artifact(org, artifact_seq),
        .after = is_past ? key_slice(&after) : slice_of(NULL, 0),
        .order = STORE_DESCENDING,
        .rows_max = ARTIFACT_EVIDENCE_MAX,
    };
    struct scan scan = {.rows_max = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    ret_evidence->count = 0;
    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = read_item(key, value, &ret_evidence->items[ret_evidence->count]);
            ret_evidence->count += err == OK;
        }
    }
    ret_evidence->is_incomplete = scan.is_cut;
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}
