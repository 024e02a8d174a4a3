/*
 * fixture.c: see fixture.h. A connection here does nothing by itself: the test makes ends, replies
 * and changes of state, except the end of a cancelled call and the first room of an upload, which
 * follow in the connection's next turn.
 */
#include "tests/unit/client_channel/fixture.h"

#include <stdio.h>
#include <stdlib.h>

/* Maximum turns in which something happens before a test is stuck. */
#define TURNS_MAX 100000
#define US_PER_MS 1000
#define WALL_US 1700000000000000

const struct method_info method_read = {.path = SLICE("/errata.v1.PromptService/GetExamples"),
                                        .stream = METHOD_UNARY,
                                        .transaction = METHOD_READ};
const struct method_info method_write = {
    .path = SLICE("/errata.v1.FeedbackService/CaptureFeedbackEvent"),
    .stream = METHOD_UNARY,
    .transaction = METHOD_WRITE};
const struct method_info method_watch = {.path = SLICE("/errata.v1.EventService/WatchEvents"),
                                         .stream = METHOD_SERVER_STREAM,
                                         .transaction = METHOD_READ};
const struct method_info method_upload = {.path = SLICE("/errata.v1.LayoutService/IngestDocument"),
                                          .stream = METHOD_CLIENT_STREAM,
                                          .transaction = METHOD_WRITE};

static void copy_text(char *to, size_t capacity, struct slice from)
{
    assert_true(from.size < capacity);
    if (from.size > 0) {
        memcpy(to, from.data, from.size);
    }
    to[from.size] = '\0';
}

/* --- connections --- */

static struct fake_connection *fake_of(struct client_channel *channel)
{
    return (struct fake_connection *)channel;
}

static struct fake_call *fake_call_of(struct client_call *call)
{
    return (struct fake_call *)call;
}

static void fake_take_metadata(struct fake_call *call, const struct client_options *options)
{
    for (size_t i = 0; i < options->metadata_count; i++) {
        if (slice_equal(options->metadata[i].key, SLICE("idempotency-key"))) {
            copy_text(call->key, sizeof(call->key), options->metadata[i].value);
            call->keys++;
        }
    }
}

static enum err fake_start(struct client_channel *channel, const struct method_info *method,
                           struct slice request, const struct client_options *options,
                           const struct client_handlers *handlers, struct client_call **ret_call)
{
    struct fake_connection *connection = fake_of(channel);
    struct fake_call **last = &connection->calls;
    struct fake_call *call = NULL;

    assert_false(connection->closed);
    if (connection->refusal != OK) {
        enum err refusal = connection->refusal;

        connection->refusal = OK;
        return refusal;
    }
    if (fake_count(connection) >= connection->room) {
        return ERR_BUSY;
    }
    call = calloc(1, sizeof(*call));
    if (call == NULL) {
        return ERR_MEMORY;
    }
    call->connection = connection;
    call->method = method;
    call->handlers = *handlers;
    call->timeout_ms = options->timeout_ms;
    call->gzip = options->gzip;
    call->owes_room = !method_has_one_request(method);
    copy_text(call->request, sizeof(call->request), request);
    fake_take_metadata(call, options);
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = call;
    connection->fixture->attempts_alive++;
    if (connection->fixture->on_attempt != NULL) {
        connection->fixture->on_attempt(connection->fixture, call);
    }
    *ret_call = (struct client_call *)call;
    return OK;
}

/* Checks that the channel may still use a call, and uses it on the right connection. */
static struct fake_call *fake_named(struct client_channel *channel, struct client_call *call)
{
    struct fake_connection *connection = fake_of(channel);

    assert_false(connection->closed);
    for (struct fake_call *one = connection->calls; one != NULL; one = one->next) {
        if (one == fake_call_of(call)) {
            return one;
        }
    }
    fail_msg("the channel names a call that has ended");
    return NULL;
}

