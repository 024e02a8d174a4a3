/*
 * connect_test.c: when the channel connects, waits, drains and stops trying; a test simulates the
 * connections and moves the clock.
 */
#include "tests/unit/client_channel/channel_tests.h"
#include "tests/unit/client_channel/fixture.h"

static const struct client_options patient = {.wait_for_ready = true};

/* Answers the oldest call of a connection, so that the connection counts as answered. */
static void answer_first(struct fake_connection *connection)
{
    fake_answer(fake_at(connection, 0), "here");
    fixture_run(connection->fixture);
}

/* Goal: there is no connection before the first call, and one for all calls. */
static void test_connects_when_a_call_needs_it(void **state)
{
    struct fixture fixture;
    struct asked first = {0};
    struct asked second = {0};
    struct asked third = {0};
    struct fake_connection *connection = NULL;

    (void)state;
    fixture_start(&fixture);
    fixture_run(&fixture);
    assert_int_equal(fixture.opened, 0);
    assert_int_equal(fixture_statistics(&fixture).state, CLIENT_CHANNEL_IDLE);
    assert_int_equal(ask(&fixture, &first, &method_read, NULL), OK);
    assert_int_equal(fixture.opened, 0);
    assert_int_equal(ask(&fixture, &second, &method_write, NULL), OK);
    fixture_run(&fixture);
    assert_int_equal(fixture.opened, 1);
    assert_int_equal(fixture_statistics(&fixture).state, CLIENT_CHANNEL_CONNECTING);
    assert_int_equal(fake_count(fixture_newest(&fixture)), 0);

    connection = fixture_make_ready(&fixture);
    assert_int_equal(fixture_statistics(&fixture).state, CLIENT_CHANNEL_READY);
    assert_int_equal(fake_count(connection), 2);
    assert_true(fake_at(connection, 0)->method == &method_read);
    assert_string_equal(fake_at(connection, 0)->request, "please");
    /* The connection is ready: a call starts before the next step. */
    assert_int_equal(ask(&fixture, &third, &method_read, NULL), OK);
    assert_int_equal(fake_count(connection), 3);
    answer_first(connection);
    answer_first(connection);
    answer_first(connection);
    assert_int_equal(first.ends + second.ends + third.ends, 3);
    assert_string_equal(first.reply, "here");
    assert_int_equal(first.attempts, 1);
    assert_true(first.from_server);
    assert_int_equal(fixture.opened, 1);
    fixture_end(&fixture);
}

/* Goal: attempts to connect wait 100 ms, 160, 256, ... up to 5 s, each 20% more or less, different
 * for each channel. */
static void test_connection_attempts_back_off(void **state)
{
    static const int64_t waits_ms[] = {100, 160, 256, 410, 656, 1050, 1680, 2688, 4301, 5000, 5000};
    int64_t first_wait_ms[3] = {0};

    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct fixture fixture;
        struct asked asked = {0};

        fixture_init(&fixture, seed);
        fixture_open(&fixture);
        assert_int_equal(ask(&fixture, &asked, &method_watch, &patient), OK);
        fixture_run(&fixture);
        for (unsigned i = 0; i < sizeof(waits_ms) / sizeof(waits_ms[0]); i++) {
            assert_int_equal(fixture.opened, i + 1);
            fake_lose(fixture_newest(&fixture), true);
            assert_int_equal(fixture_statistics(&fixture).state, CLIENT_CHANNEL_BACKOFF);
            assert_in_range(fixture.delay_ms, waits_ms[i] * 4 / 5 - 1, waits_ms[i] * 6 / 5 + 1);
            first_wait_ms[seed] = i == 0 ? fixture.delay_ms : first_wait_ms[seed];
            fixture_pass(&fixture, fixture.delay_ms - 1);
            assert_int_equal(fixture.opened, i + 1);
            fixture_pass(&fixture, 1);
        }
        assert_int_equal(asked.ends, 0);
        assert_int_equal(fixture_statistics(&fixture).connect_failures, 11);
        assert_int_equal(fixture_statistics(&fixture).attempts, 0);
        fixture_end(&fixture);
    }
    assert_false(first_wait_ms[0] == first_wait_ms[1] && first_wait_ms[1] == first_wait_ms[2]);
}

/* Goal: a server that accepts connections and drops them is tried with growing waits; one that
 * answered once is tried again soon. */
