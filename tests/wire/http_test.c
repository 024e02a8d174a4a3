/*
 * http_test.c: exchanges of HTTP beside gRPC calls on one HTTP/2 connection: Connect in proto, unary
 * and with streams, gRPC-Web, what comes early, and windows. JSON is tested end to end, where methods have
 * tables.
 */
#include "store/base/base64.h"
#include "store/base/bytes.h"
#include "tests/wire/wire.h"

#include <stdlib.h>

#define ENVELOPE_BYTES 5
#define END_STREAM 2
#define WEB_TRAILERS 0x80
#define WEB_TYPE "application/grpc-web"

/* HEADERS of a Connect request, with up to two fields more. */
static void begin(struct wire_fixture *fixture, uint32_t stream, enum wire_method method,
                  const char *type, const struct wire_field *extra, size_t extra_count)
{
    struct wire_field fields[8] = {{":method", "POST"},      {":scheme", "http"},
                                   {":authority", "errata"}, {":path", wire_path(method)},
                                   {"te", "trailers"},       {"content-type", type}};

    for (size_t i = 0; i < extra_count; i++) {
        fields[6 + i] = extra[i];
    }
    wire_headers_raw(fixture, stream, NGHTTP2_FLAG_END_HEADERS, fields, 6 + extra_count);
}

static void begin_unary(struct wire_fixture *fixture, uint32_t stream, enum wire_method method)
{
    begin(fixture, stream, method, "application/proto", NULL, 0);
}

static void begin_stream(struct wire_fixture *fixture, uint32_t stream, enum wire_method method)
{
    begin(fixture, stream, method, "application/connect+proto", NULL, 0);
}

static void assert_body(struct wire_fixture *fixture, uint32_t stream, int http_status,
                        const char *body)
{
    struct wire_answer *answer = wire_answer(fixture, stream);

    assert_int_equal(answer->http_status, http_status);
    assert_true(answer->ended);
    assert_int_equal(answer->blocks, 1);
    assert_int_equal(answer->body_size, strlen(body));
    assert_memory_equal(answer->body, body, strlen(body));
}

/* Takes the next envelope off the front of a body. */
static struct slice next_envelope(struct slice *body, uint8_t *ret_flags)
{
    struct slice message = {NULL, 0};
    uint32_t size = 0;

    assert_true(body->size >= ENVELOPE_BYTES);
    *ret_flags = body->data[0];
    size = bytes_get_be32(body->data + 1);
    assert_true(body->size - ENVELOPE_BYTES >= size);
    message = slice_of(body->data + ENVELOPE_BYTES, size);
    *body = slice_after(*body, ENVELOPE_BYTES + size);
    return message;
}

static void assert_text(struct slice got, const char *wanted)
{
    assert_int_equal(got.size, strlen(wanted));
    assert_memory_equal(got.data, wanted, got.size);
}

/* Goal: unary Connect calls and gRPC calls share a connection. Method: both kinds at once, a body in
 * two pieces, an error, and a reply larger than a frame. */
static void test_unary_calls_share_the_connection_with_grpc(void **state)
{
    struct wire_fixture fixture;
    uint8_t size[4];

    wire_setup_http(&fixture, WIRE_MODE(state));
    bytes_put_be32(size, 40000);
    begin_unary(&fixture, 1, WIRE_ECHO);
    wire_data(&fixture, 1, SLICE("he"), false);
    wire_call(&fixture, 3, WIRE_ECHO, SLICE("grpc"));
    wire_data(&fixture, 1, SLICE("llo"), true);
    begin_unary(&fixture, 5, WIRE_FAIL);
    wire_data(&fixture, 5, SLICE("\x05gone"), true);
    begin_unary(&fixture, 7, WIRE_SIZE);
    wire_data(&fixture, 7, slice_of(size, sizeof(size)), true);
    begin_unary(&fixture, 9, WIRE_ECHO);
    wire_data(&fixture, 9, SLICE(""), true);
    wire_run(&fixture);
    assert_body(&fixture, 1, 200, "hello");
    assert_true(wire_has_field(wire_answer(&fixture, 1), "content-type: application/proto\n"));
    assert_true(wire_has_field(wire_answer(&fixture, 1), "content-length: 5\n"));
    wire_assert_status(&fixture, 3, STATUS_OK);
    assert_body(&fixture, 5, 404, "{\"code\":\"not_found\",\"message\":\"gone\"}");
    assert_true(wire_has_field(wire_answer(&fixture, 5), "content-type: application/json\n"));
    assert_int_equal(wire_answer(&fixture, 7)->body_size, 40000);
    assert_int_equal(wire_answer(&fixture, 7)->body[39999], wire_pattern(39999));
    assert_body(&fixture, 9, 200, "");
    wire_teardown(&fixture);
}

