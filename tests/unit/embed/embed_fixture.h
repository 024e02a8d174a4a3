/*
 * embed_fixture.h: models with random weights and small vocabularies, for tests.
 */
#ifndef ERRATA_TESTS_UNIT_EMBED_EMBED_FIXTURE_H
#define ERRATA_TESTS_UNIT_EMBED_EMBED_FIXTURE_H

#include "server/domain/embed/encoder.h"
#include "tools/mkmodel/pack/make.h"

#define FIXTURE_ARENA_BYTES ((size_t)512 << 20)

/* A source of random weights between -0.1 and 0.1, the same for a seed, and the vocabulary. Its words are cat, dog, not,
 * the and \u00e9t\u00e9, at right angles; its antonyms open and close, on and off. */
struct make_source fixture_source(struct arena *arena, uint64_t seed, const struct slice *pieces,
                                  const float *scores, size_t piece_count);
/* The source of the small vocabulary of embed_fixture.c. */
struct make_source fixture_small_source(struct arena *arena);
/* A model of the small vocabulary of embed_fixture.c. */
struct slice fixture_model(struct arena *arena, enum model_weights weights,
                           struct model *ret_model);
/* Returns the tokens of a text by the model of the small vocabulary. */
struct tokens fixture_tokens(struct arena *arena, const struct model *model, struct slice text);

/* The tests, by file. */
int tokens_test_run(void);
int model_test_run(void);
int encoder_test_run(void);
int package_test_run(void);
int embedder_test_run(void);
int bag_test_run(void);
int sources_test_run(void);

#endif
