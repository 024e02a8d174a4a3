/*
 * rebuild.h: rebuilds a store's tables from its log, while no process has it open. The new store is
 * written beside the old one, without syncs until it is complete, and replaces it at the end; until
 * then the old one is unchanged. The old format may be an older one, the new one is this program's.
 * Data without events (the key of page tokens) is copied; idempotency rows are made from the log,
 * as far back as they are valid by the log's time or by the clock's.
 */
#ifndef ERRATA_SERVER_APP_REBUILD_H
#define ERRATA_SERVER_APP_REBUILD_H

#include "server/app/config.h"
#include "server/domain/replay/replay.h"
#include "store/base/fault.h"

/* Room required in addition to the old store's size: a new one is rarely larger. */
#define REBUILD_ROOM_BYTES (UINT64_C(64) << 20)

struct rebuild_order {
    const struct config *config; /* data folder and map size */
    /* Called after each batch of events. */
    void (*on_progress)(void *user, const struct replay_progress *progress);
    void *user;
};

struct rebuild_result {
    uint64_t organizations;
    uint64_t events; /* events replayed so far */
    int64_t took_ms;
    bool moved; /* the rename has begun: either store may be in place */
};

/* On failure `fault` contains the reason: ERR_CORRUPT for a broken log, ERR_DISK_FULL for lack of
 * disk space, or an error of opening. `ret_result` is filled in either case. */
MUST_CHECK enum err rebuild_store(const struct rebuild_order *order, struct fault *fault,
                                  struct rebuild_result *ret_result);
/* Copies data that comes from no event: the server's values in the table META, except those that describe the
 * old store. The new one has its own. */
MUST_CHECK enum err rebuild_carry_local(struct store_backend *from, struct store_backend *to);

#endif
