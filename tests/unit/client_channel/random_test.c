/*
 * random_test.c: many short runs of a channel, each from a seed: callers, the server and the
 * network act at random. A model beside the channel specifies the invariants of every call.
 */
#include "tests/unit/client_channel/channel_tests.h"
#include "tests/unit/client_channel/fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS 2000
#define MOVES 400
#define CALLS 64

/* The test's own record of a call, beside the caller's. */
struct model {
    struct asked asked; /* first */
    const struct method_info *method;
    bool started;
    bool no_retry;
    bool cancelled;
    bool committed; /* a reply of a stream was passed on, or a message of an upload taken */
    unsigned attempts; /* number of attempts seen by connections */
    char key[FIXTURE_TEXT_BYTES];
    int64_t deadline_ms; /* INT64_MAX: none */
};

struct life {
    struct fixture fixture; /* first */
    struct random_seeded dice;
    struct model models[CALLS];
    unsigned started;
    bool ending; /* the channel is being shut */
};

static uint32_t roll(struct life *life, uint32_t sides)
{
    uint32_t word = 0;

    random_fill(&life->dice.random, &word, sizeof(word));
    return word % sides;
}

static unsigned live_connections(const struct life *life)
{
    unsigned live = 0;

    for (size_t i = 0; i < life->fixture.connection_count; i++) {
        live += !life->fixture.connections[i]->closed;
    }
    return live;
}

/* --- invariants --- */

/* Returns the model of the call of an attempt: its number is the request, or the caller's key of an
 * upload. */
static struct model *model_of(struct life *life, const struct fake_call *call)
{
    const char *text = call->method == &method_upload ? call->key : call->request;
    unsigned long number = strtoul(text, NULL, 10);

    assert_true(number < CALLS);
    return &life->models[number];
}

/* Checks that an attempt is allowed to start. */
static void check_attempt(struct fixture *fixture, struct fake_call *call)
{
    struct life *life = (struct life *)fixture;
    struct model *model = model_of(life, call);

    assert_true(call->method == model->method);
    assert_int_equal(model->asked.ends, 0);
    assert_false(model->committed);
    assert_false(model->cancelled);
    model->attempts++;
    assert_true(model->attempts <= (model->no_retry ? 1 : CLIENT_ATTEMPTS_DEFAULT));
    assert_int_equal(call->keys, model->method->transaction == METHOD_WRITE);
    if (model->attempts > 1) {
        assert_string_equal(call->key, model->key);
    }
    memcpy(model->key, call->key, sizeof(model->key));
}

static void check_life(struct life *life)
{
    unsigned under_way = 0;

    assert_true(live_connections(life) <= CLIENT_DRAINING_MAX + 1);
    for (unsigned i = 0; i < life->started; i++) {
        struct model *model = &life->models[i];

        under_way += model->started && model->asked.ends == 0;
        if (model->started && model->asked.ends == 0) {
            assert_false(model->cancelled);
            assert_true(fixture_now_ms(&life->fixture) < model->deadline_ms);
        } else if (model->started) {
            assert_int_equal(model->asked.attempts, model->attempts);
            assert_true(model->asked.replies <= 1 || model->method == &method_watch);
        }
    }
    assert_int_equal(fixture_statistics(&life->fixture).calls_under_way, under_way);
    if (fixture_statistics(&life->fixture).state == CLIENT_CHANNEL_BACKOFF) {
        assert_true(life->fixture.delay_ms >= 0);
    }
}

/* --- events --- */

static void start_call(struct life *life);

static void cancel_call(struct model *model)
{
    model->cancelled = true;
    ask_cancel(&model->asked);
}

static void sometimes_cancel(struct asked *asked)
{
    if (roll(asked->more, 8) == 0) {
        cancel_call((struct model *)asked);
    }
}

static void sometimes_start(struct asked *asked)
{
    if (roll(asked->more, 8) == 0) {
        start_call(asked->more);
    }
}

static void start_call(struct life *life)
{
    static const struct method_info *const methods[] = {&method_read, &method_write, &method_watch,
                                                        &method_upload};
    static const int64_t timeouts_ms[] = {0, -1, 50, 500, 5000};
    unsigned number = life->started;
    struct model *model = &life->models[number];
    char text[32];
    struct client_metadata metadata = {.key = SLICE("idempotency-key")};
    struct client_options options = {.timeout_ms = timeouts_ms[roll(life, 5)],
                                     .metadata = &metadata,
                                     .wait_for_ready = roll(life, 3) == 0,
                                     .no_retry = roll(life, 5) == 0};

    if (number == CALLS || life->ending) {
        return;
    }
    life->started++;
    model->asked.more = life;
    model->asked.in_reply = sometimes_cancel;
    model->asked.in_end = sometimes_start;
    model->method = methods[roll(life, 4)];
    model->no_retry = options.no_retry;
    model->deadline_ms = INT64_MAX;
    if (options.timeout_ms > 0 ||
        (options.timeout_ms == 0 && model->method->stream == METHOD_UNARY)) {
        model->deadline_ms = fixture_now_ms(&life->fixture) +
                             (options.timeout_ms > 0 ? options.timeout_ms : CLIENT_CALL_TIMEOUT_MS);
    }
    (void)snprintf(text, sizeof(text), "%u", number);
    metadata.value = slice_text(text);
    options.metadata_count = model->method == &method_upload ? 1 : 0;
    assert_int_equal(ask_bytes(&life->fixture, &model->asked, model->method,
                               model->method == &method_upload ? SLICE("") : slice_text(text),
                               &options),
                     OK);
    model->started = true;
}

