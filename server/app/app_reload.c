/*
 * app_reload.c: SIGHUP: reads flags, variables, the configuration file and the TLS files again, and opens the
 * log file again. Everything is read and checked before anything changes. Connections stay open.
 */
#include "server/app/app_internal.h"
#include "store/base/logger.h"

#include <stdlib.h>

#define RELOAD_ARENA_BYTES ((size_t)64 * 1024)

/* The new configuration and files, until they are in use. */
struct reload {
    struct config config;
    struct config_problem problem;
    struct tls_context *tls;
    struct arena arena;
    struct fault fault;
};

static void refuse(const char *what, struct slice why)
{
    logger_printf(LOGGER_ERROR, "reload: %s%.*s; nothing was changed", what, (int)why.size,
                  (const char *)why.data);
}

/* Reads and checks everything; false, after a line in the log, if something is invalid. */
static bool read_all(const struct app *app, struct reload *reload)
{
    const struct config *running = app->config;
    struct config *fresh = &reload->config;

    if (!config_read(running->argc, running->argv, fresh, &reload->problem)) {
        refuse("", slice_text(reload->problem.text));
        return false;
    }
    if ((fresh->tls_cert[0] == '\0') != (app->tls == NULL)) {
        refuse("tls-cert: ",
               SLICE("TLS cannot be switched on or off while serving; expected a restart"));
        return false;
    }
    if (app_tls_read(fresh, &reload->fault, &reload->tls) != OK) {
        refuse("tls: ", reload->fault.message);
        return false;
    }
    if (!logger_open(fresh->log_file)) {
        logger_printf(LOGGER_ERROR, "reload: log-file: cannot open %s: %m; nothing was changed",
                      fresh->log_file);
        return false;
    }
    return true;
}

/* Puts the new configuration and files into use. */
static void take_over(struct app *app, struct reload *reload)
{
    config_take_over(app->config, &reload->config, &reload->problem);
    logger_configure(app->config->log_level, app->config->log_format);
    if (reload->tls != NULL) {
        tls_server_replace_context(app->tls, reload->tls);
        reload->tls = NULL;
    }
    if (reload->problem.text[0] != '\0') {
        logger_printf(LOGGER_WARNING, "reload: unchanged until the next start: %s",
                      reload->problem.text);
    }
    logger_printf(LOGGER_INFO, "reload: the configuration was read again");
}

void app_reload(struct app *app)
{
    struct reload *reload = calloc(1, sizeof(*reload));

    if (reload == NULL) {
        refuse("", slice_text(err_text(ERR_MEMORY)));
        return;
    }
    arena_init(&reload->arena, RELOAD_ARENA_BYTES);
    fault_init(&reload->fault, &reload->arena);
    if (app->state == APP_SERVING) {
        supervisor_reloading(&app->supervisor, (uint64_t)clock_monotonic_us(clock_system()));
    }
    if (read_all(app, reload)) {
        take_over(app, reload);
    }
    if (app->state == APP_SERVING) {
        app_report_ready(app);
    }
    tls_context_unref(reload->tls);
    arena_deinit(&reload->arena);
    free(reload);
}
