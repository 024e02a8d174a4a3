/*
 * app_store.c: opens and closes the store: the tables in LMDB and, with the engine `journal`, the journal over them. A
 * store keeps its engine unless --log names another one: commits that an earlier process left in a
 * journal are stored in the tables first, so the engine may be changed at any start.
 */
#include "server/app/app_internal.h"

#include "server/app/app.h"
#include "server/app/app_damage.h"
#include "server/app/files.h"
#include "server/domain/replay/increment.h"
#include "store/base/logger.h"
#include "store/journal/journal.h"

#include <inttypes.h>
#include <stdio.h>

/* The engine of a store that has none. */
#define LOG_OF_NEW_STORE CONFIG_LOG_JOURNAL

struct journal_path {
    char text[CONFIG_PATH_BYTES_MAX + 16];
};

static struct journal_path journal_path(const char *data)
{
    struct journal_path path;

    (void)snprintf(path.text, sizeof(path.text), "%s/" STORE_JOURNAL_FOLDER, data);
    return path;
}

/* `path` is borrowed. */
static struct store_journal_config journal_config(const struct config *config,
                                                  const struct journal_path *path,
                                                  struct store_backend *tables)
{
    return (struct store_journal_config){.tables = tables,
                                         .is_lost = store_lmdb_lost_file,
                                         .path = path->text,
                                         .segment_bytes = config->journal_segment_bytes,
                                         .random = random_system(),
                                         .clock = clock_system()};
}

enum err app_store_recover(const struct config *config, struct store_backend *tables,
                           struct fault *fault)
{
    struct journal_path path = journal_path(config->data);
    const struct store_journal_config journal = journal_config(config, &path, tables);

    return store_journal_recover(&journal, fault);
}

enum err app_store_check_restored(const struct config *config, struct store_backend *tables,
                                  struct fault *fault)
{
    struct store_txn *txn = NULL;
    bool is_unfinished = false;
    enum err err = store_begin(tables, STORE_READ, &txn);

    if (err == OK) {
        err = increment_is_unfinished(txn, &is_unfinished);
    }
    store_abort(txn);
    if (err == OK && is_unfinished) {
        return fault_say(fault, ERR_PRECONDITION,
                         "%s: the restore of an increment was interrupted; expected `erratad "
                         "--restore FILE --data %s` with the same file first, or the whole backup "
                         "and its increments in an empty folder",
                         config->data, config->data);
    }
    return err;
}

static enum err open_journal(struct app *app)
{
    struct journal_path path = journal_path(app->config->data);
    const struct store_journal_config config = journal_config(app->config, &path, app->tables);

    struct store_journal_stats stats;
    enum err err = store_journal_open(&config, &app->fault, &app->backend);

    if (err != OK) {
        return err;
    }
    store_journal_stats(app->backend, &stats);
    if (stats.commits_waiting > 0) {
        logger_printf(
            LOGGER_WARNING,
            "the disk or the map is full: %" PRIu64
            " commits are only in the journal and in memory; they can be read, and writes are "
            "refused until the tables have room for them",
            stats.commits_waiting);
    } else if (stats.recovered > 0) {
        logger_printf(LOGGER_INFO,
                      "stored %" PRIu64
                      " commits in the tables that an earlier process had left in the journal",
                      stats.recovered);
    }
    return OK;
}

static enum err open_tables(struct app *app)
{
    const struct store_lmdb_config store = {.path = app->config->data,
                                            .map_bytes = app->config->map_bytes,
                                            .takes_older = true,
                                            .on_damage = app_damage_end};
    enum err err = store_lmdb_open(&store, &app->fault, &app->tables);

    if (err == OK) {
        app_damage_watch(app->config->data, store_lmdb_map(app->tables));
        files_remove(app->config->data, APP_ADDRESS_FILE); /* left by an earlier run */
        err = app_store_check_restored(app->config, app->tables, &app->fault);
    }
    return err;
}

