/*
 * refusal_test.c: requests that are refused by their header fields: HTTP responses with a text, and
 * gRPC responses to too much metadata, several tokens and no time.
 */
#include "tests/wire/wire.h"

#include <stdlib.h>

#define HEADERS_CONTINUED 0

static const struct wire_field json_fields[] = {{":method", "POST"},
                                                {":scheme", "http"},
                                                {":authority", "errata"},
                                                {":path", "/t.T/Echo"},
                                                {"content-type", "application/json"}};

/* HEADERS of a request that is not gRPC, without its end. */
static void begin_json(struct wire_fixture *fixture, uint32_t stream)
{
    wire_headers_raw(fixture, stream, NGHTTP2_FLAG_END_HEADERS, json_fields,
                     sizeof(json_fields) / sizeof(json_fields[0]));
}

static void assert_text_answer(struct wire_fixture *fixture, uint32_t stream, int http_status,
                               const char *words)
{
    struct wire_answer *answer = wire_answer(fixture, stream);

    assert_int_equal(answer->http_status, http_status);
    assert_true(answer->ended);
    assert_int_equal(answer->blocks, 1);
    assert_true(wire_has_field(answer, "content-type: text/plain; charset=utf-8\n"));
    assert_non_null(answer->body);
    assert_non_null(memmem(answer->body, answer->body_size, words, strlen(words)));
}

static uint64_t streams_live(const struct wire_fixture *fixture)
{
    return grpc_server_h2_stats(fixture->grpc)->streams_live;
}

/* Goal: an answer in HTTP has a text, and no reset cuts it off while the request is still being
 * sent. Method: a refused request whose body and end come after the answer. */
static void test_http_answer_is_not_cut_by_a_reset(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    begin_json(&fixture, 1);
    wire_run(&fixture);
    assert_text_answer(&fixture, 1, 415, "expected application/grpc");
    wire_data(&fixture, 1, SLICE("{\"a\":"), false);
    wire_run(&fixture);
    wire_data(&fixture, 1, SLICE("1}"), true);
    wire_run(&fixture);
    assert_int_equal(wire_answer(&fixture, 1)->reset, -1);
    assert_int_equal(streams_live(&fixture), 0);
    assert_int_equal(fixture.starts, 0);
    wire_teardown(&fixture);
}

/* Goal: the rest of a refused request is read for a bounded time. Method: the end does not arrive;
 * the reset has NO_ERROR and is sent after that time, not before. */
