/*
 * store_lookup.c: what the store costs over raw LMDB, in one run over one file: the newest three rows
 * of a layout, by LMDB's own calls, by the store's, and by the store's with the records decoded, in
 * turns; and how many events a second commits of 1, 10, 100 and 256 hold. Not a test: it prints.
 * Usage: bench_store_lookup NEW_FOLDER [LAYOUTS [LOOKUPS]]
 */
#include "store/base/ctx.h"
#include "store/lmdb/lmdb_internal.h"
#include "store/log.h"
#include "store/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define EXAMPLES_A_LAYOUT 5
#define EXAMPLE_BYTES 1200
#define LIMIT 3
#define ROUNDS 7
#define FILL_LAYOUTS_A_COMMIT 500
#define COMMIT_SECONDS 2
#define START_US INT64_C(1770000000000000)

struct bench {
    struct store_backend *backend;
    struct org_id org;
    uint32_t layouts;
    uint32_t lookups;
    struct key *prefixes; /* one a layout */
    struct arena arena;
    struct fault fault;
    struct random_seeded random;
    struct ctx ctx;
    uint8_t out[4 * EXAMPLE_BYTES]; /* where rows are copied to, as an answer would */
    uint64_t sum; /* keeps decoding from being left out */
};

/* One newest-three lookup of a layout; gives the rows it found. */
typedef unsigned lookup_fn(struct bench *bench, void *handle, const struct key *prefix);

static void must(const char *what, enum err err)
{
    if (err != OK) {
        fprintf(stderr, "bench_store_lookup: %s: %s\n", what, err_name(err));
        exit(2);
    }
}

static void must_lmdb(int code)
{
    if (code != MDB_SUCCESS) {
        fprintf(stderr, "bench_store_lookup: %s\n", mdb_strerror(code));
        exit(2);
    }
}

static uint32_t draw(struct bench *bench)
{
    uint32_t number = 0;

    random_fill(&bench->random.random, &number, sizeof(number));
    return number;
}

static void put_layout(struct bench *bench, struct store_txn *txn, uint32_t layout)
{
    static uint8_t text[EXAMPLE_BYTES];
    char name[32];
    int size = snprintf(name, sizeof(name), "layout-%08u", layout);
    struct key_fingerprint fingerprint = key_fingerprint_of(slice_of(name, (size_t)size));
    struct example_record record = {.example = slice_of(text, sizeof(text)), .hint = SLICE("{}")};

    bench->prefixes[layout] = key_layout_prefix(bench->org, &fingerprint);
    memset(text, 'x', sizeof(text));
    for (uint32_t i = 0; i < EXAMPLES_A_LAYOUT; i++) {
        struct key key;
        struct slice bytes = {NULL, 0};

        record.seq = (uint64_t)layout * EXAMPLES_A_LAYOUT + i + 1;
        record.created_at_us = START_US + (int64_t)record.seq;
        key = key_example(bench->org, &fingerprint, record.created_at_us, record.seq);
        must("encode", record_encode_example(&bench->arena, &record, &bytes));
        must("put", store_put(txn, TABLE_EXAMPLE, key_slice(&key), bytes));
        arena_reset(&bench->arena);
    }
}

static void fill(struct bench *bench)
{
    for (uint32_t layout = 0; layout < bench->layouts;) {
        struct store_txn *txn = NULL;

        must("begin", store_begin(bench->backend, STORE_WRITE, &txn));
        for (int i = 0; i < FILL_LAYOUTS_A_COMMIT && layout < bench->layouts; i++, layout++) {
            put_layout(bench, txn, layout);
        }
        must("commit", store_commit(txn));
    }
}

struct raw {
    MDB_txn *txn;
    MDB_cursor *cursor;
};

