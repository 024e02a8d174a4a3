/*
 * http1_tests.c: the parser of HTTP/1.1 on requests that are valid, ambiguous, too large or
 * malformed. Each is read whole, byte by byte and in pieces of every size up to seven: the events
 * are the same.
 */
#include "server/http1/http1_parser.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HOST "Host: a\r\n"
#define GET "GET /a HTTP/1.1\r\n" HOST
#define POST "POST /a HTTP/1.1\r\n" HOST
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"
/* Traces: the expected reports of the parser for the requests above. */
#define SEEN_GET "GET /a;host=a;"
#define SEEN_POST "POST /a;host=a;"
#define TRACE_BYTES 65536

struct trace {
    char text[TRACE_BYTES];
    size_t size;
    bool in_body;
};

static void trace_add(struct trace *trace, struct slice text)
{
    assert_true(trace->size + text.size < sizeof(trace->text));
    if (text.size > 0) {
        memcpy(trace->text + trace->size, text.data, text.size);
    }
    trace->size += text.size;
    trace->text[trace->size] = '\0';
}

/* `METHOD target;`, `name=value;`, `.` at the end of the head, `[body]`, `!` at the end of a
 * request, or the status of a refusal. Pieces of a body are joined. */
static void trace_event(struct trace *trace, const struct http1_parser *parser,
                        const struct http1_event *event)
{
    char status[8] = "";

    if (trace->in_body && event->kind != HTTP1_BODY && event->kind != HTTP1_MORE) {
        trace->in_body = false;
        trace_add(trace, SLICE("]"));
    }
    switch (event->kind) {
    case HTTP1_MORE:
        return;
    case HTTP1_LINE:
    case HTTP1_FIELD:
        trace_add(trace, event->name);
        trace_add(trace, event->kind == HTTP1_LINE ? SLICE(" ") : SLICE("="));
        trace_add(trace, event->value);
        trace_add(trace, SLICE(";"));
        return;
    case HTTP1_HEAD_END:
        trace_add(trace, parser->closes ? SLICE("close.") : SLICE("."));
        trace_add(trace, parser->expects_continue ? SLICE("100.") : SLICE(""));
        return;
    case HTTP1_BODY:
        trace_add(trace, trace->in_body ? SLICE("") : SLICE("["));
        trace->in_body = true;
        trace_add(trace, event->value);
        return;
    case HTTP1_END:
        trace_add(trace, SLICE("!"));
        return;
    case HTTP1_REFUSED:
        (void)snprintf(status, sizeof(status), "%u", http1_refusal_status(parser->refusal));
        trace_add(trace, slice_text(status));
        return;
    }
}

/* Feeds one piece; returns false once the request is refused. */
static bool feed(struct http1_parser *parser, struct slice piece, struct trace *trace)
{
    struct http1_event event = {.kind = HTTP1_BODY};
    uint8_t *copy = malloc(piece.size + 1); /* of its own, so that a read past its end is found */
    size_t taken = 0;

    assert_non_null(copy);
    memcpy(copy, piece.data, piece.size);
    while (event.kind != HTTP1_MORE && event.kind != HTTP1_REFUSED) {
        taken += http1_parser_take(parser, slice_of(copy + taken, piece.size - taken), &event);
        assert_true(taken <= piece.size);
        trace_event(trace, parser, &event);
    }
    assert_int_equal(taken, piece.size);
    free(copy);
    return event.kind == HTTP1_MORE;
}

static void read_in_pieces(struct slice request, size_t piece_bytes, struct trace *trace,
                           struct http1_parser *parser)
{
    *trace = (struct trace){.size = 0};
    http1_parser_init(parser);
    while (request.size > 0) {
        size_t step = piece_bytes < request.size ? piece_bytes : request.size;

        if (!feed(parser, slice_of(request.data, step), trace)) {
            return;
        }
        request = slice_after(request, step);
    }
    if (trace->in_body) {
        trace_add(trace, SLICE("]"));
    }
}

static void expect_bytes(struct slice request, const char *wanted, enum http1_refusal refusal)
{
    struct http1_parser *parser = malloc(sizeof(*parser));
    struct trace *trace = malloc(sizeof(*trace));

    assert_non_null(parser);
    assert_non_null(trace);
    for (size_t piece = 0; piece < 8; piece++) {
        read_in_pieces(request, piece > 0 ? piece : request.size, trace, parser);
        if (strcmp(trace->text, wanted) != 0 || parser->refusal != refusal) {
            fail_msg(
                "pieces of %zu of '%.300s': '%.300s' with refusal %d, expected '%.300s' with %d",
                piece, (const char *)request.data, trace->text, (int)parser->refusal, wanted,
                (int)refusal);
        }
    }
    free(trace);
    free(parser);
}

