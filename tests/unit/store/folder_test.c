/*
 * folder_test.c: hot copies, and a rebuilt store that replaces the old one.
 */
#include "tests/unit/store/store_tests.h"

#include "store/keys.h"
#include "store/lmdb/lmdb.h"
#include "store/lmdb/lmdb_copy.h"
#include "store/lmdb/lmdb_folder.h"
#include "tests/support/store/store_fixture.h"
#include "tests/support/store/temp_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAIRS 600
#define VALUE_BYTES 4000

struct fixture {
    struct temp_folder folder; /* the data folder is its `data` */
    struct arena arena;
    struct fault fault;
    struct store_backend *backend; /* back end of `data`; NULL: closed */
    uint32_t writes; /* number of writes by write_pair */
    uint32_t calls_max; /* calls of on_progress until it ends the copy; 0: unlimited */
    uint32_t calls;
};

struct path {
    char text[TEMP_FOLDER_PATH_BYTES + 64];
};

static struct path path_of(const struct fixture *fixture, const char *name)
{
    struct path path;

    (void)snprintf(path.text, sizeof(path.text), "%s/data%s", fixture->folder.path, name);
    return path;
}

static bool is_there(const struct fixture *fixture, const char *name)
{
    struct stat info;

    return lstat(path_of(fixture, name).text, &info) == 0;
}

static struct store_backend *open_at(struct fixture *fixture, const char *name)
{
    struct path path = path_of(fixture, name);
    const struct store_lmdb_config config = {
        .path = path.text, .map_bytes = 256ull << 20, .reserve_bytes = 4096};
    struct store_backend *backend = NULL;

    assert_int_equal(store_lmdb_open(&config, &fixture->fault, &backend), OK);
    return backend;
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    temp_folder_init(&fixture->folder);
    arena_init(&fixture->arena, SIZE_MAX);
    fault_init(&fixture->fault, &fixture->arena);
    fixture->backend = open_at(fixture, "");
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    store_lmdb_close(fixture->backend);
    arena_deinit(&fixture->arena);
    temp_folder_deinit(&fixture->folder);
    free(fixture);
    return 0;
}

/* Writes the n-th pair of rows, which always have the same bytes. */
static void put_pair(struct store_backend *backend, uint64_t number, uint8_t byte)
{
    static const enum store_table tables[] = {TABLE_SUBJECT, TABLE_COUNTER};
    struct key key = key_event(store_fixture_org(1), number);
    uint8_t value[VALUE_BYTES];
    struct store_txn *txn = NULL;

    memset(value, byte, sizeof(value));
    assert_int_equal(store_begin(backend, STORE_WRITE, &txn), OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(store_put(txn, tables[i], key_slice(&key), slice_of(value, sizeof(value))),
                         OK);
    }
    assert_int_equal(store_commit(txn), OK);
}

/* Checks that every row has a partner with the same bytes; returns the number of pairs. */
static size_t check_pairs(struct store_backend *backend)
{
    struct key prefix = key_org(store_fixture_org(1));
    struct store_txn *txn = NULL;
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct slice other = {NULL, 0};
    size_t count = 0;

    assert_int_equal(store_begin(backend, STORE_READ, &txn), OK);
    assert_int_equal(store_cursor_init(&cursor, txn, TABLE_SUBJECT, key_slice(&prefix),
                                       slice_of(NULL, 0), STORE_ASCENDING),
                     OK);
    while (store_cursor_next(&cursor, &key, &value) == OK) {
        assert_int_equal(store_get(txn, TABLE_COUNTER, key, &other), OK);
        assert_true(slice_equal(value, other));
        count++;
    }
    store_cursor_deinit(&cursor);
    store_abort(txn);
    return count;
}

/* Continues to write: old pairs get other bytes, new ones are added. */
static bool on_progress(void *user, uint64_t bytes)
{
    struct fixture *fixture = user;

    assert_true(bytes > 0);
    put_pair(fixture->backend, fixture->writes % PAIRS, (uint8_t)(fixture->writes / 7));
    put_pair(fixture->backend, PAIRS + ++fixture->writes, 1);
    return ++fixture->calls != fixture->calls_max;
}

