/*
 * app_tokens.c: warns of tokens that expire within 14 days, by health (`errata.tokens`), the log and two
 * counters. The token table is read on the pool: at the start, after each change, and at the time at which
 * the result changes by itself. app_access.c checks whether the server can still be administered.
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
    struct app_tokens *tokens = &app->tokens;
    struct store_txn *txn = NULL;

    tokens->read_result = store_begin(app->backend, STORE_READ, &txn);
    if (tokens->read_result == OK) {
        tokens->read_result = admin_read_token_expiry(txn, clock_wall_us(app->ctx.clock),
                                                      ADMIN_TOKENS_SCANNED_MAX, &tokens->read);
        store_abort(txn);
    }
}

static void log_warning(const struct admin_token_expiry *found)
{
    char end[TIMESTAMP_TEXT_BYTES_MAX];
    size_t end_bytes = timestamp_format(found->first_at_us / 1000000, 0, end);

    logger_printf(LOGGER_WARNING,
                  "tokens that expire within 14 days: %" PRIu64 ", the first of them, %08" PRIx32
                  ", at %.*s; replace it before (`errata token rotate %08" PRIx32 "`)",
                  found->count, found->key_id, (int)end_bytes, end, found->key_id);
}

void app_tokens_report(struct app *app)
{
    struct app_tokens *tokens = &app->tokens;
    bool is_warned = tokens->known && tokens->found.count > 0;

    if (app->state != APP_SERVING) {
        return;
    }
    pipeline_set_health(app->pipeline, HEALTH_PART_TOKENS,
                        is_warned ? HEALTH_NOT_SERVING : HEALTH_SERVING);
    if (is_warned && (!tokens->is_warned || uv_now(&app->loop) >= tokens->log_again_ms)) {
        log_warning(&tokens->found);
        tokens->log_again_ms = uv_now(&app->loop) + LOG_AGAIN_MS;
    }
    tokens->is_warned = is_warned;
}

static void on_read_done(void *job, enum err result)
{
    struct app *app = (struct app *)job;
    struct app_tokens *tokens = &app->tokens;

    tokens->reading = false;
    if (result == OK && tokens->read_result == OK) {
        tokens->known = true;
        tokens->version = tokens->read_version;
        tokens->found = tokens->read;
        app_tokens_report(app);
    }
    app_close_if_idle(app);
}

/* Returns whether the last result is still valid. A clock that was set back invalidates it, too. */
static bool is_current(const struct app_tokens *tokens, uint64_t version, int64_t now_us)
{
    return tokens->known && tokens->version == version && now_us >= tokens->found.read_at_us &&
           now_us < tokens->found.changes_at_us;
}

void app_tokens_check(struct app *app)
{
    struct app_tokens *tokens = &app->tokens;
    uint64_t version = writer_table_version(app->writer, TABLE_TOKEN);

    app_tokens_report(app);
    if (tokens->reading || is_current(tokens, version, clock_wall_us(app->ctx.clock))) {
        return;
    }
    tokens->read_version = version; /* the content read is of this version or newer */
    tokens->reading = pool_submit(app->pool, on_read_work, on_read_done, app) == OK;
}

size_t app_tokens_read_counters(const struct app *app, struct env_counter *counters, size_t max)
{
    const struct admin_token_expiry *found = &app->tokens.found; /* zeros before the first result */
    const struct env_counter all[] = {
        {"tokens_expiring", found->count},
        {"tokens_first_expires_at_s", (uint64_t)(found->first_at_us / 1000000)},
    };

    return app_copy_counters(all, sizeof(all) / sizeof(all[0]), counters, max);
}
