/*
 * retract.c: subtracts what a submission added, by the rules that it lists, and removes it from the list that
 * statistics are counted from.
 */
#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/rules.h"

#include <errata/v1/verdict_submission.views.h>
#include <event_retract.h>

enum err verdicts_check_retract(struct ctx *ctx, const struct event *event)
{
    (void)ctx;
    (void)event;
    return OK;
}

static enum err uncount_one(struct ctx *ctx, struct store_txn *txn, const struct event *retraction,
                            struct slice message)
{
    struct learned_rule_change_view change;
    struct learned_rule_row row;
    enum err err = learned_rule_change_view_read(message, &change);

    if (err == OK) {
        err = learned_rule_read(txn, retraction->org, change.seq, &row);
    }
    if (err == OK) {
        err = learned_rule_uncount(retraction->created_at_us, change.effect, &row.record);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return learned_rule_write(ctx->arena, txn, retraction->org, &row);
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
        err = uncount_one(ctx, txn, retraction, change);
    }
    return err;
}
