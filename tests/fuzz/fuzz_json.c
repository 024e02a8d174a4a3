/*
 * fuzz_json.c: any bytes as the JSON of any message, and as a `_json` value. What the reader lets
 * pass is a message that can be written, and read again without a change; what json_check lets pass
 * is equal to itself. The first byte picks the message.
 */
#include "server/codec/proto_json.h"
#include "store/base/assert.h"
#include "store/base/json.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_message.h"

#define ARENA_BYTES (64u << 20)

static struct slice write_json(struct ctx *ctx, const struct message_info *message,
                               const struct buffer *wire)
{
    const struct proto_json_style style = {.indent = 2};
    struct buffer text;

    buffer_init(&text, ctx->arena, 0);
    ASSERT(proto_json_write(ctx, message, buffer_slice(wire), &style, &text) == OK);
    return buffer_slice(&text);
}

static void read_message(struct ctx *ctx, const struct message_info *message, struct slice json)
{
    struct slice text;
    struct buffer wire;
    struct buffer again;

    buffer_init(&wire, ctx->arena, 0);
    buffer_init(&again, ctx->arena, 0);
    if (proto_json_read(ctx, message, json, false, &wire) == OK) {
        text = write_json(ctx, message, &wire);
        ASSERT(proto_json_read(ctx, message, text, true, &again) == OK);
        ASSERT(slice_equal(write_json(ctx, message, &again), text));
    }
}

static void check_value(struct arena *arena, struct slice text)
{
    const struct json_rules rules = {.depth_max = JSON_DEPTH_MAX};
    struct json_problem problem;
    struct json_value value;
    bool equal = false;

    if (json_check(arena, text, &rules, &value, &problem) == OK) {
        ASSERT(json_equal(arena, value, value, &equal) == OK);
        ASSERT(equal);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct fault fault;
    struct ctx ctx = {.arena = &arena, .clock = clock_system(), .fault = &fault};

    if (size == 0) {
        return 0;
    }
    arena_init(&arena, ARENA_BYTES);
    fault_init(&fault, &arena);
    read_message(&ctx, fuzz_message(data[0]), slice_of(data + 1, size - 1));
    check_value(&arena, slice_of(data + 1, size - 1));
    arena_deinit(&arena);
    return 0;
}
