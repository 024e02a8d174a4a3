/*
 * fuzz_client.c: any bytes as what a server sends to the client's session (client/session.h): as
 * they are, or as frames and fields that the input chooses, so that damage comes after the framing
 * too; while calls of each kind are started, fed, held back and cancelled. Each call ends once; a
 * unary call that succeeds has one reply; nothing comes after the end; sizes keep their limits;
 * nothing is left.
 */
#include "client/session.h"
#include "server/http2/h2.h"
#include "store/base/assert.h"
#include "store/base/buffer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"

#define CALLS_MAX 6
#define STEPS_MAX 200
#define REPLY_BYTES_MAX 2000
#define REQUEST_BYTES_MAX 1000
#define ARENA_BYTES ((size_t)8 << 20)
#define BYTEWISE 1
#define SETTINGS_FIRST 2
#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

#define FRAME_DATA 0
#define FRAME_HEADERS 1
#define FRAME_SETTINGS 4
#define FLAG_END_STREAM 1
#define FLAG_END_HEADERS 4

/* State of a call. */
struct outcome {
    struct client_call *call; /* NULL if there is none, or once it has ended */
    enum method_stream kind;
    unsigned replies;
    unsigned ends;
};

struct fuzzed {
    struct arena arena;
    struct client_session *session;
    struct outcome outcomes[CALLS_MAX];
    unsigned started;
    int64_t now_ms;
    bool bytewise;
    bool broken; /* the session takes no more bytes */
};

static const struct method_info methods[] = {
    {.path = SLICE("/errata.v1.PromptService/GetExamples"), .stream = METHOD_UNARY},
    {.path = SLICE("/errata.v1.EventService/WatchEvents"), .stream = METHOD_SERVER_STREAM},
    {.path = SLICE("/errata.v1.LayoutService/IngestDocumentStream"),
     .stream = METHOD_CLIENT_STREAM},
};

static void on_reply(void *user, struct slice message)
{
    struct outcome *outcome = user;

    ASSERT(outcome->ends == 0);
    ASSERT(message.size <= REPLY_BYTES_MAX);
    outcome->replies++;
    ASSERT(outcome->kind == METHOD_SERVER_STREAM || outcome->replies == 1);
}

static void on_end(void *user, const struct client_status *status)
{
    struct outcome *outcome = user;

    ASSERT(outcome->ends == 0);
    outcome->ends++;
    outcome->call = NULL;
    ASSERT(status->code <= 16);
    ASSERT(status->metadata_count <= CLIENT_HEADER_FIELDS_MAX);
    ASSERT(status->code != 0 || outcome->kind == METHOD_SERVER_STREAM || outcome->replies == 1);
    ASSERT(status->code != 0 || status->from_server);
}

static void on_writable(void *user)
{
    const struct outcome *outcome = user;

    ASSERT(outcome->ends == 0);
    ASSERT(outcome->kind == METHOD_CLIENT_STREAM);
}

static void start(struct fuzzed *fuzzed, uint32_t which, bool gzip)
{
    struct outcome *outcome = &fuzzed->outcomes[fuzzed->started];
    const struct client_options options = {.gzip = gzip};
    const struct client_handlers handlers = {outcome, on_reply, on_end, on_writable};
    const struct client_session_call call = {
        .method = &methods[which],
        .request = which == 2 ? slice_of(NULL, 0) : SLICE("request"),
        .options = &options,
        .handlers = &handlers,
        .deadline_ms = fuzzed->started % 2 == 0 ? 0 : fuzzed->now_ms + 5000};

    if (fuzzed->started < CALLS_MAX) {
        fuzzed->started++;
        outcome->kind = methods[which].stream;
        ASSERT(client_session_start(fuzzed->session, &call, &outcome->call) == OK);
    }
}

/* Exchanges data with the session until nothing changes. */
static void settle(struct fuzzed *fuzzed)
{
    uint8_t bytes[999];

    client_session_report(fuzzed->session);
    while (client_session_drain(fuzzed->session, bytes, sizeof(bytes)) > 0) {
    }
}

