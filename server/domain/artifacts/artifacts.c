/*
 * artifacts.c: see artifacts.h.
 */
#include "server/domain/artifacts/artifacts.h"

#include "server/domain/artifacts/keys.h"

enum err artifact_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                       struct artifact_record *ret_record)
{
    struct key key = key_artifact(org, seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_ARTIFACT, key_slice(&key), &value);

    if (err == ERR_NOT_FOUND) {
        memset(ret_record, 0, sizeof(*ret_record));
        return OK;
    }
    return err != OK ? err : record_decode_artifact(value, ret_record);
}

static enum err write_row(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq,
                          const struct artifact_record *record)
{
    struct key key = key_artifact(org, seq);
    struct slice value = {NULL, 0};
    enum err err = record_encode_artifact(ctx->arena, record, &value);

    return err != OK ? err : store_put(txn, TABLE_ARTIFACT, key_slice(&key), value);
}

/* Adds to a count; returns false if it would become negative. */
static bool add(uint64_t *count, int change)
{
    if (change < 0 && *count == 0) {
        return false;
    }
    *count += (uint64_t)(int64_t)change;
    return true;
}

/* Removes an outcome from the newest ones, if it is one of them. */
static void forget_outcome(struct artifact_record *record, uint64_t seq)
{
    size_t kept = 0;

    for (size_t i = 0; i < record->outcome_seq_count; i++) {
        if (record->outcome_seqs[i] != seq) {
            record->outcome_seqs[kept] = record->outcome_seqs[i];
            kept++;
        }
    }
    record->outcome_seq_count = kept;
}

/* Adds an outcome to the newest ones, unless all of them are newer. */
static void note_outcome(struct artifact_record *record, uint64_t seq)
{
    size_t place = 0;

    forget_outcome(record, seq);
    while (place < record->outcome_seq_count && record->outcome_seqs[place] > seq) {
        place++;
    }
    if (place == ARTIFACT_OUTCOMES_MAX) {
        return;
    }
    if (record->outcome_seq_count < ARTIFACT_OUTCOMES_MAX) {
        record->outcome_seq_count++;
    }
    memmove(record->outcome_seqs + place + 1, record->outcome_seqs + place,
            (record->outcome_seq_count - 1 - place) * sizeof(record->outcome_seqs[0]));
    record->outcome_seqs[place] = seq;
}

static struct artifact_counts *counts_of(struct artifact_record *record,
                                         const struct artifact_change *change)
{
    if (change->is_shadow) {
        return &record->shadow;
    }
    if (change->arm == EXPERIMENT_ARM_TREATMENT) {
        return &record->treatment;
    }
    return change->arm == EXPERIMENT_ARM_CONTROL ? &record->control : &record->none;
}

enum err artifact_count(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq,
                        const struct artifact_change *change)
{
    struct artifact_record record;
    struct artifact_counts *counts = counts_of(&record, change);
    int bad = change->bad;
    enum err err = artifact_read(txn, org, seq, &record);

    if (err != OK) {
        return err;
    }
    if (change->is_use && change->as_of_seq < record.withdrawn_seq) {
        bad = change->outcomes;
    }
    if (!add(&counts->exposure_count, change->exposures) ||
        !add(&counts->outcome_count, change->outcomes) || !add(&counts->bad_count, bad)) {
        return ERR_CORRUPT;
    }
    if (change->outcomes > 0) {
        note_outcome(&record, change->outcome_seq);
    } else if (change->outcomes < 0) {
        forget_outcome(&record, change->outcome_seq);
    }
    return write_row(ctx, txn, org, seq, &record);
}

enum err artifact_withdraw(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq,
                           uint64_t event_seq)
{
    struct artifact_record record;
    enum err err = artifact_read(txn, org, seq, &record);

    if (err != OK) {
        return err;
    }
    record.withdrawn_seq = event_seq;
    record.none.bad_count = record.none.outcome_count;
    record.treatment.bad_count = record.treatment.outcome_count;
    record.control.bad_count = record.control.outcome_count;
    return write_row(ctx, txn, org, seq, &record);
}
