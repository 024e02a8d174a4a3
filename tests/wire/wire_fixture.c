/*
 * wire_fixture.c: the server side: methods of the test's own after the real transport.
 */
#include "server/connect/connect.h"
#include "server/grpc_web/grpc_web.h"
#include "store/base/bytes.h"
#include "tests/wire/wire.h"

#include <stdlib.h>

#define PATH(text)                                                                                 \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }
/* Damaged requests ask for as much. */
#define REPLY_BYTES_MAX (16u << 20)
#define BIDI_REPLY_BYTES 16384

bool wire_modes[2] = {false, true};

static const struct method_info methods[WIRE_METHODS] = {
    [WIRE_ECHO] = {.path = PATH("/t.T/Echo"), .index = WIRE_ECHO},
    [WIRE_SIZE] = {.path = PATH("/t.T/Size"), .index = WIRE_SIZE},
    [WIRE_FAIL] = {.path = PATH("/t.T/Fail"), .index = WIRE_FAIL},
    [WIRE_EARLY] = {.path = PATH("/t.T/Early"), .index = WIRE_EARLY},
    [WIRE_HOLD] = {.path = PATH("/t.T/Hold"), .index = WIRE_HOLD},
    [WIRE_WRITE] = {.path = PATH("/t.T/Write"),
                    .transaction = METHOD_WRITE,
                    .default_deadline_ms = 5000,
                    .index = WIRE_WRITE},
    [WIRE_META] = {.path = PATH("/t.T/Meta"), .no_side_effects = true, .index = WIRE_META},
    [WIRE_STREAM] = {.path = PATH("/t.T/Stream"),
                     .stream = METHOD_SERVER_STREAM,
                     .index = WIRE_STREAM},
    [WIRE_BIDI] = {.path = PATH("/t.T/Bidi"), .stream = METHOD_BIDI_STREAM, .index = WIRE_BIDI},
    [WIRE_UPLOAD] = {.path = PATH("/t.T/Upload"),
                     .stream = METHOD_CLIENT_STREAM,
                     .transaction = METHOD_WRITE,
                     .index = WIRE_UPLOAD},
};

/* State of a server stream, in the call's arena. */
struct producer {
    uint32_t left;
    uint32_t size;
};

const char *wire_path(enum wire_method method)
{
    return (const char *)methods[method].path.data;
}

static const struct method_info *find_method(struct slice path)
{
    for (size_t i = 0; i < WIRE_METHODS; i++) {
        if (slice_equal(methods[i].path, path)) {
            return &methods[i];
        }
    }
    return NULL;
}

static void finish(struct call *call, enum status_code code, struct slice message)
{
    const struct status status = {.code = code, .message = message};

    call_finish(call, &status);
}

static void reply_with(struct call *call, struct slice bytes)
{
    buffer_append(call_reply_begin(call, bytes.size), bytes);
    assert_int_equal(call_reply_end(call), OK);
}

static void reply_patterned(struct call *call, size_t size)
{
    struct buffer *buffer = call_reply_begin(call, size);

    for (size_t i = 0; i < size; i++) {
        buffer_append_byte(buffer, wire_pattern(i));
    }
    assert_int_equal(call_reply_end(call), OK);
}

static void produce(struct wire_fixture *fixture, struct call *call)
{
    struct producer *producer = call->user;

    while (producer->left > 0 && call_writable(call)) {
        struct call_core *core = call_core_of(call);

        reply_patterned(call, producer->size);
        producer->left--;
        if (core->output_bytes > fixture->output_bytes_max) {
            fixture->output_bytes_max = core->output_bytes;
        }
    }
    if (producer->left == 0) {
        finish(call, STATUS_OK, SLICE(""));
    }
}

