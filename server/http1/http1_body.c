/*
 * http1_body.c: parses the body of a request: a known number of bytes, or chunks (RFC 9112, 7.1).
 */
#include "server/http1/http1_internal.h"

size_t http1_take_body(struct http1_parser *parser, struct slice bytes,
                       struct http1_event *ret_event)
{
    size_t step = bytes.size < parser->left ? bytes.size : (size_t)parser->left;

    if (step == 0) {
        return 0;
    }
    parser->left -= step;
    if (parser->left == 0) {
        parser->state = parser->chunked ? HTTP1_STATE_CHUNK_END : HTTP1_STATE_END;
    }
    *ret_event = (struct http1_event){.kind = HTTP1_BODY, .value = slice_of(bytes.data, step)};
    return step;
}

/* Returns the value of a hexadecimal digit; -1 for another byte. */
static int http1_hex_value(uint8_t byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Reads the size; false unless the line is digits, possibly followed by extensions. */
static bool http1_read_chunk_size(struct slice line, uint64_t *ret_size)
{
    uint64_t size = 0;
    size_t digits = 0;

    while (digits < line.size && http1_hex_value(line.data[digits]) >= 0) {
        if (digits == HTTP1_CHUNK_DIGITS_MAX) {
            return false;
        }
        size = size << 4 | (uint64_t)http1_hex_value(line.data[digits]);
        digits++;
    }
    *ret_size = size;
    return digits > 0 && (digits == line.size || line.data[digits] == ';');
}

void http1_take_chunk_line(struct http1_parser *parser)
{
    uint64_t size = 0;

    if (!http1_read_chunk_size(slice_of(parser->line, parser->line_bytes), &size)) {
        http1_refuse(parser, HTTP1_REFUSAL_CHUNK_SIZE);
        return;
    }
    parser->overhead_bytes += (int64_t)parser->line_bytes - 16 - 2 * (int64_t)size;
    if (parser->overhead_bytes < 0) {
        parser->overhead_bytes = 0;
    }
    if (parser->overhead_bytes > HTTP1_CHUNK_OVERHEAD_BYTES_MAX) {
        http1_refuse(parser, HTTP1_REFUSAL_CHUNK_OVERHEAD);
        return;
    }
    parser->left = size;
    parser->state = size > 0 ? HTTP1_STATE_CHUNK_BYTES : HTTP1_STATE_TRAILERS;
}
