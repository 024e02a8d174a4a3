/*
 * pressure_test.c: the edges of the limits that hold while much of a server is taken: calls of one
 * connection beside those of others, and answers that wait to be read.
 */
#include "server/call/call_internal.h"
#include "tests/wire/wire.h"

/* Opens calls that are held, from stream `first` on. */
static void hold_calls(struct wire_fixture *fixture, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        wire_call(fixture, first + i * 2, WIRE_HOLD, SLICE("x"));
    }
    wire_run(fixture);
}

/* Goal: while more than half of all calls are live, another connection gets eight and no ninth,
 * whichever connection holds the others. Method: 33 of 64 held by one connection; nine calls of a
 * second. */
static void test_second_connection_gets_eight_calls_under_pressure(void **state)
{
    struct wire_fixture fixture;
    struct wire_fixture second;
    struct call_config config = wire_config(&fixture);

    config.live_max = 64;
    wire_setup_with(&fixture, WIRE_MODE(state), &config);
    wire_preface(&fixture);
    hold_calls(&fixture, 1, 33);
    wire_join(&second, &fixture);
    hold_calls(&second, 1, CALL_PRESSED_PER_CONNECTION + 1);
    assert_int_equal(fixture.held_count, 33 + CALL_PRESSED_PER_CONNECTION);
    wire_assert_status(&second, CALL_PRESSED_PER_CONNECTION * 2 + 1, STATUS_UNAVAILABLE);
    assert_int_equal(call_server_stats(fixture.calls).calls_refused, 1);
    wire_leave(&second);
    wire_teardown(&fixture);
}

/* Goal: with exactly half of all calls live, a connection may have more than eight. Method: 32 of
 * 64 calls are held when the 33rd comes, by a connection that holds 23 of them. */
static void test_half_of_all_calls_are_not_pressure(void **state)
{
    struct wire_fixture fixture;
    struct wire_fixture second;
    struct call_config config = wire_config(&fixture);

    config.live_max = 64;
    wire_setup_with(&fixture, WIRE_MODE(state), &config);
    wire_preface(&fixture);
    hold_calls(&fixture, 1, 9);
    wire_join(&second, &fixture);
    hold_calls(&second, 1, 24);
    assert_int_equal(fixture.held_count, 33);
    assert_int_equal(call_server_stats(fixture.calls).calls_refused, 0);
    wire_leave(&second);
    wire_teardown(&fixture);
}

/* Goal: a connection's answers may wait up to its mark, and up to a lower one while more than half
 * of the total for all connections waits. Method: both marks and the half, and one byte more of
 * each. */
static void test_unread_answers_stop_at_the_mark(void **state)
{
    struct call_server server = {.output_bytes = CALL_OUTPUT_BYTES_MAX / 2};
    struct call_share share = {.output_bytes = CALL_SHARE_OUTPUT_BYTES_HIGH};

    (void)state;
    assert_int_equal(CALL_OUTPUT_BYTES_MAX / 2, 128u << 20);
    assert_false(call_share_is_full(&server, &share));
    share.output_bytes++;
    assert_true(call_share_is_full(&server, &share));
    server.output_bytes++;
    share.output_bytes = CALL_OUTPUT_BYTES_HIGH;
    assert_false(call_share_is_full(&server, &share));
    share.output_bytes++;
    assert_true(call_share_is_full(&server, &share));
    server.output_bytes--;
    assert_false(call_share_is_full(&server, &share));
}

int run_pressure_tests(void)
{
    const struct CMUnitTest tests[] = {
        WIRE_TEST(test_second_connection_gets_eight_calls_under_pressure),
        WIRE_TEST(test_half_of_all_calls_are_not_pressure),
        cmocka_unit_test(test_unread_answers_stop_at_the_mark),
    };

    return cmocka_run_group_tests_name("pressure", tests, NULL, NULL);
}
