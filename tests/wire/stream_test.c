/*
 * stream_test.c: streamed answers: flow control in both directions, slow readers, cancellation.
 */
#include "store/base/bytes.h"
#include "tests/wire/wire.h"

#include <stdlib.h>

static struct slice stream_request(uint8_t bytes[8], uint32_t count, uint32_t size)
{
    bytes_put_be32(bytes, count);
    bytes_put_be32(bytes + 4, size);
    return slice_of(bytes, 8);
}

static bool is_patterned(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != wire_pattern(i)) {
            return false;
        }
    }
    return true;
}

/* Each message of the body has `size` patterned bytes; returns how many are complete. */
static size_t count_messages(const struct wire_answer *answer, size_t size)
{
    size_t count = 0;

    for (size_t at = 0; at + 5 + size <= answer->body_size; at += 5 + size) {
        assert_int_equal(answer->body[at], 0);
        assert_int_equal(bytes_get_be32(answer->body + at + 1), size);
        assert_true(is_patterned(answer->body + at + 5, size));
        count++;
    }
    return count;
}

/* Goal: a stream's messages arrive in order and whole. Method: 300 messages of 1,000 bytes, with
 * all the window they need. */
static void test_stream_messages_are_whole_and_in_order(void **state)
{
    struct wire_fixture fixture;
    uint8_t request[8];

    wire_setup(&fixture, WIRE_MODE(state));
    wire_settings(&fixture, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20);
    wire_window(&fixture, 0, 1 << 20);
    wire_call(&fixture, 1, WIRE_STREAM, stream_request(request, 300, 1000));
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    assert_int_equal(count_messages(wire_answer(&fixture, 1), 1000), 300);
    assert_int_equal(wire_answer(&fixture, 1)->blocks, 2);
    wire_teardown(&fixture);
}

/* Goal: a stream without messages has a status. Method: a stream of no messages. */
static void test_empty_stream_has_a_status(void **state)
{
    struct wire_fixture fixture;
    uint8_t request[8];

    wire_setup(&fixture, WIRE_MODE(state));
    wire_call(&fixture, 1, WIRE_STREAM, stream_request(request, 0, 0));
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    assert_int_equal(wire_answer(&fixture, 1)->body_size, 0);
    wire_teardown(&fixture);
}

/* Goal: the queue for a slow reader is bounded, and it gets everything. Method: 5 MB through a
 * window that opens by 10,000 bytes at a time; the producer's queue is examined after each
 * message. */
static void test_slow_reader_bounds_the_queue(void **state)
{
    struct wire_fixture fixture;
    uint8_t request[8];
    struct wire_answer *answer = NULL;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_call(&fixture, 1, WIRE_STREAM, stream_request(request, 1000, 5000));
    wire_run(&fixture);
    answer = wire_answer(&fixture, 1);
    assert_int_equal(answer->body_size, 65535);
    assert_false(answer->ended);
    while (!answer->ended) {
        size_t before = answer->body_size;

        wire_window(&fixture, 0, 10000);
        wire_window(&fixture, 1, 10000);
        wire_run(&fixture);
        assert_true(answer->ended || answer->body_size == before + 10000);
    }
    wire_assert_status(&fixture, 1, STATUS_OK);
    assert_int_equal(count_messages(answer, 5000), 1000);
    assert_true(fixture.writables > 10);
    assert_true(fixture.output_bytes_max <= CALL_OUTPUT_BYTES_HIGH + 5005);
    wire_teardown(&fixture);
}

/* Goal: a unary reply waits for the window and continues where it stopped. Method: 200,000 bytes
 * through 65,535, then the rest; trailers are last. */
static void test_reply_continues_once_the_window_opens(void **state)
{
    struct wire_fixture fixture;
    uint8_t request[4];
    struct wire_answer *answer = NULL;

    wire_setup(&fixture, WIRE_MODE(state));
    bytes_put_be32(request, 200000);
    wire_call(&fixture, 1, WIRE_SIZE, slice_of(request, 4));
    wire_run(&fixture);
    answer = wire_answer(&fixture, 1);
    assert_int_equal(answer->body_size, 65535);
    assert_int_equal(answer->grpc_status, -1);
    wire_window(&fixture, 0, 200000);
    wire_run(&fixture);
    assert_int_equal(answer->body_size, 65535);
    wire_window(&fixture, 1, 200000);
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    assert_int_equal(count_messages(answer, 200000), 1);
    wire_teardown(&fixture);
}

/* Goal: output that the peer's window blocks is not kept forever. Method: a reply larger than the
 * window; more than a minute passes; the stream is reset. Windows of single bytes do not prolong
 * it. */