static void fake_cancel(struct client_channel *channel, struct client_call *call)
{
    fake_named(channel, call)->cancelled = true;
}

static void fake_pause(struct client_channel *channel, struct client_call *call)
{
    fake_named(channel, call)->paused = true;
}

static void fake_resume(struct client_channel *channel, struct client_call *call)
{
    fake_named(channel, call)->paused = false;
}

static enum err fake_send(struct client_channel *channel, struct client_call *call,
                          struct slice message)
{
    struct fake_call *fake = fake_named(channel, call);

    (void)message;
    if (fake->over || fake->cancelled) {
        return ERR_CANCELLED;
    }
    if (fake->half_closed) {
        return ERR_INVALID;
    }
    if (fake->busy) {
        return ERR_BUSY;
    }
    fake->messages++;
    return OK;
}

static enum err fake_half_close(struct client_channel *channel, struct client_call *call)
{
    struct fake_call *fake = fake_named(channel, call);

    if (fake->over || fake->cancelled) {
        return ERR_CANCELLED;
    }
    assert_false(fake->half_closed);
    fake->half_closed = true;
    return OK;
}

static const struct client_channel_ops fake_ops = {.start = fake_start,
                                                   .cancel = fake_cancel,
                                                   .pause = fake_pause,
                                                   .resume = fake_resume,
                                                   .send = fake_send,
                                                   .half_close = fake_half_close};

static enum err fake_open(void *user, const struct client_connection_listener *listener,
                          struct client_channel **ret_connection)
{
    struct fixture *fixture = user;
    struct fake_connection *connection = NULL;

    assert_true(fixture->may_close);
    if (fixture->open_err != OK) {
        return fixture->open_err;
    }
    connection = calloc(1, sizeof(*connection));
    if (connection == NULL) {
        return ERR_MEMORY;
    }
    connection->base.ops = &fake_ops;
    connection->fixture = fixture;
    connection->listener = *listener;
    connection->number = ++fixture->opened;
    connection->room = UINT32_MAX;
    assert_true(fixture->connection_count < FIXTURE_CONNECTIONS);
    fixture->connections[fixture->connection_count++] = connection;
    *ret_connection = &connection->base;
    return OK;
}

static void fake_end_with(struct fake_call *call, const struct client_status *status)
{
    struct fake_call **at = &call->connection->calls;

    while (*at != call) {
        at = &(*at)->next;
    }
    *at = call->next;
    call->connection->fixture->attempts_alive--;
    assert_int_equal(call->connection->fixture->inside, 0);
    call->handlers.on_end(call->handlers.user, status);
    free(call);
}

static void fake_end_all(struct fake_connection *connection, const struct client_status *status)
{
    while (connection->calls != NULL) {
        fake_end_with(connection->calls, status);
    }
}

static void fake_close(void *user, struct client_channel *take_connection)
{
    static const struct client_status closed = {.code = CLIENT_CODE_CANCELLED};
    struct fixture *fixture = user;
    struct fake_connection *connection = fake_of(take_connection);

    assert_true(fixture->may_close);
    assert_false(connection->closed);
    connection->closed = true;
    if (!fixture->late_ends) {
        fake_end_all(connection, &closed);
    }
}

static void fake_wake(void *user)
{
    ((struct fixture *)user)->woken = true;
}

static void fixture_forget(struct fixture *fixture, size_t at)
{
    free(fixture->connections[at]);
    fixture->connection_count--;
    for (size_t i = at; i < fixture->connection_count; i++) {
        fixture->connections[i] = fixture->connections[i + 1];
    }
}

/* Runs one turn of a connection; returns true if something happened. */
static bool fake_turn(struct fake_connection *connection)
{
    static const struct client_status cancelled = {.code = CLIENT_CODE_CANCELLED};
    struct fake_call *call = connection->calls;

    while (call != NULL && !call->cancelled && !call->owes_room) {
        call = call->next;
    }
    if (call == NULL) {
        return false;
    }
    if (call->cancelled) {
        fake_end_with(call, &cancelled);
        return true;
    }
    call->owes_room = false;
    if (!call->half_closed) {
        call->handlers.on_writable(call->handlers.user);
    }
    return true;
}

