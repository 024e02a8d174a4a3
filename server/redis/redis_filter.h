/*
 * redis_filter.h: bounds what a Redis server sends before hiredis' reader gets it, which keeps a whole text in memory, of
 * any announced size. A text above the limit is shortened to one byte more than that, its announced size changed, and the
 * rest of its bytes dropped as they arrive: the reader sees a valid reply, and its user a text that is too long. Lines
 * above their limits are errors, as is one that ends in an LF without a CR, since the reader would go on with it.
 * Incremental: bytes may be cut anywhere (RESP2, redis.io/docs/reference/protocol-spec).
 */
#ifndef ERRATA_SERVER_REDIS_REDIS_FILTER_H
#define ERRATA_SERVER_REDIS_REDIS_FILTER_H

#include "store/base/attributes.h"
#include "store/base/err.h"
#include "store/base/slice.h"

/* Limit of a text. */
#define REDIS_TEXT_BYTES_MAX (4u << 20)
/* Limit of a line with a number, and of one with a status or an error. */
#define REDIS_NUMBER_BYTES_MAX 32
#define REDIS_LINE_BYTES_MAX 4096

enum redis_filter_state {
    REDIS_FILTER_TYPE, /* the next byte is the type of a value */
    REDIS_FILTER_LINE, /* the rest of a line, which is passed on */
    REDIS_FILTER_SIZE, /* the line with a text's size, which is kept */
    REDIS_FILTER_TEXT, /* a text's bytes */
    REDIS_FILTER_REST, /* bytes of it beyond the limit */
    REDIS_FILTER_END /* the CRLF after it */
};

struct redis_filter {
    enum redis_filter_state state;
    size_t line_bytes; /* of the line so far, its type included */
    size_t line_max;
    uint8_t last; /* last byte of LINE so far */
    char line[REDIS_NUMBER_BYTES_MAX + 1]; /* of SIZE */
    uint64_t left; /* bytes of TEXT or END that follow */
    uint64_t rest; /* bytes of REST that follow */
};

/* A zeroed filter is at the start of a reply. Takes bytes off the front of `*input`, and returns the next bytes for the
 * reader, which are borrowed from it or from the filter until the next call; empty: there are none yet, and `*input` is
 * empty. ERR_MALFORMED for bytes that are not a reply. */
MUST_CHECK enum err redis_filter_next(struct redis_filter *filter, struct slice *input,
                                      struct slice *ret_bytes);

#endif
