/*
 * recovery_test.c: the recovery of commits that a journal could not store in the tables, and the results of writes and
 * reads while the tables cannot be written to.
 */
#include "store/base/bytes.h"
#include "store/base/fault_point.h"
#include "store/journal/chunk_pool.h"
#include "store/journal/journal.h"
#include "store/journal/segments.h"
#include "store/memory/memory.h"
#include "tests/support/store/fault_store.h"
#include "tests/support/store/temp_folder.h"
#include "tests/unit/journal/journal_tests.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FAILS_FROM_NOW_ON UINT64_MAX

struct fixture {
    struct temp_folder folder;
    struct arena arena;
    struct fault fault;
    struct store_backend *memory;
    struct fault_store tables;
    struct store_backend *journal;
    uint64_t segment_bytes;
};

static bool says_lost(const struct store_backend *tables)
{
    (void)tables;
    return true;
}

static struct store_journal_config config_of(struct fixture *fixture, size_t memtable_bytes)
{
    return (struct store_journal_config){.tables = &fixture->tables.backend,
                                         .path = fixture->folder.path,
                                         .segment_bytes = fixture->segment_bytes,
                                         .memtable_bytes = memtable_bytes,
                                         .random = random_system(),
                                         .clock = clock_system()};
}

static enum err open_journal(struct fixture *fixture, size_t memtable_bytes)
{
    const struct store_journal_config config = config_of(fixture, memtable_bytes);

    return store_journal_open(&config, &fixture->fault, &fixture->journal);
}

static int setup(void **state)
{
    struct fixture *fixture = test_calloc(1, sizeof(*fixture));

    fixture->segment_bytes = 4 * STORE_JOURNAL_SEGMENT_BYTES_MIN;
    temp_folder_init(&fixture->folder);
    arena_init(&fixture->arena, SIZE_MAX);
    fault_init(&fixture->fault, &fixture->arena);
    assert_int_equal(store_memory_open(&fixture->memory), OK);
    fault_store_init(&fixture->tables, fixture->memory);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    store_journal_close(fixture->journal);
    store_memory_close(fixture->memory);
    arena_deinit(&fixture->arena);
    temp_folder_deinit(&fixture->folder);
    test_free(fixture);
    return 0;
}

static void close_journal(struct fixture *fixture)
{
    store_journal_close(fixture->journal);
    fixture->journal = NULL;
}

/* Commits a row; its value is its number. */
static enum err write_row(struct fixture *fixture, uint32_t number)
{
    struct named_key key = journal_test_key(number);
    struct store_txn *txn = NULL;
    enum err err = store_begin(fixture->journal, STORE_WRITE, &txn);

    if (err != OK) {
        return err;
    }
    assert_int_equal(store_put(txn, TABLE_SUBJECT, slice_of(key.bytes, sizeof(key.bytes)),
                               slice_of(key.bytes + 16, 4)),
                     OK);
    return store_commit(txn);
}

static void expect_rows(struct store_backend *backend, uint32_t first, uint32_t last, enum err err)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(backend, STORE_READ, &txn), OK);
    for (uint32_t i = first; i <= last; i++) {
        struct named_key key = journal_test_key(i);
        struct slice value = {NULL, 0};

        assert_int_equal(
            store_get(txn, TABLE_SUBJECT, slice_of(key.bytes, sizeof(key.bytes)), &value), err);
        if (err == OK) {
            assert_true(slice_equal(value, slice_of(key.bytes + 16, 4)));
        }
    }
    store_abort(txn);
}

/* Goal: small segments hold many commits without a refusal: the tables take them before all segments are in use.
 * Method: a megabyte of rows for segments of half of that. */
static void small_segments_take_many_commits(void **state)
{
    struct fixture *fixture = *state;
    static uint8_t value[4000];

    fixture->segment_bytes = STORE_JOURNAL_SEGMENT_BYTES_MIN;
    assert_int_equal(open_journal(fixture, 0), OK);
    for (uint32_t i = 1; i <= 262; i++) {
        struct named_key key = journal_test_key(i);
        struct store_txn *txn = NULL;

        assert_int_equal(store_begin(fixture->journal, STORE_WRITE, &txn), OK);
        assert_int_equal(store_put(txn, TABLE_SUBJECT, slice_of(key.bytes, sizeof(key.bytes)),
                                   slice_of(value, sizeof(value))),
                         OK);
        assert_int_equal(store_commit(txn), OK);
    }
}

