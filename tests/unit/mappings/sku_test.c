/*
 * sku_test.c: the spellings of a SKU that are equal.
 */
#include "tests/unit/mappings/mappings_tests.h"

#include "store/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct slice fold(struct fixture *fixture, const char *text)
{
    struct slice folded = {NULL, 0};

    assert_int_equal(sku_fold(&fixture->arena, slice_text(text), &folded), OK);
    assert_true(text_is_utf8(folded));
    return folded;
}

/* Goal: case, white space at the ends and canonically equivalent spellings do not matter; every
 * other difference does. Method: pairs. */
static void test_skus_are_equal_up_to_case_and_space(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        bool same;
    } pairs[] = {
        {"AB-1", "ab-1", true},
        {" AB-1\t",
         "\xe3\x80\x80"
         "ab-1\xc2\xa0",
         true},
        {"A B", "AB", false},
        {"A  B", "A B", false},
        {"stra\xc3\x9f"
         "e",
         "STRASSE", true},
        {"\xe1\xba\x9e", "ss", true}, /* capital sharp s */
        {"\xc4\xb0", "i\xcc\x87", true}, /* capital I with dot: i and a combining dot */
        {"\xc4\xb0", "i", false},
        {"\xc4\xb1", "i", false}, /* dotless i is a letter of its own */
        {"\xce\xa3", "\xcf\x82", true}, /* capital and final sigma */
        {"\xc3\xa9", "e\xcc\x81", true}, /* composed and decomposed */
        {"\xc3\x89", "e\xcc\x81", true},
        {"\xc3\xa9", "e", false},
        {"\xe2\x84\xab", "\xc3\xa5", true}, /* angstrom sign */
        {"\xef\xbc\xa1", "\xef\xbd\x81", true}, /* full-width A and a */
        {"\xef\xbc\xa1", "a", false},
        {"\xef\xac\x81", "fi", true}, /* the ligature's full folding */
        {"\xe1\xbe\xb4", "\xce\xb1\xcd\x85\xcc\x81", true}, /* marks in another order */
        {"\xe1\xbe\xb4", "\xce\x91\xcc\x81\xce\x99", true},
        {"q\xcc\xa3\xcc\x87", "q\xcc\x87\xcc\xa3", true},
        {"\xd0\x90", "A", false}, /* Cyrillic */
        {"\xe9\x83\xa8\xe5\x93\x81", "\xe9\x83\xa8\xe5\x93\x81", true},
    };
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct slice a = fold(&fixture, pairs[i].a);
        struct slice b = fold(&fixture, pairs[i].b);

        assert_int_equal(slice_equal(a, b), pairs[i].same);
    }
    assert_int_equal(fold(&fixture, "").size, 0);
    assert_int_equal(fold(&fixture, " \xc2\x85\xe2\x80\xa8\xe1\x9a\x80 ").size, 0);
    fixture_deinit(&fixture);
}

/* Goal: folding twice equals folding once, and the longest text fits. Method: the characters that
 * grow most, as many as fit, and random text of letters that fold. */
static void test_folding_is_idempotent_and_bounded(void **state)
{
    static const char *const letters[] = {
        "\xce\x90", "\xef\xac\x83", "\xc5\x89", "\xe1\xbe\xb7",    "\xe1\xbb\xa6", "\xea\xb0\x81",
        "A",        "\xcc\x88",     "\xcd\x85", "\xf0\x9d\x85\xa0"};
    struct fixture fixture;
    char text[SKU_BYTES_MAX + 1];

    (void)state;
    fixture_init(&fixture);
    for (size_t round = 0; round < 300; round++) {
        size_t size = 0;
        struct slice once = {NULL, 0};
        struct slice twice = {NULL, 0};

        for (;;) {
            const char *letter =
                letters[round < 10 ? round
                                   : fixture_draw(&fixture, sizeof(letters) / sizeof(char *))];

            if (size + strlen(letter) > SKU_BYTES_MAX) {
                break;
            }
            memcpy(text + size, letter, strlen(letter));
            size += strlen(letter);
        }
        text[size] = '\0';
        once = fold(&fixture, text);
        assert_true(once.size <= SKU_FOLDED_BYTES_MAX);
        if (once.size <= SKU_BYTES_MAX) {
            assert_int_equal(sku_fold(&fixture.arena, once, &twice), OK);
            assert_true(slice_equal(once, twice));
        }
        fixture_forget(&fixture);
    }
    fixture_deinit(&fixture);
}

int run_sku_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skus_are_equal_up_to_case_and_space),
        cmocka_unit_test(test_folding_is_idempotent_and_bounded),
    };

    return cmocka_run_group_tests_name("skus", tests, NULL, NULL);
}
