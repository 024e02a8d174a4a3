/*
 * end_test.c: the ends of calls and of the channel: cancelled in each state, after the deadline,
 * refused, closed, and from inside callbacks.
 */
#include "tests/unit/client_channel/channel_tests.h"
#include "tests/unit/client_channel/fixture.h"

#include <stdlib.h>

#define MANY 10000

static void assert_cancelled(const struct asked *asked, uint32_t attempts)
{
    assert_int_equal(asked->ends, 1);
    assert_int_equal(asked->code, CLIENT_CODE_CANCELLED);
    assert_string_equal(asked->message, "the call was cancelled");
    assert_int_equal(asked->attempts, attempts);
    assert_int_equal(asked->unseen, attempts == 0);
    assert_false(asked->from_server);
}

/* Goal: cancel ends a call that waits for a first connection, for the next one, before its repeat,
 * or for its answer; a second cancel has no effect, and a cancelled call makes no further
 * callbacks. */
static void test_cancel_ends_a_call_in_each_state(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = NULL;

    (void)state;
    fixture_start(&fixture);
    ask_cancel(&(struct asked){.fixture = &fixture});
    assert_int_equal(ask(&fixture, &asked, &method_read, NULL), OK);
    ask_cancel(&asked);
    ask_cancel(&asked);
    assert_int_equal(asked.ends, 0);
    fixture_run(&fixture);
    assert_cancelled(&asked, 0);
    assert_int_equal(fixture.opened, 0);

    assert_int_equal(ask(&fixture, &asked, &method_read, NULL), OK);
    fixture_run(&fixture);
    fake_lose(fixture_newest(&fixture), true);
    ask_cancel(&asked);
    fixture_run(&fixture);
    assert_cancelled(&asked, 0);

    assert_int_equal(ask(&fixture, &asked, &method_read, NULL), OK);
    fixture_pass(&fixture, 120);
    connection = fixture_make_ready(&fixture);
    fake_end(fake_at(connection, 0), CLIENT_CODE_UNAVAILABLE);
    fixture_run(&fixture);
    ask_cancel(&asked);
    fixture_run(&fixture);
    assert_cancelled(&asked, 1);

    assert_int_equal(ask(&fixture, &asked, &method_watch, NULL), OK);
    fake_reply(fake_at(connection, 0), "one");
    ask_cancel(&asked);
    fake_reply(fake_at(connection, 0), "two");
    fake_end(fake_at(connection, 0), CLIENT_CODE_OK);
    fixture_run(&fixture);
    assert_cancelled(&asked, 1);
    assert_int_equal(asked.replies, 1);
    fixture_end(&fixture);
}

static void cancel_it(struct asked *asked)
{
    ask_cancel(asked);
    ask_pause(asked);
    ask_resume(asked);
}

static void ask_again(struct asked *asked)
{
    struct asked *more = asked->more;

    cancel_it(asked);
    assert_int_equal(ask(asked->fixture, more, &method_read, NULL), OK);
}

static void shut_it(struct asked *asked)
{
    ask_shut(asked->fixture);
}

/* Goal: calls can be cancelled, paused and started from inside a reply and inside an end, also if
 * the channel was full. */