static void test_blocked_output_is_reset_after_a_minute(void **state)
{
    struct wire_fixture fixture;
    uint8_t request[4];

    wire_setup(&fixture, WIRE_MODE(state));
    bytes_put_be32(request, 200000);
    wire_call(&fixture, 1, WIRE_SIZE, slice_of(request, 4));
    wire_run(&fixture);
    for (int i = 0; i < 65; i++) {
        wire_window(&fixture, 0, 1);
        wire_window(&fixture, 1, 1);
        wire_pass(&fixture, 1000000);
    }
    assert_int_equal(wire_answer(&fixture, 1)->reset, H2_CANCEL);
    assert_int_equal(call_server_stats(fixture.calls).calls_live, 0);
    wire_teardown(&fixture);
}

/* Goal: a deadline ends a stream that is blocked in the middle of a message. Method: RST_STREAM, since
 * trailers would never arrive. */
static void test_deadline_resets_a_blocked_stream(void **state)
{
    static const struct wire_field timeout[] = {{"grpc-timeout", "2S"}};
    struct wire_fixture fixture;
    uint8_t request[8];

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_STREAM, false, timeout, 1);
    wire_message(&fixture, 1, 0, stream_request(request, 1000, 5000), true);
    wire_run(&fixture);
    wire_pass(&fixture, 2500000);
    assert_int_equal(fixture.cancels, 1);
    assert_int_equal(wire_answer(&fixture, 1)->reset, H2_CANCEL);
    assert_int_equal(call_server_stats(fixture.calls).calls_live, 0);
    wire_teardown(&fixture);
}

/* Goal: a reset ends a producing stream. Method: the producer is in the middle; it is notified
 * once. */
static void test_reset_ends_the_producer(void **state)
{
    struct wire_fixture fixture;
    uint8_t request[8];

    wire_setup(&fixture, WIRE_MODE(state));
    wire_call(&fixture, 1, WIRE_STREAM, stream_request(request, 1000, 5000));
    wire_run(&fixture);
    wire_reset(&fixture, 1, H2_CANCEL);
    wire_window(&fixture, 0, 100000);
    wire_run(&fixture);
    assert_int_equal(fixture.cancels, 1);
    assert_int_equal(call_server_stats(fixture.calls).calls_live, 0);
    wire_teardown(&fixture);
}

/* Goal: requests and answers of a bidi stream interleave. Method: message, answer, message,
 * answer. */
static void test_bidi_messages_interleave(void **state)
{
    struct wire_fixture fixture;
    struct wire_answer *answer = NULL;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_BIDI, false, NULL, 0);
    wire_run(&fixture);
    answer = wire_answer(&fixture, 1);
    for (size_t i = 1; i <= 3; i++) {
        wire_message(&fixture, 1, 0, SLICE("again"), false);
        wire_run(&fixture);
        assert_int_equal(answer->body_size, i * (16384 + 5));
        assert_memory_equal(answer->body + (i - 1) * (16384 + 5) + 5, "again.", 6);
    }
    wire_data(&fixture, 1, SLICE(""), true);
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    wire_teardown(&fixture);
}

/* Goal: a bidi peer that sends requests and does not read is not answered without bound. Method:
 * 500 requests for 16 KiB each; no more than the mark is queued, the rest waits in the window, and
 * all are answered when the peer reads. */
static void test_bidi_answers_are_bounded_until_read(void **state)
{
    struct wire_fixture fixture;
    struct wire_answer *answer = NULL;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_BIDI, false, NULL, 0);
    wire_run(&fixture);
    for (int i = 0; i < 500; i++) {
        wire_message(&fixture, 1, 0, SLICE("q"), i == 499);
    }
    wire_run(&fixture);
    answer = wire_answer(&fixture, 1);
    assert_int_equal(answer->body_size, 65535);
    assert_true(fixture.messages < 12);
    while (!answer->ended) {
        size_t before = answer->body_size;

        wire_window(&fixture, 0, 400000);
        wire_window(&fixture, 1, 400000);
        wire_run(&fixture);
        assert_true(answer->body_size > before);
    }
    wire_assert_status(&fixture, 1, STATUS_OK);
    assert_int_equal(fixture.messages, 500);
    assert_int_equal(answer->body_size, 500 * (16384 + 5));
    wire_teardown(&fixture);
}

/* Goal: the request's window opens as bytes are read, so that a message may be larger than it.
 * Method: 700,000 bytes; the updates of the stream add up to the bytes sent. */
