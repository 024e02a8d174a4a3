/*
 * experiments.c: see experiments.h. Layouts are in the order of their keys, which never change.
 */
#include "server/domain/analytics/experiments.h"

#include "server/domain/analytics/proportions.h"
#include "server/domain/experiment/records.h"
#include "server/domain/experiment/sums.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/layouts/records.h"
#include "server/domain/settings/settings.h"

#include <errata/v1/extraction.fields.h>

/* Returns the share of uncorrected extractions. A saturated sum may have more corrections than
 * extractions. */
static struct proportion accuracy_of(uint64_t count, uint64_t corrected_count)
{
    uint64_t corrected = corrected_count < count ? corrected_count : count;

    return (struct proportion){count - corrected, count};
}

/* 0 without extractions; the response then omits it */
static double share_of(const struct proportion *share)
{
    return share->trial_count > 0 ? (double)share->success_count / (double)share->trial_count : 0;
}

static struct arm_result_view arm_of(const struct arm_sums *sums)
{
    const struct proportion whole = accuracy_of(sums->extraction_count, sums->corrected_count);
    const struct proportion fields = accuracy_of(sums->field_count, sums->corrected_field_count);

    return (struct arm_result_view){
        .extraction_count = sums->extraction_count,
        .corrected_count = sums->corrected_count,
        .accuracy = share_of(&whole),
        .has_accuracy = whole.trial_count > 0,
        .field_count = sums->field_count,
        .corrected_field_count = sums->corrected_field_count,
        .field_accuracy = share_of(&fields),
        .has_field_accuracy = fields.trial_count > 0,
    };
}

static void add_statistics(const struct layout_stats_record *stats,
                           struct experiment_comparison_view *comparison)
{
    const struct proportion treated =
        accuracy_of(stats->treatment.extraction_count, stats->treatment.corrected_count);
    const struct proportion control =
        accuracy_of(stats->control.extraction_count, stats->control.corrected_count);
    struct proportion_improvement improvement;

    if (proportions_improvement(&treated, &control, &improvement)) {
        comparison->has_relative_improvement = true;
        comparison->relative_improvement = improvement.relative;
        comparison->has_improvement_low = true;
        comparison->improvement_low = improvement.low;
        comparison->has_improvement_high = true;
        comparison->improvement_high = improvement.high;
        comparison->target_reached = improvement.target_reached;
    }
    comparison->has_p_value = proportions_test(&treated, &control, &comparison->p_value);
}

static struct excluded_extractions_view excluded_of(const struct layout_stats_record *stats)
{
    const uint64_t *counts = stats->excluded_count;

    return (struct excluded_extractions_view){
        .no_document_count = counts[EXPERIMENT_EXCLUSION_NO_DOCUMENT - 1],
        .further_extraction_count = counts[EXPERIMENT_EXCLUSION_FURTHER_EXTRACTION - 1],
        .no_holdout_count = counts[EXPERIMENT_EXCLUSION_NO_HOLDOUT - 1],
        .mixed_arms_count = counts[EXPERIMENT_EXCLUSION_MIXED_ARMS - 1],
        .layout_not_ready_count = counts[EXPERIMENT_EXCLUSION_LAYOUT_NOT_READY - 1],
    };
}

static struct experiment_comparison comparison_of(const struct layout_stats_record *stats)
{
    struct experiment_comparison comparison = {
        .treatment = arm_of(&stats->treatment),
        .control = arm_of(&stats->control),
        .excluded = excluded_of(stats),
        .view = {.has_treatment = true, .has_control = true, .has_excluded = true},
    };

    add_statistics(stats, &comparison.view);
    return comparison;
}

enum err experiment_read_organization(struct store_txn *txn, struct org_id org,
                                      struct experiment_organization *ret_organization)
{
    struct layout_stats_record stats;
    struct settings settings;
    enum err err = sums_read_layout(txn, org, slice_of(NULL, 0), &stats);

    if (err == OK) {
        err = settings_read(txn, org, &settings);
    }
    if (err == OK) {
        ret_organization->holdout_percent = settings.holdout_percent;
        ret_organization->comparison = comparison_of(&stats);
    }
    return err;
}

/* Skips the organisation's own sums, which belong to no layout. */
static bool has_counted(const struct layout_stats_record *stats)
{
    return stats->layout_fingerprint.size > 0 &&
           (stats->treatment.extraction_count > 0 || stats->control.extraction_count > 0);
}

enum err experiment_list_begin(struct store_txn *txn, const struct experiment_list *list)
{
    const struct scan_range range = {
        .table = TABLE_LAYOUT_STATS,
        .prefix = key_org(list->org),
        .after = list->page->after,
    };

    return page_open(list->page, txn, &range);
}

/* Returns the number of examples of a layout; 0 if it has no counted extraction. */
static enum err count_examples(struct arena *arena, struct store_txn *txn, struct org_id org,
                               const struct layout_stats_record *stats, uint64_t *ret_count)
{
    struct key_fingerprint fingerprint;
    struct layout_head_record head;
    struct key key;
    enum err err = OK;

    *ret_count = 0;
    if (!has_counted(stats)) {
        return OK;
    }
    fingerprint = key_fingerprint_of(stats->layout_fingerprint);
    key = key_layout_head(org, &fingerprint);
    err = layout_head_read(arena, txn, &key, &head);
    if (err == OK) {
        *ret_count = head.example_count;
    }
    return err;
}

enum err experiment_list_next(struct arena *arena, struct store_txn *txn,
                              const struct experiment_list *list,
                              struct experiment_layout *ret_layout)
{
    struct layout_stats_record stats;
    uint64_t example_count = 0;

    while (example_count < SUMS_EXAMPLES_READY) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        enum err err = page_next(list->page, &key, &value);

        if (err == OK) {
            err = record_decode_layout_stats(value, &stats);
        }
        if (err == OK) {
            err = count_examples(arena, txn, list->org, &stats, &example_count);
        }
        if (err != OK) {
            return err;
        }
    }
    *ret_layout = (struct experiment_layout){
        .layout_fingerprint = stats.layout_fingerprint,
        .example_count = example_count,
        .comparison = comparison_of(&stats),
    };
    return OK;
}
