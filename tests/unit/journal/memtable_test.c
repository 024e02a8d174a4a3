/*
 * memtable_test.c: the versions that a snapshot sees, in both directions, after undone transactions, and while another
 * thread writes.
 */
#include "store/base/bytes.h"
#include "store/base/random.h"
#include "store/journal/memtable.h"
#include "tests/unit/journal/journal_tests.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define ROWS 50
#define COMMITS 400
#define SNAPSHOTS 8
#define PUTS_MAX 6

static struct slice key_slice_of(const struct named_key *key)
{
    return slice_of(key->bytes, sizeof(key->bytes));
}

static void put(struct memtable *memtable, uint32_t number, uint64_t commit, enum memtable_op op)
{
    struct named_key key = journal_test_key(number);
    uint8_t value[8];
    struct memtable_row row = {
        .table = TABLE_SUBJECT, .op = op, .key = key_slice_of(&key), .number = commit};

    bytes_put_be64(value, commit);
    row.value = slice_of(value, op == MEMTABLE_DEL ? 0 : sizeof(value));
    assert_int_equal(memtable_put(memtable, &row), OK);
}

/* Expected view of each row by each snapshot: the commit, or 0 for none; negative: removed by that commit. */
struct model {
    int64_t rows[ROWS];
};

static void expect_row(const struct memtable_row *row, uint32_t number, int64_t seen)
{
    struct named_key key = journal_test_key(number);

    assert_true(slice_equal(row->key, key_slice_of(&key)));
    assert_int_equal(row->op == MEMTABLE_DEL, seen < 0);
    assert_int_equal(row->number, seen < 0 ? -seen : seen);
    if (seen > 0) {
        assert_int_equal(row->value.size, 8);
        assert_int_equal(bytes_get_be64(row->value.data), seen);
    }
}

static void expect_snapshot(const struct memtable *memtable, uint64_t snapshot,
                            const struct model *model)
{
    struct memtable_cursor up = {
        .memtable = memtable, .table = TABLE_SUBJECT, .snapshot = snapshot};
    struct memtable_cursor down = up;
    bool found = memtable_seek(&up, slice_of(NULL, 0));
    bool found_down = memtable_last(&down);
    struct memtable_row row;

    for (uint32_t i = 0; i < ROWS; i++) {
        struct named_key key = journal_test_key(i);

        assert_int_equal(memtable_find(memtable, TABLE_SUBJECT, key_slice_of(&key), snapshot, &row),
                         model->rows[i] != 0);
        if (model->rows[i] == 0) {
            continue;
        }
        expect_row(&row, i, model->rows[i]);
        assert_true(found);
        memtable_read(&up, &row);
        expect_row(&row, i, model->rows[i]);
        found = memtable_next(&up);
    }
    assert_false(found);
    for (uint32_t i = ROWS; i > 0; i--) {
        struct named_key key = journal_test_key(i - 1);

        if (model->rows[i - 1] == 0) {
            continue;
        }
        assert_true(found_down);
        memtable_read(&down, &row);
        expect_row(&row, i - 1, model->rows[i - 1]);
        found_down = memtable_before(&down, key_slice_of(&key));
    }
    assert_false(found_down);
}

static uint32_t draw(struct random_seeded *random, uint32_t below)
{
    uint32_t number = 0;

    random_fill(&random->random, &number, sizeof(number));
    return number % below;
}

/* Puts some rows as one commit, some of them twice. */
static void put_some(struct memtable *memtable, struct random_seeded *random, uint64_t commit,
                     struct model *model)
{
    uint32_t puts = 1 + draw(random, PUTS_MAX);

    for (uint32_t i = 0; i < puts; i++) {
        uint32_t number = draw(random, ROWS);
        bool is_del = draw(random, 4) == 0;

        put(memtable, number, commit, is_del ? MEMTABLE_DEL : MEMTABLE_PUT);
        model->rows[number] = is_del ? -(int64_t)commit : (int64_t)commit;
    }
}

/* Makes random commits, a third of them undone, and compares each snapshot that was kept with a model. */
static void compare_snapshots(struct chunk_pool *pool)
{
    struct memtable *memtable = memtable_new(0, pool);
    struct model models[SNAPSHOTS] = {{{0}}};
    uint64_t numbers[SNAPSHOTS] = {0};
    struct random_seeded random;
    uint64_t commit = 1;

    assert_non_null(memtable);
    assert_false(memtable_has_table(memtable, TABLE_SUBJECT));
    random_seeded_init(&random, 7);
    for (size_t i = 0; i < COMMITS; i++) {
        size_t kept = draw(&random, SNAPSHOTS - 1);
        struct model *newest = &models[SNAPSHOTS - 1];
        struct model next = *newest;

        put_some(memtable, &random, commit, &next);
        if (draw(&random, 3) == 0) {
            memtable_undo(memtable);
        } else {
            expect_snapshot(memtable, commit, &next);
            memtable_keep(memtable);
            *newest = next;
            numbers[SNAPSHOTS - 1] = commit++;
        }
        if (draw(&random, 10) == 0) {
            models[kept] = *newest;
            numbers[kept] = numbers[SNAPSHOTS - 1];
        }
        for (size_t j = 0; j < SNAPSHOTS; j++) {
            expect_snapshot(memtable, numbers[j], &models[j]);
        }
    }
    assert_true(memtable_has_table(memtable, TABLE_SUBJECT));
    assert_false(memtable_has_table(memtable, TABLE_EVENT));
    memtable_unref(memtable);
}

