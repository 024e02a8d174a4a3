/*
 * call_frames.c: length-prefixed messages (grpc/doc/PROTOCOL-HTTP2.md): flag, length, bytes. They
 * know nothing of DATA frames: a head may come in five pieces. gRPC, gRPC-Web and Connect's streams
 * all have them.
 */
#include "server/grpc/call_internal.h"
#include "store/base/assert.h"
#include "store/base/bytes.h"

#define CALL_FLAG_COMPRESSED 1

/* The message is refused by its head, before a byte of it is kept. */
static bool call_check_head(struct call_core *core, uint8_t flags)
{
    struct call_server *server = core->server;
    struct call_input *input = &core->input;

    if ((flags & ~CALL_FLAG_COMPRESSED) != 0) {
        call_refuse_text(
            core, ERR_MALFORMED,
            arena_printf(&core->arena, "a message's flags are 0x%02x; 0 and 1 are known", flags));
    } else if (input->compressed && core->request_encoding != CALL_GZIP) {
        call_refuse_err(core, ERR_MALFORMED,
                        "a message is marked as compressed, but there is no grpc-encoding");
    } else if (input->message_count > 0 && method_has_one_request(core->call.method)) {
        call_refuse_err(core, ERR_UNIMPLEMENTED,
                        "this method takes one request message, and got a second one");
    } else if (input->message_bytes > server->config.message_bytes_max) {
        call_refuse_text(core, ERR_TOO_LARGE,
                         arena_printf(&core->arena,
                                      "the message has %u bytes; this server takes %zu at most",
                                      input->message_bytes, server->config.message_bytes_max));
    } else {
        return true;
    }
    return false;
}

static void call_begin_message(struct call_core *core)
{
    struct call_input *input = &core->input;
    uint8_t flags = input->prefix[0];

    input->compressed = (flags & CALL_FLAG_COMPRESSED) != 0;
    input->any_compressed = input->any_compressed || input->compressed;
    input->message_bytes = bytes_get_be32(input->prefix + 1);
    input->data = NULL;
    input->size = 0;
    input->capacity = 0;
    if (!call_check_head(core, flags)) {
        return;
    }
    if (!method_has_one_request(core->call.method)) {
        arena_reset(&core->input_arena);
    }
    input->message_count++;
}

bool call_take_budget(struct call_core *core, size_t bytes)
{
    struct call_server *server = core->server;
    uint64_t max = server->config.body_bytes_max;

    if (core->input.message_bytes > CALL_SMALL_MESSAGE_BYTES || bytes > CALL_SMALL_MESSAGE_BYTES) {
        max -= max / 4;
    }
    if (server->body_bytes >= max || bytes > max - server->body_bytes) {
        call_refuse_err(core, ERR_BUSY,
                        "request messages take all the memory there is for them; try again");
        return false;
    }
    server->body_bytes += bytes;
    core->input.budget_bytes += bytes;
    return true;
}

void call_give_budget(struct call_core *core, uint64_t bytes)
{
    ASSERT(core->input.budget_bytes >= bytes);
    ASSERT(core->server->body_bytes >= bytes);
    core->input.budget_bytes -= bytes;
    core->server->body_bytes -= bytes;
}

/* Room for `more` bytes: for as many as were announced, once the first have come. */
static bool call_grow_message(struct call_core *core, size_t more)
{
    struct call_input *input = &core->input;
    size_t capacity = input->capacity > 0 ? input->message_bytes : CALL_MESSAGE_START_BYTES;
    uint8_t *data = NULL;

    if (input->capacity - input->size >= more) {
        return true;
    }
    if (capacity < input->size + more) {
        capacity = input->size + more;
    }
    if (capacity > input->message_bytes) {
        capacity = input->message_bytes;
    }
    data = arena_alloc(call_input_arena(core), capacity);
    if (data == NULL) {
        return false;
    }
    if (input->size > 0) {
        memcpy(data, input->data, input->size);
    }
    input->data = data;
    input->capacity = capacity;
    return true;
}

static size_t call_take_message_bytes(struct call_core *core, struct slice bytes)
{
    struct call_input *input = &core->input;
    size_t left = input->message_bytes - input->size;
    size_t step = bytes.size < left ? bytes.size : left;

    if (step == 0) {
        return 0;
    }
    if (!call_take_budget(core, step)) {
        return step;
    }
    if (!call_grow_message(core, step)) {
        call_refuse_err(core, ERR_MEMORY, NULL);
        return step;
    }
    memcpy(input->data + input->size, bytes.data, step);
    input->size += step;
    return step;
}

/* A streamed message is done with: its memory goes. */
static void call_end_streamed_message(struct call_core *core)
{
    call_drop_inflated(core);
    call_give_budget(core, core->input.budget_bytes);
}

