/*
 * fields_test.c: members by path, times, and lists as Python prints them.
 */
#include "tests/unit/cli_import/cli_import_tests.h"
#include "tools/errata/import/fields.h"
#include "tools/errata/import/python_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct arena arena;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)1024 * 1024);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static void assert_text(struct slice text, const char *expected)
{
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.data, expected, text.size);
}

static struct json_value parse(const char *text)
{
    const struct json_rules rules = {.depth_max = JSON_DEPTH_MAX};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct json_problem problem = {NULL, 0};

    assert_int_equal(json_check(&arena, slice_text(text), &rules, &value, &problem), OK);
    return value;
}

/* Goal: a path finds nested members, names with dots, and members of objects in texts. Method: one record of each. */
static void test_paths_find_members(void **state)
{
    struct json_value record =
        parse("{\"a\":{\"b\":{\"c\":1}},\"x.y\":\"flat\",\"at\":{\"output.value\":\"out\"},"
              "\"cell\":\"{\\\"in\\\":[1,2]}\",\"none\":null,\"empty\":\"\",\"no\":false}");
    struct json_value value = {JSON_NULL, {NULL, 0}};

    (void)state;
    assert_text(fields_text(&arena, record, "a.b.c"), "1");
    assert_text(fields_text(&arena, record, "x.y"), "flat");
    assert_text(fields_text(&arena, record, "at.output.value"), "out");
    assert_text(fields_text(&arena, record, "cell.in"), "[1,2]");
    assert_text(fields_text(&arena, record, "no"), "false");
    assert_false(fields_find(&arena, record, "none", &value));
    assert_false(fields_find(&arena, record, "empty", &value));
    assert_false(fields_find(&arena, record, "a.b.c.d", &value));
    assert_false(fields_find(&arena, record, "a.missing", &value));
}

/* Goal: each way to write a time gives the same one. Method: 2025-01-01 00:00:02.5 in all of them, and other texts. */
static void test_times_are_read_in_every_form(void **state)
{
    static const char *const same[] = {"2025-01-01T00:00:02.5Z",
                                       "2025-01-01 00:00:02.500",
                                       "2025-01-01T00:00:02.500000",
                                       "2025-01-01 01:00:02.5+01:00",
                                       "2025-01-01 00:00:02.5 UTC",
                                       "1735689602500",
                                       "1735689602500000",
                                       "1735689602500000000",
                                       "01941f29-85c4-7abc-8000-000000000001"};
    static const char *const wrong[] = {"",
                                        "soon",
                                        "2025-13-01",
                                        "12345",
                                        "0192f0c0-1111-4222-8333-444455556666",
                                        "ffffffff-ffff-7fff-8000-000000000001", /* the year 10889 */
                                        "2025-01-01T00:00:02.5Zx"};
    int64_t us = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        us = 0;
        assert_true(fields_time(slice_text(same[i]), &us));
        assert_int_equal(us, INT64_C(1735689602500000));
    }
    assert_true(fields_time(SLICE("2025-01-01"), &us));
    assert_int_equal(us, INT64_C(1735689600000000));
    assert_true(fields_time(SLICE("1735689600"), &us));
    assert_int_equal(us, INT64_C(1735689600000000));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(fields_time(slice_text(wrong[i]), &us));
    }
    assert_text(fields_time_text(&arena, INT64_C(1735689602500001)), "2025-01-01T00:00:02.500001Z");
    assert_text(fields_time_text(&arena, -1), "1969-12-31T23:59:59.999999Z");
}

static void assert_list(const char *text, const char *expected)
{
    struct json_value value = python_list_read(&arena, slice_text(text));

    assert_text(value.kind == JSON_NULL ? SLICE("null") : value.text, expected);
}

/* Goal: printed lists become JSON. Method: lists of Python and numpy, and other texts. */
static void test_printed_lists_become_json(void **state)
{
    (void)state;
    assert_list("['a', \"it's\"]", "[\"a\",\"it's\"]");
    assert_list("['a' 'b'\n 'c']", "[\"a\",\"b\",\"c\"]");
    assert_list("[1, 2.5, None, True, nan]", "[1,2.5,null,true,null]");
    assert_list("['a\\'b\\\\', 'x\\ny']", "[\"a'b\\\\\",\"x\\ny\"]");
    assert_list("[]", "[]");
    assert_list("['a", "null");
    assert_list("['\\x41']", "null");
    assert_list("[['a'], ['b']]", "null");
    assert_list("text", "null");
}

int run_fields_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_paths_find_members),
                                       cmocka_unit_test(test_times_are_read_in_every_form),
                                       cmocka_unit_test(test_printed_lists_become_json)};

    return cmocka_run_group_tests(tests, start, stop);
}
