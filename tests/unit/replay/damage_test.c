/*
 * damage_test.c: any damage of a store is found and named; intact parts are not.
 */
#include "store/base/bytes.h"
#include "store/records.h"
#include "tests/unit/replay/world.h"

#define WRITES 400

static const enum world_backend kinds[] = {WORLD_MEMORY, WORLD_LMDB};

static void expect_one(struct world *world, enum replay_difference_kind kind,
                       enum store_table table, struct slice key)
{
    const struct replay_difference *difference = &world->report.differences[0];

    assert_int_equal(world_verify(world), OK);
    assert_false(replay_is_clean(&world->report));
    assert_int_equal(world->report.broken_count, 0);
    assert_int_equal(world->report.difference_count, 1);
    assert_int_equal(difference->kind, kind);
    assert_int_equal(difference->table, table);
    assert_true(slice_equal(slice_of(difference->key, difference->key_bytes), key));
}

/* A row of the table: of any organisation, or of none. */
static bool find_any(struct world *world, enum store_table table, struct slice *ret_key,
                     struct slice *ret_value)
{
    static const struct uuid zero;

    for (size_t i = WORLD_ORGS; i > 0; i--) {
        if (world_find_row(world, table, world->orgs[i - 1].uuid, 0, ret_key, ret_value)) {
            return true;
        }
    }
    return world_find_row(world, table, zero, 0, ret_key, ret_value);
}

/* Changes the last byte of a key so that the table has no such row. */
static void make_unused(struct world *world, enum store_table table, struct slice key)
{
    uint8_t *last = (uint8_t *)(uintptr_t)key.data + key.size - 1;
    struct store_txn *txn = world_begin(world->stored.backend, STORE_READ);
    struct slice value = {NULL, 0};
    int tries = 0;

    do {
        *last = (uint8_t)(*last + 0x55);
        assert_in_range(++tries, 1, 256);
    } while (store_get(txn, table, key, &value) == OK);
    store_abort(txn);
}

/* Goal: a missing row, an extra one, and one with other bytes are found in each table, and the
 * store is clean again once it is repaired. Method: one row of each table at a time, three ways. */
static void test_damaged_row_is_found_in_each_table(void **state)
{
    struct world world;

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        world_init(&world, kinds[k], 34);
        world_write_many(&world, 4 * WRITES);
        for (int i = 0; i < TABLE_COUNT; i++) {
            enum store_table table = (enum store_table)i;
            struct slice key = {NULL, 0};
            struct slice value = {NULL, 0};
            struct slice other = {NULL, 0};

            if (store_table_class(table) != STORE_PROJECTION) {
                continue;
            }
            if (!find_any(&world, table, &key, &value)) {
                fail_msg("no row of %s", store_table_name(table));
            }
            world_del(&world, table, key);
            expect_one(&world, REPLAY_ROW_MISSING, table, key);
            world_put(&world, table, key, SLICE("other bytes"));
            expect_one(&world, REPLAY_ROW_OTHER, table, key);
            world_put(&world, table, key, value);
            assert_true(arena_copy(&world.arena, key, &other));
            if (key.size > UUID_BYTES) {
                make_unused(&world, table, other);
                world_put(&world, table, other, value);
                expect_one(&world, REPLAY_ROW_EXTRA, table, other);
                world_del(&world, table, other);
            }
        }
        world_expect_clean(&world);
        world_deinit(&world);
    }
}

/* Goal: an organisation that has rows and no events, and rows of the zero one, are found. Method:
 * rows under unused ids, at either end. */
static void test_rows_of_unknown_organisations_are_found(void **state)
{
    static const uint8_t orgs[] = {0x01, 0xff};
    struct world world;
    struct key key = {.size = 24};

    (void)state;
    world_init(&world, WORLD_MEMORY, 22);
    world_write_many(&world, WRITES);
    for (size_t i = 0; i < sizeof(orgs); i++) {
        memset(key.bytes, orgs[i], key.size);
        world_put(&world, TABLE_COUNTER, key_slice(&key), SLICE("x"));
        expect_one(&world, REPLAY_ROW_EXTRA, TABLE_COUNTER, key_slice(&key));
        world_del(&world, TABLE_COUNTER, key_slice(&key));
    }
    memset(key.bytes, 0, key.size);
    world_put(&world, TABLE_TOKEN, key_slice(&key), SLICE("x"));
    expect_one(&world, REPLAY_ROW_EXTRA, TABLE_TOKEN, key_slice(&key));
    world_deinit(&world);
}

/* Goal: local rows are left out. Method: some of them, damaged. */
static void test_local_rows_are_not_compared(void **state)
{
    struct world world;
    struct key key = {.size = 24};

    (void)state;
    world_init(&world, WORLD_MEMORY, 23);
    world_write_many(&world, WRITES);
    world_put(&world, TABLE_META, key_slice(&key), SLICE("x"));
    memset(key.bytes, 7, key.size);
    world_put(&world, TABLE_IDEMPOTENCY, key_slice(&key), SLICE("x"));
    world_expect_clean(&world);
    world_deinit(&world);
}

/* Goal: more differences than are listed are counted. Method: all rows of a table are deleted. */
static void test_differences_beyond_the_list_are_counted(void **state)
{
    struct world world;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t count = 0;

    (void)state;
    world_init(&world, WORLD_MEMORY, 24);
    world_write_many(&world, 4 * WRITES);
    while (world_find_row(&world, TABLE_EVENT_ID, world.orgs[0].uuid, 0, &key, &value)) {
        world_del(&world, TABLE_EVENT_ID, key);
        count++;
    }
    assert_true(count > REPLAY_DIFFERENCES_MAX);
    assert_int_equal(world_verify(&world), OK);
    assert_int_equal(world.report.difference_count, count);
    assert_int_equal(world.report.differences[REPLAY_DIFFERENCES_MAX - 1].kind, REPLAY_ROW_MISSING);
    world_deinit(&world);
}

