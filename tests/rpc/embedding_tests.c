/*
 * embedding_tests.c: vectors that callers send to methods.
 */
#include "server/pipeline/embedding.h"
#include "tests/rpc/fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The memory of one request. */
struct taking {
    struct arena arena;
    struct fault fault;
    struct ctx ctx;
};

static void begin(struct taking *taking)
{
    arena_init(&taking->arena, 1u << 20);
    fault_init(&taking->fault, &taking->arena);
    taking->ctx = (struct ctx){.arena = &taking->arena, .fault = &taking->fault};
}

/* Goal: a vector gets the length 1 and a space of its width; without numbers there is no vector. */
static void test_a_callers_vector_has_length_one(void **state)
{
    const float values[3] = {3, 0, -4};
    struct embedding embedding;
    struct taking taking;

    (void)state;
    begin(&taking);
    assert_int_equal(embedding_of_values(&taking.ctx, SLICE("embedding"), values, 3, &embedding),
                     OK);
    assert_int_equal(fault_result(&taking.fault), OK);
    assert_true(slice_equal(embedding.space, SLICE("caller:3")));
    assert_true(embedding.is_callers);
    assert_int_equal(embedding.width, 3);
    assert_true(fabsf(embedding.values[0] - 0.6F) < 1e-6F && embedding.values[1] == 0 &&
                fabsf(embedding.values[2] + 0.8F) < 1e-6F);
    assert_int_equal(embedding_of_values(&taking.ctx, SLICE("embedding"), NULL, 0, &embedding), OK);
    assert_int_equal(embedding.space.size, 0);
    assert_int_equal(fault_result(&taking.fault), OK);
    arena_deinit(&taking.arena);
}

/* Goal: a vector without a direction is an error of the caller. Method: each kind, one by one. */
static void test_numbers_without_a_direction_are_refused(void **state)
{
    static float wide[VECTORS_WIDTH_MAX + 1];
    const float zeros[2] = {0, 0};
    const float infinite[2] = {1, INFINITY};
    const float nan[2] = {NAN, 1};
    const struct {
        const float *values;
        size_t count;
    } cases[] = {{zeros, 2}, {infinite, 2}, {nan, 2}, {wide, VECTORS_WIDTH_MAX + 1}};

    (void)state;
    wide[0] = 1;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct embedding embedding;
        struct taking taking;

        begin(&taking);
        assert_int_equal(embedding_of_values(&taking.ctx, SLICE("embedding"), cases[i].values,
                                             cases[i].count, &embedding),
                         OK);
        assert_int_equal(fault_result(&taking.fault), ERR_INVALID);
        assert_int_equal(embedding.space.size, 0);
        arena_deinit(&taking.arena);
    }
}

int run_embedding_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_callers_vector_has_length_one),
        cmocka_unit_test(test_numbers_without_a_direction_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
