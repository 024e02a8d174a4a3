/*
 * backup.c: the copying thread, the loop's side, and the functions of backup_jobs.h.
 */
#include "server/app/backup.h"

#include "server/app/backup_copy.h"
#include "server/app/backup_ring.h"
#include "store/base/assert.h"
#include "store/base/logger.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB (UINT64_C(1) << 20)
/* Two positions of the largest size, each of which may be copied while it grows. */
#define MEMORY_BYTES_MAX ((size_t)32 << 20)

enum backup_phase {
    BACKUP_IDLE,
    BACKUP_COPYING,
    BACKUP_SENDING
};

struct backup {
    struct backup_config config;
    struct backup_jobs jobs;
    struct backup_state state;
    enum backup_phase phase;
    bool owned; /* a stream owns it, between start and cancel */
    struct org_id org; /* organisation of the owning stream */
    uv_async_t async; /* bytes arrived in the ring, or the thread has ended */
    uv_timer_t timer;
    bool closed;
    int64_t start_us;
    int64_t read_us; /* time at which the client last read, or at which no data was waiting */
    /* Valid from the start until the state is IDLE again. */
    struct backup_ring ring;
    uv_thread_t thread;
    atomic_bool copied; /* the fields below are set, and the thread ends */
    enum err copy_result;
    struct backup_copy copy; /* used by the thread until then */
    struct arena memory; /* memory of `copy` */
    struct fault fault;
};

/* --- the copying thread --- */

static enum err put(void *user, struct slice bytes)
{
    struct backup *backup = (struct backup *)user;
    enum err err = backup_ring_put(&backup->ring, bytes);

    (void)uv_async_send(&backup->async);
    return err;
}

static void copy_on_thread(void *user)
{
    struct backup *backup = (struct backup *)user;

    backup->copy_result = backup_copy_run(&backup->copy);
    atomic_store(&backup->copied, true);
    (void)uv_async_send(&backup->async);
}

/* --- the loop --- */

static void become_idle(struct backup *backup)
{
    backup_ring_deinit(&backup->ring);
    arena_deinit(&backup->memory);
    (void)uv_timer_stop(&backup->timer);
    backup->phase = BACKUP_IDLE;
    backup->config.on_idle(backup->config.user);
}

static void log_end(const struct backup *backup)
{
    logger_printf(LOGGER_INFO, "backup ended (%s): %" PRIu64 " MiB were sent in %" PRId64 " ms",
                  err_name(backup->state.err), backup->ring.taken_bytes / MIB,
                  (clock_monotonic_us(backup->config.clock) - backup->start_us) / 1000);
}

/* Ends the backup immediately, even if its client does not read. */
static void fail_backup(struct backup *backup, enum err err, const char *why)
{
    struct backup_state *state = &backup->state;

    state->ended = true;
    state->err = err;
    (void)snprintf(state->why, sizeof(state->why), "%s", why);
    backup_ring_stop(&backup->ring);
    log_end(backup);
    backup->config.on_failed(backup->config.user);
}

/* Ends the backup after the thread has ended and every byte was taken. */
static void conclude_backup(struct backup *backup)
{
    struct backup_state *state = &backup->state;

    if (state->ended || backup->phase != BACKUP_SENDING) {
        return;
    }
    if (backup->copy_result != OK) {
        struct slice why = backup->fault.message;
        char text[BACKUP_WHY_BYTES];

        (void)snprintf(text, sizeof(text), "%.*s", (int)why.size, (const char *)why.data);
        fail_backup(backup, backup->copy_result, text);
    } else if (!backup_ring_has_bytes(&backup->ring)) {
        state->ended = true;
        state->file_bytes = backup->copy.file_bytes;
        state->file_sha256 = sha256_read(&backup->copy.sha256);
        state->position = backup->copy.position;
        log_end(backup);
    }
}

static void on_async(uv_async_t *handle)
{
    struct backup *backup = (struct backup *)handle->data;
    int code = 0;

    if (backup->phase == BACKUP_COPYING && atomic_load(&backup->copied)) {
        code = uv_thread_join(&backup->thread);
        ASSERT(code == 0);
        backup->phase = BACKUP_SENDING;
        if (!backup->owned) {
            become_idle(backup);
            return;
        }
        conclude_backup(backup);
    }
    if (backup->owned) {
        backup->config.on_news(backup->config.user, backup->org);
    }
}

/* Returns the bytes of the file, approximately; of an increment, those that were read. */
static uint64_t expected_bytes(const struct backup *backup)
{
    uint64_t total = backup->state.total_bytes;
    uint64_t taken = backup->ring.taken_bytes;

    return taken > total ? taken : total;
}

static void fail_slow(struct backup *backup, const char *expected)
{
    char why[BACKUP_WHY_BYTES];

    (void)snprintf(why, sizeof(why),
                   "client too slow: %" PRIu64 " of about %" PRIu64
                   " MiB were read; expected %s, since the store's file grows during a backup",
                   backup->ring.taken_bytes / MIB, expected_bytes(backup) / MIB, expected);
    fail_backup(backup, ERR_DEADLINE, why);
}

