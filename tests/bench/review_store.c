/*
 * review_store.c: fills an organisation of a data folder with reviews, like SubmitReview writes them, and measures the
 * cost of ResolvePlaceholders and GetTriggers on them below the services. Runs have three reviews and an item, of which
 * one in four is reviewed; the subcategories are equally large. The server of the folder must not run. One thread; wall
 * time. Usage: bench_review_store FOLDER ORGANISATION [REVIEWS [SUBCATEGORIES [LOOKUPS]]]
 */
#include "server/domain/reviews/placeholders.h"
#include "server/domain/reviews/reviews.h"
#include "server/domain/reviews/specs.h"
#include "store/lmdb/lmdb.h"

#include <errata/v1/review.views.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_US INT64_C(1770000000000000)
#define STEP_US 1000
#define BATCH 1000
#define REVIEWS_OF_RUN 3
#define MAP_BYTES (UINT64_C(32) << 30)

struct bench {
    struct store_backend *backend;
    struct arena arena;
    struct fault fault;
    struct clock_manual clock;
    struct random_seeded random;
    struct ctx ctx;
    struct org_id org;
    unsigned reviews;
    unsigned subcategories;
    unsigned lookups;
};

static void must(const char *what, enum err err)
{
    if (err != OK) {
        (void)fprintf(stderr, "bench_review_store: %s: %s\n", what, err_name(err));
        exit(2);
    }
}

static uint64_t draw(struct bench *bench, uint64_t count)
{
    uint64_t drawn = 0;

    random_fill(bench->ctx.random, &drawn, sizeof(drawn));
    return drawn % count;
}

static struct slice subcategory_of(struct bench *bench, uint64_t number)
{
    return arena_printf(&bench->arena, "subcategory-%" PRIu64, number);
}

static enum review_answer answer(struct bench *bench, unsigned percent)
{
    return draw(bench, 100) < percent ? REVIEW_TRUE : REVIEW_FALSE;
}

static struct slice specs(struct bench *bench)
{
    static const char *const names[] = {"Width", "Height", "Ports", "Weight", "Torque"};
    struct buffer run;

    buffer_init(&run, &bench->arena, 64);
    for (uint64_t i = draw(bench, 3); i > 0; i--) {
        review_view_add_missing_spec(&run, slice_text(names[draw(bench, 5)]));
    }
    return buffer_slice(&run);
}

static void submit(struct bench *bench, struct store_txn *txn, unsigned number)
{
    struct review_input *input = arena_calloc(&bench->arena, 1, sizeof(*input));
    const struct review_request request = {
        .org = bench->org, .caller = {ROLE_ADMIN, {NULL, 0}, 1, false}, .input = input};
    unsigned run = number / REVIEWS_OF_RUN;
    uint64_t seq = 0;

    *input = (struct review_input){
        .reviewed_by = arena_printf(&bench->arena, "reviewer-%" PRIu64, draw(bench, 20)),
        .run_id = arena_printf(&bench->arena, "run-%08u", run),
        .item_id = arena_printf(&bench->arena, "item-%08u", run),
        .subcategory = subcategory_of(bench, run % bench->subcategories),
        .decision = run % 4 == 0 ? REVIEW_DECISION_REVIEWED : REVIEW_DECISION_CHANGES_REQUESTED,
        .flags = {[REVIEW_INFORMATION_PRESENT] = answer(bench, 70),
                  [REVIEW_BAD_FORMAT] = answer(bench, 20),
                  [REVIEW_WRONG_INFORMATION] = answer(bench, 20),
                  [REVIEW_WRONG_PHYSICAL_DIMENSIONS] = answer(bench, 20)},
        .missing_spec = specs(bench),
        .notes = SLICE("The width is that of the box."),
        .item_snapshot_json = arena_printf(
            &bench->arena, "{\"name\":\"item %u\",\"width_mm\":%u,\"text\":\"%0400u\"}", run,
            number % 900, number),
    };
    must("submit", review_submit(&bench->ctx, txn, &request, &seq));
}

static void fill(struct bench *bench)
{
    int64_t start_us = clock_monotonic_us(clock_system());

    store_lmdb_begin_bulk(bench->backend);
    for (unsigned number = 0; number < bench->reviews;) {
        struct store_txn *txn = NULL;

        must("begin", store_begin(bench->backend, STORE_WRITE, &txn));
        for (unsigned i = 0; i < BATCH && number < bench->reviews; i++) {
            clock_manual_advance(&bench->clock, STEP_US);
            log_begin_write(txn, NULL);
            submit(bench, txn, number++);
            arena_reset(&bench->arena);
        }
        must("commit", store_commit(txn));
    }
    must("sync", store_lmdb_end_bulk(bench->backend));
    (void)printf("%u reviews in %.1f s\n", bench->reviews,
                 (double)(clock_monotonic_us(clock_system()) - start_us) / 1e6);
}

