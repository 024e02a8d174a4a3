/*
 * score_domain.c: CPU time of one ScoreDocument below the services: the receipt is matched with the rule set, weighed,
 * and the response is written. 1,000 enabled rules, a quarter of each kind (indicators, features, comparisons, phrases);
 * 50 of them match; text of 4 KiB. Then 10,000 phrases in 16 KiB, and loading them. Prints the fastest of some rounds.
 * One thread, a store in memory. Usage: bench_score_domain [SCORES]
 */
#include "server/domain/artifacts/life.h"
#include "server/domain/scoring/scoring.h"
#include "store/memory/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 5
#define RULES 1000
#define MATCHING 50
#define TEXT_BYTES 4096
#define PHRASES 10000
#define TEXT_BYTES_MAX 16384
#define ARENA_BYTES ((size_t)64 << 20)

struct bench {
    struct store_txn *txn;
    struct arena arena;
    struct org_id org;
    char pattern[64];
    char features[8192];
    char text[TEXT_BYTES_MAX + 64];
    char indicators[RULES][64];
    struct slice indicator_slices[RULES];
    size_t indicator_count;
};

static void must(const char *what, enum err err)
{
    if (err != OK) {
        fprintf(stderr, "bench_score_domain: %s: %s\n", what, err_name(err));
        exit(2);
    }
}

