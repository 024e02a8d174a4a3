/*
 * crossings_test.c: the groups of crossing rulings, against a comparison of each pair.
 */
#include "tests/unit/pdf_measure/pdf_measure_tests.h"

#include "store/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define RULINGS_MAX 60
#define ROUNDS 300

static bool cross(const struct ruling *across, const struct ruling *down)
{
    return across->from - 3 <= down->at && down->at <= across->to + 3 &&
           down->from - 3 <= across->at && across->at <= down->to + 3;
}

/* The least index of each ruling's group, by repeating until nothing changes. */
static void find_plainly(const struct ruling_list *across, const struct ruling_list *down,
                         uint32_t *groups)
{
    bool changed = true;

    for (uint32_t i = 0; i < across->count + down->count; i++) {
        groups[i] = i;
    }
    while (changed) {
        changed = false;
        for (size_t i = 0; i < across->count * down->count; i++) {
            uint32_t *a = &groups[i / down->count];
            uint32_t *b = &groups[across->count + i % down->count];

            if (*a != *b && cross(&across->items[i / down->count], &down->items[i % down->count])) {
                *a = *b = *a < *b ? *a : *b;
                changed = true;
            }
        }
    }
}

static int compare_places(const void *left, const void *right)
{
    const struct ruling *a = left;
    const struct ruling *b = right;

    return (a->at > b->at) - (a->at < b->at);
}

static uint32_t number(struct random_seeded *random, uint32_t below)
{
    uint32_t value = 0;

    random_fill(&random->random, &value, sizeof value);
    return value % below;
}

/* Integer coordinates on a small page, so that ends often meet exactly. */
static struct ruling_list make_list(struct random_seeded *random, struct ruling *items)
{
    struct ruling_list list = {.items = items, .count = number(random, RULINGS_MAX)};

    for (size_t i = 0; i < list.count; i++) {
        double from = number(random, 200);

        items[i] = (struct ruling){number(random, 200), from, from + number(random, 40)};
    }
    qsort(items, list.count, sizeof *items, compare_places);
    return list;
}

/* Goal: the sweep joins exactly the crossing rulings. Method: random rulings, and a plain
 * search. */
static void test_sweep_joins_exactly_the_crossing_rulings(void **state)
{
    struct random_seeded random;

    (void)state;
    random_seeded_init(&random, 1);
    for (int round = 0; round < ROUNDS; round++) {
        struct ruling items[2][RULINGS_MAX];
        uint32_t expected[2 * RULINGS_MAX] = {0};
        uint32_t *groups = NULL;
        struct arena arena;
        struct ruling_list across = make_list(&random, items[0]);
        struct ruling_list down = make_list(&random, items[1]);

        arena_init(&arena, 1 << 20);
        assert_true(rulings_find_groups(&arena, &across, &down, &groups));
        find_plainly(&across, &down, expected);
        assert_memory_equal(groups, expected, (across.count + down.count) * sizeof *expected);
        arena_deinit(&arena);
    }
}

/* Goal: rulings that end 3 points from each other cross, those further away do not. Method: one pair
 * of each kind, at distances around 3. */
static void test_rulings_within_3_points_cross(void **state)
{
    static const struct {
        double at; /* position of the vertical ruling */
        double from;
        bool joined;
    } cases[] = {{103, 100, true},   {203, 100, true}, {203.1, 100, false}, {97, 100, true},
                 {96.9, 100, false}, {150, 303, true}, {150, 303.1, false}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ruling across = {300, 100, 200};
        struct ruling down = {cases[i].at, cases[i].from, 400};
        uint32_t *groups = NULL;
        struct arena arena;

        arena_init(&arena, 1 << 20);
        assert_true(rulings_find_groups(&arena, &(struct ruling_list){&across, 1, 1},
                                        &(struct ruling_list){&down, 1, 1}, &groups));
        assert_int_equal(groups[0] == groups[1], cases[i].joined);
        arena_deinit(&arena);
    }
}

int run_crossings_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep_joins_exactly_the_crossing_rulings),
        cmocka_unit_test(test_rulings_within_3_points_cross),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
