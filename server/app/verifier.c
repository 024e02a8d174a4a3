/*
 * verifier.c: the copying thread, the child process, and the functions of verify_jobs.h.
 */
#include "server/app/verifier.h"

#include "server/app/app.h"
#include "server/app/config.h"
#include "server/app/verify_child.h"
#include "server/app/verify_message.h"
#include "store/base/assert.h"
#include "store/base/logger.h"
#include "store/journal/journal.h"
#include "store/lmdb/lmdb_copy.h"
#include "store/lmdb/lmdb_folder.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#define FOLDER "verify"
#define MIB (UINT64_C(1) << 20)

enum verifier_phase {
    VERIFIER_IDLE,
    VERIFIER_COPYING,
    VERIFIER_CHECKING,
    VERIFIER_CLEANING
};

struct verifier {
    struct verifier_config config;
    struct verify_jobs jobs;
    struct verify_state state;
    enum verifier_phase phase;
    bool owned; /* a stream owns it, between start and cancel */
    struct org_id org; /* organisation of the owning stream */
    char folder[CONFIG_PATH_BYTES_MAX + 32];
    uv_timer_t timer;
    bool closed;
    /* Copying. */
    uv_thread_t thread;
    atomic_bool stop;
    atomic_bool copied; /* copy_result is set, and the thread is ending */
    atomic_uint_fast64_t copied_bytes;
    enum err copy_result;
    /* The child process. */
    uv_process_t process;
    uv_pipe_t pipe;
    unsigned open_handles; /* number of open handles of these two */
    struct verify_message message;
    size_t message_bytes; /* bytes received so far */
    bool concluded; /* the last message was received */
    bool has_end; /* conclude has been called */
    int64_t exit_status;
    int term_signal;
};

static void start_cleaning(struct verifier *verifier);

struct path {
    char text[CONFIG_PATH_BYTES_MAX + 64];
};

static struct path path_in(const char *folder, const char *name)
{
    struct path path;

    (void)snprintf(path.text, sizeof(path.text), "%s/%s", folder, name);
    return path;
}

static void remove_folder(const char *folder)
{
    store_lmdb_remove_folder(path_in(folder, VERIFY_COPY_FOLDER).text);
    store_lmdb_remove_folder(path_in(folder, VERIFY_MADE_FOLDER).text);
    (void)rmdir(folder);
}

void verifier_remove_leftovers(const char *data)
{
    struct path folder = path_in(data, FOLDER);
    struct stat info;

    if (lstat(folder.text, &info) == 0) {
        remove_folder(folder.text);
    }
}

static void notify_owner(struct verifier *verifier)
{
    verifier->state.version++;
    if (verifier->owned) {
        verifier->config.on_news(verifier->config.user, verifier->org);
    }
}

/* Sets the result that is reported once the clean-up is done, since its receiver may start another
 * verification. Only the first call counts. */
static void set_conclusion(struct verifier *verifier, enum err err, const char *why)
{
    struct verify_state *state = &verifier->state;

    if (!verifier->has_end) {
        verifier->has_end = true;
        state->err = err;
        (void)snprintf(state->why, sizeof(state->why), "%s", why);
    }
}

/* --- the copy, on a separate thread --- */

static bool on_copied(void *user, uint64_t bytes)
{
    struct verifier *verifier = (struct verifier *)user;

    atomic_store(&verifier->copied_bytes, bytes);
    return !atomic_load(&verifier->stop);
}

static void copy_on_thread(void *user)
{
    struct verifier *verifier = (struct verifier *)user;
    const struct store_copy_to to = {.clock = verifier->config.clock,
                                     .bytes_a_second = STORE_COPY_BYTES_A_SECOND,
                                     .on_progress = on_copied,
                                     .user = verifier};
    struct path copy = path_in(verifier->folder, VERIFY_COPY_FOLDER);

    verifier->copy_result = mkdir(verifier->folder, 0700) == 0 ? OK : ERR_IO;
    if (verifier->copy_result == OK && verifier->config.journal != NULL) {
        verifier->copy_result = store_journal_checkpoint(verifier->config.journal);
    }
    if (verifier->copy_result == OK) {
        verifier->copy_result = store_lmdb_copy_to(verifier->config.backend, copy.text, &to);
    }
    atomic_store(&verifier->copied, true);
}

/* --- the child process --- */

static void take_message(struct verifier *verifier)
{
    const struct verify_message *message = &verifier->message;
    struct verify_state *state = &verifier->state;

    if (!verify_message_holds(message)) {
        return; /* invalid messages are ignored, since the child's exit is reported */
    }
    state->stage = message->stage;
    state->events = message->events;
    state->events_total = message->events_total;
    state->rows = message->rows;
    if (message->ended) {
        verifier->concluded = true;
        state->damaged = message->damaged;
        state->report = message->report;
    } else {
        notify_owner(verifier);
    }
}

/* Returns whether the child ended by a signal that a damaged page causes. */
static bool is_crash(const struct verifier *verifier)
{
    switch (verifier->term_signal) {
    case SIGSEGV:
    case SIGBUS:
    case SIGABRT:
    case SIGFPE:
    case SIGILL:
        return true;
    case 0:
        return verifier->exit_status == APP_EXIT_DAMAGED;
    default:
        return false;
    }
}

