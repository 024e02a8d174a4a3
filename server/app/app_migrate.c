/*
 * app_migrate.c: rebuilds a store of an older format from its log before it is served. If the
 * program is killed meanwhile, the old store remains until the new one is complete; the next start
 * continues.
 */
#include "server/app/app_internal.h"

#include "server/app/rebuild.h"
#include "store/base/logger.h"

#include <inttypes.h>

/* Interval of progress lines in the log. */
#define PROGRESS_US 5000000

static void on_progress(void *user, const struct replay_progress *progress)
{
    int64_t *reported_at_us = (int64_t *)user;
    int64_t now_us = clock_monotonic_us(clock_system());

    if (now_us - *reported_at_us >= PROGRESS_US) {
        *reported_at_us = now_us;
        logger_printf(LOGGER_INFO, "%" PRIu64 " of %" PRIu64 " events rebuilt", progress->events,
                      progress->events_total);
    }
}

enum err app_migrate(const struct config *config, uint64_t format, struct fault *fault)
{
    int64_t reported_at_us = clock_monotonic_us(clock_system());
    const struct rebuild_order order = {
        .config = config, .on_progress = on_progress, .user = &reported_at_us};
    struct rebuild_result result;
    enum err err = OK;

    logger_printf(LOGGER_INFO,
                  "the store in %s has format version %" PRIu64
                  ", this program's is %d: its tables "
                  "are rebuilt from its log; the store is unchanged until that is done",
                  config->data, format, STORE_FORMAT_VERSION);
    err = rebuild_store(&order, fault, &result);
    if (err == OK) {
        logger_printf(LOGGER_INFO,
                      "rebuilt the tables of %" PRIu64 " organisations from %" PRIu64
                      " events in %" PRId64 ".%03" PRId64 " s",
                      result.organizations, result.events, result.took_ms / 1000,
                      result.took_ms % 1000);
    }
    return err;
}
