/*
 * deadline_test.c: peers that stop in the middle of something, or have nothing to ask for.
 */
#include "tests/wire/wire.h"

/* Goal: silence where a frame is due ends the connection. Method: no SETTINGS; a header block that
 * never ends. */
static void test_silence_where_data_is_due_ends_the_connection(void **state)
{
    struct wire_fixture fixture;
    struct call_config config = wire_config(&fixture);

    wire_setup_with(&fixture, WIRE_MODE(state), &config);
    wire_bytes_append(&fixture.client.out, SLICE(H2_PREFACE));
    wire_run(&fixture);
    wire_pass(&fixture, 9000000);
    assert_int_equal(fixture.client.goaways, 0);
    wire_pass(&fixture, 1500000);
    assert_int_equal(fixture.client.goaways, 1);
    assert_string_equal(fixture.client.goaway_text, "no_settings");
    wire_teardown(&fixture);

    wire_setup(&fixture, WIRE_MODE(state));
    wire_frame(&fixture, NGHTTP2_HEADERS, 0, 1, SLICE("\x82"));
    wire_run(&fixture);
    wire_pass(&fixture, 10500000);
    wire_assert_rate_limited(&fixture, "header_block_too_slow");
    wire_teardown(&fixture);
}

/* Goal: a header block in one frame has a deadline regardless of how slowly its bytes arrive; whole
 * frames have none. Method: HEADERS with END_HEADERS of 100 bytes, one of which arrives each
 * second. */
static void test_header_block_has_a_deadline_for_any_pieces(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_call(&fixture, 1, WIRE_HOLD, SLICE("x"));
    wire_run(&fixture);
    wire_pass(&fixture, 12000000);
    assert_int_equal(fixture.client.goaways, 0);
    wire_bytes_append(&fixture.client.out, SLICE("\0\0\x64\1\5\0\0\0\3\x83"));
    wire_run(&fixture);
    for (int i = 0; i < 9; i++) {
        wire_pass(&fixture, 1000000);
        wire_bytes_append(&fixture.client.out, SLICE("\x86"));
        wire_run(&fixture);
    }
    assert_int_equal(fixture.client.goaways, 0);
    wire_pass(&fixture, 1500000);
    wire_assert_rate_limited(&fixture, "header_block_too_slow");
    wire_teardown(&fixture);
}

/* Goal: a frame that has begun must arrive whole in its time, or the connection ends; a slow one
 * within its time is accepted. Method: the first bytes of headers and of payloads of each kind. */
static void test_incomplete_frame_ends_the_connection_in_time(void **state)
{
    static const struct slice beginnings[] = {
        {(const uint8_t *)"\0", 1}, /* incomplete frame header */
        {(const uint8_t *)"\0\0\x08\6\0\0\0\0", 8},
        {(const uint8_t *)"\0\0\x08\6\0\0\0\0\0", 9}, /* PING without its payload */
        {(const uint8_t *)"\0\x40\0\0\0\0\0\0\1\0\0", 11}, /* DATA of 16 KiB */
        {(const uint8_t *)"\0\0\x10\xee\0\0\0\0\0x", 10}, /* frame of an unknown type */
    };
    struct wire_fixture fixture;

    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
        wire_setup(&fixture, WIRE_MODE(state));
        wire_headers(&fixture, 1, WIRE_BIDI, false, NULL, 0);
        wire_ping(&fixture);
        wire_run(&fixture);
        wire_pass(&fixture, 2 * H2_FRAME_DEADLINE_US);
        wire_bytes_append(&fixture.client.out, beginnings[i]);
        wire_run(&fixture);
        wire_pass(&fixture, H2_FRAME_DEADLINE_US - 1000000);
        assert_int_equal(fixture.client.goaways, 0);
        wire_pass(&fixture, 2000000);
        wire_assert_rate_limited(&fixture, "frame_too_slow");
        wire_teardown(&fixture);
    }
    wire_setup(&fixture, WIRE_MODE(state));
    wire_bytes_append(&fixture.client.out, SLICE("\0\0\x08\6\0\0\0\0\0"));
    for (int i = 0; i < 8; i++) {
        wire_run(&fixture);
        wire_pass(&fixture, 3000000);
        wire_bytes_append(&fixture.client.out, SLICE("p"));
    }
    wire_run(&fixture);
    wire_pass(&fixture, 2 * H2_FRAME_DEADLINE_US);
    assert_int_equal(fixture.client.goaways, 0);
    assert_int_equal(fixture.client.pings_answered, 1);
    wire_teardown(&fixture);
}

/* Goal: a message of a bidi stream that has begun has a deadline; the next one has none. Method:
 * none for an hour; a whole one; half of one. */
