/*
 * world.c: see world.h; and the main of this folder's tests.
 */
#include "tests/unit/corrections/world.h"

#include "store/memory/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ARENA_BYTES (512u << 20)

void world_init(struct world *world, uint64_t seed)
{
    memset(world, 0, sizeof(*world));
    arena_init(&world->arena, ARENA_BYTES);
    clock_manual_init(&world->clock, WORLD_START_US);
    random_seeded_init(&world->random, seed);
    fault_init(&world->fault, &world->arena);
    world->ctx =
        (struct ctx){&world->arena, &world->clock.clock, &world->random.random, &world->fault};
    world->org.uuid = uuid_v7(WORLD_START_US, &world->random.random);
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

struct capture_caller world_admin(void)
{
    return (struct capture_caller){ROLE_ADMIN, {NULL, 0}, 0xabcd, false};
}

uint64_t world_capture(struct world *world, const struct capture_input *inputs, size_t count)
{
    const struct capture_caller caller = world_admin();
    struct capture_event *events = arena_calloc(&world->arena, count, sizeof(*events));
    struct store_txn *txn = world_begin(world, STORE_WRITE);
    uint64_t seq = 0;

    assert_non_null(events);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(
            capture_prepare(&world->ctx, &caller, &inputs[i], SLICE("event"), &events[i]), OK);
    }
    log_begin_write(txn, NULL);
    assert_int_equal(capture_store(&world->ctx, txn, world->org, events, count, &seq), OK);
    assert_int_equal(store_commit(txn), OK);
    return seq;
}

bool world_has(struct slice whole, const char *part)
{
    return memmem(whole.data, whole.size, part, strlen(part)) != NULL;
}

int main(void)
{
    int failed = run_pure_tests();

    failed += run_capture_tests();
    failed += run_model_tests();
    return failed;
}
