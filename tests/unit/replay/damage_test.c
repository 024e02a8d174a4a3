/*
 * damage_test.c: any damage of a store is found and named; intact parts are not.
 */
#include "server/domain/quotas/quotas.h"
#include "store/base/bytes.h"
#include "store/records.h"
#include "tests/unit/replay/fixture.h"

#define WRITES 400

static const enum fixture_backend kinds[] = {FIXTURE_MEMORY, FIXTURE_LMDB};

static void expect_one(struct fixture *fixture, enum replay_difference_kind kind,
                       enum store_table table, struct slice key)
{
    const struct replay_difference *difference = &fixture->report.differences[0];

    assert_int_equal(fixture_verify(fixture), OK);
    assert_false(replay_is_clean(&fixture->report));
    assert_int_equal(fixture->report.broken_count, 0);
    assert_int_equal(fixture->report.difference_count, 1);
    assert_int_equal(difference->kind, kind);
    assert_int_equal(difference->table, table);
    assert_true(slice_equal(slice_of(difference->key, difference->key_bytes), key));
}

/* Finds a row of the table, of any organisation or without one; false if there is none. */
static bool find_any(struct fixture *fixture, enum store_table table, struct slice *ret_key,
                     struct slice *ret_value)
{
    static const struct uuid zero;

    for (size_t i = FIXTURE_ORGS; i > 0; i--) {
        if (fixture_find_row(fixture, table, fixture->orgs[i - 1].uuid, 0, ret_key, ret_value)) {
            return true;
        }
    }
    return fixture_find_row(fixture, table, zero, 0, ret_key, ret_value);
}

/* Changes the last byte of a key so that the table has no such row. */
static void make_unused(struct fixture *fixture, enum store_table table, struct slice key)
{
    uint8_t *last = (uint8_t *)(uintptr_t)key.data + key.size - 1;
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_READ);
    struct slice value = {NULL, 0};
    int tries = 0;

    do {
        *last = (uint8_t)(*last + 0x55);
        assert_in_range(++tries, 1, 256);
    } while (store_get(txn, table, key, &value) == OK);
    store_abort(txn);
}

/* One row of each table of class PROJECTION, whose differences all fit into a report. */
struct sample_rows {
    size_t count;
    struct sample_row {
        enum store_table table;
        struct slice key;
        struct slice value;
        struct slice unused; /* a key without a row; empty: one row per organisation */
    } rows[REPLAY_DIFFERENCES_MAX];
};

static void find_samples(struct fixture *fixture, struct sample_rows *samples)
{
    samples->count = 0;
    for (int i = 0; i < TABLE_COUNT; i++) {
        struct sample_row *row = &samples->rows[samples->count];

        *row = (struct sample_row){.table = (enum store_table)i};
        if (store_table_class(row->table) != STORE_PROJECTION) {
            continue;
        }
        if (!find_any(fixture, row->table, &row->key, &row->value)) {
            fail_msg("no row of %s", store_table_name(row->table));
        }
        if (row->key.size > UUID_BYTES) {
            assert_true(arena_copy(&fixture->arena, row->key, &row->unused));
            make_unused(fixture, row->table, row->unused);
        }
        assert_true(++samples->count < REPLAY_DIFFERENCES_MAX);
    }
}

/* Expects one difference of this kind for each sample, or for each that has an unused key. */
static void expect_each(struct fixture *fixture, enum replay_difference_kind kind,
                        const struct sample_rows *samples)
{
    const struct replay_report *report = &fixture->report;
    size_t expected = 0;

    assert_int_equal(fixture_verify(fixture), OK);
    assert_int_equal(report->broken_count, 0);
    for (size_t i = 0; i < samples->count; i++) {
        const struct sample_row *row = &samples->rows[i];
        struct slice key = kind == REPLAY_ROW_EXTRA ? row->unused : row->key;
        size_t found = 0;

        for (size_t j = 0; key.size > 0 && j < report->difference_count; j++) {
            const struct replay_difference *difference = &report->differences[j];

            found += difference->kind == kind && difference->table == row->table &&
                     slice_equal(slice_of(difference->key, difference->key_bytes), key);
        }
        assert_int_equal(found, key.size > 0);
        expected += found;
    }
    assert_int_equal(report->difference_count, expected);
}

