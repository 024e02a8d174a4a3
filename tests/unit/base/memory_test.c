/*
 * memory_test.c: arenas, buffers and slices. The tests hold for both modes of the arena; behaviour
 * of only one mode is tested in that mode.
 */
#include "tests/unit/base/base_tests.h"

#include "store/base/buffer.h"
#include "store/base/fault_point.h"

/* Goal: every allocation is aligned and overlaps no other. Method: fill allocations of growing
 * sizes, read them all. */
static void test_pieces_are_aligned_and_apart(void **state)
{
    struct arena arena;
    uint8_t *pieces[300];

    (void)state;
    arena_init(&arena, SIZE_MAX);
    for (size_t i = 0; i < 300; i++) {
        pieces[i] = arena_alloc(&arena, i * 7);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % ARENA_ALIGN_BYTES, 0);
        memset(pieces[i], (int)(i & 0xff), i * 7);
    }
    for (size_t i = 0; i < 300; i++) {
        for (size_t at = 0; at < i * 7; at++) {
            assert_int_equal(pieces[i][at], i & 0xff);
        }
    }
    arena_deinit(&arena);
}

/* Goal: allocations larger than any chunk work between small ones. Method: alternate 1 byte and 3
 * MiB. */
static void test_large_pieces_keep_small_ones(void **state)
{
    struct arena arena;
    const size_t large = (size_t)3 << 20;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    for (int i = 0; i < 5; i++) {
        uint8_t *small = arena_alloc(&arena, 1);
        uint8_t *big = arena_alloc(&arena, large);

        assert_non_null(small);
        assert_non_null(big);
        *small = 7;
        memset(big, 9, large);
        assert_int_equal(*small, 7);
    }
    arena_deinit(&arena);
}

/* Goal: the cap is enforced, a refusal costs nothing, and a reset returns all of it. Method: fill
 * an arena of 64 KiB by allocations of 1000 bytes, twice. */
static void test_cap_is_enforced_until_reset(void **state)
{
    struct arena arena;
    size_t first_count = 0;

    (void)state;
    arena_init(&arena, 64 * 1024);
    assert_null(arena_alloc(&arena, 64 * 1024 + 1));
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc(&arena, SIZE_MAX - 15));
    assert_int_equal(arena.used_bytes, 0);
    while (arena_alloc(&arena, 1000) != NULL) {
        first_count++;
    }
    assert_in_range(first_count, 63, 65);
    assert_true(arena.used_bytes <= 64 * 1024);
    assert_non_null(arena_alloc(&arena, 16));
    arena_reset(&arena);
    for (size_t i = 0; i < first_count; i++) {
        assert_non_null(arena_alloc(&arena, 1000));
    }
    arena_deinit(&arena);
    assert_int_equal(arena.used_bytes, 0);
}

/* Goal: an arena without a cap refuses the impossible without harm. Method: sizes near SIZE_MAX. */
static void test_arena_without_a_cap_refuses_impossible_sizes(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc(&arena, SIZE_MAX - 31));
    assert_null(arena_alloc(&arena, PTRDIFF_MAX));
    assert_null(arena_calloc(&arena, SIZE_MAX / 2, 3));
    assert_non_null(arena_alloc(&arena, 1));
    assert_null(arena_alloc(&arena, SIZE_MAX - 47));
    arena_deinit(&arena);
}

/* Goal: a reset keeps only the first chunk. Method: the pointers of an arena after a reset. */
static void test_reset_keeps_first_chunk(void **state)
{
#ifdef ERRATA_ARENA_EMULATOR
    struct arena arena;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    assert_non_null(arena_alloc(&arena, 100));
    arena_reset(&arena);
    assert_null(arena.chunks); /* every piece was a separate block, and is freed */
    arena_deinit(&arena);
#else
    struct arena arena;
    const void *first = NULL;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    first = arena_alloc(&arena, 100);
    for (int i = 0; i < 1000; i++) {
        assert_non_null(arena_alloc(&arena, 5000));
    }
    arena_reset(&arena);
    assert_ptr_equal(arena_alloc(&arena, 100), first);
    arena_deinit(&arena);

    arena_init(&arena, SIZE_MAX); /* a large first chunk is not kept */
    assert_non_null(arena_alloc(&arena, ARENA_KEPT_BYTES_MAX + 1));
    arena_reset(&arena);
    assert_null(arena.chunks);
    arena_deinit(&arena);
#endif
}

/* Goal: deinit accepts unused arenas. Method: a zeroed arena, and one twice. */
static void test_deinit_accepts_unused_arenas(void **state)
{
    struct arena arena = {0};

    (void)state;
    arena_deinit(&arena);
    arena_deinit(&arena);
    arena_init(&arena, 100);
    arena_reset(&arena);
    arena_deinit(&arena);
}

