/*
 * rest.h: aliases of methods in plain JSON (server/codec/proto_json.h), by google.api.http: paths with
 * values, query parameters, a body. Errors have the form of Connect's. A request of such a path becomes
 * a call like any other, so the same rules for tokens, roles and idempotency keys apply.
 */
#ifndef ERRATA_SERVER_REST_REST_H
#define ERRATA_SERVER_REST_REST_H

#include "server/http/http_protocol.h"

/* Maximum segments of a path. */
#define REST_SEGMENTS_MAX 6
/* Maximum parameters of a query; a list has its name once for each element. */
#define REST_PARAMETERS_MAX 64

extern const struct http_protocol rest_protocol;

#endif
