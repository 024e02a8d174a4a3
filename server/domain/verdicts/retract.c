/*
 * retract.c: subtracts the counts of a submission from the rules that it lists, and removes it from
 * the list over which statistics are computed.
 */
#include "server/domain/artifacts/evidence.h"
#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/measures.h"
#include "server/domain/verdicts/rules.h"

#include <errata/v1/verdict_submission.views.h>
#include <event_retract.h>

enum err verdicts_check_retract(struct ctx *ctx, const struct event *event)
{
    (void)ctx;
    (void)event;
    return OK;
}

/* A submission from before the last import of the rule is not part of its counts. */
static enum err uncount_one(struct ctx *ctx, struct store_txn *txn, const struct event *retraction,
                            uint64_t event_seq, struct slice message)
{
    const struct learned_rule_count count = {
        .event_seq = retraction->seq,
        .time_us = retraction->created_at_us,
    };
    struct learned_rule_change_view change;
    struct artifact_life_record before;
    struct learned_rule_row row;
    enum err err = learned_rule_change_view_read(message, &change);

    if (err == OK) {
        err = learned_rule_read(txn, retraction->org, change.seq, &row);
    }
    if (err == OK && event_seq > row.record.imported_seq) {
        before = row.record.life;
        err = learned_rule_uncount(&count, change.effect, &row.record);
        if (err == OK) {
            err = learned_rule_write(ctx->arena, txn, retraction->org, &before, &row);
        }
    }
    if (err == OK) {
        err =
            artifact_evidence_retract(txn, retraction->org, change.seq, event_seq, retraction->seq);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err verdicts_retract(struct ctx *ctx, struct store_txn *txn, const struct event *retraction,
                          const struct event *event)
{
    struct key key = key_verdict(event->org, event->created_at_us, event->seq);
    struct verdict_submission_view view;
    struct slice changes = {NULL, 0};
    struct slice change = {NULL, 0};
    enum err err = verdict_submission_view_read(event->facts, &view);

    if (err == OK) {
        changes = view.rule_changes.run;
        err = store_del(txn, TABLE_VERDICT, key_slice(&key));
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    while (err == OK && view_next(&changes, &change)) {
        err = uncount_one(ctx, txn, retraction, event->seq, change);
    }
    return err != OK ? err : measures_uncount(ctx, txn, retraction, event, &view);
}
