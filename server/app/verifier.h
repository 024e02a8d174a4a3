/*
 * verifier.h: verifies the store while it is served, for AdminService.Verify: a separate thread
 * makes a hot copy in DIR/verify, then a child process checks it (verify_child.h). One at a time.
 * DIR/verify is removed at the end, or at the next start.
 *   IDLE --start--> COPYING --copied--> CHECKING --the child has ended--> CLEANING --> IDLE
 *                   COPYING --cancelled, failed--> CLEANING
 * Used on the loop's thread; the copying thread shares the two atomics.
 */
#ifndef ERRATA_SERVER_APP_VERIFIER_H
#define ERRATA_SERVER_APP_VERIFIER_H

#include "server/jobs/pool.h"
#include "server/pipeline/verify_jobs.h"

/* Interval of reading the copying thread's progress. */
#define VERIFIER_TICK_MS 50
/* Free room that a verification leaves to the store. */
#define VERIFIER_ROOM_BYTES (UINT64_C(64) << 20)

struct verifier;

struct verifier_config {
    struct uv_loop_s *loop;
    struct pool *pool;
    struct store_backend *backend; /* the tables */
    struct store_backend *journal; /* the journal over the tables; NULL without one */
    const struct clock *clock;
    const char *data; /* the data folder */
    uint64_t map_bytes;
    void (*on_news)(void *user, struct org_id org); /* the state has changed */
    void (*on_idle)(void *user); /* called when nothing is running any more */
    void *user;
};

/* The only error is ERR_MEMORY. The loop has a handle of the verifier from here on. */
MUST_CHECK enum err verifier_new(const struct verifier_config *config,
                                 struct verifier **ret_verifier);
const struct verify_jobs *verifier_jobs(struct verifier *verifier);
bool verifier_is_idle(const struct verifier *verifier);
/* Closes its handle; it must be idle. Accepts NULL. May be called twice. */
void verifier_close(struct verifier *verifier);
/* Call after the loop has ended. Accepts NULL. */
void verifier_free(struct verifier *verifier);
/* Removes the files of an interrupted verification; call before a server starts, with the folder's
 * lock held. */
void verifier_remove_leftovers(const char *data);

#endif
