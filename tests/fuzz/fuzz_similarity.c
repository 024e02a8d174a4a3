/*
 * fuzz_similarity.c: any bytes as two texts that are compared: their words, n-grams, numbers and antonyms. Vectors have
 * length 1 or are zero, comparisons do not depend on the order of the texts, and a text does not differ from itself.
 */
#include "server/domain/embed/bag.h"
#include "server/domain/embed/calibration.h"
#include "store/base/assert.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"

#include <math.h>

#define ARENA_BYTES ((size_t)64 << 20)
#define PAIRS 4

static const uint32_t ends[] = {5, 8, 10, 14};
static const struct model_antonym antonyms[PAIRS] = {{0, 3}, {1, 2}, {2, 1}, {3, 0}};
static const int8_t numbers[4 * MODEL_WORD_WIDTH] = {127, -3, 8};
static const float scales[4] = {0.01F, 0.02F, 0.03F, 1};

/* A model with lists of words only. */
static struct model make_model_of_words(void)
{
    const struct model_words words = {4, ends, "closeoffonopen"};

    return (struct model){.words = words,
                          .word_vectors = numbers,
                          .word_scales = scales,
                          .antonym_words = words,
                          .antonyms = antonyms,
                          .antonym_count = PAIRS};
}

static void check_vector(const float *vector, size_t width)
{
    float square = embedder_cosine(vector, vector, width);

    ASSERT(square == 0 || fabsf(square - 1) < 1e-5F);
}

static void check_words(const struct model *model, struct arena *arena, struct slice text)
{
    struct bag *bag = (struct bag *)arena_alloc(arena, sizeof(struct bag));
    float vector[NGRAMS_WIDTH];
    enum err err = bag == NULL ? ERR_MEMORY : bag_split(arena, text, bag);

    ASSERT(err == OK && bag->count <= BAG_WORDS_MAX);
    for (size_t i = 0; i < bag->count; i++) {
        ASSERT(bag->at[i].size > 0);
    }
    err = bag_embed(model, arena, text, vector);
    ASSERT(err == OK);
    check_vector(vector, MODEL_WORD_WIDTH);
    err = ngrams_of(arena, text, vector);
    ASSERT(err == OK);
    check_vector(vector, NGRAMS_WIDTH);
}

static bool numbers_differ(struct arena *arena, struct slice a, struct slice b)
{
    bool differ = false;
    enum err err = calibration_compare_numbers(arena, a, b, &differ);

    ASSERT(err == OK);
    return differ;
}

static struct antonyms find_antonyms(const struct model *model, struct arena *arena, struct slice a,
                                     struct slice b)
{
    struct antonyms found;
    enum err err = antonyms_find(model, arena, a, b, &found);

    ASSERT(err == OK);
    ASSERT(!found.found || (found.first.size > 0 && found.second.size > 0));
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    struct model model = make_model_of_words();
    struct arena arena;
    struct slice a = fuzz_take_text(&input);
    struct slice b = input.rest;

    arena_init(&arena, ARENA_BYTES);
    check_words(&model, &arena, a);
    check_words(&model, &arena, b);
    ASSERT(!numbers_differ(&arena, a, a));
    ASSERT(numbers_differ(&arena, a, b) == numbers_differ(&arena, b, a));
    ASSERT(!find_antonyms(&model, &arena, a, a).found);
    ASSERT(find_antonyms(&model, &arena, a, b).found == find_antonyms(&model, &arena, b, a).found);
    arena_deinit(&arena);
    return 0;
}
