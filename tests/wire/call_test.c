/*
 * call_test.c: unary calls: what is right, and every way in which a request can be wrong.
 */
#include "server/call/gzip.h"
#include "server/call/protocol.h"
#include "store/base/bytes.h"
#include "tests/wire/wire.h"

#include <stdio.h>
#include <stdlib.h>

static struct slice size_request(uint8_t bytes[4], uint32_t size)
{
    bytes_put_be32(bytes, size);
    return slice_of(bytes, 4);
}

static void assert_patterned(struct slice bytes, size_t size)
{
    assert_int_equal(bytes.size, size);
    for (size_t i = 0; i < size; i++) {
        if (bytes.data[i] != wire_pattern(i)) {
            fail_msg("byte %zu of %zu is wrong", i, size);
        }
    }
}

/* Goal: a unary call is answered. Method: one call; its fields, message and trailers. */
static void test_unary_call_is_answered(void **state)
{
    struct wire_fixture fixture;
    struct wire_answer *answer = NULL;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_call(&fixture, 1, WIRE_ECHO, SLICE("hello"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    answer = wire_answer(&fixture, 1);
    assert_int_equal(answer->blocks, 2);
    assert_int_equal(answer->reset, -1);
    assert_string_equal(answer->fields,
                        ":status: 200\ncontent-type: application/grpc\ngrpc-status: 0\n");
    assert_true(slice_equal(wire_reply(&fixture, 1), SLICE("hello")));
    assert_int_equal(fixture.starts, 1);
    assert_int_equal(fixture.messages, 1);
    wire_teardown(&fixture);
}

/* Goal: an empty request and an empty reply are messages. Method: both at once. */
static void test_empty_messages_are_messages(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_call(&fixture, 1, WIRE_ECHO, SLICE(""));
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    assert_int_equal(wire_reply(&fixture, 1).size, 0);
    wire_teardown(&fixture);
}

/* Goal: replies arrive whole around every frame boundary, with the trailers after them. Method:
 * replies of 16 KiB and 64 KiB, a few bytes less and more (5 of each are the message's head). */
static void test_reply_is_whole_at_every_frame_boundary(void **state)
{
    static const uint32_t sizes[] = {0,     1,     16378, 16379, 16380, 16383,
                                     16384, 16385, 32763, 32768, 32769, 65529,
                                     65530, 65531, 65535, 65536, 65537, 150000};
    struct wire_fixture fixture;
    uint8_t request[4];

    wire_setup(&fixture, WIRE_MODE(state));
    wire_settings(&fixture, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20);
    wire_window(&fixture, 0, 64 << 20);
    for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint32_t stream = i * 2 + 1;

        wire_call(&fixture, stream, WIRE_SIZE, size_request(request, sizes[i]));
        wire_run(&fixture);
        wire_assert_status(&fixture, stream, STATUS_OK);
        assert_patterned(wire_reply(&fixture, stream), sizes[i]);
    }
    wire_teardown(&fixture);
}

/* Goal: requests are assembled from any frames. Method: DATA frames of 1, 2, 3, ... bytes, empty
 * ones between, END_STREAM on an empty one. */
static void test_request_is_assembled_from_any_frames(void **state)
{
    struct wire_fixture fixture;
    uint8_t framed[105] = {0, 0, 0, 0, 100};
    size_t at = 0;

    wire_setup(&fixture, WIRE_MODE(state));
    for (size_t i = 0; i < 100; i++) {
        framed[5 + i] = wire_pattern(i);
    }
    wire_headers(&fixture, 1, WIRE_ECHO, false, NULL, 0);
    for (size_t step = 1; at < sizeof(framed); step++) {
        size_t size = step < sizeof(framed) - at ? step : sizeof(framed) - at;

        wire_data(&fixture, 1, slice_of(framed + at, size), false);
        wire_data(&fixture, 1, SLICE(""), false);
        at += size;
    }
    wire_data(&fixture, 1, SLICE(""), true);
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    assert_patterned(wire_reply(&fixture, 1), 100);
    wire_teardown(&fixture);
}

/* Goal: an error is one header block, with an escaped message. Method: a method that fails on
 * request. */
static void test_error_is_one_block_with_escaped_message(void **state)
{
    struct wire_fixture fixture;
    struct wire_answer *answer = NULL;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_call(&fixture, 1, WIRE_FAIL, SLICE("\x05no such thing: \xc3\xa9 100%\n"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_NOT_FOUND);
    answer = wire_answer(&fixture, 1);
    assert_int_equal(answer->blocks, 1);
    assert_int_equal(answer->data_frames, 0);
    assert_true(wire_has_field(answer, "grpc-message: no such thing: %C3%A9 100%25%0A\n"));
    wire_teardown(&fixture);
}

/* Goal: a status message that is too long is cut between two characters, and the status is sent.
 * Method: one whose limit is within a character. */
static void test_long_status_message_is_cut_between_characters(void **state)
{
    char message[1 + 2 * CALL_STATUS_MESSAGE_BYTES_MAX];
    char wanted[32 + CALL_STATUS_MESSAGE_BYTES_MAX];
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    memset(message, 'x', sizeof(message));
    message[0] = STATUS_NOT_FOUND;
    memcpy(message + CALL_STATUS_MESSAGE_BYTES_MAX, "\xc3\xa9", 2);
    (void)snprintf(wanted, sizeof(wanted), "grpc-message: %.*s\n",
                   CALL_STATUS_MESSAGE_BYTES_MAX - 1, message + 1);
    wire_call(&fixture, 1, WIRE_FAIL, slice_of(message, sizeof(message)));
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_NOT_FOUND);
    assert_true(wire_has_field(wire_answer(&fixture, 1), wanted));
    wire_teardown(&fixture);
}

/* Goal: an answer before the request's end is followed by RST_STREAM(NO_ERROR), and what arrives
 * after it is discarded. Method: a call that is refused after its headers, with 300 KiB after
 * them. */
static void test_answer_before_the_end_resets_without_error(void **state)
{
    struct wire_fixture fixture;
    uint8_t *body = calloc(1, 16384);

    assert_non_null(body);
    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_EARLY, false, NULL, 0);
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_UNAUTHENTICATED);
    assert_int_equal(wire_answer(&fixture, 1)->reset, H2_NO_ERROR);
    fixture.client.window_opened = 0;
    for (int i = 0; i < 64; i++) {
        wire_data(&fixture, 1, slice_of(body, 16384), false);
    }
    wire_run(&fixture);
    /* The connection's window is given back for what no one reads. */
    assert_true(fixture.client.window_opened >= 512 * 1024);
    wire_call(&fixture, 3, WIRE_ECHO, SLICE("still here"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 3, STATUS_OK);
    free(body);
    wire_teardown(&fixture);
}