static void test_incomplete_bidi_message_has_a_deadline(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_BIDI, false, NULL, 0);
    wire_run(&fixture);
    wire_pass(&fixture, 60 * CALL_BODY_DEADLINE_US);
    wire_message(&fixture, 1, 0, SLICE("q"), false);
    wire_run(&fixture);
    assert_int_equal(fixture.messages, 1);
    wire_pass(&fixture, 2 * CALL_BODY_DEADLINE_US);
    wire_data(&fixture, 1, SLICE("\0\0\0\0\5half"), false);
    wire_run(&fixture);
    wire_pass(&fixture, CALL_BODY_DEADLINE_US - 2 * CALL_BODY_CHECK_US);
    assert_int_equal(fixture.cancels, 0);
    wire_pass(&fixture, 3 * CALL_BODY_CHECK_US);
    assert_int_equal(fixture.cancels, 1);
    assert_int_equal(wire_answer(&fixture, 1)->grpc_status, STATUS_DEADLINE_EXCEEDED);
    wire_teardown(&fixture);
}

/* Goal: a connection without requests is ended gracefully after its time, and not while it has
 * one. Method: a held call for longer than that; then nothing but occasional pings, which do not
 * count. */
static void test_idle_connection_ends_gracefully(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    assert_int_equal(fixture.protocol.idle_since_us(fixture.session), fixture.now_us);
    wire_call(&fixture, 1, WIRE_HOLD, SLICE("x"));
    wire_run(&fixture);
    assert_true(fixture.protocol.idle_since_us(fixture.session) == INT64_MAX);
    wire_pass(&fixture, 2 * H2_IDLE_DEADLINE_US);
    assert_int_equal(fixture.client.goaways, 0);
    wire_finish_held(&fixture, 0, STATUS_OK);
    wire_run(&fixture);
    assert_int_equal(fixture.protocol.idle_since_us(fixture.session), fixture.now_us);
    wire_pass(&fixture, H2_IDLE_DEADLINE_US / 2);
    wire_ping(&fixture);
    wire_run(&fixture);
    wire_pass(&fixture, H2_IDLE_DEADLINE_US / 2 - 1000000);
    assert_int_equal(fixture.client.goaways, 0);
    wire_pass(&fixture, 2000000);
    assert_int_equal(fixture.client.goaways, 2);
    assert_int_equal(fixture.client.goaway_code, H2_NO_ERROR);
    assert_true(wire_finished(&fixture));
    assert_int_equal(grpc_server_h2_stats(fixture.grpc)->connections_idle, 1);
    wire_teardown(&fixture);
}

/* Goal: a request that crosses with the end of an idle connection is served. Method: a call after
 * the first GOAWAY, before the ping's answer. */
static void test_call_that_crosses_the_idle_end_is_served(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    fixture.client.answers_pings = false;
    wire_pass(&fixture, H2_IDLE_DEADLINE_US);
    assert_int_equal(fixture.client.goaways, 1);
    wire_call(&fixture, 1, WIRE_ECHO, SLICE("x"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    wire_pass(&fixture, 2 * H2_SHUTDOWN_NOTICE_US);
    assert_true(wire_finished(&fixture));
    wire_teardown(&fixture);
}

/* Goal: a peer that vanished without closing is detected. Method: a held call; our ping after a
 * minute is answered, the next one is not. */
static void test_vanished_peer_is_detected_by_a_ping(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_call(&fixture, 1, WIRE_HOLD, SLICE("x"));
    wire_run(&fixture);
    wire_pass(&fixture, 65000000);
    assert_int_equal(fixture.client.pings_received, 1);
    fixture.client.answers_pings = false;
    wire_pass(&fixture, 65000000);
    assert_int_equal(fixture.client.pings_received, 2);
    assert_false(wire_finished(&fixture));
    wire_pass(&fixture, 20000000);
    assert_true(wire_finished(&fixture));
    wire_teardown(&fixture);
}

int run_deadline_tests(void)
{
    const struct CMUnitTest tests[] = {
        WIRE_TEST(test_silence_where_data_is_due_ends_the_connection),
        WIRE_TEST(test_header_block_has_a_deadline_for_any_pieces),
        WIRE_TEST(test_incomplete_frame_ends_the_connection_in_time),
        WIRE_TEST(test_incomplete_bidi_message_has_a_deadline),
        WIRE_TEST(test_idle_connection_ends_gracefully),
        WIRE_TEST(test_call_that_crosses_the_idle_end_is_served),
        WIRE_TEST(test_vanished_peer_is_detected_by_a_ping),
    };

    return cmocka_run_group_tests_name("deadlines", tests, NULL, NULL);
}
