/*
 * mcp_request.c: a POST to /mcp: its body is collected, read as one message, and answered at once,
 * or by a call of the services for tools/call.
 */
#include "server/call/status.h"
#include "server/codec/proto_json.h"
#include "server/http/http_cors.h"
#include "server/mcp/mcp_internal.h"
#include "store/base/assert.h"

/* The protocol's state of a call. */
struct mcp_call {
    uint32_t role; /* role of the token */
    struct buffer body;
    struct mcp_message message;
    const struct mcp_tool *tool; /* tool of the call; NULL: there is none */
};

static struct mcp_call *mcp_call_of(const struct call_core *core)
{
    return (struct mcp_call *)http_state(core);
}

static const struct mcp_server *mcp_server_of(const struct call_core *core)
{
    return (const struct mcp_server *)http_exchange_of(core)->protocol->user;
}

static bool mcp_selects(const struct call_core *core)
{
    return core->call.method == NULL && slice_equal(http_exchange_of(core)->path, SLICE(MCP_PATH));
}

/* Responds with JSON that was written before the call began. */
static void mcp_respond(struct call_core *core, unsigned status, const struct buffer *json)
{
    if (buffer_ok(json)) {
        http_answer(core, status, SLICE("application/json"), buffer_slice(json));
    } else {
        http_answer_text(core, 503, err_text(ERR_MEMORY));
    }
}

static void mcp_refuse_message(struct call_core *core, const struct mcp_problem *problem)
{
    const struct mcp_message *message = &mcp_call_of(core)->message;
    struct slice field = http_field(core, SLICE("mcp-protocol-version"));
    struct slice id = message->id.size > 0 ? message->id : SLICE("null");
    struct buffer json;

    core->server->stats.calls_refused++;
    buffer_init(&json, &core->arena, 512);
    mcp_write_error(problem, id, field.size > 0 ? field : message->version, &json);
    mcp_respond(core, problem->http_status, &json);
}

static void mcp_refuse_as(struct call_core *core, unsigned http_status, enum mcp_code code,
                          struct slice text)
{
    mcp_refuse_message(core, &(struct mcp_problem){http_status, code, text});
}

/* Responds to a request that is not a message; false if it may be one. */
static bool mcp_refuse_http(struct call_core *core)
{
    const struct http_exchange *exchange = http_exchange_of(core);

    if (http_cors_is_foreign(core)) {
        mcp_refuse_as(core, 403, MCP_DENIED,
                      SLICE("origin: not allowed; expected the server's own or one of "
                            "--cors-origin"));
        return true;
    }
    if (exchange->verb != HTTP_POST) {
        http_answer_field(core, SLICE("allow"), SLICE("POST"));
        http_answer_text(core, 405,
                         "method: not allowed; expected POST, since there are neither sessions nor "
                         "streams\n");
        return true;
    }
    if (!slice_equal(http_content_type(core), SLICE("application/json")) ||
        http_field(core, SLICE("content-encoding")).size > 0) {
        http_answer_field(core, SLICE("accept-post"), SLICE("application/json"));
        http_answer_text(core, 415,
                         "content-type: unsupported; expected application/json without an "
                         "encoding\n");
        return true;
    }
    return false;
}

/* Finds the role of the token; false if the request is refused. */
static bool mcp_authenticate(struct call_core *core)
{
    const struct plain_request request = {
        .arena = &core->arena,
        .path = http_exchange_of(core)->path,
        .authorization = core->call.authorization,
        .authorization_repeated = core->call.authorization_repeated,
        .peer = core->call.peer,
    };
    const struct mcp_server *server = mcp_server_of(core);
    struct fault fault;
    enum err err = OK;

    fault_init(&fault, &core->arena);
    err = server->find_role(server->user, &request, &fault, &mcp_call_of(core)->role);
    if (err == OK) {
        return true;
    }
    if (err == ERR_UNAUTHENTICATED) {
        http_answer_field(core, SLICE("www-authenticate"), SLICE("Bearer"));
    }
    mcp_refuse_as(core, err == ERR_UNAUTHENTICATED ? 401 : 503, MCP_DENIED,
                  fault.message.size > 0 ? fault.message : slice_text(err_text(err)));
    return false;
}

