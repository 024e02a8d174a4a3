/*
 * channel_test.c: a public channel from its opening to its end, over one that the test simulates.
 */
#include "tests/support/client/fake.h"
#include "tests/unit/client_library/alloc.h"
#include "tests/unit/client_library/library_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define UNARY "errata.v1.PromptService/GetExamples"

static void count(void *user)
{
    unsigned *closed = user;

    (*closed)++;
}

static void heard_end(void *user, const struct errata_status *status)
{
    enum errata_code *code = user;

    *code = status->code;
}

static enum errata_result start(struct errata_channel *channel,
                                const struct errata_options *options, enum errata_code *code)
{
    struct errata_handlers handlers = {.on_end = heard_end};

    handlers.user = code;
    return errata_call_start(channel, UNARY, (struct errata_bytes){NULL, 0}, options, &handlers,
                             NULL);
}

/* Goal: closing ends the remaining calls, then calls back once; meanwhile nothing starts. Method: a
 * running call, and every function after close. */
static void test_close_ends_calls_then_calls_back(void **state)
{
    struct errata_channel_statistics statistics = {.calls = 1};
    enum errata_code code = ERRATA_CODE_OK;
    struct fake fake = {.statistics = {.calls = 9}};
    struct errata_channel *channel = fake_open(&fake, false);
    unsigned closed = 0;

    (void)state;
    assert_int_equal(start(channel, NULL, &code), ERRATA_OK);
    errata_channel_close(channel, count, &closed);
    assert_int_equal(closed, 0);
    assert_int_equal(start(channel, NULL, &code), ERRATA_ENDED);
    assert_int_equal(errata_channel_set_token(channel, "t"), ERRATA_ENDED);
    errata_channel_read_statistics(channel, &statistics);
    assert_int_equal(statistics.calls, 0);
    fake_finish_close(&fake);
    assert_int_equal(code, ERRATA_CODE_CANCELLED);
    assert_int_equal(closed, 1);
    errata_channel_close(NULL, count, &closed);
    assert_int_equal(closed, 1);
}

/* Goal: a token is checked, passed on, and decides whether a call may have its own token. Method:
 * valid and invalid tokens, no token, and no memory for one. */
static void test_token_is_checked_and_passed_on(void **state)
{
    static const struct errata_metadata own = {"authorization", {"Bearer x", 8}};
    static const struct errata_options options = {.metadata = &own, .metadata_count = 1};
    enum errata_code code = ERRATA_CODE_OK;
    struct fake fake = {.start_result = OK};
    struct errata_channel *channel = fake_open(&fake, true);

    (void)state;
    assert_int_equal(start(channel, &options, &code), ERRATA_INVALID);
    assert_int_equal(errata_channel_set_token(channel, "two words"), ERRATA_INVALID);
    assert_int_equal(errata_channel_set_token(channel, ""), ERRATA_INVALID);
    assert_string_equal(fake.token, "");
    assert_int_equal(errata_channel_set_token(channel, "secret"), ERRATA_OK);
    assert_string_equal(fake.token, "secret");
    assert_int_equal(start(channel, &options, &code), ERRATA_INVALID);
    fake.set_token_result = ERR_MEMORY;
    assert_int_equal(errata_channel_set_token(channel, NULL), ERRATA_MEMORY);
    assert_int_equal(start(channel, &options, &code), ERRATA_INVALID);
    fake.set_token_result = OK;
    assert_int_equal(errata_channel_set_token(channel, NULL), ERRATA_OK);
    assert_string_equal(fake.token, "");
    assert_int_equal(start(channel, &options, &code), ERRATA_OK);
    fake_close(&fake, channel);
}

/* Goal: the figures and every state are passed on. Method: one of each. */
static void test_statistics_and_states_are_passed_on(void **state)
{
    static const struct {
        enum client_channel_state lower;
        enum errata_channel_state state;
    } table[] = {{CLIENT_CHANNEL_IDLE, ERRATA_CHANNEL_IDLE},
                 {CLIENT_CHANNEL_CONNECTING, ERRATA_CHANNEL_CONNECTING},
                 {CLIENT_CHANNEL_READY, ERRATA_CHANNEL_READY},
                 {CLIENT_CHANNEL_BACKOFF, ERRATA_CHANNEL_BACKOFF}};
    struct fake fake = {.statistics = {.calls_under_way = 1,
                                       .calls = 2,
                                       .attempts = 3,
                                       .connections = 4,
                                       .connections_lost = 5,
                                       .connect_failures = 6}};
    struct errata_channel *channel = fake_open(&fake, false);
    struct errata_channel_statistics read;

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        fake.statistics.state = table[i].lower;
        errata_channel_read_statistics(channel, &read);
        assert_int_equal(read.state, table[i].state);
    }
    assert_int_equal(read.calls_under_way, 1);
    assert_int_equal(read.calls, 2);
    assert_int_equal(read.attempts, 3);
    assert_int_equal(read.connections, 4);
    assert_int_equal(read.connections_lost, 5);
    assert_int_equal(read.connect_failures, 6);
    fake_close(&fake, channel);
}

/* Goal: channels are independent. Method: two, one of which is closed with a call under way, while
 * the other's continues to its end. */
static void test_channels_are_independent(void **state)
{
    enum errata_code codes[2] = {ERRATA_CODE_OK, ERRATA_CODE_OK};
    struct fake fakes[2] = {{.start_result = OK}, {.start_result = OK}};
    struct errata_channel *one = fake_open(&fakes[0], true);
    struct errata_channel *other = fake_open(&fakes[1], false);

    (void)state;
    assert_int_equal(start(one, NULL, &codes[0]), ERRATA_OK);
    assert_int_equal(start(other, NULL, &codes[1]), ERRATA_OK);
    assert_int_equal(errata_channel_set_token(other, "secret"), ERRATA_OK);
    assert_string_equal(fakes[0].token, "");
    fake_close(&fakes[0], one);
    assert_int_equal(codes[0], ERRATA_CODE_CANCELLED);
    fake_end(&fakes[1].calls[0], 5);
    assert_int_equal(codes[1], ERRATA_CODE_NOT_FOUND);
    fake_close(&fakes[1], other);
}

/* Goal: without memory the inner channel stays owned by the caller. Method: malloc fails. */
static void test_channel_without_memory_stays_with_the_caller(void **state)
{
    static const struct library_lower_ops ops = {.close = NULL};
    struct errata_channel *channel = NULL;
    struct fake fake = {.start_result = OK};

    (void)state;
    alloc_fail(1);
    assert_int_equal(library_channel_new(&fake.base, &ops, false, &channel), ERR_MEMORY);
    assert_true(alloc_has_failed());
    assert_null(channel);
}

int run_channel_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_close_ends_calls_then_calls_back),
        cmocka_unit_test(test_token_is_checked_and_passed_on),
        cmocka_unit_test(test_statistics_and_states_are_passed_on),
        cmocka_unit_test(test_channels_are_independent),
        cmocka_unit_test(test_channel_without_memory_stays_with_the_caller),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
