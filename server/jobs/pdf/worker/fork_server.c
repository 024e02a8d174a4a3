/*
 * fork_server.c: one poll over the control socket, the signals' descriptor and one socket per job.
 * A child has a slot from the fork until it is reaped; a slot whose socket is closed reports to no
 * one. Nothing here waits for a child: one that the kernel cannot end only keeps its slot.
 */
#include "server/jobs/pdf/worker/fork_server.h"

#include "server/jobs/pdf/worker/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Datagrams taken in one turn, so that a flood of them does not delay the reaping of children. */
#define JOBS_A_TURN 16
/* A datagram may bring more descriptors than a job has: up to this number they are closed one by
 * one; the kernel closes the rest. */
#define DESCRIPTORS_MAX 16
/* Time at the end to wait for killed children, so that they are reaped. */
#define END_WAIT_MS 1000
/* Time for a killed child to get a processor to die on; after that its end is reported. Shorter
 * than the server's grace beyond the wall limit. */
#define DYING_MS 1000
#define NEVER INT64_MAX

/* The kernel's counters of a child's time. */
struct cpu_times {
    bool known;
    uint64_t ran_us;
    uint64_t waited_us; /* time spent waiting for a CPU; the kernel adds each wait at its end */
};

struct slot {
    pid_t pid; /* process id; 0: free slot */
    int socket; /* socket of the job; -1: closed */
    int64_t deadline_us; /* deadline of the job; after the kill, deadline of its death; NEVER */
    int64_t started_us;
    bool over_time; /* killed at the wall-clock limit */
    int64_t killed_us; /* time of the kill */
    bool was_idle; /* it slept or was stopped when it was killed, so it did not wait for a CPU */
    struct cpu_times times; /* times known at the kill */
};

struct fork_server {
    const struct fork_server_config *config;
    int signals; /* readable after a child has ended */
    struct slot slots[PDF_CHILDREN_MAX];
};

/* A received datagram. */
struct delivery {
    struct pdf_control_job job;
    size_t size; /* size of the datagram, at most that of `job` */
    bool cut; /* the datagram was longer, or had more descriptors */
    int descriptors[DESCRIPTORS_MAX];
    size_t descriptor_count;
};

enum received {
    RECEIVED_NOTHING,
    RECEIVED_DATAGRAM,
    RECEIVED_END
};

static int64_t now_us(const struct fork_server *server)
{
    return clock_monotonic_us(server->config->clock);
}

static bool say_ready(const struct fork_server_config *config)
{
    struct pdf_control_ready ready;

    memset(&ready, 0, sizeof(ready));
    ready.type = PDF_CONTROL_READY;
    ready.version = PDF_CONTROL_VERSION;
    ready.sandbox = (uint32_t)config->sandbox->kind;
    (void)snprintf(ready.poppler_version, sizeof(ready.poppler_version), "%s",
                   config->poppler_version);
    return send(config->control, &ready, sizeof(ready), MSG_NOSIGNAL) == (ssize_t)sizeof(ready);
}