/* Goal: metadata reaches the services, and theirs comes back. Method: leading metadata in fields,
 * trailing in fields with a prefix. */
static void test_metadata_goes_both_ways(void **state)
{
    static const struct wire_field extra[] = {{"x-plain", "a b"}, {"x-some-bin", "AP8"}};
    struct wire_fixture fixture;

    wire_setup_http(&fixture, WIRE_MODE(state));
    begin(&fixture, 1, WIRE_META, "application/proto", extra, 2);
    wire_data(&fixture, 1, SLICE("x"), true);
    wire_run(&fixture);
    assert_int_equal(wire_answer(&fixture, 1)->body_size, 7);
    assert_memory_equal(wire_answer(&fixture, 1)->body, "a b|\0\xff|", 7);
    assert_true(wire_has_field(wire_answer(&fixture, 1), "x-leading: first\n"));
    assert_true(wire_has_field(wire_answer(&fixture, 1), "trailer-x-trailing-bin: AP8Q\n"));
    wire_teardown(&fixture);
}

/* Goal: a GET has its message in the query, and may be ended by an empty frame, but has no body.
 * Method: one without such a frame, one with it, and two with bytes, announced or not. */
static void test_get_has_its_message_in_the_query(void **state)
{
    struct wire_field fields[] = {{":method", "GET"},
                                  {":scheme", "http"},
                                  {":authority", "errata"},
                                  {":path", "/t.T/Meta?encoding=proto&message=x"},
                                  {"content-length", "2"}};
    struct wire_fixture fixture;

    wire_setup_http(&fixture, WIRE_MODE(state));
    wire_headers_raw(&fixture, 1, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, fields, 4);
    wire_headers_raw(&fixture, 3, NGHTTP2_FLAG_END_HEADERS, fields, 4);
    wire_data(&fixture, 3, SLICE(""), true);
    wire_headers_raw(&fixture, 5, NGHTTP2_FLAG_END_HEADERS, fields, 4);
    wire_data(&fixture, 5, SLICE("xx"), true);
    wire_headers_raw(&fixture, 7, NGHTTP2_FLAG_END_HEADERS, fields, 5);
    wire_data(&fixture, 7, SLICE("xx"), true);
    wire_run(&fixture);
    assert_body(&fixture, 1, 200, "none|none|");
    assert_body(&fixture, 3, 200, "none|none|");
    assert_int_equal(wire_answer(&fixture, 5)->http_status, 500);
    assert_int_equal(wire_answer(&fixture, 7)->http_status, 415);
    wire_teardown(&fixture);
}

/* Goal: a server stream has its messages, then its end, and waits for the window. Method: 20 messages
 * of 20,000 bytes through a window that is opened in steps. */
