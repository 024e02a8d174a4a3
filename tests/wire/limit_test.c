/*
 * limit_test.c: peers that mean no good, or know no better: floods, bombs, and silence; and the two
 * ways in which a connection ends.
 */
#include "server/call/gzip.h"
#include "server/call/status_details.h"
#include "server/grpc/grpc_text.h"
#include "store/base/bytes.h"
#include "tests/wire/wire.h"

#include <stdio.h>
#include <stdlib.h>

/* Asserts that the connection was ended for the peer's behaviour, with everything on it. */
/* Goal: the 129th stream is refused, the others continue. Method: 128 held calls and one more; one
 * ends; the next is accepted. SETTINGS announced the limit. */
static void test_stream_above_the_limit_is_refused(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    assert_int_equal(fixture.client.streams_announced, H2_STREAMS_MAX);
    for (uint32_t i = 0; i <= H2_STREAMS_MAX; i++) {
        wire_call(&fixture, i * 2 + 1, WIRE_HOLD, SLICE("x"));
    }
    wire_run(&fixture);
    assert_int_equal(fixture.held_count, H2_STREAMS_MAX);
    assert_int_equal(wire_answer(&fixture, H2_STREAMS_MAX * 2 + 1)->reset, H2_REFUSED_STREAM);
    assert_int_equal(fixture.client.goaways, 0);
    wire_finish_held(&fixture, 0, STATUS_OK);
    wire_run(&fixture);
    wire_call(&fixture, H2_STREAMS_MAX * 2 + 3, WIRE_ECHO, SLICE("y"));
    wire_run(&fixture);
    wire_assert_status(&fixture, H2_STREAMS_MAX * 2 + 3, STATUS_OK);
    assert_int_equal(grpc_server_h2_stats(fixture.grpc)->streams_refused, 1);
    wire_teardown(&fixture);
}

/* A refusal for which no memory was taken has the details of every other one, though they are a literal. */
static void assert_busy_details(struct wire_answer *answer)
{
    struct arena arena;
    struct buffer details;
    struct slice text;

    arena_init(&arena, 1 << 16);
    status_details_begin(&arena, ERR_BUSY, err_retry_ms(ERR_BUSY), slice_of(NULL, 0),
                         slice_text(err_text(ERR_BUSY)), &details);
    assert_int_equal(grpc_base64_encode(&arena, buffer_slice(&details), &text), OK);
    assert_non_null(memmem(answer->fields, strlen(answer->fields), text.data, text.size));
    assert_true(wire_has_field(answer, "grpc-retry-pushback-ms: 200\n"));
    arena_deinit(&arena);
}

/* Goal: calls of all connections together are bounded. Method: a limit of one; the second call gets
 * a retry delay. */
