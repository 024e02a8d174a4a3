/*
 * app_erase.c: gives the eraser what it needs of the server: the pool, the writer, the journal and the streams.
 */
#include "server/app/app_internal.h"

#include "store/journal/journal.h"

enum err app_erase_journal(void *user)
{
    const struct app *app = (const struct app *)user;

    return store_journal_erase(app_store_journal(app));
}

void app_on_news(void *user, struct org_id org)
{
    struct app *app = (struct app *)user;

    pipeline_wake(app->pipeline, org);
}

enum err app_erase_make(struct app *app)
{
    const struct eraser_config config = {
        .backend = app->backend,
        .writer = app->writer,
        .clock = app->ctx.clock,
        .random = app->ctx.random,
        .run_on_pool = app_run_on_pool,
        .settle = app_store_journal(app) != NULL ? app_erase_journal : NULL,
        .on_news = app_on_news,
        .on_idle = app_on_idle,
        .user = app,
    };

    return eraser_new(&app->arena, &config, &app->eraser);
}
