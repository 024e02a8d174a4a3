/*
 * embed_parity_tests.c: the encoder with the real model beside the reference implementation
 * (TensorFlow.js), whose tokens and vectors for 28 texts are in tests/data/text. The models are made
 * from the npm package before this runs; their paths are in the environment.
 */
#include "server/domain/embed/antonyms.h"
#include "server/domain/embed/encoder.h"
#include "store/base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ARENA_BYTES ((size_t)256 << 20)
#define TEXTS 28
#define PLAIN_TEXTS 8 /* number of texts by the plain path, which is slow with sanitizers */
#define FILE_BYTES_MAX ((size_t)64 << 20)

/* The reference's tokens and vectors. */
struct reference {
    struct slice texts[TEXTS];
    uint16_t ids[TEXTS][512];
    size_t id_counts[TEXTS];
    const float *vectors;
};

static struct slice read_file(struct arena *arena, const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = (uint8_t *)arena_alloc(arena, FILE_BYTES_MAX);
    size_t size = 0;

    assert_non_null(file);
    bytes += (64 - (uintptr_t)bytes % 64) % 64;
    size = fread(bytes, 1, FILE_BYTES_MAX - 64, file);
    assert_int_equal(fclose(file), 0);
    return slice_of(bytes, size);
}

static struct slice read_model(struct arena *arena, const char *variable, struct model *ret_model)
{
    const char *path = getenv(variable);
    struct slice file;

    assert_non_null(path);
    file = read_file(arena, path);
    assert_int_equal(model_open(file, ret_model), OK);
    return file;
}

/* A line has the ids with spaces between, a tab, and the text. */
static void read_reference(struct arena *arena, struct reference *ret_reference)
{
    struct slice lines = read_file(arena, "tests/data/text/use_lite.tsv");
    const char *at = (const char *)lines.data;

    for (size_t text = 0; text < TEXTS; text++) {
        const char *end = strchr(at, '\n');
        size_t count = 0;

        assert_non_null(end);
        while (*at != '\t') {
            char *next = NULL;

            ret_reference->ids[text][count++] = (uint16_t)strtoul(at, &next, 10);
            at = *next == ' ' ? next + 1 : next;
        }
        ret_reference->id_counts[text] = count;
        ret_reference->texts[text] = slice_of(at + 1, (size_t)(end - at - 1));
        at = end + 1;
    }
    ret_reference->vectors =
        (const float *)(const void *)read_file(arena, "tests/data/text/use_lite.f32").data;
}

static struct arena arena;
static struct reference reference;

static void embed(const struct model *model, enum linear_path path, size_t count, float *vectors)
{
    static struct tokens tokens[TEXTS];

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(tokens_of(model, &arena, reference.texts[i], &tokens[i]), OK);
    }
    assert_int_equal(encoder_embed(model, path, &arena, tokens, count, vectors), OK);
}

/* Goal: the pieces are the reference's. Method: each text, with an overlong one cut. */
static void test_tokens_are_those_of_the_reference(void **state)
{
    struct model model;

    (void)state;
    (void)read_model(&arena, "ERRATA_TEST_MODEL", &model);
    for (size_t i = 0; i < TEXTS; i++) {
        struct tokens tokens;
        size_t wanted =
            reference.id_counts[i] < MODEL_TOKENS_MAX ? reference.id_counts[i] : MODEL_TOKENS_MAX;

        assert_int_equal(tokens_of(&model, &arena, reference.texts[i], &tokens), OK);
        assert_int_equal(tokens.count, wanted);
        assert_memory_equal(tokens.ids, reference.ids[i], wanted * sizeof(tokens.ids[0]));
    }
}

