/*
 * plan.h: converts a command line to a plan: reads files, compiles templates, checks tokens and
 * header fields. Opens no connection.
 */
#ifndef ERRATA_TOOLS_BENCH_PLAN_H
#define ERRATA_TOOLS_BENCH_PLAN_H

#include "tools/bench/arguments.h"
#include "tools/bench/load/engine.h"

/* Maximum organisations of one run. */
#define PLAN_TOKENS_MAX 10000

/* Texts are in the arena of plan_make; requests are owned. */
struct plan {
    struct load_kind kinds[LOAD_KINDS_MAX]; /* calls of the mix that have a weight */
    struct slice templates[LOAD_KINDS_MAX]; /* templates as written; empty for ready-made bodies */
    size_t kind_count;
    struct requests *requests[LOAD_KINDS_MAX];
    struct slice *tokens; /* values of the authorization header: "Bearer ..." */
    size_t token_count;
    struct process_list server_processes; /* processes given by --server-pid */
    struct template_source *source;
    struct engine_options engine; /* all options except the rate, progress and stop; owns its TLS */
};

/* Makes the plan. Returns ERR_INVALID with a message in the fault, or ERR_MEMORY. */
MUST_CHECK enum err plan_make(struct ctx *ctx, const struct arguments *arguments,
                              struct plan *ret_plan);
/* Accepts a zeroed one. */
void plan_deinit(struct plan *plan);

#endif
