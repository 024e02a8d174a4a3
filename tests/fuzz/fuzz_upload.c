/*
 * fuzz_upload.c: any bytes as the messages of a client stream, cut into DATA frames as the input
 * says, through HTTP/2 and gRPC to the upload method of the wire tests; and a reading of the same
 * bytes in one piece, by the rules of grpc/doc/PROTOCOL-HTTP2.md, which states how the call must have
 * ended. The first byte states how: 1 one byte at a time, 2 grpc-encoding is gzip. Each further step
 * is a byte, and for DATA its content.
 */
#include "server/call/gzip.h"
#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/wire/wire.h"

#include <stdlib.h>

#define BYTEWISE 1
#define GZIP 2
/* Steps below the first are DATA frames of as many bytes; up to the second, of so many times 256.
 * */
#define STEP_LARGE 0xe0
#define STEP_HALF_CLOSE 0xf0
#define STEP_RESET 0xf1
#define STEP_CLOSE 0xf2
#define STEP_SECOND 0xf3 /* a second passes */
#define STEP_STALL 0xf4 /* longer than a request may pause */
#define STREAM 1
/* Small, so that inputs get there. */
#define MESSAGE_BYTES_MAX 3000
#define ARENA_BYTES (1u << 20)
#define SECOND_US INT64_C(1000000)

/* The input, as it is read. */
struct script {
    struct slice rest;
    struct wire_bytes sent; /* bytes sent on the stream */
    int64_t passed_us;
    bool half_closed;
    bool broken_off; /* a reset or lost connection, or time: no answer is foretold */
};

/* The call is open, or its answer cannot be predicted. */
#define NO_STATUS (-1)

/* Reads one complete message: returns the status that ends the call, or NO_STATUS. */
static int read_message(struct arena *arena, bool gzip, uint8_t flags, struct slice message,
                        struct wire_upload *upload)
{
    enum err err = OK;

    if (flags > 1 || (flags == 1 && !gzip)) {
        return STATUS_INTERNAL;
    }
    if (flags == 1) {
        err = gzip_inflate(arena, message, MESSAGE_BYTES_MAX, NULL, &message);
        ASSERT(err == OK || err == ERR_MALFORMED || err == ERR_TOO_LARGE);
    }
    if (err != OK) {
        return err == ERR_TOO_LARGE ? STATUS_RESOURCE_EXHAUSTED : STATUS_INTERNAL;
    }
    wire_upload_add(upload, message);
    switch (message.size > 0 ? message.data[0] : 0) {
    case WIRE_REFUSE:
        return STATUS_INVALID_ARGUMENT;
    case WIRE_ENOUGH:
        return STATUS_OK;
    case WIRE_WASTE:
        return STATUS_INTERNAL;
    case WIRE_HOLD_END:
        upload->hold = true;
        return NO_STATUS;
    default: /* any other byte */
        return NO_STATUS;
    }
}

static int read_stream(struct arena *arena, bool gzip, const struct script *script,
                       struct wire_upload *upload)
{
    struct slice rest = slice_of(script->sent.data, script->sent.size);

    while (rest.size >= 5) {
        uint8_t flags = rest.data[0];
        size_t size = bytes_get_be32(rest.data + 1);
        int status = NO_STATUS;

        rest = slice_after(rest, 5);
        if (flags <= 1 && (flags == 0 || gzip) && size > MESSAGE_BYTES_MAX) {
            return STATUS_RESOURCE_EXHAUSTED;
        }
        if (flags <= 1 && (flags == 0 || gzip) && rest.size < size) {
            return script->half_closed ? STATUS_INTERNAL : NO_STATUS;
        }
        size = size < rest.size ? size : rest.size; /* minimum size of a head that is refused */
        status = read_message(arena, gzip, flags, slice_of(rest.data, size), upload);
        if (status != NO_STATUS) {
            return status;
        }
        rest = slice_after(rest, size);
    }
    if (!script->half_closed || (rest.size == 0 && upload->hold)) {
        return NO_STATUS;
    }
    return rest.size == 0 ? STATUS_OK : STATUS_INTERNAL;
}

