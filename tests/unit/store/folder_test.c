/*
 * folder_test.c: hot copies, and a rebuilt store that takes the place of the old one.
 */
#include "tests/unit/store/store_tests.h"

#include "store/keys.h"
#include "store/lmdb/lmdb.h"
#include "store/lmdb/lmdb_copy.h"
#include "store/lmdb/lmdb_folder.h"
#include "tests/support/store/store_world.h"
#include "tests/support/store/temp_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAIRS 600
#define VALUE_BYTES 4000

struct world {
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

static struct path path_of(const struct world *world, const char *name)
{
    struct path path;

    (void)snprintf(path.text, sizeof(path.text), "%s/data%s", world->folder.path, name);
    return path;
}

static bool is_there(const struct world *world, const char *name)
{
    struct stat info;

    return lstat(path_of(world, name).text, &info) == 0;
}

static struct store_backend *open_at(struct world *world, const char *name)
{
    struct path path = path_of(world, name);
    const struct store_lmdb_config config = {
        .path = path.text, .map_bytes = 256ull << 20, .reserve_bytes = 4096};
    struct store_backend *backend = NULL;

    assert_int_equal(store_lmdb_open(&config, &world->fault, &backend), OK);
    return backend;
}

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));

    assert_non_null(world);
    temp_folder_init(&world->folder);
    arena_init(&world->arena, SIZE_MAX);
    fault_init(&world->fault, &world->arena);
    world->backend = open_at(world, "");
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    store_lmdb_close(world->backend);
    arena_deinit(&world->arena);
    temp_folder_deinit(&world->folder);
    free(world);
    return 0;
}

