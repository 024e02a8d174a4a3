/*
 * pdf_worker.c: the life of the fork server: started by posix_spawn, since the server is large and
 * has threads; ready after its first message; ended by closing its control socket. pdf_request.c
 * measures documents.
 */
#include "server/jobs/pdf/pdf_worker.h"

#include "store/base/assert.h"
#include "store/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

bool pdf_worker_find_program(char *ret_path, size_t size)
{
    char self[PATH_MAX];
    ssize_t folder = readlink("/proc/self/exe", self, sizeof(self));
    int written = 0;

    if (folder <= 0 || (size_t)folder == sizeof(self)) {
        return false;
    }
    while (folder > 0 && self[folder - 1] != '/') {
        folder--;
    }
    written = snprintf(ret_path, size, "%.*s%s", (int)folder, self, PDF_WORKER_PROGRAM);
    return written >= 0 && (size_t)written < size;
}

/* The control socket becomes descriptor 3; of the server's descriptors only standard error is
 * inherited, for errors of starting. The worker closes it before it reads a document, since hostile
 * documents choose what Poppler prints. */
static int set_actions(posix_spawn_file_actions_t *actions, int control)
{
    int failed = posix_spawn_file_actions_adddup2(actions, control, PDF_CONTROL_FD);

    for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO && failed == 0; fd++) {
        failed = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
    }
    if (failed == 0) {
        failed = posix_spawn_file_actions_addclosefrom_np(actions, PDF_CONTROL_FD + 1);
    }
    return failed != 0 ? failed : posix_spawn_file_actions_addchdir_np(actions, "/");
}

