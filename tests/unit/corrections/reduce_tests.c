/*
 * reduce_tests.c: the reduction of an event's JSON texts before any transaction.
 */
#include "server/domain/corrections/reduce.h"
#include "server/domain/json/fields_changed.h"
#include "tests/support/json/json_sides.h"
#include "tests/unit/corrections/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#define ARENA_BYTES (512u << 20)

static struct slice reduced_before(struct json_sides *sides, bool *ret_reduced)
{
    const struct json_rules rules = {JSON_FIELD_DEPTH_MAX, false};
    struct json_problem problem = {NULL, 0};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice found = {NULL, 0};

    assert_int_equal(reduce_object(&sides->arena, sides->before_json, &sides->before, &sides->after,
                                   &found, ret_reduced),
                     OK);
    assert_true(found.size <= REDUCE_BYTES_MAX || !*ret_reduced);
    assert_int_equal(json_check(&sides->arena, found, &rules, &value, &problem), OK);
    assert_int_equal(value.kind, JSON_OBJECT);
    return found;
}

/* `{"desc":"xx...","qty":1}` with a string of `size` characters; extra follows it. */
static struct slice long_text(struct arena *arena, size_t size, const char *extra)
{
    struct buffer buffer;

    buffer_init(&buffer, arena, size + 256);
    buffer_append(&buffer, SLICE("{ \"desc\": \""));
    for (size_t i = 0; i < size; i++) {
        buffer_append_byte(&buffer, 'x');
    }
    buffer_printf(&buffer, "\"%s}", extra);
    assert_true(buffer_ok(&buffer));
    return buffer_slice(&buffer);
}

static void check_reduced(struct slice before, struct slice after, const char *wanted)
{
    struct json_sides sides;
    struct slice found = {NULL, 0};
    bool reduced = false;

    json_sides_init(&sides, before, after);
    found = reduced_before(&sides, &reduced);
    assert_true(reduced);
    if (!slice_equal(found, slice_text(wanted))) {
        print_error("came %.*s\n", (int)found.size, (const char *)found.data);
    }
    assert_true(slice_equal(found, slice_text(wanted)));
    arena_deinit(&sides.arena);
}

/* Goal: each step of reduction has its effect, and no step runs without need. Method: one text for
 * each step, with the exact result. */
static void test_reduce_runs_only_the_needed_steps(void **state)
{
    struct json_sides sides;
    struct arena arena;
    char wanted[700] = {0};
    bool reduced = true;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    json_sides_init(&sides, SLICE(" {\"a\": 1 } "), SLICE("{}"));
    assert_true(slice_equal(reduced_before(&sides, &reduced), SLICE(" {\"a\": 1 } ")));
    assert_false(reduced);
    arena_deinit(&sides.arena);

    /* Step 1: members that differ, and context. Numbers are equal as numbers. */
    check_reduced(
        long_text(&arena, 20000, ", \"qty\": 1, \"n\": 1.0, \"line_id\": \"7\", \"x\": [ 1, 2 ]"),
        long_text(&arena, 20000, ", \"qty\": 2, \"n\": 1, \"x\": [2, 1]"),
        "{\"qty\":1,\"line_id\":\"7\",\"x\":[1,2]}");
    /* Step 2: long strings are cut to 500 characters. */
    (void)snprintf(wanted, sizeof(wanted), "{\"desc\":\"%0500d\",\"qty\":1}", 0);
    memset(wanted + 9, 'x', 500);
    check_reduced(long_text(&arena, 20000, ", \"qty\": 1"), SLICE("{\"qty\":2}"), wanted);
    arena_deinit(&arena);
}

/* Goal: a text of exactly the largest size is unchanged, at each step. Method: one of 10,240 bytes
 * and one of a byte more; the same of the remainder without white space, and of that after a cut
 * string. */
