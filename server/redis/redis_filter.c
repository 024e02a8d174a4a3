/*
 * redis_filter.c: see redis_filter.h.
 */
#include "server/redis/redis_filter.h"

#include <stdio.h>

/* Bytes of the CRLF that ends a line and a text. */
#define END_BYTES 2

/* Takes at most `max` bytes off the front of the input. */
static struct slice take(struct slice *input, uint64_t max)
{
    size_t size = input->size < max ? input->size : (size_t)max;
    struct slice taken = slice_of(input->data, size);

    *input = slice_after(*input, size);
    return taken;
}

static enum err read_type(struct redis_filter *filter, uint8_t type)
{
    filter->line_bytes = 0;
    switch (type) {
    case '$':
        filter->state = REDIS_FILTER_SIZE;
        return OK;
    case '+':
    case '-':
        filter->state = REDIS_FILTER_LINE;
        filter->line_max = REDIS_LINE_BYTES_MAX;
        return OK;
    case ':':
    case '*':
        filter->state = REDIS_FILTER_LINE;
        filter->line_max = REDIS_NUMBER_BYTES_MAX;
        return OK;
    default:
        return ERR_MALFORMED;
    }
}

/* Passes a line on, up to its CRLF, which is also where hiredis ends it; another LF is not part of a reply. */
static enum err pass_line(struct redis_filter *filter, struct slice *input, struct slice *ret_bytes)
{
    const uint8_t *end = memchr(input->data, '\n', input->size);
    size_t size = end != NULL ? (size_t)(end - input->data) + 1 : input->size;

    filter->line_bytes += size;
    if (filter->line_bytes > filter->line_max + END_BYTES) {
        return ERR_MALFORMED;
    }
    if (end != NULL) {
        if ((end > input->data ? end[-1] : filter->last) != '\r') {
            return ERR_MALFORMED;
        }
        filter->state = REDIS_FILTER_TYPE;
    }
    filter->last = input->data[size - 1];
    *ret_bytes = take(input, size);
    return OK;
}

/* Reads `$SIZE` of a kept line; false for another form. -1 is nil. */
static bool parse_size(const struct redis_filter *filter, int64_t *ret_size)
{
    int64_t size = 0;

    if (filter->line_bytes == 3 && memcmp(filter->line, "$-1", 3) == 0) {
        *ret_size = -1;
        return true;
    }
    for (size_t i = 1; i < filter->line_bytes; i++) {
        if (filter->line[i] < '0' || filter->line[i] > '9' || size > INT64_MAX / 100) {
            return false;
        }
        size = size * 10 + (filter->line[i] - '0');
    }
    *ret_size = size;
    return filter->line_bytes > 1;
}

/* Writes the line of a text's size again, with the limit, and goes on with the text. */
static enum err end_size(struct redis_filter *filter, struct slice *ret_bytes)
{
    int64_t size = 0;
    int written = 0;

    if (filter->line_bytes == 0 || filter->line[filter->line_bytes - 1] != '\r') {
        return ERR_MALFORMED;
    }
    filter->line_bytes--;
    if (!parse_size(filter, &size)) {
        return ERR_MALFORMED;
    }
    filter->state = size < 0 ? REDIS_FILTER_TYPE : REDIS_FILTER_TEXT;
    filter->left = size < 0 ? 0 : (uint64_t)size;
    filter->rest = 0;
    if (filter->left > REDIS_TEXT_BYTES_MAX + 1) {
        filter->rest = filter->left - (REDIS_TEXT_BYTES_MAX + 1);
        filter->left = REDIS_TEXT_BYTES_MAX + 1;
    }
    written = size < 0 ? snprintf(filter->line, sizeof(filter->line), "$-1\r\n")
                       : snprintf(filter->line, sizeof(filter->line), "$%llu\r\n",
                                  (unsigned long long)filter->left);
    *ret_bytes = slice_of(filter->line, (size_t)written);
    return OK;
}

/* Keeps a byte of a text's size. */
static enum err keep_size(struct redis_filter *filter, struct slice *input, struct slice *ret_bytes)
{
    uint8_t byte = take(input, 1).data[0];

    if (byte == '\n') {
        return end_size(filter, ret_bytes);
    }
    if (filter->line_bytes == REDIS_NUMBER_BYTES_MAX) {
        return ERR_MALFORMED;
    }
    filter->line[filter->line_bytes++] = (char)byte;
    return OK;
}

static void pass_text(struct redis_filter *filter, struct slice *input, struct slice *ret_bytes)
{
    *ret_bytes = take(input, filter->left);
    filter->left -= ret_bytes->size;
    if (filter->left == 0) {
        filter->state = filter->rest > 0 ? REDIS_FILTER_REST : REDIS_FILTER_END;
        filter->left = END_BYTES;
    }
}

static enum err step(struct redis_filter *filter, struct slice *input, struct slice *ret_bytes)
{
    switch (filter->state) {
    case REDIS_FILTER_TYPE: {
        enum err err = read_type(filter, input->data[0]);

        return err == OK && filter->state == REDIS_FILTER_LINE ? pass_line(filter, input, ret_bytes)
                                                               : err;
    }
    case REDIS_FILTER_LINE:
        return pass_line(filter, input, ret_bytes);
    case REDIS_FILTER_SIZE:
        return keep_size(filter, input, ret_bytes);
    case REDIS_FILTER_TEXT:
        pass_text(filter, input, ret_bytes);
        return OK;
    case REDIS_FILTER_REST:
        filter->rest -= take(input, filter->rest).size;
        filter->state = filter->rest > 0 ? REDIS_FILTER_REST : REDIS_FILTER_END;
        return OK;
    case REDIS_FILTER_END:
        *ret_bytes = take(input, filter->left);
        filter->left -= ret_bytes->size;
        filter->state = filter->left > 0 ? REDIS_FILTER_END : REDIS_FILTER_TYPE;
        return OK;
    }
    return ERR_MALFORMED;
}

enum err redis_filter_next(struct redis_filter *filter, struct slice *input,
                           struct slice *ret_bytes)
{
    enum err err = OK;

    *ret_bytes = slice_of(NULL, 0);
    while (err == OK && ret_bytes->size == 0 &&
           (input->size > 0 || (filter->state == REDIS_FILTER_TEXT && filter->left == 0))) {
        err = step(filter, input, ret_bytes);
    }
    return err;
}
