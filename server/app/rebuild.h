/*
 * rebuild.h: `erratad --rebuild --data DIR`: the tables made anew from the log, offline. The new store
 * is made beside the old one, without syncs until it is whole, and takes its place at the end; until
 * then the old one is as it was, whatever happens. What is no event's (the key of page tokens) comes
 * along; idempotency rows are made from the log, as far back as they are asked for by the log's time or
 * by the clock's.
 */
#ifndef ERRATA_SERVER_APP_REBUILD_H
#define ERRATA_SERVER_APP_REBUILD_H

#include "server/app/config.h"

/* Room that is asked for beside as much as the old store has: a new one is rarely larger. */
#define REBUILD_ROOM_BYTES (UINT64_C(64) << 20)
/* Progress is told this often. */
#define REBUILD_TELL_US 1000000

/* Gives the exit status (app.h). */
int rebuild_run(const struct config *config);

#endif
