/*
 * writer.c: the writer's queue, thread and state. While one commit syncs, the next batch gathers;
 * the only timers are the probe of a store that refuses writes and, on a slow disk, the wait for
 * callers that were just answered (writer_gather.h).
 */
#include "store/writer_internal.h"

#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PROBE_INTERVAL_US 1000000
/* Failed syncs in a row after which only probes are tried. */
#define FAILURES_MAX 3
/* Lower priority than the event loop, which answers reads. */
#define THREAD_NICE 5

static void complete_request(struct writer *writer, const struct batch *batch)
{
    pthread_mutex_lock(&writer->lock);
    writer->batch_start_us = 0;
    writer->batch_end_us = 0;
    if (writer->state == WRITER_OPEN) {
        int64_t now_us = clock_monotonic_us(writer->config.clock);

        writer_gather_begin(&writer->gather, (uint32_t)batch->count, writer->queue.requests,
                            writer_cost_batch_requests(&writer->cost),
                            writer_cost_batch_us(&writer->cost, 0, now_us), now_us);
    }
    for (size_t i = 0; i < batch->count; i++) {
        struct work_request *request = batch->requests[i];

        request->next = NULL;
        if (writer->completed_last == NULL) {
            writer->completed = request;
        } else {
            writer->completed_last->next = request;
        }
        writer->completed_last = request;
    }
    pthread_mutex_unlock(&writer->lock);
    if (batch->count > 0) {
        writer->config.wake(writer->config.user);
    }
}

/* Takes requests in turn until the batch is full. The lock is held. */
static void gather_batch(struct writer *writer, struct batch *batch)
{
    uint32_t limit = writer_cost_batch_requests(&writer->cost);
    uint64_t bytes = 0;

    writer_gather_end(&writer->gather, writer->queue.requests);
    batch->count = 0;
    while (batch->count < limit) {
        const struct work_request *next = writer_queue_peek(&writer->queue);

        if (next == NULL || (batch->count > 0 && bytes + next->bytes > WORK_BATCH_BYTES_MAX)) {
            break;
        }
        bytes += next->bytes;
        batch->requests[batch->count++] = writer_queue_pop(&writer->queue);
    }
}

/* Updates the state from the result of a commit or probe. */
static void learn_state(struct writer *writer, enum err err)
{
    enum writer_state state = WRITER_OPEN;

    if (err == ERR_IO) {
        writer->failures_in_a_row++;
    } else if (err != ERR_UNAVAILABLE) {
        writer->failures_in_a_row = 0;
    }
    if (err == ERR_DISK_FULL) {
        state = WRITER_FULL;
    } else if (err == ERR_UNAVAILABLE || writer->failures_in_a_row >= FAILURES_MAX) {
        state = WRITER_FAILING;
    }
    if (state != WRITER_OPEN) {
        writer->next_probe_us = clock_monotonic_us(writer->config.clock) + PROBE_INTERVAL_US;
    }
    pthread_mutex_lock(&writer->lock);
    writer->state = state;
    pthread_mutex_unlock(&writer->lock);
}

static enum err state_error(enum writer_state state)
{
    switch (state) {
    case WRITER_OPEN:
        return OK;
    case WRITER_FULL:
        return ERR_DISK_FULL;
    case WRITER_FAILING:
        return ERR_UNAVAILABLE;
    }
    return ERR_INTERNAL;
}

/* Probes once a second whether writes succeed again. A failed probe changes nothing. */
static void probe_if_due(struct writer *writer, enum writer_state state)
{
    int64_t now_us = clock_monotonic_us(writer->config.clock);

    if (state == WRITER_OPEN || now_us < writer->next_probe_us) {
        return;
    }
    if (writer_probe(writer) == OK) {
        learn_state(writer, OK);
    } else {
        writer->next_probe_us = clock_monotonic_us(writer->config.clock) + PROBE_INTERVAL_US;
    }
}

