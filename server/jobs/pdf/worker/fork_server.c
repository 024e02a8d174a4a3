/*
 * fork_server.c: one poll over the control socket, the signals' descriptor and a socket a job. A
 * child has a place from fork until it is reaped; a place whose socket is closed has no one to
 * tell. Nothing here waits for a child: one that the kernel can't end keeps its place and no more.
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

/* Datagrams taken in one turn, so that a flood of them does not keep children from being reaped. */
#define JOBS_A_TURN 16
/* A datagram may bring more descriptors than a job has: as many as are closed one by one; the kernel
 * closes those above. */
#define DESCRIPTORS_MAX 16
/* How long the end waits for killed children, so that they leave no trace in the process table. */
#define END_WAIT_MS 1000
/* A killed child dies when it gets the processor, which on a starved machine is when its turn comes.
 * Its end is told by then, less than what the server grants beyond the wall limit. */
#define DYING_MS 1000
#define NEVER INT64_MAX

/* What the kernel counts of a child's time. */
struct standing {
    bool known;
    uint64_t ran_us;
    uint64_t waited_us; /* in line for a processor; each time of waiting is added when it is over */
};

struct place {
    pid_t pid; /* 0: free */
    int socket; /* the job's; -1: closed */
    int64_t deadline_us; /* of its time; then, where it was killed for that, of its death; NEVER */
    int64_t started_us;
    bool over_time; /* killed for its time */
    int64_t killed_us; /* then */
    bool was_idle; /* then: it slept or was stopped, so it was in no line */
    struct standing standing; /* as far as was known then */
};

struct fork_server {
    const struct fork_server_config *config;
    int signals; /* readable when a child has ended */
    struct place places[PDF_CHILDREN_MAX];
};

/* What a datagram brought. */
struct delivery {
    struct pdf_control_job job;
    size_t size; /* of the datagram, as far as it fits into `job` */
    bool cut; /* it was longer, or had more descriptors */
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
    ready.cage = (uint32_t)config->cage->kind;
    (void)snprintf(ready.poppler_version, sizeof(ready.poppler_version), "%s",
                   config->poppler_version);
    return send(config->control, &ready, sizeof(ready), MSG_NOSIGNAL) == (ssize_t)sizeof(ready);
}

/* One message a job, into an empty socket: it fits, or no one is there to read it. */
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

static void place_close_socket(struct place *place)
{
    if (place->socket >= 0) {
        (void)close(place->socket);
    }
    place->socket = -1;
}

static void place_kill(struct place *place)
{
    (void)kill(place->pid, SIGKILL);
    place->deadline_us = NEVER;
}

/* The beginning of /proc/PID/`name`, with a NUL; false if it can't be read. */
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

/* From /proc/PID/schedstat: nanoseconds run, nanoseconds waited, how often it ran; the last is 0 only
 * where the kernel counts none of it. */
static struct standing read_standing(pid_t pid)
{
    struct standing standing = {.known = false};
    char text[80];
    char *at = text;

    if (read_proc(pid, "schedstat", text, sizeof(text))) {
        standing.ran_us = strtoull(at, &at, 10) / 1000;
        standing.waited_us = strtoull(at, &at, 10) / 1000;
        standing.known = strtoull(at, &at, 10) != 0;
    }
    return standing;
}

/* Whether a child sleeps or is stopped, by the letter after its name in /proc/PID/stat. False if
 * that can't be seen, and for one that runs, is in line, or waits for memory or a disk. */
static bool read_is_idle(pid_t pid)
{
    char text[64]; /* a name has at most 15 bytes */
    const char *after_name = read_proc(pid, "stat", text, sizeof(text)) ? strrchr(text, ')') : NULL;

    return after_name != NULL &&
           (strncmp(after_name, ") S", 3) == 0 || strncmp(after_name, ") T", 3) == 0 ||
            strncmp(after_name, ") t", 3) == 0);
}

/* The child is dead, and not reaped yet. Where it was in line when it was killed, that time was
 * added only when it got the processor to die on: it counts but for what came after the kill. */
static void place_add_last_wait(struct place *place, int64_t now)
{
    const struct standing last = read_standing(place->pid);
    const uint64_t dying_us = (uint64_t)(now - place->killed_us);

    if (!place->was_idle && last.known && last.waited_us > dying_us &&
        last.waited_us - dying_us > place->standing.waited_us) {
        place->standing.waited_us = last.waited_us - dying_us;
    }
}

