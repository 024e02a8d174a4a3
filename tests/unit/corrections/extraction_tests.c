/*
 * extraction_tests.c: the effects of extractions on the rows of a layout: sums by example, in the head
 * and beside it; and the extraction that a correction marks.
 */
#include "tests/unit/corrections/fixture.h"

#include "server/domain/corrections/keys.h"
#include "server/domain/corrections/layout_rows.h"
#include "server/domain/corrections/records.h"
#include "server/domain/experiment/records.h"
#include "server/domain/experiment/sums.h"
#include "server/domain/extractions/rows/extraction_rows.h"
#include "server/domain/extractions/rows/keys.h"
#include "server/domain/extractions/rows/records.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/layouts/records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errata/v1/extraction.fields.h>

#define LAYOUT SLICE("layout")

static void capture_one(struct fixture *fixture, struct slice document_id,
                        struct slice draft_order_id, const char *after)
{
    const struct capture_input input = {
        .event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
        .layout_fingerprint = LAYOUT,
        .document_id = document_id,
        .draft_order_id = draft_order_id,
        .before_json = SLICE("{}"),
        .after_json = slice_text(after),
    };

    (void)fixture_capture(fixture, &input, 1);
}

static struct layout_head_record read_head(struct fixture *fixture, struct store_txn *txn)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(LAYOUT);
    struct key key = key_layout_head(fixture->org, &fingerprint);
    struct layout_head_record head;

    assert_int_equal(layout_head_read(&fixture->arena, txn, &key, &head), OK);
    return head;
}

static void carry(struct fixture *fixture, struct store_txn *txn, uint32_t confidence,
                  const uint64_t *seqs, size_t count)
{
    const struct carrying_extraction extraction = {
        .org = fixture->org,
        .layout_fingerprint = LAYOUT,
        .confidence_millionths = confidence,
        .example_seqs = seqs,
        .example_count = count,
        .bare = count == 0,
    };

    assert_int_equal(layout_rows_carry(&fixture->ctx, txn, &extraction), OK);
}

static bool read_mark(struct fixture *fixture, struct store_txn *txn, uint64_t seq,
                      struct example_mark_record *ret_mark)
{
    struct key key = key_example_mark(fixture->org, seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EXAMPLE_MARK, key_slice(&key), &value);

    if (err == ERR_NOT_FOUND) {
        return false;
    }
    assert_int_equal(err, OK);
    assert_int_equal(record_decode_example_mark(value, ret_mark), OK);
    return true;
}

/* Goal: an example's sums are stored with its mark, and move with it. Method: sums in the head; so
 * many corrections that it is pushed out; more sums, and supersession. */
static void test_sums_move_with_their_mark(void **state)
{
    const uint64_t both[] = {1, 2};
    struct example_mark_record mark = {.superseded_by_seq = 0};
    struct example_place place = {.created_at_us = 0, .seq = 1};
    struct layout_head_record head;
    struct store_txn *txn = NULL;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 3);
    capture_one(&fixture, SLICE("d"), SLICE(""), "{\"a\":1}");
    capture_one(&fixture, SLICE("d"), SLICE(""), "{\"a\":1}");
    txn = fixture_begin(&fixture, STORE_WRITE);
    carry(&fixture, txn, 900000, both, 2);
    carry(&fixture, txn, 500000, both, 1);
    carry(&fixture, txn, 250000, NULL, 0);
    head = read_head(&fixture, txn);
    assert_int_equal(head.bare_count, 1);
    assert_int_equal(head.bare_sum, 250000);
    assert_int_equal(head.marks[1].seq, 1);
    assert_int_equal(head.marks[1].carried_count, 2);
    assert_int_equal(head.marks[1].carried_sum, 1400000);
    assert_int_equal(head.marks[0].carried_count, 1);
    assert_int_equal(store_commit(txn), OK);

    for (int i = 0; i < RECORD_MARKS_MAX; i++) {
        capture_one(&fixture, SLICE("d"), SLICE(""), "{\"a\":1}");
    }
    txn = fixture_begin(&fixture, STORE_WRITE);
    head = read_head(&fixture, txn);
    assert_int_equal(head.mark_count, RECORD_MARKS_MAX);
    assert_int_equal(head.marks[RECORD_MARKS_MAX - 1].seq, 3);
    assert_int_equal(head.bare_sum, 250000);
    assert_true(read_mark(&fixture, txn, 1, &mark));
    assert_int_equal(mark.carried_count, 2);
    assert_int_equal(mark.carried_sum, 1400000);
    assert_int_equal(mark.superseded_by_seq, 0);
    assert_true(read_mark(&fixture, txn, 2, &mark));
    assert_false(read_mark(&fixture, txn, 3, &mark));

    carry(&fixture, txn, 1000000, both, 1);
    place.org = fixture.org;
    place.fingerprint = key_fingerprint_of(LAYOUT);
    assert_int_equal(layout_rows_mark(&fixture.ctx, txn, &place, 30), OK);
    carry(&fixture, txn, 0, both, 1);
    assert_true(read_mark(&fixture, txn, 1, &mark));
    assert_int_equal(mark.carried_count, 4);
    assert_int_equal(mark.carried_sum, 2400000);
    assert_int_equal(mark.superseded_by_seq, 30);
    store_abort(txn);
    fixture_deinit(&fixture);
}

