/*
 * upload_test.c: client streams: many requests, one reply; and every way in which such a call ends
 * before its last request.
 */
#include "server/call/gzip.h"
#include "store/base/bytes.h"
#include "tests/wire/wire.h"

#include <stdlib.h>

#define LARGE_BYTES 300000

/* `size` patterned bytes, with 0 first, which selects no behaviour; the caller frees. */
static uint8_t *patterned(size_t size)
{
    uint8_t *bytes = malloc(size);

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = wire_pattern(i);
    }
    return bytes;
}

/* Sends one message of an upload, counting like the server should. */
static void send_counted(struct wire_fixture *fixture, uint32_t stream, struct wire_upload *upload,
                         struct slice message)
{
    wire_message(fixture, stream, 0, message, false);
    wire_upload_add(upload, message);
}

static void half_close(struct wire_fixture *fixture, uint32_t stream)
{
    wire_data(fixture, stream, SLICE(""), true);
}

/* The call was refused before its request had ended: one block, then RST_STREAM(NO_ERROR), and
 * nothing of it is left. */
static void assert_refused(struct wire_fixture *fixture, uint32_t stream, int grpc_status)
{
    struct wire_answer *answer = wire_answer(fixture, stream);

    wire_assert_status(fixture, stream, grpc_status);
    assert_int_equal(answer->blocks, 1);
    assert_int_equal(answer->body_size, 0);
    assert_int_equal(answer->reset, H2_NO_ERROR);
    assert_int_equal(call_server_stats(fixture->calls).calls_live, 0);
    assert_int_equal(call_server_stats(fixture->calls).body_bytes_live, 0);
}

/* Asserts that the connection is in its initial state. */
static void assert_goes_on(struct wire_fixture *fixture, uint32_t stream)
{
    wire_call(fixture, stream, WIRE_ECHO, SLICE("still here"));
    wire_run(fixture);
    wire_assert_status(fixture, stream, STATUS_OK);
    assert_true(slice_equal(wire_reply(fixture, stream), SLICE("still here")));
    assert_int_equal(fixture->client.goaways, 0);
}

/* Goal: messages of any size arrive in order and whole, each before the next is sent, and one reply
 * ends the call. Method: sizes around the frame's; their count and sum. */
static void test_upload_messages_are_whole_and_in_order(void **state)
{
    static const size_t sizes[] = {1, 0, 16378, 16379, 16380, 100, 0, LARGE_BYTES, 7};
    struct wire_fixture fixture;
    struct wire_upload upload = {0};
    uint8_t *bytes = patterned(LARGE_BYTES);

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_UPLOAD, false, NULL, 0);
    for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        send_counted(&fixture, 1, &upload, slice_of(bytes, sizes[i]));
        wire_run(&fixture);
        assert_int_equal(fixture.messages, i + 1);
        assert_int_equal(call_server_stats(fixture.calls).body_bytes_live, 0);
        assert_int_equal(wire_answer(&fixture, 1)->http_status, 0);
    }
    assert_int_equal(fixture.half_closes, 0);
    half_close(&fixture, 1);
    wire_run(&fixture);
    assert_int_equal(fixture.half_closes, 1);
    wire_assert_upload(&fixture, 1, &upload);
    assert_int_equal(wire_answer(&fixture, 1)->blocks, 2);
    assert_int_equal(wire_answer(&fixture, 1)->reset, -1);
    assert_goes_on(&fixture, 3);
    free(bytes);
    wire_teardown(&fixture);
}

/* Goal: several messages may share a frame, and the last one the end of the stream. Method: 1,000
 * messages of 0 to 9 bytes in frames of 4,000. */
static void test_many_messages_may_share_a_frame(void **state)
{
    struct wire_fixture fixture;
    struct wire_upload upload = {0};
    struct wire_bytes all = {NULL, 0, 0};
    static const uint8_t content[10] = {0};

    wire_setup(&fixture, WIRE_MODE(state));
    for (size_t i = 0; i < 1000; i++) {
        uint8_t head[5] = {0, 0, 0, 0, (uint8_t)(i % 10)};

        wire_bytes_append(&all, slice_of(head, sizeof(head)));
        wire_bytes_append(&all, slice_of(content, i % 10));
        wire_upload_add(&upload, slice_of(content, i % 10));
    }
    wire_headers(&fixture, 1, WIRE_UPLOAD, false, NULL, 0);
    for (size_t at = 0; at < all.size; at += 4000) {
        size_t size = all.size - at < 4000 ? all.size - at : 4000;

        wire_data(&fixture, 1, slice_of(all.data + at, size), at + size == all.size);
    }
    wire_run(&fixture);
    wire_assert_upload(&fixture, 1, &upload);
    free(all.data);
    wire_teardown(&fixture);
}