/* Goal: a missing row, an extra one, and one with other bytes are found in each table, each by itself, and
 * the store is clean again once they are repaired. Method: the three changes to one row of every table. */
static void test_damaged_row_is_found_in_each_table(void **state)
{
    static struct sample_rows samples;
    struct fixture fixture;

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        fixture_init(&fixture, kinds[k], 37);
        fixture_write_many(&fixture, 6 * WRITES);
        fixture_sweep(&fixture);
        find_samples(&fixture, &samples);
        for (size_t i = 0; i < samples.count; i++) {
            fixture_del(&fixture, samples.rows[i].table, samples.rows[i].key);
        }
        expect_each(&fixture, REPLAY_ROW_MISSING, &samples);
        for (size_t i = 0; i < samples.count; i++) {
            fixture_put(&fixture, samples.rows[i].table, samples.rows[i].key, SLICE("other bytes"));
        }
        expect_each(&fixture, REPLAY_ROW_OTHER, &samples);
        for (size_t i = 0; i < samples.count; i++) {
            const struct sample_row *row = &samples.rows[i];

            fixture_put(&fixture, row->table, row->key, row->value);
            if (row->unused.size > 0) {
                fixture_put(&fixture, row->table, row->unused, row->value);
            }
        }
        expect_each(&fixture, REPLAY_ROW_EXTRA, &samples);
        for (size_t i = 0; i < samples.count; i++) {
            if (samples.rows[i].unused.size > 0) {
                fixture_del(&fixture, samples.rows[i].table, samples.rows[i].unused);
            }
        }
        fixture_expect_clean(&fixture);
        fixture_deinit(&fixture);
    }
}

/* Goal: an organisation that has rows and no events, and rows of the zero one, are found. Method:
 * rows under unused ids, before and after the used ones. */
static void test_rows_of_unknown_organisations_are_found(void **state)
{
    static const uint8_t orgs[] = {0x01, 0xff};
    struct fixture fixture;
    struct key key = {.size = 24};

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 22);
    fixture_write_many(&fixture, WRITES);
    for (size_t i = 0; i < sizeof(orgs); i++) {
        memset(key.bytes, orgs[i], key.size);
        fixture_put(&fixture, TABLE_COUNTER, key_slice(&key), SLICE("x"));
        expect_one(&fixture, REPLAY_ROW_EXTRA, TABLE_COUNTER, key_slice(&key));
        fixture_del(&fixture, TABLE_COUNTER, key_slice(&key));
    }
    memset(key.bytes, 0, key.size);
    fixture_put(&fixture, TABLE_TOKEN, key_slice(&key), SLICE("x"));
    expect_one(&fixture, REPLAY_ROW_EXTRA, TABLE_TOKEN, key_slice(&key));
    fixture_deinit(&fixture);
}

/* Goal: local rows are left out. Method: some of them, damaged. */
static void test_local_rows_are_not_compared(void **state)
{
    struct fixture fixture;
    struct key key = {.size = 24};

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 23);
    fixture_write_many(&fixture, WRITES);
    fixture_put(&fixture, TABLE_META, key_slice(&key), SLICE("x"));
    memset(key.bytes, 7, key.size);
    fixture_put(&fixture, TABLE_IDEMPOTENCY, key_slice(&key), SLICE("x"));
    fixture_expect_clean(&fixture);
    fixture_deinit(&fixture);
}

/* Goal: more differences than are listed are counted. Method: all rows of a table are deleted. */
static void test_differences_beyond_the_list_are_counted(void **state)
{
    struct fixture fixture;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t count = 0;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 24);
    fixture_write_many(&fixture, 4 * WRITES);
    while (fixture_find_row(&fixture, TABLE_EVENT_ID, fixture.orgs[0].uuid, 0, &key, &value)) {
        fixture_del(&fixture, TABLE_EVENT_ID, key);
        count++;
    }
    assert_true(count > REPLAY_DIFFERENCES_MAX);
    assert_int_equal(fixture_verify(&fixture), OK);
    assert_int_equal(fixture.report.difference_count, count);
    assert_int_equal(fixture.report.differences[REPLAY_DIFFERENCES_MAX - 1].kind,
                     REPLAY_ROW_MISSING);
    fixture_deinit(&fixture);
}

