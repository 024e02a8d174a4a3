/*
 * call_test.c: calls in bytes over a channel that the test plays: what reaches it, what comes back, and
 * what may be done from a callback.
 */
#include "tests/support/client/fake.h"
#include "tests/unit/client_library/alloc.h"
#include "tests/unit/client_library/library_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define UNARY "errata.v1.PromptService/GetExamples"
#define UPLOAD "errata.v1.LayoutService/IngestDocumentStream"

/* A channel, one call on it, and its reports. */
struct world {
    struct fake fake;
    struct errata_channel *channel;
    struct errata_call *call;
    struct client_call *played; /* the same from below */
    unsigned replies;
    unsigned rooms;
    unsigned ends;
    char reply[16];
    enum errata_code code;
    char message[64];
    bool cancels_in_end; /* on_end calls all functions on its call */
    bool closes_in_end; /* on_end closes the channel */
    bool cancels_in_reply;
};

static void heard_reply(void *user, struct errata_bytes message)
{
    struct world *world = user;

    world->replies++;
    (void)snprintf(world->reply, sizeof(world->reply), "%.*s", (int)message.size,
                   (const char *)message.data);
    if (world->cancels_in_reply) {
        errata_call_cancel(world->call);
    }
}

static void heard_end(void *user, const struct errata_status *status)
{
    struct world *world = user;

    world->ends++;
    world->code = status->code;
    (void)snprintf(world->message, sizeof(world->message), "%s", status->message);
    if (world->cancels_in_end) {
        errata_call_cancel(world->call);
        errata_call_pause(world->call);
        errata_call_resume(world->call);
        assert_int_equal(errata_call_send(world->call, (struct errata_bytes){"x", 1}),
                         ERRATA_ENDED);
        assert_int_equal(errata_call_half_close(world->call), ERRATA_ENDED);
    }
    if (world->closes_in_end) {
        errata_channel_close(world->channel, NULL, NULL);
    }
}

static void heard_room(void *user)
{
    struct world *world = user;

    world->rooms++;
}

static void world_open(struct world *world)
{
    memset(world, 0, sizeof(*world));
    world->channel = fake_open(&world->fake, false);
    world->played = &world->fake.calls[0];
}

static enum errata_result world_start(struct world *world, const char *method,
                                      struct errata_bytes request)
{
    const struct errata_handlers handlers = {
        .user = world, .on_reply = heard_reply, .on_end = heard_end, .on_writable = heard_room};

    return errata_call_start(world->channel, method, request, NULL, &handlers, &world->call);
}

/* A world with one call under way. */
static void world_call(struct world *world, const char *method)
{
    world_open(world);
    assert_int_equal(world_start(world, method, (struct errata_bytes){NULL, 0}), ERRATA_OK);
    assert_non_null(world->call);
}

static void world_close(struct world *world)
{
    fake_close(&world->fake, world->channel);
}

/* Goal: a call reaches the channel with its method and bytes, and its reply and end are returned.
 * Method: one call from start to end. */
static void test_call_is_passed_to_the_channel_and_back(void **state)
{
    struct world world;

    (void)state;
    world_open(&world);
    assert_int_equal(world_start(&world, "/" UNARY, (struct errata_bytes){"asked", 5}), ERRATA_OK);
    assert_true(slice_equal(world.played->method->path, SLICE("/" UNARY)));
    assert_memory_equal(world.played->request, "asked", 5);
    assert_int_equal(world.played->request_bytes, 5);
    fake_reply(world.played, SLICE("reply"));
    assert_string_equal(world.reply, "reply");
    assert_int_equal(world.ends, 0);
    fake_end(world.played, 0);
    assert_int_equal(world.ends, 1);
    assert_int_equal(world.code, ERRATA_CODE_OK);
    assert_string_equal(world.message, "");
    world_close(&world);
}

/* Goal: each way in which a channel refuses a call is reported as the header says, and no callback
 * follows. Method: all of them, and a lack of memory here. */