static void test_only_an_answer_resets_the_wait(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct asked other = {0};
    int64_t before_ms = 0;

    (void)state;
    fixture_init(&fixture, 1);
    fixture.config.retry.attempts_max = 100;
    fixture_open(&fixture);
    assert_int_equal(ask(&fixture, &asked, &method_watch, &patient), OK);
    fixture_run(&fixture);
    for (int i = 0; i < 8; i++) {
        (void)fixture_make_ready(&fixture);
        fake_lose(fixture_newest(&fixture), true);
        assert_true(fixture.delay_ms > before_ms);
        before_ms = fixture.delay_ms;
        fixture_pass(&fixture, fixture.delay_ms);
    }
    assert_true(before_ms > 2000);
    assert_int_equal(ask(&fixture, &other, &method_read, NULL), OK);
    (void)fixture_make_ready(&fixture);
    fake_answer(fake_at(fixture_newest(&fixture), 1), "yes");
    fake_lose(fixture_newest(&fixture), true);
    assert_in_range(fixture.delay_ms, 80, 120);
    fixture_end(&fixture);
}

/* Goal: after losing a connection without calls the channel is idle; the next call connects
 * again. */
static void test_channel_without_calls_does_not_reconnect(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &asked, &method_read, NULL), OK);
    fixture_run(&fixture);
    answer_first(fixture_make_ready(&fixture));
    fake_lose(fixture_newest(&fixture), true);
    assert_int_equal(fixture_statistics(&fixture).state, CLIENT_CHANNEL_IDLE);
    assert_int_equal(fixture_statistics(&fixture).connections_lost, 1);
    assert_int_equal(fixture.delay_ms, -1);
    assert_int_equal(fixture.connection_count, 0);

    assert_int_equal(ask(&fixture, &asked, &method_read, NULL), OK);
    fixture_run(&fixture);
    assert_int_equal(fixture_statistics(&fixture).state, CLIENT_CHANNEL_BACKOFF);
    fixture_pass(&fixture, 120);
    assert_int_equal(fixture.opened, 2);
    answer_first(fixture_make_ready(&fixture));
    assert_int_equal(asked.code, CLIENT_CODE_OK);
    fixture_pass(&fixture, 60000);
    fake_lose(fixture_newest(&fixture), true);
    fixture_pass(&fixture, 60000);
    assert_int_equal(ask(&fixture, &asked, &method_read, NULL), OK);
    fixture_run(&fixture);
    assert_int_equal(fixture.opened, 3);
    fixture_end(&fixture);
}

/* Goal: after GOAWAY, calls under way finish on that connection, new ones use a new connection at
 * once, and the old one is closed after its last call. */
static void test_draining_connection_finishes_its_calls(void **state)
{
    struct fixture fixture;
    struct asked old[2] = {{0}};
    struct asked refused = {0};
    struct asked fresh = {0};
    struct fake_connection *draining = NULL;
    struct fake_connection *made = NULL;

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &old[0], &method_read, NULL), OK);
    assert_int_equal(ask(&fixture, &old[1], &method_watch, NULL), OK);
    assert_int_equal(ask(&fixture, &refused, &method_write, NULL), OK);
    fixture_run(&fixture);
    draining = fixture_make_ready(&fixture);
    fake_reply(fake_at(draining, 1), "one");
    fake_refuse(fake_at(draining, 2));
    fixture_run(&fixture);
    assert_int_equal(refused.ends, 0);
    fake_drain(draining);
    assert_int_equal(ask(&fixture, &fresh, &method_read, NULL), OK);
    fixture_run(&fixture);
    assert_int_equal(fixture.opened, 2);
    made = fixture_make_ready(&fixture);
    assert_int_equal(fake_count(made), 1);
    answer_first(made);
    assert_int_equal(fresh.code, CLIENT_CODE_OK);

    assert_int_equal(fixture.connection_count, 2);
    answer_first(draining);
    fake_reply(fake_at(draining, 0), "two");
    fake_end(fake_at(draining, 0), CLIENT_CODE_OK);
    fixture_run(&fixture);
    assert_int_equal(old[0].code, CLIENT_CODE_OK);
    assert_int_equal(old[1].replies, 2);
    assert_int_equal(old[1].code, CLIENT_CODE_OK);
    assert_int_equal(fixture.connection_count, 1);
    fixture_pass(&fixture, 120);
    answer_first(made);
    assert_int_equal(refused.code, CLIENT_CODE_OK);
    assert_int_equal(refused.attempts, 2);
    assert_int_equal(fixture_statistics(&fixture).connections, 2);
    assert_int_equal(fixture_statistics(&fixture).connections_lost, 1);
    fixture_end(&fixture);
}

