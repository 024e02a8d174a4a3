/*
 * template.h: requests that differ only in some places. A template is proto JSON (or, for calls other
 * than gRPC, any text) with placeholders `${...}`; it becomes wire bytes once, and each request is a
 * copy of them with the places written again. So every place has a fixed width: numbers in texts are
 * padded with zeros, and numbers of their own to the longest varint of their range, which protobuf's
 * readers all take.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_TEMPLATE_H
#define ERRATA_TOOLS_BENCH_LOAD_TEMPLATE_H

#include "server/codec/contract.h"
#include "store/base/ctx.h"
#include "tools/bench/load/draw.h"

/* Maximum places of one template: each is found by reading the whole text once more. */
#define TEMPLATE_PLACES_MAX 512
/* Maximum width of a placeholder ${hex:N} or ${text:N}. */
#define TEMPLATE_WIDTH_MAX 32768
/* Maximum digits of the greatest number, 2^63. */
#define TEMPLATE_DIGITS_MAX 19
/* Digits of ${serial}: microseconds since 1970 have these many until 2286. */
#define TEMPLATE_SERIAL_DIGITS 16
/* Letters from which ${text:N} is taken. */
#define TEMPLATE_NOISE_BYTES 65536

/* gRPC's, before a message: a flag and a length. */
#define GRPC_PREFIX_BYTES 5

/* The values of ${layout}. */
struct template_keys {
    uint64_t layout_count;
    double skew; /* 0: uniform */
};

enum template_kind {
    TEMPLATE_UNIFORM,
    TEMPLATE_ZIPF,
    TEMPLATE_SERIAL,
    TEMPLATE_HEX,
    TEMPLATE_TEXT,
    TEMPLATE_UUID
};

enum template_form {
    TEMPLATE_DECIMAL,
    TEMPLATE_HEXADECIMAL,
    TEMPLATE_VARINT /* a separate number on the wire */
};

struct template_place {
    enum template_kind kind;
    enum template_form form; /* format of numbers */
    size_t at; /* offset in the request */
    size_t width;
    uint64_t from; /* the drawn number below count is added to this */
    uint64_t count;
    struct draw_zipf zipf;
};

struct template
{
    struct slice body; /* request body, with the prefix of gRPC calls; allocated in the arena */
    struct template_place *places;
    size_t place_count;
};

/* The random source and the serial number for requests, shared by the whole run, so that no serial
 * number is used twice. */
struct template_source {
    struct draw draw;
    uint64_t serial; /* the next serial number */
    uint8_t noise[TEMPLATE_NOISE_BYTES];
};

void template_source_init(struct template_source *source, uint64_t seed, uint64_t serial);

/* Compiles a text into the arena of `ctx`; `message` is the type of the JSON; NULL for a text that
 * is sent unchanged. ERR_INVALID with a sentence in the fault. */
MUST_CHECK enum err template_compile(struct ctx *ctx, const struct message_info *message,
                                     struct slice text, const struct template_keys *keys,
                                     struct template *ret_template);
/* Writes the next request, of the size of the template's body. */
void template_render(const struct template *template, struct template_source *source,
                     uint8_t *bytes);

#endif
