/*
 * mapping_wire.c: see mapping_wire.h.
 */
#include "server/api/mappings/mapping_wire.h"

#include "server/domain/json/members.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"

static struct slice field_of(struct ctx *ctx, struct slice path, const char *field)
{
    return arena_printf(ctx->arena, "%.*s%s%s", (int)path.size, (const char *)path.data,
                        path.size > 0 ? "." : "", field);
}

enum err mapping_wire_read_suggestion(struct ctx *ctx, struct slice path,
                                      const Errata__V1__SkuMapping *mapping,
                                      struct mapping_suggestion *ret_suggestion)
{
    struct mapping_suggestion suggestion = {.confidence = mapping->confidence,
                                            .time = time_given(mapping->created_at)};
    enum err err = OK;

    if (mapping->_confidence_case != ERRATA__V1__SKU_MAPPING___CONFIDENCE_CONFIDENCE) {
        fault_add(ctx->fault, field_of(ctx, path, "confidence"),
                  "missing; expected the matcher's confidence, 0 to 1");
    }
    err = mapping_name_read(ctx, path, slice_text(mapping->customer_id),
                            slice_text(mapping->customer_sku), slice_text(mapping->internal_sku),
                            &suggestion.name);
    if (err == OK) {
        *ret_suggestion = suggestion;
    }
    return err;
}

/* The members by which a request identifies a mapping; NULL: absent. */
struct named {
    const char *id;
    const char *customer_id;
    const char *customer_sku;
    const char *internal_sku;
    bool may_move; /* an id may come with another customer SKU */
};

static enum err read_id(struct ctx *ctx, struct slice path, const struct named *named,
                        struct mapping_judgement *judgement)
{
    if (named->customer_id != NULL || named->internal_sku != NULL ||
        (named->customer_sku != NULL && !named->may_move)) {
        fault_add(ctx->fault, field_of(ctx, path, "id"),
                  "given together with customer_id, customer_sku or internal_sku; expected either "
                  "the id%s or those three",
                  named->may_move ? ", optionally with another customer_sku," : "");
        return ERR_INVALID;
    }
    judgement->is_by_id = true;
    if (!uuid_parse(slice_text(named->id), &judgement->id)) {
        fault_add(ctx->fault, field_of(ctx, path, "id"),
                  "invalid UUID; expected the mapping id the server returned");
        return ERR_INVALID;
    }
    return named->customer_sku == NULL
               ? OK
               : mapping_name_read_sku(ctx, path, slice_text(named->customer_sku),
                                       &judgement->name);
}

static enum err read_named(struct ctx *ctx, struct slice path, const struct named *named,
                           struct mapping_judgement *judgement)
{
    if (named->id != NULL) {
        return read_id(ctx, path, named, judgement);
    }
    if (named->customer_id == NULL && named->customer_sku == NULL && named->internal_sku == NULL) {
        fault_add(
            ctx->fault, field_of(ctx, path, "id"),
            "missing; expected the mapping's id, or customer_id, customer_sku and internal_sku");
        return ERR_INVALID;
    }
    return mapping_name_read(ctx, path, slice_text(named->customer_id),
                             slice_text(named->customer_sku), slice_text(named->internal_sku),
                             &judgement->name);
}

static enum err read_suggestions(struct ctx *ctx, struct slice path, const char *text,
                                 struct slice *ret_suggestions)
{
    struct json_value list = {JSON_NULL, {NULL, 0}};
    struct slice json = slice_text(text);

    if (json.size == 0) {
        return OK;
    }
    if (!json_member(members_value_of(json), SLICE("suggestions"), &list) ||
        list.kind != JSON_ARRAY) {
        fault_add(ctx->fault, field_of(ctx, path, "suggestions_json"),
                  "missing array `suggestions`; expected {\"suggestions\":[...]}");
        return ERR_INVALID;
    }
    *ret_suggestions = list.text;
    return OK;
}

enum err mapping_wire_read_confirmation(struct ctx *ctx, struct slice path,
                                        const Errata__V1__ConfirmMappingRequest *request,
                                        struct mapping_judgement *ret_judgement)
{
    const struct named named = {request->id, request->customer_id, request->customer_sku,
                                request->internal_sku, true};
    struct mapping_judgement judgement = {
        .event_type = FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED,
        .draft_order_id = slice_text(request->draft_order_id),
        .document_id = slice_text(request->document_id),
        .actor_user_id = slice_text(request->actor_user_id),
        .time = time_given(request->created_at),
    };
    enum err err = read_suggestions(ctx, path, request->suggestions_json, &judgement.suggestions);
    enum err of_name = read_named(ctx, path, &named, &judgement);

    err = err == OK ? of_name : err;
    if (err == OK) {
        *ret_judgement = judgement;
    }
    return err;
}

enum err mapping_wire_read_rejection(struct ctx *ctx, struct slice path,
                                     const Errata__V1__RejectMappingRequest *request,
                                     struct mapping_judgement *ret_judgement)
{
    const struct named named = {request->id, request->customer_id, request->customer_sku,
                                request->internal_sku, false};
    struct mapping_judgement judgement = {
        .event_type = FEEDBACK_EVENT_TYPE_MAPPING_REJECTED,
        .draft_order_id = slice_text(request->draft_order_id),
        .document_id = slice_text(request->document_id),
        .actor_user_id = slice_text(request->actor_user_id),
        .time = time_given(request->created_at),
    };
    enum err err = read_named(ctx, path, &named, &judgement);

    if (err == OK) {
        *ret_judgement = judgement;
    }
    return err;
}
