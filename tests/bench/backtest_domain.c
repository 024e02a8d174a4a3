/*
 * backtest_domain.c: the cost of a Backtest below the services: fills a new data folder with submissions that have
 * features of the given size, an indicator in one of ten and a document profile, then runs a rule over all of them, in
 * steps with one snapshot each. One thread, no network; wall time. Usage: bench_backtest_domain NEW_FOLDER
 * [SUBMISSIONS [FEATURE_BYTES [PATTERN]]]
 */
#include "server/domain/backtest/backtest.h"
#include "server/domain/settings/settings.h"
#include "server/domain/verdicts/verdicts.h"
#include "store/lmdb/lmdb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_US INT64_C(1770000000000000)
#define BATCH 1000
#define ROUNDS 3
#define MAP_BYTES (UINT64_C(32) << 30)

struct bench {
    struct store_backend *backend;
    struct arena arena;
    struct fault fault;
    struct clock_manual clock;
    struct random_seeded random;
    struct ctx ctx;
    struct org_id org;
    unsigned submissions;
    size_t feature_bytes;
};

static void must(const char *what, enum err err)
{
    if (err != OK) {
        (void)fprintf(stderr, "bench_backtest_domain: %s: %s\n", what, err_name(err));
        exit(2);
    }
}

/* An object with features of which the last one differs by submission. */
static struct slice features(struct bench *bench, unsigned number)
{
    struct buffer json;

    buffer_init(&json, &bench->arena, bench->feature_bytes + 64);
    buffer_append_byte(&json, '{');
    for (unsigned i = 0; json.size < bench->feature_bytes; i++) {
        buffer_printf(&json, "\"feature_%u\":%u,", i, number % (i + 7));
    }
    buffer_printf(&json, "\"total\":%u}", number % 200);
    return buffer_slice(&json);
}

static void submit(struct bench *bench, struct store_txn *txn, unsigned number)
{
    struct verdict_input *input = arena_calloc(&bench->arena, 1, sizeof(*input));
    struct verdict_request request = {
        .org = bench->org, .caller = {ROLE_ADMIN, {NULL, 0}, 1, false}, .input = input};
    struct work_result result = {.first_seq = 0};

    input->receipt_id = arena_printf(&bench->arena, "receipt-%08u", number);
    input->actor_user_id = arena_printf(&bench->arena, "reviewer-%u", number % 20);
    input->original_verdict = VERDICT_REAL;
    input->correct_verdict = number % 3 == 0 ? VERDICT_FAKE : VERDICT_REAL;
    input->has_original_score = true;
    input->original_score = (double)(number % 100) / 100;
    input->has_profile = true;
    input->has_profile_confidence = true;
    input->profile_confidence = 0.9;
    input->original_features_json = features(bench, number);
    input->confirmed.items[0] = number % 10 == 0 ? SLICE("font_mismatch") : SLICE("other");
    input->confirmed.count = 1;
    must("submit", verdict_submit(&bench->ctx, txn, &request, &result));
}

static void fill(struct bench *bench)
{
    store_lmdb_begin_bulk(bench->backend);
    for (unsigned number = 0; number < bench->submissions;) {
        struct store_txn *txn = NULL;

        must("begin", store_begin(bench->backend, STORE_WRITE, &txn));
        for (unsigned i = 0; i < BATCH && number < bench->submissions; i++) {
            clock_manual_advance(&bench->clock, 1000);
            log_begin_write(txn, NULL);
            submit(bench, txn, number++);
            arena_reset(&bench->arena);
        }
        must("commit", store_commit(txn));
    }
    must("sync", store_lmdb_end_bulk(bench->backend));
}

static bool is_never_cancelled(const void *user)
{
    (void)user;
    return false;
}

static void run(struct bench *bench, struct slice pattern)
{
    struct backtest *backtest = calloc(1, sizeof(*backtest));
    const double adjustment = 0.2;
    int64_t start_us = clock_monotonic_us(clock_system());
    int64_t longest_us = 0;
    unsigned steps = 0;

    if (backtest == NULL) {
        exit(2);
    }
    backtest->org = bench->org;
    backtest->thresholds =
        (struct score_thresholds){SETTINGS_SUSPICIOUS_AT_DEFAULT, SETTINGS_FAKE_AT_DEFAULT};
    backtest->submissions_max = BACKTEST_SUBMISSIONS_MAX;
    must("candidate", backtest_set_candidate(&bench->ctx, LEARNED_RULE_TYPE_MISSED_INDICATOR,
                                             pattern, &adjustment, backtest));
    while (!backtest->has_ended) {
        struct store_txn *txn = NULL;
        int64_t step_us = clock_monotonic_us(clock_system());

        must("begin", store_begin(bench->backend, STORE_READ, &txn));
        must("step", backtest_step(&bench->ctx, txn, backtest, is_never_cancelled, NULL));
        store_abort(txn);
        arena_reset(&bench->arena);
        step_us = clock_monotonic_us(clock_system()) - step_us;
        longest_us = step_us > longest_us ? step_us : longest_us;
        steps++;
    }
    start_us = clock_monotonic_us(clock_system()) - start_us;
    printf("%" PRIu64 " submissions, %" PRIu64 " hits: %.2f s, %.2f us each, %u steps of at most "
           "%.1f ms\n",
           backtest->submissions, backtest->total.hits, (double)start_us / 1e6,
           (double)start_us / (double)backtest->submissions, steps, (double)longest_us / 1e3);
    free(backtest);
}

int main(int argc, char **argv)
{
    static struct bench bench;
    struct store_lmdb_config config = {.path = argc > 1 ? argv[1] : NULL, .map_bytes = MAP_BYTES};

    if (argc < 2) {
        (void)fprintf(stderr, "usage: bench_backtest_domain NEW_FOLDER [SUBMISSIONS "
                              "[FEATURE_BYTES [PATTERN]]]\n");
        return 2;
    }
    bench.submissions = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 100000;
    bench.feature_bytes = argc > 3 ? (size_t)strtoul(argv[3], NULL, 10) : 1000;
    arena_init(&bench.arena, SIZE_MAX);
    fault_init(&bench.fault, &bench.arena);
    clock_manual_init(&bench.clock, START_US);
    random_seeded_init(&bench.random, 7);
    bench.ctx = (struct ctx){&bench.arena, &bench.clock.clock, &bench.random.random, &bench.fault};
    memset(bench.org.uuid.bytes, 1, UUID_BYTES);
    must("open", store_lmdb_open(&config, &bench.fault, &bench.backend));
    fill(&bench);
    for (int round = 0; round < ROUNDS; round++) {
        run(&bench, slice_text(argc > 4 ? argv[4] : "total>150"));
    }
    store_lmdb_close(bench.backend);
    arena_deinit(&bench.arena);
    return 0;
}
