/*
 * check_internal.h: declarations shared by the walk of check.c and the rules of check_rules.c. A
 * frame is one open message; frames are on an explicit stack.
 */
#ifndef ERRATA_SERVER_CODEC_CHECK_INTERNAL_H
#define ERRATA_SERVER_CODEC_CHECK_INTERNAL_H

#include "server/codec/check.h"
#include "server/codec/scalar.h"

/* Words for the fields of open messages; more are allocated from the arena. */
#define CHECK_SEEN_WORDS 256

/* State of a field of an open message; repeated fields count their elements instead. */
enum seen {
    SEEN_NOTHING = 0,
    SEEN_EMPTY = 1, /* present on the wire, with the default value */
    SEEN_VALUE = 2
};

struct frame {
    const struct message_info *message;
    const struct field_info *field; /* field of the parent message; NULL for the request itself */
    struct wire_reader reader;
    uint32_t *seen; /* an enum seen, or the number of elements, for each field */
    size_t seen_before; /* number of used words before this frame */
    uint32_t index; /* index of this message in its repeated field */
    uint32_t likely; /* index of the field that is likely to follow */
    bool no_rules; /* inside a refused message: only the encoding is checked */
    int64_t seconds; /* seconds of a Timestamp */
    int64_t nanos;
};

struct checker {
    struct ctx *ctx;
    uint32_t elements; /* number of fields and elements so far */
    size_t depth;
    size_t seen_used; /* used words of seen_room */
    bool in_pieces; /* a second piece of a message was found */
    bool is_write; /* the request is of a write: present ids are not empty */
    bool is_stored; /* only the rules of check_stored_message apply */
    struct arena scratch; /* memory for one JSON text at a time */
    struct frame frames[CHECK_DEPTH_MAX];
    uint32_t seen_room[CHECK_SEEN_WORDS];
};

/* A value on the wire, for the rules. */
struct checked_value {
    const struct field_info *field;
    uint32_t index; /* index in the repeated field; 0 for other fields */
    uint64_t raw; /* value of a scalar */
    struct slice bytes; /* bytes of a string or bytes field */
};

/* Returns ERR_TOO_LARGE with its message: more than CHECK_ELEMENTS_MAX fields. */
MUST_CHECK enum err check_too_many(struct ctx *ctx);
/* Returns the path of a field of the innermost open message, with its index if it is repeated.
 * Freed with the arena. */
struct slice check_path(struct checker *checker, const struct field_info *field, uint32_t index);
/* Returns the path of the innermost open message. */
struct slice check_frame_path(struct checker *checker);

/* Checks encoding and rules of a string or bytes value. ERR_MEMORY if a JSON text needs more room
 * than there is. */
MUST_CHECK enum err check_text(struct checker *checker, const struct checked_value *value);
void check_scalar(struct checker *checker, const struct checked_value *value);
/* Checks the rules of a complete message: missing fields, too many elements, times. */
void check_message_end(struct checker *checker);

#endif