static void test_calls_of_all_connections_are_bounded(void **state)
{
    struct wire_fixture fixture;
    struct call_config config = wire_config(&fixture);

    config.live_max = 1;
    wire_setup_with(&fixture, WIRE_MODE(state), &config);
    wire_preface(&fixture);
    wire_call(&fixture, 1, WIRE_HOLD, SLICE("x"));
    wire_call(&fixture, 3, WIRE_ECHO, SLICE("y"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 3, STATUS_UNAVAILABLE);
    assert_busy_details(wire_answer(&fixture, 3));
    wire_finish_held(&fixture, 0, STATUS_OK);
    wire_run(&fixture);
    wire_call(&fixture, 5, WIRE_ECHO, SLICE("z"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 5, STATUS_OK);
    wire_teardown(&fixture);
}

/* Goal: messages that were announced and do not arrive take no memory from others; large ones that
 * did arrive leave some to small ones; under pressure, a stalled call is ended sooner. Method: room
 * for 400,000 bytes; 16 calls that announce 16 MiB each; one large message that stalls short of its
 * end; small calls beside them; eleven seconds. */
static void test_stalled_bodies_leave_memory_to_others(void **state)
{
    static uint8_t much[300000];
    struct wire_fixture fixture;
    struct call_config config = wire_config(&fixture);

    config.body_bytes_max = 400000;
    wire_setup_with(&fixture, WIRE_MODE(state), &config);
    wire_preface(&fixture);
    wire_settings_ack(&fixture);
    for (uint32_t i = 0; i < 16; i++) {
        wire_headers(&fixture, i * 2 + 1, WIRE_HOLD, false, NULL, 0);
        wire_data(&fixture, i * 2 + 1, SLICE("\0\1\0\0\0"), false);
    }
    wire_call(&fixture, 33, WIRE_ECHO, SLICE("small"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 33, STATUS_OK);
    wire_headers(&fixture, 35, WIRE_HOLD, false, NULL, 0);
    wire_data(&fixture, 35, SLICE("\0\0\4\x93\xe0"), false); /* 300,000 */
    for (size_t i = 0; i < 220000; i += 10000) {
        wire_data(&fixture, 35, slice_of(much, 10000), false);
    }
    wire_run(&fixture);
    assert_int_equal(call_server_stats(fixture.calls).body_bytes_live, 220000);
    wire_headers(&fixture, 37, WIRE_ECHO, false, NULL, 0);
    wire_message(&fixture, 37, 0, slice_of(much, 100000), true);
    wire_call(&fixture, 39, WIRE_ECHO, slice_of(much, 60000));
    wire_run(&fixture);
    wire_assert_status(&fixture, 37, STATUS_UNAVAILABLE); /* a quarter is for small ones */
    wire_assert_status(&fixture, 39, STATUS_OK);
    wire_pass(&fixture, 16000000);
    wire_assert_status(&fixture, 35, STATUS_DEADLINE_EXCEEDED);
    assert_int_equal(call_server_stats(fixture.calls).body_bytes_live, 0);
    wire_teardown(&fixture);
}

/* Goal: if half of all calls are taken, a connection with many gets no more, and others do. Method:
 * room for 64 calls, and 40 held by one connection; its next gets a retry delay; with few held, it
 * is accepted. */
static void test_connection_with_many_calls_gets_no_more_under_pressure(void **state)
{
    struct wire_fixture fixture;
    struct call_config config = wire_config(&fixture);

    config.live_max = 64;
    wire_setup_with(&fixture, WIRE_MODE(state), &config);
    wire_preface(&fixture);
    for (uint32_t i = 0; i < 40; i++) {
        wire_call(&fixture, i * 2 + 1, WIRE_HOLD, SLICE("x"));
    }
    wire_run(&fixture);
    assert_int_equal(fixture.held_count, 33); /* one above half of the limit */
    wire_assert_status(&fixture, 79, STATUS_UNAVAILABLE);
    wire_finish_held(&fixture, 0, STATUS_OK);
    wire_run(&fixture);
    wire_call(&fixture, 81, WIRE_ECHO, SLICE("y"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 81, STATUS_OK);
    wire_teardown(&fixture);
}

/* Goal: a peer that requests much and reads nothing gets a bounded number of answers, and all of
 * them once it reads. Method: 20 answers of 1 MiB and no window: five are made; then windows; and
 * the same with a connection that closes. */
static void test_answers_are_bounded_until_they_are_read(void **state)
{
    struct wire_fixture fixture;
    struct call_config config = wire_config(&fixture);
    uint8_t request[4];

    bytes_put_be32(request, 1 << 20);
    for (int round = 0; round < 2; round++) {
        wire_setup_with(&fixture, WIRE_MODE(state), &config);
        wire_preface(&fixture);
        wire_settings(&fixture, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0);
        for (uint32_t i = 0; i < 20; i++) {
            wire_call(&fixture, i * 2 + 1, WIRE_SIZE, slice_of(request, sizeof(request)));
        }
        wire_run(&fixture);
        wire_pass(&fixture, 2000000);
        assert_int_equal(fixture.starts, 20);
        assert_int_equal(fixture.messages, CALL_SHARE_OUTPUT_BYTES_HIGH / (1 << 20));
        assert_in_range(call_server_stats(fixture.calls).output_bytes_live, 1,
                        CALL_SHARE_OUTPUT_BYTES_HIGH + (1 << 20) + 5);
        if (round == 0) {
            wire_window(&fixture, 0, 1 << 30);
            wire_settings(&fixture, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 30);
            for (int turn = 0; turn < 20; turn++) {
                wire_run(&fixture);
            }
            for (uint32_t i = 0; i < 20; i++) {
                wire_assert_status(&fixture, i * 2 + 1, STATUS_OK);
            }
        }
        wire_teardown(&fixture);
    }
}

/* Goal: a few bytes do not become much work. Method: 2 MiB of zeros, which gzip compresses to 2
 * KiB: a message above 1 MiB is refused; exactly 1 MiB is accepted. */
static void test_inflation_is_bounded_in_proportion(void **state)
{
    static const struct wire_field gzip = {"grpc-encoding", "gzip"};
    static uint8_t zeros[CALL_INFLATED_BYTES_MIN * 2];
    struct wire_fixture fixture;
    struct arena arena;
    struct buffer packed;
    struct buffer within;

    arena_init(&arena, 16u << 20);
    buffer_init(&packed, &arena, 0);
    buffer_init(&within, &arena, 0);
    assert_int_equal(gzip_deflate(slice_of(zeros, sizeof(zeros)), &packed), OK);
    assert_int_equal(gzip_deflate(slice_of(zeros, CALL_INFLATED_BYTES_MIN), &within), OK);
    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_HOLD, false, &gzip, 1);
    wire_message(&fixture, 1, 1, buffer_slice(&packed), true);
    wire_headers(&fixture, 3, WIRE_HOLD, false, &gzip, 1);
    wire_message(&fixture, 3, 1, buffer_slice(&within), true);
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_RESOURCE_EXHAUSTED);
    assert_true(wire_has_field(wire_answer(&fixture, 1), "128 times its size"));
    assert_int_equal(fixture.held_count, 1);
    wire_finish_held(&fixture, 0, STATUS_OK);
    wire_run(&fixture);
    arena_deinit(&arena);
    wire_teardown(&fixture);
}

/* Goal: header lists above 16 KiB are refused, regardless of their size on the wire. Method: one
 * large field, and 100 references to a field of 4,000 bytes in HPACK's table. */
static void test_header_list_above_16_kib_is_refused(void **state)
{
    struct wire_fixture fixture;
    char *large = malloc(20001);
    struct wire_field extra[WIRE_FIELDS_MAX - 6];

    assert_non_null(large);
    memset(large, 'a', 20000);
    large[20000] = '\0';
    wire_setup(&fixture, WIRE_MODE(state));
    extra[0] = (struct wire_field){"x-large", large};
    large[15000] = '\0';
    wire_headers(&fixture, 1, WIRE_ECHO, false, extra, 1);
    wire_message(&fixture, 1, 0, SLICE("x"), true);
    large[15000] = 'a';
    large[16300] = '\0';
    wire_headers(&fixture, 3, WIRE_ECHO, false, extra, 1);
    wire_message(&fixture, 3, 0, SLICE("x"), true);
    large[3000] = '\0';
    for (size_t i = 0; i < sizeof(extra) / sizeof(extra[0]); i++) {
        extra[i] = (struct wire_field){"x-again", large};
    }
    wire_headers(&fixture, 5, WIRE_ECHO, false, extra, sizeof(extra) / sizeof(extra[0]));
    wire_message(&fixture, 5, 0, SLICE("x"), true);
    wire_call(&fixture, 7, WIRE_ECHO, SLICE("x"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    wire_assert_status(&fixture, 3, STATUS_RESOURCE_EXHAUSTED);
    wire_assert_status(&fixture, 5, STATUS_RESOURCE_EXHAUSTED);
    wire_assert_status(&fixture, 7, STATUS_OK);
    free(large);
    wire_teardown(&fixture);
}

/* Goal: fields that HTTP/2 forbids fail their stream, not the connection. Method: upper case, a
 * connection field, a blank at the end, a line feed. */
static void test_forbidden_field_fails_only_its_stream(void **state)
{
    static const struct wire_field table[] = {
        {"X-Upper", "a"}, {"connection", "close"}, {"te", "gzip"}, {"x-feed", "a\nb"}};
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        wire_headers(&fixture, i * 2 + 1, WIRE_ECHO, false, &table[i], 1);
        wire_run(&fixture);
        assert_int_equal(wire_answer(&fixture, i * 2 + 1)->reset, H2_PROTOCOL_ERROR);
    }
    wire_call(&fixture, 9, WIRE_ECHO, SLICE("x"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 9, STATUS_OK);
    assert_int_equal(fixture.client.goaways, 0);
    wire_teardown(&fixture);
}

/* Goal: pings are answered; too many of them end the connection. Method: five at once: three
 * strikes. */
static void test_excess_pings_end_the_connection(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (int i = 0; i < 5; i++) {
        wire_ping(&fixture);
    }
    wire_run(&fixture);
    wire_assert_rate_limited(&fixture, "too_many_pings");
    wire_teardown(&fixture);
}

/* Goal: legitimate pings are accepted. Method: one every 10 s; and one after each of 50 responses. */
static void test_honest_pings_are_accepted(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (int i = 0; i < 10; i++) {
        wire_ping(&fixture);
        wire_run(&fixture);
        wire_pass(&fixture, 10000000);
    }
    for (uint32_t i = 0; i < 50; i++) {
        wire_call(&fixture, i * 2 + 1, WIRE_ECHO, SLICE("x"));
        wire_run(&fixture);
        wire_ping(&fixture);
        wire_run(&fixture);
    }
    assert_int_equal(fixture.client.pings_answered, 60);
    assert_int_equal(fixture.client.goaways, 0);
    wire_teardown(&fixture);
}

struct flood_frame {
    uint8_t type;
    uint8_t flags;
    uint32_t stream;
    struct slice payload;
};

/* Frames of one kind on a held stream until the connection ends: with these words, and not before it
 * has had its burst. */
static void flood(bool bytewise, const struct flood_frame *frame, const char *why)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, bytewise);
    wire_headers(&fixture, 1, WIRE_HOLD, false, NULL, 0);
    for (int i = 0; i < 1100; i++) {
        wire_frame(&fixture, frame->type, frame->flags, frame->stream, frame->payload);
        if (i % 50 == 0) {
            wire_run(
                &fixture); /* otherwise the limit of SETTINGS acknowledgements is reached first */
            assert_true(i > 950 || !wire_finished(&fixture));
        }
    }
    wire_run(&fixture);
    wire_assert_rate_limited(&fixture, why);
    wire_teardown(&fixture);
}

/* Goal: frames that carry nothing are limited, and GOAWAY names the exceeded limit. Method: 1,100
 * of each kind, each on a new connection. */
static void test_floods_of_empty_frames_end_the_connection(void **state)
{
    static const struct {
        struct flood_frame frame;
        const char *why;
    } table[] = {
        {{NGHTTP2_DATA, 0, 1, {(const uint8_t *)"", 0}}, "too_many_small_data_frames"},
        {{NGHTTP2_PRIORITY, 0, 1, {(const uint8_t *)"\0\0\0\0\x10", 5}},
         "too_many_priority_frames"},
        {{NGHTTP2_WINDOW_UPDATE, 0, 1, {(const uint8_t *)"\0\0\0\1", 4}},
         "too_many_window_updates"},
        {{NGHTTP2_SETTINGS, 0, 0, {(const uint8_t *)"", 0}}, "too_many_settings"},
        {{NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, {(const uint8_t *)"foreign!", 8}}, "too_many_pings"},
        {{0x77, 0, 1, {(const uint8_t *)"unknown", 7}}, "too_many_unknown_frames"},
        /* One byte with the length of the padding, 0. */
        {{NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, {(const uint8_t *)"\0", 1}},
         "too_many_small_data_frames"},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        flood(WIRE_MODE(state), &table[i].frame, table[i].why);
    }
}

/* Goal: a message in DATA frames of one byte each is limited, too, though each carries
 * something. Method: a message of 2,000 bytes in as many frames; and one in frames of 64, which
 * is accepted. */
static void test_message_in_tiny_frames_is_limited(void **state)
{
    struct wire_fixture fixture;
    uint8_t message[2005] = {0, 0, 0, 7, 0xd0};

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_ECHO, false, NULL, 0);
    for (size_t i = 0; i < sizeof(message); i += 64) {
        size_t step = sizeof(message) - i < 64 ? sizeof(message) - i : 64;

        wire_data(&fixture, 1, slice_of(message + i, step), i + step == sizeof(message));
    }
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    wire_headers(&fixture, 3, WIRE_ECHO, false, NULL, 0);
    for (size_t i = 0; i < sizeof(message); i++) {
        wire_data(&fixture, 3, slice_of(message + i, 1), false);
    }
    wire_run(&fixture);
    wire_assert_rate_limited(&fixture, "too_many_small_data_frames");
    wire_teardown(&fixture);
}

/* Goal: small calls of all shapes never reach the limit. Method: 2,000 calls, each with its message
 * in three frames, the last one empty, as fast as they can be sent. */
static void test_honest_small_calls_are_not_limited(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t i = 0; i < WIRE_STREAMS_MAX - 1; i++) {
        wire_headers(&fixture, i * 2 + 1, WIRE_ECHO, false, NULL, 0);
        wire_data(&fixture, i * 2 + 1, SLICE("\0\0\0\0\2"), false);
        wire_data(&fixture, i * 2 + 1, SLICE("ab"), false);
        wire_data(&fixture, i * 2 + 1, SLICE(""), true);
        if (i % 100 == 99) {
            wire_run(&fixture);
        }
    }
    wire_run(&fixture);
    assert_int_equal(fixture.client.goaways, 0);
    assert_int_equal(fixture.starts, WIRE_STREAMS_MAX - 1);
    wire_teardown(&fixture);
}

