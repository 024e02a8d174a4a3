/*
 * fragments.h: the guidance that signals add to placeholders (fragments.def).
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_FRAGMENTS_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_FRAGMENTS_H

#include "store/base/slice.h"

#include <errata/v1/review_prompts.fields.h>

/* Maximum characters of a fragment. */
#define FRAGMENT_CHARACTERS_MAX 300
/* The label of the focus fields. */
#define FRAGMENT_LABEL_FOCUS_FIELDS "Spezifikationen"

struct fragment {
    enum review_signal signal;
    enum review_placeholder placeholder;
    struct slice text;
};

/* Returns the default fragments, in the order of the signals. */
const struct fragment *fragments_default(size_t *ret_count);

#endif
