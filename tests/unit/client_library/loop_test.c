/*
 * loop_test.c: public channels on loops of the test's own, over TCP: two loops and channels beside each
 * other, ends by this side, and what keeps a loop alive.
 */
#include "tests/support/client/loopback.h"
#include "tests/unit/client_library/alloc.h"
#include "tests/unit/client_library/library_tests.h"

#include <errata/client.h>

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <uv.h>

#include <cmocka.h>

#define READ "errata.v1.EventService/GetEvent"
#define ALLOCATIONS_MAX 500

static const char *const headers[] = {":status", "200", "content-type", "application/grpc", NULL};
static const char *const trailers_ok[] = {"grpc-status", "0", NULL};
static const struct peer_script answering = {
    .headers = headers, .body = SLICE("\0\0\0\0\2ok"), .trailers = trailers_ok};
static const struct peer_script silent = {.silent = true};

/* A loop and a channel on it, with a call. */
struct fixture {
    uv_loop_t loop;
    struct errata_channel *channel;
    struct errata_call *call;
    unsigned ends;
    enum errata_code code;
    uint32_t attempts;
    char reply[8];
    unsigned closed;
    struct fixture *starts_other; /* fixture whose call is started in on_end */
};

static void on_closed(void *user)
{
    struct fixture *fixture = user;

    fixture->closed++;
}

static void start(struct fixture *fixture);

static void heard_reply(void *user, struct errata_bytes message)
{
    struct fixture *fixture = user;

    assert_true(message.size < sizeof(fixture->reply));
    memcpy(fixture->reply, message.data, message.size);
    fixture->reply[message.size] = '\0';
}

static void heard_end(void *user, const struct errata_status *status)
{
    struct fixture *fixture = user;

    fixture->ends++;
    fixture->code = status->code;
    fixture->attempts = status->attempts;
    if (fixture->starts_other != NULL) {
        start(fixture->starts_other);
    }
}

static void start(struct fixture *fixture)
{
    const struct errata_handlers handlers = {
        .user = fixture, .on_reply = heard_reply, .on_end = heard_end};

    assert_int_equal(errata_call_start(fixture->channel, READ, (struct errata_bytes){NULL, 0}, NULL,
                                       &handlers, &fixture->call),
                     ERRATA_OK);
}

static void fixture_open(struct fixture *fixture, const char *server)
{
    const struct errata_channel_config config = {.struct_bytes =
                                                     sizeof(struct errata_channel_config),
                                                 .server = server,
                                                 .attempts_max = 2,
                                                 .backoff_initial_ms = 1};

    memset(fixture, 0, sizeof(*fixture));
    assert_int_equal(uv_loop_init(&fixture->loop), 0);
    assert_int_equal(errata_channel_open(&fixture->loop, &config, NULL, 0, &fixture->channel),
                     ERRATA_OK);
}

