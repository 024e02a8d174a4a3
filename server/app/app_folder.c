/*
 * app_folder.c: detects external changes of the data folder: a copy that was made while a server
 * had the original open, or a data file that was removed while this server runs.
 * A copy of an open store may have pages of different commits. If a replay of its log gives the
 * same tables, it is accepted; else it is refused. The replay goes into a scratch store, before
 * anything is served.
 */
#include "server/app/app_internal.h"

#include "server/app/verify_child.h"
#include "server/domain/replay/replay.h"
#include "store/backup/backup_file.h"
#include "store/base/logger.h"
#include "store/lmdb/lmdb_folder.h"

#include <inttypes.h>
#include <stdio.h>

#define MIB (UINT64_C(1) << 20)

struct copy_check {
    const struct config *config;
    struct store_backend *backend; /* the copy to check */
    struct store_backend *scratch;
    /* Folder of the scratch store; a leftover is removed at the next opening. */
    char folder[CONFIG_PATH_BYTES_MAX + 32];
    uint64_t used_bytes; /* used size of the copy */
    struct replay_report report;
    struct fault *fault;
};

static enum err check_room(struct copy_check *check)
{
    struct store_stats stats;
    uint64_t free_bytes = 0;
    enum err err = store_stats(check->backend, &stats);

    if (err == OK) {
        err = store_lmdb_free_bytes(check->config->data, &free_bytes);
    }
    if (err != OK) {
        return err;
    }
    check->used_bytes = stats.map_used_bytes;
    if (free_bytes < stats.map_used_bytes + VERIFIER_ROOM_BYTES) {
        return fault_say(check->fault, ERR_DISK_FULL,
                         "%s: a copy made while a server was writing; checking "
                         "it needs %" PRIu64 " MiB of room, and %" PRIu64 " MiB are free",
                         check->config->data, (stats.map_used_bytes + VERIFIER_ROOM_BYTES) / MIB,
                         free_bytes / MIB);
    }
    return OK;
}

static enum err replay_copy(struct copy_check *check)
{
    const struct store_lmdb_config store = {
        .path = check->folder,
        .map_bytes = verify_made_map_bytes(check->config, check->used_bytes),
        .reserve_bytes = 1};
    struct replay_config config = {
        .source = check->backend, .clock = clock_system(), .random = random_system()};
    enum err err = store_lmdb_open(&store, check->fault, &check->scratch);

    if (err == OK) {
        store_lmdb_begin_bulk(check->scratch);
        config.target = check->scratch;
        err = replay_verify(&config, &check->report);
        store_lmdb_close(check->scratch);
    }
    store_lmdb_remove_folder(check->folder);
    return err;
}

static enum err say_torn(const struct copy_check *check)
{
    const struct replay_report *report = &check->report;

    return fault_say(check->fault, ERR_CORRUPT,
                     "%s: inconsistent copy, made while a server was writing: its tables do not "
                     "match its log (rows that differ: %" PRIu64
                     ", organisations whose log is broken: %" PRIu64 "); " BACKUP_ADVICE,
                     check->config->data, report->difference_count, report->broken_count);
}

enum err app_check_copy(const struct config *config, struct store_backend *backend,
                        struct fault *fault)
{
    struct copy_check check = {.config = config, .backend = backend, .fault = fault};
    enum err err = OK;

    (void)snprintf(check.folder, sizeof(check.folder), "%s/%s", config->data,
                   STORE_LMDB_REBUILD_FOLDER);
    logger_printf(
        LOGGER_WARNING,
        "%s: a copy made while a server was writing; it is "
        "checked completely before it is served. For backups use `errata admin backup FILE`",
        config->data);
    err = check_room(&check);
    if (err == OK) {
        err = replay_copy(&check);
    }
    if (err == OK && !replay_is_clean(&check.report)) {
        err = say_torn(&check);
    }
    if (err != OK) {
        return err;
    }
    logger_printf(LOGGER_INFO, "the copy is consistent: %" PRIu64 " events, %" PRIu64 " rows",
                  check.report.events, check.report.rows);
    return OK;
}

enum err app_say_torn_journal(const struct config *config, struct fault *fault)
{
    const struct slice reason = fault->message;

    return fault_say(fault, ERR_CORRUPT,
                     "%s: inconsistent copy, made while a server was writing: %.*s; " BACKUP_ADVICE,
                     config->data, (int)reason.size, (const char *)reason.data);
}

bool app_lost_file(struct app *app)
{
    if (!app->lost_file && store_lmdb_lost_file(app->tables)) {
        app->lost_file = true;
        logger_printf(
            LOGGER_ERROR,
            "%s/db/data.mdb was removed while it is served: writes are refused, reads continue; "
            "save the data with `errata admin backup FILE` before this process ends",
            app->config->data);
    }
    return app->lost_file;
}
