/*
 * restore_command.c: runs a restore and prints its progress.
 */
#include "server/app/commands.h"

#include "server/app/app.h"
#include "server/app/restore_increment.h"
#include "store/base/clock.h"
#include "store/base/timestamp.h"
#include "store/lmdb/lmdb_restore.h"

#include <inttypes.h>
#include <stdio.h>

#define ARENA_BYTES (1u << 20)
#define MIB (UINT64_C(1) << 20)

static void print_progress(void *user, const char *step, uint64_t bytes, uint64_t bytes_total)
{
    struct progress_line *line = (struct progress_line *)user;

    progress_line_print(line, "%s %" PRIu64 " of %" PRIu64 " MiB", step, bytes / MIB,
                        bytes_total / MIB);
}

static void on_progress(void *user, bool copying, uint64_t bytes, uint64_t bytes_total)
{
    print_progress(user, copying ? "copied" : "checked", bytes, bytes_total);
}

static int print_failure(enum err err, struct slice why)
{
    why = why.size > 0 ? why : slice_text(err_text(err));
    (void)fprintf(stderr, "erratad: not restored: %.*s\n", (int)why.size, (const char *)why.data);
    return err == ERR_CORRUPT ? APP_EXIT_DAMAGED : APP_EXIT_FAILED;
}

/* Formats the time of a backup; returns the text's bytes. */
static int format_time(const struct backup_info *info, char time[TIMESTAMP_TEXT_BYTES_MAX])
{
    return (int)timestamp_format(info->created_at_us / 1000000, 0, time);
}

static enum err restore_whole(const struct config *config, struct fault *fault)
{
    struct progress_line line = {.shown_at_us = clock_monotonic_us(clock_system())};
    const struct store_restore order = {.file = config->restore_file,
                                        .path = config->data,
                                        .on_progress = on_progress,
                                        .user = &line};
    struct backup_info info = {0};
    char time[TIMESTAMP_TEXT_BYTES_MAX];
    enum err err = store_lmdb_restore(&order, fault, &info);

    progress_line_end(&line);
    if (err == OK) {
        (void)printf("restored the store of %.*s into %s (%" PRIu64
                     " bytes, format version %" PRIu32
                     "); its tokens are those of the backup; `erratad --new-admin-token --data "
                     "%s` creates another administrator's token\n",
                     format_time(&info, time), time, config->data, info.file_bytes, info.format,
                     config->data);
    }
    return err;
}

static enum err restore_more(const struct config *config, struct backup_reader *reader,
                             struct fault *fault)
{
    struct progress_line line = {.shown_at_us = clock_monotonic_us(clock_system())};
    const struct restore_increment order = {.config = config,
                                            .reader = reader,
                                            .on_progress = print_progress,
                                            .user = &line,
                                            .fault = fault};
    struct increment_report report = {.events = 0};
    char time[TIMESTAMP_TEXT_BYTES_MAX];
    enum err err = restore_increment(&order, &report);

    progress_line_end(&line);
    if (err == OK) {
        (void)printf(
            "restored %" PRIu64 " events of %" PRIu64
            " organisations into %s, which is the store of %.*s now; organisations deleted: "
            "%" PRIu64 "\n",
            report.events, report.organizations, config->data, format_time(&reader->info, time),
            time, report.deleted);
    }
    return err;
}

int restore_command_run(const struct config *config)
{
    struct backup_reader reader;
    struct arena arena;
    struct fault fault;
    enum err err = OK;
    int status = APP_EXIT_OK;

    arena_init(&arena, ARENA_BYTES);
    fault_init(&fault, &arena);
    err = backup_reader_open(&reader, config->restore_file, &fault);
    if (err == OK) {
        err = reader.info.kind == BACKUP_INCREMENT ? restore_more(config, &reader, &fault)
                                                   : restore_whole(config, &fault);
    }
    backup_reader_close(&reader);
    if (err != OK) {
        status = print_failure(err, fault.message);
    }
    arena_deinit(&arena);
    return status;
}