/* Starts the process without blocked or ignored signals, in a separate process group. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none;
    sigset_t all;
    int failed = posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    if (failed == 0) {
        failed = posix_spawnattr_setsigmask(attributes, &none);
    }
    if (failed == 0) {
        failed = posix_spawnattr_setsigdefault(attributes, &all);
    }
    return failed != 0 ? failed : posix_spawnattr_setpgroup(attributes, 0);
}

/* Returns 0, or an errno. */
static int spawn_worker(const char *path, int control, pid_t *ret_pid)
{
    char locale[] = "LC_ALL=C";
    char *environment[] = {locale, NULL};
    char name[] = PDF_WORKER_PROGRAM;
    char *arguments[] = {name, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failed = posix_spawn_file_actions_init(&actions);

    if (failed != 0) {
        return failed;
    }
    failed = posix_spawnattr_init(&attributes);
    if (failed != 0) {
        goto out_actions;
    }
    failed = set_actions(&actions, control);
    if (failed == 0) {
        failed = set_attributes(&attributes);
    }
    if (failed == 0) {
        failed = posix_spawn(ret_pid, path, &actions, &attributes, arguments, environment);
    }
    (void)posix_spawnattr_destroy(&attributes);
out_actions:
    (void)posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static enum err say_errno(struct fault *fault, const char *program, int number)
{
    char text[128];

    return fault_say(fault, ERR_UNAVAILABLE, "cannot start the PDF worker %s: %s", program,
                     strerror_r(number, text, sizeof(text)));
}

enum err pdf_worker_start(const char *program, struct fault *fault, struct pdf_worker *ret_worker)
{
    char path[PATH_MAX];
    int ends[2] = {-1, -1};
    pid_t pid = 0;
    int failed = 0;

    /* The worker has another working directory. */
    if (realpath(program, path) == NULL) {
        return say_errno(fault, program, errno);
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return say_errno(fault, program, errno);
    }
    failed = spawn_worker(path, ends[1], &pid);
    (void)close(ends[1]);
    if (failed == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
        failed = errno;
        (void)kill(-pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
    if (failed != 0) {
        (void)close(ends[0]);
        return say_errno(fault, program, failed);
    }
    *ret_worker = (struct pdf_worker){.pid = pid, .control = ends[0]};
    return OK;
}

/* Returns whether it is printable and terminated by a NUL. */
static bool version_is_text(const char *version, size_t size)
{
    const char *end = memchr(version, 0, size);

    for (const char *at = version; end != NULL && at < end; at++) {
        if (*at < ' ' || *at > '~') {
            return false;
        }
    }
    return end != NULL;
}

enum err pdf_worker_read_ready(struct pdf_worker *worker, struct fault *fault)
{
    struct pdf_control_ready ready;
    ssize_t size = recv(worker->control, &ready, sizeof(ready), MSG_DONTWAIT | MSG_TRUNC);

    if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
        return ERR_NOT_FOUND;
    }
    if (size <= 0) {
        return ERR_UNAVAILABLE;
    }
    if ((size_t)size < 2 * sizeof(uint32_t) || ready.type != PDF_CONTROL_READY) {
        return fault_say(fault, ERR_UNAVAILABLE,
                         "the first message of the PDF worker is not READY");
    }
    if (ready.version != PDF_CONTROL_VERSION) {
        return fault_say(fault, ERR_UNAVAILABLE,
                         "the PDF worker has protocol version %u, this program has %u; expected "
                         "both programs of the same build",
                         ready.version, PDF_CONTROL_VERSION);
    }
    if ((size_t)size != sizeof(ready) || ready.sandbox > PDF_SANDBOX_CLOSED ||
        !version_is_text(ready.poppler_version, sizeof(ready.poppler_version))) {
        return fault_say(fault, ERR_UNAVAILABLE, "the PDF worker's first message is malformed");
    }
    worker->sandbox = (enum pdf_sandbox)ready.sandbox;
    memcpy(worker->poppler_version, ready.poppler_version, sizeof(worker->poppler_version));
    return OK;
}

/* Waits until a descriptor is readable, or its peer has closed it. False after `until_us`. */
static bool wait_readable(int fd, int64_t until_us)
{
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    int64_t left_us = until_us - clock_monotonic_us(clock_system());
    int count = -1;

    while (count < 0 && left_us > 0) {
        count = poll(&entry, 1, (int)((left_us + 999) / 1000));
        if (count < 0 && errno != EINTR) {
            return false;
        }
        left_us = until_us - clock_monotonic_us(clock_system());
    }
    return count > 0;
}

enum err pdf_worker_start_ready(const char *program, unsigned timeout_ms, struct fault *fault,
                                struct pdf_worker *ret_worker)
{
    int64_t until_us = clock_monotonic_us(clock_system()) + (int64_t)timeout_ms * 1000;
    unsigned grace_ms = PDF_STOP_MS;
    struct pdf_worker worker = {.control = -1};
    enum err err = pdf_worker_start(program, fault, &worker);

    if (err != OK) {
        return err;
    }
    do {
        if (!wait_readable(worker.control, until_us)) {
            err =
                fault_say(fault, ERR_UNAVAILABLE,
                          "PDF worker: %s was not ready within %u ms; the machine may be too busy",
                          program, timeout_ms);
            grace_ms = 0;
            break;
        }
        err = pdf_worker_read_ready(&worker, fault);
    } while (err == ERR_NOT_FOUND);
    if (err == OK) {
        *ret_worker = worker;
        return OK;
    }
    pdf_worker_stop_within(&worker, grace_ms);
    if (fault->message.size == 0) {
        struct slice end = pdf_worker_end_text(&worker, fault->arena);

        return fault_say(fault, err, "PDF worker: %s was not ready: %.*s", program, (int)end.size,
                         (const char *)end.data);
    }
    return err;
}

void pdf_worker_stop(struct pdf_worker *worker)
{
    pdf_worker_stop_within(worker, PDF_STOP_MS);
}

/* Returns whether it ended within the time. */
static bool wait_end(pid_t pid, unsigned grace_ms)
{
    int64_t until_us = clock_monotonic_us(clock_system()) + (int64_t)grace_ms * 1000;
    int fd = pidfd_open(pid, 0);
    bool ended = fd >= 0 && wait_readable(fd, until_us);

    if (fd >= 0) {
        (void)close(fd);
    }
    return ended;
}

void pdf_worker_stop_within(struct pdf_worker *worker, unsigned grace_ms)
{
    pid_t waited = -1;

    if (worker->pid == 0) {
        return;
    }
    (void)close(worker->control);
    worker->control = -1;
    worker->killed = !wait_end(worker->pid, grace_ms);
    /* The children are in the worker's group, so all of them are killed, regardless of how the
     * worker ended. */
    (void)kill(-worker->pid, SIGKILL);
    do {
        waited = waitpid(worker->pid, &worker->status, 0);
    } while (waited < 0 && errno == EINTR);
    (void)UNEXPECTED(waited < 0);
    worker->pid = 0;
}

struct slice pdf_worker_end_text(const struct pdf_worker *worker, struct arena *arena)
{
    if (worker->killed) {
        return SLICE("it did not exit and was killed");
    }
    if (WIFSIGNALED(worker->status)) {
        return arena_printf(arena, "it was killed by signal %d", WTERMSIG(worker->status));
    }
    return arena_printf(arena, "it exited with status %d", WEXITSTATUS(worker->status));
}
