/*
 * call_input.c: request messages as their bytes arrive: their memory, which is bounded for a call
 * and for the server, and their order: one is delivered at a time. The protocol decides where a
 * message begins and how long it is.
 */
#include "server/call/call_internal.h"
#include "store/base/assert.h"

void call_expect_message(struct call_core *core)
{
    struct call_input *input = &core->input;

    if (!input->begun &&
        (core->call.method == NULL || core->call.method->stream == METHOD_BIDI_STREAM)) {
        input->progress_us = core->server->now_us; /* no bytes were expected before */
    }
    input->begun = true;
}

void call_begin_message(struct call_core *core, uint32_t bytes, bool compressed)
{
    const struct call_config *config = &core->server->config;
    struct call_input *input = &core->input;

    call_expect_message(core);
    input->compressed = compressed;
    input->unsized = false;
    input->any_compressed = input->any_compressed || compressed;
    input->message_bytes = bytes;
    input->data = NULL;
    input->size = 0;
    input->capacity = 0;
    if (input->message_count > 0 && method_has_one_request(core->call.method)) {
        call_refuse_err(core, ERR_UNIMPLEMENTED,
                        "request: more than one message; expected one message");
        return;
    }
    if (bytes > config->message_bytes_max) {
        call_refuse_text(core, ERR_TOO_LARGE,
                         arena_printf(&core->arena, "message: %u bytes; expected at most %zu",
                                      bytes, config->message_bytes_max));
        return;
    }
    if (!method_has_one_request(core->call.method)) {
        arena_reset(&core->input_arena);
    }
    input->message_count++;
}

void call_begin_unsized_message(struct call_core *core, bool compressed)
{
    size_t max = core->server->config.message_bytes_max;

    call_begin_message(core, (uint32_t)max, compressed);
    core->input.unsized = true;
    if (!core->ended) {
        core->input.message_bytes++; /* one more byte shows that the message is too large */
    }
}

void call_end_unsized_message(struct call_core *core)
{
    if (core->input.unsized) {
        core->input.unsized = false;
        core->input.message_bytes = (uint32_t)core->input.size;
    }
}

bool call_take_budget(struct call_core *core, size_t bytes)
{
    struct call_server *server = core->server;
    uint64_t max = server->config.body_bytes_max;

    if (core->input.message_bytes > CALL_SMALL_MESSAGE_BYTES || bytes > CALL_SMALL_MESSAGE_BYTES) {
        max -= max / 4;
    }
    if (server->body_bytes >= max || bytes > max - server->body_bytes) {
        call_refuse_err(
            core, ERR_BUSY,
            "server: its memory for request messages is exhausted; expected another attempt");
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

/* Returns the room for a message that outgrew its own: the announced size, or twice as much. */
static size_t call_next_capacity(const struct call_input *input)
{
    if (input->capacity == 0) {
        return CALL_MESSAGE_START_BYTES;
    }
    return input->unsized ? 2 * input->capacity : input->message_bytes;
}

/* Grows the message by `more` bytes. */
static bool call_grow_message(struct call_core *core, size_t more)
{
    struct call_input *input = &core->input;
    size_t capacity = call_next_capacity(input);
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

size_t call_take_message_bytes(struct call_core *core, struct slice bytes)
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
    if (input->unsized && input->size == input->message_bytes) {
        call_refuse_text(core, ERR_TOO_LARGE,
                         arena_printf(&core->arena,
                                      "message: too large; expected at most %zu bytes",
                                      core->server->config.message_bytes_max));
    }
    return step;
}

/* Frees a streamed message. */
static void call_end_streamed_message(struct call_core *core)
{
    call_drop_inflated(core);
    call_give_budget(core, core->input.budget_bytes);
}

/* Converts a message on the loop; false if the call was refused instead. */
static bool call_convert_here(struct call_core *core, struct slice sent, struct slice *ret_message)
{
    struct fault fault;
    enum err err = OK;

    fault_init(&fault, &core->arena);
    err = core->protocol->convert(core, sent, call_input_arena(core), &fault, ret_message);
    if (err != OK) {
        call_refuse_fault(core, err, &fault);
    }
    return err == OK;
}

void call_take_message(struct call_core *core, struct slice message)
{
    bool converts = core->protocol->convert != NULL;

    if (converts && message.size > CALL_CONVERT_HERE_BYTES) {
        call_convert_later(core, message);
    } else if (!converts || call_convert_here(core, message, &message)) {
        call_take_converted(core, message);
    }
}

void call_take_converted(struct call_core *core, struct slice message)
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

void call_take_whole_message(struct call_core *core)
{
    struct call_input *input = &core->input;
    struct slice message = slice_of(input->data, input->size);

    input->begun = false;
    core->server->stats.messages_in++;
    core->server->stats.message_bytes_in += message.size;
    if (input->compressed) {
        call_inflate(core, message);
    } else {
        call_take_message(core, message);
    }
}

void call_note_progress(struct call_core *core, size_t bytes)
{
    struct call_input *input = &core->input;

    input->progress_bytes += (uint32_t)bytes;
    if (input->progress_bytes >= CALL_BODY_PROGRESS_BYTES) {
        input->progress_bytes = 0;
        input->progress_us = core->server->now_us;
    }
}

/* Reports the end of the request to the services. */
static void call_end_input(struct call_core *core)
{
    struct call_input *input = &core->input;

    if (core->ended || core->finished) {
        return;
    }
    if (input->begun) {
        call_refuse_err(core, ERR_MALFORMED,
                        "request: ended inside a message; expected a complete message");
        return;
    }
    if (!method_has_one_request(core->call.method)) {
        arena_deinit(
            &core->input_arena); /* the call may last long, and no longer needs this memory */
    } else if (input->message_count == 0) {
        call_refuse_err(core, ERR_UNIMPLEMENTED, "request: no message; expected one message");
        return;
    } else {
        call_deliver(core, input->first);
    }
    call_deliver_end(core);
}

void call_take_end(struct call_core *core)
{
    core->end_taken = true;
    if (core->started && core->share != NULL && method_has_one_request(core->call.method) &&
        call_share_is_full(core->server, core->share)) {
        call_share_wait(core);
        return;
    }
    call_end_input(core);
}

bool call_share_go_on(struct call_server *server, struct call_share *share)
{
    struct call_core *core = share->waiting;

    if (core == NULL || call_share_is_full(server, share)) {
        return false;
    }
    call_share_leave(core);
    call_end_input(core);
    return share->waiting != NULL;
}

void call_hold_bytes(struct call_core *core, struct slice bytes)
{
    if (core->held.arena == NULL) {
        buffer_init(&core->held, &core->held_arena, 0);
    }
    buffer_append(&core->held, bytes);
    if (!buffer_ok(&core->held)) {
        call_refuse_err(core, ERR_MEMORY, NULL);
    }
}

void call_drop_held(struct call_core *core, size_t bytes)
{
    ASSERT(bytes <= core->held.size);
    memmove(core->held.data, core->held.data + bytes, core->held.size - bytes);
    core->held.size -= bytes;
    if (core->held.size == 0) {
        arena_reset(&core->held_arena);
        core->held = (struct buffer){.arena = NULL};
    }
}