/* Goal: the files do not keep the bytes of old commits. Method: the journal is idle for a moment, with limits of no
 * time. */
static void old_commits_are_overwritten(void **state)
{
    struct fixture *fixture = *state;
    struct store_journal_config config = config_of(fixture, 0);
    int attempts = 0;

    config.store_after_us = 1;
    config.overwrite_after_us = 1;
    assert_int_equal(store_journal_open(&config, &fixture->fault, &fixture->journal), OK);
    assert_int_equal(write_row(fixture, 1), OK);
    while (!journal_test_is_zero(fixture->folder.path, 0)) {
        assert_true(attempts++ < 1000);
        (void)usleep(10 * 1000);
    }
    assert_int_equal(write_row(fixture, 2), OK);
    expect_rows(fixture->journal, 1, 2, OK);
    close_journal(fixture);
    expect_rows(fixture->memory, 1, 2, OK);
}

#define ERASED_ROW UINT32_C(0xa1b2c3d4)

/* Returns whether a file of the journal has the number of a row. */
static bool have_files_row(const struct fixture *fixture, uint32_t number)
{
    static uint8_t bytes[4 * STORE_JOURNAL_SEGMENT_BYTES_MIN];
    struct named_key key = journal_test_key(number);
    bool found = false;

    for (int i = 0; i < SEGMENTS_MAX; i++) {
        char path[TEMP_FOLDER_PATH_BYTES + 16];
        int fd = -1;

        (void)snprintf(path, sizeof(path), "%s/%d", fixture->folder.path, i);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            ssize_t size = read(fd, bytes, sizeof(bytes));

            assert_true(size > 0);
            found = found || memmem(bytes, (size_t)size, key.bytes + 16, 4) != NULL;
            (void)close(fd);
        }
    }
    return found;
}

struct busy_writer {
    struct fixture *fixture;
    atomic_bool ends;
    uint32_t count;
};

static void *write_until_end(void *user)
{
    struct busy_writer *writer = user;

    while (!atomic_load(&writer->ends)) {
        assert_int_equal(write_row(writer->fixture, ++writer->count), OK);
    }
    return NULL;
}

/* Goal: a request erases all earlier commits from the files, also while another thread commits. */
static void commits_are_erased_on_request(void **state)
{
    struct fixture *fixture = *state;
    struct busy_writer writer = {.fixture = fixture};
    pthread_t thread;

    assert_int_equal(open_journal(fixture, 0), OK);
    assert_int_equal(write_row(fixture, ERASED_ROW), OK);
    assert_true(have_files_row(fixture, ERASED_ROW));
    assert_int_equal(store_journal_erase(fixture->journal), OK);
    assert_false(have_files_row(fixture, ERASED_ROW));

    assert_int_equal(write_row(fixture, ERASED_ROW), OK);
    assert_int_equal(pthread_create(&thread, NULL, write_until_end, &writer), 0);
    assert_int_equal(store_journal_erase(fixture->journal), OK);
    assert_false(have_files_row(fixture, ERASED_ROW));
    atomic_store(&writer.ends, true);
    (void)pthread_join(thread, NULL);
    expect_rows(fixture->journal, 1, writer.count, OK);
    expect_rows(fixture->journal, ERASED_ROW, ERASED_ROW, OK);

    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, FAILS_FROM_NOW_ON, ERR_DISK_FULL);
    assert_int_equal(write_row(fixture, ERASED_ROW), OK);
    assert_int_equal(store_journal_erase(fixture->journal), ERR_DISK_FULL);
    assert_true(have_files_row(fixture, ERASED_ROW));
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, 0, OK);
}

/* Goal: commits that never reached the tables exist after the next opening, in the tables too. Method: tables that
 * refuse every commit, as if the server was killed; twice, so that the second run adds to the first. */
