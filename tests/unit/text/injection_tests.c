/*
 * injection_tests.c: the sanitiser on strings that attack a prompt, and on harmless ones
 * (tests/data/injections, one JSON object per line). It removes marks and does not judge words:
 * attacks that consist only of words are kept.
 */
#include "server/domain/text/quote.h"
#include "server/domain/text/sanitise.h"
#include "store/base/json.h"
#include "tests/unit/text/promises.h"
#include "tests/unit/text/text_suites.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define FOLDER "tests/data/injections/"
#define LINE_BYTES_MAX 8192
#define ARENA_BYTES ((size_t)16 << 20)
#define PROFILES 3
#define LONG_BYTES ((size_t)64 << 10)
#define SECONDS_MAX 30 /* CPU time limit for all texts */

static struct json_value parse(struct arena *arena, const char *line)
{
    const struct json_rules rules = {JSON_DEPTH_MAX, false};
    struct json_problem problem = {NULL, 0};
    struct json_value value = {JSON_NULL, {NULL, 0}};

    assert_int_equal(json_check(arena, slice_text(line), &rules, &value, &problem), OK);
    return value;
}

static struct slice string_of(struct arena *arena, struct json_value value)
{
    struct slice text = {NULL, 0};

    assert_int_equal(value.kind, JSON_STRING);
    assert_int_equal(json_string(arena, value.text, &text), OK);
    return text;
}

/* Finds a text member; returns false if the object has none. */
static bool read_text(struct arena *arena, struct json_value object, const char *name,
                      struct slice *ret_text)
{
    struct json_value value = {JSON_NULL, {NULL, 0}};

    if (!json_member(object, slice_text(name), &value)) {
        return false;
    }
    *ret_text = string_of(arena, value);
    return true;
}

static void fail_of(struct slice id, int profile, struct slice clean, const char *why)
{
    fail_msg("%.*s in profile %d: %s; it came out as \"%.*s\"", (int)id.size, (const char *)id.data,
             profile, why, (int)clean.size, (const char *)clean.data);
}

static void expect_gone(struct arena *arena, struct json_value object, const char *member,
                        int profile, struct slice clean)
{
    struct json_value list = {JSON_NULL, {NULL, 0}};
    struct json_value element = {JSON_NULL, {NULL, 0}};
    struct json_walk walk;
    struct slice key = {NULL, 0};
    struct slice id = {NULL, 0};

    if (!json_member(object, slice_text(member), &list)) {
        return;
    }
    assert_true(read_text(arena, object, "id", &id));
    walk = json_walk_start(list);
    while (json_walk_next(&walk, &key, &element)) {
        struct slice gone = string_of(arena, element);

        if (clean.size > 0 && memmem(clean.data, clean.size, gone.data, gone.size) != NULL) {
            fail_of(id, profile, clean, "a mark is still there");
        }
    }
}

/* Checks the guarantees for any text, also within a quotation. */
static void expect_promises(struct arena *arena, struct slice id, int profile, struct slice text,
                            struct slice clean)
{
    const char *broken = promises_broken_by((enum sanitise_profile)profile, clean);
    struct quote quote;

    if (broken != NULL) {
        fail_of(id, profile, clean, broken);
    }
    if (!slice_equal(sanitise_text(arena, (enum sanitise_profile)profile, clean).text, clean)) {
        fail_of(id, profile, clean, "doing it again changes it");
    }
    quote_init(&quote, arena);
    assert_int_equal(quote_add(&quote, text), OK);
    broken = promises_broken_by_quote(buffer_slice(&quote.text), 1);
    if (broken != NULL) {
        fail_of(id, profile, buffer_slice(&quote.text), broken);
    }
}

static void check_injection(struct arena *arena, struct json_value object)
{
    struct json_value found = {JSON_NULL, {NULL, 0}};
    struct slice id = {NULL, 0};
    struct slice text = {NULL, 0};
    bool stays = json_member(object, SLICE("stays"), &found);

    assert_true(read_text(arena, object, "id", &id));
    assert_true(read_text(arena, object, "text", &text));
    assert_true(stays || json_member(object, SLICE("gone"), &found) ||
                json_member(object, SLICE("gone_in_fields"), &found));
    for (int profile = 0; profile < PROFILES; profile++) {
        struct sanitised clean = sanitise_text(arena, (enum sanitise_profile)profile, text);

        assert_false(clean.failed);
        if (stays && !slice_equal(clean.text, text)) {
            fail_of(id, profile, clean.text, "words were changed");
        }
        expect_gone(arena, object, "gone", profile, clean.text);
        if (profile != SANITISE_EXAMPLE) {
            expect_gone(arena, object, "gone_in_fields", profile, clean.text);
        }
        expect_promises(arena, id, profile, text, clean.text);
    }
}

