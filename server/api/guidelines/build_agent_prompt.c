/*
 * build_agent_prompt.c: GuidelineService/BuildAgentPrompt. The past is read on the pool.
 */
#include "server/domain/guidelines/agent_prompt.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"

#include <errata/v1/guideline_service.handlers.h>
#include <errata/v1/guideline_service.views.h>

enum err
guideline_service_build_agent_prompt_cost(struct guideline_service_build_agent_prompt_call *call)
{
    call->cost = call->as_of.is_given ? READ_IS_LONG : READ_IS_SHORT;
    return OK;
}

/* Makes the reference of a response; none for the past. */
static enum err refer(struct guideline_service_build_agent_prompt_call *call,
                      const struct agent_prompt *prompt, struct slice *ret_reference)
{
    struct exposure exposure;
    struct log_head head;
    enum err err = OK;

    if (call->as_of.is_given) {
        return OK;
    }
    err = log_read_head(call->txn, call->org, &head);
    if (err == OK) {
        err = agent_prompt_expose(call->ctx->arena, prompt, &exposure);
    }
    if (err != OK) {
        return err;
    }
    exposure.served_at_us = clock_wall_us(call->ctx->clock);
    exposure.as_of_seq = head.last_seq;
    return exposure_reference(call->ctx->arena, &call->service->env->exposure_key, call->org,
                              &exposure, ret_reference);
}

static enum err answer(struct guideline_service_build_agent_prompt_call *call,
                       const struct agent_prompt *prompt)
{
    struct build_agent_prompt_response_view response = {
        .prompt = prompt->text,
        .guidelines_version = prompt->version,
        .arm = prompt->arm,
    };
    size_t count = prompt->arm == EXPERIMENT_ARM_CONTROL ? 0 : prompt->count;
    struct buffer ids;
    enum err err = refer(call, prompt, &response.exposure_ref);

    if (err != OK) {
        return err;
    }
    buffer_init(&ids, call->ctx->arena, count * (UUID_TEXT_BYTES + 2));
    for (size_t i = 0; i < count; i++) {
        char text[UUID_TEXT_BYTES];

        uuid_format(prompt->ids[i], text);
        build_agent_prompt_response_view_add_guideline_ids(&ids, slice_of(text, UUID_TEXT_BYTES));
    }
    response.guideline_ids.run = buffer_slice(&ids);
    build_agent_prompt_response_view_write(&response, call->body);
    return buffer_ok(&ids) && buffer_ok(call->body) ? OK : ERR_MEMORY;
}

enum err
guideline_service_build_agent_prompt_read(struct guideline_service_build_agent_prompt_call *call)
{
    const struct agent_prompt_query query = {
        .org = call->org,
        .agent = slice_text(call->request->agent_name),
        .base = slice_text(call->request->base_prompt),
        .subject_id = slice_text(call->request->subject_id),
        .is_past = call->as_of.is_given,
        .as_of_seq = call->as_of.seq,
        .is_cancelled = service_was_cancelled,
        .user = call->service,
    };
    struct agent_prompt prompt;
    enum err err = agent_prompt_build(call->ctx->arena, call->txn, &query, &prompt);

    return err != OK ? err : answer(call, &prompt);
}