static bool fixture_turn(struct fixture *fixture)
{
    static const struct client_status closed = {.code = CLIENT_CODE_CANCELLED};
    bool moved = false;

    for (size_t i = fixture->connection_count; i > 0; i--) {
        struct fake_connection *connection = fixture->connections[i - 1];

        if (connection->closed) {
            fake_end_all(connection, &closed);
            fixture_forget(fixture, i - 1);
            moved = true;
        } else {
            moved = fake_turn(connection) || moved;
        }
    }
    return moved;
}

unsigned fake_count(const struct fake_connection *connection)
{
    unsigned count = 0;

    for (const struct fake_call *call = connection->calls; call != NULL; call = call->next) {
        count++;
    }
    return count;
}

struct fake_call *fake_at(const struct fake_connection *connection, unsigned at)
{
    struct fake_call *call = connection->calls;

    for (; call != NULL && at > 0; at--) {
        call = call->next;
    }
    assert_non_null(call);
    return call;
}

void fake_report(struct fake_connection *connection, enum client_connection_state state,
                 const char *reason)
{
    assert_false(connection->closed);
    assert_int_equal(connection->fixture->inside, 0);
    /* Each state is reported at most once, and in order. */
    for (int later = (int)state; later <= (int)CLIENT_CONNECTION_LOST; later++) {
        assert_false(connection->reported[later]);
    }
    connection->reported[state] = true;
    connection->listener.on_state(connection->listener.user, &connection->base, state,
                                  slice_text(reason));
}

void fake_ready(struct fake_connection *connection)
{
    fake_report(connection, CLIENT_CONNECTION_READY, NULL);
    fixture_run(connection->fixture);
}

void fake_drain(struct fake_connection *connection)
{
    fake_report(connection, CLIENT_CONNECTION_DRAINING, NULL);
    fixture_run(connection->fixture);
}

void fake_lose(struct fake_connection *connection, bool unseen)
{
    const struct client_status lost = {.code = CLIENT_CODE_UNAVAILABLE,
                                       .message = SLICE("lost the connection to nowhere"),
                                       .unseen = unseen};
    struct fixture *fixture = connection->fixture;

    fake_report(connection, CLIENT_CONNECTION_LOST,
                "cannot connect to nowhere: connection refused");
    fake_end_all(connection, &lost);
    fixture_run(fixture);
}

void fake_reply(struct fake_call *call, const char *text)
{
    assert_false(call->paused);
    call->handlers.on_reply(call->handlers.user, slice_text(text));
}

void fake_end(struct fake_call *call, uint32_t code)
{
    const struct client_status status = {
        .code = code, .message = SLICE("the server said so"), .from_server = true};

    fake_end_with(call, &status);
}

void fake_end_retry(struct fake_call *call, uint32_t code, uint32_t retry_ms)
{
    /* google.rpc.Status { details { type_url, value: RetryInfo { retry_delay { nanos } } } } */
    static const char type[] = "type.googleapis.com/google.rpc.RetryInfo";
    uint32_t nanos = retry_ms * 1000000;
    uint8_t bytes[64] = {0x1a, sizeof(type) - 1 + 12, 0x0a, sizeof(type) - 1};
    uint8_t *at = bytes + 4;
    struct client_status status = {
        .code = code, .message = SLICE("the server said when"), .from_server = true};

    assert_true(retry_ms < 1000);
    memcpy(at, type, sizeof(type) - 1);
    at += sizeof(type) - 1;
    memcpy(at, (const uint8_t[]){0x12, 8, 0x0a, 6, 0x10}, 5);
    at += 5;
    for (int i = 0; i < 5; i++) {
        *at++ = (uint8_t)((nanos & 0x7f) | (i < 4 ? 0x80 : 0));
        nanos >>= 7;
    }
    status.details = slice_of(bytes, (size_t)(at - bytes));
    fake_end_with(call, &status);
}