/* Goal: an upload without messages is a valid request. Method: the end with the headers, and in a
 * separate frame. */
static void test_upload_without_messages_is_a_request(void **state)
{
    const struct wire_upload none = {0};
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_UPLOAD, true, NULL, 0);
    wire_headers(&fixture, 3, WIRE_UPLOAD, false, NULL, 0);
    half_close(&fixture, 3);
    wire_run(&fixture);
    wire_assert_upload(&fixture, 1, &none);
    wire_assert_upload(&fixture, 3, &none);
    assert_int_equal(fixture.messages, 0);
    assert_int_equal(fixture.half_closes, 2);
    wire_teardown(&fixture);
}

/* Goal: a truncated message fails the call, and is not delivered. Method: the stream's end within a
 * prefix, and within the bytes; a whole message before. */
static void test_truncated_message_fails_the_call(void **state)
{
    static const struct slice pieces[] = {SLICE("\0\0\0"), SLICE("\0\0\0\0\6"
                                                                 "abc")};
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t stream = i * 2 + 1;

        wire_headers(&fixture, stream, WIRE_UPLOAD, false, NULL, 0);
        wire_message(&fixture, stream, 0, SLICE("whole"), false);
        wire_data(&fixture, stream, pieces[i], true);
        wire_run(&fixture);
        wire_assert_status(&fixture, stream, STATUS_INTERNAL);
        assert_int_equal(fixture.messages, i + 1);
        assert_int_equal(fixture.cancels, i + 1);
        assert_int_equal(fixture.half_closes, 0);
        assert_int_equal(call_server_stats(fixture.calls).calls_live, 0);
    }
    assert_goes_on(&fixture, 5);
    wire_teardown(&fixture);
}

/* Goal: each message is bounded, in any place, and so is the sum of those in memory. Method: a
 * limit of 1,000 bytes, and of 1,500 for all calls; one message that is larger between two others,
 * and two at once. */
static void test_too_large_message_is_refused_anywhere(void **state)
{
    struct wire_fixture fixture;
    struct call_config config = wire_config(&fixture);
    uint8_t *bytes = patterned(1001);
    uint8_t head[5] = {0, 0, 0, 3, 0xe8};

    config.message_bytes_max = 1000;
    config.body_bytes_max = 1500;
    wire_setup_with(&fixture, WIRE_MODE(state), &config);
    wire_preface(&fixture);
    wire_headers(&fixture, 1, WIRE_UPLOAD, false, NULL, 0);
    for (int i = 0; i < 10; i++) {
        wire_message(&fixture, 1, 0, slice_of(bytes, 1000), false);
    }
    wire_message(&fixture, 1, 0, slice_of(bytes, 1001), false);
    wire_message(&fixture, 1, 0, slice_of(bytes, 1000), false);
    wire_run(&fixture);
    assert_refused(&fixture, 1, STATUS_RESOURCE_EXHAUSTED);
    assert_int_equal(fixture.messages, 10);
    assert_int_equal(fixture.cancels, 1);
    assert_int_equal(fixture.half_closes, 0);

    wire_headers(&fixture, 3, WIRE_UPLOAD, false, NULL, 0);
    wire_data(&fixture, 3, slice_of(head, sizeof(head)), false);
    wire_headers(&fixture, 5, WIRE_UPLOAD, false, NULL, 0);
    wire_data(&fixture, 5, slice_of(head, sizeof(head)), false);
    wire_run(&fixture);
    assert_int_equal(call_server_stats(fixture.calls).body_bytes_live,
                     0); /* nothing has been received */
    wire_data(&fixture, 3, slice_of(bytes, 900), false);
    wire_data(&fixture, 5, slice_of(bytes, 900), false);
    wire_run(&fixture);
    wire_assert_status(&fixture, 5, STATUS_UNAVAILABLE);
    assert_int_equal(call_server_stats(fixture.calls).body_bytes_live, 900);
    wire_data(&fixture, 3, slice_of(bytes + 900, 100), true);
    wire_run(&fixture);
    wire_assert_status(&fixture, 3, STATUS_OK);
    assert_goes_on(&fixture, 7);
    free(bytes);
    wire_teardown(&fixture);
}

/* Goal: a peer that cancels, or disconnects, in the middle leaves nothing allocated. Method:
 * RST_STREAM, then a lost connection, each within a message after a whole one. */
