/*
 * rebuild.c: replays the logs of a store into a new one, and replaces the old one by it.
 */
#include "server/app/rebuild.h"

#include "server/app/app_damage.h"
#include "server/app/app_internal.h"
#include "server/domain/replay/replay.h"
#include "store/backup/backup_file.h"
#include "store/lmdb/lmdb.h"
#include "store/lmdb/lmdb_folder.h"

#include <inttypes.h>
#include <stdio.h>

#define MIB (UINT64_C(1) << 20)

struct rebuild {
    const struct rebuild_order *order;
    const struct config *config;
    char folder[CONFIG_PATH_BYTES_MAX + 32]; /* folder of the new store */
    struct fault *fault;
    struct store_backend *old; /* old store, whose folder lock is held until the end */
    struct store_backend *new;
    struct replay_report report;
    uint64_t events_total; /* sum of the logs' last sequence numbers */
    bool moved; /* the rename has begun: either store may be in place */
};

static bool on_progress(void *user, const struct replay_progress *progress)
{
    struct rebuild *rebuild = (struct rebuild *)user;

    rebuild->events_total = progress->events_total;
    rebuild->order->on_progress(rebuild->order->user, progress);
    return true;
}

/* Checks the room for the new store beside the old one. */
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
        return fault_say(rebuild->fault, ERR_DISK_FULL,
                         "%s: no room for the new store beside the old one: it may need "
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
                                             .takes_older = true,
                                             .on_damage = app_damage_end};
    enum err err = app_damage_require_store(rebuild->config->data, rebuild->fault);

    if (err == OK) {
        err = store_lmdb_open(&config, rebuild->fault, &rebuild->old);
    }
    if (err == OK) {
        app_damage_watch(rebuild->config->data, store_lmdb_map(rebuild->old));
        err = app_store_recover(rebuild->config, rebuild->old, rebuild->fault);
    }
    if (err == OK) {
        err = check_room(rebuild);
    }
    return err;
}

static enum err open_new(struct rebuild *rebuild)
{
    const struct store_lmdb_config config = {
        .path = rebuild->folder, .map_bytes = rebuild->config->map_bytes, .reserve_bytes = 1};
    enum err err = store_lmdb_open(&config, rebuild->fault, &rebuild->new);

    if (err == OK) {
        store_lmdb_begin_bulk(rebuild->new);
    }
    return err;
}

/* Formats with events that cannot be applied. */
static const struct {
    uint64_t format;
    const char *events;
} unsupported[] = {
    {3, "documents"}, /* the fields of their events are not in ascending order */
    {7, "decisions"}, /* the theme is not content */
};

/* Returns which events of a format cannot be applied; NULL: all can be. */
static const char *find_unsupported(uint64_t format)
{
    for (size_t i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++) {
        if (unsupported[i].format == format) {
            return unsupported[i].events;
        }
    }
    return NULL;
}

static enum err say_broken(struct rebuild *rebuild)
{
    const struct replay_report *report = &rebuild->report;
    uint64_t format = store_lmdb_format(rebuild->old);
    const char *events = report->broken_by == REPLAY_APPLY ? find_unsupported(format) : NULL;
    char org[UUID_TEXT_BYTES];

    uuid_format(report->broken_org.uuid, org);
    if (events != NULL) {
        return fault_say(
            rebuild->fault, ERR_CORRUPT,
            "event %" PRIu64 " of the organisation %.*s has format version %" PRIu64
            ", which this program supports only without %s; expected a store of version %" PRIu64
            " or later: use the program that wrote it, or an empty --data folder",
            report->broken_seq, UUID_TEXT_BYTES, org, format, events, format + 1);
    }
    return fault_say(rebuild->fault, ERR_CORRUPT,
                     "event %" PRIu64 " of the organisation %.*s %s; cannot rebuild tables from "
                     "it; " BACKUP_ADVICE,
                     report->broken_seq, UUID_TEXT_BYTES, org,
                     replay_break_text(report->broken_by));
}

/* The new store's map is full, while the disk may have room. */
static enum err say_full_map(struct rebuild *rebuild)
{
    return fault_say(rebuild->fault, ERR_DISK_FULL,
                     "map-size: the new store needs more than %" PRIu64
                     " MiB; set a larger --map-size",
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

    if (err == ERR_CORRUPT && rebuild->report.broken_count > 0) {
        return say_broken(rebuild);
    }
    if (err == OK && rebuild->report.events != rebuild->events_total) {
        return fault_say(rebuild->fault, ERR_CORRUPT,
                         "log: %" PRIu64 " events are numbered, but %" PRIu64 " were found",
                         rebuild->events_total, rebuild->report.events);
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
    enum err err = open_old(rebuild);

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

enum err rebuild_store(const struct rebuild_order *order, struct fault *fault,
                       struct rebuild_result *ret_result)
{
    struct rebuild rebuild = {.order = order, .config = order->config, .fault = fault};
    int64_t start_us = clock_monotonic_us(clock_system());
    enum err err = OK;

    (void)snprintf(rebuild.folder, sizeof(rebuild.folder), "%s/%s", order->config->data,
                   STORE_LMDB_REBUILD_FOLDER);
    err = rebuild_all(&rebuild);
    store_lmdb_close(rebuild.old);
    ret_result->organizations = rebuild.report.organizations;
    ret_result->events = rebuild.report.events;
    ret_result->took_ms = (clock_monotonic_us(clock_system()) - start_us) / 1000;
    ret_result->moved = rebuild.moved;
    return err;
}