static void test_reduce_keeps_a_text_of_the_largest_size(void **state)
{
    static const char head[] = "{ \"desc\": \"";
    struct slice nothing = SLICE("{}");
    struct json_sides sides;
    struct arena arena;
    bool reduced = true;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    for (size_t more = 0; more < 2; more++) {
        struct slice text = long_text(&arena, REDUCE_BYTES_MAX + more - (sizeof(head) - 1) - 2, "");

        assert_int_equal(text.size, REDUCE_BYTES_MAX + more);
        json_sides_init(&sides, text, nothing);
        assert_int_equal(reduced_before(&sides, &reduced).size,
                         more == 0 ? REDUCE_BYTES_MAX : REDUCE_BYTES_MAX - 1);
        assert_int_equal(reduced, more);
        arena_deinit(&sides.arena);
    }
    /* Two blanks are removed: up to two bytes too many do not cause cutting, three do. */
    for (size_t more = 1; more < 4; more++) {
        struct slice text = long_text(&arena, REDUCE_BYTES_MAX + more - (sizeof(head) - 1) - 2, "");
        size_t wanted = more <= 2 ? REDUCE_BYTES_MAX - 2 + more
                                  : sizeof("{\"desc\":\"\"}") - 1 + REDUCE_STRING_CHARACTERS_MAX;

        json_sides_init(&sides, text, nothing);
        assert_int_equal(reduced_before(&sides, &reduced).size, wanted);
        assert_true(reduced);
        arena_deinit(&sides.arena);
    }
    arena_deinit(&arena);
}

/* Goal: if shorter strings are not enough, values are replaced, largest first, and the others stay.
 * Method: a large list beside a small member; N is the bytes of the list as it was written. */
static void test_reduce_replaces_largest(void **state)
{
    struct buffer buffer;
    struct arena arena;
    char wanted[128] = {0};
    size_t start = 0;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    buffer_init(&buffer, &arena, 0);
    buffer_append(&buffer, SLICE("{\"qty\":1,\"lines\":"));
    start = buffer.size;
    buffer_append_byte(&buffer, '[');
    for (int i = 0; i < 5000; i++) {
        buffer_printf(&buffer, "%s%d", i == 0 ? "" : ", ", i);
    }
    buffer_append_byte(&buffer, ']');
    (void)snprintf(wanted, sizeof(wanted), "{\"qty\":1,\"lines\":{\"truncated_bytes\":%zu}}",
                   buffer.size - start);
    buffer_append_byte(&buffer, '}');
    check_reduced(buffer_slice(&buffer), SLICE("{}"), wanted);
    arena_deinit(&arena);
}

/* Goal: thousands of small members, and names of kilobytes, still end within the limit. Method:
 * both kinds; context stays, and one member reports how much was left out. */
static void test_reduce_omits_members_to_fit(void **state)
{
    struct buffer buffer;
    struct json_sides sides;
    struct slice found = {NULL, 0};
    struct arena arena;
    bool reduced = false;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    buffer_init(&buffer, &arena, 0);
    buffer_append_byte(&buffer, '{');
    for (int i = 0; i < 5000; i++) {
        buffer_printf(&buffer, "\"m%d\":%d,", i, i);
    }
    buffer_append(&buffer, SLICE("\"truncated_bytes\":5,\"line_id\":\"L1\"}"));
    json_sides_init(&sides, buffer_slice(&buffer), SLICE("{}"));
    found = reduced_before(&sides, &reduced);
    assert_true(reduced);
    assert_true(found.size > REDUCE_BYTES_MAX - 100);
    assert_true(fixture_has(found, "\"m0\":0,"));
    assert_true(fixture_has(found, "\"line_id\":\"L1\",\"truncated_bytes\":"));
    assert_false(fixture_has(found, "\"truncated_bytes\":5,"));
    arena_deinit(&sides.arena);

    buffer.size = 0;
    buffer_append(&buffer, SLICE("{\"qty\":1,\""));
    for (int i = 0; i < 20000; i++) {
        buffer_append_byte(&buffer, 'k');
    }
    buffer_append(&buffer, SLICE("\":2}"));
    check_reduced(buffer_slice(&buffer), SLICE("{}"), "{\"qty\":1,\"truncated_bytes\":20003}");
    arena_deinit(&arena);
}

