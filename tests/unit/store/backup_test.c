/*
 * backup_test.c: backup files, and data folders made from them.
 */
#include "tests/unit/store/store_tests.h"

#include "store/base/bytes.h"
#include "store/keys.h"
#include "store/lmdb/lmdb.h"
#include "store/lmdb/lmdb_copy.h"
#include "store/lmdb/lmdb_restore.h"
#include "tests/support/store/store_fixture.h"
#include "tests/support/store/temp_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS 300
#define VALUE_BYTES 900
#define CREATED_AT_US INT64_C(1767225600123456)

struct fixture {
    struct temp_folder folder; /* contains `data`, `file` and `restored` */
    struct arena arena;
    struct fault fault;
    uint8_t *bytes; /* bytes of the backup */
    size_t size;
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

static bool is_there(const struct fixture *fixture, const char *name)
{
    struct stat info;

    return lstat(path_of(fixture, name).text, &info) == 0;
}

static struct store_backend *open_at(struct fixture *fixture, const char *name)
{
    struct path path = path_of(fixture, name);
    const struct store_lmdb_config config = {
        .path = path.text, .map_bytes = 64ull << 20, .reserve_bytes = 4096};
    struct store_backend *backend = NULL;

    assert_int_equal(store_lmdb_open(&config, &fixture->fault, &backend), OK);
    return backend;
}

static struct key row_key(uint64_t number)
{
    return key_event(store_fixture_org(1), number);
}

static void put_rows(struct store_backend *backend)
{
    uint8_t value[VALUE_BYTES];
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(backend, STORE_WRITE, &txn), OK);
    for (uint64_t i = 0; i < ROWS; i++) {
        struct key key = row_key(i);

        memset(value, (int)i, sizeof(value));
        assert_int_equal(
            store_put(txn, TABLE_SUBJECT, key_slice(&key), slice_of(value, sizeof(value))), OK);
    }
    assert_int_equal(store_commit(txn), OK);
}

static void check_rows(struct store_backend *backend)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(backend, STORE_READ, &txn), OK);
    for (uint64_t i = 0; i < ROWS; i++) {
        struct key key = row_key(i);
        struct slice value = {NULL, 0};

        assert_int_equal(store_get(txn, TABLE_SUBJECT, key_slice(&key), &value), OK);
        assert_int_equal(value.size, VALUE_BYTES);
        assert_int_equal(value.data[VALUE_BYTES - 1], (uint8_t)i);
    }
    store_abort(txn);
}

static enum err take(void *user, struct slice bytes)
{
    struct fixture *fixture = user;

    fixture->bytes = realloc(fixture->bytes, fixture->size + bytes.size + BACKUP_END_BYTES);
    assert_non_null(fixture->bytes);
    memcpy(fixture->bytes + fixture->size, bytes.data, bytes.size);
    fixture->size += bytes.size;
    return OK;
}

/* Appends the trailer that belongs to the bytes before it. */
static void seal(struct fixture *fixture, size_t data_end)
{
    struct sha256_state state;

    sha256_begin(&state);
    sha256_add(&state, slice_of(fixture->bytes, data_end));
    fixture->size = data_end + BACKUP_END_BYTES;
    backup_end_write(fixture->size, 0, &state, fixture->bytes + data_end);
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    const struct backup_info info = {.format = STORE_FORMAT_VERSION,
                                     .created_at_us = CREATED_AT_US};
    uint8_t head[BACKUP_HEAD_BYTES];
    struct store_copy copy = {.clock = clock_system(), .take = take, .user = fixture};
    struct store_backend *backend = NULL;

    assert_non_null(fixture);
    temp_folder_init(&fixture->folder);
    arena_init(&fixture->arena, SIZE_MAX);
    fault_init(&fixture->fault, &fixture->arena);
    backend = open_at(fixture, "data");
    put_rows(backend);
    backup_head_write(&info, head);
    assert_int_equal(take(fixture, slice_of(head, sizeof(head))), OK);
    assert_int_equal(store_lmdb_copy(backend, &copy), OK);
    seal(fixture, fixture->size);
    store_lmdb_close(backend);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    arena_deinit(&fixture->arena);
    temp_folder_deinit(&fixture->folder);
    free(fixture->bytes);
    free(fixture);
    return 0;
}

