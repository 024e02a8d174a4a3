/*
 * trigram_test.c: the similarity of SKUs is pg_trgm's.
 */
#include "tests/unit/mappings/mappings_tests.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static double similarity(struct fixture *fixture, const char *a, const char *b)
{
    static struct trigrams left;
    static struct trigrams right;
    struct slice folded = {NULL, 0};

    assert_int_equal(sku_fold(&fixture->arena, slice_text(a), &folded), OK);
    trigrams_read(folded, &left);
    assert_int_equal(sku_fold(&fixture->arena, slice_text(b), &folded), OK);
    trigrams_read(folded, &right);
    assert_int_equal(
        trigrams_are_similar(left.count, right.count, trigrams_count_shared(&left, &right)),
        trigrams_similarity(left.count, right.count, trigrams_count_shared(&left, &right)) >= 0.4);
    return trigrams_similarity(left.count, right.count, trigrams_count_shared(&left, &right));
}

/* Goal: pairs have the similarity that pg_trgm computes. Method: the table that similarities.py
 * makes from its definition, in both orders. */
static void test_similarity_equals_that_of_pg_trgm(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        double similarity;
    } pairs[] = {
#define SIMILARITY(text, other, value) {text, other, value},
#include "tests/unit/mappings/similarities.def"
#undef SIMILARITY
    };
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        assert_true(fabs(similarity(&fixture, pairs[i].a, pairs[i].b) - pairs[i].similarity) <
                    1e-8);
        assert_true(fabs(similarity(&fixture, pairs[i].b, pairs[i].a) - pairs[i].similarity) <
                    1e-8);
    }
    fixture_deinit(&fixture);
}

/* Goal: the longest SKUs fit. Method: 256 bytes of one word, and of words of one letter, with as
 * many different letters as there are. */
static void test_longest_skus_fit(void **state)
{
    static struct trigrams trigrams;
    struct fixture fixture;
    char text[SKU_BYTES_MAX + 1];

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < SKU_BYTES_MAX; i++) {
        text[i] = (char)('a' + fixture_draw(&fixture, 26));
    }
    text[SKU_BYTES_MAX] = '\0';
    trigrams_read(slice_text(text), &trigrams);
    assert_true(trigrams.count > 200 && trigrams.count <= SKU_BYTES_MAX + 1);
    for (size_t i = 1; i < SKU_BYTES_MAX; i += 2) {
        text[i] = '-';
    }
    trigrams_read(slice_text(text), &trigrams);
    assert_true(trigrams.count > 0 && trigrams.count <= 2 * 26);
    fixture_deinit(&fixture);
}

int run_trigram_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_similarity_equals_that_of_pg_trgm),
        cmocka_unit_test(test_longest_skus_fit),
    };

    return cmocka_run_group_tests_name("trigrams", tests, NULL, NULL);
}
