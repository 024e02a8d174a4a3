/*
 * worker_peer.c: see worker_peer.h.
 */
#include "tests/unit/pdf_worker/peer/worker_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Name that the program gives itself. */
#define PDF_PEER_NAME "errata-pdf-worker"
#define ARGUMENTS_MAX 4
#define DESCRIPTORS_MAX 32

static NORETURN void run_program(const char *program, const char *const *arguments, int control)
{
    char name[] = PDF_PEER_NAME;
    char *words[ARGUMENTS_MAX + 2] = {name};
    size_t count = 1;

    while (arguments != NULL && count <= ARGUMENTS_MAX && arguments[count - 1] != NULL) {
        words[count] = strdup(arguments[count - 1]);
        count++;
    }
    words[count] = NULL;
    if (control == PDF_CONTROL_FD) {
        (void)fcntl(control, F_SETFD, 0);
    } else if (dup2(control, PDF_CONTROL_FD) < 0) {
        _exit(126);
    }
    (void)execv(program, words);
    _exit(127);
}

bool peer_wait_readable(int fd, int timeout_ms)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    int result = 0;

    do {
        result = poll(&polled, 1, timeout_ms);
    } while (result < 0 && errno == EINTR);
    return result > 0;
}

bool peer_start(struct peer *peer, const char *program, const char *const *arguments)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return false;
    }
    peer->pid = fork();
    if (peer->pid == 0) {
        run_program(program, arguments, pair[1]);
    }
    (void)close(pair[1]);
    peer->control = pair[0];
    return peer->pid > 0 && peer_wait_readable(pair[0], PEER_WAIT_MS) &&
           recv(pair[0], &peer->ready, sizeof(peer->ready), 0) == (ssize_t)sizeof(peer->ready);
}

int peer_stop(struct peer *peer)
{
    int status = -1;

    if (peer->control >= 0) {
        (void)close(peer->control);
        peer->control = -1;
    }
    for (int waited = 0; waited < PEER_WAIT_MS; waited += 5) {
        if (waitpid(peer->pid, &status, WNOHANG) == peer->pid) {
            peer->pid = 0;
            return status;
        }
        (void)poll(NULL, 0, 5);
    }
    (void)kill(peer->pid, SIGKILL);
    (void)waitpid(peer->pid, &status, 0);
    return -1;
}

int peer_document(struct slice bytes)
{
    const int fd = memfd_create("document", MFD_ALLOW_SEALING | MFD_CLOEXEC);

    while (fd >= 0 && bytes.size > 0) {
        const ssize_t written = write(fd, bytes.data, bytes.size);

        if (written <= 0) {
            (void)close(fd);
            return -1;
        }
        bytes = slice_after(bytes, (size_t)written);
    }
    if (fd >= 0) {
        (void)fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    }
    return fd;
}

struct pdf_control_job peer_message(uint32_t flags, const char *password)
{
    struct pdf_control_job message;

    memset(&message, 0, sizeof(message));
    message.type = PDF_CONTROL_JOB;
    message.version = PDF_CONTROL_VERSION;
    message.flags = flags;
    message.password_bytes = (uint32_t)strlen(password);
    memcpy(message.password, password, strlen(password));
    return message;
}

bool peer_send(const struct peer *peer, struct slice datagram, const int *fds, size_t count)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    } control;
    struct iovec bytes = {.iov_base = (void *)(uintptr_t)datagram.data, .iov_len = datagram.size};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};

    if (count > DESCRIPTORS_MAX) {
        return false;
    }
    if (count > 0) {
        struct cmsghdr *part = &control.align;

        memset(&control, 0, sizeof(control));
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(part), fds, count * sizeof(int));
    }
    return sendmsg(peer->control, &message, MSG_NOSIGNAL) == (ssize_t)datagram.size;
}

bool peer_send_job(const struct peer *peer, const struct pdf_control_job *message,
                   struct slice bytes, struct peer_job *ret_job)
{
    int pair[2];
    int answer[2];
    int fds[PDF_JOB_FDS];
    bool sent = false;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 ||
        pipe2(answer, O_CLOEXEC) != 0) {
        return false;
    }
    fds[PDF_JOB_DOCUMENT] = peer_document(bytes);
    fds[PDF_JOB_ANSWER] = answer[1];
    fds[PDF_JOB_SOCKET] = pair[1];
    sent = peer_send(peer, slice_of(message, sizeof(*message)), fds, PDF_JOB_FDS);
    for (size_t i = 0; i < PDF_JOB_FDS; i++) {
        (void)close(fds[i]);
    }
    *ret_job = (struct peer_job){.socket = pair[0], .answer = answer[0]};
    return sent;
}

ssize_t peer_read_answer(struct peer_job *job, uint8_t *bytes, size_t size)
{
    size_t had = 0;

    while (had < size) {
        ssize_t got = 0;

        if (!peer_wait_readable(job->answer, PEER_WAIT_MS)) {
            return -1;
        }
        got = read(job->answer, bytes + had, size - had);
        if (got <= 0) {
            return got < 0 ? -1 : (ssize_t)had;
        }
        had += (size_t)got;
    }
    return (ssize_t)had;
}

bool peer_read_end(struct peer_job *job, struct pdf_control_end *ret_end)
{
    return peer_wait_readable(job->socket, PEER_WAIT_MS) &&
           recv(job->socket, ret_end, sizeof(*ret_end), 0) == (ssize_t)sizeof(*ret_end) &&
           ret_end->type == PDF_CONTROL_END && ret_end->version == PDF_CONTROL_VERSION;
}

void peer_close_job(struct peer_job *job)
{
    if (job->socket >= 0) {
        (void)close(job->socket);
    }
    if (job->answer >= 0) {
        (void)close(job->answer);
    }
    *job = (struct peer_job){.socket = -1, .answer = -1};
}

bool peer_wait_closed(int fd)
{
    struct pollfd polled = {.fd = fd, .events = 0};

    return poll(&polled, 1, PEER_WAIT_MS) > 0 && (polled.revents & POLLHUP) != 0;
}

bool peer_counts_waiting(void)
{
    FILE *file = fopen("/proc/self/schedstat", "r");
    char text[80] = "";
    char *at = text;
    unsigned long long runs = 0;

    if (file != NULL) {
        (void)!fread(text, 1, sizeof(text) - 1, file);
        (void)fclose(file);
    }
    for (int i = 0; i < 3; i++) {
        runs = strtoull(at, &at, 10);
    }
    return runs != 0;
}