/* A draft of 150 lines; the quantity of one is given. */
static struct slice draft_lines(struct arena *arena, const char *key, int quantity)
{
    struct buffer buffer;

    buffer_init(&buffer, arena, 32768);
    buffer_append(&buffer, SLICE("{\"order\": \"PO-1\", \"lines\": ["));
    for (int i = 0; i < 150; i++) {
        buffer_printf(&buffer,
                      "%s{\"%s\": %d, \"sku\": \"A-%d\", \"text\": \"Bohrer M8, 120 mm, verzinkt, "
                      "Karton zu 50 Stück, DIN 338, Werkstoff HSS\", \"qty\": %d}",
                      i == 0 ? "" : ", ", key, i, i, i == 77 ? quantity : 5);
    }
    buffer_append(&buffer, SLICE("]}"));
    assert_true(buffer.size > REDUCE_BYTES_MAX);
    return buffer_slice(&buffer);
}

/* Goal: one changed quantity among 150 lines keeps its line, with the old and the new value, also if the
 * lines have no key. Method: both sides of such drafts, with the exact result. */
static void test_reduce_keeps_changed_items_of_lists(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    check_reduced(draft_lines(&arena, "line_no", 10), draft_lines(&arena, "line_no", 12),
                  "{\"lines\":[{\"line_no\":77,\"sku\":\"A-77\",\"qty\":10}]}");
    check_reduced(draft_lines(&arena, "line_no", 12), draft_lines(&arena, "line_no", 10),
                  "{\"lines\":[{\"line_no\":77,\"sku\":\"A-77\",\"qty\":12}]}");
    check_reduced(draft_lines(&arena, "place", 10), draft_lines(&arena, "place", 12),
                  "{\"lines\":[{\"sku\":\"A-77\",\"qty\":10}]}");
    check_reduced(
        draft_lines(&arena, "id", 10), SLICE("{\"lines\":[{\"id\":77,\"qty\":12}]}"),
        "{\"order\":\"PO-1\",\"lines\":[{\"id\":77,\"sku\":\"A-77\",\"text\":\"Bohrer M8, 120 mm, "
        "verzinkt, Karton zu 50 Stück, DIN 338, Werkstoff HSS\",\"qty\":10}]}");
    arena_deinit(&arena);
}

static uint32_t draw(struct random_seeded *seeded, uint32_t below)
{
    uint32_t value = 0;

    random_fill(&seeded->random, &value, sizeof(value));
    return value % below;
}

/* A random object that is often too large: long strings, long lists, many members, long names. */
static struct slice random_object(struct arena *arena, struct random_seeded *seeded)
{
    uint32_t members = draw(seeded, draw(seeded, 4) == 0 ? 1200 : 12);
    struct buffer buffer;

    buffer_init(&buffer, arena, 4096);
    buffer_append_byte(&buffer, '{');
    for (uint32_t i = 0; i < members; i++) {
        uint32_t size = draw(seeded, draw(seeded, 8) == 0 ? 12000 : 20);

        buffer_printf(&buffer, "%s\"m%u%0*d\" : ", i == 0 ? "" : " ,\n", i,
                      draw(seeded, 200) == 0 ? 3000 : 1, 0);
        switch (draw(seeded, 4)) {
        case 0:
            buffer_printf(&buffer, "\"%0*d\\u00e4\\\"\"", (int)size, 0);
            break;
        case 1:
            buffer_append(&buffer, SLICE("[ 1"));
            for (uint32_t j = 0; j < size / 4; j++) {
                buffer_append(&buffer, SLICE(", {\"a\": 1}"));
            }
            buffer_append_byte(&buffer, ']');
            break;
        default:
            buffer_printf(&buffer, "%u", draw(seeded, 3));
            break;
        }
    }
    buffer_append_byte(&buffer, '}');
    assert_true(buffer_ok(&buffer));
    return buffer_slice(&buffer);
}