static void answer_meta(struct call *call, struct slice message)
{
    struct slice plain = {NULL, 0};
    struct slice binary = {NULL, 0};
    struct buffer *buffer = NULL;

    call_add_leading(call, SLICE("x-leading"), SLICE("first"));
    call_add_trailing(call, SLICE("x-trailing-bin"), SLICE("\x00\xff\x10"));
    if (slice_equal(message, SLICE("no reply"))) {
        finish(call, STATUS_ABORTED, SLICE(""));
        return;
    }
    buffer = call_reply_begin(call, 16);
    buffer_append(buffer, call_metadata(call, SLICE("x-plain"), &plain) ? plain : SLICE("none"));
    buffer_append_byte(buffer, '|');
    buffer_append(buffer,
                  call_metadata(call, SLICE("x-some-bin"), &binary) ? binary : SLICE("none"));
    buffer_append_byte(buffer, '|');
    buffer_append(buffer, call->authorization_repeated ? SLICE("repeated") : call->authorization);
    assert_int_equal(call_reply_end(call), OK);
    finish(call, STATUS_OK, SLICE(""));
}

void wire_upload_add(struct wire_upload *upload, struct slice message)
{
    upload->messages++;
    upload->bytes += (uint32_t)message.size;
    for (size_t i = 0; i < message.size; i++) {
        upload->sum = upload->sum * 31 + message.data[i];
    }
}

static void upload_write(const struct wire_upload *upload, uint8_t bytes[WIRE_UPLOAD_REPLY_BYTES])
{
    bytes_put_be32(bytes, upload->messages);
    bytes_put_be32(bytes + 4, upload->bytes);
    bytes_put_be32(bytes + 8, upload->sum);
}

void wire_assert_upload(struct wire_fixture *fixture, uint32_t stream,
                        const struct wire_upload *upload)
{
    uint8_t bytes[WIRE_UPLOAD_REPLY_BYTES];

    upload_write(upload, bytes);
    wire_assert_status(fixture, stream, STATUS_OK);
    assert_true(slice_equal(wire_reply(fixture, stream), slice_of(bytes, sizeof(bytes))));
}

static void start_upload(struct call *call)
{
    if (slice_equal(call->authorization, SLICE("no"))) {
        finish(call, STATUS_UNAUTHENTICATED, SLICE("no token"));
        return;
    }
    call->user = arena_calloc(call->arena, 1, sizeof(struct wire_upload));
    assert_non_null(call->user);
}

static void reply_upload(struct call *call, enum status_code code)
{
    uint8_t bytes[WIRE_UPLOAD_REPLY_BYTES];

    upload_write(call->user, bytes);
    reply_with(call, slice_of(bytes, sizeof(bytes)));
    finish(call, code, code == STATUS_OK ? SLICE("") : SLICE("after all"));
}

static void take_upload(struct wire_fixture *fixture, struct call *call, struct slice message)
{
    struct wire_upload *upload = call->user;
    size_t input_bytes = call_core_of(call)->input_arena.used_bytes;

    if (input_bytes > fixture->input_bytes_max) {
        fixture->input_bytes_max = input_bytes;
    }
    wire_upload_add(upload, message);
    switch (message.size > 0 ? message.data[0] : 0) {
    case WIRE_REFUSE:
        finish(call, STATUS_INVALID_ARGUMENT, SLICE("not this one"));
        return;
    case WIRE_ENOUGH:
        reply_upload(call, STATUS_OK);
        return;
    case WIRE_WASTE:
        reply_upload(call, STATUS_INTERNAL);
        return;
    case WIRE_HOLD_END:
        upload->hold = true;
        return;
    default: /* any other byte */
        return;
    }
}

static void on_start(void *user, struct call *call)
{
    struct wire_fixture *fixture = user;

    fixture->starts++;
    if (call->method->index == WIRE_UPLOAD) {
        start_upload(call);
    }
    if (call->method->index == WIRE_EARLY) {
        finish(call, STATUS_UNAUTHENTICATED, SLICE("no token"));
    }
}

static void hold(struct wire_fixture *fixture, struct call *call)
{
    assert_true(fixture->held_count < WIRE_HELD_MAX);
    fixture->held[fixture->held_count++] = call;
}

static void start_stream(struct wire_fixture *fixture, struct call *call, struct slice message)
{
    struct producer *producer = arena_calloc(call->arena, 1, sizeof(*producer));

    assert_non_null(producer);
    if (message.size != 8 || bytes_get_be32(message.data + 4) > 65536 ||
        (uint64_t)bytes_get_be32(message.data) * bytes_get_be32(message.data + 4) >
            REPLY_BYTES_MAX) {
        finish(call, STATUS_INVALID_ARGUMENT,
               SLICE("eight bytes, of at most 64 KiB a message and 16 MiB in all"));
        return;
    }
    producer->left = bytes_get_be32(message.data);
    producer->size = bytes_get_be32(message.data + 4);
    call->user = producer;
    produce(fixture, call);
}