static void test_cancel_in_the_middle_leaks_nothing(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t stream = 1; stream <= 3; stream += 2) {
        wire_headers(&fixture, stream, WIRE_UPLOAD, false, NULL, 0);
        wire_message(&fixture, stream, 0, SLICE("whole"), false);
        wire_data(&fixture, stream,
                  SLICE("\0\0\1\0\0"
                        "abc"),
                  false);
        wire_run(&fixture);
        assert_int_equal(call_server_stats(fixture.calls).body_bytes_live, 3);
        if (stream == 1) {
            wire_reset(&fixture, stream, H2_CANCEL);
            wire_run(&fixture);
        } else {
            wire_disconnect(&fixture);
        }
        assert_int_equal(fixture.cancelled_why, ERR_CANCELLED);
        assert_int_equal(call_server_stats(fixture.calls).calls_live, 0);
        assert_int_equal(call_server_stats(fixture.calls).body_bytes_live, 0);
    }
    assert_int_equal(fixture.cancels, 2);
    assert_int_equal(fixture.half_closes, 0);
    wire_teardown(&fixture);
}

/* Goal: a call that the services refuse in the middle is answered at once, and a client that
 * continues to send costs nothing. Method: refused by a message and before the first; then 4 MB
 * more, for which the connection's window is returned. */
static void test_refusal_in_the_middle_is_answered_at_once(void **state)
{
    static const struct wire_field no_token[] = {{"authorization", "no"}};
    struct wire_fixture fixture;
    uint8_t *bytes = patterned(100000);

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t stream = 1; stream <= 3; stream += 2) {
        uint64_t opened = fixture.client.window_opened;
        uint32_t sent = 0;

        wire_headers(&fixture, stream, WIRE_UPLOAD, false, no_token, stream == 3);
        wire_message(&fixture, stream, 0, SLICE("whole"), false);
        wire_message(&fixture, stream, 0, SLICE("X"), false);
        wire_message(&fixture, stream, 0, SLICE("one more"), false);
        wire_run(&fixture);
        assert_refused(&fixture, stream,
                       stream == 1 ? STATUS_INVALID_ARGUMENT : STATUS_UNAUTHENTICATED);
        assert_int_equal(fixture.messages, 2);
        for (; sent < 40 * 100000; sent += 100000) {
            wire_data(&fixture, stream, slice_of(bytes, 100000), false);
            wire_run(&fixture);
        }
        assert_true(fixture.client.window_opened - opened >= sent - H2_CONNECTION_WINDOW_BYTES);
    }
    assert_int_equal(fixture.cancels, 0);
    assert_int_equal(fixture.half_closes, 0);
    assert_goes_on(&fixture, 5);
    free(bytes);
    wire_teardown(&fixture);
}

/* Goal: the end of a request whose call was refused is ignored. Method: refusal, another message
 * and the end in one read, so that the request has ended before the answer is sent. */
static void test_half_close_after_a_refusal_is_ignored(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_UPLOAD, false, NULL, 0);
    wire_message(&fixture, 1, 0, SLICE("X"), false);
    wire_message(&fixture, 1, 0, SLICE("Y"), true);
    wire_feed_only(&fixture);
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_INVALID_ARGUMENT);
    assert_int_equal(wire_answer(&fixture, 1)->reset, -1);
    assert_int_equal(fixture.messages, 1);
    assert_int_equal(fixture.half_closes, 0);
    assert_int_equal(fixture.cancels, 0);
    wire_headers(&fixture, 3, WIRE_UPLOAD, false, NULL, 0);
    wire_message(&fixture, 3, 0, SLICE("X"), false);
    wire_run(&fixture);
    half_close(&fixture, 3); /* crosses the RST_STREAM */
    wire_run(&fixture);
    assert_refused(&fixture, 3, STATUS_INVALID_ARGUMENT);
    assert_goes_on(&fixture, 5);
    wire_teardown(&fixture);
}

/* Goal: a service may answer before the end, and a reply that was made is not sent with an error.
 * Method: OK in the middle; a reply and then INTERNAL. */
