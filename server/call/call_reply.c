/*
 * call_reply.c: reply messages: written into an arena with room for their prefix, queued, and taken
 * by the protocol. The only reply of a call is in the call's arena; streamed ones alternate between
 * two arenas, so that a stream that lasts for days holds only what is queued.
 */
#include "server/call/call_internal.h"
#include "store/base/assert.h"

static struct arena *call_reply_arena(struct call_core *core)
{
    uint8_t other = core->reply_place ^ 1;

    if (method_has_one_reply(core->call.method)) {
        return &core->arena;
    }
    if (core->reply_counts[other] == 0) {
        core->reply_place = other;
        arena_reset(&core->reply_arenas[other]);
    }
    return &core->reply_arenas[core->reply_place];
}

struct buffer *call_reply_begin(struct call *call, size_t likely_bytes)
{
    static const uint8_t head[CALL_REPLY_HEAD_BYTES_MAX];
    struct call_core *core = call_core_of(call);
    size_t head_bytes = core->protocol->reply_head_bytes;

    ASSERT(core->started);
    ASSERT(!core->finished);
    ASSERT(!core->reply_open);
    ASSERT(head_bytes <= sizeof(head));
    core->reply_open = true;
    buffer_init(&core->reply, call_reply_arena(core), likely_bytes + head_bytes);
    /* The prefix is filled in when the size is known. */
    buffer_append(&core->reply, slice_of(head, head_bytes));
    return &core->reply;
}

/* Reserves a prefix, and appends the compressed reply. */
static enum err call_compress_reply(struct call_core *core, struct slice reply,
                                    struct buffer *packed)
{
    size_t head_bytes = core->protocol->reply_head_bytes;

    buffer_init(packed, core->reply.arena, 0);
    buffer_append(packed, slice_of(reply.data, head_bytes));
    return gzip_deflate(slice_after(reply, head_bytes), packed);
}

/* Converts a reply to the form that is sent, after a reserved prefix. */
static enum err call_convert_reply(struct call_core *core, struct buffer *ret_bytes)
{
    struct slice reply = buffer_slice(&core->reply);
    size_t head_bytes = core->protocol->reply_head_bytes;
    enum err err = OK;

    buffer_init(ret_bytes, core->reply.arena, reply.size);
    buffer_append(ret_bytes, slice_of(reply.data, head_bytes));
    err = core->protocol->write_message(core, slice_after(reply, head_bytes), ret_bytes);
    return err == OK && !buffer_ok(ret_bytes) ? ERR_MEMORY : err;
}

/* Returns the bytes of a finished reply: prefix and message, compressed if negotiated and
 * worthwhile. */
static enum err call_finish_reply(struct call_core *core, struct buffer *ret_bytes)
{
    const struct call_protocol *protocol = core->protocol;
    size_t head_bytes = protocol->reply_head_bytes;
    bool compressed = false;
    size_t size = 0;
    enum err err = OK;

    *ret_bytes = core->reply;
    if (protocol->write_message != NULL) {
        err = call_convert_reply(core, ret_bytes);
        if (err != OK) {
            return err;
        }
    }
    size = ret_bytes->size - head_bytes;
    if (size > UINT32_MAX) {
        return ERR_TOO_LARGE;
    }
    compressed = call_compresses_reply(core, size);
    core->reply_is_compressed = compressed;
    if (compressed) {
        err = call_compress_reply(core, buffer_slice(ret_bytes), ret_bytes);
    }
    if (err == OK && head_bytes > 0) {
        protocol->write_head(ret_bytes->data, (uint32_t)(ret_bytes->size - head_bytes), compressed);
    }
    return err;
}

/* Puts a finished reply into the form in which it is sent. */
static enum err call_wrap_reply(struct call_core *core, struct buffer *bytes)
{
    struct slice reply = buffer_slice(bytes);
    enum err err = OK;

