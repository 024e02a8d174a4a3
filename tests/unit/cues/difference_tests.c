/*
 * difference_tests.c: two queries compared by their words: a rephrased question or a different one.
 */
#include "tests/unit/cues/cues_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct difference compare(const char *query, const char *message)
{
    const struct example example = {query, "", message, -1};

    return cues_read(&example)->difference;
}

/* Goal: another number, name or word, or an opposite, makes another question. */
static void test_another_question_is_found(void **state)
{
    (void)state;
    assert_true(compare("show sales for 2023", "show sales for 2024").numbers_differ);
    assert_true(compare("summarise chapter three", "summarise chapter five").numbers_differ);
    assert_true(compare("how old is Anna", "how old is Bert").names_differ);
    assert_true(compare("add a test for parse_date", "add a test for parse_time").names_differ);
    assert_true(compare("the population of norway", "the population of denmark").is_replaced);
    assert_true(compare("how do I enable it", "how do I disable it").is_antonym);
    assert_true(compare("how do I install numpy", "how do I uninstall numpy").is_antonym);
    assert_true(compare("who wrote it", "when was it written").same_kind == false);
}

/* Goal: other words, abbreviations, endings, numbers in words and typing errors do not make another question. */
static void test_the_same_question_is_found(void **state)
{
    static const char *const pairs[][2] = {
        {"book a taxi for 6", "book a taxi at six"},
        {"the effects of the General Data Protection Regulation", "the effects of GDPR"},
        {"flights from Berlin", "Flights BER"},
        {"laptops under $1,000", "notebooks below 1000 dollars"},
        {"best way to store passwords in a database", "how should passwords be stored in the db"},
        {"who directed Alien", "who was the director of the movie Alien"},
        {"trains to Cambrige", "trains to Cambridge"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct difference difference = compare(pairs[i][0], pairs[i][1]);

        if (difference.numbers_differ || difference.names_differ || difference.is_antonym ||
            difference.is_replaced) {
            (void)fprintf(stderr, "%d%d%d%d: %s\n", difference.numbers_differ,
                          difference.names_differ, difference.is_antonym, difference.is_replaced,
                          pairs[i][1]);
        }
        assert_false(difference.numbers_differ || difference.names_differ ||
                     difference.is_antonym || difference.is_replaced);
    }
}

/* Goal: the shares are those of the words. */
static void test_shares_are_counted(void **state)
{
    struct difference difference = compare("red wine stains", "remove red wine stains");

    (void)state;
    assert_true(difference.kept == 1.0F && difference.order == 0.75F);
    assert_true(difference.overlap == 0.75F);
    assert_true(difference.is_extended);
    difference = compare("", "");
    assert_true(difference.kept == 0 && difference.order == 0 && difference.overlap == 0);
}

int run_difference_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_question_is_found),
        cmocka_unit_test(test_the_same_question_is_found),
        cmocka_unit_test(test_shares_are_counted),
    };

    return cmocka_run_group_tests(tests, cues_setup, cues_teardown);
}
