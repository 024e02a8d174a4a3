/*
 * embed_fixture.c: models for tests, and the program that runs the tests of this folder.
 */
#include "tests/unit/embed/embed_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

/* The first six are reserved: they are never matched. */
static const struct slice small_pieces[] = {
    SLICE("unknown"),
    SLICE("r1"),
    SLICE("r2"),
    SLICE("r3"),
    SLICE("r4"),
    SLICE("r5"),
    SLICE("a"),
    SLICE("b"),
    SLICE("ab"),
    SLICE("\xe2\x96\x81"),
    SLICE("c"),
    SLICE("bc"),
    SLICE("\xe2\x96\x81"
          "a"),
    SLICE("\xc3\xa9"),
    SLICE("xy"),
};
static const float small_scores[] = {0, 0, 0, 0, 0, 0, -3, -3, -5, -2, -3, -4, -4.5F, -5, -6};

static const struct slice small_words[] = {SLICE("cat"), SLICE("dog"), SLICE("not"), SLICE("the"),
                                           SLICE("\xc3\xa9t\xc3\xa9")};
/* The weight of "the" is small. */
static float small_vectors[COUNT_OF(small_words) * MODEL_WORD_WIDTH];
static const struct slice small_opposites[] = {SLICE("close"), SLICE("off"), SLICE("on"),
                                               SLICE("open")};
static const struct model_antonym small_antonyms[] = {{0, 3}, {1, 2}, {2, 1}, {3, 0}};

struct make_source fixture_source(struct arena *arena, uint64_t seed, const struct slice *pieces,
                                  const float *scores, size_t piece_count)
{
    struct make_source source = {.pieces = pieces, .scores = scores, .piece_count = piece_count};
    float *weights = (float *)arena_alloc(arena, MAKE_WEIGHTS_BYTES);

    assert_non_null(weights);
    for (size_t i = 0; i < MAKE_WEIGHTS_BYTES / sizeof(float); i++) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        weights[i] = ((float)(seed >> 40) / (float)(1 << 24) - 0.5F) / 5;
    }
    source.weights = slice_of(weights, MAKE_WEIGHTS_BYTES);
    for (size_t word = 0; word < COUNT_OF(small_words); word++) {
        small_vectors[word * MODEL_WORD_WIDTH + word] = word == 3 ? 0.01F : 1.0F;
    }
    source.words = (struct make_words){small_words, small_vectors, COUNT_OF(small_words)};
    source.antonyms = (struct make_antonyms){small_opposites, COUNT_OF(small_opposites),
                                             small_antonyms, COUNT_OF(small_antonyms)};
    return source;
}

struct make_source fixture_small_source(struct arena *arena)
{
    return fixture_source(arena, 1, small_pieces, small_scores, COUNT_OF(small_pieces));
}

struct slice fixture_model(struct arena *arena, enum model_weights weights, struct model *ret_model)
{
    struct make_source source = fixture_small_source(arena);
    struct slice file = {NULL, 0};

    assert_int_equal(make_model(arena, &source, weights, &file), OK);
    assert_int_equal(model_open(file, ret_model), OK);
    return file;
}

struct tokens fixture_tokens(struct arena *arena, const struct model *model, struct slice text)
{
    struct tokens tokens;

    assert_int_equal(tokens_of(model, arena, text, &tokens), OK);
    return tokens;
}

int main(void)
{
    return tokens_test_run() + model_test_run() + encoder_test_run() + package_test_run() +
           embedder_test_run() + bag_test_run() + sources_test_run();
}
