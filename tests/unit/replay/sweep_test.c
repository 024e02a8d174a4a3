/*
 * sweep_test.c: a store after retention equals a replay of its log, whose events lack the removed content: before,
 * between and after retractions, superseding corrections, extractions that cite examples, and documents that join and
 * leave families.
 */
#include "server/domain/corrections/capture.h"
#include "server/domain/corrections/keys.h"
#include "server/domain/layouts/records.h"
#include "server/domain/retention/retention.h"
#include "store/backend_ops.h"
#include "tests/unit/replay/fixture.h"

#define WRITES 800
#define SEEDS 1
/* Memory of a transaction: enough for a few events. */
#define UNPACKED_BYTES ((size_t)32 << 10)
/* More retractions than one entity usually has. */
#define FREED_ROWS 1001

/* Returns how many events of all organisations have lost their content. */
static size_t count_removed(struct fixture *fixture)
{
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_READ);
    size_t count = 0;

    for (size_t i = 0; i < FIXTURE_ORGS; i++) {
        struct log_walk walk;
        struct event event;

        assert_int_equal(log_walk_init(&walk, txn, fixture->orgs[i], 0, STORE_ASCENDING), OK);
        while (log_walk_next(&walk, &event) == OK) {
            assert_true(!event.content_removed ||
                        (event.content.size == 0 && event.salt.size == 0));
            assert_true(log_event_holds(&event));
            count += event.content_removed ? 1 : 0;
        }
        log_walk_deinit(&walk);
    }
    store_abort(txn);
    return count;
}

/* Checks that no event up to the floor of its class has content. */
static void check_floors(struct fixture *fixture, struct org_id org)
{
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_READ);
    struct log_walk walk;
    struct event event;

    assert_int_equal(log_walk_init(&walk, txn, org, 0, STORE_ASCENDING), OK);
    while (log_walk_next(&walk, &event) == OK) {
        enum content_class class = removal_class_of(event.kind);
        uint64_t floor_seq = 0;

        assert_int_equal(removal_floor(txn, org, class, &floor_seq), OK);
        assert_true(event.content.size == 0 || event.seq > floor_seq);
        assert_true(!event.content_removed || event.seq <= floor_seq);
    }
    log_walk_deinit(&walk);
    store_abort(txn);
}

/* Goal: a live sweep leaves the bytes that a replay makes. Method: several seeds of random writes with small sweeps between
 * them, compared often, over both back ends. */
static void test_live_sweep_equals_replay(void **state)
{
    struct fixture fixture;

    (void)state;
    for (uint64_t seed = 0; seed <= SEEDS; seed++) {
        size_t removed = 0;

        fixture_init(&fixture, seed == SEEDS ? FIXTURE_LMDB : FIXTURE_MEMORY, 100 + seed);
        fixture.sweeps = true;
        for (size_t i = 0; i < 4; i++) {
            fixture_write_many(&fixture, WRITES / 4);
            fixture_expect_clean(&fixture);
            assert_true(count_removed(&fixture) > removed + WRITES / 20);
            removed = count_removed(&fixture);
        }
        for (size_t i = 0; i < FIXTURE_ORGS; i++) {
            check_floors(&fixture, fixture.orgs[i]);
        }
        fixture_deinit(&fixture);
    }
}

/* Makes one step in the first organisation. */
static struct retention_done sweep_step(struct fixture *fixture, enum content_class class,
                                        size_t removed_max)
{
    const struct retention_step step = {.org = fixture->orgs[0],
                                        .class = class,
                                        .recorded_until_us = fixture->clock.wall_us,
                                        .removed_max = removed_max};
    struct retention_done done = {.has_ended = false};
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_WRITE);

    log_begin_write(txn, NULL);
    assert_int_equal(retention_sweep(&fixture->ctx, txn, &step, &done), OK);
    assert_int_equal(store_commit(txn), OK);
    return done;
}

/* Removes all content of a class; returns the number of events. */
static size_t sweep_all(struct fixture *fixture, enum content_class class)
{
    struct retention_done done = {.has_ended = false};
    size_t count = 0;

    while (!done.has_ended) {
        done = sweep_step(fixture, class, RETENTION_REMOVED_MAX);
        count += done.removed_count;
    }
    return count;
}

/* Goal: a preview counts the content that is then removed, of the classes with a time, and nothing afterwards. Method:
 * two of the three classes, from a moment that makes all events old enough. */
static void test_preview_counts_what_is_removed(void **state)
{
    const struct content_retention_view retention = {.corrections_days = 2, .reviews_days = 3};
    struct retention_preview previews[RETENTION_CLASSES];
    struct fixture fixture;
    struct store_txn *txn = NULL;
    bool is_partial = true;
    int64_t from_us = 0;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 7);
    fixture.sweeps = true;
    fixture_write_many(&fixture, WRITES / 2);
    fixture.sweeps = false;
    fixture_write_many(&fixture, WRITES / 2);
    from_us = fixture.clock.wall_us + 3 * RETENTION_DAY_US;
    txn = fixture_begin(fixture.stored.backend, STORE_READ);
    assert_int_equal(
        retention_preview(txn, fixture.orgs[0], &retention, from_us, previews, &is_partial), OK);
    store_abort(txn);
    assert_false(is_partial);
    assert_true(previews[0].event_count > 0 && previews[2].event_count > 0);
    assert_true(previews[0].floor_seq > 0 && previews[0].content_bytes > previews[0].event_count);
    assert_int_equal(previews[1].event_count, 0);
    assert_int_equal(sweep_all(&fixture, CONTENT_CLASS_CORRECTIONS), previews[0].event_count);
    assert_int_equal(sweep_all(&fixture, CONTENT_CLASS_REVIEWS), previews[2].event_count);
    txn = fixture_begin(fixture.stored.backend, STORE_READ);
    assert_int_equal(
        retention_preview(txn, fixture.orgs[0], &retention, from_us, previews, &is_partial), OK);
    store_abort(txn);
    assert_int_equal(previews[0].event_count + previews[2].event_count, 0);
    fixture_expect_clean(&fixture);
    fixture_deinit(&fixture);
}

