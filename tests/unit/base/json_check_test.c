/*
 * json_check_test.c: the texts that are JSON by RFC 8259. peer/compare_with_python.py compares the
 * results for these texts and thousands of others with Python's.
 */
#include "tests/unit/base/base_tests.h"

#include "store/base/json.h"

#include <stdio.h>
#include <time.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct json_rules plain_rules = {JSON_FIELD_DEPTH_MAX, false};

/* Goal: all of RFC 8259 is accepted, with the correct kind. Method: a table. */
static void test_valid_json_is_accepted_with_its_kind(void **state)
{
    static const struct {
        const char *text;
        enum json_kind kind;
    } rows[] = {
        {"{}", JSON_OBJECT},
        {"[]", JSON_ARRAY},
        {"null", JSON_NULL},
        {"true", JSON_TRUE},
        {"false", JSON_FALSE},
        {"0", JSON_NUMBER},
        {"-0", JSON_NUMBER},
        {"-0.0e-00", JSON_NUMBER},
        {"1E+400", JSON_NUMBER},
        {"123456789012345678901234567890", JSON_NUMBER},
        {"\"\"", JSON_STRING},
        {" \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n", JSON_ARRAY},
        {"{\"a\" : 1 , \"b\":[ ] , \"\":{ } }", JSON_OBJECT},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uFFFF\\uABcd\"", JSON_STRING},
        {"\"\\ud83d\\ude00\"", JSON_STRING},
        {"\"\x7f\xc2\x80\xf4\x8f\xbf\xbf\"", JSON_STRING},
        {"{\"a\":1,\"A\":2,\"a \":3,\"\\u0061b\":4}", JSON_OBJECT},
        {"[{\"a\":1},{\"a\":2},{\"a\":{\"a\":{\"a\":1}}}]", JSON_ARRAY},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct json_value value = {0};
        struct json_problem problem = {"", 0};

        if (json_check(*state, slice_text(rows[i].text), &plain_rules, &value, &problem) != OK) {
            fail_msg("%s: %s at %zu", rows[i].text, problem.what, problem.at);
        }
        assert_int_equal(value.kind, rows[i].kind);
        assert_int_not_equal(value.text.data[0], ' ');
    }
}

/* Goal: everything else is refused at the first invalid byte. Method: a table. */
static void test_invalid_json_is_refused_at_its_byte(void **state)
{
    static const struct {
        const char *text;
        size_t at;
    } rows[] = {
        {"", 0},
        {"  ", 2},
        {"{", 1},
        {"[", 1},
        {"[1", 2},
        {"[1,", 3},
        {"[1,]", 3},
        {"[,1]", 1},
        {"[1 2]", 3},
        {"[1}", 2},
        {"{]", 1},
        {"{\"a\"}", 4},
        {"{\"a\":}", 5},
        {"{\"a\":1,}", 7},
        {"{\"a\":1 \"b\":2}", 7},
        {"{\"a\":1]", 6},
        {"{a:1}", 1},
        {"{1:1}", 1},
        {"{'a':1}", 1},
        {"{,}", 1},
        {"{\"a\"", 4},
        {"{\"a", 3},
        {"]", 0},
        {"1 2", 2},
        {"{}{}", 2},
        {"nul", 0},
        {"nulll", 4},
        {"True", 0},
        {"truE", 0},
        {"01", 0},
        {"-01", 0},
        {"+1", 0},
        {"-", 0},
        {".5", 0},
        {"5.", 0},
        {"1.e1", 0},
        {"1e", 0},
        {"1e+", 0},
        {"0x10", 1},
        {"1_000", 1},
        {"NaN", 0},
        {"Infinity", 0},
        {"-Infinity", 0},
        {"\"", 1},
        {"\"a", 2},
        {"\"\\", 2},
        {"\"\\\"", 3},
        {"\"\\x41\"", 1},
        {"\"\\u12\"", 1},
        {"\"\\u12g4\"", 1},
        {"\"\\U0041\"", 1},
        {"\"a\nb\"", 2},
        {"\"12345678\x1f\"", 9},
        {"\"\\ud800\"", 1}, /* unpaired, as an escape */
        {"\"\\udc00\"", 1},
        {"\"x\\ud800\\ud800\"", 2},
        {"\"\\ud800\\n\"", 1},
        {"\"\\ud800\\u12\"", 1},
        {"\"\\ude00\\ud83d\"", 1},
        {"\"\xed\xa0\x80\"", 1}, /* unpaired, as bytes */
        {"\"\xff\"", 1},
        {"\"12345678\xc3\"", 9},
        {"\xef\xbb\xbf{}", 0}, /* a byte order mark is not white space */
        {"{}\x0c", 2},
        {"[1]\xc2\xa0", 3},
        {"/* */ 1", 0},
        {"{\"a\":1,\"a\":1}", 7},
        {"{\"a\":1,\"b\":2,\"\\u0061\":3}", 13},
        {"{\"\\u00e9\":1,\"\xc3\xa9\":1}", 12},
        {"{\"\":1,\"\":1}", 6},
        {"{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":1}", 18},
        {"[{\"x\":{\"a\":1},\"y\":0,\"x\":2}]", 20},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct json_value value = {0};
        struct json_problem problem = {NULL, SIZE_MAX};
        enum err err = json_check(*state, slice_text(rows[i].text), &plain_rules, &value, &problem);

        if (err != ERR_INVALID || problem.at != rows[i].at || problem.what == NULL) {
            fail_msg("%s: result %d, at %zu, not %zu: %s", rows[i].text, (int)err, problem.at,
                     rows[i].at, problem.what == NULL ? "" : problem.what);
        }
    }
}

