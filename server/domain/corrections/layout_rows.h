/*
 * layout_rows.h: the rows of a layout's cluster: its head, with counts and the marks of its newest
 * examples, the examples themselves, and the marks of those too old for the head. Written by apply
 * alone; examples.h reads them.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_LAYOUT_ROWS_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_LAYOUT_ROWS_H

#include "server/domain/events/feedback.h"
#include "server/domain/layouts/keys.h"

/* One example, by what its rows are found with. */
struct example_place {
    struct org_id org;
    struct key_fingerprint fingerprint;
    int64_t created_at_us;
    uint64_t seq;
};

/* Counts an event that names a layout; where it counts as an example, adds that with the mark
 * `superseded_by_seq` (0: it is not superseded). */
MUST_CHECK enum err layout_rows_add(struct ctx *ctx, struct store_txn *txn,
                                    const struct event *event,
                                    const struct feedback_event_view *view,
                                    uint64_t superseded_by_seq);
/* Marks an example that was added before as superseded. */
MUST_CHECK enum err layout_rows_mark(struct ctx *ctx, struct store_txn *txn,
                                     const struct example_place *place, uint64_t superseded_by_seq);

/* Removes the mark of an example that is not superseded any more, by the retraction of another; reads with `as_of`
 * see it as superseded before. */
MUST_CHECK enum err layout_rows_unmark(struct ctx *ctx, struct store_txn *txn,
                                       const struct example_place *place, uint64_t retraction_seq);
/* Subtracts an event that layout_rows_add added. Its example moves to TABLE_EXAMPLE_RETRACTED, where reads with
 * `as_of` find it. */
MUST_CHECK enum err layout_rows_retract(struct ctx *ctx, struct store_txn *txn,
                                        const struct event *event,
                                        const struct feedback_event_view *view,
                                        const struct event *retraction);

/* An extraction's contribution to the examples of its layout. */
struct carrying_extraction {
    struct org_id org;
    struct slice layout_fingerprint; /* text */
    uint32_t confidence_millionths;
    const uint64_t *example_seqs; /* of its own layout's examples, each once */
    size_t example_count;
    bool bare; /* it carried none */
    bool is_removed; /* it was added before, and is subtracted */
};

/* Adds an extraction's confidence to the sums of the examples that it is credited with, or to those of
 * the extractions that carried none; or subtracts it. ERR_CORRUPT if more than was added is subtracted. */
MUST_CHECK enum err layout_rows_carry(struct ctx *ctx, struct store_txn *txn,
                                      const struct carrying_extraction *extraction);

#endif
