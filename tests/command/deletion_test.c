/*
 * deletion_test.c: the component that deletes organisations, beside one that it cannot delete.
 */
#include "server/domain/admin/organization_state.h"
#include "server/pipeline/organization_deleter.h"
#include "tests/command/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ROUNDS_MAX 1000000

struct bench {
    struct fixture fixture; /* first */
    struct org_id deleted; /* zeros: none yet */
};

static void on_deleted(void *user, struct org_id org)
{
    struct bench *bench = user;

    bench->deleted = org;
}

static void on_news(void *user, struct org_id org)
{
    (void)user;
    (void)org;
}

static void on_idle(void *user)
{
    (void)user;
}

/* Creates an organisation and begins its deletion; returns its id. */
static struct org_id begin_deletion(struct fixture *fixture)
{
    const struct admin_actor actor = {SLICE("anna"), ANNOTATOR_HUMAN, SOURCE_LIVE, true};
    struct organization_state_change change = {
        .caller_org = fixture->org, .suspend = true, .reason = SLICE("r")};
    struct organization_deletion_request request = {.caller_org = fixture->org,
                                                    .confirm_name = SLICE("second")};
    struct work_result result;
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    log_begin_write(txn, NULL);
    assert_int_equal(
        admin_create_organization(&fixture->ctx, txn, &actor, SLICE("second"), &result), OK);
    change.org = request.org = result.org;
    assert_int_equal(organization_state_set(&fixture->ctx, txn, &actor, &change, &result), OK);
    assert_int_equal(organization_deletion_begin(&fixture->ctx, txn, &actor, &request, &result),
                     OK);
    assert_int_equal(store_commit(txn), OK);
    return request.org;
}

static void set_mark(struct fixture *fixture, const struct log_deletion *mark, bool is_marked)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    assert_int_equal(is_marked ? log_deletion_put(&fixture->ctx, txn, mark)
                               : log_deletion_end(txn, mark->org),
                     OK);
    assert_int_equal(store_commit(txn), OK);
}

/* Goal: a deletion that fails does not keep others waiting. Method: a mark before the other, with an event that does not
 * exist. */
static void test_failing_deletion_is_passed_over(void **state)
{
    struct bench bench = {.deleted = {.uuid = {.bytes = {0}}}};
    struct fixture *fixture = &bench.fixture;
    struct organization_deleter_config config = {.run_on_pool = fixture_run_on_pool,
                                                 .on_deleted = on_deleted,
                                                 .on_news = on_news,
                                                 .on_idle = on_idle,
                                                 .user = &bench};
    struct organization_deleter *deleter = NULL;
    struct log_deletion failing = {.org = {{{1}}}, .audit_seq = 999};
    struct org_id org;

    (void)state;
    fixture_init(fixture);
    failing.audit_org = fixture->org;
    set_mark(fixture, &failing, true);
    org = begin_deletion(fixture);
    config.backend = fixture->backend;
    config.writer = fixture->writer;
    config.clock = fixture->ctx.clock;
    config.random = fixture->ctx.random;
    assert_int_equal(organization_deleter_new(&fixture->arena, &config, &deleter), OK);
    for (size_t round = 0; round < ROUNDS_MAX && !uuid_equal(bench.deleted.uuid, org.uuid);
         round++) {
        if (organization_deleter_is_idle(deleter)) {
            clock_manual_advance(&fixture->clock, DELETER_RETRY_US);
        }
        organization_deleter_tick(deleter);
        (void)uv_run(&fixture->loop, UV_RUN_NOWAIT);
    }
    assert_true(uuid_equal(bench.deleted.uuid, org.uuid));
    organization_deleter_stop(deleter);
    while (!organization_deleter_is_idle(deleter)) {
        (void)uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    organization_deleter_deinit(deleter);
    set_mark(fixture, &failing, false);
    fixture_deinit(fixture);
}

int run_deletion_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failing_deletion_is_passed_over),
    };

    return cmocka_run_group_tests_name("deletions of organisations", tests, NULL, NULL);
}
