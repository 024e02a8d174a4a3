/*
 * http_plain.c: plain requests: found by their path, and answered at once and whole. A body is
 * ignored.
 */
#include "server/http/http_protocol.h"
#include "store/base/assert.h"

_Static_assert(PLAIN_FIELDS_MAX + 1 <= HTTP_OWN_FIELDS_MAX,
               "a plain response has room, with its type");

static bool plain_selects(const struct call_core *core)
{
    return core->call.method == NULL &&
           plain_find(core->server->config.plain, http_exchange_of(core)->path) != NULL;
}

static void plain_answer(struct call_core *core)
{
    const struct plain_table *table = core->server->config.plain;
    const struct plain_handler *handler = plain_find(table, http_exchange_of(core)->path);
    const struct plain_request request = {
        .arena = &core->arena,
        .path = http_exchange_of(core)->path,
        .if_none_match = http_field(core, SLICE("if-none-match")),
        .accepts_gzip = http_list_has_gzip(http_field(core, SLICE("accept-encoding"))),
        .authorization = core->call.authorization,
        .authorization_repeated = core->call.authorization_repeated,
        .peer = core->call.peer,
    };
    struct plain_response response = {.status = 500};

    handler->answer(table->user, &request, &response);
    ASSERT(response.field_count <= PLAIN_FIELDS_MAX);
    for (uint32_t i = 0; i < response.field_count; i++) {
        http_answer_field(core, response.fields[i].name, response.fields[i].value);
    }
    http_answer(core, response.status, response.content_type, response.body);
}

static void plain_start(struct call_core *core)
{
    enum http_verb verb = http_exchange_of(core)->verb;

    if (verb != HTTP_GET && verb != HTTP_HEAD) {
        http_answer_field(core, SLICE("allow"), SLICE("GET, HEAD"));
        http_answer_text(core, 405, "method: not allowed; expected GET or HEAD\n");
        return;
    }
    plain_answer(core);
}

const struct http_protocol http_plain_protocol = {.selects = plain_selects, .start = plain_start};