static void commits_are_recovered(void **state)
{
    struct fixture *fixture = *state;
    struct store_journal_stats stats;

    assert_int_equal(open_journal(fixture, 0), OK);
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, FAILS_FROM_NOW_ON, ERR_IO);
    for (uint32_t i = 1; i <= 300; i++) {
        assert_int_equal(write_row(fixture, i), OK);
    }
    expect_rows(fixture->journal, 1, 300, OK);
    expect_rows(fixture->memory, 1, 300, ERR_NOT_FOUND);
    close_journal(fixture);
    assert_int_equal(open_journal(fixture, 0), ERR_IO);
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, 0, OK);
    assert_int_equal(open_journal(fixture, 0), OK);
    expect_rows(fixture->memory, 1, 300, OK);
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, FAILS_FROM_NOW_ON, ERR_IO);
    assert_int_equal(write_row(fixture, 301), OK);
    close_journal(fixture);
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, 0, OK);
    assert_int_equal(open_journal(fixture, 1), OK); /* stores it record by record */
    store_journal_stats(fixture->journal, &stats);
    assert_int_equal(stats.recovered, 1);
    expect_rows(fixture->journal, 1, 301, OK);
    expect_rows(fixture->memory, 1, 301, OK);
    expect_rows(fixture->journal, 302, 302, ERR_NOT_FOUND);
}

static void closing_stores_everything(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(open_journal(fixture, 0), OK);
    for (uint32_t i = 1; i <= 20; i++) {
        assert_int_equal(write_row(fixture, i), OK);
    }
    close_journal(fixture);
    expect_rows(fixture->memory, 1, 20, OK);
}

/* Goal: the memory of a stored memtable is kept for the next one, and is free after a second without a commit. */
static void idle_journal_keeps_no_memory(void **state)
{
    struct fixture *fixture = *state;
    struct store_journal_stats stats = {.kept_bytes = 0};
    int attempts = 0;

    assert_int_equal(open_journal(fixture, CHUNK_BYTES), OK);
    while (stats.kept_bytes ==
           0) { /* on a machine that stops for a second it may be idle already */
        assert_true(attempts++ < 20);
        assert_int_equal(write_row(fixture, 1), OK);
        assert_int_equal(store_journal_checkpoint(fixture->journal), OK);
        store_journal_stats(fixture->journal, &stats);
    }
    assert_int_equal(stats.kept_bytes, CHUNK_BYTES);
    while (stats.kept_bytes > 0) {
        assert_true(attempts++ < 1000);
        (void)usleep(10 * 1000);
        store_journal_stats(fixture->journal, &stats);
    }
}

static void checkpoint_stores_what_was_committed_before(void **state)
{
    struct fixture *fixture = *state;
    struct store_journal_stats stats;

    assert_int_equal(open_journal(fixture, 0), OK);
    assert_int_equal(store_journal_checkpoint(fixture->journal), OK);
    for (uint32_t i = 1; i <= 20; i++) {
        assert_int_equal(write_row(fixture, i), OK);
    }
    store_journal_stats(fixture->journal, &stats);
    assert_int_equal(stats.commits_waiting, 20);
    assert_true(stats.memory_bytes > 0);
    assert_int_equal(store_journal_checkpoint(fixture->journal), OK);
    expect_rows(fixture->memory, 1, 20, OK);
    store_journal_stats(fixture->journal, &stats);
    assert_int_equal(stats.commits_waiting, 0);
    assert_true(stats.stores >= 1);
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, FAILS_FROM_NOW_ON, ERR_DISK_FULL);
    assert_int_equal(write_row(fixture, 21), OK);
    assert_int_equal(store_journal_checkpoint(fixture->journal), ERR_DISK_FULL);
    expect_rows(fixture->journal, 1, 21, OK);
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, 0, OK);
}

/* Goal: while the tables cannot be written to, writes are refused with the reason, reads continue,
 * and writes recover. */
static void writes_recover_with_the_tables(void **state)
{
    struct fixture *fixture = *state;
    uint32_t number = 0;
    enum err err = OK;

    assert_int_equal(open_journal(fixture, 1), OK); /* each commit fills a memtable */
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, FAILS_FROM_NOW_ON, ERR_DISK_FULL);
    while (err == OK && number < 10000) {
        err = write_row(fixture, ++number);
    }
    assert_int_equal(err, ERR_DISK_FULL);
    expect_rows(fixture->journal, 1, number - 1, OK);
    expect_rows(fixture->journal, number, number, ERR_NOT_FOUND);
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, 0, OK);
    for (int i = 0; i < 600 && err != OK; i++) {
        err = store_journal_checkpoint(fixture->journal);
    }
    assert_int_equal(err, OK);
    assert_int_equal(store_restore(fixture->journal), OK);
    assert_int_equal(write_row(fixture, number), OK);
    assert_int_equal(store_journal_checkpoint(fixture->journal), OK);
    expect_rows(fixture->memory, 1, number, OK);
}