/* Goal: a NUL byte is a control character, not the end. Method: one inside, and one after. */
static void test_nul_byte_is_a_control_character(void **state)
{
    struct json_value value = {0};
    struct json_problem problem = {NULL, 0};

    assert_int_equal(json_check(*state, SLICE("\"a\0\""), &plain_rules, &value, &problem),
                     ERR_INVALID);
    assert_int_equal(problem.at, 2);
    assert_int_equal(json_check(*state, SLICE("1\0"), &plain_rules, &value, &problem), ERR_INVALID);
    assert_int_equal(problem.at, 1);
}

static enum err check_nested(struct arena *arena, unsigned depth, unsigned depth_max, bool objects)
{
    const struct json_rules rules = {depth_max, false};
    struct buffer text;
    struct json_value value = {0};
    struct json_problem problem = {NULL, 0};

    buffer_init(&text, arena, 0);
    for (unsigned i = 0; i < depth; i++) {
        buffer_append(&text, objects ? SLICE("{\"a\":") : SLICE("["));
    }
    buffer_append(&text, SLICE("1"));
    for (unsigned i = 0; i < depth; i++) {
        buffer_append(&text, objects ? SLICE("}") : SLICE("]"));
    }
    return json_check(arena, buffer_slice(&text), &rules, &value, &problem);
}

/* Goal: the maximum depth is accepted, one more is refused, and a million is harmless. Method: both
 * containers, at 64, at the reader's own limit, and at 0. */
static void test_depth_above_the_limit_is_refused(void **state)
{
    for (int objects = 0; objects < 2; objects++) {
        assert_int_equal(check_nested(*state, 64, 64, objects), OK);
        assert_int_equal(check_nested(*state, 65, 64, objects), ERR_INVALID);
        assert_int_equal(check_nested(*state, JSON_DEPTH_MAX, JSON_DEPTH_MAX, objects), OK);
        assert_int_equal(check_nested(*state, JSON_DEPTH_MAX + 1, JSON_DEPTH_MAX, objects),
                         ERR_INVALID);
        assert_int_equal(check_nested(*state, 1000000, 64, objects), ERR_INVALID);
        assert_int_equal(check_nested(*state, 0, 0, objects), OK);
        assert_int_equal(check_nested(*state, 1, 0, objects), ERR_INVALID);
    }
}

/* Goal: NaN and the infinities are accepted if allowed, and no similar text is. Method: a table. */
static void test_nan_is_accepted_only_if_allowed(void **state)
{
    static const char *const good[] = {"NaN", "Infinity", "-Infinity", "[NaN, -Infinity]"};
    static const char *const bad[] = {"-NaN",      "nan",  "Inf",      "-Inf",
                                      "+Infinity", "NaNs", "Infinity1"};
    const struct json_rules rules = {64, true};
    struct json_value value = {0};
    struct json_problem problem = {NULL, 0};

    for (size_t i = 0; i < COUNT(good); i++) {
        assert_int_equal(json_check(*state, slice_text(good[i]), &rules, &value, &problem), OK);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(json_check(*state, slice_text(bad[i]), &rules, &value, &problem),
                         ERR_INVALID);
    }
    assert_int_equal(json_check(*state, SLICE("-Infinity"), &rules, &value, &problem), OK);
    assert_int_equal(value.kind, JSON_NUMBER);
}

/* An object of `count` members k0, k1, ...; if `again` is below `count`, the member k`again` occurs
 * a second time, at the end. */
static struct slice wide_object(struct arena *arena, size_t count, size_t again)
{
    struct buffer text;

    buffer_init(&text, arena, count * 16);
    for (size_t i = 0; i < count; i++) {
        buffer_printf(&text, "%s\"k%zu\":%zu", i == 0 ? "{" : ",", i, i);
    }
    if (again < count) {
        buffer_printf(&text, ",\"\\u006b%zu\":0", again);
    }
    buffer_append_byte(&text, '}');
    return buffer_slice(&text);
}