struct bad_request {
    const char *what;
    struct slice body;
    int grpc_status;
};

/* Goal: each malformed message is refused with its own code. Method: a table of bodies. */
static void test_malformed_message_gets_its_code(void **state)
{
    static const struct bad_request table[] = {
        {"none", {NULL, 0}, STATUS_UNIMPLEMENTED},
        {"two", {(const uint8_t *)"\0\0\0\0\1a\0\0\0\0\1b", 12}, STATUS_UNIMPLEMENTED},
        {"half a head", {(const uint8_t *)"\0\0\0", 3}, STATUS_INTERNAL},
        {"half a message", {(const uint8_t *)"\0\0\0\0\5ab", 7}, STATUS_INTERNAL},
        {"compressed without encoding", {(const uint8_t *)"\1\0\0\0\1a", 6}, STATUS_INTERNAL},
        {"unknown flags", {(const uint8_t *)"\2\0\0\0\1a", 6}, STATUS_INTERNAL},
        {"gRPC-Web trailers", {(const uint8_t *)"\x80\0\0\0\1a", 6}, STATUS_INTERNAL},
        {"too large", {(const uint8_t *)"\0\1\0\0\1a", 6}, STATUS_RESOURCE_EXHAUSTED},
        {"4 GiB", {(const uint8_t *)"\0\xff\xff\xff\xff", 5}, STATUS_RESOURCE_EXHAUSTED},
    };
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        uint32_t stream = i * 2 + 1;

        wire_headers(&fixture, stream, WIRE_ECHO, false, NULL, 0);
        wire_data(&fixture, stream, table[i].body, true);
        wire_run(&fixture);
        if (wire_answer(&fixture, stream)->grpc_status != table[i].grpc_status) {
            fail_msg("%s: status %d", table[i].what, wire_answer(&fixture, stream)->grpc_status);
        }
        assert_int_equal(wire_answer(&fixture, stream)->blocks, 1);
    }
    assert_int_equal(fixture.messages, 0);
    wire_teardown(&fixture);
}