void fake_refuse(struct fake_call *call)
{
    static const struct client_status refused = {.code = CLIENT_CODE_UNAVAILABLE,
                                                 .message = SLICE("the stream was refused"),
                                                 .unseen = true};

    fake_end_with(call, &refused);
}

void fake_vanish(struct fake_call *call)
{
    static const struct client_status vanished = {.code = CLIENT_CODE_UNAVAILABLE,
                                                  .message = SLICE("the connection was lost")};

    fake_end_with(call, &vanished);
}

void fake_answer(struct fake_call *call, const char *text)
{
    fake_reply(call, text);
    fake_end(call, CLIENT_CODE_OK);
}

/* --- the fixture --- */

void fixture_init(struct fixture *fixture, uint64_t seed)
{
    *fixture = (struct fixture){.delay_ms = -1};
    clock_manual_init(&fixture->clock, WALL_US);
    random_seeded_init(&fixture->random, seed);
    fixture->config = (struct client_channel_config){
        .connector = {.user = fixture, .open = fake_open, .close = fake_close, .wake = fake_wake},
        .retry = {.attempts_max = CLIENT_ATTEMPTS_DEFAULT,
                  .backoff_initial_ms = CLIENT_BACKOFF_INITIAL_MS,
                  .backoff_max_ms = CLIENT_BACKOFF_MAX_MS},
        .call_timeout_ms = CLIENT_CALL_TIMEOUT_MS,
        .calls_max = CLIENT_CHANNEL_CALLS_MAX,
        .request_bytes_max = FIXTURE_TEXT_BYTES - 1,
        .server = "played:1",
        .random = &fixture->random.random,
        .clock = &fixture->clock.clock};
}

void fixture_open(struct fixture *fixture)
{
    assert_int_equal(client_channel_new(&fixture->config, &fixture->channel), OK);
}

void fixture_start(struct fixture *fixture)
{
    fixture_init(fixture, 1);
    fixture_open(fixture);
}

static void fixture_step(struct fixture *fixture)
{
    fixture->woken = false;
    fixture->may_close = true;
    fixture->delay_ms = client_channel_step(fixture->channel);
    fixture->may_close = false;
}

void fixture_run(struct fixture *fixture)
{
    bool moved = true;

    for (unsigned turns = 0; moved; turns++) {
        assert_true(turns < TURNS_MAX);
        moved = fixture->woken;
        if (fixture->woken) {
            fixture_step(fixture);
        }
        moved = fixture_turn(fixture) || moved;
    }
}

void fixture_pass(struct fixture *fixture, int64_t ms)
{
    fixture_run(fixture);
    while (fixture->delay_ms >= 0 && fixture->delay_ms <= ms) {
        clock_manual_advance(&fixture->clock, fixture->delay_ms * US_PER_MS);
        ms -= fixture->delay_ms;
        fixture_step(fixture);
        fixture_run(fixture);
    }
    clock_manual_advance(&fixture->clock, ms * US_PER_MS);
    if (fixture->delay_ms >= 0) {
        fixture->delay_ms -= ms;
    }
}

int64_t fixture_now_ms(const struct fixture *fixture)
{
    return fixture->clock.monotonic_us / US_PER_MS;
}

struct client_channel_statistics fixture_statistics(const struct fixture *fixture)
{
    struct client_channel_statistics statistics;

    client_channel_read_statistics(fixture->channel, &statistics);
    return statistics;
}

struct fake_connection *fixture_newest(struct fixture *fixture)
{
    assert_true(fixture->connection_count > 0);
    return fixture->connections[fixture->connection_count - 1];
}

struct fake_connection *fixture_make_ready(struct fixture *fixture)
{
    struct fake_connection *connection = fixture_newest(fixture);