/* The child was killed long ago and is not dead: it is in line, or hangs in the kernel. Unless it
 * was idle when it was killed, it is taken to have was in line whenever it did not run. Its end is
 * told as far as it is known; it keeps its place until it is reaped. */
static void place_give_up(struct place *place)
{
    const uint64_t lived_us = (uint64_t)(place->killed_us - place->started_us);
    const uint64_t ran_us = place->standing.ran_us;
    const uint64_t not_run_us = lived_us > ran_us ? lived_us - ran_us : 0;
    const uint64_t waited_us = !place->standing.known ? PDF_WAITED_UNKNOWN
                               : !place->was_idle     ? not_run_us
                                                      : place->standing.waited_us;
    const struct pdf_control_end end = {
        .type = PDF_CONTROL_END,
        .version = PDF_CONTROL_VERSION,
        .end = PDF_END_WALL,
        .code = SIGKILL,
        .cpu_us = ran_us,
        .waited_us = waited_us,
    };

    if (place->socket >= 0) {
        say_end(place->socket, &end);
    }
    place_close_socket(place);
    place->deadline_us = NEVER;
}

static uint64_t microseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec;
}

/* A child that ended by itself just before it was killed for its time did end by itself. */
static void place_finish(struct place *place, int status, const struct rusage *usage)
{
    struct pdf_control_end end = {.type = PDF_CONTROL_END, .version = PDF_CONTROL_VERSION};

    if (WIFEXITED(status)) {
        end.end = PDF_END_EXITED;
        end.code = WEXITSTATUS(status);
    } else {
        end.code = WTERMSIG(status);
        end.end = place->over_time && end.code == SIGKILL ? PDF_END_WALL : PDF_END_SIGNALLED;
    }
    if (end.end == PDF_END_WALL) {
        end.waited_us = place->standing.known ? place->standing.waited_us : PDF_WAITED_UNKNOWN;
    }
    end.cpu_us = microseconds(usage->ru_utime) + microseconds(usage->ru_stime);
    end.memory_bytes = (uint64_t)usage->ru_maxrss * 1024u;
    if (place->socket >= 0) {
        say_end(place->socket, &end);
    }
    place_close_socket(place);
    place->pid = 0;
}

/* It stays a zombie, which can be asked about. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Reaps what has ended; which children those are is asked one by one, since a signal means any
 * number of them. */
static void reap(struct fork_server *server)
{
    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        struct place *place = &server->places[i];
        struct rusage usage;
        int status = 0;

        if (place->pid == 0 || !has_ended(place->pid)) {
            continue;
        }
        if (place->over_time) {
            place_add_last_wait(place, now_us(server));
        }
        if (wait4(place->pid, &status, WNOHANG, &usage) == place->pid) {
            place_finish(place, status, &usage);
        }
    }
}

static void drain_signals(const struct fork_server *server)
{
    struct signalfd_siginfo ended[8];

    while (read(server->signals, ended, sizeof(ended)) > 0) {
    }
}

static void place_kill_late(struct place *place, int64_t now)
{
    place->over_time = true;
    place->killed_us = now;
    place->standing = read_standing(place->pid);
    place->was_idle = read_is_idle(place->pid);
    place_kill(place);
    place->deadline_us = now + (int64_t)DYING_MS * 1000;
}

/* Kills what is over its time, and gives up waiting for the death of what was killed; tells in how
 * many ms the next one is, -1 if there is none. */
static int kill_late(struct fork_server *server)
{
    const int64_t now = now_us(server);
    int64_t next = NEVER;

    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        struct place *place = &server->places[i];

        if (place->pid != 0 && place->deadline_us <= now) {
            if (place->over_time) {
                place_give_up(place);
            } else {
                place_kill_late(place, now);
            }
        }
        if (place->pid != 0 && place->deadline_us < next) {
            next = place->deadline_us;
        }
    }
    return next == NEVER ? -1 : (int)((next - now) / 1000 + 1);
}

/* Who asked for it is gone. */
static void kill_cancelled(struct fork_server *server, const struct pollfd *sockets)
{
    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        struct place *place = &server->places[i];

        if (place->pid != 0 && place->socket >= 0 && sockets[i].revents != 0) {
            place_close_socket(place);
            place_kill(place);
        }
    }
}

