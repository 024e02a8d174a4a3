/*
 * http1_fields.c: parses header and trailer fields: their form (RFC 9110, 5), and those that decide
 * where the request ends (RFC 9112, 6), which must not be ambiguous.
 */
#include "server/http1/http1_internal.h"

/* A field that the parser itself interprets. */
struct http1_framing {
    struct slice name;
    void (*take)(struct http1_parser *parser, struct slice value);
    bool is_event; /* the field is also reported */
};

static struct slice http1_trim(struct slice text)
{
    while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text = slice_after(text, 1);
    }
    while (text.size > 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t')) {
        text.size--;
    }
    return text;
}

static void http1_take_host(struct http1_parser *parser, struct slice value)
{
    static const char allowed[] = "-._~:[]%!$&'()*+;=";

    if (parser->has_host || value.size == 0) {
        http1_refuse(parser, HTTP1_REFUSAL_HOST);
        return;
    }
    for (size_t i = 0; i < value.size; i++) {
        uint8_t byte = value.data[i];
        bool is_letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';

        if (!is_letter && !(byte >= '0' && byte <= '9') &&
            memchr(allowed, byte, sizeof(allowed) - 1) == NULL) {
            http1_refuse(parser, HTTP1_REFUSAL_HOST);
            return;
        }
    }
    parser->has_host = true;
}

static void http1_take_length(struct http1_parser *parser, struct slice value)
{
    uint64_t length = 0;

    if (parser->has_length || value.size == 0 || value.size > HTTP1_LENGTH_DIGITS_MAX) {
        http1_refuse(parser, HTTP1_REFUSAL_LENGTH);
        return;
    }
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] < '0' || value.data[i] > '9') {
            http1_refuse(parser, HTTP1_REFUSAL_LENGTH);
            return;
        }
        length = length * 10 + (uint64_t)(value.data[i] - '0');
    }
    parser->has_length = true;
    parser->length = length;
}

static void http1_take_coding(struct http1_parser *parser, struct slice value)
{
    if (parser->chunked || !http1_equals_lower(value, SLICE("chunked"))) {
        http1_refuse(parser, HTTP1_REFUSAL_CODING);
        return;
    }
    parser->chunked = true;
}

static void http1_take_connection(struct http1_parser *parser, struct slice value)
{
    while (value.size > 0) {
        const uint8_t *comma = memchr(value.data, ',', value.size);
        size_t size = comma != NULL ? (size_t)(comma - value.data) : value.size;

        if (http1_equals_lower(http1_trim(slice_of(value.data, size)), SLICE("close"))) {
            parser->closes = true;
        }
        value = slice_after(value, comma != NULL ? size + 1 : size);
    }
}

static void http1_take_expect(struct http1_parser *parser, struct slice value)
{
    if (!http1_equals_lower(value, SLICE("100-continue"))) {
        http1_refuse(parser, HTTP1_REFUSAL_EXPECTATION);
        return;
    }
    parser->expects_continue = true;
}

#define HTTP1_NAME(text)                                                                           \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }

static const struct http1_framing http1_framings[] = {
    {HTTP1_NAME("host"), http1_take_host, true},
    {HTTP1_NAME("content-length"), http1_take_length, false},
    {HTTP1_NAME("transfer-encoding"), http1_take_coding, false},
    {HTTP1_NAME("connection"), http1_take_connection, false},
    {HTTP1_NAME("expect"), http1_take_expect, false},
};

/* Splits the line; the name becomes lower case in place. False if the line is refused. */
static bool http1_split_field(struct http1_parser *parser, struct slice *ret_name,
                              struct slice *ret_value)
{
    struct slice line = slice_of(parser->line, parser->line_bytes);
    size_t size = 0;

    parser->fields_bytes += line.size;
    if (line.data[0] == ' ' || line.data[0] == '\t') {
        http1_refuse(parser, HTTP1_REFUSAL_FOLDED);
        return false;
    }
    parser->field_count++;
    if (parser->field_count > HTTP1_FIELDS_MAX) {
        http1_refuse(parser, HTTP1_REFUSAL_FIELDS_TOO_LARGE);
        return false;
    }
    while (size < line.size && http1_is_token_byte(line.data[size])) {
        if (line.data[size] >= 'A' && line.data[size] <= 'Z') {
            parser->line[size] |= 0x20;
        }
        size++;
    }
    if (size == 0 || size == line.size || line.data[size] != ':') {
        http1_refuse(parser, HTTP1_REFUSAL_FIELD_FORM);
        return false;
    }
    *ret_name = slice_of(line.data, size);
    *ret_value = http1_trim(slice_after(line, size + 1));
    return true;
}

bool http1_take_field(struct http1_parser *parser, struct http1_event *ret_event)
{
    struct slice name = {NULL, 0};
    struct slice value = {NULL, 0};

    if (!http1_split_field(parser, &name, &value)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(http1_framings) / sizeof(http1_framings[0]); i++) {
        if (slice_equal(name, http1_framings[i].name)) {
            http1_framings[i].take(parser, value);
            if (!http1_framings[i].is_event || parser->state == HTTP1_STATE_REFUSED) {
                return false;
            }
        }
    }
    *ret_event = (struct http1_event){HTTP1_FIELD, name, value};
    return true;
}

void http1_end_fields(struct http1_parser *parser)
{
    if (!parser->has_host) {
        http1_refuse(parser, HTTP1_REFUSAL_HOST);
    } else if (parser->has_length && parser->chunked) {
        http1_refuse(parser, HTTP1_REFUSAL_LENGTH_AND_CODING);
    } else {
        parser->state = HTTP1_STATE_BODY;
    }
}

void http1_take_trailer(struct http1_parser *parser)
{
    struct slice name = {NULL, 0};
    struct slice value = {NULL, 0};

    if (http1_split_field(parser, &name, &value) &&
        (slice_equal(name, SLICE("content-length")) ||
         slice_equal(name, SLICE("transfer-encoding")) || slice_equal(name, SLICE("host")))) {
        http1_refuse(parser, HTTP1_REFUSAL_TRAILER);
    }
}
