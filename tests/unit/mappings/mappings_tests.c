/*
 * mappings_tests.c: the fixture of mappings_tests.h; and the main of this folder's tests.
 */
#include "tests/unit/mappings/mappings_tests.h"

#include "store/memory/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define START_US INT64_C(1770000000000000)

void fixture_init(struct fixture *fixture)
{
    memset(fixture, 0, sizeof(*fixture));
    arena_init(&fixture->arena, 256u << 20);
    clock_manual_init(&fixture->clock, START_US);
    random_seeded_init(&fixture->random, 7);
    fault_init(&fixture->fault, &fixture->arena);
    fixture->ctx = (struct ctx){&fixture->arena, &fixture->clock.clock, &fixture->random.random,
                                &fixture->fault};
    fixture->org.uuid = uuid_v7(START_US, &fixture->random.random);
    assert_int_equal(store_memory_open(&fixture->backend), OK);
}

void fixture_deinit(struct fixture *fixture)
{
    store_memory_close(fixture->backend);
    arena_deinit(&fixture->arena);
}

void fixture_forget(struct fixture *fixture)
{
    arena_reset(&fixture->arena);
    fault_init(&fixture->fault, &fixture->arena);
}

struct store_txn *fixture_begin(struct fixture *fixture, enum store_access access)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, access, &txn), OK);
    return txn;
}

void fixture_judge(struct fixture *fixture, struct store_txn *txn,
                   enum feedback_event_type event_type, const char *customer_sku,
                   const char *internal_sku)
{
    const struct event_caller caller = {ROLE_ADMIN, {NULL, 0}, 0xabcd, false};
    struct mapping_judgement judgement = {.event_type = event_type};
    uint64_t seq = 0;

    assert_int_equal(mapping_name_read(&fixture->ctx, slice_of(NULL, 0), SLICE(FIXTURE_CUSTOMER),
                                       slice_text(customer_sku), slice_text(internal_sku),
                                       &judgement.name),
                     OK);
    assert_int_equal(mapping_judge(&fixture->ctx, txn, fixture->org, &caller, &judgement, &seq),
                     OK);
    fixture_forget(fixture);
}

size_t fixture_draw(struct fixture *fixture, size_t limit)
{
    uint32_t number = 0;

    random_fill(&fixture->random.random, &number, sizeof(number));
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
