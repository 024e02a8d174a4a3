/*
 * base_tests.c: runs the groups of tests of store/base; fails if any of them does.
 */
#include "tests/unit/base/base_tests.h"

#include "store/base/arena.h"

int arena_set_up(void **state)
{
    static struct arena arena;

    arena_init(&arena, SIZE_MAX);
    *state = &arena;
    return 0;
}

int arena_tear_down(void **state)
{
    arena_deinit(*state);
    return 0;
}

int main(void)
{
    int failed = 0;

    failed += run_memory_tests();
    failed += run_text_tests();
    failed += run_base64_tests();
    failed += run_wire_tests();
    failed += run_pack_tests();
    failed += run_json_check_tests();
    failed += run_json_use_tests();
    failed += run_time_tests();
    failed += run_report_tests();
    failed += run_heap_tests();
    failed += run_histogram_tests();
    failed += run_file_tests();
    return failed == 0 ? 0 : 1;
}