static void test_service_may_answer_before_the_end(void **state)
{
    struct wire_fixture fixture;
    struct wire_upload upload = {0};

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_UPLOAD, false, NULL, 0);
    send_counted(&fixture, 1, &upload, SLICE("whole"));
    send_counted(&fixture, 1, &upload, SLICE("O"));
    wire_run(&fixture);
    wire_assert_upload(&fixture, 1, &upload);
    assert_int_equal(wire_answer(&fixture, 1)->reset, H2_NO_ERROR);
    wire_headers(&fixture, 3, WIRE_UPLOAD, false, NULL, 0);
    wire_message(&fixture, 3, 0, SLICE("W"), false);
    wire_run(&fixture);
    assert_refused(&fixture, 3, STATUS_INTERNAL);
    assert_true(wire_has_field(wire_answer(&fixture, 3), "grpc-message: after all\n"));
    assert_goes_on(&fixture, 5);
    wire_teardown(&fixture);
}

/* Goal: an upload of any length takes the memory of one message. Method: 20 MB in messages of 128
 * KiB, half the stream's window, where all bodies together may have as much and the quarter that is
 * kept for small ones; the windows are returned. */
static void test_upload_takes_the_memory_of_one_message(void **state)
{
    static const size_t message_bytes = H2_STREAM_WINDOW_BYTES / 2;
    struct wire_fixture fixture;
    struct call_config config = wire_config(&fixture);
    struct wire_upload upload = {0};
    uint8_t *bytes = patterned(message_bytes);
    /* The sanitizers take their time with single bytes. */
    size_t count = WIRE_MODE(state) ? 16 : 160;

    config.body_bytes_max = message_bytes / 3 * 4 + 4;
    config.arena_bytes_max = 4 * message_bytes;
    wire_setup_with(&fixture, WIRE_MODE(state), &config);
    wire_preface(&fixture);
    wire_settings_ack(&fixture);
    wire_headers(&fixture, 1, WIRE_UPLOAD, false, NULL, 0);
    for (size_t i = 0; i < count; i++) {
        send_counted(&fixture, 1, &upload, slice_of(bytes, message_bytes - 5));
        wire_run(&fixture);
        assert_int_equal(fixture.messages, i + 1);
    }
    half_close(&fixture, 1);
    wire_run(&fixture);
    wire_assert_upload(&fixture, 1, &upload);
    assert_true(fixture.input_bytes_max <= message_bytes + 64);
    assert_true(fixture.client.stream_window_opened >=
                count * message_bytes - H2_STREAM_WINDOW_BYTES);
    assert_true(fixture.client.window_opened >= count * message_bytes - H2_CONNECTION_WINDOW_BYTES);
    free(bytes);
    wire_teardown(&fixture);
}

/* Goal: each message may be compressed or not, and is bounded by its inflated size. Method: both
 * kinds by turns; then one that inflates to one byte above the limit. */
static void test_compressed_message_is_bounded_by_its_inflated_size(void **state)
{
    static const struct wire_field encoding[] = {{"grpc-encoding", "gzip"}};
    struct wire_fixture fixture;
    struct call_config config = wire_config(&fixture);
    struct wire_upload upload = {0};
    uint8_t *bytes = patterned(100001);
    struct arena arena;
    struct buffer packed;
    struct buffer bomb;

    arena_init(&arena, 1 << 20);
    buffer_init(&packed, &arena, 0);
    buffer_init(&bomb, &arena, 0);
    assert_int_equal(gzip_deflate(slice_of(bytes, 100000), &packed), OK);
    assert_int_equal(gzip_deflate(slice_of(bytes, 100001), &bomb), OK);
    config.message_bytes_max = 100000;
    wire_setup_with(&fixture, WIRE_MODE(state), &config);
    wire_preface(&fixture);
    wire_headers(&fixture, 1, WIRE_UPLOAD, false, encoding, 1);
    for (int i = 0; i < 3; i++) {
        wire_message(&fixture, 1, 1, buffer_slice(&packed), false);
        wire_upload_add(&upload, slice_of(bytes, 100000));
        send_counted(&fixture, 1, &upload, slice_of(bytes, 10));
    }
    half_close(&fixture, 1);
    wire_run(&fixture);
    wire_assert_upload(&fixture, 1, &upload);
    wire_headers(&fixture, 3, WIRE_UPLOAD, false, encoding, 1);
    wire_message(&fixture, 3, 1, buffer_slice(&packed), false);
    wire_message(&fixture, 3, 1, buffer_slice(&bomb), false);
    wire_message(&fixture, 3, 1, buffer_slice(&packed), false);
    wire_run(&fixture);
    assert_refused(&fixture, 3, STATUS_RESOURCE_EXHAUSTED);
    assert_int_equal(fixture.messages, 7);
    wire_headers(&fixture, 5, WIRE_UPLOAD, false, NULL, 0);
    wire_message(&fixture, 5, 1, buffer_slice(&packed), false);
    wire_run(&fixture);
    assert_refused(&fixture, 5, STATUS_INTERNAL); /* without grpc-encoding */
    arena_deinit(&arena);
    free(bytes);
    wire_teardown(&fixture);
}

