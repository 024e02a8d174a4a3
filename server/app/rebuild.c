/*
 * rebuild.c: see rebuild.h. What it does and how far it is goes to standard error, for the person who
 * runs it; the last line says what came of it.
 */
#include "server/app/rebuild.h"

#include "server/app/app.h"
#include "server/app/app_damage.h"
#include "server/app/rebuild_local.h"
#include "server/domain/replay/replay.h"
#include "store/lmdb/lmdb.h"
#include "store/lmdb/lmdb_folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARENA_BYTES (1u << 20)
#define MIB (UINT64_C(1) << 20)

struct rebuild {
    const struct config *config;
    char folder[CONFIG_PATH_BYTES_MAX + 32]; /* where the new store is made */
    struct arena arena;
    struct fault fault;
    struct store_backend *old; /* holds the folder's lock until the end */
    struct store_backend *new;
    struct replay_report report;
    struct replay_progress progress; /* told last */
    int64_t told_at_us;
    bool line_open; /* a terminal's line that is written over */
    bool moved; /* its place is being taken: either store may be there */
};

static bool on_progress(void *user, const struct replay_progress *progress)
{
    struct rebuild *rebuild = (struct rebuild *)user;
    int64_t now_us = clock_monotonic_us(clock_system());

    rebuild->progress = *progress;
    if (now_us - rebuild->told_at_us < REBUILD_TELL_US) {
        return true;
    }
    rebuild->told_at_us = now_us;
    rebuild->line_open = isatty(STDERR_FILENO) != 0;
    (void)fprintf(stderr, "%s%" PRIu64 " of %" PRIu64 " events%s", rebuild->line_open ? "\r" : "",
                  progress->events, progress->events_total, rebuild->line_open ? "" : "\n");
    return true;
}

static void end_line(struct rebuild *rebuild)
{
    if (rebuild->line_open) {
        rebuild->line_open = false;
        (void)fputc('\n', stderr);
    }
}

/* A store is rebuilt where there is one; opening would make one. */
static enum err find_store(struct rebuild *rebuild)
{
    static const char *const names[] = {"db", "db.old"};
    const char *data = rebuild->config->data;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[CONFIG_PATH_BYTES_MAX + 32];
        struct stat info;

        (void)snprintf(path, sizeof(path), "%s/%s", data, names[i]);
        if (stat(path, &info) == 0) {
            return OK;
        }
    }
    return fault_say(&rebuild->fault, ERR_PRECONDITION, "%s: there is no store", data);
}

/* The new store stands beside the old one until it takes its place. */
static enum err check_room(struct rebuild *rebuild)
{
    struct store_stats stats;
    uint64_t free_bytes = 0;
    enum err err = store_stats(rebuild->old, &stats);

    if (err == OK) {
        err = store_lmdb_free_bytes(rebuild->config->data, &free_bytes);
    }
    if (err != OK) {
        return err;
    }
    if (free_bytes < stats.map_used_bytes + REBUILD_ROOM_BYTES) {
        return fault_say(&rebuild->fault, ERR_DISK_FULL,
                         "%s: there is no room for the new store beside the old one: it may take "
                         "%" PRIu64 " MiB, and %" PRIu64 " MiB are free",
                         rebuild->config->data, (stats.map_used_bytes + REBUILD_ROOM_BYTES) / MIB,
                         free_bytes / MIB);
    }
    return OK;
}

static enum err open_old(struct rebuild *rebuild)
{
    const struct store_lmdb_config config = {.path = rebuild->config->data,
                                             .map_bytes = rebuild->config->map_bytes,
                                             .on_damage = app_damage_end};
    enum err err = find_store(rebuild);

    if (err == OK) {
        err = store_lmdb_open(&config, &rebuild->fault, &rebuild->old);
    }
    if (err == OK) {
        app_damage_watch(rebuild->config->data, store_lmdb_map(rebuild->old));
        err = check_room(rebuild);
    }
    return err;
}

static enum err open_new(struct rebuild *rebuild)
{
    const struct store_lmdb_config config = {
        .path = rebuild->folder, .map_bytes = rebuild->config->map_bytes, .reserve_bytes = 1};
    enum err err = store_lmdb_open(&config, &rebuild->fault, &rebuild->new);

    if (err == OK) {
        store_lmdb_begin_bulk(rebuild->new);
    }
    return err;
}