static struct place *find_place(struct fork_server *server)
{
    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        if (server->places[i].pid == 0) {
            return &server->places[i];
        }
    }
    return NULL;
}

static bool job_is_right(const struct delivery *delivery)
{
    const struct pdf_control_job *job = &delivery->job;

    return !delivery->cut && delivery->size == sizeof(*job) && job->type == PDF_CONTROL_JOB &&
           job->version == PDF_CONTROL_VERSION && delivery->descriptor_count == PDF_JOB_FDS &&
           (job->flags & ~(PDF_JOB_EXPLAIN | PDF_JOB_PICTURE)) == 0 &&
           job->password_bytes <= PDF_PASSWORD_BYTES_MAX;
}

/* True if the job has a child; its socket is then the place's. */
static bool start_job(struct fork_server *server, const struct delivery *delivery)
{
    struct place *place = find_place(server);
    const struct child child = {.job = &delivery->job,
                                .document = delivery->descriptors[PDF_JOB_DOCUMENT],
                                .answer = delivery->descriptors[PDF_JOB_ANSWER],
                                .cage = server->config->cage,
                                .parent = getpid()};
    pid_t pid = 0;

    if (place == NULL) {
        return false;
    }
    pid = fork();
    if (pid == 0) {
        child_run(&child);
    }
    if (pid < 0) {
        return false;
    }
    *place = (struct place){
        .pid = pid, .socket = delivery->descriptors[PDF_JOB_SOCKET], .started_us = now_us(server)};
    place->deadline_us = place->started_us + (int64_t)server->config->wall_ms * 1000;
    return true;
}

/* Answers a datagram, and closes what it brought. The password is wiped, so that no later child is a
 * copy of a process that holds it. */
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

/* Takes over the descriptors of a message. */
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

/* A datagram of no bytes looks like the end to recvmsg; the end has hung up. */
static enum received receive_end(const struct fork_server *server)
{
    struct pollfd control = {.fd = server->config->control, .events = POLLRDHUP};

    if (poll(&control, 1, 0) < 0) {
        return errno == EINTR ? RECEIVED_NOTHING : RECEIVED_END;
    }
    return control.revents != 0 ? RECEIVED_END : RECEIVED_DATAGRAM;
}

static enum received receive(const struct fork_server *server, struct delivery *delivery)
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

        switch (receive(server, &delivery)) {
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

/* One turn: who ended, who was left, who is late, who is new. False once the server is gone. */
static bool turn(struct fork_server *server)
{
    struct pollfd polled[2 + PDF_CHILDREN_MAX];
    const int wait_ms = kill_late(server);

    polled[0] = (struct pollfd){.fd = server->config->control, .events = POLLIN | POLLRDHUP};
    polled[1] = (struct pollfd){.fd = server->signals, .events = POLLIN};
    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        const struct place *place = &server->places[i];

        polled[2 + i] =
            (struct pollfd){.fd = place->pid != 0 ? place->socket : -1, .events = POLLRDHUP};
    }
    if (poll(polled, sizeof(polled) / sizeof(polled[0]), wait_ms) < 0) {
        return errno == EINTR;
    }
    kill_cancelled(server, polled + 2);
    if (polled[1].revents != 0) {
        drain_signals(server);
        reap(server);
    }
    return polled[0].revents == 0 || take_jobs(server);
}

static bool has_children(const struct fork_server *server)
{
    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        if (server->places[i].pid != 0) {
            return true;
        }
    }
    return false;
}

/* Kills all children and waits for them, for a while. */
static void end_children(struct fork_server *server)
{
    const int64_t until = now_us(server) + (int64_t)END_WAIT_MS * 1000;

    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        if (server->places[i].pid != 0) {
            place_kill(&server->places[i]);
        }
    }
    reap(server);
    while (has_children(server) && now_us(server) < until) {
        struct pollfd signals = {.fd = server->signals, .events = POLLIN};

        (void)poll(&signals, 1, 10);
        drain_signals(server);
        reap(server);
    }
    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        place_close_socket(&server->places[i]);
    }
}

enum err fork_server_run(const struct fork_server_config *config)
{
    struct fork_server server = {.config = config, .signals = -1};
    sigset_t ended;

    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        server.places[i].socket = -1;
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
    while (turn(&server)) {
    }
    end_children(&server);
    (void)close(server.signals);
    return OK;
}