static void expect(const char *request, const char *wanted)
{
    expect_bytes(slice_text(request), wanted, HTTP1_NOT_REFUSED);
}

static void refuse(const char *request, const char *wanted, enum http1_refusal refusal)
{
    expect_bytes(slice_text(request), wanted, refusal);
}

static void test_requests_are_read(void **state)
{
    (void)state;
    expect(GET "\r\n", SEEN_GET ".!");
    expect("\r\n" GET "\r\n", SEEN_GET ".!");
    expect("GET /a?b=%7B%7D&c HTTP/1.1\r\nhOST:  a.b:80 \r\nX-Y:\r\nz: \t1 2\t \r\n\r\n",
           "GET /a?b=%7B%7D&c;host=a.b:80;x-y=;z=1 2;.!");
    expect("OPTIONS * HTTP/1.1\r\nHost: [::1]:7443\r\n\r\n", "OPTIONS *;host=[::1]:7443;.!");
    expect(GET "x: \xc3\xa9\r\n\r\n", SEEN_GET "x=\xc3\xa9;.!");
    expect(POST "Content-Length: 3\r\n\r\nabc", SEEN_POST ".[abc]!");
    expect(POST "Content-Length: 0\r\n\r\n", SEEN_POST ".!");
    expect(POST "Content-Length: 003\r\n\r\nabc", SEEN_POST ".[abc]!");
    expect(POST
           "Connection: keep-alive, Close\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\nx",
           SEEN_POST "close.100.[x]!");
    expect(POST "Connection: closed\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n",
           SEEN_POST "upgrade=h2c;http2-settings=AA;.!");
}

static void test_chunks_are_read(void **state)
{
    (void)state;
    expect(CHUNKED "3\r\nabc\r\n1;x=y\r\nd\r\n0\r\n\r\n", SEEN_POST ".[abcd]!");
    expect(CHUNKED "0\r\n\r\n", SEEN_POST ".!");
    expect(CHUNKED "A\r\n0123456789\r\n000\r\nx-check: 1\r\n\r\n", SEEN_POST ".[0123456789]!");
    expect(POST "transfer-encoding: Chunked\r\n\r\n0a\r\n0\r\n\r\n0\r\n00\r\n0\r\n\r\n",
           SEEN_POST ".[0\r\n\r\n0\r\n00]!");
}

static void test_requests_follow_each_other(void **state)
{
    (void)state;
    expect(GET "\r\n" POST "Content-Length: 2\r\n\r\nhi" CHUNKED "1\r\nx\r\n0\r\n\r\n" GET "\r\n",
           SEEN_GET ".!" SEEN_POST ".[hi]!" SEEN_POST ".[x]!" SEEN_GET ".!");
    /* Nothing of a request is kept for the next one. */
    expect(POST "Connection: close\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\nx" GET
                "\r\n",
           SEEN_POST "close.100.[x]!" SEEN_GET ".!");
    refuse(GET "\r\nGET / HTTP/1.1\r\n\r\n", SEEN_GET ".!GET /;400", HTTP1_REFUSAL_HOST);
}

static void test_unfinished_requests_wait(void **state)
{
    (void)state;
    expect("GET /a HTTP/1.1\r\nHost: a", "GET /a;");
    expect(POST "Content-Length: 5\r\n\r\nabc", SEEN_POST ".[abc]");
    expect(CHUNKED "5\r\nabc", SEEN_POST ".[abc]");
    expect(CHUNKED "3\r\nabc\r\n0\r\nx: 1\r\n", SEEN_POST ".[abc]");
}

