/*
 * http_exchange.c: handles the request of an exchange as it arrives, and selects the protocol that serves it.
 */
#include "server/http/http_cors.h"
#include "server/http/http_protocol.h"
#include "store/base/base64.h"
#include "store/base/fault_point.h"

#include <stdlib.h>

struct http_server {
    struct call_server *calls; /* borrowed */
    const struct http_protocol *const *protocols;
    size_t protocol_count;
    const struct http_cors *cors;
};

/* A call before a protocol is selected. */
static const struct call_protocol http_call_protocol = {HTTP_CALL_FUNCTIONS};

enum err http_server_new(struct call_server *calls, const struct http_protocol *const *protocols,
                         size_t count, const struct http_cors *cors,
                         struct http_server **ret_server)
{
    struct http_server *server = calloc(1, sizeof(*server));

    if (server == NULL) {
        return ERR_MEMORY;
    }
    *server = (struct http_server){calls, protocols, count, cors};
    *ret_server = server;
    return OK;
}

struct call_server *http_server_calls(const struct http_server *server)
{
    return server->calls;
}

const struct http_cors *http_server_cors(const struct http_server *server)
{
    return server->cors;
}

void http_server_free(struct http_server *server)
{
    free(server);
}

struct call_core *http_open(struct http_server *server, const struct http_version *version,
                            void *stream)
{
    struct call_core *core = call_open(server->calls, &http_call_protocol);

    if (core != NULL) {
        core->stream = stream;
        http_exchange_of(core)->server = server;
        http_exchange_of(core)->version = version;
    }
    return core;
}

enum err http_adopt(struct call_core *core, struct http_server *server,
                    const struct http_version *version)
{
    struct http_exchange *exchange =
        FAULT("http.adopt") ? NULL : arena_calloc(&core->arena, 1, sizeof(*exchange));

    if (exchange == NULL) {
        return ERR_MEMORY;
    }
    exchange->server = server;
    exchange->version = version;
    core->state = exchange;
    core->protocol = &http_call_protocol;
    return OK;
}

static enum http_verb http_verb_of(struct slice method)
{
    static const struct {
        struct slice name;
        enum http_verb verb;
    } verbs[] = {
        {{(const uint8_t *)"POST", 4}, HTTP_POST},
        {{(const uint8_t *)"GET", 3}, HTTP_GET},
        {{(const uint8_t *)"HEAD", 4}, HTTP_HEAD},
        {{(const uint8_t *)"OPTIONS", 7}, HTTP_OPTIONS},
        {{(const uint8_t *)"PUT", 3}, HTTP_PUT},
        {{(const uint8_t *)"PATCH", 5}, HTTP_PATCH},
        {{(const uint8_t *)"DELETE", 6}, HTTP_DELETE},
    };

    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (slice_equal(method, verbs[i].name)) {
            return verbs[i].verb;
        }
    }
    return HTTP_OTHER_VERB;
}

void http_take_line(struct call_core *core, const struct http_line *line)
{
    struct http_exchange *exchange = http_exchange_of(core);
    struct slice target = {NULL, 0};
    const uint8_t *mark = NULL;

    exchange->verb = http_verb_of(line->method);
    if (!arena_copy(&core->arena, call_without_prefix(core->server, line->target), &target)) {
        exchange->no_memory = true;
        return;
    }
    mark = target.size > 0 ? memchr(target.data, '?', target.size) : NULL;
    exchange->path = target;
    if (mark != NULL) {
        exchange->path.size = (size_t)(mark - target.data);
        exchange->query = slice_after(target, exchange->path.size + 1);
    }
    core->call.method = call_find_method(core->server, exchange->path);
}

void http_take_field(struct call_core *core, struct slice name, struct slice value)
{
    if (call_take_metadata(core, name, value) != OK) {
        http_exchange_of(core)->no_memory = true;
    }
}

/* Gives the request to the first protocol that selects it. */
static void http_select(struct call_core *core)
{
    struct http_exchange *exchange = http_exchange_of(core);
    const struct http_server *server = exchange->server;

    for (size_t i = 0; i < server->protocol_count; i++) {
        const struct http_protocol *protocol = server->protocols[i];

        if (!protocol->selects(core)) {
            continue;
        }
        exchange->state = arena_calloc(&core->arena, 1, protocol->state_bytes + 1);
        if (exchange->state == NULL) {
            http_answer_text(core, 503, err_text(ERR_MEMORY));
            return;
        }
        exchange->protocol = protocol;
        protocol->start(core);
        return;
    }
    http_answer_text(core, 404, "path: unknown; expected /package.Service/Method\n");
}