static void test_callbacks_may_cancel_pause_and_start_calls(void **state)
{
    struct fixture fixture;
    struct asked third = {0};
    struct asked second = {.in_reply = ask_again, .more = &third};
    struct asked first = {.in_end = ask_again, .more = &second};
    struct fake_connection *connection = NULL;

    (void)state;
    fixture_init(&fixture, 1);
    fixture.config.calls_max = 2;
    fixture_open(&fixture);
    assert_int_equal(ask(&fixture, &first, &method_read, NULL), OK);
    fixture_run(&fixture);
    connection = fixture_make_ready(&fixture);
    fake_answer(fake_at(connection, 0), "one");
    assert_int_equal(first.ends, 1);
    assert_int_equal(fake_count(connection), 1);
    fake_reply(fake_at(connection, 0), "two");
    assert_int_equal(second.replies, 1);
    assert_int_equal(second.ends, 0);
    fixture_run(&fixture);
    assert_cancelled(&second, 1);
    assert_int_equal(ask(&fixture, &first, &method_read, NULL), OK);
    assert_int_equal(ask(&fixture, &second, &method_read, NULL), ERR_BUSY);
    assert_int_equal(second.ends, 0);
    fake_answer(fake_at(connection, 0), "three");
    assert_int_equal(third.ends, 1);
    /* The end of the first call starts the second one again, for which there is room now. */
    fake_answer(fake_at(connection, 0), "one");
    assert_int_equal(fake_count(connection), 1);
    fixture_end(&fixture);
    assert_int_equal(second.ends, 1);
    assert_string_equal(second.message, "the channel was closed");
}

static void ask_and_cancel(struct asked *asked)
{
    ask_again(asked);
    ask_cancel(asked->more);
}

/* Goal: if each end starts a call and cancels it, a step reports only one of them, so that the step
 * ends. */
static void test_chain_of_ends_does_not_block_a_step(void **state)
{
    struct fixture fixture;
    struct asked second = {.in_end = ask_and_cancel};
    struct asked first = {.in_end = ask_and_cancel, .more = &second};

    (void)state;
    second.more = &first;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &first, &method_read, NULL), OK);
    ask_cancel(&first);
    for (int i = 0; i < 10; i++) {
        assert_true(fixture.woken);
        fixture.woken = false;
        (void)client_channel_step(fixture.channel);
        assert_cancelled(i % 2 == 0 ? &first : &second, 0);
        assert_int_equal(first.ends + second.ends, 1);
    }
    first.in_end = NULL;
    second.in_end = NULL;
    fixture_end(&fixture);
}

/* Goal: the channel can be closed from any callback, with calls in each state; each ends once, and
 * the connections close, in any order of their reports. */
static void test_channel_may_be_closed_from_any_callback(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        struct fixture fixture;
        struct asked calls[4] = {{0}};
        struct asked shutting = {.in_reply = round % 4 == 0 ? shut_it : NULL,
                                 .in_end = round % 4 == 1 || round % 4 == 3 ? shut_it : NULL,
                                 .in_room = round % 4 == 2 ? shut_it : NULL};
        struct fake_connection *connection = NULL;

        fixture_start(&fixture);
        fixture.late_ends = round >= 4;
        for (int i = 0; i < 4; i++) {
            assert_int_equal(
                ask(&fixture, &calls[i], i == 1 ? &method_watch : &method_upload, NULL), OK);
        }
        fixture_run(&fixture);
        connection = fixture_make_ready(&fixture);
        fake_drain(connection); /* one connection is draining */
        fake_vanish(fake_at(connection, 0)); /* and one call is waiting for its retry */
        assert_int_equal(
            ask(&fixture, &shutting, round % 4 == 2 ? &method_upload : &method_watch, NULL), OK);
        fixture_pass(&fixture, 120);
        connection = fixture_make_ready(&fixture);
        if (round % 4 == 0) {
            fake_reply(fake_at(connection, 0), "last words");
        } else if (round % 4 == 1) {
            fake_end(fake_at(connection, 0), CLIENT_CODE_INTERNAL);
        } else if (round % 4 == 3) {
            ask_cancel(&shutting);
        }
        fixture_run(&fixture);
        assert_int_equal(fixture_statistics(&fixture).calls_under_way, 0);
        assert_int_equal(fixture.connection_count, 0);
        assert_int_equal(shutting.ends, 1);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(calls[i].ends, 1);
            assert_int_equal(calls[i].code, CLIENT_CODE_CANCELLED);
            assert_string_equal(calls[i].message, "the channel was closed");
        }
        assert_int_equal(ask(&fixture, &shutting, &method_read, NULL), ERR_UNAVAILABLE);
        fixture_end(&fixture);
        assert_int_equal(shutting.ends, 0);
    }
}

