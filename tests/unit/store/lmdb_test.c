/*
 * lmdb_test.c: the creation, opening, refusal and warming of a store. The contract suite tests its
 * transactions.
 */
#include "tests/unit/store/store_tests.h"

#include "store/keys.h"
#include "store/lmdb/lmdb.h"
#include "store/records.h"
#include "tests/support/store/store_fixture.h"
#include "tests/support/store/temp_folder.h"

#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct fixture {
    struct temp_folder folder;
    struct store_lmdb_config config;
    struct arena arena;
    struct fault fault;
    char path[TEMP_FOLDER_PATH_BYTES + 8];
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    temp_folder_init(&fixture->folder);
    (void)snprintf(fixture->path, sizeof(fixture->path), "%s/data", fixture->folder.path);
    fixture->config.path = fixture->path;
    fixture->config.map_bytes = 64ull << 20;
    fixture->config.reserve_bytes = 1 << 20;
    arena_init(&fixture->arena, SIZE_MAX);
    fault_init(&fixture->fault, &fixture->arena);
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

static struct store_backend *open_store(struct fixture *fixture)
{
    struct store_backend *backend = NULL;

    assert_int_equal(store_lmdb_open(&fixture->config, &fixture->fault, &backend), OK);
    return backend;
}

static struct stat stat_of(struct fixture *fixture, const char *name)
{
    char path[TEMP_FOLDER_PATH_BYTES + 64];
    struct stat info;

    (void)snprintf(path, sizeof(path), "%s/%s", fixture->path, name);
    memset(&info, 0, sizeof(info));
    assert_int_equal(stat(path, &info), 0);
    return info;
}

static void put_number(struct store_backend *backend, struct key key, uint64_t number)
{
    struct meta_record record = {.number = number};
    struct store_txn *txn = NULL;
    struct slice bytes = {NULL, 0};
    struct arena arena;

    arena_init(&arena, SIZE_MAX);
    assert_int_equal(record_encode_meta(&arena, &record, &bytes), OK);
    assert_int_equal(store_begin(backend, STORE_WRITE, &txn), OK);
    assert_int_equal(store_put(txn, TABLE_META, key_slice(&key), bytes), OK);
    assert_int_equal(store_commit(txn), OK);
    arena_deinit(&arena);
}

static bool message_has(const struct fixture *fixture, const char *part)
{
    char text[1024];
    size_t size = fixture->fault.message.size;

    assert_true(size < sizeof(text));
    memcpy(text, fixture->fault.message.data, size);
    text[size] = '\0';
    return strstr(text, part) != NULL;
}

/* Goal: only the owner can access a new store, and committed data is there when it is opened again.
 * Method: modes of the folder and its files; a row; the map's default size. */
static void test_created_store_is_private_and_reopens(void **state)
{
    struct fixture *fixture = *state;
    struct key key = key_meta_global(SLICE("mine"));
    struct store_backend *backend = open_store(fixture);
    struct store_stats stats;
    struct store_txn *txn = NULL;
    struct slice value = {NULL, 0};

    put_number(backend, key, 7);
    assert_int_equal(stat_of(fixture, "").st_mode & 0777, 0700);
    assert_int_equal(stat_of(fixture, "db").st_mode & 0777, 0700);
    assert_int_equal(stat_of(fixture, "db/data.mdb").st_mode & 0777, 0600);
    assert_int_equal(stat_of(fixture, "errata.pid").st_mode & 0777, 0600);
    assert_int_equal(stat_of(fixture, "reserve").st_size, 1 << 20);
    assert_true(stat_of(fixture, "reserve").st_blocks * 512 >= 1 << 20);
    store_lmdb_close(backend);
    fixture->config.map_bytes = 0;
    backend = open_store(fixture);
    assert_int_equal(store_stats(backend, &stats), OK);
    assert_true(stats.map_bytes == STORE_LMDB_MAP_BYTES_DEFAULT);
    assert_true(stats.map_used_bytes > 0 && stats.map_used_bytes < 1 << 20);
    assert_int_equal(store_begin(backend, STORE_READ, &txn), OK);
    assert_int_equal(store_get(txn, TABLE_META, key_slice(&key), &value), OK);
    store_abort(txn);
    assert_false(store_lmdb_is_broken(backend));
    store_lmdb_close(backend);
    store_lmdb_close(NULL);
}