/* Goal: a copy is a snapshot of the store, and opens as a store. Method: pairs of rows are changed
 * and added between any two pieces of the copy. */
static void test_copy_is_a_consistent_store(void **state)
{
    struct fixture *fixture = *state;
    struct path path = path_of(fixture, "/verify");
    const struct store_copy_to to = {
        .clock = clock_system(), .on_progress = on_progress, .user = fixture};
    struct store_backend *copy = NULL;

    for (uint64_t i = 0; i < PAIRS; i++) {
        put_pair(fixture->backend, i, (uint8_t)i);
    }
    assert_int_equal(store_lmdb_copy_to(fixture->backend, path.text, &to), OK);
    assert_true(fixture->calls > 10);
    copy = open_at(fixture, "/verify");
    assert_true(check_pairs(copy) >= PAIRS);
    assert_true(check_pairs(copy) < check_pairs(fixture->backend));
    store_lmdb_close(copy);
    store_lmdb_remove_folder(path.text);
    assert_false(is_there(fixture, "/verify"));
    assert_int_equal(check_pairs(fixture->backend), PAIRS + fixture->writes);
}

/* Goal: a copy stops on request, and limits its rate. Method: a stop at the first piece and later;
 * a low rate, measured by a clock. */
static void test_copy_stops_on_request_and_limits_its_rate(void **state)
{
    struct fixture *fixture = *state;
    struct path path = path_of(fixture, "/verify");
    struct store_copy_to to = {
        .clock = clock_system(), .on_progress = on_progress, .user = fixture};
    int64_t start_us = 0;

    for (uint64_t i = 0; i < PAIRS; i++) {
        put_pair(fixture->backend, i, (uint8_t)i);
    }
    for (uint32_t calls = 1; calls <= 3; calls += 2) {
        fixture->calls = 0;
        fixture->calls_max = calls;
        assert_int_equal(store_lmdb_copy_to(fixture->backend, path.text, &to), ERR_CANCELLED);
        assert_int_equal(fixture->calls, calls);
        store_lmdb_remove_folder(path.text);
        assert_false(is_there(fixture, "/verify"));
    }
    fixture->calls_max = 0;
    to.bytes_a_second = 50u << 20;
    start_us = clock_monotonic_us(clock_system());
    assert_int_equal(store_lmdb_copy_to(fixture->backend, path.text, &to), OK);
    assert_true(clock_monotonic_us(clock_system()) - start_us > 60000); /* for 4.8 MB and more */
    store_lmdb_remove_folder(path.text);
}

/* A new store beside the old one, as a rebuild leaves it: 3 pairs there, 5 in the old one. */
static void make_both(struct fixture *fixture)
{
    struct store_backend *rebuilt = open_at(fixture, "/" STORE_LMDB_REBUILD_FOLDER);

    for (uint64_t i = 0; i < 5; i++) {
        put_pair(fixture->backend, i, 1);
        if (i < 3) {
            put_pair(rebuilt, i, 1);
        }
    }
    store_lmdb_close(rebuilt);
}

static void reopen(struct fixture *fixture)
{
    store_lmdb_close(fixture->backend);
    fixture->backend = open_at(fixture, "");
    assert_true(is_there(fixture, "/db/data.mdb"));
    assert_false(is_there(fixture, "/db.old"));
    assert_false(is_there(fixture, "/" STORE_LMDB_REBUILD_FOLDER));
}

/* Goal: the new store replaces the old one, which is then deleted. Method: a replacement while the
 * old one is open. */
static void test_replaced_store_is_gone(void **state)
{
    struct fixture *fixture = *state;

    make_both(fixture);
    assert_int_equal(store_lmdb_replace(path_of(fixture, "").text), OK);
    assert_false(is_there(fixture, "/db.old"));
    assert_false(is_there(fixture, "/" STORE_LMDB_REBUILD_FOLDER));
    assert_int_equal(check_pairs(fixture->backend), 5); /* open, but unlinked */
    reopen(fixture);
    assert_int_equal(check_pairs(fixture->backend), 3);
}

