/*
 * restore_increment.c: see restore_increment.h.
 */
#include "server/app/restore_increment.h"

#include "server/app/app_damage.h"
#include "server/app/app_internal.h"
#include "store/lmdb/lmdb.h"

#include <inttypes.h>

static void on_read(void *user, uint64_t bytes, uint64_t bytes_total)
{
    const struct restore_increment *restore = (const struct restore_increment *)user;

    restore->on_progress(restore->user, "checked", bytes, bytes_total);
}

static void on_applied(void *user, bool applying, uint64_t at, uint64_t end)
{
    const struct restore_increment *restore = (const struct restore_increment *)user;

    restore->on_progress(restore->user, applying ? "applied" : "compared", at, end);
}

static enum err read_bytes(void *user, uint64_t at, uint8_t *bytes, size_t size)
{
    return backup_reader_read((const struct backup_reader *)user, at, bytes, size);
}

/* Checks that the store has this program's format, and so has the file. */
static enum err check_formats(const struct restore_increment *restore, struct store_backend *store)
{
    uint64_t format = store_lmdb_format(store);

    if (format != STORE_FORMAT_VERSION) {
        return fault_say(restore->fault, ERR_PRECONDITION,
                         "%s: has a store of format version %" PRIu64
                         "; expected version %d: run `erratad --rebuild --data %s` first",
                         restore->config->data, format, STORE_FORMAT_VERSION,
                         restore->config->data);
    }
    if (restore->reader->info.format != STORE_FORMAT_VERSION) {
        return fault_say(restore->fault, ERR_PRECONDITION,
                         "%s: an increment of format version %" PRIu32
                         ", which only the program that wrote it can apply; expected version %d",
                         restore->reader->name, restore->reader->info.format, STORE_FORMAT_VERSION);
    }
    return OK;
}

static enum err open_store(const struct restore_increment *restore,
                           struct store_backend **ret_store)
{
    const struct store_lmdb_config config = {.path = restore->config->data,
                                             .map_bytes = restore->config->map_bytes,
                                             .takes_older = true,
                                             .on_damage = app_damage_end};
    enum err err = app_damage_require_store(restore->config->data, restore->fault);

    if (err == OK) {
        err = store_lmdb_open(&config, restore->fault, ret_store);
    }
    if (err == OK) {
        app_damage_watch(restore->config->data, store_lmdb_map(*ret_store));
        err = check_formats(restore, *ret_store);
    }
    return err == OK ? app_store_recover(restore->config, *ret_store, restore->fault) : err;
}

enum err restore_increment(const struct restore_increment *restore,
                           struct increment_report *ret_report)
{
    struct backup_reader *reader = restore->reader;
    const struct increment_source source = {.read = read_bytes,
                                            .user = reader,
                                            .name = reader->name,
                                            .begin = BACKUP_HEAD_BYTES,
                                            .end = backup_reader_data_end(reader),
                                            .created_at_us = reader->info.created_at_us};
    struct increment_target target = {
        .on_progress = on_applied, .user = (void *)(uintptr_t)restore, .fault = restore->fault};
    enum err err = open_store(restore, &target.backend);

    if (err == OK) {
        err = backup_reader_check(reader, NULL, on_read, (void *)(uintptr_t)restore);
    }
    if (err == OK) {
        err = increment_apply(&source, &target, ret_report);
    }
    store_lmdb_close(target.backend);
    return err;
}
