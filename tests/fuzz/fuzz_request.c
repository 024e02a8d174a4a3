/*
 * fuzz_request.c: any bytes as a request of any message: accepted ones must unpack and be writable
 * as JSON, which reads back to a message of the same JSON. The first byte selects the message.
 */
#include "server/codec/check.h"
#include "server/codec/proto_json.h"
#include "store/base/assert.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_message.h"

#define ARENA_BYTES (64u << 20)

static struct slice write_json(struct ctx *ctx, const struct message_info *message,
                               struct slice wire)
{
    const struct proto_json_style style = {0};
    struct buffer json;

    buffer_init(&json, ctx->arena, 0);
    ASSERT(proto_json_write(ctx, message, wire, &style, &json) == OK);
    return buffer_slice(&json);
}

static void round_trip(struct ctx *ctx, const struct message_info *message, struct slice wire)
{
    struct slice json = write_json(ctx, message, wire);
    struct buffer again;

    buffer_init(&again, ctx->arena, 0);
    ASSERT(proto_json_read(ctx, message, json, true, &again) == OK);
    ASSERT(slice_equal(write_json(ctx, message, buffer_slice(&again)), json));
}

/* The pre-scan does not open what an Any holds: requests have none. */
static bool holds_any(const struct message_info *message)
{
    return slice_equal(message->full_name, SLICE("google.rpc.Status"));
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
    const struct message_info *message = fuzz_message(data[0]);
    struct slice wire = slice_of(data + 1, size - 1);

    if (check_request(&ctx, message, wire, &wire) == OK && !holds_any(message)) {
        round_trip(&ctx, message, wire);
    }
    arena_deinit(&arena);
    return 0;
}