static void reply_bidi(struct call *call, struct slice message)
{
    struct buffer *buffer = call_reply_begin(call, BIDI_REPLY_BYTES);

    buffer_append(buffer, message);
    while (buffer->size < BIDI_REPLY_BYTES + 5) {
        buffer_append_byte(buffer, '.');
    }
    assert_int_equal(call_reply_end(call), OK);
}

static void on_message(void *user, struct call *call, struct slice message)
{
    struct wire_fixture *fixture = user;

    fixture->messages++;
    switch ((enum wire_method)call->method->index) {
    case WIRE_ECHO:
        reply_with(call, message);
        finish(call, STATUS_OK, SLICE(""));
        return;
    case WIRE_SIZE:
        if (message.size != 4 || bytes_get_be32(message.data) > REPLY_BYTES_MAX) {
            finish(call, STATUS_INVALID_ARGUMENT, SLICE("four bytes, of at most 16 MiB"));
            return;
        }
        reply_patterned(call, bytes_get_be32(message.data));
        finish(call, STATUS_OK, SLICE(""));
        return;
    case WIRE_FAIL:
        if (message.size == 0 || message.data[0] == 0 || message.data[0] > STATUS_UNAUTHENTICATED) {
            finish(call, STATUS_INVALID_ARGUMENT, SLICE("that is not an error"));
        } else {
            finish(call, (enum status_code)message.data[0], slice_after(message, 1));
        }
        return;
    case WIRE_HOLD:
    case WIRE_WRITE:
        hold(fixture, call);
        return;
    case WIRE_META:
        answer_meta(call, message);
        return;
    case WIRE_STREAM:
        start_stream(fixture, call, message);
        return;
    case WIRE_BIDI:
        reply_bidi(call, message);
        return;
    case WIRE_UPLOAD:
        take_upload(fixture, call, message);
        return;
    case WIRE_EARLY:
    case WIRE_METHODS:
        fail_msg("a message came for method %u", call->method->index);
    }
}

static void on_half_close(void *user, struct call *call)
{
    struct wire_fixture *fixture = user;

    fixture->half_closes++;
    if (call->method->index == WIRE_BIDI) {
        finish(call, STATUS_OK, SLICE(""));
    }
    if (call->method->index == WIRE_UPLOAD) {
        const struct wire_upload *upload = call->user;

        assert_int_equal(call_core_of(call)->input_arena.used_bytes, 0);
        if (upload->hold) {
            hold(fixture, call);
        } else {
            reply_upload(call, STATUS_OK);
        }
    }
}

static void on_writable(void *user, struct call *call)
{
    struct wire_fixture *fixture = user;

    fixture->writables++;
    if (call->method->index == WIRE_STREAM) {
        produce(fixture, call);
    }
}

/* Held calls stay live after their end, like calls with work elsewhere. */
static void on_cancel(void *user, struct call *call, enum err why)
{
    struct wire_fixture *fixture = user;

    fixture->cancels++;
    fixture->cancelled_why = why;
    for (uint32_t i = 0; i < fixture->held_count; i++) {
        if (fixture->held[i] == call) {
            return;
        }
    }
    finish(call, STATUS_CANCELLED, SLICE(""));
}

void wire_finish_held(struct wire_fixture *fixture, uint32_t which, enum status_code code)
{
    struct call *call = fixture->held[which];

    assert_non_null(call);
    fixture->held[which] = NULL;
    if (code == STATUS_OK) {
        reply_with(call, SLICE("held"));
    }
    finish(call, code, code == STATUS_OK ? SLICE("") : SLICE("as the test said"));
}

static void on_wake(struct net_link *link)
{
    struct wire_fixture *fixture =
        (struct wire_fixture *)(void *)((char *)link - offsetof(struct wire_fixture, link));

    fixture->woken = true;
}

