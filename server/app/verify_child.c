/*
 * verify_child.c: checks the copy with the lowest priority, and as the kernel's first choice if
 * memory is short, since the server that started it has calls to answer.
 */
#include "server/app/verify_child.h"

#include "server/app/app.h"
#include "server/app/app_damage.h"
#include "server/app/verify_message.h"
#include "store/base/file.h"
#include "store/lmdb/lmdb.h"
#include "store/lmdb/lmdb_check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARENA_BYTES (1u << 20)
#define NICE 19
/* Added to the child's score of 1000 by which the kernel chooses a process to kill if memory is
 * short. */
#define OOM_SCORE "800"
/* Room of a map in addition to the used size. */
#define MAP_MORE_BYTES (UINT64_C(64) << 20)
/* Room of the rebuilt tables' map: they may be a little larger than the copied ones. */
#define MAP_MOST_BYTES (UINT64_C(1) << 30)

struct child {
    const struct config *config;
    char copy[CONFIG_PATH_BYTES_MAX + 32];
    char made[CONFIG_PATH_BYTES_MAX + 32];
    struct arena arena;
    struct fault fault;
    struct store_backend *copied;
    struct store_backend *rebuilt;
    struct verify_message message;
    int64_t reported_at_us;
};

/* False: the reader is gone. */
static bool write_message(const struct verify_message *message)
{
    return file_write_all(STDOUT_FILENO, slice_of(message, sizeof(*message)));
}

static bool on_progress(void *user, const struct replay_progress *progress)
{
    struct child *child = (struct child *)user;
    int64_t now_us = clock_monotonic_us(clock_system());

    if (now_us - child->reported_at_us < VERIFY_PROGRESS_US) {
        return true;
    }
    child->reported_at_us = now_us;
    child->message.stage =
        strcmp(progress->step, "compare") == 0 ? VERIFY_AT_COMPARE : VERIFY_AT_REPLAY;
    child->message.events = progress->events;
    child->message.events_total = progress->events_total;
    child->message.rows = progress->rows;
    return write_message(&child->message);
}

/* Makes the process end with its parent, and lowers its priority. */
static void be_small(void)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    if (file >= 0) {
        ssize_t written = write(file, OOM_SCORE, strlen(OOM_SCORE));

        (void)
            written; /* on failure the kernel may kill other processes first when memory is short */
        (void)close(file);
    }
}

static enum err check_pages(struct child *child)
{
    const struct store_lmdb_check_limits all = {0};
    char file[sizeof(child->copy) + 16];

    (void)snprintf(file, sizeof(file), "%s/db/data.mdb", child->copy);
    child->message.stage = VERIFY_AT_CHECK;
    if (!write_message(&child->message)) {
        return ERR_CANCELLED;
    }
    return store_lmdb_check(file, &all, &child->fault, NULL);
}

uint64_t verify_made_map_bytes(const struct config *config, uint64_t used_bytes)
{
    uint64_t needed = 3 * used_bytes + MAP_MORE_BYTES;
    uint64_t most = config->map_bytes + MAP_MOST_BYTES;

    return needed < most ? needed : most;
}

/* Opens both stores with maps of the size needed: two of --map-size may not fit into the address
 * space. */
static enum err open_both(struct child *child)
{
    struct store_lmdb_config copy = {
        .path = child->copy, .reserve_bytes = 1, .on_damage = app_damage_end};
    struct store_lmdb_config made = {.path = child->made, .reserve_bytes = 1};
    char file[sizeof(child->copy) + 16];
    struct stat info;
    enum err err = OK;

    (void)snprintf(file, sizeof(file), "%s/db/data.mdb", child->copy);
    if (stat(file, &info) != 0) {
        return ERR_IO;
    }
    copy.map_bytes = (uint64_t)info.st_size + MAP_MORE_BYTES;
    made.map_bytes = verify_made_map_bytes(child->config, (uint64_t)info.st_size);
    err = store_lmdb_open(&copy, &child->fault, &child->copied);
    if (err == OK) {
        app_damage_watch(child->copy, store_lmdb_map(child->copied));
        err = store_lmdb_open(&made, &child->fault, &child->rebuilt);
    }
    if (err == OK) {
        store_lmdb_begin_bulk(child->rebuilt);
    }
    return err;
}

static enum err verify_copy(struct child *child)
{
    struct replay_config config = {.clock = clock_system(),
                                   .random = random_system(),
                                   .on_progress = on_progress,
                                   .user = child};
    enum err err = check_pages(child);

    if (err == OK) {
        err = open_both(child);
    }
    if (err != OK) {
        return err;
    }
    config.source = child->copied;
    config.target = child->rebuilt;
    return replay_verify(&config, &child->message.report);
}

/* Sends the last message. */
static void send_conclusion(struct child *child, enum err err)
{
    struct verify_message *message = &child->message;
    struct slice why = child->fault.message;

    message->ended = true;
    message->damaged = err == ERR_CORRUPT;
    message->err = message->damaged ? OK : err;
    if (message->damaged && why.size == 0) {
        why = SLICE("a table cannot be read to its end");
    }
    (void)snprintf(message->why, sizeof(message->why), "%.*s", (int)why.size,
                   (const char *)why.data);
}

int verify_child_run(const struct config *config)
{
    static struct child child;
    bool sent = false;

    child.config = config;
    (void)snprintf(child.copy, sizeof(child.copy), "%s/%s", config->data, VERIFY_COPY_FOLDER);
    (void)snprintf(child.made, sizeof(child.made), "%s/%s", config->data, VERIFY_MADE_FOLDER);
    be_small();
    arena_init(&child.arena, ARENA_BYTES);
    fault_init(&child.fault, &child.arena);
    send_conclusion(&child, verify_copy(&child));
    sent = write_message(&child.message);
    store_lmdb_close(child.copied);
    store_lmdb_close(child.rebuilt);
    arena_deinit(&child.arena);
    return sent ? APP_EXIT_OK : APP_EXIT_FAILED;
}