static void on_tick(uv_timer_t *timer)
{
    struct backup *backup = (struct backup *)timer->data;
    int64_t now_us = clock_monotonic_us(backup->config.clock);
    int64_t whole_us =
        BACKUP_BASE_US + (int64_t)(expected_bytes(backup) / BACKUP_BYTES_A_SECOND_MIN * 1000000);

    if (!backup->owned || backup->state.ended) {
        return;
    }
    if (!backup_ring_has_bytes(&backup->ring)) {
        backup->read_us = now_us;
    }
    if (now_us - backup->read_us > BACKUP_STALL_US) {
        fail_slow(backup, "the client to read at least some bytes every 30 s");
    } else if (now_us - backup->start_us > whole_us) {
        fail_slow(backup,
                  "the client to read the whole backup within 10 minutes plus 1 s for each 4 MiB");
    }
}

/* --- backup_jobs.h --- */

/* Prepares the copy; `since` is empty for a whole one. */
static enum err prepare(struct backup *backup, struct slice since)
{
    const struct backup_config *config = &backup->config;
    struct store_stats stats;
    enum err err = store_stats(config->backend, &stats);

    if (err != OK) {
        return err;
    }
    backup->state = (struct backup_state){.total_bytes = since.size > 0 ? 0 : stats.map_used_bytes,
                                          .created_at_us = clock_wall_us(config->clock),
                                          .format_version = config->format_version};
    arena_init(&backup->memory, MEMORY_BYTES_MAX);
    fault_init(&backup->fault, &backup->memory);
    backup->copy = (struct backup_copy){
        .backend = config->backend,
        .journal = config->journal,
        .clock = config->clock,
        .info = {.format = config->format_version,
                 .kind = since.size > 0 ? BACKUP_INCREMENT : BACKUP_WHOLE,
                 .created_at_us = backup->state.created_at_us},
        .put = put,
        .user = backup,
        .memory = &backup->memory,
        .fault = &backup->fault,
    };
    if (!arena_copy(&backup->memory, since, &backup->copy.since)) {
        err = ERR_MEMORY;
    }
    return err == OK ? backup_ring_init(&backup->ring) : err;
}

static enum err start(void *user, struct org_id org, struct slice since, struct fault *fault)
{
    struct backup *backup = (struct backup *)user;
    enum err err = OK;
    int code = 0;

    if (backup->owned || backup->phase != BACKUP_IDLE) {
        return fault_say(
            fault, ERR_PRECONDITION,
            "backup: another one is running; expected another attempt after it has ended");
    }
    err = prepare(backup, since);
    if (err != OK) {
        arena_deinit(&backup->memory);
        return err;
    }
    backup->start_us = clock_monotonic_us(backup->config.clock);
    backup->read_us = backup->start_us;
    atomic_store(&backup->copied, false);
    if (uv_thread_create(&backup->thread, copy_on_thread, backup) != 0) {
        backup_ring_deinit(&backup->ring);
        arena_deinit(&backup->memory);
        return ERR_MEMORY;
    }
    backup->phase = BACKUP_COPYING;
    backup->owned = true;
    backup->org = org;
    code = uv_timer_start(&backup->timer, on_tick, BACKUP_TICK_MS, BACKUP_TICK_MS);
    ASSERT(code == 0);
    logger_printf(LOGGER_INFO, "backup started");
    return OK;
}

static const struct backup_state *state_of(void *user)
{
    return &((const struct backup *)user)->state;
}

static struct slice take(void *user)
{
    struct backup *backup = (struct backup *)user;
    struct slice bytes = {NULL, 0};

    if (!backup->state.ended) {
        bytes = backup_ring_take(&backup->ring, BACKUP_MESSAGE_BYTES_MAX);
    }
    if (bytes.size > 0) {
        backup->read_us = clock_monotonic_us(backup->config.clock);
    } else {
        conclude_backup(backup);
    }
    return bytes;
}

static void cancel(void *user)
{
    struct backup *backup = (struct backup *)user;

    backup->owned = false;
    if (backup->phase == BACKUP_COPYING) {
        backup_ring_stop(&backup->ring); /* on_async completes the end */
    } else if (backup->phase == BACKUP_SENDING) {
        become_idle(backup);
    }
}

enum err backup_new(const struct backup_config *config, struct backup **ret_backup)
{
    struct backup *backup = (struct backup *)calloc(1, sizeof(*backup));
    int code = 0;

    if (backup == NULL) {
        return ERR_MEMORY;
    }
    backup->config = *config;
    backup->jobs = (struct backup_jobs){backup, start, state_of, take, cancel};
    code = uv_async_init(config->loop, &backup->async, on_async);
    ASSERT(code == 0);
    code = uv_timer_init(config->loop, &backup->timer);
    ASSERT(code == 0);
    backup->async.data = backup;
    backup->timer.data = backup;
    *ret_backup = backup;
    return OK;
}

const struct backup_jobs *backup_jobs(struct backup *backup)
{
    return &backup->jobs;
}

bool backup_is_idle(const struct backup *backup)
{
    return backup->phase == BACKUP_IDLE;
}

void backup_close(struct backup *backup)
{
    if (backup == NULL || backup->closed) {
        return;
    }
    ASSERT(backup->phase == BACKUP_IDLE);
    backup->closed = true;
    uv_close((uv_handle_t *)&backup->async, NULL);
    uv_close((uv_handle_t *)&backup->timer, NULL);
}

void backup_free(struct backup *backup)
{
    free(backup);
}