/* Goal: for any input, a reduced text is a JSON object within the limit, and always the same one.
 * Method: 120 random pairs; reduced_before checks the text, and a second run must agree. */
static void test_reduce_gives_an_object_within_the_limit(void **state)
{
    struct random_seeded seeded;
    size_t reduced_count = 0;

    (void)state;
    random_seeded_init(&seeded, 3);
    for (int round = 0; round < 120; round++) {
        struct slice found[2] = {{NULL, 0}, {NULL, 0}};
        struct slice before = {NULL, 0};
        struct slice after = {NULL, 0};
        struct json_sides sides[2];
        struct arena arena;
        bool reduced = false;

        arena_init(&arena, ARENA_BYTES);
        before = random_object(&arena, &seeded);
        after = random_object(&arena, &seeded);
        for (int i = 0; i < 2; i++) {
            json_sides_init(&sides[i], before, after);
            found[i] = reduced_before(&sides[i], &reduced);
        }
        assert_true(slice_equal(found[0], found[1]));
        reduced_count += reduced;
        arena_deinit(&sides[0].arena);
        arena_deinit(&sides[1].arena);
        arena_deinit(&arena);
    }
    assert_true(reduced_count > 40);
}

/* Goal: a 10 MB before is reduced in well under a second. Method: 100,000 lines of a draft,
 * measured in processor time (ten times as long with sanitizers). */
static void test_reduce_takes_10_mb_in_under_a_second(void **state)
{
    struct buffer buffer;
    struct fields_changed fields;
    struct json_sides sides;
    struct arena arena;
    bool reduced = false;
    clock_t start = 0;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    buffer_init(&buffer, &arena, 12u << 20);
    buffer_append(&buffer, SLICE("{\"qty\":1,\"lines\":["));
    for (int i = 0; buffer.size < (10u << 20); i++) {
        buffer_printf(&buffer,
                      "%s{\"line_id\":\"%d\",\"sku\":\"A-%d\",\"qty\":%d,\"text\":\"Bohrer "
                      "\\\"M8\\\" 120 mm, verzinkt\"}",
                      i == 0 ? "" : ",", i, i, i % 7);
    }
    buffer_append(&buffer, SLICE("]}"));
    json_sides_init(&sides, buffer_slice(&buffer), SLICE("{\"qty\":2,\"lines\":[]}"));
    start = clock();
    assert_int_equal(members_compare(&sides.arena, &sides.before, &sides.after), OK);
    assert_int_equal(fields_changed_derive(&sides.arena, &sides.before, &sides.after,
                                           members_value_of(slice_of(NULL, 0)), &fields),
                     OK);
    (void)reduced_before(&sides, &reduced);
    assert_true(reduced);
    assert_true((clock() - start) / (CLOCKS_PER_SEC / 1000) < 5000);
    assert_int_equal(fields.count,
                     2); /* qty and lines: the members of removed lines have not changed */
    arena_deinit(&sides.arena);
    arena_deinit(&arena);
}

int run_reduce_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduce_runs_only_the_needed_steps),
        cmocka_unit_test(test_reduce_keeps_a_text_of_the_largest_size),
        cmocka_unit_test(test_reduce_replaces_largest),
        cmocka_unit_test(test_reduce_omits_members_to_fit),
        cmocka_unit_test(test_reduce_keeps_changed_items_of_lists),
        cmocka_unit_test(test_reduce_gives_an_object_within_the_limit),
        cmocka_unit_test(test_reduce_takes_10_mb_in_under_a_second),
    };

    return cmocka_run_group_tests_name("corrections: reduced texts", tests, NULL, NULL);
}
