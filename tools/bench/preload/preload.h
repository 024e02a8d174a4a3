/*
 * preload.h: fills a fresh data folder with a year of corrections, extractions and confirmed mappings,
 * offline, so that a server can be measured on a store of millions. Each event takes the way of a call
 * from the domain down (prepare, decide, append, apply), with a clock and randomness of its own: the
 * store is the same as after capturing these events. It is not an import tool: it may assume that no
 * other process uses the folder, and nothing is synced until the end.
 *
 * Organisation 0 is `default`, and its token, with the server's rights, is in DIR/admin.token as
 * after a first start; the tokens of all organisations, a line each in their order, are in
 * DIR/bench.tokens. The layouts of each organisation are named by PRELOAD_LAYOUT_FORMAT from 0 on, and
 * every correction is one of a line, with a document and a line of its own. All corrections have the
 * same length, so that every answer of examples has the same length too.
 */
#ifndef ERRATA_TOOLS_BENCH_PRELOAD_PRELOAD_H
#define ERRATA_TOOLS_BENCH_PRELOAD_PRELOAD_H

#include "store/base/err.h"
#include "store/base/fault.h"

#include <inttypes.h>
#include <stdio.h>

#define PRELOAD_EVENTS_MAX UINT64_C(100000000)
#define PRELOAD_ORGS_MAX 1000
#define PRELOAD_ORGS_DEFAULT 10
/* With more, layouts would have fewer than three events in a store that fits a machine. */
#define PRELOAD_LAYOUTS_MAX 1000000
#define PRELOAD_LAYOUTS_DEFAULT 5000
/* Size of an event in an answer with examples. A smaller event has no room for a text; capture
 * truncates a larger one. */
#define PRELOAD_EVENT_BYTES_MIN 300
#define PRELOAD_EVENT_BYTES_MAX 4000
#define PRELOAD_EVENT_BYTES_DEFAULT 1242

#define PRELOAD_EXTRACTIONS_MAX UINT64_C(100000000)
#define PRELOAD_MAPPINGS_MAX UINT64_C(100000000)
#define PRELOAD_CUSTOMERS_MAX 100000
#define PRELOAD_CUSTOMERS_DEFAULT 100
/* Maximum families: a new document is compared with the page of each, in 0.3 us. */
#define PRELOAD_FAMILIES_MAX 1000

/* Actor of all events written by --preload and by the calls of a mix, by which guard.h identifies
 * them. */
#define PRELOAD_ACTOR "bench-op-1"
#define PRELOAD_CUSTOMER_FORMAT "customer-%05" PRIu32
#define PRELOAD_LAYOUT_FORMAT "bench-layout-%08" PRIu32
/* With families each layout has two documents of its family, with its measured fingerprint: its corrections name the first
 * and no layout; the second has no corrections, and is for lookups to name. A third document of the family has a fingerprint
 * of its own, and no corrections. */
#define PRELOAD_CORRECTED_FORMAT "corrected-%08" PRIu32
#define PRELOAD_ASKING_FORMAT "asking-%08" PRIu32
#define PRELOAD_NEW_FORMAT "new-%08" PRIu32
#define PRELOAD_LAYOUT_DOCUMENTS 3
#define PRELOAD_TOKENS_FILE "bench.tokens"

enum preload_way {
    /* Tables are made in memory and written in the order of their keys, for millions of events. */
    PRELOAD_BULK,
    /* Every capture is stored directly: slow; the reference that the other mode must equal byte by
     * byte. */
    PRELOAD_PLAIN
};

struct preload_options {
    const char *folder; /* the data folder: made where it is missing, refused if it is not empty */
    enum preload_way way;
    uint64_t event_count; /* corrections */
    uint64_t mapping_count; /* confirmed mappings */
    uint64_t
        extraction_count; /* extractions, each of its own document; each correction corrects the previous extraction */
    uint32_t org_count;
    uint32_t layout_count; /* layouts of each organisation */
    uint32_t customer_count; /* customers of each organisation, for its mappings */
    uint32_t
        family_count; /* layout families of each organisation, which its layouts are of in turns; 0: no documents.
                            * Only with PRELOAD_PLAIN: captures read the events of documents */
    uint32_t event_bytes; /* size of each event in an answer with examples: a whole `Example` */
    uint64_t seed; /* seed of ids, tokens and texts: the same seed gives the same bytes */
    int64_t end_us; /* UTC in microseconds since 1970; the latest time of an event */
    FILE *progress; /* stream for the progress and the remaining time; NULL: no progress output */
};

/* Fills the folder. ERR_INVALID for options that make no sense, ERR_PRECONDITION for a folder that
 * is not empty, ERR_DISK_FULL before anything is written where the disk has too little room, else
 * what the store said; `fault` has the sentence. */
MUST_CHECK enum err preload_run(const struct preload_options *options, struct fault *fault);

#endif