static void fixture_close(struct fixture *fixture)
{
    errata_channel_close(fixture->channel, on_closed, fixture);
    assert_int_equal(fixture->closed, 0);
    assert_int_equal(uv_run(&fixture->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(fixture->closed, 1);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
}

static enum errata_channel_state state_of(const struct fixture *fixture)
{
    struct errata_channel_statistics statistics;

    errata_channel_read_statistics(fixture->channel, &statistics);
    return statistics.state;
}

/* Goal: a channel without calls does not keep a loop alive; with one it does, until the end.
 * Method: the loop ends by itself, before and after the call. */
static void test_channel_keeps_the_loop_alive_only_during_calls(void **state)
{
    struct errata_channel_statistics statistics;
    struct loopback server;
    struct fixture fixture;

    (void)state;
    loopback_start(&server, &answering, 1);
    fixture_open(&fixture, server.address);
    assert_int_equal(uv_run(&fixture.loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(state_of(&fixture), ERRATA_CHANNEL_IDLE);
    start(&fixture);
    assert_int_equal(fixture.ends, 0);
    (void)uv_run(&fixture.loop, UV_RUN_DEFAULT);
    assert_int_equal(fixture.ends, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_OK);
    assert_string_equal(fixture.reply, "ok");
    errata_channel_read_statistics(fixture.channel, &statistics);
    assert_int_equal(statistics.state, ERRATA_CHANNEL_READY);
    assert_int_equal(statistics.calls, 1);
    assert_int_equal(statistics.attempts, 1);
    assert_int_equal(statistics.connections, 1);
    fixture_close(&fixture);
    loopback_wait(&server);
    loopback_free(&server);
}

/* Goal: loops and channels are independent of each other. Method: two of each, run in turn; the end
 * of one channel's call starts one on the other, whose loop is not the one that runs. */
static void test_channels_of_two_loops_are_independent(void **state)
{
    struct loopback servers[2];
    struct fixture fixtures[2];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        loopback_start(&servers[i], &answering, 1);
        fixture_open(&fixtures[i], servers[i].address);
    }
    fixtures[0].starts_other = &fixtures[1];
    start(&fixtures[0]);
    while (fixtures[0].ends + fixtures[1].ends < 2) {
        (void)uv_run(&fixtures[0].loop, UV_RUN_NOWAIT);
        (void)uv_run(&fixtures[1].loop, UV_RUN_NOWAIT);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(fixtures[i].ends, 1);
        assert_int_equal(fixtures[i].code, ERRATA_CODE_OK);
        assert_string_equal(fixtures[i].reply, "ok");
        fixture_close(&fixtures[i]);
        loopback_wait(&servers[i]);
        loopback_free(&servers[i]);
    }
}

/* Goal: two channels of one loop have one connection each. Method: a call on both, to different
 * servers. */
static void test_channels_of_one_loop_have_own_connections(void **state)
{
    struct errata_channel_config config = {.struct_bytes = sizeof(struct errata_channel_config)};
    struct errata_channel *first = NULL;
    struct loopback servers[2];
    struct fixture fixture;

    (void)state;
    loopback_start(&servers[0], &answering, 1);
    loopback_start(&servers[1], &answering, 1);
    fixture_open(&fixture, servers[0].address);
    start(&fixture);
    first = fixture.channel;
    config.server = servers[1].address;
    assert_int_equal(errata_channel_open(&fixture.loop, &config, NULL, 0, &fixture.channel),
                     ERRATA_OK);
    start(&fixture);
    (void)uv_run(&fixture.loop, UV_RUN_DEFAULT);
    assert_int_equal(fixture.ends, 2);
    assert_int_equal(fixture.code, ERRATA_CODE_OK);
    errata_channel_close(first, NULL, NULL);
    fixture_close(&fixture);
    for (size_t i = 0; i < 2; i++) {
        loopback_wait(&servers[i]);
        loopback_free(&servers[i]);
    }
}

/* Goal: close and cancel end a call to a server that never answers. Method: a silent server. */
static void test_close_or_cancel_ends_a_call_to_a_silent_server(void **state)
{
    struct loopback server;
    struct fixture fixture;

    (void)state;
    loopback_start(&server, &silent, 1);
    fixture_open(&fixture, server.address);
    start(&fixture);
    while (state_of(&fixture) != ERRATA_CHANNEL_READY) {
        (void)uv_run(&fixture.loop, UV_RUN_ONCE);
    }
    errata_call_cancel(fixture.call);
    assert_int_equal(fixture.ends, 0);
    (void)uv_run(&fixture.loop, UV_RUN_DEFAULT);
    assert_int_equal(fixture.ends, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_CANCELLED);
    start(&fixture);
    fixture_close(&fixture);
    assert_int_equal(fixture.ends, 2);
    assert_int_equal(fixture.code, ERRATA_CODE_CANCELLED);
    loopback_wait(&server);
    loopback_free(&server);
}

/* Goal: if no server listens, the call ends, with the number of attempts. Method: a port that is
 * not in use. */
static void test_unreachable_server_ends_the_call(void **state)
{
    struct errata_channel_statistics statistics;
    struct fixture fixture;
    char address[32];

    (void)state;
    loopback_nowhere(address);
    fixture_open(&fixture, address);
    start(&fixture);
    (void)uv_run(&fixture.loop, UV_RUN_DEFAULT);
    assert_int_equal(fixture.ends, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_UNAVAILABLE);
    errata_channel_read_statistics(fixture.channel, &statistics);
    assert_int_equal(statistics.connect_failures, 2);
    assert_int_equal(statistics.connections, 0);
    fixture_close(&fixture);
}

/* Goal: an invalid configuration opens nothing, and is described in a sentence. Method: one. */
static void test_invalid_configuration_opens_nothing(void **state)
{
    const struct errata_channel_config config = {
        .struct_bytes = sizeof(struct errata_channel_config), .server = "::1"};
    struct errata_channel *channel = NULL;
    char problem[200] = "";
    uv_loop_t loop;

    (void)state;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(errata_channel_open(&loop, &config, problem, sizeof(problem), &channel),
                     ERRATA_INVALID);
    assert_non_null(strstr(problem, "server: misplaced colon"));
    assert_null(channel);
    assert_int_equal(uv_loop_close(&loop), 0);
}

/* Goal: open without memory reports it and leaves the loop unchanged. Method: each allocation fails
 * once. */
static void test_open_without_memory_leaves_the_loop_unchanged(void **state)
{
    enum errata_result result = ERRATA_MEMORY;

    (void)state;
    for (size_t place = 1; result != ERRATA_OK; place++) {
        struct errata_channel *channel = NULL;
        char problem[200] = "";
        uv_loop_t loop;

        assert_true(place < ALLOCATIONS_MAX);
        assert_int_equal(uv_loop_init(&loop), 0);
        alloc_fail(place);
        result = errata_channel_open(&loop, NULL, problem, sizeof(problem), &channel);
        assert_int_equal(alloc_has_failed(), result == ERRATA_MEMORY);
        assert_string_equal(problem, result == ERRATA_OK ? "" : errata_result_text(result));
        errata_channel_close(channel, NULL, NULL);
        assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
        assert_int_equal(uv_loop_close(&loop), 0);
    }
}

int run_loop_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_channel_keeps_the_loop_alive_only_during_calls),
        cmocka_unit_test(test_channels_of_two_loops_are_independent),
        cmocka_unit_test(test_channels_of_one_loop_have_own_connections),
        cmocka_unit_test(test_close_or_cancel_ends_a_call_to_a_silent_server),
        cmocka_unit_test(test_unreachable_server_ends_the_call),
        cmocka_unit_test(test_invalid_configuration_opens_nothing),
        cmocka_unit_test(test_open_without_memory_leaves_the_loop_unchanged),
    };

    /* SIGPIPE is ignored, as in programs with their own loop. */
    assert_true(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