/* Concludes by the child's exit if it sent no result. Only a crash is reported as damage of the
 * store: a false report may cause someone to restore a backup, and lose later writes. */
static void conclude_child(struct verifier *verifier)
{
    char why[VERIFY_WHY_BYTES];

    if (verifier->concluded) {
        set_conclusion(verifier, verifier->message.err, verifier->message.why);
        return;
    }
    if (!is_crash(verifier)) {
        (void)snprintf(
            why, sizeof(why),
            "the process that checks the copy was killed (signal %d, status %d), which does not "
            "indicate damage of the store; check the machine's memory and verify again",
            verifier->term_signal, (int)verifier->exit_status);
        set_conclusion(verifier, ERR_UNAVAILABLE, why);
        return;
    }
    (void)snprintf(why, sizeof(why),
                   "the process that checks the copy crashed (signal %d, status %d) on a "
                   "damaged page",
                   verifier->term_signal, (int)verifier->exit_status);
    verifier->state.damaged = true;
    set_conclusion(verifier, OK, why);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct verifier *verifier = (struct verifier *)handle->data;

    verifier->open_handles--;
    if (verifier->open_handles == 0) {
        conclude_child(verifier);
        start_cleaning(verifier);
    }
}

static void on_child_exit(uv_process_t *process, int64_t exit_status, int term_signal)
{
    struct verifier *verifier = (struct verifier *)process->data;

    verifier->exit_status = exit_status;
    verifier->term_signal = term_signal;
    uv_close((uv_handle_t *)process, on_handle_closed);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buffer)
{
    struct verifier *verifier = (struct verifier *)handle->data;

    (void)suggested;
    ret_buffer->base = (char *)&verifier->message + verifier->message_bytes;
    ret_buffer->len = sizeof(verifier->message) - verifier->message_bytes;
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct verifier *verifier = (struct verifier *)stream->data;

    (void)buffer;
    if (size < 0) {
        uv_close((uv_handle_t *)stream, on_handle_closed);
        return;
    }
    verifier->message_bytes += (size_t)size;
    if (verifier->message_bytes == sizeof(verifier->message)) {
        take_message(verifier);
        verifier->message_bytes = 0;
    }
}

static int spawn_child(struct verifier *verifier)
{
    char map_bytes[32];
    char program[] = "erratad";
    char action[] = "--verify-copy";
    char data[] = "--data";
    char map[] = "--map-size";
    char *arguments[] = {program, action, data, verifier->folder, map, map_bytes, NULL};
    uv_stdio_container_t stdio[] = {
        {.flags = UV_IGNORE},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&verifier->pipe},
        {.flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO},
    };
    const uv_process_options_t options = {
        .file = "/proc/self/exe",
        .args = arguments,
        .exit_cb = on_child_exit,
        .stdio = stdio,
        .stdio_count = sizeof(stdio) / sizeof(stdio[0]),
    };

    (void)snprintf(map_bytes, sizeof(map_bytes), "%" PRIu64, verifier->config.map_bytes);
    return uv_spawn(verifier->config.loop, &verifier->process, &options);
}

static void start_child(struct verifier *verifier)
{
    int code = uv_pipe_init(verifier->config.loop, &verifier->pipe, 0);

    ASSERT(code == 0);
    verifier->phase = VERIFIER_CHECKING;
    verifier->open_handles = 2; /* a process that failed to start must be closed too */
    verifier->message_bytes = 0;
    verifier->concluded = false;
    verifier->exit_status = 0;
    verifier->term_signal = 0;
    verifier->pipe.data = verifier;
    verifier->process.data = verifier;
    code = spawn_child(verifier);
    if (code == 0) {
        code = uv_read_start((uv_stream_t *)&verifier->pipe, on_alloc, on_read);
        ASSERT(code == 0);
        return;
    }
    set_conclusion(verifier, ERR_MEMORY, "cannot start the process that checks the copy");
    uv_close((uv_handle_t *)&verifier->process, on_handle_closed);
    uv_close((uv_handle_t *)&verifier->pipe, on_handle_closed);
}

/* --- clean-up, on the pool --- */

static void on_clean_work(void *job)
{
    remove_folder(((struct verifier *)job)->folder);
}

static void on_clean_done(void *job, enum err result)
{
    struct verifier *verifier = (struct verifier *)job;

    if (result != OK) {
        remove_folder(verifier->folder);
    }
    verifier->phase = VERIFIER_IDLE;
    verifier->state.ended = true;
    notify_owner(verifier);
    verifier->config.on_idle(verifier->config.user);
}

static void start_cleaning(struct verifier *verifier)
{
    enum err err = OK;

    verifier->phase = VERIFIER_CLEANING;
    err = pool_submit(verifier->config.pool, on_clean_work, on_clean_done, verifier);
    if (err != OK) {
        on_clean_done(verifier, err);
    }
}

/* --- transitions --- */

