/*
 * examples_domain.c: the cost of one GetExamples below the services: snapshot, seek, steps, and the
 * answer's bytes, compared with only a walk over the same rows. Fills a new data folder with
 * corrections of LAYOUTS layouts, then looks up layouts in random order; each answer has its
 * reference. One thread, no network. Usage: bench_examples_domain NEW_FOLDER [LAYOUTS [LOOKUPS]]
 */
#include "server/domain/corrections/capture.h"
#include "server/domain/corrections/examples.h"
#include "server/domain/layouts/keys.h"
#include "store/lmdb/lmdb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EVENTS_A_LAYOUT 5
#define LIMIT 3
#define SNIPPET_BYTES 500
#define START_US INT64_C(1770000000000000)
#define ROUNDS 5
/* Size of the store: small enough to run under valgrind. */
#define MAP_BYTES (UINT64_C(8) << 30)

struct bench {
    struct store_backend *backend;
    struct arena arena;
    struct fault fault;
    struct clock_manual clock;
    struct random_seeded random;
    struct ctx ctx;
    struct exposure_key exposure_key;
    struct org_id org;
    unsigned layouts;
    struct settings_cache settings_cache;
    uint64_t answer_bytes;
};

static void must(const char *what, enum err err)
{
    if (err != OK) {
        fprintf(stderr, "bench_examples_domain: %s: %s\n", what, err_name(err));
        exit(2);
    }
}

static size_t layout_name(char text[32], unsigned layout)
{
    return (size_t)snprintf(text, 32, "layout-%08u", layout);
}

static void fill_layout(struct bench *bench, struct store_txn *txn, unsigned layout)
{
    static const char after[] =
        "{\"qty\":12,\"sku\":\"A-1000\",\"uom\":\"pcs\",\"price\":\"9.95\"}";
    const struct event_caller caller = {ROLE_ADMIN, {NULL, 0}, 1, false};
    char name[32] = {0};
    char meta[SNIPPET_BYTES + 64] = {0};
    struct capture_input input = {
        .event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
        .actor_user_id = SLICE("ada"), /* by a person, since those of programs are not served */
        .layout_fingerprint = slice_of(name, layout_name(name, layout)),
        .before_json = SLICE("{\"qty\":10}"),
        .after_json = slice_text(after),
    };

    for (unsigned i = 0; i < EVENTS_A_LAYOUT; i++) {
        struct capture_event event;
        uint64_t seq = 0;

        /* Each has a unique snippet, since copies are not served. */
        (void)snprintf(meta, sizeof(meta), "{\"input_snippet\":\"%0*u\"}", SNIPPET_BYTES, i);
        input.meta_json = slice_text(meta);
        must("prepare", capture_prepare(&bench->ctx, &caller, &input, SLICE("event"), &event));
        must("capture", capture_store(&bench->ctx, txn, bench->org, &event, 1, &seq));
    }
    arena_reset(&bench->arena);
}

static void fill(struct bench *bench)
{
    for (unsigned layout = 0; layout < bench->layouts;) {
        struct store_txn *txn = NULL;

        must("begin", store_begin(bench->backend, STORE_WRITE, &txn));
        log_begin_write(txn, NULL);
        for (unsigned i = 0; i < 1000 && layout < bench->layouts; i++, layout++) {
            fill_layout(bench, txn, layout);
        }
        must("commit", store_commit(txn));
    }
}

/* Reads the rows of an answer, and makes no answer from them. */
static void walk_only(struct bench *bench, struct store_txn *txn, struct slice layout)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(layout);
    struct key prefix = key_layout_prefix(bench->org, &fingerprint);
    struct key head = key_layout_head(bench->org, &fingerprint);
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};

    must("cursor", store_cursor_init(&cursor, txn, TABLE_EXAMPLE, key_slice(&prefix),
                                     key_slice(&head), STORE_DESCENDING));
    for (unsigned i = 0; i < LIMIT + 1; i++) {
        must("next", store_cursor_next(&cursor, &key, &value));
        bench->answer_bytes += value.size;
    }
    store_cursor_deinit(&cursor);
}

