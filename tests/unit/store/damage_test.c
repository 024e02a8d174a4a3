/*
 * damage_test.c: the check of LMDB's file before it is opened (store/lmdb/lmdb_check.h): it accepts
 * an intact file after any writes, and finds damage of every kind.
 */
#include "tests/unit/store/store_tests.h"

#include "store/base/assert.h"
#include "store/base/random.h"
#include "store/lmdb/lmdb.h"
#include "store/lmdb/lmdb_check.h"
#include "store/lmdb/lmdb_page.h"
#include "tests/support/store/temp_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096
#define ROUNDS 120

struct fixture {
    struct temp_folder folder;
    char data[TEMP_FOLDER_PATH_BYTES + 8];
    char path[TEMP_FOLDER_PATH_BYTES + 32]; /* path of the file */
    struct store_lmdb_config config;
    struct store_backend *backend;
    struct random_seeded random;
    struct arena arena;
    struct fault fault;
};

static void open_fixture(struct fixture *fixture)
{
    assert_int_equal(store_lmdb_open(&fixture->config, &fixture->fault, &fixture->backend), OK);
}

static void close_fixture(struct fixture *fixture)
{
    store_lmdb_close(fixture->backend);
    fixture->backend = NULL;
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    temp_folder_init(&fixture->folder);
    (void)snprintf(fixture->data, sizeof(fixture->data), "%s/data", fixture->folder.path);
    (void)snprintf(fixture->path, sizeof(fixture->path), "%s/db/data.mdb", fixture->data);
    fixture->config = (struct store_lmdb_config){
        .path = fixture->data, .map_bytes = 64ull << 20, .reserve_bytes = 1 << 20};
    random_seeded_init(&fixture->random, 7);
    arena_init(&fixture->arena, SIZE_MAX);
    fault_init(&fixture->fault, &fixture->arena);
    open_fixture(fixture);
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

static uint32_t draw(struct fixture *fixture, uint32_t below)
{
    uint32_t number = 0;

    random_fill(&fixture->random.random, &number, sizeof(number));
    return number % below;
}

static struct slice make_key(uint8_t *bytes, uint32_t number)
{
    memset(bytes, 1, 16);
    for (int i = 0; i < 4; i++) {
        bytes[16 + i] = (uint8_t)(number >> (24 - 8 * i));
    }
    return slice_of(bytes, 20 + number % 29);
}

static void change_row(struct fixture *fixture, struct store_txn *txn)
{
    static const uint32_t sizes[] = {1, 60, 400, 1900, 2100, 5000, 30000};
    static uint8_t value[40000];
    const enum store_table tables[] = {TABLE_EVENT, TABLE_EXAMPLE, TABLE_COUNTER};
    enum store_table table = tables[draw(fixture, 3)];
    uint8_t bytes[64] = {0};
    struct slice key = make_key(bytes, draw(fixture, 3000));
    size_t size = draw(fixture, sizes[draw(fixture, 7)]) + 1;
    enum err err = OK;

    if (draw(fixture, 5) < 2) {
        err = store_del(txn, table, key);
        assert_true(err == OK || err == ERR_NOT_FOUND);
        return;
    }
    memset(value, (int)draw(fixture, 256), size);
    assert_int_equal(store_put(txn, table, key, slice_of(value, size)), OK);
}

/* Makes random changes in one transaction; some transactions are aborted. */
static void change(struct fixture *fixture)
{
    struct store_txn *txn = NULL;
    uint32_t count = draw(fixture, draw(fixture, 10) == 0 ? 400 : 40) + 1;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    for (uint32_t i = 0; i < count; i++) {
        change_row(fixture, txn);
    }
    if (draw(fixture, 12) == 0) {
        store_abort(txn);
    } else {
        assert_int_equal(store_commit(txn), OK);
    }
}

static enum err check(struct fixture *fixture, uint64_t pages_max,
                      struct store_lmdb_check_report *ret_report)
{
    const struct store_lmdb_check_limits limits = {.pages_max = pages_max};

    arena_reset(&fixture->arena);
    fault_init(&fixture->fault, &fixture->arena);
    return store_lmdb_check(fixture->path, &limits, &fixture->fault, ret_report);
}

/* Goal: no store that LMDB wrote is refused. Method: hundreds of random transactions, rows of all
 * sizes put and deleted, a reader that keeps old pages; checked whole and with limits after each. */
static void test_valid_store_is_never_refused(void **state)
{
    struct fixture *fixture = *state;
    struct store_txn *reader = NULL;
    struct store_lmdb_check_report report;

    for (int round = 0; round < ROUNDS; round++) {
        enum err err = OK;

        if (round % 20 == 10) {
            assert_int_equal(store_begin(fixture->backend, STORE_READ, &reader), OK);
        }
        change(fixture);
        err = check(fixture, 0, &report);
        if (err != OK) {
            fail_msg("round %d: %.*s", round, (int)fixture->fault.message.size,
                     (const char *)fixture->fault.message.data);
        }
        assert_true(report.whole);
        assert_int_equal(check(fixture, 1 + draw(fixture, (uint32_t)report.pages), &report), OK);
        if (round % 20 == 15) {
            store_abort(reader);
            reader = NULL;
            close_fixture(fixture);
            open_fixture(fixture);
        }
    }
    assert_true(report.pages > 0);
}

static void fill(struct fixture *fixture)
{
    for (int i = 0; i < 40; i++) {
        change(fixture);
    }
    close_fixture(fixture);
}

static void patch(struct fixture *fixture, uint64_t offset, const void *bytes, size_t size)
{
    int fd = open(fixture->path, O_RDWR);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, (off_t)offset), size);
    (void)close(fd);
}

