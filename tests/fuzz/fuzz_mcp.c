/*
 * fuzz_mcp.c: any bytes as the fields and the body of a POST to /mcp: three lines are the revision, the
 * method and the name of the fields, the rest is the body. What is read has an id that JSON-RPC allows,
 * and each response that it can get is one JSON object with that id.
 */
#include "server/mcp/mcp_internal.h"
#include "store/base/assert.h"
#include "tests/fuzz/fuzz.h"

#define ARENA_BYTES (64u << 20)

static struct slice take_line(struct slice *rest)
{
    const uint8_t *end = rest->size > 0 ? memchr(rest->data, '\n', rest->size) : NULL;
    size_t size = end != NULL ? (size_t)(end - rest->data) : rest->size;
    struct slice line = slice_of(rest->data, size);

    *rest = slice_after(*rest, end != NULL ? size + 1 : size);
    return line;
}

/* A response is JSON, repeats the id, and has a result or an error. */
static void check_response(struct arena *arena, const struct buffer *json, struct slice id)
{
    const struct json_rules rules = {JSON_DEPTH_MAX, false};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct json_value member = {JSON_NULL, {NULL, 0}};
    struct json_problem problem = {NULL, 0};

    ASSERT(buffer_ok(json));
    ASSERT(json_check(arena, buffer_slice(json), &rules, &value, &problem) == OK);
    ASSERT(json_member(value, SLICE("id"), &member));
    ASSERT(slice_equal(member.text, id));
    ASSERT(json_member(value, SLICE("result"), &member) !=
           json_member(value, SLICE("error"), &member));
}

static void check_error(struct arena *arena, const struct mcp_problem *problem, struct slice id,
                        struct slice version)
{
    struct buffer json;

    ASSERT(problem->http_status == 400);
    buffer_init(&json, arena, 0);
    mcp_write_error(problem, id, version, &json);
    check_response(arena, &json, id);
}

static void check_results(struct arena *arena, const struct mcp_message *message, struct slice text)
{
    struct buffer json;

    for (int kind = 0; kind < 3; kind++) {
        buffer_init(&json, arena, 0);
        if (kind == 0) {
            mcp_write_initialized(message->id, mcp_agree(message->version), &json);
        } else if (kind == 1) {
            mcp_write_refusal(message->id, text, &json);
        } else {
            mcp_write_result(message->id, &mcp_tools[0],
                             message->has_params ? message->params.text : SLICE("{}"), &json);
            ASSERT(json.size <= MCP_ANSWER_BYTES_MAX + message->id.size);
        }
        check_response(arena, &json, message->id);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct slice rest = slice_of(data, size);
    struct mcp_fields fields;
    struct mcp_message message;
    struct mcp_problem problem;

    if (size == 0 || size > MCP_REQUEST_BYTES_MAX) {
        return 0;
    }
    arena_init(&arena, ARENA_BYTES);
    fields.version = take_line(&rest);
    fields.method = take_line(&rest);
    fields.name = take_line(&rest);
    if (!mcp_read(&arena, rest, &message, &problem) ||
        !mcp_check_fields(&fields, &message, &problem)) {
        check_error(&arena, &problem, message.id, SLICE("x"));
    } else {
        ASSERT(!message.is_request || message.method.size > 0);
        check_results(&arena, &message, message.method);
    }
    arena_deinit(&arena);
    return 0;
}