static void test_server_stream_waits_for_the_window(void **state)
{
    struct wire_fixture fixture;
    struct slice body;
    uint8_t request[8];
    uint8_t flags = 0;

    wire_setup_http(&fixture, WIRE_MODE(state));
    wire_settings(&fixture, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1000);
    bytes_put_be32(request, 20);
    bytes_put_be32(request + 4, 20000);
    begin_stream(&fixture, 1, WIRE_STREAM);
    wire_message(&fixture, 1, 0, slice_of(request, sizeof(request)), true);
    wire_run(&fixture);
    assert_int_equal(wire_answer(&fixture, 1)->body_size, 1000);
    assert_false(wire_answer(&fixture, 1)->ended);
    wire_window(&fixture, 0, 1000000);
    for (int i = 0; i < 50; i++) {
        wire_window(&fixture, 1, 10000);
        wire_run(&fixture);
    }
    assert_true(wire_answer(&fixture, 1)->ended);
    assert_true(
        wire_has_field(wire_answer(&fixture, 1), "content-type: application/connect+proto\n"));
    assert_true(fixture.output_bytes_max <= CALL_OUTPUT_BYTES_HIGH + 20005);
    body = slice_of(wire_answer(&fixture, 1)->body, wire_answer(&fixture, 1)->body_size);
    for (int i = 0; i < 20; i++) {
        struct slice message = next_envelope(&body, &flags);

        assert_int_equal(flags, 0);
        assert_int_equal(message.size, 20000);
        assert_int_equal(message.data[19999], wire_pattern(19999));
    }
    assert_text(next_envelope(&body, &flags), "{}");
    assert_int_equal(flags, END_STREAM);
    assert_int_equal(body.size, 0);
    wire_teardown(&fixture);
}

/* Goal: a client stream is received, also when its services hold it back. Method: an upload in
 * pieces, its reply, and one that is refused by its second message. */
static void test_client_stream_is_received(void **state)
{
    struct wire_fixture fixture;
    struct slice body;
    uint8_t flags = 0;

    wire_setup_http(&fixture, WIRE_MODE(state));
    begin_stream(&fixture, 1, WIRE_UPLOAD);
    wire_message(&fixture, 1, 0, SLICE("abc"), false);
    wire_message(&fixture, 1, 0, SLICE("de"), true);
    begin_stream(&fixture, 3, WIRE_UPLOAD);
    wire_message(&fixture, 3, 0, SLICE("abc"), false);
    wire_message(&fixture, 3, 0, SLICE("X"), false);
    wire_run(&fixture);
    body = slice_of(wire_answer(&fixture, 1)->body, wire_answer(&fixture, 1)->body_size);
    assert_int_equal(bytes_get_be32(next_envelope(&body, &flags).data), 2);
    assert_text(next_envelope(&body, &flags), "{}");
    assert_int_equal(flags, END_STREAM);
    body = slice_of(wire_answer(&fixture, 3)->body, wire_answer(&fixture, 3)->body_size);
    assert_text(next_envelope(&body, &flags),
                "{\"error\":{\"code\":\"invalid_argument\",\"message\":\"not this one\"}}");
    assert_int_equal(flags, END_STREAM);
    wire_teardown(&fixture);
}

/* Goal: both sides of a bidi stream flow at once. Method: each message is answered before the next
 * is sent. */
static void test_bidi_stream_is_answered_at_once(void **state)
{
    struct wire_fixture fixture;

    wire_setup_http(&fixture, WIRE_MODE(state));
    begin_stream(&fixture, 1, WIRE_BIDI);
    for (size_t i = 1; i < 4; i++) {
        wire_message(&fixture, 1, 0, SLICE("x"), false);
        wire_run(&fixture);
        assert_int_equal(wire_answer(&fixture, 1)->body_size, i * (16384 + ENVELOPE_BYTES));
    }
    wire_data(&fixture, 1, SLICE(""), true);
    wire_run(&fixture);
    assert_true(wire_answer(&fixture, 1)->ended);
    wire_teardown(&fixture);
}

/* Goal: gRPC-Web has gRPC's messages, and its status after them. Method: a unary call, one that fails
 * after its head and so has the status there, an unknown path, and a client stream. */
