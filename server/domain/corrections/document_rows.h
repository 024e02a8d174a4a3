/*
 * document_rows.h: the rows of examples that show all corrections of a document. Only apply writes them;
 * examples.h reads them. A row is rebuilt from the current corrections after each change of one: its capture,
 * its retraction, and a change of its superseded mark. So the same function adds and removes a correction.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_DOCUMENT_ROWS_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_DOCUMENT_ROWS_H

#include "server/domain/corrections/document_example.h"
#include "server/domain/events/feedback.h"
#include "store/base/ctx.h"

/* A changed correction of a document. Its rows in other tables are already updated. */
struct document_change {
    struct org_id org;
    struct key_fingerprint fingerprint;
    struct slice document_id; /* not empty; borrowed from memory that outlives a put */
    struct document_place place;
    const struct document_event *known; /* the correction, if it was read; else NULL */
};

/* A row as a lookup reads it. */
struct example_document_record {
    uint32_t annotator_kinds; /* kinds of the document's corrections (annotator_kinds.h) */
    bool has_superseded; /* some of the corrections are superseded */
    /* The example of the corrections by HUMAN that are not superseded; 0: there is none. */
    uint32_t event_count;
    struct document_place shown; /* position of its newest correction; {0, 0}: that of the key */
    struct slice packed; /* the packed example (document_pack.h); empty: there is none */
};

/* Rewrites the row of the document and layout after one of its corrections changed. */
MUST_CHECK enum err document_rows_rewrite(struct ctx *ctx, struct store_txn *txn,
                                          const struct document_change *change);
/* Rewrites the row after an example, if it names a document, was applied or retracted, or lost its content. */
MUST_CHECK enum err document_rows_follow(struct ctx *ctx, struct store_txn *txn,
                                         const struct event *event,
                                         const struct feedback_event_view *view);

/* Encode and decode a row; the rules of records.h apply. */
MUST_CHECK enum err record_decode_example_document(struct slice bytes,
                                                   struct example_document_record *ret_record);
MUST_CHECK enum err record_encode_example_document(struct arena *arena,
                                                   const struct example_document_record *record,
                                                   struct slice *ret_bytes);

#endif
