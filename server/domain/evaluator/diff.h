/*
 * diff.h: how large a unified diff is. Reads only its structure; a text that is not a diff has no changed lines.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVALUATOR_DIFF_H
#define ERRATA_SERVER_DOMAIN_EVALUATOR_DIFF_H

#include "store/base/slice.h"

/* Returns the changed lines: for each hunk the larger number of its removed and added lines. */
uint32_t diff_count_lines(struct slice diff);

#endif