static bool is_never_cancelled(const void *user)
{
    (void)user;
    return false;
}

static struct review_window_query query_of(struct bench *bench)
{
    return (struct review_window_query){
        .org = bench->org,
        .subcategory = subcategory_of(bench, draw(bench, bench->subcategories)),
        .as_of_seq = REVIEWS_NOW,
        .runs_max = REVIEW_WINDOW_RUNS,
        .is_cancelled = is_never_cancelled,
    };
}

static void resolve(struct bench *bench, struct store_txn *txn)
{
    struct placeholders_request *request = arena_calloc(&bench->arena, 1, sizeof(*request));
    struct placeholders *placeholders = arena_calloc(&bench->arena, 1, sizeof(*placeholders));

    request->query = query_of(bench);
    request->run_id = SLICE("run-next");
    request->review.notes = SLICE("user: The price is {{gross}}.");
    request->prompts[0] = (struct named_prompt){
        SLICE("extract"), SLICE("Extract.\n{{EXTRACTION_REVIEW}}\n{{EXAMPLE_ITEM}}\n{{SCHEMA}}")};
    request->prompts[1] =
        (struct named_prompt){SLICE("supervise"), SLICE("Approve.\n{{SUPERVISOR_REVIEW}}")};
    request->prompt_count = 2;
    must("resolve", placeholders_fill(&bench->ctx, txn, request, placeholders));
    if (placeholders->degraded || placeholders->triggers.run_count != REVIEW_WINDOW_RUNS) {
        must("resolve", ERR_INTERNAL);
    }
}

static void read_triggers(struct bench *bench, struct store_txn *txn)
{
    struct review_window_query query = query_of(bench);
    struct review_triggers triggers;

    must("triggers", review_triggers_read(&bench->arena, txn, &query, &triggers));
}

static int compare(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a;
    int64_t second = *(const int64_t *)b;

    return (first > second) - (first < second);
}

/* Measures one kind of read; each has a separate snapshot, as in the server. */
static void measure(struct bench *bench, const char *name,
                    void (*read)(struct bench *bench, struct store_txn *txn))
{
    int64_t *times_us = calloc(bench->lookups, sizeof(*times_us));

    for (unsigned i = 0; times_us != NULL && i < bench->lookups; i++) {
        struct store_txn *txn = NULL;
        int64_t start_us = clock_monotonic_us(clock_system());

        must("begin", store_begin(bench->backend, STORE_READ, &txn));
        read(bench, txn);
        store_abort(txn);
        arena_reset(&bench->arena);
        times_us[i] = clock_monotonic_us(clock_system()) - start_us;
    }
    if (times_us != NULL && bench->lookups > 0) {
        qsort(times_us, bench->lookups, sizeof(*times_us), compare);
        (void)printf("%-20s p50 %4" PRId64 " us, p99 %4" PRId64 " us\n", name,
                     times_us[bench->lookups / 2], times_us[(uint64_t)bench->lookups * 99 / 100]);
    }
    free(times_us);
}

int main(int argc, char **argv)
{
    static struct bench bench;
    struct store_lmdb_config config = {.path = argc > 1 ? argv[1] : NULL, .map_bytes = MAP_BYTES};

    if (argc < 3 || !uuid_parse(slice_text(argv[2]), &bench.org.uuid)) {
        (void)fprintf(stderr, "usage: bench_review_store FOLDER ORGANISATION [REVIEWS "
                              "[SUBCATEGORIES [LOOKUPS]]]\n");
        return 2;
    }
    bench.reviews = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1000000;
    bench.subcategories = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 1000;
    bench.lookups = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 20000;
    arena_init(&bench.arena, SIZE_MAX);
    fault_init(&bench.fault, &bench.arena);
    clock_manual_init(&bench.clock, START_US);
    random_seeded_init(&bench.random, 7);
    bench.ctx = (struct ctx){&bench.arena, &bench.clock.clock, &bench.random.random, &bench.fault};
    must("open", store_lmdb_open(&config, &bench.fault, &bench.backend));
    fill(&bench);
    measure(&bench, "ResolvePlaceholders", resolve);
    measure(&bench, "GetTriggers", read_triggers);
    store_lmdb_close(bench.backend);
    arena_deinit(&bench.arena);
    return 0;
}
