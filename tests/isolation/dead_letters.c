/*
 * dead_letters.c: see dead_letters.h.
 */
#include "tests/isolation/dead_letters.h"

#include "server/domain/dead_letters/dead_letters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void make_one(struct fixture *fixture, struct org_id org, unsigned number)
{
    struct slice data = arena_printf(
        &fixture->arena,
        "{\"decision_id\":\"dead-%u\",\"gate_id\":\"g\",\"epic_id\":\"e\",\"agent_name\":"
        "\"coder\",\"decision\":\"APPROVED\"}",
        number);
    const struct entry_field field = {SLICE("data"), data};
    const struct stream_entry entry = {
        .stream = SLICE("decisions"), .id = SLICE("1-0"), .fields = &field, .field_count = 1};
    struct store_txn *txn = NULL;
    uint64_t seq = 0;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    log_begin_write(txn, NULL);
    assert_int_equal(dead_letter_store(&fixture->ctx, txn, org, &entry, SLICE("refused"), &seq),
                     OK);
    assert_int_equal(store_commit(txn), OK);
}

void make_dead_letters(struct fixture *fixture, const struct asker *asker, unsigned count)
{
    struct org_id org;

    assert_true(uuid_parse(slice_text(asker->org_id), &org.uuid));
    for (unsigned i = 0; i < count; i++) {
        make_one(fixture, org, i);
    }
}
