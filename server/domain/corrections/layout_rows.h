/*
 * layout_rows.h: the rows of a layout's cluster: its head with counts and the marks of its newest examples, the
 * examples, and the marks of older examples. Only apply writes them; examples.h reads them.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_LAYOUT_ROWS_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_LAYOUT_ROWS_H

#include "server/domain/events/feedback.h"
#include "server/domain/layouts/keys.h"

/* An example and the values by which its rows are found. */
struct example_place {
    struct org_id org;
    struct key_fingerprint fingerprint;
    int64_t created_at_us;
    uint64_t seq;
};

/* Counts an event that names a layout. If it is an example, adds the example with the mark `superseded_by_seq`
 * (0: it is not superseded). */
MUST_CHECK enum err layout_rows_add(struct ctx *ctx, struct store_txn *txn,
                                    const struct event *event,
                                    const struct feedback_event_view *view,
                                    uint64_t superseded_by_seq);
/* Marks a stored example as superseded. */
MUST_CHECK enum err layout_rows_mark(struct ctx *ctx, struct store_txn *txn,
                                     const struct example_place *place, uint64_t superseded_by_seq);

/* Removes the mark of an example that is no longer superseded since another event was retracted; reads with an
 * earlier `as_of` still see the mark. */
MUST_CHECK enum err layout_rows_unmark(struct ctx *ctx, struct store_txn *txn,
                                       const struct example_place *place, uint64_t retraction_seq);
/* Subtracts an event that layout_rows_add added. Its example moves to TABLE_EXAMPLE_RETRACTED, where reads with
 * `as_of` find it. */
MUST_CHECK enum err layout_rows_retract(struct ctx *ctx, struct store_txn *txn,
                                        const struct event *event,
                                        const struct feedback_event_view *view,
                                        const struct event *retraction);

/* Deletes the rows of an example whose content was removed from the log, and lowers the layout's count of
 * examples, unless a retraction did. The rows of a replay never existed. */
MUST_CHECK enum err layout_rows_forget(struct ctx *ctx, struct store_txn *txn,
                                       const struct event *event,
                                       const struct feedback_event_view *view);

/* An extraction as part of the sums of its layout's examples. */
struct carrying_extraction {
    struct org_id org;
    struct slice layout_fingerprint; /* text */
    uint32_t confidence_millionths;
    const uint64_t *example_seqs; /* the cited examples of its layout, each once */
    size_t example_count;
    bool bare; /* the extraction carried no examples */
    bool is_removed; /* the extraction was added before, and is now subtracted */
};

/* Adds an extraction's confidence to the sums of the examples that it cites, or to those of extractions without
 * examples; or subtracts it. Returns ERR_CORRUPT if more is subtracted than was added. */
MUST_CHECK enum err layout_rows_carry(struct ctx *ctx, struct store_txn *txn,
                                      const struct carrying_extraction *extraction);

#endif
