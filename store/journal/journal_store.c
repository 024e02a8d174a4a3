/*
 * journal_store.c: the thread that stores a full memtable in the tables, and how writers wait for it if it is slower
 * than they are. A memtable is stored in one transaction, in the order of its keys, with the number of its last
 * commit: the tables always have all commits up to a number, which they record. It also stores a
 * partly filled memtable after a while without commits, so that an idle server has nothing to
 * recover or to merge.
 */
#include "store/base/assert.h"
#include "store/base/fault_point.h"
#include "store/base/logger.h"
#include "store/journal/journal_internal.h"
#include "store/keys.h"
#include "store/meta.h"

#include <errno.h>
#include <time.h>

#define IDLE_US (INT64_C(1000) * 1000)
/* Pause between two attempts to store a memtable, and between two checks of an idle journal. */
#define PAUSE_US (INT64_C(250) * 1000)
/* A writer waits at most this long for the tables. */
#define WAIT_US_MAX (INT64_C(10) * 1000 * 1000)
#define PAUSE_OF_A_COMMIT_US_MAX (INT64_C(20) * 1000)
#define META_ARENA_BYTES 4096

static struct key stored_key(void)
{
    return key_meta_global(SLICE(KEY_META_JOURNAL));
}

enum err journal_read_stored(struct store_backend *tables, uint64_t *ret_number)
{
    struct key key = stored_key();
    struct meta_record record = {0};
    struct store_txn *txn = NULL;
    enum err err = store_begin(tables, STORE_READ, &txn);

    if (err == OK) {
        err = meta_read(txn, &key, &record);
    }
    store_abort(txn);
    *ret_number = record.number;
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err put_stored(struct store_txn *txn, uint64_t number)
{
    struct meta_record record = {.number = number};
    struct key key = stored_key();
    struct arena arena;
    enum err err = OK;

    arena_init(&arena, META_ARENA_BYTES);
    err = meta_put(&arena, txn, &key, &record);
    arena_deinit(&arena);
    return err;
}

static enum err store_row(struct store_txn *txn, const struct memtable_row *row)
{
    enum err err = OK;

    switch (row->op) {
    case MEMTABLE_PUT:
        return store_put(txn, row->table, row->key, row->value);
    case MEMTABLE_APPEND:
        return store_append(txn, row->table, row->key, row->value);
    case MEMTABLE_DEL:
        err = store_del(txn, row->table, row->key);
        return err == ERR_NOT_FOUND ? OK : err;
    }
    return ERR_INTERNAL;
}

static enum err store_table_rows(struct store_txn *txn, const struct memtable *memtable,
                                 enum store_table table)
{
    struct memtable_cursor cursor = {
        .memtable = memtable, .table = table, .snapshot = MEMTABLE_ALL};
    struct memtable_row row;
    enum err err = OK;

    for (bool found = memtable_seek(&cursor, slice_of(NULL, 0)); found && err == OK;
         found = memtable_next(&cursor)) {
        memtable_read(&cursor, &row);
        err = store_row(txn, &row);
    }
    return err;
}

enum err journal_store(struct journal *journal, const struct memtable *memtable, uint64_t last)
{
    struct store_txn *txn = NULL;
    enum err err =
        FAULT("journal.store") ? ERR_IO : store_begin(journal->tables, STORE_WRITE, &txn);

