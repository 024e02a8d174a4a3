/*
 * quotas_tests.c: the limits of organisations and tokens: changes, the row that an event writes,
 * lists, and invalid facts.
 */
#include "server/domain/admin/admin.h"
#include "server/domain/quotas/quotas.h"
#include "tests/support/store/store_fixture.h"
#include "tests/unit/quotas/tests.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct admin_actor ada = {.user_id = {(const uint8_t *)"ada", 3},
                                       .annotator = ANNOTATOR_HUMAN};

static struct store_txn *begin(struct store_fixture *fixture)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    log_begin_write(txn, NULL);
    return txn;
}

/* Makes a token of an organisation; returns its key id. */
static uint32_t make_token(struct store_fixture *fixture, struct store_txn *txn, struct org_id org)
{
    const struct admin_actor actor = {SLICE("root"), ANNOTATOR_HUMAN, SOURCE_LIVE, true};
    const struct admin_token_draft draft = {.org = org, .role = 1, .secret_sha256 = {{1}}};
    struct work_result result;
    struct event event;
    uint32_t key_id = 0;

    assert_int_equal(admin_create_token(&fixture->ctx, txn, &actor, &draft, &result), OK);
    assert_int_equal(log_read(txn, org, result.first_seq, &event), OK);
    assert_int_equal(admin_created_key_id(&event, &key_id), OK);
    return key_id;
}

static enum err set(struct store_fixture *fixture, struct store_txn *txn,
                    const struct quota_holder *holder, const struct quota_view *change)
{
    struct work_result result;

    fault_init(&fixture->fault, &fixture->arena);
    return quota_set(&fixture->ctx, txn, &ada, holder, change, &result);
}

static struct quota_record read(struct store_txn *txn, const struct quota_holder *holder)
{
    struct quota_record quota;

    assert_int_equal(quota_read(txn, holder, &quota), OK);
    return quota;
}

/* Goal: a change affects only the given limits of the given holder, 0 ends a limit, and without one
 * there is no row. Method: an organisation and a token of it, one limit after the other. */
static void test_change_affects_only_given_limits(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    const struct quota_holder org = {.org = store_fixture_org(1)};
    const struct quota_holder token = {
        .org = org.org, .is_token = true, .key_id = make_token(fixture, txn, org.org)};
    struct quota_view change = {.has_requests_per_second = true, .requests_per_second = 7};

    assert_int_equal(record_decode_quota(SLICE(""), &(struct quota_record){0}), ERR_CORRUPT);
    assert_int_equal(set(fixture, txn, &org, &change), OK);
    assert_int_equal(read(txn, &org).requests_per_second, 7);
    change = (struct quota_view){.has_stored_bytes = true, .stored_bytes = UINT64_MAX};
    assert_int_equal(set(fixture, txn, &org, &change), OK);
    change = (struct quota_view){.has_pdf_jobs = true,
                                 .pdf_jobs = 3,
                                 .has_concurrent_streams = true,
                                 .concurrent_streams = 4,
                                 .has_request_burst = true,
                                 .request_burst = 9};
    assert_int_equal(set(fixture, txn, &token, &change), OK);
    assert_int_equal(read(txn, &org).requests_per_second, 7);
    assert_true(read(txn, &org).stored_bytes == UINT64_MAX);
    assert_int_equal(read(txn, &org).pdf_jobs, 0);
    assert_int_equal(read(txn, &token).pdf_jobs, 3);
    assert_int_equal(read(txn, &token).concurrent_streams, 4);
    assert_int_equal(read(txn, &token).request_burst, 9);
    assert_int_equal(read(txn, &token).requests_per_second, 0);
    change = (struct quota_view){.has_requests_per_second = true, .has_stored_bytes = true};
    assert_int_equal(set(fixture, txn, &org, &change), OK);
    assert_int_equal(read(txn, &org).requests_per_second, 0);
    assert_true(read(txn, &org).stored_bytes == 0);
    assert_int_equal(set(fixture, txn, &org, &change), OK); /* there is no row to remove */
    store_abort(txn);
}

/* Goal: the event has the limits before and after, its actor and its subject. Method: two changes,
 * of an organisation and of a token. */
