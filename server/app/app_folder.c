/*
 * app_folder.c: what others did to the data folder while it is served.
 */
#include "server/app/app_internal.h"

#include "store/base/logger.h"

bool app_lost_file(struct app *app)
{
    if (!app->lost_file && store_lmdb_lost_file(app->backend)) {
        app->lost_file = true;
        logger_printf(
            LOGGER_ERROR,
            "%s/db/data.mdb was removed while it is served: writes are refused, reads go "
            "on; save what it has with `errata admin backup FILE` before this process ends",
            app->config->data);
    }
    return app->lost_file;
}