static void expect_broken(struct fixture *fixture, struct org_id org, uint64_t seq,
                          enum replay_break broken_by)
{
    assert_int_equal(fixture_verify(fixture), OK);
    assert_false(replay_is_clean(&fixture->report));
    assert_int_equal(fixture->report.broken_count, 1);
    assert_true(uuid_equal(fixture->report.broken_org.uuid, org.uuid));
    assert_int_equal(fixture->report.broken_seq, seq);
    assert_int_equal(fixture->report.broken_by, broken_by);
    assert_int_equal(fixture->report.difference_count, 0);
    assert_int_equal(fixture_replay(fixture), ERR_CORRUPT);
    assert_true(uuid_equal(fixture->report.broken_org.uuid, org.uuid));
    assert_int_equal(fixture->report.broken_seq, seq);
    assert_int_equal(fixture->report.broken_by, broken_by);
}

/* The event's row, changed by `change`; its seq is 3, in the middle organisation. */
static void damage_event(struct fixture *fixture, void (*change)(struct event_record *record))
{
    struct key key = key_event(fixture->orgs[1], 3);
    struct event_record record;
    struct slice found = {NULL, 0};
    struct slice value = {NULL, 0};
    struct slice bytes = {NULL, 0};

    assert_true(fixture_find_row(fixture, TABLE_EVENT, fixture->orgs[1].uuid, 2, &found, &value));
    assert_true(slice_equal(found, key_slice(&key)));
    assert_int_equal(record_decode_event(&fixture->arena, fixture->orgs[1].uuid, value, &record),
                     OK);
    change(&record);
    assert_int_equal(record_encode_event(&fixture->arena, &record, &bytes), OK);
    fixture_put(fixture, TABLE_EVENT, key_slice(&key), bytes);
}

static void other_facts(struct event_record *record)
{
    static const uint8_t facts[] = {0x08, 0x01};

    record->facts = slice_of(facts, sizeof(facts));
}

/* Another actor would change the envelope. This changes a byte of the hash of the previous event,
 * found by its field (previous_sha256; in the second event it contains the first event's hash). */
static void other_chain(struct event_record *record)
{
    struct slice bytes = record->envelope_bytes;
    size_t at = 0;

    while (at + SHA256_BYTES <= bytes.size &&
           memcmp(bytes.data + at, record->envelope.previous_sha256.bytes, SHA256_BYTES) != 0) {
        at++;
    }
    assert_true(at + SHA256_BYTES <= bytes.size);
    ((uint8_t *)(uintptr_t)bytes.data)[at] ^= 1;
}

/* Goal: an event that is missing, does not decode, has other facts, or another chain is named, and
 * nothing else is reported as damaged. Method: each defect of the third event of one organisation,
 * over both back ends; repaired in between. */
static void test_damaged_event_is_named(void **state)
{
    struct fixture fixture;

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct key key;
        struct slice found = {NULL, 0};
        struct slice value = {NULL, 0};

        fixture_init(&fixture, kinds[k], 25);
        fixture_write_many(&fixture, WRITES);
        key = key_event(fixture.orgs[1], 3);
        assert_true(
            fixture_find_row(&fixture, TABLE_EVENT, fixture.orgs[1].uuid, 2, &found, &value));
        fixture_del(&fixture, TABLE_EVENT, key_slice(&key));
        expect_broken(&fixture, fixture.orgs[1], 3, REPLAY_GAP);
        fixture_put(&fixture, TABLE_EVENT, key_slice(&key), SLICE("no record"));
        expect_broken(&fixture, fixture.orgs[1], 3, REPLAY_BYTES);
        fixture_put(&fixture, TABLE_EVENT, key_slice(&key), value);
        damage_event(&fixture, other_facts);
        expect_broken(&fixture, fixture.orgs[1], 3, REPLAY_HASH);
        fixture_put(&fixture, TABLE_EVENT, key_slice(&key), value);
        damage_event(&fixture, other_chain);
        expect_broken(&fixture, fixture.orgs[1], 3, REPLAY_CHAIN);
        fixture_put(&fixture, TABLE_EVENT, key_slice(&key), value);
        fixture_expect_clean(&fixture);
        fixture_deinit(&fixture);
    }
}

