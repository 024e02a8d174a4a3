/*
 * check_internal.h: what the walk of check.c and the rules of check_rules.c share. A frame is one
 * message that is open; frames lie on an explicit stack.
 */
#ifndef ERRATA_SERVER_CODEC_CHECK_INTERNAL_H
#define ERRATA_SERVER_CODEC_CHECK_INTERNAL_H

#include "server/codec/check.h"
#include "server/codec/scalar.h"

/* Words for the fields of open messages; above it the arena takes over. */
#define CHECK_SEEN_WORDS 256

/* What is known of a field of an open message: repeated ones count their elements. */
enum seen {
    SEEN_NOTHING = 0,
    SEEN_EMPTY = 1, /* on the wire, with the default value */
    SEEN_VALUE = 2
};

struct frame {
    const struct message_info *message;
    const struct field_info *field; /* of the parent; NULL for the request itself */
    struct wire_reader reader;
    uint32_t *seen; /* for each field: enum seen, or the number of elements */
    size_t seen_before; /* words in use before this frame */
    uint32_t index; /* of this message in its repeated field */
    uint32_t likely; /* index of the field that probably comes next */
    bool no_rules; /* inside what is refused as a whole: only the encoding is checked */
    int64_t seconds; /* of a Timestamp */
    int64_t nanos;
};

struct checker {
    struct ctx *ctx;
    uint32_t elements; /* fields and elements so far */
    size_t depth;
    size_t seen_used; /* words of seen_room */
    struct arena scratch; /* for one JSON text at a time */
    struct frame frames[CHECK_DEPTH_MAX];
    uint32_t seen_room[CHECK_SEEN_WORDS];
};

/* One value on the wire, for the rules. */
struct checked_value {
    const struct field_info *field;
    uint32_t index; /* among the field's elements; 0 where it is not repeated */
    uint64_t raw; /* of scalars */
    struct slice bytes; /* of strings and bytes */
};

/* The path of a field of the innermost open message; its index too where it is repeated. Dies with
 * the arena. */
struct slice check_path(struct checker *checker, const struct field_info *field, uint32_t index);
/* The path of the innermost open message itself. */
struct slice check_frame_path(struct checker *checker);

/* Encoding and rules of a string or bytes value. ERR_MEMORY where a JSON text needs more room than
 * there is. */
MUST_CHECK enum err check_text(struct checker *checker, const struct checked_value *value);
void check_scalar(struct checker *checker, const struct checked_value *value);
/* The rules of a message that has ended: what is missing, what is too many, times. */
void check_message_end(struct checker *checker);

#endif
