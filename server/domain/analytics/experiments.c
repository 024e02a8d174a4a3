/*
 * experiments.c: see experiments.h. Layouts stand in the order of their keys, which nothing changes.
 */
#include "server/domain/analytics/experiments.h"

#include "server/domain/analytics/proportions.h"
#include "server/domain/counters/counters.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/settings/settings.h"
#include "store/base/wire.h"

#include <errata/v1/analytics_service.fields.h>

/* A page while it is written. */
struct walk {
    struct ctx *ctx;
    struct store_txn *txn;
    struct experiment_page *page;
    struct buffer *body;
    struct buffer arm; /* scratch, one for each level of messages */
    struct buffer comparison;
    struct buffer layout;
    size_t count; /* items that the page has */
    bool more;
};

/* What was not corrected. A full sum may hold more corrections than what was corrected. */
static struct proportion accuracy_of(uint64_t count, uint64_t corrected_count)
{
    uint64_t corrected = corrected_count < count ? corrected_count : count;

    return (struct proportion){count - corrected, count};
}

static void put_share(struct buffer *buffer, uint32_t field, const struct proportion *share)
{
    if (share->trial_count > 0) {
        wire_put_double(buffer, field, (double)share->success_count / (double)share->trial_count);
    }
}

static void encode_arm(const struct arm_sums *sums, struct buffer *buffer)
{
    const struct proportion whole = accuracy_of(sums->extraction_count, sums->corrected_count);
    const struct proportion fields = accuracy_of(sums->field_count, sums->corrected_field_count);

    buffer->size = 0;
    wire_put_varint_given(buffer, ARM_RESULT_EXTRACTION_COUNT_FIELD, sums->extraction_count);
    wire_put_varint_given(buffer, ARM_RESULT_CORRECTED_COUNT_FIELD, sums->corrected_count);
    put_share(buffer, ARM_RESULT_ACCURACY_FIELD, &whole);
    wire_put_varint_given(buffer, ARM_RESULT_FIELD_COUNT_FIELD, sums->field_count);
    wire_put_varint_given(buffer, ARM_RESULT_CORRECTED_FIELD_COUNT_FIELD,
                          sums->corrected_field_count);
    put_share(buffer, ARM_RESULT_FIELD_ACCURACY_FIELD, &fields);
}

static void encode_statistics(const struct layout_stats_record *stats, struct buffer *buffer)
{
    const struct proportion treated =
        accuracy_of(stats->treatment.extraction_count, stats->treatment.corrected_count);
    const struct proportion control =
        accuracy_of(stats->control.extraction_count, stats->control.corrected_count);
    struct proportion_improvement improvement;
    double p_value = 0;

    if (proportions_improvement(&treated, &control, &improvement)) {
        wire_put_double(buffer, EXPERIMENT_COMPARISON_RELATIVE_IMPROVEMENT_FIELD,
                        improvement.relative);
        wire_put_double(buffer, EXPERIMENT_COMPARISON_IMPROVEMENT_LOW_FIELD, improvement.low);
        wire_put_double(buffer, EXPERIMENT_COMPARISON_IMPROVEMENT_HIGH_FIELD, improvement.high);
        wire_put_varint_given(buffer, EXPERIMENT_COMPARISON_TARGET_REACHED_FIELD,
                              improvement.target_reached ? 1 : 0);
    }
    if (proportions_test(&treated, &control, &p_value)) {
        wire_put_double(buffer, EXPERIMENT_COMPARISON_P_VALUE_FIELD, p_value);
    }
}

/* Into walk->comparison. */
static void encode_comparison(struct walk *walk, const struct layout_stats_record *stats)
{
    walk->comparison.size = 0;
    encode_arm(&stats->treatment, &walk->arm);
    wire_put_bytes(&walk->comparison, EXPERIMENT_COMPARISON_TREATMENT_FIELD,
                   buffer_slice(&walk->arm));
    encode_arm(&stats->control, &walk->arm);
    wire_put_bytes(&walk->comparison, EXPERIMENT_COMPARISON_CONTROL_FIELD,
                   buffer_slice(&walk->arm));
    encode_statistics(stats, &walk->comparison);
}

static enum err check_buffers(const struct walk *walk)
{
    return buffer_ok(&walk->arm) && buffer_ok(&walk->comparison) && buffer_ok(&walk->layout) &&
                   buffer_ok(walk->body)
               ? OK
               : ERR_MEMORY;
}

static enum err write_organization(struct walk *walk)
{
    struct layout_stats_record stats;
    struct settings settings;
    enum err err = counters_read_layout(walk->txn, walk->page->org, slice_of(NULL, 0), &stats);

    if (err == OK) {
        err = settings_read(walk->txn, walk->page->org, &settings);
    }
    if (err != OK) {
        return err;
    }
    encode_comparison(walk, &stats);
    wire_put_bytes(walk->body, GET_EXPERIMENT_REPORT_RESPONSE_ORGANIZATION_FIELD,
                   buffer_slice(&walk->comparison));
    wire_put_varint_given(walk->body, GET_EXPERIMENT_REPORT_RESPONSE_HOLDOUT_PERCENT_FIELD,
                          settings.holdout_percent);
    return check_buffers(walk);
}

static enum err append(struct walk *walk, const struct layout_stats_record *stats,
                       uint64_t example_count)
{
    encode_comparison(walk, stats);
    walk->layout.size = 0;
    wire_put_bytes(&walk->layout, LAYOUT_EXPERIMENT_LAYOUT_FINGERPRINT_FIELD,
                   stats->layout_fingerprint);
    wire_put_varint(&walk->layout, LAYOUT_EXPERIMENT_EXAMPLE_COUNT_FIELD, example_count);
    wire_put_bytes(&walk->layout, LAYOUT_EXPERIMENT_COMPARISON_FIELD,
                   buffer_slice(&walk->comparison));
    wire_put_bytes(walk->body, GET_EXPERIMENT_REPORT_RESPONSE_LAYOUTS_FIELD,
                   buffer_slice(&walk->layout));
    walk->count++;
    return check_buffers(walk);
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
    if (head.example_count >= COUNTERS_EXAMPLES_READY) {
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

    buffer_init(&walk.arm, ctx->arena, 128);
    buffer_init(&walk.comparison, ctx->arena, 256);
    buffer_init(&walk.layout, ctx->arena, 512);
    err = write_organization(&walk);
    if (err == OK) {
        err = write_layouts(&walk);
    }
    *ret_more = walk.more;
    return err;
}
