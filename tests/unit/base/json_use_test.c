/*
 * json_use_test.c: operations on checked JSON: walking, strings, members, equality, writing.
 */
#include "tests/unit/base/base_tests.h"

#include "store/base/json.h"

#include <math.h>
#include <stdio.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static struct json_value parse(struct arena *arena, const char *text)
{
    const struct json_rules rules = {JSON_DEPTH_MAX, true};
    struct json_value value = {0};
    struct json_problem problem = {"", 0};

    if (json_check(arena, slice_text(text), &rules, &value, &problem) != OK) {
        fail_msg("%s: %s at %zu", text, problem.what, problem.at);
    }
    return value;
}

/* Goal: a walk returns each member's key and value as written. Method: one of each kind, with white
 * space, brackets inside strings and nested containers. */
static void test_object_walk_returns_members_as_written(void **state)
{
    static const struct {
        const char *key;
        const char *value;
        enum json_kind kind;
    } rows[] = {
        {"\"a\"", "1", JSON_NUMBER},
        {"\"\\u0062\"", "\"}\\\"]\"", JSON_STRING},
        {"\"c\"", "[1, [2, \"]\"], {\"x\": 3}]", JSON_ARRAY},
        {"\"\"", "{ }", JSON_OBJECT},
        {"\"e\"", "null", JSON_NULL},
        {"\"f\"", "true", JSON_TRUE},
        {"\"g\"", "-1.5e3", JSON_NUMBER},
        {"\"h\"", "\"\\\\\"", JSON_STRING},
    };
    struct json_value object =
        parse(*state, " { \"a\" : 1 ,\"\\u0062\":\"}\\\"]\", \"c\":[1, [2, \"]\"], {\"x\": 3}]\n,"
                      "\"\":{ },\"e\":null,\"f\"\t:true , \"g\":-1.5e3,\"h\":\"\\\\\"} ");
    struct json_walk walk = json_walk_start(object);
    struct json_value value = {0};
    struct slice key = {NULL, 0};

    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_true(json_walk_next(&walk, &key, &value));
        assert_true(slice_equal(key, slice_text(rows[i].key)));
        assert_true(slice_equal(value.text, slice_text(rows[i].value)));
        assert_int_equal(value.kind, rows[i].kind);
    }
    assert_false(json_walk_next(&walk, &key, &value));
    assert_false(json_walk_next(&walk, &key, &value));
}

/* Goal: arrays are walked without keys; empty ones and scalars end at once. Method: one of each. */
static void test_array_walk_returns_items_without_keys(void **state)
{
    struct json_walk walk = json_walk_start(parse(*state, "[ [], 2 , \"x\" ]"));
    struct json_value value = {0};
    struct slice key = {NULL, 0};

    assert_true(json_walk_next(&walk, &key, &value));
    assert_int_equal(key.size, 0);
    assert_int_equal(value.kind, JSON_ARRAY);
    assert_true(json_walk_next(&walk, &key, &value));
    assert_true(slice_equal(value.text, SLICE("2")));
    assert_true(json_walk_next(&walk, &key, &value));
    assert_false(json_walk_next(&walk, &key, &value));
    walk = json_walk_start(parse(*state, "[ ]"));
    assert_false(json_walk_next(&walk, &key, &value));
    walk = json_walk_start(parse(*state, "\"[1]\""));
    assert_false(json_walk_next(&walk, &key, &value));
}