/* Goal: only one process opens a store. Method: open twice; the second error names the process that
 * has it. */
static void test_second_process_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct store_backend *backend = open_store(fixture);
    struct store_backend *second = NULL;
    char pid[32];

    (void)snprintf(pid, sizeof(pid), "process %d", (int)getpid());
    assert_int_equal(store_lmdb_open(&fixture->config, &fixture->fault, &second), ERR_PRECONDITION);
    assert_true(message_has(fixture, pid));
    store_lmdb_close(backend);
    backend = open_store(fixture);
    store_lmdb_close(backend);
}

/* Goal: a server that starts right after one that was killed gets the folder, though a child of
 * that one, which has not executed its program yet, still has the lock. Method: a process that
 * opens the store, and leaves a child for a moment. */
static void test_lock_of_a_dying_child_is_waited_for(void **state)
{
    struct fixture *fixture = *state;
    const struct timespec moment = {0, 150 * 1000 * 1000};
    struct store_backend *backend = NULL;
    pid_t child = fork();

    if (child == 0) {
        (void)open_store(fixture);
        if (fork() == 0) {
            (void)nanosleep(&moment, NULL);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    backend = open_store(fixture);
    store_lmdb_close(backend);
}

/* Goal: a newer format is refused with the reason, and left unchanged. Method: raise the version in
 * the store, open it, compare the file's time and size. */
static void test_newer_format_is_refused_unchanged(void **state)
{
    struct fixture *fixture = *state;
    struct key key = key_meta_global(SLICE("format"));
    struct store_backend *backend = open_store(fixture);
    char newer[32];
    struct stat before;
    struct stat after;

    (void)snprintf(newer, sizeof(newer), "format version %d", STORE_FORMAT_VERSION + 1);
    put_number(backend, key, STORE_FORMAT_VERSION + 1);
    store_lmdb_close(backend);
    before = stat_of(fixture, "db/data.mdb");
    assert_int_equal(store_lmdb_open(&fixture->config, &fixture->fault, &backend),
                     ERR_PRECONDITION);
    assert_true(message_has(fixture, newer));
    after = stat_of(fixture, "db/data.mdb");
    assert_int_equal(before.st_size, after.st_size);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}

/* Goal: an older format is opened only for a rebuild; one that is too old is always refused.
 * Method: lower the version in the store, open it both ways. */
static void test_older_format_opens_only_for_a_rebuild(void **state)
{
    struct fixture *fixture = *state;
    struct key key = key_meta_global(SLICE("format"));
    struct store_backend *backend = open_store(fixture);

    assert_int_equal(store_lmdb_format(backend), STORE_FORMAT_VERSION);
    put_number(backend, key, STORE_FORMAT_OLDEST);
    store_lmdb_close(backend);
    assert_int_equal(store_lmdb_open(&fixture->config, &fixture->fault, &backend),
                     ERR_PRECONDITION);
    assert_true(message_has(fixture, "start the server to migrate it"));
    fixture->config.takes_older = true;
    backend = open_store(fixture);
    assert_int_equal(store_lmdb_format(backend), STORE_FORMAT_OLDEST);
    put_number(backend, key, STORE_FORMAT_OLDEST - 1);
    store_lmdb_close(backend);
    fault_init(&fixture->fault, &fixture->arena);
    assert_int_equal(store_lmdb_open(&fixture->config, &fixture->fault, &backend),
                     ERR_PRECONDITION);
    assert_true(message_has(fixture, "this program cannot migrate it"));
}

/* Goal: a store without a format is refused. Method: its row deleted, and one that does not
 * decode. */
static void test_store_without_a_format_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct key key = key_meta_global(SLICE("format"));
    struct store_backend *backend = open_store(fixture);
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(backend, STORE_WRITE, &txn), OK);
    assert_int_equal(store_del(txn, TABLE_META, key_slice(&key)), OK);
    assert_int_equal(store_commit(txn), OK);
    store_lmdb_close(backend);
    assert_int_equal(store_lmdb_open(&fixture->config, &fixture->fault, &backend), ERR_CORRUPT);
    assert_true(message_has(fixture, "has no format version"));
    (void)snprintf(fixture->path, sizeof(fixture->path), "%s/other", fixture->folder.path);
    backend = open_store(fixture);
    assert_int_equal(store_begin(backend, STORE_WRITE, &txn), OK);
    assert_int_equal(store_put(txn, TABLE_META, key_slice(&key), SLICE("\xff")), OK);
    assert_int_equal(store_commit(txn), OK);
    store_lmdb_close(backend);
    fault_init(&fixture->fault, &fixture->arena);
    assert_int_equal(store_lmdb_open(&fixture->config, &fixture->fault, &backend), ERR_CORRUPT);
    assert_true(message_has(fixture, "its format version does not decode"));
}

