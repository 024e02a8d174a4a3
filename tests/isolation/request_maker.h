/*
 * request_maker.h: requests of any method, made from the contract's tables: valid as far as the rules
 * of fields can say, with texts and ids of a pool. A method that is added later is asked with them
 * unasked. Knows no server.
 */
#ifndef ERRATA_TESTS_ISOLATION_REQUEST_MAKER_H
#define ERRATA_TESTS_ISOLATION_REQUEST_MAKER_H

#include "server/codec/contract.h"
#include "store/base/buffer.h"
#include "store/base/random.h"

#define POOL_TEXTS_MAX 24
#define POOL_TEXTS_KEPT 4 /* the first ones stay */

/* Texts of one format, the newest instead of an older one once there is no room. They are borrowed. */
struct pool {
    struct slice texts[POOL_TEXTS_MAX];
    size_t count; /* number of texts added so far */
};

/* Known values of an organisation: those in its replies. */
struct pools {
    struct pool names; /* all names given by callers */
    struct pool uuids;
    struct pool mapping_ids; /* UUIDs of mappings */
    struct pool family_ids; /* UUIDs of layout families */
    struct pool rule_ids; /* UUIDs of learned rules */
    struct pool dead_letter_ids; /* UUIDs of dead letters */
    struct pool key_ids;
    struct pool page_tokens;
    struct pool references; /* references of exposures */
};

void pool_put(struct pool *pool, struct slice text);
bool pool_has(const struct pool *pool, struct slice text);
size_t pool_size(const struct pool *pool);
/* The pool that a field is filled from; NULL for JSON and for fields that are not text. */
struct pool *pools_of(struct pools *pools, const struct field_info *field);
/* Returns whether the field is the id of a mapping, in a request or a response. */
bool is_mapping_id(const struct field_info *field);
/* Returns whether the field is the id of a learned rule. */
bool is_rule_id(const struct field_info *field);
/* Returns whether the field is the id of a dead letter. */
bool is_dead_letter_id(const struct field_info *field);
/* Returns whether the field is the id of a layout family. */
bool is_family_id(const struct field_info *field);

struct request_maker {
    struct arena *arena; /* memory of the requests */
    struct random_seeded random;
    struct pools *pools;
    const char *keys[2]; /* idempotency keys */
    int64_t now_us;
    /* Use other texts of the same length instead of those of the pools. */
    bool strange;
    /* If not NULL, this field is present with this value, and optional fields not needed for it are
     * absent. */
    const struct field_info *target;
    struct slice target_text;
    uint64_t target_number;
    unsigned probes; /* number of documents with a new id */
};

/* Draws a number from 0 to `count` - 1. */
uint64_t maker_draw(struct request_maker *maker, uint64_t count);
/* Returns another text of the same length and form; the same for equal texts. */
struct slice maker_strange(struct arena *arena, struct slice text);

/* Fields included in a message of a client stream. */
enum maker_part {
    MAKER_WHOLE,
    MAKER_FIRST, /* all except bytes, including optional ones */
    MAKER_BYTES /* only bytes */
};

/* The wire bytes of a message; die with the maker's arena. */
struct slice maker_make(struct request_maker *maker, const struct message_info *message,
                        enum maker_part part);

#endif
