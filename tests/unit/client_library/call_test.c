/*
 * call_test.c: calls in bytes over a channel that the test simulates: the channel's input, the call's
 * results, and the functions that a callback may call.
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
struct fixture {
    struct fake fake;
    struct errata_channel *channel;
    struct errata_call *call;
    struct client_call *played; /* the same call, as the channel sees it */
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
    struct fixture *fixture = user;

    fixture->replies++;
    (void)snprintf(fixture->reply, sizeof(fixture->reply), "%.*s", (int)message.size,
                   (const char *)message.data);
    if (fixture->cancels_in_reply) {
        errata_call_cancel(fixture->call);
    }
}

static void heard_end(void *user, const struct errata_status *status)
{
    struct fixture *fixture = user;

    fixture->ends++;
    fixture->code = status->code;
    (void)snprintf(fixture->message, sizeof(fixture->message), "%s", status->message);
    if (fixture->cancels_in_end) {
        errata_call_cancel(fixture->call);
        errata_call_pause(fixture->call);
        errata_call_resume(fixture->call);
        assert_int_equal(errata_call_send(fixture->call, (struct errata_bytes){"x", 1}),
                         ERRATA_ENDED);
        assert_int_equal(errata_call_half_close(fixture->call), ERRATA_ENDED);
    }
    if (fixture->closes_in_end) {
        errata_channel_close(fixture->channel, NULL, NULL);
    }
}

static void heard_room(void *user)
{
    struct fixture *fixture = user;

    fixture->rooms++;
}

static void fixture_open(struct fixture *fixture)
{
    memset(fixture, 0, sizeof(*fixture));
    fixture->channel = fake_open(&fixture->fake, false);
    fixture->played = &fixture->fake.calls[0];
}

static enum errata_result fixture_start(struct fixture *fixture, const char *method,
                                        struct errata_bytes request)
{
    const struct errata_handlers handlers = {
        .user = fixture, .on_reply = heard_reply, .on_end = heard_end, .on_writable = heard_room};

    return errata_call_start(fixture->channel, method, request, NULL, &handlers, &fixture->call);
}

/* A fixture with one call under way. */
static void fixture_call(struct fixture *fixture, const char *method)
{
    fixture_open(fixture);
    assert_int_equal(fixture_start(fixture, method, (struct errata_bytes){NULL, 0}), ERRATA_OK);
    assert_non_null(fixture->call);
}

static void fixture_close(struct fixture *fixture)
{
    fake_close(&fixture->fake, fixture->channel);
}

/* Goal: a call reaches the channel with its method and bytes, and its reply and end are returned.
 * Method: one call from start to end. */
static void test_call_is_passed_to_the_channel_and_back(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture);
    assert_int_equal(fixture_start(&fixture, "/" UNARY, (struct errata_bytes){"asked", 5}),
                     ERRATA_OK);
    assert_true(slice_equal(fixture.played->method->path, SLICE("/" UNARY)));
    assert_memory_equal(fixture.played->request, "asked", 5);
    assert_int_equal(fixture.played->request_bytes, 5);
    fake_reply(fixture.played, SLICE("reply"));
    assert_string_equal(fixture.reply, "reply");
    assert_int_equal(fixture.ends, 0);
    fake_end(fixture.played, 0);
    assert_int_equal(fixture.ends, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_OK);
    assert_string_equal(fixture.message, "");
    fixture_close(&fixture);
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
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        fixture.fake.start_result = table[i].lower;
        assert_int_equal(fixture_start(&fixture, UNARY, (struct errata_bytes){NULL, 0}),
                         table[i].result);
    }
    fixture.fake.start_result = OK;
    alloc_fail(1);
    assert_int_equal(fixture_start(&fixture, UNARY, (struct errata_bytes){NULL, 0}), ERRATA_MEMORY);
    assert_true(alloc_has_failed());
    assert_null(fixture.call);
    assert_int_equal(fixture.fake.call_count, 0);
    assert_int_equal(fixture.ends, 0);
    fixture_close(&fixture);
}

/* Goal: invalid arguments are refused in the library. Method: methods, requests, handlers,
 * options. */
static void test_invalid_arguments_are_refused(void **state)
{
    static const struct errata_handlers deaf = {.on_reply = heard_reply};
    static const struct errata_handlers hearing = {.on_end = heard_end};
    static const struct errata_options hurried = {.timeout_ms = -7};
    const struct errata_bytes none = {NULL, 0};
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture);
    assert_int_equal(fixture_start(&fixture, "errata.v1.FeedbackService/Nothing", none),
                     ERRATA_INVALID);
    assert_int_equal(fixture_start(&fixture, NULL, none), ERRATA_INVALID);
    assert_int_equal(fixture_start(&fixture, UNARY, (struct errata_bytes){NULL, 1}),
                     ERRATA_INVALID);
    assert_int_equal(fixture_start(&fixture, UPLOAD, (struct errata_bytes){"x", 1}),
                     ERRATA_INVALID);
    assert_int_equal(errata_call_start(fixture.channel, UNARY, none, NULL, &deaf, &fixture.call),
                     ERRATA_INVALID);
    assert_int_equal(errata_call_start(fixture.channel, UNARY, none, NULL, NULL, &fixture.call),
                     ERRATA_INVALID);
    assert_int_equal(
        errata_call_start(fixture.channel, UNARY, none, &hurried, &hearing, &fixture.call),
        ERRATA_INVALID);
    assert_null(fixture.call);
    assert_int_equal(fixture.fake.call_count, 0);
    fixture_close(&fixture);
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
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture);
    reported.user = &fixture;
    assert_int_equal(errata_call_start(fixture.channel, UNARY, (struct errata_bytes){NULL, 0},
                                       &options, &reported, NULL),
                     ERRATA_OK);
    assert_int_equal(fixture.played->options.timeout_ms, 1500);
    assert_true(fixture.played->options.wait_for_ready);
    assert_int_equal(fixture.played->options.metadata_count, 2);
    assert_string_equal(fixture.played->metadata[0][0], "x-trace");
    assert_string_equal(fixture.played->metadata[0][1], "7");
    assert_string_equal(fixture.played->metadata[1][0], "idempotency-key");
    assert_string_equal(fixture.played->metadata[1][1], "order-7");
    fake_reply(fixture.played, SLICE("ignored"));
    fake_end(fixture.played, 0);
    assert_int_equal(fixture.ends, 1);
    fixture_close(&fixture);
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
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture);
    for (size_t i = 0; i < 2; i++) {
        wanted.out_of_memory = i == 1;
        assert_int_equal(errata_call_start(fixture.channel, UNARY, (struct errata_bytes){NULL, 0},
                                           NULL, &handlers, NULL),
                         ERRATA_OK);
        alloc_fail(i);
        fake_end_with(&fixture.fake.calls[i], &lower);
        assert_int_equal(alloc_has_failed(), wanted.out_of_memory);
        assert_int_equal(wanted.ends, i + 1);
    }
    fixture_close(&fixture);
}