static void test_event_has_both_quotas(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    const struct quota_holder org = {.org = store_fixture_org(1)};
    const struct admin_actor program = {.user_id = SLICE("token:1"), .annotator = ANNOTATOR_CODE};
    struct quota_view change = {.has_pdf_jobs = true, .pdf_jobs = 3};
    struct work_result result;
    struct quota_set_view facts;
    struct quota_view quota;
    struct slice after;
    struct event event;

    assert_int_equal(set(fixture, txn, &org, &change), OK);
    change.pdf_jobs = 5;
    assert_int_equal(quota_set(&fixture->ctx, txn, &program, &org, &change, &result), OK);
    assert_int_equal(result.count, 1);
    assert_int_equal(log_read(txn, org.org, result.first_seq, &event), OK);
    assert_int_equal(event.annotator, ANNOTATOR_CODE);
    assert_true(slice_equal(event.actor_user_id, SLICE("token:1")));
    assert_int_equal(event.content.size, 0);
    assert_int_equal(quota_set_view_read(event.facts, &facts), OK);
    assert_int_equal(facts.key_id.size, 0);
    assert_int_equal(quota_view_read(facts.before, &quota), OK);
    assert_int_equal(quota.pdf_jobs, 3);
    assert_int_equal(quota_after_event(&event, &after), OK);
    assert_int_equal(quota_view_read(after, &quota), OK);
    assert_int_equal(quota.pdf_jobs, 5);
    assert_false(quota.has_stored_bytes);
    store_abort(txn);
}

/* Goal: equal limits append nothing, and their result is the event that set them, regardless of other events of the
 * holder. Method: an earlier change, then equal ones; and an empty set of limits that stays empty. */
static void test_equal_limits_append_nothing(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    const struct quota_holder org = {.org = store_fixture_org(1)};
    struct quota_view change = {.has_pdf_jobs = true};
    struct work_result results[3];

    assert_int_equal(quota_set(&fixture->ctx, txn, &ada, &org, &change, &results[0]), OK);
    assert_int_equal(results[0].count, 0);
    assert_true(results[0].first_seq == 0);
    for (uint32_t i = 0; i < 3; i++) {
        change.pdf_jobs = i < 2 ? i + 1 : 2;
        assert_int_equal(quota_set(&fixture->ctx, txn, &ada, &org, &change, &results[i]), OK);
    }
    assert_int_equal(results[1].count, 1);
    assert_int_equal(results[2].count, 0);
    assert_true(results[2].first_seq == results[1].first_seq);
    assert_int_equal(read(txn, &org).pdf_jobs, 2);
    store_abort(txn);
}

/* Goal: a change of nothing, of a token's stored bytes, or of a token that the organisation does not
 * have, is refused. Method: each, also with another organisation's token. */
static void test_impossible_changes_are_refused(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    const struct quota_holder org = {.org = store_fixture_org(1)};
    const uint32_t key_id = make_token(fixture, txn, store_fixture_org(2));
    const struct quota_holder foreign = {.org = org.org, .is_token = true, .key_id = key_id};
    const struct quota_holder unknown = {.org = org.org, .is_token = true, .key_id = key_id + 1};
    const struct quota_holder token = {
        .org = store_fixture_org(2), .is_token = true, .key_id = key_id};
    const struct quota_view nothing = {.pdf_jobs = 3};
    const struct quota_view change = {.has_pdf_jobs = true, .pdf_jobs = 3};
    const struct quota_view stored = {.has_stored_bytes = true, .stored_bytes = 3};
    struct log_head head;

    assert_int_equal(set(fixture, txn, &org, &nothing), ERR_INVALID);
    assert_true(slice_equal(fixture->fault.entries[0].field, SLICE("quota")));
    assert_int_equal(set(fixture, txn, &token, &stored), ERR_INVALID);
    assert_true(slice_equal(fixture->fault.entries[0].field, SLICE("quota.stored_bytes")));
    assert_int_equal(set(fixture, txn, &foreign, &change), ERR_NOT_FOUND);
    assert_int_equal(set(fixture, txn, &unknown, &change), ERR_NOT_FOUND);
    assert_int_equal(log_read_head(txn, org.org, &head), OK);
    assert_int_equal(head.last_seq, 0);
    assert_int_equal(set(fixture, txn, &token, &change), OK);
    store_abort(txn);
}

/* Goal: a token that replaces another one has its limits; one without limits adds no event. Method:
 * two pairs of tokens. */
