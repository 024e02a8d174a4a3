/*
 * template_tests.c: the template engine on texts that are nearly tokens, values that resemble
 * tokens, and limits of size.
 */
#include "server/domain/text/template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ARENA_BYTES ((size_t)64 << 20)

/* Values of the tests' placeholders. */
static const struct {
    const char *name;
    const char *value;
} known[] = {
    {"A", "alpha"}, {"B", "{{A}}"},   {"empty", ""},
    {"a_1", "{"},   {"close", "A}}"}, {"C", "\xc3\xa9"},
};

#define KNOWN_COUNT (sizeof(known) / sizeof(known[0]))

static struct template_value find(struct slice name)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        if (slice_equal(name, slice_text(known[i].name))) {
            return (struct template_value){true, slice_text(known[i].value)};
        }
    }
    return (struct template_value){false, {NULL, 0}};
}

/* Asserts that the result is `wanted`, and that `others` are the names without a value, separated by commas. */
static void expect(const char *text, const char *wanted, const char *others)
{
    struct template_value values[TEMPLATE_NAMES_MAX];
    struct template template;
    struct buffer filled;
    struct buffer left;
    struct arena arena;
    size_t bytes = 0;

    arena_init(&arena, ARENA_BYTES);
    buffer_init(&left, &arena, 16);
    assert_int_equal(template_read(&arena, slice_text(text), &template), OK);
    for (size_t i = 0; i < template.name_count; i++) {
        values[i] = find(template.names[i]);
        if (!values[i].given) {
            buffer_append(&left, left.size > 0 ? SLICE(",") : SLICE(""));
            buffer_append(&left, template.names[i]);
        }
    }
    bytes = template_filled_bytes(&template, values);
    buffer_init(&filled, &arena, bytes);
    template_fill(&template, values, &filled);
    assert_true(buffer_ok(&filled));
    assert_int_equal(filled.size, strlen(wanted));
    assert_memory_equal(filled.data, wanted, filled.size);
    assert_true(slice_equal(buffer_slice(&left), slice_text(others)));
    assert_int_equal(filled.size, bytes);
    arena_deinit(&arena);
}

/* Goal: tokens are filled in at any place. Method: a single one, two, with spaces, side by side. */
static void test_tokens_are_filled_in_anywhere(void **state)
{
    (void)state;
    expect("", "", "");
    expect("no tokens here", "no tokens here", "");
    expect("{{A}}", "alpha", "");
    expect("{{ A }}", "alpha", "");
    expect("{{   A}}", "alpha", "");
    expect("{{A}}{{A}}", "alphaalpha", "");
    expect("x {{A}} y {{empty}} z", "x alpha y  z", "");
    expect("\xc3\xa4{{C}}\xf0\x9f\x98\x80{{A}}\xc3\x9f",
           "\xc3\xa4\xc3\xa9\xf0\x9f\x98\x80"
           "alpha\xc3\x9f",
           "");
}

/* Goal: text that is not a token is kept byte for byte. Method: each kind of text that is nearly a
 * token. */
static void test_text_similar_to_a_token_is_kept(void **state)
{
    static const char *const texts[] = {
        "{",       "{{",      "{{A",       "{{A}",          "{A}}",
        "{ {A}}",  "{{}}",    "{{ }}",     "{{A B}}",       "{{A-B}}",
        "{{A.b}}", "{{\tA}}", "{{A\n}}",   "{{\xc3\xa4}}",  "{{A} }",
        "}}{{",    "{{{{{{",  "{{\"A\"}}", "{{\302\240A}}", "{{A\xc2\xa0}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        expect(texts[i], texts[i], "");
    }
}

/* Goal: braces around a token stay. Method: three and four of them, and tokens within tokens. */
static void test_braces_around_a_token_stay(void **state)
{
    (void)state;
    expect("{{{A}}}", "{alpha}", "");
    expect("{{{{A}}}}", "{{alpha}}", "");
    expect("{{A{{A}}}}", "{{Aalpha}}", "");
    expect("{{A{{A}}", "{{Aalpha", "");
    expect("{{ {{A}} }}", "{{ alpha }}", "");
    expect("{{{{", "{{{{", "");
}