static void send_data(struct wire_fixture *fixture, struct script *script, size_t size)
{
    struct slice bytes = slice_of(script->rest.data, size);

    if (size > script->rest.size) {
        bytes.size = script->rest.size;
    }
    script->rest = slice_after(script->rest, bytes.size);
    wire_bytes_append(&script->sent, bytes);
    wire_data(fixture, STREAM, bytes, false);
}

/* A request that has paused for too long ends or not, depending on its bytes. */
static void pass(struct wire_fixture *fixture, struct script *script, int64_t by_us)
{
    wire_pass(fixture, by_us);
    script->passed_us += by_us;
    script->broken_off = script->broken_off || script->passed_us >= CALL_BODY_DEADLINE_US;
}

/* Does one step of the script; false if it was the last that makes sense. */
static bool step(struct wire_fixture *fixture, struct script *script)
{
    uint8_t what = script->rest.data[0];

    script->rest = slice_after(script->rest, 1);
    switch (what) {
    case STEP_HALF_CLOSE:
        wire_data(fixture, STREAM, SLICE(""), true);
        script->half_closed = true;
        return false;
    case STEP_RESET:
        wire_reset(fixture, STREAM, H2_CANCEL);
        script->broken_off = true;
        return false;
    case STEP_CLOSE:
        wire_disconnect(fixture);
        script->broken_off = true;
        return false;
    case STEP_SECOND:
        pass(fixture, script, SECOND_US);
        return true;
    case STEP_STALL:
        pass(fixture, script, CALL_BODY_DEADLINE_US + CALL_BODY_CHECK_US);
        return true;
    default: /* a length */
        send_data(fixture, script, what < STEP_LARGE ? what : (what - STEP_LARGE + 1u) * 256);
        return true;
    }
}

static void check_end(struct wire_fixture *fixture, bool gzip, const struct script *script)
{
    struct wire_answer *answer = wire_answer(fixture, STREAM);
    struct wire_upload upload = {0};
    struct arena arena;
    int status = NO_STATUS;

    arena_init(&arena, ARENA_BYTES);
    status = read_stream(&arena, gzip, script, &upload);
    arena_deinit(&arena);
    ASSERT(answer->grpc_status == status);
    if (status == STATUS_OK) {
        wire_assert_upload(fixture, STREAM, &upload);
    }
    ASSERT(call_server_stats(fixture->calls).calls_live == (status == NO_STATUS ? 1 : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct wire_field encoding[] = {{"grpc-encoding", "gzip"}};
    static struct wire_fixture fixture;
    struct call_config config = wire_config(&fixture);
    struct script script = {.rest = slice_of(data, size)};
    bool gzip = false;

    if (size == 0) {
        return 0;
    }
    script.rest = slice_after(script.rest, 1);
    gzip = (data[0] & GZIP) != 0;
    config.handlers = &fixture.handlers;
    config.message_bytes_max = MESSAGE_BYTES_MAX;
    wire_setup_with(&fixture, (data[0] & BYTEWISE) != 0, &config);
    fixture.client.answers_pings = true;
    wire_preface(&fixture);
    wire_settings_ack(&fixture);
    wire_headers(&fixture, STREAM, WIRE_UPLOAD, false, encoding, gzip ? 1 : 0);
    while (script.rest.size > 0 && step(&fixture, &script)) {
        wire_run(&fixture);
    }
    if (fixture.session != NULL) {
        wire_run(&fixture);
    }
    /* Too many empty frames end the connection. */
    if (!script.broken_off && fixture.client.goaways == 0) {
        check_end(&fixture, gzip, &script);
    }
    free(script.sent.data);
    wire_teardown(&fixture);
    return 0;
}