/* Removes a table from a closed store. */
static void drop_table(const struct fixture *fixture, const char *name)
{
    char path[TEMP_FOLDER_PATH_BYTES + 64];
    MDB_env *env = NULL;
    MDB_txn *txn = NULL;
    MDB_dbi table = 0;

    (void)snprintf(path, sizeof(path), "%s/db", fixture->path);
    assert_int_equal(mdb_env_create(&env), 0);
    assert_int_equal(mdb_env_set_maxdbs(env, TABLE_COUNT), 0);
    assert_int_equal(mdb_env_set_mapsize(env, fixture->config.map_bytes), 0);
    assert_int_equal(mdb_env_open(env, path, 0, 0600), 0);
    assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
    assert_int_equal(mdb_dbi_open(txn, name, 0, &table), 0);
    assert_int_equal(mdb_drop(txn, table, 1), 0);
    assert_int_equal(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
}

/* Goal: a store that lacks a table is refused, except tables that an older format need not have,
 * since it is rebuilt. Method: a table of each class removed, in this format and in an older
 * one. */
static void test_store_without_a_table_is_refused(void **state)
{
    static const enum store_table tables[] = {TABLE_EVENT, TABLE_COUNTER, TABLE_IDEMPOTENCY};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < 2 * sizeof(tables) / sizeof(tables[0]); i++) {
        enum store_table table = tables[i / 2];
        bool is_older = i % 2 == 1;
        bool opens = is_older && store_table_class(table) == STORE_PROJECTION;
        struct store_backend *backend = NULL;

        (void)snprintf(fixture->path, sizeof(fixture->path), "%s/%zu", fixture->folder.path, i);
        backend = open_store(fixture);
        put_number(backend, key_meta_global(SLICE("format")),
                   is_older ? STORE_FORMAT_OLDEST : STORE_FORMAT_VERSION);
        store_lmdb_close(backend);
        drop_table(fixture, store_table_name(table));
        fixture->config.takes_older = is_older;
        fault_init(&fixture->fault, &fixture->arena);
        assert_int_equal(store_lmdb_open(&fixture->config, &fixture->fault, &backend),
                         opens ? OK : ERR_CORRUPT);
        if (opens) {
            store_lmdb_close(backend);
        } else {
            assert_true(message_has(fixture, "a table is missing"));
        }
    }
}

static void write_file(struct fixture *fixture, const char *name, size_t size)
{
    char path[TEMP_FOLDER_PATH_BYTES + 64];
    FILE *file = NULL;

    (void)snprintf(path, sizeof(path), "%s/%s", fixture->path, name);
    file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(fputc((int)(i * 7 & 0xff), file), (int)(i * 7 & 0xff));
    }
    assert_int_equal(fclose(file), 0);
}

/* Goal: an interrupted creation is started over, and a file that is not a store is refused, not
 * replaced. Method: garbage in db.new/, then in db/. */