static void test_refusal_of_the_channel_is_reported(void **state)
{
    static const struct {
        enum err lower;
        enum errata_result result;
    } table[] = {{ERR_INVALID, ERRATA_INVALID},   {ERR_TOO_LARGE, ERRATA_TOO_LARGE},
                 {ERR_BUSY, ERRATA_BUSY},         {ERR_MEMORY, ERRATA_MEMORY},
                 {ERR_UNAVAILABLE, ERRATA_ENDED}, {ERR_CANCELLED, ERRATA_ENDED}};
    struct world world;

    (void)state;
    world_open(&world);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        world.fake.start_result = table[i].lower;
        assert_int_equal(world_start(&world, UNARY, (struct errata_bytes){NULL, 0}),
                         table[i].result);
    }
    world.fake.start_result = OK;
    alloc_fail(1);
    assert_int_equal(world_start(&world, UNARY, (struct errata_bytes){NULL, 0}), ERRATA_MEMORY);
    assert_true(alloc_has_failed());
    assert_null(world.call);
    assert_int_equal(world.fake.call_count, 0);
    assert_int_equal(world.ends, 0);
    world_close(&world);
}

/* Goal: invalid arguments are refused in the library. Method: methods, requests, handlers,
 * options. */
static void test_invalid_arguments_are_refused(void **state)
{
    static const struct errata_handlers deaf = {.on_reply = heard_reply};
    static const struct errata_handlers hearing = {.on_end = heard_end};
    static const struct errata_options hurried = {.timeout_ms = -7};
    const struct errata_bytes none = {NULL, 0};
    struct world world;

    (void)state;
    world_open(&world);
    assert_int_equal(world_start(&world, "errata.v1.FeedbackService/Nothing", none),
                     ERRATA_INVALID);
    assert_int_equal(world_start(&world, NULL, none), ERRATA_INVALID);
    assert_int_equal(world_start(&world, UNARY, (struct errata_bytes){NULL, 1}), ERRATA_INVALID);
    assert_int_equal(world_start(&world, UPLOAD, (struct errata_bytes){"x", 1}), ERRATA_INVALID);
    assert_int_equal(errata_call_start(world.channel, UNARY, none, NULL, &deaf, &world.call),
                     ERRATA_INVALID);
    assert_int_equal(errata_call_start(world.channel, UNARY, none, NULL, NULL, &world.call),
                     ERRATA_INVALID);
    assert_int_equal(errata_call_start(world.channel, UNARY, none, &hurried, &hearing, &world.call),
                     ERRATA_INVALID);
    assert_null(world.call);
    assert_int_equal(world.fake.call_count, 0);
    world_close(&world);
}

/* Goal: options are passed to the channel. Method: a key, one metadata entry, and each switch. */
static void test_options_are_passed_to_the_channel(void **state)
{
    static const struct errata_metadata metadata = {"x-trace", {"7", 1}};
    static const struct errata_handlers handlers = {.on_end = heard_end};
    static const struct errata_options options = {.timeout_ms = 1500,
                                                  .metadata = &metadata,
                                                  .metadata_count = 1,
                                                  .idempotency_key = "order-7",
                                                  .wait_for_ready = true};
    struct errata_handlers reported = handlers;
    struct world world;

    (void)state;
    world_open(&world);
    reported.user = &world;
    assert_int_equal(errata_call_start(world.channel, UNARY, (struct errata_bytes){NULL, 0},
                                       &options, &reported, NULL),
                     ERRATA_OK);
    assert_int_equal(world.played->options.timeout_ms, 1500);
    assert_true(world.played->options.wait_for_ready);
    assert_int_equal(world.played->options.metadata_count, 2);
    assert_string_equal(world.played->metadata[0][0], "x-trace");
    assert_string_equal(world.played->metadata[0][1], "7");
    assert_string_equal(world.played->metadata[1][0], "idempotency-key");
    assert_string_equal(world.played->metadata[1][1], "order-7");
    fake_reply(world.played, SLICE("ignored"));
    fake_end(world.played, 0);
    assert_int_equal(world.ends, 1);
    world_close(&world);
}