static void write_file(struct fixture *fixture, size_t size)
{
    FILE *file = fopen(path_of(fixture, "file").text, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(fixture->bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static enum err restore(struct fixture *fixture, struct backup_info *info)
{
    struct path file = path_of(fixture, "file");
    struct path path = path_of(fixture, "restored");
    const struct store_restore order = {.file = file.text, .path = path.text};

    fault_init(&fixture->fault, &fixture->arena);
    return store_lmdb_restore(&order, &fixture->fault, info);
}

static void expect_refused(struct fixture *fixture, enum err wanted, const char *why)
{
    struct backup_info info;
    enum err err = restore(fixture, &info);
    struct slice message = fixture->fault.message;

    if (err != wanted || memmem(message.data, message.size, why, strlen(why)) == NULL) {
        fail_msg("%s: %.*s", err_name(err), (int)message.size, (const char *)message.data);
    }
}

/* Goal: a restored backup has the same rows, and opens. Method: a missing folder, an empty one, and
 * one with the remains of an interrupted restore. */
static void test_restored_backup_opens(void **state)
{
    struct fixture *fixture = *state;
    struct path path = path_of(fixture, "restored");
    struct backup_info info;

    write_file(fixture, fixture->size);
    for (unsigned round = 0; round < 3; round++) {
        struct store_backend *backend = NULL;

        assert_true(round == 0 || mkdir(path.text, 0700) == 0);
        if (round == 2) {
            struct path unfinished = path_of(fixture, "restored/db.new");

            assert_int_equal(mkdir(unfinished.text, 0700), 0);
            unfinished = path_of(fixture, "restored/db.new/data.mdb");
            assert_int_equal(close(open(unfinished.text, O_CREAT | O_WRONLY, 0600)), 0);
        }
        assert_int_equal(restore(fixture, &info), OK);
        assert_int_equal(info.format, STORE_FORMAT_VERSION);
        assert_int_equal(info.created_at_us, CREATED_AT_US);
        assert_int_equal(info.file_bytes, fixture->size);
        assert_false(is_there(fixture, "restored/db.new"));
        backend = open_at(fixture, "restored");
        check_rows(backend);
        store_lmdb_close(backend);
        expect_refused(fixture, ERR_PRECONDITION, "not empty");
        backend = open_at(fixture, "restored"); /* the store is unchanged */
        check_rows(backend);
        store_lmdb_close(backend);
        assert_int_equal(rename(path.text, path_of(fixture, round == 0   ? "0"
                                                            : round == 1 ? "1"
                                                                         : "2")
                                               .text),
                         0);
    }
}

/* Goal: a file that is truncated or has another byte anywhere is refused, and nothing is created.
 * Method: many lengths; a changed bit in each part of the file. */
static void test_damaged_backup_is_refused(void **state)
{
    struct fixture *fixture = *state;
    size_t data_end = fixture->size - BACKUP_END_BYTES;
    const size_t lengths[] = {BACKUP_HEAD_BYTES + BACKUP_END_BYTES,
                              BACKUP_HEAD_BYTES + BACKUP_END_BYTES + 1,
                              fixture->size / 2,
                              data_end - 1,
                              data_end,
                              fixture->size - 1};
    const size_t places[] = {16,
                             31,
                             63,
                             64,
                             fixture->size / 2,
                             data_end - 1,
                             data_end,
                             data_end + 16,
                             data_end + 31,
                             data_end + 32,
                             fixture->size - 1};

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        write_file(fixture, lengths[i]);
        expect_refused(fixture, ERR_CORRUPT, "incomplete");
        assert_false(is_there(fixture, "restored"));
    }
    for (size_t i = 1; i < sizeof(places) / sizeof(places[0]); i++) {
        fixture->bytes[places[i]] ^= 0x10;
        write_file(fixture, fixture->size);
        expect_refused(fixture, ERR_CORRUPT, "; expected ");
        assert_false(is_there(fixture, "restored"));
        fixture->bytes[places[i]] ^= 0x10;
    }
    take(fixture, SLICE("more"));
    write_file(fixture, fixture->size);
    expect_refused(fixture, ERR_CORRUPT, "incomplete or changed");
}

/* Goal: a file that is not a backup, or that only another version can read, is reported as such.
 * Method: other files; headers of later and of earlier versions, with valid checksums. */
static void test_foreign_file_is_named(void **state)
{
    struct fixture *fixture = *state;
    size_t data_end = fixture->size - BACKUP_END_BYTES;

    (void)unlink(path_of(fixture, "file").text);
    expect_refused(fixture, ERR_IO, "cannot be read: No such file");
    write_file(fixture, 0);
    expect_refused(fixture, ERR_INVALID, "not a backup");
    write_file(fixture, 100);
    expect_refused(fixture, ERR_INVALID, "not a backup");
    fixture->bytes[14] = '2';
    seal(fixture, data_end);
    write_file(fixture, fixture->size);
    expect_refused(fixture, ERR_INVALID, "backup of version 2");
    fixture->bytes[14] = '1';
    bytes_put_be32(fixture->bytes + 16, STORE_FORMAT_VERSION + 1);
    seal(fixture, data_end);
    write_file(fixture, fixture->size);
    expect_refused(fixture, ERR_INVALID, "expected the program that wrote it");
    bytes_put_be32(fixture->bytes + 16, STORE_FORMAT_OLDEST - 1);
    seal(fixture, data_end);
    write_file(fixture, fixture->size);
    expect_refused(fixture, ERR_INVALID, "cannot migrate");
    memmove(fixture->bytes, fixture->bytes + BACKUP_HEAD_BYTES, data_end - BACKUP_HEAD_BYTES);
    write_file(fixture, data_end - BACKUP_HEAD_BYTES); /* LMDB's file */
    expect_refused(fixture, ERR_INVALID, "not a backup");
    assert_false(is_there(fixture, "restored"));
}

/* Goal: a backup of a store that was damaged is not restored. Method: a page of its data is
 * overwritten, and the checksum is computed again. */
static void test_backup_of_a_damaged_store_is_refused(void **state)
{
    struct fixture *fixture = *state;

    memset(fixture->bytes + BACKUP_HEAD_BYTES + 2 * 4096, 0xa5, 20 * 4096);
    seal(fixture, fixture->size - BACKUP_END_BYTES);
    write_file(fixture, fixture->size);
    expect_refused(fixture, ERR_CORRUPT, "backup of a damaged store");
    assert_false(is_there(fixture, "restored"));
}

/* Goal: a folder that another process has open, or that has a file, is refused and unchanged.
 * Method: a lock on it; a file of any name. */
static void test_folder_in_use_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct path path = path_of(fixture, "restored");
    int folder = -1;

    write_file(fixture, fixture->size);
    assert_int_equal(mkdir(path.text, 0700), 0);
    folder = open(path.text, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(folder, LOCK_EX), 0);
    expect_refused(fixture, ERR_PRECONDITION, "in use");
    assert_int_equal(close(folder), 0);
    assert_int_equal(close(open(path_of(fixture, "restored/.mine").text, O_CREAT | O_WRONLY, 0600)),
                     0);
    expect_refused(fixture, ERR_PRECONDITION, "contains .mine");
    assert_true(is_there(fixture, "restored/.mine"));
    assert_int_equal(unlink(path_of(fixture, "restored/.mine").text), 0);
    assert_int_equal(rmdir(path.text), 0); /* the folder is empty */
}

int run_backup_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_restored_backup_opens, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged_backup_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_foreign_file_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(test_backup_of_a_damaged_store_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_folder_in_use_is_refused, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
