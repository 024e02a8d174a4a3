/*
 * judge.h: whether a run counts, and what to know about it, in sentences.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_JUDGE_H
#define ERRATA_TOOLS_BENCH_LOAD_JUDGE_H

#include "tools/bench/load/engine.h"

#define JUDGE_SENTENCES_MAX 12
/* A generator may be late by this part of the server's own p99, whatever the limit is. */
#define JUDGE_LAG_SHARE 0.1
/* A generator that is this busy may be what limits the rate. */
#define JUDGE_BUSY_SHARE 0.95

struct judge_sentences {
    struct slice texts[JUDGE_SENTENCES_MAX];
    size_t count;
};

struct judgement {
    struct judge_sentences problems; /* none: the run is valid */
    struct judge_sentences notes;
};

/* Texts are in the arena. `total` is run_total's. */
void judge_run(const struct engine_result *result, const struct run_tally *total,
               uint64_t lag_max_ns, size_t token_count, struct arena *arena,
               struct judgement *ret_judgement);
/* What a wrong answer was, such as `UNAUTHENTICATED` or `HTTP status 404`. */
struct slice judge_wrong(const struct run_wrong *wrong, struct arena *arena);
/* grpc-message as text, percent-decoded. */
struct slice judge_message(const struct run_wrong *wrong, struct arena *arena);
/* A span for people: `81 us`, `1.48 ms`, `2.3 s`. */
struct slice judge_span(uint64_t span_ns, struct arena *arena);

#endif