static void check_honest(struct arena *arena, struct json_value object)
{
    struct slice id = {NULL, 0};
    struct slice text = {NULL, 0};

    assert_true(read_text(arena, object, "id", &id));
    assert_true(read_text(arena, object, "text", &text));
    for (int profile = 0; profile < PROFILES; profile++) {
        struct sanitised clean = sanitise_text(arena, (enum sanitise_profile)profile, text);
        struct slice wanted = text;

        (void)read_text(arena, object, profile == SANITISE_EXAMPLE ? "example" : "field", &wanted);
        if (!slice_equal(clean.text, wanted)) {
            fail_of(id, profile, clean.text, "an honest text was changed");
        }
        expect_promises(arena, id, profile, text, clean.text);
    }
}

/* Returns the number of lines. */
static size_t check_file(const char *path, void (*check)(struct arena *, struct json_value))
{
    char *line = malloc(LINE_BYTES_MAX);
    FILE *file = fopen(path, "r");
    struct arena arena;
    size_t count = 0;

    assert_non_null(file);
    assert_non_null(line);
    arena_init(&arena, ARENA_BYTES);
    while (fgets(line, LINE_BYTES_MAX, file) != NULL) {
        check(&arena, parse(&arena, line));
        arena_reset(&arena);
        count++;
    }
    arena_deinit(&arena);
    assert_int_equal(fclose(file), 0);
    free(line);
    return count;
}

/* Goal: no mark of the known attacks is left in any profile. Method: each string lists the text
 * that must be removed; the guarantees are checked, too. */
static void test_known_injections_leave_no_mark(void **state)
{
    (void)state;
    assert_true(check_file(FOLDER "strings.jsonl", check_injection) >= 150);
}

/* Goal: real notes and guidelines are kept, in any language. Method: each has its expected result
 * if that differs: NFKC, marks, a role at the start of a line. */
static void test_honest_texts_are_kept(void **state)
{
    (void)state;
    assert_true(check_file(FOLDER "honest.jsonl", check_honest) >= 60);
}

/* Goal: sanitising takes time proportional to the text. Method: texts of a size that can be stored, made of pieces
 * that may begin markup anywhere, and a letter with which a role could begin; 30,000 combining marks once took a minute,
 * since the search for a role was repeated after each of them. */
static void test_time_is_proportional_to_the_text(void **state)
{
    static const char *const pieces[] = {
        "\xcc\x80",    "#",        "> ",           "# \xcc\x80", "_",        "* ",
        "`",           "\xc2\xa0", "<s",           "<\xcc\x80",  "[",        "<|a",
        "<s \xcc\x80", "1. ",      "{\xcc\x80",    "\x1b[",      "\nsystem", "system\xcc\x80",
        "sy\n",        "<<s",      "\xef\xbc\x9c",
    };
    char *text = test_malloc(LONG_BYTES + 1);
    clock_t begin = clock();

    (void)state;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        size_t piece_bytes = strlen(pieces[i]);
        size_t bytes = LONG_BYTES / piece_bytes * piece_bytes;
        struct slice found = {NULL, 0};
        struct arena arena;

        for (size_t at = 0; at < bytes; at++) {
            text[at] = pieces[i][at % piece_bytes];
        }
        text[bytes] = 'a';
        arena_init(&arena, ARENA_BYTES);
        assert_int_equal(sanitise_example(&arena, slice_of(text, bytes + 1), &found), OK);
        assert_true(found.size <= bytes + 1);
        arena_deinit(&arena);
    }
    assert_in_range((clock() - begin) / CLOCKS_PER_SEC, 0, SECONDS_MAX);
    test_free(text);
}

int run_injection_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_injections_leave_no_mark),
        cmocka_unit_test(test_honest_texts_are_kept),
        cmocka_unit_test(test_time_is_proportional_to_the_text),
    };

    return cmocka_run_group_tests_name("injections", tests, NULL, NULL);
}