/* Sends one message per job, into an empty socket: it fits, unless the reader is gone. */
static void say_end(int socket, const struct pdf_control_end *end)
{
    (void)send(socket, end, sizeof(*end), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void say_not_forked(int socket)
{
    const struct pdf_control_end end = {
        .type = PDF_CONTROL_END, .version = PDF_CONTROL_VERSION, .end = PDF_END_NOT_FORKED};

    say_end(socket, &end);
}

static void slot_close_socket(struct slot *slot)
{
    if (slot->socket >= 0) {
        (void)close(slot->socket);
    }
    slot->socket = -1;
}

static void slot_kill(struct slot *slot)
{
    (void)kill(slot->pid, SIGKILL);
    slot->deadline_us = NEVER;
}

/* Reads the beginning of /proc/PID/`name`, with a NUL; false if it cannot be read. */
static bool read_proc(pid_t pid, const char *name, char *ret_text, size_t size)
{
    char path[40];
    ssize_t got = -1;
    int fd = -1;

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    got = read(fd, ret_text, size - 1);
    (void)close(fd);
    ret_text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* Reads /proc/PID/schedstat: nanoseconds run, nanoseconds waited, number of runs; the last is 0
 * only if the kernel does not count them. */
static struct cpu_times read_cpu_times(pid_t pid)
{
    struct cpu_times times = {.known = false};
    char text[80];
    char *at = text;

    if (read_proc(pid, "schedstat", text, sizeof(text))) {
        times.ran_us = strtoull(at, &at, 10) / 1000;
        times.waited_us = strtoull(at, &at, 10) / 1000;
        times.known = strtoull(at, &at, 10) != 0;
    }
    return times;
}

/* Returns whether a child sleeps or is stopped, by the letter after its name in /proc/PID/stat.
 * False if it cannot be read, and for a child that runs, is runnable, or waits for memory or a
 * disk. */
static bool read_is_idle(pid_t pid)
{
    char text[64]; /* a name has at most 15 bytes */
    const char *after_name = read_proc(pid, "stat", text, sizeof(text)) ? strrchr(text, ')') : NULL;

    return after_name != NULL &&
           (strncmp(after_name, ") S", 3) == 0 || strncmp(after_name, ") T", 3) == 0 ||
            strncmp(after_name, ") t", 3) == 0);
}

/* Adds the last wait of a dead child that is not reaped yet: if the child was runnable when it was
 * killed, the kernel added that wait only when the child ran again to die. The part after the kill
 * is subtracted. */
static void slot_add_last_wait(struct slot *slot, int64_t now)
{
    const struct cpu_times last = read_cpu_times(slot->pid);
    const uint64_t dying_us = (uint64_t)(now - slot->killed_us);

    if (!slot->was_idle && last.known && last.waited_us > dying_us &&
        last.waited_us - dying_us > slot->times.waited_us) {
        slot->times.waited_us = last.waited_us - dying_us;
    }
}

/* Gives up a child that was killed long ago and is not dead: it waits for a CPU, or hangs in the
 * kernel. Unless it was idle when it was killed, all time in which it did not run counts as
 * waiting. Reports its end as far as known; the slot stays in use until the child is reaped. */
static void slot_give_up(struct slot *slot)
{
    const uint64_t lived_us = (uint64_t)(slot->killed_us - slot->started_us);
    const uint64_t ran_us = slot->times.ran_us;
    const uint64_t not_run_us = lived_us > ran_us ? lived_us - ran_us : 0;
    const uint64_t waited_us = !slot->times.known ? PDF_WAITED_UNKNOWN
                               : !slot->was_idle  ? not_run_us
                                                  : slot->times.waited_us;
    const struct pdf_control_end end = {
        .type = PDF_CONTROL_END,
        .version = PDF_CONTROL_VERSION,
        .end = PDF_END_WALL,
        .code = SIGKILL,
        .cpu_us = ran_us,
        .waited_us = waited_us,
    };

    if (slot->socket >= 0) {
        say_end(slot->socket, &end);
    }
    slot_close_socket(slot);
    slot->deadline_us = NEVER;
}

static uint64_t microseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec;
}

/* A child that exited just before it was killed at the limit counts as exited. */
static void slot_finish(struct slot *slot, int status, const struct rusage *usage)
{
    struct pdf_control_end end = {.type = PDF_CONTROL_END, .version = PDF_CONTROL_VERSION};

    if (WIFEXITED(status)) {
        end.end = PDF_END_EXITED;
        end.code = WEXITSTATUS(status);
    } else {
        end.code = WTERMSIG(status);
        end.end = slot->over_time && end.code == SIGKILL ? PDF_END_WALL : PDF_END_SIGNALLED;
    }
    if (end.end == PDF_END_WALL) {
        end.waited_us = slot->times.known ? slot->times.waited_us : PDF_WAITED_UNKNOWN;
    }
    end.cpu_us = microseconds(usage->ru_utime) + microseconds(usage->ru_stime);
    end.memory_bytes = (uint64_t)usage->ru_maxrss * 1024u;
    if (slot->socket >= 0) {
        say_end(slot->socket, &end);
    }
    slot_close_socket(slot);
    slot->pid = 0;
}

/* The child stays a zombie, which can still be inspected. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Reaps ended children, checking each one, since one signal may mean several. */
static void reap_children(struct fork_server *server)
{
    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        struct slot *slot = &server->slots[i];
        struct rusage usage;
        int status = 0;

        if (slot->pid == 0 || !has_ended(slot->pid)) {
            continue;
        }
        if (slot->over_time) {
            slot_add_last_wait(slot, now_us(server));
        }
        if (wait4(slot->pid, &status, WNOHANG, &usage) == slot->pid) {
            slot_finish(slot, status, &usage);
        }
    }
}

static void drain_signals(const struct fork_server *server)
{
    struct signalfd_siginfo ended[8];

    while (read(server->signals, ended, sizeof(ended)) > 0) {
    }
}

static void slot_kill_late(struct slot *slot, int64_t now)
{
    slot->over_time = true;
    slot->killed_us = now;
    slot->times = read_cpu_times(slot->pid);
    slot->was_idle = read_is_idle(slot->pid);
    slot_kill(slot);
    slot->deadline_us = now + (int64_t)DYING_MS * 1000;
}

/* Kills children over their time, and stops waiting for the death of killed ones; returns the
 * milliseconds until the next deadline, -1 if there is none. */
static int kill_late(struct fork_server *server)
{
    const int64_t now = now_us(server);
    int64_t next = NEVER;

    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        struct slot *slot = &server->slots[i];

        if (slot->pid != 0 && slot->deadline_us <= now) {
            if (slot->over_time) {
                slot_give_up(slot);
            } else {
                slot_kill_late(slot, now);
            }
        }
        if (slot->pid != 0 && slot->deadline_us < next) {
            next = slot->deadline_us;
        }
    }
    return next == NEVER ? -1 : (int)((next - now) / 1000 + 1);
}

