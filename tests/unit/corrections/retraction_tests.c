/*
 * retraction_tests.c: the effects of a retraction, and the events that cannot be retracted.
 */
#include "server/domain/corrections/examples.h"
#include "server/domain/counters/counters.h"
#include "server/domain/counters/records.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/retractions/retractions.h"
#include "store/base/wire.h"
#include "tests/unit/corrections/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A correction of one field of layout `abc`. */
static struct capture_input correction(struct fixture *fixture, unsigned value)
{
    return (struct capture_input){
        .event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
        .actor_user_id = SLICE("anna"),
        .layout_fingerprint = SLICE("abc"),
        .before_json = SLICE("{\"qty\":0}"),
        .after_json = arena_printf(&fixture->arena, "{\"qty\":%u}", value),
    };
}

static uint64_t capture(struct fixture *fixture, struct capture_input input)
{
    return fixture_capture(fixture, &input, 1);
}

/* Retracts as a caller; the error, with its message in the fixture's fault. */
static enum err retract_as(struct fixture *fixture, uint64_t event_seq, struct event_caller caller,
                           uint64_t *ret_seq)
{
    struct store_txn *txn = fixture_begin(fixture, STORE_WRITE);
    struct retraction_request request = {
        .org = fixture->org, .caller = caller, .reason = SLICE("a reason")};
    struct event event;
    enum err err = OK;

    assert_int_equal(log_read(txn, fixture->org, event_seq, &event), OK);
    request.event_id = event.id;
    log_begin_write(txn, NULL);
    fault_init(&fixture->fault, &fixture->arena);
    err = retraction_store(&fixture->ctx, txn, &request, ret_seq);
    assert_int_equal(store_commit(txn), OK);
    return err;
}

static struct layout_head_record read_head(struct fixture *fixture)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(SLICE("abc"));
    struct key key = key_layout_head(fixture->org, &fingerprint);
    struct store_txn *txn = fixture_begin(fixture, STORE_READ);
    struct layout_head_record head;

    assert_int_equal(layout_head_read(&fixture->arena, txn, &key, &head), OK);
    store_abort(txn);
    return head;
}

/* The seqs of the newest examples, up to 20. */
static size_t served(struct fixture *fixture, uint64_t as_of_seq, uint64_t seqs[EXAMPLES_LIMIT_MAX])
{
    const struct examples_query query = {
        .org = fixture->org,
        .layout_fingerprint = SLICE("abc"),
        .limit = EXAMPLES_LIMIT_MAX,
        .has_as_of = as_of_seq != 0,
        .as_of_seq = as_of_seq,
    };
    struct store_txn *txn = fixture_begin(fixture, STORE_READ);
    struct examples_found found;

    assert_int_equal(examples_find(&fixture->arena, txn, &query, &found), OK);
    for (size_t i = 0; i < found.count; i++) {
        seqs[i] = found.artifacts[i].seq;
    }
    store_abort(txn);
    return found.count;
}

/* Goal: a retraction undoes all counts, serves the older copy that the event hid, and leaves the past as it was.
 * Method: two equal corrections; the newer is retracted. */
static void test_older_copy_is_served_after_a_retraction(void **state)
{
    uint64_t seqs[EXAMPLES_LIMIT_MAX] = {0};
    struct layout_head_record head;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    assert_int_equal(capture(&fixture, correction(&fixture, 1)), 1);
    assert_int_equal(capture(&fixture, correction(&fixture, 1)), 2);
    assert_int_equal(served(&fixture, 0, seqs), 1);
    assert_int_equal(seqs[0], 2);
    assert_int_equal(fixture_retract(&fixture, 2), 3);
    assert_int_equal(served(&fixture, 0, seqs), 1);
    assert_int_equal(seqs[0], 1);
    assert_int_equal(served(&fixture, 2, seqs), 1);
    assert_int_equal(seqs[0], 2);
    head = read_head(&fixture);
    assert_int_equal(head.feedback_count, 1);
    assert_int_equal(head.example_count, 1);
    assert_int_equal(head.mark_count, 1);
    fixture_check_replay(&fixture, 3);
    fixture_deinit(&fixture);
}

/* Goal: the head keeps the marks of the newest 32 examples, with their values. Method: 40 corrections, each of a
 * line of its own; the oldest is superseded; then 8 of the newest, and one of the oldest, are retracted. */
static void test_head_keeps_the_newest_marks(void **state)
{
    struct capture_input input;
    struct layout_head_record head;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    for (unsigned i = 1; i <= 40; i++) {
        input = correction(&fixture, i);
        input.entity_type = SLICE("line");
        input.entity_id = arena_printf(&fixture.arena, "%u", i < 40 ? i : 1);
        clock_manual_advance(&fixture.clock, 1000000);
        assert_int_equal(capture(&fixture, input), i);
    }
    assert_int_equal(read_head(&fixture).marks[31].seq, 9);
    assert_int_equal(fixture_retract(&fixture, 3), 41);
    for (uint64_t seq = 39; seq > 32; seq--) {
        (void)fixture_retract(&fixture, seq);
    }
    head = read_head(&fixture);
    assert_int_equal(head.mark_count, 32);
    assert_int_equal(head.marks[0].seq, 40);
    assert_int_equal(head.marks[30].seq, 2);
    assert_int_equal(head.marks[31].seq, 1);
    assert_int_equal(head.marks[31].superseded_by_seq, 40);
    (void)fixture_retract(&fixture, 40);
    head = read_head(&fixture);
    assert_int_equal(head.mark_count, 31);
    assert_int_equal(head.marks[30].seq, 1);
    assert_int_equal(head.marks[30].superseded_by_seq, 0);
    fixture_check_replay(&fixture, 49);
    fixture_deinit(&fixture);
}

