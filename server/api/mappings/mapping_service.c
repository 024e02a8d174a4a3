/*
 * mapping_service.c: MappingService's writes: SuggestMapping, ConfirmMapping, RejectMapping and
 * RecordMatches. Wire messages become values for the domain, and stored events become answers; the rules
 * are the domain's. The reads are in mapping_reads.c.
 */
#include "server/domain/mappings/mappings.h"
#include "server/domain/mappings/uses.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"

#include "server/domain/json/members.h"
#include "store/base/wire.h"

#include <errata/v1/mapping_service.fields.h>
#include <errata/v1/mapping_service.handlers.h>
#include <errata/v1/mapping_service.views.h>

/* Both judgements answer alike, so one function writes them. */
_Static_assert((int)CONFIRM_MAPPING_RESPONSE_MAPPING_FIELD ==
                   (int)REJECT_MAPPING_RESPONSE_MAPPING_FIELD,
               "both methods answer alike");
_Static_assert((int)CONFIRM_MAPPING_RESPONSE_EVENT_ID_FIELD ==
                   (int)REJECT_MAPPING_RESPONSE_EVENT_ID_FIELD,
               "both methods answer alike");

enum err mapping_service_suggest_mapping_prepare(struct mapping_service_suggest_mapping_call *call)
{
    struct ctx *ctx = call->ctx;
    const Errata__V1__SkuMapping *mapping = call->request->mapping;
    struct mapping_suggestion *suggestion = arena_calloc(ctx->arena, 1, sizeof(*suggestion));
    enum err err = OK;

    if (suggestion == NULL) {
        return ERR_MEMORY;
    }
    if (mapping->_confidence_case != ERRATA__V1__SKU_MAPPING___CONFIDENCE_CONFIDENCE) {
        fault_add(ctx->fault, SLICE("mapping.confidence"),
                  "missing; expected the matcher's confidence, 0 to 1");
    }
    err = mapping_name_read(ctx, SLICE("mapping"), slice_text(mapping->customer_id),
                            slice_text(mapping->customer_sku), slice_text(mapping->internal_sku),
                            &suggestion->name);
    if (err != OK) {
        return err;
    }
    suggestion->confidence = mapping->confidence;
    suggestion->time = time_given(mapping->created_at);
    call->prepared = suggestion;
    return OK;
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

/* The event may have changed another mapping too: the suggested one is that of the request. */
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

/* Which mapping a request means. */
struct named {
    const char *id;
    const char *customer_id;
    const char *customer_sku;
    const char *internal_sku;
};

static enum err read_named(struct ctx *ctx, const struct named *named,
                           struct mapping_judgement *judgement)
{
    const struct slice request = {NULL, 0};
    bool names_parts =
        named->customer_id != NULL || named->customer_sku != NULL || named->internal_sku != NULL;

    if (named->id == NULL && !names_parts) {
        fault_add(
            ctx->fault, SLICE("id"),
            "missing; expected the mapping's id, or customer_id, customer_sku and internal_sku");
        return ERR_INVALID;
    }
    if (named->id != NULL && names_parts) {
        fault_add(ctx->fault, SLICE("id"),
                  "given together with customer_id, customer_sku or internal_sku; expected either "
                  "the id or those three");
        return ERR_INVALID;
    }
    if (named->id == NULL) {
        return mapping_name_read(ctx, request, slice_text(named->customer_id),
                                 slice_text(named->customer_sku), slice_text(named->internal_sku),
                                 &judgement->name);
    }
    judgement->is_by_id = true;
    if (!uuid_parse(slice_text(named->id), &judgement->id)) {
        fault_add(ctx->fault, SLICE("id"),
                  "invalid UUID; expected the mapping id the server returned");
        return ERR_INVALID;
    }
    return OK;
}

static enum err read_suggestions(struct ctx *ctx, const char *text, struct slice *ret_suggestions)
{
    struct json_value list = {JSON_NULL, {NULL, 0}};
    struct slice json = slice_text(text);

    if (json.size == 0) {
        return OK;
    }
    if (!json_member(members_value_of(json), SLICE("suggestions"), &list) ||
        list.kind != JSON_ARRAY) {
        fault_add(ctx->fault, SLICE("suggestions_json"),
                  "no array `suggestions`; expected {\"suggestions\":[...]}");
        return ERR_INVALID;
    }
    *ret_suggestions = list.text;
    return OK;
}

/* What a person's confirmation and rejection have in common; NULL where there is no memory for it. */
static struct mapping_judgement *new_judgement(struct service *service,
                                               enum feedback_event_type event_type,
                                               const char *draft_order_id, const char *document_id,
                                               const char *actor_user_id,
                                               const Google__Protobuf__Timestamp *created_at)
{
    struct mapping_judgement *judgement = arena_calloc(service->ctx->arena, 1, sizeof(*judgement));

    if (judgement != NULL) {
        judgement->event_type = event_type;
        judgement->draft_order_id = slice_text(draft_order_id);
        judgement->document_id = slice_text(document_id);
        judgement->actor_user_id = slice_text(actor_user_id);
        judgement->time = time_given(created_at);
    }
    return judgement;
}

enum err mapping_service_confirm_mapping_prepare(struct mapping_service_confirm_mapping_call *call)
{
    const struct named named = {call->request->id, call->request->customer_id,
                                call->request->customer_sku, call->request->internal_sku};
    struct mapping_judgement *judgement = new_judgement(
        call->service, FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED, call->request->draft_order_id,
        call->request->document_id, call->request->actor_user_id, call->request->created_at);
    enum err err = OK;

    if (judgement == NULL) {
        return ERR_MEMORY;
    }
    err = read_suggestions(call->ctx, call->request->suggestions_json, &judgement->suggestions);
    if (err == OK || err == ERR_INVALID) {
        enum err of_name = read_named(call->ctx, &named, judgement);

        err = err == OK ? of_name : err;
    }
    if (err == OK) {
        call->prepared = judgement;
    }
    return err;
}

enum err mapping_service_reject_mapping_prepare(struct mapping_service_reject_mapping_call *call)
{
    const struct named named = {call->request->id, call->request->customer_id,
                                call->request->customer_sku, call->request->internal_sku};
    struct mapping_judgement *judgement = new_judgement(
        call->service, FEEDBACK_EVENT_TYPE_MAPPING_REJECTED, call->request->draft_order_id,
        call->request->document_id, call->request->actor_user_id, call->request->created_at);
    enum err err = OK;

    if (judgement == NULL) {
        return ERR_MEMORY;
    }
    err = read_named(call->ctx, &named, judgement);
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

/* The last event of the write is the one that counted; the first may be the exposure's. */
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
