/*
 * script.h: what the loader captures, and in which order: the organisations and their tokens, then
 * the events of one organisation after the other. It writes through the transaction that it is given
 * and knows nothing of where that leads, so every way of loading makes the same rows.
 *
 * An organisation's events take its layouts in turns and lie evenly over the last SCRIPT_DAYS days.
 * Its ids and texts come from a seed of its own.
 */
#ifndef ERRATA_TOOLS_BENCH_PRELOAD_SCRIPT_H
#define ERRATA_TOOLS_BENCH_PRELOAD_SCRIPT_H

#include "server/auth/token.h"
#include "store/log.h"
#include "tools/bench/preload/preload.h"

/* As far back as analytics look. */
#define SCRIPT_DAYS 90

/* How long an event's texts are. */
struct script_texts {
    size_t snippet_bytes; /* in meta_json.input_snippet */
    size_t output_bytes; /* in after_json */
};

struct script {
    const struct preload_options *options;
    struct fault *fault;
    struct ctx ctx;
    struct arena arena; /* of one write */
    struct fault write_fault; /* of one write; its message goes to `fault` */
    struct clock_manual clock;
    struct random_seeded random;
    struct script_texts texts;
    struct org_id orgs[PRELOAD_ORGS_MAX]; /* in the order of their ids */
    char tokens[PRELOAD_ORGS_MAX][TOKEN_TEXT_BYTES];
};

/* `options` and `fault` outlive it. How long the texts are is set apart (sizes.h). */
void script_init(struct script *script, const struct preload_options *options, struct fault *fault);
void script_deinit(struct script *script);

/* Makes an organisation and its token, as AdminService does. From 0 on, one after the other. */
MUST_CHECK enum err script_make_org(struct script *script, struct store_txn *txn, uint32_t org);
/* How many events the organisation gets. */
uint64_t script_event_count(const struct preload_options *options, uint32_t org);
/* Before the first event of an organisation. */
void script_start_org(struct script *script, uint32_t org);
/* Captures one event; `index` counts an organisation's from 0. */
MUST_CHECK enum err script_capture(struct script *script, struct store_txn *txn, uint32_t org,
                                   uint64_t index);

#endif
