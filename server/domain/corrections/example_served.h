/*
 * example_served.h: finds one example by the seq of its event, to explain what was served. A lookup by layout
 * is in examples.h.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_SERVED_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_SERVED_H

#include "server/domain/corrections/document_example.h"
#include "server/domain/corrections/records.h"
#include "server/domain/events/feedback.h"
#include "store/base/buffer.h"

/* An example. Slices are borrowed from the transaction and from `event`. */
struct example_served {
    struct event event;
    struct feedback_event_view view; /* view of `event` */
    bool is_expired; /* the content was removed; `record` is not set */
    bool is_retracted; /* the example was retracted after it was served */
    struct example_record record;
    uint64_t superseded_by_seq; /* the correction that supersedes the example now; 0: none */
};

/* Returns ERR_NOT_FOUND if the event is not a feedback event, ERR_CORRUPT if it has no example. */
MUST_CHECK enum err example_served_find(struct store_txn *txn, struct org_id org, uint64_t seq,
                                        struct example_served *ret_example);
/* Encodes the errata.v1.Example as it was after the event `as_of_seq`, without measured values, in the arena. */
MUST_CHECK enum err example_served_encode(struct arena *arena, struct store_txn *txn,
                                          const struct example_served *example, uint64_t as_of_seq,
                                          struct slice *ret_example);
/* Does the same for the example of a document. */
MUST_CHECK enum err document_served_encode(struct arena *arena,
                                           const struct document_served *served,
                                           struct slice *ret_example);

#endif