/* Goal: header blocks for a stream that had one are not requests, and are limited. Method: trailers
 * for a stream that was answered before its end, which nghttp2 ignores silently. */
static void test_repeated_header_blocks_are_limited(void **state)
{
    struct wire_fixture fixture;
    struct wire_field none = {"x-trailer", "a"};

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_EARLY, false, NULL, 0);
    wire_run(&fixture);
    for (int i = 0; i < 1100; i++) {
        wire_headers_raw(&fixture, 1, NGHTTP2_FLAG_END_HEADERS, &none, 1);
    }
    wire_run(&fixture);
    wire_assert_rate_limited(&fixture, "too_many_trailers");
    wire_teardown(&fixture);
}

/* Goal: a header list that is far too large ends the connection, since one byte of it may mean
 * thousands. Method: one kept field of 3,500 bytes, and 10,000 references to it. */
static void test_huge_header_list_ends_the_connection(void **state)
{
    struct wire_fixture fixture;
    struct wire_bytes block = {0};
    uint8_t field[3500];
    uint8_t references[10000];

    memset(field, 'a', sizeof(field));
    memset(references, 0x80 | 62, sizeof(references));
    wire_setup(&fixture, WIRE_MODE(state));
    wire_bytes_append(&block, SLICE("\x83\x86\x04\1/\x40\1x\x7f\xad\x1a"));
    wire_bytes_append(&block, slice_of(field, sizeof(field)));
    wire_bytes_append(&block, slice_of(references, sizeof(references)));
    wire_frame(&fixture, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1,
               slice_of(block.data, block.size));
    wire_run(&fixture);
    wire_assert_rate_limited(&fixture, "header_list_too_large");
    free(block.data);
    wire_teardown(&fixture);
}