/* Goal: a snapshot sees the newest version up to its number, regardless of later puts and undone ones, also in memory
 * that another memtable has used. Method: random commits of two memtables, compared with a model. */
static void snapshots_see_their_versions(void **state)
{
    struct chunk_pool *pool = chunk_pool_new(CHUNK_BYTES);

    (void)state;
    compare_snapshots(pool);
    assert_int_equal(chunk_pool_kept_bytes(pool), CHUNK_BYTES);
    compare_snapshots(pool);
    memtable_unref(NULL);
    chunk_pool_free(pool);
}

struct reading {
    struct memtable *memtable;
    atomic_uint_fast64_t committed;
    atomic_bool stop;
};

/* Each commit puts all rows, so a snapshot has all of one commit. */
static void *read_snapshots(void *user)
{
    struct reading *reading = user;

    while (!atomic_load(&reading->stop)) {
        uint64_t snapshot = atomic_load(&reading->committed);
        struct memtable_cursor cursor = {
            .memtable = reading->memtable, .table = TABLE_SUBJECT, .snapshot = snapshot};
        uint32_t count = 0;

        for (bool found = memtable_seek(&cursor, slice_of(NULL, 0)); found;
             found = memtable_next(&cursor)) {
            struct memtable_row row;

            memtable_read(&cursor, &row);
            if (row.number != snapshot) {
                return reading;
            }
            count++;
        }
        if (count != (snapshot == 0 ? 0 : ROWS)) {
            return reading;
        }
    }
    return NULL;
}

/* Goal: a reader sees whole commits while another thread puts and undoes. */
static void readers_see_whole_commits_while_a_thread_writes(void **state)
{
    struct chunk_pool *pool = chunk_pool_new(0);
    struct reading reading = {.memtable = memtable_new(0, pool)};
    void *failed = NULL;
    pthread_t thread = 0;

    (void)state;
    assert_non_null(reading.memtable);
    assert_int_equal(pthread_create(&thread, NULL, read_snapshots, &reading), 0);
    for (uint64_t commit = 1; commit <= COMMITS; commit++) {
        for (int attempt = 0; attempt < 2; attempt++) {
            for (uint32_t i = 0; i < ROWS; i++) {
                put(reading.memtable, i, commit, MEMTABLE_PUT);
            }
            if (attempt == 0) {
                memtable_undo(reading.memtable);
            }
        }
        memtable_keep(reading.memtable);
        atomic_store(&reading.committed, commit);
    }
    atomic_store(&reading.stop, true);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    memtable_unref(reading.memtable);
    chunk_pool_free(pool);
}

/* Goal: the next memtable uses the memory of the last one, and no more is kept than allowed. Method: a pool that keeps
 * two chunks, to which three and a larger one are returned. */
static void a_pool_keeps_chunks_up_to_its_limit(void **state)
{
    struct chunk_pool *pool = chunk_pool_new(2 * CHUNK_BYTES);
    struct chunk *chunks[3] = {NULL};
    struct chunk *large = chunk_pool_take(pool, CHUNK_BYTES);
    struct chunk *again = NULL;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        chunks[i] = chunk_pool_take(pool, 1);
        assert_non_null(chunks[i]);
        chunks[i]->used = 1;
    }
    assert_true(large->capacity >= CHUNK_BYTES);
    chunk_pool_give(pool, large);
    assert_int_equal(chunk_pool_kept_bytes(pool), 0);
    for (size_t i = 0; i < 3; i++) {
        chunk_pool_give(pool, chunks[i]);
    }
    assert_int_equal(chunk_pool_kept_bytes(pool), 2 * CHUNK_BYTES);
    again = chunk_pool_take(pool, CHUNK_BYTES / 2);
    assert_ptr_equal(again, chunks[1]);
    assert_int_equal(again->used, 0);
    assert_int_equal(chunk_pool_kept_bytes(pool), CHUNK_BYTES);
    chunk_pool_give(pool, again);
    chunk_pool_shrink(pool);
    assert_int_equal(chunk_pool_kept_bytes(pool), 0);
    chunk_pool_free(pool);
}

int run_memtable_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_see_their_versions),
        cmocka_unit_test(readers_see_whole_commits_while_a_thread_writes),
        cmocka_unit_test(a_pool_keeps_chunks_up_to_its_limit),
    };

    return cmocka_run_group_tests_name("memtable", tests, NULL, NULL);
}