/* Goal: a value is never expanded, nor together with the text around it. Method: values that are a
 * token, half of one, and that would complete one. */
static void test_values_are_not_expanded(void **state)
{
    (void)state;
    expect("{{B}}", "{{A}}", "");
    expect("{{B}}{{A}}", "{{A}}alpha", "");
    expect("{{a_1}}{A}}", "{{A}}", "");
    expect("{{{a_1}}", "{{", "");
    expect("{{a_1}}{{a_1}}A}}", "{{A}}", "");
    expect("{{a_1}}{{a_1}}{{close}}", "{{A}}", "");
}

/* Goal: names without a value stay as they were written, and are listed once, in order. Method: several,
 * repeated, in other letter cases. */
static void test_names_without_a_value_stay(void **state)
{
    (void)state;
    expect("{{Z}} {{A}} {{ Y }} {{Z}}", "{{Z}} alpha {{ Y }} {{Z}}", "Z,Y");
    expect("{{a}}{{A}}{{_}}{{0}}", "{{a}}alpha{{_}}{{0}}", "a,_,0");
    expect("{{{{Z}}", "{{{{Z}}", "Z");
}

/* Goal: long names are valid; too many of them are refused. Method: 1 KB, and one more than fit. */
static void test_too_many_names_are_refused(void **state)
{
    char text[1032] = "{{";
    struct template template;
    struct arena arena;
    struct buffer many;

    (void)state;
    memset(text + 2, 'n', 1024);
    memcpy(text + 1026, "}}", 3);
    text[1025] = 'm';
    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(template_read(&arena, slice_text(text), &template), OK);
    assert_int_equal(template.name_count, 1);
    assert_int_equal(template.names[0].size, 1024);

    buffer_init(&many, &arena, 4096);
    for (int i = 0; i < TEMPLATE_NAMES_MAX; i++) {
        buffer_printf(&many, "{{n%d}}{{n%d}}", i, TEMPLATE_NAMES_MAX - 1 - i);
    }
    assert_int_equal(template_read(&arena, buffer_slice(&many), &template), OK);
    assert_int_equal(template.name_count, TEMPLATE_NAMES_MAX);
    assert_int_equal(template.place_count, 2 * TEMPLATE_NAMES_MAX);
    assert_true(slice_equal(template.names[1], SLICE("n255")));
    buffer_append(&many, SLICE("{{one_more}}"));
    assert_int_equal(template_read(&arena, buffer_slice(&many), &template), ERR_INVALID);
    arena_deinit(&arena);
}

/* Goal: the computed size is exact for a large value that occurs often. Method: 1 MB, four
 * times. */
static void test_size_is_exact_for_large_values(void **state)
{
    struct template_value value = {true, {NULL, (size_t)1 << 20}};
    struct template template;
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(template_read(&arena, SLICE("{{A}}-{{A}}{{ A }}{{A}}"), &template), OK);
    assert_int_equal(template_filled_bytes(&template, &value), ((size_t)4 << 20) + 1);
    arena_deinit(&arena);
}

/* Goal: a name is letters, digits and `_`. Method: each kind of byte. */
static void test_name_is_letters_digits_and_underscore(void **state)
{
    (void)state;
    assert_true(template_is_name(SLICE("azAZ09_")));
    assert_false(template_is_name(SLICE("")));
    assert_false(template_is_name(SLICE("a b")));
    assert_false(template_is_name(SLICE("a-b")));
    assert_false(template_is_name(SLICE("\xc3\xa4")));
    assert_false(template_is_name(SLICE("{{a}}")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_are_filled_in_anywhere),
        cmocka_unit_test(test_text_similar_to_a_token_is_kept),
        cmocka_unit_test(test_braces_around_a_token_stay),
        cmocka_unit_test(test_values_are_not_expanded),
        cmocka_unit_test(test_names_without_a_value_stay),
        cmocka_unit_test(test_too_many_names_are_refused),
        cmocka_unit_test(test_size_is_exact_for_large_values),
        cmocka_unit_test(test_name_is_letters_digits_and_underscore),
    };

    return cmocka_run_group_tests_name("template", tests, NULL, NULL);
}