static void test_grpc_web_has_its_status_in_the_body(void **state)
{
    static const struct wire_field unknown[] = {{":method", "POST"},
                                                {":scheme", "http"},
                                                {":authority", "errata"},
                                                {":path", "/t.T/Nothing"},
                                                {"content-type", WEB_TYPE "+proto"}};
    struct wire_fixture fixture;
    struct slice body;
    uint8_t flags = 0;

    wire_setup_http(&fixture, WIRE_MODE(state));
    begin(&fixture, 1, WIRE_META, WEB_TYPE, NULL, 0);
    wire_message(&fixture, 1, 0, SLICE("hello"), true);
    begin(&fixture, 3, WIRE_FAIL, WEB_TYPE "+proto", NULL, 0);
    wire_message(&fixture, 3, 0, SLICE("\x05gone\n"), true);
    wire_headers_raw(&fixture, 5, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, unknown, 5);
    begin(&fixture, 7, WIRE_UPLOAD, WEB_TYPE, NULL, 0);
    wire_message(&fixture, 7, 0, SLICE("abc"), false);
    wire_message(&fixture, 7, 0, SLICE("de"), true);
    wire_run(&fixture);
    body = slice_of(wire_answer(&fixture, 1)->body, wire_answer(&fixture, 1)->body_size);
    assert_text(next_envelope(&body, &flags), "none|none|");
    assert_int_equal(flags, 0);
    assert_text(next_envelope(&body, &flags), "grpc-status: 0\r\nx-trailing-bin: AP8Q\r\n");
    assert_int_equal(flags, WEB_TRAILERS);
    assert_int_equal(body.size, 0);
    assert_true(wire_has_field(wire_answer(&fixture, 1), "x-leading: first\n"));
    assert_true(wire_has_field(wire_answer(&fixture, 1), "content-type: " WEB_TYPE "+proto\n"));
    assert_int_equal(wire_answer(&fixture, 3)->http_status, 200);
    assert_int_equal(wire_answer(&fixture, 3)->grpc_status, STATUS_NOT_FOUND);
    assert_true(wire_has_field(wire_answer(&fixture, 3), "grpc-message: gone%0A\n"));
    assert_int_equal(wire_answer(&fixture, 3)->body_size, 0);
    assert_int_equal(wire_answer(&fixture, 5)->grpc_status, -1);
    body = slice_of(wire_answer(&fixture, 5)->body, wire_answer(&fixture, 5)->body_size);
    assert_true(slice_starts_with(next_envelope(&body, &flags), SLICE("grpc-status: 12\r\n")));
    assert_int_equal(flags, WEB_TRAILERS);
    body = slice_of(wire_answer(&fixture, 7)->body, wire_answer(&fixture, 7)->body_size);
    assert_int_equal(bytes_get_be32(next_envelope(&body, &flags).data), 2);
    assert_text(next_envelope(&body, &flags), "grpc-status: 0\r\n");
    wire_teardown(&fixture);
}

/* Appends bytes in base64 of their own, so that padding may come in the middle. */
static void append_text(struct buffer *text, struct slice bytes)
{
    assert_true(buffer_reserve(text, BASE64_PADDED_BYTES(bytes.size)));
    text->size += base64_write(bytes, BASE64_STANDARD | BASE64_PADDED, text->data + text->size);
}

/* Reads the groups of a text, each possibly padded. */
static struct slice read_text(struct arena *arena, struct slice text)
{
    uint8_t *bytes = arena_alloc(arena, text.size + 1);
    size_t size = 0;

    assert_non_null(bytes);
    assert_int_equal(text.size % 4, 0);
    for (size_t i = 0; i < text.size; i += 4) {
        size_t step = 0;

        assert_true(base64_read(slice_of(text.data + i, 4), BASE64_STANDARD | BASE64_PADDED,
                                bytes + size, &step));
        size += step;
    }
    return slice_of(bytes, size);
}

