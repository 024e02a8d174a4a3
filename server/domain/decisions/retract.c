/*
 * retract.c: a retracted decision stays in its lists. It leaves its cluster, the comparison by similarity, the counts of
 * evaluators and of prompts that it cites, and the evidence of proposals; other decisions keep the class that was recorded.
 */
#include "server/domain/decisions/citations.h"
#include "server/domain/decisions/decisions_internal.h"
#include "server/domain/decisions/forget.h"
#include "server/domain/decisions/keys.h"
#include "server/domain/guidelines/evidence.h"

#include <errata/v1/event.views.h>
#include <event_retract.h>

/* Removes the decision from its cluster. */
static enum err leave_cluster(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                              const struct decision_view *view)
{
    struct key member = key_decision_member(event->org, view->cluster_seq, event->seq);
    enum err err = store_del(txn, TABLE_DECISION_MEMBER, key_slice(&member));

    return err != OK ? err : decision_forget_theme(ctx, txn, event, view);
}

enum err decisions_check_retract(struct ctx *ctx, const struct event *event)
{
    (void)ctx;
    (void)event;
    return OK;
}

enum err decisions_retract(struct ctx *ctx, struct store_txn *txn, const struct event *retraction,
                           const struct event *event)
{
    struct evaluators_change change = {.decision_seq = event->seq, .is_retracted = true};
    struct decision_view view;
    enum err err = view_read_parts(&decision_view_type, event->facts, event->content, &view);

    if (err == OK && view.cluster_seq != 0) {
        err = leave_cluster(ctx, txn, event, &view);
    }
    if (err == OK) {
        change.classification = view.classification;
        err = evaluators_recount(ctx, txn, event->org, &change);
    }
    if (err == OK) {
        err = decision_citations_count(ctx, txn, event, &view, -1);
    }
    return err != OK ? err : evidence_retract(ctx, txn, retraction, view.id);
}
