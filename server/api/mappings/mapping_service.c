/*
 * mapping_service.c: MappingService's writes: SuggestMapping, ConfirmMapping, RejectMapping and
 * RecordMatches. Converts wire messages to values for the domain, and stored events to responses;
 * the rules are in the domain. The reads are in mapping_reads.c.
 */
#include "server/api/mappings/mapping_wire.h"
#include "server/domain/mappings/uses.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"

#include "store/base/wire.h"

#include <errata/v1/mapping_service.fields.h>
#include <errata/v1/mapping_service.handlers.h>
#include <errata/v1/mapping_service.views.h>

/* Both judgements have the same response, so one function writes it. */
_Static_assert((int)CONFIRM_MAPPING_RESPONSE_MAPPING_FIELD ==
                   (int)REJECT_MAPPING_RESPONSE_MAPPING_FIELD,
               "both responses have the same fields");
_Static_assert((int)CONFIRM_MAPPING_RESPONSE_EVENT_ID_FIELD ==
                   (int)REJECT_MAPPING_RESPONSE_EVENT_ID_FIELD,
               "both responses have the same fields");

enum err mapping_service_suggest_mapping_prepare(struct mapping_service_suggest_mapping_call *call)
{
    struct mapping_suggestion *suggestion = arena_calloc(call->ctx->arena, 1, sizeof(*suggestion));
    enum err err = OK;

    if (suggestion == NULL) {
        return ERR_MEMORY;
    }
    err = mapping_wire_read_suggestion(call->ctx, SLICE("mapping"), call->request->mapping,
                                       suggestion);
    if (err == OK) {
        call->prepared = suggestion;
    }
    return err;
}

enum err mapping_service_suggest_mapping_write(struct mapping_service_suggest_mapping_call *call)
{
    const struct event_caller caller = caller_of(call->service);
    enum err err = mapping_suggest(call->ctx, call->txn, call->org, &caller, call->prepared,
                                   &call->result->first_seq);

    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

/* The event may also have changed another mapping; the suggested one is named by the request. */
enum err mapping_service_suggest_mapping_answer(struct mapping_service_suggest_mapping_call *call)
{
    const struct mapping_suggestion *suggestion = call->prepared;
    struct mapping_changes changes;
    struct mapping_row row;
    struct event event;
    enum err err = mapping_row_find(call->txn, call->result->org, &suggestion->name.pair, &row);

    if (err == OK) {
        err = log_read(call->txn, call->result->org, call->result->first_seq, &event);
    }
    if (err == OK) {
        err = mapping_changes_read(&event, &changes);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    for (size_t i = 0; i < changes.count; i++) {
        if (changes.items[i].row.seq == row.seq) {
            wire_put_bytes(call->body, SUGGEST_MAPPING_RESPONSE_MAPPING_FIELD,
                           changes.items[i].mapping);
            return OK;
        }
    }
    return ERR_CORRUPT;
}

enum err mapping_service_confirm_mapping_prepare(struct mapping_service_confirm_mapping_call *call)
{
    const struct slice request = {NULL, 0};
    struct mapping_judgement *judgement = arena_calloc(call->ctx->arena, 1, sizeof(*judgement));
    enum err err = OK;

    if (judgement == NULL) {
        return ERR_MEMORY;
    }
    err = mapping_wire_read_confirmation(call->ctx, request, call->request, judgement);
    if (err == OK) {
        call->prepared = judgement;
    }
    return err;
}

enum err mapping_service_reject_mapping_prepare(struct mapping_service_reject_mapping_call *call)
{
    const struct slice request = {NULL, 0};
    struct mapping_judgement *judgement = arena_calloc(call->ctx->arena, 1, sizeof(*judgement));
    enum err err = OK;

    if (judgement == NULL) {
        return ERR_MEMORY;
    }
    err = mapping_wire_read_rejection(call->ctx, request, call->request, judgement);
    if (err == OK) {
        call->prepared = judgement;
    }
    return err;
}

static enum err write_judgement(struct service *service, struct store_txn *txn,
                                const struct mapping_judgement *judgement,
                                struct work_result *result)
{
    const struct event_caller caller = caller_of(service);
    enum err err = mapping_judge(service->ctx, txn, service->principal->org, &caller, judgement,
                                 &result->first_seq);

    if (err == OK) {
        result->count = 1;
    }
    return err;
}

static enum err answer_judgement(struct store_txn *txn, const struct work_result *result,
                                 struct buffer *body)
{
    struct confirm_mapping_response_view response = {.has_mapping = true};
    struct mapping_changes changes;
    struct event event;
    enum err err = log_read(txn, result->org, result->first_seq, &event);

    if (err == OK) {
        err = mapping_changes_read(&event, &changes);
    }
    if (err != OK || changes.count == 0) {
        return err == OK || err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    response.mapping = changes.items[0].mapping;
    response.event_id = event.id;
    confirm_mapping_response_view_write(&response, body);
    return OK;
}

enum err mapping_service_confirm_mapping_write(struct mapping_service_confirm_mapping_call *call)
{
    return write_judgement(call->service, call->txn, call->prepared, call->result);
}

enum err mapping_service_confirm_mapping_answer(struct mapping_service_confirm_mapping_call *call)
{
    return answer_judgement(call->txn, call->result, call->body);
}

enum err mapping_service_reject_mapping_write(struct mapping_service_reject_mapping_call *call)
{
    return write_judgement(call->service, call->txn, call->prepared, call->result);
}

enum err mapping_service_reject_mapping_answer(struct mapping_service_reject_mapping_call *call)
{
    return answer_judgement(call->txn, call->result, call->body);
}

enum err mapping_service_record_matches_write(struct mapping_service_record_matches_call *call)
{
    const struct event_caller caller = caller_of(call->service);
    const struct matches_outcome outcome = {
        .org = call->org,
        .caller = &caller,
        .key = &call->service->env->exposure_key,
        .exposure_ref = slice_text(call->request->exposure_ref),
        .draft_order_id = slice_text(call->request->draft_order_id),
        .actor_user_id = slice_text(call->request->actor_user_id),
        .time = time_given(call->request->created_at),
    };

    return mapping_record_matches(call->ctx, call->txn, &outcome, call->result);
}

/* The last event of the write counts the uses; the first may be the exposure's. */
enum err mapping_service_record_matches_answer(struct mapping_service_record_matches_call *call)
{
    struct event event;
    struct record_matches_response_view response = {.applied_count = 0};
    enum err err = log_read(call->txn, call->result->org,
                            call->result->first_seq + call->result->count - 1, &event);

    if (err == OK) {
        err = mapping_uses_count(&event, &response.applied_count);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    response.event_id = event.id;
    record_matches_response_view_write(&response, call->body);
    return OK;
}
