/*
 * family_examples.h: the examples of layout families: one row for each example whose document belongs to the
 * family, newest first. Only apply writes them, together with the example's own row. These functions do not
 * follow aliases: a document keeps the seq of the family that it joined.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_EXAMPLES_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_EXAMPLES_H

#include "server/domain/events/feedback.h"
#include "server/domain/layouts/family_members.h"
#include "server/domain/layouts/keys.h"
#include "store/base/ctx.h"

/* Maximum examples that join or leave a family together with their document: its newest corrections. The limit
 * bounds the work of one event: reading 1,000 of them takes about 2 ms. */
#define FAMILY_EXAMPLES_MOVED_MAX 1000

/* One example of a family. Its row's value is the fingerprint, then the annotator kind in one byte, then, only
 * if the example was retracted, the seq of the retraction. So a lookup need not open the cluster of an example
 * that it may not serve. */
struct family_example {
    struct key_fingerprint fingerprint; /* fingerprint of its layout */
    uint32_t annotator_kind; /* an enum annotator (store/log.h) */
    int64_t created_at_us;
    uint64_t seq;
    uint64_t retracted_by_seq; /* 0: it was not retracted */
};

/* Reads a row of FAMILY_EXAMPLE. ERR_CORRUPT for a key or value of another shape. */
MUST_CHECK enum err family_example_read(struct slice key, struct slice value,
                                        struct family_example *ret_example);

/* Returns the family of an example: that of the document that its event names; without document, the family
 * that was recorded when its draft order was linked to a document. 0: none. */
MUST_CHECK enum err family_example_family(struct store_txn *txn, struct org_id org,
                                          const struct feedback_event_view *view,
                                          uint64_t *ret_family_seq);
/* Adds an example to a family; nothing if `family_seq` is 0. */
MUST_CHECK enum err family_example_put(struct store_txn *txn, struct org_id org,
                                       uint64_t family_seq, const struct family_example *example);
/* Records the retraction in the example's row, if it is in the family, for reads with `as_of`. Does nothing if
 * `family_seq` is 0. */
MUST_CHECK enum err family_example_retract(struct store_txn *txn, struct org_id org,
                                           uint64_t family_seq,
                                           const struct family_example *example);
/* Removes an example from a family, if it is in it; nothing if `family_seq` is 0. */
MUST_CHECK enum err family_example_remove(struct store_txn *txn, struct org_id org,
                                          uint64_t family_seq,
                                          const struct family_example *example);
/* Moves the row of an example to another family, and keeps the old one for reads of the past. */
MUST_CHECK enum err family_example_move(struct store_txn *txn, struct org_id org, uint64_t from_seq,
                                        uint64_t to_seq, const struct family_example *example);
/* Moves the examples of a document, at most FAMILY_EXAMPLES_MOVED_MAX, from one family to another; 0: from
 * none, or to none. Only events that name the document are its examples here, not those that name its draft
 * order. */
MUST_CHECK enum err family_examples_move(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                         struct slice document_id, uint64_t from_seq,
                                         uint64_t to_seq);
/* Deletes the rows of an example in all families that its document was of. */
MUST_CHECK enum err family_example_forget(struct store_txn *txn, struct org_id org,
                                          const struct feedback_event_view *view,
                                          const struct family_example *example);
/* Returns how many examples a family has, without retracted ones. */
MUST_CHECK enum err family_examples_count(struct store_txn *txn, struct org_id org,
                                          const struct family_members *members,
                                          uint64_t *ret_count);

#endif