static void mcp_start(struct call_core *core)
{
    const struct http_body *body = &http_exchange_of(core)->body;

    if (mcp_refuse_http(core) || !mcp_authenticate(core)) {
        return;
    }
    if (body->length > MCP_REQUEST_BYTES_MAX) {
        mcp_refuse_as(core, 413, MCP_INVALID_REQUEST,
                      SLICE("body: too large; expected at most 1 MiB"));
        return;
    }
    buffer_init(&mcp_call_of(core)->body, &core->arena, (size_t)body->length);
    call_expect_message(core);
}

static size_t mcp_take_body(struct call_core *core, struct slice bytes)
{
    struct mcp_call *mcp = mcp_call_of(core);

    call_note_progress(core, bytes.size);
    if (mcp->body.size + bytes.size > MCP_REQUEST_BYTES_MAX) {
        mcp_refuse_as(core, 413, MCP_INVALID_REQUEST,
                      SLICE("body: too large; expected at most 1 MiB"));
    } else {
        buffer_append(&mcp->body, bytes);
    }
    return bytes.size;
}

static const struct mcp_tool *mcp_find_tool(struct slice name)
{
    for (uint32_t i = 0; i < mcp_tool_count; i++) {
        if (slice_equal(mcp_tools[i].name, name)) {
            return &mcp_tools[i];
        }
    }
    return NULL;
}

static enum err mcp_write_message(struct call_core *core, struct slice message, struct buffer *json)
{
    const struct proto_json_style style = {.indent = 0};
    const struct mcp_call *mcp = mcp_call_of(core);
    struct fault fault;
    struct ctx ctx = {.arena = json->arena, .fault = &fault};
    struct buffer content;
    enum err err = OK;

    fault_init(&fault, json->arena);
    buffer_init(&content, json->arena, message.size * 2);
    err = proto_json_write(&ctx, core->call.method->reply, message, &style, &content);
    if (err == OK) {
        mcp_write_result(mcp->message.id, mcp->tool, buffer_slice(&content), json);
    }
    return err;
}

static const struct call_protocol mcp_calls = {
    HTTP_CALL_FUNCTIONS,
    .write_message = mcp_write_message,
};

/* Converts the arguments to the method's request; false if the tool's result states what is wrong. */
static bool mcp_read_arguments(struct call_core *core, struct buffer *wire)
{
    struct mcp_call *mcp = mcp_call_of(core);
    struct json_value arguments = {JSON_OBJECT, SLICE("{}")};
    struct fault fault;
    struct ctx ctx = {.arena = &core->arena, .fault = &fault};
    struct buffer json;

    (void)json_member(mcp->message.params, SLICE("arguments"), &arguments);
    fault_init(&fault, &core->arena);
    if (proto_json_read(&ctx, mcp->tool->method->request, arguments.text, true, wire) == OK &&
        proto_json_read(&ctx, mcp->tool->method->request, mcp->tool->fixed, false, wire) == OK) {
        return true;
    }
    buffer_init(&json, &core->arena, 512);
    mcp_write_refusal(mcp->message.id, status_of(&core->arena, ERR_INVALID, &fault).message, &json);
    mcp_respond(core, 200, &json);
    return false;
}

/* Starts the call of a tool. */
static void mcp_call_tool(struct call_core *core)
{
    struct mcp_call *mcp = mcp_call_of(core);
    struct slice message = {NULL, 0};
    struct buffer wire;

    mcp->tool = mcp_find_tool(mcp->message.name);
    if (mcp->tool == NULL) {
        mcp_refuse_as(core, 200, MCP_INVALID_PARAMS,
                      SLICE("name: unknown tool; expected one of tools/list"));
        return;
    }
    buffer_init(&wire, &core->arena, mcp->body.size);
    if (!mcp_read_arguments(core, &wire)) {
        return;
    }
    core->call.method = mcp->tool->method;
    core->protocol = &mcp_calls;
    call_start_within(core, INT64_MAX);
    if (core->ended) {
        return;
    }
    message = buffer_slice(&wire);
    call_begin_message(core, (uint32_t)message.size, false);
    while (message.size > 0 && !core->ended) {
        message = slice_after(message, call_take_message_bytes(core, message));
    }
    if (!core->ended) {
        call_take_whole_message(core);
    }
}

