/*
 * increment_test.c: increments of a store with events of every kind, applied to a store that ends where they begin.
 */
#include "server/domain/replay/increment.h"
#include "server/domain/replay/position.h"
#include "store/base/bytes.h"
#include "store/keys.h"
#include "tests/unit/replay/fixture.h"

#include <stdlib.h>

#define ROUNDS 8
#define WRITES 120 /* in each round, at most */
#define DAMAGES 150
#define EXPECTED "expected the position of an earlier backup"

/* An increment in memory. */
struct file {
    uint8_t *bytes;
    size_t size;
};

/* The position of a store of all organisations; of size 0 before the first backup. */
struct position {
    uint8_t bytes[FIXTURE_ORGS * POSITION_ROW_BYTES];
    size_t size;
};

static enum err take(void *user, struct slice bytes)
{
    struct file *file = user;

    file->bytes = realloc(file->bytes, file->size + bytes.size);
    assert_non_null(file->bytes);
    memcpy(file->bytes + file->size, bytes.data, bytes.size);
    file->size += bytes.size;
    return OK;
}

static enum err read_bytes(void *user, uint64_t at, uint8_t *bytes, size_t size)
{
    const struct file *file = user;

    assert_true(at + size <= file->size);
    memcpy(bytes, file->bytes + at, size);
    return OK;
}

static struct position position_of(struct fixture *fixture, struct store_backend *backend)
{
    struct store_txn *txn = fixture_begin(backend, STORE_READ);
    struct position position = {.size = FIXTURE_ORGS * POSITION_ROW_BYTES};
    struct buffer buffer;

    buffer_init(&buffer, &fixture->arena, 0);
    assert_int_equal(position_write(txn, &buffer), OK);
    store_abort(txn);
    assert_int_equal(buffer.size, position.size);
    memcpy(position.bytes, buffer.data, buffer.size);
    return position;
}

static enum err write_file(struct fixture *fixture, const struct position *since, struct file *file)
{
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_READ);
    const struct increment_order order = {.since = slice_of(since->bytes, since->size),
                                          .take = take,
                                          .user = file,
                                          .fault = &fixture->fault};
    enum err err = increment_write(txn, &order);

    store_abort(txn);
    return err;
}

static enum err apply(struct fixture *fixture, struct file *file, struct store_backend *backend,
                      struct increment_report *report)
{
    const struct increment_source source = {.read = read_bytes,
                                            .user = file,
                                            .name = "file",
                                            .end = file->size,
                                            .created_at_us = clock_wall_us(&fixture->clock.clock)};
    const struct increment_target target = {.backend = backend, .fault = &fixture->fault};

    return increment_apply(&source, &target, report);
}

/* Expects that a store has the same rows as the fixture's, but for its own values. */
static void expect_same(struct fixture *fixture, struct store_backend *made)
{
    struct store_txn *a = fixture_begin(fixture->stored.backend, STORE_READ);
    struct store_txn *b = fixture_begin(made, STORE_READ);
    struct replay_config config = {
        .source = made, .clock = &fixture->clock.clock, .random = &fixture->random.random};
    struct fixture_store empty;

    for (unsigned i = 0; i < FIXTURE_ORGS; i++) {
        struct key prefix = key_org(fixture->orgs[i]);
        struct store_cursor from;
        struct store_cursor to;
        enum err err = OK;

        assert_int_equal(store_cursor_init(&from, a, TABLE_EVENT, key_slice(&prefix),
                                           slice_of(NULL, 0), STORE_ASCENDING),
                         OK);
        assert_int_equal(store_cursor_init(&to, b, TABLE_EVENT, key_slice(&prefix),
                                           slice_of(NULL, 0), STORE_ASCENDING),
                         OK);
        while (err == OK) {
            struct slice from_row[2];
            struct slice to_row[2];

            err = store_cursor_next(&from, &from_row[0], &from_row[1]);
            assert_int_equal(store_cursor_next(&to, &to_row[0], &to_row[1]), err);
            assert_true(err != OK || (slice_equal(from_row[0], to_row[0]) &&
                                      slice_equal(from_row[1], to_row[1])));
        }
        assert_int_equal(err, ERR_NOT_FOUND);
        store_cursor_deinit(&from);
        store_cursor_deinit(&to);
    }
    store_abort(a);
    store_abort(b);
    fixture_store_open(&empty, FIXTURE_MEMORY);
    config.target = empty.backend;
    assert_int_equal(replay_verify(&config, &fixture->report), OK);
    assert_true(replay_is_clean(&fixture->report));
    fixture_store_close(&empty);
}