static unsigned lookup_raw(struct bench *bench, void *handle, const struct key *prefix)
{
    struct raw *raw = handle;
    MDB_val key = {prefix->size, (void *)(uintptr_t)prefix->bytes};
    MDB_val value = {0, NULL};
    size_t used = 0;
    unsigned rows = 0;
    int code = MDB_SUCCESS;

    must_lmdb(mdb_txn_renew(raw->txn));
    must_lmdb(mdb_cursor_renew(raw->txn, raw->cursor));
    code = mdb_cursor_get(raw->cursor, &key, &value, MDB_SET_RANGE);
    while (code == MDB_SUCCESS && rows < LIMIT &&
           memcmp(key.mv_data, prefix->bytes, prefix->size) == 0) {
        memcpy(bench->out + used, value.mv_data, value.mv_size);
        used += value.mv_size;
        if (++rows < LIMIT) {
            code = mdb_cursor_get(raw->cursor, &key, &value, MDB_NEXT);
        }
    }
    mdb_txn_reset(raw->txn);
    return rows;
}

/* The store's lookup; with `decode` each record is decoded and its message copied, else its row. */
static unsigned lookup_store(struct bench *bench, struct store_txn *txn, const struct key *prefix,
                             bool decode)
{
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    size_t used = 0;
    unsigned rows = 0;

    must("renew", store_renew(txn));
    must("cursor", store_cursor_init(&cursor, txn, TABLE_EXAMPLE, key_slice(prefix),
                                     slice_of(NULL, 0), STORE_ASCENDING));
    while (rows < LIMIT && store_cursor_next(&cursor, &key, &value) == OK) {
        if (decode) {
            struct example_record record;

            must("decode", record_decode_example(value, &record));
            bench->sum += record.seq;
            value = record.example;
        }
        memcpy(bench->out + used, value.data, value.size);
        used += value.size;
        rows++;
    }
    store_cursor_deinit(&cursor);
    store_reset(txn);
    return rows;
}

static unsigned lookup_rows(struct bench *bench, void *handle, const struct key *prefix)
{
    return lookup_store(bench, handle, prefix, false);
}

static unsigned lookup_records(struct bench *bench, void *handle, const struct key *prefix)
{
    return lookup_store(bench, handle, prefix, true);
}

/* Nanoseconds a lookup, over layouts drawn from the first `among`. */
static double measure(struct bench *bench, lookup_fn *lookup, void *handle, uint32_t among)
{
    int64_t start_us = clock_monotonic_us(clock_system());

    for (uint32_t i = 0; i < bench->lookups; i++) {
        if (lookup(bench, handle, &bench->prefixes[draw(bench) % among]) != LIMIT) {
            must("lookup", ERR_CORRUPT);
        }
    }
    return (double)(clock_monotonic_us(clock_system()) - start_us) * 1000.0 / bench->lookups;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), compare_doubles);
    return values[ROUNDS / 2];
}

static void print_lookups(const char *name, double raw, double rows, double records)
{
    printf("%-24s raw %6.0f ns   store %6.0f ns (%.2f x)   decoded %6.0f ns (%.2f x)\n", name, raw,
           rows, rows / raw, records, records / raw);
}

static void compare_lookups(struct bench *bench, const char *name, uint32_t among)
{
    struct lmdb_backend *lmdb = (struct lmdb_backend *)bench->backend;
    struct store_txn *txn = NULL;
    struct raw raw;
    double ns[3][ROUNDS];

    must("begin", store_begin(bench->backend, STORE_READ, &txn));
    store_reset(txn);
    must_lmdb(mdb_txn_begin(lmdb->env, NULL, MDB_RDONLY, &raw.txn));
    must_lmdb(mdb_cursor_open(raw.txn, lmdb->tables[TABLE_EXAMPLE], &raw.cursor));
    mdb_txn_reset(raw.txn);
    for (int round = 0; round < ROUNDS; round++) {
        ns[0][round] = measure(bench, lookup_raw, &raw, among);
        ns[1][round] = measure(bench, lookup_rows, txn, among);
        ns[2][round] = measure(bench, lookup_records, txn, among);
    }
    mdb_cursor_close(raw.cursor);
    mdb_txn_abort(raw.txn);
    store_abort(txn);
    print_lookups(name, median(ns[0]), median(ns[1]), median(ns[2]));
}

