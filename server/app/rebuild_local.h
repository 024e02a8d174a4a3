/*
 * rebuild_local.h: copies data that comes from no event into a store that is rebuilt from its log.
 */
#ifndef ERRATA_SERVER_APP_REBUILD_LOCAL_H
#define ERRATA_SERVER_APP_REBUILD_LOCAL_H

#include "store/backend.h"

/* Copies the server's values in the table META, except those that describe the old store: the new
 * one has its own. */
MUST_CHECK enum err rebuild_carry_local(struct store_backend *from, struct store_backend *to);

#endif