/* Goal: calls that are refused after a GOAWAY are repeated at once. */
static void test_call_refused_by_goaway_is_repeated_at_once(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct asked answered = {0};
    struct fake_connection *draining = NULL;

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &answered, &method_read, NULL), OK);
    fixture_run(&fixture);
    draining = fixture_make_ready(&fixture);
    answer_first(draining);
    assert_int_equal(ask(&fixture, &asked, &method_write, NULL), OK);
    /* The connection reports its new state first, and then the end of the call. */
    fake_report(draining, CLIENT_CONNECTION_DRAINING, NULL);
    fake_refuse(fake_at(draining, 0));
    fixture_run(&fixture);
    assert_int_equal(fixture.opened, 2);
    assert_int_equal(fake_count(fixture_make_ready(&fixture)), 1);
    answer_first(fixture_newest(&fixture));
    assert_int_equal(asked.code, CLIENT_CODE_OK);
    assert_int_equal(asked.attempts, 2);
    fixture_end(&fixture);
}

/* Goal: at most CLIENT_DRAINING_MAX connections drain; the oldest is closed, and its calls are
 * repeated elsewhere if they may be. */
static void test_draining_connections_are_bounded(void **state)
{
    struct fixture fixture;
    struct asked watches[CLIENT_DRAINING_MAX + 1] = {{0}};
    struct asked reads[CLIENT_DRAINING_MAX + 1] = {{0}};

    (void)state;
    fixture_start(&fixture);
    for (unsigned i = 0; i <= CLIENT_DRAINING_MAX; i++) {
        assert_int_equal(ask(&fixture, &watches[i], &method_watch, NULL), OK);
        assert_int_equal(ask(&fixture, &reads[i], &method_read, NULL), OK);
        fixture_run(&fixture);
        assert_int_equal(fixture.connection_count, i + 1);
        fake_reply(fake_at(fixture_make_ready(&fixture), 0), "first");
        fake_drain(fixture_newest(&fixture));
    }
    assert_int_equal(watches[0].ends, 1);
    assert_int_equal(watches[0].code, CLIENT_CODE_UNAVAILABLE);
    assert_false(watches[0].unseen);
    assert_int_equal(reads[0].ends, 0);
    assert_int_equal(watches[1].ends, 0);
    fixture_pass(&fixture, 120);
    assert_int_equal(fixture.connection_count, CLIENT_DRAINING_MAX + 1);
    answer_first(fixture_make_ready(&fixture));
    assert_int_equal(reads[0].ends, 1);
    assert_int_equal(reads[0].attempts, 2);
    fixture_end(&fixture);
}

/* Goal: a connection that cannot even be attempted counts as a failed attempt, with its reason. */
static void test_connection_that_can_not_start_is_a_failed_attempt(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};

    (void)state;
    fixture_start(&fixture);
    fixture.open_err = ERR_MEMORY;
    assert_int_equal(ask(&fixture, &asked, &method_read, NULL), OK);
    fixture_pass(&fixture, 20000);
    assert_int_equal(asked.ends, 1);
    assert_int_equal(asked.code, CLIENT_CODE_UNAVAILABLE);
    assert_string_equal(asked.message, "out of memory for a connection");
    assert_int_equal(asked.attempts, 0);
    assert_true(asked.unseen);
    assert_int_equal(fixture_statistics(&fixture).connect_failures, CLIENT_ATTEMPTS_DEFAULT);
    fixture_end(&fixture);
}

/* Goal: calls beyond the limit of a connection wait for one of its calls to end, in order. */
static void test_calls_wait_for_a_full_connection(void **state)
{
    struct fixture fixture;
    struct asked asked[5] = {{0}};
    struct fake_connection *connection = NULL;

    (void)state;
    fixture_start(&fixture);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ask(&fixture, &asked[i], &method_read, NULL), OK);
    }
    fixture_run(&fixture);
    connection = fixture_newest(&fixture);
    connection->room = 2;
    fake_ready(connection);
    assert_int_equal(fake_count(connection), 2);
    assert_int_equal(ask(&fixture, &asked[3], &method_read, NULL), OK);
    answer_first(connection);
    assert_int_equal(fake_count(connection), 2);
    /* Cancelled calls make room too. */
    ask_cancel(&asked[1]);
    fixture_run(&fixture);
    assert_int_equal(fake_count(connection), 2);
    answer_first(connection);
    assert_int_equal(asked[2].ends, 1);
    assert_int_equal(asked[3].ends, 0);
    /* The connection becomes full at the start of a call. */
    connection->room = 1;
    assert_int_equal(ask(&fixture, &asked[4], &method_read, NULL), OK);
    fixture_run(&fixture);
    answer_first(connection);
    answer_first(connection);
    assert_int_equal(asked[3].code, CLIENT_CODE_OK);
    assert_int_equal(asked[4].code, CLIENT_CODE_OK);
    assert_int_equal(asked[4].attempts, 1);
    fixture_end(&fixture);
}

