/*
 * template_internal.h: the shared part of the reader of placeholders and the compiler.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_TEMPLATE_INTERNAL_H
#define ERRATA_TOOLS_BENCH_LOAD_TEMPLATE_INTERNAL_H

#include "store/base/buffer.h"
#include "tools/bench/load/template.h"

/* A text cut at its placeholders: text, placeholder, text, ... Both lists are in the arena. */
struct template_parts {
    struct slice texts[TEMPLATE_PLACES_MAX + 1];
    struct slice written[TEMPLATE_PLACES_MAX]; /* text of each placeholder */
    struct template_place places[TEMPLATE_PLACES_MAX]; /* placeholders; `at` is not set yet */
    size_t count; /* number of placeholders */
};

/* Cuts a text; its pieces are borrowed from it. ERR_INVALID with a sentence. */
MUST_CHECK enum err template_cut(struct ctx *ctx, struct slice text,
                                 const struct template_keys *keys,
                                 struct template_parts *ret_parts);

/* Writes a sample for a placeholder. The first sample is used for all placeholders, the second for
 * one of them; the two differ only in their last character, and as a varint only in their first
 * byte. */
void template_put_sample(struct buffer *text, const struct template_place *place, bool second);
/* The numbers of the two samples. */
uint64_t template_sample(const struct template_place *place, bool second);

#endif
