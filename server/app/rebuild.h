/*
 * rebuild.h: a store's tables rebuilt from its log, while no one has it open. The new store is made
 * beside the old one, without syncs until it is whole, and takes its place at the end; until then
 * the old one is as it was, whatever happens. Its format may be an older one, the new one's is this
 * program's. What is no event's (the key of page tokens) comes along; idempotency rows are made
 * from the log, as far back as they are asked for by the log's time or by the clock's.
 */
#ifndef ERRATA_SERVER_APP_REBUILD_H
#define ERRATA_SERVER_APP_REBUILD_H

#include "server/app/config.h"
#include "server/domain/replay/replay.h"
#include "store/base/fault.h"

/* Room that is asked for beside as much as the old store has: a new one is rarely larger. */
#define REBUILD_ROOM_BYTES (UINT64_C(64) << 20)

struct rebuild_order {
    const struct config *config; /* its data folder and map size */
    /* Called after each batch of events. */
    void (*on_progress)(void *user, const struct replay_progress *progress);
    void *user;
};

struct rebuild_result {
    uint64_t organizations;
    uint64_t events; /* that were replayed */
    int64_t took_ms;
    bool moved; /* its place was being taken: either store may be there */
};

/* A failure says why in `fault`: ERR_CORRUPT for a log that no table can be made of, ERR_DISK_FULL for
 * want of room, or what opening says. `ret_result` is filled either way. */
MUST_CHECK enum err rebuild_store(const struct rebuild_order *order, struct fault *fault,
                                  struct rebuild_result *ret_result);

#endif