static void feed(struct fuzzed *fuzzed, struct slice bytes)
{
    while (bytes.size > 0 && !fuzzed->broken) {
        size_t size = fuzzed->bytewise ? 1 : bytes.size;
        enum err err = client_session_feed(fuzzed->session, slice_of(bytes.data, size));

        ASSERT(err == OK || err == ERR_MALFORMED || err == ERR_UNAVAILABLE);
        if (err != OK || client_session_is_over(fuzzed->session)) {
            fuzzed->broken = true;
            client_session_fail(fuzzed->session, 14, "broken");
        }
        bytes = slice_after(bytes, size);
    }
    settle(fuzzed);
}

static void feed_frame(struct fuzzed *fuzzed, uint8_t type, uint8_t flags, uint32_t stream,
                       struct slice payload)
{
    const uint8_t head[] = {(uint8_t)(payload.size >> 16),
                            (uint8_t)(payload.size >> 8),
                            (uint8_t)payload.size,
                            type,
                            flags,
                            0,
                            0,
                            (uint8_t)(stream >> 8),
                            (uint8_t)stream};
    struct buffer frame;

    buffer_init(&frame, &fuzzed->arena, sizeof(head) + payload.size);
    buffer_append(&frame, slice_of(head, sizeof(head)));
    buffer_append(&frame, payload);
    ASSERT(buffer_ok(&frame));
    feed(fuzzed, buffer_slice(&frame));
}

/* Adds a field that is never indexed (RFC 7541, 6.2.2). */
static void put_field(struct buffer *block, struct slice name, struct slice value)
{
    buffer_append_byte(block, 0);
    buffer_append_byte(block, (uint8_t)(name.size & 0x7f));
    buffer_append(block, slice_of(name.data, name.size & 0x7f));
    buffer_append_byte(block, (uint8_t)(value.size & 0x7f));
    buffer_append(block, slice_of(value.data, value.size & 0x7f));
}

static void send_headers(struct fuzzed *fuzzed, struct fuzz_input *input, uint32_t stream)
{
    static const char *const fields[][2] = {
        {":status", "200"},
        {"content-type", "application/grpc"},
        {"grpc-status", "0"},
        {"grpc-encoding", "gzip"},
        {"grpc-status", "7"},
        {"grpc-message", "no %E2%82%AC%zz"},
        {"grpc-status-details-bin", "CAUSAm5v"},
        {":status", "503"},
        {":status", "100"},
        {"content-type", "text/html"},
        {"grpc-encoding", "zstd"},
        {"trace-bin", "AQL/,AA"},
        {"content-length", "9"},
    };
    uint8_t count = fuzz_take_byte(input) % 8;
    struct buffer block;

    buffer_init(&block, &fuzzed->arena, 256);
    for (uint8_t i = 0; i < count; i++) {
        uint8_t which = fuzz_take_byte(input);

        if (which < 200) {
            put_field(&block, slice_text(fields[which % COUNT_OF(fields)][0]),
                      slice_text(fields[which % COUNT_OF(fields)][1]));
        } else if (which < 230) {
            put_field(&block, slice_text(fields[which % COUNT_OF(fields)][0]),
                      fuzz_take_text(input));
        } else {
            put_field(&block, fuzz_take_text(input), fuzz_take_text(input));
        }
    }
    ASSERT(buffer_ok(&block));
    feed_frame(fuzzed, FRAME_HEADERS, FLAG_END_HEADERS | (fuzz_take_byte(input) & FLAG_END_STREAM),
               stream, buffer_slice(&block));
}

/* A message with its head, which may lie. */
static void send_message(struct fuzzed *fuzzed, struct fuzz_input *input, uint32_t stream)
{
    uint8_t flags = fuzz_take_byte(input);
    size_t size = fuzz_take_number(input, 2) % (REPLY_BYTES_MAX + 10);
    struct slice text = fuzz_take_text(input);
    struct buffer body;

    if (flags < 128) {
        size = text.size;
    }
    buffer_init(&body, &fuzzed->arena, 5 + text.size);
    buffer_append_byte(&body, flags & 1);
    buffer_append(&body, SLICE("\0\0"));
    buffer_append_byte(&body, (uint8_t)(size >> 8));
    buffer_append_byte(&body, (uint8_t)size);
    buffer_append(&body, text);
    ASSERT(buffer_ok(&body));
    feed_frame(fuzzed, FRAME_DATA, flags >> 1 & FLAG_END_STREAM, stream, buffer_slice(&body));
}