static void test_malformed_request_lines_are_refused(void **state)
{
    (void)state;
    refuse("GET  /a HTTP/1.1\r\n", "400", HTTP1_REFUSAL_LINE_FORM);
    refuse("GET /a  HTTP/1.1\r\n", "400", HTTP1_REFUSAL_LINE_FORM);
    refuse("GET\t/a\tHTTP/1.1\r\n", "400", HTTP1_REFUSAL_LINE_FORM);
    refuse("GET /a HTTP/1.1 \r\n", "400", HTTP1_REFUSAL_LINE_FORM);
    refuse("GET /a\r\n", "400", HTTP1_REFUSAL_LINE_FORM);
    refuse("GET /a http/1.1\r\n", "400", HTTP1_REFUSAL_LINE_FORM);
    refuse("GET /a HTTP/1.1x\r\n", "400", HTTP1_REFUSAL_LINE_FORM);
    refuse("\r\n\r\n" GET "\r\n", "400", HTTP1_REFUSAL_LINE_FORM);
    refuse(" GET /a HTTP/1.1\r\n", "400", HTTP1_REFUSAL_LINE_FORM);
    refuse(" /a HTTP/1.1\r\n", "400", HTTP1_REFUSAL_METHOD);
    refuse("G@T /a HTTP/1.1\r\n", "400", HTTP1_REFUSAL_METHOD);
    refuse("ABCDEFGHIJKLMNOPQ /a HTTP/1.1\r\n", "400", HTTP1_REFUSAL_METHOD);
    refuse("GET a HTTP/1.1\r\n", "400", HTTP1_REFUSAL_TARGET);
    refuse("GET * HTTP/1.1\r\n", "400", HTTP1_REFUSAL_TARGET);
    refuse("GET http://a/ HTTP/1.1\r\n", "400", HTTP1_REFUSAL_TARGET);
    refuse("CONNECT a:80 HTTP/1.1\r\n", "400", HTTP1_REFUSAL_TARGET);
    refuse("GET /a#b HTTP/1.1\r\n", "400", HTTP1_REFUSAL_TARGET);
    refuse("GET /\xc3\xa9 HTTP/1.1\r\n", "400", HTTP1_REFUSAL_TARGET);
    refuse("GET /{} HTTP/1.1\r\n", "400", HTTP1_REFUSAL_TARGET);
    refuse("GET /a HTTP/1.0\r\n", "505", HTTP1_REFUSAL_VERSION);
    refuse("GET /a HTTP/9.9\r\n", "505", HTTP1_REFUSAL_VERSION);
    refuse("PRI * HTTP/2.0\r\n", "505", HTTP1_REFUSAL_VERSION);
    refuse("\x16\x03\x01\x02", "400", HTTP1_REFUSAL_CONTROL); /* TLS */
}

static void test_malformed_lines_are_refused(void **state)
{
    (void)state;
    refuse("GET /a HTTP/1.1\nHost: a\n\n", "400", HTTP1_REFUSAL_BARE_LF);
    refuse("GET /a HTTP/1.1\rHost: a\r\n", "400", HTTP1_REFUSAL_BARE_CR);
    refuse("GET /a HTTP/1.1\r\r\n", "400", HTTP1_REFUSAL_BARE_CR);
    refuse(GET "x: a\nb: c\r\n\r\n", SEEN_GET "400", HTTP1_REFUSAL_BARE_LF);
    refuse(GET "x: a\rb: c\r\n\r\n", SEEN_GET "400", HTTP1_REFUSAL_BARE_CR);
    refuse(GET "x: a\x01\r\n\r\n", SEEN_GET "400", HTTP1_REFUSAL_CONTROL);
    refuse(GET "x: a\x7f\r\n\r\n", SEEN_GET "400", HTTP1_REFUSAL_CONTROL);
    refuse(GET "\n", SEEN_GET "400", HTTP1_REFUSAL_BARE_LF);
    expect_bytes(SLICE(GET "x: a\0b\r\n\r\n"), SEEN_GET "400", HTTP1_REFUSAL_CONTROL);
    expect_bytes(SLICE("GET /\0 HTTP/1.1\r\n"), "400", HTTP1_REFUSAL_CONTROL);
}