/* Writes waiting requests, up to a batch; or fails them while nothing can be written. */
static size_t write_next_batch(struct writer *writer)
{
    struct batch batch;
    enum writer_state state = WRITER_OPEN;

    pthread_mutex_lock(&writer->lock);
    state = writer->state;
    pthread_mutex_unlock(&writer->lock);
    probe_if_due(writer, state);
    pthread_mutex_lock(&writer->lock);
    gather_batch(writer, &batch);
    state = writer->state;
    if (batch.count > 0 && state == WRITER_OPEN) {
        int64_t now_us = clock_monotonic_us(writer->config.clock);

        writer->batch_start_us = now_us;
        writer->batch_end_us =
            now_us + writer_cost_batch_us(&writer->cost, (uint32_t)batch.count, now_us);
    }
    pthread_mutex_unlock(&writer->lock);
    if (batch.count == 0) {
        return 0;
    }
    if (state == WRITER_OPEN) {
        learn_state(writer, writer_write_batch(writer, &batch));
    } else {
        for (size_t i = 0; i < batch.count; i++) {
            batch.requests[i]->result = state_error(state);
        }
    }
    complete_request(writer, &batch);
    return batch.count;
}

/* The lock is held, except while waiting. */
static void wait_for_work(struct writer *writer)
{
    struct timespec until;

    if (writer->state == WRITER_OPEN) {
        (void)pthread_cond_wait(&writer->work, &writer->lock);
        return;
    }
    if (clock_gettime(CLOCK_MONOTONIC, &until) != 0) {
        return;
    }
    until.tv_sec += PROBE_INTERVAL_US / 1000000;
    (void)pthread_cond_timedwait(&writer->work, &writer->lock, &until);
}

/* Waits for the callers that were just answered, so that they join the next batch, if the disk is
 * slow. The lock is held, except while waiting. */
static void wait_for_callers(struct writer *writer)
{
    while (writer->queue.requests > 0 && !writer->stopping && !writer->draining) {
        struct timespec until;
        int64_t wait_us = writer_gather_wait_us(&writer->gather, writer->queue.requests,
                                                clock_monotonic_us(writer->config.clock));

        if (wait_us == 0 || clock_gettime(CLOCK_MONOTONIC, &until) != 0) {
            return;
        }
        until.tv_nsec += wait_us * 1000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&writer->work, &writer->lock, &until);
    }
}

static void *run_thread(void *user)
{
    struct writer *writer = user;
    bool stopping = false;

    /* Failing to lower the priority is harmless. */
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), THREAD_NICE);
    while (!stopping) {
        pthread_mutex_lock(&writer->lock);
        if (writer->queue.requests == 0 && !writer->stopping) {
            wait_for_work(writer);
        }
        wait_for_callers(writer);
        stopping = writer->stopping && writer->queue.requests == 0;
        pthread_mutex_unlock(&writer->lock);
        (void)write_next_batch(writer);
    }
    return NULL;
}

static enum err start_thread(struct writer *writer)
{
    int code =
        FAULT("writer.thread") ? EAGAIN : pthread_create(&writer->thread, NULL, run_thread, writer);

    writer->has_thread = code == 0;
    return code == 0 ? OK : ERR_MEMORY;
}

static void init_locks(struct writer *writer)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&writer->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&writer->work, &attributes);
    pthread_condattr_destroy(&attributes);
}

static enum err read_newest(struct writer *writer)
{
    struct store_txn *txn = NULL;
    enum err err = store_begin(writer->config.backend, STORE_READ, &txn);

    if (err != OK) {
        return err;
    }
    err = log_read_newest(txn, &writer->stats.newest_recorded_at_us);
    store_abort(txn);
    return err;
}

enum err writer_new(const struct writer_config *config, struct writer **ret_writer)
{
    struct writer *writer = calloc(1, sizeof(*writer));
    enum err err = OK;

