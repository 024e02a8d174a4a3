/*
 * app_token_uses.c: stores on which day each token was last used (server/domain/admin/token_use.h). The cache of tokens notes
 * who calls, at no cost for a call; each second those that had not called before on this day are written, so a token causes
 * one write a day.
 */
#include "server/app/app_internal.h"

#include "server/domain/admin/token_use.h"
#include "store/base/logger.h"

#include <inttypes.h>

/* Memory of a run, and what a write counts in the writer's queue. */
#define ARENA_BYTES (256u << 10)
#define QUEUE_BYTES 4000

/* Runs on the writer thread, perhaps several times. */
static enum err run(struct work_request *work, struct store_txn *txn)
{
    struct app_token_uses *uses = (struct app_token_uses *)work;
    enum err err = OK;

    for (size_t i = 0; i < uses->count && err == OK; i++) {
        err = token_use_record(work->ctx, txn, uses->key_ids[i], uses->day);
        if (err == ERR_CORRUPT) {
            logger_printf(LOGGER_WARNING,
                          "token %08" PRIx32 ": its row, or that of its use, is damaged",
                          uses->key_ids[i]);
            err = OK;
        }
    }
    return err;
}

static void run_done(struct work_request *work, enum err result)
{
    struct app_token_uses *uses = (struct app_token_uses *)work;
    struct app *app = uses->app;

    uses->writing = false;
    arena_deinit(&uses->arena);
    if (result != OK) {
        auth_repeat_uses(app->auth);
    }
    app_close_if_idle(app);
}

void app_token_uses_write(struct app *app)
{
    struct app_token_uses *uses = &app->token_uses;

    if (uses->writing) {
        return;
    }
    uses->day = token_use_day(clock_wall_us(app->ctx.clock));
    uses->count = auth_take_uses(app->auth, uses->day, uses->key_ids);
    if (uses->count == 0) {
        return;
    }
    uses->app = app;
    arena_init(&uses->arena, ARENA_BYTES);
    fault_init(&uses->fault, &uses->arena);
    uses->ctx = (struct ctx){&uses->arena, app->ctx.clock, app->ctx.random, &uses->fault};
    uses->work = (struct work_request){
        .bytes = QUEUE_BYTES,
        .deadline_us = INT64_MAX,
        .ctx = &uses->ctx,
        .run = run,
        .done = run_done,
    };
    uses->writing = writer_submit(app->writer, &uses->work) == OK;
    if (!uses->writing) {
        arena_deinit(&uses->arena);
        auth_repeat_uses(app->auth);
    }
}
