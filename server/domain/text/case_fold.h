/*
 * case_fold.h: Unicode's full case folding (CaseFolding.txt, statuses C and F), without
 * normalisation. Texts that differ only in case have equal folded bytes.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_CASE_FOLD_H
#define ERRATA_SERVER_DOMAIN_TEXT_CASE_FOLD_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* No code point becomes more than three times as long in UTF-8. */
#define CASE_FOLD_GROWTH_MAX 3

/* Folds valid UTF-8 into the arena. Fails only with ERR_MEMORY. */
MUST_CHECK enum err case_fold(struct arena *arena, struct slice text, struct slice *ret_folded);

#endif
