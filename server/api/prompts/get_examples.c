/*
 * get_examples.c: PromptService/GetExamples. Converts the request to values for the domain, which
 * appends the response's bytes itself. This is the only exception to the use of views, because it
 * is the hot path (corrections/examples.h).
 */
#include "server/api/annotators.h"
#include "server/domain/corrections/example_layout.h"
#include "server/domain/corrections/examples_removed.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/prompt_service.fields.h>
#include <errata/v1/prompt_service.handlers.h>

/* Returns whether a request may take long: a lookup of the past may skip many newer rows, and with
 * other filters than the default ones each example of a document is built from up to 50 events. */
static bool is_long(const struct prompt_service_get_examples_call *call)
{
    const Errata__V1__GetExamplesRequest *request = call->request;

    return call->as_of.is_given ||
           ((enum example_grouping)request->grouping == EXAMPLE_GROUPING_DOCUMENT &&
            (request->include_superseded || request->n_annotator_kinds > 0));
}

enum err prompt_service_get_examples_cost(struct prompt_service_get_examples_call *call)
{
    call->cost = is_long(call) ? READ_IS_LONG : READ_IS_SHORT;
    return OK;
}

enum err prompt_service_get_examples_read(struct prompt_service_get_examples_call *call)
{
    struct examples_query query = {
        .org = call->org,
        .layout_fingerprint = slice_text(call->request->layout_fingerprint),
        .document_id = slice_text(call->request->document_id),
        .limit = call->request->max_examples > 0 ? (uint32_t)call->request->max_examples
                                                 : EXAMPLES_LIMIT_DEFAULT,
        .include_superseded = call->request->include_superseded != 0,
        .include_own = call->request->include_own != 0,
        .has_as_of = call->as_of.is_given,
        .as_of_seq = call->as_of.seq,
        .exposure_key = &call->service->env->exposure_key,
        .served = &call->service->env->examples_served,
        .now_us = clock_wall_us(call->ctx->clock),
        /* A long read runs on the pool, which may not use the loop's cache. */
        .settings_cache = is_long(call) ? NULL : &call->service->env->settings_cache,
        .arena = call->ctx->arena,
    };
    enum err err = annotators_read(call->ctx, "annotator_kinds", call->request->annotator_kinds,
                                   call->request->n_annotator_kinds, &query.annotator_kinds);

    if (err != OK ||
        UNEXPECTED(!example_view_from_wire((int32_t)call->request->view, &query.view)) ||
        UNEXPECTED(
            !example_grouping_from_wire((int32_t)call->request->grouping, &query.grouping)) ||
        UNEXPECTED(!match_mode_from_wire((int32_t)call->request->match_mode, &query.match_mode)) ||
        UNEXPECTED(query.limit > EXAMPLES_LIMIT_MAX)) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    if (query.layout_fingerprint.size == 0 && query.document_id.size == 0) {
        fault_add(call->ctx->fault, SLICE("layout_fingerprint"),
                  "missing; expected a layout, or a document_id whose layout is known");
    }
    err = fault_result(call->ctx->fault);
    if (err == OK) {
        err = example_layout_find(call->txn, &query);
    }
    if (err == OK) {
        err = examples_check_removed(call->ctx, call->txn, &query);
    }
    return err != OK ? err : examples_write(call->txn, &query, call->body);
}