/* Responds to a request other than tools/call. */
static void mcp_answer(struct call_core *core, bool modern)
{
    const struct mcp_call *mcp = mcp_call_of(core);
    const struct mcp_message *message = &mcp->message;
    struct json_value asked = {JSON_NULL, {NULL, 0}};
    struct slice version = {NULL, 0};
    struct buffer json;

    buffer_init(&json, &core->arena, 1024);
    if (slice_equal(message->method, SLICE("tools/list"))) {
        mcp_write_tools(message->id, mcp->role, &json);
    } else if (slice_equal(message->method, SLICE("server/discover"))) {
        mcp_write_discovered(message->id, &json);
    } else if (slice_equal(message->method, SLICE("ping")) && !modern) {
        mcp_write_empty(message->id, &json);
    } else if (slice_equal(message->method, SLICE("initialize")) && !modern) {
        if (message->has_params && json_member(message->params, SLICE("protocolVersion"), &asked) &&
            asked.kind == JSON_STRING && json_string(&core->arena, asked.text, &version) != OK) {
            version = slice_of(NULL, 0);
        }
        mcp_write_initialized(message->id, mcp_agree(version), &json);
    } else {
        mcp_refuse_as(
            core, 404, MCP_UNKNOWN_METHOD,
            SLICE("method: unknown; expected initialize, ping, server/discover, tools/list "
                  "or tools/call"));
        return;
    }
    mcp_respond(core, 200, &json);
}

static void mcp_take_end(struct call_core *core)
{
    struct mcp_call *mcp = mcp_call_of(core);
    const struct mcp_fields fields = {
        .version = http_field(core, SLICE("mcp-protocol-version")),
        .method = http_field(core, SLICE("mcp-method")),
        .name = http_field(core, SLICE("mcp-name")),
    };
    struct mcp_problem problem;

    if (!buffer_ok(&mcp->body)) {
        http_answer_text(core, 503, err_text(ERR_MEMORY));
    } else if (!mcp_read(&core->arena, buffer_slice(&mcp->body), &mcp->message, &problem) ||
               !mcp_check_fields(&fields, &mcp->message, &problem)) {
        mcp_refuse_message(core, &problem);
    } else if (!mcp->message.is_request) {
        http_answer(core, 202, slice_of(NULL, 0), slice_of(NULL, 0));
    } else if (slice_equal(mcp->message.method, SLICE("tools/call"))) {
        if (mcp->message.has_params) {
            mcp_call_tool(core);
        } else {
            mcp_refuse_as(core, 200, MCP_INVALID_PARAMS,
                          SLICE("params: missing; expected a name and arguments"));
        }
    } else {
        mcp_answer(core, mcp_is_modern(&fields, &mcp->message));
    }
}

static enum err mcp_head(struct call_core *core, struct http_head *head)
{
    /* A refusal of the services is a result; a request that arrived too slowly has none. */
    head->status = mcp_call_of(core)->tool != NULL ? 200 : 408;
    http_add(head, SLICE("content-type"), SLICE("application/json"));
    return OK;
}

static enum err mcp_tail(struct call_core *core, struct slice *ret_tail)
{
    const struct mcp_call *mcp = mcp_call_of(core);
    struct buffer json;

    if (core->status.code == STATUS_OK) {
        return OK;
    }
    buffer_init(&json, &core->arena, 512);
    if (mcp->tool != NULL) {
        mcp_write_refusal(mcp->message.id, core->status.message, &json);
    } else {
        mcp_write_error(&(struct mcp_problem){408, MCP_INVALID_REQUEST, core->status.message},
                        SLICE("null"), slice_of(NULL, 0), &json);
    }
    *ret_tail = buffer_slice(&json);
    return buffer_ok(&json) ? OK : ERR_MEMORY;
}

struct http_protocol mcp_protocol(const struct mcp_server *server)
{
    return (struct http_protocol){
        .user = (void *)(uintptr_t)server,
        .state_bytes = sizeof(struct mcp_call),
        .selects = mcp_selects,
        .start = mcp_start,
        .take_body = mcp_take_body,
        .take_end = mcp_take_end,
        .head = mcp_head,
        .tail = mcp_tail,
    };
}
