/*
 * verdict_reads.c: VerdictService's reads: GetVerdictStats, GetLearnedRule and ListLearnedRules.
 */
#include "server/domain/learning/rule_measures.h"
#include "server/domain/verdicts/list.h"
#include "server/domain/verdicts/stats.h"
#include "server/pipeline/id_filter.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"
#include "store/base/wire.h"

#include <errata/v1/verdict_service.fields.h>
#include <errata/v1/verdict_service.handlers.h>
#include <errata/v1/verdict_service.views.h>

#define STATS_DAYS_DEFAULT 30
#define DAY_US (INT64_C(86400) * 1000000)

static void put_stats(const struct verdict_stats *stats, struct buffer *run, struct buffer *body)
{
    struct get_verdict_stats_response_view view = {
        .total_feedback = stats->total,
        .has_accuracy = stats->total > 0,
        .false_positives = stats->false_positives,
        .false_negatives = stats->false_negatives,
        .real_receipts = stats->real,
        .fake_receipts = stats->fake,
        .suspicious_receipts = stats->suspicious,
        .incomplete = stats->incomplete,
    };

    if (stats->total > 0) {
        view.accuracy = (double)verdict_stats_permille(stats) / 10;
    }
    for (size_t i = 0; i < stats->missed_count; i++) {
        const struct indicator_count_view count = {
            .indicator = stats->missed[i].indicator,
            .count = stats->missed[i].count,
        };

        indicator_count_view_put(&count, GET_VERDICT_STATS_RESPONSE_COMMON_MISSED_INDICATORS_FIELD,
                                 run);
    }
    view.common_missed_indicators.run = buffer_slice(run);
    get_verdict_stats_response_view_write(&view, body);
}

enum err verdict_service_get_verdict_stats_read(struct verdict_service_get_verdict_stats_call *call)
{
    int64_t days = call->request->days != 0 ? call->request->days : STATS_DAYS_DEFAULT;
    const struct verdict_stats_query query = {
        .org = call->org,
        .from_us = clock_wall_us(call->ctx->clock) - days * DAY_US,
        .is_cancelled = service_was_cancelled,
        .user = call->service,
    };
    struct verdict_stats stats;
    struct buffer run;
    enum err err = verdict_stats_read(call->ctx->arena, call->txn, &query, &stats);

    if (err != OK) {
        return err;
    }
    buffer_init(&run, call->ctx->arena, 512);
    put_stats(&stats, &run, call->body);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

enum err verdict_service_get_learned_rule_read(struct verdict_service_get_learned_rule_call *call)
{
    struct learned_rule_row row;
    struct learned_rule_view rule;
    struct uuid id;
    enum err err = uuid_parse(slice_text(call->request->id), &id) ? OK : ERR_NOT_FOUND;

    if (err == OK) {
        err = learned_rule_find_id(call->txn, call->org, id, &row);
    }
    if (err == ERR_NOT_FOUND) {
        return fault_say(call->ctx->fault, err,
                         "id: not found in this organisation; expected the id of a learned rule");
    }
    if (err == OK) {
        err = learned_rule_view_of(call->org, &row.record, &rule);
    }
    if (err == OK) {
        learned_rule_view_put(&rule, GET_LEARNED_RULE_RESPONSE_RULE_FIELD, call->body);
        err = rule_measures_put(call->ctx->arena, call->txn, call->org, &row,
                                GET_LEARNED_RULE_RESPONSE_MEASURES_FIELD, call->body);
    }
    return err;
}

static enum err read_list(const struct verdict_service_list_learned_rules_call *call,
                          struct learned_rule_list *list)
{
    if (UNEXPECTED(
            !learned_rule_type_from_wire((int32_t)call->request->rule_type, &list->rule_type))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    return id_filter_read_uuid(call->service, call->request->id_prefix, &list->id_prefix);
}

enum err
verdict_service_list_learned_rules_read(struct verdict_service_list_learned_rules_call *call)
{
    struct learned_rule_list list = {
        .org = call->org,
        .pattern = slice_text(call->request->pattern),
        .has_enabled = call->request->_enabled_case != 0,
        .enabled = call->request->enabled,
        .page = call->page,
    };
    struct learned_rule_row row;
    struct learned_rule_view rule;
    enum err err = read_list(call, &list);

    if (err == OK) {
        err = learned_rule_list_begin(call->txn, &list);
    }
    while (err == OK) {
        err = learned_rule_list_next(call->txn, &list, &row);
        if (err == OK) {
            err = learned_rule_view_of(call->org, &row.record, &rule);
        }
        if (err == OK) {
            learned_rule_view_put(&rule, LIST_LEARNED_RULES_RESPONSE_RULES_FIELD, call->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}
