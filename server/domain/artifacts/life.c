/*
 * life.c: see life.h.
 */
#include "server/domain/artifacts/life.h"

#include "server/domain/artifacts/keys.h"

struct artifact_life_record artifact_life_begin(enum artifact_state state, uint64_t event_seq)
{
    return (struct artifact_life_record){
        .state = (uint32_t)state,
        .version = 1,
        .valid_from_seq = event_seq,
        .content_seq = event_seq,
    };
}

void artifact_life_decide(struct artifact_life_record *life, enum artifact_state state,
                          uint64_t event_seq)
{
    life->state = (uint32_t)state;
    life->set_by_person = true;
    life->valid_from_seq = event_seq;
}

void artifact_life_derive(struct artifact_life_record *life, enum artifact_state state,
                          uint64_t event_seq)
{
    life->state = (uint32_t)state;
    life->set_by_person = false;
    life->valid_from_seq = event_seq;
}

void artifact_life_hold(struct artifact_life_record *life, bool is_held, uint64_t event_seq)
{
    life->held_back = is_held;
    life->valid_from_seq = event_seq;
}

void artifact_life_renew(struct artifact_life_record *life, uint64_t event_seq)
{
    life->version++;
    life->content_seq = event_seq;
    life->valid_from_seq = event_seq;
}

bool artifact_life_is_live(const struct artifact_life_record *life)
{
    return !life->held_back &&
           (life->state == ARTIFACT_STATE_ACTIVE || life->state == ARTIFACT_STATE_SUNSET_PROPOSED);
}

bool artifact_life_is_same(const struct artifact_life_record *before,
                           const struct artifact_life_record *life)
{
    return before->valid_from_seq == life->valid_from_seq && before->state == life->state &&
           before->held_back == life->held_back && before->set_by_person == life->set_by_person &&
           before->version == life->version;
}

static enum err put_row(struct arena *arena, struct store_txn *txn, struct org_id org,
                        uint64_t artifact_seq, const struct artifact_life_record *life)
{
    struct key key = key_artifact_life(org, artifact_seq, life->valid_from_seq);
    struct slice value = {NULL, 0};
    enum err err = record_encode_artifact_life(arena, life, &value);

    return err != OK ? err : store_put(txn, TABLE_ARTIFACT_LIFE, key_slice(&key), value);
}

enum err artifact_life_put(struct arena *arena, struct store_txn *txn, struct org_id org,
                           uint64_t artifact_seq, const struct artifact_life_record *before,
                           const struct artifact_life_record *life)
{
    enum err err = OK;

    if (before != NULL && before->valid_from_seq != life->valid_from_seq) {
        struct artifact_life_record ended = *before;

        ended.valid_to_seq = life->valid_from_seq;
        err = put_row(arena, txn, org, artifact_seq, &ended);
    }
    return err != OK ? err : put_row(arena, txn, org, artifact_seq, life);
}

enum err artifact_life_read_as_of(struct store_txn *txn, struct org_id org, uint64_t artifact_seq,
                                  uint64_t as_of_seq, struct artifact_life_record *ret_life)
{
    bool is_last = as_of_seq == UINT64_MAX;
    struct key after = key_artifact_life(org, artifact_seq, is_last ? as_of_seq : as_of_seq + 1);
    const struct scan_range range = {
        .table = TABLE_ARTIFACT_LIFE,
        .prefix = key_artifact(org, artifact_seq),
        .order = STORE_DESCENDING,
        .after = key_slice(&after),
        .rows_max = 1,
    };
    struct scan scan = {.rows_max = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    if (err == OK) {
        err = scan_next(&scan, &key, &value);
    }
    if (err == OK) {
        err = record_decode_artifact_life(value, ret_life);
    }
    scan_deinit(&scan);
    return err;
}

enum err artifact_life_scan(struct scan *scan, struct store_txn *txn, struct org_id org,
                            uint64_t artifact_seq)
{
    const struct scan_range range = {
        .table = TABLE_ARTIFACT_LIFE,
        .prefix = key_artifact(org, artifact_seq),
        .order = STORE_DESCENDING,
        .rows_max = UINT32_MAX,
    };

    return scan_init(scan, txn, &range);
}

enum err artifact_life_next(struct scan *scan, struct artifact_life_record *ret_life)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_next(scan, &key, &value);

    return err != OK ? err : record_decode_artifact_life(value, ret_life);
}