    if (core->protocol->wrap_reply == NULL) {
        return OK;
    }
    buffer_init(bytes, core->reply.arena, 0);
    err = core->protocol->wrap_reply(core, reply, bytes);
    return err == OK && !buffer_ok(bytes) ? ERR_MEMORY : err;
}

enum err call_reply_end(struct call *call)
{
    struct call_core *core = call_core_of(call);
    bool is_only = method_has_one_reply(call->method);
    struct call_piece *piece = NULL;
    struct buffer bytes;
    enum err err = OK;

    ASSERT(core->reply_open);
    core->reply_open = false;
    if (!buffer_ok(&core->reply)) {
        return ERR_MEMORY;
    }
    if (core->ended) {
        return OK; /* discarded */
    }
    if (is_only && UNEXPECTED(core->pieces != NULL)) {
        return ERR_INTERNAL; /* a second reply to a call with one reply */
    }
    err = call_finish_reply(core, &bytes);
    if (err == OK) {
        err = call_wrap_reply(core, &bytes);
    }
    if (err != OK) {
        return err;
    }
    piece = arena_alloc(core->reply.arena, sizeof(*piece));
    if (piece == NULL) {
        return ERR_MEMORY;
    }
    *piece = (struct call_piece){.bytes = buffer_slice(&bytes),
                                 .place = is_only ? CALL_PLACE_OWN : core->reply_place};
    if (!is_only) {
        core->reply_counts[core->reply_place]++;
    }
    *core->pieces_end = piece;
    core->pieces_end = &piece->next;
    call_share_add(core, bytes.size);
    /* A single reply is sent with its call's end, so it does not delay others. */
    core->full = core->full || (!is_only && core->output_bytes > CALL_OUTPUT_BYTES_HIGH);
    core->server->stats.messages_out++;
    core->server->stats.message_bytes_out += bytes.size - core->protocol->reply_head_bytes;
    if (!is_only) {
        core->protocol->replies(core);
    }
    return OK;
}

bool call_writable(const struct call *call)
{
    const struct call_core *core = (const struct call_core *)call;

    return !call->cancelled && !core->ended && core->output_bytes <= CALL_OUTPUT_BYTES_HIGH;
}

size_t call_output_ready(const struct call_core *core, size_t max, bool *ret_end)
{
    size_t ready = core->output_bytes < max ? core->output_bytes : max;

    *ret_end = core->ended && ready == core->output_bytes;
    return ready;
}

static void call_pop_piece(struct call_core *core)
{
    struct call_piece *piece = core->pieces;

    core->pieces = piece->next;
    if (core->pieces == NULL) {
        core->pieces_end = &core->pieces;
    }
    if (piece->place != CALL_PLACE_OWN) {
        ASSERT(core->reply_counts[piece->place] > 0);
        core->reply_counts[piece->place]--;
    }
}

void call_output_copy(struct call_core *core, uint8_t *to, size_t size)
{
    call_share_take(core, size);
    while (size > 0) {
        struct call_piece *piece = core->pieces;
        size_t step = piece->bytes.size < size ? piece->bytes.size : size;

        memcpy(to, piece->bytes.data, step);
        to += step;
        size -= step;
        piece->begun = true;
        piece->bytes = slice_after(piece->bytes, step);
        if (piece->bytes.size == 0) {
            call_pop_piece(core);
        }
    }
}

bool call_output_drop(struct call_core *core)
{
    if (core->pieces != NULL && core->pieces->begun) {
        return false;
    }
    while (core->pieces != NULL) {
        call_pop_piece(core);
    }
    call_share_take(core, core->output_bytes);
    return true;
}

void call_output_moved(struct call_core *core)
{
    const struct call_handlers *handlers = core->server->config.handlers;

    if (core->full && core->output_bytes <= CALL_OUTPUT_BYTES_HIGH) {
        core->full = false;
        if (!core->finished && !core->call.cancelled) {
            handlers->on_writable(handlers->user, &core->call);
        }
    }
}
