/*
 * sums.c: see sums.h. A saturated sum stays saturated, as a counter does.
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

/* Sets the text in `ret_stats` to the given one. */
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

/* Numbers to add to sums, or to subtract from them. */
struct addend {
    struct arm_sums sums;
    bool subtract;
};

static enum err add_to(uint64_t *sum, uint64_t amount, bool subtract)
{
    if (!subtract) {
        if (__builtin_add_overflow(*sum, amount, sum)) {
            *sum = UINT64_MAX;
        }
        return OK;
    }
    if (*sum < amount) {
        return ERR_CORRUPT;
    }
    *sum -= *sum == UINT64_MAX ? 0 : amount;
    return OK;
}

/* Returns the arm in which an extraction counts, or NULL. */
static struct arm_sums *arm_of(struct layout_stats_record *stats,
                               const struct counted_extraction *extraction)
{
    if (extraction->exclusion != EXPERIMENT_EXCLUSION_UNSPECIFIED) {
        return NULL;
    }
    if (extraction->arm == EXPERIMENT_ARM_TREATMENT) {
        return &stats->treatment;
    }
    return extraction->arm == EXPERIMENT_ARM_CONTROL ? &stats->control : NULL;
}

static enum err add_arm(struct arm_sums *arm, const struct addend *addend)
{
    const struct arm_sums *sums = &addend->sums;
    enum err err = add_to(&arm->extraction_count, sums->extraction_count, addend->subtract);

    if (err == OK) {
        err = add_to(&arm->corrected_count, sums->corrected_count, addend->subtract);
    }
    if (err == OK) {
        err = add_to(&arm->field_count, sums->field_count, addend->subtract);
    }
    return err != OK
               ? err
               : add_to(&arm->corrected_field_count, sums->corrected_field_count, addend->subtract);
}

/* Adds to the extraction's arm, or to the count of its reason for exclusion. */
static enum err add_to_experiment(struct layout_stats_record *stats,
                                  const struct counted_extraction *extraction,
                                  const struct addend *addend)
{
    struct arm_sums *arm = arm_of(stats, extraction);

    if (arm != NULL) {
        return add_arm(arm, addend);
    }
    if (extraction->exclusion == 0 || extraction->exclusion > EXCLUSIONS) {
        return ERR_CORRUPT;
    }
    return add_to(&stats->excluded_count[extraction->exclusion - 1], addend->sums.extraction_count,
                  addend->subtract);
}

static enum err add_to_sums(struct ctx *ctx, struct store_txn *txn,
                            const struct counted_extraction *extraction,
                            struct slice layout_fingerprint, const struct addend *addend)
{
    struct key key = sums_key(extraction->org, layout_fingerprint);
    struct layout_stats_record stats;
    enum err err = read_sums(txn, &key, layout_fingerprint, &stats);

    if (err == OK) {
        err = add_to(&stats.extraction_count, addend->sums.extraction_count, addend->subtract);
    }
    if (err == OK) {
        err = add_to(&stats.corrected_count, addend->sums.corrected_count, addend->subtract);
    }
    if (err == OK) {
        err = add_to_experiment(&stats, extraction, addend);
    }
    if (err != OK) {
        return err;
    }
    /* A layout stays listed without extractions. */
    if (layout_fingerprint.size == 0 && stats.extraction_count == 0) {
        return store_del(txn, TABLE_LAYOUT_STATS, key_slice(&key));
    }
    return write_sums(ctx, txn, &key, &stats);
}

/* Adds to the layout's sums and to the organisation's. */
static enum err add_to_both(struct ctx *ctx, struct store_txn *txn,
                            const struct counted_extraction *extraction,
                            const struct addend *addend)
{
    enum err err = add_to_sums(ctx, txn, extraction, no_name, addend);

    if (err == OK && extraction->layout_fingerprint.size > 0) {
        err = add_to_sums(ctx, txn, extraction, extraction->layout_fingerprint, addend);
    }
    return err;
}

static enum err count_day(struct ctx *ctx, struct store_txn *txn,
                          const struct counted_extraction *extraction,
                          enum counter_dimension dimension, uint64_t amount, bool subtract)
{
    struct counter_day at = counters_day(extraction->org, extraction->created_at_us);

    return subtract ? counters_subtract(ctx, txn, &at, dimension, no_name, amount)
                    : counters_add(ctx, txn, &at, dimension, no_name, amount);
}

static enum err count_extraction(struct ctx *ctx, struct store_txn *txn,
                                 const struct counted_extraction *extraction, bool subtract)
{
    const struct addend addend = {
        .sums = {.extraction_count = 1, .field_count = extraction->field_count},
        .subtract = subtract,
    };
    enum err err = add_to_both(ctx, txn, extraction, &addend);

    if (err == OK) {
        err = count_day(ctx, txn, extraction, COUNTER_EXTRACTIONS, 1, subtract);
    }
    return err != OK ? err
                     : count_day(ctx, txn, extraction, COUNTER_CONFIDENCE,
                                 extraction->confidence_millionths, subtract);
}

enum err sums_add_extraction(struct ctx *ctx, struct store_txn *txn,
                             const struct counted_extraction *extraction)
{
    return count_extraction(ctx, txn, extraction, false);
}

enum err sums_remove_extraction(struct ctx *ctx, struct store_txn *txn,
                                const struct counted_extraction *extraction)
{
    return count_extraction(ctx, txn, extraction, true);
}

static enum err count_corrections(struct ctx *ctx, struct store_txn *txn,
                                  const struct counted_extraction *extraction,
                                  const struct counted_corrections *corrections, bool subtract)
{
    const struct addend addend = {
        .sums = {.corrected_count = corrections->is_corrected ? 1 : 0,
                 .corrected_field_count = corrections->field_count},
        .subtract = subtract,
    };
    enum err err = add_to_both(ctx, txn, extraction, &addend);

    return err != OK ? err
                     : count_day(ctx, txn, extraction, COUNTER_CORRECTED,
                                 addend.sums.corrected_count, subtract);
}

enum err sums_change_corrected(struct ctx *ctx, struct store_txn *txn,
                               const struct counted_extraction *extraction,
                               const struct counted_corrections *before,
                               const struct counted_corrections *after)
{
    enum err err = OK;

    if (before->is_corrected == after->is_corrected && before->field_count == after->field_count) {
        return OK;
    }
    if (before->is_corrected) {
        err = count_corrections(ctx, txn, extraction, before, true);
    }
    if (err == OK && after->is_corrected) {
        err = count_corrections(ctx, txn, extraction, after, false);
    }
    return err;
}
