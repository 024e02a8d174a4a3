/*
 * mappings_tests.c: the world of mappings_tests.h; and the main of this folder's tests.
 */
#include "tests/unit/mappings/mappings_tests.h"

#include "store/memory/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define START_US INT64_C(1770000000000000)

void world_init(struct world *world)
{
    memset(world, 0, sizeof(*world));
    arena_init(&world->arena, 256u << 20);
    clock_manual_init(&world->clock, START_US);
    random_seeded_init(&world->random, 7);
    fault_init(&world->fault, &world->arena);
    world->ctx =
        (struct ctx){&world->arena, &world->clock.clock, &world->random.random, &world->fault};
    world->org.uuid = uuid_v7(START_US, &world->random.random);
    assert_int_equal(store_memory_open(&world->backend), OK);
}

void world_deinit(struct world *world)
{
    store_memory_close(world->backend);
    arena_deinit(&world->arena);
}

void world_forget(struct world *world)
{
    arena_reset(&world->arena);
    fault_init(&world->fault, &world->arena);
}

struct store_txn *world_begin(struct world *world, enum store_access access)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(world->backend, access, &txn), OK);
    return txn;
}

void world_judge(struct world *world, struct store_txn *txn, enum feedback_event_type event_type,
                 const char *customer_sku, const char *internal_sku)
{
    const struct event_caller caller = {ROLE_ADMIN, {NULL, 0}, 0xabcd, false};
    struct mapping_judgement judgement = {.event_type = event_type};
    uint64_t seq = 0;

    assert_int_equal(mapping_name_read(&world->ctx, slice_of(NULL, 0), SLICE(WORLD_CUSTOMER),
                                       slice_text(customer_sku), slice_text(internal_sku),
                                       &judgement.name),
                     OK);
    assert_int_equal(mapping_judge(&world->ctx, txn, world->org, &caller, &judgement, &seq), OK);
    world_forget(world);
}

size_t world_draw(struct world *world, size_t limit)
{
    uint32_t number = 0;

    random_fill(&world->random.random, &number, sizeof(number));
    return number % limit;
}

int main(void)
{
    int failed = 0;

    failed += run_sku_tests();
    failed += run_trigram_tests();
    failed += run_block_tests();
    failed += run_similar_tests();
    return failed;
}
