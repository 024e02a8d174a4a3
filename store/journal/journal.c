/*
 * journal.c: opening, with what recovery has to store, and closing.
 */
#include "store/journal/journal.h"

#include "store/base/assert.h"
#include "store/journal/journal_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Rows of a recovery gather in the active memtable. */
static enum err recover_row(void *user, const struct memtable_row *row)
{
    struct journal *journal = user;

    return memtable_put(journal->active, row);
}

/* Stores the active memtable. Once the disk was full, the rest stays in memory: at most what the segments have. */
static enum err store_recovered(struct journal *journal, uint64_t last)
{
    struct memtable *next = NULL;
    enum err err = OK;

    if (journal->frozen != NULL) {
        return OK;
    }
    next = memtable_new(journal->memtable_bytes, journal->pool);
    err = next != NULL ? journal_store(journal, journal->active, last) : ERR_MEMORY;
    if (err == ERR_DISK_FULL) {
        journal_swap(journal, next, last); /* the thread stores it once there is room */
        journal->result = ERR_DISK_FULL;
        return OK;
    }
    if (err != OK) {
        memtable_unref(next);
        return err;
    }
    memtable_unref(journal->active);
    journal->active = next;
    journal->stored = last;
    return OK;
}

static enum err recover_record(void *user, uint64_t number)
{
    struct journal *journal = user;

    memtable_keep(journal->active);
    return memtable_bytes(journal->active) >= journal->memtable_bytes
               ? store_recovered(journal, number)
               : OK;
}

bool journal_can_write(struct store_backend *tables)
{
    struct store_txn *txn = NULL;
    bool can = store_begin(tables, STORE_WRITE, &txn) == OK;

    store_abort(txn);
    return can;
}

/* Stores in the tables the commits that only the journal has. */
static enum err recover(struct journal *journal, struct fault *fault)
{
    struct segments_replay replay = {
        .on_row = recover_row, .on_record = recover_record, .user = journal};
    enum err err = journal_read_stored(journal->tables, &replay.after);

    journal->stored = replay.after;
    if (err == OK) {
        err = segments_replay(journal->segments, &replay, fault, &journal->committed);
    }
    journal->stats.recovered = err == OK ? journal->committed - replay.after : 0;
    if (err == OK && memtable_bytes(journal->active) > 0) {
        err = store_recovered(journal, journal->committed);
    }
    journal->stored_by[0] = journal->stored;
    if (err == OK && journal->stored == journal->committed && journal_can_write(journal->tables)) {
        segments_clear(journal->segments, journal->stored);
    }
    return err;
}

static enum err start_thread(struct journal *journal)
{
    pthread_condattr_t attributes;

    (void)pthread_mutex_init(&journal->writing, NULL);
    (void)pthread_mutex_init(&journal->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&journal->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (pthread_create(&journal->thread, NULL, journal_run, journal) == 0) {
        return OK;
    }
    (void)pthread_cond_destroy(&journal->changed);
    (void)pthread_mutex_destroy(&journal->lock);
    (void)pthread_mutex_destroy(&journal->writing);
    return ERR_MEMORY;
}

static void free_journal(struct journal *journal)
{
    memtable_unref(journal->active);
    memtable_unref(journal->frozen);
    chunk_pool_free(journal->pool);
    segments_close(journal->segments);
    record_deinit(&journal->record);
    free(journal);
}

/* Returns the limit of a memtable: the segments of two must fit into the files, with what is lost at their ends. */
static size_t memtable_limit(const struct store_journal_config *config, uint64_t segment_bytes)
{
    if (config->memtable_bytes != 0) {
        return config->memtable_bytes;
    }
    return 2 * segment_bytes < STORE_JOURNAL_MEMTABLE_BYTES_DEFAULT
               ? (size_t)(2 * segment_bytes)
               : STORE_JOURNAL_MEMTABLE_BYTES_DEFAULT;
}

/* Creates a journal that has no thread, and whose commits are all in the tables unless the disk is full. */
static enum err make_recovered(const struct store_journal_config *config, struct fault *fault,
                               struct journal **ret_journal)
{
    struct journal *journal = calloc(1, sizeof(*journal));
    const struct segments_config segments = {
        .path = config->path,
        .segment_bytes = config->segment_bytes != 0 ? config->segment_bytes
                                                    : STORE_JOURNAL_SEGMENT_BYTES_DEFAULT,
        .random = config->random,
        .clock = config->clock};
    enum err err = OK;