/* Goal: SETTINGS that wait for their acknowledgement to be written are bounded. Method: 200 in one
 * read. */
static void test_unacknowledged_settings_are_bounded(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (int i = 0; i < 200; i++) {
        wire_frame(&fixture, NGHTTP2_SETTINGS, 0, 0, slice_of(NULL, 0));
    }
    wire_run(&fixture);
    wire_assert_rate_limited(&fixture, "too_many_acknowledgements");
    wire_teardown(&fixture);
}

/* Goal: a SETTINGS frame with more entries than there are settings ends the connection. Method: 17. */
static void test_settings_with_too_many_entries_end_the_connection(void **state)
{
    struct wire_fixture fixture;
    uint8_t entries[17 * 6] = {0};

    for (size_t i = 0; i < 17; i++) {
        entries[i * 6 + 1] = NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE;
    }
    wire_setup(&fixture, WIRE_MODE(state));
    wire_frame(&fixture, NGHTTP2_SETTINGS, 0, 0, slice_of(entries, sizeof(entries)));
    wire_run(&fixture);
    assert_int_equal(fixture.client.goaways, 1);
    assert_int_equal(fixture.client.goaway_code, H2_ENHANCE_YOUR_CALM);
    wire_teardown(&fixture);
}

/* Goal: a header block in many frames ends the connection. Method: HEADERS and 20 CONTINUATIONs. */
static void test_many_continuations_end_the_connection(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_frame(&fixture, NGHTTP2_HEADERS, 0, 1, SLICE("\x82"));
    for (int i = 0; i < 20; i++) {
        wire_frame(&fixture, NGHTTP2_CONTINUATION, 0, 1, SLICE(""));
    }
    wire_run(&fixture);
    wire_assert_rate_limited(&fixture, "too_many_continuations");
    wire_teardown(&fixture);
}