/* Goal: strings are unescaped; without escapes they are borrowed. Method: a table. */
static void test_strings_are_unescaped(void **state)
{
    static const struct {
        struct slice quoted;
        struct slice meaning;
    } rows[] = {
        {{(const uint8_t *)"\"\"", 2}, {(const uint8_t *)"", 0}},
        {{(const uint8_t *)"\"abc\"", 5}, {(const uint8_t *)"abc", 3}},
        {{(const uint8_t *)"\"a\\nb\\\"\\\\\\/\\b\\f\\r\\t\"", 20},
         {(const uint8_t *)"a\nb\"\\/\b\f\r\t", 10}},
        {{(const uint8_t *)"\"\\u0000x\"", 9}, {(const uint8_t *)"\0x", 2}},
        {{(const uint8_t *)"\"\\u00e9\\u20AC\"", 14}, {(const uint8_t *)"\xc3\xa9\xe2\x82\xac", 5}},
        {{(const uint8_t *)"\"\\ud83d\\uDE00!\"", 15}, {(const uint8_t *)"\xf0\x9f\x98\x80!", 5}},
        {{(const uint8_t *)"\"\xc3\xa9\\n\xc3\xa9\"", 8},
         {(const uint8_t *)"\xc3\xa9\n\xc3\xa9", 5}},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct slice text = {NULL, 0};

        assert_int_equal(json_string(*state, rows[i].quoted, &text), OK);
        assert_true(slice_equal(text, rows[i].meaning));
        assert_true(json_key_is(rows[i].quoted, rows[i].meaning));
        assert_false(json_key_is(rows[i].quoted, SLICE("abcd")));
    }
    assert_false(json_key_is(SLICE("\"\\u0061b\""), SLICE("a")));
    assert_false(json_key_is(SLICE("\"\\u0061\""), SLICE("ab")));
    assert_true(json_key_is(SLICE("\"\\u0061b\""), SLICE("ab")));
}

/* Goal: members are found by their unescaped names. Method: plain, escaped, absent, not an
 * object. */
static void test_member_is_found_by_unescaped_name(void **state)
{
    struct json_value object = parse(*state, "{\"x\":{\"a\":1},\"\\u0061\":2,\"b\":null}");
    struct json_value value = {0};

    assert_true(json_member(object, SLICE("a"), &value));
    assert_true(slice_equal(value.text, SLICE("2")));
    assert_true(json_member(object, SLICE("b"), &value));
    assert_int_equal(value.kind, JSON_NULL);
    assert_false(json_member(object, SLICE("c"), &value));
    assert_false(json_member(parse(*state, "[1]"), SLICE("a"), &value));
    assert_false(json_member(parse(*state, "1"), SLICE("a"), &value));
}

/* Goal: values are compared by meaning. Method: pairs that are equal, and pairs that are not, both
 * ways. */
