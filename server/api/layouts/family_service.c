/*
 * family_service.c: LayoutService's reads of layout families.
 */
#include "server/domain/layouts/families.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"
#include "store/base/wire.h"

#include <errata/v1/layout_service.fields.h>
#include <errata/v1/layout_service.handlers.h>

enum err layout_service_list_families_read(struct layout_service_list_families_call *call)
{
    struct family_record family;
    enum err err = family_list_begin(call->txn, call->org, call->page);

    while (err == OK) {
        err = family_list_next(call->page, &family);
        if (err == OK) {
            struct layout_family_view view = family_view_of(&family);

            layout_family_view_put(&view, LIST_FAMILIES_RESPONSE_FAMILIES_FIELD, call->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err layout_service_get_family_read(struct layout_service_get_family_call *call)
{
    struct layout_family_view view;
    struct family_record family;
    struct buffer run = {0};
    struct uuid id;
    uint64_t seq = 0;
    enum err err = OK;

    if (UNEXPECTED(!uuid_parse(slice_text(call->request->layout_family_id), &id))) {
        return ERR_INTERNAL; /* check_request refuses it */
    }
    err = family_find(call->txn, call->org, id, &seq, &family);
    if (err == ERR_NOT_FOUND) {
        return fault_say(call->ctx->fault, err,
                         "layout_family_id: not found in this organisation; expected the "
                         "layout_family_id of a document or the id of a listed family");
    }
    buffer_init(&run, call->ctx->arena, 256);
    if (err == OK) {
        err = family_put_fingerprints(call->txn, call->org, seq, &run);
    }
    if (err != OK) {
        return err;
    }
    view = family_view_of(&family);
    view.layout_fingerprints.run = buffer_slice(&run);
    layout_family_view_put(&view, GET_FAMILY_RESPONSE_FAMILY_FIELD, call->body);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
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
