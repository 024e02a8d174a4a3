/*
 * search_strategies.c: TurnService/SearchStrategies.
 */
#include "server/api/turns/turn_wire.h"
#include "server/domain/experiment/arm.h"
#include "server/domain/turns/served_strategies.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"

#include <errata/v1/turn_service.handlers.h>
#include <errata/v1/turn_service.views.h>

/* Makes the reference of a response; there is none for the past. */
static enum err refer(struct turn_service_search_strategies_call *call,
                      const struct strategies *found, const struct served_strategies *served,
                      enum experiment_arm arm, struct slice *ret_reference)
{
    struct exposure exposure = {.arm = arm};
    struct log_head head;
    enum err err = OK;

    if (call->as_of.is_given) {
        return OK;
    }
    err = log_read_head(call->txn, call->org, &head);
    if (err == OK) {
        err = served_strategies_expose(call->ctx->arena, found, &exposure);
    }
    if (err != OK) {
        return err;
    }
    served_strategies_hash(served, exposure.text_hash);
    exposure.served_at_us = clock_wall_us(call->ctx->clock);
    exposure.as_of_seq = head.last_seq;
    return exposure_reference(call->ctx->arena, &call->service->env->exposure_key, call->org,
                              &exposure, ret_reference);
}

static enum err answer(struct turn_service_search_strategies_call *call,
                       const struct strategy_query *query, const struct strategies *found)
{
    struct search_strategies_response_view response = {
        .embedder_id = query->vector.space,
        .searched_count = found->searched,
        .incomparable_count = found->incomparable,
        .truncated = found->is_cut,
        .incomplete = found->misses_erased,
    };
    struct served_strategies served = {.strategies = {NULL, 0}};
    enum err err =
        arm_of_document(call->txn, call->org, slice_text(call->request->session_id),
                        call->as_of.is_given ? call->as_of.seq : UINT64_MAX, &response.arm);

    if (err == OK && response.arm != EXPERIMENT_ARM_CONTROL) {
        err = served_strategies_encode(call->ctx->arena, found, !call->as_of.is_given, &served);
    }
    if (err == OK) {
        err = refer(call, found, &served, response.arm, &response.exposure_ref);
    }
    if (err != OK) {
        return err;
    }
    response.strategies.run = served.strategies;
    response.avoid.run = served.avoid;
    search_strategies_response_view_write(&response, call->body);
    return buffer_ok(call->body) ? OK : ERR_MEMORY;
}

enum err turn_service_search_strategies_read(struct turn_service_search_strategies_call *call)
{
    struct strategy_query *query = NULL;
    struct strategies found;
    enum err err = turn_wire_read_search(call->service, call->org, call->request, &query);

    if (err == OK) {
        query->is_past = call->as_of.is_given;
        query->as_of_seq = call->as_of.seq;
        err = strategies_search(call->ctx->arena, call->txn, call->service->env->strategies, query,
                                &found);
    }
    return err == OK ? answer(call, query, &found) : err;
}