/* Makes the caller act on one of its calls. */
static void act(struct fuzzed *fuzzed, struct fuzz_input *input)
{
    struct outcome *outcome = &fuzzed->outcomes[fuzz_take_choice(input, CALLS_MAX)];
    uint8_t what = fuzz_take_byte(input) % 8;
    enum err err = OK;

    if (what == 0) {
        start(fuzzed, fuzz_take_choice(input, COUNT_OF(methods)), fuzz_take_choice(input, 2) == 1);
    }
    if (outcome->call == NULL) {
        return;
    }
    if (what == 1) {
        client_session_pause(outcome->call);
    } else if (what == 2) {
        client_session_resume(outcome->call);
    } else if (what == 3) {
        client_session_end(fuzzed->session, outcome->call, 1, "enough");
    } else if (what == 4) {
        err = client_session_half_close(fuzzed->session, outcome->call);
        ASSERT(err == OK || err == ERR_INVALID || err == ERR_CANCELLED);
    } else if (what == 5) {
        err = client_session_send(fuzzed->session, outcome->call, fuzz_take_text(input));
        ASSERT(err == OK || err == ERR_INVALID || err == ERR_CANCELLED || err == ERR_BUSY);
    }
}

static void pass(struct fuzzed *fuzzed, int64_t by_ms)
{
    fuzzed->now_ms += by_ms;
    (void)client_session_tick(fuzzed->session, fuzzed->now_ms);
    settle(fuzzed);
}

static void step(struct fuzzed *fuzzed, struct fuzz_input *input)
{
    uint8_t what = fuzz_take_byte(input);
    uint32_t stream = what >> 4 & 7u;

    stream = stream * 2 + 1;
    switch (what & 7) {
    case 0:
    case 1:
        send_headers(fuzzed, input, stream);
        return;
    case 2:
    case 3:
        send_message(fuzzed, input, stream);
        return;
    case 4:
        act(fuzzed, input);
        settle(fuzzed);
        return;
    case 5:
        pass(fuzzed, (int64_t)fuzz_take_number(input, 2));
        return;
    case 6: {
        uint8_t type = fuzz_take_byte(input) % 12;
        uint8_t flags = fuzz_take_byte(input);

        feed_frame(fuzzed, type, flags, (what & 8) != 0 ? 0 : stream, fuzz_take_text(input));
        return;
    }
    default: /* eight cases in total */
        feed(fuzzed, fuzz_take_text(input));
        return;
    }
}

static void finish(struct fuzzed *fuzzed)
{
    for (size_t i = 0; i < fuzzed->started; i++) {
        if (fuzzed->outcomes[i].call != NULL) {
            client_session_resume(fuzzed->outcomes[i].call);
        }
    }
    settle(fuzzed);
    client_session_fail(fuzzed->session, 14, "gone");
    settle(fuzzed);
    for (size_t i = 0; i < fuzzed->started; i++) {
        ASSERT(fuzzed->outcomes[i].ends == 1);
    }
    ASSERT(client_session_calls_under_way(fuzzed->session) == 0);
    client_session_free(fuzzed->session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct client_session_config config = {.authority = SLICE("localhost"),
                                                 .token = SLICE("errata_token"),
                                                 .user_agent = SLICE("fuzz"),
                                                 .reply_bytes_max = REPLY_BYTES_MAX,
                                                 .request_bytes_max = REQUEST_BYTES_MAX,
                                                 .keepalive_ms = 10000,
                                                 .keepalive_timeout_ms = 5000};
    struct fuzz_input input = fuzz_input_of(data, size);
    uint8_t how = fuzz_take_byte(&input);
    struct fuzzed fuzzed = {.now_ms = 1000, .bytewise = (how & BYTEWISE) != 0};

    arena_init(&fuzzed.arena, ARENA_BYTES);
    ASSERT(client_session_new(&config, &fuzzed.session) == OK);
    if ((how & SETTINGS_FIRST) != 0) {
        feed_frame(&fuzzed, FRAME_SETTINGS, 0, 0, slice_of(NULL, 0));
    }
    for (uint32_t i = 0; i < COUNT_OF(methods); i++) {
        start(&fuzzed, i, (how >> 2 & 1) != 0);
    }
    settle(&fuzzed);
    for (unsigned i = 0; i < STEPS_MAX && !fuzz_is_over(&input); i++) {
        step(&fuzzed, &input);
    }
    finish(&fuzzed);
    arena_deinit(&fuzzed.arena);
    return 0;
}
