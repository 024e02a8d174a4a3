/*
 * restore_command.c: runs a restore and prints its progress.
 */
#include "server/app/commands.h"

#include "server/app/app.h"
#include "store/base/clock.h"
#include "store/base/timestamp.h"
#include "store/lmdb/lmdb_restore.h"

#include <inttypes.h>
#include <stdio.h>

#define ARENA_BYTES (1u << 20)
#define MIB (UINT64_C(1) << 20)

static void on_progress(void *user, bool copying, uint64_t bytes, uint64_t bytes_total)
{
    struct progress_line *line = (struct progress_line *)user;

    progress_line_print(line, "%s %" PRIu64 " of %" PRIu64 " MiB", copying ? "copied" : "checked",
                        bytes / MIB, bytes_total / MIB);
}

static int print_result(const struct config *config, enum err err, struct slice why,
                        const struct backup_info *info)
{
    char time[TIMESTAMP_TEXT_BYTES_MAX];
    size_t time_bytes = 0;

    if (err == OK) {
        time_bytes = timestamp_format(info->created_at_us / 1000000, 0, time);
        (void)printf(
            "restored the store of %.*s into %s (%" PRIu64 " bytes, format version %" PRIu32
            "); its tokens are those of the backup; `erratad --new-admin-token --data "
            "%s` creates another administrator's token\n",
            (int)time_bytes, time, config->data, info->file_bytes, info->format, config->data);
        return APP_EXIT_OK;
    }
    why = why.size > 0 ? why : slice_text(err_text(err));
    (void)fprintf(stderr, "erratad: not restored: %.*s\n", (int)why.size, (const char *)why.data);
    return err == ERR_CORRUPT ? APP_EXIT_DAMAGED : APP_EXIT_FAILED;
}

int restore_command_run(const struct config *config)
{
    struct progress_line line = {.shown_at_us = clock_monotonic_us(clock_system())};
    const struct store_restore order = {.file = config->restore_file,
                                        .path = config->data,
                                        .on_progress = on_progress,
                                        .user = &line};
    struct backup_info info = {0};
    struct arena arena;
    struct fault fault;
    enum err err = OK;
    int status = 0;

    arena_init(&arena, ARENA_BYTES);
    fault_init(&fault, &arena);
    err = store_lmdb_restore(&order, &fault, &info);
    progress_line_end(&line);
    status = print_result(config, err, fault.message, &info);
    arena_deinit(&arena);
    return status;
}
