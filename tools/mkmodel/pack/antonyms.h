/*
 * antonyms.h: the antonyms of WordNet 3.0, from the data files of Debian's package wordnet-base (Princeton's
 * licence, in NOTICE). The files are checked by their hash, so their form is known.
 */
#ifndef ERRATA_TOOLS_MKMODEL_PACK_ANTONYMS_H
#define ERRATA_TOOLS_MKMODEL_PACK_ANTONYMS_H

#include "tools/mkmodel/pack/make.h"

/* Files: data.adj, data.adv, data.noun, data.verb, in this order. */
#define WORDNET_FILES 4
/* The largest has 15.3 MB. */
#define WORDNET_BYTES_MAX ((size_t)32 << 20)
/* SHA-256 of all four, concatenated. */
#define WORDNET_SHA256 "512500d3515c3ebb31bb9bce65910968272a93103d6d4687f99cefaa1f6e11ed"

/* Reads the pairs of files that were checked. Pairs with a phrase, a name or a hyphen are left out. */
MUST_CHECK enum err wordnet_read(struct arena *arena, const struct slice files[WORDNET_FILES],
                                 struct make_antonyms *ret_antonyms, struct fault *fault);
/* Checks the files' hash first. ERR_INVALID for others. */
MUST_CHECK enum err wordnet_check(const struct slice files[WORDNET_FILES], struct fault *fault);

#endif
