/*
 * writer_batch.c: one group commit. All members run in one transaction; a member that refuses has
 * put nothing and does not affect the others. If a member fails after a put or by the store, or the
 * commit fails because of the batch's size, the transaction is aborted, and the members run again
 * one by one. Runs on the writing side; takes the lock only to count.
 */
#include "store/writer_internal.h"

#include "store/backend_ops.h"
#include "store/base/assert.h"
#include "store/keys.h"

/* Old idempotency rows removed for each request of a batch: more than are added. */
#define EXPIRE_ROWS_A_REQUEST 2

/* Returns whether the disk or the store failed: running other members would fail, too. */
static bool is_disk_error(enum err err)
{
    return err == ERR_DISK_FULL || err == ERR_IO || err == ERR_UNAVAILABLE;
}

/* Returns whether the back end failed, rather than the request: its transaction must be aborted. */
static bool is_store_error(enum err err)
{
    return is_disk_error(err) || err == ERR_CORRUPT;
}

/* Returns why a request must not be started; OK: it may. */
static enum err may_start(const struct writer *writer, struct work_request *request)
{
    int64_t now_us = 0;

    if (atomic_load(&request->cancelled)) {
        return ERR_CANCELLED;
    }
    if (request->deadline_us == INT64_MAX) {
        return OK;
    }
    now_us = clock_monotonic_us(writer->config.clock);
    if (now_us > request->deadline_us) {
        return ERR_DEADLINE;
    }
    return request->deadline_us - now_us <
                   writer_cost_shortest_us(&writer->cost, writer->batch_start_us)
               ? ERR_BUSY
               : OK;
}

/* Returns whether it was started: may_start returns results that no run does. */
static bool was_started(const struct work_request *request)
{
    return request->result != ERR_CANCELLED && request->result != ERR_DEADLINE &&
           request->result != ERR_BUSY;
}

static uint32_t count_started(const struct batch *batch)
{
    uint32_t count = 0;

    for (size_t i = 0; i < batch->count; i++) {
        count += was_started(batch->requests[i]);
    }
    return count;
}

/* Runs one member. False: it failed after a put, or by the store, and the transaction must be
 * aborted. */
static bool run_member(struct writer *writer, struct work_request *request, struct store_txn *txn)
{
    uint64_t changes = txn->change_count;

    request->result = may_start(writer, request);
    if (request->result != OK) {
        return true;
    }
    idempotency_begin(txn, &writer->key_time);
    request->result = work_run(request, txn);
    return request->result == OK ||
           (txn->change_count == changes && !is_store_error(request->result));
}

/* Runs all members in one transaction; false if it must be aborted. */
static bool run_members(struct writer *writer, struct batch *batch, struct store_txn *txn)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (!run_member(writer, batch->requests[i], txn)) {
            return false;
        }
    }
    return true;
}

/* Removes old keys, so that batches make room for their own. */
static enum err expire_keys(struct writer *writer, struct store_txn *txn, size_t request_count)
{
    size_t count = 0;

    return idempotency_expire(txn, &writer->key_time, request_count * EXPIRE_ROWS_A_REQUEST,
                              &writer->sweep, &count);
}

/* Times of a transaction in which `request_count` requests ran, possibly none. */
struct txn_times {
    uint32_t request_count;
    int64_t start_us; /* all three times are monotonic */
    int64_t commit_us;
    int64_t end_us;
};

static void learn_run(struct writer *writer, const struct txn_times *times)
{
    if (times->request_count > 0) {
        pthread_mutex_lock(&writer->lock);
        writer_cost_learn_run(&writer->cost, times->request_count,
                              times->commit_us - times->start_us);
        pthread_mutex_unlock(&writer->lock);
    }
}

/* `newest_us`: the latest recorded_at of the batch's events. */
static void count_commit(struct writer *writer, const struct txn_times *times, int64_t newest_us,
                         enum err err)
{
    int64_t duration_us = times->end_us - times->commit_us;

    pthread_mutex_lock(&writer->lock);
    if (err == OK && newest_us > writer->stats.newest_recorded_at_us) {
        writer->stats.newest_recorded_at_us = newest_us;
    }
    if (err == OK) {
        writer->stats.commits++;
        writer->stats.commit_requests += times->request_count;
        writer->stats.commit_duration_us += (uint64_t)duration_us;
        histogram_add(&writer->stats.commit_sizes, &histogram_sizes, times->request_count);
        histogram_add(&writer->stats.commit_durations_us, &histogram_durations_us,
                      (uint64_t)duration_us);
        if (times->request_count > 0) {
            writer_cost_learn_commit(&writer->cost, times->request_count, duration_us,
                                     times->end_us);
        }
    } else {
        writer->stats.commit_failures++;
    }
    pthread_mutex_unlock(&writer->lock);
}

/* Ends the transaction: the log first, then the tables. A transaction without changes needs no
 * sync. `request_count` requests were started in it, at `start_us`. */
