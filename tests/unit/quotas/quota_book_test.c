/*
 * quota_book_test.c: the usage of callers: buckets of requests on a simulated clock, streams and
 * PDFs in use, limits that change, and more holders than the book holds.
 */
#include "server/auth/quota_book.h"
#include "tests/support/store/store_fixture.h"
#include "tests/unit/quotas/tests.h"

#include "server/domain/quotas/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SECOND_US 1000000
#define KEY_ID 0x1a2b3c4d
#define START_US 1000

struct book_fixture {
    struct store_fixture *store;
    struct quota_book *book;
    uint64_t version; /* as that of the table, raised by each change */
};

static void begin(struct book_fixture *fixture, void **state)
{
    *fixture = (struct book_fixture){.store = *state, .version = 1};
    assert_int_equal(quota_book_new(&fixture->book), OK);
}

/* Sets the limits of a holder, without an event. */
static void put(struct book_fixture *fixture, const struct quota_holder *holder,
                const struct quota_record *quota)
{
    struct key key = holder->is_token ? key_quota_of_token(holder->org, holder->key_id)
                                      : key_quota_of_org(holder->org);
    struct store_txn *txn = NULL;
    struct slice bytes = {NULL, 0};

    assert_int_equal(record_encode_quota(&fixture->store->arena, quota, &bytes), OK);
    assert_int_equal(store_begin(fixture->store->backend, STORE_WRITE, &txn), OK);
    assert_int_equal(store_put(txn, TABLE_QUOTA, key_slice(&key), bytes), OK);
    assert_int_equal(store_commit(txn), OK);
    fixture->version++;
}

/* Finds a caller as the services do. */
static struct quota_user find(struct book_fixture *fixture, struct org_id org, uint32_t key_id)
{
    struct quota_user user;
    struct store_txn *txn = NULL;

    if (quota_book_find(fixture->book, org, key_id, fixture->version, &user)) {
        return user;
    }
    assert_int_equal(store_begin(fixture->store->backend, STORE_READ, &txn), OK);
    assert_int_equal(quota_book_read(fixture->book, txn, org, key_id, fixture->version, &user), OK);
    store_abort(txn);
    assert_true(quota_book_find(fixture->book, org, key_id, fixture->version, &user));
    return user;
}

static bool take(struct book_fixture *fixture, uint32_t key_id, int64_t now_us,
                 struct quota_refusal *refusal)
{
    return quota_take_request(find(fixture, store_fixture_org(1), key_id), now_us, refusal);
}

/* Returns the number of requests that may begin at a time. */
static unsigned take_all(struct book_fixture *fixture, uint32_t key_id, int64_t now_us)
{
    struct quota_refusal refusal;
    unsigned count = 0;

    while (count < 10000 && take(fixture, key_id, now_us, &refusal)) {
        count++;
    }
    return count;
}

/* Goal: without limits every call may begin, and nothing is refused. Method: thousands at one time. */
static void test_no_limit_refuses_nothing(void **state)
{
    struct book_fixture fixture;

    begin(&fixture, state);
    assert_int_equal(take_all(&fixture, KEY_ID, START_US), 10000);
    quota_book_free(fixture.book);
}

/* Goal: a bucket has its burst at once, then its rate, and the wait of a refusal is exact. Method: a
 * rate of 10 with a burst of 4; the time of each refusal is the first at which a call may begin. */
static void test_bucket_has_a_burst_and_a_rate(void **state)
{
    struct book_fixture fixture;
    const struct quota_holder org = {.org = store_fixture_org(1)};
    struct quota_refusal refusal = {.retry_ms = 0};
    int64_t now_us = START_US;

    begin(&fixture, state);
    put(&fixture, &org, &(struct quota_record){.requests_per_second = 10, .request_burst = 4});
    assert_int_equal(take_all(&fixture, KEY_ID, now_us), 4);
    for (unsigned i = 0; i < 5; i++) {
        assert_false(take(&fixture, KEY_ID, now_us, &refusal));
        assert_int_equal(refusal.kind, QUOTA_REQUESTS);
        assert_false(refusal.is_token);
        assert_true(refusal.limit == 10);
        assert_int_equal(refusal.retry_ms, 100);
        assert_false(take(&fixture, KEY_ID, now_us + 99000, &refusal));
        assert_int_equal(refusal.retry_ms, 1);
        now_us += (int64_t)100 * 1000;
        assert_int_equal(take_all(&fixture, KEY_ID, now_us), 1);
    }
    now_us += (int64_t)60 * SECOND_US;
    assert_int_equal(take_all(&fixture, KEY_ID, now_us),
                     4); /* no more than the burst after a pause */
    quota_book_free(fixture.book);
}

