/*
 * damage_test.c: Goal: damage that LMDB meets while the program runs ends it with APP_EXIT_DAMAGED and
 * the line that states what to do, wherever the fault is; a mistake of the program ends it with its
 * signal. Method: a child process watches a store's map, and does one thing that faults.
 */
#include "tests/unit/app/app_tests.h"

#include "server/app/app.h"
#include "server/app/app_damage.h"
#include "store/keys.h"
#include "store/lmdb/lmdb.h"
#include "tests/support/store/temp_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* LMDB's head of a node, before its key: two halves of a size, flags, the key's size. */
#define NODE_HEAD_BYTES 8
#define NODE_FLAGS_AT 4
#define NODE_DUPLICATES 0x04 /* flag of tables with several values per key, which no store has */
#define PAGE_BYTES 4096

struct fixture {
    struct temp_folder folder;
    char data[TEMP_FOLDER_PATH_BYTES + 8];
    char path[TEMP_FOLDER_PATH_BYTES + 32]; /* path of the file */
    struct store_backend *backend;
    struct key key; /* key of the only row */
    const uint8_t *row; /* its value, in the map */
    uint8_t *closed_page; /* a page without read permission */
    int said; /* standard error of the child */
};

static void find_row(struct fixture *fixture)
{
    struct store_txn *txn = NULL;
    struct slice value = {NULL, 0};

    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(store_get(txn, TABLE_META, key_slice(&fixture->key), &value), OK);
    fixture->row = value.data;
    store_abort(txn);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct store_lmdb_config config = {.map_bytes = 64ull << 20, .reserve_bytes = 1};
    struct store_txn *txn = NULL;
    struct arena arena;
    struct fault fault;

    assert_non_null(fixture);
    temp_folder_init(&fixture->folder);
    (void)snprintf(fixture->data, sizeof(fixture->data), "%s/data", fixture->folder.path);
    (void)snprintf(fixture->path, sizeof(fixture->path), "%s/db/data.mdb", fixture->data);
    config.path = fixture->data;
    arena_init(&arena, SIZE_MAX);
    fault_init(&fault, &arena);
    assert_int_equal(store_lmdb_open(&config, &fault, &fixture->backend), OK);
    arena_deinit(&arena);
    fixture->key = key_meta_global(SLICE("row"));
    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    assert_int_equal(store_put(txn, TABLE_META, key_slice(&fixture->key), SLICE("value")), OK);
    assert_int_equal(store_commit(txn), OK);
    find_row(fixture);
    fixture->closed_page = mmap(NULL, PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(fixture->closed_page != MAP_FAILED);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    (void)munmap(fixture->closed_page, PAGE_BYTES);
    store_lmdb_close(fixture->backend);
    temp_folder_deinit(&fixture->folder);
    free(fixture);
    return 0;
}

static void read_row(struct fixture *fixture)
{
    struct store_txn *txn = NULL;
    struct slice value = {NULL, 0};

    if (store_begin(fixture->backend, STORE_READ, &txn) == OK) {
        (void)!store_get(txn, TABLE_META, key_slice(&fixture->key), &value);
        store_abort(txn);
    }
}

static void lose_pages(struct fixture *fixture)
{
    (void)!truncate(fixture->path, 2 * PAGE_BYTES);
    read_row(fixture);
}

/* LMDB takes the row for one with several values, and follows a pointer that this table has not. */
static void follow_flag(struct fixture *fixture)
{
    struct slice map = store_lmdb_map(fixture->backend);
    const uint8_t *node = fixture->row - fixture->key.size - NODE_HEAD_BYTES;
    off_t at = node + NODE_FLAGS_AT - map.data;
    uint16_t flags = NODE_DUPLICATES;
    int fd = open(fixture->path, O_RDWR | O_CLOEXEC);

    (void)!pwrite(fd, &flags, sizeof(flags), at);
    read_row(fixture);
}

static void read_closed_page(struct fixture *fixture)
{
    read_row(fixture); /* the fault occurs after a use of the store, outside of LMDB */
    (void)*(volatile uint8_t *)fixture->closed_page;
}

static void get_signal(struct fixture *fixture)
{
    (void)fixture;
    (void)raise(SIGSEGV);
}

/* Runs `act` in a child that watches the map; returns the exit status of the child. */
static int end_of_child(struct fixture *fixture, void (*act)(struct fixture *))
{
    int ends[2];
    int status = 0;
    pid_t child = 0;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGSEGV, SIG_DFL); /* removes the handler of a sanitizer */
        (void)signal(SIGBUS, SIG_DFL);
        (void)dup2(ends[1], STDERR_FILENO);
        app_damage_watch(fixture->data, store_lmdb_map(fixture->backend));
        act(fixture);
        _exit(0);
    }
    (void)close(ends[1]);
    fixture->said = ends[0];
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void expect_damage(struct fixture *fixture, void (*act)(struct fixture *))
{
    int status = end_of_child(fixture, act);
    char said[1024] = {0};
    ssize_t size = read(fixture->said, said, sizeof(said) - 1);

    (void)close(fixture->said);
    assert_true(size > 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), APP_EXIT_DAMAGED);
    assert_non_null(strstr(said, fixture->path));
    assert_non_null(strstr(said, "restore a backup"));
}

static void expect_signal(struct fixture *fixture, void (*act)(struct fixture *))
{
    int status = end_of_child(fixture, act);
    char said[1];

    assert_int_equal(read(fixture->said, said, sizeof(said)), 0);
    (void)close(fixture->said);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static void test_bus_error_of_a_damaged_file_is_reported(void **state)
{
    expect_damage(*state, follow_flag);
    expect_damage(*state, lose_pages);
}

static void test_other_signals_are_not_taken_for_damage(void **state)
{
    expect_signal(*state, read_closed_page);
    expect_signal(*state, get_signal);
}

int run_damage_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bus_error_of_a_damaged_file_is_reported, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_other_signals_are_not_taken_for_damage, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests_name("damage while it runs", tests, NULL, NULL);
}