/* Goal: the channel may be freed before its connections report the ends of their calls. */
static void test_channel_may_be_freed_before_its_connections_end(void **state)
{
    struct fixture fixture;
    struct asked asked[2] = {{0}};

    (void)state;
    fixture_start(&fixture);
    fixture.late_ends = true;
    assert_int_equal(ask(&fixture, &asked[0], &method_read, NULL), OK);
    assert_int_equal(ask(&fixture, &asked[1], &method_upload, NULL), OK);
    fixture_run(&fixture);
    assert_int_equal(fake_count(fixture_make_ready(&fixture)), 2);
    fixture_end(&fixture);
    assert_int_equal(asked[0].ends + asked[1].ends, 2);
}

/* Goal: a call that cannot be sent is refused at once, with or without a connection. */
static void test_unsendable_call_is_refused_at_once(void **state)
{
    static const struct client_metadata wrong = {.key = SLICE("Upper"), .value = SLICE("case")};
    struct client_metadata many[65];
    const struct client_options invalid = {.metadata = &wrong, .metadata_count = 1};
    struct client_options options = {.metadata = many, .metadata_count = 64};
    uint8_t large[FIXTURE_TEXT_BYTES] = {0};
    struct fixture fixture;
    struct asked asked = {0};
    struct asked taken = {0};

    (void)state;
    for (int i = 0; i < 65; i++) {
        many[i] = (struct client_metadata){.key = SLICE("x-many"), .value = SLICE("1")};
    }
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &asked, &method_read, &invalid), ERR_INVALID);
    assert_int_equal(ask(&fixture, &asked, &method_write, &options), ERR_INVALID);
    assert_int_equal(ask_bytes(&fixture, &asked, &method_upload, SLICE("x"), NULL), ERR_INVALID);
    assert_int_equal(
        ask_bytes(&fixture, &asked, &method_read, slice_of(large, sizeof(large)), NULL),
        ERR_TOO_LARGE);
    fixture_run(&fixture);
    assert_int_equal(fixture.opened, 0);
    options.metadata_count = 63;
    assert_int_equal(ask(&fixture, &taken, &method_write, &options), OK);
    fixture_run(&fixture);
    (void)fixture_make_ready(&fixture);
    /* Does the same, refused by the connection. */
    fixture_newest(&fixture)->refusal = ERR_TOO_LARGE;
    assert_int_equal(ask(&fixture, &asked, &method_read, NULL), ERR_TOO_LARGE);
    assert_int_equal(fixture_statistics(&fixture).calls_under_way, 1);
    assert_int_equal(fixture_statistics(&fixture).calls, 1);
    fixture_end(&fixture);
    assert_int_equal(asked.ends, 0);
    assert_int_equal(taken.ends, 1);
}

/* Goal: a call that waited and is then refused by the connection ends with the reason. */
static void test_call_refused_after_waiting_has_the_reason(void **state)
{
    struct fixture fixture;
    struct asked asked[2] = {{0}};

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &asked[0], &method_read, NULL), OK);
    assert_int_equal(ask(&fixture, &asked[1], &method_read, NULL), OK);
    fixture_run(&fixture);
    fixture_newest(&fixture)->refusal = ERR_TOO_LARGE;
    (void)fixture_make_ready(&fixture);
    assert_int_equal(asked[0].ends, 1);
    assert_int_equal(asked[0].code, CLIENT_CODE_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(asked[0].message, "the connection did not accept the call: "));
    assert_int_equal(asked[0].attempts, 0);
    assert_int_equal(asked[1].ends, 0);
    assert_int_equal(fake_count(fixture_newest(&fixture)), 1);
    /* If the connection is about to be lost, calls wait for the next one, whether they start at
     * that moment or have waited before. */
    fixture_newest(&fixture)->refusal = ERR_UNAVAILABLE;
    assert_int_equal(ask(&fixture, &asked[0], &method_read, NULL), OK);
    fake_lose(fixture_newest(&fixture), true);
    fixture_pass(&fixture, 120);
    fixture_newest(&fixture)->refusal = ERR_UNAVAILABLE;
    assert_int_equal(fake_count(fixture_make_ready(&fixture)), 0);
    fake_lose(fixture_newest(&fixture), true);
    fixture_pass(&fixture, 200);
    assert_int_equal(fake_count(fixture_make_ready(&fixture)), 2);
    fixture_end(&fixture);
}

