/*
 * journal_use.c: whether a store has a journal, and the end of its use. A store has one if there is a segment, or if its
 * tables have the number of a journal's last commit: a copy of the tables has it too.
 */
#include "store/journal/journal.h"

#include "store/journal/journal_internal.h"
#include "store/keys.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define PATH_BYTES_MAX 1200

struct file_path {
    char text[PATH_BYTES_MAX];
};

static struct file_path path_of(const struct store_journal_config *config, int file)
{
    struct file_path path;

    (void)snprintf(path.text, sizeof(path.text), "%s/%d", config->path, file);
    return path;
}

static bool has_segment(const struct store_journal_config *config)
{
    for (int i = 0; i < STORE_JOURNAL_FILES_MAX; i++) {
        if (access(path_of(config, i).text, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

static enum err has_number(struct store_backend *tables, bool *ret_has)
{
    struct key key = key_meta_global(SLICE(KEY_META_JOURNAL));
    struct slice value = {NULL, 0};
    struct store_txn *txn = NULL;
    enum err err = store_begin(tables, STORE_READ, &txn);

    if (err == OK) {
        err = store_get(txn, TABLE_META, key_slice(&key), &value);
    }
    store_abort(txn);
    *ret_has = err == OK;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err store_journal_is_used(const struct store_journal_config *config, bool *ret_used)
{
    if (has_segment(config)) {
        *ret_used = true;
        return OK;
    }
    return has_number(config->tables, ret_used);
}

/* Removes the number, so that the tables are those of a store without a journal. */
static enum err remove_number(struct store_backend *tables)
{
    struct key key = key_meta_global(SLICE(KEY_META_JOURNAL));
    struct store_txn *txn = NULL;
    enum err err = store_begin(tables, STORE_WRITE, &txn);

    if (err != OK) {
        return err;
    }
    err = store_del(txn, TABLE_META, key_slice(&key));
    if (err != OK) {
        store_abort(txn);
        return err == ERR_NOT_FOUND ? OK : err;
    }
    return store_commit(txn);
}

static enum err remove_files(const struct store_journal_config *config, struct fault *fault)
{
    for (int i = 0; i < STORE_JOURNAL_FILES_MAX; i++) {
        struct file_path path = path_of(config, i);

        if (unlink(path.text) != 0 && errno != ENOENT) {
            return fault_say(fault, ERR_IO, "%s: cannot be removed: %m", path.text);
        }
    }
    (void)rmdir(config->path); /* it may have files of others */
    return OK;
}

enum err store_journal_end_use(const struct store_journal_config *config, struct fault *fault)
{
    bool used = false;
    enum err err = store_journal_recover(config, fault);

    if (err == OK) {
        err = store_journal_is_used(config, &used);
    }
    if (err != OK || !used || !journal_can_write(config->tables)) {
        return err;
    }
    err = remove_files(config, fault);
    if (err == OK) {
        err = remove_number(config->tables);
    }
    return err == ERR_DISK_FULL ? OK : err; /* a later start removes it */
}