    if (writer == NULL) {
        return ERR_MEMORY;
    }
    writer->config = *config;
    writer->engine = log_engine_in_tables();
    init_locks(writer);
    err = writer_queue_init(&writer->queue);
    if (err == OK) {
        err = read_newest(writer);
    }
    idempotency_time_update(&writer->key_time, config->clock);
    if (err == OK && !config->manual) {
        err = start_thread(writer);
    }
    if (err != OK) {
        writer_free(writer);
        return err;
    }
    *ret_writer = writer;
    return OK;
}

/* Returns whether the forecast of its response meets the request's deadline: after the running
 * batch and the batches before its turn. One whose deadline has passed is left to the batch, which
 * reports that. The lock is held. */
static bool may_meet_deadline(const struct writer *writer, const struct work_request *request)
{
    int64_t now_us = 0;
    int64_t idle_us = 0;
    int64_t start_us = 0;
    uint32_t ahead = writer->queue.requests;

    if (request->deadline_us == INT64_MAX) {
        return true;
    }
    now_us = clock_monotonic_us(writer->config.clock);
    idle_us = writer->batch_start_us > 0 ? writer->batch_start_us : now_us;
    start_us = writer->batch_end_us > now_us ? writer->batch_end_us : now_us;
    if (request->deadline_us <= now_us ||
        request->deadline_us - start_us >= writer_cost_wait_us(&writer->cost, ahead, idle_us)) {
        return true;
    }
    /* If waiting for the whole queue would take too long, computes the exact position, which walks
     * over the organisations. */
    ahead = writer_queue_ahead(&writer->queue, request->org);
    return request->deadline_us - start_us >= writer_cost_wait_us(&writer->cost, ahead, idle_us);
}

enum err writer_submit(struct writer *writer, struct work_request *request)
{
    enum err err = OK;

    pthread_mutex_lock(&writer->lock);
    err = writer->draining ? ERR_DRAINING : state_error(writer->state);
    if (err == OK && !may_meet_deadline(writer, request)) {
        err = ERR_BUSY;
    }
    if (err == OK) {
        err = writer_queue_push(&writer->queue, request);
    }
    /* A thread that waits for callers is not woken for each of them. */
    if (err == OK && !writer->config.manual &&
        (writer->queue.requests == 1 || writer->queue.requests >= writer->gather.wanted)) {
        pthread_cond_signal(&writer->work);
    }
    pthread_mutex_unlock(&writer->lock);
    return err;
}

void writer_complete(struct writer *writer)
{
    struct work_request *request = NULL;

    pthread_mutex_lock(&writer->lock);
    request = writer->completed;
    writer->completed = NULL;
    writer->completed_last = NULL;
    pthread_mutex_unlock(&writer->lock);
    while (request != NULL) {
        struct work_request *next = request->next;

        request->done(request, request->result);
        request = next;
    }
}

size_t writer_step(struct writer *writer)
{
    ASSERT(writer->config.manual);
    return write_next_batch(writer);
}

void writer_drain(struct writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    writer->draining = true;
    pthread_mutex_unlock(&writer->lock);
}

struct writer_stats writer_read_stats(struct writer *writer)
{
    struct writer_stats stats;

    pthread_mutex_lock(&writer->lock);
    stats = writer->stats;
    stats.queue_requests = writer->queue.requests;
    stats.queue_bytes = (uint32_t)writer->queue.bytes;
    stats.writable = writer->state == WRITER_OPEN;
    pthread_mutex_unlock(&writer->lock);
    return stats;
}

uint64_t writer_commit_count(const struct writer *writer)
{
    return atomic_load(&writer->commits);
}

uint64_t writer_table_version(const struct writer *writer, enum store_table table)
{
    ASSERT(table < TABLE_COUNT);
    return atomic_load(&writer->versions[table]);
}

void writer_free(struct writer *writer)
{
    if (writer == NULL) {
        return;
    }
    pthread_mutex_lock(&writer->lock);
    writer->stopping = true;
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->lock);
    if (writer->has_thread) {
        (void)pthread_join(writer->thread, NULL);
    }
    ASSERT(writer->completed == NULL);
    writer_queue_deinit(&writer->queue);
    pthread_cond_destroy(&writer->work);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
}