/* Goal: ten thousand waiting calls, and ten thousand deadlines one by one, take linear time:
 * quadratic time would be minutes. */
static void test_many_waiting_calls_take_linear_time(void **state)
{
    struct fixture fixture;
    struct asked *asked = calloc(MANY + 1, sizeof(*asked));
    unsigned ends = 0;

    (void)state;
    assert_non_null(asked);
    fixture_start(&fixture);
    for (int i = 0; i < MANY; i++) {
        const struct client_options options = {.timeout_ms = 1 + i * 7919 % MANY};

        assert_int_equal(ask(&fixture, &asked[i], &method_read, &options), OK);
    }
    assert_int_equal(ask(&fixture, &asked[MANY], &method_read, NULL), ERR_BUSY);
    for (int ms = 1; ms <= MANY; ms++) {
        fixture_pass(&fixture, 1);
        assert_int_equal(fixture_statistics(&fixture).calls_under_way, MANY - ms);
    }
    for (int i = 0; i < MANY; i++) {
        ends += asked[i].ends;
        assert_int_equal(asked[i].code, CLIENT_CODE_DEADLINE_EXCEEDED);
    }
    assert_int_equal(ends, MANY);
    fixture_end(&fixture);
    free(asked);
}

/* Goal: the owner is woken for a deadline that is earlier than the time that it was given, and not
 * for each call that is started. */
static void test_owner_is_woken_for_an_earlier_deadline(void **state)
{
    const struct client_options soon = {.timeout_ms = 10};
    struct fixture fixture;
    struct asked asked[4] = {{0}};

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &asked[0], &method_read, NULL), OK);
    assert_true(fixture.woken);
    fixture_run(&fixture);
    (void)fixture_make_ready(&fixture);
    assert_int_equal(ask(&fixture, &asked[1], &method_read, NULL), OK);
    assert_false(fixture.woken);
    assert_int_equal(ask(&fixture, &asked[2], &method_read, &soon), OK);
    assert_true(fixture.woken);
    fixture_run(&fixture);
    assert_int_equal(fixture.delay_ms, 10);
    for (int i = 0; i < 3; i++) {
        assert_false(fixture.woken);
        fake_answer(fake_at(fixture_newest(&fixture), 0), "now");
    }
    /* The end of the last call wakes the owner. */
    assert_true(fixture.woken);
    fixture_run(&fixture);
    assert_int_equal(fixture.delay_ms, -1);
    assert_int_equal(ask(&fixture, &asked[3], &method_watch, NULL), OK);
    assert_true(fixture.woken);
    fixture_end(&fixture);
}

int run_end_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancel_ends_a_call_in_each_state),
        cmocka_unit_test(test_callbacks_may_cancel_pause_and_start_calls),
        cmocka_unit_test(test_chain_of_ends_does_not_block_a_step),
        cmocka_unit_test(test_channel_may_be_closed_from_any_callback),
        cmocka_unit_test(test_channel_may_be_freed_before_its_connections_end),
        cmocka_unit_test(test_unsendable_call_is_refused_at_once),
        cmocka_unit_test(test_call_refused_after_waiting_has_the_reason),
        cmocka_unit_test(test_many_waiting_calls_take_linear_time),
        cmocka_unit_test(test_owner_is_woken_for_an_earlier_deadline)};

    return cmocka_run_group_tests_name("channel_end", tests, NULL, NULL);
}