static void test_malformed_fields_are_refused(void **state)
{
    (void)state;
    refuse(GET "x : 1\r\n\r\n", SEEN_GET "400", HTTP1_REFUSAL_FIELD_FORM);
    refuse(GET "X A: b\r\n\r\n", SEEN_GET "400", HTTP1_REFUSAL_FIELD_FORM);
    refuse(GET "x\r\n\r\n", SEEN_GET "400", HTTP1_REFUSAL_FIELD_FORM);
    refuse(GET ": 1\r\n\r\n", SEEN_GET "400", HTTP1_REFUSAL_FIELD_FORM);
    refuse(GET "x\x80: 1\r\n\r\n", SEEN_GET "400", HTTP1_REFUSAL_FIELD_FORM);
    refuse(GET "x(y): 1\r\n\r\n", SEEN_GET "400", HTTP1_REFUSAL_FIELD_FORM);
    refuse(POST "Content-Length : 3\r\n\r\n", SEEN_POST "400", HTTP1_REFUSAL_FIELD_FORM);
    refuse(GET "x: 1\r\n folded\r\n\r\n", SEEN_GET "x=1;400", HTTP1_REFUSAL_FOLDED);
    refuse(GET "x: 1\r\n\tfolded\r\n\r\n", SEEN_GET "x=1;400", HTTP1_REFUSAL_FOLDED);
    refuse("GET /a HTTP/1.1\r\n Host: a\r\n\r\n", "GET /a;400", HTTP1_REFUSAL_FOLDED);
    refuse("GET /a HTTP/1.1\r\n\r\n", "GET /a;400", HTTP1_REFUSAL_HOST);
    refuse(GET HOST "\r\n", SEEN_GET "400", HTTP1_REFUSAL_HOST);
    refuse("GET /a HTTP/1.1\r\nHost:\r\n\r\n", "GET /a;400", HTTP1_REFUSAL_HOST);
    refuse("GET /a HTTP/1.1\r\nHost: a, b\r\n\r\n", "GET /a;400", HTTP1_REFUSAL_HOST);
    refuse("GET /a HTTP/1.1\r\nHost: a/b\r\n\r\n", "GET /a;400", HTTP1_REFUSAL_HOST);
    refuse("GET /a HTTP/1.1\r\nHost: a@b\r\n\r\n", "GET /a;400", HTTP1_REFUSAL_HOST);
    refuse(POST "Expect: 200-ok\r\n\r\n", SEEN_POST "417", HTTP1_REFUSAL_EXPECTATION);
}

static void test_ambiguous_bodies_are_refused(void **state)
{
    static const char *const lengths[] = {
        "+3", "-3", "0x3", "3,3", "3, 3", "3 3", "", "3.0", "3e0", "1234567890123456789",
    };
    static const char *const codings[] = {
        "gzip", "chunked, chunked", "gzip, chunked", "identity", "xchunked",
        "",     "chunked;q=1",      "\"chunked\"",   "chunked,", "chunked\x0b",
    };
    char request[256] = "";

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        (void)snprintf(request, sizeof(request), POST "Content-Length: %s\r\n\r\nabc", lengths[i]);
        refuse(request, SEEN_POST "400", HTTP1_REFUSAL_LENGTH);
    }
    for (size_t i = 0; i + 1 < sizeof(codings) / sizeof(codings[0]); i++) {
        (void)snprintf(request, sizeof(request), POST "Transfer-Encoding: %s\r\n\r\n", codings[i]);
        refuse(request, SEEN_POST "501", HTTP1_REFUSAL_CODING);
    }
    refuse(POST "Transfer-Encoding: chunked\x0b\r\n\r\n", SEEN_POST "400", HTTP1_REFUSAL_CONTROL);
    refuse(POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", SEEN_POST "400",
           HTTP1_REFUSAL_LENGTH);
    refuse(POST "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", SEEN_POST "400",
           HTTP1_REFUSAL_LENGTH);
    refuse(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", SEEN_POST "501",
           HTTP1_REFUSAL_CODING);
    refuse(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n",
           SEEN_POST "501", HTTP1_REFUSAL_CODING);
    refuse(POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", SEEN_POST "400",
           HTTP1_REFUSAL_LENGTH_AND_CODING);
    refuse(POST "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n", SEEN_POST "400",
           HTTP1_REFUSAL_LENGTH_AND_CODING);
}

