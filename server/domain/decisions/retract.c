/*
 * retract.c: a retracted decision stays in its lists. It leaves its cluster, the comparison by similarity, the counts of
 * evaluators and of prompts that it cites, and the evidence of proposals; other decisions keep the class that was recorded.
 */
#include "server/domain/decisions/citations.h"
#include "server/domain/decisions/clusters.h"
#include "server/domain/decisions/decisions_internal.h"
#include "server/domain/decisions/keys.h"
#include "server/domain/guidelines/evidence.h"

#include <errata/v1/event.views.h>
#include <event_retract.h>

/* Removes the decision from its cluster; without a theme, which was removed with its content, it is in no sum. */
static enum err leave_cluster(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                              const struct decision_view *view)
{
    struct cluster_space place = {.org = event->org, .agent = view->agent_name};
    struct key member = key_decision_member(event->org, view->cluster_seq, event->seq);
    struct decision_theme theme;
    struct key key;
    enum err err = decision_theme_read(view, &theme);

    if (err == OK) {
        err = store_del(txn, TABLE_DECISION_MEMBER, key_slice(&member));
    }
    if (err != OK || theme.numbers.size == 0) {
        return err;
    }
    place.space = theme.space;
    err = cluster_subtract(ctx->arena, txn, &place, view->cluster_seq, theme.numbers);
    key = key_decision_theme(event->org, theme.space, event->seq);
    return err != OK ? err : store_del(txn, TABLE_DECISION_THEME, key_slice(&key));
}

/* Subtracts the decision from the counts of one evaluator. */
static enum err forget_class(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                             struct slice evaluator_id, const struct evaluator_change *before)
{
    const struct evaluator_change change = {.class_before = before->class_before,
                                            .persons_before = before->persons_before};

    return evaluator_count(ctx, txn, event->org, evaluator_id, &change);
}

/* Subtracts it from the counts of the evaluators of the caller. */
static enum err forget_submitted(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                                 struct evaluator_change *before)
{
    struct decision_seqs seqs;
    enum err err = decision_evaluation_seqs(txn, event->org, event->seq, &seqs);

    for (size_t i = 0; err == OK && i < seqs.count; i++) {
        struct evaluation_submitted_view submitted;
        struct event other;

        err = log_read(txn, event->org, seqs.items[i], &other);
        if (err == OK) {
            err = evaluation_submitted_view_read(other.facts, &submitted);
        }
        if (err == OK) {
            before->class_before = submitted.classification;
            err = forget_class(ctx, txn, event, submitted.evaluator_id, before);
        }
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static enum err leave_counts(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                             const struct decision_view *view)
{
    struct evaluator_change before = {.class_before = view->classification};
    struct key key = key_decision_override(event->org, event->seq);
    struct evaluation_view override;
    enum err err =
        decision_read_evaluation(txn, event->org, TABLE_DECISION_OVERRIDE, &key, &override);

    if (err == OK) {
        before.persons_before = override.classification;
    }
    if (err == OK || err == ERR_NOT_FOUND) {
        err = forget_class(ctx, txn, event, SLICE(EVALUATOR_ID), &before);
    }
    return err != OK ? err : forget_submitted(ctx, txn, event, &before);
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
    struct decision_view view;
    enum err err = view_read_parts(&decision_view_type, event->facts, event->content, &view);

    if (err == OK && view.cluster_seq != 0) {
        err = leave_cluster(ctx, txn, event, &view);
    }
    if (err == OK) {
        err = leave_counts(ctx, txn, event, &view);
    }
    if (err == OK) {
        err = decision_citations_count(ctx, txn, event, &view, -1);
    }
    return err != OK ? err : evidence_retract(ctx, txn, retraction, view.id);
}
