/*
 * examples_removed.h: whether a lookup of the past can still show what it showed then.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLES_REMOVED_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLES_REMOVED_H

#include "server/domain/corrections/examples.h"
#include "store/base/ctx.h"

/* For a lookup of the past with a known layout: sets `misses_removed` if examples of the layout, or with MATCH_MODE_FAMILY
 * any examples, were removed since. ERR_PRECONDITION, which names the floor, if the content of all events until then was
 * removed. */
MUST_CHECK enum err examples_check_removed(struct ctx *ctx, struct store_txn *txn,
                                           struct examples_query *query);

#endif
