/*
 * get_examples.c: PromptService/GetExamples. The request becomes values for the domain, which writes
 * the answer's bytes itself.
 */
#include "server/domain/corrections/examples.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/prompt_service.fields.h>
#include <errata/v1/prompt_service.handlers.h>

static enum err read_as_of(struct store_txn *txn, const Errata__V1__GetExamplesRequest *request,
                           struct examples_query *query)
{
    bool by_seq = request->as_of_case == ERRATA__V1__GET_EXAMPLES_REQUEST__AS_OF_AS_OF_SEQ;
    bool by_time = request->as_of_case == ERRATA__V1__GET_EXAMPLES_REQUEST__AS_OF_AS_OF_TIME;
    struct as_of as_of;
    enum err err = as_of_read(txn, query->org, by_seq ? &request->as_of_seq : NULL,
                              by_time ? request->as_of_time : NULL, &as_of);

    query->has_as_of = as_of.is_given;
    query->as_of_seq = as_of.seq;
    return err;
}

/* An answer as of an earlier time may pass over many rows that are newer. */
enum err prompt_service_get_examples_cost(struct prompt_service_get_examples_call *call)
{
    bool is_long = call->request->as_of_case != ERRATA__V1__GET_EXAMPLES_REQUEST__AS_OF__NOT_SET;

    call->cost = is_long ? READ_IS_LONG : READ_IS_SHORT;
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
        .exposure_key = &call->service->env->exposure_key,
        .now_us = clock_wall_us(call->ctx->clock),
    };
    enum err err = OK;

    if (UNEXPECTED(!example_view_from_wire((int32_t)call->request->view, &query.view)) ||
        UNEXPECTED(query.limit > EXAMPLES_LIMIT_MAX)) {
        return ERR_INTERNAL; /* check_request refuses such a request */
    }
    err = read_as_of(call->txn, call->request, &query);
    return err != OK ? err : examples_write(call->txn, &query, call->body);
}