static void test_malformed_chunks_are_refused(void **state)
{
    static const char *const sizes[] = {"",   "g",    "0x1", "+1",        "-1",        " 1",
                                        "1 ", "1 ;x", "1x",  "123456789", "000000001", ";x"};
    char request[256] = "";

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        (void)snprintf(request, sizeof(request), CHUNKED "%s\r\na\r\n0\r\n\r\n", sizes[i]);
        refuse(request, SEEN_POST ".400", HTTP1_REFUSAL_CHUNK_SIZE);
    }
    refuse(CHUNKED "3\r\nabcd\r\n", SEEN_POST ".[abc]400", HTTP1_REFUSAL_CHUNK_END);
    refuse(CHUNKED "3\r\nabc\n0\r\n\r\n", SEEN_POST ".[abc]400", HTTP1_REFUSAL_BARE_LF);
    refuse(CHUNKED "3\r\nabc\rx\n0\r\n\r\n", SEEN_POST ".[abc]400", HTTP1_REFUSAL_BARE_CR);
    refuse(CHUNKED "3\nabc\r\n0\r\n\r\n", SEEN_POST ".400", HTTP1_REFUSAL_BARE_LF);
    refuse(CHUNKED "1;x\nabc\r\n0\r\n\r\n", SEEN_POST ".400", HTTP1_REFUSAL_BARE_LF);
    refuse(CHUNKED "1;x\x01\r\na\r\n0\r\n\r\n", SEEN_POST ".400", HTTP1_REFUSAL_CONTROL);
    refuse(CHUNKED "0\r\nContent-Length: 3\r\n\r\n", SEEN_POST ".400", HTTP1_REFUSAL_TRAILER);
    refuse(CHUNKED "0\r\ntransfer-encoding: chunked\r\n\r\n", SEEN_POST ".400",
           HTTP1_REFUSAL_TRAILER);
    refuse(CHUNKED "0\r\nHost: b\r\n\r\n", SEEN_POST ".400", HTTP1_REFUSAL_TRAILER);
    refuse(CHUNKED "0\r\nx y\r\n\r\n", SEEN_POST ".400", HTTP1_REFUSAL_FIELD_FORM);
    refuse(CHUNKED "0\r\n folded\r\n\r\n", SEEN_POST ".400", HTTP1_REFUSAL_FOLDED);
}

/* Builds START, `count` times FILL, END. */
static char *build(const char *start, const char *fill, size_t count, const char *end)
{
    size_t fill_bytes = strlen(fill);
    char *text = malloc(strlen(start) + count * fill_bytes + strlen(end) + 1);
    char *at = text;

    assert_non_null(text);
    memcpy(at, start, strlen(start));
    at += strlen(start);
    for (size_t i = 0; i < count; i++) {
        memcpy(at, fill, fill_bytes);
        at += fill_bytes;
    }
    memcpy(at, end, strlen(end) + 1);
    return text;
}

static void refuse_built(char *take_request, enum http1_refusal refusal, const char *seen)
{
    refuse(take_request, seen, refusal);
    free(take_request);
}

static void expect_built(char *take_request, char *take_wanted)
{
    expect(take_request, take_wanted);
    free(take_request);
    free(take_wanted);
}

static void test_limits_are_exact(void **state)
{
    /* The method, two spaces, the version and a path of one byte have 14 bytes. */
    size_t path = HTTP1_LINE_BYTES_MAX - 14;
    /* The name, a colon and a space are 3 bytes. */
    size_t value = HTTP1_LINE_BYTES_MAX - 3;

    (void)state;
    expect_built(build("GET /", "a", path, " HTTP/1.1\r\n" HOST "\r\n"),
                 build("GET /", "a", path, ";host=a;.!"));
    refuse_built(build("GET /", "a", path + 1, " HTTP/1.1\r\n"), HTTP1_REFUSAL_LINE_TOO_LONG,
                 "414");
    expect_built(build(GET "x: ", "a", value, "\r\n\r\n"), build(SEEN_GET "x=", "a", value, ";.!"));
    refuse_built(build(GET "x: ", "a", value + 1, "\r\n\r\n"), HTTP1_REFUSAL_FIELDS_TOO_LARGE,
                 SEEN_GET "431");
    expect_built(build(GET, "x: 1\r\n", HTTP1_FIELDS_MAX - 1, "\r\n"),
                 build(SEEN_GET, "x=1;", HTTP1_FIELDS_MAX - 1, ".!"));
    {
        char *seen = build(SEEN_GET, "x=1;", HTTP1_FIELDS_MAX - 1, "431");

        refuse_built(build(GET, "x: 1\r\n", HTTP1_FIELDS_MAX, "\r\n"),
                     HTTP1_REFUSAL_FIELDS_TOO_LARGE, seen);
        free(seen);
    }
    refuse_built(build(CHUNKED "1;", "x", HTTP1_CHUNK_LINE_BYTES_MAX - 1, "\r\n"),
                 HTTP1_REFUSAL_CHUNK_LINE, SEEN_POST ".400");
    expect_built(build(CHUNKED "1;", "x", HTTP1_CHUNK_LINE_BYTES_MAX - 2, "\r\na\r\n0\r\n\r\n"),
                 build(SEEN_POST ".[a]!", "", 0, ""));
    refuse_built(build(CHUNKED "0\r\n", "x: 1\r\n", HTTP1_FIELDS_MAX, "\r\n"),
                 HTTP1_REFUSAL_FIELDS_TOO_LARGE, SEEN_POST ".431");
}

