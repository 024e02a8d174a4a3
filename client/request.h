/*
 * request.h: the header fields of a request: HTTP/2's, gRPC's (grpc/doc/PROTOCOL-HTTP2.md) and the
 * caller's metadata. Internal to the client.
 */
#ifndef ERRATA_CLIENT_REQUEST_H
#define ERRATA_CLIENT_REQUEST_H

#include "client/call.h"
#include "client/header.h"

#include <nghttp2/nghttp2.h>

/* Maximum fields that the channel adds: four pseudo ones, te, content-type, user-agent,
 * authorization, grpc-timeout, grpc-encoding, grpc-accept-encoding. */
#define CLIENT_OWN_FIELDS_MAX 11

/* The fields, and the memory from which their values are borrowed until they are submitted. */
struct client_request_fields {
    nghttp2_nv list[CLIENT_OWN_FIELDS_MAX + CLIENT_METADATA_MAX];
    size_t count;
    char timeout[CLIENT_TIMEOUT_BYTES];
};

/* Fills zeroed `fields`, which borrow from themselves, the configuration, the call's arena and the
 * options. ERR_INVALID for metadata that may not be sent, ERR_MEMORY. */
MUST_CHECK enum err client_request_build(const struct client_session_config *config,
                                         struct client_call *call,
                                         const struct client_options *options,
                                         struct client_request_fields *fields);
/* Returns a copy of the fields in one block of the heap, which the caller frees; NULL without
 * memory. */
MUST_CHECK nghttp2_nv *client_request_keep(const struct client_request_fields *fields);

#endif
