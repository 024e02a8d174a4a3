/*
 * run_report.h: the combined reviews of a run, as GetRun returns them.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_RUN_REPORT_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_RUN_REPORT_H

#include "server/domain/reviews/history.h"
#include "store/base/buffer.h"
#include "store/log.h"

/* The newest review of one reviewer. */
struct run_answer {
    struct review_entry entry;
    struct uuid id; /* id of the review */
};

struct run_report {
    const struct run_answer *answers; /* newest first */
    size_t answer_count;
    uint32_t review_count;
    uint32_t reviewed_count; /* number of answers that are REVIEWED */
    bool is_reviewed;
};

/* Reads the reviews of a run. ERR_NOT_FOUND if none remains. */
MUST_CHECK enum err run_report_read(struct arena *arena, struct store_txn *txn, struct org_id org,
                                    struct slice run_id, struct run_report *ret_report);
/* Appends the members of a ReviewedRun; `newest` is the encoded newest review. */
MUST_CHECK enum err run_report_write(struct arena *arena, const struct run_report *report,
                                     struct slice run_id, struct slice newest, struct buffer *body);

#endif
