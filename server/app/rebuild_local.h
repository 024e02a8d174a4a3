/*
 * rebuild_local.h: what a store has that comes from no event, taken over into the one that is
 * rebuilt from its log.
 */
#ifndef ERRATA_SERVER_APP_REBUILD_LOCAL_H
#define ERRATA_SERVER_APP_REBUILD_LOCAL_H

#include "store/backend.h"

/* The server's own values, of the table META; but not what says something of the old store itself: the
 * new one has its own. */
MUST_CHECK enum err rebuild_carry_local(struct store_backend *from, struct store_backend *to);

#endif