void call_take_message(struct call_core *core, struct slice message)
{
    if (method_has_one_request(core->call.method)) {
        core->input.first = message;
        return;
    }
    call_deliver(core, message);
    if (!core->message_held) {
        call_end_streamed_message(core);
    }
}

void call_hold_message(struct call *call)
{
    struct call_core *core = call_core_of(call);

    ASSERT(!method_has_one_request(call->method));
    ASSERT(!core->message_held);
    core->message_held = true;
}

void call_end_message(struct call *call)
{
    struct call_core *core = call_core_of(call);

    if (core->message_held) {
        core->message_held = false;
        call_end_streamed_message(core);
        call_go_on(core);
    } else {
        call_drop_inflated(core);
    }
}

void call_go_on(struct call_core *core)
{
    core->input.progress_us = core->server->now_us;
    core->protocol->go_on(core);
}

static void call_take_whole_message(struct call_core *core)
{
    struct call_input *input = &core->input;
    struct slice message = slice_of(input->data, input->size);

    input->prefix_bytes = 0;
    core->server->stats.messages_in++;
    core->server->stats.message_bytes_in += message.size;
    if (input->compressed) {
        call_inflate(core, message);
    } else {
        call_take_message(core, message);
    }
}

static size_t call_take_prefix(struct call_core *core, struct slice bytes)
{
    struct call_input *input = &core->input;
    size_t step = CALL_PREFIX_BYTES - input->prefix_bytes;

    if (input->prefix_bytes == 0 && core->call.method->stream == METHOD_BIDI_STREAM) {
        input->progress_us = core->server->now_us; /* until now nothing was owed */
    }
    step = bytes.size < step ? bytes.size : step;
    memcpy(input->prefix + input->prefix_bytes, bytes.data, step);
    input->prefix_bytes = (uint8_t)(input->prefix_bytes + step);
    if (input->prefix_bytes == CALL_PREFIX_BYTES) {
        call_begin_message(core);
    }
    return step;
}

size_t call_take_frames(struct call_core *core, struct slice bytes)
{
    struct call_input *input = &core->input;
    size_t taken = 0;

    while (taken < bytes.size && !core->ended && !core->full && !call_input_waits(core)) {
        struct slice rest = slice_after(bytes, taken);

        if (input->prefix_bytes < CALL_PREFIX_BYTES) {
            taken += call_take_prefix(core, rest);
        } else {
            taken += call_take_message_bytes(core, rest);
        }
        if (!core->ended && input->prefix_bytes == CALL_PREFIX_BYTES &&
            input->size == input->message_bytes) {
            call_take_whole_message(core);
        }
    }
    input->progress_bytes += (uint32_t)taken;
    if (input->progress_bytes >= CALL_BODY_PROGRESS_BYTES) {
        input->progress_bytes = 0;
        input->progress_us = core->server->now_us;
    }
    /* What follows an answer is read and forgotten. */
    return core->ended ? bytes.size : taken;
}

void call_take_frames_end(struct call_core *core)
{
    struct call_input *input = &core->input;

    if (core->ended || core->finished) {
        return;
    }
    if (input->prefix_bytes > 0) {
        call_refuse_err(core, ERR_MALFORMED, "the request ended inside a message");
        return;
    }
    if (!method_has_one_request(core->call.method)) {
        arena_deinit(&core->input_arena); /* what follows may take long, and needs none of it */
    } else if (input->message_count == 0) {
        call_refuse_err(core, ERR_UNIMPLEMENTED,
                        "this method takes one request message, and got none");
        return;
    } else {
        call_deliver(core, input->first);
    }
    call_deliver_end(core);
}

static enum err call_compress_reply(struct call_core *core, struct slice *ret_bytes)
{
    static const uint8_t head[CALL_PREFIX_BYTES] = {CALL_FLAG_COMPRESSED};
    struct slice payload = slice_after(buffer_slice(&core->reply), CALL_PREFIX_BYTES);
    struct buffer packed;
    enum err err = OK;

    buffer_init(&packed, core->reply.arena, 0);
    buffer_append(&packed, slice_of(head, sizeof(head)));
    err = gzip_deflate(payload, &packed);
    if (err != OK) {
        return err;
    }
    bytes_put_be32(packed.data + 1, (uint32_t)(packed.size - CALL_PREFIX_BYTES));
    *ret_bytes = buffer_slice(&packed);
    return OK;
}

enum err call_frame_reply(struct call_core *core, struct slice *ret_bytes)
{
    size_t size = core->reply.size - CALL_PREFIX_BYTES;

    if (size > UINT32_MAX) {
        return ERR_TOO_LARGE;
    }
    if (size >= CALL_COMPRESS_BYTES_MIN && call_compresses(core)) {
        return call_compress_reply(core, ret_bytes);
    }
    bytes_put_be32(core->reply.data + 1, (uint32_t)size);
    *ret_bytes = buffer_slice(&core->reply);
    return OK;
}
