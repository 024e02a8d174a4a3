/*
 * app_access.c: checks whether an administrator of the whole server exists, and until when: health
 * (`errata.admin`) and the log warn before the last such token expires. The token table is read on
 * the pool, at the start and after each change of a token or organisation; the time is compared at each check.
 */
#include "server/app/app_internal.h"

#include "store/base/timestamp.h"

#include <inttypes.h>

/* Interval at which the log repeats the warning. */
#define LOG_AGAIN_MS UINT64_C(86400000)

/* Runs on the pool. */
static void on_read_work(void *job)
{
    struct app *app = (struct app *)job;
    struct app_access *access = &app->access;
    struct store_txn *txn = NULL;

    access->read_result = store_begin(app->backend, STORE_READ, &txn);
    if (access->read_result == OK) {
        access->read_result = admin_read_server_access(txn, clock_wall_us(app->ctx.clock), NULL,
                                                       ADMIN_TOKENS_SCANNED_MAX, &access->read);
        store_abort(txn);
    }
}

static void on_read_done(void *job, enum err result)
{
    struct app *app = (struct app *)job;
    struct app_access *access = &app->access;

    access->reading = false;
    if (result == OK && access->read_result == OK) {
        access->known = true;
        access->version = access->read_version;
        access->found = access->read;
        app_access_report(app);
    }
    app_close_if_idle(app);
}

static bool is_short(const struct app *app)
{
    const struct app_access *access = &app->access;

    return access->known && access->found.until_us != INT64_MAX &&
           access->found.until_us - ADMIN_EXPIRY_WARN_US < clock_wall_us(app->ctx.clock);
}

static void log_warning(const struct app *app)
{
    const struct admin_server_access *found = &app->access.found;
    char end[TIMESTAMP_TEXT_BYTES_MAX];
    size_t end_bytes = 0;

    if (found->until_us <= clock_wall_us(app->ctx.clock)) {
        logger_printf(LOGGER_WARNING,
                      "no usable ADMIN token with the server flag is left; stop the server and run "
                      "`erratad --new-admin-token --data %s`",
                      app->config->data);
        return;
    }
    end_bytes = timestamp_format(found->until_us / 1000000, 0, end);
    logger_printf(LOGGER_WARNING,
                  "the last usable ADMIN token with the server flag, %08" PRIx32
                  ", expires at %.*s; create another one before (`errata token create --role ADMIN "
                  "--server-flag`), or after that `erratad --new-admin-token --data %s`",
                  found->key_id, (int)end_bytes, end, app->config->data);
}

void app_access_report(struct app *app)
{
    struct app_access *access = &app->access;
    bool is_warned = is_short(app);

    if (app->state != APP_SERVING) {
        return;
    }
    pipeline_set_health(app->pipeline, HEALTH_PART_ADMIN,
                        is_warned ? HEALTH_NOT_SERVING : HEALTH_SERVING);
    if (is_warned && (!access->is_warned || uv_now(&app->loop) >= access->log_again_ms)) {
        log_warning(app);
        access->log_again_ms = uv_now(&app->loop) + LOG_AGAIN_MS;
    }
    access->is_warned = is_warned;
}

void app_access_check(struct app *app)
{
    struct app_access *access = &app->access;
    /* Suspended organisations have no usable token. */
    uint64_t version = auth_version(app->writer);

    app_access_report(app);
    if (access->reading || (access->known && access->version == version)) {
        return;
    }
    access->read_version = version; /* the content that is read has this version or a newer one */
    access->reading = pool_submit(app->pool, on_read_work, on_read_done, app) == OK;
}
