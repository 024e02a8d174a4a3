/*
 * fuzz_connection.c: any bytes as what a peer sends, through HTTP/2 and gRPC, gRPC-Web or Connect to
 * the methods of the wire tests. The first byte states how: 1 one byte at a time, 2 after a whole preface, 4 time passes
 * at the end, 8 (after a preface too) the input is not bytes but what a client does: frames with
 * whole heads, requests, messages, windows, silence. For any input, memory and calls keep their
 * limits, the connection closes, and nothing of it is left (wire_teardown).
 */
#include "store/base/assert.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/wire/wire.h"

#define BYTEWISE 1
#define WITH_PREFACE 2
#define TIME_PASSES 4
#define BY_STEPS 8
#define STEPS_MAX 300
/* Later than every deadline of the transport. */
#define LONG_US (200 * INT64_C(1000000))
#define SECOND_US INT64_C(1000000)
/* Small, so that inputs get there; and what one may take, packed and unpacked. */
#define MESSAGE_BYTES_MAX 3000
#define INPUT_BYTES_MAX (8 * (size_t)MESSAGE_BYTES_MAX)
#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

static const struct wire_field extras[] = {
    {"grpc-timeout", "1S"},
    {"grpc-timeout", "1x"},
    {"grpc-encoding", "gzip"},
    {"grpc-accept-encoding", "gzip"},
    {"grpc-encoding", "zstd"},
    {"trace-bin", "AQL/,AA"},
    {"authorization", "no"},
    {"content-length", "3"},
    {"te", "gzip"},
    {"connection", "close"},
    {"idempotency-key", "k"},
    {"Upper", "x"},
    {"content-type", "application/proto"},
    {"content-type", "application/connect+proto"},
    {"content-type", "application/grpc-web"},
    {"content-type", "application/grpc-web-text"},
    {"content-encoding", "gzip"},
    {"connect-content-encoding", "gzip"},
    {"connect-timeout-ms", "5"},
    {"origin", "http://errata"},
};

static void send_request(struct wire_fixture *fixture, struct fuzz_input *input, uint32_t stream)
{
    struct wire_field fields[4];
    enum wire_method method = (enum wire_method)fuzz_take_choice(input, WIRE_METHODS);
    uint8_t how = fuzz_take_byte(input);
    size_t count = how >> 1 & 3u;

    for (size_t i = 0; i < count; i++) {
        fields[i] = extras[fuzz_take_choice(input, COUNT_OF(extras))];
    }
    wire_headers(fixture, stream, method, (how & 1) != 0, fields, count);
}

/* A message; if it requests many bytes from a method of the wire tests, the number is reduced. */
static void send_message(struct wire_fixture *fixture, struct fuzz_input *input, uint32_t stream)
{
    uint8_t how = fuzz_take_byte(input);
    struct slice text = fuzz_take_text(input);
    uint8_t sizes[8];

    if ((how & 2) != 0) {
        wire_data(fixture, stream, text, (how & 1) != 0);
        return;
    }
    if (text.size == 4 || text.size == 8) {
        memcpy(sizes, text.data, text.size);
        memset(sizes, 0,
               text.size == 4 ? 2 : 3); /* for one response: at most 64 KiB, 255 of them */
        memset(sizes + text.size - 4, 0, 2);
        text.data = sizes;
    }
    wire_message(fixture, stream, how >> 2 & 1u, text, (how & 1) != 0);
}

/* Connection-wide frames, and those that are not of this client's kind. */
static void send_other(struct wire_fixture *fixture, struct fuzz_input *input, uint32_t stream)
{
    uint8_t type = 0;
    uint8_t flags = 0;

    switch (fuzz_take_choice(input, 6)) {
    case 0:
        wire_window(fixture, (fuzz_take_byte(input) & 1) != 0 ? stream : 0,
                    (uint32_t)fuzz_take_number(input, 4));
        return;
    case 1:
        wire_reset(fixture, stream, fuzz_take_byte(input));
        return;
    case 2:
        wire_settings(fixture, fuzz_take_byte(input) & 7, (uint32_t)fuzz_take_number(input, 4));
        return;
    case 3:
        wire_ping(fixture);
        return;
    default: /* six cases in total */
        type = fuzz_take_byte(input) % 12;
        flags = fuzz_take_byte(input);
        wire_frame(fixture, type, flags, (fuzz_take_byte(input) & 1) != 0 ? stream : 0,
                   fuzz_take_text(input));
        return;
    }
}

static void finish_held(struct wire_fixture *fixture, struct fuzz_input *input)
{
    uint32_t which = 0;

    if (fixture->held_count > 0) {
        which = fuzz_take_byte(input) % fixture->held_count;
    }
    if (fixture->held[which] != NULL) {
        wire_finish_held(fixture, which, (enum status_code)fuzz_take_choice(input, 17));
    }
}

/* Makes the client act; its bytes reach the server immediately, or together with the next ones. */
static void step(struct wire_fixture *fixture, struct fuzz_input *input)
{
    uint8_t what = fuzz_take_byte(input);
    uint32_t stream = (what >> 3 & 15u) * 2 + 1;

    switch (what & 7) {
    case 0:
    case 1:
        send_request(fixture, input, stream);
        break;
    case 2:
    case 3:
        send_message(fixture, input, stream);
        break;
    case 4:
        send_other(fixture, input, stream);
        break;
    case 5:
        wire_bytes_append(&fixture->client.out, fuzz_take_text(input));
        break;
    case 6:
        wire_run(fixture);
        finish_held(fixture, input);
        break;
    default: /* eight cases in total */
        wire_pass(fixture, (int64_t)fuzz_take_byte(input) * SECOND_US);
        break;
    }
    if ((what & 0x80) == 0) {
        wire_run(fixture);
    }
}

static void check_limits(struct wire_fixture *fixture)
{
    ASSERT(fixture->live_max <= H2_STREAMS_MAX);
    ASSERT(fixture->input_bytes_max <= INPUT_BYTES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct wire_fixture fixture;
    struct call_config config = wire_config(&fixture);
    struct fuzz_input input = fuzz_input_of(data, size);
    uint8_t how = fuzz_take_byte(&input);

    config.handlers = &fixture.handlers;
    config.message_bytes_max = MESSAGE_BYTES_MAX;
    wire_setup_http_with(&fixture, (how & BYTEWISE) != 0, &config);
    fixture.client.deaf = true;
    if ((how & (WITH_PREFACE | BY_STEPS)) != 0) {
        wire_preface(&fixture);
        wire_settings_ack(&fixture);
    }
    if ((how & BY_STEPS) == 0) {
        wire_bytes_append(&fixture.client.out, input.rest);
    }
    for (unsigned i = 0;
         i < STEPS_MAX && (how & BY_STEPS) != 0 && !fuzz_is_over(&input) && fixture.session != NULL;
         i++) {
        step(&fixture, &input);
    }
    wire_run(&fixture);
    if ((how & TIME_PASSES) != 0) {
        wire_pass(&fixture, LONG_US);
    }
    check_limits(&fixture);
    wire_teardown(&fixture);
    return 0;
}