/* Goal: a status's text is UTF-8 and ends at its NUL, for any bytes of the server. Method: a NUL, a
 * single continuation byte, a truncated sequence, and a valid one. */
static void test_status_text_is_valid_utf8(void **state)
{
    const struct client_status lower = {.code = 3,
                                        .message = SLICE("a\0b\xff"
                                                         "c\xc3\xa9\xe2\x82")};
    struct fixture fixture;

    (void)state;
    fixture_call(&fixture, UNARY);
    fake_end_with(fixture.played, &lower);
    assert_string_equal(fixture.message, "a?b?c\xc3\xa9??");
    fixture_close(&fixture);
}

/* Goal: cancel, pause and resume reach the channel while the call is under way, and have no effect
 * in its last callback. Method: each before the end, and all of them in it; cancel in on_reply, and
 * of NULL. */
static void test_cancel_pause_and_resume_reach_the_channel(void **state)
{
    struct fixture fixture;

    (void)state;
    errata_call_cancel(NULL);
    fixture_call(&fixture, UNARY);
    errata_call_pause(fixture.call);
    errata_call_resume(fixture.call);
    errata_call_cancel(fixture.call);
    assert_int_equal(fixture.played->pauses, 1);
    assert_int_equal(fixture.played->resumes, 1);
    assert_int_equal(fixture.played->cancels, 1);
    fixture.cancels_in_end = true;
    fake_end(fixture.played, 1);
    assert_int_equal(fixture.ends, 1);
    assert_int_equal(fixture.played->cancels, 1);
    fixture_close(&fixture);

    fixture_call(&fixture, UNARY);
    fixture.cancels_in_reply = true;
    fake_reply(fixture.played, SLICE("x"));
    assert_int_equal(fixture.played->cancels, 1);
    fake_end(fixture.played, 1);
    assert_int_equal(fixture.code, ERRATA_CODE_CANCELLED);
    fixture_close(&fixture);
}

/* Goal: a stream of requests is sent message by message, and each refusal is reported. Method: two
 * messages and their half-close; then each result of the channel. */
static void test_upload_refusals_are_reported(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_call(&fixture, UPLOAD);
    fake_room(fixture.played);
    assert_int_equal(fixture.rooms, 1);
    assert_int_equal(errata_call_send(fixture.call, (struct errata_bytes){"one", 3}), ERRATA_OK);
    assert_int_equal(errata_call_send(fixture.call, (struct errata_bytes){NULL, 0}), ERRATA_OK);
    assert_int_equal(errata_call_send(fixture.call, (struct errata_bytes){NULL, 1}),
                     ERRATA_INVALID);
    assert_memory_equal(fixture.played->request, "one", 3);
    assert_int_equal(fixture.played->request_bytes, 3);
    assert_int_equal(errata_call_half_close(fixture.call), ERRATA_OK);
    assert_int_equal(fixture.played->half_closes, 1);
    fixture.fake.send_result = ERR_BUSY;
    assert_int_equal(errata_call_send(fixture.call, (struct errata_bytes){"x", 1}), ERRATA_BUSY);
    fixture.fake.send_result = ERR_TOO_LARGE;
    assert_int_equal(errata_call_send(fixture.call, (struct errata_bytes){"x", 1}),
                     ERRATA_TOO_LARGE);
    fixture.fake.send_result = ERR_INVALID;
    assert_int_equal(errata_call_send(fixture.call, (struct errata_bytes){"x", 1}), ERRATA_INVALID);
    assert_int_equal(errata_call_half_close(fixture.call), ERRATA_INVALID);
    fixture.fake.send_result = ERR_CANCELLED;
    assert_int_equal(errata_call_send(fixture.call, (struct errata_bytes){"x", 1}), ERRATA_ENDED);
    assert_int_equal(errata_call_half_close(fixture.call), ERRATA_ENDED);
    fake_end(fixture.played, 3);
    assert_int_equal(fixture.code, ERRATA_CODE_INVALID_ARGUMENT);
    fixture_close(&fixture);
}

/* Goal: a channel may be closed from the last callback of a call. Method: that, and no call after
 * it. */
static void test_channel_may_be_closed_in_a_callback(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_call(&fixture, UNARY);
    fixture.closes_in_end = true;
    fake_end(fixture.played, 0);
    assert_int_equal(fixture_start(&fixture, UNARY, (struct errata_bytes){NULL, 0}), ERRATA_ENDED);
    fake_finish_close(&fixture.fake);
    assert_int_equal(fixture.ends, 1);
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