/* Goal: the text form is base64 of the same, with padding in the middle, in both directions. Method:
 * a bidi stream whose services hold it back (each message is answered by 16 KiB), in pieces of which
 * each is encoded by itself; then text that is not base64, and text that is cut. */
static void test_grpc_web_text_is_base64(void **state)
{
    const struct slice message = SLICE("\0\0\0\0\x04ping");
    const char *const bad[] = {"AAAA*AAA", "AAAAA"};
    struct wire_fixture fixture;
    struct buffer text;
    struct arena arena;
    struct slice body;
    uint8_t flags = 0;

    wire_setup_http(&fixture, WIRE_MODE(state));
    arena_init(&arena, 64 << 20);
    buffer_init(&text, &arena, 4096);
    for (size_t i = 0; i < 40; i++) {
        append_text(&text, slice_of(message.data, 1 + i % 8));
        append_text(&text, slice_after(message, 1 + i % 8));
    }
    begin(&fixture, 1, WIRE_BIDI, WEB_TYPE "-text", NULL, 0);
    wire_data(&fixture, 1, buffer_slice(&text), true);
    for (size_t i = 0; i < 2; i++) {
        begin(&fixture, 3 + 2 * (uint32_t)i, WIRE_ECHO, WEB_TYPE "-text+proto", NULL, 0);
        wire_data(&fixture, 3 + 2 * (uint32_t)i, slice_text(bad[i]), true);
    }
    for (int i = 0; i < 40; i++) {
        wire_run(&fixture);
        wire_window(&fixture, 0, 65535);
        wire_window(&fixture, 1, 65535);
    }
    wire_run(&fixture);
    assert_true(wire_answer(&fixture, 1)->ended);
    assert_true(
        wire_has_field(wire_answer(&fixture, 1), "content-type: " WEB_TYPE "-text+proto\n"));
    body = read_text(&arena,
                     slice_of(wire_answer(&fixture, 1)->body, wire_answer(&fixture, 1)->body_size));
    for (int i = 0; i < 40; i++) {
        assert_int_equal(next_envelope(&body, &flags).size, 16384);
        assert_int_equal(flags, 0);
    }
    assert_text(next_envelope(&body, &flags), "grpc-status: 0\r\n");
    assert_int_equal(flags, WEB_TRAILERS);
    body = read_text(&arena,
                     slice_of(wire_answer(&fixture, 3)->body, wire_answer(&fixture, 3)->body_size));
    assert_true(slice_starts_with(next_envelope(&body, &flags), SLICE("grpc-status: 13\r\n")));
    assert_int_equal(wire_answer(&fixture, 5)->grpc_status, STATUS_INTERNAL);
    wire_teardown(&fixture);
    arena_deinit(&arena);
}

/* Goal: a complete response that comes before the request's end is not cut off by a reset. Method: an
 * error after the head; the request's rest, then silence. */
static void test_early_error_is_not_cut_by_a_reset(void **state)
{
    struct wire_fixture fixture;

    wire_setup_http(&fixture, WIRE_MODE(state));
    begin_unary(&fixture, 1, WIRE_EARLY);
    begin_unary(&fixture, 3, WIRE_EARLY);
    wire_run(&fixture);
    assert_int_equal(wire_answer(&fixture, 1)->http_status, 401);
    wire_data(&fixture, 1, SLICE("late"), true);
    wire_data(&fixture, 3, SLICE("late"), false);
    wire_run(&fixture);
    assert_int_equal(wire_answer(&fixture, 1)->reset, -1);
    assert_int_equal(wire_answer(&fixture, 3)->reset, -1);
    wire_pass(&fixture, H2_TEXT_LINGER_US + 2 * H2_TICK_US);
    assert_int_equal(wire_answer(&fixture, 3)->reset, H2_NO_ERROR);
    assert_int_equal(grpc_server_h2_stats(fixture.grpc)->streams_live, 0);
    wire_teardown(&fixture);
}