static void caller_moves(struct life *life)
{
    struct model *model = NULL;

    if (life->started == 0) {
        return;
    }
    model = &life->models[roll(life, life->started)];
    if (!model->started || model->asked.ends > 0) {
        return;
    }
    switch (roll(life, 5)) {
    case 0:
        cancel_call(model);
        break;
    case 1:
        ask_pause(&model->asked);
        break;
    case 2:
        ask_resume(&model->asked);
        break;
    case 3:
        if (ask_send(&model->asked, "piece") == OK) {
            model->committed = true;
        }
        break;
    default:
        (void)ask_half_close(&model->asked);
        break;
    }
}

static void server_replies(struct life *life, struct fake_call *call)
{
    if (call->paused) {
        return;
    }
    if (call->method == &method_watch && !call->cancelled) {
        model_of(life, call)->committed = true;
    }
    fake_reply(call, "reply");
}

static void server_moves(struct life *life, struct fake_connection *connection)
{
    struct fake_call *call = NULL;

    if (fake_count(connection) == 0) {
        return;
    }
    call = fake_at(connection, roll(life, fake_count(connection)));
    switch (roll(life, 8)) {
    case 0:
        server_replies(life, call);
        break;
    case 1:
        fake_end(call, CLIENT_CODE_OK);
        break;
    case 2:
    case 3:
        fake_end(call, CLIENT_CODE_UNAVAILABLE);
        break;
    case 4:
        fake_end(call, 1 + roll(life, 16));
        break;
    case 5:
        fake_end_retry(call, 1 + roll(life, 16), roll(life, 999));
        break;
    case 6:
        fake_refuse(call);
        break;
    default:
        call->over = true;
        break;
    }
}

static void connection_moves(struct life *life, struct fake_connection *connection)
{
    bool ready = connection->reported[CLIENT_CONNECTION_READY];
    bool draining = connection->reported[CLIENT_CONNECTION_DRAINING];

    if (connection->reported[CLIENT_CONNECTION_LOST]) {
        return;
    }
    switch (roll(life, 12)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
        if (!ready && !draining) {
            fake_report(connection, CLIENT_CONNECTION_READY, NULL);
        }
        break;
    case 7:
        if (!draining) {
            fake_report(connection, CLIENT_CONNECTION_DRAINING, NULL);
        }
        break;
    case 8:
        fake_lose(connection, roll(life, 2) == 0);
        break;
    default:
        connection->room = roll(life, 4) == 0 ? 2 : UINT32_MAX;
        break;
    }
}

static void network_moves(struct life *life, bool server)
{
    struct fake_connection *connection = NULL;

    if (life->fixture.connection_count == 0) {
        return;
    }
    connection = life->fixture.connections[roll(life, (uint32_t)life->fixture.connection_count)];
    if (connection->closed) {
        return;
    }
    if (server) {
        server_moves(life, connection);
    } else {
        connection_moves(life, connection);
    }
}

static void move(struct life *life)
{
    static const int64_t passes_ms[] = {0, 1, 10, 50, 120, 1000};
    uint32_t what = roll(life, 12);

    if (what < 2) {
        start_call(life);
    } else if (what < 4) {
        caller_moves(life);
    } else if (what < 7) {
        network_moves(life, true);
    } else if (what < 9) {
        network_moves(life, false);
    } else {
        life->fixture.late_ends = roll(life, 2) == 0;
        life->fixture.open_err = roll(life, 20) == 0 ? ERR_MEMORY : OK;
        fixture_pass(&life->fixture, passes_ms[roll(life, 6)]);
        check_life(life);
    }
}

/* Goal: each call ends once, before its deadline; no call is repeated once it is committed, nor
 * more often than allowed; a write has one key; connections are few and all are closed; nothing
 * leaks. */
static void test_each_call_ends_once_in_random_runs(void **state)
{
    uint64_t calls = 0;
    uint64_t repeated = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct life life = {.started = 0};

        **(uint64_t **)state = seed;
        random_seeded_init(&life.dice, seed);
        fixture_init(&life.fixture, seed);
        life.fixture.on_attempt = check_attempt;
        fixture_open(&life.fixture);
        for (int i = 0; i < MOVES; i++) {
            move(&life);
        }
        fixture_run(&life.fixture);
        check_life(&life);
        calls += fixture_statistics(&life.fixture).calls;
        life.ending = true;
        fixture_end(&life.fixture);
        for (unsigned i = 0; i < life.started; i++) {
            assert_int_equal(life.models[i].asked.ends, life.models[i].started);
            repeated += life.models[i].attempts > 1;
        }
    }
    /* Checks that the runs had many calls, a good part of them repeated. */
    assert_true(calls > (uint64_t)SEEDS * 30);
    assert_true(repeated * 4 > calls);
}

static int make_seed(void **state)
{
    *state = calloc(1, sizeof(uint64_t));
    return *state == NULL ? -1 : 0;
}

/* Prints the seed of a failed run, which repeats it. */
static int print_seed(void **state)
{
    print_message("last seed: %u\n", (unsigned)**(uint64_t **)state);
    free(*state);
    return 0;
}

int run_random_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        test_each_call_ends_once_in_random_runs, make_seed, print_seed)};

    return cmocka_run_group_tests_name("channel_random", tests, NULL, NULL);
}
