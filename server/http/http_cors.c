/*
 * http_cors.c: see http_cors.h.
 */
#include "server/http/http_cors.h"

#include "server/http/http_protocol.h"

#define CORS_METHODS "POST, GET"
/* Fields that clients of Connect and gRPC-Web send, and the metadata that this server reads. */
#define CORS_FIELDS                                                                                \
    "content-type, connect-protocol-version, connect-timeout-ms, grpc-timeout, x-grpc-web, "       \
    "x-user-agent, authorization, idempotency-key"
#define CORS_MAX_AGE_S "7200"
#define CORS_EXPOSED "grpc-status, grpc-message, grpc-status-details-bin"
#define CORS_VARY "origin, access-control-request-method, access-control-request-headers"
#define TRAILER_PREFIX "trailer-"

/* Returns whether the origin is the server's own: a scheme and the request's host. */
static bool cors_is_own(struct slice origin, struct slice host)
{
    struct slice http = SLICE("http://");
    struct slice https = SLICE("https://");
    size_t scheme = 0;

    if (slice_starts_with(origin, http)) {
        scheme = http.size;
    } else if (slice_starts_with(origin, https)) {
        scheme = https.size;
    }
    return scheme > 0 && host.size > 0 && slice_equal(slice_after(origin, scheme), host);
}

static bool cors_allows(const struct call_core *core, struct slice origin)
{
    const struct http_cors *cors = http_server_cors(http_exchange_of(core)->server);

    for (size_t i = 0; i < cors->count; i++) {
        if (slice_equal(origin, cors->origins[i])) {
            return true;
        }
    }
    return cors_is_own(origin, http_field(core, SLICE("host")));
}

bool http_cors_is_foreign(const struct call_core *core)
{
    struct slice origin = http_field(core, SLICE("origin"));

    return origin.size > 0 && !cors_allows(core, origin);
}

bool http_cors_answer_preflight(struct call_core *core)
{
    struct slice origin = http_field(core, SLICE("origin"));

    if (http_exchange_of(core)->verb != HTTP_OPTIONS || origin.size == 0 ||
        http_field(core, SLICE("access-control-request-method")).size == 0) {
        return false;
    }
    if (cors_allows(core, origin)) {
        http_answer_field(core, SLICE("access-control-allow-origin"), origin);
        http_answer_field(core, SLICE("access-control-allow-methods"), SLICE(CORS_METHODS));
        http_answer_field(core, SLICE("access-control-allow-headers"), SLICE(CORS_FIELDS));
        http_answer_field(core, SLICE("access-control-max-age"), SLICE(CORS_MAX_AGE_S));
    }
    http_answer_field(core, SLICE("vary"), SLICE(CORS_VARY));
    http_answer(core, 204, SLICE(""), SLICE(""));
    return true;
}

/* Returns the names of the fields that a page may read. */
static struct slice cors_exposed(struct call_core *core, const struct http_head *head)
{
    struct buffer names;

    buffer_init(&names, &core->arena, 256);
    buffer_append(&names, SLICE(CORS_EXPOSED));
    for (uint32_t i = 0; i < head->field_count; i++) {
        if (slice_starts_with(head->fields[i].name, SLICE(TRAILER_PREFIX))) {
            buffer_append(&names, SLICE(", "));
            buffer_append(&names, head->fields[i].name);
        }
    }
    return buffer_ok(&names) ? buffer_slice(&names) : SLICE(CORS_EXPOSED);
}

void http_cors_add(struct call_core *core, struct http_head *head)
{
    struct slice origin = http_field(core, SLICE("origin"));

    if (origin.size == 0 || http_exchange_of(core)->verb == HTTP_OPTIONS) {
        return;
    }
    http_add(head, SLICE("vary"), SLICE("origin"));
    if (cors_allows(core, origin)) {
        http_add(head, SLICE("access-control-allow-origin"), origin);
        http_add(head, SLICE("access-control-expose-headers"), cors_exposed(core, head));
    }
}
