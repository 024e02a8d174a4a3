/*
 * main.c: runs the groups of tests of the load engine, and holds what they share.
 */
#include "tests/unit/bench_load/bench_load_tests.h"

int world_set_up(void **state)
{
    static struct world world;

    arena_init(&world.arena, (size_t)256 << 20);
    clock_manual_init(&world.clock, INT64_C(1767225600000000));
    fault_init(&world.fault, &world.arena);
    world.ctx =
        (struct ctx){.arena = &world.arena, .clock = &world.clock.clock, .fault = &world.fault};
    *state = &world;
    return 0;
}

int world_tear_down(void **state)
{
    struct world *world = *state;

    arena_deinit(&world->arena);
    return 0;
}

void world_expect_fault(struct world *world, const char *start)
{
    if (!slice_starts_with(world->fault.message, slice_text(start))) {
        print_error("the fault is \"%.*s\"\n", (int)world->fault.message.size,
                    (const char *)world->fault.message.data);
        fail();
    }
    fault_init(&world->fault, &world->arena);
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