static void test_interrupted_creation_starts_over(void **state)
{
    struct fixture *fixture = *state;
    struct store_backend *backend = NULL;
    char path[TEMP_FOLDER_PATH_BYTES + 64];

    assert_int_equal(mkdir(fixture->path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/db.new", fixture->path);
    assert_int_equal(mkdir(path, 0700), 0);
    write_file(fixture, "db.new/data.mdb", 5000);
    backend = open_store(fixture);
    store_lmdb_close(backend);
    assert_int_not_equal(access(path, F_OK), 0);
    write_file(fixture, "db/data.mdb", 20000);
    assert_int_equal(store_lmdb_open(&fixture->config, &fixture->fault, &backend), ERR_CORRUPT);
    assert_int_equal(stat_of(fixture, "db/data.mdb").st_size, 20000);
}

/* Goal: a store that cannot be created completely leaves nothing, and is created by the next start.
 * Method: a file may grow to only three pages, which is too few for the tables. */
static void test_failed_creation_leaves_nothing(void **state)
{
    static const char *const made[] = {"db/data.mdb", "db/lock.mdb", "db/state", "db"};
    struct fixture *fixture = *state;
    struct store_backend *backend = open_store(fixture);
    void (*on_too_large)(int) = signal(SIGXFSZ, SIG_IGN);
    struct rlimit before;
    struct rlimit little;
    char path[TEMP_FOLDER_PATH_BYTES + 64];

    store_lmdb_close(backend); /* the reserve exists */
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", fixture->path, made[i]);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = (struct rlimit){3 * 4096, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    assert_int_not_equal(store_lmdb_open(&fixture->config, &fixture->fault, &backend), OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, on_too_large);
    assert_true(message_has(fixture, "cannot create the store"));
    (void)snprintf(path, sizeof(path), "%s/db.new", fixture->path);
    assert_int_not_equal(access(path, F_OK), 0);
    fault_init(&fixture->fault, &fixture->arena);
    store_lmdb_close(open_store(fixture));
}

/* Goal: an invalid configuration is refused with the reason. Method: no path, a tiny map. */
static void test_invalid_configuration_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct store_backend *backend = NULL;

    fixture->config.map_bytes = 4096;
    assert_int_equal(store_lmdb_open(&fixture->config, &fixture->fault, &backend), ERR_INVALID);
    assert_true(message_has(fixture, "map size"));
    fixture->config.map_bytes = 0;
    fixture->config.path = "";
    assert_int_equal(store_lmdb_open(&fixture->config, &fixture->fault, &backend), ERR_INVALID);
    fixture->config.path = "/proc/errata/data";
    assert_int_equal(store_lmdb_open(&fixture->config, &fixture->fault, &backend), ERR_IO);
}

/* Puts rows of 64 KiB until one fails; returns the error, and the number of committed rows. */
static enum err fill_map(struct store_backend *backend, uint64_t *ret_rows)
{
    static uint8_t bytes[65536];
    uint64_t rows = 0;

    for (;;) {
        struct key key = key_event(store_fixture_org(1), rows + 1);
        struct store_txn *txn = NULL;
        enum err err = OK;

        assert_int_equal(store_begin(backend, STORE_WRITE, &txn), OK);
        err = store_append(txn, TABLE_EVENT, key_slice(&key), slice_of(bytes, sizeof(bytes)));
        if (err != OK) {
            store_abort(txn);
        } else {
            err = store_commit(txn);
        }
        if (err != OK) {
            *ret_rows = rows;
            return err;
        }
        rows++;
    }
}

/* Goal: a full map is reported as a full disk, can be freed again, and loses nothing. Method: fill
 * a small one, read all, delete it, write again. */
static void test_full_map_loses_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct store_backend *backend = NULL;
    struct store_txn *txn = NULL;
    uint64_t rows = 0;

    fixture->config.map_bytes = 4ull << 20;
    backend = open_store(fixture);
    assert_false(store_lmdb_met_full_map(backend));
    assert_int_equal(fill_map(backend, &rows), ERR_DISK_FULL);
    assert_true(store_lmdb_met_full_map(backend));
    assert_true(rows > 40);
    assert_int_equal(store_begin(backend, STORE_WRITE, &txn), OK);
    for (uint64_t seq = 1; seq <= rows; seq++) {
        struct key key = key_event(store_fixture_org(1), seq);
        struct slice value = {NULL, 0};

        assert_int_equal(store_get(txn, TABLE_EVENT, key_slice(&key), &value), OK);
        assert_int_equal(value.size, 65536);
        assert_int_equal(store_del(txn, TABLE_EVENT, key_slice(&key)), OK);
    }
    assert_int_equal(store_commit(txn), OK);
    /* LMDB uses the pages that a commit freed only after the next commit, such as the writer's
     * probe. */
    put_number(backend, key_meta_global(SLICE("probe")), 0);
    assert_int_equal(fill_map(backend, &rows), ERR_DISK_FULL);
    assert_true(rows > 20);
    assert_int_equal(store_restore(backend), OK);
    assert_false(store_lmdb_is_broken(backend));
    store_lmdb_close(backend);
}