/* Goal: an event is retracted once, by permitted callers; others are refused with a reason, and nothing is
 * stored. Method: every kind of caller and of event. */
static void test_events_are_retracted_once_by_those_who_may(void **state)
{
    const struct event_caller anna = {ROLE_OPERATOR, SLICE("anna"), 1, false};
    const struct event_caller bert = {ROLE_OPERATOR, SLICE("bert"), 1, false};
    const struct event_caller reviewer = {ROLE_REVIEWER, SLICE("carl"), 1, false};
    struct capture_input input;
    struct log_head head;
    struct store_txn *txn = NULL;
    struct fixture fixture;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture, 1);
    input = correction(&fixture, 1);
    assert_int_equal(capture(&fixture, input), 1);
    assert_int_equal(capture(&fixture, input), 2);
    input.event_type = FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED;
    assert_int_equal(capture(&fixture, input), 3);
    assert_int_equal(retract_as(&fixture, 1, bert, &seq), ERR_DENIED);
    assert_true(fixture_has(fixture.fault.message, "event_id: event of another user"));
    assert_int_equal(retract_as(&fixture, 1, anna, &seq), OK);
    assert_int_equal(seq, 4);
    assert_int_equal(retract_as(&fixture, 1, reviewer, &seq), OK);
    assert_int_equal(seq, 4);
    assert_int_equal(retract_as(&fixture, 3, reviewer, &seq), ERR_PRECONDITION);
    assert_true(fixture_has(fixture.fault.message,
                            "expected a correction or a customer selection, or "
                            "RejectMapping"));
    assert_int_equal(retract_as(&fixture, 4, reviewer, &seq), ERR_PRECONDITION);
    assert_true(
        fixture_has(fixture.fault.message, "an event of kind RETRACTED cannot be retracted"));
    txn = fixture_begin(&fixture, STORE_READ);
    assert_int_equal(log_read_head(txn, fixture.org, &head), OK);
    assert_int_equal(head.last_seq, 4);
    store_abort(txn);
    fixture_deinit(&fixture);
}

static uint64_t count_of(struct fixture *fixture, enum counter_dimension dimension,
                         struct slice name)
{
    struct key key = key_counter(fixture->org, counters_day_of(FIXTURE_START_US), dimension, name);
    struct store_txn *txn = fixture_begin(fixture, STORE_READ);
    struct counter_record record = {0};
    struct slice value = {NULL, 0};

    if (store_get(txn, TABLE_COUNTER, key_slice(&key), &value) == OK) {
        assert_int_equal(record_decode_counter(value, &record), OK);
    }
    store_abort(txn);
    return record.count;
}

/* Goal: a name that was counted as `other`, since the day had 1,000 names, is subtracted from `other`. Method: 1,000
 * names, then one more; a name loses its last event, comes again and counts as `other`; both are retracted. */
static void test_names_above_the_limit_are_subtracted_from_other(void **state)
{
    struct capture_input input;
    struct fixture fixture;
    uint64_t seqs[COUNTERS_FIELD_NAMES_MAX + 2];

    (void)state;
    fixture_init(&fixture, 1);
    for (unsigned i = 0; i <= COUNTERS_FIELD_NAMES_MAX; i++) {
        input = correction(&fixture, 1);
        input.before_json = SLICE("{}");
        input.after_json = arena_printf(&fixture.arena, "{\"f%u\":1}", i);
        seqs[i] = capture(&fixture, input);
    }
    assert_int_equal(count_of(&fixture, COUNTER_LINE_FIELD, SLICE("other")), 1);
    (void)fixture_retract(&fixture, seqs[7]);
    assert_int_equal(count_of(&fixture, COUNTER_LINE_FIELD, SLICE("f7")), 0);
    assert_int_equal(count_of(&fixture, COUNTER_FIELD_NAMES, slice_of(NULL, 0)),
                     COUNTERS_FIELD_NAMES_MAX);
    input.after_json = SLICE("{\"f7\":1}");
    seqs[COUNTERS_FIELD_NAMES_MAX + 1] = capture(&fixture, input);
    assert_int_equal(count_of(&fixture, COUNTER_LINE_FIELD, SLICE("other")), 2);
    (void)fixture_retract(&fixture, seqs[COUNTERS_FIELD_NAMES_MAX]);
    (void)fixture_retract(&fixture, seqs[COUNTERS_FIELD_NAMES_MAX + 1]);
    assert_int_equal(count_of(&fixture, COUNTER_LINE_FIELD, SLICE("other")), 0);
    assert_int_equal(count_of(&fixture, COUNTER_RETRACTED, slice_of(NULL, 0)), 3);
    fixture_deinit(&fixture);
}

int run_retraction_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_older_copy_is_served_after_a_retraction),
        cmocka_unit_test(test_head_keeps_the_newest_marks),
        cmocka_unit_test(test_events_are_retracted_once_by_those_who_may),
        cmocka_unit_test(test_names_above_the_limit_are_subtracted_from_other),
    };

    return cmocka_run_group_tests_name("corrections: retractions", tests, NULL, NULL);
}
