/*
 * mapping_batch.c: MappingService's BatchJudgeMappings.
 */
#include "server/api/mappings/mapping_wire.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/mapping_service.fields.h>
#include <errata/v1/mapping_service.handlers.h>
#include <errata/v1/mapping_service.views.h>

/* Reads one judgement; `place` is its path. */
static enum err read_item(struct ctx *ctx, struct slice place,
                          const Errata__V1__MappingJudgement *judgement,
                          struct mapping_batch_item *item)
{
    const char *member = "";

    switch ((int)judgement->judgement_case) {
    case ERRATA__V1__MAPPING_JUDGEMENT__JUDGEMENT_CONFIRM:
        member = "confirm";
        break;
    case ERRATA__V1__MAPPING_JUDGEMENT__JUDGEMENT_REJECT:
        member = "reject";
        break;
    case ERRATA__V1__MAPPING_JUDGEMENT__JUDGEMENT_SUGGEST:
        member = "suggest";
        break;
    default:
        fault_add(ctx->fault, place, "empty; expected confirm, reject or suggest");
        return ERR_INVALID;
    }
    item->path =
        arena_printf(ctx->arena, "%.*s.%s", (int)place.size, (const char *)place.data, member);
    if (judgement->judgement_case == ERRATA__V1__MAPPING_JUDGEMENT__JUDGEMENT_CONFIRM) {
        return mapping_wire_read_confirmation(ctx, item->path, judgement->confirm,
                                              &item->judgement);
    }
    if (judgement->judgement_case == ERRATA__V1__MAPPING_JUDGEMENT__JUDGEMENT_REJECT) {
        return mapping_wire_read_rejection(ctx, item->path, judgement->reject, &item->judgement);
    }
    item->is_suggestion = true;
    return mapping_wire_read_suggestion(ctx, item->path, judgement->suggest, &item->suggestion);
}

enum err
mapping_service_batch_judge_mappings_prepare(struct mapping_service_batch_judge_mappings_call *call)
{
    size_t count = call->request->n_judgements;
    struct mapping_batch *batch = arena_calloc(call->ctx->arena, 1, sizeof(*batch));
    struct mapping_batch_item *items = arena_calloc(call->ctx->arena, count, sizeof(*items));
    enum err result = OK;

    if (UNEXPECTED(count > MAPPING_BATCH_MAX)) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    if (batch == NULL || items == NULL) {
        return ERR_MEMORY;
    }
    *batch = (struct mapping_batch){items, count};
    /* Reports every invalid judgement, not only the first; any other error ends the loop. */
    for (size_t i = 0; i < count && (result == OK || result == ERR_INVALID); i++) {
        struct slice place = arena_printf(call->ctx->arena, "judgements[%zu]", i);
        enum err err = read_item(call->ctx, place, call->request->judgements[i], &items[i]);

        result = err != OK ? err : result;
    }
    if (result == OK) {
        call->prepared = batch;
    }
    return result;
}

enum err
mapping_service_batch_judge_mappings_write(struct mapping_service_batch_judge_mappings_call *call)
{
    const struct event_caller caller = caller_of(call->service);
    const struct mapping_batch *batch = call->prepared;

    return mapping_batch_store(call->ctx, call->txn, call->org, &caller, batch, call->result);
}

enum err
mapping_service_batch_judge_mappings_answer(struct mapping_service_batch_judge_mappings_call *call)
{
    const struct mapping_batch *batch = call->prepared;
    uint32_t next = 0;
    enum err err = OK;

    for (size_t i = 0; i < batch->count && err == OK; i++) {
        struct mapping_batch_outcome outcome;

        err = mapping_batch_outcome(call->ctx->arena, call->txn, call->result, &batch->items[i],
                                    &next, &outcome);
        if (err == OK) {
            const struct judged_mapping_view view = {.mapping_id = outcome.mapping_id,
                                                     .event_id = outcome.event_id,
                                                     .has_event_id = outcome.has_event};

            judged_mapping_view_put(&view, BATCH_JUDGE_MAPPINGS_RESPONSE_JUDGED_FIELD, call->body);
        }
    }
    return err;
}
