/*
 * token_expiry_tests.c: the tokens that end soon, as reported by the health of `errata.tokens`.
 */
#include "tests/rpc/fixture.h"

#include "server/domain/admin/admin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DAY_US (INT64_C(86400) * 1000000)
#define TOKENS_MAX 100

static struct admin_token_expiry read_expiry(struct fixture *fixture, int64_t now_us,
                                             uint32_t tokens_max)
{
    struct admin_token_expiry expiry;
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(admin_read_token_expiry(txn, now_us, tokens_max, &expiry), OK);
    store_abort(txn);
    assert_int_equal(expiry.read_at_us, now_us);
    return expiry;
}

/* Result of the scan at a time: the number, the first end (0: there is no such token) and the next change. */
static void expect(struct fixture *fixture, int64_t now_us, uint64_t count, int64_t first_at_us,
                   int64_t changes_at_us)
{
    struct admin_token_expiry expiry = read_expiry(fixture, now_us, TOKENS_MAX);

    assert_int_equal(expiry.count, count);
    assert_int_equal(expiry.first_at_us, first_at_us);
    assert_int_equal(expiry.changes_at_us, changes_at_us);
}

static void make_ending(struct fixture *fixture, int64_t expire_at_us, char key_id[9])
{
    char token[FIXTURE_TOKEN_BYTES];

    fixture_make_ending_token(fixture, fixture->admin, expire_at_us, token);
    fixture_key_id_of(token, key_id);
}

/* Goal: a token counts from 14 days before its end until its end, if its lifetime was longer, and each change of the
 * result is announced. Method: tokens of 13, 14, 20 and 30 days and one without an end, read a microsecond before and
 * at each limit. */
static void test_token_counts_in_its_last_14_days(void **state)
{
    static const int days[] = {30, 13, 20, 14};
    const int64_t start = FIXTURE_START_US;
    struct fixture fixture;
    char key_ids[4][9];

    (void)state;
    fixture_init(&fixture);
    expect(&fixture, start, 0, 0, INT64_MAX); /* only a token that never ends */
    for (size_t i = 0; i < 4; i++) {
        make_ending(&fixture, start + days[i] * DAY_US, key_ids[i]);
    }
    expect(&fixture, start, 0, 0, start + 6 * DAY_US);
    expect(&fixture, start + 6 * DAY_US - 1, 0, 0, start + 6 * DAY_US);
    expect(&fixture, start + 6 * DAY_US, 1, start + 20 * DAY_US, start + 16 * DAY_US);
    assert_int_equal(read_expiry(&fixture, start + 6 * DAY_US, TOKENS_MAX).key_id,
                     strtoul(key_ids[2], NULL, 16));
    expect(&fixture, start + 16 * DAY_US - 1, 1, start + 20 * DAY_US, start + 16 * DAY_US);
    expect(&fixture, start + 16 * DAY_US, 2, start + 20 * DAY_US, start + 20 * DAY_US);
    expect(&fixture, start + 20 * DAY_US - 1, 2, start + 20 * DAY_US, start + 20 * DAY_US);
    expect(&fixture, start + 20 * DAY_US, 1, start + 30 * DAY_US, start + 30 * DAY_US);
    assert_int_equal(read_expiry(&fixture, start + 20 * DAY_US, TOKENS_MAX).key_id,
                     strtoul(key_ids[0], NULL, 16));
    expect(&fixture, start + 30 * DAY_US, 0, 0, INT64_MAX);
    fixture_deinit(&fixture);
}

/* Goal: a token that is revoked or replaced is not warned of, and its successor later is. Method: tokens of 29 and 30
 * days, read on the twentieth day before and after each call. The replaced one then ends after 21 days, so that it
 * does not count only because of its successor. */
static void test_revoked_and_replaced_tokens_do_not_count(void **state)
{
    const int64_t start = FIXTURE_START_US;
    const int64_t twentieth = start + 20 * DAY_US;
    struct fixture fixture;
    char revoked[9];
    char replaced[9];
    struct exchange_start call = {.path = "errata.v1.AdminService/RevokeToken"};
    Errata__V1__RevokeTokenRequest revoke = ERRATA__V1__REVOKE_TOKEN_REQUEST__INIT;
    Errata__V1__RotateTokenRequest rotate = ERRATA__V1__ROTATE_TOKEN_REQUEST__INIT;

    (void)state;
    fixture_init(&fixture);
    call.authorization = fixture.admin;
    make_ending(&fixture, start + 29 * DAY_US, revoked);
    make_ending(&fixture, start + 30 * DAY_US, replaced);
    clock_manual_advance(&fixture.clock, 20 * DAY_US);
    expect(&fixture, twentieth, 2, start + 29 * DAY_US, start + 29 * DAY_US);
    revoke.key_id = revoked;
    assert_int_equal(fixture_call(&fixture, &call, &revoke.base, NULL), STATUS_OK);
    expect(&fixture, twentieth, 1, start + 30 * DAY_US, start + 30 * DAY_US);
    rotate.key_id = replaced;
    call.path = "errata.v1.AdminService/RotateToken";
    assert_int_equal(fixture_call(&fixture, &call, &rotate.base, NULL), STATUS_OK);
    expect(&fixture, twentieth, 0, 0,
           twentieth + 16 * DAY_US); /* the successor, for 30 days, too */
    expect(&fixture, twentieth + 16 * DAY_US, 1, twentieth + 30 * DAY_US, twentieth + 30 * DAY_US);
    fixture_deinit(&fixture);
}

/* Goal: the scan covers all organisations, and ends at its bound. Method: the tokens of two organisations, read with
 * every smaller bound. */
static void test_scan_covers_all_organisations_and_is_bounded(void **state)
{
    const int64_t end = FIXTURE_START_US + 20 * DAY_US;
    struct fixture fixture;
    char other[FIXTURE_TOKEN_BYTES];
    char token[FIXTURE_TOKEN_BYTES];
    uint64_t count = 0;

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "other", other);
    for (int i = 0; i < 3; i++) {
        fixture_make_ending_token(&fixture, i == 0 ? fixture.admin : other, end, token);
    }
    for (uint32_t bound = 1; bound <= 5; bound++) { /* with the tokens of both administrators */
        uint64_t found = read_expiry(&fixture, end - DAY_US, bound).count;

        assert_in_range(found, bound > 2 ? bound - 2 : 0, bound);
        assert_in_range(found, count, count + 1);
        count = found;
    }
    assert_int_equal(count, 3);
    fixture_deinit(&fixture);
}

int run_token_expiry_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_token_counts_in_its_last_14_days),
        cmocka_unit_test(test_revoked_and_replaced_tokens_do_not_count),
        cmocka_unit_test(test_scan_covers_all_organisations_and_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