static void read_at(struct fixture *fixture, uint64_t offset, void *bytes, size_t size)
{
    int fd = open(fixture->path, O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, bytes, size, (off_t)offset), size);
    (void)close(fd);
}

/* Returns the newest meta page, which is the valid one. */
static struct lmdb_meta newest(struct fixture *fixture)
{
    uint8_t bytes[LMDB_META_BYTES];
    struct lmdb_meta metas[2];

    for (uint64_t i = 0; i < 2; i++) {
        read_at(fixture, i * PAGE, bytes, sizeof(bytes));
        assert_null(lmdb_meta_read(bytes, i, &metas[i]));
    }
    return metas[metas[1].txn > metas[0].txn];
}

/* Checks that an opening reports damage with these words. */
static void expect_refused(struct fixture *fixture, const char *part)
{
    char text[1024];
    enum err err = OK;

    arena_reset(&fixture->arena);
    fault_init(&fixture->fault, &fixture->arena);
    err = store_lmdb_open(&fixture->config, &fixture->fault, &fixture->backend);
    assert_int_equal(err, ERR_CORRUPT);
    assert_true(fixture->fault.message.size < sizeof(text));
    memcpy(text, fixture->fault.message.data, fixture->fault.message.size);
    text[fixture->fault.message.size] = '\0';
    if (strstr(text, part) == NULL || strstr(text, "restore a backup") == NULL) {
        fail_msg("'%s' is not in: %s", part, text);
    }
}

/* Goal: a meta page is accepted only if all of it is consistent. Method: each number of it
 * changed. */
static void test_invalid_meta_page_is_rejected(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        uint32_t offset;
        const char *says;
    } fields[] = {{0, "not a meta page"},  {10, "not a meta page"}, {16, "not a meta page"},
                  {20, "another version"}, {40, "page size"},       {44, "flags"},
                  {92, "flags"},           {136, "shorter"},        {144, "commit"}};
    uint64_t place = 0;

    fill(fixture);
    place = (newest(fixture).txn & 1) * PAGE;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        uint64_t before = 0;
        uint64_t after = 0;

        read_at(fixture, place + fields[i].offset, &before, sizeof(before));
        after = before ^ (fields[i].offset == 136 ? 1ull << 40 : 0x81);
        patch(fixture, place + fields[i].offset, &after, sizeof(after));
        expect_refused(fixture, fields[i].says);
        patch(fixture, place + fields[i].offset, &before, sizeof(before));
    }
    /* The commit's number is raised by two: the page is valid by itself, but not beside the
     * other. */
    read_at(fixture, place + 144, &place, sizeof(place));
    place += 2;
    patch(fixture, (place & 1) * PAGE + 144, &place, sizeof(place));
    expect_refused(fixture, "does not fit the other");
}

/* Goal: an unexpected page is found in any tree. Method: the root of the list of tables and a
 * thousand pages at random: zeroed, filled, exchanged, truncated. */
