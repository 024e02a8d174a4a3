/*
 * examples.h: looks up the newest corrections of a layout as few-shot examples: the most important read of the
 * server. One seek in the layout's cluster, then one step per example. Stored bytes are copied into the
 * response without parsing. The values that change are in the head row: marks, confidences with and without
 * each example, and whether all documents of the layout are scans. A named document and the organisation's
 * holdout cost one get each. The response ends with a reference that proves it. Allocates only the bytes of the
 * response.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLES_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLES_H

#include "server/domain/events/annotator_kinds.h"
#include "server/domain/exposures/exposures.h"
#include "server/domain/layouts/documents.h"
#include "server/domain/settings/settings_cache.h"
#include "store/base/buffer.h"

#include <errata/v1/example_grouping.fields.h>
#include <errata/v1/match_mode.fields.h>
#include <errata/v1/prompt_service.fields.h>
#include <stdatomic.h>

#define EXAMPLES_LIMIT_DEFAULT 3
#define EXAMPLES_LIMIT_MAX 20
/* Maximum rows that one lookup passes; only filters and lookups of the past pass any. If a lookup reaches it
 * before its limit of examples, and rows are left, the response has `incomplete`. */
#define EXAMPLES_ROWS_MAX 2000
/* Maximum rows of a family that one lookup passes. The number of opened clusters is limited to that of the
 * served examples, so this bounds the rows of other annotator kinds, of retracted examples and of the requested
 * layout. */
#define EXAMPLES_FAMILY_ROWS_MAX 500

/* The query of a lookup. */
struct examples_query {
    struct org_id org;
    struct slice layout_fingerprint;
    struct slice document_id; /* the document to be extracted; empty: not given */
    bool
        document_is_read; /* example_layout_find has set `document`; false: it is read if it is needed */
    struct document_state document; /* the state of that document */
    uint32_t limit; /* 1 to EXAMPLES_LIMIT_MAX */
    enum example_view view;
    enum example_grouping grouping; /* UNSPECIFIED: the organisation's setting */
    enum match_mode match_mode; /* UNSPECIFIED: the organisation's setting */
    bool include_superseded;
    bool include_own; /* include the examples of the document `document_id` */
    uint32_t
        annotator_kinds; /* mask of annotator kinds (annotator_kinds.h); 0: the organisation's setting */
    bool has_as_of; /* read as after the event `as_of_seq` */
    uint64_t as_of_seq;
    bool misses_removed; /* with as_of: examples were removed since (examples_removed.h) */
    const struct exposure_key *exposure_key; /* key of the reference; NULL: no reference */
    int64_t now_us; /* wall clock, for the reference */
    struct settings_cache *settings_cache; /* the calling thread's; NULL: none */
    atomic_uint_fast64_t
        *served; /* increased by the number of served examples; NULL: not counted */
    struct arena *arena; /* memory for examples that DOCUMENT grouping builds */
};

/* Result of a lookup for a caller that inserts it into a text and issues a reference for that text. Slices are
 * in the given arena, or are literals. */
struct examples_found {
    struct slice hint_examples_json; /* empty: none */
    struct uuid example_ids[EXAMPLES_LIMIT_MAX]; /* in the order in which they are served */
    size_t count;
    /* Artifacts of the examples; for a held-out document, those of the examples that it would have received. */
    struct exposed_artifact artifacts[EXAMPLES_LIMIT_MAX];
    size_t artifact_count;
    enum match_level match_level;
    enum experiment_arm arm;
    bool layout_ready; /* set in an arm: the layout has enough examples for the experiment */
    enum withheld withheld;
    uint64_t as_of_seq; /* the last event that the result can depend on */
    bool incomplete;
    struct exposed_documents documents; /* documents that the reference names */
};

/* Appends the wire bytes of a GetExamplesResponse. For a held-out document it has no examples, but a reference
 * that names those that the document would have received. Returns ERR_MEMORY or the store's error. */
MUST_CHECK enum err examples_write(struct store_txn *txn, const struct examples_query *query,
                                   struct buffer *body);
/* The same lookup as values; `query->view` is ignored. With an empty layout_fingerprint the result has no
 * examples, but an arm. */
MUST_CHECK enum err examples_find(struct arena *arena, struct store_txn *txn,
                                  const struct examples_query *query,
                                  struct examples_found *ret_found);

#endif
