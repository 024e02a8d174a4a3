/*
 * fragments.c: see fragments.h.
 */
#include "server/domain/reviews/fragments.h"

static const struct fragment_set defaults = {
    .fragments =
        {
#define FRAGMENT(signal, placeholder, text)                                                        \
    {REVIEW_SIGNAL_##signal,                                                                       \
     REVIEW_PLACEHOLDER_##placeholder,                                                             \
     {(const uint8_t *)(text), sizeof(text) - 1}},
#include "server/domain/reviews/fragments.def"
#undef FRAGMENT
        },
    .label_focus_fields = {(const uint8_t *)FRAGMENT_LABEL_FOCUS_FIELDS,
                           sizeof(FRAGMENT_LABEL_FOCUS_FIELDS) - 1},
};

const struct fragment_set *fragment_set_default(void)
{
    return &defaults;
}

size_t fragment_place(enum review_signal signal, enum review_placeholder placeholder)
{
    size_t place = 0;

    while (place < FRAGMENT_PAIRS && (defaults.fragments[place].signal != signal ||
                                      defaults.fragments[place].placeholder != placeholder)) {
        place++;
    }
    return place;
}