/* Goal: copies and formatted texts are correct and end in a NUL. Method: with room, and without. */
static void test_copies_end_in_nul(void **state)
{
    struct arena arena;
    struct slice copy = {NULL, 0};
    struct slice text = {NULL, 0};

    (void)state;
    arena_init(&arena, 4096);
    assert_true(arena_copy(&arena, SLICE("abc\0d"), &copy));
    assert_int_equal(copy.size, 5);
    assert_memory_equal(copy.data, "abc\0d", 6);
    assert_true(arena_copy(&arena, slice_of(NULL, 0), &copy));
    assert_int_equal(copy.size, 0);
    assert_int_equal(copy.data[0], 0);
    text = arena_printf(&arena, "%d-%s", 42, "x");
    assert_true(slice_equal(text, SLICE("42-x")));
    assert_int_equal(text.data[4], 0);
    text = arena_printf(&arena, "%5000d", 1);
    assert_int_equal(text.size, 0);
    assert_false(arena_copy(&arena, slice_of(copy.data, 5000), &copy));
    arena_deinit(&arena);
}

/* Goal: calloc zeroes memory that was used before. Method: dirty, reset, calloc. */
static void test_calloc_zeroes(void **state)
{
    struct arena arena;
    uint8_t *piece = NULL;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    piece = arena_alloc(&arena, 1000);
    assert_non_null(piece);
    memset(piece, 0xff, 1000);
    arena_reset(&arena);
    piece = arena_calloc(&arena, 10, 100);
    assert_non_null(piece);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(piece[i], 0);
    }
    arena_deinit(&arena);
}

/* Goal: a buffer has the room that it reports, for any content. Method: every pair of a first and a
 * second append; twice the old capacity is one byte too few for some. */
static void test_buffer_has_its_reported_capacity(void **state)
{
    static const uint8_t bytes[300];

    (void)state;
    for (size_t first = 0; first < 130; first++) {
        for (size_t second = 1; second < 300; second += 1 + first % 3) {
            struct arena arena;
            struct buffer buffer;

            arena_init(&arena, SIZE_MAX);
            buffer_init(&buffer, &arena, first);
            buffer_append(&buffer, slice_of(bytes, first));
            assert_true(buffer_reserve(&buffer, second));
            assert_true(buffer.capacity - buffer.size >= second);
            arena_deinit(&arena);
        }
    }
}

/* Goal: a buffer keeps its content while it grows, as the last allocation and among others. Method:
 * a million bytes one by one, with another allocation now and then. */
static void test_buffer_keeps_its_content_while_it_grows(void **state)
{
    struct arena arena;
    struct buffer buffer;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    buffer_init(&buffer, &arena, 0);
    assert_int_equal(buffer_slice(&buffer).size, 0);
    for (uint32_t i = 0; i < 1000000; i++) {
        buffer_append_byte(&buffer, (uint8_t)(i * 31));
        if (i % 100000 == 0) {
            assert_non_null(arena_alloc(&arena, 10));
        }
    }
    assert_true(buffer_ok(&buffer));
    assert_int_equal(buffer.size, 1000000);
    for (uint32_t i = 0; i < 1000000; i++) {
        assert_int_equal(buffer.data[i], (uint8_t)(i * 31));
    }
    arena_deinit(&arena);
}

/* Goal: a failed append sticks and changes nothing. Method: an arena of 1 KiB. */
static void test_buffer_failure_sticks(void **state)
{
    struct arena arena;
    struct buffer buffer;
    uint8_t bytes[2000] = {0};

    (void)state;
    arena_init(&arena, 1024);
    buffer_init(&buffer, &arena, 16);
    buffer_append(&buffer, SLICE("abc"));
    buffer_append(&buffer, slice_of(bytes, sizeof(bytes)));
    assert_false(buffer_ok(&buffer));
    buffer_append(&buffer, SLICE("d"));
    buffer_append_byte(&buffer, 'e');
    buffer_printf(&buffer, "%d", 5);
    assert_false(buffer_reserve(&buffer, 0));
    assert_true(slice_equal(buffer_slice(&buffer), SLICE("abc")));
    buffer_init(&buffer, &arena, 0);
    assert_false(buffer_reserve(&buffer, SIZE_MAX));
    arena_deinit(&arena);
}

/* Goal: formatted texts are appended between others, without their NUL. Method: three in a row. */
static void test_buffer_printf_appends_without_nul(void **state)
{
    struct arena arena;
    struct buffer buffer;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    buffer_init(&buffer, &arena, 1);
    buffer_printf(&buffer, "%s=%d;", "a", 1);
    buffer_printf(&buffer, "%0200d", 7);
    buffer_append(&buffer, SLICE("."));
    assert_int_equal(buffer.size, 4 + 200 + 1);
    assert_memory_equal(buffer.data, "a=1;000", 7);
    assert_memory_equal(buffer.data + 200, "0007.", 5);
    arena_deinit(&arena);
}

