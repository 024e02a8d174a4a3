/*
 * agent_card.c: ReviewService/GetAgentCard. Runs on the pool.
 */
#include "server/domain/reviews/card.h"
#include "server/pipeline/service.h"

#include <errata/v1/review_service.handlers.h>

enum err review_service_get_agent_card_read(struct review_service_get_agent_card_call *call)
{
    struct review_window_query query = {
        .org = call->org,
        .subcategory = slice_text(call->request->subcategory),
        .as_of_seq = REVIEWS_NOW,
        .is_cancelled = service_was_cancelled,
        .user = call->service,
    };
    struct review_triggers triggers;
    struct review_card card;
    struct agent_card_view view;
    enum err err = review_card_read(call->ctx->arena, call->txn, &query, &card);

    if (err == OK) {
        err = review_triggers_read(call->ctx->arena, call->txn, &query, &triggers);
    }
    if (err == OK) {
        err = review_card_view(call->ctx->arena, &card, &triggers, &view);
    }
    if (err == OK) {
        agent_card_view_put(&view, GET_AGENT_CARD_RESPONSE_AGENT_CARD_FIELD, call->body);
    }
    return err;
}