/* Goal: rapid resets (CVE-2023-44487) end the connection. Method: 1,100 calls reset at once; none
 * has an effect before the bucket is empty. */
static void test_rapid_resets_end_the_connection(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t i = 0; i < 1100; i++) {
        wire_headers(&fixture, i * 2 + 1, WIRE_HOLD, false, NULL, 0);
        wire_reset(&fixture, i * 2 + 1, H2_CANCEL);
        if (i == 900) {
            wire_run(&fixture);
            assert_int_equal(fixture.client.goaways, 0);
        }
    }
    wire_run(&fixture);
    wire_assert_rate_limited(&fixture, "too_many_resets");
    wire_teardown(&fixture);
}

/* Goal: resets that a peer makes us send (CVE-2025-8671) count, too. Method: 1,100 streams, each
 * with a window update of 0, which is a stream error. */
static void test_provoked_resets_end_the_connection(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t i = 0; i < 1100; i++) {
        wire_headers(&fixture, i * 2 + 1, WIRE_HOLD, false, NULL, 0);
        wire_window(&fixture, i * 2 + 1, 0x7fffffff); /* exceeds 2^31-1: a stream error */
        if (i % 50 == 0) {
            wire_run(&fixture);
        }
    }
    wire_run(&fixture);
    wire_assert_rate_limited(&fixture, "too_many_resets_provoked");
    wire_teardown(&fixture);
}

