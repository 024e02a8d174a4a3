/*
 * http1_parser.c: lines of a request, and the request line. A line is read once it is complete with
 * its CRLF, so a request is read in the same way whole and byte by byte.
 */
#include "server/http1/http1_internal.h"
#include "store/base/assert.h"

struct http1_refusal_info {
    unsigned status;
    struct slice text;
};

static const struct http1_refusal_info http1_refusals[] = {
#define REFUSAL(name, code, words)                                                                 \
    [HTTP1_REFUSAL_##name] = {(code), {(const uint8_t *)(words), sizeof(words) - 1}},
#include "server/http1/http1_refusals.def"
#undef REFUSAL
};

unsigned http1_refusal_status(enum http1_refusal refusal)
{
    ASSERT(refusal != HTTP1_NOT_REFUSED);
    return http1_refusals[refusal].status;
}

struct slice http1_refusal_text(enum http1_refusal refusal)
{
    ASSERT(refusal != HTTP1_NOT_REFUSED);
    return http1_refusals[refusal].text;
}

void http1_refuse(struct http1_parser *parser, enum http1_refusal refusal)
{
    parser->state = HTTP1_STATE_REFUSED;
    parser->refusal = refusal;
}

bool http1_is_token_byte(uint8_t byte)
{
    bool is_letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
    bool is_digit = byte >= '0' && byte <= '9';

    return is_letter || is_digit ||
           (byte != '\0' && memchr("!#$%&'*+-.^_`|~", byte, sizeof("!#$%&'*+-.^_`|~") - 1) != NULL);
}

bool http1_equals_lower(struct slice text, struct slice lower)
{
    if (text.size != lower.size) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data[i];

        if (byte >= 'A' && byte <= 'Z') {
            byte |= 0x20;
        }
        if (byte != lower.data[i]) {
            return false;
        }
    }
    return true;
}

void http1_parser_init(struct http1_parser *parser)
{
    memset(parser, 0, offsetof(struct http1_parser, line));
}

bool http1_parser_in_head(const struct http1_parser *parser)
{
    return parser->state == HTTP1_STATE_FIELDS ||
           (parser->state == HTTP1_STATE_LINE &&
            (parser->line_bytes > 0 || parser->has_cr || parser->has_empty_line));
}

bool http1_parser_has_body(const struct http1_parser *parser)
{
    return parser->chunked || parser->length > 0;
}

/* Returns the limit of the current line, and the refusal above it. */
static size_t http1_line_max(const struct http1_parser *parser, enum http1_refusal *ret_refusal)
{
    switch (parser->state) {
    case HTTP1_STATE_LINE:
        *ret_refusal = HTTP1_REFUSAL_LINE_TOO_LONG;
        return HTTP1_LINE_BYTES_MAX;
    case HTTP1_STATE_CHUNK_LINE:
        *ret_refusal = HTTP1_REFUSAL_CHUNK_LINE;
        return HTTP1_CHUNK_LINE_BYTES_MAX;
    case HTTP1_STATE_CHUNK_END:
        *ret_refusal = HTTP1_REFUSAL_CHUNK_END;
        return 0;
    case HTTP1_STATE_FIELDS:
    case HTTP1_STATE_BODY:
    case HTTP1_STATE_BYTES:
    case HTTP1_STATE_CHUNK_BYTES:
    case HTTP1_STATE_TRAILERS:
    case HTTP1_STATE_END:
    case HTTP1_STATE_REFUSED:
        break;
    }
    *ret_refusal = HTTP1_REFUSAL_FIELDS_TOO_LARGE;
    return HTTP1_LINE_BYTES_MAX < HTTP1_FIELDS_BYTES_MAX - parser->fields_bytes
               ? HTTP1_LINE_BYTES_MAX
               : HTTP1_FIELDS_BYTES_MAX - parser->fields_bytes;
}

/* Returns why a byte cannot be part of a line. */
static enum http1_refusal http1_check_byte(uint8_t byte)
{
    if (byte == '\n') {
        return HTTP1_REFUSAL_BARE_LF;
    }
    return (byte < ' ' && byte != '\t') || byte == 0x7f ? HTTP1_REFUSAL_CONTROL : HTTP1_NOT_REFUSED;
}

