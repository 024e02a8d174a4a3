/*
 * hold_test.c: a store is one process's alone, also if files of its folder are removed.
 */
#include "tests/unit/store/store_tests.h"

#include "store/keys.h"
#include "store/lmdb/lmdb.h"
#include "tests/support/store/store_world.h"
#include "tests/support/store/temp_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define VALUE_BYTES 1000

struct world {
    struct temp_folder folder;
    struct arena arena;
    struct fault fault;
};

struct path {
    char text[TEMP_FOLDER_PATH_BYTES + 64];
};

static struct path path_of(const struct world *world, const char *name)
{
    struct path path;

    (void)snprintf(path.text, sizeof(path.text), "%s/%s", world->folder.path, name);
    return path;
}

static enum err try_open(struct world *world, const char *name, struct store_backend **ret_backend)
{
    struct path path = path_of(world, name);
    const struct store_lmdb_config config = {
        .path = path.text, .map_bytes = 64ull << 20, .reserve_bytes = 4096};

    fault_init(&world->fault, &world->arena);
    return store_lmdb_open(&config, &world->fault, ret_backend);
}

static struct store_backend *open_at(struct world *world, const char *name)
{
    struct store_backend *backend = NULL;

    assert_int_equal(try_open(world, name, &backend), OK);
    return backend;
}

static void expect_refused(struct world *world, const char *name, enum err err, const char *reason)
{
    struct store_backend *backend = NULL;
    char text[1024];

    assert_int_equal(try_open(world, name, &backend), err);
    (void)snprintf(text, sizeof(text), "%.*s", (int)world->fault.message.size,
                   (const char *)world->fault.message.data);
    assert_non_null(strstr(text, reason));
}

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));

    assert_non_null(world);
    temp_folder_init(&world->folder);
    arena_init(&world->arena, SIZE_MAX);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    arena_deinit(&world->arena);
    temp_folder_deinit(&world->folder);
    free(world);
    return 0;
}

static void remove_at(struct world *world, const char *name)
{
    assert_int_equal(unlink(path_of(world, name).text), 0);
}

static enum err put_row(struct store_backend *backend, uint64_t number, uint8_t byte)
{
    struct key key = key_event(store_world_org(1), number);
    uint8_t value[VALUE_BYTES];
    struct store_txn *txn = NULL;
    enum err err = OK;

    memset(value, byte, sizeof(value));
    assert_int_equal(store_begin(backend, STORE_WRITE, &txn), OK);
    err = store_put(txn, TABLE_SUBJECT, key_slice(&key), slice_of(value, sizeof(value)));
    assert_int_equal(err, OK);
    return store_commit(txn);
}

/* Goal: no removal of a file lets a second process in. Method: the files by which processes know each
 * other are removed, then all others; a second opening comes after both. */
static void test_files_removed(void **state)
{
    struct world *world = *state;
    struct store_backend *backend = open_at(world, "data");

    remove_at(world, "data/errata.pid");
    remove_at(world, "data/db/lock.mdb");
    expect_refused(world, "data", ERR_PRECONDITION, "is in use by another process");
    remove_at(world, "data/db/data.mdb");
    remove_at(world, "data/reserve");
    expect_refused(world, "data", ERR_PRECONDITION, "is in use by another process");
    store_lmdb_close(backend);
    expect_refused(world, "data", ERR_CORRUPT, "data.mdb is missing");
}

/* Goal: the lock is the folder's, whichever path leads to it, and the file's, whichever folder it is in.
 * Method: links to both. */
static void test_links(void **state)
{
    struct world *world = *state;
    struct path data = path_of(world, "data");
    struct path file = path_of(world, "data/db/data.mdb");
    struct store_backend *backend = open_at(world, "data");

    assert_int_equal(symlink(data.text, path_of(world, "link").text), 0);
    remove_at(world, "data/errata.pid");
    expect_refused(world, "link", ERR_PRECONDITION, "is in use by");
    assert_int_equal(mkdir(path_of(world, "other").text, 0700), 0);
    assert_int_equal(mkdir(path_of(world, "other/db").text, 0700), 0);
    assert_int_equal(link(file.text, path_of(world, "other/db/data.mdb").text), 0);
    expect_refused(world, "other", ERR_PRECONDITION, "other/db/data.mdb: is in use by");
    store_lmdb_close(backend);
    backend = open_at(world, "other");
    expect_refused(world, "data", ERR_PRECONDITION, "data/db/data.mdb: is in use by");
    store_lmdb_close(backend);
}

/* Goal: nothing is acknowledged that ends with the process. Method: the file is removed between two
 * commits; reads go on. */
static void test_lost_file(void **state)
{
    struct world *world = *state;
    struct store_backend *backend = open_at(world, "data");
    struct key key = key_event(store_world_org(1), 1);
    struct store_txn *txn = NULL;
    struct slice value = {NULL, 0};

    assert_int_equal(put_row(backend, 1, 1), OK);
    assert_false(store_lmdb_lost_file(backend));
    remove_at(world, "data/db/data.mdb");
    assert_true(store_lmdb_lost_file(backend));
    assert_int_equal(put_row(backend, 2, 1), ERR_IO);
    assert_false(store_lmdb_is_broken(backend));
    assert_int_equal(store_begin(backend, STORE_READ, &txn), OK);
    assert_int_equal(store_get(txn, TABLE_SUBJECT, key_slice(&key), &value), OK);
    store_abort(txn);
    store_lmdb_close(backend);
}

/* Goal: a map that this process has no addresses for is refused before anything is made. Method: more
 * than any process has. */
static void test_map_too_large(void **state)
{
    struct world *world = *state;
    struct path path = path_of(world, "data");
    const struct store_lmdb_config config = {.path = path.text, .map_bytes = 1ull << 60};
    struct store_backend *backend = NULL;

    fault_init(&world->fault, &world->arena);
    assert_int_equal(store_lmdb_open(&config, &world->fault, &backend), ERR_MEMORY);
    assert_int_not_equal(access(path.text, F_OK), 0);
}

int run_hold_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_files_removed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_links, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lost_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_map_too_large, setup, teardown),
    };

    return cmocka_run_group_tests_name("store hold", tests, NULL, NULL);
}