/* Kills children whose job socket was closed by the server. */
static void kill_cancelled(struct fork_server *server, const struct pollfd *sockets)
{
    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        struct slot *slot = &server->slots[i];

        if (slot->pid != 0 && slot->socket >= 0 && sockets[i].revents != 0) {
            slot_close_socket(slot);
            slot_kill(slot);
        }
    }
}

static struct slot *find_slot(struct fork_server *server)
{
    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        if (server->slots[i].pid == 0) {
            return &server->slots[i];
        }
    }
    return NULL;
}

static bool job_is_right(const struct delivery *delivery)
{
    const struct pdf_control_job *job = &delivery->job;

    return !delivery->cut && delivery->size == sizeof(*job) && job->type == PDF_CONTROL_JOB &&
           job->version == PDF_CONTROL_VERSION && delivery->descriptor_count == PDF_JOB_FDS &&
           (job->flags & ~PDF_JOB_FLAGS) == 0 && job->password_bytes <= PDF_PASSWORD_BYTES_MAX;
}

/* Starts a child; true if the job has one, whose slot then owns the socket. */
static bool start_job(struct fork_server *server, const struct delivery *delivery)
{
    struct slot *slot = find_slot(server);
    const struct child child = {.job = &delivery->job,
                                .document = delivery->descriptors[PDF_JOB_DOCUMENT],
                                .answer = delivery->descriptors[PDF_JOB_ANSWER],
                                .sandbox = server->config->sandbox,
                                .parent = getpid()};
    pid_t pid = 0;

    if (slot == NULL) {
        return false;
    }
    pid = fork();
    if (pid == 0) {
        child_run(&child);
    }
    if (pid < 0) {
        return false;
    }
    *slot = (struct slot){
        .pid = pid, .socket = delivery->descriptors[PDF_JOB_SOCKET], .started_us = now_us(server)};
    slot->deadline_us = slot->started_us + (int64_t)server->config->wall_ms * 1000;
    return true;
}

/* Handles a datagram, and closes its descriptors. The password is erased, so that no later child
 * inherits it. */
static void take_delivery(struct fork_server *server, struct delivery *delivery)
{
    const bool started = job_is_right(delivery) && start_job(server, delivery);

    if (!started && delivery->descriptor_count == PDF_JOB_FDS) {
        say_not_forked(delivery->descriptors[PDF_JOB_SOCKET]);
    }
    for (size_t i = 0; i < delivery->descriptor_count; i++) {
        if (!started || i != PDF_JOB_SOCKET) {
            (void)close(delivery->descriptors[i]);
        }
    }
    explicit_bzero(&delivery->job, sizeof(delivery->job));
}