/* The values that check_status expects. */
struct wanted {
    bool out_of_memory;
    unsigned ends;
};

static void check_status(void *user, const struct errata_status *status)
{
    struct wanted *wanted = user;

    wanted->ends++;
    assert_int_equal(status->code, ERRATA_CODE_NOT_FOUND);
    assert_true(status->from_server);
    assert_int_equal(status->attempts, 3);
    assert_int_equal(status->details.size, 2);
    assert_memory_equal(status->details.data, "\1\2", 2);
    if (wanted->out_of_memory) {
        assert_string_equal(status->message, "out of memory for the status");
        assert_int_equal(status->metadata_count, 0);
        assert_null(status->idempotency_key);
        return;
    }
    assert_string_equal(status->message, "no such layout");
    assert_string_equal(status->idempotency_key, "key-1");
    assert_int_equal(status->metadata_count, 2);
    assert_string_equal(status->metadata[0].key, "x-one");
    assert_int_equal(status->metadata[0].value.size, 1);
    assert_memory_equal(status->metadata[0].value.data, "1", 1);
    assert_string_equal(status->metadata[1].key, "x-raw-bin");
    assert_int_equal(status->metadata[1].value.size, 2);
    assert_memory_equal(status->metadata[1].value.data, "\0\xff", 2);
}

/* Goal: every member of a status is passed on, its texts with a terminator; and without memory the
 * end is reported anyway. Method: texts cut out of a longer one; then with malloc failing. */
static void test_status_has_every_text_terminated(void **state)
{
    static const char text[] = "no such layout, key-1";
    static const struct client_metadata metadata[] = {{SLICE("x-one"), SLICE("1")},
                                                      {SLICE("x-raw-bin"), SLICE("\0\xff")}};
    const struct client_status lower = {.code = 5,
                                        .message = slice_of(text, 14),
                                        .details = SLICE("\1\2"),
                                        .from_server = true,
                                        .attempts = 3,
                                        .idempotency_key = slice_of(text + 16, 5),
                                        .metadata = metadata,
                                        .metadata_count = 2};
    struct wanted wanted = {.ends = 0};
    const struct errata_handlers handlers = {.user = &wanted, .on_end = check_status};
    struct world world;

    (void)state;
    world_open(&world);
    for (size_t i = 0; i < 2; i++) {
        wanted.out_of_memory = i == 1;
        assert_int_equal(errata_call_start(world.channel, UNARY, (struct errata_bytes){NULL, 0},
                                           NULL, &handlers, NULL),
                         ERRATA_OK);
        alloc_fail(i);
        fake_end_with(&world.fake.calls[i], &lower);
        assert_int_equal(alloc_has_failed(), wanted.out_of_memory);
        assert_int_equal(wanted.ends, i + 1);
    }
    world_close(&world);
}

/* Goal: a status's text is UTF-8 and ends at its NUL, for any bytes of the server. Method: a NUL, a
 * single continuation byte, a truncated sequence, and a valid one. */
static void test_status_text_is_valid_utf8(void **state)
{
    const struct client_status lower = {.code = 3,
                                        .message = SLICE("a\0b\xff"
                                                         "c\xc3\xa9\xe2\x82")};
    struct world world;

    (void)state;
    world_call(&world, UNARY);
    fake_end_with(world.played, &lower);
    assert_string_equal(world.message, "a?b?c\xc3\xa9??");
    world_close(&world);
}

/* Goal: cancel, pause and resume reach the channel while the call is under way, and have no effect
 * in its last callback. Method: each before the end, and all of them in it; cancel in on_reply, and
 * of NULL. */
