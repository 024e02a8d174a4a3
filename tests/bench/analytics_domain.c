/*
 * analytics_domain.c: the cost of one GetLearningAnalytics below the services: a snapshot, the walk
 * over the counters of a range, and the answer. Fills a new data folder with the counters of DAYS days,
 * each with FIELDS names in both kinds of corrections (shared by all days, or different on each day
 * except for one), then requests the whole range. One thread, no network; CPU time. Usage:
 * bench_analytics_domain NEW_FOLDER DAYS FIELDS [own|shared [ROUNDS]]
 */
#include "server/domain/analytics/coverage.h"
#include "server/domain/analytics/learning.h"
#include "server/domain/counters/counters.h"
#include "server/domain/counters/keys.h"
#include "store/lmdb/lmdb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <errata/v1/analytics_service.fields.h>

#define LAST_DAY 20600
#define ANSWER_BYTES_MAX (64u << 20)

struct bench {
    struct store_backend *backend;
    struct arena arena;
    struct fault fault;
    struct clock_manual clock;
    struct random_seeded random;
    struct ctx ctx;
    struct org_id org;
    unsigned days;
    unsigned fields;
    bool own;
};

static void must(const char *what, enum err err)
{
    if (err != OK) {
        fprintf(stderr, "bench_analytics_domain: %s: %s\n", what, err_name(err));
        exit(2);
    }
}

static void fill_day(struct bench *bench, struct store_txn *txn, unsigned day)
{
    const struct counter_day at = {bench->org, LAST_DAY - day};

    must("count", counters_add(&bench->ctx, txn, &at, COUNTER_EVENT_TYPE, SLICE("3"), 700));
    must("count", counters_add(&bench->ctx, txn, &at, COUNTER_EXTRACTIONS, slice_of(NULL, 0), 90));
    for (unsigned field = 0; field < bench->fields; field++) {
        char name[48];
        int size = snprintf(name, sizeof(name), "lines_%u_%u",
                            bench->own && field > 0 ? day + 1 : 0, field);

        must("count", counters_add_field(&bench->ctx, txn, &at, COUNTER_LINE_FIELD,
                                         slice_of(name, (size_t)size)));
        must("count", counters_add_field(&bench->ctx, txn, &at, COUNTER_FIELD_FIELD,
                                         slice_of(name, (size_t)size)));
    }
    arena_reset(&bench->arena);
}

static void fill(struct bench *bench)
{
    store_lmdb_begin_bulk(bench->backend);
    for (unsigned day = bench->days; day-- > 0;) {
        struct store_txn *txn = NULL;

        must("begin", store_begin(bench->backend, STORE_WRITE, &txn));
        fill_day(bench, txn, day);
        must("commit", store_commit(txn));
    }
    must("sync", store_lmdb_end_bulk(bench->backend));
}

/* CPU time, which is more reliable than wall time on a shared machine. */
static int64_t cpu_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Runs one query; returns its time in microseconds. */
static int64_t ask(struct bench *bench, size_t *ret_answer_bytes, size_t *ret_arena_bytes)
{
    const struct learning_query query = {
        .org = bench->org,
        .range = {LAST_DAY + 1 - (int64_t)bench->days, LAST_DAY},
        .top_fields = LEARNING_TOP_FIELDS_DEFAULT,
    };
    int64_t started_us = cpu_us();
    struct learning_report report;
    struct layout_coverage_view layout;
    struct store_txn *txn = NULL;
    struct buffer body;
    struct page page;
    struct coverage_list list = {
        .org = bench->org, .order = LAYOUT_COVERAGE_ORDER_MOST_SEEN, .page = &page};
    enum err err = OK;
    int64_t taken_us = 0;

    buffer_init(&body, &bench->arena, 4096);
    page_init(&page, COVERAGE_MOST_SEEN, slice_of(NULL, 0), &body);
    must("begin", store_begin(bench->backend, STORE_READ, &txn));
    must("learning", learning_read(&bench->ctx, txn, &query, &report));
    must("coverage", coverage_list_begin(txn, &list));
    while ((err = coverage_list_next(&bench->ctx, txn, &list, &layout)) == OK) {
        layout_coverage_view_put(&layout, 1, &body);
    }
    must("end", err == ERR_NOT_FOUND ? OK : err);
    page_deinit(&page);
    store_abort(txn);
    taken_us = cpu_us() - started_us;
    *ret_answer_bytes = body.size;
    *ret_arena_bytes = bench->arena.used_bytes;
    arena_reset(&bench->arena);
    return taken_us;
}

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    struct bench bench = {.days = 0};
    struct store_lmdb_config config = {.path = argc > 1 ? argv[1] : NULL};
    unsigned rounds = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 101;
    int64_t times[1001];
    size_t answer_bytes = 0;
    size_t arena_bytes = 0;

    if (argc < 4 || rounds < 1 || rounds > 1001) {
        fprintf(stderr,
                "usage: bench_analytics_domain NEW_FOLDER DAYS FIELDS [own|shared [ROUNDS]]\n");
        return 2;
    }
    bench.days = (unsigned)strtoul(argv[2], NULL, 10);
    bench.fields = (unsigned)strtoul(argv[3], NULL, 10);
    bench.own = argc > 4 && strcmp(argv[4], "own") == 0;
    arena_init(&bench.arena, ANSWER_BYTES_MAX);
    fault_init(&bench.fault, &bench.arena);
    clock_manual_init(&bench.clock, 0);
    random_seeded_init(&bench.random, 3);
    bench.ctx = (struct ctx){&bench.arena, &bench.clock.clock, &bench.random.random, &bench.fault};
    memset(&bench.org, 7, sizeof(bench.org));
    must("open", store_lmdb_open(&config, &bench.fault, &bench.backend));
    fill(&bench);
    for (unsigned i = 0; i < rounds; i++) {
        times[i] = ask(&bench, &answer_bytes, &arena_bytes);
    }
    qsort(times, rounds, sizeof(times[0]), compare);
    printf("%u days x %u fields%s: CPU p50 %" PRId64 " us, p99 %" PRId64 " us, max %" PRId64
           " us; answer %zu bytes, memory %zu bytes\n",
           bench.days, bench.fields, bench.own ? " of its own" : "", times[rounds / 2],
           times[rounds * 99 / 100], times[rounds - 1], answer_bytes, arena_bytes);
    store_lmdb_close(bench.backend);
    arena_deinit(&bench.arena);
    return 0;
}
