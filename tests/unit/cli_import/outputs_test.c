/*
 * outputs_test.c: outputs kept for the corrections that name them.
 */
#include "tests/unit/cli_import/cli_import_tests.h"
#include "tools/errata/import/outputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* More than the initial capacity of the table, so that it grows. */
#define OUTPUT_COUNT 5000

static struct import_row make_output(struct arena *arena, unsigned id, const char *at,
                                     const char *text)
{
    struct import_row row = {.kind = IMPORT_OUTPUT, .type = "run"};

    row.text[IMPORT_ID] = arena_printf(arena, "run-%u", id);
    row.text[IMPORT_AT] = slice_text(at);
    row.text[IMPORT_NAME] = SLICE("name");
    row.before = fields_quoted(arena, slice_text(text));
    return row;
}

static struct slice joined(struct outputs *outputs, struct arena *arena, unsigned id)
{
    struct import_row row = {.kind = IMPORT_CORRECTION};
    bool found = false;

    row.text[IMPORT_SUBJECT] = arena_printf(arena, "run-%u", id);
    assert_int_equal(outputs_join(outputs, arena, &row, &found), OK);
    return found ? fields_value_text(arena, row.before) : slice_of(NULL, 0);
}

/* Goal: each output is found again by its id. Method: thousands of them, and one that is unknown. */
static void test_outputs_are_found_by_id(void **state)
{
    struct outputs *outputs = NULL;
    struct arena arena;

    (void)state;
    arena_init(&arena, (size_t)64 * 1024 * 1024);
    assert_int_equal(outputs_open(&outputs), OK);
    for (unsigned i = 0; i < OUTPUT_COUNT; i++) {
        struct slice text = arena_printf(&arena, "output %u", i);
        struct import_row row = make_output(&arena, i, "", (const char *)text.data);

        assert_int_equal(outputs_add(outputs, &arena, &row), OK);
    }
    for (unsigned i = 0; i < OUTPUT_COUNT; i += 7) {
        assert_true(slice_equal(joined(outputs, &arena, i), arena_printf(&arena, "output %u", i)));
    }
    assert_int_equal(joined(outputs, &arena, OUTPUT_COUNT).size, 0);
    outputs_close(outputs);
    arena_deinit(&arena);
}

/* Goal: of several outputs with one id the same one stays in any order. Method: the newest, and two of the same
 * time, added both ways. */
static void test_order_of_outputs_does_not_matter(void **state)
{
    static const char *const times[] = {"2025-01-01T00:00:00Z", "2025-01-03T00:00:00Z",
                                        "2025-01-03T00:00:00Z", ""};
    static const char *const texts[] = {"oldest", "aaa", "bbb", "unknown time, and long"};
    struct slice results[2];
    struct arena arena;

    (void)state;
    arena_init(&arena, (size_t)1024 * 1024);
    for (unsigned order = 0; order < 2; order++) {
        struct outputs *outputs = NULL;

        assert_int_equal(outputs_open(&outputs), OK);
        for (unsigned i = 0; i < 4; i++) {
            unsigned at = order == 0 ? i : 3 - i;
            struct import_row row = make_output(&arena, 1, times[at], texts[at]);

            assert_int_equal(outputs_add(outputs, &arena, &row), OK);
        }
        results[order] = joined(outputs, &arena, 1);
        outputs_close(outputs);
    }
    assert_int_equal(results[0].size, 3);
    assert_true(slice_equal(results[0], results[1]));
    arena_deinit(&arena);
}

/* Goal: a row keeps its own values. Method: a correction with a before and a name of its own. */
static void test_row_keeps_its_own_values(void **state)
{
    struct import_row row = {.kind = IMPORT_CORRECTION};
    struct import_row output;
    struct outputs *outputs = NULL;
    struct arena arena;
    bool found = false;

    (void)state;
    arena_init(&arena, (size_t)1024 * 1024);
    assert_int_equal(outputs_open(&outputs), OK);
    output = make_output(&arena, 1, "", "joined");
    assert_int_equal(outputs_add(outputs, &arena, &output), OK);
    row.text[IMPORT_SUBJECT] = SLICE("run-1");
    row.text[IMPORT_NAME] = SLICE("own");
    row.before = fields_quoted(&arena, SLICE("own before"));
    assert_int_equal(outputs_join(outputs, &arena, &row, &found), OK);
    assert_true(found);
    assert_true(slice_equal(row.text[IMPORT_NAME], SLICE("own")));
    assert_true(slice_equal(fields_value_text(&arena, row.before), SLICE("own before")));
    outputs_close(outputs);
    outputs_close(NULL);
    arena_deinit(&arena);
}

int run_outputs_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_outputs_are_found_by_id),
                                       cmocka_unit_test(test_order_of_outputs_does_not_matter),
                                       cmocka_unit_test(test_row_keeps_its_own_values)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
