/*
 * heap_test.c: the allocator returns the memory of a burst to the system. A sanitizer's malloc is
 * not tested.
 */
#include "tests/unit/base/base_tests.h"

#include "store/base/heap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* 96 MiB in small blocks, of which one in a thousand is not freed. */
#define BLOCK_BYTES 2048
#define BLOCK_COUNT ((96u << 20) / BLOCK_BYTES)
#define BLOCKS_A_SURVIVOR 1000

/* Goal: freed blocks between live ones are returned to the system. Method: the spare memory before,
 * after freeing all but some, and after the return to the system. */
static void test_freed_burst_is_returned_to_the_system(void **state)
{
    char **blocks = NULL;
    size_t burst = 0;

    (void)state;
    if (heap_read().used_bytes == 0) {
        skip();
    }
    blocks = calloc(BLOCK_COUNT, sizeof(*blocks));
    assert_non_null(blocks);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = malloc(BLOCK_BYTES);
        assert_non_null(blocks[i]);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
    assert_true(heap_read().used_bytes >= (size_t)BLOCK_COUNT * BLOCK_BYTES);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        if (i % BLOCKS_A_SURVIVOR != BLOCKS_A_SURVIVOR - 1) {
            free(blocks[i]);
        }
    }
    burst = heap_read().spare_bytes;
    assert_true(burst > HEAP_SPARE_BYTES_MAX);
    heap_give_back();
    assert_true(heap_read().spare_bytes < burst / 4);
    for (size_t i = BLOCKS_A_SURVIVOR - 1; i < BLOCK_COUNT; i += BLOCKS_A_SURVIVOR) {
        free(blocks[i]);
    }
    free(blocks);
}

#define TURNS 40
#define TURN_BLOCKS 64
#define TURN_BLOCK_BYTES (64u << 10)

/* Allocates and frees 4 MiB TURNS times; returns the number of page faults. */
static long count_faults_of_turns(void)
{
    struct rusage before;
    struct rusage after;
    char *blocks[TURN_BLOCKS];

    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    for (size_t turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < TURN_BLOCKS; i++) {
            blocks[i] = malloc(TURN_BLOCK_BYTES);
            assert_non_null(blocks[i]);
            memset(blocks[i], 1, TURN_BLOCK_BYTES);
        }
        for (size_t i = 0; i < TURN_BLOCKS; i++) {
            free(blocks[i]);
        }
    }
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    return after.ru_minflt - before.ru_minflt;
}

/* Goal: memory that each turn of a loop takes and frees is not fetched from the system each time. Method: page
 * faults of such turns. */
static void test_memory_of_each_turn_is_kept(void **state)
{
    const long pages_of_turn = (long)TURN_BLOCKS * TURN_BLOCK_BYTES / sysconf(_SC_PAGESIZE);

    (void)state;
    if (heap_read().used_bytes == 0) {
        skip();
    }
    heap_keep_spare();
    assert_true(count_faults_of_turns() < 3 * pages_of_turn);
}

int run_heap_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_freed_burst_is_returned_to_the_system),
        cmocka_unit_test(test_memory_of_each_turn_is_kept),
    };

    return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