/* Opens the tables, after migrating them if their format is older. */
static enum err open_migrated(struct app *app)
{
    enum err err = open_tables(app);
    uint64_t format = err == OK ? store_lmdb_format(app->tables) : STORE_FORMAT_VERSION;

    if (format == STORE_FORMAT_VERSION) {
        return err;
    }
    store_lmdb_close(app->tables);
    app->tables = NULL;
    err = app_migrate(app->config, format, &app->fault);
    return err != OK ? err : open_tables(app);
}

static const char *engine_name(enum config_log log)
{
    return log == CONFIG_LOG_JOURNAL ? "journal" : "lmdb";
}

/* Returns whether the store has no event, not even of its first start. */
static enum err is_new(struct store_backend *tables, bool *ret_new)
{
    struct uuid org;
    struct store_txn *txn = NULL;
    enum err err = store_begin(tables, STORE_READ, &txn);

    if (err == OK) {
        err = store_next_org(txn, TABLE_EVENT, NULL, &org);
    }
    store_abort(txn);
    *ret_new = err == ERR_NOT_FOUND;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Chooses the engine: the configured one, else that of the store. */
static enum err choose_engine(struct app *app, enum config_log *ret_engine)
{
    struct journal_path path = journal_path(app->config->data);
    const struct store_journal_config config = journal_config(app->config, &path, app->tables);
    enum config_log own = CONFIG_LOG_LMDB;
    enum config_log chosen = app->config->log;
    bool used = false;
    bool new_store = false;
    enum err err = store_journal_is_used(&config, &used);

    if (err == OK) {
        err = is_new(app->tables, &new_store);
    }
    if (err != OK) {
        return err;
    }
    own = used ? CONFIG_LOG_JOURNAL : new_store ? LOG_OF_NEW_STORE : CONFIG_LOG_LMDB;
    chosen = chosen != CONFIG_LOG_OF_STORE ? chosen : own;
    if (chosen != own && !new_store) {
        logger_printf(LOGGER_INFO, "the log engine of %s is %s now; it was %s", app->config->data,
                      engine_name(chosen), engine_name(own));
    }
    *ret_engine = chosen;
    return OK;
}

static enum err end_journal(struct app *app)
{
    struct journal_path path = journal_path(app->config->data);
    const struct store_journal_config config = journal_config(app->config, &path, app->tables);

    return store_journal_end_use(&config, &app->fault);
}

/* Opens the journal over the tables, or stores in them what an earlier one left. */
static enum err open_over_tables(struct app *app)
{
    enum config_log engine = CONFIG_LOG_LMDB;
    enum err err = choose_engine(app, &engine);

    if (err == OK && engine == CONFIG_LOG_JOURNAL) {
        store_lmdb_write_lost_file(app->tables);
        return open_journal(app);
    }
    if (err == OK) {
        err = end_journal(app);
    }
    if (err == OK) {
        app->backend = app->tables;
    }
    return err;
}

/* A copy is checked before anything is written to it; its journal may have been copied while it was written, too. */
static enum err open_copy(struct app *app)
{
    enum err err = app_check_copy(app->config, app->tables, &app->fault);

    if (err != OK) {
        return err;
    }
    err = open_over_tables(app);
    if (err == ERR_CORRUPT) {
        return app_say_torn_journal(app->config, &app->fault);
    }
    if (err == OK) {
        store_lmdb_accept_copy(app->tables);
    }
    return err;
}

enum err app_store_open(struct app *app)
{
    enum err err = open_migrated(app);

    if (err != OK) {
        return err;
    }
    return store_lmdb_is_copy(app->tables) ? open_copy(app) : open_over_tables(app);
}

struct store_backend *app_store_journal(const struct app *app)
{
    return app->backend != app->tables ? app->backend : NULL;
}

void app_store_close(struct app *app)
{
    store_journal_close(app_store_journal(app));
    store_lmdb_close(app->tables);
}

bool app_store_is_broken(const struct app *app)
{
    const struct store_backend *journal = app_store_journal(app);

    return store_lmdb_is_broken(app->tables) ||
           (journal != NULL && store_journal_is_broken(journal));
}
