/*
 * pack_test.c: any packed bytes are returned unchanged; damaged ones are refused and
 * never read or write outside of what they were given.
 */
#include "tests/unit/base/base_tests.h"

#include "store/base/pack.h"
#include "store/base/random.h"

#include <stdlib.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define ARENA_BYTES ((size_t)16 << 20)

static struct slice pack(struct arena *arena, struct slice dictionary, struct slice bytes)
{
    struct slice packed = {NULL, 0};

    assert_int_equal(pack_write(arena, dictionary, bytes, &packed), OK);
    return packed;
}

/* Unpacks into a block of its own, at whose end a sanitiser looks. */
static bool unpack(struct slice dictionary, struct slice packed, uint8_t **ret_bytes,
                   size_t *ret_size)
{
    bool unpacked = pack_read_size(packed, ret_size);

    *ret_bytes = malloc(*ret_size + 1);
    assert_non_null(*ret_bytes);
    return unpacked && pack_read(dictionary, packed, *ret_bytes);
}

static void assert_packs(struct arena *arena, struct slice dictionary, struct slice bytes)
{
    struct slice packed = pack(arena, dictionary, bytes);
    uint8_t *unpacked = NULL;
    size_t size = 0;

    assert_true(unpack(dictionary, packed, &unpacked, &size));
    assert_int_equal(size, bytes.size);
    assert_true(slice_equal(slice_of(unpacked, size), bytes));
    free(unpacked);
}

/* Goal: stored bytes keep their meaning. Method: packed bytes written out by hand. */
static void test_packed_bytes_keep_their_meaning(void **state)
{
    static const struct {
        struct slice dictionary;
        struct slice bytes;
        struct slice packed;
    } rows[] = {
        {{NULL, 0}, {NULL, 0}, SLICE("\0")},
        {{NULL, 0},
         SLICE("abc"),
         SLICE("\3\x30"
               "abc")},
        {{NULL, 0},
         SLICE("abcdabcdabcd"),
         SLICE("\14\x44"
               "abcd\4")},
        {SLICE("a snippet"), SLICE("{a snippet}"), SLICE("\13\x15{\12\x10}")},
        {{NULL, 0},
         SLICE("0123456789abcdefg"),
         SLICE("\21\xf0\2"
               "0123456789abcdefg")},
        {{NULL, 0},
         SLICE("aaaaaaaaaaaaaaaaaaaaaaaa"),
         SLICE("\30\x1f"
               "a\1\4")},
    };
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct slice packed = pack(&arena, rows[i].dictionary, rows[i].bytes);

        assert_int_equal(packed.size, rows[i].packed.size);
        assert_memory_equal(packed.data, rows[i].packed.data, packed.size);
        assert_packs(&arena, rows[i].dictionary, rows[i].bytes);
    }
    arena_deinit(&arena);
}

/* Bytes of few letters, so that some repeat. */
static struct slice draw(struct arena *arena, struct random_seeded *random, size_t size_max)
{
    uint16_t drawn[2] = {0, 0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    unsigned letters = 0;

    random_fill(&random->random, drawn, sizeof(drawn));
    size = drawn[0] % (size_max + 1);
    letters = 1 + drawn[1] % 8u * 4u;
    bytes = arena_alloc(arena, size + 1);
    assert_non_null(bytes);
    random_fill(&random->random, bytes, size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)('a' + bytes[i] % letters);
    }
    return slice_of(bytes, size);
}

/* Goal: any bytes round trip with any dictionary. Method: random ones, and the dictionary's own
 * bytes with a change. */
static void test_any_bytes_round_trip(void **state)
{
    struct random_seeded random;
    struct arena arena;

    (void)state;
    random_seeded_init(&random, 7);
    arena_init(&arena, ARENA_BYTES);
    for (unsigned i = 0; i < 2000; i++) {
        struct slice dictionary = draw(&arena, &random, 3000);
        struct slice bytes = draw(&arena, &random, 3000);
        struct slice copy = {NULL, 0};

        assert_packs(&arena, dictionary, bytes);
        assert_packs(&arena, slice_of(NULL, 0), bytes);
        assert_true(arena_copy(&arena, dictionary, &copy));
        if (copy.size > 0) {
            ((uint8_t *)(uintptr_t)copy.data)[copy.size / 2] = '!';
        }
        assert_packs(&arena, dictionary, copy);
        arena_reset(&arena);
    }
    arena_deinit(&arena);
}

