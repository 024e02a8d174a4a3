/*
 * store_lookup.c: measures the lookup of the newest three examples of a layout without a server: by
 * lmdb_read on the store of the floor measurement, and on each data folder both by plain LMDB calls
 * and by the service's lookup, which writes a reply. Each copies three examples. Methods and stores
 * alternate, for cold layouts (any) and for hot ones (the first few). Not a test: it prints one JSON
 * object per line, with the CPU time of a lookup in nanoseconds, one number per round.
 * Usage: bench_store_lookup FLOOR_STORE LAYOUTS_AN_ORG ROUNDS LOOKUPS DATA_FOLDER...
 */
#include "server/domain/corrections/examples.h"
#include "server/domain/layouts/keys.h"
#include "store/lmdb/lmdb_internal.h"
#include "tools/bench/preload/preload.h"
#include <lm.h> /* header of the floor program, compiled without the project's warnings */

#define LIMIT 3
#define PREFIX_BYTES 48 /* prefix of a layout's cluster, in both stores */
#define ORGS_MAX 1000
#define STORES_MAX 4
#define ROUNDS_MAX 100
#define HOT_LAYOUTS 100
#define FLOOR_LAYOUTS ((size_t)NORG * NFP)
#define ANSWER_BYTES_MAX 65536
#define LAYOUT_NAME_BYTES 21

/* A layout, with the keys for each kind of lookup. */
struct layout {
    struct org_id org;
    struct key prefix;
    struct key head; /* head of Errata's cluster */
    char name[LAYOUT_NAME_BYTES + 11]; /* the format's longest */
};

struct store {
    const char *folder;
    struct store_backend *backend; /* NULL: the floor program's store */
    struct store_txn *txn; /* read transaction; reset between lookups */
    MDB_env *env; /* environment for direct calls of LMDB */
    MDB_txn *raw_txn; /* environment for the service's lookup */
    MDB_cursor *raw_cursor;
    struct layout *layouts;
    size_t layout_count;
};

struct bench {
    struct store stores[STORES_MAX + 1]; /* the floor program's store is the first */
    size_t store_count;
    size_t rounds;
    size_t lookups; /* number of lookups of a round */
    struct arena arena;
    struct fault fault;
    uint64_t draws;
    uint8_t out[ANSWER_BYTES_MAX]; /* copy of the examples, as in a response */
};

/* Returns the number of copied bytes. */
typedef size_t lookup_fn(struct bench *bench, struct store *store, const struct layout *layout);

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_store_lookup: %s: %s\n", what, why);
    exit(2);
}

static void must(const char *what, enum err err)
{
    if (err != OK) {
        fail(what, err_name(err));
    }
}

static size_t copy(struct bench *bench, size_t used, const void *data, size_t size)
{
    if (size > sizeof(bench->out) - used) {
        fail("lookup", "an answer is longer than expected");
    }
    memcpy(bench->out + used, data, size);
    return used + size;
}

/* Reads the newest rows by LMDB only. Errata's cluster is walked backwards from its last row, the
 * head, which is skipped. */
static size_t walk_raw(struct bench *bench, struct store *store, const struct layout *layout,
                       bool head)
{
    const struct key *start = head ? &layout->head : &layout->prefix;
    MDB_cursor_op step = head ? MDB_PREV : MDB_NEXT;
    MDB_val key = {start->size, (void *)(uintptr_t)start->bytes};
    MDB_val value = {0, NULL};
    size_t used = 0;
    unsigned rows = 0;
    int code = MDB_SUCCESS;

    CHK(mdb_txn_renew(store->raw_txn));
    CHK(mdb_cursor_renew(store->raw_txn, store->raw_cursor));
    code = mdb_cursor_get(store->raw_cursor, &key, &value, MDB_SET_RANGE);
    if (head && code == MDB_SUCCESS) {
        code = mdb_cursor_get(store->raw_cursor, &key, &value, step);
    }
    while (code == MDB_SUCCESS && rows < LIMIT &&
           memcmp(key.mv_data, layout->prefix.bytes, PREFIX_BYTES) == 0) {
        used = copy(bench, used, value.mv_data, value.mv_size);
        if (++rows < LIMIT) {
            code = mdb_cursor_get(store->raw_cursor, &key, &value, step);
        }
    }
    mdb_txn_reset(store->raw_txn);
    return rows == LIMIT ? used : 0;
}

