/*
 * app_export.c: gives the recorder of exports what it needs of the server: the writer and the streams.
 */
#include "server/app/app_internal.h"

#include "server/domain/transfer/organization_import.h"
#include "store/lmdb/lmdb.h"

_Static_assert(EXPORT_STORE_FORMAT == STORE_FORMAT_VERSION,
               "exports name the format of the store, and imports accept it");

enum err app_export_make(struct app *app)
{
    const struct export_recorder_config config = {
        .writer = app->writer,
        .clock = app->ctx.clock,
        .random = app->ctx.random,
        .on_news = app_on_news,
        .on_idle = app_on_idle,
        .user = app,
    };

    return export_recorder_new(&app->arena, &config, &app->exports);
}