static void test_refused_request_is_read_for_a_bounded_time(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    begin_json(&fixture, 1);
    wire_run(&fixture);
    wire_pass(&fixture, H2_TEXT_LINGER_US - H2_TICK_US);
    assert_int_equal(wire_answer(&fixture, 1)->reset, -1);
    assert_int_equal(streams_live(&fixture), 1);
    wire_pass(&fixture, H2_TEXT_LINGER_US + H2_TICK_US);
    assert_int_equal(wire_answer(&fixture, 1)->reset, H2_NO_ERROR);
    assert_int_equal(streams_live(&fixture), 0);
    wire_call(&fixture, 3, WIRE_ECHO, SLICE("x"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 3, STATUS_OK);
    wire_teardown(&fixture);
}

/* Goal: the rest of a refused request is bounded by its window; the connection's window is opened
 * for others. Method: a full window of body. */
static void test_refused_request_gets_no_new_window(void **state)
{
    struct wire_fixture fixture;
    uint8_t *body = calloc(1, 16384);

    assert_non_null(body);
    wire_setup(&fixture, WIRE_MODE(state));
    begin_json(&fixture, 1);
    wire_run(&fixture);
    fixture.client.window_opened = 0;
    fixture.client.stream_window_opened = 0;
    for (uint32_t sent = 0; sent < H2_STREAM_WINDOW_BYTES; sent += 16384) {
        wire_data(&fixture, 1, slice_of(body, 16384), false);
    }
    wire_run(&fixture);
    wire_call(&fixture, 3, WIRE_ECHO, SLICE("x"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 3, STATUS_OK);
    assert_text_answer(&fixture, 1, 415, "content-type: ");
    assert_int_equal(fixture.client.stream_window_opened, 0);
    for (uint32_t stream = 5; stream < 13; stream += 2) {
        begin_json(&fixture, stream);
        for (uint32_t sent = 0; sent < H2_STREAM_WINDOW_BYTES; sent += 16384) {
            wire_data(&fixture, stream, slice_of(body, 16384), false);
        }
        wire_run(&fixture);
    }
    assert_true(fixture.client.window_opened >= H2_CONNECTION_WINDOW_BYTES / 2);
    assert_int_equal(fixture.client.goaways, 0);
    free(body);
    wire_teardown(&fixture);
}

/* Goal: a text waits for the client's window like other bodies. Method: a window of four bytes, opened
 * later. */
static void test_http_text_waits_for_the_window(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_settings(&fixture, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 4);
    begin_json(&fixture, 1);
    wire_data(&fixture, 1, SLICE("{}"), true);
    wire_run(&fixture);
    assert_int_equal(wire_answer(&fixture, 1)->body_size, 4);
    assert_false(wire_answer(&fixture, 1)->ended);
    wire_window(&fixture, 1, 1000);
    wire_run(&fixture);
    assert_text_answer(&fixture, 1, 415, "content-type: ");
    wire_teardown(&fixture);
}

/* Goal: methods other than POST are refused with a text that names POST, and HEAD gets no body.
 * Method: GET and HEAD with their ends. */
static void test_other_methods_get_405_and_head_no_body(void **state)
{
    struct wire_field fields[] = {{":method", "GET"},
                                  {":scheme", "http"},
                                  {":authority", "errata"},
                                  {":path", "/t.T/Echo"},
                                  {"content-type", "application/grpc"}};
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers_raw(&fixture, 1, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, fields, 5);
    fields[0].value = "HEAD";
    wire_headers_raw(&fixture, 3, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, fields, 5);
    wire_run(&fixture);
    assert_text_answer(&fixture, 1, 405, "expected POST");
    assert_true(wire_has_field(wire_answer(&fixture, 1), "allow: POST\n"));
    assert_int_equal(wire_answer(&fixture, 3)->http_status, 405);
    assert_true(wire_answer(&fixture, 3)->ended);
    assert_int_equal(wire_answer(&fixture, 3)->body_size, 0);
    assert_int_equal(streams_live(&fixture), 0);
    wire_teardown(&fixture);
}

/* Goal: invalid frames are handled after an answer in HTTP as before it. Method: DATA whose padding
 * is longer than its payload; trailers with a pseudo field. */
static void test_invalid_frames_after_an_http_answer_are_errors(void **state)
{
    static const struct wire_field pseudo = {":method", "POST"};
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    begin_json(&fixture, 1);
    wire_run(&fixture);
    wire_headers_raw(&fixture, 1, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, &pseudo, 1);
    wire_run(&fixture);
    assert_int_equal(wire_answer(&fixture, 1)->reset, H2_PROTOCOL_ERROR);
    assert_int_equal(fixture.client.goaways, 0);
    begin_json(&fixture, 3);
    wire_run(&fixture);
    wire_frame(&fixture, NGHTTP2_DATA, NGHTTP2_FLAG_PADDED | NGHTTP2_FLAG_END_STREAM, 3,
               SLICE("\x06Test"));
    wire_run(&fixture);
    assert_int_equal(fixture.client.goaways, 1);
    assert_int_equal(fixture.client.goaway_code, H2_PROTOCOL_ERROR);
    wire_teardown(&fixture);
}

/* A request whose fields are `bytes` more than the usual ones, in frames of 16 KiB; its content type, where
 * there is one, comes last. */
static void send_large_fields(struct wire_fixture *fixture, uint32_t stream, size_t bytes,
                              const char *content_type)
{
    struct wire_field fields[WIRE_FIELDS_MAX] = {
        {":method", "POST"}, {":scheme", "http"}, {":authority", "errata"}, {":path", "/t.T/Echo"}};
    size_t count = 4;
    char *large = malloc(bytes / 10 + 1);
    struct wire_bytes block;
    struct slice rest;
    uint8_t type = NGHTTP2_HEADERS;

    assert_non_null(large);
    memset(large, '~', bytes / 10); /* 13 bits each in Huffman's code, so they are sent literally */
    large[bytes / 10] = '\0';
    for (int i = 0; i < 10; i++) {
        static const char *const names[] = {"x-0", "x-1", "x-2", "x-3", "x-4",
                                            "x-5", "x-6", "x-7", "x-8", "x-9"};

        fields[count++] = (struct wire_field){names[i], large};
    }
    fields[count++] = (struct wire_field){"content-type", content_type};
    block = wire_encode(fixture, fields, count);
    rest = slice_of(block.data, block.size);
    while (rest.size > 0) {
        size_t step = rest.size < 16384 ? rest.size : 16384;

        wire_frame(fixture, type, step == rest.size ? NGHTTP2_FLAG_END_HEADERS : HEADERS_CONTINUED,
                   stream, slice_of(rest.data, step));
        rest = slice_after(rest, step);
        type = NGHTTP2_CONTINUATION;
    }
    free(block.data);
    free(large);
}

/* Goal: too much metadata gets a gRPC status that states the limit, regardless of its size and of
 * the position of the content type; only a request that is not gRPC gets 431. Method: 17 to 120 KB
 * in up to eight frames; the connection and its HPACK state continue. */
static void test_too_much_metadata_gets_resource_exhausted(void **state)
{
    static const size_t sizes[] = {17000, 40000, 70000, 120000};
    struct wire_fixture fixture;
    uint32_t stream = 1;

    wire_setup(&fixture, WIRE_MODE(state));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++, stream += 2) {
        send_large_fields(&fixture, stream, sizes[i], "application/grpc");
        wire_message(&fixture, stream, 0, SLICE("x"), true);
        wire_run(&fixture);
        wire_assert_status(&fixture, stream, STATUS_RESOURCE_EXHAUSTED);
        assert_int_equal(wire_answer(&fixture, stream)->blocks, 1);
        assert_true(wire_has_field(wire_answer(&fixture, stream), "expected at most 16 KiB"));
    }
    send_large_fields(&fixture, stream, 20000, "text/html");
    wire_data(&fixture, stream, SLICE("x"), true);
    wire_call(&fixture, stream + 2, WIRE_ECHO, SLICE("x"));
    wire_run(&fixture);
    assert_text_answer(&fixture, stream, 431, "expected at most 16 KiB");
    wire_assert_status(&fixture, stream + 2, STATUS_OK);
    assert_int_equal(fixture.starts, 1);
    assert_int_equal(fixture.client.goaways, 0);
    wire_teardown(&fixture);
}

/* Goal: the number of large header lists of a connection is limited. Method: 20,000 bytes by six
 * references to a kept field of 3,500 bytes, 1,100 times. */
static void test_large_header_lists_are_limited(void **state)
{
    struct wire_fixture fixture;
    char kept[3501];
    struct wire_field extra[6];

    memset(kept, 'a', sizeof(kept) - 1);
    kept[sizeof(kept) - 1] = '\0';
    for (size_t i = 0; i < 6; i++) {
        extra[i] = (struct wire_field){"x-kept", kept};
    }
    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t i = 0; i < 1100; i++) {
        wire_headers(&fixture, i * 2 + 1, WIRE_ECHO, true, extra, 6);
        if (i % 50 == 0) {
            wire_run(&fixture);
        }
        if (i == 900) {
            wire_assert_status(&fixture, i * 2 + 1, STATUS_RESOURCE_EXHAUSTED);
            assert_int_equal(fixture.client.goaways, 0);
        }
    }
    wire_run(&fixture);
    wire_assert_rate_limited(&fixture, "too_many_large_header_lists");
    wire_teardown(&fixture);
}