static void test_cancel_pause_and_resume_reach_the_channel(void **state)
{
    struct world world;

    (void)state;
    errata_call_cancel(NULL);
    world_call(&world, UNARY);
    errata_call_pause(world.call);
    errata_call_resume(world.call);
    errata_call_cancel(world.call);
    assert_int_equal(world.played->pauses, 1);
    assert_int_equal(world.played->resumes, 1);
    assert_int_equal(world.played->cancels, 1);
    world.cancels_in_end = true;
    fake_end(world.played, 1);
    assert_int_equal(world.ends, 1);
    assert_int_equal(world.played->cancels, 1);
    world_close(&world);

    world_call(&world, UNARY);
    world.cancels_in_reply = true;
    fake_reply(world.played, SLICE("x"));
    assert_int_equal(world.played->cancels, 1);
    fake_end(world.played, 1);
    assert_int_equal(world.code, ERRATA_CODE_CANCELLED);
    world_close(&world);
}

/* Goal: a stream of requests is sent message by message, and each refusal is reported. Method: two
 * messages and their half-close; then each result of the channel. */
static void test_upload_refusals_are_reported(void **state)
{
    struct world world;

    (void)state;
    world_call(&world, UPLOAD);
    fake_room(world.played);
    assert_int_equal(world.rooms, 1);
    assert_int_equal(errata_call_send(world.call, (struct errata_bytes){"one", 3}), ERRATA_OK);
    assert_int_equal(errata_call_send(world.call, (struct errata_bytes){NULL, 0}), ERRATA_OK);
    assert_int_equal(errata_call_send(world.call, (struct errata_bytes){NULL, 1}), ERRATA_INVALID);
    assert_memory_equal(world.played->request, "one", 3);
    assert_int_equal(world.played->request_bytes, 3);
    assert_int_equal(errata_call_half_close(world.call), ERRATA_OK);
    assert_int_equal(world.played->half_closes, 1);
    world.fake.send_result = ERR_BUSY;
    assert_int_equal(errata_call_send(world.call, (struct errata_bytes){"x", 1}), ERRATA_BUSY);
    world.fake.send_result = ERR_TOO_LARGE;
    assert_int_equal(errata_call_send(world.call, (struct errata_bytes){"x", 1}), ERRATA_TOO_LARGE);
    world.fake.send_result = ERR_INVALID;
    assert_int_equal(errata_call_send(world.call, (struct errata_bytes){"x", 1}), ERRATA_INVALID);
    assert_int_equal(errata_call_half_close(world.call), ERRATA_INVALID);
    world.fake.send_result = ERR_CANCELLED;
    assert_int_equal(errata_call_send(world.call, (struct errata_bytes){"x", 1}), ERRATA_ENDED);
    assert_int_equal(errata_call_half_close(world.call), ERRATA_ENDED);
    fake_end(world.played, 3);
    assert_int_equal(world.code, ERRATA_CODE_INVALID_ARGUMENT);
    world_close(&world);
}

/* Goal: a channel may be closed from the last callback of a call. Method: that, and no call after
 * it. */
static void test_channel_may_be_closed_in_a_callback(void **state)
{
    struct world world;

    (void)state;
    world_call(&world, UNARY);
    world.closes_in_end = true;
    fake_end(world.played, 0);
    assert_int_equal(world_start(&world, UNARY, (struct errata_bytes){NULL, 0}), ERRATA_ENDED);
    fake_finish_close(&world.fake);
    assert_int_equal(world.ends, 1);
}

int run_call_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_is_passed_to_the_channel_and_back),
        cmocka_unit_test(test_refusal_of_the_channel_is_reported),
        cmocka_unit_test(test_invalid_arguments_are_refused),
        cmocka_unit_test(test_options_are_passed_to_the_channel),
        cmocka_unit_test(test_status_has_every_text_terminated),
        cmocka_unit_test(test_cancel_pause_and_resume_reach_the_channel),
        cmocka_unit_test(test_status_text_is_valid_utf8),
        cmocka_unit_test(test_upload_refusals_are_reported),
        cmocka_unit_test(test_channel_may_be_closed_in_a_callback),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