static void add_extraction(struct fixture *fixture, uint64_t seq, int64_t created_at_us,
                           struct slice document_id, struct slice draft_order_id)
{
    struct extraction_entry entry = {
        .org = fixture->org,
        .record = {.seq = seq,
                   .created_at_us = created_at_us,
                   .layout_fingerprint = LAYOUT,
                   .arm = EXPERIMENT_ARM_TREATMENT,
                   .field_count = 300},
        .confidence_millionths = 900000,
        .document_id = document_id,
        .draft_order_id = draft_order_id,
        .served_at_us = created_at_us,
        .corrected_from_us = created_at_us,
    };
    struct store_txn *txn = fixture_begin(fixture, STORE_WRITE);

    assert_int_equal(extraction_rows_add(&fixture->ctx, txn, &entry), OK);
    assert_int_equal(store_commit(txn), OK);
}

static struct extraction_record read_extraction(struct fixture *fixture, uint64_t seq)
{
    struct store_txn *txn = fixture_begin(fixture, STORE_READ);
    struct key key = key_extraction(fixture->org, seq);
    struct extraction_record record;
    struct slice value = {NULL, 0};

    assert_int_equal(store_get(txn, TABLE_EXTRACTION, key_slice(&key), &value), OK);
    assert_int_equal(record_decode_extraction(value, &record), OK);
    store_abort(txn);
    return record;
}

/* Goal: the extraction that was served last, then by seq, is marked: the newer of the document's and
 * the draft's. Method: extractions recorded out of order. */
static void test_newest_extraction_is_marked(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 4);
    add_extraction(&fixture, 101, 2000, SLICE("document"), SLICE(""));
    add_extraction(&fixture, 102, 1000, SLICE("document"), SLICE(""));
    add_extraction(&fixture, 103, 2000, SLICE(""), SLICE("draft"));
    capture_one(&fixture, SLICE("document"), SLICE(""), "{\"a\":1}");
    assert_int_equal(read_extraction(&fixture, 101).corrected_by_seq, 1);
    assert_int_equal(read_extraction(&fixture, 102).corrected_by_seq, 0);
    capture_one(&fixture, SLICE("document"), SLICE("draft"), "{\"a\":1,\"b\":1}");
    assert_int_equal(read_extraction(&fixture, 103).corrected_by_seq, 2);
    assert_int_equal(read_extraction(&fixture, 103).corrected_field_count, 2);
    assert_int_equal(read_extraction(&fixture, 101).corrected_field_count, 1);
    capture_one(&fixture, SLICE("other"), SLICE("draft"), "{\"a\":1,\"c\":1}");
    assert_int_equal(read_extraction(&fixture, 103).corrected_by_seq, 2);
    assert_int_equal(read_extraction(&fixture, 103).corrected_field_count, 3);
    fixture_deinit(&fixture);
}

/* Goal: a retracted correction leaves the extraction that it marked, with its fields that no other corrected.
 * Method: three corrections of one extraction, retracted one by one; the sums of the layout. */