void http_take_head_end(struct call_core *core, const struct http_body *body)
{
    struct http_exchange *exchange = http_exchange_of(core);

    exchange->body = *body;
    if (exchange->no_memory) {
        http_answer_text(core, 503, err_text(ERR_MEMORY));
    } else if (!http_cors_answer_preflight(core)) {
        http_select(core);
    }
}

/* Gives bytes of the body to the protocol; returns how many it took. */
static size_t http_pass_body(struct call_core *core, struct slice bytes)
{
    const struct http_protocol *protocol = http_exchange_of(core)->protocol;
    size_t taken = bytes.size;

    if (!core->ended && protocol != NULL && protocol->take_body != NULL) {
        taken = protocol->take_body(core, bytes);
    }
    return core->ended ? bytes.size : taken;
}

size_t http_take_body(struct call_core *core, struct slice bytes)
{
    size_t taken = 0;

    if (core->held.size > 0 && !core->ended) {
        call_hold_bytes(core, bytes);
        return 0;
    }
    taken = http_pass_body(core, bytes);
    if (taken < bytes.size) {
        call_hold_bytes(core, slice_after(bytes, taken));
    }
    return taken;
}

/* Passes the end of the request, once all bytes before it were taken. */
static void http_pass_end(struct call_core *core)
{
    struct http_exchange *exchange = http_exchange_of(core);

    if (core->ended || exchange->protocol == NULL || !call_end_is_due(core)) {
        return;
    }
    if (!exchange->end_passed && exchange->protocol->take_end != NULL) {
        exchange->end_passed = true;
        exchange->protocol->take_end(core);
    }
    if (!core->ended && call_end_is_due(core)) {
        call_take_end(core);
    }
}

void http_take_end(struct call_core *core)
{
    core->request_end = true;
    http_pass_end(core);
}

void http_go_on(struct call_core *core)
{
    size_t taken = 0;

    if (core->stream == NULL || call_input_waits(core)) {
        return;
    }
    if (core->held.size > 0 && !core->full) {
        core->input.progress_us = core->server->now_us;
        taken = http_pass_body(core, buffer_slice(&core->held));
        call_drop_held(core, taken);
        http_exchange_of(core)->version->consumed(core->stream, taken);
    }
    http_pass_end(core);
}

struct slice http_field(const struct call_core *core, struct slice name)
{
    struct slice found = {NULL, 0};

    /* The list is newest first. */
    for (const struct call_metadata_field *at = core->metadata; at != NULL; at = at->next) {
        if (slice_equal(at->name, name)) {
            found = at->value;
        }
    }
    return found;
}

struct slice http_content_type(const struct call_core *core)
{
    struct slice type = http_field(core, SLICE("content-type"));
    const uint8_t *mark = type.size > 0 ? memchr(type.data, ';', type.size) : NULL;

    if (mark != NULL) {
        type.size = (size_t)(mark - type.data);
    }
    while (type.size > 0 && (type.data[type.size - 1] == ' ' || type.data[type.size - 1] == '\t')) {
        type.size--;
    }
    return type;
}

bool http_list_has_gzip(struct slice list)
{
    while (list.size > 0) {
        const uint8_t *comma = memchr(list.data, ',', list.size);
        size_t size = comma != NULL ? (size_t)(comma - list.data) : list.size;
        struct slice member = slice_of(list.data, size);

        while (member.size > 0 && member.data[0] == ' ') {
            member = slice_after(member, 1);
        }
        if (slice_starts_with(member, SLICE("gzip")) &&
            !slice_equal(slice_after(member, 4), SLICE(";q=0"))) {
            return true;
        }
        list = slice_after(list, comma != NULL ? size + 1 : size);
    }
    return false;
}

bool http_read_value(struct arena *arena, struct slice name, struct slice sent,
                     struct slice *ret_value)
{
    uint8_t *bytes = NULL;
    size_t size = 0;

    if (name.size < 4 || memcmp(name.data + name.size - 4, "-bin", 4) != 0) {
        *ret_value = sent;
        return true;
    }
    bytes = arena_alloc(arena, sent.size + 1);
    if (bytes == NULL || !base64_read(sent, BASE64_STANDARD | BASE64_PADDED, bytes, &size)) {
        return false;
    }
    *ret_value = slice_of(bytes, size);
    return true;
}