/* Goal: slices compare as bytes, shorter first. Method: pairs. */
static void test_slices_compare_as_bytes(void **state)
{
    (void)state;
    assert_true(slice_equal(slice_of(NULL, 0), SLICE("")));
    assert_false(slice_equal(SLICE("a"), SLICE("b")));
    assert_false(slice_equal(SLICE("a"), SLICE("ab")));
    assert_true(slice_compare(SLICE("a"), SLICE("b")) < 0);
    assert_true(slice_compare(SLICE("a"), SLICE("ab")) < 0);
    assert_true(slice_compare(SLICE("\xff"), SLICE("a")) > 0);
    assert_int_equal(slice_compare(SLICE("ab"), SLICE("ab")), 0);
    assert_int_equal(slice_compare(slice_of(NULL, 0), SLICE("")), 0);
    assert_true(slice_starts_with(SLICE("abc"), SLICE("ab")));
    assert_true(slice_starts_with(SLICE("abc"), slice_of(NULL, 0)));
    assert_false(slice_starts_with(SLICE("ab"), SLICE("abc")));
    assert_true(slice_equal(slice_after(SLICE("abc"), 2), SLICE("c")));
    assert_true(slice_equal(slice_text("abc"), SLICE("abc")));
    assert_int_equal(slice_text(NULL).size, 0);
}

/* A thread that is idle until it is asked for work. */
struct slow_thread {
    void (*work)(void *job);
    void (*done)(void *job, enum err result);
    void *job;
    unsigned count;
    bool busy;
};

static enum err run_slowly(void *user, void (*work)(void *job),
                           void (*done)(void *job, enum err result), void *job)
{
    struct slow_thread *thread = user;

    if (thread->busy) {
        return ERR_BUSY;
    }
    thread->work = work;
    thread->done = done;
    thread->job = job;
    thread->count++;
    return OK;
}

/* Goal: large memory is freed on the requested thread, small memory at once, and either way the
 * arena can be used again under the same cap. Method: both sizes; a thread that refuses, no thread,
 * and an arena without room for the job itself. */
static void test_large_memory_is_freed_on_the_given_thread(void **state)
{
    struct slow_thread thread = {.count = 0};
    struct arena arena;

    (void)state;
    arena_init(&arena, 2 * ARENA_FREE_HERE_BYTES);
    assert_non_null(arena_alloc(&arena, 1000));
    arena_reset_by(&arena, run_slowly, &thread);
    assert_int_equal(thread.count, 0);
    for (int round = 0; round < 4; round++) {
        void *piece = NULL;

        thread.busy = round == 1;
        piece = arena_alloc(&arena, ARENA_FREE_HERE_BYTES + 1);
        assert_non_null(piece);
        memset(piece, 1, ARENA_FREE_HERE_BYTES + 1);
        while (round == 3 && arena_alloc(&arena, 16) != NULL) {
        }
        arena_reset_by(&arena, round == 2 ? NULL : run_slowly, &thread);
        assert_int_equal(thread.count, 1); /* only those of the first round */
        assert_true(arena.used_bytes < 1000);
        assert_int_equal(arena.limit_bytes, 2 * ARENA_FREE_HERE_BYTES);
        if (round == 0) {
            thread.work(thread.job);
            thread.done(thread.job, OK);
        }
    }
    arena_deinit(&arena);
}

#ifdef ERRATA_FAULTS

static bool fails_in_arenas(struct fault_driver *driver, const char *name)
{
    (void)driver;
    return strcmp(name, "arena.chunk") == 0;
}

/* Goal: a fault point fails where its driver requests it, by its name, and never without a driver;
 * its failure takes the error path. Method: an arena whose chunks are refused. */
static void test_fault_point_fails_only_if_driven(void **state)
{
    struct fault_driver driver = {fails_in_arenas};
    struct arena arena;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    fault_point_set_driver(&driver);
    assert_false(fault_point_fails("store.get"));
    assert_null(arena_alloc(&arena, 10));
    fault_point_set_driver(NULL);
    assert_false(fault_point_fails("arena.chunk"));
    assert_non_null(arena_alloc(&arena, 10));
    arena_deinit(&arena);
}

#endif

int run_memory_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_aligned_and_apart),
        cmocka_unit_test(test_large_pieces_keep_small_ones),
        cmocka_unit_test(test_cap_is_enforced_until_reset),
        cmocka_unit_test(test_arena_without_a_cap_refuses_impossible_sizes),
        cmocka_unit_test(test_reset_keeps_first_chunk),
        cmocka_unit_test(test_large_memory_is_freed_on_the_given_thread),
        cmocka_unit_test(test_deinit_accepts_unused_arenas),
        cmocka_unit_test(test_copies_end_in_nul),
        cmocka_unit_test(test_calloc_zeroes),
        cmocka_unit_test(test_buffer_keeps_its_content_while_it_grows),
        cmocka_unit_test(test_buffer_has_its_reported_capacity),
        cmocka_unit_test(test_buffer_failure_sticks),
        cmocka_unit_test(test_buffer_printf_appends_without_nul),
        cmocka_unit_test(test_slices_compare_as_bytes),
#ifdef ERRATA_FAULTS
        cmocka_unit_test(test_fault_point_fails_only_if_driven),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