/* Goal: a store to which all increments were applied has the same log, row by row, and the tables that follow from it.
 * Method: random writes of every kind, among them removals of content, with an increment after each round; some overlap
 * with the one before, some are applied twice. */
static void test_applied_increments_give_the_same_store(void **state)
{
    struct fixture fixture;
    struct fixture_store made;
    struct position since[2] = {{.size = 0}, {.size = 0}};

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 5);
    fixture.sweeps = true;
    fixture_store_open(&made, FIXTURE_MEMORY);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct increment_report report = {.events = 0};
        struct file file = {NULL, 0};

        fixture_write_many(&fixture, 1 + fixture_draw(&fixture, WRITES));
        fixture_sweep(&fixture);
        assert_int_equal(write_file(&fixture, &since[fixture_draw(&fixture, 2)], &file), OK);
        assert_int_equal(apply(&fixture, &file, made.backend, &report), OK);
        assert_int_equal(report.organizations, FIXTURE_ORGS);
        assert_true(report.events > 0);
        expect_same(&fixture, made.backend);
        assert_int_equal(apply(&fixture, &file, made.backend, &report), OK);
        assert_int_equal(report.events, 0);
        since[0] = since[1];
        since[1] = position_of(&fixture, made.backend);
        free(file.bytes);
    }
    expect_same(&fixture, made.backend);
    fixture_store_close(&made);
    fixture_deinit(&fixture);
}

/* Goal: no bytes do harm: what is not an increment, or does not continue the store, is refused with a reason before
 * anything is written, or the store is marked. Method: one increment, cut at any place, or with a byte changed. */
static void test_damaged_increment_is_refused_or_marks_the_store(void **state)
{
    struct fixture fixture;
    const struct position since = {.size = 0};
    struct file file = {NULL, 0};
    unsigned refused = 0;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 6);
    fixture_write_many(&fixture, 10);
    assert_int_equal(write_file(&fixture, &since, &file), OK);
    for (unsigned i = 0; i < DAMAGES; i++) {
        size_t at = fixture_draw(&fixture, (uint32_t)file.size);
        struct file damaged = {NULL, 0};
        struct increment_report report;
        struct fixture_store made;
        bool is_marked = false;
        enum err err = OK;

        fixture_store_open(&made, FIXTURE_MEMORY);
        fault_init(&fixture.fault, &fixture.arena);
        assert_int_equal(take(&damaged, slice_of(file.bytes, i % 2 == 0 ? at + 1 : file.size)), OK);
        if (i % 2 == 1) {
            damaged.bytes[at] = (uint8_t)(damaged.bytes[at] ^ (1u << fixture_draw(&fixture, 8)));
        }
        err = apply(&fixture, &damaged, made.backend, &report);
        refused += err != OK;
        if (err != OK) {
            struct store_txn *txn = fixture_begin(made.backend, STORE_READ);
            struct uuid org;

            assert_true(err == ERR_CORRUPT || err == ERR_PRECONDITION);
            assert_true(fixture.fault.message.size > 0);
            assert_int_equal(increment_is_unfinished(txn, &is_marked), OK);
            assert_true(is_marked || store_next_org(txn, TABLE_EVENT, NULL, &org) == ERR_NOT_FOUND);
            store_abort(txn);
        }
        fixture_store_close(&made);
        free(damaged.bytes);
    }
    assert_true(refused > DAMAGES / 2);
    free(file.bytes);
    fixture_deinit(&fixture);
}

/* Goal: a position that is later than the store is refused. Method: the position of the store after more writes. */
static void test_position_of_another_store_is_refused(void **state)
{
    struct fixture fixture;
    struct file file = {NULL, 0};
    struct position position;
    uint8_t *seq = position.bytes + UUID_BYTES;

    (void)state;
    fixture_init(&fixture, FIXTURE_MEMORY, 7);
    fixture_write_many(&fixture, 10);
    position = position_of(&fixture, fixture.stored.backend);
    assert_true(position_is_valid(slice_of(position.bytes, position.size)));
    assert_int_equal(write_file(&fixture, &position, &file), OK);
    bytes_put_be64(seq, bytes_get_be64(seq) + 1);
    assert_int_equal(write_file(&fixture, &position, &file), ERR_INVALID);
    assert_non_null(memmem(fixture.fault.message.data, fixture.fault.message.size, EXPECTED,
                           sizeof(EXPECTED) - 1));
    free(file.bytes);
    fixture_deinit(&fixture);
}

int run_increment_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applied_increments_give_the_same_store),
        cmocka_unit_test(test_damaged_increment_is_refused_or_marks_the_store),
        cmocka_unit_test(test_position_of_another_store_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
