/*
 * options_test.c: command lines, and "did you mean".
 */
#include "tests/unit/cli_terminal/cli_terminal_tests.h"
#include "tools/errata/terminal/options.h"
#include "tools/errata/terminal/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct option_spec global[] = {
    {"server", "HOST:PORT", ""}, {"json", NULL, ""}, {"help", NULL, ""}, {NULL, NULL, NULL}};
static const struct option_spec own[] = {
    {"limit", "N", ""}, {"metadata", "K:V", ""}, {"all", NULL, ""}, {NULL, NULL, NULL}};

static bool read_words(struct options *options, size_t count, const char *const *words,
                       size_t words_max)
{
    struct options_input input = {(char **)(uintptr_t)words, (char **)(uintptr_t)words + count};

    memset(options, 0, sizeof(*options));
    return options_read(options, own, global, &input, words_max);
}

#define READ(options, words_max, ...)                                                              \
    read_words(options, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),                    \
               (const char *[]){__VA_ARGS__}, words_max)

/* Goal: options of both lists and words are read in any order, values by blank or by equals sign.
 * Method: one command line with all of it. */
static void test_options_are_read_in_any_order(void **state)
{
    struct options options;
    size_t at = 0;

    (void)state;
    assert_true(READ(&options, 4, "word", "--limit", "5", "--server=a:1", "-", "--json",
                     "--metadata", "a:1", "--limit=7", "--metadata=b:2", "--", "--all"));
    assert_int_equal(options.word_count, 3);
    assert_string_equal(options.words[0], "word");
    assert_string_equal(options.words[1], "-");
    assert_string_equal(options.words[2], "--all");
    assert_string_equal(options_get(&options, "limit"), "7");
    assert_string_equal(options_get(&options, "server"), "a:1");
    assert_true(options_has(&options, "json"));
    assert_false(options_has(&options, "all"));
    assert_string_equal(options_next(&options, "metadata", &at), "a:1");
    assert_string_equal(options_next(&options, "metadata", &at), "b:2");
    assert_null(options_next(&options, "metadata", &at));
    assert_true(READ(&options, 4, "-h"));
    assert_true(options_has(&options, "help"));
}

/* Goal: a mistake is reported with the expected form. Method: one command line for each mistake,
 * and its sentence. */
static void test_mistake_is_reported_with_the_expected_form(void **state)
{
    struct options options;

    (void)state;
    assert_false(READ(&options, 1, "--limt", "5"));
    assert_string_equal(options.problem, "unknown option '--limt'; did you mean --limit?");
    assert_false(READ(&options, 1, "--quite-different"));
    assert_string_equal(options.problem, "unknown option '--quite-different'");
    assert_false(READ(&options, 1, "--limit"));
    assert_string_equal(options.problem, "--limit needs a value: --limit N");
    assert_false(READ(&options, 1, "--json=yes"));
    assert_string_equal(options.problem, "--json: given with a value; expected no value");
    assert_false(READ(&options, 1, "one", "two"));
    assert_string_equal(options.problem, "unexpected argument \"two\"");
}

/* Goal: if no words are allowed, reading stops before the first word. Method: an option, a word, an
 * option. */
static void test_reading_stops_before_a_word_if_none_is_allowed(void **state)
{
    const char *words[] = {"--json", "token", "--all"};
    struct options_input input = {(char **)(uintptr_t)words, (char **)(uintptr_t)words + 3};
    struct options options;

    (void)state;
    memset(&options, 0, sizeof(options));
    assert_true(options_read(&options, own, global, &input, 0));
    assert_string_equal(*input.next, "token");
    assert_int_equal(options.given_count, 1);
}

/* Goal: the number of options is bounded.
 * Method: one more than the limit. */
static void test_options_above_the_limit_are_refused(void **state)
{
    const char *words[OPTIONS_GIVEN_MAX + 1];
    struct options options;

    (void)state;
    for (size_t i = 0; i <= OPTIONS_GIVEN_MAX; i++) {
        words[i] = "--json";
    }
    assert_false(read_words(&options, OPTIONS_GIVEN_MAX + 1, words, 1));
}

/* Goal: any number of words that a shell expands is read in order, with options between them.
 * Method: ten thousand words, and an option with its value after every hundredth. */
static void test_ten_thousand_words_are_read_in_order(void **state)
{
    enum {
        WORDS = 10000,
        ALL = WORDS + 2 * 60
    };
    static char texts[WORDS][8];
    const char **words = calloc(ALL, sizeof(*words));
    struct options options;
    size_t count = 0;

    (void)state;
    assert_non_null(words);
    for (size_t i = 0; i < WORDS; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "%zu", i);
        words[count++] = texts[i];
        if (i % 100 == 0 && count + 2 < ALL - (WORDS - i)) {
            words[count++] = "--limit";
            words[count++] = "7";
        }
    }
    assert_true(read_words(&options, count, words, SIZE_MAX));
    assert_int_equal(options.word_count, WORDS);
    assert_int_equal(options.given_count, (count - WORDS) / 2);
    for (size_t i = 0; i < WORDS; i++) {
        assert_string_equal(options.words[i], texts[i]);
    }
    assert_false(read_words(&options, WORDS, words, WORDS - 1));
    free(words);
}

/* Goal: distances count letters inserted, deleted, replaced and swapped.
 * Method: one pair for each, in any case. */
static void test_distance_counts_edits(void **state)
{
    (void)state;
    assert_int_equal(suggest_distance(SLICE("token"), SLICE("token")), 0);
    assert_int_equal(suggest_distance(SLICE("toke"), SLICE("token")), 1);
    assert_int_equal(suggest_distance(SLICE("tokens"), SLICE("token")), 1);
    assert_int_equal(suggest_distance(SLICE("taken"), SLICE("token")), 1);
    assert_int_equal(suggest_distance(SLICE("tokne"), SLICE("token")), 1);
    assert_int_equal(suggest_distance(SLICE("TOKEN"), SLICE("token")), 0);
    assert_int_equal(suggest_distance(SLICE(""), SLICE("token")), 5);
}

static struct slice nearest(const char *typed)
{
    static const struct slice known[] = {SLICE("corrections"), SLICE("call"), SLICE("token"),
                                         SLICE("events")};
    struct suggest suggest;

    suggest_init(&suggest, slice_text(typed));
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        suggest_offer(&suggest, known[i]);
    }
    return suggest.best;
}

/* Goal: near words are suggested, far ones are not. Method: typing errors, a prefix, and unrelated
 * words. */
static void test_only_near_words_are_suggested(void **state)
{
    (void)state;
    assert_true(slice_equal(nearest("corection"), SLICE("corrections")));
    assert_true(slice_equal(nearest("corr"), SLICE("corrections")));
    assert_true(slice_equal(nearest("evnets"), SLICE("events")));
    assert_int_equal(nearest("zebra").size, 0);
    assert_int_equal(nearest("").size, 0);
}

int run_options_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_are_read_in_any_order),
        cmocka_unit_test(test_mistake_is_reported_with_the_expected_form),
        cmocka_unit_test(test_reading_stops_before_a_word_if_none_is_allowed),
        cmocka_unit_test(test_options_above_the_limit_are_refused),
        cmocka_unit_test(test_ten_thousand_words_are_read_in_order),
        cmocka_unit_test(test_distance_counts_edits),
        cmocka_unit_test(test_only_near_words_are_suggested)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
