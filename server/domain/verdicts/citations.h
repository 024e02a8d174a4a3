/*
 * citations.h: the scores that a submission cites. Each reference is read and looked up once, before the first put.
 */
#ifndef ERRATA_SERVER_DOMAIN_VERDICTS_CITATIONS_H
#define ERRATA_SERVER_DOMAIN_VERDICTS_CITATIONS_H

#include "server/domain/verdicts/verdicts.h"

#include <errata/v1/verdict_submission.views.h>

struct verdict_citations {
    struct cited_exposure items[VERDICT_REFERENCES_MAX]; /* each reference occurs once */
    bool is_measured[VERDICT_REFERENCES_MAX]; /* no submission cited it for the receipt before */
    size_t count;
};

/* Reads all references of a request. Adds references that this server did not issue for scores of the organisation to
 * ctx->fault. */
MUST_CHECK enum err verdict_citations_read(struct ctx *ctx, struct store_txn *txn,
                                           const struct verdict_request *request,
                                           struct verdict_citations *citations);
/* Appends the exposures that are not in the log, and adds their number to `count`. */
MUST_CHECK enum err verdict_citations_record(struct ctx *ctx, struct store_txn *txn,
                                             const struct verdict_request *request,
                                             const struct exposure_citer *citer,
                                             struct verdict_citations *citations, uint32_t *count);
/* Sets the members of a submission that describe its references, after they were recorded. */
MUST_CHECK enum err verdict_citations_encode(struct arena *arena,
                                             const struct verdict_citations *citations,
                                             struct verdict_submission_view *view);

#endif
