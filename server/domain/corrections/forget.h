/*
 * forget.h: removes what corrections made of the content of an event, after that was removed from the log. Its facts
 * stay, and what follows from them: counts of events, marks of other examples, rates.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_FORGET_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_FORGET_H

#include "store/log.h"

/* Changes by the removal of an event's content. */
struct corrections_forgotten {
    /* False: its facts do not say whether it is an example, and it is not one, so that a replay would take it for one. */
    bool may_forget;
    bool is_counted; /* it is among the examples */
};

/* Checks a feedback event that has content. */
MUST_CHECK enum err corrections_check_forget(struct ctx *ctx, struct store_txn *txn,
                                             const struct event *event,
                                             struct corrections_forgotten *ret_forgotten);
/* Removes the example of a feedback event, if it is one, for apply: an event without content has no other rows
 * of it. The caller empties the arena afterwards. */
MUST_CHECK enum err corrections_forget(struct ctx *ctx, struct store_txn *txn,
                                       const struct event *event);

#endif