/* Takes bytes of a line; sets `ret_whole` with its last one. */
static size_t http1_take_line(struct http1_parser *parser, struct slice bytes, bool *ret_whole)
{
    enum http1_refusal too_long = HTTP1_NOT_REFUSED;
    size_t max = http1_line_max(parser, &too_long);

    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t byte = bytes.data[i];
        enum http1_refusal refusal = http1_check_byte(byte);

        if (parser->has_cr && byte != '\n') {
            http1_refuse(parser, HTTP1_REFUSAL_BARE_CR);
            return i;
        }
        if (parser->has_cr) {
            parser->has_cr = false;
            *ret_whole = true;
            return i + 1;
        }
        if (byte == '\r') {
            parser->has_cr = true;
            continue;
        }
        if (refusal == HTTP1_NOT_REFUSED && parser->line_bytes == max) {
            refusal = too_long;
        }
        if (refusal != HTTP1_NOT_REFUSED) {
            http1_refuse(parser, refusal);
            return i;
        }
        parser->line[parser->line_bytes++] = byte;
    }
    return bytes.size;
}

/* Returns whether a target is a path (RFC 3986, 3.3 and 3.4), or `*`. */
static bool http1_is_target(struct slice method, struct slice target)
{
    static const char refused[] = "\"#<>\\^`{|}";

    if (slice_equal(target, SLICE("*"))) {
        return slice_equal(method, SLICE("OPTIONS"));
    }
    if (target.size == 0 || target.data[0] != '/') {
        return false;
    }
    for (size_t i = 0; i < target.size; i++) {
        if (target.data[i] <= ' ' || target.data[i] >= 0x7f ||
            memchr(refused, target.data[i], sizeof(refused) - 1) != NULL) {
            return false;
        }
    }
    return true;
}

static bool http1_is_method(struct slice method)
{
    if (method.size == 0 || method.size > HTTP1_METHOD_BYTES_MAX) {
        return false;
    }
    for (size_t i = 0; i < method.size; i++) {
        if (!http1_is_token_byte(method.data[i])) {
            return false;
        }
    }
    return true;
}

/* Returns why a version is refused: 505 for another version of HTTP. */
static enum http1_refusal http1_check_version(struct slice version)
{
    struct slice prefix = SLICE("HTTP/");

    if (slice_equal(version, SLICE("HTTP/1.1"))) {
        return HTTP1_NOT_REFUSED;
    }
    if (version.size == prefix.size + 3 && slice_starts_with(version, prefix) &&
        version.data[5] >= '0' && version.data[5] <= '9' && version.data[6] == '.' &&
        version.data[7] >= '0' && version.data[7] <= '9') {
        return HTTP1_REFUSAL_VERSION;
    }
    return HTTP1_REFUSAL_LINE_FORM;
}

/* Removes the text up to a space from the front of `rest`; false if there is no space. */
static bool http1_take_word(struct slice *rest, struct slice *ret_word)
{
    const uint8_t *space = rest->size > 0 ? memchr(rest->data, ' ', rest->size) : NULL;

    if (space == NULL) {
        return false;
    }
    *ret_word = slice_of(rest->data, (size_t)(space - rest->data));
    *rest = slice_after(*rest, ret_word->size + 1);
    return true;
}

/* Reads the request line; returns whether it is an event. An empty line before it is ignored
 * once (RFC 9112, 2.2). */
static bool http1_take_request_line(struct http1_parser *parser, struct http1_event *ret_event)
{
    struct slice rest = slice_of(parser->line, parser->line_bytes);
    enum http1_refusal refusal = HTTP1_NOT_REFUSED;

    if (rest.size == 0 && !parser->has_empty_line) {
        parser->has_empty_line = true;
        return false;
    }
    if (!http1_take_word(&rest, &ret_event->name) || !http1_take_word(&rest, &ret_event->value)) {
        http1_refuse(parser, HTTP1_REFUSAL_LINE_FORM);
        return false;
    }
    refusal = http1_check_version(rest);
    if (refusal != HTTP1_NOT_REFUSED) {
        http1_refuse(parser, refusal);
    } else if (!http1_is_method(ret_event->name)) {
        http1_refuse(parser, HTTP1_REFUSAL_METHOD);
    } else if (!http1_is_target(ret_event->name, ret_event->value)) {
        http1_refuse(parser, HTTP1_REFUSAL_TARGET);
    } else {
        parser->state = HTTP1_STATE_FIELDS;
        ret_event->kind = HTTP1_LINE;
        return true;
    }
    return false;
}