/* Goal: without a burst, a bucket holds the calls of one second; the rate is exact over time. Method:
 * a rate of 3, for 10 seconds at every millisecond. */
static void test_rate_holds_over_time(void **state)
{
    struct book_fixture fixture;
    const struct quota_holder org = {.org = store_fixture_org(1)};
    unsigned count = 0;

    begin(&fixture, state);
    put(&fixture, &org, &(struct quota_record){.requests_per_second = 3});
    for (int64_t ms = 0; ms < 10000; ms++) {
        count += take_all(&fixture, KEY_ID, START_US + ms * 1000);
    }
    assert_int_equal(count, 3 + 29); /* the burst, then one each third of a second */
    quota_book_free(fixture.book);
}

/* Goal: a call counts for its token and its organisation, or for none of them. Method: two tokens,
 * one of which has a lower limit; its refused calls leave the organisation's bucket as it was. */
static void test_call_counts_for_both_or_none(void **state)
{
    struct book_fixture fixture;
    const struct quota_holder org = {.org = store_fixture_org(1)};
    const struct quota_holder token = {.org = org.org, .is_token = true, .key_id = KEY_ID};
    struct quota_refusal refusal;

    begin(&fixture, state);
    put(&fixture, &org, &(struct quota_record){.requests_per_second = 10});
    put(&fixture, &token, &(struct quota_record){.requests_per_second = 2});
    assert_int_equal(take_all(&fixture, KEY_ID, START_US), 2);
    assert_false(take(&fixture, KEY_ID, START_US, &refusal));
    assert_true(refusal.is_token);
    assert_true(refusal.limit == 2);
    assert_int_equal(take_all(&fixture, 1, START_US), 8);
    assert_false(take(&fixture, 1, START_US, &refusal));
    assert_false(refusal.is_token);
    quota_book_free(fixture.book);
}

/* Goal: streams and PDFs in use are counted by organisation and token, and given back. Method: two
 * tokens up to the organisation's limit, and one up to its own. */
static void test_streams_and_pdf_jobs_are_counted(void **state)
{
    struct book_fixture fixture;
    const struct quota_holder org = {.org = store_fixture_org(1)};
    const struct quota_holder token = {.org = org.org, .is_token = true, .key_id = KEY_ID};
    struct quota_refusal refusal;
    struct quota_user user;
    struct quota_user other;
    struct quota_in_use usage;

    begin(&fixture, state);
    put(&fixture, &org, &(struct quota_record){.concurrent_streams = 3, .pdf_jobs = 1});
    put(&fixture, &token, &(struct quota_record){.concurrent_streams = 2});
    user = find(&fixture, org.org, KEY_ID);
    other = find(&fixture, org.org, 1);
    assert_true(quota_take(fixture.book, user, QUOTA_STREAMS, &refusal));
    assert_true(quota_take(fixture.book, user, QUOTA_STREAMS, &refusal));
    assert_false(quota_take(fixture.book, user, QUOTA_STREAMS, &refusal));
    assert_int_equal(refusal.kind, QUOTA_STREAMS);
    assert_true(refusal.is_token);
    assert_true(quota_take(fixture.book, other, QUOTA_STREAMS, &refusal));
    assert_false(quota_take(fixture.book, other, QUOTA_STREAMS, &refusal));
    assert_false(refusal.is_token);
    assert_true(refusal.limit == 3);
    assert_int_equal(refusal.retry_ms, 1000);
    assert_true(quota_take(fixture.book, other, QUOTA_PDF_JOBS, &refusal));
    assert_false(quota_take(fixture.book, user, QUOTA_PDF_JOBS, &refusal));
    assert_int_equal(refusal.kind, QUOTA_PDF_JOBS);
    usage = quota_book_usage(fixture.book, &org, &(struct quota_record){0}, START_US);
    assert_int_equal(usage.streams, 3);
    assert_int_equal(usage.pdf_jobs, 1);
    quota_give(fixture.book, user, QUOTA_STREAMS);
    assert_true(quota_take(fixture.book, other, QUOTA_STREAMS, &refusal));
    quota_give(fixture.book, user, QUOTA_STREAMS);
    quota_give(fixture.book, other, QUOTA_STREAMS);
    quota_give(fixture.book, other, QUOTA_STREAMS);
    quota_give(fixture.book, other, QUOTA_PDF_JOBS);
    usage = quota_book_usage(fixture.book, &org, &(struct quota_record){0}, START_US);
    assert_int_equal(usage.streams + usage.pdf_jobs, 0);
    quota_book_free(fixture.book);
}