/* Goal: a log that lost its end is detected by the rows that its events made; an invalid key, and
 * events without an organisation, are named by their place. Method: the last event is removed; a
 * row after it with a longer key; a row under the zero organisation. */
static void test_lost_end_of_a_log_is_detected(void **state)
{
    struct fixture fixture;
    struct key key = {.size = 0};
    struct slice found = {NULL, 0};
    struct slice value = {NULL, 0};
    struct uuid zero = {{0}};
    uint64_t last = 0;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 26);
    fixture_write_many(&fixture, WRITES);
    while (fixture_find_row(&fixture, TABLE_EVENT, fixture.orgs[2].uuid, last, &found, &value)) {
        last++;
    }
    key = key_event(fixture.orgs[2], last);
    fixture_del(&fixture, TABLE_EVENT, key_slice(&key));
    assert_int_equal(fixture_verify(&fixture), OK);
    assert_int_equal(fixture.report.broken_count, 0);
    assert_true(fixture.report.difference_count > 1);
    fixture_put(&fixture, TABLE_EVENT, key_slice(&key), value);
    fixture_expect_clean(&fixture);

    key.bytes[key.size++] = 0;
    fixture_put(&fixture, TABLE_EVENT, key_slice(&key), value);
    expect_broken(&fixture, fixture.orgs[2], last + 1, REPLAY_BYTES);
    fixture_del(&fixture, TABLE_EVENT, key_slice(&key));
    memset(key.bytes, 0, sizeof(key.bytes));
    fixture_put(&fixture, TABLE_EVENT, key_slice(&key), value);
    expect_broken(&fixture, (struct org_id){zero}, 1, REPLAY_BYTES);
    fixture_deinit(&fixture);
}

/* Goal: a log of an organisation that was never created is reported, and a rebuild still keeps its events. Method: a quota
 * that is set for an unused id. */
static void test_log_without_an_organisation_is_reported(void **state)
{
    const struct admin_actor actor = {.user_id = SLICE("anna"), .annotator = ANNOTATOR_HUMAN};
    const struct quota_holder holder = {.org = {{{0x77}}}};
    const struct quota_view change = {.has_pdf_jobs = true, .pdf_jobs = 1};
    struct work_result result;
    struct fixture fixture;
    struct store_txn *txn = NULL;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 31);
    fixture_write_many(&fixture, WRITES);
    txn = fixture_begin(fixture.stored.backend, STORE_WRITE);
    log_begin_write(txn, NULL);
    assert_int_equal(quota_set(&fixture.ctx, txn, &actor, &holder, &change, &result), OK);
    assert_int_equal(store_commit(txn), OK);
    assert_int_equal(fixture_verify(&fixture), OK);
    assert_int_equal(fixture.report.broken_count, 1);
    assert_true(uuid_equal(fixture.report.broken_org.uuid, holder.org.uuid));
    assert_int_equal(fixture.report.broken_seq, 1);
    assert_int_equal(fixture.report.broken_by, REPLAY_NO_ORGANIZATION);
    assert_int_equal(fixture_replay(&fixture), OK);
    fixture_deinit(&fixture);
}

/* Goal: each kind of break has a distinct text. Method: all of them. */
static void test_each_break_has_a_text(void **state)
{
    (void)state;
    for (int i = REPLAY_WHOLE; i <= REPLAY_NO_ORGANIZATION; i++) {
        assert_true(strlen(replay_break_text((enum replay_break)i)) > 4);
        for (int j = REPLAY_WHOLE; j < i; j++) {
            assert_string_not_equal(replay_break_text((enum replay_break)i),
                                    replay_break_text((enum replay_break)j));
        }
    }
}

int run_damage_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_row_is_found_in_each_table),
        cmocka_unit_test(test_log_without_an_organisation_is_reported),
        cmocka_unit_test(test_rows_of_unknown_organisations_are_found),
        cmocka_unit_test(test_local_rows_are_not_compared),
        cmocka_unit_test(test_differences_beyond_the_list_are_counted),
        cmocka_unit_test(test_damaged_event_is_named),
        cmocka_unit_test(test_lost_end_of_a_log_is_detected),
        cmocka_unit_test(test_each_break_has_a_text),
    };

    return cmocka_run_group_tests_name("replay damage", tests, NULL, NULL);
}