static void test_request_window_opens_as_bytes_are_read(void **state)
{
    struct wire_fixture fixture;
    size_t size = 700000;
    uint8_t *body = malloc(size);
    uint8_t head[5] = {0};

    assert_non_null(body);
    for (size_t i = 0; i < size; i++) {
        body[i] = wire_pattern(i);
    }
    wire_setup(&fixture, WIRE_MODE(state));
    wire_settings(&fixture, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20);
    wire_window(&fixture, 0, 1 << 20);
    wire_headers(&fixture, 1, WIRE_ECHO, false, NULL, 0);
    bytes_put_be32(head + 1, (uint32_t)size);
    wire_data(&fixture, 1, slice_of(head, sizeof(head)), false);
    for (size_t at = 0; at < size; at += 100000) { /* within the window updates */
        wire_data(&fixture, 1, slice_of(body + at, 100000), at + 100000 == size);
        wire_run(&fixture);
    }
    wire_assert_status(&fixture, 1, STATUS_OK);
    assert_int_equal(count_messages(wire_answer(&fixture, 1), size), 1);
    assert_true(fixture.client.stream_window_opened >= size - H2_STREAM_WINDOW_BYTES);
    free(body);
    wire_teardown(&fixture);
}

/* Goal: 128 calls share a connection, each with its own state. Method: all heads first, then all
 * messages in reverse, with their answers. */
static void test_calls_interleave_on_one_connection(void **state)
{
    struct wire_fixture fixture;
    uint8_t text[4];

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t i = 0; i < H2_STREAMS_MAX; i++) {
        wire_headers(&fixture, i * 2 + 1, WIRE_ECHO, false, NULL, 0);
    }
    for (uint32_t i = H2_STREAMS_MAX; i > 0; i--) {
        bytes_put_be32(text, i);
        wire_message(&fixture, i * 2 - 1, 0, slice_of(text, 4), true);
    }
    wire_run(&fixture);
    for (uint32_t i = 1; i <= H2_STREAMS_MAX; i++) {
        wire_assert_status(&fixture, i * 2 - 1, STATUS_OK);
        assert_int_equal(bytes_get_be32(wire_reply(&fixture, i * 2 - 1).data), i);
    }
    wire_teardown(&fixture);
}

/* Goal: the connection's window opens as small requests are read, none of which needs it by itself.
 * Method: 2,400 KB in calls of 4,000 bytes. */
static void test_connection_window_opens_for_small_requests(void **state)
{
    static const uint8_t body[4000];
    struct wire_fixture fixture;
    uint64_t sent = 0;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_window(&fixture, 0, 16 << 20);
    for (uint32_t i = 0; i < 600; i++) {
        wire_call(&fixture, i * 2 + 1, WIRE_ECHO, slice_of(body, sizeof(body)));
        wire_run(&fixture);
        wire_assert_status(&fixture, i * 2 + 1, STATUS_OK);
        sent += sizeof(body) + 5;
        assert_true(fixture.client.window_opened + 65535 >= sent);
    }
    assert_true(fixture.client.window_opened >= sent - H2_CONNECTION_WINDOW_BYTES / 2);
    assert_int_equal(fixture.client.stream_window_opened, 0);
    wire_teardown(&fixture);
}

/* Goal: the answers to many simultaneous requests are not all in memory at once. Method: a hundred
 * requests in one read; live ones are counted after each piece that the server reads. */
static void test_answers_of_many_requests_are_not_all_in_memory(void **state)
{
    struct wire_fixture fixture;
    uint8_t size[4];

    wire_setup(&fixture, WIRE_MODE(state));
    bytes_put_be32(size, 4000);
    wire_window(&fixture, 0, 1 << 20);
    for (uint32_t i = 0; i < 100; i++) {
        wire_call(&fixture, i * 2 + 1, WIRE_SIZE, slice_of(size, sizeof(size)));
    }
    wire_run(&fixture);
    for (uint32_t i = 0; i < 100; i++) {
        wire_assert_status(&fixture, i * 2 + 1, STATUS_OK);
        assert_int_equal(wire_reply(&fixture, i * 2 + 1).size, 4000);
    }
    if (!fixture.bytewise) {
        assert_int_equal(fixture.live_max, H2_FEED_REQUESTS_MAX);
    }
    wire_teardown(&fixture);
}

int run_stream_tests(void)
{
    const struct CMUnitTest tests[] = {
        WIRE_TEST(test_stream_messages_are_whole_and_in_order),
        WIRE_TEST(test_empty_stream_has_a_status),
        WIRE_TEST(test_slow_reader_bounds_the_queue),
        WIRE_TEST(test_reply_continues_once_the_window_opens),
        WIRE_TEST(test_blocked_output_is_reset_after_a_minute),
        WIRE_TEST(test_deadline_resets_a_blocked_stream),
        WIRE_TEST(test_reset_ends_the_producer),
        WIRE_TEST(test_bidi_messages_interleave),
        WIRE_TEST(test_bidi_answers_are_bounded_until_read),
        WIRE_TEST(test_request_window_opens_as_bytes_are_read),
        WIRE_TEST(test_calls_interleave_on_one_connection),
        WIRE_TEST(test_answers_of_many_requests_are_not_all_in_memory),
        WIRE_TEST(test_connection_window_opens_for_small_requests),
    };

    return cmocka_run_group_tests_name("streams", tests, NULL, NULL);
}