/* Goal: duplicates are found among few and many keys, the first and the last. Method: widths around
 * each change of the search algorithm for keys. */
static void test_duplicate_key_is_found_at_any_width(void **state)
{
    static const size_t widths[] = {1,  2,  11, 12, 13,  14,  31,   32,   33,
                                    63, 64, 65, 66, 127, 128, 1000, 5000, 100000};

    for (size_t i = 0; i < COUNT(widths); i++) {
        struct json_value value = {0};
        struct json_problem problem = {NULL, 0};
        size_t width = widths[i];
        struct slice text = wide_object(*state, width, SIZE_MAX);

        assert_int_equal(json_check(*state, text, &plain_rules, &value, &problem), OK);
        for (size_t again = 0; again < width; again += 1 + width / 7) {
            text = wide_object(*state, width, again);
            assert_int_equal(json_check(*state, text, &plain_rules, &value, &problem), ERR_INVALID);
        }
        text = wide_object(*state, width, width - 1);
        assert_int_equal(json_check(*state, text, &plain_rules, &value, &problem), ERR_INVALID);
        arena_reset(*state);
    }
}

/* Goal: the memory of one wide object is reused for the next, and the keys of an outer one stay
 * known. Method: wide objects inside and after each other, with a duplicate at the very end. */
static void test_duplicate_key_is_found_around_nested_objects(void **state)
{
    struct slice wide = wide_object(*state, 500, SIZE_MAX);
    struct json_value value = {0};
    struct json_problem problem = {NULL, 0};
    struct buffer text;

    for (int with_duplicate = 0; with_duplicate < 2; with_duplicate++) {
        buffer_init(&text, *state, 0);
        buffer_append_byte(&text, '{');
        for (int i = 0; i < 100; i++) {
            buffer_printf(&text, "\"outer%d\":[", i);
            buffer_append(&text, wide);
            buffer_append_byte(&text, ',');
            buffer_append(&text, wide);
            buffer_append(&text, SLICE("],"));
        }
        buffer_printf(&text, "\"outer%d\":1}", with_duplicate ? 37 : 100);
        assert_int_equal(json_check(*state, buffer_slice(&text), &plain_rules, &value, &problem),
                         with_duplicate ? ERR_INVALID : OK);
    }
}

/* Goal: a check that exceeds its memory reports this. Method: an arena of 4 KiB. */
static void test_check_without_memory_fails(void **state)
{
    struct arena small;
    struct json_value value = {0};
    struct json_problem problem = {NULL, 0};
    struct slice text = wide_object(*state, 5000, SIZE_MAX);

    arena_init(&small, 4096);
    assert_int_equal(json_check(&small, text, &plain_rules, &value, &problem), ERR_MEMORY);
    arena_deinit(&small);
}

/* Goal: no text makes a check quadratic. Method: 10 MB of each known kind of hostile text in far
 * less CPU time than the smallest quadratic loop needs. */
static void test_check_takes_linear_time(void **state)
{
    static const char *const pieces[] = {"\"a\",",          "[],",    "{},",
                                         "\"\\n\\u00e9\",", "1.5e3,", "{\"a\":[1]},"};
    struct json_value value = {0};
    struct json_problem problem = {NULL, 0};
    clock_t start = clock();

    for (size_t i = 0; i < COUNT(pieces); i++) {
        struct slice piece = slice_text(pieces[i]);
        struct buffer text;

        buffer_init(&text, *state, 10000000);
        buffer_append_byte(&text, '[');
        while (text.size < 9999000) {
            buffer_append(&text, piece);
        }
        buffer_append(&text, SLICE("0]"));
        assert_int_equal(json_check(*state, buffer_slice(&text), &plain_rules, &value, &problem),
                         OK);
        arena_reset(*state);
    }
    assert_int_equal(
        json_check(*state, wide_object(*state, 600000, SIZE_MAX), &plain_rules, &value, &problem),
        OK);
    assert_true((clock() - start) / CLOCKS_PER_SEC < 30);
}

int run_json_check_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_valid_json_is_accepted_with_its_kind, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_invalid_json_is_refused_at_its_byte, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_nul_byte_is_a_control_character, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_depth_above_the_limit_is_refused, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_nan_is_accepted_only_if_allowed, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_duplicate_key_is_found_at_any_width, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_duplicate_key_is_found_around_nested_objects,
                                        arena_set_up, arena_tear_down),
        cmocka_unit_test_setup_teardown(test_check_without_memory_fails, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_check_takes_linear_time, arena_set_up,
                                        arena_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
