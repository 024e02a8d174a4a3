/*
 * memtable.c: the cost of the rows in memory for a transaction that writes like a captured correction: four rows under
 * random keys, three at the end of their table, six counters of a hundred; each is read before and after its put.
 * Prints the CPU time of a transaction, the best of some memtables, each filled to the size that the server gives it.
 */
#include "store/journal/memtable.h"
#include "store/base/random.h"
#include "store/journal/journal.h"
#include "store/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define REPEATS 5
#define RANDOM_ROWS 4
#define NEWEST_ROWS 3
#define COUNTERS 6
#define COUNTER_KEYS 100
#define RANDOM_VALUE_BYTES 120
#define NEWEST_VALUE_BYTES 500
#define COUNTER_VALUE_BYTES 100
#define NS_PER_US 1e3
#define US_PER_S 1e6

static double cpu_us(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * US_PER_S + (double)now.tv_nsec / NS_PER_US;
}

static void need(bool holds)
{
    if (!holds) {
        (void)fprintf(stderr, "bench_memtable: no memory\n");
        exit(EXIT_FAILURE);
    }
}

/* Reads a row, puts it and reads it again. */
static void change(struct memtable *memtable, size_t table, uint64_t name, size_t value_bytes,
                   uint64_t number)
{
    static const uint8_t value[NEWEST_VALUE_BYTES];
    struct key key = key_org_seq((struct org_id){{{1}}}, name);
    const struct memtable_row row = {.table = (enum store_table)table,
                                     .op = MEMTABLE_PUT,
                                     .key = key_slice(&key),
                                     .value = slice_of(value, value_bytes),
                                     .number = number};
    struct memtable_row found;

    (void)memtable_find(memtable, row.table, row.key, number, &found);
    need(memtable_put(memtable, &row) == OK);
    need(memtable_find(memtable, row.table, row.key, number, &found));
}

static uint64_t draw(struct random_seeded *random)
{
    uint64_t number = 0;

    random_fill(&random->random, &number, sizeof(number));
    return number;
}

static void run_transaction(struct memtable *memtable, struct random_seeded *random,
                            uint64_t number)
{
    size_t table = 0;

    for (size_t i = 0; i < RANDOM_ROWS; i++) {
        change(memtable, table++, draw(random), RANDOM_VALUE_BYTES, number);
    }
    for (size_t i = 0; i < NEWEST_ROWS; i++) {
        change(memtable, table++, ~number, NEWEST_VALUE_BYTES, number);
    }
    for (size_t i = 0; i < COUNTERS; i++) {
        change(memtable, table++, draw(random) % COUNTER_KEYS, COUNTER_VALUE_BYTES, number);
    }
    memtable_keep(memtable);
}

int main(void)
{
    struct random_seeded random;
    struct chunk_pool *pool = chunk_pool_new(STORE_JOURNAL_MEMTABLE_BYTES_DEFAULT);
    double best_us = 0;

    need(pool != NULL);
    random_seeded_init(&random, 1);
    for (size_t i = 0; i < REPEATS; i++) {
        struct memtable *memtable = memtable_new(STORE_JOURNAL_MEMTABLE_BYTES_DEFAULT, pool);
        double start_us = cpu_us();
        uint64_t number = 0;
        double each_us = 0;

        need(memtable != NULL);
        while (memtable_bytes(memtable) < STORE_JOURNAL_MEMTABLE_BYTES_DEFAULT) {
            run_transaction(memtable, &random, ++number);
        }
        each_us = (cpu_us() - start_us) / (double)number;
        best_us = i == 0 || each_us < best_us ? each_us : best_us;
        memtable_unref(memtable);
    }
    chunk_pool_free(pool);
    (void)printf("%.2f us a transaction of %d rows\n", best_us,
                 RANDOM_ROWS + NEWEST_ROWS + COUNTERS);
    return EXIT_SUCCESS;
}