static void test_damaged_page_is_found_anywhere(void **state)
{
    struct fixture *fixture = *state;
    uint8_t whole[PAGE];
    uint8_t bytes[PAGE];
    struct lmdb_meta meta;
    uint32_t found = 0;

    fill(fixture);
    meta = newest(fixture);
    read_at(fixture, meta.names.root * PAGE, whole, PAGE);
    memset(bytes, 0, PAGE);
    patch(fixture, meta.names.root * PAGE, bytes, PAGE);
    expect_refused(fixture, "another page is in its place");
    patch(fixture, meta.names.root * PAGE, whole, PAGE);
    for (int i = 0; i < 300; i++) {
        uint64_t number = 2 + draw(fixture, (uint32_t)meta.last_page - 1);

        read_at(fixture, number * PAGE, whole, PAGE);
        memset(bytes, draw(fixture, 2) == 0 ? 0 : 0xff, PAGE);
        if (draw(fixture, 3) == 0) {
            read_at(fixture, (2 + draw(fixture, (uint32_t)meta.last_page - 1)) * PAGE, bytes, PAGE);
        }
        patch(fixture, number * PAGE, bytes, PAGE);
        found += check(fixture, 0, NULL) == ERR_CORRUPT;
        patch(fixture, number * PAGE, whole, PAGE);
    }
    assert_int_equal(check(fixture, 0, NULL), OK);
    assert_true(found > 20); /* the others are free, or inside of long values */
}

/* Writes an entry of 16 bytes. */
static void put_entry(uint8_t *bytes)
{
    memset(bytes, 0, 15);
    bytes[0] = 4; /* size of the value */
    bytes[6] = 4; /* size of the key */
}

/* Goal: entries begin at even offsets, as LMDB requires. Method: a leaf with two entries whose sizes fill
 * it; the second at its offset, and at an odd one within the first. */
static void test_entry_at_an_odd_place_is_damage(void **state)
{
    static const uint16_t places[] = {PAGE - 16, PAGE - 17};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const uint16_t head[] = {5,  0,         0,         0,        0, LMDB_PAGE_LEAF,
                                 20, PAGE - 32, PAGE - 32, places[i]};
        uint8_t bytes[PAGE] = {0};
        const struct lmdb_page page = {bytes, PAGE, 5};

        memcpy(bytes, head, sizeof(head));
        put_entry(bytes + PAGE - 32);
        put_entry(bytes + places[i]);
        if (i == 0) {
            assert_null(lmdb_page_check(&page, LMDB_PAGE_LEAF));
        } else {
            assert_string_equal(lmdb_page_check(&page, LMDB_PAGE_LEAF),
                                "an entry is outside of the page");
        }
    }
}

/* Goal: a truncated file, or one of another type, is refused, and never treated as a new store.
 * Method: truncation at many places; a folder; an empty file. */
static void test_truncated_file_is_never_read_as_new(void **state)
{
    struct fixture *fixture = *state;
    char aside[sizeof(fixture->path) + 8];
    struct stat info;

    fill(fixture);
    (void)snprintf(aside, sizeof(aside), "%s.aside", fixture->path);
    assert_int_equal(rename(fixture->path, aside), 0);
    expect_refused(fixture, "db/data.mdb is missing");
    assert_int_equal(mkdir(fixture->path, 0700), 0);
    expect_refused(fixture, "not a file");
    assert_int_equal(rmdir(fixture->path), 0);
    assert_int_equal(rename(aside, fixture->path), 0);
    assert_int_equal(stat(fixture->path, &info), 0);
    for (off_t size = info.st_size - PAGE - 1; size >= 0; size -= 1 + size / 5) {
        assert_int_equal(truncate(fixture->path, size), 0);
        if (newest(fixture).last_page * PAGE > (uint64_t)size + (64 * PAGE)) {
            expect_refused(fixture, "damaged");
        }
        if (size < 3 * PAGE) {
            break;
        }
    }
    assert_int_equal(truncate(fixture->path, 100), 0);
    expect_refused(fixture, "too few for a store");
    assert_int_equal(truncate(fixture->path, 0), 0);
    expect_refused(fixture, "too few for a store");
}

/* Finds a table that has branch pages, in a leaf of the tree of tables. */
static bool find_branched(struct fixture *fixture, uint64_t leaf, struct lmdb_tree *ret_tree)
{
    uint8_t bytes[PAGE];
    struct lmdb_page page = {bytes, PAGE, leaf};

    read_at(fixture, leaf * PAGE, bytes, PAGE);
    for (uint32_t i = 0; i < lmdb_page_count(&page); i++) {
        *ret_tree = lmdb_tree_read(lmdb_page_node(&page, i).value.data);
        if (ret_tree->depth >= 2) {
            return true;
        }
    }
    return false;
}