/* Takes the descriptors of a message. */
static void collect_descriptors(struct msghdr *message, struct delivery *delivery)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL;
         part = CMSG_NXTHDR(message, part)) {
        const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        for (size_t i = 0; i < count && delivery->descriptor_count < DESCRIPTORS_MAX; i++) {
            memcpy(&delivery->descriptors[delivery->descriptor_count],
                   CMSG_DATA(part) + i * sizeof(int), sizeof(int));
            delivery->descriptor_count++;
        }
    }
}

/* recvmsg returns 0 for an empty datagram as for the end; only at the end the socket has hung
 * up. */
static enum received receive_end(const struct fork_server *server)
{
    struct pollfd control = {.fd = server->config->control, .events = POLLRDHUP};

    if (poll(&control, 1, 0) < 0) {
        return errno == EINTR ? RECEIVED_NOTHING : RECEIVED_END;
    }
    return control.revents != 0 ? RECEIVED_END : RECEIVED_DATAGRAM;
}

static enum received receive_message(const struct fork_server *server, struct delivery *delivery)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    } control;
    struct iovec bytes = {.iov_base = &delivery->job, .iov_len = sizeof(delivery->job)};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    const ssize_t size =
        recvmsg(server->config->control, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    delivery->descriptor_count = 0;
    if (size < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? RECEIVED_NOTHING
                                                                         : RECEIVED_END;
    }
    delivery->size = (size_t)size;
    delivery->cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
    collect_descriptors(&message, delivery);
    if (size == 0 && delivery->descriptor_count == 0) {
        return receive_end(server);
    }
    return RECEIVED_DATAGRAM;
}

/* False once the server is gone. */
static bool take_jobs(struct fork_server *server)
{
    for (int i = 0; i < JOBS_A_TURN; i++) {
        struct delivery delivery;

        switch (receive_message(server, &delivery)) {
        case RECEIVED_NOTHING:
            return true;
        case RECEIVED_END:
            return false;
        case RECEIVED_DATAGRAM:
            take_delivery(server, &delivery);
            break;
        }
    }
    return true;
}

/* Runs one turn: ended children, closed sockets, late children, new jobs. Returns false after the
 * server has ended. */
static bool serve_turn(struct fork_server *server)
{
    struct pollfd polled[2 + PDF_CHILDREN_MAX];
    const int wait_ms = kill_late(server);

    polled[0] = (struct pollfd){.fd = server->config->control, .events = POLLIN | POLLRDHUP};
    polled[1] = (struct pollfd){.fd = server->signals, .events = POLLIN};
    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        const struct slot *slot = &server->slots[i];

        polled[2 + i] =
            (struct pollfd){.fd = slot->pid != 0 ? slot->socket : -1, .events = POLLRDHUP};
    }
    if (poll(polled, sizeof(polled) / sizeof(polled[0]), wait_ms) < 0) {
        return errno == EINTR;
    }
    kill_cancelled(server, polled + 2);
    if (polled[1].revents != 0) {
        drain_signals(server);
        reap_children(server);
    }
    return polled[0].revents == 0 || take_jobs(server);
}

static bool has_children(const struct fork_server *server)
{
    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        if (server->slots[i].pid != 0) {
            return true;
        }
    }
    return false;
}

/* Kills all children and waits for them, for a limited time. */
static void end_children(struct fork_server *server)
{
    const int64_t until = now_us(server) + (int64_t)END_WAIT_MS * 1000;

    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        if (server->slots[i].pid != 0) {
            slot_kill(&server->slots[i]);
        }
    }
    reap_children(server);
    while (has_children(server) && now_us(server) < until) {
        struct pollfd signals = {.fd = server->signals, .events = POLLIN};

        (void)poll(&signals, 1, 10);
        drain_signals(server);
        reap_children(server);
    }
    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        slot_close_socket(&server->slots[i]);
    }
}

enum err fork_server_run(const struct fork_server_config *config)
{
    struct fork_server server = {.config = config, .signals = -1};
    sigset_t ended;

    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        server.slots[i].socket = -1;
    }
    (void)sigemptyset(&ended);
    (void)sigaddset(&ended, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &ended, NULL) != 0) {
        return ERR_UNAVAILABLE;
    }
    server.signals = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
    if (server.signals < 0) {
        return ERR_UNAVAILABLE;
    }
    if (!say_ready(config)) {
        (void)close(server.signals);
        return ERR_UNAVAILABLE;
    }
    while (serve_turn(&server)) {
    }
    end_children(&server);
    (void)close(server.signals);
    return OK;
}