static size_t look_up_floor(struct bench *bench, struct store *store, const struct layout *layout)
{
    return walk_raw(bench, store, layout, false);
}

static size_t look_up_raw(struct bench *bench, struct store *store, const struct layout *layout)
{
    return walk_raw(bench, store, layout, true);
}

static size_t look_up_examples(struct bench *bench, struct store *store,
                               const struct layout *layout)
{
    const struct examples_query query = {.org = layout->org,
                                         .layout_fingerprint = slice_text(layout->name),
                                         .limit = LIMIT,
                                         .view = EXAMPLE_VIEW_EXAMPLES};
    struct buffer body;
    size_t size = 0;

    must("renew", store_renew(store->txn));
    buffer_init(&body, &bench->arena, 8192);
    must("examples", examples_write(store->txn, &query, &body));
    size = body.size;
    store_reset(store->txn);
    arena_reset(&bench->arena);
    return size;
}

/* Returns the nanoseconds of CPU time per lookup, over layouts drawn from the first `among`. */
static double measure(struct bench *bench, lookup_fn *look_up, struct store *store, size_t among)
{
    double start_s = cpu_s();

    for (size_t i = 0; i < bench->lookups; i++) {
        size_t drawn = (size_t)(xs64(&bench->draws) >> 11) % among;

        if (look_up(bench, store, &store->layouts[drawn]) == 0) {
            fail(store->folder, "a layout has fewer than three examples");
        }
    }
    return (cpu_s() - start_s) * 1e9 / (double)bench->lookups;
}

struct way {
    const char *name;
    lookup_fn *look_up;
    size_t store;
};

static size_t list_ways(const struct bench *bench, struct way *ways)
{
    size_t count = 0;

    ways[count++] = (struct way){"floor", look_up_floor, 0};
    for (size_t i = 1; i < bench->store_count; i++) {
        ways[count++] = (struct way){"lmdb", look_up_raw, i};
        ways[count++] = (struct way){"errata", look_up_examples, i};
    }
    return count;
}

static void print_way(const struct bench *bench, const struct way *way, const char *heat,
                      const double *ns)
{
    printf("{\"way\": \"%s\", \"folder\": \"%s\", \"heat\": \"%s\", \"ns\": [", way->name,
           bench->stores[way->store].folder, heat);
    for (size_t i = 0; i < bench->rounds; i++) {
        printf("%s%.1f", i == 0 ? "" : ", ", ns[i]);
    }
    printf("]}\n");
}

static void compare(struct bench *bench, const char *heat, size_t among)
{
    struct way ways[2 * STORES_MAX + 1];
    double ns[2 * STORES_MAX + 1][ROUNDS_MAX];
    size_t count = list_ways(bench, ways);

    /* A round before the first brings pages and caches into the same state as for the others. */
    for (size_t round = 0; round <= bench->rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            struct store *store = &bench->stores[ways[i].store];
            size_t limit = among < store->layout_count ? among : store->layout_count;
            double taken_ns = measure(bench, ways[i].look_up, store, limit);

            if (round > 0) {
                ns[i][round - 1] = taken_ns;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        print_way(bench, &ways[i], heat, ns[i]);
    }
}

static struct layout *make_layouts(size_t count)
{
    struct layout *layouts = count == 0 ? NULL : calloc(count, sizeof(*layouts));

    if (layouts == NULL) {
        fail("layouts", "there are none, or no memory for them");
    }
    return layouts;
}

static void open_cursor(struct store *store, MDB_dbi dbi)
{
    CHK(mdb_txn_begin(store->env, NULL, MDB_RDONLY, &store->raw_txn));
    CHK(mdb_cursor_open(store->raw_txn, dbi, &store->raw_cursor));
    mdb_txn_reset(store->raw_txn);
}

static void open_floor(struct store *store, const char *folder)
{
    MDB_txn *txn = NULL;
    MDB_dbi dbi = 0;

    store->folder = folder;
    store->layout_count = FLOOR_LAYOUTS;
    store->layouts = make_layouts(store->layout_count);
    for (uint32_t i = 0; i < FLOOR_LAYOUTS; i++) {
        struct key *prefix = &store->layouts[i].prefix;

        prefix->size = PREFIX_BYTES;
        org_bytes(i / NFP, prefix->bytes);
        fp_bytes(i / NFP, i % NFP, prefix->bytes + 16);
    }
    CHK(mdb_env_create(&store->env));
    CHK(mdb_env_set_mapsize(store->env, 32ull << 30));
    CHK(mdb_env_open(store->env, folder, MDB_RDONLY | MDB_NOTLS | MDB_NORDAHEAD, 0644));
    CHK(mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn));
    CHK(mdb_dbi_open(txn, NULL, 0, &dbi));
    CHK(mdb_txn_commit(txn));
    open_cursor(store, dbi);
}