/* Goal: a message above the limit is refused by its prefix, before the rest is sent. Method: only
 * the prefix; nothing is charged to the budget. */
static void test_message_above_the_limit_is_refused_by_its_prefix(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_ECHO, false, NULL, 0);
    wire_data(&fixture, 1, SLICE("\0\1\0\0\1"), false);
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_RESOURCE_EXHAUSTED);
    assert_int_equal(wire_answer(&fixture, 1)->reset, H2_NO_ERROR);
    assert_true(wire_has_field(wire_answer(&fixture, 1), "16777217 bytes"));
    assert_true(wire_has_field(wire_answer(&fixture, 1), "expected at most 16777216"));
    assert_int_equal(call_server_stats(fixture.calls).body_bytes_live, 0);
    wire_teardown(&fixture);
}

/* Goal: all request messages together are bounded. Method: a budget of 1,000 bytes; two calls
 * that announce 600 each; the second is refused with a retry delay, and fits once the first has
 * ended. */
static void test_request_messages_are_bounded_in_total(void **state)
{
    struct wire_fixture fixture;
    struct call_config config = wire_config(&fixture);
    uint8_t body[600] = {0};

    config.body_bytes_max = 1000;
    config.sends_reasons = true;
    wire_setup_with(&fixture, WIRE_MODE(state), &config);
    wire_preface(&fixture);
    wire_call(&fixture, 1, WIRE_HOLD, slice_of(body, sizeof(body)));
    wire_call(&fixture, 3, WIRE_ECHO, slice_of(body, sizeof(body)));
    wire_run(&fixture);
    wire_assert_status(&fixture, 3, STATUS_UNAVAILABLE);
    assert_true(wire_has_field(wire_answer(&fixture, 3), "grpc-retry-pushback-ms: 200\n"));
    wire_finish_held(&fixture, 0, STATUS_OK);
    wire_run(&fixture);
    wire_call(&fixture, 5, WIRE_ECHO, slice_of(body, sizeof(body)));
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    wire_assert_status(&fixture, 5, STATUS_OK);
    wire_teardown(&fixture);
}

struct bad_head {
    const char *what;
    struct wire_field fields[5];
    int http_status;
    int grpc_status;
};

/* Goal: requests that are not gRPC calls get an HTTP response, unknown methods a gRPC one. Method:
 * a table of header lists. */