static enum err say_broken(struct rebuild *rebuild)
{
    const struct replay_report *report = &rebuild->report;
    char org[UUID_TEXT_BYTES];

    uuid_format(report->broken_org.uuid, org);
    return fault_say(&rebuild->fault, ERR_CORRUPT,
                     "event %" PRIu64 " of the organisation %.*s %s; no table can be made from "
                     "it, so restore a backup",
                     report->broken_seq, UUID_TEXT_BYTES, org,
                     replay_break_text(report->broken_by));
}

/* The map of the new store has less room than it needs; the disk may have enough. */
static enum err say_full_map(struct rebuild *rebuild)
{
    return fault_say(&rebuild->fault, ERR_DISK_FULL,
                     "the new store needs more than the %" PRIu64
                     " MiB that --map-size gives it; give it more",
                     rebuild->config->map_bytes / MIB);
}

static enum err fill_new(struct rebuild *rebuild)
{
    const struct replay_config config = {.source = rebuild->old,
                                         .target = rebuild->new,
                                         .clock = clock_system(),
                                         .random = random_system(),
                                         .now_us = clock_wall_us(clock_system()),
                                         .on_progress = on_progress,
                                         .user = rebuild};
    enum err err = replay_log(&config, &rebuild->report);

    end_line(rebuild);
    if (err == ERR_CORRUPT && rebuild->report.broken_count > 0) {
        return say_broken(rebuild);
    }
    if (err == OK && rebuild->report.events != rebuild->progress.events_total) {
        return fault_say(&rebuild->fault, ERR_CORRUPT,
                         "the logs number %" PRIu64 " events, and %" PRIu64 " were found",
                         rebuild->progress.events_total, rebuild->report.events);
    }
    if (err == OK) {
        err = rebuild_carry_local(rebuild->old, rebuild->new);
    }
    if (err == OK) {
        err = store_lmdb_end_bulk(rebuild->new);
    }
    return err == ERR_DISK_FULL && store_lmdb_met_full_map(rebuild->new) ? say_full_map(rebuild)
                                                                         : err;
}

static enum err rebuild_all(struct rebuild *rebuild)
{
    enum err err = app_damage_check_folder(rebuild->config->data, &rebuild->fault);

    if (err == OK) {
        err = open_old(rebuild);
    }
    if (err == OK) {
        err = open_new(rebuild);
    }
    if (err == OK) {
        err = fill_new(rebuild);
    }
    store_lmdb_close(rebuild->new);
    if (err == OK) {
        rebuild->moved = true;
        return store_lmdb_replace(rebuild->config->data);
    }
    if (rebuild->old != NULL) {
        store_lmdb_remove_folder(rebuild->folder);
    }
    return err;
}

static int tell(struct rebuild *rebuild, enum err err, int64_t start_us)
{
    int64_t took_ms = (clock_monotonic_us(clock_system()) - start_us) / 1000;
    struct slice why = rebuild->fault.message;

    if (err == OK) {
        (void)printf("rebuilt the tables of %" PRIu64 " organisations from %" PRIu64
                     " events in %" PRId64 ".%03" PRId64 " s\n",
                     rebuild->report.organizations, rebuild->report.events, took_ms / 1000,
                     took_ms % 1000);
        return APP_EXIT_OK;
    }
    why = why.size > 0 ? why : slice_text(err_text(err));
    (void)fprintf(stderr, "erratad: not rebuilt: %.*s. %s\n", (int)why.size, (const char *)why.data,
                  rebuild->moved ? "The next start finds the old store or the new one, whole; "
                                   "rebuild again to be sure of the new one"
                                 : "The store is as it was");
    return err == ERR_CORRUPT ? APP_EXIT_DAMAGED : APP_EXIT_FAILED;
}

int rebuild_run(const struct config *config)
{
    struct rebuild rebuild = {.config = config};
    int64_t start_us = clock_monotonic_us(clock_system());
    enum err err = OK;
    int status = 0;

    (void)snprintf(rebuild.folder, sizeof(rebuild.folder), "%s/%s", config->data,
                   STORE_LMDB_REBUILD_FOLDER);
    arena_init(&rebuild.arena, ARENA_BYTES);
    fault_init(&rebuild.fault, &rebuild.arena);
    err = rebuild_all(&rebuild);
    status = tell(&rebuild, err, start_us);
    store_lmdb_close(rebuild.old);
    arena_deinit(&rebuild.arena);
    return status;
}
