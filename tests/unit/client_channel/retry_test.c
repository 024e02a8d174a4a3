/*
 * retry_test.c: the rules of client/retry.h by themselves.
 */
#include "client/retry.h"

#include "client/header.h"
#include "tests/unit/client_channel/channel_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Goal: every wait is within 20% of its step, and both ends are reached. */
static void test_waits_are_within_20_percent_of_their_step(void **state)
{
    static const int64_t steps_ms[] = {100, 160, 256, 410, 656, 1050, 1680, 2688, 4301, 5000};
    const struct client_retry_policy policy = {.backoff_initial_ms = 100, .backoff_max_ms = 5000};
    struct random_seeded random;

    (void)state;
    random_seeded_init(&random, 5);
    for (uint32_t repeat = 0; repeat < 10; repeat++) {
        int64_t low_ms = INT64_MAX;
        int64_t high_ms = 0;

        for (int i = 0; i < 10000; i++) {
            int64_t wait_ms = client_backoff_ms(&policy, repeat, &random.random);

            low_ms = wait_ms < low_ms ? wait_ms : low_ms;
            high_ms = wait_ms > high_ms ? wait_ms : high_ms;
        }
        assert_in_range(low_ms, steps_ms[repeat] * 80 / 100, steps_ms[repeat] * 81 / 100 + 1);
        assert_in_range(high_ms, steps_ms[repeat] * 119 / 100 - 1, steps_ms[repeat] * 120 / 100);
    }
}

/* Goal: no policy and no number of repeats overflows, and a wait of 1 ms grows, too. */
static void test_extreme_policies_do_not_overflow(void **state)
{
    const struct client_retry_policy endless = {.backoff_initial_ms = 1,
                                                .backoff_max_ms = INT64_MAX};
    const struct client_retry_policy none = {.backoff_initial_ms = 0, .backoff_max_ms = 0};
    const struct client_retry_policy reversed = {.backoff_initial_ms = INT64_MAX,
                                                 .backoff_max_ms = 1000};
    struct random_seeded random;

    (void)state;
    random_seeded_init(&random, 5);
    assert_in_range(client_backoff_ms(&endless, 10, &random.random), 172, 260);
    assert_in_range(client_backoff_ms(&endless, UINT32_MAX, &random.random), 69120000, 103680000);
    assert_int_equal(client_backoff_ms(&none, UINT32_MAX, &random.random), 0);
    assert_in_range(client_backoff_ms(&reversed, 3, &random.random), 800, 1200);
}

/* Goal: the bucket allows as many repeats as it holds, and gains a fifth for each successful
 * call. */
static void test_bucket_is_refilled_by_successes(void **state)
{
    struct client_retry_bucket bucket;

    (void)state;
    client_retry_bucket_fill(&bucket);
    client_retry_bucket_give(&bucket);
    for (unsigned i = 0; i < CLIENT_RETRY_TOKENS_MAX; i++) {
        assert_true(client_retry_bucket_take(&bucket));
    }
    assert_false(client_retry_bucket_take(&bucket));
    for (int i = 0; i < 4; i++) {
        client_retry_bucket_give(&bucket);
        assert_false(client_retry_bucket_take(&bucket));
    }
    client_retry_bucket_give(&bucket);
    assert_true(client_retry_bucket_take(&bucket));
    assert_false(client_retry_bucket_take(&bucket));
}

/* Goal: each status code allows a repeat, or forbids it. */
static void test_status_decides_whether_to_repeat(void **state)
{
    static const uint8_t retry_info[] = "\x1a\x2e\x0a\x28type.googleapis.com/google.rpc.RetryInfo"
                                        "\x12\x02\x0a\x00";
    struct client_status status = {.code = CLIENT_CODE_OK, .unseen = true};
    int64_t wait_ms = -1;

    (void)state;
    assert_int_equal(client_repeat_allowed(&status, &wait_ms), CLIENT_REPEAT_NEVER);
    assert_int_equal(wait_ms, 0);
    for (uint32_t code = 1; code <= 16; code++) {
        status = (struct client_status){.code = code, .from_server = true};
        assert_int_equal(client_repeat_allowed(&status, &wait_ms), code == CLIENT_CODE_UNAVAILABLE
                                                                       ? CLIENT_REPEAT_HARMLESS
                                                                       : CLIENT_REPEAT_NEVER);
        status.details = slice_of(retry_info, sizeof(retry_info) - 1);
        assert_int_equal(client_repeat_allowed(&status, &wait_ms), CLIENT_REPEAT_HARMLESS);
        assert_int_equal(wait_ms, 0);
        /* Details that do not decode have no effect. */
        status.details = slice_of(retry_info, sizeof(retry_info) - 3);
        assert_int_equal(client_repeat_allowed(&status, &wait_ms), code == CLIENT_CODE_UNAVAILABLE
                                                                       ? CLIENT_REPEAT_HARMLESS
                                                                       : CLIENT_REPEAT_NEVER);
        status.unseen = true;
        assert_int_equal(client_repeat_allowed(&status, &wait_ms), CLIENT_REPEAT_ANY);
    }
}

/* Goal: the trailer grpc-retry-pushback-ms is obeyed: the longer of its delay and RetryInfo's, and
 * no repeat after a negative or malformed one (gRFC A6). Method: UNAVAILABLE with each. */
static void test_pushback_trailer_is_obeyed(void **state)
{
    static const uint8_t retry_info[] = "\x1a\x32\x0a\x28type.googleapis.com/google.rpc.RetryInfo"
                                        "\x12\x06\x0a\x04\x10\x80\xd2\x13"; /* 320 us */
    static const struct {
        const char *text;
        int64_t wait_ms; /* -1: no repeat */
    } cases[] = {
        {"200", 200}, {"0", 1},   {"999999999999", 999999999999},
        {"-1", -1},   {"-", -1},  {"1000000000000", -1},
        {"", -1},     {"1x", -1}, {" 1", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct client_metadata fields[] = {
            {SLICE("x-other"), SLICE("7")},
            {SLICE("grpc-retry-pushback-ms"), slice_text(cases[i].text)},
        };
        struct client_status status = {.code = CLIENT_CODE_UNAVAILABLE,
                                       .details = slice_of(retry_info, sizeof(retry_info) - 1),
                                       .from_server = true,
                                       .metadata = fields,
                                       .metadata_count = 2};
        int64_t wait_ms = -1;

        assert_int_equal(client_repeat_allowed(&status, &wait_ms),
                         cases[i].wait_ms < 0 ? CLIENT_REPEAT_NEVER : CLIENT_REPEAT_HARMLESS);
        assert_int_equal(wait_ms, cases[i].wait_ms < 0 ? 0 : cases[i].wait_ms);
    }
}

int run_retry_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_are_within_20_percent_of_their_step),
        cmocka_unit_test(test_extreme_policies_do_not_overflow),
        cmocka_unit_test(test_bucket_is_refilled_by_successes),
        cmocka_unit_test(test_status_decides_whether_to_repeat),
        cmocka_unit_test(test_pushback_trailer_is_obeyed)};

    return cmocka_run_group_tests_name("channel_retry", tests, NULL, NULL);
}
