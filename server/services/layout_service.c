/*
 * layout_service.c: LayoutService/ComputeFingerprint: a pure function of the request, computed in the
 * stage before.
 */
#include "server/domain/layouts/fingerprint.h"
#include "server/services/service.h"

#include "store/base/wire.h"

#include <errata/v1/layout_service.fields.h>
#include <errata/v1/layout_service.handlers.h>

enum err
layout_service_compute_fingerprint_prepare(struct service *service,
                                           const Errata__V1__ComputeFingerprintRequest *request,
                                           void **ret_prepared)
{
    struct layout_fingerprint *fingerprint =
        arena_calloc(service->ctx->arena, 1, sizeof(*fingerprint));
    enum err err = OK;

    if (fingerprint == NULL) {
        return ERR_MEMORY;
    }
    err = fingerprint_compute(service->ctx, slice_text(request->metadata_json), fingerprint);
    if (err == OK) {
        *ret_prepared = fingerprint;
    }
    return err;
}

enum err
layout_service_compute_fingerprint_read(struct service *service, struct store_txn *txn,
                                        const Errata__V1__ComputeFingerprintRequest *request,
                                        void *prepared, struct reply *reply)
{
    const struct layout_fingerprint *fingerprint = prepared;

    (void)service;
    (void)txn;
    (void)request;
    wire_put_bytes(reply->body, COMPUTE_FINGERPRINT_RESPONSE_CANONICAL_JSON_FIELD,
                   fingerprint->canonical_json);
    wire_put_bytes(reply->body, COMPUTE_FINGERPRINT_RESPONSE_LAYOUT_FINGERPRINT_FIELD,
                   slice_of(fingerprint->text, sizeof(fingerprint->text)));
    return buffer_ok(reply->body) ? OK : ERR_MEMORY;
}
