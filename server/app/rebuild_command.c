/*
 * rebuild_command.c: runs a rebuild and prints its progress.
 */
#include "server/app/commands.h"

#include "server/app/app.h"
#include "server/app/rebuild.h"

#include <inttypes.h>
#include <stdio.h>

#define ARENA_BYTES (1u << 20)

struct rebuild_command {
    struct rebuild_result result;
    struct progress_line line;
};

static void on_progress(void *user, const struct replay_progress *progress)
{
    struct rebuild_command *command = (struct rebuild_command *)user;

    progress_line_print(&command->line, "%" PRIu64 " of %" PRIu64 " events", progress->events,
                        progress->events_total);
}

static int print_result(const struct rebuild_command *command, enum err err, struct slice why)
{
    const struct rebuild_result *result = &command->result;

    progress_line_end(&command->line);
    if (err == OK) {
        (void)printf("rebuilt the tables of %" PRIu64 " organisations from %" PRIu64
                     " events in %" PRId64 ".%03" PRId64 " s\n",
                     result->organizations, result->events, result->took_ms / 1000,
                     result->took_ms % 1000);
        return APP_EXIT_OK;
    }
    why = why.size > 0 ? why : slice_text(err_text(err));
    (void)fprintf(stderr, "erratad: not rebuilt: %.*s. %s\n", (int)why.size, (const char *)why.data,
                  result->moved ? "The next start uses the old store or the new one; "
                                  "run --rebuild again to get the new one"
                                : "The store is unchanged");
    return err == ERR_CORRUPT ? APP_EXIT_DAMAGED : APP_EXIT_FAILED;
}

int rebuild_command_run(const struct config *config)
{
    struct rebuild_command command = {0};
    const struct rebuild_order order = {
        .config = config, .on_progress = on_progress, .user = &command};
    struct arena arena;
    struct fault fault;
    int status = 0;

    arena_init(&arena, ARENA_BYTES);
    fault_init(&fault, &arena);
    status = print_result(&command, rebuild_store(&order, &fault, &command.result), fault.message);
    arena_deinit(&arena);
    return status;
}
