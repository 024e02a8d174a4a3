/*
 * print_test.c: text from outside, made safe for a terminal.
 */
#include "tests/unit/cli_terminal/cli_terminal_tests.h"
#include "tools/errata/terminal/print.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Goal: characters that control a terminal are removed, and all others are printed. Method:
 * controls of C0, DEL and C1, marks of direction, broken UTF-8, and other alphabets. */
static void test_control_characters_are_removed(void **state)
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

/* Goal: widths are those of a terminal, and cut texts do not exceed them. Method: letters, wide
 * characters and combining marks at the border. */
static void test_text_is_cut_to_terminal_columns(void **state)
{
    const struct printer printer = {.terminal = true};
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 16);
    assert_int_equal(print_width(SLICE("abc")), 3);
    assert_int_equal(print_width(SLICE("\xe6\xbc\xa2\xe5\xad\x97")), 4);
    assert_int_equal(print_width(SLICE("e\xcc\x81")), 1);
    assert_true(
        slice_equal(print_cut_front(&printer, &arena, SLICE("abcdef"), 6), SLICE("abcdef")));
    assert_true(
        slice_equal(print_cut_front(&printer, &arena, SLICE("abcdef"), 4), SLICE("\xe2\x80\xa6"
                                                                                 "def")));
    /* A wide character is removed as a whole. */
    assert_true(
        slice_equal(print_cut_front(&printer, &arena, SLICE("\xe6\xbc\xa2\xe5\xad\x97z"), 4),
                    SLICE("\xe2\x80\xa6\xe5\xad\x97z")));
    assert_int_equal(print_cut_front(&printer, &arena, SLICE("abc"), 0).size, 0);
    assert_true(slice_equal(print_cut(&printer, &arena, SLICE("abcdef"), 6), SLICE("abcdef")));
    assert_true(
        slice_equal(print_cut(&printer, &arena, SLICE("abcdef"), 4), SLICE("abc\xe2\x80\xa6")));
    assert_true(slice_equal(print_cut(&printer, &arena, SLICE("\xe6\xbc\xa2\xe5\xad\x97"), 3),
                            SLICE("\xe6\xbc\xa2\xe2\x80\xa6")));
    /* A letter and its accent are removed together; so are the two characters of a flag. */
    assert_true(slice_equal(print_cut(&printer, &arena, SLICE("abe\xcc\x81z"), 3),
                            SLICE("ab\xe2\x80\xa6")));
    assert_true(
        slice_equal(print_cut(&printer, &arena, SLICE("\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa-flag"), 2),
                    SLICE("\xe2\x80\xa6")));
    arena_deinit(&arena);
}

/* Goal: a terminal without UTF-8 gets only ASCII, cut with an ASCII mark; others get the stored
 * text. Method: letters of two, three and four bytes, cut and whole. */
static void test_terminal_without_utf8_gets_ascii(void **state)
{
    const struct printer ascii = {.terminal = true, .ascii = true};
    const struct printer utf8 = {.terminal = true};
    const struct slice text = SLICE("\xc3\xb6\xe6\xbc\xa2\xf0\x9f\x98\x80z");
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 16);
    assert_true(slice_equal(print_letters(&utf8, &arena, text), text));
    assert_true(
        slice_equal(print_letters(&ascii, &arena, text), SLICE("\\u00f6\\u6f22\\U01f600z")));
    assert_true(slice_equal(print_cut(&ascii, &arena, SLICE("abcdef"), 4), SLICE("abc~")));
    arena_deinit(&arena);
}

/* Goal: the environment specifies the character set of a terminal, in the order of POSIX. Method:
 * each variable that may specify it, on a pseudo-terminal. */
static void test_locale_follows_the_order_of_posix(void **state)
{
    static const struct {
        const char *lc_all;
        const char *lang;
        bool ascii;
    } cases[] = {{"", "", false},
                 {"", "C", true},
                 {"", "de_DE.UTF-8", false},
                 {"C", "en_US.UTF-8", true},
                 {"C.utf8", "C", false},
                 {"", "de_DE.ISO-8859-1", true}};
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    FILE *stream = NULL;

    (void)state;
    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    stream = fopen(ptsname(terminal), "we");
    assert_non_null(stream);
    assert_int_equal(unsetenv("LC_CTYPE"), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct printer printer;

        assert_int_equal(setenv("LC_ALL", cases[i].lc_all, 1), 0);
        assert_int_equal(setenv("LANG", cases[i].lang, 1), 0);
        assert_int_equal(setenv("TERM", "xterm", 1), 0);
        printer_init(&printer, stream, false);
        assert_true(printer.terminal && printer.cursor);
        assert_int_equal(printer.ascii, cases[i].ascii);
        assert_int_equal(setenv("TERM", "dumb", 1), 0);
        printer_init(&printer, stream, false);
        assert_false(printer.colour || printer.cursor);
    }
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(close(terminal), 0);
}

static void assert_json(bool terminal, bool ascii, const char *json, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    struct printer printer = {
        .stream = open_memstream(&text, &size), .terminal = terminal, .ascii = ascii};

    assert_non_null(printer.stream);
    print_json(&printer, slice_text(json));
    assert_int_equal(fclose(printer.stream), 0);
    assert_string_equal(text, expected);
    free(text);
}

/* Goal: JSON reaches a script byte for byte, and a terminal as the same value without controls.
 * Method: a C1 control inside a string, printed to both. */
static void test_json_is_unchanged_for_scripts(void **state)
{
    (void)state;
    assert_json(false, false, "{\"a\":\"\xc2\x9b\"}", "{\"a\":\"\xc2\x9b\"}\n");
    assert_json(true, false, "{\"a\":\"\xc2\x9b\"}", "{\"a\":\"\\u009b\"}\n");
    assert_json(true, true, "{\"a\":\"\xc3\xb6\xf0\x9f\x98\x80\"}",
                "{\"a\":\"\\u00f6\\ud83d\\ude00\"}\n");
    assert_json(true, false, "{\n  \"a\": 1\n}", "{\n  \"a\": 1\n}\n");
}

/* Goal: colours are printed only on request. Method: the same text with and without. */
static void test_colours_are_printed_only_if_enabled(void **state)
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_control_characters_are_removed),
                                       cmocka_unit_test(test_text_is_cut_to_terminal_columns),
                                       cmocka_unit_test(test_terminal_without_utf8_gets_ascii),
                                       cmocka_unit_test(test_locale_follows_the_order_of_posix),
                                       cmocka_unit_test(test_json_is_unchanged_for_scripts),
                                       cmocka_unit_test(test_colours_are_printed_only_if_enabled)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