/* Goal: buckets are refilled. Method: 900 resets, ten seconds, 900 more. */
static void test_reset_bucket_is_refilled(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t i = 0; i < 1800; i++) {
        wire_headers(&fixture, i * 2 + 1, WIRE_HOLD, false, NULL, 0);
        wire_reset(&fixture, i * 2 + 1, H2_CANCEL);
        if (i == 900) {
            wire_run(&fixture);
            wire_pass(&fixture, 10000000);
        }
    }
    wire_run(&fixture);
    assert_int_equal(fixture.client.goaways, 0);
    wire_teardown(&fixture);
}

/* Goal: a graceful end: two GOAWAYs; open calls finish, and new ones in between are not lost.
 * Method: a held call; shutdown; a call that was on its way; the ping's answer; the end. */
static void test_shutdown_finishes_open_calls(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_call(&fixture, 1, WIRE_HOLD, SLICE("x"));
    wire_run(&fixture);
    fixture.client.answers_pings = false;
    fixture.protocol.shutdown(fixture.session, fixture.now_us);
    assert_true(fixture.woken);
    wire_run(&fixture);
    assert_int_equal(fixture.client.goaways, 1);
    assert_int_equal(fixture.client.goaway_last, 0x7fffffff);
    wire_call(&fixture, 3, WIRE_ECHO, SLICE("on its way"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 3, STATUS_OK);
    wire_pass(&fixture, 1500000); /* the ping is not answered within a second */
    assert_int_equal(fixture.client.goaways, 2);
    assert_int_equal(fixture.client.goaway_last, 3);
    assert_int_equal(fixture.client.goaway_code, H2_NO_ERROR);
    assert_false(wire_finished(&fixture));
    wire_finish_held(&fixture, 0, STATUS_OK);
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    assert_true(wire_finished(&fixture));
    wire_teardown(&fixture);
}

/* Goal: the ping's answer completes a shutdown at once. Method: no call, a client that answers, no
 * time. */
static void test_answered_ping_completes_a_shutdown(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    fixture.protocol.shutdown(fixture.session, fixture.now_us);
    wire_run(&fixture);
    assert_int_equal(fixture.client.goaways, 2);
    assert_true(wire_finished(&fixture));
    wire_teardown(&fixture);
}

/* Goal: bytes that are not HTTP/2 end in GOAWAY, never in a crash. Method: frames that break the
 * rules in turn, then 200 connections of pseudo-random bytes after the preface. */
static void test_garbage_ends_in_goaway(void **state)
{
    struct wire_fixture fixture;
    uint64_t seed = 88172645463325252u;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_data(&fixture, 7, SLICE("idle stream"), false);
    wire_run(&fixture);
    assert_int_equal(fixture.client.goaway_code, H2_PROTOCOL_ERROR);
    assert_true(wire_finished(&fixture));
    wire_teardown(&fixture);
    for (int round = 0; round < 200; round++) {
        struct call_config config = wire_config(&fixture);
        uint8_t bytes[256];

        for (size_t i = 0; i < sizeof(bytes); i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            bytes[i] = (uint8_t)(seed >> 32);
        }
        bytes[0] = 0; /* frames of a size that arrives in time */
        bytes[1] = 0;
        bytes[2] &= 31;
        bytes[3] %= 11;
        wire_setup_with(&fixture, WIRE_MODE(state), &config);
        wire_preface(&fixture);
        wire_bytes_append(&fixture.client.out, slice_of(bytes, sizeof(bytes)));
        wire_run(&fixture);
        wire_teardown(&fixture);
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed >> 11;
}

/* Requests of all kinds, as a correct client sends them. */
static void write_requests(struct wire_fixture *fixture)
{
    static const struct wire_field extra[] = {
        {"grpc-timeout", "1S"}, {"grpc-encoding", "gzip"}, {"x-some-bin", "AAEC"}};
    uint8_t request[8];

    bytes_put_be32(request, 20);
    bytes_put_be32(request + 4, 700);
    wire_preface(fixture);
    wire_call(fixture, 1, WIRE_ECHO, SLICE("some text"));
    wire_headers(fixture, 3, WIRE_META, false, extra, 3);
    wire_message(fixture, 3, 0, SLICE("x"), true);
    wire_call(fixture, 5, WIRE_STREAM, slice_of(request, 8));
    wire_headers(fixture, 7, WIRE_BIDI, false, NULL, 0);
    wire_message(fixture, 7, 0, SLICE("q"), false);
    wire_ping(fixture);
    wire_window(fixture, 0, 1000);
    wire_call(fixture, 9, WIRE_HOLD, SLICE("h"));
    wire_reset(fixture, 7, H2_CANCEL);
    wire_call(fixture, 11, WIRE_WRITE, SLICE("w"));
    wire_call(fixture, 13, WIRE_FAIL, SLICE("\x03no"));
    wire_settings(fixture, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 100);
}

/* Goal: damaged requests affect only themselves. Method: honest bytes with one to eight of them
 * changed, truncated or whole, and time that passes; nothing is alive after it. */
static void test_damaged_requests_affect_only_themselves(void **state)
{
    uint64_t seed = 0x9e3779b97f4a7c15u;

    for (int round = 0; round < 150; round++) {
        struct wire_fixture fixture;
        struct call_config config = wire_config(&fixture);
        struct wire_bytes *out = &fixture.client.out;
        uint64_t damages = next_random(&seed) % 8 + 1;

        wire_setup_with(&fixture, WIRE_MODE(state), &config);
        fixture.client.deaf = true;
        write_requests(&fixture);
        for (uint64_t i = 0; i < damages; i++) {
            size_t at = 24 + next_random(&seed) % (out->size - 24);

            out->data[at] = (uint8_t)next_random(&seed);
        }
        out->size = round % 3 == 0 ? next_random(&seed) % out->size + 1 : out->size;
        wire_run(&fixture);
        wire_pass(&fixture, 2000000);
        wire_teardown(&fixture);
    }
}

int run_limit_tests(void)
{
    const struct CMUnitTest tests[] = {
        WIRE_TEST(test_stream_above_the_limit_is_refused),
        WIRE_TEST(test_calls_of_all_connections_are_bounded),
        WIRE_TEST(test_stalled_bodies_leave_memory_to_others),
        WIRE_TEST(test_connection_with_many_calls_gets_no_more_under_pressure),
        WIRE_TEST(test_answers_are_bounded_until_they_are_read),
        WIRE_TEST(test_inflation_is_bounded_in_proportion),
        WIRE_TEST(test_header_list_above_16_kib_is_refused),
        WIRE_TEST(test_forbidden_field_fails_only_its_stream),
        WIRE_TEST(test_excess_pings_end_the_connection),
        WIRE_TEST(test_honest_pings_are_accepted),
        WIRE_TEST(test_floods_of_empty_frames_end_the_connection),
        WIRE_TEST(test_message_in_tiny_frames_is_limited),
        WIRE_TEST(test_honest_small_calls_are_not_limited),
        WIRE_TEST(test_repeated_header_blocks_are_limited),
        WIRE_TEST(test_huge_header_list_ends_the_connection),
        WIRE_TEST(test_unacknowledged_settings_are_bounded),
        WIRE_TEST(test_settings_with_too_many_entries_end_the_connection),
        WIRE_TEST(test_many_continuations_end_the_connection),
        WIRE_TEST(test_rapid_resets_end_the_connection),
        WIRE_TEST(test_provoked_resets_end_the_connection),
        WIRE_TEST(test_reset_bucket_is_refilled),
        WIRE_TEST(test_shutdown_finishes_open_calls),
        WIRE_TEST(test_answered_ping_completes_a_shutdown),
        WIRE_TEST(test_garbage_ends_in_goaway),
        WIRE_TEST(test_damaged_requests_affect_only_themselves),
    };

    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
