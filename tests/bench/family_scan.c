/*
 * family_scan.c: the cost of finding the layout family of a document among all sketches of an
 * organisation. Stores sketches in an LMDB file, and assigns documents that match one of them, and
 * documents that match none. Prints the median and the 99th percentile of CPU time.
 *
 * family_scan NEW_FOLDER [SKETCHES, at most 20,000 [FEATURES, 8 to 128]]
 */
#include "server/domain/layouts/family_assign.h"
#include "server/domain/layouts/family_records.h"
#include "server/domain/layouts/keys.h"
#include "store/base/random.h"
#include "store/lmdb/lmdb.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RUNS 200
#define SKETCHES_DEFAULT 5000
/* Default number of features: the median of real documents. */
#define FEATURES_DEFAULT 54
/* Number of features that pages of different layouts share, such as the size of the page. */
#define SHARED_FEATURES 4

static double now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void draw_sketch(struct random_seeded *random, uint32_t features,
                        struct family_sketch *ret_sketch)
{
    struct family_sketch_builder builder;

    family_sketch_begin(&builder);
    for (uint32_t i = 0; i < features; i++) {
        uint64_t number = i;

        if (i >= SHARED_FEATURES) {
            random_fill(&random->random, &number, sizeof(number));
        }
        family_sketch_add(&builder, FAMILY_FEATURE_WORD, slice_of(&number, sizeof(number)));
    }
    family_sketch_finish(&builder, ret_sketch);
}

static int compare_times(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return (a > b) - (a < b);
}

static bool put_sketches(struct store_backend *backend, struct org_id org,
                         const struct family_sketch *sketches, uint32_t count)
{
    struct store_txn *txn = NULL;
    struct arena arena;
    bool done = store_begin(backend, STORE_WRITE, &txn) == OK;

    arena_init(&arena, SIZE_MAX);
    for (uint32_t i = 0; done && i < count; i++) {
        uint8_t bytes[FAMILY_SKETCH_BYTES_MAX];
        const struct family_sketch_record record = {
            i + 1, slice_of(bytes, family_sketch_encode(&sketches[i], bytes))};
        const struct family_record family = {
            .id = {{1}}, .sketch_seqs = {i + 1}, .sketch_count = 1};
        struct key key = key_family_sketch(org, i + 1);
        struct key family_key = key_family(org, i + 1);
        struct slice value = {NULL, 0};
        struct slice row = {NULL, 0};

        done = record_encode_family_sketch(&arena, &record, &value) == OK &&
               store_put(txn, TABLE_FAMILY_SKETCH, key_slice(&key), value) == OK &&
               record_encode_family(&arena, &family, &row) == OK &&
               store_put(txn, TABLE_FAMILY, key_slice(&family_key), row) == OK;
    }
    arena_deinit(&arena);
    if (!done) {
        store_abort(txn);
        return false;
    }
    return store_commit(txn) == OK;
}

/* Assigns RUNS documents: those of known layouts have three quarters of the features of a sketch. */
static bool measure(struct store_backend *backend, struct org_id org,
                    const struct family_sketch *sketches, uint32_t count, bool known)
{
    struct random_seeded random;
    struct store_txn *txn = NULL;
    double times[RUNS];
    bool done = store_begin(backend, STORE_READ, &txn) == OK;

    random_seeded_init(&random, 2);
    for (uint32_t i = 0; done && i < RUNS; i++) {
        struct family_assignment assignment;
        struct family_sketch sketch = sketches[(uint64_t)i * 7919 % count];
        double start = 0;

        if (!known) {
            draw_sketch(&random, sketch.count, &sketch);
        }
        if (known) {
            sketch.count -= sketch.count / 4;
        }
        start = now_us();
        done = family_assign(txn, org, &sketch, &assignment) == OK &&
               (assignment.family_seq != 0) == known;
        times[i] = now_us() - start;
    }
    store_abort(txn);
    if (!done) {
        return false;
    }
    qsort(times, RUNS, sizeof(times[0]), compare_times);
    (void)printf("%s layout: p50 %.0f us, p99 %.0f us\n", known ? "known" : "new", times[RUNS / 2],
                 times[RUNS * 99 / 100]);
    return true;
}

int main(int argc, char **argv)
{
    uint32_t count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : SKETCHES_DEFAULT;
    uint32_t features = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : FEATURES_DEFAULT;
    struct store_lmdb_config config = {.path = argc > 1 ? argv[1] : NULL};
    struct family_sketch *sketches = calloc(count + 1, sizeof(*sketches));
    const struct org_id org = {{{1}}};
    struct store_backend *backend = NULL;
    struct random_seeded random;
    struct arena arena;
    struct fault fault;
    bool done = false;

    if (argc < 2 || sketches == NULL || count == 0 || count > FAMILY_SKETCHES_MAX ||
        features < FAMILY_SKETCH_FEATURES_MIN || features > FAMILY_SKETCH_FEATURES_MAX) {
        (void)fprintf(stderr, "usage: family_scan NEW_FOLDER [SKETCHES [FEATURES]]\n");
        free(sketches);
        return 2;
    }
    random_seeded_init(&random, 1);
    for (uint32_t i = 0; i < count; i++) {
        draw_sketch(&random, features, &sketches[i]);
    }
    arena_init(&arena, SIZE_MAX);
    fault_init(&fault, &arena);
    done = store_lmdb_open(&config, &fault, &backend) == OK &&
           put_sketches(backend, org, sketches, count) &&
           measure(backend, org, sketches, count, true) &&
           measure(backend, org, sketches, count, false);
    store_lmdb_close(backend);
    arena_deinit(&arena);
    free(sketches);
    return done ? 0 : 1;
}