/* Handles a whole line; returns whether it is an event. */
static bool http1_end_line(struct http1_parser *parser, struct http1_event *ret_event)
{
    bool is_empty = parser->line_bytes == 0;

    switch (parser->state) {
    case HTTP1_STATE_LINE:
        return http1_take_request_line(parser, ret_event);
    case HTTP1_STATE_FIELDS:
        if (!is_empty) {
            return http1_take_field(parser, ret_event);
        }
        http1_end_fields(parser);
        ret_event->kind = HTTP1_HEAD_END;
        return parser->state == HTTP1_STATE_BODY;
    case HTTP1_STATE_CHUNK_LINE:
        http1_take_chunk_line(parser);
        return false;
    case HTTP1_STATE_CHUNK_END:
        parser->state = HTTP1_STATE_CHUNK_LINE;
        return false;
    case HTTP1_STATE_TRAILERS:
        if (is_empty) {
            parser->state = HTTP1_STATE_END;
        } else {
            http1_take_trailer(parser);
        }
        return false;
    case HTTP1_STATE_BODY:
    case HTTP1_STATE_BYTES:
    case HTTP1_STATE_CHUNK_BYTES:
    case HTTP1_STATE_END:
    case HTTP1_STATE_REFUSED:
        break;
    }
    return false;
}

/* Decides the state that follows the head. */
static void http1_begin_body(struct http1_parser *parser)
{
    parser->left = parser->length;
    if (parser->chunked) {
        parser->state = HTTP1_STATE_CHUNK_LINE;
    } else {
        parser->state = parser->length > 0 ? HTTP1_STATE_BYTES : HTTP1_STATE_END;
    }
}

/* Takes the next step; returns whether it is an event. */
static bool http1_step(struct http1_parser *parser, struct slice bytes, size_t *taken,
                       struct http1_event *ret_event)
{
    bool whole = false;
    bool is_event = false;

    switch (parser->state) {
    case HTTP1_STATE_BODY:
        http1_begin_body(parser);
        return false;
    case HTTP1_STATE_BYTES:
    case HTTP1_STATE_CHUNK_BYTES:
        *taken += http1_take_body(parser, bytes, ret_event);
        return ret_event->kind == HTTP1_BODY;
    case HTTP1_STATE_END:
        http1_parser_init(parser);
        ret_event->kind = HTTP1_END;
        return true;
    case HTTP1_STATE_REFUSED:
        *taken += bytes.size;
        ret_event->kind = HTTP1_REFUSED;
        return true;
    case HTTP1_STATE_LINE:
    case HTTP1_STATE_FIELDS:
    case HTTP1_STATE_CHUNK_LINE:
    case HTTP1_STATE_CHUNK_END:
    case HTTP1_STATE_TRAILERS:
        break;
    }
    *taken += http1_take_line(parser, bytes, &whole);
    if (whole) {
        is_event = http1_end_line(parser, ret_event);
        parser->line_bytes = 0;
    }
    return is_event;
}

/* Returns whether a step is possible without further bytes. */
static bool http1_is_due(const struct http1_parser *parser)
{
    return parser->state == HTTP1_STATE_BODY || parser->state == HTTP1_STATE_END ||
           parser->state == HTTP1_STATE_REFUSED;
}

size_t http1_parser_take(struct http1_parser *parser, struct slice bytes,
                         struct http1_event *ret_event)
{
    size_t taken = 0;

    *ret_event = (struct http1_event){.kind = HTTP1_MORE};
    while (taken < bytes.size || http1_is_due(parser)) {
        if (http1_step(parser, slice_after(bytes, taken), &taken, ret_event)) {
            return taken;
        }
    }
    *ret_event = (struct http1_event){.kind = HTTP1_MORE};
    return taken;
}
