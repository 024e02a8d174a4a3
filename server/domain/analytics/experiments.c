/*
 * experiments.c: see experiments.h. Layouts stand in the order of their keys, which nothing changes.
 */
#include "server/domain/analytics/experiments.h"

#include "server/domain/analytics/proportions.h"
#include "server/domain/experiment/records.h"
#include "server/domain/experiment/sums.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/layouts/records.h"
#include "server/domain/settings/settings.h"

#include <errata/v1/analytics_service.views.h>

/* What one comparison is made of, several times over. */
#define COMPARISON_BYTES_MAX 8192

/* A page while it is written. */
struct walk {
    struct ctx *ctx;
    struct store_txn *txn;
    struct experiment_page *page;
    struct buffer *body;
    struct arena scratch; /* of one comparison */
    size_t count; /* items that the page has */
    bool more;
};

/* What was not corrected. A full sum may hold more corrections than what was corrected. */
static struct proportion accuracy_of(uint64_t count, uint64_t corrected_count)
{
    uint64_t corrected = corrected_count < count ? corrected_count : count;

    return (struct proportion){count - corrected, count};
}

/* 0 without any; then it is absent. */
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

/* The comparison as a message, in the walk's scratch; the next one takes its place. */
static enum err encode_comparison(struct walk *walk, const struct layout_stats_record *stats,
                                  struct slice *ret_message)
{
    const struct arm_result_view treatment = arm_of(&stats->treatment);
    const struct arm_result_view control = arm_of(&stats->control);
    struct experiment_comparison_view comparison = {.has_treatment = true, .has_control = true};

    arena_reset(&walk->scratch);
    add_statistics(stats, &comparison);
    return view_encode(&arm_result_view_type, &treatment, &walk->scratch, &comparison.treatment) &&
                   view_encode(&arm_result_view_type, &control, &walk->scratch,
                               &comparison.control) &&
                   view_encode(&experiment_comparison_view_type, &comparison, &walk->scratch,
                               ret_message)
               ? OK
               : ERR_MEMORY;
}

static enum err write_organization(struct walk *walk)
{
    struct layout_stats_record stats;
    struct settings settings;
    struct get_experiment_report_response_view response = {.has_organization = true};
    enum err err = sums_read_layout(walk->txn, walk->page->org, slice_of(NULL, 0), &stats);

    if (err == OK) {
        err = settings_read(walk->txn, walk->page->org, &settings);
    }
    if (err != OK) {
        return err;
    }
    err = encode_comparison(walk, &stats, &response.organization);
    response.holdout_percent = settings.holdout_percent;
    get_experiment_report_response_view_write(&response, walk->body);
    return err == OK && buffer_ok(walk->body) ? OK : ERR_MEMORY;
}

static enum err append(struct walk *walk, const struct layout_stats_record *stats,
                       uint64_t example_count)
{
    struct layout_experiment_view layout = {
        .layout_fingerprint = stats->layout_fingerprint,
        .example_count = example_count,
        .has_comparison = true,
    };
    enum err err = encode_comparison(walk, stats, &layout.comparison);

    layout_experiment_view_put(&layout, GET_EXPERIMENT_REPORT_RESPONSE_LAYOUTS_FIELD, walk->body);
    walk->count++;
    return err == OK && buffer_ok(walk->body) ? OK : ERR_MEMORY;
}

/* The organisation's own sums are no layout's. */
static bool has_counted(const struct layout_stats_record *stats)
{
    return stats->layout_fingerprint.size > 0 &&
           (stats->treatment.extraction_count > 0 || stats->control.extraction_count > 0);
}

static enum err take_row(struct walk *walk, struct slice key, struct slice value)
{
    struct layout_head_record head = {0};
    struct layout_stats_record stats;
    enum err err = record_decode_layout_stats(value, &stats);

    if (err == OK && has_counted(&stats)) {
        struct key_fingerprint fingerprint = key_fingerprint_of(stats.layout_fingerprint);
        struct key head_key = key_layout_head(walk->page->org, &fingerprint);

        err = layout_head_read(walk->ctx->arena, walk->txn, &head_key, &head);
    }
    if (err != OK) {
        return err;
    }
    if (head.example_count >= SUMS_EXAMPLES_READY) {
        if (walk->count == walk->page->page_size) {
            walk->more = true;
            return OK;
        }
        err = append(walk, &stats, head.example_count);
    }
    memcpy(walk->page->last.bytes, key.data, key.size);
    walk->page->last.size = key.size;
    return err;
}

static enum err write_layouts(struct walk *walk)
{
    struct key prefix = key_org(walk->page->org);
    struct store_cursor cursor = {0};
    enum err err = store_cursor_init(&cursor, walk->txn, TABLE_LAYOUT_STATS, key_slice(&prefix),
                                     walk->page->after, STORE_ASCENDING);

    for (size_t rows = 0; err == OK && !walk->more; rows++) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK && slice_equal(key, walk->page->after)) {
            err = store_cursor_next(&cursor, &key, &value);
        }
        if (err == OK && rows == EXPERIMENT_ROWS_MAX) {
            walk->more = true;
        } else if (err == OK) {
            err = take_row(walk, key, value);
        }
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err experiments_write(struct ctx *ctx, struct store_txn *txn, struct experiment_page *page,
                           struct buffer *body, bool *ret_more)
{
    struct walk walk = {.ctx = ctx, .txn = txn, .page = page, .body = body};
    enum err err = OK;

    arena_init(&walk.scratch, COMPARISON_BYTES_MAX);
    err = write_organization(&walk);
    if (err == OK) {
        err = write_layouts(&walk);
    }
    arena_deinit(&walk.scratch);
    *ret_more = walk.more;
    return err;
}
