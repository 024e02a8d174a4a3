/*
 * json_hash.c: a hash of a value as JSON. Each scalar and each container contributes a hash of its path and
 * content; contributions are added, so that the order of members does not count.
 */
#include "store/base/json_internal.h"

#include "store/base/assert.h"

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* An open container. */
struct open {
    uint64_t path;
    uint64_t child; /* for an object: path of the next member */
    uint64_t index; /* for an array: index of the next element */
    bool is_object;
    bool wants_name; /* for an object: the next string is a member's name */
};

struct hashing {
    uint64_t sum;
    size_t depth;
    struct open open[JSON_DEPTH_MAX];
};

/* Mixes two numbers so that each bit of both changes about half of the result's (the finaliser of
 * MurmurHash3). */
static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b;

    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static uint64_t add_byte(uint64_t hash, uint8_t byte)
{
    return (hash ^ byte) * FNV_PRIME;
}

static uint64_t add_bytes(uint64_t hash, struct slice bytes)
{
    for (size_t i = 0; i < bytes.size; i++) {
        hash = add_byte(hash, bytes.data[i]);
    }
    return hash;
}

static uint64_t hash_string(struct slice quoted)
{
    struct slice rest = json_unquoted(quoted);
    uint64_t hash = FNV_BASIS;

    while (rest.size > 0) {
        uint8_t bytes[4];

        hash = add_bytes(hash, json_take_plain(&rest));
        if (rest.size > 0) {
            hash = add_bytes(hash, slice_of(bytes, json_decode_next(&rest, bytes)));
        }
    }
    return hash;
}

/* Hashes true, false, null, and numbers without regard to their notation. */
static uint64_t hash_word(struct slice text)
{
    uint8_t last = text.data[text.size - 1];
    struct slice bytes = text;
    uint64_t hash = FNV_BASIS;

    if (last >= '0' && last <= '9') {
        struct json_decimal decimal = json_decimal_of(text);

        if (!decimal.is_huge) {
            bytes = decimal.digits;
            hash = decimal.digits.size == 0
                       ? 0
                       : mix(decimal.is_negative ? 2 : 1, (uint64_t)decimal.exponent);
        }
    }
    for (size_t i = 0; i < bytes.size; i++) {
        hash = bytes.data[i] == '.' ? hash : add_byte(hash, bytes.data[i]);
    }
    return hash;
}

/* NOLINTBEGIN(clang-analyzer-core.*): the text is valid JSON, so what a comma or a name belongs to was opened, and set, before */

/* Returns the path of the value that is next. */
static uint64_t next_path(const struct hashing *hashing)
{
    const struct open *top = NULL;

    if (hashing->depth == 0) {
        return 1;
    }
    top = &hashing->open[hashing->depth - 1];
    return top->is_object ? top->child : mix(top->path, top->index);
}

static void open_container(struct hashing *hashing, uint8_t byte)
{
    uint64_t path = next_path(hashing);

    ASSERT(hashing->depth < JSON_DEPTH_MAX);
    hashing->sum += mix(path, byte);
    hashing->open[hashing->depth] =
        (struct open){.path = path, .is_object = byte == '{', .wants_name = byte == '{'};
    hashing->depth++;
}

/* Takes a string or a word: a member's name, or a value. */
static void take_scalar(struct hashing *hashing, struct slice text)
{
    bool is_string = text.data[0] == '"';
    struct open *top = hashing->depth > 0 ? &hashing->open[hashing->depth - 1] : NULL;

    if (top != NULL && top->wants_name) {
        top->child = mix(~top->path, hash_string(text));
        top->wants_name = false;
        return;
    }
    hashing->sum += mix(next_path(hashing), is_string ? ~hash_string(text) : hash_word(text));
}

/* Takes what begins at `at`; returns the index after it. */
static size_t take_token(struct hashing *hashing, struct slice text, size_t at)
{
    struct open *top = hashing->depth > 0 ? &hashing->open[hashing->depth - 1] : NULL;
    size_t end = at + 1;

    switch (text.data[at]) {
    case '{':
    case '[':
        open_container(hashing, text.data[at]);
        return end;
    case '}':
    case ']':
        hashing->depth--;
        return end;
    case ',':
        top->index++;
        top->wants_name = top->is_object;
        return end;
    case ':':
        return end;
    default:
        break;
    }
    if (json_is_space(text.data[at])) {
        return end;
    }
    end = json_skip_value(text, at);
    take_scalar(hashing, slice_of(text.data + at, end - at));
    return end;
}

/* NOLINTEND(clang-analyzer-core.*) */

uint64_t json_hash(struct json_value value, uint64_t seed)
{
    struct hashing hashing;
    size_t at = 0;

    hashing.sum = 0;
    hashing.depth = 0;
    while (at < value.text.size) {
        at = take_token(&hashing, value.text, at);
    }
    return mix(seed, hashing.sum);
}
