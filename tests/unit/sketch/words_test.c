/*
 * words_test.c: the letterhead and the body of synthetic pages.
 */
#include "tests/unit/sketch/sketch_tests.h"

#include "server/domain/layouts/sketch/family_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define LINE_HEIGHT 10

/* A page, and a sketch without words. */
struct fixture {
    struct family_page_words words;
    struct family_sketch sketch;
};

static void fixture_init(struct fixture *fixture)
{
    family_page_words_begin(&fixture->words);
    fixture->sketch = (struct family_sketch){.count = FAMILY_SKETCH_FEATURES_MIN};
    for (uint32_t i = 0; i < FAMILY_SKETCH_FEATURES_MIN; i++) {
        fixture->sketch.features[i] = 8 * i;
    }
}

static void add(struct fixture *fixture, double left, double top, const char *text)
{
    const struct family_word_place place = {left, top, top + LINE_HEIGHT};

    family_page_words_add(&fixture->words, &place, slice_text(text));
}

/* Adds `count` different words on a line each, from a number on. */
static void add_lines(struct fixture *fixture, unsigned first, unsigned count)
{
    char text[16];

    for (unsigned i = first; i < first + count; i++) {
        (void)snprintf(text, sizeof(text), "word%c%c", (char)('a' + i % 26), (char)('a' + i / 26));
        add(fixture, 0, 2.0 * LINE_HEIGHT * i, text);
    }
}

static const struct family_words *finish(struct fixture *fixture)
{
    family_page_words_finish(&fixture->words, &fixture->sketch);
    assert_true(family_sketch_is_valid(&fixture->sketch));
    return &fixture->sketch.words;
}

/* Goal: the letterhead is the first twelve words line by line, regardless of the order in which they are added; a word that
 * occurs again is not in the body. Method: lines from the bottom up and from right to left, the first twelve words on
 * lines that are not quite straight. */
static void test_letterhead_is_read_line_by_line(void **state)
{
    struct fixture straight;
    struct fixture mixed;
    const struct family_words *expected = NULL;
    const struct family_words *found = NULL;

    (void)state;
    fixture_init(&straight);
    add_lines(&straight, 0, 20);
    expected = finish(&straight);
    assert_int_equal(expected->letterhead_count, 12);
    assert_int_equal(expected->body_count, 8);
    fixture_init(&mixed);
    add_lines(&mixed, 12, 8); /* from y = 240 on */
    for (int i = 11; i >= 0; i--) {
        char text[16];
        int row = i / 4;

        (void)snprintf(text, sizeof(text), "word%ca", (char)('a' + i));
        add(&mixed, 50.0 * (i % 4), 30 * row + (i % 2 == 0 ? 0 : 4), text);
    }
    add(&mixed, 0, 900, "wordaa");
    found = finish(&mixed);
    assert_memory_equal(found->letterhead, expected->letterhead, 12 * sizeof(uint32_t));
    assert_int_equal(found->body_count, 8);
    assert_memory_equal(found->body, expected->body, 8 * sizeof(uint32_t));
}

/* Goal: words with digits count for the size of the page only; pages with too few words, or too many, have none. Method:
 * pages at the limits and beyond them. */
static void test_pages_with_too_few_or_too_many_words_have_no_letterhead(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    add_lines(&fixture, 0, 12 + FAMILY_BODY_WORDS_MIN - 1);
    assert_int_equal(finish(&fixture)->letterhead_count, 0);
    fixture_init(&fixture);
    add_lines(&fixture, 0, 12 + FAMILY_BODY_WORDS_MIN);
    assert_int_equal(finish(&fixture)->letterhead_count, 12);
    fixture_init(&fixture);
    add_lines(&fixture, 0, FAMILY_PAGE_WORDS_MAX - 20);
    for (int i = 0; i < 20; i++) {
        add(&fixture, 0, -2.0 * LINE_HEIGHT, "");
    }
    assert_int_equal(finish(&fixture)->letterhead_count, 12);
    assert_int_equal(fixture.sketch.words.body_count, FAMILY_BODY_WORDS_MAX);
    fixture_init(&fixture);
    add_lines(&fixture, 0, FAMILY_PAGE_WORDS_MAX - 20);
    for (int i = 0; i < 21; i++) {
        add(&fixture, 0, -2.0 * LINE_HEIGHT, "");
    }
    assert_int_equal(finish(&fixture)->letterhead_count, 0);
    fixture_init(&fixture);
    for (int i = 0; i < 12; i++) { /* three different words */
        add(&fixture, 0, 1, i % 3 == 0 ? "one" : i % 3 == 1 ? "two" : "three");
    }
    add_lines(&fixture, 20, 30);
    assert_int_equal(finish(&fixture)->letterhead_count, 0);
    fixture_init(&fixture);
    fixture.sketch.count = 0;
    add_lines(&fixture, 0, 50);
    assert_int_equal(finish(&fixture)->letterhead_count, 0);
}

int run_words_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_letterhead_is_read_line_by_line),
        cmocka_unit_test(test_pages_with_too_few_or_too_many_words_have_no_letterhead),
    };

    return cmocka_run_group_tests_name("sketch: words", tests, NULL, NULL);
}