/* Goal: a preview of many events needs the memory of one, and nothing is counted up to a class's floor. Method: a transaction
 * with memory for a few events; then a floor above all of them. */
static void test_preview_reads_event_by_event_above_the_floors(void **state)
{
    const struct content_retention_view retention = {.corrections_days = 2, .verdicts_days = 2};
    struct retention_preview previews[RETENTION_CLASSES];
    struct fixture fixture;
    struct store_txn *txn = NULL;
    bool is_partial = true;
    int64_t from_us = 0;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 8);
    fixture_write_many(&fixture, WRITES / 2);
    from_us = fixture.clock.wall_us + 3 * RETENTION_DAY_US;
    txn = fixture_begin(fixture.stored.backend, STORE_WRITE);
    txn->unpacked.limit_bytes = UNPACKED_BYTES;
    assert_int_equal(
        retention_preview(txn, fixture.orgs[0], &retention, from_us, previews, &is_partial), OK);
    assert_true(previews[0].event_count > 0);
    assert_int_equal(
        removal_put_floor(txn, fixture.orgs[0], CONTENT_CLASS_CORRECTIONS, UINT64_MAX - 1), OK);
    assert_int_equal(
        retention_preview(txn, fixture.orgs[0], &retention, from_us, previews, &is_partial), OK);
    assert_int_equal(previews[0].event_count, 0);
    store_abort(txn);
    fixture_deinit(&fixture);
}

/* Stores a correction of a layout; with an entity id, of one entity. */
static void correct(struct fixture *fixture, struct slice entity_id)
{
    const struct event_caller caller = {ROLE_ADMIN, {NULL, 0}, 0xabcd, false};
    const struct capture_input input = {
        .event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
        .actor_user_id = SLICE("anna"),
        .layout_fingerprint = SLICE("layout-0"),
        .entity_type = entity_id.size > 0 ? SLICE("line") : slice_of(NULL, 0),
        .entity_id = entity_id,
        .before_json = SLICE("{\"qty\":10}"),
        .after_json = SLICE("{\"qty\":12}"),
    };
    struct capture_event event;
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_WRITE);
    uint64_t seq = 0;

    clock_manual_advance(&fixture->clock, 1000000);
    log_begin_write(txn, NULL);
    assert_int_equal(capture_prepare(&fixture->ctx, &caller, &input, SLICE("event"), &event), OK);
    assert_int_equal(capture_store(&fixture->ctx, txn, fixture->orgs[0], &event, 1, &seq), OK);
    assert_int_equal(store_commit(txn), OK);
}

/* Removes the content of this number of corrections, the oldest that have some. */
static void sweep_corrections(struct fixture *fixture, size_t count)
{
    struct retention_done done = sweep_step(fixture, CONTENT_CLASS_CORRECTIONS, count);

    assert_int_equal(done.removed_count, count);
}

/* Goal: an example that has lost its content gets no mark when a later correction supersedes it. Method: the layout's head is
 * full at that moment, and not in a replay, since its examples lose their content next. */
static void test_removed_example_is_not_marked(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 1);
    correct(&fixture, SLICE("entity-0"));
    sweep_corrections(&fixture, 1);
    for (size_t i = 0; i < RECORD_MARKS_MAX; i++) {
        correct(&fixture, slice_of(NULL, 0));
    }
    correct(&fixture, SLICE("entity-0"));
    sweep_corrections(&fixture, RECORD_MARKS_MAX);
    fixture_expect_clean(&fixture);
    fixture_deinit(&fixture);
}

/* Goal: all rows of an example are removed with it, regardless of the number of retractions that freed it.
 * Method: put many such rows. */
static void test_all_freed_rows_go(void **state)
{
    struct fixture fixture;
    struct store_txn *txn = NULL;
    struct log_head head;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 2);
    correct(&fixture, SLICE("entity-0"));
    txn = fixture_begin(fixture.stored.backend, STORE_WRITE);
    assert_int_equal(log_read_head(txn, fixture.orgs[0], &head), OK);
    for (uint64_t i = 1; i <= FREED_ROWS; i++) {
        struct key key = key_example_freed(fixture.orgs[0], head.last_seq, head.last_seq + i);

        assert_int_equal(log_put_id_row(txn, TABLE_EXAMPLE_FREED, &key, head.last_seq), OK);
    }
    assert_int_equal(store_commit(txn), OK);
    sweep_corrections(&fixture, 1);
    fixture_expect_clean(&fixture);
    fixture_deinit(&fixture);
}

int run_sweep_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_removed_example_is_not_marked),
        cmocka_unit_test(test_all_freed_rows_go),
        cmocka_unit_test(test_preview_reads_event_by_event_above_the_floors),
        cmocka_unit_test(test_preview_counts_what_is_removed),
        cmocka_unit_test(test_live_sweep_equals_replay),
    };

    return cmocka_run_group_tests_name("replay sweep", tests, NULL, NULL);
}
