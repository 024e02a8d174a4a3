/*
 * embedder.h: the vectors of texts: each consists of parts from the sentence encoder, the words and
 * the n-grams; without word vectors in the model file, of the other two, and without a model, of
 * n-grams only. Each part has length 1, times the square root of its share, so that the cosine of
 * two vectors is the mean of the parts' cosines by their shares. Vectors of different embedders are
 * never compared: each has an id: the first digits of the model file's SHA-256. A change of code
 * that changes vectors changes the magic of model files. May be used by any thread.
 */
#ifndef ERRATA_SERVER_DOMAIN_EMBED_EMBEDDER_H
#define ERRATA_SERVER_DOMAIN_EMBED_EMBEDDER_H

#include "server/domain/embed/antonyms.h"
#include "server/domain/embed/encoder.h"
#include "server/domain/embed/ngrams.h"

/* Maximum length of a vector. */
#define EMBEDDER_WIDTH_MAX (MODEL_WIDE + MODEL_WORD_WIDTH + NGRAMS_WIDTH)
/* Maximum texts of one call: at 128 tokens each this takes about a second. */
#define EMBEDDER_TEXTS_MAX 64
/* Lower-case hex digits of an id. */
#define EMBEDDER_ID_BYTES 16
/* Vectors that are kept with a model, by the texts' hashes: 4.5 KiB each. With more, a model with words, its
 * cache and a pass need more than 25 MB. */
#define EMBEDDER_CACHE_VECTORS 512

/* The parts of an embedder's vectors. */
enum embedder_kind {
    EMBEDDER_NGRAMS,
    EMBEDDER_ENCODER, /* encoder and n-grams */
    EMBEDDER_WORDS, /* encoder, words and n-grams */
    EMBEDDER_KINDS
};

/* The parts of a vector, in this order; a part that the kind does not have is empty. */
enum embedder_part {
    EMBEDDER_PART_ENCODER,
    EMBEDDER_PART_WORDS,
    EMBEDDER_PART_NGRAMS,
    EMBEDDER_PARTS
};

/* The position of a part in a vector, and its share in the cosine, in hundredths. */
struct embedder_part_place {
    size_t from;
    size_t width;
    int share;
};

struct embedder;

/* Counts since the start. */
struct embedder_counts {
    uint64_t texts; /* texts that were embedded or found in the cache */
    uint64_t cache_hits;
};

/* Creates an embedder in the arena, which must outlive it. `model_file` is empty for n-grams only,
 * or a model file's bytes (model_open), which must outlive it. ERR_CORRUPT for another file. */
MUST_CHECK enum err embedder_new(struct arena *arena, struct slice model_file,
                                 struct embedder **ret_embedder);
/* Frees the embedder. NULL is allowed. */
void embedder_free(struct embedder *embedder);
/* Returns the id: EMBEDDER_ID_BYTES characters that live as long as the embedder. */
struct slice embedder_id(const struct embedder *embedder);
/* Returns the positions of the parts in vectors of a kind. */
const struct embedder_part_place *embedder_parts(enum embedder_kind kind);
enum embedder_kind embedder_kind(const struct embedder *embedder);
/* Returns whether it has a model. */
bool embedder_has_model(const struct embedder *embedder);
/* Returns the length of a vector. */
size_t embedder_width(const struct embedder *embedder);
/* Writes the vectors of `count` texts, at most EMBEDDER_TEXTS_MAX, one after the other. Each has
 * length 1, or is zero if the text has no words. `scope` is the organisation: cached texts of one
 * are not visible to others. The arena is used for less than 10 MiB. Fails only with ERR_MEMORY. */
MUST_CHECK enum err embedder_embed(struct embedder *embedder, struct arena *arena,
                                   struct slice scope, const struct slice *texts, size_t count,
                                   float *ret_vectors);
/* Returns the cosine of two vectors, between -1 and 1; 0 if one is zero. */
float embedder_cosine(const float *a, const float *b, size_t width);
/* Finds a word of the first text whose antonym is in the second (antonyms.h); finds none without a
 * model. Fails only with ERR_MEMORY. */
MUST_CHECK enum err embedder_find_antonyms(const struct embedder *embedder, struct arena *arena,
                                           const struct slice texts[2],
                                           struct antonyms *ret_antonyms);
struct embedder_counts embedder_read_counts(struct embedder *embedder);

#endif
