/*
 * fuzz_message.c: any bytes as the request of any method: what the pre-scan lets pass must unpack
 * by protobuf-c into an arena of the size that the pipeline has, and be the same message there:
 * written by protobuf-c and read by the pre-scan it is still right, and its JSON is that of the bytes
 * that came, with pieces of messages joined. What protobuf-c refuses, the pre-scan has refused before.
 */
#include "server/codec/check.h"
#include "server/codec/proto_json.h"
#include "server/pipeline/dispatch.h"
#include "server/pipeline/pipeline.h"
#include "store/base/assert.h"
#include "store/base/wire.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_method_pick.h"

#include <protobuf-c/protobuf-c.h>

/* Memory for JSON and for encoding again, in addition to that for unpacking. */
#define WORK_BYTES ((size_t)256 << 20)

static void *allocate(void *data, size_t size)
{
    return arena_alloc(data, size);
}

static void release(void *data, void *pointer)
{
    (void)data; /* the arena frees it all at once */
    (void)pointer;
}

static enum err check(struct arena *arena, const struct message_info *message, struct slice wire,
                      struct slice *ret_wire)
{
    struct fault fault;
    struct ctx ctx = {.arena = arena, .clock = clock_system(), .fault = &fault};
    enum err err = OK;

    fault_init(&fault, arena);
    err = check_request(&ctx, message, wire, ret_wire);
    ASSERT(err == OK || err == ERR_INVALID || err == ERR_MALFORMED || err == ERR_TOO_LARGE);
    ASSERT((err == ERR_INVALID) ==
           (fault.total_count > 0 && err != ERR_MALFORMED && err != ERR_TOO_LARGE));
    return err;
}

static struct slice write_json(struct arena *arena, const struct message_info *message,
                               struct slice wire)
{
    const struct proto_json_style style = {0};
    struct fault fault;
    struct ctx ctx = {.arena = arena, .clock = clock_system(), .fault = &fault};
    struct buffer json;

    fault_init(&fault, arena);
    buffer_init(&json, arena, 0);
    ASSERT(proto_json_write(&ctx, message, wire, &style, &json) == OK);
    return buffer_slice(&json);
}

static struct slice pack(struct arena *arena, const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = arena_alloc(arena, size + 1);

    ASSERT(bytes != NULL);
    ASSERT(protobuf_c_message_pack(message, bytes) == size);
    return slice_of(bytes, size);
}

static ProtobufCMessage *unpack(struct arena *arena, const struct method_info *method,
                                struct slice wire)
{
    ProtobufCAllocator allocator = {allocate, release, arena};

    return protobuf_c_message_unpack(dispatch_handlers[method->index].request, &allocator,
                                     wire.size, wire.data);
}

static void check_same(struct arena *work, const struct method_info *method, struct slice wire,
                       const ProtobufCMessage *message)
{
    struct slice packed = pack(work, message);
    ProtobufCMessage *again = NULL;

    ASSERT(check(work, method->request, packed, &packed) == OK);
    again = unpack(work, method, packed);
    ASSERT(again != NULL);
    ASSERT(slice_equal(pack(work, again), packed));
    ASSERT(slice_equal(write_json(work, method->request, packed),
                       write_json(work, method->request, wire)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    const struct method_info *method = fuzz_pick_method(&input);
    struct slice wire = input.rest;
    struct arena stage;
    struct arena work;

    arena_init(&stage, PIPELINE_STAGE_BYTES_MAX);
    arena_init(&work, WORK_BYTES);
    if (check(&stage, method->request, wire, &wire) == OK) {
        ProtobufCMessage *message = unpack(&stage, method, wire);

        ASSERT(message != NULL);
        check_same(&work, method, wire, message);
    }
    arena_deinit(&work);
    arena_deinit(&stage);
    return 0;
}
