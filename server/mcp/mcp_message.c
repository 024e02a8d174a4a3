/*
 * mcp_message.c: messages of JSON-RPC 2.0, and the fields of HTTP that must agree with them.
 */
#include "server/mcp/mcp_internal.h"

#define MCP_MODERN "2026-07-28"
#define MCP_NEWEST_WITH_HANDSHAKE "2025-11-25"
#define MCP_VERSION_KEY "io.modelcontextprotocol/protocolVersion"

static bool mcp_refuse(struct mcp_problem *ret_problem, unsigned http_status, enum mcp_code code,
                       struct slice text)
{
    *ret_problem = (struct mcp_problem){http_status, code, text};
    return false;
}

/* Returns a text member, unescaped; empty if there is none, or it is not a text. */
static struct slice mcp_text_of(struct arena *arena, struct json_value object, struct slice name)
{
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice text = {NULL, 0};

    if (!json_member(object, name, &value) || value.kind != JSON_STRING ||
        json_string(arena, value.text, &text) != OK) {
        return slice_of(NULL, 0);
    }
    return text;
}

/* Reads the id: a text, or an integer. */
static bool mcp_take_id(struct json_value message, struct mcp_message *ret_message)
{
    struct json_value id = {JSON_NULL, {NULL, 0}};
    bool negative = false;
    uint64_t magnitude = 0;

    ret_message->is_request = json_member(message, SLICE("id"), &id);
    if (!ret_message->is_request) {
        return true;
    }
    if (id.kind != JSON_STRING &&
        (id.kind != JSON_NUMBER || !json_integer(id.text, &negative, &magnitude))) {
        return false;
    }
    ret_message->id = id.text;
    return true;
}

static void mcp_take_params(struct arena *arena, struct mcp_message *message)
{
    struct json_value meta = {JSON_NULL, {NULL, 0}};

    message->name = mcp_text_of(arena, message->params, SLICE("name"));
    if (json_member(message->params, SLICE("_meta"), &meta) && meta.kind == JSON_OBJECT) {
        message->version = mcp_text_of(arena, meta, SLICE(MCP_VERSION_KEY));
    }
}

bool mcp_read(struct arena *arena, struct slice body, struct mcp_message *ret_message,
              struct mcp_problem *ret_problem)
{
    const struct json_rules rules = {MCP_DEPTH_MAX, false};
    struct json_value message = {JSON_NULL, {NULL, 0}};
    struct json_problem problem = {NULL, 0};
    struct json_value member = {JSON_NULL, {NULL, 0}};
    enum err err = json_check(arena, body, &rules, &message, &problem);

    *ret_message = (struct mcp_message){.id = SLICE("null")};
    if (err != OK) {
        return mcp_refuse(ret_problem, 400, MCP_PARSE_ERROR,
                          err != ERR_INVALID
                              ? SLICE("no memory left")
                              : arena_printf(arena,
                                             "invalid JSON, %s at byte %zu; expected RFC 8259",
                                             problem.what, problem.at));
    }
    if (message.kind != JSON_OBJECT) {
        return mcp_refuse(ret_problem, 400, MCP_INVALID_REQUEST,
                          SLICE("not an object; expected one message, since there are no batches"));
    }
    if (!mcp_take_id(message, ret_message)) {
        return mcp_refuse(ret_problem, 400, MCP_INVALID_REQUEST,
                          SLICE("id: invalid; expected a text or an integer"));
    }
    if (!slice_equal(mcp_text_of(arena, message, SLICE("jsonrpc")), SLICE("2.0"))) {
        return mcp_refuse(ret_problem, 400, MCP_INVALID_REQUEST,
                          SLICE("jsonrpc: missing or unknown; expected \"2.0\""));
    }
    if (json_member(message, SLICE("result"), &member) ||
        json_member(message, SLICE("error"), &member)) {
        ret_message->is_request = false; /* a response, although this server sends no requests */
        return true;
    }
    ret_message->method = mcp_text_of(arena, message, SLICE("method"));
    if (ret_message->method.size == 0) {
        return mcp_refuse(ret_problem, 400, MCP_INVALID_REQUEST,
                          SLICE("method: missing or not a text; expected the name of a method"));
    }
    ret_message->has_params = json_member(message, SLICE("params"), &ret_message->params);
    if (ret_message->has_params && ret_message->params.kind != JSON_OBJECT) {
        return mcp_refuse(ret_problem, 400, MCP_INVALID_PARAMS,
                          SLICE("params: not an object; expected an object"));
    }
    if (ret_message->has_params) {
        mcp_take_params(arena, ret_message);
    }
    return true;
}

static bool mcp_knows(struct slice version)
{
    return slice_equal(version, SLICE(MCP_MODERN)) ||
           slice_equal(version, SLICE(MCP_NEWEST_WITH_HANDSHAKE)) ||
           slice_equal(version, SLICE("2025-06-18"));
}

struct slice mcp_agree(struct slice asked)
{
    return mcp_knows(asked) && !slice_equal(asked, SLICE(MCP_MODERN))
               ? asked
               : SLICE(MCP_NEWEST_WITH_HANDSHAKE);
}

bool mcp_is_modern(const struct mcp_fields *fields, const struct mcp_message *message)
{
    return slice_equal(fields->version, SLICE(MCP_MODERN)) ||
           slice_equal(message->version, SLICE(MCP_MODERN));
}

/* Returns whether a field agrees with the body: it is required in the revision without sessions. */
static bool mcp_agrees(struct slice field, struct slice said, bool modern)
{
    return field.size == 0 ? !modern : slice_equal(field, said);
}

bool mcp_check_fields(const struct mcp_fields *fields, const struct mcp_message *message,
                      struct mcp_problem *ret_problem)
{
    bool modern = mcp_is_modern(fields, message);

    if ((fields->version.size > 0 && !mcp_knows(fields->version)) ||
        (message->version.size > 0 && !mcp_knows(message->version))) {
        return mcp_refuse(ret_problem, 400, MCP_UNKNOWN_VERSION,
                          SLICE("mcp-protocol-version: unknown revision; expected one that is "
                                "supported"));
    }
    if (message->version.size > 0 && !mcp_agrees(fields->version, message->version, modern)) {
        return mcp_refuse(
            ret_problem, 400, MCP_HEADER_MISMATCH,
            SLICE("mcp-protocol-version: differs from the body; expected the same value"));
    }
    if (message->method.size > 0 && !mcp_agrees(fields->method, message->method, modern)) {
        return mcp_refuse(ret_problem, 400, MCP_HEADER_MISMATCH,
                          SLICE("mcp-method: differs from the body; expected the same value"));
    }
    if (slice_equal(message->method, SLICE("tools/call")) &&
        !mcp_agrees(fields->name, message->name, modern)) {
        return mcp_refuse(ret_problem, 400, MCP_HEADER_MISMATCH,
                          SLICE("mcp-name: differs from the body; expected the same value"));
    }
    return true;
}
