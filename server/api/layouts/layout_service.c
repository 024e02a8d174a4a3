/*
 * layout_service.c: LayoutService's reads: documents and profiles; and ComputeFingerprint, a pure
 * function of the request, computed in the stage before the read. Ingestion is in layout_ingest.c.
 */
#include "server/domain/fingerprint/fingerprint.h"
#include "server/domain/layouts/documents.h"
#include "server/domain/layouts/families.h"
#include "server/domain/layouts/profiles.h"
#include "server/pipeline/id_filter.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"
#include "store/base/wire.h"

#include <errata/v1/layout_service.fields.h>
#include <errata/v1/layout_service.handlers.h>

static enum err find_document(const struct service *service, struct store_txn *txn,
                              const Errata__V1__GetDocumentRequest *request,
                              struct event *ret_event)
{
    struct org_id org = service->principal->org;
    struct uuid id;

    if (request->key_case == ERRATA__V1__GET_DOCUMENT_REQUEST__KEY_DOCUMENT_ID &&
        request->document_id[0] != '\0') {
        return document_read(txn, org, slice_text(request->document_id), ret_event);
    }
    if (request->key_case == ERRATA__V1__GET_DOCUMENT_REQUEST__KEY_ID &&
        uuid_parse(slice_text(request->id), &id)) {
        return document_read_by_id(txn, org, id, ret_event);
    }
    fault_add(service->ctx->fault, SLICE("key"),
              "missing; expected document_id, or the server's id of the document");
    return ERR_INVALID;
}

enum err layout_service_get_document_read(struct layout_service_get_document_call *call)
{
    const struct document_detail detail = {.first_page_alone = false};
    struct document_view document;
    struct event event;
    enum err err = find_document(call->service, call->txn, call->request, &event);

    if (err == ERR_NOT_FOUND) {
        return fault_say(call->ctx->fault, err,
                         "document: not found in this organisation; expected the document_id or id "
                         "of an ingested document");
    }
    if (err != OK) {
        return err;
    }
    err = document_of_event(&event, detail, &document);
    if (err == OK) {
        err = document_set_family(call->txn, call->org, &document);
    }
    if (err == OK) {
        document_view_put(&document, GET_DOCUMENT_RESPONSE_DOCUMENT_FIELD, call->body);
    }
    return err;
}

/* Finds the family by which a list is filtered; NULL for the empty id. ERR_NOT_FOUND if the
 * organisation does not have it; the list is then empty. */
static enum err find_family(struct store_txn *txn, struct org_id org, const char *text,
                            struct family_members *members,
                            const struct family_members **ret_family)
{
    struct family_record family;
    struct uuid id;
    uint64_t seq = 0;
    enum err err = OK;

    *ret_family = NULL;
    if (text[0] == '\0') {
        return OK;
    }
    if (UNEXPECTED(!uuid_parse(slice_text(text), &id))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = family_find(txn, org, id, &seq, &family);
    if (err == OK) {
        family_members_of(seq, &family, members);
        *ret_family = members;
    }
    return err;
}

enum err layout_service_list_documents_read(struct layout_service_list_documents_call *call)
{
    struct document_list list = {
        .org = call->org,
        .layout_fingerprint = slice_text(call->request->layout_fingerprint),
        .page = call->page,
    };
    struct family_members members;
    struct document_view document;
    enum err err = OK;

    if (list.layout_fingerprint.size > 0 && call->request->layout_family_id[0] != '\0') {
        fault_add(call->ctx->fault, SLICE("layout_family_id"),
                  "given with layout_fingerprint; expected one of the two");
        return ERR_INVALID;
    }
    err =
        find_family(call->txn, call->org, call->request->layout_family_id, &members, &list.family);
    if (err == OK) {
        err = document_list_begin(call->ctx->arena, call->txn, &list);
    }
    while (err == OK) {
        err = document_list_next(call->txn, &list, &document);
        if (err == OK) {
            document_view_put(&document, LIST_DOCUMENTS_RESPONSE_DOCUMENTS_FIELD, call->body);
        }
    }
    document_list_end(&list);
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err put_profile(struct arena *arena, const struct profile *profile, uint32_t field,
                            struct buffer *body)
{
    struct slice bytes = {NULL, 0};
    enum err err = profile_encode(arena, profile, &bytes);

    if (err == OK) {
        wire_put_bytes(body, field, bytes);
    }
    return err;
}

enum err layout_service_get_profile_read(struct layout_service_get_profile_call *call)
{
    struct profile profile;
    enum err err = profile_find(call->ctx->arena, call->txn, call->org,
                                slice_text(call->request->layout_fingerprint), &profile);

    if (err == ERR_NOT_FOUND) {
        return fault_say(call->ctx->fault, err,
                         "layout_fingerprint: not found in this organisation; expected the layout "
                         "of an ingested document");
    }
    return err != OK ? err
                     : put_profile(call->ctx->arena, &profile, GET_PROFILE_RESPONSE_PROFILE_FIELD,
                                   call->body);
}

enum err layout_service_list_profiles_read(struct layout_service_list_profiles_call *call)
{
    struct profile_list list = {.org = call->org, .page = call->page};
    struct family_members members;
    struct profile profile;
    enum err err = OK;

    if (UNEXPECTED(!profile_order_from_wire((int32_t)call->request->order, &list.order))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = id_filter_read_hex(call->service, "layout_fingerprint_prefix",
                             call->request->layout_fingerprint_prefix, SHA256_BYTES,
                             &list.fingerprint_prefix);
    if (err == OK) {
        err = find_family(call->txn, call->org, call->request->layout_family_id, &members,
                          &list.family);
    }
    if (err == OK) {
        err = profile_list_begin(call->txn, &list);
    }
    while (err == OK) {
        err = profile_list_next(call->ctx->arena, call->txn, &list, &profile);
        if (err == OK) {
            err = put_profile(call->ctx->arena, &profile, LIST_PROFILES_RESPONSE_PROFILES_FIELD,
                              call->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err
layout_service_compute_fingerprint_prepare(struct layout_service_compute_fingerprint_call *call)
{
    struct layout_fingerprint *fingerprint =
        arena_calloc(call->ctx->arena, 1, sizeof(*fingerprint));
    enum err err = OK;

    if (fingerprint == NULL) {
        return ERR_MEMORY;
    }
    err = fingerprint_compute(call->ctx, slice_text(call->request->metadata_json), fingerprint);
    if (err == OK) {
        call->prepared = fingerprint;
    }
    return err;
}

enum err
layout_service_compute_fingerprint_read(struct layout_service_compute_fingerprint_call *call)
{
    const struct layout_fingerprint *fingerprint = call->prepared;
    const struct compute_fingerprint_response_view response = {
        .canonical_json = fingerprint->canonical_json,
        .layout_fingerprint = slice_of(fingerprint->text, sizeof(fingerprint->text)),
    };

    compute_fingerprint_response_view_write(&response, call->body);
    return OK;
}
