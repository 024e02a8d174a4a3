/*
 * verifier.h: the store verified while it is served, for AdminService.Verify: a hot copy into
 * DIR/verify by a thread of its own, then a child process that checks the copy (verify_child.h).
 * One at a time. What is in DIR/verify goes after it, or at the next start.
 *   IDLE --start--> COPYING --copied--> CHECKING --the child has ended--> CLEANING --> IDLE
 *                   COPYING --cancelled, failed--> CLEANING
 * It belongs to the loop's thread; the copying thread has the two atomics.
 */
#ifndef ERRATA_SERVER_APP_VERIFIER_H
#define ERRATA_SERVER_APP_VERIFIER_H

#include "server/jobs/pool.h"
#include "server/pipeline/verify_jobs.h"

/* How often the copying thread is asked how far it is. */
#define VERIFIER_TICK_MS 50
/* Of free room that a verification leaves to the store itself. */
#define VERIFIER_ROOM_BYTES (UINT64_C(64) << 20)

struct verifier;

struct verifier_config {
    struct uv_loop_s *loop;
    struct pool *pool;
    struct store_backend *backend;
    const struct clock *clock;
    const char *data; /* the data folder */
    uint64_t map_bytes;
    void (*on_news)(void *user, struct org_id org); /* the state has changed */
    void (*on_idle)(void *user); /* nothing runs any more */
    void *user;
};

/* ERR_MEMORY alone. From here on the loop has a handle of it. */
MUST_CHECK enum err verifier_new(const struct verifier_config *config,
                                 struct verifier **ret_verifier);
const struct verify_jobs *verifier_jobs(struct verifier *verifier);
bool verifier_is_idle(const struct verifier *verifier);
/* Closes its handle; it must be idle. Accepts NULL; twice is once. */
void verifier_close(struct verifier *verifier);
/* After the loop has ended. Accepts NULL. */
void verifier_free(struct verifier *verifier);
/* What a verification that was cut off left; before a server starts, with the folder's lock held. */
void verifier_remove_leftovers(const char *data);

#endif