static void expect_broken(struct world *world, struct org_id org, uint64_t seq,
                          enum replay_break broken_by)
{
    assert_int_equal(world_verify(world), OK);
    assert_false(replay_is_clean(&world->report));
    assert_int_equal(world->report.broken_count, 1);
    assert_true(uuid_equal(world->report.broken_org.uuid, org.uuid));
    assert_int_equal(world->report.broken_seq, seq);
    assert_int_equal(world->report.broken_by, broken_by);
    assert_int_equal(world->report.difference_count, 0);
    assert_int_equal(world_replay(world), ERR_CORRUPT);
    assert_true(uuid_equal(world->report.broken_org.uuid, org.uuid));
    assert_int_equal(world->report.broken_seq, seq);
    assert_int_equal(world->report.broken_by, broken_by);
}

/* The event's row, changed by `change`; its seq is 3, in the middle organisation. */
static void damage_event(struct world *world, void (*change)(struct event_record *record))
{
    struct key key = key_event(world->orgs[1], 3);
    struct event_record record;
    struct slice found = {NULL, 0};
    struct slice value = {NULL, 0};
    struct slice bytes = {NULL, 0};

    assert_true(world_find_row(world, TABLE_EVENT, world->orgs[1].uuid, 2, &found, &value));
    assert_true(slice_equal(found, key_slice(&key)));
    assert_int_equal(record_decode_event(&world->arena, world->orgs[1].uuid, value, &record), OK);
    change(&record);
    assert_int_equal(record_encode_event(&world->arena, &record, &bytes), OK);
    world_put(world, TABLE_EVENT, key_slice(&key), bytes);
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
 * nothing else is reported as damaged. Method: the third event of one organisation, each way, over
 * both back ends; repaired in between. */
static void test_damaged_event_is_named(void **state)
{
    struct world world;

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct key key;
        struct slice found = {NULL, 0};
        struct slice value = {NULL, 0};

        world_init(&world, kinds[k], 25);
        world_write_many(&world, WRITES);
        key = key_event(world.orgs[1], 3);
        assert_true(world_find_row(&world, TABLE_EVENT, world.orgs[1].uuid, 2, &found, &value));
        world_del(&world, TABLE_EVENT, key_slice(&key));
        expect_broken(&world, world.orgs[1], 3, REPLAY_GAP);
        world_put(&world, TABLE_EVENT, key_slice(&key), SLICE("no record"));
        expect_broken(&world, world.orgs[1], 3, REPLAY_BYTES);
        world_put(&world, TABLE_EVENT, key_slice(&key), value);
        damage_event(&world, other_facts);
        expect_broken(&world, world.orgs[1], 3, REPLAY_HASH);
        world_put(&world, TABLE_EVENT, key_slice(&key), value);
        damage_event(&world, other_chain);
        expect_broken(&world, world.orgs[1], 3, REPLAY_CHAIN);
        world_put(&world, TABLE_EVENT, key_slice(&key), value);
        world_expect_clean(&world);
        world_deinit(&world);
    }
}

/* Goal: a log that lost its end is detected by the rows that its events made; an invalid key, and
 * events without an organisation, are named by their place. Method: the last event is removed; a
 * row after it with a longer key; a row under the zero organisation. */
static void test_lost_end_of_a_log_is_detected(void **state)
{
    struct world world;
    struct key key = {.size = 0};
    struct slice found = {NULL, 0};
    struct slice value = {NULL, 0};
    struct uuid zero = {{0}};
    uint64_t last = 0;

    (void)state;
    world_init(&world, WORLD_MEMORY, 26);
    world_write_many(&world, WRITES);
    while (world_find_row(&world, TABLE_EVENT, world.orgs[2].uuid, last, &found, &value)) {
        last++;
    }
    key = key_event(world.orgs[2], last);
    world_del(&world, TABLE_EVENT, key_slice(&key));
    assert_int_equal(world_verify(&world), OK);
    assert_int_equal(world.report.broken_count, 0);
    assert_true(world.report.difference_count > 1);
    world_put(&world, TABLE_EVENT, key_slice(&key), value);
    world_expect_clean(&world);

    key.bytes[key.size++] = 0;
    world_put(&world, TABLE_EVENT, key_slice(&key), value);
    expect_broken(&world, world.orgs[2], last + 1, REPLAY_BYTES);
    world_del(&world, TABLE_EVENT, key_slice(&key));
    memset(key.bytes, 0, sizeof(key.bytes));
    world_put(&world, TABLE_EVENT, key_slice(&key), value);
    expect_broken(&world, (struct org_id){zero}, 1, REPLAY_BYTES);
    world_deinit(&world);
}

/* Goal: each kind of break has a distinct text. Method: all of them. */
static void test_each_break_has_a_text(void **state)
{
    (void)state;
    for (int i = REPLAY_WHOLE; i <= REPLAY_APPLY; i++) {
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
        cmocka_unit_test(test_rows_of_unknown_organisations_are_found),
        cmocka_unit_test(test_local_rows_are_not_compared),
        cmocka_unit_test(test_differences_beyond_the_list_are_counted),
        cmocka_unit_test(test_damaged_event_is_named),
        cmocka_unit_test(test_lost_end_of_a_log_is_detected),
        cmocka_unit_test(test_each_break_has_a_text),
    };

    return cmocka_run_group_tests_name("replay damage", tests, NULL, NULL);
}
