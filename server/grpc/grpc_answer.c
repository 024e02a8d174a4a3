/*
 * grpc_answer.c: writes a call's response as HTTP/2 fields, body and trailers; without a body, all
 * fields are in one block (Trailers-Only).
 */
#include "server/grpc/grpc_internal.h"
#include "server/grpc/grpc_status.h"
#include "server/grpc/grpc_text.h"
#include "store/base/assert.h"

#define GRPC_FIELD(name, value)                                                                    \
    {                                                                                              \
        {(const uint8_t *)(name), sizeof(name) - 1},                                               \
        {                                                                                          \
            (const uint8_t *)(value), sizeof(value) - 1                                            \
        }                                                                                          \
    }

static const struct h2_field grpc_status_field = GRPC_FIELD(":status", "200");
static const struct h2_field grpc_type_field = GRPC_FIELD("content-type", "application/grpc");
static const struct h2_field grpc_gzip_field = GRPC_FIELD("grpc-encoding", "gzip");
static const struct h2_field grpc_accepts_field =
    GRPC_FIELD("grpc-accept-encoding", "identity,gzip");
static const struct h2_field grpc_busy_fields[] = {
    GRPC_FIELD(":status", "200"),
    GRPC_FIELD("content-type", "application/grpc"),
    GRPC_FIELD("grpc-status", "14"),
    GRPC_FIELD("grpc-message",
               "server: overloaded; expected another attempt after the given delay"),
    /* google.rpc.Status for ERR_BUSY, as status_details_begin would write it: a call that was not
     * opened has no memory for it. */
    GRPC_FIELD("grpc-status-details-bin",
               "CA4SQnNlcnZlcjogb3ZlcmxvYWRlZDsgZXhwZWN0ZWQgYW5vdGhlciBhdHRlbXB0IGFmdGVy"
               "IHRoZSBnaXZlbiBkZWxheRo6Cih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5ycGMuRXJy"
               "b3JJbmZvEg4KBEJVU1kSBmVycmF0YRozCih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5y"
               "cGMuUmV0cnlJbmZvEgcKBRCAhK9f"),
    GRPC_FIELD("grpc-retry-pushback-ms", "200"),
};

static void grpc_add_head(struct grpc_block *block, struct call_core *core)
{
    grpc_block_add(block, &grpc_status_field);
    grpc_block_add(block, &grpc_type_field);
    if (grpc_call_of(core)->encoding == GRPC_ENCODING_UNKNOWN) {
        grpc_block_add(block, &grpc_accepts_field);
    }
    grpc_block_add_metadata(block, &core->arena, core->leading, core->leading_count);
}

struct h2_stream *grpc_stream_of(const struct call_core *core)
{
    struct h2_stream *stream = core->stream;

    if (stream != NULL) {
        ASSERT(h2_stream_generation(stream) == grpc_call_of(core)->generation);
    }
    return stream;
}

static void grpc_respond_with_body(struct call_core *core)
{
    struct grpc_block block;

    block.count = 0;
    grpc_call_of(core)->responded = true;
    grpc_add_head(&block, core);
    if (call_compresses(core)) {
        grpc_block_add(&block, &grpc_gzip_field);
    }
    h2_stream_respond(grpc_stream_of(core), block.fields, block.count, true);
}

static void grpc_respond_trailers_only(struct call_core *core)
{
    struct grpc_block block;

    block.count = 0;
    grpc_call_of(core)->responded = true;
    grpc_add_head(&block, core);
    grpc_block_add_status(&block, core);
    h2_stream_respond(grpc_stream_of(core), block.fields, block.count, false);
}

void grpc_send_trailers(struct call_core *core)
{
    struct grpc_block block;

    block.count = 0;
    grpc_block_add_status(&block, core);
    h2_stream_send_trailers(grpc_stream_of(core), block.fields, block.count);
}

static void grpc_on_replies(struct call_core *core)
{
    struct h2_stream *stream = grpc_stream_of(core);

    if (stream == NULL) {
        return;
    }
    if (core->full) {
        h2_stream_want_drained(stream);
    }
    if (grpc_call_of(core)->responded) {
        h2_stream_resume(stream);
    } else {
        grpc_respond_with_body(core);
    }
}

static void grpc_on_finished(struct call_core *core)
{
    struct h2_stream *stream = grpc_stream_of(core);

    if (stream == NULL) {
        return;
    }
    if (grpc_call_of(core)->responded) {
        h2_stream_resume(stream);
    } else if (core->pieces != NULL || core->leading_count > 0) {
        /* Leading metadata stays in the header block even without a reply: clients distinguish it
         * from trailing metadata. */
        grpc_respond_with_body(core);
    } else {
        grpc_respond_trailers_only(core);
    }
}

static void grpc_on_expired(struct call_core *core)
{
    struct h2_stream *stream = grpc_stream_of(core);

    if (stream == NULL) {
        return;
    }
    if (!call_output_drop(core) || (grpc_call_of(core)->responded && h2_stream_blocked(stream))) {
        /* Returns whether a message is partly sent, or trailers would wait for the peer's window. */
        h2_stream_reset(stream, H2_CANCEL);
        return;
    }
    grpc_on_finished(core);
}

static bool grpc_read_value(struct arena *arena, struct slice name, struct slice sent,
                            struct slice *ret_value)
{
    if (grpc_name_is_binary(name)) {
        return grpc_base64_decode(arena, grpc_first_of_list(sent), ret_value) == OK;
    }
    *ret_value = sent;
    return true;
}

const struct call_protocol grpc_call_protocol = {
    .state_bytes = sizeof(struct grpc_call),
    .reply_head_bytes = CALL_ENVELOPE_BYTES,
    .write_head = call_write_envelope,
    .read_value = grpc_read_value,
    .replies = grpc_on_replies,
    .finished = grpc_on_finished,
    .expired = grpc_on_expired,
    .go_on = grpc_take_held,
};

void grpc_answer_busy(struct h2_stream *stream)
{
    h2_stream_respond(stream, grpc_busy_fields,
                      sizeof(grpc_busy_fields) / sizeof(grpc_busy_fields[0]), false);
}
