/*
 * terms.h: the patterns that are true for a submission, and that a rule may have: its indicators;
 * the names of features that are set; `name=value` of features that are texts; `name>number` and
 * `name<number` at the deciles of numeric features; and `text:` with each phrase of 1 to 3 words.
 */
#ifndef ERRATA_SERVER_DOMAIN_INDUCTION_TERMS_H
#define ERRATA_SERVER_DOMAIN_INDUCTION_TERMS_H

#include "store/base/arena.h"
#include "store/base/err.h"

#include <errata/v1/verdict_submission.views.h>

/* Maximum numeric features whose deciles are computed; further ones have no comparisons. */
#define NUMERIC_FEATURES_MAX 200
#define DECILES 9
/* Maximum bytes of the text of a feature that becomes `name=value`. */
#define TERM_VALUE_BYTES_MAX 64
/* Maximum words of a phrase, and its maximum bytes. A single word has at least 3 bytes: shorter
 * ones are parts of most texts. */
#define PHRASE_WORDS_MAX 3
#define PHRASE_BYTES_MAX 96
#define PHRASE_WORD_BYTES_MIN 3

/* The values of one numeric feature. */
struct numeric_feature {
    struct slice name;
    double *values; /* has room for all submissions; sorted in the end */
    size_t count;
    double deciles[DECILES]; /* ascending once computed; equal ones are adjacent */
};

struct numeric_features {
    struct numeric_feature items[NUMERIC_FEATURES_MAX];
    size_t count;
    size_t room; /* number of submissions: room of each `values` */
};

/* Receives one pattern, which is borrowed for the call. */
typedef enum err term_visit(void *user, struct slice pattern);

/* Adds the numbers of a submission's features. They are stored in `arena`; the caller empties
 * `scratch`. ERR_MEMORY. */
MUST_CHECK enum err numeric_features_add(struct numeric_features *features, struct arena *arena,
                                         struct arena *scratch,
                                         const struct verdict_submission_view *view);
/* Computes the deciles of all features. */
void numeric_features_compute(struct numeric_features *features);
/* Visits the patterns of a submission; some more than once. ERR_MEMORY, or an error of `visit`. */
MUST_CHECK enum err terms_visit(const struct numeric_features *features, struct arena *scratch,
                                const struct verdict_submission_view *view, term_visit *visit,
                                void *user);

#endif