static void test_request_that_is_not_grpc_gets_http_status(void **state)
{
    static const struct bad_head table[] = {
        {"json",
         {{":method", "POST"}, {":path", "/t.T/Echo"}, {"content-type", "application/json"}},
         415,
         -1},
        {"no type", {{":method", "POST"}, {":path", "/t.T/Echo"}}, 415, -1},
        {"grpc-web",
         {{":method", "POST"}, {":path", "/t.T/Echo"}, {"content-type", "application/grpc-web"}},
         415,
         -1},
        {"get",
         {{":method", "GET"}, {":path", "/t.T/Echo"}, {"content-type", "application/grpc"}},
         405,
         -1},
        {"path",
         {{":method", "POST"}, {":path", "/t.T/echo"}, {"content-type", "application/grpc"}},
         200,
         STATUS_UNIMPLEMENTED},
        {"encoding",
         {{":method", "POST"},
          {":path", "/t.T/Echo"},
          {"content-type", "application/grpc"},
          {"grpc-encoding", "br"}},
         200,
         STATUS_UNIMPLEMENTED},
        {"timeout",
         {{":method", "POST"},
          {":path", "/t.T/Echo"},
          {"content-type", "application/grpc+proto"},
          {"grpc-timeout", "1x"}},
         200,
         STATUS_INVALID_ARGUMENT},
    };
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        uint32_t stream = i * 2 + 1;
        struct wire_field fields[7] = {{":scheme", "http"}, {":authority", "errata"}};
        size_t count = 2;

        for (size_t j = 0; j < 5 && table[i].fields[j].name != NULL; j++) {
            if (table[i].fields[j].name[0] == ':') { /* pseudo fields come first */
                fields[count++] = table[i].fields[j];
            }
        }
        for (size_t j = 0; j < 5 && table[i].fields[j].name != NULL; j++) {
            if (table[i].fields[j].name[0] != ':') {
                fields[count++] = table[i].fields[j];
            }
        }
        wire_headers_raw(&fixture, stream, NGHTTP2_FLAG_END_HEADERS, fields, count);
        wire_message(&fixture, stream, 0, SLICE("x"), true);
        wire_run(&fixture);
        if (wire_answer(&fixture, stream)->http_status != table[i].http_status ||
            wire_answer(&fixture, stream)->grpc_status != table[i].grpc_status) {
            fail_msg("%s: %s", table[i].what, wire_answer(&fixture, stream)->fields);
        }
    }
    assert_true(wire_has_field(wire_answer(&fixture, 1), "accept-post: application/grpc"));
    assert_true(wire_has_field(wire_answer(&fixture, 7), "allow: POST"));
    assert_true(wire_has_field(wire_answer(&fixture, 11), "grpc-accept-encoding: identity,gzip"));
    assert_int_equal(fixture.starts, 0);
    wire_teardown(&fixture);
}

/* Goal: metadata of both kinds is delivered in both directions. Method: padded and unpadded -bin
 * values, lists of them, damaged base64, a key sent twice. */
static void test_metadata_is_delivered_both_ways(void **state)
{
    static const char *const binary[][2] = {
        {"aGk", "hi"}, {"aGk=", "hi"}, {"aGk=,Zm9v", "hi"}, {"aGk, Zm9v", "hi"}, {"a*", "none"},
    };
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t i = 0; i < sizeof(binary) / sizeof(binary[0]); i++) {
        const struct wire_field extra[] = {{"x-plain", "first"},
                                           {"x-some-bin", binary[i][0]},
                                           {"authorization", "Bearer t"},
                                           {"x-plain", "second"}};
        uint32_t stream = i * 2 + 1;
        char wanted[64];

        wire_headers(&fixture, stream, WIRE_META, false, extra, 4);
        wire_message(&fixture, stream, 0, SLICE("x"), true);
        wire_run(&fixture);
        wire_assert_status(&fixture, stream, STATUS_OK);
        (void)snprintf(wanted, sizeof(wanted), "first|%s|Bearer t", binary[i][1]);
        assert_true(slice_equal(wire_reply(&fixture, stream), slice_text(wanted)));
        assert_true(wire_has_field(wire_answer(&fixture, stream), "x-leading: first\n"));
        assert_true(wire_has_field(wire_answer(&fixture, stream), "x-trailing-bin: AP8Q\n"));
    }
    wire_teardown(&fixture);
}

/* Goal: leading metadata stays leading even if there is no reply: clients that distinguish leading
 * from trailing metadata find both. Method: an error with both kinds; the same without is one
 * block. */
static void test_leading_metadata_precedes_an_error(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_call(&fixture, 1, WIRE_META, SLICE("no reply"));
    wire_call(&fixture, 3, WIRE_FAIL, SLICE("\x0a"));
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_ABORTED);
    assert_int_equal(wire_answer(&fixture, 1)->blocks, 2);
    assert_int_equal(wire_answer(&fixture, 1)->data_frames, 0);
    assert_true(wire_has_field(wire_answer(&fixture, 1), "x-leading: first\n"));
    assert_true(strstr(wire_answer(&fixture, 1)->fields, "x-leading") <
                strstr(wire_answer(&fixture, 1)->fields, "grpc-status"));
    assert_true(wire_has_field(wire_answer(&fixture, 1), "x-trailing-bin: AP8Q\n"));
    wire_assert_status(&fixture, 3, STATUS_ABORTED);
    assert_int_equal(wire_answer(&fixture, 3)->blocks, 1);
    wire_teardown(&fixture);
}