static enum err commit_batch(struct writer *writer, struct store_txn *take_txn,
                             uint32_t request_count, int64_t start_us)
{
    struct txn_times times = {.request_count = request_count,
                              .start_us = start_us,
                              .commit_us = clock_monotonic_us(writer->config.clock)};
    int64_t newest_us = take_txn->newest_recorded_at_us;
    uint32_t changes[TABLE_COUNT];
    enum err err = OK;

    learn_run(writer, &times);
    if (take_txn->change_count == 0) {
        store_abort(take_txn);
        return OK;
    }
    memcpy(changes, take_txn->changes, sizeof(changes));
    err = log_engine_append(writer->engine, take_txn);
    if (err != OK) {
        store_abort(take_txn);
    } else {
        err = store_commit(take_txn);
    }
    if (err == OK) {
        atomic_fetch_add(&writer->commits, 1);
    }
    for (size_t i = 0; i < TABLE_COUNT && err == OK; i++) {
        if (changes[i] > 0) {
            atomic_fetch_add(&writer->versions[i], 1);
        }
    }
    times.end_us = clock_monotonic_us(writer->config.clock);
    count_commit(writer, &times, newest_us, err);
    return err;
}

/* Sets the same result for every member. */
static void fail_members(struct batch *batch, size_t first, enum err err)
{
    for (size_t i = first; i < batch->count; i++) {
        batch->requests[i]->result = err;
    }
}

/* Sets a failed commit's result for the members that were started, including refused ones: the
 * reason for a refusal may be another member's put, which was not stored. */
static void fail_started(struct batch *batch, enum err err)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (was_started(batch->requests[i])) {
            batch->requests[i]->result = err;
        }
    }
}

/* Runs all members in one transaction. `ret_again` is set if it stored nothing and the members may run one by one. */
static enum err write_together(struct writer *writer, struct batch *batch, bool *ret_again)
{
    struct store_txn *txn = NULL;
    int64_t start_us = clock_monotonic_us(writer->config.clock);
    enum err err = store_begin(writer->config.backend, STORE_WRITE, &txn);

    *ret_again = false;
    if (err != OK) {
        fail_members(batch, 0, err);
        return is_disk_error(err) ? err : OK;
    }
    if (expire_keys(writer, txn, batch->count) != OK || !run_members(writer, batch, txn)) {
        store_abort(txn);
        *ret_again = true;
        return OK;
    }
    err = commit_batch(writer, txn, count_started(batch), start_us);
    if (err != OK) {
        fail_started(batch, err);
        /* A failed sync does not depend on the members; a batch that was too large does. */
        *ret_again = batch->count > 1 && (err == ERR_DISK_FULL || !is_disk_error(err));
    }
    return is_disk_error(err) ? err : OK;
}

/* Runs one member in a separate transaction. */
static enum err write_single(struct writer *writer, struct work_request *request)
{
    struct store_txn *txn = NULL;
    int64_t start_us = clock_monotonic_us(writer->config.clock);
    enum err err = store_begin(writer->config.backend, STORE_WRITE, &txn);

    if (err != OK) {
        request->result = err;
        return is_disk_error(err) ? err : OK;
    }
    if (!run_member(writer, request, txn)) {
        /* A member that failed before a put says nothing about the writes of others. */
        bool wrote = txn->change_count > 0;

        store_abort(txn);
        return wrote && is_disk_error(request->result) ? request->result : OK;
    }
    err = commit_batch(writer, txn, was_started(request), start_us);
    if (err != OK && request->result == OK) {
        request->result = err;
    }
    return is_disk_error(err) ? err : OK;
}

/* Forecasts a commit for each member. */
static void forecast_single_commits(struct writer *writer, size_t count)
{
    int64_t now_us = clock_monotonic_us(writer->config.clock);

    pthread_mutex_lock(&writer->lock);
    writer->batch_start_us = now_us;
    writer->batch_end_us = now_us + (int64_t)count * writer_cost_batch_us(&writer->cost, 1, now_us);
    pthread_mutex_unlock(&writer->lock);
}

/* Recreates the reserve after a commit that met a full disk while others succeeded, perhaps in the
 * reserve's room: until then later writes are refused. */
static enum err restore_reserve(struct writer *writer)
{
    return store_restore(writer->config.backend) == OK ? OK : ERR_DISK_FULL;
}

enum err writer_write_batch(struct writer *writer, struct batch *batch)
{
    bool again = false;
    bool was_full = false;
    enum err err = OK;

    idempotency_time_update(&writer->key_time, writer->config.clock);
    err = write_together(writer, batch, &again);
    was_full = err == ERR_DISK_FULL;
    if (!again) {
        return err;
    }
    err = OK;
    forecast_single_commits(writer, batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        err = write_single(writer, batch->requests[i]);
        was_full = was_full || err == ERR_DISK_FULL;
        /* A full map may have room for a smaller write; a failing disk has none. */
        if (err == ERR_IO || err == ERR_UNAVAILABLE) {
            fail_members(batch, i + 1, err);
            return err;
        }
    }
    return err == OK && was_full ? restore_reserve(writer) : err;
}

enum err writer_probe(struct writer *writer)
{
    struct key key = key_meta_global(SLICE(KEY_META_PROBE));
    struct store_txn *txn = NULL;
    enum err err = store_restore(writer->config.backend);

    if (err == OK) {
        err = store_begin(writer->config.backend, STORE_WRITE, &txn);
    }
    if (err != OK) {
        return err;
    }
    err = store_put(txn, TABLE_META, key_slice(&key), slice_of(NULL, 0));
    if (err != OK) {
        store_abort(txn);
        return err;
    }
    return store_commit(txn);
}
