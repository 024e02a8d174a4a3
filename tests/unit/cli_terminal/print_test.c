/*
 * print_test.c: text from outside, made safe to show.
 */
#include "tests/unit/cli_terminal/cli_terminal_tests.h"
#include "tools/errata/terminal/print.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_clean(const char *text, const char *expected)
{
    struct slice clean = {NULL, 0};
    struct arena arena;

    arena_init(&arena, 1 << 16);
    clean = print_clean(&arena, slice_text(text));
    assert_int_equal(clean.size, strlen(expected));
    assert_memory_equal(clean.data != NULL ? clean.data : (const uint8_t *)"", expected,
                        clean.size);
    arena_deinit(&arena);
}

/* Goal: nothing that a terminal obeys comes through, and all else does.
 * Method: controls of C0, DEL and C1, marks of direction, broken UTF-8, and other alphabets. */
static void cleaning(void **state)
{
    (void)state;
    assert_clean("plain gr\xc3\xb6\xc3\x9f \xe6\xbc\xa2", "plain gr\xc3\xb6\xc3\x9f \xe6\xbc\xa2");
    assert_clean("\x1b[31mred", "\\x1b[31mred");
    assert_clean("a\nb\tc\r", "a\\nb\\tc\\r");
    assert_clean("\x7f\xc2\x9b", "\\x7f\\x9b");
    assert_clean("a\xe2\x80\xae"
                 "b",
                 "a\\u202eb");
    assert_clean("\xff\xc3", "\\xff\\xc3");
    assert_clean("", "");
}

/* Goal: widths are those of a terminal, and cutting keeps within them.
 * Method: letters, wide characters and combining marks at the border. */
static void cutting(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 16);
    assert_int_equal(print_width(SLICE("abc")), 3);
    assert_int_equal(print_width(SLICE("\xe6\xbc\xa2\xe5\xad\x97")), 4);
    assert_int_equal(print_width(SLICE("e\xcc\x81")), 1);
    assert_true(slice_equal(print_cut_front(&arena, SLICE("abcdef"), 6), SLICE("abcdef")));
    assert_true(slice_equal(print_cut_front(&arena, SLICE("abcdef"), 4), SLICE("\xe2\x80\xa6"
                                                                               "def")));
    /* A wide character goes whole. */
    assert_true(slice_equal(print_cut_front(&arena, SLICE("\xe6\xbc\xa2\xe5\xad\x97z"), 4),
                            SLICE("\xe2\x80\xa6\xe5\xad\x97z")));
    assert_int_equal(print_cut_front(&arena, SLICE("abc"), 0).size, 0);
    assert_true(slice_equal(print_cut(&arena, SLICE("abcdef"), 6), SLICE("abcdef")));
    assert_true(slice_equal(print_cut(&arena, SLICE("abcdef"), 4), SLICE("abc\xe2\x80\xa6")));
    assert_true(slice_equal(print_cut(&arena, SLICE("\xe6\xbc\xa2\xe5\xad\x97"), 3),
                            SLICE("\xe6\xbc\xa2\xe2\x80\xa6")));
    arena_deinit(&arena);
}

static void assert_json(bool terminal, const char *json, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    struct printer printer = {.stream = open_memstream(&text, &size), .terminal = terminal};

    assert_non_null(printer.stream);
    print_json(&printer, slice_text(json));
    assert_int_equal(fclose(printer.stream), 0);
    assert_string_equal(text, expected);
    free(text);
}

/* Goal: JSON reaches a script byte for byte, and a terminal as the same value without controls.
 * Method: a C1 control inside a string, printed to both. */
static void json(void **state)
{
    (void)state;
    assert_json(false, "{\"a\":\"\xc2\x9b\"}", "{\"a\":\"\xc2\x9b\"}\n");
    assert_json(true, "{\"a\":\"\xc2\x9b\"}", "{\"a\":\"\\u009b\"}\n");
    assert_json(true, "{\n  \"a\": 1\n}", "{\n  \"a\": 1\n}\n");
}

/* Goal: colours only where asked for.
 * Method: the same text with and without. */
static void colours(void **state)
{
    char *text = NULL;
    size_t size = 0;
    struct printer printer = {.stream = open_memstream(&text, &size), .colour = true};

    (void)state;
    print_coloured(&printer, COLOUR_RED, SLICE("a\x1b"));
    printer.colour = false;
    print_coloured(&printer, COLOUR_RED, SLICE("b"));
    assert_int_equal(fclose(printer.stream), 0);
    assert_string_equal(text, "\x1b[31ma\\x1b\x1b[0mb");
    free(text);
}

int run_print_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cleaning), cmocka_unit_test(cutting),
                                       cmocka_unit_test(json), cmocka_unit_test(colours)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
