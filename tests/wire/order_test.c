/*
 * order_test.c: frames of streams that may no longer, or not yet, have any (RFC 9113, 5.1): frames
 * that a correct peer never sends end the connection; frames that may cross with our own end of a
 * stream do not.
 */
#include "server/http2/h2_seen.h"
#include "tests/wire/wire.h"

/* A violation by the peer, after which the connection ends. */
enum misdeed {
    DATA_AFTER_END,
    HEADERS_AFTER_END,
    DATA_AFTER_ANSWER,
    HEADERS_AFTER_ANSWER,
    DATA_AFTER_RESET,
    HEADERS_AFTER_RESET,
    HEADERS_GONE_BACK,
    DATA_GONE_BACK,
    PRIORITY_OF_NOTHING,
    MISDEEDS
};

static void send_again(struct wire_fixture *fixture, uint32_t stream, bool headers)
{
    if (headers) {
        wire_headers(fixture, stream, WIRE_ECHO, true, NULL, 0);
    } else {
        wire_data(fixture, stream, SLICE("more"), true);
    }
}

static void do_wrong(struct wire_fixture *fixture, enum misdeed misdeed)
{
    switch (misdeed) {
    case DATA_AFTER_END:
    case HEADERS_AFTER_END:
        wire_call(fixture, 1, WIRE_HOLD, SLICE("x"));
        wire_run(fixture);
        send_again(fixture, 1, misdeed == HEADERS_AFTER_END);
        return;
    case DATA_AFTER_ANSWER:
    case HEADERS_AFTER_ANSWER:
        wire_call(fixture, 1, WIRE_ECHO, SLICE("x"));
        wire_run(fixture);
        wire_assert_status(fixture, 1, STATUS_OK);
        send_again(fixture, 1, misdeed == HEADERS_AFTER_ANSWER);
        return;
    case DATA_AFTER_RESET:
    case HEADERS_AFTER_RESET:
        wire_headers(fixture, 1, WIRE_ECHO, false, NULL, 0);
        wire_reset(fixture, 1, H2_CANCEL);
        wire_run(fixture);
        send_again(fixture, 1, misdeed == HEADERS_AFTER_RESET);
        return;
    case HEADERS_GONE_BACK:
    case DATA_GONE_BACK:
        wire_call(fixture, 5, WIRE_ECHO, SLICE("x"));
        wire_run(fixture);
        send_again(fixture, 3, misdeed == HEADERS_GONE_BACK);
        return;
    case PRIORITY_OF_NOTHING:
        wire_frame(fixture, NGHTTP2_PRIORITY, 0, 0, SLICE("\0\0\0\0\x10"));
        return;
    case MISDEEDS:
        return;
    }
}

/* Goal: a violation of the protocol ends the connection with RFC 9113's code. Method: each
 * violation. */
static void test_protocol_violation_ends_with_its_code(void **state)
{
    for (enum misdeed misdeed = 0; misdeed < MISDEEDS; misdeed++) {
        bool is_protocol = misdeed == HEADERS_GONE_BACK || misdeed == PRIORITY_OF_NOTHING;
        struct wire_fixture fixture;

        wire_setup(&fixture, WIRE_MODE(state));
        do_wrong(&fixture, misdeed);
        wire_run(&fixture);
        assert_int_equal(fixture.client.goaways, 1);
        assert_int_equal(fixture.client.goaway_code,
                         is_protocol ? H2_PROTOCOL_ERROR : H2_STREAM_CLOSED);
        assert_true(wire_finished(&fixture));
        wire_teardown(&fixture);
    }
}

/* Goal: frames that were on their way when we ended a stream are discarded. Method: bodies,
 * trailers and resets after an early answer; then a window, a priority and a reset of a stream that
 * is over. */
static void test_frames_that_cross_an_end_are_discarded(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_EARLY, false, NULL, 0);
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_UNAUTHENTICATED);
    wire_message(&fixture, 1, 0, SLICE("on its way"), false);
    wire_message(&fixture, 1, 0, SLICE("and its end"), true);
    wire_headers(&fixture, 3, WIRE_EARLY, false, NULL, 0);
    wire_run(&fixture);
    wire_reset(&fixture, 3, H2_CANCEL);
    wire_call(&fixture, 5, WIRE_ECHO, SLICE("x"));
    wire_run(&fixture);
    wire_window(&fixture, 5, 1000);
    wire_frame(&fixture, NGHTTP2_PRIORITY, 0, 5, SLICE("\0\0\0\0\x10"));
    wire_reset(&fixture, 5, H2_CANCEL);
    wire_frame(&fixture, NGHTTP2_PRIORITY, 0, 3, SLICE("\0\0\0\0\x10"));
    wire_call(&fixture, 7, WIRE_ECHO, SLICE("y"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 7, STATUS_OK);
    assert_int_equal(fixture.client.goaways, 0);
    wire_teardown(&fixture);
}

/* Goal: a frame of a forgotten stream is ignored, and the bits of old streams do not affect new
 * ones. Method: more streams than are remembered, with gaps between their ids; then DATA on the
 * first one. */
static void test_frames_of_forgotten_streams_are_ignored(void **state)
{
    struct wire_fixture fixture;
    uint32_t stream = 1;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_call(&fixture, stream, WIRE_ECHO, SLICE("x"));
    wire_run(&fixture);
    while (stream < 2 * H2_SEEN_STREAMS + 1) {
        stream += stream % 3 == 0 ? 2 : 6;
        wire_call(&fixture, stream, WIRE_ECHO, SLICE("x"));
        wire_run(&fixture);
        wire_assert_status(&fixture, stream, STATUS_OK);
    }
    wire_data(&fixture, 1, SLICE("late"), true);
    stream += 2 * H2_SEEN_STREAMS;
    wire_call(&fixture, stream, WIRE_ECHO, SLICE("x"));
    wire_run(&fixture);
    wire_assert_status(&fixture, stream, STATUS_OK);
    assert_int_equal(fixture.client.goaways, 0);
    wire_teardown(&fixture);
}

int run_order_tests(void)
{
    const struct CMUnitTest tests[] = {
        WIRE_TEST(test_protocol_violation_ends_with_its_code),
        WIRE_TEST(test_frames_that_cross_an_end_are_discarded),
        WIRE_TEST(test_frames_of_forgotten_streams_are_ignored),
    };

    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