static void conclude_copy(struct verifier *verifier)
{
    enum err err = verifier->copy_result;
    int code = uv_thread_join(&verifier->thread);

    ASSERT(code == 0);
    (void)uv_timer_stop(&verifier->timer);
    if (err == OK && verifier->owned) {
        start_child(verifier);
        return;
    }
    set_conclusion(verifier, err != OK ? err : ERR_CANCELLED,
                   err == ERR_DISK_FULL ? "the disk became full while the store was copied" : "");
    start_cleaning(verifier);
}

static void on_tick(uv_timer_t *timer)
{
    struct verifier *verifier = (struct verifier *)timer->data;
    uint64_t copied_bytes = atomic_load(&verifier->copied_bytes);

    if (copied_bytes != verifier->state.copied_bytes) {
        verifier->state.copied_bytes = copied_bytes;
        notify_owner(verifier);
    }
    if (atomic_load(&verifier->copied)) {
        conclude_copy(verifier);
    }
}

/* Checks the room for the copy and the rebuilt tables, which are rarely larger. */
static enum err check_room(struct verifier *verifier, struct fault *fault)
{
    struct store_stats stats;
    uint64_t free_bytes = 0;
    uint64_t needed_bytes = 0;
    enum err err = store_stats(verifier->config.backend, &stats);

    if (err == OK) {
        err = store_lmdb_free_bytes(verifier->config.data, &free_bytes);
    }
    if (err != OK) {
        return err;
    }
    verifier->state.copied_bytes_total = stats.map_used_bytes;
    needed_bytes = 2 * stats.map_used_bytes + VERIFIER_ROOM_BYTES;
    if (free_bytes < needed_bytes) {
        return fault_say(fault, ERR_DISK_FULL,
                         "no room to verify: a copy of the store and the rebuilt tables "
                         "may need %" PRIu64 " MiB beside it, and %" PRIu64 " MiB are free",
                         needed_bytes / MIB, free_bytes / MIB);
    }
    return OK;
}

static enum err start(void *user, struct org_id org, struct fault *fault)
{
    struct verifier *verifier = (struct verifier *)user;
    enum err err = OK;
    int code = 0;

    if (verifier->owned || verifier->phase != VERIFIER_IDLE) {
        return fault_say(
            fault, ERR_PRECONDITION,
            "verification: another one is running; expected another attempt after it has ended");
    }
    memset(&verifier->state, 0, sizeof(verifier->state));
    err = check_room(verifier, fault);
    if (err != OK) {
        return err;
    }
    verifier_remove_leftovers(verifier->config.data);
    verifier->state.version = 1;
    verifier->has_end = false;
    atomic_store(&verifier->stop, false);
    atomic_store(&verifier->copied, false);
    atomic_store(&verifier->copied_bytes, 0);
    if (uv_thread_create(&verifier->thread, copy_on_thread, verifier) != 0) {
        return ERR_MEMORY;
    }
    verifier->phase = VERIFIER_COPYING;
    verifier->owned = true;
    verifier->org = org;
    code = uv_timer_start(&verifier->timer, on_tick, VERIFIER_TICK_MS, VERIFIER_TICK_MS);
    ASSERT(code == 0);
    logger_printf(LOGGER_INFO, "verification started");
    return OK;
}

static const struct verify_state *state_of(void *user)
{
    return &((const struct verifier *)user)->state;
}

static void cancel(void *user)
{
    struct verifier *verifier = (struct verifier *)user;

    verifier->owned = false;
    switch (verifier->phase) {
    case VERIFIER_COPYING:
        atomic_store(&verifier->stop, true);
        return;
    case VERIFIER_CHECKING:
        if (!uv_is_closing((const uv_handle_t *)&verifier->process)) {
            (void)uv_process_kill(&verifier->process,
                                  SIGKILL); /* the child may already have ended */
        }
        return;
    case VERIFIER_IDLE:
    case VERIFIER_CLEANING:
        return;
    }
}

enum err verifier_new(const struct verifier_config *config, struct verifier **ret_verifier)
{
    struct verifier *verifier = (struct verifier *)calloc(1, sizeof(*verifier));
    int code = 0;

    if (verifier == NULL) {
        return ERR_MEMORY;
    }
    verifier->config = *config;
    verifier->jobs = (struct verify_jobs){verifier, start, state_of, cancel};
    (void)snprintf(verifier->folder, sizeof(verifier->folder), "%s/%s", config->data, FOLDER);
    code = uv_timer_init(config->loop, &verifier->timer);
    ASSERT(code == 0);
    verifier->timer.data = verifier;
    *ret_verifier = verifier;
    return OK;
}

const struct verify_jobs *verifier_jobs(struct verifier *verifier)
{
    return &verifier->jobs;
}

bool verifier_is_idle(const struct verifier *verifier)
{
    return verifier->phase == VERIFIER_IDLE;
}

void verifier_close(struct verifier *verifier)
{
    if (verifier == NULL || verifier->closed) {
        return;
    }
    ASSERT(verifier->phase == VERIFIER_IDLE);
    verifier->closed = true;
    uv_close((uv_handle_t *)&verifier->timer, NULL);
}

void verifier_free(struct verifier *verifier)
{
    free(verifier);
}