/* Goal: a deadline ends an upload in the middle; of a whole one it reports that it may be stored.
 * Method: two seconds; one call is still sending, the other one's work is held. */
static void test_deadline_ends_an_upload(void **state)
{
    static const struct wire_field timeout[] = {{"grpc-timeout", "2S"}};
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_UPLOAD, false, timeout, 1);
    wire_message(&fixture, 1, 0, SLICE("whole"), false);
    wire_data(&fixture, 1, SLICE("\0\0\0\1"), false);
    wire_run(&fixture);
    wire_pass(&fixture, 1900000);
    assert_int_equal(fixture.cancels, 0);
    wire_pass(&fixture, 600000);
    assert_refused(&fixture, 1, STATUS_DEADLINE_EXCEEDED);
    assert_int_equal(fixture.cancels, 1);
    assert_int_equal(fixture.cancelled_why, ERR_DEADLINE);
    assert_false(wire_has_field(wire_answer(&fixture, 1), "may have been stored"));
    wire_headers(&fixture, 3, WIRE_UPLOAD, false, timeout, 1);
    wire_message(&fixture, 3, 0, SLICE("H"), true);
    wire_run(&fixture);
    assert_int_equal(fixture.held_count, 1);
    wire_pass(&fixture, 2500000);
    wire_assert_status(&fixture, 3, STATUS_DEADLINE_EXCEEDED);
    assert_true(wire_has_field(wire_answer(&fixture, 3), "may have been stored"));
    assert_int_equal(fixture.cancels, 2);
    wire_teardown(&fixture);
}

/* Goal: a slow upload continues, a stalled one ends. Method: no deadline; CALL_BODY_PROGRESS_BYTES
 * each 50 s for five minutes, then 70 s of nothing; and one that waits for its work meanwhile. */
static void test_stalled_upload_ends_and_slow_one_continues(void **state)
{
    struct wire_fixture fixture;
    uint8_t *bytes = patterned(CALL_BODY_PROGRESS_BYTES);

    wire_setup(&fixture, WIRE_MODE(state));
    fixture.client.answers_pings = true;
    wire_headers(&fixture, 1, WIRE_UPLOAD, false, NULL, 0);
    wire_headers(&fixture, 3, WIRE_UPLOAD, false, NULL, 0);
    wire_message(&fixture, 3, 0, SLICE("H"), true);
    for (int i = 0; i < 6; i++) {
        wire_message(&fixture, 1, 0, slice_of(bytes, CALL_BODY_PROGRESS_BYTES), false);
        wire_pass(&fixture, 50000000);
        assert_false(wire_answer(&fixture, 1)->ended);
    }
    wire_pass(&fixture, 20000000);
    wire_assert_status(&fixture, 1, STATUS_DEADLINE_EXCEEDED);
    assert_int_equal(wire_answer(&fixture, 1)->reset, H2_NO_ERROR);
    assert_int_equal(fixture.messages, 7);
    assert_int_equal(fixture.cancels, 1);
    assert_false(wire_answer(&fixture, 3)->ended);
    wire_finish_held(&fixture, 0, STATUS_OK);
    wire_run(&fixture);
    wire_assert_status(&fixture, 3, STATUS_OK);
    free(bytes);
    wire_teardown(&fixture);
}

int run_upload_tests(void)
{
    const struct CMUnitTest tests[] = {
        WIRE_TEST(test_upload_messages_are_whole_and_in_order),
        WIRE_TEST(test_many_messages_may_share_a_frame),
        WIRE_TEST(test_upload_without_messages_is_a_request),
        WIRE_TEST(test_truncated_message_fails_the_call),
        WIRE_TEST(test_too_large_message_is_refused_anywhere),
        WIRE_TEST(test_cancel_in_the_middle_leaks_nothing),
        WIRE_TEST(test_refusal_in_the_middle_is_answered_at_once),
        WIRE_TEST(test_half_close_after_a_refusal_is_ignored),
        WIRE_TEST(test_service_may_answer_before_the_end),
        WIRE_TEST(test_upload_takes_the_memory_of_one_message),
        WIRE_TEST(test_compressed_message_is_bounded_by_its_inflated_size),
        WIRE_TEST(test_deadline_ends_an_upload),
        WIRE_TEST(test_stalled_upload_ends_and_slow_one_continues),
    };

    return cmocka_run_group_tests_name("uploads", tests, NULL, NULL);
}
