/*
 * texts.h: lists of texts in requests, as slices.
 */
#ifndef ERRATA_SERVER_PIPELINE_TEXTS_H
#define ERRATA_SERVER_PIPELINE_TEXTS_H

#include "store/base/arena.h"

/* Copies a list into the arena; its texts are borrowed from the request. Not NULL, even without texts. ERR_MEMORY. */
MUST_CHECK enum err texts_copy(struct arena *arena, char *const *texts, size_t count,
                               const struct slice **ret_slices);

#endif
