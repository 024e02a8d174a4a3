/*
 * phrases_tests.c: the phrases that occur in a text, compared with a search for each of them; hostile phrases and
 * texts; case folding.
 */
#include "server/domain/scoring/phrases.h"
#include "server/domain/text/case_fold.h"
#include "store/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ARENA_BYTES ((size_t)512 << 20)
#define PHRASES_MAX 10000
#define PHRASE_BYTES_MAX 256
#define TEXT_BYTES_MAX 16384

static uint32_t pick(struct random_seeded *random, uint32_t below)
{
    uint32_t number = 0;

    random_fill(&random->random, &number, sizeof(number));
    return number % below;
}

/* A text of the letters from `a`, of which there are `letters`. */
static struct slice make_text(struct arena *arena, struct random_seeded *random, size_t size,
                              uint32_t letters)
{
    uint8_t *bytes = arena_alloc(arena, size + 1);

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)('a' + pick(random, letters));
    }
    return slice_of(bytes, size);
}

/* Checks that the automaton finds exactly the phrases that memmem finds. */
static void check(struct arena *arena, const struct slice *phrases, size_t count, struct slice text)
{
    struct phrases automaton;
    bool *found = arena_calloc(arena, count + 1, sizeof(*found));

    assert_non_null(found);
    assert_int_equal(phrases_build(arena, phrases, count, &automaton), OK);
    phrases_find(&automaton, text, found);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i],
                         memmem(text.data, text.size, phrases[i].data, phrases[i].size) != NULL);
    }
}

/* Goal: random phrases, many of which overlap, repeat or contain each other, are found as by a search for each. Method:
 * 3,000 sets of phrases and texts of 1 to 4 letters. */
static void test_random_phrases_match_as_a_plain_search_does(void **state)
{
    struct random_seeded random;
    struct arena arena;

    (void)state;
    random_seeded_init(&random, 1);
    arena_init(&arena, ARENA_BYTES);
    for (int round = 0; round < 3000; round++) {
        struct slice phrases[40];
        uint32_t letters = 1 + pick(&random, 4);
        size_t count = pick(&random, 41);

        for (size_t i = 0; i < count; i++) {
            phrases[i] = make_text(&arena, &random, 1 + pick(&random, 8), letters);
        }
        check(&arena, phrases, count, make_text(&arena, &random, pick(&random, 60), letters));
        arena_reset(&arena);
    }
    arena_deinit(&arena);
}

/* Goal: phrases that are suffixes of each other are all found, and none of another text. Method: he, she, his, hers, as
 * in the paper. */
static void test_suffixes_are_found(void **state)
{
    const struct slice phrases[] = {SLICE("he"), SLICE("she"), SLICE("his"), SLICE("hers"),
                                    SLICE("he")};
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    check(&arena, phrases, 5, SLICE("ushers"));
    check(&arena, phrases, 5, SLICE("this"));
    check(&arena, phrases, 5, SLICE(""));
    check(&arena, phrases, 0, SLICE("ushers"));
    arena_deinit(&arena);
}

/* Goal: 10,000 of the longest phrases that differ only at their ends take bounded memory, and a text that reaches
 * their ends again and again takes a step for each of its bytes. Method: phrases `a...a` with a number at the end, all
 * prefixes of `a...a`, and a text of only `a`; memory is counted. */
static void test_hostile_phrases_take_bounded_memory(void **state)
{
    static uint8_t text[TEXT_BYTES_MAX];
    static struct slice phrases[PHRASES_MAX];
    static bool found[PHRASES_MAX];
    struct phrases automaton;
    struct arena made;
    struct arena arena;
    size_t bytes = 0;

    (void)state;
    memset(text, 'a', sizeof(text));
    arena_init(&made, ARENA_BYTES);
    arena_init(&arena, ARENA_BYTES);
    for (size_t i = 0; i < PHRASES_MAX; i++) {
        phrases[i] = i < PHRASE_BYTES_MAX
                         ? slice_of(text, i + 1)
                         : arena_printf(&made, "%zu%.*s%zu", i, PHRASE_BYTES_MAX - 10,
                                        (const char *)text, i);
        bytes += phrases[i].size;
    }
    assert_int_equal(phrases_build(&arena, phrases, PHRASES_MAX, &automaton), OK);
    assert_true(arena.used_bytes < bytes * PHRASES_STATE_BYTES);
    phrases_find(&automaton, slice_of(text, sizeof(text)), found);
    for (size_t i = 0; i < PHRASES_MAX; i++) {
        assert_int_equal(found[i], i < PHRASE_BYTES_MAX);
    }
    arena_deinit(&arena);
    arena_deinit(&made);
}

/* Goal: an arena without room is an error, regardless of the allocation that fails. Method: every limit up to the
 * need. */
static void test_memory_ends(void **state)
{
    const struct slice phrases[] = {SLICE("one"), SLICE("other")};
    enum err err = ERR_MEMORY;
    size_t limit = 16;

    (void)state;
    while (err == ERR_MEMORY) {
        struct phrases automaton;
        struct arena arena;

        arena_init(&arena, limit);
        err = phrases_build(&arena, phrases, 2, &automaton);
        arena_deinit(&arena);
        limit += 16;
    }
    assert_int_equal(err, OK);
    assert_true(limit > 64);
}

/* Goal: texts that differ only in case are equal when folded, by Unicode's full folding; others are not. Method:
 * examples of each status of CaseFolding.txt. */
static void test_case_is_folded(void **state)
{
    static const char *const pairs[][2] = {
        {"TOTAL 9,90", "total 9,90"},
        {"STRASSE", "Straße"},
        {"ΣΊΣΥΦΟΣ", "σίσυφος"},
        {"ﬁsh", "FISH"},
        {"ŉ", "\u02bcN"},
        {"Ǆ", "ǆ"},
        {"𐐀", "𐐨"},
        {"\u0390", "\u0399\u0308\u0301"},
    };
    struct arena arena;
    struct slice left = {NULL, 0};
    struct slice right = {NULL, 0};

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        assert_int_equal(case_fold(&arena, slice_text(pairs[i][0]), &left), OK);
        assert_int_equal(case_fold(&arena, slice_text(pairs[i][1]), &right), OK);
        assert_true(slice_equal(left, right));
    }
    assert_int_equal(case_fold(&arena, SLICE("é"), &left), OK);
    assert_int_equal(case_fold(&arena, SLICE("e"), &right), OK);
    assert_false(slice_equal(left, right));
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_phrases_match_as_a_plain_search_does),
        cmocka_unit_test(test_suffixes_are_found),
        cmocka_unit_test(test_hostile_phrases_take_bounded_memory),
        cmocka_unit_test(test_memory_ends),
        cmocka_unit_test(test_case_is_folded),
    };

    return cmocka_run_group_tests_name("phrases", tests, NULL, NULL);
}
