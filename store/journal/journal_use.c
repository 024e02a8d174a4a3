/*
 * journal_use.c: whether a store has a journal, and the end of its use. A store has one if there is a segment, or if its
 * tables have the number of a journal's last commit: a copy of the tables has it too.
 */
#include "store/journal/journal.h"

#include "store/journal/journal_internal.h"
#include "store/keys.h"

enum err store_journal_is_used(const struct store_journal_config *config, bool *ret_used)
{
    uint64_t stored = 0;
    enum err err = OK;

    *ret_used = segments_exist(config->path);
    if (!*ret_used) {
        err = journal_read_stored(config->tables, &stored);
        *ret_used = stored > 0;
    }
    return err;
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

enum err store_journal_end_use(const struct store_journal_config *config, struct fault *fault)
{
    uint64_t stored = 0;
    enum err err = store_journal_recover(config, fault);

    if (err == OK) {
        err = journal_read_stored(config->tables, &stored);
    }
    if (err != OK || (stored > 0 && !journal_can_write(config->tables))) {
        return err;
    }
    err = segments_remove(config->path, fault);
    if (err == OK && stored > 0) {
        err = remove_number(config->tables);
    }
    return err == ERR_DISK_FULL ? OK : err; /* a later start removes it */
}
