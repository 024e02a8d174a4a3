/*
 * sums.c: see sums.h. A full sum stays full, as a counter does.
 */
#include "server/domain/experiment/sums.h"

#include "server/domain/counters/counters.h"
#include "server/domain/counters/keys.h"
#include "server/domain/experiment/records.h"
#include "server/domain/layouts/keys.h"

#include <errata/v1/extraction.fields.h>

static const struct slice no_name = {NULL, 0};

/* The empty text means the organisation. */
static struct key sums_key(struct org_id org, struct slice layout_fingerprint)
{
    struct key_fingerprint fingerprint = {{0}};

    if (layout_fingerprint.size > 0) {
        fingerprint = key_fingerprint_of(layout_fingerprint);
    }
    return key_layout_stats(org, &fingerprint);
}

/* The text in `ret_stats` is the one that was given. */
static enum err read_sums(struct store_txn *txn, const struct key *key,
                          struct slice layout_fingerprint, struct layout_stats_record *ret_stats)
{
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_LAYOUT_STATS, key_slice(key), &value);

    memset(ret_stats, 0, sizeof(*ret_stats));
    if (err == OK) {
        err = record_decode_layout_stats(value, ret_stats);
    } else if (err == ERR_NOT_FOUND) {
        err = OK;
    }
    ret_stats->layout_fingerprint = layout_fingerprint;
    return err;
}

static enum err write_sums(struct ctx *ctx, struct store_txn *txn, const struct key *key,
                           const struct layout_stats_record *stats)
{
    struct slice value = {NULL, 0};
    enum err err = record_encode_layout_stats(ctx->arena, stats, &value);

    return err != OK ? err : store_put(txn, TABLE_LAYOUT_STATS, key_slice(key), value);
}

enum err sums_read_layout(struct store_txn *txn, struct org_id org, struct slice layout_fingerprint,
                          struct layout_stats_record *ret_stats)
{
    struct key key = sums_key(org, layout_fingerprint);

    return read_sums(txn, &key, layout_fingerprint, ret_stats);
}

enum err sums_name_layout(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                          struct slice layout_fingerprint)
{
    const struct layout_stats_record stats = {.layout_fingerprint = layout_fingerprint};
    struct key key = sums_key(org, layout_fingerprint);
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (layout_fingerprint.size == 0) {
        return OK;
    }
    err = store_get(txn, TABLE_LAYOUT_STATS, key_slice(&key), &value);
    return err == ERR_NOT_FOUND ? write_sums(ctx, txn, &key, &stats) : err;
}

static void add_to(uint64_t *sum, uint64_t amount)
{
    if (__builtin_add_overflow(*sum, amount, sum)) {
        *sum = UINT64_MAX;
    }
}

/* The arm that an extraction counts in, or NULL. */
static struct arm_sums *arm_of(struct layout_stats_record *stats,
                               const struct counted_extraction *extraction)
{
    if (!extraction->layout_ready) {
        return NULL;
    }
    if (extraction->arm == EXPERIMENT_ARM_TREATMENT) {
        return &stats->treatment;
    }
    return extraction->arm == EXPERIMENT_ARM_CONTROL ? &stats->control : NULL;
}

static void add_arm(struct arm_sums *arm, const struct arm_sums *addend)
{
    add_to(&arm->extraction_count, addend->extraction_count);
    add_to(&arm->corrected_count, addend->corrected_count);
    add_to(&arm->field_count, addend->field_count);
    add_to(&arm->corrected_field_count, addend->corrected_field_count);
}

static enum err add_to_sums(struct ctx *ctx, struct store_txn *txn,
                            const struct counted_extraction *extraction,
                            struct slice layout_fingerprint, const struct arm_sums *addend)
{
    struct key key = sums_key(extraction->org, layout_fingerprint);
    struct layout_stats_record stats;
    struct arm_sums *arm = NULL;
    enum err err = read_sums(txn, &key, layout_fingerprint, &stats);

    if (err != OK) {
        return err;
    }
    add_to(&stats.extraction_count, addend->extraction_count);
    add_to(&stats.corrected_count, addend->corrected_count);
    arm = arm_of(&stats, extraction);
    if (arm != NULL) {
        add_arm(arm, addend);
    }
    return write_sums(ctx, txn, &key, &stats);
}

/* To the layout's sums and to the organisation's. */
static enum err add_to_both(struct ctx *ctx, struct store_txn *txn,
                            const struct counted_extraction *extraction,
                            const struct arm_sums *addend)
{
    enum err err = add_to_sums(ctx, txn, extraction, no_name, addend);

    if (err == OK && extraction->layout_fingerprint.size > 0) {
        err = add_to_sums(ctx, txn, extraction, extraction->layout_fingerprint, addend);
    }
    return err;
}

enum err sums_add_extraction(struct ctx *ctx, struct store_txn *txn,
                             const struct counted_extraction *extraction)
{
    const struct arm_sums addend = {.extraction_count = 1, .field_count = extraction->field_count};
    struct counter_day at = counters_day(extraction->org, extraction->created_at_us);
    enum err err = add_to_both(ctx, txn, extraction, &addend);

    if (err == OK) {
        err = counters_add(ctx, txn, &at, COUNTER_EXTRACTIONS, no_name, 1);
    }
    return err != OK ? err
                     : counters_add(ctx, txn, &at, COUNTER_CONFIDENCE, no_name,
                                    extraction->confidence_millionths);
}

enum err sums_add_corrected(struct ctx *ctx, struct store_txn *txn,
                            const struct counted_extraction *extraction, bool first,
                            uint32_t field_count)
{
    const struct arm_sums addend = {.corrected_count = first ? 1 : 0,
                                    .corrected_field_count = field_count};
    struct counter_day at = counters_day(extraction->org, extraction->created_at_us);
    enum err err = OK;

    if (!first && field_count == 0) {
        return OK;
    }
    err = add_to_both(ctx, txn, extraction, &addend);
    return err != OK
               ? err
               : counters_add(ctx, txn, &at, COUNTER_CORRECTED, no_name, addend.corrected_count);
}