    for (size_t i = 0; i < TABLE_COUNT && err == OK; i++) {
        err = store_table_rows(txn, memtable, (enum store_table)i);
    }
    if (err == OK) {
        err = put_stored(txn, last);
    }
    if (err != OK) {
        store_abort(txn);
        return err;
    }
    return store_commit(txn);
}

void journal_swap(struct journal *journal, struct memtable *take_next, uint64_t last)
{
    journal->frozen = journal->active;
    journal->frozen_last = last;
    journal->frozen_at_us = clock_monotonic_us(journal->clock);
    journal->active = take_next;
    journal->active_at_us = 0;
    journal->active_generation++;
}

void journal_freeze(struct journal *journal)
{
    struct memtable *next = NULL;

    if (journal->frozen != NULL || memtable_bytes(journal->active) == 0) {
        return;
    }
    next = memtable_new(journal->memtable_bytes, journal->pool);
    if (next == NULL) {
        return; /* the active one remains in use; a later commit tries again */
    }
    journal_swap(journal, next, journal->committed);
    (void)pthread_cond_broadcast(&journal->changed);
}

/* Stores the frozen memtable. The lock is held, and released meanwhile. */
static void store_frozen(struct journal *journal)
{
    struct memtable *frozen = journal->frozen;
    uint64_t last = journal->frozen_last;
    int64_t start_us = clock_monotonic_us(journal->clock);
    enum err err = OK;

    atomic_store(&journal->storing_generation, journal->active_generation - 1);
    (void)pthread_mutex_unlock(&journal->lock);
    err = journal_store(journal, frozen, last);
    if (err == OK) {
        segments_release(journal->segments, last);
    } else if (err == ERR_DISK_FULL) {
        (void)segments_give_up_free(journal->segments);
    }
    (void)pthread_mutex_lock(&journal->lock);
    if (err != OK && err != journal->result) {
        logger_printf(LOGGER_ERROR,
                      "the journal's commits cannot be stored in the tables: %s; writes "
                      "are refused until they can",
                      err_text(err));
    }
    journal->result = err;
    journal->attempts++;
    if (err == OK) {
        journal->stored = last;
        journal->frozen = NULL;
        journal->needs_room = false;
        journal->stats.stores++;
        journal->stored_by[journal->stats.stores % STORES_REMEMBERED] = last;
        journal->stats.store_duration_us += clock_monotonic_us(journal->clock) - start_us;
        memtable_unref(frozen);
    }
    (void)pthread_cond_broadcast(&journal->changed);
}

static struct timespec time_after(int64_t us)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += us / 1000000;
    time.tv_nsec += us % 1000000 * 1000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

static void wait_changed(struct journal *journal, int64_t us_max)
{
    struct timespec until = time_after(us_max);

    (void)pthread_cond_timedwait(&journal->changed, &journal->lock, &until);
}

static bool is_idle(const struct journal *journal)
{
    return clock_monotonic_us(journal->clock) - journal->last_commit_us >= IDLE_US;
}

/* Returns whether the active memtable has waited long enough, though commits follow each other. */
static bool is_old(const struct journal *journal)
{
    return journal->active_at_us != 0 &&
           clock_monotonic_us(journal->clock) - journal->active_at_us >= journal->store_after_us;
}

/* Freezes a memtable that is not full, unless a write transaction is open. The lock is held, and released meanwhile. */
static void freeze_idle(struct journal *journal)
{
    (void)pthread_mutex_unlock(&journal->lock);
    if (pthread_mutex_trylock(&journal->writing) != 0) {
        (void)pthread_mutex_lock(&journal->lock);
        wait_changed(journal, 1000);
        return;
    }
    (void)pthread_mutex_lock(&journal->lock);
    if (journal->committed > journal->stored) {
        journal_freeze(journal);
    }
    (void)pthread_mutex_unlock(&journal->writing);
}

/* Does the next piece of work; false if there is none and the thread should wait. The lock is held. */
static bool run_once(struct journal *journal)
{
    if (journal->frozen != NULL) {
        store_frozen(journal);
        return journal->result == OK;
    }
    if (is_idle(journal)) {
        chunk_pool_shrink(journal->pool);
    }
    if (journal->committed > journal->stored &&
        (journal->checkpoints > 0 || journal->needs_room || journal->closing || is_idle(journal) ||
         is_old(journal))) {
        freeze_idle(journal);
        return journal->frozen != NULL;
    }
    return false;
}

/* Makes the next segment, and overwrites an old one. Not on a full disk: the tables need the room that free segments gave
 * up. The lock is held, and released meanwhile. */
static void maintain_segments(struct journal *journal)
{
    (void)pthread_mutex_unlock(&journal->lock);
    (void)!segments_prepare(journal->segments); /* a failed append reports the reason */
    journal_overwrite_old(journal);
    (void)pthread_mutex_lock(&journal->lock);
}

void *journal_run(void *user)
{
    struct journal *journal = user;

    (void)pthread_mutex_lock(&journal->lock);
    for (;;) {
        if (run_once(journal)) {
            continue;
        }
        if (journal->closing && (journal->result != OK || journal->committed == journal->stored)) {
            break;
        }
        if (journal->result == OK) {
            maintain_segments(journal);
        }
        if (!journal->closing) {
            wait_changed(journal, PAUSE_US);
        }
    }
    (void)pthread_mutex_unlock(&journal->lock);
    return NULL;
}

/* Returns how long a commit should pause, so that the active memtable does not become full before
 * the other one is stored: an estimate from the duration of earlier stores. The lock is held. */
static int64_t pause_us(const struct journal *journal)
{
    size_t bytes = memtable_bytes(journal->active);
    int64_t average_us = 0;
    int64_t left_us = 0;

    if (journal->frozen == NULL || journal->stats.stores == 0) {
        return 0;
    }
    average_us = journal->stats.store_duration_us / (int64_t)journal->stats.stores;
    left_us = average_us - (clock_monotonic_us(journal->clock) - journal->frozen_at_us);
    if (left_us <= 0 || bytes < journal->memtable_bytes / 2) {
        return 0;
    }
    /* The second half of the memtable has to last as long as the store does. */
    left_us = left_us * (int64_t)journal->record.size * 2 / (int64_t)journal->memtable_bytes;
    return left_us < PAUSE_OF_A_COMMIT_US_MAX ? left_us : PAUSE_OF_A_COMMIT_US_MAX;
}

void journal_pause(int64_t us)
{
    struct timespec until = time_after(us);

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}

/* Returns whether the memtable is full. The lock is held. */
static bool is_full(const struct journal *journal)
{
    return journal->frozen != NULL && memtable_bytes(journal->active) >= journal->memtable_bytes;
}

enum err journal_wait_for_room(struct journal *journal)
{
    int64_t until_us = clock_monotonic_us(journal->clock) + WAIT_US_MAX;
    int64_t pause = 0;
    enum err err = OK;

