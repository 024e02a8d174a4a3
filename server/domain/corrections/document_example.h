/*
 * document_example.h: all corrections of one document for one layout as one example: selects the corrections
 * and builds the bytes. Apply stores the example with default filters in a row (document_rows.h); a lookup
 * builds examples of the past or with other filters. Read only: the caller must not put between a call and the
 * last use of its result.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_DOCUMENT_EXAMPLE_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_DOCUMENT_EXAMPLE_H

#include "server/domain/corrections/document_output.h"
#include "server/domain/corrections/records.h"
#include "server/domain/events/feedback.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/records.h"

/* Maximum feedback events of a document that one call examines, newest first; mapping events and events of
 * other layouts count too. */
#define DOCUMENT_EVENTS_MAX 2000
/* Maximum bytes of outputs in one example: several times the usual length of a prompt. Older corrections that
 * would exceed it are left out. */
#define DOCUMENT_OUTPUT_BYTES_MAX ((size_t)64 * 1024)

/* The position of an example in the order of its layout. */
struct document_place {
    int64_t created_at_us;
    uint64_t seq;
};

/* A feedback event that the caller has read. Of its outputs only whether there is one is used: `view` may be reduced. */
struct document_event {
    uint64_t seq;
    struct uuid id;
    const struct feedback_event_view *view;
};

/* Selects the corrections of an example. */
struct document_query {
    struct org_id org;
    struct key_fingerprint fingerprint;
    struct slice document_id;
    const struct layout_marks *marks; /* marks of the layout's head */
    uint64_t as_of_seq; /* the last visible event; UINT64_MAX: all are visible */
    uint32_t annotator_kinds; /* annotator_kinds.h */
    bool include_superseded;
    const struct document_event *known; /* not read again; NULL: none */
};

/* The corrections that are examples, and the example built from those that pass the query's filters. */
struct document_example {
    /* The two newest corrections: the example's position, and its position if the newest one is removed. */
    struct document_place newest[2];
    size_t newest_count;
    uint32_t annotator_kinds; /* kinds of all corrections */
    bool has_superseded; /* at least one correction is superseded */
    /* The corrections that are shown, newest first; if there are none, there is no example. */
    struct document_place shown[DOCUMENT_PARTS_MAX];
    uint32_t shown_count;
    bool superseded; /* all shown corrections are superseded */
    struct uuid id; /* id of the newest shown correction */
    struct example_record record; /* record for a row with the created_at of shown[0] */
};

/* Finds the newest DOCUMENT_PARTS_MAX corrections and builds the example of those that pass the filters. The
 * result is in the arena and in pages of the transaction. */
MUST_CHECK enum err document_example_find(struct arena *arena, struct store_txn *txn,
                                          const struct document_query *query,
                                          struct document_example *ret_example);

/* An example as a signed reference describes it. */
struct exposed_document {
    uint64_t seq; /* seq of its newest event */
    uint64_t as_of_seq; /* the last event that was stored when the reference was issued */
    uint32_t annotator_kinds;
    bool include_superseded;
};

/* An example that was served. */
struct document_served {
    struct event event; /* the newest correction; slices are borrowed from the transaction */
    struct feedback_event_view view; /* view of the newest correction */
    struct document_example example; /* not set if the event's content was removed */
};

/* Finds an example as it was when it was served. Returns ERR_NOT_FOUND if the event is not a feedback event. */
MUST_CHECK enum err document_example_find_served(struct arena *arena, struct store_txn *txn,
                                                 struct org_id org,
                                                 const struct exposed_document *shown,
                                                 struct document_served *ret_served);

#endif
