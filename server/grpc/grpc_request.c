/*
 * grpc_request.c: a request's header fields, and HTTP responses to requests that are not gRPC
 * calls.
 */
#include "server/grpc/grpc_internal.h"
#include "server/grpc/grpc_text.h"

#define GRPC_FIELD(name, value)                                                                    \
    {                                                                                              \
        {(const uint8_t *)(name), sizeof(name) - 1},                                               \
        {                                                                                          \
            (const uint8_t *)(value), sizeof(value) - 1                                            \
        }                                                                                          \
    }

#define GRPC_TEXT_TYPE GRPC_FIELD("content-type", "text/plain; charset=utf-8")

/* HTTP responses for a peer that does not speak gRPC. */
static const struct h2_field grpc_not_post[] = {
    GRPC_FIELD(":status", "405"),
    GRPC_TEXT_TYPE,
    GRPC_FIELD("allow", "POST"),
};
static const struct h2_field grpc_not_grpc[] = {
    GRPC_FIELD(":status", "415"),
    GRPC_TEXT_TYPE,
    GRPC_FIELD("accept-post", "application/grpc, application/grpc+proto"),
};
static const struct h2_field grpc_fields_too_large[] = {
    GRPC_FIELD(":status", "431"),
    GRPC_TEXT_TYPE,
};

#define GRPC_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define GRPC_STRINGIFY(number) #number
#define GRPC_NUMBER(number) GRPC_STRINGIFY(number)
#define GRPC_LIST_KIB 16
_Static_assert(GRPC_LIST_KIB * 1024 == H2_HEADER_LIST_BYTES_MAX, "the texts name the limit");
#define GRPC_TOO_LARGE_TEXT                                                                        \
    "metadata: the request's header fields are too large; expected at most " GRPC_NUMBER(          \
        GRPC_LIST_KIB) " KiB, counting name, value and 32 bytes of each"

/* Returns the protocol selected by the content type. */
static enum grpc_content grpc_content_of(struct slice value)
{
    struct slice prefix = SLICE("application/grpc");
    struct slice rest = {NULL, 0};

    if (!slice_starts_with(value, prefix)) {
        return GRPC_CONTENT_OTHER;
    }
    rest = slice_after(value, prefix.size);
    if (slice_starts_with(rest, SLICE("+proto"))) {
        rest = slice_after(rest, SLICE("+proto").size);
    }
    return rest.size == 0 || rest.data[0] == ';' || rest.data[0] == ' ' ? GRPC_CONTENT_GRPC
                                                                        : GRPC_CONTENT_OTHER;
}

static enum grpc_encoding grpc_encoding_of(struct slice value)
{
    if (slice_equal(value, SLICE("gzip"))) {
        return GRPC_GZIP;
    }
    return slice_equal(value, SLICE("identity")) ? GRPC_IDENTITY : GRPC_ENCODING_UNKNOWN;
}

static void grpc_take_timeout(struct call_core *core, struct slice value)
{
    if (grpc_timeout_parse(value, &grpc_call_of(core)->timeout_us) != OK) {
        grpc_call_of(core)->timeout_is_bad = true;
    }
}

/* Keeps a pseudo-field that a request may need if it is not gRPC. */
static void grpc_keep(struct call_core *core, struct slice value, struct slice *ret_copy)
{
    if (!h2_stream_is_over_limit(grpc_stream_of(core)) &&
        !arena_copy(&core->arena, value, ret_copy)) {
        grpc_call_of(core)->no_memory = true;
    }
}

/* Takes fields that the transport uses; false for the others. */
static bool grpc_take_known_field(struct call_core *core, struct slice name, struct slice value)
{
    struct grpc_call *grpc = grpc_call_of(core);

    switch (name.size) {
    case 2:
        return slice_equal(name, SLICE("te"));
    case 5:
        if (slice_equal(name, SLICE(":path"))) {
            value = call_without_prefix(core->server, value);
            core->call.method = call_find_method(core->server, value);
            if (core->call.method == NULL) {
                grpc_keep(core, value, &grpc->path);
            }
            return true;
        }
        return false;
    case 7:
        if (slice_equal(name, SLICE(":method"))) {
            grpc->is_post = slice_equal(value, SLICE("POST"));
            grpc->is_head = slice_equal(value, SLICE("HEAD"));
            if (!grpc->is_post) {
                grpc_keep(core, value, &grpc->verb);
            }
            return true;
        }
        return slice_equal(name, SLICE(":scheme"));
    case 10:
        if (slice_equal(name, SLICE(":authority"))) {
            grpc_keep(core, value, &grpc->authority);
            return true;
        }
        return false;
    case 12:
        if (slice_equal(name, SLICE("content-type"))) {
            grpc->content = grpc_content_of(value);
            return true;
        }
        if (slice_equal(name, SLICE("grpc-timeout"))) {
            grpc_take_timeout(core, value);
            return true;
        }
        return false;
    case 13:
        if (slice_equal(name, SLICE("grpc-encoding"))) {
            grpc->encoding = grpc_encoding_of(value);
            return true;
        }
        return false;
    case 20:
        if (slice_equal(name, SLICE("grpc-accept-encoding"))) {
            core->accepts_gzip = grpc_list_has(value, SLICE("gzip"));
            return true;
        }
        return false;
    default:
        return false;
    }
}

