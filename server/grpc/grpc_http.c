/*
 * grpc_http.c: requests that are not gRPC on HTTP/2 connections: each becomes an exchange of
 * server/http, since only the content type, possibly the last field, distinguishes them.
 */
#include "server/grpc/grpc_internal.h"
#include "store/base/assert.h"

/* Fields that HTTP/2 adds to a response: the status and the length. */
#define GRPC_HTTP_OWN_FIELDS 2
_Static_assert(HTTP_FIELDS_MAX + GRPC_HTTP_OWN_FIELDS <= H2_FIELDS_MAX,
               "the fields of a response fit");

/* Hands the response's head to HTTP/2. */
static void grpc_respond_http(struct call_core *core, struct h2_stream *stream)
{
    struct h2_field fields[H2_FIELDS_MAX];
    struct http_head head;
    size_t count = 0;

    if (http_take_head(core, &head) != OK) {
        h2_stream_reset(stream, H2_INTERNAL_ERROR);
        return;
    }
    fields[count++] =
        (struct h2_field){SLICE(":status"), arena_printf(&core->arena, "%u", head.status)};
    for (uint32_t i = 0; i < head.field_count; i++) {
        fields[count++] = (struct h2_field){head.fields[i].name, head.fields[i].value};
    }
    if (head.has_length && http_status_has_length(head.status)) {
        fields[count++] =
            (struct h2_field){SLICE("content-length"),
                              arena_printf(&core->arena, "%llu", (unsigned long long)head.length)};
    }
    if (fields[0].value.size == 0 || fields[count - 1].value.size == 0) {
        h2_stream_reset(stream, H2_INTERNAL_ERROR); /* out of memory */
        return;
    }
    if (core->ended && !h2_stream_request_ended(stream)) {
        h2_stream_linger(stream);
    }
    h2_stream_respond(stream, fields, count,
                      !head.no_body && !(head.has_length && head.length == 0));
}

static void grpc_on_http_output(void *user)
{
    struct h2_stream *stream = user;
    struct call_core *core = h2_stream_user(stream);

    if (core->full) {
        h2_stream_want_drained(stream);
    }
    if (http_head_is_due(core)) {
        grpc_respond_http(core, stream);
    } else {
        h2_stream_resume(stream);
    }
}

static void grpc_on_http_consumed(void *user, size_t bytes)
{
    h2_stream_consume(user, bytes);
}

static const struct http_version grpc_http_version = {
    .is_http2 = true,
    .output = grpc_on_http_output,
    .consumed = grpc_on_http_consumed,
};

/* Returns the body that the fields announce. */
static struct http_body grpc_http_body(const struct call_core *core, const struct h2_stream *stream)
{
    struct http_body body = {.has_body = !h2_stream_request_ended(stream)};

    for (const struct call_metadata_field *at = core->metadata; at != NULL; at = at->next) {
        if (!slice_equal(at->name, SLICE("content-length"))) {
            continue;
        }
        body.has_length = true;
        body.length = 0;
        /* HTTP/2 has already checked that it is a number. */
        for (size_t i = 0; i < at->value.size && body.length < UINT32_MAX; i++) {
            body.length = body.length * 10 + (uint64_t)(at->value.data[i] - '0');
        }
    }
    return body;
}

void grpc_begin_http(struct call_core *core, struct http_server *http)
{
    const struct grpc_call grpc = *grpc_call_of(core);
    struct h2_stream *stream = grpc_stream_of(core);
    const struct method_info *method = core->call.method;
    const struct http_line line = {.method = grpc.verb.size > 0 ? grpc.verb : SLICE("POST"),
                                   .target = method != NULL ? method->path : grpc.path};
    struct http_body body = grpc_http_body(core, stream);

    if (grpc.no_memory || http_adopt(core, http, &grpc_http_version) != OK) {
        core->ended = true;
        core->server->stats.calls_refused++;
        h2_stream_reset(stream, H2_REFUSED_STREAM);
        return;
    }
    if (slice_equal(line.method, SLICE("GET")) && body.length == 0) {
        body.has_body = false; /* an empty DATA frame may end it */
    }
    http_take_line(core, &line);
    http_take_field(core, SLICE("host"), grpc.authority);
    http_take_head_end(core, &body);
}

void grpc_take_http_body(struct call_core *core, struct h2_stream *stream, struct slice bytes)
{
    h2_stream_consume(stream, http_take_body(core, bytes));
}