/* The pool: its jobs wait until the fixture runs them. */
static enum err run_on_pool(void *user, void (*work)(void *job),
                            void (*done)(void *job, enum err result), void *job)
{
    struct wire_fixture *fixture = user;

    if (fixture->job_count >= fixture->jobs_max) {
        return ERR_BUSY;
    }
    fixture->jobs[fixture->job_count++] = (struct wire_job){work, done, job};
    fixture->jobs_taken++;
    return OK;
}

bool wire_pool_step(struct wire_fixture *fixture)
{
    struct wire_job job = fixture->jobs[0];

    if (fixture->job_count == 0) {
        return false;
    }
    fixture->job_count--;
    memmove(fixture->jobs, fixture->jobs + 1, fixture->job_count * sizeof(job));
    job.work(job.job);
    job.done(job.job, OK);
    return true;
}

struct call_config wire_config(struct wire_fixture *fixture)
{
    struct call_config config = call_config_default(&fixture->handlers);

    config.find_method = find_method;
    config.run_on_pool = run_on_pool;
    config.pool_user = fixture;
    return config;
}

/* A client and its connection to a running server. */
static void connect_client(struct wire_fixture *fixture)
{
    fixture->link = (struct net_link){.wake = on_wake, .peer = SLICE("127.0.0.1:4711")};
    fixture->client.answers_pings = true;
    assert_int_equal(nghttp2_hd_deflate_new(&fixture->client.deflater, 4096), 0);
    assert_int_equal(nghttp2_hd_inflate_new(&fixture->client.inflater), 0);
    fixture->protocol = grpc_server_protocol(fixture->grpc);
    assert_int_equal(fixture->protocol.open(fixture->protocol.user, &fixture->link, fixture->now_us,
                                            &fixture->session),
                     OK);
}

static const struct http_protocol *const http_protocols[] = {&grpc_web_protocol, &connect_protocol};

/* Starts a server without a connection. */
static void start_server(struct wire_fixture *fixture, bool bytewise,
                         const struct call_config *config, bool with_http)
{
    memset(fixture, 0, sizeof(*fixture));
    fixture->bytewise = bytewise;
    fixture->now_us = 1000000;
    fixture->jobs_max = WIRE_JOBS_MAX;
    fixture->handlers = (struct call_handlers){.user = fixture,
                                               .on_start = on_start,
                                               .on_message = on_message,
                                               .on_half_close = on_half_close,
                                               .on_writable = on_writable,
                                               .on_cancel = on_cancel};
    assert_int_equal(call_server_new(config, fixture->now_us, &fixture->calls), OK);
    if (with_http) {
        assert_int_equal(http_server_new(fixture->calls, http_protocols,
                                         sizeof(http_protocols) / sizeof(http_protocols[0]),
                                         &fixture->cors, &fixture->http),
                         OK);
    }
    assert_int_equal(grpc_server_new(fixture->calls, fixture->http, &fixture->grpc), OK);
}

void wire_setup_with(struct wire_fixture *fixture, bool bytewise, const struct call_config *config)
{
    start_server(fixture, bytewise, config, false);
    connect_client(fixture);
}

void wire_join(struct wire_fixture *fixture, struct wire_fixture *first)
{
    memset(fixture, 0, sizeof(*fixture));
    fixture->bytewise = first->bytewise;
    fixture->now_us = first->now_us;
    fixture->calls = first->calls;
    fixture->grpc = first->grpc;
    connect_client(fixture);
    wire_preface(fixture);
    wire_settings_ack(fixture);
    wire_run(fixture);
}

void wire_setup_http_with(struct wire_fixture *fixture, bool bytewise,
                          const struct call_config *config)
{
    start_server(fixture, bytewise, config, true);
    connect_client(fixture);
}

static void exchange_settings(struct wire_fixture *fixture)
{
    wire_preface(fixture);
    wire_settings_ack(fixture);
    wire_run(fixture);
    assert_int_equal(fixture->client.settings_seen, 1);
}

void wire_setup(struct wire_fixture *fixture, bool bytewise)
{
    struct call_config config = wire_config(fixture);

    wire_setup_with(fixture, bytewise, &config);
    exchange_settings(fixture);
}

void wire_setup_http(struct wire_fixture *fixture, bool bytewise)
{
    struct call_config config = wire_config(fixture);

    wire_setup_http_with(fixture, bytewise, &config);
    exchange_settings(fixture);
}

