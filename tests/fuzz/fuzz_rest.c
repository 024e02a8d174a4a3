/*
 * fuzz_rest.c: any bytes as the path, the query and the body of a request in plain JSON, separated by
 * line ends. A path without a route is replaced by a route's own, which the first byte selects. Accepted
 * requests that pass the check of the contract are written as plain JSON, which must read back to the
 * same.
 */
#include "server/codec/check.h"
#include "server/codec/proto_json.h"
#include "server/rest/rest_internal.h"
#include "store/base/assert.h"
#include "tests/fuzz/fuzz.h"

#define ARENA_BYTES (64u << 20)

/* Removes and returns the bytes before the next line end. */
static struct slice take_line(struct slice *rest)
{
    const uint8_t *end = rest->size > 0 ? memchr(rest->data, '\n', rest->size) : NULL;
    size_t size = end != NULL ? (size_t)(end - rest->data) : rest->size;
    struct slice line = slice_of(rest->data, size);

    *rest = slice_after(*rest, end != NULL ? size + 1 : size);
    return line;
}

static struct slice write_plain(struct ctx *ctx, const struct message_info *message,
                                struct slice wire)
{
    const struct proto_json_style style = {.plain = true};
    struct buffer json;

    buffer_init(&json, ctx->arena, 0);
    ASSERT(proto_json_write(ctx, message, wire, &style, &json) == OK);
    return buffer_slice(&json);
}

static struct slice read_plain(struct ctx *ctx, const struct message_info *message,
                               struct slice json)
{
    struct buffer wire;

    buffer_init(&wire, ctx->arena, 0);
    ASSERT(proto_json_read_plain(ctx, message, json, true, &wire) == OK);
    return buffer_slice(&wire);
}

static void round_trip(struct ctx *ctx, const struct message_info *message, struct slice wire)
{
    /* Space around a JSON text is lost the first time. */
    struct slice json =
        write_plain(ctx, message, read_plain(ctx, message, write_plain(ctx, message, wire)));

    ASSERT(slice_equal(write_plain(ctx, message, read_plain(ctx, message, json)), json));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct fault fault;
    struct ctx ctx = {.arena = &arena, .clock = clock_system(), .fault = &fault};
    struct slice rest = slice_of(data, size);
    struct rest_match match;
    struct buffer wire;

    if (size < 2) {
        return 0;
    }
    arena_init(&arena, ARENA_BYTES);
    fault_init(&fault, &arena);
    buffer_init(&wire, &arena, 0);
    rest = slice_after(rest, 1);
    rest_find(take_line(&rest), (enum rest_verb)(data[0] & 1), &match);
    if (match.route == NULL) {
        match.route = &contract_routes[data[0] % contract_route_count];
        for (uint32_t i = 0; i < REST_SEGMENTS_MAX; i++) {
            match.segments[i] = SLICE("x");
        }
    }
    struct slice query = take_line(&rest);
    const struct message_info *request = match.route->method->request;

    if (rest_read_request(&ctx, &match, query, rest, &wire) == OK) {
        struct slice message = buffer_slice(&wire);

        if (check_request(&ctx, request, message, &message) == OK) {
            round_trip(&ctx, request, message);
        }
    }
    arena_deinit(&arena);
    return 0;
}