/* Goal: the transport's refusals have their reason if configured, and not otherwise. Method: a
 * second message of a unary call, by a server of either kind. */
static void test_refusals_have_reasons_if_configured(void **state)
{
    for (int reports = 0; reports < 2; reports++) {
        struct wire_fixture fixture;
        struct call_config config = wire_config(&fixture);

        config.sends_reasons = reports != 0;
        wire_setup_with(&fixture, WIRE_MODE(state), &config);
        wire_preface(&fixture);
        wire_headers(&fixture, 1, WIRE_ECHO, false, NULL, 0);
        wire_message(&fixture, 1, 0, SLICE("x"), false);
        wire_message(&fixture, 1, 0, SLICE("x"), true);
        wire_run(&fixture);
        wire_assert_status(&fixture, 1, STATUS_UNIMPLEMENTED);
        assert_int_equal(
            strstr(wire_answer(&fixture, 1)->fields, "grpc-status-details-bin: ") != NULL, reports);
        wire_teardown(&fixture);
    }
}

/* Goal: an unusual but legal ASCII value is accepted. Method: tabs, high bytes, percent signs,
 * blanks at the ends, which are removed. */
static void test_unusual_ascii_metadata_is_accepted(void **state)
{
    const struct wire_field extra[] = {{"x-plain", " a\tb \x80\xff % \"c\"  "}};
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_META, false, extra, 1);
    wire_message(&fixture, 1, 0, SLICE("x"), true);
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    assert_true(slice_equal(wire_reply(&fixture, 1), SLICE("a\tb \x80\xff % \"c\"|none|")));
    wire_teardown(&fixture);
}

static struct wire_bytes gzip_of(struct slice bytes)
{
    struct wire_bytes packed = {NULL, 0, 0};
    struct arena arena;
    struct buffer buffer;

    arena_init(&arena, 64 << 20);
    buffer_init(&buffer, &arena, 0);
    assert_int_equal(gzip_deflate(bytes, &buffer), OK);
    wire_bytes_append(&packed, buffer_slice(&buffer));
    arena_deinit(&arena);
    return packed;
}

/* Goal: a compressed request is accepted, and the answer is compressed if that makes it smaller.
 * Method: an echo of 2,000 bytes and of 10, with and without grpc-accept-encoding. */
static void test_gzip_request_is_inflated_and_long_answer_compressed(void **state)
{
    static const struct wire_field both[] = {{"grpc-encoding", "gzip"},
                                             {"grpc-accept-encoding", "identity,gzip"}};
    struct wire_fixture fixture;
    uint8_t text[2000];
    struct wire_bytes packed;
    struct wire_answer *answer = NULL;

    memset(text, 'a', sizeof(text));
    wire_setup(&fixture, WIRE_MODE(state));
    packed = gzip_of(slice_of(text, sizeof(text)));
    wire_headers(&fixture, 1, WIRE_ECHO, false, both, 2);
    wire_message(&fixture, 1, 1, slice_of(packed.data, packed.size), true);
    wire_headers(&fixture, 3, WIRE_ECHO, false, both, 1);
    wire_message(&fixture, 3, 1, slice_of(packed.data, packed.size), true);
    /* Announced by every stock client: no reason to compress by itself. */
    wire_headers(&fixture, 5, WIRE_ECHO, false, both, 2);
    wire_message(&fixture, 5, 0, slice_of(text, sizeof(text)), true);
    free(packed.data);
    packed = gzip_of(slice_of(text, 10));
    wire_headers(&fixture, 7, WIRE_ECHO, false, both, 2);
    wire_message(&fixture, 7, 1, slice_of(packed.data, packed.size), true);
    free(packed.data);
    wire_run(&fixture);
    for (uint32_t stream = 1; stream <= 7; stream += 2) {
        wire_assert_status(&fixture, stream, STATUS_OK);
    }
    answer = wire_answer(&fixture, 1);
    assert_true(wire_has_field(answer, "grpc-encoding: gzip\n"));
    assert_int_equal(answer->body[0], 1);
    assert_true(answer->body_size < 200);
    assert_false(wire_has_field(wire_answer(&fixture, 3), "grpc-encoding"));
    assert_int_equal(wire_reply(&fixture, 3).size, sizeof(text));
    assert_int_equal(wire_reply(&fixture, 5).size, sizeof(text));
    assert_int_equal(wire_reply(&fixture, 7).size, 10);
    wire_teardown(&fixture);
}