static void rename_in(struct fixture *fixture, const char *from, const char *to)
{
    struct path old = path_of(fixture, from);
    struct path new = path_of(fixture, to);

    assert_int_equal(rename(old.text, new.text), 0);
}

/* Goal: after an interruption at any step, the next opening finds one of the two stores, complete,
 * and nothing else. Method: the files of each step are made by hand. */
static void test_interrupted_replacement_leaves_one_store(void **state)
{
    struct fixture *fixture = *state;

    make_both(fixture); /* before the first step */
    reopen(fixture);
    assert_int_equal(check_pairs(fixture->backend), 5);

    make_both(fixture); /* between the two renames */
    rename_in(fixture, "/db", "/db.old");
    reopen(fixture);
    assert_int_equal(check_pairs(fixture->backend), 5);

    make_both(fixture); /* after them */
    rename_in(fixture, "/db", "/db.old");
    rename_in(fixture, "/" STORE_LMDB_REBUILD_FOLDER "/db", "/db");
    reopen(fixture);
    assert_int_equal(check_pairs(fixture->backend), 3);

    make_both(fixture); /* while the old one is removed */
    rename_in(fixture, "/db", "/db.old");
    rename_in(fixture, "/" STORE_LMDB_REBUILD_FOLDER "/db", "/db");
    assert_int_equal(unlink(path_of(fixture, "/db.old/data.mdb").text), 0);
    reopen(fixture);
    assert_int_equal(check_pairs(fixture->backend), 3);

    make_both(fixture); /* the new store is incomplete */
    assert_int_equal(unlink(path_of(fixture, "/" STORE_LMDB_REBUILD_FOLDER "/db/data.mdb").text),
                     0);
    reopen(fixture);
    assert_int_equal(check_pairs(fixture->backend), 5);
}

/* Goal: the old store is deleted only after the new one was found complete; until then it can be
 * restored. Method: interrupted after the renames, the new file truncated; then it is removed. */
static void test_old_store_is_kept_until_the_new_one_is_checked(void **state)
{
    struct fixture *fixture = *state;
    struct path path = path_of(fixture, "");
    const struct store_lmdb_config config = {
        .path = path.text, .map_bytes = 256ull << 20, .reserve_bytes = 4096};

    make_both(fixture);
    rename_in(fixture, "/db", "/db.old");
    rename_in(fixture, "/" STORE_LMDB_REBUILD_FOLDER "/db", "/db");
    assert_int_equal(truncate(path_of(fixture, "/db/data.mdb").text, 100), 0);
    store_lmdb_close(fixture->backend);
    fixture->backend = NULL;
    assert_int_equal(store_lmdb_open(&config, &fixture->fault, &fixture->backend), ERR_CORRUPT);
    assert_true(is_there(fixture, "/db.old/data.mdb"));
    rename_in(fixture, "/db", "/aside");
    reopen(fixture);
    assert_int_equal(check_pairs(fixture->backend), 5);
}

/* Goal: a replacement that fails leaves the old store in its place. Method: the new one is
 * missing. */
static void test_failed_replacement_keeps_the_old_store(void **state)
{
    struct fixture *fixture = *state;

    put_pair(fixture->backend, 1, 1);
    assert_int_equal(store_lmdb_replace(path_of(fixture, "").text), ERR_IO);
    assert_true(is_there(fixture, "/db/data.mdb"));
    assert_false(is_there(fixture, "/db.old"));
    reopen(fixture);
    assert_int_equal(check_pairs(fixture->backend), 1);
}

int run_folder_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_copy_is_a_consistent_store, setup, teardown),
        cmocka_unit_test_setup_teardown(test_copy_stops_on_request_and_limits_its_rate, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_replaced_store_is_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_interrupted_replacement_leaves_one_store, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_old_store_is_kept_until_the_new_one_is_checked, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_failed_replacement_keeps_the_old_store, setup,
                                        teardown),
    };

    return cmocka_run_group_tests_name("store folder", tests, NULL, NULL);
}
