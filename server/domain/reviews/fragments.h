/*
 * fragments.h: the guidance that signals add to placeholders: a set of fragments, by default that of fragments.def.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_FRAGMENTS_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_FRAGMENTS_H

#include "store/base/slice.h"

#include <errata/v1/review_prompts.fields.h>

/* Maximum characters of a fragment, and of the label of the focus fields. */
#define FRAGMENT_CHARACTERS_MAX 300
#define FRAGMENT_LABEL_CHARACTERS_MAX 100
/* The default label of the focus fields. */
#define FRAGMENT_LABEL_FOCUS_FIELDS "Spezifikationen"
/* Number of pairs of a signal and a placeholder to which it adds guidance. */
#define FRAGMENT_PAIRS 12

struct fragment {
    enum review_signal signal;
    enum review_placeholder placeholder;
    struct slice text; /* empty: the signal adds nothing to the placeholder */
};

/* The fragments of all pairs, in the order of the signals. */
struct fragment_set {
    uint64_t seq; /* seq of the event that stored it; 0: it ships with the server */
    uint32_t version;
    struct fragment fragments[FRAGMENT_PAIRS];
    struct slice label_focus_fields; /* empty: the default */
};

/* Returns the set that ships with the server: version 0. */
const struct fragment_set *fragment_set_default(void);
/* Returns the index of a pair in a set; FRAGMENT_PAIRS for a pair that does not exist. */
size_t fragment_place(enum review_signal signal, enum review_placeholder placeholder);

#endif