/* Goal: damaged and exploding messages are refused. Method: garbage, a truncated message, and 32
 * MiB of zeros. */
static void test_damaged_or_exploding_gzip_is_refused(void **state)
{
    static const struct wire_field gzip[] = {{"grpc-encoding", "gzip"}};
    struct wire_fixture fixture;
    uint8_t *zeros = calloc(1, 32u << 20);
    struct wire_bytes packed;

    assert_non_null(zeros);
    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_ECHO, false, gzip, 1);
    wire_message(&fixture, 1, 1, SLICE("this is not gzip"), true);
    packed = gzip_of(SLICE("some text that is cut in the middle of its stream"));
    wire_headers(&fixture, 3, WIRE_ECHO, false, gzip, 1);
    wire_message(&fixture, 3, 1, slice_of(packed.data, packed.size - 9), true);
    free(packed.data);
    packed = gzip_of(slice_of(zeros, 32u << 20));
    wire_headers(&fixture, 5, WIRE_ECHO, false, gzip, 1);
    wire_message(&fixture, 5, 1, slice_of(packed.data, packed.size), true);
    free(packed.data);
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_INTERNAL);
    wire_assert_status(&fixture, 3, STATUS_INTERNAL);
    wire_assert_status(&fixture, 5, STATUS_RESOURCE_EXHAUSTED);
    assert_int_equal(fixture.messages, 0);
    free(zeros);
    wire_teardown(&fixture);
}

/* Goal: an answer made outside the feed wakes the connection, and is sent. Method: a held call. */
static void test_answer_outside_of_feed_wakes_the_connection(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_call(&fixture, 1, WIRE_HOLD, SLICE("x"));
    wire_run(&fixture);
    assert_false(fixture.woken);
    wire_finish_held(&fixture, 0, STATUS_OK);
    assert_true(fixture.woken);
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    assert_true(slice_equal(wire_reply(&fixture, 1), SLICE("held")));
    wire_teardown(&fixture);
}

/* Goal: RST_STREAM cancels the call, which lives until it is finished. Method: reset while held,
 * another call, then the end of the first. */
static void test_reset_cancels_the_call(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_call(&fixture, 1, WIRE_HOLD, SLICE("x"));
    wire_reset(&fixture, 1, H2_CANCEL);
    wire_call(&fixture, 3, WIRE_ECHO, SLICE("y"));
    wire_run(&fixture);
    assert_int_equal(fixture.cancels, 1);
    assert_int_equal(fixture.cancelled_why, ERR_CANCELLED);
    assert_true(fixture.held[0]->cancelled);
    wire_assert_status(&fixture, 3, STATUS_OK);
    assert_int_equal(call_server_stats(fixture.calls).calls_live, 1);
    wire_finish_held(&fixture, 0, STATUS_OK);
    wire_run(&fixture);
    assert_int_equal(wire_answer(&fixture, 1)->http_status, 0);
    assert_int_equal(call_server_stats(fixture.calls).calls_live, 0);
    assert_int_equal(call_server_stats(fixture.calls).calls_ended[STATUS_CANCELLED], 1);
    wire_teardown(&fixture);
}

/* Goal: a call outlives its connection. Method: the connection goes while two calls are held; one is
 * finished after it, the other by the teardown. */