void wire_disconnect(struct wire_fixture *fixture)
{
    if (fixture->session != NULL) {
        fixture->protocol.close(fixture->session);
        fixture->session = NULL;
    }
}

static void free_client(struct wire_client *client)
{
    for (size_t i = 0; i < WIRE_STREAMS_MAX; i++) {
        if (client->answers[i] != NULL) {
            free(client->answers[i]->body);
            free(client->answers[i]);
        }
    }
    free(client->out.data);
    free(client->in.data);
    nghttp2_hd_deflate_del(client->deflater);
    nghttp2_hd_inflate_del(client->inflater);
}

void wire_leave(struct wire_fixture *fixture)
{
    wire_disconnect(fixture);
    free_client(&fixture->client);
}

void wire_teardown(struct wire_fixture *fixture)
{
    struct call_stats stats;

    wire_disconnect(fixture);
    for (uint32_t i = 0; i < fixture->held_count; i++) {
        if (fixture->held[i] != NULL) {
            wire_finish_held(fixture, i, STATUS_CANCELLED);
        }
    }
    while (wire_pool_step(fixture)) {
    }
    stats = call_server_stats(fixture->calls);
    assert_int_equal(stats.calls_live, 0);
    assert_int_equal(stats.body_bytes_live, 0);
    assert_int_equal(grpc_server_h2_stats(fixture->grpc)->streams_live, 0);
    assert_int_equal(grpc_server_h2_stats(fixture->grpc)->connections_live, 0);
    grpc_server_free(fixture->grpc);
    http_server_free(fixture->http);
    call_server_free(fixture->calls);
    free_client(&fixture->client);
}

/* Reads the server's output; false if there is none. */
static bool drain(struct wire_fixture *fixture)
{
    static uint8_t buffer[WIRE_DRAIN_BYTES];
    size_t size = fixture->protocol.drain(fixture->session, buffer, sizeof(buffer));

    fixture->woken = false;
    if (size == 0) {
        return false;
    }
    assert_true(size <= sizeof(buffer));
    if (!fixture->client.deaf) {
        wire_bytes_append(&fixture->client.in, slice_of(buffer, size));
        wire_client_parse(fixture);
    }
    return true;
}

static void note_live(struct wire_fixture *fixture)
{
    uint64_t live = call_server_stats(fixture->calls).calls_live;

    fixture->live_max = live > fixture->live_max ? live : fixture->live_max;
}

/* Feeds the client's output; between the pieces that the server accepts it is drained or not. */
static void feed(struct wire_fixture *fixture, bool drained)
{
    struct wire_bytes out = fixture->client.out;
    size_t at = 0;

    fixture->client.out = (struct wire_bytes){NULL, 0, 0};
    while (at < out.size) {
        size_t step = fixture->bytewise ? 1 : out.size - at;
        size_t taken = fixture->protocol.feed(fixture->session, slice_of(out.data + at, step),
                                              fixture->now_us);

        assert_in_range(taken, 1, step);
        at += taken;
        note_live(fixture);
        if (drained && at < out.size && !fixture->bytewise) {
            (void)drain(fixture);
        }
    }
    free(out.data);
}

void wire_feed_only(struct wire_fixture *fixture)
{
    feed(fixture, false);
}

void wire_run(struct wire_fixture *fixture)
{
    bool moved = true;

    while (moved) {
        feed(fixture, true);
        moved = drain(fixture);
        moved = moved || fixture->client.out.size > 0;
        while (!fixture->pool_waits && wire_pool_step(fixture)) {
            moved = true;
        }
    }
}

void wire_pass(struct wire_fixture *fixture, int64_t by_us)
{
    int64_t until_us = fixture->now_us + by_us;

    while (fixture->now_us < until_us) {
        int64_t step_us = until_us - fixture->now_us < 500000 ? until_us - fixture->now_us : 500000;

        fixture->now_us += step_us;
        call_server_tick(fixture->calls, fixture->now_us);
        if (fixture->session != NULL) {
            fixture->protocol.tick(fixture->session, fixture->now_us);
            wire_run(fixture);
        }
    }
}

bool wire_finished(const struct wire_fixture *fixture)
{
    return fixture->protocol.finished(fixture->session);
}
