/*
 * explain_outcomes.c: the outcomes that cited an exposure.
 */
#include "server/domain/learning/explain_internal.h"
#include "server/domain/learning/outcomes.h"

#include <errata/v1/learning_service.fields.h>
#include <errata/v1/learning_service.views.h>

static enum err put_outcome(struct explaining *explaining, struct store_txn *txn, uint64_t seq)
{
    struct exposure_outcome_view view;
    enum err err = outcome_describe(explaining->ctx, txn, explaining->query->org, seq, &view);

    if (err == OK) {
        exposure_outcome_view_put(&view, EXPLAIN_EXPOSURE_RESPONSE_OUTCOMES_FIELD,
                                  explaining->body);
    }
    return err;
}

enum err explain_outcomes(struct explaining *explaining, struct store_txn *txn)
{
    struct scan scan = {.rows_max = 0};
    uint64_t seq = 0;
    enum err err = OK;

    if (explaining->exposure_seq == 0) {
        return OK;
    }
    err = exposure_scan_outcomes(&scan, txn, explaining->query->org, explaining->exposure_seq,
                                 EXPLAIN_OUTCOMES_MAX);
    while (err == OK) {
        err = exposure_next_outcome(&scan, &seq);
        if (err == OK) {
            err = put_outcome(explaining, txn, seq);
        }
    }
    explaining->is_incomplete = explaining->is_incomplete || scan.is_cut;
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}
