/*
 * spec_tests.c: the stored form of the fields that a review names as missing.
 */
#include "server/domain/reviews/spec_set.h"
#include "server/domain/reviews/specs.h"
#include "store/base/view.h"
#include "tests/support/store/store_fixture.h"
#include "tests/unit/reviews/groups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TEXT_BYTES 512

/* Normalises, and returns the names, one per line. */
static struct slice normalise(struct store_fixture *fixture, const char *const *texts, size_t count)
{
    char **copies = arena_calloc(&fixture->arena, count + 1, sizeof(*copies));
    struct slice run = {NULL, 0};
    struct slice name = {NULL, 0};
    struct buffer names;

    assert_non_null(copies);
    for (size_t i = 0; i < count; i++) {
        struct slice copy = {NULL, 0};

        assert_true(arena_copy(&fixture->arena, slice_text(texts[i]), &copy));
        copies[i] = (char *)(uintptr_t)copy.data;
    }
    assert_int_equal(review_specs_normalise(&fixture->ctx, SLICE("review"), copies, count, &run),
                     OK);
    buffer_init(&names, &fixture->arena, 0);
    while (view_next(&run, &name)) {
        buffer_append(&names, name);
        buffer_append_byte(&names, '\n');
    }
    assert_int_equal(run.size, 0);
    return buffer_slice(&names);
}

/* Goal: names are normalised, and each occurs once. Method: each rule with one example. */
static void test_names_are_cleaned_and_unique(void **state)
{
    struct store_fixture *fixture = *state;
    static const char street[] = "Stra\xc3\x9f"
                                 "e";
    const char *const texts[] = {" Width ",  "height\t", "\x1b[1mports", "WIDTH",   "",
                                 "\xc2\xa0", street,     "a\nb",         "STRASSE", "\x01"};
    struct slice names = normalise(fixture, texts, sizeof(texts) / sizeof(texts[0]));

    assert_true(slice_equal(names, SLICE("WIDTH\nheight\n[1mports\nSTRASSE\nab\n")));
    assert_int_equal(fixture->fault.count, 0);
}

/* Goal: the limits apply to the stored form. Method: 100 and 101 characters of two bytes, after trimming; 50 and 51
 * names that differ, of more that repeat. */
static void test_limits_count_what_is_stored(void **state)
{
    struct store_fixture *fixture = *state;
    char text[TEXT_BYTES] = " ";
    const char *one[] = {text};
    size_t end = 1;
    char names[2 * REVIEW_SPECS_MAX + 2][8];
    const char *many[2 * REVIEW_SPECS_MAX + 2];

    for (size_t i = 0; i < REVIEW_SPEC_CHARACTERS_MAX; i++) {
        text[end++] = '\xc3';
        text[end++] = '\xa4';
    }
    text[end] = ' ';
    assert_int_equal(normalise(fixture, one, 1).size, 2 * REVIEW_SPEC_CHARACTERS_MAX + 1);
    assert_int_equal(fixture->fault.count, 0);
    text[0] = 'x';
    assert_int_equal(normalise(fixture, one, 1).size, 0);
    assert_int_equal(fixture->fault.count, 1);
    assert_true(slice_equal(fixture->fault.entries[0].field, SLICE("review.missing_spec[0]")));
    for (size_t i = 0; i < 2 * REVIEW_SPECS_MAX + 2; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "%s%zu", i % 2 == 0 ? "N" : "n", i / 2);
        many[i] = names[i];
    }
    (void)normalise(fixture, many, 2 * (size_t)REVIEW_SPECS_MAX);
    assert_int_equal(fixture->fault.count, 1);
    (void)normalise(fixture, many, 2 * (size_t)REVIEW_SPECS_MAX + 2);
    assert_int_equal(fixture->fault.count, 2);
    assert_true(slice_equal(fixture->fault.entries[1].field, SLICE("review.missing_spec")));
}

/* Goal: equal sets have one form. Method: the same names in another order and case, and another set. */
static void test_equal_sets_have_one_form(void **state)
{
    struct store_fixture *fixture = *state;
    struct slice forms[3] = {{NULL, 0}};
    const struct slice runs[3] = {SLICE("\x52\1b\x52\1A"), SLICE("\x52\1a\x52\1B"),
                                  SLICE("\x52\1a\x52\1C")};

    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(spec_set_canonical(&fixture->arena, runs[i], &forms[i]), OK);
    }
    assert_true(slice_equal(forms[0], SLICE("a\nb\n")));
    assert_true(slice_equal(forms[0], forms[1]));
    assert_false(slice_equal(forms[0], forms[2]));
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, store_fixture_set_up, store_fixture_tear_down)

int run_spec_tests(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_names_are_cleaned_and_unique),
        TEST(test_limits_count_what_is_stored),
        TEST(test_equal_sets_have_one_form),
    };

    return cmocka_run_group_tests_name("fields of reviews", tests, NULL, NULL);
}
