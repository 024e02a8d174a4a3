/*
 * redis_reader.h: reads replies of a Redis server into an arena, by hiredis' reader, which gets what redis_filter.h passes on.
 * Each reply has a budget of bytes and values: what exceeds it is left out, and the values around it are marked as cut. So a
 * hostile or careless server costs time, and memory up to that budget, with a text or a line more in hiredis' buffer. No I/O.
 */
#ifndef ERRATA_SERVER_REDIS_REDIS_READER_H
#define ERRATA_SERVER_REDIS_REDIS_READER_H

#include "server/redis/redis_filter.h"
#include "store/base/arena.h"

/* Limits of the texts of a reply: four of the largest. */
#define REDIS_REPLY_BYTES_MAX (16u << 20)
/* Limit of the values of a reply: 64 entries of 500 fields. */
#define REDIS_REPLY_VALUES_MAX 65536
/* Deepest nesting; replies of streams have 5 levels. */
#define REDIS_DEPTH_MAX 6
/* Limit of the bytes of a reply as sent, with what is left out: Redis takes commands of 1 GiB, so that one entry always
 * fits. */
#define REDIS_REPLY_SENT_BYTES_MAX ((UINT64_C(1) << 30) + (1u << 20))

enum redis_kind {
    REDIS_NIL,
    REDIS_TEXT, /* a text, or a status */
    REDIS_ERROR,
    REDIS_INTEGER,
    REDIS_LIST
};

/* A value of a reply; in the reader's arena until the next reply begins. */
struct redis_value {
    enum redis_kind kind;
    bool is_cut; /* it, or a value in it, is incomplete */
    struct slice text;
    int64_t integer;
    struct redis_value **items; /* NULL where a value was left out */
    uint32_t count; /* values that the server sent */
    uint32_t capacity; /* of them, those that `items` has room for */
};

struct redis_reader;

MUST_CHECK enum err redis_reader_new(struct redis_reader **ret_reader);
/* Takes bytes off the front of `*input`, up to the end of a reply. OK with the reply, ERR_NOT_FOUND if more bytes are
 * needed, ERR_MALFORMED, ERR_TOO_LARGE if the server sent more than REDIS_REPLY_SENT_BYTES_MAX, or ERR_MEMORY; after these
 * three the reader is of no use. */
MUST_CHECK enum err redis_reader_feed(struct redis_reader *reader, struct slice *input,
                                      const struct redis_value **ret_reply);
/* NULL is allowed. */
void redis_reader_free(struct redis_reader *reader);

/* Returns an item of a list; NULL if it is missing or was left out. */
const struct redis_value *redis_item(const struct redis_value *list, size_t index);
bool redis_is_text(const struct redis_value *value);

#endif