static void test_values_are_compared_by_meaning(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        bool equal;
    } rows[] = {
        {"1", "1.0", true},
        {"1", "1e0", true},
        {"100", "1e2", true},
        {"0.001", "1e-3", true},
        {"-0", "0", true},
        {"0e9", "0.000", true},
        {"1.50", "15e-1", true},
        {"1234.5", "12.345e2", true},
        {"10e-1", "1", true},
        {"9007199254740993", "9007199254740992", false},
        {"0.1", "0.1000000000000000055", false},
        {"1", "-1", false},
        {"10", "1", false},
        {"1.05", "1.5", false},
        {"12", "1.2", false},
        {"1e400", "1e401", false},
        {"1e99999999999999999999", "1e99999999999999999999", true},
        {"NaN", "NaN", true},
        {"NaN", "Infinity", false},
        {"Infinity", "-Infinity", false},
        {"NaN", "1", false},
        {"\"a\"", "\"\\u0061\"", true},
        {"\"\\u00e9\"", "\"\xc3\xa9\"", true},
        {"\"a\"", "\"b\"", false},
        {"\"a\"", "\"ab\"", false},
        {"\"1\"", "1", false},
        {"true", "false", false},
        {"null", "null", true},
        {"null", "0", false},
        {"[1, 2]", "[1,2]", true},
        {"[1,2]", "[2,1]", false},
        {"[1,2]", "[1,2,3]", false},
        {"[]", "{}", false},
        {"[[]]", "[{}]", false},
        {"{\"a\":1,\"b\":[2]}", "{ \"b\" : [2.0], \"\\u0061\" : 1 }", true},
        {"{\"a\":1,\"b\":2}", "{\"a\":1}", false},
        {"{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false},
        {"{\"a\":1,\"b\":2}", "{\"b\":1,\"a\":2}", false},
        {"{\"a\":1,\"b\":2,\"c\":3}", "{\"c\":3,\"b\":2}", false},
        {"{\"x\":{\"a\":1,\"b\":2},\"y\":{\"c\":1,\"d\":2}}",
         "{\"y\":{\"d\":2,\"c\":1},\"x\":{\"b\":2,\"a\":1}}", true},
        {"{\"x\":{\"a\":1,\"b\":2},\"y\":{\"c\":1,\"d\":2}}",
         "{\"y\":{\"d\":2,\"c\":1},\"x\":{\"b\":2,\"a\":3}}", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct json_value a = parse(*state, rows[i].a);
        struct json_value b = parse(*state, rows[i].b);
        bool equal = !rows[i].equal;
        bool reverse = !rows[i].equal;

        assert_int_equal(json_equal(*state, a, b, &equal), OK);
        assert_int_equal(json_equal(*state, b, a, &reverse), OK);
        if (equal != rows[i].equal || reverse != rows[i].equal) {
            fail_msg("%s and %s", rows[i].a, rows[i].b);
        }
        assert_int_equal(json_hash(a, 7) == json_hash(b, 7), rows[i].equal);
        assert_true(json_hash(a, 7) != json_hash(a, 8));
    }
}

/* Goal: hashes never change, since stored rows contain them. Method: a value with each kind of scalar and escape,
 * hashed by the first version of the function. */
static void test_hash_of_a_value_is_that_of_earlier_versions(void **state)
{
    struct json_value value =
        parse(*state, "{\"text\":\"a\\tb \\u00e9\xc3\xa9 "
                      "\\ud83d\\ude00\\\\\\\"end\",\"n\":[-1.50e2,0,true,null,{}]}");

    assert_true(json_hash(value, 7) == UINT64_C(0x0f43c2b4f927fa1b));
}

/* Goal: wide objects in reverse order are equal, and a change of one member is detected. Method:
 * 20,000 members. */
static void test_wide_objects_are_equal_in_any_order(void **state)
{
    struct buffer texts[3];
    struct json_value values[3];
    bool equal = false;

    for (size_t side = 0; side < 3; side++) {
        buffer_init(&texts[side], *state, 400000);
        for (int i = 0; i < 20000; i++) {
            int member = side == 0 ? i : 19999 - i;

            buffer_printf(&texts[side], "%c\"m%d\":%d", i == 0 ? '{' : ',', member,
                          side == 2 && i == 9000 ? -1 : member);
        }
        buffer_append_byte(&texts[side], '}');
        buffer_append_byte(&texts[side], 0);
        values[side] = parse(*state, (const char *)texts[side].data);
    }
    assert_int_equal(json_equal(*state, values[0], values[1], &equal), OK);
    assert_true(equal);
    assert_int_equal(json_equal(*state, values[0], values[2], &equal), OK);
    assert_false(equal);
    assert_int_equal(json_equal(*state, values[1], values[2], &equal), OK);
    assert_false(equal);
}

/* `depth` nested arrays. */
static struct json_value nested(struct arena *arena, size_t depth, const char *inside)
{
    struct buffer text;

    buffer_init(&text, arena, 2 * depth + 8);
    for (size_t i = 0; i < depth; i++) {
        buffer_append_byte(&text, '[');
    }
    buffer_append(&text, slice_text(inside));
    for (size_t i = 0; i < depth; i++) {
        buffer_append_byte(&text, ']');
    }
    return (struct json_value){JSON_ARRAY, buffer_slice(&text)};
}

/* Goal: values of the largest depth that a check accepts are compared, and deeper ones are never
 * equal. Method: both sides of the limit, with and without a space inside. */
static void test_too_deep_values_are_never_equal(void **state)
{
    bool equal = false;

    assert_int_equal(json_equal(*state, nested(*state, JSON_DEPTH_MAX, "1"),
                                nested(*state, JSON_DEPTH_MAX, " 1"), &equal),
                     OK);
    assert_true(equal);
    assert_int_equal(json_equal(*state, nested(*state, JSON_DEPTH_MAX + 1, "1"),
                                nested(*state, JSON_DEPTH_MAX + 1, " 1"), &equal),
                     OK);
    assert_false(equal);
}

/* Goal: a comparison that exceeds its memory reports this. Method: an arena of 1 KiB. */
static void test_comparison_without_memory_fails(void **state)
{
    struct arena small;
    bool equal = false;

    arena_init(&small, 1024);
    assert_int_equal(json_equal(&small, parse(*state, "[1]"), parse(*state, "[2]"), &equal),
                     ERR_MEMORY);
    arena_deinit(&small);
}

static void check_written(void **state, struct slice text, bool ascii, const char *expected)
{
    struct buffer buffer;

    buffer_init(&buffer, *state, 0);
    json_write_string(&buffer, text, ascii);
    assert_true(buffer_ok(&buffer));
    if (!slice_equal(buffer_slice(&buffer), slice_text(expected))) {
        fail_msg("%.*s, not %s", (int)buffer.size, (const char *)buffer.data, expected);
    }
}

/* Goal: strings are written as Python's json.dumps writes them. Method: each kind of character. */
static void test_strings_are_written_as_by_python(void **state)
{
    check_written(state, SLICE(""), false, "\"\"");
    check_written(state, SLICE("a\"\\/\b\f\n\r\t\x01\x1f\x7f"), false,
                  "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
    check_written(state, SLICE("a\"\\/\b\f\n\r\t\x01\x1f\x7f"), true,
                  "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"");
    check_written(state, SLICE("\xc3\xa9\xf0\x9f\x98\x80"), false, "\"\xc3\xa9\xf0\x9f\x98\x80\"");
    check_written(state, SLICE("\xc3\xa9\xf0\x9f\x98\x80"), true, "\"\\u00e9\\ud83d\\ude00\"");
    check_written(state, SLICE("a\0b"), true, "\"a\\u0000b\"");
    check_written(state, SLICE("a\xff"), true, "\"a\\ufffd\"");
    check_written(state, SLICE("a\xff"), false, "\"a\xef\xbf\xbd\"");
}

/* Goal: a character is written alike wherever it is in the words of eight bytes that are copied. Method: one of
 * each kind at every place of a longer text, which starts at every place of a word. */
static void test_each_place_of_a_word_is_written(void **state)
{
    static const struct {
        const char *byte;
        const char *plain; /* as written without `ascii` */
        const char *ascii;
    } rows[] = {{"\"", "\\\"", "\\\""},
                {"\\", "\\\\", "\\\\"},
                {"\n", "\\n", "\\n"},
                {"\x1f", "\\u001f", "\\u001f"},
                {"\x7f", "\x7f", "\\u007f"},
                {" ", " ", " "},
                {"\xff", "\xef\xbf\xbd", "\\ufffd"}};
    char text[128];
    char expected[128];

    for (size_t row = 0; row < COUNT(rows); row++) {
        for (size_t place = 0; place < 24; place++) {
            for (int ascii = 0; ascii < 2; ascii++) {
                (void)snprintf(text, sizeof(text), "%.*s%s%.*s", (int)place,
                               "aBcdefghijklmnopqrstuvwx", rows[row].byte, (int)(24 - place),
                               "!#$%&'()*+,-./0123456789");
                (void)snprintf(expected, sizeof(expected), "\"%.*s%s%.*s\"", (int)place,
                               "aBcdefghijklmnopqrstuvwx",
                               ascii != 0 ? rows[row].ascii : rows[row].plain, (int)(24 - place),
                               "!#$%&'()*+,-./0123456789");
                check_written(state, slice_text(text), ascii != 0, expected);
            }
        }
    }
}

/* Goal: each escape of a word is written, and none for its neighbours. Method: quotes and backslashes at every set of the
 * places of a word, beside bytes that differ from them in the lowest bit; the word starts at every place; and a text of
 * escapes only, which takes twice its size. */
static void test_each_set_of_escapes_in_a_word_is_written(void **state)
{
    char text[2048];
    char expected[2 * sizeof(text) + 3];
    char *to = expected;

    for (unsigned set = 0; set < 256; set++) {
        for (size_t place = 0; place < 8; place++) {
            size_t size = 0;

            to = expected;
            *to++ = '"';
            for (size_t i = 0; i < place + 8 + 8; i++) {
                bool escape = i >= place && i < place + 8 && (set >> (i - place) & 1) != 0;

                text[size++] = escape ? "\"\\"[i % 2] : "]#"[i % 2];
                if (escape) {
                    *to++ = '\\';
                }
                *to++ = text[size - 1];
            }
            memcpy(to, "\"", 2);
            check_written(state, slice_of(text, size), set % 2 != 0, expected);
        }
    }
    memset(text, '"', sizeof(text));
    to = expected;
    *to++ = '"';
    for (size_t i = 0; i < sizeof(text); i++) {
        *to++ = '\\';
        *to++ = '"';
    }
    memcpy(to, "\"", 2);
    check_written(state, slice_of(text, sizeof(text)), false, expected);
}

/* Goal: doubles are written as Python's repr writes them. Method: known cases of both notations, of
 * powers of two and of the ends of the range; thousands more are compared with Python itself. */
static void test_doubles_are_written_as_by_python(void **state)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {0.3, "0.3"},
        {595.0, "595.0"},
        {0.1 + 0.2, "0.30000000000000004"},
        {100.0, "100.0"},
        {0.0001, "0.0001"},
        {0.00012, "0.00012"},
        {0.00001, "1e-05"},
        {1.5e-7, "1.5e-07"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e+16"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {9007199254740993.0, "9007199254740992.0"},
        {1e100, "1e+100"},
        {5e-324, "5e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {2.225073858507201e-308, "2.225073858507201e-308"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {0x1p-44, "5.684341886080802e-14"}, /* the nearest of 16 digits does not read back */
        {0x1p-1074, "5e-324"},
        {9.5367431640625e-07, "9.5367431640625e-07"},
        {1e23, "1e+23"},
        {1e22, "1e+22"},
    };
    struct buffer buffer;

    for (size_t i = 0; i < COUNT(rows); i++) {
        buffer_init(&buffer, *state, 0);
        json_write_double(&buffer, rows[i].value);
        if (!slice_equal(buffer_slice(&buffer), slice_text(rows[i].text))) {
            fail_msg("%.*s, not %s", (int)buffer.size, (const char *)buffer.data, rows[i].text);
        }
    }
    buffer_init(&buffer, *state, 0);
    json_write_double(&buffer, (double)NAN);
    json_write_double(&buffer, (double)INFINITY);
    json_write_double(&buffer, -(double)INFINITY);
    assert_true(slice_equal(buffer_slice(&buffer), SLICE("NaNInfinity-Infinity")));
}

int run_json_use_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_object_walk_returns_members_as_written, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_array_walk_returns_items_without_keys, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_strings_are_unescaped, arena_set_up, arena_tear_down),
        cmocka_unit_test_setup_teardown(test_member_is_found_by_unescaped_name, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_values_are_compared_by_meaning, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_hash_of_a_value_is_that_of_earlier_versions,
                                        arena_set_up, arena_tear_down),
        cmocka_unit_test_setup_teardown(test_wide_objects_are_equal_in_any_order, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_each_place_of_a_word_is_written, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_each_set_of_escapes_in_a_word_is_written, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_too_deep_values_are_never_equal, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_comparison_without_memory_fails, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_strings_are_written_as_by_python, arena_set_up,
                                        arena_tear_down),
        cmocka_unit_test_setup_teardown(test_doubles_are_written_as_by_python, arena_set_up,
                                        arena_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