void grpc_take_field(struct call_core *core, struct slice name, struct slice value)
{
    bool known = grpc_take_known_field(core, name, value);

    /* A known field before the content type may be another protocol's. */
    if (known && (grpc_call_of(core)->content == GRPC_CONTENT_GRPC || name.data[0] == ':' ||
                  name.size == SLICE("te").size)) {
        return;
    }
    if (h2_stream_is_over_limit(grpc_stream_of(core))) {
        return;
    }
    if (call_take_metadata(core, name, grpc_trim(value)) != OK) {
        grpc_call_of(core)->no_memory = true;
    }
}

/* Responds with an HTTP status and a text that states what was expected; HEAD gets no text. */
static void grpc_answer_http(struct call_core *core, const struct h2_field *fields, size_t count,
                             const char *text)
{
    core->server->stats.calls_refused++;
    core->ended = true;
    grpc_call_of(core)->responded = true;
    h2_stream_respond_text(grpc_stream_of(core), fields, count,
                           grpc_call_of(core)->is_head ? slice_of(NULL, 0) : slice_text(text));
}

/* Responds to a request that is not a gRPC call; false if it is one. */
static bool grpc_refuse_http(struct call_core *core)
{
    const struct grpc_call *grpc = grpc_call_of(core);

    if (grpc->content == GRPC_CONTENT_GRPC && grpc->is_post) {
        return false;
    }
    if (h2_stream_is_over_limit(grpc_stream_of(core))) {
        grpc_answer_http(core, grpc_fields_too_large, GRPC_COUNT(grpc_fields_too_large),
                         GRPC_TOO_LARGE_TEXT "\n");
    } else if (grpc->content != GRPC_CONTENT_GRPC) {
        grpc_answer_http(core, grpc_not_grpc, GRPC_COUNT(grpc_not_grpc),
                         "content-type: this port serves gRPC only; expected application/grpc or "
                         "application/grpc+proto\n");
    } else {
        grpc_answer_http(core, grpc_not_post, GRPC_COUNT(grpc_not_post),
                         "method: gRPC calls are POST; expected POST\n");
    }
    return true;
}

void grpc_take_head_end(struct call_core *core, struct http_server *http)
{
    struct grpc_call *grpc = grpc_call_of(core);

    if (grpc->content != GRPC_CONTENT_GRPC && http != NULL &&
        !h2_stream_is_over_limit(grpc_stream_of(core))) {
        grpc_begin_http(core, http);
        return;
    }
    grpc->envelopes.gzip = grpc->encoding == GRPC_GZIP;
    if (grpc_refuse_http(core)) {
        return;
    }
    if (h2_stream_is_over_limit(grpc_stream_of(core))) {
        call_refuse_err(core, ERR_TOO_LARGE, GRPC_TOO_LARGE_TEXT);
    } else if (core->call.method == NULL) {
        call_refuse_err(core, ERR_UNIMPLEMENTED, NULL);
    } else if (grpc->no_memory) {
        call_refuse_err(core, ERR_MEMORY, NULL);
    } else if (grpc->encoding == GRPC_ENCODING_UNKNOWN) {
        call_refuse_err(core, ERR_UNIMPLEMENTED,
                        "grpc-encoding: unsupported; expected identity or gzip");
    } else if (grpc->timeout_is_bad) {
        call_refuse_err(
            core, ERR_INVALID,
            "grpc-timeout: invalid; expected 1 to 8 digits and one of H, M, S, m, u, n");
    } else {
        call_start_within(core, grpc->timeout_us);
    }
}
