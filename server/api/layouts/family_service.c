/*
 * family_service.c: LayoutService's methods of layout families: reads, and changes by users.
 */
#include "server/domain/layouts/families.h"
#include "server/domain/layouts/family_change.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"
#include "store/base/wire.h"

#include <errata/v1/layout_service.fields.h>
#include <errata/v1/layout_service.handlers.h>

enum err layout_service_list_families_read(struct layout_service_list_families_call *call)
{
    struct layout_family_view view;
    struct family_members members;
    struct family_record family;
    uint64_t seq = 0;
    enum err err = family_list_begin(call->txn, call->org, call->page);

    while (err == OK) {
        err = family_list_next(call->page, &seq, &family);
        if (err == OK) {
            err = family_view_make(call->ctx->arena, call->txn, call->org, &family, &view);
        }
        if (err == OK) {
            family_members_of(seq, &family, &members);
            err = family_view_add_examples(call->txn, call->org, &members, &view);
        }
        if (err == OK) {
            layout_family_view_put(&view, LIST_FAMILIES_RESPONSE_FAMILIES_FIELD, call->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err layout_service_get_family_read(struct layout_service_get_family_call *call)
{
    struct arena *arena = call->ctx->arena;
    struct layout_family_view view;
    struct family_members members;
    struct family_record family;
    struct uuid id;
    uint64_t seq = 0;
    enum err err = OK;

    if (UNEXPECTED(!uuid_parse(slice_text(call->request->layout_family_id), &id))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = family_find(call->txn, call->org, id, &seq, &family);
    if (err == ERR_NOT_FOUND) {
        return fault_say(call->ctx->fault, err,
                         "layout_family_id: not found in this organisation; expected the "
                         "layout_family_id of a document or the id of a listed family");
    }
    if (err == OK) {
        err = family_view_make(arena, call->txn, call->org, &family, &view);
    }
    if (err == OK) {
        family_members_of(seq, &family, &members);
        err = family_view_add_fingerprints(arena, call->txn, call->org, &members, &view);
    }
    if (err == OK) {
        err = family_view_add_examples(call->txn, call->org, &members, &view);
    }
    if (err != OK) {
        return err;
    }
    layout_family_view_put(&view, GET_FAMILY_RESPONSE_FAMILY_FIELD, call->body);
    return uuid_equal(id, family.id)
               ? OK
               : family_put_merged_warning(arena, id, family.id, GET_FAMILY_RESPONSE_WARNINGS_FIELD,
                                           call->body);
}

enum err layout_service_merge_families_write(struct layout_service_merge_families_call *call)
{
    struct family_merge merge = {
        .actor_user_id = service_actor(call->service),
        .by_program = call->service->principal->user_id.size == 0,
    };
    enum err err = merge.actor_user_id.size > 0 ? OK : ERR_MEMORY;

    if (UNEXPECTED(!uuid_parse(slice_text(call->request->from_layout_family_id), &merge.from)) ||
        UNEXPECTED(!uuid_parse(slice_text(call->request->into_layout_family_id), &merge.into))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    if (err == OK) {
        err = family_merge(call->ctx, call->txn, call->org, &merge, &call->result->first_seq);
    }
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err layout_service_merge_families_answer(struct layout_service_merge_families_call *call)
{
    struct merge_families_response_view view = {.has_family = true};
    struct families_merged_view facts;
    struct event event;
    enum err err = log_read(call->txn, call->result->org, call->result->first_seq, &event);

    if (err == OK) {
        err = family_merge_of_event(&event, &facts);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    view.family = facts.family;
    view.event_id = event.id;
    merge_families_response_view_write(&view, call->body);
    return !facts.has_requested_family_id
               ? OK
               : family_put_merged_warning(call->ctx->arena, facts.requested_family_id,
                                           facts.into_family_id,
                                           MERGE_FAMILIES_RESPONSE_WARNINGS_FIELD, call->body);
}

enum err layout_service_split_family_write(struct layout_service_split_family_call *call)
{
    size_t count = call->request->n_document_ids;
    struct slice *ids = arena_calloc(call->ctx->arena, count + 1, sizeof(*ids));
    struct family_split split = {
        .actor_user_id = service_actor(call->service),
        .by_program = call->service->principal->user_id.size == 0,
        .document_ids = ids,
        .document_count = count,
    };
    enum err err = split.actor_user_id.size > 0 && ids != NULL ? OK : ERR_MEMORY;

    if (UNEXPECTED(!uuid_parse(slice_text(call->request->layout_family_id), &split.family))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    for (size_t i = 0; i < count && err == OK; i++) {
        ids[i] = slice_text(call->request->document_ids[i]);
    }
    if (err == OK) {
        err = family_split(call->ctx, call->txn, call->org, &split, &call->result->first_seq);
    }
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err layout_service_split_family_answer(struct layout_service_split_family_call *call)
{
    struct split_family_response_view view = {.has_family = true, .has_remaining = true};
    struct family_split_view facts;
    struct event event;
    enum err err = log_read(call->txn, call->result->org, call->result->first_seq, &event);

    if (err == OK) {
        err = family_split_of_event(&event, &facts);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    view.family = facts.family;
    view.remaining = facts.remaining;
    view.event_id = event.id;
    split_family_response_view_write(&view, call->body);
    return OK;
}

enum err
layout_service_get_nearest_families_read(struct layout_service_get_nearest_families_call *call)
{
    size_t max = call->request->max_families;
    struct family_near near[FAMILY_NEAREST_MAX];
    struct nearest_family_view view;
    struct family_document document;
    size_t count = 0;
    enum err err = family_document_read(call->txn, call->org,
                                        slice_text(call->request->document_id), &document);

    if (err == ERR_NOT_FOUND) {
        return fault_say(call->ctx->fault, err,
                         "document_id: not found in this organisation; expected the document_id "
                         "of an ingested document");
    }
    if (err == OK) {
        err = family_nearest(call->txn, call->org, &document,
                             max == 0 ? FAMILY_NEAREST_DEFAULT : max, near, &count);
    }
    for (size_t i = 0; i < count && err == OK; i++) {
        err = family_near_view(call->ctx->arena, call->txn, call->org, &document, &near[i], &view);
        if (err == OK) {
            nearest_family_view_put(&view, GET_NEAREST_FAMILIES_RESPONSE_FAMILIES_FIELD,
                                    call->body);
        }
    }
    if (err == OK) {
        wire_put_varint_given(call->body, GET_NEAREST_FAMILIES_RESPONSE_FEATURE_COUNT_FIELD,
                              document.sketch.count);
    }
    return err;
}