/* Goal: bytes of the dictionary cost little, and random ones hardly more than their size. */
static void test_dictionary_bytes_are_packed_small(void **state)
{
    static const uint8_t zeros[PACK_BYTES_MAX + 1];
    struct random_seeded random;
    struct arena arena;
    uint8_t bytes[3000];
    struct slice whole = slice_of(bytes, sizeof(bytes));
    struct slice none = {NULL, 0};
    struct slice packed = none;

    (void)state;
    random_seeded_init(&random, 11);
    random_fill(&random.random, bytes, sizeof(bytes));
    arena_init(&arena, ARENA_BYTES);
    assert_true(pack(&arena, whole, whole).size <= 8);
    assert_true(pack(&arena, whole, slice_of(bytes + 1, 2000)).size <= 8);
    assert_true(pack(&arena, none, whole).size <= sizeof(bytes) + 8);
    assert_packs(&arena, none, slice_of(zeros, PACK_BYTES_MAX));
    assert_int_equal(pack_write(&arena, none, slice_of(zeros, sizeof(zeros)), &packed),
                     ERR_INVALID);
    assert_int_equal(pack_write(&arena, slice_of(zeros, sizeof(zeros)), none, &packed),
                     ERR_INVALID);
    arena_deinit(&arena);
    arena_init(&arena, 16);
    assert_int_equal(pack_write(&arena, none, whole, &packed), ERR_MEMORY);
    arena_deinit(&arena);
}

/* Goal: damaged bytes are refused or unpack to their stated size. Method: each byte changed in
 * several ways, each prefix, a truncated dictionary; a sanitizer detects accesses out of bounds. */
static void test_damaged_bytes_are_refused_or_keep_their_size(void **state)
{
    static const uint8_t changes[] = {0x01, 0x10, 0x80, 0xff};
    struct slice dictionary =
        SLICE("{\"line_no\":3,\"qty\":10,\"description\":\"bolts, hexagonal\"}");
    struct slice bytes =
        SLICE("{\"line_no\":3,\"qty\":12,\"description\":\"bolts, hexagonal, M8 M8 M8 M8\"}");
    struct arena arena;
    struct slice packed = {NULL, 0};
    uint8_t damaged[128];
    uint8_t *out = NULL;
    size_t size = 0;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    packed = pack(&arena, dictionary, bytes);
    assert_true(packed.size < sizeof(damaged) && packed.size < bytes.size);
    for (size_t i = 0; i < packed.size; i++) {
        assert_false(unpack(dictionary, slice_of(packed.data, i), &out, &size));
        free(out);
        for (size_t change = 0; change < COUNT(changes); change++) {
            memcpy(damaged, packed.data, packed.size);
            damaged[i] ^= changes[change];
            (void)unpack(dictionary, slice_of(damaged, packed.size), &out, &size);
            free(out);
        }
    }
    assert_false(unpack(slice_of(dictionary.data, 8), packed, &out, &size));
    free(out);
    memcpy(damaged, packed.data, packed.size);
    damaged[packed.size] = 0;
    assert_false(unpack(dictionary, slice_of(damaged, packed.size + 1), &out, &size));
    free(out);
    arena_deinit(&arena);
}

int run_pack_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed_bytes_keep_their_meaning),
        cmocka_unit_test(test_any_bytes_round_trip),
        cmocka_unit_test(test_dictionary_bytes_are_packed_small),
        cmocka_unit_test(test_damaged_bytes_are_refused_or_keep_their_size),
    };

    return cmocka_run_group_tests_name("pack", tests, NULL, NULL);
}