/* Returns the number of the first leaf of a table that has branch pages. */
static uint64_t first_leaf(struct fixture *fixture, const struct lmdb_meta *meta)
{
    uint8_t bytes[PAGE];
    struct lmdb_page page = {bytes, PAGE, meta->names.root};
    struct lmdb_tree tree = {.depth = 0};
    bool is_found = false;

    assert_in_range(meta->names.depth, 1, 2);
    if (meta->names.depth == 1) {
        is_found = find_branched(fixture, page.number, &tree);
    } else {
        read_at(fixture, page.number * PAGE, bytes, PAGE);
        for (uint32_t i = 0; i < lmdb_page_count(&page) && !is_found; i++) {
            is_found = find_branched(fixture, lmdb_page_node(&page, i).child, &tree);
        }
    }
    assert_true(is_found);
    page.number = tree.root;
    for (uint32_t depth = 0; depth + 1 < tree.depth; depth++) {
        read_at(fixture, page.number * PAGE, bytes, PAGE);
        page.number = lmdb_page_node(&page, 0).child;
    }
    return page.number;
}

/* Returns the offset of a free page's number in the file. */
static uint64_t place_of_free_page(struct fixture *fixture, const struct lmdb_meta *meta)
{
    uint8_t bytes[PAGE];
    struct lmdb_page page = {bytes, PAGE, meta->free_list.root};
    struct lmdb_node node;

    assert_int_equal(meta->free_list.depth, 1);
    read_at(fixture, page.number * PAGE, bytes, PAGE);
    node = lmdb_page_node(&page, 0);
    assert_non_null(node.value.data);
    assert_true(node.value.size >= 2 * sizeof(uint64_t)); /* a number of pages, and a page */
    return page.number * PAGE + (uint64_t)(node.value.data - bytes) + sizeof(uint64_t);
}

/* Goal: a page that is both in a table and free is found in a store that is too large to be read
 * whole: it would be overwritten. Method: the first leaf of a table in the place of a free page;
 * all pages, and fewer than there are. */
static void test_page_in_a_table_and_free_is_found(void **state)
{
    struct fixture *fixture = *state;
    struct store_lmdb_check_report report;
    struct lmdb_meta meta;
    uint64_t leaf = 0;
    uint64_t limits[] = {0, 0};

    fill(fixture);
    meta = newest(fixture);
    limits[1] = meta.last_page - 1;
    assert_int_equal(check(fixture, limits[1], &report), OK);
    assert_false(report.whole);
    leaf = first_leaf(fixture, &meta);
    patch(fixture, place_of_free_page(fixture, &meta), &leaf, sizeof(leaf));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(check(fixture, limits[i], NULL), ERR_CORRUPT);
        assert_non_null(memmem(fixture->fault.message.data, fixture->fault.message.size,
                               "is used elsewhere", 17));
    }
}

/* A clock that advances by 10 ms at each read, which simulates a slow disk. */
struct slow_clock {
    struct clock clock; /* first */
    int64_t now_us;
};

static int64_t slow_monotonic_us(const struct clock *clock)
{
    struct slow_clock *slow = (struct slow_clock *)(uintptr_t)clock;

    slow->now_us += 10000;
    return slow->now_us;
}

/* Goal: the time limit is kept if each page takes long. Method: 100 ms, on a clock by which a page
 * takes 10. */
static void test_time_limit_is_kept_with_slow_pages(void **state)
{
    struct fixture *fixture = *state;
    struct slow_clock slow = {.clock = {.monotonic_us = slow_monotonic_us}};
    const struct store_lmdb_check_limits limits = {.duration_us_max = 100000, .clock = &slow.clock};
    struct store_lmdb_check_report report;

    fill(fixture);
    assert_int_equal(store_lmdb_check(fixture->path, &limits, &fixture->fault, &report), OK);
    assert_false(report.whole);
    assert_in_range(report.pages, 5, 10);
}

int run_damage_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_valid_store_is_never_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_invalid_meta_page_is_rejected, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged_page_is_found_anywhere, setup, teardown),
        cmocka_unit_test(test_entry_at_an_odd_place_is_damage),
        cmocka_unit_test_setup_teardown(test_truncated_file_is_never_read_as_new, setup, teardown),
        cmocka_unit_test_setup_teardown(test_page_in_a_table_and_free_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(test_time_limit_is_kept_with_slow_pages, setup, teardown),
    };

    return cmocka_run_group_tests_name("damaged files", tests, NULL, NULL);
}
