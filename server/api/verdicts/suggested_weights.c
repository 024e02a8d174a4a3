/*
 * suggested_weights.c: VerdictService's methods for weights by measured verdicts:
 * ListSuggestedWeights and ApplySuggestedWeights.
 */
#include "server/domain/settings/settings.h"
#include "server/domain/weights/set_weights.h"
#include "server/domain/weights/suggestions.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/verdict_service.handlers.h>

enum err verdict_service_list_suggested_weights_read(
    struct verdict_service_list_suggested_weights_call *call)
{
    struct suggestions_request request = {
        .org = call->org,
        .is_cancelled = service_was_cancelled,
        .user = call->service,
    };
    struct settings settings;
    enum err err = settings_read(call->txn, call->org, &settings);

    request.has_rule = uuid_parse(slice_text(call->request->rule_id), &request.rule_id);
    request.thresholds = (struct score_thresholds){settings.suspicious_at, settings.fake_at};
    return err != OK ? err : suggestions_list(call->ctx, call->txn, &request, call->page);
}

enum err verdict_service_apply_suggested_weights_prepare(
    struct verdict_service_apply_suggested_weights_call *call)
{
    const Errata__V1__ApplySuggestedWeightsRequest *request = call->request;
    struct chosen_weight *chosen =
        arena_calloc(call->ctx->arena, request->n_weights + 1, sizeof(*chosen));

    if (chosen == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < request->n_weights; i++) {
        const Errata__V1__ChosenWeight *weight = request->weights[i];

        chosen[i].has_weight = weight->_weight_case != 0;
        chosen[i].weight = weight->weight;
        if (UNEXPECTED(!uuid_parse(slice_text(weight->rule_id), &chosen[i].rule_id))) {
            return ERR_INTERNAL; /* check_request has refused such a request */
        }
    }
    call->prepared = chosen;
    return OK;
}

static struct set_weights_request
request_of(const struct verdict_service_apply_suggested_weights_call *call)
{
    return (struct set_weights_request){
        .org = call->org,
        .caller = caller_of(call->service),
        .chosen = call->prepared,
        .count = call->request->n_weights,
        .reason = slice_text(call->request->reason),
    };
}

/* A dry run writes nothing: its response is decided in the same transaction. */
enum err verdict_service_apply_suggested_weights_write(
    struct verdict_service_apply_suggested_weights_call *call)
{
    const struct set_weights_request request = request_of(call);

    return call->request->apply ? set_weights_write(call->ctx, call->txn, &request, call->result)
                                : OK;
}

enum err verdict_service_apply_suggested_weights_answer(
    struct verdict_service_apply_suggested_weights_call *call)
{
    const struct set_weights_request request = request_of(call);

    return call->request->apply
               ? set_weights_answer(call->txn, request.count, call->result, call->body)
               : set_weights_answer_dry(call->ctx, call->txn, &request, call->body);
}
