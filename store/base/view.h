/*
 * view.h: reads and writes protobuf messages as flat structs ("views"), by a table that is
 * generated for each message (<errata/v1/NAME.views.h>). A view allocates and owns nothing: its
 * texts, nested messages and lists are slices of the bytes that were read, or of the writer's.
 */
#ifndef ERRATA_STORE_BASE_VIEW_H
#define ERRATA_STORE_BASE_VIEW_H

#include "store/base/uuid.h"
#include "store/base/wire.h"

/*
 * | field in the .proto         | members of the view                                            |
 * |-----------------------------|----------------------------------------------------------------|
 * | number, bool                | the C type of that number                                      |
 * | enum                        | `enum x` of <errata/v1/NAME.fields.h>; only known values pass. |
 * |                             | `int32_t` if the values lack the prefix of their type, as      |
 * |                             | those of google.rpc.Code do; then any number passes            |
 * | string, bytes               | `struct slice`                                                 |
 * | bytes with `exact_bytes`    | an array of that size; all zeros are absent                    |
 * | string with FORMAT_UUID     | `struct uuid`; the nil UUID is absent                          |
 * | google.protobuf.Timestamp   | `int64_t NAME_us`, microseconds since 1970, and `bool has_NAME` |
 * | message                     | `struct slice` of its bytes, and `bool has_NAME`               |
 * | repeated, map               | `struct view_list`                                             |
 * | `optional`, or in a `oneof` | the same, and `bool has_NAME`                                  |
 *
 * A view is written in the order of the field numbers, and every number, text and list that is zero
 * or empty is left out unless its `has_NAME` is set (protobuf.dev/programming-guides/encoding, as
 * proto3 writers do). A view is read from bytes that were written so: fields out of order, a field
 * twice, a wrong wire type, an unknown enum value, two members of one oneof, or a missing field that
 * the contract marks `always_set` are ERR_CORRUPT. Fields of unknown numbers are skipped: a later
 * version wrote them. UTF-8 is checked where a request is (server/codec/check.h), not here.
 */

/* The elements of a repeated field. `run` is their encoding: for texts and messages the fields one
 * after another, each with its tag; for numbers the content of the one packed field. To write a
 * list, append texts and numbers to a buffer with the generated x_view_add_FIELD, messages with
 * y_view_put, and set `run`; `count` is set by reading and ignored by writing. */
struct view_list {
    struct slice run;
    uint32_t count;
};

enum view_kind {
    VIEW_UINT32,
    VIEW_INT32, /* int32 and enums */
    VIEW_UINT64,
    VIEW_INT64,
    VIEW_SINT64,
    VIEW_BOOL,
    VIEW_FIXED64, /* double, fixed64, sfixed64 */
    VIEW_TEXT, /* string or bytes */
    VIEW_ARRAY, /* bytes of one size */
    VIEW_UUID,
    VIEW_TIME,
    VIEW_MESSAGE
};

/* A member without a `has_` member. */
#define VIEW_ALWAYS UINT16_MAX

struct view_field {
    uint32_t number;
    uint8_t kind; /* enum view_kind; for a repeated field, of its elements */
    uint8_t oneof; /* number of the oneof, from 1; 0: not in a oneof */
    bool repeated;
    bool always_set;
    uint16_t size; /* of VIEW_ARRAY */
    uint16_t offset; /* offset of the member in the view */
    uint16_t has_offset; /* offset of the member's presence flag; or VIEW_ALWAYS */
    bool (*is_value)(
        int32_t number); /* for an enum: whether a number is a known value; else NULL */
};

struct view_type {
    const struct view_field *fields; /* fields in ascending order of their numbers */
    uint16_t count;
    uint16_t size; /* size of the view's struct */
};

/* Fields of an event's message below this number are facts, the others content (store/log.h). */
#define VIEW_CONTENT_FIELD_MIN 20

/* Reads a whole message; the view is zeroed first. ERR_CORRUPT: see above. The view's slices are
 * borrowed from `message`. */
MUST_CHECK enum err view_read(const struct view_type *type, struct slice message, void *ret_view);
/* Reads the fields with numbers from `first` to below `end` of a message that has none below
 * `first`, such as an event's facts or content; `ret_rest` is the unread rest. */
MUST_CHECK enum err view_read_range(const struct view_type *type, struct slice message,
                                    uint32_t first, uint32_t end, void *ret_view,
                                    struct slice *ret_rest);
/* Reads one message that is stored as two runs of fields: facts, then content. */
MUST_CHECK enum err view_read_parts(const struct view_type *type, struct slice facts,
                                    struct slice content, void *ret_view);

/* Returns the size of view_write's output. */
size_t view_bytes(const struct view_type *type, const void *view);
/* Appends the message's fields. */
void view_write(const struct view_type *type, const void *view, struct buffer *buffer);
/* Appends the fields with numbers from `first` to below `end`, such as an event's facts or
 * content. */
void view_write_range(const struct view_type *type, const void *view, uint32_t first, uint32_t end,
                      struct buffer *buffer);
/* Appends the message as field `number` of another. */
void view_put(const struct view_type *type, const void *view, uint32_t number,
              struct buffer *buffer);

/* Encodes the whole message in the arena, for a member that is a message; false if out of
 * memory. */
MUST_CHECK bool view_encode(const struct view_type *type, const void *view, struct arena *arena,
                            struct slice *ret_message);

/* Does the same as two runs in the arena: facts and content. */
MUST_CHECK bool view_encode_parts(const struct view_type *type, const void *view,
                                  struct arena *arena, struct slice *ret_facts,
                                  struct slice *ret_content);

/* Takes the next text or message off a list's `run`; false at its end. The list must come from a
 * view that was read. */
bool view_next(struct slice *run, struct slice *ret_element);
/* Takes the next number of a list of unsigned or signed integers, bools or enums. */
bool view_next_number(struct slice *run, uint64_t *ret_number);
/* Takes the next number of a list of fixed64 or sfixed64. */
bool view_next_fixed(struct slice *run, uint64_t *ret_number);

#endif