static void test_retracted_corrections_leave_their_extraction(void **state)
{
    struct fixture fixture;
    struct store_txn *txn = NULL;
    struct layout_stats_record stats;

    (void)state;
    fixture_init(&fixture, 6);
    add_extraction(&fixture, 101, 1000, SLICE("document"), SLICE("draft"));
    capture_one(&fixture, SLICE("document"), SLICE(""), "{\"a\":1}");
    capture_one(&fixture, SLICE("document"), SLICE("draft"), "{\"a\":1,\"b\":1}");
    capture_one(&fixture, SLICE("other"), SLICE("draft"), "{\"c\":1}");
    assert_int_equal(read_extraction(&fixture, 101).corrected_field_count, 3);
    (void)fixture_retract(&fixture, 1);
    assert_int_equal(read_extraction(&fixture, 101).corrected_by_seq, 2);
    assert_int_equal(read_extraction(&fixture, 101).corrected_field_count, 3);
    (void)fixture_retract(&fixture, 2);
    assert_int_equal(read_extraction(&fixture, 101).corrected_field_count, 1);
    txn = fixture_begin(&fixture, STORE_READ);
    assert_int_equal(sums_read_layout(txn, fixture.org, LAYOUT, &stats), OK);
    assert_int_equal(stats.corrected_count, 1);
    assert_int_equal(stats.treatment.corrected_field_count, 1);
    store_abort(txn);
    (void)fixture_retract(&fixture, 3);
    assert_int_equal(read_extraction(&fixture, 101).corrected_by_seq, 0);
    txn = fixture_begin(&fixture, STORE_READ);
    assert_int_equal(sums_read_layout(txn, fixture.org, LAYOUT, &stats), OK);
    assert_int_equal(stats.corrected_count, 0);
    assert_int_equal(stats.treatment.corrected_field_count, 0);
    store_abort(txn);
    fixture_deinit(&fixture);
}

/* Goal: a retracted correction marks no extraction that is recorded later. Method: a correction of a document,
 * retracted; then the extraction. */
static void test_retracted_corrections_mark_no_later_extraction(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 7);
    capture_one(&fixture, SLICE("document"), SLICE(""), "{\"a\":1}");
    capture_one(&fixture, SLICE("document"), SLICE(""), "{\"b\":1}");
    (void)fixture_retract(&fixture, 1);
    add_extraction(&fixture, 101, 1000, SLICE("document"), SLICE(""));
    assert_int_equal(read_extraction(&fixture, 101).corrected_by_seq, 2);
    (void)fixture_retract(&fixture, 2);
    assert_int_equal(read_extraction(&fixture, 101).corrected_by_seq, 0);
    fixture_deinit(&fixture);
}

/* Goal: the number of corrected fields of a row is bounded. Method: more distinct ones than
 * that. */
static void test_corrected_fields_are_bounded(void **state)
{
    struct fixture fixture;
    struct store_txn *txn = NULL;
    struct layout_stats_record stats;

    (void)state;
    fixture_init(&fixture, 5);
    add_extraction(&fixture, 500, 1000, SLICE("document"), SLICE(""));
    for (int i = 0; i < RECORD_CORRECTED_FIELDS_MAX + 20; i++) {
        char after[64];

        (void)snprintf(after, sizeof(after), "{\"field-%d\":1}", i);
        capture_one(&fixture, SLICE("document"), SLICE(""), after);
        fixture_forget(&fixture);
    }
    assert_int_equal(read_extraction(&fixture, 500).corrected_field_count,
                     RECORD_CORRECTED_FIELDS_MAX);
    txn = fixture_begin(&fixture, STORE_READ);
    assert_int_equal(sums_read_layout(txn, fixture.org, LAYOUT, &stats), OK);
    assert_int_equal(stats.corrected_count, 1);
    assert_int_equal(stats.treatment.corrected_field_count, RECORD_CORRECTED_FIELDS_MAX);
    store_abort(txn);
    fixture_deinit(&fixture);
}

int run_extraction_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_move_with_their_mark),
        cmocka_unit_test(test_newest_extraction_is_marked),
        cmocka_unit_test(test_retracted_corrections_leave_their_extraction),
        cmocka_unit_test(test_retracted_corrections_mark_no_later_extraction),
        cmocka_unit_test(test_corrected_fields_are_bounded),
    };

    return cmocka_run_group_tests_name("extractions", tests, NULL, NULL);
}
