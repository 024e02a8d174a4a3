/*
 * sums.h: sums over extractions and corrected extractions by layout, by organisation and by arm of
 * the experiment. Only apply writes them, in the transaction that stores the event, so they always
 * equal what a scan of the events gives. All sums are integers; a confidence is in millionths.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXPERIMENT_SUMS_H
#define ERRATA_SERVER_DOMAIN_EXPERIMENT_SUMS_H

#include "server/domain/experiment/records.h"
#include "store/log.h"

#define SUMS_CONFIDENCE_UNIT 1000000
/* Minimum number of examples of a layout for its extractions to count in the experiment. */
#define SUMS_EXAMPLES_READY 3

/* The properties of an extraction that the sums need. */
struct counted_extraction {
    struct org_id org;
    struct slice layout_fingerprint; /* text */
    int64_t created_at_us;
    uint32_t confidence_millionths;
    uint32_t arm; /* errata.v1.ExperimentArm */
    uint32_t
        exclusion; /* an errata.v1.ExperimentExclusion, the reason why it counts in no arm; 0: it counts */
    uint32_t field_count; /* 0: not reported */
};

/* The corrections of an extraction. */
struct counted_corrections {
    bool is_corrected;
    uint32_t field_count; /* number of corrected fields, at most those of the extraction */
};

/* Adds a layout to the list when an event first names it; does nothing if it is listed already. */
MUST_CHECK enum err sums_name_layout(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                     struct slice layout_fingerprint);
/* Counts an extraction: by day, by layout, by arm or by the reason why it belongs to neither
 * arm. */
MUST_CHECK enum err sums_add_extraction(struct ctx *ctx, struct store_txn *txn,
                                        const struct counted_extraction *extraction);
/* Subtracts a counted extraction, whose corrections must have been subtracted before. Returns
 * ERR_CORRUPT if it was not counted. */
MUST_CHECK enum err sums_remove_extraction(struct ctx *ctx, struct store_txn *txn,
                                           const struct counted_extraction *extraction);
/* Changes the counted corrections of an extraction that was counted. */
MUST_CHECK enum err sums_change_corrected(struct ctx *ctx, struct store_txn *txn,
                                          const struct counted_extraction *extraction,
                                          const struct counted_corrections *before,
                                          const struct counted_corrections *after);
/* Reads the sums of a layout, or of the organisation (the empty text); zeros if there is no row. */
MUST_CHECK enum err sums_read_layout(struct store_txn *txn, struct org_id org,
                                     struct slice layout_fingerprint,
                                     struct layout_stats_record *ret_stats);

#endif
