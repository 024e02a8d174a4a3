/*
 * deletion_test.c: the component that deletes organisations, beside one that it cannot delete.
 */
#include "server/domain/admin/keys.h"
#include "server/domain/admin/organization_state.h"
#include "server/domain/admin/records.h"
#include "server/pipeline/organization_deleter.h"
#include "tests/command/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errata/v1/role.fields.h>

#define ROUNDS_MAX 1000000
/* More than two transactions of the check read. */
#define OTHER_TOKENS 4500
#define ARENA_BYTES (16u << 20)

struct bench {
    struct fixture fixture; /* first */
    struct org_id deleted; /* zeros: none yet */
    unsigned idle_count; /* times that the component became idle */
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
    struct bench *bench = user;

    bench->idle_count++;
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

static struct organization_deleter *make_deleter(struct bench *bench)
{
    struct fixture *fixture = &bench->fixture;
    const struct organization_deleter_config config = {.backend = fixture->backend,
                                                       .writer = fixture->writer,
                                                       .clock = fixture->ctx.clock,
                                                       .random = fixture->ctx.random,
                                                       .run_on_pool = fixture_run_on_pool,
                                                       .on_deleted = on_deleted,
                                                       .on_news = on_news,
                                                       .on_idle = on_idle,
                                                       .user = bench};
    struct organization_deleter *deleter = NULL;

    assert_int_equal(organization_deleter_new(&fixture->arena, &config, &deleter), OK);
    return deleter;
}

/* Runs a turn of the loop with a tick. */
static void run_turn(struct bench *bench, struct organization_deleter *deleter)
{
    if (organization_deleter_is_idle(deleter)) {
        clock_manual_advance(&bench->fixture.clock, DELETER_RETRY_US);
    }
    organization_deleter_tick(deleter);
    (void)uv_run(&bench->fixture.loop, UV_RUN_NOWAIT);
}

static void run_until_deleted(struct bench *bench, struct organization_deleter *deleter,
                              struct org_id org)
{
    for (size_t round = 0; round < ROUNDS_MAX && !uuid_equal(bench->deleted.uuid, org.uuid);
         round++) {
        run_turn(bench, deleter);
    }
    assert_true(uuid_equal(bench->deleted.uuid, org.uuid));
}

static void end_deleter(struct fixture *fixture, struct organization_deleter *deleter)
{
    organization_deleter_stop(deleter);
    while (!organization_deleter_is_idle(deleter)) {
        (void)uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    organization_deleter_deinit(deleter);
}

/* Goal: a deletion that fails does not keep others waiting. Method: a mark before the other, with an event that does not
 * exist. */
static void test_failing_deletion_is_passed_over(void **state)
{
    struct bench bench = {.deleted = {.uuid = {.bytes = {0}}}};
    struct fixture *fixture = &bench.fixture;
    struct organization_deleter *deleter = NULL;
    struct log_deletion failing = {.org = {{{1}}}, .audit_seq = 999};
    struct org_id org;

    (void)state;
    fixture_init(fixture);
    failing.audit_org = fixture->org;
    set_mark(fixture, &failing, true);
    org = begin_deletion(fixture);
    deleter = make_deleter(&bench);
    run_until_deleted(&bench, deleter, org);
    end_deleter(fixture, deleter);
    set_mark(fixture, &failing, false);
    fixture_deinit(fixture);
}

/* Puts tokens of another organisation, and after them one of `org` that its list does not have; or removes them all. */
static void put_tokens(struct fixture *fixture, struct org_id org, bool are_there)
{
    struct token_record token = {
        .org = fixture->org.uuid, .role = ROLE_VIEWER, .secret_sha256 = {{1}}};
    struct arena arena;
    struct store_txn *txn = NULL;

    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    for (uint32_t i = 0; i <= OTHER_TOKENS; i++) {
        struct key key = key_token_global(UINT32_MAX - OTHER_TOKENS + i);
        struct slice bytes = {NULL, 0};

        token.org = i == OTHER_TOKENS ? org.uuid : fixture->org.uuid;
        assert_int_equal(record_encode_token(&arena, &token, &bytes), OK);
        assert_int_equal(are_there ? store_put(txn, TABLE_TOKEN, key_slice(&key), bytes)
                                   : store_del(txn, TABLE_TOKEN, key_slice(&key)),
                         OK);
    }
    assert_int_equal(store_commit(txn), OK);
    arena_deinit(&arena);
}

/* Goal: a deletion does not end while a token is left, although the check needs several transactions to find it. Method: more
 * tokens of another organisation before it; then it is removed. */
static void test_token_that_is_left_is_found(void **state)
{
    struct bench bench = {.idle_count = 0};
    struct fixture *fixture = &bench.fixture;
    struct organization_deleter *deleter = NULL;
    struct org_id org;

    (void)state;
    fixture_init(fixture);
    org = begin_deletion(fixture);
    put_tokens(fixture, org, true);
    deleter = make_deleter(&bench);
    for (size_t round = 0; round < ROUNDS_MAX && bench.idle_count < 3; round++) {
        run_turn(&bench, deleter);
    }
    assert_int_equal(bench.idle_count, 3);
    assert_false(uuid_equal(bench.deleted.uuid, org.uuid));
    put_tokens(fixture, org, false);
    run_until_deleted(&bench, deleter, org);
    end_deleter(fixture, deleter);
    fixture_deinit(fixture);
}

int run_deletion_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failing_deletion_is_passed_over),
        cmocka_unit_test(test_token_that_is_left_is_found),
    };

    return cmocka_run_group_tests_name("deletions of organisations", tests, NULL, NULL);
}