static void test_disconnect_cancels(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_call(&fixture, 1, WIRE_HOLD, SLICE("x"));
    wire_call(&fixture, 3, WIRE_HOLD, SLICE("y"));
    wire_headers(&fixture, 5, WIRE_ECHO, false, NULL, 0);
    wire_data(&fixture, 5, SLICE("\0\0\0\0\5a"), false);
    wire_run(&fixture);
    wire_disconnect(&fixture);
    assert_int_equal(fixture.cancels, 3);
    assert_int_equal(call_server_stats(fixture.calls).calls_live, 2);
    wire_finish_held(&fixture, 0, STATUS_OK);
    assert_int_equal(call_server_stats(fixture.calls).calls_live, 1);
    wire_teardown(&fixture);
}

/* Goal: deadlines end calls on time, with the words that a write needs. Method: time passes over a
 * read's and a write's deadline; the late finish has no effect. */
static void test_deadlines_end_calls_on_time(void **state)
{
    static const struct wire_field timeout[] = {{"grpc-timeout", "2S"}};
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_HOLD, false, timeout, 1);
    wire_message(&fixture, 1, 0, SLICE("x"), true);
    wire_call(&fixture, 3, WIRE_WRITE, SLICE("y")); /* the method's default is 5 s */
    wire_headers(&fixture, 5, WIRE_ECHO, false, timeout, 1);
    wire_run(&fixture);
    wire_pass(&fixture, 1900000);
    assert_int_equal(fixture.cancels, 0);
    wire_pass(&fixture, 600000);
    assert_int_equal(fixture.cancels, 2);
    assert_int_equal(fixture.cancelled_why, ERR_DEADLINE);
    wire_assert_status(&fixture, 1, STATUS_DEADLINE_EXCEEDED);
    wire_assert_status(&fixture, 5, STATUS_DEADLINE_EXCEEDED);
    wire_pass(&fixture, 3000000);
    wire_assert_status(&fixture, 3, STATUS_DEADLINE_EXCEEDED);
    assert_true(wire_has_field(wire_answer(&fixture, 3), "may have been stored"));
    wire_finish_held(&fixture, 0, STATUS_OK);
    wire_finish_held(&fixture, 1, STATUS_OK);
    wire_run(&fixture);
    assert_int_equal(call_server_stats(fixture.calls).calls_live, 0);
    assert_int_equal(call_server_stats(fixture.calls).calls_expired, 3);
    wire_teardown(&fixture);
}

/* Goal: the wheel's first slot is one like the others. Method: two calls whose deadline falls into it; one
 * is answered in time and has left it; the other ends, once. */
static void test_deadline_in_slot_zero_ends_once(void **state)
{
    static const struct wire_field timeout[] = {{"grpc-timeout", "50175m"}};
    int64_t deadline_us = 1000000 + 50175000;
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    assert_int_equal((deadline_us / CALL_WHEEL_SLOT_US + 1) % CALL_WHEEL_SLOTS, 0);
    wire_headers(&fixture, 1, WIRE_HOLD, false, timeout, 1);
    wire_message(&fixture, 1, 0, SLICE("x"), true);
    wire_headers(&fixture, 3, WIRE_HOLD, false, timeout, 1);
    wire_message(&fixture, 3, 0, SLICE("x"), true);
    wire_run(&fixture);
    wire_finish_held(&fixture, 0, STATUS_OK);
    wire_run(&fixture);
    wire_assert_status(&fixture, 1, STATUS_OK);
    wire_pass(&fixture, deadline_us - CALL_WHEEL_SLOT_US - fixture.now_us);
    assert_int_equal(call_server_stats(fixture.calls).calls_expired, 0);
    wire_pass(&fixture, 2 * CALL_WHEEL_SLOT_US);
    wire_assert_status(&fixture, 3, STATUS_DEADLINE_EXCEEDED);
    assert_int_equal(call_server_stats(fixture.calls).calls_expired, 1);
    assert_int_equal(fixture.cancels, 1);
    wire_teardown(&fixture);
}

/* Goal: deadlines far apart share the wheel. Method: 10 ms, a minute and an hour; each ends in its
 * own time. */
