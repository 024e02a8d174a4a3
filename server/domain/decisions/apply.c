/*
 * apply.c: applies a recorded decision: its lists, its cluster, its theme. The theme is content: without it, since it was
 * removed, the decision is still a member of its cluster, and not part of the sums.
 */
#include "server/domain/decisions/citations.h"
#include "server/domain/decisions/decisions_internal.h"
#include "server/domain/decisions/keys.h"
#include "store/base/assert.h"

#include <event_apply.h>

/* The value of a theme's row: the hash of the agent's name, and the numbers. */
static enum err put_theme(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                          const struct decision_view *view, const struct decision_theme *theme)
{
    struct key key = key_decision_theme(event->org, theme->space, event->seq);
    struct key agent = {.size = 0};
    struct buffer value;

    key_put_hash(&agent, view->agent_name);
    buffer_init(&value, ctx->arena, agent.size + theme->numbers.size);
    buffer_append(&value, key_slice(&agent));
    buffer_append(&value, theme->numbers);
    return buffer_ok(&value)
               ? store_put(txn, TABLE_DECISION_THEME, key_slice(&key), buffer_slice(&value))
               : ERR_MEMORY;
}

static enum err apply_cluster(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                              const struct decision_view *view)
{
    struct cluster_space space = {.org = event->org, .agent = view->agent_name};
    struct decision_theme theme;
    struct key member = key_decision_member(event->org, view->cluster_seq, event->seq);
    enum err err = decision_theme_read(view, &theme);
    bool has_theme = err == OK && theme.numbers.size > 0;

    if (err == OK && (has_theme == event->content_removed || view->cluster_seq > event->seq)) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = log_put_id_row(txn, TABLE_DECISION_MEMBER, &member, event->seq);
    }
    if (err != OK || !has_theme) {
        return err;
    }
    space.space = theme.space;
    err = cluster_add(ctx->arena, txn, &space, view->cluster_seq, theme.numbers);
    return err != OK ? err : put_theme(ctx, txn, event, view, &theme);
}

enum err decision_mark_high(struct store_txn *txn, const struct event *event, uint64_t cluster_seq,
                            enum decision_class class)
{
    struct key key = key_decision_high(event->org, cluster_seq);

    return cluster_seq != 0 && class == DECISION_CLASS_GENERALIZABLE_HIGH
               ? log_put_id_row(txn, TABLE_DECISION_HIGH, &key, event->seq)
               : OK;
}

static enum err apply_recorded(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct evaluator_change change = {.class_before = DECISION_CLASS_UNSPECIFIED};
    struct decision_view view;
    struct key key;
    enum err err = view_read_parts(&decision_view_type, event->facts, event->content, &view);

    if (err != OK) {
        return err;
    }
    key = key_decision(event->org, view.decision_id);
    err = log_put_id_row(txn, TABLE_DECISION, &key, event->seq);
    if (err == OK) {
        key = key_decision_time(event->org, event->created_at_us, event->seq);
        err = log_put_id_row(txn, TABLE_DECISION_TIME, &key, event->seq);
    }
    if (err == OK) {
        key = key_decision_agent(event->org, view.agent_name, event->created_at_us, event->seq);
        err = log_put_id_row(txn, TABLE_DECISION_AGENT, &key, event->seq);
    }
    if (err == OK) {
        change.class_after = view.classification;
        err = evaluator_count(ctx, txn, event->org, SLICE(EVALUATOR_ID), &change);
    }
    if (err == OK && view.cluster_seq != 0) {
        err = apply_cluster(ctx, txn, event, &view);
    }
    if (err == OK) {
        err = decision_citations_count(ctx, txn, event, &view, 1);
    }
    return err != OK ? err : decision_mark_high(txn, event, view.cluster_seq, view.classification);
}

enum err decisions_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    ASSERT(decisions_applies(event->kind));
    if (event->kind == EVENT_DECISION_RECORDED) {
        return apply_recorded(ctx, txn, event);
    }
    return event->kind == EVENT_EVALUATION_SUBMITTED ? evaluation_apply_submitted(ctx, txn, event)
                                                     : evaluation_apply_overridden(ctx, txn, event);
}