static void look_up(struct bench *bench, struct store_txn *txn, struct slice layout,
                    enum example_view view)
{
    const struct examples_query query = {
        .org = bench->org,
        .layout_fingerprint = layout,
        .limit = LIMIT,
        .view = view,
        .exposure_key = &bench->exposure_key,
        .now_us = START_US,
        .settings_cache = &bench->settings_cache,
    };
    struct buffer body;

    buffer_init(&body, &bench->arena, 4096);
    must("examples", examples_write(txn, &query, &body));
    bench->answer_bytes += body.size;
    arena_reset(&bench->arena);
}

/* Returns the nanoseconds of CPU time of one lookup; `view` UNSPECIFIED only walks. */
static double measure(struct bench *bench, struct store_txn *txn, unsigned lookups,
                      enum example_view view)
{
    struct random_seeded random;
    clock_t start = 0;

    random_seeded_init(&random, 5);
    bench->answer_bytes = 0;
    start = clock();
    for (unsigned i = 0; i < lookups; i++) {
        char name[32];
        uint32_t drawn = 0;
        struct slice layout = {NULL, 0};

        random_fill(&random.random, &drawn, sizeof(drawn));
        layout = slice_of(name, layout_name(name, drawn % bench->layouts));
        must("renew", store_renew(txn));
        if (view == EXAMPLE_VIEW_UNSPECIFIED) {
            walk_only(bench, txn, layout);
        } else {
            look_up(bench, txn, layout, view);
        }
        store_reset(txn);
    }
    return (double)(clock() - start) * (1e9 / CLOCKS_PER_SEC) / lookups;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"walk only", "EXAMPLES", "HINTS", "BOTH"};
    struct store_lmdb_config config = {.path = argc > 1 ? argv[1] : NULL, .map_bytes = MAP_BYTES};
    unsigned lookups = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 300000;
    const uint8_t key[EXPOSURE_KEY_BYTES] = {1};
    struct store_txn *txn = NULL;
    struct bench bench;

    if (argc < 2) {
        fprintf(stderr, "usage: bench_examples_domain NEW_FOLDER [LAYOUTS [LOOKUPS]]\n");
        return 2;
    }
    memset(&bench, 0, sizeof(bench));
    bench.layouts = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 20000;
    arena_init(&bench.arena, 64u << 20);
    fault_init(&bench.fault, &bench.arena);
    clock_manual_init(&bench.clock, START_US);
    random_seeded_init(&bench.random, 1);
    bench.ctx = (struct ctx){&bench.arena, &bench.clock.clock, &bench.random.random, &bench.fault};
    exposure_key_init(&bench.exposure_key, key);
    bench.org.uuid = uuid_v7(START_US, &bench.random.random);
    must("open", store_lmdb_open(&config, &bench.fault, &bench.backend));
    fill(&bench);
    must("begin", store_begin(bench.backend, STORE_READ, &txn));
    store_reset(txn);
    printf("%u layouts of %d events, %d examples an answer, %u lookups, best of %d\n",
           bench.layouts, EVENTS_A_LAYOUT, LIMIT, lookups, ROUNDS);
    for (int view = EXAMPLE_VIEW_UNSPECIFIED; view <= EXAMPLE_VIEW_BOTH; view++) {
        double best = 1e18;

        for (int round = 0; round < ROUNDS; round++) {
            double ns = measure(&bench, txn, lookups, (enum example_view)view);

            best = ns < best ? ns : best;
        }
        printf("%-10s %6.0f ns, %5" PRIu64 " bytes\n", names[view], best,
               bench.answer_bytes / lookups);
    }
    store_abort(txn);
    store_lmdb_close(bench.backend);
    arena_deinit(&bench.arena);
    return 0;
}