static void append_event(struct bench *bench, struct store_txn *txn)
{
    static const uint8_t content[900];
    struct event_draft draft = {
        .org = bench->org,
        .kind = EVENT_FEEDBACK,
        .annotator = ANNOTATOR_HUMAN,
        .source = SOURCE_LIVE,
        .actor_user_id = SLICE("operator-1"),
        .subject_count = 1,
        .facts = slice_of(content, 100),
        .content = slice_of(content, sizeof(content)),
    };
    struct key key;
    struct example_record record = {.example = slice_of(content, sizeof(content))};
    struct key_fingerprint fingerprint;
    struct slice bytes = {NULL, 0};
    struct event event;
    uint32_t layout = draw(bench) % bench->layouts;

    draft.subjects[0].kind = SUBJECT_LAYOUT;
    draft.subjects[0].id = slice_of(&layout, sizeof(layout));
    must("stamp", log_next_stamp(&bench->ctx, txn, bench->org, &draft.stamp));
    draft.created_at_us = draft.stamp.recorded_at_us;
    must("append", log_append(&bench->ctx, txn, &draft, &event));
    memcpy(fingerprint.bytes, bench->prefixes[layout].bytes + 16, sizeof(fingerprint.bytes));
    record.seq = event.seq;
    record.created_at_us = event.created_at_us;
    key = key_example(bench->org, &fingerprint, event.created_at_us, event.seq);
    must("encode", record_encode_example(&bench->arena, &record, &bytes));
    must("put", store_put(txn, TABLE_EXAMPLE, key_slice(&key), bytes));
}

static void measure_commits(struct bench *bench, unsigned batch)
{
    int64_t start_us = clock_monotonic_us(clock_system());
    int64_t passed_us = 0;
    uint64_t events = 0;
    uint64_t commits = 0;

    while (passed_us < COMMIT_SECONDS * INT64_C(1000000)) {
        struct store_txn *txn = NULL;

        must("begin", store_begin(bench->backend, STORE_WRITE, &txn));
        for (unsigned i = 0; i < batch; i++) {
            append_event(bench, txn);
            events++;
            arena_reset(&bench->arena);
        }
        must("commit", store_commit(txn));
        commits++;
        passed_us = clock_monotonic_us(clock_system()) - start_us;
    }
    printf("%3u events a commit: %8.0f events/s, %7.2f ms a commit\n", batch,
           (double)events * 1e6 / (double)passed_us, (double)passed_us / 1e3 / (double)commits);
}

int main(int argc, char **argv)
{
    static const unsigned batches[] = {1, 10, 100, 256};
    struct bench bench = {.layouts = 50000, .lookups = 200000};
    struct store_lmdb_config config = {.map_bytes = 16ull << 30};

    if (argc < 2) {
        fprintf(stderr, "usage: %s NEW_FOLDER [LAYOUTS [LOOKUPS]]\n", argv[0]);
        return 2;
    }
    config.path = argv[1];
    bench.layouts = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : bench.layouts;
    bench.lookups = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : bench.lookups;
    bench.prefixes = calloc(bench.layouts, sizeof(*bench.prefixes));
    if (bench.prefixes == NULL || bench.layouts == 0 || bench.lookups == 0) {
        return 2;
    }
    memset(&bench.org, 1, sizeof(bench.org));
    arena_init(&bench.arena, SIZE_MAX);
    fault_init(&bench.fault, &bench.arena);
    random_seeded_init(&bench.random, 1);
    bench.ctx.arena = &bench.arena;
    bench.ctx.clock = clock_system();
    bench.ctx.random = &bench.random.random;
    bench.ctx.fault = &bench.fault;
    must("open", store_lmdb_open(&config, &bench.fault, &bench.backend));
    fill(&bench);
    compare_lookups(&bench, "hot (100 layouts)", bench.layouts < 100 ? bench.layouts : 100);
    compare_lookups(&bench, "all layouts", bench.layouts);
    for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
        measure_commits(&bench, batches[i]);
    }
    printf("(%" PRIu64 ")\n", bench.sum);
    store_lmdb_close(bench.backend);
    arena_deinit(&bench.arena);
    free(bench.prefixes);
    return 0;
}
