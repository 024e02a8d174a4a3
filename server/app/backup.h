/*
 * backup.h: the store's bytes for AdminService.Backup, while it is served: a thread of its own copies one
 * moment of the store (store/lmdb/lmdb_copy.h) into a ring, and the stream takes them out as fast as its
 * client reads. There is no file of it on this side. One at a time.
 *
 *   IDLE --start--> COPYING --the thread has ended--> SENDING --cancel--> IDLE
 *                   COPYING --cancelled--> IDLE, once the thread has ended
 *
 * The copy pins pages (the store's file grows by what is written meanwhile), so its time is bounded: the
 * client must read something within BACKUP_STALL_US, and all of it within BACKUP_BASE_US and a second for
 * each BACKUP_BYTES_A_SECOND_MIN.
 *
 * It belongs to the loop's thread; what the copying thread shares is in backup_ring.h.
 */
#ifndef ERRATA_SERVER_APP_BACKUP_H
#define ERRATA_SERVER_APP_BACKUP_H

#include "server/pipeline/backup_jobs.h"
#include "store/backend.h"
#include "store/base/clock.h"

/* Bytes wait for the client, and it reads nothing: as long as a transport takes to find a dead peer. */
#define BACKUP_STALL_US (INT64_C(30) * 1000000)
/* Within this a store of 2 GiB is through at 4 MiB/s, over a slow line too. */
#define BACKUP_BASE_US (INT64_C(600) * 1000000)
#define BACKUP_BYTES_A_SECOND_MIN (UINT64_C(4) << 20)
/* A copy as fast as the loop can send would keep it from other calls. */
#define BACKUP_BYTES_A_SECOND_MAX (UINT64_C(64) << 20)
/* How often the bounds are looked at. */
#define BACKUP_TICK_MS 250

struct uv_loop_s;
struct backup;

struct backup_config {
    struct uv_loop_s *loop;
    struct store_backend *backend;
    const struct clock *clock;
    uint32_t format_version; /* of the store */
    void (*on_news)(void *user, struct org_id org); /* bytes, or the end */
    void (*on_failed)(void *user); /* its stream is to end, whether its client reads or not */
    void (*on_idle)(void *user); /* nothing runs any more */
    void *user;
};

/* ERR_MEMORY alone. From here on the loop has handles of it. */
MUST_CHECK enum err backup_new(const struct backup_config *config, struct backup **ret_backup);
const struct backup_jobs *backup_jobs(struct backup *backup);
bool backup_is_idle(const struct backup *backup);
/* Closes its handles; it must be idle. Accepts NULL; twice is once. */
void backup_close(struct backup *backup);
/* After the loop has ended. Accepts NULL. */
void backup_free(struct backup *backup);

#endif