static void test_distant_deadlines_share_the_wheel(void **state)
{
    static const struct wire_field timeouts[] = {
        {"grpc-timeout", "10m"}, {"grpc-timeout", "60S"}, {"grpc-timeout", "1H"}};
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    for (uint32_t i = 0; i < 3; i++) {
        wire_headers(&fixture, i * 2 + 1, WIRE_HOLD, false, &timeouts[i], 1);
        wire_message(&fixture, i * 2 + 1, 0, SLICE("x"), true);
    }
    wire_run(&fixture);
    wire_pass(&fixture, 200000);
    assert_int_equal(fixture.cancels, 1);
    wire_pass(&fixture, INT64_C(59000000));
    assert_int_equal(fixture.cancels, 1);
    wire_pass(&fixture, 2000000);
    assert_int_equal(fixture.cancels, 2);
    wire_pass(&fixture, INT64_C(3530000000));
    assert_int_equal(fixture.cancels, 2);
    wire_pass(&fixture, INT64_C(20000000));
    assert_int_equal(fixture.cancels, 3);
    wire_teardown(&fixture);
}

/* Goal: a request that stops in the middle is ended. Method: half a message and a minute; single
 * bytes do not prolong it; a bidi stream may wait. */
static void test_stalled_request_is_ended(void **state)
{
    struct wire_fixture fixture;

    wire_setup(&fixture, WIRE_MODE(state));
    wire_headers(&fixture, 1, WIRE_ECHO, false, NULL, 0);
    wire_data(&fixture, 1, SLICE("\0\0\0\xff\xff"), false);
    wire_headers(&fixture, 3, WIRE_BIDI, false, NULL, 0);
    for (int i = 0; i < 10; i++) {
        wire_data(&fixture, 1, SLICE("a"), false);
        wire_run(&fixture);
        wire_pass(&fixture, 5500000);
        assert_int_equal(wire_answer(&fixture, 1)->grpc_status, -1);
    }
    wire_pass(&fixture, 11000000);
    wire_assert_status(&fixture, 1, STATUS_DEADLINE_EXCEEDED);
    assert_int_equal(wire_answer(&fixture, 3)->grpc_status, -1);
    assert_int_equal(fixture.cancels, 1);
    wire_teardown(&fixture);
}

int run_call_tests(void)
{
    const struct CMUnitTest tests[] = {
        WIRE_TEST(test_unary_call_is_answered),
        WIRE_TEST(test_empty_messages_are_messages),
        WIRE_TEST(test_reply_is_whole_at_every_frame_boundary),
        WIRE_TEST(test_request_is_assembled_from_any_frames),
        WIRE_TEST(test_error_is_one_block_with_escaped_message),
        WIRE_TEST(test_long_status_message_is_cut_between_characters),
        WIRE_TEST(test_answer_before_the_end_resets_without_error),
        WIRE_TEST(test_malformed_message_gets_its_code),
        WIRE_TEST(test_message_above_the_limit_is_refused_by_its_prefix),
        WIRE_TEST(test_request_messages_are_bounded_in_total),
        WIRE_TEST(test_request_that_is_not_grpc_gets_http_status),
        WIRE_TEST(test_metadata_is_delivered_both_ways),
        WIRE_TEST(test_leading_metadata_precedes_an_error),
        WIRE_TEST(test_refusals_have_reasons_if_configured),
        WIRE_TEST(test_unusual_ascii_metadata_is_accepted),
        WIRE_TEST(test_gzip_request_is_inflated_and_long_answer_compressed),
        WIRE_TEST(test_damaged_or_exploding_gzip_is_refused),
        WIRE_TEST(test_answer_outside_of_feed_wakes_the_connection),
        WIRE_TEST(test_reset_cancels_the_call),
        WIRE_TEST(test_disconnect_cancels),
        WIRE_TEST(test_deadlines_end_calls_on_time),
        WIRE_TEST(test_deadline_in_slot_zero_ends_once),
        WIRE_TEST(test_distant_deadlines_share_the_wheel),
        WIRE_TEST(test_stalled_request_is_ended),
    };

    return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