static void test_successor_inherits(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    const struct org_id org = store_fixture_org(1);
    const uint32_t key_ids[2] = {make_token(fixture, txn, org), make_token(fixture, txn, org)};
    const uint32_t back[2] = {make_token(fixture, txn, org), key_ids[0]};
    const struct quota_holder old = {.org = org, .is_token = true, .key_id = key_ids[0]};
    const struct quota_holder new = {.org = org, .is_token = true, .key_id = key_ids[1]};
    const struct quota_view change = {.has_pdf_jobs = true, .pdf_jobs = 3};
    struct work_result result = {.org = org, .first_seq = 1, .count = 2};

    assert_int_equal(set(fixture, txn, &old, &change), OK);
    assert_int_equal(quota_inherit(&fixture->ctx, txn, &ada, org, key_ids, &result), OK);
    assert_int_equal(result.count, 3);
    assert_int_equal(read(txn, &new).pdf_jobs, 3);
    assert_int_equal(quota_inherit(&fixture->ctx, txn, &ada, org, back, &result), OK);
    assert_int_equal(result.count, 3);
    assert_int_equal(read(txn, &old).pdf_jobs, 3);
    store_abort(txn);
}

/* Reads a page; returns the number of quotas, and how many are tokens'. */
static uint32_t read_page(struct store_txn *txn, uint32_t size, struct slice after,
                          struct page *page, uint32_t *tokens)
{
    struct quota_list list;
    struct quota_holder holder;
    struct quota_record quota;
    uint32_t count = 0;

    page_init(page, size, after, NULL);
    assert_int_equal(quota_list_begin(txn, store_fixture_org(1), page, &list), OK);
    while (quota_list_next(txn, &list, &holder, &quota) == OK) {
        count++;
        *tokens += holder.is_token ? 1 : 0;
        assert_true(holder.is_token == quota_record_is_set(&quota));
    }
    page_deinit(page);
    return count;
}

/* Goal: a list has the organisation first, then its tokens with limits, in pages of any size.
 * Method: 3 tokens beside another organisation's, by every size. */
static void test_list_has_the_organisation_first(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    const struct quota_view change = {.has_pdf_jobs = true, .pdf_jobs = 3};

    for (uint32_t i = 0; i < 8; i++) {
        struct quota_holder token = {.org = store_fixture_org(1 + i % 2), .is_token = true};

        token.key_id = make_token(fixture, txn, token.org);
        if (i < 6) {
            assert_int_equal(set(fixture, txn, &token, &change), OK);
        }
    }
    for (uint32_t size = 1; size <= 5; size++) {
        struct slice after = {NULL, 0};
        struct page page;
        uint32_t count = 0;
        uint32_t tokens = 0;

        do {
            count += read_page(txn, size, after, &page, &tokens);
            assert_true(arena_copy(&fixture->arena, key_slice(&page.last), &after));
        } while (page.more);
        assert_int_equal(count, 4);
        assert_int_equal(tokens, 3);
    }
    store_abort(txn);
}

/* Goal: facts that no change can have written are corrupt. Method: a key id of another form,
 * messages that are missing or cut, another kind. */
static void test_facts_that_no_change_wrote_are_corrupt(void **state)
{
    const struct slice bad[] = {
        SLICE(""),
        SLICE("\x12\x00"), /* no limits after */
        SLICE("\x0a\x03xyz\x12\x00\x1a\x00"), /* not a key id */
        {(const uint8_t *)"\x12\x00\x1a\x02\x08", 5}, /* truncated */
    };
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct event event = {.org = store_fixture_org(1), .seq = 1, .kind = EVENT_QUOTA_SET};
    struct slice after;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        event.facts = bad[i];
        assert_int_equal(quotas_apply(&fixture->ctx, txn, &event), ERR_CORRUPT);
    }
    event.facts = slice_of("\x12\x00\x1a\x02\x28\x07", 6);
    assert_int_equal(quotas_apply(&fixture->ctx, txn, &event), OK);
    assert_int_equal(read(txn, &(struct quota_holder){.org = event.org}).pdf_jobs, 7);
    event.kind = EVENT_TOKEN_CREATED;
    assert_int_equal(quota_after_event(&event, &after), ERR_CORRUPT);
    store_abort(txn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_change_affects_only_given_limits, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_event_has_both_quotas, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_equal_limits_append_nothing, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_impossible_changes_are_refused, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_successor_inherits, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_list_has_the_organisation_first, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_facts_that_no_change_wrote_are_corrupt,
                                        store_fixture_set_up, store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("quotas", tests, NULL, NULL) + run_quota_book_tests();
}
