/*
 * forget.h: takes back what was made of the theme of a decision, which is content: its part of the sums of its cluster, and
 * its row for comparisons. The decision stays a member of its cluster, as in a replay, in which it never had a theme.
 */
#ifndef ERRATA_SERVER_DOMAIN_DECISIONS_FORGET_H
#define ERRATA_SERVER_DOMAIN_DECISIONS_FORGET_H

#include "server/domain/decisions/decisions.h"

/* Takes the theme of a decision back, if it has one. */
MUST_CHECK enum err decision_forget_theme(struct ctx *ctx, struct store_txn *txn,
                                          const struct event *event,
                                          const struct decision_view *view);
/* The same, before the content of the event is removed. A retracted decision has left its cluster before. */
MUST_CHECK enum err decisions_forget(struct ctx *ctx, struct store_txn *txn,
                                     const struct event *event);

#endif
