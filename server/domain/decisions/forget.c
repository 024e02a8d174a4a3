/*
 * forget.c: see forget.h.
 */
#include "server/domain/decisions/forget.h"

#include "server/domain/decisions/clusters.h"
#include "server/domain/decisions/keys.h"
#include "server/domain/events/retraction.h"

enum err decision_forget_theme(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                               const struct decision_view *view)
{
    struct cluster_space place = {.org = event->org, .agent = view->agent_name};
    struct decision_theme theme;
    struct key key;
    enum err err = decision_theme_read(view, &theme);

    if (err != OK || theme.numbers.size == 0) {
        return err;
    }
    place.space = theme.space;
    err = cluster_subtract(ctx->arena, txn, &place, view->cluster_seq, theme.numbers);
    key = key_decision_theme(event->org, theme.space, event->seq);
    return err != OK ? err : store_del(txn, TABLE_DECISION_THEME, key_slice(&key));
}

enum err decisions_forget(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct decision_view view;
    uint64_t retraction_seq = 0;
    enum err err = view_read_parts(&decision_view_type, event->facts, event->content, &view);

    if (err == OK) {
        err = retraction_find(txn, event->org, event->seq, &retraction_seq);
    }
    return err != OK || view.cluster_seq == 0 || retraction_seq != 0
               ? err
               : decision_forget_theme(ctx, txn, event, &view);
}