static size_t read_orgs(struct store_txn *txn, struct org_id *orgs)
{
    struct key prefix = key_global_prefix();
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    size_t count = 0;

    must("cursor", store_cursor_init(&cursor, txn, TABLE_ORGANIZATION, key_slice(&prefix),
                                     slice_of(NULL, 0), STORE_ASCENDING));
    while (count < ORGS_MAX && store_cursor_next(&cursor, &key, &value) == OK) {
        memcpy(orgs[count].uuid.bytes, key.data + UUID_BYTES, UUID_BYTES);
        count++;
    }
    store_cursor_deinit(&cursor);
    return count;
}

static void open_store(struct bench *bench, struct store *store, const char *folder,
                       uint32_t layouts)
{
    const struct store_lmdb_config config = {.path = folder};
    static struct org_id orgs[ORGS_MAX];
    size_t org_count = 0;

    store->folder = folder;
    if (store_lmdb_open(&config, &bench->fault, &store->backend) != OK) {
        fail(folder, (const char *)bench->fault.message.data);
    }
    must("begin", store_begin(store->backend, STORE_READ, &store->txn));
    org_count = read_orgs(store->txn, orgs);
    store_reset(store->txn);
    store->layout_count = org_count * layouts;
    store->layouts = make_layouts(store->layout_count);
    for (size_t i = 0; i < store->layout_count; i++) {
        struct layout *layout = &store->layouts[i];
        struct key_fingerprint fingerprint;

        (void)snprintf(layout->name, sizeof(layout->name), PRELOAD_LAYOUT_FORMAT,
                       (uint32_t)(i % layouts));
        fingerprint = key_fingerprint_of(slice_text(layout->name));
        layout->org = orgs[i / layouts];
        layout->prefix = key_layout_prefix(layout->org, &fingerprint);
        layout->head = key_layout_head(layout->org, &fingerprint);
    }
    store->env = ((struct lmdb_backend *)store->backend)->env;
    open_cursor(store, ((struct lmdb_backend *)store->backend)->tables[TABLE_EXAMPLE]);
}

static void close_store(struct store *store)
{
    mdb_cursor_close(store->raw_cursor);
    mdb_txn_abort(store->raw_txn);
    store_abort(store->txn);
    if (store->backend != NULL) {
        store_lmdb_close(store->backend);
    } else {
        mdb_env_close(store->env);
    }
    free(store->layouts);
}

int main(int argc, char **argv)
{
    static struct bench bench; /* contains an answer of 64 KB */
    uint32_t layouts = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;

    bench.rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    bench.lookups = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    if (argc < 6 || argc > 5 + STORES_MAX || layouts == 0 || bench.lookups == 0 ||
        bench.rounds == 0 || bench.rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench_store_lookup FLOOR_STORE LAYOUTS_AN_ORG ROUNDS LOOKUPS "
                        "DATA_FOLDER...\n");
        return 2;
    }
    arena_init(&bench.arena, SIZE_MAX);
    fault_init(&bench.fault, &bench.arena);
    bench.draws = 88172645463325252u;
    open_floor(&bench.stores[bench.store_count++], argv[1]);
    for (int i = 5; i < argc; i++) {
        open_store(&bench, &bench.stores[bench.store_count++], argv[i], layouts);
    }
    compare(&bench, "cold", SIZE_MAX);
    compare(&bench, "hot", HOT_LAYOUTS);
    for (size_t i = 0; i < bench.store_count; i++) {
        close_store(&bench.stores[i]);
    }
    arena_deinit(&bench.arena);
    return 0;
}
