/*
 * backup.h: the bytes of a backup for AdminService.Backup, while the store is served: a separate
 * thread puts them into a ring (backup_copy.h), and the stream takes them as fast as its client
 * reads. No file is written on the server. One at a time.
 *   IDLE --start--> COPYING --the thread has ended--> SENDING --cancel--> IDLE
 *                   COPYING --cancelled--> IDLE, once the thread has ended
 * The copy pins pages (the store's file grows by what is written meanwhile), so its time is
 * bounded: the client must read something within BACKUP_STALL_US, and everything within
 * BACKUP_BASE_US plus a second for each BACKUP_BYTES_A_SECOND_MIN.
 * Used on the loop's thread; backup_ring.h is shared with the copying thread.
 */
#ifndef ERRATA_SERVER_APP_BACKUP_H
#define ERRATA_SERVER_APP_BACKUP_H

#include "server/pipeline/backup_jobs.h"
#include "store/backend.h"
#include "store/base/clock.h"

/* Limit of the time in which the client reads nothing although bytes wait: the time a transport
 * needs to detect a dead peer. */
#define BACKUP_STALL_US (INT64_C(30) * 1000000)
/* Enough for a store of 2 GiB over a line of 4 MiB/s. */
#define BACKUP_BASE_US (INT64_C(600) * 1000000)
#define BACKUP_BYTES_A_SECOND_MIN (UINT64_C(4) << 20)
/* Interval of checking the limits. */
#define BACKUP_TICK_MS 250

struct uv_loop_s;
struct backup;

struct backup_config {
    struct uv_loop_s *loop;
    struct store_backend *backend; /* the tables */
    struct store_backend *journal; /* the journal over the tables; NULL without one */
    const struct clock *clock;
    uint32_t format_version; /* format version of the store */
    void (*on_news)(void *user, struct org_id org); /* bytes are available, or it has ended */
    void (*on_failed)(
        void *
            user); /* called if the backup failed: its stream must end, even if its client does not read */
    void (*on_idle)(void *user); /* called when nothing is running any more */
    void *user;
};

/* The only error is ERR_MEMORY. The loop has handles of the backup from here on. */
MUST_CHECK enum err backup_new(const struct backup_config *config, struct backup **ret_backup);
const struct backup_jobs *backup_jobs(struct backup *backup);
bool backup_is_idle(const struct backup *backup);
/* Closes its handles; it must be idle. Accepts NULL. May be called twice. */
void backup_close(struct backup *backup);
/* Frees the backup after the loop has ended. NULL is allowed. */
void backup_free(struct backup *backup);

#endif