/* Goal: calls that wait for a full connection do not count as failed to connect if it is lost. */
static void test_waiting_calls_survive_a_lost_full_connection(void **state)
{
    const struct client_options once = {.no_retry = true};
    struct fixture fixture;
    struct asked asked[2] = {{0}};

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &asked[0], &method_read, &once), OK);
    assert_int_equal(ask(&fixture, &asked[1], &method_read, &once), OK);
    fixture_run(&fixture);
    fixture_newest(&fixture)->room = 1;
    fake_lose(fixture_make_ready(&fixture), true);
    assert_int_equal(asked[0].ends, 1);
    assert_int_equal(asked[1].ends, 0);
    fixture_pass(&fixture, 120);
    answer_first(fixture_make_ready(&fixture));
    assert_int_equal(asked[1].code, CLIENT_CODE_OK);
    assert_int_equal(asked[1].attempts, 1);
    fixture_end(&fixture);
}

/* Goal: a connection that its call no longer needs is kept for the next call. */
static void test_connection_outlives_the_call_that_needed_it(void **state)
{
    struct fixture fixture;
    struct asked hasty = {0};
    struct asked asked = {0};
    const struct client_options soon = {.timeout_ms = 500};

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &hasty, &method_read, &soon), OK);
    fixture_pass(&fixture, 499);
    assert_int_equal(hasty.ends, 0);
    fixture_pass(&fixture, 1);
    assert_int_equal(hasty.ends, 1);
    assert_int_equal(hasty.code, CLIENT_CODE_DEADLINE_EXCEEDED);
    assert_string_equal(hasty.message,
                        "the deadline passed before a connection to played:1 was open");
    assert_false(hasty.from_server);
    assert_true(hasty.unseen);
    assert_int_equal(ask(&fixture, &asked, &method_read, NULL), OK);
    fixture_pass(&fixture, 3000);
    assert_int_equal(fixture.opened, 1);
    answer_first(fixture_make_ready(&fixture));
    assert_int_equal(asked.code, CLIENT_CODE_OK);
    fixture_end(&fixture);
}

/* Goal: a deadline that passes during a later try to connect reports the server as unreachable, unless
 * the call was to wait for it. Method: the first try fails, the second hangs. */
static void test_deadline_while_connecting_reports_unreachable(void **state)
{
    static const char late[] =
        "cannot connect to nowhere: connection refused; the deadline passed before "
        "another try succeeded";
    const struct client_options soon = {.timeout_ms = 500};
    const struct client_options waits = {.timeout_ms = 500, .wait_for_ready = true};
    struct fixture fixture;
    struct asked asked = {0};
    struct asked waiting = {0};

    (void)state;
    fixture_start(&fixture);
    assert_null(client_channel_unreachable(fixture.channel));
    assert_int_equal(ask(&fixture, &asked, &method_read, &soon), OK);
    assert_int_equal(ask(&fixture, &waiting, &method_read, &waits), OK);
    fixture_run(&fixture);
    assert_null(client_channel_unreachable(fixture.channel));
    fake_lose(fixture_newest(&fixture), true);
    assert_string_equal(client_channel_unreachable(fixture.channel),
                        "cannot connect to nowhere: connection refused");
    fixture_pass(&fixture, 500);
    assert_int_equal(fixture.opened, 2);
    assert_int_equal(asked.code, CLIENT_CODE_UNAVAILABLE);
    assert_string_equal(asked.message, late);
    assert_true(asked.unseen);
    assert_int_equal(waiting.code, CLIENT_CODE_DEADLINE_EXCEEDED);
    assert_string_equal(waiting.message, late);
    (void)fixture_make_ready(&fixture);
    assert_null(client_channel_unreachable(fixture.channel));
    fixture_end(&fixture);
}

int run_connect_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connects_when_a_call_needs_it),
        cmocka_unit_test(test_connection_attempts_back_off),
        cmocka_unit_test(test_only_an_answer_resets_the_wait),
        cmocka_unit_test(test_channel_without_calls_does_not_reconnect),
        cmocka_unit_test(test_draining_connection_finishes_its_calls),
        cmocka_unit_test(test_call_refused_by_goaway_is_repeated_at_once),
        cmocka_unit_test(test_draining_connections_are_bounded),
        cmocka_unit_test(test_connection_that_can_not_start_is_a_failed_attempt),
        cmocka_unit_test(test_calls_wait_for_a_full_connection),
        cmocka_unit_test(test_waiting_calls_survive_a_lost_full_connection),
        cmocka_unit_test(test_connection_outlives_the_call_that_needed_it),
        cmocka_unit_test(test_deadline_while_connecting_reports_unreachable)};

    return cmocka_run_group_tests_name("channel_connect", tests, NULL, NULL);
}