/* Goal: warming reads without changes, stops on request, and works with empty and filled tables.
 * Method: before and after a few thousand rows. */
static void test_warm_up_reads_without_changes(void **state)
{
    struct fixture *fixture = *state;
    struct store_backend *backend = open_store(fixture);
    atomic_bool stop = false;
    struct store_txn *txn = NULL;

    assert_int_equal(store_lmdb_warm_up(backend, &stop), OK);
    assert_int_equal(store_begin(backend, STORE_WRITE, &txn), OK);
    for (uint64_t i = 1; i <= 2500; i++) {
        struct key key = key_event(store_fixture_org((uint8_t)(1 + i % 3)), i);
        struct key head = key_org(store_fixture_org((uint8_t)(1 + i % 3)));

        assert_int_equal(store_put(txn, TABLE_EVENT, key_slice(&key), SLICE("event")), OK);
        assert_int_equal(store_put(txn, TABLE_SUBJECT, key_slice(&key), slice_of(NULL, 0)), OK);
        assert_int_equal(store_put(txn, TABLE_ORG_HEAD, key_slice(&head), SLICE("head")), OK);
    }
    assert_int_equal(store_commit(txn), OK);
    assert_int_equal(store_lmdb_warm_up(backend, &stop), OK);
    atomic_store(&stop, true);
    assert_int_equal(store_lmdb_warm_up(backend, &stop), OK);
    store_lmdb_check_readers(backend);
    store_lmdb_close(backend);
}

/* Goal: a store whose process is killed at any moment opens and has everything that was committed.
 * Method: a child that commits one row at a time and reports each on a pipe, killed after some;
 * each reported one is stored. */
static void test_killed_process_loses_no_commit(void **state)
{
    struct fixture *fixture = *state;
    struct store_backend *backend = NULL;
    uint64_t reported = 0;
    uint64_t seq = 0;
    int fds[2];
    pid_t child = 0;

    assert_int_equal(pipe(fds), 0);
    child = fork();
    if (child == 0) {
        backend = open_store(fixture);
        for (seq = 1;; seq++) {
            put_number(backend, key_event(store_fixture_org(1), seq), seq);
            if (write(fds[1], &seq, sizeof(seq)) != (ssize_t)sizeof(seq)) {
                _exit(1);
            }
        }
    }
    while (reported < 100) {
        assert_int_equal(read(fds[0], &reported, sizeof(reported)), sizeof(reported));
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(close(fds[1]), 0);
    while (read(fds[0], &reported, sizeof(reported)) == (ssize_t)sizeof(reported)) {
    }
    backend = open_store(fixture);
    for (seq = 1; seq <= reported; seq++) {
        struct key key = key_event(store_fixture_org(1), seq);
        struct store_txn *txn = NULL;
        struct slice value = {NULL, 0};

        assert_int_equal(store_begin(backend, STORE_READ, &txn), OK);
        assert_int_equal(store_get(txn, TABLE_META, key_slice(&key), &value), OK);
        store_abort(txn);
    }
    store_lmdb_close(backend);
    assert_int_equal(close(fds[0]), 0);
}

int run_lmdb_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_created_store_is_private_and_reopens, setup, teardown),
        cmocka_unit_test_setup_teardown(test_second_process_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lock_of_a_dying_child_is_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(test_newer_format_is_refused_unchanged, setup, teardown),
        cmocka_unit_test_setup_teardown(test_older_format_opens_only_for_a_rebuild, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_store_without_a_format_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_store_without_a_table_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_interrupted_creation_starts_over, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failed_creation_leaves_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_invalid_configuration_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_full_map_loses_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_warm_up_reads_without_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_killed_process_loses_no_commit, setup, teardown),
    };

    return cmocka_run_group_tests_name("lmdb", tests, NULL, NULL);
}