/* Goal: a disk that is full when the store is opened does not prevent that: rows that only the journal has are read,
 * writes are refused, and both end by themselves when there is room. Method: tables that refuse every commit, through
 * two openings; with a memtable for all commits, and with one that the first of them fills. */
static void expect_opened_on_full_disk(struct fixture *fixture, size_t memtable_bytes)
{
    const struct store_journal_config config = config_of(fixture, memtable_bytes);
    struct store_journal_stats stats;
    enum err err = ERR_DISK_FULL;

    assert_int_equal(open_journal(fixture, 0), OK);
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, FAILS_FROM_NOW_ON, ERR_DISK_FULL);
    for (uint32_t i = 1; i <= 50; i++) {
        assert_int_equal(write_row(fixture, i), OK);
    }
    for (int i = 0; i < 2; i++) {
        close_journal(fixture);
        assert_int_equal(store_journal_recover(&config, &fixture->fault), ERR_DISK_FULL);
        assert_true(memmem(fixture->fault.message.data, fixture->fault.message.size,
                           "50 commits are only in the journal", 34) != NULL);
        assert_int_equal(open_journal(fixture, memtable_bytes), OK);
        expect_rows(fixture->journal, 1, 50, OK);
        expect_rows(fixture->memory, 1, 50, ERR_NOT_FOUND);
        assert_int_equal(write_row(fixture, 51), ERR_DISK_FULL);
        store_journal_stats(fixture->journal, &stats);
        assert_int_equal(stats.commits_waiting, 50);
    }
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, 0, OK);
    for (int i = 0; i < 600 && err != OK; i++) {
        err = store_journal_checkpoint(fixture->journal);
    }
    assert_int_equal(err, OK);
    expect_rows(fixture->memory, 1, 50, OK);
    assert_int_equal(write_row(fixture, 51), OK);
    close_journal(fixture);
    assert_int_equal(store_journal_recover(&config, &fixture->fault), OK);
    expect_rows(fixture->memory, 1, 51, OK);
}

static void full_disk_does_not_prevent_opening(void **state)
{
    expect_opened_on_full_disk(*state, 0);
}

static void full_disk_does_not_prevent_opening_with_small_memtables(void **state)
{
    expect_opened_on_full_disk(*state, 1);
}

/* Goal: nothing that the next opening would not find is acknowledged. */
static void removed_tables_refuse_commits(void **state)
{
    struct fixture *fixture = *state;
    struct store_journal_config config = config_of(fixture, 0);

    config.is_lost = says_lost;
    assert_int_equal(store_journal_open(&config, &fixture->fault, &fixture->journal), OK);
    assert_int_equal(write_row(fixture, 1), ERR_IO);
    expect_rows(fixture->journal, 1, 1, ERR_NOT_FOUND);
    close_journal(fixture);
    config.is_lost = NULL;
    assert_int_equal(store_journal_open(&config, &fixture->fault, &fixture->journal), OK);
    expect_rows(fixture->journal, 1, 1, ERR_NOT_FOUND);
    assert_int_equal(write_row(fixture, 1), OK);
}

static bool is_used(struct fixture *fixture)
{
    const struct store_journal_config config = config_of(fixture, 0);
    bool used = false;

    assert_int_equal(store_journal_is_used(&config, &used), OK);
    return used;
}

/* Goal: a store has a journal from its first commit until its use is ended, also if its files are gone, as in a copy of the
 * tables; the end keeps what the tables lack until they have room for it. */
