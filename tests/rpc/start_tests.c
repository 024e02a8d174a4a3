/*
 * start_tests.c: the first start, interrupted at any step; and the tables rebuilt from the log.
 */
#include "tests/rpc/ingest.h"

#include "server/auth/first_token.h"
#include "server/domain/admin/admin.h"

#include <event_apply.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* A keeper of the first token's text. */
struct keeper {
    enum err result;
    unsigned calls;
    char text[TOKEN_TEXT_BYTES + 1];
};

static enum err keep(void *user, struct slice text)
{
    struct keeper *keeper = user;

    keeper->calls++;
    (void)snprintf(keeper->text, sizeof(keeper->text), "%.*s", (int)text.size,
                   (const char *)text.data);
    return keeper->result;
}

/* Goal: a start that fails to keep the token leaves an empty store, the next one makes another
 * token, and the one after that makes nothing. Method: a keeper that fails once. */
static void test_failed_first_start_leaves_an_empty_store(void **state)
{
    struct arena arena;
    struct fault fault;
    struct clock_manual clock;
    struct random_seeded random;
    struct store_backend *backend = NULL;
    struct keeper keeper = {.result = ERR_IO};
    struct ctx ctx = {&arena, &clock.clock, &random.random, &fault};
    char lost[TOKEN_TEXT_BYTES + 1];
    bool made = false;

    (void)state;
    arena_init(&arena, 1u << 20);
    fault_init(&fault, &arena);
    clock_manual_init(&clock, FIXTURE_START_US);
    random_seeded_init(&random, 3);
    assert_int_equal(store_memory_open(&backend), OK);
    assert_int_equal(first_token_make(&ctx, backend, keep, &keeper, &made), ERR_IO);
    memcpy(lost, keeper.text, sizeof(lost));
    keeper.result = OK;
    assert_int_equal(first_token_make(&ctx, backend, keep, &keeper, &made), OK);
    assert_true(made);
    assert_string_not_equal(lost, keeper.text);
    assert_int_equal(first_token_make(&ctx, backend, keep, &keeper, &made), OK);
    assert_false(made);
    assert_int_equal(keeper.calls, 2);
    store_memory_close(backend);
    arena_deinit(&arena);
}

static enum err read_access(struct store_txn *txn, const uint32_t *except_key_id,
                            uint32_t tokens_max, struct admin_server_access *access)
{
    return admin_read_server_access(txn, FIXTURE_START_US, except_key_id, tokens_max, access);
}

/* The key id in a value of the header `authorization`. */
static uint32_t key_id_of(const char *bearer)
{
    return (uint32_t)strtoul(bearer + strlen("Bearer errata_"), NULL, 16);
}

/* Goal: the scan for tokens that can administer the server ends at its bound. Method: a bound that just includes
 * the only such token, by the order of key ids, and one that just does not. */
static void test_access_scan_is_bounded(void **state)
{
    struct fixture fixture;
    struct admin_server_access access;
    struct store_txn *txn = NULL;
    char token[FIXTURE_TOKEN_BYTES];
    uint32_t rank = 1;

    (void)state;
    fixture_init(&fixture);
    for (int i = 0; i < 6; i++) {
        fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, token);
        rank += key_id_of(token) < key_id_of(fixture.admin) ? 1 : 0;
    }
    assert_in_range(rank, 2, 6);
    assert_int_equal(store_begin(fixture.backend, STORE_READ, &txn), OK);
    assert_int_equal(read_access(txn, NULL, rank - 1, &access), OK);
    assert_int_equal(access.until_us, 0);
    assert_int_equal(read_access(txn, NULL, rank, &access), OK);
    assert_int_equal(access.until_us, INT64_MAX);
    assert_int_equal(access.key_id, key_id_of(fixture.admin));
    store_abort(txn);
    fixture_deinit(&fixture);
}

/* Goal: another administrator's token is valid once it is kept, beside the one before; one that could not
 * be kept is not created. Method: a keeper that fails once; a store without the organisation. */
static void test_new_admin_token_is_valid_once_kept(void **state)
{
    struct fixture fixture;
    struct keeper keeper = {.result = ERR_DISK_FULL};
    struct store_backend *empty = NULL;
    struct admin_server_access access;
    struct store_txn *txn = NULL;
    char token[FIXTURE_TOKEN_BYTES];
    char other[FIXTURE_TOKEN_BYTES];
    uint32_t key_id = 0;

    (void)state;
    fixture_init(&fixture);
    assert_int_equal(first_token_add(&fixture.ctx, fixture.backend, keep, &keeper, &key_id),
                     ERR_DISK_FULL);
    assert_int_equal(store_begin(fixture.backend, STORE_READ, &txn), OK);
    assert_int_equal(read_access(txn, &key_id, ADMIN_TOKENS_SCANNED_MAX, &access), OK);
    assert_int_equal(access.until_us, INT64_MAX);
    assert_int_not_equal(access.key_id, key_id);
    key_id = access.key_id;
    assert_int_equal(read_access(txn, &key_id, ADMIN_TOKENS_SCANNED_MAX, &access), OK);
    assert_int_equal(access.until_us, 0); /* only for the first start */
    store_abort(txn);
    keeper.result = OK;
    assert_int_equal(first_token_add(&fixture.ctx, fixture.backend, keep, &keeper, &key_id), OK);
    (void)snprintf(token, sizeof(token), "Bearer %s", keeper.text);
    (void)fixture_make_org(&fixture, "by the first one", other);
    memcpy(fixture.admin, token, sizeof(token));
    (void)fixture_make_org(&fixture, "by the other one", other);
    assert_int_equal(store_memory_open(&empty), OK);
    assert_int_equal(first_token_add(&fixture.ctx, empty, keep, &keeper, &key_id),
                     ERR_PRECONDITION);
    store_memory_close(empty);
    fixture_deinit(&fixture); /* compares the tables with a replay */
}

