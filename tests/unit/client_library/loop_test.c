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
struct world {
    uv_loop_t loop;
    struct errata_channel *channel;
    struct errata_call *call;
    unsigned ends;
    enum errata_code code;
    uint32_t attempts;
    char reply[8];
    unsigned closed;
    struct world *starts_other; /* world started in on_end */
};

static void on_closed(void *user)
{
    struct world *world = user;

    world->closed++;
}

static void start(struct world *world);

static void heard_reply(void *user, struct errata_bytes message)
{
    struct world *world = user;

    assert_true(message.size < sizeof(world->reply));
    memcpy(world->reply, message.data, message.size);
    world->reply[message.size] = '\0';
}

static void heard_end(void *user, const struct errata_status *status)
{
    struct world *world = user;

    world->ends++;
    world->code = status->code;
    world->attempts = status->attempts;
    if (world->starts_other != NULL) {
        start(world->starts_other);
    }
}

static void start(struct world *world)
{
    const struct errata_handlers handlers = {
        .user = world, .on_reply = heard_reply, .on_end = heard_end};

    assert_int_equal(errata_call_start(world->channel, READ, (struct errata_bytes){NULL, 0}, NULL,
                                       &handlers, &world->call),
                     ERRATA_OK);
}

static void world_open(struct world *world, const char *server)
{
    const struct errata_channel_config config = {.struct_bytes =
                                                     sizeof(struct errata_channel_config),
                                                 .server = server,
                                                 .attempts_max = 2,
                                                 .backoff_initial_ms = 1};

    memset(world, 0, sizeof(*world));
    assert_int_equal(uv_loop_init(&world->loop), 0);
    assert_int_equal(errata_channel_open(&world->loop, &config, NULL, 0, &world->channel),
                     ERRATA_OK);
}

static void world_close(struct world *world)
{
    errata_channel_close(world->channel, on_closed, world);
    assert_int_equal(world->closed, 0);
    assert_int_equal(uv_run(&world->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(world->closed, 1);
    assert_int_equal(uv_loop_close(&world->loop), 0);
}

static enum errata_channel_state state_of(const struct world *world)
{
    struct errata_channel_statistics statistics;

    errata_channel_read_statistics(world->channel, &statistics);
    return statistics.state;
}

/* Goal: a channel without calls does not keep a loop alive; with one it does, until the end.
 * Method: the loop ends by itself, before and after the call. */
static void test_channel_keeps_the_loop_alive_only_during_calls(void **state)
{
    struct errata_channel_statistics statistics;
    struct loopback server;
    struct world world;

    (void)state;
    loopback_start(&server, &answering, 1);
    world_open(&world, server.address);
    assert_int_equal(uv_run(&world.loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(state_of(&world), ERRATA_CHANNEL_IDLE);
    start(&world);
    assert_int_equal(world.ends, 0);
    (void)uv_run(&world.loop, UV_RUN_DEFAULT);
    assert_int_equal(world.ends, 1);
    assert_int_equal(world.code, ERRATA_CODE_OK);
    assert_string_equal(world.reply, "ok");
    errata_channel_read_statistics(world.channel, &statistics);
    assert_int_equal(statistics.state, ERRATA_CHANNEL_READY);
    assert_int_equal(statistics.calls, 1);
    assert_int_equal(statistics.attempts, 1);
    assert_int_equal(statistics.connections, 1);
    world_close(&world);
    loopback_wait(&server);
    loopback_free(&server);
}

/* Goal: loops and channels are independent of each other. Method: two of each, run by turns; the
 * end of one channel's call starts one on the other, whose loop is not the one that runs. */
static void test_channels_of_two_loops_are_independent(void **state)
{
    struct loopback servers[2];
    struct world worlds[2];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        loopback_start(&servers[i], &answering, 1);
        world_open(&worlds[i], servers[i].address);
    }
    worlds[0].starts_other = &worlds[1];
    start(&worlds[0]);
    while (worlds[0].ends + worlds[1].ends < 2) {
        (void)uv_run(&worlds[0].loop, UV_RUN_NOWAIT);
        (void)uv_run(&worlds[1].loop, UV_RUN_NOWAIT);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(worlds[i].ends, 1);
        assert_int_equal(worlds[i].code, ERRATA_CODE_OK);
        assert_string_equal(worlds[i].reply, "ok");
        world_close(&worlds[i]);
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
    struct world world;

    (void)state;
    loopback_start(&servers[0], &answering, 1);
    loopback_start(&servers[1], &answering, 1);
    world_open(&world, servers[0].address);
    start(&world);
    first = world.channel;
    config.server = servers[1].address;
    assert_int_equal(errata_channel_open(&world.loop, &config, NULL, 0, &world.channel), ERRATA_OK);
    start(&world);
    (void)uv_run(&world.loop, UV_RUN_DEFAULT);
    assert_int_equal(world.ends, 2);
    assert_int_equal(world.code, ERRATA_CODE_OK);
    errata_channel_close(first, NULL, NULL);
    world_close(&world);
    for (size_t i = 0; i < 2; i++) {
        loopback_wait(&servers[i]);
        loopback_free(&servers[i]);
    }
}

/* Goal: close and cancel end a call to a server that never answers. Method: a silent server. */
static void test_close_or_cancel_ends_a_call_to_a_silent_server(void **state)
{
    struct loopback server;
    struct world world;

    (void)state;
    loopback_start(&server, &silent, 1);
    world_open(&world, server.address);
    start(&world);
    while (state_of(&world) != ERRATA_CHANNEL_READY) {
        (void)uv_run(&world.loop, UV_RUN_ONCE);
    }
    errata_call_cancel(world.call);
    assert_int_equal(world.ends, 0);
    (void)uv_run(&world.loop, UV_RUN_DEFAULT);
    assert_int_equal(world.ends, 1);
    assert_int_equal(world.code, ERRATA_CODE_CANCELLED);
    start(&world);
    world_close(&world);
    assert_int_equal(world.ends, 2);
    assert_int_equal(world.code, ERRATA_CODE_CANCELLED);
    loopback_wait(&server);
    loopback_free(&server);
}

/* Goal: if no server listens, the call ends, with the number of attempts. Method: a port that is
 * not in use. */
static void test_unreachable_server_ends_the_call(void **state)
{
    struct errata_channel_statistics statistics;
    struct world world;
    char address[32];

    (void)state;
    loopback_nowhere(address);
    world_open(&world, address);
    start(&world);
    (void)uv_run(&world.loop, UV_RUN_DEFAULT);
    assert_int_equal(world.ends, 1);
    assert_int_equal(world.code, ERRATA_CODE_UNAVAILABLE);
    errata_channel_read_statistics(world.channel, &statistics);
    assert_int_equal(statistics.connect_failures, 2);
    assert_int_equal(statistics.connections, 0);
    world_close(&world);
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

    /* As programs with a separate loop do. */
    assert_true(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