/* Goal: other requests have a response of HTTP. Method: paths, verbs, types, and a preflight. */
static void test_other_requests_have_a_response(void **state)
{
    struct wire_field fields[] = {
        {":method", "GET"},     {":scheme", "http"},
        {":authority", "a"},    {":path", "/nowhere?a=b"},
        {"origin", "http://a"}, {"access-control-request-method", "POST"}};
    uint8_t flags = NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM;
    struct wire_fixture fixture;

    wire_setup_http(&fixture, WIRE_MODE(state));
    wire_headers_raw(&fixture, 1, flags, fields, 4);
    fields[0].value = "HEAD";
    wire_headers_raw(&fixture, 3, flags, fields, 4);
    fields[3].value = wire_path(WIRE_ECHO);
    wire_headers_raw(&fixture, 5, flags, fields, 4);
    begin(&fixture, 7, WIRE_ECHO, "text/plain", NULL, 0);
    begin(&fixture, 9, WIRE_ECHO, "application/connect+proto", NULL, 0);
    fields[0].value = "OPTIONS";
    wire_headers_raw(&fixture, 11, flags, fields, 6);
    wire_run(&fixture);
    assert_int_equal(wire_answer(&fixture, 1)->http_status, 404);
    assert_int_equal(wire_answer(&fixture, 3)->http_status, 404);
    assert_int_equal(wire_answer(&fixture, 3)->body_size, 0);
    assert_int_equal(wire_answer(&fixture, 5)->http_status, 405);
    assert_true(wire_has_field(wire_answer(&fixture, 5), "allow: POST\n"));
    assert_int_equal(wire_answer(&fixture, 7)->http_status, 415);
    assert_int_equal(wire_answer(&fixture, 9)->http_status, 415);
    assert_int_equal(wire_answer(&fixture, 11)->http_status, 204);
    assert_true(
        wire_has_field(wire_answer(&fixture, 11), "access-control-allow-origin: http://a\n"));
    assert_int_equal(fixture.starts, 0);
    wire_teardown(&fixture);
}

/* Goal: a call that has no time left ends with its error, and a cancelled one ends. Method: a held
 * call whose deadline passes, and one that is reset. */
static void test_deadline_and_reset_end_calls(void **state)
{
    static const struct wire_field timeout[] = {{"connect-timeout-ms", "1000"}};
    struct wire_fixture fixture;

    wire_setup_http(&fixture, WIRE_MODE(state));
    begin(&fixture, 1, WIRE_HOLD, "application/proto", timeout, 1);
    wire_data(&fixture, 1, SLICE("x"), true);
    begin_unary(&fixture, 3, WIRE_HOLD);
    wire_data(&fixture, 3, SLICE("x"), true);
    wire_run(&fixture);
    wire_reset(&fixture, 3, NGHTTP2_CANCEL);
    wire_pass(&fixture, 1100000);
    assert_int_equal(wire_answer(&fixture, 1)->http_status, 504);
    assert_int_equal(fixture.cancels, 2);
    wire_teardown(&fixture);
}

int run_http_tests(void)
{
    const struct CMUnitTest tests[] = {
        WIRE_TEST(test_unary_calls_share_the_connection_with_grpc),
        WIRE_TEST(test_metadata_goes_both_ways),
        WIRE_TEST(test_get_has_its_message_in_the_query),
        WIRE_TEST(test_server_stream_waits_for_the_window),
        WIRE_TEST(test_client_stream_is_received),
        WIRE_TEST(test_bidi_stream_is_answered_at_once),
        WIRE_TEST(test_grpc_web_has_its_status_in_the_body),
        WIRE_TEST(test_grpc_web_text_is_base64),
        WIRE_TEST(test_early_error_is_not_cut_by_a_reset),
        WIRE_TEST(test_other_requests_have_a_response),
        WIRE_TEST(test_deadline_and_reset_end_calls),
    };

    return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
