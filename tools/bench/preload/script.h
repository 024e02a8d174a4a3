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

/* Number of days covered by analytics. */
#define SCRIPT_DAYS 366
/* Documents that get no examples, where there are extractions. */
#define SCRIPT_HOLDOUT_PERCENT 10
/* Fields of an extraction. */
#define SCRIPT_FIELDS 12

/* Lengths of the texts of an event. */
struct script_texts {
    size_t snippet_bytes; /* length of meta_json.input_snippet */
    size_t output_bytes; /* length of after_json */
};

enum script_stream {
    SCRIPT_DOCUMENTS, /* the documents of each layout, before all others */
    SCRIPT_MAPPINGS, /* confirmations, each with its own SKU */
    SCRIPT_EXTRACTIONS, /* extractions, each of its own document */
    SCRIPT_CORRECTIONS, /* corrections of the last extracted document, or of their own documents */
    SCRIPT_STREAM_COUNT
};

struct script {
    const struct preload_options *options;
    struct fault *fault;
    struct ctx ctx;
    struct arena arena; /* memory of one write */
    struct fault write_fault; /* faults of one write; the message is copied to `fault` */
    struct clock_manual clock;
    struct random_seeded random;
    struct script_texts texts;
    struct org_id orgs[PRELOAD_ORGS_MAX]; /* organisations sorted by id */
    char tokens[PRELOAD_ORGS_MAX][TOKEN_TEXT_BYTES];
    uint32_t org; /* index of the organisation whose events are being written */
    uint64_t done[SCRIPT_STREAM_COUNT]; /* number of events written of each stream */
};

/* Initializes the script; `options` and `fault` outlive it. sizes.h sets the lengths of texts. */
void script_init(struct script *script, const struct preload_options *options, struct fault *fault);
void script_deinit(struct script *script);

/* Creates an organisation and its token, like AdminService. Called for 0, 1, ... in order. */
MUST_CHECK enum err script_make_org(struct script *script, struct store_txn *txn, uint32_t org);
/* Returns the number of events of an organisation in one stream, and in all streams. */
uint64_t script_count(const struct preload_options *options, uint32_t org,
                      enum script_stream stream);
uint64_t script_event_count(const struct preload_options *options, uint32_t org);
/* Prepares an organisation; called before its first event is written. */
void script_start_org(struct script *script, uint32_t org);
/* Writes the organisation's next event. */
MUST_CHECK enum err script_step(struct script *script, struct store_txn *txn);
#endif