    if (journal == NULL) {
        return ERR_MEMORY;
    }
    journal->backend.ops = &journal_ops;
    journal->tables = config->tables;
    journal->is_lost = config->is_lost;
    journal->clock = config->clock;
    journal->memtable_bytes = memtable_limit(config, segments.segment_bytes);
    journal->store_after_us =
        config->store_after_us != 0 ? config->store_after_us : STORE_JOURNAL_STORE_AFTER_US;
    journal->overwrite_after_us = config->overwrite_after_us != 0
                                      ? config->overwrite_after_us
                                      : STORE_JOURNAL_OVERWRITE_AFTER_US;
    journal->pool = chunk_pool_new(journal->memtable_bytes);
    journal->active =
        journal->pool != NULL ? memtable_new(journal->memtable_bytes, journal->pool) : NULL;
    journal->active_generation = 1;
    err =
        journal->active != NULL ? segments_open(&segments, fault, &journal->segments) : ERR_MEMORY;
    if (err == OK) {
        err = recover(journal, fault);
    }
    if (err != OK) {
        free_journal(journal);
        return err;
    }
    *ret_journal = journal;
    return OK;
}

/* Adds the reason to the fault, unless it has one. */
static enum err say_reason(const struct store_journal_config *config, struct fault *fault,
                           enum err err)
{
    return err == OK || fault->message.size > 0
               ? err
               : fault_say(fault, err, "%s: cannot open the journal: %s", config->path,
                           err_text(err));
}

enum err store_journal_recover(const struct store_journal_config *config, struct fault *fault)
{
    struct journal *journal = NULL;
    enum err err = OK;

    if (access(config->path, F_OK) != 0) {
        return errno == ENOENT ? OK
                               : fault_say(fault, ERR_IO, "%s: cannot be opened: %m", config->path);
    }
    err = make_recovered(config, fault, &journal);
    if (err != OK) {
        return say_reason(config, fault, err);
    }
    if (journal->stored != journal->committed) {
        err = fault_say(fault, journal->result,
                        "%s: %llu commits are only in the journal, and the tables have no room for "
                        "them; expected more room, or a start with --log journal",
                        config->path, (unsigned long long)(journal->committed - journal->stored));
    }
    free_journal(journal);
    return err;
}

enum err store_journal_open(const struct store_journal_config *config, struct fault *fault,
                            struct store_backend **ret_backend)
{
    struct journal *journal = NULL;
    enum err err = make_recovered(config, fault, &journal);

    if (err != OK) {
        return say_reason(config, fault, err);
    }
    if (journal->result == OK) {
        err = segments_prepare(journal->segments);
        err = err == ERR_DISK_FULL ? OK : err; /* the store can be read */
    }
    if (err == OK) {
        err = start_thread(journal);
    }
    if (err != OK) {
        free_journal(journal);
        return say_reason(config, fault, err);
    }
    *ret_backend = &journal->backend;
    return OK;
}

void store_journal_close(struct store_backend *take_backend)
{
    struct journal *journal = (struct journal *)take_backend;

    if (journal == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&journal->lock);
    journal->closing = true;
    (void)pthread_cond_broadcast(&journal->changed);
    (void)pthread_mutex_unlock(&journal->lock);
    (void)pthread_join(journal->thread, NULL);
    (void)pthread_cond_destroy(&journal->changed);
    (void)pthread_mutex_destroy(&journal->lock);
    (void)pthread_mutex_destroy(&journal->writing);
    if (!atomic_load(&journal->broken) && !journal_is_lost(journal) &&
        journal->stored == journal->committed) {
        segments_clear(journal->segments, journal->stored);
    }
    free_journal(journal);
}

bool store_journal_is_broken(const struct store_backend *backend)
{
    return atomic_load(&((const struct journal *)backend)->broken);
}

void store_journal_stats(struct store_backend *backend, struct store_journal_stats *ret_stats)
{
    struct journal *journal = (struct journal *)backend;

    (void)pthread_mutex_lock(&journal->lock);
    *ret_stats = journal->stats;
    ret_stats->memory_bytes = memtable_bytes(journal->active) +
                              (journal->frozen != NULL ? memtable_bytes(journal->frozen) : 0);
    ret_stats->kept_bytes = chunk_pool_kept_bytes(journal->pool);
    ret_stats->commits_waiting = journal->committed - journal->stored;
    (void)pthread_mutex_unlock(&journal->lock);
}