    if (atomic_load(&journal->broken)) {
        return ERR_UNAVAILABLE;
    }
    (void)pthread_mutex_lock(&journal->lock);
    journal->stats.waits += is_full(journal);
    while (is_full(journal) && journal->result == OK &&
           clock_monotonic_us(journal->clock) < until_us) {
        wait_changed(journal, PAUSE_US);
    }
    err = journal->result != OK ? journal->result : is_full(journal) ? ERR_UNAVAILABLE : OK;
    pause = err == OK ? pause_us(journal) : 0;
    (void)pthread_mutex_unlock(&journal->lock);
    if (pause > 0) {
        journal_pause(pause);
    }
    return err;
}

enum err store_journal_checkpoint(struct store_backend *backend)
{
    struct journal *journal = (struct journal *)backend;
    uint64_t attempts = 0;
    uint64_t wanted = 0;
    enum err err = OK;

    (void)pthread_mutex_lock(&journal->lock);
    wanted = journal->committed;
    attempts = journal->attempts;
    journal->checkpoints++;
    (void)pthread_cond_broadcast(&journal->changed);
    /* The attempt that was under way may have failed before the call. */
    while (journal->stored < wanted &&
           (journal->result == OK || journal->attempts < attempts + 2)) {
        wait_changed(journal, PAUSE_US);
    }
    err = journal->stored < wanted ? journal->result : OK;
    journal->checkpoints--;
    (void)pthread_mutex_unlock(&journal->lock);
    return err;
}
