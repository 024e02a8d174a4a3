/*
 * hold_test.c: only one process has a store, also if files of its folder are removed; and a copy
 * that was made while it is open is recognised.
 */
#include "tests/unit/store/store_tests.h"

#include "store/keys.h"
#include "store/lmdb/lmdb.h"
#include "tests/support/store/store_fixture.h"
#include "tests/support/store/temp_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS 400
#define VALUE_BYTES 1000
#define META_BYTES (2 * 4096)
#define COPY_BYTES 65536

struct fixture {
    struct temp_folder folder;
    struct arena arena;
    struct fault fault;
};

struct path {
    char text[TEMP_FOLDER_PATH_BYTES + 64];
};

static struct path path_of(const struct fixture *fixture, const char *name)
{
    struct path path;

    (void)snprintf(path.text, sizeof(path.text), "%s/%s", fixture->folder.path, name);
    return path;
}

static enum err try_open(struct fixture *fixture, const char *name,
                         struct store_backend **ret_backend)
{
    struct path path = path_of(fixture, name);
    const struct store_lmdb_config config = {
        .path = path.text, .map_bytes = 64ull << 20, .reserve_bytes = 4096};

    fault_init(&fixture->fault, &fixture->arena);
    return store_lmdb_open(&config, &fixture->fault, ret_backend);
}

static struct store_backend *open_at(struct fixture *fixture, const char *name)
{
    struct store_backend *backend = NULL;

    assert_int_equal(try_open(fixture, name, &backend), OK);
    return backend;
}

static void expect_refused(struct fixture *fixture, const char *name, enum err err,
                           const char *reason)
{
    struct store_backend *backend = NULL;
    char text[1024];

    assert_int_equal(try_open(fixture, name, &backend), err);
    (void)snprintf(text, sizeof(text), "%.*s", (int)fixture->fault.message.size,
                   (const char *)fixture->fault.message.data);
    assert_non_null(strstr(text, reason));
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    temp_folder_init(&fixture->folder);
    arena_init(&fixture->arena, SIZE_MAX);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    arena_deinit(&fixture->arena);
    temp_folder_deinit(&fixture->folder);
    free(fixture);
    return 0;
}

static void remove_at(struct fixture *fixture, const char *name)
{
    assert_int_equal(unlink(path_of(fixture, name).text), 0);
}

static enum err put_row(struct store_backend *backend, uint64_t number, uint8_t byte)
{
    struct key key = key_event(store_fixture_org(1), number);
    uint8_t value[VALUE_BYTES];
    struct store_txn *txn = NULL;
    enum err err = OK;

    memset(value, byte, sizeof(value));
    assert_int_equal(store_begin(backend, STORE_WRITE, &txn), OK);
    err = store_put(txn, TABLE_SUBJECT, key_slice(&key), slice_of(value, sizeof(value)));
    assert_int_equal(err, OK);
    return store_commit(txn);
}

static void fill(struct store_backend *backend, uint64_t from)
{
    for (uint64_t i = from; i < from + ROWS; i++) {
        assert_int_equal(put_row(backend, i, 1), OK);
    }
}

/* Goal: a second process cannot open the store after the removal of any file. Method: the lock
 * files are removed, then all others; a second opening after both. */
static void test_removed_lock_files_admit_no_second_process(void **state)
{
    struct fixture *fixture = *state;
    struct store_backend *backend = open_at(fixture, "data");

    remove_at(fixture, "data/errata.pid");
    remove_at(fixture, "data/db/lock.mdb");
    expect_refused(fixture, "data", ERR_PRECONDITION, "in use by another process");
    remove_at(fixture, "data/db/state");
    remove_at(fixture, "data/db/data.mdb");
    remove_at(fixture, "data/reserve");
    expect_refused(fixture, "data", ERR_PRECONDITION, "in use by another process");
    store_lmdb_close(backend);
    expect_refused(fixture, "data", ERR_CORRUPT, "data.mdb is missing");
}

/* Goal: a program that locks only errata.pid, as earlier ones did, excludes others, and its process
 * id is named. Method: such a lock. */
