/*
 * main.c: erratad: reads the configuration, and sets up the process before anything else runs.
 */
#include "server/app/app.h"
#include "server/app/commands.h"
#include "server/app/verify_child.h"
#include "server/jobs/pool.h"
#include "store/base/heap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Protects secrets in memory: no core file, and no other process may read it. Sanitizers read their
 * own process at exit, so their builds allow it. */
static void guard_memory(void)
{
    const struct rlimit none = {0, 0};

    (void)setrlimit(RLIMIT_CORE, &none);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

/* Sets libuv's number of threads, which it reads when the first job arrives. */
static void set_pool_threads(void)
{
    char count[16];

    (void)snprintf(count, sizeof(count), "%d", POOL_THREADS);
    (void)setenv("UV_THREADPOOL_SIZE", count, 1);
}

/* With a JSON log, no line in another format is written. */
static void report_problem(const struct config *config, const struct config_problem *problem)
{
    if (config->log_format == LOGGER_JSON) {
        logger_configure(LOGGER_INFO, LOGGER_JSON);
        logger_printf(LOGGER_ERROR, "%s", problem->text);
    } else {
        (void)fprintf(stderr, "erratad: %s\n", problem->text);
    }
}

int main(int argc, char **argv)
{
    static struct config config;
    struct config_problem problem;

    (void)signal(SIGPIPE, SIG_IGN);
    (void)umask(077);
    guard_memory();
    set_pool_threads();
    heap_keep_spare();
    if (!config_read(argc, argv, &config, &problem)) {
        report_problem(&config, &problem);
        return APP_EXIT_USAGE;
    }
    logger_configure(config.log_level, config.log_format);
    switch (config.action) {
    case CONFIG_HELP:
        (void)fputs(config_help(), stdout);
        return APP_EXIT_OK;
    case CONFIG_VERSION:
        (void)puts("erratad " ERRATA_VERSION);
        return APP_EXIT_OK;
    case CONFIG_CHECK:
        return check_command_run(&config);
    case CONFIG_NEW_TOKEN:
        return new_token_command_run(&config);
    case CONFIG_REBUILD:
        return rebuild_command_run(&config);
    case CONFIG_RESTORE:
        return restore_command_run(&config);
    case CONFIG_VERIFY_COPY:
        return verify_child_run(&config);
    case CONFIG_SERVE:
        break;
    }
    if (config.log_file[0] != '\0' && !logger_open(config.log_file)) {
        (void)snprintf(problem.text, sizeof(problem.text), "log-file: cannot open %.*s: %m", 512,
                       config.log_file);
        report_problem(&config, &problem);
        return APP_EXIT_USAGE;
    }
    return app_run(&config);
}