static void use_of_a_journal_ends(void **state)
{
    struct fixture *fixture = *state;
    const struct store_journal_config config = config_of(fixture, 0);
    char path[TEMP_FOLDER_PATH_BYTES + 16];

    assert_false(is_used(fixture));
    assert_int_equal(store_journal_end_use(&config, &fixture->fault), OK);
    assert_int_equal(open_journal(fixture, 0), OK);
    assert_true(is_used(fixture)); /* for its files */
    assert_int_equal(write_row(fixture, 1), OK);
    close_journal(fixture);
    (void)snprintf(path, sizeof(path), "%s/0", fixture->folder.path);
    assert_int_equal(unlink(path), 0);
    assert_true(is_used(fixture)); /* for the number in the tables */
    assert_int_equal(open_journal(fixture, 0), OK);
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, FAILS_FROM_NOW_ON, ERR_DISK_FULL);
    assert_int_equal(write_row(fixture, 2), OK);
    close_journal(fixture);
    assert_int_equal(store_journal_end_use(&config, &fixture->fault), ERR_DISK_FULL);
    assert_true(is_used(fixture));
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, 0, OK);
    assert_int_equal(store_journal_end_use(&config, &fixture->fault), OK);
    assert_false(is_used(fixture));
    assert_int_equal(access(path, F_OK), -1);
    expect_rows(fixture->memory, 1, 2, OK);
    assert_int_equal(open_journal(fixture, 0), OK);
    assert_int_equal(write_row(fixture, 3), OK);
    close_journal(fixture);
    assert_int_equal(open_journal(fixture, 0), OK);
    expect_rows(fixture->journal, 1, 3, OK);
}

/* Goal: the age of a copy's snapshot is counted in commits of the journal, not in transactions of the
 * tables. */
static void age_of_a_copy_is_in_commits(void **state)
{
    struct fixture *fixture = *state;
    struct store_txn *copy = NULL;
    struct store_stats stats;

    assert_int_equal(open_journal(fixture, 0), OK);
    assert_int_equal(write_row(fixture, 1), OK);
    assert_int_equal(store_journal_checkpoint(fixture->journal), OK);
    assert_int_equal(store_begin(fixture->memory, STORE_READ, &copy), OK);
    for (uint32_t i = 2; i <= 8; i++) {
        assert_int_equal(write_row(fixture, i), OK);
    }
    assert_int_equal(store_journal_checkpoint(fixture->journal), OK);
    assert_int_equal(store_stats(fixture->journal, &stats), OK);
    assert_int_equal(stats.reader_lag_commits, 7);
    store_abort(copy);
    assert_int_equal(store_stats(fixture->journal, &stats), OK);
    assert_int_equal(stats.reader_lag_commits, 0);
}

#ifdef ERRATA_FAULTS
/* Goal: after a failed write or sync nothing more is written, since it is unknown what is on the disk. */
static void failed_sync_ends_all_writes(void **state)
{
    struct fixture *fixture = *state;
    struct failing_point sync = {.driver = {journal_test_fails_named}, .name = "journal.sync"};

    assert_int_equal(open_journal(fixture, 0), OK);
    assert_int_equal(write_row(fixture, 1), OK);
    assert_false(store_journal_is_broken(fixture->journal));
    fault_point_set_driver(&sync.driver);
    assert_int_equal(write_row(fixture, 2), ERR_UNAVAILABLE);
    fault_point_set_driver(NULL);
    assert_true(store_journal_is_broken(fixture->journal));
    assert_int_equal(write_row(fixture, 3), ERR_UNAVAILABLE);
    assert_int_equal(store_restore(fixture->journal), ERR_UNAVAILABLE);
    expect_rows(fixture->journal, 1, 1, OK);
    expect_rows(fixture->journal, 2, 3, ERR_NOT_FOUND);
    close_journal(fixture);
    assert_int_equal(open_journal(fixture, 0), OK);
    expect_rows(fixture->journal, 1, 2, OK); /* the second was written after all */
    assert_int_equal(write_row(fixture, 3), OK);
}

/* Counts the files that are made. */
struct counting_driver {
    struct fault_driver driver; /* must be the first member */
    atomic_uint count;
};

static bool count_created(struct fault_driver *driver, const char *name)
{
    if (strcmp(name, "journal.create") == 0) {
        atomic_fetch_add(&((struct counting_driver *)driver)->count, 1);
    }
    return false;
}

