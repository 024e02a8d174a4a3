/*
 * bag_test.c: splitting into words, their mean as a vector, and antonyms, with lists of a few words.
 */
#include "server/domain/embed/antonyms.h"
#include "server/domain/embed/bag.h"
#include "tests/unit/embed/embed_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct arena arena;
static struct model model;

/* Expects these words, separated by spaces. */
static void expect_words(const char *text, const char *expected)
{
    static struct bag words;
    char joined[256] = "";
    size_t size = 0;

    assert_int_equal(bag_split(&arena, slice_text(text), &words), OK);
    for (size_t i = 0; i < words.count; i++) {
        assert_true(size + words.at[i].size + 1 < sizeof(joined));
        memcpy(joined + size, words.at[i].data, words.at[i].size);
        size += words.at[i].size;
        joined[size++] = ' ';
    }
    joined[size > 0 ? size - 1 : 0] = '\0';
    assert_string_equal(joined, expected);
}

/* Goal: words are runs of letters and digits in lower case. Method: punctuation, apostrophes of both forms, full-width
 * letters, an accent as a character of its own, bytes that are not UTF-8. */
static void test_texts_are_split(void **state)
{
    (void)state;
    expect_words("", "");
    expect_words("!? --", "");
    expect_words("The CAT, 2 dogs.", "the cat 2 dogs");
    expect_words("don't isn\xe2\x80\x99t won't", "do not is not wo not");
    expect_words("What's they're I'll t 't n't", "what they i t t n");
    expect_words("\xef\xbc\xa1\xef\xbc\xa2 caf\x65\xcc\x81", "ab caf\xc3\xa9");
    expect_words("a\xff"
                 "b",
                 "a b");
}

/* Goal: no text has more words than there is room for. Method: 4,096 words of one letter. */
static void test_words_are_limited(void **state)
{
    static char text[2 * 4096];
    static struct bag words;

    (void)state;
    for (size_t i = 0; i < sizeof(text); i += 2) {
        text[i] = 'a';
        text[i + 1] = ' ';
    }
    assert_int_equal(bag_split(&arena, slice_of(text, sizeof(text)), &words), OK);
    assert_int_equal(words.count, BAG_WORDS_MAX);
}

/* Goal: every word of a list is found and no other. Method: each, its beginnings, longer ones. */
static void test_listed_words_are_found(void **state)
{
    static const char *const others[] = {"", "ca", "cats", "a", "zebra", "doh", "\xc3\xa9t"};
    uint32_t index = 0;

    (void)state;
    for (uint32_t i = 0; i < model.words.count; i++) {
        uint32_t start = i == 0 ? 0 : model.words.ends[i - 1];

        assert_true(bag_find(
            &model.words, slice_of(model.words.text + start, model.words.ends[i] - start), &index));
        assert_int_equal(index, i);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_false(bag_find(&model.words, slice_text(others[i]), &index));
    }
}

/* Goal: the vector is the weighted mean of the words' vectors with length 1. Method: words with orthogonal vectors, one
 * of which has a hundredth of the weight. */
static void test_vector_is_the_weighted_mean(void **state)
{
    float vector[MODEL_WORD_WIDTH];

    (void)state;
    assert_int_equal(bag_embed(&model, &arena, SLICE("Cat dog unknown cat"), vector), OK);
    assert_true(fabsf(vector[0] - 2 / sqrtf(5)) < 1e-5F);
    assert_true(fabsf(vector[1] - 1 / sqrtf(5)) < 1e-5F);
    assert_int_equal(bag_embed(&model, &arena, SLICE("the dog"), vector), OK);
    assert_true(vector[1] > 0.9999F && fabsf(vector[3] - 0.01F) < 1e-3F);
    assert_int_equal(bag_embed(&model, &arena, SLICE("unknown"), vector), OK);
    for (size_t i = 0; i < MODEL_WORD_WIDTH; i++) {
        assert_true(vector[i] == 0);
    }
}

static bool opposite(const char *a, const char *b)
{
    struct antonyms antonyms;

    assert_int_equal(antonyms_find(&model, &arena, slice_text(a), slice_text(b), &antonyms), OK);
    return antonyms.found;
}

/* Goal: opposites are found in either order and in inflected forms, unless both texts have them or a negation cancels
 * them. Method: pairs of texts. */
static void test_antonyms_are_found(void **state)
{
    (void)state;
    assert_true(opposite("turn it on", "turn it off"));
    assert_true(opposite("turn it off", "turn it on"));
    assert_true(opposite("It opened.", "it closes"));
    assert_true(opposite("opening hours", "Closed"));
    assert_true(opposite("do not open it", "don't close it"));
    assert_false(opposite("turn it on", "turn it on"));
    assert_false(opposite("on and off", "turn it off"));
    assert_false(opposite("open or close", "close it"));
    assert_false(opposite("don't open it", "close it"));
    assert_false(opposite("never open it", "close it"));
    assert_false(opposite("", "close"));
    assert_false(opposite("open", ""));
    assert_false(opposite("opus", "clothes"));
}

int bag_test_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_are_split),
        cmocka_unit_test(test_words_are_limited),
        cmocka_unit_test(test_listed_words_are_found),
        cmocka_unit_test(test_vector_is_the_weighted_mean),
        cmocka_unit_test(test_antonyms_are_found),
    };
    int failed = 0;

    arena_init(&arena, FIXTURE_ARENA_BYTES);
    (void)fixture_model(&arena, MODEL_INT8, &model);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_deinit(&arena);
    return failed;
}
