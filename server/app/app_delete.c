/*
 * app_delete.c: gives the deleter of organisations what it needs of the server: the pool, the writer, the journal and what
 * is kept in memory.
 */
#include "server/app/app_internal.h"

static void on_deleted(void *user, struct org_id org)
{
    struct app *app = (struct app *)user;

    env_forget(&app->env, org);
    auth_forget(app->auth, org);
}

enum err app_delete_make(struct app *app)
{
    const struct organization_deleter_config config = {
        .backend = app->backend,
        .writer = app->writer,
        .clock = app->ctx.clock,
        .random = app->ctx.random,
        .run_on_pool = app_run_on_pool,
        .settle = app_store_journal(app) != NULL ? app_erase_journal : NULL,
        .on_deleted = on_deleted,
        .on_news = app_on_news,
        .on_idle = app_on_idle,
        .user = app,
    };

    return organization_deleter_new(&app->arena, &config, &app->deleter);
}
