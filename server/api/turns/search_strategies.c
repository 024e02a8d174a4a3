/*
 * search_strategies.c: TurnService/SearchStrategies.
 */
#include "server/api/turns/turn_wire.h"
#include "server/domain/analytics/proportions.h"
#include "server/domain/turns/strategies.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"

#include <errata/v1/turn_service.fields.h>
#include <errata/v1/turn_service.handlers.h>
#include <errata/v1/turn_service.views.h>

#define LIMIT_DEFAULT 10
/* Bytes of a match beside its texts. */
#define MATCH_BYTES 256

/* Takes the caller's vector, or embeds the query. */
static enum err embed(struct turn_service_search_strategies_call *call,
                      struct strategy_query *query)
{
    const Errata__V1__SearchStrategiesRequest *request = call->request;
    enum err err =
        turn_wire_take_vector(call->ctx, request->embedding, request->n_embedding, &query->vector);

    if (err == OK && request->n_embedding == 0 && query->text.size == 0) {
        fault_add(call->ctx->fault, SLICE("query"),
                  "missing, as is embedding; expected one of them");
    }
    return err != OK ? err : turn_wire_embed(call->service, call->org, query->text, &query->vector);
}

static void put_match(const struct strategy_match *match, struct buffer *run)
{
    struct strategy_match_view view = {
        .session_id = match->turn.session_id,
        .turn_id = match->turn.turn_id,
        .has_created_at = true,
        .created_at_us = match->event.created_at_us,
        .intent = match->turn.intent,
        .status = match->status,
        .validation_outcome = match->turn.validation_outcome,
        .similarity = (double)match->similarity,
        .cosine = (double)match->cosine,
        .quality_score = match->turn.quality_score,
        .ranking_score = match->ranking,
        .satisfaction_score = turn_satisfaction(match->turn.validation_outcome, match->status),
        .accepted_count = match->accepted,
        .rejected_count = match->rejected,
        .query = match->turn.query,
        .has_strategy = match->turn.strategy.size > 0,
        .strategy = match->turn.strategy,
    };
    const struct proportion accepted = {match->accepted,
                                        (uint64_t)match->accepted + match->rejected};
    struct proportion_interval interval;

    if (proportion_interval_of(&accepted, &interval)) {
        view.has_accepted_share = true;
        view.accepted_share = interval.estimate;
        view.accepted_share_low = interval.low;
        view.accepted_share_high = interval.high;
    }
    strategy_match_view_put(&view, SEARCH_STRATEGIES_RESPONSE_STRATEGIES_FIELD, run);
}

static void put_avoid(const struct strategy_match *match, struct buffer *run)
{
    const struct avoided_strategy_view view = {
        .session_id = match->turn.session_id,
        .turn_id = match->turn.turn_id,
        .similarity = (double)match->similarity,
        .reason = match->is_excluded ? AVOID_REASON_STRATEGY_REJECTED : AVOID_REASON_REJECTED,
        .query = match->turn.query,
        .has_strategy = match->turn.strategy.size > 0,
        .strategy = match->turn.strategy,
    };

    avoided_strategy_view_put(&view, SEARCH_STRATEGIES_RESPONSE_AVOID_FIELD, run);
}

static enum err answer(struct turn_service_search_strategies_call *call,
                       const struct strategy_query *query, const struct strategies *found)
{
    struct search_strategies_response_view response = {
        .embedder_id = query->vector.space,
        .searched_count = found->searched,
        .incomparable_count = found->incomparable,
        .truncated = found->is_cut,
    };
    struct buffer matches;
    struct buffer avoid;

    buffer_init(&matches, call->ctx->arena, found->count * MATCH_BYTES);
    buffer_init(&avoid, call->ctx->arena, found->avoid_count * MATCH_BYTES);
    for (size_t i = 0; i < found->count; i++) {
        put_match(&found->items[i], &matches);
    }
    for (size_t i = 0; i < found->avoid_count; i++) {
        put_avoid(&found->avoid[i], &avoid);
    }
    if (!buffer_ok(&matches) || !buffer_ok(&avoid)) {
        return ERR_MEMORY;
    }
    response.strategies.run = buffer_slice(&matches);
    response.avoid.run = buffer_slice(&avoid);
    search_strategies_response_view_write(&response, call->body);
    return buffer_ok(call->body) ? OK : ERR_MEMORY;
}

enum err turn_service_search_strategies_read(struct turn_service_search_strategies_call *call)
{
    const Errata__V1__SearchStrategiesRequest *request = call->request;
    struct service_env *env = call->service->env;
    struct strategy_query query = {
        .org = call->org,
        .text = slice_text(request->query),
        .intent = slice_text(request->intent),
        .similarity_min = request->_similarity_min_case != 0 ? (float)request->similarity_min
                                                             : (float)STRATEGY_SIMILARITY_MIN,
        .limit = request->limit > 0 ? (size_t)request->limit : LIMIT_DEFAULT,
        .embedder = env->embedder,
        .cancelled = &call->service->cancelled,
    };
    struct strategies found;
    enum err err = embed(call, &query);

    if (err == OK) {
        err = strategies_search(call->ctx->arena, call->txn, env->strategies, &query, &found);
    }
    return err == OK ? answer(call, &query, &found) : err;
}