/* The n-th pair of rows that always have the same bytes. */
static void put_pair(struct store_backend *backend, uint64_t number, uint8_t byte)
{
    static const enum store_table tables[] = {TABLE_SUBJECT, TABLE_COUNTER};
    struct key key = key_event(store_world_org(1), number);
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

/* Every row has its partner, with the same bytes; returns how many pairs there are. */
static size_t check_pairs(struct store_backend *backend)
{
    struct key prefix = key_org(store_world_org(1));
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

/* Writes continue: old pairs get other bytes, new ones come. */
static bool on_progress(void *user, uint64_t bytes)
{
    struct world *world = user;

    assert_true(bytes > 0);
    put_pair(world->backend, world->writes % PAIRS, (uint8_t)(world->writes / 7));
    put_pair(world->backend, PAIRS + ++world->writes, 1);
    return ++world->calls != world->calls_max;
}

/* Goal: a copy is one moment of the store, and opens as a store. Method: while it is made, rows
 * that belong together are changed and added between any two pieces of it. */
static void test_copy_is_a_consistent_store(void **state)
{
    struct world *world = *state;
    struct path path = path_of(world, "/verify");
    const struct store_copy_to to = {
        .clock = clock_system(), .on_progress = on_progress, .user = world};
    struct store_backend *copy = NULL;

    for (uint64_t i = 0; i < PAIRS; i++) {
        put_pair(world->backend, i, (uint8_t)i);
    }
    assert_int_equal(store_lmdb_copy_to(world->backend, path.text, &to), OK);
    assert_true(world->calls > 10);
    copy = open_at(world, "/verify");
    assert_true(check_pairs(copy) >= PAIRS);
    assert_true(check_pairs(copy) < check_pairs(world->backend));
    store_lmdb_close(copy);
    store_lmdb_remove_folder(path.text);
    assert_false(is_there(world, "/verify"));
    assert_int_equal(check_pairs(world->backend), PAIRS + world->writes);
}

/* Goal: a copy stops on request, and limits its rate. Method: a stop at the first piece and later;
 * a rate that makes some megabytes take their time, by a clock. */
static void test_copy_stops_on_request_and_limits_its_rate(void **state)
{
    struct world *world = *state;
    struct path path = path_of(world, "/verify");
    struct store_copy_to to = {.clock = clock_system(), .on_progress = on_progress, .user = world};
    int64_t start_us = 0;

    for (uint64_t i = 0; i < PAIRS; i++) {
        put_pair(world->backend, i, (uint8_t)i);
    }
    for (uint32_t calls = 1; calls <= 3; calls += 2) {
        world->calls = 0;
        world->calls_max = calls;
        assert_int_equal(store_lmdb_copy_to(world->backend, path.text, &to), ERR_CANCELLED);
        assert_int_equal(world->calls, calls);
        store_lmdb_remove_folder(path.text);
        assert_false(is_there(world, "/verify"));
    }
    world->calls_max = 0;
    to.bytes_a_second = 50u << 20;
    start_us = clock_monotonic_us(clock_system());
    assert_int_equal(store_lmdb_copy_to(world->backend, path.text, &to), OK);
    assert_true(clock_monotonic_us(clock_system()) - start_us > 60000); /* for 4.8 MB and more */
    store_lmdb_remove_folder(path.text);
}

/* A new store beside the old one, as a rebuild leaves it: 3 pairs there, 5 in the old one. */
static void make_both(struct world *world)
{
    struct store_backend *rebuilt = open_at(world, "/" STORE_LMDB_REBUILD_FOLDER);

    for (uint64_t i = 0; i < 5; i++) {
        put_pair(world->backend, i, 1);
        if (i < 3) {
            put_pair(rebuilt, i, 1);
        }
    }
    store_lmdb_close(rebuilt);
}

static void reopen(struct world *world)
{
    store_lmdb_close(world->backend);
    world->backend = open_at(world, "");
    assert_true(is_there(world, "/db/data.mdb"));
    assert_false(is_there(world, "/db.old"));
    assert_false(is_there(world, "/" STORE_LMDB_REBUILD_FOLDER));
}

/* Goal: the new store takes the old one's place, which is then deleted. Method: a replacement while
 * the old one is open. */
static void test_replaced_store_is_gone(void **state)
{
    struct world *world = *state;

    make_both(world);
    assert_int_equal(store_lmdb_replace(path_of(world, "").text), OK);
    assert_false(is_there(world, "/db.old"));
    assert_false(is_there(world, "/" STORE_LMDB_REBUILD_FOLDER));
    assert_int_equal(check_pairs(world->backend), 5); /* open, but unlinked */
    reopen(world);
    assert_int_equal(check_pairs(world->backend), 3);
}

static void rename_in(struct world *world, const char *from, const char *to)
{
    struct path old = path_of(world, from);
    struct path new = path_of(world, to);

    assert_int_equal(rename(old.text, new.text), 0);
}

/* Goal: interrupted at any step, the next opening finds one of the two stores, whole, and nothing
 * else. Method: each step's names, made by hand. */
static void test_interrupted_replacement_leaves_one_store(void **state)
{
    struct world *world = *state;

    make_both(world); /* before the first step */
    reopen(world);
    assert_int_equal(check_pairs(world->backend), 5);

    make_both(world); /* between the two renames */
    rename_in(world, "/db", "/db.old");
    reopen(world);
    assert_int_equal(check_pairs(world->backend), 5);

    make_both(world); /* after them */
    rename_in(world, "/db", "/db.old");
    rename_in(world, "/" STORE_LMDB_REBUILD_FOLDER "/db", "/db");
    reopen(world);
    assert_int_equal(check_pairs(world->backend), 3);

    make_both(world); /* while the old one is removed */
    rename_in(world, "/db", "/db.old");
    rename_in(world, "/" STORE_LMDB_REBUILD_FOLDER "/db", "/db");
    assert_int_equal(unlink(path_of(world, "/db.old/data.mdb").text), 0);
    reopen(world);
    assert_int_equal(check_pairs(world->backend), 3);

    make_both(world); /* the new store is half made */
    assert_int_equal(unlink(path_of(world, "/" STORE_LMDB_REBUILD_FOLDER "/db/data.mdb").text), 0);
    reopen(world);
    assert_int_equal(check_pairs(world->backend), 5);
}

/* Goal: the old store is deleted only after the new one was found whole: until then it can be
 * restored. Method: interrupted after the renames, the new file truncated; then it is removed. */
static void test_old_store_is_kept_until_the_new_one_is_checked(void **state)
{
    struct world *world = *state;
    struct path path = path_of(world, "");
    const struct store_lmdb_config config = {
        .path = path.text, .map_bytes = 256ull << 20, .reserve_bytes = 4096};

    make_both(world);
    rename_in(world, "/db", "/db.old");
    rename_in(world, "/" STORE_LMDB_REBUILD_FOLDER "/db", "/db");
    assert_int_equal(truncate(path_of(world, "/db/data.mdb").text, 100), 0);
    store_lmdb_close(world->backend);
    world->backend = NULL;
    assert_int_equal(store_lmdb_open(&config, &world->fault, &world->backend), ERR_CORRUPT);
    assert_true(is_there(world, "/db.old/data.mdb"));
    rename_in(world, "/db", "/aside");
    reopen(world);
    assert_int_equal(check_pairs(world->backend), 5);
}

/* Goal: a replacement that fails leaves the old store in its place. Method: the new one is
 * missing. */
static void test_failed_replacement_keeps_the_old_store(void **state)
{
    struct world *world = *state;

    put_pair(world->backend, 1, 1);
    assert_int_equal(store_lmdb_replace(path_of(world, "").text), ERR_IO);
    assert_true(is_there(world, "/db/data.mdb"));
    assert_false(is_there(world, "/db.old"));
    reopen(world);
    assert_int_equal(check_pairs(world->backend), 1);
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