static void test_lock_of_an_earlier_program_is_respected(void **state)
{
    struct fixture *fixture = *state;
    char holder[64];
    int fd = -1;

    store_lmdb_close(open_at(fixture, "data"));
    fd = open(path_of(fixture, "data/errata.pid").text, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    (void)snprintf(holder, sizeof(holder), "in use by process %d", (int)getpid());
    expect_refused(fixture, "data", ERR_PRECONDITION, holder);
    assert_int_equal(close(fd), 0);
    store_lmdb_close(open_at(fixture, "data"));
}

/* Goal: the lock applies to the folder by any path, and to the file in any folder. Method: links to
 * both. */
static void test_lock_is_found_through_any_path(void **state)
{
    struct fixture *fixture = *state;
    struct path data = path_of(fixture, "data");
    struct path file = path_of(fixture, "data/db/data.mdb");
    struct store_backend *backend = open_at(fixture, "data");

    assert_int_equal(symlink(data.text, path_of(fixture, "link").text), 0);
    remove_at(fixture, "data/errata.pid");
    expect_refused(fixture, "link", ERR_PRECONDITION, "in use by");
    assert_int_equal(mkdir(path_of(fixture, "other").text, 0700), 0);
    assert_int_equal(mkdir(path_of(fixture, "other/db").text, 0700), 0);
    assert_int_equal(link(file.text, path_of(fixture, "other/db/data.mdb").text), 0);
    expect_refused(fixture, "other", ERR_PRECONDITION, "other/db/data.mdb: in use by");
    store_lmdb_close(backend);
    backend = open_at(fixture, "other");
    expect_refused(fixture, "data", ERR_PRECONDITION, "data/db/data.mdb: in use by");
    store_lmdb_close(backend);
}

/* Goal: no write is acknowledged that would be lost when the process ends. Method: the file is
 * removed between two commits; reads continue. */
static void test_write_to_a_removed_file_is_not_acknowledged(void **state)
{
    struct fixture *fixture = *state;
    struct store_backend *backend = open_at(fixture, "data");
    struct key key = key_event(store_fixture_org(1), 1);
    struct store_txn *txn = NULL;
    struct slice value = {NULL, 0};

    assert_int_equal(put_row(backend, 1, 1), OK);
    assert_false(store_lmdb_lost_file(backend));
    remove_at(fixture, "data/db/data.mdb");
    assert_true(store_lmdb_lost_file(backend));
    assert_int_equal(put_row(backend, 2, 1), ERR_IO);
    assert_false(store_lmdb_is_broken(backend));
    assert_int_equal(store_begin(backend, STORE_READ, &txn), OK);
    assert_int_equal(store_get(txn, TABLE_SUBJECT, key_slice(&key), &value), OK);
    store_abort(txn);
    store_lmdb_close(backend);
}

/* Copies bytes of a file from `offset` on to the same place of another. */
static void copy_bytes(struct fixture *fixture, const char *from, const char *to, off_t offset,
                       size_t bytes_max)
{
    static uint8_t bytes[COPY_BYTES];
    int source = open(path_of(fixture, from).text, O_RDONLY | O_CLOEXEC);
    int target = open(path_of(fixture, to).text, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ssize_t size = 1;

    assert_true(source >= 0 && target >= 0);
    while (size > 0 && bytes_max > 0) {
        size_t wanted = bytes_max < sizeof(bytes) ? bytes_max : sizeof(bytes);

        size = pread(source, bytes, wanted, offset);
        assert_true(size >= 0);
        assert_int_equal(pwrite(target, bytes, (size_t)size, offset), size);
        offset += size;
        bytes_max -= (size_t)size;
    }
    assert_int_equal(close(source), 0);
    assert_int_equal(close(target), 0);
}

static void make_copy_folder(struct fixture *fixture)
{
    assert_int_equal(mkdir(path_of(fixture, "copy").text, 0700), 0);
    assert_int_equal(mkdir(path_of(fixture, "copy/db").text, 0700), 0);
    copy_bytes(fixture, "data/db/state", "copy/db/state", 0, SIZE_MAX);
}

static bool is_copy(struct fixture *fixture, const char *name)
{
    struct store_backend *backend = open_at(fixture, name);
    bool copied = store_lmdb_is_copy(backend);

    store_lmdb_close(backend);
    return copied;
}

/* Goal: a copy of an open store is reported until it is accepted. Method: copy the files, open the
 * copy repeatedly. */
static void test_copy_of_an_open_store_needs_acceptance(void **state)
{
    struct fixture *fixture = *state;
    struct store_backend *backend = open_at(fixture, "data");
    struct store_backend *copy = NULL;

    fill(backend, 1);
    make_copy_folder(fixture);
    copy_bytes(fixture, "data/db/data.mdb", "copy/db/data.mdb", 0, SIZE_MAX);
    store_lmdb_close(backend);
    assert_true(is_copy(fixture, "copy"));
    assert_true(is_copy(fixture, "copy"));
    copy = open_at(fixture, "copy");
    store_lmdb_accept_copy(copy);
    assert_false(store_lmdb_is_copy(copy));
    store_lmdb_close(copy);
    assert_false(is_copy(fixture, "copy"));
    assert_false(is_copy(fixture, "data"));
}

/* Goal: a copy with pages of two commits is refused, and the message names the remedy. Method: the
 * meta pages are copied, then many rows are written, then the rest is copied. */
static void test_inconsistent_copy_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct store_backend *backend = open_at(fixture, "data");

    fill(backend, 1);
    make_copy_folder(fixture);
    copy_bytes(fixture, "data/db/data.mdb", "copy/db/data.mdb", 0, META_BYTES);
    fill(backend, ROWS + 1);
    copy_bytes(fixture, "data/db/data.mdb", "copy/db/data.mdb", META_BYTES, SIZE_MAX);
    store_lmdb_close(backend);
    expect_refused(fixture, "copy", ERR_CORRUPT,
                   "inconsistent copy, made while a server was writing");
    expect_refused(fixture, "copy", ERR_CORRUPT, "errata admin backup");
    assert_false(is_copy(fixture, "data"));
}

/* Goal: a store that is not a copy is not reported as one. Method: a copy of a closed store; one
 * whose process was killed, in its place and moved; a state that a power cut left empty, or half
 * written. */
static void test_original_store_is_not_taken_for_a_copy(void **state)
{
    struct fixture *fixture = *state;
    struct path state_path = path_of(fixture, "copy/db/state");
    pid_t child = 0;

    store_lmdb_close(open_at(fixture, "data"));
    make_copy_folder(fixture);
    copy_bytes(fixture, "data/db/data.mdb", "copy/db/data.mdb", 0, SIZE_MAX);
    assert_false(is_copy(fixture, "copy"));
    child = fork();
    if (child == 0) {
        (void)open_at(fixture, "copy");
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(rename(path_of(fixture, "copy").text, path_of(fixture, "moved").text), 0);
    assert_false(is_copy(fixture, "moved"));
    assert_int_equal(rename(path_of(fixture, "moved").text, path_of(fixture, "copy").text), 0);
    assert_int_equal(truncate(state_path.text, 0), 0);
    assert_false(is_copy(fixture, "copy"));
    assert_int_equal(truncate(state_path.text, 20), 0);
    assert_false(is_copy(fixture, "copy"));
}

/* Goal: a map that does not fit into the address space is refused before anything is created.
 * Method: a size above any address space. */
static void test_map_without_address_space_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct path path = path_of(fixture, "data");
    const struct store_lmdb_config config = {.path = path.text, .map_bytes = 1ull << 60};
    struct store_backend *backend = NULL;

    fault_init(&fixture->fault, &fixture->arena);
    assert_int_equal(store_lmdb_open(&config, &fixture->fault, &backend), ERR_MEMORY);
    assert_int_not_equal(access(path.text, F_OK), 0);
}

int run_hold_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_removed_lock_files_admit_no_second_process, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_lock_of_an_earlier_program_is_respected, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_lock_is_found_through_any_path, setup, teardown),
        cmocka_unit_test_setup_teardown(test_write_to_a_removed_file_is_not_acknowledged, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_copy_of_an_open_store_needs_acceptance, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_inconsistent_copy_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_original_store_is_not_taken_for_a_copy, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_map_without_address_space_is_refused, setup, teardown),
    };

    return cmocka_run_group_tests_name("store hold", tests, NULL, NULL);
}