/* Goal: a changed limit is in effect for the next call, with a full bucket; what is in use stays
 * counted. Method: limits that are lowered and raised while a stream is open. */
static void test_changed_limit_is_in_effect(void **state)
{
    struct book_fixture fixture;
    const struct quota_holder org = {.org = store_fixture_org(1)};
    struct quota_refusal refusal;
    struct quota_user user;

    begin(&fixture, state);
    put(&fixture, &org, &(struct quota_record){.requests_per_second = 1000});
    assert_int_equal(take_all(&fixture, KEY_ID, START_US), 1000);
    user = find(&fixture, org.org, KEY_ID);
    assert_true(quota_take(fixture.book, user, QUOTA_STREAMS, &refusal));
    put(&fixture, &org, &(struct quota_record){.requests_per_second = 1, .concurrent_streams = 1});
    assert_int_equal(take_all(&fixture, KEY_ID, START_US), 1);
    assert_false(take(&fixture, KEY_ID, START_US, &refusal));
    assert_int_equal(refusal.retry_ms, 1000);
    assert_false(
        quota_take(fixture.book, find(&fixture, org.org, KEY_ID), QUOTA_STREAMS, &refusal));
    quota_give(fixture.book, user, QUOTA_STREAMS);
    assert_false(quota_limits_storage(find(&fixture, org.org, KEY_ID), &refusal));
    put(&fixture, &org, &(struct quota_record){.stored_bytes = 17});
    assert_true(quota_limits_storage(find(&fixture, org.org, KEY_ID), &refusal));
    assert_true(refusal.limit == 17);
    assert_int_equal(refusal.kind, QUOTA_STORED_BYTES);
    quota_book_free(fixture.book);
}

/* Goal: usage reports how many calls may begin now. Method: a bucket that is emptied and fills. */
static void test_usage_has_the_available_requests(void **state)
{
    struct book_fixture fixture;
    const struct quota_holder org = {.org = store_fixture_org(1)};
    const struct quota_record quota = {.requests_per_second = 10, .request_burst = 4};
    const int64_t later_us[] = {0, 100000, 199999, 200000, 400000, 900000};
    const uint32_t available[] = {0, 1, 1, 2, 4, 4};

    begin(&fixture, state);
    put(&fixture, &org, &quota);
    assert_int_equal(quota_book_usage(fixture.book, &org, &quota, START_US).requests_available, 4);
    assert_int_equal(take_all(&fixture, KEY_ID, START_US), 4);
    for (size_t i = 0; i < sizeof(available) / sizeof(available[0]); i++) {
        assert_int_equal(
            quota_book_usage(fixture.book, &org, &quota, START_US + later_us[i]).requests_available,
            available[i]);
    }
    quota_book_free(fixture.book);
}

/* Goal: of more holders than the book holds, one with something in use is kept, and so is the
 * bucket of one that calls often. Method: as many other tokens as there is room for, twice. */
static void test_idle_holders_are_forgotten(void **state)
{
    struct book_fixture fixture;
    const struct org_id org = store_fixture_org(1);
    const struct quota_holder busy = {.org = org, .is_token = true, .key_id = KEY_ID};
    const struct quota_holder often = {.org = org, .is_token = true, .key_id = KEY_ID + 1};
    struct quota_refusal refusal;
    struct quota_user user;
    struct quota_in_use usage;

    begin(&fixture, state);
    put(&fixture, &often, &(struct quota_record){.requests_per_second = 2});
    user = find(&fixture, org, KEY_ID);
    assert_true(quota_take(fixture.book, user, QUOTA_STREAMS, &refusal));
    assert_int_equal(take_all(&fixture, KEY_ID + 1, START_US), 2);
    for (uint32_t i = 0; i < 2 * QUOTA_BOOK_HOLDERS_MAX; i++) {
        (void)find(&fixture, org, KEY_ID + 2 + i);
        if (i % 1000 == 0) {
            assert_false(take(&fixture, KEY_ID + 1, START_US, &refusal));
        }
    }
    usage = quota_book_usage(fixture.book, &busy, &(struct quota_record){0}, START_US);
    assert_int_equal(usage.streams, 1);
    quota_give(fixture.book, user, QUOTA_STREAMS);
    quota_book_free(fixture.book);
}

int run_quota_book_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_limit_refuses_nothing, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_bucket_has_a_burst_and_a_rate, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_rate_holds_over_time, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_call_counts_for_both_or_none, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_streams_and_pdf_jobs_are_counted, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_changed_limit_is_in_effect, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_usage_has_the_available_requests, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_idle_holders_are_forgotten, store_fixture_set_up,
                                        store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("quota book", tests, NULL, NULL);
}