static void test_all_fields_have_one_limit(void **state)
{
    /* `Host: a`, and then fields of 1,024 bytes: 15 fit, of the 16th all but the last 7 bytes. */
    char field[1027] = "x: ";
    char *seen = NULL;
    char *request = NULL;

    (void)state;
    memset(field + 3, 'a', 1021);
    memcpy(field + 1024, "\r\n", 3);
    request = build(GET, field, 16, "\r\n");
    field[1] = '=';
    memmove(field + 2, field + 3, 1021);
    memcpy(field + 1023, ";", 2);
    seen = build(SEEN_GET, field, 15, "431");
    refuse(request, seen, HTTP1_REFUSAL_FIELDS_TOO_LARGE);
    free(seen);
    free(request);
}

static void test_tiny_chunks_are_bounded(void **state)
{
    char extension[200] = "1;";
    char *start = NULL;
    char *request = NULL;

    (void)state;
    /* Many chunks of one byte are fine: each pays for its line. */
    expect_built(build(CHUNKED, "1\r\na\r\n", 20000, "0\r\n\r\n"),
                 build(SEEN_POST ".[", "a", 20000, "]!"));
    memset(extension + 2, 'x', 190);
    memcpy(extension + 192, "\r\na\r\n", 6);
    start = build(CHUNKED, extension, 200, "");
    request = build(start, "", 0, "0\r\n\r\n");
    /* A line of 192 bytes costs 174 more than its chunk pays: the 95th is refused. */
    {
        char *seen = build(SEEN_POST ".[", "a", 94, "]400");

        refuse(request, seen, HTTP1_REFUSAL_CHUNK_OVERHEAD);
        free(seen);
    }
    free(request);
    free(start);
}

static void test_refusals_have_texts(void **state)
{
    (void)state;
    for (int refusal = HTTP1_REFUSAL_LINE_TOO_LONG; refusal <= HTTP1_REFUSAL_TRAILER; refusal++) {
        unsigned status = http1_refusal_status((enum http1_refusal)refusal);
        struct slice text = http1_refusal_text((enum http1_refusal)refusal);

        assert_in_range(status, 400, 505);
        assert_non_null(strstr((const char *)text.data, "; expected "));
    }
}

/* The time for a head runs while a part of it was received. */
static void test_parser_reports_whether_it_is_in_a_head(void **state)
{
    static const char request[] = POST "Content-Length: 1\r\n\r\nx";
    struct http1_parser *parser = malloc(sizeof(*parser));
    struct trace *trace = calloc(1, sizeof(*trace));
    size_t head = sizeof(request) - 2;

    (void)state;
    assert_non_null(parser);
    assert_non_null(trace);
    http1_parser_init(parser);
    assert_false(http1_parser_in_head(parser));
    for (size_t i = 0; i < sizeof(request) - 1; i++) {
        assert_true(feed(parser, slice_of(request + i, 1), trace));
        assert_int_equal(http1_parser_in_head(parser), i + 1 < head);
    }
    assert_false(http1_parser_in_head(parser));
    free(trace);
    free(parser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_are_read),
        cmocka_unit_test(test_chunks_are_read),
        cmocka_unit_test(test_requests_follow_each_other),
        cmocka_unit_test(test_unfinished_requests_wait),
        cmocka_unit_test(test_malformed_request_lines_are_refused),
        cmocka_unit_test(test_malformed_lines_are_refused),
        cmocka_unit_test(test_malformed_fields_are_refused),
        cmocka_unit_test(test_ambiguous_bodies_are_refused),
        cmocka_unit_test(test_malformed_chunks_are_refused),
        cmocka_unit_test(test_limits_are_exact),
        cmocka_unit_test(test_all_fields_have_one_limit),
        cmocka_unit_test(test_tiny_chunks_are_bounded),
        cmocka_unit_test(test_refusals_have_texts),
        cmocka_unit_test(test_parser_reports_whether_it_is_in_a_head),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