/* Goal: the services see several authorization fields, with any content. Method: two that differ,
 * two that are equal, an empty one first; a single one. */
static void test_services_see_several_authorization_fields(void **state)
{
    static const struct wire_field table[][2] = {
        {{"authorization", "Bearer a"}, {"authorization", "Bearer b"}},
        {{"authorization", "Bearer a"}, {"authorization", "Bearer a"}},
        {{"authorization", ""}, {"authorization", "Bearer a"}},
    };
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t i = 0; i < 3; i++) {
        wire_headers(&fixture, i * 2 + 1, WIRE_META, false, table[i], 2);
        wire_message(&fixture, i * 2 + 1, 0, SLICE("x"), true);
        wire_run(&fixture);
        assert_true(slice_equal(wire_reply(&fixture, i * 2 + 1), SLICE("none|none|repeated")));
    }
    wire_headers(&fixture, 7, WIRE_META, false, table[0], 1);
    wire_message(&fixture, 7, 0, SLICE("x"), true);
    wire_run(&fixture);
    assert_true(slice_equal(wire_reply(&fixture, 7), SLICE("none|none|Bearer a")));
    wire_teardown(&fixture);
}

/* Goal: a call without time left gets DEADLINE_EXCEEDED and is not run; the shortest remaining time
 * is enough. Method: timeouts below a microsecond; one of a microsecond. */
static void test_call_without_time_is_not_run(void **state)
{
    static const struct wire_field timeouts[] = {{"grpc-timeout", "0S"},
                                                 {"grpc-timeout", "00000000H"},
                                                 {"grpc-timeout", "1n"},
                                                 {"grpc-timeout", "999n"}};
    static const struct wire_field shortest = {"grpc-timeout", "1u"};
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t i = 0; i < 4; i++) {
        wire_headers(&fixture, i * 2 + 1, WIRE_ECHO, false, &timeouts[i], 1);
        wire_message(&fixture, i * 2 + 1, 0, SLICE("x"), true);
        wire_run(&fixture);
        wire_assert_status(&fixture, i * 2 + 1, STATUS_DEADLINE_EXCEEDED);
    }
    assert_int_equal(fixture.starts, 0);
    assert_int_equal(call_server_stats(fixture.calls).calls_expired, 4);
    wire_headers(&fixture, 9, WIRE_ECHO, false, &shortest, 1);
    wire_message(&fixture, 9, 0, SLICE("x"), true);
    wire_run(&fixture);
    wire_assert_status(&fixture, 9, STATUS_OK);
    wire_teardown(&fixture);
}

int run_refusal_tests(void)
{
    const struct CMUnitTest tests[] = {
        WIRE_TEST(test_http_answer_is_not_cut_by_a_reset),
        WIRE_TEST(test_refused_request_is_read_for_a_bounded_time),
        WIRE_TEST(test_refused_request_gets_no_new_window),
        WIRE_TEST(test_http_text_waits_for_the_window),
        WIRE_TEST(test_other_methods_get_405_and_head_no_body),
        WIRE_TEST(test_invalid_frames_after_an_http_answer_are_errors),
        WIRE_TEST(test_too_much_metadata_gets_resource_exhausted),
        WIRE_TEST(test_large_header_lists_are_limited),
        WIRE_TEST(test_services_see_several_authorization_fields),
        WIRE_TEST(test_call_without_time_is_not_run),
    };

    return cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
}