/* Goal: with float weights each number is within 1e-5 of the reference's. Method: all texts at once. */
static void test_float_vectors_are_those_of_the_reference(void **state)
{
    static float vectors[TEXTS * MODEL_WIDE];
    float largest = 0;
    struct model model;

    (void)state;
    (void)read_model(&arena, "ERRATA_TEST_MODEL_FLOAT", &model);
    assert_int_equal(model.weights, MODEL_FLOAT);
    embed(&model, linear_best_path(), TEXTS, vectors);
    for (size_t i = 0; i < (size_t)TEXTS * MODEL_WIDE; i++) {
        float distance = vectors[i] - reference.vectors[i];

        distance = distance < 0 ? -distance : distance;
        largest = distance > largest ? distance : largest;
    }
    (void)printf("largest difference %.2e\n", (double)largest);
    assert_true(largest <= 1e-5F);
}

/* Goal: with int8 weights the cosine with the reference is at least 0.999, and the same bits come out
 * of every path. Method: all texts by the best path, some also by the plain one. */
static void test_int8_vectors_are_near_the_reference(void **state)
{
    static float vectors[TEXTS * MODEL_WIDE];
    static float plain[PLAIN_TEXTS * MODEL_WIDE];
    double smallest = 1;
    struct model model;

    (void)state;
    (void)read_model(&arena, "ERRATA_TEST_MODEL", &model);
    assert_int_equal(model.weights, MODEL_INT8);
    embed(&model, linear_best_path(), TEXTS, vectors);
    embed(&model, LINEAR_PLAIN, PLAIN_TEXTS, plain);
    assert_memory_equal(vectors, plain, sizeof(plain));
    for (size_t i = 0; i < TEXTS; i++) {
        double cosine = 0;

        for (size_t j = i * MODEL_WIDE; j < (i + 1) * MODEL_WIDE; j++) {
            cosine += (double)vectors[j] * (double)reference.vectors[j];
        }
        smallest = cosine < smallest ? cosine : smallest;
    }
    (void)printf("smallest cosine %.6f\n", smallest);
    assert_true(smallest >= 0.999);
}

/* Goal: the file has the same bytes on every machine. Method: the hash of the file that was
 * measured. */
static void test_file_has_the_known_hash(void **state)
{
    char text[2 * SHA256_BYTES];
    struct sha256_digest digest;
    struct model model;

    (void)state;
    digest = sha256(read_model(&arena, "ERRATA_TEST_MODEL", &model));
    sha256_format(&digest, text);
    assert_memory_equal(text, "d6a07ae64c7033b1", 16);
}

/* Goal: WordNet's antonyms are in the file. Method: known pairs, and words without one. */
static void test_antonyms_are_wordnets(void **state)
{
    struct antonyms antonyms;
    struct model model;

    (void)state;
    (void)read_model(&arena, "ERRATA_TEST_MODEL", &model);
    assert_true(model.antonym_words.count > 6000 && model.antonym_count > 6000);
    assert_int_equal(antonyms_find(&model, &arena, SLICE("Install the newest version"),
                                   SLICE("uninstall the newest version"), &antonyms),
                     OK);
    assert_false(antonyms.found); /* WordNet has no `uninstall` */
    assert_int_equal(antonyms_find(&model, &arena, SLICE("Show the cheapest flights"),
                                   SLICE("hide the cheapest flights"), &antonyms),
                     OK);
    assert_true(antonyms.found && slice_equal(antonyms.first, SLICE("show")));
    assert_int_equal(antonyms_find(&model, &arena, SLICE("the maximum of all values"),
                                   SLICE("the minimum of all values"), &antonyms),
                     OK);
    assert_true(antonyms.found && slice_equal(antonyms.second, SLICE("minimum")));
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)8 * ARENA_BYTES);
    read_reference(&arena, &reference);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_are_those_of_the_reference),
        cmocka_unit_test(test_float_vectors_are_those_of_the_reference),
        cmocka_unit_test(test_int8_vectors_are_near_the_reference),
        cmocka_unit_test(test_file_has_the_known_hash),
        cmocka_unit_test(test_antonyms_are_wordnets),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
