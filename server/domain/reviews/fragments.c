/*
 * fragments.c: see fragments.h.
 */
#include "server/domain/reviews/fragments.h"

static const struct fragment defaults[] = {
#define FRAGMENT(signal, placeholder, text)                                                        \
    {REVIEW_SIGNAL_##signal,                                                                       \
     REVIEW_PLACEHOLDER_##placeholder,                                                             \
     {(const uint8_t *)(text), sizeof(text) - 1}},
#include "server/domain/reviews/fragments.def"
#undef FRAGMENT
};

const struct fragment *fragments_default(size_t *ret_count)
{
    *ret_count = sizeof(defaults) / sizeof(defaults[0]);
    return defaults;
}