    fake_ready(connection);
    return connection;
}

void fixture_end(struct fixture *fixture)
{
    ask_shut(fixture);
    fixture_step(fixture);
    assert_int_equal(fixture_statistics(fixture).calls_under_way, 0);
    client_channel_free(fixture->channel);
    while (fixture_turn(fixture)) {
    }
    assert_int_equal(fixture->connection_count, 0);
    assert_int_equal(fixture->attempts_alive, 0);
}

/* --- callers --- */

static void asked_on_reply(void *user, struct slice message)
{
    struct asked *asked = user;

    assert_int_equal(asked->fixture->inside, 0);
    assert_int_equal(asked->ends, 0);
    asked->replies++;
    copy_text(asked->reply, sizeof(asked->reply), message);
    if (asked->in_reply != NULL) {
        asked->in_reply(asked);
    }
}

static void asked_on_end(void *user, const struct client_status *status)
{
    struct asked *asked = user;

    assert_int_equal(asked->fixture->inside, 0);
    assert_int_equal(asked->ends, 0);
    asked->ends++;
    asked->code = status->code;
    asked->attempts = status->attempts;
    asked->from_server = status->from_server;
    asked->unseen = status->unseen;
    copy_text(asked->message, sizeof(asked->message), status->message);
    copy_text(asked->key, sizeof(asked->key), status->idempotency_key);
    if (asked->in_end != NULL) {
        asked->in_end(asked);
    }
}

static void asked_on_writable(void *user)
{
    struct asked *asked = user;

    assert_int_equal(asked->fixture->inside, 0);
    assert_int_equal(asked->ends, 0);
    asked->rooms++;
    if (asked->in_room != NULL) {
        asked->in_room(asked);
    }
}

enum err ask_bytes(struct fixture *fixture, struct asked *asked, const struct method_info *method,
                   struct slice request, const struct client_options *options)
{
    const struct client_handlers handlers = {.user = asked,
                                             .on_reply = asked_on_reply,
                                             .on_end = asked_on_end,
                                             .on_writable = asked_on_writable};
    enum err err = OK;

    *asked = (struct asked){.fixture = fixture,
                            .in_reply = asked->in_reply,
                            .in_end = asked->in_end,
                            .in_room = asked->in_room,
                            .more = asked->more};
    fixture->inside++;
    err = client_call_start(fixture->channel, method, request, options, &handlers, &asked->call);
    fixture->inside--;
    return err;
}

enum err ask(struct fixture *fixture, struct asked *asked, const struct method_info *method,
             const struct client_options *options)
{
    struct slice request = method_has_one_request(method) ? SLICE("please") : SLICE("");

    return ask_bytes(fixture, asked, method, request, options);
}

void ask_cancel(struct asked *asked)
{
    asked->fixture->inside++;
    client_call_cancel(asked->fixture->channel, asked->call);
    asked->fixture->inside--;
}

enum err ask_send(struct asked *asked, const char *text)
{
    enum err err = OK;

    asked->fixture->inside++;
    err = client_call_send(asked->fixture->channel, asked->call, slice_text(text));
    asked->fixture->inside--;
    return err;
}

enum err ask_half_close(struct asked *asked)
{
    enum err err = OK;

    asked->fixture->inside++;
    err = client_call_half_close(asked->fixture->channel, asked->call);
    asked->fixture->inside--;
    return err;
}

void ask_pause(struct asked *asked)
{
    asked->fixture->inside++;
    client_call_pause(asked->fixture->channel, asked->call);
    asked->fixture->inside--;
}

void ask_resume(struct asked *asked)
{
    asked->fixture->inside++;
    client_call_resume(asked->fixture->channel, asked->call);
    asked->fixture->inside--;
}

void ask_shut(struct fixture *fixture)
{
    fixture->inside++;
    client_channel_shut(fixture->channel);
    fixture->inside--;
}
