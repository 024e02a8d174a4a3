/*
 * turn_tests.c: the snapshot that the reads of a turn of the loop share: it includes all commits
 * before a read began, and ends with the turn.
 */
#include "tests/rpc/fixture.h"

#include "server/domain/layouts/keys.h"
#include "server/pipeline/rpc.h"
#include "store/backend_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define LAYOUT "layout"

/* Returns the examples of the layout by a call within the current turn. */
static size_t count_examples(struct fixture *fixture, const char *token)
{
    static char layout[] = LAYOUT;
    const struct exchange_start start = {.path = "errata.v1.PromptService/GetExamples",
                                         .authorization = token};
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    Errata__V1__GetExamplesResponse *response = NULL;
    struct exchange exchange;

    request.layout_fingerprint = layout;
    exchange_open(&exchange, fixture, &start);
    exchange_send(&exchange, &request.base);
    response = exchange_read(&exchange, &errata__v1__get_examples_response__descriptor);
    assert_non_null(response);
    exchange_close(&exchange);
    return response->n_examples;
}

/* Goal: a read sees everything committed before it began, also in the middle of a turn. Method: a
 * read, a write and a read again, without the turn's end between them; the third before the loop
 * was notified of the commit. */
static void test_read_sees_earlier_commits_of_its_turn(void **state)
{
    static char layout[] = LAYOUT;
    static char after[] = "{\"qty\":12}";
    struct fixture fixture;
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    struct exchange_start start = {.path = "errata.v1.FeedbackService/CaptureFeedbackEvent"};
    struct exchange exchange;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    event._layout_fingerprint_case =
        ERRATA__V1__FEEDBACK_EVENT___LAYOUT_FINGERPRINT_LAYOUT_FINGERPRINT;
    event.layout_fingerprint = layout;
    event.after_json = after;
    event.annotator_kind = ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_HUMAN;
    request.event = &event;
    assert_int_equal(count_examples(&fixture, fixture.admin), 0);
    exchange_open(&exchange, &fixture, &start);
    exchange_send(&exchange, &request.base);
    assert_int_equal(count_examples(&fixture, fixture.admin), 0);
    assert_int_equal(writer_step(fixture.writer), 1);
    assert_int_equal(count_examples(&fixture, fixture.admin), 1);
    writer_complete(fixture.writer);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_OK);
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

/* Deletes all rows of the layout, bypassing the writer. */
static void remove_layout(struct fixture *fixture, const char *org_text)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(SLICE(LAYOUT));
    struct store_txn *txn = NULL;
    struct org_id org;
    struct key prefix;
    enum err err = OK;

    assert_true(uuid_parse(slice_text(org_text), &org.uuid));
    prefix = key_layout_prefix(org, &fingerprint);
    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    while (err == OK) {
        struct store_cursor cursor = {0};
        struct slice key;
        struct slice value;

        assert_int_equal(store_cursor_init(&cursor, txn, TABLE_EXAMPLE, key_slice(&prefix),
                                           slice_of(NULL, 0), STORE_ASCENDING),
                         OK);
        err = store_cursor_next(&cursor, &key, &value);
        store_cursor_deinit(&cursor);
        if (err == OK) {
            assert_int_equal(store_del(txn, TABLE_EXAMPLE, key), OK);
            fixture->damaged_rows++;
        }
    }
    assert_int_equal(err, ERR_NOT_FOUND);
    assert_int_equal(store_commit(txn), OK);
}

/* Goal: the reads of a turn share a snapshot, and it ends with the turn. Method: the layout's rows
 * are deleted without the writer, which only a new snapshot shows. */
static void test_reads_of_a_turn_share_a_snapshot(void **state)
{
    struct fixture fixture;
    char admin[FIXTURE_TOKEN_BYTES];
    const char *org_text = NULL;

    (void)state;
    fixture_init(&fixture);
    org_text = fixture_make_org(&fixture, "second", admin);
    (void)fixture_capture(&fixture, admin, NULL, LAYOUT);
    assert_int_equal(count_examples(&fixture, admin), 1);
    assert_false(fixture.pipeline->read_txn->idle);
    remove_layout(&fixture, org_text);
    assert_int_equal(count_examples(&fixture, admin), 1);
    pipeline_end_turn(fixture.pipeline);
    assert_true(fixture.pipeline->read_txn->idle);
    pipeline_end_turn(fixture.pipeline); /* a turn without reads */
    assert_int_equal(count_examples(&fixture, admin), 0);
    fixture_deinit(&fixture);
}

int run_turn_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_sees_earlier_commits_of_its_turn),
        cmocka_unit_test(test_reads_of_a_turn_share_a_snapshot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