static bool has_file(const struct fixture *fixture, int file)
{
    char path[TEMP_FOLDER_PATH_BYTES + 16];

    (void)snprintf(path, sizeof(path), "%s/%d", fixture->folder.path, file);
    return access(path, F_OK) == 0;
}

static void wait_for_file(const struct fixture *fixture, int file)
{
    for (int i = 0; i < 600 && !has_file(fixture, file); i++) {
        (void)usleep(10000);
    }
    assert_true(has_file(fixture, file));
}

/* Goal: a full disk keeps the room of the free segments for the tables. Method: a free file, and tables that refuse every
 * commit: it is not made again between attempts, and not at the next opening, but once the tables have room. */
static void full_disk_keeps_room_of_free_segments(void **state)
{
    struct fixture *fixture = *state;
    static struct counting_driver create = {.driver = {count_created}};
    enum err err = ERR_DISK_FULL;

    fault_point_set_driver(&create.driver);
    assert_int_equal(open_journal(fixture, 0), OK);
    assert_int_equal(write_row(fixture, 1), OK);
    assert_int_equal(store_journal_checkpoint(fixture->journal), OK);
    wait_for_file(fixture, 1);
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, FAILS_FROM_NOW_ON, ERR_DISK_FULL);
    assert_int_equal(write_row(fixture, 2), OK);
    atomic_store(&create.count, 0);
    assert_int_equal(store_journal_checkpoint(fixture->journal), ERR_DISK_FULL);
    assert_int_equal(store_journal_checkpoint(fixture->journal), ERR_DISK_FULL);
    assert_false(has_file(fixture, 1));
    assert_int_equal(atomic_load(&create.count), 0);
    close_journal(fixture);
    assert_int_equal(open_journal(fixture, 0), OK);
    assert_int_equal(store_journal_checkpoint(fixture->journal), ERR_DISK_FULL);
    assert_int_equal(atomic_load(&create.count), 0);
    fault_store_plan(&fixture->tables, FAULT_COMMIT, 0, 0, OK);
    for (int i = 0; i < 600 && err != OK; i++) {
        err = store_journal_checkpoint(fixture->journal);
    }
    assert_int_equal(err, OK);
    assert_int_equal(write_row(fixture, 3), OK); /* in the file that is free now */
    wait_for_file(fixture, 1);
    close_journal(fixture);
    fault_point_set_driver(NULL);
}

/* Goal: a disk without room for another segment refuses one commit, and takes later ones. */
static void commit_without_room_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct failing_point create = {.driver = {journal_test_fails_named}, .name = "journal.create"};

    fault_point_set_driver(&create.driver);
    assert_int_equal(open_journal(fixture, 0), OK);
    assert_int_equal(write_row(fixture, 1), ERR_DISK_FULL);
    expect_rows(fixture->journal, 1, 1, ERR_NOT_FOUND);
    fault_point_set_driver(NULL);
    assert_int_equal(write_row(fixture, 1), OK);
    expect_rows(fixture->journal, 1, 1, OK);
}
#endif

#define RECOVERY_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int run_recovery_tests(void)
{
    const struct CMUnitTest tests[] = {
        RECOVERY_TEST(old_commits_are_overwritten),
        RECOVERY_TEST(commits_are_erased_on_request),
        RECOVERY_TEST(commits_are_recovered),
        RECOVERY_TEST(small_segments_take_many_commits),
        RECOVERY_TEST(closing_stores_everything),
        RECOVERY_TEST(idle_journal_keeps_no_memory),
        RECOVERY_TEST(checkpoint_stores_what_was_committed_before),
        RECOVERY_TEST(writes_recover_with_the_tables),
        RECOVERY_TEST(full_disk_does_not_prevent_opening),
        RECOVERY_TEST(full_disk_does_not_prevent_opening_with_small_memtables),
        RECOVERY_TEST(removed_tables_refuse_commits),
        RECOVERY_TEST(use_of_a_journal_ends),
        RECOVERY_TEST(age_of_a_copy_is_in_commits),
#ifdef ERRATA_FAULTS
        RECOVERY_TEST(failed_sync_ends_all_writes),
        RECOVERY_TEST(full_disk_keeps_room_of_free_segments),
        RECOVERY_TEST(commit_without_room_is_refused),
#endif
    };

    return cmocka_run_group_tests_name("recovery", tests, NULL, NULL);
}