/* Applies the events of its log to a store. */
static void replay(struct fixture *fixture, const char *org_text, struct store_txn *from,
                   struct store_txn *to)
{
    struct org_id org;
    struct log_head head;

    assert_true(uuid_parse(slice_text(org_text), &org.uuid));
    assert_int_equal(log_read_head(from, org, &head), OK);
    assert_true(head.last_seq > 0);
    for (uint64_t seq = 1; seq <= head.last_seq; seq++) {
        struct key key = key_event(org, seq);
        struct slice record;
        struct event event;

        assert_int_equal(store_get(from, TABLE_EVENT, key_slice(&key), &record), OK);
        assert_int_equal(log_decode(fixture->ctx.arena, org, seq, record, &event), OK);
        assert_int_equal(store_put(to, TABLE_EVENT, key_slice(&key), record), OK);
        assert_int_equal(log_apply_envelope(&fixture->ctx, to, &event), OK);
        assert_int_equal(domain_apply(&fixture->ctx, to, &event), OK);
    }
}

/* Checks that all rows of a table under a prefix are equal in both stores. Returns their number. */
static size_t compare_rows(struct store_txn *a, struct store_txn *b, enum store_table table,
                           struct slice prefix)
{
    struct store_cursor cursors[2] = {{0}, {0}};
    struct slice key[2];
    struct slice value[2];
    enum err err[2];
    size_t count = 0;

    assert_int_equal(
        store_cursor_init(&cursors[0], a, table, prefix, slice_of(NULL, 0), STORE_ASCENDING), OK);
    assert_int_equal(
        store_cursor_init(&cursors[1], b, table, prefix, slice_of(NULL, 0), STORE_ASCENDING), OK);
    for (;;) {
        for (size_t i = 0; i < 2; i++) {
            err[i] = store_cursor_next(&cursors[i], &key[i], &value[i]);
        }
        if (err[0] != err[1]) {
            fail_msg("table %s has another number of rows", store_table_name(table));
        }
        if (err[0] == ERR_NOT_FOUND) {
            break;
        }
        assert_int_equal(err[0], OK);
        assert_true(slice_equal(key[0], key[1]));
        if (!slice_equal(value[0], value[1])) {
            fail_msg("a row of table %s differs", store_table_name(table));
        }
        count++;
    }
    store_cursor_deinit(&cursors[0]);
    store_cursor_deinit(&cursors[1]);
    return count;
}

/* Ingests a document of one of five layouts; every seventh is cut, every ninth is sent again,
 * whole. */
static void ingest_one(struct fixture *fixture, const char *token, int i)
{
    const struct exchange_start start = {.path = i % 2 == 0 ? INGEST_UNARY : INGEST_STREAM,
                                         .authorization = token};
    char id[32];
    int size = snprintf(id, sizeof(id), "document %d", i);

    fixture->documents.answer.tables.table_count = (uint32_t)i % 5;
    fixture->documents.answer.cut = i % 7 == 0 ? PDF_CUT_PATHS : PDF_CUT_NONE;
    assert_int_equal(ingest(fixture, &start, id, slice_of(id, (size_t)size), NULL), STATUS_OK);
    fixture->documents.answer.cut = PDF_CUT_NONE;
    if (i % 9 == 0) {
        assert_int_equal(ingest(fixture, &start, id, slice_of(id, (size_t)size), NULL), STATUS_OK);
    }
}

/* Goal: the tables equal those made from the log, byte for byte. Method: organisations, tokens,
 * corrections and documents through calls; then a second store, only from the events. */
static void test_replayed_tables_equal_the_stored_ones(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    char viewer[FIXTURE_TOKEN_BYTES];
    const char *org_text = NULL;
    struct store_backend *second = NULL;
    struct store_txn *from = NULL;
    struct store_txn *to = NULL;
    struct org_id org;
    struct key prefix;
    size_t rows = 0;

    (void)state;
    fixture_init(&fixture);
    org_text = fixture_make_org(&fixture, "second", admin);
    fixture_make_token(&fixture, admin, ROLE_VIEWER, viewer);
    for (int i = 0; i < 40; i++) {
        char layout[16];

        (void)snprintf(layout, sizeof(layout), "layout %d", i % 3);
        clock_manual_advance(&fixture.clock, INT64_C(7200) * 1000000);
        (void)fixture_capture(&fixture, admin, i % 4 == 0 ? layout : NULL, layout);
        ingest_one(&fixture, admin, i);
    }
    assert_int_equal(store_memory_open(&second), OK);
    assert_int_equal(store_begin(fixture.backend, STORE_READ, &from), OK);
    assert_int_equal(store_begin(second, STORE_WRITE, &to), OK);
    replay(&fixture, org_text, from, to);
    assert_true(uuid_parse(slice_text(org_text), &org.uuid));
    prefix = key_org(org);
    for (unsigned table = 0; table < TABLE_COUNT; table++) {
        if (store_table_class((enum store_table)table) != STORE_LOCAL) {
            rows += compare_rows(from, to, (enum store_table)table, key_slice(&prefix));
        }
    }
    assert_true(rows > 150);
    store_abort(from);
    store_abort(to);
    store_memory_close(second);
    fixture_deinit(&fixture);
}

int run_start_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failed_first_start_leaves_an_empty_store),
        cmocka_unit_test(test_access_scan_is_bounded),
        cmocka_unit_test(test_new_admin_token_is_valid_once_kept),
        cmocka_unit_test(test_replayed_tables_equal_the_stored_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
