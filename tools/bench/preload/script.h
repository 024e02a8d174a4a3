/*
 * script.h: what the loader captures, and in which order: the organisations and their tokens, then
 * the events of one organisation after the other. It writes through the transaction that it is given
 * and knows nothing of where that leads, so every way of loading makes the same rows.
 *
 * An organisation's events are of several streams, which all begin and end together; they lie evenly
 * over the last SCRIPT_DAYS days. Corrections take its layouts in turns, mappings its customers. Its ids
 * and texts come from a seed of its own.
 */
#ifndef ERRATA_TOOLS_BENCH_PRELOAD_SCRIPT_H
#define ERRATA_TOOLS_BENCH_PRELOAD_SCRIPT_H

#include "server/auth/token.h"
#include "store/log.h"
#include "tools/bench/preload/preload.h"

/* As far back as analytics look. */
#define SCRIPT_DAYS 366
/* Documents that get no examples, where there are extractions. */
#define SCRIPT_HOLDOUT_PERCENT 10
/* Fields of an extraction. */
#define SCRIPT_FIELDS 12

/* How long an event's texts are. */
struct script_texts {
    size_t snippet_bytes; /* in meta_json.input_snippet */
    size_t output_bytes; /* in after_json */
};

enum script_stream {
    SCRIPT_MAPPINGS, /* confirmations, each of a SKU of its own */
    SCRIPT_EXTRACTIONS, /* each of a document of its own */
    SCRIPT_CORRECTIONS, /* of the document that was extracted last, or of one of their own */
    SCRIPT_STREAM_COUNT
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
    uint32_t org; /* whose events are being written */
    uint64_t done[SCRIPT_STREAM_COUNT]; /* of them */
};

/* `options` and `fault` outlive it. How long the texts are is set apart (sizes.h). */
void script_init(struct script *script, const struct preload_options *options, struct fault *fault);
void script_deinit(struct script *script);

/* Makes an organisation and its token, as AdminService does. From 0 on, one after the other. */
MUST_CHECK enum err script_make_org(struct script *script, struct store_txn *txn, uint32_t org);
/* How many events the organisation gets of a stream, and of all of them. */
uint64_t script_count(const struct preload_options *options, uint32_t org,
                      enum script_stream stream);
uint64_t script_event_count(const struct preload_options *options, uint32_t org);
/* Before the first event of an organisation. */
void script_start_org(struct script *script, uint32_t org);
/* Writes its next event. */
MUST_CHECK enum err script_step(struct script *script, struct store_txn *txn);
#endif
