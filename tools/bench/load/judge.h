/*
 * judge.h: decides whether a run is valid, and lists its problems and notes as sentences.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_JUDGE_H
#define ERRATA_TOOLS_BENCH_LOAD_JUDGE_H

#include "tools/bench/load/engine.h"

#define JUDGE_SENTENCES_MAX 12
/* Maximum delay of the generator without --lag-max. */
#define JUDGE_LAG_NS UINT64_C(1000000)
/* A generator that waited for a core for more than this share of the run is on a shared
 * machine. It cannot keep JUDGE_LAG_NS there; it may be late by this share of the time between two calls,
 * so that calls still start one after the other, as the schedule says. */
#define JUDGE_SHARED_SHARE 0.01
#define JUDGE_LAG_INTERVAL_SHARE 0.5
/* A generator may be late by this part of the server's own p99, for any limit. */
#define JUDGE_LAG_SHARE 0.1
/* A generator with this CPU usage may limit the rate. */
#define JUDGE_BUSY_SHARE 0.95

struct judge_sentences {
    struct slice texts[JUDGE_SENTENCES_MAX];
    size_t count;
};

struct judgement {
    struct judge_sentences problems; /* the run is valid if there are none */
    struct judge_sentences notes;
};

/* Texts are in the arena. `total` is run_total's; `lag_max_ns` of 0 is the default above. */
void judge_run(const struct engine_result *result, const struct run_tally *total,
               uint64_t lag_max_ns, size_t token_count, struct arena *arena,
               struct judgement *ret_judgement);
/* Describes a wrong answer, such as `UNAUTHENTICATED` or `HTTP status 404`. */
struct slice judge_wrong(const struct run_wrong *wrong, struct arena *arena);
/* grpc-message as text, percent-decoded. */
struct slice judge_message(const struct run_wrong *wrong, struct arena *arena);
/* Formats a duration: `81 us`, `1.48 ms`, `2.3 s`. */
struct slice judge_span(uint64_t span_ns, struct arena *arena);

#endif
