/*
 * main.c: runs the groups of tests of the load engine, and contains their shared functions.
 */
#include "tests/unit/bench_load/bench_load_tests.h"

int fixture_set_up(void **state)
{
    static struct fixture fixture;

    arena_init(&fixture.arena, (size_t)256 << 20);
    clock_manual_init(&fixture.clock, INT64_C(1767225600000000));
    fault_init(&fixture.fault, &fixture.arena);
    fixture.ctx = (struct ctx){
        .arena = &fixture.arena, .clock = &fixture.clock.clock, .fault = &fixture.fault};
    *state = &fixture;
    return 0;
}

int fixture_tear_down(void **state)
{
    struct fixture *fixture = *state;

    arena_deinit(&fixture->arena);
    return 0;
}

void fixture_expect_fault(struct fixture *fixture, const char *start)
{
    if (!slice_starts_with(fixture->fault.message, slice_text(start))) {
        print_error("the fault is \"%.*s\"\n", (int)fixture->fault.message.size,
                    (const char *)fixture->fault.message.data);
        fail();
    }
    fault_init(&fixture->fault, &fixture->arena);
}

int main(void)
{
    int failed = 0;

    failed += run_parse_tests();
    failed += run_histogram_tests();
    failed += run_draw_tests();
    failed += run_template_tests();
    failed += run_descriptors_tests();
    failed += run_files_tests();
    failed += run_hpack_tests();
    failed += run_connection_tests();
    failed += run_run_tests();
    failed += run_sweep_tests();
    failed += run_judge_tests();
    failed += run_process_tests();
    return failed == 0 ? 0 : 1;
}