static double cpu_us(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void write_rule(struct bench *bench, uint64_t seq)
{
    const struct learned_rule_row row = {
        .seq = seq,
        .record = {.id = {{1}},
                   .rule_type = LEARNED_RULE_TYPE_MISSED_INDICATOR,
                   .pattern = slice_text(bench->pattern),
                   .action = LEARNED_RULE_ACTION_ADD_CHECK,
                   .adjustment = VERDICT_UNIT / 25,
                   .count = 1,
                   .accuracy = VERDICT_UNIT / 2,
                   .life = artifact_life_begin(ARTIFACT_STATE_ACTIVE, seq)},
    };

    must("rule", learned_rule_write(&bench->arena, bench->txn, bench->org, NULL, &row));
}

/* Makes one rule of each kind in turn, and the part of the receipt that matches it. */
static void make_rule(struct bench *bench, unsigned number, bool matches)
{
    static const char *const before[] = {"indicator ", "feature_", "total_", "text:phrase "};
    static const char *const after[] = {"", "", ">100", " of"};
    char *features = bench->features + strlen(bench->features);
    size_t room = sizeof(bench->features) - strlen(bench->features);

    (void)snprintf(bench->pattern, sizeof(bench->pattern), "%s%u%s", before[number % 4], number,
                   after[number % 4]);
    write_rule(bench, number + 1);
    if (!matches) {
        return;
    }
    if (number % 4 == 0) {
        char *indicator = bench->indicators[bench->indicator_count];

        (void)snprintf(indicator, sizeof(bench->indicators[0]), "%s", bench->pattern);
        bench->indicator_slices[bench->indicator_count] = slice_text(indicator);
        bench->indicator_count++;
    } else if (number % 4 == 1) {
        (void)snprintf(features, room, "\"feature_%u\":true,", number);
    } else if (number % 4 == 2) {
        (void)snprintf(features, room, "\"total_%u\":120.5,", number);
    } else {
        char phrase[32];

        (void)snprintf(phrase, sizeof(phrase), "Phrase %u of", number);
        memcpy(bench->text + (size_t)number * 4, phrase, strlen(phrase));
    }
}

static void make_receipt(struct bench *bench)
{
    static const char words[] = "Quittung Nr. 12 vom 3.4.2026, Summe 9,90 EUR. ";

    for (size_t i = 0; i < TEXT_BYTES_MAX; i++) {
        bench->text[i] = words[i % (sizeof(words) - 1)];
    }
    (void)snprintf(bench->features, sizeof(bench->features), "{");
    for (unsigned i = 0; i < RULES; i++) {
        make_rule(bench, i, i % (RULES / MATCHING) < 4 && i / (RULES / MATCHING) % 4 == i % 4);
    }
    (void)snprintf(bench->features + strlen(bench->features),
                   sizeof(bench->features) - strlen(bench->features), "\"end\":0}");
}

/* Returns the CPU time of one score, in microseconds; the number of rules that matched in `ret_matched`. */
static double measure(struct bench *bench, const struct rule_set *set, size_t text_bytes,
                      unsigned scores, size_t *ret_matched)
{
    const struct scoring_request request = {
        .receipt = {.indicators = bench->indicator_slices,
                    .indicator_count = bench->indicator_count,
                    .features = slice_text(bench->features),
                    .text = slice_of(bench->text, text_bytes)},
        .score = 0.5,
        .context = {.profile_confidence = 1},
        .stacking = SCORE_STACKING_SUM,
        .thresholds = {VERDICT_UNIT / 10 * 4, VERDICT_UNIT / 10 * 6},
    };
    const uint8_t key_bytes[EXPOSURE_KEY_BYTES] = {1};
    struct exposure_key key;
    double best = 0;

    exposure_key_init(&key, key_bytes);
    for (int round = 0; round < ROUNDS; round++) {
        double start = cpu_us();
        double each = 0;

        for (unsigned i = 0; i < scores; i++) {
            struct scoring_result result;
            struct slice reference = {NULL, 0};
            struct slice events = {NULL, 0};
            struct exposure exposure;
            struct buffer body;

            buffer_init(&body, &bench->arena, 16384);
            must("score", scoring_apply(&bench->arena, set, &request, &result));
            must("events", scoring_encode_events(&bench->arena, &result, false, &events));
            must("exposure", scoring_expose(&bench->arena, &result, events, &exposure));
            must("reference",
                 exposure_reference(&bench->arena, &key, set->org, &exposure, &reference));
            scoring_write(&result, events, reference, &body);
            *ret_matched = result.event_count;
            arena_reset(&bench->arena);
        }
        each = (cpu_us() - start) / scores;
        best = round == 0 || each < best ? each : best;
    }
    return best;
}

static struct rule_set *load(struct bench *bench, double *ret_us)
{
    struct rule_set *set = NULL;
    double start = cpu_us();

    must("load", rule_set_load(bench->txn, bench->org, 0, 1, &set));
    *ret_us = cpu_us() - start;
    return set;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    unsigned scores = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
    struct store_backend *backend = NULL;
    struct rule_set *set = NULL;
    size_t matched = 0;
    double load_us = 0;
    double us = 0;

    bench.org.uuid.bytes[0] = 1;
    arena_init(&bench.arena, ARENA_BYTES);
    must("store", store_memory_open(&backend));
    must("transaction", store_begin(backend, STORE_WRITE, &bench.txn));
    make_receipt(&bench);
    set = load(&bench, &load_us);
    us = measure(&bench, set, TEXT_BYTES, scores, &matched);
    printf("%d rules, %zu match: %.1f us a score; loaded in %.1f ms, %zu KiB\n", RULES, matched, us,
           load_us / 1000, set->arena.used_bytes / 1024);
    rule_set_free(set);
    for (unsigned i = 0; i < PHRASES; i++) {
        (void)snprintf(bench.pattern, sizeof(bench.pattern), "text:phrase %u of", i);
        write_rule(&bench, RULES + 1 + i);
        arena_reset(&bench.arena);
    }
    set = load(&bench, &load_us);
    us = measure(&bench, set, TEXT_BYTES_MAX, scores / 10 + 1, &matched);
    printf("%d phrases more, %d bytes of text, %zu match: %.1f us a score; loaded in %.1f ms, %zu "
           "KiB\n",
           PHRASES, TEXT_BYTES_MAX, matched, us, load_us / 1000, set->arena.used_bytes / 1024);
    rule_set_free(set);
    store_abort(bench.txn);
    store_memory_close(backend);
    arena_deinit(&bench.arena);
    return 0;
}
