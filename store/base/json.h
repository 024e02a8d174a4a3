/*
 * json.h: a strict pull reader and a writer for JSON text (RFC 8259). The reader builds no tree:
 * values are spans of the text, numbers stay as written. No duplicate keys, no lone surrogates, no
 * invalid UTF-8, no text after the value; the caller limits the depth. No recursion.
 */
#ifndef ERRATA_STORE_BASE_JSON_H
#define ERRATA_STORE_BASE_JSON_H

#include "store/base/buffer.h"
#include "store/base/err.h"

/* The deepest nesting of a `_json` field. */
#define JSON_FIELD_DEPTH_MAX 64
/* The deepest nesting that any reader accepts. */
#define JSON_DEPTH_MAX 100

enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

/* A value, as a span of the text. */
struct json_value {
    enum json_kind kind;
    struct slice text; /* as written, a string with its quotes; borrowed from the document */
};

/* Description of an error in a text, for the text's author. */
struct json_problem {
    const char *what; /* a phrase, such as "a key that is twice in its object" */
    size_t at; /* offset in bytes */
};

/* Options of a check. */
struct json_rules {
    unsigned depth_max; /* maximum nesting, at most JSON_DEPTH_MAX */
    bool allow_nan; /* accept NaN, Infinity and -Infinity as numbers, like Python */
};

/* Checks a whole document and returns its top value. ERR_INVALID with `ret_problem`, or ERR_MEMORY
 * (keys of open objects are kept in `arena` to find duplicates). All functions below require text
 * that passed. */
MUST_CHECK enum err json_check(struct arena *arena, struct slice document,
                               const struct json_rules *rules, struct json_value *ret_value,
                               struct json_problem *ret_problem);

/* Walks the members of a checked object, or the elements of a checked array. */
struct json_walk {
    struct slice rest;
    bool is_object;
};

struct json_walk json_walk_start(struct json_value container);
/* The next element; false at the end. `ret_key` is the raw key with its quotes, the empty slice in
 * an array. */
bool json_walk_next(struct json_walk *walk, struct slice *ret_key, struct json_value *ret_value);

/* Returns the content of a checked string (or key), unescaped, in the arena; borrowed from the text
 * if it has no escapes. `\u0000` yields a NUL byte. */
MUST_CHECK enum err json_string(struct arena *arena, struct slice quoted, struct slice *ret_text);
/* Reads a checked number that is an integer of at most 64 bits, in any notation (12, 1.2e1, 12.0);
 * 0 is not negative. */
bool json_integer(struct slice number, bool *ret_is_negative, uint64_t *ret_magnitude);
/* Returns the kind of value that starts with this byte, for reading a checked text from front to
 * end. */
enum json_kind json_kind_of(uint8_t first);
/* Returns the index after the value that starts at `at` of a checked text. */
size_t json_skip_value(struct slice text, size_t at);
/* Returns whether a raw key with its quotes equals `name`; both UTF-8. */
bool json_key_is(struct slice quoted, struct slice name);
/* Returns the member of a checked object with this name; false if there is none. */
bool json_member(struct json_value object, struct slice name, struct json_value *ret_value);
/* Compares two checked values as JSON: member order, white space, escapes and the notation of a
 * number (1, 1.0, 1e0) do not count. Works in the arena; ERR_MEMORY if it has no room. */
MUST_CHECK enum err json_equal(struct arena *arena, struct json_value a, struct json_value b,
                               bool *ret_equal);

/* Returns a hash of a checked value, mixed with `seed`: values that json_equal finds equal have the same. Not
 * cryptographic: two different values have the same hash with a probability of 2^-64, unless their
 * author chose them for that. */
uint64_t json_hash(struct json_value value, uint64_t seed);

/* Bytes that json_write_string needs beyond those of a text without escapes. A buffer with room for the texts it is given
 * and as much for each of them does not grow. */
#define JSON_STRING_ROOM_BYTES 26
/* Appends text as a JSON string with quotes: escapes `"`, `\`, and control characters; all else
 * stays UTF-8 (or, with `ascii`, becomes \uXXXX, lower-case, like Python's json.dumps). */
void json_write_string(struct buffer *buffer, struct slice text, bool ascii);
/* Appends a double as the shortest text that reads back, like Python's repr; NaN, Infinity and
 * -Infinity like its json.dumps (not valid JSON: for texts that allow them). */
void json_write_double(struct buffer *buffer, double value);
/* Does the same for a float: the shortest text that reads back as the same float. */
void json_write_float(struct buffer *buffer, float value);

#endif
