/*
 * words_test.c: texts split into words, their stems, and the phrases of the lexicon.
 */
#include "server/domain/lexicon/lexicon.h"
#include "store/base/random.h"
#include "tests/unit/evaluator/evaluator_suites.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define ARENA_BYTES ((size_t)256 << 20)
#define RANDOM_TEXTS 2000
#define RANDOM_TEXT_BYTES_MAX 200

static void expect_words(const char *text, const char *wanted)
{
    struct arena arena;
    struct words words;
    char found[512] = "";
    size_t used = 0;

    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(words_split(&arena, slice_text(text), &words), OK);
    for (size_t i = 0; i < words.count; i++) {
        used +=
            (size_t)snprintf(found + used, sizeof(found) - used, "%s%.*s",
                             words.items[i].gap == WORD_GAP_END     ? "|"
                             : words.items[i].gap == WORD_GAP_COMMA ? ","
                                                                    : " ",
                             (int)words.items[i].text.size, (const char *)words.items[i].text.data);
    }
    if (strcmp(found, wanted) != 0) {
        fail_msg("of \"%s\" came \"%s\"", text, found);
    }
    arena_deinit(&arena);
}

/* Goal: words, numbers, and what is between them. Method: texts with each kind of separator. */
static void test_texts_are_split(void **state)
{
    (void)state;
    expect_words("Use Tabs, not spaces. Always!", "|use tabs,not spaces|always");
    expect_words("don\xe2\x80\x99t use snake_case", "|don't use snake_case");
    expect_words("commented-out; 2.5 of 30s (90%)", "|commented out|2.5 of 30 s,90");
    expect_words("the user's 'name'", "|the user's name");
    expect_words("\xe2\x80\x9cquoted\xe2\x80\x9d text", "|quoted,text");
    expect_words("Gr\xc3\xb6\xc3\x9f"
                 "e",
                 "|gr\xc3\xb6sse");
    expect_words(" ... ", "");
    expect_words("", "");
}

static void expect_stem(const char *word, const char *wanted)
{
    uint8_t stem[WORD_STEM_BYTES_MAX];
    size_t size = word_stem(slice_text(word), stem);

    if (!slice_equal(slice_of(stem, size), slice_text(wanted))) {
        fail_msg("of %s came %.*s, not %s", word, (int)size, (const char *)stem, wanted);
    }
}

/* Goal: the forms of a word have one stem, other words have others. Method: forms of each ending, and words that only look
 * as if they had one. */
static void test_forms_have_one_stem(void **state)
{
    (void)state;
    expect_stem("validate", "valid");
    expect_stem("validated", "valid");
    expect_stem("validation", "valid");
    expect_stem("validating", "valid");
    expect_stem("queries", "queri");
    expect_stem("query", "queri");
    expect_stem("planned", "plan");
    expect_stem("plan", "plan");
    expect_stem("parameterized", "parameteris");
    expect_stem("parameterised", "parameteris");
    expect_stem("behaviour", "behavior");
    expect_stem("classes", "class");
    expect_stem("class", "class");
    expect_stem("this", "this");
    expect_stem("is", "is");
    expect_stem("string", "string");
    expect_stem("user's", "user");
    expect_stem("format", "format");
    expect_stem("rotation", "rotat");
    expect_stem("rotate", "rotat");
    expect_stem("", "");
}

static bool has(const struct lexicon_matches *matches, enum lexicon_list list, uint16_t from,
                uint16_t count)
{
    for (size_t i = 0; i < matches->count; i++) {
        const struct lexicon_match *match = &matches->items[i];

        if (match->list == list && match->from == from && match->count == count) {
            return true;
        }
    }
    return false;
}

/* Goal: phrases are found by their stems, longer ones first, and not across sentences. Method: texts with phrases of one
 * and of several words. */
static void test_phrases_are_found(void **state)
{
    struct lexicon_matches matches;
    struct words words;
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(
        words_split(&arena, SLICE("Nothing to change here, no magic numbers."), &words), OK);
    assert_int_equal(lexicon_find(&arena, &words, &matches), OK);
    assert_true(has(&matches, LEXICON_PRAISE, 0, 3));
    assert_true(has(&matches, LEXICON_NEGATION, 4, 1));
    assert_true(has(&matches, LEXICON_CONCEPT, 5, 2));
    for (size_t i = 1; i < matches.count; i++) {
        assert_true(matches.items[i - 1].from < matches.items[i].from ||
                    (matches.items[i - 1].from == matches.items[i].from &&
                     matches.items[i - 1].count >= matches.items[i].count));
    }
    assert_int_equal(words_split(&arena, SLICE("There is nothing to. Change it."), &words), OK);
    assert_int_equal(lexicon_find(&arena, &words, &matches), OK);
    assert_false(has(&matches, LEXICON_PRAISE, 2, 3));
    assert_int_equal(lexicon_concept_name(LEXICON_CONCEPTS_MAX).size, 0);
    assert_true(slice_equal(lexicon_concept_name(0), SLICE("tests")));
    arena_deinit(&arena);
}

/* Goal: any text is read within its bounds. Method: random texts of letters, marks and other bytes of UTF-8, under the
 * address sanitizer. */
static void test_random_texts_are_read(void **state)
{
    static const char *const pieces[] = {"a",        "B",
                                         "9",        ".",
                                         ",",        " ",
                                         "'",        "\xe2\x80\x99",
                                         "%",        "-",
                                         "\xc3\xa9", "\xe2\x80\x94",
                                         "not ",     "no more than ",
                                         "_"};
    struct random_seeded random;
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    random_seeded_init(&random, 7);
    for (size_t i = 0; i < RANDOM_TEXTS; i++) {
        struct lexicon_matches matches;
        struct words words;
        char text[RANDOM_TEXT_BYTES_MAX + 16] = "";
        uint8_t draws[64];

        if (i % 100 == 0) {
            arena_reset(&arena);
        }
        random_fill(&random.random, draws, sizeof(draws));
        for (size_t j = 0; j < sizeof(draws) && strlen(text) < RANDOM_TEXT_BYTES_MAX; j++) {
            strncat(text, pieces[draws[j] % (sizeof(pieces) / sizeof(pieces[0]))], 15);
        }
        assert_int_equal(words_split(&arena, slice_text(text), &words), OK);
        assert_true(words.count <= WORDS_MAX);
        assert_int_equal(lexicon_find(&arena, &words, &matches), OK);
    }
    arena_deinit(&arena);
}

int run_words(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_are_split),
        cmocka_unit_test(test_forms_have_one_stem),
        cmocka_unit_test(test_phrases_are_found),
        cmocka_unit_test(test_random_texts_are_read),
    };

    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
